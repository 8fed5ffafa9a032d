//! `standoff fit`: constants of laws of rubber from measured stresses.

use crate::args::{FitArgs, FitLaw};
use crate::failure::Failure;
use crate::output::Console;
use standoff_export::ExportError;
use standoff_export::plot::{self, Curve, Diagram};
use standoff_scene::measured;
use standoff_sim::material::rubber::fit::{Fit, FittedLaw, Measured, fit as fit_law};
use standoff_sim::material::rubber::{Experiment, Rubber};
use std::path::Path;

/// Fits laws and prints them as a scene file has them.
pub fn fit(args: &FitArgs, console: &mut Console) -> Result<(), Failure> {
    let measured = read(args)?;
    if let Some(file) = &args.output {
        // a wrong name is told before anything is fitted
        plot::file(&[], file).map_err(|e| Failure::Input(e.to_string()))?;
        if file.exists() && !args.force {
            return Err(Failure::Input(ExportError::Exists(file.clone()).to_string()));
        }
    }
    let laws = match &args.law[..] {
        [] => ALL.to_vec(),
        some => some.iter().map(|law| of(*law, args.terms)).collect::<Result<_, _>>()?,
    };
    let mut fits: Vec<(FittedLaw, Fit)> = Vec::new();
    for law in laws {
        match fit_law(law, &measured) {
            Ok(fit) => fits.push((law, fit)),
            // of all laws some have more constants than there are points
            Err(error) if args.law.is_empty() => {
                console.complain(format_args!("{}: {error}", name(law)))
            }
            Err(error) => return Err(Failure::Input(format!("{}: {error}", name(law)))),
        }
    }
    fits.sort_by(|a, b| a.1.error.total_cmp(&b.1.error));
    for (law, fit) in &fits {
        describe(*law, fit, &measured, console);
    }
    if fits.is_empty() {
        return Err(Failure::Input("no law could be fitted".into()));
    }
    match &args.output {
        Some(file) => draw(file, &fits, &measured, console),
        None => Ok(()),
    }
}

/// What is fitted where no law is named.
const ALL: [FittedLaw; 8] = [
    FittedLaw::MooneyRivlin(1),
    FittedLaw::MooneyRivlin(2),
    FittedLaw::MooneyRivlin(5),
    FittedLaw::Yeoh(3),
    FittedLaw::ArrudaBoyce,
    FittedLaw::Gent,
    FittedLaw::Ogden(2),
    FittedLaw::Ogden(3),
];

fn read(args: &FitArgs) -> Result<Vec<Measured>, Failure> {
    let files = [&args.uniaxial, &args.biaxial, &args.planar, &args.shear];
    let mut all = Vec::new();
    for (experiment, files) in Experiment::ALL.into_iter().zip(files) {
        for file in files {
            let table = measured::read(file, experiment);
            all.push(table.map_err(|e| Failure::Input(e.to_string()))?);
        }
    }
    Ok(all)
}

/// A law by its name with a number of terms.
fn of(law: FitLaw, terms: Option<u8>) -> Result<FittedLaw, Failure> {
    let (most, default): (&[u8], u8) = match law {
        FitLaw::MooneyRivlin => (&[1, 2, 3, 5], 2),
        FitLaw::Yeoh => (&[1, 2, 3], 3),
        FitLaw::ArrudaBoyce | FitLaw::Gent => (&[], 1),
        FitLaw::Ogden => (&[1, 2, 3, 4, 5, 6], 3),
    };
    if let Some(terms) = terms.filter(|t| !most.contains(t)) {
        let what = match most {
            [] => "has no terms; leave out --terms".into(),
            _ => format!("has {most:?} terms, not {terms}"),
        };
        return Err(Failure::Input(format!("--terms: the law {} {what}", name_of(law))));
    }
    let terms = usize::from(terms.unwrap_or(default));
    Ok(match law {
        FitLaw::MooneyRivlin => FittedLaw::MooneyRivlin(terms),
        FitLaw::Yeoh => FittedLaw::Yeoh(terms),
        FitLaw::ArrudaBoyce => FittedLaw::ArrudaBoyce,
        FitLaw::Gent => FittedLaw::Gent,
        FitLaw::Ogden => FittedLaw::Ogden(terms),
    })
}

fn name_of(law: FitLaw) -> &'static str {
    match law {
        FitLaw::MooneyRivlin => "mooney-rivlin",
        FitLaw::Yeoh => "yeoh",
        FitLaw::ArrudaBoyce => "arruda-boyce",
        FitLaw::Gent => "gent",
        FitLaw::Ogden => "ogden",
    }
}

fn name(law: FittedLaw) -> String {
    match law {
        FittedLaw::MooneyRivlin(n) => format!("mooney-rivlin, {}", terms(n)),
        FittedLaw::Yeoh(n) => format!("yeoh, {}", terms(n)),
        FittedLaw::ArrudaBoyce => "arruda-boyce".into(),
        FittedLaw::Gent => "gent".into(),
        FittedLaw::Ogden(n) => format!("ogden, {}", terms(n)),
    }
}

fn terms(count: usize) -> String {
    format!("{count} {}", if count == 1 { "term" } else { "terms" })
}

fn describe(law: FittedLaw, fit: &Fit, measured: &[Measured], console: &mut Console) {
    let percent = |error: f64| format!("{:.2} %", 100.0 * error);
    let each = measured.iter().zip(&fit.errors);
    let each: Vec<String> =
        each.map(|(m, e)| format!("{} {}", m.experiment.key(), percent(*e))).collect();
    console.say(format_args!(
        "# {}: error {} ({})",
        name(law),
        percent(fit.error),
        each.join(", ")
    ));
    for experiment in Experiment::ALL {
        let wide = if experiment == Experiment::Shear { [-10.0, 10.0] } else { [0.1, 10.0] };
        let [low, high] = fit.rubber.stable_range(experiment, wide);
        // a law whose stress is infinite beyond a bound grows up to it
        if [low, high] != wide && !matches!(fit.rubber, Rubber::Gent { .. }) {
            let key = experiment.key();
            console.say(format_args!("#   {key}: gives way below {low:.3} and above {high:.3}"));
        }
    }
    console.say(format_args!("rubber = {}", toml(&fit.rubber)));
}

/// The law as a scene file has it.
fn toml(rubber: &Rubber) -> String {
    let constants = match rubber {
        Rubber::MooneyRivlin { c10, c01, c20, c11, c02 } => {
            let all = [("c10", c10), ("c01", c01), ("c20", c20), ("c11", c11), ("c02", c02)];
            let some = all.iter().filter(|(key, c)| *key == "c10" || **c != 0.0);
            some.map(|(key, c)| format!("{key} = {c:.7e}")).collect::<Vec<_>>().join(", ")
        }
        Rubber::Yeoh { c10, c20, c30 } => {
            format!("c10 = {c10:.7e}, c20 = {c20:.7e}, c30 = {c30:.7e}")
        }
        Rubber::ArrudaBoyce { mu, locking_stretch } => {
            format!("mu = {mu:.7e}, locking_stretch = {locking_stretch:.8}")
        }
        Rubber::Gent { mu, limit } => format!("mu = {mu:.7e}, limit = {limit:.8}"),
        Rubber::Ogden { terms } => {
            let term = |t: &standoff_sim::material::rubber::OgdenTerm| {
                format!("{{ mu = {:.7e}, alpha = {:.8} }}", t.mu, t.alpha)
            };
            format!("terms = [{}]", terms.iter().map(term).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{{ kind = \"{}\", {constants} }}", rubber.key())
}

/// A diagram for each experiment: measured stresses and those of the laws, at most four.
fn draw(
    file: &Path,
    fits: &[(FittedLaw, Fit)],
    measured: &[Measured],
    console: &mut Console,
) -> Result<(), Failure> {
    let diagram = |m: &Measured| {
        let ends = m.points.iter().map(|p| p[0]);
        let low = ends.clone().fold(m.experiment.rest(), f64::min);
        let high = ends.fold(m.experiment.rest(), f64::max);
        // a cross at each point
        let greatest = m.points.iter().map(|p| p[1].abs()).fold(0.0, f64::max);
        let (wide, high_by) = (0.004 * (high - low), 0.02 * greatest);
        let cross = |&[x, y]: &[f64; 2]| {
            let across = [(x - wide, Some(y)), (x + wide, Some(y)), (x, None)];
            let up = [(x, Some(y - high_by)), (x, Some(y + high_by)), (x, None)];
            across.into_iter().chain(up)
        };
        let points =
            Curve { name: "measured".into(), values: m.points.iter().flat_map(cross).collect() };
        let curve = |(law, fit): &(FittedLaw, Fit)| {
            let at = |k: u32| low + (high - low) * f64::from(k) / 200.0;
            let value = |k: u32| (at(k), Some(fit.rubber.nominal_stress(m.experiment, at(k))));
            Curve { name: name(*law), values: (0..=200).map(value).collect() }
        };
        let over = if m.experiment == Experiment::Shear { "shear" } else { "stretch" };
        Diagram {
            title: format!("{}: nominal stress, Pa, over {over}", m.experiment.key()),
            logarithmic: false,
            unit: "",
            curves: fits.iter().take(4).map(curve).chain([points]).collect(),
        }
    };
    let diagrams: Vec<Diagram> = measured.iter().map(diagram).collect();
    let bytes = plot::file(&diagrams, file).map_err(|e| Failure::Input(e.to_string()))?;
    let parent = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(parent)
        .map_err(|e| Failure::Result(format!("{}: {e}", parent.display())))?;
    standoff_run::write_atomically(file, |out| out.write_all(&bytes))
        .map_err(|e| Failure::Result(e.to_string()))?;
    console.say(file.display());
    Ok(())
}
