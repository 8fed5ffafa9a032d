//! The slow and obvious twin of the broad phase: every pair of boxes.

use super::paths::{PathBox, Paths};
use super::{Candidates, Culls};
use crate::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;

/// Twin of [`super::candidates`].
pub fn candidates(mesh: &CollisionMesh, x: &[Vec3], inflation: f64) -> Candidates {
    let mut paths = Paths::default();
    paths.set(mesh, x, None, inflation);
    all_pairs(mesh, &paths)
}

/// Twin of [`super::swept_candidates`].
pub fn swept_candidates(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    inflation: f64,
) -> Candidates {
    let mut paths = Paths::default();
    paths.set(mesh, x, Some(dx), inflation);
    all_pairs(mesh, &paths)
}

fn all_pairs(mesh: &CollisionMesh, paths: &Paths) -> Candidates {
    let vertex = |v: u32| paths.of(&[v]);
    let edges: Vec<PathBox> = mesh.edges.iter().map(|e| paths.of(e)).collect();
    let mut out = Candidates::default();
    for (a, &v) in mesh.codim_vertices.iter().enumerate() {
        for &w in &mesh.codim_vertices[a + 1..] {
            if vertex(v).may_meet(&vertex(w)) && mesh.may_collide(&[v], &[w]) {
                out.vertex_vertex.push([v, w]);
            }
        }
    }
    for &e in &mesh.codim_edges {
        for &v in &super::codim_points(mesh) {
            if edges[e as usize].may_meet(&vertex(v))
                && mesh.may_collide(&mesh.edges[e as usize], &[v])
            {
                out.edge_vertex.push([e, v]);
            }
        }
    }
    for e in (0..edges.len()).filter(|_| !mesh.planar) {
        for f in e + 1..edges.len() {
            if edges[e].may_meet(&edges[f]) && mesh.may_collide(&mesh.edges[e], &mesh.edges[f]) {
                out.edge_edge.push([e as u32, f as u32]);
            }
        }
    }
    for (f, face) in mesh.faces.iter().enumerate() {
        let b = paths.of(face);
        for &v in &mesh.vertices {
            if b.may_meet(&vertex(v)) && mesh.may_collide(face, &[v]) {
                out.face_vertex.push([f as u32, v]);
            }
        }
    }
    out.edge_vertex.retain(|&p| !mesh.neighbours.contains(PairKind::EdgeVertex, p));
    out.edge_edge.retain(|&p| !mesh.neighbours.contains(PairKind::EdgeEdge, p));
    out.face_vertex.retain(|&p| !mesh.neighbours.contains(PairKind::FaceVertex, p));
    let culls = Culls { mesh, paths };
    culls.apply(PairKind::VertexVertex, &mut out.vertex_vertex);
    culls.apply(PairKind::EdgeVertex, &mut out.edge_vertex);
    culls.apply(PairKind::EdgeEdge, &mut out.edge_edge);
    culls.apply(PairKind::FaceVertex, &mut out.face_vertex);
    out
}
