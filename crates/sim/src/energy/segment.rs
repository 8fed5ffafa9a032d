//! Stretching energy of a segment of a rod: Ψ = A l̄ E/2 (l/l̄ − 1)² with the cross-section A = π r²
//! and the rest length l̄ [Li 2020 thesis, §2.2.3].

use super::element::{Element, Hessian};
use super::term::Role;
use standoff_linalg::{Mat3, Vec3};

/// One segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// E A/l̄, N/m.
    stiffness: f64,
    /// l̄, m.
    rest_length: f64,
}

impl Segment {
    /// A segment of rest length l̄ (m), radius r (m) and Young's modulus E (Pa).
    pub fn new(rest_length: f64, radius: f64, young_modulus: f64) -> Self {
        let area = std::f64::consts::PI * radius * radius;
        Self { stiffness: young_modulus * area / rest_length, rest_length }
    }

    /// E A, N: the force per strain.
    pub fn force_per_strain(&self) -> f64 {
        self.stiffness * self.rest_length
    }

    /// Rest length, m.
    pub fn rest_length(&self) -> f64 {
        self.rest_length
    }
}

impl Element<2> for Segment {
    const NAME: &'static str = "rod stretching";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("radius");
    const TRANSLATION_INVARIANT: bool = true;

    #[inline]
    fn value(&self, x: &[Vec3; 2]) -> f64 {
        0.5 * self.stiffness * ((x[1] - x[0]).norm() - self.rest_length).powi(2)
    }

    #[inline]
    fn gradient(&self, x: &[Vec3; 2]) -> [Vec3; 2] {
        let e = x[1] - x[0];
        let l = e.norm();
        if l == 0.0 {
            return [Vec3::zeros(); 2];
        }
        let pull = e * (self.stiffness * (1.0 - self.rest_length / l));
        [-pull, pull]
    }

    /// k [t tᵀ + max(0, 1 − l̄/l)(I − t tᵀ)]: a compressed segment is concave across its axis, and
    /// that part is dropped.
    #[inline]
    fn hessian_psd(&self, x: &[Vec3; 2]) -> Hessian<2> {
        self.second_derivative(x, 0.0)
    }

    #[inline]
    fn hessian(&self, x: &[Vec3; 2]) -> Hessian<2> {
        self.second_derivative(x, f64::NEG_INFINITY)
    }
}

impl Segment {
    /// The second derivative with a stiffness across the axis, in units of k, not below `least`.
    #[inline]
    fn second_derivative(&self, x: &[Vec3; 2], least: f64) -> Hessian<2> {
        let e = x[1] - x[0];
        let l = e.norm();
        let along = if l > 0.0 { e * e.transpose() / (l * l) } else { Mat3::identity() };
        let across = if l > 0.0 { (1.0 - self.rest_length / l).max(least) } else { 0.0 };
        let h = (along + (Mat3::identity() - along) * across) * self.stiffness;
        [[h, -h], [-h, h]]
    }
}
