//! Helpers of the tests: finite differences, random numbers, readers of the oracle.
//!
//! Only tests and benches depend on this crate.

use std::io::Write;
use std::path::{Path, PathBuf};

pub mod finite_difference;
pub mod npz;
mod random;
pub mod shapes;

pub use fastrand;
pub use random::Random;

/// Whether all samples are wanted (`STANDOFF_THOROUGH=1`, as in `.ci/run`) rather than enough for a quick check.
pub fn thorough() -> bool {
    std::env::var_os("STANDOFF_THOROUGH").is_some_and(|v| v == "1")
}

/// `all` samples, or a fifth of them where not all are wanted.
pub fn samples(all: u64) -> u64 {
    if thorough() { all } else { all.div_ceil(5) }
}

/// A file or folder of the repository's `testdata/`, whose README tells where everything comes from.
///
/// # Panics
/// Where it is absent: the repository is not complete.
pub fn testdata(relative: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(relative);
    assert!(path.exists(), "{} belongs to the repository", path.display());
    path
}

/// Reads a JSON file of `testdata/`.
///
/// # Panics
/// Where it is absent or is no JSON.
pub fn testdata_json(relative: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(testdata(relative)).expect("readable test data");
    serde_json::from_str(&text).expect("valid JSON in the test data")
}

/// A file or folder of `shared/` beside the project (or of `$STANDOFF_SHARED`): data too large for the
/// repository. `None` where it is absent, so that a test can return; the test is then counted as one
/// that was not run.
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("STANDOFF_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join(relative);
    if path.exists() {
        Some(path)
    } else {
        let what = "is absent (STANDOFF_SHARED names the folder of shared data)";
        not_run(&format!("{} {what}", path.display()));
        None
    }
}

/// Notes that the test that calls this was not run, and why: on standard error, and as a line of the
/// file `$STANDOFF_NOT_RUN`, which `test.sh` counts at its end.
pub fn not_run(reason: &str) {
    eprintln!("not run: {reason}");
    let Some(file) = std::env::var_os("STANDOFF_NOT_RUN") else { return };
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::file_stem).unwrap_or_default();
    // cargo appends a hash to the names of test programs
    let program = program.to_string_lossy();
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let thread = std::thread::current();
    let line = format!("{program}::{}: {reason}\n", thread.name().unwrap_or("?"));
    let options = std::fs::OpenOptions::new().create(true).append(true).open(file);
    // one write of one line: tests that run side by side do not mix
    options
        .and_then(|mut f| f.write_all(line.as_bytes()))
        .expect("STANDOFF_NOT_RUN can be written");
}

/// A number of the oracle, where inf and nan are strings.
pub fn number(value: &serde_json::Value) -> f64 {
    match value {
        serde_json::Value::String(s) => match s.as_str() {
            "inf" | "Infinity" => f64::INFINITY,
            "-inf" | "-Infinity" => f64::NEG_INFINITY,
            _ => f64::NAN,
        },
        v => v.as_f64().unwrap_or(f64::NAN),
    }
}

/// The numbers of an array of any nesting, flattened.
pub fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(numbers).collect(),
        v => vec![number(v)],
    }
}
