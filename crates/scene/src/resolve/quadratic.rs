//! Quadratic elements of an object: nodes in the middles of the edges of its tetrahedra.

use super::at::At;
use super::material::Materials;
use super::placement::Placement;
use crate::bending::locking;
use crate::error::SceneError;
use crate::file::{ElementOrder, MaterialSection, ObjectSection, Role};
use standoff_geometry::quadratic;
use standoff_geometry::topology::ascending;
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::{BodyDef, BodyKind, Dimension};
use std::collections::HashSet;

/// Gives an object that leaves the order of its elements open quadratic ones if linear ones are too stiff, with a note.
pub(super) fn choose_order(
    object: &mut ObjectSection,
    mesh: &Mesh,
    materials: &Materials,
    placement: &Placement,
    notes: &mut Vec<String>,
) {
    let carries = object.fill.iter().any(|f| f.carry_surface || f.collides);
    let is_open = object.role == Some(Role::Volume) && object.element.is_none();
    if !is_open || carries || !mesh.middles.is_empty() {
        return;
    }
    // as if all of it were made of each of its materials
    let fault = |material: &MaterialSection| {
        let (tets, middles, density) = (mesh.tets.clone(), Vec::new(), material.density);
        locking(&BodyDef {
            rest: placement.apply(&mesh.points, &Vec3::zeros()),
            kind: BodyKind::Volume { tets, middles, density, material: material.solid() },
            inelastic: material.inelastic(),
            ..BodyDef::default()
        })
    };
    if let Some(fault) = materials.all().find_map(fault) {
        object.element = Some(ElementOrder::Quadratic);
        let note = format!(
            "{}: {fault}: it gets quadratic ones; element = \"linear\" takes less time",
            object.name
        );
        notes.push(note);
    }
}

/// Adds the nodes to a mesh whose object asks for quadratic elements and that has none, and to the regions whose edges and faces they are on. The ends of
/// the edges of the new nodes, which come after the points of the mesh.
pub(super) fn add_middles(
    object: &ObjectSection,
    role: Role,
    dimension: Dimension,
    mesh: &mut Mesh,
    at: &At<'_>,
) -> Result<Vec<[u32; 2]>, SceneError> {
    if object.element.is_some() && role != Role::Volume {
        return Err(at.key("element").invalid("only volumes have elements of another order"));
    }
    let requested = object.element == Some(ElementOrder::Quadratic);
    if role != Role::Volume || !requested && mesh.middles.is_empty() {
        return Ok(Vec::new());
    }
    if dimension.is_planar() {
        let what = "quadratic elements are tetrahedra; solids in the plane have linear triangles";
        return Err(at.key("element").invalid(what));
    }
    let fill = object.fill.iter();
    for (key, given) in
        fill.flat_map(|f| [("carry_surface", f.carry_surface), ("collides", f.collides)])
    {
        if given {
            let what = "a surface is carried by linear elements only; leave it out, or `element`";
            return Err(at.key("fill").key(key).invalid(what));
        }
    }
    if !mesh.middles.is_empty() {
        return Ok(Vec::new());
    }
    let first = mesh.points.len();
    let boundary = mesh.surface();
    quadratic::add_middles(&mesh.tets, &mut mesh.middles, &mut mesh.points);
    let mut added = vec![[0; 2]; mesh.points.len() - first];
    for (tet, middles) in mesh.tets.iter().zip(&mesh.middles) {
        for (edge, middle) in quadratic::edges(tet).into_iter().zip(middles) {
            added[*middle as usize - first] = edge;
        }
    }
    add_to_regions(mesh, &boundary, first as u32, &added);
    Ok(added)
}

/// Adds to each region the nodes, numbered from `first`, in the middles of the edges of its tetrahedra and of its faces on the `boundary`.
fn add_to_regions(mesh: &mut Mesh, boundary: &[[u32; 3]], first: u32, added: &[[u32; 2]]) {
    for region in &mut mesh.regions {
        let named: HashSet<u32> = region.vertices.iter().copied().collect();
        let inside = region.tets.iter().filter_map(|t| mesh.tets.get(*t as usize));
        let mut own: HashSet<[u32; 2]> = inside.flat_map(quadratic::edges).collect();
        for &[a, b, c] in boundary.iter().filter(|f| f.iter().all(|v| named.contains(v))) {
            own.extend([ascending(a, b), ascending(b, c), ascending(c, a)]);
        }
        let nodes = (first..).zip(added);
        region.vertices.extend(nodes.filter(|(_, e)| own.contains(*e)).map(|(node, _)| node));
    }
}

/// Adds to positions of the points of a mesh those of the nodes that were added half-way along its edges.
pub(super) fn extend(points: &mut Vec<Vec3>, added: &[[u32; 2]]) {
    for [a, b] in added {
        points.push((points[*a as usize] + points[*b as usize]) * 0.5);
    }
}
