//! The report of a failed step with the places of its culprits.

use crate::error::RequestError;
use serde::{Deserialize, Serialize};
use standoff_run::{FrameFile, OutputError, read_text};
use std::path::{Path, PathBuf};

/// `failure.json`, and of `failure.vtu` where each culprit is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The step that failed.
    step: u64,
    message: String,
    last_good_step: u64,
    /// s
    last_good_time: f64,
    culprits: Vec<Culprit>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Culprit {
    what: String,
    bodies: Vec<String>,
    gap: Option<f64>,
    volume_ratio: Option<f64>,
    #[serde(default, skip_deserializing)]
    primitives: Vec<Primitive>,
}

/// A vertex, an edge, a triangle or a tetrahedron.
#[derive(Debug, Serialize)]
struct Primitive {
    /// Index of the body.
    body: u32,
    /// Indices within the body.
    vertices: Vec<u32>,
    /// At the last iterate, m.
    positions: Vec<[f64; 3]>,
}

/// Reads `failure.json`; `grid` finds `failure.vtu`.
pub(crate) fn read(
    path: &Path,
    grid: impl FnOnce() -> Result<PathBuf, RequestError>,
) -> Result<Failure, RequestError> {
    let path = path.to_owned();
    let text =
        read_text(&path).map_err(|source| OutputError::Read { path: path.clone(), source })?;
    let mut failure: Failure = serde_json::from_str(&text)
        .map_err(|e| OutputError::Damaged { path, what: e.to_string() })?;
    // there is none where there are no culprits
    if !failure.culprits.is_empty() {
        place(&mut FrameFile::open(&grid()?)?, &mut failure.culprits)?;
    }
    Ok(failure)
}

fn place(file: &mut FrameFile, culprits: &mut [Culprit]) -> Result<(), OutputError> {
    let points = file.vectors("points")?.unwrap_or_default();
    let (vertex, connectivity) = (file.indices("vertex")?, file.indices("connectivity")?);
    let (offsets, body, culprit) =
        (file.indices("offsets")?, file.indices("body")?, file.indices("culprit")?);
    let mut start = 0;
    for ((end, body), culprit) in offsets.into_iter().zip(body).zip(culprit) {
        let cell = connectivity.get(start as usize..end as usize).unwrap_or_default();
        start = end;
        let corner = |k: &u32| Some((*vertex.get(*k as usize)?, *points.get(*k as usize)?));
        let corners: Option<Vec<_>> = cell.iter().map(corner).collect();
        let (Some(corners), Some(culprit)) = (corners, culprits.get_mut(culprit as usize)) else {
            return Err(file.damaged("it does not fit failure.json".into()));
        };
        culprit.primitives.push(Primitive {
            body,
            vertices: corners.iter().map(|(v, _)| *v).collect(),
            positions: corners.iter().map(|(_, p)| (*p).into()).collect(),
        });
    }
    Ok(())
}
