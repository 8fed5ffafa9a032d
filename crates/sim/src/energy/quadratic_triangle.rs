//! Elastic energy of quadratic triangles in the plane: six nodes, three corners and the middles of the three edges, between which positions are
//! polynomials of degree two [Hughes 2000, ch. 3]. Of solids under plane strain, per metre of depth, and of bodies of revolution, of the whole ring.
//!
//! Ψ = Σ w_q ψ(F(ξ_q)) over three points ξ_q, exact for elements under plane strain with straight edges and a linear law. F is that of linear
//! triangles ([`plane_strain`](super::plane_strain), [`axisymmetric`](super::axisymmetric)) with ∂x/∂ξ (∂X/∂ξ)⁻¹ in the plane. The area varies
//! within an element. It is positive everywhere because its Bernstein coefficients are, and so is the radius (`bernstein.rs`): steps are bounded where
//! one would fall to a fifth of what it is, and a barrier acts where a coefficient of the area is small (`guard.rs`).

mod bernstein;
mod guard;
#[cfg(test)]
mod tests;

use super::axisymmetric::{Elasticity, RingDensity, RingPoint};
use super::element::{Element, Elements, Hessian};
use super::term::Role;
use super::tet::KEEP_VOLUME;
use crate::material::{Lame, Material};
pub use guard::AreaGuard;
use standoff_geometry::quadratic::{TRIANGLE_EDGES, TRIANGLE_NODES as NODES};
use standoff_linalg::{Mat3, Vec3};
use std::f64::consts::TAU;

/// Points at which the energy is evaluated.
pub(crate) const POINTS: usize = 3;

/// The quadratic triangles of a scene.
pub type QuadraticTriangles = Elements<QuadraticTriangle, NODES>;

/// One element: its rest shape and material.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadraticTriangle {
    points: [RingPoint<NODES>; POINTS],
    elasticity: Elasticity,
    guard: AreaGuard,
}

/// The barycentric coordinates of the points; the rule with equal weights is exact for polynomials of degree two [Hughes 2000, app. 3.I].
fn points() -> [[f64; 3]; POINTS] {
    std::array::from_fn(|q| {
        let mut at = [1.0 / 6.0; 3];
        at[q] = 2.0 / 3.0;
        at
    })
}

/// Six points whose rule is exact for polynomials of degree four [Dunavant 1985], with their parts of the area.
pub(super) fn fine_points() -> [([f64; 3], f64); 6] {
    let alone = [0.108_103_018_168_070_23, 0.816_847_572_980_458_5];
    let weights = [0.223_381_589_678_011_47, 0.109_951_743_655_321_87];
    std::array::from_fn(|k| {
        let mut at = [0.5 * (1.0 - alone[k / 3]); 3];
        at[k % 3] = alone[k / 3];
        (at, weights[k / 3])
    })
}

/// The six shape functions at barycentric coordinates.
pub(super) fn shapes(at: &[f64; 3]) -> [f64; NODES] {
    std::array::from_fn(|n| match n.checked_sub(3) {
        None => at[n] * (2.0 * at[n] - 1.0),
        Some(e) => 4.0 * at[TRIANGLE_EDGES[e][0]] * at[TRIANGLE_EDGES[e][1]],
    })
}

/// Their derivatives by ξ₁ and ξ₂, the barycentric coordinates of corners 1 and 2.
pub(super) fn slopes(at: &[f64; 3]) -> [[f64; 2]; NODES] {
    std::array::from_fn(|n| {
        let mut by = [0.0; 3];
        match n.checked_sub(3) {
            None => by[n] = 4.0 * at[n] - 1.0,
            Some(e) => {
                let [a, b] = TRIANGLE_EDGES[e];
                (by[a], by[b]) = (4.0 * at[b], 4.0 * at[a]);
            }
        }
        [by[1] - by[0], by[2] - by[0]]
    })
}

/// Position at barycentric coordinates.
fn place(at: &[f64; 3], x: &[Vec3; NODES]) -> Vec3 {
    x.iter().zip(shapes(at)).map(|(x, n)| x * n).sum()
}

/// The columns of ∂x/∂ξ there, in the plane. The slopes sum to zero, so that positions relative to node 0 give the same, with less rounding.
fn jacobian(at: &[f64; 3], x: &[Vec3; NODES]) -> [Vec3; 2] {
    let of = slopes(at);
    [0, 1].map(|k| (1..NODES).map(|n| (x[n] - x[0]) * of[n][k]).sum())
}

/// Their determinant.
fn area(columns: &[Vec3; 2]) -> f64 {
    columns[0].x * columns[1].y - columns[0].y * columns[1].x
}

/// The shape functions at the points, for values that are known at nodes.
pub(crate) fn weights_at_points() -> Vec<Vec<f64>> {
    points().iter().map(|at| shapes(at).to_vec()).collect()
}

impl QuadraticTriangle {
    /// The element with rest positions `rest` of its nodes (m) in the plane z = 0, where x ≥ 0 if it is a `ring` about the axis y; with a barrier
    /// against inversion (`guarded`). `None` where it is clockwise, flat or bent too far somewhere within, or reaches behind the axis: where a
    /// Bernstein coefficient of its area is not positive, or one of its radius negative.
    pub fn new(
        rest: &[Vec3; NODES],
        material: &Material,
        is_ring: bool,
        guarded: bool,
    ) -> Option<Self> {
        let finite = rest.iter().flatten().all(|c| c.is_finite());
        if !finite || !bernstein::is_positive(rest) || is_ring && !bernstein::is_outside(rest) {
            return None;
        }
        let points = points().map(|at| point(&at, rest, is_ring));
        let volume = points.iter().map(|p| p.volume).sum();
        let lame = material.lame();
        let guard = AreaGuard::new(rest, volume, lame, guarded, is_ring);
        let elasticity = Elasticity { lame, law: material.law.clone(), guarded };
        Some(Self { points, elasticity, guard })
    }

    /// The same element with the barrier against inversion, at points and within.
    #[must_use]
    pub fn with_inversion_barrier(mut self) -> Self {
        self.elasticity.guarded = true;
        self.guard.acts = true;
        self
    }

    /// The barrier within, which stands for all of the element at the end of a step whose elastic energy is evaluated before it.
    pub(super) fn own_guard(&self) -> AreaGuard {
        self.guard.clone()
    }

    /// The element of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self {
            points: std::array::from_fn(|q| self.points[q].grown(g)),
            guard: self.guard.grown(g),
            ..self.clone()
        }
    }

    /// Its points.
    pub(super) fn points(&self) -> [RingPoint<NODES>; POINTS] {
        self.points.clone()
    }

    /// Where its points are at rest positions `rest` of its nodes.
    pub(crate) fn places(rest: &[Vec3; NODES]) -> [Vec3; POINTS] {
        points().map(|at| place(&at, rest))
    }

    /// Lamé's parameters of the material.
    pub fn lame(&self) -> &Lame {
        &self.elasticity.lame
    }

    /// Rest volume of the ring, m³, or rest area, m².
    pub fn volume(&self) -> f64 {
        self.points.iter().map(|p| p.volume).sum()
    }

    /// The integrals at rest, with 2πR of a ring: of each shape function, how weight is shared by the nodes in equilibrium, and each node's part of
    /// the mass, in the ratio of the diagonal of the consistent mass matrix [Hinton 1976]. Both sum to the volume, m³.
    pub fn shares(rest: &[Vec3; NODES], is_ring: bool) -> [[f64; NODES]; 2] {
        let (mut weights, mut squares) = ([0.0; NODES], [0.0; NODES]);
        for (at, part) in fine_points() {
            let size = 0.5 * part * area(&jacobian(&at, rest)) * depth(&at, rest, is_ring);
            for (n, shape) in shapes(&at).into_iter().enumerate() {
                weights[n] += size * shape;
                squares[n] += size * shape * shape;
            }
        }
        let factor = weights.iter().sum::<f64>() / squares.iter().sum::<f64>();
        [weights, squares.map(|s| s * factor)]
    }

    /// Circumference at rest that the element stands for, m; 1 under plane strain.
    pub fn depth(&self, rest: &[Vec3; NODES]) -> f64 {
        let flat: f64 = points().iter().map(|at| area(&jacobian(at, rest)) / 6.0).sum();
        self.volume() / flat
    }

    /// Deformation gradients F at the points.
    pub fn deformation_gradients(&self, x: &[Vec3; NODES]) -> [Mat3; POINTS] {
        std::array::from_fn(|q| self.points[q].deformation_gradient(x))
    }

    /// The mean of F over the element at rest.
    pub fn mean_gradient(&self, x: &[Vec3; NODES]) -> Mat3 {
        self.mean(&self.deformation_gradients(x))
    }

    /// The least volume ratio, of those at the points and of the coefficients of the area.
    pub fn least_ratio(&self, x: &[Vec3; NODES]) -> f64 {
        let points = self.deformation_gradients(x).map(|f| f.determinant());
        points.into_iter().chain(self.guard.ratios(x)).fold(f64::INFINITY, f64::min)
    }

    /// Cauchy stress at the points, Pa.
    pub fn stresses(&self, x: &[Vec3; NODES]) -> [Mat3; POINTS] {
        let Elasticity { law, lame, .. } = &self.elasticity;
        self.deformation_gradients(x).map(|f| law.cauchy_stress(lame, &f))
    }

    /// The mean over the element at rest of what has these values at its points.
    pub(super) fn mean(&self, values: &[Mat3]) -> Mat3 {
        let sum: Mat3 = values.iter().zip(&self.points).map(|(s, p)| s * p.volume).sum();
        sum / self.volume()
    }

    /// Whether the Bernstein coefficients of the area are positive, and with them the area everywhere within.
    pub fn is_positive(x: &[Vec3; NODES]) -> bool {
        bernstein::is_positive(x)
    }

    fn second_derivative(&self, x: &[Vec3; NODES], project: bool) -> Hessian<NODES> {
        let mut sum = [[Mat3::zeros(); NODES]; NODES];
        for point in &self.points {
            let own = point.hessian(&self.elasticity, x, project);
            sum.iter_mut().flatten().zip(own.iter().flatten()).for_each(|(sum, own)| *sum += own);
        }
        self.guard.add_second_derivative(x, project, &mut sum);
        sum
    }
}

/// 2πR at barycentric coordinates of a ring, and 1 under plane strain.
fn depth(at: &[f64; 3], rest: &[Vec3; NODES], is_ring: bool) -> f64 {
    if is_ring { TAU * place(at, rest).x } else { 1.0 }
}

/// The point at barycentric coordinates of an element whose area is positive there.
fn point(at: &[f64; 3], rest: &[Vec3; NODES], is_ring: bool) -> RingPoint<NODES> {
    let [a, b] = jacobian(at, rest);
    let det = area(&[a, b]);
    // the rows of (∂X/∂ξ)⁻¹
    let rows = [Vec3::new(b.y, -b.x, 0.0) / det, Vec3::new(-a.y, a.x, 0.0) / det];
    let gradients = slopes(at).map(|[s, t]| rows[0] * s + rows[1] * t);
    let (hoop, across) = match is_ring {
        true => (shapes(at).map(|n| Vec3::z() * (n / place(at, rest).x)), Mat3::zeros()),
        false => ([Vec3::zeros(); NODES], Vec3::z() * Vec3::z().transpose()),
    };
    let volume = det * depth(at, rest, is_ring) / (2.0 * POINTS as f64);
    // radii are bounded at the control points (`guard.rs`)
    RingPoint { gradients, hoop, across, volume, radii: [0.0; NODES] }
}

impl Element<NODES> for QuadraticTriangle {
    const NAME: &'static str = "quadratic triangles";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    // a ring that is moved outwards is stretched
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; NODES]) -> f64 {
        let at = |p: &RingPoint<NODES>| p.volume * self.elasticity.psi(&p.deformation_gradient(x));
        self.points.iter().map(at).sum::<f64>() + self.guard.value(x)
    }

    fn gradient(&self, x: &[Vec3; NODES]) -> [Vec3; NODES] {
        let mut sum = self.guard.gradient(x);
        for point in &self.points {
            let own = point.pulled(&self.elasticity.pk1(&point.deformation_gradient(x)));
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        sum
    }

    fn hessian_psd(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; NODES]) -> Hessian<NODES> {
        self.second_derivative(x, false)
    }

    /// The largest α ≤ 1 such that the Bernstein coefficients of the area, and of a ring those of the radius, keep a fifth of what they are all
    /// along `x` + [0, α] `dx`.
    fn max_step(&self, x: &[Vec3; NODES], dx: &[Vec3; NODES]) -> f64 {
        self.guard.max_step(x, dx)
    }
}
