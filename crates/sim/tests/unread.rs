//! The table of what reads each setting is right where it says that nothing does: other values of the setting change no bit of
//! a simulation that has much in it.

use crate::common::{block, grid, ground, material, scene};
use serde_json::Value;
use standoff_linalg::Vec3;
use standoff_sim::build::build_valid;
use standoff_sim::definition::validate::unread::{Choices, READINGS};
use standoff_sim::definition::{BodyKind, Definition, Dimension, Motion, Pivot, PrescribedDef};
use standoff_sim::material::Law;
use standoff_sim::settings::{
    ContactPotential, Fallback, Integrator, Lagging, LaggingUntil, LinearSolver, Method, Settings,
    Subproblem,
};
use standoff_sim::solver::workspace::Workspace;
use standoff_sim::step::step;

/// A thick block that slides on the ground, another one that falls on it, and a third one that comes down on both and is let
/// go after a while.
fn busy() -> Definition {
    let mut sliding = block("sliding", [0.0, 0.002, 0.0], [2, 1, 2], 0.1);
    sliding.velocity = vec![Vec3::new(0.5, 0.0, 0.1); sliding.rest.len()];
    sliding.contact_thickness = 1e-3;
    if let BodyKind::Volume { material: own, .. } = &mut sliding.kind {
        *own = material(Law::FixedCorotated);
    }
    let mut falling = block("falling", [0.02, 0.106, 0.03], [1, 1, 1], 0.09);
    falling.velocity = vec![Vec3::new(0.0, -0.5, 0.0); falling.rest.len()];
    let press = block("press", [-0.03, 0.2, -0.02], [1, 1, 1], 0.15);
    let top = (0..press.rest.len() as u32).filter(|&v| press.rest[v as usize].y > 0.3);
    let motion = PrescribedDef {
        t1: 0.035,
        ..PrescribedDef::new(
            "press",
            2,
            top.collect(),
            Motion::Rigid {
                linear: Vec3::new(0.0, -0.3, 0.0),
                angular: Vec3::zeros(),
                pivot: Pivot::StartCentre,
            },
        )
    };
    let mut definition = scene(vec![sliding, falling, press]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.prescribed.push(motion);
    definition.settings.contact.d_hat = Some(5e-3);
    definition.settings.friction.coefficient = 0.3;
    definition
}

/// Two solids of triangles, one of which falls on the other.
fn planar() -> Definition {
    let place = |x: f64, y: f64| move |i: usize, j: usize| [x + 0.1 * i as f64, y + 0.1 * j as f64];
    let mut upper = grid("upper", [1, 1], place(0.05, 0.106));
    upper.velocity = vec![Vec3::new(0.3, -0.5, 0.0); upper.rest.len()];
    let mut definition = scene(vec![grid("lower", [2, 1], place(0.0, 0.002)), upper]);
    definition.dimension = Dimension::Two;
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.contact.d_hat = Some(5e-3);
    definition.settings.friction.coefficient = 0.3;
    definition
}

/// Settings that would change something where they are refused, but not what they are for. Without contact or with distances
/// from the start there is no d̂ that could shrink, only further minimisations. Where the characteristic norm ends a step, the
/// velocity tolerance is but the least force that counts in the balance of forces.
const SENSELESS: &[&str] = &["contact.d_hat_start", "solver.end.velocity"];

/// Other values of a setting than `value`, by its schema.
fn others(key: &str, value: Option<&Value>) -> Vec<Value> {
    let root = schemars::schema_for!(Settings).to_value();
    let follow = |schema: &Value| -> Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|n| n.strip_prefix('#'));
        name.and_then(|n| root.pointer(n)).unwrap_or(schema).clone()
    };
    let step = |schema: Value, part: &str| follow(&schema["properties"][part]);
    let schema = key.split('.').fold(root.clone(), step);
    let words: Vec<Value> = schema["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|o| o.get("const").cloned())
        .filter(|word| Some(word) != value)
        .collect();
    let numbers = match value {
        Some(Value::Bool(flag)) => vec![Value::from(!flag)],
        Some(Value::Number(n)) if n.is_f64() => vec![Value::from(0.3 * n.as_f64().unwrap())],
        Some(Value::Number(n)) => vec![Value::from(n.as_u64().unwrap() + 1)],
        Some(Value::String(_)) if key == "friction.lagging" => vec![Value::from(2)],
        // not given: a number in the range of all of these
        None => vec![Value::from(0.4), Value::from(2)],
        Some(_) => Vec::new(),
    };
    [words, numbers].concat()
}

/// The settings with another value of one.
fn replaced(settings: &Settings, key: &str, other: &Value) -> Option<Settings> {
    let mut all = serde_json::to_value(settings).unwrap();
    let (sections, last) = key.rsplit_once('.').unwrap();
    let table = sections.split('.').fold(&mut all, |table, part| &mut table[part]);
    table[last] = other.clone();
    serde_json::from_value(all).ok().filter(|s: &Settings| s.validate().is_ok())
}

/// Bits of the positions after some steps, and of the velocities; none where it cannot be built.
fn run(definition: &Definition) -> Option<Vec<u64>> {
    let (model, mut state) = build_valid(definition).ok()?;
    let mut work = Workspace::new(&model, &state).unwrap();
    for _ in 0..6 {
        match step(&model, &state, &mut work) {
            Ok((next, _)) => state = next,
            // where one fails, the other does
            Err(_) => break,
        }
    }
    let bits = |v: &[Vec3]| v.iter().flatten().map(|c| c.to_bits()).collect::<Vec<u64>>();
    Some([bits(&state.x), bits(&state.v)].concat())
}

/// Definitions with different choices.
fn choices() -> Vec<(&'static str, Definition)> {
    let with = |change: fn(&mut Settings)| {
        let mut definition = busy();
        change(&mut definition.settings);
        definition
    };
    vec![
        ("the defaults", with(|_| {})),
        ("quasi-static", with(|s| s.time.integrator = Integrator::QuasiStatic)),
        ("BDF2", with(|s| s.time.integrator = Integrator::Bdf2)),
        ("Newmark", with(|s| s.time.integrator = Integrator::Newmark)),
        ("without contact", with(|s| s.contact.enabled = false)),
        ("a fixed κ", with(|s| s.contact.stiffness = Some(1e8))),
        ("convergent", with(|s| s.contact.potential = ContactPotential::Convergent)),
        ("oriented", with(|s| s.contact.potential = ContactPotential::OrientationAware)),
        ("lagging", with(|s| s.friction.lagging = Lagging::Until(LaggingUntil::Converged))),
        ("Cholesky", with(|s| s.solver.linear = LinearSolver::Cholesky)),
        ("faer", with(|s| s.solver.linear = LinearSolver::FaerCholesky)),
        ("two levels", with(|s| s.solver.linear = LinearSolver::TwoLevel)),
        ("a norm", with(|s| s.solver.end.characteristic = Some(1e-5))),
        ("step lengths", with(|s| s.solver.end.cumulative_toi = Some(1e-3))),
        ("dot", with(|s| s.solver.method = Method::Dot)),
        (
            "dot in subdomains",
            with(|s| {
                s.solver.method = Method::Dot;
                s.solver.decomposition.subdomains = Some(3);
            }),
        ),
        ("L-BFGS", with(|s| (s.contact.enabled, s.solver.method) = (false, Method::LbfgsPd))),
        ("ADMM", with(|s| (s.contact.enabled, s.solver.method) = (false, Method::AdmmPd))),
        ("barrier-free", with(|s| s.solver.method = Method::BarrierFree)),
        (
            "barrier-free alone",
            with(|s| {
                s.solver.method = Method::BarrierFree;
                s.solver.barrier_free.fallback = Fallback::None;
            }),
        ),
        (
            "barrier-free as published",
            with(|s| {
                s.solver.method = Method::BarrierFree;
                s.solver.barrier_free.fallback = Fallback::None;
                s.solver.barrier_free.min_iterations = Some(2);
                s.solver.barrier_free.subproblem = Subproblem::Published;
            }),
        ),
        ("two dimensions", planar()),
    ]
}

#[test]
fn a_setting_that_nothing_reads_changes_no_bit() {
    let (mut compared, mut faults) = (0, String::new());
    for (name, definition) in choices() {
        definition.validate().unwrap();
        let expected = run(&definition).unwrap_or_else(|| panic!("{name} cannot be built"));
        let chosen = Choices::new(&definition.settings, definition.dimension);
        let values = serde_json::to_value(&definition.settings).unwrap();
        let unread = READINGS.iter().filter(|r| chosen.unread(r.key).is_some());
        for reading in unread.filter(|r| !SENSELESS.contains(&r.key)) {
            let value = values.pointer(&format!("/{}", reading.key.replace('.', "/")));
            for other in others(reading.key, value) {
                let Some(settings) = replaced(&definition.settings, reading.key, &other) else {
                    continue;
                };
                let changed = Definition { settings, ..definition.clone() };
                let Some(found) = run(&changed) else { continue };
                compared += 1;
                if found != expected {
                    faults.push_str(&format!("{name}: {} = {other} changes it\n", reading.key));
                }
            }
        }
    }
    println!("{compared} compared");
    assert!(faults.is_empty(), "\n{faults}");
    assert!(compared > 300, "{compared}");
}
