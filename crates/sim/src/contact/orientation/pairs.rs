//! Which pairs of elements act.

use super::factors::{Element, OrientedMesh};
use super::kernel;
use super::mollifier;
use super::surface::{ActivationDistance, Measure, Parameters, Surface};
use rayon::prelude::*;
use standoff_geometry::broad_phase::Candidates;
use standoff_geometry::distance::{
    EdgeEdgeFeature, PointEdgeFeature, PointTriangleFeature, edge_edge, point_edge, point_edge_d2,
    point_point_d2, point_triangle, point_triangle_d2,
};
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// Candidates per parallel task.
const CHUNK: usize = 1024;

/// Two elements that act on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Kind. The elements and their vertices are in the order of its name, the edge or face before the
    /// vertex; of two alike the one of lower index is the first.
    pub kind: PairKind,
    /// The elements' indices.
    pub elements: [u32; 2],
    /// Product of the elements' areas, m⁴; 1 where current areas count.
    pub weight: f64,
    /// Distance ε beyond the thickness up to which the pair acts, m.
    pub epsilon: f64,
    /// Thickness offset ξ, m.
    pub thickness: f64,
}

/// Closest points of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// Vertices of both elements; the first `n` are used.
    pub vertices: [u32; 4],
    /// Their positions.
    pub x: [Vec3; 4],
    /// Number of vertices.
    pub n: usize,
    /// Unit vector from the first element's closest point to the second's.
    pub direction: Vec3,
    /// Distance, m.
    pub distance: f64,
    /// Derivatives of the distance by each vertex, along the direction.
    pub weights: [f64; 4],
}

impl Pair {
    /// The pair's elements.
    #[inline]
    pub(super) fn sides(&self) -> [Element; 2] {
        let [a, b] = self.elements;
        match self.kind {
            PairKind::VertexVertex => [Element::Vertex(a), Element::Vertex(b)],
            PairKind::EdgeVertex => [Element::Edge(a), Element::Vertex(b)],
            PairKind::EdgeEdge => [Element::Edge(a), Element::Edge(b)],
            PairKind::FaceVertex => [Element::Face(a), Element::Vertex(b)],
        }
    }

    /// Vertices of both elements, and how many.
    pub fn vertices(&self, mesh: &CollisionMesh) -> ([u32; 4], usize) {
        let [a, b] = self.elements;
        let edge = |e: u32| mesh.edges[e as usize];
        match self.kind {
            PairKind::VertexVertex => ([a, b, 0, 0], 2),
            PairKind::EdgeVertex => ([edge(a)[0], edge(a)[1], b, 0], 3),
            PairKind::EdgeEdge => ([edge(a)[0], edge(a)[1], edge(b)[0], edge(b)[1]], 4),
            PairKind::FaceVertex => {
                let t = mesh.faces[a as usize];
                ([t[0], t[1], t[2], b], 4)
            }
        }
    }

    /// Closest points at positions `x` (`#V`).
    pub fn core(&self, mesh: &CollisionMesh, x: &[Vec3]) -> Core {
        let (vertices, n) = self.vertices(mesh);
        let mut p = [Vec3::zeros(); 4];
        for k in 0..n {
            p[k] = x[vertices[k] as usize];
        }
        // offset from the second element to the first, whose weights sum to 1
        let (offset, weights) = match self.kind {
            PairKind::VertexVertex => (p[0] - p[1], [1.0, -1.0, 0.0, 0.0]),
            PairKind::EdgeVertex => {
                let c = point_edge::closest(&p[2], &p[0], &p[1]);
                (-c.offset, [-c.weights[1], -c.weights[2], -1.0, 0.0])
            }
            PairKind::EdgeEdge => {
                let c = edge_edge::closest(&p[0], &p[1], &p[2], &p[3]);
                (c.offset, c.weights)
            }
            PairKind::FaceVertex => {
                let c = point_triangle::closest(&p[3], &p[0], &p[1], &p[2]);
                let [_, a, b, c0] = c.weights;
                (-c.offset, [-a, -b, -c0, -1.0])
            }
        };
        let distance = offset.norm();
        let direction = if distance > 0.0 { offset / -distance } else { Vec3::zeros() };
        Core { vertices, x: p, n, direction, distance, weights: weights.map(|w| -w) }
    }
}

/// The pairs that act at given positions, in an order that depends on the input alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairSet {
    /// By kind, each in the order of the candidates that brought them.
    pub pairs: Vec<Pair>,
}

#[derive(Default)]
struct Found([Vec<Pair>; 4]);

/// Selection among candidates.
struct Selection<'a> {
    scene: OrientedMesh<'a>,
}

impl Selection<'_> {
    fn at(&self, v: u32) -> &Vec3 {
        &self.scene.x[v as usize]
    }

    /// ε of a pair: what both elements reach.
    fn epsilon(&self, kind: PairKind, [a, b]: [u32; 2], [p, q]: [u32; 2]) -> f64 {
        let (within, between) = match &self.scene.surface.epsilon {
            ActivationDistance::Uniform(d_hat) => return *d_hat,
            ActivationDistance::Adaptive { within, between } => (within, between),
        };
        let of = if self.scene.surface.same_body(p, q) { within } else { between };
        let (a, b) = (a as usize, b as usize);
        match kind {
            PairKind::VertexVertex => of.vertex[a].min(of.vertex[b]),
            PairKind::EdgeVertex => of.edge[a].min(of.vertex[b]),
            PairKind::EdgeEdge => of.edge[a].min(of.edge[b]),
            PairKind::FaceVertex => of.face[a].min(of.vertex[b]),
        }
    }

    /// Adds a pair with the squared distance `d2` where it acts; `p`, `q` are vertices of its
    /// elements.
    fn add(&self, kind: PairKind, elements: [u32; 2], [p, q]: [u32; 2], d2: f64, out: &mut Found) {
        let scene = &self.scene;
        let thickness = scene.mesh.thickness(&[p], &[q]);
        let epsilon = self.epsilon(kind, elements, [p, q]);
        let reach = epsilon + thickness;
        if d2 >= reach * reach {
            return;
        }
        let mut pair = Pair { kind, elements, weight: 1.0, epsilon, thickness };
        let (vertices, n) = pair.vertices(scene.mesh);
        if !vertices[..n].iter().any(|&v| scene.mesh.mobile[v as usize]) {
            return;
        }
        if scene.parameters.measure == Measure::Rest {
            let (m, [a, b]) = (&scene.surface.measures, elements.map(|i| i as usize));
            pair.weight = match kind {
                PairKind::VertexVertex => m.vertex[a] * m.vertex[b],
                PairKind::EdgeVertex => m.edge[a] * m.vertex[b],
                PairKind::EdgeEdge => m.edge[a] * m.edge[b],
                PairKind::FaceVertex => m.face[a] * m.vertex[b],
            };
        }
        if value(scene, &pair) != 0.0 {
            out.0[kind as usize].push(pair);
        }
    }

    fn edge_edge(&self, [ea, eb]: [u32; 2], out: &mut Found) {
        let (a, b) = (self.scene.mesh.edges[ea as usize], self.scene.mesh.edges[eb as usize]);
        let covered = &self.scene.surface.covered;
        if !covered[a[0] as usize] || !covered[b[0] as usize] {
            return;
        }
        let [a0, a1, b0, b1] = [a[0], a[1], b[0], b[1]].map(|v| self.at(v));
        let d2 = standoff_geometry::distance::edge_edge_d2(a0, a1, b0, b1);
        let reach = self.epsilon(PairKind::EdgeEdge, [ea, eb], [a[0], b[0]])
            + self.scene.mesh.thickness(&a, &b);
        if d2 < reach * reach && edge_edge::feature(a0, a1, b0, b1) == EdgeEdgeFeature::AB {
            self.add(PairKind::EdgeEdge, [ea.min(eb), ea.max(eb)], [a[0], b[0]], d2, out);
        }
    }

    /// The face–vertex pair of a candidate, and those of the vertex with the face's edges and
    /// vertices of which this is the first such face.
    fn face_vertex(&self, [f, v]: [u32; 2], out: &mut Found) {
        let scene = &self.scene;
        let t = scene.mesh.faces[f as usize];
        let covered = &scene.surface.covered;
        if !covered[v as usize] || !covered[t[0] as usize] {
            return;
        }
        let [p, t0, t1, t2] = [v, t[0], t[1], t[2]].map(|i| self.at(i));
        let d2 = point_triangle_d2(p, t0, t1, t2);
        let reach = self.largest_reach(v, t[0]);
        if d2 >= reach * reach {
            return;
        }
        if point_triangle::feature(p, t0, t1, t2) == PointTriangleFeature::Face {
            self.add(PairKind::FaceVertex, [f, v], [t[0], v], d2, out);
        }
        let around = &scene.surface.around;
        for e in around.face_edges(f) {
            let first = around.wings(e).iter().find(|w| w.opposite != v);
            let [a, b] = scene.mesh.edges[e as usize];
            let (e0, e1) = (self.at(a), self.at(b));
            if first.is_some_and(|w| w.face == f)
                && point_edge::feature(p, e0, e1) == PointEdgeFeature::Edge
            {
                self.add(PairKind::EdgeVertex, [e, v], [a, v], point_edge_d2(p, e0, e1), out);
            }
        }
        for w in t {
            if self.first_face(v, w) == Some(f) {
                let d2 = point_point_d2(p, self.at(w));
                self.add(PairKind::VertexVertex, [v.min(w), v.max(w)], [v, w], d2, out);
            }
        }
    }

    /// In the plane the edge–vertex pair of a candidate, and those of the vertex with the edge's ends of which
    /// this is the first such edge.
    fn edge_vertex(&self, [e, v]: [u32; 2], out: &mut Found) {
        let scene = &self.scene;
        let ends = scene.mesh.edges[e as usize];
        let covered = &scene.surface.covered;
        if !covered[v as usize] || !covered[ends[0] as usize] {
            return;
        }
        let (p, [a, b]) = (self.at(v), ends.map(|w| self.at(w)));
        let d2 = point_edge_d2(p, a, b);
        let reach = self.largest_reach(v, ends[0]);
        if d2 >= reach * reach {
            return;
        }
        if point_edge::feature(p, a, b) == PointEdgeFeature::Edge {
            self.add(PairKind::EdgeVertex, [e, v], [ends[0], v], d2, out);
        }
        for w in ends {
            if self.first_edge(v, w) == Some(e) {
                let d2 = point_point_d2(p, self.at(w));
                self.add(PairKind::VertexVertex, [v.min(w), v.max(w)], [v, w], d2, out);
            }
        }
    }

    /// In the plane the edge that brings a pair of vertices, as [`Self::first_face`] does.
    fn first_edge(&self, v: u32, w: u32) -> Option<u32> {
        let scene = &self.scene;
        let first = |around: u32, without: u32| {
            let mut edges = scene.surface.around.outline(around).iter().copied();
            edges.find(|&e| !scene.mesh.edges[e as usize].contains(&without))
        };
        let (low, high) = (v.min(w), v.max(w));
        first(high, low).or_else(|| first(low, high))
    }

    /// The face that brings a pair of vertices: the first around the one of the larger number that
    /// does not contain the other, or, where there is none, the same with both exchanged.
    fn first_face(&self, v: u32, w: u32) -> Option<u32> {
        let scene = &self.scene;
        let first = |around: u32, without: u32| {
            let mut faces = scene.surface.around.ring(around).faces.iter().copied();
            faces.find(|&f| !scene.mesh.faces[f as usize].contains(&without))
        };
        let (low, high) = (v.min(w), v.max(w));
        first(high, low).or_else(|| first(low, high))
    }

    /// Bound on the distance at which any pair of these two bodies' elements acts.
    fn largest_reach(&self, p: u32, q: u32) -> f64 {
        let scene = &self.scene;
        let epsilon = match &scene.surface.epsilon {
            ActivationDistance::Uniform(d_hat) => *d_hat,
            ActivationDistance::Adaptive { within, between } => {
                // all pairs of a face–vertex candidate have this vertex
                let of = if scene.surface.same_body(p, q) { within } else { between };
                of.vertex[p as usize]
            }
        };
        epsilon + scene.mesh.thickness(&[p], &[q])
    }
}

/// The pair's energy per κ at the scene's positions.
pub(super) fn value(scene: &OrientedMesh<'_>, pair: &Pair) -> f64 {
    let core = pair.core(scene.mesh, scene.x);
    let z = core.distance - pair.thickness;
    if z >= pair.epsilon {
        return 0.0;
    }
    if z <= 0.0 {
        return f64::INFINITY;
    }
    let d2 = core.distance * core.distance;
    let mut value = mollifier::value(pair.kind, &core.x, d2);
    for (side, element) in pair.sides().into_iter().enumerate() {
        if value == 0.0 {
            return 0.0;
        }
        let u = if side == 0 { core.direction } else { -core.direction };
        value *= scene.gamma(element, &u);
    }
    let p = kernel::kernel(z, pair.epsilon, scene.parameters.exponent)[0];
    value * pair.weight * p
}

impl PairSet {
    /// Pairs out of `candidates` that act at positions `x` (`#V`).
    ///
    /// Face–vertex candidates bring face–vertex pairs with the closest point inside the face,
    /// edge–vertex pairs with it inside the edge, and vertex–vertex pairs; edge–edge candidates
    /// pairs with both closest points inside [Huang 2024, supplement §1]. Each comes once: edges
    /// and vertices belong to the first face that does not contain the other vertex. In the plane edge–vertex
    /// candidates bring edge–vertex pairs with the closest point inside the edge, and vertex–vertex pairs.
    pub fn build(
        candidates: &Candidates,
        mesh: &CollisionMesh,
        surface: &Surface,
        parameters: &Parameters,
        x: &[Vec3],
    ) -> Self {
        let selection = Selection { scene: OrientedMesh { mesh, surface, parameters, x } };
        let edges = candidates.edge_edge.par_chunks(CHUNK).map(|chunk| {
            let mut found = Found::default();
            chunk.iter().for_each(|&c| selection.edge_edge(c, &mut found));
            found
        });
        let faces = candidates.face_vertex.par_chunks(CHUNK).map(|chunk| {
            let mut found = Found::default();
            chunk.iter().for_each(|&c| selection.face_vertex(c, &mut found));
            found
        });
        let in_plane = if mesh.planar { &candidates.edge_vertex[..] } else { &[] };
        let in_plane = in_plane.par_chunks(CHUNK).map(|chunk| {
            let mut found = Found::default();
            chunk.iter().for_each(|&c| selection.edge_vertex(c, &mut found));
            found
        });
        let parts: Vec<Found> = edges.chain(faces).chain(in_plane).collect();
        let mut pairs = Vec::with_capacity(parts.iter().flat_map(|p| &p.0).map(Vec::len).sum());
        for kind in 0..4 {
            parts.iter().for_each(|part| pairs.extend_from_slice(&part.0[kind]));
        }
        Self { pairs }
    }
}
