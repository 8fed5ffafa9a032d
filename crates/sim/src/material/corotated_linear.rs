//! Corotated linear elasticity [Müller & Gross 2004; Sifakis & Barbič 2012, §3.4]:
//! ψ = μ Σ (σᵢ − 1)² + λ/2 (Σ (σᵢ − 1))², which is Hooke's law in the strain RᵀF − I. Finite at
//! every F; singular values are signed as in [`Svd3`].
//!
//! Where σ₁ + σ₂ = 0 the nearest rotation R, and with it the stress, jumps.
//!
//! [`Svd3`]: standoff_linalg::Svd3

use super::Lame;
use super::principal::{PrincipalHessian, corotated_twist, stress};
use standoff_linalg::{Mat3, Vec3, svd3};

/// ψ(F).
#[inline]
pub(super) fn psi(m: &Lame, f: &Mat3) -> f64 {
    let e = svd3(f).sigma.add_scalar(-1.0);
    let trace = e.sum();
    m.mu * e.norm_squared() + 0.5 * m.lambda * trace * trace
}

/// P = 2μ (F − R) + λ tr(RᵀF − I) R.
#[inline]
pub(super) fn pk1(m: &Lame, f: &Mat3) -> Mat3 {
    let svd = svd3(f);
    let e = svd.sigma.add_scalar(-1.0);
    stress(&svd, &(e * (2.0 * m.mu)).add_scalar(m.lambda * e.sum()))
}

/// Stretches as in Hooke's law; flips 2μ; twists 2μ + (2t − 4μ)/(σᵢ + σⱼ), t = λ Σ (σᵢ − 1).
#[inline]
pub(super) fn principal_hessian(m: &Lame, sigma: &Vec3) -> PrincipalHessian {
    let t = m.lambda * (sigma.sum() - 3.0);
    let mut h = PrincipalHessian::uniform(2.0 * m.mu);
    h.stretch = h.stretch.add_scalar(m.lambda);
    h.twist -= corotated_twist(sigma, 4.0 * m.mu - 2.0 * t);
    h
}
