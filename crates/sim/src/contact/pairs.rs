//! Active contact pairs: which primitives are closer than d̂ + ξ, reduced to the features that
//! hold their closest points, equal ones merged.

use super::weighting::Weighting;
use rayon::prelude::*;
pub use standoff_geometry::UNUSED;
use standoff_geometry::distance::{
    self, Closest, EdgeEdgeFeature, edge_edge, mollifier, point_edge, point_point, point_triangle,
};
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// An active contact pair: two vertices (ascending), a vertex and an edge (ascending), two edges, or a
/// vertex and a triangle, in the order of the [`PairKind`]'s stencil.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Vertices of the stencil; unused ones are [`UNUSED`].
    pub vertices: [u32; 4],
    /// Which features, and so how many vertices.
    pub kind: PairKind,
    /// For edge–edge pairs: the features that hold the closest points. Other than `AB` only for
    /// nearly parallel edges, which stay edge–edge pairs to be mollified.
    pub feature: EdgeEdgeFeature,
    /// How many pairs of primitives share this stencil, or the sum of their areas, m².
    pub weight: f64,
    /// Thickness offset ξ, m.
    pub thickness: f64,
    /// Distance beyond the thickness at which its force begins, as a part of the potential's d̂.
    pub reach: f64,
    /// Threshold ε of the mollifier, m⁴; 0 (no mollifier) for all but edge–edge pairs.
    pub eps_x: f64,
    /// Forecast of the normal force, N, which stiffens the Newton matrix; 0 without one
    /// ([`ForecastForces`](super::forecast::ForecastForces)).
    pub forecast: f64,
}

impl Contact {
    fn vertex_vertex(a: u32, b: u32, weight: f64, thickness: f64, reach: f64) -> Self {
        let vertices = [a.min(b), a.max(b), UNUSED, UNUSED];
        Self::plain(PairKind::VertexVertex, vertices, weight, thickness, reach)
    }

    fn edge_vertex(p: u32, a: u32, b: u32, weight: f64, thickness: f64, reach: f64) -> Self {
        let vertices = [p, a.min(b), a.max(b), UNUSED];
        Self::plain(PairKind::EdgeVertex, vertices, weight, thickness, reach)
    }

    fn plain(kind: PairKind, vertices: [u32; 4], weight: f64, thickness: f64, reach: f64) -> Self {
        let feature = EdgeEdgeFeature::AB;
        let (eps_x, forecast) = (0.0, 0.0);
        Self { vertices, kind, feature, weight, thickness, reach, eps_x, forecast }
    }

    /// A vertex–vertex (2 `local` vertices) or edge–vertex (3) pair within a stencil.
    pub(super) fn reduced(
        ids: &[u32],
        local: &[usize],
        weight: f64,
        thickness: f64,
        reach: f64,
    ) -> Self {
        match *local {
            [i, j] => Self::vertex_vertex(ids[i], ids[j], weight, thickness, reach),
            [i, j, k] => Self::edge_vertex(ids[i], ids[j], ids[k], weight, thickness, reach),
            _ => unreachable!("reductions have two or three vertices"),
        }
    }

    /// Number of vertices of the stencil.
    #[inline]
    pub fn vertex_count(&self) -> usize {
        self.kind.vertex_count()
    }

    /// The vertices of the stencil.
    #[inline]
    pub fn stencil(&self) -> &[u32] {
        &self.vertices[..self.vertex_count()]
    }

    /// Local index of the first vertex of the second primitive.
    #[inline]
    pub fn second(&self) -> usize {
        self.kind.second()
    }

    /// The stencil's positions out of all; unused ones are zero.
    #[inline]
    pub fn gather(&self, x: &[Vec3]) -> [Vec3; 4] {
        let mut out = [Vec3::zeros(); 4];
        for (o, &v) in out.iter_mut().zip(self.stencil()) {
            *o = x[v as usize];
        }
        out
    }

    /// Closest points at stencil positions `x`; unused weights are zero.
    #[inline]
    pub fn closest(&self, x: &[Vec3; 4]) -> Closest<4> {
        match self.kind {
            PairKind::VertexVertex => point_point::closest(&x[0], &x[1]).scatter(&[0, 1]),
            PairKind::EdgeVertex => point_edge::closest(&x[0], &x[1], &x[2]).scatter(&[0, 1, 2]),
            PairKind::FaceVertex => point_triangle::closest(&x[0], &x[1], &x[2], &x[3]),
            PairKind::EdgeEdge => edge_edge::closest_on(self.feature, &x[0], &x[1], &x[2], &x[3]),
        }
    }

    /// Squared distance at stencil positions `x`, m².
    #[inline]
    pub fn d2(&self, x: &[Vec3; 4]) -> f64 {
        self.closest(x).d2()
    }

    /// Whether the mollifier is below 1 at stencil positions `x`.
    #[inline]
    pub fn is_mollified(&self, x: &[Vec3; 4]) -> bool {
        self.kind == PairKind::EdgeEdge
            && mollifier::cross_squared(&x[0], &x[1], &x[2], &x[3]) < self.eps_x
    }

    fn key(&self) -> ([u32; 4], EdgeEdgeFeature) {
        (self.vertices, self.feature)
    }
}

/// Pairs found so far, by kind.
#[derive(Default)]
pub(super) struct Found {
    pub(super) vertex_vertex: Vec<Contact>,
    pub(super) edge_vertex: Vec<Contact>,
    pub(super) edge_edge: Vec<Contact>,
    pub(super) face_vertex: Vec<Contact>,
}

impl Found {
    pub(super) fn push(&mut self, c: Contact) {
        match c.kind {
            PairKind::VertexVertex => self.vertex_vertex.push(c),
            PairKind::EdgeVertex => self.edge_vertex.push(c),
            PairKind::EdgeEdge => self.edge_edge.push(c),
            PairKind::FaceVertex => self.face_vertex.push(c),
        }
    }

    /// What was found in several lists of candidates, in their order.
    pub(super) fn together(parts: &[Found]) -> Self {
        let one = |of: fn(&Found) -> &Vec<Contact>| {
            let mut all = Vec::with_capacity(parts.iter().map(|part| of(part).len()).sum());
            parts.iter().for_each(|part| all.extend_from_slice(of(part)));
            all
        };
        Self {
            vertex_vertex: one(|part| &part.vertex_vertex),
            edge_vertex: one(|part| &part.edge_vertex),
            edge_edge: one(|part| &part.edge_edge),
            face_vertex: one(|part| &part.face_vertex),
        }
    }

    /// Kind after kind.
    pub(super) fn all(self) -> Vec<Contact> {
        [self.vertex_vertex, self.edge_vertex, self.edge_edge, self.face_vertex].concat()
    }
}

/// What the narrow phase reads.
pub(super) struct MovedMesh<'a> {
    pub(super) mesh: &'a CollisionMesh,
    pub(super) x: &'a [Vec3],
    /// The greatest d̂, m; a pair's own may be less.
    pub(super) d_hat: f64,
    pub(super) weighting: &'a Weighting,
}

impl MovedMesh<'_> {
    #[inline]
    pub(super) fn is_active(&self, d2: f64, thickness: f64, reach: f64) -> bool {
        let distance = reach * self.d_hat + thickness;
        d2 < distance * distance
    }

    /// The d̂ of a pair of primitives as a part of the greatest.
    #[inline]
    pub(super) fn reach(&self, a: &[u32], b: &[u32]) -> f64 {
        self.mesh.reach(a, b, self.d_hat) / self.d_hat
    }

    pub(super) fn vertex_vertex(&self, [a, b]: [u32; 2], found: &mut Found) {
        let (thickness, reach) = (self.mesh.thickness(&[a], &[b]), self.reach(&[a], &[b]));
        let d2 = distance::point_point_d2(&self.x[a as usize], &self.x[b as usize]);
        if self.is_active(d2, thickness, reach) {
            let weight = self.weighting.vertices(a, b, 0.5);
            found.push(Contact::vertex_vertex(a, b, weight, thickness, reach));
        }
    }

    pub(super) fn edge_vertex(&self, [e, v]: [u32; 2], found: &mut Found) {
        let [a, b] = self.mesh.edges[e as usize];
        let ids = [v, a, b];
        let [p, e0, e1] = ids.map(|i| &self.x[i as usize]);
        let thickness = self.mesh.thickness(&[v], &[a, b]);
        let reach = self.reach(&[v], &[a, b]);
        if self.is_active(distance::point_edge_d2(p, e0, e1), thickness, reach) {
            let local = point_edge::feature(p, e0, e1).local();
            let weight = self.weighting.vertex(v, 0.5);
            // inside a body, on its axis
            if weight == 0.0 {
                return;
            }
            found.push(Contact::reduced(&ids, local, weight, thickness, reach));
        }
    }

    pub(super) fn edge_edge(&self, [ea, eb]: [u32; 2], found: &mut Found) {
        let (a, b) = (self.mesh.edges[ea as usize], self.mesh.edges[eb as usize]);
        let ids = [a[0], a[1], b[0], b[1]];
        let [a0, a1, b0, b1] = ids.map(|i| &self.x[i as usize]);
        let (thickness, reach) = (self.mesh.thickness(&a, &b), self.reach(&a, &b));
        if !self.is_active(distance::edge_edge_d2(a0, a1, b0, b1), thickness, reach) {
            return;
        }
        let feature = edge_edge::feature(a0, a1, b0, b1);
        let weight = self.weighting.edges(ea, eb, 0.25);
        let eps_x = self.mollifier_threshold(&ids);
        // nearly parallel edges stay edge–edge pairs whatever their closest features are
        let is_mollified = mollifier::cross_squared(a0, a1, b0, b1) < eps_x;
        if feature == EdgeEdgeFeature::AB || is_mollified {
            let kind = PairKind::EdgeEdge;
            let forecast = 0.0;
            found.push(Contact {
                vertices: ids,
                kind,
                feature,
                weight,
                thickness,
                reach,
                eps_x,
                forecast,
            });
        } else {
            found.push(Contact::reduced(&ids, feature.local(), weight, thickness, reach));
        }
    }

    pub(super) fn face_vertex(&self, [f, v]: [u32; 2], found: &mut Found) {
        let t = self.mesh.faces[f as usize];
        let ids = [v, t[0], t[1], t[2]];
        let [p, t0, t1, t2] = ids.map(|i| &self.x[i as usize]);
        let (thickness, reach) = (self.mesh.thickness(&[v], &t), self.reach(&[v], &t));
        if !self.is_active(distance::point_triangle_d2(p, t0, t1, t2), thickness, reach) {
            return;
        }
        let weight = self.weighting.vertex(v, 0.25);
        let local = point_triangle::feature(p, t0, t1, t2).local();
        found.push(if local.len() == 4 {
            Contact::plain(PairKind::FaceVertex, ids, weight, thickness, reach)
        } else {
            Contact::reduced(&ids, local, weight, thickness, reach)
        });
    }

    /// Mollifier threshold of two edges from their rest shape.
    pub(super) fn mollifier_threshold(&self, ids: &[u32; 4]) -> f64 {
        let [a0, a1, b0, b1] = ids.map(|i| &self.mesh.rest[i as usize]);
        mollifier::threshold(a0, a1, b0, b1)
    }
}

/// Runs the narrow phase over candidates in parallel; what it finds, in the candidates' order.
pub(super) fn narrow<T: Sync>(
    candidates: &[T],
    check: impl Fn(&T, &mut Found) + Sync,
) -> Vec<Found> {
    let parts = candidates.par_chunks(4096).map(|chunk| {
        let mut found = Found::default();
        chunk.iter().for_each(|c| check(c, &mut found));
        found
    });
    parts.collect()
}

/// Sorts pairs of one kind by stencil and sums the weights of equal ones, in the order found;
/// drops those whose weights cancel.
pub(super) fn merge(contacts: &mut Vec<Contact>) {
    // a stable sort keeps the order of equal stencils, and with it the sums' rounding
    contacts.par_sort_by_key(Contact::key);
    contacts.dedup_by(|next, kept| {
        let equal = next.key() == kept.key();
        if equal {
            kept.weight += next.weight;
        }
        equal
    });
    contacts.retain(|c| c.weight != 0.0);
}
