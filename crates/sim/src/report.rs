//! What a time step reports: its outcome, its counts, its energies and where its time went.
//! One report is one line of `stats.jsonl`; the field names there are the names here.

use crate::contact::PairForces;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// Report of one time step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepReport {
    /// Number of the step, from 1: the state that it leaves is frame `step`.
    pub step: u64,
    /// Time at the end of the step, s.
    pub time: f64,
    /// How the minimisation ended.
    pub outcome: StepOutcome,
    /// Why the barrier solver finished a step that the barrier-free solver had begun; `null` in all other
    /// steps. Iterations, linear systems and cuts then count those of both.
    pub fallback: Option<FallbackReason>,
    /// Where a step that did not end well is furthest from its minimum, and what is close there, in words;
    /// else `null`.
    pub unmet: Option<String>,
    /// Newton iterations (of `dot` and `lbfgs-pd` those of L-BFGS, of `admm-pd` its own), over all friction updates.
    pub newton_iterations: u64,
    /// The Newton iterations in which bodies that had reached their minimum rested.
    pub resting_iterations: u64,
    /// Linear systems solved, where that may be more than one per Newton iteration: in steps that the
    /// barrier-free solver began; else 0.
    pub linear_solves: u64,
    /// Iterations of the linear solver (one per solve of a direct one).
    pub linear_iterations: u64,
    /// Minimisations with updated friction; 1 without friction.
    pub lagging_iterations: u64,
    /// Factorisations of subdomains by `dot`, or of the constant matrix by `lbfgs-pd` and `admm-pd`; else 0.
    pub subdomain_factorisations: u64,
    /// Largest nodal Newton direction, of a body whose tolerance is smaller than the greatest one as many times more (of `dot` and `lbfgs-pd` the one of L-BFGS, of `admm-pd` the last change of
    /// positions) divided by h at the end, m/s. Where forces have to balance, the direction that follows, if that is longer.
    pub residual_speed: f64,
    /// How far forces are from balance at the end, of the body for which that is furthest: the sum of the magnitudes of its
    /// residual forces over the sum of those that act on it (inertia, loads, elastic, contact and friction forces).
    pub imbalance: f64,
    /// The sum of the magnitudes of the residual forces of that body, N.
    pub imbalance_force: f64,
    /// Whether the step ended in a saddle: forces balance, but the Hessian was not positive definite, so that the potential is lower aside.
    /// Conjugate gradients may not notice one. Left out where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub saddle: bool,
    /// ‖∇E‖/(s ⟨W⟩ ‖ℓ‖) at the end, where that is what ends a step; else `null`.
    pub characteristic_norm: Option<f64>,
    /// Contacts (stencils with distance below d̂) at the end of the step.
    pub contacts: u64,
    /// Largest number of contacts over the step's iterates.
    pub max_contacts: u64,
    /// Smallest distance of a contact at the end of the step, m; `null` without contact.
    pub min_gap: Option<f64>,
    /// Barrier stiffness κ at the end of the step.
    pub kappa: f64,
    /// The greatest κ that the step may choose: one that is far stiffer than the materials would only add round-off; `null` where the scene
    /// gives κ, and where the barrier-free method takes no help of the barrier.
    pub kappa_limit: Option<f64>,
    /// Σ ½ m |v|² over the vertices of deformable bodies, and that of the armatures of joints, J.
    pub kinetic_energy: f64,
    /// Elastic energy, attachments included, J.
    pub elastic_energy: f64,
    /// What became heat in the step where solids relax or yield, J; left out where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inelastic_heat: Option<f64>,
    /// −Σ m g·x, J.
    pub gravity_energy: f64,
    /// Energy of the contact barrier, J.
    pub contact_energy: f64,
    /// Tetrahedra without positive volume at the end of the step, where `solver.allow_inversion` allows them; else 0.
    pub inverted: u64,
    /// Largest deformation ‖FᵀF − I‖ (Frobenius norm) of a rigid body at the end of the step: about twice its greatest strain; `null`
    /// without rigid bodies.
    pub rigid_deformation: Option<f64>,
    /// The greatest error of a joint at the end of the step, in terms of the radius of its smaller body; left out without joints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint_error: Option<f64>,
    /// The joints that broke at the end of the step; left out without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_joints: Vec<String>,
    /// Every energy of the incremental potential at the end of the step by its name, J: `contact barrier`
    /// and the elastic ones together make the fields above. The energy of friction is the lagged dissipative
    /// potential.
    pub energies: BTreeMap<String, f64>,
    /// Σ m v, kg m/s.
    pub linear_momentum: [f64; 3],
    /// Σ m x × v about the origin, kg m²/s.
    pub angular_momentum: [f64; 3],
    /// How often the step length was cut, by cause.
    pub step_cuts: StepCuts,
    /// The iterations of the published pipeline of the barrier-free solver, in order, where
    /// `solver.barrier_free.record_iterations` asks for them; else left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<Advance>,
    /// Wall time by phase, s.
    pub seconds: PhaseSeconds,
    /// Forces and moments of the step, by name.
    pub forces: Forces,
}

/// An iteration of the published pipeline of the barrier-free solver [Zheng 2025, Alg. 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advance {
    /// Part α of the way to the tentative state that the state without intersections went.
    pub alpha: f64,
    /// Weight β of the states before the K_min-th in that state [Zheng 2025, Eq. 9]; 1 without `min_iterations`.
    pub beta: f64,
}

/// Forces and moments of a step, by name; in two dimensions per metre of depth, of bodies of revolution those of whole rings, without moments. A group of which the scene has more than
/// 100 members is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Forces {
    /// Contact and friction on each deformable body that anything touches.
    pub bodies: BTreeMap<String, Resultant>,
    /// Contact and friction on each obstacle that anything touches.
    pub obstacles: BTreeMap<String, Resultant>,
    /// Contact and friction on each half-space.
    pub half_spaces: BTreeMap<String, Resultant>,
    /// What acts on what, by the name of that on which it acts, then of that which acts: contact and friction of each two bodies, obstacles or
    /// half-spaces that touch each other. Left out without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pairs: BTreeMap<String, BTreeMap<String, PairResultant>>,
    /// What each fixed or moved set of vertices is held with: zero while it is not held.
    pub held: BTreeMap<String, Held>,
    /// What each force, pressure, attachment and seam acts with.
    pub loads: BTreeMap<String, Resultant>,
    /// What each joint acts with on its second body, and each tendon along its coordinate; left out without joints.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub joints: BTreeMap<String, JointForces>,
}

/// What a joint acts with on its second body (the only one of a joint with the world), and where the bodies are relative to each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointForces {
    /// Force, N.
    pub force: [f64; 3],
    /// Moment about the joint's point, N m.
    pub moment: [f64; 3],
    /// The joint's point on the second body, m.
    pub point: [f64; 3],
    /// Greatest error of an equation of the joint, in terms of the radius of the smaller body.
    pub error: f64,
    /// Angle by which the second body has turned about the axis relative to the first since the start, whole turns included, rad; `null` where
    /// the joint does not turn about an axis.
    pub angle: Option<f64>,
    /// Its rate, rad/s.
    pub angular_speed: Option<f64>,
    /// Displacement of the second body along the axis relative to the first since the start, or the distance of a distance with limits, m, or the sum that a tendon
    /// is; `null` where the joint does not slide along an axis.
    pub displacement: Option<f64>,
    /// Its rate, m/s.
    pub speed: Option<f64>,
    /// What the drive acts with on the second body along the coordinate, N m or N; left out where it is 0, as the next four.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drive: f64,
    /// What the spring acts with, N m or N.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub spring: f64,
    /// What damping and friction act with, N m or N.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resistance: f64,
    /// What a limit acts with, N m or N.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limit: f64,
    /// What couplings to other joints and tendons act with, N m or N.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub coupling: f64,
    /// Whether it broke before this step, so that it does nothing any more; left out where it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A force and a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resultant {
    /// Force, N.
    pub force: [f64; 3],
    /// Moment about the origin, N m.
    pub torque: [f64; 3],
}

/// What a body, obstacle or half-space acts with on another one by contact and friction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairResultant {
    /// Force, N.
    pub force: [f64; 3],
    /// Its moment about the origin, N m.
    pub torque: [f64; 3],
    /// The part of the force that is friction, N; the rest acts along the normals of the contacts.
    pub friction: [f64; 3],
}

/// What holds a set of vertices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Force of the support on the vertices, N.
    pub force: [f64; 3],
    /// Its moment about the origin, N m.
    pub torque: [f64; 3],
    /// Mean displacement of the vertices since the start, m.
    pub displacement: [f64; 3],
}

impl From<[Vec3; 2]> for Resultant {
    fn from([force, torque]: [Vec3; 2]) -> Self {
        Self { force: force.into(), torque: torque.into() }
    }
}

impl From<&PairForces> for PairResultant {
    fn from(PairForces { normal, friction, .. }: &PairForces) -> Self {
        let [force, torque] = [0, 1].map(|k| (normal[k] + friction[k]).into());
        Self { force, torque, friction: friction[0].into() }
    }
}

/// Why a step was left to the barrier solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackReason {
    /// The limit of linear systems or of iterations was reached above the tolerance.
    WorkLimit,
    /// Rounding hid any further decrease above the tolerance.
    RoundOff,
    /// No step of positive length was left.
    Stalled,
    /// Prescribed vertices did not reach their targets.
    Blocked,
    /// A number was not finite, or a linear system could not be solved.
    Failed,
}

/// How the minimisation of a time step ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// The last Newton direction that was computed is below the tolerance, friction and multipliers
    /// included, or the characteristic norm is, where the settings choose it; and forces balance at the end of its step. Without
    /// a tolerance of forces the step was taken in full.
    #[default]
    Converged,
    /// The step lengths ended the step, as the scene asks for by `cumulative_toi` or `min_iterations`: the
    /// Newton direction may be above the tolerance.
    TimeOfImpact,
    /// Rounding hides any further decrease of the potential, but the Newton direction is above the
    /// tolerance.
    RoundOff,
    /// Every minimisation converged, but friction reached `max_lagging` updates without settling.
    LaggingLimit,
    /// The iteration limit was reached.
    IterationLimit,
    /// Collision detection left no step of positive length.
    StalledCcd,
    /// The filter against inversion left no step of positive length.
    StalledInversion,
    /// No step length lowered the potential.
    StalledLineSearch,
}

impl StepOutcome {
    /// Whether the step ended well.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Converged | Self::TimeOfImpact)
    }

    /// Whether the minimisation ended at a minimum, to whatever accuracy.
    pub fn is_minimum(self) -> bool {
        matches!(self, Self::Converged | Self::TimeOfImpact | Self::RoundOff)
    }

    /// Whether the step could not go on.
    pub fn is_stall(self) -> bool {
        matches!(self, Self::StalledCcd | Self::StalledInversion | Self::StalledLineSearch)
    }

    /// One sentence for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::TimeOfImpact => "ended by its step lengths, as the scene asks for",
            Self::RoundOff => "reached working precision above the tolerance",
            Self::LaggingLimit => "friction did not settle within the limit of updates",
            Self::IterationLimit => "reached the limit of iterations",
            Self::StalledCcd => "collision detection left no room to move",
            Self::StalledInversion => "every step would invert an element",
            Self::StalledLineSearch => "no step length lowered the potential",
        }
    }

    /// What to do about it, as a sentence; empty where nothing has to be done.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Converged | Self::TimeOfImpact => "",
            Self::RoundOff => {
                "Raise `solver.end.velocity`, or look for extreme ratios of stiffness or mass"
            }
            Self::LaggingLimit => {
                "Give `friction.lagging` a number of updates, raise `friction.stick_speed`, or reduce \
                 `time.step`"
            }
            Self::IterationLimit => {
                "Raise `solver.end.max_iterations` or the tolerance (`solver.end.velocity`, or \
                 `solver.end.characteristic` where that ends steps), or reduce `time.step`"
            }
            Self::StalledCcd | Self::StalledInversion | Self::StalledLineSearch => {
                "Reduce `time.step`, or look for bodies that are squeezed or driven into each other"
            }
        }
    }
}

/// Cuts of the step length, by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepCuts {
    /// Iterations whose step collision detection shortened.
    pub ccd: u64,
    /// Iterations whose step the filter against inversion shortened.
    pub inversion: u64,
    /// Halvings because a triangle would have passed its strain limit.
    pub strain: u64,
    /// Halvings because the potential had not fallen.
    pub line_search: u64,
    /// Halvings because the independent audit found an intersection or an inversion.
    pub audit: u64,
}

/// Wall time of a step by phase, s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSeconds {
    /// Search for candidate pairs.
    pub broad_phase: f64,
    /// Continuous collision detection.
    pub ccd: f64,
    /// Sets of contacts, barrier and friction: values and derivatives.
    pub contact: f64,
    /// Elasticity: values and derivatives.
    pub elasticity: f64,
    /// Assembly of the linear system.
    pub assembly: f64,
    /// Ordering and symbolic analysis.
    pub symbolic: f64,
    /// Numeric factorisation, or the iterations of an iterative solver.
    pub factorisation: f64,
    /// Triangular solves.
    pub solve: f64,
    /// Independent audit.
    pub audit: f64,
    /// Whole step.
    pub total: f64,
}
