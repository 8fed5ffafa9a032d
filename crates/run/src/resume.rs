//! Finds where a run can go on.

use crate::OutputError;
use crate::checkpoint::{Checkpoint, read_checkpoint};
use crate::files::{CHECKPOINTS, STATS, numbered, open_file};
use standoff_sim::report::StepReport;
use std::io;
use std::path::Path;

/// Where a run can go on.
#[derive(Debug, Clone)]
pub struct ResumePoint {
    /// The newest checkpoint that is of use.
    pub checkpoint: Checkpoint,
    /// Steps of all checkpoints up to it, ascending.
    pub generations: Vec<u64>,
    /// Reports of the steps up to it.
    pub reports: Vec<StepReport>,
    /// Length of their lines in `stats.jsonl`, bytes.
    pub stats_length: u64,
    /// What was wrong with newer checkpoints.
    pub notes: Vec<String>,
}

impl ResumePoint {
    /// Looks for the newest checkpoint of the definition with this fingerprint (see
    /// [`fingerprint`](crate::fingerprint)). Changes nothing.
    ///
    /// # Errors
    /// [`OutputError::NoCheckpoint`] with what is wrong with each.
    pub fn find(folder: &Path, fingerprint: u64) -> Result<Self, OutputError> {
        let none = |what: String| OutputError::NoCheckpoint { path: folder.to_owned(), what };
        let mut files = numbered(&folder.join(CHECKPOINTS), "ckpt");
        if files.is_empty() {
            return Err(none(
                "it holds no checkpoint (output.checkpoint_every = 0, or stopped before the first \
                 one); start it again with `standoff run`, with --force if it has done steps"
                    .into(),
            ));
        }
        let path = folder.join(STATS);
        let stats = match open_file(&path).and_then(io::read_to_string) {
            // a run can continue from its start without any line
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(OutputError::read(&path))?,
        };
        let mut notes = Vec::new();
        while let Some((step, path)) = files.pop() {
            let read = read_checkpoint(&path, fingerprint).map_err(|e| e.to_string());
            match read.and_then(|c| Ok((reports(&stats, c.state.step as u64)?, c))) {
                Ok(((reports, stats_length), checkpoint)) => {
                    let generations = files.iter().map(|f| f.0).chain([step]).collect();
                    return Ok(Self { checkpoint, generations, reports, stats_length, notes });
                }
                Err(problem) => notes.push(problem),
            }
        }
        Err(none(format!("no checkpoint can be used: {}", notes.join("; "))))
    }
}

/// The first `steps` reports and the length of their lines.
fn reports(stats: &str, steps: u64) -> Result<(Vec<StepReport>, u64), String> {
    let (mut all, mut length) = (Vec::new(), 0);
    for (step, line) in (1..=steps).zip(stats.split_inclusive('\n')) {
        let report: Option<StepReport> = serde_json::from_str(line).ok();
        let Some(report) = report.filter(|r| r.step == step && line.ends_with('\n')) else { break };
        all.push(report);
        length += line.len() as u64;
    }
    if all.len() as u64 == steps {
        return Ok((all, length));
    }
    let next = all.len() + 1;
    Err(format!("stats.jsonl has no line for step {next} of the {steps} before the checkpoint"))
}
