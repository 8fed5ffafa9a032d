//! Hessians of nearly parallel edges, one pair per lane: of m(c) b(d²) with the mollifier m, as a whole, in relative
//! coordinates.

use super::{Blocks10, EDGES, Hessians, Row, load, project_some, put, take};
use crate::contact::pairs::Contact;
use crate::contact::potential::RELATIVE_4;
use standoff_geometry::distance::{Expansion, edge_edge, mollifier, point_edge, point_point};
use standoff_linalg::Vec3;
use standoff_linalg::lanes::{LaneVec3, Lanes, MAX_LANES, Width, cross, dot, scaled};

/// The edges u = x₁ − x₀ and v = x₃ − x₂ by the relative coordinates of [`RELATIVE_4`].
const TO_EDGES: [[f64; 3]; 2] = [[0.0, -1.0, -1.0], [0.0, -1.0, 1.0]];

/// What differs from lane to lane, by rows.
struct Table {
    /// u, v, the offset q and two directions t_c in which the closest points slide.
    vectors: [Row; 15],
    /// Relative coordinates of the weights w and of the slopes σ_c.
    numbers: [[Row; 3]; 3],
    /// Derivatives of the barrier by d², of the mollifier by |u × v|², and the value of the mollifier: b, b′, b″, m, m′, m″.
    factors: [Row; 6],
}

/// Fills the Hessians of a batch of mollified pairs.
#[inline(always)]
pub(super) fn pairs<W: Width>(
    width: W,
    all: &mut Hessians<'_>,
    batch: &[usize],
    entries: &mut [Row; 90],
) {
    let mut table = Table {
        vectors: [[0.0; MAX_LANES]; 15],
        numbers: [[[0.0; MAX_LANES]; 3]; 3],
        factors: [[0.0; MAX_LANES]; 6],
    };
    for (lane, &k) in batch.iter().enumerate() {
        fill(&mut table, lane, all, &all.contacts[k]);
    }
    let mut m = relative(width, &table);
    project_some(width, all.projected(batch), &mut m);
    for i in 0..4 {
        block(width, &m, i, i, i, entries);
    }
    for (k, (i, j)) in EDGES.into_iter().enumerate() {
        block(width, &m, i, j, 4 + k, entries);
    }
    for (lane, &k) in batch.iter().enumerate() {
        let out: &mut Blocks10 = &mut all.out[k];
        take(entries, lane, out);
    }
}

/// Writes a pair into its lane. Its closest points lie on both lines, on a line and at a vertex, or at two vertices.
#[inline(always)]
fn fill(table: &mut Table, lane: usize, all: &Hessians<'_>, c: &Contact) {
    let x = c.gather(all.x);
    let Expansion { closest, tangents: [t0, t1], slopes } = match *c.feature.local() {
        [i, j] => spread(&point_point::expansion(&x[i], &x[j]), [i, j]),
        [i, j, k] => spread(&point_edge::expansion(&x[i], &x[j], &x[k]), [i, j, k]),
        _ => edge_edge::expansion(&x[0], &x[1], &x[2], &x[3]),
    };
    let (u, v) = (x[1] - x[0], x[3] - x[2]);
    put(&mut table.vectors, lane, &[u, v, closest.offset, t0, t1]);
    for (to, of_vertices) in table.numbers.iter_mut().zip([closest.weights, slopes[0], slopes[1]]) {
        for k in 0..3 {
            to[k][lane] = (0..4).map(|i| RELATIVE_4[k][i] * of_vertices[i]).sum();
        }
    }
    let b =
        all.potential.matrix_derivatives(closest.d2(), c.weight, c.thickness, c.reach, c.forecast);
    let m = mollifier::scalar(u.cross(&v).norm_squared(), c.eps_x);
    for (row, value) in table.factors.iter_mut().zip(b.into_iter().chain(m)) {
        row[lane] = value;
    }
}

/// The same over four vertices with two directions, of which those that are missing are zero.
#[inline(always)]
fn spread<const N: usize, const K: usize>(
    e: &Expansion<N, K>,
    local: [usize; N],
) -> Expansion<4, 2> {
    let (mut tangents, mut slopes) = ([Vec3::zeros(); 2], [[0.0; 4]; 2]);
    for c in 0..K {
        tangents[c] = e.tangents[c];
        for i in 0..N {
            slopes[c][local[i]] = e.slopes[c][i];
        }
    }
    Expansion { closest: e.closest.scatter(&local), tangents, slopes }
}

/// ∇²(m b) = m (b″ ∇s ∇sᵀ + b′ ∇²s) + m′ b′ (∇c ∇sᵀ + ∇s ∇cᵀ) + b (m″ ∇c ∇cᵀ + m′ ∇²c) with s = d² and c = |u × v|² in
/// relative coordinates, where ∇s = 2 w⊗q and ∇²s = 2 (wwᵀ⊗I − Σ g_c g_cᵀ), g_c = w⊗t_c + σ_c⊗q.
#[inline(always)]
// long: one formula
fn relative<W: Width>(width: W, table: &Table) -> [[Lanes<W>; 9]; 9] {
    let zero = Lanes::splat(width, 0.0);
    let two = Lanes::splat(width, 2.0);
    let [u, v, q, t0, t1]: [LaneVec3<W>; 5] = load(width, &table.vectors);
    let mut numbers = [[zero; 3]; 3];
    for n in 0..3 {
        for k in 0..3 {
            numbers[n][k] = Lanes::load(width, &table.numbers[n][k]);
        }
    }
    let mut factors = [zero; 6];
    for i in 0..6 {
        factors[i] = Lanes::load(width, &table.factors[i]);
    }
    let [b, b1, b2, m, m1, m2] = factors;
    let [w, s0, s1] = numbers;

    // gradient of c, and its second derivatives by u and v
    let n = cross(&u, &v);
    let (gu, gv) = (scaled(&cross(&v, &n), two), scaled(&cross(&n, &u), two));
    let (uu, vv, uv) = (dot(&u, &u), dot(&v, &v), dot(&u, &v));
    let mut second = [[[zero; 3]; 3]; 3];
    for r in 0..3 {
        for s in 0..3 {
            let on = |diagonal: Lanes<W>| if r == s { diagonal } else { zero };
            second[0][r][s] = two * (on(vv) - v[r] * v[s]);
            second[1][r][s] = two * (two * (u[r] * v[s]) - v[r] * u[s] - on(uv));
            second[2][r][s] = two * (on(uu) - u[r] * u[s]);
        }
    }
    // by relative coordinates: ∇s/2, g_c and ∇c
    let (mut ds, mut g0, mut g1, mut dc) = ([zero; 9], [zero; 9], [zero; 9], [zero; 9]);
    for k in 0..3 {
        let (by_u, by_v) =
            (Lanes::splat(width, TO_EDGES[0][k]), Lanes::splat(width, TO_EDGES[1][k]));
        for r in 0..3 {
            ds[3 * k + r] = w[k] * q[r];
            g0[3 * k + r] = w[k] * t0[r] + s0[k] * q[r];
            g1[3 * k + r] = w[k] * t1[r] + s1[k] * q[r];
            dc[3 * k + r] = by_u * gu[r] + by_v * gv[r];
        }
    }
    let (of_ss, of_s) = (two * two * (m * b2), two * (m * b1));
    let (of_cs, of_cc, of_c) = (two * (m1 * b1), b * m2, b * m1);
    let mut h = [[zero; 9]; 9];
    for i in 0..9 {
        for j in 0..=i {
            let (k, l, r, s) = (i / 3, j / 3, i % 3, j % 3);
            let mut sum = of_ss * (ds[i] * ds[j]) - of_s * (g0[i] * g0[j] + g1[i] * g1[j])
                + of_cs * (dc[i] * ds[j] + ds[i] * dc[j])
                + of_cc * (dc[i] * dc[j]);
            if r == s {
                sum = sum + of_s * (w[k] * w[l]);
            }
            let by = |p: usize, o: usize| Lanes::splat(width, TO_EDGES[p][k] * TO_EDGES[o][l]);
            let of_edges = by(0, 0) * second[0][r][s]
                + by(0, 1) * second[1][r][s]
                + by(1, 0) * second[1][s][r]
                + by(1, 1) * second[2][r][s];
            h[i][j] = sum + of_c * of_edges;
            h[j][i] = h[i][j];
        }
    }
    h
}

/// Block (i, j) over the vertices of a matrix in relative coordinates to its 9 rows of `entries`, by columns.
#[inline(always)]
fn block<W: Width>(
    width: W,
    m: &[[Lanes<W>; 9]; 9],
    i: usize,
    j: usize,
    place: usize,
    entries: &mut [Row; 90],
) {
    for r in 0..3 {
        for s in 0..3 {
            let mut sum = Lanes::splat(width, 0.0);
            for k in 0..3 {
                for l in 0..3 {
                    let factor = Lanes::splat(width, RELATIVE_4[k][i] * RELATIVE_4[l][j]);
                    sum = sum + factor * m[3 * k + r][3 * l + s];
                }
            }
            sum.store(&mut entries[9 * place + 3 * s + r]);
        }
    }
}
