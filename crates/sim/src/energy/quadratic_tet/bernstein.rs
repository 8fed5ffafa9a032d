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

/// Bound of the relative rounding error of a product of three differences of control points, of which each is a sum of four terms: 16
/// roundings of ε/2, doubled.
const PRODUCT_ERROR: f64 = 16.0 * f64::EPSILON;

/// The columns of ∂x/∂ξ at the four corners, and the sums of the magnitudes of what they are made of.
struct Columns {
    /// Column j at corner i at `[j][i]`, m.
    d: [[Vec3; 4]; 3],
    size: [[f64; 4]; 3],
}

impl Columns {
    fn new(x: &[Vec3; NODES]) -> Self {
        let y = x.map(|p| p - x[0]);
        let mut control = [[Vec3::zeros(); 4]; 4];
        let mut magnitude = [[0.0; 4]; 4];
        for a in 0..4 {
            control[a][a] = y[a];
            magnitude[a][a] = y[a].abs().sum();
        }
        for (e, [a, b]) in EDGES.into_iter().enumerate() {
            let middle = y[4 + e];
            control[a][b] = middle * 2.0 - (y[a] + y[b]) * 0.5;
            magnitude[a][b] =
                2.0 * middle.abs().sum() + 0.5 * (y[a].abs().sum() + y[b].abs().sum());
            (control[b][a], magnitude[b][a]) = (control[a][b], magnitude[a][b]);
        }
        let column = |j: usize, i: usize| (control[i][j + 1] - control[i][0]) * 2.0;
        let size = |j: usize, i: usize| 2.0 * (magnitude[i][j + 1] + magnitude[i][0]);
        let all = |j: usize| std::array::from_fn(|i| column(j, i));
        let sizes = |j: usize| std::array::from_fn(|i| size(j, i));
        Self { d: std::array::from_fn(all), size: std::array::from_fn(sizes) }
    }
}

/// How many coefficients there are.
pub(super) const COEFFICIENTS: usize = 20;

/// The coefficient to which each product of columns at corners i, k, l belongs, and how many products each coefficient has.
pub(super) static PLACES: LazyLock<([[[usize; 4]; 4]; 4], [f64; COEFFICIENTS])> =
    LazyLock::new(|| {
        let (mut sorted, mut places) = (Vec::new(), [[[0; 4]; 4]; 4]);
        let mut counts = [0.0; COEFFICIENTS];
        for (i, places) in places.iter_mut().enumerate() {
            for (k, places) in places.iter_mut().enumerate() {
                for (l, place) in places.iter_mut().enumerate() {
                    let mut key = [i, k, l];
                    key.sort_unstable();
                    *place = sorted.iter().position(|s| *s == key).unwrap_or(sorted.len());
                    if *place == sorted.len() {
                        sorted.push(key);
                    }
                    counts[*place] += 1.0;
                }
            }
        }
        (places, counts)
    });

/// Coefficients of the cubics in t and bounds of their rounding errors, for all Bernstein coefficients, m³.
fn coefficients(x: &Columns, dx: &Columns) -> [([f64; 4], [f64; 4]); COEFFICIENTS] {
    let (places, counts) = &*PLACES;
    let mut all = [([0.0; 4], [0.0; 4]); COEFFICIENTS];
    for k in 0..4 {
        for l in 0..4 {
            // det[a + tp, b + tq, c + tr]
            let ([b, c], [q, r]) = ([x.d[1][k], x.d[2][l]], [dx.d[1][k], dx.d[2][l]]);
            let (bc, qr, mixed) = (b.cross(&c), q.cross(&r), q.cross(&c) + b.cross(&r));
            let ([bs, cs], [qs, rs]) =
                ([x.size[1][k], x.size[2][l]], [dx.size[1][k], dx.size[2][l]]);
            let (bcs, qrs, mixeds) = (bs * cs, qs * rs, qs * cs + bs * rs);
            for i in 0..4 {
                let (a, p) = (x.d[0][i], dx.d[0][i]);
                let (s, ps) = (x.size[0][i], dx.size[0][i]);
                let (c, error) = &mut all[places[i][k][l]];
                c[0] += a.dot(&bc);
                c[1] += p.dot(&bc) + a.dot(&mixed);
                c[2] += p.dot(&mixed) + a.dot(&qr);
                c[3] += p.dot(&qr);
                error[0] += s * bcs;
                error[1] += ps * bcs + s * mixeds;
                error[2] += ps * mixeds + s * qrs;
                error[3] += ps * qrs;
            }
        }
    }
    for ((c, error), count) in all.iter_mut().zip(counts) {
        c.iter_mut().for_each(|c| *c /= count);
        error.iter_mut().for_each(|e| *e *= PRODUCT_ERROR / count);
    }
    all
}

/// See [`super::QuadraticTet::max_step`].
pub(super) fn max_step(x: &[Vec3; NODES], dx: &[Vec3; NODES], keep: f64) -> f64 {
    let keeping = |(mut c, error): ([f64; 4], [f64; 4])| {
        // written so that what is not a number is no step
        if c[0] > error[0] {
            c[0] -= keep * c[0];
            Cubic::with_error(c, error).first_root()
        } else {
            0.0
        }
    };
    coefficients(&Columns::new(x), &Columns::new(dx)).into_iter().map(keeping).fold(1.0, f64::min)
}

/// Whether all coefficients are positive, whatever rounding did.
pub(super) fn is_positive(x: &[Vec3; NODES]) -> bool {
    max_step(x, &[Vec3::zeros(); NODES], 0.0) == 1.0
}
