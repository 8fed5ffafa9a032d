//! The commands from outside: what they print, write and return.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scene(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name)
}

fn standoff(args: &[&std::ffi::OsStr]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff")).args(args).output().expect("the command starts")
}

macro_rules! standoff {
    ($($arg:expr),*) => { standoff(&[$(std::ffi::OsStr::new(&$arg)),*]) };
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn read(path: PathBuf) -> Vec<u8> {
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn a_run_is_complete_audited_and_repeatable() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let cubes = scene("two-cubes-fall.toml");
    let output = standoff!("run", cubes, "-o", a, "--steps", "30", "--threads", "1");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in ["30 steps", "step 30/30", "Newton iterations", "every step converged", "wall time"]
    {
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
    assert_eq!(std::fs::read_dir(a.join("frames")).unwrap().count(), 31);
    assert_eq!(text(&read(a.join("stats.jsonl"))).lines().count(), 30);

    // the resolved scene gives the same run, bit by bit, with another number of threads
    let resolved = a.join("scene.resolved.toml");
    let output = standoff!("run", resolved, "-o", b, "--threads", "2", "--quiet");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
    for frame in ["frames/000000.vtu", "frames/000017.vtu", "frames/000030.vtu", "run.pvd"] {
        assert_eq!(read(a.join(frame)), read(b.join(frame)), "{frame}");
    }
    assert_eq!(read(resolved), read(b.join("scene.resolved.toml")));

    let output = standoff!("audit", a);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("31 frames, no intersection, no inverted element"));

    // never into a folder that holds a run, unless forced
    let output = standoff!("run", cubes, "-o", a, "--steps", "1");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("already holds a run"), "{}", text(&output.stderr));
    let output = standoff!("run", cubes, "-o", a, "--steps", "1", "--force", "--quiet");
    assert!(output.status.success());
    assert_eq!(std::fs::read_dir(a.join("frames")).unwrap().count(), 2);
}

/// Inverted elements are counted where the scene allows them, and faults where it does not.
#[test]
fn allowed_inversions_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("squash.toml"), folder.path().join("run"));
    let text_of = r#"
time = { step = 0.02, end = 0.1 }
contact = { enabled = false }
solver = { method = "lbfgs-pd", allow_inversion = true }
[materials.rubber]
law = "fixed-corotated"
young_modulus = 1e4
poisson_ratio = 0.4
[[objects]]
name = "cube"
material = "rubber"
shape = { kind = "box", size = [0.2, 0.2, 0.2], cells = [2, 2, 2] }
[[objects.fixed]]
vertices = { box = { min = [0, 0, 0], max = [0.01, 1, 1], relative = true } }
[[objects.motion]]
vertices = { box = { min = [0.99, 0, 0], max = [1, 1, 1], relative = true } }
velocity = [-10, 0, 0]
end = 0.03
"#;
    std::fs::write(&file, text_of).unwrap();
    let output = standoff!("check", file);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in ["inverted elements      0 (allowed)", "nothing can touch anything"] {
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
    let output = standoff!("run", file, "-o", run);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said} {}", text(&output.stderr));
    assert!(said.contains("inverted, allowed"), "{said}");
    let output = standoff!("audit", run);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(said.contains("6 frames, contact was off, ") && said.contains("(allowed)"), "{said}");
    assert!(!said.contains("no inverted element"), "{said}");

    let info = run.join("run.json");
    let forbidden = text(&read(info.clone()))
        .replace("\"allow_inversion\": true", "\"allow_inversion\": false");
    std::fs::write(&info, forbidden).unwrap();
    let output = standoff!("audit", run);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is inverted or flat"), "{}", text(&output.stderr));
}

#[test]
fn the_audit_finds_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = standoff!("run", scene("two-cubes-fall.toml"), "-o", run, "--steps", "3", "-q");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let frame = run.join("frames/000002.vtu");
    let good = read(frame.clone());

    // a vertex moved far away turns elements inside out
    let info: serde_json::Value = serde_json::from_slice(&read(run.join("run.json"))).unwrap();
    assert_eq!(info["bodies"][1]["name"], "lower");
    let parsed = standoff_run::read_frame(&frame).unwrap();
    let last = parsed.positions.last().unwrap();
    let bytes: Vec<u8> = [last.x, last.y, last.z].iter().flat_map(|v| v.to_le_bytes()).collect();
    let at = good.windows(24).rposition(|w| w == bytes).unwrap();
    let mut bad = good.clone();
    bad[at..at + 8].copy_from_slice(&(-50.0f64).to_le_bytes());
    std::fs::write(&frame, &bad).unwrap();
    let output = standoff!("audit", run);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("000002.vtu: ") && said.contains("of 'lower' is inverted"), "{said}");
    assert!(said.contains("in 1 of 4 frames"), "{said}");

    bad[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(&frame, &bad).unwrap();
    let output = standoff!("audit", run);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("not finite"), "{}", text(&output.stderr));

    std::fs::write(&frame, &good[..good.len() / 2]).unwrap();
    let output = standoff!("audit", run);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is damaged"), "{}", text(&output.stderr));

    std::fs::write(&frame, &good).unwrap();
    assert!(standoff!("audit", run).status.success());
}

#[test]
fn the_check_describes_a_scene() {
    let output = standoff!("check", scene("two-cubes-fall.toml"));
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in [
        "upper: volume, 8 vertices, 6 tetrahedra",
        "dihedral angles 45.0° to 90.0°",
        "contact distance",
        "above 'ground'",
        "1.0000e0 m: vertex",
        "pairs closer than d̂    0",
        "memory, about",
        "free of intersections",
    ] {
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
    // 1 mm apart, and closer than the contact distance
    let set = "objects.upper.translate=[0.5, 2.501, 0.5]";
    let output = standoff!("check", scene("two-cubes-fall.toml"), "--set", set);
    let said = text(&output.stdout);
    assert!(said.contains("distance of objects    1.0000e-3 m"), "{said}");
    assert!(!said.contains("pairs closer than d̂    0"), "{said}");
}

#[test]
fn a_failed_step_is_exit_code_1_and_keeps_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let set = "solver.end.max_iterations=1";
    let cubes = scene("two-cubes-fall.toml");
    let output = standoff!("run", cubes, "-o", run, "--steps", "30", "--set", set);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error: ") && said.contains("iteration"), "{said}");
    assert!(run.join("frames/000000.vtu").exists() && run.join("run.pvd").exists());
}

#[test]
fn schema_info_and_help() {
    let output = standoff!("schema");
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["title"], "Standoff scene");
    let said = text(&standoff!("info").stdout);
    for part in ["threads", "neo-hookean", "barrier", ".msh", "cholesky", env!("CARGO_PKG_VERSION")]
    {
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
    let said = text(&standoff!("help", "run").stdout);
    for part in ["Examples:", "paraview", "--audit", "every-iterate", "stats.jsonl", "--set"] {
        assert!(said.contains(part), "lacks `{part}`: {said}");
    }
}

/// A rod whose end is torn away in step 6: whatever becomes of the report, the state before is there.
#[test]
fn a_failed_step_leaves_the_last_state() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run) = (folder.path().join("scene.toml"), folder.path().join("run"));
    let rod = r#"
time = { step = 0.01, end = 1 }
gravity = [0, 0, 0]
output = { every = 50, checkpoint_every = 0 }
[[objects]]
name = "r"
role = "rod"
radius = "1 mm"
shape = { kind = "polyline", segments = 5 }
[[objects.motion]]
vertices = { vertices = [0, 1] }
rotation = { axis = [1, 0, 0], angle = "step(t - 0.055)*1e300*t" }
"#;
    std::fs::write(&file, rod).unwrap();
    let output = standoff!("run", file, "-o", run, "--steps", "20", "-q");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let steps = text(&read(run.join("stats.jsonl"))).lines().count();
    assert_eq!(steps, 5);
    assert!(run.join("frames/000005.vtu").exists() && run.join("failure.json").exists());
}

#[test]
fn a_conversion_replaces_nothing_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
                $EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n";
    std::fs::write(folder.path().join("tet.msh"), mesh).unwrap();
    let [source, other] = ["a.txt", "b.toml"].map(|name| folder.path().join(name));
    let scene = "shapes input 1\ntet.msh 0 1 0  0 0 0  1 1 1\n";
    std::fs::write(&source, scene).unwrap();
    std::fs::write(&other, "precious").unwrap();
    let refused = |output: Output, says: &str| {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(says), "lacks `{says}`: {said}");
        assert_eq!(text(&read(source.clone())), scene);
        assert_eq!(text(&read(other.clone())), "precious");
    };
    refused(standoff!("convert", source, "-o", source), "is the scene itself");
    refused(standoff!("convert", source, "-o", source, "--force"), "is the scene itself");
    refused(standoff!("convert", source, "-o", other), "pass --force");
    let output = standoff!("convert", source, "-o", other, "--force");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&read(other)).contains("[[objects]]"));
    let output = standoff!("convert", source, "-o", folder.path().join("c.toml"));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// A report that cannot be written is an error; a reader that closes the pipe is none.
#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_output() {
    use std::process::Stdio;
    let folder = tempfile::tempdir().unwrap();
    let (run, cubes) = (folder.path().join("run"), scene("two-cubes-fall.toml"));
    let output = standoff!("run", cubes, "-o", run, "--steps", "2", "-q");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (run, cubes) = (run.to_str().unwrap(), cubes.to_str().unwrap());
    for args in [
        &["schema"][..],
        &["info"],
        &["check", cubes],
        &["audit", run],
        &["run", cubes, "-o", run, "--steps", "2", "--force"],
        &["--help"],
        &["--version"],
    ] {
        let start = |stdout: Stdio| {
            Command::new(env!("CARGO_BIN_EXE_standoff"))
                .args(args)
                .stdout(stdout)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = start(full.into()).wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("cannot print"), "{args:?}: {said}");
        assert!(std::path::Path::new(run).join("frames/000002.vtu").exists());

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = start(writer.into()).wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// What cannot be viewed is refused before anything is served or simulated.
#[test]
fn what_cannot_be_viewed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = standoff!("view", folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("holds no run"), "{}", text(&output.stderr));
    let cubes = scene("two-cubes-fall.toml");
    let output = standoff!("run", cubes, "-o", run, "--listen", ":0");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--view"), "{}", text(&output.stderr));
    // an address that is none, or a program that was built without the page
    let output = standoff!("run", cubes, "-o", run, "--view", "--listen", "no:port");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("cannot listen on 'no:port'") || said.contains("npm run build"),
        "{said}"
    );
    assert!(!run.exists());
}

/// A model of MuJoCo becomes a scene that can start, with its meshes beside it.
#[test]
fn a_model_of_mujoco_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot/soft.xml");
    let scene = folder.path().join("soft.toml");
    let output = standoff!("convert", model, "-o", scene);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("note: cloth: the model gives no elasticity"));
    assert!(!read(folder.path().join("soft-rope.vtu")).is_empty());
    let output = standoff!("check", scene);
    assert!(output.status.success(), "{}", text(&output.stderr));
    // files that exist are replaced with --force only
    std::fs::remove_file(&scene).unwrap();
    let output = standoff!("convert", model, "-o", scene);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("soft-base.obj exists"), "{}", text(&output.stderr));
}

/// An input file of CalculiX becomes a folder with a scene and its meshes, and is run as it is.
#[test]
fn an_input_file_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/inp/cantilever.inp");
    let beam = folder.path().join("beam");
    let output = standoff!("convert", model, "-o", beam);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("note: lines 274, 276: requests of output"), "{said}");
    assert!(!read(beam.join("cantilever-EALL.vtu")).is_empty());
    let output = standoff!("check", beam.join("cantilever.toml"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = standoff!("convert", model, "-o", beam);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cantilever.toml exists"), "{}", text(&output.stderr));
    let output = standoff!("run", model, "-o", folder.path().join("out"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!read(folder.path().join("out-model/cantilever.toml")).is_empty());
    // what is wrong is said with its line, and nothing is written
    let wrong = folder.path().join("wrong.inp");
    std::fs::write(&wrong, "*NODE\n1, 0, zero\n").unwrap();
    let output = standoff!("convert", wrong, "-o", folder.path().join("other"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("wrong.inp, line 2"), "{}", text(&output.stderr));
    assert!(!folder.path().join("other").exists());
}

/// A robot is converted beside its run, in a pose, and the scene that is made of it can be run again; what is no pose is refused.
#[test]
fn a_robot_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot/lamp.urdf");
    let out = folder.path().join("out");
    let pose = ["--pose", "elbow=0.9", "--steps", "3"];
    let output = standoff!("run", robot, "-o", out, pose[0], pose[1], pose[2], pose[3]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let scene = folder.path().join("out-model/lamp.toml");
    let written = String::from_utf8(read(scene.clone())).unwrap();
    assert!(written.contains("start = 0.9") && written.contains("lamp-arm.obj"), "{written}");
    let stats = String::from_utf8(read(out.join("stats.jsonl"))).unwrap();
    assert!(stats.lines().count() == 3 && stats.contains("\"elbow\""), "{stats}");
    let refused = |arguments: &[&str], part: &str| {
        let again = folder.path().join("again");
        let output = standoff!("run", arguments[0], "-o", again, "--pose", arguments[1]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    };
    let (robot, scene) = (robot.to_str().unwrap(), scene.to_str().unwrap());
    refused(&[robot, "knee=1"], "there is no joint \"knee\"");
    refused(&[robot, "elbow"], "is not JOINT=VALUE");
    assert!(!folder.path().join("again-model").exists(), "nothing is written for a wrong pose");
    refused(&[scene, "elbow=1"], "--pose is for robots");
    let output = standoff!("check", robot);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("standoff convert"), "{}", text(&output.stderr));
}

/// Where the system refuses threads, every command says so, however their number was chosen.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let limited = |arguments: &str, variable: Option<&str>| {
        // stacks of 64 MB, so that what is left when one is refused is enough for all else
        let line = format!("ulimit -v 500000; exec \"$0\" {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_standoff")]).current_dir(&folder);
        command.env("RUST_MIN_STACK", "67108864");
        command.envs(variable.map(|count| ("RAYON_NUM_THREADS", count)));
        command.output().unwrap()
    };
    let run = format!("run {} -o out --steps 1", scene("two-cubes-fall.toml").display());
    for (arguments, variable) in [
        (format!("{run} --threads 1000"), None),
        (run.clone(), Some("1000")),
        ("audit out --threads 1000".to_owned(), None),
        ("info".to_owned(), Some("1000")),
    ] {
        let output = limited(&arguments, variable);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.starts_with("error: cannot start") && said.contains("--threads"), "{said}");
        assert!(!out.exists());
    }
    let output = limited(&format!("{run} --threads 2"), None);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// What the scene says that a run must show is looked at afterwards, with the value that was found; what does not hold fails the
/// run, and what an early end does not reach is left open.
#[test]
fn a_run_that_does_not_show_what_the_scene_says_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (out, cubes) = (folder.path().join("out"), scene("two-cubes-fall.toml"));
    let output = standoff!("run", cubes, "-o", out, "--expect");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("shown: both are above the ground: lowest.y of 'upper' is "), "{said}");
    assert!(
        said.contains(" at 2.5 s, expected above 0 m; within the bounds are 2 of 2 objects"),
        "{said}"
    );

    // the same run with another bound: of the second table that of the lower cube
    let bound = "expect.1.below=0.1 mm";
    let output = standoff!("run", cubes, "-o", out, "--force", "-q", "--expect", "--set", bound);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let said = text(&output.stderr);
    assert!(
        said.contains("not shown: the lower cube is on the ground: lowest.y of 'lower' is 0.0")
    );
    assert!(said.contains("expected below 1.0000e-4 m"), "{said}");
    assert!(said.contains("error: 1 of 2 expectations do not hold"), "{said}");
    // without --expect it is not looked at
    let output = standoff!("run", cubes, "-o", out, "--force", "-q", "--set", bound);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let output = standoff!("run", cubes, "-o", out, "--force", "--expect", "--steps", "5");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let open = "not looked at, because the run ended too early: the lower cube is on the ground";
    assert!(said.contains(open) && !said.contains("shown: "), "{said}");

    // a scene that says nothing, and one that says what cannot be
    let output = standoff!(
        "run",
        cubes,
        "-o",
        out,
        "--force",
        "--expect",
        "--steps",
        "1",
        "--set",
        "expect=unset"
    );
    assert!(text(&output.stdout).contains("the scene has no [[expect]] tables"));
    let output = standoff!("check", cubes, "--set", "expect.0.object=uper");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("unknown object 'uper'; did you mean 'upper'?"), "{said}");
}

/// Constants of rubber are printed as a scene file takes them.
#[test]
fn constants_of_rubber_are_fitted() {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rubber");
    let table = |name: &str| tables.join(format!("treloar-{name}.csv"));
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("new/fit.svg");
    let (uniaxial, biaxial) = (table("uniaxial"), table("biaxial"));
    let all = standoff!(
        "fit",
        "--uniaxial",
        uniaxial,
        "--planar",
        table("planar"),
        "--biaxial",
        biaxial,
        "-o",
        picture
    );
    let said = text(&all.stdout);
    assert!(all.status.success() && said.starts_with("# ogden, 3 terms: error 3.91 %"), "{said}");
    assert!(text(&read(picture.clone())).contains("biaxial: nominal stress"));
    let rubber: Vec<&str> = said.lines().filter(|l| l.starts_with("rubber = {")).collect();
    assert_eq!(rubber.len(), 8, "{said}");
    for rubber in rubber {
        let scene = folder.path().join("scene.toml");
        let rest = "[[objects]]\nname = \"b\"\nshape = { kind = \"box\" }\nmaterial = \"m\"\n";
        let material = format!("[materials.m]\n{rubber}\nbulk_modulus = \"500 MPa\"\n");
        std::fs::write(&scene, material + rest).unwrap();
        let output = standoff!("check", scene);
        assert!(output.status.success(), "{rubber}: {}", text(&output.stderr));
    }
    let refused = |output: Output, says: &str| {
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(says), "{error}");
    };
    refused(standoff!("fit"), "--uniaxial <FILE>");
    refused(standoff!("fit", "--uniaxial", "nowhere.csv"), "cannot read nowhere.csv");
    refused(standoff!("fit", "--shear", uniaxial), "treloar-uniaxial.csv:2: ");
    refused(standoff!("fit", "--uniaxial", uniaxial, "-o", picture), "fit.svg");
    refused(standoff!("fit", "--uniaxial", uniaxial, "-o", "fit.png"), ".svg or .pdf");
    let terms = standoff!("fit", "--uniaxial", uniaxial, "--law", "yeoh", "--terms", "4");
    refused(terms, "the law yeoh has 1, 2 or 3 terms");
    let terms = standoff!("fit", "--uniaxial", uniaxial, "--law", "gent", "--terms", "2");
    refused(terms, "the law gent has no terms");
    refused(standoff!("fit", "--uniaxial", uniaxial, "--law", "hooke"), "mooney-rivlin");
}
