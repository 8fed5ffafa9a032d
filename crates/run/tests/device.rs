//! Runs whose linear systems are to be solved on a graphics processor, with and without a solver that is passed in.

use standoff_run::{Event, Options, resume_by, run, run_by};
use standoff_scene::Scene;
use standoff_sim::settings::Device;
use standoff_sparse::{Cholesky, LinearSolver, Ordering};
use std::ops::ControlFlow;
use std::path::Path;

const FALL: &str = r#"
time = { step = 0.01, end = 0.04 }
ground = 0
[[objects]]
name = "block"
shape = { kind = "box" }
translate = [0, 0.501, 0]
"#;

/// Nothing is solved elsewhere unnoticed: without a solver the first step ends the run. What stands for one is used by `run` and by `resume`.
#[test]
fn a_solver_that_is_missing_is_named_and_one_that_is_passed_in_is_used() {
    let mut scene = Scene::parse(FALL, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    scene.set_device(Device::Gpu);
    assert_eq!(scene.file.solver.device, Device::Gpu);
    let go_on = &mut |_: &Event<'_>| ControlFlow::Continue(());
    let stand_in =
        || -> Option<Box<dyn LinearSolver>> { Some(Box::new(Cholesky::new(Ordering::Automatic))) };
    let folder = tempfile::tempdir().unwrap();
    let (alone, given) = (folder.path().join("alone"), folder.path().join("given"));
    let error = run(&scene, &alone, Options::default(), go_on).unwrap_err().to_string();
    assert!(error.contains("the program has passed in no solver on one"), "{error}");
    assert_eq!(run_by(&scene, &given, Options::default(), stand_in(), go_on).unwrap().steps, 4);
    scene.set_steps(6);
    assert_eq!(resume_by(&scene, &given, stand_in(), go_on).unwrap().steps, 6);
    scene.set_steps(8);
    // on the processor again, by the same checkpoint
    scene.set_device(Device::Cpu);
    assert_eq!(standoff_run::resume(&scene, &given, go_on).unwrap().steps, 8);
}
