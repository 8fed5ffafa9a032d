//! Two parts of given sizes with few edges between them: greedy growing on a coarse graph, and refinement by moves of single
//! vertices on every level [Fiduccia & Mattheyses 1982].

use std::collections::BinaryHeap;

use super::coarsening::Hierarchy;
use super::{Graph, hash, key, vertex};

/// Vertices of the coarsest graph.
const COARSEST: usize = 60;

/// Passes over the boundary at most, on each level.
const PASSES: usize = 8;

/// Moves in a pass after the best cut of it, at most.
const VAIN_MOVES: usize = 150;

/// Starts of growing on the coarsest graph.
const STARTS: u32 = 4;

/// The side, 0 or 1, of each vertex, where side 0 is to have a `share` of the weight and the sides may be heavier by the
/// factor 1 + `tolerance`.
pub(super) fn bisection(graph: &Graph, share: f64, tolerance: f64) -> Vec<u8> {
    let hierarchy = Hierarchy::new(graph, COARSEST, 1);
    let coarsest = hierarchy.levels.last().map_or(graph, |(graph, _)| graph);
    let mut side = grown(coarsest, share, tolerance);
    for level in (0..hierarchy.levels.len()).rev() {
        let finer = level.checked_sub(1).map_or(graph, |k| &hierarchy.levels[k].0);
        side = hierarchy.levels[level].1.iter().map(|&c| side[c as usize]).collect();
        let mut refinement = Refinement::new(finer, side, share, tolerance);
        refinement.refine();
        side = refinement.side;
    }
    side
}

/// The best of several that are grown from different vertices.
fn grown(graph: &Graph, share: f64, tolerance: f64) -> Vec<u8> {
    let n = graph.n() as u32;
    let mut best: Option<(Cost, Vec<u8>)> = None;
    let mut start = 0;
    for k in 0..STARTS.min(n) {
        // ends of the graph first, then anywhere
        start = if k < 2 { graph.farthest(start) } else { hash(k, n) % n };
        let mut refinement = Refinement::new(graph, vec![1; n as usize], share, tolerance);
        refinement.grow(start);
        refinement.refine();
        let cost = refinement.cost();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, refinement.side));
        }
    }
    best.map_or_else(Vec::new, |(_, side)| side)
}

/// What a cut is judged by, the most important first: weight of the sides above what is allowed, weight of the cut edges,
/// distance from the weights wanted.
type Cost = (i32, i32, i32);

/// A cut that is being improved.
struct Refinement<'a> {
    graph: &'a Graph,
    side: Vec<u8>,
    /// Weights of the sides, wanted, and allowed at most.
    weight: [i32; 2],
    wanted: [i32; 2],
    largest: [i32; 2],
    cut: i32,
    /// Weights of the edges of each vertex: to the other side, and to both.
    outside: Vec<i32>,
    all: Vec<i32>,
    /// Whether a vertex was moved in this pass.
    moved: Vec<bool>,
    /// Vertices of either side with edges to the other one, by gain of a move. What is out of date stays until it comes up.
    queue: [BinaryHeap<u64>; 2],
    /// Vertices moved in this pass.
    trail: Vec<u32>,
}

impl<'a> Refinement<'a> {
    fn new(graph: &'a Graph, side: Vec<u8>, share: f64, tolerance: f64) -> Self {
        let mut weight = [0; 2];
        for (&s, &w) in side.iter().zip(&graph.weight) {
            weight[s as usize] += w as i32;
        }
        let total = weight[0] + weight[1];
        let first = (share * f64::from(total)).round() as i32;
        let wanted = [first, total - first];
        // no balance is finer than the heaviest vertex
        let heaviest = graph.weight.iter().max().map_or(0, |&w| w as i32);
        let largest = wanted.map(|w| w + (tolerance * f64::from(w)) as i32 + heaviest - 1);
        let (mut outside, mut all) = (vec![0; graph.n()], vec![0; graph.n()]);
        let mut cut = 0;
        for v in 0..graph.n() as u32 {
            for (u, edge) in graph.edges(v) {
                all[v as usize] += edge as i32;
                if side[u as usize] != side[v as usize] {
                    outside[v as usize] += edge as i32;
                }
            }
            cut += outside[v as usize];
        }
        Self {
            graph,
            side,
            weight,
            wanted,
            largest,
            cut: cut / 2,
            outside,
            all,
            moved: vec![false; graph.n()],
            queue: [BinaryHeap::new(), BinaryHeap::new()],
            trail: Vec::new(),
        }
    }

    fn cost(&self) -> Cost {
        let above = |s: usize| (self.weight[s] - self.largest[s]).max(0);
        (above(0) + above(1), self.cut, (self.weight[0] - self.wanted[0]).abs())
    }

    /// Weight by which the cut becomes less if a vertex moves.
    fn gain(&self, v: u32) -> i32 {
        2 * self.outside[v as usize] - self.all[v as usize]
    }

    fn enqueue(&mut self, v: u32) {
        if self.outside[v as usize] > 0 && !self.moved[v as usize] {
            self.queue[self.side[v as usize] as usize].push(key(self.gain(v), v));
        }
    }

    /// Moves a vertex to the other side.
    fn flip(&mut self, v: u32) {
        let from = self.side[v as usize];
        self.cut -= self.gain(v);
        let weight = self.graph.weight[v as usize] as i32;
        self.weight[from as usize] -= weight;
        self.weight[1 - from as usize] += weight;
        self.side[v as usize] = 1 - from;
        self.outside[v as usize] = self.all[v as usize] - self.outside[v as usize];
        let graph = self.graph;
        for (u, edge) in graph.edges(v) {
            let sign = if self.side[u as usize] == from { 1 } else { -1 };
            self.outside[u as usize] += sign * edge as i32;
        }
    }

    /// Moves a vertex, once in a pass, and says what its neighbours gain now.
    fn make(&mut self, v: u32) {
        self.flip(v);
        self.moved[v as usize] = true;
        self.trail.push(v);
        let graph = self.graph;
        for &u in graph.neighbours(v) {
            self.enqueue(u);
        }
    }

    /// The vertex of a side with the largest gain, and that gain; what is out of date goes.
    fn best(&mut self, from: usize) -> Option<(i32, u32)> {
        while let Some(&next) = self.queue[from].peek() {
            let v = vertex(next);
            let current = self.side[v as usize] as usize == from && !self.moved[v as usize];
            if current && self.outside[v as usize] > 0 && next == key(self.gain(v), v) {
                return Some((self.gain(v), v));
            }
            self.queue[from].pop();
        }
        None
    }

    /// The next move: of the two best ones that leave the other side light enough the one with more gain, of equals the
    /// one from the side that is too heavy.
    fn next(&mut self) -> Option<u32> {
        loop {
            let found = [self.best(0), self.best(1)];
            let heavier = usize::from(self.weight[1] > self.wanted[1]);
            let too_heavy = self.weight[heavier] > self.largest[heavier];
            let key = |from: usize| {
                let forced = too_heavy && from == heavier;
                found[from].map(|(gain, _)| (forced, gain, from == heavier))
            };
            let from = if key(0) >= key(1) { 0 } else { 1 };
            let (_, v) = found[from]?;
            self.queue[from].pop();
            let weight = self.graph.weight[v as usize] as i32;
            if from == heavier || self.weight[1 - from] + weight <= self.largest[1 - from] {
                return Some(v);
            }
        }
    }

    /// One pass: every vertex is moved once at most; the best cut on the way stays. Whether it is better.
    fn pass(&mut self, boundary: &mut Vec<u32>) -> bool {
        for queue in &mut self.queue {
            queue.clear();
        }
        for &v in boundary.iter() {
            self.enqueue(v);
        }
        let patience = VAIN_MOVES.min(25 + boundary.len());
        let start = self.cost();
        let (mut best, mut kept, mut vain) = (start, 0, 0);
        while vain < patience {
            let Some(v) = self.next() else { break };
            self.make(v);
            vain += 1;
            let cost = self.cost();
            if cost < best {
                (best, kept, vain) = (cost, self.trail.len(), 0);
            }
        }
        let graph = self.graph;
        for (k, v) in std::mem::take(&mut self.trail).into_iter().enumerate().rev() {
            self.moved[v as usize] = false;
            if k >= kept {
                self.flip(v);
            }
            boundary.push(v);
            boundary.extend(graph.neighbours(v));
        }
        boundary.sort_unstable();
        boundary.dedup();
        boundary.retain(|&v| self.outside[v as usize] > 0);
        best < start
    }

    /// Passes as long as they help.
    fn refine(&mut self) {
        let n = self.graph.n() as u32;
        let mut boundary: Vec<u32> = (0..n).filter(|&v| self.outside[v as usize] > 0).collect();
        for _ in 0..PASSES {
            if !self.pass(&mut boundary) {
                break;
            }
        }
    }

    /// Lets side 0, empty so far, grow from a vertex to the weight wanted; from another one where there is no way on.
    fn grow(&mut self, start: u32) {
        let mut next = Some(start);
        let mut others = 0..self.graph.n() as u32;
        while let Some(v) = next {
            let weight = self.graph.weight[v as usize] as i32;
            let (now, wanted) = (self.weight[0], self.wanted[0]);
            // as close as possible, but never empty
            if now > 0 && now + weight - wanted > wanted - now {
                break;
            }
            self.make(v);
            let beside = self.best(1).map(|(_, v)| v);
            next = beside.or_else(|| others.find(|&v| self.side[v as usize] == 1));
        }
        self.moved.fill(false);
        self.trail.clear();
    }
}
