//! Barriers: scalar functions b(s, ŝ) that vanish at s ≥ ŝ and grow without bound as s → 0.
//!
//! In contact s is a squared distance, s = d² − ξ² against ŝ = 2ξd̂ + d̂² [Li 2021, §5.1].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Barrier {
    /// b = −(s − ŝ)² ln(s/ŝ), C² at ŝ [Li 2020, Eq. 6].
    #[default]
    ClampedLog,
    /// b = −ln(s/ŝ), C⁰ at ŝ: forces jump there [Li 2020, suppl. B].
    ClampedLogC0,
    /// b = (s − ŝ) ln(s/ŝ), C¹ at ŝ [Li 2020, suppl. B].
    ClampedLogC1,
    /// b = −(s/ŝ − 1)² ln(s/ŝ), dimensionless [Li 2023, §3].
    NormalizedClampedLog,
    /// b = (s − ŝ)² ln²(s/ŝ) [Huang 2024].
    ClampedLogSquared,
    /// b = −2/(3ŝ) (s − ŝ)³ [Ando 2024]; finite at s = 0.
    Cubic,
    /// Quadratic, ½ (ŝ − s)², down to ŝ/2, logarithmic below, C¹ there [Chen 2025].
    TwoStage,
}

impl Barrier {
    /// Whether the barrier stays finite at contact, so that no distance is infinitely stiff.
    pub fn is_finite(self) -> bool {
        self == Self::Cubic
    }

    /// [b, ∂b/∂s, ∂²b/∂s²] at (s, ŝ).
    ///
    /// Zero at s ≥ ŝ. At s ≤ 0 (contact or beyond) the value is infinite and the derivatives zero,
    /// except for the cubic, which continues.
    #[inline]
    pub fn derivatives(self, s: f64, s_hat: f64) -> [f64; 3] {
        if s >= s_hat {
            return [0.0; 3];
        }
        // gap to ŝ, the same relative to s, ln(ŝ/s): all positive, so that nothing cancels
        let g = s_hat - s;
        if self == Self::Cubic {
            let c = 2.0 / s_hat;
            return [c / 3.0 * g * g * g, -c * g * g, 2.0 * c * g];
        }
        if s <= 0.0 {
            return [f64::INFINITY, 0.0, 0.0];
        }
        let e = g / s;
        let l = e.ln_1p();
        match self {
            Self::ClampedLog => [g * g * l, -g * (2.0 * l + e), e * (e + 4.0) + 2.0 * l],
            Self::ClampedLogC0 => [l, -1.0 / s, 1.0 / s / s],
            Self::ClampedLogC1 => [g * l, -(l + e), (1.0 + s_hat / s) / s],
            Self::NormalizedClampedLog => {
                let r = g / s_hat;
                let c = 1.0 / s_hat;
                [r * r * l, -r * (2.0 * l + e) * c, (e * (e + 4.0) + 2.0 * l) * c * c]
            }
            Self::ClampedLogSquared => [
                g * g * l * l,
                -2.0 * g * l * (l + e),
                2.0 * (l * l + 4.0 * e * l + e * e + e * e * l),
            ],
            Self::TwoStage if s >= 0.5 * s_hat => [0.5 * g * g, -g, 1.0],
            Self::TwoStage => {
                let c = 0.25 * s_hat * s_hat;
                [0.5 * c - c * (2.0 * s / s_hat).ln(), -c / s, c / s / s]
            }
            Self::Cubic => unreachable!("handled above"),
        }
    }

    /// b(s, ŝ).
    #[inline]
    pub fn value(self, s: f64, s_hat: f64) -> f64 {
        self.derivatives(s, s_hat)[0]
    }

    /// Scale of b at ŝ: b / units(ŝ) is dimensionless and does not depend on the unit of s.
    #[inline]
    pub fn units(self, s_hat: f64) -> f64 {
        match self {
            Self::NormalizedClampedLog | Self::ClampedLogC0 => 1.0,
            Self::ClampedLogC1 => s_hat,
            _ => s_hat * s_hat,
        }
    }
}
