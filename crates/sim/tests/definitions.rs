//! Definitions that cannot be simulated are refused with a message that names the culprit.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyKind, Definition, Motion, PrescribedDef};

fn cube() -> Definition {
    scene(vec![block("cube", [0.0, 0.1, 0.0], [1, 1, 1], 1.0)])
}

fn message(spoil: impl FnOnce(&mut Definition)) -> String {
    let mut definition = cube();
    spoil(&mut definition);
    match Simulation::new(&definition) {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_string(),
    }
}

fn expect(message: String, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "'{part}' is missing in: {message}");
    }
}

#[test]
fn bad_definitions_are_refused() {
    assert!(Simulation::new(&cube()).is_ok());
    expect(message(|d| d.bodies.clear()), &["nothing to simulate"]);
    expect(message(|d| d.settings.time.step = 0.0), &["time.step", "0", "positive"]);
    expect(message(|d| d.settings.time.step = f64::NAN), &["time.step", "NaN"]);
    expect(message(|d| d.settings.contact.d_hat = Some(-1.0)), &["contact.d_hat"]);
    expect(message(|d| d.settings.friction.coefficient = -0.1), &["friction.coefficient"]);
    let kinetic = |d: &mut Definition| d.settings.friction.kinetic_coefficient = Some(0.1);
    expect(message(kinetic), &["friction.kinetic_coefficient", "0.1", "at most the static one"]);
    expect(message(|d| d.settings.solver.end.max_iterations = 0), &["solver.end.max_iterations"]);
    expect(
        message(|d| d.bodies[0].rest[3].x = f64::NAN),
        &["cube", "bodies[0].rest[3]", "NaN", "finite"],
    );
    expect(
        message(|d| d.bodies[0].velocity = vec![Vec3::zeros(); 3]),
        &["cube", "3 entries for 8 vertices"],
    );
    expect(
        message(|d| {
            let BodyKind::Volume { tets, .. } = &mut d.bodies[0].kind else { return };
            tets[2].swap(0, 1);
        }),
        &["cube", "tetrahedron 2", "inverted at rest"],
    );
    expect(
        message(|d| {
            let BodyKind::Volume { tets, .. } = &mut d.bodies[0].kind else { return };
            tets[0][0] = 99;
        }),
        &["cube", "vertex 99", "8 vertices"],
    );
    expect(
        message(|d| d.bodies[0].rest.push(Vec3::new(5.0, 5.0, 5.0))),
        &["cube", "vertex 8", "no element"],
    );
    expect(
        message(|d| {
            let BodyKind::Volume { density, .. } = &mut d.bodies[0].kind else { return };
            *density = -1.0;
        }),
        &["cube", "density"],
    );
    expect(
        message(|d| {
            let BodyKind::Volume { material, .. } = &mut d.bodies[0].kind else { return };
            material.poisson_ratio = 0.5;
        }),
        &["cube", "Poisson"],
    );
    expect(
        message(|d| {
            d.bodies[0].start =
                d.bodies[0].rest.iter().map(|p| Vec3::new(-p.x, p.y, p.z)).collect();
        }),
        &["cube", "tetrahedron 0", "inverted", "start"],
    );
    expect(
        message(|d| d.bodies.push(block("other", [0.5, 0.6, 0.5], [1, 1, 1], 1.0))),
        &["not free of intersections", "cube", "other", "edge", "triangle"],
    );
    expect(message(|d| d.half_spaces.push(ground(0.5))), &["cube", "ground", "behind"]);
    expect(
        message(|d| {
            let mut h = ground(-1.0);
            h.normal = Vec3::zeros();
            d.half_spaces.push(h);
        }),
        &["ground", "normal"],
    );
    expect(
        message(|d| {
            d.prescribed.push(PrescribedDef {
                t1: 1.0,
                ..PrescribedDef::new("cube.fixed", 0, vec![], Motion::Fixed)
            });
        }),
        &["cube.fixed", "selects no vertex"],
    );
}
