//! Stable neo-Hookean solid [Smith 2018, §3], without the logarithmic term that makes the
//! origin special and with parameters such that λ, μ are the Lamé constants of linear elasticity:
//!
//! ψ = μ/2 (tr FᵀF − 3) + λ′/2 (J − α)² + const, λ′ = λ + μ, α = 1 + μ/λ′.
//!
//! The constant is such that ψ(I) = 0, which gives the form computed here:
//! ψ = μ/2 (tr FᵀF − 3) − μ (J − 1) + λ′/2 (J − 1)². Finite at every F.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::Strain;
use standoff_linalg::{M3, Mask, Real, V3};

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(m: &Lame<R>, f: &M3<R>) -> R {
    let Strain { trace, j, far, higher, q, .. } = Strain::new(f);
    // J − 1 without cancellation near rest
    let dj = R::select(far, j - 1.0, q / ((q + 1.0).sqrt() + 1.0));
    // tr G / 2 − (J − 1); tr G = q − higher and q/2 − (J − 1) = (J − 1)²/2
    let mut deviation = (dj * dj - higher) * 0.5;
    if far.any() {
        deviation = R::select(far, trace * 0.5 - dj, deviation);
    }
    m.mu * deviation + (m.lambda + m.mu) * 0.5 * dj * dj
}

/// ∂ψ/∂J of the volume terms.
#[inline(always)]
fn pressure<R: Real>(m: &Lame<R>, j: R) -> R {
    (m.lambda + m.mu) * (j - 1.0) - m.mu
}

/// P = μ F + [λ′ (J − 1) − μ] ∂J/∂F.
#[inline(always)]
pub(super) fn pk1<R: Real>(m: &Lame<R>, f: &M3<R>) -> M3<R> {
    *f * m.mu + f.cofactor() * pressure(m, f.determinant())
}

/// μ for every mode plus the volume terms.
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(m: &Lame<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    PrincipalHessian::of_volume(sigma, pressure(m, sigma.product()), m.lambda + m.mu)
        + PrincipalHessian::uniform(m.mu)
}
