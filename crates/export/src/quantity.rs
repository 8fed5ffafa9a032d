//! Quantities of a line of `stats.jsonl` by name, such as `kinetic_energy`, `seconds.total` or
//! `forces.held.bar.left.x`.

use serde_json::Value;

/// The number in a line, or the `null` in place of one, that a name leads to: names of fields, separated by dots, of vectors `x`, `y` or `z`. A name within
/// may hold dots itself. Of a force with its moment the force need not be named.
///
/// # Errors
/// What may be written at the place at which the name leads nowhere.
pub fn find<'a>(value: &'a Value, name: &str) -> Result<&'a Value, Vec<String>> {
    match value {
        Value::Object(fields) => {
            // of `bar` and `bar.left` the longer one, if that leads somewhere
            let mut fitting: Vec<(&str, &str, &Value)> = Vec::new();
            for (key, part) in fields {
                match name.strip_prefix(key.as_str()) {
                    Some("") => fitting.push((key, "", part)),
                    Some(rest) => {
                        fitting
                            .extend(rest.strip_prefix('.').map(|rest| (key.as_str(), rest, part)));
                    }
                    None => {}
                }
            }
            fitting.sort_by_key(|(key, ..)| std::cmp::Reverse(key.len()));
            let force = fields.get("force").map(|force| ("", name, force));
            let mut known: Vec<String> = fields.keys().cloned().collect();
            for (_, rest, part) in fitting.into_iter().chain(force) {
                match find(part, rest) {
                    Ok(found) => return Ok(found),
                    Err(other) => known = other,
                }
            }
            Err(known)
        }
        Value::Number(_) | Value::Null if name.is_empty() => Ok(value),
        Value::Array(components) => {
            let axis = ["x", "y", "z"].iter().position(|axis| *axis == name);
            let all = || ["x", "y", "z"][..components.len().min(3)].iter().map(|a| (*a).to_owned());
            axis.and_then(|k| components.get(k)).ok_or_else(|| all().collect())
        }
        _ => Err(Vec::new()),
    }
}

/// The number by this name in the line of a step; none where it is missing. What has no force in a step is not listed
/// there and counts as zero.
pub fn number(step: &Value, name: &str) -> Option<f64> {
    let listed = || name.starts_with("forces.") && step.get("forces").is_some();
    find(step, name).map_or_else(|_| listed().then_some(0.0), Value::as_f64)
}

/// The name with its unit where that is known.
pub fn described(name: &str) -> String {
    let unit = match name.split_once('.').map_or(name, |(first, _)| first) {
        "forces" if name.contains(".torque.") => "N m",
        "forces" if name.contains(".displacement.") => "m",
        "forces" => "N",
        "energies" | "kinetic_energy" | "elastic_energy" | "gravity_energy" | "contact_energy"
        | "inelastic_heat" => "J",
        "seconds" | "time" => "s",
        "min_gap" => "m",
        "linear_momentum" => "kg m/s",
        "angular_momentum" => "kg m²/s",
        _ => return name.to_owned(),
    };
    format!("{name}, {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_lead_to_numbers() {
        let end = json!({ "force": [1, 2, 3], "torque": [4, 5, 6], "displacement": [7, 8, 9] });
        let step = json!({
            "kappa": 10.0, "min_gap": null, "seconds": { "total": 11 },
            "forces": { "held": { "bar": end.clone(), "bar.end": end, "bar.x": { "force": [12] } } },
        });
        for (name, expected) in [
            ("kappa", Some(10.0)),
            ("min_gap", None),
            ("seconds.total", Some(11.0)),
            ("forces.held.bar.y", Some(2.0)),
            ("forces.held.bar.x", Some(1.0)),
            ("forces.held.bar.end.z", Some(3.0)),
            ("forces.held.bar.end.force.z", Some(3.0)),
            ("forces.held.bar.end.torque.x", Some(4.0)),
            ("forces.held.bar.end.displacement.y", Some(8.0)),
            ("forces.obstacles.plate.y", Some(0.0)),
            ("kappa.x", None),
        ] {
            assert_eq!(number(&step, name), expected, "{name}");
        }
        let known = |name: &str| find(&step, name).unwrap_err();
        assert_eq!(known("forces.helt.bar"), ["held"]);
        assert_eq!(known("forces.held.rod.x"), ["bar", "bar.end", "bar.x"]);
        assert_eq!(known("forces.held.bar.end.torque.w"), ["x", "y", "z"]);
        assert_eq!(described("forces.held.bar.torque.x"), "forces.held.bar.torque.x, N m");
    }
}
