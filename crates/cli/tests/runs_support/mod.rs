//! Running the command and comparing what it leaves.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the command.
pub fn standoff(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff")).args(args).output().expect("the command starts")
}

/// Runs the command, which has to succeed.
pub fn good(args: &[&str]) {
    let output = standoff(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path as an argument.
pub fn path(p: &Path) -> &str {
    p.to_str().unwrap()
}

/// Everything that a run left, without checkpoints; `stats.jsonl` without wall times.
pub fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for inner in ["", "frames", "surface"] {
        let entries =
            fs::read_dir(folder.join(inner)).into_iter().flatten().map(|e| e.unwrap().path());
        for file in entries.filter(|f| f.is_file()) {
            let name = file.strip_prefix(folder).unwrap().display().to_string();
            let mut bytes = fs::read(&file).unwrap();
            if name == "stats.jsonl" {
                let whole = text(&bytes);
                let line = |l: &str| {
                    let mut report: serde_json::Value = serde_json::from_str(l).unwrap();
                    report.as_object_mut().unwrap().remove("seconds").unwrap();
                    report.to_string() + "\n"
                };
                bytes = whole.lines().map(line).collect::<String>().into_bytes();
            }
            all.insert(name, bytes);
        }
    }
    all
}

/// Every file of two runs has the same bytes.
pub fn same_results(a: &Path, b: &Path) {
    let (a, b) = (results(a), results(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(*bytes == b[name], "{name} differs");
    }
}
