//! Inclusion-based continuous collision detection [Wang 2021].
//!
//! The vector between a point of the first primitive and a point of the second one is
//! F(t, u, v) = A(t) + u B(t) + v C(t) with A, B, C linear in time: linear in each variable, so the
//! convex hull of its values at the eight corners of a parameter box contains all its values in the
//! box. A box whose hull stays away from the ball of radius ξ around 0 holds no contact. Boxes that
//! are not excluded are halved; what cannot be excluded at the tolerance is reported as contact.
//!
//! Departures from the paper:
//! - boxes are taken earliest first rather than level by level. The first box at the tolerance then
//!   is the answer, and when the count of boxes runs out, the time of the next box is a safe one
//!   because no box left begins earlier. It also makes the outcome independent of `t_max`;
//! - the hull is compared with the ball along the coordinate axes, along the closest direction at
//!   the start and along the value at the box's centre. Coordinate axes alone replace the ball by
//!   a cube, which is up to √3 too large;
//! - boxes are halved first by the variable that matters most for excluding them along one of these
//!   directions, and if that runs out of boxes, again by the variable along which F varies most. Both
//!   times are safe, so the later one counts. Each rule alone is lost on queries that are easy for
//!   the other: a wide triangle just above a plane, a thin one among slanted neighbours;
//! - rounding is bounded per axis by the size of A, B and C, which does not depend on the distance
//!   to the origin.

use super::Query;
use crate::PairKind;
use standoff_linalg::Vec3;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Where the bisection stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Size of F over a box below which the box is not halved any more, m.
    pub tolerance: f64,
    /// Number of boxes looked at, by both rules together, before the time reached so far is
    /// returned.
    pub max_boxes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_boxes: 30_000 }
    }
}

/// A, B, C and their rates, with the bound of F's rounding error per axis.
struct Motion {
    a: [Vec3; 2],
    b: [Vec3; 2],
    c: [Vec3; 2],
    /// Whether u + v ≤ 1 (triangle) or not (two edges).
    triangle: bool,
    rounding: Vec3,
}

impl Motion {
    fn new(query: &Query) -> Self {
        let d = |i: usize, j: usize| [query.x[i] - query.x[j], query.dx[i] - query.dx[j]];
        let zero = [Vec3::zeros(); 2];
        let (a, b, c) = match query.kind {
            PairKind::VertexVertex => (d(0, 1), zero, zero),
            PairKind::EdgeVertex => (d(0, 1), d(1, 2), zero),
            PairKind::FaceVertex => (d(0, 1), d(1, 2), d(1, 3)),
            PairKind::EdgeEdge => (d(0, 2), d(1, 0), d(2, 3)),
        };
        // at most 8 roundings of terms bounded by this sum; the displacements themselves may be
        // rounded differences of positions
        let mut rounding = Vec3::zeros();
        for axis in 0..3 {
            let terms: f64 = [a, b, c].iter().flatten().map(|v| v[axis].abs()).sum();
            let moved: f64 = query.dx.iter().map(|v| v[axis].abs()).sum();
            rounding[axis] = 4.0 * f64::EPSILON * (terms + moved);
        }
        Self { a, b, c, triangle: query.kind == PairKind::FaceVertex, rounding }
    }

    /// F at (t, u, v).
    #[inline]
    fn at(&self, t: f64, u: f64, v: f64) -> Vec3 {
        let linear = |p: &[Vec3; 2]| p[0] + p[1] * t;
        linear(&self.a) + linear(&self.b) * u + linear(&self.c) * v
    }

    /// F at the eight corners, t fastest, then u.
    #[inline]
    fn corners(&self, x: &ParameterBox) -> [Vec3; 8] {
        let [t, u, v] = x.low;
        let [t1, u1, v1] = std::array::from_fn(|k| x.low[k] + x.width(k));
        let mut out = [Vec3::zeros(); 8];
        for (k, time) in [t, t1].into_iter().enumerate() {
            let (a, b, c) = (
                self.a[0] + self.a[1] * time,
                self.b[0] + self.b[1] * time,
                self.c[0] + self.c[1] * time,
            );
            out[k] = a + b * u + c * v;
            out[k + 2] = a + b * u1 + c * v;
            out[k + 4] = a + b * u + c * v1;
            out[k + 6] = a + b * u1 + c * v1;
        }
        out
    }
}

/// The box Πₖ [lowₖ, lowₖ + 2^−levelₖ] of (t, u, v). All its bounds are exact in `f64` as levels
/// stay below 53.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ParameterBox {
    low: [f64; 3],
    level: [u8; 3],
}

impl ParameterBox {
    #[inline]
    fn width(&self, axis: usize) -> f64 {
        // 2^-level by its exponent
        f64::from_bits((1023 - u64::from(self.level[axis])) << 52)
    }
}

impl Eq for ParameterBox {}

impl Ord for ParameterBox {
    /// The greatest is the earliest, then the smallest box, then the least (u, v).
    fn cmp(&self, other: &Self) -> Ordering {
        let depth = |b: &Self| b.level.iter().map(|&l| u32::from(l)).sum::<u32>();
        other.low[0]
            .total_cmp(&self.low[0])
            .then_with(|| depth(self).cmp(&depth(other)))
            .then_with(|| other.low[1].total_cmp(&self.low[1]))
            .then_with(|| other.low[2].total_cmp(&self.low[2]))
    }
}

impl PartialOrd for ParameterBox {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

thread_local! {
    /// Boxes to look at, kept between queries to save allocations.
    static QUEUE: RefCell<BinaryHeap<ParameterBox>> = const { RefCell::new(BinaryHeap::new()) };
}

/// A time no later than the first one in [0, 1] at which the distance is ≤ `min_separation`;
/// `None` if there certainly is none before `t_max` ≤ 1. `t_max` does not change the time
/// returned. 0 where a number is not finite.
pub fn time_of_impact(
    query: &Query,
    min_separation: f64,
    t_max: f64,
    limits: Limits,
) -> Option<f64> {
    let motion = Motion::new(query);
    if !motion.rounding.iter().all(|r| r.is_finite()) || !min_separation.is_finite() {
        return Some(0.0);
    }
    let x = std::array::from_fn(|i| query.x[i] - query.x[0]);
    let first = unit(query.kind.closest(&x).offset);
    let limits = Limits { max_boxes: limits.max_boxes / 2, ..limits };
    QUEUE.with_borrow_mut(|queue| {
        let mut run = |rule| search(&motion, first, min_separation, t_max, limits, rule, queue);
        match run(Rule::Direction)? {
            Reached { t, complete: true } => Some(t),
            Reached { t, .. } => Some(run(Rule::Widest)?.t.max(t)),
        }
    })
}

/// Which variable is halved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// The one whose halving brings some direction closest to excluding a half.
    Direction,
    /// The one along which F varies most.
    Widest,
}

/// A safe time, and whether the search was complete.
struct Reached {
    t: f64,
    complete: bool,
}

fn search(
    motion: &Motion,
    first: Option<Vec3>,
    min_separation: f64,
    t_max: f64,
    limits: Limits,
    rule: Rule,
    queue: &mut BinaryHeap<ParameterBox>,
) -> Option<Reached> {
    // levels above 50 would not be exact; the size of F has reached its rounding error before
    let deepest = 50;
    queue.clear();
    queue.push(ParameterBox { low: [0.0; 3], level: [0; 3] });
    let mut looked_at = 0;
    while let Some(x) = queue.pop() {
        if x.low[0] >= t_max {
            return None;
        }
        if looked_at == limits.max_boxes {
            return Some(Reached { t: x.low[0], complete: false });
        }
        looked_at += 1;
        let f = motion.corners(&x);
        let (widest, size) = widest(&f);
        let axis = match examine(motion, &x, &f, min_separation, first, limits.tolerance) {
            Verdict::Excluded => continue,
            Verdict::Halve(axis) if rule == Rule::Direction => axis,
            _ => widest,
        };
        if size <= limits.tolerance || x.level[axis] >= deepest || inside(&f, min_separation) {
            return Some(Reached { t: x.low[0], complete: true });
        }
        let mut low = x;
        low.level[axis] += 1;
        let mut high = low;
        high.low[axis] += low.width(axis);
        queue.push(low);
        // exact: both are sums of a few powers of two
        if !(motion.triangle && axis > 0 && high.low[1] + high.low[2] > 1.0) {
            queue.push(high);
        }
    }
    None
}

/// What directions say about a box.
enum Verdict {
    /// F certainly stays out of the ball.
    Excluded,
    /// Part of the box is out of the ball in some direction; halving this variable tells most.
    Halve(usize),
    /// No direction helps.
    Unknown,
}

/// Compares the hull of `f` with the ball of radius ξ along five directions.
#[inline]
fn examine(
    motion: &Motion,
    x: &ParameterBox,
    f: &[Vec3; 8],
    min_separation: f64,
    first: Option<Vec3>,
    tolerance: f64,
) -> Verdict {
    let mut best = (0.0, None);
    let mut outside = |s: [f64; 8], limit: f64| {
        let (low, high) = s.iter().fold((s[0], s[0]), |(l, h), &v| (l.min(v), h.max(v)));
        let gap = low.max(-high) - limit;
        if gap > 0.0 {
            return true;
        }
        // halving takes half of a variable's share off what is missing, for one of the halves
        if high.max(-low) > limit {
            let (axis, size) = widest_of(|i, j| (s[i] - s[j]).abs());
            if size > tolerance && size > best.0 * -gap {
                best = (size / -gap, Some(axis));
            }
        }
        false
    };
    for axis in 0..3 {
        let s = std::array::from_fn(|k| f[k][axis]);
        if outside(s, min_separation + motion.rounding[axis]) {
            return Verdict::Excluded;
        }
    }
    // the rounding of three products and sums more
    let limit = min_separation + 2.0 * motion.rounding.sum();
    let [t, u, v] = std::array::from_fn(|k| x.low[k] + 0.5 * x.width(k));
    for n in [first, unit(motion.at(t, u, v))].into_iter().flatten() {
        if outside(std::array::from_fn(|k| n.dot(&f[k])), limit) {
            return Verdict::Excluded;
        }
    }
    best.1.map_or(Verdict::Unknown, Verdict::Halve)
}

/// The variable along which the corners differ most, and by how much.
#[inline]
fn widest_of(difference: impl Fn(usize, usize) -> f64) -> (usize, f64) {
    let mut best = (0, 0.0);
    for axis in 0..3 {
        let bit = 1 << axis;
        let mut size = 0.0_f64;
        for k in (0..8).filter(|k| k & bit == 0) {
            size = size.max(difference(k | bit, k));
        }
        if size > best.1 {
            best = (axis, size);
        }
    }
    best
}

/// The variable along which F varies most over the box, and by how much.
#[inline]
fn widest(f: &[Vec3; 8]) -> (usize, f64) {
    widest_of(|i, j| (f[i] - f[j]).amax())
}

/// Whether all of F lies in the ball of radius ξ, so that halving can tell nothing more.
#[inline]
fn inside(f: &[Vec3; 8], min_separation: f64) -> bool {
    f.iter().all(|c| c.norm_squared() <= min_separation * min_separation)
}

fn unit(v: Vec3) -> Option<Vec3> {
    let length = v.norm();
    (length > f64::MIN_POSITIVE && length.is_finite()).then(|| v / length)
}
