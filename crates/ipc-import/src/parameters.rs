//! The reference's parameters as settings: its lengths are multiples of ℓ, the diagonal of the
//! rest bounding box of the elastic shapes, or absolute under `useAbsParameters`.

use crate::error::{Located, Note, NoteKind, Problem};
use crate::language::{Integration, ReferenceScene, TUNING};
use crate::plan::PlannedHalfSpace;
use standoff_sim::definition::presets::Preset;
use standoff_sim::material::Law;
use standoff_sim::settings::{FrictionPair, Integrator, Lagging, LaggingUntil, Settings};

/// Friction material of the shapes.
pub(crate) const SHAPE: &str = "shape";
/// Friction material of `meshCO` obstacles.
pub(crate) const OBSTACLE: &str = "obstacle";

/// Time for which the reference turns its slip speed ε_v into a displacement, s, whatever the
/// time step.
const SLIP_TIME: f64 = 0.025;

/// What differs from the reference with its law that lets elements invert. The preset has no barrier against that: minima of the
/// law as published may have inverted elements, which no step may reach, so that the run would end in an error where the reference goes on.
const INVERSION: &str = "the reference lets elements of FCR invert; here a barrier that acts below a tenth of their rest volume prevents \
    it. `solver.allow_inversion = true` lets them invert as in the reference";

/// Name, and friction material, of a half-space.
pub(crate) fn half_space_name(index: usize) -> String {
    format!("half-space-{index}")
}

/// All settings of a scene of characteristic length `length`, m.
pub(crate) fn settings(
    scene: &ReferenceScene,
    half_spaces: &[PlannedHalfSpace],
    length: f64,
    notes: &mut Vec<Note>,
) -> Result<Settings, Located> {
    let mut settings = Preset::Ipc2020.settings();
    accelerate(&mut settings);
    let (end, h) = scene.time.value;
    settings.time.step = h;
    settings.time.end = end;
    settings.time.integrator = integrator(scene)?;
    settings.time.stiffness_damping = damping(scene);
    if scene.tolerances.value.iter().any(|t| *t <= 0.0) {
        return Err(Problem::malformed("tolerances must be positive").at(scene.tolerances.line));
    }
    settings.solver.end.velocity = Some(tolerance(scene, length, notes));
    if scene.law.value == Law::FixedCorotated {
        settings.solver.inversion_barrier = true;
        notes.push(Note { line: scene.law.line, kind: NoteKind::Motion, text: INVERSION.into() });
    }
    settings.contact.ccd = scene.ccd.value;
    settings.contact.self_contact = scene.self_collision.value;
    contact_and_friction(scene, length, &mut settings, notes)?;
    settings.friction.coefficient = scene.self_friction.value;
    settings.friction.pairs = pairs(scene, half_spaces);
    Ok(settings)
}

/// Chooses what is faster than the published method and has the same solutions: an imported scene is to run well, not to
/// count the iterations of its paper.
fn accelerate(settings: &mut Settings) {
    let default = Settings::default();
    settings.solver.initial_guess = default.solver.initial_guess;
    settings.solver.islands = default.solver.islands;
    settings.solver.forecast_forces = default.solver.forecast_forces;
    settings.solver.linear = default.solver.linear;
    settings.friction.relaxation = default.friction.relaxation;
}

fn integrator(scene: &ReferenceScene) -> Result<Integrator, Located> {
    match scene.integration.value {
        Integration::BackwardEuler => Ok(Integrator::ImplicitEuler),
        Integration::Newmark { beta: 0.25, gamma: 0.5 } => Ok(Integrator::Newmark),
        Integration::Newmark { beta, gamma } => Err(Problem::unsupported(
            format!("Newmark with β = {beta}, γ = {gamma}"),
            "use β = 0.25, γ = 0.5",
        )
        .at(scene.integration.line)),
    }
}

/// Coefficient of stiffness-proportional damping, s: k/h² (BE) or k/(β h²) (NM) for the
/// reference's k, which a damping ratio r sets to ¾ r h³.
fn damping(scene: &ReferenceScene) -> f64 {
    let h = scene.time.value.1;
    let ratio = scene.damping_ratio.value;
    let beta = match scene.integration.value {
        Integration::BackwardEuler => 1.0,
        Integration::Newmark { beta, .. } => beta,
    };
    if ratio > 0.0 {
        return 0.75 * ratio * h / beta;
    }
    scene.damping_stiffness.value.max(0.0) / (beta * h * h)
}

/// The tolerance of the Newton direction divided by h, m/s: tol·ℓ, or tol/h if absolute.
fn tolerance(scene: &ReferenceScene, length: f64, notes: &mut Vec<Note>) -> f64 {
    let values = &scene.tolerances.value;
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    if values.iter().any(|t| *t != least) {
        let text = format!(
            "tol lists different tolerances step by step; the tightest, {least}, holds for all steps"
        );
        notes.push(Note { line: scene.tolerances.line, kind: NoteKind::Solver, text });
    }
    if scene.absolute_parameters.value { least / scene.time.value.1 } else { least * length }
}

/// What `tuning` says.
fn contact_and_friction(
    scene: &ReferenceScene,
    length: f64,
    settings: &mut Settings,
    notes: &mut Vec<Note>,
) -> Result<(), Located> {
    let line = scene.tuning.line;
    let [kappa, d_hat, d_hat_target, closeness, slip, slip_target] = scene.tuning.value;
    let unit = if scene.absolute_parameters.value { 1.0 } else { length };
    if [d_hat, d_hat_target, slip, slip_target].iter().any(|v| *v <= 0.0) {
        let what = "d̂ and ε_v ('tuning', 'dHat', 'epsv') must be positive";
        return Err(Problem::malformed(what).at(line));
    }
    let mut note = |text: String| notes.push(Note { line, kind: NoteKind::Solver, text });
    if kappa != TUNING[0] {
        note(format!("the first barrier stiffness {kappa} of 'tuning' is left to adaptation"));
    }
    if closeness != TUNING[3] {
        note(format!(
            "the closeness {closeness} of 'tuning' at which the barrier stiffness grows is left to \
             adaptation"
        ));
    }
    settings.contact.d_hat = Some(d_hat.min(d_hat_target) * unit);
    if d_hat > d_hat_target {
        settings.contact.d_hat_start = Some(d_hat * unit);
        note(format!(
            "d̂ shrinks from {d_hat} to {d_hat_target} in every step; the reference stops shrinking it \
             where all contacts are closer than that already"
        ));
    }
    // each halving of ε² on the way to the target costs a further minimisation
    let halvings = (2.0 * (slip / slip_target).log2()).ceil().max(0.0) as u32;
    if halvings > 1 {
        let text = format!("ε_v of 'tuning' is {slip_target} at once, not from {slip} on");
        notes.push(Note { line, kind: NoteKind::Motion, text });
    }
    let slip = slip.min(slip_target);
    settings.friction.stick_speed = Some(slip * unit * SLIP_TIME / scene.time.value.1);
    settings.friction.lagging = match scene.friction_iterations.value {
        ..=0 => Lagging::Until(LaggingUntil::Converged),
        n => Lagging::Count(u32::try_from(n).unwrap_or(u32::MAX).max(halvings.saturating_add(1))),
    };
    Ok(())
}

/// Coefficients other than `selfFric`: half-spaces have their own, meshCO none.
fn pairs(scene: &ReferenceScene, half_spaces: &[PlannedHalfSpace]) -> Vec<FrictionPair> {
    let default = scene.self_friction.value;
    let pair = |other: String, coefficient: f64| FrictionPair {
        materials: (SHAPE.to_owned(), other),
        coefficient,
        kinetic_coefficient: None,
    };
    let obstacle = (!scene.mesh_obstacles.is_empty() && default != 0.0)
        .then(|| pair(OBSTACLE.to_owned(), 0.0));
    half_spaces
        .iter()
        .enumerate()
        .filter(|(_, half_space)| half_space.friction != default)
        .map(|(k, half_space)| pair(half_space_name(k), half_space.friction))
        .chain(obstacle)
        .collect()
}

/// Frames are written every so many steps.
pub(crate) fn output_every(scene: &ReferenceScene) -> u32 {
    let h = scene.time.value.1;
    let speed = scene.playback_speed.value;
    let interval = if speed < 1.0 { h.max((0.03 * speed).min(0.01)) } else { 0.01 };
    (interval / h).round().max(1.0) as u32
}
