//! Result files: what they hold, that others can read them, and that nothing is left half-written.

use standoff_linalg::{Mat3, Vec3};
use standoff_run::{
    Event, FrameData, FrameFile, Options, OutputError, ResumePoint, RunFolder, RunInfo, Summary,
    Topology, frame_files, read_frame, write_atomically, write_vtu,
};
use standoff_scene::Scene;
use standoff_scene::file::Field;
use standoff_sim::Simulation;
use standoff_sim::material::von_mises;
use standoff_sim::report::{StepOutcome, StepReport};
use std::ops::ControlFlow;
use std::path::Path;

const SCENE: &str = r#"
ground = -1.0
output = { every = 2, surface_obj = true }
[[objects]]
name = "ball"
shape = { kind = "sphere", layers = 2 }
[[objects]]
name = "plane"
shape = { kind = "plane" }
[[objects]]
name = "wire"
shape = { kind = "polyline" }
[[objects]]
name = "grains"
shape = { kind = "points", count = [2, 1, 1] }
[[objects]]
name = "bent"
shape = { kind = "box", cells = [1, 1, 1] }
element = "quadratic"
translate = [3, 0, 0]
"#;

fn scene() -> Scene {
    Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
}

/// A state with numbers that need every bit.
struct State {
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    forces: Vec<Vec3>,
    stress: Vec<f64>,
    reach: Vec<f64>,
}

impl State {
    fn new(topology: &Topology) -> Self {
        let wave =
            |k: usize, s: f64| Vec3::new(s / 3.0, (k as f64 * s).sin(), 1.0 / (k + 1) as f64);
        let n = topology.rest.len();
        Self {
            positions: (0..n).map(|k| topology.rest[k] + 0.01 * wave(k, 1.0)).collect(),
            velocities: (0..n).map(|k| wave(k, 2.0)).collect(),
            forces: (0..n).map(|k| wave(k, 3.0)).collect(),
            stress: (0..topology.solids()).map(|k| 1e5 / (k as f64 + 0.3)).collect(),
            reach: (0..n).map(|k| 1e-3 / (k as f64 + 0.7)).collect(),
        }
    }

    fn data(&self, step: u64, time: f64) -> FrameData<'_> {
        FrameData {
            step,
            time,
            positions: &self.positions,
            velocities: &self.velocities,
            contact_forces: &self.forces,
            von_mises: &self.stress,
            contact_reach: &self.reach,
            ..FrameData::default()
        }
    }
}

/// Tensors of solids by their six components, principal values as vectors, and zeros for other cells; not by default.
#[test]
fn frames_have_stresses_and_strains_where_they_are_chosen() {
    let scene = scene();
    let topology = Topology::new(&scene.definition);
    let state = State::new(&topology);
    let tensor = |k: usize| {
        let a = 1.0 + k as f64;
        Mat3::new(a, 4.0, 6.0, 4.0, 2.0, 5.0, 6.0, 5.0, 3.0)
    };
    let tensors: Vec<Mat3> = (0..topology.solids()).map(tensor).collect();
    let data = FrameData { stress: &tensors, strain: &tensors, ..state.data(3, 0.1) };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let written = |fields: &[Field]| {
        write_vtu(&path, &topology, &data, fields).unwrap();
        let mut file = FrameFile::open(&path).unwrap();
        ["stress", "principal_stress", "strain"].map(|name| file.floats(name).unwrap())
    };
    assert_eq!(written(&scene.output.fields), [None, None, None]);
    let [stress, principal, strain] =
        written(&[Field::Stress, Field::PrincipalStress, Field::Strain]).map(Option::unwrap);
    assert_eq!(stress.len(), 6 * topology.cells());
    assert_eq!(stress[..6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(stress[6..8], [2.0, 2.0]);
    assert!(stress[6 * tensors.len()..].iter().all(|s| *s == 0.0) && strain == stress);
    let values = tensors[0].symmetric_eigenvalues();
    assert!((principal[0] - values.max()).abs() < 1e-12 && principal[0] > principal[1]);
    assert!((principal[..3].iter().sum::<f64>() - 6.0).abs() < 1e-12);
    assert_eq!(principal.len(), 3 * topology.cells());
    let at_vertices = vec![tensors[0]; topology.rest.len()];
    let errors = vec![0.5; topology.solids()];
    let recovered = FrameData { recovered_stress: &at_vertices, stress_error: &errors, ..data };
    write_vtu(&path, &topology, &recovered, &[Field::RecoveredStress]).unwrap();
    let mut file = FrameFile::open(&path).unwrap();
    let [stress, scalar, error] = ["recovered_stress", "recovered_von_mises", "stress_error"]
        .map(|name| file.floats(name).unwrap().unwrap());
    assert_eq!(
        (stress.len(), &stress[..6]),
        (6 * topology.rest.len(), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..])
    );
    assert_eq!((scalar.len(), error.len()), (topology.rest.len(), topology.cells()));
    assert!((scalar[0] - von_mises(&tensors[0])).abs() < 1e-12 && error[0] == 0.5);
    let short = FrameData { stress: &tensors[1..], ..data };
    assert!(write_vtu(&path, &topology, &short, &[]).is_err());
    // the plastic strain where something yields
    let strains: Vec<f64> = (0..topology.solids()).map(|k| 0.1 * k as f64).collect();
    let data = FrameData { plastic_strain: &strains, ..state.data(3, 0.1) };
    write_vtu(&path, &topology, &data, &scene.output.fields).unwrap();
    let mut read = FrameFile::open(&path).unwrap().floats("plastic_strain").unwrap().unwrap();
    assert!(read.split_off(strains.len()).iter().all(|s| *s == 0.0) && read == strains);
}

#[test]
fn frames_read_back_to_the_same_bits() {
    let scene = scene();
    let topology = Topology::new(&scene.definition);
    let state = State::new(&topology);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    write_vtu(&path, &topology, &state.data(3, 0.1), &scene.output.fields).unwrap();

    let frame = read_frame(&path).unwrap();
    assert_eq!((frame.time, &frame.positions), (0.1, &state.positions));
    assert_eq!((&frame.velocity, &frame.contact_force), (&state.velocities, &state.forces));
    assert_eq!((&frame.von_mises, &frame.tets), (&state.stress, &topology.tets));
    assert_eq!(frame.quadratic, topology.quadratic);
    assert_eq!(frame.boundary().len(), topology.surface.len() - frame.triangles.len());
    assert_eq!(frame.contact_reach, state.reach);
    assert_eq!((&frame.triangles, &frame.edges), (&topology.triangles, &topology.edges));
    assert_eq!((&frame.points, &frame.cell_body), (&topology.points, &topology.cell_body));
    let expected: Vec<Vec3> =
        state.positions.iter().zip(&topology.rest).map(|(x, r)| x - r).collect();
    assert_eq!(frame.displacement, expected);
}

/// Quadratic triangles of a solid in the plane come behind the linear ones and have values like these.
#[test]
fn frames_of_quadratic_triangles_read_back() {
    let text = "dimension = 2\n[[objects]]\nname = \"a\"\nshape = { kind = \"rectangle\", cells = [2, 1] }\nelement = \"linear\"\n\
                [[objects]]\nname = \"b\"\nshape = { kind = \"rectangle\", cells = [1, 1] }\nelement = \"quadratic\"\ntranslate = [3, 0]\n\
                [[objects]]\nname = \"wire\"\nshape = { kind = \"polyline\", points = [[0, -2], [4, -2]] }\n";
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let topology = Topology::new(&scene.definition);
    assert_eq!(topology.solids(), topology.triangles.len() + topology.quadratic_triangles.len());
    assert!(topology.triangles.len() == 4 && topology.quadratic_triangles.len() == 2);
    let state = State::new(&topology);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    write_vtu(&path, &topology, &state.data(3, 0.1), &scene.output.fields).unwrap();
    let frame = read_frame(&path).unwrap();
    assert_eq!(frame.quadratic_triangles, topology.quadratic_triangles);
    assert_eq!((&frame.von_mises, &frame.triangles), (&state.stress, &topology.triangles));
    assert_eq!((&frame.edges, &frame.cell_body), (&topology.edges, &topology.cell_body));
    assert_eq!(frame.cell_body, [0, 0, 0, 0, 1, 1, 2]);
    let mesh = standoff_mesh::format::read(&path).unwrap();
    assert_eq!(mesh.divided, [4, 8]);
    assert_eq!(mesh.triangles.len(), 4 + 4 * 2);
}

#[test]
fn others_read_the_frames() {
    let scene = scene();
    let topology = Topology::new(&scene.definition);
    let state = State::new(&topology);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    write_vtu(&path, &topology, &state.data(3, 0.1), &scene.output.fields).unwrap();

    // the reader of mesh files shares no code with the writer
    let mesh = standoff_mesh::format::read(&path).unwrap();
    let n = state.positions.len();
    // behind them are the middles of the edges of the linear tetrahedra, which it has beside the quadratic ones
    assert_eq!(mesh.points[..n], state.positions);
    let (linear, quadratic) = mesh.tets.split_at(topology.tets.len());
    assert_eq!(linear, topology.tets);
    assert_eq!(quadratic.len(), topology.quadratic.len());
    for ((t, m), nodes) in
        quadratic.iter().zip(&mesh.middles[linear.len()..]).zip(&topology.quadratic)
    {
        assert_eq!([&t[..], &m[..]].concat(), nodes);
    }
    assert_eq!(mesh.region("body=1").unwrap().triangles.len(), topology.triangles.len());
}

#[test]
fn cells_have_their_subdomain() {
    let text = r#"
solver = { method = "dot", decomposition = { subdomains = 2 } }
[[objects]]
name = "bar"
shape = { kind = "box", size = [2, 1, 1], cells = [4, 2, 2] }
[[objects]]
name = "board"
role = "obstacle"
shape = { kind = "plane", cells = [4, 4] }
translate = [0, 2, 0]
"#;
    let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let simulation = Simulation::new(&scene.definition).unwrap();
    let topology = Topology::new(&scene.definition);
    let subdomain = topology.subdomains(simulation.model().decomposition.as_deref().unwrap());
    assert!(subdomain.contains(&0) && subdomain.contains(&1));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let positions = simulation.positions();
    let data = FrameData { positions, subdomain: &subdomain, ..FrameData::default() };
    write_vtu(&path, &topology, &data, &scene.output.fields).unwrap();
    let mesh = standoff_mesh::format::read(&path).unwrap();
    let tets = |s: u32| subdomain[..topology.tets.len()].iter().filter(|x| **x == s).count();
    assert_eq!(mesh.region("subdomain=0").map_or(0, |r| r.tets.len()), tets(0));
    assert_eq!(mesh.region("subdomain=1").map_or(0, |r| r.tets.len()), tets(1));
    let short = FrameData { positions, subdomain: &subdomain[1..], ..FrameData::default() };
    let error = write_vtu(&path, &topology, &short, &scene.output.fields).unwrap_err();
    assert!(matches!(error, OutputError::Length { what: "subdomains", .. }), "{error}");
}

#[test]
fn wrong_lengths_are_refused() {
    let scene = scene();
    let topology = Topology::new(&scene.definition);
    let state = State::new(&topology);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    let short = FrameData { velocities: &state.velocities[1..], ..state.data(0, 0.0) };
    let error = write_vtu(&path, &topology, &short, &scene.output.fields).unwrap_err();
    assert!(matches!(error, OutputError::Length { what: "velocities", .. }), "{error}");
    assert!(!path.exists());
    // fields may be missing altogether
    let bare = FrameData { positions: &state.positions, ..FrameData::default() };
    write_vtu(&path, &topology, &bare, &scene.output.fields).unwrap();
    let frame = read_frame(&path).unwrap();
    assert!(frame.velocity.is_empty() && frame.von_mises.is_empty());
}

#[test]
fn damaged_frames_are_errors() {
    let scene = scene();
    let topology = Topology::new(&scene.definition);
    let state = State::new(&topology);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtu");
    write_vtu(&path, &topology, &state.data(0, 0.0), &scene.output.fields).unwrap();
    let good = std::fs::read(&path).unwrap();
    for end in [0, 10, 400, 2000, good.len() / 2, good.len() - 100] {
        std::fs::write(&path, &good[..end]).unwrap();
        let error = read_frame(&path).unwrap_err();
        assert!(matches!(error, OutputError::Damaged { .. }), "{end}: {error}");
        assert!(error.to_string().contains("a.vtu"));
    }
    // no byte makes the reader panic
    for k in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[k] ^= 0xff;
        std::fs::write(&path, &bad).unwrap();
        let _ = read_frame(&path);
    }
}

/// A spiral rod that is thrown onto the ground gains energy by Newmark's rule in steps that all converge.
#[test]
fn a_run_that_gains_energy_out_of_nothing_says_so() {
    let points: Vec<String> = (0..26)
        .map(|k| {
            let (turn, radius) = (0.5 * f64::from(k), 0.1 + 0.005 * f64::from(k));
            let (x, y, z) = (radius * turn.cos(), 0.05 + 0.02 * f64::from(k), radius * turn.sin());
            format!("[{x}, {y}, {z}]")
        })
        .collect();
    let text = format!(
        r#"
ground = 0.0
time = {{ step = 0.01, end = 0.5, integrator = "newmark" }}
contact = {{ d_hat = 0.001, stiffness = 1e8 }}
friction = {{ coefficient = 0 }}
solver = {{ end.velocity = 1e-7 }}
[[objects]]
name = "rod"
role = "rod"
radius = 0.002
material = {{ young_modulus = 1e9, density = 1000 }}
shape = {{ kind = "polyline", points = [{}] }}
velocity = [0, -2, 0]
"#,
        points.join(", ")
    );
    let warnings = |set: &str| {
        let path = Path::new("scene.toml");
        let scene = Scene::parse(&text, path, Path::new(""), &[set.to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut told = Vec::new();
        let summary = standoff_run::run(&scene, folder.path(), Options::default(), &mut |event| {
            if let Event::Warning(text) = event {
                told.push(text.clone());
            }
            ControlFlow::Continue(())
        });
        assert!(summary.unwrap().is_success());
        told
    };
    let told = warnings("time.integrator=\"newmark\"");
    assert!(told.len() == 1 && told[0].contains("the energy has grown"), "{told:?}");
    for set in ["time.integrator=\"bdf2\"", "time.stiffness_damping=5e-4"] {
        let told = warnings(set);
        assert!(told.is_empty(), "{set}: {told:?}");
    }
}

#[test]
fn a_run_folder_from_start_to_end() {
    let scene = scene();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/run");
    let mut run = RunFolder::create(&path, &scene, false).unwrap();
    let state = State::new(run.topology());
    let mut summary = Summary::default();
    run.write_frame(&state.data(0, 0.0)).unwrap();
    for step in 1..=5 {
        let time = 0.01 * step as f64;
        let report = StepReport {
            step,
            time,
            newton_iterations: step,
            contacts: 2 * step,
            min_gap: (step > 1).then_some(1e-3 / step as f64),
            ..StepReport::default()
        };
        summary.add(&report);
        run.append_stats(&report).unwrap();
        if run.wants_frame(step, time) {
            run.write_frame(&state.data(step, time)).unwrap();
        }
    }
    assert_eq!(run.last_frame(), Some(4));

    let files: Vec<u64> = frame_files(&path).unwrap().into_iter().map(|(step, _)| step).collect();
    assert_eq!(files, [0, 2, 4]);
    let pvd = std::fs::read_to_string(path.join("run.pvd")).unwrap();
    assert!(pvd.contains(r#"timestep="0.04" part="0" file="frames/000004.vtu""#), "{pvd}");
    let stats = std::fs::read_to_string(path.join("stats.jsonl")).unwrap();
    let lines: Vec<StepReport> = stats.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((lines.len(), lines[4].contacts, lines[0].min_gap), (5, 10, None));
    for key in [
        "step",
        "time",
        "newton_iterations",
        "linear_iterations",
        "contacts",
        "min_gap",
        "kappa",
        "kinetic_energy",
        "elastic_energy",
        "gravity_energy",
        "contact_energy",
        "linear_momentum",
        "angular_momentum",
        "step_cuts",
        "seconds",
    ] {
        assert!(stats.lines().next().unwrap().contains(&format!("\"{key}\":")), "{key}");
    }
    let surface = standoff_mesh::format::read(&path.join("surface/000004.obj")).unwrap();
    assert_eq!(surface.triangles.len(), run.topology().surface.len());
    assert_eq!((surface.edges.len(), surface.vertices.len()), (1, 2));
    let info = RunInfo::read(&path).unwrap();
    assert_eq!(info.bodies.len(), 5);
    assert!(!info.bodies[0].obstacle && info.bodies[3].obstacle);
    assert_eq!(info.half_spaces[0].origin, [0.0, -1.0, 0.0]);
    let resolved = Scene::load(&path.join("scene.resolved.toml"), &[]).unwrap();
    assert_eq!(format!("{:?}", resolved.definition), format!("{:?}", scene.definition));
    let text = summary.to_string();
    assert!(
        text.contains("15 (3.0 per step, at most 5)") && text.contains("2.0000e-4 m"),
        "{text}"
    );

    // nothing but results lies there
    let mut names: Vec<String> = std::fs::read_dir(&path)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "checkpoints",
        "frames",
        "run.json",
        "run.pvd",
        "scene.resolved.toml",
        "stats.jsonl",
        "surface",
    ];
    assert_eq!(names, expected);
}

#[test]
fn runs_are_never_mixed() {
    let scene = scene();
    let folder = tempfile::tempdir().unwrap();
    let mut run = RunFolder::create(folder.path(), &scene, false).unwrap();
    let state = State::new(run.topology());
    run.write_frame(&state.data(0, 0.0)).unwrap();
    run.write_frame(&state.data(7, 0.7)).unwrap();
    run.append_stats(&StepReport::default()).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();

    let error = RunFolder::create(folder.path(), &scene, false).unwrap_err();
    assert!(matches!(error, OutputError::Occupied { .. }));
    assert!(error.to_string().contains("--force"), "{error}");
    assert_eq!(frame_files(folder.path()).unwrap().len(), 2);

    // not while it is being written
    let error = RunFolder::create(folder.path(), &scene, true).unwrap_err();
    assert!(matches!(error, OutputError::Busy { .. }), "{error}");
    assert_eq!(frame_files(folder.path()).unwrap().len(), 2);
    drop(run);
    let mut run = RunFolder::create(folder.path(), &scene, true).unwrap();
    run.write_frame(&state.data(0, 0.0)).unwrap();
    assert_eq!(frame_files(folder.path()).unwrap().len(), 1);
    assert_eq!(std::fs::read_to_string(folder.path().join("stats.jsonl")).unwrap(), "");
    assert_eq!(std::fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write_atomically(&path, |out| out.write_all(b"old")).unwrap();
    let error = write_atomically(&path, |out| {
        out.write_all(b"half of the new")?;
        Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
    })
    .unwrap_err();
    assert!(
        error.to_string().contains("a.txt") && error.to_string().contains("free space"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    let error = write_atomically(&folder.path().join("none/a.txt"), |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("none/a.txt"), "{error}");
}

#[test]
fn a_file_in_place_of_the_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "").unwrap();
    let error = RunFolder::create(&path, &scene(), false).unwrap_err();
    assert!(matches!(error, OutputError::Write { .. }) && error.to_string().contains("file"));
    let error = RunInfo::read(folder.path()).unwrap_err();
    assert!(error.to_string().contains("holds no run"), "{error}");
}

#[test]
fn frames_by_interval() {
    let text = SCENE.replace("every = 2", "interval = \"0.1 s\"");
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut run = RunFolder::create(folder.path(), &scene, false).unwrap();
    let state = State::new(run.topology());
    run.write_frame(&state.data(0, 0.0)).unwrap();
    let mut time = 0.0;
    for step in 1..=12 {
        time += 0.025;
        if run.wants_frame(step, time) {
            run.write_frame(&state.data(step, time)).unwrap();
        }
    }
    let files: Vec<u64> =
        frame_files(folder.path()).unwrap().into_iter().map(|(step, _)| step).collect();
    assert_eq!(files, [0, 4, 8, 12]);
}

#[test]
fn the_summary_counts_failures() {
    let mut summary = Summary::default();
    summary.add(&StepReport::default());
    assert!(summary.is_success());
    let stopped = Summary { stopped: true, ..summary.clone() };
    assert!(!stopped.is_success());
    assert!(stopped.to_string().contains("stopped by an error after 1 steps"), "{stopped}");
    assert!(!stopped.to_string().contains("every step converged"), "{stopped}");
    let failed = StepReport { outcome: StepOutcome::IterationLimit, ..StepReport::default() };
    summary.add(&failed);
    summary.add(&failed);
    assert!(!summary.is_success());
    assert_eq!(summary.failures, [(StepOutcome::IterationLimit, 2)]);
    assert!(summary.to_string().contains("2 steps: reached the limit"), "{summary}");
}

/// meshio 5 turns raw arrays into base64 one after the other: it replaces the offset in each tag and
/// finds the next array by the first tag with its offset in the file. No array may be found in the place
/// of another, for any number of vertices and cells.
#[test]
fn meshio_finds_every_array() {
    let folder = tempfile::tempdir().unwrap();
    for count in 1..40 {
        let text = format!(
            "[[objects]]\nshape = {{ kind = \"box\", cells = [{count}, 1, 1] }}\n\
             [[objects]]\nshape = {{ kind = \"points\", count = [{count}, 1, 1] }}\n\
             translate = [0, 9, 0]\n"
        );
        let scene = Scene::parse(&text, Path::new("s.toml"), Path::new(""), &[]).unwrap();
        let topology = Topology::new(&scene.definition);
        let state = State::new(&topology);
        let path = folder.path().join(format!("{count}.vtu"));
        write_vtu(&path, &topology, &state.data(0, 0.5), &scene.output.fields).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let head = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
        let text = std::str::from_utf8(&bytes[..head]).unwrap();
        let offset = |tag: &str| -> usize {
            tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let mut tags: Vec<usize> = text.split("<DataArray ").skip(1).map(offset).collect();
        let data = &bytes[head + mark.len()..];
        let mark = b"\n</AppendedData>\n</VTKFile>\n";
        let end = data.windows(mark.len()).rposition(|w| w == mark).unwrap();
        let (mut raw, mut base64) = (0, 0);
        for k in 0..tags.len() {
            assert_eq!(tags.iter().position(|t| *t == raw), Some(k), "{count}: array {k}");
            tags[k] = base64;
            let size = u64::from_le_bytes(data[raw..raw + 8].try_into().unwrap()) as usize;
            raw += 8 + size;
            base64 += (8 + size).div_ceil(3) * 4;
        }
        assert_eq!(raw, end);
        assert_eq!(read_frame(&path).unwrap().positions, state.positions);
    }
}

/// A block that falls, a few steps long.
const FALL: &str = r#"
time = { step = 0.01, end = 0.06 }
output = { checkpoint_every = 2 }
[[objects]]
name = "block"
shape = { kind = "box" }
"#;

fn fall() -> Scene {
    Scene::parse(FALL, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
}

/// Runs with something that is done after the third step; returns the warnings.
fn run_and(folder: &Path, after: &dyn Fn()) -> Result<Vec<String>, standoff_run::RunError> {
    let mut warnings = Vec::new();
    standoff_run::run(&fall(), folder, Options::default(), &mut |event| {
        match event {
            Event::Step(report) if report.step == 3 => after(),
            Event::Warning(text) => warnings.push(text.clone()),
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(warnings)
}

fn steps_of(stats: &Path) -> Vec<u64> {
    let text = std::fs::read_to_string(stats).unwrap();
    text.lines().map(|l| serde_json::from_str::<StepReport>(l).unwrap().step).collect()
}

/// Statistics that are removed or replaced during a run are written again, with a warning; the run can be resumed.
#[cfg(unix)]
#[test]
fn statistics_outlive_their_removal() {
    let folder = tempfile::tempdir().unwrap();
    let stats = folder.path().join("stats.jsonl");
    assert!(run_and(folder.path(), &|| {}).unwrap().is_empty());
    for replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let stats = folder.path().join("stats.jsonl");
        let warnings = run_and(folder.path(), &|| {
            std::fs::remove_file(&stats).unwrap();
            if replaced {
                std::fs::write(&stats, "something else\n").unwrap();
            }
        });
        let warnings = warnings.unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("was written again"), "{warnings:?}");
        assert_eq!(steps_of(&stats), [1, 2, 3, 4, 5, 6]);
        let mut longer = fall();
        longer.set_steps(8);
        let go_on = &mut |_: &Event<'_>| ControlFlow::Continue(());
        standoff_run::resume(&longer, folder.path(), go_on).unwrap();
        assert_eq!(steps_of(&stats), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
    // what is changed in place cannot be had back
    let _ = std::fs::remove_dir_all(folder.path());
    let warnings = run_and(folder.path(), &|| {
        std::fs::write(&stats, "").unwrap();
    });
    let warnings = warnings.unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("may be missing"), "{warnings:?}");
    assert_eq!(steps_of(&stats), [3, 4, 5, 6]);
    // another run has taken the folder
    let _ = std::fs::remove_dir_all(folder.path());
    let other = std::cell::RefCell::new(None);
    let error = run_and(folder.path(), &|| {
        std::fs::remove_file(&stats).unwrap();
        let file = std::fs::File::create(&stats).unwrap();
        file.lock().unwrap();
        *other.borrow_mut() = Some(file);
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("being written by another process"), "{error}");
}

/// A run never writes where a link in its folder leads, forced or not, begun or resumed.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_links() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (victim, run) = (folder.path().join("victim"), folder.path().join("run"));
    run_and(&victim, &|| {}).unwrap();
    let content = || {
        let mut all = Vec::new();
        for inner in ["", "frames", "checkpoints"] {
            let entries = std::fs::read_dir(victim.join(inner)).unwrap().map(|e| e.unwrap().path());
            all.extend(entries.filter(|f| f.is_file()).map(|f| (std::fs::read(&f).unwrap(), f)));
        }
        all.sort();
        all
    };
    let before = content();
    for name in ["frames", "checkpoints", "stats.jsonl", "run.json"] {
        for dangling in [false, true] {
            for resumed in [false, true] {
                let _ = std::fs::remove_dir_all(&run);
                if resumed {
                    run_and(&run, &|| {}).unwrap();
                }
                std::fs::create_dir_all(&run).unwrap();
                let link = run.join(name);
                if link.is_dir() {
                    std::fs::remove_dir_all(&link)
                } else {
                    std::fs::remove_file(&link)
                }
                .ok();
                let target = if dangling { victim.join("new") } else { victim.join(name) };
                symlink(&target, &link).unwrap();
                let force = Options { force: true };
                let mut longer = fall();
                longer.set_steps(8);
                let go_on = &mut |_: &Event<'_>| ControlFlow::Continue(());
                let result = standoff_run::run(&longer, &run, force, go_on);
                let error = result.map(|_| ()).unwrap_err().to_string();
                assert!(
                    error.contains("is a link to") && error.contains("remove the link"),
                    "{error}"
                );
                let result = standoff_run::run(&longer, &run, Options::default(), go_on);
                result.map(|_| ()).unwrap_err();
                standoff_run::resume(&longer, &run, go_on).map(|_| ()).unwrap_err();
                assert_eq!(content(), before, "{name}");
            }
        }
    }
    // the folder itself may be one, since the user named it
    let _ = std::fs::remove_dir_all(&run);
    std::fs::create_dir(folder.path().join("real")).unwrap();
    symlink(folder.path().join("real"), &run).unwrap();
    run_and(&run, &|| {}).unwrap();
}

/// Pipes and devices among the files of a run are errors, not waited for.
#[cfg(unix)]
#[test]
fn special_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    run_and(folder.path(), &|| {}).unwrap();
    for name in ["run.json", "frames/000003.vtu", "checkpoints/000006.ckpt", "stats.jsonl"] {
        let path = folder.path().join(name);
        let kept = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = match name {
            "run.json" => RunInfo::read(folder.path()).unwrap_err().to_string(),
            "frames/000003.vtu" => read_frame(&path).unwrap_err().to_string(),
            "checkpoints/000006.ckpt" => {
                standoff_run::read_checkpoint(&path, 0).unwrap_err().to_string()
            }
            _ => {
                assert!(!standoff_run::is_being_written(folder.path()));
                ResumePoint::find(folder.path(), 0).unwrap_err().to_string()
            }
        };
        assert!(error.contains("it is no regular file"), "{error}");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, kept).unwrap();
    }
}
