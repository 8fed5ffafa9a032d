//! The slow and obvious twin of the broad phase: every pair of boxes.

use super::Candidates;
use super::aabb::{Aabb, VertexBoxes};
use crate::CollisionMesh;
use standoff_linalg::Vec3;

/// Twin of [`super::candidates`].
pub fn candidates(mesh: &CollisionMesh, x: &[Vec3], inflation: f64) -> Candidates {
    let mut boxes = VertexBoxes::default();
    boxes.rest(x);
    all_pairs(mesh, &boxes, inflation)
}

/// Twin of [`super::swept_candidates`].
pub fn swept_candidates(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    inflation: f64,
) -> Candidates {
    let mut boxes = VertexBoxes::default();
    boxes.swept(mesh, x, dx);
    all_pairs(mesh, &boxes, inflation)
}

fn all_pairs(mesh: &CollisionMesh, boxes: &VertexBoxes, inflation: f64) -> Candidates {
    let vertex = |v: u32| boxes.of(mesh, &[v], inflation);
    let edges: Vec<Aabb> = mesh.edges.iter().map(|e| boxes.of(mesh, e, inflation)).collect();
    let mut out = Candidates::default();
    for (a, &v) in mesh.codim_vertices.iter().enumerate() {
        for &w in &mesh.codim_vertices[a + 1..] {
            if vertex(v).overlaps(&vertex(w)) && mesh.may_collide(&[v], &[w]) {
                out.vertex_vertex.push([v, w]);
            }
        }
    }
    for &e in &mesh.codim_edges {
        for &v in &super::codim_points(mesh) {
            if edges[e as usize].overlaps(&vertex(v))
                && mesh.may_collide(&mesh.edges[e as usize], &[v])
            {
                out.edge_vertex.push([e, v]);
            }
        }
    }
    for e in 0..edges.len() {
        for f in e + 1..edges.len() {
            if edges[e].overlaps(&edges[f]) && mesh.may_collide(&mesh.edges[e], &mesh.edges[f]) {
                out.edge_edge.push([e as u32, f as u32]);
            }
        }
    }
    for (f, face) in mesh.faces.iter().enumerate() {
        let b = boxes.of(mesh, face, inflation);
        for &v in &mesh.vertices {
            if b.overlaps(&vertex(v)) && mesh.may_collide(face, &[v]) {
                out.face_vertex.push([f as u32, v]);
            }
        }
    }
    out
}
