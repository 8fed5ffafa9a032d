//! Ties: two bodies that are glued where their surfaces touch at the start.

use super::{BodyDef, BodyKind, Definition};
use crate::energy::quadratic_tet::place_in;
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::distance::point_triangle;
use standoff_geometry::{CollisionMesh, Grip, PairKind, quadratic, topology};
use standoff_linalg::{Mat3, Vec3};
use std::collections::BTreeMap;

/// The default tolerance in terms of the mean edge length of the finer one of the two surfaces.
const TOLERANCE: f64 = 0.01;

/// Weights below this are rounding: the point is on the other nodes' side or edge.
const NO_WEIGHT: f64 = 1e-12;

/// How far beyond a face a vertex may be, in terms of the height of the element below: its motion is extrapolated by as much.
const FARTHEST: f64 = 1.0;

/// How often the distance is doubled in which the other surface is looked for, to say how far it is.
const DOUBLINGS: i32 = 200;

/// Two bodies that are glued where they touch at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct TieDef {
    /// Name for messages.
    pub name: String,
    /// Indices of the two bodies. The one with more vertices near the other's surface is tied to that; the first where both have as many.
    pub bodies: [usize; 2],
    /// Vertices of the first body that may be tied; this one is tied to the other then. Nothing for all of its surface.
    pub vertices: Option<Vec<u32>>,
    /// Greatest distance at the start at which a vertex is tied, m; by default a hundredth of the mean edge length of the finer one of the
    /// two surfaces.
    pub tolerance: Option<f64>,
}

/// What a tie finds at the start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tied {
    /// The body whose vertices are tied, and the one whose elements carry them.
    pub bodies: [usize; 2],
    /// The tied vertices, ascending.
    pub vertices: Vec<TiedVertex>,
    /// The vertices of either body that are near the other, ascending: primitives that have one pass through the other body.
    pub near: [Vec<u32>; 2],
    /// Greatest distance of a tied vertex from the other surface, m.
    pub distance: f64,
}

/// A vertex that is tied, with numbers within bodies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TiedVertex {
    /// The vertex.
    pub vertex: u32,
    /// The nodes that carry it, and their weights: x = Σ w y at the start.
    pub on: Vec<(u32, f64)>,
    /// The nodes that get its mass, and their parts, none of which is negative.
    pub mass: Vec<(u32, f64)>,
}

/// The surfaces of two bodies at the start, with the vertices of the second behind those of the first.
struct Surfaces {
    x: Vec<Vec3>,
    mesh: CollisionMesh,
    /// Number of vertices of the first.
    first: u32,
    /// Mean edge length of the finer one, m.
    edge: f64,
}

/// For each vertex of one surface the nearest triangle of the other: squared distance and number of the triangle.
type Nearest = BTreeMap<u32, (f64, u32)>;

impl Surfaces {
    fn new(bodies: [&BodyDef; 2]) -> Result<Self, String> {
        let mut x = Vec::new();
        let (mut faces, mut body) = (Vec::new(), Vec::new());
        let mut edge = f64::INFINITY;
        for (k, own) in bodies.into_iter().enumerate() {
            let first = x.len() as u32;
            x.extend_from_slice(start(own));
            body.resize(x.len(), k as u32);
            let own = triangles(own)?;
            if own.iter().flatten().any(|v| (v + first) as usize >= x.len()) {
                return Err("an element has a vertex that there is not".into());
            }
            let own: Vec<[u32; 3]> = own.iter().map(|f| f.map(|v| v + first)).collect();
            let edges = topology::unique_edges(&own);
            let length = |e: &[u32; 2]| (x[e[0] as usize] - x[e[1] as usize]).norm();
            let mean = edges.iter().map(length).sum::<f64>() / edges.len().max(1) as f64;
            edge = edge.min(mean);
            faces.extend(own);
        }
        let first = bodies[0].rest.len() as u32;
        let mut mesh = CollisionMesh::new(x.clone(), faces, &[], &[]);
        mesh.exclude_groups(body, &[(0, 0), (1, 1)]);
        Ok(Self { x, mesh, first, edge })
    }

    /// What of each surface is within a distance of the other, m.
    fn nearest(&self, distance: f64) -> [Nearest; 2] {
        let mut near = [Nearest::new(), Nearest::new()];
        let pairs = candidates(&self.mesh, &self.x, 0.5 * distance);
        for pair in pairs.iter().filter(|p| p.kind == PairKind::FaceVertex) {
            let ([face, vertex], d2) = (pair.primitives, pair.d2(&self.mesh, &self.x));
            if d2 > distance * distance {
                continue;
            }
            let best = near[self.body(vertex)].entry(vertex).or_insert((d2, face));
            if (d2, face) < *best {
                *best = (d2, face);
            }
        }
        near
    }

    fn body(&self, vertex: u32) -> usize {
        usize::from(vertex >= self.first)
    }

    /// A vertex by its number within its body.
    fn own(&self, vertex: u32) -> u32 {
        if vertex >= self.first { vertex - self.first } else { vertex }
    }

    /// The distance of the two surfaces, as far as vertices and triangles tell, m.
    fn apart(&self, from: f64) -> f64 {
        let least = |near: &Nearest| near.values().map(|n| n.0).fold(f64::INFINITY, f64::min);
        for k in 1..DOUBLINGS {
            let near = self.nearest(from * 2.0_f64.powi(k));
            let d2 = near.iter().map(least).fold(f64::INFINITY, f64::min);
            if d2.is_finite() {
                return d2.sqrt();
            }
        }
        f64::INFINITY
    }
}

fn start(body: &BodyDef) -> &[Vec3] {
    if body.start.is_empty() { &body.rest } else { &body.start }
}

/// The surface of what can be tied.
fn triangles(body: &BodyDef) -> Result<Vec<[u32; 3]>, String> {
    let name = &body.name;
    if body.surface.is_some() && matches!(body.kind, BodyKind::Volume { .. }) {
        return Err(format!(
            "'{name}' touches by a surface that it carries, not by its elements; leave out `fill.collides`"
        ));
    }
    match &body.kind {
        BodyKind::Volume { tets, middles, .. } => {
            quadratic::boundary(tets, middles).map_err(|e| format!("'{name}': {e}"))
        }
        BodyKind::Shell { triangles, .. } => Ok(triangles.clone()),
        BodyKind::Rigid { .. } => Err(format!(
            "'{name}' is rigid; a joint of the kind \"fixed\" holds vertices of the other body at it (`[[joints]]`)"
        )),
        BodyKind::Obstacle { .. } => Err(format!(
            "'{name}' is an obstacle, whose motion is prescribed; prescribe the vertices of the other body that touch it (`fixed`, `motion`)"
        )),
        BodyKind::Rod { .. } => Err(format!(
            "'{name}' is a rod, which has no surface; sew it to the other body (`[[stitches]]`)"
        )),
        BodyKind::Particles { .. } => {
            Err(format!("'{name}' consists of particles; a tie is between solids and shells"))
        }
        BodyKind::PlaneStrain { .. } => Err(format!(
            "'{name}' is in two dimensions, and a tie is for three; give both bodies one mesh"
        )),
    }
}

/// What a tie glues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TieFound {
    /// The body whose vertices are tied, and the one whose elements carry them.
    pub bodies: [usize; 2],
    /// Number of tied vertices.
    pub vertices: usize,
    /// Greatest distance of one of them from the other surface at the start, m.
    pub distance: f64,
}

impl TieDef {
    /// What it glues, by the bodies of a definition.
    ///
    /// # Errors
    /// What cannot be tied, in words.
    pub fn found(&self, definition: &Definition) -> Result<TieFound, String> {
        let Tied { bodies, vertices, distance, .. } = self.find(definition)?;
        Ok(TieFound { bodies, vertices: vertices.len(), distance })
    }

    /// Finds what touches at the start.
    ///
    /// # Errors
    /// What cannot be tied, in words.
    pub(crate) fn find(&self, definition: &Definition) -> Result<Tied, String> {
        let [Some(a), Some(b)] = self.bodies.map(|k| definition.bodies.get(k)) else {
            return Err("it names a body that there is not".into());
        };
        if self.bodies[0] == self.bodies[1] {
            return Err(format!("it ties '{}' to itself; name two bodies", a.name));
        }
        let surfaces = Surfaces::new([a, b])?;
        let tolerance = self.tolerance.unwrap_or(TOLERANCE * surfaces.edge);
        let mut near = surfaces.nearest(tolerance);
        if let Some(chosen) = &self.vertices {
            let (n, name) = (a.rest.len(), &a.name);
            if let Some(v) = chosen.iter().find(|v| **v as usize >= n) {
                return Err(format!("it refers to vertex {v} of '{name}', but there are only {n}"));
            }
            let chosen: std::collections::BTreeSet<u32> = chosen.iter().copied().collect();
            near[0].retain(|v, _| chosen.contains(v));
        }
        let tied = self.tied_side([a, b], &near)?;
        if near[tied].is_empty() {
            let (what, apart) = match &self.vertices {
                Some(chosen) => (
                    format!("none of the {} vertices chosen of '{}'", chosen.len(), a.name),
                    self.vertices_apart(&surfaces, chosen, tolerance),
                ),
                None => (format!("nothing of '{}'", a.name), surfaces.apart(tolerance)),
            };
            return Err(format!(
                "{what} is within {tolerance:.3e} m of '{}': the least distance is {apart:.3e} m; move the bodies together or give a greater \
                 `tolerance`",
                b.name
            ));
        }
        self.carry([a, b], tied, &surfaces, &near, tolerance)
    }

    /// The least distance of chosen vertices of the first body from the second, m.
    fn vertices_apart(&self, surfaces: &Surfaces, chosen: &[u32], from: f64) -> f64 {
        for k in 1..DOUBLINGS {
            let [near, _] = surfaces.nearest(from * 2.0_f64.powi(k));
            let found = chosen.iter().filter_map(|v| near.get(v)).map(|n| n.0);
            let d2 = found.fold(f64::INFINITY, f64::min);
            if d2.is_finite() {
                return d2.sqrt();
            }
        }
        f64::INFINITY
    }

    /// Which of the two bodies is tied to the other.
    fn tied_side(&self, bodies: [&BodyDef; 2], near: &[Nearest; 2]) -> Result<usize, String> {
        let solid = bodies.map(|b| matches!(b.kind, BodyKind::Volume { .. }));
        match (solid, &self.vertices) {
            ([_, true], Some(_)) => Ok(0),
            ([_, false], Some(_)) => Err(format!(
                "'{}' is a shell, whose triangles do not carry what is beside them; name it first, with vertices of it",
                bodies[1].name
            )),
            ([true, true], None) => Ok(usize::from(near[1].len() > near[0].len())),
            ([false, true], None) => Ok(0),
            ([true, false], None) => Ok(1),
            ([false, false], None) => Err(format!(
                "'{}' and '{}' are shells; a tie is between solids, or a solid and a shell. Sew shells together (`[[stitches]]`)",
                bodies[0].name, bodies[1].name
            )),
        }
    }

    /// The tied vertices with what carries them.
    fn carry(
        &self,
        bodies: [&BodyDef; 2],
        tied: usize,
        surfaces: &Surfaces,
        near: &[Nearest; 2],
        tolerance: f64,
    ) -> Result<Tied, String> {
        let carrier = Carrier::new(bodies[1 - tied]);
        let mut vertices = Vec::with_capacity(near[tied].len());
        for (&v, &(d2, face)) in &near[tied] {
            let x = surfaces.x[v as usize];
            let corners = surfaces.mesh.faces[face as usize].map(|u| surfaces.own(u));
            let row = carrier.row(&x, corners).ok_or_else(|| {
                format!(
                    "vertex {} of '{}' is {:.3e} m from '{}', which is more than its element there is high; give a smaller `tolerance` than \
                     {tolerance:.3e} m",
                    surfaces.own(v),
                    bodies[tied].name,
                    d2.sqrt(),
                    bodies[1 - tied].name
                )
            })?;
            vertices.push(TiedVertex { vertex: surfaces.own(v), ..row });
        }
        let own: Vec<u32> = near[tied].keys().map(|&v| surfaces.own(v)).collect();
        let is_tied = |face: u32| {
            let corners = surfaces.mesh.faces[face as usize];
            corners.iter().any(|v| near[tied].contains_key(v))
        };
        let others = near[1 - tied].iter().filter(|(_, n)| self.vertices.is_none() || is_tied(n.1));
        let others: Vec<u32> = others.map(|(&v, _)| surfaces.own(v)).collect();
        let d2 = near[tied].values().map(|n| n.0).fold(0.0, f64::max);
        Ok(Tied {
            bodies: [self.bodies[tied], self.bodies[1 - tied]],
            vertices,
            near: [own, others],
            distance: d2.sqrt(),
        })
    }
}

impl Tied {
    /// What of the two bodies passes through the other, by scene-wide vertices.
    pub(crate) fn left_out(&self, definition: &Definition) -> Vec<Grip> {
        let first =
            |b: usize| -> usize { definition.bodies[..b].iter().map(|b| b.rest.len()).sum() };
        let grip = |side: usize| {
            let (own, other) = (self.bodies[side], self.bodies[1 - side]);
            let shift = first(own) as u32;
            let vertices = self.near[side].iter().map(|v| v + shift).collect();
            Grip { vertices, other: other as u32 }
        };
        (0..2).map(grip).filter(|g| !g.vertices.is_empty()).collect()
    }
}

/// A solid that carries vertices of another body.
struct Carrier<'a> {
    x: &'a [Vec3],
    /// The nodes of its elements: four, or ten.
    elements: Vec<Vec<u32>>,
    /// The elements of each node.
    of: Vec<Vec<u32>>,
}

impl<'a> Carrier<'a> {
    fn new(body: &'a BodyDef) -> Self {
        let elements: Vec<Vec<u32>> = match &body.kind {
            BodyKind::Volume { tets, middles, .. } if middles.is_empty() => {
                tets.iter().map(|t| t.to_vec()).collect()
            }
            BodyKind::Volume { tets, middles, .. } => {
                quadratic::nodes(tets, middles).iter().map(|n| n.to_vec()).collect()
            }
            _ => Vec::new(),
        };
        let mut of = vec![Vec::new(); body.rest.len()];
        for (e, nodes) in (0..).zip(&elements) {
            nodes.iter().for_each(|&v| of[v as usize].push(e));
        }
        Self { x: start(body), elements, of }
    }

    /// What carries the point `x` on or near the triangle `corners` of the surface: the nodes of the element below, such that x is where their
    /// weights say. None where the element is too far.
    fn row(&self, x: &Vec3, corners: [u32; 3]) -> Option<TiedVertex> {
        let has = |e: &&u32| corners.iter().all(|v| self.elements[**e as usize].contains(v));
        let below = self.of[corners[0] as usize].iter().find(has)?;
        let nodes = &self.elements[*below as usize];
        let at: Vec<Vec3> = nodes.iter().map(|v| self.x[*v as usize]).collect();
        let weights = match <[Vec3; quadratic::NODES]>::try_from(at.as_slice()) {
            Ok(at) => place_in(x, &at)?.to_vec(),
            Err(_) => barycentric(x, [at[0], at[1], at[2], at[3]])?.to_vec(),
        };
        if weights.iter().any(|w| !w.is_finite() || *w < -FARTHEST) {
            return None;
        }
        let on = clean(nodes.iter().copied().zip(weights));
        let [a, b, c] = corners.map(|v| self.x[v as usize]);
        let closest =
            point_triangle::closest_on(point_triangle::feature(x, &a, &b, &c), x, &a, &b, &c);
        let parts = corners.iter().zip(&closest.weights[1..]).map(|(v, w)| (*v, -w));
        let mass = match on.iter().all(|(_, w)| *w >= 0.0) {
            true => on.clone(),
            false => clean(parts),
        };
        Some(TiedVertex { vertex: 0, on, mass })
    }
}

/// Weights without those that are rounding, of sum 1.
fn clean(weights: impl Iterator<Item = (u32, f64)>) -> Vec<(u32, f64)> {
    let mut kept: Vec<(u32, f64)> = weights.filter(|(_, w)| w.abs() > NO_WEIGHT).collect();
    kept.sort_unstable_by_key(|(v, _)| *v);
    let sum: f64 = kept.iter().map(|(_, w)| w).sum();
    kept.iter_mut().for_each(|(_, w)| *w /= sum);
    kept
}

/// The weights of the corners of a tetrahedron at a point; none where it is flat.
fn barycentric(x: &Vec3, [a, b, c, d]: [Vec3; 4]) -> Option<[f64; 4]> {
    let inverse = Mat3::from_columns(&[b - a, c - a, d - a]).try_inverse()?;
    let w = inverse * (x - a);
    Some([1.0 - w.sum(), w.x, w.y, w.z])
}
