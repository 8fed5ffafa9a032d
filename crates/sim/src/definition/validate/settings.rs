//! Ranges of the settings.

use super::{Fault, not_negative, number, positive, require};
use crate::definition::settings::{
    Adaptation, BarrierFreeSettings, ContactPotential, ContactSettings, DecompositionSettings,
    EndSettings, FrictionSettings, Lagging, OrientationSettings, Settings, SolverSettings,
    Subproblem, TimeSettings,
};

/// Steps that a simulation may have.
const MOST_STEPS: f64 = 1e9;

impl Settings {
    /// Checks every number.
    ///
    /// # Errors
    /// The first that is out of range; its path is the key in a scene file.
    pub fn validate(&self) -> Result<(), Fault> {
        self.time.validate().map_err(|f| f.within("time"))?;
        self.contact.validate().map_err(|f| f.within("contact"))?;
        self.friction.validate().map_err(|f| f.within("friction"))?;
        self.solver.validate().map_err(|f| f.within("solver"))
    }
}

impl TimeSettings {
    fn validate(&self) -> Result<(), Fault> {
        positive("step", self.step, "the time step must be positive (s)")?;
        positive("end", self.end, "the end must be positive (s)")?;
        let damping = "damping must be 0 or more (s)";
        not_negative("stiffness_damping", self.stiffness_damping, damping)?;
        self.validate_member()?;
        let must = "more than 10⁹ steps to the end of the simulation";
        require("step", self.step, self.end / self.step <= MOST_STEPS, must)
    }
}

impl TimeSettings {
    /// α and β: those of the paper are at most 1, and vibrations grow where β√α is below ½.
    fn validate_member(&self) -> Result<(), Fault> {
        let beta =
            "β must be from 0.5 to 1: with less, vibrations that are faster than the step grow";
        number("beta", self.beta, |b| (0.5..=1.0).contains(&b), beta)?;
        let (least, alpha) = match self.beta {
            1.0 => (
                0.25,
                "α must be from 0.25 to 1: with less, vibrations that are faster than the step grow",
            ),
            _ => (
                1.0,
                "α must be 1 where β is below 1: with less, forces at the start of a step act, which nothing bounds where no step \
                 evaluates them",
            ),
        };
        number("alpha", self.alpha, |a| (least..=1.0).contains(&a), alpha)
    }
}

impl ContactSettings {
    fn validate(&self) -> Result<(), Fault> {
        let d_hat = "the contact distance must be positive";
        positive("d_hat_relative", self.d_hat_relative, d_hat)?;
        optional("d_hat", self.d_hat, d_hat)?;
        optional("d_hat_start", self.d_hat_start, d_hat)?;
        optional("stiffness", self.stiffness, "the barrier stiffness must be positive")?;
        let must = "this barrier is finite at contact, so that its stiffness cannot be adapted; fix \
                    contact.stiffness such that it carries the loads";
        let fixed = self.stiffness.is_some();
        require("barrier", "cubic", fixed || !self.barrier.is_finite(), must)?;
        let by_mass = !fixed && self.adaptation == Adaptation::Mass;
        let oriented = self.potential == ContactPotential::OrientationAware;
        let must = "this rule is for the potentials \"ipc\" and \"convergent\"; choose \"load\" or \"conditioning\", or fix \
                    contact.stiffness";
        require("adaptation", "mass", !(by_mass && oriented), must)?;
        self.orientation.validate().map_err(|f| f.within("orientation"))
    }
}

impl OrientationSettings {
    fn validate(&self) -> Result<(), Fault> {
        let alpha = "it must be a cosine above 0, at most 1";
        let beta = "it must be a cosine from 0 to 1";
        let above_zero = |x: f64| x > 0.0 && x <= 1.0;
        let from_zero = |x: f64| (0.0..=1.0).contains(&x);
        number("alpha", self.alpha, above_zero, alpha)?;
        number("beta", self.beta, from_zero, beta)?;
        number("exterior_alpha", self.exterior_alpha, above_zero, alpha)?;
        number("exterior_beta", self.exterior_beta, from_zero, beta)?;
        optional("length", self.length, "the length L must be positive (m)")
    }
}

/// Coefficients of friction.
fn coefficients(at_rest: f64, kinetic: Option<f64>) -> Result<(), Fault> {
    let must = "a friction coefficient must be 0 or more";
    not_negative("coefficient", at_rest, must)?;
    let Some(kinetic) = kinetic else { return Ok(()) };
    not_negative("kinetic_coefficient", kinetic, must)?;
    let must = "the kinetic coefficient must be at most the static one, `coefficient`";
    require("kinetic_coefficient", kinetic, kinetic <= at_rest, must)
}

impl FrictionSettings {
    fn validate(&self) -> Result<(), Fault> {
        coefficients(self.coefficient, self.kinetic_coefficient)?;
        let stick = "the stick speed must be positive";
        positive("stick_speed_relative", self.stick_speed_relative, stick)?;
        optional("stick_speed", self.stick_speed, stick)?;
        if let Lagging::Count(n) = self.lagging {
            require("lagging", n, n >= 1, "at least one minimisation per step")?;
        }
        require("max_lagging", self.max_lagging, self.max_lagging >= 1, "must be at least 1")?;
        for (k, pair) in self.pairs.iter().enumerate() {
            coefficients(pair.coefficient, pair.kinetic_coefficient)
                .map_err(|f| f.within_element("pairs", k))?;
        }
        Ok(())
    }
}

impl SolverSettings {
    fn validate(&self) -> Result<(), Fault> {
        self.end.validate().map_err(|f| f.within("end"))?;
        let boundary = "the tolerance must be positive";
        optional("boundary_tolerance_relative", self.boundary_tolerance_relative, boundary)?;
        if let Some(n) = self.schwarz_subdomains {
            require("schwarz_subdomains", n, n >= 1, "must be at least 1")?;
        }
        self.decomposition.validate().map_err(|f| f.within("decomposition"))?;
        let residual = "the relative residual must be between 0 and 1";
        share("linear_tolerance", self.linear_tolerance, residual)?;
        self.barrier_free.validate().map_err(|f| f.within("barrier_free"))
    }
}

impl EndSettings {
    fn validate(&self) -> Result<(), Fault> {
        let tolerance = "the velocity tolerance must be positive";
        positive("velocity_relative", self.velocity_relative, tolerance)?;
        optional("velocity", self.velocity, tolerance)?;
        let forces = "the tolerance of forces is a part of those that act, above 0 and at most 1";
        if let Some(tolerance) = self.forces {
            number("forces", tolerance, |t| t > 0.0 && t <= 1.0, forces)?;
            positive("forces", tolerance, forces)?;
        }
        require("consecutive", self.consecutive, self.consecutive >= 1, "must be at least 1")?;
        optional("characteristic", self.characteristic, "the tolerance must be positive")?;
        if let Some(weight) = self.cumulative_toi {
            share("cumulative_toi", weight, "the weight must be between 0 and 1")?;
        }
        let most = self.max_iterations;
        require("max_iterations", most, most >= 1, "must be at least 1")?;
        optional("max_step_time", self.max_step_time, "the time must be positive")
    }
}

impl DecompositionSettings {
    fn validate(&self) -> Result<(), Fault> {
        if let Some(count) = self.subdomains {
            require("subdomains", count, count >= 1, "must be at least 1")?;
        }
        require("size", self.size, self.size >= 1, "must be at least 1")
    }
}

impl BarrierFreeSettings {
    fn validate(&self) -> Result<(), Fault> {
        share("tolerance", self.tolerance, "the weight must be between 0 and 1")?;
        if let Some(count) = self.min_iterations {
            require("min_iterations", count, count >= 1, "must be at least 1")?;
        }
        let ends = self.subproblem != Subproblem::Published || self.min_iterations.is_some();
        let must = "the published subproblem has no other end of a step than the published one; set \
                    solver.barrier_free.min_iterations, to 2 as in the paper or more";
        require("subproblem", "published", ends, must)?;
        let work = self.fallback_after;
        require("fallback_after", work, work >= 1, "must be at least 1")?;
        positive("penalty", self.penalty, "the factor must be positive")?;
        let decay = "the factor must be at least 0 and at most 1";
        number("decay", self.decay, |d| (0.0..=1.0).contains(&d), decay)
    }
}

fn optional(key: &'static str, value: Option<f64>, must: &'static str) -> Result<(), Fault> {
    value.map_or(Ok(()), |v| positive(key, v, must))
}

/// Requires a number between 0 and 1, exclusively, that is not so small that it means nothing.
fn share(key: &'static str, value: f64, must: &'static str) -> Result<(), Fault> {
    number(key, value, |x| x > 0.0 && x < 1.0, must)?;
    positive(key, value, must)
}

#[cfg(test)]
mod tests {
    use super::super::Field;
    use super::*;

    #[test]
    fn stiffness_by_mass_is_refused_with_the_orientation_aware_potential() {
        let mut settings = Settings::default();
        settings.contact.adaptation = Adaptation::Mass;
        assert!(settings.validate().is_ok());
        settings.contact.potential = ContactPotential::OrientationAware;
        let fault = settings.validate().unwrap_err();
        assert_eq!(fault.path.to_string(), "contact.adaptation");
        settings.contact.stiffness = Some(1e6);
        assert!(settings.validate().is_ok());
    }

    #[test]
    fn a_fault_names_its_field_by_its_path() {
        let mut settings = Settings::default();
        settings.solver.barrier_free.decay = f64::NAN;
        let fault = settings.validate().unwrap_err();
        assert_eq!(fault.path.to_string(), "solver.barrier_free.decay");
        assert_eq!(fault.path.0[0], Field::Key("solver"));
        assert_eq!(fault.value, "NaN");
    }
}
