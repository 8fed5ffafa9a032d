//! The interface for programs: bodies and controls by name and by handle, saving and resuming, refusals.

use standoff::LoadOptions;
use standoff::errors::{ControlError, OutputError, RunError, StepError};
use standoff::linear::{BlockMatrix, Cholesky, LinearSolver, Ordering, SolveError, SolveReport};
use standoff::prelude::*;
use standoff::scene_file::{ArraySection, AttachmentSection, HalfSpaceSection, Selection};
use standoff::settings::Integrator;
use std::collections::BTreeSet;
use std::path::Path;

fn block() -> Shape {
    Shape::Box(BoxShape { size: [0.2; 3], cells: [1, 1, 1], ..Default::default() })
}

/// A block with a push and a pressure, held at one corner, above a plate that can be moved.
fn scene() -> Scene {
    let force =
        ForceSection { force: Some([0.0, 0.0, 0.0].map(Formula::Number)), ..Default::default() };
    let pressure = ForceSection { pressure: Some(Formula::Number(0.0)), ..Default::default() };
    SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.1)
        .ground(-1.0)
        .friction(0.3)
        .kinetic_friction(0.2)
        .object(
            Object::shape("block", block())
                .at([0.0, 0.102, 0.0])
                .region("corner", vec![0])
                .fixed("corner")
                .force(force)
                .force(pressure),
        )
        .object(Object::shape("plate", Shape::Plane(Plane { size: [1.0; 2], cells: [1, 1] })))
        .edit(|file| file.time.integrator = Integrator::ImplicitEuler)
        .build()
        .unwrap()
}

/// A solid with nodes in the middles of its edges: the corners of its tetrahedra come first.
#[test]
fn a_solid_may_have_quadratic_elements() {
    let object = Object::shape("block", block()).element(ElementOrder::Quadratic);
    let scene = SceneBuilder::new().time_step(0.01).end_time(0.1).object(object).build().unwrap();
    let mut simulation = Simulation::new(&scene).unwrap();
    let block = simulation.body("block").unwrap();
    // 8 corners, 12 edges, 6 diagonals of faces and one of the cube
    assert_eq!(block.vertices(), 0..27);
    let mass: f64 = block.masses().iter().sum();
    assert!((mass - 8.0).abs() < 1e-12, "{mass}");
    simulation.step().unwrap();
}

/// The kinetic coefficient is that of the scene file, and is refused above the static one.
#[test]
fn friction_has_a_static_and_a_kinetic_coefficient() {
    let friction = |scene: &Scene| {
        let of = &scene.definition.settings.friction;
        (of.coefficient, of.kinetic_coefficient)
    };
    assert_eq!(friction(&scene()), (0.3, Some(0.2)));
    let object = Object::shape("block", block());
    let builder = SceneBuilder::new().time_step(0.01).object(object).friction(0.3);
    let error = builder.kinetic_friction(0.4).build().unwrap_err().to_string();
    assert!(error.contains("friction.kinetic_coefficient"), "{error}");
}

fn control(result: Result<(), Error>) -> ControlError {
    match result {
        Err(Error::Control(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bodies_are_found_by_name() {
    let simulation = Simulation::new(&scene()).unwrap();
    assert_eq!(simulation.body_names().collect::<Vec<_>>(), ["block", "plate"]);
    let (block, plate) = (simulation.body("block").unwrap(), simulation.body("plate").unwrap());
    assert_eq!((block.vertices(), plate.vertices()), (0..8, 8..12));
    assert_eq!(scene().vertices("plate"), Some(8..12));
    assert!(plate.is_obstacle() && !block.is_obstacle());
    let mass: f64 = block.masses().iter().sum();
    assert!((mass - 8.0).abs() < 1e-12, "{mass}");
    assert!((block.centre() - Vec3::new(0.0, 0.102, 0.0)).norm() < 1e-12);
    let error = simulation.body("blok").unwrap_err().to_string();
    assert_eq!(error, "there is no body 'blok'; there are: block, plate");
    assert!(simulation.half_space("ground").is_ok() && simulation.half_space("wall").is_err());
}

#[test]
fn what_acts_on_what_is_told_by_name() {
    let mut simulation = Simulation::new(&scene()).unwrap();
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    let (block, plate) = (simulation.body("block").unwrap(), simulation.body("plate").unwrap());
    let (on_block, on_plate) =
        (block.contact_with("plate").unwrap(), plate.contact_with("block").unwrap());
    // nothing else touches either
    assert!(on_block.force().y > 1.0, "{:?}", on_block.force());
    assert!((on_block.force() - block.force()).norm() < 1e-12 * block.force().norm());
    assert!((on_block.force() + on_plate.force()).norm() < 1e-12 * block.force().norm());
    let about = [0.3, -0.2, 0.1];
    assert!((on_block.torque(about) - block.torque(about)).norm() < 1e-12 * block.force().norm());
    let parts = on_block.normal_force() + on_block.friction_force();
    assert_eq!(parts, on_block.force());
    let (normal, friction) = (on_block.normal_force(), on_block.friction_force());
    assert!(normal.y > 0.99 * normal.norm() && friction.y.abs() < 0.1 * friction.norm());
    assert!(friction.norm() > 1e-6 && friction.norm() <= 0.3 * normal.norm(), "{friction:?}");
    let told = simulation.report().unwrap().forces.pairs["block"]["plate"];
    assert_eq!(Vec3::from(told.force), on_block.force());
    assert_eq!(Vec3::from(told.torque), on_block.torque([0.0; 3]));
    assert_eq!(Vec3::from(told.friction), on_block.friction_force());
    let ground = simulation.half_space("ground").unwrap();
    let nothing = [block.contact_with("ground").unwrap(), ground.contact_with("plate").unwrap()];
    assert!(nothing.iter().all(|c| c.force() == Vec3::zeros()));
    let error = block.contact_with("wall").unwrap_err().to_string();
    assert_eq!(error, "there is no body or half-space 'wall'; there are: block, plate, ground");

    // a state that was saved has them
    let mut restored = Simulation::restore(&scene(), &simulation.save()).unwrap();
    let again = restored.body("block").unwrap().contact_with("plate").unwrap();
    assert_eq!(again, on_block);
    restored.reset().unwrap();
    let before = restored.body("block").unwrap().contact_with("plate").unwrap();
    assert_eq!(before.force(), Vec3::zeros());
}

#[test]
fn loads_and_targets_are_set_by_name() {
    let mut simulation = Simulation::new(&scene()).unwrap();
    let push = LoadValue::Force(Vec3::new(8.0, 0.0, 0.0));
    simulation.set_load("block.force[0]", push).unwrap();
    simulation.set_gravity([0.0; 3]).unwrap();
    simulation.set_prescription("block.corner", false).unwrap();
    simulation.step().unwrap();
    // 8 N on 8 kg over 0.01 s
    let block = simulation.body("block").unwrap();
    let momentum: Vec3 = block.velocities().iter().zip(block.masses()).map(|(v, m)| v * *m).sum();
    let drag = block.force() * 0.01;
    assert!((momentum - Vec3::new(0.08, 0.0, 0.0) - drag).norm() < 1e-6, "{momentum} {drag}");

    simulation.set_prescription("block.corner", true).unwrap();
    let target = simulation.targets("block.corner").unwrap()[0] + Vec3::new(0.0, 1e-3, 0.0);
    simulation.set_targets("block.corner", &[target]).unwrap();
    simulation.step().unwrap();
    assert_eq!(simulation.positions()[0], target);
    let (held, push) =
        (simulation.held("block.corner").unwrap(), simulation.applied("block.force[0]").unwrap());
    assert_eq!((held.name(), push.name()), ("block.corner", "block.force[0]"));
    let x = simulation.positions()[0];
    assert!(held.force().norm() > 1.0 && held.torque(x).norm() < 1e-9 * held.force().norm());
    assert!((held.displacement() - (target - Vec3::from([-0.1, 0.002, -0.1]))).norm() < 1e-12);
    assert!((push.force() - Vec3::new(8.0, 0.0, 0.0)).norm() < 1e-12);
    let centre = simulation.body("block").unwrap().centre();
    assert!(push.torque(centre).norm() < 1e-9 && push.torque([0.0; 3]).norm() > 0.1);
    let told = simulation.report().unwrap().forces.held["block.corner"].force;
    assert_eq!(Vec3::from(told), held.force());
    let error = simulation.held("block.edge").unwrap_err().to_string();
    assert_eq!(error, "there is no prescription 'block.edge'; there are: block.corner");
    assert!(simulation.applied("push").is_err());

    simulation.set_load("block.force[1]", LoadValue::Pressure(100.0)).unwrap();
    let wrong = control(simulation.set_load("block.force[1]", LoadValue::Force(Vec3::zeros())));
    assert_eq!(wrong.to_string(), "'block.force[1]' is a pressure (Pa), not a force (N)");
    let traction = LoadValue::Traction(Vec3::zeros());
    let wrong = control(simulation.set_load("block.force[1]", traction));
    assert_eq!(wrong.to_string(), "'block.force[1]' is a pressure (Pa), not a traction (Pa)");
    let other = LoadValue::Acceleration(Vec3::zeros());
    let wrong = control(simulation.set_load("block.force[0]", other));
    assert_eq!(wrong.to_string(), "'block.force[0]' is a force (N), not an acceleration (m/s²)");
    let wrong = control(simulation.set_load("push", None));
    assert_eq!(
        wrong.to_string(),
        "there is no load 'push'; there are: block.force[0], block.force[1]"
    );
    let free = control(simulation.body_mut("block").unwrap().set_targets(&[target; 8]));
    assert!(matches!(free, ControlError::Free { .. }), "{free}");
    let short = control(simulation.body_mut("plate").unwrap().set_targets(&[target; 3]));
    assert_eq!(short.to_string(), "targets of 'plate': 3 given, 4 expected");
    let held = control(simulation.body_mut("plate").unwrap().set_velocity([0.0; 3]));
    assert!(matches!(held, ControlError::Prescribed { .. }));
}

#[test]
fn poses_are_rigid_motions_of_the_placed_body() {
    let mut simulation = Simulation::new(&scene()).unwrap();
    let before = simulation.body("plate").unwrap().positions().to_vec();
    let mut plate = simulation.body_mut("plate").unwrap();
    let (rotation, translation) = (Vec3::new(0.0, 0.02, 0.0), Vec3::new(0.001, -0.01, 0.0));
    plate.set_pose(Pose { rotation, translation }).unwrap();
    simulation.step().unwrap();
    let (sin, cos) = 0.02f64.sin_cos();
    for (x, y) in before.iter().zip(simulation.body("plate").unwrap().positions()) {
        let turned = Vec3::new(cos * x.x + sin * x.z, x.y, cos * x.z - sin * x.x);
        assert!((turned + Vec3::new(0.001, -0.01, 0.0) - y).norm() < 1e-15);
    }
}

/// Steps with everything set that can be set.
fn drive(simulation: &mut Simulation, end: u64) {
    while simulation.step_index() < end {
        match simulation.step_index() {
            2 => simulation.set_gravity([1.0, -5.0, 0.0]).unwrap(),
            3 => {
                let push = LoadValue::Force(Vec3::new(5.0, 0.0, 1.0));
                simulation.set_load("block.force[0]", push).unwrap();
            }
            4 => simulation.set_prescription("block.corner", false).unwrap(),
            5 => simulation.body_mut("block").unwrap().set_velocity([0.0, 0.1, 0.0]).unwrap(),
            _ => simulation.body_mut("plate").unwrap().move_by([1e-4, 0.0, 0.0]).unwrap(),
        }
        simulation.step().unwrap();
    }
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    let state = simulation.core().state().vectors();
    state.iter().flat_map(|(_, l)| l.iter()).flatten().map(|c| c.to_bits()).collect()
}

#[test]
fn saved_restored_and_resumed_simulations_have_the_same_bits() {
    let scene = scene();
    let folder = tempfile::tempdir().unwrap();
    let mut whole = Simulation::new(&scene).unwrap();
    drive(&mut whole, 10);
    for stop in [3, 6] {
        let mut first = Simulation::new(&scene).unwrap();
        drive(&mut first, stop);
        let saved = first.save();
        drive(&mut first, 8);
        first.load(&saved).unwrap();
        let mut second = Simulation::restore(&scene, &saved).unwrap();
        drive(&mut first, 10);
        drive(&mut second, 10);
        assert_eq!(bits(&first), bits(&whole));
        assert_eq!(bits(&second), bits(&whole));

        let path = folder.path().join(stop.to_string());
        let mut recorded = Simulation::new(&scene).unwrap();
        recorded.record(&path, Options::default()).unwrap();
        drive(&mut recorded, stop);
        // the end of the recording is written when it goes out of scope
        drop(recorded);
        let mut resumed = Simulation::resume(&standoff::load_run(&path).unwrap(), &path).unwrap();
        assert_eq!(resumed.step_index(), stop);
        drive(&mut resumed, 10);
        assert_eq!(bits(&resumed), bits(&whole));
    }
    let mut other =
        SceneBuilder::new().time_step(0.01).end_time(0.1).object(Object::shape("block", block()));
    other = other.gravity([0.0; 3]);
    let saved = Simulation::new(&other.build().unwrap()).unwrap().save();
    assert!(matches!(
        Simulation::restore(&scene, &saved),
        Err(Error::Output(OutputError::Foreign { .. }))
    ));
    let cut = whole.load(&whole.save()[..100]);
    assert!(matches!(cut, Err(Error::Output(OutputError::Damaged { .. }))));
}

#[test]
fn a_recording_begins_with_the_first_step() {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = Simulation::new(&scene()).unwrap();
    simulation.step().unwrap();
    let late = simulation.record(folder.path(), Options::default());
    assert!(matches!(late, Err(Error::Output(OutputError::Late { step: 1, .. }))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Names of the files of a folder and of those within it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        match entry.is_dir() {
            true => all.extend(files(&entry)),
            false => drop(all.insert(entry.file_name().unwrap().to_string_lossy().into_owned())),
        }
    }
    all
}

#[test]
fn a_mesh_in_memory_lies_with_the_run() {
    let mut mesh = block().build().unwrap();
    // numbers that need every bit, a region, and a point that nothing uses
    mesh.points.iter_mut().for_each(|p| *p *= 1.0 / 3.0);
    mesh.points.push(Vec3::zeros());
    mesh.regions.push(standoff::mesh::Region {
        name: "foot".into(),
        vertices: vec![0, 1],
        ..Default::default()
    });
    let scene = SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.05)
        .ground(-0.1)
        .object(Object::mesh("brick", mesh).fixed("foot"))
        .build()
        .unwrap();
    assert_eq!(scene.vertices("brick"), Some(0..8));
    let folder = tempfile::tempdir().unwrap();
    let (path, moved) = (folder.path().join("a"), folder.path().join("b"));
    standoff::run(&scene, &path).unwrap();
    assert!(files(&path).contains("scene.resolved.toml"));
    assert!(path.join("scene.meshes/000000.vtu").exists());
    std::fs::rename(&path, &moved).unwrap();
    // the folder alone says what was simulated, wherever it is
    let mut again = standoff::load_run(&moved).unwrap();
    again.set_steps(8);
    assert_eq!(standoff::resume(&again, &moved).unwrap().steps, 8);
    let mut whole = scene;
    whole.set_steps(8);
    standoff::run(&whole, &path).unwrap();
    for step in 0..=8 {
        let frame = |run: &Path| std::fs::read(run.join(format!("frames/{step:06}.vtu"))).unwrap();
        assert_eq!(frame(&path), frame(&moved), "frame {step}");
    }
    // repeated in its own folder, it keeps its mesh
    let same = standoff::load_run(&moved).unwrap();
    let replace = Options { force: true };
    standoff::run_with(&same, &moved, replace, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(standoff::load_run(&moved).is_ok());
    // and a run that replaces it leaves nothing of it
    let other = SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.01)
        .object(Object::shape("block", block()))
        .build();
    standoff::run_with(&other.unwrap(), &moved, replace, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    assert!(!moved.join("scene.meshes/000000.vtu").exists());
}

#[test]
fn faults_of_built_scenes_name_their_place() {
    let wrong = SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.1)
        .object(Object::shape("block", block()).velocity([f64::NAN, 0.0, 0.0]).fixed("nowhere"))
        .build()
        .unwrap_err();
    let Error::Scene(error) = &wrong else { panic!("{wrong:?}") };
    assert!(error.location.is_none() && error.path.starts_with("objects[0]"), "{error:?}");
    assert!(wrong.to_string().contains("block"), "{wrong}");
    let folder = tempfile::tempdir().unwrap();
    let none = standoff::load_run(folder.path()).unwrap_err();
    assert!(matches!(none, Error::Output(OutputError::NoRun { .. })));
    let past = Simulation::resume(&scene(), folder.path()).unwrap_err();
    let Error::Run(RunError::Output(past)) = past else { panic!("{past:?}") };
    let refused = matches!(past, OutputError::NoRun { .. } | OutputError::NoCheckpoint { .. });
    assert!(refused, "{past:?}");
}

#[test]
fn a_callback_ends_a_run() {
    let mut simulation = Simulation::new(&scene()).unwrap();
    let mut seen = Vec::new();
    let summary = simulation
        .run(&mut |simulation, report| {
            seen.push((report.step, simulation.step_index()));
            simulation.set_gravity([0.0; 3]).unwrap();
            if report.step == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((summary.steps, seen), (4, vec![(1, 1), (2, 2), (3, 3), (4, 4)]));
    assert!(!simulation.is_finished() && simulation.audit().is_empty());
}

#[test]
fn a_watcher_sees_every_iteration_and_changes_nothing() {
    let mut simulation = Simulation::new(&scene()).unwrap();
    drive(&mut simulation, 6);
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut watched = Simulation::new(&scene()).unwrap();
    watched.watch(move |iteration| {
        let first = iteration.positions[0];
        sender.send((iteration.step, iteration.number, iteration.residual_speed, first)).unwrap();
        ControlFlow::Continue(())
    });
    drive(&mut watched, 6);
    assert_eq!(bits(&watched), bits(&simulation));
    let seen: Vec<_> = receiver.try_iter().collect();
    for step in 1..=6 {
        let own: Vec<_> = seen.iter().filter(|s| s.0 == step).collect();
        assert!(own[0].1 == 1 && own[0].2.is_none(), "{own:?}");
        assert!(own.windows(2).all(|w| w[1].1 - w[0].1 <= 1), "an iteration is missing: {own:?}");
        assert!(own[1..].iter().all(|s| s.1 == 1 || s.2.is_some()), "{own:?}");
    }
    let iterations = watched.report().unwrap().newton_iterations;
    assert_eq!(seen.iter().filter(|s| s.0 == 6).map(|s| s.1).max(), Some(iterations));
}

#[test]
fn a_cancelled_step_leaves_state_and_recording_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = Simulation::new(&scene()).unwrap();
    simulation.record(folder.path(), Options::default()).unwrap();
    simulation.step().unwrap();
    let before = bits(&simulation);
    simulation
        .watch(|i| if i.number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    let error = simulation.step().unwrap_err();
    let cancelled = StepError::Cancelled { step: 2, iterations: 2 };
    assert!(matches!(&error, Error::Step(e) if *e == cancelled), "{error:?}");
    assert!(bits(&simulation) == before && simulation.step_index() == 1);
    assert!(!folder.path().join("failure.json").exists());

    simulation.watch(|_| ControlFlow::Continue(()));
    drive(&mut simulation, 4);
    simulation.finish().unwrap();
    assert!(folder.path().join("frames/000004.vtu").exists());
    let mut other = Simulation::new(&scene()).unwrap();
    other.step().unwrap();
    drive(&mut other, 4);
    assert_eq!(bits(&simulation), bits(&other));
}

/// Solves by a factorisation, and refuses everything from a given system on.
struct Tiring(Cholesky, usize);

impl LinearSolver for Tiring {
    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.1 = self.1.checked_sub(1).ok_or(SolveError::NotFinite { what: "solution" })?;
        self.0.solve(a, b, x)
    }
}

#[test]
fn a_linear_solver_of_ones_own_solves_the_systems() {
    let with = |systems: usize| {
        let mut simulation = Simulation::new(&scene()).unwrap();
        let factorisation = Cholesky::new(Ordering::Automatic);
        simulation.set_linear_solver(Box::new(Tiring(factorisation, systems)));
        simulation
    };
    let mut chosen = scene();
    chosen.definition.settings.solver.linear = standoff::settings::LinearSolver::Cholesky;
    let mut chosen = Simulation::new(&chosen).unwrap();
    drive(&mut chosen, 4);
    let mut own = with(1000);
    drive(&mut own, 4);
    for (a, b) in own.positions().iter().zip(chosen.positions()) {
        assert!((a - b).norm() < 1e-9, "{a} instead of {b}");
    }
    let error = with(0).step().unwrap_err().to_string();
    assert!(error.contains("the Newton direction is not finite"), "{error}");
}

/// A scene of the IPC 2020 reference whose mesh lies elsewhere: it is found by its root, also when the run goes on.
#[test]
fn files_are_read_with_options() {
    let folder = tempfile::tempdir().unwrap();
    let (toml, txt) = (folder.path().join("scene.toml"), folder.path().join("scene.txt"));
    std::fs::write(
        &toml,
        "ground = 0.0\n[[objects]]\nshape = { kind = \"box\" }\ntranslate = [0, 1, 0]\n",
    )
    .unwrap();
    let overrides = vec!["time.step=0.02".to_owned()];
    let options = LoadOptions { overrides, steps: Some(3), ..LoadOptions::default() };
    let scene = standoff::load_with(&toml, &options).unwrap();
    assert_eq!((scene.steps(), scene.definition.settings.time.step), (3, 0.02));

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/data/ipc/tetMeshes");
    std::fs::write(&txt, "shapes input 1\ncube.msh 0 3 0  0 0 0  1 1 1\n\nground 0.1 0\n").unwrap();
    assert!(matches!(standoff::load(&txt, &[]), Err(Error::Import(_))));
    let options = LoadOptions { mesh_roots: vec![root], steps: Some(2), ..LoadOptions::default() };
    let scene = standoff::load_with(&txt, &options).unwrap();
    assert_eq!(scene.steps(), 2);
    let run = folder.path().join("run");
    standoff::run(&scene, &run).unwrap();
    assert_eq!(
        standoff::fingerprint(&standoff::load_run(&run).unwrap()),
        standoff::fingerprint(&scene)
    );
}

/// Three copies of a block, each held at a corner and pushed, and one that is attached to the first; a wall.
fn scene_with_handles() -> (Scene, [BodyHandle; 2], LoadHandle, HalfSpaceHandle) {
    let push = || ForceSection { force: Some([0.0; 3].map(Formula::Number)), ..Default::default() };
    let copies = ArraySection { counts: [1, 1, 3], spacing: [0.0, 0.0, 0.5] };
    let mut builder = SceneBuilder::new().ground(-1.0);
    let row = Object::shape("row", block()).region("corner", vec![0]).fixed("corner");
    let row = builder.add(row.force(push()).edit(|o| o.array = Some(copies)));
    // two sets of vertices with one name
    let single = Object::shape("single", block()).at([1.0, 0.0, 0.0]).region("corner", vec![0]);
    let turn = MotionSection {
        vertices: Selection::Name("corner".into()),
        start: 100.0,
        ..Default::default()
    };
    let single = builder.add(single.fixed("corner").motion(turn).force(push()).force(push()));
    let spring = builder.add_attachment(AttachmentSection {
        object: "single".into(),
        stiffness: Some(1.0),
        ..Default::default()
    });
    let wall = builder.add_half_space(HalfSpaceSection {
        name: "wall".into(),
        origin: [-5.0, 0.0, 0.0],
        normal: [1.0, 0.0, 0.0],
        ..Default::default()
    });
    (builder.build().unwrap(), [row, single], spring, wall)
}

#[test]
fn handles_stand_for_what_names_do() {
    let (scene, [row, single], spring, wall) = scene_with_handles();
    let mut simulation = Simulation::new(&scene).unwrap();
    let body = |handle: BodyHandle| simulation.body(handle).unwrap();
    assert_eq!(body(row).name(), "row[0,0,0]");
    assert_eq!(body(row.copy(2)).name(), "row[0,0,2]");
    assert_eq!(body(single).vertices(), simulation.body("single").unwrap().vertices());
    assert_eq!(simulation.half_space(wall).unwrap().name(), "wall");
    let held = |handle: PrescriptionHandle| simulation.held(handle).unwrap().name();
    assert_eq!(held(row.copy(1).fixed(0)), "row[0,0,1].corner");
    assert_eq!(held(single.fixed(0)), "single.corner");
    assert_eq!(held(single.motion(0)), "single.corner#2");
    let applied = |handle: LoadHandle| simulation.applied(handle).unwrap().name();
    assert_eq!(applied(row.copy(2).force(0)), "row[0,0,2].force[0]");
    assert_eq!(applied(single.force(1)), "single.force[1]");
    assert_eq!(applied(spring), "attachment-0");

    // from names, too
    assert_eq!(simulation.body("single").unwrap().handle(), Some(single));
    assert_eq!(simulation.body("row[0,0,2]").unwrap().handle(), Some(row.copy(2)));
    assert_eq!(simulation.half_space("wall").unwrap().handle(), Some(wall));
    assert!(simulation.half_space("ground").unwrap().handle().is_some());
    let corner = simulation.held("single.corner#2").unwrap().handle();
    assert_eq!(corner, Some(single.motion(0)));
    assert_eq!(simulation.applied("attachment-0").unwrap().handle(), Some(spring));

    // and to set things
    let push = LoadValue::Force(Vec3::new(2.0, 0.0, 0.0));
    simulation.set_load(row.copy(1).force(0), push).unwrap();
    simulation.set_prescription(row.copy(1).fixed(0), false).unwrap();
    simulation.body_mut(single).unwrap().set_velocity([0.0; 3]).unwrap();
    let target = simulation.targets(row.fixed(0)).unwrap()[0] + Vec3::new(0.0, 1e-3, 0.0);
    simulation.set_targets(row.fixed(0), &[target]).unwrap();
    simulation.step().unwrap();
    assert!((simulation.applied(row.copy(1).force(0)).unwrap().force().x - 2.0).abs() < 1e-12);
    assert_eq!(simulation.held(row.copy(1).fixed(0)).unwrap().force(), Vec3::zeros());
    assert_eq!(simulation.body(row).unwrap().positions()[0], target);
}

#[test]
fn handles_of_other_scenes_and_of_nothing_are_refused() {
    let (scene, [row, single], spring, wall) = scene_with_handles();
    let (other, ..) = scene_with_handles();
    let mut foreign = Simulation::new(&other).unwrap();
    let refused = |error: Error| match error {
        Error::Control(ControlError::Foreign { what }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(foreign.body(single).unwrap_err()), "body");
    assert_eq!(refused(foreign.body_mut(row).unwrap_err()), "body");
    assert_eq!(refused(foreign.half_space(wall).unwrap_err()), "half-space");
    assert_eq!(refused(foreign.held(row.fixed(0)).unwrap_err()), "prescription");
    assert_eq!(refused(foreign.applied(spring).unwrap_err()), "load");
    assert_eq!(refused(foreign.set_load(row.force(0), None).unwrap_err()), "load");
    assert_eq!(refused(foreign.set_prescription(row.fixed(0), false).unwrap_err()), "prescription");

    // all simulations of a scene and of its copies have the same handles
    let mut own = Simulation::new(&scene.clone()).unwrap();
    assert!(own.body(single).is_ok());
    assert!(Simulation::restore(&scene, &own.save()).unwrap().body(single).is_ok());
    let none = own.body(row.copy(3)).unwrap_err().to_string();
    assert!(none.starts_with("there is no body 'copy 3 of row'; there are: row[0,0,0]"), "{none}");
    let none = own.held(single.fixed(7)).unwrap_err().to_string();
    assert!(none.contains("there is no prescription 'single.fixed[7], copy 0'"), "{none}");
    // springs have no value to set
    let none = control(own.set_load(spring, None)).to_string();
    assert!(none.contains("there is no load 'attachment 0, copy 0'"), "{none}");

    // what a program puts into the definition or takes out of it has names alone
    let mut changed = scene;
    let first = changed.definition.forces.remove(0).name;
    let changed = Simulation::new(&changed).unwrap();
    assert!(changed.applied(row.force(0)).is_err() && changed.applied(first.as_str()).is_err());
    assert_eq!(changed.applied("single.force[1]").unwrap().handle(), None);
    assert!(changed.body(single).is_ok());
}
