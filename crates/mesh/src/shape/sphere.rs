//! Ball: an icosahedron of 20 tetrahedra around its centre, divided and blown up.

use super::{Build, ShapeError, limits, refine};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Ball centred at the origin: `layers` shells of nearly regular tetrahedra over an icosahedron,
/// 20·layers³ in all, 10·layers² + 2 vertices and 20·layers² triangles on the surface. The
/// vertices of the surface lie on the sphere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sphere {
    /// Radius, m.
    pub radius: f64,
    /// Number of layers between centre and surface.
    pub layers: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Sphere {
    fn default() -> Self {
        Self { radius: 0.5, layers: 4, surface: false }
    }
}

impl Build for Sphere {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let radius = limits::length("sphere", "radius", self.radius)?;
        let n = limits::at_least("sphere", "layers", self.layers, 1)?;
        let cubed = if self.surface { 1 } else { n };
        limits::elements("sphere", &[20, n, n, cubed])?;
        let (points, faces) = icosahedron();
        let tets: Vec<[u32; 4]> = faces.iter().map(|f| [0, f[0], f[1], f[2]]).collect();
        let place = |weights: &[(u32, u32)]| {
            let direction: Vec3 =
                weights.iter().map(|&(v, w)| points[v as usize] * f64::from(w)).sum();
            let layer: u32 = weights.iter().filter(|w| w.0 != 0).map(|w| w.1).sum();
            match direction.try_normalize(0.0) {
                Some(d) => d * (radius * f64::from(layer) / n as f64),
                None => Vec3::zeros(),
            }
        };
        Ok(refine::tets_or_surface(self.surface, &points, &tets, self.layers, &place))
    }
}

/// Centre (vertex 0), 12 vertices at distance 1 and 20 faces of the icosahedron with two
/// vertices on the y axis, seen counter-clockwise from outside.
fn icosahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut points = vec![Vec3::zeros(), Vec3::y()];
    let (height, ring) = (1.0 / 5.0f64.sqrt(), 2.0 / 5.0f64.sqrt());
    for (y, turn) in [(height, 0.0), (-height, 0.5)] {
        for k in 0..5 {
            let (sin, cos) = (std::f64::consts::TAU * (f64::from(k) + turn) / 5.0).sin_cos();
            points.push(Vec3::new(ring * cos, y, ring * sin));
        }
    }
    points.push(-Vec3::y());
    let mut faces = Vec::new();
    for k in 0..5 {
        let (upper, lower) = (2 + k, 7 + k);
        let (next_upper, next_lower) = (2 + (k + 1) % 5, 7 + (k + 1) % 5);
        faces.push([1, next_upper, upper]);
        faces.push([upper, next_upper, lower]);
        faces.push([next_upper, next_lower, lower]);
        faces.push([12, lower, next_lower]);
    }
    (points, faces)
}
