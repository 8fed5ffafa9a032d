//! Files that hold a scene (glTF, USD): transforms, kinds of elements, notes, and errors that name the part.

use standoff_linalg::Vec3;
use standoff_mesh::format::{ReadOptions, parse, read};
use standoff_mesh::{Mesh, Region};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn region<'a>(mesh: &'a Mesh, name: &str) -> &'a Region {
    mesh.region(name).unwrap_or_else(|| panic!("no region {name}: {:?}", mesh.regions))
}

/// Positions of a region's vertices.
fn points(mesh: &Mesh, name: &str) -> Vec<[f64; 3]> {
    region(mesh, name).vertices.iter().map(|&v| mesh.points[v as usize].into()).collect()
}

/// Normals of a region's triangles, their length twice the area.
fn normals(mesh: &Mesh, name: &str) -> Vec<Vec3> {
    let normal = |&f: &u32| {
        let [a, b, c] = mesh.triangles[f as usize].map(|v| mesh.points[v as usize]);
        (b - a).cross(&(c - a))
    };
    region(mesh, name).triangles.iter().map(normal).collect()
}

fn close(found: &[[f64; 3]], expected: &[[f64; 3]], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((a - b).abs() <= tolerance, "{found:?} instead of {expected:?}");
    }
}

/// What data/generate_scenes.py writes.
#[test]
fn a_gltf_scene_in_its_three_forms() {
    let mesh = read(&data("scene.glb")).unwrap();
    for other in ["scene_embedded.gltf", "scene_file.gltf"] {
        assert_eq!(read(&data(other)).unwrap(), mesh, "{other}");
    }
    let names: Vec<&str> = mesh.regions.iter().map(|r| &r.name[..]).collect();
    assert_eq!(names, ["triangle", "strip", "wires", "sparse fan", "corners", "strided"]);
    // moved by 1, doubled, turned by 90° about z and lifted by 1
    close(&points(&mesh, "triangle"), &[[0., 2., 1.], [0., 4., 1.], [-2., 2., 1.]], 1e-15);
    // mirrored, and still seen from the side that it was seen from: twice the area times 4 each
    close(
        &points(&mesh, "strip"),
        &[[0., 0., 11.], [0., -2., 11.], [-2., 0., 11.], [-2., -2., 11.]],
        1e-15,
    );
    let up = normals(&mesh, "strip");
    assert!(up.len() == 2 && up.iter().all(|n| (n - Vec3::z() * 4.0).norm() < 1e-14), "{up:?}");
    let wires = region(&mesh, "wires");
    let first = wires.vertices[0];
    let edges: Vec<[u32; 2]> =
        wires.edges.iter().map(|&e| mesh.edges[e as usize].map(|v| v - first)).collect();
    assert_eq!(edges, [[0, 1], [1, 3], [0, 1], [1, 2], [2, 0]]);
    assert_eq!(mesh.vertices, [first + 2, first + 3]);
    close(&points(&mesh, "sparse fan"), &[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]], 0.0);
    // corners that are named twice are one
    close(
        &points(&mesh, "corners"),
        &[[0., 3., 0.], [1., 3., 0.], [0., 4., 0.], [1., 4., 0.]],
        0.0,
    );
    assert_eq!(normals(&mesh, "corners"), [Vec3::z(), Vec3::z()]);
    close(&points(&mesh, "strided"), &[[0., 4., 0.], [1., 4., 0.], [0., 5., 0.]], 0.0);
    assert_eq!(mesh.notes, ["morph targets are ignored"]);
    assert_eq!(mesh.triangles.len(), 1 + 2 + 1 + 2 + 1);
}

/// What data/generate_scenes.py writes; the positions are those that OpenUSD computes.
#[test]
fn a_usd_stage() {
    let mesh = read(&data("usd_core.usda")).unwrap();
    let names: Vec<&str> = mesh.regions.iter().map(|r| &r.name[..]).collect();
    assert_eq!(names, ["quads", "reset", "arrow", "wires", "points"]);
    // the second quadrangle is a hole
    let expected = [
        [0.001632194826, -0.001311351255, 1.004358999419],
        [-0.006346840151, 0.015747236842, 1.011519173157],
        [0.014723907072, -0.002450471733, 1.031044062633],
        [0.006744872096, 0.014608116364, 1.038204236371],
    ];
    close(&points(&mesh, "quads"), &expected, 1e-12);
    assert_eq!(region(&mesh, "quads").triangles.len(), 2);
    close(
        &points(&mesh, "reset"),
        &[[0.04, 0.05, 0.06], [0.04, 0.06, 0.06], [0.03, 0.05, 0.06]],
        1e-15,
    );
    // counted clockwise
    assert!(normals(&mesh, "reset")[0].z < 0.0);
    let arrow = normals(&mesh, "arrow");
    assert!(arrow.len() == 2 && arrow[0].dot(&arrow[1]) > 0.0);
    close(&points(&mesh, "wires"), &[[0., 0., 0.], [0.01, 0., 0.], [0.01, 0.01, 0.]], 1e-18);
    assert_eq!(mesh.edges.len(), 2);
    // the earliest sample, where there is no default
    close(&points(&mesh, "points"), &[[0.04, 0.05, 0.06]], 1e-17);
    assert_eq!(mesh.notes, ["invisible prims are left out"]);
}

/// The binary form and the package hold what the text holds, in the order of the text.
#[test]
fn binary_usd_is_the_text() {
    for (name, others) in
        [("usd_core", &["usd_core.usdc", "usd_core.usdz"][..]), ("usd_types", &["usd_types.usdc"])]
    {
        let text = read(&data(&format!("{name}.usda"))).unwrap();
        assert!(text.points.len() > 10);
        for other in others {
            let binary = read(&data(other)).unwrap();
            // text rounds numbers of 32 bits
            for (a, b) in binary.points.iter().zip(&text.points) {
                assert!((a - b).norm() < 1e-6 * b.norm().max(1.0), "{other}: {a} {b}");
            }
            assert!(Mesh { points: text.points.clone(), ..binary } == text, "{other}");
        }
    }
    let types = read(&data("usd_types.usdc")).unwrap();
    let names: Vec<&str> = types.regions.iter().map(|r| &r.name[..]).collect();
    assert_eq!(names, ["part0", "unit", "part1", "part2"]);
    // what OpenUSD computes
    close(
        &points(&types, "unit"),
        &[[0.44999999999999984, -0.6749999999999999, 0.30000000000000004]],
        1e-12,
    );
    close(
        &[*points(&types, "part1").last().unwrap()],
        &[[-1.5876914822342092, -6.180922233930025, 2.0999999999999974]],
        1e-6,
    );
}

/// A damaged binary file is refused, or read: no panic, no memory that the file does not hold.
#[test]
fn damaged_binary_usd_is_refused() {
    let whole = std::fs::read(data("usd_types.usdc")).unwrap();
    let read = |bytes: &[u8]| parse(Path::new("a.usdc"), bytes, &ReadOptions::default());
    for end in 8..whole.len() - 1 {
        let error = read(&whole[..end]).unwrap_err().to_string();
        assert!(error.starts_with("a.usdc, ") && error.contains("export it again"), "{error}");
    }
    let mut refused = 0;
    for at in 8..whole.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            refused += usize::from(read(&bytes).is_err());
        }
    }
    assert!(refused > whole.len(), "{refused}");
}

fn text(name: &str, content: &str) -> Result<Mesh, String> {
    parse(Path::new(name), content.as_bytes(), &ReadOptions::default()).map_err(|e| e.to_string())
}

#[test]
fn units_of_a_usd_stage() {
    let stage = |head: &str| {
        text(
            "a.usda",
            &format!(
                "#usda 1.0\n({head})\ndef Mesh \"a\" {{ point3f[] points = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]\n\
                 int[] faceVertexCounts = [3]; int[] faceVertexIndices = [0, 1, 2] }}"
            ),
        )
        .unwrap()
    };
    let metres = stage("metersPerUnit = 1");
    assert_eq!(metres.points[0], Vec3::x());
    assert_eq!(metres.notes, ["surfaces of subdivision are read as their control meshes"]);
    let unknown = stage("");
    assert_eq!(unknown.points[0], Vec3::x() * 0.01);
    assert!(unknown.notes[0].starts_with("metersPerUnit is not given"));
}

#[test]
fn errors_name_the_part() {
    let usda = |body: &str| {
        text("a.usda", &format!("#usda 1.0\n(metersPerUnit = 1)\n{body}\n")).unwrap_err()
    };
    let mesh = |rest: &str| usda(&format!("def Xform \"w\" {{ def Mesh \"m\" {{ {rest} }} }}"));
    let corners = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]";
    let cases = [
        (
            mesh(&format!(
                "{corners} int[] faceVertexCounts = [3] int[] faceVertexIndices = [0, 1, 9]"
            )),
            "/w/m",
        ),
        (
            mesh(&format!(
                "{corners} int[] faceVertexCounts = [4] int[] faceVertexIndices = [0, 1, 2]"
            )),
            "faceVertexCounts",
        ),
        (mesh("point3f[] points = [(0, 0, nan)]"), "finite"),
        (mesh("point3f[] points = [(0, 0), (1, 1, 1)]"), "line 3: an entry of 3 numbers"),
        (
            mesh("uniform token[] xformOpOrder = [\"xformOp:turn\"] double xformOp:turn = 1"),
            "xformOp:turn",
        ),
        (
            usda("def Mesh \"m\" (references = @other.usda@</a>) { }"),
            "/m: references are not followed. Flatten",
        ),
        (
            usda(
                "def Mesh \"m\" (prepend variantSets = \"x\") { variantSet \"x\" = { \"a\" { } } }",
            ),
            "variants",
        ),
        (usda("def Xform \"m\" { "), "line 4"),
        (usda("def Xform \"m\" { }"), "no mesh"),
        (text("a.usdc", "PXR-USDC\0\0").unwrap_err(), "head: it ends"),
        (text("a.usdz", "PK\x03\x04").unwrap_err(), "package: its first layer"),
        (
            text("a.usda", &format!("#usda 1.0\n{}", "def \"a\" {".repeat(1000))).unwrap_err(),
            "levels",
        ),
    ];
    for (name, part) in [
        ("references", "/m: references are not followed. Flatten"),
        ("payload", "/m: payload are not followed"),
        ("inherits", "/m: inherits are not followed"),
        ("variants", "/m: variants are not supported"),
        ("sublayers", "subLayers: layers in other files are not read"),
    ] {
        let message = read(&data(&format!("usd_{name}.usdc"))).unwrap_err().to_string();
        assert!(message.contains(part), "{message} ({part})");
    }
    for (message, part) in &cases {
        assert!(message.starts_with("a.usd") && message.contains(part), "{message} ({part})");
    }
    let gltf = |rest: &str| {
        text("a.gltf", &format!("{{\"asset\": {{\"version\": \"2.0\"}}, {rest}}}")).unwrap_err()
    };
    let scene = r#""nodes": [{"name": "arm", "mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]"#;
    let accessor = r#""accessors": [{"componentType": 5126, "type": "VEC3", "count": 3"#;
    let cases = [
        (
            gltf(scene),
            "node 0 (\"arm\"), mesh 0, primitive 0, POSITION (accessor 0): there is no such accessor",
        ),
        (gltf(&format!("{scene}, {accessor}}}]")), "has no data"),
        (gltf(&format!("{scene}, {accessor}, \"bufferView\": 7}}]")), "no buffer view 7"),
        (
            gltf(&format!(
                "{scene}, {accessor}, \"bufferView\": 0}}], \"bufferViews\": [{{\"buffer\": 0, \"byteLength\": 35}}], \
                 \"buffers\": [{{\"byteLength\": 4, \"uri\": \"data:;base64,AAAAAA==\"}}]"
            )),
            "3 elements are announced, but buffer view 0 (35 bytes)",
        ),
        (
            gltf(&format!(
                "{scene}, {accessor}, \"bufferView\": 0}}], \"bufferViews\": [{{\"buffer\": 0, \"byteLength\": 36}}], \
                 \"buffers\": [{{\"byteLength\": 36, \"uri\": \"missing.bin\"}}]"
            )),
            "buffer 0: cannot read missing.bin",
        ),
        (
            gltf(r#""nodes": [{"children": [1]}, {"children": [0]}], "scenes": [{"nodes": [0]}]"#),
            "several parents",
        ),
        (
            gltf(r#""extensionsRequired": ["KHR_draco_mesh_compression"]"#),
            "KHR_draco_mesh_compression",
        ),
        (gltf(r#""nodes": [{"rotation": [0, 0, 0, 0]}]"#), "node 0: its rotation"),
        (gltf("\"nodes\": [\n}"), "line 2"),
        (gltf(r#""nodes": []"#), "no mesh"),
    ];
    for (message, part) in &cases {
        assert!(message.starts_with("a.gltf") && message.contains(part), "{message} ({part})");
    }
}

/// A small file may name a mesh any number of times.
#[test]
fn repetition_is_bounded() {
    let glb = std::fs::read(data("scene_embedded.gltf")).unwrap();
    let text = String::from_utf8(glb).unwrap();
    // an accessor that announces more than there is, and one without data at all
    for (from, to) in
        [("\"count\": 4", "\"count\": 4000000000"), ("\"count\": 3", "\"count\": 4000000000")]
    {
        let damaged = text.replace(from, to);
        let e = parse(Path::new("a.gltf"), damaged.as_bytes(), &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(e.contains("announced"), "{e}");
    }
}
