//! What of a solid flows: parts of its shear stress that relax with time, or that yield.
//!
//! Beside its law a solid may have any number of springs with a shear modulus μ that flow, in parallel. Each has a deformation of its own,
//! F = Fₑ Fᵢ, of which Fᵢ, the flow, keeps the volume, and an energy μ ‖e‖² of e, the deviator of ln √(FₑᵀFₑ) [Reese & Govindjee 1998].
//! In a step Fᵢ is what flowed before it, and what flows during the step is minimised out: an energy W(‖e‖) of the deformation at the
//! end of the step is left [Ortiz & Stainier 1999], for which e is taken of F Fᵢ⁻¹. All flows are along e, so that W has a closed form:
//!
//! - **Relaxation** with time τ, a Maxwell element: ė = ε̇ − e/τ with a constant rate ε̇ in the step, solved exactly:
//!   e₁ = exp(−x) e₀ + a Δε with x = h/τ, a = (1 − exp(−x))/x. Fᵢ is first taken to where e₀ is b e₀, b = x/(exp(x) − 1), and W = a μ ‖e‖².
//! - **Plasticity** [Simo 1992]: e shrinks to where the von Mises stress q = √6 μ ‖e‖ is the yield stress σ_y(α). α is
//!   the equivalent plastic strain; W = μ ‖e₁‖² + ∫ σ_y dα. With kinematic hardening h a part μ h/(3 μ + h) of the shear modulus stays elastic, in
//!   parallel with a softer spring that yields: the same stresses as those of a yield surface that moves by h α [Besseling 1958].

use super::principal::PrincipalHessian;
use super::stretches::{PLANES, from_logarithms};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::{M3, Real, V3};

/// A part of the stress of a solid that flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inelasticity {
    /// A part that relaxes, beside the stress of the law.
    Relaxing(Relaxation),
    /// All of the shear stress yields; the law has the volume only.
    Yielding(Plasticity),
}

/// A term of a Prony series, a Maxwell element.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Relaxation {
    /// Its shear modulus over that of the law at rest, which is what is left after a long time.
    pub ratio: f64,
    /// Relaxation time τ, s.
    #[schemars(extend("x-unit" = "s"))]
    pub time: f64,
}

/// Plasticity by the von Mises stress, with isotropic hardening σ_y(α) = σ₀ + H α + (σ∞ − σ₀)(1 − exp(−δ α)) of the equivalent plastic
/// strain α [Voce 1948], and linear kinematic hardening.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plasticity {
    /// True stress σ₀ from which on it flows in tension, Pa.
    #[schemars(extend("x-unit" = "Pa"))]
    pub yield_stress: f64,
    /// H, by which the true stress grows per logarithmic plastic strain, Pa.
    #[serde(default)]
    #[schemars(extend("x-unit" = "Pa"))]
    pub hardening_modulus: f64,
    /// h, by which the stress about which it yields moves per plastic strain, Pa: after tension it yields the earlier in compression.
    #[serde(default)]
    #[schemars(extend("x-unit" = "Pa"))]
    pub kinematic_modulus: f64,
    /// σ∞, the stress to which hardening that ends leads, without `hardening_modulus`, Pa; σ₀ by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "Pa"))]
    pub saturation_stress: Option<f64>,
    /// δ, how fast it ends: 63 % of it is reached at a plastic strain of 1/δ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation_rate: Option<f64>,
}

impl Plasticity {
    /// The part f of a shear modulus `mu` (Pa) that yields, beside 1 − f that stays elastic.
    pub(crate) fn yielding_part(&self, mu: f64) -> f64 {
        3.0 * mu / (3.0 * mu + self.kinematic_modulus)
    }

    /// The plasticity of the part f alone: its strength is f σ_y(α) at its own plastic strain α/f.
    pub(crate) fn of_part(&self, f: f64) -> Self {
        Self {
            yield_stress: f * self.yield_stress,
            hardening_modulus: f * f * self.hardening_modulus,
            kinematic_modulus: 0.0,
            saturation_stress: self.saturation_stress.map(|s| f * s),
            saturation_rate: self.saturation_rate.map(|r| f * r),
        }
    }

    /// σ∞ − σ₀ and δ.
    fn saturation(&self) -> (f64, f64) {
        let more = self.saturation_stress.map_or(0.0, |s| s - self.yield_stress);
        (more, self.saturation_rate.unwrap_or(0.0))
    }

    /// σ_y(α), Pa.
    pub fn strength(&self, alpha: f64) -> f64 {
        let (more, rate) = self.saturation();
        self.yield_stress + self.hardening_modulus * alpha + more * (1.0 - exp(-rate * alpha))
    }

    /// dσ_y/dα, Pa.
    fn hardening(&self, alpha: f64) -> f64 {
        let (more, rate) = self.saturation();
        self.hardening_modulus + more * rate * exp(-rate * alpha)
    }

    /// ∫ σ_y dα from `alpha` to `alpha` + `more`, J/m³.
    pub fn work(&self, alpha: f64, more: f64) -> f64 {
        let (saturation, rate) = self.saturation();
        let linear = self.yield_stress + self.hardening_modulus * (alpha + 0.5 * more);
        // ∫ 1 − exp(−δ α) dα
        let ended = exp(-rate * alpha) * more * phi(-rate * more);
        linear * more + saturation * (more - ended)
    }

    /// How much the plastic strain grows from `alpha` where the von Mises stress would be `trial` (Pa) without that, with shear modulus
    /// `mu`: the solution of q − 3 μ Δα = σ_y(α + Δα), whose left side falls and right side does not.
    fn growth(&self, mu: f64, alpha: f64, trial: f64) -> f64 {
        let over = trial - self.strength(alpha);
        if over.is_nan() || over <= 0.0 {
            return 0.0;
        }
        // with less hardening than at its begin the strain is at least this; Newton's method then rises to the solution
        let mut more = over / (3.0 * mu + self.hardening(alpha));
        for _ in 0..GROWTH_STEPS {
            let left = trial - 3.0 * mu * more - self.strength(alpha + more);
            let change = left / (3.0 * mu + self.hardening(alpha + more));
            if change <= 4.0 * f64::EPSILON * more {
                break;
            }
            more += change;
        }
        more
    }
}

/// Newton's method for a concave strength takes a handful of steps.
const GROWTH_STEPS: usize = 50;

/// How a part of the stress answers to the deformation at the end of a step, or at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Response {
    /// W = `modulus` ‖e‖², Pa.
    Elastic { modulus: f64 },
    /// Of a plastic strain α.
    Yielding { mu: f64, plasticity: Plasticity, alpha: f64 },
}

/// How much W grows with ‖e‖, over ‖e‖, and its second derivative, Pa.
struct Slopes {
    secant: f64,
    second: f64,
}

/// √6, by which μ ‖e‖ becomes the von Mises stress.
const VON_MISES: f64 = 2.449_489_742_783_178;

impl Response {
    /// W, J/m³, of ‖e‖.
    fn energy(&self, r: f64) -> f64 {
        match *self {
            Self::Elastic { modulus } => modulus * r * r,
            Self::Yielding { mu, plasticity, alpha } => {
                let more = plasticity.growth(mu, alpha, VON_MISES * mu * r);
                let left = r - 3.0 / VON_MISES * more;
                mu * left * left + plasticity.work(alpha, more)
            }
        }
    }

    fn slopes(&self, r: f64) -> Slopes {
        match *self {
            Self::Elastic { modulus } => Slopes { secant: 2.0 * modulus, second: 2.0 * modulus },
            Self::Yielding { mu, plasticity, alpha } => {
                let more = plasticity.growth(mu, alpha, VON_MISES * mu * r);
                if more == 0.0 {
                    return Slopes { secant: 2.0 * mu, second: 2.0 * mu };
                }
                let hardening = plasticity.hardening(alpha + more);
                Slopes {
                    secant: 2.0 * mu * (1.0 - 3.0 / VON_MISES * more / r),
                    second: 2.0 * mu * hardening / (3.0 * mu + hardening),
                }
            }
        }
    }

    /// The part of e that does not become plastic, and how much the plastic strain grows.
    pub fn end(&self, sigma: &V3<f64>) -> (f64, f64) {
        match *self {
            Self::Elastic { .. } => (1.0, 0.0),
            Self::Yielding { mu, plasticity, alpha } => {
                let r = deviator(sigma).norm();
                let more = plasticity.growth(mu, alpha, VON_MISES * mu * r);
                (if more == 0.0 { 1.0 } else { 1.0 - 3.0 / VON_MISES * more / r }, more)
            }
        }
    }

    /// W at singular values of Fₑ, J/m³; infinite where it is inverted.
    pub fn psi(&self, sigma: &V3<f64>) -> f64 {
        if sigma[2] > 0.0 { self.energy(deviator(sigma).norm()) } else { f64::INFINITY }
    }

    /// ∂W/∂eᵢ along the axes: the Kirchhoff stress, Pa.
    pub fn stress(&self, sigma: &V3<f64>) -> V3<f64> {
        let e = deviator(sigma);
        e * self.slopes(e.norm()).secant
    }

    /// ∂²W/∂Fₑ² at singular values of Fₑ, not projected.
    pub fn principal_hessian(&self, sigma: &V3<f64>) -> PrincipalHessian {
        let e = deviator(sigma);
        let r = e.norm();
        let Slopes { secant, second } = self.slopes(r);
        let mut slopes = M3([V3::repeat(-secant / 3.0); 3]);
        for i in 0..3 {
            slopes[i][i] += secant;
            for j in 0..3 {
                if r > 0.0 {
                    slopes[i][j] += (second - secant) * (e[i] / r) * (e[j] / r);
                }
            }
        }
        let mut quotients = V3::repeat(0.0);
        for k in 0..3 {
            let [i, j] = PLANES[k];
            quotients[k] = secant / (sigma[j] * phi(e[i] - e[j]));
        }
        from_logarithms(sigma, &(e * secant), &slopes, &quotients)
    }
}

/// ln σᵢ less their mean.
pub(crate) fn deviator(sigma: &V3<f64>) -> V3<f64> {
    let l = V3([Real::ln(sigma[0]), Real::ln(sigma[1]), Real::ln(sigma[2])]);
    l.add_scalar(-(l.sum() / 3.0))
}

/// Singular values with the same product whose deviator is `factor` times as large.
pub(crate) fn scaled(sigma: &V3<f64>, factor: f64) -> V3<f64> {
    let change = deviator(sigma) * (factor - 1.0);
    V3([0, 1, 2].map(|i| sigma[i] * exp(change[i])))
}

impl Relaxation {
    /// b, the part to which e is taken before a step of `h` seconds, and a, the part of it that is left at its end.
    pub(crate) fn parts(&self, h: f64) -> [f64; 2] {
        let x = h / self.time;
        [1.0 / phi(x), phi(-x)]
    }

    /// ∫ ‖e‖² dt/τ over a step of `h` seconds in which e was e₀ at the begin and grew by Δε in all, from ‖e₀‖², e₀·Δε and ‖Δε‖²: the heat
    /// is 2 μ times that.
    pub(crate) fn heat(&self, h: f64, [start, mixed, change]: [f64; 3]) -> f64 {
        let x = h / self.time;
        let gone = x * phi(-x);
        let twice = x * phi(-2.0 * x);
        // (x − 2 (1 − exp(−x)) + (1 − exp(−2x))/2)/x², by its series where that cancels
        let rate = match x < 0.003 {
            true => x * (1.0 / 3.0 - x * (0.25 - x * (7.0 / 60.0 - x / 24.0))),
            false => (x - 2.0 * gone + twice) / (x * x),
        };
        let both = if x > 0.0 { gone * gone / x } else { 0.0 };
        start * twice + mixed * both + change * rate
    }
}

fn exp(z: f64) -> f64 {
    Real::exp(z)
}

/// (exp(z) − 1)/z.
fn phi(z: f64) -> f64 {
    match z.abs() < 1.0 {
        true => z * Real::exp_tail(z) + 1.0,
        false => (exp(z) - 1.0) / z,
    }
}
