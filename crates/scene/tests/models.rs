//! A converted model is a scene with the bodies, materials, pins and obstacles of the model.

use standoff_linalg::Vec3;
use standoff_mesh::format::{RobotOptions, read_model, write};
use standoff_mjcf_import::Import;
use standoff_scene::Scene;
use standoff_sim::definition::BodyKind;
use std::path::{Path, PathBuf};

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot/soft.xml")
}

fn import(folder: &Path, model: &str) -> Result<Import, String> {
    let file = folder.join("model.xml");
    std::fs::write(&file, model).unwrap();
    Import::load(&file, &folder.join("scene.toml"), &RobotOptions::default())
        .map_err(|e| e.to_string())
}

#[test]
fn a_model_of_which_nothing_is_left_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let flex = |kind: &str| {
        let model = format!(
            "<mujoco><worldbody><geom type=\"box\" size=\"1 1 1\"/><flexcomp name=\"skin\" type=\"{kind}\" \
             count=\"3 3 3\" spacing=\"1 1 1\" dim=\"3\"/></worldbody></mujoco>"
        );
        import(folder.path(), &model)
    };
    let message = flex("ellipsoid").unwrap_err();
    for part in ["model.xml", "nothing", "\"skin\"", "ellipsoid", "grid", "obstacle"] {
        assert!(message.contains(part), "{message}");
    }
    // the body and the box, which stands still
    assert_eq!(flex("grid").unwrap().meshes.len(), 2);
    let empty = import(folder.path(), "<mujoco><worldbody/></mujoco>").unwrap_err();
    assert!(empty.contains("nothing"), "{empty}");
}

/// A surface with dim 3 is filled from its origin, which is the first point and counts in the numbers of pins.
#[test]
fn a_surface_is_filled_from_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    let octahedron = "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\n\
                      f 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
    std::fs::write(folder.path().join("cap.obj"), octahedron).unwrap();
    let of = |pin: &str| {
        let model = format!(
            "<mujoco><worldbody><flexcomp name=\"cap\" type=\"mesh\" file=\"cap.obj\" dim=\"3\" \
             origin=\"0 0 0.5\" mass=\"2\"><pin id=\"{pin}\"/></flexcomp></worldbody></mujoco>"
        );
        import(folder.path(), &model)
    };
    let import = of("0 6").unwrap();
    let mesh = &import.meshes[0].1;
    assert_eq!((mesh.points.len(), mesh.tets.len()), (7, 8));
    assert_eq!(mesh.points[0], Vec3::new(0.0, 0.0, 0.5));
    assert!((mesh.volume() - 4.0 / 3.0).abs() < 1e-15);
    assert!(import.toml.contains("role = \"volume\"") && import.toml.contains("[0, 6]"));
    assert!(of("7").unwrap_err().contains("a pin names no point"));
}

#[test]
fn a_model_becomes_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("soft.toml");
    let import = Import::load(&model(), &output, &RobotOptions::default()).unwrap();
    std::fs::write(&output, &import.toml).unwrap();
    for (file, mesh) in &import.meshes {
        write(&folder.path().join(file), mesh).unwrap();
    }
    let scene = Scene::load(&output, &[]).unwrap_or_else(|e| panic!("{e}\n{}", import.toml));
    let definition = &scene.definition;
    let names: Vec<&str> = definition.bodies.iter().map(|b| &b.name[..]).collect();
    assert_eq!(names, ["jelly", "cloth", "rope", "sheet", "wedge", "base"]);
    assert_eq!(definition.settings.time.step, 0.005);
    assert_eq!(definition.gravity, Vec3::new(0.0, 0.0, -5.0));
    assert_eq!(definition.settings.friction.coefficient, 1.0);
    assert_eq!(definition.half_spaces.len(), 1);
    // every vertex is where the model has it, in its order
    let flexes = read_model(&model(), &RobotOptions::default()).unwrap().flexes;
    for (flex, body) in flexes.iter().zip(&definition.bodies) {
        assert_eq!(flex.mesh.points, body.rest, "{}", flex.name);
    }
    // a volume of 0.2 · 0.2 · 0.3 m³
    let BodyKind::Volume { density, material, tets, .. } = &definition.bodies[0].kind else {
        panic!()
    };
    assert!((density - 1.2 / 0.012).abs() < 1e-9 && tets.len() == 12);
    assert_eq!((material.young_modulus, material.poisson_ratio), (2e4, 0.3));
    assert!(matches!(definition.bodies[1].kind, BodyKind::Shell { .. }));
    assert!(matches!(definition.bodies[2].kind, BodyKind::Rod { .. }));
    assert!(matches!(definition.bodies[5].kind, BodyKind::Obstacle { .. }));
    for (part, note) in
        [("cloth", "keep their length"), ("rope", "damping 0.1 s"), ("cloth", "no elasticity")]
    {
        let found = import.notes.iter().any(|n| n.contains(part) && n.contains(note));
        assert!(found, "{part}, {note}: {:?}", import.notes);
    }
}
