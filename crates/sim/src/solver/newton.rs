//! Projected Newton with a filtered line search [Li 2020, Alg. 1].
//!
//! Every iterate is free of intersections and inversions: the step length starts below the first
//! time of impact and below the first inversion, and is halved until the potential falls.

use super::forcing::Forcing;
use super::{Iterate, Minimiser};
use crate::definition::settings::Norm;
use crate::diagnosis;
use crate::dirichlet;
use crate::error::StepError;
use crate::potential::IncrementalPotential;
use crate::report::{StepOutcome, StepReport};
use crate::solver::line_search::{self, Limit, Move};
use standoff_linalg::Vec3;
use standoff_sparse::SolveError;

/// Consecutive iterations that move by less than `TINY` of the Newton direction before the step
/// counts as stalled.
const PATIENCE: usize = 200;
const TINY: f64 = 1e-8;

/// Consecutive iterations without a decrease above round-off after which the minimum is reached to
/// working precision.
const ROUND_OFF_ITERATIONS: usize = 4;

/// Recent halvings of the line search at which friction is linearised by secants.
const HALVINGS: u64 = 2;

/// Raised diagonals tried before a linear system is given up.
const REGULARISATIONS: usize = 8;

/// Minimises `potential` from `it`, which becomes the last iterate.
///
/// Stops after the step whose Newton direction p has ‖p‖∞/h below the tolerance; that step is taken
/// too, as in [Li 2020, Alg. 1], so the error left is of second order. With `cumulative_toi` also by
/// the step lengths.
///
/// # Errors
/// A non-finite number, an unsolvable system, a blocked boundary motion, an audit's finding. A
/// stall is not an error here but an outcome.
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<StepOutcome, StepError> {
    let model = potential.model;
    let (h, tolerance) = (model.resolved.h, model.resolved.velocity_tolerance);
    let solver = &model.resolved.settings.solver;
    let (mut stuck, mut round_off) = (0, 0);
    let mut halvings = 0;
    let mut forcing = Forcing::new(solver.linear_tolerance);
    let mut near_limit = Vec::new();
    let mut below = 0;
    // weight of the states before the second iteration's in the last one
    let mut first_states = 1.0;
    for iteration in 0..solver.max_iterations {
        report.newton_iterations += 1;
        let gradient = potential.gradient(it, &mut report.seconds);
        // many halvings in a row are the mark of steps across the kink of Coulomb friction
        potential.friction.secant = halvings >= HALVINGS;
        let halved = report.step_cuts.line_search;
        let mut p = direction(potential, it, &gradient, &mut forcing, work, report)?;
        // only an accurate direction may end the minimisation
        let small = measure(potential, &p) / h < tolerance;
        if work.linear.is_iterative() && small && forcing.tighten() {
            p = direction(potential, it, &gradient, &mut forcing, work, report)?;
        }
        forcing.relax();
        report.residual_speed = measure(potential, &p) / h;
        if !report.residual_speed.is_finite() || !p.iter().flatten().all(|c| c.is_finite()) {
            return Err(not_finite("the Newton direction", potential, it, report));
        }
        let close = potential.close_contacts(it);
        report.max_contacts = report.max_contacts.max(it.active.len() as u64);
        let Move { alpha, limit, within_round_off, finite } =
            line_search::search(potential, it, &p, &gradient, work, report);
        if !finite {
            return Err(not_finite("the potential", potential, it, report));
        }
        if alpha == 0.0 && work.linear.is_iterative() && forcing.tighten() {
            continue;
        }
        let cuts = report.step_cuts.line_search - halved;
        halvings = if cuts > 0 { halvings + cuts } else { halvings / 2 };
        potential.stiffen(&close, it);
        potential.thin.stiffen(&it.x, &mut near_limit);
        round_off = if within_round_off { round_off + 1 } else { 0 };
        below = if report.residual_speed < tolerance { below + 1 } else { 0 };
        if iteration > 0 {
            first_states *= 1.0 - alpha;
        }
        let settled = below >= solver.consecutive
            || solver.cumulative_toi.is_some_and(|epsilon| first_states < epsilon)
            || round_off >= ROUND_OFF_ITERATIONS
            || alpha == 0.0 && within_round_off;
        if potential.equality.is_some() {
            dirichlet::advance(potential, it, settled, report)?;
        } else if settled {
            return Ok(StepOutcome::Converged);
        }
        stuck = if alpha < TINY { stuck + 1 } else { 0 };
        if stuck >= PATIENCE || alpha == 0.0 && !settled {
            if potential.equality.is_some() {
                return Err(dirichlet::blocked(potential, it, report));
            }
            return Ok(match limit {
                Limit::Inversion => StepOutcome::StalledInversion,
                Limit::Contact | Limit::HalfSpace => StepOutcome::StalledCcd,
                Limit::None => StepOutcome::StalledLineSearch,
            });
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// p = −H⁻¹ ∇E with the projected Hessian H, by an iterative solver to the residual that `forcing`
/// asks for. Where round-off makes H indefinite, its diagonal is
/// raised, ten times more at each try.
pub fn direction(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<Vec<Vec3>, StepError> {
    let assembled = work.system.assemble(potential, it, &mut report.seconds);
    assembled.map_err(|e| linear_failure(report, e.to_string()))?;
    solve(potential, it, gradient, forcing, work, report)
}

/// p = −H⁻¹ g with the matrix that is assembled, else as [`direction`].
pub fn solve(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<Vec<Vec3>, StepError> {
    let Minimiser { system, linear, .. } = work;
    if let Some(base) = system.begin() {
        linear.restart(base);
    }
    let mut rhs = system.gather(gradient);
    rhs.iter_mut().for_each(|g| *g = -*g);
    let norm = rhs.iter().map(|g| g.norm_squared()).sum::<f64>().sqrt();
    linear.set_tolerance(forcing.residual(norm));
    let mut p = vec![Vec3::zeros(); rhs.len()];
    let mut pivot = None;
    let mut raise = 1e-12 * system.largest_diagonal();
    for _ in 0..REGULARISATIONS {
        match linear.solve(system.matrix(), &rhs, &mut p) {
            Ok(solve) => {
                report.seconds.symbolic += solve.seconds.symbolic;
                report.seconds.factorisation += solve.seconds.numeric;
                report.seconds.solve += solve.seconds.back_solve;
                report.linear_iterations += solve.iterations.max(1) as u64;
                forcing.reached(solve.relative_residual);
                return Ok(system.spread(&p, gradient.len()));
            }
            // an inexact direction is still one of descent
            Err(SolveError::NotConverged { iterations, .. }) if descends(&p, &rhs) => {
                report.linear_iterations += iterations as u64;
                return Ok(system.spread(&p, gradient.len()));
            }
            Err(SolveError::NotFinite { what }) => {
                let what = match what {
                    "matrix" => "the Hessian",
                    "right-hand side" => "the gradient",
                    _ => "the Newton direction",
                };
                return Err(not_finite(what, potential, it, report));
            }
            Err(
                e @ (SolveError::NotPositiveDefinite { .. } | SolveError::NegativeCurvature { .. }),
            ) => {
                if let SolveError::NotPositiveDefinite { block } = e {
                    pivot = system.vertex(block);
                }
                system.raise_diagonal(raise);
                raise *= 10.0;
            }
            Err(e) => return Err(linear_failure(report, e.to_string())),
        }
    }
    let place = pivot.map(|v| format!(" at {}", potential.model.describe_vertex(v)));
    let place = place.unwrap_or_default();
    Err(linear_failure(
        report,
        format!("the matrix stays indefinite{place} although its diagonal was raised"),
    ))
}

/// An unsolvable system.
pub(super) fn linear_failure(report: &StepReport, reason: String) -> StepError {
    let (step, iteration) = (report.step as usize, report.newton_iterations as usize);
    StepError::LinearSolve { step, iteration, reason }
}

pub(super) fn not_finite(
    what: &'static str,
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    report: &StepReport,
) -> StepError {
    let place = diagnosis::place_of_not_finite(potential, it);
    StepError::NotFinite { step: report.step as usize, what, place }
}

fn descends(p: &[Vec3], minus_gradient: &[Vec3]) -> bool {
    let slope: f64 = p.iter().zip(minus_gradient).map(|(a, b)| a.dot(b)).sum();
    slope > 0.0 && slope.is_finite()
}

/// Size of a Newton direction in the norm of the settings, m.
pub fn measure(potential: &IncrementalPotential<'_>, p: &[Vec3]) -> f64 {
    match potential.model.resolved.settings.solver.norm {
        Norm::Largest => largest(p),
        Norm::RootMeanSquare => {
            let positions = potential.model.vertex_count();
            let free = (0..positions).filter(|&v| potential.free[v]).count();
            let sum: f64 = p[..positions].iter().map(|v| v.norm_squared()).sum();
            (sum / free.max(1) as f64).sqrt()
        }
    }
}

/// Largest Euclidean norm of a vertex' entry.
fn largest(p: &[Vec3]) -> f64 {
    p.iter().map(|v| v.norm_squared()).fold(0.0, f64::max).sqrt()
}
