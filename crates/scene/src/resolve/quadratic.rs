//! Quadratic elements of an object: nodes in the middles of the edges of its tetrahedra, or in two dimensions of its triangles.

use super::at::At;
use super::material::Materials;
use super::placement::Placement;
use crate::bending::locking;
use crate::error::SceneError;
use crate::file::{ElementOrder, MaterialSection, ObjectSection, Role};
use standoff_geometry::quadratic;
use standoff_geometry::topology::{ascending, boundary_edges};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::{BodyDef, BodyKind, Dimension};
use std::collections::HashSet;

/// Gives an object that leaves the order of its elements open quadratic ones if linear ones are too stiff, with a note.
pub(super) fn choose_order(
    object: &mut ObjectSection,
    dimension: Dimension,
    mesh: &Mesh,
    materials: &Materials,
    placement: &Placement,
    notes: &mut Vec<String>,
) {
    let carries = object.fill.iter().any(|f| f.carry_surface || f.collides);
    let is_open = object.role == Some(Role::Volume) && object.element.is_none();
    let is_quadratic = !mesh.middles.is_empty() || !mesh.triangle_middles.is_empty();
    if !is_open || carries || is_quadratic {
        return;
    }
    // as if all of it were made of each of its materials
    let fault = |material: &MaterialSection| {
        let (density, solid) = (material.density, material.solid());
        let kind = match dimension.is_planar() {
            true => BodyKind::PlaneStrain {
                triangles: mesh.triangles.clone(),
                middles: Vec::new(),
                density,
                material: solid,
            },
            false => BodyKind::Volume {
                tets: mesh.tets.clone(),
                middles: Vec::new(),
                density,
                material: solid,
            },
        };
        locking(&BodyDef {
            rest: placement.apply(&mesh.points, &Vec3::zeros()),
            kind,
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
// long: three reasons to refuse it, then tetrahedra and triangles
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
    let is_quadratic = !mesh.middles.is_empty() || !mesh.triangle_middles.is_empty();
    if role != Role::Volume || !requested && !is_quadratic {
        return Ok(Vec::new());
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
    if is_quadratic {
        return Ok(Vec::new());
    }
    let first = mesh.points.len();
    let sides = match dimension.is_planar() {
        true => {
            quadratic::add_middles(&mesh.triangles, &mut mesh.triangle_middles, &mut mesh.points);
            // of what is not sound, there is none
            boundary_edges(&mesh.triangles).unwrap_or_default().iter().map(|e| e.to_vec()).collect()
        }
        false => {
            let boundary: Vec<Vec<u32>> = mesh.surface().iter().map(|f| f.to_vec()).collect();
            quadratic::add_middles(&mesh.tets, &mut mesh.middles, &mut mesh.points);
            boundary
        }
    };
    let mut added = vec![[0; 2]; mesh.points.len() - first];
    let of_tets = mesh.tets.iter().zip(&mesh.middles);
    let of_tets = of_tets.flat_map(|(t, m)| quadratic::edges(t).into_iter().zip(*m));
    let of_triangles = mesh.triangles.iter().zip(&mesh.triangle_middles);
    let of_triangles =
        of_triangles.flat_map(|(t, m)| quadratic::triangle_edges(t).into_iter().zip(*m));
    for (edge, middle) in of_tets.chain(of_triangles) {
        added[middle as usize - first] = edge;
    }
    add_to_regions(mesh, &sides, first as u32, &added);
    Ok(added)
}

/// Adds to each region the nodes, numbered from `first`, in the middles of the edges of its elements and of its faces, or edges of the outline, on the
/// `boundary`.
fn add_to_regions(mesh: &mut Mesh, boundary: &[Vec<u32>], first: u32, added: &[[u32; 2]]) {
    for region in &mut mesh.regions {
        let named: HashSet<u32> = region.vertices.iter().copied().collect();
        let inside = region.tets.iter().filter_map(|t| mesh.tets.get(*t as usize));
        let mut own: HashSet<[u32; 2]> = inside.flat_map(quadratic::edges).collect();
        if !mesh.triangle_middles.is_empty() {
            let inside = region.triangles.iter().filter_map(|t| mesh.triangles.get(*t as usize));
            own.extend(inside.flat_map(quadratic::triangle_edges));
        }
        for side in boundary.iter().filter(|f| f.iter().all(|v| named.contains(v))) {
            let next = side.iter().cycle().skip(1);
            own.extend(side.iter().zip(next).map(|(a, b)| ascending(*a, *b)));
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
