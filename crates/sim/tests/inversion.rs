//! Tetrahedra that may be inverted (`solver.allow_inversion`): where it is refused, and that starts and states
//! with inverted elements are simulated, counted and taken up again by every method that allows them.

use crate::common::{block, grid, ground, material, scene};
use standoff_linalg::Vec3;
use standoff_sim::audit::Violation;
use standoff_sim::definition::{
    BodyKind, Definition, Dimension, Motion, Pivot, PrescribedDef, SolidPart,
};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{Method, Settings};
use standoff_sim::{BuildError, Simulation, StepReport};
use standoff_testkit::{Random, thorough};

const METHODS: [Method; 4] = [Method::Barrier, Method::Dot, Method::LbfgsPd, Method::AdmmPd];
const FINITE: [Law; 4] =
    [Law::StableNeoHookean, Law::FixedCorotated, Law::CorotatedLinear, Law::StVenantKirchhoff];

/// A cube of cells of 10 cm without contact, whose elements may be inverted.
fn cube(law: Law) -> Definition {
    let mut definition = scene(vec![block("cube", [0.0; 3], [3, 3, 3], 0.1)]);
    definition.settings.time.step = 0.02;
    definition.settings.contact.enabled = false;
    definition.settings.solver.allow_inversion = true;
    let BodyKind::Volume { material: m, .. } = &mut definition.bodies[0].kind else { panic!() };
    *m = material(law.clone());
    definition
}

/// The cube, whose vertices start where chance has thrown them, by up to `size` along each axis, m.
fn scattered(law: Law, size: f64) -> Definition {
    let mut definition = cube(law);
    let mut random = Random::new(3);
    let body = &mut definition.bodies[0];
    body.start = body.rest.iter().map(|x| x + size * random.vec3()).collect();
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

/// Tetrahedra whose volume is not positive, by determinants in floating point.
fn inverted(simulation: &Simulation) -> u64 {
    let x = simulation.positions();
    let tets = simulation.model().solids.tets.vertices().iter();
    let volume = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|v| x[v as usize]);
        (b - a).cross(&(c - a)).dot(&(d - a))
    };
    tets.filter(|t| volume(t) <= 0.0).count() as u64
}

/// The largest difference of the distances between vertices from those at rest, m.
fn distortion(simulation: &Simulation) -> f64 {
    let (x, rest) = (simulation.positions(), &simulation.model().rest);
    let pairs = (0..x.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let differ = |(a, b): (usize, usize)| ((x[a] - x[b]).norm() - (rest[a] - rest[b]).norm()).abs();
    pairs.map(differ).fold(0.0, f64::max)
}

#[test]
fn a_cube_of_scattered_vertices_recovers() {
    let definition = scattered(Law::FixedCorotated, 0.1);
    for method in METHODS {
        let (simulation, reports) = run(&by(&definition, method, 1e-6), 60);
        let start = inverted(&Simulation::new(&definition).unwrap());
        println!(
            "{method:?}: {start} inverted elements at the start, then {:?}, distortion {:.1e}, {:?}",
            reports.iter().map(|r| r.inverted).take(8).collect::<Vec<_>>(),
            distortion(&simulation),
            reports.iter().map(|r| r.newton_iterations).take(8).collect::<Vec<_>>(),
        );
        assert_eq!((start, simulation.model().solids.tets.len()), (51, 162));
        assert!(reports.iter().all(|r| r.outcome.is_minimum()), "{method:?}");
        assert!(reports.iter().all(|r| r.inverted == 0), "{method:?}");
        assert!(distortion(&simulation) < 1e-3, "{method:?}: {:e}", distortion(&simulation));
    }
}

/// In short steps the methods with a line search find the same minimum, whatever the law. ADMM does not: energies are
/// not convex enough where elements are inverted, and its iterates go back and forth, which its outcome says.
#[test]
fn methods_agree_on_a_step_with_inverted_elements() {
    for law in FINITE {
        let definition = with(scattered(law.clone(), 0.06), |s| {
            s.time.step = 2e-3;
            s.solver.end.max_iterations = 200;
        });
        let ends = METHODS.map(|method| {
            let tolerance = if method == Method::Barrier { 1e-9 } else { 1e-10 };
            let (simulation, reports) = run(&by(&definition, method, tolerance), 1);
            assert_eq!(reports[0].inverted, inverted(&simulation), "{law:?} {method:?}");
            assert!(reports[0].inverted > 0, "{law:?} {method:?}");
            let norm = reports[0].characteristic_norm.unwrap();
            assert_eq!(
                reports[0].outcome.is_minimum(),
                norm < 1e-9,
                "{law:?} {method:?}: {norm:e}"
            );
            simulation
        });
        for (method, end) in METHODS.iter().zip(&ends).take(3).skip(1) {
            let pairs = end.positions().iter().zip(ends[0].positions());
            let apart = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            println!("{law:?} {method:?}: {apart:.1e} m, {} inverted", inverted(end));
            assert!(apart < 1e-7, "{law:?} {method:?}: {apart:e}");
        }
    }
}

/// A step that would flatten the cube goes through it where that is allowed, and is bounded where not.
#[test]
fn steps_are_bounded_by_inversion_only_where_it_is_forbidden() {
    for method in METHODS.into_iter().take(if thorough() { 4 } else { 2 }) {
        let mut definition = by(&cube(Law::FixedCorotated), method, 1e-3);
        let body = &mut definition.bodies[0];
        let BodyKind::Volume { material, .. } = &mut body.kind else { panic!() };
        material.young_modulus = 3e2;
        body.velocity =
            body.rest.iter().map(|x| Vec3::new(0.0, -35.0 * (x.y - 0.15), 0.0)).collect();
        let (simulation, reports) = run(&with(definition.clone(), |s| s.time.step = 0.04), 1);
        assert!(reports[0].inverted > 0 && reports[0].inverted == inverted(&simulation));
        assert_eq!(reports[0].step_cuts.inversion, 0, "{method:?}");
        assert!(simulation.audit().is_empty(), "{method:?}");
        let forbidden = with(definition, |s| {
            s.time.step = 0.04;
            s.solver.allow_inversion = false;
        });
        let (simulation, reports) = run(&forbidden, 1);
        assert_eq!((reports[0].inverted, inverted(&simulation)), (0, 0), "{method:?}");
    }
}

/// A prescribed motion that turns elements inside out is done at once where that is allowed.
#[test]
fn prescribed_motion_may_invert() {
    for method in METHODS {
        let mut definition = by(&cube(Law::StableNeoHookean), method, 1e-5);
        let rest = &definition.bodies[0].rest;
        let end = |x: f64| {
            (0..rest.len() as u32).filter(|&v| (rest[v as usize].x - x).abs() < 1e-9).collect()
        };
        let hold = |vertices, motion| PrescribedDef::new("end", 0, vertices, motion);
        let push = Motion::Rigid {
            linear: Vec3::new(-10.0, 0.0, 0.0),
            angular: Vec3::zeros(),
            pivot: Pivot::Point(Vec3::zeros()),
        };
        definition.prescribed = vec![hold(end(0.0), Motion::Fixed), hold(end(0.3), push)];
        let (simulation, reports) = run(&definition, 1);
        for (x, rest) in simulation.positions().iter().zip(&simulation.model().rest) {
            assert!(rest.x < 0.29 || (x.x - 0.1).abs() < 1e-12, "{method:?}: {x}");
        }
        // multipliers need not converge where an energy is far from convex
        let converged = reports[0].outcome.is_minimum();
        assert!(converged || method == Method::AdmmPd, "{method:?} {:?}", reports[0].outcome);
    }
}

#[test]
fn threads_and_interruptions_do_not_change_bits() {
    let bits = |s: &Simulation| -> Vec<u64> {
        s.positions().iter().flatten().map(|c| c.to_bits()).collect()
    };
    for method in METHODS {
        let definition = with(by(&scattered(Law::FixedCorotated, 0.08), method, 1e-5), |s| {
            s.time.step = 2e-3;
            s.solver.end.max_iterations = 100;
        });
        let in_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(&run(&definition, 4).0))
        };
        let whole = in_threads(1);
        assert!(in_threads(3) == whole, "{method:?}: three threads differ");
        let (first, reports) = run(&definition, 1);
        assert!(
            reports[0].inverted > 0,
            "{method:?}: the state that is saved has inverted elements"
        );
        let mut resumed = Simulation::restore(&definition, first.state().clone()).unwrap();
        (0..3).for_each(|_| drop(resumed.step().unwrap()));
        assert!(bits(&resumed) == whole, "{method:?}: a resumed run differs");
        let mut again = Simulation::new(&definition).unwrap();
        again.set_state(first.state().clone()).unwrap();
        // the same state is refused where inversion is forbidden
        let forbidden = with(definition, |s| s.solver.allow_inversion = false);
        let mut forbidden = forbidden;
        forbidden.bodies[0].start.clear();
        let error = Simulation::restore(&forbidden, first.state().clone()).map(|_| ());
        assert!(error.unwrap_err().to_string().contains("inverted"), "{method:?}");
    }
}

#[test]
fn an_inverted_start_is_refused_without_it() {
    let definition = scattered(Law::FixedCorotated, 0.1);
    let forbidden = with(definition, |s| s.solver.allow_inversion = false);
    let error = Simulation::new(&forbidden).map(|_| ()).unwrap_err();
    assert!(matches!(error, BuildError::Element { .. }), "{error}");
}

/// The audit finds other faults as ever.
#[test]
fn the_audit_still_finds_numbers_that_are_not_finite() {
    let simulation = Simulation::new(&scattered(Law::FixedCorotated, 0.1)).unwrap();
    assert!(simulation.audit().is_empty());
    let mut x = simulation.positions().to_vec();
    x[3].y = f64::NAN;
    let found = standoff_sim::audit::violations(simulation.model(), &x);
    assert!(matches!(found[..], [Violation::NotFinite { vertex: 3 }]), "{found:?}");
}

/// Two soft cubes that are thrown at the ground, one above the other, so fast that the published law is least where elements are inverted.
fn thrown() -> Definition {
    let mut definition = scene(vec![
        block("cube", [0.0; 3], [3, 3, 3], 0.1),
        block("other", [0.05, 0.32, 0.02], [3, 3, 3], 0.1),
    ]);
    for body in &mut definition.bodies {
        let BodyKind::Volume { material, .. } = &mut body.kind else { panic!() };
        let law = Law::FixedCorotated;
        *material = Material { law, young_modulus: 2e3, poisson_ratio: 0.4 };
        body.velocity = vec![Vec3::new(0.0, -15.0, 0.0); body.rest.len()];
    }
    definition.settings.time.step = 0.01;
    definition.half_spaces.push(ground(-0.02));
    definition
}

#[test]
fn in_contact_elements_may_invert_and_surfaces_stay_apart() {
    let allowed = with(thrown(), |s| s.solver.allow_inversion = true);
    let mut simulation = Simulation::new(&allowed).unwrap();
    let mut most = 0;
    for _ in 0..10 {
        let report = simulation.step().unwrap();
        assert_eq!((report.inverted, simulation.audit()), (inverted(&simulation), Vec::new()));
        assert!(report.contacts > 0 || most == 0);
        most = most.max(report.inverted);
    }
    assert!(most > 0);
    // the published law without it has its minimum where no step may go
    let published = with(thrown(), |s| s.solver.inversion_barrier = false);
    let mut simulation = Simulation::new(&published).unwrap();
    let stalled = (0..20).find_map(|_| simulation.step().err()).expect("a stall");
    assert!(stalled.to_string().contains("every step would invert an element"), "{stalled}");
    let (_, reports) = run(&thrown(), 10);
    assert!(reports.iter().all(|r| r.inverted == 0));
}

#[test]
fn it_is_refused_where_something_does_not_bear_it() {
    let cases: Vec<(&str, &str, fn(&mut Definition))> = vec![
        ("body 'cube'", "\"neo-hookean\"", |d| {
            let BodyKind::Volume { material: m, .. } = &mut d.bodies[0].kind else { panic!() };
            m.law = Law::NeoHookean;
        }),
        ("body 'cube'", "\"neo-hookean\"", |d| {
            let law = Law::NeoHookean;
            let material = Material { law, young_modulus: 1e5, poisson_ratio: 0.3 };
            let (name, elements, inelastic) = ("core".into(), vec![4], Vec::new());
            let density = 1000.0;
            d.bodies[0].parts = vec![SolidPart {
                name,
                elements,
                density,
                material,
                inelastic,
                fibres: Vec::new(),
                growth: None,
            }];
        }),
        ("body 'cube'", "itself; set `contact.enabled = false`", |d| {
            d.settings.solver.method = Method::Dot;
            d.settings.contact.enabled = true;
        }),
        ("body 'cube'", "half-space 'ground'", |d| {
            d.settings.solver.method = Method::Dot;
            d.settings.contact.enabled = true;
            d.settings.contact.self_contact = false;
            d.half_spaces.push(ground(-1.0));
        }),
        ("barrier-free", "another method", |d| {
            d.settings.solver.method = Method::BarrierFree;
        }),
        ("body 'sheet'", "in the plane", |d| {
            d.dimension = Dimension::Two;
            d.bodies = vec![grid("sheet", [2, 2], |i, j| [i as f64, j as f64])];
        }),
    ];
    for (object, problem, change) in cases {
        let mut definition = cube(Law::FixedCorotated);
        change(&mut definition);
        let error = Simulation::new(&definition).map(|_| ()).unwrap_err();
        assert!(
            matches!(error, BuildError::Unfit { key: "solver.allow_inversion", .. }),
            "{error}"
        );
        let text = error.to_string();
        for part in [object, problem, "`solver.allow_inversion = true`"] {
            assert!(text.contains(part), "'{text}' does not name '{part}'");
        }
    }
}
