//! Shells, rods, particles and seams in scene files.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::definition::{BendingModel, BodyKind, Definition};
use std::path::Path;

fn parse(text: &str) -> Result<Scene, String> {
    Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).map_err(|e| e.to_string())
}

fn definition(text: &str) -> Definition {
    parse(text).unwrap_or_else(|e| panic!("{e}")).definition
}

const CLOTH: &str = r#"
[materials.cotton]
shell = { fabric = "cotton", membrane_factor = 0.1 }
[[objects]]
name = "cloth"
role = "shell"
shape = { kind = "plane", cells = [4, 4] }
material = "cotton"
"#;

#[test]
fn a_fabric_brings_its_properties() {
    let d = definition(CLOTH);
    let BodyKind::Shell { material, .. } = &d.bodies[0].kind else { panic!() };
    // [Li 2021, suppl. §9] after [Penava 2014]
    assert!((material.density - 472.64).abs() < 0.01);
    assert!((material.thickness - 0.318e-3).abs() < 1e-12);
    assert_eq!(material.stretch_limit.map(|l| l.limit), Some(1.0608));
    assert_eq!(d.bodies[0].contact_thickness, material.thickness);
    let k = 0.821e6 * material.thickness.powi(3) / (24.0 * (1.0 - 0.243 * 0.243));
    assert!((material.bending_modulus / k - 1.0).abs() < 1e-12);
    assert_eq!(material.bending_model, BendingModel::Hinge);
    let d = definition(&CLOTH.replace("0.1 }", "0.1, bending_model = \"shape-operator\" }"));
    let BodyKind::Shell { material, .. } = &d.bodies[0].kind else { panic!() };
    assert_eq!(material.bending_model, BendingModel::ShapeOperator);
    assert_eq!(material.poisson_ratio, 0.243);
    // and the resolved scene is the same scene
    let scene = parse(CLOTH).unwrap();
    let again = parse(&scene.resolved_toml().unwrap()).unwrap();
    assert_eq!(format!("{:?}", again.definition), format!("{:?}", scene.definition));
}

#[test]
fn rods_and_particles_are_as_thick_as_they_are_wide() {
    let d = definition(
        r#"
[[objects]]
role = "rod"
radius = "2 mm"
natural_twist = 90
rest_shape = "straight"
shape = { kind = "polyline", segments = 5 }
[[objects]]
role = "particles"
radius = "3 mm"
contact_thickness = "5 mm"
shape = { kind = "points" }
"#,
    );
    assert_eq!(d.bodies.iter().map(|b| b.contact_thickness).collect::<Vec<_>>(), [4e-3, 5e-3]);
    let BodyKind::Rod { segments, straight, natural_twist, .. } = &d.bodies[0].kind else {
        panic!()
    };
    assert!(segments.len() == 5 && *straight);
    assert!((natural_twist - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    for (text, words) in [
        ("[[objects]]\nrole = \"rod\"\nshape = { kind = \"polyline\" }", "needs a `radius`"),
        ("[[objects]]\nrole = \"rod\"\nradius = 1\nshape = { kind = \"plane\" }", "no edges"),
        ("[[objects]]\nrole = \"shell\"\nshape = { kind = \"plane\" }", "needs a `shell`"),
        ("[[objects]]\nradius = 1\nshape = { kind = \"box\" }", "rods and particles"),
        (
            "[[objects]]\nrole = \"shell\"\nshape = { kind = \"plane\" }\nmaterial = { shell = {} }",
            "`thickness` or a `fabric`",
        ),
        (
            "[materials.a]\nshell = { fabric = \"silk\" }\n[[objects]]\nshape = { kind = \"box\" }",
            "cotton",
        ),
        (
            "[materials.a]\nshell = { thickness = 1e-3, stretch_limit = 0.9 }\n[[objects]]\nshape = \
             { kind = \"box\" }",
            "limit of the stretch",
        ),
        (
            "[[objects]]\nrole = \"particles\"\nradius = -1\nshape = { kind = \"points\" }",
            "must be positive",
        ),
        (
            "[[objects]]\nrole = \"particles\"\nradius = 1\ncontact_thickness = -1\nshape = { kind = \
             \"points\" }",
            "0 or more",
        ),
    ] {
        let error = parse(text).err().unwrap_or_default();
        assert!(error.contains(words), "{text}\n{error}");
    }
}

/// Borders of 4 and 6 cells are sewn at the same parts of their lengths.
#[test]
fn seams_join_borders_of_different_meshes() {
    let text = r#"
[[objects]]
name = "finer"
role = "shell"
shape = { kind = "plane", cells = [4, 6] }
material = "cotton"
translate = [1.1, 0, 0]
regions = { border = { box = { min = [-inf, -inf, -inf], max = [0.601, inf, inf] } } }
[[stitches]]
objects = ["cloth", "finer"]
seam = [{ box = { min = [0.499, -inf, -inf], max = [inf, inf, inf] } }, "border"]
stiffness = 3
"#;
    let d = definition(&format!("{CLOTH}{text}"));
    let stitch = &d.stitches[0];
    assert_eq!((stitch.bodies, stitch.pairs.len()), ([0, 1], 5));
    for p in &stitch.pairs {
        let a = d.bodies[0].rest[p.vertex as usize];
        let [b, c] = p.ends.map(|v| d.bodies[1].rest[v as usize]);
        let point = b * (1.0 - p.weight) + c * p.weight;
        assert!((point - a - Vec3::x() * 0.1).norm() < 1e-12, "{p:?}");
    }
    let reversed = text.replace("stiffness", "reversed = true\nstiffness");
    let d = definition(&format!("{CLOTH}{reversed}"));
    let p = d.stitches[0].pairs[0];
    let (a, b) = (d.bodies[0].rest[p.vertex as usize], d.bodies[1].rest[p.ends[0] as usize]);
    assert!((a.z + b.z).abs() < 1e-12);
    let all = text.replace("\"border\"]", "\"all\"]");
    assert!(parse(&format!("{CLOTH}{all}")).unwrap_err().contains("no chain"));
}

#[test]
fn clouds_of_points_come_from_csv() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cloud.csv");
    std::fs::write(&file, "x,y,z,mass\n0,0,0,1\n1; 2; 3; 1\n\n# end\n").unwrap();
    let mesh = standoff_mesh::format::read(&file).unwrap();
    assert_eq!(mesh.points, [Vec3::zeros(), Vec3::new(1.0, 2.0, 3.0)]);
    assert_eq!((mesh.vertices.len(), mesh.notes.len()), (2, 1));
    std::fs::write(&file, "0,0,0\n0,nan,0\n").unwrap();
    let error = standoff_mesh::format::read(&file).unwrap_err().to_string();
    assert!(error.contains("2") && error.contains("coordinate"), "{error}");
}
