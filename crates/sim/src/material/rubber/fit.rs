//! Constants of laws of rubber from measured stresses.
//!
//! A law is linear in its moduli. For given exponents (of Ogden's law, λₘ, Jₘ) the moduli are those of least squares; the exponents are
//! searched for on a grid and then improved by the method of Levenberg and Marquardt [Nocedal & Wright 2006, §10.3].

mod rows;

use super::{Experiment, OGDEN_TERMS, OgdenTerm, Rubber};
use rows::Rows;
use standoff_linalg::nalgebra::{DMatrix, DVector};
use std::fmt;

/// Nominal stresses of an incompressible sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How it was loaded.
    pub experiment: Experiment,
    /// Stretches or shears, with the stress, Pa.
    pub points: Vec<[f64; 2]>,
}

/// The law that is to be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FittedLaw {
    /// Of 1 (c₁₀), 2 (c₀₁), 3 (c₁₁) or 5 (c₂₀, c₀₂) terms.
    MooneyRivlin(usize),
    /// Of 1 to 3 terms.
    Yeoh(usize),
    /// See [`Rubber::ArrudaBoyce`].
    ArrudaBoyce,
    /// See [`Rubber::Gent`].
    Gent,
    /// Of 1 to 6 terms.
    Ogden(usize),
}

impl fmt::Display for FittedLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.key(), self.terms()) {
            (key, None) => write!(f, "{key}"),
            (key, Some(1)) => write!(f, "{key}, 1 term"),
            (key, Some(terms)) => write!(f, "{key}, {terms} terms"),
        }
    }
}

/// A law with its distance from what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The law.
    pub rubber: Rubber,
    /// The root mean square of the relative errors, of each experiment and of all; see [`fit`].
    pub errors: Vec<f64>,
    /// The same of all points.
    pub error: f64,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// A number of terms that the law has not.
    #[error("the law {law} has {}", of_terms(possible))]
    Terms {
        /// Its name.
        law: &'static str,
        /// The numbers of terms that it may have; empty where it has none.
        possible: &'static [usize],
    },
    /// Fewer points than constants.
    #[error(
        "a law with {constants} constants needs as many points with a load; {points} were given"
    )]
    TooFew {
        /// Constants of the law.
        constants: usize,
        /// Points away from rest.
        points: usize,
    },
    /// A stretch that is not positive, or a number that is not finite.
    #[error("{experiment}, point {number}: {what}")]
    Point {
        /// The experiment.
        experiment: &'static str,
        /// Number of the point, from 1 on.
        number: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// All moduli are zero.
    #[error("no positive modulus fits: do stresses have the sign of the stretch?")]
    NoModulus,
}

fn of_terms(possible: &[usize]) -> String {
    let all: Vec<String> = possible.iter().map(usize::to_string).collect();
    match all.split_last() {
        None => "no terms".into(),
        Some((last, others)) => format!("{} or {last} terms", others.join(", ")),
    }
}

/// The law whose stresses are nearest to those measured: the sum of squared errors is least, each relative to the measured stress, or to a tenth of
/// the greatest of its experiment where that is more; every experiment counts alike. Moduli that make the energy negative somewhere are
/// replaced by the best ones that are not negative.
///
/// # Errors
/// See [`FitError`].
pub fn fit(law: FittedLaw, measured: &[Measured]) -> Result<Fit, FitError> {
    law.check()?;
    let rows = Rows::new(measured)?;
    let constants = law.exponents() + law.moduli();
    if rows.points.len() < constants {
        return Err(FitError::TooFew { constants, points: rows.points.len() });
    }
    let exponents = law.search(&rows);
    let basis = law.basis(&exponents);
    let free = rows.least_squares(&basis);
    let rubber = [free, rows.not_negative(&basis)]
        .into_iter()
        .map(|moduli| law.rubber(&exponents, rows.noticeable(&basis, moduli).as_slice()))
        .find(|rubber| rubber.validate().is_ok())
        .ok_or(FitError::NoModulus)?;
    let errors = (0..measured.len()).map(|m| rows.error(&rubber, Some(m))).collect();
    let error = rows.error(&rubber, None);
    Ok(Fit { rubber, errors, error })
}

impl FittedLaw {
    /// The names of the laws.
    pub const KEYS: [&'static str; 5] = ["mooney-rivlin", "yeoh", "arruda-boyce", "gent", "ogden"];

    /// The law of this name, where there is one, with a number of terms; 2 of Mooney–Rivlin and 3 of the others by default.
    pub fn named(key: &str, terms: Option<usize>) -> Option<Result<Self, FitError>> {
        let without = |law: Self| match terms {
            Some(_) => Err(FitError::Terms { law: law.key(), possible: &[] }),
            None => Ok(law),
        };
        let with = |law: Self| law.check().map(|()| law);
        Some(match key {
            "mooney-rivlin" => with(Self::MooneyRivlin(terms.unwrap_or(2))),
            "yeoh" => with(Self::Yeoh(terms.unwrap_or(3))),
            "arruda-boyce" => without(Self::ArrudaBoyce),
            "gent" => without(Self::Gent),
            "ogden" => with(Self::Ogden(terms.unwrap_or(3))),
            _ => return None,
        })
    }

    /// Its name.
    pub fn key(self) -> &'static str {
        match self {
            Self::MooneyRivlin(_) => "mooney-rivlin",
            Self::Yeoh(_) => "yeoh",
            Self::ArrudaBoyce => "arruda-boyce",
            Self::Gent => "gent",
            Self::Ogden(_) => "ogden",
        }
    }

    fn terms(self) -> Option<usize> {
        match self {
            Self::MooneyRivlin(terms) | Self::Yeoh(terms) | Self::Ogden(terms) => Some(terms),
            Self::ArrudaBoyce | Self::Gent => None,
        }
    }

    fn check(self) -> Result<(), FitError> {
        let possible: &[usize] = match self {
            Self::MooneyRivlin(_) => &[1, 2, 3, 5],
            Self::Yeoh(_) => &[1, 2, 3],
            Self::ArrudaBoyce | Self::Gent => &[],
            Self::Ogden(_) => &[1, 2, 3, 4, 5, OGDEN_TERMS],
        };
        match self.terms().is_none_or(|terms| possible.contains(&terms)) {
            true => Ok(()),
            false => Err(FitError::Terms { law: self.key(), possible }),
        }
    }

    /// Number of exponents.
    fn exponents(self) -> usize {
        match self {
            Self::MooneyRivlin(_) | Self::Yeoh(_) => 0,
            Self::ArrudaBoyce | Self::Gent => 1,
            Self::Ogden(terms) => terms,
        }
    }

    /// Number of moduli.
    fn moduli(self) -> usize {
        self.terms().unwrap_or(1)
    }

    /// The law with these constants; terms without a modulus are left out.
    fn rubber(self, exponents: &[f64], moduli: &[f64]) -> Rubber {
        let m = |k: usize| moduli.get(k).copied().unwrap_or(0.0);
        match self {
            Self::MooneyRivlin(_) => {
                Rubber::MooneyRivlin { c10: m(0), c01: m(1), c11: m(2), c20: m(3), c02: m(4) }
            }
            Self::Yeoh(_) => Rubber::Yeoh { c10: m(0), c20: m(1), c30: m(2) },
            Self::ArrudaBoyce => Rubber::ArrudaBoyce { mu: m(0), locking_stretch: exponents[0] },
            Self::Gent => Rubber::Gent { mu: m(0), limit: exponents[0] },
            Self::Ogden(_) => {
                let all = moduli.iter().zip(exponents).filter(|(mu, _)| **mu != 0.0);
                Rubber::Ogden { terms: all.map(|(&mu, &alpha)| OgdenTerm { mu, alpha }).collect() }
            }
        }
    }

    /// The laws of which it is the sum, each with a modulus of 1.
    fn basis(self, exponents: &[f64]) -> Vec<Rubber> {
        let n = self.moduli();
        let unit = |k: usize| -> Vec<f64> { (0..n).map(|m| f64::from(u8::from(m == k))).collect() };
        (0..n).map(|k| self.rubber(exponents, &unit(k))).collect()
    }

    /// The best exponents.
    fn search(self, rows: &Rows) -> Vec<f64> {
        let exp_grid = || (0..=140).map(|k| (-6.0 + 0.1 * f64::from(k)).exp());
        match self {
            Self::MooneyRivlin(_) | Self::Yeoh(_) => Vec::new(),
            Self::ArrudaBoyce => {
                self.improve(rows, vec![self.scan(rows, &[], exp_grid().map(|x| 1.0 + x))])
            }
            Self::Gent => {
                let least = rows.greatest_invariant();
                self.improve(
                    rows,
                    vec![self.scan(rows, &[], exp_grid().map(|x| least * (1.0 + x)))],
                )
            }
            Self::Ogden(terms) => Self::search_ogden(rows, terms),
        }
    }

    /// Exponents of Ogden's law: those of few terms from the best of all choices on a grid, of more terms from the best of one term less with one
    /// more. Several starts are improved, because many lead to an end that is not the best.
    fn search_ogden(rows: &Rows, terms: usize) -> Vec<f64> {
        const STARTS: usize = 8;
        let coarse: Vec<f64> = (-8..=12).filter(|k| *k != 0).map(f64::from).collect();
        let fine = || (-24..=40).filter(|k| *k != 0).map(|k| 0.5 * f64::from(k));
        let columns = rows.columns(&Self::Ogden(1).each(&coarse));
        let mut pool: Vec<Vec<f64>> = vec![Vec::new()];
        for count in 1..=terms {
            let law = Self::Ogden(count);
            let mut starts: Vec<Vec<f64>> = Vec::new();
            for others in &pool {
                starts.push([&others[..], &[law.scan(rows, others, fine())]].concat());
            }
            if count <= 3 {
                let mut all: Vec<(f64, Vec<usize>)> = choices(coarse.len(), count)
                    .map(|some| (rows.best_of(&columns.select_columns(&some)).1.norm(), some))
                    .collect();
                all.sort_by(|a, b| a.0.total_cmp(&b.0));
                all.truncate(STARTS);
                starts
                    .extend(all.iter().map(|(_, some)| some.iter().map(|k| coarse[*k]).collect()));
            }
            let mut ends: Vec<(f64, Vec<f64>)> = starts
                .into_iter()
                .map(|start| law.improve(rows, start))
                .map(|end| (law.left(rows, &end).norm(), end))
                .collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            ends.truncate(STARTS);
            pool = ends.into_iter().map(|(_, end)| end).collect();
        }
        pool.swap_remove(0)
    }

    /// Laws of one exponent and a modulus of 1.
    fn each(self, exponents: &[f64]) -> Vec<Rubber> {
        exponents.iter().map(|alpha| self.rubber(&[*alpha], &[1.0])).collect()
    }

    /// What it leaves of the measured stresses with these exponents and its best moduli.
    fn left(self, rows: &Rows, exponents: &[f64]) -> DVector<f64> {
        rows.best_of(&rows.columns(&self.basis(exponents))).1
    }

    /// The best last exponent beside others.
    fn scan(self, rows: &Rows, others: &[f64], tried: impl Iterator<Item = f64>) -> f64 {
        let left = |last: f64| self.left(rows, &[others, &[last]].concat()).norm_squared();
        let all = tried.map(|last| (left(last), last));
        all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1.0, |best| best.1)
    }

    /// Whether exponents are within the bounds of the law.
    fn allows(self, rows: &Rows, exponents: &[f64]) -> bool {
        match self {
            Self::MooneyRivlin(_) | Self::Yeoh(_) => true,
            Self::ArrudaBoyce => exponents[0] > 1.0 && exponents[0] < 1e6,
            Self::Gent => exponents[0] > rows.greatest_invariant() && exponents[0] < 1e9,
            Self::Ogden(_) => exponents.iter().all(|a| a.abs() > 1e-3 && a.abs() < 50.0),
        }
    }

    /// The method of Levenberg and Marquardt from a start.
    fn improve(self, rows: &Rows, start: Vec<f64>) -> Vec<f64> {
        let n = start.len();
        let (mut at, mut damping) = (start, 1e-3);
        let mut r = self.left(rows, &at);
        for _ in 0..400 {
            let slope = |k: usize| {
                let h = 1e-6 * at[k].abs().max(1e-2);
                let [low, high] = [-h, h].map(|d| {
                    let mut moved = at.clone();
                    moved[k] += d;
                    self.left(rows, &moved)
                });
                (high - low) / (2.0 * h)
            };
            let jacobian = DMatrix::from_columns(&(0..n).map(slope).collect::<Vec<_>>());
            let (normal, gradient) = (jacobian.tr_mul(&jacobian), jacobian.tr_mul(&r));
            let before = r.norm_squared();
            while damping < 1e12 {
                let mut matrix = normal.clone();
                (0..n).for_each(|k| matrix[(k, k)] += damping * normal[(k, k)].max(1e-300));
                let step = matrix.lu().solve(&gradient).unwrap_or_else(|| DVector::zeros(n));
                let moved: Vec<f64> = at.iter().zip(&step).map(|(a, s)| a - s).collect();
                let trial = self.allows(rows, &moved).then(|| self.left(rows, &moved));
                if let Some(trial) = trial.filter(|t| t.norm_squared() < before) {
                    (at, r, damping) = (moved, trial, 0.2 * damping);
                    break;
                }
                damping *= 4.0;
            }
            if damping >= 1e12 || r.norm_squared() > before * (1.0 - 1e-15) {
                break;
            }
        }
        at
    }
}

/// All choices of `count` of `n` things.
fn choices(n: usize, count: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut next = (count <= n).then(|| (0..count).collect::<Vec<usize>>());
    std::iter::from_fn(move || {
        let now = next.take()?;
        // the last of them that can move on
        if let Some(k) = (0..count).rev().find(|k| now[*k] < n - count + k) {
            let mut after = now.clone();
            for (i, place) in after.iter_mut().enumerate().skip(k) {
                *place = now[k] + 1 + i - k;
            }
            next = Some(after);
        }
        Some(now)
    })
}
