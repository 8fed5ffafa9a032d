//! Projected Hessians of point–triangle and edge–edge pairs several at once, one pair per lane: the fast
//! twin of [`BarrierPotential::hessian_psd`], where the mathematics is explained.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be
//! used.

// long: one formula, from the gathered positions to the scattered blocks, and its tests

mod mollified;

use super::pairs::Contact;
use super::potential::{BarrierPotential, RELATIVE_4};
use crate::energy::Projection;
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_geometry::distance::EdgeEdgeFeature;
use standoff_linalg::lanes::{Kernel, LaneVec3, Lanes, MAX_LANES, Width, cross, dot, scaled, sub};
use standoff_linalg::{Mat3, Vec3, lanes};
use standoff_sparse::pack;

/// Contacts that one task turns into Hessians.
const BATCH: usize = 64;

impl BarrierPotential {
    /// Fills `out` with the stored blocks of pairs in the Newton matrix at positions `x` (`#V`), in order and several at once:
    /// [`hessian_psd`](Self::hessian_psd) where `projection` applies, else [`stiffened_hessian`](Self::stiffened_hessian).
    pub fn hessians(
        &self,
        contacts: &[Contact],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let (out, _) = out.as_chunks_mut();
        contacts.par_chunks(BATCH).zip(out.par_chunks_mut(BATCH)).for_each(|(contacts, out)| {
            lanes::dispatch(Hessians { potential: self, contacts, x, projection, out });
        });
    }
}

/// Fills `out` with the Hessians of pairs at positions `x[vertices]`, projected or not.
struct Hessians<'a> {
    pub potential: &'a BarrierPotential,
    pub contacts: &'a [Contact],
    pub x: &'a [Vec3],
    pub projection: Projection<'a>,
    pub out: &'a mut [Blocks10],
}

/// The stored blocks of a Hessian over four vertices.
type Blocks10 = [Mat3; 10];

/// The vertices of the blocks off the diagonal, in order.
const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// One number per lane, in memory.
type Row = [f64; MAX_LANES];

/// Size of the matrix that is projected: two tangents and three relative coordinates.
const M: usize = 5;

impl Kernel for Hessians<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(mut self, width: W) {
        // what is rare goes one by one
        let mut entries: [Row; 90] = [[0.0; MAX_LANES]; 90];
        let (mut batch, mut count) = ([0; MAX_LANES], 0);
        for k in 0..self.contacts.len() {
            let c = &self.contacts[k];
            let x = c.gather(self.x);
            if c.is_mollified(&x) {
                batch[count] = k;
                count += 1;
                if count == W::F64_LANES {
                    mollified::pairs(width, &mut self, &batch[..count], &mut entries);
                    count = 0;
                }
            } else if !in_lanes(c, &x) {
                let project = self.projection.applies_to(&c.vertices);
                pack(&self.potential.block(c, &x, project), &mut self.out[k]);
            }
        }
        if count > 0 {
            mollified::pairs(width, &mut self, &batch[..count], &mut entries);
        }
        for kind in [PairKind::EdgeEdge, PairKind::FaceVertex] {
            let mut batch = [0; MAX_LANES];
            let mut filled = 0;
            for k in 0..=self.contacts.len() {
                if let Some(c) = self.contacts.get(k)
                    && c.kind == kind
                    && in_lanes(c, &c.gather(self.x))
                {
                    batch[filled] = k;
                    filled += 1;
                }
                if filled == W::F64_LANES || k == self.contacts.len() && filled > 0 {
                    pairs(width, &mut self, kind, &batch[..filled], &mut entries);
                    filled = 0;
                }
            }
        }
    }
}

/// Whether a pair is one of the frequent ones.
#[inline]
fn in_lanes(c: &Contact, x: &[Vec3; 4]) -> bool {
    match c.kind {
        PairKind::FaceVertex => true,
        PairKind::EdgeEdge => c.feature == EdgeEdgeFeature::AB && !c.is_mollified(x),
        PairKind::VertexVertex | PairKind::EdgeVertex => false,
    }
}

/// Closest points of each lane's pair and the directions in which they slide.
struct Frame<W: Width> {
    weights: [Lanes<W>; 4],
    offset: LaneVec3<W>,
    /// Orthonormal tangents t_c.
    tangents: [LaneVec3<W>; 2],
    /// σ_c.
    slopes: [[Lanes<W>; 4]; 2],
}

#[inline(always)]
// long: gathers, computes and scatters one batch
fn pairs<W: Width>(
    width: W,
    all: &mut Hessians<'_>,
    kind: PairKind,
    batch: &[usize],
    entries: &mut [Row; 90],
) {
    let mut corners: [Row; 12] = [[0.0; MAX_LANES]; 12];
    for (lane, &k) in batch.iter().enumerate() {
        put(&mut corners, lane, &all.contacts[k].gather(all.x));
    }
    let x: [LaneVec3<W>; 4] = load(width, &corners);
    let frame = match kind {
        PairKind::EdgeEdge => edge_edge(width, &x),
        _ => point_triangle(width, &x),
    };
    let d2 = dot(&frame.offset, &frame.offset);

    // the barrier, lane by lane
    let distances = d2.to_array();
    let (mut a, mut b): (Row, Row) = ([0.0; MAX_LANES], [0.0; MAX_LANES]);
    for (lane, &k) in batch.iter().enumerate() {
        let c = &all.contacts[k];
        let [_, b1, b2] = all.potential.matrix_derivatives(
            distances[lane],
            c.weight,
            c.thickness,
            c.reach,
            c.forecast,
        );
        (a[lane], b[lane]) = (4.0 * b2, 2.0 * b1);
    }
    let (a, b) = (Lanes::load(width, &a), Lanes::load(width, &b));
    hessians(width, &frame, d2, a, b, all.projected(batch), entries);

    for (lane, &k) in batch.iter().enumerate() {
        match distances[lane] {
            0.0 => all.out[k] = [Mat3::zeros(); 10],
            _ => take(entries, lane, &mut all.out[k]),
        }
    }
}

/// Writes one lane's vectors.
#[inline(always)]
fn put<const N: usize, const R: usize>(rows: &mut [Row; R], lane: usize, vectors: &[Vec3; N]) {
    for a in 0..N {
        for i in 0..3 {
            rows[3 * a + i][lane] = vectors[a][i];
        }
    }
}

/// The vectors of all lanes.
#[inline(always)]
fn load<W: Width, const N: usize, const R: usize>(width: W, rows: &[Row; R]) -> [LaneVec3<W>; N] {
    let mut out = [[Lanes::splat(width, 0.0); 3]; N];
    for a in 0..N {
        for i in 0..3 {
            out[a][i] = Lanes::load(width, &rows[3 * a + i]);
        }
    }
    out
}

/// Reads one lane's blocks.
#[inline(always)]
fn take(entries: &[Row; 90], lane: usize, out: &mut Blocks10) {
    for (block, entries) in out.iter_mut().zip(entries.chunks_exact(9)) {
        for (to, from) in block.as_mut_slice().iter_mut().zip(entries) {
            *to = from[lane];
        }
    }
}

#[inline(always)]
fn negated<W: Width>(a: &LaneVec3<W>) -> LaneVec3<W> {
    [-a[0], -a[1], -a[2]]
}

/// As [`standoff_geometry::distance::point_triangle::expansion`].
#[inline(always)]
fn point_triangle<W: Width>(width: W, x: &[LaneVec3<W>; 4]) -> Frame<W> {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let (e1, e2, r) = (sub(&x[2], &x[1]), sub(&x[3], &x[1]), sub(&x[0], &x[1]));
    let n = cross(&e1, &e2);
    let n2 = dot(&n, &n);
    let b1 = dot(&cross(&r, &e2), &n) / n2;
    let b2 = dot(&cross(&e1, &r), &n) / n2;
    let rough = sub(&sub(&r, &scaled(&e1, b1)), &scaled(&e2, b2));
    let offset = scaled(&n, dot(&n, &rough) / n2);
    let weights = [one, b1 + b2 - one, -b1, -b2];
    let (a, b) = (negated(&e1), negated(&e2));
    chart(&a, &b, &n, weights, offset, [zero, one, -one, zero], [zero, one, zero, -one])
}

/// As [`standoff_geometry::distance::edge_edge::expansion`].
#[inline(always)]
fn edge_edge<W: Width>(width: W, x: &[LaneVec3<W>; 4]) -> Frame<W> {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let (u, v, w) = (sub(&x[1], &x[0]), sub(&x[3], &x[2]), sub(&x[0], &x[2]));
    let n = cross(&u, &v);
    let n2 = dot(&n, &n);
    let alpha = -dot(&cross(&w, &v), &n) / n2;
    let beta = (dot(&u, &v) * alpha + dot(&v, &w)) / dot(&v, &v);
    let rough = sub(&sub(&w, &scaled(&u, -alpha)), &scaled(&v, beta));
    let offset = scaled(&n, dot(&n, &rough) / n2);
    let weights = [one - alpha, alpha, beta - one, -beta];
    let b = negated(&v);
    chart(&u, &b, &negated(&n), weights, offset, [-one, one, zero, zero], [zero, zero, one, -one])
}

/// The QR factorisation [a b] = [t₀ t₁] R; σ = s R⁻¹; n = a × b.
#[inline(always)]
fn chart<W: Width>(
    a: &LaneVec3<W>,
    b: &LaneVec3<W>,
    n: &LaneVec3<W>,
    weights: [Lanes<W>; 4],
    offset: LaneVec3<W>,
    s_a: [Lanes<W>; 4],
    s_b: [Lanes<W>; 4],
) -> Frame<W> {
    let r00 = dot(a, a).sqrt();
    let t0 = [a[0] / r00, a[1] / r00, a[2] / r00];
    let length = dot(n, n).sqrt();
    let t1 = cross(&[n[0] / length, n[1] / length, n[2] / length], &t0);
    let (r01, r11) = (dot(&t0, b), dot(&t1, b));
    let mut slopes = [s_a, s_b];
    for i in 0..4 {
        slopes[0][i] = s_a[i] / r00;
        slopes[1][i] = (s_b[i] - r01 * slopes[0][i]) / r11;
    }
    Frame { weights, offset, tangents: [t0, t1], slopes }
}

impl Hessians<'_> {
    /// Whether the Hessian of each pair of a batch is projected.
    #[inline(always)]
    fn projected(&self, batch: &[usize]) -> [bool; MAX_LANES] {
        let mut out = [false; MAX_LANES];
        for (out, &k) in out.iter_mut().zip(batch) {
            *out = self.projection.applies_to(&self.contacts[k].vertices);
        }
        out
    }
}

/// Projects the matrices of some lanes.
#[inline(always)]
fn project_some<W: Width, const N: usize>(
    width: W,
    project: [bool; MAX_LANES],
    m: &mut [[Lanes<W>; N]; N],
) {
    if project == [false; MAX_LANES] {
        return;
    }
    let original = *m;
    lanes::project_psd(width, m);
    let as_it_is = Lanes::load(width, &project.map(f64::from)).le(Lanes::splat(width, 0.0));
    for i in 0..N {
        for j in 0..N {
            m[i][j] = as_it_is.select(original[i][j], m[i][j]);
        }
    }
}

/// a (w⊗q)(w⊗q)ᵀ + b [wwᵀ⊗I − Σ g_c g_cᵀ], projected or not, as entries: 9 for each block.
#[inline(always)]
// long: one formula, as in the scalar twin
fn hessians<W: Width>(
    width: W,
    frame: &Frame<W>,
    d2: Lanes<W>,
    a: Lanes<W>,
    b: Lanes<W>,
    project: [bool; MAX_LANES],
    entries: &mut [Row; 90],
) {
    let zero = Lanes::splat(width, 0.0);
    let w = &frame.weights;
    let d = d2.sqrt();
    let q = &frame.offset;
    let normal = [q[0] / d, q[1] / d, q[2] / d];
    let norm = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]).sqrt();
    let unit = [w[0] / norm, w[1] / norm, w[2] / norm, w[3] / norm];

    // the small matrix, in the basis (unit⊗t_c, h_k⊗q̂)
    let mut w_rel = [zero; 3];
    let mut slopes = [[zero; 3]; 2];
    for k in 0..3 {
        w_rel[k] = relative(width, w, k);
        for c in 0..2 {
            slopes[c][k] = d * relative(width, &frame.slopes[c], k);
        }
    }
    let along = a * d2 + b;
    let mut m = [[zero; M]; M];
    for k in 0..3 {
        for c in 0..2 {
            m[c][2 + k] = -(b * norm * slopes[c][k]);
            m[2 + k][c] = m[c][2 + k];
        }
        for l in 0..3 {
            let squares = slopes[0][k] * slopes[0][l] + slopes[1][k] * slopes[1][l];
            m[2 + k][2 + l] = along * w_rel[k] * w_rel[l] - b * squares;
        }
    }
    project_some(width, project, &mut m);

    // back: H_ij = û_i û_j S + (û_i r_j + β_ij q̂) q̂ᵀ + û_j q̂ r_iᵀ
    let t = &frame.tangents;
    let mut tangential = [[zero; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let from =
                [t[0][i] * m[0][0] + t[1][i] * m[1][0], t[0][i] * m[0][1] + t[1][i] * m[1][1]];
            tangential[j][i] = from[0] * t[0][j] + from[1] * t[1][j];
        }
    }
    let mut mixed = [[zero; 3]; 4];
    let mut beta = [[zero; 4]; 4];
    for j in 0..4 {
        let h = [0, 1, 2].map(|k| Lanes::splat(width, RELATIVE_4[k][j]));
        let mut from = [zero; 3];
        for k in 0..3 {
            from[k] = m[2 + k][2] * h[0] + m[2 + k][3] * h[1] + m[2 + k][4] * h[2];
        }
        for i in 0..4 {
            beta[i][j] = relative_back(width, &from, i);
        }
        let alpha0 = m[0][2] * h[0] + m[0][3] * h[1] + m[0][4] * h[2];
        let alpha1 = m[1][2] * h[0] + m[1][3] * h[1] + m[1][4] * h[2];
        for i in 0..3 {
            mixed[j][i] = t[0][i] * alpha0 + t[1][i] * alpha1;
        }
    }
    for i in 0..4 {
        block(&unit, &mixed, &beta, &tangential, &normal, i, i, i, entries);
    }
    for (k, (i, j)) in EDGES.into_iter().enumerate() {
        block(&unit, &mixed, &beta, &tangential, &normal, i, j, 4 + k, entries);
    }
}

/// Block (i, j) to its 9 rows of `entries`, by columns.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn block<W: Width>(
    unit: &[Lanes<W>; 4],
    mixed: &[LaneVec3<W>; 4],
    beta: &[[Lanes<W>; 4]; 4],
    tangential: &[[Lanes<W>; 3]; 3],
    normal: &LaneVec3<W>,
    i: usize,
    j: usize,
    place: usize,
    entries: &mut [Row; 90],
) {
    let both = unit[i] * unit[j];
    for r in 0..3 {
        let column = mixed[j][r] * unit[i] + normal[r] * beta[i][j];
        for s in 0..3 {
            let value =
                tangential[s][r] * both + column * normal[s] + normal[r] * (mixed[i][s] * unit[j]);
            value.store(&mut entries[9 * place + 3 * s + r]);
        }
    }
}

/// Relative coordinate k of a vector over the vertices.
#[inline(always)]
fn relative<W: Width>(width: W, v: &[Lanes<W>; 4], k: usize) -> Lanes<W> {
    let h = &RELATIVE_4[k];
    v[0] * Lanes::splat(width, h[0])
        + v[1] * Lanes::splat(width, h[1])
        + v[2] * Lanes::splat(width, h[2])
        + v[3] * Lanes::splat(width, h[3])
}

/// Vertex i's entry of the vector with relative coordinates `v`.
#[inline(always)]
fn relative_back<W: Width>(width: W, v: &[Lanes<W>; 3], i: usize) -> Lanes<W> {
    v[0] * Lanes::splat(width, RELATIVE_4[0][i])
        + v[1] * Lanes::splat(width, RELATIVE_4[1][i])
        + v[2] * Lanes::splat(width, RELATIVE_4[2][i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Barrier;
    use crate::energy::lanes::tests::assert_same_bits;
    use standoff_geometry::distance::edge_edge;
    use standoff_linalg::lanes;
    use standoff_testkit::Random;

    /// Pairs of all kinds at distances from 1e-9 to 1 d̂, some of them mollified, reduced, nearly
    /// parallel or of very different sizes.
    // long: an arm for each kind of pair
    fn pairs() -> (Vec<Contact>, Vec<Vec3>, BarrierPotential) {
        let r = &mut Random::new(3);
        let (mut contacts, mut x) = (Vec::new(), Vec::new());
        let d_hat = 0.1;
        let barrier = Barrier::ClampedLog;
        let potential =
            BarrierPotential { barrier, d_hat, kappa: 1e4, physical: false, even: true };
        for k in 0..400 {
            let gap = d_hat * 10f64.powi(-(k % 10)) * (0.6 + 0.15 * r.signed());
            let mut p: [Vec3; 4] = std::array::from_fn(|_| {
                Vec3::new(r.signed(), r.signed(), 0.0) * if k % 3 == 0 { 0.005 } else { 0.5 }
            });
            let kind = [
                PairKind::FaceVertex,
                PairKind::EdgeEdge,
                PairKind::EdgeVertex,
                PairKind::VertexVertex,
            ][(k % 7).min(3) as usize];
            match kind {
                PairKind::EdgeEdge => {
                    p[1] = -p[0] + Vec3::x() * 0.15 * r.signed();
                    p[3] = -p[2] + Vec3::y() * 0.15 * r.signed();
                    if k % 5 == 0 {
                        // side by side, or end to end
                        let along = p[1] - p[0];
                        p[2] = p[0] + along * if k % 2 == 0 { 1.02 } else { r.signed() };
                        p[3] = p[2] + along + Vec3::new(r.signed(), r.signed(), 0.0) * 5e-4;
                    }
                    p[2].z += gap;
                    p[3].z += gap;
                }
                PairKind::FaceVertex => {
                    p[0] = (p[1] + p[2] + p[3]) / 3.0;
                    p[0].z = gap;
                }
                _ => {
                    p[0].z = gap;
                    p[1] = Vec3::new(p[0].x, p[0].y, 0.0);
                }
            }
            let turn = r.vec3();
            let turn = standoff_linalg::nalgebra::Rotation3::new(turn * 3.0);
            let first = x.len() as u32;
            x.extend(p.iter().map(|p| turn * p));
            let used = [4, 4, 3, 2][(k % 7).min(3) as usize];
            let vertices =
                std::array::from_fn(|a| if a < used { first + a as u32 } else { u32::MAX });
            let eps_x = if kind == PairKind::EdgeEdge { 1e-7 } else { 0.0 };
            let feature = match kind == PairKind::EdgeEdge && k % 5 == 0 {
                true => edge_edge::feature(&p[0], &p[1], &p[2], &p[3]),
                false => EdgeEdgeFeature::AB,
            };
            let thickness = if k % 4 == 0 { 0.1 * gap } else { 0.0 };
            // forces above and below the barrier's
            let forecast = [0.0, 1e-3, 1.0, 1e6][k as usize % 4];
            let weight = 2.0;
            let reach = [1.0, 0.7][k as usize % 2];
            contacts.push(Contact {
                vertices,
                kind,
                feature,
                weight,
                thickness,
                reach,
                eps_x,
                forecast,
            });
        }
        (contacts, x, potential)
    }

    fn run(
        (contacts, x, potential): &(Vec<Contact>, Vec<Vec3>, BarrierPotential),
        from: usize,
        wide: bool,
    ) -> Vec<Blocks10> {
        let contacts = &contacts[from..];
        let mut out = vec![[Mat3::zeros(); 10]; contacts.len()];
        // every second contact
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 8 == 3).collect();
        let projection = Projection::Marked(&marked);
        let kernel = Hessians { potential, contacts, x, projection, out: &mut out };
        if wide {
            lanes::dispatch(kernel)
        } else {
            lanes::scalar(kernel)
        };
        out
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let pairs = pairs();
        assert_same_bits(400, |first, wide| run(&pairs, first, wide));
    }

    #[test]
    fn agrees_with_one_pair_at_a_time() {
        let pairs = pairs();
        let (contacts, x, potential) = &pairs;
        let mut in_lanes = 0;
        let mut mollified = std::collections::BTreeSet::new();
        for (c, found) in contacts.iter().zip(run(&pairs, 0, true)) {
            let x = c.gather(x);
            in_lanes += usize::from(super::in_lanes(c, &x));
            if c.is_mollified(&x) {
                mollified.insert(c.feature.local().len());
            }
            let mut want = [Mat3::zeros(); 10];
            let h = match c.vertices.iter().any(|v| v % 8 == 3) {
                true => potential.hessian_psd(c, &x),
                false => potential.stiffened_hessian(c, &x),
            };
            pack(&h, &mut want);
            let size = want.iter().map(|b| b.norm()).fold(0.0, f64::max);
            assert!(size > 0.0, "{c:?} is not active");
            for (found, want) in found.iter().zip(&want) {
                assert!((found - want).norm() <= 1e-11 * size, "{c:?}: {found} {want}");
            }
        }
        assert!(in_lanes > 80 && in_lanes < contacts.len() - 80);
        assert_eq!(
            mollified.into_iter().collect::<Vec<_>>(),
            [2, 3, 4],
            "vertices that are closest"
        );
    }
}
