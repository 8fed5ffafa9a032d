//! The same arithmetic on several elements at once, one per lane of the processor's vector unit.
//!
//! [`Lanes`] is a number per lane with the usual operators, [`dispatch`] runs a [`Kernel`] compiled
//! for the vectors that the processor has (none but plain ones needed). Every lane computes
//! what one number alone would: no fused multiply-add, no sum across lanes. So a kernel's results
//! have the same bits on every width, and a lane's result does not depend on its neighbours.

use crate::elementary::{self, Binary};
use crate::real::Real;
use crate::{M3, Mat3, Svd, Svd3, V3, Vec3, svd};
use pulp::{Arch, NullaryFnOnce, Scalar, Simd, WithSimd};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

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

/// Runs `kernel` on vectors of at most 256 bits.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return Simd::vectorize(simd, On(kernel, simd));
    }
    dispatch_widest(kernel)
}

/// Runs `kernel` on the widest vectors of this processor, for what is little code and most of the time.
#[inline]
pub fn dispatch_widest<K: Kernel>(kernel: K) -> K::Output {
    Arch::new().dispatch(Op(kernel))
}

/// Runs `kernel` on single numbers: the twin of [`dispatch`], with the same bits.
pub fn scalar<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Scalar)
}

struct On<K, W>(K, W);

impl<K: Kernel, W: Width> NullaryFnOnce for On<K, W> {
    type Output = K::Output;

    #[inline(always)]
    fn call(self) -> K::Output {
        self.0.run(self.1)
    }
}

/// Runs `kernel` on the vectors of a kernel that calls this from where the compiler forgets about them, such as another
/// thread.
#[inline]
pub fn on<K: Kernel, W: Width>(width: W, kernel: K) -> K::Output {
    width.vectorize(On(kernel, width))
}

/// One number per lane.
#[derive(Clone, Copy)]
pub struct Lanes<W: Width>(W, W::f64s);

/// One truth value per lane.
#[derive(Clone, Copy)]
pub struct Mask<W: Width>(W, W::m64s);

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
}

impl<W: Width> Real for Lanes<W> {
    type Mask = Mask<W>;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        Self::splat(self.0, value)
    }
    #[inline(always)]
    fn with_gradient(self, _: &[Self]) -> Self {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0, self.0.sqrt_f64s(self.1))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0, self.0.abs_f64s(self.1))
    }
    #[inline(always)]
    fn ln(self) -> Self {
        elementary::ln(self)
    }
    #[inline(always)]
    fn minus_ln_1p(self) -> Self {
        elementary::x_minus_ln_1p(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        elementary::exp(self)
    }
    #[inline(always)]
    fn exp_tail(self) -> Self {
        elementary::exp_tail(self)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        elementary::atan2(self, x)
    }
    /// Lane by lane.
    fn sin_cos(self) -> (Self, Self) {
        let both = self.to_array().map(f64::sin_cos);
        (Self::load(self.0, &both.map(|b| b.0)), Self::load(self.0, &both.map(|b| b.1)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask<W> {
        Mask(self.0, self.0.less_than_f64s(self.1, other.1))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask<W> {
        Mask(self.0, self.0.less_than_or_equal_f64s(self.1, other.1))
    }
    #[inline(always)]
    fn select(mask: Mask<W>, yes: Self, no: Self) -> Self {
        Self(mask.0, mask.0.select_f64s(mask.1, yes.1, no.1))
    }
}

impl<W: Width> Binary for Lanes<W> {
    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let (mut m, mut e) = (self.to_array(), [0.0; MAX_LANES]);
        for lane in 0..W::F64_LANES {
            (m[lane], e[lane]) = m[lane].split();
        }
        (Self::load(self.0, &m), Self::load(self.0, &e))
    }
    #[inline(always)]
    fn scale(self, e: Self) -> Self {
        let (mut all, e) = (self.to_array(), e.to_array());
        for lane in 0..W::F64_LANES {
            all[lane] = all[lane].scale(e[lane]);
        }
        Self::load(self.0, &all)
    }
}

impl<W: Width> Mask<W> {
    /// Lane k is `values[k]`.
    #[inline(always)]
    pub fn load(width: W, values: &[bool; MAX_LANES]) -> Self {
        let mut numbers = [0.0; MAX_LANES];
        for lane in 0..MAX_LANES {
            numbers[lane] = f64::from(u8::from(values[lane]));
        }
        Lanes::splat(width, 0.0).lt(Lanes::load(width, &numbers))
    }

    /// The lanes as an array; entries beyond the width are false.
    #[inline(always)]
    pub fn to_array(self) -> [bool; MAX_LANES] {
        let (yes, no) = (Lanes::splat(self.0, 1.0), Lanes::splat(self.0, 0.0));
        let numbers = Lanes::select(self, yes, no).to_array();
        let mut out = [false; MAX_LANES];
        for lane in 0..MAX_LANES {
            out[lane] = numbers[lane] > 0.0;
        }
        out
    }
}

impl<W: Width> crate::Mask for Mask<W> {
    #[inline(always)]
    fn any(self) -> bool {
        self.0.first_true_m64s(self.1) < W::F64_LANES
    }
}

impl<W: Width> Not for Mask<W> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0, self.0.not_m64s(self.1))
    }
}

impl<W: Width> BitAnd for Mask<W> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0, self.0.and_m64s(self.1, other.1))
    }
}

impl<W: Width> BitOr for Mask<W> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0, self.0.or_m64s(self.1, other.1))
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

        impl<W: Width> $trait<f64> for Lanes<W> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: f64) -> Self {
                Self(self.0, self.0.$of(self.1, self.0.splat_f64s(other)))
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

/// The columns of the matrices in the first lanes; entry (r, c) of lane k is `rows[3 c + r][k]`.
#[inline(always)]
fn load_mat3<W: Width>(width: W, rows: &[[f64; MAX_LANES]; 9]) -> M3<Lanes<W>> {
    let zero = Lanes::splat(width, 0.0);
    let mut m = M3([V3::repeat(zero); 3]);
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
            let svd: Svd<Lanes<W>> = svd(&load_mat3(width, &rows));
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
