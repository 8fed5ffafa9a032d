//! Scenes from input files of Abaqus and CalculiX: elements that share nodes become a body with a mesh, sets its regions, supports and loads its
//! prescriptions and forces, and steps the time.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.

mod bodies;
mod deck;
mod error;
mod history;
mod law;
mod loads;
mod material;
mod parts;
mod pressures;
mod scene;
mod sets;
mod shape;
mod source;
mod steps;
mod text;
mod ties;

pub use error::InpError;

use bodies::Bodies;
use error::{Fault, Notes, Place};
use material::Materials;
use scene::{Model, mesh_file};
use source::{Block, Source};
use standoff_mesh::Mesh;
use std::path::{Path, PathBuf};
use steps::{Conditions, Read, Time};
use text::comment;
use ties::Tie;

/// The time of a scene of a file without a step.
const NO_STEP: Time = Time { step: 0.01, end: 1.0, dynamic: true };

/// Keywords that request output.
const OUTPUT: [&str; 16] = [
    "NODE PRINT",
    "NODE FILE",
    "NODE OUTPUT",
    "EL PRINT",
    "EL FILE",
    "ELEMENT OUTPUT",
    "CONTACT PRINT",
    "CONTACT FILE",
    "CONTACT OUTPUT",
    "ENERGY OUTPUT",
    "ENERGY PRINT",
    "OUTPUT",
    "FILE FORMAT",
    "FILE OUTPUT",
    "MONITOR",
    "RESTART",
];

/// Keywords without a consequence for the scene.
const QUIET: [&str; 3] = ["HEADING", "PREPRINT", "SURFACE INTERACTION"];

/// Keywords of contact, which needs no declaration.
const CONTACT: [&str; 5] = [
    "CONTACT PAIR",
    "CONTACT",
    "CONTACT INCLUSIONS",
    "CONTACT PROPERTY ASSIGNMENT",
    "SURFACE BEHAVIOR",
];

/// An input file as a scene file and the meshes that it names.
#[derive(Debug, Clone)]
pub struct Import {
    /// The text of the scene file.
    pub toml: String,
    /// Meshes to write, by the name that the scene file gives them, which is relative to its folder.
    pub meshes: Vec<(PathBuf, Mesh)>,
    /// What is not taken over literally, one sentence each.
    pub notes: Vec<String>,
}

impl Import {
    /// Imports the input file at `path`, for a scene file at `output`.
    ///
    /// # Errors
    /// The file or one that it includes cannot be read, a line is wrong, or nothing of it can be simulated.
    pub fn load(path: &Path, output: &Path) -> Result<Self, InpError> {
        let stem =
            output.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let Source { files, blocks, .. } = Source::read(path)?;
        let mut notes = Notes::default();
        notes.add(
            Place::default(),
            "the file has no units: numbers are taken in m, N, kg and s; those of another consistent system, such as mm, N, t and s, give results in it",
        );
        let (body, meshes) = convert(blocks, &stem, &mut notes).map_err(|f| f.named(&files))?;
        let notes = notes.sentences(&files);
        let mut toml = String::new();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        comment(&mut toml, &format!("Converted from {}.", name.unwrap_or_default()));
        notes.iter().for_each(|note| comment(&mut toml, &format!("- {note}")));
        toml.push_str(&body);
        Ok(Self { toml, meshes, notes })
    }
}

/// The scene file without its comments, and the meshes.
fn convert(
    blocks: Vec<Block>,
    stem: &str,
    notes: &mut Notes,
) -> Result<(String, Vec<(PathBuf, Mesh)>), Fault> {
    let (mut deck, others) = parts::assemble(blocks, notes)?;
    let (mut materials, mut conditions) = (Materials::default(), Conditions::default());
    let mut ties = Vec::new();
    for block in &others {
        if materials.read(block, notes)? {
            continue;
        }
        if block.keyword == "TIE" {
            ties.extend(ties::read(block, &deck, notes)?);
            continue;
        }
        match conditions.read(block, &deck, notes)? {
            Read::Done => {}
            Read::Unknown => unknown(block, notes),
            Read::Stop => break,
        }
    }
    conditions.finish()?;
    if deck.elements.is_empty() {
        let what = "no element of the file can be simulated";
        let hint = "Known are the solids C3D4, C3D5, C3D6, C3D8, C3D10, C3D15 and C3D20, CPE and CAX of 3 to 8 nodes, and shells of 3 to 8 nodes";
        return Err(Fault::new(Place::default(), what, hint));
    }
    let dimension = deck.dimension()?;
    let bodies = Bodies::new(&mut deck, &materials, notes)?;
    if conditions.time.is_none() {
        notes.add(Place::default(), "no step of the file is converted: set time.step and time.end");
    }
    let time = conditions.time.unwrap_or(NO_STEP);
    let model = Model {
        deck: &deck,
        bodies: &bodies,
        materials: &materials,
        conditions: &conditions,
        time,
        dimension,
    };
    let (out, files) = write(&model, &ties, stem, notes)?;
    let meshes = bodies.list.into_iter().map(|b| b.mesh);
    Ok((out, files.into_iter().map(PathBuf::from).zip(meshes).collect()))
}

/// The scene file without its comments, and the names of the meshes.
fn write(
    model: &Model<'_>,
    ties: &[Tie],
    stem: &str,
    notes: &mut Notes,
) -> Result<(String, Vec<String>), Fault> {
    let mut out = String::new();
    model.settings(&mut out, notes);
    let names = model.materials(&mut out, notes)?;
    model.lost(notes);
    let glued = model.glued(ties, notes);
    let (mut files, mut regions) = (Vec::new(), Vec::new());
    for (index, own) in names.iter().enumerate() {
        let file = mesh_file(stem, &model.bodies.list[index]);
        regions.push(model.object(index, &file, own, &glued, &mut out, notes));
        files.push(file);
    }
    model.ties(&glued, &regions, &mut out);
    model.bodies.touching(&glued, notes);
    Ok((out, files))
}

/// Lists a keyword that is not converted.
fn unknown(block: &Block, notes: &mut Notes) {
    let keyword = block.keyword.as_str();
    if QUIET.contains(&keyword) {
        return;
    }
    let text = match keyword {
        k if OUTPUT.contains(&k) => {
            "requests of output are left out: [output] says what frames have".to_owned()
        }
        k if CONTACT.contains(&k) => {
            "all bodies touch each other, without declarations; they need gaps at the start"
                .to_owned()
        }
        k => format!("*{k} is not converted"),
    };
    notes.add(block.at, text);
}
