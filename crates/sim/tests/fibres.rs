//! Solids with fibres, against closed forms.

use crate::common::{block, difference, grid, ground, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, FibreFamily, ForceDef, Load, Motion, PrescribedDef,
};
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
use standoff_sim::material::{Law, Material};
use standoff_sim::report::StepReport;
use standoff_sim::settings::{EndSettings, Integrator, Method};
use standoff_sim::{BuildError, Simulation};
use std::f64::consts::{FRAC_PI_2, PI};

const MATERIAL: Material =
    Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

fn held(name: &str, vertices: Vec<u32>, k: usize) -> PrescribedDef {
    let along = vec![Vec3::ith(k, 1.0)];
    PrescribedDef { along, ..PrescribedDef::new(name, 0, vertices, Motion::Fixed) }
}

fn of_law(stiffness: f64, exponent: f64, angle: f64) -> FibreFamily {
    FibreFamily {
        direction: FibreDirection::Along(Vec3::new(angle.cos(), angle.sin(), 0.0)),
        law: FibreLaw { stiffness, exponent },
        tension: None,
    }
}

/// A bar of 2 × 1 × 1 m on three symmetry planes.
fn bar(second_order: bool, fibres: Vec<FibreFamily>) -> Definition {
    let mut body = block("bar", [0.0; 3], [2, 1, 1], 1.0);
    if let BodyKind::Volume { material, tets, middles, .. } = &mut body.kind {
        *material = MATERIAL;
        if second_order {
            add_middles(tets, middles, &mut body.rest);
        }
    }
    body.fibres = fibres;
    let sets = [0, 1, 2].map(|k| select(&body, |p| p[k] < 1e-9));
    let mut d = scene(vec![body]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.contact.enabled = false;
    d.settings.solver.end.velocity = Some(1e-11);
    d.settings.solver.end.forces = Some(1e-10);
    for (k, set) in sets.into_iter().enumerate() {
        d.prescribed.push(held(["x", "y", "z"][k], set, k));
    }
    d
}

/// The stretches across that go with the stretch `a` along a bar with `families` at angles to it in the plane of x and y, and the
/// force per rest area along, with active tensions (Pa) of the families.
fn across(a: f64, families: &[(FibreLaw, f64, f64)]) -> ([f64; 2], f64) {
    across_of(&MATERIAL, a, families)
}

/// The same of a neo-Hookean material.
fn across_of(material: &Material, a: f64, families: &[(FibreLaw, f64, f64)]) -> ([f64; 2], f64) {
    let (mu, lambda) = (material.mu(), material.lambda());
    // first Piola–Kirchhoff stresses along x, y, z
    let stress = |y: f64, z: f64| {
        let ln_j = (a * y * z).ln();
        let mut p = [a, y, z].map(|s| mu * (s - 1.0 / s) + lambda * ln_j / s);
        for (law, angle, tension) in families {
            let (c, s) = (angle.cos(), angle.sin());
            let square = (a * c).powi(2) + (y * s).powi(2);
            let e = (square - 1.0_f64).max(0.0);
            let pull =
                2.0 * law.stiffness * e * (law.exponent * e * e).exp() + tension / square.sqrt();
            p[0] += pull * a * c * c;
            p[1] += pull * y * s * s;
        }
        p
    };
    // Newton's method with differences
    let (mut y, mut z) = (1.0, 1.0);
    for _ in 0..60 {
        let [_, f, g] = stress(y, z);
        let d = 1e-7;
        let ([_, fy, gy], [_, fz, gz]) = (stress(y + d, z), stress(y, z + d));
        let m = [[(fy - f) / d, (fz - f) / d], [(gy - g) / d, (gz - g) / d]];
        let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        y -= (f * m[1][1] - g * m[0][1]) / det;
        z -= (g * m[0][0] - f * m[1][0]) / det;
    }
    ([y, z], stress(y, z)[0])
}

/// A bar that is drawn out or pressed together: positions, forces and stresses, with fibres along it, across it, and in two families of helices.
#[test]
fn bars_with_fibres_have_the_forces_of_the_closed_form() {
    let cases = [
        vec![(4e4, 0.0, 0.0)],
        vec![(2e4, 5.0, 0.0)],
        vec![(3e4, 2.0, 0.6), (3e4, 2.0, -0.6)],
        vec![(5e4, 1.0, FRAC_PI_2)],
    ];
    for fibres in cases {
        let families = || fibres.iter().map(|&(k, e, angle)| of_law(k, e, angle)).collect();
        let laws: Vec<_> = fibres
            .iter()
            .map(|&(stiffness, exponent, angle)| (FibreLaw { stiffness, exponent }, angle, 0.0))
            .collect();
        for second_order in [false, true] {
            let stretches = [0.9, 1.1, 1.3];
            let mut d = bar(second_order, families());
            let end = select(&d.bodies[0], |p| p.x > 2.0 - 1e-9);
            let at = |a: f64| {
                end.iter()
                    .map(|v| {
                        let p = d.bodies[0].rest[*v as usize];
                        Vec3::new(2.0 * a, p.y, p.z)
                    })
                    .collect()
            };
            let frames = stretches.map(at).into();
            let along = vec![Vec3::x()];
            let motion = Motion::Sequence { frames };
            d.prescribed
                .push(PrescribedDef { along, ..PrescribedDef::new("end", 0, end.clone(), motion) });
            let rest = d.bodies[0].rest.clone();
            let mut simulation = Simulation::new(&d).unwrap();
            for a in stretches {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{report:?}");
                let ([y, z], force) = across(a, &laws);
                let error = simulation
                    .positions()
                    .iter()
                    .zip(&rest)
                    .map(|(x, p)| (x - p.component_mul(&Vec3::new(a, y, z))).norm());
                let error = error.fold(0.0, f64::max);
                assert!(error < 1e-8, "{fibres:?} {second_order} {a}: {error:e}");
                let found = report.forces.held["end"].force[0];
                assert!((found - force).abs() < 1e-7 * 1e5, "{fibres:?} {a}: {found} {force}");
                let cauchy = force / (y * z);
                for stress in simulation.stresses() {
                    assert!((stress[(0, 0)] - cauchy).abs() < 1e-7 * 1e5, "{stress} {cauchy}");
                    assert!(stress[(1, 1)].abs() < 1e-6 * 1e5, "{stress}");
                }
            }
            // what is pressed together along has no help of fibres along
            if fibres[0].2 == 0.0 {
                assert_eq!(across(0.9, &laws), across(0.9, &[]));
            }
        }
    }
}

/// A muscle without load: it shortens until the solid pushes back with its tension, which follows an expression of time.
#[test]
fn muscles_shorten_as_the_closed_form_says() {
    let mut family = of_law(2e4, 1.0, 0.0);
    family.tension = Some(Expression::parse("3e4*t").unwrap());
    let mut pushing = of_law(0.0, 0.0, 0.0);
    pushing.tension = Some(Expression::parse("-1e4*t").unwrap());
    for (second_order, family) in [(false, &family), (true, &family), (false, &pushing)] {
        let law = family.law;
        let mut simulation = Simulation::new(&bar(second_order, vec![family.clone()])).unwrap();
        for step in 1..=3 {
            let tension = family.tension.as_ref().unwrap().at(f64::from(step));
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            // the stretch at which no force is left
            let (mut low, mut high) = (0.3, 1.9);
            for _ in 0..100 {
                let a = 0.5 * (low + high);
                let pulls = across(a, &[(law, 0.0, tension)]).1 > 0.0;
                if pulls { high = a } else { low = a }
            }
            let found = simulation.positions().iter().map(|x| x.x).fold(0.0, f64::max) / 2.0;
            assert!((found - low).abs() < 1e-8, "{step}: {found} {low}");
            assert!((low < 0.9) == (tension > 0.0) || step == 1, "{low}");
            assert!(simulation.stresses().iter().all(|s| s.norm() < 1e-2), "no stress is left");
            assert!(report.energies.contains_key("muscles"));
        }
    }
}

/// A cube with crossed fibres, one family of which beats, falls on the ground: the decomposed solver and the barrier-free one do the same as Newton's method.
#[test]
fn all_contact_solvers_have_fibres() {
    let after = |method: Method| {
        let mut body = block("cube", [0.0, 0.01, 0.0], [2, 2, 2], 0.05);
        let mut beating = of_law(2e4, 2.0, 0.7);
        beating.tension = Some(Expression::parse("4e4*sin(20*t)^2").unwrap());
        body.fibres = vec![of_law(1e5, 1.0, -0.7), beating];
        let mut d = scene(vec![body]);
        d.gravity = Vec3::new(0.0, -9.8, 0.0);
        d.half_spaces.push(ground(0.0));
        d.settings.solver.method = method;
        d.settings.solver.end = match method {
            Method::Dot => EndSettings { characteristic: Some(1e-7), ..EndSettings::default() },
            _ => EndSettings { velocity: Some(1e-7), ..EndSettings::default() },
        };
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..12 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success() && report.energies["fibres"] >= 0.0, "{report:?}");
        }
        assert!(simulation.contact_forces().iter().any(|f| f.y > 0.0), "it has landed");
        simulation
    };
    let newton = after(Method::Barrier);
    let rest = newton.model().rest.clone();
    let strained = newton.positions().iter().zip(&rest).map(|(x, p)| (x.x - p.x).abs());
    assert!(strained.fold(0.0, f64::max) > 2e-3, "it is deformed");
    for (method, bound) in [(Method::Dot, 3e-5), (Method::BarrierFree, 2e-3)] {
        let error = difference(&after(method), &newton);
        assert!(error < bound, "{method:?} {error:e}");
    }
}

/// The end of a bar is moved at once to twice its length, which draws the last cells out to six times theirs: there the exponential of
/// the fibres is beyond what a number holds. The bar finds its shape.
#[test]
fn an_end_that_is_moved_far_at_once_is_followed() {
    let mut body = block("bar", [0.0; 3], [5, 1, 1], 0.2);
    body.fibres = vec![of_law(1e3, 1.0, 0.0)];
    let (low, end) = (select(&body, |p| p.x < 1e-9), select(&body, |p| p.x > 1.0 - 1e-9));
    let along = |name: &str, vertices: &[u32], motion: Motion| PrescribedDef {
        along: vec![Vec3::x()],
        ..PrescribedDef::new(name, 0, vertices.to_vec(), motion)
    };
    let sides = [1, 2].map(|k| select(&body, |p| p[k] < 1e-9));
    let frames = vec![end.iter().map(|v| body.rest[*v as usize] + Vec3::x()).collect()];
    let mut d = scene(vec![body]);
    d.settings.contact.enabled = false;
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.prescribed.push(along("low", &low, Motion::Fixed));
    d.prescribed.push(along("end", &end, Motion::Sequence { frames }));
    for (k, side) in (1..).zip(sides) {
        d.prescribed.push(held(["y", "z"][k - 1], side, k));
    }
    let mut simulation = Simulation::new(&d).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.outcome.is_success() && report.newton_iterations < 100, "{report:?}");
    // the law of the bar is that of `block`
    let law = FibreLaw { stiffness: 1e3, exponent: 1.0 };
    let of_bar = Material { poisson_ratio: 0.4, ..MATERIAL };
    let force = 0.04 * across_of(&of_bar, 2.0, &[(law, 0.0, 0.0)]).1;
    let found = report.forces.held["end"].force[0];
    assert!((found / force - 1.0).abs() < 1e-5, "{found} {force}");
}

/// Damping in proportion to stiffness damps fibres, too: the first step of a cube that is at rest and thrown apart has (c/2h) Δxᵀ K Δx, with the linear
/// elasticity of the law and 4 k₁ of the fibres in K.
#[test]
fn fibres_are_damped() {
    let (c, h, k1) = (0.03, 1e-4, 5e4);
    let mut body = block("cube", [0.0; 3], [1, 1, 1], 1.0);
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        *material = MATERIAL;
    }
    body.fibres = vec![of_law(k1, 1.0, 0.4)];
    body.velocity = body.rest.iter().map(|p| Vec3::new(p.x + 0.3 * p.y, 0.2 * p.z, 0.0)).collect();
    let mut d = scene(vec![body]);
    d.settings.time.step = h;
    d.settings.time.stiffness_damping = c;
    d.settings.contact.enabled = false;
    let mut simulation = Simulation::new(&d).unwrap();
    let report = simulation.step().unwrap();
    let solids = &simulation.model().solids;
    let a = Vec3::new(0.4_f64.cos(), 0.4_f64.sin(), 0.0);
    let of_element = |(e, volume): (usize, f64)| {
        let f = solids.deformation_gradient(e, simulation.positions());
        let strain = 0.5 * (f + f.transpose()) - Mat3::identity();
        let law = 2.0 * MATERIAL.mu() * strain.norm_squared()
            + MATERIAL.lambda() * strain.trace().powi(2);
        volume * (law + 4.0 * k1 * a.dot(&(strain * a)).powi(2))
    };
    let all = solids.rest_volumes().into_iter().enumerate().map(of_element);
    let expected = 0.5 * c / h * all.sum::<f64>();
    let found = report.energies["damping"];
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

/// A cube with crossed fibres, one family of which draws, is let go stretched: all integrators of second order swing alike.
#[test]
fn all_integrators_have_fibres() {
    let after = |integrator: Integrator| {
        let mut body = block("cube", [0.0; 3], [1, 1, 1], 0.1);
        let mut drawing = of_law(2e4, 2.0, 0.7);
        drawing.tension = Some(Expression::parse("3e4*t/0.01").unwrap());
        body.fibres = vec![of_law(1e5, 1.0, -0.7), drawing];
        body.velocity = body.rest.iter().map(|p| Vec3::new(4.0 * (p.x - 0.05), 0.0, 0.0)).collect();
        let mut d = scene(vec![body]);
        d.settings.time.integrator = integrator;
        d.settings.time.step = 5e-5;
        d.settings.contact.enabled = false;
        d.settings.solver.end.velocity = Some(1e-8);
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{integrator:?} {report:?}");
            let momentum = Vec3::from(report.linear_momentum).norm();
            assert!(momentum < 1e-9, "{integrator:?}: {momentum:e}");
        }
        simulation
    };
    let newmark = after(Integrator::Newmark);
    let rest = &newmark.model().rest;
    let moved = newmark.positions().iter().zip(rest).map(|(x, p)| (x - p).norm());
    assert!(moved.fold(0.0, f64::max) > 2e-3, "it swings");
    for (integrator, bound) in [
        (Integrator::Bdf2, 2e-5),
        (Integrator::ImplicitMidpoint, 2e-5),
        (Integrator::ImplicitEuler, 2e-3),
    ] {
        let error = difference(&after(integrator), &newmark);
        assert!(error < bound, "{integrator:?} {error:e}");
    }
}

fn pressed(vertices: Vec<u32>, pressure: f64) -> ForceDef {
    let load = Load::Pressure(pressure.into());
    ForceDef { name: "pressure".into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

/// A thick tube with rings of fibres under a small inner pressure, between ends that do not move: in the half-plane of a body of revolution, and as a
/// quarter of a ring in the plane. The greatest error of the displacement by that of the inside.
fn tube(dimension: Dimension, n: usize) -> f64 {
    let (a, b, p, k1) = (1.0, 2.0, 1.0, 6e4);
    let mut body = match dimension {
        Dimension::Axisymmetric => {
            grid("tube", [n, 2], |i, j| [a + (b - a) * i as f64 / n as f64, 0.05 * j as f64])
        }
        _ => grid("tube", [n, 2 * n], |i, j| {
            let r = a + (b - a) * i as f64 / n as f64;
            let angle = FRAC_PI_2 * j as f64 / (2 * n) as f64;
            [r * angle.cos(), r * angle.sin()]
        }),
    };
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = MATERIAL;
    }
    let axis = if dimension.is_axisymmetric() { Vec3::y() } else { Vec3::z() };
    let direction = FibreDirection::Around { axis, through: Vec3::zeros(), helix_angle: 0.0 };
    let law = FibreLaw { stiffness: k1, exponent: 1.0 };
    body.fibres = vec![FibreFamily { direction, law, tension: None }];
    let radius = |q: &Vec3| if dimension.is_axisymmetric() { q.x } else { q.norm() };
    let inside = select(&body, |q| radius(q) < a + 1e-9);
    let (all, rest) = (select(&body, |_| true), body.rest.clone());
    let planes = [0, 1].map(|k| select(&body, |q| q[k] < 1e-9));
    let mut d = Definition { dimension, ..scene(vec![body]) };
    match dimension {
        Dimension::Axisymmetric => d.prescribed.push(held("ends", all, 1)),
        _ => {
            for (k, plane) in planes.into_iter().enumerate() {
                d.prescribed.push(held(["x", "y"][k], plane, k));
            }
        }
    }
    d.forces.push(pressed(inside, p));
    d.settings.contact.enabled = false;
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.solver.end.velocity = Some(1e-12);
    d.settings.solver.end.forces = Some(1e-8);
    let mut simulation = Simulation::new(&d).unwrap();
    let report: StepReport = simulation.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    // u = A r^k + B r^−k [Lekhnitskii 1963], of an elasticity that is stiffer along the circumference by 4 k₁
    let (rr, rt) = (MATERIAL.lambda() + 2.0 * MATERIAL.mu(), MATERIAL.lambda());
    let k = ((rr + 4.0 * k1) / rr).sqrt();
    let radial = |r: f64| [(rr * k + rt) * r.powf(k - 1.0), (rt - rr * k) * r.powf(-k - 1.0)];
    let ([p0, p1], [q0, q1]) = (radial(a), radial(b));
    let det = p0 * q1 - p1 * q0;
    let (big_a, big_b) = (-p * q1 / det, p * q0 / det);
    let u = |r: f64| big_a * r.powf(k) + big_b * r.powf(-k);
    let error = simulation.positions().iter().zip(&rest).map(|(x, q)| {
        let out = if dimension.is_axisymmetric() { Vec3::x() } else { q.normalize() };
        (x - q - u(radius(q)) * out).norm()
    });
    error.fold(0.0, f64::max) / u(a)
}

#[test]
fn tubes_with_rings_of_fibres_widen_as_lekhnitskii_says() {
    for (dimension, bound) in [(Dimension::Axisymmetric, 4e-4), (Dimension::Two, 1.2e-3)] {
        let errors = [16, 32].map(|n| tube(dimension, n));
        assert!(errors[1] < bound && errors[1] < 0.35 * errors[0], "{dimension:?} {errors:?}");
        println!("{dimension:?}: {errors:?}");
    }
}

/// A tube of helices that lengthens or shortens under pressure as McKibben's actuators do: below 54.7° from the axis it shortens.
#[test]
fn a_tube_of_helices_shortens_below_the_neutral_angle() {
    let length_after = |from_axis: f64| {
        let mut body = grid("tube", [2, 8], |i, j| [0.9 + 0.05 * i as f64, 0.25 * j as f64]);
        if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
            *material = Material { young_modulus: 1e4, ..MATERIAL };
        }
        let angle = FRAC_PI_2 - from_axis * PI / 180.0;
        let family = |helix_angle: f64| FibreFamily {
            direction: FibreDirection::Around {
                axis: Vec3::y(),
                through: Vec3::zeros(),
                helix_angle,
            },
            law: FibreLaw { stiffness: 1e7, exponent: 0.0 },
            tension: None,
        };
        body.fibres = vec![family(angle), family(-angle)];
        let inside = select(&body, |q| q.x < 0.9 + 1e-9);
        let (low, top) = (select(&body, |q| q.y < 1e-9), select(&body, |q| q.y > 2.0 - 1e-9));
        let mut d = Definition { dimension: Dimension::Axisymmetric, ..scene(vec![body]) };
        d.prescribed.push(held("low", low, 1));
        // a closed end of the same pressure
        d.forces.push(pressed(inside, 1e3));
        let load = Load::Force(Vec3::new(0.0, 1e3 * PI * 0.81, 0.0).into());
        let end = ForceDef {
            name: "end".into(),
            body: 0,
            vertices: top.clone(),
            load,
            t0: 0.0,
            t1: f64::INFINITY,
        };
        d.forces.push(end);
        d.settings.contact.enabled = false;
        d.settings.time.integrator = Integrator::QuasiStatic;
        let mut simulation = Simulation::new(&d).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        let y = |v: &u32| simulation.positions()[*v as usize].y;
        top.iter().map(y).sum::<f64>() / top.len() as f64 - 2.0
    };
    let [steep, flat] = [40.0, 70.0].map(length_after);
    assert!(steep < -1e-3 && flat > 1e-3, "{steep} {flat}");
}

#[test]
fn what_fibres_cannot_be_is_refused() {
    let refused = |d: &Definition| Simulation::new(d).err().map(|e| e.to_string()).unwrap();
    let family = |direction| FibreFamily { direction, ..of_law(1e4, 1.0, 0.0) };
    let mut around = bar(false, vec![]);
    let BodyKind::Volume { tets, .. } = &around.bodies[0].kind else { unreachable!() };
    let centroid = tets[3].iter().map(|v| around.bodies[0].rest[*v as usize]).sum::<Vec3>() / 4.0;
    around.bodies[0].fibres = vec![family(FibreDirection::Around {
        axis: Vec3::x(),
        through: centroid,
        helix_angle: 0.0,
    })];
    let said = refused(&around);
    assert!(said.contains("element 3 is on the axis") && said.contains("bar"), "{said}");
    for (fibres, key) in [
        (vec![family(FibreDirection::Along(Vec3::zeros()))], "direction"),
        (vec![of_law(-1.0, 1.0, 0.0)], "stiffness"),
        (vec![of_law(1.0, f64::NAN, 0.0)], "exponent"),
        (vec![of_law(0.0, 1.0, 0.0)], "stiffness"),
        (vec![of_law(1.0, 1.0, 0.0); 9], "fibres"),
    ] {
        let said = refused(&bar(false, fibres));
        assert!(said.contains(key), "{said}");
    }
    let mut projective = bar(false, vec![of_law(1e4, 1.0, 0.0)]);
    projective.settings.solver.method = Method::AdmmPd;
    projective.settings.solver.end = EndSettings::default();
    let error = Simulation::new(&projective).err().unwrap();
    assert!(matches!(error, BuildError::Unfit { .. }), "{error}");
    assert!(error.to_string().contains("fibres"), "{error}");
    let mut pole = of_law(1e4, 1.0, 0.0);
    pole.tension = Some(Expression::parse("1/(t-1)").unwrap());
    let mut simulation = Simulation::new(&bar(false, vec![pole])).unwrap();
    let said = simulation.step().unwrap_err().to_string();
    assert!(said.contains("tension of fibres"), "{said}");
}
