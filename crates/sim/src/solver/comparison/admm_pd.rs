//! The alternating direction method of multipliers on the incremental potential [Overby 2017], which the thesis calls
//! ADMM-PD [Li 2020 thesis, §3.3]: deformation gradients Z of the tetrahedra are variables of their own, tied to those of
//! the positions, F = G x, by multipliers.
//!
//! An iteration has a local step, Zₑ = argmin ψ(Z) + kₑ/2 ‖Z − Fₑ − Uₑ‖² in every tetrahedron, the update
//! U ← U + F − Z, and a global step, which minimises ½‖x − x̃‖²_M + s Σ Vₑ kₑ/2 ‖Gₑ x − Zₑ + Uₑ‖² with a constant matrix. It begins
//! at the predicted positions with U = 0. For tetrahedra without contact.
//!
//! There is no line search, so that nothing keeps iterates from inverting elements and nothing makes the
//! potential fall. The last iterate is the end of the step only where it inverts none; else the step ends on the
//! straight line from its start towards it, as far as the filter of the other methods goes.

use crate::clock::Phase;
use crate::energy::tet::ElasticTets;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::material::Lame;
use crate::potential::IncrementalPotential;
use crate::report::StepOutcome;
use crate::solver::direction::{linear_failure, may_go_on, measure, not_finite};
use crate::solver::prescribed;
use crate::solver::quasi_newton::characteristic_norm;
use crate::solver::workspace::Workspace;
use crate::thresholds::{GLOBAL_HALVINGS, SETTLED_ITERATIONS, UNRESOLVED};
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

/// Elements per task.
const CHUNK: usize = 256;

/// Stiffness of a tetrahedron, Pa: the bulk modulus λ + 2μ/3, as in the authors' program [Overby 2017].
pub fn stiffness(lame: &Lame) -> f64 {
    lame.lambda + lame.mu * 2.0 / 3.0
}

/// Iterates from the predicted positions until the characteristic norm of ∇E is below its tolerance at an iterate without
/// inverted elements, or `max_iterations` is reached. `it` becomes the last iterate, or what of the way towards it
/// inverts no element.
///
/// # Errors
/// A non-finite number, an unsolvable system; prescribed vertices whose motion inverts elements that the
/// method does not turn back.
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let motion = potential.release();
    let mut x = it.x.clone();
    if let Some(motion) = &motion {
        motion.place(&mut x);
    }
    let factorised = work.laplacian.prepare(potential, stiffness);
    let factorised = factorised.map_err(|e| linear_failure(&work.report, e.to_string()))?;
    work.report.subdomain_factorisations += u64::from(factorised);
    for (x, d) in x.iter_mut().zip(potential.predicted_displacement(&it.x)) {
        *x += d;
    }
    let outcome = iterate(potential, &mut x, it, work)?;
    if is_uninverted(potential, &x) {
        it.x = x;
    } else if let Some(motion) = motion {
        potential.take_back(motion);
        return Err(prescribed::blocked(potential, it));
    } else {
        work.report.step_cuts.inversion += 1;
        go_towards(potential, &x, it);
    }
    let norm = characteristic_norm(potential, &potential.gradient(it));
    work.report.characteristic_norm = Some(norm);
    Ok(outcome)
}

/// The iterations; `start` is for messages.
fn iterate(
    potential: &IncrementalPotential<'_>,
    x: &mut [Vec3],
    start: &Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = &potential.context;
    let (clock, tets) = (context.clock, &context.model.solids.tets);
    let tolerance = context.settings.solver.characteristic_tolerance().unwrap_or(0.0);
    let mut multipliers = vec![Mat3::zeros(); tets.len()];
    let mut settled = 0;
    for _ in 0..context.settings.solver.end.max_iterations {
        work.report.newton_iterations += 1;
        may_go_on(potential, start, work)?;
        let forces = clock.time(Phase::Elasticity, || local_step(tets, x, &mut multipliers));
        let mut residual = potential.gradient_without_elasticity(x);
        let mut elastic = vec![Vec3::zeros(); x.len()];
        tets.scatter(&forces, &mut elastic);
        for v in (0..x.len()).filter(|&v| potential.free()[v]) {
            residual[v] = -residual[v] - context.elastic_scale * elastic[v];
        }
        let change = clock.time(Phase::Solve, || work.laplacian.solve(&residual));
        let change = change.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        work.report.linear_iterations += 1;
        work.report.residual_speed = measure(potential, &change) / context.speed_time;
        if !change.iter().flatten().all(|c| c.is_finite()) {
            return Err(not_finite("the change of positions", potential, start));
        }
        x.iter_mut().zip(&change).for_each(|(x, d)| *x += d);
        let trial = Iterate::without_contacts(x.to_vec());
        // not finite where a law with a barrier is inverted
        let norm = characteristic_norm(potential, &potential.gradient(&trial));
        if norm < tolerance && is_uninverted(potential, x) {
            return Ok(StepOutcome::Converged);
        }
        let largest = |v: &[Vec3]| v.iter().map(|v| v.amax()).fold(0.0, f64::max);
        settled = if largest(&change) <= UNRESOLVED * largest(x) { settled + 1 } else { 0 };
        if settled >= SETTLED_ITERATIONS {
            return Ok(StepOutcome::RoundOff);
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// The local step and the update of the multipliers U; V k (F − Z + U) as gradients by the corners, N (`#T×4`).
fn local_step(tets: &ElasticTets, x: &[Vec3], multipliers: &mut [Mat3]) -> Vec<[Vec3; 4]> {
    let elements = tets.elements.par_iter().zip(multipliers).enumerate().with_min_len(CHUNK);
    let step = |(e, (tet, u)): (usize, (&crate::energy::tet::Tet, &mut Mat3))| {
        let f = tet.deformation_gradient(&tets.gather(e, x));
        let k = stiffness(tet.lame());
        let sum = f + *u;
        let z = tet.proximal(&sum, k);
        *u = sum - z;
        tet.stress_gradient(&((f - z + *u) * k))
    };
    elements.map(step).collect()
}

/// Whether every element has a positive volume beyond rounding, where inversion is not allowed.
fn is_uninverted(potential: &IncrementalPotential<'_>, x: &[Vec3]) -> bool {
    potential.max_step(x, &vec![Vec3::zeros(); x.len()]) == 1.0
}

/// Moves `it` towards `x` as far as no element inverts.
fn go_towards(potential: &IncrementalPotential<'_>, x: &[Vec3], it: &mut Iterate) {
    let p: Vec<Vec3> = x.iter().zip(&it.x).map(|(to, from)| to - from).collect();
    let mut alpha = potential.max_step(&it.x, &p);
    for _ in 0..GLOBAL_HALVINGS {
        let trial: Vec<Vec3> = it.x.iter().zip(&p).map(|(x, p)| x + alpha * p).collect();
        if is_uninverted(potential, &trial) {
            it.x = trial;
            return;
        }
        alpha *= 0.5;
    }
}
