//! The contacts of a state as data: what touches what, where, how close and how hard.

use crate::clock::Clock;
use crate::contact::PairKind;
use crate::contact::{BarrierPotential, Constraint, ConstraintKey, ContactSet};
use crate::definition::settings::Method;
use crate::detector::Detector;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::state::State;
use standoff_geometry::{Pair, UNUSED};
use standoff_linalg::Vec3;

/// Two primitives, or a vertex and a half-space, that are closer than d̂ beyond their thickness.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRecord {
    /// Scene-wide vertices of the first primitive, then of the second; a half-space has none.
    pub vertices: Vec<u32>,
    /// How many of them belong to the first primitive.
    pub first: usize,
    /// The half-space that is the second one, by index.
    pub half_space: Option<u32>,
    /// Closest points on the first and on the second, m.
    pub points: [Vec3; 2],
    /// Unit vector from the second to the first.
    pub normal: Vec3,
    /// Distance beyond the thickness, m.
    pub gap: f64,
    /// Magnitude of the normal force, N.
    pub force: f64,
}

/// A contact before it is turned into a record: weights are those of the offset between the closest points,
/// Σ wᵢ xᵢ, positive on one side and negative on the other.
struct Found<'a> {
    vertices: &'a [u32],
    weights: &'a [f64],
    first: usize,
    thickness: f64,
    force: f64,
}

impl Found<'_> {
    fn record(&self, x: &[Vec3]) -> ContactRecord {
        let point = |range: std::ops::Range<usize>| {
            range.map(|i| x[self.vertices[i] as usize] * self.weights[i].abs()).sum::<Vec3>()
        };
        let points = [point(0..self.first), point(self.first..self.vertices.len())];
        let (offset, distance) = (points[0] - points[1], (points[0] - points[1]).norm());
        ContactRecord {
            vertices: self.vertices.to_vec(),
            first: self.first,
            half_space: None,
            points,
            normal: offset / distance,
            gap: distance - self.thickness,
            force: self.force,
        }
    }
}

/// Every contact at the positions of a state, with the normal forces at the end of the last step (zero at
/// the start). Of the barrier-free method those of its active set.
pub fn contacts(model: &Model, state: &State) -> Vec<ContactRecord> {
    let clock = Clock::start();
    let potential = IncrementalPotential::at_start(model, state, &clock);
    let barrier = BarrierPotential { kappa: state.kappa, ..*potential.barrier() };
    let mut detector = Detector::new(model.resolved.d_hat);
    detector.sweep(model, &state.x, &vec![Vec3::zeros(); state.x.len()], 0.0);
    match model.resolved.settings.solver.method {
        Method::Barrier | Method::Dot | Method::LbfgsPd | Method::AdmmPd => {
            repelled(model, state, &detector.contacts(model, &state.x), &barrier)
        }
        Method::BarrierFree => constrained(model, state),
    }
}

/// Contacts of the barrier.
fn repelled(
    model: &Model,
    state: &State,
    set: &ContactSet,
    barrier: &BarrierPotential,
) -> Vec<ContactRecord> {
    let x = &state.x;
    let mut all: Vec<ContactRecord> = Vec::new();
    for c in &set.contacts {
        let at = c.gather(x);
        let weights = &c.closest(&at).weights[..c.vertex_count()];
        let (first, thickness) = (c.second(), c.thickness);
        let force = barrier.force_magnitude(c, &at);
        all.push(Found { vertices: c.stencil(), weights, first, thickness, force }.record(x));
    }
    for c in &set.half_space {
        let force = barrier.half_space_force_magnitude(c, &x[c.vertex as usize]);
        all.push(on_half_space(model, x, c.vertex, c.half_space, c.thickness, force));
    }
    for c in set.orientation.loaded(barrier.orientation_kappa(set), x) {
        let (vertices, weights) = (&c.core.vertices[..c.core.n], &c.core.weights[..c.core.n]);
        let thickness = c.core.distance - c.gap;
        if c.kind.is_none() {
            all.push(on_half_space(model, x, vertices[0], c.half_space, thickness, c.force));
            continue;
        }
        let first = if c.kind == Some(PairKind::EdgeEdge) { 2 } else { vertices.len() - 1 };
        all.push(Found { vertices, weights, first, thickness, force: c.force }.record(x));
    }
    all
}

/// Contacts of the barrier-free method: its active set.
fn constrained(model: &Model, state: &State) -> Vec<ContactRecord> {
    let (mesh, x) = (&model.collision, &state.x);
    let record = |c: &Constraint| match c.key {
        ConstraintKey::HalfSpace(vertex, half_space) => {
            let half = mesh.half_thickness.get(vertex as usize).copied().unwrap_or(0.0);
            on_half_space(model, x, vertex, half_space, half, c.force)
        }
        ConstraintKey::Pair(pair) => pair_record(model, pair, x, c.force),
    };
    state.constraints.iter().map(record).collect()
}

fn pair_record(model: &Model, pair: Pair, x: &[Vec3], force: f64) -> ContactRecord {
    let stencil = pair.stencil(&model.collision);
    let closest = pair.kind.closest(&stencil.gather(x));
    let n = stencil.vertices.iter().filter(|v| **v != UNUSED).count();
    let (vertices, weights) = (&stencil.vertices[..n], &closest.weights[..n]);
    let (first, thickness) = (pair.kind.second(), pair.thickness(&model.collision));
    Found { vertices, weights, first, thickness, force }.record(x)
}

fn on_half_space(
    model: &Model,
    x: &[Vec3],
    vertex: u32,
    half_space: u32,
    thickness: f64,
    force: f64,
) -> ContactRecord {
    let plane = &model.half_spaces[half_space as usize];
    let p = x[vertex as usize];
    let distance = plane.signed_distance(&p);
    ContactRecord {
        vertices: vec![vertex],
        first: 1,
        half_space: Some(half_space),
        points: [p, p - plane.normal * distance],
        normal: plane.normal,
        gap: distance - thickness,
        force,
    }
}
