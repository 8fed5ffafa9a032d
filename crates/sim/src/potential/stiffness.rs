//! How the barrier stiffness κ is chosen at the start of a step and adapted during it.

use super::IncrementalPotential;
use crate::clock::Phase;
use crate::contact::stiffness::{
    ABSOLUTE_CLOSE_DISTANCE, CLOSE_DISTANCE, CloseContacts, Closeness, LOADED_GAP, MASS_RATIO,
    StiffnessRange, kappa_within_slack, load,
};
use crate::contact::{BarrierPotential, Weighting};
use crate::context::StepContext;
use crate::definition::settings::{Adaptation, ThicknessBarrier};
use crate::iterate::Iterate;
use crate::model::Model;
use crate::thresholds::{FIRST_CONTACT, HARDEST_CONTACT};
use standoff_linalg::Vec3;

/// The rule by which κ is adapted in one step; none where the scene fixes it, or before κ is set.
#[derive(Debug, Clone, Default)]
pub(super) struct Adapting {
    range: Option<StiffnessRange>,
    /// Contacts that were very close before the last iteration.
    close: CloseContacts,
}

impl Adapting {
    /// The rule of a step.
    fn new(potential: &IncrementalPotential<'_>) -> Self {
        let context = &potential.context;
        let (model, barrier) = (context.model, &potential.barrier);
        let scale = inertia_scale(context);
        let mass = model.mean_mass / scale / weight_factor(model, barrier);
        let settings = &context.settings.contact;
        let (law, d_hat) = (barrier.barrier, context.d_hat);
        let thickness = match settings.thickness_barrier {
            ThicknessBarrier::Even => 0.0,
            ThicknessBarrier::Published => greatest_thickness(model),
        };
        let range = || match settings.adaptation {
            Adaptation::Load | Adaptation::Conditioning => {
                StiffnessRange::new(law, d_hat, thickness, model.length, mass, MASS_RATIO)
            }
            Adaptation::Mass => StiffnessRange::by_mass(law, d_hat, mass),
        };
        let fixed = settings.stiffness.is_some();
        Self { range: (!fixed).then(range), close: CloseContacts::default() }
    }
}

impl IncrementalPotential<'_> {
    /// Sets κ for the step from `it`: the fixed one, or where the barrier's gradient best balances the
    /// rest of the potential's, within the range that conditioning allows [Li 2020, suppl. F], and at
    /// least what the load needs. By the mass alone, κ stays as often doubled as it was.
    ///
    /// `start` is where the last step ended, with a κ of `before` (0 at the very start): the contacts
    /// there tell the load.
    pub fn set_stiffness(&mut self, start: &Iterate, before: f64, it: &Iterate) {
        self.adapting = Adapting::new(self);
        let Some(range) = self.adapting.range else { return };
        if self.follows_mass() {
            self.barrier.kappa = before.max(range.min).min(range.max);
            return;
        }
        balance(&range, self, it);
        if self.follows_load() {
            let needed = self.context.clock.time(Phase::Contact, || {
                let acted = BarrierPotential { kappa: before, ..self.barrier };
                load(&acted, &start.contacts, &start.x)
            });
            let needed = needed.max(stiffness_to_stop(self, &it.x));
            // without inertia, nothing tells the load of the first step but how stiff the bodies are
            let needed = match before == 0.0 && !self.context.integrator.inertial() {
                true => needed.max(kappa_as_stiff_as(self, FIRST_CONTACT)),
                false => needed,
            };
            let needed = kappa_within_slack(before, needed).min(bound(self, &range));
            self.barrier.kappa = self.barrier.kappa.max(needed);
        }
    }

    /// Goes over to another contact distance with its contacts in `it`, and to a κ with which they bear at a loaded gap what those
    /// before did at one with a κ of `needed`.
    pub fn set_contact_distance(&mut self, d_hat: f64, needed: f64, it: &Iterate) {
        let before = BarrierPotential { kappa: needed, ..self.barrier };
        let former = self.adapting.range;
        (self.context.d_hat, self.barrier.d_hat) = (d_hat, d_hat);
        self.adapting = Adapting::new(self);
        let Some(range) = self.adapting.range else { return };
        if let Some(former) = former.filter(|_| self.follows_mass()) {
            self.barrier.kappa *= range.min / former.min;
            return;
        }
        balance(&range, self, it);
        if self.follows_load() {
            let weight = mean_weight(self.context.model);
            let force = |b: &BarrierPotential| b.unit_force(LOADED_GAP * b.d_hat, weight, 0.0);
            let needed = before.kappa * force(&before) / force(&self.barrier);
            let needed = needed.min(bound(self, &range));
            self.barrier.kappa = self.barrier.kappa.max(needed);
        }
    }

    /// Takes over a κ from where it was adapted before.
    pub fn take_stiffness(&mut self, kappa: f64) {
        self.adapting = Adapting::new(self);
        self.barrier.kappa = kappa;
    }

    /// Sets κ to the least of its range, from which it doubles where contacts come close.
    pub fn set_least_stiffness(&mut self) {
        if let Some(range) = &self.adapting.range {
            self.barrier.kappa = range.min;
        }
    }

    /// Raises κ to what bears `force` (N) at a loaded gap, where the load is what κ follows.
    pub fn raise_stiffness(&mut self, force: f64) {
        let Some(range) = self.adapting.range.filter(|_| self.follows_load()) else { return };
        let (barrier, weight) = (&self.barrier, mean_weight(self.context.model));
        let unit = barrier.unit_force(LOADED_GAP * barrier.d_hat, weight, 0.0);
        let needed = (force / unit).min(bound(self, &range));
        self.barrier.kappa = self.barrier.kappa.max(needed);
    }

    /// The greatest κ that is chosen in the step; none where the scene gives κ.
    pub fn greatest_stiffness(&self) -> Option<f64> {
        let range = Adapting::new(self).range?;
        Some(match self.follows_load() {
            true => range.max.max(bound(self, &range)),
            false => range.max,
        })
    }

    fn follows_load(&self) -> bool {
        self.context.settings.contact.adaptation == Adaptation::Load
    }

    fn follows_mass(&self) -> bool {
        self.context.settings.contact.adaptation == Adaptation::Mass
    }

    fn closeness(&self) -> Closeness {
        match self.follows_mass() {
            true => Closeness::Distance(ABSOLUTE_CLOSE_DISTANCE),
            false => Closeness::Gap(CLOSE_DISTANCE * self.context.model.length),
        }
    }

    /// An iteration begins at `it`: notes which contacts are very close.
    pub fn begin_iteration(&mut self, it: &Iterate) {
        if self.adapting.range.is_some() {
            self.adapting.close = CloseContacts::new(&it.contacts, &it.x, self.closeness());
        }
    }

    /// Doubles κ after an iteration where a contact was too close before and has come closer
    /// [Li 2020, suppl. F]; whether it did.
    pub(super) fn adapt_stiffness(&mut self, it: &Iterate) -> bool {
        let Adapting { range: Some(range), close } = &self.adapting else { return false };
        // most often none was close, and what is now does not matter
        if close.is_empty() {
            return false;
        }
        let before = self.barrier.kappa;
        let now = CloseContacts::new(&it.contacts, &it.x, self.closeness());
        if now.any_shrank(close) {
            let max = match self.follows_load() {
                // the published range follows from inertia, beside which what a slow press squeezes may be far stiffer
                true => range.max.max(kappa_as_stiff_as(self, 1.0)),
                false => range.max,
            };
            self.barrier.kappa = StiffnessRange { max, ..*range }.doubled(before);
        }
        before != self.barrier.kappa
    }
}

/// Scale of mass in a stiffness, s²: that of contact, in quasi-static steps the one that makes displacements speeds.
fn inertia_scale(context: &StepContext<'_>) -> f64 {
    match context.integrator.inertial() {
        true => context.contact_scale,
        false => context.speed_time * context.speed_time,
    }
}

/// The greatest κ: a contact at half of d̂ is at most [`HARDEST_CONTACT`] times as stiff as the stiffest vertex, or κ is the least that
/// conditioning asks for. A greater one would only add round-off.
fn bound(potential: &IncrementalPotential<'_>, range: &StiffnessRange) -> f64 {
    kappa_as_stiff_as(potential, HARDEST_CONTACT).max(range.min)
}

/// κ with which a contact at half of d̂ is so many times as stiff as the stiffest vertex, by its elasticity and its inertia.
fn kappa_as_stiff_as(potential: &IncrementalPotential<'_>, times: f64) -> f64 {
    let (context, barrier) = (&potential.context, &potential.barrier);
    let model = context.model;
    let vertex = model.stiffest + model.mean_mass / inertia_scale(context);
    times * vertex / barrier.unit_stiffness(LOADED_GAP * barrier.d_hat, mean_weight(model))
}

fn balance(range: &StiffnessRange, potential: &mut IncrementalPotential<'_>, it: &Iterate) {
    let mut other = potential.gradient_without_contact(&it.x);
    let mut contact = vec![Vec3::zeros(); it.x.len()];
    potential.barrier.kappa = 1.0;
    potential.barrier.add_gradient(&it.contacts, &it.x, &mut contact);
    potential.context.model.map.gather(&mut contact);
    potential.rails().project(&mut contact);
    // what pulls prescribed vertices to their targets is no force for contact to balance
    for v in 0..contact.len() {
        if potential.prescribed[v] {
            (other[v], contact[v]) = (Vec3::zeros(), Vec3::zeros());
        }
        other[v] /= potential.context.contact_scale;
    }
    potential.barrier.kappa = range.balance(&other, &contact);
}

/// κ with which a contact at half of d̂ moves a vertex of mean inertia from where it is to its predicted
/// position x̃: what a new contact needs before there is a load to tell.
fn stiffness_to_stop(potential: &IncrementalPotential<'_>, x: &[Vec3]) -> f64 {
    let (model, barrier) = (potential.context.model, &potential.barrier);
    let displacement = potential.predicted_displacement(x);
    let inertial = (0..model.vertex_count()).filter(|&v| potential.inertial[v]);
    let (sum, count) = inertial
        .fold((0.0, 0_u32), |(sum, n), v| (sum + model.mass[v] * displacement[v].norm(), n + 1));
    let force = sum / (f64::from(count.max(1)) * potential.context.contact_scale);
    force / barrier.unit_force(LOADED_GAP * barrier.d_hat, mean_weight(model), 0.0)
}

/// The greatest thickness ξ of the deformable bodies, m.
fn greatest_thickness(model: &Model) -> f64 {
    let half = model.collision.half_thickness.iter().zip(&model.deformable);
    half.filter(|(_, deformable)| **deformable).map(|(half, _)| 2.0 * half).fold(0.0, f64::max)
}

/// Mean factor of a pair's barrier: 1, or under area weighting the mean weight times d̂/units(d̂²).
fn weight_factor(model: &Model, barrier: &BarrierPotential) -> f64 {
    match &model.weighting {
        Weighting::Count => 1.0,
        Weighting::Rings(_) => mean_weight(model),
        _ => {
            let d_hat = barrier.d_hat;
            mean_weight(model) * d_hat / barrier.barrier.units(d_hat * d_hat)
        }
    }
}

/// Mean weight of a pair: 1, of rings the mean circumference (m), or under area weighting that of a face–vertex pair, a quarter of the mean
/// vertex area, m².
pub(crate) fn mean_weight(model: &Model) -> f64 {
    let (of, share) = match &model.weighting {
        Weighting::Count => return 1.0,
        Weighting::Rings(rings) => (rings, 1.0),
        Weighting::Area(areas) | Weighting::AreaWithoutDuplicates(areas, _) => {
            (&areas.vertex, 0.25)
        }
    };
    let vertices: Vec<u32> =
        model.half_space_vertices.iter().flat_map(|(_, v)| v).copied().collect();
    let mean = vertices.iter().map(|&v| of[v as usize]).sum::<f64>() / vertices.len().max(1) as f64;
    share * mean
}
