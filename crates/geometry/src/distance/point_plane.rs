//! Point against a fixed plane: the boundary of a half-space.

use standoff_linalg::{Mat3, Vec3};

/// Signed distance n·(p − o), m; `n` must be a unit vector.
#[inline]
pub fn signed_distance(p: &Vec3, origin: &Vec3, normal: &Vec3) -> f64 {
    normal.dot(&(p - origin))
}

/// Squared distance (n·(p − o))², m².
#[inline]
pub fn point_plane_d2(p: &Vec3, origin: &Vec3, normal: &Vec3) -> f64 {
    let d = signed_distance(p, origin, normal);
    d * d
}

/// Gradient 2 (n·(p − o)) n of the squared distance in p.
#[inline]
pub fn gradient(p: &Vec3, origin: &Vec3, normal: &Vec3) -> Vec3 {
    normal * (2.0 * signed_distance(p, origin, normal))
}

/// Hessian 2 n nᵀ of the squared distance in p.
#[inline]
pub fn hessian(normal: &Vec3) -> Mat3 {
    normal * (normal * 2.0).transpose()
}
