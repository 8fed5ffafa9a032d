//! Fixed corotated solid [Stomakhin 2012, §3.3]: ψ = μ Σ (σᵢ − 1)² + λ/2 (J − 1)², where
//! Σ (σᵢ − 1)² = ‖F − R‖². Finite at every F; singular values are signed as in [`Svd3`].
//!
//! Where σ₁ + σ₂ = 0 the nearest rotation R, and with it the stress, jumps.
//!
//! [`Svd3`]: standoff_linalg::Svd3

use super::Lame;
use super::principal::{PrincipalHessian, corotated_twist};
use super::strain::product_minus_one;
use standoff_linalg::{M3, Real, V3, svd};

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(m: &Lame<R>, f: &M3<R>) -> R {
    let e = distance_to_one(&svd(f).sigma);
    let dj = product_minus_one(&e);
    m.mu * e.norm_squared() + m.lambda * 0.5 * dj * dj
}

/// P = 2μ (F − R) + λ (J − 1) ∂J/∂F.
#[inline(always)]
pub(super) fn pk1<R: Real>(m: &Lame<R>, f: &M3<R>) -> M3<R> {
    let svd = svd(f);
    let e = distance_to_one(&svd.sigma);
    let pressure = m.lambda * product_minus_one(&e);
    let s = &svd.sigma;
    let cofactors = V3([s[1] * s[2], s[0] * s[2], s[0] * s[1]]);
    svd.with_values(&(e * (m.mu * 2.0) + cofactors * pressure))
}

/// 2μ for every mode, less 4μ/(σᵢ + σⱼ) for the twists, plus the volume terms.
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(m: &Lame<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    let pressure = m.lambda * (sigma.product() - 1.0);
    let mut h = PrincipalHessian::of_volume(sigma, pressure, m.lambda)
        + PrincipalHessian::uniform(m.mu * 2.0);
    h.twist = h.twist - corotated_twist(sigma, m.mu * 4.0);
    h
}

#[inline(always)]
fn distance_to_one<R: Real>(sigma: &V3<R>) -> V3<R> {
    sigma.add_scalar(sigma[0].constant(-1.0))
}
