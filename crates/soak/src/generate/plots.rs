//! What happens in a scene: bodies are thrown at each other, fall on a pile, are pressed between plates,
//! dragged through others, twisted, or draped over an obstacle.

use super::{Draft, Item, Random, bodies, list, rounded, table};
use toml::{Table, Value};

/// Places bodies, moves them and sets the duration; the name of the plot.
pub fn arrange(draft: &mut Draft, mut items: Vec<Item>, r: &mut Random) -> &'static str {
    let plot = r.one(&["crash", "pile", "press", "drag", "twist", "drape"]);
    // something to be thrown at
    if items.len() == 1 && plot == "crash" {
        items.push(bodies::random(draft, r));
    }
    match plot {
        "crash" => crash(draft, items, r),
        "pile" => pile(draft, items, r),
        "press" => press(draft, items, r),
        "drag" => drag(draft, items, r),
        "twist" => twist(draft, items, r),
        _ => drape(draft, items, r),
    }
    if r.chance(0.2) {
        load(draft, r);
    }
    if r.chance(0.1) {
        attach(draft, r);
    }
    plot
}

/// Adds a body at a place, with a name of its own.
fn place(draft: &mut Draft, item: Item, at: [f64; 3]) -> usize {
    let mut object = item.table;
    let name = object["name"].as_str().expect("a name").to_owned();
    object.insert("name".into(), format!("{name} {}", draft.objects.len()).into());
    object.insert("translate".into(), list(&at.map(rounded)));
    draft.objects.push(object);
    draft.objects.len() - 1
}

/// Places on lines through the origin, each ball beyond the last one that it could meet.
fn around(items: &[Item], gap: f64, r: &mut Random) -> Vec<[f64; 3]> {
    let mut places: Vec<[f64; 3]> = Vec::new();
    for (k, item) in items.iter().enumerate() {
        let d = r.direction();
        let mut distance = 0.0;
        let far = |at: f64| {
            places.iter().zip(items).take(k).all(|(p, other)| {
                let apart: f64 = (0..3).map(|i| (p[i] - d[i] * at).powi(2)).sum::<f64>().sqrt();
                // places are rounded to three digits
                apart > 1.02 * (item.radius + other.radius) + gap
            })
        };
        while !far(distance) {
            distance += 0.2 * item.radius;
        }
        places.push(d.map(|c| c * distance));
    }
    places
}

fn crash(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let speed = draft.size * r.power(-0.5, 3.5);
    let gap = draft.size * r.power(-2.0, -0.5);
    let places = around(&items, gap, r);
    let distance =
        places.iter().map(|p| p.iter().map(|c| c * c).sum::<f64>().sqrt()).fold(0.0, f64::max);
    for (item, at) in items.into_iter().zip(places) {
        let length = at.iter().map(|c| c * c).sum::<f64>().sqrt().max(draft.size);
        let own = speed * r.between(0.3, 1.0);
        let k = place(draft, item, at);
        draft.objects[k].insert("velocity".into(), list(&at.map(|c| rounded(-c / length * own))));
        if r.chance(0.4) {
            let spin = r.power(0.0, 4.0);
            draft.objects[k]
                .insert("angular_velocity".into(), list(&r.direction().map(|c| rounded(c * spin))));
        }
    }
    draft.duration = r.between(0.5, 3.0) * (distance + draft.size) / speed;
    if r.chance(0.7) {
        draft.sections.insert("gravity".into(), list(&[0.0; 3]));
    }
}

/// Bodies above each other over a ground or a slope; height of the uppermost.
fn stack(draft: &mut Draft, items: Vec<Item>, r: &mut Random) -> f64 {
    let mut height = 0.0;
    let gap = draft.size * r.power(-2.5, -0.5);
    for item in items {
        let radius = item.radius * 1.02;
        let aside = [(); 2].map(|()| draft.size * r.between(-0.3, 0.3));
        place(draft, item, [aside[0], height + gap + radius, aside[1]]);
        height += gap + 2.0 * radius;
    }
    height
}

fn ground(draft: &mut Draft, below: f64, r: &mut Random) {
    if r.chance(0.7) {
        draft.sections.insert("ground".into(), rounded(-below).into());
        return;
    }
    let tilt = [r.between(-0.5, 0.5), 1.0, r.between(-0.5, 0.5)].map(rounded);
    // below the aside of the lowest body
    let plane = table([
        ("name", "slope".into()),
        ("origin", list(&[0.0, rounded(-below - 2.0 * draft.size), 0.0])),
        ("normal", list(&tilt)),
    ]);
    draft.sections.insert("half_spaces".into(), Value::Array(vec![plane.into()]));
}

fn pile(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let height = stack(draft, items, r);
    ground(draft, draft.size * r.power(-2.0, -0.5), r);
    let gravity = 9.81 * r.power(-1.0, 1.5);
    draft.sections.insert("gravity".into(), list(&[0.0, rounded(-gravity), 0.0]));
    draft.duration = (2.0 * height / gravity).sqrt() * r.between(0.3, 2.0);
}

fn press(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let height = stack(draft, items, r);
    draft.sections.insert("ground".into(), rounded(-draft.size * r.power(-2.0, -1.0)).into());
    let width = 6.0 * draft.size;
    let shape = table([
        ("kind", "box".into()),
        ("size", list(&[width, 0.2 * draft.size, width])),
        ("surface", true.into()),
    ]);
    let plate =
        table([("name", "plate".into()), ("shape", shape.into()), ("role", "obstacle".into())]);
    let plate = Item { table: plate, radius: width, solid: false };
    let k = place(draft, plate, [0.0, 1.1 * height + 0.2 * draft.size, 0.0]);
    let speed = draft.size * r.power(-1.0, 1.5);
    let motion = table([("velocity", list(&[0.0, rounded(-speed), 0.0]))]);
    draft.objects[k].insert("motion".into(), Value::Array(vec![motion.into()]));
    // not through the ground: that can only be refused
    draft.duration = r.between(0.2, 0.85) * height / speed;
    draft
        .sections
        .insert("gravity".into(), list(&[0.0, rounded(-9.81 * r.between(0.0, 1.0)), 0.0]));
}

/// One end of the body's mesh: a tenth of its box.
fn end(low: bool) -> Table {
    let (min, max) = if low { (f64::NEG_INFINITY, 0.101) } else { (0.899, f64::INFINITY) };
    let region = table([
        ("min", list(&[min, f64::NEG_INFINITY, f64::NEG_INFINITY])),
        ("max", list(&[max, f64::INFINITY, f64::INFINITY])),
        ("relative", true.into()),
    ]);
    table([("vertices", Value::Table(table([("box", region.into())])))])
}

fn drag(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let places = around(&items, draft.size * r.power(-2.0, -1.0), r);
    let last = items.len() - 1;
    let speed = draft.size * r.power(-1.0, 2.0);
    let mut distance = draft.size;
    for (k, (item, at)) in items.into_iter().zip(places).enumerate() {
        let k_object = place(draft, item, at);
        if k == last {
            let length = at.iter().map(|c| c * c).sum::<f64>().sqrt();
            let towards = if length > 0.0 { at.map(|c| -c / length) } else { r.direction() };
            let mut motion = end(true);
            motion.insert("velocity".into(), list(&towards.map(|c| rounded(c * speed))));
            draft.objects[k_object].insert("motion".into(), Value::Array(vec![motion.into()]));
            distance += length;
        } else if r.chance(0.4) {
            draft.objects[k_object].insert("fixed".into(), Value::Array(vec![end(false).into()]));
        }
    }
    draft.duration = r.between(0.3, 1.5) * distance / speed;
    if r.chance(0.5) {
        draft.sections.insert("gravity".into(), list(&[0.0; 3]));
    }
}

fn twist(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let places = around(&items, draft.size * r.power(-2.0, -1.0), r);
    let speed = r.power(1.0, 3.5);
    for (item, at) in items.into_iter().zip(places) {
        let k = place(draft, item, at);
        let mut motion = end(true);
        motion.insert("angular_velocity".into(), list(&r.direction().map(|c| rounded(c * speed))));
        draft.objects[k].insert("motion".into(), Value::Array(vec![motion.into()]));
        draft.objects[k].insert("fixed".into(), Value::Array(vec![end(false).into()]));
    }
    draft.duration = r.between(45.0, 720.0) / speed;
    draft.sections.insert("gravity".into(), list(&[0.0; 3]));
}

fn drape(draft: &mut Draft, items: Vec<Item>, r: &mut Random) {
    let height = stack(draft, items, r);
    let obstacle = bodies::obstacle(rounded(draft.size * r.between(0.5, 2.0)), r);
    let below = obstacle.radius * 1.02 + 0.02 * draft.size;
    let k = place(draft, obstacle, [0.0, -below, 0.0]);
    if r.chance(0.5) {
        let spin = r.power(0.0, 3.5);
        let mut motion =
            table([("angular_velocity", list(&r.direction().map(|c| rounded(c * spin))))]);
        if r.chance(0.3) {
            // shaken instead of turned
            let sway = format!("{}*sin({}*t)", rounded(0.2 * draft.size), r.power(0.0, 2.0));
            motion =
                table([("translation", Value::Array(vec![sway.into(), 0.0.into(), 0.0.into()]))]);
        }
        draft.objects[k].insert("motion".into(), Value::Array(vec![motion.into()]));
    }
    ground(draft, 2.2 * below, r);
    draft.duration = (2.0 * (height + below) / 9.81).sqrt() * r.between(0.3, 1.5);
}

/// A force, an acceleration or a pressure on a body that moves.
fn load(draft: &mut Draft, r: &mut Random) {
    let moving: Vec<usize> = moving(draft);
    let k = r.one(&moving);
    let solid = draft.objects[k]["name"].as_str().is_some_and(|n| n.starts_with("solid"));
    let strength = 9.81 * r.power(-1.0, 2.0);
    let force = match r.integer(0, 2) {
        0 if solid => table([("pressure", r.power(1.0, 4.0).into())]),
        1 => {
            let rising = format!("{strength}*min(t/{}, 1)", rounded(draft.duration));
            table([("acceleration", Value::Array(vec![rising.into(), 0.0.into(), 0.0.into()]))])
        }
        _ => table([("acceleration", list(&r.direction().map(|c| rounded(c * strength))))]),
    };
    draft.objects[k].insert("forces".into(), Value::Array(vec![force.into()]));
}

/// Springs from a body to its own start or to another body.
fn attach(draft: &mut Draft, r: &mut Random) {
    let moving: Vec<usize> = moving(draft);
    let a = r.one(&moving);
    let name = |k: usize| draft.objects[k]["name"].clone();
    let mut springs =
        table([("object", name(a)), ("stiffness_per_mass", r.power(0.0, 4.0).into())]);
    if let Some(&b) = moving.iter().find(|b| **b != a)
        && draft.objects[b]["name"].as_str().is_some_and(|n| n.starts_with("solid"))
    {
        springs.insert("to".into(), Value::Table(table([("object", name(b))])));
    }
    draft.sections.insert("attachments".into(), Value::Array(vec![springs.into()]));
}

fn moving(draft: &Draft) -> Vec<usize> {
    let role = |o: &Table| o.get("role").and_then(Value::as_str) == Some("obstacle");
    (0..draft.objects.len()).filter(|k| !role(&draft.objects[*k])).collect()
}
