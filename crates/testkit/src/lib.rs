//! Helpers of the tests: finite differences, readers of the oracle, slow and obvious twins.
//!
//! Only tests and benches depend on this crate.

use std::path::{Path, PathBuf};

pub mod finite_difference;

/// The folder `shared/` beside the project (or `$STANDOFF_SHARED`), with the oracle values and
/// reference runs; `None`, with the reason printed, where it is absent, so that a test can skip.
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("STANDOFF_SHARED") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let path = root.join(relative);
    if path.exists() {
        Some(path)
    } else {
        eprintln!(
            "skipped: {} is absent (set STANDOFF_SHARED to the shared folder)",
            path.display()
        );
        None
    }
}

/// Reads a JSON file of `shared/`; `None` (test skips) where it is absent.
pub fn shared_json(relative: &str) -> Option<serde_json::Value> {
    let path = shared(relative)?;
    let text = std::fs::read_to_string(&path).expect("readable oracle file");
    Some(serde_json::from_str(&text).expect("valid JSON in the oracle"))
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
