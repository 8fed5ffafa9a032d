//! Whether all figures of a run's steps are numbers, and κ is within the bound that a step says.

use serde_json::Value;

/// What may be `null` in a step. A number that is not finite is written as `null`, too.
const MAY_BE_NULL: [&str; 6] =
    ["fallback", "unmet", "characteristic_norm", "min_gap", "kappa_limit", "rigid_deformation"];

/// What a joint has only one of.
const OF_JOINTS: [&str; 4] = ["angle", "angular_speed", "displacement", "speed"];

/// Rounding of κ beside its bound.
const ROUNDING: f64 = 1e-9;

/// The first figure of `stats.jsonl` that is no number, or κ above its bound, in words.
pub fn wrong(stats: &str) -> Option<String> {
    let steps = stats.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    steps.into_iter().find_map(|step| {
        let found = above(&step).or_else(|| not_finite(&step, ""))?;
        Some(format!("step {}: {found}", step["step"]))
    })
}

fn above(step: &Value) -> Option<String> {
    let [kappa, limit] = ["kappa", "kappa_limit"].map(|key| step[key].as_f64());
    let (kappa, limit) = (kappa?, limit?);
    (kappa > limit * (1.0 + ROUNDING)).then(|| format!("κ is {kappa:e}, at most {limit:e}"))
}

fn not_finite(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::Null => Some(format!("{place} is no number")),
        Value::Array(values) => values.iter().find_map(|v| not_finite(v, place)),
        Value::Object(values) => {
            let may_be_null: &[&str] = match place {
                "" => &MAY_BE_NULL,
                _ if place.starts_with(".forces.joints.") => &OF_JOINTS,
                _ => &[],
            };
            let looked_at = values
                .iter()
                .filter(|(key, value)| !value.is_null() || !may_be_null.contains(&key.as_str()));
            looked_at
                .into_iter()
                .find_map(|(key, value)| not_finite(value, &format!("{place}.{key}")))
        }
        _ => None,
    }
}
