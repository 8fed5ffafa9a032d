//! Rigid boxes for tests.

use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{BodyDef, MassProperties};
use std::sync::Arc;

/// A rigid box of a density of 1000 kg/m³ with its least corner at `low`; each side has 2 · `fine`² triangles.
pub fn solid_box(name: &str, low: Vec3, size: Vec3, fine: usize) -> BodyDef {
    let at =
        |p: [usize; 3]| low + Vec3::from(p.map(|k| k as f64 / fine as f64)).component_mul(&size);
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let mut corners: Vec<[usize; 3]> = Vec::new();
    let mut number = |p: [usize; 3]| {
        corners.iter().position(|q| *q == p).unwrap_or_else(|| {
            corners.push(p);
            points.push(at(p));
            corners.len() - 1
        }) as u32
    };
    for axis in 0..3 {
        for high in [0, fine] {
            for (i, j) in (0..fine).flat_map(|i| (0..fine).map(move |j| (i, j))) {
                let corner = |i: usize, j: usize| {
                    let mut p = [high; 3];
                    (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (i, j);
                    p
                };
                let [a, b, c, d] =
                    [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]
                        .map(&mut number);
                let pair = [[a, b, c], [a, c, d]];
                triangles
                    .extend(pair.map(|[a, b, c]| if high > 0 { [a, b, c] } else { [a, c, b] }));
            }
        }
    }
    let masses = MassProperties::of_surface(&points, &triangles, 1000.0).unwrap();
    let body = BodyDef::rigid(name, points, Arc::new(triangles), &masses).unwrap();
    BodyDef { friction_material: "default".into(), ..body }
}

/// The mean of the control points: the centre of mass.
pub fn centre(body: &BodyDef, x: &[Vec3]) -> Vec3 {
    let control = &x[body.unknowns()];
    control.iter().sum::<Vec3>() / control.len() as f64
}

/// Gives a body the velocity v + ω × (x − c).
pub fn moving(mut body: BodyDef, linear: Vec3, angular: Vec3) -> BodyDef {
    let centre = centre(&body, &body.rest);
    body.velocity = body.rest.iter().map(|p| linear + angular.cross(&(p - centre))).collect();
    body
}

/// The rotation of a body from its rest shape to positions `x`.
pub fn rotation(body: &BodyDef, x: &[Vec3]) -> Mat3 {
    let offsets = |of: &[Vec3]| {
        let c = centre(body, of);
        let [a, b, d] = [0, 1, 2].map(|k| of[body.unknowns().start + k] - c);
        Mat3::from_columns(&[a, b, d])
    };
    offsets(x) * offsets(&body.rest).try_inverse().unwrap()
}

/// All vertices of its surface.
pub fn whole_surface(body: &BodyDef) -> Vec<u32> {
    body.carried().map(|v| v as u32).collect()
}
