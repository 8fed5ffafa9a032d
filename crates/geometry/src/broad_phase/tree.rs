//! A bounding volume hierarchy of width eight above a k-d order.
//!
//! The tree has no pointers: primitives are sorted by halving them at the median of their longest
//! axis again and again, eight in a row make a leaf, and eight nodes in a row a node of the next
//! level. Which pairs are found depends on the boxes only, never on the order, so a tree keeps its
//! order while its boxes move, until it no longer fits.

use super::lanes::{Block, Compare, Comparison, Stencils, WIDTH, dispatch};
use super::paths::Paths;
use crate::collision_mesh::NONE;
use rayon::prelude::*;
use std::ops::Range;

/// Leaves per unit of parallel work.
const CHUNK: usize = 32;
/// The order is renewed when the leaves have grown by this factor relative to the primitives.
const WORN: f64 = 1.5;
/// Entries of the traversal's stack: 7 for each level but the last, of at most 11.
const STACK: usize = 80;

/// A hierarchy over `n` primitives of `N` vertices, numbered 0..n.
#[derive(Debug, Default)]
pub(super) struct Tree<const N: usize> {
    /// Primitive at each place of the order (`n`).
    order: Vec<u32>,
    /// Boxes of eight primitives each, then of eight blocks each, up to a single block.
    levels: Vec<Vec<Block>>,
    /// Which boxes hold a mobile primitive, like `levels`.
    mobile: Vec<Vec<u8>>,
    /// The body that ignores itself and has all primitives of a box, or [`NONE`], like `levels`; empty where no body ignores itself.
    alone: Vec<Vec<[u32; WIDTH]>>,
    /// Vertices of the primitives, like `levels[0]`.
    stencils: Vec<Stencils>,
    /// Total size of the leaves over that of the primitives when the order was made.
    fresh: f64,
    /// Scratch for sorting: centres and primitives.
    centres: Vec<([f32; 3], u32)>,
}

/// Which pairs of vertices are of no interest.
#[derive(Clone, Copy)]
pub(super) struct Which<'a> {
    /// Which vertices can move; two that cannot are none (`#V`).
    pub mobile: &'a [bool],
    /// Body of each vertex whose body ignores itself, [`NONE`] for the others (`#V`, or empty).
    pub alone: &'a [u32],
}

impl<const N: usize> Tree<N> {
    /// Moves the boxes of `n` primitives to where `paths` has their vertices `of(i)`; the order is
    /// rebuilt when there is none or it no longer fits. Which vertices are mobile must not have changed.
    pub fn update(
        &mut self,
        n: usize,
        paths: &Paths,
        of: impl Fn(usize) -> [u32; N] + Sync,
        which: Which<'_>,
    ) {
        self.fit(n, paths, of, which.mobile);
        self.label(which.alone);
    }

    /// The boxes.
    fn fit(
        &mut self,
        n: usize,
        paths: &Paths,
        of: impl Fn(usize) -> [u32; N] + Sync,
        mobile: &[bool],
    ) {
        let has_order = self.order.len() == n && !self.levels.is_empty();
        if has_order && self.refit(paths) <= WORN * self.fresh {
            return;
        }
        self.sort(n, paths, &of);
        for (place, &i) in self.order.iter().enumerate() {
            let v = of(i as usize);
            for k in 0..3 {
                self.stencils[place / WIDTH][k][place % WIDTH] = v[k.min(N - 1)];
            }
            if v.iter().any(|&v| mobile[v as usize]) {
                let mut place = place;
                for masks in &mut self.mobile {
                    masks[place / WIDTH] |= 1 << (place % WIDTH);
                    place /= WIDTH;
                }
            }
        }
        self.fresh = self.refit(paths);
    }

    /// Finds the body of each box that has primitives of one body alone, which ignores itself. A primitive belongs to the body of its first vertex.
    fn label(&mut self, alone: &[u32]) {
        self.alone.clear();
        if alone.is_empty() {
            return;
        }
        let mut labels: Vec<u32> = self
            .order
            .iter()
            .enumerate()
            .map(|(place, _)| alone[self.stencils[place / WIDTH][0][place % WIDTH] as usize])
            .collect();
        while self.alone.len() < self.levels.len() {
            let blocks: Vec<[u32; WIDTH]> = labels.chunks(WIDTH).map(block_of).collect();
            labels = blocks.iter().map(common).collect();
            self.alone.push(blocks);
        }
    }

    /// Sorts the primitives by recursive halving of their centres and makes room for the levels.
    fn sort(&mut self, n: usize, paths: &Paths, of: &(impl Fn(usize) -> [u32; N] + Sync)) {
        self.centres.clear();
        self.centres.par_extend((0..n).into_par_iter().with_min_len(1024).map(|i| {
            let b = paths.of(&of(i));
            let centre = std::array::from_fn(|k| {
                let c = 0.5 * b.lo(0, k) + 0.5 * b.hi(0, k);
                if c.is_finite() { c } else { 0.0 }
            });
            (centre, i as u32)
        }));
        halve(&mut self.centres);
        self.order.clear();
        self.order.extend(self.centres.iter().map(|c| c.1));
        self.levels.clear();
        let mut blocks = n;
        while blocks > 1 || self.levels.is_empty() {
            blocks = blocks.div_ceil(WIDTH);
            self.levels.push(vec![Block::EMPTY; blocks]);
        }
        self.mobile = self.levels.iter().map(|l| vec![0; l.len()]).collect();
        self.stencils = vec![[[0; WIDTH]; 3]; self.levels[0].len()];
    }

    /// Recomputes all boxes under the present order; returns the size of the leaves relative to
    /// that of the primitives.
    fn refit(&mut self, paths: &Paths) -> f64 {
        let (n, levels) = (self.order.len(), &mut self.levels);
        levels[0].par_iter_mut().zip(&self.stencils).enumerate().with_min_len(64).for_each(
            |(leaf, (block, stencils))| {
                for lane in 0..(n - WIDTH * leaf).min(WIDTH) {
                    let v: [u32; N] = std::array::from_fn(|k| stencils[k][lane]);
                    block.set(lane, &paths.of(&v));
                }
            },
        );
        for level in 1..levels.len() {
            let (below, above) = levels.split_at_mut(level);
            let nodes = above[0].par_iter_mut().zip(below[level - 1].par_chunks(WIDTH));
            nodes.with_min_len(64).for_each(|(block, children)| {
                for (lane, child) in children.iter().enumerate() {
                    block.set(lane, &child.union());
                }
            });
        }
        let sum = |blocks: &[Block]| blocks.iter().map(Block::extent).sum::<f64>();
        let extent = |level: usize| {
            let sums = |l: &Vec<Block>| l.par_chunks(256).map(sum).collect::<Vec<f64>>();
            levels.get(level).map_or(0.0, |l| sums(l).iter().sum())
        };
        let primitives = extent(0);
        if primitives > 0.0 { extent(1) / primitives } else { 0.0 }
    }

    /// All pairs {i, j}, i ≠ j, without a common vertex, not both immobile, with boxes that may meet
    /// and that `emit` accepts by returning a pair; `finish` completes the pairs of a chunk; `chunks`
    /// receives them in no useful order.
    pub fn self_pairs(
        &self,
        swept: bool,
        chunks: &mut Vec<Vec<[u32; 2]>>,
        emit: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync,
        finish: impl Fn(&mut Vec<[u32; 2]>) + Sync,
    ) {
        if swept {
            self.pairs::<N, true, true>(self, chunks, emit, finish);
        } else {
            self.pairs::<N, true, false>(self, chunks, emit, finish);
        }
    }

    /// All pairs (i of `self`, j of `other`), as [`Self::self_pairs`].
    pub fn cross_pairs<const M: usize>(
        &self,
        other: &Tree<M>,
        swept: bool,
        chunks: &mut Vec<Vec<[u32; 2]>>,
        emit: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync,
        finish: impl Fn(&mut Vec<[u32; 2]>) + Sync,
    ) {
        if swept {
            self.pairs::<M, false, true>(other, chunks, emit, finish);
        } else {
            self.pairs::<M, false, false>(other, chunks, emit, finish);
        }
    }

    fn pairs<const M: usize, const SELF: bool, const SWEPT: bool>(
        &self,
        other: &Tree<M>,
        chunks: &mut Vec<Vec<[u32; 2]>>,
        emit: impl Fn(u32, u32) -> Option<[u32; 2]> + Sync,
        finish: impl Fn(&mut Vec<[u32; 2]>) + Sync,
    ) {
        let leaves = if other.order.is_empty() { 0 } else { self.order.len().div_ceil(WIDTH) };
        chunks.resize_with(leaves.div_ceil(CHUNK), Vec::new);
        chunks.par_iter_mut().enumerate().for_each(|(c, out)| {
            out.clear();
            let range = c * CHUNK..((c + 1) * CHUNK).min(leaves);
            dispatch(LeafPairs::<N, M, SELF, SWEPT, _> {
                a: self,
                b: other,
                range,
                emit: &emit,
                out,
            });
            finish(out);
        });
    }
}

/// The pairs of a range of leaves of `a` with all of `b`.
struct LeafPairs<'a, const N: usize, const M: usize, const SELF: bool, const SWEPT: bool, E> {
    a: &'a Tree<N>,
    b: &'a Tree<M>,
    range: Range<usize>,
    emit: &'a E,
    out: &'a mut Vec<[u32; 2]>,
}

impl<const N: usize, const M: usize, const SELF: bool, const SWEPT: bool, E> Comparison
    for LeafPairs<'_, N, M, SELF, SWEPT, E>
where
    E: Fn(u32, u32) -> Option<[u32; 2]>,
{
    #[inline(always)]
    fn run<C: Compare>(self, compare: C) {
        for leaf in self.range {
            let (a, b) = (self.a, self.b);
            leaf_pairs::<N, M, SELF, SWEPT, C>(a, b, leaf, compare, self.emit, self.out);
        }
    }
}

/// The pairs of leaf `leaf` of `a` with all of `b`, or, of a tree with itself, with the leaves from
/// `leaf` on.
#[inline(always)]
// long: the inner loop, whose state the compiler keeps in registers
fn leaf_pairs<const N: usize, const M: usize, const SELF: bool, const SWEPT: bool, C: Compare>(
    a: &Tree<N>,
    b: &Tree<M>,
    leaf: usize,
    compare: C,
    emit: &impl Fn(u32, u32) -> Option<[u32; 2]>,
    out: &mut Vec<[u32; 2]>,
) {
    let block = &a.levels[0][leaf];
    let own_mobile = u32::from(a.mobile[0][leaf]);
    let around = block.union();
    let own = a.alone.first().map_or(NONE, |labels| common(&labels[leaf]));
    // of what holds no mobile primitive, only what does is of interest, and of a body that ignores itself only other bodies are
    let wanted = |level: usize, node: usize| {
        let moves = if own_mobile == 0 { u32::from(b.mobile[level][node]) } else { 0xff };
        if own == NONE { moves } else { moves & !equal(&b.alone[level][node], own) }
    };
    let mut stack = [(0_u32, 0_u32); STACK];
    let mut top = 1;
    stack[0] = (b.levels.len() as u32 - 1, 0);
    while top > 0 {
        top -= 1;
        let (level, node) = (stack[top].0 as usize, stack[top].1 as usize);
        if level > 0 {
            let children = &b.levels[level][node];
            let mut hit = compare.may_meet::<SWEPT>(children, &around) & wanted(level, node);
            if SELF {
                // children that end before the leaf have met it already
                let first = (leaf >> (3 * (level - 1))).saturating_sub(WIDTH * node);
                hit &= 0xff_u32 << first.min(WIDTH);
            }
            // boxes without bounds meet even the empty places of the last node
            let places = (b.levels[level - 1].len() - WIDTH * node).min(WIDTH);
            hit &= 0xff >> (WIDTH - places);
            while hit != 0 {
                let lane = hit.trailing_zeros();
                hit &= hit - 1;
                stack[top] = (level as u32 - 1, (WIDTH * node) as u32 + lane);
                top += 1;
            }
            continue;
        }
        let theirs = &b.levels[0][node];
        let mut rows = match b.levels.get(1) {
            Some(parents) => {
                let them = parents[node / WIDTH].get(node % WIDTH);
                compare.may_meet::<SWEPT>(block, &them)
            }
            None => 0xff,
        };
        while rows != 0 {
            let i = rows.trailing_zeros();
            rows &= rows - 1;
            let mut hit = compare.may_meet::<SWEPT>(theirs, &block.get(i as usize));
            if hit != 0 {
                let v: [u32; N] = std::array::from_fn(|k| a.stencils[leaf][k][i as usize]);
                hit &= !compare.shares::<N, M>(&b.stencils[node], v);
            }
            if own_mobile >> i & 1 == 0 {
                hit &= u32::from(b.mobile[0][node]);
            }
            if let Some(labels) = a.alone.first() {
                let own = labels[leaf][i as usize];
                if own != NONE {
                    hit &= !equal(&b.alone[0][node], own);
                }
            }
            if SELF && node == leaf {
                hit &= !((2 << i) - 1);
            }
            while hit != 0 {
                let j = hit.trailing_zeros() as usize;
                hit &= hit - 1;
                // the last leaf has empty places, which meet nothing of finite size
                let places = (WIDTH * leaf + i as usize, WIDTH * node + j);
                if let (Some(&i), Some(&j)) = (a.order.get(places.0), b.order.get(places.1)) {
                    out.extend(emit(i, j));
                }
            }
        }
    }
}

/// Labels of a block; its empty places get the last one.
fn block_of(labels: &[u32]) -> [u32; WIDTH] {
    std::array::from_fn(|k| labels[k.min(labels.len() - 1)])
}

/// The label that all have, or [`NONE`].
#[inline(always)]
fn common(labels: &[u32; WIDTH]) -> u32 {
    if labels.iter().all(|l| *l == labels[0]) { labels[0] } else { NONE }
}

/// Bit i: whether label i is `label`.
#[inline(always)]
fn equal(labels: &[u32; WIDTH], label: u32) -> u32 {
    (0..WIDTH).fold(0, |mask, i| mask | u32::from(labels[i] == label) << i)
}

/// Sorts centres so that each node of the tree holds one side of median cuts.
fn halve(centres: &mut [([f32; 3], u32)]) {
    let leaves = centres.len().div_ceil(WIDTH);
    if leaves <= 1 {
        return;
    }
    // what the left side holds when it is full
    let left = leaves.next_power_of_two() / 2 * WIDTH;
    let (mut lo, mut hi) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (c, _) in centres.iter() {
        for k in 0..3 {
            (lo[k], hi[k]) = (lo[k].min(c[k]), hi[k].max(c[k]));
        }
    }
    let size = |k: usize| hi[k] - lo[k];
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
