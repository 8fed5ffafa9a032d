//! The JSON Schema: the committed copy and the reference of keys in the book are current, and the scenes that
//! ship obey it.
//!
//! `STANDOFF_UPDATE=1 cargo test -p standoff-scene --test schema` rewrites the copy and the reference.

use serde_json::Value as Json;
use standoff_scene::schema::{choices, json_schema, json_schema_text};
use std::path::Path;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A validator of the part of JSON Schema that the generator uses; an unknown keyword is an error,
/// so that nothing passes because it was not looked at.
struct Validator<'a>(&'a Json);

impl Validator<'_> {
    fn check(&self, schema: &Json, value: &Json, at: &str) -> Result<(), String> {
        let Json::Object(keywords) = schema else {
            return match schema {
                Json::Bool(true) => Ok(()),
                _ => Err(format!("{at}: nothing is allowed here")),
            };
        };
        let fail = |what: &str| Err(format!("{at}: {what} (found {value})"));
        for (keyword, rule) in keywords {
            match keyword.as_str() {
                "title"
                | "description"
                | "default"
                | "examples"
                | "format"
                | "x-unit"
                | "x-expression"
                | "$defs"
                | "$schema"
                | "additionalProperties"
                | "unevaluatedProperties" => {}
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.check(&self.0["$defs"][name], value, at)?;
                }
                "type" => {
                    let types = match rule {
                        Json::Array(types) => types.clone(),
                        one => vec![one.clone()],
                    };
                    if !types.iter().any(|t| is_a(value, t.as_str().unwrap())) {
                        return fail(&format!("expected {rule}"));
                    }
                }
                "const" if rule != value => return fail(&format!("expected {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    return fail(&format!("expected one of {rule}"));
                }
                "const" | "enum" => {}
                "minimum" if value.as_f64().is_some_and(|v| v < rule.as_f64().unwrap()) => {
                    return fail(&format!("less than {rule}"));
                }
                "maximum" if value.as_f64().is_some_and(|v| v > rule.as_f64().unwrap()) => {
                    return fail(&format!("more than {rule}"));
                }
                "minimum" | "maximum" => {}
                "pattern" => {
                    // the only pattern is that of a quantity with unit
                    let text = value.as_str().unwrap_or("1 m").trim_start();
                    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
                        return fail("not a quantity");
                    }
                }
                "required" => {
                    for key in rule.as_array().unwrap() {
                        if value.is_object() && value.get(key.as_str().unwrap()).is_none() {
                            return fail(&format!("{key} is missing"));
                        }
                    }
                }
                "items" => {
                    for (k, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}[{k}]"))?;
                    }
                }
                "prefixItems" => {
                    let items = value.as_array().into_iter().flatten();
                    for (item, rule) in items.zip(rule.as_array().unwrap()) {
                        self.check(rule, item, at)?;
                    }
                }
                "minItems"
                    if value
                        .as_array()
                        .is_some_and(|a| (a.len() as u64) < rule.as_u64().unwrap()) =>
                {
                    return fail("too short");
                }
                "maxItems"
                    if value
                        .as_array()
                        .is_some_and(|a| (a.len() as u64) > rule.as_u64().unwrap()) =>
                {
                    return fail("too long");
                }
                "minItems" | "maxItems" => {}
                "properties" => {
                    for (key, value) in value.as_object().into_iter().flatten() {
                        if let Some(rule) = rule.get(key) {
                            self.check(rule, value, &format!("{at}.{key}"))?;
                        }
                    }
                }
                "anyOf" | "oneOf" => {
                    let rules = rule.as_array().unwrap();
                    let results: Vec<_> = rules.iter().map(|r| self.check(r, value, at)).collect();
                    let passed = results.iter().filter(|r| r.is_ok()).count();
                    let exactly_one = keyword == "oneOf";
                    if passed == 0 || (exactly_one && passed > 1) {
                        let why: Vec<_> = results.into_iter().filter_map(Result::err).collect();
                        return fail(&format!("{passed} of {keyword} hold: {}", why.join(" | ")));
                    }
                }
                other => panic!("the schema uses the keyword {other}; teach it to this validator"),
            }
        }
        self.check_others(keywords, value, at)
    }

    /// `additionalProperties` and `unevaluatedProperties`.
    fn check_others(
        &self,
        keywords: &serde_json::Map<String, Json>,
        value: &Json,
        at: &str,
    ) -> Result<(), String> {
        let additional = keywords.get("additionalProperties");
        let unevaluated = keywords.get("unevaluatedProperties");
        let Some(rule) = additional.or(unevaluated) else { return Ok(()) };
        let mut known: Vec<&String> = Vec::new();
        collect_properties(self.0, keywords, unevaluated.is_some(), &mut known);
        for (key, value) in value.as_object().into_iter().flatten() {
            if !known.contains(&key) {
                self.check(rule, value, &format!("{at}.{key}"))?;
            }
        }
        Ok(())
    }
}

fn collect_properties<'a>(
    root: &'a Json,
    keywords: &'a serde_json::Map<String, Json>,
    deep: bool,
    known: &mut Vec<&'a String>,
) {
    let properties = keywords.get("properties").and_then(Json::as_object);
    known.extend(properties.into_iter().flat_map(|p| p.keys()));
    let reference = keywords.get("$ref").and_then(Json::as_str);
    if let (true, Some(name)) = (deep, reference.and_then(|r| r.strip_prefix("#/$defs/")))
        && let Some(target) = root["$defs"][name].as_object()
    {
        collect_properties(root, target, deep, known);
    }
}

fn is_a(value: &Json, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        _ => panic!("unknown type {kind}"),
    }
}

fn validate(text: &str) -> Result<(), String> {
    let value: toml::Value = toml::from_str(text).map_err(|e| e.to_string())?;
    let schema = json_schema();
    Validator(&schema).check(&schema, &json_of(value), "scene")
}

/// TOML as JSON; infinity, which JSON lacks, becomes a large number.
fn json_of(value: toml::Value) -> Json {
    match value {
        toml::Value::Float(x) if x.is_infinite() => Json::from(1e308_f64.copysign(x)),
        toml::Value::Array(items) => items.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(k, v)| (k, json_of(v))).collect(),
        other => serde_json::to_value(other).unwrap(),
    }
}

#[test]
fn shipped_scenes_are_valid() {
    let mut count = 0;
    for folder in ["scenes", "scenes/codim", "scenes/erleben"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                validate(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                count += 1;
            }
        }
    }
    assert!(count >= 17);
}

#[test]
fn bad_scenes_are_invalid() {
    for (text, part) in [
        ("grvity = [0, 0, 0]", "nothing is allowed"),
        ("gravity = [0]", "too short"),
        ("[time]\nstep = true", "expected"),
        ("[time]\nstep = \"fast\"", "not a quantity"),
        ("[time]\nstpe = 1.0", "nothing is allowed"),
        ("[solver]\nmethod = \"magic\"", "hold"),
        ("[[objects]]\nshape = { kind = \"spere\" }", "hold"),
        ("[[objects]]\nshape = { kind = \"sphere\", radios = 1.0 }", "hold"),
        ("[[objects]]\nmaterial = { denisty = 1.0 }", "hold"),
    ] {
        let error = validate(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn units_are_admitted_where_they_mean_something() {
    for text in [
        "gravity = [0, \"-9.81 m/s^2\", 0]",
        "[time]\nstep = \"5 ms\"",
        "[[objects]]\nshape = { kind = \"box\", size = [\"1 mm\", 2, \"3 cm\"] }",
        "[[objects]]\nrotate = [\"1 rad\", 0, 0]",
        "[[objects]]\nshape = { kind = \"polyline\", points = [[0, 0, 0], [\"1 mm\", 0, 0]] }",
    ] {
        validate(text).unwrap_or_else(|e| panic!("{e}"));
    }
    validate("[materials.m]\npoisson_ratio = \"0.4 m\"").unwrap_err();
    validate("[[objects]]\nshape = { kind = \"box\", cells = [\"1 mm\", 2, 3] }").unwrap_err();
}

#[test]
fn every_setting_is_described() {
    fn walk(schema: &Json, path: &str, missing: &mut Vec<String>) {
        if let Some(properties) = schema.get("properties").and_then(Json::as_object) {
            for (key, property) in properties {
                let described =
                    ["description", "const", "$ref"].iter().any(|k| property.get(k).is_some());
                if !described {
                    missing.push(format!("{path}.{key}"));
                }
            }
        }
        match schema {
            Json::Object(o) => o.iter().for_each(|(k, v)| walk(v, &format!("{path}/{k}"), missing)),
            Json::Array(a) => a.iter().for_each(|v| walk(v, path, missing)),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    walk(&json_schema(), "", &mut missing);
    assert!(missing.is_empty(), "without description: {missing:?}");
}

#[test]
fn choices_are_listed() {
    let laws: Vec<String> = choices("Law").into_iter().map(|(name, _)| name).collect();
    assert!(laws.contains(&"neo-hookean".to_owned()) && laws.len() >= 5, "{laws:?}");
    for definition in ["Integrator", "Method", "LinearSolver", "Ccd", "AuditLevel"] {
        let all = choices(definition);
        assert!(!all.is_empty(), "{definition}");
        assert!(all.iter().all(|(_, help)| !help.is_empty()), "{definition}: {all:?}");
    }
}

#[test]
fn committed_copy_is_current() {
    let path = root().join("docs/scene.schema.json");
    let current = json_schema_text();
    if std::env::var_os("STANDOFF_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/scene.schema.json is out of date: run `standoff schema > docs/scene.schema.json`"
    );
    // the reference of keys in the book is written from the schema, where Python is installed
    let mut script = std::process::Command::new("python3");
    script.arg(root().join("tools/scene_keys.py"));
    if std::env::var_os("STANDOFF_UPDATE").is_none() {
        script.arg("--check");
    }
    if let Ok(output) = script.output() {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
}
