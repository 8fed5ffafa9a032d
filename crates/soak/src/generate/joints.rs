//! Joints between rigid bodies, and regions of soft ones, and what acts along them.

use super::{Random, list, rounded, table};
use toml::{Table, Value};

/// Joins rigid bodies, each with the last one before it or with the world, with the probability `share`; `duration` is the time that the scene takes, s.
pub fn between(objects: &[Table], share: f64, duration: f64, r: &mut Random) -> Vec<Value> {
    let rigid = |o: &&Table| o.get("role").and_then(Value::as_str) == Some("rigid");
    let rigid: Vec<&Table> = objects.iter().filter(rigid).collect();
    let mut joints: Vec<Value> = Vec::new();
    for (k, body) in rigid.iter().enumerate() {
        if !r.chance(share) {
            continue;
        }
        let before = k.checked_sub(1).map(|k| rigid[k]).filter(|_| r.chance(0.7));
        let name = format!("joint {}", joints.len());
        joints.push(Value::Table(joint(&name, before, body, &joints, duration, r)));
    }
    joints
}

// long: a line or two for each key
fn joint(
    name: &str,
    before: Option<&Table>,
    body: &Table,
    earlier: &[Value],
    duration: f64,
    r: &mut Random,
) -> Table {
    let kinds = ["revolute", "prismatic", "spherical", "fixed", "cylindrical", "planar"];
    let more = ["universal", "distance", "revolute", "prismatic"];
    let kind = r.one(&[&kinds[..], &more[..]].concat());
    let names = before.into_iter().chain([body]).map(|o| o["name"].clone()).collect();
    let centre = place(body);
    let from = before.map_or([0.0; 3], place);
    // anywhere on the way from one to the other, and a little aside
    let along = r.between(0.0, 1.0);
    let size = (0..3).map(|i| (centre[i] - from[i]).abs()).fold(1e-3, f64::max);
    let point = [0, 1, 2].map(|i| from[i] + along * (centre[i] - from[i]));
    let point = point.map(|c| rounded(c + size * r.between(-0.1, 0.1)));
    let mut joint = table([
        ("name", name.into()),
        ("kind", kind.into()),
        ("bodies", Value::Array(names)),
        ("point", list(&point)),
    ]);
    let axis = r.direction();
    if !["spherical", "fixed", "distance"].contains(&kind) {
        joint.insert("axis".into(), list(&axis));
    }
    match kind {
        "universal" => {
            let other = r.direction();
            let normal = [
                axis[1] * other[2] - axis[2] * other[1],
                axis[2] * other[0] - axis[0] * other[2],
                axis[0] * other[1] - axis[1] * other[0],
            ];
            joint.insert("second_axis".into(), list(&normal));
        }
        "distance" => {
            let second = centre.map(|c| rounded(c + size * r.between(0.2, 0.4)));
            joint.insert("second_point".into(), list(&second));
            if r.chance(0.5) {
                let apart = (0..3).map(|i| (second[i] - point[i]).powi(2)).sum::<f64>().sqrt();
                let limits = [apart * r.between(0.2, 0.95), apart * r.between(1.05, 3.0)];
                joint.insert("limits".into(), list(&limits));
            }
        }
        "revolute" | "prismatic" => {
            let unit = if kind == "revolute" { 1.0 } else { size };
            along_coordinate(&mut joint, kind, unit, earlier, duration, r);
        }
        _ => {}
    }
    joint
}

// long: a line or two for each key
/// What acts along a coordinate that is about as large as `unit`: forces are those that move about a kilogram in the time of the scene, and far more
/// or less.
fn along_coordinate(
    joint: &mut Table,
    kind: &str,
    unit: f64,
    earlier: &[Value],
    duration: f64,
    r: &mut Random,
) {
    if r.chance(0.6) {
        let low = if r.chance(0.2) { f64::NEG_INFINITY } else { -unit * r.power(-3.0, 0.5) };
        joint.insert("limits".into(), list(&[low, unit * r.power(-3.0, 0.5)]));
    }
    let force = unit / duration.powi(2);
    if r.chance(0.3) {
        joint.insert("damping".into(), rounded(force * duration * r.power(-3.0, 2.0)).into());
    }
    if r.chance(0.3) {
        joint.insert("friction".into(), rounded(force * unit * r.power(-3.0, 1.0)).into());
    }
    if r.chance(0.2) {
        let stiffness = rounded(force * r.power(-2.0, 3.0));
        let rest = rounded(unit * r.between(-1.0, 1.0));
        let spring = table([("stiffness", stiffness.into()), ("rest", rest.into())]);
        joint.insert("spring".into(), spring.into());
    }
    let same = |j: &&Value| j["kind"].as_str() == Some(kind) && j.get("mimic").is_none();
    if let Some(other) = earlier.iter().find(same).filter(|_| r.chance(0.3)) {
        let ratio = rounded(r.between(-3.0, 3.0));
        let mimic = table([("joint", other["name"].clone()), ("ratio", ratio.into())]);
        joint.insert("mimic".into(), mimic.into());
        return;
    }
    if r.chance(0.5) {
        let stiffness = rounded(force * r.power(-1.0, 4.0));
        let goal = rounded(unit * r.power(-1.0, 1.0));
        let rate = rounded(10.0 / duration);
        let position = match r.integer(0, 2) {
            0 => Value::Float(goal),
            1 => format!("{goal}*sin({rate}*t)").into(),
            _ => format!("{goal}*t/{}", rounded(duration)).into(),
        };
        let mut drive = table([
            ("position", position),
            ("stiffness", stiffness.into()),
            ("damping", rounded(stiffness * duration * r.power(-3.0, 0.0)).into()),
        ]);
        if r.chance(0.5) {
            drive
                .insert("max_effort".into(), rounded(stiffness * unit * r.power(-2.0, 0.0)).into());
        }
        joint.insert("drive".into(), drive.into());
    }
}

/// Joins soft volumes and sheets of which nothing is held, each with the probability `share`, with a rigid body or with the world: at half of them or a
/// little more, so that there is more than one vertex.
pub fn of_soft(
    objects: &[Table],
    share: f64,
    duration: f64,
    joints: &mut Vec<Value>,
    r: &mut Random,
) {
    if share == 0.0 {
        return;
    }
    let rigid = |o: &&Table| o.get("role").and_then(Value::as_str) == Some("rigid");
    let rigid: Vec<&Table> = objects.iter().filter(rigid).collect();
    let free = |o: &&Table| !["fixed", "motion", "forces"].iter().any(|k| o.contains_key(*k));
    let soft = |o: &&Table| {
        let named = |kind: &str| o["name"].as_str().is_some_and(|n| n.starts_with(kind));
        let role = o.get("role").and_then(Value::as_str);
        named("solid") && role.is_none() || named("sheet") && role == Some("shell")
    };
    for body in objects.iter().filter(soft).filter(free) {
        if !r.chance(share) {
            continue;
        }
        let before = rigid.get(r.integer(0, rigid.len().max(1) as i64 - 1) as usize).copied();
        let before = before.filter(|_| r.chance(0.7));
        let name = format!("joint {}", joints.len());
        let mut joint = joint(&name, before, body, joints, duration, r);
        let (axis, far) = (r.integer(0, 2) as usize, r.chance(0.5));
        let mut corners = [[0.0; 3], [1.0; 3]];
        let part = r.between(0.5, 0.7);
        corners[usize::from(!far)][axis] = rounded(if far { 1.0 - part } else { part });
        let region = table([
            ("min", list(&corners[0])),
            ("max", list(&corners[1])),
            ("relative", true.into()),
        ]);
        let selection = Value::Table(table([("box", region.into())]));
        let body = body["name"].as_str().unwrap_or_default();
        joint.insert(
            "vertices".into(),
            Value::Table([(body.to_owned(), selection)].into_iter().collect()),
        );
        joints.push(Value::Table(joint));
    }
}

/// Lets joints without couplings break, each with the probability `share`, in scenes of the length `size` (m) that take the time `duration` (s).
pub fn weaken(joints: &mut [Value], share: f64, [size, duration]: [f64; 2], r: &mut Random) {
    if share == 0.0 {
        return;
    }
    let followed = |j: &Value| Some(j.get("mimic")?.get("joint")?.as_str()?.to_owned());
    let followed: Vec<String> = joints.iter().filter_map(followed).collect();
    for joint in joints.iter_mut().filter_map(Value::as_table_mut) {
        let coupled = joint.contains_key("mimic")
            || joint["name"].as_str().is_some_and(|n| followed.iter().any(|f| f == n));
        if coupled || !r.chance(share) {
            continue;
        }
        // what moves a body of the size through it in that time
        let force = 1000.0 * size.powi(4) / duration.powi(2) * r.power(-3.0, 2.0);
        joint.insert("breaking_force".into(), rounded(force).into());
        if r.chance(0.3) {
            joint.insert("breaking_moment".into(), rounded(force * size).into());
        }
    }
}

/// Where an object is placed.
fn place(object: &Table) -> [f64; 3] {
    let numbers = object.get("translate").and_then(Value::as_array);
    let numbers = numbers.into_iter().flatten().filter_map(Value::as_float).collect::<Vec<_>>();
    numbers.try_into().unwrap_or_default()
}
