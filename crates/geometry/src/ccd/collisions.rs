//! Every collision on the way, not only the first one.

use super::{Method, Query, additive};
use crate::CollisionMesh;
use crate::broad_phase::Candidates;
use rayon::prelude::*;
use standoff_linalg::Vec3;

/// A pair of primitives, in the numbering of the collision mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pair {
    /// Two vertices.
    VertexVertex([u32; 2]),
    /// Edge and vertex.
    EdgeVertex([u32; 2]),
    /// Two edges.
    EdgeEdge([u32; 2]),
    /// Face and vertex.
    FaceVertex([u32; 2]),
}

impl Pair {
    /// Vertices of the pair, as many as it has, in the order of [`Query`]'s.
    pub fn vertices(self, mesh: &CollisionMesh) -> ([u32; 4], usize) {
        match self {
            Pair::VertexVertex([a, b]) => ([a, b, b, b], 2),
            Pair::EdgeVertex([e, v]) => {
                let [a, b] = mesh.edges[e as usize];
                ([v, a, b, b], 3)
            }
            Pair::EdgeEdge([e, f]) => {
                let ([a, b], [c, d]) = (mesh.edges[e as usize], mesh.edges[f as usize]);
                ([a, b, c, d], 4)
            }
            Pair::FaceVertex([f, v]) => {
                let [a, b, c] = mesh.faces[f as usize];
                ([v, a, b, c], 4)
            }
        }
    }

    /// Thickness offset ξ of the pair, m.
    pub fn thickness(self, mesh: &CollisionMesh) -> f64 {
        let (v, n) = self.vertices(mesh);
        let second = if matches!(self, Pair::EdgeEdge(_)) { 2 } else { 1 };
        mesh.thickness(&v[..second], &v[second..n])
    }

    /// The gap that the pair keeps where others keep `separation`, m: half of its gap at rest if it
    /// belongs to one body and is that close by nature, as the neighbours on a fine mesh are.
    pub fn separation(self, mesh: &CollisionMesh, separation: f64) -> f64 {
        let (v, _) = self.vertices(mesh);
        let second = if matches!(self, Pair::EdgeEdge(_)) { 2 } else { 1 };
        if !mesh.same_body(v[0], v[second]) {
            return separation;
        }
        // a query uses positions and displacements of its own vertices only
        let rest = self.query(mesh, &mesh.rest, &mesh.rest);
        let xi = self.thickness(mesh);
        let gap = additive::initial_separation(&rest, xi) - xi;
        if gap > 0.0 { separation.min(0.5 * gap) } else { separation }
    }

    /// The pair in motion from `x` along `dx` (`#V`).
    pub fn query(self, mesh: &CollisionMesh, x: &[Vec3], dx: &[Vec3]) -> Query {
        let (v, _) = self.vertices(mesh);
        let at = |i: usize| (x[v[i] as usize], dx[v[i] as usize]);
        let [(a, da), (b, db), (c, dc), (d, dd)] = [at(0), at(1), at(2), at(3)];
        match self {
            Pair::VertexVertex(_) => Query::point_point([a, b], [da, db]),
            Pair::EdgeVertex(_) => Query::point_edge([a, b, c], [da, db, dc]),
            Pair::EdgeEdge(_) => Query::edge_edge([a, b, c, d], [da, db, dc, dd]),
            Pair::FaceVertex(_) => Query::point_triangle([a, b, c, d], [da, db, dc, dd]),
        }
    }
}

/// A pair that comes too close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collision {
    /// The pair.
    pub pair: Pair,
    /// A time in [0, 1) up to which it keeps its reach.
    pub time: f64,
    /// A time in [0, 1] up to which it keeps a safe distance: a step that long is safe.
    pub limit: f64,
}

/// How close pairs may come, in terms of their gap g = d₀ − ξ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keep {
    /// Gap below which a pair that approaches collides, m.
    pub reach: f64,
}

impl Keep {
    /// Part of any gap that is kept.
    const PART: f64 = 0.1;

    /// The part of the gap at which a pair collides: that of the reach, or nearly all of a gap that is
    /// smaller already.
    pub fn collides(&self, gap: f64) -> f64 {
        Self::share(0.95, self.reach, gap)
    }

    /// The part of the gap that a step leaves: half of what is below the reach, a tenth at least.
    pub fn limit(&self, gap: f64) -> f64 {
        Self::share(0.5, self.reach, gap)
    }

    fn share(share: f64, reach: f64, gap: f64) -> f64 {
        if gap > 0.0 { Self::PART.max(share * (reach / gap).min(1.0)) } else { Self::PART }
    }
}

/// Every candidate that collides ([`Keep::collides`]) on the way from x to x + dx, in the candidates'
/// order, with its share of the largest safe step.
pub fn collisions(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    candidates: &Candidates,
    method: Method,
    keep: Keep,
) -> Vec<Collision> {
    let of = |pair: Pair| {
        let query = pair.query(mesh, x, dx);
        let floor = pair.thickness(mesh) + query.landing_error();
        let gap = additive::initial_separation(&query, floor) - floor;
        let keep = Keep { reach: pair.separation(mesh, keep.reach) };
        let time = method.time_of_impact(&query, floor, keep.collides(gap), 1.0)?;
        let limit = method.time_of_impact(&query, floor, keep.limit(gap), 1.0).unwrap_or(1.0);
        // both are safe
        Some(Collision { pair, time, limit: limit.max(time) })
    };
    let all = |pairs: &[[u32; 2]], kind: fn([u32; 2]) -> Pair| -> Vec<Collision> {
        pairs.par_iter().with_min_len(64).filter_map(|&p| of(kind(p))).collect()
    };
    let mut found = all(&candidates.vertex_vertex, Pair::VertexVertex);
    found.append(&mut all(&candidates.edge_vertex, Pair::EdgeVertex));
    found.append(&mut all(&candidates.edge_edge, Pair::EdgeEdge));
    found.append(&mut all(&candidates.face_vertex, Pair::FaceVertex));
    found
}
