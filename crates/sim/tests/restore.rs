//! A simulation restored from its state continues with the same bits as one that never stopped.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    BodyDef, BodyKind, Condition, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::settings::{Integrator, Lagging, LaggingUntil, LinearSolver};
use standoff_sim::{BuildError, Simulation, State};

/// Two blocks on a plate that turns and then lets go, with friction, a gust and a pull.
fn busy() -> Definition {
    let plate = BodyDef {
        name: "plate".into(),
        rest: [[-1.0, 0.0, -1.0], [2.0, 0.0, -1.0], [2.0, 0.0, 2.0], [-1.0, 0.0, 2.0]]
            .map(Vec3::from)
            .to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    };
    let mut definition = scene(vec![
        block("low", [0.0, 0.004, 0.0], [2, 2, 2], 0.2),
        block("high", [0.07, 0.409, 0.11], [2, 1, 2], 0.2),
        plate,
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(-2.0));
    definition.settings.time.step = 0.01;
    definition.settings.friction.coefficient = 0.3;
    definition.settings.contact.d_hat = Some(0.01);
    let prescribe = |name: &str, body, vertices, motion, t1| PrescribedDef {
        t1,
        ..PrescribedDef::new(name, body, vertices, motion)
    };
    let turn = Motion::Rigid {
        linear: Vec3::new(0.3, 0.2, 0.0),
        angular: Vec3::new(0.0, 1.0, 0.0),
        pivot: Pivot::StartCentre,
    };
    definition.prescribed.push(prescribe("turn", 2, vec![0, 1, 2, 3], turn, f64::INFINITY));
    let hold = prescribe("hold", 1, vec![0, 1], Motion::Fixed, 0.06);
    definition.prescribed.push(PrescribedDef {
        until: Some(Condition::AllBeyond { bodies: vec![0], normal: Vec3::y(), offset: -10.0 }),
        ..prescribe("never", 1, vec![2], Motion::Fixed, 1.0)
    });
    definition.prescribed.push(hold);
    definition.forces.push(ForceDef {
        name: "gust".into(),
        body: 1,
        vertices: vec![3, 4, 5],
        load: Load::Force(Vec3::new(40.0, 0.0, 0.0).into()),
        t0: 0.02,
        t1: 0.05,
    });
    definition
}

/// Restores at every one of `steps` steps and compares all states and reports that follow.
fn goes_on_alike(definition: &Definition, steps: usize) {
    let mut simulation = Simulation::new(definition).unwrap();
    let mut states = vec![simulation.state().clone()];
    let mut reports = Vec::new();
    for _ in 0..steps {
        let mut report = simulation.step().unwrap();
        report.seconds = Default::default();
        reports.push(report);
        states.push(simulation.state().clone());
    }
    assert!(reports.iter().any(|r| r.contacts > 0), "without contact it shows little");
    for from in 0..steps {
        let mut restored = Simulation::restore(definition, states[from].clone()).unwrap();
        // a few steps are enough: they start from states that are compared as well
        for k in from..steps.min(from + 3) {
            let mut report = restored.step().unwrap();
            report.seconds = Default::default();
            assert_eq!(report, reports[k], "restored after {from}, step {}", k + 1);
            assert!(same_bits(restored.state(), &states[k + 1]), "after {from}, step {}", k + 1);
        }
    }
}

fn same_bits(a: &State, b: &State) -> bool {
    let bits = |s: &State| -> Vec<u64> {
        s.vectors().iter().flat_map(|(_, l)| l.iter().flatten().map(|c| c.to_bits())).collect()
    };
    a == b && bits(a) == bits(b)
}

#[test]
fn every_integrator_and_solver() {
    for integrator in [
        Integrator::ImplicitEuler,
        Integrator::Bdf2,
        Integrator::Newmark,
        Integrator::ImplicitMidpoint,
        Integrator::AlphaBetaGamma,
        Integrator::QuasiStatic,
    ] {
        let mut definition = busy();
        if integrator == Integrator::AlphaBetaGamma {
            // with a part of the forces from the start of the step
            (definition.settings.time.alpha, definition.settings.time.beta) = (0.5, 1.0);
        }
        definition.settings.time.integrator = integrator;
        definition.settings.time.stiffness_damping = 1e-3;
        if integrator == Integrator::QuasiStatic {
            // everything has to be held then
            definition.prescribed[1].t1 = f64::INFINITY;
            definition.prescribed[1].until = None;
            definition.prescribed[2].t1 = f64::INFINITY;
            let low = PrescribedDef {
                name: "press".into(),
                body: 0,
                vertices: (0..27).filter(|v| v / 3 % 3 == 2).collect(),
                motion: Motion::Rigid {
                    linear: Vec3::new(0.0, -0.2, 0.0),
                    angular: Vec3::zeros(),
                    pivot: Pivot::StartCentre,
                },
                ..definition.prescribed[2].clone()
            };
            definition.prescribed.push(low);
            definition.prescribed[0].motion = Motion::Fixed;
        }
        goes_on_alike(&definition, 9);
    }
    let mut definition = busy();
    definition.settings.solver.linear = LinearSolver::ConjugateGradient;
    definition.settings.friction.lagging = Lagging::Until(LaggingUntil::Converged);
    definition.settings.friction.max_lagging = 4;
    definition.settings.time.release_from_rest = true;
    goes_on_alike(&definition, 9);
}

#[test]
fn a_state_that_does_not_fit_is_refused() {
    let definition = busy();
    let mut simulation = Simulation::new(&definition).unwrap();
    simulation.step().unwrap();
    let good = simulation.state().clone();
    let refused = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        match Simulation::restore(&definition, state) {
            Err(BuildError::State { problem }) => problem,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was taken"),
        }
    };
    assert!(refused(&|s| s.v.truncate(3)).contains("velocities of 3 vertices"));
    assert!(refused(&|s| s.a[4].y = f64::NAN).contains("accelerations of vertex 4 are not"));
    assert!(refused(&|s| s.kappa = -1.0).contains("stiffness of -1"));
    assert!(refused(&|s| s.ended.push(true)).contains("prescribed motions"));
    assert!(refused(&|s| s.time += 1e-9).contains("after 1 steps of 0.01 s"));
    // 'high' moved into 'low'
    let into = refused(&|s| s.x[27..].iter_mut().take(18).for_each(|p| p.y -= 0.1));
    assert!(into.contains("'low'") && into.contains("'high'"), "{into}");
    assert!(Simulation::restore(&definition, good.clone()).is_ok());
}
