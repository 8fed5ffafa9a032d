//! Options of shapes: prescribed motion and start velocity, which act without a script only, and
//! accelerations, which always act.

use crate::clock::Clock;
use crate::error::{Located, Note, NoteKind, Problem};
use crate::language::{Integration, ReferenceScene, Script, Shape};
use crate::meshes::Meshes;
use crate::plan::{Action, Effect, PlannedBody, Region};
use crate::select;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::UnitQuaternion;
use standoff_sim::definition::Pivot;

/// Adds what the options of all shapes say.
pub(crate) fn apply(
    scene: &ReferenceScene,
    clock: &Clock,
    bodies: &mut [PlannedBody],
    meshes: &mut Meshes,
    notes: &mut Vec<Note>,
) -> Result<(), Located> {
    for (shape, body) in owners(scene, bodies) {
        let options = &shape.options;
        if let Some((linear, angular)) = options.velocity.filter(|_| body.elastic()) {
            body.velocity = (linear, angular.map(f64::to_radians));
        }
        if options.linear.is_some() || options.angular.is_some() {
            let linear = options.linear.unwrap_or_default();
            let (effect, comment) = motion(linear, options.angular.unwrap_or_default(), clock.h);
            body.actions.push(Action {
                name: "motion".into(),
                vertices: (0..body.rest.len() as u32).collect(),
                region: Region::All,
                effect,
                t0: 0.0,
                t1: f64::INFINITY,
                until: None,
                comment,
            });
        }
        dirichlet(scene, shape, body, clock, notes);
        if let Some(folder) = &options.sequence {
            sequence(folder, body, meshes).map_err(|p| p.at(shape.line))?;
        }
    }
    loads(scene, clock, bodies, notes);
    Ok(())
}

/// Each body with the shape that it stems from.
fn owners<'a>(
    scene: &'a ReferenceScene,
    bodies: &'a mut [PlannedBody],
) -> impl Iterator<Item = (&'a Shape, &'a mut PlannedBody)> {
    bodies.iter_mut().filter_map(|b| Some((scene.shapes.iter().find(|s| s.line == b.line)?, b)))
}

/// A velocity (m/s) and turns about x, y and z (deg/s) in every step. The reference turns by
/// Rx·Ry·Rz(ω h) in a step; the same turn about a single axis is log(Rx·Ry·Rz)/h.
fn motion(linear: Vec3, degrees: Vec3, h: f64) -> (Effect, Option<String>) {
    if linear == Vec3::zeros() && degrees == Vec3::zeros() {
        return (Effect::Hold, None);
    }
    let axes = degrees.iter().filter(|w| **w != 0.0).count();
    let (angular, comment) = if axes <= 1 {
        (degrees.map(f64::to_radians), None)
    } else {
        let about =
            |axis, degrees: f64| UnitQuaternion::from_axis_angle(&axis, (degrees * h).to_radians());
        let turn = about(Vec3::x_axis(), degrees.x)
            * about(Vec3::y_axis(), degrees.y)
            * about(Vec3::z_axis(), degrees.z);
        let text = format!(
            "the reference turns by {}, {} and {} degrees/s about x, y and z one after the other in \
             each step; the same step is a turn about this axis",
            degrees.x, degrees.y, degrees.z
        );
        (turn.scaled_axis() / h, Some(text))
    };
    (Effect::Rigid { linear, angular, pivot: Pivot::CurrentCentre }, comment)
}

fn dirichlet(
    scene: &ReferenceScene,
    shape: &Shape,
    body: &mut PlannedBody,
    clock: &Clock,
    notes: &mut Vec<Note>,
) {
    let conditions = &shape.options.dirichlet;
    for condition in conditions {
        let vertices = select::in_fractions(body, &condition.corners);
        let times = clock.range(gated(condition.range, scene.dirichlet_range.value));
        let Some((t0, t1)) = acting(shape, "DBC", &vertices, times, notes) else { continue };
        let region = select::fractions_region(body, &condition.corners, &vertices);
        let (effect, comment) = motion(condition.linear, condition.angular, clock.h);
        let slip = slip(condition.range, (t0, t1));
        let comment = [comment, slip].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
        let same = conditions.iter().position(|c| c.corners == condition.corners);
        let name = format!("DBC-{}", same.unwrap_or(0));
        body.actions.push(Action { name, vertices, region, effect, t0, t1, until: None, comment });
    }
}

/// `NBC` options.
pub(crate) fn loads(
    scene: &ReferenceScene,
    clock: &Clock,
    bodies: &mut [PlannedBody],
    notes: &mut Vec<Note>,
) {
    let factor = load_factor(scene);
    for (shape, body) in owners(scene, bodies) {
        let conditions = &shape.options.neumann;
        for condition in conditions {
            let vertices = select::in_fractions(body, &condition.corners);
            let times = clock.range(gated(condition.range, scene.neumann_range.value));
            let Some((t0, t1)) = acting(shape, "NBC", &vertices, times, notes) else { continue };
            if !body.elastic() {
                let text = "NBC has no effect on a kinematic shape".to_owned();
                notes.push(Note { line: shape.line, kind: NoteKind::Quirk, text });
                continue;
            }
            let region = select::fractions_region(body, &condition.corners, &vertices);
            let stronger = (factor != 1.0).then(|| {
                format!("{factor} times what the scene says, as in the reference under NM")
            });
            let comment = [stronger, slip(condition.range, (t0, t1))]
                .into_iter()
                .flatten()
                .reduce(|a, b| format!("{a}; {b}"));
            let same = conditions.iter().position(|c| c.corners == condition.corners);
            body.actions.push(Action {
                name: format!("NBC-{}", same.unwrap_or(0)),
                vertices,
                region,
                effect: Effect::Accelerate(factor * condition.acceleration),
                t0,
                t1,
                until: None,
                comment,
            });
        }
    }
}

/// The reference's accelerations keep the factor h² under Newmark, where βh² would be right.
pub(crate) fn load_factor(scene: &ReferenceScene) -> f64 {
    match scene.integration.value {
        Integration::BackwardEuler => 1.0,
        Integration::Newmark { beta, .. } => 1.0 / beta,
    }
}

/// The times of a condition that acts on something at some time; a note if not.
fn acting(
    shape: &Shape,
    what: &str,
    vertices: &[u32],
    times: Option<(f64, f64)>,
    notes: &mut Vec<Note>,
) -> Option<(f64, f64)> {
    let text = match times {
        Some(times) if !vertices.is_empty() => return Some(times),
        Some(_) => format!("the box of a {what} holds no surface vertex: it has no effect"),
        None => format!("no step of the run starts in the time range of a {what}"),
    };
    notes.push(Note { line: shape.line, kind: NoteKind::Quirk, text });
    None
}

fn gated(range: (f64, f64), gate: (f64, f64)) -> (f64, f64) {
    (range.0.max(gate.0), range.1.min(gate.1))
}

/// A remark where times were moved by half a step.
fn slip(range: (f64, f64), times: (f64, f64)) -> Option<String> {
    let moved = range.0 > 0.0 || times.1.is_finite();
    moved.then(|| {
        format!(
            "{} to {} s of the reference, which adds up time steps; times half a step early mean \
             the same steps",
            range.0, range.1
        )
    })
}

fn sequence(folder: &str, body: &mut PlannedBody, meshes: &mut Meshes) -> Result<(), Problem> {
    if body.elastic() {
        return Err(Problem::unsupported(
            "meshSeq for an elastic shape (which the reference would move without holding it)",
            "use it with an .obj, .seg or .pt shape",
        ));
    }
    let (folder, frames) = meshes.sequence(folder, &body.source)?;
    body.actions.push(Action {
        name: "sequence".into(),
        vertices: (0..body.rest.len() as u32).collect(),
        region: Region::All,
        effect: Effect::Sequence { folder, frames },
        t0: 0.0,
        t1: f64::INFINITY,
        until: None,
        comment: None,
    });
    Ok(())
}

/// Notes options that a script makes ineffective.
pub(crate) fn note_dead(scene: &ReferenceScene, notes: &mut Vec<Note>) {
    for shape in &scene.shapes {
        let o = &shape.options;
        let dead = [
            ("initVel", o.velocity.is_some()),
            ("linearVelocity", o.linear.is_some()),
            ("angularVelocity", o.angular.is_some()),
            ("DBC", !o.dirichlet.is_empty()),
            ("meshSeq", o.sequence.is_some()),
            ("NBC", !o.neumann.is_empty() && scene.script.value == Script::UtopiaComparison),
        ];
        for (name, _) in dead.iter().filter(|(_, given)| *given) {
            let script = scene.script.value.name();
            let text = format!("{name} has no effect under the script {script}");
            notes.push(Note { line: shape.line, kind: NoteKind::Quirk, text });
        }
    }
}
