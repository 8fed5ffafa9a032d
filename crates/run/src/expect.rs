//! Whether a run shows what its scene says that it must show.

use crate::audit::ranges;
use crate::files::{STATS, read_text};
use crate::measured::Measured;
use crate::{OutputError, RunInfo, frame_files, read_frame};
use standoff_scene::Scene;
use standoff_scene::file::{Figure, Quantity, Reference};
use standoff_scene::resolve::{Expectation, When};
use standoff_sim::report::StepReport;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How an expectation was met.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What is expected.
    pub expectation: Expectation,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What was found of each subject, or of the whole scene; empty where nothing was looked at.
    pub found: Vec<Found>,
}

/// What was found of a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its name; empty for the whole scene.
    pub name: String,
    /// The value that decides, SI, with the time at which it was found, s; `None` where there is none.
    pub value: Option<(f64, f64)>,
    /// Whether it is within the bounds.
    pub verdict: Verdict,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Fails,
    /// The run ended before it could be seen.
    Open,
}

/// Looks in the folder of a run of `scene` whether it shows what the scene says.
///
/// # Errors
/// The folder does not hold a run of this scene, or it cannot be read.
pub fn expect(scene: &Scene, folder: &Path) -> Result<Vec<Finding>, OutputError> {
    let all = &scene.expectations;
    let info = RunInfo::read(folder)?;
    let same = info.bodies.iter().map(|b| &b.name);
    if !same.eq(scene.definition.bodies.iter().map(|b| &b.name)) {
        let what = "it belongs to a run of another scene".to_owned();
        return Err(OutputError::Foreign { path: folder.join("run.json"), what });
    }
    let frames = Frames::of(folder, &info)?;
    let reports = reports(folder)?;
    let samples = frames.measure(all)?;
    let steps: Vec<f64> = reports.iter().map(|r| r.time).collect();
    let findings = all.iter().zip(&samples).map(|(expectation, samples)| {
        let judge = |name: &str, times: &[f64], values: &[Option<f64>]| {
            let judge = Judge { expectation, times, values, step: info.time_step };
            let (verdict, value) = judge.judge();
            Found { name: name.to_owned(), value, verdict }
        };
        let of_scene = match expectation.quantity {
            Quantity::OfObject(_) => None,
            Quantity::OfScene(figure) => {
                let values: Vec<Option<f64>> =
                    reports.iter().map(|r| of_report(r, figure)).collect();
                Some(judge("", &steps, &values))
            }
        };
        let subjects = expectation.subjects.iter().zip(samples);
        let of_subjects = subjects.map(|(subject, v)| judge(&subject.name, &frames.times, v));
        let found: Vec<Found> = of_scene.into_iter().chain(of_subjects).collect();
        let verdict = verdict(expectation, &found);
        Finding { expectation: expectation.clone(), verdict, found }
    });
    Ok(findings.collect())
}

/// Whether enough subjects are within the bounds.
fn verdict(expectation: &Expectation, found: &[Found]) -> Verdict {
    let count = |verdict: Verdict| found.iter().filter(|f| f.verdict == verdict).count();
    let needed = expectation.at_least.unwrap_or(found.len());
    match (count(Verdict::Holds), count(Verdict::Fails)) {
        (holds, _) if holds >= needed => Verdict::Holds,
        (_, fails) if fails + needed > found.len() => Verdict::Fails,
        _ => Verdict::Open,
    }
}

/// The reports of all steps.
fn reports(folder: &Path) -> Result<Vec<StepReport>, OutputError> {
    let path = folder.join(STATS);
    let text = read_text(&path).map_err(OutputError::read(&path))?;
    let lines = text.lines().map(serde_json::from_str);
    let all: Result<Vec<StepReport>, serde_json::Error> = lines.collect();
    all.map_err(|e| OutputError::Damaged { path, what: e.to_string() })
}

/// The frames of a run.
struct Frames<'a> {
    info: &'a RunInfo,
    files: Vec<PathBuf>,
    times: Vec<f64>,
}

/// Values of a subject in the frames; `None` in those that no expectation concerns.
type Samples = Vec<Option<f64>>;

impl<'a> Frames<'a> {
    fn of(folder: &Path, info: &'a RunInfo) -> Result<Self, OutputError> {
        let files = frame_files(folder)?;
        let times = files.iter().map(|(step, _)| *step as f64 * info.time_step).collect();
        Ok(Self { info, times, files: files.into_iter().map(|(_, file)| file).collect() })
    }

    /// The values of all subjects of all expectations, each frame read once, if an expectation concerns it.
    fn measure(&self, all: &[Expectation]) -> Result<Vec<Vec<Samples>>, OutputError> {
        let empty = |e: &Expectation| vec![vec![None; self.times.len()]; e.subjects.len()];
        let mut samples: Vec<Vec<Samples>> = all.iter().map(empty).collect();
        for (k, file) in self.files.iter().enumerate() {
            let looks = |e: &Expectation| {
                let chosen = chosen(e.when, &self.times, self.info.time_step, e.end);
                let reference = match e.relative_to {
                    None => false,
                    Some(Reference::Start) => k == 0,
                    Some(Reference::Greatest) => true,
                };
                !e.subjects.is_empty() && (reference || chosen.contains(&k))
            };
            let wanted: Vec<usize> = (0..all.len()).filter(|e| looks(&all[*e])).collect();
            if wanted.is_empty() {
                continue;
            }
            let frame = read_frame(file)?;
            let damaged = |what: String| OutputError::Damaged { path: file.clone(), what };
            let bodies = ranges(&self.info.bodies, frame.positions.len()).map_err(damaged)?;
            let of = Measured { frame: &frame, bodies: &bodies };
            for e in wanted {
                for (subject, values) in all[e].subjects.iter().zip(&mut samples[e]) {
                    values[k] = Some(of.subject(all[e].quantity, subject).map_err(damaged)?);
                }
            }
        }
        Ok(samples)
    }
}

/// The indices of the times that a value is looked at; none that lie after the last one.
fn chosen(when: When, times: &[f64], step: f64, end: f64) -> Range<usize> {
    let slack = 1e-6 * step;
    match when {
        When::At(time) if times.last().is_none_or(|last| time > last + 0.5 * step) => 0..0,
        When::At(time) => {
            let off = |k: &usize| (times[*k] - time).abs();
            let nearest = (0..times.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
            nearest.map_or(0..0, |k| k..k + 1)
        }
        When::Every(since) | When::Least(since) | When::Greatest(since) => {
            let first = times.partition_point(|t| *t < since - slack);
            let end = times.partition_point(|t| *t < end + 0.5 * step);
            first..end.max(first)
        }
    }
}

/// What the report of a step says.
fn of_report(report: &StepReport, figure: Figure) -> Option<f64> {
    Some(match figure {
        Figure::Contacts => report.contacts as f64,
        Figure::MaxContacts => report.max_contacts as f64,
        Figure::MinGap => return report.min_gap,
        Figure::NewtonIterations => report.newton_iterations as f64,
        Figure::KineticEnergy => report.kinetic_energy,
        Figure::ElasticEnergy => report.elastic_energy,
        Figure::GravityEnergy => report.gravity_energy,
        Figure::ContactEnergy => report.contact_energy,
    })
}

/// An expectation with the values of one subject.
struct Judge<'a> {
    expectation: &'a Expectation,
    times: &'a [f64],
    values: &'a [Option<f64>],
    step: f64,
}

impl Judge<'_> {
    /// Whether the subject is within the bounds, and the value that decides.
    fn judge(&self) -> (Verdict, Option<(f64, f64)>) {
        let Expectation { when, end, .. } = *self.expectation;
        let chosen = chosen(when, self.times, self.step, end);
        let whole = self.times.last().is_some_and(|last| *last > end - 0.5 * self.step);
        if matches!(when, When::At(_)) && chosen.is_empty() {
            return (Verdict::Open, None);
        }
        if !whole && self.expectation.relative_to == Some(Reference::Greatest) {
            return (Verdict::Open, None);
        }
        let reference = self.reference();
        let values = chosen.filter_map(|k| Some((self.values[k]? / reference, self.times[k])));
        let by_value = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
        let margin = |v: &(f64, f64)| self.margin(v.0);
        let value = match when {
            When::Least(_) => values.min_by(by_value),
            When::Greatest(_) => values.max_by(by_value),
            _ => values.min_by(|a, b| margin(a).total_cmp(&margin(b))),
        };
        let within = value.as_ref().map(|v| margin(v) > 0.0);
        let held = within == Some(true) || within.is_none() && matches!(when, When::Every(_));
        let Expectation { above, below, .. } = *self.expectation;
        // whether the frames that a longer run would have could change nothing
        let settled = match (when, within) {
            _ if whole => true,
            (When::At(_), _) => true,
            (_, None) => false,
            (When::Every(_), Some(within)) => !within,
            (When::Least(_), Some(within)) => if within { above } else { below }.is_none(),
            (When::Greatest(_), Some(within)) => if within { below } else { above }.is_none(),
        };
        let verdict = match (settled, held) {
            (false, _) => Verdict::Open,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Fails,
        };
        (verdict, value)
    }

    /// What the values are divided by.
    fn reference(&self) -> f64 {
        match self.expectation.relative_to {
            None => 1.0,
            Some(Reference::Start) => self.values.first().copied().flatten().unwrap_or(f64::NAN),
            Some(Reference::Greatest) => {
                let until = self.times.iter().zip(self.values);
                let until = until.filter(|(t, _)| **t < self.expectation.end + 0.5 * self.step);
                until.filter_map(|(_, value)| *value).fold(f64::NAN, f64::max)
            }
        }
    }

    /// How far a value is within the bounds; not positive outside of them or on one.
    fn margin(&self, value: f64) -> f64 {
        let above = self.expectation.above.map_or(f64::INFINITY, |bound| value - bound);
        let below = self.expectation.below.map_or(f64::INFINITY, |bound| bound - value);
        if value.is_nan() { f64::NEG_INFINITY } else { above.min(below) }
    }
}

impl Finding {
    /// The subject that decides: the first one that is not within the bounds, or else the first one.
    fn decisive(&self) -> Option<&Found> {
        self.found.iter().find(|f| f.verdict == self.verdict).or(self.found.first())
    }
}

impl fmt::Display for Finding {
    /// What the run should show, and what was found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expectation { shows, quantity, relative_to, when, at_least, above, below, .. } =
            &self.expectation;
        write!(f, "{shows}: {quantity}")?;
        let Some(Found { name, value, .. }) = self.decisive() else { return Ok(()) };
        if !name.is_empty() {
            write!(f, " of '{name}'")?;
        }
        let unit = if relative_to.is_some() { "" } else { quantity.unit() };
        let number = |x: f64| format!("{} {unit}", shown(x)).trim_end().to_owned();
        match (value, when) {
            (None, When::At(time)) if self.verdict == Verdict::Open => {
                write!(f, " at {} s was not reached", shown(*time))?;
            }
            (None, _) => f.write_str(" has no value")?,
            (Some((value, time)), _) => {
                write!(f, " is {} at {} s", number(*value), shown(*time))?;
            }
        }
        match relative_to {
            None => {}
            Some(Reference::Start) => f.write_str(" (of that at the start)")?,
            Some(Reference::Greatest) => f.write_str(" (of the greatest)")?,
        }
        let bounds: Vec<String> = [("above", above), ("below", below)]
            .into_iter()
            .filter_map(|(word, bound)| Some(format!("{word} {}", number((*bound)?))))
            .collect();
        write!(f, ", expected {}", bounds.join(" and "))?;
        if self.found.len() > 1 {
            let holds = self.found.iter().filter(|f| f.verdict == Verdict::Holds).count();
            write!(f, "; within the bounds are {holds} of {} objects", self.found.len())?;
            if let Some(needed) = at_least {
                write!(f, ", at least {needed} have to be")?;
            }
        }
        Ok(())
    }
}

/// A number with five digits that matter.
fn shown(x: f64) -> String {
    if x == 0.0 || !(1e-3..1e5).contains(&x.abs()) {
        return if x == 0.0 { "0".into() } else { format!("{x:.4e}") };
    }
    let before = x.abs().log10().floor() as i32 + 1;
    let digits = format!("{x:.*}", (5 - before).max(0) as usize);
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits,
    }
}
