//! What a program does inside a step: look on, end it, solve its linear systems.

use super::Simulation;
use standoff_sim::Iteration;
use standoff_sparse::LinearSolver;
use std::ops::ControlFlow;

impl Simulation {
    /// Calls `watcher` in every iteration of the steps to come, before a linear system is solved; where that is tried
    /// several times, before each of them. [`ControlFlow::Break`] ends the step with
    /// [`StepError::Cancelled`](crate::errors::StepError::Cancelled), and the simulation stays as it was before the step.
    /// It takes the place of the watcher before, and influences no result.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), standoff::Error> {
    /// use standoff::prelude::*;
    ///
    /// let scene = SceneBuilder::new()
    ///     .time_step(0.01)
    ///     .end_time(0.05)
    ///     .object(Object::shape("block", Shape::Box(BoxShape::default())))
    ///     .build()?;
    /// let mut simulation = Simulation::new(&scene)?;
    ///
    /// // A user presses a key during the third step.
    /// simulation.watch(|iteration| match iteration.step {
    ///     3 => ControlFlow::Break(()),
    ///     _ => ControlFlow::Continue(()),
    /// });
    /// let error = simulation.run(&mut |_, _| ControlFlow::Continue(())).unwrap_err();
    /// assert!(error.to_string().contains("step 3 was cancelled"), "{error}");
    /// assert_eq!(simulation.step_index(), 2);
    ///
    /// // It can go on.
    /// simulation.unwatch();
    /// simulation.step()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch(
        &mut self,
        watcher: impl FnMut(&Iteration<'_>) -> ControlFlow<()> + Send + 'static,
    ) {
        self.core.set_watcher(Some(Box::new(watcher)));
    }

    /// Ends [`watch`](Self::watch).
    pub fn unwatch(&mut self) {
        self.core.set_watcher(None);
    }

    /// Solves the Newton systems of the steps to come by `solver`, in place of the one that `solver.linear` or `solver.device` chooses.
    /// [`LinearSolver`] says what is expected of it. No checkpoint holds it: a simulation that is restored or resumed has
    /// the one that the scene asks for until it is told again. The methods `dot`, `lbfgs-pd` and `admm-pd` solve no Newton
    /// systems.
    ///
    /// # Example
    ///
    /// ```
    /// # fn main() -> Result<(), standoff::Error> {
    /// use standoff::linear::{BlockMatrix, Cholesky, LinearSolver, Ordering, SolveError, SolveReport};
    /// use standoff::prelude::*;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// /// Counts the systems and hands them to a factorisation.
    /// struct Counting(Cholesky, Arc<AtomicUsize>);
    ///
    /// impl LinearSolver for Counting {
    ///     fn solve(&mut self, a: &BlockMatrix, b: &[Vec3], x: &mut [Vec3]) -> Result<SolveReport, SolveError> {
    ///         self.1.fetch_add(1, Relaxed);
    ///         self.0.solve(a, b, x)
    ///     }
    /// }
    ///
    /// let scene = SceneBuilder::new()
    ///     .time_step(0.01)
    ///     .end_time(0.05)
    ///     .object(Object::shape("block", Shape::Box(BoxShape::default())))
    ///     .build()?;
    /// let mut simulation = Simulation::new(&scene)?;
    /// let count = Arc::new(AtomicUsize::new(0));
    /// let solver = Counting(Cholesky::new(Ordering::Automatic), Arc::clone(&count));
    /// simulation.set_linear_solver(Box::new(solver));
    /// simulation.step()?;
    /// assert!(count.load(Relaxed) > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_linear_solver(&mut self, solver: Box<dyn LinearSolver>) {
        self.core.set_linear_solver(solver);
    }
}
