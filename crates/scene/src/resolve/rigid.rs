//! Rigid bodies from closed surfaces.

use super::at::At;
use super::placed::Placed;
use crate::error::{Problem, SceneError};
use crate::file::{ObjectSection, Role};
use standoff_linalg::Vec3;
use standoff_mesh::is_closed;
use standoff_sim::definition::validate;
use standoff_sim::definition::{BodyDef, MassProperties};
use std::sync::Arc;

/// The body of an object that is rigid, without the offset of a copy; none where it is something else.
pub(super) fn template(
    object: &ObjectSection,
    placed: &Placed,
    density: f64,
    at: &At<'_>,
    material: &At<'_>,
) -> Result<Option<BodyDef>, SceneError> {
    if object.role != Some(Role::Rigid) {
        return Ok(None);
    }
    material.check(validate::density(density))?;
    if object.self_contact == Some(true) {
        return Err(at.key("self_contact").invalid("a rigid body cannot touch itself"));
    }
    let mesh_at = at.key(if object.mesh.is_some() { "mesh" } else { "shape" });
    let triangles = &placed.mesh.triangles;
    if !is_closed(triangles) {
        let what = "a rigid body is the inside of a closed surface, but this surface has open edges, or edges of more than two triangles; \
                    close it, or choose role = \"shell\"";
        return Err(mesh_at.invalid(what));
    }
    let points = placed.placement.apply(&placed.mesh.points, &Vec3::zeros());
    let body = MassProperties::of_surface(&points, triangles, density)
        .and_then(|masses| BodyDef::rigid("", points, Arc::new(triangles.clone()), &masses));
    body.map(Some).map_err(|what| mesh_at.error(Problem::Mesh(what)))
}
