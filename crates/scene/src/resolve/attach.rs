//! Attachments between objects.

use super::at::{At, Places};
use super::placed::Placed;
use super::select::select;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{AnchorSection, AttachmentSection, ClosestChoice, Role, SceneFile, Selection};
use standoff_linalg::Vec3;
use standoff_sim::definition::validate::vector;
use standoff_sim::definition::{Anchor, AttachmentDef, Definition, SpringStiffness};

/// Adds every attachment, one for each copy of its object.
pub(super) fn resolve_all<'a>(
    file: &mut SceneFile,
    at: &At<'a>,
    all: &[Placed],
    definition: &mut Definition,
    places: &mut Places<'a>,
) -> Result<(), SceneError> {
    for (k, section) in file.attachments.iter_mut().enumerate() {
        if section.name.is_empty() {
            section.name = format!("attachment-{k}");
        }
    }
    for (k, section) in file.attachments.iter().enumerate() {
        let at = at.index(k);
        let stiffness = stiffness(section, &at)?;
        let object = find(&section.object, &at.key("object"), all)?;
        if file.objects[object].role == Some(Role::Obstacle) {
            let what = "the motion of an obstacle is prescribed; attach the deformable body to it instead, by `to`";
            return Err(at.key("object").invalid(what));
        }
        let sets = selected(&section.vertices, object, &at.key("vertices"), file, all)?;
        let anchor = match &section.to {
            None => Anchor::Start,
            Some(to) => anchor(to, &at.key("to"), file, all)?,
        };
        let place = at.key(if section.to.is_some() { "to" } else { "distance" });
        for (body, vertices) in sets {
            places.attachments.push(place.clone());
            places.entries.attachments.push(k);
            let attachment = AttachmentDef {
                name: section.name.clone(),
                body,
                vertices,
                anchor: anchor.clone(),
                distance: section.distance,
                stiffness,
                rest_length: section.rest_length,
                t0: section.start,
                t1: section.end,
            };
            at.check(attachment.validate_springs())?;
            definition.attachments.push(attachment);
        }
    }
    Ok(())
}

fn stiffness(section: &AttachmentSection, at: &At<'_>) -> Result<SpringStiffness, SceneError> {
    match (section.stiffness, section.stiffness_per_mass) {
        (Some(k), None) => Ok(SpringStiffness::PerSpring(k)),
        (None, Some(k)) => Ok(SpringStiffness::PerMass(k)),
        _ => Err(at.invalid("give either `stiffness` (N/m) or `stiffness_per_mass` (1/s^2)")),
    }
}

fn anchor(
    to: &AnchorSection,
    at: &At<'_>,
    file: &SceneFile,
    all: &[Placed],
) -> Result<Anchor, SceneError> {
    match (&to.object, to.point) {
        (None, Some(p)) if to.vertices.is_none() && to.closest.is_none() => {
            at.check(vector("point", &Vec3::from(p)))?;
            Ok(Anchor::Point(Vec3::from(p)))
        }
        (Some(name), None) => {
            let object = find(name, &at.key("object"), all)?;
            let selection = to.vertices.clone().unwrap_or_default();
            let sets = selected(&selection, object, &at.key("vertices"), file, all)?;
            Ok(match to.closest.unwrap_or_default() {
                ClosestChoice::Surface => Anchor::Surface(sets),
                ClosestChoice::Vertex => Anchor::Vertices(sets),
            })
        }
        _ => Err(at.invalid("give either `object` (with `vertices` and `closest`) or `point`")),
    }
}

/// Index of the object of a name.
pub(super) fn find(name: &str, at: &At<'_>, all: &[Placed]) -> Result<usize, SceneError> {
    let names = || all.iter().map(|p| p.name.as_str());
    names().position(|n| n == name).ok_or_else(|| {
        at.error(Problem::UnknownName {
            what: "object",
            name: name.to_owned(),
            nearest: nearest_name(name, names()),
            valid: names().map(str::to_owned).collect(),
        })
    })
}

/// Body and selected vertices of each copy of an object in which some are selected.
fn selected(
    selection: &Selection,
    object: usize,
    at: &At<'_>,
    file: &SceneFile,
    all: &[Placed],
) -> Result<Vec<(usize, Vec<u32>)>, SceneError> {
    let placed = &all[object];
    let sets = select(selection, &file.objects[object], at, placed)?;
    let bodies = placed.bodies.clone().zip(sets);
    Ok(bodies.filter(|(_, set)| !set.is_empty()).collect())
}
