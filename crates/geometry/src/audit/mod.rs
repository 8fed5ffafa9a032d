//! The independent audit: exact tests of intersection and inversion.
//!
//! Shares no code with `distance`, `broad_phase` or `ccd`, so that an error there cannot hide here.
//! It is static: it looks at one set of positions and knows nothing of how it was reached; but [`Auditor::crossings`] looks
//! at the straight path between two.
//!
//! What counts as an intersection: a common point of two closed primitives without a common
//! vertex, touching included, decided exactly. Edge against face covers surfaces; for the rest
//! there are codimensional edge against codimensional edge, and codimensional vertex against face,
//! codimensional edge and codimensional vertex. Two wires that meet in one point are an event of
//! measure zero, and wires that have passed through each other leave no trace; what sees them is
//! [`Auditor::crossings`] on every part of the path, not this test. The same holds for particles.
//! In the plane, where all edges are wires, two of them that cross do leave a trace, so that the test of
//! codimensional edges covers the outlines of solids ([`CollisionMesh::planar`]).
//! Primitives that share a vertex are not compared: two adjacent faces folded onto each other are
//! found only by their other neighbours.
//!
//! Surfaces that have passed through each other as a whole intersect nowhere. [`Parts`] tells what lies inside of closed
//! ones, so that two states can be compared.
//!
//! Pairs without a mobile vertex and pairs of groups that ignore each other are left out
//! ([`CollisionMesh::may_collide`]), and neighbours at rest ([`CollisionMesh::neighbours`]); of an edge and a
//! face, where a vertex or edge of the one is a neighbour of the other.

pub mod box_pairs;
mod curved;
mod distances;
mod enclosure;
mod half_space;
pub mod path;
mod predicates;
pub mod separation;

pub use curved::{audit_curved_inversions, audit_curved_triangles};
pub use distances::{ClosePair, Crossing, closer_than, crossings};
pub use enclosure::{Enclosure, Parts};
pub use half_space::audit_half_space;
pub use predicates::{
    certainly_on_one_side, edge_triangle_intersects, ray_meets_segment, ray_meets_triangle,
    segments_intersect, tet_orientation, triangle_orientation,
};

use crate::{CollisionMesh, PairKind};
use box_pairs::{Box3, Origin, Tree, find, find_within};
use rayon::prelude::*;
use standoff_linalg::Vec3;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Boxes that a thread computes at once, at least.
const BOXES: usize = 1024;

/// Two primitives of a collision mesh, by their index in its lists (vertices by their own number).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pair {
    /// Edge and face.
    EdgeFace {
        /// Index into `edges`.
        edge: u32,
        /// Index into `faces`.
        face: u32,
    },
    /// Two edges, ascending.
    EdgeEdge {
        /// Indices into `edges`.
        edges: [u32; 2],
    },
    /// Face and vertex.
    FaceVertex {
        /// Index into `faces`.
        face: u32,
        /// Vertex.
        vertex: u32,
    },
    /// Edge and vertex.
    EdgeVertex {
        /// Index into `edges`.
        edge: u32,
        /// Vertex.
        vertex: u32,
    },
    /// Two vertices, ascending.
    VertexVertex {
        /// The vertices.
        vertices: [u32; 2],
    },
}

/// [`Auditor::intersections`], once.
pub fn audit_intersections(mesh: &CollisionMesh, x: &[Vec3]) -> Vec<Pair> {
    Auditor::default().intersections(mesh, x)
}

/// The audit, with the trees of its last call: between calls for one mesh their order is kept while it
/// fits. They change no finding.
#[derive(Debug, Default)]
pub struct Auditor {
    faces: Tree,
    edges: Tree,
    /// Codimensional edges.
    wires: Tree,
    wire_boxes: Vec<Box3>,
    /// Codimensional vertices.
    points: Tree,
    point_boxes: Vec<Box3>,
}

impl Auditor {
    /// All pairs of primitives that have a point in common at `x` (`#V`), sorted by kind and index. Exact; see the
    /// module's head for what is compared. Primitives with coordinates that are not
    /// finite may go unnoticed here, so check [`non_finite`] too.
    pub fn intersections(&mut self, mesh: &CollisionMesh, x: &[Vec3]) -> Vec<Pair> {
        let p = |v: u32| &x[v as usize];
        let origin = Origin::new(x);
        self.update(mesh, |v| origin.around(v.iter().map(|&i| p(i)), 0.0));
        let ends = |e: u32| mesh.edges[e as usize].map(p);

        let mut found = edges_of_faces_in_faces(mesh, x, &self.faces);
        found.extend(find(&self.wire_boxes, &self.faces, |i, face| {
            let (edge, t) = (mesh.codim_edges[i as usize], mesh.faces[face as usize]);
            let [a, b] = ends(edge);
            (mesh.may_collide(&mesh.edges[edge as usize], &t)
                && edge_triangle_intersects(a, b, p(t[0]), p(t[1]), p(t[2])))
            .then_some(Pair::EdgeFace { edge, face })
        }));
        found.extend(self.wire_wire(mesh, |e, f, pair| {
            let ([a, b], [c, d]) = (ends(e), ends(f));
            segments_intersect(a, b, c, d).then_some(pair)
        }));
        found.extend(find(&self.point_boxes, &self.faces, |i, face| {
            let (vertex, t) = (mesh.codim_vertices[i as usize], mesh.faces[face as usize]);
            (mesh.may_collide(&t, &[vertex])
                && !mesh.neighbours.contains(PairKind::FaceVertex, [face, vertex])
                && edge_triangle_intersects(p(vertex), p(vertex), p(t[0]), p(t[1]), p(t[2])))
            .then_some(Pair::FaceVertex { face, vertex })
        }));
        found.extend(self.point_wire(mesh, |v, e, pair| {
            let [a, b] = ends(e);
            segments_intersect(p(v), p(v), a, b).then_some(pair)
        }));
        found.extend(self.point_point(mesh, |v, w, pair| (p(v) == p(w)).then_some(pair)));
        without_neighbours(mesh, &mut found);
        found
    }

    /// Trees over the boxes around primitives.
    fn update(&mut self, mesh: &CollisionMesh, around: impl Fn(&[u32]) -> Box3 + Sync) {
        let faces = mesh.faces.par_iter().with_min_len(BOXES);
        self.faces.update(&faces.map(|f| around(f)).collect::<Vec<Box3>>());
        let wires = mesh.codim_edges.par_iter().with_min_len(BOXES);
        self.wire_boxes = wires.map(|&e| around(&mesh.edges[e as usize])).collect();
        self.wires.update(&self.wire_boxes);
        let points = mesh.codim_vertices.par_iter().with_min_len(BOXES);
        self.point_boxes = points.map(|&v| around(&[v])).collect();
        self.points.update(&self.point_boxes);
    }

    fn wire_wire<R: PartialOrd + Send>(
        &self,
        mesh: &CollisionMesh,
        test: impl Fn(u32, u32, Pair) -> Option<R> + Sync,
    ) -> Vec<R> {
        find_within(&self.wires, |i, j, found| {
            let [e, f] = ascending(mesh.codim_edges[i as usize], mesh.codim_edges[j as usize]);
            let near = mesh.neighbours.contains(PairKind::EdgeEdge, [e, f]);
            if mesh.may_collide(&mesh.edges[e as usize], &mesh.edges[f as usize]) && !near {
                found.extend(test(e, f, Pair::EdgeEdge { edges: [e, f] }));
            }
        })
    }

    fn point_wire<R: PartialOrd + Send>(
        &self,
        mesh: &CollisionMesh,
        test: impl Fn(u32, u32, Pair) -> Option<R> + Sync,
    ) -> Vec<R> {
        find(&self.point_boxes, &self.wires, |i, j| {
            let (vertex, edge) = (mesh.codim_vertices[i as usize], mesh.codim_edges[j as usize]);
            let may = mesh.may_collide(&mesh.edges[edge as usize], &[vertex])
                && !mesh.neighbours.contains(PairKind::EdgeVertex, [edge, vertex]);
            if may { test(vertex, edge, Pair::EdgeVertex { edge, vertex }) } else { None }
        })
    }

    fn point_point<R: PartialOrd + Send>(
        &self,
        mesh: &CollisionMesh,
        test: impl Fn(u32, u32, Pair) -> Option<R> + Sync,
    ) -> Vec<R> {
        find_within(&self.points, |i, j, found| {
            let list = &mesh.codim_vertices;
            let [v, w] = ascending(list[i as usize], list[j as usize]);
            if mesh.may_collide(&[v], &[w]) {
                found.extend(test(v, w, Pair::VertexVertex { vertices: [v, w] }));
            }
        })
    }
}

/// Removes an edge and a face of which parts are neighbours at rest, and in the plane two edges of which they are.
fn without_neighbours(mesh: &CollisionMesh, found: &mut Vec<Pair>) {
    if found.is_empty() || mesh.neighbours.is_empty() {
        return;
    }
    let neighbours = |kind, primitives| mesh.neighbours.contains(kind, primitives);
    let index = edge_index(mesh);
    let edge_at_face = |edge: u32, face: u32| {
        let f = mesh.faces[face as usize];
        let of_face = (0..3).filter_map(|k| index.get(&ascending(f[k], f[(k + 1) % 3])));
        let mut of_face = of_face.map(|&other| ascending(edge, other));
        let mut ends = mesh.edges[edge as usize].iter();
        of_face.any(|pair| neighbours(PairKind::EdgeEdge, pair))
            || ends.any(|&v| neighbours(PairKind::FaceVertex, [face, v]))
    };
    let ends_at_edge = |e: u32, f: u32| {
        mesh.edges[f as usize].iter().any(|&v| neighbours(PairKind::EdgeVertex, [e, v]))
    };
    found.retain(|found| match *found {
        Pair::EdgeFace { edge, face } => !edge_at_face(edge, face),
        Pair::EdgeEdge { edges: [e, f] } => {
            !mesh.planar || !(ends_at_edge(e, f) || ends_at_edge(f, e))
        }
        _ => true,
    });
}

/// Number of each edge by its ends, ascending.
fn edge_index(mesh: &CollisionMesh) -> HashMap<[u32; 2], u32> {
    let key = |(i, e): (usize, &[u32; 2])| (ascending(e[0], e[1]), i as u32);
    mesh.edges.iter().enumerate().map(key).collect()
}

/// Faces met by an edge of another face: pairs of triangles that no plane of theirs keeps apart, then
/// edge by edge. A pair's edge is looked up last, since there should be none.
fn edges_of_faces_in_faces(mesh: &CollisionMesh, x: &[Vec3], faces: &Tree) -> Vec<Pair> {
    let p = |v: u32| &x[v as usize];
    let hits: Vec<([u32; 2], u32)> = find_within(faces, |i, j, hits| {
        let (f, g) = (mesh.faces[i as usize], mesh.faces[j as usize]);
        let shared = f.iter().filter(|v| g.contains(v)).count();
        // with two vertices in common every edge of the one has a vertex of the other
        if shared > 1 || !f.iter().chain(&g).any(|&v| mesh.mobile[v as usize]) {
            return;
        }
        // a triangle on one side of the other's plane meets it in their common vertex at most
        let apart = |f: &[u32; 3], g: &[u32; 3]| {
            certainly_on_one_side(g.map(p), f.iter().filter(|v| !g.contains(v)).map(|&v| p(v)))
        };
        if apart(&f, &g) || apart(&g, &f) {
            return;
        }
        for (f, g, face) in [(f, g, j), (g, f, i)] {
            for k in 0..3 {
                let [a, b] = [f[k], f[(k + 1) % 3]];
                if mesh.may_collide(&[a, b], &g)
                    && edge_triangle_intersects(p(a), p(b), p(g[0]), p(g[1]), p(g[2]))
                {
                    hits.push((ascending(a, b), face));
                }
            }
        }
    });
    if hits.is_empty() {
        return Vec::new();
    }
    let index = edge_index(mesh);
    let pair = |(e, face)| index.get(&e).map(|&edge| Pair::EdgeFace { edge, face });
    let mut found: Vec<Pair> = hits.into_iter().filter_map(pair).collect();
    found.sort();
    found
}

fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Tetrahedra (`#T×4`) of volume ≤ 0 at `x` (`#V`), by index, ascending. Exact.
pub fn audit_inversions(tets: &[[u32; 4]], x: &[Vec3]) -> Vec<u32> {
    tets.par_iter()
        .enumerate()
        .filter(|(_, t)| {
            let [a, b, c, d] = t.map(|v| &x[v as usize]);
            tet_orientation(a, b, c, d) != Ordering::Greater
        })
        .map(|(i, _)| i as u32)
        .collect()
}

/// Triangles (`#F×3`) in the plane z = 0 that are not counter-clockwise at `x` (`#V`), by index, ascending.
/// Exact.
pub fn audit_turned_triangles(triangles: &[[u32; 3]], x: &[Vec3]) -> Vec<u32> {
    let turned = |(i, t): (usize, &[u32; 3])| {
        let [a, b, c] = t.map(|v| &x[v as usize]);
        (triangle_orientation(a, b, c) != Ordering::Greater).then_some(i as u32)
    };
    triangles.par_iter().enumerate().filter_map(turned).collect()
}

/// Vertices, by index, that are not in the plane z = 0.
pub fn out_of_plane(x: &[Vec3]) -> Vec<u32> {
    (0..x.len() as u32).filter(|&v| x[v as usize].z != 0.0).collect()
}

/// Vertices, by index, with a coordinate that is not finite.
pub fn non_finite(x: &[Vec3]) -> Vec<u32> {
    let bad = |p: &Vec3| p.iter().any(|c| !c.is_finite());
    (0..x.len() as u32).filter(|&v| bad(&x[v as usize])).collect()
}
