//! Cone.

use super::swept::hexagon;
use super::{Build, ShapeError, centred, limits, refine};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Solid cone around the y axis with its apex on +y, centred at the origin (base at −height/2,
/// apex at height/2). The base is the disc of the cylinder; 6·rings³ tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cone {
    /// Radius of the base, m.
    pub radius: f64,
    /// Distance from base to apex, m.
    pub height: f64,
    /// Number of rings of the base and of layers along y.
    pub rings: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Cone {
    fn default() -> Self {
        Self { radius: 0.5, height: 1.0, rings: 4, surface: false }
    }
}

impl Build for Cone {
    fn build(&self) -> Result<Mesh, ShapeError> {
        const APEX: u32 = 7;
        let radius = limits::length("cone", "radius", self.radius)?;
        let height = limits::length("cone", "height", self.height)?;
        let n = limits::at_least("cone", "rings", self.rings, 1)?;
        limits::elements("cone", &[12, n, n, if self.surface { 1 } else { n }])?;
        let place = |weights: &[(u32, u32)]| {
            let up: u32 = weights.iter().filter(|w| w.0 == APEX).map(|w| w.1).sum();
            hexagon(weights, radius / n as f64) + Vec3::y() * (height * centred(up as usize, n))
        };
        let points: Vec<Vec3> = (0..=APEX).map(|v| place(&[(v, self.rings)])).collect();
        let tets: Vec<[u32; 4]> = (0..6).map(|k| [0, 1 + k, 1 + (k + 1) % 6, APEX]).collect();
        Ok(refine::tets_or_surface(self.surface, &points, &tets, self.rings, &place))
    }
}
