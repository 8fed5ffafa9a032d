//! One question of continuous collision detection: two primitives in linear motion.

use crate::distance::{edge_edge, point_edge, point_point, point_triangle};
use standoff_linalg::Vec3;

/// Which two primitives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Vertices (p, q).
    PointPoint,
    /// Vertices (p, e0, e1).
    PointEdge,
    /// Vertices (p, t0, t1, t2).
    PointTriangle,
    /// Vertices (a0, a1, b0, b1).
    EdgeEdge,
}

/// Two primitives whose vertices move as x + t dx.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// Which primitives.
    pub kind: Kind,
    /// Positions at t = 0, m; vertices beyond those of the kind repeat the last one.
    pub x: [Vec3; 4],
    /// Displacements per unit of t, m.
    pub dx: [Vec3; 4],
}

impl Query {
    /// Two points (p, q).
    pub fn point_point(x: [Vec3; 2], dx: [Vec3; 2]) -> Self {
        let four = |v: [Vec3; 2]| [v[0], v[1], v[1], v[1]];
        Self { kind: Kind::PointPoint, x: four(x), dx: four(dx) }
    }

    /// A point and a segment (p, e0, e1).
    pub fn point_edge(x: [Vec3; 3], dx: [Vec3; 3]) -> Self {
        let four = |v: [Vec3; 3]| [v[0], v[1], v[2], v[2]];
        Self { kind: Kind::PointEdge, x: four(x), dx: four(dx) }
    }

    /// A point and a triangle (p, t0, t1, t2).
    pub fn point_triangle(x: [Vec3; 4], dx: [Vec3; 4]) -> Self {
        Self { kind: Kind::PointTriangle, x, dx }
    }

    /// Two segments (a0, a1, b0, b1).
    pub fn edge_edge(x: [Vec3; 4], dx: [Vec3; 4]) -> Self {
        Self { kind: Kind::EdgeEdge, x, dx }
    }

    /// Pairs (i of the first primitive, j of the second one).
    pub(super) fn vertex_pairs(&self) -> &'static [[usize; 2]] {
        match self.kind {
            Kind::PointPoint => &[[0, 1]],
            Kind::PointEdge => &[[0, 1], [0, 2]],
            Kind::PointTriangle => &[[0, 1], [0, 2], [0, 3]],
            Kind::EdgeEdge => &[[0, 2], [0, 3], [1, 2], [1, 3]],
        }
    }

    /// Bound of what rounding moves two vertices relative to each other when x + t dx, t ≤ 1, is
    /// stored in `f64`, m.
    pub fn landing_error(&self) -> f64 {
        let (mut x, mut dx) = (0.0_f64, 0.0_f64);
        for i in 0..4 {
            x = x.max(self.x[i].amax());
            dx = dx.max(self.dx[i].amax());
        }
        4.0 * f64::EPSILON * (x + dx)
    }
}

/// Vector between the closest points of the two primitives with vertices `x`, of either sign.
#[inline]
pub(super) fn closest_offset(kind: Kind, x: &[Vec3; 4]) -> Vec3 {
    let [a, b, c, d] = x;
    match kind {
        Kind::PointPoint => a - b,
        Kind::PointEdge => point_edge::closest_on(point_edge::feature(a, b, c), a, b, c).offset,
        Kind::PointTriangle => {
            let feature = point_triangle::feature(a, b, c, d);
            point_triangle::closest_on(feature, a, b, c, d).offset
        }
        Kind::EdgeEdge => edge_edge::closest_on(edge_edge::feature(a, b, c, d), a, b, c, d).offset,
    }
}

/// Vectors between vertices and edges of the two primitives, and a common normal: one of them is
/// the closest offset's direction, however badly shaped the primitives are.
pub(super) fn feature_offsets(kind: Kind, x: &[Vec3; 4]) -> [Vec3; 5] {
    let pe = |p: usize, a: usize, b: usize| {
        let (p, a, b) = (&x[p], &x[a], &x[b]);
        point_edge::closest_on(point_edge::feature(p, a, b), p, a, b).offset
    };
    let pp = |p: usize, q: usize| point_point::closest(&x[p], &x[q]).offset;
    match kind {
        Kind::PointPoint => [pp(0, 1); 5],
        Kind::PointEdge => [pe(0, 1, 2), pp(0, 1), pp(0, 2), pp(0, 1), pp(0, 2)],
        Kind::PointTriangle => {
            let normal = (x[2] - x[1]).cross(&(x[3] - x[1]));
            [pe(0, 1, 2), pe(0, 2, 3), pe(0, 3, 1), normal, normal]
        }
        Kind::EdgeEdge => {
            let normal = (x[1] - x[0]).cross(&(x[3] - x[2]));
            [pe(0, 2, 3), pe(1, 2, 3), pe(2, 0, 1), pe(3, 0, 1), normal]
        }
    }
}
