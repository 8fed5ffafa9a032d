//! Bernstein coefficients of the area and of the radius of a quadratic triangle, and along which step they stay positive.
//!
//! det ∂x/∂ξ is a polynomial of degree two in the barycentric coordinates, and lies between its least and its greatest coefficient in
//! Bernstein's basis [Johnen 2013], of which there are six: c_ik = ½ (a_i × b_k + a_k × b_i), with the columns a and b of ∂x/∂ξ at the corners. The
//! coefficients of a position are its control points. Along x + t dx each coefficient of the area is a polynomial of degree two in t.

use super::NODES;
use crate::energy::tet::step::Cubic;
use standoff_geometry::quadratic::TRIANGLE_EDGES;
use standoff_linalg::Vec3;

/// How many coefficients there are.
pub(super) const COEFFICIENTS: usize = 6;

/// The corners of whose columns a coefficient consists.
pub(super) const PAIRS: [[usize; 2]; COEFFICIENTS] =
    [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]];

/// Bound of the relative rounding error of a product of two columns, of which each is a sum of eight terms: 24 roundings of ε/2, doubled.
const PRODUCT_ERROR: f64 = 24.0 * f64::EPSILON;

/// Ten times the area, in terms of the square of an element's size, from which on the audit proves that it is positive (`audit/curved.rs`): what
/// is left of it after a step is provable, too.
const PROVABLE: f64 = 1e4 * f64::EPSILON;

/// The weights of the nodes in column k of ∂x/∂ξ at each corner, 2 (p_i,k+1 − p_i0) with the control points p.
pub(super) const WEIGHTS: [[[f64; NODES]; 3]; 2] = {
    let mut weights = [[[0.0; NODES]; 3]; 2];
    let mut k = 0;
    while k < 2 {
        let mut i = 0;
        while i < 3 {
            let (plus, minus) = (control(i, k + 1), control(i, 0));
            let mut n = 0;
            while n < NODES {
                weights[k][i][n] = 2.0 * (plus[n] - minus[n]);
                n += 1;
            }
            i += 1;
        }
        k += 1;
    }
    weights
};

/// The weights of the nodes in control point p_ij: x_i, and for i ≠ j 2 m_ij − (x_i + x_j)/2 with the node m_ij between.
pub(super) const fn control(i: usize, j: usize) -> [f64; NODES] {
    let mut weights = [0.0; NODES];
    weights[i] += 0.5;
    weights[j] += 0.5;
    if i != j {
        (weights[i], weights[j]) = (-0.5, -0.5);
        let mut e = 0;
        while e < 3 {
            let [a, b] = TRIANGLE_EDGES[e];
            if (a == i && b == j) || (a == j && b == i) {
                weights[3 + e] = 2.0;
            }
            e += 1;
        }
    }
    weights
}

/// Both columns at the three corners.
pub(super) fn columns(x: &[Vec3; NODES]) -> [[Vec3; 3]; 2] {
    // the weights sum to zero
    WEIGHTS.map(|of| of.map(|w| (1..NODES).map(|n| (x[n] - x[0]) * w[n]).sum()))
}

/// Sums of the magnitudes of what the columns are made of, to which their rounding is relative.
fn sizes(x: &[Vec3; NODES]) -> [[f64; 3]; 2] {
    let size = |n: usize| {
        let d = x[n] - x[0];
        d.x.abs() + d.y.abs()
    };
    WEIGHTS.map(|of| of.map(|w| (1..NODES).map(|n| size(n) * w[n].abs()).sum()))
}

/// The third component of a × b.
fn cross(a: &Vec3, b: &Vec3) -> f64 {
    a.x * b.y - a.y * b.x
}

/// The coefficients of the area from the columns, m².
pub(super) fn coefficients([a, b]: &[[Vec3; 3]; 2]) -> [f64; COEFFICIENTS] {
    PAIRS.map(|[i, k]| 0.5 * (cross(&a[i], &b[k]) + cross(&a[k], &b[i])))
}

/// The least area that counts as positive, m².
fn provable(x: &[Vec3; NODES]) -> f64 {
    let size = x.iter().map(|p| (p - x[0]).amax()).fold(0.0, f64::max);
    PROVABLE * size * size
}

/// Whether all coefficients of the area are positive beyond rounding.
pub(super) fn is_positive(x: &[Vec3; NODES]) -> bool {
    let (own, [a, b], least) = (coefficients(&columns(x)), sizes(x), provable(x));
    own.iter().zip(PAIRS).all(|(c, [i, k])| {
        let noise = PRODUCT_ERROR * 0.5 * (a[i] * b[k] + a[k] * b[i]);
        c.is_finite() && *c > noise.max(least)
    })
}

/// The control points: the corners, then those of the edges.
pub(super) fn control_points(x: &[Vec3; NODES]) -> [Vec3; COEFFICIENTS] {
    PAIRS.map(|[i, k]| x.iter().zip(control(i, k)).map(|(x, w)| x * w).sum())
}

/// What rounding may add to the radius of a control point.
fn radius_noise(x: &[Vec3; NODES]) -> f64 {
    8.0 * f64::EPSILON * x.iter().map(|p| p.x.abs()).fold(0.0, f64::max)
}

/// Whether each control point is on the axis, because the nodes of which it is made are.
pub(super) fn on_axis(x: &[Vec3; NODES]) -> [bool; COEFFICIENTS] {
    // node k of an edge is between its ends
    std::array::from_fn(|k| PAIRS[k].into_iter().chain([k]).all(|n| x[n].x == 0.0))
}

/// Whether no radius within is negative: no control point is behind the axis, or on it but for those whose nodes are.
pub(super) fn is_outside(x: &[Vec3; NODES]) -> bool {
    let noise = radius_noise(x);
    let off = control_points(x).into_iter().zip(on_axis(x)).filter(|(_, on)| !on);
    x.iter().all(|p| p.x >= 0.0) && off.into_iter().all(|(p, _)| p.x > noise)
}

/// The largest α ≤ 1 such that all coefficients of the area, and of a ring the radii of all control points off the axis, are at least `keep` times
/// what they are along `x` + [0, α] `dx`.
pub(super) fn max_step(x: &[Vec3; NODES], dx: &[Vec3; NODES], keep: f64, is_ring: bool) -> f64 {
    let ([a, b], [p, q]) = (columns(x), columns(dx));
    let ([sa, sb], [sp, sq]) = (sizes(x), sizes(dx));
    let (mut least, provable): (f64, _) = (1.0, provable(x));
    for [i, k] in PAIRS {
        let sum = |u: &[Vec3; 3], v: &[Vec3; 3]| 0.5 * (cross(&u[i], &v[k]) + cross(&u[k], &v[i]));
        let size = |u: &[f64; 3], v: &[f64; 3]| 0.5 * PRODUCT_ERROR * (u[i] * v[k] + u[k] * v[i]);
        let c = [sum(&a, &b) * (1.0 - keep), sum(&p, &b) + sum(&a, &q), sum(&p, &q), 0.0];
        let error = [
            size(&sa, &sb).max((1.0 - keep) * provable),
            size(&sp, &sb) + size(&sa, &sq),
            size(&sp, &sq),
            0.0,
        ];
        least = least.min(Cubic::new(c, error).first_root());
    }
    if is_ring {
        let noise = radius_noise(x);
        let points = control_points(x).into_iter().zip(control_points(dx)).zip(on_axis(x));
        // one on the axis is held there
        for ((x, dx), _) in points.filter(|((_, dx), on)| !on && dx.x < 0.0) {
            least = least.min(((1.0 - keep) * (x.x - noise) / -dx.x).max(0.0));
        }
    }
    least
}
