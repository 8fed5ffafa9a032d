//! The report of a failed step: its culprits as a small VTU and as JSON.

use crate::vtu::{Array, LINE, TET, TRIANGLE, VERTEX, write_grid};
use crate::{OutputError, write_atomically};
use serde_json::json;
use standoff_linalg::Vec3;
use standoff_sim::{Diagnosis, Model};
use std::path::Path;

/// A failed step.
#[derive(Debug, Clone, Copy)]
pub struct FailureData<'a> {
    /// Steps done before.
    pub step: u64,
    /// Time then, s.
    pub time: f64,
    /// Why the next one failed.
    pub message: &'a str,
    /// What is involved.
    pub diagnosis: &'a Diagnosis,
    /// The model, which knows the bodies.
    pub model: &'a Model,
}

/// Writes `failure.json` and, where there are culprits, `failure.vtu` to a folder. The cells are the
/// culprits' primitives at the last iterate; a number that a cell does not have is NaN.
pub fn write_failure(folder: &Path, failure: &FailureData<'_>) -> Result<(), OutputError> {
    write_report(folder, failure)?;
    match failure.diagnosis.culprits.is_empty() {
        true => Ok(()),
        false => write_primitives(folder, failure),
    }
}

fn write_report(folder: &Path, failure: &FailureData<'_>) -> Result<(), OutputError> {
    let FailureData { model, diagnosis, .. } = failure;
    let culprits: Vec<_> = diagnosis
        .culprits
        .iter()
        .map(|c| {
            let primitives = c.primitives();
            let bodies = primitives.iter().filter_map(|p| p.first());
            let bodies: Vec<&str> = bodies.map(|v| model.locate(*v).0.name.as_str()).collect();
            json!({
                "what": c.describe(model),
                "bodies": bodies,
                "gap": c.gap(),
                "volume_ratio": c.volume_ratio(),
            })
        })
        .collect();
    let report = json!({
        "step": failure.step + 1,
        "message": failure.message,
        "last_good_step": failure.step,
        "last_good_time": failure.time,
        "culprits": culprits,
    });
    write_atomically(&folder.join("failure.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)
    })
}

// long: an array for each field of a cell
fn write_primitives(folder: &Path, failure: &FailureData<'_>) -> Result<(), OutputError> {
    let FailureData { model, diagnosis, .. } = failure;
    // an angle of a rod or of a shell's edge is shown where its segment begins
    let vertex_of = |v: u32| {
        let (body, local) = model.locate(v);
        (body.vertices.start + local as usize, local, body)
    };
    let body = |v: u32| {
        let first = vertex_of(v).2.vertices.start;
        model.bodies.partition_point(|b| b.vertices.end <= first)
    };
    let (mut points, mut vertex): (Vec<Vec3>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut kinds, mut offsets, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    let (mut numbers, mut gaps, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for (k, culprit) in diagnosis.culprits.iter().enumerate() {
        for primitive in culprit.primitives() {
            points.extend(primitive.iter().map(|v| diagnosis.x[vertex_of(*v).0]));
            vertex.extend(primitive.iter().map(|v| vertex_of(*v).1));
            kinds.push([VERTEX, LINE, TRIANGLE, TET][primitive.len().clamp(1, 4) - 1]);
            offsets.push(points.len() as u32);
            bodies.push(primitive.first().map_or(0, |v| body(*v) as u32));
            numbers.push(k as u32);
            gaps.push(culprit.gap().unwrap_or(f64::NAN));
            ratios.push(culprit.volume_ratio().unwrap_or(f64::NAN));
        }
    }
    let connectivity: Vec<u32> = (0..points.len() as u32).collect();
    let (times, cells) = ([failure.time], kinds.len());
    let sections = [
        ("FieldData", vec![("TimeValue", Array::Scalars(&times, 0))]),
        ("PointData", vec![("vertex", Array::Indices(&vertex))]),
        (
            "CellData",
            vec![
                ("body", Array::Indices(&bodies)),
                ("culprit", Array::Indices(&numbers)),
                ("gap", Array::Scalars(&gaps, 0)),
                ("volume_ratio", Array::Scalars(&ratios, 0)),
            ],
        ),
        ("Points", vec![("points", Array::Vectors(&points))]),
        (
            "Cells",
            vec![
                ("connectivity", Array::Indices(&connectivity)),
                ("offsets", Array::Indices(&offsets)),
                ("types", Array::Bytes(&kinds)),
            ],
        ),
    ];
    write_atomically(&folder.join("failure.vtu"), |out| {
        write_grid(out, &sections, points.len(), cells)
    })
}
