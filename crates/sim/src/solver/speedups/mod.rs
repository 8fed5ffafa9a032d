//! What saves Newton's method iterations or time. The minimum that is reached, and the tolerance to which, are the same without
//! any of it; the presets of published methods switch all of it off (`definition/presets.rs`).
//!
//! | file | what | key | source | measured in `docs/decisions` | held by `sim/tests` |
//! |---|---|---|---|---|---|
//! | `start.rs` | begins where motion leads to, not at xᵗ | `solver.initial_guess` | our choice | 2026-11-25-extrapolation | `initial_guess.rs` |
//! | `projecting.rs` | projects few summands of the Hessian | `solver.projection` | [Longva 2023], with a bound that is ours | 2026-11-24-projection | `newton.rs` |
//! | `forcing.rs` | rough directions far from the minimum | `solver.linear` | [Eisenstat & Walker 1996] | 2026-11-25-cost-of-an-iteration | `newton.rs` |
//! | `islands.rs` | lets bodies rest that have settled | `solver.islands` | our choice | 2026-11-24-islands | `islands.rs` |
//! | `../path.rs` | turns rods of one segment along arcs | `solver.arcs` | our choice | 2026-11-27-long-steps | `rods.rs` |
//! | `contact/forecast.rs` | stiffens contact and friction by forecast forces | `solver.forecast_forces` | primal–dual methods | 2026-11-24-forecast-forces | `forecast_forces.rs` |

mod forcing;
mod islands;
mod projecting;
mod start;

pub use forcing::Forcing;
pub use projecting::{NewtonSystem, Projecting};
pub use start::{advance_free_bodies, extrapolate};

use super::direction::{assemble, improve, measure, not_finite, solve, solve_if_definite};
use super::line_search::LineStep;
use super::workspace::Workspace;
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Strategy};
use islands::Islands;

use standoff_linalg::Vec3;

/// H p = −g at an iterate.
struct Plain<'s, 'p> {
    potential: &'s IncrementalPotential<'p>,
    it: &'s Iterate,
    gradient: &'s [Vec3],
    forcing: &'s mut Forcing,
    work: &'s mut Workspace,
}

impl NewtonSystem for Plain<'_, '_> {
    type Direction = Vec<Vec3>;

    fn potential(&self) -> &IncrementalPotential<'_> {
        self.potential
    }

    fn solve(&mut self, projection: Projection<'_>, again: bool) -> Result<Vec<Vec3>, StepError> {
        let Self { potential, it, gradient, forcing, work } = self;
        assemble(potential, it, projection, again, work)?;
        solve(potential, it, gradient, forcing, work)
    }

    fn solve_if_definite(
        &mut self,
        projection: Projection<'_>,
        again: bool,
    ) -> Result<Option<Vec<Vec3>>, StepError> {
        let Self { potential, it, gradient, forcing, work } = self;
        assemble(potential, it, projection, again, work)?;
        solve_if_definite(potential, it, gradient, forcing, work)
    }
}

/// What speeds up a minimisation by Newton's method.
pub struct Speedups<'p> {
    /// Which bodies may rest; none where all have to go on.
    islands: Option<Islands<'p>>,
    /// How accurately directions are solved for.
    forcing: Forcing,
    /// Which summands of the Hessian are projected.
    projecting: Projecting,
}

impl<'p> Speedups<'p> {
    /// Those that the settings and the terms allow; `by_direction` where the size of the direction ends the minimisation.
    pub fn new(potential: &IncrementalPotential<'p>, by_direction: bool) -> Self {
        let solver = &potential.context.settings.solver;
        let exact = !by_direction || !potential.allows(Strategy::RoughDirections);
        Self {
            islands: Islands::new(potential),
            forcing: Forcing::new(solver.linear_tolerance).exact_with_factor(exact),
            projecting: Projecting::new(solver.projection),
        }
    }

    /// The Newton direction, of which `report.residual_speed` becomes the size: a direction that is small enough to end the
    /// minimisation is computed again as accurately as the solver can.
    ///
    /// # Errors
    /// A non-finite number, an unsolvable system.
    pub fn direction(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        gradient: &[Vec3],
        work: &mut Workspace,
    ) -> Result<Vec<Vec3>, StepError> {
        let Self { projecting, forcing, .. } = self;
        let (time, tolerance) =
            (potential.context.speed_time, potential.context.velocity_tolerance);
        let mut system = Plain { potential, it, gradient, forcing, work };
        let mut p = projecting.direction(&mut system)?;
        let is_small = |p: &[Vec3]| measure(potential, p) / time < tolerance;
        let mut small = is_small(&p);
        if small && potential.context.force_tolerance < 1.0 && !projecting.is_definite(potential) {
            // the matrix is now another one than that of `p` if it is indefinite, and this direction will not be the last one
            match projecting.direction_by_hessian(&mut system)? {
                Some(better) => (small, p) = (is_small(&better), better),
                None => small = false,
            }
        }
        if system.work.linear.is_iterative() && small && system.forcing.tighten() {
            p = match improve(potential, gradient, &p, system.forcing, system.work) {
                Some(p) => p,
                None => projecting.direction(&mut system)?,
            };
        }
        projecting.note(&p);
        forcing.relax();
        work.report.residual_speed = measure(potential, &p) / time;
        if !work.report.residual_speed.is_finite() || !p.iter().flatten().all(|c| c.is_finite()) {
            return Err(not_finite("the Newton direction", potential, it));
        }
        Ok(p)
    }

    /// Makes the next direction more accurate, or its Hessian projected in full, after one that led nowhere; whether there is something
    /// left to do.
    pub fn look_closer(&mut self, work: &Workspace) -> bool {
        work.linear.is_iterative() && self.forcing.tighten() || self.project_all()
    }

    /// Projects all summands of the Hessian from now on; whether that is new.
    pub fn project_all(&mut self) -> bool {
        self.projecting.give_up()
    }

    /// Whether the last matrix was positive definite without projection, or could not be told from one.
    pub fn is_definite(&self, potential: &IncrementalPotential<'_>) -> bool {
        self.projecting.is_definite(potential)
    }

    /// Whether the minimisation may have ended in a saddle: by all that the solver of linear systems can tell, the last matrix, which is not
    /// projected, is not positive definite.
    pub fn may_be_at_saddle(
        &self,
        potential: &IncrementalPotential<'_>,
        work: &mut Workspace,
    ) -> bool {
        self.projecting.may_be_at_saddle(potential, false, work)
    }

    /// Stiffens friction in the next Newton matrix by the forces that the direction `p` forecasts.
    pub fn forecast_friction(potential: &mut IncrementalPotential<'_>, it: &Iterate, p: &[Vec3]) {
        potential.forecast_friction(it, p);
    }

    /// Stiffens contacts in the next Newton matrix by the normal forces that the direction `p` forecast, if the step was shortened.
    pub fn forecast_contacts(
        potential: &IncrementalPotential<'_>,
        it: &mut Iterate,
        p: &[Vec3],
        taken: &LineStep,
        work: &Workspace,
    ) {
        if 0.0 < taken.alpha && taken.alpha < 1.0 {
            potential.forecast_contacts(&work.before, p, &mut it.contacts);
        }
    }

    /// Lets bodies rest that have settled; whether some do that did not before.
    pub fn rest(
        &self,
        potential: &mut IncrementalPotential<'_>,
        it: &mut Iterate,
        p: &[Vec3],
        taken: &LineStep,
        work: &mut Workspace,
    ) -> bool {
        self.islands.as_ref().is_some_and(|i| i.rest(potential, it, p, taken, work))
    }

    /// Lets the bodies that rest go on.
    pub fn end(potential: &mut IncrementalPotential<'_>, it: &mut Iterate, work: &mut Workspace) {
        if potential.is_restricted() {
            Islands::resume(potential, it, work);
        }
    }
}
