//! Joints between rigid bodies.

use super::at::At;
use super::placed::Placed;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{JointSection, Role, SceneFile};
use standoff_linalg::Vec3;
use standoff_sim::definition::{Definition, JointDef};
use std::collections::HashSet;

/// Adds every joint.
pub(super) fn resolve_all(
    file: &mut SceneFile,
    at: &At<'_>,
    all: &[Placed],
    definition: &mut Definition,
) -> Result<(), SceneError> {
    for (k, section) in file.joints.iter_mut().enumerate() {
        at.index(k).key("name").require_name()?;
        if section.name.is_empty() {
            section.name = format!("joint-{k}");
        }
    }
    let mut taken = HashSet::new();
    for (k, section) in file.joints.iter().enumerate() {
        let at = at.index(k);
        if !taken.insert(&section.name) {
            let name = section.name.clone();
            return Err(at.key("name").error(Problem::Duplicate { what: "joint", name }));
        }
        definition.joints.push(resolve_one(section, file, &at, all)?);
    }
    Ok(())
}

fn resolve_one(
    section: &JointSection,
    file: &SceneFile,
    at: &At<'_>,
    all: &[Placed],
) -> Result<JointDef, SceneError> {
    let bodies = at.key("bodies");
    let find = |k: usize| body(&section.bodies[k], file, &bodies.index(k), all);
    let (parent, child) = match section.bodies.len() {
        1 => (None, find(0)?),
        2 => (Some(find(0)?), find(1)?),
        n => {
            let what = format!("{n} bodies; name two, or one for a joint with the world");
            return Err(bodies.invalid(what));
        }
    };
    if parent == Some(child) {
        return Err(bodies.invalid("a joint is between two bodies, or between the world and one"));
    }
    let kind = section.kind;
    let axis = match (kind.has_axis(), section.axis) {
        (true, Some(axis)) => Vec3::from(axis),
        (false, None) => Vec3::zeros(),
        (true, None) => {
            let what = format!("a {} joint needs an `axis`", kind.key());
            return Err(at.invalid(what));
        }
        (false, Some(_)) => {
            let what = format!("a {} joint has no axis; leave it out", kind.key());
            return Err(at.key("axis").invalid(what));
        }
    };
    let joint = JointDef {
        name: section.name.clone(),
        kind,
        parent,
        child,
        point: Vec3::from(section.point),
        axis,
        collide: section.collide,
    };
    at.check(joint.validate_place())?;
    Ok(joint)
}

/// Index of the body of a name: an object without copies, or one copy.
fn body(name: &str, file: &SceneFile, at: &At<'_>, all: &[Placed]) -> Result<usize, SceneError> {
    let copies = || {
        let of = |(k, p): (usize, &Placed)| {
            let names = p.copies.iter().map(|c| c.name.clone());
            names.zip(p.bodies.clone()).map(move |(name, b)| (k, name, b)).collect::<Vec<_>>()
        };
        all.iter().enumerate().flat_map(of)
    };
    let Some((object, _, body)) = copies().find(|(_, n, _)| n == name) else {
        if let Some(several) = all.iter().find(|p| p.name == name) {
            let first = several.copies.first().map_or("", |c| c.name.as_str());
            let what = format!(
                "'{name}' has {} copies; name one of them, such as '{first}'",
                several.copies.len()
            );
            return Err(at.invalid(what));
        }
        let names: Vec<String> = copies().map(|(_, name, _)| name).collect();
        return Err(at.error(Problem::UnknownName {
            what: "body",
            name: name.to_owned(),
            nearest: nearest_name(name, names.iter().map(String::as_str)),
            valid: names,
        }));
    };
    if file.objects[object].role != Some(Role::Rigid) {
        let what = format!(
            "'{name}' is not rigid: a joint is between two rigid bodies, or the world and one; give it role = \"rigid\""
        );
        return Err(at.invalid(what));
    }
    Ok(body)
}
