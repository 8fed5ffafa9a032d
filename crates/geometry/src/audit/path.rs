//! The audit of a path: whether two primitives stay apart while their vertices move on straight lines.
//!
//! A time interval is proved free in one of two ways: a plane, which may turn, keeps the primitives apart, or
//! their distance in the middle is larger than what their vertices can move towards each other until its ends. Both are taken in 106-bit
//! arithmetic where double precision does not tell. What neither proves is halved. What is not proved after all is reported, so that an error here may
//! raise a false alarm but misses nothing. Collision detection has other means, roots, inclusion functions and advancement, and no code in common.

use super::separation::{extended, far_apart, squared_distance};
use standoff_linalg::Vec3;
use standoff_linalg::double_double::{DoubleDouble, Vector, dot, sub};

/// Halvings of the whole path at most. What is not proved then comes as close as the last digits of the displacement.
const HALVINGS: u32 = 52;

/// Intervals of one path that are looked at closely, at most; primitives that come to touch tangentially need ever more of them.
const INTERVALS: usize = 1 << 12;

/// Where two primitives do not stay apart.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Contact {
    /// The part of the path after which they are too close, from 0 to 1.
    pub time: f64,
    /// Their distance there, m.
    pub distance: f64,
}

/// The straight paths of the vertices of a primitive, at most three: from, to.
pub type Paths<'a> = &'a [[Vec3; 2]];

/// The first place found at which the primitives `a` and `b` are not proved to be at a distance above `required`, m; none if they are on all of
/// the path.
pub fn contact(a: Paths<'_>, b: Paths<'_>, required: DoubleDouble) -> Option<Contact> {
    let speed = relative_speed(a, b);
    if !speed.is_finite() {
        return Some(Contact { time: 0.0, distance: 0.0 });
    }
    let r = required.value();
    // later halves wait, so that what is found is the first
    let mut waiting = vec![(0.0_f64, 1.0_f64, 0_u32)];
    let mut tried = 0;
    while let Some((begin, end, halvings)) = waiting.pop() {
        if swept_apart(a, b, [begin, end], r) {
            continue;
        }
        tried += 1;
        // both ends have few binary digits, so that the middle is exact
        let middle = 0.5 * (begin + end);
        let distance = squared_distance(&at(a, middle), &at(b, middle)).sqrt();
        let gap = (distance - required).value();
        let reached = speed * 0.5 * (end - begin) * (1.0 + 1e-12);
        if gap > reached || kept_apart(a, b, [begin, end], required) {
            continue;
        }
        if !(gap > 0.0 && gap.is_finite()) || halvings == HALVINGS || tried == INTERVALS {
            return Some(Contact { time: middle, distance: distance.value() });
        }
        waiting.push((middle, end, halvings + 1));
        waiting.push((begin, middle, halvings + 1));
    }
    None
}

/// How fast the distance can change, m per unit of time: the largest displacements from a common one.
fn relative_speed(a: Paths<'_>, b: Paths<'_>) -> f64 {
    let moved = |w: &[Vec3; 2]| w[1] - w[0];
    let common = a.iter().chain(b).map(moved).sum::<Vec3>() / (a.len() + b.len()) as f64;
    let largest = |paths: Paths<'_>| {
        // NaN is kept
        paths
            .iter()
            .map(|w| (moved(w) - common).norm())
            .fold(0.0, |l: f64, s| if s > l || s.is_nan() { s } else { l })
    };
    // rounding of the displacements themselves
    let size = a.iter().chain(b).flatten().map(|x| x.amax()).fold(0.0, f64::max);
    largest(a) + largest(b) + 16.0 * f64::EPSILON * (size + common.amax())
}

/// The vertices of a primitive at a time.
fn at(paths: Paths<'_>, time: f64) -> Few<Vector, 3> {
    let coordinate = |[from, to]: [f64; 2]| {
        DoubleDouble::new(from) + DoubleDouble::difference(to, from) * DoubleDouble::new(time)
    };
    let vertex = |[from, to]: &[Vec3; 2]| std::array::from_fn(|k| coordinate([from[k], to[k]]));
    Few::new(paths.iter().map(vertex), [DoubleDouble::new(0.0); 3])
}

/// Whether a plane certainly keeps what the primitives sweep in an interval of time at a distance above `r`.
fn swept_apart(a: Paths<'_>, b: Paths<'_>, [begin, end]: [f64; 2], r: f64) -> bool {
    let place = |t: f64| move |[from, to]: &[Vec3; 2]| from + t * (to - from);
    let swept = |paths: Paths<'_>| -> Few<Vec3, 6> {
        let both = paths.iter().map(place(begin)).chain(paths.iter().map(place(end)));
        Few::new(both, Vec3::zeros())
    };
    let now = |paths: Paths<'_>| -> Few<Vec3, 3> {
        Few::new(paths.iter().map(place(0.5 * (begin + end))), Vec3::zeros())
    };
    let size = a.iter().chain(b).flatten().map(|x| x.amax()).fold(0.0, f64::max);
    // places between from and to are rounded
    let r = r + 16.0 * f64::EPSILON * size;
    let (p, q, a, b) = (swept(a), swept(b), now(a), now(b));
    far_apart(&p, &q, &normal(&a, &b), r) || far_apart(&p, &q, &shortest(&a, &b), r)
}

/// Whether a plane that turns keeps the primitives at a distance above `required` in an interval of time, in 106-bit arithmetic: neighbours in one
/// surface turn together, beside a gap that may be far smaller than what any plane that stands still would need.
///
/// With a normal n(t) that goes from n₀ to n₁ as linearly as the vertices do, the height of a vertex of `b` over one of `a` is the
/// quadratic n(t) · d(t), with the Bernstein coefficients n₀ · d₀, ½ (n₀ · d₁ + n₁ · d₀) and n₁ · d₁, between which it lies; and ‖n(t)‖ is at most
/// the larger one of both ends.
fn kept_apart(a: Paths<'_>, b: Paths<'_>, ends: [f64; 2], required: DoubleDouble) -> bool {
    let places = ends.map(|t| [at(a, t), at(b, t)]);
    let rounded = |of: &[Vector]| {
        let value = |v: &Vector| Vec3::from_fn(|k, _| v[k].value());
        Few::<Vec3, 3>::new(of.iter().map(value), Vec3::zeros())
    };
    let now = places.each_ref().map(|[a, b]| [rounded(a), rounded(b)]);
    let half = DoubleDouble::new(0.5);
    [normal, shortest].iter().any(|direction| {
        let [n0, n1] = now.each_ref().map(|[a, b]| direction(a, b).normalize());
        let across = shortest(&now[0][0], &now[0][1]);
        let n0 = if n0.dot(&across) < 0.0 { -n0 } else { n0 };
        let n1 = if n1.dot(&n0) < 0.0 { -n1 } else { n1 };
        let [n0, n1] = [extended(&n0), extended(&n1)];
        let [s0, s1] = [dot(&n0, &n0).sqrt(), dot(&n1, &n1).sqrt()];
        let slab = required * if s0 < s1 { s1 } else { s0 };
        let [[a0, b0], [a1, b1]] = &places;
        (0..a.len()).all(|i| {
            (0..b.len()).all(|j| {
                let (d0, d1) = (sub(&b0[j], &a0[i]), sub(&b1[j], &a1[i]));
                let middle = half * (dot(&n0, &d1) + dot(&n1, &d0));
                let heights = [dot(&n0, &d0), middle, dot(&n1, &d1)];
                heights.iter().all(|h| (*h - slab).is_positive())
            })
        })
    })
}

/// At most `N` items, without an allocation.
#[derive(Debug)]
pub struct Few<T, const N: usize> {
    items: [T; N],
    count: usize,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// The first `N` items of an iterator; `nothing` fills what they leave.
    pub fn new(items: impl Iterator<Item = T>, nothing: T) -> Self {
        let mut few = Self { items: [nothing; N], count: 0 };
        for item in items.take(N) {
            few.items[few.count] = item;
            few.count += 1;
        }
        few
    }
}

impl<T, const N: usize> std::ops::Deref for Few<T, N> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.items[..self.count]
    }
}

/// A direction across both primitives: the normal of the triangle, or of both edges.
pub fn normal(a: &[Vec3], b: &[Vec3]) -> Vec3 {
    match (a, b) {
        ([p, q, r], _) | (_, [p, q, r]) => (q - p).cross(&(r - p)),
        ([p, q], [r, s]) => (q - p).cross(&(s - r)),
        _ => Vec3::zeros(),
    }
}

/// The shortest vector from `a` to `b` between a vertex of one and a vertex or edge of the other; zero where there is none.
fn shortest(a: &[Vec3], b: &[Vec3]) -> Vec3 {
    let between = |p: &[Vec3], q: &[Vec3]| -> Option<Vec3> {
        let foot = |v: &Vec3, from: Vec3, to: Vec3| {
            let edge = to - from;
            let part = (v - from).dot(&edge) / edge.norm_squared();
            // an edge without length is its end
            from + if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) } * edge
        };
        let sides = (0..q.len()).map(|k| (q[k], q[(k + 1) % q.len()]));
        let all = sides.flat_map(|(from, to)| p.iter().map(move |v| foot(v, from, to) - v));
        all.min_by(|x, y| x.norm_squared().total_cmp(&y.norm_squared()))
    };
    let there = between(a, b).unwrap_or_default();
    let back = between(b, a).unwrap_or_default();
    if back.norm_squared() < there.norm_squared() { -back } else { there }
}
