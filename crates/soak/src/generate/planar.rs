//! Scenes in two dimensions and of bodies of revolution: solids that are thrown at each other, fall on a pile, or are pressed.

use super::{Draft, Item, Random, bodies::integers, list, rounded, table};
use toml::{Table, Value};

/// Places bodies, moves them and sets the duration; the name of the plot.
pub fn arrange(draft: &mut Draft, count: i64, r: &mut Random) -> &'static str {
    let revolved = r.chance(0.5);
    let dimension = if revolved { "axisymmetric".into() } else { Value::Integer(2) };
    draft.sections.insert("dimension".into(), dimension);
    let plot = r.one(&["crash in the plane", "pile in the plane", "press in the plane"]);
    let count = if plot.starts_with("crash") { count.max(2) } else { count };
    let items: Vec<Item> = (0..count).map(|_| solid(draft, r)).collect();
    match plot {
        "crash in the plane" => crash(draft, items, revolved, r),
        "pile in the plane" => pile(draft, items, revolved, r),
        _ => press(draft, items, revolved, r),
    }
    if r.chance(0.2) {
        let k = r.integer(0, count - 1) as usize;
        let force = match r.chance(0.5) {
            true => table([("pressure", r.power(1.0, 4.0).into())]),
            false => {
                let strength = rounded(9.81 * r.power(-1.0, 2.0));
                let along = if revolved { [0.0, strength] } else { [strength, 0.0] };
                table([("acceleration", list(&along))])
            }
        };
        draft.objects[k].insert("forces".into(), Value::Array(vec![force.into()]));
    }
    plot
}

/// A solid with its outline inside a circle about its origin.
// long: an arm for each shape
fn solid(draft: &Draft, r: &mut Random) -> Item {
    let s = rounded(draft.size * r.between(0.3, 1.5));
    let cells = draft.extent.count(1, 6, r);
    let edge = rounded(s / cells as f64);
    let (shape, radius) = match r.integer(0, 3) {
        0 => {
            let sides = [(); 2].map(|()| rounded(s * r.between(0.05, 1.4)));
            let cells = integers(&[cells, draft.extent.count(1, 6, r)]);
            let shape = [("kind", "rectangle".into()), ("size", list(&sides)), ("cells", cells)];
            (table(shape), sides[0].hypot(sides[1]) / 2.0)
        }
        1 => {
            let shape = [("kind", "disc".into()), ("radius", s.into()), ("edge", edge.into())];
            (table(shape), s)
        }
        2 => {
            // a star: sharp corners, and notches that are closed under pressure
            let corners = 2 * r.integer(3, 6);
            let depth = r.between(0.3, 0.9);
            let corner = |k: i64| {
                let angle = k as f64 * std::f64::consts::TAU / corners as f64;
                let at = if k % 2 == 0 { s } else { s * depth };
                list(&[rounded(at * angle.cos()), rounded(at * angle.sin())])
            };
            let points = Value::Array((0..corners).map(corner).collect());
            let shape = [("kind", "polygon".into()), ("points", points), ("edge", edge.into())];
            (table(shape), s)
        }
        _ => {
            let sides = [(); 2].map(|()| rounded(s * r.between(0.4, 1.4)));
            let shape = [
                ("kind", "rounded-rectangle".into()),
                ("size", list(&sides)),
                ("radius", rounded(0.3 * sides[0].min(sides[1])).into()),
                ("edge", edge.into()),
            ];
            (table(shape), sides[0].hypot(sides[1]) / 2.0)
        }
    };
    let mut object = table([("name", "solid".into()), ("shape", shape.into())]);
    object.insert("material".into(), r.one(&["solid 0", "solid 1"]).into());
    if r.chance(0.1) {
        object.insert("contact_thickness".into(), rounded(s * r.power(-3.0, -1.7)).into());
    }
    // unrotated bodies have parallel edges
    if r.chance(0.7) {
        object.insert("rotate".into(), rounded(r.between(-180.0, 180.0)).into());
    }
    Item { table: object, radius: 1.05 * radius, solid: true }
}

/// Adds a body at a place, with a name of its own.
fn place(draft: &mut Draft, item: Item, at: [f64; 2]) -> usize {
    let k = draft.objects.len();
    let mut object = item.table;
    object.insert("name".into(), format!("solid {k}").into());
    object.insert("translate".into(), list(&at.map(rounded)));
    draft.objects.push(object);
    k
}

/// How far from the origin, or from the axis, a body is whose place is free: now and then nearly at the axis.
fn aside(draft: &Draft, radius: f64, revolved: bool, r: &mut Random) -> f64 {
    let shift = draft.size * r.between(-0.3, 0.3);
    let nearest = draft.size * if r.chance(0.3) { 0.01 } else { r.between(0.1, 3.0) };
    if revolved { 1.02 * radius + nearest } else { shift }
}

fn crash(draft: &mut Draft, items: Vec<Item>, revolved: bool, r: &mut Random) {
    let speed = draft.size * r.power(-0.5, 3.5);
    let gap = draft.size * r.power(-2.0, -0.5);
    let (mut right, mut height) = (0.0_f64, 0.0);
    let count = items.len();
    for (k, item) in items.into_iter().enumerate() {
        let radius = 1.02 * item.radius;
        let x = aside(draft, radius, revolved, r);
        let at = [x, height + radius];
        height += 2.0 * radius + gap;
        right = right.max(x.abs() + radius);
        let middle = 0.5 * (count - 1) as f64;
        // the upper ones go down, the lower ones up, and rings to the axis or away from it
        let along = if k as f64 > middle { -1.0 } else { 1.0 };
        let across = r.between(-1.0, 1.0) * if r.chance(0.5) { 1.0 } else { 0.1 };
        let k = place(draft, item, at);
        let velocity = [across, along * r.between(0.3, 1.0)].map(|c| rounded(speed * c));
        draft.objects[k].insert("velocity".into(), list(&velocity));
        if !revolved && r.chance(0.4) {
            let spin = rounded(r.power(0.0, 4.0) * r.one(&[-1.0, 1.0]));
            draft.objects[k].insert("angular_velocity".into(), spin.into());
        }
    }
    draft.duration = r.between(0.5, 3.0) * (height + draft.size) / speed;
    if r.chance(0.7) {
        draft.sections.insert("gravity".into(), list(&[0.0; 2]));
    }
    if revolved && r.chance(0.5) {
        // a wall around the rings
        let x = rounded(1.1 * right + draft.size * r.power(-2.0, 0.0));
        let ends = [-2.0 * height, 3.0 * height].map(|y| list(&[x, rounded(y)]));
        wall(draft, "wall", ends);
    }
}

/// Bodies above each other; height of the uppermost.
fn stack(draft: &mut Draft, items: Vec<Item>, revolved: bool, r: &mut Random) -> f64 {
    let mut height = 0.0;
    let gap = draft.size * r.power(-2.5, -0.5);
    for item in items {
        let radius = 1.02 * item.radius;
        let x = aside(draft, radius, revolved, r);
        place(draft, item, [x, height + gap + radius]);
        height += gap + 2.0 * radius;
    }
    height
}

fn pile(draft: &mut Draft, items: Vec<Item>, revolved: bool, r: &mut Random) {
    let height = stack(draft, items, revolved, r);
    let below = rounded(draft.size * r.power(-2.0, -0.5));
    if revolved || r.chance(0.7) {
        draft.sections.insert("ground".into(), (-below).into());
    } else {
        let plane = table([
            ("name", "slope".into()),
            ("origin", list(&[0.0, rounded(-below - 2.0 * draft.size)])),
            ("normal", list(&[rounded(r.between(-0.5, 0.5)), 1.0])),
        ]);
        draft.sections.insert("half_spaces".into(), Value::Array(vec![plane.into()]));
    }
    let gravity = 9.81 * r.power(-1.0, 1.5);
    draft.sections.insert("gravity".into(), list(&[0.0, rounded(-gravity)]));
    draft.duration = (2.0 * height / gravity).sqrt() * r.between(0.3, 2.0);
}

fn press(draft: &mut Draft, items: Vec<Item>, revolved: bool, r: &mut Random) {
    let height = stack(draft, items, revolved, r);
    draft.sections.insert("ground".into(), rounded(-draft.size * r.power(-2.0, -1.0)).into());
    let width = 12.0 * draft.size;
    let y = rounded(1.1 * height);
    let ends = [if revolved { 0.0 } else { -width }, width].map(|x| list(&[rounded(x), y]));
    let k = wall(draft, "plate", ends);
    let speed = draft.size * r.power(-1.0, 1.5);
    let motion = table([("velocity", list(&[0.0, rounded(-speed)]))]);
    draft.objects[k].insert("motion".into(), Value::Array(vec![motion.into()]));
    // not through the ground: that can only be refused
    draft.duration = r.between(0.2, 0.85) * height / speed;
    let gravity = rounded(-9.81 * r.between(0.0, 1.0));
    draft.sections.insert("gravity".into(), list(&[0.0, gravity]));
}

/// An obstacle of one segment.
fn wall(draft: &mut Draft, name: &str, ends: [Value; 2]) -> usize {
    let points = Value::Array(ends.into());
    let shape = table([("kind", "polyline".into()), ("points", points)]);
    let object: Table =
        table([("name", name.into()), ("role", "obstacle".into()), ("shape", shape.into())]);
    draft.objects.push(object);
    draft.objects.len() - 1
}

/// Fibres around an axis go around that of revolution.
pub fn around_the_axis(materials: &mut Table) {
    let fibres = materials.iter_mut().filter_map(|(_, m)| m.get_mut("fibres")?.as_array_mut());
    for around in fibres.flatten().filter_map(|f| f.get_mut("around")?.as_table_mut()) {
        around.retain(|key, _| key == "helix_angle");
    }
}
