//! Additive continuous collision detection [Li 2021, Alg. 1].
//!
//! From a time t at which the primitives are apart, a lower bound of the time until their distance
//! falls to a target is added to t, and so on until the distance is close to the target. We depart
//! from the paper in the bound. Eq. 10 divides the gap by the sum of the largest displacements in
//! a centred frame. Here the bound is taken along the direction n between the closest points: with
//! a over the vertices of the first primitive and b over those of the second,
//!
//!   d(t) ≥ min over (a, b) of n·(a − b) + t n·(ȧ − ḃ)
//!
//! for every unit vector n, and this is at the target no sooner than Eq. 10 says, since
//! |n·(ȧ − ḃ)| ≤ |ȧ| + |ḃ| in any frame. Where the closest features slide or the whole pair
//! moves sideways it is far later, and approaching the target it is Newton's method from the safe
//! side.
//!
//! Turning pairs need more: with a fixed n, vertices far from the closest points soon cross any
//! plane, and a gap much smaller than the primitives allows tiny advances only ([Li 2021, §5.4]
//! names this worst case). So where advances stay short, n turns along: from the closest direction
//! n₀ at t to n₁ at a trial time, n(σ) = n₀ + σ (n₁ − n₀) with |n(σ)| ≤ 1 − σ(1−σ)|n₁ − n₀|²/2. The
//! separations along it are quadratic in σ, and so is the bound of their target; the smallest root
//! ends the advance. A trial that succeeds as a whole makes the next one longer.
//!
//! The inequality also makes the method indifferent to errors in the closest points: a poor n costs
//! progress, never safety. Only the rounding of the dot products remains, and is bounded.

use super::query::{Query, feature_offsets};
use standoff_linalg::Vec3;

/// Advances are stopped where the gap beyond the target is this fraction of the kept gap.
const CLOSE_ENOUGH: f64 = 0.1;
/// Bound of the number of advances; the time reached is safe whatever it is.
const MAX_ADVANCES: usize = 200;
/// Advances along fixed directions before directions turn.
const FIXED_ADVANCES: usize = 3;

/// Differences between the vertices of the two primitives at t = 0 and per unit of time.
struct Differences {
    x: [Vec3; 4],
    dx: [Vec3; 4],
    count: usize,
    /// Bound of the rounding error of a separation, m.
    rounding: f64,
}

/// A unit vector and how far it separates the primitives at the time it was found for.
#[derive(Clone, Copy)]
struct Direction {
    n: Vec3,
    separation: f64,
}

impl Differences {
    fn new(query: &Query) -> Self {
        let (mut x, mut dx) = ([Vec3::zeros(); 4], [Vec3::zeros(); 4]);
        let mut size = 0.0_f64;
        let pairs = query.kind.vertex_pairs();
        for (k, &[i, j]) in pairs.iter().enumerate() {
            x[k] = query.x[i] - query.x[j];
            dx[k] = query.dx[i] - query.dx[j];
            // a sum, so that NaN is not lost
            size += x[k].lp_norm(1) + dx[k].lp_norm(1);
        }
        // differences, products, sums, the norm of n, coefficients of the quadratics for t ≤ 1:
        // less than 32 roundings of terms that `size` bounds
        Self { x, dx, count: pairs.len(), rounding: 16.0 * f64::EPSILON * size }
    }

    /// Least separation along the unit vector n at time t.
    #[inline]
    fn separation(&self, n: &Vec3, t: f64) -> f64 {
        let mut least = f64::INFINITY;
        for k in 0..self.count {
            least = least.min(n.dot(&self.x[k]) + t * n.dot(&self.dx[k]));
        }
        least
    }

    /// Time at which the separation along n falls to `target`; infinite if it never does.
    #[inline]
    fn reaches(&self, n: &Vec3, target: f64) -> f64 {
        let mut earliest = f64::INFINITY;
        for k in 0..self.count {
            let speed = n.dot(&self.dx[k]);
            if speed < 0.0 {
                earliest = earliest.min((n.dot(&self.x[k]) - target) / -speed);
            }
        }
        earliest
    }

    /// Time in [t, t + h] up to which separations stay above `target` along the direction that turns
    /// from n₀ to n₁ meanwhile; t + h if they do all the way.
    fn turning_reaches(&self, n0: &Vec3, n1: &Vec3, t: f64, h: f64, target: f64) -> f64 {
        let dn = n1 - n0;
        let sag = 0.5 * target * dn.norm_squared();
        let mut earliest = 1.0_f64;
        for k in 0..self.count {
            let (x, dx) = (self.x[k] + self.dx[k] * t, self.dx[k] * h);
            let c0 = n0.dot(&x) - target;
            let c1 = dn.dot(&x) + n0.dot(&dx) + sag;
            let c2 = dn.dot(&dx) - sag;
            earliest = earliest.min(smallest_positive_root(c0, c1, c2));
        }
        if earliest < 1.0 { t + h * earliest } else { t + h }
    }

    /// The better of n and −n at time t, n of any length.
    fn directed(&self, n: &Vec3, t: f64) -> Option<Direction> {
        let length = n.norm();
        if length.is_nan() || length <= f64::MIN_POSITIVE {
            return None;
        }
        let n = n / length;
        let (forth, back) = (self.separation(&n, t), self.separation(&-n, t));
        Some(if forth >= back {
            Direction { n, separation: forth }
        } else {
            Direction { n: -n, separation: back }
        })
    }
}

/// Smallest positive root of c₀ + c₁ σ + c₂ σ², c₀ > 0, or slightly less; infinite without one.
fn smallest_positive_root(c0: f64, c1: f64, c2: f64) -> f64 {
    if c0 <= 0.0 {
        return 0.0;
    }
    if c1 >= 0.0 && c2 >= 0.0 {
        return f64::INFINITY;
    }
    let (square, product) = (c1 * c1, 4.0 * c0 * c2);
    let discriminant = square - product + 4.0 * f64::EPSILON * (square + product.abs());
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    // the form without cancellation for the sign of c₁
    let root = discriminant.sqrt();
    let sigma = if c1 > 0.0 { (c1 + root) / (-2.0 * c2) } else { 2.0 * c0 / (root - c1) };
    sigma * (1.0 - 16.0 * f64::EPSILON)
}

/// A direction that separates the primitives well at time t, with its separation.
fn separating_direction(
    query: &Query,
    differences: &Differences,
    t: f64,
    min_separation: f64,
) -> Option<Direction> {
    // positions relative to one vertex, so that the distance's rounding follows the pair's size
    let x = std::array::from_fn(|i| (query.x[i] - query.x[0]) + (query.dx[i] - query.dx[0]) * t);
    let offset = query.kind.closest(&x).offset;
    let first = differences.directed(&offset, t);
    if let Some(d) = first {
        // the closest direction separates by the whole distance; anything less is due to rounding
        let gap = offset.norm() - min_separation;
        if d.separation - min_separation >= 0.95 * gap {
            return first;
        }
    }
    feature_offsets(query.kind, &x)
        .iter()
        .filter_map(|n| differences.directed(n, t))
        .chain(first)
        .reduce(|a, b| if b.separation > a.separation { b } else { a })
}

/// Certified lower bound of the distance at t = 0, m; at most the true distance.
pub fn initial_separation(query: &Query, min_separation: f64) -> f64 {
    let differences = Differences::new(query);
    separating_direction(query, &differences, 0.0, min_separation)
        .map_or(0.0, |d| (d.separation - differences.rounding).max(0.0))
}

/// A time up to which the distance stays at or above ξ + `keep` (d₀ − ξ), with ξ `min_separation`
/// and d₀ the distance at t = 0; `None` if that holds on all of [0, `t_max`].
///
/// The time is above 0 whenever d₀ − ξ is above rounding error, and 0 where it is not, where the
/// distance starts at or below ξ, or where a number is not finite. The gap has then fallen to about
/// 1.1 `keep` (d₀ − ξ), unless the advances ran out: that takes a gap below 1e-6 of the primitives'
/// size in a motion that turns them by a large angle.
/// `t_max` ≤ 1 stops the search only: it does not change the time returned. `keep` is clamped to
/// [0.001, 0.999].
pub fn time_of_impact(query: &Query, min_separation: f64, keep: f64, t_max: f64) -> Option<f64> {
    let keep = if keep >= 0.001 { keep.min(0.999) } else { 0.001 };
    let differences = Differences::new(query);
    if !differences.rounding.is_finite() {
        return Some(0.0);
    }
    let start = separating_direction(query, &differences, 0.0, min_separation);
    let floor = min_separation + differences.rounding;
    let Some(mut direction) = start.filter(|d| d.separation > floor) else {
        return Some(0.0);
    };
    let kept = keep * (direction.separation - floor);
    let target = floor + kept;
    let mut t = 0.0_f64;
    let mut trial = 0.0_f64;
    for advance in 0..MAX_ADVANCES {
        // separation along n is concave in time, hence above the target all the way
        let fixed = differences.reaches(&direction.n, target) * (1.0 - 4.0 * f64::EPSILON);
        if fixed >= t_max {
            return None;
        }
        let mut next = fixed.max(t);
        let mut ahead = None;
        if advance >= FIXED_ADVANCES {
            let h = trial.max(2.0 * (next - t)).min(1.0 - t);
            ahead = separating_direction(query, &differences, t + h, min_separation);
            let n1 = ahead.map_or(direction.n, |d| d.n);
            let turning = differences.turning_reaches(&direction.n, &n1, t, h, target);
            ahead = ahead.filter(|_| turning == t + h);
            next = next.max(turning);
            trial = if ahead.is_some() { 4.0 * h } else { 2.0 * (next - t) };
        }
        if next >= t_max {
            return None;
        }
        t = next;
        match ahead.or_else(|| separating_direction(query, &differences, t, min_separation)) {
            Some(d) if d.separation - target > CLOSE_ENOUGH * kept => direction = d,
            _ => break,
        }
    }
    Some(t)
}

/// The first advance of [`time_of_impact`]: a safe time, cheap and above 0.
pub(super) fn first_advance(query: &Query, min_separation: f64, keep: f64) -> f64 {
    let differences = Differences::new(query);
    let floor = min_separation + differences.rounding;
    match separating_direction(query, &differences, 0.0, min_separation) {
        Some(d) if d.separation > floor && differences.rounding.is_finite() => {
            let target = floor + keep * (d.separation - floor);
            differences.reaches(&d.n, target) * (1.0 - 4.0 * f64::EPSILON)
        }
        _ => 0.0,
    }
}
