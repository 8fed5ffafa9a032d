//! Numbers with first derivatives by N variables (forward differentiation): a gradient written for any [`Number`]
//! gives the Hessian too.

use standoff_linalg::Vec3;
use std::ops::{Add, Mul, Neg, Sub};

/// What formulas are written in: a plain number, or one with derivatives by N variables.
pub trait Number<const N: usize>:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Mul<f64, Output = Self>
    + Neg<Output = Self>
{
    /// A number that depends on no variable.
    fn constant(value: f64) -> Self;
    /// A number of this value with this gradient.
    fn with_gradient(value: f64, gradient: &[Self; N]) -> Self;
    /// The number without its derivatives.
    fn value(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// 1/self.
    fn recip(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
}

impl<const N: usize> Number<N> for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn with_gradient(value: f64, _: &[Self; N]) -> Self {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn recip(self) -> Self {
        1.0 / self
    }
    fn sin_cos(self) -> (Self, Self) {
        self.sin_cos()
    }
}

/// A value and its derivatives by N variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<const N: usize> {
    /// The value.
    pub value: f64,
    /// First derivatives.
    pub d: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// Variable number `i`.
    pub fn variable(value: f64, i: usize) -> Self {
        let mut d = [0.0; N];
        d[i] = 1.0;
        Self { value, d }
    }

    #[inline(always)]
    fn zip(self, o: Self, value: f64, f: impl Fn(f64, f64) -> f64) -> Self {
        Self { value, d: std::array::from_fn(|i| f(self.d[i], o.d[i])) }
    }

    /// f(self) from f and its derivative at the value.
    #[inline(always)]
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, d: self.d.map(|d| derivative * d) }
    }
}

impl<const N: usize> Number<N> for Dual<N> {
    #[inline(always)]
    fn constant(value: f64) -> Self {
        Self { value, d: [0.0; N] }
    }
    #[inline(always)]
    fn with_gradient(value: f64, gradient: &[Self; N]) -> Self {
        Self { value, d: std::array::from_fn(|i| gradient[i].value) }
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let r = self.value.sqrt();
        self.chain(r, 0.5 / r)
    }
    #[inline(always)]
    fn recip(self) -> Self {
        let r = 1.0 / self.value;
        self.chain(r, -r * r)
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, self.value + o.value, |a, b| a + b)
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, self.value - o.value, |a, b| a - b)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, c: f64) -> Self {
        self.chain(self.value * c, c)
    }
}

#[allow(clippy::suspicious_arithmetic_impl, reason = "the product rule is a sum")]
impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, self.value * o.value, |a, b| o.value * a + self.value * b)
    }
}

/// A vector of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triple<T>(pub [T; 3]);

impl<T> Triple<T> {
    /// A vector that depends on no variable.
    #[inline(always)]
    pub fn constant<const N: usize>(v: &Vec3) -> Self
    where
        T: Number<N>,
    {
        Self(std::array::from_fn(|k| T::constant(v[k])))
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot<const N: usize>(&self, o: &Self) -> T
    where
        T: Number<N>,
    {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross<const N: usize>(&self, o: &Self) -> Self
    where
        T: Number<N>,
    {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// Multiple.
    #[inline(always)]
    pub fn scaled<const N: usize>(&self, c: T) -> Self
    where
        T: Number<N>,
    {
        Self(self.0.map(|v| v * c))
    }

    /// Sum.
    #[inline(always)]
    pub fn plus<const N: usize>(&self, o: &Self) -> Self
    where
        T: Number<N>,
    {
        Self(std::array::from_fn(|k| self.0[k] + o.0[k]))
    }

    /// Difference.
    #[inline(always)]
    pub fn minus<const N: usize>(&self, o: &Self) -> Self
    where
        T: Number<N>,
    {
        Self(std::array::from_fn(|k| self.0[k] - o.0[k]))
    }
}
