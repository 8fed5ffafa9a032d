//! Compressible neo-Hookean solid [Li 2020 thesis, §2.2.1]:
//! ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (ln J)², +∞ at J ≤ 0.
//!
//! Stress and Hessian mean nothing where J ≤ 0; they are not finite there.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::{Strain, cofactor, q_minus_ln_1p};
use standoff_linalg::{Mat3, Vec3};

/// ψ(F).
#[inline]
pub(super) fn psi(m: &Lame, f: &Mat3) -> f64 {
    let strain = Strain::new(f);
    if strain.j <= 0.0 {
        return f64::INFINITY;
    }
    match strain.near {
        // tr G − ln J² = (q − ln(1 + q)) − (I₂ + I₃), q = J² − 1
        Some(near) => {
            let excess = q_minus_ln_1p(near.q);
            let ln_j = 0.5 * (near.q - excess);
            0.5 * m.mu * (excess - near.higher) + 0.5 * m.lambda * ln_j * ln_j
        }
        None => {
            let ln_j = strain.j.ln();
            m.mu * (0.5 * strain.trace - ln_j) + 0.5 * m.lambda * ln_j * ln_j
        }
    }
}

/// P = μ F + (λ ln J − μ) F⁻ᵀ.
#[inline]
pub(super) fn pk1(m: &Lame, f: &Mat3) -> Mat3 {
    let j = f.determinant();
    f * m.mu + cofactor(f) * ((m.lambda * j.ln() - m.mu) / j)
}

/// With c = λ ln J − μ: ψᵢ = μσᵢ + c/σᵢ, hence (ψᵢ ∓ ψⱼ)/(σᵢ ∓ σⱼ) = μ ∓ c/(σᵢσⱼ).
#[inline]
pub(super) fn principal_hessian(m: &Lame, sigma: &Vec3) -> PrincipalHessian {
    let j = sigma[0] * sigma[1] * sigma[2];
    let c = m.lambda * j.ln() - m.mu;
    let inverse = sigma.map(|s| 1.0 / s);
    // 1/(σᵢσⱼ) for the plane of entry k
    let plane = sigma.map(|s| s / j);
    PrincipalHessian {
        stretch: inverse * inverse.transpose() * m.lambda
            + Mat3::from_diagonal(&inverse.map(|w| m.mu - c * w * w)),
        flip: plane.map(|w| m.mu - c * w),
        twist: plane.map(|w| m.mu + c * w),
    }
}
