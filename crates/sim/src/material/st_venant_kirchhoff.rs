//! St. Venant–Kirchhoff solid: ψ = μ ‖E‖² + λ/2 (tr E)², E = (FᵀF − I)/2
//! [Sifakis & Barbič 2012, §3.3].
//!
//! Finite at every F, but soft in compression: the stress vanishes again as F → 0.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::green;
use standoff_linalg::{Mat3, Vec3};

/// ψ(F).
#[inline]
pub(super) fn psi(m: &Lame, f: &Mat3) -> f64 {
    let g = green(f);
    let trace = g.trace();
    0.25 * m.mu * g.norm_squared() + 0.125 * m.lambda * trace * trace
}

/// P = F (2μ E + λ tr E I).
#[inline]
pub(super) fn pk1(m: &Lame, f: &Mat3) -> Mat3 {
    let g = green(f);
    f * (g * m.mu + Mat3::from_diagonal_element(0.5 * m.lambda * g.trace()))
}

/// With t = λ tr E: ψᵢ = σᵢ [μ(σᵢ² − 1) + t], hence
/// (ψᵢ ∓ ψⱼ)/(σᵢ ∓ σⱼ) = t − μ + μ (σᵢ² ± σᵢσⱼ + σⱼ²).
#[inline]
pub(super) fn principal_hessian(m: &Lame, sigma: &Vec3) -> PrincipalHessian {
    let t = 0.5 * m.lambda * sigma.map(|s| (s - 1.0) * (s + 1.0)).sum();
    let mode = |i: usize, j: usize, sign: f64| {
        let (a, b) = (sigma[i], sigma[j]);
        t + m.mu * (a * a + sign * a * b + b * b - 1.0)
    };
    PrincipalHessian {
        stretch: sigma * sigma.transpose() * m.lambda
            + Mat3::from_diagonal(&sigma.map(|s| t + m.mu * (3.0 * s * s - 1.0))),
        flip: Vec3::new(mode(1, 2, 1.0), mode(2, 0, 1.0), mode(0, 1, 1.0)),
        twist: Vec3::new(mode(1, 2, -1.0), mode(2, 0, -1.0), mode(0, 1, -1.0)),
    }
}
