//! A force that acts beside a solid on a face of it: a small rigid body that a joint holds there.

use standoff::prelude::*;
use std::path::Path;

/// A beam of 1 × 0.1 × 0.1 m, clamped at the left. 10 kN act 0.5 m beyond its end.
const REMOTE: &str = r#"
gravity = [0, 0, 0]
time = { step = 1, end = 1, integrator = "quasi-static" }

[materials.steel]
young_modulus = "210 GPa"
poisson_ratio = 0.3
density = 7850

[[objects]]
name = "beam"
shape = { kind = "box", size = [1, 0.1, 0.1], cells = [10, 1, 1] }
element = "quadratic"
material = "steel"
regions = { left = { box = { min = [0, 0, 0], max = [0, 1, 1], relative = true } }, right = { box = { min = [1, 0, 0], max = [1, 1, 1], relative = true } } }
fixed = [{ vertices = "left" }]

[[objects]]
name = "point"
role = "rigid"
shape = { kind = "box", size = [0.01, 0.01, 0.01] }
translate = [1.0, 0, 0]
forces = [{ force = [0, "-10 kN", 0] }]

[[joints]]
name = "coupling"
kind = "fixed"
bodies = ["beam", "point"]
vertices = { beam = "right" }
point = [0.5, 0, 0]
"#;

/// The face bends down by what force and moment do by beam theory, to 3 % with ten elements, the support carries the moment of the load about its own
/// end to 1e-8, and the small body stays rigid to 1e-5, although what moves it beside its mass says nothing of such forces.
#[test]
fn a_remote_force_bends_a_beam() {
    let scene = Scene::parse(REMOTE, Path::new("remote.toml"), Path::new("."), &[]).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    let report = simulation.step().unwrap().clone();
    assert!(report.outcome.is_success() && report.newton_iterations <= 10, "{report:?}");
    assert!(report.rigid_deformation.unwrap() < 1e-5, "{:?}", report.rigid_deformation);
    let (young, force, lever) = (210e9_f64, 1e4, 0.5);
    let bending = young * 0.1_f64.powi(4) / 12.0;
    let shear = force / (5.0 / 6.0 * young / 2.6 * 0.01);
    let theory = force / (3.0 * bending) + force * lever / (2.0 * bending) + shear;
    let core = simulation.core();
    let moved = core.model().rest.iter().zip(simulation.positions());
    let end: Vec<f64> = moved.filter(|(r, _)| r.x == 0.5).map(|(r, x)| r.y - x.y).collect();
    let found = end.iter().sum::<f64>() / end.len() as f64;
    println!("{found} m, by beam theory {theory} m");
    assert!((found / theory - 1.0).abs() < 0.03, "{found} {theory}");
    let held = &report.forces.held["beam.left"];
    let load = &report.forces.loads["point.force[0]"];
    assert!((held.force[1] - force).abs() < 1e-6 * force, "{held:?}");
    assert!((held.torque[2] + load.torque[2]).abs() < 1e-4, "{held:?} {load:?}");
    // the arm of the load about the origin is that of the end of the bent beam
    assert!((load.torque[2] / -force - 1.0).abs() < 1e-4, "{load:?}");
}

/// With inertia, what bounds the stiffness of the small body is its mass: it is strained by less than 1e-3, and the moment at the support is that of the
/// load to 1e-3 when all is at rest.
#[test]
fn a_remote_force_bends_a_beam_in_time() {
    let time = r#"time = { step = 1, end = 1, integrator = "quasi-static" }"#;
    let text = REMOTE.replace(time, "time = { step = 0.02, end = 0.2 }");
    assert_ne!(text, REMOTE);
    let scene = Scene::parse(&text, Path::new("remote.toml"), Path::new("."), &[]).unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    while !simulation.is_finished() {
        let report = simulation.step().unwrap();
        assert!(report.rigid_deformation.unwrap() < 2e-3, "{report:?}");
    }
    let forces = &simulation.report().unwrap().forces;
    let (held, load) = (&forces.held["beam.left"], &forces.loads["point.force[0]"]);
    assert!((held.torque[2] / 1e4 - 1.0).abs() < 1e-3, "{held:?} {load:?}");
}
