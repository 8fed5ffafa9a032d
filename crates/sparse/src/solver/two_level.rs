//! Stiff blocks and a coarse level, as a preconditioner.
//!
//! M⁻¹ = S⁻¹ + P (Pᵀ A P)⁻¹ Pᵀ
//!
//! S is [block Jacobi with a factor of the rows in stiff contact](super::stiff_blocks), P are the translations and rotations
//! of [groups of rows](super::coarse). S sees every row by itself, so that conjugate gradients with S alone carry what
//! happens at one end of a body to the other by one row an iteration; the coarse level does it at once.

use standoff_linalg::Vec3;

use super::coarse::Coarse;
use super::stiff_blocks::StiffBlocks;
use crate::{BlockMatrix, SolveError};

/// Rows of a group of the coarse level, about: with smaller ones its factor costs more than the iterations that it saves
/// (`benches/examples/schwarz_table.rs`).
const GROUP: usize = 80;

/// The preconditioner, with symbolic work that is kept from matrix to matrix.
#[derive(Debug)]
pub(crate) struct TwoLevel {
    stiff: Option<StiffBlocks>,
    coarse: Coarse,
}

impl Default for TwoLevel {
    fn default() -> Self {
        Self { stiff: None, coarse: Coarse::new(GROUP) }
    }
}

impl TwoLevel {
    /// Becomes the preconditioner of a matrix whose rows have these positions, where they are known.
    pub(crate) fn factorize(
        &mut self,
        a: &BlockMatrix,
        position: Option<&[Vec3]>,
    ) -> Result<(), SolveError> {
        let (stiff, coarse) =
            rayon::join(|| StiffBlocks::new(a), || self.coarse.factorize(a, position));
        self.stiff = Some(stiff?);
        coarse
    }

    /// z ← M⁻¹ r; returns rᵀz.
    pub(crate) fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        let Self { stiff, coarse } = self;
        let fine = |z: &mut [Vec3]| {
            if let Some(stiff) = stiff {
                stiff.apply(r, z);
            }
        };
        coarse.apply_beside(fine, r, z)
    }

    /// Entries of all factors.
    pub(crate) fn nonzeros(&self) -> usize {
        self.coarse.nonzeros() + self.stiff.as_ref().map_or(0, StiffBlocks::nonzeros)
    }
}
