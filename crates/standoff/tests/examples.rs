//! Every example, compiled and run; each asserts what it shows.

use std::path::Path;

#[path = "../examples/ball_on_floor.rs"]
mod ball_on_floor;
#[path = "../examples/cloth_on_sphere.rs"]
mod cloth_on_sphere;
#[path = "../examples/contact_forces.rs"]
mod contact_forces;
#[path = "../examples/gripper.rs"]
mod gripper;
#[path = "../examples/own_energy.rs"]
mod own_energy;
#[path = "../examples/resume.rs"]
mod resume;
#[path = "../examples/run_scene_file.rs"]
mod run_scene_file;

macro_rules! run {
    ($($name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )*

        #[test]
        fn all_are_listed() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
            let mut found: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),*]);
        }
    };
}

run! {
    ball_on_floor,
    cloth_on_sphere,
    contact_forces,
    gripper,
    own_energy,
    resume,
    run_scene_file,
}
