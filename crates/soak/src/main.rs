//! `soak`: random scenes through the `standoff` command, both solvers side by side.

use clap::Parser;
use standoff_soak::generate::{self, Parts};
use standoff_soak::outcome::Outcome;
use standoff_soak::run::{Record, Runner};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs random scenes by both solvers, checks every frame by `standoff audit` and by an independent program,
/// and prints how the runs ended.
///
/// OUT holds the scene of each seed, a line per run in `results.jsonl`, and the folders of runs that crashed, broke a
/// promise, or ended neither at the tolerance nor for a reason that names the objects involved. Called again, it continues with
/// the seeds that are not done. Exit code 1 if there are such runs.
#[derive(Parser)]
#[command(name = "soak")]
struct Arguments {
    /// The `standoff` command.
    standoff: PathBuf,
    /// Folder of scenes and results.
    #[arg(short, long)]
    output: PathBuf,
    /// First seed.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Number of scenes.
    #[arg(long, default_value_t = 1000)]
    scenes: u64,
    /// CPU seconds of one run at most.
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// Runs at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Values that replace those of every scene, as with `standoff run`.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Part of the free volumes that are rigid.
    #[arg(long, default_value_t = 0.25)]
    rigid: f64,
    /// Part of the rigid bodies that are joined with another one or with the world.
    #[arg(long, default_value_t = 0.5)]
    joints: f64,
    /// Part of the soft volumes and sheets that are joined with a rigid body or with the world at some of their vertices.
    #[arg(long, default_value_t = 0.25)]
    soft_joints: f64,
    /// Part of the joints that can break.
    #[arg(long, default_value_t = 0.25)]
    breaking: f64,
    /// Part of the other volumes that have quadratic elements.
    #[arg(long, default_value_t = 0.25)]
    quadratic: f64,
    /// Part of the materials of volumes that relax or yield.
    #[arg(long, default_value_t = 0.25)]
    inelastic: f64,
    /// Part of the scenes with friction that have a static and a kinetic coefficient.
    #[arg(long, default_value_t = 0.25)]
    kinetic: f64,
    /// Part of the materials of volumes that have fibres, which resist, draw, or both.
    #[arg(long, default_value_t = 0.25)]
    fibres: f64,
    /// Part of the materials of volumes that have a strain without stress, by which they shrink to a third of their length at most, or grow to twice.
    #[arg(long, default_value_t = 0.25)]
    growth: f64,
    /// Part of the scenes that are in two dimensions or of bodies of revolution.
    #[arg(long, default_value_t = 0.25)]
    planar: f64,
    /// Only this solver.
    #[arg(long)]
    solver: Option<String>,
    /// Print the scene of the first seed and stop.
    #[arg(long)]
    print: bool,
    /// Keep the folders of all runs.
    #[arg(long)]
    keep: bool,
    /// Run nothing, print the table of the seeds that are done.
    #[arg(long)]
    report: bool,
}

impl Arguments {
    fn parts(&self) -> Parts {
        Parts {
            rigid: self.rigid,
            joints: self.joints,
            soft_joints: self.soft_joints,
            breaking: self.breaking,
            quadratic: self.quadratic,
            inelastic: self.inelastic,
            kinetic: self.kinetic,
            fibres: self.fibres,
            growth: self.growth,
            planar: self.planar,
        }
    }
}

const SOLVERS: [&str; 2] = ["barrier", "barrier-free"];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    if arguments.print {
        print!("{}", generate::scene_with(arguments.first, &arguments.parts()));
        return std::process::ExitCode::SUCCESS;
    }
    match soak(&arguments) {
        Ok(records) => {
            print!("{}", table(&records));
            let faults = records.iter().any(|r| r.outcome.is_fault());
            std::process::ExitCode::from(u8::from(faults))
        }
        Err(e) => {
            eprintln!("error: {}: {e}", arguments.output.display());
            std::process::ExitCode::from(2)
        }
    }
}

/// All records of the requested seeds: those in the file, and those run now.
fn soak(arguments: &Arguments) -> std::io::Result<Vec<Record>> {
    let out = &arguments.output;
    std::fs::create_dir_all(out)?;
    let path = out.join("results.jsonl");
    let last = arguments.first + arguments.scenes;
    // a report begins no seed
    let next = AtomicU64::new(if arguments.report { last } else { arguments.first });
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let known: Vec<Record> = known.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let done = |seed: u64, solver: &str| known.iter().any(|r| r.seed == seed && r.solver == solver);
    let file = Mutex::new(std::fs::OpenOptions::new().create(true).append(true).open(&path)?);
    let records = Mutex::new(Vec::new());
    let runner = Runner {
        standoff: std::path::absolute(&arguments.standoff)?,
        limit: arguments.limit,
        set: arguments.set.clone(),
    };
    let work = || -> std::io::Result<()> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last {
                return Ok(());
            }
            let scene = out.join(format!("{seed}.toml"));
            let text = generate::scene_with(seed, &arguments.parts());
            // which the barrier-free solver does not have
            let planar = text.contains("dimension = ");
            std::fs::write(&scene, text)?;
            for solver in
                SOLVERS.iter().filter(|s| arguments.solver.as_ref().is_none_or(|o| o == *s))
            {
                if done(seed, solver) || planar && *solver == "barrier-free" {
                    continue;
                }
                let record = one(&runner, &scene, out, seed, solver, arguments.keep);
                let line = serde_json::to_string(&record).map_err(std::io::Error::other)?;
                writeln!(file.lock().expect("no panic before"), "{line}")?;
                records.lock().expect("no panic before").push(record);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().expect("no panic in a worker"))
    })?;
    let mut all = records.into_inner().expect("no panic before");
    all.extend(known.into_iter().filter(|r| (arguments.first..last).contains(&r.seed)));
    all.sort_by(|a, b| (a.seed, &a.solver).cmp(&(b.seed, &b.solver)));
    Ok(all)
}

fn one(runner: &Runner, scene: &Path, out: &Path, seed: u64, solver: &str, keep: bool) -> Record {
    let folder = out.join(format!("{seed}-{solver}"));
    let record = runner.run(seed, scene, &folder, solver);
    if !keep && !record.outcome.is_fault() {
        // what cannot be removed is only in the way
        let _ = std::fs::remove_dir_all(&folder);
    }
    if record.outcome == Outcome::Converged {
        return record;
    }
    println!(
        "{seed} {solver}: {} ({} steps, {:.1} s) {}",
        record.outcome.describe(),
        record.steps,
        record.seconds,
        record.message.lines().next().unwrap_or_default()
    );
    record
}

/// Outcomes of both solvers, and what one completes and the other does not, as Markdown.
fn table(records: &[Record]) -> String {
    let mut text = String::from("\n| outcome |");
    let of = |solver: &str| records.iter().filter(|r| r.solver == solver).collect::<Vec<_>>();
    let by_solver = SOLVERS.map(of);
    for solver in SOLVERS {
        let _ = write!(text, " {solver} |");
    }
    text += "\n|---|---|---|\n";
    for outcome in Outcome::ALL {
        let _ = write!(text, "| {} |", outcome.describe());
        for runs in &by_solver {
            let n = runs.iter().filter(|r| r.outcome == outcome).count();
            let share = 100.0 * n as f64 / runs.len().max(1) as f64;
            let _ = write!(text, " {n} ({share:.1} %) |");
        }
        text.push('\n');
    }
    let sum = |runs: &[&Record], of: fn(&Record) -> u64| runs.iter().map(|r| of(r)).sum::<u64>();
    type Figure = (&'static str, fn(&Record) -> u64);
    let figures: [Figure; 5] = [
        ("steps", |r| r.steps),
        ("steps finished by the barrier", |r| r.fallbacks),
        ("Newton iterations", |r| r.iterations),
        ("frames checked", |r| r.frames),
        ("balances of bodies checked", |r| r.balanced),
    ];
    for (name, figure) in figures {
        let _ = write!(text, "| {name} |");
        for runs in &by_solver {
            let _ = write!(text, " {} |", sum(runs, figure));
        }
        text.push('\n');
    }
    let mut outcomes: BTreeMap<u64, [Option<Outcome>; 2]> = BTreeMap::new();
    for r in records {
        let k = usize::from(r.solver != SOLVERS[0]);
        outcomes.entry(r.seed).or_default()[k] = Some(r.outcome);
    }
    for (k, solver) in SOLVERS.iter().enumerate() {
        let completes = |o: [Option<Outcome>; 2]| {
            o[k] == Some(Outcome::Converged) && o[1 - k].is_some_and(|o| o != Outcome::Converged)
        };
        let seeds: Vec<String> =
            outcomes.iter().filter(|(_, o)| completes(**o)).map(|(s, _)| s.to_string()).collect();
        let _ = writeln!(text, "\nonly {solver} completes {}: {}", seeds.len(), seeds.join(" "));
    }
    text
}
