//! The same arithmetic on several elements at once, one per lane of the processor's vector unit.
//!
//! [`Lanes`] is a number per lane with the usual operators, [`dispatch`] runs a [`Kernel`] compiled
//! for the widest vectors that the processor has (none but plain ones needed). Every lane computes
//! what one number alone would: no fused multiply-add, no sum across lanes. So a kernel's results
//! have the same bits on every width, and a lane's result does not depend on its neighbours.

// long: the operators of lanes, and the decomposition that they were made for, each short

mod elementary;
mod psd;

pub use elementary::{atan2, ln, x_minus_ln_1p};
pub use psd::project_psd;

use crate::{Mat3, Svd3, Vec3};
use pulp::{Arch, Scalar, Simd, WithSimd};
use std::ops::{Add, Div, Mul, Neg, Not, Sub};

/// Most lanes that any processor has.
pub const MAX_LANES: usize = 8;

/// A computation written for any number of lanes. Mark `run` `#[inline(always)]`.
pub trait Kernel {
    /// What it returns.
    type Output;

    /// Runs on `W::F64_LANES` lanes.
    fn run<W: Width>(self, width: W) -> Self::Output;
}

/// A vector unit.
pub trait Width: Simd {}
impl<S: Simd> Width for S {}

struct Op<K>(K);

impl<K: Kernel> WithSimd for Op<K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> K::Output {
        self.0.run(simd)
    }
}

/// Runs `kernel` on the widest vectors of this processor.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    Arch::new().dispatch(Op(kernel))
}

/// Runs `kernel` on single numbers: the twin of [`dispatch`], with the same bits.
pub fn scalar<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Scalar)
}

/// One number per lane.
#[derive(Clone, Copy)]
pub struct Lanes<W: Width>(W, W::f64s);

/// One truth value per lane.
#[derive(Clone, Copy)]
pub struct Mask<W: Width>(W, W::m64s);

/// One 3-vector per lane.
pub type LaneVec3<W> = [Lanes<W>; 3];
/// One 3×3 matrix per lane, by columns.
pub type LaneMat3<W> = [[Lanes<W>; 3]; 3];

impl<W: Width> Lanes<W> {
    /// `value` in every lane.
    #[inline(always)]
    pub fn splat(width: W, value: f64) -> Self {
        Self(width, width.splat_f64s(value))
    }

    /// Lane k is `values[k]`.
    #[inline(always)]
    pub fn load(width: W, values: &[f64; MAX_LANES]) -> Self {
        Self(width, W::as_simd_f64s(&values[..W::F64_LANES]).0[0])
    }

    /// `out[k]` becomes lane k.
    #[inline(always)]
    pub fn store(self, out: &mut [f64; MAX_LANES]) {
        W::as_mut_simd_f64s(&mut out[..W::F64_LANES]).0[0] = self.1;
    }

    /// The lanes as an array; entries beyond the width are 0.
    #[inline(always)]
    pub fn to_array(self) -> [f64; MAX_LANES] {
        let mut out = [0.0; MAX_LANES];
        self.store(&mut out);
        out
    }

    /// √ in each lane.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Self(self.0, self.0.sqrt_f64s(self.1))
    }

    /// |·| in each lane.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(self.0, self.0.abs_f64s(self.1))
    }

    /// Whether self < other; false with NaN.
    #[inline(always)]
    pub fn lt(self, other: Self) -> Mask<W> {
        Mask(self.0, self.0.less_than_f64s(self.1, other.1))
    }

    /// Whether self ≤ other; false with NaN.
    #[inline(always)]
    pub fn le(self, other: Self) -> Mask<W> {
        Mask(self.0, self.0.less_than_or_equal_f64s(self.1, other.1))
    }

    /// The smaller one, `other` where self is NaN.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        self.lt(other).select(self, other)
    }

    /// The larger one, `other` where self is NaN.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        other.lt(self).select(self, other)
    }
}

impl<W: Width> Mask<W> {
    /// `yes` where true, else `no`.
    #[inline(always)]
    pub fn select(self, yes: Lanes<W>, no: Lanes<W>) -> Lanes<W> {
        Lanes(self.0, self.0.select_f64s(self.1, yes.1, no.1))
    }

    /// Whether any lane is true.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.first_true_m64s(self.1) < W::F64_LANES
    }

    /// Whether all lanes are true.
    #[inline(always)]
    pub fn all(self) -> bool {
        !(!self).any()
    }
}

impl<W: Width> Not for Mask<W> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0, self.0.not_m64s(self.1))
    }
}

macro_rules! operator {
    ($trait:ident, $name:ident, $of:ident) => {
        impl<W: Width> $trait for Lanes<W> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self(self.0, self.0.$of(self.1, other.1))
            }
        }
    };
}

operator!(Add, add, add_f64s);
operator!(Sub, sub, sub_f64s);
operator!(Mul, mul, mul_f64s);
operator!(Div, div, div_f64s);

impl<W: Width> Neg for Lanes<W> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0, self.0.neg_f64s(self.1))
    }
}

/// a · b.
#[inline(always)]
pub fn dot<W: Width>(a: &LaneVec3<W>, b: &LaneVec3<W>) -> Lanes<W> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline(always)]
pub fn cross<W: Width>(a: &LaneVec3<W>, b: &LaneVec3<W>) -> LaneVec3<W> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + b.
#[inline(always)]
pub fn add<W: Width>(a: &LaneVec3<W>, b: &LaneVec3<W>) -> LaneVec3<W> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
#[inline(always)]
pub fn sub<W: Width>(a: &LaneVec3<W>, b: &LaneVec3<W>) -> LaneVec3<W> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// s a.
#[inline(always)]
pub fn scaled<W: Width>(a: &LaneVec3<W>, s: Lanes<W>) -> LaneVec3<W> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// −(a + b + c).
#[inline(always)]
pub fn minus_sum_vec<W: Width>(a: &LaneVec3<W>, b: &LaneVec3<W>, c: &LaneVec3<W>) -> LaneVec3<W> {
    [-(a[0] + b[0] + c[0]), -(a[1] + b[1] + c[1]), -(a[2] + b[2] + c[2])]
}

/// −(A + B + C).
#[inline(always)]
pub fn minus_sum<W: Width>(a: &LaneMat3<W>, b: &LaneMat3<W>, c: &LaneMat3<W>) -> LaneMat3<W> {
    [
        minus_sum_vec(&a[0], &b[0], &c[0]),
        minus_sum_vec(&a[1], &b[1], &c[1]),
        minus_sum_vec(&a[2], &b[2], &c[2]),
    ]
}

/// A b.
#[inline(always)]
pub fn mat_vec<W: Width>(a: &LaneMat3<W>, b: &LaneVec3<W>) -> LaneVec3<W> {
    [
        a[0][0] * b[0] + a[1][0] * b[1] + a[2][0] * b[2],
        a[0][1] * b[0] + a[1][1] * b[1] + a[2][1] * b[2],
        a[0][2] * b[0] + a[1][2] * b[1] + a[2][2] * b[2],
    ]
}

/// A B.
#[inline(always)]
pub fn mat_mul<W: Width>(a: &LaneMat3<W>, b: &LaneMat3<W>) -> LaneMat3<W> {
    [mat_vec(a, &b[0]), mat_vec(a, &b[1]), mat_vec(a, &b[2])]
}

/// Aᵀ.
#[inline(always)]
pub fn transpose<W: Width>(a: &LaneMat3<W>) -> LaneMat3<W> {
    [[a[0][0], a[1][0], a[2][0]], [a[0][1], a[1][1], a[2][1]], [a[0][2], a[1][2], a[2][2]]]
}

/// Singular value decomposition in each lane, like [`crate::svd3`] but without its scaling: squares
/// of the entries must neither over- nor underflow.
#[inline(always)]
pub fn svd<W: Width>(width: W, f: &LaneMat3<W>) -> LaneSvd<W> {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let mut b = *f;
    let mut v = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    for _ in 0..crate::svd::MAX_SWEEPS {
        let mut moved = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            moved |= orthogonalise(width, &mut b, &mut v, p, q);
        }
        if !moved {
            break;
        }
    }
    let mut n = [dot(&b[0], &b[0]), dot(&b[1], &b[1]), dot(&b[2], &b[2])];
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        let swap = n[p].lt(n[q]);
        (n[p], n[q]) = (swap.select(n[q], n[p]), swap.select(n[p], n[q]));
        for i in 0..3 {
            (b[p][i], b[q][i]) = (swap.select(b[q][i], b[p][i]), swap.select(-b[p][i], b[q][i]));
            (v[p][i], v[q][i]) = (swap.select(v[q][i], v[p][i]), swap.select(-v[p][i], v[q][i]));
        }
    }
    let norm = dot(&b[0], &b[0]).sqrt();
    let flat = norm.le(zero);
    let u0 = [
        flat.select(one, b[0][0] / norm),
        flat.select(zero, b[0][1] / norm),
        flat.select(zero, b[0][2] / norm),
    ];
    let (u1, sigma1) = unit_perpendicular(width, &u0, &b[1]);
    let u2 = cross(&u0, &u1);
    let sigma1 = sigma1.min(norm);
    let sigma2 = dot(&u2, &b[2]).max(-sigma1).min(sigma1);
    LaneSvd { u: [u0, u1, u2], sigma: [norm, sigma1, sigma2], v }
}

/// [`Svd3`] of each lane.
#[derive(Clone, Copy)]
pub struct LaneSvd<W: Width> {
    /// Left singular vectors.
    pub u: LaneMat3<W>,
    /// Singular values.
    pub sigma: LaneVec3<W>,
    /// Right singular vectors.
    pub v: LaneMat3<W>,
}

/// Rotates columns p and q of B (and of V) such that B's become orthogonal; false where they are, in
/// every lane.
#[inline(always)]
fn orthogonalise<W: Width>(
    width: W,
    b: &mut LaneMat3<W>,
    v: &mut LaneMat3<W>,
    p: usize,
    q: usize,
) -> bool {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let (np, nq, d) = (dot(&b[p], &b[p]), dot(&b[q], &b[q]), dot(&b[p], &b[q]));
    let cosine = crate::svd::COSINE;
    // written so that NaN turns nothing, and the search ends
    let turn = (Lanes::splat(width, cosine * cosine) * np * nq).lt(d * d);
    if !turn.any() {
        return false;
    }
    let (diff, twice) = (nq - np, d + d);
    let root = (diff * diff + twice * twice).sqrt();
    let root = diff.lt(zero).select(-root, root);
    let t = turn.select(twice / (diff + root), zero);
    let c = one / (one + t * t).sqrt();
    let s = c * t;
    // a lane that does not turn keeps its bits: c = 1, s = 0
    for i in 0..3 {
        (b[p][i], b[q][i]) = (b[p][i] * c - b[q][i] * s, b[p][i] * s + b[q][i] * c);
        (v[p][i], v[q][i]) = (v[p][i] * c - v[q][i] * s, v[p][i] * s + v[q][i] * c);
    }
    true
}

/// The unit vector along the part of `b` perpendicular to the unit vector `u`, and that part's
/// length; any unit vector perpendicular to `u`, and 0, where there is none.
#[inline(always)]
fn unit_perpendicular<W: Width>(
    width: W,
    u: &LaneVec3<W>,
    b: &LaneVec3<W>,
) -> (LaneVec3<W>, Lanes<W>) {
    let w = minus_along(b, u);
    // again where the subtraction cancelled
    let cancelled = dot(&w, &w).lt(Lanes::splat(width, 0.5) * dot(b, b));
    let again = minus_along(&w, u);
    let w = [
        cancelled.select(again[0], w[0]),
        cancelled.select(again[1], w[1]),
        cancelled.select(again[2], w[2]),
    ];
    let norm = dot(&w, &w).sqrt();
    let none = norm.lt(Lanes::splat(width, TINY));
    let mut unit = [w[0] / norm, w[1] / norm, w[2] / norm];
    if none.any() {
        // rare: lane by lane
        let mut out = [unit[0].to_array(), unit[1].to_array(), unit[2].to_array()];
        any_perpendicular(
            &[u[0].to_array(), u[1].to_array(), u[2].to_array()],
            &norm.to_array()[..W::F64_LANES],
            &mut out,
        );
        unit =
            [Lanes::load(width, &out[0]), Lanes::load(width, &out[1]), Lanes::load(width, &out[2])];
    }
    (unit, none.select(Lanes::splat(width, 0.0), norm))
}

/// b − u (u·b).
#[inline(always)]
fn minus_along<W: Width>(b: &LaneVec3<W>, u: &LaneVec3<W>) -> LaneVec3<W> {
    let along = dot(u, b);
    [b[0] - u[0] * along, b[1] - u[1] * along, b[2] - u[2] * along]
}

/// Lengths below this, whose squares underflow, count as 0.
const TINY: f64 = 1e-150;

/// A unit vector perpendicular to `u` in the lanes whose `lengths` are tiny.
#[cold]
fn any_perpendicular(u: &[[f64; MAX_LANES]; 3], lengths: &[f64], out: &mut [[f64; MAX_LANES]; 3]) {
    for lane in (0..lengths.len()).filter(|&k| lengths[k] < TINY) {
        let u = Vec3::new(u[0][lane], u[1][lane], u[2][lane]);
        let axis = u.iamin();
        let w = Vec3::ith(axis, 1.0) - u * u[axis];
        let w = w / w.norm();
        (0..3).for_each(|i| out[i][lane] = w[i]);
    }
}

/// The columns of the matrices in the first lanes; entry (r, c) of lane k is `rows[3 c + r][k]`.
#[inline(always)]
pub fn load_mat3<W: Width>(width: W, rows: &[[f64; MAX_LANES]; 9]) -> LaneMat3<W> {
    let zero = Lanes::splat(width, 0.0);
    let mut m = [[zero; 3]; 3];
    for c in 0..3 {
        for r in 0..3 {
            m[c][r] = Lanes::load(width, &rows[3 * c + r]);
        }
    }
    m
}

/// Singular value decompositions of `f`, several at once; see [`svd`] for the range of the entries.
pub fn svd_all(f: &[Mat3]) -> Vec<Svd3> {
    dispatch(SvdAll(f))
}

struct SvdAll<'a>(&'a [Mat3]);

impl Kernel for SvdAll<'_> {
    type Output = Vec<Svd3>;

    #[inline(always)]
    fn run<W: Width>(self, width: W) -> Vec<Svd3> {
        let mut out = Vec::with_capacity(self.0.len());
        for batch in self.0.chunks(W::F64_LANES) {
            let mut rows = [[0.0; MAX_LANES]; 9];
            for (lane, f) in batch.iter().enumerate() {
                for (row, value) in rows.iter_mut().zip(f.as_slice()) {
                    row[lane] = *value;
                }
            }
            let svd = svd(width, &load_mat3(width, &rows));
            let (mut u, mut v, mut sigma) =
                ([[0.0; MAX_LANES]; 9], [[0.0; MAX_LANES]; 9], [[0.0; MAX_LANES]; 3]);
            for c in 0..3 {
                svd.sigma[c].store(&mut sigma[c]);
                for r in 0..3 {
                    svd.u[c][r].store(&mut u[3 * c + r]);
                    svd.v[c][r].store(&mut v[3 * c + r]);
                }
            }
            out.extend((0..batch.len()).map(|lane| Svd3 {
                u: Mat3::from_fn(|r, c| u[3 * c + r][lane]),
                sigma: Vec3::from_fn(|i, _| sigma[i][lane]),
                v: Mat3::from_fn(|r, c| v[3 * c + r][lane]),
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svd3;
    use standoff_testkit::Random;

    /// Random, near rest, singular, repeated and reflected ones.
    fn matrices() -> Vec<Mat3> {
        let r = &mut Random::new(1);
        let mut out = vec![
            Mat3::zeros(),
            Mat3::identity(),
            Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0)),
            Mat3::from_diagonal(&Vec3::new(0.0, 2.0, 0.0)),
            Mat3::from_element(1.0),
        ];
        for i in 0..2000 {
            let size = 10f64.powi(i % 9 - 6);
            let noise = Mat3::from_fn(|_, _| 0.5 * r.signed()) * size;
            out.push(if i % 2 == 0 { Mat3::identity() + noise } else { noise });
            let (a, b) = (0.5 * r.vec3(), 0.5 * r.vec3());
            out.push(a * b.transpose());
            out.push(a * b.transpose() + b * a.transpose());
        }
        out
    }

    #[test]
    fn widest_lanes_scalar_lanes_and_single_matrices_have_the_same_bits() {
        let f = matrices();
        let (wide, narrow) = (svd_all(&f), scalar(SvdAll(&f)));
        for i in 0..f.len() {
            assert_eq!(wide[i], narrow[i], "{}", f[i]);
            assert_eq!(wide[i], svd3(&f[i]), "{}", f[i]);
        }
    }

    #[test]
    fn nan_stays_in_its_lane() {
        let mut f = matrices();
        f.truncate(64);
        let clean = svd_all(&f);
        f[5][(1, 1)] = f64::NAN;
        let svd = svd_all(&f);
        assert!(svd[5].sigma.iter().any(|s| s.is_nan()));
        (0..64).filter(|&i| i != 5).for_each(|i| assert_eq!(svd[i], clean[i]));
    }
}
