//! The table of bad input: what is written, and what the message must say.
//!
//! `crates/scene/tests/bad_input.rs` checks the messages, `crates/cli/tests/bad_input.rs` that the
//! command says the same, exits with 2 and leaves nothing behind.

/// One kind of bad input.
pub struct Row {
    /// Name of the kind.
    pub name: &'static str,
    /// Text of `scene.toml`.
    pub scene: &'static str,
    /// `--set` options.
    pub set: &'static [&'static str],
    /// What the message must contain, the place first.
    pub says: &'static [&'static str],
}

/// Files beside the scene.
pub const FILES: &[(&str, &str)] = &[
    ("cube.obj", "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 1 0\nf 1 2 3\nf 1 2 4\n"),
    (
        "tet.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
         $EndNodes\n$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n",
    ),
    (
        "inverted.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
         5 1 1 1\n$EndNodes\n$Elements\n2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 4 1\n$EndElements\n",
    ),
    (
        "flat.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n\
         $EndNodes\n$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n",
    ),
    ("cut.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 zero 1 0\n"),
    ("notes.txt", "not a mesh\n"),
    ("inside-out.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n"),
    ("motion/0.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
];

/// An object of the material m.
macro_rules! of_m {
    ($kind:literal) => {
        concat!("[[objects]]\nname = \"b\"\nshape = { kind = \"", $kind, "\" }\nmaterial = \"m\"\n")
    };
}

macro_rules! row {
    ($name:literal, $scene:expr, [$($says:literal),*]) => {
        row!($name, $scene, set [], [$($says),*])
    };
    ($name:literal, $scene:expr, set [$($set:literal),*], [$($says:literal),*]) => {
        Row { name: $name, scene: $scene, set: &[$($set),*], says: &[$($says),*] }
    };
}

/// A box named ball; keys of the object may follow.
macro_rules! ball {
    ($($rest:literal),*) => {
        concat!("[[objects]]\nname = \"ball\"\nshape = { kind = \"box\" }\n", $($rest),*)
    };
}

/// A box named ball of which something is expected; keys of the expectation from line 6 on follow.
macro_rules! expect {
    ($($rest:literal),*) => { ball!("[[expect]]\nshows = \"it falls\"\n", $($rest),*) };
}

/// A rigid box named ball; keys of a joint from line 6 on follow.
macro_rules! joint {
    ($($rest:literal),*) => { ball!("role = \"rigid\"\n[[joints]]\n", $($rest),*) };
}

/// A rectangle of triangles, for two dimensions; keys of the object may follow.
macro_rules! plate {
    ($($rest:literal),*) => {
        concat!("[[objects]]\nname = \"plate\"\nshape = { kind = \"rectangle\" }\n", $($rest),*)
    };
}

/// The table.
pub const ROWS: &[Row] = &[
    row!(
        "joint of an unknown body",
        joint!("kind = \"spherical\"\nbodies = [\"ball\", \"bal\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:7:19", "joints[0].bodies[1]", "unknown body 'bal'", "did you mean 'ball'?"]
    ),
    row!(
        "joint of a body with itself",
        joint!("kind = \"spherical\"\nbodies = [\"ball\", \"ball\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:7:10", "joints[0].bodies", "between two bodies, or between the world and one"]
    ),
    row!(
        "joint of three bodies",
        joint!("kind = \"fixed\"\nbodies = [\"ball\", \"ball\", \"ball\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:7:10", "joints[0].bodies", "3 bodies; name two, or one"]
    ),
    row!(
        "joint of a soft body",
        ball!("[[joints]]\nkind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"),
        [
            "scene.toml:6:11",
            "joints[0].bodies[0]",
            "'ball' is not rigid",
            "give it role = \"rigid\""
        ]
    ),
    row!(
        "joint with vertices of a rigid body",
        joint!(
            "kind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\nvertices = { ball = \"all\" }\n"
        ),
        [
            "scene.toml:9:21",
            "joints[0].vertices.ball",
            "'ball' is rigid: a joint holds it as a whole; leave this out"
        ]
    ),
    row!(
        "joint with vertices of another body",
        joint!(
            "kind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\nvertices = { bal = \"all\" }\n"
        ),
        ["scene.toml:9:20", "joints[0].vertices.bal", "the joint does not hold 'bal'"]
    ),
    row!(
        "joint with an unknown region",
        ball!(
            "[[joints]]\nkind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\nvertices = { ball = \"top\" }\n"
        ),
        ["scene.toml:8:21", "joints[0].vertices.ball", "unknown region 'top'"]
    ),
    row!(
        "joint that breaks at nothing",
        joint!("kind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\nbreaking_force = 0\n"),
        ["scene.toml:9:18", "joints[0].breaking_force", "breaks under a positive force"]
    ),
    row!(
        "joint of an object with copies",
        ball!(
            "role = \"rigid\"\narray = { counts = [2, 1, 1], spacing = [3, 0, 0] }\n",
            "[[joints]]\nkind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"
        ),
        ["scene.toml:8:11", "'ball' has 2 copies; name one of them, such as 'ball[0,0,0]'"]
    ),
    row!(
        "joint without its axis",
        joint!("kind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:5:1", "joints[0]", "a revolute joint needs `axis`"]
    ),
    row!(
        "joint with an axis that nothing reads",
        joint!("kind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n"),
        ["scene.toml:9:8", "joints[0].axis", "a fixed joint has no axis"]
    ),
    row!(
        "joint with a zero axis",
        joint!("kind = \"prismatic\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 0]\n"),
        ["scene.toml:9:8", "joints[0].axis", "the axis must not be zero"]
    ),
    row!(
        "joint of an unknown kind",
        joint!("kind = \"hinge\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:6:8", "joints[0].kind", "revolute"]
    ),
    row!(
        "two joints of one name",
        joint!(
            "name = \"a\"\nkind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n",
            "[[joints]]\nname = \"a\"\nkind = \"fixed\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"
        ),
        ["scene.toml:11:8", "joints[1].name", "'a'"]
    ),
    row!(
        "limits that the start is beyond",
        joint!(
            "kind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n",
            "limits = [0.1, 0.5]\n"
        ),
        ["scene.toml:10:10", "joints[0].limits", "must lie within the limits"]
    ),
    row!(
        "damping of a joint with three coordinates",
        joint!("kind = \"spherical\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\ndamping = 1\n"),
        ["scene.toml:9:11", "joints[0].damping", "only revolute and prismatic joints"]
    ),
    row!(
        "drive to a position without a stiffness",
        joint!(
            "kind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n",
            "drive = { position = 1 }\n"
        ),
        ["scene.toml:10:", "joints[0].drive", "a drive to a position needs a stiffness"]
    ),
    row!(
        "drive with a formula that is none",
        joint!(
            "kind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n",
            "drive = { velocity = \"2*u\", damping = 1 }\n"
        ),
        ["scene.toml:10:22", "joints[0].drive.velocity", "u"]
    ),
    row!(
        "joint that follows an unknown one",
        joint!(
            "name = \"pin\"\nkind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n",
            "axis = [0, 0, 1]\nmimic = { joint = \"pan\" }\n"
        ),
        ["scene.toml:11:19", "joints[0].mimic.joint", "unknown joint 'pan'", "did you mean 'pin'?"]
    ),
    row!(
        "joint that follows itself",
        joint!(
            "name = \"pin\"\nkind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n",
            "axis = [0, 0, 1]\nmimic = { joint = \"pin\" }\n"
        ),
        ["scene.toml:11:19", "joints[0].mimic.joint", "a joint cannot follow itself"]
    ),
    row!(
        "universal joint with oblique axes",
        joint!(
            "kind = \"universal\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n",
            "second_axis = [0, 1, 1]\n"
        ),
        ["scene.toml:10:15", "joints[0].second_axis", "must be at right angles"]
    ),
    row!(
        "distance without its second point",
        joint!("kind = \"distance\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\n"),
        ["scene.toml:5:1", "joints[0]", "a distance joint needs `second_point`"]
    ),
    row!(
        "spring of a joint without a stiffness",
        joint!(
            "kind = \"revolute\"\nbodies = [\"ball\"]\npoint = [0, 0, 0]\naxis = [0, 0, 1]\n",
            "spring = { stiffness = 0 }\n"
        ),
        ["scene.toml:10:24", "joints[0].spring.stiffness", "must be positive"]
    ),
    row!(
        "given mass of a soft body",
        ball!("inertial = { mass = 1, centre = [0, 0, 0], inertia = [1, 1, 1] }\n"),
        ["scene.toml:4:12", "objects[0].inertial", "only a rigid body has given mass properties"]
    ),
    row!(
        "inertia of two numbers",
        ball!(
            "role = \"rigid\"\n",
            "inertial = { mass = 1, centre = [0, 0, 0], inertia = [1, 1] }\n"
        ),
        ["scene.toml:5:54", "objects[0].inertial.inertia", "three moments of inertia"]
    ),
    row!(
        "inertia that nothing has",
        ball!(
            "role = \"rigid\"\n",
            "inertial = { mass = 1, centre = [0, 0, 0], inertia = [1, 1, 3] }\n"
        ),
        ["scene.toml:5:12", "objects[0].inertial", "no body has the inertia"]
    ),
    row!(
        "rigid body without a mass",
        ball!(
            "role = \"rigid\"\n",
            "inertial = { mass = 0, centre = [0, 0, 0], inertia = [1, 1, 1] }\n"
        ),
        ["scene.toml:5:12", "objects[0].inertial", "a mass must be positive"]
    ),
    row!("not TOML", "ground = = 0\n", ["scene.toml:1:10", "not valid TOML"]),
    row!("unclosed array", "gravity = [0, 1\n[time]\n", ["scene.toml:", "not valid TOML"]),
    row!(
        "key twice",
        "ground = 0\nground = 1\n",
        ["scene.toml:2:1", "not valid TOML", "duplicate"]
    ),
    row!(
        "unknown key at the top",
        concat!("grvity = [0, 0, 0]\n", ball!()),
        [
            "scene.toml:1:1",
            "unknown key 'grvity'",
            "did you mean 'gravity'?",
            "valid keys: ",
            "objects"
        ]
    ),
    row!(
        "unknown key in a section",
        concat!("[time]\nstpe = 0.01\n", ball!()),
        ["scene.toml:2:1", "unknown key 'stpe' in time", "did you mean 'step'?"]
    ),
    row!(
        "unknown key in an object",
        ball!("positon = [0, 0, 0]\n"),
        ["scene.toml:4:1", "unknown key 'positon' in objects[0]", "translate", "(object 'ball')"]
    ),
    row!(
        "unknown key in a material in place",
        ball!("material = { younng_modulus = 1e5 }\n"),
        [
            "scene.toml:4:14",
            "unknown key 'younng_modulus' in objects[0].material",
            "did you mean 'young_modulus'? valid keys: law, young_modulus, poisson_ratio, rubber, bulk_modulus, relaxation, plasticity, fibres, growth, density, shell, friction_material",
            "(object 'ball')"
        ]
    ),
    row!(
        "unknown key in a shape",
        "[[objects]]\nname = \"b\"\nshape = { kind = \"sphere\", radios = 1.0 }\n",
        ["scene.toml:3:28", "unknown key 'radios' in objects[0].shape", "did you mean 'radius'?"]
    ),
    row!(
        "text for a boolean",
        concat!("[contact]\nself_contact = \"no\"\n", ball!()),
        ["scene.toml:2:16", "contact.self_contact", "expected a boolean, found the string \"no\""]
    ),
    row!(
        "boolean for a number",
        concat!("[time]\nstep = true\n", ball!()),
        ["scene.toml:2:8", "time.step", "expected a number, found the boolean true"]
    ),
    row!(
        "number for a table",
        concat!("time = 0.01\n", ball!()),
        ["scene.toml:1:8", "time: expected a table"]
    ),
    row!(
        "fraction for a count",
        "[[objects]]\nshape = { kind = \"sphere\", layers = 2.5 }\n",
        ["scene.toml:2:37", "objects[0].shape.layers", "a whole number", "found the number 2.5"]
    ),
    row!(
        "vector too short",
        concat!("gravity = [0, -9.81]\n", ball!()),
        ["scene.toml:1:11", "gravity: expected an array of 3 values, found an array of 2"]
    ),
    row!(
        "vector too long",
        ball!("translate = [0, 0, 0, 0]\n"),
        ["scene.toml:4:13", "objects[0].translate", "an array of 3 values, found an array of 4"]
    ),
    row!(
        "date",
        concat!("[time]\nstep = 2020-01-01\n", ball!()),
        ["scene.toml:2:8", "time.step", "expected a number"]
    ),
    row!(
        "unit of another quantity",
        concat!("[time]\nstep = \"5 kg\"\n", ball!()),
        ["scene.toml:2:8", "time.step", "\"5 kg\" is a mass; expected a time in s", "\"2.5 s\""]
    ),
    row!(
        "unit of another quantity in a vector",
        ball!("velocity = [0, \"3 m\", 0]\n"),
        ["scene.toml:4:16", "objects[0].velocity[1]", "is a length; expected a velocity in m/s"]
    ),
    row!(
        "unknown unit",
        concat!("[time]\nstep = \"5 msec\"\n", ball!()),
        ["scene.toml:2:8", "time.step", "unknown unit 'msec'"]
    ),
    row!(
        "quantity without unit",
        concat!("[time]\nstep = \"5\"\n", ball!()),
        ["scene.toml:2:8", "time.step", "has no unit", "without quotes"]
    ),
    row!(
        "not a number",
        ball!("material = { density = nan }\n"),
        ["scene.toml:4:24", "objects[0].material.density", "NaN is out of range", "finite"]
    ),
    row!(
        "infinite number",
        concat!("[time]\nstep = inf\n", ball!()),
        ["scene.toml:2:8", "time.step", "inf is out of range", "finite"]
    ),
    row!("empty file", "", ["scene.toml:1:1", "no objects", "[[objects]]"]),
    row!(
        "obstacles only",
        "[[objects]]\nshape = { kind = \"plane\" }\n",
        ["scene.toml:1:1", "obstacles only", "something else"]
    ),
    row!(
        "neither mesh nor shape",
        "[[objects]]\nname = \"ball\"\n",
        ["scene.toml:1:1", "objects[0]", "neither `mesh`", "nor `shape`", "(object 'ball')"]
    ),
    row!(
        "mesh and shape",
        ball!("mesh = \"tet.msh\"\n"),
        ["scene.toml:1:1", "objects[0]", "not both", "(object 'ball')"]
    ),
    row!(
        "mesh file missing",
        "[[objects]]\nname = \"ball\"\nmesh = \"tett.msh\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "'tett.msh' not found", "did you mean 'tet.msh'?"]
    ),
    row!(
        "mesh of unknown format",
        "[[objects]]\nname = \"ball\"\nmesh = \"notes.txt\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "notes.txt", "unknown mesh format", "msh"]
    ),
    row!(
        "mesh that is truncated",
        "[[objects]]\nname = \"ball\"\nmesh = \"cut.msh\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "cut.msh", "line 5", "truncated", "(object 'ball')"]
    ),
    row!(
        "mesh with an inverted element",
        "[[objects]]\nname = \"ball\"\nmesh = \"inverted.msh\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "tetrahedron 1", "(object 'ball')"]
    ),
    row!(
        "mesh with a flat element",
        "[[objects]]\nname = \"ball\"\nmesh = \"flat.msh\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "tetrahedron 0", "degenerate", "(object 'ball')"]
    ),
    row!(
        "volume without tetrahedra",
        "[[objects]]\nname = \"ball\"\nmesh = \"cube.obj\"\nrole = \"volume\"\n",
        ["scene.toml:4:8", "objects[0].role", "needs tetrahedra", "fill = {", "(object 'ball')"]
    ),
    row!(
        "filled surface with holes",
        "[[objects]]\nname = \"ball\"\nmesh = \"cube.obj\"\nfill = { size = 0.1 }\n",
        ["scene.toml:3:8", "objects[0].mesh", "not closed", "one hole (4 edges", "(object 'ball')"]
    ),
    row!(
        "filled with tetrahedra of no size",
        ball!("fill = { size = \"0 mm\" }\n"),
        ["scene.toml:4:17", "objects[0].fill.size", "must be positive", "(object 'ball')"]
    ),
    row!(
        "filled with tetrahedra larger than the object",
        ball!("fill = { size = 50, deviation = inf }\n"),
        [
            "scene.toml:4:17",
            "objects[0].fill.size",
            "no tetrahedron of 50 m fits",
            "(object 'ball')"
        ]
    ),
    row!(
        "filled with too many tetrahedra",
        ball!("fill = { size = \"1 um\" }\n"),
        ["scene.toml:4:17", "objects[0].fill.size", "at most 2e7", "(object 'ball')"]
    ),
    row!(
        "filled obstacle",
        ball!("role = \"obstacle\"\nfill = { size = 0.1 }\n"),
        ["scene.toml:5:8", "objects[0].fill", "only a volume", "(object 'ball')"]
    ),
    row!(
        "rigid body of an open surface",
        "[[objects]]\nname = \"ball\"\nmesh = \"cube.obj\"\nrole = \"rigid\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "this surface has open edges", "(object 'ball')"]
    ),
    row!(
        "rigid body of a surface that is inside out",
        "[[objects]]\nname = \"ball\"\nmesh = \"inside-out.obj\"\nrole = \"rigid\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "-1.667e-1 m³", "(object 'ball')"]
    ),
    row!(
        "rigid body that touches itself",
        ball!("role = \"rigid\"\nself_contact = true\n"),
        ["scene.toml:5:16", "objects[0].self_contact", "cannot touch itself", "(object 'ball')"]
    ),
    row!(
        "part of a rigid body held",
        ball!("role = \"rigid\"\nfixed = [{ vertices = { vertices = [0, 1] } }]\n"),
        [
            "scene.toml:5:23",
            "objects[0].fixed[0].vertices",
            "selects 2 of",
            "this body is rigid and moves as a whole",
            "(object 'ball')"
        ]
    ),
    row!(
        "reduced volume",
        ball!("role = \"volume\"\nas = \"points\"\n"),
        ["scene.toml:5:6", "objects[0].as", "only an obstacle", "(object 'ball')"]
    ),
    row!(
        "unknown shape",
        "[[objects]]\nshape = { kind = \"spere\" }\n",
        ["scene.toml:2:", "objects[0].shape", "'spere'", "did you mean 'sphere'?", "torus"]
    ),
    row!(
        "shape without kind",
        "[[objects]]\nshape = { radius = 1 }\n",
        ["scene.toml:2:9", "the key 'kind' is missing in objects[0].shape"]
    ),
    row!(
        "shape of negative size",
        "[[objects]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = -1 }\n",
        ["scene.toml:3:9", "objects[0].shape", "radius is -1 m", "(object 'ball')"]
    ),
    row!(
        "shape with too many elements",
        "[[objects]]\nname = \"b\"\nshape = { kind = \"box\", cells = [9999, 9999, 9999] }\n",
        ["scene.toml:3:9", "objects[0].shape", "at most 2e7", "lower its resolution"]
    ),
    row!(
        "unknown material",
        ball!("material = \"ruber\"\n[materials.rubber]\n[materials.steel]\n"),
        [
            "scene.toml:4:12",
            "objects[0].material",
            "unknown material 'ruber'",
            "did you mean 'rubber'?",
            "steel"
        ]
    ),
    row!(
        "unknown law",
        concat!("[materials.m]\nlaw = \"neohookean\"\n", ball!()),
        [
            "scene.toml:2:7",
            "materials.m.law",
            "'neohookean'",
            "did you mean 'neo-hookean'?",
            "st-venant-kirchhoff"
        ]
    ),
    row!(
        "density not positive",
        ball!("material = { density = -1000 }\n"),
        [
            "scene.toml:4:24",
            "objects[0].material.density",
            "-1000 is out of range",
            "positive",
            "(object 'ball')"
        ]
    ),
    row!(
        "modulus not positive",
        concat!("[materials.m]\nyoung_modulus = 0\n", ball!()),
        ["scene.toml:2:17", "materials.m.young_modulus", "0 is out of range", "positive"]
    ),
    row!(
        "Poisson's ratio too large",
        concat!("[materials.m]\npoisson_ratio = 0.5\n", ball!()),
        ["scene.toml:2:17", "materials.m.poisson_ratio", "0.5 is out of range", "less than 0.5"]
    ),
    row!(
        "object name twice",
        concat!(ball!(), ball!("translate = [3, 0, 0]\n")),
        ["scene.toml:5:8", "objects[1].name", "'ball' is used twice"]
    ),
    row!(
        "half-space name twice",
        concat!("ground = 0\n[[half_spaces]]\nname = \"ground\"\n", ball!()),
        ["scene.toml:3:8", "half_spaces[0].name", "'ground' is used twice"]
    ),
    row!(
        "normal zero",
        concat!("[[half_spaces]]\nnormal = [0, 0, 0]\n", ball!()),
        ["scene.toml:2:10", "half_spaces[0].normal", "must not be zero"]
    ),
    row!(
        "time step zero",
        concat!("[time]\nstep = 0\n", ball!()),
        ["scene.toml:2:8", "time.step", "0 is out of range", "positive"]
    ),
    row!(
        "end before the start",
        concat!("[time]\nend = \"-1 s\"\n", ball!()),
        ["scene.toml:2:7", "time.end", "-1 is out of range"]
    ),
    row!(
        "negative damping",
        concat!("[time]\nstiffness_damping = -1\n", ball!()),
        ["scene.toml:2:21", "time.stiffness_damping", "-1 is out of range"]
    ),
    row!(
        "name of a copy taken",
        concat!(
            ball!("array = { counts = [2, 1, 1], spacing = [2, 0, 0] }\n"),
            "[[objects]]\nname = \"ball[1,0,0]\"\nshape = { kind = \"box\" }\n"
        ),
        ["scene.toml:5:1", "'ball[1,0,0]' is used twice"]
    ),
    row!(
        "contact distance zero",
        concat!("[contact]\nd_hat = \"0 mm\"\n", ball!()),
        ["scene.toml:2:9", "contact.d_hat", "0 is out of range", "contact distance"]
    ),
    row!(
        "unknown collision detection",
        concat!("[contact]\nccd = \"aditive\"\n", ball!()),
        ["scene.toml:2:7", "contact.ccd", "'aditive'", "did you mean 'additive'?", "inclusion"]
    ),
    row!(
        "negative friction",
        concat!("[friction]\ncoefficient = -0.1\n", ball!()),
        ["scene.toml:2:15", "friction.coefficient", "-0.1 is out of range"]
    ),
    row!(
        "kinetic friction above static friction",
        concat!("[friction]\ncoefficient = 0.3\nkinetic_coefficient = 0.4\n", ball!()),
        [
            "scene.toml:3:23",
            "friction.kinetic_coefficient",
            "0.4 is out of range: the kinetic coefficient must be at most the static one"
        ]
    ),
    row!(
        "kinetic friction of a pair above its static friction",
        concat!(
            "[friction]\ncoefficient = 0.9\n[[friction.pairs]]\nmaterials = [\"default\", \"default\"]\n\
             coefficient = 0.3\nkinetic_coefficient = 0.4\n",
            ball!()
        ),
        ["scene.toml:6:23", "friction.pairs[0].kinetic_coefficient", "0.4 is out of range"]
    ),
    row!(
        "friction of an unknown material",
        concat!(
            "[materials.rubber]\n[[friction.pairs]]\nmaterials = [\"rubbr\", \"default\"]\n\
             coefficient = 0.3\n",
            ball!("material = \"rubber\"\n")
        ),
        ["scene.toml:3:14", "friction.pairs[0].materials[0]", "'rubbr'", "did you mean 'rubber'?"]
    ),
    row!(
        "friction without coefficient",
        concat!("[[friction.pairs]]\nmaterials = [\"default\", \"default\"]\n", ball!()),
        ["scene.toml:1:1", "the key 'coefficient' is missing in friction.pairs[0]"]
    ),
    row!(
        "no friction update",
        concat!("[friction]\nlagging = 0\n", ball!()),
        ["scene.toml:2:11", "friction.lagging", "0 is out of range", "at least one"]
    ),
    row!(
        "unknown friction update",
        concat!("[friction]\nlagging = \"often\"\n", ball!()),
        ["scene.toml:2:11", "friction.lagging", "\"converged\""]
    ),
    row!(
        "no iterations",
        concat!("[solver]\nend.max_iterations = 0\n", ball!()),
        ["scene.toml:2:22", "solver.end.max_iterations", "0 is out of range", "at least 1"]
    ),
    row!(
        "cumulative time of impact: a weight of one",
        concat!("[solver]\nend.cumulative_toi = 1\n", ball!()),
        ["scene.toml:2:22", "solver.end.cumulative_toi", "1 is out of range", "between 0 and 1"]
    ),
    row!(
        "characteristic norm: no tolerance",
        concat!("[solver]\nend.characteristic = 0\n", ball!()),
        ["scene.toml:2:22", "solver.end.characteristic", "0 is out of range", "positive"]
    ),
    row!(
        "characteristic norm of the barrier-free solver",
        concat!("[solver]\nmethod = \"barrier-free\"\nend.characteristic = 1e-5\n", ball!()),
        [
            "scene.toml:3:5",
            "solver.end.characteristic: nothing reads this key",
            "here `solver.method = \"barrier-free\"`",
            "give `solver.end.velocity` instead"
        ]
    ),
    row!(
        "key that only Newmark reads",
        concat!("[time]\nstep = 0.01\ntrapezoidal_contact = true\n", ball!()),
        [
            "scene.toml:3:1",
            "time.trapezoidal_contact: nothing reads this key",
            "only with `time.integrator = \"newmark\"`",
            "here `time.integrator = \"implicit-euler\"`"
        ]
    ),
    row!(
        "parameter of an integrator that is not chosen",
        concat!("[time]\nintegrator = \"implicit-midpoint\"\nbeta = 0.6\n", ball!()),
        [
            "scene.toml:3:1",
            "time.beta: nothing reads this key",
            "only with `time.integrator = \"alpha-beta-gamma\"`"
        ]
    ),
    row!(
        "β with which vibrations grow",
        concat!("[time]\nintegrator = \"alpha-beta-gamma\"\nbeta = 0.4\n", ball!()),
        ["scene.toml:3:8", "time.beta", "0.4 is out of range", "from 0.5 to 1"]
    ),
    row!(
        "α with which vibrations grow",
        concat!("[time]\nintegrator = \"alpha-beta-gamma\"\nalpha = 0.2\nbeta = 1\n", ball!()),
        ["scene.toml:3:9", "time.alpha", "0.2 is out of range", "from 0.25 to 1"]
    ),
    row!(
        "α and β that do not go together",
        concat!("[time]\nintegrator = \"alpha-beta-gamma\"\nalpha = 0.9\nbeta = 0.6\n", ball!()),
        ["scene.toml:3:9", "time.alpha", "0.9 is out of range", "must be 1 where β is below 1"]
    ),
    row!(
        "key that only Newton's method reads",
        concat!("[solver]\nmethod = \"dot\"\nforecast_forces = false\n", ball!()),
        [
            "scene.toml:3:1",
            "solver.forecast_forces: nothing reads this key",
            "here `solver.method = \"dot\"`"
        ]
    ),
    row!(
        "velocity tolerance of decomposed optimisation",
        concat!("[solver]\nmethod = \"dot\"\nend.velocity = 1e-3\n", ball!()),
        [
            "scene.toml:3:5",
            "solver.end.velocity: nothing reads this key",
            "give `solver.end.characteristic` instead"
        ]
    ),
    row!(
        "tolerance of a direct solver",
        concat!("solver = { linear = \"cholesky\", linear_tolerance = 1e-6 }\n", ball!()),
        [
            "scene.toml:1:33",
            "solver.linear_tolerance: nothing reads this key",
            "here `solver.linear = \"cholesky\"`"
        ]
    ),
    row!(
        "barrier of the barrier-free solver without a fallback",
        concat!(
            "contact.stiffness = 1e8\nsolver.method = \"barrier-free\"\n\
             solver.barrier_free.fallback = \"none\"\n",
            ball!()
        ),
        [
            "scene.toml:1:9",
            "contact.stiffness: nothing reads this key",
            "here `solver.barrier_free.fallback = \"none\"`"
        ]
    ),
    row!(
        "friction without a coefficient",
        concat!("[friction]\nlagging = \"converged\"\n", ball!()),
        [
            "scene.toml:2:1",
            "friction.lagging: nothing reads this key",
            "only with `friction.coefficient` or `friction.pairs`",
            "neither is given"
        ]
    ),
    row!(
        "rule for a stiffness that is fixed",
        concat!("[contact]\nstiffness = 1e8\nadaptation = \"load\"\n", ball!()),
        [
            "scene.toml:3:1",
            "contact.adaptation: nothing reads this key",
            "without `contact.stiffness`",
            "keep one"
        ]
    ),
    row!(
        "contact distance without contact",
        concat!("[contact]\nenabled = false\nd_hat = 1e-3\n", ball!()),
        [
            "scene.toml:3:1",
            "contact.d_hat: nothing reads this key",
            "here `contact.enabled = false`"
        ]
    ),
    row!(
        "distance in metres and relative",
        concat!("[contact]\nd_hat = 1e-3\nd_hat_relative = 1e-3\n", ball!()),
        [
            "scene.toml:3:1",
            "contact.d_hat_relative: nothing reads",
            "without `contact.d_hat`",
            "keep one of the two"
        ]
    ),
    row!(
        "friction of edges in two dimensions",
        concat!(
            "dimension = 2\nfriction = { coefficient = 0.1, mollified_edges = true }\n",
            plate!()
        ),
        [
            "scene.toml:2:33",
            "friction.mollified_edges: nothing reads this key",
            "here `dimension = 2`"
        ]
    ),
    row!(
        "override that nothing reads",
        ball!(),
        set["contact.orientation.alpha=0.2"],
        [
            "--set contact.orientation.alpha=0.2",
            "contact.orientation.alpha: nothing reads this key",
            "here `contact.potential = \"ipc\"`"
        ]
    ),
    row!(
        "override that takes out what is not there",
        ball!(),
        set["contact.d_hat=unset"],
        ["--set contact.d_hat=unset", "the scene does not say 'contact'"]
    ),
    row!(
        "no subdomains",
        concat!("[solver]\nmethod = \"dot\"\n[solver.decomposition]\nsubdomains = 0\n", ball!()),
        ["scene.toml:4:14", "solver.decomposition.subdomains", "0 is out of range", "at least 1"]
    ),
    row!(
        "no subdomains of the preconditioner",
        concat!("[solver]\nschwarz_subdomains = 0\n", ball!()),
        ["scene.toml:2:22", "solver.schwarz_subdomains", "0 is out of range", "at least 1"]
    ),
    row!(
        "subdomains without vertices",
        concat!("[solver.decomposition]\nsize = 0\n", ball!()),
        ["scene.toml:2:8", "solver.decomposition.size", "0 is out of range", "at least 1"]
    ),
    row!(
        "barrier-free: no stiffness",
        concat!("[solver.barrier_free]\npenalty = 0\n", ball!()),
        ["scene.toml:2:11", "solver.barrier_free.penalty", "0 is out of range", "positive"]
    ),
    row!(
        "barrier-free: a weight of one",
        concat!("[solver.barrier_free]\ntolerance = 1\n", ball!()),
        [
            "scene.toml:2:13",
            "solver.barrier_free.tolerance",
            "1 is out of range",
            "between 0 and 1"
        ]
    ),
    row!(
        "barrier-free: constraints that grow",
        concat!("[solver.barrier_free]\ndecay = 1.5\n", ball!()),
        ["scene.toml:2:9", "solver.barrier_free.decay", "1.5 is out of range", "at most 1"]
    ),
    row!(
        "barrier-free: no solve",
        concat!("[solver.barrier_free]\nmin_iterations = 0\n", ball!()),
        [
            "scene.toml:2:18",
            "solver.barrier_free.min_iterations",
            "0 is out of range",
            "at least 1"
        ]
    ),
    row!(
        "negative iterations",
        concat!("[solver]\nend.max_iterations = -5\n", ball!()),
        ["scene.toml:2:22", "solver.end.max_iterations", "whole number, 0 or more", "-5"]
    ),
    row!(
        "scale zero",
        ball!("scale = [1, 0, 1]\n"),
        ["scene.toml:4:9", "objects[0].scale", "0 is out of range", "positive", "(object 'ball')"]
    ),
    row!(
        "rotation of the wrong type",
        ball!("rotate = 90\n"),
        ["scene.toml:4:10", "objects[0].rotate", "{ axis, angle }", "found the integer 90"]
    ),
    row!(
        "axis zero",
        ball!("rotate = { axis = [0, 0, 0], angle = 90 }\n"),
        ["scene.toml:4:19", "objects[0].rotate.axis", "must not be zero"]
    ),
    row!(
        "no copies",
        ball!("array = { counts = [1, 0, 1], spacing = [1, 1, 1] }\n"),
        ["scene.toml:4:24", "objects[0].array.counts[1]", "0 is out of range"]
    ),
    row!(
        "too many copies",
        ball!("array = { counts = [4294967295, 4294967295, 4294967295], spacing = [1, 1, 1] }\n"),
        ["scene.toml:4:20", "objects[0].array.counts", "more than 100,000 copies"]
    ),
    row!(
        "moving obstacle by velocity",
        "[[objects]]\nname = \"wall\"\nshape = { kind = \"plane\" }\nvelocity = [1, 0, 0]\n",
        ["scene.toml:4:12", "objects[0].velocity", "[[objects.motion]]", "(object 'wall')"]
    ),
    row!(
        "unknown object to ignore",
        ball!("ignore = [\"bal\"]\n"),
        ["scene.toml:4:11", "objects[0].ignore[0]", "unknown object 'bal'", "did you mean 'ball'?"]
    ),
    row!(
        "unknown region",
        ball!(
            "regions = { left = { sphere = { centre = [0, 0, 0], radius = 9 } } }\n",
            "[[objects.fixed]]\nvertices = \"lft\"\n"
        ),
        [
            "scene.toml:6:12",
            "objects[0].fixed[0].vertices",
            "unknown region 'lft'",
            "did you mean 'left'?",
            "all"
        ]
    ),
    row!(
        "empty selection",
        ball!("[[objects.fixed]]\nvertices = { box = { min = [5, 5, 5], max = [6, 6, 6] } }\n"),
        [
            "scene.toml:5:12",
            "objects[0].fixed[0].vertices",
            "selects no vertex of 'ball'",
            "between (-0.5",
            "`relative = true`"
        ]
    ),
    row!(
        "box inside out",
        ball!("[[objects.fixed]]\nvertices = { box = { min = [1, 0, 0], max = [0, 1, 1] } }\n"),
        ["scene.toml:5:20", "objects[0].fixed[0].vertices.box", "greater"]
    ),
    row!(
        "region without a form",
        ball!("[[objects.fixed]]\nvertices = {}\n"),
        ["scene.toml:5:12", "objects[0].fixed[0].vertices", "`box`", "`sphere`"]
    ),
    row!(
        "radius not positive",
        ball!("[[objects.fixed]]\nvertices = { sphere = { centre = [0, 0, 0], radius = 0 } }\n"),
        ["scene.toml:5:", "vertices.sphere.radius", "0 is out of range", "positive"]
    ),
    row!(
        "time range inside out",
        ball!("[[objects.motion]]\nvelocity = [1, 0, 0]\nstart = 2\nend = 1\n"),
        ["scene.toml:7:7", "objects[0].motion[0].end", "1 is out of range", "later than the start"]
    ),
    row!(
        "unknown pivot",
        ball!("[[objects.motion]]\npivot = \"center\"\n"),
        ["scene.toml:5:9", "objects[0].motion[0].pivot", "'center'", "did you mean 'centre'?"]
    ),
    row!(
        "condition on an unknown object",
        ball!(
            "[[objects.motion]]\nuntil = { all_beyond = { origin = [0, 0, 0], normal = [1, 0, 0], ",
            "objects = [\"bll\"] } }\n"
        ),
        [
            "scene.toml:5:",
            "until.all_beyond.objects[0]",
            "unknown object 'bll'",
            "did you mean 'ball'?"
        ]
    ),
    row!(
        "force and acceleration",
        ball!("[[objects.forces]]\nforce = [1, 0, 0]\nacceleration = [1, 0, 0]\n"),
        ["scene.toml:4:1", "objects[0].forces[0]", "one of `acceleration`", "`force`"]
    ),
    row!(
        "sequence without folder",
        ball!("[[objects.motion]]\nsequence = \"frames\"\n"),
        ["scene.toml:5:12", "objects[0].motion[0].sequence", "cannot read the folder", "frames"]
    ),
    row!(
        "sequence of another mesh",
        ball!("[[objects.motion]]\nsequence = \"motion\"\n"),
        [
            "scene.toml:5:12",
            "objects[0].motion[0].sequence",
            "0.obj has 3 vertices, the object has 8"
        ]
    ),
    row!(
        "expression with an unknown name",
        ball!("[[objects.motion]]\ntranslation = [0, \"0.1*sine(t)\", 0]\n"),
        [
            "scene.toml:5:19",
            "objects[0].motion[0].translation[1]",
            "unknown name 'sine'",
            "at character 5 of the expression `0.1*sine(t)`"
        ]
    ),
    row!(
        "unfinished expression",
        ball!("[[objects.motion]]\nrotation = { axis = [0, 1, 0], angle = \"90*(t\" }\n"),
        [
            "scene.toml:5:40",
            "objects[0].motion[0].rotation.angle",
            "expected ')', found the end at character 6"
        ]
    ),
    row!(
        "expression with a wrong unit",
        ball!("[[objects.motion]]\ntranslation = [0, \"2 kg\", 0]\n"),
        ["scene.toml:5:19", "is a mass; expected a length in m"]
    ),
    row!(
        "expression of wrong type",
        ball!("[[objects.motion]]\ntranslation = [0, true, 0]\n"),
        ["scene.toml:5:19", "expected a number or an expression of t", "boolean true"]
    ),
    row!(
        "translation and velocity",
        ball!("[[objects.motion]]\nvelocity = [1, 0, 0]\ntranslation = [0, \"t\", 0]\n"),
        ["scene.toml:6:15", "`translation` excludes `velocity` and `angular_velocity`"]
    ),
    row!(
        "rotation about no axis",
        ball!("[[objects.motion]]\nrotation = { axis = [0, 0, 0], angle = \"t\" }\n"),
        ["scene.toml:5:21", "objects[0].motion[0].rotation.axis", "must not be zero"]
    ),
    row!(
        "rotation without angle",
        ball!("[[objects.motion]]\nrotation = { axis = [0, 0, 1] }\n"),
        ["scene.toml:5:12", "the key 'angle' is missing in objects[0].motion[0].rotation"]
    ),
    row!(
        "pressure and force",
        ball!("[[objects.forces]]\nforce = [1, 0, 0]\npressure = \"1 kPa\"\n"),
        [
            "scene.toml:4:1",
            "give one of `acceleration` (m/s^2), `force` (N), `pressure` (Pa) and `traction` (Pa)"
        ]
    ),
    row!(
        "traction on what is not of the surface",
        ball!("[[objects.forces]]\nvertices = { vertices = [0] }\ntraction = [1, 0, 0]\n"),
        ["scene.toml:6:12", "objects[0].forces[0].traction", "selects no surface triangle"]
    ),
    row!(
        "pressure that is a force",
        ball!("[[objects.forces]]\npressure = \"1 kN\"\n"),
        ["scene.toml:5:12", "is a force; expected a pressure"]
    ),
    row!(
        "attachment of an unknown object",
        concat!(ball!(), "[[attachments]]\nobject = \"bal\"\nstiffness = 1\n"),
        [
            "scene.toml:5:10",
            "attachments[0].object",
            "unknown object 'bal'",
            "did you mean 'ball'?"
        ]
    ),
    row!(
        "attachment without stiffness",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\n"),
        ["scene.toml:4:1", "give either `stiffness` (N/m) or `stiffness_per_mass` (1/s^2)"]
    ),
    row!(
        "attachment of negative stiffness",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness = -1\n"),
        ["scene.toml:6:13", "-1 is out of range", "a stiffness must be positive"]
    ),
    row!(
        "attachment with a wrong unit",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness = \"1 N\"\n"),
        ["scene.toml:6:13", "is a force; expected a stiffness in N/m"]
    ),
    row!(
        "attachment of negative stiffness per mass",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness_per_mass = 0\n"),
        ["scene.toml:6:22", "a stiffness must be positive"]
    ),
    row!(
        "attachment to object and point",
        concat!(
            ball!(),
            "[[attachments]]\nobject = \"ball\"\nstiffness = 1\n",
            "to = { object = \"ball\", point = [0, 0, 0] }\n"
        ),
        ["scene.toml:7:6", "attachments[0].to", "give either `object`", "or `point`"]
    ),
    row!(
        "attachment to an unknown kind of end",
        concat!(
            ball!(),
            "[[attachments]]\nobject = \"ball\"\nstiffness = 1\n",
            "to = { object = \"ball\", closest = \"edge\" }\n"
        ),
        ["scene.toml:7:35", "attachments[0].to.closest", "unknown value 'edge'", "surface, vertex"]
    ),
    row!(
        "attachment of nothing",
        concat!(
            ball!(),
            "[[attachments]]\nobject = \"ball\"\nstiffness = 1\n",
            "vertices = { sphere = { centre = [9, 9, 9], radius = 1 } }\n"
        ),
        ["scene.toml:7:12", "attachments[0].vertices", "selects no vertex of 'ball'"]
    ),
    row!(
        "attachment to something far away",
        concat!(
            ball!(),
            "[[objects]]\nname = \"wall\"\nshape = { kind = \"box\" }\nrole = \"obstacle\"\n",
            "translate = [9, 0, 0]\n[[attachments]]\nobject = \"ball\"\nstiffness = 1\n",
            "to = { object = \"wall\" }\ndistance = 0.1\n"
        ),
        [
            "scene.toml:12:6",
            "attachments[0].to",
            "'attachment-0' finds nothing within 0.1 m; the nearest is 8."
        ]
    ),
    row!(
        "attachment to a point far away",
        concat!(
            ball!(),
            "[[attachments]]\nobject = \"ball\"\nstiffness = 1\nto = { point = [9, 0, 0] }\n",
            "distance = 0.1\n"
        ),
        ["scene.toml:7:6", "attachments[0].to", "finds nothing within 0.1 m"]
    ),
    row!(
        "pressure on vertices without triangle",
        concat!(
            ball!(),
            "forces = [{ vertices = { sphere = { centre = [0.5, 0.5, 0.5], radius = 0.01 } }, ",
            "pressure = 1 }]\n"
        ),
        ["scene.toml:4:93", "objects[0].forces[0].pressure", "selects no surface triangle"]
    ),
    row!(
        "attachment at a negative distance",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness = 1\ndistance = -1\n"),
        ["scene.toml:7:12", "a distance must be 0 or more (m)"]
    ),
    row!(
        "attachment of negative length",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness = 1\nrest_length = -1\n"),
        ["scene.toml:7:15", "a rest length must be 0 or more (m)"]
    ),
    row!(
        "attachment that ends before it starts",
        concat!(ball!(), "[[attachments]]\nobject = \"ball\"\nstiffness = 1\nstart = 2\nend = 1\n"),
        ["scene.toml:8:7", "must be later than the start"]
    ),
    row!(
        "attached obstacle",
        concat!(
            ball!(),
            "[[objects]]\nname = \"wall\"\nshape = { kind = \"box\" }\nrole = \"obstacle\"\n",
            "[[attachments]]\nobject = \"wall\"\nstiffness = 1\n"
        ),
        ["scene.toml:9:10", "attachments[0].object", "the motion of an obstacle is prescribed"]
    ),
    row!(
        "no frames",
        concat!("[output]\nevery = 0\n", ball!()),
        ["scene.toml:2:9", "output.every", "0 is out of range"]
    ),
    row!(
        "unknown field",
        concat!("[output]\nfields = [\"velocty\"]\n", ball!()),
        [
            "scene.toml:2:11",
            "output.fields[0]",
            "'velocty'",
            "did you mean 'velocity'?",
            "von_mises"
        ]
    ),
    row!(
        "override of an unknown key",
        ball!(),
        set["time.stpe=0.1"],
        ["--set time.stpe=0.1", "unknown key 'stpe' in time", "did you mean 'step'?"]
    ),
    row!(
        "override with a bad value",
        ball!(),
        set["time.step=5kg"],
        ["--set time.step=5kg", "is a mass; expected a time"]
    ),
    row!(
        "override without value",
        ball!(),
        set["time.step"],
        ["--set time.step", "key=value", "time.step=0.005"]
    ),
    row!(
        "override of an unknown object",
        ball!(),
        set["objects.bal.scale=2"],
        ["--set objects.bal.scale=2", "unknown element 'bal'", "did you mean 'ball'?"]
    ),
    row!(
        "override beyond the last object",
        ball!(),
        set["objects[7].scale=2"],
        ["--set objects[7].scale=2", "no element 7"]
    ),
    row!(
        "four dimensions",
        concat!("dimension = 4\n", ball!()),
        [
            "scene.toml:1:13",
            "dimension",
            "a scene has 2 or 3 dimensions, or is \"axisymmetric\", not 4"
        ]
    ),
    row!(
        "dimension that is another word",
        concat!("dimension = \"axial\"\n", ball!()),
        ["scene.toml:1:13", "dimension", "not \"axial\""]
    ),
    row!(
        "part behind the axis of revolution",
        concat!("dimension = \"axisymmetric\"\n", plate!()),
        ["scene.toml:2:1", "objects[0]", "x is the radius in a scene of bodies of revolution"]
    ),
    row!(
        "gravity across the axis of revolution",
        concat!("dimension = \"axisymmetric\"\ngravity = [1, 0]\n", plate!()),
        ["scene.toml:2:11", "gravity", "only under gravity along y"]
    ),
    row!(
        "rigid body of revolution",
        concat!("dimension = \"axisymmetric\"\n", plate!("role = \"rigid\"\n")),
        ["scene.toml:5:8", "objects[0].role", "there are no rigid bodies in two dimensions"]
    ),
    row!(
        "two components in three dimensions",
        concat!("gravity = [0, -1]\n", ball!()),
        ["scene.toml:1:11", "gravity", "expected an array of 3 values"]
    ),
    row!(
        "tetrahedra in two dimensions",
        concat!("dimension = 2\n", ball!()),
        ["scene.toml:4:9", "objects[0].shape", "the scene has two dimensions"]
    ),
    row!(
        "shell in two dimensions",
        concat!("dimension = 2\n", plate!("role = \"shell\"\n")),
        ["scene.toml:5:8", "objects[0].role", "there are no shells in two dimensions"]
    ),
    row!(
        "rigid body in two dimensions",
        concat!("dimension = 2\n", plate!("role = \"rigid\"\n")),
        ["scene.toml:5:8", "objects[0].role", "there are no rigid bodies in two dimensions"]
    ),
    row!(
        "particles in two dimensions",
        concat!("dimension = 2\n", plate!("role = \"particles\"\n")),
        ["scene.toml:5:8", "objects[0].role", "there are no particles in two dimensions"]
    ),
    row!(
        "filled outline",
        concat!("dimension = 2\n", plate!("fill = { size = 0.1 }\n")),
        ["scene.toml:5:8", "objects[0].fill", "no surfaces to fill"]
    ),
    row!(
        "gravity out of the plane",
        concat!("dimension = 2\ngravity = [0, 0, -9.81]\n", plate!()),
        ["scene.toml:2:11", "gravity", "the plane z = 0"]
    ),
    row!(
        "turn out of the plane",
        concat!("dimension = 2\n", plate!("rotate = [10, 0, 0]\n")),
        ["scene.toml:5:10", "objects[0].rotate", "turns about z only"]
    ),
    row!(
        "half-space that is tilted out of the plane",
        concat!("dimension = 2\n", plate!("[[half_spaces]]\nnormal = [0, 1, 1]\n")),
        ["scene.toml:6:10", "half_spaces[0].normal", "the plane z = 0"]
    ),
    row!(
        "motion out of the plane",
        concat!("dimension = 2\n", plate!("[[objects.motion]]\nvelocity = [0, 0, 1]\n")),
        ["scene.toml:6:12", "objects[0].motion[0].velocity", "the plane z = 0"]
    ),
    row!(
        "force out of the plane",
        concat!("dimension = 2\n", plate!("[[objects.forces]]\nforce = [0, 1, \"t\"]\n")),
        ["scene.toml:6:9", "objects[0].forces[0].force", "the plane z = 0"]
    ),
    row!(
        "barrier-free solver in two dimensions",
        concat!("dimension = 2\nsolver.method = \"barrier-free\"\n", plate!()),
        ["scene.toml:2:17", "solver.method", "works in three dimensions only"]
    ),
    row!(
        "mesh out of the plane",
        "dimension = 2\n[[objects]]\nmesh = \"cube.obj\"\n",
        ["scene.toml:3:8", "objects[0].mesh", "vertex 2 has z = 1"]
    ),
    row!(
        "polygon that crosses itself",
        "dimension = 2\n[[objects]]\nshape = { kind = \"polygon\", points = [[0, 0], [1, 1], [1, 0], [0, 1]] }\n",
        ["scene.toml:3:9", "objects[0].shape", "its outline touches or crosses itself"]
    ),
    row!(
        "expectation that says nothing",
        ball!("[[expect]]\nobject = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\n"),
        ["scene.toml:4:", "the key 'shows' is missing in expect[0]"]
    ),
    row!(
        "expectation with an empty sentence",
        ball!("[[expect]]\nshows = \" \"\nobject = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\n"),
        ["scene.toml:5:9", "expect[0].shows", "say in a sentence what to see"]
    ),
    row!(
        "unknown value",
        expect!("object = \"ball\"\nvalue = \"lowes.y\"\nbelow = 0\n"),
        [
            "scene.toml:7:9",
            "expect[0].value",
            "unknown value 'lowes.y'",
            "did you mean 'lowest.y'?",
            "highest.y"
        ]
    ),
    row!(
        "unknown key of an expectation",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelwo = 0\n"),
        ["scene.toml:8:1", "unknown key 'belwo' in expect[0]", "did you mean 'below'?"]
    ),
    row!(
        "unknown object of an expectation",
        expect!("object = [\"ball\", \"bal\"]\nvalue = \"lowest.y\"\nbelow = 0\n"),
        ["scene.toml:6:19", "expect[0].object[1]", "unknown object 'bal'", "did you mean 'ball'?"]
    ),
    row!(
        "expectation of no object",
        expect!("object = []\nvalue = \"lowest.y\"\nbelow = 0\n"),
        ["scene.toml:6:10", "expect[0].object", "name at least one object"]
    ),
    row!(
        "unknown copy of an expectation",
        ball!(
            "array = { counts = [2, 1, 1], spacing = [2, 0, 0] }\n",
            "[[expect]]\nshows = \"it falls\"\nobject = \"ball[2,*,0]\"\nvalue = \"lowest.y\"\nbelow = 0\n"
        ),
        [
            "scene.toml:7:10",
            "expect[0].object",
            "there is no copy 'ball[2,*,0]': the copies are 'ball[0,0,0]' to 'ball[1,0,0]'",
            "--set expect=unset"
        ]
    ),
    row!(
        "value of an object without an object",
        expect!("value = \"lowest.y\"\nbelow = 0\n"),
        [
            "scene.toml:6:9",
            "expect[0].value",
            "`lowest.y` is a value of an object; name it in `object`"
        ]
    ),
    row!(
        "value of the scene with an object",
        expect!("object = \"ball\"\nvalue = \"contacts\"\nbelow = 1\n"),
        [
            "scene.toml:6:10",
            "expect[0].object",
            "`contacts` is a value of the whole scene; leave `object` out"
        ]
    ),
    row!(
        "value of the scene before the first step",
        expect!("value = \"contacts\"\nwhen = \"start\"\nbelow = 1\n"),
        ["scene.toml:7:8", "expect[0].when", "`contacts` begins with the first step"]
    ),
    row!(
        "value of the scene relative to its start",
        expect!("value = \"contacts\"\nrelative_to = \"start\"\nbelow = 1\n"),
        ["scene.toml:7:15", "expect[0].relative_to", "`contacts` begins with the first step"]
    ),
    row!(
        "expectation without bounds",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\n"),
        ["scene.toml:4:", "expect[0]", "give `above`, `below`, or both"]
    ),
    row!(
        "bounds that exclude each other",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nabove = 1\nbelow = \"50 cm\"\n"),
        ["scene.toml:8:9", "expect[0].above", "no value is above 1 and below 0.5"]
    ),
    row!(
        "bound with a wrong unit",
        expect!("object = \"ball\"\nvalue = \"velocity.y\"\nbelow = \"1 mm\"\n"),
        ["scene.toml:8:9", "expect[0].below", "\"1 mm\" is a length; expected a velocity in m/s"]
    ),
    row!(
        "bound of a number with a unit",
        expect!(
            "object = \"ball\"\nvalue = \"size.y\"\nrelative_to = \"start\"\nbelow = \"1 mm\"\n"
        ),
        ["scene.toml:9:9", "expect[0].below", "\"1 mm\": this value has no unit"]
    ),
    row!(
        "infinite bound",
        expect!("object = \"ball\"\nvalue = \"size.y\"\nbelow = inf\n"),
        ["scene.toml:8:9", "expect[0].below", "a finite number is needed"]
    ),
    row!(
        "expectation after the end",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nwhen = \"2 s\"\n[time]\nend = 1\n"
        ),
        ["scene.toml:9:8", "expect[0].when", "2 s is after the end of the scene at 1 s", "--steps"]
    ),
    row!(
        "expectation before the start",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nwhen = -1\n"),
        ["scene.toml:9:8", "expect[0].when", "-1 is out of range: a time must be 0 or more"]
    ),
    row!(
        "expectation at an unknown time",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nwhen = \"evry\"\n"),
        ["scene.toml:9:8", "expect[0].when", "unknown time 'evry'", "did you mean 'every'?"]
    ),
    row!(
        "since without several frames",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nsince = 0.1\n"),
        ["scene.toml:9:9", "expect[0].since", "`since` is read only with `when`"]
    ),
    row!(
        "since after the end",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nwhen = \"least\"\nsince = 1e3\n"
        ),
        ["scene.toml:10:9", "expect[0].since", "1000 s is after the end of the scene"]
    ),
    row!(
        "more objects than there are",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nat_least = 2\n"),
        ["scene.toml:9:12", "expect[0].at_least", "2 of 1 objects cannot be within bounds"]
    ),
    row!(
        "at least no object",
        expect!("object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nat_least = 0\n"),
        ["scene.toml:9:12", "expect[0].at_least", "0 is out of range"]
    ),
    row!(
        "subtraction of another unit",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\n",
            "minus = { object = \"ball\", value = \"velocity.y\" }\n"
        ),
        ["scene.toml:9:", "expect[0].minus", "`velocity.y` cannot be subtracted from `lowest.y`"]
    ),
    row!(
        "subtraction of a value of the scene",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\n",
            "minus = { object = \"ball\", value = \"min_gap\" }\n"
        ),
        ["scene.toml:9:36", "expect[0].minus.value", "`min_gap` is no value of an object"]
    ),
    row!(
        "subtraction of as many objects as fit to none",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\nminus = [\"ball\", \"ball\"]\n"
        ),
        ["scene.toml:9:9", "expect[0].minus", "it names 2 objects to subtract from 1"]
    ),
    row!(
        "expectation of vertices that are none",
        expect!(
            "object = \"ball\"\nvalue = \"lowest.y\"\nbelow = 0\n",
            "vertices = { box = { min = [5, 5, 5], max = [6, 6, inf] } }\n"
        ),
        ["scene.toml:9:12", "expect[0].vertices", "selects no vertex of 'ball'"]
    ),
    row!(
        "expectation of a field that frames lack",
        expect!(
            "object = \"ball\"\nvalue = \"touching\"\nbelow = 9\n[output]\nfields = [\"velocity\"]\n"
        ),
        ["scene.toml:7:9", "expect[0].value", "the frames have no contact_force", "output.fields"]
    ),
    row!(
        "expectation of the third coordinate in two dimensions",
        concat!(
            "dimension = 2\n",
            plate!(
                "[[expect]]\nshows = \"it falls\"\nobject = \"plate\"\nvalue = \"lowest.z\"\nbelow = 0\n"
            )
        ),
        ["scene.toml:8:9", "expect[0].value", "`lowest.z` is 0 in two dimensions"]
    ),
    row!(
        "a law of rubber without a bulk modulus",
        concat!("[materials.m]\nrubber = { kind = \"yeoh\", c10 = 1e5 }\n", of_m!("box")),
        ["scene.toml:2:10", "materials.m.rubber", "`bulk_modulus`", "poisson_ratio = 0.499"]
    ),
    row!(
        "an unknown law of rubber",
        concat!("[materials.m]\nrubber = { kind = \"mooney\" }\n", of_m!("box")),
        ["scene.toml:2:19", "materials.m.rubber.kind", "'mooney'", "mooney-rivlin"]
    ),
    row!(
        "rubber with Young's modulus",
        concat!(
            "[materials.m]\nyoung_modulus = 1e5\npoisson_ratio = 0.4\n",
            "rubber = { kind = \"yeoh\", c10 = 1e5 }\n",
            of_m!("box")
        ),
        ["scene.toml:2:17", "materials.m.young_modulus", "has its own constants"]
    ),
    row!(
        "rubber with both of what says how little its volume changes",
        concat!(
            "[materials.m]\nbulk_modulus = 1e7\npoisson_ratio = 0.4\n",
            "rubber = { kind = \"yeoh\", c10 = 1e5 }\n",
            of_m!("box")
        ),
        ["scene.toml:2:16", "materials.m.bulk_modulus", "leave out one"]
    ),
    row!(
        "a bulk modulus without rubber",
        concat!("[materials.m]\nbulk_modulus = 1e7\n", of_m!("box")),
        ["scene.toml:2:16", "materials.m.bulk_modulus", "give `poisson_ratio`"]
    ),
    row!(
        "rubber whose energy is negative somewhere",
        concat!(
            "[materials.m]\npoisson_ratio = 0.4\n",
            "rubber = { kind = \"mooney-rivlin\", c10 = 1e5, c01 = -1e3 }\n",
            of_m!("box")
        ),
        ["scene.toml:3:10", "materials.m.rubber", "negative at these stretches"]
    ),
    row!(
        "an exponent of 0",
        concat!(
            "[materials.m]\npoisson_ratio = 0.4\n",
            "rubber = { kind = \"ogden\", terms = [{ mu = 1e5, alpha = 0 }] }\n",
            of_m!("box")
        ),
        ["scene.toml:3:57", "materials.m.rubber.terms[0].alpha", "must not be 0"]
    ),
    row!(
        "a sheet of rubber",
        concat!(
            "[materials.m]\npoisson_ratio = 0.4\nrubber = { kind = \"yeoh\", c10 = 1e5 }\n",
            of_m!("plane"),
            "role = \"shell\"\n"
        ),
        ["scene.toml:7:12", "objects[0].material", "are for solids"]
    ),
    row!(
        "an unknown axis",
        concat!("[materials.m]\n", of_m!("box"), "fixed = [{ along = \"w\" }]\n"),
        ["scene.toml:6:20", "objects[0].fixed[0].along", "'w'", "x, y, z"]
    ),
    row!(
        "a direction without length",
        concat!("[materials.m]\n", of_m!("box"), "fixed = [{ along = [[1, 0, 0], [0, 0, 0]] }]\n"),
        ["scene.toml:6:20", "objects[0].fixed[0].along", "must not be zero"]
    ),
    row!(
        "directions that are no directions",
        concat!("[materials.m]\n", of_m!("box"), "motion = [{ along = [1, 0] }]\n"),
        ["scene.toml:6:21", "objects[0].motion[0].along", "three numbers"]
    ),
    row!(
        "a table that is written as an array",
        concat!(
            "[materials.m]\n",
            of_m!("box"),
            "fixed = [{ vertices = { box = [[0, 0, 0], [1, 1, 1]] } }]\n"
        ),
        ["scene.toml:6:31", "objects[0].fixed[0].vertices.box", "a table", "array of 2"]
    ),
];
