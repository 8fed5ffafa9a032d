//! The methods of projective dynamics, L-BFGS from a constant matrix and ADMM, against projected Newton.

use crate::common::{block, ground, material, scene};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{
    Anchor, AttachmentDef, BodyKind, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
    SpringStiffness,
};
use standoff_sim::material::Law;
use standoff_sim::settings::{Integrator, Method, Settings};
use standoff_sim::{BuildError, Simulation, StepOutcome, StepReport};

/// A block of cells of 5 cm at rest, without contact.
fn of(law: Law, cells: [usize; 3]) -> Definition {
    let mut definition = scene(vec![block("bar", [0.0; 3], cells, 0.05)]);
    definition.settings.time.step = 0.02;
    definition.settings.contact.enabled = false;
    let BodyKind::Volume { material: m, .. } = &mut definition.bodies[0].kind else { panic!() };
    *m = material(law.clone());
    definition
}

/// A bar that is stretched and twisted by its first velocities, without contact.
fn bar(law: Law) -> Definition {
    let mut definition = of(law, [16, 4, 4]);
    let spin = |x: &Vec3| {
        let t = 2.0 * x.x / 0.8 - 1.0;
        Vec3::new(2.0 * t, 0.0, 0.0) + 8.0 * t * Vec3::x().cross(&(x - Vec3::repeat(0.1)))
    };
    definition.bodies[0].velocity = definition.bodies[0].rest.iter().map(spin).collect();
    definition
}

fn with(mut definition: Definition, change: impl FnOnce(&mut Settings)) -> Definition {
    change(&mut definition.settings);
    definition
}

fn by(definition: &Definition, method: Method, tolerance: f64) -> Definition {
    with(definition.clone(), |s| {
        s.solver.method = method;
        s.solver.end.characteristic = Some(tolerance);
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

fn furthest(a: &Simulation, b: &Simulation) -> f64 {
    let pairs = a.positions().iter().zip(b.positions());
    pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / a.model().length
}

const METHODS: [Method; 2] = [Method::LbfgsPd, Method::AdmmPd];

/// Vertices of the bar's body with x (m) in a range.
fn between(definition: &Definition, low: f64, high: f64) -> Vec<u32> {
    let rest = &definition.bodies[0].rest;
    (0..rest.len() as u32).filter(|&v| (low..high).contains(&rest[v as usize].x)).collect()
}

fn prescribe(definition: &mut Definition, vertices: Vec<u32>, motion: Motion) {
    definition.prescribed.push(PrescribedDef::new(
        format!("motion {}", definition.prescribed.len()),
        0,
        vertices,
        motion,
    ));
}

/// The bar at rest with one end held and the other one turned and pulled.
fn held_bar(law: Law) -> Definition {
    let mut definition = bar(law);
    definition.bodies[0].velocity.clear();
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    let (left, right) = (between(&definition, -1.0, 0.01), between(&definition, 0.79, 1.0));
    prescribe(&mut definition, left, Motion::Fixed);
    let motion = Motion::Rigid {
        linear: Vec3::new(0.5, 0.0, 0.0),
        angular: Vec3::new(5.0, 0.0, 0.0),
        pivot: Pivot::Point(Vec3::new(0.8, 0.1, 0.1)),
    };
    prescribe(&mut definition, right, motion);
    definition
}

/// Both methods end one step, from where Newton is after some, at the minimiser of Newton. Printed are the
/// iterations and the distance over the length of the bar.
fn reach_the_minimiser_of_newton(definition: &Definition, steps: usize, same: f64) {
    let newton = with(definition.clone(), |s| s.solver.end.velocity_relative = 1e-9);
    let (before, _) = run(&newton, steps);
    let end = |definition: &Definition| {
        let mut simulation = Simulation::restore(definition, before.state().clone()).unwrap();
        let report = simulation.step().unwrap();
        (simulation, report)
    };
    let (minimum, _) = end(&newton);
    let moved = furthest(&minimum, &before);
    for method in METHODS {
        let (other, report) = end(&by(definition, method, 5e-11));
        let apart = furthest(&minimum, &other);
        let law = definition.bodies[0].kind.clone();
        let BodyKind::Volume { material, .. } = law else { panic!() };
        println!(
            "{:?} {method:?}: {} iterations, moved {moved:.1e}, apart {apart:.1e}, norm {:.1e}, {:?}",
            material.law,
            report.newton_iterations,
            report.characteristic_norm.unwrap(),
            report.outcome
        );
        assert!(report.outcome.is_minimum(), "{:?} {method:?} {:?}", material.law, report.outcome);
        assert!(moved > 1e-3 && apart < same, "{:?} {method:?}: {moved:e} {apart:e}", material.law);
        assert!(report.newton_iterations < 2000, "{:?} {method:?}", material.law);
        assert!(other.audit().is_empty());
    }
}

#[test]
fn a_free_bar_ends_where_newton_does() {
    for law in Law::ALL {
        reach_the_minimiser_of_newton(&bar(law), 3, 1e-7);
    }
}

#[test]
fn a_held_bar_ends_where_newton_does() {
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark] {
        let definition = with(held_bar(Law::FixedCorotated), |s| s.time.integrator = integrator);
        reach_the_minimiser_of_newton(&definition, 5, 1e-7);
    }
}

#[test]
fn a_static_bar_ends_where_newton_does() {
    let definition = with(held_bar(Law::FixedCorotated), |s| {
        s.time.integrator = Integrator::QuasiStatic;
    });
    reach_the_minimiser_of_newton(&definition, 2, 1e-7);
}

/// The end of the bar moves further in a step than its first elements are long, which would invert them, so
/// that L-BFGS constrains it to its target and ADMM begins with inverted elements.
#[test]
fn an_end_that_moves_too_far_for_its_elements_ends_where_newton_does() {
    let mut definition = held_bar(Law::NeoHookean);
    let push = Vec3::new(-3.0, 0.0, 0.0);
    let pivot = Pivot::Point(Vec3::new(0.8, 0.1, 0.1));
    definition.prescribed[1].motion = Motion::Rigid { linear: push, angular: Vec3::zeros(), pivot };
    // such an end is held at 0.1 % of its way before its target, by ADMM at its target
    reach_the_minimiser_of_newton(&definition, 0, 1e-3 * 0.06 / 0.85);
}

/// Where the whole surface moves affinely without inertia, the inside does, too, whatever the law.
#[test]
fn an_affine_surface_has_an_affine_inside() {
    let stretch = Mat3::new(1.3, 0.4, 0.0, -0.2, 0.9, 0.1, 0.1, 0.0, 0.8);
    for law in Law::ALL {
        let mut definition = of(law.clone(), [4, 4, 4]);
        let body = &mut definition.bodies[0];
        let inside = |x: &Vec3| {
            let within = |c: f64, size: f64| c > 1e-9 && c < size - 1e-9;
            within(x.x, 0.2) && within(x.y, 0.2) && within(x.z, 0.2)
        };
        let rest = &mut body.rest;
        for v in 0..rest.len() {
            if inside(&rest[v]) {
                let shift = Vec3::new(v as f64, 2.0 * v as f64, 3.0 * v as f64).map(f64::sin);
                rest[v] += 0.008 * shift;
            }
        }
        let surface: Vec<u32> =
            (0..rest.len() as u32).filter(|&v| !inside(&rest[v as usize])).collect();
        // in steps that the elements at the surface can take
        let at = |k: usize| {
            let part = Mat3::identity() + (stretch - Mat3::identity()) * (k as f64 / 10.0);
            surface.iter().map(|&v| part * rest[v as usize]).collect()
        };
        let frames = (1..=10).map(at).collect();
        let expected: Vec<Vec3> = rest.iter().map(|x| stretch * x).collect();
        prescribe(&mut definition, surface.clone(), Motion::Sequence { frames });
        definition.settings.time.integrator = Integrator::QuasiStatic;
        for method in METHODS {
            let (simulation, reports) = run(&by(&definition, method, 1e-10), 10);
            let pairs = simulation.positions().iter().zip(&expected);
            let apart = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(reports.iter().all(|r| r.outcome.is_minimum()), "{law:?} {method:?}");
            assert!(apart < 1e-7, "{law:?} {method:?}: {apart:e}");
        }
    }
}

/// The matrix is factorised once in a run, with second-order differences twice, whose first step is one of
/// implicit Euler.
#[test]
fn the_matrix_is_factorised_once() {
    for method in METHODS {
        for (integrator, expected) in
            [(Integrator::ImplicitEuler, [1, 0, 0, 0]), (Integrator::Bdf2, [1, 1, 0, 0])]
        {
            let definition = by(&held_bar(Law::FixedCorotated), method, 1e-5);
            let (_, reports) = run(&with(definition, |s| s.time.integrator = integrator), 4);
            let counts: Vec<u64> = reports.iter().map(|r| r.subdomain_factorisations).collect();
            assert_eq!(counts, expected, "{method:?} {integrator:?}");
            assert!(reports.iter().all(|r| r.outcome == StepOutcome::Converged));
            assert!(reports.iter().all(|r| r.characteristic_norm.unwrap() < 1e-5));
        }
    }
}

#[test]
fn threads_and_interruptions_do_not_change_bits() {
    for method in METHODS {
        for definition in [bar(Law::FixedCorotated), held_bar(Law::StableNeoHookean)] {
            let definition = with(by(&definition, method, 1e-5), |s| {
                s.time.integrator = Integrator::Bdf2;
            });
            let in_threads = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| bits(&run(&definition, 4).0))
            };
            let whole = in_threads(1);
            assert!(in_threads(3) == whole, "{method:?}: three threads differ");
            let (first, _) = run(&definition, 2);
            let mut resumed = Simulation::restore(&definition, first.state().clone()).unwrap();
            (0..2).for_each(|_| drop(resumed.step().unwrap()));
            assert!(bits(&resumed) == whole, "{method:?}: a resumed run differs");
        }
    }
}

/// Few iterations of ADMM end above the tolerance, and the report says so.
#[test]
fn admm_says_that_it_has_not_converged() {
    let limited = |count: u32| {
        with(by(&bar(Law::FixedCorotated), Method::AdmmPd, 1e-5), |s| {
            s.solver.end.max_iterations = count;
        })
    };
    let norms = [2, 8, 32].map(|count| {
        let (simulation, reports) = run(&limited(count), 1);
        let (norm, outcome) = (reports[0].characteristic_norm.unwrap(), reports[0].outcome);
        assert_eq!(outcome == StepOutcome::Converged, norm < 1e-5);
        assert_eq!(outcome == StepOutcome::IterationLimit, count < 32, "{outcome:?} {norm:e}");
        assert_eq!(reports[0].unmet.is_some(), count < 32);
        assert!(simulation.audit().is_empty());
        norm
    });
    assert!(norms[0] > 10.0 * norms[1] && norms[1] > 2.0 * norms[2], "{norms:?}");
}

/// A block that is flattened by its first velocities: the first iterates of ADMM have inverted elements. The step
/// ends on the way to the last one, before any is.
#[test]
fn admm_never_ends_a_step_with_an_inverted_element() {
    let mut definition = of(Law::NeoHookean, [4, 4, 4]);
    definition.settings.time.step = 0.04;
    let body = &mut definition.bodies[0];
    body.velocity = body.rest.iter().map(|x| -60.0 * Vec3::new(0.0, x.y - 0.1, 0.0)).collect();
    for count in [1, 3] {
        let definition = with(by(&definition, Method::AdmmPd, 1e-5), |s| {
            s.solver.end.max_iterations = count;
        });
        let (simulation, reports) = run(&definition, 1);
        assert_eq!(reports[0].outcome, StepOutcome::IterationLimit);
        assert_eq!(reports[0].step_cuts.inversion, 1);
        assert!(simulation.audit().is_empty());
        let x = simulation.positions();
        let height = x.iter().map(|x| x.y).fold(0.0, f64::max);
        assert!(height < 0.19, "it moved: {height}");
    }
}

/// Without contact bodies fall through each other and the ground, and neither the start nor the audit
/// objects.
#[test]
fn without_contact_nothing_touches_anything() {
    let mut definition = scene(vec![
        block("a", [0.0, 0.02, 0.0], [3, 3, 3], 0.1),
        block("b", [0.25, 0.1, 0.08], [2, 2, 2], 0.1),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    let refused = Simulation::new(&definition).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("intersect"), "{refused}");
    definition.settings.contact.enabled = false;
    for method in
        [Method::Barrier, Method::BarrierFree, Method::Dot, Method::LbfgsPd, Method::AdmmPd]
    {
        let (simulation, _) = run(&with(definition.clone(), |s| s.solver.method = method), 20);
        assert!(simulation.audit().is_empty() && simulation.contacts().is_empty());
        // implicit Euler falls g h² (1 + 2 + … + 20)
        let fallen = 9.81 * 1e-4 * 210.0;
        for (x, rest) in simulation.positions().iter().zip(&simulation.model().rest) {
            assert!((rest.y - x.y - fallen).abs() < 1e-4, "{method:?}: {} {fallen}", rest.y - x.y);
        }
    }
}

#[test]
fn scenes_that_are_not_for_projective_dynamics_are_refused() {
    let cases: Vec<(&str, &str, fn(&mut Definition))> = vec![
        ("body 'bar'", "itself; set `contact.enabled = false`", |d| {
            d.settings.contact.enabled = true;
        }),
        ("body 'bar'", "half-space 'ground'", |d| {
            d.settings.contact.enabled = true;
            d.settings.contact.self_contact = false;
            d.half_spaces.push(ground(-1.0));
        }),
        ("body 'bar'", "may touch 'other'", |d| {
            d.settings.contact.enabled = true;
            d.settings.contact.self_contact = false;
            d.bodies.push(block("other", [0.0, 1.0, 0.0], [1, 1, 1], 0.1));
        }),
        ("body 'bar'", "particles", |d| {
            let points = (0..d.bodies[0].rest.len() as u32).collect();
            d.bodies[0].kind = BodyKind::Particles { points, radius: 0.01, density: 1000.0 };
        }),
        ("time.stiffness_damping", "nothing reads", |d| {
            d.settings.time.stiffness_damping = 0.01;
        }),
        ("force 'wind'", "a pressure", |d| {
            d.forces.push(ForceDef {
                name: "wind".into(),
                body: 0,
                vertices: (0..d.bodies[0].rest.len() as u32).collect(),
                load: Load::Pressure(1.0.into()),
                t0: 0.0,
                t1: f64::INFINITY,
            });
        }),
        ("attachment 'rope'", "a spring", |d| {
            d.attachments.push(AttachmentDef {
                name: "rope".into(),
                body: 0,
                vertices: vec![0],
                anchor: Anchor::Start,
                distance: 0.1,
                stiffness: SpringStiffness::PerSpring(1.0),
                rest_length: None,
                t0: 0.0,
                t1: f64::INFINITY,
            });
        }),
    ];
    for (object, problem, change) in cases {
        for (method, name) in METHODS.iter().zip(["\"lbfgs-pd\"", "\"admm-pd\""]) {
            let mut definition = by(&bar(Law::NeoHookean), *method, 1e-5);
            change(&mut definition);
            let error = Simulation::new(&definition).map(|_| ()).unwrap_err();
            let unfit = matches!(error, BuildError::Unfit { key: "solver.method", .. });
            assert!(unfit || matches!(error, BuildError::Unread(_)), "{error}");
            let text = error.to_string();
            for part in [object, problem, "solver.method", name] {
                assert!(text.contains(part), "'{text}' does not name '{part}'");
            }
        }
    }
    // a body that may touch nothing is without contact
    let definition = with(by(&bar(Law::NeoHookean), Method::LbfgsPd, 1e-5), |s| {
        s.contact.enabled = true;
        s.contact.self_contact = false;
    });
    assert!(Simulation::new(&definition).is_ok());
}
