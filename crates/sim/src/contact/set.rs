//! All contacts at given positions, and their energy.

use super::half_space::{HalfSpace, HalfSpaceContact, half_space_contacts};
use super::max_approximation;
use super::orientation::{OrientationSet, OrientationTerm};
use super::pair_forces::EachContact;
use super::pairs::{Contact, Found, MovedMesh, merge, narrow};
use super::potential::{BarrierHalfSpaces, BarrierPairs, BarrierPotential};
use super::weighting::Weighting;
use crate::energy::Term;
use rayon::prelude::*;
use standoff_geometry::broad_phase::Candidates;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// All active pairs at given positions, in an order that depends on the input alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContactSet {
    /// Pairs of mesh primitives in the order of [`PairKind`], each kind ordered by vertices (edge–edge
    /// and face–vertex in the candidates' order).
    pub contacts: Vec<Contact>,
    /// Vertices against half-spaces.
    pub half_space: Vec<HalfSpaceContact>,
    /// Contacts of the orientation-aware potential, which the others leave out.
    pub orientation: OrientationSet,
}

impl ContactSet {
    /// Pairs out of `candidates` with d² < (d̂ + ξ)² at positions `x` (`#V`), and vertices within
    /// reach of half-spaces.
    ///
    /// Face–vertex and edge–edge pairs reduce to the features that hold their closest points;
    /// equal reductions are merged and their weights summed [Li 2020 thesis, App. G].
    pub fn build(
        candidates: &Candidates,
        mesh: &CollisionMesh,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
        d_hat: f64,
        weighting: &Weighting,
    ) -> Self {
        let scene = MovedMesh { mesh, x, d_hat, weighting };
        let mut parts =
            narrow(&candidates.vertex_vertex, |&c, found| scene.vertex_vertex(c, found));
        parts.extend(narrow(&candidates.edge_vertex, |&c, found| scene.edge_vertex(c, found)));
        parts.extend(narrow(&candidates.edge_edge, |&c, found| scene.edge_edge(c, found)));
        parts.extend(narrow(&candidates.face_vertex, |&c, found| scene.face_vertex(c, found)));
        if let Weighting::AreaWithoutDuplicates(_, adjacency) = weighting {
            max_approximation::add_corrections(&scene, adjacency, candidates, &mut parts);
        }
        let mut found = Found::together(&parts);
        if let Weighting::AreaWithoutDuplicates(..) = weighting {
            merge(&mut found.edge_edge);
        }
        merge(&mut found.vertex_vertex);
        merge(&mut found.edge_vertex);
        let contacts = found.all();
        let half_space = half_space_contacts(mesh, half_spaces, x, d_hat, weighting);
        Self { contacts, half_space, orientation: OrientationSet::EMPTY }
    }

    /// Number of contacts of all sorts.
    pub fn len(&self) -> usize {
        self.contacts.len() + self.half_space.len() + self.orientation.len()
    }

    /// Whether nothing is in contact.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vertices in contact, with repetitions.
    pub fn touched(&self) -> impl Iterator<Item = u32> {
        let pairs = self.contacts.iter().flat_map(|c| c.stencil()).copied();
        let half_spaces = self.half_space.iter().map(|c| c.vertex);
        pairs.chain(half_spaces).chain(self.orientation.touched())
    }

    /// The pairs of one kind.
    pub fn of_kind(&self, kind: PairKind) -> &[Contact] {
        let start = self.contacts.partition_point(|c| c.kind < kind);
        let end = self.contacts.partition_point(|c| c.kind <= kind);
        &self.contacts[start..end]
    }

    /// Smallest gap d − ξ at positions `x`, m; infinite where nothing is in contact.
    pub fn min_gap(&self, x: &[Vec3]) -> f64 {
        let pairs = self
            .contacts
            .par_iter()
            .map(|c| c.d2(&c.gather(x)).sqrt() - c.thickness)
            .reduce(|| f64::INFINITY, f64::min);
        let planes = self
            .half_space
            .iter()
            .map(|c| c.plane.signed_distance(&x[c.vertex as usize]) - c.thickness);
        planes.fold(pairs, f64::min).min(self.orientation.min_gap(x))
    }

    /// Smallest squared distance at positions `x`, m²; infinite where nothing is in contact.
    pub fn min_d2(&self, x: &[Vec3]) -> f64 {
        let pairs =
            self.contacts.par_iter().map(|c| c.d2(&c.gather(x))).reduce(|| f64::INFINITY, f64::min);
        let pairs = pairs.min(self.orientation.min_d2(x));
        self.half_space.iter().map(|c| c.d2(&x[c.vertex as usize])).fold(pairs, f64::min)
    }
}

impl BarrierPotential {
    /// The energies of a set of contacts: those of pairs, those against half-spaces, and those of the
    /// orientation-aware potential.
    pub fn terms<'a>(
        &'a self,
        set: &'a ContactSet,
    ) -> (BarrierPairs<'a>, BarrierHalfSpaces<'a>, OrientationTerm<'a>) {
        let pairs = BarrierPairs { potential: self, contacts: &set.contacts };
        let half_spaces = BarrierHalfSpaces { potential: self, contacts: &set.half_space };
        (pairs, half_spaces, set.orientation.term(self.orientation_kappa(set)))
    }

    /// Stiffness of the orientation-aware contacts of a set, Pa m^(r−1).
    pub fn orientation_kappa(&self, set: &ContactSet) -> f64 {
        self.kappa * set.orientation.stiffness_ratio()
    }

    /// Energy of all contacts at positions `x` (`#V`), J. The order of the sum is fixed.
    pub fn set_value(&self, set: &ContactSet, x: &[Vec3]) -> f64 {
        let (pairs, half_spaces, oriented) = self.terms(set);
        pairs.value(x) + half_spaces.value(x) + oriented.value(x)
    }

    /// The gradient of each contact, in the same order.
    pub fn each_contact(&self, set: &ContactSet, x: &[Vec3], call: &mut EachContact<'_>) {
        let (pairs, half_spaces, oriented) = self.terms(set);
        pairs.each_contact(x, call);
        half_spaces.each_contact(x, call);
        oriented.each_contact(x, call);
    }

    /// Adds the gradient of the energy of all contacts to `gradient` (`#V`), N, in a fixed order.
    pub fn add_gradient(&self, set: &ContactSet, x: &[Vec3], gradient: &mut [Vec3]) {
        let (pairs, half_spaces, oriented) = self.terms(set);
        pairs.add_gradient(x, gradient);
        half_spaces.add_gradient(x, gradient);
        oriented.add_gradient(x, gradient);
    }
}
