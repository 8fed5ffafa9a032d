//! The elements of solids: tetrahedra, and in two dimensions triangles under plane strain.

use super::element::Elements;
use super::guard::Guard;
use super::plane_strain::PlaneStrainTriangles;
use super::term::Term;
use super::tet::ElasticTets;
use standoff_linalg::{Mat3, Vec3};

/// All elements of solids, numbered one after the other. A scene has only one of the two kinds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solids {
    /// Tetrahedra of all volumes.
    pub tets: ElasticTets,
    /// Triangles under plane strain of all solids in the plane.
    pub plane: PlaneStrainTriangles,
}

/// Barriers against inversion.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    tets: Elements<Guard<4>, 4>,
    plane: Elements<Guard<3>, 3>,
}

impl Guards {
    /// The energies of those that act anywhere.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let tets = self.tets.elements.iter().any(|g| g.volume > 0.0);
        let plane = self.plane.elements.iter().any(|g| g.volume > 0.0);
        let tets = tets.then_some(&self.tets as &dyn Term);
        tets.into_iter().chain(plane.then_some(&self.plane as &dyn Term))
    }
}

impl Solids {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let plane = (!self.plane.is_empty()).then_some(&self.plane as &dyn Term);
        std::iter::once(&self.tets as &dyn Term).chain(plane)
    }

    /// The elements that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self { tets: self.tets.touching(wanted), plane: self.plane.touching(wanted) }
    }

    /// The same elements with the barrier against inversion for laws that have none.
    pub fn with_inversion_barrier(&self) -> Self {
        let (tets, plane) = (self.tets.clone(), self.plane.clone());
        Self { tets: tets.with_inversion_barrier(), plane: plane.with_inversion_barrier() }
    }

    /// The barriers against inversion at the end of a step of elements whose energy is evaluated before it.
    pub fn guards(&self) -> Guards {
        let tets = self.tets.elements.iter().map(|t| t.guard()).collect();
        let plane = self.plane.elements.iter().map(|t| t.guard()).collect();
        Guards { tets: self.tets.with(tets), plane: self.plane.with(plane) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.tets.len() + self.plane.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vertices of an element.
    pub fn vertices(&self, e: usize) -> &[u32] {
        match e.checked_sub(self.tets.len()) {
            None => &self.tets.vertices()[e],
            Some(t) => &self.plane.vertices()[t],
        }
    }

    /// det F of an element: its volume over that at rest.
    pub fn volume_ratio(&self, e: usize, x: &[Vec3]) -> f64 {
        self.deformation_gradient(e, x).determinant()
    }

    /// Deformation gradient F of an element.
    pub fn deformation_gradient(&self, e: usize, x: &[Vec3]) -> Mat3 {
        let (tets, plane) = (&self.tets, &self.plane);
        match e.checked_sub(tets.len()) {
            None => tets.elements[e].deformation_gradient(&tets.gather(e, x)),
            Some(t) => plane.elements[t].deformation_gradient(&plane.gather(t, x)),
        }
    }

    /// Cauchy stress of every element, Pa.
    pub fn cauchy_stress(&self, x: &[Vec3]) -> Vec<Mat3> {
        let plane = &self.plane;
        let triangles = plane.elements.iter().enumerate();
        let triangles = triangles.map(|(e, t)| t.cauchy_stress(&plane.gather(e, x)));
        self.tets.cauchy_stress(x).into_iter().chain(triangles).collect()
    }
}
