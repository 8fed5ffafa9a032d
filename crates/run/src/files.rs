//! The files of a run and their names.

use crate::OutputError;
use crate::atomic::is_temporary;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Files of a run in its folder; folders hold numbered files of the extension.
const FILES: [&str; 7] =
    ["run.json", "run.pvd", "carried.pvd", STATS, RESOLVED, "failure.vtu", "failure.json"];
const FOLDERS: [(&str, &str); 5] = [
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
pub(crate) fn is_whole(path: &Path) -> bool {
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
