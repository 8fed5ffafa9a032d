//! What the pages of the book say: every scene on them is a scene, the options are those of the command, and
//! the outcomes of a step are those of the simulator.

use standoff_sim::report::StepOutcome;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn standoff(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs/src").join(name)).unwrap()
}

/// README and all pages, with their names.
fn pages() -> Vec<(String, String)> {
    let mut found = vec![("README.md".to_owned(), root().join("README.md"))];
    let mut folders = vec![root().join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let name = path.strip_prefix(root().join("docs/src")).unwrap();
                found.push((name.to_string_lossy().into_owned(), path));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(n, p)| (n, std::fs::read_to_string(p).unwrap())).collect()
}

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    page.split(open.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A block without objects shows one section of a scene and becomes a scene by adding an object.
#[test]
fn every_scene_of_the_book_can_start() {
    let folder = tempfile::tempdir().unwrap();
    let (mut faults, mut count) = (String::new(), 0);
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot/lamp.urdf");
    std::fs::copy(robot, folder.path().join("lamp.urdf")).unwrap();
    for (name, page) in pages() {
        for (k, block) in blocks(&page, "toml").into_iter().enumerate() {
            let mut scene = block.to_owned();
            if !scene.contains("[[objects]]") {
                scene.push_str(
                    "\n[[objects]]\nshape = { kind = \"box\", size = [0.5, 0.5, 0.5] }\n",
                );
            }
            let file = folder.path().join(format!("{count}.toml"));
            std::fs::write(&file, scene).unwrap();
            let output = standoff(&["check", file.to_str().unwrap()]);
            if !output.status.success() {
                let said = text(&output.stderr);
                faults.push_str(&format!("{name}, block {}: {said}\n{block}\n", k + 1));
            }
            count += 1;
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(count > 20, "{count} blocks");
}

#[test]
fn the_first_scene_is_checked_as_the_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = page("getting-started.md");
    let file = folder.path().join("ball.toml");
    std::fs::write(&file, blocks(&page, "toml")[0]).unwrap();
    let said = text(&standoff(&["check", file.to_str().unwrap()]).stdout);
    // the estimate of the memory depends on the machine's word for it
    let lines = |t: &str| -> Vec<String> {
        t.lines().filter(|l| !l.starts_with("memory")).map(|l| l.trim_end().to_owned()).collect()
    };
    assert_eq!(lines(&said), lines(blocks(&page, "text")[0]));
}

/// How far the plate comes and which vertex is closest depends on rounding, the rest does not.
#[test]
fn a_blocked_plate_ends_as_the_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let page = page("getting-started.md");
    let scene = blocks(&page, "toml").into_iter().find(|b| b.contains("name = \"plate\"")).unwrap();
    let file = folder.path().join("plate.toml");
    std::fs::write(&file, scene).unwrap();
    let out = folder.path().join("out");
    let longer = "objects.plate.motion.0.end=1.5";
    assert!(page.contains(longer));
    let [file, run] = [&file, &out].map(|p| p.to_str().unwrap());
    let output = standoff(&["run", file, "--set", longer, "-o", run, "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let shown = blocks(&page, "text").into_iter().find(|b| b.contains("is blocked at")).unwrap();
    let start = shown.split_once(" at ").unwrap().0;
    let end = shown.rsplit_once("; ").unwrap().1.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with(start) && said.trim_end().ends_with(&end), "{said}");
    assert!(said.contains("closest are") && out.join("failure.vtu").is_file(), "{said}");
}

#[test]
fn the_options_of_a_command_are_documented() {
    let page = page("command-line.md");
    let mut count = 0;
    for section in page.split("\n## ").skip(1) {
        let command = section.lines().next().unwrap();
        let rows = section.lines().filter(|l| l.starts_with("| `-"));
        for row in rows {
            let option = row.split('`').find(|part| part.starts_with("--")).unwrap();
            let option = option.split(' ').next().unwrap();
            let help = text(&standoff(&["help", command]).stdout);
            assert!(help.contains(option), "`standoff {command}` has no {option}");
            count += 1;
        }
    }
    assert!(count > 8, "{count} options");
    let help = text(&standoff(&["--help"]).stdout);
    for line in blocks(&page, "text")[0].lines() {
        let command = line.split_whitespace().nth(1).unwrap();
        assert!(help.contains(&format!("\n  {command} ")), "there is no command {command}");
    }
}

/// Every case of the table has a test, and it is there.
#[test]
fn every_case_names_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = page("validation/cases.md");
    let rows: Vec<&str> = page.lines().skip_while(|l| !l.starts_with("|---")).skip(1).collect();
    let mut numbers = Vec::new();
    for row in &rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert_eq!(cells.len(), 3, "{row}");
        let quoted: Vec<&str> = cells[2].split('`').skip(1).step_by(2).collect();
        let [file, test] = quoted[..] else { panic!("no file and test in {row}") };
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}()")), "{file} has no test {test}");
        let names = cells[0].trim_start_matches("| ").split(", ");
        numbers.extend(names.filter_map(|n| n.get(..2)?.parse::<u32>().ok()));
    }
    numbers.dedup();
    assert_eq!(numbers, (1..=19).collect::<Vec<u32>>());
}

#[test]
fn the_outcomes_of_a_step_are_documented() {
    let page = page("troubleshooting.md");
    let all = [
        StepOutcome::Converged,
        StepOutcome::TimeOfImpact,
        StepOutcome::RoundOff,
        StepOutcome::LaggingLimit,
        StepOutcome::IterationLimit,
        StepOutcome::StalledCcd,
        StepOutcome::StalledInversion,
        StepOutcome::StalledLineSearch,
    ];
    let rows: Vec<&str> = page
        .split("## Outcomes of a step")
        .nth(1)
        .unwrap()
        .lines()
        .skip_while(|l| !l.starts_with("|---"))
        .skip(1)
        .take_while(|l| l.starts_with('|'))
        .collect();
    assert_eq!(rows.len(), all.len());
    for outcome in all {
        let name = serde_json::to_value(outcome).unwrap();
        let start =
            format!("| `{}` | {} |", name.as_str().unwrap(), i32::from(!outcome.is_success()));
        assert!(rows.iter().any(|r| r.starts_with(&start)), "no row begins with {start}");
    }
}
