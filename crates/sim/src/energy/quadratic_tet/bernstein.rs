//! Bernstein coefficients of the volume of a quadratic tetrahedron, and along which step they stay positive.
//!
//! det ∂x/∂ξ is a polynomial of degree three in the barycentric coordinates. It lies between its least and its greatest coefficient in
//! Bernstein's basis [Johnen 2013], of which there are twenty: means of determinants of differences of control points. So an element
//! whose coefficients are positive is not inverted anywhere. Along x + t dx each coefficient is a cubic in t, whose first root is
//! bounded as that of the volume of a linear element (`tet/step.rs`).

use super::{EDGES, NODES};
use crate::energy::tet::step::Cubic;
use standoff_linalg::Vec3;
use std::sync::LazyLock;

/// How many coefficients there are.
pub(super) const COEFFICIENTS: usize = 20;

/// The columns of ∂x/∂ξ at the four corners: column j at corner i has the number 4 j + i.
pub(super) const COLUMNS: usize = 12;

/// Bound of the relative rounding error of a product of three columns, of which each is a sum of eight terms: 32 roundings of ε/2,
/// doubled.
const PRODUCT_ERROR: f64 = 32.0 * f64::EPSILON;

/// Ten times the volume, in terms of the cube of an element's size, from which on the audit proves that it is positive (`audit/curved.rs`): what
/// is left of it after a step is provable, too.
const PROVABLE: f64 = 1e5 * f64::EPSILON;

/// The weights of the nodes in each column.
pub(super) static WEIGHTS: LazyLock<[[f64; NODES]; COLUMNS]> = LazyLock::new(|| {
    let mut weights = [[0.0; NODES]; COLUMNS];
    for n in 0..NODES {
        let mut x = [Vec3::zeros(); NODES];
        x[n].x = 1.0;
        for (row, column) in weights.iter_mut().zip(columns(&x)) {
            row[n] = column.x;
        }
    }
    weights
});

/// The triples of columns of which each coefficient is the mean of determinants: that of λ_i λ_k λ_l has columns 0, 1, 2 at corners i, k, l in any
/// order.
pub(super) static TRIPLES: LazyLock<[Vec<[usize; 3]>; COEFFICIENTS]> = LazyLock::new(|| {
    let (mut keys, mut all) = (Vec::new(), [const { Vec::new() }; COEFFICIENTS]);
    for (i, k, l) in (0..64).map(|t| (t / 16, t / 4 % 4, t % 4)) {
        let mut key = [i, k, l];
        key.sort_unstable();
        let place = keys.iter().position(|other| *other == key).unwrap_or(keys.len());
        if place == keys.len() {
            keys.push(key);
        }
        all[place].push([i, 4 + k, 8 + l]);
    }
    all
});

/// Control points p_ii = x_i and p_ij, which `between` makes of the node in the middle of edge ij and its ends.
fn control<T: Copy>(x: [T; NODES], between: impl Fn(T, T, T) -> T) -> [[T; 4]; 4] {
    let mut control = [0, 1, 2, 3].map(|a| [x[a]; 4]);
    for (e, [a, b]) in EDGES.into_iter().enumerate() {
        control[a][b] = between(x[4 + e], x[a], x[b]);
        control[b][a] = control[a][b];
    }
    control
}

/// The columns at nodes `x`: 2 (p_ij − p_i0) with p_ij = 2 m_ij − (x_i + x_j)/2, where m_ij is the node in the middle of edge ij.
pub(super) fn columns(x: &[Vec3; NODES]) -> [Vec3; COLUMNS] {
    // relative to a node: these are differences, and so have less rounding
    let p = control(x.map(|p| p - x[0]), |m, a, b| m * 2.0 - (a + b) * 0.5);
    std::array::from_fn(|k| (p[k % 4][k / 4 + 1] - p[k % 4][0]) * 2.0)
}

/// Sums of the magnitudes of what the columns are made of, to which their rounding is relative.
fn sizes(x: &[Vec3; NODES]) -> [f64; COLUMNS] {
    let p = control(x.map(|p| (p - x[0]).abs().sum()), |m, a, b| m * 2.0 + (a + b) * 0.5);
    std::array::from_fn(|k| (p[k % 4][k / 4 + 1] + p[k % 4][0]) * 2.0)
}

/// The coefficients from the columns, m³.
pub(super) fn coefficients(d: &[Vec3; COLUMNS]) -> [f64; COEFFICIENTS] {
    let crosses: [Vec3; 16] = std::array::from_fn(|k| d[4 + k / 4].cross(&d[8 + k % 4]));
    let mut out = [0.0; COEFFICIENTS];
    for (out, triples) in out.iter_mut().zip(&*TRIPLES) {
        let sum: f64 = triples.iter().map(|t| d[t[0]].dot(&crosses[pair(t)])).sum();
        *out = sum / triples.len() as f64;
    }
    out
}

/// The number of a triple's second and third column among the sixteen pairs of columns 1 and 2.
fn pair([_, b, c]: &[usize; 3]) -> usize {
    4 * (b - 4) + (c - 8)
}

/// See [`super::QuadraticTet::max_step`].
pub(super) fn max_step(x: &[Vec3; NODES], dx: &[Vec3; NODES], keep: f64) -> f64 {
    let [d, p] = [x, dx].map(columns);
    let [size, move_size] = [x, dx].map(sizes);
    // det[a + tp, b + tq, c + tr]: b × c, b × r + q × c and q × r, and bounds of their sizes
    let crosses: [[Vec3; 3]; 16] = std::array::from_fn(|k| {
        let (b, c) = (4 + k / 4, 8 + k % 4);
        [d[b].cross(&d[c]), d[b].cross(&p[c]) + p[b].cross(&d[c]), p[b].cross(&p[c])]
    });
    let sizes: [[f64; 3]; 16] = std::array::from_fn(|k| {
        let (b, c) = (4 + k / 4, 8 + k % 4);
        let mixed = size[b] * move_size[c] + move_size[b] * size[c];
        [size[b] * size[c], mixed, move_size[b] * move_size[c]]
    });
    let width = x.iter().map(|n| (n - x[0]).amax()).fold(0.0, f64::max);
    let provable = PROVABLE * width.powi(3);
    let mut least = 1.0_f64;
    for triples in &*TRIPLES {
        let (mut c, mut error) = ([0.0; 4], [0.0; 4]);
        for triple in triples {
            let (a, k) = (triple[0], pair(triple));
            for m in 0..3 {
                c[m] += d[a].dot(&crosses[k][m]);
                c[m + 1] += p[a].dot(&crosses[k][m]);
                error[m] += PRODUCT_ERROR * size[a] * sizes[k][m];
                error[m + 1] += PRODUCT_ERROR * move_size[a] * sizes[k][m];
            }
        }
        let floor = provable * triples.len() as f64;
        // not a number is no step
        if c[0].is_nan() || c[0] <= error[0].max(floor) {
            return 0.0;
        }
        c[0] -= keep * c[0];
        error[0] = error[0].max((1.0 - keep) * floor);
        least = least.min(Cubic::new(c, error).first_root());
    }
    least
}

/// Whether all coefficients are positive, whatever rounding did.
pub(super) fn is_positive(x: &[Vec3; NODES]) -> bool {
    max_step(x, &[Vec3::zeros(); NODES], 0.0) == 1.0
}
