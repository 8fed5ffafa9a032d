//! Scenes from models of MuJoCo: flexible bodies (`flexcomp`) become bodies, planes half-spaces, and all other
//! geometry one obstacle.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.

use standoff_linalg::Vec3;
use standoff_mesh::format::{Flex, MujocoModel, read_model};
use standoff_mesh::path::{absolute, relative};
use standoff_mesh::{Mesh, MeshError, Names, tet_determinant};
use std::path::{Path, PathBuf};

/// A model as a scene file and the meshes that it names.
#[derive(Debug, Clone)]
pub struct Import {
    /// The text of the scene file.
    pub toml: String,
    /// Meshes to write, by the name that the scene file gives them, which is relative to its folder.
    pub meshes: Vec<(PathBuf, Mesh)>,
    /// What is not taken over, one sentence each.
    pub notes: Vec<String>,
}

impl Import {
    // long: the sections of the file, in its order
    /// Imports the model at `path` for a scene file at `output`.
    ///
    /// # Errors
    /// The model or a mesh cannot be read, or nothing of the model can be simulated.
    pub fn load(path: &Path, output: &Path) -> Result<Self, MeshError> {
        let model = read_model(path)?;
        if model.flexes.is_empty() {
            return Err(nothing_to_simulate(path, &model));
        }
        let mut notes = model.notes.clone();
        let mut out = String::new();
        let mut meshes = Vec::new();
        settings(&model, &mut out);
        let stem =
            output.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let mut names = Names::default();
        let mut objects = String::new();
        for flex in &model.flexes {
            let name = free_name(&flex.name, &mut names);
            let file = PathBuf::from(format!("{stem}-{}.vtu", file_name(&name)));
            body(flex, &name, &file, &mut out, &mut objects, &mut notes);
            meshes.push((file, flex.mesh.clone()));
        }
        for plane in &model.planes {
            let name =
                free_name(if plane.name.is_empty() { "plane" } else { &plane.name }, &mut names);
            table(&mut out, "[[half_spaces]]");
            entry(&mut out, "name", &quoted(&name));
            entry(&mut out, "origin", &vector(&plane.origin));
            entry(&mut out, "normal", &vector(&plane.normal));
        }
        out.push_str(&objects);
        if model.has_geometry {
            table(&mut out, "[[objects]]");
            entry(&mut out, "name", &quoted(&free_name("robot", &mut names)));
            let folder = absolute(output.parent().unwrap_or(Path::new("")));
            let file = relative(&absolute(path), &folder);
            entry(&mut out, "mesh", &quoted(&file.to_string_lossy()));
            entry(&mut out, "role", "\"obstacle\"");
            if model.has_joints {
                notes.push(
                    "bodies with joints stand still; [[objects.motion]] moves the obstacle"
                        .to_owned(),
                );
            }
        }
        let frictions =
            model.flexes.iter().map(|f| f.friction).chain(model.planes.iter().map(|p| p.friction));
        if frictions.clone().any(|f| f.to_bits() != coefficient(&model).to_bits()) {
            notes.push(
                "bodies differ in friction; the largest coefficient holds for all".to_owned(),
            );
        }
        let mut toml = String::new();
        comment(&mut toml, &format!("Converted from the MuJoCo model {}.", path.display()));
        notes.iter().for_each(|note| comment(&mut toml, &format!("- {note}")));
        toml.push_str(&out);
        Ok(Self { toml, meshes, notes })
    }
}

/// A model whose scene would have obstacles only.
fn nothing_to_simulate(path: &Path, model: &MujocoModel) -> MeshError {
    let mut what = "nothing of the model can be simulated: no flexible body is left".to_owned();
    for note in &model.notes {
        what.push_str("\n  ");
        what.push_str(note);
    }
    let hint = if model.has_geometry {
        "\n  The rigid geometry alone is an obstacle of a scene: mesh = \"MODEL.xml\""
    } else {
        "\n  Write the bodies as flexcomp of the types grid, mesh, gmsh or direct"
    };
    MeshError::Part {
        file: path.to_path_buf(),
        part: "the whole model".to_owned(),
        what,
        hint: hint.to_owned(),
    }
}

/// MuJoCo takes the larger coefficient of a pair.
fn coefficient(model: &MujocoModel) -> f64 {
    let flexes = model.flexes.iter().map(|f| f.friction);
    flexes.chain(model.planes.iter().map(|p| p.friction)).fold(0.0, f64::max)
}

fn settings(model: &MujocoModel, out: &mut String) {
    entry(out, "gravity", &vector(&model.gravity));
    table(out, "[time]");
    entry(out, "step", &number(model.time_step));
    comment(out, "a model of MuJoCo has no end");
    entry(out, "end", "1.0");
    table(out, "[friction]");
    entry(out, "coefficient", &number(coefficient(model)));
}

// long: the density, the material, the object and its pins
/// A flexible body: its material, and its object with the pins.
fn body(
    flex: &Flex,
    name: &str,
    file: &Path,
    out: &mut String,
    objects: &mut String,
    notes: &mut Vec<String>,
) {
    let thickness = flex.thickness.unwrap_or(2.0 * flex.radius);
    let point = |v: u32| flex.mesh.points[v as usize];
    let (role, volume) = match flex.dimension {
        1 => {
            let length: f64 =
                flex.mesh.edges.iter().map(|e| (point(e[1]) - point(e[0])).norm()).sum();
            ("rod", length * std::f64::consts::PI * flex.radius * flex.radius)
        }
        2 => {
            let area = |f: &[u32; 3]| {
                let [a, b, c] = f.map(point);
                (b - a).cross(&(c - a)).norm() / 2.0
            };
            ("shell", flex.mesh.triangles.iter().map(area).sum::<f64>() * thickness)
        }
        _ => {
            let volume = |t: &[u32; 4]| tet_determinant(&t.map(point)).abs() / 6.0;
            ("volume", flex.mesh.tets.iter().map(volume).sum())
        }
    };
    table(out, &format!("[materials.{}]", quoted(name)));
    if volume > 0.0 {
        comment(out, &format!("{} kg", number(flex.mass)));
        entry(out, "density", &number(flex.mass / volume));
    }
    match flex.young_modulus {
        Some(young) => {
            entry(out, "young_modulus", &number(young));
            entry(out, "poisson_ratio", &number(flex.poisson_ratio));
        }
        None => notes
            .push(format!("{name}: the model gives no elasticity; the default of Standoff holds")),
    }
    if flex.dimension == 2 {
        entry(out, "shell", &format!("{{ thickness = {} }}", number(thickness)));
    }
    table(objects, "[[objects]]");
    entry(objects, "name", &quoted(name));
    entry(objects, "mesh", &quoted(&file.to_string_lossy()));
    entry(objects, "role", &quoted(role));
    entry(objects, "material", &quoted(name));
    if flex.dimension == 1 {
        entry(objects, "radius", &number(flex.radius));
    }
    if !flex.self_contact {
        entry(objects, "self_contact", "false");
    }
    if flex.dimension == 3 && flex.radius > 0.0 {
        notes.push(format!("{name}: the radius of tetrahedra is left out"));
    }
    if !flex.pinned.is_empty() {
        objects.push_str("[objects.regions]\n");
        entry(objects, "pinned", &format!("{{ vertices = {:?} }}", flex.pinned));
        objects.push_str("[[objects.fixed]]\n");
        entry(objects, "vertices", "\"pinned\"");
    }
}

fn table(out: &mut String, head: &str) {
    out.push('\n');
    out.push_str(head);
    out.push('\n');
}

fn entry(out: &mut String, key: &str, value: &str) {
    out.push_str(key);
    out.push_str(" = ");
    out.push_str(value);
    out.push('\n');
}

fn comment(out: &mut String, text: &str) {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    out.push_str("# ");
    out.push_str(&line);
    out.push('\n');
}

/// A number that reads back to the same bits.
fn number(x: f64) -> String {
    format!("{x:?}")
}

fn vector(v: &Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A TOML basic string; control characters are dropped.
fn quoted(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", kept.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name that no other body has, of characters that scenes take.
fn free_name(name: &str, taken: &mut Names) -> String {
    let base: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect();
    taken.free(if base.is_empty() { "body" } else { &base })
}

/// A name as part of a file name on every system.
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect()
}
