//! 3-vectors and 3×3 matrices of any [`Real`].

use crate::{Mat3, Real, Vec3};
use std::ops::{Add, Index, IndexMut, Mul, Neg, Sub};

/// A 3-vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct V3<R>(pub [R; 3]);

/// A 3×3 matrix, by columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct M3<R>(pub [V3<R>; 3]);

impl From<&Vec3> for V3<f64> {
    #[inline(always)]
    fn from(v: &Vec3) -> Self {
        Self([v[0], v[1], v[2]])
    }
}

impl From<V3<f64>> for Vec3 {
    #[inline(always)]
    fn from(v: V3<f64>) -> Self {
        Self::new(v[0], v[1], v[2])
    }
}

impl From<&Mat3> for M3<f64> {
    #[inline(always)]
    fn from(m: &Mat3) -> Self {
        let m = m.as_slice();
        Self([V3([m[0], m[1], m[2]]), V3([m[3], m[4], m[5]]), V3([m[6], m[7], m[8]])])
    }
}

impl From<M3<f64>> for Mat3 {
    #[inline(always)]
    fn from(m: M3<f64>) -> Self {
        let [a, b, c] = m.0;
        Self::new(a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])
    }
}

impl<R> Index<usize> for V3<R> {
    type Output = R;
    #[inline(always)]
    fn index(&self, i: usize) -> &R {
        &self.0[i]
    }
}

impl<R> IndexMut<usize> for V3<R> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut R {
        &mut self.0[i]
    }
}

impl<R> Index<usize> for M3<R> {
    type Output = V3<R>;
    #[inline(always)]
    fn index(&self, column: usize) -> &V3<R> {
        &self.0[column]
    }
}

impl<R> IndexMut<usize> for M3<R> {
    #[inline(always)]
    fn index_mut(&mut self, column: usize) -> &mut V3<R> {
        &mut self.0[column]
    }
}

impl<R: Real> V3<R> {
    /// `value` in each component.
    #[inline(always)]
    pub fn repeat(value: R) -> Self {
        Self([value; 3])
    }

    /// The constant `v` in numbers like `like`.
    #[inline(always)]
    pub fn constant(like: R, v: &Vec3) -> Self {
        Self([like.constant(v[0]), like.constant(v[1]), like.constant(v[2])])
    }

    /// a · b.
    #[inline(always)]
    pub fn dot(&self, b: &Self) -> R {
        self[0] * b[0] + self[1] * b[1] + self[2] * b[2]
    }

    /// a · a.
    #[inline(always)]
    pub fn norm_squared(&self) -> R {
        self.dot(self)
    }

    /// Length.
    #[inline(always)]
    pub fn norm(&self) -> R {
        self.dot(self).sqrt()
    }

    /// a × b.
    #[inline(always)]
    pub fn cross(&self, b: &Self) -> Self {
        Self([
            self[1] * b[2] - self[2] * b[1],
            self[2] * b[0] - self[0] * b[2],
            self[0] * b[1] - self[1] * b[0],
        ])
    }

    /// a bᵀ.
    #[inline(always)]
    pub fn dyad(&self, b: &Self) -> M3<R> {
        M3([*self * b[0], *self * b[1], *self * b[2]])
    }

    /// The products of the components.
    #[inline(always)]
    pub fn component_mul(&self, b: &Self) -> Self {
        Self([self[0] * b[0], self[1] * b[1], self[2] * b[2]])
    }

    /// Sum of the components.
    #[inline(always)]
    pub fn sum(&self) -> R {
        self[0] + self[1] + self[2]
    }

    /// Product of the components.
    #[inline(always)]
    pub fn product(&self) -> R {
        self[0] * self[1] * self[2]
    }

    /// Sum of the absolute components.
    #[inline(always)]
    pub fn abs_sum(&self) -> R {
        self[0].abs() + self[1].abs() + self[2].abs()
    }

    /// `value` added to each component.
    #[inline(always)]
    pub fn add_scalar(&self, value: R) -> Self {
        Self([self[0] + value, self[1] + value, self[2] + value])
    }

    /// `yes` where true, else `no`.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        Self([
            R::select(mask, yes[0], no[0]),
            R::select(mask, yes[1], no[1]),
            R::select(mask, yes[2], no[2]),
        ])
    }
}

impl<R: Real> M3<R> {
    /// `diagonal` on the diagonal.
    #[inline(always)]
    pub fn from_diagonal(diagonal: &V3<R>) -> Self {
        let zero = diagonal[0].constant(0.0);
        let [a, b, c] = diagonal.0;
        Self([V3([a, zero, zero]), V3([zero, b, zero]), V3([zero, zero, c])])
    }

    /// Aᵀ.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        let [a, b, c] = self.0;
        Self([V3([a[0], b[0], c[0]]), V3([a[1], b[1], c[1]]), V3([a[2], b[2], c[2]])])
    }

    /// Sum of the diagonal.
    #[inline(always)]
    pub fn trace(&self) -> R {
        self[0][0] + self[1][1] + self[2][2]
    }

    /// det A.
    #[inline(always)]
    pub fn determinant(&self) -> R {
        self[0].dot(&self[1].cross(&self[2]))
    }

    /// ∂det A/∂A = det A · A⁻ᵀ, also where det A = 0.
    #[inline(always)]
    pub fn cofactor(&self) -> Self {
        let [a, b, c] = &self.0;
        Self([b.cross(c), c.cross(a), a.cross(b)])
    }

    /// `yes` where true, else `no`.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        Self([
            V3::select(mask, &yes[0], &no[0]),
            V3::select(mask, &yes[1], &no[1]),
            V3::select(mask, &yes[2], &no[2]),
        ])
    }
}

macro_rules! by_components {
    ($of:ident, $trait:ident, $name:ident) => {
        impl<R: Real> $trait for $of<R> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, b: Self) -> Self {
                Self([self[0].$name(b[0]), self[1].$name(b[1]), self[2].$name(b[2])])
            }
        }
    };
}

by_components!(V3, Add, add);
by_components!(V3, Sub, sub);
by_components!(M3, Add, add);
by_components!(M3, Sub, sub);

macro_rules! scaled {
    ($of:ident) => {
        impl<R: Real> Neg for $of<R> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self([-self[0], -self[1], -self[2]])
            }
        }

        impl<R: Real> Mul<R> for $of<R> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, factor: R) -> Self {
                Self([self[0] * factor, self[1] * factor, self[2] * factor])
            }
        }
    };
}

scaled!(V3);
scaled!(M3);

impl<R: Real> Mul<&V3<R>> for &M3<R> {
    type Output = V3<R>;
    #[inline(always)]
    fn mul(self, b: &V3<R>) -> V3<R> {
        let [x, y, z] = &self.0;
        V3([
            x[0] * b[0] + y[0] * b[1] + z[0] * b[2],
            x[1] * b[0] + y[1] * b[1] + z[1] * b[2],
            x[2] * b[0] + y[2] * b[1] + z[2] * b[2],
        ])
    }
}

impl<R: Real> Mul for &M3<R> {
    type Output = M3<R>;
    #[inline(always)]
    fn mul(self, b: Self) -> M3<R> {
        M3([self * &b[0], self * &b[1], self * &b[2]])
    }
}
