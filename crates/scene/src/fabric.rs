//! Fabrics with measured properties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plain woven fabric as measured by [Penava 2014]: the least of Young's moduli and of Poisson's
/// ratios over all directions, and the greatest stretch of the elastic range, as [Li 2021, suppl. §9]
/// takes them from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fabric {
    /// 100 % cotton.
    Cotton,
    /// 100 % wool.
    Wool,
    /// 95 % wool, 5 % lycra.
    WoolLycra,
    /// 100 % polyester.
    Polyester,
}

/// Properties of a fabric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Properties {
    /// Mass density, kg/m³.
    pub density: f64,
    /// Thickness, m.
    pub thickness: f64,
    /// Young's modulus, Pa.
    pub young_modulus: f64,
    /// Poisson's ratio.
    pub poisson_ratio: f64,
    /// Limit of the stretch.
    pub stretch_limit: f64,
}

impl Fabric {
    /// Every fabric.
    pub const ALL: [Self; 4] = [Self::Cotton, Self::Wool, Self::WoolLycra, Self::Polyester];

    /// Its measured properties.
    pub fn properties(self) -> Properties {
        // areal density (g/m²), thickness (μm), E (MPa), ν, limit
        let [areal, um, mpa, poisson_ratio, stretch_limit] = match self {
            Self::Cotton => [150.3, 318.0, 0.821, 0.243, 1.0608],
            Self::Wool => [234.8, 568.0, 0.170, 0.277, 1.085],
            Self::WoolLycra => [178.2, 328.0, 0.076, 0.071, 1.134],
            Self::Polyester => [164.6, 252.0, 0.478, 0.381, 1.0646],
        };
        Properties {
            density: 1e3 * areal / um,
            thickness: um * 1e-6,
            young_modulus: mpa * 1e6,
            poisson_ratio,
            stretch_limit,
        }
    }
}
