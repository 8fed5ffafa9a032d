//! Friction as a term of the potential, which owns what is lagged.

use super::friction::{FrictionContact, FrictionMaterials, FrictionSet};
use super::pair_forces::EachContact;
use super::potential::BarrierPotential;
use super::set::ContactSet;
use crate::energy::{Projection, Role, Term};
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count};
use std::collections::HashSet;
use std::ops::Range;

/// The friction of a step as an energy of positions.
#[derive(Debug, Clone)]
pub struct Friction {
    /// The contacts.
    set: FrictionSet,
    /// The same before forces and frames were taken last.
    before: FrictionSet,
    /// Where each vertex's velocity vanishes: friction acts on the displacement from here (`#V`, m).
    reference: Vec<Vec3>,
}

impl Friction {
    /// The friction of `set` on displacements from `reference` (`#V`, m).
    pub fn new(set: FrictionSet, reference: Vec<Vec3>) -> Self {
        Self { set, before: FrictionSet::default(), reference }
    }

    /// Whether no contact has friction.
    pub fn is_idle(&self) -> bool {
        self.set.contacts.is_empty()
    }

    /// Takes forces and frames from the contacts in `set` at positions `x`, which bear their forces with `barrier`.
    pub fn lag(
        &mut self,
        set: &ContactSet,
        barrier: &BarrierPotential,
        x: &[Vec3],
        materials: &FrictionMaterials,
    ) {
        let lagged = self.set.lagged(set, barrier, x, materials);
        self.before = std::mem::replace(&mut self.set, lagged);
    }

    /// Has these contacts instead.
    pub fn replace(&mut self, contacts: Vec<FrictionContact>) {
        self.set = FrictionSet { contacts, secant: false, ..self.set };
    }

    /// Adds those of the contacts that have no friction yet; whether there were any.
    pub fn add_new(&mut self, mut contacts: Vec<FrictionContact>) -> bool {
        let identity = |c: &FrictionContact| (c.key, c.vertices);
        let known: HashSet<_> = self.set.contacts.iter().map(identity).collect();
        contacts.retain(|c| !known.contains(&identity(c)));
        let found = !contacts.is_empty();
        self.set.contacts.append(&mut contacts);
        found
    }

    /// Goes over to the forces that were taken last only by the part `weight`, so that lagging settles.
    pub fn relax(&mut self, weight: f64) {
        self.set.relax(&self.before, weight);
    }

    /// Notes the forces that the direction `p` from `x` forecasts, see [`FrictionSet::forecast`].
    pub fn forecast(&mut self, x: &[Vec3], p: &[Vec3]) {
        self.set.forecast(x, &self.reference, p);
    }

    /// Whether Hessians are those of secants from now on, see [`FrictionSet::secant`].
    pub fn take_secants(&mut self, secant: bool) {
        self.set.secant = secant;
    }

    /// Makes friction convex for positions near `x`, or as it is again, see [`FrictionSet::take_tangents`].
    pub fn take_tangents(&mut self, x: Option<&[Vec3]>) {
        self.set.take_tangents(x, &self.reference);
    }

    /// Whether the friction of some contact falls with its slip at `x`, so that the potential is not convex.
    pub fn is_falling(&self, x: &[Vec3]) -> bool {
        self.set.is_falling(x, &self.reference)
    }

    /// The gradient of each contact.
    pub fn each_contact(&self, x: &[Vec3], call: &mut EachContact<'_>) {
        self.set.each_contact(x, &self.reference, call);
    }
}

impl Term for Friction {
    fn name(&self) -> &str {
        "friction"
    }

    fn role(&self) -> Role {
        Role::Friction
    }

    fn stencils(&self) -> Stencils<'_> {
        self.set.contacts.iter().map(|c| c.vertices).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        self.set.value(x, &self.reference)
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.set.add_gradient(x, &self.reference, gradient);
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let contacts = self.set.contacts[range].par_iter().with_min_len(16);
        let blocks = out.par_chunks_mut(block_count(4));
        contacts.zip(blocks).for_each(|(c, out)| {
            let project = projection.applies_to(c.stencil());
            self.set.contact_hessian(c, x, &self.reference, project, out);
        });
    }
}
