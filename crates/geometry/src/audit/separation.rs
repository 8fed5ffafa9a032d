//! Distances for the audit, in 106-bit arithmetic and by the plainest formulas.
//!
//! The distance of two primitives is the least over all their features: every vertex against every
//! edge, and the interiors where the perpendicular feet lie inside. No classification, so nothing
//! to misclassify.

use standoff_linalg::Vec3;
use standoff_linalg::double_double::{DoubleDouble, Vector, cross, dot, sub};

/// Point or edge end in extended precision.
pub fn extended(v: &Vec3) -> Vector {
    [v.x, v.y, v.z].map(DoubleDouble::new)
}

/// Squared distance of two points.
pub fn point_point(p: &Vector, q: &Vector) -> DoubleDouble {
    let d = sub(p, q);
    dot(&d, &d)
}

/// Squared distance of the point p and the segment (a, b).
pub fn point_edge(p: &Vector, a: &Vector, b: &Vector) -> DoubleDouble {
    let (e, r) = (sub(b, a), sub(p, a));
    let (along, length2) = (dot(&r, &e), dot(&e, &e));
    if !along.is_positive() {
        return dot(&r, &r);
    }
    if !(length2 - along).is_positive() {
        return point_point(p, b);
    }
    let n = cross(&r, &e);
    dot(&n, &n) / length2
}

/// Squared distance of the point p and the triangle t.
pub fn point_triangle(p: &Vector, t: &[Vector; 3]) -> DoubleDouble {
    let n = cross(&sub(&t[1], &t[0]), &sub(&t[2], &t[0]));
    let n2 = dot(&n, &n);
    let inside = |a: &Vector, b: &Vector| {
        let side = dot(&cross(&sub(b, a), &sub(p, a)), &n);
        side.is_positive()
    };
    let mut least = point_edge(p, &t[0], &t[1]);
    for (a, b) in [(1, 2), (2, 0)] {
        least = min(least, point_edge(p, &t[a], &t[b]));
    }
    if n2.is_positive() && inside(&t[0], &t[1]) && inside(&t[1], &t[2]) && inside(&t[2], &t[0]) {
        let height = dot(&sub(p, &t[0]), &n);
        least = min(least, height * height / n2);
    }
    least
}

/// Squared distance of the segments (a, b) and (c, d).
pub fn edge_edge(a: &Vector, b: &Vector, c: &Vector, d: &Vector) -> DoubleDouble {
    let mut least = point_edge(a, c, d);
    for other in [point_edge(b, c, d), point_edge(c, a, b), point_edge(d, a, b)] {
        least = min(least, other);
    }
    let (u, v, w) = (sub(b, a), sub(d, c), sub(c, a));
    let n = cross(&u, &v);
    let n2 = dot(&n, &n);
    // feet of the common perpendicular at s/n2 on (a, b) and t/n2 on (c, d)
    let s = dot(&cross(&w, &v), &n);
    let t = dot(&cross(&w, &u), &n);
    let within = |q: DoubleDouble| q.is_positive() && (n2 - q).is_positive();
    if n2.is_positive() && within(s) && within(t) {
        let height = dot(&w, &n);
        least = min(least, height * height / n2);
    }
    least
}

fn min(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
    if b < a { b } else { a }
}
