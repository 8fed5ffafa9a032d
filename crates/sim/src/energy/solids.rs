//! The elements of solids: tetrahedra, linear and quadratic ones, and in two dimensions triangles, under plane strain or of bodies of revolution.

use super::axisymmetric::{Axisymmetric, RingGuard};
use super::element::{Element, Elements};
use super::guard::Guard;
use super::plane_strain::PlaneStrainTriangles;
use super::quadratic_tet::{CoefficientGuard, NODES, POINTS, QuadraticTet, QuadraticTets};
use super::term::Term;
use super::tet::ElasticTets;
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use std::ops::Range;

/// All elements of solids, numbered one kind after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solids {
    /// Tetrahedra of all volumes.
    pub tets: ElasticTets,
    /// Triangles under plane strain of all solids in the plane.
    pub plane: PlaneStrainTriangles,
    /// Triangles of all bodies of revolution.
    pub rings: Elements<Axisymmetric, 3>,
    /// Quadratic tetrahedra of all volumes.
    pub quadratic: QuadraticTets,
}

/// Barriers against inversion.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    tets: Elements<Guard<4>, 4>,
    plane: Elements<Guard<3>, 3>,
    rings: Elements<RingGuard, 3>,
    quadratic: Elements<CoefficientGuard, NODES>,
}

impl Guards {
    /// The energies of those that act anywhere.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let tets = self.tets.elements.iter().any(|g| g.volume > 0.0);
        let plane = self.plane.elements.iter().any(|g| g.volume > 0.0);
        let quadratic = self.quadratic.elements.iter().any(|g| g.acts);
        let tets = tets.then_some(&self.tets as &dyn Term);
        let plane = plane.then_some(&self.plane as &dyn Term);
        // they bound the step without a barrier, too
        let rings = (!self.rings.is_empty()).then_some(&self.rings as &dyn Term);
        let quadratic = quadratic.then_some(&self.quadratic as &dyn Term);
        tets.into_iter().chain(plane).chain(rings).chain(quadratic)
    }
}

impl Solids {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let plane = (!self.plane.is_empty()).then_some(&self.plane as &dyn Term);
        let rings = (!self.rings.is_empty()).then_some(&self.rings as &dyn Term);
        let quadratic = (!self.quadratic.is_empty()).then_some(&self.quadratic as &dyn Term);
        std::iter::once(&self.tets as &dyn Term).chain(plane).chain(rings).chain(quadratic)
    }

    /// The elements of what is `g(e)` times as long without stress.
    #[must_use]
    pub fn grown(&self, g: impl Fn(usize) -> f64) -> Self {
        let (tets, plane) = (self.tets.len(), self.plane.len());
        let rings = self.rings.len();
        Self {
            tets: grown(&self.tets, |t, e| t.grown(g(e))),
            plane: grown(&self.plane, |t, e| t.grown(g(tets + e))),
            rings: grown(&self.rings, |t, e| t.grown(g(tets + plane + e))),
            quadratic: grown(&self.quadratic, |t, e| t.grown(g(tets + plane + rings + e))),
        }
    }

    /// The elements that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self {
            tets: self.tets.touching(wanted),
            plane: self.plane.touching(wanted),
            rings: self.rings.touching(wanted),
            quadratic: self.quadratic.touching(wanted),
        }
    }

    /// The same elements with the barrier against inversion for laws that have none.
    pub fn with_inversion_barrier(&self) -> Self {
        let (tets, plane) = (self.tets.clone(), self.plane.clone());
        let quadratic = self.quadratic.elements.iter().cloned();
        let quadratic = quadratic.map(QuadraticTet::with_inversion_barrier).collect();
        let rings = self.rings.elements.iter().cloned();
        let rings = rings.map(Axisymmetric::with_inversion_barrier).collect();
        Self {
            tets: tets.with_inversion_barrier(),
            plane: plane.with_inversion_barrier(),
            rings: self.rings.with(rings),
            quadratic: self.quadratic.with(quadratic),
        }
    }

    /// The barriers against inversion at the end of a step of elements whose energy is evaluated before it.
    pub fn guards(&self) -> Guards {
        let tets = self.tets.elements.iter().map(|t| t.guard()).collect();
        let plane = self.plane.elements.iter().map(|t| t.guard()).collect();
        let rings = self.rings.elements.iter().map(|t| t.guard()).collect();
        let quadratic = self.quadratic.elements.iter().map(|t| t.own_guard()).collect();
        Guards {
            tets: self.tets.with(tets),
            plane: self.plane.with(plane),
            rings: self.rings.with(rings),
            quadratic: self.quadratic.with(quadratic),
        }
    }

    /// Rest volume of every element, m³; under plane strain the area, m².
    pub fn rest_volumes(&self) -> Vec<f64> {
        let tets = self.tets.elements.iter().map(|t| t.volume());
        let plane = self.plane.elements.iter().map(|t| t.area());
        let rings = self.rings.elements.iter().map(|t| t.volume());
        let quadratic = self.quadratic.elements.iter().map(|t| t.volume());
        tets.chain(plane).chain(rings).chain(quadratic).collect()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.tets.len() + self.plane.len() + self.rings.len() + self.quadratic.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which element of which kind has a number.
    fn find(&self, e: usize) -> Found {
        let (tets, plane, rings) = (self.tets.len(), self.plane.len(), self.rings.len());
        match e {
            _ if e < tets => Found::Tet(e),
            _ if e < tets + plane => Found::Plane(e - tets),
            _ if e < tets + plane + rings => Found::Ring(e - tets - plane),
            _ => Found::Quadratic(e - tets - plane - rings),
        }
    }

    /// The vertices of an element.
    pub fn vertices(&self, e: usize) -> &[u32] {
        match self.find(e) {
            Found::Tet(t) => &self.tets.vertices()[t],
            Found::Plane(t) => &self.plane.vertices()[t],
            Found::Ring(t) => &self.rings.vertices()[t],
            Found::Quadratic(t) => &self.quadratic.vertices()[t],
        }
    }

    /// det F of an element: its volume over that at rest. The least one within a quadratic element as its points and Bernstein coefficients tell.
    pub fn volume_ratio(&self, e: usize, x: &[Vec3]) -> f64 {
        match self.find(e) {
            Found::Quadratic(t) => {
                self.quadratic.elements[t].least_ratio(&self.quadratic.gather(t, x))
            }
            _ => self.deformation_gradient(e, x).determinant(),
        }
    }

    /// Deformation gradient F of an element, the mean of a quadratic one.
    pub fn deformation_gradient(&self, e: usize, x: &[Vec3]) -> Mat3 {
        let Self { tets, plane, rings, quadratic } = self;
        match self.find(e) {
            Found::Tet(t) => tets.elements[t].deformation_gradient(&tets.gather(t, x)),
            Found::Plane(t) => plane.elements[t].deformation_gradient(&plane.gather(t, x)),
            Found::Ring(t) => rings.elements[t].deformation_gradient(&rings.gather(t, x)),
            Found::Quadratic(t) => quadratic.elements[t].mean_gradient(&quadratic.gather(t, x)),
        }
    }

    /// The points of an element at which stresses are evaluated, numbered through all elements: one of a linear element, four of a quadratic one.
    pub fn points_of(&self, e: usize) -> Range<usize> {
        let linear = self.len() - self.quadratic.len();
        match e.checked_sub(linear) {
            None => e..e + 1,
            Some(t) => linear + POINTS * t..linear + POINTS * (t + 1),
        }
    }

    /// Deformation gradient F at every point.
    pub fn gradients_at_points(&self, x: &[Vec3]) -> Vec<Mat3> {
        self.at_points(
            |e| self.deformation_gradient(e, x),
            |t| self.quadratic.elements[t].deformation_gradients(&self.quadratic.gather(t, x)),
        )
    }

    /// Cauchy stress of the law at every point, Pa.
    pub fn stress_at_points(&self, x: &[Vec3]) -> Vec<Mat3> {
        let Self { tets, plane, rings, quadratic } = self;
        let linear = |e: usize| match self.find(e) {
            Found::Tet(t) => tets.elements[t].cauchy_stress(&tets.gather(t, x)),
            Found::Plane(t) => plane.elements[t].cauchy_stress(&plane.gather(t, x)),
            Found::Ring(t) => rings.elements[t].cauchy_stress(&rings.gather(t, x)),
            Found::Quadratic(_) => unreachable!("linear elements come first"),
        };
        self.at_points(linear, |t| quadratic.elements[t].stresses(&quadratic.gather(t, x)))
    }

    /// Values at all points, from those of linear elements and of quadratic tetrahedra.
    fn at_points(
        &self,
        linear: impl Fn(usize) -> Mat3 + Sync + Send,
        quadratic: impl Fn(usize) -> [Mat3; POINTS] + Sync + Send,
    ) -> Vec<Mat3> {
        let count = self.len() - self.quadratic.len();
        let mut all: Vec<Mat3> =
            (0..count).into_par_iter().with_min_len(TASK).map(linear).collect();
        let curved: Vec<[Mat3; POINTS]> = (0..self.quadratic.len())
            .into_par_iter()
            .with_min_len(TASK / POINTS)
            .map(quadratic)
            .collect();
        all.extend(curved.into_iter().flatten());
        all
    }

    /// The mean over every element of what has these values at its points.
    pub fn means(&self, at_points: &[Mat3]) -> Vec<Mat3> {
        let mean = |e: usize| match self.find(e) {
            Found::Quadratic(t) => self.quadratic.elements[t].mean(&at_points[self.points_of(e)]),
            _ => at_points[e],
        };
        (0..self.len()).map(mean).collect()
    }

    /// Cauchy stress of the law in every element, Pa, the mean of a quadratic one.
    pub fn cauchy_stress(&self, x: &[Vec3]) -> Vec<Mat3> {
        self.means(&self.stress_at_points(x))
    }
}

/// Fewest elements of a task.
const TASK: usize = 512;

/// Each element as `of` makes it of it and its number.
fn grown<E: Element<N>, const N: usize>(
    all: &Elements<E, N>,
    of: impl Fn(&E, usize) -> E,
) -> Elements<E, N> {
    all.with(all.elements.iter().enumerate().map(|(e, element)| of(element, e)).collect())
}

/// An element of its kind.
enum Found {
    Tet(usize),
    Plane(usize),
    Ring(usize),
    Quadratic(usize),
}
