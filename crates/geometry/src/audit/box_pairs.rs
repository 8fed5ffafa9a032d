//! Pairs of overlapping boxes: the audit's own broad phase.
//!
//! A binary tree over one set, halved at the median of the centres along the axis where they spread
//! most, is walked with each box of the other set. Nodes lie in the order of a depth-first walk, each
//! with the place where the walk goes on when its box is missed.

use rayon::prelude::*;
use std::ops::Range;

/// Boxes per leaf.
const LEAF: usize = 4;
/// Boxes per unit of parallel work.
const CHUNK: usize = 256;

/// Closed box: smallest and largest coordinates.
pub type Box3 = [[f64; 3]; 2];

/// Smallest box around points, grown by `r` and rounded outwards.
pub fn around<'a>(points: impl IntoIterator<Item = &'a standoff_linalg::Vec3>, r: f64) -> Box3 {
    let mut b = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for p in points {
        for k in 0..3 {
            b[0][k] = b[0][k].min(p[k]);
            b[1][k] = b[1][k].max(p[k]);
        }
    }
    // points themselves are exact
    if r == 0.0 { b } else { [b[0].map(|v| (v - r).next_down()), b[1].map(|v| (v + r).next_up())] }
}

/// Sorted list of what `test` returns for the pairs (i of `a`, j of `b`) with overlapping boxes,
/// each once.
pub fn find<R: PartialOrd + Send>(
    a: &[Box3],
    b: &[Box3],
    test: impl Fn(u32, u32) -> Option<R> + Sync,
) -> Vec<R> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let tree = Tree::new(b);
    let chunks = a.par_chunks(CHUNK).enumerate().map(|(c, chunk)| {
        let mut found = Vec::new();
        for (i, x) in chunk.iter().enumerate() {
            let i = (c * CHUNK + i) as u32;
            tree.walk(x, 0, |place| found.extend(test(i, tree.order[place])));
        }
        found
    });
    sorted(chunks.collect())
}

/// Sorted list of all that `test` adds for the pairs {i, j}, i ≠ j, of boxes that overlap, each once
/// even where it is added again. The order of i and j has no meaning.
pub fn find_within<R: PartialOrd + Send>(
    boxes: &[Box3],
    test: impl Fn(u32, u32, &mut Vec<R>) + Sync,
) -> Vec<R> {
    let tree = Tree::new(boxes);
    let places: Vec<usize> = (0..boxes.len()).collect();
    let chunks = places.par_chunks(CHUNK).map(|chunk| {
        let mut found = Vec::new();
        for &place in chunk {
            let i = tree.order[place];
            tree.walk(&tree.boxes[place], place + 1, |q| test(i, tree.order[q], &mut found));
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

#[inline]
fn overlap(p: &Box3, q: &Box3) -> bool {
    // no short circuit: six comparisons without branches
    (p[0][0] <= q[1][0])
        & (q[0][0] <= p[1][0])
        & (p[0][1] <= q[1][1])
        & (q[0][1] <= p[1][1])
        & (p[0][2] <= q[1][2])
        & (q[0][2] <= p[1][2])
}

struct Node {
    around: Box3,
    /// End of the places below this node.
    end: u32,
    /// Next node of the walk when this one is missed.
    skip: u32,
    leaf: bool,
}

struct Tree {
    nodes: Vec<Node>,
    /// Box at each place.
    order: Vec<u32>,
    /// The boxes in that order.
    boxes: Vec<Box3>,
}

impl Tree {
    fn new(boxes: &[Box3]) -> Self {
        let centre = |(i, b): (usize, &Box3)| {
            (std::array::from_fn(|k| 0.5 * b[0][k] + 0.5 * b[1][k]), i as u32)
        };
        let mut centres: Vec<([f64; 3], u32)> = boxes.iter().enumerate().map(centre).collect();
        let mut nodes = Vec::with_capacity(boxes.len());
        if !boxes.is_empty() {
            grow(&mut centres, 0, boxes, &mut nodes);
        }
        let order: Vec<u32> = centres.iter().map(|c| c.1).collect();
        let boxes = order.iter().map(|&i| boxes[i as usize]).collect();
        Self { nodes, order, boxes }
    }

    /// Calls `f` with the places from `first` on whose box overlaps `x`.
    #[inline]
    fn walk(&self, x: &Box3, first: usize, mut f: impl FnMut(usize)) {
        let (mut i, mut begin) = (0, 0);
        while let Some(node) = self.nodes.get(i) {
            let end = node.end as usize;
            if end <= first || !overlap(&node.around, x) {
                (i, begin) = (node.skip as usize, end);
                continue;
            }
            if node.leaf {
                for place in begin.max(first)..end {
                    if overlap(&self.boxes[place], x) {
                        f(place);
                    }
                }
                begin = end;
            }
            i += 1;
        }
    }
}

/// Appends the tree over `centres`, which begin at place `begin`, and returns the box around them.
fn grow(
    centres: &mut [([f64; 3], u32)],
    begin: usize,
    boxes: &[Box3],
    nodes: &mut Vec<Node>,
) -> Box3 {
    let places: Range<usize> = begin..begin + centres.len();
    let this = nodes.len();
    let leaf = centres.len() <= LEAF;
    let empty = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    nodes.push(Node { around: empty, end: places.end as u32, skip: 0, leaf });
    let mut around = empty;
    if leaf {
        for (_, i) in centres.iter() {
            merge(&mut around, &boxes[*i as usize]);
        }
    } else {
        let (mut lo, mut hi) = (empty[0], empty[1]);
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
        merge(&mut around, &grow(low, begin, boxes, nodes));
        merge(&mut around, &grow(high, begin + middle, boxes, nodes));
    }
    nodes[this].around = around;
    nodes[this].skip = nodes.len() as u32;
    around
}

fn merge(a: &mut Box3, b: &Box3) {
    for k in 0..3 {
        a[0][k] = a[0][k].min(b[0][k]);
        a[1][k] = a[1][k].max(b[1][k]);
    }
}
