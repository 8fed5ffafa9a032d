//! Laws of materials: linear elasticity, and rubber by its constants.

use crate::error::{Fault, Notes};
use crate::source::{Block, label};
use crate::text::{entry, number};

/// Terms of Ogden's law in a scene at most.
const OGDEN_TERMS: usize = 6;

/// Poisson's ratio of a rubber of which the file gives no compressibility.
const NEARLY_INCOMPRESSIBLE: f64 = 0.495;

/// The law of a solid of a material.
#[derive(Debug, Clone)]
pub(crate) enum Law {
    /// Young's modulus and Poisson's ratio.
    Elastic(f64, f64),
    /// Its kind and constants in the scene, of which those in Pa are written as they are.
    Rubber { kind: &'static str, constants: Vec<(&'static str, f64, bool)>, bulk: Option<f64> },
    /// Terms μ, α of Ogden's law.
    Ogden { terms: Vec<(f64, f64)>, bulk: Option<f64> },
}

// long: a branch for each law
/// The law of *HYPERELASTIC.
pub(crate) fn hyperelastic(block: &Block, notes: &mut Notes) -> Result<Law, Fault> {
    const KINDS: [&str; 7] = [
        "NEO HOOKE",
        "MOONEY-RIVLIN",
        "YEOH",
        "OGDEN",
        "ARRUDA-BOYCE",
        "REDUCED POLYNOMIAL",
        "POLYNOMIAL",
    ];
    let known = [&KINDS[..], &["N", "MODULI"]].concat();
    block.reads(&known, notes);
    let kind = KINDS.into_iter().find(|k| block.parameter(k).is_some()).unwrap_or("POLYNOMIAL");
    let n = block.parameter("N").map_or(Ok(1), |n| label(n, block.at))? as usize;
    let unsupported = |what: &str, hint: &str| Err(Fault::new(block.at, what, hint));
    if block.parameter("TEST DATA INPUT").is_some() {
        return unsupported(
            "constants are not fitted here",
            "`standoff fit` finds them from the measurements",
        );
    }
    let (names, bulks): (&[&'static str], usize) = match (kind, n) {
        ("NEO HOOKE", _) | ("REDUCED POLYNOMIAL", 1) => (&["c10"], 1),
        ("MOONEY-RIVLIN", _) | ("POLYNOMIAL", 1) => (&["c10", "c01"], 1),
        ("POLYNOMIAL", 2) => (&["c10", "c01", "c20", "c11", "c02"], 2),
        ("REDUCED POLYNOMIAL", 2) => (&["c10", "c20"], 2),
        ("YEOH", _) | ("REDUCED POLYNOMIAL", 3) => (&["c10", "c20", "c30"], 3),
        ("ARRUDA-BOYCE", _) => (&["mu", "locking_stretch"], 1),
        ("OGDEN", 1..=OGDEN_TERMS) => (&[], n),
        _ => {
            let what = format!("the law {kind} with N={n} is not supported");
            return unsupported(
                &what,
                "Polynomials go to N=2, reduced ones to 3, Ogden's law to 6",
            );
        }
    };
    let constants = if kind == "OGDEN" { 2 * n } else { names.len() };
    // a row of constants may be continued on the next line behind eight numbers
    let (mut row, mut rows) = (Vec::new(), block.table()?.into_iter());
    while row.len() < constants
        && let Some(next) = rows.next()
    {
        row.extend(next.into_iter().map(|x| x.unwrap_or(0.0)));
    }
    if row.len() < constants {
        let what = format!("the law {kind} has {} of {constants} constants", row.len());
        return unsupported(&what, "Complete the line below");
    }
    if row.len() < constants + bulks
        && row.len() % 8 == 0
        && let Some(next) = rows.next()
    {
        row.extend(next.into_iter().map(|x| x.unwrap_or(0.0)));
    }
    of_temperature(block, rows.count(), 0, notes);
    let given = |k: usize| row.get(constants + k).copied().filter(|d| *d != 0.0);
    if (1..bulks).any(|k| given(k).is_some()) {
        notes.add(block.at, "D2 and D3 of *HYPERELASTIC are left out: D1 gives the bulk modulus");
    }
    if let Some(d1) = given(0).filter(|d1| *d1 < 0.0) {
        return unsupported(
            &format!("D1 of *HYPERELASTIC is {d1}"),
            "It is 2 over the bulk modulus, and must be positive",
        );
    }
    let bulk = given(0).map(|d1| 2.0 / d1);
    if bulk.is_none() {
        let text = format!(
            "D1 is 0 or missing, an incompressible rubber: Poisson's ratio is {NEARLY_INCOMPRESSIBLE}"
        );
        notes.add(block.at, text);
    }
    Ok(match kind {
        "OGDEN" => {
            Law::Ogden { terms: (0..n).map(|i| (row[2 * i], row[2 * i + 1])).collect(), bulk }
        }
        _ => {
            let modulus = |k: usize| names[k] != "locking_stretch";
            let constants = (0..names.len()).map(|k| (names[k], row[k], modulus(k))).collect();
            let kind = match kind {
                "ARRUDA-BOYCE" => "arruda-boyce",
                "YEOH" | "REDUCED POLYNOMIAL" => "yeoh",
                _ => "mooney-rivlin",
            };
            Law::Rubber { kind, constants, bulk }
        }
    })
}

/// Notes rows of a table beyond those that are read.
pub(crate) fn of_temperature(block: &Block, rows: usize, needed: usize, notes: &mut Notes) {
    if rows > needed {
        let text = format!("*{} depends on the temperature: the first values hold", block.keyword);
        notes.add(block.at, text);
    }
}

impl Law {
    /// Writes the law with its shear modulus times `left`.
    pub(crate) fn write(&self, left: f64, out: &mut String) {
        let volume = |bulk: &Option<f64>, out: &mut String| match bulk {
            Some(bulk) => entry(out, "bulk_modulus", &number(*bulk)),
            None => entry(out, "poisson_ratio", &number(NEARLY_INCOMPRESSIBLE)),
        };
        match self {
            Self::Elastic(young, poisson) if left < 1.0 => {
                let shear = left * young / (2.0 * (1.0 + poisson));
                let bulk = young / (3.0 * (1.0 - 2.0 * poisson));
                entry(out, "young_modulus", &number(9.0 * bulk * shear / (3.0 * bulk + shear)));
                let poisson = (3.0 * bulk - 2.0 * shear) / (2.0 * (3.0 * bulk + shear));
                entry(out, "poisson_ratio", &number(poisson));
            }
            Self::Elastic(young, poisson) => {
                entry(out, "young_modulus", &number(*young));
                entry(out, "poisson_ratio", &number(*poisson));
            }
            Self::Rubber { kind, constants, bulk } => {
                let constant = |(name, x, scaled): &(&str, f64, bool)| {
                    format!("{name} = {}", number(if *scaled { left * x } else { *x }))
                };
                let list: Vec<String> = constants.iter().map(constant).collect();
                entry(out, "rubber", &format!("{{ kind = \"{kind}\", {} }}", list.join(", ")));
                volume(bulk, out);
            }
            Self::Ogden { terms, bulk } => {
                let term = |(mu, alpha): &(f64, f64)| {
                    format!("{{ mu = {}, alpha = {} }}", number(left * mu), number(*alpha))
                };
                let list: Vec<String> = terms.iter().map(term).collect();
                entry(
                    out,
                    "rubber",
                    &format!("{{ kind = \"ogden\", terms = [{}] }}", list.join(", ")),
                );
                volume(bulk, out);
            }
        }
    }
}
