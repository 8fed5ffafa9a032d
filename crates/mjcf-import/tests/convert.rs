//! A converted model is a scene with the bodies, materials, pins and obstacles of the model.

use standoff_linalg::Vec3;
use standoff_mesh::format::{read_model, write};
use standoff_mjcf_import::Import;
use standoff_scene::Scene;
use standoff_sim::definition::BodyKind;
use std::path::{Path, PathBuf};

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot/soft.xml")
}

#[test]
fn a_model_becomes_a_scene() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("soft.toml");
    let import = Import::load(&model(), &output).unwrap();
    std::fs::write(&output, &import.toml).unwrap();
    for (file, mesh) in &import.meshes {
        write(&folder.path().join(file), mesh).unwrap();
    }
    let scene = Scene::load(&output, &[]).unwrap_or_else(|e| panic!("{e}\n{}", import.toml));
    let definition = &scene.definition;
    let names: Vec<&str> = definition.bodies.iter().map(|b| &b.name[..]).collect();
    assert_eq!(names, ["jelly", "cloth", "rope", "sheet", "wedge", "robot"]);
    assert_eq!(definition.settings.time.step, 0.005);
    assert_eq!(definition.gravity, Vec3::new(0.0, 0.0, -5.0));
    assert_eq!(definition.settings.friction.coefficient, 1.0);
    assert_eq!(definition.half_spaces.len(), 1);
    // every vertex is where the model has it, in its order
    let flexes = read_model(&model()).unwrap().flexes;
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
