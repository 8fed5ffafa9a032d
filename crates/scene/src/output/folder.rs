//! The folder of a run, while it is written and afterwards.

use super::obj::write_surface;
use super::{
    BodyInfo, FrameData, HalfSpaceInfo, OutputError, Topology, write_atomically, write_vtu,
};
use crate::Scene;
use crate::file::OutputSection;
use serde::{Deserialize, Serialize};
use standoff_sim::report::StepReport;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What `run.json` holds: everything that the frames leave open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of standoff that wrote the run.
    pub version: String,
    /// Bodies in the order of their vertices; `body` in the frames is the index.
    pub bodies: Vec<BodyInfo>,
    /// Half-spaces.
    pub half_spaces: Vec<HalfSpaceInfo>,
    /// Pairs of bodies that do not interact; a body paired with itself has no self-contact.
    pub no_contact: Vec<(usize, usize)>,
    /// Whether bodies may touch themselves at all.
    pub self_contact: bool,
    /// Time step, s.
    pub time_step: f64,
}

impl RunInfo {
    /// Reads `run.json` of a folder.
    pub fn read(folder: &Path) -> Result<Self, OutputError> {
        let path = folder.join("run.json");
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => OutputError::NoRun {
                path: folder.to_owned(),
                what: "it has no run.json (give the folder that `standoff run -o` wrote)".into(),
            },
            _ => OutputError::Read { path: path.clone(), source },
        })?;
        serde_json::from_str(&text).map_err(|e| OutputError::Damaged { path, what: e.to_string() })
    }
}

/// Frames of a run, ascending: step and file.
pub fn frame_files(folder: &Path) -> Result<Vec<(u64, PathBuf)>, OutputError> {
    let frames = folder.join("frames");
    let missing = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => {
            OutputError::NoRun { path: folder.to_owned(), what: "it has no frames".into() }
        }
        _ => OutputError::Read { path: frames.clone(), source },
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(&frames).map_err(missing)? {
        let path = entry.map_err(OutputError::read(&frames))?.path();
        if let Some(step) = number_of(&path, "vtu") {
            files.push((step, path));
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(OutputError::NoRun {
            path: folder.to_owned(),
            what: "it has no frames".into(),
        });
    }
    Ok(files)
}

/// N for a file `N.extension`.
fn number_of(path: &Path, extension: &str) -> Option<u64> {
    if path.extension()? != extension {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

/// The folder of a run that is being written.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    topology: Topology,
    output: OutputSection,
    frames: Vec<(u64, f64)>,
    stats: File,
}

impl RunFolder {
    /// Prepares the folder for a run of `scene` and writes `run.json` and `scene.resolved.toml`.
    ///
    /// # Errors
    /// [`OutputError::Occupied`] if it holds a run already; with `force` the files of that run (and
    /// no others) are removed instead.
    pub fn create(folder: &Path, scene: &Scene, force: bool) -> Result<Self, OutputError> {
        if let Some(found) = existing_run(folder) {
            if !force {
                return Err(OutputError::Occupied { path: folder.to_owned(), found });
            }
            remove_run(folder)?;
        }
        let frames = folder.join("frames");
        fs::create_dir_all(&frames).map_err(OutputError::write(&frames))?;
        if scene.output.surface_obj {
            let surface = folder.join("surface");
            fs::create_dir_all(&surface).map_err(OutputError::write(&surface))?;
        }
        let topology = Topology::new(&scene.definition);
        let info = run_info(scene, &topology);
        write_atomically(&folder.join("run.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, &info)?;
            writeln!(out)
        })?;
        write_atomically(&folder.join("scene.resolved.toml"), |out| {
            out.write_all(scene.resolved_toml().map_err(io::Error::other)?.as_bytes())
        })?;
        let path = folder.join("stats.jsonl");
        let stats = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self {
            stats: stats.map_err(OutputError::write(path))?,
            folder: folder.to_owned(),
            topology,
            output: scene.output.clone(),
            frames: Vec::new(),
        })
    }

    /// Elements of the run.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Whether the output settings ask for a frame after this step. The caller adds the initial and
    /// the last state.
    pub fn wants_frame(&self, step: u64, time: f64) -> bool {
        match self.output.interval {
            // the slack keeps rounding of accumulated times from shifting a frame by a step
            Some(interval) => {
                let passed = |t: f64| (t / interval + 1e-6).floor();
                let before = self.frames.last().map_or(-1.0, |(_, t)| passed(*t));
                passed(time) > before
            }
            None => step.is_multiple_of(u64::from(self.output.every)),
        }
    }

    /// Number of the last frame written.
    pub fn last_frame(&self) -> Option<u64> {
        self.frames.last().map(|(step, _)| *step)
    }

    /// Writes a frame, its surfaces if asked for, and `run.pvd` with it.
    pub fn write_frame(&mut self, data: &FrameData<'_>) -> Result<(), OutputError> {
        let name = format!("{:06}", data.step);
        let path = self.folder.join("frames").join(format!("{name}.vtu"));
        write_vtu(&path, &self.topology, data, &self.output.fields)?;
        if self.output.surface_obj {
            let path = self.folder.join("surface").join(format!("{name}.obj"));
            write_surface(&path, &self.topology, data.positions)?;
        }
        self.frames.push((data.step, data.time));
        let frames = &self.frames;
        write_atomically(&self.folder.join("run.pvd"), |out| write_pvd(out, frames))
    }

    /// Appends a line to `stats.jsonl`.
    pub fn append_stats(&mut self, report: &StepReport) -> Result<(), OutputError> {
        let path = || self.folder.join("stats.jsonl");
        let mut line = serde_json::to_string(report)
            .map_err(|e| OutputError::Write { path: path(), source: io::Error::other(e) })?;
        line.push('\n');
        self.stats.write_all(line.as_bytes()).map_err(OutputError::write(path()))
    }
}

fn run_info(scene: &Scene, topology: &Topology) -> RunInfo {
    let definition = &scene.definition;
    RunInfo {
        version: env!("CARGO_PKG_VERSION").into(),
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
        no_contact: definition.no_contact.clone(),
        self_contact: definition.settings.contact.self_contact,
        time_step: definition.settings.time.step,
    }
}

fn write_pvd(out: &mut dyn Write, frames: &[(u64, f64)]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">"#)?;
    writeln!(out, "<Collection>")?;
    for (step, time) in frames {
        writeln!(out, r#"<DataSet timestep="{time}" part="0" file="frames/{step:06}.vtu"/>"#)?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")
}

/// Files of a run in its folder; folders hold numbered files of the extension.
const FILES: [&str; 4] = ["run.json", "run.pvd", "stats.jsonl", "scene.resolved.toml"];
const FOLDERS: [(&str, &str); 2] = [("frames", "vtu"), ("surface", "obj")];

fn existing_run(folder: &Path) -> Option<String> {
    let file = FILES.iter().find(|f| folder.join(f).exists()).map(|f| (*f).to_owned());
    file.or_else(|| {
        FOLDERS.iter().find_map(|(name, extension)| {
            let found = fs::read_dir(folder.join(name))
                .ok()?
                .filter_map(Result::ok)
                .find(|e| number_of(&e.path(), extension).is_some())?;
            Some(format!("{name}/{}", found.file_name().to_string_lossy()))
        })
    })
}

fn remove_run(folder: &Path) -> Result<(), OutputError> {
    let mut doomed: Vec<PathBuf> = FILES.iter().map(|f| folder.join(f)).collect();
    for (name, extension) in FOLDERS {
        let entries = fs::read_dir(folder.join(name)).into_iter().flatten();
        let files = entries.filter_map(|e| Some(e.ok()?.path()));
        doomed.extend(files.filter(|f| number_of(f, extension).is_some()));
    }
    for path in doomed {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(OutputError::Write { path, source: e });
            }
            _ => {}
        }
    }
    Ok(())
}
