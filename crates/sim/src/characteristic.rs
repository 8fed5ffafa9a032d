//! The characteristic norm of the gradient, a measure of convergence that means the same for all meshes,
//! materials and time steps [Zhu 2018; Li 2020 thesis, §3.5.2].

use standoff_linalg::Vec3;

/// CN = ‖∇E‖ / (s ⟨W⟩ ‖ℓ‖) [Li 2020 thesis, Eq. 3.15], where s is the integrator's factor of the elastic energy (h² for
/// implicit Euler), ⟨W⟩ the Frobenius norm of the second derivative of an element's energy density at rest
/// by the deformation gradient (Pa), and ℓ holds for each vertex the surface area of the elements around
/// it (m²).
///
/// Where elements differ, each vertex's part of the gradient is divided by the ⟨W⟩ of the elements around it, their
/// mean weighted by area: with one material that is the published norm. The surface of the elements around a
/// vertex of a shell is its rim, as high as the shell is thick; of a rod, its cross-sections.
#[derive(Debug, Clone, PartialEq)]
pub struct CharacteristicNorm {
    /// 1/⟨W⟩ of each vertex, 1/Pa (`#V`).
    compliance: Vec<f64>,
    /// ‖ℓ‖, m².
    area: f64,
}

impl CharacteristicNorm {
    /// A norm with 1/⟨W⟩ of each vertex, 1/Pa (`#V`), and ‖ℓ‖, m².
    pub fn new(compliance: Vec<f64>, area: f64) -> Self {
        Self { compliance, area }
    }

    /// The norm of a potential's gradient `g` (`#V`, kg m), in which the elastic energy has the factor
    /// `elastic_scale`, s².
    pub fn of(&self, g: &[Vec3], elastic_scale: f64) -> f64 {
        let scaled = g.iter().zip(&self.compliance).map(|(g, c)| (g * *c).norm_squared());
        scaled.sum::<f64>().sqrt() / (elastic_scale * self.area)
    }
}
