//! The incremental potential whose minimiser is the end of the time step:
//!
//! E(x) = ½ ‖x − x̃‖²_M + s [ Ψ_elastic(x) + Ψ_springs(x) + Ψ_pressure(x) + Ψ_damping(x) ]
//!        + s_c [ Ψ_contact(x) + Ψ_friction(x) ] + equality constraints
//!
//! over the free vertices; the others stand still. Unit: kg m² (J s² by s).

use crate::contact::stiffness::{self, CloseContacts, LOADED_GAP, MASS_RATIO, StiffnessRange};
use crate::contact::{ActiveSet, Barrier, BarrierPotential, FrictionSet, Smoothing, Weighting};
use crate::definition::settings::{Adaptation, Transition};
use crate::diagnosis::{self, Culprit};
use crate::dirichlet::{Equality, Targets};
use crate::energy::damping::Damping;
use crate::energy::pressure::Pressures;
use crate::energy::spring;
use crate::energy::thin::ThinElements;
use crate::model::Model;
use crate::report::{PhaseSeconds, StepReport};
use crate::solver::Iterate;
use crate::state::State;
use crate::timing::timed;
use standoff_linalg::Vec3;

/// The incremental potential of one time step.
#[derive(Debug, Clone)]
pub struct IncrementalPotential<'a> {
    /// Constant data.
    pub model: &'a Model,
    /// Predicted positions x̃, m (`#V`).
    x_tilde: Vec<Vec3>,
    /// Scale s of all potentials but contact and friction, s².
    pub scale: f64,
    /// Scale s_c of contact and friction, s².
    pub contact_scale: f64,
    /// Contact barrier with its stiffness κ.
    pub barrier: BarrierPotential,
    stiffness: StiffnessRange,
    /// Constraints of the barrier-free method; without any for the barrier.
    pub constraints: ActiveSet,
    /// M⁻¹ of the forces that do not depend on position, m/s² (`#V`).
    acceleration: Vec<Vec3>,
    /// Those forces on the free vertices without inertia, N (`#V`): quasi-static ones; empty for the
    /// others, whose x̃ holds the forces.
    static_forces: Vec<Vec3>,
    /// Elements of shells and rods, with the frames of rods at the start of the step.
    pub thin: ThinElements,
    /// Time at the start of the step, s: attachments that act then act in the step.
    pub time: f64,
    /// Pressures on surfaces.
    pressures: Pressures<'a>,
    /// Lagged stiffness-proportional damping.
    pub damping: Option<Damping>,
    /// Lagged friction.
    pub friction: FrictionSet,
    /// Displacement per velocity of the integrator, s.
    friction_time: f64,
    /// Where each vertex's velocity vanishes: friction acts on the displacement from here (`#V`).
    pub friction_reference: Vec<Vec3>,
    /// Whether a vertex's motion is prescribed in this step (`#V`).
    prescribed: Vec<bool>,
    /// Whether a vertex has inertia in this step: those whose motion is not prescribed (`#V`).
    pub inertial: Vec<bool>,
    /// Whether a vertex is an unknown (`#V`): not prescribed, or on its way to a blocked target.
    pub free: Vec<bool>,
    /// Constraints on prescribed vertices that are on their way.
    pub equality: Option<Equality>,
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
    fn add(&mut self, term: f64) {
        self.value += term;
        self.magnitude += term.abs();
    }

    /// Below this, a difference of two values is round-off.
    pub fn noise(&self) -> f64 {
        16.0 * f64::EPSILON * self.magnitude
    }
}

impl<'a> IncrementalPotential<'a> {
    /// The potential of the step that starts in `state`, without friction yet.
    pub fn new(model: &'a Model, state: &State, targets: &Targets) -> Self {
        let h = model.resolved.h;
        let integrator = model.resolved.settings.time.integrator.at(state);
        let (t, end) = (state.time, state.next_time(h));
        let n = state.x.len();
        let acceleration =
            model.loads.accelerations(model.gravity, model.vertex_count(), n, t, end);
        let vertices = 0..state.x.len();
        let from_rest = model.resolved.settings.time.release_from_rest;
        let x_tilde = vertices
            .clone()
            .map(|i| {
                if from_rest && state.held[i] {
                    state.x[i]
                } else {
                    integrator.predict(state, i, acceleration[i], h)
                }
            })
            .collect();
        let friction_reference = vertices.map(|i| integrator.rest_point(state, i, h)).collect();
        let free: Vec<bool> = targets.prescribed.iter().map(|p| !p).collect();
        let inertial = if integrator.inertial() { free.clone() } else { vec![false; free.len()] };
        let force = |v: usize| {
            if free[v] { model.mass[v] * acceleration[v] } else { Vec3::zeros() }
        };
        let static_forces = match integrator.inertial() {
            true => Vec::new(),
            false => (0..free.len()).map(force).collect(),
        };
        let scale = integrator.potential_scale(h);
        let contact_scale = match model.resolved.settings.time.trapezoidal_contact {
            true => scale,
            false => integrator.contact_scale(h),
        };
        let (contact, d_hat) = (&model.resolved.settings.contact, model.resolved.d_hat);
        let mass = model.mean_mass / if integrator.inertial() { contact_scale } else { h * h };
        let barrier = BarrierPotential {
            barrier: Barrier::default(),
            d_hat,
            kappa: contact.stiffness.unwrap_or(1.0),
            physical: contact.area_weighting,
            even: true,
        };
        let mass = mass / weight_factor(model, &barrier);
        let stiffness =
            StiffnessRange::new(barrier.barrier, d_hat, 0.0, model.length, mass, MASS_RATIO);
        Self {
            model,
            x_tilde,
            scale,
            contact_scale,
            barrier,
            stiffness,
            constraints: ActiveSet::new(
                state.constraints.clone(),
                d_hat,
                model.resolved.settings.solver.barrier_free.multipliers,
            ),
            acceleration,
            static_forces,
            thin: thin_at(model, state),
            time: t,
            pressures: model.loads.pressures(t, end, &state.x),
            damping: Damping::new(model, state),
            friction: FrictionSet::default(),
            friction_time: integrator.friction_time(h),
            friction_reference,
            prescribed: targets.prescribed.clone(),
            inertial,
            free,
            equality: None,
        }
    }

    /// E(x); the iterate must hold every contact at x.
    pub fn value(&self, it: &Iterate, seconds: &mut PhaseSeconds) -> Energy {
        let mut energy = self.smooth_value(&it.x, seconds);
        timed(&mut seconds.contact, || self.add_contact_value(it, &mut energy));
        if let Some(equality) = &self.equality {
            energy.add(equality.value(&it.x));
        }
        energy
    }

    /// Adds s_c (Ψ_contact + Ψ_friction).
    pub fn add_contact_value(&self, it: &Iterate, energy: &mut Energy) {
        let (x, scale) = (&it.x, self.contact_scale);
        energy.add(scale * self.barrier.set_value(&it.active, x));
        energy.add(scale * self.friction.value(x, &self.friction_reference));
        energy.add(scale * self.constraints.value(x));
    }

    /// E(x) without contact, friction and equality constraints.
    pub fn smooth_value(&self, x: &[Vec3], seconds: &mut PhaseSeconds) -> Energy {
        let mut energy = Energy::default();
        energy.add(self.inertia(x));
        timed(&mut seconds.elasticity, || {
            energy.add(self.scale * self.model.elastic.value(x));
            energy.add(self.scale * self.thin.value(x));
        });
        let (springs, t) = (&self.model.loads.springs, self.time);
        energy.add(self.scale * spring::value(springs, t, x));
        energy.add(self.scale * self.pressures.value(x));
        let work = |(v, f): (usize, &Vec3)| f.dot(&(x[v] - self.x_tilde[v]));
        energy.add(-self.scale * self.static_forces.iter().enumerate().map(work).sum::<f64>());
        if let Some(damping) = &self.damping {
            energy.add(self.scale * damping.value(self.model, x, &self.inertial));
        }
        energy
    }

    /// x̃ − x for the vertices with inertia, m (`#V`).
    pub fn predicted_displacement(&self, x: &[Vec3]) -> Vec<Vec3> {
        let of = |v: usize| if self.inertial[v] { self.x_tilde[v] - x[v] } else { Vec3::zeros() };
        (0..x.len()).map(of).collect()
    }

    fn inertia(&self, x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        for v in 0..x.len() {
            if self.inertial[v] {
                sum += 0.5 * self.model.mass[v] * (x[v] - self.x_tilde[v]).norm_squared();
            }
        }
        sum
    }

    /// ∇E(x) with zero rows for vertices that stand still, kg m (`#V`).
    pub fn gradient(&self, it: &Iterate, seconds: &mut PhaseSeconds) -> Vec<Vec3> {
        let mut g = self.gradient_without_contact(&it.x, seconds);
        timed(&mut seconds.contact, || self.add_contact_gradient(it, &mut g));
        g
    }

    /// Adds s_c ∇(Ψ_contact + Ψ_friction), nothing to rows of vertices that stand still, kg m.
    pub fn add_contact_gradient(&self, it: &Iterate, g: &mut [Vec3]) {
        let contact = self.contact_gradient(it);
        for v in (0..g.len()).filter(|&v| self.free[v]) {
            g[v] += self.contact_scale * contact[v];
        }
    }

    /// ∇(Ψ_contact + Ψ_friction), N (`#V`): minus the contact forces.
    pub fn contact_gradient(&self, it: &Iterate) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); it.x.len()];
        self.barrier.add_gradient(&it.active, &it.x, &mut g);
        self.constraints.add_gradient(&it.x, &mut g);
        self.friction.add_gradient(&it.x, &self.friction_reference, &mut g);
        g
    }

    /// Contact and friction forces at the end of a step, N (`#V`): of the barrier, or the multipliers
    /// of the barrier-free method.
    pub fn contact_forces(&self, it: &Iterate) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); it.x.len()];
        self.barrier.add_gradient(&it.active, &it.x, &mut g);
        self.constraints.add_forces(&mut g);
        self.friction.add_gradient(&it.x, &self.friction_reference, &mut g);
        g.iter().map(|g| -g).collect()
    }

    /// Accelerations of the deformable vertices by all forces but contact and friction, m/s² (`#V`).
    pub fn accelerations_without_contact(
        &self,
        x: &[Vec3],
        seconds: &mut PhaseSeconds,
    ) -> Vec<Vec3> {
        let mut a = self.internal_gradient(x, seconds);
        for v in 0..x.len() {
            a[v] = match self.model.deformable[v] {
                true => self.acceleration[v] - a[v] / self.model.mass[v],
                false => Vec3::zeros(),
            };
        }
        a
    }

    /// ∇(Ψ_elastic + Ψ_springs + Ψ_pressure + Ψ_damping), N (`#V`).
    fn internal_gradient(&self, x: &[Vec3], seconds: &mut PhaseSeconds) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); x.len()];
        timed(&mut seconds.elasticity, || {
            self.model.elastic.add_gradient(x, &mut g);
            self.thin.add_gradient(x, &mut g);
        });
        spring::add_gradient(&self.model.loads.springs, self.time, x, &mut g);
        self.pressures.add_gradient(x, &mut g);
        if let Some(damping) = &self.damping {
            damping.add_gradient(self.model, x, &self.inertial, &mut g);
        }
        g
    }

    /// ∇E(x) without contact and friction, kg m (`#V`).
    pub fn gradient_without_contact(&self, x: &[Vec3], seconds: &mut PhaseSeconds) -> Vec<Vec3> {
        let mut g = self.internal_gradient(x, seconds);
        g.iter_mut().zip(&self.static_forces).for_each(|(g, f)| *g -= f);
        for v in 0..x.len() {
            g[v] *= self.scale;
            if self.inertial[v] {
                g[v] += self.model.mass[v] * (x[v] - self.x_tilde[v]);
            }
        }
        if let Some(equality) = &self.equality {
            equality.add_gradient(x, &mut g);
        }
        for v in (0..x.len()).filter(|&v| !self.free[v]) {
            g[v] = Vec3::zeros();
        }
        g
    }

    /// Sets κ for the step from `it`: the fixed one, or where the barrier's gradient best balances the
    /// rest of the potential's, within the range that conditioning allows [Li 2020, suppl. F], and at
    /// least what the load needs.
    ///
    /// `start` is where the last step ended, with a κ of `before` (0 at the very start): the contacts
    /// there tell the load.
    pub fn init_stiffness(
        &mut self,
        start: &Iterate,
        before: f64,
        it: &Iterate,
        seconds: &mut PhaseSeconds,
    ) {
        let contact = &self.model.resolved.settings.contact;
        if contact.stiffness.is_some() {
            return;
        }
        let load = contact.adaptation == Adaptation::Load;
        self.balance_stiffness(it, seconds);
        if load {
            let needed = timed(&mut seconds.contact, || {
                let acted = BarrierPotential { kappa: before, ..self.barrier };
                stiffness::load(&acted, &start.active, &start.x)
            });
            let needed = needed.max(self.stiffness_to_stop(&it.x));
            self.barrier.kappa = self.barrier.kappa.max(stiffness::follow(before, needed));
        }
    }

    /// κ with which a contact at half of d̂ takes the way to x̃ from a vertex of mean inertia: what a
    /// new contact needs before there is a load to tell.
    fn stiffness_to_stop(&self, x: &[Vec3]) -> f64 {
        let inertial = (0..self.model.vertex_count()).filter(|&v| self.inertial[v]);
        let (sum, count) = inertial.fold((0.0, 0_u32), |(sum, n), v| {
            (sum + self.model.mass[v] * (self.x_tilde[v] - x[v]).norm(), n + 1)
        });
        let force = sum / (f64::from(count.max(1)) * self.contact_scale);
        let weight = mean_weight(self.model);
        force / self.barrier.unit_force(LOADED_GAP * self.barrier.d_hat, weight, 0.0)
    }

    fn balance_stiffness(&mut self, it: &Iterate, seconds: &mut PhaseSeconds) {
        let mut other = self.gradient_without_contact(&it.x, seconds);
        let mut contact = vec![Vec3::zeros(); it.x.len()];
        self.barrier.kappa = 1.0;
        self.barrier.add_gradient(&it.active, &it.x, &mut contact);
        // what pulls prescribed vertices to their targets is no force for contact to balance
        for v in 0..contact.len() {
            if self.prescribed[v] {
                (other[v], contact[v]) = (Vec3::zeros(), Vec3::zeros());
            }
            other[v] /= self.contact_scale;
        }
        self.barrier.kappa = self.stiffness.balance(&other, &contact);
    }

    /// Contacts that are so close that κ has to grow if they come closer still.
    pub fn close_contacts(&self, it: &Iterate) -> CloseContacts {
        CloseContacts::new(&it.active, &it.x, self.model.length)
    }

    /// Doubles κ where a contact was too close `before` and has come closer [Li 2020, suppl. F].
    pub fn stiffen(&mut self, before: &CloseContacts, it: &Iterate) {
        let fixed = self.model.resolved.settings.contact.stiffness.is_some();
        if !fixed && self.close_contacts(it).any_shrank(before) {
            self.barrier.kappa = self.stiffness.doubled(self.barrier.kappa);
        }
    }

    /// Takes the normal forces and sliding directions of friction from an iterate whose contacts
    /// bear their forces with the stiffness `kappa`.
    pub fn lag_friction(&mut self, it: &Iterate, kappa: f64) {
        if !self.model.has_friction {
            return;
        }
        let barrier = BarrierPotential { kappa, ..self.barrier };
        let empty = self.friction_without_contacts();
        let (set, materials) = (&it.active, &self.model.friction);
        let (smoothing, eps) = (empty.smoothing, empty.eps);
        let built = FrictionSet::build(set, &barrier, &it.x, materials, smoothing, eps);
        self.friction = FrictionSet { contacts: built.contacts, ..empty };
    }

    fn friction_without_contacts(&self) -> FrictionSet {
        FrictionSet {
            contacts: Vec::new(),
            smoothing: Smoothing::C1,
            eps: self.model.resolved.stick_speed * self.friction_time,
            half_space_smoothing: match self.model.resolved.settings.friction.half_space_transition
            {
                Transition::Quadratic => Smoothing::C1,
                Transition::Linear => Smoothing::C0,
            },
            secant: false,
        }
    }

    /// Takes friction from the multipliers, in the tangent planes of their linearisation
    /// [Zheng 2025, App. A].
    pub fn lag_friction_of_constraints(&mut self) {
        if !self.model.has_friction {
            return;
        }
        self.friction = FrictionSet {
            contacts: self.constraints.friction(&self.model.friction),
            ..self.friction_without_contacts()
        };
    }

    /// Takes friction anew where a constraint that carries force has none; whether one had not.
    pub fn lag_friction_of_new_constraints(&mut self) -> bool {
        let rubs = self.constraints.friction(&self.model.friction).len();
        let new = self.model.has_friction && rubs > self.friction.contacts.len();
        if new {
            self.lag_friction_of_constraints();
        }
        new
    }

    /// Constrains the moving prescribed vertices to their targets instead of moving them at once.
    pub fn constrain(&mut self, targets: &Targets, x: &[Vec3]) {
        for &v in &targets.moving {
            self.free[v as usize] = true;
        }
        self.equality = Some(Equality::new(self.model, targets, x));
    }

    /// Stops the vertices that were on their way where they are.
    pub fn release(&mut self) {
        if let Some(equality) = self.equality.take() {
            for &v in &equality.vertices {
                self.free[v as usize] = false;
            }
        }
    }

    /// The closest pair of an iterate in the words of the scene.
    pub fn describe_closest(&self, it: &Iterate) -> Option<String> {
        let closest = diagnosis::closest(it).into_iter().next()?;
        Some(format!("closest are {}", closest.describe(self.model)))
    }

    /// The constrained vertex that is furthest from its target.
    pub fn off_target(&self, it: &Iterate) -> Option<Culprit> {
        let (vertex, distance) = self.equality.as_ref()?.furthest(&it.x)?;
        Some(Culprit::OffTarget { vertex, distance })
    }

    /// Contacts, gap and stiffness of an iterate into the report.
    pub fn record(&self, it: &Iterate, report: &mut StepReport) {
        report.contacts = (it.active.len() + self.constraints.loaded()) as u64;
        let gap = it.active.min_gap(&it.x).min(self.constraints.min_gap());
        report.min_gap = gap.is_finite().then_some(gap);
        report.kappa = self.barrier.kappa;
        // an empty sum is −0
        report.contact_energy = self.barrier.set_value(&it.active, &it.x) + 0.0;
    }
}

/// Elements of shells and rods with the frames of a state.
pub(crate) fn thin_at(model: &Model, state: &State) -> ThinElements {
    let mut thin = model.thin.clone();
    model.rods.place(&mut thin, &state.directors, &state.frame_twists, &state.x);
    thin
}

/// Mean factor of a pair's barrier: 1, or under area weighting the mean weight times d̂/units(d̂²).
fn weight_factor(model: &Model, barrier: &BarrierPotential) -> f64 {
    match &model.weighting {
        Weighting::Count => 1.0,
        _ => {
            let d_hat = barrier.d_hat;
            mean_weight(model) * d_hat / barrier.barrier.units(d_hat * d_hat)
        }
    }
}

/// Mean weight of a pair: 1, or under area weighting that of a face–vertex pair, a quarter of the mean
/// vertex area, m².
fn mean_weight(model: &Model) -> f64 {
    let areas = match &model.weighting {
        Weighting::Count => return 1.0,
        Weighting::Area(areas) | Weighting::AreaWithoutDuplicates(areas, _) => areas,
    };
    let vertices: Vec<u32> =
        model.half_space_vertices.iter().flat_map(|(_, v)| v).copied().collect();
    let mean = vertices.iter().map(|&v| areas.vertex[v as usize]).sum::<f64>()
        / vertices.len().max(1) as f64;
    0.25 * mean
}
