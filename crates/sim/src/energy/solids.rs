//! The elements of solids: tetrahedra, and in two dimensions triangles, under plane strain or of bodies of revolution; both linear and
//! quadratic ones.

use super::axisymmetric::{Axisymmetric, RingGuard};
use super::element::{Element, Elements};
use super::guard::Guard;
use super::plane_strain::PlaneStrainTriangles;
use super::quadratic_tet::{self, CoefficientGuard, QuadraticTet, QuadraticTets};
use super::quadratic_triangle::{self, AreaGuard, QuadraticTriangle, QuadraticTriangles};
use super::term::Term;
use super::tet::ElasticTets;
use rayon::prelude::*;
use standoff_geometry::quadratic::TRIANGLE_NODES;
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
    /// Quadratic triangles of all solids in two dimensions.
    pub quadratic_triangles: QuadraticTriangles,
}

/// Barriers against inversion.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    tets: Elements<Guard<4>, 4>,
    plane: Elements<Guard<3>, 3>,
    rings: Elements<RingGuard, 3>,
    quadratic: Elements<CoefficientGuard, { quadratic_tet::NODES }>,
    quadratic_triangles: Elements<AreaGuard, TRIANGLE_NODES>,
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
        let triangles = &self.quadratic_triangles;
        let triangles = (!triangles.is_empty()).then_some(triangles as &dyn Term);
        tets.into_iter().chain(plane).chain(rings).chain(quadratic).chain(triangles)
    }
}

impl Solids {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> impl Iterator<Item = &dyn Term> {
        let plane = (!self.plane.is_empty()).then_some(&self.plane as &dyn Term);
        let rings = (!self.rings.is_empty()).then_some(&self.rings as &dyn Term);
        let quadratic = (!self.quadratic.is_empty()).then_some(&self.quadratic as &dyn Term);
        let triangles = &self.quadratic_triangles;
        let triangles = (!triangles.is_empty()).then_some(triangles as &dyn Term);
        let linear = std::iter::once(&self.tets as &dyn Term).chain(plane).chain(rings);
        linear.chain(quadratic).chain(triangles)
    }

    /// The elements of what is `g(e)` times as long without stress.
    #[must_use]
    pub fn grown(&self, g: impl Fn(usize) -> f64) -> Self {
        let [_, plane, rings, quadratic, triangles] = self.firsts();
        Self {
            tets: grown(&self.tets, |t, e| t.grown(g(e))),
            plane: grown(&self.plane, |t, e| t.grown(g(plane + e))),
            rings: grown(&self.rings, |t, e| t.grown(g(rings + e))),
            quadratic: grown(&self.quadratic, |t, e| t.grown(g(quadratic + e))),
            quadratic_triangles: grown(&self.quadratic_triangles, |t, e| t.grown(g(triangles + e))),
        }
    }

    /// The elements that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self {
            tets: self.tets.touching(wanted),
            plane: self.plane.touching(wanted),
            rings: self.rings.touching(wanted),
            quadratic: self.quadratic.touching(wanted),
            quadratic_triangles: self.quadratic_triangles.touching(wanted),
        }
    }

    /// The same elements with the barrier against inversion for laws that have none.
    pub fn with_inversion_barrier(&self) -> Self {
        let (tets, plane) = (self.tets.clone(), self.plane.clone());
        let quadratic = self.quadratic.elements.iter().cloned();
        let quadratic = quadratic.map(QuadraticTet::with_inversion_barrier).collect();
        let rings = self.rings.elements.iter().cloned();
        let rings = rings.map(Axisymmetric::with_inversion_barrier).collect();
        let triangles = self.quadratic_triangles.elements.iter().cloned();
        let triangles = triangles.map(QuadraticTriangle::with_inversion_barrier).collect();
        Self {
            tets: tets.with_inversion_barrier(),
            plane: plane.with_inversion_barrier(),
            rings: self.rings.with(rings),
            quadratic: self.quadratic.with(quadratic),
            quadratic_triangles: self.quadratic_triangles.with(triangles),
        }
    }

    /// The barriers against inversion at the end of a step of elements whose energy is evaluated before it.
    pub fn guards(&self) -> Guards {
        let tets = self.tets.elements.iter().map(|t| t.guard()).collect();
        let plane = self.plane.elements.iter().map(|t| t.guard()).collect();
        let rings = self.rings.elements.iter().map(|t| t.guard()).collect();
        let quadratic = self.quadratic.elements.iter().map(|t| t.own_guard()).collect();
        let triangles = self.quadratic_triangles.elements.iter().map(|t| t.own_guard()).collect();
        Guards {
            tets: self.tets.with(tets),
            plane: self.plane.with(plane),
            rings: self.rings.with(rings),
            quadratic: self.quadratic.with(quadratic),
            quadratic_triangles: self.quadratic_triangles.with(triangles),
        }
    }

    /// Rest volume of every element, m³; under plane strain the area, m².
    pub fn rest_volumes(&self) -> Vec<f64> {
        let tets = self.tets.elements.iter().map(|t| t.volume());
        let plane = self.plane.elements.iter().map(|t| t.area());
        let rings = self.rings.elements.iter().map(|t| t.volume());
        let quadratic = self.quadratic.elements.iter().map(|t| t.volume());
        let triangles = self.quadratic_triangles.elements.iter().map(|t| t.volume());
        tets.chain(plane).chain(rings).chain(quadratic).chain(triangles).collect()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.linear_count() + self.quadratic.len() + self.quadratic_triangles.len()
    }

    /// Number of linear elements, which come first.
    pub fn linear_count(&self) -> usize {
        self.tets.len() + self.plane.len() + self.rings.len()
    }

    /// Number of the first element of each kind.
    pub fn firsts(&self) -> [usize; 5] {
        let (plane, rings) = (self.tets.len(), self.tets.len() + self.plane.len());
        let quadratic = self.linear_count();
        [0, plane, rings, quadratic, quadratic + self.quadratic.len()]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which element of which kind has a number.
    fn find(&self, e: usize) -> Found {
        let [_, plane, rings, quadratic, triangles] = self.firsts();
        match e {
            _ if e < plane => Found::Tet(e),
            _ if e < rings => Found::Plane(e - plane),
            _ if e < quadratic => Found::Ring(e - rings),
            _ if e < triangles => Found::Quadratic(e - quadratic),
            _ => Found::QuadraticTriangle(e - triangles),
        }
    }

    /// The vertices of an element.
    pub fn vertices(&self, e: usize) -> &[u32] {
        match self.find(e) {
            Found::Tet(t) => &self.tets.vertices()[t],
            Found::Plane(t) => &self.plane.vertices()[t],
            Found::Ring(t) => &self.rings.vertices()[t],
            Found::Quadratic(t) => &self.quadratic.vertices()[t],
            Found::QuadraticTriangle(t) => &self.quadratic_triangles.vertices()[t],
        }
    }

    /// det F of an element: its volume over that at rest. The least one within a quadratic element as its points and Bernstein coefficients tell.
    pub fn volume_ratio(&self, e: usize, x: &[Vec3]) -> f64 {
        match self.find(e) {
            Found::Quadratic(t) => {
                self.quadratic.elements[t].least_ratio(&self.quadratic.gather(t, x))
            }
            Found::QuadraticTriangle(t) => {
                let all = &self.quadratic_triangles;
                all.elements[t].least_ratio(&all.gather(t, x))
            }
            _ => self.deformation_gradient(e, x).determinant(),
        }
    }

    /// Deformation gradient F of an element, the mean of a quadratic one.
    pub fn deformation_gradient(&self, e: usize, x: &[Vec3]) -> Mat3 {
        let Self { tets, plane, rings, quadratic, quadratic_triangles } = self;
        match self.find(e) {
            Found::Tet(t) => tets.elements[t].deformation_gradient(&tets.gather(t, x)),
            Found::Plane(t) => plane.elements[t].deformation_gradient(&plane.gather(t, x)),
            Found::Ring(t) => rings.elements[t].deformation_gradient(&rings.gather(t, x)),
            Found::Quadratic(t) => quadratic.elements[t].mean_gradient(&quadratic.gather(t, x)),
            Found::QuadraticTriangle(t) => {
                let all = quadratic_triangles;
                all.elements[t].mean_gradient(&all.gather(t, x))
            }
        }
    }

    /// The points of an element at which stresses are evaluated, numbered through all elements: one of a linear element, four of a quadratic
    /// tetrahedron, three of a quadratic triangle.
    pub fn points_of(&self, e: usize) -> Range<usize> {
        let (linear, curved) = (self.linear_count(), self.quadratic.len());
        let (first, count) = match self.find(e) {
            Found::Quadratic(t) => (linear + quadratic_tet::POINTS * t, quadratic_tet::POINTS),
            Found::QuadraticTriangle(t) => {
                let count = quadratic_triangle::POINTS;
                (linear + quadratic_tet::POINTS * curved + count * t, count)
            }
            _ => (e, 1),
        };
        first..first + count
    }

    /// Deformation gradient F at every point.
    pub fn gradients_at_points(&self, x: &[Vec3]) -> Vec<Mat3> {
        self.at_points(
            |e| self.deformation_gradient(e, x),
            |t| self.quadratic.elements[t].deformation_gradients(&self.quadratic.gather(t, x)),
            |t| {
                let all = &self.quadratic_triangles;
                all.elements[t].deformation_gradients(&all.gather(t, x))
            },
        )
    }

    /// Cauchy stress of the law at every point, Pa.
    pub fn stress_at_points(&self, x: &[Vec3]) -> Vec<Mat3> {
        let Self { tets, plane, rings, quadratic, quadratic_triangles } = self;
        let linear = |e: usize| match self.find(e) {
            Found::Tet(t) => tets.elements[t].cauchy_stress(&tets.gather(t, x)),
            Found::Plane(t) => plane.elements[t].cauchy_stress(&plane.gather(t, x)),
            Found::Ring(t) => rings.elements[t].cauchy_stress(&rings.gather(t, x)),
            Found::Quadratic(_) | Found::QuadraticTriangle(_) => {
                unreachable!("linear elements come first")
            }
        };
        self.at_points(
            linear,
            |t| quadratic.elements[t].stresses(&quadratic.gather(t, x)),
            |t| quadratic_triangles.elements[t].stresses(&quadratic_triangles.gather(t, x)),
        )
    }

    /// Values at all points, from those of linear elements, of quadratic tetrahedra and of quadratic triangles.
    fn at_points(
        &self,
        linear: impl Fn(usize) -> Mat3 + Sync + Send,
        quadratic: impl Fn(usize) -> [Mat3; quadratic_tet::POINTS] + Sync + Send,
        triangles: impl Fn(usize) -> [Mat3; quadratic_triangle::POINTS] + Sync + Send,
    ) -> Vec<Mat3> {
        let mut all: Vec<Mat3> =
            (0..self.linear_count()).into_par_iter().with_min_len(TASK).map(linear).collect();
        all.extend(at_quadratic(self.quadratic.len(), quadratic));
        all.extend(at_quadratic(self.quadratic_triangles.len(), triangles));
        all
    }

    /// The mean over every element of what has these values at its points.
    pub fn means(&self, at_points: &[Mat3]) -> Vec<Mat3> {
        let mean = |e: usize| match self.find(e) {
            Found::Quadratic(t) => self.quadratic.elements[t].mean(&at_points[self.points_of(e)]),
            Found::QuadraticTriangle(t) => {
                self.quadratic_triangles.elements[t].mean(&at_points[self.points_of(e)])
            }
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

/// Values at the points of `count` elements, one after the other.
fn at_quadratic<const N: usize>(
    count: usize,
    of: impl Fn(usize) -> [Mat3; N] + Sync + Send,
) -> Vec<Mat3> {
    let all: Vec<[Mat3; N]> = (0..count).into_par_iter().with_min_len(TASK / N).map(of).collect();
    all.into_iter().flatten().collect()
}

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
    QuadraticTriangle(usize),
}
