//! Sets of vertices: what the reference selects, and a region that selects the same.

use crate::meshes::Content;
use crate::plan::{PlannedBody, Region, bounds};
use standoff_linalg::Vec3;

/// Share of a body's diagonal within which vertices count as being on the boundary of a box.
const TOLERANCE: f64 = 1e-9;

/// Vertices for which `test` holds.
pub(crate) fn where_true(points: &[Vec3], test: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..points.len() as u32).filter(|&v| test(&points[v as usize])).collect()
}

/// Surface vertices of a shape in a box of fractions of its file's bounding box.
pub(crate) fn in_fractions(body: &PlannedBody, corners: &[Vec3; 2]) -> Vec<u32> {
    let points = &body.source.mesh.points;
    let (min, max) = box_of_fractions(points, corners);
    let mut surface = vec![body.source.content != Content::Volume; points.len()];
    if body.source.content == Content::Volume {
        for v in body.source.mesh.surface().iter().flatten() {
            surface[*v as usize] = true;
        }
    }
    let mut inside = where_true(points, |p| *p >= min && *p <= max);
    inside.retain(|v| surface[*v as usize]);
    inside
}

/// Corners in file coordinates, widened by the tolerance.
fn box_of_fractions(points: &[Vec3], corners: &[Vec3; 2]) -> (Vec3, Vec3) {
    let (lo, hi) = bounds(points);
    let slack = Vec3::repeat(TOLERANCE * (hi - lo).norm());
    let corner = |fraction: &Vec3| lo + fraction.component_mul(&(hi - lo));
    (corner(&corners[0]) - slack, corner(&corners[1]) + slack)
}

/// A region for what `in_fractions` selects: the box itself, unless it holds inner vertices.
pub(crate) fn fractions_region(
    body: &PlannedBody,
    corners: &[Vec3; 2],
    selected: &[u32],
) -> Region {
    let points = &body.source.mesh.points;
    if selected.len() == points.len() {
        return Region::All;
    }
    let (min, max) = box_of_fractions(points, corners);
    if where_true(points, |p| *p >= min && *p <= max) == selected {
        return Region::Fractions(*corners);
    }
    region(body, selected)
}

/// A region that selects exactly `selected` at the start: all, a box that ends half-way to the
/// vertices outside, or a list.
pub(crate) fn region(body: &PlannedBody, selected: &[u32]) -> Region {
    let points = &body.start;
    if selected.len() == points.len() {
        return Region::All;
    }
    let (lo, hi) = bounds(selected.iter().map(|v| &points[*v as usize]));
    let (outer_lo, outer_hi) = bounds(points);
    let slack = 2.0 * TOLERANCE * (outer_hi - outer_lo).norm();
    // one side of a plane across an axis
    for axis in 0..3 {
        let mut corners = [Vec3::repeat(f64::NEG_INFINITY), Vec3::repeat(f64::INFINITY)];
        let rest = || (0..points.len() as u32).filter(|v| selected.binary_search(v).is_err());
        let (others_lo, others_hi) = bounds(rest().map(|v| &points[v as usize]));
        if hi[axis] + slack < others_lo[axis] {
            corners[1][axis] = 0.5 * (hi[axis] + others_lo[axis]);
            return Region::Box(corners);
        }
        if lo[axis] - slack > others_hi[axis] {
            corners[0][axis] = 0.5 * (lo[axis] + others_hi[axis]);
            return Region::Box(corners);
        }
    }
    // the box around them, if nothing else is in or near it
    let (min, max) = (lo - Vec3::repeat(slack), hi + Vec3::repeat(slack));
    if where_true(points, |p| *p >= min && *p <= max) == selected {
        return Region::Box([lo - Vec3::repeat(0.5 * slack), hi + Vec3::repeat(0.5 * slack)]);
    }
    Region::List
}
