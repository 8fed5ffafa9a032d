//! Quadratic elements of an object: nodes in the middles of the edges of its tetrahedra.

use super::at::At;
use crate::error::SceneError;
use crate::file::{ElementOrder, ObjectSection, Role};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::{Dimension, quadratic};
use standoff_sim::energy::quadratic_tet::EDGES;
use std::collections::HashSet;

/// The nodes that quadratic elements have in the middles of their edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Middles {
    /// The nodes of each tetrahedron (`#T×6`).
    pub of_tets: Vec<[u32; 6]>,
    /// The ends of the edge of each, in the order of the nodes, which come after the points of the mesh.
    pub edges: Vec<[u32; 2]>,
}

impl Middles {
    /// Positions of all points of a mesh from those of its corners.
    pub fn extend(&self, points: &mut Vec<Vec3>) {
        for [a, b] in &self.edges {
            points.push((points[*a as usize] + points[*b as usize]) * 0.5);
        }
    }
}

/// The nodes of a mesh that has some. Otherwise they are added to a mesh whose object asks for quadratic elements, and to the regions whose edges
/// and faces they are on.
pub(super) fn add_middles(
    object: &ObjectSection,
    role: Role,
    dimension: Dimension,
    mesh: &mut Mesh,
    at: &At<'_>,
) -> Result<Middles, SceneError> {
    if object.element.is_some() && role != Role::Volume {
        return Err(at.key("element").invalid("only volumes have elements of another order"));
    }
    let asked = object.element == Some(ElementOrder::Quadratic);
    if role != Role::Volume || !asked && mesh.middles.is_empty() {
        return Ok(Middles::default());
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
        return Ok(Middles { of_tets: mesh.middles.clone(), edges: Vec::new() });
    }
    let corners = mesh.points.len();
    let of_tets = quadratic::add_middles(&mesh.tets, &mut mesh.points);
    let mut edges = vec![[0; 2]; mesh.points.len() - corners];
    for (tet, middles) in mesh.tets.iter().zip(&of_tets) {
        for (edge, middle) in EDGES.iter().zip(middles) {
            edges[*middle as usize - corners] = edge.map(|a| tet[a]);
        }
    }
    add_to_regions(mesh, corners as u32, &edges);
    Ok(Middles { of_tets, edges })
}

/// Adds to each region the nodes, numbered from `first`, in the middles of the edges of its tetrahedra and faces.
fn add_to_regions(mesh: &mut Mesh, first: u32, edges: &[[u32; 2]]) {
    let faces = mesh.surface();
    for region in &mut mesh.regions {
        let named: HashSet<u32> = region.vertices.iter().copied().collect();
        let inside = region.tets.iter().filter_map(|t| mesh.tets.get(*t as usize));
        let mut own: HashSet<[u32; 2]> =
            inside.flat_map(|t| EDGES.map(|e| ascending(e.map(|a| t[a])))).collect();
        for [a, b, c] in faces.iter().filter(|f| f.iter().all(|v| named.contains(v))) {
            own.extend([[*a, *b], [*b, *c], [*c, *a]].map(ascending));
        }
        let nodes = (first..).zip(edges);
        let new = nodes.filter(|(_, e)| own.contains(&ascending(**e))).map(|(node, _)| node);
        region.vertices.extend(new);
    }
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
