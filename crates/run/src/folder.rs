//! The folder of a run, while it is written and afterwards.

use crate::atomic::is_temporary;
use crate::checkpoint::{fingerprint, write_checkpoint};
use crate::failure::write_failure;
use crate::surface::write_surface;
use crate::{
    BodyInfo, FailureData, FrameData, HalfSpaceInfo, OutputError, ResumePoint, Topology,
    write_atomically, write_vtu,
};
use serde::{Deserialize, Serialize};
use standoff_scene::Scene;
use standoff_scene::file::OutputSection;
use standoff_scene::resolve::Source;
use standoff_sim::State;
use standoff_sim::report::StepReport;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    /// The scene of the IPC 2020 reference that the run simulates. Only that has its exact numbers;
    /// `scene.resolved.toml` agrees with it but for round-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
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

/// The scene of a run with all that was overridden, as a scene file. If [`RunInfo::source`] is given,
/// the exact definition comes from there.
pub fn scene_file(folder: &Path) -> PathBuf {
    folder.join(RESOLVED)
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
    /// Frames on disk.
    frames: Vec<(u64, f64)>,
    /// Numbers of all frames that were to be written, those that could not be included.
    due: Vec<u64>,
    /// Time of the last frame that was asked for, s.
    latest: Option<f64>,
    stats: File,
    /// Length of `stats.jsonl`, bytes: whole lines only.
    stats_length: u64,
    /// Step of its last line.
    reported: u64,
    fingerprint: u64,
    checkpoints: Generations,
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
            if let Ok(stats) = File::open(folder.join(STATS)) {
                lock(&stats, folder)?;
            }
            remove_run(folder)?;
        }
        make_folders(folder, scene)?;
        let topology = Topology::new(&scene.definition);
        let info = run_info(scene, &topology);
        write_atomically(&folder.join("run.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, &info)?;
            writeln!(out)
        })?;
        write_resolved(folder, scene)?;
        let path = folder.join(STATS);
        let stats = OpenOptions::new().create(true).append(true).open(&path);
        let stats = stats.map_err(OutputError::write(path))?;
        lock(&stats, folder)?;
        Ok(Self {
            stats,
            stats_length: 0,
            reported: 0,
            folder: folder.to_owned(),
            topology,
            output: scene.output.clone(),
            frames: Vec::new(),
            due: Vec::new(),
            latest: None,
            fingerprint: fingerprint(&scene.definition),
            checkpoints: Generations::default(),
        })
    }

    /// Takes up the run of `scene` in a folder where a checkpoint left it: whatever was written
    /// after it is removed, as are the leavings of a process that was killed. Also returns the
    /// numbers of frames before the checkpoint that are missing or cut off.
    pub fn reopen(
        folder: &Path,
        scene: &Scene,
        from: &ResumePoint,
    ) -> Result<(Self, Vec<u64>), OutputError> {
        let path = folder.join(STATS);
        let stats = OpenOptions::new().append(true).open(&path);
        let stats = stats.map_err(OutputError::write(&path))?;
        lock(&stats, folder)?;
        stats.set_len(from.stats_length).map_err(OutputError::write(&path))?;
        make_folders(folder, scene)?;
        write_resolved(folder, scene)?;
        let kept = from.checkpoint.frames.clone();
        remove_after(folder, &kept, &from.generations)?;
        let h = scene.definition.settings.time.step;
        let (whole, missing) = kept.into_iter().partition::<Vec<u64>, _>(|step| {
            is_whole(&folder.join("frames").join(format!("{step:06}.vtu")))
        });
        let time = |step: u64| step as f64 * h;
        let this = Self {
            stats,
            stats_length: from.stats_length,
            reported: from.checkpoint.state.step as u64,
            folder: folder.to_owned(),
            topology: Topology::new(&scene.definition),
            output: scene.output.clone(),
            frames: whole.iter().map(|step| (*step, time(*step))).collect(),
            due: whole,
            latest: from.checkpoint.frames.last().map(|step| time(*step)),
            fingerprint: fingerprint(&scene.definition),
            checkpoints: Generations::of(&from.generations),
        };
        this.write_list()?;
        Ok((this, missing))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
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
                let before = self.latest.map_or(-1.0, passed);
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
        if self.due.last() != Some(&data.step) {
            self.due.push(data.step);
        }
        self.latest = Some(data.time);
        let name = format!("{:06}", data.step);
        let path = self.folder.join("frames").join(format!("{name}.vtu"));
        write_vtu(&path, &self.topology, data, &self.output.fields)?;
        if self.output.surface_obj {
            let path = self.folder.join("surface").join(format!("{name}.obj"));
            write_surface(&path, &self.topology, data.positions)?;
        }
        self.frames.push((data.step, data.time));
        self.write_list()
    }

    fn write_list(&self) -> Result<(), OutputError> {
        write_atomically(&self.folder.join("run.pvd"), |out| write_pvd(out, &self.frames))
    }

    /// Whether the output settings ask for a checkpoint after this step. The caller adds the first
    /// and the last state, unless checkpoints are off.
    pub fn wants_checkpoint(&self, step: u64) -> bool {
        let every = u64::from(self.output.checkpoint_every);
        every > 0 && step.is_multiple_of(every)
    }

    /// Whether the last state still lacks its checkpoint and could have one: without the line of its
    /// step in `stats.jsonl`, no run can go on from it.
    pub fn needs_checkpoint(&self, step: u64) -> bool {
        let on = self.output.checkpoint_every > 0;
        on && self.reported == step && self.checkpoints.newest() != Some(step)
    }

    /// Writes a checkpoint and removes those that are no longer needed. It lists the frames that were
    /// to be written so far, which are those that the output settings ask for: the last state's comes
    /// after its checkpoint.
    pub fn write_checkpoint(&mut self, state: &State) -> Result<(), OutputError> {
        let folder = self.folder.join(CHECKPOINTS);
        let path = |step: u64| folder.join(format!("{step:06}.ckpt"));
        let step = state.step as u64;
        write_checkpoint(&path(step), self.fingerprint, state, &self.due)?;
        let sync = || {
            self.stats.sync_data()?;
            File::open(path(step))?.sync_all()?;
            File::open(&folder)?.sync_all()
        };
        if self.checkpoints.due() {
            sync().map_err(OutputError::write(path(step)))?;
            self.checkpoints.synced(step);
        }
        for old in self.checkpoints.add(step) {
            // one too many does no harm
            let _ = fs::remove_file(path(old));
        }
        Ok(())
    }

    /// Writes `failure.vtu` and `failure.json`.
    pub fn write_failure(&self, failure: &FailureData<'_>) -> Result<(), OutputError> {
        write_failure(&self.folder, failure)
    }

    /// Appends a line to `stats.jsonl`.
    pub fn append_stats(&mut self, report: &StepReport) -> Result<(), OutputError> {
        let path = || self.folder.join(STATS);
        let mut line = serde_json::to_string(report)
            .map_err(|e| OutputError::Write { path: path(), source: io::Error::other(e) })?;
        line.push('\n');
        if let Err(error) = self.stats.write_all(line.as_bytes()) {
            // half a line is worse than none; the error that matters is the first one
            let _ = self.stats.set_len(self.stats_length);
            return Err(OutputError::write(path())(error));
        }
        self.stats_length += line.len() as u64;
        self.reported = report.step;
        Ok(())
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
        source: scene.source.clone(),
    }
}

fn make_folders(folder: &Path, scene: &Scene) -> Result<(), OutputError> {
    let wanted = [
        ("frames", true),
        ("surface", scene.output.surface_obj),
        (CHECKPOINTS, scene.output.checkpoint_every > 0),
    ];
    for (name, _) in wanted.iter().filter(|(_, wanted)| *wanted) {
        let inner = folder.join(name);
        fs::create_dir_all(&inner).map_err(OutputError::write(&inner))?;
    }
    Ok(())
}

fn write_resolved(folder: &Path, scene: &Scene) -> Result<(), OutputError> {
    write_atomically(&folder.join(RESOLVED), |out| {
        out.write_all(scene.resolved_toml().map_err(io::Error::other)?.as_bytes())
    })
}

/// Locks a run against other processes, until the file is closed; the system sees to that when the
/// process ends in whatever way.
fn lock(stats: &File, folder: &Path) -> Result<(), OutputError> {
    match stats.try_lock() {
        Err(TryLockError::WouldBlock) => Err(OutputError::Busy { path: folder.to_owned() }),
        // a file system without locks is no obstacle
        Err(TryLockError::Error(_)) | Ok(()) => Ok(()),
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
const FILES: [&str; 6] = ["run.json", "run.pvd", STATS, RESOLVED, "failure.vtu", "failure.json"];
const FOLDERS: [(&str, &str); 3] = [("frames", "vtu"), ("surface", "obj"), (CHECKPOINTS, "ckpt")];
pub(crate) const STATS: &str = "stats.jsonl";
const RESOLVED: &str = "scene.resolved.toml";
pub(crate) const CHECKPOINTS: &str = "checkpoints";

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
    doomed.extend(leavings(folder));
    remove_all(doomed)
}

/// Removes frames and surfaces but those of the steps `frames`, checkpoints but those of
/// `generations`, the report of a failure and unfinished files.
fn remove_after(folder: &Path, frames: &[u64], generations: &[u64]) -> Result<(), OutputError> {
    let mut doomed = vec![folder.join("failure.vtu"), folder.join("failure.json")];
    for (name, extension) in FOLDERS {
        let kept = if name == CHECKPOINTS { generations } else { frames };
        let files = numbered(&folder.join(name), extension);
        doomed.extend(files.into_iter().filter(|(n, _)| !kept.contains(n)).map(|(_, f)| f));
    }
    doomed.extend(leavings(folder));
    remove_all(doomed)
}

/// Files that a process was about to write when it was killed.
fn leavings(folder: &Path) -> Vec<PathBuf> {
    let inner = FOLDERS.iter().map(|(name, _)| folder.join(name));
    let folders = std::iter::once(folder.to_owned()).chain(inner);
    let entries = folders.flat_map(|f| fs::read_dir(f).into_iter().flatten().flatten());
    entries.map(|e| e.path()).filter(|p| is_temporary(p)).collect()
}

fn remove_all(files: Vec<PathBuf>) -> Result<(), OutputError> {
    for path in files {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(OutputError::Write { path, source: e });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Files `N.extension` of a folder, ascending; none if it cannot be read.
pub(crate) fn numbered(folder: &Path, extension: &str) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|e| e.path());
    let mut all: Vec<_> = files.filter_map(|f| Some((number_of(&f, extension)?, f))).collect();
    all.sort();
    all
}

/// Whether a frame is there and has its end.
fn is_whole(path: &Path) -> bool {
    const END: &[u8] = b"</VTKFile>\n";
    let end = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-(END.len() as i64)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok(end)
    };
    end().is_ok_and(|end| end == END)
}

/// Checkpoints on disk: the newest two, and the last one of which the system has said that it
/// outlives a power failure.
#[derive(Debug, Default)]
struct Generations {
    steps: Vec<u64>,
    durable: Option<(u64, Instant)>,
}

/// A disk may take longer to be sure than a small scene takes for ten steps.
const SYNC_INTERVAL: Duration = Duration::from_secs(2);

impl Generations {
    fn of(steps: &[u64]) -> Self {
        Self { steps: steps.to_vec(), durable: None }
    }

    fn newest(&self) -> Option<u64> {
        self.steps.last().copied()
    }

    fn due(&self) -> bool {
        self.durable.is_none_or(|(_, at)| at.elapsed() >= SYNC_INTERVAL)
    }

    fn synced(&mut self, step: u64) {
        self.durable = Some((step, Instant::now()));
    }

    /// Adds the newest; returns those that have had their day.
    fn add(&mut self, step: u64) -> Vec<u64> {
        self.steps.retain(|s| *s != step);
        self.steps.push(step);
        let from = self.steps.len().saturating_sub(2);
        let durable = self.durable.map(|(s, _)| s);
        let (kept, old) = (0..self.steps.len())
            .partition::<Vec<usize>, _>(|&k| k >= from || Some(self.steps[k]) == durable);
        let old = old.into_iter().map(|k| self.steps[k]).collect();
        self.steps = kept.into_iter().map(|k| self.steps[k]).collect();
        old
    }
}
