//! What was measured, as the rows of linear least squares for the moduli of laws.

use super::{FitError, Measured};
use crate::material::rubber::{Experiment, Rubber};
use standoff_linalg::nalgebra::{DMatrix, DVector};

/// The stress, as a part of the greatest of its experiment, below which errors are relative to that part.
const SMALL: f64 = 0.1;

/// The part of the measured stresses below which what a term adds is left out.
const IDLE: f64 = 1e-9;

/// The points away from rest.
pub(super) struct Rows {
    pub points: Vec<Point>,
    stress: DVector<f64>,
}

pub(super) struct Point {
    /// Index of its experiment among those measured.
    of: usize,
    experiment: Experiment,
    by: f64,
    stress: f64,
    /// What its error is relative to, Pa.
    scale: f64,
    /// √ of one over the number of points of its experiment.
    weight: f64,
}

impl Rows {
    pub fn new(measured: &[Measured]) -> Result<Self, FitError> {
        let mut points = Vec::new();
        for (of, Measured { experiment, points: all }) in measured.iter().enumerate() {
            let fail = |number: usize, what| {
                Err(FitError::Point { experiment: experiment.key(), number: number + 1, what })
            };
            for (k, [by, stress]) in all.iter().enumerate() {
                if !by.is_finite() || !stress.is_finite() {
                    return fail(k, "its numbers must be finite");
                }
                if *experiment != Experiment::Shear && *by <= 0.0 {
                    return fail(k, "a stretch must be positive (at rest it is 1)");
                }
            }
            let greatest = all.iter().map(|p| p[1].abs()).fold(0.0, f64::max);
            let loaded = all.iter().filter(|[by, _]| (by - experiment.rest()).abs() > 1e-9);
            let weight = (loaded.clone().count() as f64).sqrt().recip();
            points.extend(loaded.map(|&[by, stress]| Point {
                of,
                experiment: *experiment,
                by,
                stress,
                scale: stress.abs().max(SMALL * greatest).max(f64::MIN_POSITIVE),
                weight,
            }));
        }
        let stress = DVector::from_iterator(
            points.len(),
            points.iter().map(|p| p.stress * p.weight / p.scale),
        );
        Ok(Self { points, stress })
    }

    /// The stresses of laws, weighted, a column for each.
    pub fn columns(&self, basis: &[Rubber]) -> DMatrix<f64> {
        DMatrix::from_fn(self.points.len(), basis.len(), |row, column| {
            let p = &self.points[row];
            basis[column].nominal_stress(p.experiment, p.by) * p.weight / p.scale
        })
    }

    pub fn least_squares(&self, basis: &[Rubber]) -> DVector<f64> {
        solve(&self.columns(basis), &self.stress)
    }

    /// The factors of laws, 0 of those whose stresses are rounding beside what was measured.
    pub fn noticeable(&self, basis: &[Rubber], mut factors: DVector<f64>) -> DVector<f64> {
        for (column, factor) in self.columns(basis).column_iter().zip(factors.iter_mut()) {
            if column.norm() * factor.abs() < IDLE * self.stress.norm() {
                *factor = 0.0;
            }
        }
        factors
    }

    /// The best factors of 0 or more.
    pub fn not_negative(&self, basis: &[Rubber]) -> DVector<f64> {
        self.best_of(&self.columns(basis)).0
    }

    /// The same with what they leave.
    pub fn best_of(&self, a: &DMatrix<f64>) -> (DVector<f64>, DVector<f64>) {
        let n = a.ncols();
        let left = |x: &DVector<f64>| a * x - &self.stress;
        // in the space of the columns, whatever the number of points
        let qr = a.clone().qr();
        let (r, mut stress) = (qr.r(), self.stress.clone());
        qr.q_tr_mul(&mut stress);
        let stress = stress.rows(0, r.nrows()).into_owned();
        let all = solve(&r, &stress);
        if all.iter().all(|x| *x >= 0.0) {
            let r = left(&all);
            return (all, r);
        }
        // few columns: every choice of those that are not zero
        let mut best = DVector::zeros(n);
        let mut rest = left(&best);
        for chosen in 1..(1_usize << n) - 1 {
            let columns: Vec<usize> = (0..n).filter(|k| chosen >> k & 1 == 1).collect();
            let some = solve(&r.select_columns(&columns), &stress);
            if some.iter().all(|x| *x >= 0.0) {
                let mut x = DVector::zeros(n);
                columns.iter().zip(&some).for_each(|(k, v)| x[*k] = *v);
                let r = left(&x);
                if r.norm_squared() < rest.norm_squared() {
                    (best, rest) = (x, r);
                }
            }
        }
        (best, rest)
    }

    /// The root mean square of relative errors of an experiment, or of the means of all.
    pub fn error(&self, rubber: &Rubber, of: Option<usize>) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for p in self.points.iter().filter(|p| of.is_none_or(|of| p.of == of)) {
            let error = (rubber.nominal_stress(p.experiment, p.by) - p.stress) / p.scale;
            sum += (p.weight * error).powi(2);
            weight += p.weight * p.weight;
        }
        (sum / weight).sqrt()
    }

    /// The greatest Ī₁ − 3.
    pub fn greatest_invariant(&self) -> f64 {
        let at = |p: &Point| p.experiment.deformation(p.by).norm_squared() - 3.0;
        self.points.iter().map(at).fold(0.0, f64::max)
    }
}

/// The least squares solution, the shortest one where there are several.
fn solve(a: &DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let svd = a.clone().svd(true, true);
    let tolerance = 1e-13 * svd.singular_values.max();
    svd.solve(b, tolerance).unwrap_or_else(|_| DVector::zeros(a.ncols()))
}
