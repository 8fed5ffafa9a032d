//! Joints that break: when they do, what they leave behind, and when what they left out of contact comes back.

use crate::common::rigid::{moving, solid_box, whole_surface};
use crate::common::{block, scene};
use crate::joints::{G, joint, of};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::expression::{Expression, VectorExpression};
use standoff_sim::definition::{
    BodyDef, Definition, ForceDef, JointDef, JointKind, Load, MimicDef, Motion, PrescribedDef,
};
use standoff_sim::joints::Integrity;
use standoff_sim::report::StepReport;
use standoff_sim::settings::AuditLevel;

const CUBE: Vec3 = Vec3::new(0.1, 0.1, 0.1);

/// A cube of 1 kg that hangs on a joint with the world and is pulled down more and more.
fn pulled(kind: JointKind, at: Vec3) -> Definition {
    let mut definition = scene(vec![solid_box("cube", -0.5 * CUBE, CUBE, 1)]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let force = ["0", "-40*t", "0"].map(|text| Expression::parse(text).unwrap());
    definition.forces.push(ForceDef {
        name: "pull".into(),
        body: 0,
        vertices: whole_surface(&definition.bodies[0]),
        load: Load::Force(VectorExpression(force)),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    definition.joints.push(joint("hook", kind, None, 0, at, Vec3::z()));
    definition
}

fn run(simulation: &mut Simulation, steps: usize) -> Vec<StepReport> {
    (0..steps).map(|_| simulation.step().unwrap()).collect()
}

/// It breaks in the first step at the end of which it bears more than it can, neither earlier nor later, and falls from then on.
#[test]
fn a_joint_breaks_in_the_step_in_which_it_bears_too_much() {
    let end = Vec3::new(0.05, 0.05, 0.0);
    for (kind, point, by_moment) in [
        (JointKind::Spherical, Vec3::new(0.0, 0.05, 0.0), false),
        (JointKind::Fixed, end, false),
        (JointKind::Fixed, end, true),
    ] {
        let definition = pulled(kind, point);
        let h = definition.settings.time.step;
        let whole = run(&mut Simulation::new(&definition).unwrap(), 30);
        let bears = |r: &StepReport| {
            let joint = of(r, "hook");
            Vec3::from(if by_moment { joint.moment } else { joint.force }).norm()
        };
        // what it bears grows by 40 N/s; the arm of the moment is 5 cm
        let grown = bears(&whole[20]) - bears(&whole[19]);
        let expected = 40.0 * h * if by_moment { 0.05 } else { 1.0 };
        assert!((grown - expected).abs() < 1e-4 * expected, "{grown} {expected}");
        for (part, last) in [(-1e-6, 20), (0.5, 21), (1.0 - 1e-6, 21)] {
            let most = bears(&whole[20]) + part * grown;
            let mut breaking = definition.clone();
            match by_moment {
                true => breaking.joints[0].breaking_moment = most,
                false => breaking.joints[0].breaking_force = most,
            }
            let mut simulation = Simulation::new(&breaking).unwrap();
            let reports = run(&mut simulation, 26);
            let broke = |r: &&StepReport| !r.broken_joints.is_empty();
            let steps: Vec<u64> = reports.iter().filter(broke).map(|r| r.step).collect();
            assert_eq!(steps, [last + 1], "{kind:?} {part}");
            assert_eq!(reports[last as usize].broken_joints, ["hook"]);
            for (k, (a, b)) in reports.iter().zip(&whole).enumerate() {
                let [a, b] = [a, b].map(|r| of(r, "hook"));
                assert_eq!(a.broken, k > last as usize);
                if k <= last as usize {
                    assert_eq!(a, b, "until then it is as if it could not break");
                } else {
                    assert_eq!((a.force, a.moment), ([0.0; 3], [0.0; 3]));
                }
            }
            // Δv/h = F/m: its weight, and what pulls
            let [before, after] = [24, 25].map(|k| Vec3::from(reports[k].linear_momentum));
            let force = (after - before) / h;
            let expected = -(G + 40.0 * h * 26.0);
            assert!((force - expected * Vec3::y()).norm() < 1e-5 * expected.abs(), "{force}");
        }
    }
}

/// What is pulled out of a body in which it sat touches that body again as soon as it is outside, and not before.
#[test]
fn contact_comes_back_when_what_was_joined_is_apart() {
    let soft_child = block("child", [-0.025, -0.1, -0.025], [1, 4, 1], 0.05);
    let rigid_child =
        solid_box("child", Vec3::new(-0.025, -0.1, -0.025), Vec3::new(0.05, 0.2, 0.05), 1);
    for child in [rigid_child, soft_child] {
        let soft = !matches!(child.kind, standoff_sim::definition::BodyKind::Rigid { .. });
        let holder = solid_box("holder", Vec3::new(-0.1, 0.0, -0.1), Vec3::new(0.2, 0.1, 0.2), 1);
        let mut definition = scene(vec![holder, child]);
        // the upper half of a rigid child is in the holder, of a soft one its upper face is held at the lower side of that
        if soft {
            let body = &mut definition.bodies[1];
            body.rest.iter_mut().for_each(|p| p.y -= 0.1);
        }
        let body = definition.bodies[0].clone();
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.prescribed.push(PrescribedDef::new(
            "holder",
            0,
            whole_surface(&body),
            Motion::Fixed,
        ));
        let mut hold = joint("hold", JointKind::Fixed, Some(0), 1, Vec3::zeros(), Vec3::zeros());
        if soft {
            let rest = &definition.bodies[1].rest;
            hold.regions[1] =
                (0..rest.len() as u32).filter(|v| rest[*v as usize].y > -1e-6).collect();
        }
        hold.breaking_force = 0.1;
        definition.joints.push(hold);
        definition.settings.solver.audit = AuditLevel::EveryPath;
        let mut simulation = Simulation::new(&definition).unwrap();
        let range = |s: &Simulation, k: usize| s.model().bodies[k].vertices.clone();
        let may_touch = |s: &Simulation| {
            let mesh = &s.model().collision;
            let of = |k: usize| {
                let own = range(s, k);
                mesh.faces.iter().filter(move |f| own.contains(&(f[0] as usize)))
            };
            of(0).all(|f| of(1).all(|g| mesh.may_collide(f, g)))
        };
        let lowest_of_holder = 0.0;
        let (mut met, mut last) = (Integrity::Whole, f64::INFINITY);
        for step in 0..26 {
            simulation.step().unwrap();
            let integrity = simulation.state().joint_integrity[0];
            let highest = simulation.positions()[range(&simulation, 1)]
                .iter()
                .map(|p| p.y)
                .fold(f64::NEG_INFINITY, f64::max);
            assert!(highest <= last + 1e-12, "it falls");
            last = highest;
            let gap = lowest_of_holder - highest;
            assert_eq!(
                integrity == Integrity::Apart,
                gap > simulation.model().resolved.d_hat,
                "{step}: {gap}"
            );
            assert_eq!(may_touch(&simulation), integrity == Integrity::Apart, "{step}");
            met = integrity;
        }
        assert_eq!(met, Integrity::Apart);
        // thrown back up, it hits the holder from below
        let own = range(&simulation, 1);
        simulation.set_velocities(own.start, &vec![Vec3::new(0.0, 4.0, 0.0); own.len()]).unwrap();
        let touches = (0..60).any(|_| simulation.step().unwrap().contacts > 0);
        assert!(touches && simulation.audit().is_empty());
    }
}

/// States remember what is broken: those before it do not have it, those after it do, whichever simulation takes them up.
#[test]
fn states_before_and_after_a_break_go_on_with_the_same_bits() {
    let beam = |k: usize| {
        let low = Vec3::new(0.1 * k as f64, 0.0, 0.0);
        moving(solid_box(&format!("link {k}"), low, CUBE, 1), Vec3::zeros(), Vec3::zeros())
    };
    let mut definition = scene((0..4).map(beam).collect::<Vec<BodyDef>>());
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let fixed = |k: usize| {
        let point = Vec3::new(0.1 * k as f64, 0.05, 0.05);
        let mut joint = joint(
            &format!("joint {k}"),
            JointKind::Fixed,
            k.checked_sub(1),
            k,
            point,
            Vec3::zeros(),
        );
        // the joint at the wall carries the most
        joint.breaking_moment = if k == 2 { 1.0 } else { 40.0 };
        joint
    };
    definition.joints = (0..4).map(fixed).collect::<Vec<JointDef>>();
    let mut one = Simulation::new(&definition).unwrap();
    let start = one.state().clone();
    let reports = run(&mut one, 8);
    let broken: Vec<&String> = reports.iter().flat_map(|r| &r.broken_joints).collect();
    assert_eq!(broken, ["joint 2"]);
    let middle = one.state().clone();
    assert_ne!(middle.joint_integrity[2], Integrity::Whole);
    run(&mut one, 8);
    let end = one.state().clone();
    let mut two = Simulation::restore(&definition, middle.clone()).unwrap();
    run(&mut two, 8);
    assert_eq!(*two.state(), end);
    two.set_state(start).unwrap();
    run(&mut two, 8);
    assert_eq!(*two.state(), middle);
    two.set_state(middle).unwrap();
    run(&mut two, 8);
    assert_eq!(*two.state(), end);
    two.reset();
    run(&mut two, 16);
    assert_eq!(*two.state(), end);
}

/// Joints with everything that acts along their coordinates lose all of that.
#[test]
fn a_broken_joint_does_nothing_along_its_coordinate() {
    let mut definition = pulled(JointKind::Revolute, Vec3::new(0.0, 0.05, 0.0));
    let hook = &mut definition.joints[0];
    hook.limits = Some([-0.5, 0.5]);
    (hook.damping, hook.friction, hook.armature) = (0.1, 0.2, 0.01);
    hook.breaking_force = 12.0;
    let mut simulation = Simulation::new(&definition).unwrap();
    let reports = run(&mut simulation, 30);
    assert_eq!(reports.iter().filter(|r| !r.broken_joints.is_empty()).count(), 1);
    let last = of(&reports[29], "hook");
    assert!(last.broken && last.angle.is_none() && last.resistance == 0.0);
    let target = standoff_sim::joints::JointTarget { effort: Some(1.0), ..Default::default() };
    let error = simulation.set_joint_target(0, target).unwrap_err().to_string();
    assert!(error.contains("it is broken or has no single coordinate"), "{error}");
}

#[test]
fn couplings_do_not_break_and_limits_are_positive() {
    let refusal = |change: &dyn Fn(&mut Definition)| {
        let mut definition = pulled(JointKind::Revolute, Vec3::zeros());
        let mut second = definition.joints[0].clone();
        second.name = "second".into();
        definition.joints.push(second);
        change(&mut definition);
        Simulation::new(&definition).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let found = refusal(&|d| {
        d.joints[0].breaking_force = 1.0;
        d.joints[1].mimic = Some(MimicDef { joint: 0, ratio: 1.0, offset: 0.0 });
    });
    assert!(
        found.contains("a joint of a coupling (`mimic`) or a tendon does not break"),
        "{found}"
    );
    let found = refusal(&|d| d.joints[0].breaking_force = 0.0);
    assert!(found.contains("breaks under a positive force"), "{found}");
    let found = refusal(&|d| d.joints[0].breaking_moment = f64::NAN);
    assert!(found.contains("breaks under a positive moment"), "{found}");
}
