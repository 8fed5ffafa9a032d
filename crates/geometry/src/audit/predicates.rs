//! Exact tests of segments, triangles and tetrahedra.
//!
//! All decisions are signs of determinants by adaptive exact arithmetic [Shewchuk 1997] (crate
//! `robust`), so they are right for all coordinates whose products neither over- nor underflow
//! (magnitudes between about 1e-70 and 1e70, or 0). Sets are closed: touching counts.

use robust::{Coord, Coord3D, orient2d, orient3d};
use standoff_linalg::Vec3;
use std::cmp::Ordering;

/// Sign of the volume of (a, b, c, d): `Greater` where (b−a)·((c−a)×(d−a)) > 0, `Equal` where the
/// four points are coplanar. Exact.
pub fn tet_orientation(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> Ordering {
    // the predicate is positive where d lies on the clockwise side of (a, b, c)
    sign(-orient3d(coord3(a), coord3(b), coord3(c), coord3(d)))
}

/// `Greater` where the triangle (a, b, c), without its z coordinates, is counter-clockwise, `Equal` where
/// its corners are on one line. Exact.
pub fn triangle_orientation(a: &Vec3, b: &Vec3, c: &Vec3) -> Ordering {
    turn(project(a, 2), project(b, 2), project(c, 2))
}

/// Whether all `points` certainly lie on one side of the plane of (a, b, c), none on it. `false` where
/// rounding leaves doubt; exact where it says `true`.
pub fn certainly_on_one_side<'a>(
    [a, b, c]: [&Vec3; 3],
    points: impl IntoIterator<Item = &'a Vec3>,
) -> bool {
    let (u, v) = (b - a, c - a);
    let n = u.cross(&v);
    let size = u.lp_norm(1) * v.lp_norm(1);
    let mut before = 0.0;
    for p in points {
        let w = p - a;
        let s = n.dot(&w);
        // at most eight roundings in each product of the determinant [Shewchuk 1997, §4.3], twice over;
        // the constant keeps out what has underflowed
        let error = 8.0 * f64::EPSILON * size * w.lp_norm(1) + 1e-250;
        if s.is_nan() || s.abs() <= error || s * before < 0.0 {
            return false;
        }
        before = s.signum();
    }
    true
}

/// Whether the closed segment (e0, e1) and the closed triangle (t0, t1, t2) have a point in common.
/// Exact; segments and triangles without extent are points and segments.
pub fn edge_triangle_intersects(e0: &Vec3, e1: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> bool {
    if certainly_apart([e0, e1], [t0, t1, t2]) {
        return false;
    }
    let side0 = tet_orientation(t0, t1, t2, e0);
    let side1 = tet_orientation(t0, t1, t2, e1);
    if side0 == side1 && side0 != Ordering::Equal {
        return false;
    }
    if side0 == Ordering::Equal && side1 == Ordering::Equal {
        return coplanar_intersects(e0, e1, t0, t1, t2);
    }
    // the line crosses the plane in one point of the segment: is it inside all three edges?
    let around = [
        tet_orientation(e0, e1, t0, t1),
        tet_orientation(e0, e1, t1, t2),
        tet_orientation(e0, e1, t2, t0),
    ];
    !(around.contains(&Ordering::Less) && around.contains(&Ordering::Greater))
}

/// Whether the ray from `p` towards greater x, moved aside by (0, ε, ε²) for infinitely small ε > 0 so that it meets no edge and
/// no vertex, meets the triangle. Exact where `p` is not in the triangle.
pub fn ray_meets_triangle(p: &Vec3, triangle: [&Vec3; 3]) -> bool {
    let [a, b, c] = triangle.map(|v| project(v, 0));
    let q = project(p, 0);
    let side = turn_aside(a, b, q);
    // seen along x, counter-clockwise (`Greater`) or clockwise around the ray; `Equal` is an edge seen as a point
    side != Ordering::Equal
        && turn_aside(b, c, q) == side
        && turn_aside(c, a, q) == side
        // a counter-clockwise triangle has the smaller x on its back
        && tet_orientation(triangle[0], triangle[1], triangle[2], p) == side.reverse()
}

/// The orientation of the triangle (a, b, c) with c moved by (ε, ε²): `Equal` only where a = b.
fn turn_aside(a: Coord<f64>, b: Coord<f64>, c: Coord<f64>) -> Ordering {
    let compare = |v: f64, w: f64| v.partial_cmp(&w).unwrap_or(Ordering::Equal);
    turn(a, b, c).then(compare(a.y, b.y)).then(compare(b.x, a.x))
}

/// Whether the ray from `p` in the plane z = 0 towards greater x, moved aside by an infinitely small ε > 0 in y, meets the
/// segment. Exact where `p` is not on the segment.
pub fn ray_meets_segment(p: &Vec3, [a, b]: [&Vec3; 2]) -> bool {
    let upwards = b.y > p.y;
    let side = if upwards { Ordering::Greater } else { Ordering::Less };
    (a.y > p.y) != upwards && triangle_orientation(a, b, p) == side
}

/// Whether the projections of a segment and a triangle along the axis to which the triangle is most nearly perpendicular
/// certainly lie apart, on either side of the line of an edge of the triangle or of the segment. `false` where
/// rounding leaves doubt; exact where it says `true`. Decides most pairs of a flat surface, for which exact
/// arithmetic is slow.
fn certainly_apart(segment: [&Vec3; 2], triangle: [&Vec3; 3]) -> bool {
    let normal = (triangle[1] - triangle[0]).cross(&(triangle[2] - triangle[0]));
    let axis = normal.iamax();
    let [a, b] = segment.map(|v| project(v, axis));
    let [p, q, r] = triangle.map(|v| project(v, axis));
    let apart = |[c, d]: [Coord<f64>; 2], one: &[Coord<f64>], other: &[Coord<f64>]| {
        let side = |points: &[Coord<f64>]| {
            let mut sides = points.iter().map(|e| certain_turn(c, d, *e));
            let first = sides.next().unwrap_or(Ordering::Equal);
            if sides.all(|side| side == first) { first } else { Ordering::Equal }
        };
        let one = side(one);
        one != Ordering::Equal && (other.is_empty() || side(other) == one.reverse())
    };
    apart([p, q], &[a, b], &[r])
        || apart([q, r], &[a, b], &[p])
        || apart([r, p], &[a, b], &[q])
        || apart([a, b], &[p, q, r], &[])
}

/// The orientation of the triangle (a, b, c) where it is certain in spite of rounding, `Equal` elsewhere.
fn certain_turn(a: Coord<f64>, b: Coord<f64>, c: Coord<f64>) -> Ordering {
    let (left, right) = ((a.x - c.x) * (b.y - c.y), (a.y - c.y) * (b.x - c.x));
    let twice = left - right;
    // at most three roundings in each product [Shewchuk 1997, §4.3], twice over; the constant keeps out
    // what has underflowed
    let error = 4.0 * f64::EPSILON * (left.abs() + right.abs()) + 1e-250;
    if twice.abs() > error { sign(twice) } else { Ordering::Equal }
}

/// Whether the closed segments (a, b) and (c, d) have a point in common. Exact.
pub fn segments_intersect(a: &Vec3, b: &Vec3, c: &Vec3, d: &Vec3) -> bool {
    if tet_orientation(a, b, c, d) != Ordering::Equal {
        return false;
    }
    // a projection in which some triple is a proper triangle is one-to-one on the common plane
    for axis in 0..3 {
        let [p, q, r, s] = [a, b, c, d].map(|v| project(v, axis));
        let triples = [turn(p, q, r), turn(p, q, s), turn(p, r, s), turn(q, r, s)];
        if triples.iter().any(|&t| t != Ordering::Equal) {
            return segments_intersect_2d(p, q, r, s);
        }
    }
    // all on one line, along which lexicographic order is monotone
    let (a, b) = ordered(a, b);
    let (c, d) = ordered(c, d);
    lexicographic(a, d) != Ordering::Greater && lexicographic(c, b) != Ordering::Greater
}

/// The test of a segment in the triangle's plane, or of any segment and a triangle without area.
fn coplanar_intersects(e0: &Vec3, e1: &Vec3, t0: &Vec3, t1: &Vec3, t2: &Vec3) -> bool {
    for axis in 0..3 {
        let [p, q, r] = [t0, t1, t2].map(|v| project(v, axis));
        let area = turn(p, q, r);
        if area == Ordering::Equal {
            continue;
        }
        let [a, b] = [e0, e1].map(|v| project(v, axis));
        // an end inside, or the segment crosses the outline
        let outside = area.reverse();
        let inside =
            turn(p, q, a) != outside && turn(q, r, a) != outside && turn(r, p, a) != outside;
        return inside
            || segments_intersect_2d(a, b, p, q)
            || segments_intersect_2d(a, b, q, r)
            || segments_intersect_2d(a, b, r, p);
    }
    // without area, the triangle is the union of its edges
    segments_intersect(e0, e1, t0, t1)
        || segments_intersect(e0, e1, t1, t2)
        || segments_intersect(e0, e1, t2, t0)
}

/// Closed segments (a, b), (c, d) of the plane; points are allowed.
///
/// Each segment touches the other's line and their boxes overlap: for collinear segments the boxes
/// decide, for a point the line and the box together say that it lies on the segment.
fn segments_intersect_2d(a: Coord<f64>, b: Coord<f64>, c: Coord<f64>, d: Coord<f64>) -> bool {
    let overlap = |a: f64, b: f64, c: f64, d: f64| a.min(b) <= c.max(d) && c.min(d) <= a.max(b);
    let straddles = |s: Ordering, t: Ordering| s != t || s == Ordering::Equal;
    overlap(a.x, b.x, c.x, d.x)
        && overlap(a.y, b.y, c.y, d.y)
        && straddles(turn(a, b, c), turn(a, b, d))
        && straddles(turn(c, d, a), turn(c, d, b))
}

/// `Greater` where a, b, c turn left.
fn turn(a: Coord<f64>, b: Coord<f64>, c: Coord<f64>) -> Ordering {
    sign(orient2d(a, b, c))
}

fn coord3(v: &Vec3) -> Coord3D<f64> {
    Coord3D { x: v.x, y: v.y, z: v.z }
}

/// Drops coordinate `axis`.
fn project(v: &Vec3, axis: usize) -> Coord<f64> {
    Coord { x: v[(axis + 1) % 3], y: v[(axis + 2) % 3] }
}

fn sign(value: f64) -> Ordering {
    value.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

fn lexicographic(a: &Vec3, b: &Vec3) -> Ordering {
    (0..3)
        .map(|k| a[k].partial_cmp(&b[k]).unwrap_or(Ordering::Equal))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn ordered<'a>(a: &'a Vec3, b: &'a Vec3) -> (&'a Vec3, &'a Vec3) {
    if lexicographic(a, b) == Ordering::Greater { (b, a) } else { (a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    /// Points within rounding of a line: what is certain is right, and what is not certain happens.
    #[test]
    fn certain_turns_are_exact() {
        let mut r = Random::new(5);
        let mut doubts = 0;
        for _ in 0..100_000 {
            let mut at = || Coord { x: 1.0 + r.signed(), y: 5.0 + r.signed() };
            let (a, b) = (at(), at());
            let s = r.signed();
            let along = |a: f64, b: f64| a + s * (b - a);
            let nudge = |v: f64, by: u64| f64::from_bits(v.to_bits() + by);
            let c = Coord {
                x: nudge(along(a.x, b.x), r.below(8)),
                y: nudge(along(a.y, b.y), r.below(8)),
            };
            match certain_turn(a, b, c) {
                Ordering::Equal => doubts += 1,
                certain => assert_eq!(certain, turn(a, b, c), "{a:?} {b:?} {c:?}"),
            }
        }
        assert!((5_000..95_000).contains(&doubts), "{doubts}");
    }
}
