//! How far apart two surfaces are, with a bound that holds between the samples.

use crate::tree::Tree;
use standoff_linalg::Vec3;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Largest distance of a surface from another one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Distance {
    /// What no point exceeds, m.
    pub bound: f64,
    /// The largest distance that was found, m; less than `bound` by the tolerance at most.
    pub found: f64,
    /// Where, m.
    pub at: Vec3,
}

/// A piece of a triangle, with the largest distance that it may hold.
struct Piece {
    bound: f64,
    number: usize,
    corners: [Vec3; 3],
    source: u32,
}

impl Piece {
    /// A distance changes by no more than the way; and that to a convex set has its maximum at a corner.
    fn new(corners: [Vec3; 3], source: u32, number: usize, to: &Tree) -> Option<(Self, f64, Vec3)> {
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        let hit = to.closest(&centre, f64::INFINITY)?;
        let distance = hit.d2.sqrt();
        let radius = corners.iter().map(|c| (c - centre).norm()).fold(0.0, f64::max);
        let triangle = to.triangle(hit.triangle);
        let at_corners = corners
            .iter()
            .map(|c| (crate::tree::closest_point(c, triangle) - c).norm())
            .fold(0.0, f64::max);
        let bound = (distance + radius).min(at_corners);
        Some((Self { bound, number, corners, source }, distance, centre))
    }
}

impl PartialEq for Piece {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Piece {}
impl PartialOrd for Piece {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Piece {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.number.cmp(&self.number))
    }
}

/// The largest distance of the triangles of `from` to those of `to`, to within `tolerance` (m). Pieces for
/// which `counts` is false, of triangles given by their index, are left out.
// long: the bounds of the search, the search and what ends it share its queue
pub fn largest_distance(
    from: &[[Vec3; 3]],
    to: &Tree,
    tolerance: f64,
    counts: &dyn Fn(&Vec3, u32) -> bool,
) -> Distance {
    let mut largest = Distance::default();
    let mut heap = BinaryHeap::new();
    let mut number = 0;
    let mut add = |corners, source, heap: &mut BinaryHeap<Piece>, largest: &mut Distance| {
        number += 1;
        let Some((piece, distance, centre)) = Piece::new(corners, source, number, to) else {
            return;
        };
        if piece.bound <= largest.found {
            return;
        }
        if distance > largest.found {
            if !counts(&centre, source) {
                // parts of a large one may count
                const SMALL: f64 = 10.0;
                let size = (corners[1] - corners[0]).norm().max((corners[2] - corners[0]).norm());
                if size > SMALL * tolerance {
                    heap.push(piece);
                }
                return;
            }
            (largest.found, largest.at) = (distance, centre);
        }
        heap.push(piece);
    };
    for (source, corners) in from.iter().enumerate() {
        add(*corners, source as u32, &mut heap, &mut largest);
    }
    while let Some(piece) = heap.pop() {
        if piece.bound <= largest.found + tolerance {
            largest.bound = piece.bound;
            break;
        }
        let [a, b, c] = piece.corners;
        let lengths = [(b - a).norm_squared(), (c - b).norm_squared(), (a - c).norm_squared()];
        // four equal parts of a round triangle, two of a long one
        let long = (0..3).max_by(|i, j| lengths[*i].total_cmp(&lengths[*j])).unwrap_or(0);
        let least = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        let parts: Vec<[Vec3; 3]> = if lengths[long] > 4.0 * least {
            let t =
                [piece.corners[long], piece.corners[(long + 1) % 3], piece.corners[(long + 2) % 3]];
            let m = (t[0] + t[1]) / 2.0;
            vec![[t[0], m, t[2]], [m, t[1], t[2]]]
        } else {
            let (ab, bc, ca) = ((a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0);
            vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        for part in parts {
            add(part, piece.source, &mut heap, &mut largest);
        }
    }
    largest.bound = largest.bound.max(largest.found);
    largest
}
