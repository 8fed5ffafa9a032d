//! Elastic energy of linear tetrahedra: Ψ = Σ Vₑ ψ(Fₑ), F = [x₁−x₀, x₂−x₀, x₃−x₀] Dₘ⁻¹
//! [Li 2020 thesis, §2.2.1].
//!
//! [`Tet`] is one element as a pure function of its four corners; [`ElasticTets`] are those of a
//! scene. Sums run in a fixed order, whatever the number of threads.

pub(super) mod formulas;
mod proximal;
pub(super) mod step;
#[cfg(test)]
mod tests;

use super::element::{Element, Elements, Hessian};
use super::formula::{self, Batch, Formula, by_formula};
use super::guard::Guard;
use super::point::Point;
use super::projection::Projection;
use super::term::Role;
use crate::material::{Lame, Law, Material, PrincipalHessian};
use formulas::{pk1, principal_hessian, psi};
use standoff_linalg::{Mat3, Vec3, lanes};

/// Part of an element's current volume that one step keeps [Li 2020 thesis, §2.2.1].
pub(super) const KEEP_VOLUME: f64 = 0.2;

/// One element: its rest shape and material.
#[derive(Debug, Clone, PartialEq)]
pub struct Tet {
    /// Dₘ⁻¹, Dₘ = [X₁−X₀, X₂−X₀, X₃−X₀], 1/m. Row a − 1 is the gradient of corner a's shape function.
    inv_dm: Mat3,
    /// Rest volume, m³.
    volume: f64,
    lame: Lame,
    law: Law,
    /// Whether the law is given a barrier against inversion, where it has none by itself.
    guarded: bool,
    /// Whether the element may be inverted, so that no step is too large for it.
    invertible: bool,
}

/// Why four points make no element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BadShape {
    Inverted,
    Degenerate,
}

impl Tet {
    /// The element with rest positions `rest` (m).
    fn new(rest: &[Vec3; 4], material: &Material) -> Result<Self, BadShape> {
        let [a, b, c] = [rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]];
        let det = a.dot(&b.cross(&c));
        // what rounding may contribute to the determinant
        let noise = 8.0 * f64::EPSILON * a.abs().sum() * b.abs().sum() * c.abs().sum();
        if det < -noise {
            return Err(BadShape::Inverted);
        }
        // written so that NaN is degenerate
        if !(det > noise && det.is_finite()) {
            return Err(BadShape::Degenerate);
        }
        let rows = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|v| (v / det).transpose());
        Ok(Self {
            inv_dm: Mat3::from_rows(&rows),
            volume: det / 6.0,
            lame: material.lame(),
            law: material.law.clone(),
            guarded: true,
            invertible: false,
        })
    }

    /// ψ(F), J/m³.
    fn psi(&self, f: &Mat3) -> f64 {
        psi(self, &self.lame, &f.into())
    }

    /// ∂ψ/∂F, Pa.
    fn pk1(&self, f: &Mat3) -> Mat3 {
        pk1(self, &self.lame, &f.into()).into()
    }

    /// ∂²ψ/∂F² at signed singular values of F, not projected.
    fn principal_hessian(&self, sigma: &Vec3) -> PrincipalHessian {
        principal_hessian(self, &self.lame, &sigma.into())
    }

    /// Its barrier against inversion at the end of a step.
    pub(super) fn guard(&self) -> Guard<4> {
        let [g1, g2, g3] = self.shape_gradients();
        let guarded = self.guarded && !self.invertible;
        Guard {
            shape: [-(g1 + g2 + g3), g1, g2, g3],
            across: Mat3::zeros(),
            volume: if guarded { self.volume } else { 0.0 },
            lame: self.lame,
        }
    }

    /// Its point.
    pub(super) fn point(&self) -> Point<4> {
        let [g1, g2, g3] = self.shape_gradients();
        let gradients = [-(g1 + g2 + g3), g1, g2, g3];
        Point { gradients, across: Mat3::zeros(), volume: self.volume }
    }

    /// The element of what is `g` times as long without stress.
    pub(super) fn grown(&self, g: f64) -> Self {
        Self { inv_dm: self.inv_dm / g, volume: self.volume * g.powi(3), ..self.clone() }
    }

    /// Rest volume, m³.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Lamé's parameters of the material.
    pub fn lame(&self) -> &Lame {
        &self.lame
    }

    /// ∇Nₐ·∇N_b of the shape functions of all pairs of corners at rest, 1/m².
    pub fn shape_products(&self) -> [[f64; 4]; 4] {
        let [g1, g2, g3] = self.shape_gradients();
        let g = [-(g1 + g2 + g3), g1, g2, g3];
        g.map(|a| g.map(|b| a.dot(&b)))
    }

    /// V P ∇Nₐ of the corners, N: minus the forces that a stress P (Pa) brings to them.
    #[inline]
    pub fn stress_gradient(&self, p: &Mat3) -> [Vec3; 4] {
        let p = p * self.volume;
        let [g1, g2, g3] = self.shape_gradients().map(|g| p * g);
        [-(g1 + g2 + g3), g1, g2, g3]
    }

    /// Frobenius norm of ∂²ψ/∂F² at rest, Pa.
    pub fn rest_stiffness(&self) -> f64 {
        self.lame.rest_stiffness()
    }

    /// Deformation gradient F at corner positions `x`.
    #[inline]
    pub fn deformation_gradient(&self, x: &[Vec3; 4]) -> Mat3 {
        Mat3::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]) * self.inv_dm
    }

    /// Cauchy stress, Pa.
    pub fn cauchy_stress(&self, x: &[Vec3; 4]) -> Mat3 {
        self.law.cauchy_stress(&self.lame, &self.deformation_gradient(x))
    }

    /// Gradients of the shape functions of corners 1, 2, 3 at rest, 1/m; corner 0's is minus their sum.
    #[inline]
    fn shape_gradients(&self) -> [Vec3; 3] {
        let d = &self.inv_dm;
        [0, 1, 2].map(|a| Vec3::new(d[(a, 0)], d[(a, 1)], d[(a, 2)]))
    }
}

impl Element<4> for Tet {
    const NAME: &'static str = "tetrahedra";
    const ROLE: Role = Role::Elastic;
    const KEY: Option<&'static str> = Some("material.young_modulus");

    by_formula!(4, 6);

    /// The largest α ≤ 1 such that the element keeps 20 % of its volume all along
    /// `x` + [0, α] `dx`. Never too large; 0 where the element has no positive volume. 1 where it may be inverted.
    fn max_step(&self, x: &[Vec3; 4], dx: &[Vec3; 4]) -> f64 {
        if self.invertible { 1.0 } else { step::volume_step(x, dx, KEEP_VOLUME) }
    }

    /// Several elements at once, one per lane.
    fn least_max_step(elements: &[Self], vertices: &[[u32; 4]], x: &[Vec3], dx: &[Vec3]) -> f64 {
        lanes::dispatch(step::LeastMaxStep { elements, vertices, x, dx })
    }
}

/// Tetrahedra that cannot be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TetError {
    /// Negative rest volume.
    #[error("tetrahedron {element} is inverted at rest (swap two of its vertices)")]
    Inverted {
        /// Index of the element.
        element: usize,
    },
    /// Rest volume zero up to rounding, or not a number.
    #[error("tetrahedron {element} has no volume at rest")]
    Degenerate {
        /// Index of the element.
        element: usize,
    },
    /// A vertex index beyond the positions.
    #[error("tetrahedron {element} refers to vertex {vertex}, but there are only {count} vertices")]
    VertexOutOfRange {
        /// Index of the element.
        element: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// Not one material per element.
    #[error("{materials} materials were given for {elements} tetrahedra")]
    MaterialCount {
        /// Number of elements.
        elements: usize,
        /// Number of materials.
        materials: usize,
    },
}

/// The elastic tetrahedra of a scene. `x` is the array of all vertices of the scene throughout.
pub type ElasticTets = Elements<Tet, 4>;

impl ElasticTets {
    /// Elements `vertices` over rest positions `rest` (m), each with its material.
    ///
    /// # Errors
    /// [`TetError`] names the first element that is inverted, flat or refers to a missing vertex.
    pub fn new(
        rest: &[Vec3],
        vertices: Vec<[u32; 4]>,
        materials: &[Material],
    ) -> Result<Self, TetError> {
        if vertices.len() != materials.len() {
            let (elements, materials) = (vertices.len(), materials.len());
            return Err(TetError::MaterialCount { elements, materials });
        }
        let mut elements = Vec::with_capacity(vertices.len());
        for (element, (tet, material)) in vertices.iter().zip(materials).enumerate() {
            if let Some(&vertex) = tet.iter().find(|&&v| v as usize >= rest.len()) {
                let count = rest.len();
                return Err(TetError::VertexOutOfRange { element, vertex, count });
            }
            let shape = tet.map(|v| rest[v as usize]);
            elements.push(Tet::new(&shape, material).map_err(|bad| match bad {
                BadShape::Inverted => TetError::Inverted { element },
                BadShape::Degenerate => TetError::Degenerate { element },
            })?);
        }
        Ok(Self::from_parts(vertices, elements, rest.len()))
    }

    /// The same elements without the barrier against inversion of laws that have none by themselves: their
    /// energy is what the law's name says at every compression, and only the bounds of steps keep
    /// elements from turning inside out.
    #[must_use]
    pub fn without_inversion_barrier(mut self) -> Self {
        self.elements.iter_mut().for_each(|e| e.guarded = false);
        self
    }

    /// The same elements with that barrier.
    #[must_use]
    pub fn with_inversion_barrier(mut self) -> Self {
        self.elements.iter_mut().for_each(|e| e.guarded = true);
        self
    }

    /// The same elements, which may be inverted, without any barrier against that.
    #[must_use]
    pub fn invertible(self) -> Self {
        let mut tets = self.without_inversion_barrier();
        tets.elements.iter_mut().for_each(|e| e.invertible = true);
        tets
    }

    /// Adds each element's mass, `density`ₑ Vₑ (kg/m³ per element), to `mass` (kg per vertex), a
    /// quarter to each corner.
    pub fn add_lumped_mass(&self, density: &[f64], mass: &mut [f64]) {
        for ((tet, corners), rho) in self.elements.iter().zip(self.vertices()).zip(density) {
            for &v in corners {
                mass[v as usize] += 0.25 * rho * tet.volume;
            }
        }
    }
}
