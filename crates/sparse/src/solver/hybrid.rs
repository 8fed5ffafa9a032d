//! Conjugate gradients as long as they are cheaper than a factorisation, else the factorisation.

use std::sync::Arc;
use std::time::Instant;

use standoff_linalg::Vec3;

use super::{
    ConjugateGradient, LinearSolver, MixedCholesky, Preconditioner, Residuals, SolveReport,
};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, VertexOrder, pattern};

/// Iterations of conjugate gradients that take as long as a factorisation and its solutions with one block operation per
/// block of the matrix, and that are tried in its place: measured with `benches/examples/solver_table.rs` and on scenes
/// of 10⁴ to 6·10⁴ degrees of freedom.
const ITERATIONS: f64 = 0.16;

/// Iterations below which conjugate gradients are not tried.
const FEWEST: usize = 20;

/// Block operations above which a factorisation takes too much memory and time.
const LARGEST: f64 = 1e11;

/// Iterations with stiff blocks that are made at most before there is a coarse level: as many as take as long as a coarse
/// level and conjugate gradients with it take for a body at rest (`benches/examples/schwarz_table.rs`).
const BLOCKS_MAX: usize = 250;

/// After every so many iterations those with stiff blocks, and those with a coarse level, are given up unless as many as
/// are allowed can be expected to suffice. With a coarse level the residual falls late where stiffness varies.
const JUDGED: [usize; 2] = [25, 50];

/// Iterations with stiff blocks that take as long as making a coarse level, and as one iteration with it.
const COARSE_SETUP: f64 = 50.0;
const COARSE_ITERATION: f64 = 1.5;

/// Patterns whose estimates are kept: those of a step's systems with and without the vertices that move to obstructed
/// targets.
const KEPT: usize = 2;

/// Iterations with a coarse level that are made at most where there is no factorisation.
const LARGE_MAX: usize = 2000;

/// The linear solver for any system, by the first of these that suffices:
///
/// 1. conjugate gradients with [stiff blocks](Preconditioner::StiffBlocks), 250 iterations at most;
/// 2. conjugate gradients with [stiff blocks and a coarse level](Preconditioner::TwoLevel);
/// 3. [`MixedCholesky`]; where its factor would be very large, conjugate gradients with
///    [subdomains](Preconditioner::Schwarz).
///
/// Conjugate gradients may take the time of a factorisation, by operations predicted for the pattern of the last
/// restart (or the system's own). They are given up as soon as the residual does not let expect that they suffice, and
/// then for all systems until the next restart.
#[derive(Debug)]
pub struct Hybrid {
    /// Iterations of conjugate gradients at most where there is no factorisation.
    pub max_iterations: usize,
    /// Iterations with a coarse level that are made at most where there is no factorisation.
    pub max_two_level: usize,
    /// Block operations above which there is no factorisation.
    pub largest_operations: f64,
    ordering: Ordering,
    iterative: ConjugateGradient,
    direct: MixedCholesky,
    /// Pattern of the last restart.
    base: Option<Arc<BlockPattern>>,
    /// Block operations predicted for it: a function of the pattern alone.
    base_operations: Option<f64>,
    /// Patterns of the latest restarts and what is estimated for them.
    expected: Vec<(Arc<BlockPattern>, Option<f64>)>,
    /// Whether `direct` knows of the restart. As long as no system needs it, large patterns are not ordered.
    restarted: bool,
    /// What has not failed since the last restart.
    stage: Stage,
    /// Whether the last system was solved by a factorisation.
    factorised: bool,
}

/// What a system is solved with.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Stage {
    Blocks,
    TwoLevel,
    Last,
}

impl Hybrid {
    /// A solver that iterates to the given residual, at most so many times.
    pub fn new(ordering: Ordering, tolerance: f64, max_iterations: usize) -> Self {
        Self {
            max_iterations,
            max_two_level: LARGE_MAX,
            largest_operations: LARGEST,
            ordering,
            iterative: ConjugateGradient::new(tolerance, max_iterations),
            direct: MixedCholesky::new(ordering),
            base: None,
            base_operations: None,
            expected: Vec::new(),
            restarted: false,
            stage: Stage::Blocks,
            factorised: false,
        }
    }

    /// Iterations that are worth trying; `None` where nothing else is.
    fn budget(&mut self, pattern: &Arc<BlockPattern>) -> Option<usize> {
        let (blocks, operations) = match (&self.base, self.base_operations) {
            (Some(base), Some(operations)) => (base.block_count(), operations),
            (Some(base), None) => {
                let base = base.clone();
                let expected = self.expected(&base);
                self.restarted = expected.is_none();
                let found = || self.direct.restart_and_predict(&base);
                (base.block_count(), expected.unwrap_or_else(found))
            }
            (None, _) => {
                let order = VertexOrder::new(pattern, self.ordering);
                (pattern.block_count(), order.tree.operations())
            }
        };
        self.base_operations = self.base.is_some().then_some(operations);
        // a block operation is the product of two blocks
        let share = (pattern.unknowns() as f64 / 3.0).powi(3);
        let iterations = ITERATIONS * share * operations / blocks.max(1) as f64;
        (operations <= self.largest_operations).then_some(iterations as usize)
    }

    /// Estimated operations of a large pattern. The estimate is used even where the order is known from earlier steps, so that
    /// a run that is resumed, and does not know it, solves every system as before.
    fn expected(&mut self, base: &Arc<BlockPattern>) -> Option<f64> {
        if let Some((_, expected)) = self.expected.iter().find(|(p, _)| pattern::same(p, base)) {
            return *expected;
        }
        let expected = VertexOrder::expected_operations(base, self.ordering);
        self.expected.insert(0, (base.clone(), expected));
        self.expected.truncate(KEPT);
        expected
    }

    /// Tells the factorisation of the last restart.
    fn restart_direct(&mut self) {
        if let Some(base) = self.base.as_ref().filter(|_| !self.restarted) {
            self.direct.restart_and_predict(base);
            self.restarted = true;
        }
    }

    /// Iterations that are worth trying, where `budget` ones with stiff blocks are worth as much as a factorisation.
    fn allowed(&self, stage: Stage, budget: Option<usize>) -> usize {
        let allowed = match (stage, budget) {
            (Stage::Blocks, budget) => budget.unwrap_or(usize::MAX).min(BLOCKS_MAX),
            (_, None) => self.max_two_level,
            (_, Some(budget)) => ((budget as f64 - COARSE_SETUP) / COARSE_ITERATION) as usize,
        };
        allowed.min(self.max_iterations)
    }

    /// With so many subdomains where these are used.
    pub fn with_subdomains(mut self, count: Option<usize>) -> Self {
        self.iterative.subdomains = count;
        self
    }

    /// Says how conjugate gradients iterate from now on.
    fn iterate(&mut self, by: Preconditioner, max_iterations: usize, trial: Option<usize>) {
        let cg = &mut self.iterative;
        (cg.preconditioner, cg.max_iterations, cg.trial) = (by, max_iterations, trial);
    }
}

impl LinearSolver for Hybrid {
    fn is_iterative(&self) -> bool {
        true
    }

    fn set_tolerance(&mut self, residuals: Residuals) {
        self.iterative.set_tolerance(residuals);
        self.direct.set_tolerance(residuals);
    }

    fn place(&mut self, position: &[Vec3]) {
        self.iterative.place(position);
    }

    fn prepare(&mut self, pattern: &Arc<BlockPattern>) {
        let budget = self.budget(pattern);
        let first = if self.base.is_some() { self.stage } else { Stage::Blocks };
        let iterates = |stage| first <= stage && self.allowed(stage, budget) >= FEWEST;
        let factorises = !iterates(Stage::Blocks) && !iterates(Stage::TwoLevel);
        if factorises && budget.is_some() {
            self.restart_direct();
            self.direct.prepare(pattern);
        }
    }

    fn restart(&mut self, base: &Arc<BlockPattern>) {
        self.base = Some(base.clone());
        (self.stage, self.base_operations, self.restarted) = (Stage::Blocks, None, false);
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve_by(false, a, b, x)
    }

    fn solve_if_definite(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve_by(true, a, b, x)
    }

    fn improve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        match self.factorised {
            true => self.direct.improve(a, b, x),
            false => self.solve(a, b, x),
        }
    }
}

impl Hybrid {
    /// Solves by the first method that suffices.
    fn solve_by(
        &mut self,
        may_be_indefinite: bool,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        let budget = self.budget(a.pattern());
        let mut stage = if self.base.is_some() { self.stage } else { Stage::Blocks };
        let mut wasted = SolveReport::default();
        self.factorised = false;
        while stage != Stage::Last {
            let allowed = self.allowed(stage, budget);
            let (preconditioner, judged, next) = match stage {
                Stage::Blocks => (Preconditioner::StiffBlocks, JUDGED[0], Stage::TwoLevel),
                _ => (Preconditioner::TwoLevel, JUDGED[1], Stage::Last),
            };
            if allowed >= FEWEST {
                self.iterate(preconditioner, allowed, Some(judged));
                let clock = Instant::now();
                match self.iterative.solve(a, b, x) {
                    Err(SolveError::NotConverged { iterations, .. }) => {
                        wasted.iterations += iterations;
                        wasted.seconds.numeric += clock.elapsed().as_secs_f64();
                    }
                    result => {
                        self.stage = stage;
                        return result.map(|report| add(report, wasted));
                    }
                }
            }
            stage = next;
        }
        self.stage = stage;
        if budget.is_some() {
            self.restart_direct();
        }
        self.factorised = budget.is_some();
        let report = match budget {
            Some(_) if may_be_indefinite => self.direct.solve_if_definite(a, b, x)?,
            Some(_) => self.direct.solve(a, b, x)?,
            None => {
                self.iterate(Preconditioner::Schwarz, self.max_iterations, None);
                self.iterative.solve(a, b, x)?
            }
        };
        Ok(add(report, wasted))
    }
}

/// A report with the iterations and the time of what was tried before.
fn add(mut report: SolveReport, wasted: SolveReport) -> SolveReport {
    report.iterations += wasted.iterations;
    report.seconds.numeric += wasted.seconds.numeric;
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Mat3;

    /// A cube of `side`³ vertices, each coupled to those around it.
    fn cube(side: u32) -> BlockMatrix {
        let id = |x: u32, y: u32, z: u32| (z * side + y) * side + x;
        let cells = (0..(side - 1).pow(3)).map(|c| {
            let s = side - 1;
            let [x, y, z] = [c % s, c / s % s, c / s / s];
            [0, 1, 2, 3, 4, 5, 6, 7].map(|k| id(x + k % 2, y + k / 2 % 2, z + k / 4))
        });
        let cells: Vec<[u32; 8]> = cells.collect();
        let n = side.pow(3) as usize;
        let pattern = BlockPattern::from_stencils(n, cells.iter().map(|c| &c[..])).unwrap();
        let mut a = BlockMatrix::zeros(Arc::new(pattern));
        a.blocks_mut().fill(-Mat3::identity());
        for i in 0..n {
            *a.diagonal_block_mut(i) = 30.0 * Mat3::identity();
        }
        a
    }

    /// A large pattern is ordered when a system is factorised, not before; what is expected of the order is close.
    #[test]
    fn a_large_pattern_is_ordered_where_it_is_factorised() {
        let a = cube(24);
        let b = vec![Vec3::new(1.0, 2.0, 3.0); a.n()];
        let mut x = vec![Vec3::zeros(); a.n()];
        let mut solver = Hybrid::new(Ordering::Automatic, 1e-6, 5000);
        solver.restart(a.pattern());
        solver.prepare(a.pattern());
        assert_eq!(solver.solve(&a, &b, &mut x).unwrap().factor_nonzeros, 0);
        let expected = solver.base_operations.unwrap();
        assert!(!solver.restarted);
        let order = VertexOrder::for_many(a.pattern(), Ordering::Automatic);
        let found = order.tree.operations();
        assert!((0.7..1.4).contains(&(expected / found)), "{expected} {found}");
        // too few iterations are allowed
        solver.max_iterations = 1;
        assert!(solver.solve(&a, &b, &mut x).unwrap().factor_nonzeros > 0);
        assert!(solver.restarted);
        assert_eq!(solver.base_operations, Some(expected));
        // what was solved before changes no decision, so that a resumed run makes the same ones
        let mut fresh = Hybrid::new(Ordering::Automatic, 1e-6, 5000);
        for solver in [&mut solver, &mut fresh] {
            solver.restart(a.pattern());
            assert!(solver.budget(a.pattern()).is_some());
            assert_eq!(solver.base_operations, Some(expected));
        }
        assert_eq!(solver.budget(a.pattern()), fresh.budget(a.pattern()));
    }

    /// The order of a small pattern is found at once.
    #[test]
    fn a_small_pattern_is_ordered_at_once() {
        let a = cube(5);
        let mut solver = Hybrid::new(Ordering::Automatic, 1e-6, 5000);
        solver.restart(a.pattern());
        assert!(solver.budget(a.pattern()).is_some());
        let order = VertexOrder::for_many(a.pattern(), Ordering::Automatic);
        assert!(solver.restarted);
        assert_eq!(solver.base_operations, Some(order.tree.operations()));
    }
}
