//! Input files for the tests of the importer.
#![allow(dead_code)]

use standoff_inp_import::Import;
use standoff_scene::Scene;
use std::path::{Path, PathBuf};

/// The cantilever of the test data.
pub fn cantilever() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inp/cantilever.inp")
}

/// The import of a text.
pub fn import(text: &str) -> Result<Import, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.inp");
    std::fs::write(&file, text).unwrap();
    Import::load(&file, &folder.path().join("scene.toml"))
        .map_err(|e| e.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

/// The scene of an import, written and read.
pub fn scene(import: &Import) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.toml");
    std::fs::write(&file, &import.toml).unwrap();
    for (name, mesh) in &import.meshes {
        standoff_mesh::format::write(&folder.path().join(name), mesh).unwrap();
    }
    Scene::load(&file, &[]).unwrap_or_else(|e| panic!("{e}\n{}", import.toml))
}

/// The number of a node on a grid of `n` cells, scattered, so that diagonals point in all directions.
pub fn node(at: [usize; 3], n: [usize; 3]) -> usize {
    let count = (n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    let index = at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * at[2]);
    // 7 has no divisor in common with the counts of the tests
    1 + 7 * index % count
}

/// *NODE and *ELEMENT of a box of bricks with the given extents, in the set EALL, and the sets X0, Y0, Z0 and ZTOP of its faces.
pub fn bricks(n: [usize; 3], size: [f64; 3]) -> String {
    let all = |top: [usize; 3]| {
        (0..top[2])
            .flat_map(move |k| (0..top[1]).flat_map(move |j| (0..top[0]).map(move |i| [i, j, k])))
    };
    let mut nodes: Vec<(usize, [usize; 3])> =
        all(n.map(|c| c + 1)).map(|at| (node(at, n), at)).collect();
    nodes.sort();
    let mut text = String::from("*NODE\n");
    for (number, at) in &nodes {
        let x: [f64; 3] = std::array::from_fn(|k| at[k] as f64 * size[k] / n[k] as f64);
        text += &format!("{number}, {:?}, {:?}, {:?}\n", x[0], x[1], x[2]);
    }
    text += "*ELEMENT, TYPE=C3D8, ELSET=EALL\n";
    for (e, [i, j, k]) in all(n).enumerate() {
        let corner = |a: [usize; 3]| node([i + a[0], j + a[1], k + a[2]], n).to_string();
        let corners = [
            [0, 0, 0],
            [1, 0, 0],
            [1, 1, 0],
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 1],
            [1, 1, 1],
            [0, 1, 1],
        ];
        text += &format!("{}, {}\n", e + 1, corners.map(corner).join(", "));
    }
    for (name, axis, value) in [("X0", 0, 0), ("Y0", 1, 0), ("Z0", 2, 0), ("ZTOP", 2, n[2])] {
        text += &format!("*NSET, NSET={name}\n");
        for (number, _) in nodes.iter().filter(|(_, at)| at[axis] == value) {
            text += &format!("{number},\n");
        }
    }
    text
}

/// A section and an elastic material.
pub const ELASTIC: &str = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n";
