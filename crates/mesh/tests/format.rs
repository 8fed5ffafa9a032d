//! Mesh readers against files of independent programs (data/generate.py) and on small texts.

use standoff_geometry::quadratic::EDGES;
use standoff_linalg::Vec3;
use standoff_mesh::format::{Format, ReadOptions, parse, read, read_with, write};
use standoff_mesh::{Mesh, MeshError, Place, Region};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The mesh that data/generate.py writes, in its order of elements.
fn expected() -> Mesh {
    Mesh {
        points: [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 1.125],
        ]
        .map(Vec3::from)
        .to_vec(),
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [1, 4, 3]],
        edges: vec![[0, 4]],
        vertices: vec![3],
        ..Mesh::default()
    }
}

fn without_regions(mesh: &Mesh) -> Mesh {
    Mesh { regions: Vec::new(), notes: Vec::new(), ..mesh.clone() }
}

/// Regions that say of every cell which value an array has are written; others are not.
#[test]
fn labels_of_all_cells_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.vtu");
    let region = |name: &str, tets: &[u32], triangles: &[u32], vertices: &[u32]| Region {
        name: name.into(),
        tets: tets.to_vec(),
        triangles: triangles.to_vec(),
        edges: Vec::new(),
        vertices: vertices.to_vec(),
    };
    let whole =
        [region("part=-2", &[0], &[0], &[0, 1, 2, 3]), region("part=7", &[1], &[], &[1, 2, 3, 4])];
    let others = [region("some=1", &[0], &[], &[]), region("hand", &[0, 1], &[0], &[])];
    let mesh = Mesh {
        points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
            .map(|p| Vec3::from(p.map(f64::from)))
            .to_vec(),
        tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        triangles: vec![[0, 1, 2]],
        regions: whole.iter().chain(&others).cloned().collect(),
        ..Mesh::default()
    };
    write(&file, &mesh).unwrap();
    assert_eq!(read(&file).unwrap().regions, whole);
}

#[test]
fn files_with_all_elements() {
    let files = [
        "big_22.msh",
        "big_41.msh",
        "gmsh_22_binary.msh",
        "gmsh_22_text.msh",
        "gmsh_41_binary.msh",
        "gmsh_41_text.msh",
        "meshio_22_binary.msh",
        "meshio_22_text.msh",
        "meshio_42_binary.vtk",
        "meshio_42_text.vtk",
        "meshio_51_binary.vtk",
        "meshio_51_text.vtk",
        "meshio_binary.vtu",
        "meshio_text.vtu",
        "meshio_zlib.vtu",
        "vtk_42_binary.vtk",
        "vtk_42_text.vtk",
        "vtk_51_binary.vtk",
        "vtk_51_text.vtk",
        "vtk_appended.vtu",
        "vtk_base64.vtu",
        "vtk_big_64.vtu",
        "vtk_raw.vtu",
        "vtk_raw_zlib.vtu",
        "vtk_text.vtu",
        "vtk_zlib.vtu",
    ];
    for name in files {
        let mesh = read(&data(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(without_regions(&mesh), expected(), "{name}");
        let regions: Vec<(&str, usize, usize, usize, &[u32])> = mesh
            .regions
            .iter()
            .map(|r| (&r.name[..], r.tets.len(), r.triangles.len(), r.edges.len(), &r.vertices[..]))
            .collect();
        let names = if name.ends_with(".msh") {
            ["point-5", "curve-4", "skin", "body", "other"]
        } else {
            ["part=5", "part=4", "part=3", "part=1", "part=2"]
        };
        let mut wanted: Vec<(&str, usize, usize, usize, &[u32])> = vec![
            (names[0], 0, 0, 0, &[3]),
            (names[1], 0, 0, 1, &[0, 4]),
            (names[2], 0, 6, 0, &[0, 1, 2, 3, 4]),
            (names[3], 1, 0, 0, &[0, 1, 2, 3]),
            (names[4], 1, 0, 0, &[1, 2, 3, 4]),
        ];
        if !name.ends_with(".msh") {
            wanted.sort();
        }
        assert_eq!(regions, wanted, "{name}");
        assert_eq!(mesh.region(names[4]).map(|r| r.tets.clone()), Some(vec![1]), "{name}");
        assert_eq!(mesh.check(), vec![], "{name}");
    }
}

#[test]
fn files_with_some_elements() {
    let all = expected();
    for name in ["meshio_41_text.msh", "meshio_41_binary.msh"] {
        let tets = Mesh { points: all.points.clone(), tets: all.tets.clone(), ..Mesh::default() };
        assert_eq!(read(&data(name)).unwrap(), tets, "{name}");
    }
    let names = ["vtk_raw.vtp", "vtk_42_text_poly.vtk", "vtk_42_binary_poly.vtk"];
    for name in names.into_iter().chain(["vtk_51_text_poly.vtk", "vtk_51_binary_poly.vtk"]) {
        let mesh = read(&data(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let flat = Mesh { tets: vec![], ..all.clone() };
        assert_eq!(without_regions(&mesh), flat, "{name}");
        let counts: Vec<_> =
            mesh.regions.iter().map(|r| (&r.name[..], r.triangles.len())).collect();
        assert_eq!(counts, [("part=3", 6), ("part=4", 0), ("part=5", 0)], "{name}");
    }
    let surface =
        Mesh { points: all.points.clone(), triangles: all.triangles.clone(), ..Mesh::default() };
    for name in ["meshio.obj", "meshio_text.ply", "meshio_binary.ply", "vtk_big.ply"] {
        assert_eq!(read(&data(name)).unwrap(), surface, "{name}");
    }
    for name in ["meshio_text.stl", "meshio_binary.stl"] {
        let mesh = read(&data(name)).unwrap();
        // points in order of first appearance in the triangles
        let order = [0, 2, 1, 3, 4];
        assert_eq!(mesh.points, order.map(|v| all.points[v]), "{name}");
        let back: Vec<[u32; 3]> =
            mesh.triangles.iter().map(|f| f.map(|v| order[v as usize] as u32)).collect();
        assert_eq!(back, all.triangles, "{name}");
    }
    let message = read(&data("vtk_lz4.vtu")).unwrap_err().to_string();
    assert!(message.contains("vtkLZ4DataCompressor") && message.contains("zlib"), "{message}");
}

fn text(name: &str, content: &str) -> Result<Mesh, MeshError> {
    parse(Path::new(name), content.as_bytes(), &ReadOptions::default())
}

#[test]
fn obj_statements() {
    let mesh = text(
        "a.obj",
        "# comment\nmtllib x.mtl\nv 0 0 0\r\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0 \\\n\nv 0 1 0\nvt 0 0\n\
         vn 0 0 1\no thing\ng a b\ns off\nf 1/1 2/1/1 3//1 -1\nf 1 \\\n 2 \\\n 5\nl 1 2 3\np 4 1\n\
         v 2 2 2\n",
    )
    .unwrap();
    assert_eq!(mesh.points.len(), 5);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 4]]);
    assert_eq!(mesh.edges, [[0, 1], [1, 2]]);
    assert_eq!(mesh.vertices, [3, 0]);
    let cloud = text("a.obj", "v 0 0 0\nv 1 0 0").unwrap();
    assert_eq!(cloud.vertices, [0, 1]);
    let points = text("a.pt", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    assert_eq!((points.vertices, points.triangles.len()), (vec![0, 1, 2], 0));
}

/// A floor in the form of a C: nothing is in its middle, in whichever format it comes.
#[test]
fn concave_polygons_stay_open() {
    let c = [[1, 5], [0, 5], [0, 0], [1, 0], [5, 0], [5, 1], [1, 1], [1, 4], [5, 4], [5, 5]];
    let points: String = c.iter().map(|[x, y]| format!("{x} {y} 0\n")).collect();
    let obj: String = c.iter().map(|[x, y]| format!("v {x} {y} 0\n")).collect();
    let files = [
        ("c.obj", format!("{obj}f 1 2 3 4 5 6 7 8 9 10\n")),
        (
            "c.ply",
            format!(
                "ply\nformat ascii 1.0\nelement vertex 10\nproperty float x\nproperty float y\nproperty float z\n\
                 element face 1\nproperty list uchar int vertex_index\nend_header\n{points}10 0 1 2 3 4 5 6 7 8 9\n"
            ),
        ),
        (
            "c.vtk",
            format!(
                "# vtk DataFile Version 3.0\nc\nASCII\nDATASET POLYDATA\nPOINTS 10 double\n{points}\
                 POLYGONS 1 11\n10 0 1 2 3 4 5 6 7 8 9\n"
            ),
        ),
    ];
    for (name, content) in files {
        let mesh = text(name, &content).unwrap();
        let area: f64 = (mesh.triangles.iter())
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.points[v as usize]);
                let area = (b - a).cross(&(c - a)).z / 2.0;
                let middle = (a + b + c) / 3.0;
                assert!(
                    area > 0.0 && !(middle.x > 1.0 && middle.y > 1.0 && middle.y < 4.0),
                    "{name}"
                );
                area
            })
            .sum();
        assert_eq!((mesh.triangles.len(), area), (8, 13.0), "{name}");
    }
}

#[test]
fn segments() {
    let mesh = text("a.seg", "v 0 0 0\nv 1 0 0\n\ns 2 1\n").unwrap();
    assert_eq!((mesh.points.len(), mesh.edges), (2, vec![[1, 0]]));
}

/// Every error names the file, the line and what to do.
#[test]
fn errors_say_where() {
    let cases: &[(&str, &str, usize, &str)] = &[
        ("a.obj", "v 0 0 0\nv 1 x 0\n", 2, "\"x\""),
        ("a.obj", "v 0 0\n", 1, "three coordinates"),
        ("a.obj", "v 0 0 nan\n", 1, "finite"),
        ("a.obj", "v 0 0 1e999\n", 1, "finite"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n", 5, "only 3"),
        ("a.obj", "v 0 0 0\nf 1 1 0\n", 2, "no vertex 0"),
        ("a.obj", "v 0 0 0\nf -2 1 1\n", 2, "no vertex -2"),
        ("a.obj", "v 0 0 0\nf 1 1\n", 2, "2 vertices"),
        (
            "a.obj",
            "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\nf 1 2 3 4\n",
            6,
            "face 2 (from 1): a polygon of 4 vertices crosses itself",
        ),
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4\n", 5, "no area"),
        ("a.obj", "v 0 0 0\nsurf 1\n", 2, "free-form"),
        ("a.obj", "v 0 0 0\nwhat 1\n", 2, "what"),
        ("a.seg", "v 0 0 0\ns 1 2\n", 2, "only 1"),
        ("a.seg", "v 0 0 0\ns 0 1\n", 2, "\"0\""),
        ("a.seg", "v 0 0 0\nf 1 1 1\n", 2, "\"f\""),
        (
            "a.stl",
            "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0\n",
            6,
            "file ends",
        ),
        (
            "a.stl",
            "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\n",
            7,
            "triangles only",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
            5,
            "x, y and z",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 9999999\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n",
            7,
            "announced",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n",
            11,
            "only 1",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 1 0\n1 0 0\n0 1 0\n4 0 1 2 3\n",
            14,
            "face 0 (from 0): a polygon of 4 vertices crosses itself",
        ),
        ("a.ply", "ply\nformat ascii 1.0\nproperty float x\n", 3, "element before"),
        ("a.msh", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", 2, "4.0"),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n$Elements\n1\n1 1 2 0 0 1 3\n$EndElements\n",
            11,
            "node 3",
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n$Elements\n1\n1 21 2 0 0 1 2\n$EndElements\n",
            11,
            "elements of other orders",
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n7 0 0 0\n7 1 0 0\n$EndNodes\n",
            7,
            "twice",
        ),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 inf\n$EndNodes\n",
            6,
            "finite",
        ),
        (
            "a.msh",
            "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2 1 2\n3 0 0 1\n1\n0 0 0\n$EndNodes\n",
            8,
            "2 nodes",
        ),
        ("a.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", 4, "no $Nodes"),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n",
            4,
            "STRUCTURED_GRID",
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 2\n1 1\nCELL_TYPES 1\n1\n",
            7,
            "only 1",
        ),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 9\n8 0 0 0 0 0 0 0 0\nCELL_TYPES 1\n12\n",
            7,
            "cell 0: a hexahedron has no extent",
        ),
        ("a.vtu", "<VTKFile type=\"ImageData\">\n</VTKFile>\n", 1, "ImageData"),
        (
            "a.vtu",
            "<VTKFile type=\"UnstructuredGrid\">\n<Piece NumberOfPoints=\"1\">\n<Points>\n<DataArray type=\"Float32\">0 0 q</DataArray>",
            4,
            "\"q\"",
        ),
    ];
    for (name, content, line, part) in cases {
        match text(name, content) {
            Err(e) => {
                let message = e.to_string();
                assert!(message.starts_with(&format!("{name}, ")), "{message}");
                assert!(message.contains(part), "{content}\n{message}");
                let MeshError::Content { place, hint, .. } = e else { panic!("{message}") };
                assert_eq!(place, Place::Line(*line), "{content}\n{message}");
                assert!(!hint.is_empty());
            }
            Ok(mesh) => panic!("{content} was read as {mesh:?}"),
        }
    }
}

#[test]
fn errors_in_binary_parts_name_the_byte() {
    let whole = std::fs::read(data("gmsh_41_binary.msh")).unwrap();
    let cut = whole.windows(9).position(|w| w == b"$Elements").unwrap() + 60;
    let e = parse(Path::new("a.msh"), &whole[..cut], &ReadOptions::default()).unwrap_err();
    assert!(matches!(e, MeshError::Content { place: Place::Byte(b), .. } if b <= cut), "{e}");
}

#[test]
fn formats_are_recognised() {
    let named = |name: &str, content: &str| Format::detect(Path::new(name), content.as_bytes());
    for format in Format::ALL {
        for e in format.extensions() {
            assert_eq!(named(&format!("a.{}", e.to_uppercase()), ""), Some(format));
        }
    }
    assert_eq!(named("a.dat", "$MeshFormat\n"), Some(Format::Gmsh));
    assert_eq!(named("a.vtk", "<?xml version=\"1.0\"?><VTKFile>"), Some(Format::Vtu));
    assert_eq!(named("a.dat", "<?xml version=\"1.0\"?><!-- arm --><robot>"), Some(Format::Urdf));
    assert_eq!(named("a.dat", "<mujoco/>"), Some(Format::Mjcf));
    assert_eq!(named("a.dat", "glTF\u{2}\0\0\0"), Some(Format::Gltf));
    assert_eq!(named("a.dat", "#usda 1.0\n"), Some(Format::Usd));
    assert_eq!(named("a", "ply\nformat"), Some(Format::Ply));
    assert_eq!(named("a", "solid x\n"), Some(Format::Stl));
    assert_eq!(named("a", "v 0 0 0\n"), Some(Format::Obj));
    assert_eq!(named("a", "hello"), None);
    let message = text("a.xyz", "hello").unwrap_err().to_string();
    assert!(message.contains(".msh") && message.contains(".seg"), "{message}");
    let message = read(Path::new("/nowhere/a.obj")).unwrap_err().to_string();
    assert!(message.contains("/nowhere/a.obj"), "{message}");
}

#[test]
fn orientation_is_turned_only_where_all_are_negative() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let mut mesh = Mesh { notes: vec![], ..expected() };
    for t in &mut mesh.tets {
        t.swap(0, 1);
    }
    write(&path, &mesh).unwrap();
    let turned = read(&path).unwrap();
    assert!(turned.tets.iter().all(|t| turned.check().is_empty() && t.len() == 4));
    assert_eq!(turned.notes.len(), 1);
    let kept =
        read_with(&path, &ReadOptions { flip_inverted: false, ..Default::default() }).unwrap();
    assert_eq!(kept, mesh);
    mesh.tets[0].swap(0, 1);
    write(&path, &mesh).unwrap();
    assert_eq!(read(&path).unwrap(), mesh);
}

#[test]
fn written_files_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = expected();
    mesh.points[0] = Vec3::new(1.0 / 3.0, -1e-300, 123456789.1234);
    mesh.points[4] = Vec3::new(9.0, -0.0, 5e-324);
    mesh.tets.truncate(1);
    let vtu = folder.path().join("a.vtu");
    write(&vtu, &mesh).unwrap();
    let back =
        read_with(&vtu, &ReadOptions { flip_inverted: false, ..Default::default() }).unwrap();
    assert_eq!(back, mesh);
    let obj = folder.path().join("a.obj");
    write(&obj, &mesh).unwrap();
    let back = read(&obj).unwrap();
    assert_eq!((&back.points, &back.triangles), (&mesh.points, &mesh.surface()));
    assert_eq!((&back.edges, &back.vertices), (&mesh.edges, &mesh.vertices));
    assert!(write(&folder.path().join("a.stl"), &mesh).is_err());
    // an independent reader understands the written file
    let vtk = vtkio::Vtk::import(&vtu).expect("vtkio reads it");
    let vtkio::model::DataSet::UnstructuredGrid { pieces, .. } = vtk.data else { panic!() };
    let piece = pieces[0].load_piece_data(None).expect("a piece");
    let points: Vec<f64> = piece.points.cast_into().expect("numbers");
    assert_eq!(points, mesh.points.iter().flat_map(|p| [p.x, p.y, p.z]).collect::<Vec<_>>());
    assert_eq!(piece.cells.types.len(), 1 + 6 + 1 + 1);
}

/// The crates tobj and stl_io read the same triangles.
#[test]
fn independent_readers_agree() {
    let mesh = read(&data("meshio.obj")).unwrap();
    let (models, _) = tobj::load_obj(data("meshio.obj"), &tobj::LoadOptions::default()).unwrap();
    let corners: Vec<f64> = models
        .iter()
        .flat_map(|m| m.mesh.indices.iter().flat_map(|&i| &m.mesh.positions[3 * i as usize..][..3]))
        .map(|&c| c.into())
        .collect();
    let flat = |mesh: &Mesh| -> Vec<f64> {
        let corners = mesh.triangles.iter().flatten().map(|&v| mesh.points[v as usize]);
        corners.flat_map(|p| [p.x, p.y, p.z]).collect()
    };
    assert_eq!(corners, flat(&mesh));
    {
        // stl_io does not take a text file whose solid has no name
        let name = "meshio_binary.stl";
        let mut file = std::fs::File::open(data(name)).unwrap();
        let other = stl_io::read_stl(&mut file).unwrap();
        let corners: Vec<f64> = other
            .faces
            .iter()
            .flat_map(|f| f.vertices)
            .flat_map(|v| [0, 1, 2].map(|k| f64::from(other.vertices[v][k])))
            .collect();
        assert_eq!(corners, flat(&read(&data(name)).unwrap()), "{name}");
    }
}

/// A tetrahedron of ten nodes beside one of four, in the orders of both formats: Gmsh exchanges the last two middles.
#[test]
fn quadratic_tetrahedra_have_the_middles_of_their_edges() {
    let x = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [2.0, 2.0, 2.0]]
        .map(Vec3::from);
    let middle = |[a, b]: [usize; 2]| 0.5 * (x[a] + x[b]);
    let points: Vec<Vec3> = x.into_iter().chain(EDGES.map(middle)).collect();
    let lines: Vec<String> = points.iter().map(|p| format!("{} {} {}", p.x, p.y, p.z)).collect();
    let nodes =
        |first: usize| (first..).zip(&lines).map(|(k, l)| format!("{k} {l}\n")).collect::<String>();
    let gmsh = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 7 \"base\"\n1 8 \"rim\"\n$EndPhysicalNames\n\
         $Nodes\n11\n{}$EndNodes\n$Elements\n5\n1 11 2 0 0 1 2 3 4 6 7 8 9 11 10\n2 4 2 10 0 2 3 4 5\n\
         3 9 2 7 1 1 2 3 6 7 8\n4 8 2 8 1 1 2 6\n5 2 2 9 1 2 3 5\n$EndElements\n",
        nodes(1)
    );
    let vtk = format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 11 double\n{}\n\
         CELLS 4 27\n10 0 1 2 3 5 6 7 8 9 10\n4 1 2 3 4\n6 0 1 2 5 6 7\n3 0 1 5\nCELL_TYPES 4\n24\n10\n22\n21\n",
        lines.join("\n")
    );
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a.msh", gmsh), ("a.vtk", vtk)] {
        let mesh = parse(Path::new(name), text.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(mesh.tets, [[0, 1, 2, 3], [1, 2, 3, 4]], "{name}");
        assert_eq!(mesh.middles[0], [5, 6, 7, 8, 9, 10], "{name}");
        for (t, m) in mesh.tets.iter().zip(&mesh.middles) {
            for ([a, b], middle) in EDGES.into_iter().zip(m) {
                let [a, b] = [a, b].map(|a| mesh.points[t[a] as usize]);
                assert_eq!(mesh.points[*middle as usize], 0.5 * (a + b), "{name}");
            }
        }
        // the second one shares three middles of the first
        assert_eq!(mesh.points.len(), 14, "{name}");
        assert!(mesh.notes.iter().any(|n| n.contains("1 of its tetrahedra are linear")), "{name}");
        assert_eq!(mesh.triangles[..4], [[0, 5, 7], [5, 1, 6], [7, 6, 2], [5, 6, 7]], "{name}");
        assert_eq!(mesh.edges, [[0, 5], [5, 1]], "{name}");
        assert_eq!(mesh.divided, [0], "{name}");
        assert_eq!(mesh.surface().len(), 24);
        if name == "a.msh" {
            assert_eq!(mesh.region("base").unwrap().vertices, [0, 1, 2, 5, 6, 7]);
            assert_eq!(mesh.region("rim").unwrap().vertices, [0, 1, 5]);
            // what the linear one gets belongs to its region, and to that of a linear triangle on it
            assert_eq!(mesh.middles[1][..3], [6, 10, 9]);
            assert_eq!(
                mesh.region("volume-10").unwrap().vertices,
                [1, 2, 3, 4, 6, 9, 10, 11, 12, 13]
            );
            assert_eq!(mesh.region("surface-9").unwrap().vertices, [1, 2, 4, 6, 11, 12]);
        }
        // written and read again
        let path = folder.path().join("b.vtu");
        write(&path, &Mesh { notes: Vec::new(), regions: Vec::new(), ..mesh.clone() }).unwrap();
        let again = read(&path).unwrap();
        assert_eq!(
            (&again.tets, &again.middles, &again.points),
            (&mesh.tets, &mesh.middles, &mesh.points)
        );
        // the triangle of six nodes is one again
        assert_eq!((&again.triangles, &again.divided), (&mesh.triangles, &mesh.divided));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().filter(|line| *line == "22").count(), 1);
        let mut joined = mesh.clone();
        joined.join_divided();
        assert_eq!((joined.triangles[0], joined.triangle_middles[0]), ([0, 1, 2], [5, 6, 7]));
        // and the other one, of the first file, has nodes in the middles of its edges, of which the first is there
        let others = joined.triangles[1..].iter().zip(&joined.triangle_middles[1..]);
        assert_eq!(others.len(), usize::from(name == "a.msh"), "{name}");
        for (t, m) in others {
            for k in 0..3 {
                let [a, b, m] = [t[k], t[(k + 1) % 3], m[k]].map(|v| joined.points[v as usize]);
                assert_eq!(m, 0.5 * (a + b), "{name}");
            }
            assert!(m[0] == 6 && m[1..].iter().all(|v| *v >= mesh.points.len() as u32), "{m:?}");
        }
        // turned around, middles stay those of their edges
        let mut turned = mesh.clone();
        turned.points.iter_mut().for_each(|p| p.x = -p.x);
        assert!(turned.flip_if_all_inverted());
        for (t, m) in turned.tets.iter().zip(&turned.middles) {
            for ([a, b], middle) in EDGES.into_iter().zip(m) {
                let [a, b] = [a, b].map(|a| turned.points[t[a] as usize]);
                assert_eq!(turned.points[*middle as usize], 0.5 * (a + b), "{name}");
            }
        }
        // nothing is left of dropped points
        let mut rest = mesh.clone();
        rest.tets.truncate(1);
        rest.middles.truncate(1);
        rest.triangles.truncate(4);
        assert_eq!(rest.compact().len(), 10);
        assert!(rest.middles[0].iter().all(|m| *m < 10));
    }
    let short = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
                 0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n24\n";
    let error = parse(Path::new("a.vtk"), short.as_bytes(), &ReadOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains("a quadratic tetrahedron cannot have 4 vertices"),
        "{error}"
    );
}
