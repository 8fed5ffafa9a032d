//! Newton directions by Hessians of which as few summands are projected as definiteness allows.

use crate::definition::settings::HessianProjection;
use crate::energy::Projection;
use crate::error::StepError;
use crate::potential::{IncrementalPotential, Strategy};
use crate::solver::saddle;
use crate::solver::workspace::Workspace;
use crate::thresholds::{PROJECTION_LOWER, PROJECTION_RAISE, PROJECTION_TRIES};
use standoff_linalg::Vec3;

/// The linear system of a Newton direction at one iterate, of which the projection may be chosen.
pub trait NewtonSystem {
    /// The direction, and what comes with it.
    type Direction;

    /// The potential that is minimised.
    fn potential(&self) -> &IncrementalPotential<'_>;

    /// Assembles and solves the system, `again` at the same iterate.
    ///
    /// # Errors
    /// A non-finite number, an unsolvable system.
    fn solve(
        &mut self,
        projection: Projection<'_>,
        again: bool,
    ) -> Result<Self::Direction, StepError>;

    /// The same; none where the matrix is found not to be positive definite.
    ///
    /// # Errors
    /// As [`Self::solve`].
    fn solve_if_definite(
        &mut self,
        projection: Projection<'_>,
        again: bool,
    ) -> Result<Option<Self::Direction>, StepError>;
}

/// Which summands were projected last, and which will be.
///
/// Projection makes the matrix definite, but too stiff: near a minimum, where the Hessian is positive definite by itself,
/// convergence is linear with it and quadratic without [Longva 2023]. Far from one, it is needed where vertices still move much. So a summand is
/// projected if the last direction moves one of its vertices by more than a bound, which follows from where matrices were definite.
#[derive(Debug)]
pub struct Projecting {
    method: HessianProjection,
    /// Length of the last direction at a vertex from which on its summands are projected, m.
    bound: f64,
    /// The lengths of the last direction (`#V`), m.
    lengths: Vec<f64>,
    /// Vertices whose summands are projected (`#V`).
    marked: Vec<bool>,
    /// Whether some summands were not projected in the last matrix.
    partial: bool,
    /// Whether none was, and the matrix was positive definite.
    definite: bool,
}

impl Projecting {
    /// At the beginning of a minimisation.
    pub fn new(method: HessianProjection) -> Self {
        let (lengths, marked) = Default::default();
        let (partial, definite) = (false, false);
        Self { method, bound: f64::INFINITY, lengths, marked, partial, definite }
    }

    /// Notes the direction that is taken.
    pub fn note(&mut self, p: &[Vec3]) {
        self.lengths.clear();
        self.lengths.extend(p.iter().map(|p| p.norm()));
    }

    /// The direction by the Hessian, of which some summands are projected.
    ///
    /// # Errors
    /// A non-finite number, an unsolvable system.
    pub fn direction<S: NewtonSystem>(
        &mut self,
        system: &mut S,
    ) -> Result<S::Direction, StepError> {
        let mut again = false;
        for _ in 0..self.tries(system.potential()) {
            if !self.mark() {
                break;
            }
            let projection = Projection::Marked(&self.marked);
            let p = system.solve_if_definite(projection, again)?;
            again = true;
            if let Some(p) = p {
                self.bound *= PROJECTION_RAISE;
                self.partial = true;
                self.definite = !self.marked.contains(&true);
                return Ok(p);
            }
            self.lower();
        }
        (self.partial, self.definite) = (false, false);
        let all = match self.method {
            HessianProjection::GaussNewton => Projection::GaussNewton,
            _ => Projection::All,
        };
        system.solve(all, again)
    }

    /// The direction by the Hessian without any projection, after another one from the same iterate; none where that is not positive definite.
    ///
    /// # Errors
    /// As [`Self::direction`].
    pub fn direction_by_hessian<S: NewtonSystem>(
        &mut self,
        system: &mut S,
    ) -> Result<Option<S::Direction>, StepError> {
        let p = system.solve_if_definite(Projection::NONE, true)?;
        self.definite = p.is_some();
        // after giving up, this is no reason to give up again
        self.partial |= self.definite && self.bound > 0.0;
        Ok(p)
    }

    /// Whether the last matrix was the Hessian without any projection, and positive definite; true where that is not required.
    pub fn is_definite(&self, potential: &IncrementalPotential<'_>) -> bool {
        self.definite || !self.is_required(potential)
    }

    /// Whether the minimisation may have ended in a saddle, which conjugate gradients do not notice where symmetry keeps the
    /// right-hand side from all directions that lead out of it: a right-hand side without symmetry tells. The last matrix tells nothing if it
    /// was `convexified`.
    pub fn may_be_at_saddle(
        &self,
        potential: &IncrementalPotential<'_>,
        convexified: bool,
        work: &mut Workspace,
    ) -> bool {
        self.is_required(potential)
            && !(self.definite
                && !convexified
                && saddle::looks_definite(work.hessian.matrix(), work.linear.as_mut()))
    }

    /// Whether directions have to come from the Hessian without any projection in the end.
    fn is_required(&self, potential: &IncrementalPotential<'_>) -> bool {
        !matches!(self.method, HessianProjection::Always | HessianProjection::GaussNewton)
            && potential.allows(Strategy::LessProjection)
    }

    /// Projects all summands from now on, since the last direction led nowhere. Whether that makes a difference.
    pub fn give_up(&mut self) -> bool {
        self.bound = 0.0;
        std::mem::take(&mut self.partial)
    }

    /// How many matrices are tried that may be indefinite.
    fn tries(&self, potential: &IncrementalPotential<'_>) -> usize {
        match self.method {
            _ if !potential.allows(Strategy::LessProjection) => 0,
            HessianProjection::Always | HessianProjection::GaussNewton => 0,
            HessianProjection::OnDemand => 1,
            // the first direction tells where the minimum is far
            HessianProjection::Progressive if self.lengths.is_empty() => 0,
            HessianProjection::Progressive => PROJECTION_TRIES,
        }
    }

    /// Marks the vertices that move more than the bound; whether there are others.
    fn mark(&mut self) -> bool {
        self.marked.clear();
        self.marked.extend(self.lengths.iter().map(|&length| length > self.bound));
        self.lengths.is_empty() || self.lengths.iter().any(|&l| 0.0 < l && l <= self.bound)
    }

    fn lower(&mut self) {
        if self.method == HessianProjection::Progressive {
            let largest = self.lengths.iter().copied().fold(0.0, f64::max);
            self.bound = self.bound.min(largest) * PROJECTION_LOWER;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(method: HessianProjection, lengths: &[f64]) -> Projecting {
        let mut projecting = Projecting::new(method);
        let p: Vec<Vec3> = lengths.iter().map(|&l| Vec3::new(0.0, -l, 0.0)).collect();
        projecting.note(&p);
        projecting
    }

    /// The bound falls below the lengths of the vertices that move most, and below all of them at last.
    #[test]
    fn more_and_more_vertices_are_projected() {
        let mut projecting = moved(HessianProjection::Progressive, &[0.0, 0.1, 0.5, 1.0]);
        assert!(projecting.mark());
        assert_eq!(projecting.marked, [false; 4]);
        projecting.lower();
        assert!(projecting.mark());
        assert_eq!(projecting.marked, [false, false, true, true]);
        projecting.lower();
        // all that move, so that nothing is gained over the projection of all
        assert!(!projecting.mark());
        assert_eq!(projecting.marked, [false, true, true, true]);
    }

    /// After a direction that led nowhere all is projected, and once only is that something else than before.
    #[test]
    fn all_is_projected_after_giving_up() {
        let mut projecting = moved(HessianProjection::Progressive, &[0.1, 1.0]);
        assert!(!projecting.give_up());
        projecting.bound = 0.5;
        projecting.partial = true;
        assert!(projecting.mark());
        assert!(projecting.give_up());
        assert!(!projecting.mark());
        assert_eq!(projecting.marked, [true; 2]);
        assert!(!projecting.give_up());
    }
}
