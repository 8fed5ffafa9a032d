//! Graphs with weights, and what nested dissection and partitions do with them.
//!
//! Everything is a function of the graph: ties are broken by fixed hashes of vertex numbers, and parallel
//! halves do not know of each other.

mod coarsening;
mod cut;
mod dissection;
mod kway;
mod leaf;
mod separator;
#[cfg(test)]
mod tests;

pub(crate) use dissection::nested_dissection;
pub(crate) use kway::partition;

use crate::BlockPattern;

/// Marks what is not there.
const NONE: u32 = u32::MAX;

/// An undirected graph without loops. Every edge is listed at both ends.
#[derive(Debug, Clone, Default)]
struct Graph {
    /// n + 1 offsets into `neighbours` and `edge_weight`.
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    /// Edges of the finest graph in each edge.
    edge_weight: Vec<u32>,
    /// Vertices of the finest graph in each vertex.
    weight: Vec<u32>,
}

impl Graph {
    /// The graph of the off-diagonal blocks with unit weights; `None` where the weights of all its edges do
    /// not add up within 31 bits.
    fn of(pattern: &BlockPattern) -> Option<Self> {
        let n = pattern.n();
        let arcs = 2 * (pattern.block_count() - n);
        i32::try_from(arcs.max(n)).ok()?;
        let mut offsets = Vec::with_capacity(n + 1);
        let mut neighbours = Vec::with_capacity(arcs);
        offsets.push(0);
        for v in 0..n {
            neighbours.extend(pattern.neighbours(v).map(|u| u as u32));
            offsets.push(neighbours.len() as u32);
        }
        Some(Self { offsets, neighbours, edge_weight: vec![1; arcs], weight: vec![1; n] })
    }

    fn n(&self) -> usize {
        self.weight.len()
    }

    /// Places of the arcs of a vertex.
    fn arcs(&self, v: u32) -> std::ops::Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    fn neighbours(&self, v: u32) -> &[u32] {
        &self.neighbours[self.arcs(v)]
    }

    /// Neighbours and weights of the edges to them.
    fn edges(&self, v: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let arcs = self.arcs(v);
        let weights = &self.edge_weight[arcs.clone()];
        self.neighbours[arcs].iter().copied().zip(weights.iter().copied())
    }

    fn total_weight(&self) -> u32 {
        self.weight.iter().sum()
    }

    /// The graph of some vertices, numbered as they are listed, and of the edges between them. `local` has an
    /// entry per vertex and is of no other use before and after: those of the graph's vertices are [`NONE`]
    /// or belong to members.
    fn induced(&self, members: &[u32], local: &mut [u32]) -> Self {
        for (k, &v) in members.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        let arcs = members.iter().map(|&v| self.arcs(v).len()).sum();
        let mut graph = Self {
            offsets: Vec::with_capacity(members.len() + 1),
            neighbours: Vec::with_capacity(arcs),
            edge_weight: Vec::with_capacity(arcs),
            weight: members.iter().map(|&v| self.weight[v as usize]).collect(),
        };
        graph.offsets.push(0);
        for &v in members {
            for (u, weight) in self.edges(v) {
                if local[u as usize] != NONE {
                    graph.neighbours.push(local[u as usize]);
                    graph.edge_weight.push(weight);
                }
            }
            graph.offsets.push(graph.neighbours.len() as u32);
        }
        for &v in members {
            local[v as usize] = NONE;
        }
        graph
    }

    /// The vertices of each connected component, in the order of their first vertices; each list
    /// ascends.
    fn components(&self) -> Vec<Vec<u32>> {
        self.components_along(|_, _| true)
    }

    /// The components that only some edges connect.
    fn components_along(&self, connects: impl Fn(u32, u32) -> bool) -> Vec<Vec<u32>> {
        let mut found = vec![false; self.n()];
        let mut components = Vec::new();
        for first in 0..self.n() as u32 {
            if !found[first as usize] {
                let mut members = self.reached(first, &mut found, &connects);
                members.sort_unstable();
                components.push(members);
            }
        }
        components
    }

    /// A vertex that is reached last from `start`.
    fn farthest(&self, start: u32) -> u32 {
        let order = self.reached(start, &mut vec![false; self.n()], &|_, _| true);
        order[order.len() - 1]
    }

    /// The vertices that are reached from `first` and not found yet, in breadth-first order.
    fn reached(
        &self,
        first: u32,
        found: &mut [bool],
        connects: &impl Fn(u32, u32) -> bool,
    ) -> Vec<u32> {
        found[first as usize] = true;
        let mut order = vec![first];
        let mut next = 0;
        while let Some(&v) = order.get(next) {
            next += 1;
            for &u in self.neighbours(v) {
                if !found[u as usize] && connects(v, u) {
                    found[u as usize] = true;
                    order.push(u);
                }
            }
        }
        order
    }
}

/// A fixed hash: what takes the place of random numbers.
fn hash(v: u32, seed: u32) -> u32 {
    let h = (v ^ seed).wrapping_mul(0x9E37_79B1);
    (h ^ (h >> 15)).wrapping_mul(0x85EB_CA77)
}

/// Orders vertices by gain, of equals by number, the first one as the largest.
fn key(gain: i32, v: u32) -> u64 {
    u64::from(gain.cast_unsigned() ^ (1 << 31)) << 32 | u64::from(!v)
}

/// The vertex of a key.
fn vertex(key: u64) -> u32 {
    !(key as u32)
}
