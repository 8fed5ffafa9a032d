//! The limited-memory quasi-Newton update L-BFGS [Nocedal & Wright 2006, Alg. 7.4].

use crate::thresholds::{CURVATURE, PAIRS};
use rayon::prelude::*;
use standoff_linalg::Vec3;
use std::collections::VecDeque;

/// Summands of one partial sum: fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 2048;

/// A step s, the change y of the gradient over it, and 1/(yᵀs).
#[derive(Debug)]
struct Pair {
    s: Vec<Vec3>,
    y: Vec<Vec3>,
    rho: f64,
}

/// The last steps of a minimisation, with the changes of the gradient over them.
#[derive(Debug, Default)]
pub struct Lbfgs {
    pairs: VecDeque<Pair>,
}

impl Lbfgs {
    /// Forgets all: the potential has changed.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Remembers a step `s` (m) and the change `y` of the gradient over it, unless yᵀs is not positive.
    pub fn add(&mut self, s: Vec<Vec3>, y: Vec<Vec3>) {
        let (sy, ss, yy) = (dot(&s, &y), dot(&s, &s), dot(&y, &y));
        // written so that NaN is refused
        if !(sy > CURVATURE * (ss * yy).sqrt() && sy.is_finite() && 1.0 / sy < f64::MAX) {
            return;
        }
        if self.pairs.len() == PAIRS {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair { s, y, rho: 1.0 / sy });
    }

    /// −D g, where D is the inverse Hessian that `initial` applies, updated by the pairs.
    ///
    /// # Errors
    /// The error of `initial`.
    pub fn direction<E>(
        &self,
        gradient: &[Vec3],
        initial: impl FnOnce(&[Vec3]) -> Result<Vec<Vec3>, E>,
    ) -> Result<Vec<Vec3>, E> {
        let mut q: Vec<Vec3> = gradient.par_iter().with_min_len(CHUNK).map(|g| -g).collect();
        let mut weights = [0.0; PAIRS];
        for (pair, weight) in self.pairs.iter().zip(&mut weights).rev() {
            *weight = pair.rho * dot(&pair.s, &q);
            add_scaled(&mut q, -*weight, &pair.y);
        }
        let mut r = initial(&q)?;
        for (pair, weight) in self.pairs.iter().zip(weights) {
            let correction = weight - pair.rho * dot(&pair.y, &r);
            add_scaled(&mut r, correction, &pair.s);
        }
        Ok(r)
    }
}

/// aᵀb; the bits do not depend on the number of threads.
pub fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let part = |(a, b): (&[Vec3], &[Vec3])| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let sums: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(part).collect();
    sums.iter().sum()
}

fn add_scaled(y: &mut [Vec3], alpha: f64, x: &[Vec3]) {
    y.par_iter_mut().zip(x).with_min_len(CHUNK).for_each(|(y, x)| *y += alpha * x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::nalgebra::{DMatrix, DVector};

    /// The two-loop recursion is the dense BFGS update of an inverse Hessian.
    #[test]
    fn agrees_with_dense_updates_of_an_inverse_hessian() {
        let n = 2;
        let vector = |k: usize| -> Vec<Vec3> {
            (0..n).map(|i| Vec3::from_fn(|j, _| ((7 * k + 3 * i + j) as f64 * 0.9).sin())).collect()
        };
        let flat = |v: &[Vec3]| DVector::from_iterator(3 * n, v.iter().flatten().copied());
        let diagonal = |v: &[Vec3]| -> Vec<Vec3> {
            v.iter().enumerate().map(|(i, v)| *v * (0.5 + i as f64)).collect()
        };
        let mut memory = Lbfgs::default();
        let mut d =
            DMatrix::from_fn(3 * n, 3 * n, |i, j| if i == j { 0.5 + (i / 3) as f64 } else { 0.0 });
        for k in 0..PAIRS {
            let s = vector(k);
            let y: Vec<Vec3> =
                s.iter().zip(vector(k + 20)).map(|(s, e)| s * 2.0 + e * 0.2).collect();
            let (fs, fy) = (flat(&s), flat(&y));
            let rho = 1.0 / fs.dot(&fy);
            let left = DMatrix::identity(3 * n, 3 * n) - rho * &fs * fy.transpose();
            d = &left * d * left.transpose() + rho * &fs * fs.transpose();
            memory.add(s, y);
        }
        let g = vector(40);
        let p = memory.direction(&g, |q| Ok::<_, ()>(diagonal(q))).unwrap();
        let expected = -(d * flat(&g));
        assert!((flat(&p) - &expected).norm() < 1e-12 * expected.norm());
    }

    #[test]
    fn pairs_without_positive_curvature_are_refused() {
        let mut memory = Lbfgs::default();
        let s = vec![Vec3::x()];
        for y in [-Vec3::x(), Vec3::y(), Vec3::repeat(f64::NAN), Vec3::zeros()] {
            memory.add(s.clone(), vec![y]);
        }
        assert!(memory.is_empty());
        memory.add(s, vec![Vec3::x()]);
        assert!(!memory.is_empty());
    }
}
