//! Pressure on surfaces: a load that follows the surface. A positive pressure p pushes onto the
//! surface, against its outward normal.
//!
//! A closed surface has the potential
//!
//! Ψ = p V(x),   V = Σ (x₀ − o)·((x₁ − o) × (x₂ − o)) / 6,   ∂V/∂xₐ = ∫ Nₐ n dA
//!
//! over its triangles (in two dimensions Σ ½ ((x₀ − o) × (x₁ − o))₃ over its edges, per metre of depth),
//! the enclosed volume times the pressure (minus that of a cavity, whose outward
//! normals point inwards), whatever the reference point o. An open surface has none: there the forces
//! −p ∫ Nₐ n dA, with the area normals at the start of the step, are a dead load. On a triangle they are −p A n / 3 for each corner, on an edge
//! −p L n / 2 for each end; a face of a quadratic element is curved, and the integrals are exact for it.
//!
//! The second derivative of V is indefinite and is left out of the Newton matrix: value and gradient
//! match, so that the line search holds, at the price of linear convergence where the pressure is
//! large against the stiffness.
//!
//! Of bodies of revolution an edge is a truncated cone: V = Σ π/3 (y₁ − y₀)(r₀² + r₀ r₁ + r₁²), and the force on an end is
//! −p ∫ Nₐ n 2πr ds. A patch whose ends are on the axis is closed.

use super::projection::Projection;
use super::quadratic_triangle;
use super::term::{Origin, Owner, Term};
use standoff_geometry::quadratic;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::Stencils;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::ops::Range;
use std::sync::LazyLock;

/// A patch of surface under pressure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch {
    /// Triangles, scene-wide vertices, oriented outwards.
    pub triangles: Vec<[u32; 3]>,
    /// Faces of quadratic elements, oriented outwards: corners 0, 1, 2 and the middles of edges 01, 12, 20.
    pub faces: Vec<[u32; 6]>,
    /// In two dimensions edges, with the inside on the left.
    pub edges: Vec<[u32; 2]>,
    /// In two dimensions edges of quadratic elements, with the inside on the left: both ends and the node between.
    pub curved_edges: Vec<[u32; 3]>,
    /// Whether the edges are those of rings about the axis y.
    pub ring: bool,
    /// Whether every edge joins two triangles, or every vertex two edges.
    pub closed: bool,
}

impl Patch {
    /// A patch of consistently oriented triangles.
    pub fn new(triangles: Vec<[u32; 3]>) -> Self {
        let mut edges: Vec<[u32; 2]> =
            triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        let mut reversed: Vec<[u32; 2]> = edges.iter().map(|&[a, b]| [b, a]).collect();
        edges.sort_unstable();
        reversed.sort_unstable();
        Self { closed: edges == reversed, triangles, ..Self::default() }
    }

    /// A patch of the boundary of quadratic elements, from the triangles between the nodes of its faces. Of a face that is not there as a whole
    /// the triangles stay.
    pub fn curved(triangles: Vec<[u32; 3]>) -> Self {
        let patch = Self::new(triangles);
        let (faces, triangles) = quadratic::join_faces(&patch.triangles);
        Self { faces, triangles, ..patch }
    }

    /// A patch of edges in the plane, each with the inside on its left.
    pub fn of_edges(edges: Vec<[u32; 2]>) -> Self {
        let ends = |k: usize| {
            let mut ends: Vec<u32> = edges.iter().map(|e| e[k]).collect();
            ends.sort_unstable();
            ends
        };
        Self { closed: ends(0) == ends(1), edges, ..Self::default() }
    }

    /// A patch of edges of bodies of revolution, each with the inside on its left, which at the start are at `x` (`#V`).
    pub fn of_rings(edges: Vec<[u32; 2]>, x: &[Vec3]) -> Self {
        // what the axis closes
        let off = |v: &u32| x[*v as usize].x > 0.0;
        let ends = |k: usize| {
            let mut ends: Vec<u32> = edges.iter().map(|e| e[k]).filter(off).collect();
            ends.sort_unstable();
            ends
        };
        Self { closed: ends(0) == ends(1), ring: true, edges, ..Self::default() }
    }

    /// The patch of an outline of quadratic elements, from the segments between the nodes of their edges, of which two stand one after the other. Of an
    /// edge that is not there as a whole the segments stay. `is_middle` says which vertices are between two others.
    #[must_use]
    pub fn with_curved_edges(mut self, is_middle: impl Fn(u32) -> bool) -> Self {
        let mut left = Vec::new();
        let mut rest = self.edges.as_slice();
        while let Some((first, after)) = rest.split_first() {
            match after.first() {
                Some(second) if first[1] == second[0] && is_middle(first[1]) => {
                    self.curved_edges.push([first[0], second[1], first[1]]);
                    rest = &after[1..];
                }
                _ => {
                    left.push(*first);
                    rest = after;
                }
            }
        }
        Self { edges: left, ..self }
    }

    /// A vertex of the patch.
    fn some_vertex(&self) -> Option<u32> {
        let triangle = self.triangles.first().map(|t| t[0]);
        let edge = self.edges.first().map(|e| e[0]).or(self.curved_edges.first().map(|e| e[0]));
        triangle.or(self.faces.first().map(|f| f[0])).or(edge)
    }

    /// The signed volume V between the patch and the point `o`, m³.
    pub fn volume(&self, x: &[Vec3], o: &Vec3) -> f64 {
        let triple = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| x[v as usize] - o);
            a.dot(&b.cross(&c)) / 6.0
        };
        let curved = |face: &[u32; 6]| {
            let x = face.map(|v| x[v as usize] - o);
            let part = |at: &FacePoint| at.position(&x).dot(&at.normal(&x)) / 3.0;
            FACE_POINTS.iter().map(part).sum::<f64>()
        };
        let double = |e: &[u32; 2]| {
            let [a, b] = e.map(|v| x[v as usize]);
            if self.ring {
                return PI / 3.0 * (b.y - a.y) * (a.x * a.x + a.x * b.x + b.x * b.x);
            }
            let [a, b] = [a, b].map(|x| x - o);
            0.5 * (a.x * b.y - a.y * b.x)
        };
        let bent = |e: &[u32; 3]| {
            let x = e.map(|v| x[v as usize]);
            let part = |at: &EdgePoint| {
                let (p, n) = (at.position(&x), at.normal(&x));
                match self.ring {
                    // V = ∫ π r² dy
                    true => PI * p.x * p.x * n.x,
                    false => 0.5 * (p - o).dot(&n),
                }
            };
            EDGE_POINTS.iter().map(part).sum::<f64>()
        };
        self.triangles.iter().map(triple).sum::<f64>()
            + self.faces.iter().map(curved).sum::<f64>()
            + self.edges.iter().map(double).sum::<f64>()
            + self.curved_edges.iter().map(bent).sum::<f64>()
    }

    /// Adds `factor` ∫ Nₐ n dA (m² times the factor) to `out` (`#V`), for a closed patch `factor` ∂V/∂x.
    pub fn add_area_normals(&self, factor: f64, x: &[Vec3], out: &mut [Vec3]) {
        self.area_normals(factor, x, &mut |v, n| out[v as usize] += n);
    }

    /// Gives `add` every summand of the same with its vertex.
    fn area_normals(&self, factor: f64, x: &[Vec3], add: &mut impl FnMut(u32, Vec3)) {
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let third = factor / 6.0 * (b - a).cross(&(c - a));
            t.iter().for_each(|&v| add(v, third));
        }
        for face in &self.faces {
            let o = x[face[0] as usize];
            let x = face.map(|v| x[v as usize] - o);
            for at in FACE_POINTS.iter() {
                let normal = factor * at.normal(&x);
                face.iter().zip(at.shape).for_each(|(&v, n)| add(v, n * normal));
            }
        }
        for e in &self.edges {
            let [a, b] = e.map(|v| x[v as usize]);
            let normal = factor * Vec3::new(b.y - a.y, a.x - b.x, 0.0);
            let parts = self.depths([a, b]);
            e.iter().zip(parts).for_each(|(&v, part)| add(v, part * normal));
        }
        for e in &self.curved_edges {
            let x = e.map(|v| x[v as usize]);
            for at in EDGE_POINTS.iter() {
                let depth = if self.ring { 2.0 * PI * at.position(&x).x } else { 1.0 };
                let normal = factor * depth * at.normal(&x);
                e.iter().zip(at.shape).for_each(|(&v, n)| add(v, n * normal));
            }
        }
    }

    /// ∫ Nₐ dA of every vertex of the patch, m², with the positions that `at` gives.
    pub fn areas(&self, at: impl Fn(u32) -> Vec3) -> BTreeMap<u32, f64> {
        let mut areas = BTreeMap::new();
        let mut add = |v: u32, area: f64| *areas.entry(v).or_default() += area;
        for t in &self.triangles {
            let [a, b, c] = t.map(&at);
            let third = (b - a).cross(&(c - a)).norm() / 6.0;
            t.iter().for_each(|&v| add(v, third));
        }
        for face in &self.faces {
            let x = face.map(&at);
            for point in FACE_POINTS.iter() {
                let area = point.normal(&x).norm();
                face.iter().zip(point.shape).for_each(|(&v, n)| add(v, n * area));
            }
        }
        for e in &self.edges {
            let [a, b] = e.map(&at);
            let parts = self.depths([a, b]);
            e.iter().zip(parts).for_each(|(&v, part)| add(v, part * (b - a).norm()));
        }
        for e in &self.curved_edges {
            let x = e.map(&at);
            for point in EDGE_POINTS.iter() {
                let depth = if self.ring { 2.0 * PI * point.position(&x).x } else { 1.0 };
                let area = depth * point.normal(&x).norm();
                e.iter().zip(point.shape).for_each(|(&v, n)| add(v, n * area));
            }
        }
        areas
    }

    /// The means of Nₐ along a straight edge, of rings of 2πr Nₐ, m.
    fn depths(&self, [a, b]: [Vec3; 2]) -> [f64; 2] {
        match self.ring {
            true => [a.x, b.x].map(|r| PI / 3.0 * (r + a.x + b.x)),
            false => [0.5; 2],
        }
    }

    /// Force (N) and moment about the origin (N m) of the pressure `p` (Pa) in a step from positions `start` to
    /// `x`: on an open patch with the normals at its start.
    pub fn resultant(&self, p: f64, start: &[Vec3], x: &[Vec3]) -> [Vec3; 2] {
        let mut sum = [Vec3::zeros(); 2];
        let mut add = |v: u32, gradient: Vec3| {
            sum[0] -= gradient;
            sum[1] -= x[v as usize].cross(&gradient);
        };
        self.area_normals(p, if self.closed { x } else { start }, &mut add);
        sum
    }

    /// A point of the patch, which keeps rounding small.
    fn reference(&self, x: &[Vec3]) -> Vec3 {
        self.some_vertex().map_or(Vec3::zeros(), |v| x[v as usize])
    }
}

/// A point of integration over a face of a quadratic element: Σ over six of them is exact for polynomials of degree four [Dunavant 1985], and so for
/// the volume under the face.
struct FacePoint {
    /// The shape functions of the nodes.
    shape: [f64; 6],
    /// Their derivatives by the second and the third barycentric coordinate.
    slopes: [[f64; 6]; 2],
    /// Its part of the area of the triangle of coordinates, which is 1/2.
    weight: f64,
}

static FACE_POINTS: LazyLock<[FacePoint; 6]> = LazyLock::new(|| {
    quadratic_triangle::fine_points().map(|(at, part)| {
        let by = quadratic_triangle::slopes(&at);
        FacePoint {
            shape: quadratic_triangle::shapes(&at),
            slopes: [0, 1].map(|k| by.map(|by| by[k])),
            weight: 0.5 * part,
        }
    })
});

impl FacePoint {
    fn position(&self, x: &[Vec3; 6]) -> Vec3 {
        x.iter().zip(self.shape).map(|(x, n)| n * x).sum()
    }

    /// n dA with the weight of this point.
    fn normal(&self, x: &[Vec3; 6]) -> Vec3 {
        let [u, v] = self.slopes.map(|s| x.iter().zip(s).map(|(x, n)| n * x).sum::<Vec3>());
        self.weight * u.cross(&v)
    }
}

/// A point of integration along an edge of a quadratic element in the plane: the sum over three of them is exact for polynomials of degree five, and so
/// for the volume within the ring of an edge.
struct EdgePoint {
    /// The shape functions of both ends and of the node between.
    shape: [f64; 3],
    /// Their derivatives along the edge, whose coordinate is from 0 to 1.
    slopes: [f64; 3],
    weight: f64,
}

static EDGE_POINTS: LazyLock<[EdgePoint; 3]> = LazyLock::new(|| {
    let far = 0.5 * 0.6_f64.sqrt();
    [(0.5 - far, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.5 + far, 5.0 / 18.0)].map(|(t, weight)| {
        EdgePoint {
            shape: [(1.0 - t) * (1.0 - 2.0 * t), t * (2.0 * t - 1.0), 4.0 * t * (1.0 - t)],
            slopes: [4.0 * t - 3.0, 4.0 * t - 1.0, 4.0 - 8.0 * t],
            weight,
        }
    })
});

impl EdgePoint {
    fn position(&self, x: &[Vec3; 3]) -> Vec3 {
        x.iter().zip(self.shape).map(|(x, n)| n * x).sum()
    }

    /// n ds with the weight of this point.
    fn normal(&self, x: &[Vec3; 3]) -> Vec3 {
        let along: Vec3 = x.iter().zip(self.slopes).map(|(x, n)| n * x).sum();
        self.weight * Vec3::new(along.y, -along.x, 0.0)
    }
}

/// The loads by pressure in one step.
#[derive(Debug, Clone, Default)]
pub struct Pressures<'a> {
    /// Closed patches with pressure (Pa) and reference point (m).
    closed: Vec<(&'a Patch, f64, Vec3)>,
    /// The names of all loads.
    names: Vec<&'a str>,
    /// Derivative of the dead loads' potential, N (`#V`); empty without one.
    dead: Vec<Vec3>,
    /// Positions that the dead loads' potential is measured from, m.
    start: Vec<Vec3>,
}

impl<'a> Pressures<'a> {
    /// The `loads` (name, patch and pressure, Pa) of a step that starts at positions `x`.
    pub fn new(loads: impl Iterator<Item = (&'a str, &'a Patch, f64)>, x: &[Vec3]) -> Self {
        let mut out = Self::default();
        for (name, patch, p) in loads {
            out.names.push(name);
            if patch.closed {
                out.closed.push((patch, p, patch.reference(x)));
                continue;
            }
            if out.dead.is_empty() {
                out.dead = vec![Vec3::zeros(); x.len()];
                out.start = x.to_vec();
            }
            patch.add_area_normals(p, x, &mut out.dead);
        }
        out
    }

    /// Whether nothing presses.
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty() && self.dead.is_empty()
    }
}

impl Term for Pressures<'_> {
    fn name(&self) -> &str {
        "pressure"
    }

    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        Some(Origin { owner: Owner::Load(self.names.get(summand)?), key: "pressure" })
    }

    /// None: the second derivative is left out.
    fn stencils(&self) -> Stencils<'_> {
        Stencils::default()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let closed: f64 = self.closed.iter().map(|(patch, p, o)| p * patch.volume(x, o)).sum();
        let work = |v: usize| self.dead[v].dot(&(x[v] - self.start[v]));
        closed + (0..self.dead.len()).map(work).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for (patch, p, _) in &self.closed {
            patch.add_area_normals(*p, x, gradient);
        }
        for (g, f) in gradient.iter_mut().zip(&self.dead) {
            *g += f;
        }
    }

    fn hessians(&self, _: Range<usize>, _: &[Vec3], _: Projection<'_>, _: &mut [Mat3]) {}
}
