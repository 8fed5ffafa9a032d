//! Objects of scenes of two dimensions: solids of triangles, obstacles of edges and points.

use super::at::At;
use super::weld::{SAME_PLACE, diagonal};
use crate::error::{Problem, SceneError};
use crate::file::{ElementOrder, ObjectSection, Reduce, Role, Rotation};
use standoff_geometry::topology::boundary_edges;
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::validate::in_plane;
use standoff_sim::definition::{BodyDef, BodyKind};

/// Refuses what has no form in the plane and makes all triangles counter-clockwise.
// long: a check for each key that has no meaning in the plane
pub(super) fn prepare(
    object: &ObjectSection,
    mesh: &mut Mesh,
    at: &At<'_>,
) -> Result<(), SceneError> {
    let source = at.key(if object.mesh.is_some() { "mesh" } else { "shape" });
    if object.fill.is_some() {
        let what = "a scene of two dimensions has no surfaces to fill; leave `fill` out and give the \
                    solid's triangles";
        return Err(at.key("fill").invalid(what));
    }
    let absent = match object.role {
        None | Some(Role::Volume | Role::Obstacle) => None,
        Some(Role::Rigid) => Some("rigid bodies"),
        Some(Role::Shell) => Some("shells"),
        Some(Role::Rod) => Some("rods"),
        Some(Role::Particles) => Some("particles"),
    };
    if let Some(absent) = absent {
        let what = format!(
            "there are no {absent} in two dimensions, only volumes and obstacles; choose one of them or \
             `dimension = 3`"
        );
        return Err(at.key("role").invalid(what));
    }
    if !mesh.tets.is_empty() {
        let what = "it has tetrahedra, but the scene has two dimensions; give triangles in the plane z = 0";
        return Err(source.error(Problem::Mesh(what.into())));
    }
    // rounding does not lead out of the plane
    let flat = SAME_PLACE * diagonal(&mesh.points);
    mesh.points.iter_mut().filter(|p| p.z.abs() <= flat).for_each(|p| p.z = 0.0);
    if let Some(v) = mesh.points.iter().position(|p| p.z != 0.0) {
        let what = format!(
            "vertex {v} has z = {}, but a scene of two dimensions lies in the plane z = 0",
            mesh.points[v].z
        );
        return Err(source.error(Problem::Mesh(what)));
    }
    for (key, turn) in [("rotate", object.rotate), ("start", object.start.and_then(|s| s.rotate))] {
        let tilts = match turn {
            None => false,
            Some(Rotation::Euler([x, y, _])) => x != 0.0 || y != 0.0,
            Some(Rotation::AxisAngle(turn)) => turn.axis[0] != 0.0 || turn.axis[1] != 0.0,
        };
        if tilts {
            let what = "in two dimensions an object turns about z only; give one angle";
            return Err(at.key(key).invalid(what));
        }
    }
    at.check(in_plane("translate", &Vec3::from(object.translate)))?;
    at.check(in_plane("velocity", &Vec3::from(object.velocity)))?;
    if object.angular_velocity[0] != 0.0 || object.angular_velocity[1] != 0.0 {
        let what = "in two dimensions an object turns about z only; give one number";
        return Err(at.key("angular_velocity").invalid(what));
    }
    if let Some(array) = &object.array
        && array.counts[2] != 1
    {
        let what = "in two dimensions copies lie along x and y only; give two counts";
        return Err(at.key("array").key("counts").invalid(what));
    }
    let is_solid = object.role.unwrap_or_else(|| role(object, mesh)) == Role::Volume;
    if is_solid && object.element != Some(ElementOrder::Linear) {
        mesh.join_divided();
    }
    let x = &mesh.points;
    let clockwise = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x.get(v as usize).copied().unwrap_or_default());
        (b - a).cross(&(c - a)).z < 0.0
    };
    let turned: Vec<usize> =
        (0..mesh.triangles.len()).filter(|t| clockwise(&mesh.triangles[*t])).collect();
    for t in turned {
        mesh.triangles[t].swap(1, 2);
        if let Some(middles) = mesh.triangle_middles.get_mut(t) {
            middles.swap(0, 2);
        }
    }
    Ok(())
}

/// What an object is that does not say it.
pub(super) fn role(object: &ObjectSection, mesh: &Mesh) -> Role {
    match object.reduce.is_some() || mesh.triangles.is_empty() {
        true => Role::Obstacle,
        false => Role::Volume,
    }
}

/// The elements of a mesh that a body of this role consists of.
pub(super) fn parts_of(
    mut mesh: Mesh,
    role: Role,
    reduce: Option<Reduce>,
    at: &At<'_>,
) -> Result<Mesh, SceneError> {
    match (role, reduce) {
        (Role::Obstacle, Some(Reduce::Edges)) => mesh = mesh.to_wires(),
        (Role::Obstacle, Some(Reduce::Points)) => mesh = mesh.to_points(),
        (Role::Obstacle, None | Some(Reduce::Surface)) => {
            let outline = boundary_edges(&mesh.triangles);
            mesh.edges
                .extend(outline.map_err(|e| at.key("as").error(Problem::Mesh(e.to_string())))?);
            mesh.triangles.clear();
        }
        (_, Some(_)) => return Err(at.key("as").invalid("only an obstacle can be reduced")),
        (_, None) if mesh.triangles.is_empty() => {
            let what = "a volume of two dimensions needs triangles, but the mesh has none";
            return Err(at.key("role").invalid(what));
        }
        (_, None) => {
            mesh.edges.clear();
            mesh.vertices.clear();
        }
    }
    Ok(mesh)
}

/// Puts what rounding has left beside the axis of revolution on it, and refuses what is behind it.
pub(super) fn put_on_axis(body: &mut BodyDef, at: &At<'_>) -> Result<(), SceneError> {
    let near = SAME_PLACE * diagonal(&body.rest);
    for points in [&mut body.rest, &mut body.start] {
        points.iter_mut().filter(|p| p.x.abs() <= near).for_each(|p| p.x = 0.0);
        if let Some(v) = points.iter().position(|p| p.x < 0.0) {
            let what = format!(
                "vertex {v} is placed at x = {}, but x is the radius in a scene of bodies of revolution; give the part with x ≥ 0",
                points[v].x
            );
            return Err(at.invalid(what));
        }
    }
    Ok(())
}

/// Checks a body where it is placed. Its triangles cannot lie on each other.
pub(super) fn check_placed(body: &BodyDef, at: &At<'_>) -> Result<(), SceneError> {
    if let BodyKind::PlaneStrain { triangles, .. } = &body.kind
        && let Err(error) = boundary_edges(triangles)
    {
        return Err(at.error(Problem::Mesh(error.to_string())));
    }
    match body.rest.iter().chain(&body.start).find(|p| p.z != 0.0) {
        None => Ok(()),
        Some(p) => {
            let what = format!("it is placed at z = {}, but the scene has two dimensions", p.z);
            Err(at.invalid(what))
        }
    }
}
