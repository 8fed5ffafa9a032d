//! Bodies of every kind, each in a ball about its origin.

use super::{Draft, Extent, Item, Random, list, rounded, table};
use toml::{Table, Value};

/// A body that moves: a volume in two of three cases.
pub fn random(draft: &Draft, r: &mut Random) -> Item {
    let size = rounded(draft.size * r.between(0.5, 1.5));
    let mut item = match r.integer(0, 11) {
        0..=7 => solid(size, draft.extent, r),
        8 | 9 => sheet(size, draft.extent, r),
        10 => thread(size, draft.extent, r),
        _ => particles(size, draft.extent, r),
    };
    let angles = [(); 3].map(|()| rounded(r.between(-180.0, 180.0)));
    // unrotated bodies have parallel edges and faces
    if r.chance(0.7) {
        item.table.insert("rotate".into(), list(&angles));
    }
    item
}

/// Makes volumes of which no part is held, moved or loaded rigid, each with the probability `rigid`.
pub fn stiffen(objects: &mut [Table], rigid: f64, r: &mut Random) {
    let free =
        |o: &Table| !["fixed", "motion", "forces", "role"].iter().any(|k| o.contains_key(*k));
    let solid = |o: &Table| o["name"].as_str().is_some_and(|n| n.starts_with("solid"));
    for object in objects.iter_mut().filter(|o| solid(o) && free(o)) {
        if r.chance(rigid) {
            object.insert("role".into(), "rigid".into());
        }
    }
}

/// Gives volumes that are not rigid quadratic elements, each with the probability `quadratic`, and linear ones otherwise, whatever the program would choose.
pub fn bend(objects: &mut [Table], quadratic: f64, r: &mut Random) {
    let solid = |o: &Table| o["name"].as_str().is_some_and(|n| n.starts_with("solid"));
    for object in objects.iter_mut().filter(|o| solid(o) && !o.contains_key("role")) {
        let order = if r.chance(quadratic) { "quadratic" } else { "linear" };
        object.insert("element".into(), order.into());
    }
}

/// A volume with its surface inside a ball of radius `size`.
// long: an arm for each shape
pub fn solid(size: f64, extent: Extent, r: &mut Random) -> Item {
    let s = size;
    let cells = extent.count(1, 3, r);
    let kind = r.integer(0, 9);
    let (shape, radius) = match kind {
        0..=2 => {
            let edges = [(); 3].map(|()| rounded(s * r.between(0.3, 1.1)));
            let radius = edges.iter().map(|e| e * e).sum::<f64>().sqrt() / 2.0;
            (
                table([
                    ("kind", "box".into()),
                    ("size", list(&edges)),
                    ("cells", integers(&[cells; 3])),
                ]),
                radius,
            )
        }
        3 | 4 => {
            let shape = [("kind", "sphere".into()), ("radius", s.into()), ("layers", cells.into())];
            (table(shape), s)
        }
        5 => {
            let (radius, height) = (rounded(s * 0.5), rounded(s * r.between(0.2, 1.5)));
            let shape = [
                ("kind", "cylinder".into()),
                ("radius", radius.into()),
                ("height", height.into()),
                ("rings", 1.into()),
                ("layers", extent.count(1, 4, r).into()),
            ];
            (table(shape), radius.hypot(height / 2.0))
        }
        6 => {
            let shape = [
                ("kind", "torus".into()),
                ("radius", rounded(s * 0.7).into()),
                ("tube_radius", rounded(s * r.between(0.1, 0.28)).into()),
                ("rings", 1.into()),
                ("segments", extent.count(8, 16, r).into()),
            ];
            (table(shape), s)
        }
        7 => {
            let shape = [
                ("kind", "mat".into()),
                ("size", list(&[s, s])),
                ("thickness", rounded(s * r.power(-2.0, -0.8)).into()),
                ("cells", integers(&[extent.count(3, 7, r), extent.count(3, 7, r)])),
            ];
            (table(shape), s)
        }
        8 => {
            let corner = |r: &mut Random, p: [f64; 3]| {
                list(&p.map(|c| rounded(s * 0.5 * (c + r.between(-0.4, 0.4)))))
            };
            let corners =
                [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]];
            let corners = corners.map(|p| corner(r, p)).to_vec();
            let shape = [
                ("kind", "tet".into()),
                ("corners", Value::Array(corners)),
                ("cells", cells.into()),
            ];
            (table(shape), 1.3 * s)
        }
        _ => {
            let shape = [
                ("kind", "cone".into()),
                ("radius", rounded(s * r.between(0.3, 0.8)).into()),
                ("height", rounded(s).into()),
                ("rings", extent.count(1, 3, r).into()),
            ];
            (table(shape), 1.3 * s)
        }
    };
    let mut object = object("solid", shape);
    object.insert("material".into(), r.one(&["solid 0", "solid 1"]).into());
    if r.chance(0.1) {
        object.insert("contact_thickness".into(), rounded(s * r.power(-3.0, -1.7)).into());
    }
    Item { table: object, radius: radius * 1.05, solid: true }
}

fn sheet(size: f64, extent: Extent, r: &mut Random) -> Item {
    let (kind, shape) = if r.chance(0.75) {
        let cells = integers(&[extent.count(3, 7, r), extent.count(3, 7, r)]);
        let size = list(&[size, rounded(size * r.between(0.7, 1.0))]);
        ("sheet", table([("kind", "plane".into()), ("size", size), ("cells", cells)]))
    } else {
        let shape = [
            ("kind", "tube".into()),
            ("radius", rounded(size * 0.4).into()),
            ("length", rounded(size).into()),
            ("around", 10.into()),
            ("along", 4.into()),
        ];
        ("tube", table(shape))
    };
    let mut object = object(kind, shape);
    object.insert("role".into(), "shell".into());
    object.insert("material".into(), "cloth".into());
    Item { table: object, radius: size, solid: false }
}

fn thread(size: f64, extent: Extent, r: &mut Random) -> Item {
    let segments = extent.count(3, 10, r);
    let points = if r.chance(0.7) {
        vec![list(&[-size / 2.0, 0.0, 0.0]), list(&[size / 2.0, 0.0, 0.0])]
    } else {
        // a polygon whose corners are blunt
        let corner = |k: i32| {
            let angle = f64::from(k) * std::f64::consts::TAU / 8.0;
            list(&[rounded(size / 2.0 * angle.cos()), 0.0, rounded(size / 2.0 * angle.sin())])
        };
        (0..8).map(corner).collect()
    };
    let closed = points.len() > 2;
    let length = if closed { size * 0.38 } else { size / segments as f64 };
    let mut shape = table([("kind", "polyline".into()), ("points", Value::Array(points))]);
    shape.insert("closed".into(), closed.into());
    shape.insert("segments".into(), if closed { 1 } else { segments }.into());
    let mut object = object("thread", shape);
    object.insert("role".into(), "rod".into());
    object.insert("radius".into(), rounded(length * r.power(-2.0, -0.9)).into());
    object.insert("material".into(), "thread".into());
    Item { table: object, radius: size * 0.7, solid: false }
}

fn particles(size: f64, extent: Extent, r: &mut Random) -> Item {
    let count = [extent.count(1, 4, r), extent.count(1, 3, r), extent.count(1, 4, r)];
    let shape =
        table([("kind", "points".into()), ("size", list(&[size; 3])), ("count", integers(&count))]);
    let mut object = object("particles", shape);
    object.insert("role".into(), "particles".into());
    object.insert("radius".into(), rounded(size * r.power(-2.5, -1.2)).into());
    object.insert("material".into(), "thread".into());
    Item { table: object, radius: size, solid: false }
}

/// An obstacle inside a ball of radius `size`.
pub fn obstacle(size: f64, r: &mut Random) -> Item {
    let s = size;
    let kind = r.integer(0, 4);
    let shape = match kind {
        0 => table([
            ("kind", "sphere".into()),
            ("radius", s.into()),
            ("layers", 2.into()),
            ("surface", true.into()),
        ]),
        1 => {
            let count = integers(&[r.integer(2, 5), r.integer(2, 5)]);
            let shape = [
                ("kind", "needles".into()),
                ("size", list(&[s, s])),
                ("count", count),
                ("length", rounded(s * 0.5).into()),
            ];
            table(shape)
        }
        2 => {
            table([("kind", "plane".into()), ("size", list(&[s, s])), ("cells", integers(&[2, 2]))])
        }
        3 => table([
            ("kind", "points".into()),
            ("size", list(&[s; 3])),
            ("count", integers(&[3, 2, 3])),
        ]),
        _ => table([
            ("kind", "box".into()),
            ("size", list(&[s, rounded(s * r.between(0.1, 1.0)), s])),
            ("surface", true.into()),
        ]),
    };
    let mut object = object("obstacle", shape);
    object.insert("role".into(), "obstacle".into());
    // needles and points have no triangles
    if r.chance(0.2) && kind != 1 && kind != 3 {
        object.insert("as".into(), r.one(&["surface", "edges", "points"]).into());
    }
    let angles = [(); 3].map(|()| rounded(r.between(-60.0, 60.0)));
    if r.chance(0.5) {
        object.insert("rotate".into(), list(&angles));
    }
    Item { table: object, radius: s, solid: false }
}

fn object(name: &str, shape: Table) -> Table {
    table([("name", name.into()), ("shape", shape.into())])
}

/// A list of integers.
pub fn integers(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|v| Value::Integer(*v)).collect())
}
