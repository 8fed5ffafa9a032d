//! The independent audit: exact tests of intersection and inversion.
//!
//! Shares no code with `distance`, `broad_phase` or `ccd`, so that an error there cannot hide here.
//! It is static: it looks at one set of positions and knows nothing of the way there; but [`Auditor::crossings`] looks at the
//! straight way between two.
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
mod enclosure;
mod half_space;
pub mod path;
mod predicates;
pub mod separation;

pub use enclosure::{Enclosure, Parts};
pub use half_space::audit_half_space;
pub use predicates::{
    certainly_on_one_side, edge_triangle_intersects, ray_meets_segment, ray_meets_triangle,
    segments_intersect, tet_orientation, triangle_orientation,
};

use crate::{CollisionMesh, PairKind};
use box_pairs::{Box3, Origin, Tree, find, find_within};
use path::Few;
use rayon::prelude::*;
use standoff_linalg::Vec3;
use standoff_linalg::double_double::DoubleDouble;
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

/// Two primitives below their required distance.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct ClosePair {
    /// Who.
    pub pair: Pair,
    /// Their distance, m.
    pub distance: f64,
    /// The required distance, m.
    pub required: f64,
}

/// Two primitives that do not keep their required distance on a path.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Crossing {
    /// Who.
    pub pair: Pair,
    /// The part of the path after which they are too close, from 0 to 1.
    pub time: f64,
    /// Their distance there, m.
    pub distance: f64,
    /// The required distance, m.
    pub required: f64,
}

/// [`Auditor::intersections`], once.
pub fn audit_intersections(mesh: &CollisionMesh, x: &[Vec3]) -> Vec<Pair> {
    Auditor::default().intersections(mesh, x)
}

/// [`Auditor::closer_than`], once.
pub fn closer_than(mesh: &CollisionMesh, x: &[Vec3], margin: f64) -> Vec<ClosePair> {
    Auditor::default().closer_than(mesh, x, margin)
}

/// [`Auditor::crossings`], once.
pub fn crossings(mesh: &CollisionMesh, from: &[Vec3], to: &[Vec3]) -> Vec<Crossing> {
    Auditor::default().crossings(mesh, from, to)
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

    /// All pairs at a distance below ξ + `margin` at `x` (`#V`), m, with ξ the pair's thickness offset
    /// ([`CollisionMesh::thickness`]), sorted by kind and index; none where ξ + `margin` ≤ 0.
    ///
    /// Compared: all edges with each other, all surface vertices with all faces, codimensional vertices
    /// with codimensional edges and with each other; never primitives that share a vertex. Distances
    /// are taken in 106-bit arithmetic, so only a pair within about 1e-28 of its size from ξ + `margin`
    /// can be misjudged. A `margin` slightly below 0 allows for the rounding of positions to `f64`.
    pub fn closer_than(&mut self, mesh: &CollisionMesh, x: &[Vec3], margin: f64) -> Vec<ClosePair> {
        let grow = |v: u32| (half_thickness(mesh, v) + 0.5 * margin).max(0.0);
        let origin = Origin::new(x);
        let around = |v: &[u32]| origin.around(v.iter().map(|&i| &x[i as usize]), grow(v[0]));
        self.pairs(mesh, around, |pair, a, b| {
            let required = required(mesh, a[0], b[0], margin);
            let at = |v: &u32| x[*v as usize];
            let [p, q] = [a, b].map(|v| Few::<Vec3, 3>::new(v.iter().map(at), Vec3::zeros()));
            // most pairs whose boxes meet are far apart, which double precision can tell
            let normal = path::normal(&p, &q);
            if separation::far_apart(&p, &q, &normal, required.value().max(0.0)) {
                return None;
            }
            let origin = separation::extended(&Vec3::zeros());
            let extended =
                |p: &[Vec3]| Few::<_, 3>::new(p.iter().map(separation::extended), origin);
            let [p, q] = [extended(&p), extended(&q)];
            let d2 = separation::squared_distance(&p, &q);
            let is_below = required.is_positive() && d2 < required * required;
            let (distance, required) = (d2.sqrt().value(), required.value());
            is_below.then_some(ClosePair { pair, distance, required })
        })
    }

    /// All pairs that do not stay at a distance above ξ while vertices move on straight lines from `from` to `to` (`#V` each),
    /// sorted by kind and index: surfaces, wires and points that pass through each other on the way are among them, although
    /// both ends may be free of intersections. The pairs are those of [`closer_than`](Self::closer_than).
    ///
    /// What is not found keeps its distance, by the reasoning at the head of [`path`]; what is found is too close at the time
    /// that is named, or within about 1e-16 of the displacement of being so.
    pub fn crossings(&mut self, mesh: &CollisionMesh, from: &[Vec3], to: &[Vec3]) -> Vec<Crossing> {
        let origin = Origin::new(from);
        let around = |v: &[u32]| {
            let ends = v.iter().flat_map(|&i| [&from[i as usize], &to[i as usize]]);
            origin.around(ends, half_thickness(mesh, v[0]))
        };
        self.pairs(mesh, around, |pair, a, b| {
            let required = required(mesh, a[0], b[0], 0.0);
            let ways = |v: &u32| [from[*v as usize], to[*v as usize]];
            let still = [Vec3::zeros(); 2];
            let [p, q] = [a, b].map(|v| Few::<_, 3>::new(v.iter().map(ways), still));
            let path::Contact { time, distance } = path::contact(&p, &q, required)?;
            Some(Crossing { pair, time, distance, required: required.value() })
        })
    }

    /// What `test` returns for all pairs whose boxes meet: all edges with each other, all surface vertices with all faces,
    /// codimensional vertices with codimensional edges and with each other; by kind, in the order of their indices. It gets the
    /// vertices of both primitives.
    fn pairs<R: PartialOrd + Send>(
        &mut self,
        mesh: &CollisionMesh,
        around: impl Fn(&[u32]) -> Box3 + Sync,
        test: impl Fn(Pair, &[u32], &[u32]) -> Option<R> + Sync,
    ) -> Vec<R> {
        self.update(mesh, &around);
        let edges = mesh.edges.par_iter().with_min_len(BOXES);
        self.edges.update(&edges.map(|e| around(e)).collect::<Vec<Box3>>());
        let vertices = mesh.vertices.par_iter().with_min_len(BOXES);
        let vertices: Vec<Box3> = vertices.map(|&v| around(&[v])).collect();
        let mut found = find_within(&self.edges, |i, j, found| {
            let [i, j] = ascending(i, j);
            let (e, f) = (mesh.edges[i as usize], mesh.edges[j as usize]);
            let near = mesh.neighbours.contains(PairKind::EdgeEdge, [i, j]);
            if mesh.may_collide(&e, &f) && !near {
                found.extend(test(Pair::EdgeEdge { edges: [i, j] }, &e, &f));
            }
        });
        found.extend(find(&vertices, &self.faces, |i, face| {
            let (vertex, t) = (mesh.vertices[i as usize], mesh.faces[face as usize]);
            let near = mesh.neighbours.contains(PairKind::FaceVertex, [face, vertex]);
            let may = mesh.may_collide(&t, &[vertex]) && !near;
            if may { test(Pair::FaceVertex { face, vertex }, &t, &[vertex]) } else { None }
        }));
        found.extend(self.point_wire(mesh, |v, e, pair| test(pair, &mesh.edges[e as usize], &[v])));
        found.extend(self.point_point(mesh, |v, w, pair| test(pair, &[v], &[w])));
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

/// Half of the thickness ξ that a vertex brings to a pair, m.
fn half_thickness(mesh: &CollisionMesh, v: u32) -> f64 {
    mesh.half_thickness.get(v as usize).copied().unwrap_or(0.0)
}

/// ξ + `margin` of two primitives of which `v` and `w` are vertices, m.
fn required(mesh: &CollisionMesh, v: u32, w: u32, margin: f64) -> DoubleDouble {
    let half = |v| DoubleDouble::new(half_thickness(mesh, v));
    half(v) + half(w) + DoubleDouble::new(margin)
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
