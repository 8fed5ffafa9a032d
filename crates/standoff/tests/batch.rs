//! Batches: members against simulations of their own, going back to earlier states, members that fail.

use standoff::errors::{BuildError, ControlError, StepError};
use standoff::prelude::*;
use standoff::{BatchError, settings::Integrator};

/// A block of a stiffness (Pa) that is pushed over a plate with friction, and a board above it.
fn scene(young_modulus: f64) -> Scene {
    let block = Shape::Box(BoxShape { size: [0.2; 3], cells: [2, 2, 2], ..Default::default() });
    let plane = || Shape::Plane(Plane { size: [1.0; 2], cells: [1, 1] });
    let push =
        ForceSection { force: Some([0.0, 0.0, 0.0].map(Formula::Number)), ..Default::default() };
    let foam = MaterialSection { young_modulus, density: 300.0, ..Default::default() };
    SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.2)
        .friction(0.3)
        .material("foam", foam)
        .object(Object::shape("block", block).material("foam").at([0.0, 0.1005, 0.0]).force(push))
        .object(Object::shape("plate", plane()))
        .object(Object::shape("board", plane()).at([0.0, 0.25, 0.0]))
        .edit(|file| file.time.integrator = Integrator::Bdf2)
        .build()
        .unwrap()
}

fn scenes() -> Vec<Scene> {
    [5e4, 1e5, 2e5, 4e5, 8e5].map(scene).into()
}

/// What a program does before a step of member `k`.
fn act(k: usize, simulation: &mut Simulation) -> Result<(), Error> {
    let size = 1.0 + k as f64;
    let push = Vec3::new(2.0 * size, 0.0, 0.1 * simulation.step_index() as f64);
    simulation.set_load("block.force[0]", LoadValue::Force(push))?;
    simulation.body_mut("plate")?.move_by([0.0, 2e-4 * size, 0.0])
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.core().state();
    let vectors = state.vectors();
    let all = vectors.iter().flat_map(|(_, list)| list.iter()).flatten();
    all.chain([&state.kappa, &state.time]).map(|c| c.to_bits()).collect()
}

fn all_bits(batch: &Batch) -> Vec<Vec<u64>> {
    batch.members().iter().map(bits).collect()
}

fn advance(batch: &mut Batch, steps: usize) {
    for _ in 0..steps {
        let done = batch.each(|k, simulation| {
            act(k, simulation)?;
            simulation.step().cloned()
        });
        assert!(done.unwrap().iter().all(Result::is_ok));
    }
}

#[test]
fn members_have_the_bits_of_single_simulations() {
    let scenes = scenes();
    let alone: Vec<Vec<u64>> = (0..scenes.len())
        .map(|k| {
            let mut simulation = Simulation::new(&scenes[k]).unwrap();
            for _ in 0..12 {
                act(k, &mut simulation).unwrap();
                simulation.step().unwrap();
            }
            assert!(simulation.body("block").unwrap().force().y > 1.0, "there is contact");
            bits(&simulation)
        })
        .collect();
    assert!((1..5).all(|k| alone[k] != alone[0]));
    for threads in [1, 2, 3, 8] {
        let mut batch = Batch::new(&scenes, threads).unwrap();
        assert_eq!((batch.members().len(), batch.threads()), (5, threads.min(5)));
        advance(&mut batch, 12);
        assert_eq!(all_bits(&batch), alone, "{threads} threads");
    }
    // of simulations that exist, on the threads that there are
    let members: Result<Vec<_>, _> = scenes.iter().map(Simulation::new).collect();
    let mut batch = Batch::of_members(members.unwrap(), 0).unwrap();
    advance(&mut batch, 12);
    assert_eq!(all_bits(&batch), alone);
}

#[test]
fn members_go_back_to_the_start_and_to_saved_states() {
    let scenes = scenes();
    let mut batch = Batch::new(&scenes, 2).unwrap();
    let start = all_bits(&batch);
    advance(&mut batch, 4);
    let (early, saved) = (all_bits(&batch), batch.each(|_, s| Ok(s.save())).unwrap());
    advance(&mut batch, 6);
    let late = all_bits(&batch);

    // some go back to the start, one to what was saved, the others stay
    batch.reset(&[3, 0]).unwrap();
    let loaded = batch.each_of(&[2], |k, simulation| simulation.load(saved[k].as_ref().unwrap()));
    loaded.unwrap().pop().unwrap().unwrap();
    let now = all_bits(&batch);
    assert_eq!([&now[0], &now[3]], [&start[0], &start[3]]);
    assert_eq!([&now[1], &now[2], &now[4]], [&late[1], &early[2], &late[4]]);
    assert!(batch.members()[0].report().is_none() && batch.members()[1].report().is_some());

    // all of them come to where they would have come, whatever was set before
    batch.members_mut()[0].set_gravity([1.0, 2.0, 3.0]).unwrap();
    batch.reset(&[0]).unwrap();
    let done = batch.each_of(&[0, 3, 2], |k, simulation| {
        while simulation.step_index() < 10 {
            act(k, simulation)?;
            simulation.step()?;
        }
        Ok(k)
    });
    let done: Vec<usize> = done.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(done, [0, 3, 2]);
    assert_eq!(all_bits(&batch), late);
}

#[test]
fn a_member_that_fails_does_not_stop_the_others() {
    let scenes = scenes();
    let mut batch = Batch::new(&scenes, 2).unwrap();
    advance(&mut batch, 2);
    let before = all_bits(&batch);
    // the plate of member 2 cannot push the block through the board
    let done = batch.each(|k, simulation| {
        if k == 2 {
            simulation.body_mut("plate")?.move_by([0.0, 0.3, 0.0])?;
        }
        simulation.step().cloned()
    });
    let done = done.unwrap();
    for (k, done) in done.iter().enumerate() {
        let step = batch.members()[k].step_index();
        match done {
            Ok(report) => assert!(k != 2 && report.step == 3 && step == 3),
            Err(Error::Step(StepError::BlockedMotion { .. })) => assert!(k == 2 && step == 2),
            Err(other) => panic!("{k}: {other}"),
        }
    }
    let x = |k: usize, bits: &[Vec<u64>]| bits[k][..30].to_vec();
    assert_eq!(x(2, &all_bits(&batch)), x(2, &before));
    // an error of what is set leaves the others alone, too
    let done = batch.each(|k, simulation| {
        let name = if k == 1 { "plait" } else { "plate" };
        simulation.body_mut(name)?.move_by([0.0; 3])
    });
    let errors: Vec<_> = done.unwrap().into_iter().map(Result::err).collect();
    assert!(matches!(errors[1], Some(Error::Control(ControlError::Unknown { .. }))));
    assert_eq!(errors.iter().flatten().count(), 1);
    batch.reset(&[2]).unwrap();
    let steps: Vec<u64> = batch.step().unwrap().into_iter().map(|r| r.unwrap().step).collect();
    assert_eq!(steps, [4, 4, 1, 4, 4]);
}

#[test]
fn what_is_no_batch_is_refused() {
    assert!(matches!(Batch::new([], 1), Err(Error::Batch(BatchError::Empty))));
    let mut batch = Batch::new(std::iter::repeat_n(&scene(1e5), 3), 2).unwrap();
    let missing = batch.reset(&[0, 3]).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "there is no member 3; the batch has 3, which are numbered from 0"
    );
    let twice = batch.each_of(&[1, 1], |_, simulation| simulation.step().cloned()).unwrap_err();
    assert!(matches!(twice, Error::Batch(BatchError::Repeated { member: 1 })), "{twice}");
    assert!(batch.members().iter().all(|s| s.step_index() == 0));

    // a scene that cannot be simulated is named
    let mut bad = scene(1e5);
    bad.definition.bodies[0].rest.iter_mut().for_each(|p| p.y -= 0.1);
    let error = Batch::new([&scene(1e5), &bad], 2).unwrap_err();
    assert!(error.to_string().starts_with("member 1: the start is not free"), "{error}");
    let Error::Batch(BatchError::Member { member: 1, error }) = error else { panic!("{error}") };
    assert!(matches!(*error, Error::Build(BuildError::Intersecting { .. })));
    assert!(format!("{batch:?}").starts_with("Batch { members: [Simulation"), "{batch:?}");
}

#[test]
fn recordings_of_members_end_with_the_batch_and_with_a_reset() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = Batch::new(std::iter::repeat_n(&scene(1e5), 2), 2).unwrap();
    for (k, simulation) in batch.members_mut().iter_mut().enumerate() {
        simulation.record(folder.path().join(k.to_string()), Options::default()).unwrap();
    }
    batch.step().unwrap();
    batch.reset(&[0]).unwrap();
    batch.step().unwrap();
    batch.close().unwrap();
    let last = |k: &str| {
        let folder = folder.path().join(k);
        let scene = standoff::load_run(&folder)?;
        Ok::<_, Error>(Simulation::resume(&scene, &folder)?.step_index())
    };
    assert_eq!((last("0").unwrap(), last("1").unwrap()), (1, 2));
    // it goes on afterwards
    let steps: Vec<u64> = batch.step().unwrap().into_iter().map(|r| r.unwrap().step).collect();
    assert_eq!(steps, [2, 3]);
}
