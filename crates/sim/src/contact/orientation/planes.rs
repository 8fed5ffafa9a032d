//! Vertices against half-spaces. The plane is a face that is everywhere closest, so that only the
//! vertex has factors; its element stands for as much area as the vertex's.

use super::factors::{Element, OrientedMesh};
use super::kernel;
use super::pairs::Core;
use crate::contact::half_space::HalfSpace;
use rayon::prelude::*;
use standoff_linalg::Vec3;

/// A vertex within reach of a half-space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanePair {
    /// The vertex.
    pub vertex: u32,
    /// Index of the half-space.
    pub half_space: u32,
    /// The half-space itself.
    pub plane: HalfSpace,
    /// Square of the vertex's area, m⁴, times (ε/d̂)^r.
    pub weight: f64,
    /// Distance ε beyond the thickness up to which the pair acts, m.
    pub epsilon: f64,
    /// Thickness offset ξ, m.
    pub thickness: f64,
}

impl PlanePair {
    /// Gap beyond the thickness at positions `x` (`#V`), m.
    pub fn gap(&self, x: &[Vec3]) -> f64 {
        self.plane.signed_distance(&x[self.vertex as usize]) - self.thickness
    }

    /// Unit vector from the vertex to the half-space.
    pub fn direction(&self) -> Vec3 {
        -self.plane.normal
    }

    /// The closest points as those of a pair with one vertex.
    pub fn core(&self, x: &[Vec3]) -> Core {
        let p = x[self.vertex as usize];
        Core {
            vertices: [self.vertex, 0, 0, 0],
            x: [p, Vec3::zeros(), Vec3::zeros(), Vec3::zeros()],
            n: 1,
            direction: self.direction(),
            distance: self.plane.signed_distance(&p),
            weights: [-1.0, 0.0, 0.0, 0.0],
        }
    }
}

/// Mobile covered vertices on which half-spaces act, by vertex, then half-space; `reach` is ε of each vertex
/// (`#V`), which is `d_hat` at most.
pub(super) fn plane_pairs(
    scene: &OrientedMesh<'_>,
    reach: &[f64],
    d_hat: f64,
    half_spaces: &[HalfSpace],
) -> Vec<PlanePair> {
    let OrientedMesh { mesh, surface, parameters, x } = *scene;
    let acts = |v: u32| mesh.mobile[v as usize] && surface.covered[v as usize];
    let of = |&v: &u32| {
        let i = v as usize;
        let thickness = mesh.half_thickness.get(i).copied().unwrap_or(0.0);
        let epsilon = reach[i];
        let scale = (epsilon / d_hat).powi(parameters.exponent);
        let weight = surface.measures.vertex[i].powi(2) * scale;
        let pair = move |(k, plane): (usize, &HalfSpace)| PlanePair {
            vertex: v,
            half_space: k as u32,
            plane: *plane,
            weight,
            epsilon,
            thickness,
        };
        half_spaces
            .iter()
            .enumerate()
            .map(pair)
            .filter(move |p| {
                let gap = p.gap(x);
                gap < p.epsilon && scene.gamma(Element::Vertex(v), &p.direction()) != 0.0
            })
            .collect::<Vec<_>>()
    };
    let vertices = mesh.vertices.par_iter().with_min_len(4096).filter(|v| acts(**v));
    let found: Vec<Vec<PlanePair>> =
        if half_spaces.is_empty() { Vec::new() } else { vertices.map(of).collect() };
    found.concat()
}

/// The energy per κ.
pub(super) fn value(scene: &OrientedMesh<'_>, pair: &PlanePair) -> f64 {
    let gap = pair.gap(scene.x);
    let p = kernel::kernel(gap, pair.epsilon, scene.parameters.exponent)[0];
    if p == 0.0 || p.is_infinite() {
        return p;
    }
    p * pair.weight * scene.gamma(Element::Vertex(pair.vertex), &pair.direction())
}
