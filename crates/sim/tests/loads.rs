//! Pressure, attachments and expressions of the time.

use crate::common::{block, scene};
use standoff_geometry::quadratic;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{
    Anchor, AttachmentDef, BodyDef, BodyKind, Definition, ForceDef, Load, Motion, Pivot,
    PrescribedDef, SpringStiffness,
};
use standoff_sim::energy::pressure::{Patch, Pressures};
use standoff_sim::energy::spring::{Spring, UNUSED};
use standoff_sim::energy::{Hessian, Term};
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::settings::Integrator;
use standoff_sim::{BuildError, Simulation, StepError, energetics};
use standoff_testkit::finite_difference;

fn all(body: &BodyDef) -> Vec<u32> {
    (0..body.rest.len() as u32).collect()
}

fn load(body: &BodyDef, load: Load) -> ForceDef {
    let vertices = all(body);
    ForceDef { name: "load".into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

fn vector(texts: [&str; 3]) -> VectorExpression {
    VectorExpression(texts.map(expression))
}

/// Springs of stiffness `k` per mass that hold every vertex where it starts.
fn held(body: &BodyDef, k: f64) -> AttachmentDef {
    AttachmentDef {
        name: "held".into(),
        body: 0,
        vertices: all(body),
        anchor: Anchor::Start,
        distance: f64::INFINITY,
        stiffness: SpringStiffness::PerMass(k),
        rest_length: Some(0.0),
        t0: 0.0,
        t1: f64::INFINITY,
    }
}

fn quasi_static(bodies: Vec<BodyDef>) -> Definition {
    let mut definition = scene(bodies);
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.solver.end.velocity = Some(1e-8);
    definition
}

/// A block of 4×4×4 cells with a cavity of 2×2×2 cells, and the vertices of the cavity's wall.
fn hollow_box(cell: f64) -> (BodyDef, Vec<u32>) {
    let mut body = block("box", [0.0; 3], [4, 4, 4], cell);
    let grid = |p: &Vec3| (p / cell).map(|c| c.round() as i32);
    let BodyKind::Volume { tets, .. } = &mut body.kind else { unreachable!() };
    tets.retain(|t| {
        let centre: Vec3 = t.iter().map(|&v| body.rest[v as usize]).sum::<Vec3>() / (4.0 * cell);
        centre.iter().any(|c| *c < 1.0 || *c > 3.0)
    });
    // the vertex in the middle of the cavity belongs to no cell
    let middle = body.rest.iter().position(|p| grid(p).iter().all(|&c| c == 2)).unwrap();
    body.rest.remove(middle);
    for v in tets.iter_mut().flatten() {
        *v -= u32::from(*v > middle as u32);
    }
    let wall = |v: &u32| grid(&body.rest[*v as usize]).iter().all(|c| (1..=3).contains(c));
    let wall = (0..body.rest.len() as u32).filter(wall).collect();
    (body, wall)
}

fn solid_volume(simulation: &Simulation) -> f64 {
    let x = simulation.positions();
    let tet = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|v| x[v as usize]);
        (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
    };
    simulation.model().solids.tets.vertices().iter().map(tet).sum()
}

/// A cube's surface, wrinkled.
fn wrinkled() -> (Vec<[u32; 3]>, Vec<Vec3>) {
    let cube = block("cube", [0.3, -0.2, 0.1], [2, 2, 2], 0.5);
    let BodyKind::Volume { tets, .. } = &cube.kind else { unreachable!() };
    let faces = standoff_geometry::topology::boundary_faces(tets).unwrap();
    let wave =
        |p: &Vec3| p + 0.07 * Vec3::new((5.0 * p.y).sin(), (4.0 * p.z).cos(), (7.0 * p.x).sin());
    (faces, cube.rest.iter().map(wave).collect())
}

fn flat(x: &[Vec3]) -> Vec<f64> {
    x.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
}

fn points(x: &[f64]) -> Vec<Vec3> {
    x.chunks(3).map(Vec3::from_column_slice).collect()
}

#[test]
fn pressure_gradient_is_that_of_its_energy() {
    let (faces, x) = wrinkled();
    for (count, closed) in [(faces.len(), true), (faces.len() / 3, false)] {
        let patch = Patch::new(faces[..count].to_vec());
        assert_eq!(patch.closed, closed);
        let loads = Pressures::new([("gas", &patch, 300.0)].into_iter(), &x);
        let moved: Vec<Vec3> = x.iter().map(|p| 1.1 * p + Vec3::new(0.0, 0.1 * p.x, 0.2)).collect();
        let mut g = vec![Vec3::zeros(); x.len()];
        loads.add_gradient(&moved, &mut g);
        let numeric = finite_difference::gradient(&flat(&moved), 1e-3, |y| loads.value(&points(y)));
        let error = finite_difference::relative_error(&flat(&g), &numeric, 1.0);
        assert!(error < 1e-10, "closed {closed}: {error:e}");
    }
}

/// Curved faces: the volume by the divergence theorem, its derivative, and that a flat face under pressure has its force in the middles of its edges.
#[test]
fn pressure_on_faces_of_quadratic_elements_is_exact() {
    let mut cube = block("cube", [0.3, -0.2, 0.1], [1, 1, 1], 0.5);
    let BodyKind::Volume { tets, middles, .. } = &mut cube.kind else { unreachable!() };
    quadratic::add_middles(tets, middles, &mut cube.rest);
    let triangles = quadratic::boundary(tets, middles).unwrap();
    let (x, o) = (&cube.rest, Vec3::new(0.2, 0.1, 0.7));
    let patch = Patch::curved(triangles.clone());
    assert_eq!((patch.faces.len(), patch.triangles.len(), patch.closed), (12, 0, true));
    assert!((patch.volume(x, &o) - 0.125).abs() < 1e-15);
    let one = Patch::curved(triangles[..4].to_vec());
    assert!(!one.closed);
    let mut n = vec![Vec3::zeros(); x.len()];
    one.add_area_normals(1.0, x, &mut n);
    for (k, v) in one.faces[0].iter().enumerate() {
        let part = if k < 3 { 0.0 } else { 0.125 / 3.0 };
        assert!((n[*v as usize].norm() - part).abs() < 1e-15, "{k}");
    }
    // a map of degree two, by which faces are curved: the volume is that of the map
    let bend = |p: &Vec3| p + 0.2 * Vec3::new(p.y * p.y, p.z * p.x, p.x * p.x);
    let bent: Vec<Vec3> = x.iter().map(bend).collect();
    let exact = {
        // ∫ det of its gradient, by the rule of Gauss with three points in each direction
        let gauss = [(-0.6_f64.sqrt(), 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.6_f64.sqrt(), 5.0 / 9.0)];
        let low = Vec3::new(0.3, -0.2, 0.1);
        let mut sum = 0.0;
        for (a, wa) in gauss {
            for (b, wb) in gauss {
                for (c, wc) in gauss {
                    let p = low + 0.25 * (Vec3::new(a, b, c) + Vec3::repeat(1.0));
                    let f = Mat3::new(
                        1.0,
                        0.4 * p.y,
                        0.0,
                        0.2 * p.z,
                        1.0,
                        0.2 * p.x,
                        0.4 * p.x,
                        0.0,
                        1.0,
                    );
                    sum += wa * wb * wc * f.determinant() / 64.0;
                }
            }
        }
        sum
    };
    assert!((patch.volume(&bent, &o) - exact).abs() < 1e-14, "{exact}");
    let loads = Pressures::new([("gas", &patch, 300.0)].into_iter(), &bent);
    let mut g = vec![Vec3::zeros(); x.len()];
    loads.add_gradient(&bent, &mut g);
    let numeric = finite_difference::gradient(&flat(&bent), 1e-3, |y| loads.value(&points(y)));
    let error = finite_difference::relative_error(&flat(&g), &numeric, 1.0);
    assert!(error < 1e-10, "{error:e}");
}

#[test]
fn pressure_is_minus_p_times_area_normals_and_sums_to_nothing() {
    let (faces, x) = wrinkled();
    let patch = Patch::new(faces);
    let mut g = vec![Vec3::zeros(); x.len()];
    Pressures::new([("gas", &patch, 2.0)].into_iter(), &x).add_gradient(&x, &mut g);
    let mut normals = vec![Vec3::zeros(); x.len()];
    patch.add_area_normals(2.0, &x, &mut normals);
    let scale = normals.iter().map(|n| n.norm()).sum::<f64>();
    for (a, b) in g.iter().zip(&normals) {
        assert!((a - b).norm() < 1e-13 * scale, "{a} {b}");
    }
    let moment: Vec3 = x.iter().zip(&g).map(|(x, g)| x.cross(g)).sum();
    assert!(g.iter().sum::<Vec3>().norm() < 1e-14 * scale && moment.norm() < 1e-14 * scale);
}

/// Homogeneous linear elasticity: a body under the same pressure p on its whole surface, cavities
/// included, is in the state σ = −p I, whatever its shape: u = −p/(3K) (X − c).
#[test]
fn uniform_pressure_compresses_uniformly() {
    let (body, _) = hollow_box(0.25);
    let (p, k) = (10.0, 1e5 / (3.0 * (1.0 - 2.0 * 0.4)));
    let rest = body.rest.clone();
    let mut definition = quasi_static(vec![body.clone()]);
    definition.forces.push(load(&body, Load::Pressure(p.into())));
    definition.attachments.push(held(&body, 1e-6));
    let mut simulation = Simulation::new(&definition).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let strain = -p / (3.0 * k);
    let largest = rest
        .iter()
        .zip(simulation.positions())
        .map(|(r, x)| ((x - r) - strain * (r - Vec3::repeat(0.5))).norm() / strain.abs());
    let error = largest.fold(0.0, f64::max);
    println!("uniform pressure: strain {strain:.3e}, largest relative error {error:.1e}");
    assert!(error < 3e-3, "{error:e}");
}

/// Virtual work with u = x (linear, thus exact on any mesh): the stress of a body with pressure p in
/// a cavity of volume C has ∫ tr σ = 3 p C, so the solid's volume grows by p C / K.
#[test]
fn a_box_under_internal_pressure_swells_as_linear_elasticity_says() {
    let (body, wall) = hollow_box(0.25);
    let (p, k, cavity) = (5.0, 1e5 / (3.0 * (1.0 - 2.0 * 0.4)), 0.125);
    let mut definition = quasi_static(vec![body.clone()]);
    definition.forces.push(ForceDef { vertices: wall, ..load(&body, Load::Pressure(p.into())) });
    definition.attachments.push(held(&body, 1e-6));
    let mut simulation = Simulation::new(&definition).unwrap();
    let before = solid_volume(&simulation);
    assert!(simulation.step().unwrap().outcome.is_success());
    let grown = solid_volume(&simulation) - before;
    let expected = p * cavity / k;
    println!("internal pressure: solid grows by {grown:.6e}, linear {expected:.6e} m³");
    assert!((grown / expected - 1.0).abs() < 2e-3, "{grown:e} {expected:e}");
}

#[test]
fn pressure_on_a_closed_body_leaves_its_momentum() {
    let (mut body, wall) = hollow_box(0.25);
    body.start = body.rest.iter().map(|p| p + Vec3::new(0.2 * p.y, 0.0, 0.1 * p.x)).collect();
    let mut definition = scene(vec![body.clone()]);
    definition.settings.solver.end.velocity = Some(1e-10);
    let pulse = Load::Pressure(expression("500*sin(20*pi*t)"));
    definition.forces.push(ForceDef { vertices: wall, ..load(&body, pulse) });
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut fastest: f64 = 0.0;
    for _ in 0..10 {
        assert!(simulation.step().unwrap().outcome.is_success());
        let total = energetics::linear_momentum(simulation.model(), simulation.state());
        let speed = simulation.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
        fastest = fastest.max(speed);
        assert!(total.norm() < 1e-9 * 875.0 * speed, "{total}");
    }
    assert!(fastest > 0.01, "the pressure moves nothing");
}

#[test]
fn pressure_on_an_open_patch_pushes_with_p_times_its_area() {
    let body = block("block", [0.0; 3], [2, 2, 2], 0.5);
    let top = all(&body).into_iter().filter(|&v| body.rest[v as usize].y > 0.99).collect();
    let mut definition = scene(vec![body.clone()]);
    definition.settings.time.step = 1e-3;
    let push = Load::Pressure(50.0.into());
    definition.forces.push(ForceDef { vertices: top, ..load(&body, push) });
    let mut simulation = Simulation::new(&definition).unwrap();
    assert!(simulation.step().unwrap().outcome.is_success());
    let momentum = energetics::linear_momentum(simulation.model(), simulation.state());
    assert!((momentum - Vec3::new(0.0, -50.0 * 1.0 * 1e-3, 0.0)).norm() < 1e-9, "{momentum}");
}

#[test]
fn pressure_wants_surface_triangles() {
    let body = block("block", [0.0; 3], [1, 1, 1], 1.0);
    let mut definition = scene(vec![body.clone()]);
    let one = ForceDef { vertices: vec![0, 7], ..load(&body, Load::Pressure(1.0.into())) };
    definition.forces.push(one);
    let error = Simulation::new(&definition).err().unwrap();
    assert!(
        matches!(&error, BuildError::Load { .. }) && error.to_string().contains("all its corners")
    );
}

fn springs() -> Vec<Spring> {
    let base = Spring {
        vertices: [0, 1, 2, 3],
        weights: [1.0, -0.2, -0.5, -0.3],
        target: Vec3::zeros(),
        stiffness: 7.0,
        rest_length: 0.0,
        t0: 0.0,
        t1: 1.0,
    };
    let fixed = Spring {
        vertices: [2, UNUSED, UNUSED, UNUSED],
        weights: [1.0, 0.0, 0.0, 0.0],
        target: Vec3::new(0.1, 0.2, 0.3),
        ..base
    };
    let pair = Spring { vertices: [3, 0, UNUSED, UNUSED], weights: [1.0, -1.0, 0.0, 0.0], ..base };
    [base, fixed, pair]
        .into_iter()
        .flat_map(|s| [0.0, 0.1, 5.0].map(|rest_length| Spring { rest_length, ..s }))
        .collect()
}

#[test]
fn spring_derivatives() {
    let x: Vec<Vec3> = vec![
        Vec3::new(0.1, 0.9, -0.3),
        Vec3::new(1.0, 0.1, 0.0),
        Vec3::new(-0.4, 0.3, 0.8),
        Vec3::new(0.2, -0.7, 0.5),
    ];
    for spring in springs() {
        let gradient = |y: &[f64]| {
            let mut g = vec![Vec3::zeros(); 4];
            spring.add_gradient(&points(y), &mut g);
            flat(&g)
        };
        let numeric = finite_difference::gradient(&flat(&x), 1e-3, |y| spring.value(&points(y)));
        let error = finite_difference::relative_error(&gradient(&flat(&x)), &numeric, 1e-3);
        assert!(error < 1e-9, "{spring:?} {error:e}");

        let numeric = finite_difference::jacobian(&flat(&x), 1e-3, gradient);
        let whole = |blocks: Hessian<4>| {
            let mut whole = vec![vec![0.0; 12]; 12];
            for (a, va) in spring.vertices.iter().enumerate().filter(|(_, v)| **v != UNUSED) {
                for (b, vb) in spring.vertices.iter().enumerate().filter(|(_, v)| **v != UNUSED) {
                    for i in 0..3 {
                        for j in 0..3 {
                            whole[3 * *va as usize + i][3 * *vb as usize + j] +=
                                blocks[a][b][(i, j)];
                        }
                    }
                }
            }
            whole
        };
        let error = |h: &[Vec<f64>]| {
            finite_difference::relative_error(&h.concat(), &numeric.concat(), 1e-3)
        };
        let as_it_is = error(&whole(spring.hessian(&x)));
        assert!(as_it_is < 1e-8, "{spring:?} {as_it_is:e}");
        let whole = whole(spring.hessian_psd(&x));
        let compressed = spring.vector(&x).norm() < spring.rest_length;
        let error = error(&whole);
        // exact unless compressed, where the concave part is dropped
        assert_eq!(error < 1e-8, !compressed, "{spring:?} {error:e}");
        for k in 0..50 {
            let p: Vec<f64> = (0..12).map(|i| ((7 * i + 13 * k) as f64).sin()).collect();
            let form: f64 =
                (0..12).map(|i| p[i] * (0..12).map(|j| whole[i][j] * p[j]).sum::<f64>()).sum();
            assert!(form > -1e-12, "{spring:?} {form}");
        }
    }
}

#[test]
fn a_spring_of_no_length_is_finite() {
    for mut spring in springs() {
        spring.target = Vec3::zeros();
        let x = vec![Vec3::zeros(); 4];
        let mut g = vec![Vec3::zeros(); 4];
        spring.add_gradient(&x, &mut g);
        let finite =
            spring.hessian_psd(&x).iter().flatten().all(|b| b.iter().all(|c| c.is_finite()));
        assert!(finite && g.iter().all(|g| *g == Vec3::zeros()));
    }
}

/// Springs of stiffness k per mass sink by g/k, all alike, and hold the weight.
#[test]
fn springs_to_the_start_sink_by_g_over_k() {
    let body = block("block", [0.0; 3], [2, 2, 2], 0.5);
    let mut definition = quasi_static(vec![body.clone()]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.attachments.push(held(&body, 400.0));
    let mut simulation = Simulation::new(&definition).unwrap();
    // quasi-static steps carry no gravity in x̃: it is a load like any other
    let report = simulation.step().unwrap();
    let sunk = 9.81 / 400.0;
    for (r, x) in body.rest.iter().zip(simulation.positions()) {
        assert!((x - r - Vec3::new(0.0, -sunk, 0.0)).norm() < 1e-8, "{}", x - r);
    }
    let energy = 0.5 * 400.0 * 1000.0 * sunk * sunk;
    assert!((report.elastic_energy / energy - 1.0).abs() < 1e-6, "{}", report.elastic_energy);
}

#[test]
fn attached_blocks_pull_each_other_until_released() {
    let left = block("left", [0.0, 0.0, 0.0], [1, 1, 1], 1.0);
    let right = block("right", [1.5, 0.2, 0.1], [2, 2, 2], 0.5);
    let facing = all(&left).into_iter().filter(|&v| left.rest[v as usize].x > 0.9).collect();
    let mut definition = scene(vec![left.clone(), right.clone()]);
    definition.attachments.push(AttachmentDef {
        vertices: facing,
        anchor: Anchor::Surface(vec![(1, all(&right))]),
        distance: 0.8,
        stiffness: SpringStiffness::PerSpring(2e3),
        t1: 0.2,
        ..held(&left, 0.0)
    });
    definition.settings.solver.end.velocity = Some(1e-10);
    let mut simulation = Simulation::new(&definition).unwrap();
    assert_eq!(simulation.model().loads.springs.len(), 4);
    let speed = |s: &Simulation| s.velocities()[..8].iter().map(|v| v.x).sum::<f64>() / 8.0;
    let mut speeds = Vec::new();
    for _ in 0..30 {
        assert!(simulation.step().unwrap().outcome.is_success());
        let total = energetics::linear_momentum(simulation.model(), simulation.state());
        assert!(total.norm() < 1e-8, "{total}");
        speeds.push(speed(&simulation));
    }
    assert!(speeds[19] > 0.1 && speeds[19] > speeds[10] && simulation.audit().is_empty());
    // nothing pulls any more: the centre of mass keeps its velocity
    assert!((speeds[29] - speeds[20]).abs() < 0.3 * speeds[19], "{speeds:?}");

    definition.attachments[0].distance = 0.1;
    let error = Simulation::new(&definition).err().unwrap().to_string();
    assert!(error.contains("within 0.1 m") && error.contains("5.000e-1 m"), "{error}");
}

fn moving(motion: Motion, t0: f64, t1: f64) -> Definition {
    let mut board = block("board", [0.0, -1.0, 0.0], [1, 1, 1], 0.5);
    let BodyKind::Volume { tets, .. } = &board.kind else { unreachable!() };
    let triangles = standoff_geometry::topology::boundary_faces(tets).unwrap();
    board.kind = BodyKind::Obstacle { triangles, edges: Vec::new(), points: Vec::new() };
    let far = block("far", [50.0, 0.0, 0.0], [1, 1, 1], 0.5);
    let vertices = all(&board);
    let mut definition = scene(vec![board, far]);
    definition.settings.time.step = 0.01;
    let always = PrescribedDef::new("board.motion[0]", 0, vertices, motion);
    let held = PrescribedDef { t0, t1, ..always };
    definition.prescribed.push(held);
    definition
}

#[test]
fn expressions_move_vertices_from_where_they_begin() {
    let angle = |t: f64| 0.5 * (3.0 * t).sin();
    let shift = |t: f64| Vec3::new(0.1 * (2.0 * std::f64::consts::PI * t).sin(), t * t, 0.3);
    let motion = Motion::Expression {
        translation: vector(["0.1*sin(2*pi*t)", "t^2", "0.3"]),
        axis: Vec3::z(),
        angle: expression("0.5*sin(3*t)"),
        pivot: Pivot::Point(Vec3::new(0.2, 0.1, 0.0)),
    };
    for (t0, t1) in [(0.0, f64::INFINITY), (0.1, 0.3)] {
        let mut definition = moving(motion.clone(), t0, t1);
        let start = definition.bodies[0].rest.clone();
        // a second motion adds its displacement
        let mut drift = definition.prescribed[0].clone();
        drift.motion = Motion::Expression {
            translation: vector(["0", "0", "t"]),
            axis: Vec3::z(),
            angle: 0.0.into(),
            pivot: Pivot::StartCentre,
        };
        (drift.t0, drift.t1) = (0.0, f64::INFINITY);
        definition.prescribed.push(drift);
        let mut simulation = Simulation::new(&definition).unwrap();
        for k in 1..=50 {
            simulation.step().unwrap();
            let now = k as f64 * 0.01;
            // the step that starts at t1 is not of the motion
            let t = now.min(t1);
            for (p, x) in start.iter().zip(simulation.positions()) {
                let mut expected = *p + Vec3::z() * now;
                if now > t0 + 1e-9 {
                    let (s, c) = angle(t).sin_cos();
                    let pivot = Vec3::new(0.2, 0.1, 0.0);
                    let r = p - pivot;
                    let turned = Vec3::new(c * r.x - s * r.y, s * r.x + c * r.y, r.z);
                    expected += pivot + turned - p + shift(t);
                }
                assert!((x - expected).norm() < 1e-13, "{t0} {k} {x} {expected}");
            }
        }
    }
}

#[test]
fn an_undefined_expression_ends_the_run() {
    let motion = Motion::Expression {
        translation: vector(["0", "sqrt(0.055 - t)", "0"]),
        axis: Vec3::z(),
        angle: 0.0.into(),
        pivot: Pivot::StartCentre,
    };
    let mut simulation = Simulation::new(&moving(motion, 0.0, 1.0)).unwrap();
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
    assert!(error.to_string().contains("0.06 s, in 'board.motion[0]'"), "{error}");
    assert_eq!(*simulation.state(), before);
}

/// a = cos(10 t) moves a free block by (1 − cos(10 t))/100; the loads at the start and at the end of
/// a step give the integrators their order.
#[test]
fn forces_by_expression_keep_the_order() {
    let error = |integrator, n: usize| {
        let body = block("block", [0.0; 3], [1, 1, 1], 1.0);
        let mut definition = scene(vec![body.clone()]);
        let pushed = Load::Acceleration(vector(["cos(10*t)", "0", "0"]));
        definition.forces.push(load(&body, pushed));
        definition.settings.time.step = 1.0 / n as f64;
        definition.settings.time.integrator = integrator;
        definition.settings.solver.end.velocity = Some(1e-12);
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..n {
            simulation.step().unwrap();
        }
        (simulation.positions()[0].x - (1.0 - 10.0_f64.cos()) / 100.0).abs()
    };
    for (integrator, least) in [
        (Integrator::ImplicitEuler, 0.95),
        (Integrator::Bdf2, 1.9),
        (Integrator::Newmark, 1.9),
        (Integrator::ImplicitMidpoint, 1.9),
    ] {
        let order = (error(integrator, 100) / error(integrator, 200)).log2();
        println!("{integrator:?}: order {order:.3} under a varying force");
        assert!(order > least, "{integrator:?} {order}");
    }
}
