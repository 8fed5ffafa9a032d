//! Robots as parts of a scene.

use standoff_linalg::Vec3;
use standoff_mesh::format::{RobotOptions, write};
use standoff_mjcf_import::Import;
use standoff_scene::{Scene, SceneError};
use standoff_sim::definition::{BodyDef, BodyKind, DriveDef};
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot").join(name)
}

/// A scene of its own objects and the robots of the data.
fn load(text: &str, overrides: &[&str]) -> Result<Scene, SceneError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.toml");
    let text = text.replace("DATA", &data("").to_string_lossy());
    std::fs::write(&file, text).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Scene::load(&file, &overrides)
}

const BALL: &str = "[[objects]]\nname = \"ball\"\nshape = { kind = \"box\", size = [0.1, 0.1, 0.1] }\ntranslate = [1, 1, 1]\n";

/// The points of a body's surface.
fn points(body: &BodyDef) -> Vec<Vec3> {
    body.surface.as_ref().map_or(body.rest.clone(), |surface| surface.points(&body.rest))
}

/// Two lamps, of which one is turned and moved: their bodies, masses, joints and limits are those of the converted file, where the section puts
/// them, and what each ignores and follows is its own.
#[test]
fn robots_are_the_converted_file_where_their_section_puts_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("scene.toml");
    let pose = RobotOptions { pose: [("elbow".to_owned(), 0.4)].into(), ..RobotOptions::default() };
    let import = Import::load(&data("lamp.urdf"), &output, &pose).unwrap();
    std::fs::write(&output, &import.toml).unwrap();
    import.meshes.iter().for_each(|(f, mesh)| write(&folder.path().join(f), mesh).unwrap());
    let alone = Scene::load(&output, &[]).unwrap().definition;
    let section = "[[robots]]\nfile = \"DATA/lamp.urdf\"\npose = { elbow = 0.4 }\n";
    let second = "name = \"second\"\nrotate = [0, 0, 90]\ntranslate = [2, 0, \"10 cm\"]\n";
    let scene = load(&format!("{BALL}{section}{section}{second}"), &[]).unwrap();
    let both = &scene.definition;
    assert_eq!(both.bodies.len(), 1 + 2 * alone.bodies.len());
    let (own, moved) = both.bodies[1..].split_at(alone.bodies.len());
    let turned = |x: &Vec3| Vec3::new(-x.y + 2.0, x.x, x.z + 0.1);
    for ((expected, own), moved) in alone.bodies.iter().zip(own).zip(moved) {
        assert_eq!(
            (&expected.name, format!("second/{}", own.name)),
            (&own.name, moved.name.clone())
        );
        let [expected_at, own_at, moved_at] = [expected, own, moved].map(points);
        for ((x, y), z) in expected_at.iter().zip(&own_at).zip(&moved_at) {
            assert!((x - y).norm() < 1e-14 && (turned(x) - z).norm() < 1e-14, "{}", own.name);
        }
        if let [BodyKind::Rigid { mass, .. }, BodyKind::Rigid { mass: m, .. }] =
            [&expected.kind, &moved.kind]
        {
            assert!((mass / m - 1.0).abs() < 1e-12);
        }
    }
    let count = alone.joints.len();
    assert_eq!(both.joints.len(), 2 * count);
    for (k, expected) in alone.joints.iter().enumerate() {
        let (own, moved) = (&both.joints[k], &both.joints[count + k]);
        assert_eq!((&own.limits, &moved.limits), (&expected.limits, &expected.limits));
        assert_eq!((own.start, moved.start), (expected.start, expected.start));
        assert!((own.point - expected.point).norm() < 1e-14);
        assert!((moved.point - turned(&expected.point)).norm() < 1e-14);
        assert!((moved.axis - (turned(&expected.axis) - turned(&Vec3::zeros()))).norm() < 1e-14);
        assert_eq!(moved.name, format!("second/{}", own.name));
    }
    let follower = |k: usize| both.joints[k].mimic.as_ref().map(|m| m.joint);
    let at = (0..count).find(|k| follower(*k).is_some()).unwrap();
    assert_eq!(follower(at + count).unwrap(), follower(at).unwrap() + count);
    let of_first = |p: &&(usize, usize)| p.1 <= alone.bodies.len();
    let pairs = both.no_contact.iter().filter(of_first).count();
    assert_eq!(both.no_contact.len(), 2 * pairs);
    assert!(scene.notes.iter().any(|n| n.contains("lamp.urdf: ")));
    assert!(!scene.notes.iter().any(|n| n.contains("friction: 0.5")), "{:?}", scene.notes);
}

/// A drive changes what it gives and keeps the rest of the file's; overrides reach the sections and what became of them.
#[test]
fn drives_and_overrides_reach_the_joints_of_a_robot() {
    let text = format!(
        "{BALL}[[robots]]\nfile = \"DATA/lamp.urdf\"\n[robots.drives]\nelbow = {{ position = \"0.3 + t\", stiffness = 40 }}\n"
    );
    let drive = |overrides: &[&str]| -> DriveDef {
        let scene = load(&text, overrides).unwrap();
        let joint = scene.definition.joints.into_iter().find(|j| j.name.ends_with("elbow"));
        joint.unwrap().drive.unwrap()
    };
    let given = drive(&[]);
    // the file says effort="3"
    assert_eq!((given.stiffness, given.max_effort), (40.0, 3.0));
    assert_eq!(drive(&["robots[0].drives.elbow.max_effort=1"]).max_effort, 1.0);
    assert_eq!(drive(&["joints.elbow.drive.stiffness=7"]).stiffness, 7.0);
    assert_eq!(drive(&["robots[0].name=desk", "joints.desk/elbow.drive.damping=2"]).damping, 2.0);
}

/// A scene that its own text describes again, with the meshes beside it, is the same; models of MuJoCo bring planes and flexible bodies along.
#[test]
fn the_written_scene_has_no_robots_and_means_the_same() {
    let text = format!(
        "gravity = [0, 0, -9.81]\n{BALL}[[robots]]\nname = \"it\"\nfile = \"DATA/soft.xml\"\n"
    );
    let scene = load(&text, &[]).unwrap();
    assert!(scene.definition.half_spaces.iter().all(|h| h.name.starts_with("it/")));
    assert!(!scene.definition.half_spaces.is_empty());
    let soft = |b: &&BodyDef| b.name.starts_with("it/");
    assert!(scene.definition.bodies.iter().filter(soft).count() > 1);
    assert!(scene.file.materials.keys().any(|m| m.starts_with("it/")));
    let written = scene.resolved_toml().unwrap();
    assert!(!written.contains("robots"));
    let name = Path::new("again.toml");
    let again =
        Scene::parse_with(&written, name, Path::new(""), &[], scene.meshes.clone()).unwrap();
    assert_eq!(again.definition.bodies.len(), scene.definition.bodies.len());
    for (a, b) in again.definition.bodies.iter().zip(&scene.definition.bodies) {
        assert_eq!((&a.name, &a.rest), (&b.name, &b.rest));
    }
    assert_eq!(again.definition.joints, scene.definition.joints);
}

/// What is wrong with a section is said where it stands.
#[test]
fn faults_are_said_where_the_section_has_them() {
    let head = "[[robots]]\nfile = \"DATA/lamp.urdf\"\n";
    let cases = [
        ("[[robots]]\nfile = \"none.urdf\"\n", ":6:8", "robots[0].file", "none.urdf"),
        ("[[robots]]\nfile = \"DATA/meshes\"\n", ":6:8", "robots[0].file", "meshes"),
        ("[[robots]]\nname = \"x\"\n", ":5:1", "robots[0].file", "file"),
        (&*format!("{head}pose = {{ knee = 1 }}\n"), ":7:17", "robots[0].pose.knee", "elbow"),
        (&*format!("{head}pose = {{ elbow = 7 }}\n"), ":7:18", "limits", "within the limits"),
        (
            &*format!("{head}pose = {{ elbow = \"a\" }}\n"),
            ":7:18",
            "robots[0].pose.elbow",
            "number",
        ),
        (&*format!("{head}drives.knee.stiffness = 1\n"), ":7:", "robots[0].drives.knee", "elbow"),
        (&*format!("{head}drives.elbow.torque = 1\n"), ":7:14", "drives.elbow", "stiffness"),
        (&*format!("{head}drives.elbow.stiffness = -1\n"), ":7:26", "drive.stiffness", "-1"),
        (&*format!("{head}translate = [0, 0]\n"), ":7:13", "robots[0].translate", "3"),
        (&*format!("{head}rotate = {{ axis = [0, 0, 0], angle = 1 }}\n"), ":7:", "rotate", "zero"),
        (&*format!("{head}[[robots]]\nfile = \"DATA/lamp.urdf\"\n"), ":8:8", "name", "base"),
        (&*format!("{head}colour = 1\n"), ":7:1", "robots[0]", "colour"),
    ];
    for (section, place, path, part) in cases {
        let message = load(&format!("{BALL}{section}"), &[]).unwrap_err().to_string();
        for wanted in [place, path, part] {
            assert!(message.contains(wanted), "{section}: no '{wanted}' in {message}");
        }
    }
    let planar = load(&format!("dimension = 2\n{head}"), &[]).unwrap_err().to_string();
    assert!(planar.contains("three dimensions") && planar.contains(":2:"), "{planar}");
}

/// Robots have z up, scenes y: one that would lie down is told of.
#[test]
fn a_gravity_that_is_not_that_of_the_robot_is_told() {
    let told = |keys: &str, gravity: &str| {
        let text = format!("{gravity}\n{BALL}[[robots]]\nfile = \"DATA/lamp.urdf\"\n{keys}\n");
        let notes = load(&text, &[]).unwrap().notes;
        notes.into_iter().find(|n| n.contains("gravity"))
    };
    let note = told("", "").unwrap();
    assert!(note.contains("lamp.urdf: ") && note.contains("[0, 0, -9.81]"), "{note}");
    assert!(told("rotate = [90, 0, 0]", "").unwrap().contains("[0, 9.81, 0]"));
    let fitting = [
        ("rotate = [-90, 0, 0]", ""),
        ("", "gravity = [0, 0, -1.62]"),
        ("", "gravity = [0, 0, 0]"),
    ];
    for (keys, gravity) in fitting {
        assert_eq!(told(keys, gravity), None);
    }
}
