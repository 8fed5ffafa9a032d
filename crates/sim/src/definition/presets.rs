//! Settings with which papers and their codes computed, by name.

use super::settings::{
    Adaptation, Ccd, ContactPotential, Fallback, HessianProjection, Method, Norm, RelativeTo,
    Settings, Subproblem, ThicknessBarrier, Transition,
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
    /// The barrier-free augmented Lagrangian method [Zheng 2025] with its parameters.
    #[serde(rename = "barrier-free-2025")]
    BarrierFree2025,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 5] = [
        Self::Standoff,
        Self::Ipc2020,
        Self::CodimensionalIpc2021,
        Self::Convergent2023,
        Self::BarrierFree2025,
    ];

    /// The settings.
    pub fn settings(self) -> Settings {
        let mut s = Settings::default();
        match self {
            Self::Standoff => {}
            Self::Ipc2020 => ipc(&mut s),
            Self::CodimensionalIpc2021 => codimensional(&mut s),
            Self::Convergent2023 => convergent(&mut s),
            Self::BarrierFree2025 => barrier_free(&mut s),
        }
        s
    }
}

/// [Li 2020] with its supplement; where the reference code does something else, as that does.
fn ipc(s: &mut Settings) {
    s.time.release_from_rest = true;
    s.time.zero_initial_acceleration = true;
    s.time.trapezoidal_contact = true;
    s.contact.adaptation = Adaptation::Conditioning;
    s.contact.ccd = Ccd::Additive;
    s.friction.half_space_transition = Transition::Linear;
    s.friction.lag_with_new_stiffness = true;
    s.solver.boundary_tolerance_relative = Some(1e-2);
    s.solver.projection = HessianProjection::Always;
    s.solver.force_tolerance = Some(1.0);
    s.solver.relative_to = RelativeTo::Scene;
    s.solver.inversion_barrier = false;
}

/// [Li 2021]: thickness as published, its own CCD, and the norm and count of its supplement, §7.
fn codimensional(s: &mut Settings) {
    s.contact.adaptation = Adaptation::Conditioning;
    s.contact.thickness_barrier = ThicknessBarrier::Published;
    s.contact.ccd = Ccd::AdditivePublished;
    s.friction.lag_with_new_stiffness = true;
    s.solver.norm = Norm::RootMeanSquare;
    s.solver.consecutive = 3;
    s.solver.boundary_tolerance_relative = Some(1e-2);
    s.solver.projection = HessianProjection::Always;
    s.solver.force_tolerance = Some(1.0);
    s.solver.relative_to = RelativeTo::Scene;
    s.solver.inversion_barrier = false;
}

/// [Li 2023]: pairs weighted by area without duplicates, κ a pressure; friction of all pairs.
fn convergent(s: &mut Settings) {
    s.contact.potential = ContactPotential::Convergent;
    s.contact.adaptation = Adaptation::Conditioning;
    s.friction.mollified_edges = true;
    s.solver.projection = HessianProjection::Always;
    s.solver.force_tolerance = Some(1.0);
    s.solver.relative_to = RelativeTo::Scene;
    s.solver.inversion_barrier = false;
}

/// [Zheng 2025]: C = 0.1 (Eq. 20), Γ = 0.9, K_min = 2, ε = 10⁻³ (§4, Alg. 1), and no other solver behind it.
fn barrier_free(s: &mut Settings) {
    s.solver.method = Method::BarrierFree;
    s.solver.force_tolerance = Some(1.0);
    s.solver.relative_to = RelativeTo::Scene;
    s.solver.barrier_free.penalty = 0.1;
    s.solver.barrier_free.decay = 0.9;
    s.solver.barrier_free.min_iterations = Some(2);
    s.solver.barrier_free.subproblem = Subproblem::Published;
    s.solver.barrier_free.fallback = Fallback::None;
    s.solver.inversion_barrier = false;
}
