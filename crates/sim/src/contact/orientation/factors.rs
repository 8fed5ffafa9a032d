//! The factors γ of an element: how nearly its point is a local minimum of the distance to the other
//! element, and whether it is seen from outside [Huang 2024, Eq. 6].
//!
//! With û the unit vector from the element to the other one, t̂ the unit tangents from the element's
//! point along its ring (edges at a vertex; at an edge, across it in the faces beside it) and m̂ the
//! outward normals of its faces,
//!
//! γ = Π H^{α_t,β_t}(−û·t̂) · H^{1,0}(Σ H^{α_n,β_n}(û·m̂) − 1).
//!
//! In the plane edges take the place of faces: the outward normals m̂ at a vertex are those of its two edges,
//! and an edge acts on the side of its own.

use super::direction::Unit;
use super::kernel::ANY;
use super::surface::{Measure, Parameters, Surface};
use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;

/// An element of the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Vertex(u32),
    Edge(u32),
    Face(u32),
}

/// A difference vector, from the first vertex to the second.
pub(super) type Argument = [u32; 2];

/// A scalar ±n̂·û of the pair's direction n̂ and a unit vector of the ring, within a factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// The sign.
    pub sign: f64,
    /// The unit vector.
    pub unit: Unit,
    /// What it is a function of; the second counts where the unit vector has two.
    pub arguments: [Argument; 2],
    /// Derivatives of the inner step by the scalar.
    pub inner: [f64; 2],
}

/// A factor F(Σ inner terms) that is neither 0 nor 1.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    /// F′/F.
    pub first: f64,
    /// F″/F − (F′/F)².
    pub second: f64,
    /// Its terms, as a range of [`Varying::terms`].
    pub terms: std::ops::Range<usize>,
}

/// A measure of the current shape that is a factor, Σ c |edge|², a face's area, or Σ c |edge| in the plane.
#[derive(Debug, Clone, Copy)]
pub(super) enum CurrentMeasure {
    /// c and the edge.
    Square(f64, Argument),
    /// The length of an edge times c, in the plane.
    Length(f64, Argument),
    /// The face's vertices.
    Area([u32; 3]),
}

/// The factors of a pair that are neither 0 nor 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Varying {
    pub factors: Vec<Factor>,
    pub terms: Vec<Term>,
    /// Current measures of both elements, where they count.
    pub measures: [Vec<CurrentMeasure>; 2],
}

impl Varying {
    /// Whether all factors are 1 or constant.
    pub fn is_plain(&self) -> bool {
        self.factors.is_empty() && self.measures.iter().all(Vec::is_empty)
    }

    pub fn clear(&mut self) {
        self.factors.clear();
        self.terms.clear();
        self.measures.iter_mut().for_each(Vec::clear);
    }

    /// Closes a factor F with derivatives `f` over the terms from `first` on.
    fn close(&mut self, first: usize, [f, f1, f2]: [f64; 3]) {
        let slope = f1 / f;
        let second = f2 / f - slope * slope;
        if !second.is_finite() {
            // F and its derivatives are 0 up to underflow: γ is above 0 by rounding only, at the end of a step, where α
            // is 1 and directions are parallel
            self.terms.truncate(first);
            return;
        }
        let terms = first..self.terms.len();
        self.factors.push(Factor { first: slope, second, terms });
    }
}

/// What the factors are functions of.
#[derive(Clone, Copy)]
pub(super) struct OrientedMesh<'a> {
    pub mesh: &'a CollisionMesh,
    pub surface: &'a Surface,
    pub parameters: &'a Parameters,
    pub x: &'a [Vec3],
}

impl OrientedMesh<'_> {
    #[inline]
    pub fn at(&self, v: u32) -> Vec3 {
        self.x[v as usize]
    }

    #[inline]
    fn between(&self, [a, b]: Argument) -> Vec3 {
        self.at(b) - self.at(a)
    }

    /// Argument of the tangent of an edge's wing, by the edge and the vertex opposite to it.
    fn edge_arguments(&self, e: u32, opposite: u32) -> [Argument; 2] {
        let ends = self.mesh.edges[e as usize];
        [ends, [ends[0], opposite]]
    }

    fn normal_arguments(&self, f: u32) -> [Argument; 2] {
        let t = self.mesh.faces[f as usize];
        [[t[0], t[1]], [t[0], t[2]]]
    }

    /// The outward normals, not of length 1, that make the exterior factor of an element, by what they are
    /// functions of; none where all around it is outside. In the plane those of edges, of the first alone.
    fn exterior(&self, element: Element) -> impl Iterator<Item = [Argument; 2]> {
        let outline = match element {
            Element::Vertex(v) if self.surface.oriented[v as usize] => {
                self.surface.around.outline(v)
            }
            _ => &[],
        };
        let edges = outline.iter().map(|&e| [self.mesh.edges[e as usize]; 2]);
        edges.chain(self.exterior_faces(element).map(|f| self.normal_arguments(f)))
    }

    fn exterior_faces(&self, element: Element) -> impl Iterator<Item = u32> {
        let around = &self.surface.around;
        let (v, faces, wings) = match element {
            Element::Vertex(v) => (v, around.ring(v).faces, &[][..]),
            Element::Edge(e) => (self.mesh.edges[e as usize][0], &[][..], around.wings(e)),
            Element::Face(f) => (self.mesh.faces[f as usize][0], &[][..], &[][..]),
        };
        let counts = self.surface.oriented[v as usize];
        faces.iter().copied().chain(wings.iter().map(|w| w.face)).filter(move |_| counts)
    }

    /// The tangents' unit vectors are directions of these, across the first where there are two.
    fn tangents(&self, element: Element) -> impl Iterator<Item = ([Argument; 2], bool)> {
        let around = &self.surface.around;
        let (v, ring, e, wings) = match element {
            Element::Vertex(v) => (v, around.ring(v).vertices, 0, &[][..]),
            Element::Edge(e) => (0, &[][..], e, around.wings(e)),
            Element::Face(_) => (0, &[][..], 0, &[][..]),
        };
        let spokes = ring.iter().map(move |&w| ([[v, w]; 2], false));
        let across = wings.iter().map(move |w| (self.edge_arguments(e, w.opposite), true));
        spokes.chain(across)
    }

    /// γ of an element seen along the unit vector `u` towards the other one, times its current
    /// measure where that counts.
    pub fn gamma(&self, element: Element, u: &Vec3) -> f64 {
        let mut gamma = 1.0;
        let step = self.parameters.tangential;
        for (arguments, is_across) in self.tangents(element) {
            let t = if is_across {
                let (e, r) = (self.between(arguments[0]), self.between(arguments[1]));
                r - e * (e.dot(&r) / e.norm_squared())
            } else {
                self.between(arguments[0])
            };
            let h = step.of_quotient(-u.dot(&t), t.norm_squared());
            if h == 0.0 {
                return 0.0;
            }
            gamma *= h;
        }
        gamma * self.exterior_factor(element, u) * self.current_measure(element)
    }

    fn exterior_factor(&self, element: Element, u: &Vec3) -> f64 {
        if let Element::Face(f) = element {
            let [a, b] = self.normal_arguments(f).map(|a| self.between(a));
            let v = self.mesh.faces[f as usize][0];
            let inside = self.surface.oriented[v as usize] && a.cross(&b).dot(u) <= 0.0;
            return if inside { 0.0 } else { 1.0 };
        }
        if self.mesh.planar
            && let Element::Edge(e) = element
        {
            let ends = self.mesh.edges[e as usize];
            let inside = self.surface.oriented[ends[0] as usize]
                && self.between(ends).cross(&Vec3::z()).dot(u) <= 0.0;
            return if inside { 0.0 } else { 1.0 };
        }
        let (mut sum, mut any) = (0.0, false);
        for arguments in self.exterior(element) {
            let [a, b] = arguments.map(|a| self.between(a));
            let m = if self.mesh.planar { a.cross(&Vec3::z()) } else { a.cross(&b) };
            sum += self.parameters.normal.of_quotient(u.dot(&m), m.norm_squared());
            any = true;
            if sum >= 1.0 {
                return 1.0;
            }
        }
        if any {
            return ANY.value(sum - 1.0);
        }
        // an edge of no face has no outside
        match element {
            Element::Edge(e) if self.surface.oriented[self.mesh.edges[e as usize][0] as usize] => {
                0.0
            }
            _ => 1.0,
        }
    }

    fn current_measure(&self, element: Element) -> f64 {
        if self.parameters.measure == Measure::Rest {
            return 1.0;
        }
        match element {
            Element::Vertex(v) if self.mesh.planar => {
                let ring = self.surface.around.ring(v).vertices.iter();
                ring.map(|&w| 0.5 * (self.at(w) - self.at(v)).norm()).sum()
            }
            Element::Edge(e) if self.mesh.planar => {
                self.between(self.mesh.edges[e as usize]).norm()
            }
            Element::Vertex(v) => {
                let ring = self.surface.around.ring(v).vertices.iter();
                ring.map(|&w| (self.at(w) - self.at(v)).norm_squared()).sum::<f64>() / 3.0
            }
            Element::Edge(e) => self.between(self.mesh.edges[e as usize]).norm_squared(),
            Element::Face(f) => {
                let [a, b] = self.normal_arguments(f).map(|a| self.between(a));
                0.5 * a.cross(&b).norm()
            }
        }
    }

    /// Collects the varying factors of an element, number `side` of its pair, whose γ is positive.
    /// `n` is the pair's direction, `sign` n towards the other element.
    pub fn collect(&self, element: Element, side: usize, n: &Vec3, out: &mut Varying) {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let u = n * sign;
        let step = self.parameters.tangential;
        for (arguments, is_across) in self.tangents(element) {
            let (a, b) = (self.between(arguments[0]), self.between(arguments[1]));
            let t = if is_across { b - a * (a.dot(&b) / a.norm_squared()) } else { a };
            if step.of_quotient(-u.dot(&t), t.norm_squared()) == 1.0 {
                continue;
            }
            let unit = if is_across { Unit::across(&a, &b) } else { Unit::along(&a) };
            let first = out.terms.len();
            out.terms.push(Term { sign: -sign, unit, arguments, inner: [1.0, 0.0] });
            out.close(first, step.derivatives(-u.dot(&unit.value)));
        }
        if self.exterior_factor(element, &u) != 1.0 {
            self.collect_exterior(element, sign, &u, out);
        }
        if self.parameters.measure == Measure::Current {
            self.collect_measure(element, &mut out.measures[side]);
        }
    }

    fn collect_exterior(&self, element: Element, sign: f64, u: &Vec3, out: &mut Varying) {
        let (mut sum, first) = (0.0, out.terms.len());
        for arguments in self.exterior(element) {
            let [a, b] = arguments.map(|a| self.between(a));
            let unit = if self.mesh.planar { Unit::turned(&a) } else { Unit::cross(&a, &b, 1.0) };
            let [h, h1, h2] = self.parameters.normal.derivatives(u.dot(&unit.value));
            sum += h;
            if h1 != 0.0 || h2 != 0.0 {
                out.terms.push(Term { sign, unit, arguments, inner: [h1, h2] });
            }
        }
        out.close(first, ANY.derivatives(sum - 1.0));
    }

    fn collect_measure(&self, element: Element, out: &mut Vec<CurrentMeasure>) {
        match element {
            Element::Vertex(v) if self.mesh.planar => {
                let ring = self.surface.around.ring(v).vertices.iter();
                out.extend(ring.map(|&w| CurrentMeasure::Length(0.5, [v, w])));
            }
            Element::Edge(e) if self.mesh.planar => {
                out.push(CurrentMeasure::Length(1.0, self.mesh.edges[e as usize]));
            }
            Element::Vertex(v) => {
                let ring = self.surface.around.ring(v).vertices.iter();
                out.extend(ring.map(|&w| CurrentMeasure::Square(1.0 / 3.0, [v, w])));
            }
            Element::Edge(e) => {
                out.push(CurrentMeasure::Square(1.0, self.mesh.edges[e as usize]));
            }
            Element::Face(f) => out.push(CurrentMeasure::Area(self.mesh.faces[f as usize])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the end of its step a factor underflows: it has no derivatives then, and finite ones before.
    #[test]
    fn a_factor_that_underflows_has_no_derivatives() {
        let term = Term {
            sign: 1.0,
            unit: Unit::along(&Vec3::x()),
            arguments: [[0, 1]; 2],
            inner: [1.0, 0.0],
        };
        for exponent in -320..=-1 {
            let z = 10.0_f64.powi(exponent);
            for derivatives in [ANY.derivatives(z - 1.0), [z * z, 2.0 * z, 2.0], [z, 1.0, 0.0]] {
                let mut varying = Varying::default();
                varying.terms.push(term);
                varying.close(0, derivatives);
                assert_eq!(varying.terms.len(), varying.factors.len(), "1e{exponent}");
                let mut parts = varying.factors.iter().flat_map(|f| [f.first, f.second]);
                assert!(parts.all(f64::is_finite), "1e{exponent} {derivatives:?}");
                assert!(derivatives[0] < 1e-150 || !varying.factors.is_empty(), "1e{exponent}");
            }
        }
    }
}
