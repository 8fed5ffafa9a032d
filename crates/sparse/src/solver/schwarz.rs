//! Overlapping additive Schwarz with a coarse level, as a preconditioner [Toselli & Widlund 2005, ch. 3].
//!
//! M⁻¹ = B^½ Σ Rⱼᵀ (Rⱼ A Rⱼᵀ)⁻¹ Rⱼ B^½ + P (Pᵀ A P)⁻¹ Pᵀ
//!
//! Parts of the rows, by [`partition`] of the pattern, with the rows that are coupled to them, are subdomains; B = diag(1/nᵢ)
//! with the number nᵢ of subdomains of a row, which takes fewer iterations than without. The columns of P are
//! the translations and rotations of small [groups of rows](super::aggregates) with strong couplings, as in smoothed
//! aggregation [Vaněk 1996], but not smoothed: the coarse level carries over the whole matrix at once what subdomains would
//! hand on from one to the next, and moves what is stiff as a whole against what is soft.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::Vec3;

use super::coarse::Coarse;
use super::subdomains::{Blend, Subdomains};
use crate::{BlockMatrix, BlockPattern, SolveError, partition, pattern};

/// Rows of a subdomain, about, without those around it.
const SIZE: usize = 200;

/// Rows of a group of the coarse level, about.
const GROUP: usize = 40;

/// The preconditioner, with symbolic work that is kept from matrix to matrix.
#[derive(Debug)]
pub(crate) struct Schwarz {
    /// The pattern and the requested number for which the subdomains hold.
    made_for: Option<(Arc<BlockPattern>, Option<usize>)>,
    subdomains: Option<Subdomains>,
    coarse: Coarse,
}

impl Default for Schwarz {
    fn default() -> Self {
        Self { made_for: None, subdomains: None, coarse: Coarse::new(GROUP) }
    }
}

impl Schwarz {
    /// Becomes the preconditioner of a matrix whose rows have these positions, where they are known, with so many
    /// subdomains or else as many as have about [`SIZE`] rows each.
    pub(crate) fn factorize(
        &mut self,
        a: &BlockMatrix,
        position: Option<&[Vec3]>,
        count: Option<usize>,
    ) -> Result<(), SolveError> {
        let same = |(p, n): &(_, _)| *n == count && pattern::same(p, a.pattern());
        let known = self.made_for.as_ref().is_some_and(same);
        if !known {
            self.made_for = None;
            self.cover(a.pattern(), count)?;
            self.made_for = Some((a.pattern().clone(), count));
        }
        let Some(subdomains) = &mut self.subdomains else { return Err(SolveError::NotFactorized) };
        subdomains.factorize(a, |_| true)?;
        self.coarse.factorize(a, position)
    }

    /// Makes every [part](partition), with what is coupled to it, a subdomain.
    fn cover(&mut self, pattern: &BlockPattern, count: Option<usize>) -> Result<(), SolveError> {
        let with_neighbours = |rows: &Vec<u32>| {
            let around = rows.iter().flat_map(|&i| pattern.neighbours(i as usize));
            let mut set: Vec<u32> = around.map(|j| j as u32).collect();
            set.extend(rows);
            set.sort_unstable();
            set.dedup();
            set
        };
        let by_size = || pattern.n().div_ceil(SIZE);
        let wanted = count.unwrap_or_else(by_size).clamp(1, pattern.n().max(1));
        let part = partition(pattern, wanted);
        let count = part.iter().max().map_or(0, |&p| p as usize + 1);
        let mut rows = vec![Vec::new(); count];
        for (row, &p) in part.iter().enumerate() {
            rows[p as usize].push(row as u32);
        }
        let sets: Vec<Vec<u32>> = rows.par_iter().map(with_neighbours).collect();
        match &mut self.subdomains {
            Some(known) if known.len() == sets.len() && known.n() == pattern.n() => {
                for (j, rows) in sets.into_iter().enumerate() {
                    known.replace(j, rows)?;
                }
            }
            other => *other = Some(Subdomains::new(pattern.n(), sets)?),
        }
        Ok(())
    }

    /// z ← M⁻¹ r; returns rᵀz.
    pub(crate) fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        let Self { subdomains, coarse, .. } = self;
        let fine = |z: &mut [Vec3]| {
            if let Some(subdomains) = subdomains {
                let applied = subdomains.apply(Blend::Sum, r, z);
                debug_assert!(applied.is_ok(), "factorised for this matrix");
            }
        };
        coarse.apply_beside(fine, r, z)
    }

    /// Entries of all factors.
    pub(crate) fn nonzeros(&self) -> usize {
        self.coarse.nonzeros() + self.subdomains.as_ref().map_or(0, Subdomains::factor_nonzeros)
    }
}
