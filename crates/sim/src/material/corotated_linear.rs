//! Corotated linear elasticity [Müller & Gross 2004; Sifakis & Barbič 2012, §3.4]:
//! ψ = μ Σ (σᵢ − 1)² + λ/2 (Σ (σᵢ − 1))², which is Hooke's law in the strain RᵀF − I. Finite at
//! every F; singular values are signed as in [`Svd3`].
//!
//! Where σ₁ + σ₂ = 0 the nearest rotation R, and with it the stress, jumps.
//!
//! [`Svd3`]: standoff_linalg::Svd3

use super::Lame;
use super::principal::{PrincipalHessian, corotated_twist};
use standoff_linalg::{M3, Real, V3, svd};

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(m: &Lame<R>, f: &M3<R>) -> R {
    let e = strain(&svd(f).sigma);
    let trace = e.sum();
    m.mu * e.norm_squared() + m.lambda * 0.5 * trace * trace
}

/// P = 2μ (F − R) + λ tr(RᵀF − I) R.
#[inline(always)]
pub(super) fn pk1<R: Real>(m: &Lame<R>, f: &M3<R>) -> M3<R> {
    let svd = svd(f);
    let e = strain(&svd.sigma);
    svd.with_values(&(e * (m.mu * 2.0)).add_scalar(m.lambda * e.sum()))
}

/// Stretches as in Hooke's law; flips 2μ; twists 2μ + (2t − 4μ)/(σᵢ + σⱼ), t = λ Σ (σᵢ − 1).
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(m: &Lame<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    let t = m.lambda * (sigma.sum() - 3.0);
    let mut h = PrincipalHessian::uniform(m.mu * 2.0);
    for column in &mut h.stretch.0 {
        *column = column.add_scalar(m.lambda);
    }
    h.twist = h.twist - corotated_twist(sigma, m.mu * 4.0 - t * 2.0);
    h
}

#[inline(always)]
fn strain<R: Real>(sigma: &V3<R>) -> V3<R> {
    sigma.add_scalar(sigma[0].constant(-1.0))
}
