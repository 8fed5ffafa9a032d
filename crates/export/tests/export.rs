//! Every format read back: each frame's positions, the topology, times and units.

use serde_json::Value;
use standoff_export::{ExportError, Options, Sequence, export};
use standoff_linalg::Vec3;
use standoff_mesh::format;
use standoff_run::run;
use standoff_scene::Scene;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// All kinds of bodies, one of which carries a surface.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.05 }
output = { every = 2 }
[materials.cloth]
shell = { thickness = "1 mm" }
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, layers = 3 }
translate = [0, 0.2, 0]
fill = { size = "60 mm", deviation = inf, carry_surface = true }
[[objects]]
name = "box"
shape = { kind = "box", size = [0.1, 0.1, 0.1] }
translate = [0.3, 0.2, 0]
array = { counts = [2, 1, 1], spacing = [0.2, 0, 0] }
[[objects]]
name = "cloth"
role = "shell"
material = "cloth"
shape = { kind = "plane", size = [0.2, 0.2], cells = [3, 3] }
translate = [0, 0.5, 0]
[[objects]]
name = "rod"
role = "rod"
radius = 0.002
shape = { kind = "polyline", segments = 5 }
translate = [0, 0.7, 0]
[[objects]]
name = "grains"
role = "particles"
radius = 0.01
shape = { kind = "points", size = [0.1, 0.1, 0.1], count = [2, 2, 2] }
translate = [2, 0.9, 0]
[[objects]]
name = "table"
role = "obstacle"
shape = { kind = "plane", size = [1, 1] }
translate = [5, 0.1, 0]
"#;

fn simulate(folder: &Path, set: &[&str]) -> PathBuf {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let scene = Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &set).unwrap();
    let out = folder.join("run");
    let options = standoff_run::Options::default();
    run(&scene, &out, options, &mut |_| ControlFlow::Continue(())).unwrap();
    out
}

/// Positions of every body in every frame.
fn all_positions(sequence: &Sequence) -> Vec<Vec<Vec<Vec3>>> {
    let bodies = sequence.bodies().len();
    (0..sequence.steps().len()).map(|f| sequence.positions(f, 0..bodies).unwrap()).collect()
}

/// A single number's relative error is half of 2⁻²³; differences add one more.
const SINGLE: f64 = 1.2e-7;

fn near(p: &Vec3, q: &Vec3) -> bool {
    (p - q).amax() <= SINGLE * p.amax().max(1.0)
}

#[test]
fn sequences_read_back_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(folder.path(), &[]);
    let sequence = Sequence::open(&run, false).unwrap();
    assert_eq!(sequence.steps(), [0, 2, 4, 5]);
    let names: Vec<&str> = sequence.bodies().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["ball", "box[0,0,0]", "box[1,0,0]", "cloth", "rod", "grains", "table"]);
    let ball = &sequence.bodies()[0];
    assert!(ball.carried);
    let coarse = Sequence::open(&run, true).unwrap();
    assert!(!coarse.bodies()[0].carried && coarse.bodies()[0].vertices != ball.vertices);
    let positions = all_positions(&sequence);
    for extension in ["ply", "obj", "stl"] {
        let file = folder.path().join(format!("all.{extension}"));
        let done = export(&run, &file, Options::default()).unwrap();
        assert_eq!((done.bodies, done.frames), (7, 4));
        assert!(done.files[1].ends_with(format!("all_000005.{extension}")), "{:?}", done.files);
        for (k, step) in sequence.steps().iter().enumerate() {
            let file = folder.path().join(format!("all_{step:06}.{extension}"));
            let mesh = format::read(&file).unwrap();
            let expected: Vec<Vec3> = positions[k].iter().flatten().copied().collect();
            let faces: usize = sequence.bodies().iter().map(|b| b.triangles.len()).sum();
            assert_eq!(mesh.triangles.len(), faces, "{extension}");
            if extension == "stl" {
                let corner = |v: u32| mesh.points[v as usize];
                let first = mesh.triangles[0].map(corner);
                let own = ball.triangles[0].map(|v| positions[k][0][v as usize]);
                assert!(first.iter().zip(&own).all(|(p, q)| near(p, q)));
            } else {
                assert_eq!(mesh.points, expected, "{extension}");
                assert_eq!(mesh.edges.len(), 5, "{extension}");
            }
        }
        assert!(matches!(export(&run, &file, Options::default()), Err(ExportError::Exists(_))));
        export(&run, &file, Options { force: true, ..Options::default() }).unwrap();
    }
    let error = export(&run, Path::new("run.fbx"), Options::default()).unwrap_err();
    assert!(error.to_string().contains(".usda, .glb"), "{error}");
    assert!(export(folder.path(), Path::new("x.glb"), Options::default()).is_err());
}

/// The surface is the same whether it is for display or touches; the tetrahedra are there for who asks.
#[test]
fn a_surface_that_touches_is_exported_as_one_that_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let [shown, touching] = ["false", "true"].map(|value| {
        let out = folder.path().join(value);
        simulate(&out, &[&format!("objects.ball.fill.collides={value}")])
    });
    for tetrahedra in [false, true] {
        let open = |run: &Path| Sequence::open(run, tetrahedra).unwrap();
        let (a, b) = (open(&shown), open(&touching));
        assert_eq!(a.bodies()[0].triangles, b.bodies()[0].triangles, "tetrahedra: {tetrahedra}");
        let (x, y) = (a.positions(0, 0..1).unwrap(), b.positions(0, 0..1).unwrap());
        assert!(x[0].len() == y[0].len() && x[0].iter().zip(&y[0]).all(|(x, y)| near(x, y)));
    }
}

#[test]
fn gltf_holds_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    // with z up, the file is turned to y
    for (set, up) in
        [(&[][..], false), (&["gravity=[0, 0, -9.81]", "objects.box.velocity=[0,-1,0]"][..], true)]
    {
        let base = folder.path().join(up.to_string());
        let run = simulate(&base, set);
        let sequence = Sequence::open(&run, false).unwrap();
        assert_eq!(sequence.z_up(), up);
        let file = base.join("run.glb");
        export(&run, &file, Options::default()).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
        let end = 20 + word(12);
        let document: Value = serde_json::from_slice(&bytes[20..end]).unwrap();
        let binary = &bytes[end + 8..];
        assert_eq!(word(end), binary.len());
        let floats = |accessor: &Value| -> Vec<f32> {
            let accessor = &document["accessors"][accessor.as_u64().unwrap() as usize];
            let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
            let start = view["byteOffset"].as_u64().unwrap() as usize;
            let length = view["byteLength"].as_u64().unwrap() as usize;
            let words = binary[start..start + length].chunks_exact(4);
            words.map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
        };
        let sampler = &document["animations"][0]["samplers"][0];
        let times = floats(&sampler["input"]);
        assert_eq!(times.len(), 4);
        assert!((times[3] - 0.05).abs() < 1e-8 && (times[1] - 0.02).abs() < 1e-8);
        let weights = floats(&sampler["output"]);
        assert_eq!(weights[..6], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let expected = all_positions(&sequence);
        for (b, mesh) in document["meshes"].as_array().unwrap().iter().enumerate() {
            assert_eq!(mesh["name"], sequence.bodies()[b].name.as_str());
            let primitive = &mesh["primitives"][0];
            let base = floats(&primitive["attributes"]["POSITION"]);
            let list = primitive["targets"].as_array().map_or(&[][..], |list| list);
            let targets: Vec<Vec<f32>> = list.iter().map(|t| floats(&t["POSITION"])).collect();
            // an obstacle that rests is a mesh somewhere else
            let table = sequence.bodies()[b].obstacle;
            assert_eq!(targets.len(), if table { 0 } else { 3 });
            let shift = |c: usize| document["nodes"][b]["translation"][c].as_f64();
            assert_eq!(shift(0).is_some(), table);
            for (frame, positions) in expected.iter().enumerate() {
                for (v, p) in positions[b].iter().enumerate() {
                    let shown = Vec3::from_fn(|c, _| {
                        let parts = targets.iter().enumerate().map(|(k, target)| {
                            f64::from(weights[3 * frame + k]) * f64::from(target[3 * v + c])
                        });
                        shift(c).unwrap_or(0.0) + f64::from(base[3 * v + c]) + parts.sum::<f64>()
                    });
                    let p = if up { Vec3::new(p.x, p.z, -p.y) } else { *p };
                    assert!(near(&p, &shown), "{p} {shown}");
                }
            }
        }
    }
}

#[test]
fn usd_holds_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(folder.path(), &[]);
    let sequence = Sequence::open(&run, false).unwrap();
    let file = folder.path().join("run.usda");
    export(&run, &file, Options::default()).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    for line in [
        "#usda 1.0",
        "metersPerUnit = 1",
        "upAxis = \"Y\"",
        "timeCodesPerSecond = 50",
        "endTimeCode = 2.5",
    ] {
        assert!(text.contains(line), "{line}: {}", &text[..400]);
    }
    let expected = all_positions(&sequence);
    let prims: Vec<&str> = text.split("    def ").skip(1).collect();
    assert_eq!(prims.len(), 7);
    for (b, prim) in prims.iter().enumerate() {
        let body = &sequence.bodies()[b];
        assert!(prim.contains(&format!("displayName = \"{}\"", body.name)));
        let kind = if !body.triangles.is_empty() {
            "Mesh"
        } else if body.points.is_empty() {
            "BasisCurves"
        } else {
            "Points"
        };
        assert!(prim.starts_with(kind), "{prim}");
        if body.obstacle {
            // it rests
            assert!(!prim.contains("timeSamples") && prim.contains("xformOp:translate = ("));
            continue;
        }
        let (_, rest) = prim.split_once("points.timeSamples = {\n").unwrap();
        let (block, _) = rest.split_once("        }\n").unwrap();
        let samples: Vec<(f64, Vec<f64>)> = block
            .lines()
            .map(|line| {
                let (code, values) = line.trim().split_once(": [").unwrap();
                let numbers = values.split(|c: char| "(), ]".contains(c)).filter(|s| !s.is_empty());
                (code.parse().unwrap(), numbers.map(|x| x.parse().unwrap()).collect())
            })
            .collect();
        assert_eq!(samples.iter().map(|s| s.0).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 2.5]);
        let order: Vec<u32> = match kind {
            "Mesh" => (0..body.vertices.len() as u32).collect(),
            "BasisCurves" => body.edges.iter().flatten().copied().collect(),
            _ => body.points.clone(),
        };
        for (frame, (_, values)) in samples.iter().enumerate() {
            assert_eq!(values.len(), 3 * order.len());
            for (v, c) in order.iter().zip(values.chunks_exact(3)) {
                let p = expected[frame][b][*v as usize];
                assert!(near(&p, &Vec3::new(c[0], c[1], c[2])));
            }
        }
    }
}

/// The first frame of USD and glTF, as a mesh of a scene: a region for each body, or each kind of its elements.
#[test]
fn exported_scenes_are_meshes() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(folder.path(), &[]);
    let sequence = Sequence::open(&run, false).unwrap();
    let positions = &all_positions(&sequence)[0];
    for extension in ["usda", "glb"] {
        let file = folder.path().join(format!("run.{extension}"));
        export(&run, &file, Options::default()).unwrap();
        let mesh = format::read(&file).unwrap();
        assert_eq!(mesh.regions.len(), sequence.bodies().len(), "{extension}");
        for ((body, own), region) in sequence.bodies().iter().zip(positions).zip(&mesh.regions) {
            // wires name their ends in the order of the edges
            let mut found: Vec<Vec3> =
                region.vertices.iter().map(|&v| mesh.points[v as usize]).collect();
            let mut own = own.clone();
            let order = |p: &Vec3, q: &Vec3| p.as_slice().partial_cmp(q.as_slice()).unwrap();
            if !body.edges.is_empty() {
                found.sort_by(order);
                own.sort_by(order);
            }
            assert_eq!(found.len(), own.len(), "{extension}, {}", body.name);
            assert!(found.iter().zip(&own).all(|(p, q)| near(p, q)), "{extension}, {}", body.name);
            assert_eq!(region.triangles.len(), body.triangles.len(), "{extension}, {}", body.name);
            assert_eq!(region.edges.len(), body.edges.len(), "{extension}, {}", body.name);
        }
    }
}
