//! Bodies of quadratic tetrahedra.

use crate::common::{block, converge, ground, scene};
use standoff_geometry::audit::audit_curved_inversions;
use standoff_geometry::quadratic::{EDGES, add_middles};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::audit::{Violation, violations};
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, Load, Motion, PrescribedDef,
};
use standoff_sim::energy::Element;
use standoff_sim::energy::quadratic_tet::QuadraticTet;
use standoff_sim::error::BuildError;
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{ContactPotential, Integrator, Method};
use standoff_sim::{Simulation, energetics};
use standoff_testkit::{Random, thorough};

/// A body with nodes in the middles of its edges.
fn curved(mut body: BodyDef) -> BodyDef {
    if let BodyKind::Volume { tets, middles, .. } = &mut body.kind {
        add_middles(tets, middles, &mut body.rest);
    }
    body
}

fn of_order(quadratic: bool, body: BodyDef) -> BodyDef {
    if quadratic { curved(body) } else { body }
}

fn with_material(mut body: BodyDef, e: f64, nu: f64) -> BodyDef {
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        *material = Material { law: Law::NeoHookean, young_modulus: e, poisson_ratio: nu };
    }
    body
}

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

fn statics(body: BodyDef) -> Definition {
    let mut d = scene(vec![body]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.contact.enabled = false;
    d
}

fn hold(d: &mut Definition, vertices: Vec<u32>, motion: Motion) {
    d.prescribed.push(PrescribedDef::new("held", 0, vertices, motion));
}

/// Deflection of the end of a cantilever of 1 × 0.1 × 0.1 m under a load of 10 N across, in terms of that of beam theory with shear
/// [Timoshenko 1921].
fn deflection(quadratic: bool, across: usize, nu: f64) -> f64 {
    let e = 1e9;
    let body = block("beam", [0.0; 3], [10 * across, across, across], 0.1 / across as f64);
    let body = of_order(quadratic, with_material(body, e, nu));
    let (held, end) = (select(&body, |p| p.x < 1e-6), select(&body, |p| p.x > 1.0 - 1e-6));
    let ends: Vec<usize> = end.iter().map(|v| *v as usize).collect();
    let mut d = statics(body);
    hold(&mut d, held, Motion::Fixed);
    d.forces.push(ForceDef {
        name: "load".into(),
        body: 0,
        vertices: end,
        load: Load::Force(Vec3::new(0.0, -10.0, 0.0).into()),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    let mut simulation = Simulation::new(&d).unwrap();
    let before = simulation.positions().to_vec();
    assert!(simulation.step().unwrap().outcome.is_success());
    let moved = |v: &usize| before[*v].y - simulation.positions()[*v].y;
    let found = ends.iter().map(moved).sum::<f64>() / ends.len() as f64;
    let (inertia, area) = (0.1_f64.powi(4) / 12.0, 0.01);
    let shear = e / (2.0 * (1.0 + nu)) * area * 5.0 / 6.0;
    found / (10.0 / (3.0 * e * inertia) + 10.0 / shear)
}

#[test]
fn a_beam_bends_as_in_beam_theory_where_linear_elements_lock() {
    for (nu, linear, least) in [(0.3, 0.55, 0.985), (0.45, 0.33, 0.96), (0.499, 0.03, 0.94)] {
        let found = [false, true].map(|quadratic| deflection(quadratic, 2, nu));
        println!("ν = {nu}: linear {:.3}, quadratic {:.3} of beam theory", found[0], found[1]);
        assert!(found[0] < linear, "{found:?}");
        assert!((least..1.0).contains(&found[1]), "{found:?}");
    }
    // one cell across, with 189 nodes, is nearer than eight linear ones, with 6561
    let [one, eight] = [deflection(true, 1, 0.3), deflection(false, 8, 0.3)];
    println!("one quadratic cell {one:.3}, eight linear ones {eight:.3}");
    assert!((0.97..1.0).contains(&one) && eight < 0.95, "{one} {eight}");
}

/// A bar under its own weight has a displacement of degree two, which quadratic elements have exactly: ρ g (L z − z²/2)/E.
#[test]
fn a_bar_hangs_exactly() {
    let (e, density, g, length) = (1e9, 1000.0, 10.0, 1.0);
    let body = curved(with_material(block("bar", [0.0; 3], [1, 4, 1], 0.25), e, 0.0));
    let rest = body.rest.clone();
    let held = select(&body, |p| p.y > length - 1e-6);
    let mut d = statics(body);
    hold(&mut d, held, Motion::Fixed);
    d.gravity = Vec3::new(0.0, -g, 0.0);
    let mut simulation = Simulation::new(&d).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let end = density * g * length * length / (2.0 * e);
    for (p, x) in rest.iter().zip(simulation.positions()) {
        let z = length - p.y;
        let exact = density * g * (length * z - 0.5 * z * z) / e;
        let down = p.y - x.y;
        // strains are 1e-5, and so is what is not linear
        assert!((down - exact).abs() < 2e-5 * end, "{z}: {down} {exact}");
    }
}

/// A mesh whose inner vertices are moved by a part of its cell size.
fn jittered(n: usize, cell: f64, quadratic: bool) -> BodyDef {
    let mut body = with_material(block("block", [-0.5; 3], [n; 3], cell), 1e6, 0.3);
    let (r, inner) = (&mut Random::new(3), 0.5 - 1e-6);
    for p in body.rest.iter_mut().filter(|p| p.amax() < inner) {
        *p += 0.15 * cell * r.vec3();
    }
    of_order(quadratic, body)
}

/// Displacements inside a block whose surface is displaced by `u`.
fn inside(n: usize, quadratic: bool, u: impl Fn(&Vec3) -> Vec3) -> Vec<(Vec3, Vec3)> {
    let body = jittered(n, 1.0 / n as f64, quadratic);
    let rest = body.rest.clone();
    let surface = select(&body, |p| p.amax() > 0.5 - 1e-6);
    let inner = select(&body, |p| p.amax() < 0.5 - 1e-6);
    let frames = vec![surface.iter().map(|v| rest[*v as usize]).map(|p| p + u(&p)).collect()];
    let mut d = statics(body);
    d.settings.solver.end.velocity = Some(1e-13);
    hold(&mut d, surface, Motion::Sequence { frames });
    let mut simulation = Simulation::new(&d).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let x = simulation.positions();
    inner.iter().map(|v| *v as usize).map(|v| (rest[v], x[v] - rest[v])).collect()
}

#[test]
fn uniform_strain_is_reproduced_exactly() {
    let r = &mut Random::new(4);
    let strain = 0.1 * Mat3::from_columns(&[r.vec3(), r.vec3(), r.vec3()]);
    for (p, found) in inside(2, true, |p| strain * p) {
        assert!((found - strain * p).norm() < 1e-12, "{found:?}");
    }
}

/// A displacement that is the gradient of a harmonic polynomial of degree four is in equilibrium without loads; it is of degree three.
#[test]
fn errors_fall_with_the_third_power_of_the_size_of_elements() {
    let u = |p: &Vec3| {
        1e-5 * Vec3::new(
            4.0 * p.x.powi(3) - 12.0 * p.x * p.y * p.y,
            4.0 * p.y.powi(3) - 12.0 * p.x * p.x * p.y,
            0.0,
        )
    };
    let error = |n: usize, quadratic: bool| {
        let all = inside(n, quadratic, u);
        let sum: f64 = all.iter().map(|(p, found)| (found - u(p)).norm_squared()).sum();
        (sum / all.len() as f64).sqrt() / 1e-5
    };
    let sizes: &[usize] = if thorough() { &[3, 6, 12] } else { &[3, 6] };
    let mut orders = Vec::new();
    for quadratic in [false, true] {
        let errors: Vec<f64> = sizes.iter().map(|n| error(*n, quadratic)).collect();
        println!("quadratic {quadratic}: errors {errors:?}");
        orders.push((errors[sizes.len() - 2] / errors[sizes.len() - 1]).log2());
    }
    println!("orders {orders:.2?}");
    assert!((1.5..2.5).contains(&orders[0]) && orders[1] > 2.7, "{orders:?}");
}

/// Two blocks that meet with friction: momentum is kept to round-off, energy does not grow, and no path meets another or an element that inverts.
#[test]
fn blocks_collide_without_a_penetration() {
    for (method, potential) in [
        (Method::Barrier, ContactPotential::Ipc),
        (Method::Barrier, ContactPotential::OrientationAware),
        (Method::BarrierFree, ContactPotential::Ipc),
    ] {
        let mut left = curved(block("left", [0.0; 3], [2, 2, 2], 0.1));
        left.velocity = vec![Vec3::new(2.0, 0.3, 0.0); left.rest.len()];
        let right = curved(block("right", [0.25, 0.07, 0.03], [2, 2, 2], 0.1));
        let mut d = scene(vec![left, right]);
        d.settings.time.step = 0.005;
        d.settings.solver.method = method;
        d.settings.contact.potential = potential;
        d.settings.friction.coefficient = 0.3;
        let start = Simulation::new(&d).unwrap();
        let momentum = energetics::linear_momentum(start.model(), start.state());
        let kinetic = energetics::kinetic_energy(start.model(), start.state());
        let (reports, end) = converge(d, 1e-4, 40);
        let drift = energetics::linear_momentum(end.model(), end.state()) - momentum;
        assert!(drift.norm() < 1e-4 * momentum.norm(), "{method:?}: {drift:?}");
        let last = &reports[39];
        assert!(last.kinetic_energy + last.elastic_energy < kinetic);
        assert!(reports.iter().any(|r| r.max_contacts > 0));
        let right = end.model().bodies[1].vertices.clone();
        let mean = right.map(|v| end.velocities()[v].x).sum::<f64>();
        assert!(mean > 0.0, "{method:?}: the right one is not pushed");
    }
}

/// All integrators, and decomposed optimisation, which ends by the characteristic norm.
#[test]
fn every_integrator_and_decomposed_optimisation_have_them() {
    let run = |change: &dyn Fn(&mut Definition)| {
        let mut d = scene(vec![curved(block("block", [0.0, 0.02, 0.0], [2, 1, 2], 0.1))]);
        d.gravity = Vec3::new(0.0, -9.81, 0.0);
        d.settings.time.step = 0.01;
        d.half_spaces.push(ground(0.0));
        change(&mut d);
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..12 {
            assert!(simulation.step().unwrap().outcome.is_success());
            assert!(simulation.audit().is_empty());
        }
        let height = simulation.positions().iter().map(|p| p.y).sum::<f64>();
        height / simulation.positions().len() as f64
    };
    let found = [
        run(&|d| d.settings.time.integrator = Integrator::ImplicitEuler),
        run(&|d| d.settings.time.integrator = Integrator::Bdf2),
        run(&|d| d.settings.time.integrator = Integrator::Newmark),
        run(&|d| d.settings.time.integrator = Integrator::ImplicitMidpoint),
        run(&|d| d.settings.solver.method = Method::Dot),
    ];
    // it has just landed on the ground, with half of its height below its middle
    assert!(found.iter().all(|y| (0.04..0.055).contains(y)), "{found:?}");
    assert!((found[4] - found[0]).abs() < 1e-4, "{found:?}");
}

/// A pressure on the end of a bar shortens it by p L/E everywhere alike: displacements are linear, and the loads of the nodes are consistent.
#[test]
fn a_pressure_shortens_a_bar_exactly() {
    let (e, pressure) = (1e9, 1e3);
    let body = curved(with_material(block("bar", [0.0; 3], [4, 1, 1], 0.25), e, 0.0));
    let rest = body.rest.clone();
    let (end, held) = (select(&body, |p| p.x > 1.0 - 1e-6), select(&body, |p| p.x < 1e-6));
    let mut d = statics(body);
    hold(&mut d, held, Motion::Fixed);
    let (load, t1) = (Load::Pressure(pressure.into()), f64::INFINITY);
    d.forces.push(ForceDef { name: "pressure".into(), body: 0, vertices: end, load, t0: 0.0, t1 });
    let mut simulation = Simulation::new(&d).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    for (p, x) in rest.iter().zip(simulation.positions()) {
        let exact = -pressure / e * p.x;
        // strains are 1e-6, and so is what is not linear
        assert!((x - p - Vec3::x() * exact).norm() < 1e-5 * pressure / e, "{p} {}", x - p);
    }
}

/// A block is crushed to a fifth of its height; all of its laws, with and without barriers against inversion, keep elements from inverting.
#[test]
fn crushed_elements_do_not_invert() {
    for law in Law::ALL {
        let mut body = curved(block("block", [0.0; 3], [1, 1, 1], 0.1));
        if let BodyKind::Volume { material, .. } = &mut body.kind {
            *material = Material { law: law.clone(), young_modulus: 1e4, poisson_ratio: 0.3 };
        }
        let top = select(&body, |p| p.y > 0.1 - 1e-6);
        let bottom = select(&body, |p| p.y < 1e-6);
        let rest = body.rest.clone();
        let frame = |k: usize| {
            top.iter().map(|v| rest[*v as usize] - Vec3::y() * (0.004 * (k + 1) as f64)).collect()
        };
        let frames: Vec<Vec<Vec3>> = (0..20).map(frame).collect();
        let mut d = scene(vec![body]);
        d.settings.time.step = 0.01;
        hold(&mut d, bottom, Motion::Fixed);
        hold(&mut d, top.clone(), Motion::Sequence { frames });
        let (_, simulation) = converge(d, 1e-3, 20);
        let solids = &simulation.model().solids;
        let ratio = |e: usize| solids.volume_ratio(e, simulation.positions());
        let least = (0..solids.len()).map(ratio).fold(f64::INFINITY, f64::min);
        assert!(least > 0.0 && least < 0.3, "{law:?}: {least}");
    }
}

/// On the ground, the contact force of a block is its weight, and its nodes in the middles of edges touch, too.
#[test]
fn a_block_stands_on_nodes_of_both_kinds() {
    let body = curved(with_material(block("block", [0.0, 0.001, 0.0], [2, 1, 2], 0.1), 1e5, 0.4));
    let corners = body.rest.len() - quadratic_count(&body);
    let mut d = scene(vec![body]);
    d.settings.time.step = 0.05;
    d.gravity = Vec3::new(0.0, -9.81, 0.0);
    d.half_spaces.push(ground(0.0));
    let (_, simulation) = converge(d, 1e-5, 60);
    let forces = simulation.contact_forces();
    let total: Vec3 = forces.iter().sum();
    let weight = 1000.0 * 0.004 * 9.81;
    assert!((total.y / weight - 1.0).abs() < 1e-4, "{total:?}, {weight}");
    let middles: f64 = forces[corners..].iter().map(|f| f.y).sum();
    assert!((0.5..0.95).contains(&(middles / weight)), "{}", middles / weight);
}

fn quadratic_count(body: &BodyDef) -> usize {
    let BodyKind::Volume { middles, .. } = &body.kind else { return 0 };
    let mut all: Vec<u32> = middles.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

#[test]
fn a_linear_and_a_quadratic_body_share_a_scene() {
    let mut low = block("low", [0.0, 0.0005, 0.0], [1, 1, 1], 0.1);
    low.rest.reverse();
    if let BodyKind::Volume { tets, .. } = &mut low.kind {
        // reversed numbers mirror nothing: the tetrahedra are the same
        tets.iter_mut().for_each(|t| *t = t.map(|v| 7 - v));
    }
    let bodies = vec![
        curved(block("first", [0.2, 0.0005, 0.0], [1, 1, 1], 0.1)),
        low,
        curved(block("third", [0.0, 0.11, 0.0], [1, 1, 1], 0.1)),
    ];
    let mut d = scene(bodies);
    d.gravity = Vec3::new(0.0, -9.81, 0.0);
    d.half_spaces.push(ground(0.0));
    let simulation = Simulation::new(&d).unwrap();
    let model = simulation.model();
    assert_eq!(
        model.bodies.iter().map(|b| b.solids.clone()).collect::<Vec<_>>(),
        [6..12, 0..6, 12..18]
    );
    for body in &model.bodies {
        for e in body.solids.clone() {
            let own = |v: &u32| body.vertices.contains(&(*v as usize));
            assert!(model.solids.vertices(e).iter().all(own));
        }
    }
    let mass = |b: usize| model.mass[model.bodies[b].vertices.clone()].iter().sum::<f64>();
    for b in 0..3 {
        assert!((mass(b) - 1.0).abs() < 1e-12, "{}", mass(b));
    }
    let (_, end) = converge(d, 1e-4, 30);
    assert_eq!(end.von_mises().len(), 18);
}

/// The audit names an element that is inverted somewhere within, by its number among all elements and its corners.
#[test]
fn the_audit_finds_what_is_inverted_within() {
    let bodies = vec![
        curved(block("first", [1.0, 0.0, 0.0], [1, 1, 1], 0.1)),
        block("second", [0.0; 3], [1, 1, 1], 0.1),
    ];
    let simulation = Simulation::new(&scene(bodies)).unwrap();
    let model = simulation.model();
    let mut x = simulation.positions().to_vec();
    assert!(violations(model, &x).is_empty());
    let nodes = model.solids.quadratic.vertices()[2];
    // the middle of an edge beyond a quarter of it
    x[nodes[4] as usize] = 0.8 * x[nodes[0] as usize] + 0.2 * x[nodes[1] as usize];
    let found = violations(model, &x);
    let own = |v: &Violation| match v {
        Violation::Inversion { element, vertices } => {
            assert_eq!(model.solids.vertices(*element as usize)[..4], vertices[..]);
            *element == 6 + 2
        }
        _ => false,
    };
    assert!(found.iter().any(own), "{found:?}");
}

/// Whatever crushes an element in steps that are as long as they may be, what is left of it after each is proved to be positive by the audit.
#[test]
fn what_a_step_leaves_is_provable() {
    let random = &mut Random::new(72);
    let material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.4 };
    for k in 0..40 {
        let corners = [Vec3::zeros(), 0.02 * Vec3::x(), 0.01 * Vec3::y(), 0.015 * Vec3::z()];
        let mut x: [Vec3; 10] = std::array::from_fn(|n| match n {
            0..4 => corners[n],
            _ => {
                let [a, b] = EDGES[n - 4].map(|c| corners[c]);
                0.5 * (a + b) + 3e-4 * random.vec3()
            }
        });
        let element = QuadraticTet::new(&x, &material).unwrap();
        let across = random.vec3().normalize();
        let width = |x: &[Vec3]| {
            let all = x.iter().map(|p| across.dot(p));
            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
        };
        let before = width(&x);
        for steps in 0..60 {
            // flat and beyond
            let centre = x.iter().sum::<Vec3>() / 10.0;
            let dx = x.map(|p| -1.5 * across * across.dot(&(p - centre)));
            let step = element.max_step(&x, &dx);
            x = std::array::from_fn(|n| x[n] + step * dx[n]);
            let bad = audit_curved_inversions(&[std::array::from_fn(|n| n as u32)], &x);
            assert!(bad.is_empty(), "{k}, step {steps}: {x:?}");
        }
        assert!(width(&x) < 1e-7 * before, "{k}: {} of {before}", width(&x));
    }
}

#[test]
fn bad_elements_and_nodes_are_named() {
    let error = |change: &dyn Fn(&mut BodyDef)| {
        let mut body = curved(block("block", [0.0; 3], [1, 1, 1], 0.1));
        change(&mut body);
        let mut d = scene(vec![block("other", [1.0; 3], [1, 1, 1], 0.1), body]);
        d.settings.contact.enabled = false;
        Simulation::new(&d).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let node = |body: &BodyDef, e: usize| match &body.kind {
        BodyKind::Volume { middles, .. } => middles[e][0] as usize,
        _ => 0,
    };
    let found = error(&|b| {
        let (n, BodyKind::Volume { tets, .. }) = (node(b, 2), &b.kind) else { return };
        b.rest[n] = b.rest[tets[2][0] as usize];
    });
    assert!(found.contains("'block'") && found.contains("within"), "{found}");
    let found = error(&|b| {
        b.start = b.rest.clone();
        let (n, BodyKind::Volume { tets, .. }) = (node(b, 0), &b.kind) else { return };
        b.start[n] = b.start[tets[0][0] as usize];
    });
    assert!(found.contains("'block'") && found.contains("at the start"), "{found}");
    let found = error(&|b| {
        if let BodyKind::Volume { middles, .. } = &mut b.kind {
            middles.truncate(2);
        }
    });
    assert!(found.contains("2 of 6"), "{found}");
    let found = error(&|b| {
        if let BodyKind::Volume { middles, .. } = &mut b.kind {
            middles[0][0] = 999;
        }
    });
    assert!(found.contains("999"), "{found}");
}

#[test]
fn methods_for_linear_elements_refuse_them() {
    for (change, part) in [
        (
            &(|d: &mut Definition| d.settings.solver.method = Method::AdmmPd) as &dyn Fn(&mut _),
            "quadratic",
        ),
        (&|d: &mut Definition| d.settings.solver.allow_inversion = true, "quadratic"),
    ] {
        let mut body = curved(block("block", [0.0; 3], [1, 1, 1], 0.1));
        if let BodyKind::Volume { material, .. } = &mut body.kind {
            material.law = Law::FixedCorotated;
        }
        let mut d = scene(vec![body]);
        d.settings.contact.enabled = false;
        change(&mut d);
        let error = Simulation::new(&d).err().unwrap();
        assert!(matches!(error, BuildError::Unfit { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
}
