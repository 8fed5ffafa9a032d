//! Plain numbers as [`Real`].

use crate::elementary::{self, Binary};
use crate::real::{Mask, Real};

impl Mask for bool {
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
}

impl Real for f64 {
    type Mask = bool;

    #[inline(always)]
    fn constant(self, value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn with_gradient(self, _: &[Self]) -> Self {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
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
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        self.sin_cos()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}

impl Binary for f64 {
    #[inline(always)]
    fn split(self) -> (f64, f64) {
        const MANTISSA: u64 = (1 << 52) - 1;
        const BIAS: f64 = 1023.0;
        let two_to_52 = (1_u64 << 52) as f64;
        let bits = self.to_bits();
        // the last bit of 2⁵² is 1
        let e = f64::from_bits(bits >> 52 | two_to_52.to_bits());
        (f64::from_bits(bits & MANTISSA | 1_f64.to_bits()), e - (two_to_52 + BIAS))
    }
    #[inline(always)]
    fn scale(self, e: f64) -> f64 {
        self * f64::from_bits(((e as i64 + 1023) as u64) << 52)
    }
}
