//! Elements become tetrahedra that fill them and share their faces.

mod common;

use common::{ELASTIC, bricks, import, scene};
use standoff_mesh::{Mesh, is_closed};
use std::collections::HashMap;

/// Tetrahedra that fill a volume, of which every face is of one other one or of the surface.
fn assert_conforming(mesh: &Mesh, volume: f64, boundary: usize) {
    assert!((mesh.volume() - volume).abs() < 1e-12, "{}", mesh.volume());
    assert!(mesh.check().is_empty(), "{:?}", mesh.check());
    let mut faces: HashMap<[u32; 3], usize> = HashMap::new();
    for tet in &mesh.tets {
        for mut face in standoff_mesh::tet_faces(*tet) {
            face.sort_unstable();
            *faces.entry(face).or_default() += 1;
        }
    }
    assert!(faces.values().all(|n| *n <= 2));
    assert_eq!(faces.values().filter(|n| **n == 1).count(), boundary);
    assert!(is_closed(&mesh.surface()));
}

#[test]
fn a_block_of_bricks_is_divided_conformingly() {
    let text = bricks([3, 2, 2], [0.3, 0.2, 0.4]) + ELASTIC;
    let import = import(&text).unwrap();
    let mesh = &import.meshes[0].1;
    assert_eq!(mesh.tets.len(), 6 * 12);
    assert_conforming(mesh, 0.3 * 0.2 * 0.4, 2 * 2 * (6 + 6 + 4));
    // the nodes of the file come first, and then those in the middles of edges
    assert_eq!((mesh.points.len() > 36, mesh.middles.len()), (true, 72));
    assert_eq!(scene(&import).definition.bodies.len(), 1);
}

/// A unit cube of two wedges or of six pyramids; a brick of which an edge has collapsed is a wedge.
#[test]
fn other_solids_are_divided() {
    let corners = "*NODE\n3, 0, 0, 0\n8, 1, 0, 0\n1, 1, 1, 0\n6, 0, 1, 0\n2, 0, 0, 1\n7, 1, 0, 1\n4, 1, 1, 1\n\
                   5, 0, 1, 1\n9, 0.5, 0.5, 0.5\n";
    let of = |kind: &str, elements: &str| {
        let text = format!("{corners}*ELEMENT, TYPE={kind}, ELSET=EALL\n{elements}{ELASTIC}");
        let mut import = import(&text).unwrap();
        import.meshes.remove(0).1
    };
    assert_conforming(&of("C3D6", "1, 3, 8, 1, 2, 7, 4\n2, 3, 1, 6, 2, 4, 5\n"), 1.0, 12);
    let pyramids = "1, 3, 8, 1, 6, 9\n2, 2, 5, 4, 7, 9\n3, 3, 2, 7, 8, 9\n4, 8, 7, 4, 1, 9\n5, 1, 4, 5, 6, 9\n6, 6, 5, 2, 3, 9\n";
    assert_conforming(&of("C3D5", pyramids), 1.0, 12);
    assert_conforming(&of("C3D8R", "1, 3, 8, 1, 1, 2, 7, 4, 4\n"), 0.5, 8);
}

/// The nodes in the middles of the edges of a brick of twenty nodes stay, where they are curved, too.
#[test]
fn middles_of_edges_stay() {
    let ends = [
        [1, 2],
        [2, 3],
        [3, 4],
        [4, 1],
        [5, 6],
        [6, 7],
        [7, 8],
        [8, 5],
        [1, 5],
        [2, 6],
        [3, 7],
        [4, 8],
    ];
    let corner = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [1.0, 1.0, 1.0],
        [0.0, 1.0, 1.0],
    ];
    let mut text = "*NODE\n".to_owned();
    for (i, x) in corner.iter().enumerate() {
        text += &format!("{}, {:?}, {:?}, {:?}\n", i + 1, x[0], x[1], x[2]);
    }
    for (i, [a, b]) in ends.iter().enumerate() {
        let x: [f64; 3] = std::array::from_fn(|k| (corner[a - 1][k] + corner[b - 1][k]) / 2.0);
        let bulge = if i == 4 { 1.1 } else { x[2] };
        text += &format!("{}, {:?}, {:?}, {bulge:?}\n", i + 9, x[0], x[1]);
    }
    let numbers: Vec<String> = (1..=20).map(|i| i.to_string()).collect();
    let (first, second) = numbers.split_at(10);
    text += &format!(
        "*ELEMENT, TYPE=C3D20R, ELSET=EALL\n1, {},\n{}\n",
        first.join(", "),
        second.join(", ")
    );
    let import = import(&(text + ELASTIC)).unwrap();
    let mesh = &import.meshes[0].1;
    assert_eq!(mesh.tets.len(), 6);
    // 8 corners, 12 edges, 6 diagonals of faces and one through the inside
    assert_eq!(mesh.points.len(), 27);
    assert_eq!(mesh.points[12].z, 1.1);
    assert!(mesh.middles.iter().flatten().any(|m| *m == 12));
    // the diagonals of both faces at the bent edge go along with it by half, the one through the inside by a quarter
    let off = |[x, y, z]: [f64; 3]| {
        let near =
            |p: &&standoff_linalg::Vec3| (*p - standoff_linalg::Vec3::new(x, y, z)).norm() < 1e-14;
        mesh.points[20..].iter().filter(near).count()
    };
    assert_eq!([[0.5, 0.5, 1.05], [0.5, 0.0, 0.55], [0.5, 0.5, 0.525]].map(off), [1, 1, 1]);
    assert!(scene(&import).definition.bodies[0].rest.len() == 27);
}

#[test]
fn shells_have_a_thickness_and_keep_their_nodes() {
    let text = "*NODE, NSET=ALL\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 2, 0, 0\n\
                *ELEMENT, TYPE=S4R, ELSET=Skin\n1, 1, 2, 3, 4\n*ELEMENT, TYPE=S3, ELSET=Skin\n2, 2, 5, 3\n\
                *SHELL SECTION, ELSET=skin, MATERIAL=tin\n0.01, 5\n*MATERIAL, NAME=Tin\n*ELASTIC\n1e9, 0.3\n";
    let import = import(text).unwrap();
    assert_eq!(import.meshes[0].1.triangles.len(), 3);
    for part in [
        "role = \"shell\"",
        "shell = { thickness = 0.01 }",
        "name = \"Skin\"",
        "[materials.\"Tin\"]",
    ] {
        assert!(import.toml.contains(part), "{}", import.toml);
    }
    assert_eq!(scene(&import).definition.bodies[0].rest.len(), 5);
    // two tetrahedra with a skin that shares nodes with them
    let skin = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4, ELSET=EALL\n1,1,2,3,4\n\
                *ELEMENT, TYPE=M3D3, ELSET=S\n2,1,2,3\n";
    let import = common::import(&format!("{skin}{ELASTIC}")).unwrap();
    assert!(
        import.notes.iter().any(|n| n.starts_with("line 9: shells that share nodes")),
        "{:?}",
        import.notes
    );
    assert_eq!(import.meshes.len(), 1);
    assert!(import.meshes[0].1.middles.is_empty());
}

/// A part in two instances, of which one is turned by 90° about z and moved before that.
#[test]
fn instances_of_parts_are_placed() {
    let text = "*Heading\n*Part, name=Tet\n*Node\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*Element, type=C3D4, elset=All\n\
                1,1,2,3,4\n*Nset, nset=Foot, generate\n1, 3, 1\n*Solid Section, elset=All, material=M\n,\n*End Part\n\
                *Assembly, name=A\n*Instance, name=One, part=Tet\n*End Instance\n*Instance, name=Two, part=Tet\n\
                5., 0., 0.\n0., 0., 0., 0., 0., 1., 90.\n*End Instance\n*Nset, nset=Held, instance=One\n1, 2\n\
                *Nset, nset=Held, instance=Two\n3,\n*End Assembly\n*Material, name=M\n*Elastic\n1e6, 0.3\n\
                *Boundary\nHeld, ENCASTRE\nTwo.Foot, 3, 3\n";
    let import = import(text).unwrap();
    assert_eq!(import.meshes.len(), 2);
    assert_eq!(import.meshes[1].0.to_str(), Some("scene-Two_All.vtu"));
    let points = &import.meshes[1].1.points;
    assert_eq!(
        (points[0].as_slice(), points[1].as_slice()),
        (&[0.0, 5.0, 0.0][..], &[0.0, 6.0, 0.0][..])
    );
    let definition = scene(&import).definition;
    assert_eq!(definition.bodies.len(), 2);
    let two = import.toml.split("name = \"Two_All\"").nth(1).unwrap();
    assert!(two.contains("vertices = { vertices = [0, 1] }\nalong = [\"z\"]"), "{two}");
    assert!(two.contains("[[objects.fixed]]\nvertices = \"Held\"\n"), "{two}");
}
