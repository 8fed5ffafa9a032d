//! Whether all figures of a run's steps are numbers, κ is within the bound that a step says, and joints within their limits.

use serde_json::Value;
use toml::Table;

/// The greatest error of a joint, in terms of the radius of its smaller body.
const OPEN: f64 = 1e-6;

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

/// The first joint of `scene` that a step of `stats.jsonl` left beyond its limits, or a converged one open, in words.
pub fn violated(stats: &str, scene: &Table) -> Option<String> {
    let joints = scene.get("joints")?.as_array()?;
    let steps = stats.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    steps.into_iter().find_map(|step| {
        let converged = step["outcome"] == "converged";
        let open = step["joint_error"].as_f64().filter(|e| converged && *e > OPEN);
        let open = open.map(|e| format!("a joint is open by {e:e} of the radius of a body"));
        let beyond = || joints.iter().find_map(|joint| beyond(&step, joint));
        Some(format!("step {}: {}", step["step"], open.or_else(beyond)?))
    })
}

fn beyond(step: &Value, joint: &toml::Value) -> Option<String> {
    let limits = joint.get("limits")?.as_array()?;
    let [low, high] = [0, 1].map(|k| limits.get(k).and_then(toml::Value::as_float));
    let name = joint.get("name")?.as_str()?;
    let state = &step["forces"]["joints"][name];
    let value = state["angle"].as_f64().or_else(|| state["displacement"].as_f64())?;
    let within = (low?..=high?).contains(&value);
    (!within).then(|| format!("joint '{name}' is at {value}, beyond its limits"))
}
