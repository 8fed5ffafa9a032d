//! A converted file does what the file says.

mod common;

use common::{ELASTIC, bricks, cantilever, import, scene};
use standoff_inp_import::Import;
use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use std::path::Path;

fn finished(scene: &Scene) -> Simulation {
    let time = &scene.definition.settings.time;
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    for _ in 0..(time.end / time.step).round() as usize {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    simulation
}

/// The displacements of the vertices of the first body at the end.
fn displacements(scene: &Scene) -> Vec<(Vec3, Vec3)> {
    let simulation = finished(scene);
    let rest = &scene.definition.bodies[0].rest;
    rest.iter().zip(simulation.positions()).map(|(x, now)| (*x, now - x)).collect()
}

/// Beam theory with shear: F L³/(3 E I) + F L/(5/6 G A) [Timoshenko 1921].
#[test]
fn a_cantilever_bends_as_a_beam() {
    let import = Import::load(&cantilever(), Path::new("beam.toml")).unwrap();
    let again = Import::load(&cantilever(), Path::new("beam.toml")).unwrap();
    assert_eq!((&import.toml, &import.meshes), (&again.toml, &again.meshes));
    let ends = displacements(&scene(&import));
    let tip: Vec<f64> = ends.iter().filter(|(x, _)| x.x > 0.999).map(|(_, u)| u.y).collect();
    assert_eq!(tip.len(), 9);
    let found = -tip.iter().sum::<f64>() / 9.0;
    let (force, young) = (5e4, 2.1e11);
    let shear = young / 2.6 * 0.01 * 5.0 / 6.0;
    let theory = force / (3.0 * young * 0.1_f64.powi(4) / 12.0) + force / shear;
    println!("{found} m, by beam theory {theory} m");
    assert!((found / theory - 1.0).abs() < 0.03, "{found} {theory}");
}

/// A row of bricks of two materials under tension, which are as stiff as springs in a row: u = F/A (1/E + 1/E') with Poisson's ratio 0.
#[test]
fn sections_of_one_mesh_have_their_materials() {
    let text = bricks([2, 1, 1], [2.0, 1.0, 1.0])
        + "*ELSET, ELSET=A\n1\n*ELSET, ELSET=B\n2\n*SOLID SECTION, ELSET=A, MATERIAL=M\n*SOLID SECTION, ELSET=B, MATERIAL=N\n\
           *MATERIAL, NAME=M\n*ELASTIC\n1e6, 0\n*DENSITY\n1000\n*MATERIAL, NAME=N\n*ELASTIC\n3e6, 0\n*DENSITY\n3000\n\
           *BOUNDARY\nX0, XSYMM\nY0, YSYMM\nZ0, 3\n*STEP\n*STATIC\n*DLOAD\n2, P4, -100\n*END STEP\n";
    let import = import(&text).unwrap();
    let materials = "material = \"M\"\nmaterials = { \"material=1\" = \"N\" }";
    assert!(import.toml.contains(materials), "{}", import.toml);
    let mesh = &import.meshes[0].1;
    assert_eq!(mesh.regions.iter().map(|r| r.tets.len()).collect::<Vec<_>>(), [6, 6]);
    // written and read as the command does
    let folder = tempfile::tempdir().unwrap();
    for (file, mesh) in &import.meshes {
        standoff_mesh::format::write(&folder.path().join(file), mesh).unwrap();
    }
    let scene = Scene::parse(&import.toml, Path::new("a.toml"), folder.path(), &[]).unwrap();
    let ends = displacements(&scene);
    let at = |x: f64| {
        let own: Vec<f64> = ends.iter().filter(|(p, _)| p.x == x).map(|(_, u)| u.x).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    // of finite strains of 1e-4
    let (middle, end) = (1e-4, 1e-4 + 1e-4 / 3.0);
    assert!((at(1.0) - middle).abs() < 1e-3 * middle, "{}", at(1.0));
    assert!((at(2.0) - end).abs() < 1e-3 * end, "{}", at(2.0));
}

const SYMMETRY: &str = "*BOUNDARY\nX0, XSYMM\nY0, YSYMM\nZ0, 3\n";

/// A cube on three symmetry planes under a pressure is shorter by p/E and wider by ν p/E, whichever keyword gives the pressure.
#[test]
fn symmetry_planes_and_pressure() {
    let model = bricks([2, 2, 2], [1.0, 1.0, 1.0]) + ELASTIC + SYMMETRY;
    let top = "*ELSET, ELSET=TOP, GENERATE\n5, 8\n*SURFACE, NAME=S\nTOP, S2\n";
    let loads = [
        "*DSLOAD\nS, P, 1000\n",
        "*DLOAD\nTOP, P2, 1000.\n",
        "*DLOAD\n5, P2, 1000\n6, P2, 1000\n7, P2, 1e3\n8, P2, 1d3\n",
    ];
    for load in loads {
        let text = format!("{model}{top}*STEP, NLGEOM\n*STATIC\n{load}*END STEP\n");
        let import = import(&text).unwrap();
        assert!(import.toml.contains("along = [\"x\"]"), "{}", import.toml);
        assert!(import.toml.contains("step = 0.05"), "{}", import.toml);
        for (x, u) in displacements(&scene(&import)) {
            let expected = 1e-3 * Vec3::new(0.3 * x.x, 0.3 * x.y, -x.z);
            assert!((u - expected).norm() < 1e-5, "{load}: {x} moves by {u}");
        }
    }
}

/// A pressure on two sides does not act on a triangle of the third one that has its corners on both.
#[test]
fn a_pressure_acts_on_its_faces_only() {
    let tets =
        "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4, ELSET=EALL\n1,1,2,3,4\n";
    let text = format!("{tets}{ELASTIC}*STEP\n*STATIC\n*DLOAD\n1, P1, 5\n1, P2, 5\n*END STEP\n");
    let import = import(&text).unwrap();
    for part in [
        "vertices = { vertices = [0, 1, 2] }\npressure",
        "vertices = { vertices = [0, 1, 3] }\npressure",
    ] {
        assert!(import.toml.contains(part), "{}", import.toml);
    }
    assert_eq!(import.toml.matches("pressure = ").count(), 2);
    // elements stay those of the file
    assert_eq!(import.toml.matches("element = \"linear\"").count(), 1);
}

#[test]
fn given_displacements_grow_over_the_steps() {
    let steps = "*STEP, NLGEOM\n*STATIC\n0.5, 1.\n*BOUNDARY\nZTOP, 3, 3, -0.1\n*END STEP\n\
                 *STEP, NLGEOM\n*STATIC\n0.5, 2.\n*BOUNDARY\nZTOP, 3, , 0.05\n*END STEP\n\
                 *STEP\n*STATIC\n*BOUNDARY, OP=NEW\n*END STEP\n";
    let text = bricks([1, 1, 1], [1.0, 1.0, 1.0]) + ELASTIC + SYMMETRY + steps;
    let import = import(&text).unwrap();
    assert!(import.toml.contains("step = 0.5\nend = 3.0"), "{}", import.toml);
    let last = import.notes.iter().find(|n| n.contains("OP=NEW")).unwrap();
    assert!(last.contains("this step and those after it are left out"), "{last}");
    for (x, u) in displacements(&scene(&import)).iter().filter(|(x, _)| x.z > 0.99) {
        assert!((u.z - 0.05).abs() < 1e-4, "{x} {u}");
    }
}

/// Loads that a step does not name stay, or end with OP=NEW.
#[test]
fn loads_of_later_steps_replace_those_of_before() {
    let step = |loads: &str| format!("*STEP, NLGEOM\n*STATIC\n1, 1\n{loads}*END STEP\n");
    let node = |force: &str| format!("*CLOAD{force}\n");
    let text = bricks([1, 1, 1], [1.0, 1.0, 1.0])
        + ELASTIC
        + "*BOUNDARY\nZ0, 1, 3\n*AMPLITUDE, NAME=A\n0, 0, 1, 1\n"
        + &step(&(node("\n1, 1, 2.\n1, 1, 2.\n") + "*BOUNDARY, OP=NEW\nZ0, 1, 3\n"))
        + &step(&node("\n2, 2, 8."))
        + &step(&node(", OP=NEW, AMPLITUDE=A\n2, 2, 16."));
    let import = import(&text).unwrap();
    assert!(import.toml.contains("end = 3.0"), "{}", import.toml);
    for part in [
        "[\"(4.0)*min(t, 1.0) + (-4.0)*min(max(t - 2.0, 0), 1.0)\", 0.0, 0.0]",
        "[0.0, \"(8.0)*min(max(t - 1.0, 0), 1.0) + (-8.0)*min(max(t - 2.0, 0), 1.0)\", 0.0]",
        "[0.0, \"(16.0)*min(max(t - 2.0, 0), 1.0)\", 0.0]",
    ] {
        assert!(import.toml.contains(part), "{part}: {}", import.toml);
    }
    scene(&import);
}

#[test]
fn gravity_and_dynamics() {
    let text = bricks([1, 1, 1], [1.0, 1.0, 1.0])
        + ELASTIC
        + "*SURFACE INTERACTION, NAME=I\n*FRICTION\n0.3,\n*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.01, 0.1\n\
           *DLOAD\nEALL, GRAV, 9.81, 0, 0, -2.\n*END STEP\n";
    let import = import(&text).unwrap();
    for part in [
        "integrator = \"bdf2\"",
        "step = 0.01",
        "acceleration = [0.0, 0.0, -9.81]",
        "coefficient = 0.3",
    ] {
        assert!(import.toml.contains(part), "{}", import.toml);
    }
    for (_, u) in displacements(&scene(&import)) {
        // g t²/2, with the error of the first steps
        assert!((u.z / -0.04905 - 1.0).abs() < 0.1, "{u}");
    }
}

/// The material of a text, as the scene has it.
fn material(text: &str) -> (String, Vec<String>) {
    let model = bricks([1, 1, 1], [1.0, 1.0, 1.0]) + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
    let import = import(&format!("{model}*MATERIAL, NAME=M\n*DENSITY\n1000\n{text}")).unwrap();
    scene(&import);
    let found = import.toml.split("[materials.").nth(1).unwrap();
    (found.split("\n\n").next().unwrap().to_owned(), import.notes)
}

#[test]
fn materials_have_their_constants() {
    for (text, parts) in [
        (
            "*HYPERELASTIC, MOONEY-RIVLIN\n3e5, 1e5, 2e-8\n",
            &[
                "{ kind = \"mooney-rivlin\", c10 = 300000.0, c01 = 100000.0 }",
                "bulk_modulus = 100000000.0",
            ][..],
        ),
        (
            "*HYPERELASTIC, NEO HOOKE\n3e5, 2e-8\n",
            &["{ kind = \"mooney-rivlin\", c10 = 300000.0 }", "bulk_modulus = 100000000.0"],
        ),
        (
            "*HYPERELASTIC, N=2\n3e5, 1e5, 1e3, 0, 0, 2e-9, 0\n",
            &["c10 = 300000.0, c01 = 100000.0, c20 = 1000.0, c11 = 0.0, c02 = 0.0"],
        ),
        (
            "*HYPERELASTIC, YEOH\n3e5, -1e3, 1e2, 2e-9, 0, 0\n",
            &["{ kind = \"yeoh\", c10 = 300000.0, c20 = -1000.0, c30 = 100.0 }"],
        ),
        (
            "*HYPERELASTIC, ARRUDA-BOYCE\n3e5, 2.5, 2e-9\n",
            &["{ kind = \"arruda-boyce\", mu = 300000.0, locking_stretch = 2.5 }"],
        ),
        (
            "*HYPERELASTIC, OGDEN, N=3\n4e5, 1.3, 1e3, 5, 1e4, -2, 2e-8, 0,\n0\n",
            &[
                "terms = [{ mu = 400000.0, alpha = 1.3 }, { mu = 1000.0, alpha = 5.0 }, { mu = 10000.0, alpha = -2.0 }]",
                "bulk_modulus = 100000000.0",
            ],
        ),
        ("*HYPERELASTIC, NEO HOOKE\n3e5, 0\n", &["poisson_ratio = 0.495"]),
        (
            "*ELASTIC, TYPE=ISO\n70e9, 0.33\n*PLASTIC\n140e6, 0\n148e6, 0.01\n",
            &["plasticity = { yield_stress = 140000000.0, hardening_modulus = 800000000.0 }"],
        ),
        (
            "*ELASTIC\n70e9, 0.33\n*PLASTIC, HARDENING=KINEMATIC\n140e6, 0\n148e6, 0.01\n",
            &["plasticity = { yield_stress = 140000000.0, kinematic_modulus = 800000000.0 }"],
        ),
        (
            "*ELASTIC\n2e6, 0.3\n*VISCOELASTIC, TIME=PRONY\n0.3, 0, 0.1\n0.2, 0.0, 4\n",
            &[
                "young_modulus = 2000000.0",
                "relaxation = [{ ratio = 0.6, time = 0.1 }, { ratio = 0.4, time = 4.0 }]",
            ],
        ),
    ] {
        let (found, _) = material(text);
        for part in parts {
            assert!(found.contains(part), "{text}: {found}");
        }
    }
    let (found, notes) =
        material("*ELASTIC\n70e9, 0.33\n*PLASTIC\n140e6, 0\n150e6, 0.01\n160e6, 0.03\n");
    assert!(notes.iter().any(|n| n.contains("least squares")), "{notes:?}");
    assert!(found.contains("hardening_modulus = 700000000.0"), "{found}");
    // half of the shear modulus at once is left after a long time, and all of the bulk modulus
    let (found, _) = material(
        "*ELASTIC, MODULI=INSTANTANEOUS\n2.6e6, 0.3\n*VISCOELASTIC, TIME=PRONY\n0.5, 0, 1\n",
    );
    let value = |key: &str| -> f64 {
        let line = found.lines().find(|l| l.starts_with(key)).unwrap();
        line.split(" = ").nth(1).unwrap().parse().unwrap()
    };
    let (young, poisson) = (value("young_modulus"), value("poisson_ratio"));
    assert!((young / (2.0 * (1.0 + poisson)) - 5e5).abs() < 1e-6);
    assert!((young / (3.0 * (1.0 - 2.0 * poisson)) - 2.6e6 / 1.2).abs() < 1e-6);
}

/// A block that is pressed far beyond its yield stress bears about that stress.
#[test]
fn a_plastic_block_yields() {
    let text = bricks([1, 1, 1], [1.0, 1.0, 1.0])
        + "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1e9, 0.3\n*PLASTIC\n1e6, 0\n"
        + SYMMETRY
        + "*STEP, NLGEOM\n*STATIC\n0.25, 1\n*BOUNDARY\nZTOP, 3, 3, -0.05\n*END STEP\n";
    let scene = scene(&import(&text).unwrap());
    let simulation = finished(&scene);
    let strains = simulation.plastic_strains();
    // ln 0.95 less the elastic strain of 1e-3
    assert!(strains.iter().all(|a| (a - 0.0503).abs() < 5e-4), "{strains:?}");
}

#[test]
fn what_is_not_converted_is_listed_with_its_line() {
    let text = "*HEADING\nA box\n*FOO, BAR=1\n1, 2\n".to_owned()
        + &bricks([1, 1, 1], [1.0, 1.0, 1.0])
        + ELASTIC
        + "*STEP\n*STATIC\n*CLOAD, FOLLOWER\n1, 1, 5.\n*NODE PRINT\nU\n*END STEP\n*COUPLING, NAME=T\nA, B\n*COUPLING, NAME=U\nC, D\n";
    let lines: Vec<&str> = text.lines().collect();
    let line = |start: &str| 1 + lines.iter().position(|l| l.starts_with(start)).unwrap();
    let import = import(&text).unwrap();
    let (follower, coupling) = (line("*CLOAD"), line("*COUPLING"));
    for expected in [
        "line 3: *FOO is not converted".to_owned(),
        format!("line {follower}: the parameter FOLLOWER of *CLOAD is not read"),
        format!("lines {coupling}, {}: *COUPLING is not converted", coupling + 2),
        format!(
            "line {}: requests of output are left out: [output] says what frames have",
            line("*NODE PRINT")
        ),
    ] {
        assert!(import.notes.contains(&expected), "{expected}: {:?}", import.notes);
        assert!(import.toml.contains(&format!("# - {expected}")));
    }
    assert!(import.notes[0].starts_with("the file has no units"));
    assert!(import.notes.iter().any(|n| n.contains("EALL is held nowhere")), "{:?}", import.notes);
}

/// Bodies whose nodes are at the same places touch at the start.
#[test]
fn parts_without_a_gap_are_listed() {
    let tets = "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n11,0,0,0\n12,1,0,0\n13,0,1,0\n14,0,0,-1\n\
                *ELEMENT, TYPE=C3D4, ELSET=EALL\n1,1,2,3,4\n2,11,13,12,14\n";
    let import = import(&format!("{tets}{ELASTIC}")).unwrap();
    let names = "EALL and EALL-2 have 3 nodes at the same places";
    assert!(import.notes.iter().any(|n| n.contains(names)), "{:?}", import.notes);
}
