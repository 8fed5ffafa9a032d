//! The reference's own scenes: each one imports, converts to an equal scene file, and starts where
//! the reference's runs start.

mod import_support;

use import_support::{masses, resolve, same};
use standoff_ipc_import::{Import, Problem};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyKind, Definition, Motion};
use standoff_testkit::{shared, testdata, testdata_json};
use std::path::{Path, PathBuf};

/// All scene files below a folder, sorted.
fn scenes(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "txt") => all.push(path),
                false => {}
            }
        }
    }
    all.sort();
    all
}

/// Scenes whose meshes are not in the data.
const WITHOUT_MESHES: [&str; 12] = [
    "otherExamples/varyResolution/bar-test.txt",
    "paperExamples/14_matTwist.txt",
    "paperExamples/16_armaRoller_E1e5.txt",
    "paperExamples/21_scalability/armadillo122K_twist.txt",
    "paperExamples/21_scalability/armadillo219K_twist.txt",
    "paperExamples/21_scalability/armadillo28K_twist.txt",
    "paperExamples/21_scalability/armadillo54K_twist.txt",
    "paperExamples/21_scalability/mat150x150_twist.txt",
    "paperExamples/21_scalability/mat225x225_twist.txt",
    "paperExamples/videoExamples/armaRoller_stickSlip.txt",
    "paperExamples/videoExamples/heavyBallHit.txt",
    "tutorialExamples/advanced/2cubesFall_rotateCO_meshSeq.txt",
];

/// Scenes whose meshes are too large for the repository.
const LARGE: [&str; 3] = [
    "paperExamples/21_scalability/armadillo13K_twist.txt",
    "paperExamples/21_scalability/mat100x100_twist.txt",
    "paperExamples/4_rodsTwist.txt",
];

#[test]
fn scenes_with_large_meshes_import_and_convert() {
    let Some(folder) = shared("data/ipc/scenes") else { return };
    for name in LARGE {
        let import = Import::load(&folder.join(name), &[]).unwrap_or_else(|e| panic!("{e}"));
        let converted = resolve(&import, &folder).unwrap_or_else(|e| panic!("{name}: {e}"));
        same(&import.definition(), &converted.definition).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn every_scene_with_meshes_imports_and_converts() {
    let folder = testdata("data/ipc/scenes");
    let (mut failures, mut imported) = (Vec::new(), 0);
    let missing = [&WITHOUT_MESHES[..], &LARGE].concat();
    for path in scenes(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let expected = !missing.contains(&name.as_str());
        match Import::load(&path, &[]) {
            Ok(_) if !expected => failures.push(format!("{name} imports without its meshes")),
            Ok(import) => {
                imported += 1;
                let result = resolve(&import, &folder)
                    .and_then(|s| same(&import.definition(), &s.definition));
                failures.extend(result.err().map(|e| format!("{name}: {e}")));
            }
            Err(e) if expected => failures.push(e.to_string()),
            Err(e) => {
                if !matches!(e.problem, Problem::MissingMesh { .. }) {
                    failures.push(e.to_string());
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(imported, scenes(&folder).len() - WITHOUT_MESHES.len() - LARGE.len());
}

/// Imports a scene that the reference was run with.
fn run_scene(name: &str) -> Import {
    let path = testdata(&format!("reference/ipc/{name}/scene.txt"));
    Import::load(&path, &[testdata("data/ipc")]).unwrap()
}

/// Positions of all listed shapes after a number of steps of the reference.
fn run_positions(name: &str, step: &str) -> Vec<Vec3> {
    let all = testdata_json(&format!("reference/ipc/{name}/positions.json"));
    let numbers = standoff_testkit::numbers(&all[step]);
    numbers.chunks(3).map(Vec3::from_column_slice).collect()
}

/// Start positions of the first `count` vertices.
fn start(definition: &Definition, count: usize) -> Vec<Vec3> {
    let of = |b: &standoff_sim::definition::BodyDef| {
        if b.start.is_empty() { b.rest.clone() } else { b.start.clone() }
    };
    definition.bodies.iter().flat_map(of).take(count).collect()
}

#[test]
fn every_scene_of_a_reference_run_imports() {
    let folder = testdata("reference/ipc");
    let data = testdata("data/ipc");
    for path in scenes(&folder) {
        let name = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let import =
            Import::load(&path, std::slice::from_ref(&data)).unwrap_or_else(|e| panic!("{e}"));
        let definition = import.definition();
        same(&definition, &resolve(&import, &folder).unwrap().definition).unwrap();
        // the first vertices are those of the reference's positions, which leave out obstacles
        let all = testdata_json(&format!("reference/ipc/{name}/positions.json"));
        let count = all.as_object().unwrap().values().next().unwrap().as_array().unwrap().len();
        let shapes = import.scene.shapes.len();
        let own: usize = definition.bodies[..shapes].iter().map(|b| b.rest.len()).sum();
        assert_eq!(own, count, "{name}");
    }
}

#[test]
fn free_fall_follows_the_start_positions() {
    // until the first contact the reference's bodies fall by g h² k (k + 1)/2 in k steps
    for (name, h) in [("2cubesFall", 0.025), ("tut_2cubesFall_smallerDt", 0.005), ("tetTet", 0.025)]
    {
        let import = run_scene(name);
        let expected = run_positions(name, "10");
        let start = start(&import.definition(), expected.len());
        let fall = Vec3::new(0.0, -9.80665 * h * h * 55.0, 0.0);
        for (x, y) in start.iter().zip(&expected) {
            assert!((x + fall - y).amax() < 1e-9, "{name}: {x:?} and {y:?}");
        }
    }
}

#[test]
fn prescribed_vertices_end_where_the_reference_has_them() {
    let runs = [
        "mat40Twist",
        "tut_2cubesFall_DBC",
        "tut_2cubesFall_DBC_timeRange",
        "tut_2cubesFall_rotateCO",
        "tut_2cubesFall_rotateCO_closedSurface",
        "tut_2cubesFall_rotateCO_edges",
        "tut_2cubesFall_rotateCO_points",
        "tut_2cubesFall_rotateCO_triangle",
        "tut_2cubesFall_translateCO",
        "matKnives",
        "erl_spikePlane",
    ];
    for name in runs {
        let import = run_scene(name);
        let all = testdata_json(&format!("reference/ipc/{name}/positions.json"));
        let definition = import.definition();
        let (mut steps, mut compared) = (0, 0);
        let mut motion = Follow::new(&definition);
        let mut times: Vec<usize> =
            all.as_object().unwrap().keys().map(|k| k.parse().unwrap()).collect();
        times.sort_unstable();
        for time in times {
            while steps < time {
                motion.step(&definition, steps);
                steps += 1;
            }
            let expected = run_positions(name, &time.to_string());
            for (v, (x, y)) in motion.x.iter().zip(&expected).enumerate() {
                if motion.prescribed[v] {
                    compared += 1;
                    // steps may end 0.1 % short of the way
                    assert!((x - y).norm() < 1e-3, "{name}, step {time}, vertex {v}: {x:?} {y:?}");
                }
            }
        }
        assert!(compared > 0, "{name}");
    }
}

/// Prescribed vertices alone, moved as `PrescribedDef` says.
struct Follow {
    x: Vec<Vec3>,
    prescribed: Vec<bool>,
    first: Vec<usize>,
    start: Vec<Vec3>,
}

impl Follow {
    fn new(definition: &Definition) -> Self {
        let x = start(definition, usize::MAX);
        let mut first = vec![0];
        first.extend(definition.bodies.iter().scan(0, |n, b| {
            *n += b.rest.len();
            Some(*n)
        }));
        // obstacles stay put unless they are moved
        let prescribed = definition
            .bodies
            .iter()
            .flat_map(|b| vec![matches!(b.kind, BodyKind::Obstacle { .. }); b.rest.len()])
            .collect();
        Self { prescribed, start: x.clone(), x, first }
    }

    fn step(&mut self, definition: &Definition, step: usize) {
        use standoff_linalg::nalgebra::Rotation3;
        use standoff_sim::definition::Pivot;
        let h = definition.settings.time.step;
        let t = step as f64 * h;
        let mut dx = vec![Vec3::zeros(); self.x.len()];
        for p in definition.prescribed.iter().filter(|p| p.t0 <= t && t < p.t1) {
            let first = self.first[p.body];
            let vertices: Vec<usize> = p.vertices.iter().map(|v| first + *v as usize).collect();
            let centre = |x: &[Vec3]| {
                let set = vertices.iter().map(|v| x[*v]);
                let (lo, hi) =
                    set.fold((x[vertices[0]], x[vertices[0]]), |(l, h), x| (l.inf(&x), h.sup(&x)));
                (lo + hi) / 2.0
            };
            for &v in &vertices {
                self.prescribed[v] = true;
                let Motion::Rigid { linear, angular, pivot } = p.motion else { continue };
                let pivot = match pivot {
                    Pivot::Point(p) => p,
                    Pivot::StartCentre => centre(&self.start),
                    Pivot::CurrentCentre => centre(&self.x),
                };
                let turned = Rotation3::new(angular * h) * (self.x[v] - pivot) + pivot;
                dx[v] += turned - self.x[v] + h * linear;
            }
        }
        self.x.iter_mut().zip(dx).for_each(|(x, d)| *x += d);
    }
}

#[test]
fn observations_of_the_reference_hold() {
    // handles, ℓ, tolerance and κ_min of the twisted mat
    let import = run_scene("mat40Twist");
    let definition = import.definition();
    let l2 = import.length * import.length;
    assert!((l2 - 2.000064).abs() < 1e-9, "{l2}");
    let settings = &definition.settings;
    assert!((settings.contact.d_hat.unwrap().powi(2) - 2.00006e-6).abs() < 5e-12);
    let tolerance = settings.solver.end.velocity.unwrap() * 0.04;
    assert!((tolerance - 5.657e-4).abs() < 5e-8, "{tolerance}");
    let [left, right] = &definition.prescribed[..] else { panic!("two handles are expected") };
    assert_eq!((left.vertices.len(), right.vertices.len()), (80, 80));
    for (handle, x) in [(left, 0.0), (right, 1.0)] {
        let at = |v: &u32| (definition.bodies[0].rest[*v as usize].x - x).abs() < 1e-12;
        assert!(handle.vertices.iter().all(at));
    }
    // κ_min = 1e11 m̄/(4 s₀ b″(s₀, d̂²)) with s₀ = 1e-16 ℓ²
    let masses = masses(&definition);
    let mean = masses.iter().sum::<f64>() / masses.len() as f64;
    let (s, s_hat) = (1e-16 * l2, settings.contact.d_hat.unwrap().powi(2));
    let curvature = -2.0 * (s / s_hat).ln() - 4.0 * (s - s_hat) / s + ((s - s_hat) / s).powi(2);
    let kappa = 1e11 * mean / (4.0 * s * curvature);
    assert!((kappa - 3124.9).abs() < 0.1, "{kappa}");
}

#[test]
fn stretched_mat_and_timed_boxes_select_what_the_reference_selects() {
    let folder = testdata("data/ipc/scenes");
    let load = |name: &str| Import::load(&folder.join(name), &[]).unwrap().definition();
    let mat = load("paperExamples/12_sphereOnMat.txt");
    let pulled: Vec<_> =
        mat.prescribed.iter().filter(|p| matches!(p.motion, Motion::Rigid { .. })).collect();
    assert_eq!(pulled.iter().map(|p| p.vertices.len()).collect::<Vec<_>>(), [80, 80]);
    // one vertical edge of the second cube moves, the opposite one is held
    let timed = load("tutorialExamples/BC/2cubesFall_DBC_timeRange.txt");
    let nodes = |k: usize| {
        let p = &timed.prescribed[k];
        p.vertices.iter().map(|v| v + 8 * p.body as u32).collect::<Vec<_>>()
    };
    assert_eq!((nodes(0), nodes(2)), (vec![8, 12], vec![10, 14]));
    // every fourth of the 1 + 441 + 441 shapes' halves: the top bed starts at index 442
    let beds = load("paperExamples/17_pinCushionBall.txt");
    assert_eq!(beds.bodies.len(), 883);
    let moved: Vec<_> = beds.prescribed.iter().map(|p| p.body).collect();
    assert_eq!(moved, (442..883).collect::<Vec<_>>());
}
