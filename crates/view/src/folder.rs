//! What of a run's folder is served.

use crate::answer::Answer;
use crate::container::Container;
use crate::error::RequestError;
use crate::failure;
use crate::skin::Skin;
use crate::state::{API, Colouring, GAP, RunState};
use serde_json::json;
use standoff_run::{
    FrameFile, Gaps, Location, OutputError, RunInfo, frame_files, is_being_written, open_file,
    read_elements,
};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Most that one answer has of the statistics, bytes.
const STATS_AT_ONCE: u64 = 4 << 20;

/// The longest file that is read, bytes: a frame of ten million vertices has less.
const LONGEST: u64 = 8 << 30;

/// The folder of a run.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    run: Mutex<Option<Arc<Run>>>,
    frames: Mutex<FrameList>,
}

/// Frames as they were found.
#[derive(Debug, Default)]
struct FrameList {
    /// When their folder had been changed last, if that was so long before that no later change can have the
    /// same time.
    settled: Option<SystemTime>,
    files: Vec<(u64, PathBuf)>,
}

/// What is constant through a run.
#[derive(Debug)]
struct Run {
    generation: u64,
    info: RunInfo,
    skin: Skin,
    /// Body of every cell of the frames.
    cell_body: Vec<u32>,
    /// Thickness and radius of every cell of the frames, m; empty where none has one.
    thickness: Vec<f64>,
    radius: Vec<f64>,
    /// Vertices of a frame.
    vertices: usize,
    first_frame: PathBuf,
    gaps: OnceLock<Result<Gaps, String>>,
}

impl Folder {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), run: Mutex::default(), frames: Mutex::default() }
    }

    /// How far the run is.
    pub fn state(&self) -> Result<Answer, RequestError> {
        let run = self.run(None)?;
        let files = self.frames()?;
        let mut arrays = Vec::new();
        if let Some((_, newest)) = files.last() {
            let file = FrameFile::open(&self.inside(newest)?)?;
            arrays.extend(file.arrays().iter().filter_map(Colouring::of));
        }
        arrays.push(Colouring::gap());
        let state = RunState {
            api: API,
            program: env!("CARGO_PKG_VERSION"),
            folder: self.path.display().to_string(),
            generation: run.generation.to_string(),
            live: is_being_written(&self.path),
            bodies: &run.info.bodies,
            half_spaces: &run.info.half_spaces,
            dimension: run.info.dimension.count(),
            time_step: run.info.time_step,
            gap_reach: run.gaps().map_or(0.0, Gaps::reach),
            frames: files.iter().map(|(step, _)| *step).collect(),
            arrays,
            stats_length: self.open_stats()?.map_or(0, |(_, length)| length),
            failed: self.path.join("failure.json").exists(),
        };
        Ok(Answer::json(serde_json::to_vec(&state).map_err(internal)?))
    }

    /// What is constant of the frames: which vertices are visible, and the cells over them.
    pub fn mesh(&self, generation: Option<u64>) -> Result<Answer, RequestError> {
        let run = self.run(generation)?;
        let skin = &run.skin;
        let mut container = Container::default();
        container.indices("vertex", 1, skin.vertices.iter().copied());
        container.indices("triangle", 3, skin.triangles.iter().flatten().copied());
        container.indices("edge", 2, skin.edges.iter().flatten().copied());
        container.indices("point", 1, skin.points.iter().copied());
        container.indices("cell", 1, skin.cells.iter().copied());
        container.indices("body", 1, run.of_cells(&run.cell_body).copied());
        for (name, values) in [("thickness", &run.thickness), ("radius", &run.radius)] {
            if !values.is_empty() {
                container.floats(name, 1, run.of_cells(values).copied());
            }
        }
        let about = json!({ "generation": run.generation.to_string(), "boundary": skin.boundary });
        Ok(Answer::binary(container.finish(&about).map_err(internal)?))
    }

    /// A frame: the positions of the visible vertices, and the requested arrays, of visible vertices
    /// or cells. An array that the frame lacks is left out.
    pub fn frame(
        &self,
        step: u64,
        generation: Option<u64>,
        arrays: &[&str],
    ) -> Result<Answer, RequestError> {
        let run = self.run(generation)?;
        let path = self.inside(&self.path.join("frames").join(format!("{step:06}.vtu")))?;
        let mut file = FrameFile::open(&path).map_err(|error| match error {
            OutputError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                RequestError::NoFrame(step)
            }
            error => error.into(),
        })?;
        let time = file.floats("TimeValue")?.and_then(|t| t.first().copied());
        let positions = file.vectors("points")?.unwrap_or_default();
        if positions.len() != run.vertices {
            return Err(RequestError::Replaced);
        }
        let vertices = &run.skin.vertices;
        let mut container = Container::default();
        let visible = vertices.iter().flat_map(|v| <[f64; 3]>::from(positions[*v as usize]));
        container.floats("positions", 3, visible);
        for name in arrays {
            if *name == GAP {
                let gaps = run.gaps()?.of(&positions);
                container.floats(GAP, 1, vertices.iter().map(|v| gaps[*v as usize]));
                continue;
            }
            let listed = file.arrays().iter().find(|a| a.name == *name);
            let Some(array) = listed.filter(|a| Colouring::of(a).is_some()).cloned() else {
                continue;
            };
            let Some(values) = file.floats(name)? else { continue };
            let (n, count, places) = match array.location {
                Location::Point => (array.components, run.vertices, vertices),
                _ => (array.components, run.cell_body.len(), &run.skin.cells),
            };
            if n == 0 || values.len() != n * count {
                return Err(file.damaged(format!("the array '{name}' is truncated")).into());
            }
            let visible = places.iter().flat_map(|k| &values[*k as usize * n..][..n]);
            container.floats(name, n, visible.copied());
        }
        let about = json!({ "step": step, "time": time });
        Ok(Answer::binary(container.finish(&about).map_err(internal)?))
    }

    /// Whole lines of the statistics, from a byte on.
    pub fn stats(&self, from: u64) -> Result<Answer, RequestError> {
        let Some((mut file, length)) = self.open_stats()? else {
            return Ok(Answer::binary(Vec::new()));
        };
        if from > length {
            return Err(RequestError::PastEnd(length));
        }
        let mut lines = Vec::new();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.take(STATS_AT_ONCE).read_to_end(&mut lines))
            .map_err(|source| self.unreadable("stats.jsonl", source))?;
        lines.truncate(lines.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1));
        Ok(Answer::binary(lines))
    }

    /// Why the run could not go on.
    pub fn failure(&self) -> Result<Answer, RequestError> {
        let path = self.path.join("failure.json");
        if !path.exists() {
            return Err(RequestError::NotFound);
        }
        let grid = || self.inside(&self.path.join("failure.vtu"));
        let report = failure::read(&self.inside(&path)?, grid)?;
        Ok(Answer::json(serde_json::to_vec(&report).map_err(internal)?))
    }

    /// The run that the folder holds now; it must be the requested one, if one is requested.
    fn run(&self, generation: Option<u64>) -> Result<Arc<Run>, RequestError> {
        let mut held = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        self.inside(&self.path.join("run.json"))?;
        let now = self.generation()?;
        if generation.is_some_and(|g| g != now) {
            return Err(RequestError::Replaced);
        }
        match &*held {
            Some(run) if run.generation == now => Ok(Arc::clone(run)),
            _ => {
                self.frames.lock().unwrap_or_else(PoisonError::into_inner).settled = None;
                let run = Arc::new(Run::read(self, now)?);
                *held = Some(Arc::clone(&run));
                Ok(run)
            }
        }
    }

    /// When `run.json` was written, which every run does once.
    fn generation(&self) -> Result<u64, RequestError> {
        let time = fs::metadata(self.path.join("run.json")).and_then(|m| m.modified());
        match time {
            Ok(time) => {
                let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
                Ok(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
            }
            // which says what a folder without it lacks
            Err(_) => RunInfo::read(&self.path).map(|_| 0).map_err(Into::into),
        }
    }

    fn frames(&self) -> Result<Vec<(u64, PathBuf)>, RequestError> {
        self.inside(&self.path.join("frames"))?;
        let mut list = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = fs::metadata(self.path.join("frames")).and_then(|m| m.modified()).ok();
        if changed.is_none() || list.settled != changed {
            list.files = frame_files(&self.path)?;
            let age = changed.and_then(|time| time.elapsed().ok());
            list.settled = changed.filter(|_| age.is_some_and(|age| age > Duration::from_secs(2)));
        }
        Ok(list.files.clone())
    }

    /// The statistics and their length, bytes; none where there is no file.
    fn open_stats(&self) -> Result<Option<(File, u64)>, RequestError> {
        let path = self.inside(&self.path.join("stats.jsonl"))?;
        let opened = open_file(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((length, file)) => Ok(Some((file, length))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(self.unreadable("stats.jsonl", source).into()),
        }
    }

    /// Where a file or folder of the run is, with all links followed, if that is inside of the folder: what made
    /// the folder has no say over other files of those who look at it. A file that is not there is left to who opens
    /// it; so is one that is no regular file (`open_file`).
    fn inside(&self, path: &Path) -> Result<PathBuf, RequestError> {
        let (Ok(folder), Ok(real)) = (fs::canonicalize(&self.path), fs::canonicalize(path)) else {
            return Ok(path.to_owned());
        };
        let name = || path.strip_prefix(&self.path).unwrap_or(path).display().to_string();
        if !real.starts_with(&folder) {
            return Err(RequestError::Outside(name()));
        }
        match fs::metadata(&real) {
            Ok(about) if about.len() > LONGEST => Err(RequestError::TooLong(name())),
            _ => Ok(real),
        }
    }

    fn unreadable(&self, name: &str, source: io::Error) -> OutputError {
        OutputError::Read { path: self.path.join(name), source }
    }
}

impl Run {
    fn read(folder: &Folder, generation: u64) -> Result<Self, RequestError> {
        let info = RunInfo::read(&folder.path)?;
        folder.inside(&folder.path.join("frames"))?;
        let files = frame_files(&folder.path)?;
        let (_, path) = files.first().ok_or(RequestError::NotFound)?;
        let path = folder.inside(path)?;
        let mut file = FrameFile::open(&path)?;
        let frame = read_elements(&mut file)?;
        let mut of_cells = |name: &str| -> Result<Vec<f64>, OutputError> {
            let values = file.floats(name)?.unwrap_or_default();
            match values.len() {
                0 => Ok(values),
                n if n == frame.cell_body.len() => Ok(values),
                _ => Err(file.damaged(format!("the array '{name}' is truncated"))),
            }
        };
        let (thickness, radius) = (of_cells("thickness")?, of_cells("radius")?);
        if let Some(body) = frame.cell_body.iter().find(|b| **b as usize >= info.bodies.len()) {
            return Err(file.damaged(format!("there is no body {body} in run.json")).into());
        }
        Ok(Self {
            generation,
            info,
            skin: Skin::new(&frame),
            thickness,
            radius,
            vertices: frame.positions.len(),
            cell_body: frame.cell_body,
            first_frame: path,
            gaps: OnceLock::new(),
        })
    }

    /// Values of the visible cells.
    fn of_cells<'a, T>(&'a self, values: &'a [T]) -> impl Iterator<Item = &'a T> {
        self.skin.cells.iter().map(|c| &values[*c as usize])
    }

    fn gaps(&self) -> Result<&Gaps, RequestError> {
        let gaps = self.gaps.get_or_init(|| {
            let mut file = FrameFile::open(&self.first_frame).map_err(|e| e.to_string())?;
            let frame = read_elements(&mut file).map_err(|e| e.to_string())?;
            Gaps::new(&self.info, &frame)
        });
        let damaged = |what: &String| OutputError::Damaged {
            path: PathBuf::from("run.json"),
            what: what.clone(),
        };
        gaps.as_ref().map_err(|what| damaged(what).into())
    }
}

fn internal(error: serde_json::Error) -> RequestError {
    RequestError::Internal(error.to_string())
}
