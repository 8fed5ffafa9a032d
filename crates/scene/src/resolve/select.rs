//! Sets of vertices of an object, and what is prescribed or applied to them.

use super::at::{At, Places};
use super::placed::{Bodies, Placed};
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{
    ForceSection, Formula, MotionSection, ObjectSection, PivotCentre, PivotChoice, RegionSection,
    Selection, UntilSection,
};
use standoff_linalg::Vec3;
use standoff_mesh::format;
use standoff_sim::definition::validate::{direction, positive, vector};
use standoff_sim::definition::{
    Condition, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::expression::{Expression, VectorExpression};
use std::path::Path;

/// A selection counts vertices on its boundary, up to this share of the object's diagonal.
const TOLERANCE: f64 = 1e-9;

/// One set of vertices per copy of the object; at least one of them is not empty.
type Sets = Vec<Vec<u32>>;

/// Adds what the object's `fixed`, `motion` and `forces` say about its copies.
pub(super) fn conditions<'a>(
    object: &mut ObjectSection,
    at: &At<'a>,
    placed: &Placed,
    scene: &Bodies,
    folder: &Path,
    definition: &mut Definition,
    places: &mut Places<'a>,
) -> Result<(), SceneError> {
    let first = placed.bodies.start;
    for (k, section) in object.fixed.iter().enumerate() {
        let at = at.key("fixed").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        let until = condition(section.until.as_ref(), &at.key("until"), scene, placed)?;
        let name = label(&section.vertices, "fixed", k);
        for (copy, vertices) in occupied(sets) {
            let held = PrescribedDef {
                name: format!("{}.{name}", placed.copies[copy].name),
                body: first + copy,
                vertices,
                motion: Motion::Fixed,
                t0: section.start,
                t1: section.end,
                until: until.clone(),
            };
            at.check(held.validate(definition.bodies.len()))?;
            definition.prescribed.push(held);
        }
    }
    let mut sequences = Vec::new();
    for (k, section) in object.motion.iter().enumerate() {
        let at = at.key("motion").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        let frames = read_sequence(section, &at, placed, folder)?;
        let until = condition(section.until.as_ref(), &at.key("until"), scene, placed)?;
        let name = label(&section.vertices, "motion", k);
        for (copy, vertices) in occupied(sets) {
            let motion = match &frames {
                None => moved(section, &at)?,
                Some((_, frames)) => Motion::Sequence {
                    frames: frames
                        .iter()
                        .map(|x| vertices.iter().map(|v| x[*v as usize]).collect())
                        .collect(),
                },
            };
            let moved = PrescribedDef {
                name: format!("{}.{name}", placed.copies[copy].name),
                body: first + copy,
                vertices,
                motion,
                t0: section.start,
                t1: section.end,
                until: until.clone(),
            };
            at.check(moved.validate(definition.bodies.len()))?;
            definition.prescribed.push(moved);
        }
        sequences.push(frames.map(|(path, _)| path));
    }
    for (section, path) in object.motion.iter_mut().zip(sequences) {
        section.sequence = path;
    }
    for (k, section) in object.forces.iter().enumerate() {
        let at = at.key("forces").index(k);
        let sets = select(&section.vertices, object, &at.key("vertices"), placed)?;
        let load = load(section, &at)?;
        let name = label(&section.vertices, "force", k);
        let place = at.key(if section.pressure.is_some() { "pressure" } else { "vertices" });
        for (copy, vertices) in occupied(sets) {
            places.forces.push(place.clone());
            let force = ForceDef {
                name: format!("{}.{name}", placed.copies[copy].name),
                body: first + copy,
                vertices,
                load: load.clone(),
                t0: section.start,
                t1: section.end,
            };
            at.check(force.validate(definition.bodies.len()))?;
            definition.forces.push(force);
        }
    }
    Ok(())
}

fn occupied(sets: Sets) -> impl Iterator<Item = (usize, Vec<u32>)> {
    sets.into_iter().enumerate().filter(|(_, set)| !set.is_empty())
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

fn expression(formula: &Formula, at: &At<'_>) -> Result<Expression, SceneError> {
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
    match (&section.acceleration, &section.force, &section.pressure) {
        (Some(a), None, None) => Ok(Load::Acceleration(vector_of(a, &at.key("acceleration"))?)),
        (None, Some(f), None) => Ok(Load::Force(vector_of(f, &at.key("force"))?)),
        (None, None, Some(p)) => Ok(Load::Pressure(expression(p, &at.key("pressure"))?)),
        _ => Err(at.invalid("give one of `acceleration` (m/s^2), `force` (N) and `pressure` (Pa)")),
    }
}

/// Reads the folder of a mesh sequence: its absolute path and the vertex positions of each file.
fn read_sequence(
    section: &MotionSection,
    at: &At<'_>,
    placed: &Placed,
    folder: &Path,
) -> Result<Option<(String, Vec<Vec<Vec3>>)>, SceneError> {
    let Some(written) = &section.sequence else { return Ok(None) };
    let at = at.key("sequence");
    let formulas = section.translation.is_some() || section.rotation.is_some();
    if formulas || section.velocity != [0.0; 3] || section.angular_velocity != [0.0; 3] {
        return Err(at.invalid(
            "a sequence excludes `velocity`, `angular_velocity`, `translation` and `rotation`",
        ));
    }
    let path = folder.join(written);
    let entries = std::fs::read_dir(&path)
        .map_err(|e| at.invalid(format!("cannot read the folder {}: {e}", path.display())))?;
    let mut files: Vec<(u64, std::path::PathBuf)> = entries
        .filter_map(|entry| {
            let file = entry.ok()?.path();
            Some((file.file_stem()?.to_str()?.parse().ok()?, file))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        let what = format!("{} holds no meshes named 0.obj, 1.obj, …", path.display());
        return Err(at.invalid(what));
    }
    let mut frames = Vec::with_capacity(files.len());
    for (k, (number, file)) in files.iter().enumerate() {
        if *number != k as u64 {
            let what = format!("{} has no mesh number {k}, but {number}", path.display());
            return Err(at.invalid(what));
        }
        let mesh = format::read(file).map_err(|e| at.error(Problem::Mesh(e.to_string())))?;
        let expected = placed.kept.as_ref().map_or(placed.mesh.points.len(), |k| k.total);
        if mesh.points.len() != expected {
            let found = mesh.points.len();
            let what =
                format!("{} has {found} vertices, the object has {expected}", file.display());
            return Err(at.invalid(what));
        }
        frames.push(match &placed.kept {
            None => mesh.points,
            Some(kept) => kept.old.iter().map(|v| mesh.points[*v as usize]).collect(),
        });
    }
    Ok(Some((path.to_string_lossy().into_owned(), frames)))
}

/// Vertices that a selection selects, for each copy.
pub(super) fn select(
    selection: &Selection,
    object: &ObjectSection,
    at: &At<'_>,
    placed: &Placed,
) -> Result<Sets, SceneError> {
    let sets = match selection {
        Selection::Region(region) => in_region(region, at, placed)?,
        Selection::Name(name) => match (object.regions.get(name), placed.mesh.region(name)) {
            (Some(region), _) => in_region(region, at, placed)?,
            (None, Some(region)) => vec![region.vertices.clone(); placed.copies.len()],
            (None, None) if name == "all" => {
                let all: Vec<u32> = (0..placed.mesh.points.len() as u32).collect();
                vec![all; placed.copies.len()]
            }
            (None, None) => {
                let own = object.regions.keys().cloned();
                let of_mesh = placed.mesh.regions.iter().map(|r| r.name.clone());
                let valid: Vec<String> = own.chain(of_mesh).chain(["all".to_owned()]).collect();
                return Err(at.error(Problem::UnknownName {
                    what: "region",
                    name: name.clone(),
                    nearest: nearest_name(name, valid.iter().map(String::as_str)),
                    valid,
                }));
            }
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

fn triple(p: &Vec3) -> String {
    format!("({:.6}, {:.6}, {:.6})", p.x, p.y, p.z)
}

/// Corners of the bounding box of some points.
pub(super) fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let first = points.first().copied().unwrap_or_default();
    points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p)))
}

fn in_region(region: &RegionSection, at: &At<'_>, placed: &Placed) -> Result<Sets, SceneError> {
    let keep = |points: &[Vec3], inside: &dyn Fn(&Vec3) -> bool| -> Vec<u32> {
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
            let mut set = listed.clone();
            set.sort_unstable();
            set.dedup();
            let count = placed.mesh.points.len();
            if let Some(v) = set.iter().find(|v| **v as usize >= count) {
                let what = format!("vertex {v} of '{}', which has {count} vertices", placed.name);
                return Err(at.key("vertices").invalid(what));
            }
            Ok(vec![set; placed.copies.len()])
        }
        _ => Err(at.invalid("a region is one of `box`, `sphere` and `vertices`")),
    }
}
