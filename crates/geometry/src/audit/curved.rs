//! Quadratic tetrahedra whose volume is not positive everywhere, and triangles in the plane whose area is not.
//!
//! det ∂x/∂ξ is a polynomial of degree three in the barycentric coordinates. It is evaluated at the twenty points of a lattice, which give its
//! coefficients in Bernstein's basis, between the least and the greatest of which it lies. Where these do not tell, the element is divided.
//! This shares nothing with the bound that the solver keeps.

use rayon::prelude::*;
use standoff_linalg::nalgebra::DMatrix;
use standoff_linalg::{Mat3, Vec3};
use std::sync::LazyLock;

/// Divisions of an element.
const LEVELS: usize = 6;

/// Points of the lattice, and coefficients.
const COUNT: usize = 20;

/// The ends of the edges whose middles are nodes 4 to 9.
const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Exponents of the barycentric coordinates in each polynomial of the basis; a third of them are the points of the lattice.
static EXPONENTS: LazyLock<Vec<[i32; 4]>> = LazyLock::new(|| {
    let mut all = Vec::with_capacity(COUNT);
    for i in 0..=3 {
        for j in 0..=3 - i {
            all.extend((0..=3 - i - j).map(|k| [i, j, k, 3 - i - j - k]));
        }
    }
    all
});

/// The matrix from values at the points of the lattice to coefficients, row by row.
static TO_COEFFICIENTS: LazyLock<Vec<[f64; COUNT]>> = LazyLock::new(|| {
    let factorial = |n: i32| f64::from((1..=n).product::<i32>());
    let basis = |exponents: &[i32; 4], at: &[i32; 4]| -> f64 {
        let powers = exponents.iter().zip(at).map(|(e, a)| (f64::from(*a) / 3.0).powi(*e));
        6.0 * powers.product::<f64>() / exponents.iter().map(|e| factorial(*e)).product::<f64>()
    };
    let matrix = DMatrix::from_fn(COUNT, COUNT, |m, n| basis(&EXPONENTS[n], &EXPONENTS[m]));
    let inverse = matrix.try_inverse().unwrap_or_else(|| DMatrix::zeros(COUNT, COUNT));
    (0..COUNT).map(|n| std::array::from_fn(|m| inverse[(n, m)])).collect()
});

/// det ∂x/∂ξ at barycentric coordinates, from nodes relative to the first one.
fn determinant(y: &[Vec3; 10], at: &[f64; 4]) -> f64 {
    // derivatives by the four coordinates, as if they were independent
    let mut by = [Vec3::zeros(); 4];
    for a in 0..4 {
        by[a] += y[a] * (4.0 * at[a] - 1.0);
    }
    for ([a, b], middle) in EDGES.into_iter().zip(&y[4..]) {
        by[a] += middle * (4.0 * at[b]);
        by[b] += middle * (4.0 * at[a]);
    }
    Mat3::from_columns(&[by[1] - by[0], by[2] - by[0], by[3] - by[0]]).determinant()
}

/// Whether the volume is proved to be positive within the part of the element between four points, given by barycentric coordinates.
fn is_positive(y: &[Vec3; 10], noise: f64, corners: &[[f64; 4]; 4], levels: usize) -> bool {
    let mut values = [0.0; COUNT];
    for (value, weights) in values.iter_mut().zip(&*EXPONENTS) {
        let at: [f64; 4] = std::array::from_fn(|k| {
            (0..4).map(|a| f64::from(weights[a]) / 3.0 * corners[a][k]).sum()
        });
        *value = determinant(y, &at);
        // also what is not a number
        if value.is_nan() || *value < -noise {
            return false;
        }
    }
    let proved = TO_COEFFICIENTS.iter().all(|row| {
        let coefficient: f64 = row.iter().zip(&values).map(|(r, v)| r * v).sum();
        let error: f64 = noise * row.iter().map(|r| r.abs()).sum::<f64>();
        coefficient > error
    });
    if proved || levels == 0 {
        return proved;
    }
    let [a, b, c, d] = *corners;
    let middle = |p: [f64; 4], q: [f64; 4]| std::array::from_fn(|k| 0.5 * (p[k] + q[k]));
    let [ab, ac, ad] = [middle(a, b), middle(a, c), middle(a, d)];
    let [bc, bd, cd] = [middle(b, c), middle(b, d), middle(c, d)];
    let parts = [
        [a, ab, ac, ad],
        [ab, b, bc, bd],
        [ac, bc, c, cd],
        [ad, bd, cd, d],
        // what is left is an octahedron
        [ab, cd, ac, bc],
        [ab, cd, bc, bd],
        [ab, cd, bd, ad],
        [ab, cd, ad, ac],
    ];
    parts.iter().all(|corners| is_positive(y, noise, corners, levels - 1))
}

/// Quadratic tetrahedra (`#T×10`: corners, then the middles of edges 01, 12, 02, 03, 13, 23) whose volume at `x` (`#V`) is not proved to
/// be positive everywhere, by index, ascending.
pub fn audit_curved_inversions(elements: &[[u32; 10]], x: &[Vec3]) -> Vec<u32> {
    let whole = std::array::from_fn(|a| std::array::from_fn(|k| f64::from(u8::from(k == a))));
    let bad = |(e, nodes): (usize, &[u32; 10])| {
        let y = nodes.map(|v| x[v as usize] - x[nodes[0] as usize]);
        // a bound of the rounding of a determinant of sums of ten terms
        let size: f64 = y.iter().map(|p| p.amax()).fold(0.0, f64::max);
        let noise = 1e4 * f64::EPSILON * size * size * size;
        (!is_positive(&y, noise, &whole, LEVELS)).then_some(e as u32)
    };
    elements.par_iter().enumerate().filter_map(bad).collect()
}

/// The barycentric coordinates of the nodes of a triangle: corners, then the middles of edges 01, 12, 20.
const PLACES: [[f64; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.5],
    [0.5, 0.0, 0.5],
];

/// det ∂x/∂ξ of a triangle at barycentric coordinates, from nodes relative to the first one.
fn plane_determinant(y: &[Vec3; 6], at: &[f64; 3]) -> f64 {
    // derivatives by the three coordinates, as if they were independent
    let mut by: [Vec3; 3] = std::array::from_fn(|a| y[a] * (4.0 * at[a] - 1.0));
    for e in 0..3 {
        let (a, b) = (e, (e + 1) % 3);
        by[a] += y[3 + e] * (4.0 * at[b]);
        by[b] += y[3 + e] * (4.0 * at[a]);
    }
    let (p, q) = (by[1] - by[0], by[2] - by[0]);
    p.x * q.y - p.y * q.x
}

/// Whether the polynomial of degree two with these values at the nodes of a triangle is proved to be above `bound` within.
fn is_above(values: &[f64; 6], bound: f64, levels: usize) -> bool {
    let [a, b, c, ab, bc, ca] = *values;
    // its coefficients in Bernstein's basis: those at corners are its values there
    let control = [2.0 * ab - 0.5 * (a + b), 2.0 * bc - 0.5 * (b + c), 2.0 * ca - 0.5 * (c + a)];
    if control.iter().chain(values).all(|v| *v > bound) {
        return true;
    }
    if levels == 0 || !values.iter().all(|v| *v > bound) {
        return false;
    }
    let at = |w: [f64; 3]| -> f64 {
        let own = [0, 1, 2].map(|k| values[k] * w[k] * w[k]);
        let mixed = [0, 1, 2].map(|k| control[k] * 2.0 * w[k] * w[(k + 1) % 3]);
        own.iter().chain(&mixed).sum()
    };
    let mean = |p: [f64; 3], q: [f64; 3]| [0, 1, 2].map(|k| 0.5 * (p[k] + q[k]));
    // four parts between the six nodes
    [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]].iter().all(|part| {
        let [p, q, r] = part.map(|n| PLACES[n]);
        let part = [p, q, r, mean(p, q), mean(q, r), mean(r, p)].map(at);
        is_above(&part, bound, levels - 1)
    })
}

/// Quadratic triangles in the plane (`#F×6`: corners, then the middles of edges 01, 12, 20) whose area at `x` (`#V`) is not proved to be positive
/// everywhere, and of bodies of revolution those that are not proved to be nowhere behind the axis x = 0; by index, ascending.
pub fn audit_curved_triangles(elements: &[[u32; 6]], x: &[Vec3], is_ring: bool) -> Vec<u32> {
    let bad = |(e, nodes): (usize, &[u32; 6])| {
        let y = nodes.map(|v| x[v as usize] - x[nodes[0] as usize]);
        // bounds of the rounding of a determinant of sums of six terms, and of a sum
        let size: f64 = y.iter().map(|p| p.amax()).fold(0.0, f64::max);
        let areas = PLACES.map(|at| plane_determinant(&y, &at));
        let radii = nodes.map(|v| x[v as usize].x);
        let far = radii.iter().fold(0.0, |far: f64, r| far.max(r.abs()));
        let good = is_above(&areas, 1e3 * f64::EPSILON * size * size, LEVELS)
            && (!is_ring || is_above(&radii, -16.0 * f64::EPSILON * far, LEVELS));
        (!good).then_some(e as u32)
    };
    elements.par_iter().enumerate().filter_map(bad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unit tetrahedron with straight edges.
    fn straight() -> Vec<Vec3> {
        let mut x = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        x.extend(EDGES.map(|[a, b]| 0.5 * (x[a] + x[b])));
        x
    }

    fn is_bad(x: &[Vec3]) -> bool {
        !audit_curved_inversions(&[std::array::from_fn(|n| n as u32)], x).is_empty()
    }

    #[test]
    fn a_straight_element_is_bad_where_its_volume_is_not_positive() {
        let x = straight();
        assert!(!is_bad(&x));
        assert!(is_bad(&x.iter().map(|p| Vec3::new(p.x, p.y, -p.z)).collect::<Vec<_>>()));
        assert!(is_bad(&x.iter().map(|p| Vec3::new(p.x, p.y, 0.0)).collect::<Vec<_>>()));
        // far away, thin
        let thin = |p: &Vec3| Vec3::new(p.x + 5.0, p.y, 1e-6 * p.z);
        assert!(!is_bad(&x.iter().map(thin).collect::<Vec<_>>()));
        assert!(is_bad(&x.iter().map(|p| p * f64::NAN).collect::<Vec<_>>()));
    }

    /// On an edge from 0 to 1 with its middle at m the volume at the near end is proportional to 4m − 1.
    #[test]
    fn a_middle_may_be_anywhere_beyond_the_quarter_points() {
        let mut x = straight();
        for (m, bad) in [(0.26, false), (0.251, false), (0.249, true), (0.749, false), (0.76, true)]
        {
            x[4] = Vec3::new(m, 0.0, 0.0);
            assert_eq!(is_bad(&x), bad, "{m}");
        }
    }

    /// Corners and middles are right, and the volume is negative between them.
    #[test]
    fn what_only_the_inside_shows_is_found() {
        let mut found = 0;
        for k in 0..400 {
            let mut x = straight();
            for (n, p) in x.iter_mut().enumerate().skip(4) {
                let angle = (7 * k + 13 * n * n) as f64;
                *p += 0.22 * Vec3::new(angle.sin(), (1.7 * angle).sin(), (2.3 * angle).sin());
            }
            let y: [Vec3; 10] = std::array::from_fn(|n| x[n]);
            let at = |w: [f64; 4]| determinant(&y, &w);
            let unit = |a: usize| std::array::from_fn(|k| f64::from(u8::from(k == a)));
            let middle = |[a, b]: [usize; 2]| {
                std::array::from_fn(|k| if k == a || k == b { 0.5 } else { 0.0 })
            };
            let nodes = (0..4).map(|a| at(unit(a))).chain(EDGES.map(|e| at(middle(e))));
            let nodes = nodes.fold(f64::INFINITY, f64::min);
            let n = 24;
            let mut least = f64::INFINITY;
            for i in 0..=n {
                for j in 0..=n - i {
                    for l in 0..=n - i - j {
                        let w = [i, j, l, n - i - j - l].map(|v| f64::from(v) / f64::from(n));
                        least = least.min(at(w));
                    }
                }
            }
            assert!(least > 0.0 || is_bad(&x));
            assert!(least < 0.02 || !is_bad(&x), "{least}");
            found += usize::from(nodes > 0.0 && least < 0.0);
        }
        assert!(found > 3, "{found}");
    }
}
