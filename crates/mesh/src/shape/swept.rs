//! Cylinder, rod and torus: a disc of triangles swept along a line or around a circle.

use super::{Build, ShapeError, centred, limits, refine};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::f64::consts::TAU;

/// Solid cylinder around the y axis, centred at the origin. Its cross-section is a centre and
/// `rings` rings of 6, 12, 18, … vertices; the perimeter has 6·rings segments. It has
/// 18·rings²·layers tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, m.
    pub radius: f64,
    /// Extent along y, m.
    pub height: f64,
    /// Number of rings of the cross-section.
    pub rings: u32,
    /// Number of layers along y.
    pub layers: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Cylinder {
    fn default() -> Self {
        Self { radius: 0.5, height: 1.0, rings: 3, layers: 6, surface: false }
    }
}

/// Long thin solid cylinder along the x axis, centred at the origin. Its cross-section is that of
/// the cylinder, with a hexagon for `rings = 1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rod {
    /// Extent along x, m.
    pub length: f64,
    /// Radius, m.
    pub radius: f64,
    /// Number of rings of the cross-section.
    pub rings: u32,
    /// Number of segments along x.
    pub segments: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Rod {
    fn default() -> Self {
        Self { length: 1.0, radius: 0.02, rings: 1, segments: 50, surface: false }
    }
}

/// Solid ring around the y axis, centred at the origin, with the cross-section of the cylinder.
/// It has 18·rings²·segments tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Torus {
    /// Distance from the axis to the middle of the tube, m.
    pub radius: f64,
    /// Radius of the tube, m; smaller than `radius`.
    pub tube_radius: f64,
    /// Number of rings of the tube's cross-section.
    pub rings: u32,
    /// Number of segments around the axis, at least 3.
    pub segments: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Torus {
    fn default() -> Self {
        Self { radius: 0.4, tube_radius: 0.1, rings: 2, segments: 40, surface: false }
    }
}

impl Build for Cylinder {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let radius = limits::length("cylinder", "radius", self.radius)?;
        let height = limits::length("cylinder", "height", self.height)?;
        let rings = limits::at_least("cylinder", "rings", self.rings, 1)?;
        let layers = limits::at_least("cylinder", "layers", self.layers, 1)?;
        check("cylinder", rings, layers, self.surface)?;
        let section = disc(radius, self.rings);
        let place = |slice: usize, p: Vec3| p + Vec3::y() * (height * centred(slice, layers));
        Ok(sweep(&section, layers, false, self.surface, &place))
    }
}

impl Build for Rod {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let length = limits::length("rod", "length", self.length)?;
        let radius = limits::length("rod", "radius", self.radius)?;
        let rings = limits::at_least("rod", "rings", self.rings, 1)?;
        let segments = limits::at_least("rod", "segments", self.segments, 1)?;
        check("rod", rings, segments, self.surface)?;
        let section = disc(radius, self.rings);
        let place = |slice: usize, p: Vec3| Vec3::new(length * centred(slice, segments), p.z, p.x);
        Ok(sweep(&section, segments, false, self.surface, &place))
    }
}

impl Build for Torus {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let radius = limits::length("torus", "radius", self.radius)?;
        let tube = limits::length("torus", "tube_radius", self.tube_radius)?;
        limits::require(
            tube < radius,
            "torus",
            format!("tube_radius {tube} must be smaller than radius {radius}"),
        )?;
        let rings = limits::at_least("torus", "rings", self.rings, 1)?;
        let segments = limits::at_least("torus", "segments", self.segments, 3)?;
        check("torus", rings, segments, self.surface)?;
        let section = disc(tube, self.rings);
        let place = |slice: usize, p: Vec3| {
            let (sin, cos) = (TAU * slice as f64 / segments as f64).sin_cos();
            let r = radius + p.x;
            Vec3::new(r * cos, p.z, -r * sin)
        };
        Ok(sweep(&section, segments, true, self.surface, &place))
    }
}

fn check(
    shape: &'static str,
    rings: usize,
    slices: usize,
    surface: bool,
) -> Result<(), ShapeError> {
    if surface {
        limits::elements(shape, &[12, rings, slices])?;
        return limits::elements(shape, &[12, rings, rings]);
    }
    limits::elements(shape, &[18, rings, rings, slices])
}

/// A disc in the xz plane, normal +y: a hexagon divided into 6·rings² triangles, rounded.
fn disc(radius: f64, rings: u32) -> Mesh {
    let sectors: Vec<[u32; 3]> = (0..6).map(|k| [0, 1 + (k + 1) % 6, 1 + k]).collect();
    refine::triangles(7, &sectors, rings, &|w| hexagon(w, radius / f64::from(rings)))
}

/// Place of a lattice point of the hexagon of centre 0 and corners 1 to 6, rounded so that the
/// rings are circles at distance `step` with vertices at equal angles. Other coarse vertices do
/// not count.
pub(super) fn hexagon(weights: &[(u32, u32)], step: f64) -> Vec3 {
    let corners: Vec<(u32, u32)> =
        weights.iter().copied().filter(|w| (1..=6).contains(&w.0)).collect();
    let (ring, sixth) = match corners[..] {
        [] => return Vec3::zeros(),
        [(a, w)] => (w, f64::from(a - 1)),
        // the sixth sector lies between corner 6 and corner 1, which then counts as corner 7
        [(1, v), (6, w), ..] => (v + w, 5.0 + f64::from(v) / f64::from(v + w)),
        [(a, v), (_, w), ..] => (v + w, f64::from(a - 1) + f64::from(w) / f64::from(v + w)),
    };
    let (sin, cos) = (TAU * sixth / 6.0).sin_cos();
    Vec3::new(cos, 0.0, sin) * (step * f64::from(ring))
}

/// Copies a section to the slices 0 to `slices` (or to a ring of `slices`) and fills the space
/// between with prisms, three tetrahedra each; or only the surface.
fn sweep(
    section: &Mesh,
    slices: usize,
    ring: bool,
    surface: bool,
    place: &dyn Fn(usize, Vec3) -> Vec3,
) -> Mesh {
    let count = section.points.len() as u32;
    let copies = if ring { slices } else { slices + 1 };
    let mut mesh = Mesh::default();
    for slice in 0..copies {
        mesh.points.extend(section.points.iter().map(|&p| place(slice, p)));
    }
    let at = |slice: usize, v: u32| (slice % copies) as u32 * count + v;
    if !surface {
        for slice in 0..slices {
            for f in &section.triangles {
                let bottom = f.map(|v| at(slice, v));
                mesh.tets.extend(refine::prism(bottom, f.map(|v| at(slice + 1, v))));
            }
        }
        refine::orient(&mut mesh);
        return mesh;
    }
    for [a, b] in boundary(&section.triangles) {
        for s in 0..slices {
            let side = [at(s, a), at(s, b), at(s + 1, b), at(s + 1, a)];
            mesh.triangles.extend(refine::quad(side));
        }
    }
    if !ring {
        for &[a, b, c] in &section.triangles {
            mesh.triangles.push([at(0, a), at(0, c), at(0, b)]);
            mesh.triangles.push([a, b, c].map(|v| at(slices, v)));
        }
    }
    mesh.compact();
    mesh
}

/// Directed edges of one triangle only.
fn boundary(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let edges: Vec<[u32; 2]> =
        triangles.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]).collect();
    let all: std::collections::HashSet<[u32; 2]> = edges.iter().copied().collect();
    edges.into_iter().filter(|&[a, b]| !all.contains(&[b, a])).collect()
}
