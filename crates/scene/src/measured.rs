//! Tables of measured stresses of rubber: two columns, of which the first line says what they are.
//!
//! ```text
//! # comments begin so
//! stretch, stress (MPa)
//! 1.12, 0.14
//! ```
//!
//! The first column is `stretch`, `strain` (the stretch less 1; also in %) or, of a sheared sample, `shear`; the second `stress`, which is nominal (force
//! over the area at rest), or `true stress`. Columns are separated by commas, semicolons or tabs.

use crate::units;
use standoff_mesh::input;
use standoff_sim::material::rubber::Experiment;
use standoff_sim::material::rubber::fit::Measured;
use std::path::{Path, PathBuf};

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that is not understood.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line.
        line: usize,
        /// What is wrong, and what is expected.
        what: String,
    },
}

/// What the columns are.
struct Columns {
    strain: bool,
    /// What a number of the first column is multiplied by: 0.01 for %.
    first: f64,
    /// Pa per number of the second.
    second: f64,
    is_true: bool,
}

/// Reads the table of an experiment.
///
/// # Errors
/// The file cannot be read, or a line is not understood.
pub fn read(path: &Path, experiment: Experiment) -> Result<Measured, TableError> {
    let text = input::text(path, input::MOST_DATA)
        .map_err(|source| TableError::Read { path: path.to_owned(), source })?;
    parse(&text, experiment).map_err(|(line, what)| TableError::Line {
        path: path.to_owned(),
        line,
        what,
    })
}

/// The table in a text; errors with the number of the line.
fn parse(text: &str, experiment: Experiment) -> Result<Measured, (usize, String)> {
    let mut columns: Option<Columns> = None;
    let mut points = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fail = |what: String| (k + 1, what);
        let fields: Vec<&str> = line.split([',', ';', '\t']).map(str::trim).collect();
        let [a, b] = fields[..] else {
            let count = fields.len();
            return Err(fail(format!(
                "two columns are expected, separated by commas, semicolons or tabs; found {count}"
            )));
        };
        let Some(c) = &columns else {
            columns = Some(header(a, b, experiment).map_err(fail)?);
            continue;
        };
        let number = |field: &str| {
            let number = field.parse::<f64>().ok().filter(|x| x.is_finite());
            number.ok_or_else(|| fail(format!("expected a number, found \"{field}\"")))
        };
        let (by, stress) = (number(a)? * c.first, number(b)? * c.second);
        let by = if c.strain { 1.0 + by } else { by };
        if experiment != Experiment::Shear && by <= 0.0 {
            let what = "a stretch must be positive (1 at rest), a strain more than -1";
            return Err(fail(format!("{what}; found \"{a}\"")));
        }
        points.push([by, if c.is_true { stress / by } else { stress }]);
    }
    if columns.is_none() {
        return Err((1, EXAMPLE.into()));
    }
    Ok(Measured { experiment, points })
}

const EXAMPLE: &str = "the first line must say what the columns are, as `stretch, stress (MPa)`, `strain (%), stress (MPa)` or \
                       `shear, stress (kPa)`";

/// What the names of the columns say.
fn header(first: &str, second: &str, experiment: Experiment) -> Result<Columns, String> {
    let (name, unit) = split(first);
    let sheared = experiment == Experiment::Shear;
    let strain = match name.as_str() {
        "stretch" if !sheared => false,
        "strain" | "engineering strain" | "nominal strain" if !sheared => true,
        "shear" | "shear strain" if sheared => false,
        _ if sheared => {
            return Err(format!(
                "{EXAMPLE}; this table is of a sheared sample, whose first column is `shear`"
            ));
        }
        _ => return Err(EXAMPLE.into()),
    };
    let first = match unit {
        "" | "-" | "1" => 1.0,
        "%" => 0.01,
        other => return Err(format!("`{name}` is a number or in %, not in \"{other}\"")),
    };
    let (name, unit) = split(second);
    let is_true = match name.as_str() {
        "stress" | "nominal stress" | "engineering stress" | "shear stress" => false,
        "true stress" | "cauchy stress" if !sheared => true,
        _ => return Err(EXAMPLE.into()),
    };
    let second = match unit {
        "" => 1.0,
        unit => units::convert(&format!("1 {unit}"), "Pa")?,
    };
    Ok(Columns { strain, first, second, is_true })
}

/// The name of a column in small letters, and its unit in parentheses or brackets.
fn split(column: &str) -> (String, &str) {
    let column = column.trim_matches('"');
    let (name, unit) = match column.find(['(', '[']) {
        Some(at) => (&column[..at], column[at + 1..].trim_end_matches([')', ']'])),
        None => (column, ""),
    };
    (name.trim().to_lowercase().replace('_', " "), unit.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_what_the_first_line_says() {
        let of = |text: &str, e| parse(text, e).unwrap().points;
        let uniaxial = Experiment::Uniaxial;
        let table = "# by me\nstretch, stress (MPa)\n1.5, 0.3\n\n2; 0.6\n";
        assert_eq!(of(table, uniaxial), [[1.5, 0.3e6], [2.0, 0.6e6]]);
        let table = "Engineering_strain [%]\tTrue stress [kPa]\n50\t300\n";
        assert_eq!(of(table, uniaxial), [[1.5, 0.2e6]]);
        assert_eq!(of("shear;stress\n0.5;7\n", Experiment::Shear), [[0.5, 7.0]]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let says = |text: &str, e, line: usize, part: &str| {
            let (at, what) = parse(text, e).unwrap_err();
            assert!(at == line && what.contains(part), "{at}: {what}");
        };
        let uniaxial = Experiment::Uniaxial;
        says("", uniaxial, 1, "`stretch, stress (MPa)`");
        says("1.5, 0.3\n", uniaxial, 1, "`stretch, stress (MPa)`");
        says("stretch, stress, time\n", uniaxial, 1, "found 3");
        says("stretch, stress (mm)\n", uniaxial, 1, "is a length");
        says("stretch (mm), stress\n", uniaxial, 1, "not in \"mm\"");
        says("stretch, stress\n1.5, x\n", uniaxial, 2, "expected a number");
        says("stretch, stress\n1.5, inf\n", uniaxial, 2, "expected a number");
        says("strain, stress\n0.1, 1\n-1, 2\n", uniaxial, 3, "more than -1");
        says("stretch, stress\n", Experiment::Shear, 1, "`shear`");
    }
}
