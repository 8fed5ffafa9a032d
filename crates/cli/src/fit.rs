//! `standoff fit`: constants of laws of rubber from measured stresses.

use crate::args::FitArgs;
use crate::export::write_plot;
use crate::failure::Failure;
use crate::output::Console;
use standoff_export::plot::{self, Curve, Diagram};
use standoff_scene::measured;
use standoff_sim::material::rubber::fit::{Fit, FittedLaw, Measured, fit as fit_law};
use standoff_sim::material::rubber::{Experiment, OgdenTerm, Rubber};

/// Fits laws and prints them as a scene file has them.
pub fn fit(args: &FitArgs, console: &mut Console) -> Result<(), Failure> {
    let input = |e: &dyn std::fmt::Display| Failure::Input(e.to_string());
    if let Some(file) = &args.output {
        // a wrong name is told before anything is fitted
        plot::file(&[], file).map_err(|e| input(&e))?;
    }
    let measured = read(args)?;
    let named = |key: &String| FittedLaw::named(key, args.terms.map(usize::from));
    let laws = match &args.law[..] {
        [] => ALL.to_vec(),
        some => some.iter().filter_map(named).collect::<Result<_, _>>().map_err(|e| input(&e))?,
    };
    let mut fits: Vec<(FittedLaw, Fit)> = Vec::new();
    for law in laws {
        match fit_law(law, &measured) {
            Ok(fit) => fits.push((law, fit)),
            // of all laws some have more constants than there are points
            Err(error) if args.law.is_empty() => console.complain(format_args!("{law}: {error}")),
            Err(error) => return Err(Failure::Input(format!("{law}: {error}"))),
        }
    }
    fits.sort_by(|a, b| a.1.error.total_cmp(&b.1.error));
    for (law, fit) in &fits {
        describe(*law, fit, &measured, console);
    }
    match &args.output {
        _ if fits.is_empty() => Err(Failure::Input("no law could be fitted".into())),
        Some(file) => {
            let diagrams: Vec<Diagram> = measured.iter().map(|m| diagram(m, &fits)).collect();
            write_plot(file, &diagrams, args.force, console)
        }
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

fn describe(law: FittedLaw, fit: &Fit, measured: &[Measured], console: &mut Console) {
    let percent = |error: f64| format!("{:.2} %", 100.0 * error);
    let each = measured.iter().zip(&fit.errors);
    let each: Vec<String> =
        each.map(|(m, e)| format!("{} {}", m.experiment.key(), percent(*e))).collect();
    console.say(format_args!("# {law}: error {} ({})", percent(fit.error), each.join(", ")));
    for experiment in Experiment::ALL {
        let wide = if experiment == Experiment::Shear { [-10.0, 10.0] } else { [0.1, 10.0] };
        let [low, high] = fit.rubber.stable_range(experiment, wide);
        let key = experiment.key();
        if low > wide[0] {
            console.say(format_args!("#   {key}: gives way below {low:.3}"));
        }
        if high < wide[1] {
            console.say(format_args!("#   {key}: gives way above {high:.3}"));
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
            let term = |t: &OgdenTerm| format!("{{ mu = {:.7e}, alpha = {:.8} }}", t.mu, t.alpha);
            format!("terms = [{}]", terms.iter().map(term).collect::<Vec<_>>().join(", "))
        }
    };
    format!("{{ kind = \"{}\", {constants} }}", rubber.key())
}

/// What was measured in an experiment, and the stresses of the laws, at most four.
fn diagram(m: &Measured, fits: &[(FittedLaw, Fit)]) -> Diagram {
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
        Curve { name: law.to_string(), values: (0..=200).map(value).collect() }
    };
    let over = if m.experiment == Experiment::Shear { "shear" } else { "stretch" };
    Diagram {
        title: format!("{}: nominal stress, Pa, over {over}", m.experiment.key()),
        logarithmic: false,
        unit: "",
        curves: fits.iter().take(4).map(curve).chain([points]).collect(),
    }
}
