//! Robots of a scene: the objects, joints and half-spaces that their files mean take the place of their sections, so that everything
//! after this, overrides too, sees a scene without robots.

use super::Meshes;
use super::at::At;
use super::placement::rotation;
use crate::decode::decode;
use crate::document::{Document, Entry, KeyPath, Node, Place, Segment, Value};
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::RobotSection;
use crate::plane::is_planar;
use crate::{schema, units};
use serde::Deserialize;
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::format::RobotOptions;
use standoff_mesh::{Mesh, MeshError};
use standoff_mjcf_import::Import;
use std::path::{Path, PathBuf};

/// The key of the sections.
const KEY: &str = "robots";

/// What a model has that the scene takes over, as lists of tables.
const LISTS: [&str; 4] = ["objects", "joints", "tendons", "half_spaces"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Robots {
    robots: Vec<RobotSection>,
}

/// Whether an override changes a robot's section, and therefore comes before what it means.
pub(super) fn is_of_robot(option: &str) -> bool {
    option.trim_start().strip_prefix(KEY).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// What there is to say of the robots of a scene.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What is not as their files say, one sentence each.
    notes: Vec<String>,
    /// The gravity of each file where the robot is placed, m/s².
    gravity: Vec<(String, Vec3)>,
}

impl Taken {
    /// All notes in a scene with this gravity: robots that it pulls aside lie down where they should stand.
    pub fn notes(mut self, gravity: &Vec3) -> Vec<String> {
        let aside = |own: &Vec3| own.dot(gravity) < (1.0 - ALONG) * own.norm() * gravity.norm();
        for (file, own) in self.gravity.iter().filter(|(_, own)| aside(own)) {
            let [x, y, z] = own.map(|c| (100.0 * c).round() / 100.0 + 0.0).into();
            self.notes.push(format!(
                "{file}: it is made for a gravity of [{x}, {y}, {z}] as it is placed, and that of the scene points elsewhere; change \
                 `gravity` of the scene, or `rotate` the robot"
            ));
        }
        self.notes
    }
}

/// Directions whose cosine is this much below 1 are different.
const ALONG: f64 = 1e-6;

/// Puts the parts of all robots in the place of their sections, and their meshes to `meshes`; returns what there is to say of them.
///
/// # Errors
/// A section is wrong, its file cannot be read or has nothing that moves, or it names a joint that is not there.
// long: what is done with each robot, in order
pub(super) fn put_in_place(
    document: &mut Document,
    folder: &Path,
    meshes: &mut Meshes,
) -> Result<Taken, SceneError> {
    let mut taken = Taken::default();
    let Some(robots) = document.root.entry(KEY).cloned() else { return Ok(taken) };
    // what is read here is the section alone, with units, and in the places of the whole
    let mut own = document.clone();
    own.root.value = Value::Table(vec![robots.clone()]);
    units::convert_document(&mut own, &schema::raw())?;
    own.refuse_control_characters()?;
    let sections = decode::<Robots>(&own)?.robots;
    let at = At::root(&own).key(KEY);
    let planar = document.root.entry("dimension");
    if planar.is_some_and(is_planar) {
        return Err(at.invalid("robots have three dimensions; one in the plane has none"));
    }
    document.root.remove(KEY);
    for (k, section) in sections.iter().enumerate() {
        let at = at.index(k);
        let file = folder.join(&section.file);
        let options = RobotOptions {
            pose: section.pose.clone(),
            keyframe: section.keyframe.clone(),
            hulls: section.hulls,
        };
        let stem = format!("robot-{k}");
        let import = Import::load(&file, Path::new(&stem), &options).map_err(|e| {
            let at = match &e {
                MeshError::UnknownJoint { joint, .. } => at.key("pose").key(joint),
                MeshError::Keyframe { .. } => at.key("keyframe"),
                _ => at.key("file"),
            };
            at.error(Problem::Mesh(e.to_string()))
        })?;
        let place = own.place(&path(k).key("file"));
        let mut model = Document::parse(&file, &import.toml)?.root;
        model.set_place(place);
        start(&mut model, |joint| own.find(&path(k).key("pose").key(joint)).map(|n| n.place));
        let placed = Placed::new(section, &at)?;
        let gravity = model.entry("gravity").and_then(|e| vector_of(&e.node));
        taken.gravity.extend(gravity.map(|g| (section.file.clone(), placed.turn * g)));
        placed.place(&mut model, &import.meshes, place);
        let drives = robots.node.child(&Segment::Index(k)).and_then(|n| n.entry("drives"));
        drive(&mut model, drives, &at.key("drives"))?;
        name(&mut model, &section.name);
        take_over(&mut document.root, model);
        for (name, mesh) in import.meshes {
            meshes.insert(mesh_key(&name.to_string_lossy()), mesh);
        }
        taken.notes.extend(import.notes.iter().map(|note| format!("{}: {note}", section.file)));
    }
    Ok(taken)
}

/// A joint that starts beyond its limits is wrong where the pose says so.
fn start(model: &mut Node, given: impl Fn(&str) -> Option<Place>) {
    for joint in model.list("joints") {
        let place = joint.name().and_then(&given);
        if let (Some(place), Some(limits)) = (place, joint.entry_mut("limits")) {
            limits.node.set_place(place);
        }
    }
}

fn path(k: usize) -> KeyPath {
    KeyPath::default().key(KEY).index(k)
}

/// The key of a mesh among those in memory.
fn mesh_key(name: &str) -> String {
    let stem = Path::new(name).with_extension("vtu");
    format!("scene.meshes/{}", stem.display())
}

/// Where a robot is in the scene.
struct Placed {
    turn: Mat3,
    translate: Vec3,
    /// Keys of the objects, as the section gives them.
    keys: Vec<Entry>,
}

impl Placed {
    fn new(section: &RobotSection, at: &At<'_>) -> Result<Self, SceneError> {
        let node = at.node();
        let given = ["rotate", "translate"].iter().filter_map(|key| node?.entry(key).cloned());
        Ok(Self {
            turn: rotation(section.rotate, at)?,
            translate: Vec3::from(section.translate),
            keys: given.collect(),
        })
    }

    /// Places the parts of a model.
    fn place(&self, model: &mut Node, meshes: &[(PathBuf, Mesh)], place: Place) {
        let vector = |v: Vec3| {
            let number = |x: &f64| Node { value: Value::Float(*x), place };
            Value::Array(v.iter().map(number).collect())
        };
        for object in model.list("objects") {
            self.turn_velocity(object, meshes, &vector);
            if let Value::Table(entries) = &mut object.value {
                entries.extend(self.keys.iter().cloned());
            }
        }
        let vectors = [
            ("joints", "point", true),
            ("joints", "second_point", true),
            ("joints", "axis", false),
            ("joints", "second_axis", false),
            ("half_spaces", "origin", true),
            ("half_spaces", "normal", false),
        ];
        for (list, key, is_point) in vectors {
            for part in model.list(list) {
                let Some(node) = part.entry_mut(key).map(|e| &mut e.node) else { continue };
                let Some(old) = vector_of(node) else { continue };
                let moved = self.turn * old + if is_point { self.translate } else { Vec3::zeros() };
                node.value = vector(moved);
            }
        }
    }

    /// Turns the velocities of an object. Its velocity is that of the centre of its bounding box, which is at another point of the object once
    /// this is turned.
    fn turn_velocity(
        &self,
        object: &mut Node,
        meshes: &[(PathBuf, Mesh)],
        vector: &dyn Fn(Vec3) -> Value,
    ) {
        let of = |key| object.entry(key).and_then(|e| vector_of(&e.node));
        let (Some(velocity), Some(angular)) = (of("velocity"), of("angular_velocity")) else {
            return;
        };
        let file = object.entry("mesh").and_then(|e| match &e.node.value {
            Value::String(file) => Some(Path::new(file)),
            _ => None,
        });
        let mesh = file.and_then(|f| meshes.iter().find(|(name, _)| name == f));
        let centre = |turn: &Mat3| {
            let mut points = mesh.iter().flat_map(|(_, m)| &m.points).map(|p| turn * p);
            let first = points.next().unwrap_or_default();
            let (low, high) = points.fold((first, first), |(l, h), p| (l.inf(&p), h.sup(&p)));
            (low + high) / 2.0
        };
        let arm = centre(&self.turn) - self.turn * centre(&Mat3::identity());
        let angular = self.turn * angular;
        let velocity = self.turn * velocity + angular.map(f64::to_radians).cross(&arm);
        for (key, value) in [("velocity", velocity), ("angular_velocity", angular)] {
            if let Some(entry) = object.entry_mut(key) {
                entry.node.value = vector(value);
            }
        }
    }
}

fn vector_of(node: &Node) -> Option<Vec3> {
    let Value::Array(items) = &node.value else { return None };
    let numbers: Vec<f64> = items
        .iter()
        .filter_map(|n| match n.value {
            Value::Float(x) => Some(x),
            Value::Integer(i) => Some(i as f64),
            _ => None,
        })
        .collect();
    <[f64; 3]>::try_from(numbers).ok().map(Vec3::from)
}

/// Gives joints and tendons the drives of the section; keys that it does not give stay as the model has them.
fn drive(model: &mut Node, drives: Option<&Entry>, at: &At<'_>) -> Result<(), SceneError> {
    let Some(Value::Table(drives)) = drives.map(|d| &d.node.value) else { return Ok(()) };
    for drive in drives {
        let mut names = Vec::new();
        for list in ["joints", "tendons"] {
            names.extend(model.list(list).filter_map(|j| j.name().map(str::to_owned)));
        }
        let is_tendon = model.list("tendons").any(|j| j.name() == Some(&drive.key));
        let list = if is_tendon { "tendons" } else { "joints" };
        let Some(joint) = model.list(list).find(|j| j.name() == Some(&drive.key)) else {
            return Err(at.key(&drive.key).error(Problem::UnknownName {
                what: "joint or tendon",
                name: drive.key.clone(),
                nearest: nearest_name(&drive.key, names.iter().map(String::as_str)),
                valid: names,
            }));
        };
        let (Value::Table(given), Value::Table(entries)) = (&drive.node.value, &mut joint.value)
        else {
            continue;
        };
        let mut kept = entries.iter().position(|e| e.key == "drive").map(|k| entries.remove(k));
        let mut whole = Entry { key: "drive".into(), ..drive.clone() };
        if let (Some(Value::Table(kept)), Value::Table(keys)) =
            (kept.as_mut().map(|k| &mut k.node.value), &mut whole.node.value)
        {
            kept.retain(|k| given.iter().all(|g| g.key != k.key));
            keys.append(kept);
        }
        entries.push(whole);
    }
    Ok(())
}

/// Gives the parts of a model names of their own, and its meshes the keys that they have in memory.
fn name(model: &mut Node, prefix: &str) {
    let renamed = |node: &mut Node| {
        if let (Value::String(text), false) = (&mut node.value, prefix.is_empty()) {
            *text = format!("{prefix}/{text}");
        }
    };
    for list in LISTS {
        for part in model.list(list) {
            for key in ["name", "material"] {
                part.entry_mut(key).map(|e| &mut e.node).into_iter().for_each(renamed);
            }
            for key in ["bodies", "ignore"] {
                let Some(entry) = part.entry_mut(key) else { continue };
                if let Value::Array(names) = &mut entry.node.value {
                    names.iter_mut().for_each(renamed);
                }
            }
            if let Some(Value::Table(joints)) = part.entry_mut("joints").map(|e| &mut e.node.value)
                && !prefix.is_empty()
            {
                joints.iter_mut().for_each(|j| j.key = format!("{prefix}/{}", j.key));
            }
            let mimic = part.entry_mut("mimic").and_then(|m| m.node.entry_mut("joint"));
            mimic.map(|e| &mut e.node).into_iter().for_each(renamed);
            if let Some(Value::String(mesh)) = part.entry_mut("mesh").map(|e| &mut e.node.value) {
                *mesh = mesh_key(mesh);
            }
        }
    }
    let materials = model.entry_mut("materials").map(|e| &mut e.node.value);
    if let (Some(Value::Table(materials)), false) = (materials, prefix.is_empty()) {
        materials.iter_mut().for_each(|m| m.key = format!("{prefix}/{}", m.key));
    }
}

/// Moves the parts of a model to a scene, after its own.
fn take_over(scene: &mut Node, model: Node) {
    let Value::Table(parts) = model.value else { return };
    let taken = |e: &Entry| e.key == "materials" || LISTS.contains(&e.key.as_str());
    for part in parts.into_iter().filter(taken) {
        match (scene.entry_mut(&part.key).map(|e| &mut e.node.value), part.node.value) {
            (Some(Value::Array(own)), Value::Array(more)) => own.extend(more),
            (Some(Value::Table(own)), Value::Table(more)) => own.extend(more),
            (_, value) => scene.add(Entry { node: Node { value, ..part.node }, ..part }),
        }
    }
}
