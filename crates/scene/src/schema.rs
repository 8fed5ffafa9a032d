//! The JSON Schema of scene files, generated from the types of [`crate::file`].

use crate::file::SceneFile;
use serde_json::{Map, Value as Json, json};
use standoff_sim::definition::validate::unread::READINGS;

/// Schema as the types state it: a quantity is a number with `x-unit`.
pub(crate) fn raw() -> Json {
    let mut schema = schemars::schema_for!(SceneFile).to_value();
    measure_shapes(&mut schema);
    schema
}

/// Every real number of a built-in shape is a length.
fn measure_shapes(schema: &mut Json) {
    let shapes = schema.pointer_mut("/$defs/Shape/oneOf").and_then(Json::as_array_mut);
    for shape in shapes.into_iter().flatten() {
        let properties = shape.get_mut("properties").and_then(Json::as_object_mut);
        for property in properties.into_iter().flat_map(Map::values_mut) {
            if is_real(property)
                && let Json::Object(property) = property
            {
                property.entry("x-unit").or_insert("m".into());
            }
        }
    }
}

/// Whether a schema is of real numbers or arrays of them.
fn is_real(schema: &Json) -> bool {
    match schema.get("items") {
        Some(items) => is_real(items),
        None => has_type(schema, "number"),
    }
}

/// A schema with all references followed and all alternatives listed.
pub(crate) fn expand<'a>(schema: &'a Json, root: &'a Json) -> Vec<&'a Json> {
    let mut found = vec![schema];
    let target = schema.get("$ref").and_then(Json::as_str).and_then(|r| {
        let name = r.strip_prefix("#/$defs/")?;
        root.get("$defs")?.get(name)
    });
    found.extend(target.into_iter().flat_map(|t| expand(t, root)));
    for key in ["anyOf", "oneOf", "allOf"] {
        let alternatives = schema.get(key).and_then(Json::as_array).into_iter().flatten();
        found.extend(alternatives.flat_map(|s| expand(s, root)));
    }
    found
}

/// Whether a schema admits a type.
pub(crate) fn has_type(schema: &Json, kind: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(t)) => t == kind,
        Some(Json::Array(ts)) => ts.iter().any(|t| t == kind),
        _ => false,
    }
}

/// Schema for editors: quantities may also be strings with a unit, and every key has a title.
pub fn json_schema() -> Json {
    let mut schema = raw();
    add_readings(&mut schema);
    admit_units(&mut schema);
    admit_two_dimensions(&mut schema);
    add_titles(&mut schema);
    schema
}

/// The schema as pretty-printed JSON, as `standoff schema` prints it.
pub fn json_schema_text() -> String {
    format!("{:#}\n", json_schema())
}

/// Says of every setting with which others it is read.
fn add_readings(schema: &mut Json) {
    for reading in READINGS {
        let Some(sentence) = reading.sentence() else { continue };
        if let Some(description) = description(schema, reading.key)
            && let Some(Json::String(text)) = schema.pointer_mut(&description)
        {
            text.push_str("\n\n");
            text.push_str(&sentence);
        }
    }
}

/// The JSON pointer to the description of a setting.
fn description(schema: &Json, key: &str) -> Option<String> {
    let mut table = String::new();
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let property = format!("{table}/properties/{part}");
        let found = schema.pointer(&property)?;
        if parts.peek().is_none() {
            return Some(format!("{property}/description"));
        }
        table = found.get("$ref").and_then(Json::as_str)?.strip_prefix('#')?.to_owned();
    }
    None
}

/// Lets every number with a unit also be a string.
fn admit_units(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            if let Some(unit) = object.get("x-unit").and_then(Json::as_str).map(str::to_owned) {
                admit(object, &unit);
            }
            object.values_mut().for_each(admit_units);
        }
        Json::Array(items) => items.iter_mut().for_each(admit_units),
        _ => {}
    }
}

fn admit(schema: &mut Map<String, Json>, unit: &str) {
    let is_array =
        |t: &Json| t == "array" || t.as_array().is_some_and(|a| a.contains(&json!("array")));
    if schema.get("type").is_some_and(is_array) {
        if let Some(Json::Object(items)) = schema.get_mut("items") {
            items.insert("x-unit".into(), unit.into());
        }
        return;
    }
    let mut types = match schema.get("type") {
        Some(Json::String(t)) => vec![json!(t)],
        Some(Json::Array(ts)) => ts.clone(),
        _ => return,
    };
    types.push(json!("string"));
    schema.insert("type".into(), types.into());
    schema.insert(
        "pattern".into(),
        r"^\s*[-+]?[0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?\s*[A-Za-zµμ°1].*$".into(),
    );
    schema.insert("examples".into(), json!([format!("1 {unit}")]));
}

/// Lets vectors have two components, turns be one angle and axes be left out, as `crate::plane` writes them
/// out in two dimensions. A schema does not say in which scenes.
fn admit_two_dimensions(schema: &mut Json) {
    let unit = schema.get("x-unit").and_then(Json::as_str).map(str::to_owned);
    match schema {
        Json::Object(object) => {
            let count = |key: &str| object.get(key).and_then(Json::as_u64);
            if count("minItems") == Some(3) && count("maxItems") == Some(3) {
                object.insert("minItems".into(), 2.into());
                if matches!(unit.as_deref(), Some("deg" | "deg/s")) {
                    object.insert("type".into(), json!(["array", "number", "string"]));
                }
            }
            if let Some(Json::Array(required)) = object.get_mut("required") {
                required.retain(|key| key != "axis");
            }
            object.values_mut().for_each(admit_two_dimensions);
        }
        Json::Array(items) => items.iter_mut().for_each(admit_two_dimensions),
        _ => {}
    }
}

/// Titles from keys: `young_modulus` with unit Pa becomes "young modulus (Pa)".
fn add_titles(schema: &mut Json) {
    let Json::Object(object) = schema else {
        if let Json::Array(items) = schema {
            items.iter_mut().for_each(add_titles);
        }
        return;
    };
    if let Some(Json::Object(properties)) = object.get_mut("properties") {
        for (key, property) in properties {
            if let Json::Object(property) = property {
                let unit = property.get("x-unit").and_then(Json::as_str);
                let unit = unit.map(|u| format!(" ({u})")).unwrap_or_default();
                let title = format!("{}{unit}", key.replace('_', " "));
                property.entry("title").or_insert(title.into());
            }
        }
    }
    object.values_mut().for_each(add_titles);
}

/// Names and descriptions of the values of a setting with a fixed choice, such as `Law`, or of the tables of which `kind` chooses one, such as `Rubber`.
pub fn choices(definition: &str) -> Vec<(String, String)> {
    let schema = raw();
    let Some(choice) = schema.get("$defs").and_then(|d| d.get(definition)) else {
        return Vec::new();
    };
    let text = |value: &Json, key: &str| {
        value.get(key).and_then(Json::as_str).unwrap_or_default().replace('\n', " ")
    };
    let documented = choice.get("oneOf").and_then(Json::as_array).into_iter().flatten();
    let plain = choice.get("enum").and_then(Json::as_array).into_iter().flatten();
    documented
        .flat_map(|v| match (v.get("const"), v.pointer("/properties/kind")) {
            (Some(_), _) => vec![(text(v, "const"), text(v, "description"))],
            (None, Some(kind)) => vec![(text(kind, "const"), text(v, "description"))],
            (None, None) => {
                let names = v.get("enum").and_then(Json::as_array).into_iter().flatten();
                names
                    .filter_map(|n| Some((n.as_str()?.to_owned(), text(v, "description"))))
                    .collect()
            }
        })
        .chain(plain.filter_map(|n| Some((n.as_str()?.to_owned(), String::new()))))
        .collect()
}
