//! Robots and machines as scenes: what they are made of, and that they move as MuJoCo moves them.

use standoff_linalg::Vec3;
use standoff_mesh::format::{RobotOptions, write};
use standoff_mjcf_import::Import;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyKind, JointKind};
use standoff_sim::report::StepReport;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../mesh/tests/data/robot").join(name)
}

fn pose(joints: &[(&str, f64)]) -> RobotOptions {
    let joints = joints.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    RobotOptions { pose: joints, ..RobotOptions::default() }
}

/// The scene of a model, with overrides, and the notes of the import.
fn scene(model: &Path, at: &RobotOptions, overrides: &[&str]) -> (Scene, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("scene.toml");
    let import = Import::load(model, &output, at).unwrap();
    std::fs::write(&output, &import.toml).unwrap();
    for (file, mesh) in &import.meshes {
        write(&folder.path().join(file), mesh).unwrap();
    }
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let scene = Scene::load(&output, &overrides).unwrap_or_else(|e| panic!("{e}\n{}", import.toml));
    (scene, [import.notes, import.of_settings].concat())
}

fn run(scene: &Scene, steps: usize) -> StepReport {
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let mut last = None;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_minimum() && report.joint_error.unwrap() < 1e-8);
        last = Some(report);
    }
    last.unwrap()
}

/// Hinges, slides and a ball joint with reference positions, damping, a spring, a servo, a motor, a velocity drive and an equality, on bodies with given
/// inertia: after 0.3 s the joints are where MuJoCo 4.0 has them (Runge–Kutta steps of 20 µs; with 10 µs the same to 10⁻¹⁰), and nearer with half of
/// the step.
#[test]
fn a_crane_moves_as_in_mujoco() {
    let expected =
        [-0.066_565_080_7, 0.771_600_073_3, 0.268_899_650_7, -0.009_775_127_6, 0.004_887_564_1];
    as_in_mujoco(&data("crane.xml"), expected);
    // the same with rotors, of which the one of the boom is heavier than what it moves
    let text = std::fs::read_to_string(data("crane.xml")).unwrap();
    let heavy = [
        ("name=\"turn\"", "name=\"turn\" armature=\"0.04\""),
        ("name=\"lift\"", "name=\"lift\" armature=\"0.1\""),
        ("range=\"-0.03 0.05\"", "range=\"-0.03 0.05\" armature=\"0.15\""),
    ];
    let text = heavy.iter().fold(text, |text, (old, new)| text.replacen(old, new, 1));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crane.xml");
    std::fs::write(&file, text).unwrap();
    let expected =
        [-0.025_141_039_4, 0.714_895_380_2, 0.237_743_434_7, -0.010_123_007_7, 0.005_061_504_1];
    as_in_mujoco(&file, expected);
}

fn as_in_mujoco(model: &Path, expected: [f64; 5]) {
    let names = ["turn", "lift", "reach", "left", "right"];
    let at = pose(&[("turn", 0.7), ("lift", 0.1)]);
    let error = |steps: usize| {
        let step = format!("time.step={}", 0.3 / steps as f64);
        let settings = [&step, "time.integrator=bdf2", "solver.end.velocity=1e-8"];
        let (scene, _) = scene(model, &at, &settings);
        let joints = run(&scene, steps).forces.joints;
        let off = names.iter().zip(expected).map(|(name, value)| {
            let joint = joints[*name];
            (joint.angle.or(joint.displacement).unwrap() - value).abs()
        });
        off.fold(0.0, f64::max)
    };
    let [coarse, fine] = [150, 300].map(error);
    println!("{coarse:.2e} {fine:.2e}");
    assert!(coarse < 6e-4 && fine < 1.5e-4, "{coarse:e} {fine:e}");
}

#[test]
fn a_robot_in_urdf_has_bodies_and_joints() {
    let (scene, notes) = scene(&data("lamp.urdf"), &RobotOptions::default(), &[]);
    let definition = &scene.definition;
    let names: Vec<&str> = definition.bodies.iter().map(|b| &b.name[..]).collect();
    // what is fixed to another link is one body with it
    assert_eq!(names, ["base", "arm", "hood", "slide"]);
    assert!(matches!(definition.bodies[0].kind, BodyKind::Obstacle { .. }));
    let [elbow, neck, rail] = &definition.joints[..] else { panic!("{:?}", definition.joints) };
    // the elbow cannot be at zero, and starts at its limit
    assert_eq!((elbow.start, elbow.limits), (0.2, Some([0.2, 1.5])));
    assert!((elbow.point - Vec3::new(0.0, 0.0, 0.07)).norm() < 1e-15);
    assert!((elbow.axis - Vec3::new(-1.0, 0.0, 0.0)).norm() < 1e-15);
    assert_eq!((elbow.damping, elbow.friction), (0.1, 0.05));
    let drive = elbow.drive.as_ref().unwrap();
    assert_eq!((drive.max_effort, drive.stiffness, drive.position.is_none()), (3.0, 0.0, true));
    assert_eq!((neck.kind, neck.limits), (JointKind::Revolute, None));
    let turned = 0.25 * Vec3::new(0.0, f64::sin(0.2), f64::cos(0.2)) + elbow.point;
    assert!((neck.point - turned).norm() < 1e-12, "{}", neck.point);
    let mimic = rail.mimic.as_ref().unwrap();
    assert_eq!((mimic.joint, mimic.ratio, mimic.offset), (0, 0.1, -0.02));
    for part in [
        "elbow starts at its limit 0.2",
        "limits of the velocity",
        "slide: it has no collision",
        "no friction",
    ] {
        assert!(notes.iter().any(|n| n.contains(part)), "{part}: {notes:?}");
    }
    let report = run(&scene, 20);
    let [elbow, rail] = ["elbow", "rail"].map(|name| report.forces.joints[name]);
    let (angle, moved) = (elbow.angle.unwrap(), rail.displacement.unwrap());
    assert!((moved - (0.1 * angle - 0.02)).abs() < 1e-9, "{moved} {angle}");
    assert!(angle > 0.2 - 1.1e-3, "{angle}");
    let (scene, _) = self::scene(&data("lamp.urdf"), &pose(&[("elbow", 1.0)]), &[]);
    assert_eq!(scene.definition.joints[0].start, 1.0);
}

#[test]
fn loops_several_joints_and_exclusions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.xml");
    let model = "<mujoco><compiler angle=\"radian\"/><worldbody>
        <body name=\"a\"><joint name=\"x\" axis=\"1 0 0\"/><joint name=\"y\" axis=\"0 1 0\" pos=\"0 0 0.1\"/>
          <geom type=\"box\" size=\"0.1 0.1 0.1\"/></body>
        <body name=\"b\" pos=\"1 0 0\"><joint name=\"s\" type=\"slide\"/><geom type=\"box\" size=\"0.1 0.1 0.1\"/></body>
        <body name=\"c\" pos=\"3 0 0\"><freejoint/><geom type=\"box\" size=\"0.1 0.1 0.1\"/></body>
      </worldbody>
      <contact><exclude body1=\"c\" body2=\"b\"/></contact>
      <equality><connect body1=\"a\" body2=\"b\" anchor=\"0.5 0 0\"/></equality>
      <tendon><fixed name=\"t\"><joint joint=\"s\" coef=\"1\"/></fixed></tendon>
      <actuator><position joint=\"s\" kp=\"5\" forcerange=\"-2 2\" gear=\"2\"/><motor tendon=\"t\"/></actuator></mujoco>";
    std::fs::write(&path, model).unwrap();
    let (scene, notes) = scene(&path, &RobotOptions::default(), &[]);
    let definition = &scene.definition;
    let names: Vec<&str> = definition.bodies.iter().map(|b| &b.name[..]).collect();
    assert_eq!(names, ["a_x", "a", "b", "c"]);
    let kinds: Vec<_> = definition.joints.iter().map(|j| (j.kind, j.parent, j.child)).collect();
    let expected = [
        (JointKind::Revolute, None, 0),
        (JointKind::Revolute, Some(0), 1),
        (JointKind::Prismatic, None, 2),
        (JointKind::Spherical, Some(2), 1),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(definition.joints[1].point, Vec3::new(0.0, 0.0, 0.1));
    assert_eq!(definition.joints[3].point, Vec3::new(0.5, 0.0, 0.0));
    assert!(definition.no_contact.contains(&(2, 3)), "{:?}", definition.no_contact);
    assert!(!definition.no_contact.contains(&(1, 3)), "{:?}", definition.no_contact);
    let drive = definition.joints[2].drive.as_ref().unwrap();
    assert_eq!((drive.stiffness, drive.max_effort), (20.0, 4.0));
    // 8 kg of a box of 20 cm, of which a thousandth is between its joints
    let mass = |b: usize| -> f64 {
        let BodyKind::Rigid { .. } = &definition.bodies[b].kind else { panic!() };
        let simulation = Simulation::new(definition).unwrap();
        let unknowns = simulation.model().bodies[b].unknowns.clone();
        simulation.model().mass[unknowns].iter().sum()
    };
    assert!((mass(1) - 8.0).abs() < 1e-9 && (mass(0) - 0.008).abs() < 1e-12);
    let tendon = &definition.tendons[0];
    assert_eq!((tendon.name.as_str(), &tendon.joints), ("t", &vec![(2, 1.0)]));
    assert!(tendon.drive.is_some() && notes.iter().any(|n| n.contains("with several")));
    run(&scene, 5);
}

/// Springs and actuators of one joint: those without a cap are one drive, and a capped one stays alone.
#[test]
fn springs_and_actuators_act_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.xml");
    let model = |actuators: &str| {
        let text = format!(
            "<mujoco><worldbody><body><joint name=\"j\" stiffness=\"3\" springref=\"90\"/>
            <geom type=\"box\" size=\"0.1 0.1 0.1\" mass=\"2\"/></body></worldbody><actuator>{actuators}</actuator></mujoco>"
        );
        std::fs::write(&path, text).unwrap();
        let (scene, notes) = scene(&path, &RobotOptions::default(), &[]);
        (scene.definition.joints[0].clone(), notes)
    };
    let servo = "<position joint=\"j\" kp=\"5\"/>";
    let brake = "<velocity joint=\"j\" kv=\"2\"/>";
    let (joint, notes) = model(&format!("{servo}{brake}"));
    let (spring, drive) = (joint.spring.unwrap(), joint.drive.unwrap());
    assert_eq!((spring.stiffness, spring.rest), (3.0, std::f64::consts::FRAC_PI_2));
    assert_eq!((drive.stiffness, drive.damping, drive.max_effort), (5.0, 2.0, f64::INFINITY));
    assert_eq!(drive.position.unwrap().at(0.0), 0.0);
    assert!(notes.is_empty(), "{notes:?}");
    let (joint, notes) = model(&format!("<motor joint=\"j\" forcerange=\"-1 1\"/>{servo}"));
    let drive = joint.drive.unwrap();
    assert_eq!((drive.max_effort, drive.stiffness), (1.0, 0.0));
    assert!(notes.iter().any(|n| n.contains("the first one is kept")), "{notes:?}");
}

/// A puck on slides that starts on a table, and a little below it: the table is lower by so much that contact does not press against the slides.
#[test]
fn planes_on_which_bodies_start_are_lower() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.xml");
    for below in [0.0, 1e-3] {
        let model = format!(
            "<mujoco><worldbody><geom name=\"table\" type=\"plane\" size=\"1 1 1\" pos=\"0 0 {below}\"/>
            <body pos=\"0 0 0.1\"><joint name=\"x\" type=\"slide\" axis=\"1 0 0\"/><joint name=\"y\" type=\"slide\" axis=\"0 1 0\"/>
            <geom type=\"box\" size=\"0.1 0.1 0.1\"/></body></worldbody></mujoco>"
        );
        std::fs::write(&path, model).unwrap();
        let (scene, notes) = scene(&path, &RobotOptions::default(), &[]);
        assert!(notes.iter().any(|n| n.contains("table: bodies start on it")), "{notes:?}");
        let plane = scene.definition.half_spaces[0].origin.z;
        assert!((plane + 1.1e-3 * 0.12_f64.sqrt()).abs() < 1e-12, "{plane}");
        let report = run(&scene, 5);
        assert_eq!(report.contacts, 0);
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let error = |name: &str, text: &str, at: &[(&str, f64)]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let output = folder.path().join("scene.toml");
        Import::load(&path, &output, &pose(at)).unwrap_err().to_string()
    };
    let body = |inner: &str, rest: &str| {
        format!("<mujoco><worldbody><body name=\"a\">{inner}</body></worldbody>{rest}</mujoco>")
    };
    let cube = "<geom type=\"box\" size=\"1 1 1\"/>";
    let hinge = format!("<joint name=\"h\"/>{cube}");
    let cases = [
        (body("<joint/>", ""), "body \"a\" moves, but has neither a mass"),
        (body(&format!("<joint type=\"screw\"/>{cube}"), ""), "no type of joint"),
        (body(&format!("<joint axis=\"0 0 0\"/>{cube}"), ""), "axis is zero"),
        (body(&hinge, "<actuator><motor joint=\"g\"/></actuator>"), "there is no joint \"g\""),
        (body(&hinge, "<equality><weld body1=\"z\"/></equality>"), "there is no body \"z\""),
        (
            body(&hinge, "<contact><exclude body1=\"a\" body2=\"q\"/></contact>"),
            "there is no body \"q\"",
        ),
    ];
    for (text, part) in cases {
        let message = error("a.xml", &text, &[]);
        assert!(message.contains("a.xml") && message.contains(part), "{message}");
    }
    let message = error("a.xml", &body(&hinge, ""), &[("k", 0.0)]);
    assert!(message.contains("the pose") && message.contains("\"k\""), "{message}");
    let lamp = std::fs::read_to_string(data("lamp.urdf")).unwrap();
    let message = error("lamp.urdf", &lamp, &[("screw", 0.0)]);
    assert!(message.contains("\"screw\""), "{message}");
    let wrong = lamp.replace("type=\"continuous\"", "type=\"screw\"");
    let message = error("lamp.urdf", &wrong, &[]);
    assert!(message.contains("line 20") && message.contains("no type of joint"), "{message}");
}

/// The masses of all bodies are scaled to what the file says that they have together.
#[test]
fn the_total_mass_is_what_the_file_says() {
    let text = std::fs::read_to_string(data("crane.xml")).unwrap();
    let text = text.replacen("<compiler ", "<compiler settotalmass=\"14\" ", 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crane.xml");
    std::fs::write(&file, text).unwrap();
    let masses = |model: &Path| -> Vec<f64> {
        let (scene, _) = scene(model, &RobotOptions::default(), &[]);
        let mass = |kind: &BodyKind| match kind {
            BodyKind::Rigid { mass, .. } => Some(*mass),
            _ => None,
        };
        scene.definition.bodies.iter().filter_map(|b| mass(&b.kind)).collect()
    };
    let (own, scaled) = (masses(&data("crane.xml")), masses(&file));
    let sum: f64 = own.iter().sum();
    assert!((scaled.iter().sum::<f64>() - 14.0).abs() < 1e-12);
    for (own, scaled) in own.iter().zip(&scaled) {
        assert!((scaled / own - 14.0 / sum).abs() < 1e-12);
    }
}

/// What acts in MuJoCo and is not read is listed, wherever it stands, and what does nothing is not.
#[test]
fn what_would_act_and_is_not_read_is_listed() {
    let text = std::fs::read_to_string(data("crane.xml")).unwrap();
    let text = text.replacen("integrator=\"RK4\"", "density=\"1000\" wind=\"0 0 0\"", 1);
    let text =
        text.replacen("<default>", "<option><flag contact=\"disable\"/></option><default>", 1);
    let text = text.replacen("name=\"lift\"", "name=\"lift\" actuatorfrcrange=\"-1 1\"", 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crane.xml");
    std::fs::write(&file, text).unwrap();
    let (_, notes) = scene(&file, &RobotOptions::default(), &[]);
    for part in ["`density` of `option`", "`contact`", "`actuatorfrcrange` of `joint`"] {
        assert!(notes.iter().any(|n| n.contains(part)), "{part}: {notes:?}");
    }
    assert!(!notes.iter().any(|n| n.contains("wind") || n.contains("viscosity")), "{notes:?}");
}

/// The geometries of `keyframes.xml` at its keyframe "thrown" in MuJoCo 4.0: centre, velocity of the centre and angular velocity.
const THROWN: [(&str, [[f64; 3]; 3]); 5] = [
    (
        "post",
        [
            [-0.026818789349, 0.066187253591, 1.070710678119],
            [0.026984356036, -0.21569579436, -0.212132034356],
            [0.0, 0.0, 1.2],
        ],
    ),
    (
        "arm",
        [
            [0.214615252828, 0.263823821972, 1.167609543523],
            [-0.318020593043, 0.057903703837, -0.093151337349],
            [0.876916856617, -0.502965266404, 1.926665512717],
        ],
    ),
    (
        "hand",
        [
            [0.281504854707, 0.353980855607, 1.261517381558],
            [-0.547246254752, 0.055822832158, 0.043919585698],
            [1.855317868196, -0.851489519753, 1.564364111437],
        ],
    ),
    (
        "stone",
        [
            [1.531914893617, 0.233829787234, 0.395531914894],
            [0.378085106383, -0.663829787234, 2.074468085106],
            [1.063829787234, -2.872340425532, -2.148936170213],
        ],
    ),
    (
        "lid",
        [
            [0.0, 1.982533561491, 0.05646424734],
            [0.0, -0.045171397872, 0.066026849193],
            [0.8, 0.0, 0.0],
        ],
    ),
];

fn keyframe(name: &str) -> RobotOptions {
    RobotOptions { keyframe: Some(name.to_owned()), ..RobotOptions::default() }
}

/// Centre, velocity of the centre and angular velocity of the box that a rigid body of a scene is.
fn box_moves(simulation: &Simulation, name: &str) -> [Vec3; 3] {
    let body = simulation.model().bodies.iter().find(|b| b.name == name).unwrap();
    let corners = body.vertices.start..body.vertices.start + 8;
    let mean = |of: &[Vec3]| of[corners.clone()].iter().sum::<Vec3>() / 8.0;
    let (x, v) = (simulation.positions(), simulation.velocities());
    let (centre, velocity) = (mean(x), mean(v));
    // of a rigid motion Σ r × (v − v̄) = (Σ |r|² I − r rᵀ) ω
    let mut moment = Vec3::zeros();
    let mut inertia = standoff_linalg::Mat3::zeros();
    for k in corners {
        let r = x[k] - centre;
        moment += r.cross(&(v[k] - velocity));
        inertia += standoff_linalg::Mat3::identity() * r.norm_squared() - r * r.transpose();
    }
    [centre, velocity, inertia.try_inverse().unwrap() * moment]
}

/// Joints of every type and a free body at a keyframe: places and velocities are those of MuJoCo, also where the robot is turned in its scene;
/// and with controls and gains of every type of actuator they are after 0.2 s where MuJoCo has them (Runge–Kutta steps of 20 µs).
#[test]
fn keyframes_start_as_in_mujoco() {
    let file = data("keyframes.xml");
    let (start, notes) = scene(&file, &keyframe("thrown"), &[]);
    assert!(!notes.iter().any(|n| n.contains("keyframe")), "{notes:?}");
    let simulation = Simulation::new(&start.definition).unwrap();
    for (name, expected) in THROWN {
        let found = box_moves(&simulation, name);
        for (found, expected) in found.iter().zip(expected) {
            let error = (found - Vec3::from(expected)).norm();
            assert!(error < 1e-10, "{name}: {found:?} instead of {expected:?}");
        }
    }
    let joint =
        |name: &str| start.definition.joints.iter().find(|j| j.name == name).unwrap().clone();
    let drive = |name: &str| joint(name).drive.unwrap();
    assert_eq!((joint("turn").start, joint("rise").start), (0.7, 0.1));
    // what an actuator is told counts along its gear, within the range of controls
    assert_eq!(drive("turn").position.unwrap().at(0.0), 0.55);
    assert_eq!((drive("turn").stiffness, drive("turn").damping), (80.0, 8.0));
    assert!((drive("wrist").effort.unwrap().at(0.0) + 0.006).abs() < 1e-15);
    assert!((drive("lid").position.unwrap().at(0.0) - 0.2).abs() < 1e-15);
    assert_eq!((drive("lid").effort.unwrap().at(0.0), drive("lid").stiffness), (0.25, 6.0));
    assert_eq!(drive("rise").velocity.unwrap().at(0.0), 0.1);

    // turned about no axis in particular, in a scene
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    let rotate = "rotate = { axis = [1, 2, -0.5], angle = 50 }\ntranslate = [0.3, 0.2, 0.1]";
    let section = format!("[[robots]]\nfile = {file:?}\nkeyframe = \"thrown\"\n{rotate}\n");
    std::fs::write(&path, section).unwrap();
    let turned = Simulation::new(&Scene::load(&path, &[]).unwrap().definition).unwrap();
    let axis = Vec3::new(1.0, 2.0, -0.5).normalize();
    let turn = rotated(axis, 50.0_f64.to_radians());
    for (name, expected) in THROWN {
        let [x, v, w] = box_moves(&turned, name);
        let [centre, velocity, angular] = expected.map(|e| turn * Vec3::from(e));
        let error = [x - centre - Vec3::new(0.3, 0.2, 0.1), v - velocity, w - angular]
            .iter()
            .map(|e| e.norm())
            .fold(0.0, f64::max);
        assert!(error < 1e-10, "{name}: {error:e}");
    }

    let expected = [
        ("post", [-0.0040808936, 0.0353181118, 1.0341177771]),
        ("arm", [0.1677345188, 0.2751530142, 1.0104990646]),
        ("hand", [0.1727637906, 0.3585978353, 1.0251258005]),
        ("stone", [1.6075319149, 0.1010638298, 0.6142255319]),
        ("lid", [0.0, 1.9994830277, 0.010155156]),
    ];
    let error = |steps: usize| {
        let step = format!("time.step={}", 0.2 / steps as f64);
        let settings = [&step, "time.integrator=bdf2", "solver.end.velocity=1e-8"];
        let (scene, _) = scene(&file, &keyframe("thrown"), &settings);
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        for _ in 0..steps {
            assert!(simulation.step().unwrap().joint_error.unwrap() < 1e-8);
        }
        let off =
            expected.map(|(name, at)| (box_moves(&simulation, name)[0] - Vec3::from(at)).norm());
        off.into_iter().fold(0.0, f64::max)
    };
    let [coarse, fine] = [100, 200].map(error);
    println!("{coarse:.2e} {fine:.2e}");
    assert!(coarse < 4e-5 && fine < 1.5e-5, "{coarse:e} {fine:e}");
}

/// The rotation by an angle about a unit axis.
fn rotated(axis: Vec3, angle: f64) -> standoff_linalg::Mat3 {
    let cross = axis.cross_matrix();
    standoff_linalg::Mat3::identity() + cross * angle.sin() + cross * cross * (1.0 - angle.cos())
}

#[test]
fn keyframes_are_named_numbered_and_refused() {
    let file = data("keyframes.xml");
    let (_, notes) = scene(&file, &RobotOptions::default(), &[]);
    let note = "none of its keyframes is chosen: 0, thrown, short";
    assert!(notes.iter().any(|n| n == note), "{notes:?}");
    // by number; a pose counts more
    let (scene, _) = scene(&file, &keyframe("0"), &[]);
    assert_eq!(scene.definition.joints[0].start, 0.1);
    let both = RobotOptions { pose: pose(&[("turn", 0.4)]).pose, ..keyframe("thrown") };
    let (scene, _) = self::scene(&file, &both, &[]);
    let starts: Vec<f64> = scene.definition.joints.iter().map(|j| j.start).collect();
    assert_eq!(starts[..2], [0.4, 0.1]);

    let error = |file: &Path, name: &str| {
        Import::load(file, Path::new("scene.toml"), &keyframe(name)).unwrap_err().to_string()
    };
    let message = error(&file, "home");
    assert!(
        message.ends_with(
            "the keyframe \"home\": there is none of that name; the model has 0, thrown, short"
        ),
        "{message}"
    );
    let message = error(&file, "short");
    let expected = "the keyframe \"short\": its qpos has 3 numbers, and the model 15 coordinates";
    assert!(message.ends_with(expected), "{message}");
    let message = error(&data("crane.xml"), "home");
    assert!(message.ends_with("the model has no keyframes"), "{message}");
    let message = error(&data("lamp.urdf"), "home");
    assert!(message.ends_with("URDF has no keyframes"), "{message}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    let text = format!("[[robots]]\nfile = {file:?}\nkeyframe = \"home\"\n");
    std::fs::write(&path, text).unwrap();
    let message = Scene::load(&path, &[]).unwrap_err().to_string();
    assert!(message.contains(":3:12") && message.contains("robots[0].keyframe"), "{message}");
}

/// Fixed tendons with springs, damping, a servo, a motor and a range: after 0.3 s the joints are where MuJoCo 4.0 has them (Runge–Kutta steps of 20 µs;
/// with 10 µs the same to 10⁻¹⁰), and nearer with half of the step.
#[test]
fn tendons_pull_as_in_mujoco() {
    let file = data("tendons.xml");
    let (start, notes) = scene(&file, &keyframe("set"), &[]);
    let [sinew, belt, cord] = &start.definition.tendons[..] else { panic!() };
    assert_eq!(sinew.joints, [(1, -0.7), (0, 0.5)]);
    let springs = [sinew, belt, cord].map(|t| t.spring.map(|s| (s.stiffness, s.rest)));
    assert_eq!(springs, [Some((8.0, 0.3)), None, Some((30.0, 0.0))]);
    // what a class gives to tendons
    assert_eq!((sinew.damping, belt.damping, cord.damping), (0.05, 0.3, 0.0));
    assert_eq!((sinew.limits, belt.limits), (None, Some([-0.6, 0.7])));
    let drive = belt.drive.as_ref().unwrap();
    assert_eq!((drive.stiffness, drive.damping), (27.0, 1.8));
    assert!((drive.position.as_ref().unwrap().at(0.0) - 0.2).abs() < 1e-15);
    assert_eq!(sinew.drive.as_ref().unwrap().effort.as_ref().unwrap().at(0.0), 0.3);
    for part in ["spatial tendons are left out", "actuators of spatial tendons"] {
        assert!(notes.iter().any(|n| n.contains(part)), "{part}: {notes:?}");
    }

    let expected = [
        ("shoulder", 0.374291872),
        ("elbow", -0.0622669807),
        ("reach", 0.0495005868),
        ("sinew", 0.2307328225),
        ("belt", 0.1235949682),
        ("cord", 0.0990011737),
    ];
    let error = |steps: usize| {
        let step = format!("time.step={}", 0.3 / steps as f64);
        let settings = [&step, "time.integrator=bdf2", "solver.end.velocity=1e-8"];
        let (scene, _) = scene(&file, &keyframe("set"), &settings);
        let joints = run(&scene, steps).forces.joints;
        let off = expected.map(|(name, value)| {
            let joint = joints[name];
            (joint.angle.or(joint.displacement).unwrap() - value).abs()
        });
        off.into_iter().fold(0.0, f64::max)
    };
    let [coarse, fine] = [150, 300].map(error);
    println!("{coarse:.2e} {fine:.2e}");
    assert!(coarse < 1.1e-3 && fine < 2.8e-4, "{coarse:e} {fine:e}");
}

#[test]
fn tendons_in_a_scene_are_named_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    let file = data("tendons.xml");
    let head = format!("gravity = [0, 0, -9.81]\n[[robots]]\nfile = {file:?}\nname = \"arm\"\n");
    let load = |rest: &str| {
        std::fs::write(&path, format!("{head}{rest}")).unwrap();
        Scene::load(&path, &[]).map_err(|e| e.to_string())
    };
    let scene = load("[robots.drives]\nbelt = { position = 0.4 }\n").unwrap();
    let belt = &scene.definition.tendons[1];
    assert_eq!(belt.name, "arm/belt");
    let drive = belt.drive.as_ref().unwrap();
    // gains are those of the file
    assert_eq!((drive.position.as_ref().unwrap().at(0.0), drive.stiffness), (0.4, 27.0));
    let of_scene = "[[tendons]]\nname = \"own\"\njoints = { \"arm/elbow\" = 2.0, \"arm/reach\" = -1.0 }\ndamping = 0.5\n";
    let scene = load(of_scene).unwrap();
    // those of the scene come first, as its objects do
    assert_eq!(scene.definition.tendons[0].joints, [(1, 2.0), (2, -1.0)]);
    assert_eq!(scene.definition.tendons.len(), 4);
    for (text, place, part) in [
        (
            "[[tendons]]\njoints = { \"arm/knee\" = 1.0 }\n",
            "tendons[0].joints.arm/knee",
            "unknown joint",
        ),
        ("[[tendons]]\njoints = { }\n", "tendons[0].joints", "at least one joint"),
        (
            "[[tendons]]\nname = \"arm/elbow\"\njoints = { \"arm/elbow\" = 1.0 }\n",
            "name",
            "joint or tendon",
        ),
        (
            "[[tendons]]\njoints = { \"arm/elbow\" = 1.0 }\nlimits = [0.1, 0.2]\n",
            "limits",
            "within the limits",
        ),
        ("[robots.drives]\nbolt = { position = 0.4 }\n", "drives.bolt", "belt"),
    ] {
        let message = load(text).unwrap_err();
        assert!(message.contains(place) && message.contains(part), "{message}");
    }
    let error = |text: &str| {
        let path = folder.path().join("model.xml");
        std::fs::write(&path, text).unwrap();
        Import::load(&path, Path::new("scene.toml"), &RobotOptions::default())
            .unwrap_err()
            .to_string()
    };
    let model = |joint: &str, tendon: &str| {
        let text = std::fs::read_to_string(&file).unwrap();
        text.replace("joint=\"elbow\" coef=\"0.4\"", joint).replace("tendon=\"belt\"", tendon)
    };
    let message = error(&model("joint=\"knee\"", "tendon=\"belt\""));
    assert!(message.contains("there is no joint \"knee\""), "{message}");
    let message = error(&model("joint=\"elbow\"", "tendon=\"bolt\""));
    assert!(message.contains("there is no tendon \"bolt\""), "{message}");
}

/// An angle section of 0.75 of the volume of its hull touches as one of both, in both formats; its mass is that of itself.
#[test]
fn meshes_touch_as_they_are_or_as_their_hulls() {
    let folder = tempfile::tempdir().unwrap();
    // an L of which the inner corner is no corner of the hull
    let section = [[0.0, 0.0], [0.2, 0.0], [0.2, 0.1], [0.1, 0.1], [0.1, 0.2], [0.0, 0.2]];
    let mut obj = String::new();
    for z in [0.0, 0.3] {
        for [x, y] in section {
            obj += &format!("v {x} {y} {z}\n");
        }
    }
    for k in 0..6 {
        let next = (k + 1) % 6;
        let [a, b, c, d] = [k + 1, next + 1, next + 7, k + 7];
        obj += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
    }
    for [a, b, c] in [[1, 2, 3], [1, 3, 4], [1, 4, 5], [1, 5, 6]] {
        obj += &format!("f {a} {c} {b}\nf {} {} {}\n", a + 6, b + 6, c + 6);
    }
    std::fs::write(folder.path().join("angle.obj"), obj).unwrap();
    let mjcf = folder.path().join("angle.xml");
    let text = "<mujoco><asset><mesh name=\"m\" file=\"angle.obj\"/></asset><worldbody><body name=\"it\"><joint name=\"j\"/>
        <geom type=\"mesh\" mesh=\"m\" density=\"500\"/><geom type=\"sphere\" size=\"0.05\" pos=\"1 0 0\" mass=\"0\"/></body></worldbody></mujoco>";
    std::fs::write(&mjcf, text).unwrap();
    let urdf = folder.path().join("angle.urdf");
    let text = "<robot name=\"r\"><link name=\"base\"/><link name=\"it\"><collision><geometry><mesh filename=\"angle.obj\"/></geometry></collision>
        <inertial><mass value=\"4.5\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>
        <joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"it\"/><axis xyz=\"0 0 1\"/></joint></robot>";
    std::fs::write(&urdf, text).unwrap();
    for (file, ball) in [(&mjcf, 2 + 15 * 32), (&urdf, 0)] {
        for (hulls, vertices) in [(false, 12), (true, 10)] {
            let options = RobotOptions { hulls, ..RobotOptions::default() };
            let (scene, notes) = scene(file, &options, &[]);
            let simulation = Simulation::new(&scene.definition).unwrap();
            let body = simulation.model().bodies.iter().find(|b| b.name == "it").unwrap();
            // and four control points
            assert_eq!(body.vertices.len(), vertices + ball + 4, "{file:?} {hulls}");
            let mass: f64 = simulation.model().mass[body.unknowns.clone()].iter().sum();
            assert!((mass - 4.5).abs() < 1e-9, "{mass}");
            let told = notes.iter().any(|n| n.contains("meshes collide as they are"));
            assert_eq!(told, !hulls && file == &mjcf, "{notes:?}");
        }
    }
    // in a scene by the key of the section
    let path = folder.path().join("scene.toml");
    let text = "gravity = [0, 0, -9.81]\n[[robots]]\nfile = \"angle.xml\"\nhulls = true\n";
    std::fs::write(&path, text).unwrap();
    let scene = Scene::load(&path, &[]).unwrap();
    assert_eq!(scene.definition.bodies[0].rest.len(), 10 + 2 + 15 * 32 + 4);
}
