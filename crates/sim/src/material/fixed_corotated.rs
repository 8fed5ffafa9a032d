//! Fixed corotated solid [Stomakhin 2012, §3.3]: ψ = μ Σ (σᵢ − 1)² + λ/2 (J − 1)², where
//! Σ (σᵢ − 1)² = ‖F − R‖². Finite at every F; singular values are signed as in [`Svd3`].
//!
//! Where σ₁ + σ₂ = 0 the nearest rotation R, and with it the stress, jumps.

use super::Lame;
use super::principal::{PrincipalHessian, corotated_twist, stress};
use super::strain::product_minus_one;
use standoff_linalg::{Mat3, Svd3, Vec3, svd3};

/// ψ(F).
#[inline]
pub(super) fn psi(m: &Lame, f: &Mat3) -> f64 {
    let e = distance_to_one(&svd3(f));
    let dj = product_minus_one(&e);
    m.mu * e.norm_squared() + 0.5 * m.lambda * dj * dj
}

/// P = 2μ (F − R) + λ (J − 1) ∂J/∂F.
#[inline]
pub(super) fn pk1(m: &Lame, f: &Mat3) -> Mat3 {
    let svd = svd3(f);
    let e = distance_to_one(&svd);
    let pressure = m.lambda * product_minus_one(&e);
    let s = &svd.sigma;
    let cofactors = Vec3::new(s[1] * s[2], s[0] * s[2], s[0] * s[1]);
    stress(&svd, &(e * (2.0 * m.mu) + cofactors * pressure))
}

/// 2μ for every mode, less 4μ/(σᵢ + σⱼ) for the twists, plus the volume terms.
#[inline]
pub(super) fn principal_hessian(m: &Lame, sigma: &Vec3) -> PrincipalHessian {
    let pressure = m.lambda * (sigma.product() - 1.0);
    let mut h = PrincipalHessian::of_volume(sigma, pressure, m.lambda)
        + PrincipalHessian::uniform(2.0 * m.mu);
    h.twist -= corotated_twist(sigma, 4.0 * m.mu);
    h
}

fn distance_to_one(svd: &Svd3) -> Vec3 {
    svd.sigma.add_scalar(-1.0)
}
