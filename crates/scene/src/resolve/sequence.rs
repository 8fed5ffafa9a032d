//! Positions at the end of every step, from a folder of meshes or from a file with time samples.

use super::at::At;
use super::placed::Placed;
use super::quadratic;
use crate::error::{Problem, SceneError};
use crate::file::MotionSection;
use standoff_linalg::Vec3;
use standoff_mesh::format;
use std::path::{Path, PathBuf};

/// Bytes of all positions of a sequence at most.
const MOST: f64 = 2e9;

/// Positions of the vertices of an object at the end of every step.
pub(super) struct Sequence {
    /// The absolute path of the folder or file.
    pub path: String,
    /// Positions of all vertices, in steps.
    frames: Vec<Vec<Vec3>>,
    /// Whether they are placed as the mesh is, instead of standing in the scene.
    is_placed: bool,
}

impl Sequence {
    /// The frames of some vertices of a copy.
    pub fn of(&self, placed: &Placed, copy: usize, vertices: &[u32]) -> Vec<Vec<Vec3>> {
        let offset = placed.copies.get(copy).map_or(Vec3::zeros(), |c| c.offset);
        let pick = |x: &Vec<Vec3>| {
            let own: Vec<Vec3> = vertices.iter().map(|v| x[*v as usize]).collect();
            if self.is_placed { placed.place(&own, &offset) } else { own }
        };
        self.frames.iter().map(pick).collect()
    }
}

/// Reads the sequence of a motion, if it has one; `step` is the time step, s.
pub(super) fn read(
    section: &MotionSection,
    at: &At<'_>,
    placed: &Placed,
    folder: &Path,
    step: f64,
) -> Result<Option<Sequence>, SceneError> {
    let Some(written) = &section.sequence else { return Ok(None) };
    let at = at.key("sequence");
    let formulas = section.translation.is_some() || section.rotation.is_some();
    if formulas || section.velocity != [0.0; 3] || section.angular_velocity != [0.0; 3] {
        return Err(at.invalid(
            "a sequence excludes `velocity`, `angular_velocity`, `translation` and `rotation`",
        ));
    }
    let path = folder.join(written);
    let is_placed = path.is_file();
    let frames = match is_placed {
        true => sampled(&path, step, &at, placed)?,
        false => folder_of_meshes(&path, &at, placed)?,
    };
    Ok(Some(Sequence { path: path.to_string_lossy().into_owned(), frames, is_placed }))
}

/// Positions of a file with time samples at the end of every step up to the first after its last sample.
fn sampled(
    path: &Path,
    step: f64,
    at: &At<'_>,
    placed: &Placed,
) -> Result<Vec<Vec<Vec3>>, SceneError> {
    let wrong = |e: standoff_mesh::MeshError| at.error(Problem::Mesh(e.to_string()));
    let Some(motion) = format::animation(path).map_err(wrong)? else {
        let what = format!(
            "{} is no USD file in which points or transforms have different time samples; give \
             one, or a folder of meshes",
            path.display()
        );
        return Err(at.invalid(what));
    };
    let steps = (motion.end() / step * (1.0 - 1e-12)).ceil().max(1.0);
    let copies = placed.copies.len().max(1) as f64;
    let bytes = 24.0 * steps * placed.mesh.points.len() as f64 * (1.0 + copies);
    if bytes > MOST {
        let what = format!(
            "its {} s are {steps} steps of {} vertices in {copies} copies: {:.1} GB of positions, of which {:.1} GB \
             are kept; take a larger time step, a coarser mesh or fewer seconds, or move it by `translation` \
             and `rotation`",
            motion.end(),
            placed.mesh.points.len(),
            bytes / 1e9,
            MOST / 1e9
        );
        return Err(at.invalid(what));
    }
    (1..=steps as u64)
        .map(|k| {
            let points = motion.at(k as f64 * step).map_err(wrong)?;
            reduced(points, path, at, placed)
        })
        .collect()
}

/// The positions of a file without the points that the object lacks.
fn reduced(
    points: Vec<Vec3>,
    file: &Path,
    at: &At<'_>,
    placed: &Placed,
) -> Result<Vec<Vec3>, SceneError> {
    let corners = placed.mesh.points.len() - placed.added.len();
    let expected = placed.kept.as_ref().map_or(corners, |k| k.total);
    if points.len() != expected {
        let found = points.len();
        let what = format!("{} has {found} vertices, the object has {expected}", file.display());
        return Err(at.invalid(what));
    }
    let mut points = match &placed.kept {
        None => points,
        Some(kept) => kept.old.iter().map(|v| points[*v as usize]).collect(),
    };
    quadratic::extend(&mut points, &placed.added);
    Ok(points)
}

/// Positions of the meshes `0.obj`, `1.obj`, … of a folder.
fn folder_of_meshes(
    path: &Path,
    at: &At<'_>,
    placed: &Placed,
) -> Result<Vec<Vec<Vec3>>, SceneError> {
    let entries = std::fs::read_dir(path)
        .map_err(|e| at.invalid(format!("cannot read the folder {}: {e}", path.display())))?;
    let mut files: Vec<(u64, PathBuf)> = entries
        .filter_map(|entry| {
            let file = entry.ok()?.path();
            Some((file.file_stem()?.to_str()?.parse().ok()?, file))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        let what = format!("{} holds no meshes named 0.obj, 1.obj, …", path.display());
        return Err(at.invalid(what));
    }
    let mut frames = Vec::with_capacity(files.len());
    for (k, (number, file)) in files.iter().enumerate() {
        if *number != k as u64 {
            let what = format!("{} has no mesh number {k}, but {number}", path.display());
            return Err(at.invalid(what));
        }
        let mesh = format::read(file).map_err(|e| at.error(Problem::Mesh(e.to_string())))?;
        frames.push(reduced(mesh.points, file, at, placed)?);
    }
    Ok(frames)
}
