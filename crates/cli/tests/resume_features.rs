//! Runs resume from a checkpoint with the same bits, whatever a step depends on: expressions of t, pressures,
//! attachments, damping, every integrator, mesh sequences, end conditions.

mod runs_support;

use runs_support::{good, path, same_results, text};
use standoff_ipc_import::Import;
use standoff_run::{fingerprint, read_checkpoint};
use std::fs;
use std::path::{Path, PathBuf};

const STEPS: usize = 18;

/// A tray that shakes carries a block that is inflated, blown at, and hangs on a second one by springs
/// until these let go; a triangle that follows a sequence of meshes comes down on it. Beside them a sheet
/// with normals on its edges is turned by one border, and a rod by one end.
const SCENE: &str = r#"
ground = -1
time = { step = 0.01, end = 0.18, stiffness_damping = 2e-3 }
contact = { d_hat = 0.01 }
friction = { coefficient = 0.3, kinetic_coefficient = 0.2 }
output = { every = 2, checkpoint_every = 1 }

[[objects]]
name = "low"
shape = { kind = "box", size = [0.4, 0.3, 0.4], cells = [2, 1, 2] }
translate = [0, 0.205, 0]
forces = [
  { pressure = "2000*(1 + sin(40*t))" },
  { force = ["20*sin(30*t)", 0, "5*t"], end = 0.13 },
]

[[objects]]
name = "high"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
translate = [0.03, 0.53, 0.05]
rotate = [0, 20, 0]
velocity = [0.1, -0.5, 0]
[[objects.fixed]]
vertices = { box = { min = [0, 1, 0], max = [1, 1, 1], relative = true } }
until = { all_beyond = { origin = [0.0, 0, 0], normal = [1, 0, 0], objects = ["flap"] } }

[[objects]]
name = "tray"
shape = { kind = "box", size = [2, 0.1, 2] }
role = "obstacle"
[[objects.motion]]
translation = ["0.02*sin(30*t)", "0.02*(1 - cos(20*t))", 0]
rotation = { axis = [0, 1, 0], angle = "40*t" }

[[objects]]
name = "flap"
mesh = "flap.obj"
[[objects.motion]]
sequence = "frames"

[materials.paper]
young_modulus = "10 MPa"
density = 500
shell = { thickness = "5 mm", bending_model = "shape-operator" }

[[objects]]
name = "sheet"
role = "shell"
shape = { kind = "plane", size = [0.3, 0.3], cells = [3, 2] }
material = "paper"
translate = [0.7, 0.4, 0.6]
[[objects.motion]]
vertices = { box = { min = [0, 0, 0], max = [0.01, 1, 1], relative = true } }
angular_velocity = [30, 0, 90]

[[objects]]
name = "rod"
role = "rod"
radius = "5 mm"
shape = { kind = "polyline", points = [[0.6, 0.3, -0.7], [0.9, 0.35, -0.6]], segments = 4 }
material = "paper"
[[objects.motion]]
vertices = { vertices = [0, 1] }
angular_velocity = [90, 0, 0]

[[attachments]]
object = "low"
to = { object = "high" }
distance = 0.1
stiffness = 300
end = 0.1
"#;

/// Writes the scene with its meshes; the flap passes x = 0 in the tenth step.
fn write_scene(folder: &Path, scene: &str) -> PathBuf {
    let flap = |k: usize| {
        let (x, y) = (0.02 * k as f64 - 0.19, 0.75 - 0.004 * k as f64);
        format!("v {x} {y} -0.2\nv {} {y} -0.2\nv {x} {y} 0.3\nf 1 2 3\n", x + 0.3)
    };
    fs::create_dir(folder.join("frames")).unwrap();
    fs::write(folder.join("flap.obj"), flap(0)).unwrap();
    for k in 0..STEPS {
        fs::write(folder.join(format!("frames/{k}.obj")), flap(k + 1)).unwrap();
    }
    let file = folder.join("scene.toml");
    fs::write(&file, scene).unwrap();
    file
}

/// Runs a scene in one go and in parts; `options` go to every `run`.
fn in_parts(folder: &Path, file: &Path, options: &[&str], parts: &[usize]) -> PathBuf {
    let (whole, out) = (folder.join("whole"), folder.join("parts"));
    let steps = parts[parts.len() - 1].to_string();
    let run = |out: &Path, steps: &str, threads: &str| {
        let args = ["run", path(file), "-o", path(out), "-q", "--force", "--steps", steps];
        good(&[&args[..], &["--threads", threads], options].concat());
    };
    run(&whole, &steps, "1");
    run(&out, &parts[0].to_string(), "2");
    for part in &parts[1..] {
        good(&["resume", path(&out), "-q", "--steps", &part.to_string()]);
    }
    same_results(&whole, &out);
    whole
}

fn reports(run: &Path) -> Vec<serde_json::Value> {
    let stats = text(&fs::read(run.join("stats.jsonl")).unwrap());
    stats.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn with_every_load_and_integrator() {
    for integrator in ["implicit-euler", "bdf2", "newmark", "implicit-midpoint", "alpha-beta-gamma"]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = write_scene(folder.path(), SCENE);
        let set = format!("time.integrator=\"{integrator}\"");
        let parts = [1, 4, 9, 10, 11, 12, STEPS];
        let whole = in_parts(folder.path(), &file, &["--set", &set], &parts);
        let contacts = reports(&whole).iter().filter(|r| r["contacts"] != 0).count();
        assert!(contacts > STEPS / 2, "{integrator}: contact in {contacts} steps");
        // every part of the scene matters: without it the run is another one
        let end = |run: &Path| fs::read(run.join(format!("frames/{STEPS:06}.vtu"))).unwrap();
        let other = folder.path().join("other");
        for (k, option) in [
            "objects.low.forces.0.pressure=0",
            "objects.low.forces.1.force=[0, 0, 0]",
            "objects.tray.motion.0.translation=[0, 0, 0]",
            "objects.tray.motion.0.rotation.angle=0",
            "attachments[0].stiffness=200",
            "attachments[0].end=0.09",
            "time.stiffness_damping=0",
            "objects.high.fixed.0.until.all_beyond.origin=[0.03, 0, 0]",
            "objects.flap.motion.0.end=0.15",
        ]
        .iter()
        .enumerate()
        {
            let args = ["run", path(&file), "-o", path(&other), "-q", "--force", "--set", &set];
            good(&[&args[..], &["--set", option]].concat());
            assert!(end(&whole) != end(&other), "{k}: {option} makes no difference");
        }
    }
}

/// Blocks that yield and relax, one of them with a muscle that beats, thrown on the ground.
#[test]
fn with_what_flowed() {
    const SCENE: &str = r#"
ground = 0
time = { step = 0.005, end = 0.09 }
output = { every = 2, checkpoint_every = 1 }

[materials.lead]
young_modulus = "1 MPa"
plasticity = { yield_stress = "4 kPa", hardening_modulus = "10 kPa" }

[materials.putty]
young_modulus = "20 kPa"
relaxation = [{ ratio = 4, time = "20 ms" }]
fibres = [{ direction = [1, 1, 0], stiffness = "10 kPa", exponent = 1, tension = "5e3*sin(100*t)^2" }]

[[objects]]
name = "lead"
shape = { kind = "box", size = [0.3, 0.3, 0.3], cells = [2, 2, 2] }
translate = [0, 0.16, 0]
velocity = [0, -4, 0]
material = "lead"

[[objects]]
name = "putty"
shape = { kind = "box", size = [0.3, 0.3, 0.3], cells = [2, 2, 2] }
translate = [0.1, 0.5, 0]
velocity = [0, -4, 0]
material = "putty"
"#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scene.toml");
    fs::write(&file, SCENE).unwrap();
    let whole = in_parts(folder.path(), &file, &[], &[1, 7, 8, STEPS]);
    let heat: f64 = reports(&whole).iter().map(|r| r["inelastic_heat"].as_f64().unwrap()).sum();
    assert!(heat > 50.0, "{heat}");
    let drawn = |r: &serde_json::Value| r["energies"]["muscles"].as_f64().unwrap().abs() > 1e-3;
    assert!(reports(&whole).iter().any(drawn));
}

/// An imported scene whose vertices are let go once they have passed an obstacle: the condition is part
/// of the state.
#[test]
fn an_imported_scene_with_an_end_condition() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
                5 1 1 1\n$EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 4 0 2 5 3 4\n$EndElements\n";
    fs::write(folder.path().join("pair.msh"), mesh).unwrap();
    fs::write(folder.path().join("wall.obj"), "v 0 0 0\nv 0.1 0 0\nv 0 0 0.1\nf 1 3 2\n").unwrap();
    let file = folder.path().join("scene.txt");
    for integrator in ["BE", "NM"] {
        fs::write(
            &file,
            format!(
                "energy NH\ntimeIntegration {integrator}\ntime 2 0.02\ndensity 1000\n\
                 stiffness 1e5 0.4\nshapes input 1\npair.msh 0 2 0  0 0 0  0.3 0.3 0.3\n\
                 meshCO wall.obj 0.05 -20 0 1 1 0\nscript dragright\nselfFric 0.2\nground 0.1 0\n"
            ),
        )
        .unwrap();
        let parts = [3, 20, 40, 41, 42, 43, 44, 50];
        let whole = in_parts(folder.path(), &file, &[], &parts);
        // the drag ends on the way
        let definition = Import::load(&file, &[]).unwrap().definition();
        let ended = |run: &Path, step: usize| {
            let checkpoint = run.join(format!("checkpoints/{step:06}.ckpt"));
            read_checkpoint(&checkpoint, fingerprint(&definition)).unwrap().state.ended
        };
        let early = folder.path().join("early");
        good(&["run", path(&file), "-o", path(&early), "-q", "--force", "--steps", "3"]);
        assert_eq!((ended(&early, 3), ended(&whole, 50)), (vec![false], vec![true]));
    }
}
