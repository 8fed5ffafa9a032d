//! Numbers with first derivatives by N variables (forward differentiation). A gradient written for any [`Real`] gives the
//! Hessian too; a number whose derivatives have derivatives themselves (`Dual<Dual<f64, N>, N>`) gives both from a value.

use crate::Real;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value and its derivatives by N variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<R, const N: usize> {
    /// The value.
    pub value: R,
    /// First derivatives.
    pub d: [R; N],
}

impl<R: Real, const N: usize> Dual<R, N> {
    /// Variable number `i`.
    #[inline(always)]
    pub fn variable(value: R, i: usize) -> Self {
        let mut d = [value.constant(0.0); N];
        d[i] = value.constant(1.0);
        Self { value, d }
    }

    /// f(self) from f and its derivative at the value.
    #[inline(always)]
    pub fn chain(self, value: R, derivative: R) -> Self {
        let mut d = self.d;
        for d in &mut d {
            *d = derivative * *d;
        }
        Self { value, d }
    }

    #[inline(always)]
    fn zip(self, o: Self, value: R, f: impl Fn(R, R) -> R) -> Self {
        let mut d = self.d;
        for i in 0..N {
            d[i] = f(self.d[i], o.d[i]);
        }
        Self { value, d }
    }
}

impl<const N: usize> Dual<Dual<f64, N>, N> {
    /// Variable number `i`, with second derivatives.
    pub fn second_order(value: f64, i: usize) -> Self {
        Self::variable(Dual::variable(value, i), i)
    }

    /// f(self) from [f, f′, f″] at the value.
    pub fn compose(self, [f, f1, f2]: [f64; 3]) -> Self {
        let inner = self.value;
        self.chain(inner.chain(f, f1), inner.chain(f1, f2))
    }

    /// Value, gradient and Hessian.
    pub fn parts(&self) -> (f64, [f64; N], [[f64; N]; N]) {
        (self.value.value, self.value.d, self.d.map(|d| d.d))
    }
}

impl<R: Real, const N: usize> Real for Dual<R, N> {
    type Mask = R::Mask;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        Self { value: self.value.constant(value), d: [self.value.constant(0.0); N] }
    }
    #[inline(always)]
    fn with_gradient(self, gradient: &[Self]) -> Self {
        let mut d = self.d;
        for i in 0..N {
            d[i] = gradient[i].value;
        }
        Self { value: self.value, d }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let r = self.value.sqrt();
        self.chain(r, r.constant(0.5) / r)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self::select(self.lt(self.constant(0.0)), -self, self)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        let r = self.value.recip();
        self.chain(r, -r * r)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    #[inline(always)]
    fn minus_ln_1p(self) -> Self {
        self.chain(self.value.minus_ln_1p(), self.value / (self.value + 1.0))
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    /// The derivative (eˣ − 1)/x² − 2 (eˣ − 1 − x)/x³ is 1/6 + x/12 + x²/40 near 0.
    #[inline(always)]
    fn exp_tail(self) -> Self {
        let (x, tail) = (self.value, self.value.exp_tail());
        let small = x.abs().lt(x.constant(1e-5));
        let series = x * (x * (1.0 / 40.0) + 1.0 / 12.0) + 1.0 / 6.0;
        let direct = (x * tail + 1.0 - tail * 2.0) / x;
        self.chain(tail, R::select(small, series, direct))
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let (a, b) = (self.value, x.value);
        let square = a * a + b * b;
        let (by_y, by_x) = (b / square, -(a / square));
        self.zip(x, a.atan2(b), |y, x| by_y * y + by_x * x)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> R::Mask {
        self.value.lt(other.value)
    }
    #[inline(always)]
    fn le(self, other: Self) -> R::Mask {
        self.value.le(other.value)
    }
    #[inline(always)]
    fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        yes.zip(no, R::select(mask, yes.value, no.value), |yes, no| R::select(mask, yes, no))
    }
}

impl<R: Real, const N: usize> Neg for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<R: Real, const N: usize> Add for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, self.value + o.value, |a, b| a + b)
    }
}

impl<R: Real, const N: usize> Sub for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.value - o.value, |a, b| a - b)
    }
}

#[allow(clippy::suspicious_arithmetic_impl, reason = "the product rule is a sum")]
impl<R: Real, const N: usize> Mul for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.value * o.value, |a, b| o.value * a + self.value * b)
    }
}

#[allow(clippy::suspicious_arithmetic_impl, reason = "a quotient is a product with an inverse")]
impl<R: Real, const N: usize> Div for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let quotient = self.value / o.value;
        let over = o.value.recip();
        self.zip(o, quotient, |a, b| (a - quotient * b) * over)
    }
}

impl<R: Real, const N: usize> Add<f64> for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, c: f64) -> Self {
        Self { value: self.value + c, d: self.d }
    }
}

impl<R: Real, const N: usize> Sub<f64> for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, c: f64) -> Self {
        Self { value: self.value - c, d: self.d }
    }
}

impl<R: Real, const N: usize> Mul<f64> for Dual<R, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, c: f64) -> Self {
        let mut d = self.d;
        for d in &mut d {
            *d = *d * c;
        }
        Self { value: self.value * c, d }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A formula with every operation.
    fn formula<R: Real>(x: R, y: R) -> R {
        let (s, c) = (x * 0.7 - 0.1).sin_cos();
        let root = (x * x + y * y + 1.0).sqrt();
        let angle = (s + root).atan2(c * y) / (y.abs() + 2.0);
        let small = (x * 0.01).minus_ln_1p() * 1e3;
        let powers = (x * 0.3).exp() + (y * 2.0).exp_tail();
        (angle + root.ln() - small).max(root.recip()) - y.min(x) * s.recip() + powers
    }

    #[test]
    fn derivatives_are_slopes_and_their_slopes() {
        for (x, y) in [(1.3, 0.4), (0.3, -2.0), (-1.1, 0.7)] {
            let f = formula(Dual::<Dual<f64, 2>, 2>::second_order(x, 0), Dual::second_order(y, 1));
            let (value, gradient, hessian) = f.parts();
            assert!((value - formula(x, y)).abs() < 1e-14);
            let at = |i: usize, j: usize, a: f64, b: f64| {
                let mut p = [x, y];
                p[i] += a * 1e-4;
                p[j] += b * 1e-4;
                formula(p[0], p[1])
            };
            for i in 0..2 {
                let slope = (at(i, i, -2.0, 0.0) - 8.0 * at(i, i, -1.0, 0.0)
                    + 8.0 * at(i, i, 1.0, 0.0)
                    - at(i, i, 2.0, 0.0))
                    / 12e-4;
                assert!((slope - gradient[i]).abs() < 1e-9 * (1.0 + slope.abs()), "{x} {y} {i}");
                for j in 0..2 {
                    let cross = at(i, j, 1.0, 1.0) - at(i, j, 1.0, -1.0) - at(i, j, -1.0, 1.0)
                        + at(i, j, -1.0, -1.0);
                    let slope = cross / 4e-8;
                    let off = (slope - hessian[i][j]).abs();
                    assert!(off < 1e-5 * (1.0 + slope.abs()), "{x} {y} {i} {j}: {off:e}");
                    assert!((hessian[i][j] - hessian[j][i]).abs() < 1e-13);
                }
            }
        }
    }
}
