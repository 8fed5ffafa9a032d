//! The characteristic norm of a scene: stiffness and surface of its elements, gathered at their vertices.

use crate::characteristic::CharacteristicNorm;
use crate::model::Model;
use standoff_geometry::quadratic::{PARTS, four_triangles};
use standoff_linalg::Vec3;
use std::f64::consts::PI;

/// ⟨W⟩ times area, and area, of each vertex.
struct Sums {
    force: Vec<f64>,
    area: Vec<f64>,
}

impl Sums {
    fn add(&mut self, vertex: u32, stiffness: f64, area: f64) {
        self.force[vertex as usize] += stiffness * area;
        self.area[vertex as usize] += area;
    }
}

/// The norm of a scene; `None` for one without elements.
pub fn norm(model: &Model) -> Option<CharacteristicNorm> {
    let n = model.rest.len();
    let mut sums = Sums { force: vec![0.0; n], area: vec![0.0; n] };
    add_tetrahedra(model, &mut sums);
    add_plane(model, &mut sums);
    add_shells(model, &mut sums);
    add_rods(model, &mut sums);
    let whole = sums.area.iter().sum::<f64>();
    let mean = sums.force.iter().sum::<f64>() / whole;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    let compliance = sums.force.iter().zip(&sums.area).map(|(force, area)| area / force);
    let mut compliance: Vec<f64> =
        compliance.map(|c| if c.is_finite() { c } else { 1.0 / mean }).collect();
    for (k, [a, b]) in model.frames.edges.iter().enumerate() {
        let ends = [a, b].map(|v| compliance[*v as usize]);
        compliance[model.frames.first_angle + k] = 0.5 * (ends[0] + ends[1]);
    }
    let area = sums.area.iter().map(|a| a * a).sum::<f64>().sqrt();
    Some(CharacteristicNorm::new(compliance, area))
}

/// The surface around a vertex: the faces opposite to it, and those of the body's surface that it is a corner of. A quadratic element
/// counts as eight linear ones.
fn add_tetrahedra(model: &Model, sums: &mut Sums) {
    let x = &model.rest;
    let area = |f: [u32; 3]| {
        let [a, b, c] = f.map(|v| x[v as usize]);
        0.5 * (b - a).cross(&(c - a)).norm()
    };
    let sorted = |mut f: [u32; 3]| {
        f.sort_unstable();
        f
    };
    let faces = |t: &[u32; 4]| [0, 1, 2, 3].map(|k| [1, 2, 3].map(|d| t[(k + d) % 4]));
    let (linear, quadratic) = (&model.solids.tets, &model.solids.quadratic);
    let linear = linear.vertices().iter().zip(&linear.elements);
    let mut tets: Vec<_> = linear.map(|(t, element)| (*t, element.rest_stiffness())).collect();
    for (nodes, element) in quadratic.vertices().iter().zip(&quadratic.elements) {
        let stiffness = element.rest_stiffness();
        tets.extend(PARTS.map(|part| (part.map(|n| nodes[n]), stiffness)));
    }
    let mut all: Vec<[u32; 3]> = tets.iter().flat_map(|(t, _)| faces(t)).map(sorted).collect();
    all.sort_unstable();
    for (tet, stiffness) in tets {
        for (face, &opposite) in faces(&tet).iter().zip(&tet) {
            let (face, area) = (sorted(*face), area(*face));
            sums.add(opposite, stiffness, area);
            let first = all.partition_point(|f| *f < face);
            let on_surface = all.get(first + 1) != Some(&face);
            face.iter().filter(|_| on_surface).for_each(|&v| sums.add(v, stiffness, area));
        }
    }
}

/// The same in the plane, where a side of a triangle is a face of unit depth, or of a ring.
fn add_plane(model: &Model, sums: &mut Sums) {
    let rings = model.solids.rings.elements.iter();
    let measures: Vec<[f64; 2]> =
        rings.map(|e| [e.lame().rest_stiffness(), e.circumference()]).collect();
    add_triangles(model.solids.rings.vertices(), &measures, &model.rest, sums);
    let elements = model.solids.plane.elements.iter();
    let measures: Vec<[f64; 2]> = elements.map(|e| [e.rest_stiffness(), 1.0]).collect();
    add_triangles(model.solids.plane.vertices(), &measures, &model.rest, sums);
    // a quadratic one counts as four linear ones
    let quadratic = &model.solids.quadratic_triangles;
    let (mut triangles, mut measures) = (Vec::new(), Vec::new());
    for (nodes, element) in quadratic.vertices().iter().zip(&quadratic.elements) {
        let rest = nodes.map(|v| model.rest[v as usize]);
        triangles.extend(four_triangles(*nodes));
        measures.extend([[element.lame().rest_stiffness(), element.depth(&rest)]; 4]);
    }
    add_triangles(&triangles, &measures, &model.rest, sums);
}

fn add_shells(model: &Model, sums: &mut Sums) {
    let membranes = &model.codim.membranes;
    let elements = membranes.elements.iter();
    let measures: Vec<[f64; 2]> =
        elements.map(|e| [e.rest_stiffness(), e.volume() / e.area()]).collect();
    add_triangles(membranes.vertices(), &measures, &model.rest, sums);
}

/// Triangles with their stiffness and thickness.
fn add_triangles(
    triangles: &[[u32; 3]],
    stiffness_and_thickness: &[[f64; 2]],
    x: &[Vec3],
    sums: &mut Sums,
) {
    let sides = |t: &[u32; 3]| [0, 1, 2].map(|k| [t[(k + 1) % 3], t[(k + 2) % 3]]);
    let sorted = |[a, b]: [u32; 2]| if a < b { [a, b] } else { [b, a] };
    let mut all: Vec<[u32; 2]> = triangles.iter().flat_map(sides).map(sorted).collect();
    all.sort_unstable();
    for (triangle, &[stiffness, thickness]) in triangles.iter().zip(stiffness_and_thickness) {
        for (side, &opposite) in sides(triangle).iter().zip(triangle) {
            let side = sorted(*side);
            let area = thickness * (x[side[1] as usize] - x[side[0] as usize]).norm();
            sums.add(opposite, stiffness, area);
            let first = all.partition_point(|s| *s < side);
            let on_rim = all.get(first + 1) != Some(&side);
            side.iter().filter(|_| on_rim).for_each(|&v| sums.add(v, stiffness, area));
        }
    }
}

fn add_rods(model: &Model, sums: &mut Sums) {
    let segments = &model.codim.segments;
    let levers = &model.frames.lever;
    for ((ends, element), radius) in segments.vertices().iter().zip(&segments.elements).zip(levers)
    {
        let area = PI * radius * radius;
        let stiffness = element.force_per_strain() / area;
        ends.iter().for_each(|&v| sums.add(v, stiffness, area));
    }
}
