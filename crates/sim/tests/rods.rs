//! Rods against the elastica, the torque of a twisted shaft and Michell's ring.

use crate::common::{converge, difference, ground, scene};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::DMatrix;
use standoff_sim::Simulation;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::energy::Term;
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::expression::VectorExpression;
use standoff_sim::settings::Integrator;
use standoff_testkit::thorough;
use std::f64::consts::{PI, TAU};

pub fn material(radius: f64) -> RodMaterial {
    RodMaterial { radius, young_modulus: 1e9, poisson_ratio: 0.3 }
}

pub fn rod(points: Vec<Vec3>, closed: bool, material: RodMaterial) -> BodyDef {
    let n = points.len() as u32;
    let count = if closed { n } else { n - 1 };
    BodyDef {
        name: "rod".into(),
        rest: points,
        kind: BodyKind::Rod {
            segments: (0..count).map(|k| [k, (k + 1) % n]).collect(),
            material,
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        ..BodyDef::default()
    }
}

pub fn straight(n: usize, radius: f64) -> BodyDef {
    let points = (0..=n).map(|k| Vec3::x() * (k as f64 / n as f64)).collect();
    rod(points, false, material(radius))
}

fn held(vertices: Vec<u32>, motion: Motion) -> PrescribedDef {
    PrescribedDef::new("held", 0, vertices, motion)
}

fn constant(v: Vec3) -> VectorExpression {
    VectorExpression::from(v)
}

fn static_scene(body: BodyDef) -> Definition {
    let mut d = Definition { bodies: vec![body], ..Definition::default() };
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.solver.end.velocity = Some(1e-9);
    (d.settings.time.step, d.settings.time.end) = (1.0, 100.0);
    d.settings.contact.d_hat = Some(1e-6);
    d
}

/// Tip of the elastica of length 1 and unit bending stiffness, clamped along x, under the force
/// −`p` y: θ″ = −p cos θ with θ(0) = 0, θ′(1) = 0, by shooting. x and deflection of the tip.
fn elastica(p: f64) -> [f64; 2] {
    let integrate = |slope: f64| {
        let n = 4000;
        let h = 1.0 / n as f64;
        let f = |s: [f64; 4]| [s[1], p * s[0].cos(), s[0].cos(), -s[0].sin()];
        let mut s = [0.0, -slope, 0.0, 0.0];
        for _ in 0..n {
            let add = |a: [f64; 4], b: [f64; 4], c: f64| std::array::from_fn(|i| a[i] + c * b[i]);
            let k1 = f(s);
            let k2 = f(add(s, k1, 0.5 * h));
            let k3 = f(add(s, k2, 0.5 * h));
            let k4 = f(add(s, k3, h));
            let sum: [f64; 4] = std::array::from_fn(|i| k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
            s = add(s, sum, h / 6.0);
        }
        s
    };
    let (mut low, mut high) = (0.0, p);
    for _ in 0..60 {
        let mid = 0.5 * (low + high);
        // the moment at the tip vanishes
        if integrate(mid)[1] < 0.0 { high = mid } else { low = mid }
    }
    let s = integrate(0.5 * (low + high));
    [s[2], s[3]]
}

#[test]
fn a_loaded_cantilever_is_an_elastica() {
    // the classical table [Mattiasson 1981]: p, 1 − x, y at the tip
    for (p, x, y) in [(1.0, 0.05643, 0.30172), (5.0, 0.38763, 0.71379), (10.0, 0.55500, 0.81061)] {
        let s = elastica(p);
        assert!((1.0 - s[0] - x).abs() < 2e-5 && (s[1] - y).abs() < 2e-5, "{s:?}");
    }
    let p = 5.0;
    let exact = elastica(p);
    let mut errors = Vec::new();
    for n in [10, 20, 40] {
        // the clamp acts at the middle of a segment of its own
        let l = 1.0 / (n as f64 + 0.5);
        let points = (0..=n + 1).map(|k| Vec3::x() * ((k as f64 - 1.0) * l)).collect();
        let m = material(2e-3);
        let mut d = static_scene(rod(points, false, m));
        d.prescribed.push(held(vec![0, 1], Motion::Fixed));
        let force = -p * m.bending_stiffness() * Vec3::y();
        d.forces.push(ForceDef {
            name: "tip".into(),
            body: 0,
            vertices: vec![n as u32 + 1],
            load: Load::Force(constant(force)),
            t0: 0.0,
            t1: f64::INFINITY,
        });
        let mut sim = Simulation::new(&d).unwrap();
        for _ in 0..3 {
            sim.step().unwrap();
        }
        let clamp = Vec3::x() * (-0.5 * l);
        let tip = sim.positions()[n + 1] - clamp;
        errors.push((tip.x - exact[0]).hypot(-tip.y - exact[1]));
    }
    println!("errors of the tip {errors:?}");
    assert!(errors[2] < 2e-3, "{errors:?}");
    assert!(errors[0] / errors[2] > 10.0, "{errors:?}");
}

#[test]
fn a_twisted_shaft_pulls_with_the_analytic_torque() {
    let n = 10;
    let mut d = static_scene(straight(n, 0.01));
    d.prescribed.push(held(vec![0, 1], Motion::Fixed));
    let turn = Motion::Rigid {
        linear: Vec3::zeros(),
        angular: Vec3::x() * 1.0,
        pivot: Pivot::Point(Vec3::zeros()),
    };
    d.prescribed.push(held(vec![n as u32 - 1, n as u32], turn));
    let mut sim = Simulation::new(&d).unwrap();
    let c = material(0.01).twisting_stiffness();
    assert!((c / (1e9 / 2.6 * PI * 1e-8 / 2.0) - 1.0).abs() < 1e-12);
    let length = (n - 1) as f64 / n as f64;
    for step in 1..=8 {
        let report = sim.step().unwrap();
        // more than a turn in the end
        let angle = f64::from(step);
        let energy = 0.5 * c * angle * angle / length;
        assert!((report.elastic_energy / energy - 1.0).abs() < 1e-6, "{step}");
        let state = sim.state();
        let joints = sim.model().codim_at(state).rod_joints;
        for (k, joint) in joints.elements.iter().enumerate() {
            let moment = joint.moment(&joints.gather(k, &state.x));
            assert!((moment / (c * angle / length) - 1.0).abs() < 1e-6, "{moment}");
        }
    }
}

/// A ring of a naturally straight rod with uniform twist.
fn ring(n: usize, radius: f64, twist: f64) -> BodyDef {
    let at = |k: usize| {
        let a = TAU * k as f64 / n as f64;
        Vec3::new(a.cos(), a.sin(), 0.0)
    };
    let points: Vec<Vec3> = (0..n).map(at).collect();
    let length = n as f64 * (points[1] - points[0]).norm();
    let mut body = rod(points, true, material(radius));
    if let BodyKind::Rod { straight, natural_twist, .. } = &mut body.kind {
        (*straight, *natural_twist) = (true, -twist / length);
    }
    body
}

/// Number of directions in which the energy of a twisted ring falls.
fn unstable_modes(n: usize, radius: f64, twist: f64) -> usize {
    let definition = Definition { bodies: vec![ring(n, radius, twist)], ..Definition::default() };
    let (model, state) = standoff_sim::build::build(&definition).unwrap();
    let codim = model.codim_at(&state);
    let gradient = |x: &[Vec3]| {
        let mut g = vec![Vec3::zeros(); x.len()];
        codim.terms().iter().for_each(|t| t.add_gradient(x, &mut g));
        g
    };
    // the straightening of the rod is held by tension: find the radius
    let stretched = |s: f64| {
        let mut x = state.x.clone();
        x[..n].iter_mut().for_each(|p| *p *= s);
        x
    };
    let radial = |s: f64| gradient(&stretched(s))[0].x;
    let (mut low, mut high) = (0.9, 1.1);
    for _ in 0..60 {
        let mid = 0.5 * (low + high);
        if radial(mid) < 0.0 { low = mid } else { high = mid }
    }
    let mut x = stretched(low);
    let dofs: Vec<(usize, usize)> =
        (0..n).flat_map(|v| [(v, 0), (v, 1), (v, 2)]).chain((n..2 * n).map(|v| (v, 0))).collect();
    let mut h = DMatrix::zeros(dofs.len(), dofs.len());
    let eps = 1e-5;
    for (c, &(v, k)) in dofs.iter().enumerate() {
        let mut side = |s: f64| {
            let kept = x[v][k];
            x[v][k] += s;
            let g = gradient(&x);
            x[v][k] = kept;
            g
        };
        let (plus, minus) = (side(eps), side(-eps));
        for (r, &(w, j)) in dofs.iter().enumerate() {
            h[(r, c)] = (plus[w][j] - minus[w][j]) / (2.0 * eps);
        }
    }
    let h = 0.5 * (&h + h.transpose());
    let values = h.symmetric_eigen().eigenvalues;
    let bending = material(radius).bending_stiffness();
    values.iter().filter(|v| **v < -1e-3 * bending).count()
}

/// A twisted ring buckles at a twist of 2π √3 B/C [Michell 1889; Goriely 2006].
#[test]
fn a_twisted_ring_buckles_where_michell_says() {
    let radius = 0.02;
    let m = material(radius);
    let exact = TAU * 3f64.sqrt() * m.bending_stiffness() / m.twisting_stiffness();
    let critical = |n: usize| {
        let (mut low, mut high) = (0.8, 1.5);
        assert_eq!(unstable_modes(n, radius, low * exact), 0);
        assert!(unstable_modes(n, radius, high * exact) > 0);
        while high - low > 1e-3 {
            let mid = 0.5 * (low + high);
            if unstable_modes(n, radius, mid * exact) > 0 { high = mid } else { low = mid }
        }
        0.5 * (low + high)
    };
    let sizes: &[usize] = if thorough() { &[16, 32, 64] } else { &[16, 32] };
    let errors: Vec<f64> = sizes.iter().map(|&n| (critical(n) - 1.0).abs()).collect();
    println!("critical twist beside Michell's, relative error {errors:?}");
    assert!(errors.windows(2).all(|pair| pair[1] < 0.5 * pair[0]), "{errors:?}");
    let finest = if thorough() { 0.01 } else { 0.04 };
    assert!(errors.last().is_some_and(|&e| e < finest), "{errors:?}");
}

/// Ten percent below it a disturbed ring stays flat, ten percent above it leaves its plane.
#[test]
fn a_simulated_ring_buckles_too() {
    let radius = 0.02;
    let m = material(radius);
    let exact = TAU * 3f64.sqrt() * m.bending_stiffness() / m.twisting_stiffness();
    let out_of_plane = |part: f64| {
        let mut body = ring(32, radius, part * exact);
        body.start = body.rest.clone();
        for (k, p) in body.start.iter_mut().enumerate() {
            p.z = 1e-3 * (2.0 * TAU * k as f64 / 32.0).cos();
        }
        let mut d = Definition { bodies: vec![body], ..Definition::default() };
        (d.settings.time.step, d.settings.time.end) = (0.01, 10.0);
        d.settings.solver.end.velocity = Some(1e-6);
        let mut sim = Simulation::new(&d).unwrap();
        for _ in 0..100 {
            sim.step().unwrap();
        }
        sim.positions().iter().map(|p| p.z.abs()).fold(0.0, f64::max)
    };
    let (below, above) = (out_of_plane(0.9), out_of_plane(1.1));
    println!("out of plane {below} {above}");
    assert!(below < 2e-3 && above > 0.05, "{below} {above}");
}

/// A bent and turned helix that only starts elsewhere has no energy, and keeps none.
#[test]
fn curved_rods_rest_wherever_they_start() {
    let helix = |k: usize| {
        let a = 0.4 * k as f64;
        Vec3::new(0.3 * a.cos(), 0.05 * a, 0.3 * a.sin())
    };
    let turn = standoff_linalg::nalgebra::Rotation3::new(Vec3::new(1.0, -2.0, 0.5));
    let mut body = rod((0..20).map(helix).collect(), false, material(0.01));
    body.start = body.rest.iter().map(|p| turn * p + Vec3::y()).collect();
    let mut d = Definition { bodies: vec![body], ..Definition::default() };
    d.settings.contact.d_hat = Some(1e-4);
    let mut sim = Simulation::new(&d).unwrap();
    let report = sim.step().unwrap();
    assert!(report.elastic_energy < 1e-18, "{}", report.elastic_energy);
}

/// A segment with one end held and the mass at the other vibrates as one oscillator, ω² = EA/(l m):
/// stiffness-proportional damping of coefficient c makes its amplitude fall by exp(−c ω² t/2).
#[test]
fn a_damped_rod_loses_its_vibration() {
    // c in units of 1/ω
    let (radius, c) = (0.02, 0.1);
    let body = straight(1, radius);
    let RodMaterial { young_modulus, .. } = material(radius);
    let omega = (2.0 * young_modulus / 1000.0_f64).sqrt();
    let h = 0.01 / omega;
    let mut d = Definition { bodies: vec![body], ..Definition::default() };
    d.bodies[0].start = vec![Vec3::zeros(), Vec3::x() * 1.0001];
    d.prescribed.push(PrescribedDef::new("end", 0, vec![0], Motion::Fixed));
    d.settings.time.step = h;
    d.settings.time.stiffness_damping = c / omega;
    d.settings.solver.end.velocity = Some(1e-8);
    for integrator in [Integrator::Newmark, Integrator::ImplicitMidpoint] {
        d.settings.time.integrator = integrator;
        let mut sim = Simulation::new(&d).unwrap();
        let steps = (TAU / 0.01).round() as usize;
        for _ in 0..steps {
            sim.step().unwrap();
        }
        let left = (sim.positions()[1].x - 1.0) / 1e-4;
        let expected = (-0.5 * c * 0.01 * steps as f64).exp();
        assert!((left - expected).abs() < 0.01, "{integrator:?} {left} {expected}");
    }
}

/// Rods of one segment of 6 mm with E = 1 GPa, each turned otherwise, that fall on the ground and tumble.
fn tumbling(arcs: bool) -> (u64, Simulation) {
    let bodies = (0..6).map(|k| {
        let k = f64::from(k);
        let (low, way) = (Vec3::new(0.02 * k, 0.002, 0.0), Vec3::new(0.2 + 0.1 * k, 1.0, 0.3));
        let points = vec![low, low + 0.006 * way.normalize()];
        let mut body = rod(points, false, material(0.5e-3));
        body.name = format!("rod {k}");
        body.velocity = vec![Vec3::new(0.0, -0.2, 0.0); 2];
        body
    });
    let mut d = scene(bodies.collect());
    d.gravity = Vec3::new(0.0, -9.81, 0.0);
    d.half_spaces.push(ground(0.0));
    d.settings.time.step = 0.01;
    d.settings.contact.d_hat = Some(0.5e-3);
    d.settings.friction.coefficient = 0.0;
    d.settings.solver.arcs = arcs;
    let (reports, simulation) = converge(d, 1e-6, 8);
    (reports.iter().map(|r| r.newton_iterations).sum(), simulation)
}

/// A stiff segment that turns keeps its length on the way, so that it need not turn in small steps; the minimum is the same.
#[test]
fn stiff_rods_of_one_segment_turn_in_few_iterations() {
    let (along_arcs, a) = tumbling(true);
    let (straight_on, b) = tumbling(false);
    let apart = difference(&a, &b);
    println!("{along_arcs} iterations along arcs, {straight_on} straight on; {apart:.1e} m apart");
    assert!(3 * along_arcs < straight_on, "{along_arcs} and {straight_on}");
    // each step ends within h ε of its minimum
    assert!(apart < 8.0 * 0.01 * 1e-6, "{apart:e}");
}
