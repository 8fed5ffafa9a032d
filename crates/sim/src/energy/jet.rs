//! Values with exact first and second derivatives by N variables (second-order forward
//! differentiation), for energies whose derivatives by hand would be pages long.

use standoff_linalg::Vec3;
use std::ops::{Add, Mul, Neg, Sub};

/// A value, its gradient and its (symmetric) Hessian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet<const N: usize> {
    /// The value.
    pub value: f64,
    /// First derivatives.
    pub d: [f64; N],
    /// Second derivatives; only entries (i, j) with i ≥ j are kept.
    pub dd: [[f64; N]; N],
}

impl<const N: usize> Jet<N> {
    /// A constant.
    pub fn constant(value: f64) -> Self {
        Self { value, d: [0.0; N], dd: [[0.0; N]; N] }
    }

    /// Variable number `i`.
    pub fn variable(value: f64, i: usize) -> Self {
        let mut out = Self::constant(value);
        out.d[i] = 1.0;
        out
    }

    /// f(self) from f and its first two derivatives at the value.
    #[inline]
    pub fn chain(&self, f: f64, f1: f64, f2: f64) -> Self {
        let mut out = Self { value: f, d: self.d.map(|d| f1 * d), dd: self.dd };
        for i in 0..N {
            for j in 0..=i {
                out.dd[i][j] = f1 * self.dd[i][j] + f2 * self.d[i] * self.d[j];
            }
        }
        out
    }

    /// Square root.
    pub fn sqrt(&self) -> Self {
        let r = self.value.sqrt();
        self.chain(r, 0.5 / r, -0.25 / (r * self.value))
    }

    /// 1/self.
    pub fn recip(&self) -> Self {
        let r = 1.0 / self.value;
        self.chain(r, -r * r, 2.0 * r * r * r)
    }

    /// Sine and cosine.
    pub fn sin_cos(&self) -> (Self, Self) {
        let (s, c) = self.value.sin_cos();
        (self.chain(s, c, -s), self.chain(c, -s, -c))
    }

    /// Angle of the point (x, self) in the plane, rad, of which one is not zero.
    pub fn atan2(&self, x: &Self) -> Self {
        // derivatives of the angle are those of arctan of either quotient, whichever is smaller
        let (y, value) = (self, self.value.atan2(x.value));
        let quotient = |r: Jet<N>, sign: f64| {
            let s = 1.0 / (1.0 + r.value * r.value);
            r.chain(value, sign * s, -sign * 2.0 * r.value * s * s)
        };
        if y.value.abs() <= x.value.abs() {
            quotient(*y * x.recip(), 1.0)
        } else {
            quotient(*x * y.recip(), -1.0)
        }
    }

    /// Both off-diagonal halves of the Hessian.
    pub fn hessian(&self) -> [[f64; N]; N] {
        std::array::from_fn(|i| std::array::from_fn(|j| self.dd[i.max(j)][i.min(j)]))
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;
    #[inline]
    fn add(mut self, o: Self) -> Self {
        self.value += o.value;
        for i in 0..N {
            self.d[i] += o.d[i];
            for j in 0..=i {
                self.dd[i][j] += o.dd[i][j];
            }
        }
        self
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const N: usize> Sub for Jet<N> {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl<const N: usize> Mul<f64> for Jet<N> {
    type Output = Self;
    #[inline]
    fn mul(self, c: f64) -> Self {
        self.chain(c * self.value, c, 0.0)
    }
}

impl<const N: usize> Mul for Jet<N> {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        let mut out = Self::constant(self.value * o.value);
        for i in 0..N {
            out.d[i] = self.value * o.d[i] + o.value * self.d[i];
            for j in 0..=i {
                out.dd[i][j] = self.value * o.dd[i][j]
                    + o.value * self.dd[i][j]
                    + self.d[i] * o.d[j]
                    + self.d[j] * o.d[i];
            }
        }
        out
    }
}

/// A vector of jets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JetVec<const N: usize>(pub [Jet<N>; 3]);

impl<const N: usize> JetVec<N> {
    /// A constant.
    pub fn constant(v: &Vec3) -> Self {
        Self(std::array::from_fn(|k| Jet::constant(v[k])))
    }

    /// Variables number `first` … `first` + 2.
    pub fn variables(v: &Vec3, first: usize) -> Self {
        Self(std::array::from_fn(|k| Jet::variable(v[k], first + k)))
    }

    /// Scalar product.
    pub fn dot(&self, o: &Self) -> Jet<N> {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    /// Vector product.
    pub fn cross(&self, o: &Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// Multiple.
    pub fn scaled(&self, c: &Jet<N>) -> Self {
        Self(self.0.map(|v| v * *c))
    }

    /// Sum.
    pub fn plus(&self, o: &Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + o.0[k]))
    }

    /// The vector of length 1 in its direction.
    pub fn unit(&self) -> Self {
        self.scaled(&self.dot(self).sqrt().recip())
    }
}
