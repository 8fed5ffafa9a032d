//! Signs of determinants of floating-point coordinates: by an estimate with a bound of its rounding error, and
//! where that is in doubt by integers of any size.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// A point, or a vector between two.
pub type Point = [f64; 3];

/// An exact value m·2^e for the exponent e that all numbers of a determinant share.
fn integer(value: f64, exponent: i32) -> BigInt {
    // 0 has no exponent of its own
    if value == 0.0 {
        return BigInt::ZERO;
    }
    let bits = value.to_bits();
    let (biased, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (mantissa, own) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    let magnitude = BigInt::from(mantissa) << (own - exponent);
    if value < 0.0 { -magnitude } else { magnitude }
}

/// The least exponent among numbers that are not 0.
fn exponent<'a>(values: impl Iterator<Item = &'a f64>) -> i32 {
    let own = |v: &f64| match (v.to_bits() >> 52 & 0x7ff) as i32 {
        0 => -1074,
        biased => biased - 1075,
    };
    values.filter(|v| **v != 0.0).map(own).min().unwrap_or(0)
}

fn integers(points: &[&Point]) -> Vec<[BigInt; 3]> {
    let e = exponent(points.iter().flat_map(|p| p.iter()));
    points.iter().map(|p| p.map(|c| integer(c, e))).collect()
}

fn sign(value: &BigInt) -> Ordering {
    match value.sign() {
        Sign::Minus => Ordering::Less,
        Sign::NoSign => Ordering::Equal,
        Sign::Plus => Ordering::Greater,
    }
}

fn minus(a: &Point, b: &Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Sign of det(b − a, c − a, d − a): positive where d is on the side of the triangle abc from which it is seen
/// clockwise, so that a tetrahedron abcd of positive volume has it.
pub fn volume(a: &Point, b: &Point, c: &Point, d: &Point) -> Ordering {
    let (u, v, w) = (minus(b, a), minus(c, a), minus(d, a));
    let (mut value, mut magnitude) = (0.0, 0.0);
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        value += u[i] * (v[j] * w[k] - v[k] * w[j]);
        magnitude += (u[i] * (v[j] * w[k])).abs() + (u[i] * (v[k] * w[j])).abs();
    }
    // the differences, products and sums round 14 times at most; what underflows is below the last term
    let bound = 16.0 * f64::EPSILON * magnitude + 1e-300;
    if value.abs() > bound {
        return value.partial_cmp(&0.0).expect("finite coordinates");
    }
    let [a, b, c, d] = &integers(&[a, b, c, d])[..] else { unreachable!("four points") };
    let to = |p: &[BigInt; 3]| -> [BigInt; 3] { std::array::from_fn(|i| &p[i] - &a[i]) };
    let (u, v, w) = (to(b), to(c), to(d));
    let minor = |j: usize, k: usize| &v[j] * &w[k] - &v[k] * &w[j];
    sign(&(&u[0] * minor(1, 2) + &u[1] * minor(2, 0) + &u[2] * minor(0, 1)))
}

/// Sign of the doubled area of abc in the plane of the axes `i` and `j`.
pub fn area(a: &Point, b: &Point, c: &Point, i: usize, j: usize) -> Ordering {
    let (u, v) = (minus(b, a), minus(c, a));
    let (p, q) = (u[i] * v[j], u[j] * v[i]);
    let bound = 8.0 * f64::EPSILON * (p.abs() + q.abs()) + 1e-300;
    if (p - q).abs() > bound {
        return (p - q).partial_cmp(&0.0).expect("finite coordinates");
    }
    let [a, b, c] = &integers(&[a, b, c])[..] else { unreachable!("three points") };
    let cross = (&b[i] - &a[i]) * (&c[j] - &a[j]) - (&b[j] - &a[j]) * (&c[i] - &a[i]);
    sign(&cross)
}

/// Sign of n·(x − o), exactly.
pub fn height(x: &Point, origin: &Point, normal: &Point) -> Ordering {
    let e = exponent(x.iter().chain(origin));
    let f = exponent(normal.iter());
    let term = |k: usize| (integer(x[k], e) - integer(origin[k], e)) * integer(normal[k], f);
    sign(&(term(0) + term(1) + term(2)))
}

/// Whether abc has no area.
fn is_flat(a: &Point, b: &Point, c: &Point) -> bool {
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(i, j)| area(a, b, c, i, j) == Ordering::Equal)
}

/// Whether x, on the line through a and b, lies between them or is one of them.
fn between(a: &Point, b: &Point, x: &Point) -> bool {
    (0..3).all(|k| a[k].min(b[k]) <= x[k] && x[k] <= a[k].max(b[k]))
}

/// Whether x is a point of the segment ab.
pub fn point_on_segment(x: &Point, a: &Point, b: &Point) -> bool {
    is_flat(x, a, b) && between(a, b, x)
}

/// Whether the segments ab and cd have a point in common.
pub fn segments_meet(a: &Point, b: &Point, c: &Point, d: &Point) -> bool {
    if volume(a, b, c, d) != Ordering::Equal {
        return false;
    }
    let ends = point_on_segment(a, c, d)
        || point_on_segment(b, c, d)
        || point_on_segment(c, a, b)
        || point_on_segment(d, a, b);
    // in one plane: they cross where each one's ends are on both sides of the other, seen along an axis
    // along which neither the plane nor a segment vanishes
    let opposite = |x: Ordering, y: Ordering| x != Ordering::Equal && x == y.reverse();
    ends || [(0, 1), (1, 2), (2, 0)].iter().any(|&(i, j)| {
        opposite(area(a, b, c, i, j), area(a, b, d, i, j))
            && opposite(area(c, d, a, i, j), area(c, d, b, i, j))
    })
}

/// Whether x is a point of the triangle abc.
pub fn point_in_triangle(x: &Point, t: &[Point; 3]) -> bool {
    let [a, b, c] = t;
    if volume(a, b, c, x) != Ordering::Equal {
        return false;
    }
    if point_on_segment(x, a, b) || point_on_segment(x, b, c) || point_on_segment(x, c, a) {
        return true;
    }
    [(0, 1), (1, 2), (2, 0)].iter().any(|&(i, j)| {
        let s = area(a, b, x, i, j);
        s != Ordering::Equal && s == area(b, c, x, i, j) && s == area(c, a, x, i, j)
    })
}

/// Whether the segment pq and the triangle abc have a point in common.
pub fn segment_meets_triangle(p: &Point, q: &Point, t: &[Point; 3]) -> bool {
    let [a, b, c] = t;
    let (sp, sq) = (volume(a, b, c, p), volume(a, b, c, q));
    if sp == Ordering::Equal || sq == Ordering::Equal {
        // an end in the triangle's plane, or a flat triangle: what can meet are the ends and the edges
        return point_in_triangle(p, t)
            || point_in_triangle(q, t)
            || segments_meet(p, q, a, b)
            || segments_meet(p, q, b, c)
            || segments_meet(p, q, c, a);
    }
    if sp == sq {
        return false;
    }
    let turns = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    !(turns.contains(&Ordering::Less) && turns.contains(&Ordering::Greater))
}
