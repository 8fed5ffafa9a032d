//! The audit of a folder finds in its frames what the audit of the simulation finds in the same
//! positions, and the check of a scene says what it holds.

use standoff_linalg::Vec3;
use standoff_run::{FrameData, RunFolder, audit, check};
use standoff_scene::Scene;
use standoff_sim::audit::violations;
use standoff_sim::build::build;
use standoff_testkit::Random;
use std::path::Path;

/// Every kind of body, apart from each other.
const SCENE: &str = r#"
ground = -2.2
[materials.cloth]
young_modulus = 1e4
shell = { thickness = "2 mm", stretch_limit = 1.2 }
[materials.canvas.shell]
thickness = "2 mm"
orthotropic = { young_moduli = [1e4, 1e4], poisson_ratio = 0.2, shear_modulus = 4e3, fibre = [1, 0, 1], strain_limits = [0.15, 0.2, 0.1] }
[[objects]]
name = "ball"
shape = { kind = "sphere", layers = 2 }
[[objects]]
name = "twin"
shape = { kind = "sphere", layers = 2 }
translate = [0.1, 0, 0]
ignore = ["ball"]
[[objects]]
name = "cloth"
role = "shell"
material = "cloth"
shape = { kind = "plane", size = [2, 2], cells = [3, 3] }
translate = [0, 2, 0]
[[objects]]
name = "canvas"
role = "shell"
material = "canvas"
shape = { kind = "plane", size = [2, 2], cells = [3, 3] }
translate = [0, 3, 0]
self_contact = false
[[objects]]
name = "rod"
role = "rod"
radius = 0.01
shape = { kind = "polyline", segments = 5 }
translate = [0, 4, 0]
[[objects]]
name = "grains"
role = "particles"
radius = 0.05
shape = { kind = "points", count = [2, 2, 2], size = [0.3, 0.3, 0.3] }
translate = [3, 0, 0]
[[objects]]
name = "table"
role = "obstacle"
shape = { kind = "plane", size = [8, 8] }
translate = [0, -2, 0]
"#;

fn scene() -> Scene {
    Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
}

#[test]
fn frames_are_audited_like_the_simulation() {
    let scene = scene();
    let (model, state) = build(&scene.definition).unwrap();
    let n = model.vertex_count();
    let mut random = Random::new(1);
    let mut kinds = [
        "meets",
        "inverted or flat",
        "strain limit",
        "their thickness",
        "behind the plane of half-space 'ground'",
    ]
    .map(|kind| (kind, 0));
    for size in [0.0, 0.2, 0.4, 1.5, 4.0] {
        let x: Vec<Vec3> = state.x[..n]
            .iter()
            .zip(&model.deformable)
            .map(|(x, free)| {
                let step = 0.5 * random.vec3() * size;
                if *free { x + step } else { *x }
            })
            .collect();
        let mut all = x.clone();
        all.resize(state.x.len(), Vec3::zeros());
        let mut expected: Vec<String> =
            violations(&model, &all).iter().map(|v| v.describe(&model)).collect();

        let folder = tempfile::tempdir().unwrap();
        let mut run = RunFolder::create(folder.path(), &scene, false).unwrap();
        run.write_frame(&FrameData { positions: &x, ..FrameData::default() }).unwrap();
        let mut found = Vec::new();
        let report = audit(folder.path(), &mut |f| found.extend(f.faults.clone())).unwrap();
        assert_eq!((report.frames, report.faults), (1, found.len()));
        assert_eq!(report.bad_frames, usize::from(size > 0.0));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "size {size}");
        for (kind, count) in &mut kinds {
            *count += found.iter().filter(|f| f.contains(*kind)).count();
        }
        // what ignores each other is left alone
        let both = |f: &&String| f.contains("'ball'") && f.contains("'twin'");
        assert_eq!(found.iter().find(both), None);
    }
    assert!(kinds.iter().all(|(_, count)| *count > 0), "{kinds:?}");
}

#[test]
fn a_damaged_list_of_bodies_is_an_error() {
    let scene = scene();
    let folder = tempfile::tempdir().unwrap();
    let mut run = RunFolder::create(folder.path(), &scene, false).unwrap();
    let x: Vec<Vec3> = run.topology().rest.clone();
    run.write_frame(&FrameData { positions: &x, ..FrameData::default() }).unwrap();
    let file = folder.path().join("run.json");
    let good = std::fs::read_to_string(&file).unwrap();
    for (from, to, says) in [
        ("\"first_vertex\": 0", "\"first_vertex\": 4294967295", "not in order"),
        (
            "\"vertices\": 4,\n      \"contact_thickness\": 0.0",
            "\"vertices\": 5,\n      \"contact_thickness\": 0.0",
            "the frames have",
        ),
        ("\"no_contact\": [", "\"no_contact\": [[0, 99],", "no bodies 0 and 99"),
        ("1.0,\n        0.0\n      ]", "0.0,\n        0.0\n      ]", "no normal"),
    ] {
        assert!(good.contains(from), "{from} is not in {good}");
        std::fs::write(&file, good.replacen(from, to, 1)).unwrap();
        let error = audit(folder.path(), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("run.json"), "{error}");
    }
}

#[test]
fn a_check_is_data() {
    let scene = scene();
    let report = check(&scene).unwrap();
    assert_eq!(report.bodies.len(), 7);
    let ball = &report.bodies[0];
    let volume = ball.quality.volume.unwrap();
    assert!((ball.mass.unwrap() - 1000.0 * volume).abs() < 1e-9);
    assert_eq!(report.steps, 100);
    // ball and twin overlap, but ignore each other
    assert_eq!(report.violations, Vec::<String>::new());
    let ground = &report.half_spaces[0];
    assert!(ground.name == "ground" && ground.vertex.contains("of 'ball'"), "{ground:?}");
    assert!(report.memory > 1e7 && report.memory_in_contact > report.memory);
}

/// Bodies that got through each other between two frames without a trace, which no frame by itself shows: a ball into and out
/// of a box, grains into a ball, a ball out of a closed cloth. What was inside from the start may stay.
#[test]
fn what_passed_through_a_surface_is_found() {
    let text = r#"
[materials.cloth.shell]
thickness = "1 mm"
[[objects]]
name = "box"
shape = { kind = "box", size = [2, 2, 2] }
translate = [5, 0, 0]
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.3, layers = 2 }
[[objects]]
name = "balloon"
role = "shell"
material = "cloth"
shape = { kind = "sphere", radius = 1.0, surface = true }
[[objects]]
name = "ghost"
shape = { kind = "sphere", radius = 0.3, layers = 2 }
translate = [0, 5, 0]
ignore = ["box"]
[[objects]]
name = "grain"
role = "particles"
radius = 0.01
shape = { kind = "points", count = [1, 1, 1] }
translate = [0, -5, 0]
"#;
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut run = RunFolder::create(folder.path(), &scene, false).unwrap();
    let rest = run.topology().rest.clone();
    let of = |body: usize| {
        let body = &run.topology().bodies[body];
        body.first_vertex as usize..(body.first_vertex + body.vertices) as usize
    };
    let ranges = [0, 1, 2, 3, 4].map(of);
    let moved = |moves: &[(usize, [f64; 3])]| {
        let mut x = rest.clone();
        for (body, by) in moves {
            x[ranges[*body].clone()].iter_mut().for_each(|p| *p += Vec3::from(*by));
        }
        x
    };
    let frames = [
        // as it began, a ball within a balloon; and all together elsewhere
        (moved(&[]), vec![]),
        (moved(&[(1, [9.0, 9.0, 9.0]), (2, [9.0, 9.0, 9.0])]), vec![]),
        // the ball leaves the balloon, and gets into the box
        (moved(&[(1, [2.0, 0.0, 0.0])]), vec!["outside of the closed surface of 'balloon'"]),
        (
            moved(&[(1, [5.0, 0.0, 0.0])]),
            vec![
                "inside the closed surface of 'box'",
                "outside of the closed surface of 'balloon'",
            ],
        ),
        // a grain in the ball, which is in the balloon
        (
            moved(&[(4, [0.0, 5.0, 0.1])]),
            vec!["inside the closed surface of 'ball'", "inside the closed surface of 'balloon'"],
        ),
        // they ignore each other
        (moved(&[(3, [5.0, -5.0, 0.0])]), vec![]),
    ];
    for (step, (x, _)) in (0..).zip(&frames) {
        let data = FrameData { step, positions: x, ..FrameData::default() };
        run.write_frame(&data).unwrap();
    }
    let mut found: Vec<Vec<String>> = vec![Vec::new(); 6];
    audit(folder.path(), &mut |frame| {
        let name = frame.file.file_stem().unwrap().to_str().unwrap().parse::<usize>().unwrap();
        found[name].clone_from(&frame.faults);
    })
    .unwrap();
    for (k, ((_, expected), found)) in frames.iter().zip(&found).enumerate() {
        assert_eq!(found.len(), expected.len(), "frame {k}: {found:?}");
        for says in expected {
            assert!(found.iter().any(|f| f.contains(says)), "frame {k}: {found:?}");
        }
    }
}

/// Cloths that begin apart and end on each other: how many pairs that makes, and what memory they take, was measured for
/// 4 × 41², 10 × 92² and single sheets of 81² and 161² vertices (peak of the process).
#[test]
fn memory_of_stacked_cloths() {
    let text = |cloths: usize, cells: usize, size: f64, d_hat: f64| {
        let mut text = format!(
            "contact = {{ d_hat = {d_hat} }}\n[materials.c.shell]\nthickness = \"0.3 mm\"\n"
        );
        for k in 0..cloths {
            text.push_str(&format!(
                "[[objects]]\nname = \"c{k}\"\nrole = \"shell\"\nmaterial = \"c\"\nshape = {{ kind = \"plane\", \
                 size = [{size}, {size}], cells = [{cells}, {cells}] }}\ntranslate = [0, {}, 0]\n",
                0.01 * k as f64
            ));
        }
        Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
    };
    // cloths, cells, size, d̂, pairs in contact, peak in MB with them
    for (cloths, cells, size, d_hat, pairs, peak) in [
        (4, 40, 0.5, 1e-3, 49_089, 152.4 * 1.024),
        (1, 80, 0.5, 1e-3, 7_196, 70.1 * 1.024),
        (1, 160, 0.5, 1e-3, 27_184, 254.2 * 1.024),
        (10, 91, 1.0, 1e-3, 1_021_884, 2_820.0 * 1.049),
    ] {
        let scene = text(cloths, cells, size, d_hat);
        let with = standoff_run::memory(&scene.definition, pairs) / 1e6;
        assert!((0.7..1.5).contains(&(with / peak)), "{cloths} × {cells}²: {with} of {peak} MB");
        if cloths == 4 {
            let report = check(&scene).unwrap();
            let estimate = report.memory_in_contact / 1e6;
            assert!(
                (0.6..1.7).contains(&(estimate / peak)),
                "{cloths} × {cells}²: {estimate} of {peak} MB"
            );
            assert!(report.memory / 1e6 < 0.5 * estimate);
        }
    }
}

/// Volumes and rods against the peaks of runs with one thread, most of them in `docs/at-size.json`.
#[test]
fn memory_of_volumes_and_rods() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let estimate = |name: &str, set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let scene = Scene::load(&scenes.join(name).with_extension("toml"), &set).unwrap();
        check(&scene).unwrap().memory
    };
    // scene, settings, peak in MiB
    for (name, set, peak) in [
        // d̂ is longer than edges, and a million pairs are within it, which the barrier-free solver never sees
        ("stress/fine-ball", &["objects.ball.shape.layers=16"][..], 143.5),
        (
            "codim/hair-clusters",
            &[
                "objects.falling.array.counts=[1, 12, 12]",
                "objects.hanging.array.counts=[12, 12, 1]",
            ],
            98.5,
        ),
        (
            "twisted-mat",
            &["objects.mat.shape.cells=[149, 149]", "objects.mat.shape.thickness=\"6.7 mm\""],
            408.0,
        ),
        ("engineering/creep", &["objects.pad.shape.cells=[20, 20, 20]"], 149.0),
        ("engineering/spring-back", &["objects.strip.shape.cells=[60, 6, 8]"], 374.6),
        ("codim/noodles", &[], 33.9),
        ("two-cubes-fall", &[], 27.4),
    ] {
        let ratio = estimate(name, set) / (1.048_576e6 * peak);
        assert!((0.5..2.0).contains(&ratio), "{name}: {ratio} of the peak");
    }
    // vertices and segments of one rod in place of many, peak in MiB
    for (vertices, segments, peak) in [
        (90_864, 88_600, 857.0),
        (77_836, 76_560, 715.0),
        (126_821, 125_000, 1_064.0),
        (51_196, 25_000, 302.0),
    ] {
        let line = format!(
            "[materials.m]\nyoung_modulus = \"1 MPa\"\npoisson_ratio = 0.3\ndensity = 1000\n[[objects]]\nname = \"rod\"\n\
             role = \"rod\"\nradius = \"1 mm\"\nmaterial = \"m\"\nshape = {{ kind = \"polyline\", segments = {segments}, \
             points = [[0, 0, 0], [{}, 0, 0]] }}\n",
            0.01 * f64::from(segments)
        );
        let scene = Scene::parse(&line, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        let more = 500.0 * f64::from(vertices - segments - 1);
        let ratio = (standoff_run::memory(&scene.definition, 0) + more) / (1.048_576e6 * peak);
        assert!((0.5..2.0).contains(&ratio), "{segments} segments: {ratio} of the peak");
    }
}
