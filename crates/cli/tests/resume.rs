//! Runs that are stopped in every way and go on: nothing is lost, nothing is doubled, no bit differs.

mod runs_support;

use runs_support::{good, path, results, same_results, standoff, text};
use standoff_geometry::distance::{edge_edge_d2, point_edge_d2, point_point_d2, point_triangle_d2};
use standoff_linalg::Vec3;
use standoff_run::{RunInfo, read_frame};
use standoff_testkit::Random;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A plate that turns carries a block that carries another: prescribed motion, friction, contact.
const SCENE: &str = r#"
ground = -1
time = { step = 0.01, end = 0.3, integrator = "bdf2" }
contact = { d_hat = 0.01 }
friction = { coefficient = 0.3 }
output = { every = 2, checkpoint_every = 3, surface_obj = true }
[[objects]]
name = "low"
shape = { kind = "box", size = [0.4, 0.3, 0.4], cells = [2, 1, 2] }
translate = [0, 0.205, 0]
[[objects]]
name = "high"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
translate = [0.03, 0.54, 0.05]
rotate = [0, 20, 0]
[[objects]]
name = "plate"
role = "obstacle"
shape = { kind = "box", size = [2, 0.1, 2] }
[[objects.motion]]
angular_velocity = [0, 60, 0]
velocity = [0, 0.4, 0]
end = 0.2
"#;

/// A folder with a scene and its uninterrupted run.
fn reference(scene: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("scene.toml"), folder.path().join("reference"));
    fs::write(&file, scene).unwrap();
    good(&["run", path(&file), "-o", path(&run), "--quiet"]);
    (folder, file, run)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// What kills of processes did.
#[derive(Default)]
struct Kills {
    /// Processes that were killed.
    all: usize,
    /// Of these in the first 0.1 s.
    early: usize,
    /// Of these while they resumed.
    resuming: usize,
    /// How often `resume` found nothing to resume, so that `run` started again from the beginning.
    begun_anew: usize,
    /// Runs that they belong to.
    runs: usize,
}

/// Kills runs at random instants, a third and more of them in the first 0.1 s, until there were `kills`. After each, `resume`
/// goes on, or plain `run` where nothing was done; every run ends with the bits of an undisturbed one.
fn kill_at_random_instants(kills: usize, seed: u64, options: &[&str]) -> Kills {
    let (folder, scene, undisturbed) = (tempfile::tempdir().unwrap(), "scene.toml", "undisturbed");
    let (scene, undisturbed) = (folder.path().join(scene), folder.path().join(undisturbed));
    fs::write(&scene, SCENE).unwrap();
    let begin = |out: &Path| -> Vec<String> {
        let args = ["run", path(&scene), "-o", path(out), "--quiet"];
        args.iter().chain(options).map(|a| (*a).to_owned()).collect()
    };
    let clock = Instant::now();
    good(&begin(&undisturbed).iter().map(String::as_str).collect::<Vec<_>>());
    let whole = clock.elapsed().as_secs_f64();
    let mut random = Random::new(seed);
    let mut done = Kills::default();
    while done.all < kills {
        let out = folder.path().join(format!("run-{}", done.runs));
        done.runs += 1;
        let mut args = begin(&out);
        loop {
            let threads = ["1", "2", "3"][random.below(3) as usize];
            let instant = match random.below(3) {
                0 => random.uniform(0.0, 0.1),
                _ => random.uniform(0.0, whole),
            };
            let mut child = Command::new(env!("CARGO_BIN_EXE_standoff"))
                .args(&args)
                .args(["--threads", threads])
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_secs_f64(instant));
            // SIGKILL; nothing happens where the process has ended
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let said = text(&output.stderr);
            let resuming = args[0] == "resume";
            match output.status.code() {
                None => {
                    done.all += 1;
                    done.early += usize::from(instant < 0.1);
                    done.resuming += usize::from(resuming);
                }
                Some(0) => break,
                Some(2) if resuming => {
                    // killed before there was anything to resume, as the message says
                    assert!(said.contains("standoff run"), "{said}");
                    assert!(!out.join("checkpoints/000000.ckpt").exists(), "{said}");
                    done.begun_anew += 1;
                    args = begin(&out);
                    continue;
                }
                code => panic!("{args:?}: {code:?}: {said}"),
            }
            args = ["resume", path(&out), "--quiet"].map(str::to_owned).to_vec();
        }
        same_results(&undisturbed, &out);
        fs::remove_dir_all(&out).unwrap();
    }
    println!(
        "{} kills in {} runs {}: {} in the first 0.1 s, {} while resuming; {} times begun anew",
        done.all,
        done.runs,
        options.join(" "),
        done.early,
        done.resuming,
        done.begun_anew
    );
    done
}

/// A few of [`two_hundred_kills_at_random_instants`].
#[test]
fn killed_at_random_instants() {
    for (seed, solver) in [(7, "barrier"), (8, "barrier-free")] {
        let done = kill_at_random_instants(8, seed, &["--solver", solver]);
        assert!(done.all >= 8 && done.resuming > 0);
    }
}

/// cargo test --workspace --test resume -- --ignored --nocapture two_hundred
#[test]
#[ignore = "takes minutes"]
fn two_hundred_kills_at_random_instants() {
    for (seed, solver) in [(1, "barrier"), (2, "barrier-free")] {
        let done = kill_at_random_instants(100, seed, &["--solver", solver]);
        assert!(done.all >= 100 && done.early >= 20 && done.resuming >= 20);
        assert!(done.begun_anew > 0, "no kill came before the first checkpoint");
    }
}

/// What a kill before the first step can leave: plain `run` starts again from the beginning, and replaces nothing that is of value.
#[test]
fn killed_before_the_first_step() {
    let (folder, scene, reference) = reference(SCENE);
    let begun = folder.path().join("begun");
    good(&["run", path(&scene), "-o", path(&begun), "--quiet", "--steps", "1"]);
    for name in ["checkpoints/000001.ckpt", "frames/000001.vtu", "surface/000001.obj"] {
        fs::remove_file(begun.join(name)).unwrap();
    }
    fs::write(begun.join("stats.jsonl"), "").unwrap();
    let remove = |out: &Path, names: &[&str]| {
        names.iter().for_each(|name| fs::remove_file(out.join(name)).unwrap());
    };
    // in the order in which they are written, the last first
    let files = [
        "checkpoints/000000.ckpt",
        "run.pvd",
        "surface/000000.obj",
        "frames/000000.vtu",
        "stats.jsonl",
        "scene.resolved.toml",
        "run.json",
    ];
    for count in 1..=files.len() {
        let out = folder.path().join(format!("without-{count}"));
        copy(&begun, &out);
        remove(&out, &files[..count]);
        fs::write(out.join(".run.json.1.standoff-tmp"), "{").unwrap();
        let output = standoff(&["resume", path(&out), "--quiet"]);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains("standoff run"), "{said}");
        good(&["run", path(&scene), "-o", path(&out), "--quiet"]);
        same_results(&reference, &out);
    }
    // what may be of value is kept: results of steps, and a file that another program wrote
    let refused = |out: &Path| {
        let output = standoff(&["run", path(&scene), "-o", path(out), "--quiet"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("already holds a run"), "{said}");
    };
    refused(&begun);
    let out = folder.path().join("a step");
    copy(&begun, &out);
    remove(&out, &files[..1]);
    fs::write(out.join("stats.jsonl"), "{}\n").unwrap();
    refused(&out);
    let out = folder.path().join("foreign");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("run.json"), "{\"mine\": true}\n").unwrap();
    refused(&out);
}

/// What a kill between any two operations on files can leave, one after the other.
#[test]
fn killed_between_two_files() {
    let (folder, scene, reference) = reference(SCENE);
    let partial = folder.path().join("partial");
    good(&["run", path(&scene), "-o", path(&partial), "--quiet", "--steps", "13"]);
    // the checkpoints are those of steps 12 and 13, perhaps with an earlier one; frame 13 is not one
    // that the settings ask for
    let full = |name: &str| fs::read(reference.join(name)).unwrap();
    let toml = full("scene.resolved.toml");
    let line = |step: usize| {
        let stats = text(&full("stats.jsonl"));
        stats.lines().nth(step - 1).unwrap().to_owned() + "\n"
    };
    let append = |out: &Path, what: &str| {
        let old = fs::read(out.join("stats.jsonl")).unwrap();
        fs::write(out.join("stats.jsonl"), [&old, what.as_bytes()].concat()).unwrap();
    };
    let remove = |out: &Path, name: &str| fs::remove_file(out.join(name)).unwrap();
    let take = |out: &Path, name: &str| fs::write(out.join(name), full(name)).unwrap();
    let steps: Vec<(&str, Box<dyn Fn(&Path)>)> = vec![
        ("nothing", Box::new(|_| {})),
        ("half a line", Box::new(|out| append(out, &line(14)[..40]))),
        ("a line", Box::new(|out| append(out, &line(14)))),
        ("two lines", Box::new(|out| append(out, &(line(14) + &line(15))))),
        (
            "half a frame",
            Box::new(|out| fs::write(out.join("frames/.000014.vtu.9.standoff-tmp"), "<").unwrap()),
        ),
        (
            "a frame",
            Box::new(|out| {
                append(out, &line(14));
                take(out, "frames/000014.vtu")
            }),
        ),
        (
            "a surface",
            Box::new(|out| {
                append(out, &line(14));
                take(out, "frames/000014.vtu");
                take(out, "surface/000014.obj")
            }),
        ),
        (
            "a list",
            Box::new(|out| {
                take(out, "frames/000014.vtu");
                take(out, "run.pvd")
            }),
        ),
        (
            "half a checkpoint",
            Box::new(|out| fs::write(out.join("checkpoints/000015.ckpt"), "STAN").unwrap()),
        ),
        (
            "no last frame",
            Box::new(|out| {
                remove(out, "frames/000013.vtu");
                remove(out, "surface/000013.obj")
            }),
        ),
        ("an older checkpoint", Box::new(|out| remove(out, "checkpoints/000013.ckpt"))),
    ];
    for (name, damage) in steps {
        let out = folder.path().join(name);
        copy(&partial, &out);
        fs::write(out.join("scene.resolved.toml"), &toml).unwrap();
        damage(&out);
        good(&["resume", path(&out), "--quiet"]);
        println!("{name}");
        same_results(&reference, &out);
        assert!(fs::read_dir(out.join("checkpoints")).unwrap().count() <= 3);
    }
}

#[test]
fn damaged_and_foreign_checkpoints() {
    let (folder, scene, reference) = reference(SCENE);
    let partial = folder.path().join("partial");
    good(&["run", path(&scene), "-o", path(&partial), "--quiet", "--steps", "20"]);
    let newest = "checkpoints/000020.ckpt";
    let whole = fs::read(partial.join(newest)).unwrap();
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    let mut other_format = whole.clone();
    other_format[8] = 99;
    // of another scene: one number differs
    let other = folder.path().join("other");
    good(&[
        "run",
        path(&scene),
        "-o",
        path(&other),
        "--quiet",
        "--steps",
        "20",
        "--set",
        "contact.d_hat=0.0100000001",
    ]);
    let foreign = fs::read(other.join(newest)).unwrap();
    for (bytes, says) in [
        (&whole[..whole.len() - 1], "truncated or altered"),
        (&whole[..20], "truncated"),
        (&[][..], "truncated"),
        (&altered, "truncated or altered"),
        (b"something else entirely", "not a checkpoint"),
        (&other_format, "in format 99"),
        (&foreign, "belongs to another scene"),
    ] {
        let out = folder.path().join("out");
        copy(&partial, &out);
        fs::write(out.join(newest), bytes).unwrap();
        let output = standoff(&["resume", path(&out), "--steps", "30", "--quiet"]);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("000020.ckpt") && said.contains(says), "lacks `{says}`: {said}");
        assert!(said.contains("the checkpoint before it is used"), "{said}");
        same_results(&reference, &out);

        // none left: nothing is changed
        copy(&partial, &out);
        for file in fs::read_dir(out.join("checkpoints")).unwrap() {
            fs::write(file.unwrap().path(), bytes).unwrap();
        }
        let before = results(&out);
        let output = standoff(&["resume", path(&out), "--quiet"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("no checkpoint can be used") && said.contains(says), "{said}");
        assert!(before == results(&out));
        fs::remove_dir_all(&out).unwrap();
    }
}

/// Frames before the checkpoint that were altered, cut off or removed are reported, by `resume` and by `audit`.
#[test]
fn altered_frames() {
    let (folder, scene, reference) = reference(SCENE);
    let out = folder.path().join("out");
    good(&["run", path(&scene), "-o", path(&out), "--quiet", "--steps", "20"]);
    let frame = |n: usize| out.join(format!("frames/{n:06}.vtu"));
    // one bit of a velocity, of which no other check sees anything
    let mut bytes = fs::read(frame(4)).unwrap();
    let velocity = array(&bytes, "velocity");
    let at = bytes.windows(velocity.len()).position(|w| w == velocity).unwrap();
    bytes[at] ^= 1;
    fs::write(frame(4), bytes).unwrap();
    let bytes = fs::read(frame(6)).unwrap();
    fs::write(frame(6), &bytes[..bytes.len() - 3]).unwrap();
    fs::remove_file(frame(8)).unwrap();
    // a frame of a version without checksums is none of those
    let bytes = fs::read(frame(10)).unwrap();
    let mark = b"</VTKFile>\n";
    let end = bytes.windows(mark.len()).rposition(|w| w == mark).unwrap() + mark.len();
    assert!(end < bytes.len());
    fs::write(frame(10), &bytes[..end]).unwrap();

    let output = standoff(&["audit", path(&out)]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for says in [
        "000004.vtu",
        "it was altered",
        "000006.vtu",
        "its end is missing",
        "000008.vtu",
        "it is missing, although run.pvd",
    ] {
        assert!(said.contains(says), "lacks `{says}`: {said}");
    }
    let output = standoff(&["resume", path(&out), "--quiet", "--steps", "30"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    for says in [
        "frame 4 was altered after it had been written (its checksum is wrong); it is kept",
        "frame 6 is missing or truncated",
        "frame 8 is missing or truncated",
    ] {
        assert!(said.contains(says), "lacks `{says}`: {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    // everything else is that of an undisturbed run
    let (mut a, mut b) = (results(&reference), results(&out));
    for name in ["frames/000004.vtu", "frames/000006.vtu", "frames/000008.vtu", "frames/000010.vtu"]
    {
        a.remove(name);
        b.remove(name);
    }
    assert!(
        text(&b["run.pvd"]).contains("000004.vtu") && !text(&b["run.pvd"]).contains("000008.vtu")
    );
    a.remove("run.pvd");
    b.remove("run.pvd");
    assert!(a == b);
}

#[test]
fn other_reasons_not_to_resume() {
    let (folder, scene, reference) = reference(SCENE);
    let refused = |args: &[&str], says: &str| {
        let output = standoff(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "lacks `{says}`: {said}");
    };
    refused(&["resume", path(folder.path())], "holds no run");
    refused(&["resume", path(&reference), "--steps", "10"], "at step 30 already");
    let none = folder.path().join("none");
    good(&[
        "run",
        path(&scene),
        "-o",
        path(&none),
        "-q",
        "--steps",
        "2",
        "--set",
        "output.checkpoint_every=0",
    ]);
    assert!(!none.join("checkpoints").exists());
    refused(&["resume", path(&none)], "holds no checkpoint");
    // the scene was changed meanwhile
    let toml = text(&fs::read(reference.join("scene.resolved.toml")).unwrap());
    fs::write(reference.join("scene.resolved.toml"), toml.replace("bdf2", "newmark")).unwrap();
    refused(&["resume", path(&reference)], "belongs to another scene");
    fs::write(reference.join("scene.resolved.toml"), toml).unwrap();
    // another process is at work there
    let stats = fs::File::open(reference.join("stats.jsonl")).unwrap();
    stats.lock().unwrap();
    refused(&["resume", path(&reference)], "is being written by another process");
    refused(&["run", path(&scene), "-o", path(&reference), "--force"], "by another process");
    drop(stats);
    good(&["resume", path(&reference), "--quiet"]);
}

#[test]
fn more_steps_and_other_output() {
    let interval = SCENE.replace("every = 2,", "interval = 0.035,");
    let (folder, scene, reference) = reference(&interval);
    let out = folder.path().join("out");
    good(&["run", path(&scene), "-o", path(&out), "--quiet", "--steps", "4"]);
    for steps in ["4", "5", "12", "29", "30"] {
        good(&["resume", path(&out), "--quiet", "--steps", steps]);
    }
    same_results(&reference, &out);
    good(&["audit", path(&out)]);
}

/// Without overrides a reference scene runs with its exact numbers, which its scene file only has to
/// within round-off.
#[test]
fn an_imported_scene() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0.1 0.2 0.3\n2 1.3 0.1 0.2\n\
                3 0.2 1.1 0.3\n4 0.1 0.3 1.7\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n";
    fs::write(folder.path().join("tet.msh"), mesh).unwrap();
    let scene = folder.path().join("scene.txt");
    fs::write(
        &scene,
        "energy NH\ntimeIntegration BE\ntime 0.4 0.02\ndensity 1000\nstiffness 1e5 0.4\nground 0.1 0\n\
         shapes input 2\ntet.msh 0.3 2.7 0.1  13 37 71  0.7 1.1 0.9\n\
         tet.msh 0.1 0.9 0.2  17 3 -41  0.7 1.3 0.9\n",
    )
    .unwrap();
    let (whole, out) = (folder.path().join("whole"), folder.path().join("out"));
    good(&["run", path(&scene), "-o", path(&whole), "--quiet", "--steps", "20"]);
    good(&["run", path(&scene), "-o", path(&out), "--quiet", "--steps", "7"]);
    good(&["resume", path(&out), "--quiet", "--steps", "20"]);
    same_results(&whole, &out);
    // a mesh that has changed is noticed
    fs::write(folder.path().join("tet.msh"), mesh.replace("1.7", "1.70000001")).unwrap();
    let output = standoff(&["resume", path(&out), "--steps", "30"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("scene or meshes have changed"));
}

/// A step that cannot go on leaves its culprits, and all that was before.
#[test]
fn a_blocked_motion_leaves_its_culprits() {
    let scene = r#"
time = { step = 0.02, end = 1 }
contact = { d_hat = 0.01 }
output = { every = 3, checkpoint_every = 4 }
[[objects]]
name = "work"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
[[objects]]
name = "anvil"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, -0.21, 0]
[[objects]]
name = "ram"
role = "obstacle"
shape = { kind = "box", size = [1, 0.1, 1] }
translate = [0, 0.22, 0]
[[objects.motion]]
velocity = [0, -1, 0]
"#;
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("scene.toml"), folder.path().join("out"));
    fs::write(&file, scene).unwrap();
    let output = standoff(&["run", path(&file), "-o", path(&out), "--quiet"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("'ram.motion[0]' is blocked") && said.contains("m apart"), "{said}");

    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("failure.json")).unwrap()).unwrap();
    assert!(said.contains(report["message"].as_str().unwrap()), "{said}");
    let last = report["last_good_step"].as_u64().unwrap();
    assert!(last > 3 && report["step"] == last + 1);
    let culprits = report["culprits"].as_array().unwrap();
    assert_eq!(culprits[0]["bodies"][0], "ram");
    let pairs: Vec<_> =
        culprits.iter().filter(|c| c["bodies"].as_array().unwrap().len() == 2).collect();
    assert!(!pairs.is_empty());
    for pair in pairs {
        let gap = pair["gap"].as_f64().unwrap();
        assert!(gap > 0.0 && gap < 0.01, "{pair}");
    }
    holds_the_culprits(&out, culprits, last);
    // the steps before are there, the last one as a frame, and can be audited
    assert!(out.join(format!("frames/{last:06}.vtu")).exists());
    assert_eq!(text(&fs::read(out.join("stats.jsonl")).unwrap()).lines().count() as u64, last);
    good(&["audit", path(&out)]);

    // resuming fails in the same way, and leaves the same
    let before = results(&out);
    let output = standoff(&["resume", path(&out), "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(before == results(&out));
    // a new run in the folder forgets the failure
    good(&["run", path(&file), "-o", path(&out), "--quiet", "--force", "--steps", "2"]);
    assert!(!out.join("failure.vtu").exists() && !out.join("failure.json").exists());
}

/// `failure.vtu` holds the primitives of `failure.json`, cell by cell: their bodies, their vertices at
/// the last iterate, and a gap that is the distance of the two.
fn holds_the_culprits(out: &Path, culprits: &[serde_json::Value], last: u64) {
    let file = out.join("failure.vtu");
    let (grid, before) = (
        read_frame(&file).unwrap(),
        read_frame(&out.join(format!("frames/{last:06}.vtu"))).unwrap(),
    );
    let info = RunInfo::read(out).unwrap();
    assert_eq!(grid.time, before.time);
    let bytes = fs::read(&file).unwrap();
    let integers =
        |name| array(&bytes, name).as_chunks::<4>().0.iter().map(|c| i32::from_le_bytes(*c));
    let numbers = |name| -> Vec<f64> {
        array(&bytes, name).as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect()
    };
    let types = array(&bytes, "types");
    let (vertex, culprit): (Vec<i32>, Vec<i32>) =
        (integers("vertex").collect(), integers("culprit").collect());
    let (gap, ratio) = (numbers("gap"), numbers("volume_ratio"));
    let cells: Vec<usize> =
        culprits.iter().map(|c| c["bodies"].as_array().unwrap().len()).collect();
    assert_eq!(types.len(), cells.iter().sum::<usize>());
    let (mut cell, mut first) = (0, 0);
    for (k, reported) in culprits.iter().enumerate() {
        let mut primitives: Vec<&[Vec3]> = Vec::new();
        for body in reported["bodies"].as_array().unwrap() {
            let size = match types[cell] {
                1 => 1,
                3 => 2,
                5 => 3,
                10 => 4,
                other => panic!("a cell of type {other}"),
            };
            let body = info.bodies.iter().find(|b| b.name == body.as_str().unwrap()).unwrap();
            assert_eq!(info.bodies[grid.cell_body[cell] as usize].name, body.name);
            assert_eq!(culprit[cell], k as i32);
            for (x, v) in grid.positions[first..first + size].iter().zip(&vertex[first..]) {
                assert!(*v >= 0 && (*v as u32) < body.vertices, "vertex {v} of {}", body.name);
                // only the ram and what it presses have moved, and the ram along y only
                let old = before.positions[body.first_vertex as usize + *v as usize];
                let moved = if body.name == "anvil" {
                    x - old
                } else {
                    Vec3::new(x.x - old.x, 0.0, x.z - old.z)
                };
                let allowed = if body.name == "work" { 0.1 } else { 1e-6 };
                assert!(moved.norm() <= allowed, "vertex {v} of {}: {moved}", body.name);
                assert!(body.name == "anvil" || x.y <= old.y + 1e-6);
            }
            let same = |a: f64, b: &serde_json::Value| b.as_f64().map_or(a.is_nan(), |b| a == b);
            assert!(
                same(gap[cell], &reported["gap"]) && same(ratio[cell], &reported["volume_ratio"])
            );
            primitives.push(&grid.positions[first..first + size]);
            (cell, first) = (cell + 1, first + size);
        }
        let distance2 = match primitives[..] {
            [[a], [b]] => point_point_d2(a, b),
            [[a], [b, c]] => point_edge_d2(a, b, c),
            [[a, b], [c, d]] => edge_edge_d2(a, b, c, d),
            [[a], [b, c, d]] => point_triangle_d2(a, b, c, d),
            [_] => continue,
            _ => panic!("two primitives that do not pair: {reported}"),
        };
        let gap = reported["gap"].as_f64().unwrap();
        assert!((distance2.sqrt() - gap).abs() < 1e-12, "{reported}: {}", distance2.sqrt());
    }
    assert_eq!(first, grid.positions.len());
    assert!(culprits.iter().any(|c| c["bodies"].as_array().unwrap().len() == 2));
}

/// The bytes of an appended array of a grid.
fn array<'a>(bytes: &'a [u8], name: &str) -> &'a [u8] {
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let start = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    let head = std::str::from_utf8(&bytes[..start]).unwrap();
    let tag = head.split("<DataArray ").find(|t| t.contains(&format!("Name=\"{name}\""))).unwrap();
    let offset: usize =
        tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let data = &bytes[start + mark.len() + offset..];
    let size = u64::from_le_bytes(data[..8].try_into().unwrap()) as usize;
    &data[8..8 + size]
}

/// A small file system of its own, where the system lets us mount one.
struct Disk(PathBuf);

impl Disk {
    fn new(at: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&at).unwrap();
        let done = mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs", path(&at)]);
        if !done {
            println!("skipped: a file system of limited size cannot be mounted here");
        }
        done.then_some(Self(at))
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}"), path(&self.0)]));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).stderr(Stdio::null()).status();
    }
}

fn mount(args: &[&str]) -> bool {
    let status = Command::new("mount").args(args).stderr(Stdio::null()).status();
    status.is_ok_and(|s| s.success())
}

#[test]
fn a_full_disk() {
    let (folder, scene, reference) = reference(SCENE);
    for size in ["40k", "64k", "100k", "120k"] {
        let Some(disk) = Disk::new(folder.path().join(size), size) else { return };
        let out = disk.0.join("out");
        let output = standoff(&["run", path(&scene), "-o", path(&out), "--quiet"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{size}: {said}");
        assert!(said.contains("cannot write") && said.contains("free space"), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        // what is there is whole and right
        let whole = results(&reference);
        for (name, bytes) in results(&out) {
            match name.as_str() {
                "stats.jsonl" => assert!(whole[&name].starts_with(&bytes)),
                "run.pvd" => {}
                _ => assert!(whole[&name] == bytes, "{size}: {name}"),
            }
        }
        good(&["audit", path(&out)]);
        disk.remount("size=20m");
        good(&["resume", path(&out), "--quiet"]);
        same_results(&reference, &out);
    }
}

#[test]
fn a_read_only_folder() {
    let (folder, scene, reference) = reference(SCENE);
    let Some(disk) = Disk::new(folder.path().join("disk"), "20m") else { return };
    let out = disk.0.join("out");
    good(&["run", path(&scene), "-o", path(&out), "--quiet", "--steps", "15"]);
    let before = results(&out);
    disk.remount("ro");
    let other = disk.0.join("other");
    for args in [
        &["resume", path(&out), "--steps", "30", "--quiet"][..],
        &["run", path(&scene), "-o", path(&out), "--force", "--quiet"],
        &["run", path(&scene), "-o", path(&other), "--quiet"],
    ] {
        let output = standoff(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("cannot write") && said.contains("that you may write to"), "{said}");
        assert!(before == results(&out));
    }
    disk.remount("rw");
    good(&["resume", path(&out), "--steps", "30", "--quiet"]);
    same_results(&reference, &out);
}

/// The first SIGINT or SIGTERM ends a run after its step, with everything on disk and nothing lost; whatever the time at
/// which it comes.
#[cfg(unix)]
#[test]
fn signals_end_a_run_after_its_step() {
    let (folder, file, reference) = reference(SCENE);
    let signals = [("INT", 130), ("TERM", 143)];
    let mut interrupted = 0;
    for (k, wait) in [0, 20, 60, 100, 150, 250].into_iter().enumerate() {
        let (name, code) = signals[k % 2];
        let run = folder.path().join(format!("run{k}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_standoff"));
        command.args(["run", path(&file), "-o", path(&run), "--threads", "1"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // it listens once its folder is there
        while !run.join("frames").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(wait));
        let id = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        if output.status.code() == Some(0) {
            // the signal came in the last step or later
            same_results(&run, &reference);
            continue;
        }
        interrupted += 1;
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(
            said.contains("interrupted after step") && said.contains("standoff resume"),
            "{said}"
        );
        let lines = fs::read_to_string(run.join("stats.jsonl")).unwrap();
        let done = lines.lines().count();
        assert!(lines.is_empty() || lines.ends_with('\n'));
        assert!(run.join(format!("frames/{done:06}.vtu")).exists(), "{done}");
        assert!(run.join(format!("checkpoints/{done:06}.ckpt")).exists(), "{done}");
        good(&["audit", path(&run)]);
        good(&["resume", path(&run), "--quiet"]);
        same_results(&run, &reference);
    }
    assert!(interrupted > 0);
}
