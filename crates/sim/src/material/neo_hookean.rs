//! Compressible neo-Hookean solid [Li 2020 thesis, §2.2.1]:
//! ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (ln J)², +∞ at J ≤ 0.
//!
//! Stress and Hessian mean nothing where J ≤ 0; they are not finite there.

use super::Lame;
use super::principal::PrincipalHessian;
use super::strain::Strain;
use standoff_linalg::{M3, Mask, Real, V3};

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(m: &Lame<R>, f: &M3<R>) -> R {
    let Strain { trace, j, far, higher, q, .. } = Strain::new(f);
    let zero = trace.constant(0.0);
    // each branch only where a lane needs it: it then selects what a single lane would have computed
    let (mut psi, mut scale, mut ln_j) = (zero, m.mu * 0.5, zero);
    if !far.all() {
        // tr G − ln J² = (q − ln(1 + q)) − (I₂ + I₃), q = J² − 1
        let excess = q.minus_ln_1p();
        ln_j = (q - excess) * 0.5;
        psi = excess - higher;
    }
    if far.any() {
        ln_j = R::select(far, j.ln(), ln_j);
        psi = R::select(far, trace * 0.5 - ln_j, psi);
        scale = R::select(far, m.mu, scale);
    }
    let psi = scale * psi + m.lambda * 0.5 * ln_j * ln_j;
    R::select(j.le(zero), zero.constant(f64::INFINITY), psi)
}

/// P = μ F + (λ ln J − μ) F⁻ᵀ.
#[inline(always)]
pub(super) fn pk1<R: Real>(m: &Lame<R>, f: &M3<R>) -> M3<R> {
    let cofactor = f.cofactor();
    let j = f[0].dot(&cofactor[0]);
    *f * m.mu + cofactor * ((m.lambda * j.ln() - m.mu) / j)
}

/// With c = λ ln J − μ: ψᵢ = μσᵢ + c/σᵢ, hence (ψᵢ ∓ ψⱼ)/(σᵢ ∓ σⱼ) = μ ∓ c/(σᵢσⱼ).
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(m: &Lame<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    let j = sigma.product();
    let c = m.lambda * j.ln() - m.mu;
    let w = V3([sigma[0].recip(), sigma[1].recip(), sigma[2].recip()]);
    // c/(σᵢσⱼ) for the plane of entry k
    let plane = *sigma * (c / j);
    // λ w wᵀ, and μ − c w² on the diagonal
    let mut stretch = (w * m.lambda).dyad(&w);
    for i in 0..3 {
        stretch[i][i] = stretch[i][i] + (m.mu - c * w[i] * w[i]);
    }
    let mu = V3::repeat(m.mu);
    PrincipalHessian { stretch, flip: mu - plane, twist: mu + plane }
}
