//! Laws in the invariants of the isochoric deformation, w(a, b) with a = Ī₁ − 3 and b = Ī₂ − 3.
//!
//! With c = J^(2/3) and G = FᵀF − I,
//!
//! a = [(c − 1)² (c + 2) − I₂(G) − I₃(G)]/c,   b = [(c − 1)² (2c + 1) − I₂(G) − 2 I₃(G)]/c²,
//!
//! without terms of first order in the strain that cancel.

use super::{Numbers, PrincipalHessian, bulk, volume_energy};
use crate::material::strain::Strain;
use crate::material::stretches::{PLANES, from_logarithms};
use standoff_linalg::{M3, Mask, Real, V3};

/// Indices of the coefficients cᵢⱼ.
pub(super) const C10: usize = 0;
pub(super) const C20: usize = 1;
pub(super) const C30: usize = 2;
const C40: usize = 3;
const C50: usize = 4;
pub(super) const C01: usize = 5;
pub(super) const C11: usize = 6;
pub(super) const C02: usize = 7;

/// Indices of the powers of a, the first power first.
pub(super) const POWERS: [usize; 5] = [C10, C20, C30, C40, C50];

/// w with its derivatives.
pub(super) struct Density<R> {
    w: R,
    a: R,
    b: R,
    aa: R,
    ab: R,
    bb: R,
}

/// Σ cᵢⱼ aⁱ bʲ.
#[inline(always)]
pub(super) fn polynomial<R: Real>(n: &Numbers<R>, a: R, b: R) -> Density<R> {
    let [c1, c2, c3, c4, c5] = [n[C10], n[C20], n[C30], n[C40], n[C50]];
    let (c01, c11, c02) = (n[C01], n[C11], n[C02]);
    let powers = a * (c1 + a * (c2 + a * (c3 + a * (c4 + a * c5))));
    let first = c1 + a * (c2 * 2.0 + a * (c3 * 3.0 + a * (c4 * 4.0 + a * c5 * 5.0)));
    let second = c2 * 2.0 + a * (c3 * 6.0 + a * (c4 * 12.0 + a * c5 * 20.0));
    Density {
        w: powers + b * (c01 + c11 * a + c02 * b),
        a: first + c11 * b,
        b: c01 + c11 * a + c02 * b * 2.0,
        aa: second,
        ab: c11,
        bb: c02 * 2.0,
    }
}

/// −μ Jₘ/2 ln(1 − a/Jₘ), +∞ from a = Jₘ on.
#[inline(always)]
pub(super) fn gent<R: Real>(n: &Numbers<R>, a: R, _: R) -> Density<R> {
    let (mu, limit) = (n[0], n[1]);
    let zero = mu.constant(0.0);
    let y = a / limit;
    let left = zero + 1.0 - y;
    // −ln(1 − y) without cancellation where y is small
    let small = y.abs().lt(zero + 0.3);
    let near = y + (-R::select(small, y, zero)).minus_ln_1p();
    let log = R::select(small, near, -left.ln());
    let w = R::select(left.le(zero), zero.constant(f64::INFINITY), mu * 0.5 * limit * log);
    let first = mu * 0.5 / left;
    Density { w, a: first, b: zero, aa: first / (limit * left), ab: zero, bb: zero }
}

/// Invariants of a deformation gradient.
struct Invariants<R: Real> {
    strain: Strain<R>,
    cofactor: M3<R>,
    /// I₁ = ‖F‖² and I₂ = ‖cof F‖².
    first: R,
    second: R,
    c: R,
    a: R,
    b: R,
}

impl<R: Real> Invariants<R> {
    #[inline(always)]
    fn new(f: &M3<R>) -> Self {
        let (strain, cofactor) = (Strain::new(f), f.cofactor());
        let square = |m: &M3<R>| m[0].dot(&m[0]) + m[1].dot(&m[1]) + m[2].dot(&m[2]);
        let (first, second) = (square(f), square(&cofactor));
        let Strain { j, far, higher, third, q, .. } = strain;
        let c = (j.ln() * (2.0 / 3.0)).exp();
        let d = q / (c * c + c + 1.0);
        let square = d * d;
        let mut a = (square * (c + 2.0) - higher) / c;
        let mut b = (square * (c * 2.0 + 1.0) - higher - third) / (c * c);
        if far.any() {
            a = R::select(far, first / c - 3.0, a);
            b = R::select(far, second / (c * c) - 3.0, b);
        }
        Self { strain, cofactor, first, second, c, a, b }
    }
}

/// ψ(F).
#[inline(always)]
pub(super) fn psi<R: Real>(
    n: &Numbers<R>,
    f: &M3<R>,
    w: impl Fn(&Numbers<R>, R, R) -> Density<R>,
) -> R {
    let Invariants { strain: Strain { j, far, q, .. }, a, b, .. } = Invariants::new(f);
    let psi = w(n, a, b).w + volume_energy(n, q, far, j);
    let infinite = psi.constant(f64::INFINITY);
    R::select(j.le(psi.constant(0.0)), infinite, psi)
}

/// P = 2 w_a/c (F − I₁/3 F⁻ᵀ) + 2 w_b/c² (I₁ F − F FᵀF − 2/3 I₂ F⁻ᵀ) + K/2 (J² − 1) F⁻ᵀ.
#[inline(always)]
pub(super) fn pk1<R: Real>(
    n: &Numbers<R>,
    f: &M3<R>,
    w: impl Fn(&Numbers<R>, R, R) -> Density<R>,
) -> M3<R> {
    let Invariants { strain, cofactor, first, second, c, a, b } = Invariants::new(f);
    let Strain { j, far, q, .. } = strain;
    let w = w(n, a, b);
    let (by_a, by_b) = (w.a * 2.0 / c, w.b * 2.0 / (c * c));
    let pressure = bulk(n) * 0.5 * R::select(far, j * j - 1.0, q);
    // in such an order that nothing is left at rest
    let volume = pressure - (by_a * (first * (1.0 / 3.0)) + by_b * (second * (2.0 / 3.0)));
    let cubic = f * &(&f.transpose() * f);
    *f * by_a + (*f * first - cubic) * by_b + cofactor * (volume / j)
}

/// gᵢ = 2 w_a uᵢ − 2 w_b vᵢ + K/2 (J² − 1), where uᵢ = sᵢ − Ī₁/3, vᵢ = 1/sᵢ − Ī₂/3 and sᵢ = σᵢ²/c.
#[inline(always)]
pub(super) fn principal_hessian<R: Real>(
    n: &Numbers<R>,
    sigma: &V3<R>,
    w: impl Fn(&Numbers<R>, R, R) -> Density<R>,
) -> PrincipalHessian<R> {
    let j = sigma.product();
    let c = (j.ln() * (2.0 / 3.0)).exp();
    let s = V3([sigma[0] * sigma[0] / c, sigma[1] * sigma[1] / c, sigma[2] * sigma[2] / c]);
    let t = V3([s[0].recip(), s[1].recip(), s[2].recip()]);
    let (third, second) = (s.sum() * (1.0 / 3.0), t.sum() * (1.0 / 3.0));
    let (u, v) = (s.add_scalar(-third), t.add_scalar(-second));
    let w = w(n, s.sum() - 3.0, t.sum() - 3.0);
    let k = bulk(n) * j * j;
    let g = (u * w.a - v * w.b) * j.constant(2.0);
    let g = g.add_scalar(bulk(n) * 0.5 * (j * j - 1.0));
    let mut slopes = M3([V3::repeat(k); 3]);
    for i in 0..3 {
        for l in 0..3 {
            let by_invariants =
                w.aa * u[i] * u[l] - w.ab * (u[i] * v[l] + v[i] * u[l]) + w.bb * v[i] * v[l];
            let across = w.a * (s[i] + s[l] - third) + w.b * (t[i] + t[l] - second);
            slopes[i][l] = slopes[i][l] + by_invariants * 4.0 - across * (4.0 / 3.0);
        }
        slopes[i][i] = slopes[i][i] + (w.a * s[i] + w.b * t[i]) * 4.0;
    }
    let mut quotients = g;
    for k in 0..3 {
        let [i, l] = PLANES[k];
        quotients[k] = (sigma[i] + sigma[l]) * 2.0 / c * (w.a + w.b * s[k]);
    }
    from_logarithms(sigma, &g, &slopes, &quotients)
}
