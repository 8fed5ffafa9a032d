//! Rigid bodies from closed surfaces.

use super::at::At;
use super::placed::Placed;
use crate::error::{Problem, SceneError};
use crate::file::{InertialSection, ObjectSection, Role};
use standoff_linalg::{Mat3, Vec3};
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
        return match &object.inertial {
            None => Ok(None),
            Some(_) => Err(at
                .key("inertial")
                .invalid("only a rigid body has given mass properties; use role = \"rigid\"")),
        };
    }
    material.check(validate::density(density))?;
    if object.self_contact == Some(true) {
        return Err(at.key("self_contact").invalid("a rigid body cannot touch itself"));
    }
    let mesh_at = at.key(if object.mesh.is_some() { "mesh" } else { "shape" });
    let triangles = &placed.mesh.triangles;
    if object.inertial.is_none() && !is_closed(triangles) {
        let what = "a rigid body is the inside of a closed surface, but this surface has open edges, or edges of more than two triangles; \
                    close it, give its `inertial`, or choose role = \"shell\"";
        return Err(mesh_at.invalid(what));
    }
    let points = placed.placement.apply(&placed.mesh.points, &Vec3::zeros());
    let masses = match &object.inertial {
        Some(section) => given(section, placed, &at.key("inertial"))?,
        None => MassProperties::of_surface(&points, triangles, density)
            .map_err(|what| mesh_at.error(Problem::Mesh(what)))?,
    };
    let body = BodyDef::rigid("", points, Arc::new(triangles.clone()), &masses);
    body.map(Some).map_err(|what| mesh_at.error(Problem::Mesh(what)))
}

/// Mass properties that the scene gives, where the object is placed.
fn given(
    section: &InertialSection,
    placed: &Placed,
    at: &At<'_>,
) -> Result<MassProperties, SceneError> {
    let [xx, yy, zz, rest @ ..] = section.inertia.as_slice() else {
        return Err(at.key("inertia").invalid(INERTIA));
    };
    let [xy, xz, yz] = match rest {
        [] => [0.0; 3],
        [xy, xz, yz] => [*xy, *xz, *yz],
        _ => return Err(at.key("inertia").invalid(INERTIA)),
    };
    let inertia = Mat3::new(*xx, xy, xz, xy, *yy, yz, xz, yz, *zz);
    let centre = Vec3::from(section.centre);
    let own = MassProperties::of_inertia(section.mass, centre, &inertia)
        .checked()
        .map_err(|what| at.invalid(what))?;
    let placement = &placed.placement;
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| placement.turn(&axis));
    let centre = placement.apply(&[centre], &Vec3::zeros())[0];
    Ok(own.mapped(&Mat3::from_columns(&axes), centre))
}

const INERTIA: &str = "three moments of inertia, or these and the products xy, xz and yz (kg m^2)";
