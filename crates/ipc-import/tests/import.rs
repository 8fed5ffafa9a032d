//! The importer of reference scenes on small scenes with tiny meshes.

mod import_support;

use import_support::{resolve, same};
use standoff_ipc_import::language::{Integration, Script};
use standoff_ipc_import::{Import, NoteKind, Problem, ReferenceScene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyKind, Condition, Definition, Load, Motion, Pivot};
use standoff_sim::material::Law;
use standoff_sim::settings::{Ccd, Integrator, Lagging, LaggingUntil, Transition};
use std::f64::consts::{FRAC_PI_2, PI};
use std::path::Path;
use tempfile::TempDir;

/// The unit cube of six tetrahedra, from its corner at the origin: vertex 4x + 2y + z.
const CUBE: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n\
    1 0 0 0\n2 0 0 1\n3 0 1 0\n4 0 1 1\n5 1 0 0\n6 1 0 1\n7 1 1 0\n8 1 1 1\n$EndNodes\n\
    $Elements\n6\n1 4 2 1 1 1 5 7 8\n2 4 2 1 1 1 7 3 8\n3 4 2 1 1 1 3 4 8\n\
    4 4 2 1 1 1 4 2 8\n5 4 2 1 1 1 2 6 8\n6 4 2 1 1 1 6 5 8\n$EndElements\n";
/// Four tetrahedra around an inner vertex at (¼, ¼, ¼).
const STAR: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n\
    1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0.25 0.25 0.25\n$EndNodes\n\
    $Elements\n4\n1 4 2 1 1 1 2 3 5\n2 4 2 1 1 1 4 2 5\n3 4 2 1 1 1 3 4 5\n4 4 2 1 1 2 4 3 5\n\
    $EndElements\n";
const TET: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n";
const EDGE: &str = "v 0 0 0\nv 1 0 0\ns 1 2\n";

/// A folder with the meshes above under `input/`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    std::fs::create_dir_all(input.join("scenes")).unwrap();
    for (name, text) in [
        ("cube.msh", CUBE),
        ("star.msh", STAR),
        ("tet.obj", TET),
        ("triangle.obj", TRIANGLE),
        ("edge.seg", EDGE),
    ] {
        std::fs::write(input.join(name), text).unwrap();
    }
    folder
}

/// Imports a scene; its scene file resolves to the same definition.
fn import(text: &str) -> Import {
    let folder = folder();
    let path = folder.path().join("input/scenes/scene.txt");
    std::fs::write(&path, text).unwrap();
    let import = Import::load(&path, &[]).unwrap();
    let out = folder.path().join("converted");
    std::fs::create_dir(&out).unwrap();
    let scene = resolve(&import, &out).unwrap();
    if let Err(difference) = same(&import.definition(), &scene.definition) {
        panic!("{difference}\nin\n{}", import.to_toml(&out));
    }
    assert_eq!(scene.output.every, import.output_every);
    import
}

fn define(text: &str) -> Definition {
    import(text).definition()
}

/// The error of a scene, as line and message.
fn fails(text: &str) -> (usize, String) {
    let folder = folder();
    let path = folder.path().join("input/scene.txt");
    std::fs::write(&path, text).unwrap();
    let error = Import::load(&path, &[]).unwrap_err();
    (error.line, error.problem.to_string())
}

fn parse(text: &str) -> ReferenceScene {
    ReferenceScene::parse(Path::new("scene.txt"), text).unwrap()
}

fn near(a: Vec3, b: [f64; 3]) -> bool {
    (a - Vec3::from(b)).amax() < 1e-14
}

const ONE_CUBE: &str = "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1\n";

// ---------------------------------------------------------------- grammar

#[test]
fn later_settings_override_and_surplus_text_is_ignored() {
    let scene = parse(
        "# comment\n\n  time 10 0.01 # trailing\ntime 5\nenergy FCR surplus\ndensity 1 2 3\n\
         timeIntegration NM\nstiffness 1e4\nsize 1\nsize -1\nscript DCOBallHitWall 1 67\n\
         script fall\nscript DCOBallHitWall 1 67\n",
    );
    assert_eq!(scene.time.value, (5.0, 0.01));
    assert_eq!(scene.time.line, 4);
    assert_eq!(scene.law.value, Law::FixedCorotated);
    assert_eq!(scene.density.value, 1.0);
    assert_eq!(scene.integration.value, Integration::Newmark { beta: 0.25, gamma: 0.5 });
    assert_eq!(scene.stiffness.value, (1e4, 0.4));
    assert_eq!(scene.size.value, -1.0);
    assert_eq!(scene.script.value, Script::BallHitWall { speed: 67.0 });
    assert_eq!((scene.self_friction.line, scene.self_friction.value), (0, 0.0));
}

#[test]
fn lists_run_over_lines() {
    let scene = parse("tuning 6 7 8\n0\n\n 1e-4 2e-4\n1e-9\t1e-5 1e-5 time 3\ntol 2\n1 2\nzoom 1");
    assert_eq!(scene.tuning.value, [0.0, 1e-4, 2e-4, 1e-9, 1e-5, 1e-5]);
    // what follows the last number on its line is a line of its own
    assert_eq!(scene.time.value.0, 3.0);
    assert_eq!(scene.tolerances.value, [1.0, 2.0]);
    assert_eq!(scene.notes.len(), 1);
    // short lists leave the rest at its defaults; the last of tuning, dHat and epsv wins
    let scene = parse("dHat 5\ntuning 2\n0\n1e-4\nepsv 1e-7\n");
    assert_eq!(scene.tuning.value, [0.0, 1e-4, 1e-3, 1e-9, 1e-7, 1e-7]);
    // in the reference, the file silently ends at a word among the numbers
    let error =
        ReferenceScene::parse(Path::new("s.txt"), "tol 2\n1e-2\n# comment\n1e-3\n").unwrap_err();
    assert_eq!(error.line, 3);
    assert!(error.to_string().starts_with("s.txt:3: 'tol' of line 1 takes 2 numbers"), "{error}");
}

#[test]
fn sections_act_for_the_solver_so_far() {
    let time = |text: &str| parse(text).time.value.0;
    assert_eq!(time("section SQP QP\ntime 1\nsection end\ntime 2\n"), 2.0);
    assert_eq!(time("time 3\nsection SQP QP\ntime 1\nsection end\n"), 3.0);
    assert_eq!(time("section IP\ntime 1\nsection end\n"), 1.0);
    assert_eq!(time("constraintSolver SQP\nsection QP SQP\ntime 1\nsection end\n"), 1.0);
    // a bare `section` matches nothing and ends nothing
    assert_eq!(time("time 3\nsection QP\ntime 1\nsection\ntime 2\n"), 3.0);
    assert_eq!(time("time 3\nsection\ntime 1\n"), 3.0);
}

#[test]
fn shape_lines_continue_and_hold_options() {
    let scene = parse(
        "shapes input 2\n\n# between\n\
         a.msh 1 2 3  4 5 6  7 8 9 material 1 2 0.3 # rest dropped \\ not this\n\
           initVel 1 0 0 0 90 0 \\\n DBC 0 0 0 1 1 1  1 2 3  4 5 6  0.5\n\
         b.obj 0 0 0  0 0 0  1 1 1 linearVelocity 1 0 0 angularVelocity 0 0 1\n\
         shape input c.msh\nshapeMatrix input 2 1 3 1 1 1\nd.msh 1 1 1 0 0 0 1 1 1 material 1 2 0.3\n",
    );
    assert_eq!(scene.shapes.len(), 4);
    let a = &scene.shapes[0];
    assert_eq!((a.line, a.translate, a.scale), (4, Vec3::new(1., 2., 3.), Vec3::new(7., 8., 9.)));
    assert_eq!(a.options.material, Some([1.0, 2.0, 0.3]));
    assert_eq!(a.options.velocity, Some((Vec3::x(), 90.0 * Vec3::y())));
    let motion = a.options.dirichlet[0];
    assert_eq!(motion.angular, Vec3::new(4.0, 5.0, 6.0));
    assert_eq!(motion.range, (0.5, f64::INFINITY));
    assert_eq!(scene.shapes[1].options.angular, Some(Vec3::z()));
    let matrix = scene.shapes[3].matrix.unwrap();
    assert_eq!((matrix.counts, matrix.base), ([2, 1, 3], Vec3::repeat(1.0)));
}

#[test]
fn a_trailing_blank_repeats_the_last_condition() {
    let line = "a.msh 0 0 0  0 0 0  1 1 1  DBC 0 0 0 1 1 1  1 0 0  0 0 0";
    let count = |end: &str| {
        let scene = parse(&format!("shapes input 1\n{line}{end}\n"));
        (scene.shapes[0].options.dirichlet.len(), scene.notes.len())
    };
    assert_eq!(count(""), (1, 0));
    assert_eq!(count(" "), (2, 1));
    assert_eq!(count(" # x "), (1, 0));
    assert_eq!(count("\r"), (1, 0));
}

#[test]
fn what_cannot_be_honoured_stops_with_its_line() {
    for (text, line, words) in [
        ("zoom 1\ntimee 3\n", 2, "did you mean 'time'"),
        ("restart status100\n", 1, "restarting"),
        ("script twst\n", 1, "did you mean 'twist'"),
        ("energy XX\n", 1, "NH and FCR"),
        ("time ten\n", 1, "expected a number"),
        ("time 1 0\n", 1, "must be positive"),
        ("kappaMinMultiplier 1e9\n", 1, "1e11"),
        ("shapes input 2\na.msh 0 0 0 0 0 0 1 1 1\n", 1, "only 1 follow"),
        ("shapes input 1\na.msh 0 0 0 0 0 0 1 1\n", 2, "lacks a number of its scale"),
        ("shapes input 1\na.msh 0 0 0 0 0 0 1 1 1 spin 1\n", 2, "unknown option 'spin'"),
        ("shapes grid 1\n", 1, "the shape kind 'grid'"),
        ("shapeMatrix input 1 1 1\na.msh 0 0 0 0 0 0 1 1 1 linearVelocity 1 0 0\n", 2, "no option"),
        ("halfSpace 0 0 0  0 0 0  50 0\n", 1, "normal"),
        ("meshCO x.obj 0 0 0 0 1 1\n", 1, "scale"),
        ("handleRatio 0.5\n", 1, "between 0 and 0.5"),
        ("dHat 0\n", 1, "must be positive"),
        ("dHat\n", 1, "lacks its value"),
        ("selfFric\n", 1, "lacks its value"),
        ("density\n", 1, "lacks its value"),
        ("time\n", 1, "lacks its first value"),
        ("tol\n", 1, "lacks the number of values"),
        ("density 0\n", 1, "'density': 0 is out of range"),
        ("stiffness -1 0.4\n", 1, "'stiffness': -1 is out of range"),
        ("\nstiffness 1e5 -0.3\n", 2, "no lower bound"),
        ("selfFric -1\n", 1, "'selfFric': -1 is out of range"),
        ("tuning 6\n0 1 1 1 1 0\n", 1, "must be positive"),
        ("tol 1\n0\n", 1, "must be positive"),
        ("shapeMatrix input 4000000000 4000000000 4000000000\n", 1, "copies"),
        ("timeIntegration NM 0.3 0.6\n", 1, "β = 0.3"),
        ("rotateModel 1 1 0 90\n", 1, "normalise"),
        ("shapes input 1\ninput/cube.ele 0 0 0 0 0 0 1 1 1\n", 2, "--mesh-root"),
        ("shapes input 1\ninput/cube.stl 0 0 0 0 0 0 1 1 1\n", 2, ".seg or .pt"),
        ("shapes input 1\ninput/cube.msh 0 0 0 0 0 0 -1 1 1\n", 2, "mirrors"),
        ("shapes input 1\ninput/no.msh 0 0 0 0 0 0 1 1 1\n", 2, "--mesh-root"),
        ("script fall\nshapes input 1\ninput/tet.obj 0 9 0 0 0 0 1 1 1\n", 3, "loose mass"),
        ("script dragright\n", 1, "needs a meshCO"),
        ("script DCORotCylinders\n", 1, "needs 4 shapes"),
        (
            "shapes input 1\ninput/cube.msh 0 9 0 0 0 0 1 1 1 NBC 0 0 0 1 1 1 1 1 1\n",
            2,
            "earlier block",
        ),
    ] {
        // a valid scene otherwise; it goes first or last, wherever lines keep their numbers
        let text = match words {
            "earlier block" | "loose mass" => format!("shape input input/cube.msh\n{text}"),
            "only 1 follow" => text.to_owned(),
            _ => format!("{text}{ONE_CUBE}"),
        };
        let line = if matches!(words, "earlier block" | "loose mass") { line + 1 } else { line };
        let (at, message) = fails(&text);
        assert!(message.contains(words), "'{words}' is not in: {message}");
        assert_eq!(at, line, "{message}");
    }
}

#[test]
fn a_file_with_a_path_stands_for_that_file() {
    let folder = folder();
    let target = folder.path().join("input/target.txt");
    std::fs::write(&target, ONE_CUBE).unwrap();
    let link = folder.path().join("input/scenes/link.txt");
    std::fs::write(&link, "../target.txt\n").unwrap();
    let import = Import::load(&link, &[]).unwrap();
    assert!(import.scene.file.ends_with("target.txt"));
    // one that leads to itself is no endless loop
    std::fs::write(&link, "link.txt").unwrap();
    assert!(Import::load(&link, &[]).is_err());
    let gone = Import::load(&folder.path().join("gone.txt"), &[]).unwrap_err();
    assert!(matches!(gone.problem, Problem::Unreadable(_)));
}

// ---------------------------------------------------------------- positions

#[test]
fn placement_turns_z_first_about_the_origin_of_the_file() {
    let d = define("shapes input 1\ninput/cube.msh 10 0 0  90 0 90  2 1 1\n");
    // (1, 0, 0) → scaled (2, 0, 0) → about z (0, 2, 0) → about x (0, 0, 2)
    assert!(near(d.bodies[0].rest[4], [10.0, 0.0, 2.0]), "{:?}", d.bodies[0].rest[4]);
    assert!(d.bodies[0].start.is_empty());
}

#[test]
fn rotate_model_turns_the_start_about_half_the_extents() {
    // the box [2,3] × [1,3]: its node (2, 1, 0) goes to (0.5, 2.5, 0)
    let text = "shapes input 1\ninput/cube.msh 2 1 0  0 0 0  1 2 1\nrotateModel 0 0 1 90\n";
    let d = define(text);
    assert!(near(d.bodies[0].rest[0], [2.0, 1.0, 0.0]));
    assert!(near(d.bodies[0].start[0], [0.5, 2.5, 0.0]), "{:?}", d.bodies[0].start[0]);
    // with `size` the start fills the box from the origin; the rest is scaled with it
    let d = define(&format!("{text}size 4\nscript fall\n"));
    let (start, rest) = (&d.bodies[0].start, &d.bodies[0].rest);
    let lift = 0.5 * (16.0f64 + 4.0 + 4.0).sqrt();
    let low = start.iter().fold(start[0], |m, x| m.inf(x));
    assert!((low - Vec3::new(0.0, lift, 0.0)).amax() < 1e-14);
    for (a, b) in [(0, 4), (0, 2), (1, 7)] {
        let lengths = ((start[a] - start[b]).norm(), (rest[a] - rest[b]).norm());
        assert!((lengths.0 - lengths.1).abs() < 1e-14);
    }
    assert!((rest[0] - rest[2]).y.abs() > 3.9);
}

#[test]
fn size_fills_a_box_from_the_origin_and_fall_raises_by_half_the_diagonal() {
    let matrix = "shapeMatrix input 2 1 3\ninput/cube.msh 3 1 3.5  0 0 0  1 1 1\n";
    let d = define(&format!("{matrix}size 1\n"));
    assert_eq!(d.bodies.len(), 6);
    // z fastest; 8 m become 1 m, the least corner is at the origin
    assert_eq!(d.bodies[1].name, "cube[0,0,1]");
    assert!(near(d.bodies[0].rest[0], [0.0; 3]));
    assert!(near(d.bodies[1].rest[0], [0.0, 0.0, 3.5 / 8.0]));
    assert!(near(d.bodies[5].rest[7], [0.5, 0.125, 1.0]));
    let raised = define(&format!("{matrix}size 1\nscript fall\n"));
    let lift = 0.5 * (0.25f64 + 1.0 / 64.0 + 1.0).sqrt();
    assert!(near(raised.bodies[0].rest[0], [0.0, lift, 0.0]));
    // kinematic shapes count for the box of `size`, not for ℓ
    let both = "shapes input 2\ninput/cube.msh 0 0 0  0 0 0  1 1 1\n\
                input/tet.obj 3 0 0  0 0 0  1 1 1\nsize 1\nscript DCOFix\n";
    let import = import(both);
    assert!((import.length - 0.25 * 3f64.sqrt()).abs() < 1e-15);
    let d_hat = import.definition().settings.contact.d_hat.unwrap();
    assert_eq!(d_hat, 1e-3 * import.length);
}

#[test]
fn a_mesh_obstacle_is_centred_on_the_mean_of_its_vertices() {
    let d = define(&format!("{ONE_CUBE}meshCO input/tet.obj 0 -20 0 3 50 1 rotate 90 0 0\n"));
    assert!(near(d.bodies[1].rest[0], [-0.75, -19.25, -0.75]), "{:?}", d.bodies[1].rest[0]);
    assert!(matches!(d.bodies[1].kind, BodyKind::Obstacle { .. }));
    // neither `size` nor `fall` moves it, and it has no friction whatever its coefficient
    let text =
        "size 2\nscript fall\nselfFric 0.3\nmeshCO input/tet.obj 0 -20 0 3 50 1 rotate 90 0 0\n";
    let import = import(&format!("{ONE_CUBE}{text}"));
    let d = import.definition();
    assert!(near(d.bodies[1].rest[0], [-0.75, -19.25, -0.75]));
    assert_eq!(d.settings.friction.coefficient, 0.3);
    let pair = &d.settings.friction.pairs[0];
    let own = [&d.bodies[0], &d.bodies[1]].map(|b| b.friction_material.as_str());
    assert_eq!([pair.materials.0.as_str(), pair.materials.1.as_str()], own);
    assert_eq!(pair.coefficient, 0.0);
    assert!(import.notes.iter().any(|n| n.line == 6 && n.kind == NoteKind::Quirk));
}

#[test]
fn missing_segment_and_point_files_are_taken_from_the_obj() {
    let d = define(
        "shapes input 4\ninput/cube.msh 0 9 0  0 0 0  1 1 1\ninput/triangle.seg 0 0 0  0 0 0  1 1 1\n\
         input/triangle.pt 0 2 0  0 0 0  1 1 1\ninput/edge.seg 0 4 0  0 0 0  1 1 1\n",
    );
    let counts: Vec<_> = d.bodies[1..]
        .iter()
        .map(|b| match &b.kind {
            BodyKind::Obstacle { triangles, edges, points } => {
                (triangles.len(), edges.len(), points.len())
            }
            _ => panic!("{} is no obstacle", b.name),
        })
        .collect();
    assert_eq!(counts, [(0, 3, 0), (0, 0, 3), (0, 1, 0)]);
}

// ---------------------------------------------------------------- parameters

#[test]
fn lengths_follow_l_and_the_slip_threshold_0_025_s() {
    let l = 3f64.sqrt();
    let d = define(&format!("{ONE_CUBE}time 1 0.005\n"));
    let s = &d.settings;
    assert_eq!(s.contact.d_hat, Some(1e-3 * l));
    assert_eq!(s.solver.end.velocity, Some(1e-2 * l));
    assert!((s.friction.stick_speed.unwrap() - 1e-3 * l * 5.0).abs() < 1e-16);
    assert_eq!(s.friction.lagging, Lagging::Count(1));
    assert_eq!(s.time.integrator, Integrator::ImplicitEuler);
    assert_eq!(d.gravity, Vec3::new(0.0, -9.80665, 0.0));
    let d = define(&format!(
        "{ONE_CUBE}time 1 0.005\nuseAbsParameters\ndHat 1e-4\nepsv 1e-5\ntol 1\n1e-6\n\
         fricIterAmt -1\nturnOffGravity\nCCDMethod TightInclusion\n"
    ));
    let s = &d.settings;
    assert_eq!(s.contact.d_hat, Some(1e-4));
    assert_eq!(s.solver.end.velocity, Some(1e-6 / 0.005));
    assert!((s.friction.stick_speed.unwrap() - 5e-5).abs() < 1e-19);
    assert_eq!(s.friction.lagging, Lagging::Until(LaggingUntil::Converged));
    assert_eq!(s.contact.ccd, Ccd::Inclusion);
    assert_eq!(d.gravity, Vec3::zeros());
    // ε_v just above its target forces one more minimisation
    let text = "tuning 6\n0 1e-3 1e-3 1e-9 1.000001e-5 1e-5\n";
    let s = define(&format!("{ONE_CUBE}{text}")).settings;
    assert_eq!(s.friction.lagging, Lagging::Count(2));
    assert_eq!(s.friction.stick_speed, Some(1e-5 * l));
    // a contact distance that shrinks within a step, and one that cannot, below its target
    let s = define(&format!("{ONE_CUBE}tuning 3\n0 1e-2 1e-3\n")).settings;
    assert_eq!((s.contact.d_hat, s.contact.d_hat_start), (Some(1e-3 * l), Some(1e-2 * l)));
    let s = define(&format!("{ONE_CUBE}tuning 3\n0 1e-4 1e-3\n")).settings;
    assert_eq!((s.contact.d_hat, s.contact.d_hat_start), (Some(1e-4 * l), None));
    // of several tolerances the tightest
    let s = define(&format!("{ONE_CUBE}tol 2\n1e-3 1e-2\n")).settings;
    assert_eq!(s.solver.end.velocity, Some(1e-3 * l));
}

#[test]
fn half_spaces_have_their_own_friction() {
    let d = define(&format!(
        "{ONE_CUBE}ground 0.1 -0.5 50.0\nhalfSpace 0 -1 0  0 2 0  50 0.2\nhalfSpace 9 0 0  -1 0 0  50 0\n\
         selfFric 0.1\n"
    ));
    let f = &d.settings.friction;
    assert_eq!(f.coefficient, 0.1);
    assert_eq!(f.half_space_transition, Transition::Linear);
    let pairs: Vec<_> = f.pairs.iter().map(|p| (p.materials.1.as_str(), p.coefficient)).collect();
    assert_eq!(pairs, [("half-space-1", 0.2), ("half-space-2", 0.0)]);
    assert_eq!(d.half_spaces[0].origin, Vec3::new(0.0, -0.5, 0.0));
    assert!(f.lag_with_new_stiffness);
}

#[test]
fn newmark_damping_and_loads() {
    let load = "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1  NBC 0.5 0 0 1 1 1  0 1 0\n";
    let acceleration = |d: &Definition| match &d.forces[0].load {
        Load::Acceleration(a) => a.at(0.0).y,
        _ => panic!("an acceleration is expected"),
    };
    let d = define(&format!("{load}time 1 0.01\ndampingRatio 0.1\n"));
    assert_eq!(acceleration(&d), 1.0);
    assert_eq!(d.forces[0].vertices, [4, 5, 6, 7]);
    assert!((d.settings.time.stiffness_damping - 0.75e-3).abs() < 1e-18);
    // under Newmark loads are four times too strong and the damping coefficient is 3 r h
    let d = define(&format!("{load}time 1 0.01\ndampingRatio 0.1\ntimeIntegration NM\n"));
    assert!(d.settings.time.zero_initial_acceleration && d.settings.time.trapezoidal_contact);
    assert_eq!(acceleration(&d), 4.0);
    assert!((d.settings.time.stiffness_damping - 3e-3).abs() < 1e-17);
    let d = define(&format!("{ONE_CUBE}time 1 0.01\ndampingStiff 1e-7\n"));
    assert!((d.settings.time.stiffness_damping - 1e-3).abs() < 1e-17);
}

#[test]
fn materials_and_output() {
    let import = import(
        "shapes input 3\ninput/cube.msh 0 0 0  0 0 0  1 1 1 material 3000 1e8 0.3\n\
         input/cube.msh 0 2 0  0 0 0  1 1 1\ninput/cube.msh 0 4 0  0 0 0  1 1 1 material 0 1e8 0.3\n\
         density 500\nstiffness 1e4 0.2\nenergy FCR\ntime 1 0.005\n",
    );
    let of = |k: usize| match &import.definition().bodies[k].kind {
        BodyKind::Volume { density, material, .. } => {
            (*density, material.young_modulus, material.poisson_ratio, material.law.clone())
        }
        _ => panic!("a volume is expected"),
    };
    assert_eq!(of(0), (3000.0, 1e8, 0.3, Law::FixedCorotated));
    // an unusable material is none
    assert_eq!((of(1), of(2)), (of(1), of(1)));
    assert_eq!(of(1), (500.0, 1e4, 0.2, Law::FixedCorotated));
    assert_eq!(import.output_every, 2);
}

/// A soft cube that is thrown at the ground with a speed, m/s.
fn thrown(law: &str, speed: f64) -> Import {
    import(&format!(
        "energy {law}\ntime 0.3 0.01\ndensity 1000\nstiffness 2000 0.4\nground 0 0\nshapes input 1\n\
         input/cube.msh 0 0.6 0  20 30 0  1 1 1  initVel 0 -{speed} 0  0 0 0\n"
    ))
}

/// Positions after 30 steps, and the most inverted elements of a state on the way.
fn ends(definition: &Definition) -> Result<(Vec<Vec3>, u64), String> {
    let mut simulation = Simulation::new(definition).unwrap();
    let mut inverted = 0;
    for _ in 0..30 {
        let report = simulation.step().map_err(|e| e.to_string())?;
        inverted = inverted.max(report.inverted);
    }
    Ok((simulation.positions().to_vec(), inverted))
}

/// What runs without the barrier of the importer, or with elements that may invert as in the reference.
fn other(import: &Import, allow_inversion: bool) -> Definition {
    let mut definition = import.definition();
    definition.settings.solver.inversion_barrier = false;
    definition.settings.solver.allow_inversion = allow_inversion;
    definition
}

#[test]
fn elements_of_fcr_are_kept_from_inverting_by_a_barrier() {
    assert!(!thrown("NH", 15.0).definition().settings.solver.inversion_barrier);
    let import = thrown("FCR", 15.0);
    let note = import.notes.iter().find(|n| n.text.contains("allow_inversion")).unwrap();
    assert_eq!((note.line, note.kind), (1, NoteKind::Motion));
    // the minimum of the published law has inverted elements, which no step may reach
    let stalls = ends(&other(&import, false)).unwrap_err();
    assert!(stalls.contains("every step would invert an element"), "{stalls}");
    assert_eq!(ends(&import.definition()).unwrap().1, 0);
    assert!(ends(&other(&import, true)).unwrap().1 > 0);
}

#[test]
fn that_barrier_changes_no_bit_where_no_element_is_crushed() {
    let import = thrown("FCR", 2.0);
    let with = ends(&import.definition()).unwrap();
    assert_eq!(with, ends(&other(&import, false)).unwrap());
    assert_eq!(with, ends(&other(&import, true)).unwrap());
}

#[test]
fn without_self_collision_only_obstacles_are_left() {
    let text = "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1\nselfCollisionOff\n\
                shapeMatrix input 2 1 1\ninput/tet.obj 3 0 0  0 0 0  1 1 1\n\
                meshCO input/tet.obj 0 -9 0 1 1 0\nscript DCOFix\n";
    let d = define(text);
    assert_eq!(d.no_contact, [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]);
}

// ---------------------------------------------------------------- options

#[test]
fn boxes_select_surface_vertices_and_times_slip_by_a_step() {
    let d = define(
        "shapes input 1\ninput/cube.msh 0 1 0  0 0 0  2 2 2 \\\n\
         DBC -0.1 -0.1 -0.1  0.1 1.1 0.1  -0.2 0 -0.2  0 0 0  0 2.5 \\\n\
         DBC -0.1 -0.1 -0.1  0.1 1.1 0.1  0 0 0  0 0 0  2.5\n",
    );
    let [first, second] = &d.prescribed[..] else { panic!("two prescriptions are expected") };
    assert_eq!((&first.vertices[..], &second.vertices[..]), (&[0, 2][..], &[0, 2][..]));
    // the 101st step starts just before 2.5 s in the reference
    assert_eq!((first.t0, first.t1), (0.0, 100.5 * 0.025));
    assert_eq!((second.t0, second.t1), (100.5 * 0.025, f64::INFINITY));
    assert!(matches!(second.motion, Motion::Fixed));
    let Motion::Rigid { linear, pivot, .. } = first.motion else { panic!("a motion is expected") };
    assert_eq!((linear, pivot), (Vec3::new(-0.2, 0.0, -0.2), Pivot::CurrentCentre));
    // what is held on is not released
    let released = "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1 \
                    DBC 0 0 0 1 1 1  0 0 0  0 0 0  0 1\n";
    assert!(define(released).settings.time.release_from_rest);
    // an inner vertex is not selected
    let inner =
        "shapes input 1\ninput/star.msh 0 0 0  0 0 0  1 1 1 DBC 0 0 0 0.5 0.5 0.5  1 0 0  0 0 0\n";
    assert_eq!(define(inner).prescribed[0].vertices, [0]);
    // empty selections vanish with a note
    let import = import(
        "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1 DBC 0.2 0.2 0.2 0.8 0.8 0.8  1 0 0  0 0 0\n",
    );
    assert!(import.definition().prescribed.is_empty());
    assert_eq!(import.notes[0].line, 2);
}

#[test]
fn global_ranges_gate_each_condition() {
    let d = define(
        "time 10 1\nDBCTimeRange 2 5\nNBCTimeRange 1\nshapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1 \
         DBC 0 0 0 1 1 0  1 0 0  0 0 0  1 4 NBC 0 0 1 1 1 1  1 0 0 0 3\n",
    );
    assert_eq!((d.prescribed[0].t0, d.prescribed[0].t1), (1.5, 3.5));
    assert_eq!((d.forces[0].t0, d.forces[0].t1), (0.5, 2.5));
}

#[test]
fn turns_about_several_axes_are_one_turn_per_step() {
    let d = define(
        "shapes input 1\ninput/cube.msh 0 0 0  0 0 0  1 1 1 linearVelocity 1 0 0 angularVelocity 10 90 -30\n",
    );
    let Motion::Rigid { linear, angular, pivot } = d.prescribed[0].motion else {
        panic!("a motion is expected")
    };
    assert_eq!((linear, pivot), (Vec3::x(), Pivot::CurrentCentre));
    assert_eq!(d.prescribed[0].vertices.len(), 8);
    use standoff_linalg::nalgebra::Rotation3;
    let h = 0.025;
    let turn = |axis, degrees: f64| Rotation3::from_axis_angle(&axis, (degrees * h).to_radians());
    let step =
        turn(Vec3::x_axis(), 10.0) * turn(Vec3::y_axis(), 90.0) * turn(Vec3::z_axis(), -30.0);
    let one = Rotation3::new(angular * h);
    assert!((step.matrix() - one.matrix()).amax() < 1e-15);
    assert!((angular - Vec3::new(10.0, 90.0, -30.0) * PI / 180.0).norm() > 1e-3);
    // about one axis nothing needs to be converted
    let d = define(
        "shapes input 2\ninput/cube.msh 0 0 0  0 0 0  1 1 1 angularVelocity 0 90 0\n\
                    input/tet.obj 5 0 0  0 0 0  1 1 1 linearVelocity 0 0 0\n",
    );
    let Motion::Rigid { angular, .. } = d.prescribed[0].motion else { panic!() };
    assert_eq!(angular, FRAC_PI_2 * Vec3::y());
    assert!(matches!(d.prescribed[1].motion, Motion::Fixed));
}

#[test]
fn start_velocities_turn_about_the_centre_of_the_box_in_degrees() {
    let text = "shapes input 1\ninput/cube.msh 0 3 0  0 0 0  1 1 1  initVel 0 -20 0  0 90 0\n";
    let d = define(text);
    // offset (½, ·, ½) from the centre: ω × r = π/2 (½, 0, −½)
    assert!(near(d.bodies[0].velocity[7], [PI / 4.0, -20.0, -PI / 4.0]));
    let import = import(&format!("{text}script fallNoShift\n"));
    assert!(import.definition().bodies[0].velocity.is_empty());
    assert!(import.notes.iter().any(|n| n.line == 2 && n.text.contains("initVel has no effect")));
}

#[test]
fn a_mesh_sequence_gives_the_positions_of_each_step() {
    let folder = folder();
    let sequence = folder.path().join("input/sequence");
    std::fs::create_dir(&sequence).unwrap();
    for k in 0..3 {
        let text = format!("v 0 {k} 0\nv 1 {k} 0\ns 1 2\n");
        std::fs::write(sequence.join(format!("{k}.seg")), text).unwrap();
    }
    let path = folder.path().join("scene.txt");
    let text = "shapes input 2\ninput/cube.msh 0 9 0  0 0 0  1 1 1\n\
                input/edge.seg 0 0 0  0 0 0  2 2 2 meshSeq input/sequence\n";
    std::fs::write(&path, text).unwrap();
    let import = Import::load(&path, &[]).unwrap();
    let d = import.definition();
    let Motion::Sequence { frames } = &d.prescribed[0].motion else { panic!("no sequence") };
    assert_eq!(frames.len(), 3);
    assert_eq!(frames[2], [Vec3::new(0.0, 2.0, 0.0), Vec3::new(1.0, 2.0, 0.0)]);
    same(&d, &resolve(&import, folder.path()).unwrap().definition).unwrap();
    std::fs::write(&path, text.replace("edge.seg 0", "cube.msh 0")).unwrap();
    assert!(Import::load(&path, &[]).unwrap_err().to_string().contains("meshSeq for an elastic"));
}

// ---------------------------------------------------------------- scripts

fn rigid(motion: &Motion) -> (Vec3, Vec3, Pivot) {
    match motion {
        Motion::Rigid { linear, angular, pivot } => (*linear, *angular, *pivot),
        _ => panic!("a rigid motion is expected"),
    }
}

#[test]
fn twist_turns_the_ends_of_the_rest() {
    let text = "shapes input 2\ninput/cube.msh 0 0 0  0 0 0  1 1 1\ninput/cube.msh 2 0 0  0 0 0  1 1 1\n\
                script twist\nturnOffGravity\n";
    let d = define(text);
    let [left, right] = &d.prescribed[..] else { panic!("two ends are expected") };
    assert_eq!((left.body, &left.vertices[..]), (0, &[0, 1, 2, 3][..]));
    assert_eq!((right.body, &right.vertices[..]), (1, &[4, 5, 6, 7][..]));
    let (linear, angular, pivot) = rigid(&left.motion);
    assert_eq!((linear, angular), (Vec3::zeros(), Vec3::new(-0.4 * PI, 0.0, 0.0)));
    assert_eq!(pivot, Pivot::Point(Vec3::new(1.5, 0.5, 0.5)));
    assert_eq!(rigid(&right.motion).1.x, 0.4 * PI);
    // with a wide handle also the inner vertices; the box of the file still tells them apart
    let wide = define(&format!("{text}handleRatio 0.45\n"));
    assert_eq!(wide.prescribed[0].vertices.len(), 8);
    // handles belong to the rest, so rotateModel does not change them
    let turned = define(&format!("{text}rotateModel 0 0 1 90\n"));
    assert_eq!(turned.prescribed[0].vertices, [0, 1, 2, 3]);
    assert_eq!(rigid(&turned.prescribed[0].motion).2, pivot);
}

#[test]
fn held_parts() {
    let d = define(&format!("{ONE_CUBE}script hangLeft\n"));
    assert_eq!(d.prescribed[0].vertices, [0, 1, 2, 3]);
    let d = define(&format!("{ONE_CUBE}script fixLowerHalf\n"));
    assert_eq!(d.prescribed[0].vertices, [0, 1, 4, 5]);
    assert!(matches!(d.prescribed[0].motion, Motion::Fixed));
    // kinematic shapes stay where they are without being told
    let d = define(
        "shapes input 2\ninput/cube.msh 0 0 0  0 0 0  1 1 1\n\
                    input/tet.obj 5 0 0  0 0 0  1 1 1 linearVelocity 1 0 0\nscript DCOFix\n",
    );
    assert!(d.prescribed.is_empty());
}

#[test]
fn stretch_and_pause_stops_where_the_left_end_is_beyond_a_place() {
    let d = define(&format!("{ONE_CUBE}script stretchAndPause\ntime 2.5 0.01\n"));
    // x = 0 − k·0.01 ≥ −0.28 at the start of steps 0 … 28 (27 or 28 by rounding)
    let mut x = 0.0;
    let moving = (0..).take_while(|_| {
        let moves = x >= -0.28;
        x -= 0.01;
        moves
    });
    let end = (moving.count() as f64 - 0.5) * 0.01;
    let mut left: Vec<_> = d.prescribed.iter().filter(|p| p.vertices == [0, 1, 2, 3]).collect();
    left.sort_by(|a, b| a.t0.total_cmp(&b.t0));
    assert_eq!(rigid(&left[0].motion).0, -Vec3::x());
    assert_eq!((left[0].t0, left[0].t1), (0.0, end));
    assert!(matches!(left[1].motion, Motion::Fixed));
    assert_eq!((left[1].t0, left[1].t1), (end, f64::INFINITY));
    assert_eq!(d.prescribed.len(), 4);
}

#[test]
fn one_vertex_is_pushed() {
    let d = define(&format!("{ONE_CUBE}script pushRightMost1\n"));
    assert_eq!(d.prescribed.len(), 1);
    assert_eq!(d.prescribed[0].vertices, [4]);
    assert_eq!(rigid(&d.prescribed[0].motion).0, Vec3::new(-0.15, 0.0, 0.0));
}

#[test]
fn dragright_lets_go_behind_the_obstacles() {
    let d = define(&format!("{ONE_CUBE}script dragright\nmeshCO input/tet.obj 0 -20 0 3 50 1\n"));
    let drag = &d.prescribed[0];
    assert_eq!(drag.vertices, [4, 5, 6, 7]);
    assert_eq!(rigid(&drag.motion).0, Vec3::new(0.5, 0.0, 0.0));
    // mean ¼: the obstacle reaches from −0.75 to 2.25
    let Some(Condition::AllBeyond { bodies, normal, offset }) = &drag.until else {
        panic!("a condition is expected")
    };
    assert_eq!((&bodies[..], *normal), (&[0][..], Vec3::x()));
    assert!((offset - 2.25).abs() < 1e-14);
    assert!(d.settings.time.release_from_rest);
    assert!((d.bodies[0].rest[0].y - 0.5 * 3f64.sqrt()).abs() < 1e-15);
}

/// A cube with `count` kinematic shapes before it, 1 m apart.
fn with_obstacles(count: usize) -> String {
    let mut text = format!("shapes input {}\n", count + 1);
    for k in 0..count {
        text += &format!("input/tet.obj {} 0 0  0 0 0  0.5 0.5 0.5\n", k + 2);
    }
    text + "input/cube.msh 0 0 0  0 0 0  1 1 1\n"
}

#[test]
fn rollers_turn_about_their_centres() {
    let rates = |count: usize, script: &str| -> Vec<[f64; 3]> {
        let d = define(&format!("{}script {script}\n", with_obstacles(count)));
        d.prescribed
            .iter()
            .enumerate()
            .map(|(k, p)| {
                let (linear, angular, pivot) = rigid(&p.motion);
                assert_eq!((p.body, linear, pivot), (k, Vec3::zeros(), Pivot::StartCentre));
                angular.into()
            })
            .collect()
    };
    let q = FRAC_PI_2;
    assert_eq!(
        rates(4, "DCORotCylinders"),
        [[q, 0.0, 0.0], [-q, 0.0, 0.0], [0.0, 0.0, -q], [0.0, 0.0, q]]
    );
    let rollers = rates(6, "DCOVerschoorRoller");
    assert_eq!(rollers[..4].iter().map(|r| r[2]).collect::<Vec<_>>(), [-4.0, -2.0, 2.0, 4.0]);
    assert_eq!(rollers[4..], [[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]);
}

#[test]
fn squash_turns_round_when_the_gap_is_small() {
    let d = define(&format!("{}script DCOSquash6\ntime 2 0.03\n", with_obstacles(6)));
    // shapes 0 and 1: gap 0.5, closing by 0.06 per step: 0.5 − 0.06 k < 0.1 first at k = 7
    let of = |body: usize| d.prescribed.iter().filter(move |p| p.body == body);
    let times: Vec<_> = of(0).map(|p| (p.t0, p.t1, rigid(&p.motion).0.x)).collect();
    assert_eq!(times, [(0.0, 6.5 * 0.03, 1.0), (6.5 * 0.03, f64::INFINITY, -1.0)]);
    let directions: Vec<_> =
        (0..6).map(|b| rigid(&of(b).next().unwrap().motion).0.into()).collect::<Vec<[f64; 3]>>();
    assert_eq!(directions[1], [-1.0, 0.0, 0.0]);
    assert_eq!(directions[2], [0.0, 1.0, 0.0]);
    assert_eq!(directions[5], [0.0, 0.0, -1.0]);
    // shapes that start too close would reverse in every step
    let close = with_obstacles(6).replace("0.5 0.5 0.5", "0.95 0.5 0.5");
    let (_, message) = fails(&format!("{close}script DCOSquash6\ntime 30 0.01\n"));
    assert!(message.contains("further apart"), "{message}");
}

#[test]
fn the_upper_bed_comes_down_until_little_is_left() {
    let text = "shapes input 1\ninput/cube.msh 0 3 0  0 0 0  1 1 1\n\
                shapeMatrix input 2 1 2\ninput/edge.seg 2 2 2  0 0 0  1 1 1\n\
                shapeMatrix input 2 1 2  0 5 0\ninput/edge.seg 2 2 2  0 0 0  1 1 1\n\
                script DCOSegBedSquash\ntime 8 0.04\n";
    let d = define(text);
    // 9 shapes: the top bed starts at index 5
    let bodies: Vec<_> = d.prescribed.iter().map(|p| p.body).collect();
    assert_eq!(bodies, [5, 6, 7, 8]);
    assert_eq!(rigid(&d.prescribed[0].motion).0, -Vec3::y());
    // 5 − 0.04 k > 0.1 for k < 123
    assert!((d.prescribed[0].t1 - 122.5 * 0.04).abs() < 1e-12);
    assert!(d.prescribed.iter().all(|p| p.t0 == 0.0));
}

#[test]
fn flight_plunger_and_utopia() {
    let d = define(&format!("{}script DCOBallHitWall 1 67\n", with_obstacles(1)));
    assert!(d.bodies[1].velocity.iter().all(|v| *v == Vec3::new(67.0, 0.0, 0.0)));
    assert!(d.bodies[0].velocity.is_empty());
    let import = import(&format!("{}script DCOSqueezeOut\n", with_obstacles(2)));
    assert!(import.definition().prescribed.is_empty());
    assert!(import.notes.iter().any(|n| n.kind == NoteKind::Quirk && n.text.contains("plunger")));
    let d = define(&format!("{ONE_CUBE}script utopiaComparison\n"));
    assert_eq!(d.forces[0].vertices, [2, 3, 6, 7]);
    assert_eq!(d.forces[0].load, Load::Acceleration(Vec3::new(0.0, -1.5, 0.0).into()));
    assert_eq!(d.prescribed[0].vertices, [0, 1, 4, 5]);
}

#[test]
fn notes_name_lines_and_the_scene_file_holds_those_that_matter() {
    let folder = folder();
    let import = import(&format!("zoom 0.3\nwarmStart 3\nconstraintSolver SQP\n{ONE_CUBE}"));
    let lines: Vec<_> = import.notes.iter().map(|n| (n.line, n.kind)).collect();
    assert_eq!(lines, [(1, NoteKind::Cosmetic), (2, NoteKind::Solver), (3, NoteKind::Motion)]);
    let text = import.to_toml(folder.path());
    assert!(text.contains("line 3: constraintSolver SQP") && !text.contains("zoom"));
    assert!(text.lines().all(|l| !l.starts_with('#') || l.chars().count() <= 110), "{text}");
}

#[test]
fn an_import_resolves_with_overrides() {
    let folder = folder();
    let path = folder.path().join("input/scenes/scene.txt");
    std::fs::write(&path, ONE_CUBE).unwrap();
    let import = Import::load(&path, &[]).unwrap();
    let scene = import.resolve(&["time.end=2".to_owned()]).unwrap();
    assert_eq!(scene.definition.settings.time.end, 2.0);
    assert!(import.resolve(&["time.ende=2".to_owned()]).is_err());
    // the importer writes the length; an option that gives it in the other way takes its place
    let contact = |overrides: &[&str]| {
        let overrides: Vec<_> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let contact = import.resolve(&overrides).unwrap().definition.settings.contact;
        (contact.d_hat, contact.d_hat_relative)
    };
    assert!(contact(&[]).0.is_some());
    assert_eq!(contact(&["contact.d_hat_relative=5e-3"]), (None, 5e-3));
    assert_eq!(contact(&["contact.d_hat_relative=5e-3", "contact.d_hat=2 mm"]).0, Some(2e-3));
    same(&import.resolve(&[]).unwrap().definition, &import.definition()).unwrap();
}

proptest::proptest! {
    /// Whatever the words: an answer, never a panic.
    #[test]
    fn any_text_is_answered(words in proptest::collection::vec(0usize..WORDS.len(), 0..60)) {
        let text: String = words.iter().map(|w| WORDS[*w]).collect();
        if let Ok(scene) = ReferenceScene::parse(Path::new("x.txt"), &text) {
            let _ = Import::new(scene, &[]);
        }
    }
}

const WORDS: [&str; 40] = [
    "\n",
    "\n",
    "\n",
    " ",
    "\\ ",
    "# ",
    "shapes input ",
    "shape input ",
    "shapeMatrix input ",
    "input/cube.msh ",
    "0 0 0 0 0 0 1 1 1 ",
    "DBC ",
    "NBC ",
    "initVel ",
    "meshSeq ",
    "tol ",
    "tuning ",
    "section ",
    "end ",
    "SQP ",
    "size ",
    "time ",
    "script ",
    "twist ",
    "dragright ",
    "DCOBallHitWall ",
    "1 ",
    "0 ",
    "-1 ",
    "1e300 ",
    "1e-300 ",
    "99999999999 ",
    "0.5 ",
    "meshCO ",
    "halfSpace ",
    "ground ",
    "rotateModel ",
    "timeIntegration NM ",
    "dHat ",
    "x ",
];
