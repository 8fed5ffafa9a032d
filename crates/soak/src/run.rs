//! Running a scene by the command and checking what it left.

use crate::balance::Balance;
use crate::check::{Surface, check};
use crate::frame::{Frame, Info, frames};
use crate::numbers::{violated, wrong};
use crate::outcome::{Ending, Outcome};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::Instant;

/// The command, and how it is run.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The `standoff` command.
    pub standoff: PathBuf,
    /// CPU seconds of one run at most.
    pub limit: u64,
    /// Values that replace those of the scenes, as `KEY=VALUE`.
    pub set: Vec<String>,
}

/// A run and how it ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Seed of the scene.
    pub seed: u64,
    /// `barrier` or `barrier-free`.
    pub solver: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The reason, or what is wrong.
    pub message: String,
    /// Steps done.
    pub steps: u64,
    /// Newton iterations of these steps.
    pub iterations: u64,
    /// Steps that the barrier solver finished after the barrier-free solver had begun them.
    pub fallbacks: u64,
    /// Most contacts.
    pub contacts: u64,
    /// Frames that were checked.
    pub frames: u64,
    /// Bodies whose momentum was balanced by an independent sum of forces, summed over the steps that are called converged.
    pub balanced: u64,
    /// The greatest part of the forces on one of them that was missing.
    pub imbalance: f64,
    /// Wall seconds of the run.
    pub seconds: f64,
}

impl Runner {
    fn command(&self) -> Command {
        // the shell sets the limit for the process that it becomes
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -t \"$0\"; exec \"$@\"", &self.limit.to_string()]);
        command.arg(&self.standoff);
        command
    }

    /// Runs a scene file into a folder and checks every frame, by the audit and independently of it.
    pub fn run(&self, seed: u64, scene: &Path, folder: &Path, solver: &str) -> Record {
        let start = Instant::now();
        let mut command = self.command();
        command.arg("run").arg(scene).arg("-o").arg(folder);
        command.args(["--quiet", "--force", "--threads", "1", "--solver", solver]);
        for set in &self.set {
            command.args(["--set", set]);
        }
        let output = command.output();
        let seconds = start.elapsed().as_secs_f64();
        let (mut outcome, mut message) = match &output {
            Ok(output) => judge(output, folder, length(folder)),
            Err(e) => (Outcome::Crash, format!("sh: {e}")),
        };
        let mut checked = 0;
        match self.check(folder, outcome) {
            Ok(count) => checked = count,
            Err(found) => (outcome, message) = (Outcome::Violation, found),
        }
        let mut balance = Balance::default();
        match figures(folder, outcome) {
            Ok(found) => balance = found,
            Err(found) => (outcome, message) = found,
        }
        let stats = std::fs::read_to_string(folder.join("stats.jsonl")).unwrap_or_default();
        let steps: Vec<serde_json::Value> =
            stats.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
        let number = |step: &serde_json::Value, key: &str| step[key].as_u64().unwrap_or(0);
        Record {
            seed,
            solver: solver.into(),
            outcome,
            message,
            steps: steps.len() as u64,
            iterations: steps.iter().map(|s| number(s, "newton_iterations")).sum(),
            fallbacks: steps.iter().filter(|s| s["fallback"].is_string()).count() as u64,
            contacts: steps.iter().map(|s| number(s, "max_contacts")).max().unwrap_or(0),
            frames: checked,
            balanced: balance.checked,
            imbalance: balance.worst,
            seconds,
        }
    }

    /// Number of frames that both checks passed, or the first finding.
    fn check(&self, folder: &Path, outcome: Outcome) -> Result<u64, String> {
        if !folder.join("run.json").exists() {
            return Ok(0);
        }
        let info = Info::read(folder)?;
        let files = frames(folder);
        let mut surface = None;
        for path in &files {
            let frame = Frame::read(path)?;
            let surface = surface.get_or_insert_with(|| Surface::new(&frame, &info));
            if let Some(found) = check(&frame, &info, surface).first() {
                return Err(format!("{}: {found}", path.display()));
            }
        }
        // a run that was killed may lack its last files
        if !files.is_empty() && outcome != Outcome::TimeLimit {
            let audit = self.command().arg("audit").arg(folder).args(["--threads", "1"]).output();
            let audit = audit.map_err(|e| format!("audit: {e}"))?;
            if !audit.status.success() {
                let said = String::from_utf8_lossy(&audit.stderr).trim().to_owned();
                let printed = String::from_utf8_lossy(&audit.stdout).trim().to_owned();
                return Err(format!("audit: {said} {printed}"));
            }
        }
        Ok(files.len() as u64)
    }
}

/// The balance of the bodies of a run, whose figures are all numbers, or what is wrong with them.
fn figures(folder: &Path, outcome: Outcome) -> Result<Balance, (Outcome, String)> {
    let Ok(stats) = std::fs::read_to_string(folder.join("stats.jsonl")) else {
        return Ok(Balance::default());
    };
    if outcome.is_fault() {
        return Ok(Balance::default());
    }
    if let Some(found) = wrong(&stats) {
        return Err((Outcome::Wrong, found));
    }
    let scene = std::fs::read_to_string(folder.join("scene.resolved.toml")).unwrap_or_default();
    if let Some(found) = scene.parse().ok().and_then(|scene| violated(&stats, &scene)) {
        return Err((Outcome::Violation, found));
    }
    match Balance::of_run(folder) {
        Ok(found) if found.unbalanced > 0 => Err((Outcome::Unbalanced, found.place)),
        Ok(found) => Ok(found),
        // a run that was killed may lack its last files
        Err(_) if outcome == Outcome::TimeLimit => Ok(Balance::default()),
        Err(e) => Err((Outcome::Crash, e)),
    }
}

/// The signal that ended a process.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// None where there are no signals.
#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Diagonal of the box of all bodies that move at rest, m, or the thickness of a single particle; NaN where no frame was
/// written.
fn length(folder: &Path) -> f64 {
    let first = frames(folder).into_iter().next().and_then(|path| Frame::read(&path).ok());
    let (Some(frame), Ok(info)) = (first, Info::read(folder)) else { return f64::NAN };
    let mut range = [(f64::INFINITY, f64::NEG_INFINITY); 3];
    for body in info.bodies.iter().filter(|b| !b.obstacle) {
        for x in &frame.rest[body.first_vertex..body.first_vertex + body.vertices] {
            for (range, c) in range.iter_mut().zip(x) {
                *range = (range.0.min(*c), range.1.max(*c));
            }
        }
    }
    let diagonal = range.iter().map(|(low, high)| (high - low).powi(2)).sum::<f64>().sqrt();
    let thick = info.bodies.iter().filter(|b| !b.obstacle).map(|b| b.contact_thickness);
    if diagonal > 0.0 { diagonal } else { thick.fold(0.0, f64::max) }
}

fn judge(output: &Output, folder: &Path, length: f64) -> (Outcome, String) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    // SIGXCPU, or SIGKILL where that was ignored
    let out_of_time =
        matches!(signal(output.status), Some(24 | 9)) || output.status.code() == Some(152);
    Ending { code: output.status.code(), out_of_time, stderr: &stderr, folder, length }.judge()
}
