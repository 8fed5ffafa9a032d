//! Ranges of the settings.

use super::at::At;
use crate::error::SceneError;
use crate::file::SceneFile;
use standoff_sim::settings::Lagging;

/// Checks every number of the sections that are not objects.
pub(super) fn check(file: &SceneFile, at: &At<'_>) -> Result<(), SceneError> {
    let time = at.key("time");
    time.key("step").require(file.time.step, positive, "the time step must be positive (s)")?;
    time.key("end").require(file.time.end, positive, "the end must be positive (s)")?;
    time.key("stiffness_damping").require(
        file.time.stiffness_damping,
        |c| c >= 0.0,
        "damping must be 0 or more (s)",
    )?;
    if file.time.end / file.time.step > 1e9 {
        return Err(time.key("step").invalid("more than 10⁹ steps to the end of the simulation"));
    }

    let contact = at.key("contact");
    let c = &file.contact;
    let d_hat = "the contact distance must be positive";
    contact.key("d_hat_relative").require(c.d_hat_relative, positive, d_hat)?;
    optional(&contact.key("d_hat"), c.d_hat, positive, d_hat)?;
    let stiffness = "the barrier stiffness must be positive";
    optional(&contact.key("stiffness"), c.stiffness, positive, stiffness)?;

    let friction = at.key("friction");
    let f = &file.friction;
    let coefficient = "a friction coefficient must be 0 or more";
    friction.key("coefficient").require(f.coefficient, |mu| mu >= 0.0, coefficient)?;
    for (k, pair) in f.pairs.iter().enumerate() {
        let at = friction.key("pairs").index(k).key("coefficient");
        at.require(pair.coefficient, |mu| mu >= 0.0, coefficient)?;
    }
    let stick = "the stick speed must be positive";
    friction.key("stick_speed_relative").require(f.stick_speed_relative, positive, stick)?;
    optional(&friction.key("stick_speed"), f.stick_speed, positive, stick)?;
    if let Lagging::Count(n) = f.lagging {
        friction.key("lagging").require(n, |n| n >= 1, "at least one minimisation per step")?;
    }
    friction.key("max_lagging").require(f.max_lagging, |n| n >= 1, "must be at least 1")?;

    let solver = at.key("solver");
    let s = &file.solver;
    let tolerance = "the velocity tolerance must be positive";
    solver.key("velocity_tolerance_relative").require(
        s.velocity_tolerance_relative,
        positive,
        tolerance,
    )?;
    optional(&solver.key("velocity_tolerance"), s.velocity_tolerance, positive, tolerance)?;
    solver.key("max_iterations").require(s.max_iterations, |n| n >= 1, "must be at least 1")?;
    solver.key("linear_tolerance").require(
        s.linear_tolerance,
        |t| t > 0.0 && t < 1.0,
        "the relative residual must be between 0 and 1",
    )?;
    if let Some(weight) = s.cumulative_toi {
        solver.key("cumulative_toi").require(
            weight,
            |w| w > 0.0 && w < 1.0,
            "the weight must be between 0 and 1",
        )?;
    }
    let (free, f) = (solver.key("barrier_free"), &s.barrier_free);
    free.key("tolerance").require(
        f.tolerance,
        |t| t > 0.0 && t < 1.0,
        "the weight must be between 0 and 1",
    )?;
    free.key("penalty").require(f.penalty, positive, "the factor must be positive")?;
    free.key("decay").require(
        f.decay,
        |d| (0.0..=1.0).contains(&d),
        "the factor must be at least 0 and at most 1",
    )?;
    if let Some(count) = f.min_iterations {
        free.key("min_iterations").require(count, |n| n >= 1, "must be at least 1")?;
    }

    let output = at.key("output");
    output.key("every").require(file.output.every, |n| n >= 1, "must be at least 1")?;
    optional(
        &output.key("interval"),
        file.output.interval,
        positive,
        "the interval of frames must be positive (s)",
    )
}

fn positive(x: f64) -> bool {
    x > 0.0
}

fn optional(
    at: &At<'_>,
    value: Option<f64>,
    valid: impl Fn(f64) -> bool,
    requirement: &'static str,
) -> Result<(), SceneError> {
    value.map_or(Ok(()), |v| at.require(v, valid, requirement))
}
