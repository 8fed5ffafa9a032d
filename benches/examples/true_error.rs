//! What a step that is called converged is worth: steps at several tolerances against the same steps solved far more accurately.
//!
//! cargo run --release -p standoff-bench --example true_error -- OUT [seeds=FIRST..LAST] [scene=FILE]... [press=coarse|full]
//!     [set=KEY=VALUE]... [speed=T]... [forces=T]... [method=NAME]... [steps=N] [seconds=S] [shard=K/N]
//!
//! For every step of every scene, the state at its start is solved with each pair of a velocity tolerance (`speed=`, in m/s per metre of
//! a body) and a force tolerance (`forces=`; `default` is the one of the scene), and by the references of
//! `crates/soak/tests/support/accurate.rs`. The run continues from the first pair's end, for N steps or S seconds a scene. Writes one line of JSON per step and pair to OUT,
//! from which `tools/true_error.py` makes tables and plots. One thread.

#[path = "../../crates/soak/tests/support/accurate.rs"]
mod accurate;
#[path = "../../crates/soak/tests/support/press.rs"]
mod press;

use accurate::{Accurate, Errors, Reference, errors, with_tolerances};
use serde_json::{Value, json};
use standoff_scene::Scene;
use standoff_sim::definition::Definition;
use standoff_sim::settings::Method;
use standoff_sim::{Model, Simulation, State, StepReport};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// Wall seconds of one step at most.
const STEP_SECONDS: f64 = 5.0;

/// What is to be done.
struct Arguments {
    out: String,
    seeds: Option<(u64, u64)>,
    scenes: Vec<String>,
    press: Option<String>,
    set: Vec<String>,
    /// Pairs of tolerances; none stands for that of the scene.
    tolerances: Vec<(f64, Option<f64>)>,
    methods: Vec<String>,
    steps: usize,
    seconds: f64,
    shard: (usize, usize),
}

impl Arguments {
    fn read() -> Result<Self, Box<dyn Error>> {
        let all: Vec<String> = std::env::args().skip(1).collect();
        let out = all.first().ok_or("name a file for the results")?.clone();
        let known = "seeds scene press set speed forces method steps seconds shard";
        let known: Vec<&str> = known.split(' ').collect();
        let split = |a: &String| a.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let pairs: Vec<(String, String)> = all[1..]
            .iter()
            .map(|a| split(a).filter(|(k, _)| known.contains(&k.as_str())))
            .collect::<Option<_>>()
            .ok_or_else(|| format!("arguments are KEY=VALUE with a key of {known:?}"))?;
        let values = |key: &str| -> Vec<String> {
            pairs.iter().filter(|(k, _)| k == key).map(|(_, v)| v.clone()).collect()
        };
        let last = |key: &str| values(key).pop();
        let or = |values: Vec<String>, default: &str| match values.is_empty() {
            true => vec![default.to_owned()],
            false => values,
        };
        let range = |text: String, mark: &str| -> Result<(u64, u64), Box<dyn Error>> {
            let (a, b) = text.split_once(mark).ok_or("a range has two numbers")?;
            Ok((a.parse()?, b.parse()?))
        };
        let mut tolerances = Vec::new();
        for speed in or(values("speed"), "1e-2") {
            for forces in or(values("forces"), "default") {
                let forces = if forces == "default" { None } else { Some(forces.parse::<f64>()?) };
                tolerances.push((speed.parse()?, forces));
            }
        }
        let shard = last("shard").map_or(Ok((0, 1)), |text| range(text, "/"))?;
        Ok(Self {
            out,
            seeds: last("seeds").map(|text| range(text, "..")).transpose()?,
            scenes: values("scene"),
            press: last("press"),
            set: values("set"),
            tolerances,
            methods: or(values("method"), "barrier"),
            steps: last("steps").map_or(Ok(30), |n| n.parse())?,
            seconds: last("seconds").map_or(Ok(20.0), |n| n.parse())?,
            shard: (shard.0 as usize, shard.1 as usize),
        })
    }

    /// The scenes by name, each with what a line says of it.
    fn definitions(&self) -> Result<Vec<(Value, Definition)>, Box<dyn Error>> {
        let mut all = Vec::new();
        for seed in self.seeds.map_or(0..0, |(first, last)| first..last) {
            let text = standoff_soak::generate::scene(seed);
            let name = format!("seed-{seed}");
            match Scene::parse(&text, Path::new(&name), Path::new(""), &self.set) {
                Ok(scene) => all.push((json!({ "scene": name }), scene.definition)),
                Err(_) => eprintln!("{name}: refused"),
            }
        }
        for path in &self.scenes {
            let scene = Scene::load(Path::new(path), &self.set)?;
            all.push((json!({ "scene": path }), scene.definition));
        }
        if let Some(extent) = &self.press {
            all.extend(press::series(extent == "full").into_iter().map(|case| {
                let line = json!({"scene": case.name(), "young": case.young, "speed": case.speed,
                    "d_hat": case.d_hat_relative});
                (line, case.definition())
            }));
        }
        Ok(all)
    }
}

fn method(name: &str) -> Result<Method, Box<dyn Error>> {
    Ok(serde_json::from_value(json!(name))?)
}

fn line_of(errors: Option<Errors>) -> Value {
    errors.map_or(Value::Null, |e| {
        json!({"speed": e.speed, "velocity": e.velocity, "position": e.position, "force": e.force,
            "force_of_acting": e.force_of_acting, "kinetic": e.kinetic})
    })
}

fn of_reference(model: &Model, start: &State, end: &State, reference: Option<&Reference>) -> Value {
    let Some(reference) = reference else { return Value::Null };
    let errors = reference.state.as_ref().map(|exact| errors(model, start, end, exact));
    json!({"outcome": reference.outcome, "accurate": reference.is_accurate,
        "iterations": reference.iterations, "kappa": reference.state.as_ref().map(|s| s.kappa),
        "errors": line_of(errors)})
}

/// What a step ended with, as it reports it.
fn reported(report: &StepReport, model: &Model, speed: f64) -> Value {
    json!({"outcome": report.outcome.describe(), "iterations": report.newton_iterations,
        "fallback": report.fallback.is_some(), "contacts": report.contacts,
        "residual": report.residual_speed / model.resolved.velocity_tolerance * speed,
        "imbalance": report.imbalance, "kappa": report.kappa, "saddle": report.saddle})
}

/// The steps of one scene.
fn run(
    arguments: &Arguments,
    about: &Value,
    definition: &Definition,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let mut definition = definition.clone();
    definition.settings.solver.end.max_step_time = Some(STEP_SECONDS);
    let mut accurate = Accurate::new(&definition)?;
    let mut simulations = Vec::new();
    for &(speed, forces) in &arguments.tolerances {
        let definition = with_tolerances(&definition, speed, forces);
        simulations.push((speed, forces, Simulation::new(&definition)?));
    }
    let steps = arguments.steps.min(accurate.model().resolved.steps);
    let integrator = definition.settings.time.integrator;
    for step in 1..=steps {
        if begin.elapsed().as_secs_f64() > arguments.seconds {
            break;
        }
        let start = simulations[0].2.state().clone();
        let mut again: [Option<Reference>; 2] = [None, None];
        let mut ended = None;
        for (k, (speed, forces, simulation)) in simulations.iter_mut().enumerate() {
            simulation.set_state(start.clone())?;
            let mut line = about.clone();
            line["step"] = json!(step);
            line["method"] = serde_json::to_value(definition.settings.solver.method)?;
            line["integrator"] = serde_json::to_value(integrator)?;
            line["tolerances"] = json!([*speed, forces]);
            match accurate.step(simulation) {
                Err(e) => {
                    line["failed"] = json!(e.to_string());
                    ended = ended.or((k == 0).then(|| e.to_string()));
                }
                Ok((report, belonging)) => {
                    let end = simulation.state();
                    line["reported"] = reported(&report, simulation.model(), *speed);
                    let model = simulation.model();
                    let again = again[usize::from(report.fallback.is_some())]
                        .get_or_insert_with(|| accurate.again(&start, &report));
                    line["again"] = of_reference(model, &start, end, Some(again));
                    line["belonging"] = of_reference(model, &start, end, Some(&belonging));
                    line["plate"] = press::force(model, end).map_or(Value::Null, |f| json!(f));
                }
            }
            writeln!(out, "{line}")?;
        }
        if let Some(error) = ended {
            eprintln!("{}: step {step}: {error}", about["scene"]);
            break;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let arguments = Arguments::read()?;
    let mut out = BufWriter::new(File::create(&arguments.out)?);
    for (k, (about, mut definition)) in arguments.definitions()?.into_iter().enumerate() {
        if k % arguments.shard.1 != arguments.shard.0 {
            continue;
        }
        for name in &arguments.methods {
            definition.settings.solver.method = method(name)?;
            if let Err(e) = run(&arguments, &about, &definition, &mut out) {
                eprintln!("{} {name}: {e}", about["scene"]);
            }
            out.flush()?;
        }
    }
    Ok(())
}
