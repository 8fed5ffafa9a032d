//! Laws of thin membranes: energy density ψ(F) of the 3×2 deformation gradient of a surface
//! [Li 2021, §3 and §4; Li 2020 thesis, §2.2.2].
//!
//! With Lamé's constants of a thin sheet, μ = E/(2(1+ν)) and λ = Eν/(1−ν²). Isotropic laws are
//! functions of the principal stretches σ₁, σ₂; the others of the entries of Green's strain
//! E = (FᵀF − I)/2 along the fibre direction (1), across it (2), and of their shear E₁₂.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::{Mask, Real};

/// Lamé's constants of a thin sheet, Pa.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SheetLame<R = f64> {
    /// μ.
    pub mu: R,
    /// λ = Eν/(1−ν²).
    pub lambda: R,
}

impl SheetLame {
    /// From Young's modulus (Pa) and Poisson's ratio.
    pub fn new(young_modulus: f64, poisson_ratio: f64) -> Self {
        let (e, nu) = (young_modulus, poisson_ratio);
        Self { mu: 0.5 * e / (1.0 + nu), lambda: e * nu / (1.0 - nu * nu) }
    }
}

/// An isotropic law of a membrane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MembraneLaw {
    /// ψ = μ/2 (σ₁² + σ₂² − 2) − μ ln J + λ/2 ln² J, J = σ₁σ₂.
    #[default]
    NeoHookean,
    /// ψ = μ tr E² + λ/2 tr² E.
    StVenantKirchhoff,
}

/// The derivatives of an energy density at σ₁, σ₂.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Principal<R = f64> {
    /// ∂ψ/∂σᵢ.
    pub d: [R; 2],
    /// ∂²ψ/∂σ₁², ∂²ψ/∂σ₂².
    pub dd: [R; 2],
    /// ∂²ψ/∂σ₁∂σ₂.
    pub d12: R,
    /// (∂ψ/∂σ₁ − ∂ψ/∂σ₂)/(σ₁ − σ₂), its limit where both are equal.
    pub quotient: R,
}

impl<R: Real> Principal<R> {
    /// The derivatives of a constant.
    #[inline(always)]
    pub fn zero(zero: R) -> Self {
        Self { d: [zero; 2], dd: [zero; 2], d12: zero, quotient: zero }
    }

    /// `yes` where true, else `no`.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        let mut out = *no;
        for i in 0..2 {
            out.d[i] = R::select(mask, yes.d[i], no.d[i]);
            out.dd[i] = R::select(mask, yes.dd[i], no.dd[i]);
        }
        out.d12 = R::select(mask, yes.d12, no.d12);
        out.quotient = R::select(mask, yes.quotient, no.quotient);
        out
    }
}

impl MembraneLaw {
    /// The derivatives of the density at principal stretches `s`.
    #[inline(always)]
    pub fn principal<R: Real>(self, lame: &SheetLame<R>, s: [R; 2]) -> Principal<R> {
        let SheetLame { mu, lambda } = *lame;
        let [s1, s2] = s;
        match self {
            Self::NeoHookean => {
                let j = s1 * s2;
                let a = lambda * j.ln() - mu;
                let slope = lambda - a;
                Principal {
                    d: [mu * s1 + a / s1, mu * s2 + a / s2],
                    dd: [mu + slope / (s1 * s1), mu + slope / (s2 * s2)],
                    d12: lambda / j,
                    quotient: mu - a / j,
                }
            }
            Self::StVenantKirchhoff => {
                let (e1, e2) = ((s1 * s1 - 1.0) * 0.5, (s2 * s2 - 1.0) * 0.5);
                let trace = e1 + e2;
                let (q1, q2) = (mu * 2.0 * e1 + lambda * trace, mu * 2.0 * e2 + lambda * trace);
                let stiff = mu * 2.0 + lambda;
                Principal {
                    d: [s1 * q1, s2 * q2],
                    dd: [q1 + stiff * s1 * s1, q2 + stiff * s2 * s2],
                    d12: lambda * s1 * s2,
                    quotient: lambda * trace + mu * (s1 * s1 + s1 * s2 + s2 * s2 - 1.0),
                }
            }
        }
    }
}

/// An orthotropic law: St. Venant–Kirchhoff with stiffnesses along and across a fibre direction,
///
/// ψ = a₁₁/2 η(E₁₁²) + a₂₂/2 η(E₂₂²) + a₁₂ η(E₁₁E₂₂) + 2G η(E₁₂²),
///
/// with η(x) = x, or where strains are limited η(x) = −m ln(1 − x/m), which agrees with it to
/// second order at rest and is infinite at x = m [Li 2021, Eq. 8 and §4.2].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orthotropic {
    /// a₁₁, a₂₂, a₁₂, Pa.
    pub a: [f64; 3],
    /// Shear modulus G, Pa.
    pub shear: f64,
    /// Limits of |E₁₁|, |E₂₂|, |E₁₂|.
    pub limits: Option<[f64; 3]>,
    /// w in η_w(x) = x + w (η(x) − x): how many times what the limits add counts, 1 at first.
    pub limit_weight: f64,
}

/// An energy density at E = (E₁₁, E₂₂, E₁₂) with its derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Green<R = f64> {
    /// ψ.
    pub psi: R,
    /// Gradient by E₁₁, E₂₂, E₁₂ (the last counted once).
    pub d: [R; 3],
    /// Second derivatives by the same.
    pub dd: [[R; 3]; 3],
}

/// An [`Orthotropic`] law in any number: a₁₁, a₂₂, a₁₂ and G, the limits where there are any, and their weight.
pub(crate) struct Fibres<R: Real> {
    pub a: [R; 3],
    pub shear: R,
    pub limited: R::Mask,
    pub limits: [R; 3],
    pub limit_weight: R,
}

impl<R: Real> Fibres<R> {
    /// The density and its derivatives at `e`; infinite at the limits and beyond.
    #[inline(always)]
    // long: one formula, and its derivatives
    pub(crate) fn green(&self, e: [R; 3]) -> Green<R> {
        let ([a11, a22, a12], [l1, l2, ls]) = (self.a, self.limits);
        let x = [e[0] * e[0], e[1] * e[1], e[0] * e[1], e[2] * e[2]];
        let (zero, one) = (x[0].constant(0.0), x[0].constant(1.0));
        // η and its first two derivatives
        let mut eta = [[zero, one, zero]; 4];
        for k in 0..4 {
            eta[k][0] = x[k];
        }
        let mut beyond = one.lt(zero);
        if self.limited.any() {
            for (k, m) in [l1 * l1, l2 * l2, l1 * l2, ls * ls].into_iter().enumerate() {
                let (part, r) = (x[k] / m, (one - x[k] / m).recip());
                // η(x) − x = m (−y − ln(1 − y)), y = x/m
                let near = part.lt(one.constant(0.3)) & (one.constant(-0.4)).lt(part);
                let far = -((one - part).ln() + part);
                let added = m * R::select(near, (-part).minus_ln_1p(), far);
                let w = self.limit_weight;
                let limited = [x[k] + w * added, w * (r - 1.0) + one, w * r * r / m];
                for i in 0..3 {
                    eta[k][i] = R::select(self.limited, limited[i], eta[k][i]);
                }
                beyond = beyond | (self.limited & m.le(x[k]));
            }
        }
        let [h1, h2, h12, hs] = eta;
        let g = self.shear * 2.0;
        let d11 = a11 * (h1[1] + x[0] * 2.0 * h1[2]) + a12 * h12[2] * x[1];
        let d22 = a22 * (h2[1] + x[1] * 2.0 * h2[2]) + a12 * h12[2] * x[0];
        let d12 = a12 * (h12[1] + h12[2] * x[2]);
        let dss = g * 2.0 * (hs[1] + x[3] * 2.0 * hs[2]);
        let d = [
            a11 * e[0] * h1[1] + a12 * h12[1] * e[1],
            a22 * e[1] * h2[1] + a12 * h12[1] * e[0],
            g * 2.0 * e[2] * hs[1],
        ];
        let psi = (a11 * h1[0] + a22 * h2[0]) * 0.5 + a12 * h12[0] + g * hs[0];
        let mut out = Green { psi, d, dd: [[d11, d12, zero], [d12, d22, zero], [zero, zero, dss]] };
        out.psi = R::select(beyond, zero.constant(f64::INFINITY), psi);
        for i in 0..3 {
            out.d[i] = R::select(beyond, zero, out.d[i]);
            for j in 0..3 {
                out.dd[i][j] = R::select(beyond, zero, out.dd[i][j]);
            }
        }
        out
    }
}

impl Orthotropic {
    /// From Young's moduli along and across the fibres (Pa), ν₁₂ (strain across per strain along
    /// under tension along), and the shear modulus (Pa).
    pub fn new(young: [f64; 2], poisson: f64, shear: f64, limits: Option<[f64; 3]>) -> Self {
        let [e1, e2] = young;
        let nu21 = poisson * e2 / e1;
        let c = 1.0 / (1.0 - poisson * nu21);
        Self { a: [e1 * c, e2 * c, nu21 * e1 * c], shear, limits, limit_weight: 1.0 }
    }
}

/// The barrier that keeps principal stretches below a limit, per stretch
///
/// b = −(1 − y)² ln y,  y = (s − σ)/(s − ŝ),  above ŝ, zero below [Li 2021, Eq. 5].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StretchLimit<R = f64> {
    /// Limit s of the principal stretches.
    pub limit: R,
    /// Stretch ŝ at which the barrier begins.
    pub threshold: R,
    /// Stiffness κ_s, Pa.
    pub stiffness: R,
}

impl<R: Real> StretchLimit<R> {
    /// κ_s [b, ∂b/∂σ, ∂²b/∂σ²]; infinite at the limit and beyond.
    #[inline(always)]
    pub fn derivatives(&self, sigma: R) -> [R; 3] {
        let zero = sigma.constant(0.0);
        let range = self.limit - self.threshold;
        let y = (self.limit - sigma) / range;
        let g = (sigma - self.threshold) / range;
        let (l, e) = (-y.ln(), g / y);
        let k = self.stiffness;
        let b = [
            k * g * g * l,
            k * g * (l * 2.0 + e) / range,
            k * (l * 2.0 + e * (e + 4.0)) / (range * range),
        ];
        // NaN counts as beyond
        let (below, inside) = (sigma.le(self.threshold), sigma.lt(self.limit));
        let mut out = [zero.constant(f64::INFINITY), zero, zero];
        for i in 0..3 {
            out[i] = R::select(below, zero, R::select(inside, b[i], out[i]));
        }
        out
    }

    /// The barrier of both stretches.
    #[inline(always)]
    pub(crate) fn value(&self, s: [R; 2]) -> R {
        self.derivatives(s[0])[0] + self.derivatives(s[1])[0]
    }

    /// Adds the derivatives of the barrier of both stretches to those of a density.
    #[inline(always)]
    pub(crate) fn add(&self, s: [R; 2], to: &mut Principal<R>) {
        let b = [self.derivatives(s[0]), self.derivatives(s[1])];
        for i in 0..2 {
            to.d[i] = to.d[i] + b[i][1];
            to.dd[i] = to.dd[i] + b[i][2];
        }
        let gap = s[0] - s[1];
        let apart = ((self.limit - s[0].max(s[1])) * 1e-5).lt(gap.abs());
        let mean = self.derivatives((s[0] + s[1]) * 0.5)[2];
        to.quotient = to.quotient + R::select(apart, (b[0][1] - b[1][1]) / gap, mean);
    }
}
