//! One question of continuous collision detection: two primitives in linear motion.

use crate::PairKind;
use crate::distance::{point_edge, point_point};
use standoff_linalg::Vec3;

/// Two primitives whose vertices move as x + t dx.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// Which primitives.
    pub kind: PairKind,
    /// Positions at t = 0, m; what is beyond the vertices of the kind is not looked at.
    pub x: [Vec3; 4],
    /// Displacements per unit of t, m.
    pub dx: [Vec3; 4],
}

impl Query {
    /// Two points (p, q).
    pub fn point_point(x: [Vec3; 2], dx: [Vec3; 2]) -> Self {
        let four = |v: [Vec3; 2]| [v[0], v[1], v[1], v[1]];
        Self { kind: PairKind::VertexVertex, x: four(x), dx: four(dx) }
    }

    /// A point and a segment (p, e0, e1).
    pub fn point_edge(x: [Vec3; 3], dx: [Vec3; 3]) -> Self {
        let four = |v: [Vec3; 3]| [v[0], v[1], v[2], v[2]];
        Self { kind: PairKind::EdgeVertex, x: four(x), dx: four(dx) }
    }

    /// A point and a triangle (p, t0, t1, t2).
    pub fn point_triangle(x: [Vec3; 4], dx: [Vec3; 4]) -> Self {
        Self { kind: PairKind::FaceVertex, x, dx }
    }

    /// Two segments (a0, a1, b0, b1).
    pub fn edge_edge(x: [Vec3; 4], dx: [Vec3; 4]) -> Self {
        Self { kind: PairKind::EdgeEdge, x, dx }
    }

    /// Bound of what rounding moves two vertices relative to each other when x + t dx, t ≤ 1, is
    /// stored in `f64`, m.
    pub fn landing_error(&self) -> f64 {
        let (mut x, mut dx) = (0.0_f64, 0.0_f64);
        for i in 0..self.kind.vertex_count() {
            x = x.max(self.x[i].amax());
            dx = dx.max(self.dx[i].amax());
        }
        4.0 * f64::EPSILON * (x + dx)
    }
}

/// Vectors between vertices and edges of the two primitives, and a common normal: one of them is
/// the closest offset's direction, however badly shaped the primitives are.
pub(super) fn feature_offsets(kind: PairKind, x: &[Vec3; 4]) -> [Vec3; 5] {
    let pe = |p: usize, a: usize, b: usize| {
        let (p, a, b) = (&x[p], &x[a], &x[b]);
        point_edge::closest_on(point_edge::feature(p, a, b), p, a, b).offset
    };
    let pp = |p: usize, q: usize| point_point::closest(&x[p], &x[q]).offset;
    match kind {
        PairKind::VertexVertex => [pp(0, 1); 5],
        PairKind::EdgeVertex => [pe(0, 1, 2), pp(0, 1), pp(0, 2), pp(0, 1), pp(0, 2)],
        PairKind::FaceVertex => {
            let normal = (x[2] - x[1]).cross(&(x[3] - x[1]));
            [pe(0, 1, 2), pe(0, 2, 3), pe(0, 3, 1), normal, normal]
        }
        PairKind::EdgeEdge => {
            let normal = (x[1] - x[0]).cross(&(x[3] - x[2]));
            [pe(0, 2, 3), pe(1, 2, 3), pe(2, 0, 1), pe(3, 0, 1), normal]
        }
    }
}
