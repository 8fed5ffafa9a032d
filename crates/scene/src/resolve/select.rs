//! Sets of vertices of an object.

use super::at::At;
use super::placed::Placed;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{ObjectSection, RegionSection, Selection};
use standoff_linalg::Vec3;
use standoff_mesh::Region;
use standoff_sim::definition::validate::positive;
use std::collections::HashSet;

/// A selection counts vertices on its boundary, up to this share of the object's diagonal.
const TOLERANCE: f64 = 1e-9;

/// One set of vertices per copy of the object; at least one of them is not empty.
pub(super) type Sets = Vec<Vec<u32>>;

/// Vertices that a selection selects, for each copy.
// long: two cases, and the message for a set that is empty
pub(super) fn select(
    selection: &Selection,
    object: &ObjectSection,
    at: &At<'_>,
    placed: &Placed,
) -> Result<Sets, SceneError> {
    let sets = match selection {
        Selection::Region(region) => in_region(region, at, placed, None)?,
        Selection::Name(name) => match named(name, object, placed) {
            Some(Selected::OfObject(region)) => in_region(region, at, placed, None)?,
            Some(Selected::OfMesh(region)) => vec![region.vertices.clone(); placed.copies.len()],
            None if name == "all" => {
                let all: Vec<u32> = (0..placed.mesh.points.len() as u32).collect();
                vec![all; placed.copies.len()]
            }
            None => return Err(unknown_region(name, object, placed, &["all"], at)),
        },
    };
    if sets.iter().all(Vec::is_empty) {
        let relative = match selection {
            Selection::Region(r) => r.in_box.as_ref().is_some_and(|b| b.relative),
            Selection::Name(_) => false,
        };
        let (min, max) = if relative {
            bounds(&placed.mesh.points)
        } else {
            let corners: Vec<Vec3> = placed.copies.iter().flat_map(|c| c.points.clone()).collect();
            bounds(&corners)
        };
        return Err(at.error(Problem::EmptySelection {
            object: placed.name.clone(),
            min: triple(&min),
            max: triple(&max),
            hint: match relative {
                true => " before placement; relative corners are fractions, 0 to 1",
                false => "; `relative = true` makes the corners of a box fractions of that",
            },
        }));
    }
    Ok(sets)
}

/// What the name of a region stands for.
pub(super) enum Selected<'a> {
    /// A region of the object.
    OfObject(&'a RegionSection),
    /// One that the mesh file names.
    OfMesh(&'a Region),
}

/// The region of a name, if there is one; regions of the object come before those of its mesh.
pub(super) fn named<'a>(
    name: &str,
    object: &'a ObjectSection,
    placed: &'a Placed,
) -> Option<Selected<'a>> {
    let own = object.regions.get(name).map(Selected::OfObject);
    own.or_else(|| placed.mesh.region(name).map(Selected::OfMesh))
}

/// The error about a name that no region has, and that is none of `others`.
pub(super) fn unknown_region(
    name: &str,
    object: &ObjectSection,
    placed: &Placed,
    others: &[&str],
    at: &At<'_>,
) -> SceneError {
    let own = object.regions.keys().cloned();
    let of_mesh = placed.mesh.regions.iter().map(|r| r.name.clone());
    let valid: Vec<String> =
        own.chain(of_mesh).chain(others.iter().map(|n| (*n).to_owned())).collect();
    at.error(Problem::UnknownName {
        what: "region",
        name: name.to_owned(),
        nearest: nearest_name(name, valid.iter().map(String::as_str)),
        valid,
    })
}

fn triple(p: &Vec3) -> String {
    format!("({:.6}, {:.6}, {:.6})", p.x, p.y, p.z)
}

/// Corners of the bounding box of some points.
pub(super) fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let first = points.first().copied().unwrap_or_default();
    points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p)))
}

/// For each copy which of its vertices are in a region, or which of the points that `of` makes of them.
// long: an arm for each kind of region
pub(super) fn in_region(
    region: &RegionSection,
    at: &At<'_>,
    placed: &Placed,
    of: Option<&dyn Fn(&[Vec3]) -> Vec<Vec3>>,
) -> Result<Sets, SceneError> {
    let keep = |vertices: &[Vec3], inside: &dyn Fn(&Vec3) -> bool| -> Vec<u32> {
        let made = of.map(|of| of(vertices));
        let points = made.as_deref().unwrap_or(vertices);
        (0..points.len() as u32).filter(|v| inside(&points[*v as usize])).collect()
    };
    match (&region.in_box, &region.in_sphere, &region.listed) {
        (Some(b), None, None) => {
            let (min, max) = (Vec3::from(b.min), Vec3::from(b.max));
            if (0..3).any(|k| min[k] > max[k]) {
                let what = "a corner of `min` is greater than that of `max`";
                return Err(at.key("box").invalid(what));
            }
            let in_box = |points: &[Vec3], min: Vec3, max: Vec3| {
                let (lo, hi) = bounds(points);
                let slack = Vec3::repeat(TOLERANCE * (hi - lo).norm());
                let (min, max) = (min - slack, max + slack);
                keep(points, &|p| (0..3).all(|k| p[k] >= min[k] && p[k] <= max[k]))
            };
            if b.relative {
                let (lo, hi) = bounds(&placed.mesh.points);
                let corner = |fraction: Vec3| {
                    // a flat mesh has no extent to take an infinite fraction of
                    Vec3::from_fn(|k, _| {
                        if fraction[k].is_infinite() {
                            fraction[k]
                        } else {
                            lo[k] + fraction[k] * (hi[k] - lo[k])
                        }
                    })
                };
                let set = in_box(&placed.mesh.points, corner(min), corner(max));
                return Ok(vec![set; placed.copies.len()]);
            }
            Ok(placed.copies.iter().map(|c| in_box(&c.points, min, max)).collect())
        }
        (None, Some(s), None) => {
            let at = at.key("sphere");
            at.check(positive("radius", s.radius, "a radius must be positive (m)"))?;
            let centre = Vec3::from(s.centre);
            let in_sphere = |points: &[Vec3]| {
                let (lo, hi) = bounds(points);
                let radius = s.radius + TOLERANCE * (hi - lo).norm();
                keep(points, &|p| (p - centre).norm() <= radius)
            };
            Ok(placed.copies.iter().map(|c| in_sphere(&c.points)).collect())
        }
        (None, None, Some(listed)) => {
            let mut set = Vec::with_capacity(listed.len());
            for v in listed {
                let Some(vertex) = placed.vertex(*v) else {
                    let count = placed.number_count();
                    let what =
                        format!("vertex {v} of '{}', which has {count} vertices", placed.name);
                    return Err(at.key("vertices").invalid(what));
                };
                set.push(vertex);
            }
            // nodes that were added half-way along edges have no numbers: those between two of the vertices belong to them
            let first = placed.mesh.points.len() - placed.added.len();
            let listed: HashSet<u32> = set.iter().copied().collect();
            let between = (first as u32..).zip(&placed.added);
            set.extend(between.filter(|(_, e)| e.iter().all(|v| listed.contains(v))).map(|b| b.0));
            set.sort_unstable();
            set.dedup();
            Ok(vec![set; placed.copies.len()])
        }
        _ => Err(at.invalid("a region is one of `box`, `sphere` and `vertices`")),
    }
}
