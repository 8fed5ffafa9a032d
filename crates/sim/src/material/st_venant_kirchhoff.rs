//! St. Venant–Kirchhoff solid: ψ = μ ‖E‖² + λ/2 (tr E)², E = (FᵀF − I)/2
//! [Sifakis & Barbič 2012, §3.3].
//!
//! Finite at every F, but soft in compression: the stress vanishes again as F → 0.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::green;
use standoff_linalg::{M3, Real, V3};

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(m: &Lame<R>, f: &M3<R>) -> R {
    let g = green(f);
    let trace = g.trace();
    let square = g[0].norm_squared() + g[1].norm_squared() + g[2].norm_squared();
    m.mu * 0.25 * square + m.lambda * 0.125 * trace * trace
}

/// P = F (2μ E + λ tr E I).
#[inline(always)]
pub(super) fn pk1<R: Real>(m: &Lame<R>, f: &M3<R>) -> M3<R> {
    let g = green(f);
    let mean = V3::repeat(m.lambda * 0.5 * g.trace());
    f * &(g * m.mu + M3::from_diagonal(&mean))
}

/// With t = λ tr E: ψᵢ = σᵢ [μ(σᵢ² − 1) + t], hence
/// (ψᵢ ∓ ψⱼ)/(σᵢ ∓ σⱼ) = t − μ + μ (σᵢ² ± σᵢσⱼ + σⱼ²).
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(m: &Lame<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    let mut trace = sigma[0].constant(0.0);
    for i in 0..3 {
        trace = trace + (sigma[i] - 1.0) * (sigma[i] + 1.0);
    }
    let t = m.lambda * 0.5 * trace;
    let mut h = PrincipalHessian::uniform(t);
    h.stretch = sigma.dyad(&(*sigma * m.lambda));
    for i in 0..3 {
        h.stretch[i][i] = h.stretch[i][i] + t + m.mu * (sigma[i] * sigma[i] * 3.0 - 1.0);
    }
    for (k, (i, j)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
        let (a, b) = (sigma[i], sigma[j]);
        h.flip[k] = t + m.mu * (a * a + a * b + b * b - 1.0);
        h.twist[k] = t + m.mu * (a * a - a * b + b * b - 1.0);
    }
    h
}
