//! A point of an element at which its energy density is evaluated.

use standoff_linalg::{Mat3, Vec3};

/// A point of an element with N vertices: F = Σ xₐ ∇Nₐᵀ + `across`.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<const N: usize> {
    /// Gradients of the shape functions at rest, 1/m.
    pub gradients: [Vec3; N],
    /// What F has beside positions: e₃ e₃ᵀ under plane strain.
    pub across: Mat3,
    /// Rest volume that the point stands for, m³.
    pub volume: f64,
}

impl<const N: usize> Point<N> {
    /// F at positions `x` of the vertices.
    pub fn deformation_gradient(&self, x: &[Vec3; N]) -> Mat3 {
        let mut f = self.across;
        for a in 1..N {
            // the gradients sum to zero
            f += (x[a] - x[0]) * self.gradients[a].transpose();
        }
        f
    }

    /// The point of what is `g` times as long without stress.
    pub fn grown(&self, g: f64) -> Self {
        Self {
            gradients: self.gradients.map(|a| a / g),
            across: self.across / g,
            volume: self.volume * g.powi(3),
        }
    }

    /// The same point with F Fᵢ⁻¹ in the place of F.
    pub fn behind(&self, inverse: &Mat3) -> Self {
        let gradients = self.gradients.map(|g| inverse.tr_mul(&g));
        Self { gradients, across: self.across * inverse, volume: self.volume }
    }
}
