//! Whether a run gains energy out of nothing: the trapezoidal and the midpoint rule keep that of linear elasticity, but have no bound at finite
//! strain, and every step of such a run may converge.

use standoff_sim::Definition;
use standoff_sim::definition::{BodyDef, Motion};
use standoff_sim::report::StepReport;
use standoff_sim::settings::Scheme;

/// Growth that is told, as a part of the greatest energy without that of gravity so far. What the rule adds to and takes
/// from motion that the step resolves is far below that (0.4 % in `scenes/impact-ball.toml`).
const GROWTH: f64 = 0.1;

/// The θ of an integrator below which it damps nearly nothing: it is ½ of the trapezoidal and the midpoint rule.
const UNDAMPED: f64 = 0.51;

/// The energy of a run so far, where nothing but gravity drives it.
#[derive(Debug, Default)]
pub(crate) struct EnergyWatch {
    /// Whether there is nothing to be told, or it has been told.
    idle: bool,
    /// The least sum of all energies, J.
    least: Option<f64>,
    /// The greatest sum without that of gravity, J.
    greatest: f64,
}

impl EnergyWatch {
    /// For a scene. Loads, motions, drives, muscles, growth and springs that begin or end do work, and energies of a program may.
    pub fn new(definition: &Definition) -> Self {
        let Definition { settings, prescribed, forces, energies, .. } = definition;
        // what damps nothing
        let scheme = settings.time.scheme();
        let undamped = matches!(scheme, Scheme::OneStep { .. }) && scheme.theta() < UNDAMPED;
        let held = prescribed.iter().all(|p| matches!(p.motion, Motion::Fixed));
        let lasting = |t0: f64, t1: f64| t0 <= 0.0 && t1 == f64::INFINITY;
        let springs = definition.attachments.iter().all(|a| lasting(a.t0, a.t1))
            && definition.stitches.iter().all(|s| lasting(s.t0, s.t1));
        let driven = definition.joints.iter().any(|j| j.drive.is_some())
            || definition.tendons.iter().any(|t| t.drive.is_some());
        let drawn = |b: &BodyDef| {
            let substances = b.all_substances();
            let tension = substances.iter().flat_map(|s| s.fibres).any(|f| f.tension.is_some());
            tension || b.grows()
        };
        let driven = driven || definition.bodies.iter().any(drawn);
        let closed = held && springs && !driven && forces.is_empty() && energies.is_empty();
        Self { idle: !(undamped && closed), ..Self::default() }
    }

    /// Adds a step. Once per run, what to tell the user.
    pub fn add(&mut self, report: &StepReport) -> Option<String> {
        if self.idle {
            return None;
        }
        let own = report.kinetic_energy + report.elastic_energy + report.contact_energy;
        let total = own + report.gravity_energy;
        let growth = total - self.least.unwrap_or(total);
        if growth > GROWTH * self.greatest && self.greatest > 0.0 {
            self.idle = true;
            let (step, before) = (report.step, self.greatest);
            return Some(format!(
                "by step {step} the energy has grown by {growth:.2e} J, although nothing drives the scene (kinetic and \
                 elastic energy had been {before:.2e} J at most): an integrator that damps nothing makes energy where parts \
                 that vibrate faster than the time step shows turn. Reduce `time.step`, choose `time.integrator = \"bdf2\"`, or set \
                 `time.stiffness_damping` to a twentieth of the step"
            ));
        }
        self.least = Some(self.least.map_or(total, |least| least.min(total)));
        self.greatest = self.greatest.max(own);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Vec3;
    use standoff_sim::definition::expression::Expression;
    use standoff_sim::definition::{DriveDef, ForceDef, JointDef, JointKind};
    use standoff_sim::settings::Integrator;

    fn report(step: u64, kinetic: f64, gravity: f64) -> StepReport {
        StepReport {
            step,
            kinetic_energy: kinetic,
            gravity_energy: gravity,
            ..StepReport::default()
        }
    }

    fn newmark() -> Definition {
        let mut definition = Definition::default();
        definition.settings.time.integrator = Integrator::Newmark;
        definition
    }

    #[test]
    fn growth_beyond_a_tenth_is_told_once() {
        let mut watch = EnergyWatch::new(&newmark());
        // falls, loses half in an impact, and begins to gain
        let steps = [(0.0, 1.0), (1.0, 0.0), (0.5, 0.0), (0.59, 0.0), (0.61, 0.0), (0.9, 0.0)];
        let told: Vec<Option<String>> = (1..)
            .zip(steps)
            .map(|(k, (own, gravity))| watch.add(&report(k, own, gravity)))
            .collect();
        assert!(told.iter().enumerate().all(|(k, text)| text.is_some() == (k == 4)), "{told:?}");
        assert!(told[4].as_ref().is_some_and(|t| t.contains("step 5") && t.contains("1.10e-1 J")));
    }

    #[test]
    fn scenes_that_something_drives_are_left_alone() {
        let grows = |definition: &Definition| {
            let mut watch = EnergyWatch::new(definition);
            watch.add(&report(1, 1.0, 0.0)).is_some() || watch.add(&report(2, 2.0, 0.0)).is_some()
        };
        assert!(grows(&newmark()));
        let with = |integrator, alpha, beta| {
            let mut definition = newmark();
            let time = &mut definition.settings.time;
            (time.integrator, time.alpha, time.beta) = (integrator, alpha, beta);
            definition
        };
        assert!(grows(&with(Integrator::ImplicitMidpoint, 1.0, 0.5)));
        assert!(grows(&with(Integrator::AlphaBetaGamma, 0.25, 1.0)));
        assert!(!grows(&with(Integrator::AlphaBetaGamma, 1.0, 0.7)), "damps");
        let mut driven = newmark();
        driven.forces.push(ForceDef {
            name: "push".into(),
            body: 0,
            vertices: vec![0],
            load: standoff_sim::definition::Load::Pressure(1.0.into()),
            t0: 0.0,
            t1: f64::INFINITY,
        });
        assert!(!grows(&driven));
        let mut motor =
            JointDef::new("motor", JointKind::Revolute, None, 0, Vec3::zeros(), Vec3::x());
        let mut joined = Definition { joints: vec![motor.clone()], ..newmark() };
        assert!(grows(&joined));
        motor.drive = Some(DriveDef {
            position: None,
            velocity: None,
            effort: Some(Expression::constant(1.0)),
            stiffness: 0.0,
            damping: 0.0,
            max_effort: 1.0,
        });
        joined.joints = vec![motor];
        assert!(!grows(&joined));
        assert!(!grows(&Definition::default()), "implicit Euler");
    }
}
