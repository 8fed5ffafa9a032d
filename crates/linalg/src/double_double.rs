//! Numbers of about 106 bits: unevaluated sums of two `f64` [Dekker 1971].
//!
//! For audits and for twins of `f64` code; the relative error of each operation is below 1e-30.
//!
//! ```
//! use standoff_linalg::double_double::DoubleDouble;
//!
//! // 1 + 1e-25 − 1: nothing would be left of it in f64
//! let one = DoubleDouble::new(1.0);
//! let small = one + DoubleDouble::new(1e-25) - one;
//! assert!((small.value() - 1e-25).abs() < 1e-31);
//! ```

use std::ops::{Add, Div, Mul, Sub};

/// hi + lo with |lo| ≤ ulp(hi)/2.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// a + b exactly.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// a · b exactly, short of underflow.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, f64::mul_add(a, b, -p))
}

/// a + b where |a| ≥ |b|, as a normalised pair.
fn renormalised(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    DoubleDouble { hi: s, lo: b - (s - a) }
}

impl DoubleDouble {
    /// The `f64` `v`.
    pub const fn new(v: f64) -> Self {
        Self { hi: v, lo: 0.0 }
    }

    /// a − b of two `f64`, exactly.
    pub fn difference(a: f64, b: f64) -> Self {
        let (hi, lo) = two_sum(a, -b);
        Self { hi, lo }
    }

    /// Nearest `f64`.
    pub fn value(self) -> f64 {
        self.hi
    }

    /// Whether the number is above 0.
    pub fn is_positive(self) -> bool {
        self.hi > 0.0
    }

    /// Square root; 0 below 0.
    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::new(0.0);
        }
        // one Newton step from the f64 root
        let r = Self::new(self.hi.sqrt());
        let rest = self - r * r;
        r + Self::new(rest.hi / (2.0 * r.hi))
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (s, e) = two_sum(self.hi, o.hi);
        let (t, f) = two_sum(self.lo, o.lo);
        let r = renormalised(s, e + t);
        renormalised(r.hi, r.lo + f)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + Self { hi: -o.hi, lo: -o.lo }
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (p, e) = two_product(self.hi, o.hi);
        renormalised(p, e + (self.hi * o.lo + self.lo * o.hi))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, d: Self) -> Self {
        // three steps of long division
        let q1 = self.hi / d.hi;
        let r = self - d * Self::new(q1);
        let q2 = r.hi / d.hi;
        let r = r - d * Self::new(q2);
        renormalised(q1, q2) + Self::new(r.hi / d.hi)
    }
}

/// A vector of three.
pub type Vector = [DoubleDouble; 3];

/// a − b.
pub fn sub(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

/// a · b.
pub fn dot(a: &Vector, b: &Vector) -> DoubleDouble {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
pub fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i] * b[j] - a[j] * b[i]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of 106 bits as hi · 2⁵³ + lo, and its product with another one in exact integers.
    #[test]
    fn operations_agree_with_integers_of_128_bits() {
        let mut random = standoff_testkit::Random::new(1);
        for _ in 0..2000 {
            let [a, b, c] = [(); 3].map(|()| (random.below(1 << 41) + 1) as i128);
            let number = |v: i128| DoubleDouble::new(v as f64);
            // a·b + c and a·b − c have up to 83 bits: exact in 106
            let (sum, difference) =
                (number(a) * number(b) + number(c), number(a) * number(b) - number(c));
            for (found, want) in [(sum, a * b + c), (difference, a * b - c)] {
                assert_eq!(found.hi as i128 + found.lo as i128, want);
            }
            let back = sum / number(b) - number(c) / number(b);
            assert!((back - number(a)).value().abs() <= 1e-30 * a as f64);
            let root = (number(a) * number(a)).sqrt();
            assert!((root - number(a)).value().abs() <= 1e-30 * a as f64);
            assert_eq!(DoubleDouble::difference(c as f64, 0.25).value(), c as f64 - 0.25);
        }
    }
}
