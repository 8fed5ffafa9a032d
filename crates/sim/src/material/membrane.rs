//! Laws of thin membranes: energy density ψ(F) of the 3×2 deformation gradient of a surface
//! [Li 2021, §3 and §4; Li 2020 thesis, §2.2.2].
//!
//! With Lamé's constants of a thin sheet, μ = E/(2(1+ν)) and λ = Eν/(1−ν²). Isotropic laws are
//! functions of the principal stretches σ₁, σ₂; the others of the entries of Green's strain
//! E = (FᵀF − I)/2 along the fibre direction (1), across it (2), and of their shear E₁₂.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lamé's constants of a thin sheet, Pa.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SheetLame {
    /// μ.
    pub mu: f64,
    /// λ = Eν/(1−ν²).
    pub lambda: f64,
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

/// An energy density at σ₁, σ₂ with its derivatives.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Principal {
    /// ψ.
    pub psi: f64,
    /// ∂ψ/∂σᵢ.
    pub d: [f64; 2],
    /// ∂²ψ/∂σ₁², ∂²ψ/∂σ₂².
    pub dd: [f64; 2],
    /// ∂²ψ/∂σ₁∂σ₂.
    pub d12: f64,
    /// (∂ψ/∂σ₁ − ∂ψ/∂σ₂)/(σ₁ − σ₂), its limit where both are equal.
    pub quotient: f64,
}

impl MembraneLaw {
    /// The density and its derivatives at principal stretches `s`; infinite at J = 0 for
    /// neo-Hookean sheets.
    #[inline]
    pub fn principal(self, lame: &SheetLame, s: [f64; 2]) -> Principal {
        let SheetLame { mu, lambda } = *lame;
        match self {
            Self::NeoHookean => {
                let j = s[0] * s[1];
                let l = j.ln();
                let a = lambda * l - mu;
                Principal {
                    psi: 0.5 * mu * (s[0] * s[0] + s[1] * s[1] - 2.0) + l * (0.5 * lambda * l - mu),
                    d: s.map(|s| mu * s + a / s),
                    dd: s.map(|s| mu + (lambda - a) / (s * s)),
                    d12: lambda / j,
                    quotient: mu - a / j,
                }
            }
            Self::StVenantKirchhoff => {
                let e = s.map(|s| 0.5 * (s * s - 1.0));
                let trace = e[0] + e[1];
                let q = e.map(|e| 2.0 * mu * e + lambda * trace);
                Principal {
                    psi: mu * (e[0] * e[0] + e[1] * e[1]) + 0.5 * lambda * trace * trace,
                    d: [s[0] * q[0], s[1] * q[1]],
                    dd: [0, 1].map(|i| q[i] + (2.0 * mu + lambda) * s[i] * s[i]),
                    d12: lambda * s[0] * s[1],
                    quotient: lambda * trace + mu * (s[0] * s[0] + s[0] * s[1] + s[1] * s[1] - 1.0),
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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Green {
    /// ψ.
    pub psi: f64,
    /// Gradient by E₁₁, E₂₂, E₁₂ (the last counted once).
    pub d: [f64; 3],
    /// Second derivatives by the same.
    pub dd: [[f64; 3]; 3],
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

    /// The density and its derivatives at `e`; infinite at the limits and beyond.
    pub fn green(&self, e: [f64; 3]) -> Green {
        let [a11, a22, a12] = self.a;
        let m = self.limits.map(|l| [l[0] * l[0], l[1] * l[1], l[0] * l[1], l[2] * l[2]]);
        let x = [e[0] * e[0], e[1] * e[1], e[0] * e[1], e[2] * e[2]];
        let beyond = |m: &[f64; 4]| (0..4).any(|k| x[k] >= m[k]);
        if m.as_ref().is_some_and(beyond) {
            return Green { psi: f64::INFINITY, ..Green::default() };
        }
        // η and its first two derivatives
        let eta = |k: usize| match &m {
            None => [x[k], 1.0, 0.0],
            Some(m) => {
                let r = 1.0 / (1.0 - x[k] / m[k]);
                let eta = [-m[k] * (-x[k] / m[k]).ln_1p(), r, r * r / m[k]];
                match self.limit_weight {
                    1.0 => eta,
                    w => [x[k] + w * (eta[0] - x[k]), 1.0 + w * (eta[1] - 1.0), w * eta[2]],
                }
            }
        };
        let [h1, h2, h12, hs] = [eta(0), eta(1), eta(2), eta(3)];
        let g = 2.0 * self.shear;
        let d11 = a11 * (h1[1] + 2.0 * x[0] * h1[2]) + a12 * h12[2] * x[1];
        let d22 = a22 * (h2[1] + 2.0 * x[1] * h2[2]) + a12 * h12[2] * x[0];
        let d12 = a12 * (h12[1] + h12[2] * x[2]);
        let dss = 2.0 * g * (hs[1] + 2.0 * x[3] * hs[2]);
        Green {
            psi: 0.5 * (a11 * h1[0] + a22 * h2[0]) + a12 * h12[0] + g * hs[0],
            d: [
                a11 * e[0] * h1[1] + a12 * h12[1] * e[1],
                a22 * e[1] * h2[1] + a12 * h12[1] * e[0],
                2.0 * g * e[2] * hs[1],
            ],
            dd: [[d11, d12, 0.0], [d12, d22, 0.0], [0.0, 0.0, dss]],
        }
    }
}

/// The barrier that keeps principal stretches below a limit, per stretch
///
/// b = −(1 − y)² ln y,  y = (s − σ)/(s − ŝ),  above ŝ, zero below [Li 2021, Eq. 5].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StretchLimit {
    /// Limit s of the principal stretches.
    pub limit: f64,
    /// Stretch ŝ at which the barrier begins.
    pub threshold: f64,
    /// Stiffness κ_s, Pa.
    pub stiffness: f64,
}

impl StretchLimit {
    /// κ_s [b, ∂b/∂σ, ∂²b/∂σ²]; infinite at the limit and beyond.
    #[inline]
    pub fn derivatives(&self, sigma: f64) -> [f64; 3] {
        if sigma <= self.threshold {
            return [0.0; 3];
        }
        if sigma >= self.limit || sigma.is_nan() {
            return [f64::INFINITY, 0.0, 0.0];
        }
        let range = self.limit - self.threshold;
        let y = (self.limit - sigma) / range;
        let g = (sigma - self.threshold) / range;
        let (l, e) = (-y.ln(), g / y);
        let k = self.stiffness;
        [
            k * g * g * l,
            k * g * (2.0 * l + e) / range,
            k * (2.0 * l + e * (4.0 + e)) / (range * range),
        ]
    }

    /// Adds the barrier of both stretches to a density.
    #[inline]
    pub fn add(&self, s: [f64; 2], to: &mut Principal) {
        let b = s.map(|s| self.derivatives(s));
        if b[0][0] == 0.0 && b[1][0] == 0.0 {
            return;
        }
        to.psi += b[0][0] + b[1][0];
        for i in 0..2 {
            to.d[i] += b[i][1];
            to.dd[i] += b[i][2];
        }
        let gap = s[0] - s[1];
        to.quotient += if gap.abs() > 1e-5 * (self.limit - s[0].max(s[1])) {
            (b[0][1] - b[1][1]) / gap
        } else {
            self.derivatives(0.5 * (s[0] + s[1]))[2]
        };
    }
}
