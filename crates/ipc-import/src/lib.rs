//! Scenes of the IPC 2020 reference code: reads its scene scripts, computes what they mean and
//! writes it down as a definition to run or as a scene file.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! [`ReferenceScene`] is what a script says; [`Import`] is what it amounts to. Where the reference
//! does something unexpected that changes the motion, the importer repeats it and says so, in
//! [`Import::notes`] and in the comments of the scene file.

mod check;
mod clock;
mod definition;
mod error;
pub mod language;
mod meshes;
mod options;
mod parameters;
mod parse;
mod place;
mod plan;
mod scene_file;
mod script;
mod select;
mod shapes;
mod text;

pub use error::{ImportError, Note, NoteKind, Problem};
pub use language::ReferenceScene;

use error::Located;
use meshes::Meshes;
use plan::{Plan, PlannedHalfSpace, bounds};
use standoff_linalg::Vec3;
use standoff_scene::{Scene, SceneError};
use standoff_sim::definition::Definition;
use std::path::{Path, PathBuf};

/// The reference's gravity, m/s².
const GRAVITY: f64 = 9.80665;

/// A reference scene with its meshes read and everything computed.
#[derive(Debug, Clone)]
pub struct Import {
    /// What the script says.
    pub scene: ReferenceScene,
    /// Everything that is not taken over literally, by line.
    pub notes: Vec<Note>,
    /// ℓ, of which the reference's lengths are multiples: diagonal of the bounding box of the
    /// elastic shapes at rest, m.
    pub length: f64,
    /// Frames are written every so many steps.
    pub output_every: u32,
    plan: Plan,
}

impl Import {
    /// Imports the scene at `path`. Meshes are looked for in `mesh_roots`, in the folder of the
    /// scene and its ancestors, and in the working directory, with and without a leading `input/`.
    ///
    /// # Errors
    /// The scene or a mesh cannot be read, or something in it cannot be honoured.
    pub fn load(path: &Path, mesh_roots: &[PathBuf]) -> Result<Self, ImportError> {
        Self::new(ReferenceScene::read(path)?, mesh_roots)
    }

    /// Imports a scene that has been read already.
    ///
    /// # Errors
    /// A mesh cannot be read, or something in the scene cannot be honoured.
    pub fn new(scene: ReferenceScene, mesh_roots: &[PathBuf]) -> Result<Self, ImportError> {
        let mut notes = scene.notes.clone();
        match plan(&scene, mesh_roots, &mut notes) {
            Ok(plan) => {
                notes.sort_by_key(|n| n.line);
                let (length, output_every) = (plan.length, plan.every);
                Ok(Self { scene, notes, length, output_every, plan })
            }
            Err(Located { line, problem }) => Err(ImportError { file: scene.file, line, problem }),
        }
    }

    /// The definition of the simulation. Its vertices are those of the mesh files in the order of
    /// the shape list, then those of the obstacles.
    pub fn definition(&self) -> Definition {
        self.plan.definition()
    }

    /// The scene as one that was read from a scene file, with overrides `key.path=value` of that
    /// file. Without overrides its definition is [`Import::definition`].
    ///
    /// # Errors
    /// An override does not fit, or a mesh that the reference accepts is refused.
    pub fn resolve(&self, overrides: &[String]) -> Result<Scene, SceneError> {
        let folder = self.scene.file.parent().unwrap_or(Path::new(""));
        let text = self.to_toml(folder);
        let mut scene = Scene::parse_converted(&text, &self.scene.file, folder, overrides)?;
        if overrides.is_empty() {
            scene.definition = self.definition();
        }
        Ok(scene)
    }

    /// The scene as a scene file that resolves to the same definition; mesh paths are relative to
    /// `folder`, the folder that it will be saved in.
    pub fn to_toml(&self, folder: &Path) -> String {
        self.plan.scene_file(&self.scene, &self.notes, folder)
    }
}

/// Computes everything.
fn plan(
    scene: &ReferenceScene,
    mesh_roots: &[PathBuf],
    notes: &mut Vec<Note>,
) -> Result<Plan, Located> {
    let mut meshes = Meshes::new(&scene.file, mesh_roots);
    let (mut bodies, shapes) = place::place(scene, &mut meshes)?;
    check::materials(scene, &bodies)?;
    script::direct(scene, &mut bodies, shapes, &mut meshes, notes)?;
    let elastic = bodies.iter().filter(|b| b.elastic());
    let (lo, hi) = bounds(elastic.flat_map(|b| &b.rest));
    let length = (hi - lo).norm();
    let half_spaces = half_spaces(scene);
    let settings = parameters::settings(scene, &half_spaces, length, notes)?;
    check::settings(scene, &settings)?;
    note_inert_friction(scene, notes);
    let texts = meshes.notes.into_iter();
    notes.extend(texts.map(|text| Note { line: 0, kind: NoteKind::Motion, text }));
    let plan = Plan {
        bodies,
        shapes,
        half_spaces,
        gravity: if scene.gravity.value { Vec3::new(0.0, -GRAVITY, 0.0) } else { Vec3::zeros() },
        settings,
        self_collision: scene.self_collision.value,
        length,
        every: parameters::output_every(scene),
    };
    check::everything(scene, &plan)?;
    Ok(plan)
}

fn half_spaces(scene: &ReferenceScene) -> Vec<PlannedHalfSpace> {
    let of = |s: &language::Set<language::WrittenHalfSpace>| PlannedHalfSpace {
        origin: s.value.origin,
        normal: s.value.normal,
        friction: s.value.friction,
    };
    scene.half_spaces.iter().map(of).collect()
}

fn note_inert_friction(scene: &ReferenceScene, notes: &mut Vec<Note>) {
    for obstacle in scene.mesh_obstacles.iter().filter(|o| o.value.friction != 0.0) {
        let text = format!(
            "the friction coefficient {} of a meshCO has no effect in the reference; it is 0 here",
            obstacle.value.friction
        );
        notes.push(Note { line: obstacle.line, kind: NoteKind::Quirk, text });
    }
}
