//! Progress of a run: a bar on a terminal, a line now and then elsewhere.

use crate::output::Console;
use indicatif::{ProgressBar, ProgressStyle};
use standoff_sim::report::StepReport;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows how far a run is.
pub enum Progress {
    /// A bar on a terminal.
    Bar(ProgressBar),
    /// Lines, at most one per second.
    Lines {
        /// Number of steps.
        total: u64,
        /// Steps done before.
        done: u64,
        /// When the run began.
        start: Instant,
        /// When the last line was printed.
        last: Option<Instant>,
    },
}

impl Progress {
    /// Begins to show a run of `total` steps, of which some are `done`.
    pub fn start(done: u64, total: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines { total, done, start: Instant::now(), last: None };
        }
        let bar = ProgressBar::new(total).with_position(done);
        let template = "{bar:30} step {pos}/{len}  {elapsed_precise} (ETA {eta_precise})  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self::Bar(bar)
    }

    /// Shows a step.
    pub fn step(&mut self, report: &StepReport, console: &mut Console) {
        match self {
            Self::Bar(bar) => {
                bar.set_message(describe(report));
                bar.set_position(report.step);
            }
            Self::Lines { total, done, start, last } => {
                let due = last.is_none_or(|t| t.elapsed() >= Duration::from_secs(1));
                if due || report.step == *total {
                    let elapsed = start.elapsed().as_secs_f64();
                    let per_step = elapsed / report.step.saturating_sub(*done).max(1) as f64;
                    let eta = per_step * total.saturating_sub(report.step) as f64;
                    let step = report.step;
                    let what = describe(report);
                    console.say(format_args!(
                        "step {step}/{total}, {what}, {elapsed:.1} s, ETA {eta:.0} s"
                    ));
                    *last = Some(Instant::now());
                }
            }
        }
    }

    /// Ends the display.
    pub fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn describe(report: &StepReport) -> String {
    let contacts = report.contacts;
    let iterations = report.newton_iterations;
    let mut text = format!("t {:.4} s, {iterations} iterations, {contacts} contacts", report.time);
    if !report.outcome.is_success() {
        text.push_str(&format!(" ({})", report.outcome.describe()));
    }
    if report.fallback.is_some() {
        text.push_str(" (finished by the barrier)");
    }
    text
}
