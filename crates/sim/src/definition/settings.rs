//! Settings of a simulation, each field with its default and unit. The scene file's sections
//! `[time]`, `[contact]`, `[friction]` and `[solver]` are these structs.
//!
//! l is the diagonal of the bounding box of a body at rest. A length may be given in metres for all bodies or, by the
//! key with `_relative`, as a multiple of each body's l; the former wins. Where two bodies meet, the smaller value counts. With
//! `solver.relative_to = "scene"`, l is the diagonal of all deformable bodies together.
//!
//! `x-unit` in the schema is the unit of the plain number; a scene file may also give a string with
//! another unit of the same dimension (`"5 ms"`).

// long: a list: every setting with its documentation, unit and default

use crate::contact::Barrier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Time stepping.
    pub time: TimeSettings,
    /// Contact.
    pub contact: ContactSettings,
    /// Friction.
    pub friction: FrictionSettings,
    /// Minimisation.
    pub solver: SolverSettings,
}

/// Time stepping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSettings {
    /// Time step h, s.
    #[schemars(extend("x-unit" = "s"))]
    pub step: f64,
    /// End of the simulation, s; the number of steps is ceil(end / step).
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
    /// Time integrator.
    pub integrator: Integrator,
    /// α of the incremental potential ½ ‖x − x̃‖²_M + αh² Ψ(βx + γxⁿ) [Li 2021, Eq. 1]: from ¼ to 1 with β = 1, else 1. Steps
    /// take 1 − √α of the elastic forces from their start.
    pub alpha: f64,
    /// β of the same, from ½ to 1, with γ = 1 − β: elastic forces and loads are those between the start of the step (0) and its
    /// end (1).
    pub beta: f64,
    /// Coefficient c of stiffness-proportional damping, s: the energy ½ (c/h) Δxᵀ H Δx joins the
    /// potential Ψ, where H is the PSD-projected Hessian of the elastic energy at the start of the
    /// step (constant during the step) and Δx the displacement in the step, zero for prescribed
    /// vertices.
    #[schemars(extend("x-unit" = "s"))]
    pub stiffness_damping: f64,
    /// Whether a vertex that is no longer prescribed starts from rest: in its first free step its
    /// predicted position x̃ is its position, without velocity and without gravity or load. The
    /// IPC 2020 reference does so; by default the vertex keeps the velocity of its motion.
    pub release_from_rest: bool,
    /// Whether Newmark starts with zero acceleration, as the IPC 2020 reference does; by default it starts with
    /// the acceleration due to the forces at the start, without which the method is only of first order.
    pub zero_initial_acceleration: bool,
    /// Whether Newmark treats contact, friction and limits of the stretch by the trapezoidal rule like all other forces, as the IPC
    /// 2020 reference does; impacts then gain energy. By default it treats them implicitly, and contact takes
    /// energy. Elasticity has the trapezoidal rule in either case.
    pub trapezoidal_contact: bool,
}

impl Default for TimeSettings {
    fn default() -> Self {
        Self {
            step: 0.01,
            end: 1.0,
            integrator: Integrator::ImplicitEuler,
            alpha: 1.0,
            beta: 0.5,
            stiffness_damping: 0.0,
            release_from_rest: false,
            zero_initial_acceleration: false,
            trapezoidal_contact: false,
        }
    }
}

impl TimeSettings {
    /// What steps with these settings do.
    pub fn scheme(&self) -> Scheme {
        match self.integrator {
            Integrator::ImplicitEuler => Scheme::OneStep { alpha: 1.0, beta: 1.0 },
            Integrator::Bdf2 => Scheme::Bdf2,
            Integrator::Newmark => Scheme::OneStep { alpha: 0.25, beta: 1.0 },
            Integrator::ImplicitMidpoint => Scheme::OneStep { alpha: 1.0, beta: 0.5 },
            Integrator::AlphaBetaGamma => Scheme::OneStep { alpha: self.alpha, beta: self.beta },
            Integrator::QuasiStatic => Scheme::QuasiStatic,
        }
    }
}

/// How a step follows from the ones before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scheme {
    /// From the last positions, velocities and accelerations, with the α and β of the potential.
    OneStep {
        /// α, above 0.
        alpha: f64,
        /// β, above 0, at most 1.
        beta: f64,
    },
    /// From positions and velocities of two steps.
    Bdf2,
    /// Without inertia.
    QuasiStatic,
}

/// Time integrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Integrator {
    /// Implicit (backward) Euler: first order, dissipative, robust.
    ImplicitEuler,
    /// Second-order backward differences: second order, little dissipation.
    Bdf2,
    /// Implicit Newmark with β = ¼, γ = ½ (trapezoidal rule): second order, no dissipation; may gain energy where
    /// the step does not resolve stiff vibrations, as of rods and cloth.
    Newmark,
    /// Implicit midpoint rule: second order, no dissipation, angular momentum without contact is kept; may gain energy where
    /// Newmark does. α = 1, β = ½.
    ImplicitMidpoint,
    /// The one-step integrator with the given `alpha` and `beta` [Li 2021, Eq. 1]: of first order and the more dissipative the greater
    /// β√α, but of second order where that is ½.
    AlphaBetaGamma,
    /// No inertia: each step is a static equilibrium under the prescribed motions and loads of
    /// its time. Every body has to be held.
    QuasiStatic,
}

/// Contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ContactSettings {
    /// Whether anything can touch anything. Off, bodies, obstacles and half-spaces pass through each other
    /// and themselves, and intersections are no faults.
    pub enabled: bool,
    /// Distance d̂ below which contact forces act, as a multiple of l; at most half of the median edge of the body's surface.
    pub d_hat_relative: f64,
    /// Distance d̂ below which contact forces act, m. Overrides `d_hat_relative`.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d_hat: Option<f64>,
    /// Distance d̂ with which every step begins, m, at least the contact distance: d̂² is halved after every
    /// minimisation until d̂ is the contact distance, with which the step ends.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d_hat_start: Option<f64>,
    /// Barrier stiffness κ: adapted by default; a number fixes it (Pa m if `potential` is
    /// "orientation-aware", Pa if it is "convergent" or with `area_weighting`, else N/m³).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// How κ is adapted if it is not fixed.
    pub adaptation: Adaptation,
    /// The contact potential.
    pub potential: ContactPotential,
    /// The barrier of the IPC and convergent potentials.
    pub barrier: Barrier,
    /// The barrier of pairs with thickness.
    pub thickness_barrier: ThicknessBarrier,
    /// Parameters of the orientation-aware potential.
    pub orientation: OrientationSettings,
    /// Whether every pair is weighted by the surface area that it represents, so that results converge under
    /// refinement.
    pub area_weighting: bool,
    /// Whether a body may touch itself.
    pub self_contact: bool,
    /// Continuous collision detection.
    pub ccd: Ccd,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            d_hat_relative: 1e-3,
            d_hat_start: None,
            d_hat: None,
            stiffness: None,
            adaptation: Adaptation::Load,
            potential: ContactPotential::Ipc,
            barrier: Barrier::ClampedLog,
            thickness_barrier: ThicknessBarrier::Even,
            orientation: OrientationSettings::default(),
            area_weighting: false,
            self_contact: true,
            ccd: Ccd::Additive,
        }
    }
}

impl ContactSettings {
    /// Whether pairs of the IPC potential are weighted by area, and κ is a pressure.
    pub fn is_area_weighted(&self) -> bool {
        self.area_weighting || self.potential == ContactPotential::Convergent
    }
}

/// Barrier of pairs that keep a thickness ξ apart, as a function of d² − ξ² with reach 2ξd̂ + d̂²
/// [Li 2021, §5.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThicknessBarrier {
    /// Scaled such that one κ gives pairs of all thicknesses forces of the same size at the same gap.
    Even,
    /// As published: forces grow with (1 + 2ξ/d̂)², and κ_min is that of the greatest ξ.
    Published,
}

/// Contact potential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContactPotential {
    /// Between all pairs of primitives closer than d̂ [Li 2020].
    Ipc,
    /// The same, weighted by area and minus the contributions that neighbouring primitives count twice; κ is a
    /// pressure [Li 2023].
    Convergent,
    /// Only between points that face each other: the distance is nearly a local minimum, and the vector between
    /// them points outwards. Nothing acts at rest [Huang 2024]. For closed surfaces; other surfaces use the IPC
    /// potential.
    OrientationAware,
}

/// Parameters of the orientation-aware potential [Huang 2024]. α and β are cosines: a factor rises from 0 at −α
/// to 1 at β.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OrientationSettings {
    /// α of the local-minimum factors: larger values make contact softer, smaller values reduce spurious
    /// forces.
    pub alpha: f64,
    /// β of the local-minimum factors.
    pub beta: f64,
    /// α of the exterior factors.
    pub exterior_alpha: f64,
    /// β of the exterior factors.
    pub exterior_beta: f64,
    /// Length L that turns edges and vertices into areas (in two dimensions vertices into lengths), m. By
    /// default the length of each edge, and for a vertex the length of the edges around it.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
}

impl Default for OrientationSettings {
    fn default() -> Self {
        Self { alpha: 0.5, beta: 0.0, exterior_alpha: 0.1, exterior_beta: 0.0, length: None }
    }
}

/// Rule by which the barrier stiffness κ is adapted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptation {
    /// The most loaded contact acts at half of d̂; κ is at least as large as with `conditioning`.
    Load,
    /// From the balance of gradients and the masses alone [Li 2020 thesis, App. F], as the IPC 2020
    /// reference does.
    Conditioning,
    /// From the mean mass of a vertex and d̂ alone, without a balance of gradients, at an absolute distance of 10⁻⁸ m, as the
    /// code of [Li 2021] does. For `potential = "ipc"` or `"convergent"`.
    Mass,
}

/// Continuous collision detection method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ccd {
    /// Additive CCD [Li 2021, Alg. 1] with bounds along the direction between the closest points.
    Additive,
    /// Additive CCD with the bound of the paper, the sum of the largest displacements [Li 2021, Eq. 10].
    AdditivePublished,
    /// Inclusion-based bisection with floating-point error bounds [Wang 2021].
    Inclusion,
}

/// Friction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FrictionSettings {
    /// Coulomb coefficient of all pairs of materials that have no entry in `pairs`; with `kinetic_coefficient` the static one.
    pub coefficient: f64,
    /// Coefficient of what slides at 10 ε_v or faster, at most `coefficient`, which acts up to ε_v. By default `coefficient` acts at any speed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinetic_coefficient: Option<f64>,
    /// Speed ε_v below which friction is static, as a multiple of l per second.
    pub stick_speed_relative: f64,
    /// Speed ε_v below which friction is static, m/s. Overrides `stick_speed_relative`.
    #[schemars(extend("x-unit" = "m/s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stick_speed: Option<f64>,
    /// How often normal forces and sliding directions are updated within a step.
    pub lagging: Lagging,
    /// Greatest number of updates in a step; one that reaches it is reported.
    pub max_lagging: u32,
    /// Transition from static to sliding friction between bodies.
    pub transition: Transition,
    /// Transition from static to sliding friction on half-spaces.
    pub half_space_transition: Transition,
    /// Whether pairs of nearly parallel edges have friction, with their mollified normal force [Li 2020, Eq.
    /// 15]. The IPC 2020 reference leaves them out.
    pub mollified_edges: bool,
    /// Whether forces and directions are averaged over the updates of a step, which ends cycles; if
    /// false, each update replaces the previous one [Li 2020, §5.4].
    pub relaxation: bool,
    /// Whether the normal forces of friction are computed with the κ of the new step and after prescribed
    /// vertices have moved, as the IPC 2020 reference does; by default they are the forces at the end of the
    /// previous step, updated a second time in a first step that begins in contact.
    pub lag_with_new_stiffness: bool,
    /// Coefficients of pairs of materials; the scene file's `[[friction.pairs]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<FrictionPair>,
}

/// Coulomb coefficients of a pair of friction materials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrictionPair {
    /// Names of the two materials (may be equal).
    pub materials: (String, String),
    /// Coulomb coefficient μ ≥ 0; with `kinetic_coefficient` the static one.
    pub coefficient: f64,
    /// Coefficient of what slides at 10 ε_v or faster, at most `coefficient`. By default `coefficient` acts at any speed, whatever the section says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinetic_coefficient: Option<f64>,
}

impl Default for FrictionSettings {
    fn default() -> Self {
        Self {
            coefficient: 0.0,
            kinetic_coefficient: None,
            stick_speed_relative: 1e-3,
            stick_speed: None,
            lagging: Lagging::Count(1),
            max_lagging: 100,
            transition: Transition::Quadratic,
            half_space_transition: Transition::Quadratic,
            mollified_edges: false,
            relaxation: true,
            lag_with_new_stiffness: false,
            pairs: Vec::new(),
        }
    }
}

/// Friction force of a contact as a share of μλ, as a function of the sliding speed v.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transition {
    /// f₁ = 2v/ε_v − (v/ε_v)² below ε_v, 1 above [Li 2020, Eq. 13].
    Quadratic,
    /// f₁ = 3r − 3r² + r³ with r = v/ε_v below ε_v, 1 above [Li 2020, suppl. I, C²].
    Cubic,
    /// f₁ = v/ε_v below ε_v, 1 above: the IPC 2020 reference on half-spaces. With y = h v and
    /// ε = h ε_v its energy is μλ y²/(2ε) below ε, μλ (y − ε/2) above.
    Linear,
}

/// Number of friction updates per step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number of updates, \"converged\" or \"momentum-balance\""
)]
pub enum Lagging {
    /// This many minimisations per step, ≥ 1.
    Count(u32),
    /// `"converged"` or `"momentum-balance"`: until the updated forces no longer move the solution.
    Until(LaggingUntil),
}

/// The words of `lagging` that are no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaggingUntil {
    /// Until the Newton direction with updated friction is below the tolerance.
    Converged,
    /// Until the norm of the gradient of the incremental potential with updated friction is at most ε_d [Li 2020, Eq. 17]: as
    /// published, a comparison of kg m with m/s by their numbers in SI units.
    MomentumBalance,
}

/// What ends a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EndSettings {
    /// A step has converged when the Newton direction divided by h is below this speed, as a multiple of l per second.
    pub velocity_relative: f64,
    /// The same in m/s. Overrides `velocity_relative`.
    #[schemars(extend("x-unit" = "m/s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<f64>,
    /// A step has converged when, besides, the residual forces on each body are at most this part of the forces that act on it: the
    /// sums, over the vertices of the body, of the magnitudes of the gradient and of its summands (inertia, loads, every elastic
    /// energy, contact, friction). The resultant of the residual forces on a body that nothing holds is at most 30 times this part of
    /// the resultants of what acts on it. By default 1e-4, in quasi-static steps 1e-7; with 1 only the Newton direction counts,
    /// as in the published methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forces: Option<f64>,
    /// How the Newton direction is measured against the tolerance.
    pub norm: Norm,
    /// Consecutive iterations whose Newton direction has to be below the tolerance, ≥ 1.
    pub consecutive: u32,
    /// Ends minimisations by the characteristic norm of the gradient, ‖∇E‖/(s ⟨W⟩ ‖ℓ‖), once it is below this,
    /// instead of by the Newton direction [Li 2020 thesis, Eq. 3.15, with 1e-5]. `dot`, `lbfgs-pd` and `admm-pd` always use this criterion, by default with 1e-5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characteristic: Option<f64>,
    /// Ends a step of the barrier also by the step lengths α of its iterations: once Π (1 − α) over the
    /// iterations from the second on, the weight of the first states in the last one, is below this
    /// [Zheng 2025, Eq. 9 with K_min = 2]. Without it only the velocity tolerance counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_toi: Option<f64>,
    /// Iterations after which a minimisation stops without having converged.
    pub max_iterations: u32,
    /// Wall time after which a step is abandoned, s: the run stops with the state before it, as after any step
    /// that cannot be completed. The time is checked before every linear solve, so that one solve may exceed
    /// it. By default there is no limit.
    #[schemars(extend("x-unit" = "s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_step_time: Option<f64>,
}

impl Default for EndSettings {
    fn default() -> Self {
        Self {
            velocity_relative: 1e-2,
            velocity: None,
            forces: None,
            norm: Norm::Largest,
            consecutive: 1,
            characteristic: None,
            cumulative_toi: None,
            max_iterations: 10_000,
            max_step_time: None,
        }
    }
}

/// Minimisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SolverSettings {
    /// The solver that minimises the potential.
    pub method: Method,
    /// What ends a step.
    pub end: EndSettings,
    /// What the lengths with `_relative` are multiples of.
    pub relative_to: RelativeTo,
    /// Where the minimisation of a step begins.
    pub initial_guess: InitialGuess,
    /// Whether bodies that have reached their minimum rest while others, which they do not touch, go on. The minimum that is
    /// reached is that of all bodies, to the same tolerance. If false, all go on together, as published.
    pub islands: bool,
    /// Whether rods of one segment turn along arcs in the line search, so that they keep their length. The minimum is the same. If
    /// false, their ends go straight on, as published.
    pub arcs: bool,
    /// Whether the Newton matrix is stiffened where the last direction forecasts a greater contact force than the barrier has, or another
    /// friction force than the present one, as primal–dual methods do. The minimum is the same. If false, the matrix is
    /// the projected Hessian, as published.
    pub forecast_forces: bool,
    /// Which summands of the Hessian are projected to be positive semidefinite in Newton's method. The minimum is the same; the fewer are
    /// projected, the fewer iterations are needed near a minimum, and the more the direction that is measured against the tolerance tells of the error.
    pub projection: HessianProjection,
    /// Newton direction divided by h, as a multiple of l per second, at which the constraints of obstructed
    /// prescribed vertices are tightened: the greater of this and the velocity tolerance [Li 2020, suppl. Alg.
    /// 1, with 0.01]. Without it the velocity tolerance counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary_tolerance_relative: Option<f64>,
    /// Whether laws whose energy is finite at J ≤ 0 get a barrier that acts at volume ratios below 0.1. If
    /// false, the laws are unchanged, as in the IPC 2020 reference, and only the inversion filter keeps
    /// elements from inverting. While prescribed vertices are constrained to their targets, all laws have the
    /// barrier. Where elasticity is evaluated before the end of a step, all laws have it at that end.
    pub inversion_barrier: bool,
    /// Whether tetrahedra may be inverted, at the start and in any state: for laws whose energy is finite at J ≤ 0 and that then have
    /// no barrier there, in scenes without contact or with the method `"barrier"`. Steps are not bounded by inversion, and the audit counts inverted elements instead of
    /// refusing them.
    pub allow_inversion: bool,
    /// Linear solver.
    pub linear: LinearSolver,
    /// Where linear systems are solved. Everything else of a step is computed on the processor.
    pub device: Device,
    /// Smallest relative residual to which conjugate gradients compute a direction.
    pub linear_tolerance: f64,
    /// Number of subdomains of the preconditioner of `linear = "schwarz"`, to which `"auto"` may go over. By default as many as have about 200
    /// vertices each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schwarz_subdomains: Option<u32>,
    /// Subdomains of the bodies, for `method = "dot"`.
    pub decomposition: DecompositionSettings,
    /// Independent audit of intersections and inversions.
    pub audit: AuditLevel,
    /// The barrier-free method.
    pub barrier_free: BarrierFreeSettings,
}

/// Subdomains of the deformable bodies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecompositionSettings {
    /// Number of subdomains; 1 makes `dot` the method that its paper calls LBFGS-H. By default the number
    /// follows from `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdomains: Option<u32>,
    /// Approximate number of vertices of a subdomain.
    pub size: u32,
}

impl Default for DecompositionSettings {
    fn default() -> Self {
        Self { subdomains: None, size: 4000 }
    }
}

impl DecompositionSettings {
    /// Number of subdomains of bodies with so many vertices.
    pub fn count(&self, vertices: usize) -> usize {
        let by_size = || vertices.div_ceil(self.size.max(1) as usize);
        self.subdomains.map_or_else(by_size, |n| n as usize).clamp(1, vertices.max(1))
    }
}

/// The barrier-free method; its parameters need no tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarrierFreeSettings {
    /// Weight ε of the first iterates in the current state below which `min_iterations` ends a step [Zheng
    /// 2025, Eq. 9].
    pub tolerance: f64,
    /// Selects the published termination criterion: iterates count after K_min solves, and their weights alone
    /// end the step [Zheng 2025, Alg. 1], with the outcome `time-of-impact`. By default the velocity tolerance
    /// ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_iterations: Option<u32>,
    /// Stiffness of contact as a multiple C of the largest diagonal entry of the potential's Hessian without
    /// contact [Zheng 2025, Eq. 20]; the paper has 0.1, for conjugate gradients.
    pub penalty: f64,
    /// Factor Γ by which idle constraints fade in each iteration.
    pub decay: f64,
    /// How the tentative state is found for given constraints.
    pub subproblem: Subproblem,
    /// Whether only the first new collisions of each vertex become constraints.
    pub filter: bool,
    /// Whether Lagrange multipliers are used; if false, contact is a plain penalty.
    pub multipliers: bool,
    /// What finishes a step in which this method does not converge: because it stalls, because a
    /// prescribed motion seems blocked, because of rounding, or after `fallback_after` linear systems.
    pub fallback: Fallback,
    /// Linear systems of one step after which `fallback` finishes it, at least 1; counted between Newton
    /// iterations. After a step that needed the fallback the number is halved, up to four times in a row; every
    /// eighth of consecutive such steps has the full number again.
    pub fallback_after: u32,
    /// Whether reports, and with them `stats.jsonl`, have the step length and the weight of the first states of every
    /// iteration [Zheng 2025, Eqs. 7 and 9].
    pub record_iterations: bool,
}

/// What finishes a step in which the barrier-free method does not converge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The barrier solver, from the start of the step and to the same tolerance. The step's report says so.
    Barrier,
    /// Nothing: the step ends as the barrier-free method ends it.
    None,
}

/// How the barrier-free method finds the tentative state for given constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subproblem {
    /// Every Newton direction minimises a quadratic model of elasticity plus the exact contact and friction
    /// terms, by semismooth Newton steps; idle constraints have no influence.
    ActiveSet,
    /// Every Newton direction solves one linear system, in which all constraints have a curvature, idle ones
    /// too, weighted by their decay factors γ [Zheng 2025, Alg. 2]. γ decays while a constraint is idle, as in
    /// the text and Eq. 12; the printed algorithm exchanges the two cases. Needs `min_iterations`, the
    /// published end of a step.
    Published,
}

impl Default for BarrierFreeSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            min_iterations: None,
            penalty: 10.0,
            decay: 0.5,
            subproblem: Subproblem::ActiveSet,
            filter: true,
            multipliers: true,
            record_iterations: false,
            fallback: Fallback::Barrier,
            fallback_after: 300,
        }
    }
}

impl SolverSettings {
    /// Whether laws without a barrier against inversion are given one.
    pub fn guards_inversion(&self) -> bool {
        self.inversion_barrier && !self.allow_inversion
    }

    /// The characteristic norm of the gradient that ends minimisations, where that does.
    pub fn characteristic_tolerance(&self) -> Option<f64> {
        let of_method = match self.method {
            Method::Dot | Method::LbfgsPd | Method::AdmmPd => Some(FAMILY_TOLERANCE),
            Method::Barrier | Method::BarrierFree => None,
        };
        self.end.characteristic.or(of_method)
    }
}

/// Characteristic norm at which `dot` and the methods that it is compared with end [Li 2020 thesis, §3.5.2].
const FAMILY_TOLERANCE: f64 = 1e-5;

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            method: Method::Barrier,
            end: EndSettings::default(),
            relative_to: RelativeTo::Body,
            initial_guess: InitialGuess::Extrapolation,
            islands: true,
            arcs: true,
            forecast_forces: true,
            projection: HessianProjection::Progressive,
            boundary_tolerance_relative: None,
            inversion_barrier: true,
            allow_inversion: false,
            linear: LinearSolver::Auto,
            device: Device::Cpu,
            linear_tolerance: 1e-8,
            schwarz_subdomains: None,
            decomposition: DecompositionSettings::default(),
            audit: AuditLevel::EveryStep,
            barrier_free: BarrierFreeSettings::default(),
        }
    }
}

/// Where the minimisation of a step begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InitialGuess {
    /// Bodies without contacts at their best-fit rigid motion, all others moved by their velocities as far as collisions
    /// admit and the potential falls.
    Extrapolation,
    /// Bodies without contacts at their best-fit rigid motion, all others at their positions.
    RigidMotion,
    /// At the positions at the end of the step before [Li 2020, Alg. 1].
    Positions,
}

/// Which summands of the Hessian have their negative eigenvalues set to zero in Newton's method with the barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HessianProjection {
    /// All [Li 2020, Alg. 1].
    Always,
    /// All, and of the Hessian of a contact pair only its first part, ∂²b/∂d² ∇d∇dᵀ [Li 2020, §4.3], which is positive
    /// semidefinite by itself. Pairs of the orientation-aware potential are projected.
    GaussNewton,
    /// None, unless the matrix turns out not to be positive definite: then all [Longva 2023].
    OnDemand,
    /// Those at vertices that the last direction moves far. How far is learnt from which matrices are positive definite. In a first iteration,
    /// where two matrices in a row are not positive definite, and while constraints pull prescribed vertices to their targets, all are projected.
    Progressive,
}

/// The length l of which contact distance, stick speed and velocity tolerance are multiples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelativeTo {
    /// The diagonal of each body's bounding box at rest, so that other bodies change nothing of it.
    Body,
    /// The diagonal of the bounding box of all deformable bodies at rest [Li 2020].
    Scene,
}

/// Measure of a Newton direction p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// The largest |p| of a vertex over h [Li 2020, Alg. 1].
    Largest,
    /// √(Σ |p|²/n)/h over the n vertices that are not prescribed [Li 2021, suppl. Eq. 13].
    RootMeanSquare,
}

/// Solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Projected Newton on the barrier-augmented incremental potential [Li 2020, Alg. 1].
    Barrier,
    /// Augmented Lagrangian on linearised distance constraints, without a barrier [Zheng 2025].
    BarrierFree,
    /// L-BFGS on the same potential as `barrier`, started from the Hessians of subdomains that are factorised
    /// once per step [Li 2019].
    Dot,
    /// L-BFGS started from the matrix of projective dynamics, which is constant and factorised once [Liu 2017]; for
    /// tetrahedra without contact.
    LbfgsPd,
    /// Alternating directions: every tetrahedron minimises its energy by itself, a constant matrix that is
    /// factorised once brings them together [Overby 2017]; for tetrahedra without contact. Without a line search it may
    /// not converge within `end.max_iterations`.
    AdmmPd,
}

/// Linear solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinearSolver {
    /// `conjugate-gradient`, then `two-level`, while they take less time than a factorisation, otherwise
    /// `mixed-cholesky` until the step ends; `schwarz` instead if a factor would be very large.
    Auto,
    /// Sparse Cholesky factorisation in double precision.
    Cholesky,
    /// The same by the library faer, on one thread, for comparison.
    FaerCholesky,
    /// Sparse Cholesky factorisation in single precision, refined to double by conjugate gradients:
    /// half the memory and the time, solutions as accurate.
    MixedCholesky,
    /// Conjugate gradients without a factor: little memory, but slow if contact is stiff.
    ConjugateGradient,
    /// Conjugate gradients with a coarse level, the translations and rotations of groups of 80 vertices: little
    /// memory, and few iterations even for large bodies at rest.
    TwoLevel,
    /// Conjugate gradients with overlapping subdomains and a coarse level: less memory than a factor for large
    /// bodies, and few iterations even if stiffness varies.
    Schwarz,
}

/// Where linear systems are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// On the processor, by `linear`.
    Cpu,
    /// On a graphics processor with 64-bit floats, by conjugate gradients with the diagonal blocks as preconditioner. Standoff
    /// must be built with its feature `gpu`.
    Gpu,
}

/// When the independent audit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditLevel {
    /// After every accepted Newton iterate, and on all of the path to it.
    EveryPath,
    /// After every accepted Newton iterate.
    EveryIterate,
    /// After every time step.
    EveryStep,
    /// Never.
    Off,
}
