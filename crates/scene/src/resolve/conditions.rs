//! What is prescribed on sets of an object's vertices, or applied to them.

use super::at::{At, Places};
use super::origin::{Entries, List};
use super::placed::{Bodies, Placed};
use super::select::{Sets, select};
use super::sequence;
use crate::error::SceneError;
use crate::file::{
    Along, ForceSection, Formula, MotionSection, ObjectSection, PivotCentre, PivotChoice, Role,
    Selection, UntilSection,
};
use standoff_linalg::Vec3;
use standoff_sim::definition::validate::{Fault, direction, vector};
use standoff_sim::definition::{
    Condition, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::expression::{Expression, VectorExpression};
use std::path::Path;

/// Adds what the object's `fixed`, `motion` and `forces` say about its copies.
pub(super) fn add<'a>(
    object: &mut ObjectSection,
    at: &At<'a>,
    placed: &Placed,
    scene: &Bodies,
    folder: &Path,
    definition: &mut Definition,
    places: &mut Places<'a>,
) -> Result<(), SceneError> {
    fixed(object, at, placed, scene, definition, &mut places.entries)?;
    motions(object, at, placed, scene, folder, definition, &mut places.entries)?;
    forces(object, at, placed, definition, places)
}

/// Directions in which vertices are prescribed; none for all.
fn directions(along: Option<&Along>, at: &At<'_>) -> Result<Vec<Vec3>, SceneError> {
    let all: Vec<Vec3> =
        along.map(Along::vectors).unwrap_or_default().into_iter().map(Vec3::from).collect();
    match all.iter().find(|v| !(v.norm() > 0.0 && v.norm().is_finite())) {
        Some(_) => Err(at.invalid("a direction must not be zero")),
        None => Ok(all),
    }
}

fn fixed(
    object: &ObjectSection,
    at: &At<'_>,
    placed: &Placed,
    scene: &Bodies,
    definition: &mut Definition,
    entries: &mut Entries,
) -> Result<(), SceneError> {
    for (k, section) in object.fixed.iter().enumerate() {
        let at = at.key("fixed").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        require_whole(object, &sets, placed, &at)?;
        let until = condition(section.until.as_ref(), &at.key("until"), scene, placed)?;
        let name = label(&section.vertices, "fixed", k);
        for (copy, vertices) in occupied(sets) {
            let held = PrescribedDef {
                along: directions(section.along.as_ref(), &at.key("along"))?,
                name: format!("{}.{name}", placed.copies[copy].name),
                body: placed.bodies.start + copy,
                vertices,
                motion: Motion::Fixed,
                t0: section.start,
                t1: section.end,
                until: until.clone(),
            };
            at.check(held.validate(definition.bodies.len()))?;
            at.check(planar(definition, || held.validate_in_plane()))?;
            definition.prescribed.push(held);
            entries.prescribed.push((List::Fixed, k));
        }
    }
    Ok(())
}

/// The files of sequences become absolute in `object`.
fn motions(
    object: &mut ObjectSection,
    at: &At<'_>,
    placed: &Placed,
    scene: &Bodies,
    folder: &Path,
    definition: &mut Definition,
    entries: &mut Entries,
) -> Result<(), SceneError> {
    let mut sequences = Vec::new();
    for (k, section) in object.motion.iter().enumerate() {
        let at = at.key("motion").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        require_whole(object, &sets, placed, &at)?;
        if object.role == Some(Role::Rigid) && section.sequence.is_some() {
            let what = "a rigid body cannot follow positions of vertices; move it by velocities or expressions";
            return Err(at.key("sequence").invalid(what));
        }
        let step = definition.settings.time.step;
        let sequence = sequence::read(section, &at, placed, folder, step)?;
        let until = condition(section.until.as_ref(), &at.key("until"), scene, placed)?;
        let name = label(&section.vertices, "motion", k);
        for (copy, vertices) in occupied(sets) {
            let motion = match &sequence {
                None => moved(section, &at)?,
                Some(sequence) => Motion::Sequence { frames: sequence.of(placed, copy, &vertices) },
            };
            let moved = PrescribedDef {
                along: directions(section.along.as_ref(), &at.key("along"))?,
                name: format!("{}.{name}", placed.copies[copy].name),
                body: placed.bodies.start + copy,
                vertices,
                motion,
                t0: section.start,
                t1: section.end,
                until: until.clone(),
            };
            at.check(moved.validate(definition.bodies.len()))?;
            at.check(planar(definition, || moved.validate_in_plane()))?;
            definition.prescribed.push(moved);
            entries.prescribed.push((List::Motion, k));
        }
        sequences.push(sequence.map(|s| s.path));
    }
    for (section, path) in object.motion.iter_mut().zip(sequences) {
        section.sequence = path;
    }
    Ok(())
}

fn forces<'a>(
    object: &ObjectSection,
    at: &At<'a>,
    placed: &Placed,
    definition: &mut Definition,
    places: &mut Places<'a>,
) -> Result<(), SceneError> {
    for (k, section) in object.forces.iter().enumerate() {
        let at = at.key("forces").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        let load = load(section, &at)?;
        if let Load::Acceleration(_) = load {
            require_whole(object, &sets, placed, &at)?;
        }
        let name = label(&section.vertices, "force", k);
        let place = at.key(match (&section.pressure, &section.traction) {
            (Some(_), _) => "pressure",
            (None, Some(_)) => "traction",
            (None, None) => "vertices",
        });
        for (copy, vertices) in occupied(sets) {
            places.forces.push(place.clone());
            places.entries.forces.push(k);
            let force = ForceDef {
                name: format!("{}.{name}", placed.copies[copy].name),
                body: placed.bodies.start + copy,
                vertices,
                load: load.clone(),
                t0: section.start,
                t1: section.end,
            };
            at.check(force.validate(definition.bodies.len()))?;
            at.check(planar(definition, || force.validate_in_plane()))?;
            definition.forces.push(force);
        }
    }
    Ok(())
}

/// What has to hold in two dimensions only.
pub(super) fn planar(
    definition: &Definition,
    check: impl FnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
    if definition.dimension.is_planar() { check() } else { Ok(()) }
}

fn occupied(sets: Sets) -> impl Iterator<Item = (usize, Vec<u32>)> {
    sets.into_iter().enumerate().filter(|(_, set)| !set.is_empty())
}

/// A rigid body is held, moved and accelerated as a whole.
fn require_whole(
    object: &ObjectSection,
    sets: &[Vec<u32>],
    placed: &Placed,
    at: &At<'_>,
) -> Result<(), SceneError> {
    let count = placed.mesh.points.len();
    let part = |set: &&Vec<u32>| !set.is_empty() && set.len() < count;
    match sets.iter().find(part) {
        Some(set) if object.role == Some(Role::Rigid) => {
            let selected = set.len();
            Err(at.key("vertices").invalid(format!(
                "selects {selected} of {count} vertices, but this body is rigid and moves as a whole; choose \"all\""
            )))
        }
        _ => Ok(()),
    }
}

fn label(selection: &Selection, what: &str, index: usize) -> String {
    match selection {
        Selection::Name(name) if name != "all" => name.clone(),
        _ => format!("{what}[{index}]"),
    }
}

fn condition(
    until: Option<&UntilSection>,
    at: &At<'_>,
    scene: &Bodies,
    placed: &Placed,
) -> Result<Option<Condition>, SceneError> {
    let Some(UntilSection::AllBeyond(beyond)) = until else { return Ok(None) };
    let at = at.key("all_beyond");
    let normal = Vec3::from(beyond.normal);
    at.check(direction("normal", &normal, "the normal must not be zero"))?;
    at.check(vector("origin", &Vec3::from(beyond.origin)))?;
    let normal = normal.normalize();
    let mut bodies: Vec<usize> = Vec::new();
    for (k, name) in beyond.objects.iter().enumerate() {
        bodies.extend(scene.of(name, &at.key("objects").index(k))?);
    }
    if bodies.is_empty() {
        bodies.extend(placed.bodies.clone());
    }
    let offset = normal.dot(&Vec3::from(beyond.origin));
    Ok(Some(Condition::AllBeyond { bodies, normal, offset }))
}

/// The motion by velocities or by expressions.
fn moved(section: &MotionSection, at: &At<'_>) -> Result<Motion, SceneError> {
    let pivot = match section.pivot {
        PivotChoice::Centre(PivotCentre::Centre) => Pivot::StartCentre,
        PivotChoice::Centre(PivotCentre::CurrentCentre) => Pivot::CurrentCentre,
        PivotChoice::Point(p) => Pivot::Point(Vec3::from(p)),
    };
    let key = match (&section.translation, &section.rotation) {
        (None, None) => {
            let linear = Vec3::from(section.velocity);
            let angular = Vec3::from(section.angular_velocity.map(f64::to_radians));
            return Ok(Motion::Rigid { linear, angular, pivot });
        }
        (Some(_), _) => "translation",
        _ => "rotation",
    };
    if section.velocity != [0.0; 3] || section.angular_velocity != [0.0; 3] {
        let what = format!("`{key}` excludes `velocity` and `angular_velocity`");
        return Err(at.key(key).invalid(what));
    }
    let translation = match &section.translation {
        Some(t) => vector_of(t, &at.key("translation"))?,
        None => Vec3::zeros().into(),
    };
    let (axis, angle) = match &section.rotation {
        None => (Vec3::z(), 0.0.into()),
        Some(turn) => {
            let at = at.key("rotation");
            let axis = Vec3::from(turn.axis);
            at.check(direction("axis", &axis, "the axis must not be zero"))?;
            let angle = expression(&turn.angle, &at.key("angle"))?;
            (axis.normalize(), angle.times(std::f64::consts::PI / 180.0))
        }
    };
    Ok(Motion::Expression { translation, axis, angle, pivot })
}

pub(super) fn expression(formula: &Formula, at: &At<'_>) -> Result<Expression, SceneError> {
    match formula {
        Formula::Number(x) => Ok(Expression::constant(*x)),
        Formula::Expression(text) => Expression::parse(text).map_err(|e| at.invalid(e.to_string())),
    }
}

fn vector_of(formulas: &[Formula; 3], at: &At<'_>) -> Result<VectorExpression, SceneError> {
    let [x, y, z] = formulas;
    Ok(VectorExpression([
        expression(x, &at.index(0))?,
        expression(y, &at.index(1))?,
        expression(z, &at.index(2))?,
    ]))
}

fn load(section: &ForceSection, at: &At<'_>) -> Result<Load, SceneError> {
    let vector = |key, of| vector_of(of, &at.key(key));
    match (&section.acceleration, &section.force, &section.pressure, &section.traction) {
        (Some(a), None, None, None) => Ok(Load::Acceleration(vector("acceleration", a)?)),
        (None, Some(f), None, None) => Ok(Load::Force(vector("force", f)?)),
        (None, None, Some(p), None) => Ok(Load::Pressure(expression(p, &at.key("pressure"))?)),
        (None, None, None, Some(t)) => Ok(Load::Traction(vector("traction", t)?)),
        _ => Err(at.invalid(
            "give one of `acceleration` (m/s^2), `force` (N), `pressure` (Pa) and `traction` (Pa)",
        )),
    }
}
