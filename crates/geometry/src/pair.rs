//! Pairs of primitives: which two, their vertices, thickness and closest points.
//!
//! A [`Pair`] names two primitives of a [`CollisionMesh`]. Its [`Stencil`] lists the vertices of both
//! in the one order that distances, collision detection and contact share: the point first, where
//! there is one. What depends on positions alone is a method of [`PairKind`].

use crate::distance::Closest;
use crate::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// Marks the unused entries of [`Stencil::vertices`].
pub const UNUSED: u32 = u32::MAX;

/// The vertices of a pair of primitives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stencil {
    /// Which primitives, and so how many vertices.
    pub kind: PairKind,
    /// The vertices in the order of [`PairKind`]'s stencils; unused ones are [`UNUSED`].
    pub vertices: [u32; 4],
}

impl Stencil {
    /// The vertices in use.
    #[inline]
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..self.kind.vertex_count()]
    }

    /// The first vertex of each of the two primitives.
    #[inline]
    pub fn representatives(&self) -> [u32; 2] {
        [self.vertices[0], self.vertices[self.kind.second()]]
    }

    /// The stencil's values out of those of all vertices (`#V`), such as positions; those of unused
    /// entries are zero.
    #[inline]
    pub fn gather(&self, x: &[Vec3]) -> [Vec3; 4] {
        let mut out = [Vec3::zeros(); 4];
        for (o, &v) in out.iter_mut().zip(self.vertices()) {
            *o = x[v as usize];
        }
        out
    }
}

/// A pair of primitives, in the numbering of a [`CollisionMesh`].
///
/// ```
/// use standoff_geometry::{CollisionMesh, Pair, PairKind};
/// use standoff_linalg::Vec3;
///
/// // a triangle and, half a metre above it, a point
/// let x = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(0.2, 0.2, 0.5)];
/// let mesh = CollisionMesh::new(x.clone(), vec![[0, 1, 2]], &[], &[3]);
/// let pair = Pair::new(PairKind::FaceVertex, [0, 3]);
/// assert_eq!(pair.stencil(&mesh).vertices(), [3, 0, 1, 2]);
/// assert_eq!(pair.d2(&mesh, &x), 0.25);
/// assert_eq!(pair.closest(&mesh, &x).offset, Vec3::new(0.0, 0.0, 0.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// Which primitives.
    pub kind: PairKind,
    /// Their indices: [vertex, vertex], [edge, vertex], [edge, edge] or [face, vertex].
    pub primitives: [u32; 2],
}

impl Pair {
    /// The pair of a kind with these primitives.
    #[inline]
    pub fn new(kind: PairKind, primitives: [u32; 2]) -> Self {
        Self { kind, primitives }
    }

    /// The pair's vertices.
    #[inline]
    pub fn stencil(self, mesh: &CollisionMesh) -> Stencil {
        let [i, j] = self.primitives;
        let vertices = match self.kind {
            PairKind::VertexVertex => [i, j, UNUSED, UNUSED],
            PairKind::EdgeVertex => {
                let [a, b] = mesh.edges[i as usize];
                [j, a, b, UNUSED]
            }
            PairKind::EdgeEdge => {
                let ([a, b], [c, d]) = (mesh.edges[i as usize], mesh.edges[j as usize]);
                [a, b, c, d]
            }
            PairKind::FaceVertex => {
                let [a, b, c] = mesh.faces[i as usize];
                [j, a, b, c]
            }
        };
        Stencil { kind: self.kind, vertices }
    }

    /// Thickness offset ξ of the pair, m.
    #[inline]
    pub fn thickness(self, mesh: &CollisionMesh) -> f64 {
        let [a, b] = self.stencil(mesh).representatives();
        mesh.thickness(&[a], &[b])
    }

    /// Closest points at positions `x` (`#V`); the weights are those of the stencil's vertices.
    #[inline]
    pub fn closest(self, mesh: &CollisionMesh, x: &[Vec3]) -> Closest<4> {
        self.kind.closest(&self.stencil(mesh).gather(x))
    }

    /// Squared distance at positions `x` (`#V`), m².
    #[inline]
    pub fn d2(self, mesh: &CollisionMesh, x: &[Vec3]) -> f64 {
        self.kind.d2(&self.stencil(mesh).gather(x))
    }
}
