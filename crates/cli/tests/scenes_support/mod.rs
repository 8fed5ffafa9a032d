//! Running scenes and reading what they leave.
// each of the programs that share this uses a part of it
#![allow(dead_code)]

pub mod expect;

use standoff_linalg::Vec3;
use standoff_run::{Frame, RunInfo, Verdict, frame_files, read_frame};
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyDef, BodyKind, Definition};
use standoff_sim::report::StepReport;
use standoff_soak::numbers::wrong;
use standoff_testkit::Random;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// All scenes that ship: name relative to `scenes/` without suffix, and file; sorted.
pub fn all_scenes() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") {
                let name = path.strip_prefix(&root).unwrap().with_extension("");
                found.push((name.to_string_lossy().replace('\\', "/"), path));
            }
        }
    }
    found.sort();
    found
}

/// Runs the command.
pub fn standoff(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_standoff")).args(args).output().expect("the command starts")
}

/// A finished run.
pub struct Run {
    /// Bodies.
    pub info: RunInfo,
    /// Reports of all steps.
    pub reports: Vec<StepReport>,
    files: Vec<(u64, PathBuf)>,
}

impl Run {
    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.files.len()
    }

    /// Reads a frame.
    pub fn frame(&self, index: usize) -> Frame {
        read_frame(&self.files[index].1).unwrap()
    }

    /// The part of a list over all vertices that belongs to a body.
    pub fn part<'a>(&self, of: &'a [Vec3], body: &str) -> &'a [Vec3] {
        let body = self.info.bodies.iter().find(|b| b.name == body);
        let body = body.expect("a body of the scene");
        &of[body.first_vertex as usize..][..body.vertices as usize]
    }

    /// Mean of a body's vertices.
    pub fn mean(&self, of: &[Vec3], body: &str) -> Vec3 {
        let part = self.part(of, body);
        part.iter().sum::<Vec3>() / part.len() as f64
    }

    /// Least and greatest corner of a body's box.
    pub fn extent(&self, frame: &Frame, body: &str) -> (Vec3, Vec3) {
        let part = self.part(&frame.positions, body);
        part.iter().fold((part[0], part[0]), |(low, high), x| (low.inf(x), high.sup(x)))
    }
}

/// Runs a scene with every path between iterates audited, and audits what it wrote: `Err` unless both end with
/// exit code 0 and all steps converged without the audit ever objecting.
pub fn run(scene: &Path, folder: &Path, options: &[&str]) -> Result<Run, String> {
    run_with(scene, folder, "every-path", options)
}

/// The same with another level of the audit.
pub fn run_with(scene: &Path, folder: &Path, audit: &str, options: &[&str]) -> Result<Run, String> {
    let (scene, out) = (scene.to_string_lossy(), folder.to_string_lossy());
    let mut args = vec!["run", &scene, "-o", &out, "-q", "--threads", "1"];
    args.extend(["--audit", audit, "--set", "output.every=1"]);
    args.extend(options);
    let output = standoff(&args);
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let stats = std::fs::read_to_string(folder.join("stats.jsonl")).map_err(|e| e.to_string())?;
    let mut reports = Vec::new();
    for line in stats.lines() {
        let report: StepReport = serde_json::from_str(line).map_err(|e| e.to_string())?;
        if !report.outcome.is_success() || report.step_cuts.audit != 0 {
            return Err(line.to_owned());
        }
        reports.push(report);
    }
    if let Some(found) = wrong(&stats) {
        return Err(found);
    }
    let output = standoff(&["audit", &out, "--threads", "1"]);
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let info = RunInfo::read(folder).map_err(|e| e.to_string())?;
    let files = frame_files(folder).map_err(|e| e.to_string())?;
    if files.len() != reports.len() + 1 {
        return Err(format!("{} frames", files.len()));
    }
    Ok(Run { info, reports, files })
}

/// Looks in the folder of a run for what its scene says that it must show: `Err` with what does not hold. With a `run` as long
/// as it has to be, nothing may be left open, and what `expect::condition` says has to hold as well.
pub fn shows(
    (name, scene): (&str, &Path),
    folder: &Path,
    options: &[&str],
    run: Option<&Run>,
) -> Result<(), String> {
    let set = |pair: &[&str]| match pair[0] {
        "--set" => Some(pair[1].to_owned()),
        "--solver" => Some(format!("solver.method={}", pair[1])),
        _ => None,
    };
    let sets: Vec<String> = options.chunks(2).filter_map(set).collect();
    let steps = options.chunks(2).find(|pair| pair[0] == "--steps");
    let steps = steps.and_then(|pair| pair[1].parse().ok());
    let scene = Scene::load_steps(scene, &sets, steps).map_err(|e| e.to_string())?;
    let findings = standoff_run::expect(&scene, folder).map_err(|e| e.to_string())?;
    let mut failed: Vec<String> = Vec::new();
    for finding in findings {
        match finding.verdict {
            Verdict::Holds => println!("{name}: {finding}"),
            Verdict::Open if run.is_none() => {}
            Verdict::Open => failed.push(format!("left open: {finding}")),
            Verdict::Fails => failed.push(finding.to_string()),
        }
    }
    failed.extend(run.and_then(|run| expect::condition(name, run).err()));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// Every file of a run that does not hold wall times, by its name.
pub fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<PathBuf> = Vec::new();
    for part in [folder.to_owned(), folder.join("frames")] {
        let entries = std::fs::read_dir(part).unwrap().map(|e| e.unwrap().path());
        files.extend(entries.filter(|p| p.is_file()));
    }
    files.sort();
    let content = |p: PathBuf| {
        let name = p.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&p).unwrap();
        (name.clone(), if name == "stats.jsonl" { without_times(&bytes) } else { bytes })
    };
    files.into_iter().map(content).collect()
}

fn without_times(stats: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    for line in std::str::from_utf8(stats).unwrap().lines() {
        let mut report: serde_json::Value = serde_json::from_str(line).unwrap();
        report.as_object_mut().unwrap().remove("seconds").expect("wall times");
        text += &format!("{report}\n");
    }
    text.into_bytes()
}

/// A simulation from a start whose deformable vertices are displaced by up to `amplitude · l` along
/// each axis, with the amplitude: 1e-3, halved as often as it takes to be free of intersections.
pub fn jittered(definition: &Definition, seed: u64) -> Result<(Simulation, f64), String> {
    let moves = |b: &BodyDef| !matches!(b.kind, BodyKind::Obstacle { .. });
    let corners = definition.bodies.iter().filter(|b| moves(b)).flat_map(|b| &b.rest).fold(
        None,
        |e: Option<(Vec3, Vec3)>, x| {
            Some(e.map_or((*x, *x), |(low, high)| (low.inf(x), high.sup(x))))
        },
    );
    let (low, high) = corners.ok_or("nothing is deformable")?;
    let (mut amplitude, mut reason) = (1e-3, String::new());
    for _ in 0..20 {
        let mut random = Random::new(seed);
        let mut jittered = definition.clone();
        let depth = if definition.dimension.is_planar() { 0.0 } else { 1.0 };
        let axes = Vec3::new(1.0, 1.0, depth);
        for body in &mut jittered.bodies {
            if moves(body) {
                if body.start.is_empty() {
                    body.start.clone_from(&body.rest);
                }
                let size = amplitude * (high - low).norm();
                body.start.iter_mut().for_each(|x| *x += size * axes.component_mul(&random.vec3()));
            }
        }
        match Simulation::new(&jittered) {
            Ok(simulation) => return Ok((simulation, amplitude)),
            Err(e) => reason = e.to_string(),
        }
        amplitude /= 2.0;
    }
    Err(reason)
}

/// Whether the command succeeded, and the most memory that it had, MiB.
#[cfg(target_os = "linux")]
pub fn peak_memory(args: &[std::ffi::OsString]) -> (bool, f64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_standoff"))
        .args(args)
        .spawn()
        .expect("the command starts");
    // the high-water mark of resident memory, until the process is gone
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0f64;
    loop {
        if let Some(end) = child.try_wait().expect("a child") {
            return (end.success(), peak / 1024.0);
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        if let Some(kib) = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse().ok()) {
            peak = peak.max(kib);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
