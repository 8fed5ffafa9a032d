//! The incremental potential whose minimiser is the end of the time step:
//!
//! E(x) = ½ ‖x − x̃‖²_M + Σ_t f_t Ψ_t(x)
//!
//! over the free vertices; the others stand still. Unit: kg m² (J s² by the factors f_t). The energies Ψ_t
//! are the [`Term`]s of one list, [`IncrementalPotential::terms`]: elastic energies and loads with the
//! factor s of the integrator, contact and friction with its s_c, equality constraints on prescribed
//! vertices with 1.

// long: the list of terms and what iterates over it; each function is a few lines for each term

mod friction;
mod joints;
mod life;
pub mod stiffness;
mod strategy;

use crate::clock::{Clock, Phase};
use crate::contact::orientation::OrientationSet;
use crate::contact::pair_forces::{PairForces, PairSums};
use crate::contact::{BarrierPotential, ContactConstraints, ContactSet, Curvature, Friction};
use crate::context::StepContext;
use crate::definition::settings::{Subproblem, ThicknessBarrier};
use crate::dirichlet::{DirichletPenalty, DirichletTargets};
use crate::energy::codim::LimitStiffening;
use crate::energy::damping::Damping;
use crate::energy::fibres::{Fibres, Muscles};
use crate::energy::grip_turn::GripTurn;
use crate::energy::inelastic::InelasticStep;
use crate::energy::intermediate::{AtIntermediate, Intermediate};
use crate::energy::loads::DeadLoads;
use crate::energy::membrane::Membrane;
use crate::energy::pressure::Pressures;
use crate::energy::spring::Attachments;
use crate::energy::{CodimElements, Elements, Guards, Role, Solids, Term};
use crate::iterate::Iterate;
use crate::model::Model;
use crate::rails::Rails;
use crate::state::State;
use crate::unknowns::Expanded;
use standoff_linalg::Vec3;
use std::borrow::Cow;
use std::sync::Arc;
use stiffness::Adapting;

pub use joints::JointEnergies;
pub use strategy::Strategy;

/// The incremental potential of one time step.
#[derive(Debug, Clone)]
pub struct IncrementalPotential<'a> {
    /// What the step is about.
    pub context: StepContext<'a>,
    /// Predicted positions x̃, m (`#V`).
    x_tilde: Vec<Vec3>,
    /// M⁻¹ of the forces that do not depend on position, m/s² (`#V`).
    acceleration: Vec<Vec3>,
    /// Whether a vertex's motion is prescribed in this step (`#V`).
    prescribed: Vec<bool>,
    /// Whether a vertex has inertia in this step: those whose motion is not prescribed, none in
    /// quasi-static steps (`#V`).
    inertial: Arc<Vec<bool>>,
    /// Whether a vertex is an unknown (`#V`): not carried, and not prescribed or constrained to its target.
    free: Vec<bool>,
    /// Vertices that are held in some directions in this step.
    all_rails: Rails,
    /// The directions in which they are held now, without those in which constraints pull them.
    rails: Rails,
    /// Elements of solids: those of the model, with a barrier against inversion while constraints pull prescribed vertices, or
    /// only those that have an unknown while some vertices rest.
    solids: Cow<'a, Solids>,
    /// Elements of shells and rods, with the frames at the start of the step.
    codim: CodimElements,
    /// The stiffness of their limits of the stretch.
    limits: LimitStiffening,
    /// Where elastic energies are evaluated in the step, if that is not its end, and what acts at the end instead.
    between: Option<Between>,
    /// The limits of the stretch, where they are no part of `codim`.
    limits_apart: Option<Elements<Membrane, 3>>,
    attachments: Attachments<'a>,
    pressures: Pressures<'a>,
    joints: JointEnergies<'a>,
    /// What turns the edges of rods and shells with the grips of joints.
    grip_turns: Option<Elements<GripTurn, 5>>,
    /// How often the multipliers of joints were changed in this minimisation: after whole steps, and after ends of it.
    followed: usize,
    tightened: usize,
    /// How far joints were open the last time; infinite before.
    opening: f64,
    /// How often they became stiffer because that did not fall.
    joints_stiffened: u32,
    /// Forces that do not depend on position, in quasi-static steps; else x̃ holds them.
    dead_loads: Option<DeadLoads>,
    damping: Vec<Damping>,
    /// What relaxes or yields.
    inelastic: InelasticStep,
    /// Fibres of solids: those of the model, or only those of elements that have an unknown while some vertices rest.
    fibres: Cow<'a, Fibres>,
    /// What draws in this step.
    muscles: Muscles,
    /// Contact barrier with its stiffness κ.
    barrier: BarrierPotential,
    /// How κ is adapted.
    adapting: Adapting,
    /// Constraints of the barrier-free method; without any for the barrier.
    constraints: ContactConstraints,
    /// Lagged friction.
    friction: Friction,
    /// Constraints on prescribed vertices that did not reach their targets at once.
    dirichlet: Option<DirichletPenalty>,
    /// What was set aside while some vertices rest.
    resting: Option<Box<Resting>>,
}

/// Elastic energies between the start of a step and its end.
#[derive(Debug, Clone)]
struct Between {
    at: Intermediate,
    /// Barriers against inversion at the end.
    guards: Guards,
}

/// What a potential has where all vertices move.
#[derive(Debug, Clone)]
struct Resting {
    /// Which vertices are free (`#V`).
    free: Vec<bool>,
    codim: CodimElements,
    inelastic: InelasticStep,
}

/// A value with the size of its summands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Energy {
    /// The sum.
    pub value: f64,
    /// The sum of absolute values.
    pub magnitude: f64,
}

impl Energy {
    /// Adds a summand.
    pub fn add(&mut self, term: f64) {
        self.value += term;
        self.magnitude += term.abs();
    }

    /// Below this, a difference of two values is round-off.
    pub fn noise(&self) -> f64 {
        16.0 * f64::EPSILON * self.magnitude
    }
}

/// A term of the incremental potential with its factor.
#[derive(Debug)]
pub struct Summand<'t> {
    /// The energy Ψ, J.
    pub term: Box<dyn Term + 't>,
    /// Its factor f, s² (1 for equality constraints).
    pub factor: f64,
    /// Which part of the potential it belongs to.
    pub part: Part,
}

/// What acts on vertices and bodies, beside which a residual is small or not, kg m.
#[derive(Debug, Clone)]
pub struct Acting {
    /// The sum of the magnitudes of the summands of ∇E at each vertex (`#V`): inertia, loads, every energy by itself,
    /// and the momentum of the velocity tolerance, so that the sum is nowhere zero. Energies by which constraints pull
    /// prescribed vertices are left out.
    pub at_vertices: Vec<f64>,
    /// The sum of the magnitudes of what acts on each body as a whole: its inertia, its loads, the resultant of all energies but contact,
    /// in which the inner ones cancel, the resultant of contact, and the momentum of the velocity tolerance.
    pub on_bodies: Vec<f64>,
}

/// The parts of the incremental potential, apart from inertia.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Elastic energies, damping and loads: the same stencils in every step.
    Elastic,
    /// Contact and friction: stencils change from iterate to iterate.
    Contact,
    /// Equality constraints on prescribed vertices.
    Dirichlet,
    /// What the linearisation of contact constraints leaves out of the Hessian.
    Curvature,
}

impl Part {
    /// The phase to which its evaluation counts.
    pub fn phase(self) -> Phase {
        match self {
            Self::Elastic | Self::Dirichlet => Phase::Elasticity,
            Self::Contact | Self::Curvature => Phase::Contact,
        }
    }
}

static NO_CONTACTS: ContactSet =
    ContactSet { contacts: Vec::new(), half_space: Vec::new(), orientation: OrientationSet::EMPTY };

impl<'a> IncrementalPotential<'a> {
    /// The potential of the step that starts in a state, outside of a step.
    pub fn at_start(model: &'a Model, state: &State, clock: &'a Clock) -> Self {
        let context = StepContext::new(model, state, clock);
        let potential = Self::new(context, state, &DirichletTargets::new(model, state));
        // nothing relaxes in an instant
        let inelastic = model.inelastic.in_step(&state.internal, &state.x, 0.0);
        Self { inelastic, ..potential }
    }

    /// The potential of the step that starts in `state`, without friction yet.
    // long: a line for each part of the potential
    pub fn new(context: StepContext<'a>, state: &State, targets: &DirichletTargets) -> Self {
        let StepContext { model, settings, integrator, h, .. } = context;
        let n = state.x.len();
        let mut acceleration = model.loads.accelerations(
            &state.controls,
            model.gravity,
            model.vertex_count(),
            n,
            context.start,
            context.load_time,
        );
        if !integrator.inertial() {
            let gravity = state.controls.gravity.unwrap_or(model.gravity);
            let excess = acceleration.iter_mut().zip(&model.weight_excess);
            excess.for_each(|(a, excess)| *a += gravity * *excess);
        }
        let released = |v: usize| settings.time.release_from_rest && state.prescribed[v];
        let predict = |v: usize| match released(v) {
            true => state.x[v],
            false => integrator.predict(state, v, acceleration[v], h),
        };
        let x_tilde: Vec<Vec3> = (0..n).map(predict).collect();
        let is_free = |(v, held): (usize, &bool)| !held && !model.map.is_carried(v);
        let free: Vec<bool> = targets.prescribed.iter().enumerate().map(is_free).collect();
        let inertial = if integrator.inertial() { free.clone() } else { vec![false; n] };
        let inertial = Arc::new(inertial);
        let force =
            |v: usize| if free[v] { model.mass[v] * acceleration[v] } else { Vec3::zeros() };
        let dead_loads = (!integrator.inertial())
            .then(|| DeadLoads { forces: (0..n).map(force).collect(), origin: x_tilde.clone() });
        let barrier = BarrierPotential {
            barrier: settings.contact.barrier,
            d_hat: context.d_hat,
            kappa: settings.contact.stiffness.map_or(1.0, |k| k / model.stiffness_ratio()),
            physical: settings.contact.is_area_weighted(),
            even: settings.contact.thickness_barrier == ThicknessBarrier::Even,
        };
        let multipliers = settings.solver.barrier_free.multipliers;
        let mut constraints =
            ContactConstraints::new(state.constraints.clone(), context.d_hat, multipliers);
        if settings.solver.barrier_free.subproblem == Subproblem::Published {
            constraints = constraints.weighted();
        }
        let rest_points = (0..n).map(|v| integrator.rest_point(state, v, h)).collect();
        let mut codim = model.codim_at(state);
        let joints = JointEnergies::new(&context, state);
        let damping = damping(&context, state, &codim, &inertial);
        // limits of the stretch are constraints as contact is; apart, they need no weight, since α is 1 there
        codim.weigh_limits(context.contact_scale / context.elastic_scale);
        let beta = integrator.beta();
        let between = (beta < 1.0).then(|| Between {
            at: Intermediate { beta, start: state.x.clone() },
            guards: model.solids.guards(),
        });
        let limits_apart = between.as_ref().and_then(|_| codim.take_limits());
        Self {
            context,
            x_tilde,
            acceleration,
            prescribed: targets.prescribed.clone(),
            inertial,
            free,
            all_rails: targets.rails.clone(),
            rails: targets.rails.clone(),
            solids: Cow::Borrowed(&model.solids),
            codim,
            attachments: model.loads.attachments(context.start),
            pressures: model.loads.pressures(
                &state.controls,
                context.start,
                context.load_time,
                &state.x,
            ),
            joints,
            grip_turns: model.grip_turns_at(state),
            followed: 0,
            tightened: 0,
            opening: f64::INFINITY,
            joints_stiffened: 0,
            dead_loads,
            damping,
            inelastic: model.inelastic.in_step(&state.internal, &state.x, h),
            fibres: Cow::Borrowed(&model.fibres),
            muscles: model.muscles_at(context.load_time),
            limits: LimitStiffening::default(),
            between,
            limits_apart,
            barrier,
            adapting: Adapting::default(),
            constraints,
            friction: Friction::new(friction::without_contacts(&context), rest_points),
            dirichlet: None,
            resting: None,
        }
    }

    /// Whether a vertex is an unknown (`#V`): not carried, and not prescribed or constrained to its target.
    pub fn free(&self) -> &[bool] {
        &self.free
    }

    /// Vertices that are free in some directions only.
    pub fn rails(&self) -> &Rails {
        &self.rails
    }

    /// Whether a vertex has inertia in this step (`#V`).
    pub fn inertial(&self) -> &[bool] {
        &self.inertial
    }

    /// Whether the motion of a vertex is prescribed in this step.
    pub fn is_prescribed(&self, vertex: u32) -> bool {
        self.prescribed[vertex as usize]
    }

    /// The contact barrier.
    pub fn barrier(&self) -> &BarrierPotential {
        &self.barrier
    }

    /// Lagged friction.
    pub fn friction(&self) -> &Friction {
        &self.friction
    }

    /// The constraints that pull prescribed vertices, where they did not reach their targets at once.
    pub fn penalty(&self) -> Option<&DirichletPenalty> {
        self.dirichlet.as_ref()
    }

    /// The energies of joints with their multipliers.
    pub fn joints(&self) -> &JointEnergies<'a> {
        &self.joints
    }

    /// The constraints of the barrier-free method.
    pub fn constraints(&self) -> &ContactConstraints {
        &self.constraints
    }

    /// The same, of which that method makes its active set: no other part of the potential depends on them.
    pub fn constraints_mut(&mut self) -> &mut ContactConstraints {
        &mut self.constraints
    }

    /// Whole turns of the angles of hinges and shape operators at `x`.
    pub fn turns(&self, x: &[Vec3]) -> Vec<i32> {
        self.codim.turns(x)
    }

    /// Every energy, in the order in which their sums run; `contacts` are those at the positions at which
    /// they will be evaluated.
    pub fn terms<'t>(&'t self, contacts: &'t ContactSet) -> Vec<Summand<'t>> {
        self.terms_at(contacts, self.between.as_ref())
    }

    /// The same with elastic energies at these positions, or at the end of the step.
    // long: a line or two for each term
    fn terms_at<'t>(
        &'t self,
        contacts: &'t ContactSet,
        between: Option<&'t Between>,
    ) -> Vec<Summand<'t>> {
        let (s, c) = (self.context.elastic_scale, self.context.contact_scale);
        let mut all: Vec<Summand<'t>> = Vec::with_capacity(16);
        let model = self.context.model;
        let mut push = |part: Part, factor: f64, term: Box<dyn Term + 't>| {
            all.push(Summand { term, factor, part });
        };
        // contact, what a program adds, and loads on the surface of rigid bodies may act on carried vertices; elements have some where joints
        // hold soft bodies, or ties
        let by_unknowns = |term: Box<dyn Term + 't>| -> Box<dyn Term + 't> {
            match model.map.is_identity() {
                true => term,
                false => Box::new(Expanded::new(term, &model.map)),
            }
        };
        let elements = |term: Box<dyn Term + 't>| -> Box<dyn Term + 't> {
            if model.elements_are_carried() { by_unknowns(term) } else { term }
        };
        let evaluated = |term: Box<dyn Term + 't>| -> Box<dyn Term + 't> {
            match between {
                None => term,
                Some(between) => Box::new(AtIntermediate::new(term, &between.at)),
            }
        };
        let fibres = self.fibres.terms().chain(self.muscles.terms());
        for term in self.solids.terms().chain(self.codim.terms()).chain(fibres) {
            push(Part::Elastic, s, elements(evaluated(Box::new(term))));
        }
        for term in self.inelastic.terms() {
            push(Part::Elastic, s, elements(Box::new(term)));
        }
        if let Some(limits) = &self.limits_apart {
            push(Part::Elastic, s, elements(Box::new(limits)));
        }
        for term in between.iter().flat_map(|b| b.guards.terms()) {
            push(Part::Elastic, s, elements(Box::new(term)));
        }
        push(Part::Elastic, s, by_unknowns(evaluated(Box::new(self.attachments))));
        push(Part::Elastic, s, by_unknowns(evaluated(Box::new(&self.pressures))));
        for term in self.joints.terms() {
            push(Part::Elastic, s, Box::new(term));
        }
        if let Some(turns) = &self.grip_turns {
            push(Part::Elastic, s, Box::new(turns));
        }
        for term in &self.context.model.energies {
            push(Part::Elastic, s, by_unknowns(evaluated(Box::new(&**term))));
        }
        for term in &self.damping {
            push(Part::Elastic, s, Box::new(term));
        }
        if let Some(loads) = &self.dead_loads {
            push(Part::Elastic, s, Box::new(loads));
        }
        let (pairs, half_spaces, oriented) = self.barrier.terms(contacts);
        push(Part::Contact, c, by_unknowns(Box::new(pairs)));
        push(Part::Contact, c, by_unknowns(Box::new(half_spaces)));
        push(Part::Contact, c, by_unknowns(Box::new(oriented)));
        push(Part::Contact, c, by_unknowns(Box::new(&self.friction)));
        push(Part::Contact, c, by_unknowns(Box::new(&self.constraints)));
        if !self.constraints.is_empty() {
            let curvature = Curvature::new(&self.constraints, &model.collision);
            push(Part::Curvature, c, by_unknowns(Box::new(curvature)));
        }
        if let Some(penalty) = &self.dirichlet {
            push(Part::Dirichlet, 1.0, Box::new(penalty));
        }
        all
    }

    /// The terms of one part whose stencils or values do not depend on contacts.
    pub fn part(&self, part: Part) -> impl Iterator<Item = Summand<'_>> {
        self.terms(&NO_CONTACTS).into_iter().filter(move |t| t.part == part)
    }

    /// The terms of the elastic part at the end of the step, whatever the integrator.
    pub fn elastic_at_end(&self) -> impl Iterator<Item = Summand<'_>> {
        self.terms_at(&NO_CONTACTS, None).into_iter().filter(|t| t.part == Part::Elastic)
    }

    /// Positions at which elastic forces act, m (`#V`).
    pub fn elastic_positions<'x>(&self, x: &'x [Vec3]) -> Cow<'x, [Vec3]> {
        match &self.between {
            None => Cow::Borrowed(x),
            Some(between) => Cow::Owned(between.at.positions(x)),
        }
    }

    /// E(x); the iterate must hold every contact at x.
    pub fn value(&self, it: &Iterate) -> Energy {
        let mut energy = Energy::default();
        energy.add(self.inertia(&it.x));
        self.add_value(&it.contacts, &it.x, |_| true, &mut energy);
        energy
    }

    /// Adds the energy of the equality constraints on prescribed vertices.
    pub fn add_dirichlet_value(&self, x: &[Vec3], energy: &mut Energy) {
        self.add_value(&NO_CONTACTS, x, |part| part == Part::Dirichlet, energy);
    }

    /// Adds s_c (Ψ_contact + Ψ_friction).
    pub fn add_contact_value(&self, it: &Iterate, energy: &mut Energy) {
        self.add_value(&it.contacts, &it.x, |part| part == Part::Contact, energy);
    }

    /// E(x) without contact, friction and equality constraints.
    pub fn value_without_contact(&self, x: &[Vec3]) -> Energy {
        let mut energy = Energy::default();
        energy.add(self.inertia(x));
        self.add_value(&NO_CONTACTS, x, |part| part == Part::Elastic, &mut energy);
        energy
    }

    /// Adds the summands of the `wanted` parts.
    fn add_value(
        &self,
        contacts: &ContactSet,
        x: &[Vec3],
        wanted: impl Fn(Part) -> bool,
        energy: &mut Energy,
    ) {
        for t in self.terms(contacts).iter().filter(|t| wanted(t.part)) {
            let value = || t.term.value(x);
            energy.add(t.factor * self.context.clock.time(t.part.phase(), value));
        }
    }

    /// x̃ − x for the vertices with inertia, m (`#V`).
    pub fn predicted_displacement(&self, x: &[Vec3]) -> Vec<Vec3> {
        let of = |v: usize| if self.inertial[v] { self.x_tilde[v] - x[v] } else { Vec3::zeros() };
        let mut all: Vec<Vec3> = (0..x.len()).map(of).collect();
        self.rails().project(&mut all);
        all
    }

    fn inertia(&self, x: &[Vec3]) -> f64 {
        let mass = &self.context.model.mass;
        let mut sum = 0.0;
        for v in (0..x.len()).filter(|&v| self.inertial[v]) {
            sum += 0.5 * mass[v] * (x[v] - self.x_tilde[v]).norm_squared();
        }
        sum
    }

    /// ∇E(x) with zero rows for vertices that stand still, kg m (`#V`).
    pub fn gradient(&self, it: &Iterate) -> Vec<Vec3> {
        let mut g = self.gradient_without_contact(&it.x);
        self.add_contact_gradient(it, &mut g);
        g
    }

    /// What acts at each vertex and from outside on each body at an iterate.
    pub fn acting_forces(&self, it: &Iterate) -> Acting {
        let (model, context) = (self.context.model, &self.context);
        let speed = |v: usize| context.velocity_tolerance * model.tolerance_of(v);
        let load = |v: usize| context.elastic_scale * self.acceleration[v];
        let inertia = |v: usize| match self.inertial[v] {
            true => it.x[v] - self.x_tilde[v],
            false => Vec3::zeros(),
        };
        let momentum = |v: usize| if self.inertial[v] { context.h * speed(v) } else { 0.0 };
        let of_vertex = |v: usize| match self.free[v] {
            true => model.mass[v] * (load(v).norm() + inertia(v).norm() + momentum(v)),
            false => 0.0,
        };
        let mut at_vertices: Vec<f64> = (0..it.x.len()).map(of_vertex).collect();
        // without the angles of rods
        let body_of = &model.body_of[..model.vertex_count()];
        let sums = |of: &dyn Fn(usize) -> Vec3, factor: f64, to: &mut Vec<Vec3>| {
            body_of.iter().enumerate().for_each(|(v, b)| to[*b as usize] += factor * of(v));
        };
        let [mut loads, mut inertias, mut elastic, mut contact] =
            [(); 4].map(|()| vec![Vec3::zeros(); model.bodies.len()]);
        sums(&|v| model.mass[v] * load(v), 1.0, &mut loads);
        sums(&|v| model.mass[v] * inertia(v), 1.0, &mut inertias);
        let mut gradient = vec![Vec3::zeros(); it.x.len()];
        for t in self.terms(&it.contacts) {
            if t.part == Part::Dirichlet || t.term.stencils().is_empty() {
                continue;
            }
            context.clock.time(t.part.phase(), || {
                gradient.fill(Vec3::zeros());
                t.term.add_gradient(&it.x, &mut gradient);
                model.map.gather(&mut gradient);
                at_vertices.iter_mut().zip(&gradient).for_each(|(a, g)| *a += t.factor * g.norm());
            });
            let to = if t.part == Part::Contact { &mut contact } else { &mut elastic };
            sums(&|v| gradient[v], t.factor, to);
        }
        let mut on_bodies: Vec<f64> = (0..model.bodies.len())
            .map(|b| {
                let all = [loads[b], inertias[b], elastic[b], contact[b]];
                all.map(|sum| model.dimension.of_whole(sum).norm()).iter().sum()
            })
            .collect();
        for (v, b) in body_of.iter().enumerate() {
            on_bodies[*b as usize] += model.mass[v] * momentum(v);
        }
        Acting { at_vertices, on_bodies }
    }

    /// Adds s_c ∇(Ψ_contact + Ψ_friction) by unknowns, nothing to rows of vertices that stand still, kg m.
    pub fn add_contact_gradient(&self, it: &Iterate, g: &mut [Vec3]) {
        let mut contact = self.contact_gradient(it);
        self.context.model.map.gather(&mut contact);
        self.rails().project(&mut contact);
        for v in (0..g.len()).filter(|&v| self.free[v]) {
            g[v] += self.context.contact_scale * contact[v];
        }
    }

    /// ∇(Ψ_contact + Ψ_friction) by vertices, N (`#V`): minus the contact forces.
    pub fn contact_gradient(&self, it: &Iterate) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); it.x.len()];
        self.context.clock.time(Phase::Contact, || {
            for t in self.terms(&it.contacts).iter().filter(|t| t.part == Part::Contact) {
                t.term.add_gradient(&it.x, &mut g);
            }
        });
        g
    }

    /// Contact and friction forces at the end of a step, N (`#V`): of the barrier, or the multipliers
    /// of the barrier-free method.
    pub fn contact_forces(&self, it: &Iterate) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); it.x.len()];
        self.barrier.add_gradient(&it.contacts, &it.x, &mut g);
        self.constraints.add_forces(&self.context.model.collision, &it.x, &mut g);
        self.friction.add_gradient(&it.x, &mut g);
        g.iter().map(|g| -g).collect()
    }

    /// The sums of [`IncrementalPotential::contact_forces`] by what acts on what: force (N) and torque about the origin (N m) on each
    /// half-space, and those of every pair.
    pub fn forces_between(&self, it: &Iterate) -> (Vec<[Vec3; 2]>, Vec<PairForces>) {
        let model = self.context.model;
        let mut sums = PairSums::new(&it.x, &model.body_of, model.half_spaces.len());
        let mut normal = |k: Option<u32>, v: &[u32], g: &[Vec3]| sums.add(false, k, v, g);
        self.barrier.each_contact(&it.contacts, &it.x, &mut normal);
        self.constraints.each_contact(&self.context.model.collision, &it.x, &mut normal);
        self.friction.each_contact(&it.x, &mut |k, v, g| sums.add(true, k, v, g));
        let (mut half_spaces, mut pairs) = sums.finish();
        // forces all around a ring have no moment
        if model.dimension.is_axisymmetric() {
            half_spaces.iter_mut().for_each(|f| f[1] = Vec3::zeros());
            for pair in &mut pairs {
                (pair.normal[1], pair.friction[1]) = (Vec3::zeros(), Vec3::zeros());
            }
        }
        (half_spaces, pairs)
    }

    /// Accelerations of the deformable vertices by all forces but contact, friction and limits of the stretch, m/s² (`#V`).
    pub fn accelerations_without_constraints(&self, x: &[Vec3]) -> Vec<Vec3> {
        let model = self.context.model;
        let mut a = self.elastic_gradient(x, |t| t.term.without_limits().is_none());
        for t in self.part(Part::Elastic) {
            if let Some(unlimited) = t.term.without_limits() {
                unlimited.add_gradient(x, &mut a);
            }
        }
        // what is carried is an unknown nowhere else
        model.map.gather(&mut a);
        self.damping.iter().for_each(|d| d.add_to_held(x, &mut a));
        for v in 0..x.len() {
            a[v] = match model.deformable[v] {
                true => self.acceleration[v] - a[v] / model.mass[v],
                false => Vec3::zeros(),
            };
        }
        for &v in &model.axis {
            a[v as usize].x = 0.0;
        }
        model.map.spread(&mut a);
        a
    }

    /// Minus the forces on held vertices by everything but inertia, contact and friction, N (`#V`); of vertices
    /// of obstacles, which have neither weight nor dead loads, by springs and added energies only. Rows of vertices
    /// that are not prescribed mean nothing.
    pub fn gradient_on_held(&self, x: &[Vec3]) -> Vec<Vec3> {
        let model = self.context.model;
        let mut g = self.elastic_gradient(x, |_| true);
        self.damping.iter().for_each(|d| d.add_to_held(x, &mut g));
        for v in (0..x.len()).filter(|&v| model.deformable[v]) {
            g[v] -= model.mass[v] * self.acceleration[v];
        }
        g
    }

    /// Σ ∇Ψ of the `wanted` summands of the elastic part by unknowns, N (`#V`).
    fn elastic_gradient(&self, x: &[Vec3], wanted: impl Fn(&Summand<'_>) -> bool) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); x.len()];
        self.context.clock.time(Phase::Elasticity, || {
            let terms = self.part(Part::Elastic).filter(|t| wanted(t));
            terms.for_each(|t| t.term.add_gradient(x, &mut g));
            self.context.model.map.gather(&mut g);
        });
        g
    }

    /// ∇E(x) without contact and friction, kg m (`#V`).
    pub fn gradient_without_contact(&self, x: &[Vec3]) -> Vec<Vec3> {
        self.smooth_gradient(x, |_| true)
    }

    /// The same without elasticity: what ADMM's global step has of the potential.
    pub fn gradient_without_elasticity(&self, x: &[Vec3]) -> Vec<Vec3> {
        self.smooth_gradient(x, |t| t.term.role() != Role::Elastic)
    }

    /// ∇E(x) without contact and friction, and of the elastic part the `wanted` summands only.
    fn smooth_gradient(&self, x: &[Vec3], wanted: impl Fn(&Summand<'_>) -> bool) -> Vec<Vec3> {
        let mass = &self.context.model.mass;
        let mut g = self.elastic_gradient(x, wanted);
        for v in 0..x.len() {
            g[v] *= self.context.elastic_scale;
            if self.inertial[v] {
                g[v] += mass[v] * (x[v] - self.x_tilde[v]);
            }
        }
        self.part(Part::Dirichlet).for_each(|t| t.term.add_gradient(x, &mut g));
        for v in (0..x.len()).filter(|&v| !self.free[v]) {
            g[v] = Vec3::zeros();
        }
        self.rails().project(&mut g);
        g
    }

    /// The largest step t ≤ 1 such that every energy without contact stays defined along `x` + [0, t] `dx`:
    /// no element inverts.
    pub fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        self.context.clock.time(Phase::Elasticity, || {
            self.part(Part::Elastic).map(|t| t.term.max_step(x, dx)).fold(1.0, f64::min)
        })
    }

    /// Whether less than the given part of every limit of the stretch is used at `x`.
    pub fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.part(Part::Elastic).all(|t| t.term.within_limits(x, part))
    }
}

/// The damping of every elastic energy; none where its coefficient is zero. Limits of the stretch have
/// no part in it.
fn damping(
    context: &StepContext<'_>,
    state: &State,
    codim: &CodimElements,
    inertial: &Arc<Vec<bool>>,
) -> Vec<Damping> {
    let coefficient = context.settings.time.stiffness_damping;
    if coefficient == 0.0 {
        return Vec::new();
    }
    let start = Arc::new(state.x.clone());
    let factor = coefficient / context.h;
    let model = context.model;
    // what keeps a rigid body rigid would brake its turning: a turn is no motion on straight lines
    let bends = |stencil: &[u32]| {
        stencil.first().is_none_or(|&v| !model.bodies[model.body_of[v as usize] as usize].rigid)
    };
    let damping = |t: &dyn Term| {
        let unlimited = t.without_limits();
        let t: &dyn Term = unlimited.as_deref().unwrap_or(t);
        match !model.elements_are_carried() {
            true => Damping::new(t, factor, &start, inertial).only(bends),
            false => {
                let by_unknowns = Expanded::new(Box::new(t), &model.map);
                Damping::new(&by_unknowns, factor, &start, inertial).only(bends)
            }
        }
    };
    // what flows is damped as it would be if it did not
    let inelastic = model.inelastic.in_step(&state.internal, &state.x, 0.0);
    let solids = model.solids.terms().chain(inelastic.terms()).chain(model.fibres.terms());
    solids.chain(codim.terms()).map(damping).collect()
}
