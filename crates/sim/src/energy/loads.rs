//! Forces that do not depend on positions, as an energy: −Σ f·(x − x₀). Where bodies have inertia,
//! their predicted positions hold these forces instead.

use super::projection::Projection;
use super::term::Term;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::Stencils;
use std::ops::Range;

/// The dead loads of a quasi-static step.
#[derive(Debug, Clone)]
pub struct DeadLoads {
    /// Forces f, N (`#V`).
    pub forces: Vec<Vec3>,
    /// Positions x₀ from which the work is measured, m (`#V`).
    pub origin: Vec<Vec3>,
}

impl Term for DeadLoads {
    fn name(&self) -> &str {
        "loads"
    }

    fn stencils(&self) -> Stencils<'_> {
        Stencils::default()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let work = |(v, f): (usize, &Vec3)| f.dot(&(x[v] - self.origin[v]));
        -self.forces.iter().enumerate().map(work).sum::<f64>()
    }

    fn add_gradient(&self, _: &[Vec3], gradient: &mut [Vec3]) {
        gradient.iter_mut().zip(&self.forces).for_each(|(g, f)| *g -= f);
    }

    fn hessians(&self, _: Range<usize>, _: &[Vec3], _: Projection<'_>, _: &mut [Mat3]) {}
}
