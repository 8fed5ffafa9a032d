//! Accuracy in time against analytic and independent solutions.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{DMatrix, DVector};
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Motion, PrescribedDef};
use standoff_sim::energy::Element;
use standoff_sim::energy::tet::ElasticTets;
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{Integrator, Scheme, TimeSettings};
use standoff_sim::state::State;
use standoff_sim::{Simulation, energetics};
use standoff_testkit::finite_difference::relative_error;
use standoff_testkit::{number, numbers, testdata_json, thorough};

const INTEGRATORS: [Integrator; 4] = [
    Integrator::ImplicitEuler,
    Integrator::Bdf2,
    Integrator::Newmark,
    Integrator::ImplicitMidpoint,
];

/// Linear in stretch: E (λ − 1) along a bar without lateral contraction.
const LINEAR: Material =
    Material { law: Law::CorotatedLinear, young_modulus: 1e5, poisson_ratio: 0.0 };
const DENSITY: f64 = 1000.0;
/// Wave speed √(E/ρ), m/s.
const SPEED: f64 = 10.0;

fn with_material(mut body: BodyDef, law: Material, rho: f64) -> BodyDef {
    if let BodyKind::Volume { material, density, .. } = &mut body.kind {
        (*material, *density) = (law, rho);
    }
    body
}

fn held(vertices: Vec<u32>) -> PrescribedDef {
    PrescribedDef::new("held", 0, vertices, Motion::Fixed)
}

fn at_zero(body: &BodyDef) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| body.rest[v as usize].x == 0.0).collect()
}

/// The axial mode of a clamped bar: shape (largest entry 1, zero where held) and ω, rad/s, of the
/// discrete system K φ = ω² M φ with lumped masses, by a dense eigenvalue solver.
fn axial_mode(body: &BodyDef) -> (Vec<Vec3>, f64) {
    let BodyKind::Volume { tets, material, density, .. } = &body.kind else { unreachable!() };
    let mesh =
        ElasticTets::new(&body.rest, tets.clone(), &vec![material.clone(); tets.len()]).unwrap();
    let n = body.rest.len();
    let mut mass = vec![0.0; n];
    mesh.add_lumped_mass(&vec![*density; tets.len()], &mut mass);
    let free: Vec<usize> = (0..n).filter(|&v| body.rest[v].x > 0.0).collect();
    let mut row = vec![usize::MAX; n];
    free.iter().enumerate().for_each(|(r, &v)| row[v] = r);
    let mut k = DMatrix::<f64>::zeros(3 * free.len(), 3 * free.len());
    for (e, tet) in tets.iter().enumerate() {
        let h = mesh.elements[e].hessian_psd(&tet.map(|v| body.rest[v as usize]));
        for (a, &va) in tet.iter().enumerate() {
            for (b, &vb) in tet.iter().enumerate() {
                let (va, vb) = (va as usize, vb as usize);
                if row[va] == usize::MAX || row[vb] == usize::MAX {
                    continue;
                }
                for i in 0..3 {
                    for j in 0..3 {
                        k[(3 * row[va] + i, 3 * row[vb] + j)] +=
                            h[a][b][(i, j)] / (mass[va] * mass[vb]).sqrt();
                    }
                }
            }
        }
    }
    let guess = DVector::from_fn(3 * free.len(), |r, _| {
        let v = free[r / 3];
        let wave = (0.5 * std::f64::consts::PI * body.rest[v].x).sin();
        if r % 3 == 0 { mass[v].sqrt() * wave } else { 0.0 }
    });
    let eigen = k.symmetric_eigen();
    let overlap = |c: usize| eigen.eigenvectors.column(c).dot(&guess).abs();
    let mode = (0..3 * free.len()).max_by(|&a, &b| overlap(a).total_cmp(&overlap(b))).unwrap();
    let mut shape = vec![Vec3::zeros(); n];
    for (r, value) in eigen.eigenvectors.column(mode).iter().enumerate() {
        shape[free[r / 3]][r % 3] = value / mass[free[r / 3]].sqrt();
    }
    let largest = shape.iter().map(|s| s.norm()).fold(0.0, f64::max);
    shape.iter_mut().for_each(|s| *s /= largest);
    (shape, eigen.eigenvalues[mode].sqrt())
}

/// A clamped bar in its first axial mode follows cos(ω t): order of the integrators over one period.
#[test]
fn order_on_a_vibrating_bar() {
    let bar = with_material(block("bar", [0.0; 3], [10, 1, 1], 0.1), LINEAR, DENSITY);
    let (shape, omega) = axial_mode(&bar);
    let analytic = 0.5 * std::f64::consts::PI * SPEED;
    println!("first axial mode: {omega:.4} rad/s, continuous bar {analytic:.4}");
    assert!((omega / analytic - 1.0).abs() < 0.01);
    let amplitude = 1e-5;
    let error = |integrator, n: usize| {
        let mut bar = bar.clone();
        bar.start = bar.rest.iter().zip(&shape).map(|(p, s)| p + amplitude * s).collect();
        let vertices = at_zero(&bar);
        let mut definition = scene(vec![bar.clone()]);
        definition.prescribed.push(held(vertices));
        let period = std::f64::consts::TAU / omega;
        definition.settings.time.step = 0.9 * period / n as f64;
        definition.settings.time.integrator = integrator;
        definition.settings.solver.end.velocity = Some(1e-12);
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut worst: f64 = 0.0;
        for _ in 0..n {
            assert!(simulation.step().unwrap().outcome.is_success());
            let wave = amplitude * (omega * simulation.time()).cos();
            for ((x, r), s) in simulation.positions().iter().zip(&bar.rest).zip(&shape) {
                worst = worst.max((x - r - wave * s).norm() / amplitude);
            }
        }
        worst
    };
    for (integrator, stated, n) in [
        (Integrator::ImplicitEuler, 0.995, 800),
        (Integrator::Bdf2, 1.999, 100),
        (Integrator::Newmark, 1.994, 100),
        (Integrator::ImplicitMidpoint, 1.994, 100),
    ] {
        let (coarse, fine) = (error(integrator, n), error(integrator, 2 * n));
        let order = (coarse / fine).log2();
        println!("{integrator:?}: {coarse:.2e} with {n} steps, {fine:.2e} with twice: {order:.3}");
        assert!((order - stated).abs() < 1.5e-3, "{integrator:?} {order}");
    }
}

struct Impact {
    /// Largest error of the ends' heights, m.
    position: f64,
    /// Mean contact pressure over the middle 60 % of the contact, Pa.
    pressure: f64,
    /// Mean velocity at the end, m/s.
    rebound: f64,
}

/// A bar of length 1 that hits the ground at `V0` [Doyen 2011]: it stays for 2L/c under the pressure
/// ρ c v₀ while a wave runs up and down, then leaves with v₀.
const V0: f64 = 0.5;

fn impact(integrator: Integrator, n: usize, courant: f64) -> Impact {
    let cell = 1.0 / n as f64;
    let (d_hat, fall) = (0.02 * cell, 0.01);
    let contact_begins = fall / V0;
    let contact_lasts = 2.0 / SPEED;
    let mut bar = block("bar", [0.0, fall + d_hat, 0.0], [1, n, 1], cell);
    bar.velocity = vec![Vec3::new(0.0, -V0, 0.0); bar.rest.len()];
    let lowest = bar.rest.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let bar = with_material(bar, LINEAR, DENSITY);
    let end = |high: bool| {
        bar.rest.iter().position(|p| {
            (p.y > lowest + 0.5) == high && {
                let edge = if high { lowest + 1.0 } else { lowest };
                (p.y - edge).abs() < 1e-9
            }
        })
    };
    let (bottom, top) = (end(false).unwrap(), end(true).unwrap());
    let mut definition: Definition = scene(vec![bar.clone()]);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = courant * cell / SPEED;
    definition.settings.time.integrator = integrator;
    definition.settings.contact.d_hat = Some(d_hat);
    definition.settings.solver.end.velocity = Some(1e-7);
    let mut simulation = Simulation::new(&definition).unwrap();
    let (mut position, mut pressures): (f64, Vec<f64>) = (0.0, Vec::new());
    while simulation.time() < contact_begins + contact_lasts + 0.03 {
        assert!(simulation.step().unwrap().outcome.is_success());
        let s = simulation.time() - contact_begins;
        let after = (s - contact_lasts).max(0.0);
        let low = d_hat - V0 * s.min(0.0) + V0 * after;
        // the wave reaches the top after L/c and turns its velocity
        let high = d_hat + 1.0 - V0 * s.min(1.0 / SPEED) + V0 * (s - 1.0 / SPEED).max(0.0);
        let x = simulation.positions();
        position = position.max((x[bottom].y - low).abs()).max((x[top].y - high).abs());
        if (0.2..0.8).contains(&(s / contact_lasts)) {
            let force: f64 = simulation.contact_forces().iter().map(|f| f.y).sum();
            pressures.push(force / (cell * cell));
        }
    }
    let momentum = energetics::linear_momentum(simulation.model(), simulation.state());
    Impact {
        position,
        pressure: pressures.iter().sum::<f64>() / pressures.len() as f64,
        rebound: momentum.y / (DENSITY * cell * cell),
    }
}

#[test]
fn a_bar_against_a_wall_has_its_analytic_force_and_rebound() {
    let analytic = DENSITY * SPEED * V0;
    let mut faults = Vec::new();
    // a quick check leaves out implicit Euler, whose steps are the shortest
    for integrator in INTEGRATORS.into_iter().skip(if thorough() { 0 } else { 1 }) {
        // implicit Euler smears the wave front over √(c h L): its step shrinks with the cell squared
        let courant = |n: usize| match integrator {
            Integrator::ImplicitEuler => 2.0 / n as f64,
            _ => 0.25,
        };
        let runs = [8, 16, 32].map(|n| impact(integrator, n, courant(n)));
        for run in &runs {
            println!(
                "{integrator:?}: position error {:.2e} m, pressure {:.4} of analytic, rebound {:.4} of v0",
                run.position,
                run.pressure / analytic,
                run.rebound / V0
            );
        }
        let [coarse, middle, fine] = &runs;
        let converges = fine.position < middle.position && middle.position < coarse.position;
        let close = fine.position < 0.5 * coarse.position && fine.position < 4e-3;
        let pressure = (fine.pressure / analytic - 1.0).abs() < 0.01;
        let rebound = (fine.rebound / V0 - 1.0).abs() < 0.1 && fine.rebound > middle.rebound;
        if !(converges && close && pressure && rebound) {
            faults.push(integrator);
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
}

/// scikit-fem's neo-Hookean cantilevers under their weight, by one quasi-static step.
#[test]
fn quasi_static_cantilevers_of_the_oracle() {
    let data = testdata_json("oracle/peer_static.json");
    for case in data["cases"].as_array().expect("cases") {
        let rest: Vec<Vec3> =
            numbers(&case["vertices"]).chunks(3).map(Vec3::from_column_slice).collect();
        let tets = numbers(&case["tets"]);
        let mut body = block("beam", [0.0; 3], [1, 1, 1], 1.0);
        body.rest = rest.clone();
        body.kind = BodyKind::Volume {
            middles: Vec::new(),
            tets: tets.chunks(4).map(|t| [0, 1, 2, 3].map(|k| t[k] as u32)).collect(),
            density: 1.0,
            material: Material {
                law: Law::NeoHookean,
                young_modulus: number(&case["E"]),
                poisson_ratio: number(&case["nu"]),
            },
        };
        let vertices = at_zero(&body);
        let mut definition = scene(vec![body]);
        definition.gravity = Vec3::new(0.0, 0.0, number(&case["body_force_z"]));
        definition.prescribed.push(held(vertices));
        definition.settings.time.integrator = Integrator::QuasiStatic;
        definition.settings.solver.end.velocity = Some(1e-11);
        let mut simulation = Simulation::new(&definition).unwrap();
        let report = simulation.step().unwrap();
        // the tolerance is below what rounding lets the finest mesh reach
        assert!(report.outcome.is_minimum(), "{report:?}");
        let u: Vec<f64> = (simulation.positions().iter().zip(&rest))
            .flat_map(|(x, r)| [x.x - r.x, x.y - r.y, x.z - r.z])
            .collect();
        let expected = &case["neo_hookean"];
        let error = relative_error(&u, &numbers(&expected["displacement"]), 0.0);
        println!(
            "quasi-static cantilever: {error:.1e}, {} iterations, residual {:.1e} m/s, oracle's {}",
            report.newton_iterations, report.residual_speed, expected["residual"]
        );
        assert!(error < 2e-8, "{error:e}");
        let energy = number(&expected["energy"]);
        assert!((report.elastic_energy / energy - 1.0).abs() < 1e-8);
    }
}

/// A cantilever without the oracle: a quasi-static bar under its weight along its axis is linear,
/// u(L) = ρ g L²/(2E).
#[test]
fn quasi_static_bar_hangs() {
    let bar = with_material(block("bar", [0.0; 3], [20, 1, 1], 0.05), LINEAR, DENSITY);
    let tip = bar.rest.len() - 1;
    let vertices = at_zero(&bar);
    let mut definition = scene(vec![bar]);
    definition.gravity = Vec3::new(0.5, 0.0, 0.0);
    definition.prescribed.push(held(vertices));
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.solver.end.velocity = Some(1e-11);
    let mut simulation = Simulation::new(&definition).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let (u, expected) = (simulation.positions()[tip].x - 1.0, DENSITY * 0.5 / (2.0 * 1e5));
    println!("hanging bar: {u:.6e} m, analytic {expected:.6e}");
    assert!((u / expected - 1.0).abs() < 0.02);
}

/// Friction acts on the integrator's own velocity: it vanishes at the rest point and grows by
/// 1/friction_time per displacement.
#[test]
fn friction_sees_the_velocity_of_every_integrator() {
    let h = 0.013;
    let p = |k: f64| Vec3::new(k, 0.3 - k * k, 2.0 * k);
    let mut state = State::start(vec![p(0.2)], vec![p(1.3)], 0);
    (state.step, state.time) = (3, 3.0 * h);
    (state.a, state.x_previous, state.v_previous) = (vec![p(-3.0)], vec![p(0.18)], vec![p(1.1)]);
    let members = [0.3, 0.7, 1.0].map(|alpha| Scheme::OneStep { alpha, beta: 0.9 });
    let named = INTEGRATORS.map(|integrator| {
        let time = TimeSettings { integrator, ..TimeSettings::default() };
        time.scheme()
    });
    for integrator in named.into_iter().chain(members) {
        let rest = integrator.rest_point(&state, 0, h);
        assert!(integrator.velocity(&state, 0, rest, h).norm() < 1e-12, "{integrator:?}");
        let moved = integrator.velocity(&state, 0, rest + Vec3::x(), h);
        let expected = Vec3::x() / integrator.friction_time(h);
        assert!((moved - expected).norm() < 1e-10 * expected.norm(), "{integrator:?}");
    }
}
