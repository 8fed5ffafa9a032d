//! Newton directions: assembly, linear solve, and what to do where that fails.

use super::assembly::HessianAssembly;
use super::speedups::Forcing;
use crate::clock::Phase;
use crate::definition::settings::Norm;
use crate::diagnosis;
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::solver::workspace::Workspace;
use crate::thresholds::REGULARISATIONS;
use crate::watch::Iteration;
use standoff_linalg::Vec3;
use standoff_sparse::{LinearSolver, MatrixError, SolveError};
use std::time::Instant;

/// p = −H⁻¹ ∇E with the projected Hessian H, by an iterative solver to the residual that `forcing`
/// asks for. Where round-off makes H indefinite, its diagonal is raised, ten times more at each try.
///
/// # Errors
/// A non-finite number, an unsolvable system.
pub fn direction(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, StepError> {
    assemble(potential, it, Projection::All, false, work)?;
    solve(potential, it, gradient, forcing, work)
}

/// Assembles the Hessian, while another thread may order and analyse its pattern; `again` at the same iterate, if only the projection
/// is another.
///
/// # Errors
/// A matrix that is too large.
pub fn assemble(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    projection: Projection<'_>,
    again: bool,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let Workspace { hessian, linear, report, .. } = work;
    let failed = |e: MatrixError| linear_failure(report, e.to_string());
    if again {
        return hessian.fill(potential, it, projection).map_err(failed);
    }
    hessian.make_pattern(potential, it).map_err(failed)?;
    begin(potential, it, hessian, linear.as_mut());
    let pattern = hessian.matrix().pattern().clone();
    let start = Instant::now();
    let fill = || {
        let start = Instant::now();
        (hessian.fill(potential, it, projection), start.elapsed())
    };
    let ((), (filled, seconds)) = rayon::join(|| linear.prepare(&pattern), fill);
    // only what was not hidden
    let symbolic = start.elapsed().saturating_sub(seconds);
    potential.context.clock.add(Phase::Symbolic, symbolic.as_secs_f64());
    filled.map_err(failed)
}

/// Tells the linear solver where a sequence of systems begins.
fn begin(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    hessian: &mut HessianAssembly,
    linear: &mut dyn LinearSolver,
) {
    if let Some(base) = hessian.begin() {
        linear.restart(base);
        linear.place(&hessian.positions(&it.x, potential.context.model.vertex_count()));
    }
}

/// p = −H⁻¹ g with the matrix that is assembled, else as [`direction`].
///
/// # Errors
/// As [`direction`].
pub fn solve(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, StepError> {
    may_go_on(potential, it, work)?;
    let mut pivot = None;
    let mut raise = None;
    for _ in 0..REGULARISATIONS {
        match try_to_solve(potential, it, gradient, false, forcing, work) {
            Ok(p) => return Ok(p),
            Err(SolveError::NotFinite { what }) => {
                let what = match what {
                    "matrix" => "the Hessian",
                    "right-hand side" => "the gradient",
                    _ => "the Newton direction",
                };
                return Err(not_finite(what, potential, it));
            }
            Err(
                e @ (SolveError::NotPositiveDefinite { .. } | SolveError::NegativeCurvature { .. }),
            ) => {
                if let SolveError::NotPositiveDefinite { block } = e {
                    pivot = work.hessian.vertex(block);
                }
                let largest = || work.hessian.largest_diagonal(|_| true).unwrap_or(0.0);
                let by = raise.unwrap_or_else(|| 1e-12 * largest());
                work.hessian.raise_diagonal(by);
                raise = Some(10.0 * by);
            }
            Err(e) => return Err(linear_failure(&work.report, e.to_string())),
        }
    }
    let place = pivot.map(|v| format!(" at {}", potential.context.model.describe_vertex(v)));
    let place = place.unwrap_or_default();
    Err(linear_failure(
        &work.report,
        format!("the matrix stays indefinite{place} although its diagonal was raised"),
    ))
}

/// p = −H⁻¹ g with the matrix that is assembled; none where the solver finds it not to be positive definite, or fails otherwise. Conjugate
/// gradients may not notice, but what they return is a direction of descent all the same.
///
/// # Errors
/// The limit of the time of a step, or its end by the watcher.
pub fn solve_if_definite(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Option<Vec<Vec3>>, StepError> {
    may_go_on(potential, it, work)?;
    let p = try_to_solve(potential, it, gradient, true, forcing, work).ok();
    Ok(p.filter(|p| p.iter().zip(gradient).map(|(p, g)| p.dot(g)).sum::<f64>() < 0.0))
}

/// One solution with the matrix that is assembled.
fn try_to_solve(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    may_be_indefinite: bool,
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, SolveError> {
    let Workspace { hessian, linear, report, .. } = work;
    let clock = potential.context.clock;
    begin(potential, it, hessian, linear.as_mut());
    let rhs = right_hand_side(hessian, gradient);
    linear.set_tolerance(forcing.residuals(norm(&rhs)));
    let mut p = vec![Vec3::zeros(); rhs.len()];
    let start = Instant::now();
    let solved = match may_be_indefinite {
        true => linear.solve_if_definite(hessian.matrix(), &rhs, &mut p),
        false => linear.solve(hessian.matrix(), &rhs, &mut p),
    };
    match solved {
        Ok(solve) => {
            clock.add(Phase::Symbolic, solve.seconds.symbolic);
            clock.add(Phase::Factorisation, solve.seconds.numeric);
            clock.add(Phase::Solve, solve.seconds.back_solve);
            report.linear_iterations += solve.iterations.max(1) as u64;
            forcing.reached(solve.relative_residual);
        }
        // an inexact direction is still one of descent
        Err(SolveError::NotConverged { iterations, .. }) if descends(&p, &rhs) => {
            report.linear_iterations += iterations as u64;
        }
        Err(e) => {
            clock.add(Phase::Factorisation, start.elapsed().as_secs_f64());
            return Err(e);
        }
    }
    Ok(to_vertices(potential, hessian, &p))
}

/// The displacement from a trial point to where loops of joints are closed, by the matrix of the last direction; none without loops, or where the solver
/// fails.
pub fn closing(
    potential: &IncrementalPotential<'_>,
    trial: &[Vec3],
    work: &mut Workspace,
) -> Option<Vec<Vec3>> {
    let context = &potential.context;
    if !context.model.joints.have_loops() {
        return None;
    }
    let mut gradient = potential.joints().closing_gradient(trial);
    for (v, g) in gradient.iter_mut().enumerate() {
        *g *= if potential.free()[v] { context.elastic_scale } else { 0.0 };
    }
    let mut forcing = Forcing::exact(context.settings.solver.linear_tolerance);
    let none = vec![Vec3::zeros(); trial.len()];
    let p = improve(potential, &gradient, &none, &mut forcing, work)?;
    p.iter().flatten().all(|c| c.is_finite()).then_some(p)
}

/// The direction `p`, the last one that was computed, as accurately as `forcing` asks for now; none where the solver fails.
pub fn improve(
    potential: &IncrementalPotential<'_>,
    gradient: &[Vec3],
    p: &[Vec3],
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Option<Vec<Vec3>> {
    let Workspace { hessian, linear, report, .. } = work;
    let rhs = right_hand_side(hessian, gradient);
    linear.set_tolerance(forcing.residuals(norm(&rhs)));
    let mut improved = hessian.gather(p);
    let solve = linear.improve(hessian.matrix(), &rhs, &mut improved).ok()?;
    potential.context.clock.add(Phase::Solve, solve.seconds.back_solve);
    potential.context.clock.add(Phase::Factorisation, solve.seconds.numeric);
    report.linear_iterations += solve.iterations as u64;
    forcing.reached(solve.relative_residual);
    Some(to_vertices(potential, hessian, &improved))
}

/// The displacement of every vertex for those of the rows of the matrix.
pub(super) fn to_vertices(
    potential: &IncrementalPotential<'_>,
    hessian: &HessianAssembly,
    rows: &[Vec3],
) -> Vec<Vec3> {
    let model = potential.context.model;
    let mut p = model.dimension.flatten(hessian.spread(rows, potential.free().len()));
    potential.rails().project(&mut p);
    model.map.spread(&mut p);
    p
}

/// −g in the rows of the matrix.
fn right_hand_side(hessian: &HessianAssembly, gradient: &[Vec3]) -> Vec<Vec3> {
    let mut rhs = hessian.gather(gradient);
    rhs.iter_mut().for_each(|g| *g = -*g);
    rhs
}

fn norm(v: &[Vec3]) -> f64 {
    v.iter().map(|v| v.norm_squared()).sum::<f64>().sqrt()
}

/// Refuses to go on beyond `solver.end.max_step_time`, or when the watcher ends the step.
///
/// # Errors
/// The limit of the time of a step, or its end by the watcher.
pub fn may_go_on(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    work: &mut Workspace,
) -> Result<(), StepError> {
    let (context, report) = (&potential.context, &work.report);
    let (step, number) = (context.step, report.newton_iterations);
    let tolerance = context.velocity_tolerance;
    // the first iteration has no direction yet
    let residual = (number > 1).then_some(report.residual_speed);
    if let Some(watcher) = &mut work.watcher {
        let (residual_speed, positions) = (residual, &it.x);
        let step = step as u64;
        let iteration = Iteration { step, number, residual_speed, tolerance, positions };
        if watcher(&iteration).is_break() {
            return Err(StepError::Cancelled { step: context.step, iterations: number as usize });
        }
    }
    match context.settings.solver.end.max_step_time {
        Some(limit) if context.clock.elapsed() > limit => {
            let obstacle = diagnosis::describe_obstacle(potential, it);
            let reason = obstacle.map(|o| format!("; {o}")).unwrap_or_default();
            let iterations = number as usize;
            Err(StepError::TimeLimit { step, limit, iterations, reason, residual, tolerance })
        }
        _ => Ok(()),
    }
}

/// The error of an unsolvable system.
pub fn linear_failure(report: &StepReport, reason: String) -> StepError {
    let (step, iteration) = (report.step as usize, report.newton_iterations as usize);
    StepError::LinearSolve { step, iteration, reason }
}

/// The error of a number that is not finite.
pub fn not_finite(
    what: &'static str,
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> StepError {
    let place = diagnosis::place_of_not_finite(potential, it);
    StepError::NotFinite { step: potential.context.step, what, place }
}

fn descends(p: &[Vec3], minus_gradient: &[Vec3]) -> bool {
    let slope: f64 = p.iter().zip(minus_gradient).map(|(a, b)| a.dot(b)).sum();
    slope > 0.0 && slope.is_finite()
}

/// Size of a Newton direction in the norm of the settings, m. What a body moves counts as many times as its velocity tolerance is
/// smaller than the greatest one.
pub fn measure(potential: &IncrementalPotential<'_>, p: &[Vec3]) -> f64 {
    let model = potential.context.model;
    let square = |(v, p): (usize, &Vec3)| {
        // obstacles that are pushed aside have no tolerance of their own
        let tolerance = model.tolerance_of(v).min(1.0);
        p.norm_squared() / (tolerance * tolerance)
    };
    match potential.context.settings.solver.end.norm {
        Norm::Largest => p.iter().enumerate().map(square).fold(0.0, f64::max).sqrt(),
        Norm::RootMeanSquare => {
            let unknown = |v: &usize| potential.free()[*v];
            let positions = 0..model.vertex_count();
            let free = positions.clone().filter(unknown).count();
            let sum: f64 = positions.filter(unknown).map(|v| square((v, &p[v]))).sum();
            (sum / free.max(1) as f64).sqrt()
        }
    }
}
