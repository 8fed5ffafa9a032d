//! Surfaces that ride along with volumes and rigid bodies.

use super::{BodyDef, BodyKind};
use standoff_linalg::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// Distance from 1 at which a sum of weights is more than rounded: the points of a body would move apart under translation.
const AFFINE: f64 = 1e-9;

impl BodyDef {
    /// Number of carried vertices.
    pub fn carried_count(&self) -> usize {
        self.surface.as_ref().map_or(0, |s| s.on.len())
    }

    /// The vertices whose motion is simulated, within the body: all but those of a surface that it carries.
    pub fn unknowns(&self) -> Range<usize> {
        let (n, carried) = (self.rest.len(), self.carried_count());
        match self.kind {
            BodyKind::Rigid { .. } => carried.min(n)..n,
            _ => 0..n.saturating_sub(carried),
        }
    }

    /// The carried vertices within the body.
    pub fn carried(&self) -> Range<usize> {
        let (n, carried) = (self.rest.len(), self.carried_count());
        match self.kind {
            BodyKind::Rigid { .. } => 0..carried.min(n),
            _ => n.saturating_sub(carried)..n,
        }
    }
}

/// A surface that rides along with the tetrahedra of a volume: each of its vertices is a fixed affine combination of those of
/// one tetrahedron, or of the control points of a rigid body. Its triangles have neither mass nor elasticity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CarriedSurface {
    /// Triangles, counter-clockwise from outside, over the carried vertices: the first one is 0 (`#F×3`).
    pub triangles: Arc<Vec<[u32; 3]>>,
    /// The vertices of the body on which each carried vertex depends (`#C×4`).
    pub on: Arc<Vec<[u32; 4]>>,
    /// Their weights, of sum 1 (`#C×4`).
    pub weights: Arc<Vec<[f64; 4]>>,
}

impl CarriedSurface {
    /// Checks that every carried vertex is an affine combination of the vertices `own` of its body.
    ///
    /// # Errors
    /// The first that is none, in words.
    pub(crate) fn check(&self, own: &Range<usize>) -> Result<(), String> {
        if self.triangles.is_empty() {
            return Err("the surface that it carries has no triangles".into());
        }
        if self.weights.len() != self.on.len() {
            let (found, expected) = (self.weights.len(), self.on.len());
            return Err(format!("{found} rows of weights for {expected} carried vertices"));
        }
        for (k, (on, weights)) in self.on.iter().zip(self.weights.iter()).enumerate() {
            if let Some(v) = on.iter().find(|v| !own.contains(&(**v as usize))) {
                return Err(format!(
                    "carried vertex {k} depends on vertex {v}, which is none of those from {} to {} that have elements",
                    own.start,
                    own.end - 1
                ));
            }
            let sum: f64 = weights.iter().sum();
            if !(weights.iter().all(|w| w.is_finite()) && (sum - 1.0).abs() < AFFINE) {
                return Err(format!(
                    "the weights of carried vertex {k} have the sum {sum} instead of 1"
                ));
            }
        }
        Ok(())
    }

    /// The carried points for positions of the other vertices of the body, m.
    pub fn points(&self, x: &[Vec3]) -> Vec<Vec3> {
        let point = |(on, weights): (&[u32; 4], &[f64; 4])| {
            let parts = on.iter().zip(weights).map(|(v, w)| x[*v as usize] * *w);
            parts.fold(Vec3::zeros(), |sum, part| sum + part)
        };
        self.on.iter().zip(self.weights.iter()).map(point).collect()
    }
}
