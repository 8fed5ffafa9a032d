//! `run.json`: what the frames of a run leave open.

use crate::error::later_format;
use crate::files::read_text;
use crate::{BodyInfo, HalfSpaceInfo, OutputError, Topology};
use serde::{Deserialize, Serialize};
use standoff_geometry::Grip;
use standoff_scene::Scene;
use standoff_scene::resolve::Source;
use standoff_sim::definition::Dimension;
use std::io;
use std::path::Path;

/// Grows with every change after which a reader of `run.json`, `stats.jsonl` or the frames would go wrong.
const FORMAT: u32 = 1;

/// What `run.json` holds: everything that the frames leave open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Format of the folder: 1.
    pub format: u32,
    /// Version of standoff that wrote the run.
    pub version: String,
    /// Number of dimensions.
    pub dimension: Dimension,
    /// Bodies in the order of their vertices; `body` in the frames is the index.
    pub bodies: Vec<BodyInfo>,
    /// Half-spaces.
    pub half_spaces: Vec<HalfSpaceInfo>,
    /// Whether anything can touch anything.
    pub contact: bool,
    /// Whether tetrahedra may be inverted.
    pub allow_inversion: bool,
    /// Pairs of bodies that do not interact; a body paired with itself has no self-contact.
    pub no_contact: Vec<(usize, usize)>,
    /// Vertices at which joints hold a body at another one: what touches them passes through that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grips: Vec<GripInfo>,
    /// Whether bodies may touch themselves at all.
    pub self_contact: bool,
    /// Time step, s.
    pub time_step: f64,
    /// Contact distance d̂, m; `null` in a folder that was begun without a simulation.
    pub d_hat: Option<f64>,
    /// Names of the energies that the program added to those of the scene; no file holds them.
    pub energies: Vec<String>,
    /// The scene of the IPC 2020 reference that the run simulates. Only that has its exact numbers;
    /// `scene.resolved.toml` agrees with it but for round-off.
    pub source: Option<Source>,
}

/// Vertices at which a joint holds a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GripInfo {
    /// The vertices, in the numbering of the frames.
    pub vertices: Vec<u32>,
    /// Index of the body at which they are held.
    pub other: u32,
}

impl From<Grip> for GripInfo {
    fn from(grip: Grip) -> Self {
        Self { vertices: grip.vertices, other: grip.other }
    }
}

impl From<&GripInfo> for Grip {
    fn from(info: &GripInfo) -> Self {
        Self { vertices: info.vertices.clone(), other: info.other }
    }
}

/// The part of `run.json` that every format has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl RunInfo {
    /// Reads `run.json` of a folder.
    ///
    /// # Errors
    /// The folder holds no run, `run.json` is damaged, or a later version of standoff wrote it.
    pub fn read(folder: &Path) -> Result<Self, OutputError> {
        let path = folder.join("run.json");
        let text = read_text(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => OutputError::NoRun {
                path: folder.to_owned(),
                what: "it has no run.json (give the folder that `standoff run -o` wrote; a run \
                       that was stopped before its first frame is started again by `standoff run`)"
                    .into(),
            },
            _ => OutputError::Read { path: path.clone(), source },
        })?;
        let damaged =
            |e: serde_json::Error| OutputError::Damaged { path: path.clone(), what: e.to_string() };
        // first of all, because another format may have other fields
        let Format { format } = serde_json::from_str(&text).map_err(damaged)?;
        if format > FORMAT {
            return Err(OutputError::Foreign { what: later_format(format, FORMAT), path });
        }
        serde_json::from_str(&text).map_err(damaged)
    }

    /// Refuses a `run.json` that is not that of a run of `scene` in `folder`.
    pub(crate) fn check(&self, folder: &Path, scene: &Scene) -> Result<(), OutputError> {
        let mut own = Self::of(scene, &Topology::new(&scene.definition));
        own.version.clone_from(&self.version);
        own.source.clone_from(&self.source);
        // these follow from the scene; which bodies are rigid was not always written
        own.d_hat = self.d_hat;
        own.bodies.iter_mut().zip(&self.bodies).for_each(|(own, found)| own.rigid = found.rigid);
        match own == *self {
            true => Ok(()),
            false => Err(OutputError::Foreign {
                path: folder.join("run.json"),
                what:
                    "it belongs to another scene than scene.resolved.toml; put the run's own file \
                       back, or start again with `standoff run --force`"
                        .into(),
            }),
        }
    }

    /// What a run of a scene leaves open.
    pub(crate) fn of(scene: &Scene, topology: &Topology) -> Self {
        let definition = &scene.definition;
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            dimension: definition.dimension,
            bodies: topology.bodies.clone(),
            half_spaces: definition
                .half_spaces
                .iter()
                .map(|h| HalfSpaceInfo {
                    name: h.name.clone(),
                    origin: h.origin.into(),
                    normal: h.normal.into(),
                })
                .collect(),
            contact: definition.settings.contact.enabled,
            allow_inversion: definition.settings.solver.allow_inversion,
            no_contact: definition.without_contact(),
            grips: definition.grips().into_iter().map(GripInfo::from).collect(),
            self_contact: definition.settings.contact.self_contact,
            time_step: definition.settings.time.step,
            d_hat: None,
            energies: definition.energies.iter().map(|e| e.name().to_owned()).collect(),
            source: scene.source.clone(),
        }
    }
}
