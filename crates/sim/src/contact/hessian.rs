//! Hessians of the barrier energy of pairs: their formulas, for one pair with plain numbers and for several at once, one per lane
//! ([`super::batch`]).

// long: the Hessian of one energy, for pairs with and without a mollifier

use super::pairs::Contact;
use super::potential::{BarrierPotential, Blocks};
use crate::energy::Projection;
use standoff_geometry::PairKind;
use standoff_geometry::distance::{
    Chart, Expansion, edge_edge, mollifier, point_edge, point_point, point_triangle,
    scatter_hessian,
};
use standoff_linalg::{M3, Mat3, Real, V3, Vec3, clamp_eigenvalues};
use std::f64::consts::FRAC_1_SQRT_2;

/// Orthonormal bases of the vectors of sum zero in R², R³ and R⁴: relative coordinates.
pub(super) const RELATIVE_2: [[f64; 2]; 1] = [[FRAC_1_SQRT_2, -FRAC_1_SQRT_2]];
pub(super) const RELATIVE_3: [[f64; 3]; 2] =
    [[2.0 * FRAC_1_SQRT_6, -FRAC_1_SQRT_6, -FRAC_1_SQRT_6], [0.0, FRAC_1_SQRT_2, -FRAC_1_SQRT_2]];
pub(super) const RELATIVE_4: [[f64; 4]; 3] =
    [[0.5, 0.5, -0.5, -0.5], [0.5, -0.5, 0.5, -0.5], [0.5, -0.5, -0.5, 0.5]];
const FRAC_1_SQRT_6: f64 = 0.408_248_290_463_863;

/// The edges u = x₁ − x₀ and v = x₃ − x₂ by the relative coordinates of [`RELATIVE_4`].
const TO_EDGES: [[f64; 3]; 2] = [[0.0, -1.0, -1.0], [0.0, -1.0, 1.0]];

impl BarrierPotential {
    /// Hessian of the energy of a pair, N/m, as it is (indefinite).
    pub fn hessian(&self, c: &Contact, x: &[Vec3; 4]) -> Blocks {
        self.stiffened_hessian(&Contact { forecast: 0.0, ..*c }, x)
    }

    /// The block of a pair in the Newton matrix, N/m: its Hessian, stiffened by the forecast of the force, with negative eigenvalues
    /// set to zero.
    pub fn hessian_psd(&self, c: &Contact, x: &[Vec3; 4]) -> Blocks {
        self.block(c, x, Projection::All)
    }

    /// The part ∂²b/∂d² ∇d∇dᵀ of the block of a pair, N/m [Li 2020, §4.3]: as if the directions from which and to which the pair
    /// presses, and the mollifier of nearly parallel edges, were constant. It is positive semidefinite.
    pub fn hessian_gauss_newton(&self, c: &Contact, x: &[Vec3; 4]) -> Blocks {
        self.block(c, x, Projection::GaussNewton)
    }

    /// The block of a pair in a Newton matrix that is not projected, N/m: its Hessian, stiffened by the forecast of the force.
    pub fn stiffened_hessian(&self, c: &Contact, x: &[Vec3; 4]) -> Blocks {
        self.block(c, x, Projection::NONE)
    }

    /// The block of a pair in the Newton matrix.
    pub(super) fn block(&self, c: &Contact, x: &[Vec3; 4], projection: Projection<'_>) -> Blocks {
        let project = projection.applies_to(&c.vertices);
        if c.is_mollified(x) {
            let mut m = Mollified::new(self, c, x, projection).relative();
            project_some(project, &mut m);
            let mut h = [[Mat3::zeros(); 4]; 4];
            for i in 0..4 {
                for j in 0..4 {
                    h[i][j] = relative_block(&m, i, j).into();
                }
            }
            return h;
        }
        let [a, b] = self.factors(c, c.d2(x), projection);
        match c.kind {
            PairKind::VertexVertex => {
                let e = point_point::expansion(&x[0], &x[1]);
                let h = distance_block::<2, 0, 1, 1>(&e, &RELATIVE_2, a, b, project);
                scatter_hessian(&h, &[0, 1])
            }
            PairKind::EdgeVertex => {
                let e = point_edge::expansion(&x[0], &x[1], &x[2]);
                let h = distance_block::<3, 1, 2, 3>(&e, &RELATIVE_3, a, b, project);
                scatter_hessian(&h, &[0, 1, 2])
            }
            PairKind::EdgeEdge => {
                let e = edge_edge::expansion(&x[0], &x[1], &x[2], &x[3]);
                distance_block::<4, 2, 3, 5>(&e, &RELATIVE_4, a, b, project)
            }
            PairKind::FaceVertex => {
                let e = point_triangle::expansion(&x[0], &x[1], &x[2], &x[3]);
                distance_block::<4, 2, 3, 5>(&e, &RELATIVE_4, a, b, project)
            }
        }
    }

    /// a and b of [`DistanceHessian`]: 4 b″ and 2 b′.
    #[inline]
    pub(super) fn factors(&self, c: &Contact, d2: f64, projection: Projection<'_>) -> [f64; 2] {
        let b = self.matrix_derivatives(d2, c.weight, c.thickness, c.reach, c.forecast);
        let [_, b1, b2] = if projection == Projection::GaussNewton { along(b, d2) } else { b };
        [4.0 * b2, 2.0 * b1]
    }
}

/// Derivatives of a barrier by d² of which ∂²b/∂d² ∇d∇dᵀ is the whole Hessian: with b, b′ of zero, and 4d²b″ + 2b′ instead of
/// 4d²b″ along the normal.
fn along([_, b1, b2]: [f64; 3], d2: f64) -> [f64; 3] {
    [0.0, 0.0, (b2 + 0.5 * b1 / d2).max(0.0)]
}

/// [`DistanceHessian`] of one pair.
pub(super) fn distance_block<const N: usize, const K: usize, const R: usize, const M: usize>(
    e: &Expansion<N, K>,
    relative: &[[f64; N]; R],
    a: f64,
    b: f64,
    project: bool,
) -> [[Mat3; N]; N] {
    let small = DistanceHessian::<_, N, K, R, M>::new(&e.into(), relative, a, b, project);
    let mut h = [[Mat3::zeros(); N]; N];
    for i in 0..N {
        for j in i..N {
            let block = Mat3::from(small.block(i, j));
            h[j][i] = block.transpose();
            h[i][j] = block;
        }
    }
    h
}

/// A ∇d∇dᵀ-like term and the distance's Hessian together, as they are or projected to be positive semidefinite,
/// H = a (w⊗q)(w⊗q)ᵀ + b [wwᵀ⊗I − Σ_c g_c g_cᵀ], g_c = w⊗t_c + σ_c⊗q; zero where q is.
///
/// In the squares of g_c the tangential part cancels that of wwᵀ⊗I, which leaves H = b on w⊗m for
/// tangents m other than the t_c, and otherwise a matrix within the span of the `K` vectors w⊗t_c
/// and the `R` = N − 1 vectors h⊗q̂ (h: relative coordinates). That `M` = K + R square matrix (1×1
/// point–point, 3×3 point–edge, 5×5 else) has the spectrum of the whole, so clamping it is the
/// exact projection.
pub(super) struct DistanceHessian<T, const N: usize, const K: usize, const R: usize, const M: usize>
{
    /// w/|w|.
    unit: [T; N],
    /// q̂.
    normal: V3<T>,
    tangential: M3<T>,
    mixed: [V3<T>; N],
    beta: [[T; N]; N],
}

impl<T: Real, const N: usize, const K: usize, const R: usize, const M: usize>
    DistanceHessian<T, N, K, R, M>
{
    #[inline(always)]
    // long: one formula: into the small basis, the projection, and out of it
    pub(super) fn new(
        chart: &Chart<T, N, K>,
        relative: &[[f64; N]; R],
        a: T,
        b: T,
        project: T::Mask,
    ) -> Self {
        let Chart { weights: w, offset: q, tangents: t, .. } = chart;
        let zero = a.constant(0.0);
        let d2 = q.norm_squared();
        let d = d2.sqrt();
        let normal = V3([q[0] / d, q[1] / d, q[2] / d]);
        let mut square = w[0] * w[0];
        for i in 1..N {
            square = square + w[i] * w[i];
        }
        let norm = square.sqrt();
        let mut unit = *w;
        for unit in &mut unit {
            *unit = *unit / norm;
        }

        // the small matrix, in the basis (unit⊗t_c, h_k⊗q̂)
        let (mut w_rel, mut slopes) = ([zero; R], [[zero; R]; K]);
        for k in 0..R {
            w_rel[k] = combined(w, &relative[k]);
            for c in 0..K {
                slopes[c][k] = d * combined(&chart.slopes[c], &relative[k]);
            }
        }
        let along = a * d2 + b;
        let mut m = [[zero; M]; M];
        for k in 0..R {
            for c in 0..K {
                m[c][K + k] = -(b * norm * slopes[c][k]);
                m[K + k][c] = m[c][K + k];
            }
            for l in 0..R {
                let mut squares = zero;
                for c in 0..K {
                    squares = squares + slopes[c][k] * slopes[c][l];
                }
                m[K + k][K + l] = along * w_rel[k] * w_rel[l] - b * squares;
            }
        }
        project_some(project, &mut m);

        // back: H_ij = û_i û_j S + (û_i r_j + β_ij q̂) q̂ᵀ + û_j q̂ r_iᵀ
        let none = V3::repeat(zero);
        let mut tangential = M3([none; 3]);
        for c in 0..K {
            let mut from = none;
            for e in 0..K {
                from = from + t[e] * m[e][c];
            }
            tangential = tangential + from.dyad(&t[c]);
        }
        if K < 2 {
            // projected they stay where b > 0: with negative weights only
            let kept = T::select(project & b.le(zero), zero, b * norm * norm);
            tangential = tangential + other_tangents(&normal, t) * kept;
        }
        let mut mixed = [none; N];
        let mut beta = [[zero; N]; N];
        for j in 0..N {
            let mut from = [zero; M];
            for row in 0..M {
                for k in 0..R {
                    from[row] = from[row] + m[row][K + k] * relative[k][j];
                }
            }
            for c in 0..K {
                mixed[j] = mixed[j] + t[c] * from[c];
            }
            for i in 0..N {
                for k in 0..R {
                    beta[i][j] = beta[i][j] + from[K + k] * relative[k][i];
                }
            }
        }
        let touching = d2.le(zero);
        for i in 0..N {
            unit[i] = T::select(touching, zero, unit[i]);
            mixed[i] = V3::select(touching, &none, &mixed[i]);
            for j in 0..N {
                beta[i][j] = T::select(touching, zero, beta[i][j]);
            }
        }
        let normal = V3::select(touching, &none, &normal);
        let tangential = M3::select(touching, &M3([none; 3]), &tangential);
        Self { unit, normal, tangential, mixed, beta }
    }

    /// Block (i, j).
    #[inline(always)]
    pub(super) fn block(&self, i: usize, j: usize) -> M3<T> {
        let Self { unit, normal, tangential, mixed, beta } = self;
        let column = mixed[j] * unit[i] + *normal * beta[i][j];
        *tangential * (unit[i] * unit[j]) + column.dyad(normal) + normal.dyad(&(mixed[i] * unit[j]))
    }
}

/// I − q̂q̂ᵀ − Σ t_c t_cᵀ.
#[inline(always)]
fn other_tangents<T: Real, const K: usize>(normal: &V3<T>, tangents: &[V3<T>; K]) -> M3<T> {
    let one = V3::repeat(normal[0].constant(1.0));
    let mut other = M3::from_diagonal(&one) - normal.dyad(normal);
    for t in tangents {
        other = other - t.dyad(t);
    }
    other
}

/// Σ hᵢ vᵢ: a relative coordinate of a vector over the vertices.
#[inline(always)]
fn combined<T: Real, const N: usize>(v: &[T; N], h: &[f64; N]) -> T {
    let mut sum = v[0] * h[0];
    for i in 1..N {
        sum = sum + v[i] * h[i];
    }
    sum
}

/// Clamps the eigenvalues of a matrix where required.
#[inline(always)]
pub(super) fn project_some<T: Real, const N: usize>(project: T::Mask, m: &mut [[T; N]; N]) {
    use standoff_linalg::Mask;
    if !project.any() {
        return;
    }
    let original = *m;
    clamp_eigenvalues(m);
    for i in 0..N {
        for j in 0..N {
            m[i][j] = T::select(project, m[i][j], original[i][j]);
        }
    }
}

/// The energy m(c) b(d²) of nearly parallel edges, with the mollifier m, as far as its Hessian needs it.
pub(super) struct Mollified<T> {
    /// The edges.
    pub u: V3<T>,
    pub v: V3<T>,
    /// The offset q of the closest points, and two directions t_c in which they slide, of which those that are missing are zero.
    pub offset: V3<T>,
    pub tangents: [V3<T>; 2],
    /// Relative coordinates of the weights w and of the slopes σ_c.
    pub numbers: [[T; 3]; 3],
    /// Derivatives of the barrier by d² and of the mollifier by |u × v|²: b, b′, b″, m, m′, m″.
    pub factors: [T; 6],
}

impl Mollified<f64> {
    /// A pair whose closest points lie on both lines, on a line and at a vertex, or at two vertices.
    #[inline(always)]
    pub(super) fn new(
        potential: &BarrierPotential,
        c: &Contact,
        x: &[Vec3; 4],
        projection: Projection<'_>,
    ) -> Self {
        let chart = match *c.feature.local() {
            [i, j] => spread((&point_point::expansion(&x[i], &x[j])).into(), [i, j]),
            [i, j, k] => spread((&point_edge::expansion(&x[i], &x[j], &x[k])).into(), [i, j, k]),
            _ => (&edge_edge::expansion(&x[0], &x[1], &x[2], &x[3])).into(),
        };
        let (u, v) = (x[1] - x[0], x[3] - x[2]);
        let d2 = chart.offset.norm_squared();
        let b = potential.matrix_derivatives(d2, c.weight, c.thickness, c.reach, c.forecast);
        let b = if projection == Projection::GaussNewton { along(b, d2) } else { b };
        let m = mollifier::scalar(u.cross(&v).norm_squared(), c.eps_x);
        let mut numbers = [[0.0; 3]; 3];
        for (to, of) in numbers.iter_mut().zip([chart.weights, chart.slopes[0], chart.slopes[1]]) {
            for k in 0..3 {
                to[k] = combined(&of, &RELATIVE_4[k]);
            }
        }
        let factors = [b[0], b[1], b[2], m[0], m[1], m[2]];
        let Chart { offset, tangents, .. } = chart;
        Self { u: (&u).into(), v: (&v).into(), offset, tangents, numbers, factors }
    }
}

/// The same over four vertices with two directions, of which those that are missing are zero.
#[inline(always)]
fn spread<const N: usize, const K: usize>(
    e: Chart<f64, N, K>,
    local: [usize; N],
) -> Chart<f64, 4, 2> {
    let (mut weights, mut slopes) = ([0.0; 4], [[0.0; 4]; 2]);
    let mut tangents = [V3([0.0; 3]); 2];
    for i in 0..N {
        weights[local[i]] = e.weights[i];
    }
    for c in 0..K {
        tangents[c] = e.tangents[c];
        for i in 0..N {
            slopes[c][local[i]] = e.slopes[c][i];
        }
    }
    Chart { weights, offset: e.offset, tangents, slopes }
}

impl<T: Real> Mollified<T> {
    /// ∇²(m b) = m (b″ ∇s ∇sᵀ + b′ ∇²s) + m′ b′ (∇c ∇sᵀ + ∇s ∇cᵀ) + b (m″ ∇c ∇cᵀ + m′ ∇²c) with s = d² and c = |u × v|² in
    /// relative coordinates, where ∇s = 2 w⊗q and ∇²s = 2 (wwᵀ⊗I − Σ g_c g_cᵀ), g_c = w⊗t_c + σ_c⊗q.
    #[inline(always)]
    // long: one formula
    pub(super) fn relative(&self) -> [[T; 9]; 9] {
        let Self { u, v, offset: q, tangents: [t0, t1], numbers: [w, s0, s1], factors } = self;
        let [b, b1, b2, m, m1, m2] = *factors;
        let zero = b.constant(0.0);
        let ([gu, gv], [of_uu, of_uv, of_vv]) = mollifier::cross_squared_derivatives(u, v);
        // by relative coordinates: ∇s/2, g_c and ∇c
        let (mut ds, mut g0, mut g1, mut dc) = ([zero; 9], [zero; 9], [zero; 9], [zero; 9]);
        for k in 0..3 {
            for r in 0..3 {
                ds[3 * k + r] = w[k] * q[r];
                g0[3 * k + r] = w[k] * t0[r] + s0[k] * q[r];
                g1[3 * k + r] = w[k] * t1[r] + s1[k] * q[r];
                dc[3 * k + r] = gu[r] * TO_EDGES[0][k] + gv[r] * TO_EDGES[1][k];
            }
        }
        let (of_ss, of_s) = (m * b2 * 4.0, m * b1 * 2.0);
        let (of_cs, of_cc, of_c) = (m1 * b1 * 2.0, b * m2, b * m1);
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
                let by = |p: usize, o: usize| TO_EDGES[p][k] * TO_EDGES[o][l];
                let of_edges = of_uu[s][r] * by(0, 0)
                    + of_uv[s][r] * by(0, 1)
                    + of_uv[r][s] * by(1, 0)
                    + of_vv[s][r] * by(1, 1);
                h[i][j] = sum + of_c * of_edges;
                h[j][i] = h[i][j];
            }
        }
        h
    }
}

/// Block (i, j) over the vertices of a matrix in relative coordinates.
#[inline(always)]
pub(super) fn relative_block<T: Real>(m: &[[T; 9]; 9], i: usize, j: usize) -> M3<T> {
    let zero = m[0][0].constant(0.0);
    let mut out = M3([V3::repeat(zero); 3]);
    for r in 0..3 {
        for s in 0..3 {
            for k in 0..3 {
                for l in 0..3 {
                    let factor = RELATIVE_4[k][i] * RELATIVE_4[l][j];
                    out[s][r] = out[s][r] + m[3 * k + r][3 * l + s] * factor;
                }
            }
        }
    }
    out
}
