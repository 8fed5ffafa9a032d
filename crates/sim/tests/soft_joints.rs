//! Joints that hold regions of soft bodies: against fixed vertices, statics, equations of motion, and balances of momenta.

use crate::common::rigid::{moving, solid_box};
use crate::common::{block, converge, scene};
use crate::joints::{G, integrate, iterations, joint, of};
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::SVector;
use standoff_sim::definition::expression::{Expression, VectorExpression};
use standoff_sim::definition::{
    BendingModel, BodyDef, BodyKind, Definition, DriveDef, ForceDef, JointDef, JointKind, Load,
    Motion, PrescribedDef, ShellMaterial,
};
use standoff_sim::energy::membrane::Sheet;
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::material::membrane::{MembraneLaw, SheetLame};
use standoff_sim::settings::Integrator;
use standoff_sim::{BuildError, Simulation};

/// The vertices of a body for which something holds at rest.
fn select(body: &BodyDef, inside: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.unknowns().len() as u32).filter(|v| inside(&body.rest[*v as usize])).collect()
}

/// A joint with the region of a soft child.
fn held(
    kind: JointKind,
    parent: Option<usize>,
    child: usize,
    region: Vec<u32>,
    point: Vec3,
) -> JointDef {
    let mut joint = joint("hold", kind, parent, child, point, Vec3::z());
    joint.regions[1] = region;
    joint
}

/// A beam of E = 10⁵ Pa along x, 0.4 m × 0.1 m × 0.1 m, with its end at the origin.
fn beam() -> BodyDef {
    block("beam", [0.0, -0.05, -0.05], [8, 2, 2], 0.05)
}

fn quadratic_beam() -> BodyDef {
    let mut body = block("beam", [0.0, -0.05, -0.05], [4, 1, 1], 0.1);
    if let BodyKind::Volume { tets, middles, .. } = &mut body.kind {
        quadratic::add_middles(tets, middles, &mut body.rest);
    }
    body
}

fn plate(bending_model: BendingModel) -> BodyDef {
    let n = [8, 2];
    let at = |i: usize, j: usize| Vec3::new(0.05 * i as f64, 0.0, 0.05 * j as f64);
    let rest = (0..=n[0]).flat_map(|i| (0..=n[1]).map(move |j| at(i, j))).collect();
    let v = |i: usize, j: usize| (i * (n[1] + 1) + j) as u32;
    let cell = |(i, j): (usize, usize)| {
        [[v(i, j), v(i, j + 1), v(i + 1, j + 1)], [v(i, j), v(i + 1, j + 1), v(i + 1, j)]]
    };
    let cells = (0..n[0]).flat_map(|i| (0..n[1]).map(move |j| (i, j)));
    let material = ShellMaterial {
        thickness: 5e-3,
        density: 500.0,
        sheet: Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, SheetLame::new(1e6, 0.3)),
        fibre: None,
        bending_modulus: 1e6 * 1.25e-7 / (24.0 * 0.91),
        bending_model,
        poisson_ratio: 0.3,
        flat: false,
        stretch_limit: None,
    };
    let triangles = cells.flat_map(cell).collect();
    BodyDef {
        name: "plate".into(),
        rest,
        kind: BodyKind::Shell { triangles, material: Box::new(material) },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

fn cable() -> BodyDef {
    BodyDef {
        name: "cable".into(),
        rest: (0..=10).map(|k| Vec3::new(0.05 * f64::from(k), 0.0, 0.0)).collect(),
        kind: BodyKind::Rod {
            segments: (0..10).map(|k| [k, k + 1]).collect(),
            material: RodMaterial { radius: 5e-3, young_modulus: 1e7, poisson_ratio: 0.3 },
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

fn constant(force: [f64; 3]) -> VectorExpression {
    VectorExpression(force.map(Expression::constant))
}

fn heavy(mut definition: Definition) -> Definition {
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition
}

fn weight(simulation: &Simulation) -> f64 {
    let model = simulation.model();
    G * model.mass[..model.vertex_count()].iter().sum::<f64>()
}

/// What a fixed joint to the world holds bends under its weight as with fixed vertices, and the joint bears that weight.
#[test]
fn what_is_clamped_by_a_joint_deflects_as_with_fixed_vertices() {
    let plates =
        [BendingModel::Hinge, BendingModel::ShapeOperator].map(|model| (plate(model), 0.06));
    let rim = (plate(BendingModel::ShapeOperator), 0.01);
    let others = [(beam(), 0.01), (quadratic_beam(), 0.01), (cable(), 0.06), rim];
    for (body, end) in others.into_iter().chain(plates) {
        let region = select(&body, |p| p.x < end);
        for integrator in [Integrator::QuasiStatic, Integrator::Bdf2] {
            let mut fixed = heavy(scene(vec![body.clone()]));
            fixed.settings.time.integrator = integrator;
            let mut jointed = fixed.clone();
            fixed.prescribed.push(PrescribedDef::new("wall", 0, region.clone(), Motion::Fixed));
            jointed.joints.push(held(JointKind::Fixed, None, 0, region.clone(), Vec3::zeros()));
            let steps = if integrator == Integrator::QuasiStatic { 2 } else { 20 };
            let (reports, one) = converge(fixed, 1e-9, steps);
            let (with_joint, other) = converge(jointed, 1e-9, steps);
            let sag = one.positions().iter().map(|p| p.y.abs()).fold(0.0, f64::max);
            let off = one.positions().iter().zip(other.positions());
            let off = off.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            let [few, more] = [iterations(&reports), iterations(&with_joint)];
            println!(
                "{} {integrator:?}: sag {sag:e}, off {off:e}, {few} and {more} iterations",
                body.name
            );
            assert!(sag > 5e-3 && off < 1e-6 * sag, "{}: {off:e} of {sag:e}", body.name);
            assert_eq!(one.positions().len(), other.positions().len());
            let last = &with_joint[steps - 1];
            assert!(last.joint_error.unwrap() < 1e-8);
            if integrator == Integrator::QuasiStatic {
                let (bears, whole) = (of(last, "hold"), weight(&other));
                let force = Vec3::from(bears.force) - Vec3::new(0.0, whole, 0.0);
                assert!(force.norm() < 1e-6 * whole, "{}: {force}", body.name);
                let held = reports[steps - 1].forces.held["wall"];
                let about = Vec3::from(held.torque)
                    - Vec3::from(bears.point).cross(&Vec3::from(held.force));
                let moment = (Vec3::from(bears.moment) - about).norm();
                assert!(moment < 1e-5 * about.norm(), "{}: {moment:e} of {about}", body.name);
            }
        }
    }
}

/// Bars with weights below them: what each joint bears is the weight of what hangs on it.
#[test]
fn a_hanging_weight_is_what_its_joints_bear() {
    for kind in [JointKind::Fixed, JointKind::Spherical, JointKind::Revolute, JointKind::Universal]
    {
        let bar = block("bar", [-0.05, -0.3, -0.05], [2, 6, 2], 0.05);
        let bob = solid_box("bob", Vec3::new(-0.1, -0.5, -0.1), Vec3::new(0.2, 0.2, 0.2), 1);
        let (top, foot) = (select(&bar, |p| p.y > -0.01), select(&bar, |p| p.y < -0.29));
        let mut definition = heavy(scene(vec![bar, bob]));
        // on ball joints the bar may turn about the vertical, so that its place at rest is not the only one
        let turns = kind == JointKind::Spherical;
        if turns {
            definition.settings.time.step = 0.05;
        } else {
            definition.settings.time.integrator = Integrator::QuasiStatic;
        }
        definition.settings.solver.end.forces = Some(1e-9);
        let mut upper = held(kind, None, 0, top, Vec3::zeros());
        upper.second_axis = Vec3::x();
        let mut lower = joint("lower", kind, Some(0), 1, Vec3::new(0.0, -0.3, 0.0), Vec3::z());
        lower.second_axis = Vec3::x();
        lower.regions[0] = foot;
        definition.joints = vec![upper, lower];
        let steps = if turns { 60 } else { 2 };
        let mut simulation = Simulation::new(&definition).unwrap();
        let reports: Vec<_> = (0..steps).map(|_| simulation.step().unwrap()).collect();
        // at rest rounding may end a step
        assert!(reports.iter().all(|r| r.outcome.is_minimum()), "{kind:?}");
        let bob = 8.0 * G;
        let whole = weight(&simulation);
        assert!((whole - bob - 3.0 * G).abs() < 1e-9 * whole, "{whole}");
        for (name, expected) in [("hold", whole), ("lower", bob)] {
            let found = of(&reports[steps - 1], name);
            let off = (Vec3::from(found.force) - Vec3::new(0.0, expected, 0.0)).norm();
            assert!(off < 1e-6 * expected, "{kind:?} {name}: {off:e}");
            let free = match kind {
                JointKind::Spherical => Vec3::from(found.moment).norm(),
                JointKind::Revolute => found.moment[2].abs(),
                _ => 0.0,
            };
            // points that are apart by 1e-8 of a radius make a moment of the forces
            assert!(free < 1e-5 * expected * 0.1, "{kind:?} {name}: {free:e}");
            assert!(found.error < 1e-8, "{kind:?} {name}: {:e}", found.error);
        }
    }
}

/// A cable on a ball joint at its end carries a weight on another one.
#[test]
fn a_cable_hangs_on_ball_joints() {
    let mut body = cable();
    body.start = body.rest.iter().map(|p| Vec3::new(0.0, -p.x, 0.0)).collect();
    let bob = solid_box("bob", Vec3::new(-0.05, -0.6, -0.05), Vec3::new(0.1, 0.1, 0.1), 1);
    let mut definition = heavy(scene(vec![body, bob]));
    let mut lower =
        joint("lower", JointKind::Spherical, Some(0), 1, Vec3::new(0.0, -0.5, 0.0), Vec3::z());
    lower.regions[0] = vec![10];
    definition.joints = vec![held(JointKind::Spherical, None, 0, vec![0], Vec3::zeros()), lower];
    definition.settings.solver.end.forces = Some(1e-9);
    definition.settings.time.step = 0.05;
    let (reports, simulation) = converge(definition, 1e-8, 60);
    for (name, expected) in [("hold", weight(&simulation)), ("lower", G)] {
        let off = of(&reports[59], name).force[1] - expected;
        assert!(off.abs() < 1e-6 * expected, "{name}: {off:e}");
    }
}

/// A motor at one end of a cable that is held at the other one twists it, with the moment G J θ/L over the segments that are free.
#[test]
fn a_joint_twists_a_cable() {
    let body = cable();
    let hub = solid_box("hub", Vec3::new(0.5, -0.02, -0.02), Vec3::new(0.04, 0.04, 0.04), 1);
    let mut definition = scene(vec![body, hub]);
    definition.settings.time.integrator = Integrator::QuasiStatic;
    let mut shaft =
        joint("shaft", JointKind::Fixed, Some(1), 0, Vec3::new(0.5, 0.0, 0.0), Vec3::zeros());
    shaft.regions[1] = vec![9, 10];
    let mut motor =
        joint("motor", JointKind::Revolute, None, 1, Vec3::new(0.52, 0.0, 0.0), Vec3::x());
    motor.drive = Some(DriveDef {
        position: Some(Expression::parse("50*t").unwrap()),
        velocity: None,
        effort: None,
        stiffness: 1e4,
        damping: 0.0,
        max_effort: f64::INFINITY,
    });
    definition.joints =
        vec![held(JointKind::Fixed, None, 0, vec![0, 1], Vec3::zeros()), shaft, motor];
    let (reports, _) = converge(definition, 1e-9, 5);
    let (angle, radius, shear) = (2.5, 5e-3_f64, 1e7 / 2.6);
    // twist is measured at the nine joints between segments, of which the outer two belong to rigid segments
    let stiffness = shear * std::f64::consts::PI * radius.powi(4) / 2.0 / 0.45;
    let found = of(&reports[4], "motor");
    assert!((found.angle.unwrap() - angle).abs() < 1e-5, "{:?}", found.angle);
    for (name, sign) in [("shaft", -1.0), ("hold", -1.0)] {
        let moment = of(&reports[4], name).moment[0];
        println!("{name}: {moment:e}, expected {:e}", stiffness * angle);
        assert!(
            (moment.abs() - stiffness * angle).abs() < 1e-3 * stiffness * angle,
            "{name} {sign}: {moment:e}"
        );
    }
}

/// A rigid box and a soft block on a joint of any kind, which move and turn freely.
fn pair(kind: JointKind) -> Definition {
    let soft = block("soft", [0.0, -0.1, -0.1], [3, 2, 2], 0.1);
    let soft = moving(soft, Vec3::new(0.3, 0.1, -0.2), Vec3::new(1.0, -2.0, 3.0));
    let rigid = solid_box("rigid", Vec3::new(-0.3, -0.1, -0.1), Vec3::new(0.25, 0.2, 0.2), 1);
    let rigid = moving(rigid, Vec3::new(-0.2, 0.4, 0.1), Vec3::new(-2.0, 1.0, 0.5));
    let region = select(&soft, |p| p.x < 0.01);
    let mut definition = scene(vec![rigid, soft]);
    let mut joint = held(kind, Some(0), 1, region, Vec3::new(-0.02, 0.03, 0.0));
    joint.axis = Vec3::new(1.0, 0.3, -0.2);
    joint.second_axis = Vec3::new(-0.3, 1.0, 0.0);
    joint.second_point = Vec3::new(0.05, 0.1, 0.02);
    if kind == JointKind::Revolute {
        joint.damping = 0.3;
        joint.friction = 0.1;
        joint.limits = Some([-0.2, 0.3]);
    }
    definition.joints.push(joint);
    definition.settings.solver.end.forces = Some(1e-12);
    definition
}

const KINDS: [JointKind; 8] = [
    JointKind::Spherical,
    JointKind::Revolute,
    JointKind::Fixed,
    JointKind::Prismatic,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::Universal,
    JointKind::Distance,
];

/// Inner forces have neither a sum nor a moment: Σ m Δv = 0 and Σ m x × Δv = 0 of implicit Euler with the positions at the end, to rounding.
#[test]
fn momenta_of_soft_and_rigid_bodies_on_a_joint_are_conserved() {
    for kind in KINDS {
        let mut definition = pair(kind);
        definition.settings.solver.end.velocity = Some(1e-11);
        let mut simulation = Simulation::new(&definition).unwrap();
        let mass = simulation.model().mass.clone();
        for _ in 0..12 {
            let before = simulation.state().v.clone();
            let report = simulation.step().unwrap();
            assert!(report.joint_error.unwrap() < 1e-8, "{kind:?}: {:?}", report.joint_error);
            let state = simulation.state();
            let (mut sum, mut moment, mut size) = (Vec3::zeros(), Vec3::zeros(), [0.0; 2]);
            for v in 0..mass.len() {
                let change = mass[v] * (state.v[v] - before[v]);
                sum += change;
                moment += state.x[v].cross(&change);
                size[0] += mass[v] * state.v[v].norm();
                size[1] += mass[v] * state.v[v].norm() * state.x[v].norm();
            }
            let [sum, moment] = [sum.norm() / size[0], moment.norm() / size[1]];
            // points that a joint keeps together are apart by 1e-8 at most, and forces on them as far
            assert!(sum < 1e-13 && moment < 1e-9, "{kind:?}: {sum:e} {moment:e}");
        }
        // the control points of a region have the masses of its vertices
        let whole: f64 = mass.iter().sum();
        assert!((whole - 22.0).abs() < 1e-9, "{whole}");
    }
}

/// A rigid bob at the end of a stiff bar that turns about a pin: θ'' = −(Σ m r g/Σ m r²) sin θ. The pin bears no moment about its axis.
#[test]
fn a_bob_on_a_stiff_soft_bar_swings_as_its_equation_says() {
    let mut bar = block("bar", [-0.025, -0.4, -0.025], [1, 8, 1], 0.05);
    if let BodyKind::Volume { material, .. } = &mut bar.kind {
        material.young_modulus = 1e9;
    }
    let bob = solid_box("bob", Vec3::new(-0.05, -0.5, -0.05), Vec3::new(0.1, 0.1, 0.1), 1);
    let (top, foot) = (select(&bar, |p| p.y > -0.01), select(&bar, |p| p.y < -0.39));
    let (start, time, steps) = (1.2, 0.6, 240);
    let mut definition = heavy(scene(vec![bar, bob]));
    definition.bodies = std::mem::take(&mut definition.bodies)
        .into_iter()
        .map(|b| crate::joints::turned(b, Vec3::zeros(), start * Vec3::z()))
        .collect();
    definition.settings.time.step = time / f64::from(steps);
    definition.settings.time.integrator = Integrator::Bdf2;
    let below = 0.4 * Vec3::new(f64::sin(start), -f64::cos(start), 0.0);
    let mut lower = joint("lower", JointKind::Fixed, Some(0), 1, below, Vec3::zeros());
    lower.regions[0] = foot;
    definition.joints = vec![held(JointKind::Revolute, None, 0, top, Vec3::zeros()), lower];
    let (reports, simulation) = converge(definition, 1e-8, steps as usize);
    // of the masses as they are, also those of the control points
    let (model, x) = (simulation.model(), &simulation.state().x);
    let parts = || (0..model.vertex_count()).map(|v| (model.mass[v], x[v].xy().norm_squared()));
    let inertia: f64 = parts().map(|(m, square)| m * square).sum();
    let first: Vec3 = (0..model.vertex_count()).map(|v| model.mass[v] * x[v]).sum();
    let square = G * first.norm() / inertia;
    let y = integrate(SVector::from([start, 0.0]), time, |y: &SVector<f64, 2>| {
        SVector::from([y[1], -square * y[0].sin()])
    });
    let pin = of(&reports[steps as usize - 1], "hold");
    let angle = start + pin.angle.unwrap();
    println!("{angle} instead of {}, {} iterations", y[0], iterations(&reports));
    assert!((angle - y[0]).abs() < 2e-3, "{angle} instead of {}", y[0]);
    let speed = pin.angular_speed.unwrap();
    assert!((speed - y[1]).abs() < 5e-3 * y[1].abs(), "{speed} instead of {}", y[1]);
    for report in &reports {
        let moment = of(report, "hold").moment[2].abs();
        assert!(moment < 1e-8, "a joint that turns bears no moment: {moment:e}");
    }
}

/// What touches the region passes through the body at which it is held, and nothing else does.
#[test]
fn only_the_region_is_left_out_of_contact() {
    let soft = block("soft", [0.0, 0.0, 0.0], [2, 4, 2], 0.05);
    let rigid = solid_box("rigid", Vec3::new(-0.1, -0.1, -0.1), Vec3::new(0.3, 0.1, 0.3), 1);
    let region = select(&soft, |p| p.y < 0.01);
    let first = rigid.rest.len() as u32;
    let mut definition = heavy(scene(vec![rigid, soft.clone()]));
    definition.joints.push(held(JointKind::Fixed, Some(0), 1, region.clone(), Vec3::zeros()));
    let plane = PrescribedDef::new(
        "base",
        0,
        crate::common::rigid::whole_surface(&definition.bodies[0]),
        Motion::Fixed,
    );
    definition.prescribed.push(plane);
    let (_, simulation) = converge(definition.clone(), 1e-6, 5);
    let mesh = &simulation.model().collision;
    let held = |v: u32| region.binary_search(&(v - first)).is_ok();
    let (own, other): (Vec<[u32; 3]>, Vec<_>) = mesh.faces.iter().partition(|f| f[0] >= first);
    assert!(!own.is_empty() && !other.is_empty());
    for (f, g) in own.iter().flat_map(|f| other.iter().map(move |g| (f, g))) {
        assert_eq!(mesh.may_collide(f, g), !f.iter().any(|v| held(*v)));
        assert_eq!(mesh.may_collide(g, f), mesh.may_collide(f, g));
    }
    // where the joint says so, nothing is left out, and surfaces that meet are refused
    definition.joints[0].collide = true;
    assert!(matches!(Simulation::new(&definition), Err(BuildError::Intersecting { .. })));
}

/// A run that is taken up again has the same bits, with loads on whole regions.
#[test]
fn a_restored_simulation_goes_on_with_the_same_bits() {
    let mut definition = heavy(pair(JointKind::Revolute));
    let all = (0..definition.bodies[1].rest.len() as u32).collect();
    definition.forces.push(ForceDef {
        name: "push".into(),
        body: 1,
        vertices: all,
        load: Load::Force(constant([3.0, 20.0, -1.0])),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    let mut one = Simulation::new(&definition).unwrap();
    (0..4).for_each(|_| drop(one.step().unwrap()));
    let mut two = Simulation::restore(&definition, one.state().clone()).unwrap();
    for _ in 0..4 {
        one.step().unwrap();
        two.step().unwrap();
        assert_eq!(one.state(), two.state());
    }
    // the whole force acts: the momentum grows by it and by the weight
    let last = Vec3::from(one.step().unwrap().linear_momentum);
    let mut other = Simulation::new(&Definition { forces: Vec::new(), ..definition }).unwrap();
    let without = (0..9).map(|_| other.step().unwrap()).last().unwrap().linear_momentum;
    let h = one.model().resolved.h;
    let grown = (last - Vec3::from(without)) / (9.0 * h) - Vec3::new(3.0, 20.0, -1.0);
    assert!(grown.norm() < 1e-6, "{grown}");
}

/// What no joint can hold is refused by name.
#[test]
fn what_a_joint_cannot_hold_is_refused() {
    let refusal = |change: &dyn Fn(&mut Definition)| {
        let mut definition = pair(JointKind::Fixed);
        change(&mut definition);
        match Simulation::new(&definition) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it is not refused"),
        }
    };
    let check = |change: &dyn Fn(&mut Definition), expected: &str| {
        let found = refusal(change);
        assert!(found.contains(expected), "{found}");
    };
    check(
        &|d| d.joints[0].regions[1].clear(),
        "body 'soft' is not rigid, so that a joint holds it at some of its vertices",
    );
    check(&|d| d.joints[0].regions[0] = vec![0], "both of its bodies are soft");
    check(
        &|d| {
            d.joints[0].regions[1].clear();
            d.joints[0].regions[0] = vec![0];
        },
        "'rigid' is rigid: a joint holds it as a whole; leave out its vertices",
    );
    check(
        &|d| {
            d.bodies[1] = cable();
            d.joints[0].regions[1] = vec![0];
        },
        "at one vertex, which has no directions",
    );
    check(&|d| d.joints[0].regions[1] = vec![0], "at one vertex, which has no directions");
    check(&|d| d.joints[0].regions[1] = vec![900], "refers to vertex 900");
    check(
        &|d| {
            let mut second = d.joints[0].clone();
            second.name = "second".into();
            second.regions[1].pop();
            d.joints.push(second);
        },
        "is held by another joint",
    );
    check(
        &|d| d.prescribed.push(PrescribedDef::new("pull", 1, vec![0, 1], Motion::Fixed)),
        "'pull' moves vertex 0, at which a joint holds this body",
    );
    check(
        &|d| {
            d.forces.push(ForceDef {
                name: "push".into(),
                body: 1,
                vertices: vec![0, 35],
                load: Load::Force(constant([1.0, 0.0, 0.0])),
                t0: 0.0,
                t1: 1.0,
            });
        },
        "a load acts on all of them or on none",
    );
}
