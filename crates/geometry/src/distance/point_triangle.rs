//! Point against triangle, clamped to the triangle or not (point against its plane).

use super::{
    Chart, Closest, Expansion, NEARLY_PARALLEL_SIN2, PARALLEL_SIN2, PointEdgeFeature,
    orthonormal_chart, plain, point_edge, point_edge_d2, point_point, scatter_hessian,
};
use standoff_linalg::{Mat3, Real, V3, Vec3};

/// Where the closest point of a triangle lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointTriangleFeature {
    /// Vertex t0.
    T0,
    /// Vertex t1.
    T1,
    /// Vertex t2.
    T2,
    /// Edge t0 t1.
    E0,
    /// Edge t1 t2.
    E1,
    /// Edge t2 t0.
    E2,
    /// The interior.
    Face,
}

impl PointTriangleFeature {
    /// Vertices of (p, t0, t1, t2) that the distance depends on, the point first.
    #[inline]
    pub fn local(self) -> &'static [usize] {
        match self {
            Self::T0 => &[0, 1],
            Self::T1 => &[0, 2],
            Self::T2 => &[0, 3],
            Self::E0 => &[0, 1, 2],
            Self::E1 => &[0, 2, 3],
            Self::E2 => &[0, 3, 1],
            Self::Face => &[0, 1, 2, 3],
        }
    }
}

/// The closest feature; vertices win over edges and edges over the interior where they tie.
///
/// Triangles whose edges at t0 make an angle of sin ≤ 1e-10 are treated as their three edges.
pub fn feature(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> PointTriangleFeature {
    let n = (t1 - t0).cross(&(t2 - t0));
    let (n2, scale) = (n.norm_squared(), (t1 - t0).norm_squared() * (t2 - t0).norm_squared());
    if n2 <= NEARLY_PARALLEL_SIN2 * scale {
        return thin_feature(p, t0, t1, t2, n2 > PARALLEL_SIN2 * scale);
    }
    // position along each edge, in (0, 1) between the ends, where p is beyond the edge's line
    let t = [t0, t1, t2];
    let mut along = [0.0; 3];
    for k in 0..3 {
        let (a, b) = (t[k], t[(k + 1) % 3]);
        let (e, r) = (b - a, p - a);
        along[k] = e.dot(&r) / e.norm_squared();
        if along[k] > 0.0 && along[k] < 1.0 && n.dot(&e.cross(&r)) <= 0.0 {
            return [PointTriangleFeature::E0, PointTriangleFeature::E1, PointTriangleFeature::E2]
                [k];
        }
    }
    if along[0] <= 0.0 && along[2] >= 1.0 {
        PointTriangleFeature::T0
    } else if along[1] <= 0.0 && along[0] >= 1.0 {
        PointTriangleFeature::T1
    } else if along[2] <= 0.0 && along[1] >= 1.0 {
        PointTriangleFeature::T2
    } else {
        PointTriangleFeature::Face
    }
}

/// Closest feature of a triangle that is nearly a segment: the edge nearest by value, or the
/// interior where that is valid and strictly nearer.
#[cold]
fn thin_feature(
    p: &Vec3,
    t0: &Vec3,
    t1: &Vec3,
    t2: &Vec3,
    has_plane: bool,
) -> PointTriangleFeature {
    use PointTriangleFeature::*;
    let edges = [(t0, t1, [T0, T1, E0]), (t1, t2, [T1, T2, E1]), (t2, t0, [T2, T0, E2])];
    let (mut best, mut best_d2) = (T0, f64::INFINITY);
    for (a, b, names) in edges {
        let d2 = point_edge_d2(p, a, b);
        if d2 < best_d2 {
            best_d2 = d2;
            best = match point_edge::feature(p, a, b) {
                PointEdgeFeature::E0 => names[0],
                PointEdgeFeature::E1 => names[1],
                PointEdgeFeature::Edge => names[2],
            };
        }
    }
    if has_plane {
        let c = closest(p, t0, t1, t2);
        if c.weights[1..].iter().all(|&w| w < 0.0) && c.d2() < best_d2 {
            return Face;
        }
    }
    best
}

/// Squared distance of a point to a triangle, m².
#[inline]
pub fn point_triangle_d2(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> f64 {
    let (e1, e2, r) = (t1 - t0, t2 - t0, p - t0);
    let n = e1.cross(&e2);
    let n2 = n.norm_squared();
    if n2 > NEARLY_PARALLEL_SIN2 * e1.norm_squared() * e2.norm_squared() {
        // twice the signed areas opposite to t1 and t2, times |n|
        let (a1, a2) = (r.cross(&e2).dot(&n), e1.cross(&r).dot(&n));
        if a1 > 0.0 && a2 > 0.0 && a1 + a2 < n2 {
            let h = n.dot(&(r - e1 * (a1 / n2) - e2 * (a2 / n2)));
            return h * h / n2;
        }
    } else if n2 > 0.0 {
        return closest_on(feature(p, t0, t1, t2), p, t0, t1, t2).d2();
    }
    point_edge_d2(p, t0, t1).min(point_edge_d2(p, t1, t2)).min(point_edge_d2(p, t2, t0))
}

/// Coordinates (β₁, β₂) of the point t0 + β₁ (t1 − t0) + β₂ (t2 − t0) of the plane that is closest
/// to `p`, not clamped. The triangle must have an area.
#[inline]
pub fn parameters(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [f64; 2] {
    let (e1, e2, r) = (t1 - t0, t2 - t0, p - t0);
    let n = e1.cross(&e2);
    let n2 = n.norm_squared();
    [r.cross(&e2).dot(&n) / n2, e1.cross(&r).dot(&n) / n2]
}

/// Closest points of a point and a plane through a triangle with an area: weights
/// (1, −(1−β₁−β₂), −β₁, −β₂).
#[inline]
pub fn closest(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> Closest<4> {
    let (weights, offset) = closest_of(&plain([p, t0, t1, t2]));
    Closest { weights, offset: offset.into() }
}

/// [`closest`] in any number.
#[inline(always)]
fn closest_of<R: Real>(x: &[V3<R>; 4]) -> ([R; 4], V3<R>) {
    let (e1, e2, r) = (x[2] - x[1], x[3] - x[1], x[0] - x[1]);
    let n = e1.cross(&e2);
    let n2 = n.norm_squared();
    let (b1, b2) = (r.cross(&e2).dot(&n) / n2, e1.cross(&r).dot(&n) / n2);
    // moving to the closest point first keeps the normal's rounding error from acting on a long arm
    let rough = r - e1 * b1 - e2 * b2;
    let one = b1.constant(1.0);
    ([one, b1 + b2 - one, -b1, -b2], n * (n.dot(&rough) / n2))
}

/// Second-order data of the squared distance of a point and a triangle's plane.
#[inline]
pub fn expansion(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> Expansion<4, 2> {
    chart(&plain([p, t0, t1, t2])).into()
}

/// [`expansion`] in any number.
#[inline(always)]
pub fn chart<R: Real>(x: &[V3<R>; 4]) -> Chart<R, 4, 2> {
    let (a, b) = (x[1] - x[2], x[1] - x[3]);
    let (tangents, slopes) =
        orthonormal_chart(&a, &b, &a.cross(&b), [0.0, 1.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]);
    let (weights, offset) = closest_of(x);
    Chart { weights, offset, tangents, slopes }
}

/// Squared distance of a point and a triangle's plane, m².
#[inline]
pub fn plane_d2(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> f64 {
    closest(p, t0, t1, t2).d2()
}

/// Gradient of the squared distance to the plane in (p, t0, t1, t2).
pub fn plane_gradient(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [Vec3; 4] {
    closest(p, t0, t1, t2).gradient()
}

/// Hessian of the squared distance to the plane in (p, t0, t1, t2).
pub fn plane_hessian(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [[Mat3; 4]; 4] {
    expansion(p, t0, t1, t2).hessian()
}

/// Closest points of a point and a triangle with the feature given.
pub fn closest_on(
    f: PointTriangleFeature,
    p: &Vec3,
    t0: &Vec3,
    t1: &Vec3,
    t2: &Vec3,
) -> Closest<4> {
    let x = [p, t0, t1, t2];
    match *f.local() {
        [a, b] => point_point::closest(x[a], x[b]).scatter(&[a, b]),
        [a, b, c] => point_edge::closest(x[a], x[b], x[c]).scatter(&[a, b, c]),
        _ => closest(p, t0, t1, t2),
    }
}

/// Gradient of the squared distance to the triangle in (p, t0, t1, t2).
pub fn gradient(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [Vec3; 4] {
    closest_on(feature(p, t0, t1, t2), p, t0, t1, t2).gradient()
}

/// Hessian of the squared distance to the triangle in (p, t0, t1, t2).
pub fn hessian(p: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [[Mat3; 4]; 4] {
    let x = [p, t0, t1, t2];
    match *feature(p, t0, t1, t2).local() {
        [a, b] => scatter_hessian(&point_point::hessian(), &[a, b]),
        [a, b, c] => scatter_hessian(&point_edge::line_hessian(x[a], x[b], x[c]), &[a, b, c]),
        _ => plane_hessian(p, t0, t1, t2),
    }
}

/// Orthonormal tangent vectors of a triangle with an area: along t0 t1, and normal to it in the
/// plane [Li 2020 thesis, App. H, Eq. 7].
pub fn tangent_basis(t0: &Vec3, t1: &Vec3, t2: &Vec3) -> [Vec3; 2] {
    let e = t1 - t0;
    let n = e.cross(&(t2 - t0));
    let t = e / e.norm();
    [t, (n / n.norm()).cross(&t)]
}
