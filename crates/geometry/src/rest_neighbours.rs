//! Pairs of primitives of one body that are within their thickness of each other at rest, because they are neighbours
//! along the body: a mesh may be finer than the thickness.
//!
//! Such pairs never interact, as primitives with a common vertex never do. A pair belongs to them if
//!
//! - its distance at rest is at most [`REACH`] times its thickness ξ, and
//! - a way leads along the body from the one to the other that does not leave that distance.
//!
//! So two layers of a body that is folded at rest are no neighbours, however close they are, except beside the fold.
//! The ways begin at the vertex of a pair, and of two edges at either one.

use crate::distance::{edge_edge_d2, point_edge_d2, point_point_d2};
use crate::topology::Adjacency;
use crate::{CollisionMesh, Neighbourhood, PairKind, RestNeighbours, broad_phase};
use rayon::prelude::*;
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// Distance at rest up to which neighbours ignore each other, in units of the thickness. The part above 1 lets the
/// body bend: points that are 1.1 ξ apart along it come as close as ξ where its radius is ξ (1.1³/(24 · 0.1))^½ =
/// 0.74 ξ. At half of ξ the inside of the bend closes.
pub const REACH: f64 = 1.1;

impl CollisionMesh {
    /// Makes primitives ignore each other that are neighbours along their body and nearer at rest than their
    /// thickness allows ([`RestNeighbours`]). `slack` ≥ 1 multiplies the distance up to which they do, for rest
    /// positions that are known up to rounding only. Wants everything else of the mesh to be set.
    pub fn exclude_neighbours(&mut self, slack: f64) {
        self.neighbours = RestNeighbours::default();
        self.neighbours = RestNeighbours::new(self, slack);
    }
}

impl RestNeighbours {
    /// The neighbours of `mesh` at rest, with [`REACH`] multiplied by `slack`.
    pub fn new(mesh: &CollisionMesh, slack: f64) -> Self {
        let thickest = 2.0 * mesh.half_thickness.iter().fold(0.0, |a: f64, b| a.max(*b));
        if thickest == 0.0 {
            return Self::default();
        }
        let reach = REACH * slack;
        let mut sources: BTreeMap<Source, Vec<(PairKind, [u32; 2])>> = BTreeMap::new();
        let near = broad_phase::candidates(mesh, &mesh.rest, 0.5 * (reach - 1.0) * thickest);
        for pair in near.iter() {
            let [a, b] = pair.stencil(mesh).representatives();
            let within = || pair.d2(mesh, &mesh.rest).sqrt() <= reach * pair.thickness(mesh);
            if !mesh.same_body(a, b) || !within() {
                continue;
            }
            let [i, j] = pair.primitives;
            let from: &[Source] = match pair.kind {
                PairKind::VertexVertex => &[],
                PairKind::EdgeVertex | PairKind::FaceVertex => &[Source::Vertex(j)],
                PairKind::EdgeEdge => &[Source::Edge(i), Source::Edge(j)],
            };
            for &source in from {
                sources.entry(source).or_default().push((pair.kind, pair.primitives));
            }
        }
        if sources.is_empty() {
            return Self::default();
        }
        Self::along(mesh, reach, &sources.into_iter().collect::<Vec<_>>())
    }

    /// The pairs of each source to which a way leads.
    fn along(
        mesh: &CollisionMesh,
        reach: f64,
        sources: &[(Source, Vec<(PairKind, [u32; 2])>)],
    ) -> Self {
        let links = Links::new(mesh);
        let found: Vec<Vec<(PairKind, [u32; 2])>> = sources
            .par_iter()
            .with_min_len(64)
            .map(|(source, pairs)| {
                let reached = links.reached(mesh, *source, reach);
                let is_reached = |e: u32| reached.binary_search(&e).is_ok();
                let leads = |(kind, [i, j]): (PairKind, [u32; 2])| match kind {
                    PairKind::VertexVertex => false,
                    PairKind::EdgeVertex => is_reached(i),
                    PairKind::EdgeEdge => {
                        is_reached(if *source == Source::Edge(i) { j } else { i })
                    }
                    PairKind::FaceVertex => links.around.face_edges(i).into_iter().any(is_reached),
                };
                pairs.iter().copied().filter(|pair| leads(*pair)).collect()
            })
            .collect();
        Self::from_rows(PairKind::ALL.map(|kind| {
            let own = found.iter().flatten().filter(|(k, _)| *k == kind).map(|(_, pair)| *pair);
            let own: Vec<[u32; 2]> = own.collect();
            let rows = match kind {
                PairKind::FaceVertex => mesh.faces.len(),
                _ => mesh.edges.len(),
            };
            if own.is_empty() { Adjacency::default() } else { Adjacency::from_pairs(rows, own) }
        }))
    }
}

/// Where ways begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Vertex(u32),
    Edge(u32),
}

/// How edges hang together.
struct Links {
    around: Neighbourhood,
    /// Edges at each vertex.
    at_vertex: Adjacency,
}

impl Links {
    fn new(mesh: &CollisionMesh) -> Self {
        let ends = mesh.edges.iter().zip(0..);
        let at_vertex = ends.flat_map(|(ends, e)| ends.map(|v| [v, e])).collect();
        Self {
            around: Neighbourhood::new(mesh),
            at_vertex: Adjacency::from_pairs(mesh.rest.len(), at_vertex),
        }
    }

    /// The edges to which a way leads from `source` within `reach` thicknesses of it, ascending.
    ///
    /// A way goes from an edge on to another one at a common end within reach, or through a face of both: what
    /// lies of a face within reach hangs together, as all that is within a distance of a vertex or edge is convex.
    fn reached(&self, mesh: &CollisionMesh, source: Source, reach: f64) -> Vec<u32> {
        let x = |v: u32| &mesh.rest[v as usize];
        let ends = |e: u32| mesh.edges[e as usize];
        let edge = |e: u32| -> [&Vec3; 2] { ends(e).map(x) };
        let (first, at) = match source {
            Source::Vertex(v) => (v, self.at_vertex.row(v as usize).to_vec()),
            Source::Edge(e) => (ends(e)[0], vec![e]),
        };
        let limit = (reach * mesh.thickness(&[first], &[first])).powi(2);
        let to_vertex = |v: u32| match source {
            Source::Vertex(w) => point_point_d2(x(v), x(w)),
            Source::Edge(e) => point_edge_d2(x(v), edge(e)[0], edge(e)[1]),
        };
        let to_edge = |f: u32| {
            let [c, d] = edge(f);
            match source {
                Source::Vertex(v) => point_edge_d2(x(v), c, d),
                Source::Edge(e) => edge_edge_d2(edge(e)[0], edge(e)[1], c, d),
            }
        };
        let mut seen: std::collections::BTreeSet<u32> = at.iter().copied().collect();
        let mut open = at;
        if let Source::Vertex(v) = source {
            // into the faces at the vertex
            let opposite =
                self.around.ring(v).faces.iter().flat_map(|&f| self.around.face_edges(f));
            open.extend(opposite.filter(|&e| to_edge(e) <= limit && seen.insert(e)));
        }
        while let Some(e) = open.pop() {
            let beside = self.around.wings(e).iter();
            let through = beside.flat_map(|wing| self.around.face_edges(wing.face));
            let ends = ends(e).into_iter().filter(|&v| to_vertex(v) <= limit);
            let at_ends = ends.flat_map(|v| self.at_vertex.row(v as usize).iter().copied());
            for next in through.chain(at_ends) {
                if !seen.contains(&next) && to_edge(next) <= limit {
                    seen.insert(next);
                    open.push(next);
                }
            }
        }
        seen.into_iter().collect()
    }
}
