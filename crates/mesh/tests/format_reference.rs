//! The meshes of the reference implementations load, with known counts.

use standoff_mesh::format::read;
use standoff_mesh::{Mesh, Severity, is_closed};
use std::path::{Path, PathBuf};

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn errors(mesh: &Mesh) -> Vec<String> {
    let defects = mesh.check();
    defects.iter().filter(|d| d.severity() == Severity::Error).map(|d| d.to_string()).collect()
}

/// Three more are too large for the repository.
#[test]
fn large_tetrahedral_meshes() {
    let Some(folder) = standoff_testkit::shared("data/ipc/tetMeshes") else { return };
    for (name, counts) in [
        ("Armadillo13K.msh", (13_230, 54_985, 17_296)),
        ("mat100x100t40.msh", (20_000, 58_806, 39_996)),
        ("rod300x33.msh", (13_333, 50_511, 19_966)),
    ] {
        let mesh = read(&folder.join(name)).unwrap();
        assert!(errors(&mesh).is_empty() && is_closed(&mesh.surface()), "{name}");
        assert_eq!((mesh.points.len(), mesh.tets.len(), mesh.surface().len()), counts, "{name}");
    }
}

#[test]
fn tetrahedral_meshes() {
    let folder = standoff_testkit::testdata("data/ipc/tetMeshes");
    let all = files(&folder, "msh");
    assert_eq!(all.len(), 44);
    for path in all {
        let mesh = read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(!mesh.tets.is_empty() && mesh.triangles.is_empty());
        assert!(mesh.notes.is_empty(), "{}: {:?}", path.display(), mesh.notes);
        assert!(errors(&mesh).is_empty(), "{}: {:?}", path.display(), errors(&mesh));
        assert!(is_closed(&mesh.surface()), "{}", path.display());
    }
    // vertices, tetrahedra, surface triangles
    for (name, counts) in [
        ("mat40x40.msh", (3200, 9126, 6396)),
        ("cube.msh", (8, 6, 12)),
        ("sphere1K.msh", (1760, 6851, 2474)),
        ("erleben/spike.msh", (5, 2, 6)),
        ("erleben/wedge.msh", (6, 3, 8)),
        ("torus.msh", (200, 491, 400)),
    ] {
        let mesh = read(&folder.join(name)).unwrap();
        assert_eq!((mesh.points.len(), mesh.tets.len(), mesh.surface().len()), counts, "{name}");
    }
    // the first and the last vertex of the file
    let mat = read(&folder.join("mat40x40.msh")).unwrap();
    assert_eq!(mat.points[0].as_slice(), [0.5, -0.004, 0.5]);
    assert_eq!(mat.points[3199].as_slice(), [-0.5, -0.004, 0.474359]);
}

/// The reference writes the surface it computed into its files: ours has the same triangles.
#[test]
fn surfaces_equal_the_reference() {
    let folder = standoff_testkit::testdata("data/ipc/tetMeshes");
    for path in files(&folder, "msh") {
        let text = std::fs::read_to_string(&path).unwrap();
        let block = text.split("$Surface").nth(1).and_then(|s| s.split("$End").next()).unwrap();
        let turned = |[a, b, c]: [u32; 3]| {
            if a <= b && a <= c {
                [a, b, c]
            } else if b <= c {
                [b, c, a]
            } else {
                [c, a, b]
            }
        };
        let numbers: Vec<u32> = block.split_whitespace().map(|w| w.parse().unwrap()).collect();
        let mut theirs: Vec<[u32; 3]> =
            numbers[1..].chunks_exact(3).map(|c| turned([c[0] - 1, c[1] - 1, c[2] - 1])).collect();
        theirs.sort_unstable();
        let mut ours: Vec<[u32; 3]> =
            read(&path).unwrap().surface().into_iter().map(turned).collect();
        ours.sort_unstable();
        assert_eq!(ours, theirs, "{}", path.display());
    }
}

#[test]
fn surface_and_wire_meshes() {
    let folder = standoff_testkit::testdata("data/ipc/triMeshes");
    let all = files(&folder, "obj");
    assert_eq!(all.len(), 39);
    for path in &all {
        let mesh = read(path).unwrap_or_else(|e| panic!("{e}"));
        assert!(errors(&mesh).is_empty(), "{}: {:?}", path.display(), errors(&mesh));
    }
    // sheets, and four bodies whose files are not closed
    let open = ["YZplane", "bowl", "cone", "coneBox", "hole", "plane", "sheet100", "sheet1000"];
    let open = [&open[..], &["sheet2000", "sheet500", "sheetPlane", "triangle", "tube"]].concat();
    for path in &all {
        let mesh = read(path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        // there are two wedges: one triangle, and the closed one of the Erleben tests
        let expected = open.contains(&name) || name == "wedge" && mesh.triangles.len() == 1;
        if mesh.dimension() == Some(2) {
            assert_eq!(is_closed(&mesh.triangles), !expected, "{}", path.display());
        }
    }
    let cloud = read(&folder.join("pointPlane.obj")).unwrap();
    assert_eq!((cloud.points.len(), cloud.vertices.len()), (420, 420));
    let cylinder = read(&folder.join("cylinder.obj")).unwrap();
    assert_eq!((cylinder.points.len(), cylinder.triangles.len()), (152, 300));
    let edges = read(&standoff_testkit::testdata("data/ipc/segMeshes/segPlane.seg")).unwrap();
    assert_eq!((edges.points.len(), edges.edges.len()), (420, 210));
    let edge = read(&standoff_testkit::testdata("data/ipc/segMeshes/edge.seg")).unwrap();
    assert_eq!((edge.points.len(), edge.edges), (2, vec![[0, 1]]));
}

#[test]
fn cloth_meshes() {
    let folder = standoff_testkit::testdata("data/cipc");
    assert_eq!(files(&folder, "obj").len(), 8);
    for path in files(&folder, "obj") {
        let mesh = read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(!mesh.triangles.is_empty());
        assert!(errors(&mesh).is_empty(), "{}: {:?}", path.display(), errors(&mesh));
    }
    let cloth = read(&folder.join("square41.obj")).unwrap();
    assert_eq!((cloth.points.len(), cloth.triangles.len()), (1681, 3200));
    let ball = read(&folder.join("sphere1K_0.3.obj")).unwrap();
    assert_eq!((ball.points.len(), ball.triangles.len()), (1239, 2474));
    assert!(is_closed(&ball.triangles));
    let bed = read(&folder.join("needleBed10x10.seg")).unwrap();
    assert_eq!((bed.points.len(), bed.edges.len()), (200, 100));
}
