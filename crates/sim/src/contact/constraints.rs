//! The explicit active set of the barrier-free method [Zheng 2025, §4.2–4.3]: linearised distance
//! constraints with Lagrange multipliers.
//!
//! At a state x without intersections, constraint i says
//!
//! cᵢ(x̂) = dᵢ(x) − ξᵢ + ∇dᵢ(x)·(x̂ − x) − δ ≥ 0,
//!
//! which has a sign also where x̂ penetrates. With slack variables eliminated, the augmented Lagrangian
//! adds φ(cᵢ), φ(c) = M/2 max(0, Λᵢ/M − c)² − Λᵢ²/(2M), to the potential: Λᵢ is the contact force
//! (N) so far, M the stiffness (N/m). γᵢ ∈ (0, 1] is a constraint's memory: idle ones fade and are dropped.
//! Constant terms are left out: φ(c) = M/2 max(0, Λᵢ/M − c)².
//!
//! The distance of two edges is not differentiable where they are parallel, their closest points jump from
//! one end to the other. Constraints of nearly parallel edges are therefore scaled by the mollifier of the
//! barrier, and their neighbours of a face and a vertex carry the contact [Li 2020, §6.2].

// long: the augmented Lagrangian of one kind of constraint; its functions share the linearisation

use super::friction::{FrictionContact, FrictionKey, FrictionMaterials};
use super::half_space::HalfSpace;
use super::pair_forces::EachContact;
use crate::energy::{Projection, Role, Term};
use rayon::prelude::*;
use standoff_geometry::distance::{mollifier, plane_basis};
use standoff_geometry::{CollisionMesh, Pair, PairKind, UNUSED};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// γ below which a constraint is dropped [Zheng 2025, Alg. 3].
const DROP: f64 = 0.01;

/// The identity of a constraint: what it keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConstraintKey {
    /// Two primitives of the collision mesh.
    Pair(Pair),
    /// A vertex and a half-space, by index.
    HalfSpace(u32, u32),
}

/// A constraint of the active set: part of the state between steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// Its identity.
    pub key: ConstraintKey,
    /// Lagrange multiplier Λ ≥ 0: the contact force, N.
    pub force: f64,
    /// Decay factor γ.
    pub decay: f64,
}

/// A constraint's linearised distance.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plane {
    vertices: [u32; 4],
    /// Weights of the vertices in the offset between the closest points; their sum is 0 for pairs.
    weights: [f64; 4],
    /// Unit vector from the second primitive to the first: ∂d/∂xᵢ = weightᵢ · normal.
    normal: Vec3,
    /// Offset between the closest points at x, Σ weightᵢ xᵢ (a half-space's origin subtracted).
    offset: Vec3,
    /// d(x) − ξ, m.
    gap: f64,
    /// The gap where constraints were linearised last, this one or others, m.
    current: f64,
    /// Gap that the constraint asks for: δ, or less where the step began closer, m.
    target_gap: f64,
    /// A half-space's origin, zero for pairs.
    origin: Vec3,
    /// Mollifier of nearly parallel edges, 1 for all others.
    mollifier: f64,
}

impl Plane {
    /// Of a constraint that was not linearised yet.
    const UNKNOWN: Self = Self {
        vertices: [UNUSED; 4],
        weights: [0.0; 4],
        normal: Vec3::new(0.0, 0.0, 0.0),
        offset: Vec3::new(0.0, 0.0, 0.0),
        gap: 0.0,
        current: 0.0,
        target_gap: f64::NAN,
        origin: Vec3::new(0.0, 0.0, 0.0),
        mollifier: 1.0,
    };

    /// c + δ at positions `x̂`.
    #[inline]
    fn gap(&self, x: &[Vec3]) -> f64 {
        let mut offset = -self.origin;
        for (&v, &w) in self.vertices.iter().zip(&self.weights) {
            if v != UNUSED {
                offset += x[v as usize] * w;
            }
        }
        self.gap + self.normal.dot(&(offset - self.offset))
    }
}

/// The active set with its linearisation.
#[derive(Debug, Clone, Default)]
pub struct ContactConstraints {
    /// The constraints, ascending by key.
    constraints: Vec<Constraint>,
    planes: Vec<Plane>,
    /// Stiffness M, N/m.
    stiffness: f64,
    /// Separation δ that the constraints ask for beyond the thickness, m.
    separation: f64,
    /// Whether multipliers are updated; off, this is a plain penalty method.
    multipliers: bool,
    /// Constraints that have a curvature although they do not act: those that a shortened step is about to
    /// meet. Empty if there are none.
    blocking: Vec<bool>,
    /// Whether decay factors weight the constraints, and idle ones have a curvature [Zheng 2025, Eq. 12
    /// and Alg. 2]; else factors only tell which constraints to drop.
    weighted: bool,
}

impl ContactConstraints {
    /// Constraints of the last step with the separation δ, not linearised yet.
    pub fn new(constraints: Vec<Constraint>, separation: f64, multipliers: bool) -> Self {
        Self { constraints, separation, multipliers, stiffness: 1.0, ..Self::default() }
    }

    /// The same, weighted by their decay factors.
    #[must_use]
    pub fn weighted(self) -> Self {
        Self { weighted: true, ..self }
    }

    /// The constraints, ascending by key.
    pub fn all(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Separation δ, m.
    pub fn separation(&self) -> f64 {
        self.separation
    }

    /// The stiffness M, N/m.
    pub fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The largest multiplier, N.
    pub fn largest_force(&self) -> f64 {
        self.constraints.iter().map(|c| c.force).fold(0.0, f64::max)
    }

    /// Sets the stiffness M, N/m.
    pub fn set_stiffness(&mut self, stiffness: f64) {
        self.stiffness = stiffness;
    }

    /// Raises the stiffness M by a factor.
    pub fn stiffen(&mut self, factor: f64) {
        self.stiffness *= factor;
    }

    /// Halves the separation δ.
    pub fn draw_near(&mut self) {
        self.separation *= 0.5;
    }

    /// Linearises the constraints at positions `x` (`#V`) without intersections, in a step that began at
    /// `start`: pairs that began closer than δ need not separate by more than δ/10 in the step, so that
    /// contact does not throw bodies apart.
    ///
    /// An older linearisation stays where its gap at `x` is right to `accuracy` δ; 0 for none.
    pub fn linearise(
        &mut self,
        mesh: &CollisionMesh,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
        start: &[Vec3],
        accuracy: f64,
    ) {
        let separation = self.separation;
        let linearise = |(c, old): (&Constraint, &mut Plane)| {
            let new = plane(mesh, half_spaces, c.key, x);
            let delta = match c.key {
                ConstraintKey::Pair(pair) => pair.separation(mesh, separation),
                ConstraintKey::HalfSpace(..) => separation,
            };
            let current = new.gap;
            let right = (old.gap(x) - current).abs() < accuracy * delta;
            if old.target_gap.is_nan() {
                let began = plane(mesh, half_spaces, c.key, start).gap;
                *old = Plane { target_gap: delta.min(began + 0.1 * delta), ..new };
            } else if !right {
                *old = Plane { target_gap: old.target_gap.min(delta), ..new };
            }
            old.current = current;
        };
        self.planes.resize(self.constraints.len(), Plane::UNKNOWN);
        let planes = self.planes.par_iter_mut().with_min_len(256);
        self.constraints.par_iter().zip(planes).for_each(linearise);
    }

    /// Whether the linearised gap of the first of the `collisions` on the way to `target` is not positive there.
    pub fn penetrates(&self, collisions: &[(ConstraintKey, f64)], target: &[Vec3]) -> bool {
        let first = collisions.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let gap = |key: &ConstraintKey| {
            let i = self.constraints.binary_search_by(|c| c.key.cmp(key)).ok()?;
            Some(self.planes[i].gap(target))
        };
        first.and_then(|(key, _)| gap(key)).is_none_or(|gap| gap <= 0.0)
    }

    /// Gives a curvature to those constraints that act at `x`, too.
    pub fn block_at(&mut self, x: &[Vec3]) {
        self.blocking.resize(self.len(), false);
        for i in 0..self.len() {
            self.blocking[i] |= self.force_at(i, x) > 0.0;
        }
    }

    /// Leaves a curvature only to those that act.
    pub fn unblock(&mut self) {
        self.blocking.clear();
    }

    /// Whether some have a curvature that do not act.
    pub fn is_blocked(&self) -> bool {
        !self.blocking.is_empty()
    }

    /// Removes all constraints.
    pub fn clear(&mut self) {
        self.constraints.clear();
        self.planes.clear();
        self.blocking.clear();
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Number of constraints that carry force.
    pub fn loaded(&self) -> usize {
        self.constraints.iter().filter(|c| c.force > 0.0).count()
    }

    /// The least gap d − ξ of the linearisation, m; infinite without constraints.
    pub fn min_gap(&self) -> f64 {
        self.planes.iter().map(|p| p.current).fold(f64::INFINITY, f64::min)
    }

    /// Λ − M c where that is positive, else 0: the force that a constraint exerts at `x` but for its
    /// mollifier, N.
    #[inline]
    fn force_at(&self, i: usize, x: &[Vec3]) -> f64 {
        self.force_for_gap(i, self.planes[i].gap(x))
    }

    /// The pair of a constraint that acts at `x`, and its force there with the mollifier, N.
    pub(super) fn acting_pair(&self, i: usize, x: &[Vec3]) -> Option<(Pair, f64)> {
        let force = self.planes[i].mollifier * self.force_at(i, x);
        match self.constraints[i].key {
            ConstraintKey::Pair(pair) if force > 0.0 => Some((pair, force)),
            _ => None,
        }
    }

    /// The force of a constraint for a given gap, N.
    #[inline]
    fn force_for_gap(&self, i: usize, gap: f64) -> f64 {
        (self.constraints[i].force - self.stiffness * (gap - self.planes[i].target_gap)).max(0.0)
    }

    /// Σ φ of the true distances at `x`, J, of which the linearised one is a model: without constraints
    /// that are not linearised yet.
    pub fn nonlinear_value(
        &self,
        mesh: &CollisionMesh,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
    ) -> f64 {
        let term = |i: usize| {
            let plane = plane(mesh, half_spaces, self.constraints[i].key, x);
            let force = self.force_for_gap(i, plane.gap);
            plane.mollifier * force * force / (2.0 * self.stiffness)
        };
        let terms: Vec<f64> = (0..self.len()).into_par_iter().with_min_len(256).map(term).collect();
        terms.iter().sum()
    }

    /// Adds Σ φ ∂m/∂x with the mollifiers m of nearly parallel edges at `x`, where the constraints were
    /// linearised: what the gradient of [`Self::nonlinear_value`] has beyond that of the linearisation, N.
    pub fn add_mollifier_gradient(&self, mesh: &CollisionMesh, x: &[Vec3], gradient: &mut [Vec3]) {
        for (i, plane) in self.planes.iter().enumerate().filter(|(_, p)| p.mollifier < 1.0) {
            let of_mollifier = self.mollifier_gradient(i, self.force_at(i, x), mesh, x);
            for (&v, g) in plane.vertices.iter().zip(&of_mollifier) {
                gradient[v as usize] += g;
            }
        }
    }

    /// Adds minus the forces Λ at the state `x` where the constraints were linearised, N, with what the mollifiers of their energy add; not where
    /// decay factors weight the constraints: the published method leaves that out.
    pub fn add_forces(&self, mesh: &CollisionMesh, x: &[Vec3], gradient: &mut [Vec3]) {
        for (i, plane) in self.planes.iter().enumerate() {
            let gradients = self.force_gradients(i, mesh, x);
            for (&v, g) in plane.vertices.iter().zip(&gradients).filter(|(v, _)| **v != UNUSED) {
                gradient[v as usize] += g;
            }
        }
    }

    /// Minus the forces Λ of each constraint, as [`Self::add_forces`], N.
    pub fn each_contact(&self, mesh: &CollisionMesh, x: &[Vec3], call: &mut EachContact<'_>) {
        for (i, (c, plane)) in self.constraints.iter().zip(&self.planes).enumerate() {
            let gradients = self.force_gradients(i, mesh, x);
            let n = plane.vertices.iter().filter(|v| **v != UNUSED).count();
            let half_space = match c.key {
                ConstraintKey::HalfSpace(_, k) => Some(k),
                ConstraintKey::Pair(_) => None,
            };
            call(half_space, &plane.vertices[..n], &gradients[..n]);
        }
    }

    /// Minus the force Λ of a constraint on its vertices, N.
    fn force_gradients(&self, i: usize, mesh: &CollisionMesh, x: &[Vec3]) -> [Vec3; 4] {
        let (plane, force) = (&self.planes[i], self.constraints[i].force);
        let along = plane.weights.map(|w| plane.normal * (-force * plane.mollifier * w));
        match self.weighted || plane.mollifier == 1.0 {
            true => along,
            false => {
                let of_mollifier = self.mollifier_gradient(i, force, mesh, x);
                std::array::from_fn(|k| along[k] + of_mollifier[k])
            }
        }
    }

    /// λ²/(2M) ∂m/∂x with the mollifier m of nearly parallel edges at `x` and a `force` λ, N.
    fn mollifier_gradient(
        &self,
        i: usize,
        force: f64,
        mesh: &CollisionMesh,
        x: &[Vec3],
    ) -> [Vec3; 4] {
        let energy = force * force / (2.0 * self.stiffness);
        let vertices = self.planes[i].vertices;
        let p = vertices.map(|v| x[v as usize]);
        mollifier::gradient(&p, mollifier_threshold(mesh, &vertices)).map(|g| energy * g)
    }

    fn add_along(&self, i: usize, scale: f64, gradient: &mut [Vec3]) {
        let plane = &self.planes[i];
        for (&v, &w) in plane.vertices.iter().zip(&plane.weights) {
            if v != UNUSED && scale != 0.0 {
                gradient[v as usize] += plane.normal * (scale * w);
            }
        }
    }

    /// The largest distance of a gap from its target among the constraints that act at `x`, m: what an
    /// update of the multipliers would still change.
    pub fn gap_error(&self, x: &[Vec3]) -> f64 {
        let acts = |i: &usize| self.force_at(*i, x) > 0.0;
        let error = |i: usize| (self.planes[i].gap(x) - self.planes[i].target_gap).abs();
        (0..self.len()).filter(acts).map(error).fold(0.0, f64::max)
    }

    /// Weight of a constraint in the augmented Lagrangian, but for its mollifier.
    #[inline]
    fn weight(&self, i: usize) -> f64 {
        if self.weighted { self.constraints[i].decay } else { 1.0 }
    }

    /// Which constraints act at `x`.
    pub fn acting(&self, x: &[Vec3]) -> Vec<bool> {
        (0..self.len()).map(|i| self.force_at(i, x) > 0.0).collect()
    }

    /// Λ ← max(0, Λ − M c(x)), without multipliers 0.
    pub fn update_forces(&mut self, x: &[Vec3]) {
        for i in 0..self.len() {
            self.constraints[i].force = if self.multipliers { self.force_at(i, x) } else { 0.0 };
        }
    }

    /// The update of multipliers at a target `x` that penetrates. Linearised gaps far below zero say little, so
    /// that gaps count as −δ at least.
    pub fn update_forces_at_penetrating(&mut self, x: &[Vec3]) {
        if self.multipliers {
            for i in 0..self.len() {
                let gap = self.planes[i].gap(x).max(-self.separation);
                self.constraints[i].force = self.force_for_gap(i, gap);
            }
        }
    }

    /// Updates decay factors after a solve that ended at `x`: γ is 1 where the constraint acts and times
    /// `decay` where it is idle (as text and Eq. 12 of [Zheng 2025] mean it; Algorithm 2 has it the
    /// other way round). Then multipliers, as [`ContactConstraints::update_forces`].
    pub fn update(&mut self, x: &[Vec3], decay: f64) {
        for i in 0..self.len() {
            let acts = self.force_at(i, x) > 0.0;
            let c = &mut self.constraints[i];
            c.decay = if acts { 1.0 } else { decay * c.decay };
        }
        self.update_forces(x);
    }

    /// Adds what collides, each with the time of its collision, and drops faded ones
    /// [Zheng 2025, Alg. 3]. With `filter`, of the new ones only those are added that are the first
    /// collision of one of their vertices. New ones act from the next [`ContactConstraints::linearise`] on.
    /// Returns how many were added.
    pub fn expand(
        &mut self,
        mesh: &CollisionMesh,
        found: &[(ConstraintKey, f64)],
        filter: bool,
    ) -> usize {
        let known = |s: &ConstraintKey| self.constraints.binary_search_by(|c| c.key.cmp(s)).is_ok();
        let new: Vec<&(ConstraintKey, f64)> = found.iter().filter(|(s, _)| !known(s)).collect();
        let mut first = std::collections::HashMap::new();
        for (key, time) in &new {
            for &v in vertices(mesh, key).iter().filter(|v| **v != UNUSED) {
                let least = first.entry(v).or_insert(f64::INFINITY);
                *least = time.min(*least);
            }
        }
        let added: Vec<Constraint> = new
            .iter()
            .filter(|(key, time)| {
                !filter
                    || vertices(mesh, key)
                        .iter()
                        .any(|v| first.get(v).is_some_and(|least| time <= least))
            })
            .map(|(key, _)| Constraint { key: *key, force: 0.0, decay: 1.0 })
            .collect();
        let count = added.len();
        self.planes.resize(self.constraints.len(), Plane::UNKNOWN);
        let kept = self.constraints.iter().copied().zip(self.planes.drain(..));
        let mut all: Vec<_> = kept.filter(|(c, _)| c.decay >= DROP).collect();
        all.extend(added.into_iter().map(|c| (c, Plane::UNKNOWN)));
        all.sort_unstable_by_key(|(c, _)| c.key);
        (self.constraints, self.planes) = all.into_iter().unzip();
        count
    }

    /// Friction of the constraints' forces in their tangent planes [Zheng 2025, App. A].
    pub fn friction(&self, materials: &FrictionMaterials) -> Vec<FrictionContact> {
        let contact = |(c, plane): (&Constraint, &Plane)| {
            let n = plane.vertices.iter().filter(|v| **v != UNUSED).count();
            let (key, coefficient) = match c.key {
                ConstraintKey::Pair(pair) => {
                    let (a, b) = (plane.vertices[0], plane.vertices[pair.kind.second()]);
                    (FrictionKey::Pair(pair.kind), materials.between(a, b))
                }
                ConstraintKey::HalfSpace(v, k) => {
                    (FrictionKey::HalfSpace(k), materials.on_half_space(v, k))
                }
            };
            let force = coefficient.at_rest * plane.mollifier * c.force;
            (force > 0.0).then(|| FrictionContact {
                key,
                vertices: plane.vertices,
                n,
                gamma: plane.weights,
                basis: plane_basis(&plane.normal),
                force,
                fall: coefficient.fall(),
                stick: materials.stick(&plane.vertices[..n]),
                forecast: None,
                tangent: None,
            })
        };
        self.constraints.iter().zip(&self.planes).filter_map(contact).collect()
    }

    /// What the constraints keep apart, with the gaps d − ξ at positions `x`, m.
    pub fn gaps(
        &self,
        mesh: &CollisionMesh,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
    ) -> Vec<(ConstraintKey, f64)> {
        self.constraints.iter().map(|c| (c.key, plane(mesh, half_spaces, c.key, x).gap)).collect()
    }
}

/// The augmented Lagrangian Σ φ(c(x)).
impl Term for ContactConstraints {
    fn name(&self) -> &str {
        "contact constraints"
    }

    fn role(&self) -> Role {
        Role::Constraint
    }

    fn stencils(&self) -> Stencils<'_> {
        self.planes.iter().map(|p| p.vertices).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let term = |i: usize| {
            let force = self.force_at(i, x);
            self.weight(i) * self.planes[i].mollifier * force * force / (2.0 * self.stiffness)
        };
        (0..self.len()).map(term).sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for i in 0..self.len() {
            let force = self.weight(i) * self.planes[i].mollifier * self.force_at(i, x);
            self.add_along(i, -force, gradient);
        }
    }

    /// M ∇d ∇dᵀ of the constraints that act at `x`, else zero: the generalised Hessian. Where constraints
    /// are weighted, γ M ∇d ∇dᵀ of all.
    fn hessians(&self, range: Range<usize>, x: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        let blocks = out.par_chunks_mut(block_count(4)).with_min_len(16);
        range.into_par_iter().zip(blocks).for_each(|(i, out)| {
            let blocks = self.blocking.get(i).is_some_and(|b| *b);
            if self.weighted || blocks || self.force_at(i, x) > 0.0 {
                let Plane { normal, weights: w, mollifier, .. } = &self.planes[i];
                let stiffness = self.weight(i) * self.stiffness * mollifier;
                let nn = normal * (normal * stiffness).transpose();
                out.iter_mut()
                    .zip(block_pairs(4))
                    .for_each(|(out, (a, b))| *out = nn * (w[a] * w[b]));
            } else {
                out.fill(Mat3::zeros());
            }
        });
    }
}

fn vertices(mesh: &CollisionMesh, key: &ConstraintKey) -> [u32; 4] {
    match *key {
        ConstraintKey::Pair(pair) => pair.stencil(mesh).vertices,
        ConstraintKey::HalfSpace(v, _) => [v, UNUSED, UNUSED, UNUSED],
    }
}

/// The linearisation of a constraint at positions `x`.
fn plane(mesh: &CollisionMesh, half_spaces: &[HalfSpace], key: ConstraintKey, x: &[Vec3]) -> Plane {
    match key {
        ConstraintKey::Pair(pair) => pair_plane(mesh, pair, x),
        ConstraintKey::HalfSpace(v, k) => half_space_plane(mesh, v, &half_spaces[k as usize], x),
    }
}

fn pair_plane(mesh: &CollisionMesh, pair: Pair, x: &[Vec3]) -> Plane {
    let stencil = pair.stencil(mesh);
    let p = stencil.gather(x);
    let closest = pair.kind.closest(&p);
    let mollifier = match pair.kind {
        PairKind::EdgeEdge => mollifier::value(&p, mollifier_threshold(mesh, &stencil.vertices)),
        _ => 1.0,
    };
    let d = closest.d2().sqrt();
    Plane {
        vertices: stencil.vertices,
        weights: closest.weights,
        normal: closest.offset / d,
        offset: closest.offset,
        gap: d - pair.thickness(mesh),
        current: 0.0,
        target_gap: 0.0,
        origin: Vec3::zeros(),
        mollifier,
    }
}

/// Threshold of the mollifier of two edges.
fn mollifier_threshold(mesh: &CollisionMesh, vertices: &[u32; 4]) -> f64 {
    let [a, b, c, d] = vertices.map(|v| mesh.rest[v as usize]);
    mollifier::threshold(&a, &b, &c, &d)
}

fn half_space_plane(mesh: &CollisionMesh, v: u32, plane: &HalfSpace, x: &[Vec3]) -> Plane {
    let p = x[v as usize];
    let thickness = mesh.half_thickness.get(v as usize).copied().unwrap_or(0.0);
    Plane {
        vertices: [v, UNUSED, UNUSED, UNUSED],
        weights: [1.0, 0.0, 0.0, 0.0],
        normal: plane.normal,
        offset: p - plane.origin,
        gap: plane.signed_distance(&p) - thickness,
        current: 0.0,
        target_gap: 0.0,
        origin: plane.origin,
        mollifier: 1.0,
    }
}
