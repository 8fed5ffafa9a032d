//! The surface that the potential lives on: neighbourhoods, which sides are outside, measures of the
//! elements, and how far each reaches.

use super::kernel::Step;
use standoff_geometry::{CollisionMesh, Neighbourhood};

/// Which areas weigh the elements of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// The areas of the rest shape: constants, as the integrals run over the undeformed surface
    /// [Huang 2024, Eq. 4].
    #[default]
    Rest,
    /// The areas of the current shape, by which the potential is then differentiated, too (as IPC
    /// Toolkit does).
    Current,
}

/// Shape of the potential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Exponent r of the kernel h_ε(z)/z^r; 2 for surfaces in space, 1 for outlines in the plane
    /// [Huang 2024, App. A].
    pub exponent: i32,
    /// α and β of the local-minimum factors.
    pub tangential: Step,
    /// α and β of the exterior factors.
    pub normal: Step,
    /// Which areas weigh the elements.
    pub measure: Measure,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            exponent: 2,
            tangential: Step { alpha: 0.5, beta: 0.0 },
            normal: Step { alpha: 0.1, beta: 0.0 },
            measure: Measure::Rest,
        }
    }
}

/// A number for every vertex, edge and face of a collision mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PerElement {
    /// By vertex (`#V`).
    pub vertex: Vec<f64>,
    /// By edge (`#E`).
    pub edge: Vec<f64>,
    /// By face (`#F`).
    pub face: Vec<f64>,
}

impl PerElement {
    /// The same number for all elements of `mesh`.
    pub fn uniform(mesh: &CollisionMesh, value: f64) -> Self {
        Self {
            vertex: vec![value; mesh.rest.len()],
            edge: vec![value; mesh.edges.len()],
            face: vec![value; mesh.faces.len()],
        }
    }
}

/// Areas in m² that the elements stand for, L^(2 − dim g) A_g with A the area of a face, the length
/// of an edge, 1 for a vertex [Huang 2024, Eq. 7].
///
/// With `length` L for all elements. Without, L² of a vertex is a third of the sum of its edges'
/// squared lengths and L of an edge is its length, so that weights shrink with the mesh.
///
/// In the plane they are lengths in m, L^(1 − dim g) A_g: that of an edge, and for a vertex L, without which
/// it is half the length of its edges.
pub fn rest_measures(mesh: &CollisionMesh, length: Option<f64>) -> PerElement {
    let mut out = PerElement::uniform(mesh, 0.0);
    let at = |v: u32| mesh.rest[v as usize];
    if mesh.planar {
        for (e, &[a, b]) in mesh.edges.iter().enumerate() {
            out.edge[e] = (at(b) - at(a)).norm();
            for v in [a, b] {
                out.vertex[v as usize] += 0.5 * out.edge[e];
            }
        }
        if let Some(l) = length {
            out.vertex.fill(l);
        }
        return out;
    }
    for (e, &[a, b]) in mesh.edges.iter().enumerate() {
        let square = (at(b) - at(a)).norm_squared();
        out.edge[e] = length.map_or(square, |l| l * square.sqrt());
        for v in [a, b] {
            out.vertex[v as usize] += square / 3.0;
        }
    }
    for (f, t) in mesh.faces.iter().enumerate() {
        let [a, b, c] = t.map(at);
        out.face[f] = 0.5 * (b - a).cross(&(c - a)).norm();
    }
    if let Some(l) = length {
        out.vertex.fill(l * l);
    }
    out
}

/// Distances ε up to which elements act, m.
#[derive(Debug, Clone, PartialEq)]
pub enum ActivationDistance {
    /// The same for all pairs.
    Uniform(f64),
    /// The smaller distance of a pair's two elements.
    Adaptive {
        /// Within a body.
        within: PerElement,
        /// Between bodies.
        between: PerElement,
    },
}

/// A surface with what the potential has to know of it; constant during a simulation.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Rings and wings.
    pub around: Neighbourhood,
    /// Whether the potential acts on the elements around a vertex (`#V`).
    pub covered: Vec<bool>,
    /// Whether the side of the faces' normals is the only outside around a vertex (`#V`).
    pub oriented: Vec<bool>,
    /// Body of each vertex (`#V`).
    pub body: Vec<u32>,
    /// Areas of the elements, m².
    pub measures: PerElement,
    /// Distances up to which they act.
    pub epsilon: ActivationDistance,
}

impl Surface {
    /// The surface of `mesh`, acting where it is closed and oriented, up to the distance `d_hat`, m.
    /// `solid` (`#V`) tells the vertices of bodies that have an inside. For `length` see
    /// [`rest_measures`].
    pub fn new(mesh: &CollisionMesh, solid: &[bool], length: Option<f64>, d_hat: f64) -> Self {
        let around = Neighbourhood::new(mesh);
        let n = mesh.rest.len() as u32;
        let covered: Vec<bool> = (0..n).map(|v| around.is_closed(v)).collect();
        let component = |v| around.component(v).map_or(u32::MAX, |c| c as u32);
        let body =
            if mesh.body.is_empty() { (0..n).map(component).collect() } else { mesh.body.clone() };
        let oriented = covered.iter().zip(solid).map(|(&c, &s)| c && s).collect();
        let measures = rest_measures(mesh, length);
        Self {
            around,
            covered,
            oriented,
            body,
            measures,
            epsilon: ActivationDistance::Uniform(d_hat),
        }
    }

    /// Whether two vertices belong to one body.
    #[inline]
    pub fn same_body(&self, a: u32, b: u32) -> bool {
        self.body[a as usize] == self.body[b as usize]
    }
}
