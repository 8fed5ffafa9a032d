//! Points of a mesh at the same place, which become one vertex.

use super::at::At;
use super::placed::Kept;
use super::placement::Placement;
use crate::error::SceneError;
use crate::file::{ObjectSection, Weld};
use standoff_linalg::Vec3;
use standoff_mesh::format::Format;
use standoff_mesh::{Mesh, first_within};
use standoff_sim::definition::Dimension;
use standoff_sim::definition::validate::number;
use std::path::Path;

/// Distance of points that are one, as a share of the diagonal of the bounding box: far more than rounding, far
/// less than any detail.
pub(super) const SAME_PLACE: f64 = 1e-9;

/// What joining did.
pub(super) struct Welded {
    /// For every point of the file, the one that stands for it.
    first: Vec<u32>,
    /// Point of the file for each that is left.
    old: Vec<u32>,
    /// Whether an element of the file has the point.
    used: Vec<bool>,
}

/// Joins points as the object says, which says it in full afterwards. `from_file` is whether the mesh was read
/// from a file.
pub(super) fn weld(
    object: &mut ObjectSection,
    mesh: &mut Mesh,
    from_file: bool,
    dimension: Dimension,
    at: &At<'_>,
) -> Result<Option<Welded>, SceneError> {
    if object.mesh.is_none() {
        return match object.weld {
            None => Ok(None),
            Some(_) => Err(at.key("weld").invalid("only the points of a `mesh` are joined")),
        };
    }
    let surface = mesh.dimension() == Some(2) && !dimension.is_planar();
    let choice = *object.weld.get_or_insert(Weld::Choice(from_file && surface));
    let scale = Placement::scale(object, at)?;
    let points: Vec<Vec3> = mesh.points.iter().map(|p| p.component_mul(&scale)).collect();
    let tolerance = match choice {
        Weld::Choice(false) => return Ok(None),
        Weld::Choice(true) => SAME_PLACE * diagonal(&points),
        Weld::Within(length) => {
            let must = "a length must be 0 or more (m)";
            at.check(number("weld", length, |l| (0.0..1e30).contains(&l), must))?;
            length
        }
    };
    let labels = part_labels(object, mesh);
    let first = first_within(&points, tolerance, labels.as_deref());
    let joined = first.iter().enumerate().filter(|(v, first)| *v as u32 != **first).count();
    if joined == 0 {
        return Ok(None);
    }
    let mut used = vec![false; points.len()];
    let elements = (mesh.tets.iter().flatten()).chain(mesh.triangles.iter().flatten());
    for v in elements.chain(mesh.edges.iter().flatten()).chain(&mesh.vertices) {
        used[*v as usize] = true;
    }
    let old = mesh.join(&first);
    let collapsed = mesh.drop_collapsed();
    let gone = match collapsed {
        0 => String::new(),
        n => format!("; {n} elements that lost their extent are left out"),
    };
    mesh.notes.push(format!(
        "{joined} of {} points lie within {tolerance:.1e} m of another and were joined with it \
         (`weld = false` keeps them apart){gone}",
        points.len()
    ));
    Ok(Some(Welded { first, old, used }))
}

/// The diagonal of the bounding box of points, m.
pub(super) fn diagonal(points: &[Vec3]) -> f64 {
    let (low, high) = super::select::bounds(points);
    (high - low).norm()
}

/// The part that every point belongs to, in formats that have several.
fn part_labels(object: &ObjectSection, mesh: &Mesh) -> Option<Vec<u32>> {
    let file = object.mesh.as_ref()?;
    Format::of_extension(Path::new(file)).filter(|f| f.has_parts())?;
    let mut labels = vec![u32::MAX; mesh.points.len()];
    for (k, region) in mesh.regions.iter().enumerate() {
        region.vertices.iter().for_each(|v| labels[*v as usize] = k as u32);
    }
    Some(labels)
}

impl Welded {
    /// What is left of the points of the file, from what is left of the joined ones.
    pub fn kept(&self, kept: Option<&Kept>) -> Kept {
        let old = match kept {
            None => self.old.clone(),
            Some(kept) => kept.old.iter().map(|v| self.old[*v as usize]).collect(),
        };
        Kept { old, total: self.first.len() }
    }

    /// The vertex that each number of the file means: numbers count the points that elements have, before points
    /// were joined. `old` is the point of the file of each vertex, ascending.
    pub fn numbers(&self, old: &[u32]) -> Vec<u32> {
        let vertex = |v: u32| old.binary_search(&self.first[v as usize]).ok();
        let points = 0..self.first.len() as u32;
        let used = points.filter(|v| self.used[*v as usize]);
        used.filter_map(vertex).map(|v| v as u32).collect()
    }
}
