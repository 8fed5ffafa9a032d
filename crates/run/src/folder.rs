//! The folder of a run, while it is written and afterwards.

use crate::carried::CarriedSurfaces;
use crate::checkpoint::write_checkpoint;
use crate::checksum::{Integrity, integrity};
use crate::failure::write_failure;
use crate::files::{
    CARRIED, CHECKPOINTS, FOLDERS, MESHES, RESOLVED, STATS, existing_run, frame_file, numbered,
    open_file, refuse_links, remove_after, remove_leavings, remove_run,
};
use crate::fingerprint::fingerprint;
use crate::statistics::{Statistics, lock};
use crate::surface::write_surface;
use crate::{
    FailureData, FrameData, OutputError, ResumePoint, RunInfo, Topology, write_atomically,
    write_vtu,
};
use standoff_mesh::MeshError;
use standoff_scene::Scene;
use standoff_scene::file::{Field, OutputSection};
use standoff_sim::State;
use standoff_sim::report::StepReport;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of a run that is being written.
#[derive(Debug)]
pub struct RunFolder {
    folder: PathBuf,
    topology: Topology,
    carried: CarriedSurfaces,
    output: OutputSection,
    /// Frames on disk.
    frames: Vec<(u64, f64)>,
    /// Numbers of all frames that were to be written, those that could not be included.
    due: Vec<u64>,
    /// Time of the last frame that was due, s.
    latest: Option<f64>,
    stats: Statistics,
    /// What the user should know.
    notes: Vec<String>,
    fingerprint: u64,
    checkpoints: Generations,
}

impl RunFolder {
    /// Prepares the folder for a run of `scene` and writes `run.json` and `scene.resolved.toml`.
    ///
    /// # Errors
    /// [`OutputError::Occupied`] if it holds a run already; with `force`, or where that run was stopped before
    /// its first step, the files of that run (and no others) are removed instead. [`OutputError::Linked`] if a part of it is a
    /// link.
    pub fn create(folder: &Path, scene: &Scene, force: bool) -> Result<Self, OutputError> {
        Self::create_for(folder, scene, None, force)
    }

    /// The same for a run whose contact distance d̂, m, is known.
    pub(crate) fn create_for(
        folder: &Path,
        scene: &Scene,
        d_hat: Option<f64>,
        force: bool,
    ) -> Result<Self, OutputError> {
        refuse_links(folder)?;
        if let Some(found) = existing_run(folder) {
            if !force && !has_no_step(folder) {
                return Err(OutputError::Occupied { path: folder.to_owned(), found });
            }
            if let Ok(stats) = open_file(&folder.join(STATS)) {
                lock(&stats, folder)?;
            }
            // a run that is repeated in its own folder needs its meshes
            let meshes = scene.file.objects.iter().filter_map(|o| o.mesh.as_deref());
            remove_run(folder, &meshes.map(Path::new).collect::<Vec<_>>())?;
        } else {
            remove_leavings(folder)?;
        }
        make_folders(folder, scene)?;
        let topology = Topology::new(&scene.definition);
        let info = RunInfo { d_hat, ..RunInfo::of(scene, &topology) };
        write_atomically(&folder.join("run.json"), |out| {
            serde_json::to_writer_pretty(&mut *out, &info)?;
            writeln!(out)
        })?;
        write_meshes(folder, scene)?;
        write_resolved(folder, scene)?;
        Ok(Self {
            stats: Statistics::open(folder, 0, 0)?,
            notes: Vec::new(),
            folder: folder.to_owned(),
            carried: CarriedSurfaces::of(scene, &topology),
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
    /// numbers of frames before the checkpoint that are not as they were written, and in what way.
    pub fn reopen(
        folder: &Path,
        scene: &Scene,
        from: &ResumePoint,
    ) -> Result<(Self, Vec<(u64, Integrity)>), OutputError> {
        refuse_links(folder)?;
        let reported = from.checkpoint.state.step as u64;
        let stats = Statistics::open(folder, from.stats_length, reported)?;
        make_folders(folder, scene)?;
        write_resolved(folder, scene)?;
        let kept = from.checkpoint.frames.clone();
        remove_after(folder, &kept, &from.generations)?;
        let h = scene.definition.settings.time.step;
        let looks = kept.into_iter().map(|step| (step, integrity(&frame_file(folder, step))));
        let looks: Vec<_> = looks.collect();
        // what was altered is still a frame, perhaps on purpose
        let there = looks.iter().filter(|(_, look)| *look != Integrity::Truncated);
        let there: Vec<u64> = there.map(|(step, _)| *step).collect();
        let suspect = looks.into_iter().filter(|(_, look)| *look != Integrity::Whole).collect();
        let time = |step: u64| step as f64 * h;
        let topology = Topology::new(&scene.definition);
        let this = Self {
            stats,
            notes: Vec::new(),
            folder: folder.to_owned(),
            carried: CarriedSurfaces::of(scene, &topology),
            topology,
            output: scene.output.clone(),
            frames: there.iter().map(|step| (*step, time(*step))).collect(),
            due: there,
            latest: from.checkpoint.frames.last().map(|step| time(*step)),
            fingerprint: fingerprint(&scene.definition),
            checkpoints: Generations::of(&from.generations),
        };
        this.write_list()?;
        Ok((this, suspect))
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

    /// Which arrays the frames have besides the positions.
    pub fn fields(&self) -> &[Field] {
        &self.output.fields
    }

    /// Writes a frame, its surfaces if the settings say so, and `run.pvd` with it.
    pub fn write_frame(&mut self, data: &FrameData<'_>) -> Result<(), OutputError> {
        if self.due.last() != Some(&data.step) {
            self.due.push(data.step);
        }
        self.latest = Some(data.time);
        let name = format!("{:06}", data.step);
        let path = frame_file(&self.folder, data.step);
        write_vtu(&path, &self.topology, data, &self.output.fields)?;
        if self.output.surface_obj {
            let path = self.folder.join("surface").join(format!("{name}.obj"));
            write_surface(&path, &self.topology, data.positions)?;
        }
        if !self.carried.is_empty() {
            self.carried.write(&self.folder.join(CARRIED).join(format!("{name}.vtu")), data)?;
        }
        self.frames.push((data.step, data.time));
        self.write_list()
    }

    fn write_list(&self) -> Result<(), OutputError> {
        let list = |name: &str, folder: &str| {
            write_atomically(&self.folder.join(name), |out| write_pvd(out, folder, &self.frames))
        };
        if !self.carried.is_empty() {
            list("carried.pvd", CARRIED)?;
        }
        list("run.pvd", "frames")
    }

    /// Whether the output settings ask for a checkpoint after this step. The caller adds the first
    /// and the last state, unless checkpoints are off.
    pub fn wants_checkpoint(&self, step: u64) -> bool {
        let every = u64::from(self.output.checkpoint_every);
        every > 0 && step.is_multiple_of(every)
    }

    /// Whether the last state still lacks its checkpoint and could have one: without the line of its
    /// step in `stats.jsonl`, no run can continue from it.
    pub fn needs_checkpoint(&self, step: u64) -> bool {
        let on = self.output.checkpoint_every > 0;
        on && self.stats.reported() == step && self.checkpoints.newest() != Some(step)
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
            self.stats.sync()?;
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
        self.check_stats()?;
        self.stats.append(report)
    }

    /// Makes sure that `stats.jsonl` is still there.
    pub(crate) fn check_stats(&mut self) -> Result<(), OutputError> {
        self.notes.extend(self.stats.restore()?);
        Ok(())
    }

    /// What the user should know of the folder since this was called last.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// Whether the run that a folder holds was stopped before it had done a step: then nothing is lost when it
/// starts again. Anything that is not certainly of such a run makes this false.
fn has_no_step(folder: &Path) -> bool {
    let beyond_start = |(name, extension): (&str, &str)| {
        // the checkpoint of the start is the last thing that is written before the first step
        let files = numbered(&folder.join(name), extension);
        files.into_iter().any(|(step, _)| step > 0 || name == CHECKPOINTS)
    };
    let outputs = FOLDERS.into_iter().filter(|(name, _)| *name != MESHES);
    let stats = fs::metadata(folder.join(STATS));
    let failed = ["failure.vtu", "failure.json"].iter().any(|f| folder.join(f).exists());
    RunInfo::read(folder).is_ok()
        && !failed
        && !stats.is_ok_and(|m| m.len() > 0)
        && !outputs.into_iter().any(beyond_start)
}

fn make_folders(folder: &Path, scene: &Scene) -> Result<(), OutputError> {
    let wanted = [
        ("frames", true),
        ("surface", scene.output.surface_obj),
        (CARRIED, !scene.carried.is_empty()),
        (CHECKPOINTS, scene.output.checkpoint_every > 0),
    ];
    for (name, _) in wanted.iter().filter(|(_, wanted)| *wanted) {
        let inner = folder.join(name);
        fs::create_dir_all(&inner).map_err(OutputError::write(&inner))?;
    }
    Ok(())
}

/// Writes the meshes that the scene has in memory, so that the folder alone says what was simulated.
fn write_meshes(folder: &Path, scene: &Scene) -> Result<(), OutputError> {
    for (name, mesh) in &scene.meshes {
        let path = folder.join(name);
        let failed = |e: MeshError| OutputError::write(&path)(io::Error::other(e));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(OutputError::write(parent))?;
        }
        standoff_mesh::format::write(&path, mesh).map_err(failed)?;
    }
    Ok(())
}

fn write_resolved(folder: &Path, scene: &Scene) -> Result<(), OutputError> {
    let mut scene = scene.clone();
    // meshes of the run itself stay where they are when the folder is moved
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).join(MESHES);
    for mesh in scene.file.objects.iter_mut().filter_map(|o| o.mesh.as_mut()) {
        if let Ok(own) = Path::new(&*mesh).strip_prefix(&absolute) {
            *mesh = format!("{MESHES}/{}", own.display());
        }
    }
    write_atomically(&folder.join(RESOLVED), |out| {
        out.write_all(scene.resolved_toml().map_err(io::Error::other)?.as_bytes())
    })
}

fn write_pvd(out: &mut dyn Write, folder: &str, frames: &[(u64, f64)]) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(out, r#"<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">"#)?;
    writeln!(out, "<Collection>")?;
    for (step, time) in frames {
        writeln!(out, r#"<DataSet timestep="{time}" part="0" file="{folder}/{step:06}.vtu"/>"#)?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")
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
