//! Settings with which papers and their codes computed, by name.
//!
//! A preset has nothing that its paper does not have, as far as a setting can switch that off: `published` switches off
//! what is ours, for all of them.

use super::settings::{
    Adaptation, Ccd, ContactPotential, Fallback, HessianProjection, InitialGuess, LinearSolver,
    Method, Norm, RelativeTo, Settings, Subproblem, ThicknessBarrier, Transition,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published method: the settings that its paper, or the code that comes with it, computes with. What
/// a preset does not set keeps its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The defaults.
    Standoff,
    /// Incremental potential contact [Li 2020], as its reference code does it.
    #[serde(rename = "ipc-2020")]
    Ipc2020,
    /// Codimensional IPC [Li 2021].
    #[serde(rename = "c-ipc-2021")]
    CodimensionalIpc2021,
    /// The convergent formulation of IPC [Li 2023].
    #[serde(rename = "convergent-2023")]
    Convergent2023,
    /// Decomposed optimisation [Li 2019], without contact as in its paper.
    #[serde(rename = "dot-2019")]
    DecomposedOptimisation2019,
    /// Orientation-aware contact [Huang 2024].
    #[serde(rename = "orientation-aware-2024")]
    OrientationAware2024,
    /// The barrier-free augmented Lagrangian method [Zheng 2025] with its parameters.
    #[serde(rename = "barrier-free-2025")]
    BarrierFree2025,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 7] = [
        Self::Standoff,
        Self::DecomposedOptimisation2019,
        Self::Ipc2020,
        Self::CodimensionalIpc2021,
        Self::Convergent2023,
        Self::OrientationAware2024,
        Self::BarrierFree2025,
    ];

    /// The settings.
    pub fn settings(self) -> Settings {
        match self {
            Self::Standoff => Settings::default(),
            Self::DecomposedOptimisation2019 => decomposed(published()),
            Self::Ipc2020 => ipc(published()),
            Self::CodimensionalIpc2021 => codimensional(published()),
            Self::Convergent2023 => convergent(published()),
            Self::OrientationAware2024 => orientation_aware(published()),
            Self::BarrierFree2025 => barrier_free(published()),
        }
    }
}

/// The defaults without what is ours, which no paper has. The test below lists the same keys: a new one belongs in both.
fn published() -> Settings {
    let mut s = Settings::default();
    // a step begins at xᵗ [Li 2020, Alg. 1, line 2; Li 2019, Alg. 1; Zheng 2025, Alg. 1, line 4]
    s.solver.initial_guess = InitialGuess::Positions;
    // all vertices take part in every iteration [Li 2020, Alg. 1]
    s.solver.islands = false;
    // all vertices go straight on [Li 2020, Alg. 1]
    s.solver.arcs = false;
    // the matrix is the projected Hessian of the potential [Li 2020, Alg. 1, line 7]: no forecast forces
    s.solver.forecast_forces = false;
    s.solver.projection = HessianProjection::Always;
    // directions are solved for with a factor [Li 2020, §7; Li 2021, §6: CHOLMOD; Huang 2024, §5: Pardiso], none inexactly
    s.solver.linear = LinearSolver::Cholesky;
    // the size of the direction alone ends a step [Li 2020, Alg. 1, line 19]: no balance of forces, no test for saddles
    s.solver.end.forces = Some(1.0);
    // one length l for the whole scene [Li 2020, §5.5]
    s.solver.relative_to = RelativeTo::Scene;
    // laws as they are [Li 2020, reference code]
    s.solver.inversion_barrier = false;
    // no other solver behind a method [Zheng 2025, Alg. 1]
    s.solver.barrier_free.fallback = Fallback::None;
    // κ by gradients and masses [Li 2020, suppl. F]
    s.contact.adaptation = Adaptation::Conditioning;
    // b(d² − ξ², 2ξd̂ + d̂²) without a factor [Li 2021, §5.1]
    s.contact.thickness_barrier = ThicknessBarrier::Published;
    // the bound of [Li 2021, Eq. 10], also where a paper has another method that Standoff does not have
    s.contact.ccd = Ccd::AdditivePublished;
    // each update of friction replaces the one before [Li 2020, §5.4]
    s.friction.relaxation = false;
    // forces of friction by κ of the new step, updated no more often in the first one [Li 2020, reference code]
    s.friction.lag_with_new_stiffness = true;
    s
}

/// [Li 2019], in the words of [Li 2020 thesis, ch. 3]: L-BFGS from the Hessians of subdomains, to a characteristic norm of 10⁻⁵
/// (§3.5.2), the default of the method. The paper has no contact.
fn decomposed(mut s: Settings) -> Settings {
    s.solver.method = Method::Dot;
    s.contact.enabled = false;
    s
}

/// [Li 2020] with its supplement; where the reference code does something else, as that does.
fn ipc(mut s: Settings) -> Settings {
    // the reference code
    s.time.release_from_rest = true;
    s.time.zero_initial_acceleration = true;
    s.time.trapezoidal_contact = true;
    s.friction.half_space_transition = Transition::Linear;
    // suppl. Alg. 1
    s.solver.boundary_tolerance_relative = Some(1e-2);
    s
}

/// [Li 2021]: thickness as published, its own CCD, the norm and count of its supplement, §7, and the κ of its code.
fn codimensional(mut s: Settings) -> Settings {
    s.solver.end.norm = Norm::RootMeanSquare;
    s.solver.end.consecutive = 3;
    s.solver.boundary_tolerance_relative = Some(1e-2);
    // its code; the paper refers to [Li 2020]
    s.contact.adaptation = Adaptation::Mass;
    s
}

/// [Li 2023]: pairs weighted by area without duplicates, κ a pressure; friction of all pairs.
fn convergent(mut s: Settings) -> Settings {
    s.contact.potential = ContactPotential::Convergent;
    // of the IPC Toolkit, which has the method
    s.contact.ccd = Ccd::Inclusion;
    s.friction.mollified_edges = true;
    s
}

/// [Huang 2024]: α as in nine of the thirteen examples of Table 1.
fn orientation_aware(mut s: Settings) -> Settings {
    s.contact.potential = ContactPotential::OrientationAware;
    s.contact.orientation.alpha = 0.1;
    // of the IPC Toolkit, on which its code is built (§5)
    s.contact.ccd = Ccd::Inclusion;
    s
}

/// [Zheng 2025]: C = 0.1 (Eq. 20), Γ = 0.9, K_min = 2, ε = 10⁻³ (§4, Alg. 1).
fn barrier_free(mut s: Settings) -> Settings {
    s.solver.method = Method::BarrierFree;
    s.solver.barrier_free.penalty = 0.1;
    s.solver.barrier_free.decay = 0.9;
    s.solver.barrier_free.min_iterations = Some(2);
    s.solver.barrier_free.subproblem = Subproblem::Published;
    // conjugate gradients to 10⁻⁴ (§6)
    s.solver.linear = LinearSolver::ConjugateGradient;
    s.solver.linear_tolerance = 1e-4;
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::validate::unread::READINGS;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    /// What is ours, with the values that switch it off. A value that is not the first is another published one.
    fn ours() -> Vec<(&'static str, Vec<Value>)> {
        vec![
            ("contact.adaptation", vec![json!("conditioning"), json!("mass")]),
            ("contact.thickness_barrier", vec![json!("published")]),
            ("contact.ccd", vec![json!("additive-published"), json!("inclusion")]),
            ("friction.relaxation", vec![json!(false)]),
            ("friction.lag_with_new_stiffness", vec![json!(true)]),
            ("solver.end.forces", vec![json!(1.0)]),
            ("solver.relative_to", vec![json!("scene")]),
            ("solver.initial_guess", vec![json!("positions")]),
            ("solver.islands", vec![json!(false)]),
            ("solver.arcs", vec![json!(false)]),
            ("solver.forecast_forces", vec![json!(false)]),
            ("solver.projection", vec![json!("always")]),
            ("solver.inversion_barrier", vec![json!(false)]),
            ("solver.linear", vec![json!("cholesky"), json!("conjugate-gradient")]),
            ("solver.barrier_free.fallback", vec![json!("none")]),
        ]
    }

    /// Settings that say what is simulated and how accurately, and those in which published methods differ.
    const OTHERS: &[&str] = &[
        "time.step",
        "time.end",
        "time.integrator",
        "time.alpha",
        "time.beta",
        "time.stiffness_damping",
        "time.release_from_rest",
        "time.zero_initial_acceleration",
        "time.trapezoidal_contact",
        "contact.enabled",
        "contact.d_hat_relative",
        "contact.d_hat",
        "contact.d_hat_start",
        "contact.stiffness",
        "contact.potential",
        "contact.barrier",
        "contact.orientation.alpha",
        "contact.orientation.beta",
        "contact.orientation.exterior_alpha",
        "contact.orientation.exterior_beta",
        "contact.orientation.length",
        "contact.area_weighting",
        "contact.self_contact",
        "friction.coefficient",
        "friction.kinetic_coefficient",
        "friction.stick_speed_relative",
        "friction.stick_speed",
        "friction.lagging",
        "friction.max_lagging",
        "friction.transition",
        "friction.half_space_transition",
        "friction.mollified_edges",
        "friction.pairs",
        "solver.method",
        "solver.end.velocity_relative",
        "solver.end.velocity",
        "solver.end.norm",
        "solver.end.consecutive",
        "solver.end.characteristic",
        "solver.end.max_iterations",
        "solver.end.max_step_time",
        "solver.end.cumulative_toi",
        "solver.boundary_tolerance_relative",
        "solver.allow_inversion",
        "solver.device",
        "solver.linear_tolerance",
        "solver.schwarz_subdomains",
        "solver.decomposition.subdomains",
        "solver.decomposition.size",
        "solver.audit",
        "solver.barrier_free.tolerance",
        "solver.barrier_free.min_iterations",
        "solver.barrier_free.penalty",
        "solver.barrier_free.decay",
        "solver.barrier_free.subproblem",
        "solver.barrier_free.filter",
        "solver.barrier_free.multipliers",
        "solver.barrier_free.fallback_after",
        "solver.barrier_free.record_iterations",
    ];

    #[test]
    fn every_setting_is_ours_or_not() {
        let ours = ours().into_iter().map(|(key, _)| key);
        let listed: Vec<&str> = ours.chain(OTHERS.iter().copied()).collect();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(unique.len(), listed.len(), "a key twice");
        let all: BTreeSet<&str> = READINGS.iter().map(|r| r.key).collect();
        assert_eq!(unique, all, "say of a new setting whether presets have to switch it off");
    }

    #[test]
    fn presets_of_papers_have_nothing_that_is_ours() {
        for preset in Preset::ALL.into_iter().filter(|p| *p != Preset::Standoff) {
            let settings = serde_json::to_value(preset.settings()).unwrap();
            for (key, off) in ours() {
                let value = &settings.pointer(&format!("/{}", key.replace('.', "/")));
                assert!(value.is_some_and(|v| off.contains(v)), "{preset:?}: {key} = {value:?}");
            }
        }
    }
}
