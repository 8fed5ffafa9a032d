//! The numbers that formulas are written in, once for all uses: [`f64`], one number per lane of the vector unit
//! ([`Lanes`](crate::lanes::Lanes)), and numbers with derivatives ([`Dual`](crate::Dual)) over either.
//!
//! A formula takes `R: Real` and branches by [`Real::select`]; it runs on plain numbers and on lanes with the same bits. Mark it
//! `#[inline(always)]` and write loops instead of closures: everything has to end up in one function for the vector registers
//! to be used.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number. Every operation rounds as that of [`f64`] does; none is fused with another.
pub trait Real:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// What comparisons give.
    type Mask: Mask;

    /// The constant `value` as a number like this one: in as many lanes, with derivatives of zero.
    fn constant(self, value: f64) -> Self;
    /// A number like this one with these derivatives by the variables, which has them already where none are kept.
    fn with_gradient(self, gradient: &[Self]) -> Self;

    /// √.
    fn sqrt(self) -> Self;
    /// |·|.
    fn abs(self) -> Self;
    /// 1/self.
    #[inline(always)]
    fn recip(self) -> Self {
        self.constant(1.0) / self
    }
    /// Natural logarithm with an error below one unit in the last place: −∞ at 0, NaN below.
    fn ln(self) -> Self;
    /// x − ln(1 + x) for −0.309 ≤ x ≤ 0.448, to full relative accuracy.
    fn minus_ln_1p(self) -> Self;
    /// eˣ with an error below one unit in the last place: 0 below −708, +∞ above 709.
    fn exp(self) -> Self;
    /// (eˣ − 1 − x)/x², 1/2 at 0, with a relative error below 1e-14.
    fn exp_tail(self) -> Self;
    /// The angle of the point (x, self) in (−π, π], rad; 0 at the origin. Unlike with [`f64::atan2`], −0 is 0.
    fn atan2(self, x: Self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);

    /// Whether self < other; false with NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// Whether self ≤ other; false with NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `yes` where true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// The smaller one, `other` where self is NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// The larger one, `other` where self is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
}

/// A truth value for each number in a [`Real`].
pub trait Mask: Copy + Not<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// Whether any is true.
    fn any(self) -> bool;
    /// Whether all are true.
    #[inline(always)]
    fn all(self) -> bool {
        !(!self).any()
    }
}
