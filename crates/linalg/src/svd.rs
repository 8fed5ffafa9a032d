//! Singular value decomposition of 3×3 matrices by one-sided Jacobi rotations, and the polar
//! decomposition that follows from it.
//!
//! One-sided Jacobi finds each singular value to full relative accuracy of its column, also where
//! values repeat or vanish; the closed trigonometric form loses half the digits at F = I.

use crate::{Mat3, Vec3, power_of_two_scale};

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
pub(crate) const COSINE: f64 = 2.0 * f64::EPSILON;
/// Three to five sweeps suffice in practice; the bound only stops a stall at rounding level.
pub(crate) const MAX_SWEEPS: usize = 12;

/// Singular value decomposition of `f` with rotations U and V; see [`Svd3`].
///
/// Errors of σ, of U and V's orthogonality and of U Σ Vᵀ − F (relative to ‖F‖) are about 1e-15 for
/// every finite F. A matrix with NaN or infinity yields NaN.
#[inline]
pub fn svd3(f: &Mat3) -> Svd3 {
    let (scale, unscale) = power_of_two_scale(f.amax());
    let mut b = [f.column(0) * scale, f.column(1) * scale, f.column(2) * scale];
    let mut v = [Vec3::x(), Vec3::y(), Vec3::z()];
    for _ in 0..MAX_SWEEPS {
        let moved = [(0, 1), (0, 2), (1, 2)].map(|(p, q)| orthogonalise(&mut b, &mut v, p, q));
        if moved == [false; 3] {
            break;
        }
    }

    // descending order; a swap that negates one column keeps det V = +1
    let mut n = [b[0].norm_squared(), b[1].norm_squared(), b[2].norm_squared()];
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        if n[p] < n[q] {
            n.swap(p, q);
            (b[p], b[q]) = (b[q], -b[p]);
            (v[p], v[q]) = (v[q], -v[p]);
        }
    }

    let (u0, sigma0) = match b[0].norm() {
        0.0 => (Vec3::x(), 0.0),
        norm => (b[0] / norm, norm),
    };
    let (u1, sigma1) = unit_perpendicular(&u0, &b[1]);
    let u2 = u0.cross(&u1);
    // the clamps undo at most one ulp of disorder
    let sigma1 = sigma1.min(sigma0);
    let sigma2 = u2.dot(&b[2]).max(-sigma1).min(sigma1);
    Svd3 {
        u: Mat3::from_columns(&[u0, u1, u2]),
        sigma: Vec3::new(sigma0, sigma1, sigma2) * unscale,
        v: Mat3::from_columns(&v),
    }
}

/// Polar decomposition F = R S with a rotation R and a symmetric S. S has a negative eigenvalue
/// where det F < 0.
pub fn polar(f: &Mat3) -> (Mat3, Mat3) {
    let svd = svd3(f);
    (svd.rotation(), Svd3 { u: svd.v, ..svd }.reconstruct())
}

/// Rotates columns p and q of B (and of V) such that B's become orthogonal; false where they are.
#[inline(always)]
fn orthogonalise(b: &mut [Vec3; 3], v: &mut [Vec3; 3], p: usize, q: usize) -> bool {
    let (np, nq, dot) = (b[p].norm_squared(), b[q].norm_squared(), b[p].dot(&b[q]));
    if dot * dot <= COSINE * COSINE * np * nq {
        return false;
    }
    // tangent of the smaller rotation angle: t² + 2ζt − 1 = 0, ζ = (nq − np) / (2 dot)
    let (diff, twice) = (nq - np, 2.0 * dot);
    let t = twice / (diff + (diff * diff + twice * twice).sqrt().copysign(diff));
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    (b[p], b[q]) = (b[p] * c - b[q] * s, b[p] * s + b[q] * c);
    (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
    true
}

/// The unit vector along the part of `b` perpendicular to the unit vector `u`, and that part's
/// length; any unit vector perpendicular to `u`, and 0, where there is none.
#[inline(always)]
fn unit_perpendicular(u: &Vec3, b: &Vec3) -> (Vec3, f64) {
    let mut w = b - u * u.dot(b);
    if w.norm_squared() < 0.5 * b.norm_squared() {
        // the subtraction cancelled: repeat it
        w -= u * u.dot(&w);
    }
    let norm = w.norm();
    // below this the squares in `norm` underflow
    if norm < 1e-150 {
        let axis = u.iamin();
        let w = Vec3::ith(axis, 1.0);
        let w = w - u * u[axis];
        return ((w / w.norm()), 0.0);
    }
    (w / norm, norm)
}
