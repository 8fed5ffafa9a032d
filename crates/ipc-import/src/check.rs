//! What the simulator refuses, at the line of the scene that says it.

use crate::error::{Located, Problem};
use crate::language::ReferenceScene;
use crate::plan::{Plan, PlannedBody};
use standoff_sim::definition::validate::{self, Fault, Field};
use standoff_sim::settings::Settings;

/// Checks density and elasticity of every elastic body.
pub(crate) fn materials(scene: &ReferenceScene, bodies: &[PlannedBody]) -> Result<(), Located> {
    for body in bodies.iter().filter(|b| b.elastic()) {
        let shape = scene.shapes.iter().find(|s| s.line == body.line);
        let own = shape.is_some_and(|s| s.options.material.is_some());
        let (density, material) = &body.material;
        let refuse = |fault: Fault, key: &str, of_scene: usize| {
            let (key, line) = match own || of_scene == 0 {
                true => ("material", body.line),
                false => (key, of_scene),
            };
            refused(key, &fault).at(line)
        };
        validate::density(*density).map_err(|f| refuse(f, "density", scene.density.line))?;
        let stiffness = |f| refuse(f, "stiffness", scene.stiffness.line);
        material.validate().map_err(stiffness)?;
    }
    Ok(())
}

/// Checks the settings.
pub(crate) fn settings(scene: &ReferenceScene, settings: &Settings) -> Result<(), Located> {
    settings.validate().map_err(|fault| {
        let key = |depth: usize| match fault.path.0.get(depth) {
            Some(Field::Key(key)) => *key,
            _ => "",
        };
        let (key, line) = match (key(0), key(1)) {
            ("time", "stiffness_damping") => {
                let ratio = scene.damping_ratio.line;
                match ratio > 0 {
                    true => ("dampingRatio", ratio),
                    false => ("dampingStiff", scene.damping_stiffness.line),
                }
            }
            ("time", _) => ("time", scene.time.line),
            ("contact", _) | ("friction", "stick_speed") => ("tuning", scene.tuning.line),
            ("friction", "coefficient") => ("selfFric", scene.self_friction.line),
            ("friction", "pairs") => {
                let bad = |f: &f64| !(f.is_finite() && *f >= 0.0);
                let line = scene.half_spaces.iter().find(|h| bad(&h.value.friction));
                ("the friction of a half-space", line.map_or(0, |h| h.line))
            }
            ("solver", "end") => ("tol", scene.tolerances.line),
            _ => ("the scene", 0),
        };
        refused(key, &fault).at(line)
    })
}

/// Checks everything else.
pub(crate) fn everything(scene: &ReferenceScene, plan: &Plan) -> Result<(), Located> {
    plan.definition().validate().map_err(|fault| {
        let line = match fault.path.0[..] {
            [Field::Key("bodies" | "prescribed" | "forces"), ..] => {
                let named = |b: &&PlannedBody| {
                    let owner = fault.owner.as_deref().unwrap_or_default();
                    owner.contains(&format!("'{}", b.name))
                };
                plan.bodies.iter().find(named).map_or(0, |b| b.line)
            }
            [Field::Key("half_spaces"), Field::Index(k), ..] => {
                scene.half_spaces.get(k).map_or(0, |h| h.line)
            }
            _ => 0,
        };
        Problem::malformed(fault.to_string()).at(line)
    })
}

fn refused(key: &str, fault: &Fault) -> Problem {
    Problem::malformed(format!("'{key}': {} is out of range: {}", fault.value, fault.must))
}
