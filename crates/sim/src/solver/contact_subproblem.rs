//! The subproblem of the barrier-free method: contact and friction as they are, everything else by its
//! quadratic model.
//!
//! At x̂, with gradient g and projected Hessian B of all that is smooth,
//!
//! m(p) = gᵀp + ½ pᵀB p + s_c [ Σ φ(c(x̂ + p)) + Ψ_friction(x̂ + p) ]
//!
//! is convex, with kinks where constraints begin to act and where friction slips. What friction loses by sliding is taken by its
//! tangent at x̂, which keeps m convex and no less than friction as it is, so that p leads down [Yuille 2003]. Constraints are linear
//! in p, so m has all that is known of contact, and its minimiser costs no look at an element. It is
//! found by semismooth Newton steps [Qi & Sun 1993], which are those of a primal–dual active set method
//! [Hintermüller, Ito & Kunisch 2003]: taken in full as a rule, with an exact line search where that
//! does not settle.

use super::direction::{self, linear_failure, measure, not_finite};
use super::speedups::Forcing;
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::solver::workspace::Workspace;
use crate::thresholds::{
    LENGTH_TRIALS, LOOK_BEYOND, NONMONOTONE_STEPS, SEMISMOOTH_STEPS, SUBPROBLEM_ACCURACY,
    SUBPROBLEM_SLOPE_LEFT,
};
use standoff_linalg::Vec3;

/// A direction, and what is missing of it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The direction p (`#V`), m.
    pub p: Vec<Vec3>,
    /// Size of the last step towards the minimiser where the steps ended before it was found, m; else 0.
    pub missing: f64,
}

/// The minimiser p of the model at x̂ (`#V`, m); none where a matrix `may_be_indefinite`, and one is not positive definite. The assembly has to hold
/// the Hessian without contact
/// ([`assemble_without_contact`](super::assembly::HessianAssembly::assemble_without_contact)), `smooth`
/// is the gradient without contact (`#V`, kg m).
///
/// # Errors
/// An unsolvable system, a number that is not finite.
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    tentative: &Iterate,
    smooth: Vec<Vec3>,
    may_be_indefinite: bool,
    work: &mut Workspace,
) -> Result<Option<Solution>, StepError> {
    minimise_in(SEMISMOOTH_STEPS, potential, tentative, smooth, may_be_indefinite, work)
}

/// [`minimise`] in `steps` steps at most.
///
/// # Errors
/// As [`minimise`].
pub fn minimise_in(
    steps: usize,
    potential: &mut IncrementalPotential<'_>,
    tentative: &Iterate,
    smooth: Vec<Vec3>,
    may_be_indefinite: bool,
    work: &mut Workspace,
) -> Result<Option<Solution>, StepError> {
    potential.take_tangents_of_friction(Some(&tentative.x));
    let solution = semismooth(steps, potential, tentative, smooth, may_be_indefinite, work);
    potential.take_tangents_of_friction(None);
    solution
}

/// [`minimise_in`] of what is convex.
// long: one loop: a system, its line search, and what ends it
fn semismooth(
    steps: usize,
    potential: &mut IncrementalPotential<'_>,
    tentative: &Iterate,
    mut smooth: Vec<Vec3>,
    may_be_indefinite: bool,
    work: &mut Workspace,
) -> Result<Option<Solution>, StepError> {
    let tolerance = potential.context.velocity_tolerance * potential.context.speed_time;
    // forces are read off the solution: no rough directions
    let mut forcing = Forcing::exact(potential.context.settings.solver.linear_tolerance);
    let (frictional, mut secants) = (!potential.friction().is_idle(), false);
    potential.take_secants_of_friction(secants);
    let mut p = vec![Vec3::zeros(); tentative.x.len()];
    let mut missing = 0.0;
    // x̂ + p; `smooth` becomes g + B p
    let mut y = tentative.clone();
    potential.constraints_mut().unblock();
    for count in 0..steps {
        let mut gradient = smooth.clone();
        potential.add_contact_gradient(&y, &mut gradient);
        let acting = potential.constraints().acting(&y.x);
        let assembled = work.hessian.replace_contacts(potential, &y, Projection::All);
        assembled.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        let d = solve(potential, &y, &gradient, may_be_indefinite, &mut forcing, work)?;
        let Some(d) = d else {
            potential.constraints_mut().unblock();
            return Ok(None);
        };
        let size = measure(potential, &d);
        if !size.is_finite() {
            return Err(not_finite("the Newton direction", potential, &y));
        }
        let bd = work.hessian.multiply_without_contact(&d);
        let bd = bd.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        // as a rule the active set is found in full steps, up and down
        let before = y.x.clone();
        let may_rise = count < NONMONOTONE_STEPS && (secants || !frictional);
        let t = line_search(potential, &mut y, &smooth, &gradient, &d, &bd, may_rise);
        for v in 0..p.len() {
            p[v] += t * d[v];
            smooth[v] += t * bd[v];
        }
        // a backtracked step is the mark of steps across the kink of Coulomb friction
        secants |= t < 1.0;
        potential.take_secants_of_friction(secants);
        let blocked = potential.constraints().is_blocked();
        if t < 1.0 {
            let beyond: Vec<Vec3> =
                before.iter().zip(&d).map(|(x, d)| x + (LOOK_BEYOND * t).min(1.0) * d).collect();
            potential.constraints_mut().block_at(&beyond);
        } else {
            potential.constraints_mut().unblock();
        }
        let exact = !blocked && !frictional && potential.constraints().acting(&y.x) == acting;
        let small = size <= SUBPROBLEM_ACCURACY * tolerance.max(measure(potential, &p));
        if t == 1.0 && (exact || small) {
            potential.constraints_mut().unblock();
            return Ok(Some(Solution { p, missing: 0.0 }));
        }
        missing = size;
    }
    potential.constraints_mut().unblock();
    Ok(Some(Solution { p, missing }))
}

/// One linear system; none where the matrix `may_be_indefinite`, and is not positive definite.
fn solve(
    potential: &IncrementalPotential<'_>,
    y: &Iterate,
    gradient: &[Vec3],
    may_be_indefinite: bool,
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Option<Vec<Vec3>>, StepError> {
    work.report.linear_solves += 1;
    match may_be_indefinite {
        true => direction::solve_if_definite(potential, y, gradient, forcing, work),
        false => direction::solve(potential, y, gradient, forcing, work).map(Some),
    }
}

/// The Newton direction at x̂ by one linear system (`#V`, m), with friction and the curvature of all
/// constraints [Zheng 2025, Alg. 2, lines 5 to 13]; all else as for [`minimise`].
///
/// # Errors
/// As [`minimise`].
pub fn newton_step(
    potential: &mut IncrementalPotential<'_>,
    tentative: &Iterate,
    smooth: Vec<Vec3>,
    may_be_indefinite: bool,
    work: &mut Workspace,
) -> Result<Option<Solution>, StepError> {
    let mut gradient = smooth;
    potential.take_secants_of_friction(false);
    potential.add_contact_gradient(tentative, &mut gradient);
    let assembled = work.hessian.replace_contacts(potential, tentative, Projection::All);
    assembled.map_err(|e| linear_failure(&work.report, e.to_string()))?;
    let mut forcing = Forcing::exact(potential.context.settings.solver.linear_tolerance);
    let p = solve(potential, tentative, &gradient, may_be_indefinite, &mut forcing, work)?;
    match p {
        Some(p) if !measure(potential, &p).is_finite() => {
            Err(not_finite("the Newton direction", potential, tentative))
        }
        p => Ok(p.map(|p| Solution { p, missing: 0.0 })),
    }
}

/// Moves `y` = x̂ + p along d as far as m falls: by all of it (in any case where m `may_rise`), or about
/// to the minimum before. Returns the step length. `smooth` is g + B p, `gradient` ∇m at `y`, `bd` B d.
// long: one search: the full step, then a bracket of the slope
fn line_search(
    potential: &IncrementalPotential<'_>,
    y: &mut Iterate,
    smooth: &[Vec3],
    gradient: &[Vec3],
    d: &[Vec3],
    bd: &[Vec3],
    may_rise: bool,
) -> f64 {
    let dot = |a: &[Vec3]| a.iter().zip(d).map(|(a, d)| a.dot(d)).sum::<f64>();
    let (slope, linear, quadratic) = (dot(gradient), dot(smooth), dot(bd));
    let start = y.x.clone();
    let place = |y: &mut Iterate, t: f64| {
        for v in 0..start.len() {
            y.x[v] = start[v] + t * d[v];
        }
    };
    let contact = |y: &Iterate| {
        let mut energy = Energy::default();
        potential.add_contact_value(y, &mut energy);
        energy
    };
    let before = contact(y);
    place(y, 1.0);
    let after = contact(y);
    let rise = linear + 0.5 * quadratic + (after.value - before.value);
    if may_rise || rise <= before.noise().max(after.noise()) {
        return 1.0;
    }
    // m is convex: its slope has one zero, to which secants lead, as the slope is piecewise linear
    let slope_at = |y: &mut Iterate, t: f64| {
        place(y, t);
        let mut g = vec![Vec3::zeros(); d.len()];
        potential.add_contact_gradient(y, &mut g);
        linear + t * quadratic + dot(&g)
    };
    let (mut low, mut below, mut high, mut above) = (0.0, slope, 1.0, slope_at(y, 1.0));
    // a minimum further on, or none in sight of rounding
    if !(below < 0.0 && above > 0.0) {
        return 1.0;
    }
    let mut t = 1.0;
    for trial in 0..LENGTH_TRIALS {
        let secant = low + (high - low) * below / (below - above);
        t = if trial % 3 == 2 { 0.5 * (low + high) } else { secant };
        let here = slope_at(y, t);
        if here.abs() < SUBPROBLEM_SLOPE_LEFT * slope.abs() {
            break;
        }
        if here < 0.0 {
            (low, below) = (t, here);
        } else {
            (high, above) = (t, here);
        }
    }
    t
}
