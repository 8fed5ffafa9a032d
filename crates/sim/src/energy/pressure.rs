//! Pressure on surfaces: a load that follows the surface. A positive pressure p pushes onto the
//! surface, against its outward normal.
//!
//! A closed surface has the potential
//!
//! Ψ = p V(x),   V = Σ (x₀ − o)·((x₁ − o) × (x₂ − o)) / 6
//!
//! over its triangles (in two dimensions Σ ½ ((x₀ − o) × (x₁ − o))₃ over its edges, per metre of depth),
//! the enclosed volume times the pressure (minus that of a cavity, whose outward
//! normals point inwards), whatever the reference point o. An open surface has none: there the forces
//! −p A n / 3 on the corners (−p L n / 2 on the ends of an edge), with the area normals A n at the start of the step, are a dead load.
//!
//! The second derivative of V is indefinite and is left out of the Newton matrix: value and gradient
//! match, so that the line search holds, at the price of linear convergence where the pressure is
//! large against the stiffness.

use super::projection::Projection;
use super::term::{Origin, Owner, Term};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::Stencils;
use std::ops::Range;

/// A patch of surface under pressure.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Triangles, scene-wide vertices, oriented outwards.
    pub triangles: Vec<[u32; 3]>,
    /// In two dimensions edges, with the inside on the left.
    pub edges: Vec<[u32; 2]>,
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
        Self { closed: edges == reversed, triangles, edges: Vec::new() }
    }

    /// A patch of edges in the plane, each with the inside on its left.
    pub fn of_edges(edges: Vec<[u32; 2]>) -> Self {
        let ends = |k: usize| {
            let mut ends: Vec<u32> = edges.iter().map(|e| e[k]).collect();
            ends.sort_unstable();
            ends
        };
        Self { closed: ends(0) == ends(1), triangles: Vec::new(), edges }
    }

    /// A vertex of the patch.
    fn some_vertex(&self) -> Option<u32> {
        self.triangles.first().map(|t| t[0]).or(self.edges.first().map(|e| e[0]))
    }

    /// The signed volume V between the patch and the point `o`, m³.
    pub fn volume(&self, x: &[Vec3], o: &Vec3) -> f64 {
        let triple = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| x[v as usize] - o);
            a.dot(&b.cross(&c)) / 6.0
        };
        let double = |e: &[u32; 2]| {
            let [a, b] = e.map(|v| x[v as usize] - o);
            0.5 * (a.x * b.y - a.y * b.x)
        };
        self.triangles.iter().map(triple).sum::<f64>() + self.edges.iter().map(double).sum::<f64>()
    }

    /// Adds `factor` ∂V/∂x (m² times the factor) to `gradient` (`#V`).
    pub fn add_volume_gradient(&self, factor: f64, x: &[Vec3], o: &Vec3, gradient: &mut [Vec3]) {
        self.volume_gradient(factor, x, o, &mut |v, g| gradient[v as usize] += g);
    }

    /// Gives `add` every summand of `factor` ∂V/∂x with its vertex.
    fn volume_gradient(&self, factor: f64, x: &[Vec3], o: &Vec3, add: &mut impl FnMut(u32, Vec3)) {
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| x[v as usize] - o);
            for (v, g) in t.iter().zip([b.cross(&c), c.cross(&a), a.cross(&b)]) {
                add(*v, factor / 6.0 * g);
            }
        }
        for &[i, j] in &self.edges {
            let [a, b] = [i, j].map(|v| x[v as usize] - o);
            add(i, 0.5 * factor * Vec3::new(b.y, -b.x, 0.0));
            add(j, 0.5 * factor * Vec3::new(-a.y, a.x, 0.0));
        }
    }

    /// Adds `factor` times a third of each triangle's area normal (m²) to its corners (`#V`), half of each
    /// edge's to its ends.
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
        for e in &self.edges {
            let [a, b] = e.map(|v| x[v as usize]);
            let half = 0.5 * factor * Vec3::new(b.y - a.y, a.x - b.x, 0.0);
            e.iter().for_each(|&v| add(v, half));
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
        match self.closed {
            true => self.volume_gradient(p, x, &self.reference(start), &mut add),
            false => self.area_normals(p, start, &mut add),
        }
        sum
    }

    /// A point of the patch, which keeps rounding small.
    fn reference(&self, x: &[Vec3]) -> Vec3 {
        self.some_vertex().map_or(Vec3::zeros(), |v| x[v as usize])
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
        for (patch, p, o) in &self.closed {
            patch.add_volume_gradient(*p, x, o, gradient);
        }
        for (g, f) in gradient.iter_mut().zip(&self.dead) {
            *g += f;
        }
    }

    fn hessians(&self, _: Range<usize>, _: &[Vec3], _: Projection<'_>, _: &mut [Mat3]) {}
}
