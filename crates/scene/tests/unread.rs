//! Keys of settings that nothing reads: which are refused, and which are not.

use standoff_scene::error::Problem;
use standoff_scene::file::SceneFile;
use standoff_scene::resolve::Meshes;
use standoff_scene::{Scene, SceneError};
use standoff_sim::Simulation;
use standoff_sim::definition::validate::unread::READINGS;
use std::path::Path;

const BALL: &str = "[[objects]]\nname = \"ball\"\nshape = { kind = \"box\" }\n";

fn parse(text: &str, set: &[&str]) -> Result<Scene, SceneError> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scene::parse(&format!("{text}\n{BALL}"), Path::new("scene.toml"), Path::new(""), &set)
}

/// Scenes, each with other choices.
const CHOICES: &[&str] = &[
    "",
    "time.integrator = \"newmark\"",
    "time.integrator = \"implicit-midpoint\"",
    "time = { integrator = \"alpha-beta-gamma\", alpha = 0.5, beta = 1 }",
    "time.integrator = \"quasi-static\"",
    "contact.enabled = false",
    "contact.d_hat = 1e-3",
    "contact.stiffness = 1e8",
    "contact.potential = \"convergent\"",
    "contact.potential = \"orientation-aware\"",
    "friction.coefficient = 0",
    "friction.coefficient = 0.3",
    "friction = { coefficient = 0.3, kinetic_coefficient = 0.2 }",
    "friction = { coefficient = 0.3, lagging = \"converged\", stick_speed = 1e-3 }",
    "solver.method = \"barrier-free\"",
    "solver = { method = \"barrier-free\", barrier_free.fallback = \"none\" }",
    "solver = { method = \"barrier-free\", barrier_free.min_iterations = 2 }",
    "solver.method = \"dot\"",
    "solver = { method = \"lbfgs-pd\" }\ncontact.enabled = false",
    "solver = { method = \"admm-pd\" }\ncontact.enabled = false",
    "solver.end.characteristic = 1e-5",
    "solver.end.cumulative_toi = 1e-3",
    "solver.allow_inversion = true",
    "solver.linear = \"faer-cholesky\"",
    "solver.linear = \"schwarz\"",
    "preset = \"dot-2019\"",
    "preset = \"ipc-2020\"",
    "preset = \"barrier-free-2025\"",
];

/// What is written out can be read again and says the same: no key of it is unread, none is missing that something reads.
#[test]
fn what_is_written_out_has_the_keys_that_something_reads() {
    for choice in CHOICES {
        let scene = parse(choice, &[]).unwrap_or_else(|e| panic!("{choice}: {e}"));
        let text = scene.resolved_toml().unwrap();
        let again = Scene::parse(&text, Path::new("again.toml"), Path::new(""), &[])
            .unwrap_or_else(|e| panic!("{choice}: {e}"));
        assert_eq!(again.definition.settings, scene.definition.settings, "{choice}");
        assert_eq!(again.resolved_toml().unwrap(), text, "{choice}");
        // the simulator does not refuse it either
        let definition = &scene.definition;
        assert_eq!(definition.settings.check_read(definition.dimension), Ok(()), "{choice}");
    }
    let text = parse("", &[]).unwrap().resolved_toml().unwrap();
    assert!(!text.contains("barrier_free") && !text.contains("trapezoidal_contact"), "{text}");
    assert!(text.contains("stick_speed_relative") && text.contains("forecast_forces"), "{text}");
}

/// A scene without a key that nothing reads is refused once it has the key, with the value that it has anyway.
#[test]
fn each_key_is_refused_where_it_is_not_written_out() {
    let value = |text: &str, key: &str| -> Option<toml::Value> {
        let table: toml::Value = toml::from_str(text).unwrap();
        key.split('.').try_fold(&table, |t, part| t.get(part)).cloned()
    };
    let all = toml::Value::try_from(SceneFile::default()).unwrap();
    let mut refused = 0;
    for choice in CHOICES {
        let text = parse(choice, &[]).unwrap().resolved_toml().unwrap();
        for reading in READINGS {
            let default = reading.key.split('.').try_fold(&all, |t, part| t.get(part));
            let (None, Some(default)) = (value(&text, reading.key), default) else { continue };
            match parse(choice, &[&format!("{}={default}", reading.key)]) {
                // replaces its twin
                Ok(_) if reading.key.ends_with("_relative") => {}
                Ok(_) => panic!("{choice}: {} is accepted", reading.key),
                Err(e) => {
                    let problem = matches!(*e.problem, Problem::Unread(_));
                    assert!(problem && e.path == reading.key, "{choice}: {e}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn keys_of_a_preset_and_defaults_are_not_refused_but_those_that_a_preset_makes_unread_are() {
    parse("preset = \"ipc-2020\"", &[]).unwrap();
    let own = "preset = \"barrier-free-2025\"\ncontact.stiffness = 1e8";
    let error = parse(own, &[]).unwrap_err().to_string();
    for part in ["scene.toml:2:9", "contact.stiffness", "`solver.barrier_free.fallback = \"none\"`"]
    {
        assert!(error.contains(part), "'{part}' is missing in: {error}");
    }
    // with its own fallback, the barrier reads it
    parse(own, &["solver.barrier_free.fallback=barrier"]).unwrap();
    // what is in the way can be taken out
    parse(own, &["contact.stiffness=unset"]).unwrap();
}

#[test]
fn a_study_of_friction_may_include_none() {
    let text = "friction = { coefficient = 0.3, stick_speed = 1e-4, lagging = 3 }";
    let scene = parse(text, &["friction.coefficient=0"]).unwrap();
    assert!(scene.resolved_toml().unwrap().contains("stick_speed = 0.0001"));
    Simulation::new(&scene.definition).map(|_| ()).unwrap();
    let error = parse(text, &["friction.coefficient=unset"]).unwrap_err().to_string();
    assert!(error.starts_with("scene.toml:1:33: friction.stick_speed: nothing reads"), "{error}");
}

#[test]
fn scenes_in_code_and_texts_by_programs() {
    let mut file = parse("", &[]).unwrap().file;
    Scene::from_file(&file, Meshes::new()).unwrap();
    file.time.trapezoidal_contact = true;
    // the value of a preset
    let scene = Scene::from_file(&file, Meshes::new()).unwrap();
    Simulation::new(&scene.definition).map(|_| ()).unwrap();
    file.solver.decomposition.size = 7;
    let error = Scene::from_file(&file, Meshes::new()).unwrap_err();
    assert_eq!(error.path, "solver.decomposition.size");
    assert!(error.to_string().contains("`solver.method = \"barrier\"`"), "{error}");

    // what a run writes holds no such key
    let written = scene.resolved_toml().unwrap();
    assert!(!written.contains("trapezoidal_contact") && written.contains("velocity = "));
    Scene::parse(&written, Path::new("scene.toml"), Path::new(""), &[]).unwrap();

    // of a text that a program has written, only overrides count
    let text = format!("solver.decomposition.size = 4000\n{BALL}");
    let converted =
        |set: &[String]| Scene::parse_converted(&text, Path::new("scene.txt"), Path::new(""), set);
    converted(&[]).unwrap();
    let error = converted(&["solver.schwarz_subdomains=3".into(), "solver.linear=cholesky".into()]);
    assert!(error.unwrap_err().to_string().starts_with("--set solver.schwarz_subdomains=3"));
}
