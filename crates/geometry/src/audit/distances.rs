//! Pairs of primitives that are too close to each other, in one state or on the path between two.

use super::box_pairs::{Box3, Origin, find, find_within};
use super::path::{self, Few};
use super::{Auditor, BOXES, Pair, ascending, separation};
use crate::{CollisionMesh, PairKind};
use rayon::prelude::*;
use standoff_linalg::Vec3;
use standoff_linalg::double_double::DoubleDouble;

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

/// [`Auditor::closer_than`], once.
pub fn closer_than(mesh: &CollisionMesh, x: &[Vec3], margin: f64) -> Vec<ClosePair> {
    Auditor::default().closer_than(mesh, x, margin)
}

/// [`Auditor::crossings`], once.
pub fn crossings(mesh: &CollisionMesh, from: &[Vec3], to: &[Vec3]) -> Vec<Crossing> {
    Auditor::default().crossings(mesh, from, to)
}

impl Auditor {
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
    /// sorted by kind and index: surfaces, wires and points that pass through each other on the path are among them, although
    /// both ends may be free of intersections. The pairs are those of [`closer_than`](Self::closer_than).
    ///
    /// What is not found keeps its distance, by the reasoning at the head of [`path`]. What is found is too close at the time
    /// that is named if its distance there says so; else it could not be proved free from there on.
    pub fn crossings(&mut self, mesh: &CollisionMesh, from: &[Vec3], to: &[Vec3]) -> Vec<Crossing> {
        let origin = Origin::new(from);
        let around = |v: &[u32]| {
            let ends = v.iter().flat_map(|&i| [&from[i as usize], &to[i as usize]]);
            origin.around(ends, half_thickness(mesh, v[0]))
        };
        self.pairs(mesh, around, |pair, a, b| {
            let required = required(mesh, a[0], b[0], 0.0);
            let paths = |v: &u32| [from[*v as usize], to[*v as usize]];
            let still = [Vec3::zeros(); 2];
            let [p, q] = [a, b].map(|v| Few::<_, 3>::new(v.iter().map(paths), still));
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
