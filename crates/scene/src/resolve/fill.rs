//! Objects whose closed surface is filled with tetrahedra.

use super::at::At;
use super::placement::Placement;
use super::{Carried, FillReport};
use crate::error::{Problem, SceneError};
use crate::file::{FillSection, ObjectSection, Role};
use standoff_fill::{Embedding, FillError, Options};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::CarriedSurface;
use standoff_sim::definition::validate::positive;
use std::ops::Range;
use std::sync::Arc;

/// What filling left behind.
#[derive(Default)]
pub(super) struct Filled {
    /// Objects and what there is to say about them.
    pub reports: Vec<(String, FillReport)>,
    /// Surfaces that ride along.
    pub carried: Vec<Carried>,
}

/// A surface that rides along with the copies of an object.
pub(super) struct Surface {
    embedding: Arc<Embedding>,
    triangles: Arc<Vec<[u32; 3]>>,
    /// Whether it touches in place of the boundary of the tetrahedra.
    collides: bool,
}

impl Surface {
    /// The surface as a part of bodies, if it touches.
    pub fn touching(&self) -> Option<CarriedSurface> {
        self.collides.then(|| CarriedSurface {
            triangles: self.triangles.clone(),
            on: Arc::new(self.embedding.vertices.clone()),
            weights: Arc::new(self.embedding.weights.clone()),
        })
    }
}

impl Filled {
    /// Notes that bodies carry a surface that is no part of them.
    pub fn carry(&mut self, surface: Option<Surface>, bodies: Range<usize>) {
        let Some(Surface { embedding, triangles, collides: false }) = surface else { return };
        self.carried.extend(bodies.map(|body| Carried {
            body,
            embedding: embedding.clone(),
            triangles: triangles.clone(),
        }));
    }
}

/// Checks the numbers of a section; the deviation to keep to, m.
fn deviation(section: &FillSection, inside: &At<'_>) -> Result<f64, SceneError> {
    inside.check(positive("size", section.size, "the size of tetrahedra must be positive (m)"))?;
    let deviation = section.deviation.unwrap_or(section.size / 4.0);
    if deviation != f64::INFINITY {
        let must = "a deviation must be positive (m), or inf";
        inside.check(positive("deviation", deviation, must))?;
    }
    if section.collides && !section.carry_surface {
        let must = "the surface has to be carried to touch anything; add `carry_surface = true`";
        return Err(inside.key("collides").invalid(must));
    }
    Ok(deviation)
}

/// Puts tetrahedra in place of the mesh of an object that asks for it; the surface, if it rides along.
pub(super) fn fill(
    object: &mut ObjectSection,
    mesh: &mut Mesh,
    at: &At<'_>,
    filled: &mut Filled,
) -> Result<Option<Surface>, SceneError> {
    let Some(section) = object.fill else { return Ok(None) };
    let inside = at.key("fill");
    if object.role.is_some_and(|role| role != Role::Volume) || object.reduce.is_some() {
        return Err(inside.invalid("only a volume is filled with tetrahedra"));
    }
    let deviation = deviation(&section, &inside)?;
    // lengths are those of the scaled object, the mesh is that before scaling
    let scale = Placement::scale(object, at)?;
    let given = Mesh {
        points: mesh.points.iter().map(|p| p.component_mul(&scale)).collect(),
        ..mesh.clone()
    };
    let result = standoff_fill::fill(&given, Options { size: section.size, deviation });
    let result = result.map_err(|error| {
        let key = match &error {
            FillError::Size(_) | FillError::TooFine { .. } | FillError::TooCoarse { .. } => {
                inside.key("size")
            }
            FillError::Deviation(_) => inside.key("deviation"),
            FillError::Deviates { .. } | FillError::Angle { .. } => inside.clone(),
            _ => at.key(if object.mesh.is_some() { "mesh" } else { "shape" }),
        };
        key.error(Problem::Mesh(error.to_string()))
    })?;
    let back = |points: &[Vec3]| points.iter().map(|p| p.component_div(&scale)).collect();
    let surface = section.carry_surface.then(|| {
        let (tets, points) = (&result.mesh, &result.surface.points);
        let embedding = Embedding::new(&tets.points, &tets.tets, points);
        let triangles = result.surface.triangles.clone();
        let collides = section.collides;
        Surface { embedding: Arc::new(embedding), triangles: Arc::new(triangles), collides }
    });
    let notes = std::mem::take(&mut mesh.notes);
    *mesh = Mesh { points: back(&result.mesh.points), ..result.mesh };
    mesh.notes.splice(0..0, notes);
    mesh.notes.extend(result.report.notes());
    object.role = Some(Role::Volume);
    filled.reports.push((object.name.clone(), result.report));
    Ok(surface)
}
