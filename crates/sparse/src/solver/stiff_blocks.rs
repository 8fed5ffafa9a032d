//! Block Jacobi with exact blocks where vertices are coupled stiffly, as a preconditioner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

use super::diagonal_inverses;
use super::multifrontal::{Analyses, Factor};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, vector};

/// A coupling is stiff if its block has an entry this many times the median of the diagonal's.
const STIFF: f64 = 10.0;
/// One in so many vertices is coupled stiffly at most; else the limit is raised, by this factor.
const SHARE: usize = 8;
const RAISE: f64 = 10.0;
/// Rows that a thread takes at once, at least.
const ROWS: usize = 512;

/// M = A on the rows of the vertices that are coupled stiffly, the diagonal blocks of A elsewhere.
///
/// Contact that is many times stiffer than the solids ruins block Jacobi, but takes place between
/// few vertices, on surfaces: a factor for these costs little.
#[derive(Debug)]
pub(crate) struct StiffBlocks {
    /// Inverses of the diagonal blocks.
    inverses: Vec<Mat3>,
    /// The vertices coupled stiffly, ascending.
    stiff: Vec<u32>,
    analyses: Analyses,
    factor: Factor<f64>,
}

impl StiffBlocks {
    pub(crate) fn new(a: &BlockMatrix) -> Result<Self, SolveError> {
        let inverses = diagonal_inverses(a)?;
        let stiff = coupled_stiffly(a);
        let mut result = Self {
            inverses,
            stiff,
            analyses: Analyses::new(Ordering::Automatic),
            factor: Factor::default(),
        };
        result.factorize(a)?;
        Ok(result)
    }

    fn factorize(&mut self, a: &BlockMatrix) -> Result<(), SolveError> {
        let mut number = vec![BlockPattern::ELIMINATED; a.n()];
        for (k, &v) in self.stiff.iter().enumerate() {
            number[v as usize] = k as u32;
        }
        // the blocks between stiff vertices, columns and rows ascending as in the whole
        let (mut pairs, mut blocks) = (Vec::new(), Vec::new());
        for &v in &self.stiff {
            let first = a.pattern().diagonal_position(v as usize);
            for (k, &row) in a.pattern().column(v as usize).iter().enumerate() {
                if number[row as usize] != BlockPattern::ELIMINATED {
                    pairs.push((number[row as usize], number[v as usize]));
                    blocks.push(a.blocks()[first + k]);
                }
            }
        }
        let failed = |_| SolveError::OutOfMemory { nonzeros: 9 * blocks.len() };
        let pattern = BlockPattern::from_pairs(self.stiff.len(), &pairs).map_err(failed)?;
        let pattern = pattern.in_plane(a.pattern().is_in_plane());
        let (analysis, _) = self.analyses.of(&Arc::new(pattern))?;
        self.factor.reserve(&analysis)?;
        self.factor
            .compute(&analysis, &blocks, 1.0)
            .map_err(|k| SolveError::NotPositiveDefinite { block: self.stiff[k] as usize })
    }

    /// z ← M⁻¹ r; returns rᵀz.
    pub(crate) fn apply(&self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        let product = vector::apply_blocks(&self.inverses, r, z);
        match self.analyses.last() {
            Some(analysis) if !self.stiff.is_empty() => {
                let mut part: Vec<Vec3> = self.stiff.iter().map(|&v| r[v as usize]).collect();
                let right = part.clone();
                self.factor.solve(analysis, &right, &mut part, &mut Vec::new());
                for (&v, part) in self.stiff.iter().zip(part) {
                    z[v as usize] = part;
                }
                vector::dot(r, z)
            }
            _ => product,
        }
    }

    pub(crate) fn nonzeros(&self) -> usize {
        self.analyses.last().map_or(0, |a| a.factor_len())
    }
}

/// The vertices with a stiff coupling, ascending.
fn coupled_stiffly(a: &BlockMatrix) -> Vec<u32> {
    let rows = || (0..a.n()).into_par_iter().with_min_len(ROWS);
    let mut diagonal: Vec<f64> = rows().map(|i| a.diagonal_block(i).amax()).collect();
    if diagonal.is_empty() {
        return Vec::new();
    }
    let middle = diagonal.len() / 2;
    let mut limit = STIFF * *diagonal.select_nth_unstable_by(middle, f64::total_cmp).1;
    loop {
        let stiff: Vec<AtomicBool> = rows().map(|_| AtomicBool::new(false)).collect();
        rows().for_each(|j| {
            let first = a.pattern().diagonal_position(j);
            for (k, &i) in a.pattern().column(j).iter().enumerate().skip(1) {
                if a.blocks()[first + k].amax() > limit {
                    stiff[i as usize].store(true, Relaxed);
                    stiff[j].store(true, Relaxed);
                }
            }
        });
        let list: Vec<u32> =
            (0..a.n() as u32).filter(|&v| stiff[v as usize].load(Relaxed)).collect();
        if list.len() <= a.n() / SHARE || !limit.is_normal() {
            return list;
        }
        limit *= RAISE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of stiff couplings between rows of different threads, and nothing else.
    #[test]
    fn both_ends_of_a_stiff_coupling_are_stiff() {
        let n = 3 * ROWS as u32;
        let chain: Vec<_> =
            (1..n).map(|i| (i, i - 1)).chain([(n - 1, 3), (ROWS as u32, 7)]).collect();
        let pattern = BlockPattern::from_pairs(n as usize, &chain).unwrap();
        let mut a = BlockMatrix::zeros(Arc::new(pattern));
        a.blocks_mut().fill(Mat3::identity());
        for (row, col) in [(n - 1, 3), (ROWS as u32, 7)] {
            let at = a.pattern().position(row, col).unwrap();
            a.blocks_mut()[at] *= -2.0 * STIFF;
        }
        assert_eq!(coupled_stiffly(&a), [3, 7, ROWS as u32, n - 1]);
    }
}
