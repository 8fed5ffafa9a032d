//! How a run ended.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// How a run ended, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All steps, each converged to the tolerance.
    Converged,
    /// Stopped with a reason that names the objects involved.
    Named,
    /// All steps, but one ended above the tolerance, with a reason that names the objects involved.
    UnmetNamed,
    /// All steps, but one ended above the tolerance without such a reason.
    Unmet,
    /// Stopped by the limit of CPU seconds.
    TimeLimit,
    /// The scene was refused before its first step.
    Refused,
    /// Stopped with a reason that names no object.
    Unnamed,
    /// In a step that claims to have converged the forces on a body do not balance.
    Unbalanced,
    /// A figure of a step is no number, or κ is above its bound.
    Wrong,
    /// A panic, an abort or an unknown exit code.
    Crash,
    /// A frame breaks a promise.
    Violation,
}

impl Outcome {
    /// All, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::Converged,
        Self::Named,
        Self::UnmetNamed,
        Self::TimeLimit,
        Self::Refused,
        Self::Unmet,
        Self::Unnamed,
        Self::Unbalanced,
        Self::Wrong,
        Self::Crash,
        Self::Violation,
    ];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Converged => "every step converged to the tolerance",
            Self::Named => "stopped with a reason that names the objects involved",
            Self::UnmetNamed => {
                "completed, with a step above the tolerance and a reason that names the objects involved"
            }
            Self::Unmet => "completed, with a step above the tolerance and no such reason",
            Self::TimeLimit => "stopped at the limit of time",
            Self::Refused => "refused before the first step",
            Self::Unnamed => "stopped with a reason that names no object",
            Self::Unbalanced => "forces do not balance in a step that is called converged",
            Self::Wrong => "a figure is no number, or κ is above its bound",
            Self::Crash => "panic or crash",
            Self::Violation => "violation",
        }
    }

    /// Whether something is wrong with the program: every scene has to end at the tolerance, for a reason that names
    /// the objects involved, at the limit of time, or before it begins.
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Self::Unmet
                | Self::Unnamed
                | Self::Unbalanced
                | Self::Wrong
                | Self::Crash
                | Self::Violation
        )
    }
}

/// What a finished process left: its exit code or signal, what it printed, and its folder.
#[derive(Debug)]
pub struct Ending<'a> {
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Whether it was stopped for its CPU time.
    pub out_of_time: bool,
    /// Standard error.
    pub stderr: &'a str,
    /// Folder of the run.
    pub folder: &'a Path,
    /// Diagonal of the box of all bodies that move at rest, m, of which tolerances are a part.
    pub length: f64,
}

impl Ending<'_> {
    /// The outcome, and the sentence that goes with it.
    pub fn judge(&self) -> (Outcome, String) {
        let message = self.stderr.trim().lines().last().unwrap_or_default().to_owned();
        if self.stderr.contains("panicked at") {
            return (Outcome::Crash, self.stderr.trim().to_owned());
        }
        match self.code {
            _ if self.out_of_time => (Outcome::TimeLimit, message),
            Some(0 | 1) => self.of_steps(message),
            Some(2) => (Outcome::Refused, self.stderr.trim().to_owned()),
            code => (Outcome::Crash, format!("exit code {code:?}: {message}")),
        }
    }

    fn of_steps(&self, message: String) -> (Outcome, String) {
        if let Ok(text) = std::fs::read_to_string(self.folder.join("failure.json")) {
            return self.of_failure(&text, message);
        }
        match self.unmet() {
            Ok(None) if self.code == Some(0) => (Outcome::Converged, String::new()),
            Ok(None) => (Outcome::Unnamed, message),
            Ok(Some((step, named))) => {
                (if named { Outcome::UnmetNamed } else { Outcome::Unmet }, step)
            }
            Err(e) => (Outcome::Crash, e),
        }
    }

    /// A step that could not go on: named, if a culprit or the sentence names a body.
    fn of_failure(&self, text: &str, message: String) -> (Outcome, String) {
        let failure: serde_json::Value = match serde_json::from_str(text) {
            Ok(failure) => failure,
            Err(e) => return (Outcome::Crash, format!("failure.json: {e}")),
        };
        let sentence = failure["message"].as_str().unwrap_or(&message).to_owned();
        if sentence.contains("violation") {
            return (Outcome::Violation, sentence);
        }
        let culprits = failure["culprits"].as_array().is_some_and(|c| !c.is_empty());
        let named = culprits || sentence.contains('\'');
        (if named { Outcome::Named } else { Outcome::Unnamed }, sentence)
    }

    /// The first step that did not converge to the tolerance, in words, and whether they name a body.
    fn unmet(&self) -> Result<Option<(String, bool)>, String> {
        let read = |name: &str| {
            let path = self.folder.join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        let scene: toml::Table = read("scene.resolved.toml")?
            .parse()
            .map_err(|e| format!("scene.resolved.toml: {e}"))?;
        let end = scene.get("solver").and_then(|s| s.get("end"));
        let of = |key: &str| end.and_then(|e| e.get(key)?.as_float());
        let relative = of("velocity_relative").map(|r| r * self.length);
        let tolerance = of("velocity").or(relative).ok_or("no tolerance in the scene")?;
        for line in read("stats.jsonl")?.lines() {
            let step: serde_json::Value =
                serde_json::from_str(line).map_err(|e| format!("stats.jsonl: {e}"))?;
            let (outcome, residual) = (step["outcome"].as_str(), step["residual_speed"].as_f64());
            let met = residual.is_some_and(|r| r <= tolerance * (1.0 + 1e-9));
            if outcome != Some("converged") || !met {
                let of = format!("step {}: {}", step["step"], outcome.unwrap_or("no outcome"));
                let place = step["unmet"].as_str().unwrap_or_default();
                // a step that claims to have converged is no outcome with a reason
                let named = outcome != Some("converged") && place.contains('\'');
                let text =
                    format!("{of}, residual {residual:?}, tolerance {tolerance:.3e} m/s; {place}");
                return Ok(Some((text, named)));
            }
        }
        Ok(None)
    }
}
