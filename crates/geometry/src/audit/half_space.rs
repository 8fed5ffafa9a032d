//! On which side of a plane points are, exactly.

use standoff_linalg::Vec3;
use std::cmp::Ordering;

/// What rounding adds to a height above a half-space in double precision, at most, in units of the sum of the absolute values of
/// its terms: seven roundings, each of half an ε.
const HALF_SPACE_ERROR: f64 = 4.0 * f64::EPSILON;

/// Vertices, of those listed, that are not strictly above the plane n·(x − o) = `offset`, in the
/// order of the list. Exact; `normal` n and so `offset` may have any scale.
pub fn audit_half_space(
    x: &[Vec3],
    vertices: &[u32],
    origin: &Vec3,
    normal: &Vec3,
    offset: f64,
) -> Vec<u32> {
    let mut terms = [-offset; 13];
    for k in 0..3 {
        [terms[1 + 2 * k], terms[2 + 2 * k]] = exact_product(-origin[k], normal[k]);
    }
    // far from the plane, double precision can tell
    let surely_above = |p: &Vec3| {
        let (mut height, mut size) = (-offset, offset.abs());
        for k in 0..3 {
            height += normal[k] * (p[k] - origin[k]);
            size += normal[k].abs() * (p[k].abs() + origin[k].abs());
        }
        height > HALF_SPACE_ERROR * size
    };
    let above = |p: &Vec3| {
        let mut terms = terms;
        for k in 0..3 {
            [terms[7 + 2 * k], terms[8 + 2 * k]] = exact_product(p[k], normal[k]);
        }
        sign_of_sum(&terms) == Ordering::Greater
    };
    let is_above = |p: &Vec3| surely_above(p) || above(p);
    vertices.iter().copied().filter(|&v| !is_above(&x[v as usize])).collect()
}

/// a·b as a sum of two `f64`, exact short of underflow.
fn exact_product(a: f64, b: f64) -> [f64; 2] {
    let p = a * b;
    [p, f64::mul_add(a, b, -p)]
}

/// Exact sign of a sum of at most 13 numbers, by an expansion that grows without loss
/// [Shewchuk 1997, Fig. 6].
fn sign_of_sum(terms: &[f64; 13]) -> Ordering {
    let mut expansion = [0.0; 14];
    for (n, &t) in terms.iter().enumerate() {
        let mut q = t;
        for e in &mut expansion[..n] {
            let s = q + *e;
            let b = s - q;
            *e = (q - (s - b)) + (*e - b);
            q = s;
        }
        expansion[n] = q;
    }
    // components grow in size and do not overlap: the last that is not 0 decides
    let last = expansion.iter().rev().find(|e| **e != 0.0).copied().unwrap_or(0.0);
    last.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}
