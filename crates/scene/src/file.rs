//! The scene file: every key with its meaning, unit and default. The sections `[time]`,
//! `[contact]`, `[friction]` and `[solver]` are the structs of [`standoff_sim::settings`].
//!
//! These types say what may be written; [`crate::resolve`] says what it means. `x-unit` is the unit
//! of a plain number; a string may use another (`"2 mm"`), see [`crate::units`].

// long: a list: every key of a scene file with its documentation, in one place on purpose

mod along;
mod either;
mod expect;
mod joint;
mod robot;
mod thin;

pub use along::{Along, AxisName, Direction};
pub use expect::{
    Axis, Bound, ExpectSection, Figure, Measure, Minus, MinusSection, Moment, Names, Part,
    Quantity, Reference,
};
pub use joint::{
    DriveSection, InertialSection, JointSection, JointSpringSection, MimicSection, TendonSection,
};
pub use robot::RobotSection;
pub use thin::{OrthotropicSection, RestShape, ShellSection, StitchSection, TieSection};

use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use standoff_mesh::shape::Shape;
use standoff_sim::definition::Dimension;
use standoff_sim::definition::presets::Preset;
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::rubber::{self, Rubber};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{ContactSettings, FrictionSettings, SolverSettings, TimeSettings};
use std::collections::BTreeMap;

/// A scene: elastic objects, obstacles and how they are simulated. SI units; y is up by default.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Standoff scene")]
pub struct SceneFile {
    /// What the scene shows; has no effect.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The method of a paper: it sets the keys of `[time]`, `[contact]`, `[friction]` and `[solver]` that the
    /// scene does not give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Number of dimensions, 2 or 3, or `"axisymmetric"`. With 2 everything lies in the plane z = 0: solids of triangles under
    /// plane strain, per metre of depth, and obstacles of edges and points. With `"axisymmetric"` these are the half-plane x = r ≥ 0 of bodies of revolution
    /// about y, and masses, forces and energies are those of whole rings. Vectors may then have two
    /// components, rotations may be one angle about z, and axes may be left out.
    #[serde(skip_serializing_if = "is_default")]
    pub dimension: Dimension,
    /// Gravity, m/s².
    #[schemars(extend("x-unit" = "m/s^2"))]
    pub gravity: [f64; 3],
    /// Height of a fixed horizontal ground {y ≤ ground}, m: a half-space with the name `ground`.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground: Option<f64>,
    /// Time stepping.
    pub time: TimeSettings,
    /// Contact.
    pub contact: ContactSettings,
    /// Friction.
    pub friction: FrictionSettings,
    /// Minimisation.
    pub solver: SolverSettings,
    /// What is written, and when.
    pub output: OutputSection,
    /// Materials by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialSection>,
    /// Fixed half-spaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub half_spaces: Vec<HalfSpaceSection>,
    /// Elastic solids and obstacles.
    pub objects: Vec<ObjectSection>,
    /// Robots, whose links and joints become objects and joints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub robots: Vec<RobotSection>,
    /// Springs between objects or to fixed points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<AttachmentSection>,
    /// Seams between vertices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stitches: Vec<StitchSection>,
    /// Objects that are glued where they touch at the start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<TieSection>,
    /// Joints between rigid bodies, or between the world and one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointSection>,
    /// Sums of coordinates of joints, with what acts along them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tendons: Vec<TendonSection>,
    /// What a run of the scene must show. It has no effect on the run; `standoff run --expect` says whether it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ExpectSection>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for SceneFile {
    fn default() -> Self {
        Self {
            description: String::new(),
            preset: None,
            dimension: Dimension::default(),
            gravity: [0.0, -9.81, 0.0],
            ground: None,
            time: TimeSettings::default(),
            contact: ContactSettings::default(),
            friction: FrictionSettings::default(),
            solver: SolverSettings::default(),
            output: OutputSection::default(),
            materials: BTreeMap::new(),
            half_spaces: Vec::new(),
            objects: Vec::new(),
            robots: Vec::new(),
            attachments: Vec::new(),
            stitches: Vec::new(),
            ties: Vec::new(),
            joints: Vec::new(),
            tendons: Vec::new(),
            expect: Vec::new(),
        }
    }
}

/// What is written, and when. The initial state and the last one are always written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputSection {
    /// Number of steps between frames, ≥ 1.
    #[schemars(range(min = 1))]
    pub every: u32,
    /// Simulated time between frames, s. Overrides `every`.
    #[schemars(extend("x-unit" = "s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// Also write the surfaces as `surface/000000.obj` ….
    pub surface_obj: bool,
    /// Arrays that the frames contain besides the positions.
    pub fields: Vec<Field>,
    /// Number of steps between checkpoints; one is also written at the end; 0 for none. `standoff resume`
    /// continues from the last one.
    pub checkpoint_every: u32,
}

impl Default for OutputSection {
    fn default() -> Self {
        Self {
            every: 1,
            interval: None,
            surface_obj: false,
            fields: vec![
                Field::Displacement,
                Field::Velocity,
                Field::ContactForce,
                Field::VonMises,
                Field::PlasticStrain,
                Field::Stretch,
                Field::BendingEnergy,
                Field::ContactReach,
            ],
            checkpoint_every: 10,
        }
    }
}

/// A field of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// Position minus rest position, m.
    Displacement,
    /// Velocity, m/s.
    Velocity,
    /// Contact and friction force on a vertex, N.
    ContactForce,
    /// Von Mises stress of a tetrahedron, Pa.
    VonMises,
    /// Cauchy (true) stress of a tetrahedron, Pa: its components xx, yy, zz, xy, yz, xz.
    Stress,
    /// Its principal values, Pa, the greatest first.
    PrincipalStress,
    /// Cauchy stress at the vertices of solids and its von Mises stress, Pa, recovered from the elements around them; with the estimated error of
    /// the stress of each element.
    RecoveredStress,
    /// Logarithmic strain ½ ln FFᵀ of a tetrahedron: the same components.
    Strain,
    /// Equivalent plastic strain of a tetrahedron, where a material has `plasticity`.
    PlasticStrain,
    /// Greatest principal stretch of a shell's triangle, stretch of a rod's segment; 0 elsewhere.
    Stretch,
    /// Bending energy, including twist for rods, J; the energy of a hinge or a rod joint is divided equally
    /// between its two sides; 0 elsewhere.
    BendingEnergy,
    /// With the orientation-aware potential, the smallest distance ε up to which it acts on a vertex, its
    /// edges and its faces, m; 0 where it does not act.
    ContactReach,
}

/// A material.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialSection {
    /// Constitutive law.
    pub law: Law,
    /// Young's modulus, Pa.
    #[schemars(extend("x-unit" = "Pa"))]
    pub young_modulus: f64,
    /// Poisson's ratio, more than −1 and less than 0.5.
    pub poisson_ratio: f64,
    /// A law of rubber with its constants, in place of `law` and `young_modulus`; for solids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rubber: Option<Rubber>,
    /// Bulk modulus of `rubber`, Pa; by default it follows from `poisson_ratio`, of which rubber needs one or the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "Pa"))]
    pub bulk_modulus: Option<f64>,
    /// Parts of the shear stress that relax, beside the stress of the law: a Prony series, of which the law is what is left after a long time; for
    /// solids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relaxation: Vec<Relaxation>,
    /// Plasticity of the von Mises stress, with Hencky's law in place of `law`; for solids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plasticity: Option<Plasticity>,
    /// Families of fibres, beside the law; for solids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fibres: Vec<FibreSection>,
    /// Strain without stress, the same in all directions, as of heat (α ΔT), growth or swelling: a number or an expression of `t`, above −1; for
    /// solids, whose mass stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Formula>,
    /// Mass density, kg/m³.
    #[schemars(extend("x-unit" = "kg/m^3"))]
    pub density: f64,
    /// What a shell of the material needs in addition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellSection>,
    /// Name by which `[[friction.pairs]]` refers to it; the material's own name by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_material: Option<String>,
}

impl MaterialSection {
    /// What a solid is made of.
    pub fn solid(&self) -> Material {
        let (mut law, young_modulus) = (self.law.clone(), self.young_modulus);
        if self.plasticity.is_some() {
            law = Law::Volumetric;
        }
        let Some(rubber) = &self.rubber else {
            return Material { law, young_modulus, poisson_ratio: self.poisson_ratio };
        };
        let from_ratio = || rubber::bulk_modulus(rubber.shear_modulus(), self.poisson_ratio);
        Material::rubber(rubber.clone(), self.bulk_modulus.unwrap_or_else(from_ratio))
    }
}

impl MaterialSection {
    /// What of a solid of the material relaxes or yields.
    pub fn inelastic(&self) -> Vec<Inelasticity> {
        let yielding = self.plasticity.map(Inelasticity::Yielding);
        let relaxing = self.relaxation.iter().copied().map(Inelasticity::Relaxing);
        yielding.into_iter().chain(relaxing).collect()
    }
}

impl Serialize for MaterialSection {
    /// Without what rubber or plasticity takes the place of: a scene that gives both is refused.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plain = self.rubber.is_none();
        let mut map = serializer.serialize_map(None)?;
        if plain && self.plasticity.is_none() {
            map.serialize_entry("law", &self.law)?;
        }
        if plain {
            map.serialize_entry("young_modulus", &self.young_modulus)?;
        }
        if plain || self.bulk_modulus.is_none() {
            map.serialize_entry("poisson_ratio", &self.poisson_ratio)?;
        }
        if let Some(bulk_modulus) = self.bulk_modulus {
            map.serialize_entry("bulk_modulus", &bulk_modulus)?;
        }
        map.serialize_entry("density", &self.density)?;
        if let Some(name) = &self.friction_material {
            map.serialize_entry("friction_material", name)?;
        }
        if let Some(rubber) = &self.rubber {
            map.serialize_entry("rubber", rubber)?;
        }
        if let Some(plasticity) = &self.plasticity {
            map.serialize_entry("plasticity", plasticity)?;
        }
        if !self.relaxation.is_empty() {
            map.serialize_entry("relaxation", &self.relaxation)?;
        }
        if !self.fibres.is_empty() {
            map.serialize_entry("fibres", &self.fibres)?;
        }
        if let Some(growth) = &self.growth {
            map.serialize_entry("growth", growth)?;
        }
        if let Some(shell) = &self.shell {
            map.serialize_entry("shell", shell)?;
        }
        map.end()
    }
}

impl Default for MaterialSection {
    fn default() -> Self {
        Self {
            law: Law::NeoHookean,
            young_modulus: 1e5,
            poisson_ratio: 0.4,
            rubber: None,
            bulk_modulus: None,
            relaxation: Vec::new(),
            plasticity: None,
            fibres: Vec::new(),
            growth: None,
            density: 1000.0,
            shell: None,
            friction_material: None,
        }
    }
}

/// A family of fibres of a solid, with `direction` or `around`, and with a `stiffness`, a `tension`, or both. Directions are those of the object before
/// it is turned and moved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FibreSection {
    /// Direction of the fibres, of any length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<[f64; 3]>,
    /// Fibres that are wound around an axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around: Option<AroundSection>,
    /// k₁, Pa: a fibre that begins to be stretched has a stiffness of 4 k₁. Compressed fibres do nothing.
    #[schemars(extend("x-unit" = "Pa"))]
    pub stiffness: f64,
    /// k₂, from 0 on: how fast the stiffness grows with the stretch.
    pub exponent: f64,
    /// Active tension along the fibres per rest area across them, Pa: a number or an expression of `t`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "Pa"))]
    pub tension: Option<Formula>,
}

/// An axis around which fibres are wound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AroundSection {
    /// Direction of the axis, of any length: by default the y axis, in two dimensions the z axis. A body of revolution has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// A point of the axis, m; the origin by default. A body of revolution has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "m"))]
    pub through: Option<[f64; 3]>,
    /// Angle of the fibres from the circumference towards the axis, degrees: 0 for rings, 90 for lines along the axis.
    #[schemars(extend("x-unit" = "deg"))]
    pub helix_angle: f64,
}

/// A fixed half-space {x : normal · (x − origin) ≤ 0}, solid below its plane.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HalfSpaceSection {
    /// Name for messages; numbered by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A point on the plane, m.
    #[schemars(extend("x-unit" = "m"))]
    pub origin: [f64; 3],
    /// Outward normal, of any length.
    pub normal: [f64; 3],
    /// Name by which `[[friction.pairs]]` refers to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_material: Option<String>,
}

impl Default for HalfSpaceSection {
    fn default() -> Self {
        Self {
            name: String::new(),
            origin: [0.0; 3],
            normal: [0.0, 1.0, 0.0],
            friction_material: None,
        }
    }
}

/// An elastic solid or an obstacle. A vertex p of its mesh goes to R·(scale ∘ p) + translate.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ObjectSection {
    /// Unique name; by default the name of the mesh file or shape, numbered if it repeats.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Mesh file (Gmsh, VTK, VTU, Medit, TetGen, Nastran, OBJ, PLY, STL, glTF, USD as text, seg), or a robot (URDF, MJCF) as an
    /// obstacle, relative to the scene file. Either this or `shape`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// Whether points of the mesh at the same place become one vertex, with the elements and regions of all of
    /// them: `true` for points within 10⁻⁹ of the diagonal of the bounding box, a length in m for points within
    /// that (after scaling), `false` for none. On by default for surfaces (triangles, but no tetrahedra) that are
    /// read from a file, in three dimensions. Parts of a scene or a robot are not joined with each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weld: Option<Weld>,
    /// Built-in shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Fills the closed surface of the mesh or shape with tetrahedra, which makes it a volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<FillSection>,
    /// What it is. By default a mesh of tetrahedra (in two dimensions of triangles) is a volume, anything
    /// else an obstacle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Order of the elements of a volume; by default that of the mesh, or quadratic where linear elements would be too stiff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementOrder>,
    /// Radius of a rod or of particles, m.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Thickness ξ in contact, m: the object stays farther than the mean of both thicknesses from any other
    /// object, and its own parts stay farther than ξ from each other, except neighbours along it that are closer
    /// at rest. By default the thickness of a shell, twice the radius of rods and particles, and 0 for volumes and
    /// obstacles.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact_thickness: Option<f64>,
    /// Mass, centre and inertia of a rigid body, where they are not those of its inside filled with the material's density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inertial: Option<InertialSection>,
    /// The shape of a shell or a rod without stress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_shape: Option<RestShape>,
    /// Twist at rest of a rod per length, degrees/m, right-handed if positive; it starts untwisted.
    #[schemars(extend("x-unit" = "deg/m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub natural_twist: Option<f64>,
    /// Reduces an obstacle to a part of its mesh.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub reduce: Option<Reduce>,
    /// Name of a material of `[materials]`, or a material in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialChoice>,
    /// Materials of parts of a solid by the names of regions, each a material of `[materials]` or one in place; the rest has `material`, whose
    /// friction the whole object has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialChoice>,
    /// Name by which `[[friction.pairs]]` refers to the object; by default the friction material of its
    /// material.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_material: Option<String>,
    /// Scale about the mesh's origin: a factor or one per axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Rotation about the mesh's origin, after scaling: angles about x, y and z in degrees, R = Rx·Ry·Rz (the
    /// rotation about z acts first), or `{ axis, angle }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotation>,
    /// Translation after rotation, m.
    #[schemars(extend("x-unit" = "m"))]
    pub translate: [f64; 3],
    /// A rigid motion from the placed object to its start; by default the object starts where it is placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartSection>,
    /// Velocity at the start, m/s.
    #[schemars(extend("x-unit" = "m/s"))]
    pub velocity: [f64; 3],
    /// Angular velocity at the start about the centre of the bounding box, degrees/s.
    #[schemars(extend("x-unit" = "deg/s"))]
    pub angular_velocity: [f64; 3],
    /// Whether it may touch itself (if `contact.self_contact` allows).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_contact: Option<bool>,
    /// Names of objects that this object passes through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Copies on a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySection>,
    /// Named sets of vertices, beside those that the mesh file names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub regions: BTreeMap<String, RegionSection>,
    /// Vertices that are held.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<FixedSection>,
    /// Vertices that are moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub motion: Vec<MotionSection>,
    /// Forces on vertices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forces: Vec<ForceSection>,
}

/// How a closed surface is filled with tetrahedra. Lengths are those of the scaled object.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillSection {
    /// Length of the longer edges inside, m. Shorter edges, down to half of it, are used if the surface would
    /// be missed otherwise.
    #[schemars(extend("x-unit" = "m"))]
    pub size: f64,
    /// Largest permitted distance between the given surface and the surface of the tetrahedra, m; a quarter of
    /// `size` by default, `inf` for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "m"))]
    pub deviation: Option<f64>,
    /// Whether the given surface is written along with every frame, moved as the tetrahedra move.
    #[serde(default)]
    pub carry_surface: bool,
    /// Whether the given surface touches other things, itself and half-spaces in place of the boundary of the tetrahedra, as finely as it is
    /// meshed. It is part of every frame then. Only with `carry_surface`, and the solvers "barrier" and "barrier-free".
    #[serde(default)]
    pub collides: bool,
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An elastic solid of tetrahedra; in two dimensions of triangles.
    Volume,
    /// A body that keeps its shape: the inside of a closed surface, filled with the density of its material. It has as many unknowns
    /// whatever its mesh.
    Rigid,
    /// A thin elastic sheet of triangles.
    Shell,
    /// Elastic wires.
    Rod,
    /// A ball at each point.
    Particles,
    /// A surface, wires or points without elasticity: fixed, or moved by `motion`.
    Obstacle,
}

/// Order of the polynomials by which positions vary within an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElementOrder {
    /// Tetrahedra, in two dimensions triangles, with nodes at their corners. They are too stiff in bending over few elements, and where the material hardly changes its
    /// volume.
    Linear,
    /// Tetrahedra or triangles with a node in the middle of each edge, too.
    Quadratic,
}

/// What of its mesh an obstacle keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Its triangles; the boundary of its tetrahedra, in two dimensions that of its triangles.
    Surface,
    /// Its edges, as wires.
    Edges,
    /// Its vertices, as bare points.
    Points,
}

/// A material by name or in place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialChoice {
    /// Name of a material of `[materials]`.
    Name(String),
    /// A material in place.
    Inline(Box<MaterialSection>),
}

/// Which points of a mesh are joined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Weld {
    /// Those within 10⁻⁹ of the diagonal of the bounding box, or none.
    Choice(bool),
    /// Those within this distance, m.
    #[schemars(extend("x-unit" = "m"))]
    Within(f64),
}

/// A scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Scale {
    /// The same factor along every axis.
    Uniform(f64),
    /// A factor per axis.
    PerAxis([f64; 3]),
}

/// A rotation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Rotation {
    /// Angles about x, y and z, degrees: R = Rx·Ry·Rz.
    #[schemars(extend("x-unit" = "deg"))]
    Euler([f64; 3]),
    /// About an axis.
    AxisAngle(AxisAngle),
}

/// A rotation about an axis through the mesh's origin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisAngle {
    /// Axis, of any length. Two dimensions need none.
    pub axis: [f64; 3],
    /// Angle, degrees, by the right-hand rule.
    #[schemars(extend("x-unit" = "deg"))]
    pub angle: f64,
}

/// The rigid motion x ↦ R·x + translate, in scene coordinates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StartSection {
    /// R about the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotation>,
    /// Translation after rotation, m.
    #[schemars(extend("x-unit" = "m"))]
    pub translate: [f64; 3],
}

/// Copies on a grid: copy (i, j, k) is moved by (i, j, k) ∘ spacing and named `name[i,j,k]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArraySection {
    /// Number of copies along x, y and z, ≥ 1 each.
    #[schemars(inner(range(min = 1)))]
    pub counts: [u32; 3],
    /// Spacing along x, y and z, m.
    #[schemars(extend("x-unit" = "m"))]
    pub spacing: [f64; 3],
}

/// A set of vertices: one of `box`, `sphere` and `vertices`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RegionSection {
    /// Vertices in a box.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub in_box: Option<BoxSection>,
    /// Vertices in a sphere.
    #[serde(rename = "sphere", skip_serializing_if = "Option::is_none")]
    pub in_sphere: Option<SphereSection>,
    /// Vertices by number, from 0, in the order of the mesh (without points that no element has, and before
    /// points are joined by `weld`).
    #[serde(rename = "vertices", skip_serializing_if = "Option::is_none")]
    pub listed: Option<Vec<u32>>,
}

/// An axis-parallel box, its faces included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxSection {
    /// Least corner, m, or a fraction if `relative`; may be −inf.
    #[schemars(extend("x-unit" = "m"))]
    pub min: [f64; 3],
    /// Greatest corner, m, or a fraction if `relative`; may be inf.
    #[schemars(extend("x-unit" = "m"))]
    pub max: [f64; 3],
    /// If true, corners are fractions of the mesh's bounding box before scale, rotation and
    /// translation (0 least corner, 1 greatest); if false, scene coordinates at the start.
    #[serde(default)]
    pub relative: bool,
}

/// A ball, its surface included, in scene coordinates at the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SphereSection {
    /// Centre, m.
    #[schemars(extend("x-unit" = "m"))]
    pub centre: [f64; 3],
    /// Radius, m.
    #[schemars(extend("x-unit" = "m"))]
    pub radius: f64,
}

/// Which vertices: `"all"`, the name of a region, or a region in place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Selection {
    /// `"all"` or the name of a region of the object or of its mesh file.
    Name(String),
    /// A region in place.
    Region(RegionSection),
}

impl Default for Selection {
    fn default() -> Self {
        Self::Name("all".into())
    }
}

/// Vertices that are held for a time.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FixedSection {
    /// Which vertices.
    pub vertices: Selection,
    /// The directions in which they are held; they are free across. `"x"` on a symmetry plane x = const, `["x", "y"]` on a rail along z,
    /// or a vector. All by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<Along>,
    /// Held in the steps that start at this time or later, s.
    #[schemars(extend("x-unit" = "s"))]
    pub start: f64,
    /// Free again in the steps that start at this time or later, s; `inf` for never.
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
    /// Ends the prescription permanently, before `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilSection>,
}

impl Default for FixedSection {
    fn default() -> Self {
        let (vertices, end) = (Selection::default(), f64::INFINITY);
        Self { vertices, along: None, start: 0.0, end, until: None }
    }
}

/// A condition that ends a prescription permanently, tested at the start of each step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UntilSection {
    /// Every vertex of some objects has crossed a plane.
    AllBeyond(BeyondSection),
}

/// Objects beyond a plane: normal · (x − origin) > 0 for all their vertices x.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeyondSection {
    /// A point on the plane, m.
    #[schemars(extend("x-unit" = "m"))]
    pub origin: [f64; 3],
    /// Normal of the plane, of any length.
    pub normal: [f64; 3],
    /// Names of the objects; by default the one that is held or moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<String>,
}

/// A number, or an expression of the time `t` in seconds, such as `"0.1*sin(2*pi*t)"`, with + - * /
/// ^, sin, cos, tan, exp, ln, sqrt, abs, floor, tanh, step, min, max and pi (angles of sin, cos, tan
/// in radians).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("x-expression" = true))]
pub enum Formula {
    /// A constant.
    Number(f64),
    /// An expression of `t`.
    Expression(String),
}

/// A rotation by an angle that is an expression of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnSection {
    /// Axis, of any length. Two dimensions need none.
    pub axis: [f64; 3],
    /// Angle, degrees, by the right-hand rule: a number or an expression of `t`.
    #[schemars(extend("x-unit" = "deg"))]
    pub angle: Formula,
}

/// Vertices that are moved for a time: by a velocity and a rotation, by expressions of the time, or
/// along a sequence of meshes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MotionSection {
    /// Which vertices.
    pub vertices: Selection,
    /// The directions in which they are moved, as those of `fixed`; they are free across. All by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<Along>,
    /// Velocity, m/s.
    #[schemars(extend("x-unit" = "m/s"))]
    pub velocity: [f64; 3],
    /// Angular velocity (axis times rate), degrees/s.
    #[schemars(extend("x-unit" = "deg/s"))]
    pub angular_velocity: [f64; 3],
    /// Displacement from where the vertices are when the motion begins, m: numbers or expressions of
    /// `t`. Excludes the velocities.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<[Formula; 3]>,
    /// Rotation from where the vertices are when the motion begins. Excludes the velocities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<TurnSection>,
    /// Pivot of the rotation.
    pub pivot: PivotChoice,
    /// Moved in the steps that start at this time or later, s.
    #[schemars(extend("x-unit" = "s"))]
    pub start: f64,
    /// Free again in the steps that start at this time or later, s; `inf` for never.
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
    /// Ends the prescription permanently, before `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilSection>,
    /// Folder of meshes `0.obj`, `1.obj`, … (any mesh format) with the object's number of vertices: file k
    /// holds the positions, in scene coordinates, at the end of step k + 1; after the last file they keep their
    /// positions. Or a USD file with time samples, whose positions are placed as the mesh of the object is: its
    /// `startTimeCode` is the start of the simulation, `timeCodesPerSecond` its rate. Excludes the velocities, `translation` and `rotation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<String>,
}

impl Default for MotionSection {
    fn default() -> Self {
        Self {
            vertices: Selection::default(),
            along: None,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            translation: None,
            rotation: None,
            pivot: PivotChoice::default(),
            start: 0.0,
            end: f64::INFINITY,
            until: None,
            sequence: None,
        }
    }
}

/// Pivot of a prescribed rotation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum PivotChoice {
    /// A centre.
    Centre(PivotCentre),
    /// A point, m, that travels with `velocity` or `translation`.
    #[schemars(extend("x-unit" = "m"))]
    Point([f64; 3]),
}

impl Default for PivotChoice {
    fn default() -> Self {
        Self::Centre(PivotCentre::Centre)
    }
}

/// A centre to turn about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PivotCentre {
    /// Centre of the bounding box of the vertices at the start of the simulation.
    Centre,
    /// Centre of the bounding box of the vertices at each step.
    CurrentCentre,
}

/// A load for a time: one of `acceleration`, `force`, `pressure` and `traction`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ForceSection {
    /// Which vertices.
    pub vertices: Selection,
    /// Acceleration of each vertex, m/s²: numbers or expressions of `t`.
    #[schemars(extend("x-unit" = "m/s^2"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<[Formula; 3]>,
    /// Total force, N, shared by the vertices in proportion to their masses: numbers or expressions
    /// of `t`.
    #[schemars(extend("x-unit" = "N"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<[Formula; 3]>,
    /// Pressure, Pa, on the surface triangles all of whose corners are selected (in two dimensions on the
    /// edges both of whose ends are); positive values push onto the surface. A number or an expression of `t`.
    #[schemars(extend("x-unit" = "Pa"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Formula>,
    /// Force per area at rest, Pa, on the same triangles or edges, in a direction that does not follow the surface: numbers or expressions of `t`.
    #[schemars(extend("x-unit" = "Pa"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traction: Option<[Formula; 3]>,
    /// Acts in the steps that start at this time or later, s.
    #[schemars(extend("x-unit" = "s"))]
    pub start: f64,
    /// Stops acting in the steps that start at this time or later, s; `inf` for never.
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
}

impl Default for ForceSection {
    fn default() -> Self {
        Self {
            vertices: Selection::default(),
            acceleration: None,
            force: None,
            pressure: None,
            traction: None,
            start: 0.0,
            end: f64::INFINITY,
        }
    }
}

/// Springs from vertices of a volume to the closest point of another object or to a point, determined at the
/// start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AttachmentSection {
    /// Name for messages; numbered by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The object whose vertices are attached: a volume.
    pub object: String,
    /// Which vertices; each gets one spring at most.
    pub vertices: Selection,
    /// Where the springs end; by default each at its vertex's own start position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<AnchorSection>,
    /// Greatest distance at the start at which a vertex gets a spring, m; `inf` for any.
    #[schemars(extend("x-unit" = "m"))]
    pub distance: f64,
    /// Stiffness of each spring, N/m. Either this or `stiffness_per_mass`.
    #[schemars(extend("x-unit" = "N/m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Stiffness of each spring per mass of its vertex, 1/s²: independent of the mesh.
    #[schemars(extend("x-unit" = "1/s^2"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness_per_mass: Option<f64>,
    /// Rest length of each spring, m; by default its length at the start.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_length: Option<f64>,
    /// Pulls in the steps that start at this time or later, s.
    #[schemars(extend("x-unit" = "s"))]
    pub start: f64,
    /// Stops pulling in the steps that start at this time or later, s; `inf` for never.
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
}

impl Default for AttachmentSection {
    fn default() -> Self {
        Self {
            name: String::new(),
            object: String::new(),
            vertices: Selection::default(),
            to: None,
            distance: f64::INFINITY,
            stiffness: None,
            stiffness_per_mass: None,
            rest_length: None,
            start: 0.0,
            end: f64::INFINITY,
        }
    }
}

/// Where the springs of an attachment end: at an `object` or at a `point`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnchorSection {
    /// At the closest point of this object (of any of its copies).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Which vertices of that object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Selection>,
    /// Whether a spring ends at a point of the surface between these vertices or at one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest: Option<ClosestChoice>,
    /// At a point fixed in space, m.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
}

/// What a spring ends at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClosestChoice {
    /// The closest point of the surface triangles all of whose corners are selected.
    #[default]
    Surface,
    /// The closest selected vertex.
    Vertex,
}
