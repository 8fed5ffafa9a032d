//! Bad input at the command line: the message, exit code 2, and nothing left behind.

#[path = "../../scene/tests/common/bad_input.rs"]
mod table;

use std::path::Path;
use std::process::{Command, Output};

fn standoff(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff"))
        .current_dir(folder)
        .args(args)
        .output()
        .expect("the command starts")
}

/// Runs a command that must be refused; returns what it says.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = standoff(folder, args);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{args:?}: {text}");
    text
}

#[test]
fn every_row_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in table::FILES {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    for row in table::ROWS {
        std::fs::write(folder.path().join("scene.toml"), row.scene).unwrap();
        for command in [&["run", "scene.toml", "-o", "out"][..], &["check", "scene.toml"]] {
            let mut args = command.to_vec();
            row.set.iter().for_each(|s| args.extend(["--set", s]));
            let text = refused(folder.path(), &args);
            assert!(text.starts_with("error: "), "{}: {text}", row.name);
            for part in row.says {
                assert!(text.contains(part), "{}: lacks `{part}`\n{text}", row.name);
            }
        }
        assert!(!folder.path().join("out").exists(), "{} leaves a folder", row.name);
    }
}

/// Scenes that are well-formed but cannot start: found when the simulation is built.
#[test]
fn impossible_starts() {
    let folder = tempfile::tempdir().unwrap();
    let two = "[[objects]]\nname = \"a\"\nshape = { kind = \"box\" }\n\
               [[objects]]\nname = \"b\"\nshape = { kind = \"box\" }\ntranslate = [0.5, 0.4, 0.3]\n";
    let low = "ground = 0\n[[objects]]\nname = \"a\"\nshape = { kind = \"box\" }\n";
    for (scene, parts) in [
        (two, &["not free of intersections", "'a'", "'b'", "move the objects apart"][..]),
        (low, &["'a'", "behind the plane of half-space 'ground'", "move the object"]),
    ] {
        std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
        let text = refused(folder.path(), &["run", "scene.toml", "-o", "out"]);
        for part in [&["scene.toml"], parts].concat() {
            assert!(text.contains(part), "lacks `{part}`: {text}");
        }
        assert!(!folder.path().join("out").exists());
    }
    // the check lists all of them
    std::fs::write(folder.path().join("scene.toml"), two).unwrap();
    let output = standoff(folder.path(), &["check", "scene.toml"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("of 'a' meets ") && text.contains("violations at the start"), "{text}");
}

#[test]
fn bad_command_lines() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "[[objects]]\nshape = { kind = \"box\" }\n";
    std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
    for (args, parts) in [
        (
            &["run", "scen.toml", "-o", "out"][..],
            &["no such file", "did you mean 'scene.toml'"][..],
        ),
        (&["run", "."], &["cannot read the scene file"]),
        (&["run", ".", "-o", "out"], &["cannot read the scene file"]),
        (&["run", "scene.toml", "-o", "out", "--solver", "magic"], &["'magic'", "barrier"]),
        (&["run", "scene.toml", "-o", "out", "--audit", "often"], &["'often'", "every-step"]),
        (&["run", "scene.toml", "-o", "out", "--device", "tpu"], &["'tpu'", "cpu, gpu"]),
        (
            &[
                "run",
                "scene.toml",
                "-o",
                "out",
                "--device",
                "gpu",
                "--set",
                "solver.linear='cholesky'",
            ],
            &["solver.linear: nothing reads this key", "`solver.device = \"gpu\"`"],
        ),
        (
            &["run", "scene.toml", "-o", "out", "--device", "gpu", "--solver", "dot"],
            &["solver.device: nothing reads this key", "`solver.method = \"dot\"`"],
        ),
        (&["run", "scene.toml", "-o", "out", "--steps", "0"], &["--steps", "0"]),
        (&["run", "scene.toml", "-o", "out", "--steps", "two"], &["--steps", "two"]),
        (&["run", "scene.toml", "-o", "out", "--threads", "0"], &["--threads", "0"]),
        (&["runn", "scene.toml"], &["'runn'", "run"]),
        (&["audit", "nowhere"], &["nowhere holds no run", "run.json"]),
        (&[], &["Usage: standoff"]),
    ] {
        let text = refused(folder.path(), args);
        for part in parts {
            assert!(text.contains(part), "{args:?} lacks `{part}`: {text}");
        }
        assert!(!folder.path().join("out").exists());
    }
}

/// A program without graphics processors says so in one sentence, before anything is written, and how to build one with them.
#[cfg(not(feature = "gpu"))]
#[test]
fn a_graphics_processor_that_is_not_built_in() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "[[objects]]\nshape = { kind = \"box\" }\n";
    std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
    let says = |args: &[&str]| {
        let text = refused(folder.path(), args);
        for part in ["`solver.device = \"gpu\"`", "--features gpu", "take \"cpu\""] {
            assert!(text.contains(part), "lacks `{part}`: {text}");
        }
        assert_eq!(text.lines().count(), 1, "{text}");
    };
    says(&["run", "scene.toml", "-o", "out", "--device", "gpu"]);
    says(&["run", "scene.toml", "-o", "out", "--set", "solver.device='gpu'"]);
    assert!(!folder.path().join("out").exists());
    let run = standoff(folder.path(), &["run", "scene.toml", "-o", "out", "--steps", "1", "-q"]);
    assert!(run.status.success());
    says(&["resume", "out", "--steps", "2", "--device", "gpu"]);
    let info = String::from_utf8(standoff(folder.path(), &["info"]).stdout).unwrap();
    assert!(info.contains("not in this build") && info.contains("--features gpu"), "{info}");
}
