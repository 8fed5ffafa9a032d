//! Singular value decomposition of 3×3 matrices by one-sided Jacobi rotations, and the polar
//! decomposition that follows from it.
//!
//! One-sided Jacobi finds each singular value to full relative accuracy of its column, also where
//! values repeat or vanish; the closed trigonometric form loses half the digits at F = I.

use crate::{M3, Mask, Mat3, Real, V3, Vec3, power_of_two_scale};

/// F = U Σ Vᵀ with rotations U, V (determinant +1) and σ₀ ≥ σ₁ ≥ |σ₂|.
///
/// σ₂ carries the sign of det F, so that a rotation is never traded for a reflection
/// [Irving 2004, §5].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Svd3 {
    /// Left singular vectors, a rotation.
    pub u: Mat3,
    /// Singular values; only the last may be negative.
    pub sigma: Vec3,
    /// Right singular vectors, a rotation.
    pub v: Mat3,
}

impl Svd3 {
    /// U Σ Vᵀ.
    #[inline]
    pub fn reconstruct(&self) -> Mat3 {
        Mat3::from_columns(&[
            self.u.column(0) * self.sigma[0],
            self.u.column(1) * self.sigma[1],
            self.u.column(2) * self.sigma[2],
        ]) * self.v.transpose()
    }

    /// The rotation R = U Vᵀ nearest to F.
    #[inline]
    pub fn rotation(&self) -> Mat3 {
        self.u * self.v.transpose()
    }
}

/// Columns whose cosine is below this count as orthogonal.
const COSINE: f64 = 2.0 * f64::EPSILON;
/// Three to five sweeps suffice in practice; the bound only stops a stall at rounding level.
const MAX_SWEEPS: usize = 12;

/// Singular value decomposition of `f` with rotations U and V; see [`Svd3`].
///
/// Errors of σ, of U and V's orthogonality and of U Σ Vᵀ − F (relative to ‖F‖) are about 1e-15 for
/// every finite F. A matrix with NaN or infinity yields NaN.
#[inline]
pub fn svd3(f: &Mat3) -> Svd3 {
    let (scale, unscale) = power_of_two_scale(f.amax());
    let Svd { u, sigma, v } = svd(&(M3::from(f) * scale));
    Svd3 { u: u.into(), sigma: (sigma * unscale).into(), v: v.into() }
}

/// Polar decomposition F = R S with a rotation R and a symmetric S. S has a negative eigenvalue
/// where det F < 0.
pub fn polar(f: &Mat3) -> (Mat3, Mat3) {
    let svd = svd3(f);
    (svd.rotation(), Svd3 { u: svd.v, ..svd }.reconstruct())
}

/// [`Svd3`] of any number.
#[derive(Clone, Copy)]
pub struct Svd<R> {
    /// Left singular vectors, a rotation.
    pub u: M3<R>,
    /// Singular values; only the last may be negative.
    pub sigma: V3<R>,
    /// Right singular vectors, a rotation.
    pub v: M3<R>,
}

impl From<&Svd3> for Svd<f64> {
    fn from(svd: &Svd3) -> Self {
        Self { u: (&svd.u).into(), sigma: (&svd.sigma).into(), v: (&svd.v).into() }
    }
}

impl<R: Real> Svd<R> {
    /// U diag(`values`) Vᵀ.
    #[inline(always)]
    pub fn with_values(&self, values: &V3<R>) -> M3<R> {
        let [a, b, c] = self.u.0;
        &M3([a * values[0], b * values[1], c * values[2]]) * &self.v.transpose()
    }
}

/// As [`svd3`], but squares of the entries must neither over- nor underflow.
#[inline(always)]
pub fn svd<R: Real>(f: &M3<R>) -> Svd<R> {
    let (zero, one) = (f[0][0].constant(0.0), f[0][0].constant(1.0));
    let mut b = *f;
    let mut v = M3::from_diagonal(&V3::repeat(one));
    for _ in 0..MAX_SWEEPS {
        let mut moved = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            moved |= orthogonalise(&mut b, &mut v, p, q);
        }
        if !moved {
            break;
        }
    }
    // descending order; a swap that negates one column keeps det V = +1
    let mut n = [b[0].norm_squared(), b[1].norm_squared(), b[2].norm_squared()];
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        let swap = n[p].lt(n[q]);
        (n[p], n[q]) = (R::select(swap, n[q], n[p]), R::select(swap, n[p], n[q]));
        (b[p], b[q]) = (V3::select(swap, &b[q], &b[p]), V3::select(swap, &-b[p], &b[q]));
        (v[p], v[q]) = (V3::select(swap, &v[q], &v[p]), V3::select(swap, &-v[p], &v[q]));
    }
    let norm = b[0].norm();
    let flat = norm.le(zero);
    let unit = V3([b[0][0] / norm, b[0][1] / norm, b[0][2] / norm]);
    let u0 = V3::select(flat, &V3([one, zero, zero]), &unit);
    let (u1, sigma1) = unit_perpendicular(&u0, &b[1]);
    let u2 = u0.cross(&u1);
    // the clamps undo at most one ulp of disorder
    let sigma1 = sigma1.min(norm);
    // in this order they leave NaN as it is
    let sigma2 = sigma1.min((-sigma1).max(u2.dot(&b[2])));
    Svd { u: M3([u0, u1, u2]), sigma: V3([norm, sigma1, sigma2]), v }
}

/// Rotates columns p and q of B (and of V) such that B's become orthogonal; false where all are.
#[inline(always)]
fn orthogonalise<R: Real>(b: &mut M3<R>, v: &mut M3<R>, p: usize, q: usize) -> bool {
    let (np, nq, d) = (b[p].norm_squared(), b[q].norm_squared(), b[p].dot(&b[q]));
    let (zero, one) = (d.constant(0.0), d.constant(1.0));
    // written so that NaN turns nothing, and the search ends
    let turn = (np * (COSINE * COSINE) * nq).lt(d * d);
    if !turn.any() {
        return false;
    }
    // tangent of the smaller rotation angle: t² + 2ζt − 1 = 0, ζ = (nq − np) / (2 d)
    let (diff, twice) = (nq - np, d + d);
    let root = (diff * diff + twice * twice).sqrt();
    let root = R::select(diff.lt(zero), -root, root);
    let t = R::select(turn, twice / (diff + root), zero);
    let c = one / (t * t + one).sqrt();
    let s = c * t;
    // a lane that does not turn keeps its bits: c = 1, s = 0
    (b[p], b[q]) = (b[p] * c - b[q] * s, b[p] * s + b[q] * c);
    (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
    true
}

/// Lengths below this, whose squares underflow, count as 0.
const TINY: f64 = 1e-150;

/// The unit vector along the part of `b` perpendicular to the unit vector `u`, and that part's
/// length; any unit vector perpendicular to `u`, and 0, where there is none.
#[inline(always)]
fn unit_perpendicular<R: Real>(u: &V3<R>, b: &V3<R>) -> (V3<R>, R) {
    let w = minus_along(b, u);
    // again where the subtraction cancelled
    let cancelled = w.norm_squared().lt(b.norm_squared() * 0.5);
    let w = V3::select(cancelled, &minus_along(&w, u), &w);
    let norm = w.norm();
    let zero = norm.constant(0.0);
    let none = norm.lt(norm.constant(TINY));
    let mut unit = V3([w[0] / norm, w[1] / norm, w[2] / norm]);
    if none.any() {
        unit = V3::select(none, &perpendicular(u), &unit);
    }
    (unit, R::select(none, zero, norm))
}

/// b − u (u·b).
#[inline(always)]
fn minus_along<R: Real>(b: &V3<R>, u: &V3<R>) -> V3<R> {
    *b - *u * u.dot(b)
}

/// A unit vector perpendicular to the unit vector `u`: the axis that is least along it without its part along `u`.
#[inline(always)]
pub fn perpendicular<R: Real>(u: &V3<R>) -> V3<R> {
    let (zero, one) = (u[0].constant(0.0), u[0].constant(1.0));
    let size = [u[0].abs(), u[1].abs(), u[2].abs()];
    let second = size[1].lt(size[0]);
    let mut axis = V3([R::select(second, zero, one), R::select(second, one, zero), zero]);
    let third = size[2].lt(R::select(second, size[1], size[0]));
    axis = V3::select(third, &V3([zero, zero, one]), &axis);
    let w = axis - *u * u.dot(&axis);
    let norm = w.norm();
    V3([w[0] / norm, w[1] / norm, w[2] / norm])
}
