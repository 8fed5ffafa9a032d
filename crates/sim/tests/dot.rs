//! The decomposed optimisation time integrator: subdomains cover all kinds of bodies, and its bits depend
//! neither on threads nor on an interruption. `scene/tests/dot.rs` compares its minimisers with Newton's.

use crate::common::{block, ground, material, scene};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{BodyKind, Definition};
use standoff_sim::material::Law;
use standoff_sim::settings::{Method, Settings};
use standoff_sim::{Simulation, StepReport};

/// A bar that is stretched and twisted by its first velocities.
fn bar() -> Definition {
    let mut definition = scene(vec![block("bar", [0.0; 3], [16, 4, 4], 0.05)]);
    definition.settings.time.step = 0.02;
    let spin = |x: &Vec3| {
        let t = 2.0 * x.x / 0.8 - 1.0;
        Vec3::new(2.0 * t, 0.0, 0.0) + 8.0 * t * Vec3::x().cross(&(x - Vec3::repeat(0.1)))
    };
    definition.bodies[0].velocity = definition.bodies[0].rest.iter().map(spin).collect();
    definition
}

/// Two blocks that fall on the ground, one on the other.
fn pile() -> Definition {
    let mut definition = scene(vec![
        block("a", [0.0, 0.02, 0.0], [6, 6, 6], 0.1),
        block("b", [0.05, 0.65, 0.08], [5, 5, 5], 0.1),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.02;
    definition.settings.friction.coefficient = 0.4;
    definition
}

fn with(mut definition: Definition, change: impl FnOnce(&mut Settings)) -> Definition {
    change(&mut definition.settings);
    definition
}

fn dot(definition: Definition, subdomains: u32) -> Definition {
    with(definition, |s| {
        s.solver.method = Method::Dot;
        s.solver.decomposition.subdomains = Some(subdomains);
    })
}

fn run(definition: &Definition, steps: usize) -> (Simulation, Vec<StepReport>) {
    let mut simulation = Simulation::new(definition).unwrap();
    let reports = (0..steps).map(|_| simulation.step().unwrap()).collect();
    (simulation, reports)
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    simulation.positions().iter().flatten().map(|c| c.to_bits()).collect()
}

#[test]
fn every_step_converges_and_the_audit_is_clean() {
    for (definition, contacts) in [(bar(), false), (pile(), true)] {
        let (simulation, reports) = run(&dot(definition, 4), 10);
        for report in &reports {
            assert!(report.outcome.is_success(), "{:?}", report.outcome);
            assert!(report.characteristic_norm.unwrap() < 1e-5);
            assert!(report.subdomain_factorisations >= 4 && report.newton_iterations >= 1);
            // without contact the factors of the start of a step last
            assert!(contacts || report.subdomain_factorisations == 4);
        }
        assert_eq!(reports.iter().any(|r| r.contacts > 0), contacts);
        assert!(simulation.audit().is_empty());
    }
}

#[test]
fn threads_and_interruptions_do_not_change_bits() {
    for definition in [dot(bar(), 5), dot(pile(), 3)] {
        let in_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(&run(&definition, 9).0))
        };
        let whole = in_threads(1);
        assert!(in_threads(2) == whole, "two threads differ");
        let (first, _) = run(&definition, 5);
        let mut resumed = Simulation::restore(&definition, first.state().clone()).unwrap();
        (0..4).for_each(|_| drop(resumed.step().unwrap()));
        assert!(bits(&resumed) == whole, "a resumed run differs");
    }
}

/// With one subdomain the first direction is Newton's, and more subdomains take more iterations.
#[test]
fn one_subdomain_takes_the_fewest_iterations() {
    let iterations = |n: u32| {
        let (_, reports) = run(&dot(bar(), n), 5);
        reports.iter().map(|r| r.newton_iterations).sum::<u64>()
    };
    let [one, eight] = [1, 8].map(iterations);
    assert!(one < eight && eight < 8 * one, "{one} and {eight} iterations");
}

#[test]
fn subdomains_cover_every_vertex_and_share_those_between_them() {
    let (simulation, _) = run(&dot(pile(), 6), 0);
    let model = simulation.model();
    let decomposition = model.decomposition.as_deref().unwrap();
    assert_eq!(decomposition.len(), 6);
    let mut copies = vec![0; model.vertex_count()];
    decomposition.vertices.iter().flatten().for_each(|&v| copies[v as usize] += 1);
    assert!(copies.iter().all(|c| *c >= 1) && copies.iter().any(|c| *c > 1));
    for tet in model.solids.tets.vertices() {
        let vertices = &decomposition.vertices[decomposition.owner(tet) as usize];
        assert!(tet.iter().all(|v| vertices.binary_search(v).is_ok()));
    }
}

/// At rest every law has the Hessian of linear elasticity, whose norm is ⟨W⟩; and the gradient's
/// norm that ends a step by it grows with the elements' stiffness alone.
#[test]
fn the_characteristic_stiffness_is_that_of_every_law_at_rest() {
    for law in Law::ALL {
        let mut definition = scene(vec![block("a", [0.0; 3], [1, 1, 1], 0.1)]);
        let BodyKind::Volume { material: m, .. } = &mut definition.bodies[0].kind else { panic!() };
        *m = material(law.clone());
        let simulation = Simulation::new(&definition).unwrap();
        let expected = law.hessian(&material(law.clone()).lame(), &Mat3::identity()).norm();
        let found = simulation.model().solids.tets.elements[0].rest_stiffness();
        assert!((found / expected - 1.0).abs() < 1e-12, "{law:?}: {found} {expected}");
    }
}

/// The same bar in other units of length, mass and time has the same characteristic norm, and so takes the
/// same iterations; projected Newton can end by it, too.
#[test]
fn the_characteristic_norm_does_not_depend_on_units() {
    let scaled = |length: f64, stiffness: f64| {
        let mut definition = bar();
        let body = &mut definition.bodies[0];
        body.rest.iter_mut().for_each(|x| *x *= length);
        // the speed of sound over the length stays the same
        body.velocity.iter_mut().for_each(|v| *v *= length);
        let BodyKind::Volume { material, density, .. } = &mut body.kind else { panic!() };
        material.young_modulus *= stiffness;
        *density *= stiffness / (length * length);
        definition
    };
    for method in [Method::Dot, Method::Barrier] {
        let reports = [(1.0, 1.0), (64.0, 1024.0)].map(|(length, stiffness)| {
            let definition = with(scaled(length, stiffness), |s| {
                s.solver.method = method;
                s.solver.end.characteristic = Some(1e-6);
                s.solver.decomposition.subdomains = (method == Method::Dot).then_some(3);
            });
            run(&definition, 3).1
        });
        for (a, b) in reports[0].iter().zip(&reports[1]) {
            assert_eq!(a.newton_iterations, b.newton_iterations, "{method:?}");
            let (a, b) = (a.characteristic_norm.unwrap(), b.characteristic_norm.unwrap());
            assert!(a < 1e-6 && (a / b - 1.0).abs() < 1e-3, "{method:?}: {a:e} {b:e}");
        }
    }
}

#[test]
fn a_scene_without_elasticity_has_no_characteristic_norm() {
    let mut definition = scene(vec![block("grain", [0.0; 3], [1, 1, 1], 0.1)]);
    let points = (0..definition.bodies[0].rest.len() as u32).collect();
    definition.bodies[0].kind = BodyKind::Particles { points, radius: 0.01, density: 1000.0 };
    let error = Simulation::new(&dot(definition, 2)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("solver.end.characteristic"), "{error}");
}
