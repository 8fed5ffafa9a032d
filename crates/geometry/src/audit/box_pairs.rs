//! Pairs of overlapping boxes: the audit's own broad phase.
//!
//! A binary tree over one set, halved at the median of the centres along the axis where they spread
//! most, is traversed with each box of the other set; within one set it is traversed with each leaf, and only
//! towards later leaves. Nodes lie in depth-first order, each with the place where the traversal
//! continues when its box is missed. Which pairs are found does not depend on the order of the boxes, so a
//! tree keeps it while boxes move, until it no longer fits.
//!
//! Bounds are kept in single precision relative to an [`Origin`]. Rounding and subtracting one and the
//! same number keep the order of numbers, x ≤ y ⇒ fl(x − o) ≤ fl(y − o), so boxes that overlap do so
//! afterwards, too; nothing has to be rounded outwards.

use rayon::prelude::*;
use standoff_linalg::Vec3;

/// Boxes per leaf.
const LEAF: usize = 8;
/// Boxes or leaves per unit of parallel work.
const CHUNK: usize = 128;
/// The order is renewed when the leaves have grown by this factor relative to the boxes.
const WORN: f64 = 1.3;
/// Boxes from which on the halves of a set are sorted in parallel.
const PARALLEL: usize = 4096;

/// Closed box: the least coordinates and a 0, then minus the largest and a 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Box3([f32; 8]);

impl Box3 {
    const EMPTY: Self = {
        let i = f32::INFINITY;
        Self([i, i, i, 0.0, i, i, i, 0.0])
    };

    /// What the bounds of another box must not exceed for it to overlap this one.
    #[inline]
    fn query(&self) -> Query {
        let b = &self.0;
        Query([-b[4], -b[5], -b[6], 0.0, -b[0], -b[1], -b[2], 0.0])
    }

    #[inline]
    fn overlaps(&self, query: &Query) -> bool {
        // no short circuit: eight comparisons without branches
        (0..8).fold(true, |all, i| all & (self.0[i] <= query.0[i]))
    }

    /// Sum of the sides; 0 of an empty or undefined box.
    fn extent(&self) -> f64 {
        (0..3).map(|k| f64::from(-self.0[k] - self.0[4 + k])).sum::<f64>().max(0.0)
    }

    #[inline]
    fn merge(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = a.min(*b);
        }
    }
}

/// See [`Box3::query`].
struct Query([f32; 8]);

/// What the coordinates of boxes are relative to. Only boxes of one origin may be compared.
#[derive(Debug, Clone, Copy)]
pub struct Origin(Vec3);

impl Origin {
    /// The centre of all finite points, which leaves the most digits.
    pub fn new(points: &[Vec3]) -> Self {
        let finite = points.iter().filter(|p| p.iter().all(|c| c.is_finite()));
        let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
        let [lo, hi] = finite.fold(none, |[lo, hi], p| [lo.inf(p), hi.sup(p)]);
        let centre = 0.5 * lo + 0.5 * hi;
        Self(if centre.iter().all(|c| c.is_finite()) { centre } else { Vec3::zeros() })
    }

    /// Box around points, grown by at least `r` ≥ 0. Overlaps nothing where a coordinate is NaN.
    #[inline]
    pub fn around<'a>(&self, points: impl IntoIterator<Item = &'a Vec3>, r: f64) -> Box3 {
        let mut b = Box3::EMPTY;
        for p in points {
            for k in 0..3 {
                // points themselves are exact
                let grown = |v: f64| if r == 0.0 { v } else { (v - r).next_down() };
                let (lo, hi) = (grown(p[k]), -grown(-p[k]));
                if lo.is_nan() {
                    return Box3([f32::NAN; 8]);
                }
                b.0[k] = b.0[k].min((lo - self.0[k]) as f32);
                b.0[4 + k] = b.0[4 + k].min(-((hi - self.0[k]) as f32));
            }
        }
        b
    }
}

/// Sorted list of what `test` returns for the pairs (i of `a`, j of `tree`) with overlapping boxes,
/// each once.
pub fn find<R: PartialOrd + Send>(
    a: &[Box3],
    tree: &Tree,
    test: impl Fn(u32, u32) -> Option<R> + Sync,
) -> Vec<R> {
    let chunks = a.par_chunks(CHUNK).enumerate().map(|(c, chunk)| {
        let mut found = Vec::new();
        for (i, x) in chunk.iter().enumerate() {
            let (i, query) = ((c * CHUNK + i) as u32, x.query());
            tree.leaves_from(0, &query, |leaf| {
                for place in leaf.places() {
                    if tree.boxes[place].overlaps(&query) {
                        found.extend(test(i, tree.order[place]));
                    }
                }
            });
        }
        found
    });
    sorted(chunks.collect())
}

/// Sorted list of all that `test` adds for the pairs {i, j}, i ≠ j, of boxes that overlap, each once
/// even where it is added again. The order of i and j has no meaning.
pub fn find_within<R: PartialOrd + Send>(
    tree: &Tree,
    test: impl Fn(u32, u32, &mut Vec<R>) + Sync,
) -> Vec<R> {
    let leaves: Vec<usize> = (0..tree.nodes.len()).filter(|&i| tree.is_leaf(i)).collect();
    let chunks = leaves.par_chunks(CHUNK).map(|chunk| {
        let mut found = Vec::new();
        for &own in chunk {
            let (this, query) = (&tree.nodes[own], tree.nodes[own].around.query());
            tree.leaves_from(own, &query, |leaf| {
                let same = leaf.begin == this.begin;
                for q in leaf.places() {
                    let query_q = tree.boxes[q].query();
                    if !tree.boxes[q].overlaps(&query) {
                        continue;
                    }
                    let end = if same { q } else { this.end as usize };
                    for p in this.begin as usize..end {
                        if tree.boxes[p].overlaps(&query_q) {
                            test(tree.order[p], tree.order[q], &mut found);
                        }
                    }
                }
            });
        }
        found
    });
    sorted(chunks.collect())
}

fn sorted<R: PartialOrd>(chunks: Vec<Vec<R>>) -> Vec<R> {
    let mut found: Vec<R> = chunks.into_iter().flatten().collect();
    found.sort_by(|x, y| x.partial_cmp(y).unwrap_or(std::cmp::Ordering::Equal));
    found.dedup();
    found
}

#[derive(Debug)]
struct Node {
    around: Box3,
    /// The places below this node.
    begin: u32,
    end: u32,
    /// Next node of the traversal when this one is missed.
    skip: u32,
}

impl Node {
    fn places(&self) -> std::ops::Range<usize> {
        self.begin as usize..self.end as usize
    }
}

/// A tree over boxes, which are numbered 0, 1, ….
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Box at each place.
    order: Vec<u32>,
    /// The boxes in that order.
    boxes: Vec<Box3>,
    /// Size of the leaves relative to that of the boxes when the order was made.
    fresh: f64,
}

impl Tree {
    /// A tree over `boxes`.
    pub fn new(boxes: &[Box3]) -> Self {
        let mut tree = Self::default();
        tree.update(boxes);
        tree
    }

    /// Makes this a tree over `boxes`; where it was one over as many, their order may stay.
    pub fn update(&mut self, boxes: &[Box3]) {
        if self.order.len() == boxes.len() {
            self.refit(boxes);
            if self.leaf_size() <= WORN * self.fresh {
                return;
            }
        }
        let centre = |(i, Box3(b)): (usize, &Box3)| {
            (std::array::from_fn(|k| 0.5 * b[k] - 0.5 * b[4 + k]), i as u32)
        };
        let mut centres: Vec<([f32; 3], u32)> = boxes.iter().enumerate().map(centre).collect();
        halve(&mut centres);
        self.order = centres.iter().map(|c| c.1).collect();
        self.nodes.clear();
        if !boxes.is_empty() {
            grow(0, boxes.len(), &mut self.nodes);
        }
        self.refit(boxes);
        self.fresh = self.leaf_size();
    }

    /// Puts `boxes` where the present order has them.
    fn refit(&mut self, boxes: &[Box3]) {
        self.boxes.clear();
        self.boxes.extend(self.order.iter().map(|&i| boxes[i as usize]));
        // children come after their parents
        for i in (0..self.nodes.len()).rev() {
            let mut around = Box3::EMPTY;
            if self.is_leaf(i) {
                self.boxes[self.nodes[i].places()].iter().for_each(|b| around.merge(b));
            } else {
                let second = self.nodes[i + 1].skip as usize;
                around.merge(&self.nodes[i + 1].around);
                around.merge(&self.nodes[second].around);
            }
            self.nodes[i].around = around;
        }
    }

    /// Size of the leaves relative to that of the boxes.
    fn leaf_size(&self) -> f64 {
        let leaves = (0..self.nodes.len()).filter(|&i| self.is_leaf(i));
        let of_leaves: f64 = leaves.map(|i| self.nodes[i].around.extent()).sum();
        let of_boxes: f64 = self.boxes.iter().map(Box3::extent).sum();
        if of_boxes > 0.0 { of_leaves / of_boxes } else { of_leaves }
    }

    fn is_leaf(&self, i: usize) -> bool {
        self.nodes[i].skip as usize == i + 1
    }

    /// Calls `f` with the leaves that overlap `query`, of node `first` and those after it.
    #[inline]
    fn leaves_from(&self, first: usize, query: &Query, mut f: impl FnMut(&Node)) {
        let mut i = first;
        while let Some(node) = self.nodes.get(i) {
            if !node.around.overlaps(query) {
                i = node.skip as usize;
                continue;
            }
            i += 1;
            if node.skip as usize == i {
                f(node);
            }
        }
    }
}

/// Sorts centres so that each half of each half … holds one side of a median cut.
fn halve(centres: &mut [([f32; 3], u32)]) {
    if centres.len() <= LEAF {
        return;
    }
    let (mut lo, mut hi) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for (c, _) in centres.iter() {
        for k in 0..3 {
            (lo[k], hi[k]) = (lo[k].min(c[k]), hi[k].max(c[k]));
        }
    }
    let spread = |k: usize| hi[k] - lo[k];
    let axis = (1..3).fold(0, |a, k| if spread(k) > spread(a) { k } else { a });
    let middle = centres.len() / 2;
    centres.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]));
    let (low, high) = centres.split_at_mut(middle);
    if low.len() > PARALLEL {
        rayon::join(|| halve(low), || halve(high));
    } else {
        halve(low);
        halve(high);
    }
}

/// Appends the nodes over the places from `begin` to `end`, halved as in [`halve`], without their boxes.
fn grow(begin: usize, end: usize, nodes: &mut Vec<Node>) {
    let this = nodes.len();
    nodes.push(Node { around: Box3::EMPTY, begin: begin as u32, end: end as u32, skip: 0 });
    if end - begin > LEAF {
        let middle = begin + (end - begin) / 2;
        grow(begin, middle, nodes);
        grow(middle, end, nodes);
    }
    nodes[this].skip = nodes.len() as u32;
}
