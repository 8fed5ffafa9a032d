//! The independent audit of a position: intersections, inversions, half-spaces.

use crate::energy::Element;
use crate::model::Model;
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{self, Auditor, Pair};
use standoff_linalg::Vec3;

/// What an audit can find.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// Two surface primitives have a point in common: scene-wide vertices of both.
    Intersection {
        /// Vertices of the one.
        a: Vec<u32>,
        /// Vertices of the other.
        b: Vec<u32>,
    },
    /// A coordinate is NaN or infinite.
    NotFinite {
        /// Scene-wide vertex.
        vertex: u32,
    },
    /// A tetrahedron has no positive volume: its index in `Model::tets` and its vertices.
    Inversion {
        /// Element.
        element: u32,
        /// Scene-wide vertices.
        vertices: [u32; 4],
    },
    /// Two surface primitives are not further apart than their thickness.
    TooClose {
        /// Vertices of the one.
        a: Vec<u32>,
        /// Vertices of the other.
        b: Vec<u32>,
        /// Their distance, m.
        distance: f64,
        /// Their thickness ξ, m.
        thickness: f64,
    },
    /// A triangle of a shell is at its strain limit or beyond.
    Overstretched {
        /// Scene-wide vertices.
        vertices: [u32; 3],
        /// Its greatest stretch.
        stretch: f64,
    },
    /// A vertex is on or behind the plane of a half-space, or closer than half of its thickness.
    HalfSpace {
        /// Scene-wide vertex.
        vertex: u32,
        /// Index of the half-space.
        half_space: usize,
        /// How far behind, m.
        depth: f64,
    },
}

impl Violation {
    /// The violation in the words of the scene.
    pub fn describe(&self, model: &Model) -> String {
        match self {
            Self::Intersection { a, b } => {
                format!("{} meets {}", model.describe_primitive(a), model.describe_primitive(b))
            }
            Self::NotFinite { vertex } => {
                format!("the position of {} is not finite", model.describe_vertex(*vertex))
            }
            Self::Inversion { vertices, .. } => {
                format!("{} is inverted or flat", model.describe_primitive(vertices))
            }
            Self::TooClose { a, b, distance, thickness } => format!(
                "{} and {} are {distance:.6e} m apart, which is not more than their thickness \
                 {thickness:.6e} m",
                model.describe_primitive(a),
                model.describe_primitive(b)
            ),
            Self::Overstretched { vertices, stretch } => format!(
                "{} is beyond its strain limit, at a stretch of {stretch:.6}",
                model.describe_primitive(vertices)
            ),
            Self::HalfSpace { vertex, half_space, depth } => format!(
                "{} is {depth:.3e} m behind the plane of half-space '{}'",
                model.describe_vertex(*vertex),
                model.half_space_names[*half_space]
            ),
        }
    }
}

/// All violations at positions `x` (`#V`), in a fixed order.
pub fn violations(model: &Model, x: &[Vec3]) -> Vec<Violation> {
    violations_by(&mut Auditor::default(), model, x)
}

/// The same with the trees of an auditor that has seen other positions of the model.
pub fn violations_by(auditor: &mut Auditor, model: &Model, x: &[Vec3]) -> Vec<Violation> {
    let mesh = &model.collision;
    let mut found: Vec<Violation> =
        audit::non_finite(x).into_iter().map(|vertex| Violation::NotFinite { vertex }).collect();
    for (half_space, plane) in model.half_spaces.iter().enumerate() {
        for (half, vertices) in &model.half_space_vertices {
            let (o, n) = (&plane.origin, &plane.normal);
            let behind = audit::audit_half_space(x, vertices, o, n, *half);
            found.extend(behind.into_iter().map(|vertex| {
                // for the message only: the finding is exact
                let depth = (half + n.dot(&(o - x[vertex as usize]))).max(0.0);
                Violation::HalfSpace { vertex, half_space, depth }
            }));
        }
    }
    let tets = model.tets.vertices();
    found.extend(
        audit::audit_inversions(tets, x)
            .into_iter()
            .map(|element| Violation::Inversion { element, vertices: tets[element as usize] }),
    );
    found.extend(auditor.intersections(mesh, x).into_iter().map(|pair| {
        let (a, b) = vertices_of(mesh, pair);
        Violation::Intersection { a, b }
    }));
    if !mesh.half_thickness.is_empty() {
        found.extend(auditor.closer_than(mesh, x, 0.0).into_iter().map(|close| {
            let (a, b) = vertices_of(mesh, close.pair);
            Violation::TooClose { a, b, distance: close.distance, thickness: close.required }
        }));
    }
    found.extend(overstretched(model, x));
    found
}

/// Triangles at or beyond their limits, by another way than the elements': the greater root of the
/// characteristic polynomial of FᵀF, from edges' lengths now and at rest.
fn overstretched(model: &Model, x: &[Vec3]) -> Vec<Violation> {
    let membranes = &model.codim.membranes;
    let mut found = Vec::new();
    for (e, membrane) in membranes.elements.iter().enumerate() {
        let vertices = membranes.vertices()[e];
        let use_of_limit = membrane.limit_use(&membranes.gather(e, x));
        let stretch = greatest_stretch(
            &vertices.map(|v| model.rest[v as usize]),
            &vertices.map(|v| x[v as usize]),
        );
        let beyond = membrane.limit.is_some_and(|l| stretch >= l.limit * (1.0 + 1e-12));
        if beyond || use_of_limit.is_some_and(|u| u.is_nan() || u >= 1.0) {
            found.push(Violation::Overstretched { vertices, stretch });
        }
    }
    found
}

/// Greatest principal stretch of a triangle, from the Gram matrices of its edges at rest (G) and now
/// (g): the greater root of det(g − σ² G) = 0.
pub fn greatest_stretch(rest: &[Vec3; 3], x: &[Vec3; 3]) -> f64 {
    let gram = |p: &[Vec3; 3]| {
        let (a, b) = (p[1] - p[0], p[2] - p[0]);
        [a.norm_squared(), a.dot(&b), b.norm_squared()]
    };
    let ([p, q, r], [a, b, c]) = (gram(rest), gram(x));
    let det = p * r - q * q;
    let half_trace = 0.5 * (a * r + c * p - 2.0 * b * q) / det;
    let product = (a * c - b * b) / det;
    (half_trace + (half_trace * half_trace - product).max(0.0).sqrt()).sqrt()
}

fn vertices_of(mesh: &CollisionMesh, pair: Pair) -> (Vec<u32>, Vec<u32>) {
    let edge = |e: u32| mesh.edges[e as usize].to_vec();
    let face = |f: u32| mesh.faces[f as usize].to_vec();
    match pair {
        Pair::EdgeFace { edge: e, face: f } => (edge(e), face(f)),
        Pair::EdgeEdge { edges } => (edge(edges[0]), edge(edges[1])),
        Pair::FaceVertex { face: f, vertex } => (face(f), vec![vertex]),
        Pair::EdgeVertex { edge: e, vertex } => (edge(e), vec![vertex]),
        Pair::VertexVertex { vertices } => (vec![vertices[0]], vec![vertices[1]]),
    }
}
