//! A bounding volume hierarchy over boxes: a complete binary tree above a k-d order.
//!
//! The tree has no pointers. Boxes are sorted by halving them at the median of their longest axis
//! again and again, groups of [`LEAF`] are the leaves, and the nodes lie in heap order (children of i: 2i and 2i+1). All leaves have the same
//! depth, so the next subtree in depth-first order follows from the bits of the node's index.
//! Which pairs are found depends on the boxes only, never on the order, so a tree may keep its
//! order while its boxes move ([`Bvh::refit`]).

use super::aabb::Aabb;
use rayon::prelude::*;

/// Primitives per leaf.
const LEAF: usize = 4;
/// Leaves per unit of parallel work.
const CHUNK: usize = 64;
/// The order is renewed when the nodes have grown by this factor relative to the primitives.
const WORN: f64 = 1.5;

/// A bounding volume hierarchy over `n` primitives, numbered 0..n.
#[derive(Debug, Default)]
pub(super) struct Bvh {
    /// Primitive at each place of the order (`n`).
    order: Vec<u32>,
    /// Boxes in that order, filled up to whole leaves with empty ones.
    boxes: Vec<Aabb>,
    /// Nodes in heap order (`2 leaf_base`, the first unused).
    nodes: Vec<Aabb>,
    /// Whether a mobile primitive lies below a node.
    mobile: Vec<bool>,
    /// Heap index of the first leaf, a power of two.
    leaf_base: usize,
    /// Total size of the nodes over that of the primitives when the order was made.
    fresh: f64,
    /// Scratch for sorting: centres and primitives.
    centres: Vec<([f64; 3], u32)>,
}

impl Bvh {
    /// Moves the boxes of `n` primitives to `of(i)`; the order is made anew when there is none or
    /// it no longer fits. `mobile(i)` says whether primitive i can move.
    pub fn update(
        &mut self,
        n: usize,
        of: impl Fn(usize) -> Aabb + Sync,
        mobile: impl Fn(usize) -> bool,
    ) {
        if self.order.len() == n && self.leaf_base != 0 && self.refit(&of) <= WORN * self.fresh {
            return;
        }
        self.sort(n, &of);
        self.fresh = self.refit(&of);
        self.mobile.clear();
        self.mobile.resize(2 * self.leaf_base, false);
        for (place, &i) in self.order.iter().enumerate() {
            self.mobile[self.leaf_base + place / LEAF] |= mobile(i as usize);
        }
        for i in (1..self.leaf_base).rev() {
            self.mobile[i] = self.mobile[2 * i] | self.mobile[2 * i + 1];
        }
    }

    /// Sorts the primitives by recursive halving of their centres.
    fn sort(&mut self, n: usize, of: &(impl Fn(usize) -> Aabb + Sync)) {
        self.centres.clear();
        self.centres.par_extend((0..n).into_par_iter().map(|i| {
            let b = of(i);
            let centre = std::array::from_fn(|k| {
                let c = 0.5 * (b.min[k] + b.max[k]);
                if c.is_finite() { c } else { 0.0 }
            });
            (centre, i as u32)
        }));
        halve(&mut self.centres);
        self.order.clear();
        self.order.extend(self.centres.iter().map(|c| c.1));
        self.leaf_base = n.div_ceil(LEAF).next_power_of_two();
        self.boxes.clear();
        self.boxes.resize(n.div_ceil(LEAF) * LEAF, Aabb::EMPTY);
        self.nodes.clear();
        self.nodes.resize(2 * self.leaf_base, Aabb::EMPTY);
    }

    /// Recomputes all boxes under the present order; returns the size of the nodes relative to
    /// that of the primitives.
    fn refit(&mut self, of: &(impl Fn(usize) -> Aabb + Sync)) -> f64 {
        let order = &self.order;
        self.boxes[..order.len()]
            .par_iter_mut()
            .zip(order)
            .with_min_len(1024)
            .for_each(|(b, &i)| *b = of(i as usize));
        for (leaf, group) in self.boxes.chunks_exact(LEAF).enumerate() {
            self.nodes[self.leaf_base + leaf] = group.iter().fold(Aabb::EMPTY, |a, b| a.union(b));
        }
        for i in (1..self.leaf_base).rev() {
            self.nodes[i] = self.nodes[2 * i].union(&self.nodes[2 * i + 1]);
        }
        let nodes: f64 = self.nodes[1..].iter().map(Aabb::extent).sum();
        let primitives: f64 = self.boxes.iter().map(Aabb::extent).sum();
        if primitives > 0.0 { nodes / primitives } else { 0.0 }
    }

    /// Calls `f` for the leaves that overlap `b`, from heap node `node` on in depth-first order.
    #[inline]
    fn leaves(&self, mut node: usize, b: &Aabb, only_mobile: bool, mut f: impl FnMut(usize)) {
        loop {
            if self.nodes[node].overlaps(b) && (!only_mobile || self.mobile[node]) {
                if node < self.leaf_base {
                    node *= 2;
                    continue;
                }
                f(node - self.leaf_base);
            }
            // to the right, then up as long as that begins a larger subtree
            node += 1;
            node >>= node.trailing_zeros();
            if node == 1 {
                return;
            }
        }
    }

    fn leaf(&self, leaf: usize) -> impl Iterator<Item = (usize, &Aabb)> {
        let first = leaf * LEAF;
        self.boxes[first..first + LEAF].iter().enumerate().map(move |(k, b)| (first + k, b))
    }

    /// All pairs {i, j}, i ≠ j, with overlapping boxes that `emit` accepts by returning a pair;
    /// `chunks` receives them in no useful order.
    pub fn self_pairs(
        &self,
        chunks: &mut Vec<Vec<[u32; 2]>>,
        emit: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync,
    ) {
        for_chunks(self.boxes.len() / LEAF, chunks, |leaf, out| {
            let node = self.leaf_base + leaf;
            // starting at the leaf itself visits each pair of leaves once
            self.leaves(node, &self.nodes[node], !self.mobile[node], |other| {
                for (i, b) in self.leaf(leaf) {
                    if !b.overlaps(&self.nodes[self.leaf_base + other]) {
                        continue;
                    }
                    for (j, c) in self.leaf(other) {
                        if (other != leaf || j > i) && b.overlaps(c) {
                            out.extend(emit(self.order[i], self.order[j]));
                        }
                    }
                }
            });
        });
    }

    /// All pairs (i of `self`, j of `other`) with overlapping boxes that `emit` accepts.
    pub fn cross_pairs(
        &self,
        other: &Self,
        chunks: &mut Vec<Vec<[u32; 2]>>,
        emit: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync,
    ) {
        for_chunks(self.boxes.len() / LEAF, chunks, |leaf, out| {
            let node = self.leaf_base + leaf;
            other.leaves(1, &self.nodes[node], !self.mobile[node], |theirs| {
                for (i, b) in self.leaf(leaf) {
                    if !b.overlaps(&other.nodes[other.leaf_base + theirs]) {
                        continue;
                    }
                    for (j, c) in other.leaf(theirs) {
                        if b.overlaps(c) {
                            out.extend(emit(self.order[i], other.order[j]));
                        }
                    }
                }
            });
        });
    }
}

/// Runs `f` for all leaves in parallel chunks, each with its own buffer.
fn for_chunks(
    leaves: usize,
    chunks: &mut Vec<Vec<[u32; 2]>>,
    f: impl Fn(usize, &mut Vec<[u32; 2]>) + Sync,
) {
    chunks.resize_with(leaves.div_ceil(CHUNK), Vec::new);
    chunks.par_iter_mut().enumerate().for_each(|(c, out)| {
        out.clear();
        for leaf in c * CHUNK..((c + 1) * CHUNK).min(leaves) {
            f(leaf, out);
        }
    });
}

/// Sorts the pairs of all chunks into `out`; first entries are below `rows`.
pub(super) fn gather(rows: usize, chunks: &[Vec<[u32; 2]>], out: &mut Vec<[u32; 2]>) {
    let mut next = vec![0_u32; rows + 1];
    for p in chunks.iter().flatten() {
        next[p[0] as usize + 1] += 1;
    }
    for i in 0..rows {
        next[i + 1] += next[i];
    }
    out.clear();
    out.resize(next[rows] as usize, [0; 2]);
    for &p in chunks.iter().flatten() {
        let place = &mut next[p[0] as usize];
        out[*place as usize] = p;
        *place += 1;
    }
    // now next[i] is the end of row i
    let mut begin = 0;
    for &end in &next[..rows] {
        out[begin..end as usize].sort_unstable();
        begin = end as usize;
    }
}

/// Sorts centres so that each subtree of the complete tree holds one side of a median cut.
fn halve(centres: &mut [([f64; 3], u32)]) {
    let leaves = centres.len().div_ceil(LEAF);
    if leaves <= 1 {
        return;
    }
    // what the left subtree holds when it is full
    let left = leaves.next_power_of_two() / 2 * LEAF;
    let mut range = Aabb::EMPTY;
    for (c, _) in centres.iter() {
        range = range.union(&Aabb { min: *c, max: *c });
    }
    let size = |k: usize| range.max[k] - range.min[k];
    let axis = (1..3).fold(0, |a, k| if size(k) > size(a) { k } else { a });
    centres
        .select_nth_unstable_by(left, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (low, high) = centres.split_at_mut(left);
    if low.len() > 4096 {
        rayon::join(|| halve(low), || halve(high));
    } else {
        halve(low);
        halve(high);
    }
}
