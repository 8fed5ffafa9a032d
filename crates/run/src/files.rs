//! The files of a run and their names.

use crate::OutputError;
use crate::atomic::is_temporary;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files of a run in its folder; folders hold numbered files of the extension.
const FILES: [&str; 7] =
    ["run.json", "run.pvd", "carried.pvd", STATS, RESOLVED, "failure.vtu", "failure.json"];
pub(crate) const FOLDERS: [(&str, &str); 5] = [
    ("frames", "vtu"),
    ("surface", "obj"),
    (CARRIED, "vtu"),
    (CHECKPOINTS, "ckpt"),
    (MESHES, "vtu"),
];
/// Surfaces that ride along with bodies.
pub(crate) const CARRIED: &str = "carried";
/// Meshes of scenes that were built in memory.
pub(crate) const MESHES: &str = "scene.meshes";
pub(crate) const STATS: &str = "stats.jsonl";
pub(crate) const RESOLVED: &str = "scene.resolved.toml";
pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// The scene of a run with all that was overridden, as a scene file. If [`RunInfo::source`](crate::RunInfo::source) is given,
/// the exact definition comes from there.
pub fn scene_file(folder: &Path) -> PathBuf {
    folder.join(RESOLVED)
}

/// The same for a run that is to go on: the file is there.
///
/// # Errors
/// [`OutputError::NoRun`] where the run was stopped before it was written.
pub fn existing_scene_file(folder: &Path) -> Result<PathBuf, OutputError> {
    let path = scene_file(folder);
    match path.exists() {
        true => Ok(path),
        false => Err(OutputError::NoRun {
            path: folder.to_owned(),
            what: format!(
                "it has no {RESOLVED} (a run that was stopped before its first step is started again by `standoff run`)"
            ),
        }),
    }
}

/// Opens a file of a run for reading. What is no regular file is refused: a pipe would keep the reader waiting without end, and
/// a device may have no end.
///
/// # Errors
/// What the system says.
pub fn open_file(path: &Path) -> io::Result<File> {
    let special = || io::Error::other("it is no regular file");
    // before it is opened, because to open a pipe is to wait for its writer; and of what was opened
    if !fs::metadata(path)?.is_file() {
        return Err(special());
    }
    let file = File::open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(special()) }
}

/// The longest text that is read, bytes: `run.json` has some hundred for each body.
const LONGEST_TEXT: u64 = 256 << 20;

/// Reads a file of a run that is text.
///
/// # Errors
/// What the system says; it is not UTF-8, no regular file, or longer than any that a run writes.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_file(path)?.take(LONGEST_TEXT + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST_TEXT {
        true => Err(io::Error::other(format!("it is longer than {LONGEST_TEXT} bytes"))),
        false => Ok(text),
    }
}

/// Refuses a folder in which a part of a run is a link: what is written to it would be written elsewhere, perhaps to another
/// run. The folder itself may be one, since the user named it.
pub(crate) fn refuse_links(folder: &Path) -> Result<(), OutputError> {
    for name in FILES.into_iter().chain(FOLDERS.map(|(name, _)| name)) {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|m| m.is_symlink()) {
            let target = fs::read_link(&path).unwrap_or_default();
            return Err(OutputError::Linked { path, target });
        }
    }
    Ok(())
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

pub(crate) fn existing_run(folder: &Path) -> Option<String> {
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

/// Removes the files of a run but for those in `kept`, which are absolute.
pub(crate) fn remove_run(folder: &Path, kept: &[&Path]) -> Result<(), OutputError> {
    let mut doomed: Vec<PathBuf> = FILES.iter().map(|f| folder.join(f)).collect();
    for (name, extension) in FOLDERS {
        let entries = fs::read_dir(folder.join(name)).into_iter().flatten();
        let files = entries.filter_map(|e| Some(e.ok()?.path()));
        doomed.extend(files.filter(|f| number_of(f, extension).is_some()));
    }
    doomed.extend(leavings(folder));
    doomed.retain(|f| !std::path::absolute(f).is_ok_and(|f| kept.contains(&f.as_path())));
    remove_all(doomed)
}

/// Removes frames and surfaces but those of the steps `frames`, checkpoints but those of
/// `generations`, the report of a failure and unfinished files.
pub(crate) fn remove_after(
    folder: &Path,
    frames: &[u64],
    generations: &[u64],
) -> Result<(), OutputError> {
    let mut doomed = vec![folder.join("failure.vtu"), folder.join("failure.json")];
    for (name, extension) in FOLDERS.into_iter().filter(|(name, _)| *name != MESHES) {
        let kept = if name == CHECKPOINTS { generations } else { frames };
        let files = numbered(&folder.join(name), extension);
        doomed.extend(files.into_iter().filter(|(n, _)| !kept.contains(n)).map(|(_, f)| f));
    }
    doomed.extend(leavings(folder));
    remove_all(doomed)
}

/// Removes the files that a process was about to write when it was killed.
pub(crate) fn remove_leavings(folder: &Path) -> Result<(), OutputError> {
    remove_all(leavings(folder))
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

/// Steps of the frames that `run.pvd` lists, ascending; none without a readable list.
pub(crate) fn listed_frames(folder: &Path) -> Vec<u64> {
    let list = read_text(&folder.join("run.pvd")).unwrap_or_default();
    let names = list.split("file=\"frames/").skip(1).filter_map(|rest| rest.split('"').next());
    names.filter_map(|name| number_of(Path::new(name), "vtu")).collect()
}

/// The file of a frame.
pub(crate) fn frame_file(folder: &Path, step: u64) -> PathBuf {
    folder.join("frames").join(format!("{step:06}.vtu"))
}
