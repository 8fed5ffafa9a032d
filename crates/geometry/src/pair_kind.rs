//! Which two primitives a pair consists of, and what depends on the positions of their vertices alone.

use crate::distance::{
    Closest, edge_edge, edge_edge_d2, point_edge, point_edge_d2, point_point, point_point_d2,
    point_triangle, point_triangle_d2, scatter_hessian,
};
use standoff_linalg::{Mat3, Vec3};

/// Which two primitives a pair consists of; with the vertices of its stencil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairKind {
    /// Two vertices, stencil (p, q).
    VertexVertex,
    /// An edge and a vertex, stencil (p, e0, e1).
    EdgeVertex,
    /// Two edges, stencil (a0, a1, b0, b1).
    EdgeEdge,
    /// A triangle and a vertex, stencil (p, t0, t1, t2).
    FaceVertex,
}

impl PairKind {
    /// All kinds, ascending.
    pub const ALL: [Self; 4] =
        [Self::VertexVertex, Self::EdgeVertex, Self::EdgeEdge, Self::FaceVertex];

    /// Number of vertices of the stencil.
    #[inline]
    pub fn vertex_count(self) -> usize {
        match self {
            Self::VertexVertex => 2,
            Self::EdgeVertex => 3,
            Self::EdgeEdge | Self::FaceVertex => 4,
        }
    }

    /// Local index of the first vertex of the stencil's second primitive.
    #[inline]
    pub fn second(self) -> usize {
        if self == Self::EdgeEdge { 2 } else { 1 }
    }

    /// Local indices (i of the stencil's first primitive, j of the second one), all combinations.
    #[inline]
    pub fn vertex_pairs(self) -> &'static [[usize; 2]] {
        match self {
            Self::VertexVertex => &[[0, 1]],
            Self::EdgeVertex => &[[0, 1], [0, 2]],
            Self::FaceVertex => &[[0, 1], [0, 2], [0, 3]],
            Self::EdgeEdge => &[[0, 2], [0, 3], [1, 2], [1, 3]],
        }
    }

    /// Local indices of the vertices of the features that hold the closest points at stencil
    /// positions `x`: 2 of a point and a point, 3 of a point (first) and an edge, else all 4.
    #[inline]
    pub fn closest_features(self, x: &[Vec3; 4]) -> &'static [usize] {
        let [a, b, c, d] = x;
        match self {
            Self::VertexVertex => &[0, 1],
            Self::EdgeVertex => point_edge::feature(a, b, c).local(),
            Self::EdgeEdge => edge_edge::feature(a, b, c, d).local(),
            Self::FaceVertex => point_triangle::feature(a, b, c, d).local(),
        }
    }

    /// Closest points of the two primitives at stencil positions `x`; unused weights are zero.
    #[inline]
    pub fn closest(self, x: &[Vec3; 4]) -> Closest<4> {
        let [a, b, c, d] = x;
        match self {
            Self::VertexVertex => point_point::closest(a, b).scatter(&[0, 1]),
            Self::EdgeVertex => {
                let feature = point_edge::feature(a, b, c);
                point_edge::closest_on(feature, a, b, c).scatter(&[0, 1, 2])
            }
            Self::EdgeEdge => edge_edge::closest_on(edge_edge::feature(a, b, c, d), a, b, c, d),
            Self::FaceVertex => {
                point_triangle::closest_on(point_triangle::feature(a, b, c, d), a, b, c, d)
            }
        }
    }

    /// Squared distance of the two primitives at stencil positions `x`, m².
    #[inline]
    pub fn d2(self, x: &[Vec3; 4]) -> f64 {
        let [a, b, c, d] = x;
        match self {
            Self::VertexVertex => point_point_d2(a, b),
            Self::EdgeVertex => point_edge_d2(a, b, c),
            Self::EdgeEdge => edge_edge_d2(a, b, c, d),
            Self::FaceVertex => point_triangle_d2(a, b, c, d),
        }
    }

    /// Second derivatives of [`Self::d2`]; those of unused vertices are zero.
    pub fn hessian(self, x: &[Vec3; 4]) -> [[Mat3; 4]; 4] {
        let [a, b, c, d] = x;
        match self {
            Self::VertexVertex => scatter_hessian(&point_point::hessian(), &[0, 1]),
            Self::EdgeVertex => scatter_hessian(&point_edge::hessian(a, b, c), &[0, 1, 2]),
            Self::EdgeEdge => edge_edge::hessian(a, b, c, d),
            Self::FaceVertex => point_triangle::hessian(a, b, c, d),
        }
    }
}
