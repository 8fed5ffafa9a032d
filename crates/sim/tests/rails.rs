//! Vertices that are held or moved in some directions only: symmetry planes, rollers, rails.

use crate::common::{block, ground, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, HalfSpaceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::error::BuildError;
use standoff_sim::material::{Law, Material, principal_values};
use standoff_sim::report::{Resultant, StepOutcome};
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{BuildError as Error, Simulation};

fn elastic(mut body: BodyDef, quadratic: bool) -> BodyDef {
    if let BodyKind::Volume { tets, middles, material, .. } = &mut body.kind {
        *material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };
        if quadratic {
            add_middles(tets, middles, &mut body.rest);
        }
    }
    body
}

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

fn held(name: &str, vertices: Vec<u32>, motion: Motion, along: &[Vec3]) -> PrescribedDef {
    PrescribedDef { along: along.into(), ..PrescribedDef::new(name, 0, vertices, motion) }
}

/// A block on three symmetry planes, pulled by a plate on which it slides; turned by `turn` as a whole.
fn stretched(quadratic: bool, turn: &Mat3, method: Method) -> (Definition, Vec<Vec3>) {
    let mut body = elastic(block("block", [0.0; 3], [3, 2, 2], 0.5), quadratic);
    let rest = body.rest.clone();
    let sets = [0, 1, 2].map(|k| select(&body, |p| p[k] < 1e-9));
    let end = select(&body, |p| p.x > 1.5 - 1e-9);
    body.rest.iter_mut().for_each(|p| *p = turn * *p);
    let mut d = scene(vec![body]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.contact.enabled = false;
    d.settings.solver.method = method;
    for (k, set) in sets.into_iter().enumerate() {
        let normal = turn.column(k).into_owned();
        d.prescribed.push(held(&format!("plane {k}"), set, Motion::Fixed, &[2.0 * normal]));
    }
    let pivot = Pivot::Point(Vec3::zeros());
    let linear = turn * Vec3::new(0.6, 0.0, 0.0) + turn * Vec3::new(0.0, 7.0, 3.0);
    let motion = Motion::Rigid { linear, angular: Vec3::zeros(), pivot };
    d.prescribed.push(held("plate", end, motion, &[turn.column(0).into_owned()]));
    (d, rest)
}

/// The stretch across, and the nominal stress along, of a bar that is stretched by `along`: where ∂ψ/∂(stretch across) = 0.
fn uniaxial(along: f64) -> [f64; 2] {
    let material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };
    let p = |across: f64| {
        let f = Mat3::from_diagonal(&Vec3::new(along, across, across));
        material.law.pk1(&material.lame(), &f)
    };
    let (mut low, mut high) = (0.5, 1.5);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if p(middle)[(1, 1)] < 0.0 { low = middle } else { high = middle }
    }
    [low, p(low)[(0, 0)]]
}

#[test]
fn symmetry_planes_and_a_sliding_plate_leave_uniaxial_tension() {
    let [across, stress] = uniaxial(1.4);
    let turn = *standoff_linalg::nalgebra::Rotation3::from_euler_angles(0.3, -0.7, 1.1).matrix();
    for (quadratic, turn, method) in [
        (false, Mat3::identity(), Method::Barrier),
        (true, Mat3::identity(), Method::Barrier),
        (false, turn, Method::Barrier),
        (true, turn, Method::BarrierFree),
        (false, turn, Method::BarrierFree),
    ] {
        let (d, rest) = stretched(quadratic, &turn, method);
        let mut simulation = Simulation::new(&d).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{:?}", report.outcome);
        for (p, x) in rest.iter().zip(simulation.positions()) {
            let exact = turn * Vec3::new(1.4 * p.x, across * p.y, across * p.z);
            assert!((x - exact).norm() < 1e-6, "{method:?} {p} {x} {exact}");
        }
        // stress and strain of every element, in the axes of the block
        let true_stress = stress / (across * across);
        for (found, strain) in simulation.stresses().iter().zip(simulation.strains()) {
            let own = turn.transpose() * found * turn;
            let exact = Mat3::from_diagonal(&Vec3::new(true_stress, 0.0, 0.0));
            assert!((own - exact).amax() < 1e-5 * true_stress, "{own}");
            let values = principal_values(found);
            assert!((values - Vec3::new(true_stress, 0.0, 0.0)).amax() < 1e-5 * true_stress);
            let exact = Vec3::new(1.4_f64.ln(), across.ln(), across.ln());
            let own = turn.transpose() * strain * turn;
            assert!((own - Mat3::from_diagonal(&exact)).amax() < 1e-6, "{own}");
        }
        // the planes hold across themselves only, and as much as the plate pulls
        let held = &report.forces.held;
        let normal = |k: usize| turn.column(k).into_owned();
        let force = |name: &str| Vec3::from(held[name].force);
        let area = 1.0;
        assert!((force("plate") - normal(0) * (stress * area)).norm() < 1e-5 * stress);
        assert!((force("plane 0") + normal(0) * (stress * area)).norm() < 1e-5 * stress);
        for name in ["plane 1", "plane 2"] {
            assert!(force(name).norm() < 1e-5 * stress, "{name}");
        }
    }
}

/// Half of a block on a symmetry plane does what the whole block does, by all integrators: held at its ends, it swings under its weight.
#[test]
fn half_a_block_on_a_symmetry_plane_swings_as_the_whole_does() {
    for integrator in [
        Integrator::ImplicitEuler,
        Integrator::Bdf2,
        Integrator::Newmark,
        Integrator::ImplicitMidpoint,
    ] {
        let run = |half: bool| {
            // cells that mirror each other: the block of a half, and its mirror image
            let part = elastic(block("block", [0.0, 0.01, 0.0], [2, 2, 2], 0.25), false);
            let mut body = part.clone();
            if !half {
                let BodyKind::Volume { tets, .. } = &mut body.kind else { unreachable!() };
                let mut image: Vec<u32> = Vec::new();
                for (v, p) in part.rest.iter().enumerate() {
                    image.push(if p.x < 1e-9 { v as u32 } else { body.rest.len() as u32 });
                    if p.x >= 1e-9 {
                        body.rest.push(Vec3::new(-p.x, p.y, p.z));
                    }
                }
                let mirrored: Vec<[u32; 4]> = tets
                    .iter()
                    .map(|t| {
                        let [a, b, c, d] = t.map(|v| image[v as usize]);
                        [b, a, c, d]
                    })
                    .collect();
                tets.extend(mirrored);
            }
            let plane = select(&part, |p| p.x < 1e-9);
            let mut d = scene(vec![body]);
            d.gravity = Vec3::new(0.0, -9.81, 0.0);
            d.settings.contact.enabled = false;
            d.settings.time.step = 0.01;
            d.settings.time.integrator = integrator;
            let ends = select(&d.bodies[0], |p| p.x.abs() > 0.5 - 1e-9);
            d.prescribed.push(held("ends", ends, Motion::Fixed, &[]));
            d.settings.solver.end.velocity = Some(1e-8);
            if half {
                d.prescribed.push(held("plane", plane, Motion::Fixed, &[Vec3::x()]));
            }
            let mut simulation = Simulation::new(&d).unwrap();
            for _ in 0..15 {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{integrator:?} {:?}", report.outcome);
                assert!(simulation.audit().is_empty());
            }
            simulation.positions()[..part.rest.len()].to_vec()
        };
        let (half, whole) = (run(true), run(false));
        for (a, b) in half.iter().zip(&whole) {
            assert!((a - b).norm() < 1e-8, "{integrator:?}: {a} {b}");
        }
        assert!(half.iter().map(|p| p.y).fold(1.0, f64::min) < 0.0);
    }
}

/// With contact and friction at vertices on a symmetry plane, steps converge, and the plane holds against what acts across it: here a block that is
/// pressed onto a slope, which would push it off the plane.
#[test]
fn a_block_on_a_slope_is_held_by_a_symmetry_plane() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let body = elastic(block("block", [0.0, 2e-3, 0.0], [2, 2, 2], 0.25), false);
        // what two motions hold would count in both
        let plane = select(&body, |p| p.x < 1e-9 && p.y < 0.5);
        let top = select(&body, |p| p.y > 0.5);
        let mut d = scene(vec![body]);
        d.settings.time.integrator = Integrator::QuasiStatic;
        d.settings.time.step = 1.0;
        d.settings.solver.method = method;
        d.settings.friction.coefficient = 0.3;
        let normal = Vec3::new(0.3, 1.0, 0.0).normalize();
        d.half_spaces.push(HalfSpaceDef { normal, ..ground(0.0) });
        d.prescribed.push(held("plane", plane, Motion::Fixed, &[Vec3::x()]));
        let pivot = Pivot::Point(Vec3::zeros());
        let linear = Vec3::new(0.0, -0.05, 0.02);
        let motion = Motion::Rigid { linear, angular: Vec3::zeros(), pivot };
        d.prescribed.push(held("press", top, motion, &[Vec3::x(), Vec3::y(), Vec3::z()]));
        let mut simulation = Simulation::new(&d).unwrap();
        // the barrier has friction from the second step on, at what touches at its start
        for k in 0..3 {
            let report = simulation.step().unwrap();
            assert_eq!(report.outcome, StepOutcome::Converged, "{method:?}");
            assert!(report.imbalance < 5e-3, "{method:?} {}", report.imbalance);
            assert!(simulation.audit().is_empty());
            let force = |r: &Resultant| Vec3::from(r.force);
            let held = |name: &str| Vec3::from(report.forces.held[name].force);
            let contact = force(&report.forces.bodies["block"]);
            // across the plane it holds, along it nothing does
            let plane = held("plane");
            assert!(plane.x.abs() > 1.0 && plane.y == 0.0 && plane.z == 0.0, "{method:?} {plane}");
            let sum = plane + held("press") + contact;
            assert!(sum.norm() < 1e-3 * contact.norm(), "{method:?}: {sum} of {contact}");
            assert!(contact.x > 0.05 * contact.y, "{method:?} {contact}");
            assert!(contact.z.abs() > 1e-3 * contact.y || k == 0, "{method:?} {contact}");
        }
    }
}

/// Where something is in the way, a plate that is moved in one direction is pulled in that direction only, and
/// arrives where it gives way.
#[test]
fn what_is_in_the_way_of_a_sliding_plate_is_pushed_aside() {
    let plate = elastic(block("plate", [0.0, 0.0, 0.0], [2, 1, 2], 0.1), false);
    let mut other = elastic(block("other", [0.02, 0.12, 0.02], [1, 1, 1], 0.1), false);
    other.friction_material = plate.friction_material.clone();
    let all: Vec<u32> = (0..plate.rest.len() as u32).collect();
    let bottom = select(&plate, |p| p.y < 1e-9);
    let mut d = scene(vec![plate, other]);
    d.settings.time.step = 0.01;
    // upwards by three times of what is free in a step, and free to the side; a load along z moves it there
    let pivot = Pivot::Point(Vec3::zeros());
    let motion = Motion::Rigid { linear: Vec3::new(0.0, 6.0, 0.0), angular: Vec3::zeros(), pivot };
    d.prescribed.push(held("up", bottom.clone(), motion, &[Vec3::y()]));
    let load = Load::Acceleration(Vec3::new(0.0, 0.0, 2.0).into());
    let (t0, t1) = (0.0, f64::INFINITY);
    d.forces.push(ForceDef { name: "aside".into(), body: 0, vertices: all, load, t0, t1 });
    let mut simulation = Simulation::new(&d).unwrap();
    let start = simulation.positions().to_vec();
    for _ in 0..6 {
        assert!(simulation.step().unwrap().outcome.is_success());
        assert!(simulation.audit().is_empty());
    }
    for &v in &bottom {
        let moved = simulation.positions()[v as usize] - start[v as usize];
        assert!((moved.y - 0.36).abs() < 1e-3 * 0.06, "{moved}");
        assert!(moved.z > 1e-3, "{moved}");
    }
}

/// Directions of several conditions add up: three planes hold a vertex altogether.
#[test]
fn three_planes_hold_a_vertex() {
    let body = elastic(block("block", [0.0; 3], [1, 1, 1], 1.0), false);
    let corner = select(&body, |p| p.norm() < 1e-9);
    let mut d = scene(vec![body]);
    d.gravity = Vec3::new(1.0, 2.0, 3.0);
    d.settings.time.step = 0.01;
    d.settings.contact.enabled = false;
    for along in [Vec3::x(), Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 2.0, 3.0)] {
        d.prescribed.push(held(&format!("{along:?}"), corner.clone(), Motion::Fixed, &[along]));
    }
    let mut simulation = Simulation::new(&d).unwrap();
    for _ in 0..5 {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    assert_eq!(simulation.positions()[corner[0] as usize], Vec3::zeros());
}

#[test]
fn what_cannot_be_held_in_some_directions_is_refused() {
    let body = || elastic(block("block", [0.0; 3], [1, 1, 1], 1.0), false);
    let with = |along: Vec3, change: &dyn Fn(&mut Definition)| -> Option<BuildError> {
        let mut d = scene(vec![body()]);
        d.prescribed.push(held("plane", vec![0], Motion::Fixed, &[along]));
        change(&mut d);
        Simulation::new(&d).err()
    };
    let error = with(Vec3::x(), &|d| d.settings.solver.method = Method::Dot).unwrap();
    assert!(matches!(&error, Error::Unfit { key: "solver.method", .. }), "{error}");
    assert!(with(Vec3::zeros(), &|_| {}).unwrap().to_string().contains("must not be zero"));
    // in statics a plane alone leaves a body free to move
    let free = with(Vec3::x(), &|d| d.settings.time.integrator = Integrator::QuasiStatic);
    assert!(free.unwrap().to_string().contains("free to move"));
}
