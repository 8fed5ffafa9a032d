//! Stiffness-proportional damping, lagged: ½ (c/h) Δxᵀ H Δx with the projected elastic Hessian H at
//! the start of the step and the displacement Δx in the step (zero for prescribed vertices)
//! [Li 2020 code; Rayleigh damping with a stiffness coefficient c, s].

use super::projection::Projection;
use super::term::{Role, Term};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Layout, Stencils};
use std::ops::Range;
use std::sync::Arc;

/// The damping that belongs to one elastic energy, in one step.
#[derive(Debug, Clone)]
pub struct Damping {
    stencils: Stencils<'static>,
    layout: Layout,
    /// c/h times the stored blocks of the elastic Hessians at the start of the step, N/m.
    blocks: Vec<Mat3>,
    /// Where each stencil's blocks begin, and where the last one's end.
    begin: Vec<usize>,
    /// Positions at the start of the step, m (`#V`).
    start: Arc<Vec<Vec3>>,
    /// Whether a vertex moves freely (`#V`).
    free: Arc<Vec<bool>>,
}

impl Damping {
    /// The damping by `factor` = c/h (1) times the Hessians of `elastic` at `start`, of the vertices that
    /// are `free`.
    pub fn new(
        elastic: &dyn Term,
        factor: f64,
        start: &Arc<Vec<Vec3>>,
        free: &Arc<Vec<bool>>,
    ) -> Self {
        let (stencils, layout) = (elastic.stencils().map(|v| v), elastic.layout());
        let mut begin = vec![0];
        let mut end = 0;
        for stencil in stencils.iter() {
            end += layout.block_count(stencil.len());
            begin.push(end);
        }
        let mut blocks = vec![Mat3::zeros(); end];
        elastic.hessians(0..stencils.len(), start, Projection::All, &mut blocks);
        blocks.iter_mut().for_each(|b| *b *= factor);
        Self { stencils, layout, blocks, begin, start: start.clone(), free: free.clone() }
    }

    /// The same without the stencils that `is_damped` does not hold for.
    #[must_use]
    pub fn only(mut self, is_damped: impl Fn(&[u32]) -> bool) -> Self {
        for (i, _) in self.stencils.iter().enumerate().filter(|(_, s)| !is_damped(s)) {
            self.blocks[self.begin[i]..self.begin[i + 1]].fill(Mat3::zeros());
        }
        self
    }

    /// Δx (m) and (c/h) H Δx (N) (`#V`).
    fn product(&self, x: &[Vec3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let moved = |v: usize| if self.free[v] { x[v] - self.start[v] } else { Vec3::zeros() };
        let dx: Vec<Vec3> = (0..x.len()).map(moved).collect();
        let mut out = vec![Vec3::zeros(); x.len()];
        for (i, stencil) in self.stencils.iter().enumerate() {
            let blocks = &self.blocks[self.begin[i]..self.begin[i + 1]];
            let stored = self.layout.pairs(stencil.len());
            for (block, (a, b)) in blocks.iter().zip(stored) {
                let (a, b) = (stencil[a] as usize, stencil[b] as usize);
                match self.layout {
                    // rows of H sum to zero
                    Layout::OffDiagonal => {
                        let d = dx[b] - dx[a];
                        out[a] += block * d;
                        out[b] -= block.tr_mul(&d);
                    }
                    Layout::Complete if a == b => out[a] += block * dx[a],
                    Layout::Complete => {
                        out[a] += block * dx[b];
                        out[b] += block.tr_mul(&dx[a]);
                    }
                }
            }
        }
        (dx, out)
    }

    /// Adds minus the force that what moves freely exerts on vertices that do not, N: the rows of (c/h) H Δx that
    /// the gradient leaves out.
    pub fn add_to_held(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let (_, product) = self.product(x);
        for v in (0..x.len()).filter(|&v| !self.free[v]) {
            gradient[v] += product[v];
        }
    }
}

impl Term for Damping {
    fn name(&self) -> &str {
        "damping"
    }

    fn role(&self) -> Role {
        Role::Damping
    }

    fn stencils(&self) -> Stencils<'_> {
        self.stencils.by_ref()
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let (dx, product) = self.product(x);
        0.5 * dx.iter().zip(&product).map(|(a, b)| a.dot(b)).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let (_, product) = self.product(x);
        for v in (0..x.len()).filter(|&v| self.free[v]) {
            gradient[v] += product[v];
        }
    }

    fn hessians(&self, range: Range<usize>, _: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        out.copy_from_slice(&self.blocks[self.begin[range.start]..self.begin[range.end]]);
    }
}
