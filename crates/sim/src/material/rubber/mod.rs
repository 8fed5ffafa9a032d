//! Laws of rubber: energy densities of the isochoric deformation F̄ = J^(−1/3) F, with an energy of the volume,
//!
//! ψ = w(F̄) + K/4 (J² − 1 − 2 ln J) [Simo & Taylor 1991].
//!
//! w is a function of the first two invariants Ī₁ = λ̄₁² + λ̄₂² + λ̄₃² and Ī₂ = λ̄₁⁻² + λ̄₂⁻² + λ̄₃⁻², or of the stretches λ̄ᵢ themselves. The
//! energy of the volume is infinite at J → 0, so that these laws need no other barrier against inversion.

mod experiment;
pub mod fit;
mod invariants;
mod ogden;

pub use experiment::Experiment;

use super::principal::PrincipalHessian;
use super::{Lame, Law, Material};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::{M3, Real, V3};
use std::sync::Arc;

/// A law of rubber with its constants; w as in the names of its variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rubber {
    /// Σ cᵢⱼ (Ī₁ − 3)ⁱ (Ī₂ − 3)ʲ of up to five terms [Mooney 1940; Rivlin 1948]. With `c10` alone it is neo-Hookean.
    MooneyRivlin {
        /// c₁₀, Pa.
        #[schemars(extend("x-unit" = "Pa"))]
        c10: f64,
        /// c₀₁, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c01: f64,
        /// c₂₀, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c20: f64,
        /// c₁₁, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c11: f64,
        /// c₀₂, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c02: f64,
    },
    /// Σ cᵢ₀ (Ī₁ − 3)ⁱ, i = 1, 2, 3 [Yeoh 1993].
    Yeoh {
        /// c₁₀, Pa.
        #[schemars(extend("x-unit" = "Pa"))]
        c10: f64,
        /// c₂₀, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c20: f64,
        /// c₃₀, Pa.
        #[serde(default)]
        #[schemars(extend("x-unit" = "Pa"))]
        c30: f64,
    },
    /// μ Σ Cᵢ λₘ^(2−2i) (Ī₁ⁱ − 3ⁱ) of five terms, C = 1/2, 1/20, 11/1050, 19/7000, 519/673750 [Arruda & Boyce 1993].
    ArrudaBoyce {
        /// μ, Pa; the shear modulus at rest is somewhat greater.
        #[schemars(extend("x-unit" = "Pa"))]
        mu: f64,
        /// The stretch λₘ at which chains are straight.
        locking_stretch: f64,
    },
    /// −μ Jₘ/2 ln(1 − (Ī₁ − 3)/Jₘ), infinite from Ī₁ − 3 = Jₘ on [Gent 1996].
    Gent {
        /// Shear modulus μ, Pa.
        #[schemars(extend("x-unit" = "Pa"))]
        mu: f64,
        /// Jₘ, the bound of Ī₁ − 3.
        limit: f64,
    },
    /// Σ 2μₚ/αₚ² (λ̄₁^αₚ + λ̄₂^αₚ + λ̄₃^αₚ − 3) of up to six terms [Ogden 1972]. The shear modulus at rest is Σ μₚ.
    Ogden {
        /// The terms.
        terms: Vec<OgdenTerm>,
    },
}

/// A term of Ogden's law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OgdenTerm {
    /// Its part μₚ of the shear modulus at rest, Pa.
    #[schemars(extend("x-unit" = "Pa"))]
    pub mu: f64,
    /// The exponent αₚ.
    pub alpha: f64,
}

/// Terms of Ogden's law at most.
pub const OGDEN_TERMS: usize = 6;

/// Numbers that a formula has of a law of rubber; the last is the bulk modulus.
const NUMBERS: usize = 2 * OGDEN_TERMS + 1;

/// The constants of a law of rubber as its formula takes them.
pub(crate) type Numbers<R> = [R; NUMBERS];

/// A law of rubber with its bulk modulus, ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct RubberLaw {
    rubber: Rubber,
    numbers: Numbers<f64>,
}

/// The formulas that laws of rubber have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Polynomial,
    Gent,
    Ogden,
}

/// Coefficients of the series of [Arruda & Boyce 1993].
const CHAINS: [f64; 5] = [0.5, 0.05, 11.0 / 1050.0, 19.0 / 7000.0, 519.0 / 673_750.0];

impl Rubber {
    /// Name in scene files.
    pub fn key(&self) -> &'static str {
        match self {
            Self::MooneyRivlin { .. } => "mooney-rivlin",
            Self::Yeoh { .. } => "yeoh",
            Self::ArrudaBoyce { .. } => "arruda-boyce",
            Self::Gent { .. } => "gent",
            Self::Ogden { .. } => "ogden",
        }
    }

    fn form(&self) -> Form {
        match self {
            Self::MooneyRivlin { .. } | Self::Yeoh { .. } | Self::ArrudaBoyce { .. } => {
                Form::Polynomial
            }
            Self::Gent { .. } => Form::Gent,
            Self::Ogden { .. } => Form::Ogden,
        }
    }

    /// The shear modulus at rest, Pa.
    pub fn shear_modulus(&self) -> f64 {
        match self {
            Self::MooneyRivlin { c10, c01, .. } => 2.0 * (c10 + c01),
            Self::Yeoh { c10, .. } => 2.0 * c10,
            Self::ArrudaBoyce { .. } => 2.0 * self.numbers(0.0)[invariants::C10],
            Self::Gent { mu, .. } => *mu,
            Self::Ogden { terms } => terms.iter().map(|t| t.mu).sum(),
        }
    }

    /// Terms of [`Rubber::Ogden`] beyond the sixth are left out.
    fn numbers(&self, bulk_modulus: f64) -> Numbers<f64> {
        use invariants::{C01, C02, C10, C11, C20, C30};
        let mut n = [0.0; NUMBERS];
        match self {
            Self::MooneyRivlin { c10, c01, c20, c11, c02 } => {
                (n[C10], n[C01], n[C20], n[C11], n[C02]) = (*c10, *c01, *c20, *c11, *c02);
            }
            Self::Yeoh { c10, c20, c30 } => (n[C10], n[C20], n[C30]) = (*c10, *c20, *c30),
            Self::ArrudaBoyce { mu, locking_stretch } => {
                // (3 + a)ⁱ − 3ⁱ by powers of a
                for (i, c) in CHAINS.into_iter().enumerate() {
                    let factor = mu * c / locking_stretch.powi(2 * i as i32);
                    let mut binomial = 1.0;
                    for k in 1..=i + 1 {
                        binomial *= (i + 2 - k) as f64 / k as f64;
                        n[invariants::POWERS[k - 1]] +=
                            factor * binomial * 3_f64.powi((i + 1 - k) as i32);
                    }
                }
            }
            Self::Gent { mu, limit } => (n[0], n[1]) = (*mu, *limit),
            Self::Ogden { terms } => {
                for (p, term) in terms.iter().take(OGDEN_TERMS).enumerate() {
                    (n[2 * p], n[2 * p + 1]) = (term.mu, term.alpha);
                }
            }
        }
        n[NUMBERS - 1] = bulk_modulus;
        n
    }
}

impl RubberLaw {
    /// The law.
    pub fn rubber(&self) -> &Rubber {
        &self.rubber
    }

    /// K, Pa.
    pub fn bulk_modulus(&self) -> f64 {
        self.numbers[NUMBERS - 1]
    }

    /// The constants, by their index in a formula.
    #[inline(always)]
    pub(crate) fn number(&self, k: usize) -> f64 {
        self.numbers[k]
    }

    pub(super) fn form(&self) -> Form {
        self.rubber.form()
    }

    /// Lamé's parameters at rest.
    pub fn lame(&self) -> Lame {
        let mu = self.rubber.shear_modulus();
        Lame { lambda: self.bulk_modulus() - 2.0 / 3.0 * mu, mu }
    }
}

impl Material {
    /// Rubber with bulk modulus K (Pa). Young's modulus and Poisson's ratio are those at rest.
    pub fn rubber(rubber: Rubber, bulk_modulus: f64) -> Self {
        let numbers = rubber.numbers(bulk_modulus);
        let law = RubberLaw { rubber, numbers };
        let Lame { lambda, mu } = law.lame();
        let poisson_ratio = 0.5 * lambda / (lambda + mu);
        let young_modulus = 2.0 * mu * (1.0 + poisson_ratio);
        Self { law: Law::Rubber(Arc::new(law)), young_modulus, poisson_ratio }
    }
}

/// The bulk modulus of a solid with this shear modulus (Pa) and Poisson's ratio, Pa.
pub fn bulk_modulus(shear_modulus: f64, poisson_ratio: f64) -> f64 {
    shear_modulus * 2.0 * (1.0 + poisson_ratio) / (3.0 * (1.0 - 2.0 * poisson_ratio))
}

/// One of each kind, with a shear modulus of 1e5 Pa.
#[cfg(test)]
pub(crate) fn samples() -> Vec<Material> {
    let term = |mu: f64, alpha: f64| OgdenTerm { mu, alpha };
    let all = [
        Rubber::MooneyRivlin { c10: 3e4, c01: 2e4, c20: 4e3, c11: 1e3, c02: 2e3 },
        Rubber::Yeoh { c10: 5e4, c20: -4e3, c30: 2e3 },
        Rubber::ArrudaBoyce { mu: 9e4, locking_stretch: 2.0 },
        Rubber::Gent { mu: 1e5, limit: 200.0 },
        Rubber::Ogden { terms: vec![term(8e4, 1.3), term(1e4, 5.0), term(1e4, -2.0)] },
    ];
    all.map(|rubber| Material::rubber(rubber, 6e5)).into()
}

impl Form {
    /// ψ(F).
    #[inline(always)]
    pub fn psi<R: Real>(self, n: &Numbers<R>, f: &M3<R>) -> R {
        match self {
            Self::Polynomial => invariants::psi(n, f, invariants::polynomial),
            Self::Gent => invariants::psi(n, f, invariants::gent),
            Self::Ogden => ogden::psi(n, f),
        }
    }

    /// ∂ψ/∂F.
    #[inline(always)]
    pub fn pk1<R: Real>(self, n: &Numbers<R>, f: &M3<R>) -> M3<R> {
        match self {
            Self::Polynomial => invariants::pk1(n, f, invariants::polynomial),
            Self::Gent => invariants::pk1(n, f, invariants::gent),
            Self::Ogden => ogden::pk1(n, f),
        }
    }

    /// ∂²ψ/∂F² at singular values `sigma`.
    #[inline(always)]
    pub fn principal_hessian<R: Real>(self, n: &Numbers<R>, sigma: &V3<R>) -> PrincipalHessian<R> {
        match self {
            Self::Polynomial => invariants::principal_hessian(n, sigma, invariants::polynomial),
            Self::Gent => invariants::principal_hessian(n, sigma, invariants::gent),
            Self::Ogden => ogden::principal_hessian(n, sigma),
        }
    }
}

/// K.
#[inline(always)]
fn bulk<R: Real>(n: &Numbers<R>) -> R {
    n[NUMBERS - 1]
}

/// K/4 (J² − 1 − 2 ln J) with q = J² − 1; `far` from rest by J itself.
#[inline(always)]
fn volume_energy<R: Real>(n: &Numbers<R>, q: R, far: R::Mask, j: R) -> R {
    let direct = j * j - 1.0 - j.ln() * 2.0;
    bulk(n) * 0.25 * R::select(far, direct, q.minus_ln_1p())
}
