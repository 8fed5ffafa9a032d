//! Every way in which a step can fail: its error, its message and its culprits.

use crate::common::{block, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::settings::{ContactPotential, Method};
use standoff_sim::solver::workspace::Workspace;
use standoff_sim::step::{self, Failure};
use standoff_sim::{Culprit, Simulation, State, StepError};
use standoff_sparse::{BlockMatrix, Cholesky, LinearSolver, Ordering, SolveError, SolveReport};

/// Where d̂ is larger than the edges, the convergent potential subtracts more than it adds, and a step that does not converge says so.
#[test]
fn a_convergent_potential_that_is_negative() {
    let mut definition = scene(vec![
        block("low", [0.0; 3], [6, 6, 6], 0.1),
        block("high", [0.03, 0.75, 0.02], [6, 6, 6], 0.1),
    ]);
    definition.settings.contact.self_contact = false;
    definition.settings.solver.end.velocity = Some(1e-9);
    definition.settings.contact.potential = ContactPotential::Convergent;
    definition.settings.contact.d_hat = Some(0.35);
    definition.settings.contact.stiffness = Some(1e3);
    definition.settings.solver.end.max_iterations = 1;
    let report = Simulation::new(&definition).unwrap().step().unwrap();
    assert!(!report.outcome.is_success() && report.contact_energy < 0.0, "{report:?}");
    assert!(report.unmet.as_ref().unwrap().contains("potential is negative"), "{report:?}");
    definition.settings.contact.potential = ContactPotential::Ipc;
    let report = Simulation::new(&definition).unwrap().step().unwrap();
    assert!(!report.unmet.as_ref().unwrap().contains("negative"), "{report:?}");
}

/// A block on a fixed anvil, pressed by a plate from above.
fn press() -> Definition {
    let plate = |name: &str, y: f64, up: bool| BodyDef {
        name: name.into(),
        rest: [[-1.0, y, -1.0], [2.0, y, -1.0], [2.0, y, 2.0], [-1.0, y, 2.0]]
            .map(Vec3::from)
            .to_vec(),
        kind: BodyKind::Obstacle {
            triangles: if up { vec![[0, 2, 1], [0, 3, 2]] } else { vec![[0, 1, 2], [0, 2, 3]] },
            edges: Vec::new(),
            points: Vec::new(),
        },
        ..BodyDef::default()
    };
    let mut definition = scene(vec![
        block("work", [0.0, 0.02, 0.0], [1, 1, 1], 0.3),
        plate("anvil", 0.0, true),
        plate("ram", 0.34, false),
    ]);
    definition.settings.contact.d_hat = Some(0.01);
    definition.settings.time.step = 0.1;
    definition
}

fn moves(name: &str, body: usize, vertices: Vec<u32>, y: f64) -> PrescribedDef {
    PrescribedDef::new(
        name,
        body,
        vertices,
        Motion::Rigid {
            linear: Vec3::new(0.0, y, 0.0),
            angular: Vec3::zeros(),
            pivot: Pivot::StartCentre,
        },
    )
}

#[test]
fn a_blocked_motion() {
    let mut definition = press();
    // the ram is to go through the block, which is held on the anvil, and through the anvil
    definition.prescribed.push(moves("ram.down", 2, vec![0, 1, 2, 3], -5.0));
    let mut simulation = Simulation::new(&definition).unwrap();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::BlockedMotion { step: 1, .. }), "{error}");
    let text = error.to_string();
    for part in ["'ram.down' is blocked", "'work'", "m apart", "slow it down"] {
        assert!(text.contains(part), "lacks `{part}`: {text}");
    }
    let diagnosis = simulation.diagnosis().unwrap();
    let (model, culprits) = (simulation.model(), &diagnosis.culprits);
    let Culprit::OffTarget { vertex, distance } = culprits[0] else { panic!("{culprits:?}") };
    assert_eq!(model.locate(vertex).0.name, "ram");
    assert!(distance > 0.1 && distance < 0.5);
    let Culprit::Pair { gap, .. } = culprits[1] else { panic!("{culprits:?}") };
    assert!(gap > 0.0 && gap < 0.01);
    assert!(text.contains(&culprits[1].describe(model)), "{text}");
    // the state is the one before the step, the diagnosis that of the last iterate
    assert_eq!(simulation.step_index(), 0);
    assert!(simulation.positions() != &diagnosis.x[..]);
}

/// Multipliers of an obstructed motion that are updated before the minimisation has settled lead to the same
/// end of the step.
#[test]
fn an_obstructed_motion_with_coarse_updates_ends_the_same() {
    let run = |tolerance: Option<f64>| {
        let mut definition = press();
        definition.prescribed.push(moves("ram.down", 2, vec![0, 1, 2, 3], -1.6));
        definition.settings.solver.boundary_tolerance_relative = tolerance;
        definition.settings.solver.end.velocity = Some(1e-6);
        definition.settings.contact.stiffness = Some(1e7);
        let mut simulation = Simulation::new(&definition).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        (simulation.state().x.clone(), report.newton_iterations)
    };
    let ((fine, iterations), (coarse, others)) = (run(None), run(Some(10.0)));
    let off = fine.iter().zip(&coarse).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("{iterations} and {others} iterations, {off:.1e} m apart");
    assert!((coarse[coarse.len() - 1].y - 0.18).abs() < 1e-9);
    // another way, the same end
    assert!(off > 0.0 && off < 1e-6, "{off}");
}

/// A motion by an expression of t that first gets through and then does not: the error is that of the
/// step in which it is blocked, and names the motion.
#[test]
fn a_blocked_motion_by_an_expression() {
    let mut definition = press();
    let formula = |text: &str| Expression::parse(text).unwrap();
    let mut down = moves("ram.formula", 2, vec![0, 1, 2, 3], 0.0);
    down.motion = Motion::Expression {
        translation: VectorExpression([formula("0"), formula("-t^3*20"), formula("0")]),
        axis: Vec3::y(),
        angle: formula("0.1*t"),
        pivot: Pivot::StartCentre,
    };
    definition.prescribed.push(down);
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut steps = 0;
    let error = loop {
        match simulation.step() {
            Ok(report) => assert!(report.outcome.is_success()),
            Err(error) => break error,
        }
        steps += 1;
        let t: f64 = simulation.time();
        let (start, now) = (0.34, simulation.positions()[simulation.positions().len() - 1].y);
        // 99.9 % of the way, where something is in the way
        assert!((now - (start - 20.0 * t.powi(3))).abs() < 2e-3 * (start - now), "{t} {now}");
        assert!(steps < 10, "it went through");
    };
    let blocked = matches!(&error, StepError::BlockedMotion { step, name, progress, .. }
        if *step == steps + 1 && name == "ram.formula" && *progress < 99.9);
    assert!(blocked && steps >= 1, "after {steps}: {error}");
    let text = error.to_string();
    for part in ["'ram.formula' is blocked", "m apart"] {
        assert!(text.contains(part), "lacks `{part}`: {text}");
    }
    let diagnosis = simulation.diagnosis().unwrap();
    let Culprit::OffTarget { vertex, distance } = diagnosis.culprits[0] else { panic!() };
    assert_eq!(simulation.model().locate(vertex).0.name, "ram");
    // as far as the target at the end of the step is from where it got
    let target = 0.34 - 20.0 * (0.1 * (steps + 1) as f64).powi(3);
    let off = diagnosis.x[vertex as usize].y - target;
    assert!((off - distance).abs() < 0.05 * distance, "{off} {distance}");
    assert_eq!(simulation.step_index(), steps);
    assert!(simulation.audit().is_empty());
}

#[test]
fn a_number_that_is_not_finite() {
    let mut definition = press();
    definition.forces.push(ForceDef {
        name: "blast".into(),
        body: 0,
        vertices: vec![5],
        load: Load::Acceleration(Vec3::new(0.0, 1e308, 0.0).into()),
        t0: 0.0,
        t1: 1.0,
    });
    let mut simulation = Simulation::new(&definition).unwrap();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::NotFinite { step: 1, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("is not finite at vertex 5 of 'work'"), "{text}");
    let culprits = &simulation.diagnosis().unwrap().culprits;
    assert_eq!(
        culprits[..],
        [Culprit::Misplaced { vertex: 5, how: "where a number is not finite" }]
    );
}

/// A linear solver that multiplies the solution of a good one, or always refuses.
struct Bad(Option<f64>, Cholesky);

impl LinearSolver for Bad {
    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        let Some(factor) = self.0 else {
            return Err(SolveError::NotPositiveDefinite { block: 2 });
        };
        let report = self.1.solve(a, b, x)?;
        x.iter_mut().for_each(|p| *p *= factor);
        Ok(report)
    }
}

/// A step from `state` with a linear solver of one's own.
fn step_with(definition: &Definition, state: Option<State>, solver: Option<f64>) -> Failure {
    let (model, start) = standoff_sim::build::build(definition).unwrap();
    let state = state.unwrap_or(start);
    let mut work = Workspace::new(&model, &state).unwrap();
    work.linear = Box::new(Bad(solver, Cholesky::new(Ordering::Automatic)));
    *step::step(&model, &state, &mut work).expect_err("it cannot go on")
}

#[test]
fn a_matrix_that_stays_indefinite() {
    let failure = step_with(&press(), None, None);
    assert!(matches!(failure.error, StepError::LinearSolve { step: 1, iteration: 1, .. }));
    let text = failure.error.to_string();
    assert!(text.contains("indefinite at vertex 2 of 'work'"), "{text}");
}

#[test]
fn a_step_without_room() {
    let mut definition = press();
    // within reach of the anvil, and falling
    definition.bodies[0].rest.iter_mut().for_each(|p| p.y -= 0.015);
    definition.gravity.y = -10.0;
    // directions so long that round-off on the way exceeds every gap
    let failure = step_with(&definition, None, Some(1e18));
    assert!(matches!(failure.error, StepError::Stalled { step: 1, .. }), "{}", failure.error);
    let text = failure.error.to_string();
    for part in ["stalled", "closest are", "'anvil'", "'work'", "m apart", "Reduce `time.step`"] {
        assert!(text.contains(part), "lacks `{part}`: {text}");
    }
    let Culprit::Pair { gap, .. } = failure.diagnosis.culprits[0] else { panic!() };
    assert!((gap - 0.005).abs() < 1e-9, "{gap}");
}

#[test]
fn a_step_beyond_its_time() {
    let mut definition = press();
    definition.bodies[0].rest.iter_mut().for_each(|p| p.y -= 0.015);
    definition.gravity.y = -10.0;
    for method in [Method::Barrier, Method::BarrierFree] {
        definition.settings.solver.method = method;
        definition.settings.solver.end.max_step_time = Some(1e-9);
        let failure = step_with(&definition, None, None);
        let StepError::TimeLimit { step: 1, limit, iterations, .. } = failure.error else {
            panic!("{}", failure.error)
        };
        assert_eq!((limit, iterations), (1e-9, 1));
        let text = failure.error.to_string();
        for part in ["solver.end.max_step_time", "Allow more time"] {
            assert!(text.contains(part), "lacks `{part}`: {text}");
        }
        // the barrier-free solver knows of no contact yet
        if method == Method::Barrier {
            assert!(text.contains("'anvil'") && text.contains("'work'"), "{text}");
            assert!(!failure.diagnosis.culprits.is_empty());
        }
        // a limit that is not reached changes nothing
        let states = [None, Some(1e9)].map(|limit| {
            definition.settings.solver.end.max_step_time = limit;
            let mut simulation = Simulation::new(&definition).unwrap();
            simulation.step().unwrap();
            simulation.state().clone()
        });
        assert_eq!(states[0], states[1]);
    }
}

/// A state that no step leads to: the tip of a needle beyond a face that it pierces far from all
/// vertices and edges, so that neither distances nor collision detection see it.
#[test]
fn an_intersection_that_only_the_audit_sees() {
    let mut definition = press();
    definition.bodies.truncate(1);
    definition.bodies.push(BodyDef {
        name: "needle".into(),
        rest: vec![Vec3::new(0.1, 1.0, 0.2), Vec3::new(0.1, 1.3, 0.2)],
        kind: BodyKind::Obstacle { triangles: vec![], edges: vec![[0, 1]], points: vec![] },
        ..BodyDef::default()
    });
    let (_, mut state) = standoff_sim::build::build(&definition).unwrap();
    for v in 8..10 {
        state.x[v].y -= 0.83;
        state.targets[v] = state.x[v];
    }
    let failure = step_with(&definition, Some(state), Some(1.0));
    let text = failure.error.to_string();
    assert!(matches!(failure.error, StepError::Audit { step: 1, .. }), "{text}");
    assert!(text.contains("of 'needle'") && text.contains("of 'work'"), "{text}");
    assert!(failure.diagnosis.culprits.iter().all(|c| c.gap() == Some(0.0)));
    assert!(!failure.diagnosis.culprits.is_empty());
}
