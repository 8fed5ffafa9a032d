//! `export`, `render` and `plot` from outside: what they write, refuse and leave untouched. That the formats hold
//! what the run holds is tested in the crate of the formats.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn standoff(args: &[&str], run: &Path, output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_standoff"));
    command.args(args).arg(run).arg("-o").arg(output);
    command
}

fn ends(mut command: Command, code: i32) -> Output {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run of three frames.
fn simulated(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/two-cubes-fall.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_standoff"));
    command.arg("run").arg(scene).args(["--steps", "2", "--quiet", "-o"]).arg(&run);
    ends(command, 0);
    run
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_format_is_written_and_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulated(folder.path());
    for (name, first) in [
        ("a.usda", "a.usda"),
        ("a.GLB", "a.GLB"),
        ("a.ply", "a_000000.ply"),
        ("a.obj", "a_000000.obj"),
        ("a.stl", "a_000000.stl"),
    ] {
        let out = folder.path().join("out");
        // a sequence has a folder to itself, which is created
        if name == "a.usda" || name == "a.GLB" {
            std::fs::create_dir(&out).unwrap();
        }
        let (file, first) = (out.join(name), out.join(first));
        let output = ends(standoff(&["export"], &run, &file), 0);
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("2 bodies, 3 frames"), "{told}");
        assert!(first.metadata().unwrap().len() > 100, "{name}");
        assert_eq!(names(&out).len(), if name == "a.usda" || name == "a.GLB" { 1 } else { 3 });

        std::fs::write(&first, "mine").unwrap();
        let output = ends(standoff(&["export"], &run, &file), 2);
        assert!(said(&output).contains("exists"), "{}", said(&output));
        assert_eq!(std::fs::read(&first).unwrap(), b"mine", "{name}");
        ends(standoff(&["export", "--force"], &run, &file), 0);
        assert!(first.metadata().unwrap().len() > 100, "{name}");
        std::fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulated(folder.path());
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (command, run, file, code, message) in [
        ("export", &run, out.join("a.fbx"), 2, "unknown format; choose .html"),
        ("export", &run, out.join("a"), 2, "unknown format"),
        ("export", &empty, out.join("a.glb"), 1, "run.json"),
        ("render", &empty, out.join("movie"), 1, "run.json"),
        ("render", &run, out.join("none/a.mp4"), 1, "none"),
        ("render", &run, out.join("a.png"), 2, "pictures go into a folder"),
        ("plot", &empty, out.join("a.svg"), 1, "stats.jsonl"),
        ("plot", &run, out.join("a.png"), 2, "ends with .svg or .pdf"),
        ("plot", &run, out.join("a"), 2, "ends with .svg"),
    ] {
        let output = ends(standoff(&[command], run, &file), code);
        assert!(said(&output).contains(message), "{command} {file:?}: {}", said(&output));
        assert_eq!(names(&out), [""; 0], "{command} {file:?}");
    }
}

#[test]
fn pictures_and_curves_are_written_and_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulated(folder.path());
    let movie = folder.path().join("movie");
    let arguments = ["render", "--size", "64x48", "--from", "-1,0.5,0"];
    ends(standoff(&arguments, &run, &movie), 0);
    assert_eq!(names(&movie), ["000000.png", "000001.png", "000002.png"]);
    let picture = std::fs::read(movie.join("000001.png")).unwrap();
    assert_eq!(
        (&picture[..8], &picture[16..24]),
        (&b"\x89PNG\r\n\x1a\n"[..], &[0, 0, 0, 64, 0, 0, 0, 48][..])
    );
    let output = ends(standoff(&arguments, &run, &movie), 2);
    assert!(said(&output).contains("000000.png exists"), "{}", said(&output));
    ends(standoff(&[&arguments[..], &["--force"]].concat(), &run, &movie), 0);

    let curves = folder.path().join("curves.svg");
    ends(standoff(&["plot"], &run, &curves), 0);
    assert!(std::fs::read_to_string(&curves).unwrap().starts_with("<svg"));
    std::fs::write(&curves, "mine").unwrap();
    ends(standoff(&["plot"], &run, &curves), 2);
    assert_eq!(std::fs::read(&curves).unwrap(), b"mine");
    ends(standoff(&["plot", "--force"], &run, &curves), 0);

    let page = folder.path().join("curves.pdf");
    ends(standoff(&["plot"], &run, &page), 0);
    assert!(std::fs::read(&page).unwrap().starts_with(b"%PDF-"));

    let created = folder.path().join("new/deep/curves.SVG");
    ends(standoff(&["plot"], &run, &created), 0);
    assert!(created.exists());

    let force = ["plot", "--force", "-c", "forces.half_spaces.ground.y"];
    let over =
        [&force[..], &["--against", "linear_momentum.y", "--curve", "kinetic_energy"]].concat();
    for (arguments, titles) in [
        (&force[..], vec!["forces.half_spaces.ground.y, N<"]),
        (&over[..], vec!["ground.y, N over linear_momentum.y, kg m/s<", "kinetic_energy, J over"]),
    ] {
        ends(standoff(arguments, &run, &curves), 0);
        let drawn = std::fs::read_to_string(&curves).unwrap();
        assert!(titles.iter().all(|title| drawn.contains(title)), "{drawn}");
    }
    let output = ends(standoff(&["plot", "--force", "-c", "forces.ground.y"], &run, &curves), 2);
    let known = "no step has a number 'forces.ground.y'; what there is: bodies, ";
    assert!(said(&output).contains(known), "{}", said(&output));
}

/// A program named ffmpeg that does what `script` says; gives the search path on which it alone is.
#[cfg(unix)]
fn ffmpeg(folder: &Path, script: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = bin.join("ffmpeg");
    std::fs::write(&program, format!("#!/bin/sh\nfor last; do :; done\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

#[test]
#[cfg(unix)]
fn a_film_appears_complete_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulated(folder.path());
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    let film = out.join("film.mp4");
    let render = |path: &Path, more: &[&str]| {
        let mut command = standoff(&["render", "--size", "33x16"], &run, &film);
        command.args(more).env("PATH", path);
        command
    };
    let absent = folder.path().join("nothing");
    let output = ends(render(&absent, &[]), 1);
    assert!(said(&output).contains("ffmpeg cannot be started"), "{}", said(&output));
    assert_eq!(names(&out), [""; 0]);

    for failing in
        ["echo half >\"$last\"; exit 1", "/bin/cat >\"$last\"; echo 'no room' >&2; exit 3"]
    {
        let output = ends(render(&ffmpeg(folder.path(), failing), &[]), 1);
        assert!(said(&output).contains("ffmpeg failed"), "{}", said(&output));
        assert_eq!(names(&out), [""; 0]);
    }

    // what it is given: three pictures of an even number of pixels, three bytes each
    let copying = ffmpeg(folder.path(), "exec /bin/cat >\"$last\"");
    ends(render(&copying, &[]), 0);
    assert_eq!(names(&out), ["film.mp4"]);
    assert_eq!(film.metadata().unwrap().len(), 3 * 3 * 34 * 16);
    let output = ends(render(&copying, &[]), 2);
    assert!(said(&output).contains("film.mp4 exists"), "{}", said(&output));
    ends(render(&ffmpeg(folder.path(), "exit 1"), &["--force"]), 1);
    assert_eq!(film.metadata().unwrap().len(), 3 * 3 * 34 * 16);
}
