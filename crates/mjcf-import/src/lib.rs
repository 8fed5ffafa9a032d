//! Scenes from models of MuJoCo (MJCF) and from robots (URDF): bodies and joints become rigid bodies and joints, what stands still an
//! obstacle, flexible bodies (`flexcomp`) bodies, and planes half-spaces.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.

mod robot;
mod text;

use standoff_linalg::Vec3;
use standoff_mesh::format::{Flex, MujocoModel, RobotOptions, read_machine, read_model};
use standoff_mesh::{Mesh, MeshError, Names, tet_determinant};
use std::path::{Path, PathBuf};
use text::{comment, entry, file_name, free_name, number, quoted, table, vector};

/// Friction of a robot of which the file says nothing.
const URDF_FRICTION: f64 = 0.5;

/// A model as a scene file and the meshes that it names.
#[derive(Debug, Clone)]
pub struct Import {
    /// The text of the scene file.
    pub toml: String,
    /// Meshes to write, by the name that the scene file gives them, which is relative to its folder.
    pub meshes: Vec<(PathBuf, Mesh)>,
    /// What is not taken over, one sentence each.
    pub notes: Vec<String>,
    /// What there is to say of the settings of the scene file, one sentence each.
    pub of_settings: Vec<String>,
}

impl Import {
    /// Imports the model at `path`, URDF if its name ends so and else MJCF, for a scene file at `output`. Joints that its pose names start at its
    /// coordinates (rad or m), all others at zero or at the reference of the model.
    ///
    /// # Errors
    /// The model or a mesh cannot be read, nothing of the model can be simulated, or the pose names no joint.
    pub fn load(path: &Path, output: &Path, options: &RobotOptions) -> Result<Self, MeshError> {
        let stem =
            output.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf")) {
            let (machine, notes) = read_machine(path, options)?;
            let model = MujocoModel {
                machine,
                gravity: Vec3::new(0.0, 0.0, -9.81),
                time_step: 0.01,
                flexes: Vec::new(),
                planes: Vec::new(),
                notes,
            };
            return Self::new(path, &stem, &model, Some(URDF_FRICTION));
        }
        Self::new(path, &stem, &read_model(path, options)?, None)
    }

    // long: the sections of the file, in its order
    fn new(
        path: &Path,
        stem: &str,
        model: &MujocoModel,
        friction: Option<f64>,
    ) -> Result<Self, MeshError> {
        if model.flexes.is_empty() && model.machine.links.len() == 1 {
            return Err(nothing_to_simulate(path, model));
        }
        let mut notes = model.notes.clone();
        let mut names = Names::default();
        let robot = robot::parts(&model.machine, stem, &mut names).map_err(|what| {
            let hint = "Complete the model".to_owned();
            MeshError::Part {
                file: path.to_path_buf(),
                part: "the whole model".to_owned(),
                what,
                hint,
            }
        })?;
        notes.extend_from_slice(&robot.notes);
        let mut out = String::new();
        let mut meshes = robot.meshes.clone();
        let coefficient = friction.unwrap_or_else(|| coefficient(model));
        settings(model, coefficient, &mut out);
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
            let below = robot.below(plane);
            if below != 0.0 {
                notes.push(format!(
                    "{name}: bodies start on it; it is {below:.1e} m lower, so that there is a gap"
                ));
            }
            entry(&mut out, "origin", &vector(&(plane.origin - below * plane.normal)));
            entry(&mut out, "normal", &vector(&plane.normal));
        }
        out.push_str(&objects);
        out.push_str(&robot.objects);
        let frictions =
            model.flexes.iter().map(|f| f.friction).chain(model.planes.iter().map(|p| p.friction));
        let mut of_settings = Vec::new();
        if frictions.clone().any(|f| f.to_bits() != coefficient.to_bits()) {
            of_settings.push(
                "bodies differ in friction; the largest coefficient holds for all".to_owned(),
            );
        }
        if friction.is_some() {
            of_settings.push(format!(
                "the file gives no friction: {URDF_FRICTION} holds; change [friction] to what the surfaces have"
            ));
        }
        let mut toml = String::new();
        comment(&mut toml, &format!("Converted from {}.", path.display()));
        let all = notes.iter().chain(&of_settings);
        all.for_each(|note| comment(&mut toml, &format!("- {note}")));
        toml.push_str(&out);
        Ok(Self { toml, meshes, notes, of_settings })
    }
}

/// A model whose scene would have obstacles only.
fn nothing_to_simulate(path: &Path, model: &MujocoModel) -> MeshError {
    let mut what =
        "nothing of the model can be simulated: no body has a joint, and no flexible body is left"
            .to_owned();
    for note in &model.notes {
        what.push_str("\n  ");
        what.push_str(note);
    }
    let has_geometry = model.machine.links.iter().any(|l| !l.mesh.points.is_empty());
    let hint = if has_geometry {
        "\n  The geometry alone is an obstacle of a scene: mesh = \"MODEL.xml\""
    } else {
        "\n  Give bodies joints, or write flexible bodies as flexcomp of the types grid, mesh, gmsh or direct"
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
    // MuJoCo's default, where bodies have geometry
    let bodies = (model.machine.links.len() > 1).then_some(1.0);
    flexes.chain(model.planes.iter().map(|p| p.friction)).chain(bodies).fold(0.0, f64::max)
}

fn settings(model: &MujocoModel, coefficient: f64, out: &mut String) {
    entry(out, "gravity", &vector(&model.gravity));
    table(out, "[time]");
    entry(out, "step", &number(model.time_step));
    comment(out, "a model has no end");
    entry(out, "end", "1.0");
    table(out, "[friction]");
    entry(out, "coefficient", &number(coefficient));
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
