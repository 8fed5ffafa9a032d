//! Stable neo-Hookean solid [Smith 2018, §3], without the logarithmic term that makes the
//! origin special and with parameters such that λ, μ are the Lamé constants of linear elasticity:
//!
//! ψ = μ/2 (tr FᵀF − 3) + λ′/2 (J − α)² + const, λ′ = λ + μ, α = 1 + μ/λ′.
//!
//! The constant is such that ψ(I) = 0, which gives the form computed here:
//! ψ = μ/2 (tr FᵀF − 3) − μ (J − 1) + λ′/2 (J − 1)². Finite at every F.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::{Strain, cofactor};
use standoff_linalg::{Mat3, Vec3};

/// ψ(F).
#[inline]
pub(super) fn psi(m: &Lame, f: &Mat3) -> f64 {
    let strain = Strain::new(f);
    let dj = strain.j_minus_one();
    // tr G / 2 − (J − 1); tr G = q − higher and q/2 − (J − 1) = (J − 1)²/2
    let deviation = match strain.near {
        Some(near) => 0.5 * (dj * dj - near.higher),
        None => 0.5 * strain.trace - dj,
    };
    m.mu * deviation + 0.5 * (m.lambda + m.mu) * dj * dj
}

/// ∂ψ/∂J of the volume terms.
#[inline]
fn pressure(m: &Lame, j: f64) -> f64 {
    (m.lambda + m.mu) * (j - 1.0) - m.mu
}

/// P = μ F + [λ′ (J − 1) − μ] ∂J/∂F.
#[inline]
pub(super) fn pk1(m: &Lame, f: &Mat3) -> Mat3 {
    f * m.mu + cofactor(f) * pressure(m, f.determinant())
}

/// μ for every mode plus the volume terms.
#[inline]
pub(super) fn principal_hessian(m: &Lame, sigma: &Vec3) -> PrincipalHessian {
    PrincipalHessian::of_volume(sigma, pressure(m, sigma.product()), m.lambda + m.mu)
        + PrincipalHessian::uniform(m.mu)
}
