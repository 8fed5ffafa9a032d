//! What moves rigidly is one mesh with a transform in USD and glTF: read back, it is where the frames have it.

use serde_json::Value;
use standoff_export::{ExportedBody, Options, Sequence, export};
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::format;
use standoff_run::run;
use standoff_scene::Scene;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A rigid body that tumbles and hits the ground, obstacles that turn, rest and change their shape, and a soft body.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.4 }
[[objects]]
name = "dice"
role = "rigid"
shape = { kind = "box", size = [0.1, 0.08, 0.06] }
translate = [0, 0.25, 0]
angular_velocity = [2000, 900, 700]
[[objects]]
name = "soft"
shape = { kind = "box", size = [0.1, 0.1, 0.1] }
translate = [0.3, 0.06, 0]
[[objects]]
name = "paddle"
role = "obstacle"
shape = { kind = "box", size = [0.2, 0.02, 0.1], surface = true }
translate = [-3, 0.5, 0]
[[objects.motion]]
translation = ["0.5*t", "0.1*sin(20*t)", 0]
rotation = { axis = [1, 2, 3], angle = "3000*t" }
[[objects]]
name = "cage"
as = "edges"
shape = { kind = "box", size = [0.2, 0.2, 0.1] }
translate = [3, 0.5, 0]
[[objects.motion]]
angular_velocity = [0, 400, 0]
[[objects]]
name = "table"
role = "obstacle"
shape = { kind = "plane", size = [1, 1] }
translate = [5, 0.1, 0]
[[objects]]
name = "folded"
role = "obstacle"
shape = { kind = "plane", size = [0.2, 0.2], cells = [2, 1] }
translate = [8, 0.5, 0]
[[objects.motion]]
vertices = { box = { min = [0.6, 0, 0], max = [1, 1, 1], relative = true } }
translation = [0, "0.2*t", 0]
[[objects.fixed]]
vertices = { box = { min = [0, 0, 0], max = [0.6, 1, 1], relative = true } }
"#;

/// Of the bodies in their order: whether they are written as one mesh that is moved.
const WHOLE: [(&str, bool); 6] = [
    ("dice", true),
    ("soft", false),
    ("paddle", true),
    ("cage", true),
    ("table", true),
    ("folded", false),
];

fn simulate(folder: &Path, set: &[&str]) -> PathBuf {
    simulate_text(SCENE, folder, set)
}

fn simulate_text(text: &str, folder: &Path, set: &[&str]) -> PathBuf {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &set).unwrap();
    let out = folder.join("run");
    let options = standoff_run::Options::default();
    run(&scene, &out, options, &mut |_| ControlFlow::Continue(())).unwrap();
    out
}

/// Largest distance that is promised: a part of the diagonal for what is moved as a whole, and the rounding of single numbers.
fn promised(body: &ExportedBody, x: &[Vec3]) -> f64 {
    let (low, high) = x.iter().fold((x[0], x[0]), |(l, h), p| (l.inf(p), h.sup(p)));
    let whole = WHOLE.iter().any(|(name, whole)| *name == body.name && *whole);
    let largest = x.iter().map(|p| p.amax()).fold(1.0, f64::max);
    2e-7 * largest + if whole { 1e-5 * (high - low).norm() } else { 0.0 }
}

fn require_near(body: &ExportedBody, found: &[Vec3], expected: &[Vec3], what: &str) {
    assert_eq!(found.len(), expected.len(), "{} {what}", body.name);
    let (mut found, mut expected) = (found.to_vec(), expected.to_vec());
    if !body.edges.is_empty() {
        // wires name their ends in the order of the edges; the corners of the cage differ by more than rounding
        let order = |p: &Vec3, q: &Vec3| {
            let key = |p: &Vec3| [p.x, p.y, p.z].map(|c| (c * 1e3).round() as i64);
            key(p).cmp(&key(q))
        };
        found.sort_by(order);
        expected.sort_by(order);
    }
    let bound = promised(body, &expected);
    for (p, q) in found.iter().zip(&expected) {
        assert!((p - q).norm() <= bound, "{} {what}: {p} {q}", body.name);
    }
}

/// The scene moves as it is meant to: the dice turns by more than half a turn and touches the ground, and the soft body is pressed.
#[test]
fn the_scene_shows_what_it_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let sequence = Sequence::open(&simulate(folder.path(), &[]), false).unwrap();
    let names: Vec<&str> = sequence.bodies().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, WHOLE.map(|(name, _)| name));
    let x = |frame: usize| sequence.positions(frame, 0..2).unwrap();
    let lowest = |x: &[Vec3]| x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let frames = sequence.steps().len();
    assert!((1..frames).any(|k| lowest(&x(k)[0]) < 0.002));
    let edge = |k: usize| (x(k)[0][1] - x(k)[0][0]).normalize();
    let turned: f64 = (1..frames).map(|k| edge(k).dot(&edge(k - 1)).clamp(-1.0, 1.0).acos()).sum();
    assert!(turned > std::f64::consts::PI, "{turned}");
    let height = |x: &[Vec3]| x.iter().map(|p| p.y).fold(0.0, f64::max) - lowest(x);
    assert!(height(&x(0)[1]) - height(&x(frames - 1)[1]) > 1e-5);
}

#[test]
fn usd_moves_rigid_bodies_by_transforms() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(folder.path(), &[]);
    let sequence = Sequence::open(&run, false).unwrap();
    let file = folder.path().join("run.usda");
    export(&run, &file, Options::default()).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    for (prim, (name, whole)) in text.split("    def ").skip(1).zip(WHOLE) {
        assert!(prim.contains(&format!("displayName = \"{name}\"")));
        assert_eq!(prim.contains("points.timeSamples"), !whole, "{name}");
        assert_eq!(prim.contains("xformOpOrder"), whole, "{name}");
        let turns = prim.contains("xformOp:orient.timeSamples");
        assert_eq!(turns, whole && name != "table", "{name}");
        let Some((_, samples)) = prim.split_once("xformOp:orient.timeSamples = {\n") else {
            continue;
        };
        let quaternions: Vec<Vec<f64>> = samples
            .lines()
            .map_while(|line| line.split_once(": (")?.1.strip_suffix("),"))
            .map(|row| row.split(", ").map(|c| c.parse().unwrap()).collect())
            .collect();
        require_continuous(&quaternions, sequence.steps().len(), name);
    }
    let (mesh, animation) =
        (format::read(&file).unwrap(), format::animation(&file).unwrap().unwrap());
    for (frame, time) in sequence.times().iter().enumerate() {
        let points = animation.at(*time).unwrap();
        let expected = sequence.positions(frame, 0..WHOLE.len()).unwrap();
        for ((body, region), expected) in sequence.bodies().iter().zip(&mesh.regions).zip(&expected)
        {
            let found: Vec<Vec3> = region.vertices.iter().map(|v| points[*v as usize]).collect();
            require_near(body, &found, expected, &format!("at {time} s in USD"));
        }
    }
}

/// Unit quaternions of all frames, each with the sign that is nearer to the one before.
fn require_continuous(quaternions: &[Vec<f64>], frames: usize, name: &str) {
    assert_eq!(quaternions.len(), frames, "{name}");
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    assert!(quaternions.iter().all(|q| (dot(q, q) - 1.0).abs() < 1e-6), "{name}");
    assert!(quaternions.windows(2).all(|w| dot(&w[0], &w[1]) > 0.0), "{name}");
    // more than a whole turn, after which the first sign is the wrong one
    let changes = quaternions.iter().any(|q| dot(q, &quaternions[0]) < 0.0);
    assert!(changes || name == "cage", "{name}");
}

/// The parts of a `.glb` file: the document, and a reader of its accessors.
struct Glb {
    document: Value,
    binary: Vec<u8>,
}

impl Glb {
    fn read(file: &Path) -> Self {
        let bytes = std::fs::read(file).unwrap();
        let end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let document = serde_json::from_slice(&bytes[20..end]).unwrap();
        Self { document, binary: bytes[end + 8..].to_vec() }
    }

    /// Elements of `n` numbers.
    fn rows(&self, accessor: &Value, n: usize) -> Vec<Vec<f64>> {
        let accessor = &self.document["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        let count = accessor["count"].as_u64().unwrap() as usize;
        assert_eq!(accessor["type"], ["SCALAR", "", "VEC3", "VEC4"][n - 1]);
        let words = self.binary[start..start + 4 * n * count].chunks_exact(4);
        let numbers: Vec<f64> =
            words.map(|c| f64::from(f32::from_le_bytes(c.try_into().unwrap()))).collect();
        numbers.chunks_exact(n).map(<[f64]>::to_vec).collect()
    }

    /// The output of the channel of a node.
    fn channel(&self, node: usize, path: &str, n: usize) -> Option<Vec<Vec<f64>>> {
        let animation = &self.document["animations"][0];
        let channel = animation["channels"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["target"]["node"] == node && c["target"]["path"] == path)?;
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        assert_eq!(sampler["interpolation"], "LINEAR");
        Some(self.rows(&sampler["output"], n))
    }

    /// Positions of a body in a frame, in the axes of the file.
    fn positions(&self, node: usize, frame: usize) -> Vec<Vec3> {
        let primitive = &self.document["meshes"][node]["primitives"][0];
        let vector = |row: &Vec<f64>| Vec3::from_column_slice(row);
        let mut own: Vec<Vec3> =
            self.rows(&primitive["attributes"]["POSITION"], 3).iter().map(vector).collect();
        if let (Some(targets), true) = (primitive["targets"].as_array(), frame > 0) {
            let differences = self.rows(&targets[frame - 1]["POSITION"], 3);
            own.iter_mut().zip(&differences).for_each(|(p, d)| *p += vector(d));
        }
        let turn = self.channel(node, "rotation", 4).map_or(Mat3::identity(), |all| {
            let [x, y, z, w] = all[frame][..] else { panic!() };
            let cross = Vec3::new(x, y, z).cross_matrix();
            Mat3::identity() + cross * (2.0 * w) + cross * cross * 2.0
        });
        let of_node = |c: usize| self.document["nodes"][node]["translation"][c].as_f64();
        let shift = match self.channel(node, "translation", 3) {
            Some(all) => vector(&all[frame]),
            None => Vec3::from_fn(|c, _| of_node(c).unwrap_or(0.0)),
        };
        own.iter().map(|p| turn * p + shift).collect()
    }
}

#[test]
fn gltf_moves_rigid_bodies_by_transforms() {
    let folder = tempfile::tempdir().unwrap();
    for (set, up) in [(&[][..], false), (&["gravity=[0, 0, -9.81]"][..], true)] {
        let base = folder.path().join(up.to_string());
        let run = simulate(&base, set);
        let sequence = Sequence::open(&run, false).unwrap();
        assert_eq!(sequence.z_up(), up);
        let file = base.join("run.glb");
        export(&run, &file, Options::default()).unwrap();
        let glb = Glb::read(&file);
        let frames = sequence.steps().len();
        for (k, (name, whole)) in WHOLE.iter().enumerate() {
            assert_eq!(glb.document["nodes"][k]["name"], *name);
            assert_eq!(glb.document["meshes"][k]["primitives"][0]["targets"].is_null(), *whole);
            assert_eq!(glb.channel(k, "weights", 1).is_some(), !whole, "{name}");
            let turn = glb.channel(k, "rotation", 4);
            assert_eq!(turn.is_some(), *whole && *name != "table", "{name}");
            if let Some(turn) = turn {
                require_continuous(&turn, frames, name);
            }
        }
        for frame in 0..frames {
            let expected = sequence.positions(frame, 0..WHOLE.len()).unwrap();
            for (k, body) in sequence.bodies().iter().enumerate() {
                let place = |p: &Vec3| if up { Vec3::new(p.x, p.z, -p.y) } else { *p };
                let x: Vec<Vec3> = expected[k].iter().map(place).collect();
                require_near(body, &glb.positions(k, frame), &x, &format!("frame {frame}, glTF"));
            }
        }
    }
}

/// The `run.json` of runs of before does not say which bodies are rigid: they are exported as what deforms, and resumed.
#[test]
fn runs_that_do_not_say_what_is_rigid_are_exported_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(folder.path(), &["time.end=0.05"]);
    let info = run.join("run.json");
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&info).unwrap()).unwrap();
    for body in document["bodies"].as_array_mut().unwrap() {
        let rigid = body.as_object_mut().unwrap().remove("rigid").unwrap();
        assert_eq!(rigid, body["name"] == "dice");
    }
    std::fs::write(&info, document.to_string()).unwrap();
    let file = folder.path().join("run.glb");
    export(&run, &file, Options::default()).unwrap();
    let glb = Glb::read(&file);
    assert!(glb.channel(0, "weights", 1).is_some() && glb.channel(2, "rotation", 4).is_some());
    let scene = Scene::load(&standoff_run::scene_file(&run), &["time.end=0.06".into()]).unwrap();
    let done = standoff_run::resume(&scene, &run, &mut |_| ControlFlow::Continue(()));
    assert!(done.is_ok(), "{:?}", done.err());
}

/// A scene of nothing that deforms has no morph targets: a body takes 28 bytes per frame, however many vertices it has.
#[test]
fn frames_of_a_rigid_body_take_28_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let dice = SCENE.split("[[objects]]\nname = \"soft\"").next().unwrap();
    let size = |end: &str| -> usize {
        let base = folder.path().join(end);
        let run = simulate_text(dice, &base, &[&format!("time.end={end}")]);
        let file = base.join("run.glb");
        export(&run, &file, Options::default()).unwrap();
        Glb::read(&file).binary.len()
    };
    // and 4 for the time
    assert_eq!(size("0.2") - size("0.1"), 10 * (28 + 4));
}
