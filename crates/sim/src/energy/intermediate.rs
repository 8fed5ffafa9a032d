//! Energies between the start and the end of a step: Ψ(y)/β at y = βx + (1 − β)xⁿ [Li 2021, Eq. 1].
//!
//! The factor makes the derivative by x the one of Ψ at y: minus a force.

use super::projection::Projection;
use super::term::{Origin, Role, Term};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Layout, Stencils};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Positions between the start of a step and its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Intermediate {
    /// β: 0 at the start, 1 at the end.
    pub beta: f64,
    /// Positions xⁿ at the start, m (`#V`).
    pub start: Vec<Vec3>,
}

impl Intermediate {
    /// y of a vertex that is at `x` at the end, m.
    fn vertex(&self, v: usize, x: &Vec3) -> Vec3 {
        let start = &self.start[v];
        start + self.beta * (x - start)
    }

    /// y of all vertices that are at `x` at the end, m (`#V`).
    pub fn positions(&self, x: &[Vec3]) -> Vec<Vec3> {
        x.iter().enumerate().map(|(v, x)| self.vertex(v, x)).collect()
    }
}

/// An energy evaluated there.
#[derive(Debug)]
pub struct AtIntermediate<'a> {
    term: Box<dyn Term + 'a>,
    between: &'a Intermediate,
    /// Memory for positions of which only those of some stencils are there.
    memory: Mutex<Vec<Vec3>>,
}

impl<'a> AtIntermediate<'a> {
    /// An energy at positions between the start and the end.
    pub fn new(term: Box<dyn Term + 'a>, between: &'a Intermediate) -> Self {
        Self { term, between, memory: Mutex::default() }
    }
}

impl Term for AtIntermediate<'_> {
    fn name(&self) -> &str {
        self.term.name()
    }

    fn role(&self) -> Role {
        self.term.role()
    }

    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        self.term.origin(summand)
    }

    fn stencils(&self) -> Stencils<'_> {
        self.term.stencils()
    }

    fn layout(&self) -> Layout {
        self.term.layout()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        self.term.value(&self.between.positions(x)) / self.between.beta
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.term.add_gradient(&self.between.positions(x), gradient);
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        // ranges are small parts of the scene
        let take = || self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut y = std::mem::take(&mut *take());
        y.resize(x.len(), Vec3::zeros());
        let stencils = self.term.stencils();
        for v in range.clone().flat_map(|i| stencils.get(i)).map(|&v| v as usize) {
            if let (Some(y), Some(x)) = (y.get_mut(v), x.get(v)) {
                *y = self.between.vertex(v, x);
            }
        }
        self.term.hessians(range, &y, projection, out);
        out.iter_mut().for_each(|block| *block *= self.between.beta);
        *take() = y;
    }

    /// Defined at the end of the step as well, where the next one begins.
    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        let dy: Vec<Vec3> = dx.iter().map(|d| self.between.beta * d).collect();
        let step = self.term.max_step(&self.between.positions(x), &dy);
        step.min(self.term.max_step(x, dx))
    }

    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.term.within_limits(&self.between.positions(x), part)
            && self.term.within_limits(x, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tet::ElasticTets;
    use crate::material::{Law, Material};
    use standoff_linalg::MatN;
    use standoff_testkit::{Random, finite_difference};

    const COUNT: usize = 3;

    /// Separate elements at rest, where a step begins, and where it ends.
    fn scene() -> (ElasticTets, Intermediate, Vec<Vec3>) {
        let r = &mut Random::new(11);
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let mut scattered = |by: f64| -> Vec<Vec3> {
            (0..4 * COUNT).map(|v| corners[v % 4] + by * r.vec3()).collect()
        };
        let (rest, start, x) = (scattered(0.1), scattered(0.1), scattered(0.1));
        let material = Material { law: Law::NeoHookean, young_modulus: 1.0, poisson_ratio: 0.3 };
        let vertices = (0..COUNT as u32).map(|k| [0, 1, 2, 3].map(|a| 4 * k + a)).collect();
        let tets = ElasticTets::new(&rest, vertices, &vec![material; COUNT]).unwrap();
        (tets, Intermediate { beta: 0.6, start }, x)
    }

    #[test]
    fn derivatives_are_those_by_the_end_of_the_step() {
        let (tets, between, x) = scene();
        let term = AtIntermediate::new(Box::new(&tets), &between);
        let flat = |x: &[Vec3]| -> Vec<f64> { x.iter().flatten().copied().collect() };
        let vectors =
            |x: &[f64]| -> Vec<Vec3> { x.chunks(3).map(Vec3::from_column_slice).collect() };
        let gradient = |x: &[Vec3]| {
            let mut g = vec![Vec3::zeros(); x.len()];
            term.add_gradient(x, &mut g);
            flat(&g)
        };
        let slopes = finite_difference::gradient(&flat(&x), 1e-5, |x| term.value(&vectors(x)));
        assert!(finite_difference::relative_error(&gradient(&x), &slopes, 0.0) < 1e-8);
        let by_differences =
            finite_difference::jacobian(&flat(&x), 1e-5, |x| gradient(&vectors(x)));
        let pairs: Vec<(usize, usize)> = term.layout().pairs(4).collect();
        // one at a time, in an order in which the memory of one has nothing of the next
        for e in [2, 0, 1] {
            let mut blocks = vec![Mat3::zeros(); pairs.len()];
            term.hessians(e..e + 1, &x, Projection::NONE, &mut blocks);
            for (block, (a, b)) in blocks.iter().zip(&pairs) {
                let (row, column) = (3 * (4 * e + a), 3 * (4 * e + b));
                let given = MatN::<3>::from_fn(|i, j| by_differences[row + i][column + j]);
                assert!((block - given).norm() < 1e-7 * given.norm(), "{block} {given}");
            }
        }
    }

    #[test]
    fn steps_are_bounded_between_start_and_end_and_at_the_end() {
        let (tets, between, x) = scene();
        let term = AtIntermediate::new(Box::new(&tets), &between);
        // through the opposite face
        let mut dx = vec![Vec3::zeros(); x.len()];
        dx[7] = 1.4 * (x[4] - x[7]);
        let middle: Vec<Vec3> = dx.iter().map(|d| 0.6 * d).collect();
        let (at_end, before) =
            (tets.max_step(&x, &dx), tets.max_step(&between.positions(&x), &middle));
        assert!(at_end < before && at_end < 1.0, "{at_end} {before}");
        assert_eq!(term.max_step(&x, &dx), at_end);
        let near = AtIntermediate::new(Box::new(&tets), &between);
        // from beyond that face, so that the element is nearly flat between start and end
        let mut start = x.clone();
        start[7] = start[4] - 1.3 * (start[7] - start[4]);
        let between = Intermediate { beta: 0.6, start };
        let flat = AtIntermediate::new(Box::new(&tets), &between);
        assert!(flat.max_step(&x, &dx) < near.max_step(&x, &dx));
    }
}
