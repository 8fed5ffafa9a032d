//! What makes the first minutes easy: scenes to start from, folders without a name, slips of the pen, shells.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn standoff(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_standoff"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn every_template_runs() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["drop", "cloth", "press", "slope", "mesh"] {
        let file = format!("new/{name}.v1");
        let output = standoff(folder.path(), &["new", &file, "--template", name]);
        assert!(output.status.success(), "{}", said(&output));
        let scene = format!("{file}.toml");
        let run = ["run", &scene, "--steps", "8", "--quiet"];
        let output = standoff(folder.path(), &run);
        assert!(output.status.success(), "{name}: {}", said(&output));
        assert!(folder.path().join(format!("out/{name}.v1/run.pvd")).is_file(), "{name}");
    }
    // what was written by hand stays
    let file = folder.path().join("mine.toml");
    fs::write(&file, "mine").unwrap();
    let output = standoff(folder.path(), &["new", "mine.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("exists"), "{}", said(&output));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(standoff(folder.path(), &["new", "mine", "--force"]).status.success());
    assert!(fs::read_to_string(&file).unwrap().contains("[[objects]]"));
}

#[test]
fn a_run_without_a_folder_never_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    assert!(standoff(folder.path(), &["new", "ball"]).status.success());
    let frames =
        |name: &str| fs::read_dir(folder.path().join(name).join("frames")).unwrap().count();
    for (steps, name) in [("1", "out/ball"), ("2", "out/ball-2"), ("3", "out/ball-3")] {
        let output = standoff(folder.path(), &["run", "ball.toml", "--steps", steps]);
        assert!(said(&output).contains(&format!("results in {name}\n")), "{}", said(&output));
    }
    let output = standoff(folder.path(), &["run", "ball.toml", "--steps", "4", "--force"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(["out/ball", "out/ball-2", "out/ball-3"].map(frames), [5, 3, 4]);
}

#[test]
fn a_slip_of_the_pen_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    for (written, meant) in
        [("rnu", "run"), ("veiw", "view"), ("exprot", "export"), ("inof", "info")]
    {
        let output = standoff(folder.path(), &[written]);
        assert_eq!(output.status.code(), Some(2));
        let told = said(&output);
        assert!(told.contains("similar") && told.contains(&format!("'{meant}'")), "{told}");
    }
    let output = standoff(folder.path(), &["abcdefgh"]);
    assert!(!said(&output).contains("similar"), "{}", said(&output));
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let help = said(&standoff(folder.path(), &["help"]));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(&standoff(folder.path(), &["completions", shell]));
        for word in ["resume", "export", "--template"] {
            // some shells write the two hyphens apart
            assert!(script.contains(word.trim_start_matches('-')), "{shell} lacks {word}");
        }
    }
    let output = standoff(folder.path(), &["man", "man1"]);
    assert!(output.status.success(), "{}", said(&output));
    let commands = help.lines().skip_while(|l| !l.starts_with("Commands:")).skip(1);
    let commands = commands.take_while(|l| l.starts_with("  "));
    let names =
        commands.filter(|l| !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    let names: Vec<&str> = names.filter(|n| *n != "help").collect();
    assert!(names.len() >= 14, "{help}");
    for name in names {
        let page = folder.path().join(format!("man1/standoff-{name}.1"));
        assert!(fs::read_to_string(&page).unwrap().contains(".TH"), "{name}");
    }
    assert!(folder.path().join("man1/standoff.1").is_file());
}
