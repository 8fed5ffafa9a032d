//! The explicit active set of the barrier-free method [Zheng 2025, §4.2–4.3]: linearised distance
//! constraints with Lagrange multipliers.
//!
//! At a state x without intersections, constraint i says
//!
//! cᵢ(x̂) = dᵢ(x) − ξᵢ + ∇dᵢ(x)·(x̂ − x) − δ ≥ 0,
//!
//! which has a sign also where x̂ penetrates. With slack variables eliminated, the augmented Lagrangian
//! adds γᵢ φ(cᵢ), φ(c) = M/2 max(0, Λᵢ/M − c)² − Λᵢ²/(2M), to the potential: Λᵢ is the contact force
//! (N) so far, M the stiffness (N/m), γᵢ ∈ (0, 1] fades constraints that are idle.

use super::friction::{FrictionContact, FrictionMaterials, Rubbing};
use super::half_space::HalfSpace;
use super::pairs::{PairKind, UNUSED};
use super::potential::Blocks;
use rayon::prelude::*;
use standoff_geometry::CollisionMesh;
use standoff_geometry::ccd::Pair;
use standoff_geometry::distance::{self, Closest, plane_basis};
use standoff_linalg::{Mat3, Vec3};

/// γ below which a constraint is dropped [Zheng 2025, Alg. 3].
const DROP: f64 = 0.01;

/// What a constraint keeps apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Two primitives of the collision mesh.
    Pair(Pair),
    /// A vertex and a half-space, by index.
    HalfSpace(u32, u32),
}

/// A constraint of the active set: part of the state between steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// What it keeps apart.
    pub subject: Subject,
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
    /// Gap that the constraint asks for: δ, or less where the step began closer, m.
    asked: f64,
    /// A half-space's origin, zero for pairs.
    origin: Vec3,
}

impl Plane {
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

    /// Change of the gap by displacements `dx` (`#V`), m.
    #[inline]
    fn moved(&self, dx: &[Vec3]) -> f64 {
        let along = |(&v, &w): (&u32, &f64)| match v {
            UNUSED => 0.0,
            v => w * self.normal.dot(&dx[v as usize]),
        };
        self.vertices.iter().zip(&self.weights).map(along).sum()
    }
}

/// The active set with its linearisation.
#[derive(Debug, Clone, Default)]
pub struct ActiveSet {
    /// The constraints, ascending by subject.
    pub constraints: Vec<Constraint>,
    planes: Vec<Plane>,
    /// Whether a constraint's curvature is part of the Hessian.
    expected: Vec<bool>,
    /// Stiffness M, N/m.
    pub stiffness: f64,
    /// Separation δ that the constraints ask for beyond the thickness, m.
    pub separation: f64,
    /// Whether multipliers are updated; off, this is a plain penalty method.
    pub multipliers: bool,
}

impl ActiveSet {
    /// Constraints of the last step with the separation δ, not linearised yet.
    pub fn new(constraints: Vec<Constraint>, separation: f64, multipliers: bool) -> Self {
        Self { constraints, separation, multipliers, stiffness: 1.0, ..Self::default() }
    }

    /// Linearises all constraints at positions `x` (`#V`) without intersections, in a step that began at
    /// `start`: who began closer than δ need not get further away by more than δ/10 in the step, lest
    /// contact throw bodies apart.
    pub fn linearise(
        &mut self,
        mesh: &CollisionMesh,
        half_spaces: &[HalfSpace],
        x: &[Vec3],
        start: &[Vec3],
    ) {
        let plane = |c: &Constraint, x: &[Vec3]| match c.subject {
            Subject::Pair(pair) => pair_plane(mesh, pair, x),
            Subject::HalfSpace(v, k) => half_space_plane(mesh, v, &half_spaces[k as usize], x),
        };
        let separation = self.separation;
        self.constraints
            .par_iter()
            .with_min_len(256)
            .map(|c| {
                let delta = match c.subject {
                    Subject::Pair(pair) => pair.separation(mesh, separation),
                    Subject::HalfSpace(..) => separation,
                };
                let began = plane(c, start).gap;
                Plane { asked: delta.min(began + 0.1 * delta), ..plane(c, x) }
            })
            .collect_into_vec(&mut self.planes);
        self.expected = vec![true; self.planes.len()];
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
        self.planes.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min)
    }

    /// Λ − M c where that is positive, else 0: the force that a constraint exerts at `x`, N.
    #[inline]
    fn push(&self, i: usize, x: &[Vec3]) -> f64 {
        (self.constraints[i].force
            - self.stiffness * (self.planes[i].gap(x) - self.planes[i].asked))
            .max(0.0)
    }

    /// Σ γ φ(c(x)), J.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        let term = |i: usize| {
            let (c, push) = (&self.constraints[i], self.push(i, x));
            c.decay * (push * push - c.force * c.force) / (2.0 * self.stiffness)
        };
        (0..self.len()).map(term).sum()
    }

    /// Adds the gradient of [`ActiveSet::value`], N.
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for i in 0..self.len() {
            self.add_along(i, -self.constraints[i].decay * self.push(i, x), gradient);
        }
    }

    /// Adds minus the forces Λ, N.
    pub fn add_forces(&self, gradient: &mut [Vec3]) {
        for (i, c) in self.constraints.iter().enumerate() {
            self.add_along(i, -c.force, gradient);
        }
    }

    fn add_along(&self, i: usize, scale: f64, gradient: &mut [Vec3]) {
        let plane = &self.planes[i];
        for (&v, &w) in plane.vertices.iter().zip(&plane.weights) {
            if v != UNUSED && scale != 0.0 {
                gradient[v as usize] += plane.normal * (scale * w);
            }
        }
    }

    /// Chooses the constraints whose curvature the next Newton step from x̂ = `x` takes into account: all
    /// of them while the active set still grows; with the `last` step (`#V`) those that act, and those
    /// that would after another step like it, in either direction.
    ///
    /// Idle constraints have no curvature, but without it a Newton step may run deep into them. With
    /// that of all of them to the end, as [Zheng 2025, Alg. 2] has it, surfaces come apart in small
    /// steps only, for as long as γ fades.
    pub fn expect(&mut self, x: &[Vec3], last: Option<&[Vec3]>) {
        let near = |(c, plane): (&Constraint, &Plane)| {
            let idle = plane.gap(x) - plane.asked - c.force / self.stiffness;
            last.is_none_or(|last| idle < plane.moved(last).abs())
        };
        self.expected.clear();
        self.expected.extend(self.constraints.iter().zip(&self.planes).map(near));
    }

    /// Vertices and γ M ∇d ∇dᵀ of the expected constraints ([`ActiveSet::expect`]), N/m.
    pub fn hessians(&self) -> impl IndexedParallelIterator<Item = ([u32; 4], Blocks)> + '_ {
        let all = self.constraints.par_iter().zip(&self.planes).zip(&self.expected);
        all.map(|((c, plane), &expected)| {
            let curvature = if expected { c.decay * self.stiffness } else { 0.0 };
            let nn = plane.normal * (plane.normal * curvature).transpose();
            let w = &plane.weights;
            let block = |a: usize, b: usize| -> Mat3 { nn * (w[a] * w[b]) };
            (plane.vertices, std::array::from_fn(|a| std::array::from_fn(|b| block(a, b))))
        })
    }

    /// Updates multipliers and decay factors after a solve: Λ ← max(0, Λ − M c); γ is 1 where the
    /// constraint is active and times `decay` where it is idle (as text and Eq. 12 of [Zheng 2025] mean
    /// it; Algorithm 2 has it the other way round).
    ///
    /// A constraint that the Newton step did not expect pushes with the penalty on a penetration that
    /// nothing held back, far more than the force to find: it starts from zero.
    pub fn update(&mut self, x: &[Vec3], decay: f64) {
        for i in 0..self.len() {
            let push = self.push(i, x);
            let expected = self.expected[i];
            let c = &mut self.constraints[i];
            if push > 0.0 {
                c.decay = 1.0;
                c.force = if self.multipliers && expected { push } else { 0.0 };
            } else {
                c.decay *= decay;
                c.force = 0.0;
            }
        }
    }

    /// Adds colliding subjects, each with the time of its collision, and drops faded ones
    /// [Zheng 2025, Alg. 3]; how many were added. With `filter`, of the new ones only those are added that are the first
    /// collision of one of their vertices.
    pub fn expand(
        &mut self,
        mesh: &CollisionMesh,
        found: &[(Subject, f64)],
        filter: bool,
    ) -> usize {
        let known = |s: &Subject| self.constraints.binary_search_by(|c| c.subject.cmp(s)).is_ok();
        let new: Vec<&(Subject, f64)> = found.iter().filter(|(s, _)| !known(s)).collect();
        let mut first = std::collections::HashMap::new();
        for (subject, time) in &new {
            for &v in vertices(mesh, subject).iter().filter(|v| **v != UNUSED) {
                let least = first.entry(v).or_insert(f64::INFINITY);
                *least = time.min(*least);
            }
        }
        let added: Vec<Constraint> = new
            .iter()
            .filter(|(subject, time)| {
                !filter
                    || vertices(mesh, subject)
                        .iter()
                        .any(|v| first.get(v).is_some_and(|least| time <= least))
            })
            .map(|(subject, _)| Constraint { subject: *subject, force: 0.0, decay: 1.0 })
            .collect();
        let count = added.len();
        self.constraints.retain(|c| c.decay >= DROP);
        self.constraints.extend(added);
        self.constraints.sort_unstable_by_key(|c| c.subject);
        count
    }

    /// Friction of the constraints' forces in their tangent planes [Zheng 2025, App. A].
    pub fn friction(&self, materials: &FrictionMaterials) -> Vec<FrictionContact> {
        let contact = |(c, plane): (&Constraint, &Plane)| {
            let n = plane.vertices.iter().filter(|v| **v != UNUSED).count();
            let between = |kind, second: usize| {
                let (a, b) = (plane.vertices[0], plane.vertices[second]);
                (Rubbing::Pair(kind), materials.between(a, b))
            };
            let (rubbing, coefficient) = match c.subject {
                Subject::Pair(Pair::VertexVertex(_)) => between(PairKind::PointPoint, 1),
                Subject::Pair(Pair::EdgeVertex(_)) => between(PairKind::PointEdge, 1),
                Subject::Pair(Pair::EdgeEdge(_)) => between(PairKind::EdgeEdge, 2),
                Subject::Pair(Pair::FaceVertex(_)) => between(PairKind::PointTriangle, 1),
                Subject::HalfSpace(v, k) => (Rubbing::HalfSpace(k), materials.on_half_space(v, k)),
            };
            let force = coefficient * c.force;
            (force > 0.0).then(|| FrictionContact {
                rubbing,
                vertices: plane.vertices,
                n,
                gamma: plane.weights,
                basis: plane_basis(&plane.normal),
                force,
            })
        };
        self.constraints.iter().zip(&self.planes).filter_map(contact).collect()
    }

    /// The closest constraint: its vertices and its gap.
    pub fn closest(&self) -> Option<([u32; 4], f64)> {
        let plane = self.planes.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
        Some((plane.vertices, plane.gap))
    }
}

fn vertices(mesh: &CollisionMesh, subject: &Subject) -> [u32; 4] {
    match *subject {
        Subject::Pair(pair) => {
            let (mut v, n) = pair.vertices(mesh);
            v[n..].fill(UNUSED);
            v
        }
        Subject::HalfSpace(v, _) => [v, UNUSED, UNUSED, UNUSED],
    }
}

fn pair_plane(mesh: &CollisionMesh, pair: Pair, x: &[Vec3]) -> Plane {
    let (v, n) = pair.vertices(mesh);
    let p = v.map(|v| x[v as usize]);
    // the features that hold the closest points, whatever the primitives are
    let closest = match pair {
        Pair::VertexVertex(_) => on_features(&[0, 1], &p),
        Pair::EdgeVertex(_) => {
            on_features(distance::point_edge::feature(&p[0], &p[1], &p[2]).local(), &p)
        }
        Pair::EdgeEdge(_) => {
            let feature = distance::edge_edge::feature(&p[0], &p[1], &p[2], &p[3]);
            distance::edge_edge::closest_on(feature, &p[0], &p[1], &p[2], &p[3])
        }
        Pair::FaceVertex(_) => {
            let local = distance::point_triangle::feature(&p[0], &p[1], &p[2], &p[3]).local();
            on_features(local, &p)
        }
    };
    let d = closest.d2().sqrt();
    let mut vertices = v;
    vertices[n..].fill(UNUSED);
    Plane {
        vertices,
        weights: closest.weights,
        normal: closest.offset / d,
        offset: closest.offset,
        gap: d - pair.thickness(mesh),
        asked: 0.0,
        origin: Vec3::zeros(),
    }
}

/// Closest points of a point (the first of `local`) and a point, a line or a triangle's plane.
fn on_features(local: &[usize], p: &[Vec3; 4]) -> Closest<4> {
    match *local {
        [i, j] => distance::point_point::closest(&p[i], &p[j]).scatter(&[i, j]),
        [i, j, k] => distance::point_edge::closest(&p[i], &p[j], &p[k]).scatter(&[i, j, k]),
        _ => distance::point_triangle::closest(&p[0], &p[1], &p[2], &p[3]),
    }
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
        asked: 0.0,
        origin: plane.origin,
    }
}
