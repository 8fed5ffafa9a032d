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

/// Whether two primitives are certainly at a distance above `r` ≥ 0, by a slab across the line between their middles or across
/// their common normal. False tells nothing.
pub fn far_apart(a: &[Vec3], b: &[Vec3], normal: &Vec3, r: f64) -> bool {
    let middle = |p: &[Vec3]| p.iter().sum::<Vec3>() / p.len() as f64;
    let across = middle(b) - middle(a);
    let normal = if normal.dot(&across) < 0.0 { -normal } else { *normal };
    certainly_farther(a, b, r, &[across, normal])
}

/// Whether two convex hulls of points are certainly at a distance above `r` ≥ 0: a slab of that width across one of the
/// `directions` keeps them apart, after all rounding. False tells nothing.
///
/// Rounding: offsets d from one of the points have a relative error of ε, products n·d an error of at most 4 ε |n| |d|, and |n| a relative
/// one of 4 ε; the bounds below are larger. Values that overflow, underflow or are NaN fail the comparison.
fn certainly_farther(a: &[Vec3], b: &[Vec3], r: f64, directions: &[Vec3]) -> bool {
    let origin = a[0];
    let size = a.iter().chain(b).map(|p| 2.0 * (p - origin).amax()).fold(0.0, f64::max);
    directions.iter().any(|n| {
        let above = b.iter().map(|p| n.dot(&(p - origin))).fold(f64::INFINITY, f64::min);
        let below = a.iter().map(|p| n.dot(&(p - origin))).fold(f64::NEG_INFINITY, f64::max);
        let required = n.norm() * (r * (1.0 + 1e-12) + 64.0 * f64::EPSILON * size);
        let gap = above - below;
        gap > required && gap.is_finite() && required >= f64::MIN_POSITIVE
    })
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

/// Squared distance of two primitives: a point, a segment or a triangle by its vertices, of which one is a point or both are segments.
pub fn squared_distance(a: &[Vector], b: &[Vector]) -> DoubleDouble {
    match (a, b) {
        ([p], [q]) => point_point(p, q),
        ([p], [c, d]) | ([c, d], [p]) => point_edge(p, c, d),
        ([p], [c, d, e]) | ([c, d, e], [p]) => point_triangle(p, &[*c, *d, *e]),
        ([p, q], [c, d]) => edge_edge(p, q, c, d),
        _ => unreachable!("{} against {} vertices", a.len(), b.len()),
    }
}

fn min(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
    if b < a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    /// What is called far apart is so by the distances in 106-bit arithmetic, for required distances around the real one that
    /// differ from it by down to one part in 10¹⁵; and what is twice as far as required is mostly called so.
    #[test]
    fn primitives_that_are_called_far_apart_are() {
        let r = &mut Random::new(4);
        let (mut called, mut twice) = (0, 0);
        for k in 0..60_000 {
            let offset = Vec3::repeat([0.0, 1.0, 1e3, 1e7][k % 4]);
            let size = [1.0, 1e-2, 1e-5][k % 3];
            let flat = |p: Vec3| if k % 5 == 0 { Vec3::new(p.x, p.y, 1e-3 * p.z) } else { p };
            let mut p = [(); 4].map(|()| offset + flat(r.vec3()) * size);
            if k % 7 == 0 {
                // parallel edges
                p[3] = p[2] + (p[1] - p[0]);
            }
            let e = p.each_ref().map(extended);
            let edges = k % 2 == 0;
            let d2 = match edges {
                true => edge_edge(&e[0], &e[1], &e[2], &e[3]),
                false => point_triangle(&e[0], &[e[1], e[2], e[3]]),
            };
            let (a, b) = if edges { p.split_at(2) } else { p.split_at(1) };
            let normal = match edges {
                true => (p[1] - p[0]).cross(&(p[3] - p[2])),
                false => (p[2] - p[1]).cross(&(p[3] - p[1])),
            };
            let distance = d2.sqrt().value();
            for shift in [-1e-3, -1e-9, -1e-13, -1e-15, 0.0, 1e-15, 1e-13, 1e-9, 1e-3] {
                let required = distance * (1.0 + shift);
                let far = far_apart(a, b, &normal, required);
                let exact = DoubleDouble::new(required);
                assert!(!far || exact * exact < d2, "{k}: {required:e} of {distance:e}");
                called += usize::from(far);
            }
            twice += usize::from(far_apart(a, b, &normal, 0.5 * distance));
        }
        println!("{called} of 540000 around the distance, {twice} of 60000 at half of it");
        assert!(called > 20_000 && twice > 40_000, "{called} {twice}");
        let zero = [Vec3::zeros(); 2];
        assert!(!far_apart(&zero, &zero, &Vec3::zeros(), 0.0));
        let nan = [Vec3::repeat(f64::NAN); 2];
        assert!(!far_apart(&zero, &nan, &Vec3::x(), 0.0));
        let tiny = [Vec3::repeat(1e-200); 2];
        assert!(!far_apart(&zero, &tiny, &Vec3::zeros(), 0.0));
    }
}
