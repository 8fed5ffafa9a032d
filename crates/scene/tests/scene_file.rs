//! Scene files: what they mean, units, overrides, the resolved copy, the scenes that ship.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::definition::{
    Anchor, BodyKind, Condition, JointKind, Load, Motion, Pivot, SpringStiffness,
};
use standoff_sim::material::Law;
use standoff_sim::material::fibres::FibreDirection;
use standoff_sim::material::inelastic::Inelasticity;
use standoff_sim::settings::{AuditLevel, Lagging};
use std::path::{Path, PathBuf};

fn parse_with(text: &str, set: &[&str]) -> Scene {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scene::parse(text, Path::new("scene.toml"), Path::new(""), &set)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn parse(text: &str) -> Scene {
    parse_with(text, &[])
}

fn scenes() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut found = Vec::new();
    for folder in [root.clone(), root.join("erleben")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn ten_lines_are_a_scene() {
    let scene = parse(
        "ground = 0\n\n[[objects]]\nshape = { kind = \"box\" }\ntranslate = [0, 1, 0]\n\n\
         [[objects]]\nshape = { kind = \"box\" }\ntranslate = [0, 3, 0]\n",
    );
    let d = &scene.definition;
    let names: Vec<&str> = d.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["box", "box-2"]);
    assert_eq!(d.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(d.half_spaces[0].name, "ground");
    let BodyKind::Volume { tets, density, material, .. } = &d.bodies[0].kind else {
        panic!("a box is a volume");
    };
    assert_eq!((tets.len(), *density, material.law.clone()), (6, 1000.0, Law::NeoHookean));
    assert_eq!(scene.steps(), 100);
}

#[test]
fn units_placement_and_motion() {
    let scene = parse(
        r#"
        gravity = [0, "-981 cm/s^2", 0]
        time = { step = "5 ms", end = "0.1 s" }
        contact = { d_hat = "1 mm" }
        [friction]
        coefficient = 0.2
        lagging = "converged"

        [materials.rubber]
        law = "stable-neo-hookean"
        young_modulus = "1 MPa"
        density = "1.2 g/cm^3"

        [[friction.pairs]]
        materials = ["rubber", "ice"]
        coefficient = 0.05

        [[half_spaces]]
        normal = [0, 2, 0]
        origin = [0, "-50 cm", 0]
        friction_material = "ice"

        [[objects]]
        name = "bar"
        shape = { kind = "box", size = ["20 mm", 0.01, 0.01], cells = [2, 1, 1] }
        material = "rubber"
        scale = [10, 10, 10]
        rotate = { axis = [0, 0, 1], angle = "0.25 rev" }
        translate = [1, 2, 3]
        velocity = ["36 km/h", 0, 0]
        angular_velocity = [0, 0, "60 rpm"]
        self_contact = false
        array = { counts = [1, 2, 1], spacing = [0, 1, 0] }
        regions = { top = { box = { min = [1, 0, 0], max = [1, 1, 1], relative = true } } }

        [[objects.fixed]]
        vertices = "top"
        end = 0.05

        [[objects.motion]]
        vertices = { sphere = { centre = [1, 1.9, 3], radius = 0.08 } }
        angular_velocity = [0, 0, 90]
        pivot = [1, 2, 3]
        start = "50 ms"
        until = { all_beyond = { origin = [0, 5, 0], normal = [0, 2, 0] } }

        [[objects.forces]]
        force = ["1 kN", 0, 0]

        [[objects]]
        name = "wall"
        shape = { kind = "box" }
        translate = [9, 0, 0]
        as = "edges"
        ignore = ["bar"]
        "#,
    );
    let d = &scene.definition;
    assert_eq!(d.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!((d.settings.time.step, scene.steps()), (0.005, 20));
    assert_eq!(d.settings.contact.d_hat, Some(0.001));
    assert!(matches!(d.settings.friction.lagging, Lagging::Until(_)));
    assert_eq!(d.settings.friction.pairs[0].coefficient, 0.05);
    assert_eq!(d.half_spaces[0].origin, Vec3::new(0.0, -0.5, 0.0));
    let names: Vec<&str> = d.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["bar[0,0,0]", "bar[0,1,0]", "wall"]);
    assert_eq!(d.bodies[0].friction_material, "rubber");
    let BodyKind::Volume { material, density, .. } = &d.bodies[0].kind else { panic!("a volume") };
    assert_eq!((material.young_modulus, *density), (1e6, 1200.0));

    // a bar of 0.2 along x turned to y, twice
    let corners = |b: usize| {
        let x = &d.bodies[b].rest;
        x.iter().fold((x[0], x[0]), |(lo, hi), p| (lo.inf(p), hi.sup(p)))
    };
    let near = |a: Vec3, b: [f64; 3]| (a - Vec3::from(b)).norm() < 1e-12;
    assert!(near(corners(0).0, [0.95, 1.9, 2.95]) && near(corners(0).1, [1.05, 2.1, 3.05]));
    assert!(near(corners(1).0, [0.95, 2.9, 2.95]) && near(corners(1).1, [1.05, 3.1, 3.05]));

    // v + ω × (x − c) with ω = 2π about z
    for (p, v) in d.bodies[0].rest.iter().zip(&d.bodies[0].velocity) {
        let r = p - Vec3::new(1.0, 2.0, 3.0);
        let expected = Vec3::new(10.0, 0.0, 0.0) + std::f64::consts::TAU * Vec3::z().cross(&r);
        assert!((v - expected).norm() < 1e-12);
    }

    // the top in the mesh's own box is the greatest x before turning, the greatest y after
    let fixed = &d.prescribed[0];
    assert_eq!((fixed.name.as_str(), fixed.body, fixed.t1), ("bar[0,0,0].top", 0, 0.05));
    assert_eq!(fixed.vertices.len(), 4);
    assert!(fixed.vertices.iter().all(|v| (d.bodies[0].rest[*v as usize].y - 2.1).abs() < 1e-12));
    assert_eq!(d.prescribed[1].name, "bar[0,1,0].top");
    // the sphere is in scene coordinates and meets the first copy only
    assert_eq!(d.prescribed.len(), 3);
    let moved = &d.prescribed[2];
    assert_eq!((moved.body, moved.vertices.len(), moved.t0), (0, 4, 0.05));
    let Motion::Rigid { angular, pivot, .. } = &moved.motion else { panic!("rigid") };
    assert!((angular.z - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    assert_eq!(*pivot, Pivot::Point(Vec3::new(1.0, 2.0, 3.0)));
    let until = Condition::AllBeyond { bodies: vec![0, 1], normal: Vec3::y(), offset: 5.0 };
    assert_eq!(moved.until, Some(until));
    assert_eq!(d.forces.len(), 2);
    assert_eq!(d.forces[0].load, Load::Force(Vec3::new(1000.0, 0.0, 0.0).into()));

    let BodyKind::Obstacle { triangles, edges, points } = &d.bodies[2].kind else {
        panic!("an obstacle");
    };
    assert_eq!((triangles.len(), edges.len(), points.len()), (0, 19, 0));
    assert_eq!(d.no_contact, [(0, 0), (0, 2), (1, 1), (1, 2)]);
}

#[test]
fn expressions_pressure_and_attachments() {
    let text = r#"
        [[objects]]
        name = "ball"
        shape = { kind = "box" }
        array = { counts = [2, 1, 1], spacing = [3, 0, 0] }
        regions = { top = { box = { min = [0, 1, 0], max = [1, 1, 1], relative = true } } }

        [[objects.motion]]
        vertices = "top"
        translation = ["10 cm", "0.1*sin(2*pi*t)", 0]
        rotation = { axis = [0, 0, 2], angle = "90*t" }
        pivot = [1, 0, 0]
        end = 2

        [[objects.motion]]
        translation = [0, "t^2", 0]

        [[objects.forces]]
        pressure = "min(t, 1)*1e3"
        [[objects.forces]]
        pressure = "2 kPa"
        [[objects.forces]]
        acceleration = ["cos(t)", -1, 0]

        [[objects]]
        name = "wall"
        shape = { kind = "box" }
        translate = [0, 2, 0]
        role = "obstacle"

        [[attachments]]
        object = "ball"
        vertices = "top"
        to = { object = "wall", closest = "vertex" }
        distance = "3 m"
        stiffness = "1 kN/m"
        rest_length = 0
        end = 3

        [[attachments]]
        object = "ball"
        to = { object = "ball" }
        stiffness_per_mass = 50
        distance = inf

        [[attachments]]
        name = "pin"
        object = "ball"
        to = { point = [0, 0, "10 cm"] }
        stiffness = 1

        [[attachments]]
        object = "ball"
        stiffness = 1
        "#;
    let scene = parse(text);
    let d = &scene.definition;
    let Motion::Expression { translation, axis, angle, pivot } = &d.prescribed[0].motion else {
        panic!("expressions");
    };
    let shift = Vec3::new(0.1, 0.1 * (0.25 * std::f64::consts::TAU).sin(), 0.0);
    assert!((translation.at(0.25) - shift).norm() < 1e-15);
    assert_eq!((*axis, *pivot), (Vec3::z(), Pivot::Point(Vec3::x())));
    assert!((angle.at(2.0) - std::f64::consts::PI).abs() < 1e-15);
    let Motion::Expression { angle, pivot, .. } = &d.prescribed[2].motion else { panic!() };
    assert_eq!((angle.at(3.0), *pivot), (0.0, Pivot::StartCentre));
    let pressure = |k: usize| match &d.forces[k].load {
        Load::Pressure(p) => p.at(0.5),
        other => panic!("{other:?}"),
    };
    assert_eq!((d.forces.len(), pressure(0), pressure(2)), (6, 500.0, 2000.0));
    let Load::Acceleration(a) = &d.forces[4].load else { panic!("an acceleration") };
    assert_eq!(a.at(0.0), Vec3::new(1.0, -1.0, 0.0));

    let a = &d.attachments;
    assert_eq!(a.len(), 8);
    assert_eq!((a[0].name.as_str(), a[0].body, a[1].body, a[0].t1), ("attachment-0", 0, 1, 3.0));
    assert_eq!((a[0].distance, a[0].rest_length, a[0].vertices.len()), (3.0, Some(0.0), 4));
    assert_eq!(a[0].stiffness, SpringStiffness::PerSpring(1e3));
    assert!(matches!(&a[0].anchor, Anchor::Vertices(v) if v.len() == 1 && v[0].0 == 2));
    assert!(matches!(&a[2].anchor, Anchor::Surface(v) if v.len() == 2));
    assert_eq!(a[2].stiffness, SpringStiffness::PerMass(50.0));
    assert_eq!((a[2].distance, a[2].rest_length), (f64::INFINITY, None));
    assert_eq!(a[4].anchor, Anchor::Point(Vec3::new(0.0, 0.0, 0.1)));
    assert_eq!(a[6].anchor, Anchor::Start);

    let toml = scene.resolved_toml().unwrap();
    assert_eq!(format!("{:?}", parse(&toml).definition), format!("{d:?}"), "{toml}");
}

#[test]
fn overrides_replace_values_by_index_and_name() {
    let text = "ground = 0\n[materials.soft]\n[[objects]]\nname = \"ball\"\n\
                shape = { kind = \"box\" }\nmaterial = \"soft\"\ntranslate = [0, 1, 0]\n";
    let scene = parse_with(
        text,
        &[
            "time.step=2ms",
            "materials.soft.young_modulus='3 kPa'",
            "objects.ball.translate=[0, 2, 0]",
            "objects[0].velocity = [1, 0, 0]",
            "solver.audit=every-iterate",
            "materials.soft.law=corotated-linear",
        ],
    );
    let d = &scene.definition;
    assert_eq!(d.settings.time.step, 0.002);
    assert_eq!(d.settings.solver.audit, AuditLevel::EveryIterate);
    let BodyKind::Volume { material, .. } = &d.bodies[0].kind else { panic!("a volume") };
    assert_eq!((material.young_modulus, material.law.clone()), (3000.0, Law::CorotatedLinear));
    assert!(d.bodies[0].rest.iter().all(|p| p.y >= 1.5));
    assert_eq!(d.bodies[0].velocity[0], Vec3::x());
}

#[test]
fn mesh_paths_regions_and_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"base\"\n\
                $EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n\
                $EndNodes\n$Elements\n2\n1 2 2 7 1 1 2 3\n2 4 2 0 1 1 2 3 4\n$EndElements\n";
    std::fs::write(folder.path().join("tet.msh"), mesh).unwrap();
    std::fs::create_dir(folder.path().join("frames")).unwrap();
    for k in 0..2 {
        let file = folder.path().join(format!("frames/{k}.obj"));
        std::fs::write(file, format!("v 0 {k} 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n")).unwrap();
    }
    std::fs::write(folder.path().join("face.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n").unwrap();
    let text = "[[objects]]\nmesh = \"tet.msh\"\ntranslate = [0, 2, 0]\n[[objects.fixed]]\n\
                vertices = \"base\"\n[[objects]]\nmesh = \"face.obj\"\n[[objects.motion]]\n\
                sequence = \"frames\"\n";
    std::fs::write(folder.path().join("scene.toml"), text).unwrap();
    let scene = Scene::load(&folder.path().join("scene.toml"), &[]).unwrap();
    let d = &scene.definition;
    // the vertex that belongs to no tetrahedron is gone
    assert_eq!((d.bodies[0].name.as_str(), d.bodies[0].rest.len()), ("tet", 4));
    assert_eq!(d.prescribed[0].vertices, [0, 1, 2]);
    assert_eq!(d.prescribed[0].name, "tet.base");
    let Motion::Sequence { frames } = &d.prescribed[1].motion else { panic!("a sequence") };
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[1][0], Vec3::new(0.0, 1.0, 0.0));

    // the resolved scene finds the files from anywhere
    let toml = scene.resolved_toml().unwrap();
    let again = Scene::parse(&toml, Path::new("r.toml"), Path::new("/nowhere"), &[]).unwrap();
    assert_eq!(format!("{:?}", again.definition), format!("{d:?}"));
}

/// A solid of quadratic elements has nodes in the middles of its edges; they belong to the regions of the mesh whose faces they are on, and
/// move along a sequence of meshes of its corners.
#[test]
fn quadratic_elements_have_nodes_in_the_middles_of_edges() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 7 \"base\"\n\
                $EndPhysicalNames\n$Nodes\n5\n1 9 9 9\n2 0 0 0\n3 1 0 0\n4 0 1 0\n5 0 0 1\n\
                $EndNodes\n$Elements\n2\n1 2 2 7 1 2 3 4\n2 4 2 0 1 2 3 4 5\n$EndElements\n";
    std::fs::write(folder.path().join("tet.msh"), mesh).unwrap();
    std::fs::create_dir(folder.path().join("frames")).unwrap();
    let moved = mesh.replace("4 0 1 0", "4 0 3 0");
    std::fs::write(folder.path().join("frames/0.msh"), moved).unwrap();
    let text = "[[objects]]\nmesh = \"tet.msh\"\nelement = \"quadratic\"\nscale = 2\n[[objects.fixed]]\n\
                vertices = \"base\"\nend = 1\n[[objects.motion]]\nsequence = \"frames\"\n";
    std::fs::write(folder.path().join("scene.toml"), text).unwrap();
    let scene = Scene::load(&folder.path().join("scene.toml"), &[]).unwrap();
    let body = &scene.definition.bodies[0];
    let BodyKind::Volume { tets, middles, .. } = &body.kind else { panic!("a volume") };
    assert_eq!((tets[0], middles[0]), ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9]));
    // of edge 12
    assert_eq!(body.rest[5], Vec3::new(1.0, 1.0, 0.0));
    assert_eq!(scene.definition.prescribed[0].vertices, [0, 1, 2, 4, 5, 6]);
    let Motion::Sequence { frames } = &scene.definition.prescribed[1].motion else {
        panic!("a sequence")
    };
    assert_eq!(frames[0].len(), 10);
    // positions in the scene, which `scale` does not change
    assert_eq!(frames[0][5], Vec3::new(0.5, 1.5, 0.0));
    let toml = scene.resolved_toml().unwrap();
    let again = Scene::parse(&toml, Path::new("r.toml"), Path::new("/nowhere"), &[]).unwrap();
    assert_eq!(format!("{:?}", again.definition), format!("{:?}", scene.definition));

    // a mesh that has such nodes keeps them, unless the object asks for linear elements
    let curved = mesh
        .replace("$Nodes\n5\n", "$Nodes\n11\n6 0.5 -0.1 0\n7 0.5 0.5 0\n8 0 0.5 0\n9 0 0 0.5\n10 0 0.5 0.5\n11 0.5 0 0.5\n")
        .replace("2 4 2 0 1 2 3 4 5", "2 11 2 0 1 2 3 4 5 6 7 8 9 10 11");
    std::fs::write(folder.path().join("curved.msh"), curved).unwrap();
    for (element, nodes) in
        [("", 10), ("element = \"quadratic\"\n", 10), ("element = \"linear\"\n", 4)]
    {
        let text = format!("[[objects]]\nmesh = \"curved.msh\"\n{element}");
        let scene = Scene::parse(&text, Path::new("s.toml"), folder.path(), &[]).unwrap();
        let body = &scene.definition.bodies[0];
        assert_eq!(body.rest.len(), nodes, "{element}");
        let BodyKind::Volume { middles, .. } = &body.kind else { panic!("a volume") };
        assert_eq!(middles.len(), usize::from(nodes == 10));
        if nodes == 10 {
            // what is curved stays so
            assert_eq!(body.rest[middles[0][0] as usize], Vec3::new(0.5, -0.1, 0.0));
        }
    }

    for (of, part) in [
        ("shape = { kind = \"box\" }\nrole = \"rigid\"", "only volumes"),
        ("shape = { kind = \"box\" }\nrole = \"obstacle\"", "only volumes"),
        (
            "shape = { kind = \"sphere\" }\nfill = { size = 0.3, carry_surface = true }",
            "linear elements only",
        ),
    ] {
        let text = format!("[[objects]]\nelement = \"quadratic\"\n{of}\n");
        let error = Scene::parse(&text, Path::new("s.toml"), Path::new(""), &[]).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert!(error.to_string().contains("s.toml:"), "{error}");
    }
}

/// Triangles of a solid in the plane have nodes in the middles of their edges on request, and where a file has them; these belong to the regions on whose
/// triangles and outlines they are.
#[test]
fn quadratic_triangles_have_nodes_in_the_middles_of_edges() {
    let folder = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        Scene::parse(text, Path::new("s.toml"), folder.path(), &[])
            .unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let solid = |scene: &Scene| match &scene.definition.bodies[0].kind {
        BodyKind::PlaneStrain { triangles, middles, .. } => (triangles.clone(), middles.clone()),
        other => panic!("{other:?}"),
    };
    // two triangles, the second one clockwise, the bottom edge bent; in the file with names of the bottom and of the second triangle
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 7 \"base\"\n2 8 \"upper\"\n$EndPhysicalNames\n";
    let corners = "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n";
    let linear = format!(
        "{head}$Nodes\n4\n{corners}$EndNodes\n$Elements\n3\n1 2 2 0 0 1 2 3\n2 2 2 8 1 1 4 3\n3 1 2 7 2 1 2\n$EndElements\n"
    );
    let curved = format!(
        "{head}$Nodes\n9\n{corners}5 0.5 -0.1 0\n6 1 0.5 0\n7 0.5 0.5 0\n8 0 0.5 0\n9 0.5 1 0\n$EndNodes\n\
         $Elements\n3\n1 9 2 0 0 1 2 3 5 6 7\n2 9 2 8 1 1 4 3 8 9 7\n3 8 2 7 2 1 2 5\n$EndElements\n"
    );
    std::fs::write(folder.path().join("linear.msh"), linear).unwrap();
    std::fs::write(folder.path().join("curved.msh"), &curved).unwrap();
    for dimension in ["2", "\"axisymmetric\""] {
        for (file, element, nodes) in [
            ("linear", "", 4),
            ("linear", "element = \"quadratic\"\n", 9),
            ("curved", "", 9),
            ("curved", "element = \"quadratic\"\n", 9),
            ("curved", "element = \"linear\"\n", 9),
        ] {
            let of = |name: &str| {
                format!(
                    "dimension = {dimension}\n[[objects]]\nmesh = \"{file}.msh\"\n{element}[[objects.fixed]]\nvertices = \"{name}\"\n"
                )
            };
            let [base, upper] = ["base", "upper"].map(|name| load(&of(name)));
            let (triangles, middles) = solid(&base);
            let rest = &base.definition.bodies[0].rest;
            assert_eq!(rest.len(), nodes, "{file} {element}");
            let is_quadratic = nodes == 9 && !element.contains("linear");
            assert_eq!(!middles.is_empty(), is_quadratic, "{file} {element}");
            let count = if file == "curved" && !is_quadratic { 8 } else { 2 };
            assert_eq!(triangles.len(), count, "{file} {element}");
            for (t, m) in triangles.iter().zip(&middles) {
                for k in 0..3 {
                    let [a, b, m] = [t[k], t[(k + 1) % 3], m[k]].map(|v| rest[v as usize]);
                    let bend = if file == "curved" && a.y + b.y == 0.0 { -0.1 } else { 0.0 };
                    assert_eq!(m, 0.5 * (a + b) + bend * Vec3::y(), "{file} {element}");
                }
                let [a, b, c] = t.map(|v| rest[v as usize]);
                assert!((b - a).cross(&(c - a)).z > 0.0);
            }
            let held = |scene: &Scene| {
                let mut all: Vec<[f64; 2]> = scene.definition.prescribed[0]
                    .vertices
                    .iter()
                    .map(|v| [rest[*v as usize].x, rest[*v as usize].y])
                    .collect();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                all
            };
            let middle = if file == "curved" { -0.1 } else { 0.0 };
            let bottom = [[0.0, 0.0], [0.5, middle], [1.0, 0.0]];
            match nodes {
                4 => assert_eq!((held(&base).len(), held(&upper).len()), (2, 3)),
                _ => {
                    assert_eq!(held(&base), bottom, "{file} {element}");
                    assert_eq!(held(&upper).len(), 6, "{file} {element}");
                }
            }
            let toml = base.resolved_toml().unwrap();
            let again = Scene::parse(&toml, Path::new("r.toml"), folder.path(), &[]);
            assert_eq!(
                format!("{:?}", again.unwrap().definition),
                format!("{:?}", base.definition)
            );
        }
    }
    // a list of vertices has the nodes between them that the scene adds, also for a pressure
    let listed = |order: &str| {
        load(&format!(
            "dimension = 2\n[[objects]]\nmesh = \"linear.msh\"\nelement = \"{order}\"\nregions = {{ top = {{ vertices = [2, 3] }} }}\n\
             fixed = [{{ vertices = \"base\" }}]\nforces = [{{ vertices = \"top\", pressure = 1 }}]\n"
        ))
    };
    for (order, count) in [("linear", 2), ("quadratic", 3)] {
        let scene = listed(order);
        assert_eq!(scene.definition.forces[0].vertices.len(), count, "{order}");
        let rest = &scene.definition.bodies[0].rest;
        let at_top = |v: &u32| rest[*v as usize].y == 1.0;
        assert!(scene.definition.forces[0].vertices.iter().all(at_top), "{order}");
    }
    // an obstacle is the outline with its nodes
    let scene = load(
        "dimension = 2\n[[objects]]\nmesh = \"curved.msh\"\nrole = \"obstacle\"\n\
         [[objects]]\nshape = { kind = \"rectangle\" }\ntranslate = [0, 3]\n",
    );
    let BodyKind::Obstacle { edges, .. } = &scene.definition.bodies[0].kind else { panic!() };
    assert_eq!(edges.len(), 8 + 2);
    let shape = "shape = { kind = \"rectangle\" }\nrole = \"obstacle\"";
    let text = format!("dimension = 2\n[[objects]]\nelement = \"quadratic\"\n{shape}\n");
    let error = Scene::parse(&text, Path::new("s.toml"), Path::new(""), &[]).unwrap_err();
    assert!(error.to_string().contains("only volumes"), "{error}");
}

#[test]
fn shipped_scenes_load_and_say_what_they_show() {
    let scenes = scenes();
    assert!(scenes.len() >= 17, "{}", scenes.len());
    for path in scenes {
        let scene = Scene::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# ") && text.contains("What to see: "), "{}", path.display());
        let toml = scene.resolved_toml().unwrap();
        let again = Scene::parse(&toml, Path::new("resolved.toml"), Path::new("/nowhere"), &[])
            .unwrap_or_else(|e| panic!("{}: {e}\n{toml}", path.display()));
        assert_eq!(
            format!("{:?}", scene.definition),
            format!("{:?}", again.definition),
            "{}",
            path.display()
        );
        // what is written is final: resolving again changes nothing
        assert_eq!(toml, again.resolved_toml().unwrap());
    }
}

#[test]
fn resolved_scene_spells_out_defaults() {
    let toml = parse("[[objects]]\nshape = { kind = \"box\" }\n").resolved_toml().unwrap();
    for line in ["step = 0.01", "velocity_relative = 0.01", "d_hat_relative = 0.001"] {
        assert!(toml.contains(line), "{line} is missing in\n{toml}");
    }
    assert!(toml.contains("role = \"volume\"") && toml.contains("name = \"box\""));
}

#[test]
fn steps_end_the_run() {
    let mut scene = parse("time = { step = 0.1 }\n[[objects]]\nshape = { kind = \"box\" }\n");
    for steps in [1, 3, 7, 1000] {
        scene.set_steps(steps);
        assert_eq!(scene.steps(), steps);
        assert_eq!(scene.definition.settings.time.end, scene.file.time.end);
    }
}

/// Bodies of revolution have the short forms of two dimensions, and what rounding leaves beside the axis is put on it.
#[test]
fn bodies_of_revolution_are_put_on_their_axis() {
    let scene = parse(
        "dimension = \"axisymmetric\"\ngravity = [0, -5]\n[[objects]]\nname = \"bar\"\n\
         shape = { kind = \"rectangle\", size = [0.6, 1], cells = [3, 2] }\ntranslate = [\"100 mm\", 0]\nscale = [0.1, 1]\n\
         start = { translate = [-0.07, 3] }\n",
    );
    let d = &scene.definition;
    assert!(d.dimension.is_axisymmetric() && d.dimension.is_planar());
    let least = |points: &[Vec3]| points.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    assert!((least(&d.bodies[0].rest) - 0.07).abs() < 1e-15);
    assert_eq!(least(&d.bodies[0].start), 0.0);
    let text = scene.resolved_toml().unwrap();
    assert!(text.contains("dimension = \"axisymmetric\""), "{text}");
    assert_eq!(parse(&text).resolved_toml().unwrap(), text);
}

/// In two dimensions the third component, the axis and two of three angles may be left out; what is resolved has
/// them, and reads back to the same.
#[test]
fn two_dimensions_have_short_forms() {
    let short = parse(
        "dimension = 2\ngravity = [0, -5]\n[[half_spaces]]\norigin = [0, -1]\nnormal = [1, 2]\n\
         [[objects]]\nname = \"plate\"\nshape = { kind = \"rectangle\", size = [2, 1], cells = [2, 1] }\n\
         translate = [\"50 cm\", 3]\nrotate = 90\nscale = [1, 2]\nangular_velocity = \"1 rev/s\"\n\
         array = { counts = [2, 1], spacing = [4, 0] }\n\
         [[objects.motion]]\nvertices = { box = { min = [0, 0], max = [0.5, 1], relative = true } }\n\
         rotation = { angle = \"90*t\" }\ntranslation = [\"t\", 0]\n\
         [[objects.forces]]\nforce = [1, 2]\n\
         [[objects]]\nname = \"pins\"\nshape = { kind = \"points\", size = [1, 1], count = [3, 1] }\n\
         translate = [0, 9]\n\
         [[objects]]\nname = \"wall\"\nshape = { kind = \"rectangle\" }\nrole = \"obstacle\"\ntranslate = [9, 0]\n",
    );
    let long = parse(
        "dimension = 2\ngravity = [0, -5, 0]\n[[half_spaces]]\norigin = [0, -1, 0]\nnormal = [1, 2, 0]\n\
         [[objects]]\nname = \"plate\"\nshape = { kind = \"rectangle\", size = [2, 1], cells = [2, 1] }\n\
         translate = [0.5, 3, 0]\nrotate = [0, 0, 90]\nscale = [1, 2, 1]\nangular_velocity = [0, 0, 360]\n\
         array = { counts = [2, 1, 1], spacing = [4, 0, 0] }\n\
         [[objects.motion]]\nvertices = { box = { min = [0, 0, 0], max = [0.5, 1, 0], relative = true } }\n\
         rotation = { axis = [0, 0, 1], angle = \"90*t\" }\ntranslation = [\"t\", 0, 0]\n\
         [[objects.forces]]\nforce = [1, 2, 0]\n\
         [[objects]]\nname = \"pins\"\nshape = { kind = \"points\", size = [1, 1, 0], count = [3, 1, 1] }\n\
         translate = [0, 9, 0]\n\
         [[objects]]\nname = \"wall\"\nshape = { kind = \"rectangle\" }\nrole = \"obstacle\"\n\
         translate = [9, 0, 0]\n",
    );
    let (a, b) = (short.resolved_toml().unwrap(), long.resolved_toml().unwrap());
    assert_eq!(a, b);
    assert_eq!(parse(&a).resolved_toml().unwrap(), a);
    let d = &short.definition;
    assert!(d.dimension.is_planar() && d.bodies.len() == 4);
    let BodyKind::PlaneStrain { triangles, .. } = &d.bodies[0].kind else { panic!("a solid") };
    assert_eq!(triangles.len(), 4);
    assert!(d.bodies.iter().all(|b| b.rest.iter().all(|p| p.z == 0.0)));
    let BodyKind::Obstacle { triangles, edges, points } = &d.bodies[3].kind else {
        panic!("fixed")
    };
    assert!(triangles.is_empty() && edges.len() == 16 && points.is_empty());
    assert_eq!(d.bodies[3].rest.len(), 16, "what is inside of an obstacle is gone");
    let Motion::Expression { axis, .. } = &d.prescribed[0].motion else { panic!("expressions") };
    assert_eq!(*axis, Vec3::z());
}

/// Triangles of files become solids in two dimensions, clockwise ones too.
#[test]
fn planar_meshes_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 4 3\n"),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n\
             $EndNodes\n$Elements\n3\n1 2 2 0 1 1 2 3\n2 2 2 0 1 1 4 3\n3 1 2 0 1 1 2\n$EndElements\n",
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nsquare\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
             0 0 0 1 0 0 1 1 0 0 1 0\nCELLS 2 8\n3 0 1 2\n3 0 3 2\nCELL_TYPES 2\n5\n5\n",
        ),
    ];
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
        let text = format!("dimension = 2\n[[objects]]\nmesh = \"{name}\"\n");
        let scene = Scene::parse(&text, Path::new("scene.toml"), folder.path(), &[]);
        let scene = scene.unwrap_or_else(|e| panic!("{name}: {e}"));
        let BodyKind::PlaneStrain { triangles, .. } = &scene.definition.bodies[0].kind else {
            panic!("{name}")
        };
        assert_eq!(triangles[..], [[0, 1, 2], [0, 2, 3]], "{name}");
    }
}

#[test]
fn joints_are_between_bodies_copies_and_the_world() {
    let text = r#"
[[objects]]
name = "arm"
role = "rigid"
shape = { kind = "box", size = [1, 1, 1] }
[[objects]]
name = "link"
role = "rigid"
shape = { kind = "box", size = [1, 1, 1] }
translate = [2, 0, 0]
array = { counts = [2, 1, 1], spacing = [2, 0, 0] }
[[joints]]
kind = "revolute"
bodies = ["arm"]
point = ["-50 cm", 0, 0]
axis = [0, 0, 2]
[[joints]]
name = "elbow"
kind = "spherical"
bodies = ["arm", "link[1,0,0]"]
point = [1, 0, 0]
collide = true
"#;
    let joints = parse(text).definition.joints;
    let [pin, elbow] = &joints[..] else { panic!("{joints:?}") };
    assert_eq!((pin.name.as_str(), pin.parent, pin.child), ("joint-0", None, 0));
    assert_eq!((pin.kind, pin.point.x, pin.axis.z), (JointKind::Revolute, -0.5, 2.0));
    assert_eq!((elbow.name.as_str(), elbow.parent, elbow.child), ("elbow", Some(0), 2));
    assert!(elbow.collide && !pin.collide);
}

/// What a run writes down of a material of rubber can be read again, and is the same solid.
#[test]
fn resolved_scenes_with_rubber_are_scenes() {
    for (place, text) in [
        (
            "named",
            "[materials.m]\nrubber = { kind = \"gent\", mu = 1e5, limit = 9 }\nbulk_modulus = 1e7\n",
        ),
        (
            "ratio",
            "[materials.m]\nrubber = { kind = \"ogden\", terms = [{ mu = 1e5, alpha = -1.3 }] }\npoisson_ratio = 0.49\n",
        ),
    ] {
        let object = "[[objects]]\nname = \"b\"\nshape = { kind = \"box\" }\nmaterial = \"m\"\nfixed = [{ along = [\"x\", [0, 1, 1]] }]\n";
        let text = format!("{text}{object}");
        let read =
            |text: &str| Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        let scene = read(&text);
        let again = read(&scene.resolved_toml().unwrap());
        let material = |scene: &Scene| match &scene.definition.bodies[0].kind {
            BodyKind::Volume { material, .. } => material.clone(),
            _ => panic!("a volume"),
        };
        assert_eq!(material(&scene), material(&again), "{place}");
        let along = |scene: &Scene| scene.definition.prescribed[0].along.clone();
        assert_eq!(along(&scene), along(&again));
        assert_eq!(along(&scene).len(), 2);
    }
}

/// Relaxation and plasticity become what flows of a body, and wrong ones are refused where they stand.
#[test]
fn materials_relax_and_yield() {
    let scene = |material: &str, object: &str| {
        let text = format!(
            "[materials.m]\n{material}\n[[objects]]\nname = \"b\"\nshape = {{ kind = \"box\" }}\nmaterial = \"m\"\n{object}\n"
        );
        Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[])
    };
    let plasticity = "plasticity = { yield_stress = \"140 MPa\", hardening_modulus = 1e9 }";
    let relaxation = "relaxation = [{ ratio = 0.5, time = \"20 ms\" }, { ratio = 2, time = 3 }]";
    let both = scene(&format!("{plasticity}\n{relaxation}"), "").unwrap();
    let body = &both.definition.bodies[0];
    let times: Vec<f64> = (body.inelastic.iter())
        .map(|i| match i {
            Inelasticity::Yielding(p) => p.yield_stress + p.hardening_modulus,
            Inelasticity::Relaxing(r) => r.time,
        })
        .collect();
    assert_eq!(times, [1.14e9, 0.02, 3.0]);
    let quadratic = |scene: &Scene| match &scene.definition.bodies[0].kind {
        BodyKind::Volume { middles, material, .. } => {
            (!middles.is_empty(), material.law == Law::Volumetric)
        }
        _ => panic!("a volume"),
    };
    assert_eq!(quadratic(&both), (true, true));
    let again = both.resolved_toml().unwrap();
    let again = Scene::parse(&again, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    assert_eq!(again.definition.bodies[0].inelastic, body.inelastic);
    assert_eq!(quadratic(&again), (true, true));
    // linear elements where the scene wants them, with a word; what relaxes has those of its mesh
    let linear = scene(plasticity, "element = \"linear\"").unwrap();
    assert_eq!(quadratic(&linear), (false, true));
    assert!(linear.notes[0].starts_with("b: linear elements that yield"), "{:?}", linear.notes);
    assert_eq!(quadratic(&scene(relaxation, "").unwrap()), (false, false));
    assert!(both.notes[0].contains("it gets quadratic ones"), "{:?}", both.notes);
    let many = format!("relaxation = [{}]", ["{ ratio = 1, time = 1 }"; 41].join(", "));
    for (material, object, place) in [
        (
            "plasticity = { yield_stress = 0 }",
            "",
            "2:31: materials.m.plasticity.yield_stress: 0 is",
        ),
        (
            "plasticity = { yield_stress = 1, hardening_modulus = -1 }",
            "",
            "2:54: materials.m.plasticity",
        ),
        (
            "plasticity = { yield_stress = 9, saturation_stress = 8, saturation_rate = 1 }",
            "",
            "2:54: ",
        ),
        (
            "plasticity = { yield_stress = 9, saturation_stress = 9 }",
            "",
            "2:14: materials.m.plasticity: ",
        ),
        ("plasticity = { yield_stress = 9 }\nlaw = \"neo-hookean\"", "", "3:7: materials.m.law: "),
        (
            "relaxation = [{ ratio = 1, time = 1 }, { ratio = 0, time = 1 }]",
            "",
            "materials.m.relaxation[1].ratio",
        ),
        ("relaxation = [{ ratio = 1, time = -1 }]", "", "materials.m.relaxation[0].time"),
        (&many, "", "materials.m.relaxation: 41 is out of range: at most 40 terms"),
        (plasticity, "role = \"shell\"", "`plasticity` is for solids"),
        (relaxation, "role = \"shell\"", "`relaxation` is for solids"),
    ] {
        let error = scene(material, object).expect_err(material).to_string();
        assert!(error.contains(place), "{material}: {error}");
    }
}

/// Fibres follow their object where it is turned and moved, and wrong ones are refused where they stand.
#[test]
fn materials_have_fibres() {
    let scene = |head: &str, fibres: &str, object: &str| {
        let text = format!(
            "{head}\n[materials.m]\nfibres = [{fibres}]\n[[objects]]\nname = \"b\"\nmaterial = \"m\"\n{object}\n"
        );
        Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[])
    };
    let solid = "shape = { kind = \"box\" }";
    let along =
        "{ direction = [2, 0, 0], stiffness = \"2 kPa\", exponent = 3, tension = \"1e3*t\" }";
    let around =
        "{ around = { axis = [0, 1, 0], through = [1, 0, 0], helix_angle = 30 }, stiffness = 5 }";
    let placed = format!(
        "{solid}\nrotate = [0, 0, 90]\ntranslate = [0, 0, 3]\narray = {{ counts = [1, 1, 2], spacing = [0, 0, 5] }}"
    );
    let both = scene("", &format!("{along}, {around}"), &placed).unwrap();
    let fibres: Vec<_> = both.definition.bodies.iter().map(|b| b.fibres.clone()).collect();
    assert_eq!(fibres.len(), 2);
    let close = |a: Vec3, b: [f64; 3]| (a - Vec3::from(b)).norm() < 1e-12;
    for (copy, z) in fibres.iter().zip([3.0, 8.0]) {
        let FibreDirection::Along(direction) = copy[0].direction else { panic!("{copy:?}") };
        assert!(close(direction, [0.0, 2.0, 0.0]), "{direction}");
        assert_eq!((copy[0].law.stiffness, copy[0].law.exponent), (2e3, 3.0));
        assert_eq!(copy[0].tension.as_ref().map(|t| t.at(4.0)), Some(4e3));
        let FibreDirection::Around { axis, through, helix_angle } = copy[1].direction else {
            panic!("{copy:?}")
        };
        assert!(close(axis, [-1.0, 0.0, 0.0]) && close(through, [0.0, 1.0, z]), "{copy:?}");
        assert!((helix_angle - 30f64.to_radians()).abs() < 1e-15 && copy[1].tension.is_none());
    }
    // only the part has them, and the scene that a run writes down says the same
    let parts = "materials = { right = \"m\" }\nregions = { right = { box = { min = [0.5, 0, 0], max = [1, 1, 1], relative = true } } }";
    let text =
        format!("{solid}\n{parts}").replace("kind = \"box\"", "kind = \"box\", cells = [2, 1, 1]");
    let some = scene("", along, &text.replace("material = \"m\"", "")).unwrap();
    let again = some.resolved_toml().unwrap();
    let again = Scene::parse(&again, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    for read in [&some, &again] {
        let part = &read.definition.bodies[0].parts[0];
        assert_eq!((part.fibres.len(), part.elements.len() > 1), (1, true));
        assert_eq!(part.fibres, some.definition.bodies[0].parts[0].fibres);
    }
    // the axis is that of the dimension; a body of revolution is where it is
    let flat =
        "shape = { kind = \"rectangle\", size = [1, 1], cells = [2, 2] }\ntranslate = [2, 1, 0]";
    for (dimension, axis, through) in
        [("2", [0.0, 0.0, 1.0], [2.0, 1.0, 0.0]), ("\"axisymmetric\"", [0.0, 1.0, 0.0], [0.0; 3])]
    {
        let head = format!("dimension = {dimension}");
        let read = scene(&head, "{ around = { helix_angle = 10 }, stiffness = 5 }", flat).unwrap();
        let FibreDirection::Around { axis: a, through: b, .. } =
            read.definition.bodies[0].fibres[0].direction
        else {
            panic!("around")
        };
        assert!(close(a, axis) && close(b, through), "{dimension} {a} {b}");
    }
    let nine = ["{ direction = [1, 0, 0], stiffness = 1 }"; 9].join(", ");
    for (head, fibres, object, place) in [
        ("", "{ stiffness = 1 }", solid, "materials.m.fibres[0]: give one of `direction` and"),
        ("", "{ direction = [0, 0, 0], stiffness = 1 }", solid, "materials.m.fibres[0].direction"),
        ("", "{ direction = [1, 0, 0], stiffness = -1 }", solid, "materials.m.fibres[0].stiffness"),
        ("", "{ direction = [1, 0, 0] }", solid, "fibres need a stiffness above 0, or a tension"),
        (
            "",
            "{ around = { axis = [0, 0, 0] }, stiffness = 1 }",
            solid,
            "materials.m.fibres[0].around.axis",
        ),
        (
            "",
            "{ direction = [1, 0, 0], tension = \"2*x\" }",
            solid,
            "materials.m.fibres[0].tension",
        ),
        ("", &nine, solid, "materials.m.fibres: 9 is out of range"),
        ("", along, "shape = { kind = \"plane\" }\nrole = \"shell\"", "`fibres` are for solids"),
        (
            "dimension = \"axisymmetric\"",
            around,
            flat,
            "materials.m.fibres[0].around: a body of revolution has one axis",
        ),
    ] {
        let error = scene(head, fibres, object).expect_err(fibres).to_string();
        assert!(error.contains(place), "{fibres}: {error}");
    }
}

/// A solid has the growth of its material, a part of its own, and what is rigid none; wrong growth is refused where it stands.
#[test]
fn materials_grow() {
    let scene = |growth: &str, object: &str| {
        let text = format!(
            "[materials.m]\ngrowth = {growth}\n[[objects]]\nname = \"b\"\nmaterial = \"m\"\n{object}\n[[objects]]\nname = \"c\"\n\
             shape = {{ kind = \"box\" }}\ntranslate = [5, 0, 0]\n"
        );
        Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[])
    };
    let solid = "shape = { kind = \"box\" }";
    let read = scene("\"0.1*t\"", solid).unwrap();
    let again = read.resolved_toml().unwrap();
    let again = Scene::parse(&again, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    for read in [&read, &again] {
        let [grows, other] = &read.definition.bodies[..] else { panic!("two bodies") };
        assert_eq!(grows.growth.as_ref().map(|g| g.at(2.0)), Some(0.2));
        assert!(other.growth.is_none());
    }
    let number = scene("0.25", solid).unwrap();
    assert_eq!(number.definition.bodies[0].growth.as_ref().map(|g| g.at(7.0)), Some(0.25));
    let rigid = scene("0.25", &format!("{solid}\nrole = \"rigid\"")).unwrap();
    assert!(rigid.definition.bodies[0].growth.is_none());
    for (growth, object, place) in [
        ("-1", solid, "materials.m.growth: a strain without stress must be above -1"),
        ("\"2*x\"", solid, "materials.m.growth"),
        ("0.1", "shape = { kind = \"plane\" }\nrole = \"shell\"", "`growth` is for solids"),
    ] {
        let error = scene(growth, object).expect_err(growth).to_string();
        assert!(error.contains(place), "{growth}: {error}");
    }
}

/// What a run writes down of a scene reads again, and says the same, for every scene that ships but the large ones and those whose meshes a run
/// writes beside it.
#[test]
fn resolved_scenes_resolve_to_themselves() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let (mut folders, mut count) = (vec![scenes], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                None if ["bench", "robots"].iter().any(|left_out| path.ends_with(left_out)) => {}
                None if path.is_dir() => folders.push(path),
                Some(toml) if toml == "toml" => {
                    let text = Scene::load(&path, &[]).unwrap().resolved_toml().unwrap();
                    let again = Scene::parse(&text, &path, &folder, &[]);
                    let again = again.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    assert_eq!(again.resolved_toml().unwrap(), text, "{}", path.display());
                    count += 1;
                }
                _ => {}
            }
        }
    }
    assert!(count > 80, "{count}");
}
