//! Joints between rigid bodies, and regions of soft ones.

use super::at::At;
use super::conditions::expression;
use super::placed::Placed;
use super::select::select;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{DriveSection, Formula, JointSection, JointSpringSection, Role, SceneFile};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    Definition, DriveDef, JointDef, JointKind, JointSpring, MimicDef, TendonDef,
};
use std::collections::{HashMap, HashSet};

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
    let copies = Copies::new(all);
    for (k, section) in file.joints.iter().enumerate() {
        let at = at.index(k);
        if !taken.insert(&section.name) {
            let name = section.name.clone();
            return Err(at.key("name").error(Problem::Duplicate { what: "joint", name }));
        }
        definition.joints.push(resolve_one(section, file, &at, &copies)?);
    }
    Ok(())
}

/// Adds every tendon.
pub(super) fn resolve_tendons(
    file: &mut SceneFile,
    at: &At<'_>,
    definition: &mut Definition,
) -> Result<(), SceneError> {
    for (k, section) in file.tendons.iter_mut().enumerate() {
        at.index(k).key("name").require_name()?;
        if section.name.is_empty() {
            section.name = format!("tendon-{k}");
        }
    }
    let mut taken: HashSet<&str> = file.joints.iter().map(|j| j.name.as_str()).collect();
    for (k, section) in file.tendons.iter().enumerate() {
        let at = at.index(k);
        if !taken.insert(&section.name) {
            let name = section.name.clone();
            return Err(at.key("name").error(Problem::Duplicate { what: "joint or tendon", name }));
        }
        let mut joints = Vec::with_capacity(section.joints.len());
        for (name, factor) in &section.joints {
            joints.push((with_coordinate(name, file, &at.key("joints").key(name))?, *factor));
        }
        let tendon = TendonDef {
            name: section.name.clone(),
            joints,
            limits: section.limits,
            damping: section.damping,
            friction: section.friction,
            spring: section.spring.as_ref().map(resolve_spring),
            drive: section
                .drive
                .as_ref()
                .map(|d| resolve_drive(d, &at.key("drive")))
                .transpose()?,
        };
        at.check(tendon.validate(&definition.joints))?;
        definition.tendons.push(tendon);
    }
    Ok(())
}

fn resolve_spring(section: &JointSpringSection) -> JointSpring {
    JointSpring { stiffness: section.stiffness, rest: section.rest }
}

// long: each key is checked with the kind of the joint
fn resolve_one(
    section: &JointSection,
    file: &SceneFile,
    at: &At<'_>,
    copies: &Copies<'_>,
) -> Result<JointDef, SceneError> {
    let bodies = at.key("bodies");
    let find = |k: usize| body(&section.bodies[k], section, file, at, &bodies.index(k), copies);
    let ((parent, on_parent), (child, on_child)) = match section.bodies.len() {
        1 => ((None, Vec::new()), find(0)?),
        2 => {
            let (parent, region) = find(0)?;
            ((Some(parent), region), find(1)?)
        }
        n => {
            let what = format!("{n} bodies; name two, or one for a joint with the world");
            return Err(bodies.invalid(what));
        }
    };
    if parent == Some(child) {
        return Err(bodies.invalid("a joint is between two bodies, or between the world and one"));
    }
    if let Some(name) = section.vertices.keys().find(|name| !section.bodies.contains(*name)) {
        let what = format!("the joint does not hold '{name}'; its bodies are {:?}", section.bodies);
        return Err(at.key("vertices").key(name).invalid(what));
    }
    let kind = section.kind;
    let vector = |key: &'static str, wanted: bool, given: Option<[f64; 3]>| match (wanted, given) {
        (true, Some(v)) => Ok(Vec3::from(v)),
        (false, None) => Ok(Vec3::zeros()),
        (true, None) => Err(at.invalid(format!("a {} joint needs `{key}`", kind.key()))),
        (false, Some(_)) => {
            let what =
                format!("a {} joint has no {}; leave it out", kind.key(), key.replace('_', " "));
            Err(at.key(key).invalid(what))
        }
    };
    let axis = vector("axis", kind.has_axis(), section.axis)?;
    let second_axis = vector("second_axis", kind == JointKind::Universal, section.second_axis)?;
    let second_point = vector("second_point", kind == JointKind::Distance, section.second_point)?;
    let drive = section.drive.as_ref().map(|d| resolve_drive(d, &at.key("drive"))).transpose()?;
    let mimic = section.mimic.as_ref().map(|m| {
        let joint = other_joint(&m.joint, section, file, &at.key("mimic").key("joint"))?;
        Ok(MimicDef { joint, ratio: m.ratio, offset: m.offset })
    });
    let point = Vec3::from(section.point);
    let joint = JointDef {
        regions: [on_parent, on_child],
        second_axis,
        second_point,
        collide: section.collide,
        start: section.start,
        limits: section.limits,
        damping: section.damping,
        friction: section.friction,
        armature: section.armature,
        spring: section.spring.as_ref().map(resolve_spring),
        drive,
        mimic: mimic.transpose()?,
        breaking_force: section.breaking_force.unwrap_or(f64::INFINITY),
        breaking_moment: section.breaking_moment.unwrap_or(f64::INFINITY),
        ..JointDef::new(&section.name, kind, parent, child, point, axis)
    };
    at.check(joint.validate_alone())?;
    Ok(joint)
}

fn resolve_drive(section: &DriveSection, at: &At<'_>) -> Result<DriveDef, SceneError> {
    let formula = |key: &'static str, given: &Option<Formula>| {
        given.as_ref().map(|f| expression(f, &at.key(key))).transpose()
    };
    Ok(DriveDef {
        position: formula("position", &section.position)?,
        velocity: formula("velocity", &section.velocity)?,
        effort: formula("effort", &section.effort)?,
        stiffness: section.stiffness,
        damping: section.damping,
        max_effort: section.max_effort.unwrap_or(f64::INFINITY),
    })
}

/// Index of the joint of a name that `of` follows.
fn other_joint(
    name: &str,
    of: &JointSection,
    file: &SceneFile,
    at: &At<'_>,
) -> Result<usize, SceneError> {
    if name == of.name {
        return Err(at.invalid("a joint cannot follow itself; name another one"));
    }
    with_coordinate(name, file, at)
}

/// Index of the joint of a name, which has one coordinate.
fn with_coordinate(name: &str, file: &SceneFile, at: &At<'_>) -> Result<usize, SceneError> {
    let names = || file.joints.iter().map(|j| j.name.as_str());
    let Some(joint) = names().position(|n| n == name) else {
        return Err(at.error(Problem::UnknownName {
            what: "joint",
            name: name.to_owned(),
            nearest: nearest_name(name, names()),
            valid: names().map(str::to_owned).collect(),
        }));
    };
    let other = &file.joints[joint];
    let has_coordinate = match other.kind {
        JointKind::Revolute | JointKind::Prismatic => true,
        kind => kind == JointKind::Distance && other.limits.is_some(),
    };
    if !has_coordinate {
        let what = format!(
            "'{name}' is a {} joint, which has no single coordinate: name a revolute or a prismatic joint",
            other.kind.key()
        );
        return Err(at.invalid(what));
    }
    Ok(joint)
}

/// The copies of all objects by name.
struct Copies<'a> {
    all: &'a [Placed],
    /// Object and body of each name.
    index: HashMap<&'a str, (usize, usize)>,
}

impl<'a> Copies<'a> {
    fn new(all: &'a [Placed]) -> Self {
        let mut index = HashMap::new();
        for (k, placed) in all.iter().enumerate() {
            for (copy, body) in placed.copies.iter().zip(placed.bodies.clone()) {
                // of equal names the first
                index.entry(copy.name.as_str()).or_insert((k, body));
            }
        }
        Self { all, index }
    }
}

/// Index of the body of a name, an object without copies or one copy, with the vertices at which a joint holds it where it is not rigid.
// long: what may be named, and what may be wrong with it
fn body(
    name: &str,
    section: &JointSection,
    file: &SceneFile,
    joint: &At<'_>,
    at: &At<'_>,
    copies: &Copies<'_>,
) -> Result<(usize, Vec<u32>), SceneError> {
    let all = copies.all;
    let Some(&(object, index)) = copies.index.get(name) else {
        if let Some(several) = all.iter().find(|p| p.name == name) {
            let first = several.copies.first().map_or("", |c| c.name.as_str());
            let what = format!(
                "'{name}' has {} copies; name one of them, such as '{first}'",
                several.copies.len()
            );
            return Err(at.invalid(what));
        }
        let names = all.iter().flat_map(|p| p.copies.iter().map(|c| c.name.clone()));
        let names: Vec<String> = names.collect();
        return Err(at.error(Problem::UnknownName {
            what: "body",
            name: name.to_owned(),
            nearest: nearest_name(name, names.iter().map(String::as_str)),
            valid: names,
        }));
    };
    let selection = section.vertices.get(name);
    let place = joint.key("vertices").key(name);
    match (file.objects[object].role, selection) {
        (Some(Role::Rigid), None) => Ok((index, Vec::new())),
        (Some(Role::Rigid), Some(_)) => Err(place
            .invalid(format!("'{name}' is rigid: a joint holds it as a whole; leave this out"))),
        (Some(Role::Obstacle), _) => {
            let what = format!(
                "'{name}' is an obstacle, whose motion is prescribed; a joint is between two rigid bodies, or the world and one, or holds a soft \
                 body at vertices"
            );
            Err(at.invalid(what))
        }
        (_, None) => {
            let what = format!(
                "'{name}' is not rigid, so that a joint holds it at some of its vertices: give them, vertices = {{ {name:?} = … }}, or give it \
                 role = \"rigid\""
            );
            Err(at.invalid(what))
        }
        (_, Some(selection)) => {
            let sets = select(selection, &file.objects[object], &place, &all[object])?;
            let own = sets.into_iter().nth(index - all[object].bodies.start).unwrap_or_default();
            if own.is_empty() {
                return Err(place.invalid(format!("it selects no vertex of '{name}'")));
            }
            Ok((index, own))
        }
    }
}
