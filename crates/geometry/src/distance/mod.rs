//! Squared distances between points, edges and triangles, with gradients and Hessians.
//!
//! One file per pair. Each pair is first *classified*: which features (vertices, edge interiors,
//! triangle interior) hold the closest points. For a given feature the squared distance is smooth
//! and has a closed form [Li 2020, §6.1], here written through the closest points themselves:
//!
//! - offset q = Σ wᵢ xᵢ between the closest points, with weights w that sum to zero ([`Closest`]);
//! - d² = q·q and ∂d²/∂xᵢ = 2 wᵢ q, since d² is stationary in the closest points' parameters;
//! - ∂²d²/∂xᵢ∂xⱼ = 2 wᵢwⱼ I − 2 Σ_c gᵢ gⱼᵀ with gᵢ = wᵢ t_c + σ_cᵢ q, one term for every parameter
//!   of the closest points ([`Expansion`]).
//!
//! Distances are always squared: no root is taken, and d² is smooth where d is not. All lengths are
//! in m. The functions named `*_d2` are clamped to the primitives and meant for tight loops.

use standoff_linalg::{Mat3, Real, V3, Vec3};

pub mod edge_edge;
pub mod mollifier;
pub mod point_edge;
pub mod point_plane;
pub mod point_point;
pub mod point_triangle;

pub use edge_edge::{EdgeEdgeFeature, edge_edge_d2};
pub use point_edge::{PointEdgeFeature, point_edge_d2};
pub use point_point::point_point_d2;
pub use point_triangle::{PointTriangleFeature, point_triangle_d2};

/// sin² of the angle between two directions below which their cross product is not used: the pair
/// reduces to point–edge or point–point [Li 2020 thesis, App. G].
pub(crate) const PARALLEL_SIN2: f64 = 1e-20;

/// sin² below which rounding may misplace the closest points along the flat direction, so that all
/// reductions are compared by value.
pub(crate) const NEARLY_PARALLEL_SIN2: f64 = 1e-10;

/// Closest points of two primitives with `N` vertices together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest<const N: usize> {
    /// Weights w of the vertices: those of the first primitive sum to 1, of the second to −1.
    pub weights: [f64; N],
    /// q = Σ wᵢ xᵢ, from the second primitive's closest point to the first one's, m.
    pub offset: Vec3,
}

impl<const N: usize> Closest<N> {
    /// Squared distance d² = q·q, m².
    #[inline]
    pub fn d2(&self) -> f64 {
        self.offset.norm_squared()
    }

    /// Gradient of d², 2 wᵢ q, m (`N`).
    #[inline]
    pub fn gradient(&self) -> [Vec3; N] {
        self.weights.map(|w| self.offset * (2.0 * w))
    }

    /// The same closest points as part of a stencil of `M` vertices, of which `local` are these.
    #[inline]
    pub fn scatter<const M: usize>(&self, local: &[usize; N]) -> Closest<M> {
        let mut weights = [0.0; M];
        for i in 0..N {
            weights[local[i]] = self.weights[i];
        }
        Closest { weights, offset: self.offset }
    }
}

/// Second-order data of a squared distance: the closest points have `K` free parameters (0 for
/// point–point, 1 for point–line, 2 for point–plane and line–line).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expansion<const N: usize, const K: usize> {
    /// The closest points.
    pub closest: Closest<N>,
    /// Orthonormal directions t_c in which the closest points may slide, all normal to q (`K`).
    pub tangents: [Vec3; K],
    /// σ_c: rate at which t_c·q changes with a vertex's motion along q, 1/m (`K×N`).
    pub slopes: [[f64; N]; K],
}

impl<const N: usize, const K: usize> Expansion<N, K> {
    /// Hessian of d², 2 wᵢwⱼ I − 2 Σ_c gᵢ gⱼᵀ with gᵢ = wᵢ t_c + σ_cᵢ q (`N×N` blocks).
    pub fn hessian(&self) -> [[Mat3; N]; N] {
        let w = &self.closest.weights;
        let g: [[Vec3; N]; K] = std::array::from_fn(|c| {
            std::array::from_fn(|i| {
                self.tangents[c] * w[i] + self.closest.offset * self.slopes[c][i]
            })
        });
        let mut h = [[Mat3::zeros(); N]; N];
        for i in 0..N {
            for j in i..N {
                let mut block = Mat3::from_diagonal_element(2.0 * w[i] * w[j]);
                for gc in &g {
                    block -= gc[i] * (gc[j] * 2.0).transpose();
                }
                h[i][j] = block;
                h[j][i] = block.transpose();
            }
        }
        h
    }
}

/// The blocks of a Hessian as part of a stencil of `M` vertices, of which `local` are these.
pub fn scatter_hessian<const N: usize, const M: usize>(
    h: &[[Mat3; N]; N],
    local: &[usize; N],
) -> [[Mat3; M]; M] {
    let mut out = [[Mat3::zeros(); M]; M];
    for i in 0..N {
        for j in 0..N {
            out[local[i]][local[j]] = h[i][j];
        }
    }
    out
}

/// [`Expansion`] in any number.
#[derive(Clone, Copy)]
pub struct Chart<R, const N: usize, const K: usize> {
    /// Weights w of the closest points.
    pub weights: [R; N],
    /// q = Σ wᵢ xᵢ, m.
    pub offset: V3<R>,
    /// Directions t_c.
    pub tangents: [V3<R>; K],
    /// σ_c, 1/m.
    pub slopes: [[R; N]; K],
}

impl<const N: usize, const K: usize> From<Chart<f64, N, K>> for Expansion<N, K> {
    #[inline]
    fn from(c: Chart<f64, N, K>) -> Self {
        let closest = Closest { weights: c.weights, offset: c.offset.into() };
        Self { closest, tangents: c.tangents.map(Vec3::from), slopes: c.slopes }
    }
}

impl<const N: usize, const K: usize> From<&Expansion<N, K>> for Chart<f64, N, K> {
    #[inline]
    fn from(e: &Expansion<N, K>) -> Self {
        let Closest { weights, offset } = &e.closest;
        let tangents = std::array::from_fn(|c| (&e.tangents[c]).into());
        Self { weights: *weights, offset: offset.into(), tangents, slopes: e.slopes }
    }
}

/// Positions of a pair's four vertices as plain numbers of a formula.
#[inline(always)]
pub(crate) fn plain(x: [&Vec3; 4]) -> [V3<f64>; 4] {
    [x[0].into(), x[1].into(), x[2].into(), x[3].into()]
}

/// Orthonormal tangents and slopes of a pair with two parameters, from the derivatives a, b of q by
/// them (`s_a`, `s_b`: a = Σ s_aᵢ xᵢ, so that ±1 marks the edge's ends) and n = a × b ≠ 0.
///
/// This is the QR factorisation [a b] = [t₀ t₁] R; then σ = s R⁻¹.
#[inline(always)]
pub(crate) fn orthonormal_chart<R: Real, const N: usize>(
    a: &V3<R>,
    b: &V3<R>,
    n: &V3<R>,
    s_a: [f64; N],
    s_b: [f64; N],
) -> ([V3<R>; 2], [[R; N]; 2]) {
    let (r00, length) = (a.norm(), n.norm());
    let t0 = V3([a[0] / r00, a[1] / r00, a[2] / r00]);
    let t1 = V3([n[0] / length, n[1] / length, n[2] / length]).cross(&t0);
    let (r01, r11) = (t0.dot(b), t1.dot(b));
    let mut slopes = [[r00; N]; 2];
    for i in 0..N {
        slopes[0][i] = r00.constant(s_a[i]) / r00;
        slopes[1][i] = (r00.constant(s_b[i]) - r01 * slopes[0][i]) / r11;
    }
    ([t0, t1], slopes)
}

/// Two unit vectors that form a right-handed orthonormal frame with `n` (of any positive length):
/// t = e × n normalised and n̂ × t, where e is the coordinate axis that is least aligned with n.
/// For n = 0 the first two axes.
pub fn plane_basis(n: &Vec3) -> [Vec3; 2] {
    let length = n.norm();
    if length == 0.0 {
        return [Vec3::x(), Vec3::y()];
    }
    let n = n / length;
    let axis = if n.x.abs() <= n.y.abs() && n.x.abs() <= n.z.abs() {
        Vec3::x()
    } else if n.y.abs() <= n.z.abs() {
        Vec3::y()
    } else {
        Vec3::z()
    };
    let t = axis.cross(&n).normalize();
    [t, n.cross(&t)]
}
