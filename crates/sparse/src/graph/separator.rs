//! Vertex separators: greedy growing on a coarse graph, and refinement by moves of single vertices on every level
//! [Fiduccia & Mattheyses 1982, Ashcraft & Liu 1998].

use std::collections::BinaryHeap;

use super::coarsening::Hierarchy;
use super::{Graph, hash, key, vertex};

/// The mark of vertices in the separator; 0 and 1 are the two sides.
pub(super) const SEPARATOR: u8 = 2;

/// Vertices of the coarsest graph.
const COARSEST: usize = 80;

/// Share of the weight that a side may have.
const LARGEST_SIDE: f64 = 0.6;

/// Passes over a separator at most, on each level.
const PASSES: usize = 16;

/// Moves in a pass after the best separator of it, at most.
const VAIN_MOVES: usize = 150;

/// Vertices from which there are several tries on a graph that is coarser by a factor.
const LARGE: usize = 2000;
const REDUCTION: usize = 12;
const TRIES: u32 = 3;

/// Starts of growing on the coarsest graph.
const STARTS: u32 = 3;

/// A separator of a connected graph: the side of each vertex, or [`SEPARATOR`]. A side may be empty.
pub(super) fn separator(graph: &Graph) -> Vec<u8> {
    if graph.n() < LARGE {
        return multilevel(graph, COARSEST, 1, grown);
    }
    multilevel(graph, graph.n() / REDUCTION, 1, |coarse| {
        best_of(coarse, (0..TRIES).map(|k| multilevel(coarse, COARSEST, 2 + k, grown)))
    })
}

/// A separator that is found on a coarser graph of about the given size, and refined on all finer ones.
fn multilevel(graph: &Graph, size: usize, seed: u32, find: impl Fn(&Graph) -> Vec<u8>) -> Vec<u8> {
    let hierarchy = Hierarchy::new(graph, size, seed);
    let mut side = find(hierarchy.levels.last().map_or(graph, |(graph, _)| graph));
    for level in (0..hierarchy.levels.len()).rev() {
        let finer = level.checked_sub(1).map_or(graph, |k| &hierarchy.levels[k].0);
        side = hierarchy.levels[level].1.iter().map(|&c| side[c as usize]).collect();
        let mut refinement = Refinement::new(finer, side);
        refinement.refine();
        side = refinement.side;
    }
    side
}

/// The best of several separators.
fn best_of(graph: &Graph, separators: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let cost = |side: Vec<u8>| (Refinement::new(graph, side.clone()).cost(), side);
    separators.map(cost).min_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Vec::new, |(_, side)| side)
}

/// The best separator of several that are grown from different vertices.
fn grown(graph: &Graph) -> Vec<u8> {
    let n = graph.n() as u32;
    let mut best: Option<(Cost, Vec<u8>)> = None;
    let mut start = 0;
    for k in 0..STARTS {
        // ends of the graph first, then anywhere
        start = if k < 2 { graph.farthest(start) } else { hash(k, n) % n };
        let mut refinement = Refinement::new(graph, vec![1; n as usize]);
        refinement.grow(start);
        refinement.refine();
        let cost = refinement.cost();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, refinement.side));
        }
    }
    best.map_or_else(Vec::new, |(_, side)| side)
}

/// What a separator is judged by, the most important first: weight of the larger side above what is allowed, weight of the
/// separator, difference of the sides.
type Cost = f64;
const PENALTY: f64 = 0.33;

/// A separator that is being improved by passes. In a pass, vertices of the separator move to one of the sides, and their
/// neighbours in the other side come into the separator, so that it wanders through the graph.
struct Refinement<'a> {
    graph: &'a Graph,
    side: Vec<u8>,
    /// Weights of the sides and of the separator.
    weight: [i32; 3],
    /// Weight that a side may have.
    largest: i32,
    /// The side that vertices move to in this pass.
    to: u8,
    /// Of vertices in the separator: weight of their neighbours in the other side.
    beyond: Vec<i32>,
    /// Vertices of the separator by gain of a move. Gains grow in a pass, so that what is out of date comes up last.
    queue: BinaryHeap<u64>,
    /// What happened in this pass: vertices and the side that they left.
    trail: Vec<(u32, u8)>,
}

impl<'a> Refinement<'a> {
    fn new(graph: &'a Graph, side: Vec<u8>) -> Self {
        let mut weight = [0; 3];
        for (&s, &w) in side.iter().zip(&graph.weight) {
            weight[s as usize] += w as i32;
        }
        let total: i32 = weight.iter().sum();
        Self {
            graph,
            side,
            weight,
            largest: (LARGEST_SIDE * f64::from(total)) as i32,
            to: 0,
            beyond: vec![0; graph.n()],
            queue: BinaryHeap::new(),
            trail: Vec::new(),
        }
    }

    fn cost(&self) -> Cost {
        let [a, b, separator] = self.weight.map(f64::from);
        let difference = (a - b) / (a + b + separator);
        let above = (a.max(b) - f64::from(self.largest)).max(0.0);
        // two halves are ordered with fewer operations than parts of different sizes
        above * 1e6 + separator * (1.0 + PENALTY * difference * difference)
    }

    fn enqueue(&mut self, v: u32) {
        let gain = self.graph.weight[v as usize] as i32 - self.beyond[v as usize];
        self.queue.push(key(gain, v));
    }

    /// Changes the side of a vertex; the one that it had.
    fn put(&mut self, v: u32, side: u8) -> u8 {
        let weight = self.graph.weight[v as usize] as i32;
        let before = std::mem::replace(&mut self.side[v as usize], side);
        self.weight[before as usize] -= weight;
        self.weight[side as usize] += weight;
        before
    }

    /// Sums up what is beyond a vertex of the separator, and queues it.
    fn measure(&mut self, v: u32) {
        let neighbours = self.graph.neighbours(v).iter();
        let beyond = neighbours.filter(|u| self.side[**u as usize] == 1 - self.to);
        self.beyond[v as usize] = beyond.map(|&u| self.graph.weight[u as usize] as i32).sum();
        self.enqueue(v);
    }

    /// Puts a vertex of the other side into the separator.
    fn take_in(&mut self, v: u32) {
        let from = self.put(v, SEPARATOR);
        self.trail.push((v, from));
        let graph = self.graph;
        let weight = graph.weight[v as usize] as i32;
        let mut beyond = 0;
        for &u in graph.neighbours(v) {
            let side = self.side[u as usize];
            if side == SEPARATOR {
                self.beyond[u as usize] -= weight;
                self.enqueue(u);
            } else if side != self.to {
                beyond += graph.weight[u as usize] as i32;
            }
        }
        self.beyond[v as usize] = beyond;
        self.enqueue(v);
    }

    /// Moves a vertex of the separator, and takes its neighbours beyond in.
    fn take_out(&mut self, v: u32) {
        self.put(v, self.to);
        self.trail.push((v, SEPARATOR));
        if self.beyond[v as usize] > 0 {
            let graph = self.graph;
            for &u in graph.neighbours(v) {
                if self.side[u as usize] == 1 - self.to {
                    self.take_in(u);
                }
            }
        }
    }

    /// The vertex with the largest gain of those for which there is room.
    fn next(&mut self) -> Option<u32> {
        while let Some(key) = self.queue.pop() {
            let v = vertex(key);
            let room = self.largest - self.weight[self.to as usize];
            let fits = self.graph.weight[v as usize] as i32 <= room;
            if fits && self.side[v as usize] == SEPARATOR {
                return Some(v);
            }
        }
        None
    }

    /// Takes back what happened behind the first `kept` entries of the trail.
    fn take_back(&mut self, kept: usize) {
        while self.trail.len() > kept {
            let Some((v, side)) = self.trail.pop() else { break };
            self.put(v, side);
        }
    }

    /// One pass: the best separator on the way stays. Whether it is better.
    fn pass(&mut self, separator: &mut Vec<u32>) -> bool {
        self.queue.clear();
        self.trail.clear();
        for &v in separator.iter() {
            self.measure(v);
        }
        let patience = VAIN_MOVES.min(25 + 2 * separator.len());
        let start = self.cost();
        let (mut best, mut kept, mut vain) = (start, 0, 0);
        while vain < patience {
            let Some(v) = self.next() else { break };
            self.take_out(v);
            vain += 1;
            let cost = self.cost();
            if cost < best {
                (best, kept, vain) = (cost, self.trail.len(), 0);
            }
        }
        self.take_back(kept);
        separator.extend(self.trail.iter().map(|&(v, _)| v));
        separator.retain(|&v| self.side[v as usize] == SEPARATOR);
        separator.sort_unstable();
        separator.dedup();
        best < start
    }

    /// Passes to either side in turn, the lighter one first, as long as they help.
    fn refine(&mut self) {
        let n = self.graph.n() as u32;
        let mut separator: Vec<u32> =
            (0..n).filter(|&v| self.side[v as usize] == SEPARATOR).collect();
        self.to = u8::from(self.weight[1] < self.weight[0]);
        let mut vain = 0;
        for _ in 0..PASSES {
            vain = if self.pass(&mut separator) { 0 } else { vain + 1 };
            if vain == 2 {
                break;
            }
            self.to = 1 - self.to;
        }
    }

    /// Lets side 0, empty so far, grow from a vertex until it is about as heavy as side 1; the best separator on the
    /// way stays.
    fn grow(&mut self, start: u32) {
        self.to = 0;
        self.take_in(start);
        let (mut best, mut kept) = (None, 0);
        while self.weight[0] < self.weight[1] {
            let Some(v) = self.next() else { break };
            self.take_out(v);
            let cost = self.cost();
            if best.is_none_or(|best| cost <= best) {
                (best, kept) = (Some(cost), self.trail.len());
            }
        }
        self.take_back(kept);
    }
}
