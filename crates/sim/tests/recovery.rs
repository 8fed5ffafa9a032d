//! Stresses recovered at vertices, and their estimated errors, against closed forms.

use crate::common::{block, grid, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::Simulation;
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, FibreFamily, ForceDef, Load, Motion, PrescribedDef,
    SolidPart,
};
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::Integrator;
use standoff_testkit::{Random, thorough};
use std::f64::consts::FRAC_PI_2;

const MATERIAL: Material =
    Material { law: Law::NeoHookean, young_modulus: 1e6, poisson_ratio: 0.3 };

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

fn held(name: &str, vertices: Vec<u32>, k: usize) -> PrescribedDef {
    let along = vec![Vec3::ith(k, 1.0)];
    PrescribedDef { along, ..PrescribedDef::new(name, 0, vertices, Motion::Fixed) }
}

/// After one quasi-static step without contact.
fn at_rest(mut d: Definition) -> Simulation {
    d.settings.contact.enabled = false;
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.solver.end.velocity = Some(1e-13);
    let mut simulation = Simulation::new(&d).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    simulation
}

/// How far stresses are from exact ones.
#[derive(Debug)]
struct Errors {
    /// Of elements, the root of Σ V ‖σ − exact‖² over that of Σ V ‖exact‖².
    elements: f64,
    /// The same as estimated.
    estimated: f64,
    /// At vertices, the root mean square over that of the exact ones: of the mean of the elements around them, and recovered.
    vertices: [f64; 2],
}

/// Of the first body, the only one.
fn errors(s: &Simulation, exact: impl Fn(&Vec3) -> Mat3) -> Errors {
    let (model, found) = (s.model(), s.recovered_stresses());
    let (solids, stress) = (&model.solids, s.stresses());
    let at_points = solids.stress_at_points(s.positions());
    let place = |v: &u32| model.rest[*v as usize];
    let mut means = vec![(Mat3::zeros(), 0.0); model.visible];
    let (mut off, mut all) = (0.0, 0.0);
    for (e, volume) in solids.rest_volumes().into_iter().enumerate() {
        let of = solids.vertices(e);
        let corners = &of[..of.len().min(4)];
        let centre = corners.iter().map(place).sum::<Vec3>() / corners.len() as f64;
        // the rule of degree two of the element, by the points between corners and centre
        let (near, n) =
            (if corners.len() == 3 { 0.5 } else { 0.447_213_595_499_957_9 }, corners.len());
        let points = &at_points[solids.points_of(e)];
        for (k, v) in corners.iter().enumerate() {
            let own = points.get(k).unwrap_or(&points[0]);
            let exact = exact(&(centre + near * (place(v) - centre)));
            off += volume / n as f64 * (own - exact).norm_squared();
            all += volume / n as f64 * exact.norm_squared();
        }
        for v in of {
            let mean = &mut means[*v as usize];
            *mean = (mean.0 + stress[e], mean.1 + 1.0);
        }
    }
    let (mut square, mut whole) = ([0.0; 2], 0.0);
    for (v, (sum, n)) in means.into_iter().enumerate() {
        let exact = exact(&model.rest[v]);
        square[0] += (sum / n - exact).norm_squared();
        square[1] += (found.stress[v] - exact).norm_squared();
        whole += exact.norm_squared();
    }
    Errors {
        elements: (off / all).sqrt(),
        estimated: found.of_bodies[0],
        vertices: square.map(|s| (s / whole).sqrt()),
    }
}

/// The stresses of a block whose surface is displaced by the gradient of a harmonic polynomial of degree four, which is in equilibrium without loads; they
/// are of degree two.
fn block_errors(n: usize, quadratic: bool) -> Errors {
    let size = 1e-5;
    let mut body = block("block", [-0.5; 3], [n; 3], 1.0 / n as f64);
    let random = &mut Random::new(3);
    for p in body.rest.iter_mut().filter(|p| p.amax() < 0.5 - 1e-6) {
        *p += 0.15 / n as f64 * random.vec3();
    }
    if let BodyKind::Volume { tets, middles, material, .. } = &mut body.kind {
        *material = MATERIAL;
        if quadratic {
            add_middles(tets, middles, &mut body.rest);
        }
    }
    let u = |p: &Vec3| {
        let [x, y] = [p.x, p.y];
        size * Vec3::new(
            4.0 * x.powi(3) - 12.0 * x * y * y,
            4.0 * y.powi(3) - 12.0 * x * x * y,
            0.0,
        )
    };
    let surface = select(&body, |p| p.amax() > 0.5 - 1e-6);
    let frames = vec![surface.iter().map(|v| body.rest[*v as usize]).map(|p| p + u(&p)).collect()];
    let mut d = scene(vec![body]);
    d.prescribed.push(PrescribedDef::new("surface", 0, surface, Motion::Sequence { frames }));
    errors(&at_rest(d), |p| {
        let (along, across) = (12.0 * (p.x * p.x - p.y * p.y), -24.0 * p.x * p.y);
        let strain = Mat3::new(along, across, 0.0, across, -along, 0.0, 0.0, 0.0, 0.0);
        2.0 * MATERIAL.mu() * size * strain
    })
}

/// With linear elements recovered stresses are nearly of second order, a quarter as far off as means of elements; with quadratic ones nearly of third order. The
/// errors of elements are estimated to a few per cent.
#[test]
fn stresses_at_vertices_of_a_block_converge_faster_than_those_of_elements() {
    let sizes: &[usize] = if thorough() { &[4, 8, 16] } else { &[4, 8] };
    for (quadratic, order, part) in [(false, 1.7, 0.25), (true, 2.5, 0.03)] {
        let all: Vec<Errors> = sizes.iter().map(|n| block_errors(*n, quadratic)).collect();
        let [before, last] = [&all[all.len() - 2], &all[all.len() - 1]];
        let found = (before.vertices[1] / last.vertices[1]).log2();
        let effectivity = last.estimated / last.elements;
        println!("quadratic {quadratic}: {all:?}, order {found:.2}, effectivity {effectivity:.3}");
        assert!(found > order && last.vertices[1] < part * last.vertices[0], "{all:?}");
        assert!((effectivity - 1.0).abs() < 0.02, "{all:?}");
    }
}

/// A thick tube under inner pressure between ends that do not move, in the half-plane of a body of revolution, and as a quarter of a ring in the plane.
fn tube_errors(dimension: Dimension, n: usize) -> (Errors, f64) {
    let (a, b, p) = (1.0, 2.0, 1.0);
    let round = dimension.is_axisymmetric();
    let mut body = match round {
        true => grid("tube", [n, n / 2], |i, j| {
            [a + (b - a) * i as f64 / n as f64, j as f64 / n as f64]
        }),
        false => grid("tube", [n, 2 * n], |i, j| {
            let r = a + (b - a) * i as f64 / n as f64;
            let angle = FRAC_PI_2 * j as f64 / (2 * n) as f64;
            [r * angle.cos(), r * angle.sin()]
        }),
    };
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = MATERIAL;
    }
    let radius = move |q: &Vec3| if round { q.x } else { q.norm() };
    let inside = select(&body, |q| radius(q) < a + 1e-9);
    let (all, planes) = (select(&body, |_| true), [0, 1].map(|k| select(&body, |q| q[k] < 1e-9)));
    let mut d = Definition { dimension, ..scene(vec![body]) };
    match round {
        true => d.prescribed.push(held("ends", all, 1)),
        false => {
            for (k, plane) in planes.into_iter().enumerate() {
                d.prescribed.push(held(["x", "y"][k], plane, k));
            }
        }
    }
    let load = Load::Pressure(p.into());
    let (name, vertices) = ("pressure".into(), inside.clone());
    d.forces.push(ForceDef { name, body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY });
    let s = at_rest(d);
    // Lamé's solution: σ_r, σ_t = p a²/(b² − a²) (1 ∓ b²/r²)
    let exact = |q: &Vec3| {
        let (r, part) = (radius(q), p * a * a / (b * b - a * a));
        let [sr, st] = [1.0 - b * b / (r * r), 1.0 + b * b / (r * r)].map(|f| part * f);
        let sz = MATERIAL.poisson_ratio * (sr + st);
        match round {
            true => Mat3::from_diagonal(&Vec3::new(sr, sz, st)),
            false => {
                let (out, around) = (q.normalize(), Vec3::z().cross(&q.normalize()));
                sr * out * out.transpose()
                    + st * around * around.transpose()
                    + sz * Vec3::z() * Vec3::z().transpose()
            }
        }
    };
    let found = s.recovered_stresses();
    let worst = inside.iter().map(|&v| {
        let exact = exact(&s.model().rest[v as usize]);
        (found.stress[v as usize] - exact).norm() / exact.norm()
    });
    (errors(&s, exact), worst.fold(0.0, f64::max))
}

/// Half as far off as means of elements; the errors of elements are estimated to half a per cent.
#[test]
fn stresses_at_the_inside_of_a_tube_are_those_of_lame() {
    for (dimension, most) in [(Dimension::Two, 0.016), (Dimension::Axisymmetric, 0.004)] {
        let (e, inside) = tube_errors(dimension, 32);
        let effectivity = e.estimated / e.elements;
        println!("{dimension:?}: {e:?}, effectivity {effectivity:.4}, inside {inside:.4}");
        assert!(inside < most && e.vertices[1] < 0.5 * e.vertices[0], "{inside} {e:?}");
        assert!((effectivity - 1.0).abs() < 0.005, "{e:?}");
    }
}

/// A uniform strain has one stress, also at the points of quadratic elements that relax, yield, and have fibres that draw.
#[test]
fn a_uniform_stress_is_recovered() {
    let plasticity = Plasticity {
        yield_stress: 1e3,
        hardening_modulus: 1e5,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    };
    let relaxation = Relaxation { ratio: 0.5, time: 1.0 };
    let direction = FibreDirection::Along(Vec3::new(1.0, 0.5, 0.2));
    let law = FibreLaw { stiffness: 1e5, exponent: 1.0 };
    let tension = Some(Expression::parse("2e3*t").unwrap());
    for quadratic in [false, true] {
        let mut body = block("bar", [0.0; 3], [2; 3], 0.5);
        if let BodyKind::Volume { tets, middles, material, .. } = &mut body.kind {
            *material = Material { law: Law::Volumetric, ..MATERIAL };
            if quadratic {
                add_middles(tets, middles, &mut body.rest);
            }
        }
        body.inelastic =
            vec![Inelasticity::Relaxing(relaxation), Inelasticity::Yielding(plasticity)];
        body.fibres = vec![FibreFamily { direction, law, tension: tension.clone() }];
        let surface = select(&body, |p| p.iter().any(|c| !(1e-9..1.0 - 1e-9).contains(c)));
        let stretch = Mat3::new(1.02, 0.01, 0.0, 0.0, 0.99, 0.0, 0.01, 0.0, 1.01);
        let frames = vec![surface.iter().map(|v| stretch * body.rest[*v as usize]).collect()];
        let mut d = scene(vec![body]);
        d.prescribed.push(PrescribedDef::new("surface", 0, surface, Motion::Sequence { frames }));
        let s = at_rest(d);
        let (found, mean) = (s.recovered_stresses(), s.stresses()[0]);
        assert!(found.of_bodies[0] < 1e-7, "{quadratic} {:?}", found.of_bodies);
        assert!(found.stress.iter().all(|s| (s - mean).norm() < 1e-7 * mean.norm()));
    }
}

/// A bar of two materials side by side that is stretched uniformly has two stresses, which are exact; patches end where the material does.
#[test]
fn stresses_jump_between_materials() {
    let strain = 1e-3;
    let mut body = block("bar", [0.0; 3], [4, 4, 2], 0.25);
    let plain = Material { poisson_ratio: 0.0, ..MATERIAL };
    let BodyKind::Volume { tets, material, .. } = &mut body.kind else { panic!("a solid") };
    *material = plain.clone();
    let upper = |tet: &[u32; 4]| tet.iter().all(|v| body.rest[*v as usize].y > 0.5 - 1e-9);
    let elements: Vec<u32> = (0..tets.len() as u32).filter(|e| upper(&tets[*e as usize])).collect();
    let stiff = Material { young_modulus: 10.0 * plain.young_modulus, ..plain.clone() };
    let part = |name: &str, elements: &[u32], material: &Material| SolidPart {
        name: name.into(),
        elements: elements.to_vec(),
        density: 1000.0,
        material: material.clone(),
        inelastic: Vec::new(),
        fibres: Vec::new(),
        growth: None,
    };
    let (first, others) = elements.split_at(elements.len() / 2);
    // the same material in two parts is one
    body.parts = vec![part("first", first, &stiff), part("others", others, &stiff)];
    let mut d = scene(vec![body.clone(), block("still", [3.0, 0.0, 0.0], [1; 3], 1.0)]);
    let ends = select(&body, |p| !(1e-9..1.0 - 1e-9).contains(&p.x));
    let stretched = |v: &u32| {
        let p = body.rest[*v as usize];
        Vec3::new(p.x * (1.0 + strain), p.y, p.z)
    };
    let frames = vec![ends.iter().map(stretched).collect()];
    d.prescribed.push(PrescribedDef::new("ends", 0, ends, Motion::Sequence { frames }));
    let still: Vec<u32> = select(&d.bodies[1], |_| true);
    d.prescribed.push(PrescribedDef::new("still", 1, still, Motion::Fixed));
    let s = at_rest(d);
    let found = s.recovered_stresses();
    let stress = |e: f64| e * strain;
    for (v, p) in body.rest.iter().enumerate() {
        let along = found.stress[v][(0, 0)];
        let [soft, stiff] = [1.0, 10.0].map(|f| stress(f * plain.young_modulus));
        let expected = if p.y < 0.5 - 1e-9 {
            soft
        } else if p.y > 0.5 + 1e-9 {
            stiff
        } else {
            0.5 * (soft + stiff)
        };
        // the law is not linear
        assert!((along / expected - 1.0).abs() < 3.0 * strain, "{p} {along} {expected}");
    }
    assert!(found.of_bodies[0] < 1e-6, "{:?}", found.of_bodies);
    assert_eq!((found.of_bodies[1], found.error.len()), (0.0, s.stresses().len()));
    assert!(found.stress[body.rest.len()..].iter().all(|s| s.norm() < 1e-9 * stiff.young_modulus));
    assert_eq!(s.worst_stress_error().unwrap().0, "bar");
}
