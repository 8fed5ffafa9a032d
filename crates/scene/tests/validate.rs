//! Scene files and library users are told the same about every number: one validator, beside the
//! fields.

use serde::Deserialize;
use serde_json::Value;
use standoff_scene::Scene;
use standoff_scene::error::Problem;
use standoff_sim::Simulation;
use standoff_sim::settings::Settings;
use std::path::Path;

const SCENE: &str = "[[objects]]\nname = \"ball\"\nshape = { kind = \"box\" }\n";

/// What every number is replaced by. Infinity and NaN are written as TOML writes them.
const VALUES: [f64; 9] = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e-25, 0.5, 3.0, 1e300];

/// Key and smallest value of every number in the settings, from the schema; lists are left out.
fn numeric_keys() -> Vec<(String, bool)> {
    let schema: Value = standoff_scene::schema::json_schema();
    let mut keys = Vec::new();
    for section in ["time", "contact", "friction", "solver"] {
        collect(&schema["properties"][section], &schema, section, &mut keys);
    }
    keys
}

fn collect(node: &Value, root: &Value, path: &str, keys: &mut Vec<(String, bool)>) {
    let target = node["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"));
    if let Some(name) = target {
        collect(&root["$defs"][name], root, path, keys);
    }
    for group in ["anyOf", "allOf"] {
        for alternative in node[group].as_array().into_iter().flatten() {
            collect(alternative, root, path, keys);
        }
    }
    let is = |kind: &str| match &node["type"] {
        Value::String(s) => s == kind,
        Value::Array(all) => all.iter().any(|s| s == kind),
        _ => false,
    };
    if is("number") || is("integer") {
        keys.push((path.to_owned(), is("integer")));
    }
    for (key, child) in node["properties"].as_object().into_iter().flatten() {
        collect(child, root, &format!("{path}.{key}"), keys);
    }
}

/// The settings with one number replaced; `None` where its type cannot hold it.
fn replaced(key: &str, value: f64) -> Option<Settings> {
    let mut settings: toml::Value = toml::Value::try_from(Settings::default()).unwrap();
    let (sections, last) = key.rsplit_once('.').unwrap();
    let mut table = settings.as_table_mut().unwrap();
    for section in sections.split('.') {
        table = table[section].as_table_mut().unwrap();
    }
    table.insert(last.to_owned(), toml::Value::Float(value));
    let by_float = Settings::deserialize(settings.clone());
    by_float
        .or_else(|_| {
            let mut table = settings.as_table_mut().unwrap();
            for section in sections.split('.') {
                table = table[section].as_table_mut().unwrap();
            }
            let whole = (value.fract() == 0.0 && value.abs() < 1e9).then_some(value as i64);
            table.insert(last.to_owned(), toml::Value::Integer(whole.ok_or(())?));
            Settings::deserialize(settings).map_err(|_| ())
        })
        .ok()
}

#[test]
fn scene_and_library_agree_on_every_number() {
    let keys = numeric_keys();
    assert!(keys.len() >= 25, "{keys:?}");
    let name = Path::new("scene.toml");
    let plain = Scene::parse(SCENE, name, Path::new(""), &[]).unwrap();
    let (mut refused, mut taken) = (0, 0);
    for (key, integer) in &keys {
        for value in VALUES {
            let written = match value {
                v if v.is_nan() => "nan".to_owned(),
                v if v.is_infinite() => "inf".to_owned(),
                v if *integer && v.fract() == 0.0 && v.abs() < 1e9 => format!("{v}"),
                v => format!("{v:e}"),
            };
            // only what the section's type can hold reaches the validator
            let Some(settings) = replaced(key, value) else { continue };
            let mut definition = plain.definition.clone();
            definition.settings = settings;
            let library = definition.validate();
            let scene = Scene::parse(SCENE, name, Path::new(""), &[format!("{key}={written}")]);
            match (&library, &scene) {
                (Ok(()), Ok(_)) => taken += 1,
                // in range, but nothing reads it
                (Ok(()), Err(error)) if matches!(*error.problem, Problem::Unread(_)) => {
                    taken += 1;
                    assert_eq!(error.path, *key);
                }
                (Err(fault), Err(error)) => {
                    refused += 1;
                    assert_eq!(fault.path.to_string(), error.path, "{key}={written}");
                    let location = error.location.as_ref().expect("a place");
                    assert!(location.to_string().starts_with(&format!("--set {key}=")));
                    let message = error.to_string();
                    // the scene language refuses numbers that are not finite before it looks further
                    assert!(message.contains(fault.must), "{message} / {fault}");
                }
                _ => panic!("{key}={written}: library {library:?}, scene {:?}", scene.err()),
            }
            // the simulator itself says what the validator says
            if let (Err(fault), Err(error)) = (&library, Simulation::new(&definition)) {
                assert_eq!(error.to_string(), fault.to_string());
            } else {
                assert!(library.is_ok(), "{key}={written} is simulated");
            }
        }
    }
    assert!(refused > 100 && taken > 50, "{refused} refused, {taken} taken");
}

#[test]
fn numbers_beyond_floating_point_are_refused_where_they_stand() {
    let at = |text: &str, parts: &[&str]| {
        let error = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]);
        let message = error.expect_err(text).to_string();
        parts.iter().for_each(|p| assert!(message.contains(p), "'{p}' is missing in: {message}"));
    };
    at(&format!("[time]\nstep = \"1e400 s\"\n{SCENE}"), &["scene.toml:2:8", "time.step", "large"]);
    at(
        &format!("{SCENE}material = {{ density = 5e-324 }}\n"),
        &["scene.toml:4:24", "objects[0].material.density", "out of range", "1e-30"],
    );
    let far = &["scene.toml:3:9", "objects[0].shape", "vertex 0", "1e30", "'ball'"];
    at(&format!("{SCENE}translate = [1e200, 0, 0]\n"), far);
    at(&format!("{SCENE}scale = 1e200\n"), &["scene.toml:4:9", "objects[0].scale", "1e30"]);
    at(&format!("gravity = [0, -1e200, 0]\n{SCENE}"), &["scene.toml:1:", "gravity[1]", "1e30"]);
}

#[test]
fn a_law_without_a_lower_bound_is_refused_where_its_ratio_stands() {
    let refused = |object: &str, line: &str| {
        let text = format!("[materials.m]\npoisson_ratio = -0.3\n{object}");
        let error = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).err();
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(message.is_empty(), line.is_empty(), "{message}");
        assert!(message.is_empty() || message.contains("no lower bound"), "{message}");
        assert!(message.starts_with(line), "{message}");
    };
    let object = |rest: &str| format!("[[objects]]\nname = \"b\"\nmaterial = \"m\"\n{rest}\n");
    refused(&object("shape = { kind = \"box\" }"), "scene.toml:2:17: materials.m.poisson_ratio");
    let law = "law = \"stable-neo-hookean\"\n";
    refused(&format!("{law}{}", object("shape = { kind = \"box\" }")), "");
    let plane = "role = \"shell\"\nshape = { kind = \"plane\" }";
    let sheet = "shell = { thickness = 1e-3 }\n";
    refused(&format!("{sheet}{}", object(plane)), "scene.toml:2:17: materials.m.poisson_ratio");
    let bounded = "shell = { thickness = 1e-3, law = \"st-venant-kirchhoff\" }\n";
    refused(&format!("{bounded}{}", object(plane)), "");
}
