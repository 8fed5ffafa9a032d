//! Friction with a static and a kinetic coefficient, against Coulomb's law with both.

use crate::common::rigid::solid_box;
use crate::common::{block, grid, ground, scene};
use crate::{rods, shells};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    Anchor, AttachmentDef, BodyDef, BodyKind, Definition, Dimension, Motion, Pivot, PrescribedDef,
    SpringStiffness,
};
use standoff_sim::energetics::linear_momentum;
use standoff_sim::settings::{ContactPotential, Fallback, Integrator, Method};
use standoff_sim::{Simulation, State, StepOutcome};

const G: f64 = 9.81;
const STICK_SPEED: f64 = 1e-3;

/// A body on the ground with both coefficients, which stand until a test changes gravity.
fn on_ground(mut body: BodyDef, [at_rest, kinetic]: [f64; 2], method: Method) -> Definition {
    body.friction_material = "default".into();
    let mut definition = scene(vec![body]);
    definition.half_spaces.push(ground(0.0));
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let settings = &mut definition.settings;
    settings.time.step = 5e-3;
    settings.contact.d_hat = Some(5e-4);
    settings.friction.coefficient = at_rest;
    settings.friction.kinetic_coefficient = Some(kinetic);
    settings.friction.stick_speed = Some(STICK_SPEED);
    settings.solver.end.velocity = Some(1e-6);
    settings.solver.method = method;
    settings.solver.barrier_free.fallback = Fallback::None;
    definition
}

/// The same on a plate in place of the half-space.
fn on_plate(mut definition: Definition) -> Definition {
    definition.half_spaces.clear();
    let corners = [[-5.0, 0.0, -5.0], [5.0, 0.0, -5.0], [5.0, 0.0, 5.0], [-5.0, 0.0, 5.0]];
    definition.bodies.push(BodyDef {
        name: "plate".into(),
        rest: corners.map(Vec3::from).to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    });
    definition
}

fn speed(simulation: &Simulation, mass: f64) -> f64 {
    linear_momentum(simulation.model(), simulation.state()).x / mass
}

/// Mean speeds (m/s) and accelerations (m/s²) on a slope.
struct OnSlope {
    /// The mean speed of a body at rest that is left alone.
    creep: f64,
    /// Its speed after 0.2 s.
    left_alone: f64,
    /// The acceleration of what stands after a push.
    after_push: f64,
    /// The speed at the end.
    end: f64,
}

/// A body that comes to rest on level ground, on a ground that turns to a slope of `tangent` (gravity does) and stays, and after a push.
fn on_slope(definition: &Definition, tangent: f64, steps: usize) -> OnSlope {
    let mut simulation = Simulation::new(definition).unwrap();
    let mass = {
        // momentum of a unit velocity
        let n = simulation.positions().len();
        let moving = vec![Vec3::x(); definition.bodies[0].rest.len().min(n)];
        let mut at = Simulation::new(definition).unwrap();
        at.set_velocities(0, &moving).unwrap();
        linear_momentum(at.model(), at.state()).x
    };
    let of = |tangent: f64| G / (1.0 + tangent * tangent).sqrt() * Vec3::new(tangent, -1.0, 0.0);
    let slope = of(tangent);
    let mut run = |gravity: Vec3, steps: usize| -> Vec<f64> {
        simulation.set_gravity(Some(gravity)).unwrap();
        let mut step = || {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            speed(&simulation, mass)
        };
        (0..steps).map(|_| step()).collect()
    };
    run(of(0.0), 60);
    // slowly, or what is soft sways
    (1..=60).for_each(|k| drop(run(of(tangent * f64::from(k) / 60.0), 1)));
    let alone = run(slope, 40);
    run(slope + 8.0 * Vec3::x(), 20);
    let slide = run(slope, steps);
    let last = slide[steps - 1];
    let seconds = (steps - 1) as f64 * definition.settings.time.step;
    OnSlope {
        creep: (alone.iter().sum::<f64>() / 40.0).abs(),
        left_alone: alone[39],
        after_push: (last - slide[0]) / seconds,
        end: last,
    }
}

/// Every kind of body, on a half-space and on a plate, with both contact solvers: on a slope between both angles of friction it sticks when put
/// there at rest, and slides on with g (sin α − μ_k cos α) after a push.
#[test]
fn what_sticks_when_at_rest_slides_on_after_a_push() {
    let mu = [0.6, 0.3];
    let tangent = 0.45;
    let boxed = || solid_box("box", Vec3::new(0.0, 2e-4, 0.0), Vec3::new(0.3, 0.05, 0.2), 1);
    let soft = || block("block", [0.0, 2e-4, 0.0], [3, 1, 2], 0.1);
    let sheet = || {
        let mut sheet = shells::sheet([0.2, 0.2], [4, 4], shells::material(1e6, 0.3, 1e-3));
        sheet.rest.iter_mut().for_each(|p| p.y += 2e-4);
        sheet
    };
    let mut rod = rods::straight(8, 5e-3);
    rod.rest.iter_mut().for_each(|p| p.y += 2e-4);
    let (barrier, free) = (Method::Barrier, Method::BarrierFree);
    let planar = || grid("block", [3, 1], |i, j| [0.1 * i as f64, 2e-4 + 0.1 * j as f64]);
    let in_plane = Definition { dimension: Dimension::Two, ..on_ground(planar(), mu, barrier) };
    let mut oriented = on_ground(soft(), mu, barrier);
    oriented.settings.contact.potential = ContactPotential::OrientationAware;
    let cases = [
        ("rigid, barrier", on_ground(boxed(), mu, barrier)),
        ("rigid, barrier-free", on_ground(boxed(), mu, free)),
        ("rigid on a plate, barrier", on_plate(on_ground(boxed(), mu, barrier))),
        ("solid, barrier", on_ground(soft(), mu, barrier)),
        ("solid on a plate, barrier-free", on_plate(on_ground(soft(), mu, free))),
        ("solid, orientation-aware", oriented),
        ("plane, barrier", in_plane),
        ("sheet on a plate, barrier", on_plate(on_ground(sheet(), mu, barrier))),
        ("sheet, barrier-free", on_ground(sheet(), mu, free)),
        ("rod on a plate, barrier", on_plate(on_ground(rod.clone(), mu, barrier))),
        ("rod, barrier-free", on_ground(rod, mu, free)),
    ];
    let expected = G / (1.0_f64 + tangent * tangent).sqrt() * (tangent - mu[1]);
    for (name, definition) in cases {
        let OnSlope { creep, after_push, .. } = on_slope(&definition, tangent, 40);
        println!("{name}: creep {creep:.2e} m/s, {after_push:.5} m/s², expected {expected:.5}");
        assert!(creep < STICK_SPEED, "{name}: {creep}");
        assert!((after_push / expected - 1.0).abs() < 0.01, "{name}: {after_push} {expected}");
    }
}

/// The static coefficient alone decides whether what is at rest stays there, the kinetic one alone whether what was pushed slides on: 1 % on either side
/// of the slope.
#[test]
fn the_thresholds_are_those_of_both_coefficients() {
    let tangent = 0.5;
    let g = G / (1.0_f64 + tangent * tangent).sqrt();
    let boxed = || solid_box("box", Vec3::new(0.0, 2e-4, 0.0), Vec3::new(0.3, 0.05, 0.2), 1);
    for method in [Method::Barrier, Method::BarrierFree] {
        let run = |mu: [f64; 2]| on_slope(&on_ground(boxed(), mu, method), tangent, 100);
        // at rest: it stays, or slides with the kinetic coefficient
        assert!(run([0.505, 0.3]).creep < STICK_SPEED);
        let slides = run([0.495, 0.3]).left_alone;
        let expected = 0.2 * g * (tangent - 0.3);
        println!("{method:?}: {slides:.4} m/s after 0.2 s of slope, from rest {expected:.4}");
        assert!((slides / expected - 1.0).abs() < 0.1, "{slides} {expected}");
        // pushed: it slides on, or slows down
        for kinetic in [0.495, 0.505] {
            let found = run([0.7, kinetic]).after_push;
            let expected = g * (tangent - kinetic);
            println!("{method:?}, μ_k = {kinetic}: {found:.5} m/s², expected {expected:.5}");
            assert!((found - expected).abs() < 2e-3 * g * kinetic, "{found} {expected}");
        }
        // with a larger kinetic coefficient it stops and sticks
        let end = run([0.7, 0.69]).end;
        assert!(end.abs() < STICK_SPEED, "{end}");
    }
}

/// A box of 3 kg on the ground, pulled by springs whose other ends move at a constant speed.
struct Pulled {
    definition: Definition,
    /// Stiffness of all springs, N/m.
    stiffness: f64,
    /// Speed of their ends, m/s.
    pull: f64,
    /// The normal force, N.
    normal: f64,
    mu: [f64; 2],
}

fn pulled(method: Method, integrator: Integrator, step: f64, at_rest: f64) -> Pulled {
    let (stiffness, pull, mu) = (300.0, 0.05, [at_rest, 0.3]);
    let size = Vec3::new(0.3, 0.05, 0.2);
    let body = solid_box("box", Vec3::new(0.0, 2e-4, 0.0), size, 1);
    let front = |p: &Vec3| p.x > 0.29 && p.x < 0.31 && p.y > 0.0;
    let carried = body.carried().map(|v| v as u32);
    let corners: Vec<u32> = carried.filter(|&v| front(&body.rest[v as usize])).collect();
    assert_eq!(corners.len(), 4);
    let ends: Vec<Vec3> =
        corners.iter().map(|&v| body.rest[v as usize] + 2.0 * Vec3::x()).collect();
    let mut definition = on_ground(body, mu, method);
    definition.bodies.push(BodyDef {
        name: "puller".into(),
        rest: ends,
        kind: BodyKind::Obstacle {
            triangles: Vec::new(),
            edges: Vec::new(),
            points: vec![0, 1, 2, 3],
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    });
    let motion = Motion::Rigid {
        linear: pull * Vec3::x(),
        angular: Vec3::zeros(),
        pivot: Pivot::StartCentre,
    };
    definition.prescribed.push(PrescribedDef::new("pull", 1, vec![0, 1, 2, 3], motion));
    definition.attachments.push(AttachmentDef {
        name: "spring".into(),
        body: 0,
        vertices: corners,
        anchor: Anchor::Vertices(vec![(1, vec![0, 1, 2, 3])]),
        distance: f64::INFINITY,
        stiffness: SpringStiffness::PerSpring(stiffness / 4.0),
        rest_length: None,
        t0: 0.0,
        t1: f64::INFINITY,
    });
    let settings = &mut definition.settings;
    settings.time.step = step;
    settings.time.end = 6.0;
    settings.time.integrator = integrator;
    settings.friction.stick_speed = Some(1e-4);
    settings.solver.end.velocity = Some(1e-7);
    Pulled { definition, stiffness, pull, normal: 3.0 * G, mu }
}

/// Stick–slip of Coulomb's law with two coefficients: with A = (μ_s − μ_k) N/k the spring swings by ±√(A² + V²/ω²) about μ_k N/k, in the period
/// T = 2A/V + 2/ω (π − arctan(Aω/V)) of sticking and slipping. What the spring's end does in work becomes kinetic and elastic energy and
/// heat; over a period its mean force is the kinetic friction.
#[test]
fn a_block_on_a_spring_sticks_and_slips() {
    let cases = [
        (Method::Barrier, Integrator::Bdf2, 2e-3, 0.5),
        (Method::BarrierFree, Integrator::Bdf2, 2e-3, 0.6),
        (Method::Barrier, Integrator::ImplicitEuler, 1e-3, 0.5),
    ];
    for (method, integrator, h, at_rest) in cases {
        let Pulled { definition, stiffness, pull, normal, mu } =
            pulled(method, integrator, h, at_rest);
        let mut simulation = Simulation::new(&definition).unwrap();
        let mass = normal / G;
        let body = &definition.bodies[0];
        let centre = |x: &[Vec3]| crate::common::rigid::centre(body, x).x;
        let start = centre(simulation.positions());
        let (mut work, mut heat, mut extension, mut at) = (0.0, 0.0, 0.0, start);
        let (mut extensions, mut worst) = (Vec::new(), 0.0_f64);
        for k in 0..(5.6 / h) as usize {
            let report = simulation.step().unwrap();
            // rounding may hide what is left of the forces in stiff friction, with one coefficient as well, but not how a slip begins
            let falls = (1.05..9.5).contains(&(speed(&simulation, mass) / 1e-4));
            let is_settled =
                report.outcome.is_success() || report.outcome == StepOutcome::RoundOff && !falls;
            assert!(is_settled, "{report:?}");
            let now = centre(simulation.positions());
            let longer = pull * h * (k + 1) as f64 - (now - start);
            let force = report.forces.half_spaces["ground"].force[0];
            work += 0.5 * stiffness * (extension + longer) * pull * h;
            heat += force * (now - at);
            (extension, at) = (longer, now);
            let kinetic = 0.5 * mass * speed(&simulation, mass).powi(2);
            let stored = kinetic + 0.5 * stiffness * extension * extension;
            worst = worst.max((work - heat - stored).abs());
            extensions.push(extension);
        }
        // peaks and troughs, each the extreme of what is above or below the middle
        let middle = mu[1] * normal / stiffness;
        let amplitude = (mu[0] - mu[1]) * normal / stiffness;
        let omega = (stiffness / mass).sqrt();
        let slip = 2.0 / omega * (std::f64::consts::PI - (amplitude * omega / pull).atan());
        let period = 2.0 * amplitude / pull + slip;
        let amplitude = amplitude.hypot(pull / omega);
        let mut crossings = Vec::new();
        for (k, pair) in extensions.windows(2).enumerate() {
            if pair[0] > middle && pair[1] <= middle {
                crossings.push(k);
            }
        }
        assert!(crossings.len() >= 3, "{crossings:?}");
        let (first, last) = (crossings[0], crossings[crossings.len() - 1]);
        let found = (last - first) as f64 * h / (crossings.len() - 1) as f64;
        let cycles = &extensions[first..last];
        let greatest = cycles.iter().copied().fold(f64::MIN, f64::max) - middle;
        let least = middle - cycles.iter().copied().fold(f64::MAX, f64::min);
        let mean = cycles.iter().sum::<f64>() / cycles.len() as f64 / middle;
        let balance = worst / work;
        println!(
            "{method:?} {integrator:?}: period {found:.4} s, {period:.4} expected; amplitude \
             {:.4} up and {:.4} down of {amplitude:.5} m; mean force {mean:.4} of the kinetic \
             friction; energy off by {balance:.1e} of the work",
            greatest / amplitude,
            least / amplitude,
        );
        let tolerance = if integrator == Integrator::Bdf2 { 0.01 } else { 0.03 };
        assert!((found / period - 1.0).abs() < tolerance, "{found} {period}");
        assert!((greatest / amplitude - 1.0).abs() < 0.01, "{greatest} {amplitude}");
        assert!((least / amplitude - 1.0).abs() < tolerance, "{least} {amplitude}");
        assert!((mean - 1.0).abs() < 0.5 * tolerance, "{mean}");
        assert!(balance < tolerance, "{balance}");
    }
}

/// Quasi-static steps end in minima, not where friction falls and forces balance without stability: the spring's force rises to the static friction, and falls to
/// the kinetic one in one step.
#[test]
fn quasi_static_slips_end_at_the_kinetic_friction() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let Pulled { mut definition, stiffness, pull, normal, mu } =
            pulled(method, Integrator::QuasiStatic, 0.05, 0.5);
        definition.settings.solver.end.velocity = None;
        let mut simulation = Simulation::new(&definition).unwrap();
        let centre =
            |s: &Simulation| crate::common::rigid::centre(&definition.bodies[0], s.positions()).x;
        let start = centre(&simulation);
        // friction is static below a slip of 0.01 s ε_v
        let stick = 0.01 * 1e-4;
        let (mut at, mut slips, mut most) = (start, 0, 0.0_f64);
        for k in 0..60 {
            let report = simulation.step().unwrap();
            let settled = report.outcome.is_success() || report.outcome == StepOutcome::RoundOff;
            assert!(settled && !report.saddle, "{report:?}");
            let now = centre(&simulation);
            let slip = (now - at) / stick;
            let extension = pull * 0.05 * f64::from(k + 1) - (now - start);
            let force = stiffness * extension / normal;
            most = most.max(force);
            assert!(!(1.01..=9.9).contains(&slip), "{method:?} step {k}: {slip} {force}");
            if slip > 9.9 {
                slips += 1;
                assert!((force - mu[1]).abs() < 1e-3, "{method:?} step {k}: {force}");
            }
            at = now;
        }
        println!(
            "{method:?}: {slips} slips, the spring pulls with {most:.4} of the weight at most"
        );
        assert!(slips >= 5 && most < 1.001 * mu[0] && most > 0.95 * mu[0], "{slips} {most}");
    }
}

/// Blocks and a sheet that slide over each other, some of them slowly.
fn heap(method: Method, kinetic: Option<f64>) -> Definition {
    let mut low = block("low", [0.0, 2e-4, 0.0], [4, 2, 4], 0.1);
    low.velocity = vec![Vec3::new(0.02, 0.0, 0.0); low.rest.len()];
    let mut definition = on_ground(low, [0.4, 0.4], method);
    definition.settings.friction.kinetic_coefficient = kinetic;
    let mut high = block("high", [0.05, 0.2012, 0.03], [3, 2, 3], 0.1);
    high.velocity = vec![Vec3::new(-0.5, 0.0, 0.2); high.rest.len()];
    let mut sheet = shells::sheet([0.3, 0.3], [5, 5], shells::material(1e6, 0.3, 1e-3));
    sheet.rest.iter_mut().for_each(|p| *p += Vec3::new(0.2, 0.4030, 0.2));
    sheet.velocity = vec![Vec3::new(0.8, 0.0, 0.0); sheet.rest.len()];
    for mut body in [high, sheet] {
        body.friction_material = "default".into();
        definition.bodies.push(body);
    }
    definition.settings.solver.barrier_free.fallback = Fallback::Barrier;
    definition.settings.solver.end.velocity = Some(1e-4);
    definition
}

fn bits(state: &State) -> Vec<u64> {
    let vectors = state.vectors();
    vectors.iter().flat_map(|(_, l)| l.iter()).flatten().map(|c| c.to_bits()).collect()
}

/// Whatever the number of threads, and from a state in the middle of the run, with both solvers.
#[test]
fn two_coefficients_give_the_same_bits_on_any_thread_and_after_restoring() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let definition = heap(method, Some(0.2));
        let run = |threads: usize, state: Option<State>, steps: usize| -> State {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut simulation = match state {
                    None => Simulation::new(&definition).unwrap(),
                    Some(state) => Simulation::restore(&definition, state).unwrap(),
                };
                let mut contacts = 0;
                for _ in 0..steps {
                    let report = simulation.step().unwrap();
                    assert!(report.outcome.is_success(), "{report:?}");
                    contacts += report.contacts;
                }
                assert!(contacts > 100 && simulation.audit().is_empty());
                simulation.state().clone()
            })
        };
        let one = run(1, None, 12);
        assert_eq!(bits(&one), bits(&run(2, None, 12)), "{method:?}");
        let middle = run(2, None, 6);
        assert_eq!(bits(&one), bits(&run(2, Some(middle), 6)), "{method:?}");
    }
}

/// A kinetic coefficient that is the static one changes no bit, a smaller one does.
#[test]
fn equal_coefficients_are_one() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let run = |kinetic: Option<f64>| {
            let mut simulation = Simulation::new(&heap(method, kinetic)).unwrap();
            for _ in 0..6 {
                simulation.step().unwrap();
            }
            bits(simulation.state())
        };
        assert_eq!(run(None), run(Some(0.4)), "{method:?}");
        assert_ne!(run(None), run(Some(0.39)), "{method:?}");
    }
}
