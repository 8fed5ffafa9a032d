//! URDF: the collision geometry of all links, joints at zero.

use super::tree::{self, Element};
use super::{Builder, capsule, cuboid, cylinder, ellipsoid, numbers, scaling};
use crate::Mesh;
use crate::format::affine::{Affine, about};
use crate::format::parts::shown;
use crate::format::scan::Result;
use standoff_linalg::Vec3;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

// long: the links, the joints, then the tree that they make
pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let root = tree::parse(path, data, None)?;
    let mut builder = Builder::new(path);
    if root.name != "robot" {
        let part = format!("{}, element {}", root.place, shown(&root.name));
        return Err(builder.error(
            &part,
            "the root element is not <robot>",
            "Is this a URDF file?",
        ));
    }
    if let Some(macros) = root.children.iter().find(|c| c.name.starts_with("xacro:")) {
        let part = format!("{}, element {}", macros.place, shown(&macros.name));
        return Err(builder.error(
            &part,
            "macros are not expanded",
            "Expand them: xacro robot.urdf.xacro > robot.urdf",
        ));
    }
    let mut links: HashMap<&str, &Element> = HashMap::new();
    for link in root.all("link") {
        let name = required(&builder, link, "link", "name")?;
        if links.insert(name, link).is_some() {
            return Err(builder.error(
                &described(link, "link"),
                "another link has this name",
                "Rename one of them",
            ));
        }
    }
    // links below a link, and how they are placed
    let mut below: HashMap<&str, Vec<(&str, Affine)>> = HashMap::new();
    let mut parents: HashMap<&str, &str> = HashMap::new();
    for joint in root.all("joint") {
        let part = described(joint, "joint");
        let link_of = |end: &str| -> Result<&str> {
            let name = match joint.first(end) {
                Some(element) => required(&builder, element, "joint", "link")?,
                None => {
                    return Err(builder.error(
                        &part,
                        format!("it has no <{end}>"),
                        "Complete the joint",
                    ));
                }
            };
            if links.contains_key(name) {
                return Ok(name);
            }
            Err(builder.error(
                &part,
                format!("there is no link \"{}\"", shown(name)),
                "Correct the name",
            ))
        };
        let (parent, child) = (link_of("parent")?, link_of("child")?);
        if parents.insert(child, parent).is_some() {
            let what = format!("link \"{}\" has several parents", shown(child));
            return Err(builder.error(&part, what, "Links must form a tree"));
        }
        below.entry(parent).or_default().push((child, origin(&builder, joint, &part)?));
    }
    let mut stack: Vec<(&str, Affine)> = root
        .all("link")
        .filter_map(|l| l.get("name"))
        .filter(|name| !parents.contains_key(name))
        .map(|name| (name, Affine::identity()))
        .collect();
    stack.reverse();
    let mut reached = 0;
    while let Some((name, place)) = stack.pop() {
        reached += 1;
        if let Some(link) = links.get(name) {
            for (k, collision) in link.all("collision").enumerate() {
                let part = format!("{}, link \"{}\", collision {k}", collision.place, shown(name));
                let own = origin(&builder, collision, &part)?;
                let (mesh, scale) = geometry(&mut builder, collision, &part)?;
                let world = place.compose(&own).compose(&scale);
                builder.parts.add(&mesh, &world, collision.get("name").unwrap_or(name), &part)?;
            }
            if link.first("visual").is_some() && link.first("collision").is_none() {
                builder.note("links without collision geometry are left out");
            }
        }
        let children = below.get(name).into_iter().flatten().rev();
        stack.extend(children.map(|(child, own)| (*child, place.compose(own))));
    }
    if reached < links.len() {
        return Err(builder.error("the joints", "they close a circle", "Links must form a tree"));
    }
    builder.parts.finish(builder.notes, "no link has collision geometry")
}

fn described(element: &Element, kind: &str) -> String {
    match element.get("name") {
        Some(name) => format!("{}, {kind} \"{}\"", element.place, shown(name)),
        None => format!("{}, {kind}", element.place),
    }
}

fn required<'e>(
    builder: &Builder<'_>,
    element: &'e Element,
    kind: &str,
    key: &str,
) -> Result<&'e str> {
    element.get(key).ok_or_else(|| {
        builder.error(
            &described(element, kind),
            format!("the attribute {key} is missing"),
            "Add it",
        )
    })
}

/// `count` numbers of an attribute; `None` if it is absent.
fn vector(
    builder: &Builder<'_>,
    element: &Element,
    key: &str,
    count: usize,
    part: &str,
) -> Result<Option<Vec<f64>>> {
    let Some(text) = element.get(key) else { return Ok(None) };
    let wrong = |what: String| builder.error(part, format!("{key}: {what}"), "Correct the number");
    let found = numbers(text).map_err(wrong)?;
    if found.len() == count {
        return Ok(Some(found));
    }
    Err(wrong(format!("{} numbers where {count} are expected", found.len())))
}

/// A length of a shape.
fn length(builder: &Builder<'_>, element: &Element, key: &str, part: &str) -> Result<f64> {
    match vector(builder, element, key, 1, part)?.as_deref() {
        Some([x]) if *x > 0.0 => Ok(*x),
        _ => Err(builder.error(
            part,
            format!("{key} must be a positive number"),
            "Correct the number",
        )),
    }
}

/// `<origin xyz rpy>`: turned about the fixed axes x, y and z in this order, then moved.
fn origin(builder: &Builder<'_>, element: &Element, part: &str) -> Result<Affine> {
    let Some(origin) = element.first("origin") else { return Ok(Affine::identity()) };
    let xyz = vector(builder, origin, "xyz", 3, part)?.unwrap_or(vec![0.0; 3]);
    let rpy = vector(builder, origin, "rpy", 3, part)?.unwrap_or(vec![0.0; 3]);
    let turn =
        |axis: Vec3, angle: f64| about(axis, angle).unwrap_or_else(standoff_linalg::Mat3::identity);
    let linear = turn(Vec3::z(), rpy[2]) * turn(Vec3::y(), rpy[1]) * turn(Vec3::x(), rpy[0]);
    Ok(Affine { linear, shift: Vec3::from_column_slice(&xyz) })
}

/// The mesh of a `<geometry>` and its scale.
fn geometry(builder: &mut Builder<'_>, collision: &Element, part: &str) -> Result<(Mesh, Affine)> {
    let Some(shape) = collision.first("geometry").and_then(|g| g.children.first()) else {
        return Err(builder.error(part, "it has no <geometry>", "Complete it"));
    };
    let unscaled = |mesh| Ok((mesh, Affine::identity()));
    let half_length = |builder: &Builder<'_>| Ok(0.5 * length(builder, shape, "length", part)?);
    match &shape.name[..] {
        "box" => {
            let size =
                vector(builder, shape, "size", 3, part)?.filter(|s| s.iter().all(|x| *x > 0.0));
            let Some(size) = size else {
                return Err(builder.error(
                    part,
                    "size must be three positive numbers",
                    "Correct the numbers",
                ));
            };
            unscaled(cuboid(0.5 * Vec3::from_column_slice(&size)))
        }
        "sphere" => unscaled(ellipsoid(Vec3::repeat(length(builder, shape, "radius", part)?))),
        "cylinder" => {
            unscaled(cylinder(length(builder, shape, "radius", part)?, half_length(builder)?))
        }
        "capsule" => {
            unscaled(capsule(length(builder, shape, "radius", part)?, half_length(builder)?))
        }
        "mesh" => {
            let file = mesh_file(builder, required(builder, shape, "mesh", "filename")?, part)?;
            let scale = vector(builder, shape, "scale", 3, part)?.unwrap_or(vec![1.0; 3]);
            Ok((builder.mesh(&file, part)?, scaling(Vec3::from_column_slice(&scale))))
        }
        other => {
            let what = format!("<{}> is no shape of URDF", shown(other));
            Err(builder.error(part, what, "Use box, sphere, cylinder, capsule or mesh"))
        }
    }
}

/// The file of a mesh. A package is looked for among the folders around the robot: one of its name, or one that
/// holds it.
fn mesh_file(builder: &Builder<'_>, written: &str, part: &str) -> Result<PathBuf> {
    let folder = builder.path.parent().unwrap_or(Path::new(""));
    if let Some(rest) = written.strip_prefix("package://") {
        let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
        let absolute =
            std::path::absolute(builder.path).unwrap_or_else(|_| builder.path.to_owned());
        let around: Vec<&Path> = absolute.ancestors().skip(1).collect();
        let named = |a: &&Path| a.file_name().is_some_and(|n| n == package);
        let inner = around.iter().filter(|a| named(a)).map(|a| a.join(inside));
        let outer = around.iter().map(|a| a.join(package).join(inside));
        return inner.chain(outer).find(|f| f.is_file()).ok_or_else(|| {
            let what = format!(
                "'{}' was not found: no folder above {} is the package or holds it",
                shown(written),
                builder.path.display()
            );
            builder.error(
                part,
                what,
                "Keep the robot inside its package, or write a path relative to the URDF file",
            )
        });
    }
    let local = written.strip_prefix("file://").unwrap_or(written);
    if local.contains("://") {
        let what = format!("'{}' is no file", shown(written));
        return Err(builder.error(part, what, "Write a path relative to the URDF file"));
    }
    Ok(folder.join(local))
}
