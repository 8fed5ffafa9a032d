//! Attachments: springs from a vertex to a point of a surface, to another vertex or to a target
//! fixed in space,
//!
//! Ψ = k/2 (r − L)²,   r = ‖y‖,   y = Σ wᵢ xᵢ − a
//!
//! with weights w = (1, −w₀, −w₁, −w₂) of the vertex and of the point's barycentric coordinates and a
//! target a (zero between bodies).

use super::element::Hessian;
use super::projection::Projection;
use super::term::{Origin, Owner, Role, Term};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, pack};
use std::ops::Range;

/// Marks vertices that a spring does not have.
pub const UNUSED: u32 = u32::MAX;

/// One spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// Scene-wide vertices; `UNUSED` where there are fewer than four.
    pub vertices: [u32; 4],
    /// Their weights; 0 for unused ones.
    pub weights: [f64; 4],
    /// Target a, m.
    pub target: Vec3,
    /// Stiffness k, N/m.
    pub stiffness: f64,
    /// Rest length L, m.
    pub rest_length: f64,
    /// Acts in the steps that start at t with `t0 <= t < t1`, s.
    pub t0: f64,
    /// See `t0`.
    pub t1: f64,
}

impl Spring {
    /// Whether it acts in the step that starts at `t`.
    pub fn acts(&self, t: f64) -> bool {
        self.t0 <= t && t < self.t1
    }

    /// y: from the anchor to the vertex, m.
    pub fn vector(&self, x: &[Vec3]) -> Vec3 {
        let mut y = -self.target;
        for (&v, w) in self.vertices.iter().zip(self.weights) {
            if v != UNUSED {
                y += w * x[v as usize];
            }
        }
        y
    }

    /// Energy, J.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        0.5 * self.stiffness * (self.vector(x).norm() - self.rest_length).powi(2)
    }

    /// ∂Ψ/∂y, N. Where y vanishes a spring of positive rest length has no direction; its force is
    /// zero there.
    fn pull(&self, y: &Vec3) -> Vec3 {
        let r = y.norm();
        if r == 0.0 {
            return Vec3::zeros();
        }
        self.stiffness * (1.0 - self.rest_length / r) * y
    }

    /// Force on its first vertex, N.
    pub fn force_on_first(&self, x: &[Vec3]) -> Vec3 {
        -self.weights[0] * self.pull(&self.vector(x))
    }

    /// Adds the derivative by the vertices (minus the forces), N.
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let pull = self.pull(&self.vector(x));
        for (&v, w) in self.vertices.iter().zip(self.weights) {
            if v != UNUSED {
                gradient[v as usize] += w * pull;
            }
        }
    }

    /// Second derivative, N/m, projected: k [n nᵀ + max(0, 1 − L/r)(I − n nᵀ)] between the vertices'
    /// weights. A compressed spring is concave across its axis, and that part is dropped; else the
    /// second derivative is exact.
    pub fn hessian_psd(&self, x: &[Vec3]) -> Hessian<4> {
        self.second_derivative(x, 0.0)
    }

    /// Second derivative, N/m.
    pub fn hessian(&self, x: &[Vec3]) -> Hessian<4> {
        self.second_derivative(x, f64::NEG_INFINITY)
    }

    /// The second derivative with a stiffness across the axis, in units of k, not below `least`.
    fn second_derivative(&self, x: &[Vec3], least: f64) -> Hessian<4> {
        let y = self.vector(x);
        let r = y.norm();
        let block = if r == 0.0 || self.rest_length == 0.0 {
            Mat3::from_diagonal_element(self.stiffness)
        } else {
            let along = y * y.transpose() / (r * r);
            let across = (1.0 - self.rest_length / r).max(least);
            self.stiffness * (along + across * (Mat3::identity() - along))
        };
        let w = self.weights;
        std::array::from_fn(|a| std::array::from_fn(|b| w[a] * w[b] * block))
    }
}

/// The springs of an attachment or a seam.
#[derive(Debug, Clone)]
pub struct SpringSet {
    /// Name for messages.
    pub name: String,
    /// The key of their stiffness.
    pub key: &'static str,
    /// Their place among all springs.
    pub springs: Range<usize>,
}

/// The springs of a scene in the step that starts at `time`.
#[derive(Debug, Clone, Copy)]
pub struct Attachments<'a> {
    /// All springs.
    pub springs: &'a [Spring],
    /// Which of them belong together.
    pub sets: &'a [SpringSet],
    /// Start of the step, s.
    pub time: f64,
}

impl Attachments<'_> {
    fn acting(&self) -> impl Iterator<Item = &Spring> {
        self.springs.iter().filter(|s| s.acts(self.time))
    }
}

impl Term for Attachments<'_> {
    fn name(&self) -> &str {
        "attachments"
    }

    fn role(&self) -> Role {
        Role::Elastic
    }

    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        let set = self.sets.iter().find(|set| set.springs.contains(&summand))?;
        Some(Origin { owner: Owner::Load(&set.name), key: set.key })
    }

    /// The stencils of all springs, including springs that do not act, whose Hessians are zero.
    fn stencils(&self) -> Stencils<'_> {
        self.springs.iter().map(|s| s.vertices).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        self.acting().map(|s| s.value(x)).sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.acting().for_each(|s| s.add_gradient(x, gradient));
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        for (spring, out) in self.springs[range].iter().zip(out.chunks_mut(block_count(4))) {
            match spring.acts(self.time) {
                true if projection.applies_to(&spring.vertices) => {
                    pack(&spring.hessian_psd(x), out);
                }
                true => pack(&spring.hessian(x), out),
                false => out.fill(Mat3::zeros()),
            }
        }
    }
}
