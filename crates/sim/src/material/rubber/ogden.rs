//! Ogden's law in the logarithms lᵢ = ln σᵢ − ln J/3 of the isochoric stretches,
//!
//! w = Σ 2μₚ/αₚ² Σᵢ (exp(αₚ lᵢ) − 1 − αₚ lᵢ):
//!
//! the terms of first order, which would cancel, sum to zero.

use super::{Numbers, OGDEN_TERMS, PrincipalHessian, bulk, volume_energy};
use crate::material::strain::product_minus_one;
use crate::material::stretches::{PLANES, from_logarithms};
use standoff_linalg::{M3, Mask, Real, V3, svd};

/// ln σᵢ less their mean.
#[inline(always)]
fn logarithms<R: Real>(sigma: &V3<R>) -> V3<R> {
    let l = V3([sigma[0].ln(), sigma[1].ln(), sigma[2].ln()]);
    l.add_scalar(-(l.sum() * (1.0 / 3.0)))
}

/// J² − 1 without cancellation near rest.
#[inline(always)]
fn square_minus_one<R: Real>(sigma: &V3<R>) -> R {
    let dj = product_minus_one(&sigma.add_scalar(sigma[0].constant(-1.0)));
    dj * (dj + 2.0)
}

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(n: &Numbers<R>, f: &M3<R>) -> R {
    let sigma = svd(f).sigma;
    let l = logarithms(&sigma);
    let q = square_minus_one(&sigma);
    let far = q.constant(0.3).lt(q.abs());
    let mut psi = volume_energy(n, R::select(far, q.constant(0.0), q), far, sigma.product());
    for p in 0..OGDEN_TERMS {
        let (mu, alpha) = (n[2 * p], n[2 * p + 1]);
        let zero = mu.constant(0.0);
        if !mu.abs().le(zero).all() {
            let mut sum = zero;
            for i in 0..3 {
                sum = sum + l[i] * l[i] * (l[i] * alpha).exp_tail();
            }
            psi = psi + mu * 2.0 * sum;
        }
    }
    let zero = psi.constant(0.0);
    R::select(sigma[2].le(zero), zero.constant(f64::INFINITY), psi)
}

/// gᵢ = Σ 2μₚ/αₚ (tᵢ − mean t) + K/2 (J² − 1) with t = exp(αₚ l) − 1.
#[inline(always)]
fn by_logarithms<R: Real>(n: &Numbers<R>, l: &V3<R>, q: R) -> V3<R> {
    let mut g = V3::repeat(bulk(n) * 0.5 * q);
    for p in 0..OGDEN_TERMS {
        let (mu, alpha) = (n[2 * p], n[2 * p + 1]);
        if !mu.abs().le(mu.constant(0.0)).all() {
            // (exp(α l) − 1)/α
            let mut t = *l;
            for i in 0..3 {
                t[i] = l[i] + alpha * l[i] * l[i] * (l[i] * alpha).exp_tail();
            }
            g = g + t.add_scalar(-(t.sum() * (1.0 / 3.0))) * (mu * 2.0);
        }
    }
    g
}

/// ∂ψ/∂F.
#[inline(always)]
pub(super) fn pk1<R: Real>(n: &Numbers<R>, f: &M3<R>) -> M3<R> {
    let svd = svd(f);
    let sigma = &svd.sigma;
    let g = by_logarithms(n, &logarithms(sigma), square_minus_one(sigma));
    svd.with_values(&V3([g[0] / sigma[0], g[1] / sigma[1], g[2] / sigma[2]]))
}

/// ∂gᵢ/∂eⱼ = Σ 2μₚ (hⱼ δᵢⱼ − (hᵢ + hⱼ)/3 + mean h/3) + K J² with h = exp(αₚ l).
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(n: &Numbers<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
    let (l, j) = (logarithms(sigma), sigma.product());
    let g = by_logarithms(n, &l, square_minus_one(sigma));
    let zero = j.constant(0.0);
    let mut slopes = M3([V3::repeat(bulk(n) * j * j); 3]);
    let mut quotients = V3::repeat(zero);
    for p in 0..OGDEN_TERMS {
        let (mu, alpha) = (n[2 * p], n[2 * p + 1]);
        if mu.abs().le(zero).all() {
            continue;
        }
        let h = V3([(l[0] * alpha).exp(), (l[1] * alpha).exp(), (l[2] * alpha).exp()]);
        let mean = h.sum() * (1.0 / 3.0);
        for a in 0..3 {
            for b in 0..3 {
                slopes[a][b] = slopes[a][b] - mu * (2.0 / 3.0) * (h[a] + h[b] - mean);
            }
            slopes[a][a] = slopes[a][a] + mu * 2.0 * h[a];
        }
        for k in 0..3 {
            let [a, b] = PLANES[k];
            // 2μ/α (hₐ − h_b)/(σₐ − σ_b) = 2μ h_b/σ_b φ(α r)/φ(r), φ(z) = (eᶻ − 1)/z
            let r = l[a] - l[b];
            let phi = |z: R| z * z.exp_tail() + 1.0;
            let ratio = phi(r * alpha) / phi(r);
            quotients[k] = quotients[k] + mu * 2.0 * h[b] / sigma[b] * ratio;
        }
    }
    from_logarithms(sigma, &g, &slopes, &quotients)
}
