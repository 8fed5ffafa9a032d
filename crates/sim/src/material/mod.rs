//! Constitutive laws of volumes: energy density ψ(F), first Piola–Kirchhoff stress ∂ψ/∂F and its
//! derivative, as functions of the deformation gradient F alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A hyperelastic material: a law with Young's modulus and Poisson's ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Material {
    /// Constitutive law.
    pub law: Law,
    /// Young's modulus E, Pa.
    pub young_modulus: f64,
    /// Poisson's ratio ν, in (−1, 0.5).
    pub poisson_ratio: f64,
}

/// Constitutive laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// ψ = μ/2 (tr FᵀF − 3) − μ ln J + λ/2 (ln J)²; infinite at J ≤ 0.
    NeoHookean,
    /// [Smith 2018, Eq. 14] with rest stability; finite at every F.
    StableNeoHookean,
    /// ψ = μ ‖F − R‖² + λ/2 (J − 1)² [Stomakhin 2012]; finite at every F.
    FixedCorotated,
    /// ψ = μ ‖F − R‖² + λ/2 tr(RᵀF − I)²; finite at every F.
    CorotatedLinear,
    /// ψ = μ ‖E‖² + λ/2 (tr E)², E = (FᵀF − I)/2; finite at every F.
    StVenantKirchhoff,
}

impl Material {
    /// First Lamé parameter λ = Eν/((1+ν)(1−2ν)), Pa.
    pub fn lambda(&self) -> f64 {
        let (e, nu) = (self.young_modulus, self.poisson_ratio);
        e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    }

    /// Second Lamé parameter μ = E/(2(1+ν)), Pa.
    pub fn mu(&self) -> f64 {
        self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))
    }
}
