//! The short forms of scenes of two dimensions (`dimension = 2` or `"axisymmetric"`): a vector may be written `[x, y]`, an angle
//! or an angular velocity as one number about z, and an axis may be left out. They become the vectors of three
//! components that the types of the scene file have.

use crate::document::{Document, Entry, Node, Value};
use crate::schema::{expand, has_type};
use serde_json::Value as Json;
use standoff_sim::definition::AXISYMMETRIC;

/// Writes out the short forms of a scene of two dimensions; leaves another as it is.
pub fn write_out(document: &mut Document, schema: &Json) {
    let Value::Table(entries) = &document.root.value else { return };
    if entries.iter().any(is_planar) {
        walk(&mut document.root, &expand(schema, schema), schema, 0.0);
    }
}

/// Whether an entry says that the scene has two dimensions.
pub fn is_planar(entry: &Entry) -> bool {
    let planar = match &entry.node.value {
        Value::Integer(n) => *n == 2,
        Value::String(name) => name == AXISYMMETRIC,
        _ => false,
    };
    entry.key == "dimension" && planar
}

/// `third` is the component that a vector of two lacks.
// long: one case for each form of value
fn walk(node: &mut Node, schemas: &[&Json], root: &Json, third: f64) {
    let vector = schemas.iter().find(|s| is_vector(s));
    let angle = vector.is_some_and(|s| {
        let unit = s.get("x-unit").and_then(Json::as_str);
        unit.is_some_and(|unit| unit == "deg" || unit == "deg/s")
    });
    let (place, number) = (node.place, |x: f64| Value::Float(x));
    match &mut node.value {
        Value::Integer(_) | Value::Float(_) | Value::String(_) if angle => {
            let zero = || Node { value: number(0.0), place };
            // the name of a choice stays what it is
            let text = matches!(&node.value, Value::String(s) if !s.starts_with(|c: char| {
                c.is_ascii_digit() || matches!(c, '+' | '-' | '.')
            }));
            if !text {
                let turn = Node { value: std::mem::replace(&mut node.value, number(0.0)), place };
                node.value = Value::Array(vec![zero(), zero(), turn]);
            }
        }
        Value::Array(items) => {
            if vector.is_some() && items.len() == 2 {
                let whole = schemas.iter().any(|s| {
                    is_vector(s) && s.get("items").is_some_and(|i| has_type(i, "integer"))
                });
                // a number of copies, of points or of cells
                let value = if whole { Value::Integer(1) } else { number(third) };
                items.push(Node { value, place });
            }
            let items_of = schemas.iter().filter_map(|s| s.get("items"));
            let children: Vec<&Json> = items_of.flat_map(|s| expand(s, root)).collect();
            items.iter_mut().for_each(|item| walk(item, &children, root, 0.0));
        }
        Value::Table(entries) => {
            let schemas: Vec<&Json> =
                schemas.iter().copied().filter(|s| is_of_kind(s, entries)).collect();
            let has = |key: &str| {
                schemas.iter().any(|s| s.get("properties").is_some_and(|p| p.get(key).is_some()))
            };
            let given = |key: &str| entries.iter().any(|e| e.key == key);
            if has("axis") && has("angle") && given("angle") && !given("axis") {
                let component = |value: f64| Node { value: number(value), place };
                let axis = [0.0, 0.0, 1.0].map(component).to_vec();
                let node = Node { value: Value::Array(axis), place };
                entries.push(Entry { key: "axis".into(), key_place: place, node });
            }
            for entry in entries {
                let own = schemas.iter().filter_map(|s| {
                    let named = s.get("properties").and_then(|p| p.get(&entry.key));
                    named.or_else(|| s.get("additionalProperties"))
                });
                let children: Vec<&Json> = own.flat_map(|s| expand(s, root)).collect();
                let third = if entry.key == "scale" { 1.0 } else { 0.0 };
                walk(&mut entry.node, &children, root, third);
            }
        }
        _ => {}
    }
}

/// Whether a schema is not that of a table of another `kind`.
fn is_of_kind(schema: &Json, entries: &[Entry]) -> bool {
    let kind = schema.pointer("/properties/kind/const").and_then(Json::as_str);
    let given = entries.iter().find(|e| e.key == "kind").map(|e| &e.node.value);
    match (kind, given) {
        (Some(kind), Some(Value::String(given))) => kind == given,
        _ => true,
    }
}

/// Whether a schema is that of an array of exactly three items.
fn is_vector(schema: &Json) -> bool {
    let count = |key: &str| schema.get(key).and_then(Json::as_u64);
    has_type(schema, "array") && count("minItems") == Some(3) && count("maxItems") == Some(3)
}
