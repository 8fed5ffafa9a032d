//! The independent audit of a position: intersections, inversions, half-spaces, strain limits.

// long: all that can be found, how it is found, and what is said of it

use crate::contact::HalfSpace;
use crate::definition::{BodyKind, Definition};
use crate::energy::membrane::Sheet;
use crate::names::Names;
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{self, Auditor, Pair};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// What an audit has to know of a scene. Materials are not part of it.
#[derive(Debug, Clone, Copy)]
pub struct AuditScene<'a> {
    /// Surface primitives, their thickness, and what may touch what.
    pub collision: &'a CollisionMesh,
    /// Tetrahedra (`#T×4`), scene-wide vertices.
    pub tets: &'a [[u32; 4]],
    /// Triangles of solids in the plane (`#F×3`), scene-wide vertices.
    pub plane: &'a [[u32; 3]],
    /// Quadratic tetrahedra (`#T×10`), scene-wide vertices.
    pub quadratic: &'a [[u32; 10]],
    /// Quadratic triangles of solids in the plane (`#F×6`), scene-wide vertices.
    pub quadratic_plane: &'a [[u32; 6]],
    /// Half-spaces.
    pub half_spaces: &'a [HalfSpace],
    /// Vertices that have to stay in front of them, by half of their thickness, m.
    pub half_space_vertices: &'a [(f64, Vec<u32>)],
    /// Triangles whose strain is limited.
    pub strain_limits: &'a [StrainLimit],
    /// Whether tetrahedra may be inverted.
    pub allow_inversion: bool,
}

/// A triangle whose strain is limited. Its strain is computed by another way than the elements'.
#[derive(Debug, Clone, PartialEq)]
pub struct StrainLimit {
    /// Scene-wide vertices.
    pub vertices: [u32; 3],
    /// Their rest positions, m.
    pub rest: [Vec3; 3],
    /// Limit of the principal stretches.
    pub stretch: Option<f64>,
    /// Limits of |E₁₁|, |E₂₂|, |E₁₂| of Green's strain along, across and between the fibres.
    pub strain: Option<[f64; 3]>,
    /// Direction of the fibres, which is projected onto the triangle; by default its first edge.
    pub fibre: Option<Vec3>,
}

impl StrainLimit {
    /// The limited triangles of a definition's shells, in order.
    pub fn all(definition: &Definition) -> Vec<Self> {
        let mut all = Vec::new();
        let mut first = 0;
        for body in &definition.bodies {
            if let BodyKind::Shell { triangles, material } = &body.kind {
                let stretch = material.stretch_limit.as_ref().map(|l| l.limit);
                let strain = match &material.sheet {
                    Sheet::Orthotropic(law) => law.limits,
                    Sheet::Isotropic(..) => None,
                };
                if stretch.is_some() || strain.is_some() {
                    all.extend(triangles.iter().map(|t| Self {
                        vertices: t.map(|v| v + first),
                        rest: t.map(|v| body.rest[v as usize]),
                        stretch,
                        strain,
                        fibre: material.fibre,
                    }));
                }
            }
            first += body.rest.len() as u32;
        }
        all
    }

    /// Greatest principal stretch, and whether a limit is exceeded by more than round-off.
    fn test(&self, x: &[Vec3]) -> (f64, bool) {
        let (c, noise) = self.cauchy_green(x);
        let (stretch, strain) = stretch_and_strain(c);
        let too_long = self.stretch.is_some_and(|limit| beyond(stretch, limit + noise));
        let slack = noise * (1.0 + c[0] + c[1]);
        let too_strained = self
            .strain
            .is_some_and(|limits| (0..3).any(|k| beyond(strain[k].abs(), limits[k] + slack)));
        (stretch, too_long || too_strained)
    }

    /// Greatest principal stretch, and the largest part of a limit that is used up.
    pub fn use_of_limit(&self, x: &[Vec3]) -> (f64, f64) {
        let (stretch, strain) = stretch_and_strain(self.cauchy_green(x).0);
        let of_stretch = self.stretch.map_or(0.0, |limit| (stretch - 1.0) / (limit - 1.0));
        let parts = self
            .strain
            .map_or([0.0; 3], |limits| std::array::from_fn(|k| strain[k].abs() / limits[k]));
        (stretch, parts.into_iter().fold(of_stretch, f64::max))
    }

    /// C₁₁, C₂₂, C₁₂ of FᵀF along, across and between the fibres, and a bound of the round-off of the
    /// columns of F.
    fn cauchy_green(&self, x: &[Vec3]) -> ([f64; 3], f64) {
        let [p, q, r] = &self.rest;
        let (a, b) = (q - p, r - p);
        let [i, j, k] = self.vertices.map(|v| x[v as usize]);
        let (now_a, now_b) = (j - i, k - i);
        // an orthonormal basis of the triangle at rest, and its images
        let e1 = a.normalize();
        let along = b.dot(&e1);
        let height = b - e1 * along;
        let (e2, height) = (height.normalize(), height.norm());
        let f1 = now_a / a.norm();
        let f2 = (now_b - f1 * along) / height;
        let terms = f1.norm() + (now_b.norm() + f1.norm() * along.abs()) / height;
        let fibre = self.fibre.unwrap_or(a);
        let (c, s) = (fibre.dot(&e1), fibre.dot(&e2));
        let (c, s) = (c / c.hypot(s), s / c.hypot(s));
        let (d1, d2) = (f1 * c + f2 * s, f2 * c - f1 * s);
        ([d1.norm_squared(), d2.norm_squared(), d1.dot(&d2)], 16.0 * f64::EPSILON * terms)
    }
}

/// Greatest principal stretch, and Green's strains E₁₁, E₂₂, E₁₂.
fn stretch_and_strain([c11, c22, c12]: [f64; 3]) -> (f64, [f64; 3]) {
    let stretch = (0.5 * (c11 + c22) + (0.5 * (c11 - c22)).hypot(c12)).sqrt();
    (stretch, [0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0), 0.5 * c12])
}

/// Whether a value is not certainly below a limit; so is NaN.
fn beyond(value: f64, limit: f64) -> bool {
    value.is_nan() || value >= limit
}

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
    /// A tetrahedron has no positive volume, a quadratic one somewhere within: its index in `Model::solids` and its corners.
    Inversion {
        /// Element.
        element: u32,
        /// Scene-wide corners.
        vertices: [u32; 4],
    },
    /// A triangle in the plane is not counter-clockwise: its index in `Model::solids` and its vertices.
    Turned {
        /// Element.
        element: u32,
        /// Scene-wide vertices.
        vertices: [u32; 3],
    },
    /// A quadratic triangle in the plane is not proved to be counter-clockwise everywhere within, or one of a body of revolution to be nowhere behind the
    /// axis: its index in `Model::solids` and its nodes.
    TurnedWithin {
        /// Element.
        element: u32,
        /// Scene-wide vertices: corners, then the middles of edges.
        vertices: [u32; 6],
    },
    /// A vertex of a simulation in the plane z = 0 has left it.
    OutOfPlane {
        /// Scene-wide vertex.
        vertex: u32,
    },
    /// A vertex of bodies of revolution is behind the axis x = 0.
    BehindAxis {
        /// Scene-wide vertex.
        vertex: u32,
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
    /// Two surface primitives are not proved to keep their distance on the straight path between two states.
    Crossing {
        /// Vertices of the one.
        a: Vec<u32>,
        /// Vertices of the other.
        b: Vec<u32>,
        /// The part of the path up to which they are.
        time: f64,
        /// Their distance there, m.
        distance: f64,
        /// Their thickness ξ, m.
        thickness: f64,
    },
    /// Two surface primitives are closer, beyond their thickness, than their coordinates resolve. Only
    /// starts are looked at so closely.
    Unresolved {
        /// Vertices of the one.
        a: Vec<u32>,
        /// Vertices of the other.
        b: Vec<u32>,
        /// Their distance beyond their thickness, m; up to 0 where they touch.
        gap: f64,
        /// The least gap that is resolved, m.
        least: f64,
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
    // long: a sentence for each kind
    pub fn describe(&self, names: &impl Names) -> String {
        let primitive = |vertices: &[u32]| names.describe_primitive(vertices);
        let vertex = |vertex: &u32| names.describe_vertex(*vertex);
        match self {
            Self::Intersection { a, b } => format!("{} meets {}", primitive(a), primitive(b)),
            Self::NotFinite { vertex: v } => format!("the position of {} is not finite", vertex(v)),
            Self::Inversion { vertices, .. } => {
                format!("{} is inverted or flat", primitive(vertices))
            }
            Self::Turned { vertices, .. } => {
                format!("{} is clockwise or flat", primitive(vertices))
            }
            Self::TurnedWithin { vertices, .. } => format!(
                "{} is clockwise or flat somewhere within, or behind the axis of revolution",
                primitive(vertices)
            ),
            Self::OutOfPlane { vertex: v } => format!("{} has left the plane z = 0", vertex(v)),
            Self::BehindAxis { vertex: v } => format!(
                "{} is behind the axis of revolution: its x is the radius, at least 0",
                vertex(v)
            ),
            Self::TooClose { a, b, distance, thickness } => format!(
                "{} and {} are {distance:.6e} m apart, which is not more than their thickness \
                 {thickness:.6e} m",
                primitive(a),
                primitive(b)
            ),
            Self::Crossing { a, b, time, distance, thickness } => format!(
                "{} and {} are {distance:.3e} m apart after {time:.6} of the path between two states, and cannot be told to stay \
                 farther apart than their thickness {thickness:.3e} m",
                primitive(a),
                primitive(b)
            ),
            Self::Unresolved { a, b, gap, least } if *gap > 0.0 => format!(
                "{} and {} are {gap:.3e} m apart, less than the {least:.3e} m that coordinates of \
                 their size resolve",
                primitive(a),
                primitive(b)
            ),
            Self::Unresolved { a, b, .. } => {
                format!(
                    "{} and {} touch: no gap beyond their thickness",
                    primitive(a),
                    primitive(b)
                )
            }
            Self::Overstretched { vertices, stretch } => format!(
                "{} is beyond its strain limit, at a stretch of {stretch:.6}",
                primitive(vertices)
            ),
            Self::HalfSpace { vertex: v, half_space, depth } => format!(
                "{} is {depth:.3e} m behind the plane of half-space '{}'",
                vertex(v),
                names.half_space(*half_space)
            ),
        }
    }
}

/// All violations at positions `x` (`#V`), in a fixed order.
pub fn violations<'a>(scene: impl Into<AuditScene<'a>>, x: &[Vec3]) -> Vec<Violation> {
    violations_by(&mut Auditor::default(), scene, x)
}

/// The same with the trees of an auditor that has seen other positions of the scene.
// long: one kind of violation after the other
pub fn violations_by<'a>(
    auditor: &mut Auditor,
    scene: impl Into<AuditScene<'a>>,
    x: &[Vec3],
) -> Vec<Violation> {
    let scene = scene.into();
    let mesh = scene.collision;
    let mut found: Vec<Violation> =
        audit::non_finite(x).into_iter().map(|vertex| Violation::NotFinite { vertex }).collect();
    for (half_space, plane) in scene.half_spaces.iter().enumerate() {
        for (half, vertices) in scene.half_space_vertices {
            let (o, n) = (&plane.origin, &plane.normal);
            let behind = audit::audit_half_space(x, vertices, o, n, *half);
            found.extend(behind.into_iter().map(|vertex| {
                // for the message only: the finding is exact
                let depth = (half + n.dot(&(o - x[vertex as usize]))).max(0.0);
                Violation::HalfSpace { vertex, half_space, depth }
            }));
        }
    }
    let tets = if scene.allow_inversion { &[] } else { scene.tets };
    found.extend(
        audit::audit_inversions(tets, x)
            .into_iter()
            .map(|element| Violation::Inversion { element, vertices: tets[element as usize] }),
    );
    let plane = scene.plane;
    found.extend(
        audit::audit_turned_triangles(plane, x)
            .into_iter()
            .map(|element| Violation::Turned { element, vertices: plane[element as usize] }),
    );
    let curved = audit::audit_curved_inversions(scene.quadratic, x).into_iter();
    found.extend(curved.map(|e| {
        let [a, b, c, d, ..] = scene.quadratic[e as usize];
        let element = (scene.tets.len() + plane.len()) as u32 + e;
        Violation::Inversion { element, vertices: [a, b, c, d] }
    }));
    let curved = audit::audit_curved_triangles(scene.quadratic_plane, x, mesh.axisymmetric);
    found.extend(curved.into_iter().map(|e| {
        let vertices = scene.quadratic_plane[e as usize];
        let before = scene.tets.len() + plane.len() + scene.quadratic.len();
        Violation::TurnedWithin { element: before as u32 + e, vertices }
    }));
    if mesh.planar {
        let left = audit::out_of_plane(x).into_iter();
        found.extend(left.map(|vertex| Violation::OutOfPlane { vertex }));
    }
    if mesh.axisymmetric {
        let behind = (0..x.len() as u32).filter(|&v| x[v as usize].x < 0.0);
        found.extend(behind.map(|vertex| Violation::BehindAxis { vertex }));
    }
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
    found.extend(scene.strain_limits.iter().filter_map(|triangle| {
        let (stretch, beyond) = triangle.test(x);
        beyond.then_some(Violation::Overstretched { vertices: triangle.vertices, stretch })
    }));
    found
}

/// All pairs of primitives that are not proved to keep their distance while vertices move on straight lines from `from` to `to` (`#V` each): also those that
/// have passed through each other and leave no trace at `to`. Half-spaces need no more than both ends. Elements are looked at in both states only.
pub fn violations_between<'a>(
    auditor: &mut Auditor,
    scene: impl Into<AuditScene<'a>>,
    from: &[Vec3],
    to: &[Vec3],
) -> Vec<Violation> {
    let mesh = scene.into().collision;
    let crossings = auditor.crossings(mesh, from, to).into_iter();
    let violation = |crossing: audit::Crossing| {
        let (a, b) = vertices_of(mesh, crossing.pair);
        let audit::Crossing { time, distance, required, .. } = crossing;
        Violation::Crossing { a, b, time, distance, thickness: required }
    };
    crossings.map(violation).collect()
}

/// Number of tetrahedra without positive volume at positions `x` (`#V`), where they are allowed; else 0, as such
/// tetrahedra are violations then.
pub fn allowed_inversions<'a>(scene: impl Into<AuditScene<'a>>, x: &[Vec3]) -> usize {
    let scene = scene.into();
    if scene.allow_inversion { audit::audit_inversions(scene.tets, x).len() } else { 0 }
}

/// Surface vertices of the deformable bodies by half of their thickness, m: what half-spaces keep out.
pub fn by_thickness(mesh: &CollisionMesh, deformable: &[bool]) -> Vec<(f64, Vec<u32>)> {
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for &v in mesh.vertices.iter().filter(|v| deformable[**v as usize]) {
        let half = mesh.half_thickness.get(v as usize).copied().unwrap_or(0.0);
        // bits of numbers that are not negative are ordered like the numbers
        groups.entry(half.to_bits()).or_default().push(v);
    }
    groups.into_iter().map(|(bits, vertices)| (f64::from_bits(bits), vertices)).collect()
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
