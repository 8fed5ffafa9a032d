//! Presets: what they set, what a scene's own keys do to them, and one result of each one's paper.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::definition::presets::Preset;
use standoff_sim::settings::{ContactPotential, Fallback, Method, Settings, ThicknessBarrier};
use standoff_sim::{Simulation, StepOutcome};
use std::path::Path;

fn parse(text: &str, set: &[&str]) -> Scene {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scene::parse(text, Path::new("scene.toml"), Path::new(""), &set)
        .unwrap_or_else(|e| panic!("{e}"))
}

const BALL: &str = "[[objects]]\nname = \"ball\"\nshape = { kind = \"box\" }\n";

fn name(preset: Preset) -> String {
    toml::Value::try_from(preset).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn a_preset_sets_what_the_scene_does_not() {
    for preset in Preset::ALL {
        let line = format!("preset = \"{}\"", name(preset));
        let scene = parse(&format!("{line}\n{BALL}"), &[]);
        assert_eq!(scene.definition.settings, preset.settings(), "{line}");
        preset.settings().validate().unwrap();
        // written out and read again, it is the same scene
        let again = parse(&scene.resolved_toml().unwrap(), &[]);
        assert_eq!(again.definition.settings, preset.settings(), "{line}");
        // by an option, too
        assert_eq!(parse(BALL, &[&line]).definition.settings, preset.settings());
    }
    assert_eq!(Preset::Standoff.settings(), Settings::default());

    let own =
        "preset = \"c-ipc-2021\"\n[contact]\nthickness_barrier = \"even\"\nd_hat = \"2 mm\"\n";
    let scene = parse(&format!("{own}{BALL}"), &["solver.end.consecutive=1"]);
    let mut expected = Preset::CodimensionalIpc2021.settings();
    expected.contact.thickness_barrier = ThicknessBarrier::Even;
    expected.contact.d_hat = Some(0.002);
    expected.solver.end.consecutive = 1;
    assert_eq!(scene.definition.settings, expected);

    let error = Scene::parse("preset = \"ipc\"\n", Path::new("s.toml"), Path::new(""), &[]);
    let message = error.unwrap_err().to_string();
    let parts = ["s.toml:1:10", "preset", "'ipc'", "standoff, ipc-2020, c-ipc-2021"];
    parts.iter().for_each(|p| assert!(message.contains(p), "'{p}' is missing in: {message}"));
}

/// Way down the slope of tangent ½ and speed at the end, of the mean of all vertices, after `steps`.
fn slide(scene: &Scene, steps: usize) -> (f64, f64) {
    let down = Vec3::new(2.0, -1.0, 0.0).normalize();
    let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
    let mean = |v: &[Vec3]| v.iter().map(|v| v.dot(&down)).sum::<f64>() / v.len() as f64;
    let start = mean(simulation.positions());
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    (mean(simulation.positions()) - start, mean(simulation.velocities()))
}

/// g (sin a − μ cos a) on the slope of tangent ½.
fn acceleration(mu: f64) -> f64 {
    9.81 * (1.0 - 2.0 * mu) / 5f64.sqrt()
}

/// [Li 2020, §8.2 and the reference's scenes slope_0.49 and slope_0.5]: a stiff block stays on a slope of
/// tangent ½ with μ = 0.5 and slides by the analytic acceleration with μ = 0.49.
#[test]
fn ipc_2020_finds_the_threshold_of_friction_of_a_block() {
    let scene = |mu: f64| {
        parse(
            &format!(
                "preset = \"ipc-2020\"\ntime = {{ step = 0.025, end = 10 }}\n\
                 contact = {{ d_hat = 1e-3, stiffness = 1e11 }}\n\
                 friction = {{ coefficient = {mu}, stick_speed = 1e-5, lagging = \"converged\" }}\n\
                 solver = {{ end.velocity = 1e-7 }}\n\
                 [[half_spaces]]\nname = \"slope\"\nnormal = [1, 2, 0]\n\
                 [[objects]]\nshape = {{ kind = \"box\" }}\nrotate = [0, 0, -26.56505117707799]\n\
                 translate = [0.22417641, 0.44835283, 0]\n\
                 material = {{ law = \"fixed-corotated\", young_modulus = 1e12, density = 1000 }}\n"
            ),
            &[],
        )
    };
    let (way, speed) = slide(&scene(0.49), 120);
    println!("μ = 0.49: {way} m, {speed} m/s");
    assert!((speed / (3.0 * acceleration(0.49)) - 1.0).abs() < 0.05, "{speed}");
    let (way, speed) = slide(&scene(0.51), 120);
    println!("μ = 0.51: {way} m, {speed} m/s");
    assert!(way.abs() < 1e-3 && speed.abs() < 2e-5, "{way} {speed}");
}

/// [Li 2021, suppl. §6]: a cloth on a slope of tangent ½, d̂ = 1 mm, ε_v = 1 mm/s, h = 0.04 s, 4 s.
/// The ends of a bar turn by 144° each in one step, for which the way straight to their targets would crush what is beside
/// them: with a law of finite energy at J ≤ 0, as in the largest step of [Li 2020, Table 1].
#[test]
fn ipc_2020_turns_ends_by_large_angles_in_a_step() {
    let scene = parse(
        r#"
        preset = "ipc-2020"
        gravity = [0, 0, 0]
        time = { step = 2, end = 2 }
        contact = { d_hat = 0.001 }
        materials.soft = { law = "fixed-corotated", density = 1000, young_modulus = 1e4, poisson_ratio = 0.4 }

        [[objects]]
        name = "bar"
        shape = { kind = "box", size = [1, 0.2, 0.2], cells = [12, 3, 3] }
        material = "soft"
        motion = [
            { vertices = "left", angular_velocity = [-72, 0, 0], pivot = [0, 0, 0] },
            { vertices = "right", angular_velocity = [72, 0, 0], pivot = [0, 0, 0] },
        ]

        [objects.regions]
        left = { box = { min = [-inf, -inf, -inf], max = [-0.45, inf, inf] } }
        right = { box = { min = [0.45, -inf, -inf], max = [inf, inf, inf] } }
        "#,
        &[],
    );
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let report = simulation.step().unwrap();
    assert_eq!(report.outcome, StepOutcome::Converged);
    assert!(simulation.audit().is_empty());
    let (sin, cos) = 144.0_f64.to_radians().sin_cos();
    for (rest, x) in scene.definition.bodies[0].rest.iter().zip(simulation.positions()) {
        if rest.x.abs() > 0.45 {
            let sin = sin * rest.x.signum();
            let (y, z) = (cos * rest.y - sin * rest.z, sin * rest.y + cos * rest.z);
            let off = (x.x - rest.x).abs().max((x.y - y).abs()).max((x.z - z).abs());
            // within a thousandth of the way of a corner, as the constraints of the paper
            assert!(off < 3e-4, "{off:e}");
        }
    }
}

/// The same in the plane, where the ends of a bar turn towards each other.
#[test]
fn ipc_2020_turns_ends_by_large_angles_in_the_plane() {
    let scene = parse(
        r#"
        dimension = 2
        preset = "ipc-2020"
        gravity = [0, 0]
        time = { step = 2, end = 2 }
        contact = { d_hat = 0.001 }
        materials.soft = { law = "fixed-corotated", density = 1000, young_modulus = 1e4, poisson_ratio = 0.4 }

        [[objects]]
        name = "bar"
        shape = { kind = "rectangle", size = [1, 0.2], cells = [12, 3] }
        material = "soft"
        motion = [
            { vertices = "left", angular_velocity = -72, pivot = [-0.3, 0] },
            { vertices = "right", angular_velocity = 72, pivot = [0.3, 0] },
        ]

        [objects.regions]
        left = { box = { min = [-inf, -inf], max = [-0.45, inf] } }
        right = { box = { min = [0.45, -inf], max = [inf, inf] } }
        "#,
        &[],
    );
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    assert_eq!(simulation.step().unwrap().outcome, StepOutcome::Converged);
    assert!(simulation.audit().is_empty());
}

#[test]
fn c_ipc_2021_finds_the_threshold_of_friction_of_a_cloth() {
    let scene = |mu: f64| {
        parse(
            &format!(
                "preset = \"c-ipc-2021\"\ntime = {{ step = 0.04, end = 4 }}\n\
                 contact = {{ d_hat = 1e-3 }}\n\
                 friction = {{ coefficient = {mu}, stick_speed = 1e-3, lagging = \"converged\" }}\n\
                 solver = {{ end.velocity = 1e-4 }}\n\
                 [[half_spaces]]\nname = \"slope\"\nnormal = [1, 2, 0]\n\
                 [[objects]]\nrole = \"shell\"\n\
                 shape = {{ kind = \"plane\", size = [0.5, 0.5], cells = [6, 6] }}\n\
                 rotate = [0, 0, -26.56505117707799]\n\
                 translate = [4.2e-4, 8.4e-4, 0]\n\
                 material = {{ shell = {{ fabric = \"cotton\" }} }}\n"
            ),
            &[],
        )
    };
    let (way, speed) = slide(&scene(0.49), 100);
    println!("μ = 0.49: {way} m, {speed} m/s");
    assert!((speed / (4.0 * acceleration(0.49)) - 1.0).abs() < 0.05, "{way} {speed}");
    let (way, speed) = slide(&scene(0.5), 100);
    println!("μ = 0.5: {way} m, {speed} m/s");
    assert!(way < 4.0 * 2e-3 && speed < 2e-3, "{way} {speed}");
}

/// [Li 2021, §6.9]: 54 cards come to rest 15.4 mm high, by the material, step, friction and tolerance of its code
/// (`8_precision_card_shuffle.py`). Nothing was fitted: κ is the one of that code.
#[test]
fn c_ipc_2021_stacks_cards_as_high_as_its_paper() {
    let file = include_str!("../../../scenes/codim/deck.toml");
    let own = ["materials.card.young_modulus=3e9", "materials.card.density=800"];
    let scene = parse(&format!("preset = \"c-ipc-2021\"\n{file}"), &own);
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let mut kappa = 0.0;
    for _ in 0..40 {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged);
        kappa = report.kappa;
    }
    let height = simulation.positions().iter().map(|x| x.y).fold(0.0, f64::max);
    println!("cards of 3 GPa and 800 kg/m³: {:.1} mm, κ {kappa:.3e} N/m³", 1e3 * height);
    // a card of 1.353 g has twelve vertices
    let mass = 800.0 * 0.3e-3 * 0.0635 * 0.0888 / 12.0;
    assert!((kappa / (1e11 * 3.0 * mass / (64.0 * 0.02 * 0.02)) - 1.0).abs() < 1e-6, "{kappa}");
    assert!((height / 0.0154 - 1.0).abs() < 0.05, "{height}");
}

/// A bar whose ends are pulled apart and twisted: fixed corotated elasticity and a step of 25 ms, as in most examples of
/// [Li 2020 thesis, §3.5].
const TWISTED: &str = r#"
preset = "dot-2019"
gravity = [0, 0, 0]
time = { step = 0.025, end = 0.25 }
materials.soft = { law = "fixed-corotated", density = 1000, young_modulus = 1e5, poisson_ratio = 0.4 }
[[objects]]
name = "bar"
shape = { kind = "box", size = [1, 0.2, 0.2], cells = [20, 4, 4] }
material = "soft"
motion = [
    { vertices = "left", velocity = [-0.4, 0, 0], angular_velocity = [-180, 0, 0], pivot = [0, 0, 0] },
    { vertices = "right", velocity = [0.4, 0, 0], angular_velocity = [180, 0, 0], pivot = [0, 0, 0] },
]
[objects.regions]
left = { box = { min = [-inf, -inf, -inf], max = [-0.49, inf, inf] } }
right = { box = { min = [0.49, -inf, -inf], max = [inf, inf, inf] } }
"#;

/// [Li 2020 thesis, §3.5.2]: methods that end by the same characteristic norm agree; [§3.5.3, Fig. 3.5]: iterations grow
/// with the number of subdomains, but more slowly.
#[test]
fn dot_2019_agrees_with_newton_and_takes_more_iterations_with_more_subdomains() {
    let run = |set: &[&str]| -> (Vec<Vec3>, u64) {
        let scene = parse(TWISTED, set);
        let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
        let mut iterations = 0;
        for _ in 0..10 {
            let report = simulation.step().unwrap_or_else(|e| panic!("{set:?}: {e}"));
            assert_eq!(report.outcome, StepOutcome::Converged, "{set:?}");
            iterations += report.newton_iterations;
        }
        (simulation.positions().to_vec(), iterations)
    };
    let (newton, _) = run(&["solver.method=barrier", "solver.end.characteristic=1e-5"]);
    let by = |count: usize| {
        let (x, iterations) = run(&[&format!("solver.decomposition.subdomains={count}")]);
        let off = x.iter().zip(&newton).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        println!("{count} subdomains: {iterations} iterations, {off:.1e} m from Newton's");
        assert!(off < 2e-3, "{count}: {off}");
        iterations as f64
    };
    let [one, four, sixteen] = [1, 4, 16].map(by);
    assert!(one < four && four < sixteen && sixteen < 8.0 * one, "{one} {four} {sixteen}");
}

/// Way of a block that stands over another one, closer than d̂, without gravity, after 10 steps.
fn way_apart(preset: &str) -> f64 {
    let block = |name: &str, height: f64| {
        format!(
            "[[objects]]\nname = \"{name}\"\nmaterial = \"soft\"\ntranslate = [0, {height}, 0]\n\
             shape = {{ kind = \"box\", size = [1, 0.5, 1], cells = [4, 2, 4] }}\n"
        )
    };
    let text = format!(
        "preset = \"{preset}\"\ngravity = [0, 0, 0]\ntime = {{ step = 0.0047, end = 0.047 }}\n\
         contact = {{ d_hat = 0.025 }}\n\
         materials.soft = {{ young_modulus = 1e4, poisson_ratio = 0.2, density = 100 }}\n{}{}",
        block("low", 0.0),
        block("high", 0.51)
    );
    let scene = parse(&text, &[]);
    let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
    let start = simulation.positions().to_vec();
    for _ in 0..10 {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    simulation.positions().iter().zip(&start).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// [Huang 2024, Fig. 11 and Table 1, two blocks]: nothing acts at rest, whatever d̂; with the potential of 2020 the blocks
/// push each other apart.
#[test]
fn orientation_aware_2024_leaves_two_close_blocks_at_rest() {
    assert_eq!(way_apart("orientation-aware-2024"), 0.0);
    let ipc = way_apart("ipc-2020");
    println!("ipc-2020: {ipc:.1e} m");
    assert!(ipc > 1e-4, "{ipc}");
}

/// Gap between a block and the fixed one that it rests on, both of n³ cells, with a fixed κ.
fn gap(preset: &str, stiffness: f64, n: usize) -> f64 {
    let m = n + 1;
    let scene = parse(
        &format!(
            "preset = \"{preset}\"\ntime = {{ step = 0.02, end = 1 }}\n\
             contact = {{ d_hat = 1e-2, stiffness = {stiffness:e} }}\n\
             solver = {{ end.velocity = 1e-5 }}\n\
             [materials.m]\nyoung_modulus = 1e8\n\
             [[objects]]\nname = \"low\"\nmaterial = \"m\"\n\
             shape = {{ kind = \"box\", size = [0.4, 0.1, 0.4], cells = [{m}, 1, {m}] }}\n\
             fixed = [{{ vertices = \"all\" }}]\n\
             [[objects]]\nname = \"high\"\nmaterial = \"m\"\n\
             shape = {{ kind = \"box\", size = [0.3, 0.1, 0.3], cells = [{n}, 1, {n}] }}\n\
             translate = [0, 0.105, 0]\n"
        ),
        &[],
    );
    let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..60 {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    let first = scene.definition.bodies[0].rest.len();
    let upper = &simulation.positions()[first..];
    upper.iter().map(|p| p.y).fold(f64::INFINITY, f64::min) - 0.05
}

/// [Li 2023]: contact pressure, and with it the gap under a weight, does not depend on the mesh; as
/// published in 2020 it does.
#[test]
fn convergent_2023_has_the_same_gap_on_every_mesh() {
    let d_hat = 1e-2;
    let of = |preset, stiffness| [2, 4, 8].map(|n| gap(preset, stiffness, n) / d_hat);
    let convergent = of("convergent-2023", 1e5);
    println!("convergent: {convergent:?} d̂");
    let spread = |g: [f64; 3]| (g[2] - g[1]).abs().max((g[1] - g[0]).abs());
    assert!(spread(convergent) < 0.06, "{convergent:?}");
    let ipc = of("ipc-2020", 1e8);
    println!("ipc: {ipc:?} d̂");
    assert!(spread(ipc) > 3.0 * spread(convergent), "{ipc:?} {convergent:?}");
    assert_eq!(
        parse(BALL, &["preset=convergent-2023"]).definition.settings.contact.potential,
        ContactPotential::Convergent
    );
}

/// [Zheng 2025, Fig. 12]: cubes on a slope slide by the analytic acceleration below the threshold and stay
/// above it. 20 solves, since the published end does not wait for friction to converge.
#[test]
fn barrier_free_2025_finds_the_threshold_of_friction_of_a_cube() {
    let scene = |mu: f64| {
        parse(
            &format!(
                "preset = \"barrier-free-2025\"\ntime = {{ step = 0.01, end = 1 }}\n\
                 contact = {{ d_hat = 1e-3 }}\n\
                 friction = {{ coefficient = {mu}, stick_speed = 1e-4 }}\n\
                 solver = {{ end.velocity = 1e-6, barrier_free.min_iterations = 20 }}\n\
                 [[half_spaces]]\nname = \"slope\"\nnormal = [1, 2, 0]\n\
                 [[objects]]\nshape = {{ kind = \"box\" }}\nrotate = [0, 0, -26.56505117707799]\n\
                 translate = [0.22405, 0.4481, 0]\n\
                 material = {{ young_modulus = 1e9, density = 1000 }}\n"
            ),
            &[],
        )
    };
    let solver = scene(0.4).definition.settings.solver;
    assert_eq!(solver.method, Method::BarrierFree);
    // and nothing else
    assert_eq!(solver.barrier_free.fallback, Fallback::None);
    let (_, speed) = slide(&scene(0.4), 100);
    println!("μ = 0.4: {speed} m/s");
    assert!((speed / acceleration(0.4) - 1.0).abs() < 0.01, "{speed}");
    let (way, speed) = slide(&scene(0.6), 100);
    println!("μ = 0.6: {way} m, {speed} m/s");
    assert!(way < 0.01 && speed.abs() < 2e-4, "{way} {speed}");
}

/// A plate falls and slides on a block that stands on the ground, their edges parallel; a cloth falls on
/// both; a paddle comes down on the cloth.
const VARIED: &str = r#"
ground = 0.0
time = { step = 0.01, end = 1 }
contact = { d_hat = 2e-3 }
friction = { coefficient = 0.3, lagging = "converged", max_lagging = 5 }
materials.soft = { law = "fixed-corotated", young_modulus = 2e4, poisson_ratio = 0.3 }
[[objects]]
name = "block"
shape = { kind = "box", size = [0.2, 0.1, 0.2], cells = [2, 1, 2] }
material = "soft"
translate = [0, 0.052, 0]
[[objects]]
name = "plate"
element = "linear"
shape = { kind = "box", size = [0.2, 0.04, 0.2], cells = [2, 1, 2] }
material = "soft"
translate = [0.03, 0.124, 0.03]
velocity = [0.4, -0.6, 0]
[[objects]]
name = "cloth"
role = "shell"
shape = { kind = "plane", size = [0.18, 0.18], cells = [3, 3] }
material = { young_modulus = 1e5, density = 400, shell = { thickness = 1e-3 } }
translate = [0.03, 0.149, 0.03]
[[objects]]
name = "paddle"
role = "obstacle"
shape = { kind = "box", size = [0.1, 0.02, 0.1] }
translate = [0.03, 0.18, 0.03]
motion = [{ velocity = [0, -0.6, 0], end = 0.15 }]
"#;

/// Positions after 20 steps, none of which the audit faults.
fn varied(set: &[&str]) -> Vec<Vec3> {
    let scene = parse(VARIED, set);
    let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..20 {
        simulation.step().unwrap_or_else(|e| panic!("{set:?}: {e}"));
    }
    assert_eq!(simulation.audit(), vec![], "{set:?}");
    simulation.positions().to_vec()
}

#[test]
fn every_published_variant_can_be_chosen() {
    let default = varied(&[]);
    // finite at contact: no rule adapts its stiffness
    varied(&["contact.barrier=cubic", "contact.stiffness=1e11"]);
    let name = Path::new("s.toml");
    let cubic = ["contact.barrier=cubic".to_owned()];
    let error = Scene::parse(VARIED, name, Path::new(""), &cubic).unwrap_err().to_string();
    assert!(error.contains("contact.barrier") && error.contains("contact.stiffness"), "{error}");
    for key in [
        "contact.barrier=normalized-clamped-log",
        "contact.barrier=clamped-log-squared",
        "contact.barrier=two-stage",
        "contact.thickness_barrier=published",
        "contact.ccd=additive-published",
        "contact.ccd=inclusion",
        "contact.potential=convergent",
        "friction.transition=linear",
        "friction.transition=cubic",
        "friction.half_space_transition=cubic",
        "friction.mollified_edges=true",
        "friction.relaxation=false",
        "solver.initial_guess=positions",
        "solver.boundary_tolerance_relative=0.01",
        "solver.inversion_barrier=false",
    ] {
        let x = varied(&[key]);
        let differs = x.iter().zip(&default).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        println!("{key}: differs by up to {differs:.2e} m");
        // the same scene, solved as differently as the key says, and not at all elsewhere
        assert!(differs < 0.1, "{key}: {differs}");
        // no element is crushed here to a tenth of its volume, friction does not cycle for long, and no
        // prescribed vertex is obstructed: these have no occasion
        let idle = ["inversion_barrier", "relaxation", "boundary_tolerance"];
        assert_eq!(differs > 0.0, !idle.iter().any(|k| key.contains(k)), "{key}");
    }
}

/// [Zheng 2025, Fig. 9] with the parameters of its Table 2: cubes of 0.2 m and so many cells on a slope of tangent ½, K_min = 6.
fn cube_of_figure_9(mu: f64, subproblem: &str, cells: usize) -> Scene {
    parse(
        &format!(
            "preset = \"barrier-free-2025\"\ntime = {{ step = 0.01, end = 2 }}\n\
             contact = {{ d_hat = 1e-3 }}\n\
             friction = {{ coefficient = {mu}, stick_speed = 1e-5 }}\n\
             solver = {{ barrier_free = {{ min_iterations = 6, subproblem = \"{subproblem}\" }} }}\n\
             [[half_spaces]]\nname = \"slope\"\nnormal = [1, 2, 0]\n\
             [[objects]]\nshape = {{ kind = \"box\", size = [0.2, 0.2, 0.2], cells = [{cells}, {cells}, {cells}] }}\n\
             rotate = [0, 0, -26.56505117707799]\ntranslate = [0.045169, 0.090338, 0]\n\
             [objects.material]\nlaw = \"stable-neo-hookean\"\n\
             young_modulus = 1e6\npoisson_ratio = 0.4\ndensity = 1000\n"
        ),
        &[],
    )
}

/// Mean accelerations down the slope between the given numbers of steps of 0.01 s.
fn accelerations<const N: usize>(scene: &Scene, between: [(usize, usize); N]) -> [f64; N] {
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let down = Vec3::new(2.0, -1.0, 0.0).normalize();
    let steps = between.iter().map(|b| b.1).max().unwrap_or(0);
    let mut speeds = vec![0.0];
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
        let v = simulation.velocities();
        speeds.push(v.iter().map(|v| v.dot(&down)).sum::<f64>() / v.len() as f64);
    }
    between.map(|(a, b)| (speeds[b] - speeds[a]) / (0.01 * (b - a) as f64))
}

/// The accelerations of [Zheng 2025, Fig. 9] between 0.2 s, when the first contacts have their friction, and 1 s.
#[test]
fn barrier_free_2025_slides_cubes_as_in_figure_9() {
    for mu in [0.45, 0.47, 0.49, 0.5, 0.51, 0.53, 0.55] {
        let scene = cube_of_figure_9(mu, "published", 3);
        let [early, late] = accelerations(&scene, [(20, 50), (50, 100)]);
        println!("μ = {mu}: {early:.4}, {late:.4} m/s²");
        let analytic = acceleration(mu).max(0.0);
        assert!((late - analytic).abs() < 0.002, "{mu}: {late} {analytic}");
        assert!((early - analytic).abs() < 0.01, "{mu}: {early} {analytic}");
    }
}

/// Above 0.5 m/s one linear system per solve loses friction, whose first solve of a step begins at rest; exact solves do not.
#[test]
fn published_solves_lose_friction_at_speed_and_exact_ones_do_not() {
    let during = |subproblem: &str, least: u32, cells: usize, between| {
        let mut scene = cube_of_figure_9(0.45, subproblem, cells);
        scene.definition.settings.solver.barrier_free.min_iterations = Some(least);
        let [found] = accelerations(&scene, [between]);
        println!("{subproblem}, {least} solves, {cells} cells, steps {between:?}: {found:.4} m/s²");
        found / acceleration(0.45)
    };
    let late = (150, 200);
    assert!(during("published", 6, 3, late) > 2.0);
    assert!(during("published", 6, 7, (20, 100)) > 1.2);
    for (subproblem, least, cells) in
        [("published", 20, 3), ("active-set", 6, 3), ("published", 6, 1)]
    {
        let right = during(subproblem, least, cells, late);
        assert!((right - 1.0).abs() < 0.002, "{subproblem}, {least}, {cells}: {right}");
    }
    assert!((during("active-set", 6, 7, (20, 100)) - 1.0).abs() < 0.002);
}
