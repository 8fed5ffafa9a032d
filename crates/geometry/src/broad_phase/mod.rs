//! Broad phase: pairs of primitives whose boxes overlap; always a superset of the true pairs.
//!
//! Knows boxes and the collision mesh, no distances. Each primitive's box is grown by `inflation`
//! plus its half thickness and rounded outwards; a pair is a candidate where the two boxes overlap
//! and [`CollisionMesh::may_collide`]. Two primitives at distance d ≤ 2 `inflation` + ξ (ξ the
//! pair's thickness offset) overlap, so every such pair is found.
//!
//! Kinds of pairs ([Li 2021, §3]): all edges with all edges, all surface vertices with all faces,
//! codimensional edges with codimensional vertices and with vertices of other codimensional edges,
//! codimensional vertices with each other.
//!
//! A primitive with a coordinate that is not finite has no candidates; [`crate::ccd::max_step`]
//! refuses to move such a mesh at all.

mod aabb;
pub mod brute_force;
mod bvh;

use crate::CollisionMesh;
use aabb::VertexBoxes;
use bvh::{Bvh, gather};
use standoff_linalg::Vec3;

/// Pairs of primitives that might be close.
///
/// Each list is sorted and free of repetitions, so that everything built from it is independent
/// of the number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Vertex–vertex pairs (both codimensional vertices), `[v, v]`, ascending.
    pub vertex_vertex: Vec<[u32; 2]>,
    /// Codimensional edge against codimensional vertex or vertex of another codimensional edge:
    /// `[edge, vertex]` ([Li 2021, §3]).
    pub edge_vertex: Vec<[u32; 2]>,
    /// Edge–edge pairs `[edge, edge]`, ascending.
    pub edge_edge: Vec<[u32; 2]>,
    /// Face–vertex pairs `[face, vertex]`.
    pub face_vertex: Vec<[u32; 2]>,
}

impl Candidates {
    /// Number of pairs of all kinds.
    pub fn len(&self) -> usize {
        self.vertex_vertex.len()
            + self.edge_vertex.len()
            + self.edge_edge.len()
            + self.face_vertex.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Pairs at distance ≤ 2 `inflation` + ξ at `x` (`#V`), and some more. See [`BroadPhase`] for
/// repeated use.
pub fn candidates(mesh: &CollisionMesh, x: &[Vec3], inflation: f64) -> Candidates {
    let mut out = Candidates::default();
    BroadPhase::default().candidates(mesh, x, inflation, &mut out);
    out
}

/// Pairs that come to a distance ≤ 2 `inflation` + ξ somewhere on the way x + t dx, t in [0, 1],
/// and some more.
pub fn swept_candidates(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    inflation: f64,
) -> Candidates {
    let mut out = Candidates::default();
    BroadPhase::default().swept_candidates(mesh, x, dx, inflation, &mut out);
    out
}

/// Trees and buffers of the broad phase, kept between calls for one collision mesh.
///
/// The trees are refitted to new positions and rebuilt when they no longer fit well; neither
/// changes the result. Use a new one for another mesh (or where [`CollisionMesh::mobile`] changed).
#[derive(Debug, Default)]
pub struct BroadPhase {
    vertex_boxes: VertexBoxes,
    faces: Bvh,
    edges: Bvh,
    vertices: Bvh,
    codim_edges: Bvh,
    codim_points: Bvh,
    codim_vertices: Bvh,
    /// Vertices that meet codimensional edges, ascending.
    points: Option<Vec<u32>>,
    chunks: Vec<Vec<[u32; 2]>>,
}

impl BroadPhase {
    /// Like [`candidates`], into `out`.
    pub fn candidates(
        &mut self,
        mesh: &CollisionMesh,
        x: &[Vec3],
        inflation: f64,
        out: &mut Candidates,
    ) {
        self.vertex_boxes.rest(x);
        self.update(mesh, inflation);
        self.collect(mesh, out);
    }

    /// Like [`swept_candidates`], into `out`.
    pub fn swept_candidates(
        &mut self,
        mesh: &CollisionMesh,
        x: &[Vec3],
        dx: &[Vec3],
        inflation: f64,
        out: &mut Candidates,
    ) {
        self.vertex_boxes.swept(mesh, x, dx);
        self.update(mesh, inflation);
        self.collect(mesh, out);
    }

    /// Fits all trees to the vertices' boxes.
    fn update(&mut self, mesh: &CollisionMesh, inflation: f64) {
        let points = self.points.get_or_insert_with(|| codim_points(mesh));
        let boxes = &self.vertex_boxes;
        let fit = |tree: &mut Bvh, n: usize, of: &(dyn Fn(usize) -> [u32; 3] + Sync)| {
            tree.update(
                n,
                |i| boxes.of(mesh, &of(i), inflation),
                |i| of(i).iter().any(|&v| mesh.mobile[v as usize]),
            );
        };
        // an edge or point repeats its last vertex, which changes neither box nor mobility
        let edge = |e: u32| {
            let [a, b] = mesh.edges[e as usize];
            [a, b, b]
        };
        fit(&mut self.faces, mesh.faces.len(), &|i| mesh.faces[i]);
        fit(&mut self.edges, mesh.edges.len(), &|i| edge(i as u32));
        fit(&mut self.vertices, mesh.vertices.len(), &|i| [mesh.vertices[i]; 3]);
        fit(&mut self.codim_edges, mesh.codim_edges.len(), &|i| edge(mesh.codim_edges[i]));
        fit(&mut self.codim_points, points.len(), &|i| [points[i]; 3]);
        fit(&mut self.codim_vertices, mesh.codim_vertices.len(), &|i| [mesh.codim_vertices[i]; 3]);
    }

    /// Finds the pairs of all kinds.
    fn collect(&mut self, mesh: &CollisionMesh, out: &mut Candidates) {
        let points: &[u32] = self.points.as_deref().unwrap_or_default();
        let chunks = &mut self.chunks;

        self.codim_vertices.self_pairs(chunks, |i, j| {
            let (i, j) = (mesh.codim_vertices[i as usize], mesh.codim_vertices[j as usize]);
            mesh.may_collide(&[i], &[j]).then_some([i.min(j), i.max(j)])
        });
        gather(mesh.rest.len(), chunks, &mut out.vertex_vertex);

        self.codim_points.cross_pairs(&self.codim_edges, chunks, |i, j| {
            let (v, e) = (points[i as usize], mesh.codim_edges[j as usize]);
            mesh.may_collide(&mesh.edges[e as usize], &[v]).then_some([e, v])
        });
        gather(mesh.edges.len(), chunks, &mut out.edge_vertex);

        self.edges.self_pairs(chunks, |i, j| {
            mesh.may_collide(&mesh.edges[i as usize], &mesh.edges[j as usize])
                .then_some([i.min(j), i.max(j)])
        });
        gather(mesh.edges.len(), chunks, &mut out.edge_edge);

        self.vertices.cross_pairs(&self.faces, chunks, |i, f| {
            let v = mesh.vertices[i as usize];
            mesh.may_collide(&mesh.faces[f as usize], &[v]).then_some([f, v])
        });
        gather(mesh.faces.len(), chunks, &mut out.face_vertex);
    }
}

/// Vertices that meet codimensional edges: codimensional vertices and the ends of codimensional
/// edges, ascending.
fn codim_points(mesh: &CollisionMesh) -> Vec<u32> {
    let ends = mesh.codim_edges.iter().flat_map(|&e| mesh.edges[e as usize]);
    let mut points: Vec<u32> = ends.chain(mesh.codim_vertices.iter().copied()).collect();
    points.sort_unstable();
    points.dedup();
    points
}
