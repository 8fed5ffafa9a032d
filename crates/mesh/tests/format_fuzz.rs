//! Readers survive damaged files: no panic, nothing larger than the file allows.

use proptest::prelude::*;
use standoff_mesh::format::{Format, ReadOptions, parse, read};
use standoff_testkit::thorough;
use std::path::Path;
use std::sync::OnceLock;

/// The fixtures and one small text per format without a fixture.
fn files() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(load)
}

fn load() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| Format::of_extension(p).is_some())
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(p).unwrap()))
        .collect();
    // robots name meshes beside them
    let robots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robot");
    for name in ["arm.urdf", "shapes.xml", "row.xml"].map(|n| robots.join(n)) {
        files.push((name.to_string_lossy().into_owned(), std::fs::read(&name).unwrap()));
    }
    // and so are the files of a mesh of TetGen
    let tetgen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tetgen");
    for name in ["bar.ele", "bar.node"].map(|n| tetgen.join(n)) {
        files.push((name.to_string_lossy().into_owned(), std::fs::read(&name).unwrap()));
    }
    files.sort();
    assert!(files.len() > 30);
    files.push(("a.seg".into(), b"v 0 0 0\nv 1 0 0\ns 1 2\n".to_vec()));
    files.push(("a.pt".into(), b"v 0 0 0\nv 1 0 0\n".to_vec()));
    let obj = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1/1/1 2//2 -1\nl 1 2\np 3\nf 1 \\\n 2 3\n";
    files.push(("a.obj".into(), obj.to_vec()));
    files.push(("solids.msh".into(), solids().0.into_bytes()));
    files.push(("solids.vtk".into(), solids().1.into_bytes()));
    files.push(("a.mesh".into(), MEDIT.into()));
    files.push(("a.bdf".into(), NASTRAN.into()));
    files
}

/// Every section of Medit that is read, and some that are skipped.
const MEDIT: &str = "MeshVersionFormatted 2\nDimension 3\nVertices\n10\n0 0 0 0\n2 0 0 0\n0 2 0 0\n0 0 2 0\n1 0 0 0\n1 1 0 0\n\
    0 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\nTetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 3\nTrianglesP2\n1\n1 3 2 7 6 5 4\nEdgesP2\n1\n\
    1 2 5 1\nTriangles\n1\n1 5 7 2\nQuadrilaterals\n1\n1 5 6 7 2\n# so be it\nTetrahedra\n1\n5 6 7 8 0\nPyramids\n1\n\
    1 5 6 7 8 9\nPrisms\n1\n1 2 3 8 9 10 8\nHexahedra\n1\n1 5 6 7 8 9 9 10 7\nRidges\n1\n1\nNormals\n1\n0 0 1\n\
    AngleOfCornerBound 3\nEnd\n";

/// The same hexahedron, quadrangle and wedge as in the other texts, in all formats of fields.
const NASTRAN: &str = "SOL 101\nBEGIN BULK\n$ points\nGRID,1\nGRID,2,,2.\nGRID,3,0,2.,2.\nGRID,4,,,2.\nGRID,5,,,,2.\n\
    GRID    6               2.      0.0     2.\nGRID    7               .2+1    2.      2.\nGRID\t8\t\t0.\t2.\t2.\n\
    GRID*                  9                              1.              0.*\n*                     0.\nGRID,10,,2.,1.\n\
    GRID,11,,1.,2.\nGRID,12,,,1.\nGRID,13,,,,1.\nGRID,14,,2.,,1.\nGRID,15,,2.,2.,1.\nGRID,16,,,2.,1.\nGRID,17,,1.,,2.\n\
    GRID,18,,2.,1.,2.\nGRID,19,,1.,2.,2.\nGRID,20,,,1.,2.\nGRID,21,,4.\nGRID,22,,4.,,2.D0\nMAT1,1,2.1+11,,.3\n\
    CHEXA,1,1,1,2,3,4,5,6,+A\n+A,7,8,9,10,11,12,13,14,+\n+,15,16,17,18,19,20\nCQUAD8,2,2,5,6,7,8,17,18\n,19,20\n\
    CHEXA,3,1,2,21,3,3,6,22,\n,7,7\nCBAR,4,3,1,2,0.,0.,1.\nENDDATA\n";

/// A hexahedron of twenty nodes, a quadrangle of eight on it, and beside it a hexahedron of which a wedge is left, in both families of formats.
fn solids() -> (String, String) {
    let points =
        "000 200 220 020 002 202 222 022 100 010 001 210 201 120 221 021 102 012 212 122 400 402";
    let points: Vec<String> = points
        .split(' ')
        .map(|p| p.split("").collect::<Vec<_>>().join(" ").trim().into())
        .collect();
    let nodes: String = (1..).zip(&points).map(|(k, p)| format!("{k} {p}\n")).collect();
    let gmsh = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n22\n{nodes}$EndNodes\n$Elements\n3\n\
         1 17 2 1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n2 16 2 1 0 5 6 7 8 17 19 20 18\n\
         3 5 2 1 0 2 21 3 3 6 22 7 7\n$EndElements\n"
    );
    let vtk = format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 22 double\n{}\nCELLS 3 39\n\
         20 0 1 2 3 4 5 6 7 8 11 13 9 16 18 19 17 10 12 14 15\n8 4 5 6 7 16 18 19 17\n8 1 20 2 2 5 21 6 6\n\
         CELL_TYPES 3\n25\n23\n12\n",
        points.join("\n")
    );
    (gmsh, vtk)
}

/// The texts above are sound before they are damaged.
#[test]
fn solids_are_read() {
    let (gmsh, vtk) = solids();
    for (name, text) in [("a.msh", gmsh), ("a.vtk", vtk)] {
        let mesh = parse(Path::new(name), text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!((mesh.tets.len(), mesh.triangles.len(), mesh.volume()), (9, 8, 12.0), "{name}");
        assert!(mesh.check().is_empty(), "{name}: {:?}", mesh.check());
    }
    let mesh = parse(Path::new("a.bdf"), NASTRAN.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((mesh.tets.len(), mesh.triangles.len(), mesh.volume()), (9, 8, 12.0));
    assert!(mesh.check().is_empty(), "{:?}", mesh.check());
    let mesh =
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tetgen/bar.ele")).unwrap();
    assert_eq!((mesh.middles.len(), mesh.triangles.len(), mesh.edges.len()), (1, 8, 2));
    assert!(mesh.check().is_empty(), "{:?}", mesh.check());
    let mesh = parse(Path::new("a.mesh"), MEDIT.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((mesh.tets.len(), mesh.triangles.len(), mesh.edges.len()), (11, 7, 2));
}

/// Reads damaged bytes as the file's own format (its magic may be gone). Each element takes at
/// least a few bytes of the file, or of its data where these are compressed by at most 1:1032.
fn survives(name: &str, bytes: &[u8]) {
    let path = Path::new(name);
    let format = Format::of_extension(path);
    if let Ok(mesh) = parse(path, bytes, &ReadOptions { format, ..Default::default() }) {
        let n = mesh.points.len() as u32;
        let most = bytes.len()
            * match format {
                Some(Format::Vtk | Format::Vtu) => 1032,
                // a ball takes a line, and files of TetGen have others beside them
                Some(Format::Urdf | Format::Mjcf | Format::TetGen) => 500,
                // nodes may repeat a mesh of a scene
                Some(Format::Gltf | Format::Usd) => 16,
                _ => 4,
            };
        assert!(mesh.points.len() <= most && mesh.tets.len() + mesh.triangles.len() <= most);
        assert!(mesh.points.iter().all(|p| p.iter().all(|c| c.is_finite())));
        assert!(mesh.tets.iter().flatten().all(|&v| v < n));
        assert!(mesh.triangles.iter().flatten().chain(mesh.edges.iter().flatten()).all(|&v| v < n));
        assert!(mesh.vertices.iter().all(|&v| v < n));
        // what else is done with a mesh does not panic either
        let _ = (mesh.check(), mesh.quality(), mesh.to_surface());
    }
}

#[test]
fn every_truncation() {
    for (name, bytes) in files() {
        for end in 0..bytes.len() {
            survives(name, &bytes[..end]);
        }
    }
}

#[test]
fn every_byte_replaced() {
    for (name, bytes) in files() {
        let mut damaged = bytes.clone();
        // in a quick check every fourth
        for k in (0..bytes.len()).step_by(if thorough() { 1 } else { 4 }) {
            let values = [0xff, b'-', b'9', bytes[k] ^ 1];
            for value in if thorough() { &values[..] } else { &values[k / 4 % 4..=k / 4 % 4] } {
                damaged[k] = *value;
                survives(name, &damaged);
            }
            damaged[k] = bytes[k];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn several_damages(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..12),
    ) {
        let files = files();
        let (name, bytes) = which.get(files);
        let mut bytes = bytes.clone();
        for (at, value, what) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = value,
                1 => bytes.insert(at, value),
                2 => drop(bytes.remove(at)),
                // repeat a part of the file
                _ => {
                    let end = (at + value as usize).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
            }
        }
        survives(name, &bytes);
    }

    #[test]
    fn bytes_without_sense(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        head in 0..11usize,
    ) {
        let heads: [(&str, &[u8]); 11] = [
            ("a.msh", b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n"),
            ("a.msh", b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n3\n"),
            ("a.msh", b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Entities\n"),
            ("a.vtk", b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 2 float\n"),
            ("a.vtu", b"<VTKFile type=\"UnstructuredGrid\"><Piece NumberOfPoints=\"3\"><Points>"),
            ("a.ply", b"ply\nformat binary_big_endian 1.0\nelement face 3\nproperty list int int vertex_indices\nend_header\n"),
            ("a.stl", b""),
            ("a.obj", b"v 0 0 0\nf "),
            ("a.seg", b"v 0 0 0\ns "),
            ("a.nas", b"GRID,1\nGRID,2,,1.\nGRID,3,,,1.\nCTRIA3,1,1,"),
            ("a.mesh", b"MeshVersionFormatted 2\nDimension 3\nVertices\n1\n0 0 0 0\nEdges\n"),
        ];
        let (name, head) = heads[head];
        survives(name, &[head, &bytes].concat());
    }
}
