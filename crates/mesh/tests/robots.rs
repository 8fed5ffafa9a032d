//! URDF and MJCF: the collision geometry of robots, placed as MuJoCo and yourdfpy place it.

use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::format::{ReadOptions, RobotOptions, parse, read, read_model};
use standoff_mesh::{Mesh, is_closed};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robot").join(name)
}

fn points(mesh: &Mesh, name: &str) -> Vec<Vec3> {
    let region =
        mesh.region(name).unwrap_or_else(|| panic!("no region {name}: {:?}", mesh.regions));
    region.vertices.iter().map(|&v| mesh.points[v as usize]).collect()
}

/// Checks that the points of a region are `local` points moved by a pose: rotation by rows, position.
fn placed(mesh: &Mesh, name: &str, local: impl Fn(Vec3) -> bool, rows: [f64; 9], at: [f64; 3]) {
    let turn = Mat3::from_row_slice(&rows);
    let found = points(mesh, name);
    assert!(!found.is_empty());
    for p in found {
        let q = turn.transpose() * (p - Vec3::from(at));
        assert!(local(q), "{name}: {q}");
    }
}

const IDENTITY: [f64; 9] = [1., 0., 0., 0., 1., 0., 0., 0., 1.];

/// Corners of a box by its half extents.
fn corner(half: [f64; 3]) -> impl Fn(Vec3) -> bool {
    move |q| (q.abs() - Vec3::from(half)).norm() < 1e-7
}

/// The poses are those that MuJoCo 4.0 computes (tools/check_import.py compares all vertices).
#[test]
fn geometries_of_mjcf() {
    let mesh = read(&data("shapes.xml")).unwrap();
    let names: Vec<&str> = mesh.regions.iter().map(|r| &r.name[..]).collect();
    let expected =
        ["ball", "bone", "beam", "drum", "egg", "wedge", "tet", "part", "part-2", "part-3"];
    assert_eq!(names, expected);
    assert!(is_closed(&mesh.triangles));
    placed(&mesh, "ball", |q| (q.norm() - 0.1).abs() < 1e-12, IDENTITY, [1., 2., 3.]);
    let bone = [
        0.64892599,
        0.30618617,
        0.69652357,
        0.47690902,
        0.54960769,
        -0.68592213,
        -0.59283459,
        0.77729107,
        0.21063177,
    ];
    let on_capsule = |q: Vec3| {
        let beyond = (q.z.abs() - 0.4).max(0.0);
        (Vec3::new(q.x, q.y, beyond).norm() - 0.02).abs() < 1e-7 && q.z.abs() > 0.4 - 1e-7
    };
    placed(&mesh, "bone", on_capsule, bone, [0., 0., 1.]);
    let beam = [
        0.33494288,
        0.62016929,
        -0.70936826,
        0.52151009,
        0.50500662,
        0.68774671,
        0.78475505,
        -0.60029857,
        -0.15427617,
    ];
    placed(
        &mesh,
        "beam",
        corner([0.05, 0.05, 0.41231056]),
        beam,
        [0.50429663, -0.24334787, 1.36941403],
    );
    let drum = [
        0.29985518,
        -0.88655373,
        -0.35229159,
        0.50665075,
        -0.16490709,
        0.84623322,
        -0.8083266,
        -0.43223621,
        0.39972487,
    ];
    let on_cylinder = |q: Vec3| {
        let (r, z) = (q.xy().norm(), q.z.abs());
        (z - 0.2).abs() < 1e-7 && (r < 1e-7 || (r - 0.1).abs() < 1e-7)
    };
    placed(&mesh, "drum", on_cylinder, drum, [0.27762497, 0.05209445, 0.89895277]);
    let egg = [
        -0.3443166,
        0.12324972,
        0.93072852,
        0.42642752,
        -0.86265935,
        0.27198973,
        0.83642432,
        0.49053884,
        0.24447087,
    ];
    let on_ellipsoid =
        |q: Vec3| (q.component_div(&Vec3::new(0.1, 0.2, 0.3)).norm() - 1.0).abs() < 1e-6;
    placed(&mesh, "egg", on_ellipsoid, egg, [0.10546667, 0.26530821, 1.31716493]);
    // scaled and mirrored, from its own axes
    let wedge = [
        [0.37410193157942695, 0.23335483877389723, 1.5065875258258716],
        [0.33137164606243763, 0.26525179132884746, 1.5911848474682324],
        [0.9014576137651766, 0.3811649460075407, 1.7172249965919182],
        [0.31108602712592254, -0.36181226068932276, 1.6991625117221427],
    ];
    let found = points(&mesh, "wedge");
    for p in wedge.map(Vec3::from) {
        assert!(found.iter().any(|q| (p - q).norm() < 1e-7), "{p}: {found:?}");
    }
    let tet = Vec3::new(1.0361951986037443, 0.5372979230359867, 1.561635793330513);
    assert!((points(&mesh, "tet")[3] - tet).norm() < 1e-6);
    let third = [1., 0., 0., 0., 0.76604444, -0.64278761, 0., 0.64278761, 0.76604444];
    placed(&mesh, "part-3", corner([0.1, 0.1, 0.2]), third, [3., -0.03420201, 0.19396926]);
    for note in ["planes", "without contact", "convex hulls"] {
        assert!(mesh.notes.iter().any(|n| n.contains(note)), "{:?}", mesh.notes);
    }
}

/// The poses are those that yourdfpy computes.
#[test]
fn links_of_urdf() {
    let mesh = read(&data("arm.urdf")).unwrap();
    let names: Vec<&str> = mesh.regions.iter().map(|r| &r.name[..]).collect();
    assert_eq!(names, ["base", "upper_tube", "upper", "hand", "hand-2"]);
    assert!(is_closed(&mesh.triangles));
    placed(&mesh, "base", corner([0.2, 0.1, 0.05]), IDENTITY, [0., 0., 0.05]);
    let tube = [
        0.2621666615466402,
        -0.9534388795253274,
        0.14907362135192695,
        0.9443511733327449,
        0.2852735057150286,
        0.1637677879258483,
        -0.19866933079506122,
        0.09784339500725571,
        0.975170327201816,
    ];
    let on_cylinder = |q: Vec3| {
        let (r, z) = (q.xy().norm(), q.z.abs());
        (z - 0.25).abs() < 1e-12 && (r < 1e-12 || (r - 0.05).abs() < 1e-12)
    };
    placed(&mesh, "upper_tube", on_cylinder, tube, [0.1, 0., 0.35]);
    placed(&mesh, "upper", |q| (q.norm() - 0.08).abs() < 1e-12, IDENTITY, [0.1, 0., 0.1]);
    let turned = Mat3::from_row_slice(&[
        -0.4021462253332381,
        -0.9152167903051099,
        -0.025624991587139996,
        0.43002104512789024,
        -0.2135120324639533,
        0.8772083633551546,
        -0.8083070667743452,
        0.34174674649032766,
        0.47942553860420306,
    ]);
    let wedge = [[0., 0., 0.], [1., 0., 0.], [0., 2., 0.], [0., 0., 3.]].map(Vec3::from);
    for (p, q) in points(&mesh, "hand").iter().zip(wedge) {
        let q = turned * q.component_mul(&Vec3::new(0.1, 0.1, -0.2)) + Vec3::new(0.1, 0.0, 0.6);
        assert!((p - q).norm() < 1e-12);
    }
    assert_eq!(points(&mesh, "hand-2").len(), 4);
    assert_eq!(mesh.notes, ["links without collision geometry are left out"]);
    // every closed part is seen from outside
    for region in &mesh.regions {
        let det = |f: &u32| {
            let [a, b, c] = mesh.triangles[*f as usize].map(|v| mesh.points[v as usize]);
            a.cross(&b).dot(&c)
        };
        assert!(region.triangles.iter().map(det).sum::<f64>() > 0.0, "{}", region.name);
    }
}

fn error(name: &str, content: &str) -> String {
    parse(Path::new(name), content.as_bytes(), &ReadOptions::default()).unwrap_err().to_string()
}

#[test]
fn errors_name_the_element() {
    let urdf = |body: &str| error("a.urdf", &format!("<robot>\n{body}\n</robot>"));
    let link = |geometry: &str| {
        urdf(&format!(
            "<link name=\"l\"><collision><geometry>{geometry}</geometry></collision></link>"
        ))
    };
    let two = "<link name=\"a\"/><link name=\"b\"/>";
    let joint =
        |a: &str, b: &str| format!("<joint><parent link=\"{a}\"/><child link=\"{b}\"/></joint>");
    let cases = [
        (link("<box size=\"1 2\"/>"), "line 2, link \"l\", collision 0: size: 2 numbers where 3"),
        (link("<sphere radius=\"nan\"/>"), "\"nan\" is no number"),
        (link("<sphere/>"), "radius must be a positive number"),
        (link("<cone/>"), "<cone> is no shape of URDF"),
        (link("<mesh filename=\"no/such.stl\"/>"), "no/such.stl"),
        (
            link("<mesh filename=\"package://parts/x.stl\"/>"),
            "no folder above a.urdf is the package",
        ),
        (link("<mesh filename=\"http://host/x.stl\"/>"), "is no file"),
        (link("<mesh filename=\"a.urdf\"/>"), "a.urdf"),
        (urdf(&format!("{two}{}{}", joint("a", "b"), joint("b", "a"))), "they close a circle"),
        (urdf(&format!("{two}{}{}", joint("a", "b"), joint("a", "b"))), "several parents"),
        (urdf(&format!("{two}{}", joint("a", "c"))), "no link \"c\""),
        (urdf("<link name=\"a\"><visual/></link>"), "no link has collision geometry"),
        (urdf("<xacro:property name=\"x\"/>"), "Expand them: xacro"),
        (urdf("<link name=\"a\"><"), "a.urdf, line 2"),
        (error("a.urdf", &"<robot>".repeat(1000)), "more than 128 elements are nested"),
        (error("a.urdf", "<robot><link name=\"a\">"), "the file ends"),
    ];
    for (message, part) in &cases {
        assert!(message.starts_with("a.urdf") && message.contains(part), "{message} ({part})");
    }
    let mjcf =
        |body: &str| error("a.xml", &format!("<mujoco>\n<worldbody>{body}</worldbody></mujoco>"));
    let cases = [
        (mjcf("<geom type=\"box\" size=\"1 1\"/>"), "line 2, geom: a box needs 3 positive sizes"),
        (
            mjcf("<geom name=\"g\" type=\"mesh\" mesh=\"m\"/>"),
            "line 2, geom \"g\": there is no mesh asset \"m\"",
        ),
        (mjcf("<geom size=\"1\" quat=\"0 0 0 0\"/>"), "its orientation is no rotation"),
        (mjcf("<include file=\"other.xml\"/>"), "there is no file other.xml"),
        (
            mjcf("<geom type=\"plane\" size=\"1 1 1\"/>"),
            "no geometry takes part in contact but planes",
        ),
        (
            mjcf(&format!(
                "{0}{0}{0}<body/>{1}{1}{1}",
                "<replicate count=\"4000000000\">", "</replicate>"
            )),
            "4000000000 copies, of which at most",
        ),
        (error("a.xml", "<other/>"), "the root element is not <mujoco>"),
    ];
    for (message, part) in &cases {
        assert!(message.starts_with("a.xml") && message.contains(part), "{message} ({part})");
    }
}

/// A file that includes itself ends with a message.
#[test]
fn includes_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xml");
    std::fs::write(&path, "<mujoco><worldbody><include file=\"b.xml\"/></worldbody></mujoco>")
        .unwrap();
    std::fs::write(folder.path().join("b.xml"), "<mujoco><include file=\"b.xml\"/></mujoco>")
        .unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("included twice"), "{message}");
}

/// Points, elements and pins are those that MuJoCo 4.0 makes.
#[test]
fn flexible_bodies_of_mjcf() {
    let model = read_model(&data("soft.xml"), &RobotOptions::default()).unwrap();
    let names: Vec<&str> = model.flexes.iter().map(|f| &f.name[..]).collect();
    assert_eq!(names, ["jelly", "cloth", "rope", "sheet", "wedge"]);
    // first and last vertex
    let ends = [
        ([-0.35, 0., 1.2], [-0.05, 0.2, 1.4]),
        ([0.1, 1.9, 1.0], [-0.1, 2.1, 1.0]),
        ([0., -2.3, 1.0], [0., -1.7, 1.0]),
        ([2.1, -11.8, 15.0], [14.1, -31.8, 36.0]),
        ([5.0, 0.0, 1.0], [5.0, 0.0, 1.3]),
    ];
    for (flex, (first, last)) in model.flexes.iter().zip(ends) {
        let points = &flex.mesh.points;
        assert!((points[0] - Vec3::from(first)).norm() < 1e-12, "{}: {}", flex.name, points[0]);
        let end = points[points.len() - 1];
        assert!((end - Vec3::from(last)).norm() < 1e-12, "{}: {end}", flex.name);
    }
    let [jelly, cloth, rope, ..] = &model.flexes[..] else { panic!() };
    assert_eq!(jelly.mesh.tets.len(), 12);
    // MuJoCo's have negative volume: their last two vertices are exchanged
    assert_eq!(jelly.mesh.tets[..3], [[0, 2, 3, 4], [0, 4, 3, 1], [4, 2, 3, 6]]);
    assert!(jelly.mesh.check().is_empty() && !jelly.self_contact && jelly.friction == 0.7);
    assert_eq!(cloth.mesh.triangles[..4], [[0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2]]);
    assert_eq!((&cloth.pinned[..], &rope.pinned[..]), (&[0, 4, 5, 7, 8][..], &[0][..]));
    assert_eq!(rope.mesh.edges, [[0, 1], [1, 2], [2, 3]]);
    assert_eq!((rope.young_modulus, cloth.young_modulus), (Some(1e6), None));
    assert_eq!((model.time_step, model.gravity.z, model.planes.len()), (0.005, -5.0, 1));
    assert_eq!((model.planes[0].normal, model.planes[0].friction), (Vec3::z(), 0.5));
    assert_eq!(model.machine.links.len(), 1);
    assert!(!model.machine.links[0].mesh.triangles.is_empty());
}

#[test]
fn errors_of_flexible_bodies_name_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xml");
    for (flex, part) in [
        (
            "<flexcomp type=\"grid\" count=\"3 3 1\"><pin id=\"9\"/></flexcomp>",
            "a pin names no point",
        ),
        (
            "<flexcomp type=\"grid\" count=\"3 3 1\"><pin grid=\"0 3\"/></flexcomp>",
            "a pin names no point",
        ),
        ("<flexcomp type=\"grid\" dim=\"3\" count=\"9999 9999 9999\"/>", "more than"),
        ("<flexcomp type=\"grid\" dim=\"4\"/>", "dim must be 1, 2 or 3"),
        ("<flexcomp type=\"mesh\" file=\"no.obj\"/>", "no.obj"),
        ("<flexcomp type=\"direct\" point=\"0 0 0\" element=\"0 0 1\"/>", "groups of 3"),
    ] {
        std::fs::write(&path, format!("<mujoco><worldbody>{flex}</worldbody></mujoco>")).unwrap();
        let message = read_model(&path, &RobotOptions::default()).unwrap_err().to_string();
        assert!(message.contains("line 1, flexcomp") && message.contains(part), "{message}");
    }
}
