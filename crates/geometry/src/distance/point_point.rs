//! Point against point: d² = |a − b|².

use super::{Closest, Expansion, plane_basis};
use standoff_linalg::{Mat3, Vec3};

/// Squared distance of two points, m².
#[inline]
pub fn point_point_d2(a: &Vec3, b: &Vec3) -> f64 {
    (a - b).norm_squared()
}

/// Closest points: the points themselves, weights (1, −1).
#[inline]
pub fn closest(a: &Vec3, b: &Vec3) -> Closest<2> {
    Closest { weights: [1.0, -1.0], offset: a - b }
}

/// Second-order data of d².
#[inline]
pub fn expansion(a: &Vec3, b: &Vec3) -> Expansion<2, 0> {
    Expansion { closest: closest(a, b), tangents: [], slopes: [] }
}

/// Gradient of d² in (a, b).
#[inline]
pub fn gradient(a: &Vec3, b: &Vec3) -> [Vec3; 2] {
    closest(a, b).gradient()
}

/// Hessian of d² in (a, b), constant: ±2 I.
#[inline]
pub fn hessian() -> [[Mat3; 2]; 2] {
    let d = Mat3::from_diagonal_element(2.0);
    [[d, -d], [-d, d]]
}

/// Orthonormal basis of the plane normal to a − b [Li 2020 thesis, App. H, Eq. 13].
pub fn tangent_basis(a: &Vec3, b: &Vec3) -> [Vec3; 2] {
    plane_basis(&(b - a))
}
