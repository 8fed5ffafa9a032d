//! How well the forces on each body balance, which the length of a Newton direction cannot tell.
//!
//! Where contact or an element is very stiff, a direction is short although forces do not balance. So a minimisation
//! ends only where the gradient is small beside the forces that act, for each body by itself, so that a heavy neighbour
//! hides nothing of a light body.

use crate::iterate::Iterate;
use crate::potential::{Acting, IncrementalPotential};
use crate::thresholds::{RESULTANT, ROUNDING};
use standoff_linalg::{Mat3, Vec3};

/// How well the forces on the bodies balance at an iterate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Balance {
    /// The greatest ratio Σ‖∇E‖ / Σ a of all bodies, sums over a body's vertices. At a vertex, a is the sum of the
    /// magnitudes of all summands of ∇E: inertia, loads, every elastic energy, contact, friction; held vertices
    /// contribute their reactions.
    pub imbalance: f64,
    /// Σ‖∇E‖/s of that body, N.
    pub force: f64,
    /// Whether each body's ratio is at most the tolerance, and the resultant of its residuals is small beside what acts on it from
    /// outside, or these are rounding.
    pub is_met: bool,
}

impl Balance {
    /// The balance of a state that ends with the iterate, with the contact forces that it reports.
    pub fn of_state(potential: &IncrementalPotential<'_>, it: &Iterate, tolerance: f64) -> Self {
        let gradient = |it: &Iterate| gradient_of_state(potential, it);
        Self::by(potential, it, &gradient(it), gradient, tolerance)
    }

    /// The balance at `it`, where the gradient is `gradient`, against a `tolerance` of the ratio.
    pub fn new(
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        gradient: &[Vec3],
        tolerance: f64,
    ) -> Self {
        Self::by(potential, it, gradient, |it| potential.gradient(it), tolerance)
    }

    /// The balance where the gradient is `gradient`, which `again` computes elsewhere.
    fn by(
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        gradient: &[Vec3],
        again: impl Fn(&Iterate) -> Vec<Vec3>,
        tolerance: f64,
    ) -> Self {
        let sum = |of: &dyn Fn(usize) -> f64| sums_by_body(potential, of);
        let residual = sum(&|v| gradient[v].norm());
        let Acting { at_vertices, on_bodies } = potential.acting_forces(it);
        let acting = sum(&|v| at_vertices[v]);
        let mut worst = Self { is_met: true, ..Self::default() };
        for (residual, acting) in residual.iter().zip(&acting) {
            let ratio = residual / acting;
            if *residual > 0.0 && exceeds(ratio, worst.imbalance) {
                worst.imbalance = ratio;
                worst.force = residual / potential.context.contact_scale;
            }
        }
        let resultant = resultants(potential, gradient);
        let allowed = RESULTANT * tolerance;
        let is_met = |b: usize, noise: f64| {
            (residual[b] <= tolerance * acting[b] || residual[b] <= ROUNDING * noise)
                && (resultant[b] <= allowed * on_bodies[b] || resultant[b] <= ROUNDING * noise)
        };
        if !(0..residual.len()).all(|b| is_met(b, 0.0)) {
            let nearby = again(&rounded(potential, it));
            let noise = sum(&|v| (nearby[v] - gradient[v]).norm());
            worst.is_met = (0..residual.len()).all(|b| is_met(b, noise[b]));
        }
        worst
    }
}

/// ∇E at an iterate with the contact forces that a state which ends there reports.
pub fn gradient_of_state(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<Vec3> {
    let mut gradient = potential.gradient_without_contact(&it.x);
    let scale = potential.context.contact_scale;
    let mut forces = potential.contact_forces(it);
    potential.context.model.map.gather(&mut forces);
    potential.rails().project(&mut forces);
    for (v, g) in gradient.iter_mut().enumerate().filter(|(v, _)| potential.free()[*v]) {
        *g -= scale * forces[v];
    }
    gradient
}

/// Whether a ratio is above a limit; what is not a number is.
fn exceeds(ratio: f64, limit: f64) -> bool {
    ratio.is_nan() || ratio > limit
}

/// The magnitude of the sum of the gradient over each body that nothing holds, in which inner forces cancel; 0 for others.
fn resultants(potential: &IncrementalPotential<'_>, gradient: &[Vec3]) -> Vec<f64> {
    let model = potential.context.model;
    // an axis leaves a body free to go along it
    let along = |free: &Mat3| model.dimension.is_axisymmetric() && free[(1, 1)] == 1.0;
    let is_loose =
        |v: usize| potential.free()[v] && potential.rails().of(v as u32).is_none_or(along);
    let resultant = |unknowns: std::ops::Range<usize>| match unknowns.clone().all(is_loose) {
        true => model.dimension.of_whole(gradient[unknowns].iter().sum()).norm(),
        false => 0.0,
    };
    model.bodies.iter().map(|b| resultant(b.unknowns.clone())).collect()
}

/// Sums over the vertices of each body, the angles of its edges among them.
pub(super) fn sums_by_body(
    potential: &IncrementalPotential<'_>,
    of: &dyn Fn(usize) -> f64,
) -> Vec<f64> {
    let model = potential.context.model;
    let mut sums = vec![0.0; model.bodies.len()];
    for (v, &body) in model.body_of.iter().enumerate() {
        sums[body as usize] += of(v);
    }
    sums
}

/// The iterate with every coordinate moved by the last digit of the vertex's largest one, up and down in turn.
pub(super) fn rounded(potential: &IncrementalPotential<'_>, it: &Iterate) -> Iterate {
    let mut nearby = it.clone();
    let coordinates = if potential.context.model.dimension.is_planar() { 2 } else { 3 };
    for (v, x) in nearby.x.iter_mut().enumerate() {
        let digit = 0.5 * f64::EPSILON * x.amax();
        for k in 0..coordinates {
            x[k] += if (v + k) % 2 == 0 { digit } else { -digit };
        }
    }
    nearby
}
