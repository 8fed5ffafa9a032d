//! Scenes that were handled wrongly once (`testdata/cases`), each with what is right.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases").join(name)
}

fn standoff(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff")).args(args).output().expect("the command starts")
}

/// Runs a command in a temporary folder; returns exit code and all that it says.
fn say(args: &[&str]) -> (i32, String) {
    let output = standoff(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.code().unwrap_or(-1), said)
}

fn check(name: &str, options: &[&str]) -> (i32, String) {
    let path = case(name);
    say(&[&["check", path.to_str().unwrap(), "--threads", "1"], options].concat())
}

/// Options of the barrier-free solver, without another one that could finish its steps.
const BARRIER_FREE: [&str; 4] =
    ["--solver", "barrier-free", "--set", "solver.barrier_free.fallback='none'"];

/// Runs so many steps of a case.
fn run(name: &str, steps: &str, options: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (case(name), folder.path().join("o"));
    let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
    let args = ["run", path, "-o", out, "--steps", steps, "--threads", "1", "-q"];
    say(&[&args, options].concat())
}

#[track_caller]
fn expect(found: (i32, String), code: i32, parts: &[&str]) {
    for part in parts {
        assert!(found.1.contains(part), "'{part}' is missing in: {}", found.1);
    }
    assert_eq!(found.0, code, "{}", found.1);
}

#[test]
fn case_01_the_audit_sees_no_overstretch_where_there_is_none() {
    expect(run("01-strain-limit-audit-false-alarm.toml", "5", &[]), 0, &[]);
    let every = ["--audit", "every-iterate"];
    expect(run("01-strain-limit-audit-false-alarm.toml", "3", &every), 0, &[]);
    for speed in ["-6398", "-25593"] {
        let set = format!("objects.o5.velocity=[{speed}, 0, 0]");
        expect(run("01-strain-limit-audit-false-alarm.toml", "5", &["--set", &set]), 0, &[]);
    }
}

#[test]
fn case_02_a_rod_that_folds_back_is_refused_by_name() {
    let says = ["'r'", "fold back", "180° at vertex 1"];
    expect(check("02-panic-rod-uturn.toml", &[]), 2, &says);
    expect(run("02-panic-rod-uturn.toml", "2", &[]), 2, &says);
    expect(check("02b-panic-rod-uturn-mesh.toml", &[]), 2, &["'r'", "fold back", "180°"]);
    let huge = ["--set", "time.step=1e200", "--set", "time.end=1e203"];
    let says = ["--set time.step=1e200", "out of range", "1e-30 to 1e30"];
    expect(run("02c-panic-rod-huge-step.toml", "2", &huge), 2, &says);
    // a step that is as long as may be ends in an error, if in one, that names a vertex
    let (code, said) = run("02c-panic-rod-huge-step.toml", "2", &["--set", "time.step=1e25"]);
    assert!(code <= 1 && !said.contains("panic") && !said.contains("internal"), "{said}");
}

#[test]
fn case_03_laws_without_a_lower_bound_refuse_negative_poisson_ratios() {
    let says = [":9:", "objects[0].material.poisson_ratio", "no lower bound"];
    expect(run("03-negative-poisson.toml", "1", &[]), 2, &says[1..]);
    let law = ["--set", "objects.b.material.law=fixed-corotated"];
    expect(run("03b-negative-poisson-impact.toml", "1", &law), 2, &says[1..]);
    // those that have one run through the impact
    for solver in ["barrier", "barrier-free"] {
        let law = "objects.b.material.law=stable-neo-hookean";
        let options = ["--set", law, "--solver", solver];
        expect(run("03-negative-poisson.toml", "50", &options), 0, &[]);
    }
}

#[test]
fn case_04_a_gap_of_exactly_the_thickness_touches() {
    let says = ["'a'", "'b'", "touch: no gap beyond their thickness"];
    expect(check("04-gap-exactly-thickness.toml", &[]), 1, &says);
    expect(run("04-gap-exactly-thickness.toml", "2", &[]), 2, &says);
}

#[test]
fn case_05_a_sharp_corner_of_a_thick_rod_is_named() {
    let says = ["edge (0, 1) of 'r'", "vertex 2 of 'r'", "not more than their thickness"];
    let (code, said) = check("05-rod-sharp-corner.toml", &[]);
    assert!(said.contains("'r'") && said.contains("2 of 'r'"), "{said}");
    expect((code, said), 1, &says[1..2]);
    expect(run("05-rod-sharp-corner.toml", "2", &[]), 2, &says[1..2]);
}

#[test]
fn case_07_a_single_particle_has_its_thickness_for_a_length() {
    expect(
        check("07-single-particle-dhat-0.toml", &[]),
        0,
        &["contact distance d̂     2.0000e-5 m"],
    );
    expect(run("07-single-particle-dhat-0.toml", "5", &[]), 0, &[]);
    let bare = ["--set", "objects.p.contact_thickness=0"];
    expect(check("07-single-particle-dhat-0.toml", &bare), 2, &["'p'", "contact_thickness"]);
}

#[test]
fn case_08_a_gap_below_the_resolution_of_coordinates_is_refused() {
    let says = ["'ball'", "'b2'", "9.992e-15 m apart", "resolve"];
    expect(check("08-gap-1e-14.toml", &[]), 1, &says);
    expect(run("08-gap-1e-14.toml", "2", &["--solver", "barrier-free"]), 2, &says);
    // the smallest gap that is accepted is one that both solvers start from
    let set = ["--set", "objects.b2.translate=[0, 1.0000000000001, 0]"];
    expect(check("08-gap-1e-14.toml", &set), 0, &[]);
    expect(run("08-gap-1e-14.toml", "2", &set), 0, &[]);
}

/// A folder with the mesh that the case names.
fn ipc_meshes() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/data/ipc");
    assert!(root.join("input").is_dir() || root.is_dir());
    root
}

#[test]
fn case_09_an_ipc_scene_is_refused_at_the_users_line() {
    let meshes = ipc_meshes();
    let roots = ["--mesh-root", meshes.to_str().unwrap()];
    let says = ["09-ipc-density-0.txt:3", "'density': 0 is out of range", "positive"];
    expect(check("09-ipc-density-0.txt", &roots), 2, &says);
    let says = ["09b-ipc-key-without-value.txt:3", "'dHat' lacks"];
    expect(check("09b-ipc-key-without-value.txt", &roots), 2, &says);
}

#[test]
fn case_12_what_does_not_fit_into_memory_is_refused() {
    let says = ["array.counts", "the scene needs more memory than there is", "GB"];
    expect(check("12-memory-bomb.toml", &[]), 2, &says);
}

#[test]
fn case_13_too_many_copies_are_refused_first() {
    let start = std::time::Instant::now();
    let set = ["--set", "objects[0].array.counts=[100001, 1, 1]"];
    expect(check("13-too-many-copies-late.toml", &set), 2, &["more than 100,000 copies"]);
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
}

#[test]
fn case_14_a_free_body_in_a_quasi_static_scene_is_named() {
    let says = ["'ball'", "free to move", "quasi-static"];
    expect(check("14-quasi-static-free.toml", &[]), 2, &says);
    expect(run("14-quasi-static-free.toml", "2", &[]), 2, &says);
    let held = ["--set", "objects.ball.fixed=[{ vertices = { vertices = [0, 1, 2] } }]"];
    expect(run("14-quasi-static-free.toml", "1", &held), 0, &[]);
}

#[test]
fn case_15_numbers_out_of_range_are_refused_where_they_stand() {
    let says = ["15-overflow-units.toml:2:8", "time.step", "too large for a number"];
    expect(check("15-overflow-units.toml", &[]), 2, &says);
    let set = ["--set", "time.step=0.01"];
    let says = ["15-overflow-units.toml:6:24", "density", "1e-30 to 1e30"];
    expect(check("15-overflow-units.toml", &set), 2, &says);
    let far = ["--set", "time.step=0.01", "--set", "objects.ball.material.density=1e3"];
    let far = [&far[..], &["--set", "objects.ball.translate=[1e200, 0, 0]"]].concat();
    expect(check("15-overflow-units.toml", &far), 2, &["objects[0].shape", "vertex 0", "1e30"]);
}

#[test]
fn case_16_a_folder_in_place_of_a_mesh_is_called_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("adir")).unwrap();
    let scene = folder.path().join("scene.toml");
    std::fs::copy(case("16-dir-as-mesh.toml"), &scene).unwrap();
    let found = say(&["check", scene.to_str().unwrap()]);
    expect(found, 2, &["scene.toml:3:8", "'adir' is a folder"]);
}

const BOX: &str = "[[objects]]\nname = \"ball\"\nshape = { kind = \"box\" }\n";

/// A scene file in a folder of its own.
fn scene(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn overrides_say_what_is_wrong_with_them() {
    let (_folder, path) = scene(BOX);
    for (option, parts) in [
        ("objects.ball.shape=5", &["objects[0].shape", "a table that says its `kind`"][..]),
        ("gravity[1]=-1", &["does not say 'gravity'", "give all of it"]),
        ("objects[0=5", &["a ']' is missing after '[0'"]),
        ("objects0]=5", &["a '[' is missing"]),
        ("objects.ball.name=''", &["objects[0].name", "must not be empty"]),
    ] {
        expect(say(&["check", &path, "--set", option]), 2, parts);
    }
}

#[test]
fn names_are_no_control_codes_and_unique() {
    let (_folder, path) = scene(&BOX.replace("ball", "b\\u001b[31mall"));
    let (code, said) = say(&["check", &path]);
    assert!(code == 2 && said.contains("control character") && !said.contains('\u{1b}'), "{said}");
    let (_folder, path) = scene(&format!("ground = -1.0\n{}", BOX.replace("ball", "ground")));
    expect(say(&["check", &path]), 2, &["objects[0].name", "'ground' is used twice"]);
    // what is wrong anyway is shown without its codes
    let (_folder, path) = scene("g\u{1b}[31m = 1\n");
    let (code, said) = say(&["check", &path]);
    assert!(code == 2 && !said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn long_texts_are_quoted_in_part() {
    let long = "9*".repeat(200_000) + "x";
    let force = format!("{BOX}forces = [{{ force = [\"{long}\", 0, 0] }}]\n");
    let (_folder, path) = scene(&force);
    let (code, said) = say(&["check", &path]);
    assert!(code == 2 && said.len() < 5000, "{} bytes", said.len());
}

#[test]
fn a_number_of_steps_replaces_the_end_before_it_is_checked() {
    let (folder, path) = scene(BOX);
    let out = folder.path().join("o");
    let out = out.to_str().unwrap();
    let args = ["run", &path, "-o", out, "--set", "time.step=1e-12", "-q", "--threads", "1"];
    expect(say(&args), 2, &["more than 10⁹ steps"]);
    expect(say(&[&args[..], &["--steps", "2"]].concat()), 0, &[]);
}

#[test]
fn a_file_in_place_of_the_folder_comes_with_advice() {
    let (folder, path) = scene(BOX);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let found = say(&["run", &path, "-o", file.to_str().unwrap(), "--steps", "1", "-q"]);
    expect(found, 2, &["a file stands where a folder is needed", "-o DIR"]);
}

#[test]
fn a_run_goes_on_without_its_statistics_and_not_as_another() {
    let (folder, path) = scene(BOX);
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let begin = |name: &str, set: &str| {
        let args = ["run", &path, "-o", &out(name), "--steps", "2", "-q", "--set", set];
        expect(say(&args), 0, &[]);
    };
    begin("a", "output.checkpoint_every=1");
    std::fs::remove_file(folder.path().join("a/stats.jsonl")).unwrap();
    let (code, said) = say(&["resume", &out("a"), "-q"]);
    let empty = {
        begin("b", "output.checkpoint_every=1");
        std::fs::write(folder.path().join("b/stats.jsonl"), "").unwrap();
        say(&["resume", &out("b"), "-q"])
    };
    assert_eq!((code, said.replace(&out("a"), "")), (empty.0, empty.1.replace(&out("b"), "")));

    begin("c", "output.checkpoint_every=1");
    begin("d", "objects.ball.name=\"other\"");
    let json = "run.json";
    std::fs::copy(folder.path().join("d").join(json), folder.path().join("c").join(json)).unwrap();
    expect(say(&["resume", &out("c"), "-q"]), 2, &["run.json", "belongs to another scene"]);
    std::fs::remove_file(folder.path().join("c").join(json)).unwrap();
    expect(say(&["resume", &out("c"), "-q"]), 2, &["is started again by `standoff run`"]);
}

#[test]
fn a_byte_order_mark_is_accepted_in_meshes_as_in_scenes() {
    let (folder, path) = scene(
        "\u{feff}[[objects]]\nname = \"m\"\nmesh = \"m.obj\"\nrole = \"shell\"\nmaterial = { shell = { thickness = 1e-3 } }\n",
    );
    let mesh = "\u{feff}v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(folder.path().join("m.obj"), mesh).unwrap();
    expect(say(&["check", &path]), 0, &["3 vertices, 1 triangles"]);
}

#[test]
fn case_06_the_barrier_free_solver_ends_at_the_tolerance() {
    let name = "06-barrier-free-converged-residual.toml";
    expect(run(name, "2", &BARRIER_FREE), 0, &[]);
    expect(run(name, "2", &BARRIER_FREE[..2]), 0, &[]);
}

#[test]
fn case_17_a_blocked_motion_says_by_whom_without_a_barrier_too() {
    for options in [&BARRIER_FREE[..], &BARRIER_FREE[..2]] {
        let strained = run("17-barrier-free-strain-limit-motion.toml", "2", options);
        expect(strained, 1, &["'c.motion[0]' is blocked", "at its strain limit is triangle"]);
        let blocked = run("17b-barrier-free-blocked-motion.toml", "2", options);
        expect(blocked, 1, &["'o.motion[0]' is blocked at 8", "of 'o'", "of 'b'"]);
    }
}

/// A body is dragged by prescribed vertices and has nothing to touch: both solvers take a few iterations.
#[test]
fn case_19_the_barrier_free_solver_ends_steps_in_which_vertices_are_dragged() {
    let (folder, path, meshes) =
        (tempfile::tempdir().unwrap(), case("19-barrier-free-never-ends.txt"), ipc_meshes());
    let [path, meshes] = [&path, &meshes].map(|p| p.to_str().unwrap());
    for solver in [&["--solver", "barrier"][..], &BARRIER_FREE] {
        let out = folder.path().join(solver[1]);
        let args = ["run", path, "-o", out.to_str().unwrap(), "--mesh-root", meshes, "-q"];
        expect(say(&[&args[..], &["--steps", "2"], solver].concat()), 0, &[]);
        let stats = std::fs::read_to_string(out.join("stats.jsonl")).unwrap();
        for line in stats.lines() {
            let report: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(report["outcome"], "converged", "{line}");
            assert!(report["newton_iterations"].as_u64().unwrap() <= 4, "{line}");
        }
        assert_eq!(stats.lines().count(), 2);
    }
}
