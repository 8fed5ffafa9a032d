//! Point against edge, clamped to the segment or not (point against line).

use super::{Closest, Expansion, plane_basis, point_point, scatter_hessian};
use standoff_linalg::{Mat3, Vec3};

/// Where the closest point on an edge lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointEdgeFeature {
    /// At its first end.
    E0,
    /// At its second end.
    E1,
    /// Between (ends included).
    Edge,
}

impl PointEdgeFeature {
    /// Vertices of (p, e0, e1) that the distance depends on, the point first.
    #[inline]
    pub fn local(self) -> &'static [usize] {
        match self {
            Self::E0 => &[0, 1],
            Self::E1 => &[0, 2],
            Self::Edge => &[0, 1, 2],
        }
    }
}

/// Parameter α of the point of the line e0 + α (e1 − e0) that is closest to `p`, not clamped; 0 for
/// an edge of zero length.
#[inline]
pub fn parameter(p: &Vec3, e0: &Vec3, e1: &Vec3) -> f64 {
    let e = e1 - e0;
    let length2 = e.norm_squared();
    if length2 == 0.0 { 0.0 } else { e.dot(&(p - e0)) / length2 }
}

/// The closest feature. An edge of zero length is its first end.
#[inline]
pub fn feature(p: &Vec3, e0: &Vec3, e1: &Vec3) -> PointEdgeFeature {
    let e = e1 - e0;
    let length2 = e.norm_squared();
    let along = e.dot(&(p - e0));
    if length2 == 0.0 || along < 0.0 {
        PointEdgeFeature::E0
    } else if along > length2 {
        PointEdgeFeature::E1
    } else {
        PointEdgeFeature::Edge
    }
}

/// Squared distance of a point to a segment, m².
#[inline]
pub fn point_edge_d2(p: &Vec3, e0: &Vec3, e1: &Vec3) -> f64 {
    let (e, r) = (e1 - e0, p - e0);
    let (along, length2) = (e.dot(&r), e.norm_squared());
    if along <= 0.0 || length2 == 0.0 {
        r.norm_squared()
    } else if along >= length2 {
        (p - e1).norm_squared()
    } else {
        normal_part(r - e * (along / length2), &e, length2).norm_squared()
    }
}

/// Closest points of a point and a line: weights (1, −(1−α), −α).
#[inline]
pub fn closest(p: &Vec3, e0: &Vec3, e1: &Vec3) -> Closest<3> {
    let (e, alpha) = (e1 - e0, parameter(p, e0, e1));
    let offset = normal_part((p - e0) - e * alpha, &e, e.norm_squared());
    Closest { weights: [1.0, alpha - 1.0, -alpha], offset }
}

/// `q` without what rounding left of it along `e`.
#[inline]
fn normal_part(q: Vec3, e: &Vec3, length2: f64) -> Vec3 {
    if length2 == 0.0 { q } else { q - e * (e.dot(&q) / length2) }
}

/// Second-order data of the squared distance of a point and a line (of positive length).
#[inline]
pub fn expansion(p: &Vec3, e0: &Vec3, e1: &Vec3) -> Expansion<3, 1> {
    let e = e1 - e0;
    let length = e.norm();
    // q changes by −e per unit of α
    Expansion {
        closest: closest(p, e0, e1),
        tangents: [e / -length],
        slopes: [[0.0, 1.0 / length, -1.0 / length]],
    }
}

/// Squared distance of a point and a line, m².
#[inline]
pub fn line_d2(p: &Vec3, e0: &Vec3, e1: &Vec3) -> f64 {
    closest(p, e0, e1).d2()
}

/// Gradient of the squared distance to the line in (p, e0, e1).
#[inline]
pub fn line_gradient(p: &Vec3, e0: &Vec3, e1: &Vec3) -> [Vec3; 3] {
    closest(p, e0, e1).gradient()
}

/// Hessian of the squared distance to the line in (p, e0, e1).
pub fn line_hessian(p: &Vec3, e0: &Vec3, e1: &Vec3) -> [[Mat3; 3]; 3] {
    expansion(p, e0, e1).hessian()
}

/// Closest points of a point and a segment with the feature given.
#[inline]
pub fn closest_on(f: PointEdgeFeature, p: &Vec3, e0: &Vec3, e1: &Vec3) -> Closest<3> {
    match f {
        PointEdgeFeature::E0 => point_point::closest(p, e0).scatter(&[0, 1]),
        PointEdgeFeature::E1 => point_point::closest(p, e1).scatter(&[0, 2]),
        PointEdgeFeature::Edge => closest(p, e0, e1),
    }
}

/// Gradient of the squared distance to the segment in (p, e0, e1).
pub fn gradient(p: &Vec3, e0: &Vec3, e1: &Vec3) -> [Vec3; 3] {
    closest_on(feature(p, e0, e1), p, e0, e1).gradient()
}

/// Hessian of the squared distance to the segment in (p, e0, e1).
pub fn hessian(p: &Vec3, e0: &Vec3, e1: &Vec3) -> [[Mat3; 3]; 3] {
    match feature(p, e0, e1) {
        PointEdgeFeature::E0 => scatter_hessian(&point_point::hessian(), &[0, 1]),
        PointEdgeFeature::E1 => scatter_hessian(&point_point::hessian(), &[0, 2]),
        PointEdgeFeature::Edge => line_hessian(p, e0, e1),
    }
}

/// Orthonormal tangent vectors: along the edge, and normal to both the edge and the direction of
/// the point [Li 2020 thesis, App. H, Eq. 11].
pub fn tangent_basis(p: &Vec3, e0: &Vec3, e1: &Vec3) -> [Vec3; 2] {
    let e = e1 - e0;
    let length = e.norm();
    if length == 0.0 {
        return point_point::tangent_basis(p, e0);
    }
    let t = e / length;
    let side = t.cross(&closest(p, e0, e1).offset);
    match side.try_normalize(0.0) {
        Some(s) => [t, s],
        // a point on the line: any direction normal to the edge
        None => [t, plane_basis(&t)[0]],
    }
}
