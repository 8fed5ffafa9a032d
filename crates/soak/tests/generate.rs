//! Scenes are functions of their seeds and hold all that they should.

use standoff_scene::Scene;
use standoff_soak::generate::{Parts, scene, scene_with};
use std::collections::BTreeSet;
use std::path::Path;

/// As many joints as may be.
fn joined() -> Parts {
    Parts { rigid: 1.0, joints: 1.0, ..Parts::default() }
}

#[test]
fn a_seed_is_a_scene() {
    assert_eq!(scene(7), scene(7));
    assert_ne!(scene(7), scene(8));
}

#[test]
fn a_few_hundred_seeds_hold_every_kind_of_everything() {
    let all: String = (1..=400).map(scene).collect();
    for word in [
        "crash",
        "pile",
        "press",
        "drag",
        "twist",
        "drape", // what happens
        "\"box\"",
        "\"sphere\"",
        "\"cylinder\"",
        "\"torus\"",
        "\"mat\"",
        "\"tet\"",
        "\"cone\"", // volumes
        "\"plane\"",
        "\"tube\"",
        "\"polyline\"",
        "\"points\"",
        "\"needles\"", // thin bodies and obstacles
        "\"shell\"",
        "\"rod\"",
        "\"particles\"",
        "\"obstacle\"",
        "stable-neo-hookean",
        "fixed-corotated",
        "corotated-linear",
        "st-venant-kirchhoff",
        "cotton",
        "shape-operator",
        "stretch_limit = 1",
        "poisson_ratio = -",
        "implicit-euler",
        "bdf2",
        "newmark",
        "quasi-static",
        "stiffness_damping",
        "converged",
        "conditioning",
        "area_weighting",
        "inclusion",
        "self_contact",
        "conjugate-gradient",
        "velocity_relative",
        "contact_thickness",
        "ground",
        "slope",
        "pressure",
        "acceleration",
        "attachments",
        "sin(",
        "angular_velocity",
    ] {
        assert!(all.contains(word), "{word}");
    }
    let names: BTreeSet<u64> = (1..=400).map(|s| scene(s).len() as u64).collect();
    assert!(names.len() > 200);
}

#[test]
fn rigid_bodies_have_joints_of_every_kind_with_all_that_acts_along_them() {
    let all: String = (1..=300).map(|seed| scene_with(seed, &joined())).collect();
    for word in [
        "revolute",
        "prismatic",
        "spherical",
        "fixed",
        "cylindrical",
        "planar",
        "universal",
        "distance",
        "limits = [",
        "-inf",
        "spring",
        "drive",
        "max_effort",
        "mimic",
        "friction = ",
        "damping = ",
        "sin(",
    ] {
        assert!(all.contains(word), "{word}");
    }
    assert!((1..=300).any(|seed| scene_with(seed, &joined()).matches("[[joints]]").count() > 2));
}

#[test]
fn friction_has_two_coefficients() {
    let all = Parts { kinetic: 1.0, ..Parts::default() };
    let mut count = 0;
    for seed in 1..=50 {
        let text = scene_with(seed, &all);
        let number = |key: &str| -> Option<f64> {
            let line = text.lines().find(|l| l.starts_with(&format!("{key} = ")))?;
            line.split(" = ").nth(1)?.parse().ok()
        };
        let has_friction = text.contains("[friction]");
        assert_eq!(number("kinetic_coefficient").is_some(), has_friction, "seed {seed}");
        if let (Some(kinetic), Some(at_rest)) =
            (number("kinetic_coefficient"), number("coefficient"))
        {
            assert!((0.0..=at_rest).contains(&kinetic), "seed {seed}: {kinetic} {at_rest}");
            count += 1;
        }
        // nothing else differs
        let added = ["kinetic_coefficient = ", "stick_speed = "];
        let kept = text.lines().filter(|l| !added.iter().any(|a| l.starts_with(a)));
        assert_eq!(kept.collect::<Vec<_>>(), scene(seed).lines().collect::<Vec<_>>());
    }
    assert!(count > 20, "{count}");
}

/// All forms of strains without stress come up, and they read as scenes.
#[test]
fn volumes_grow() {
    let all = Parts { growth: 1.0, ..Parts::default() };
    let scenes: Vec<String> = (1..40).map(|seed| scene_with(seed, &all)).collect();
    for word in ["growth = 0.", "growth = -0.", "growth = \"", "sin(", "min("] {
        assert!(scenes.iter().any(|text| text.contains(word)), "{word}");
    }
    for text in &scenes {
        assert_eq!(text.matches("growth = ").count(), 2, "{text}");
        Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    }
}

#[test]
fn volumes_have_fibres() {
    let all = Parts { fibres: 1.0, ..Parts::default() };
    let texts: String = (1..=60).map(|seed| scene_with(seed, &all)).collect();
    for word in ["fibres", "direction = [", "around", "exponent", "tension = ", "sin(", "min("] {
        assert!(texts.contains(word), "{word}");
    }
    for seed in 1..=60 {
        let text = scene_with(seed, &all);
        assert_eq!(text.matches("fibres]]").count() >= 2, text.contains("solid"), "seed {seed}");
        let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]);
        scene.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
fn volumes_have_quadratic_elements() {
    let all = Parts { quadratic: 1.0, ..Parts::default() };
    let count = |text: &str| text.matches("element = \"quadratic\"").count();
    assert!((1..=50).map(|seed| count(&scene_with(seed, &all))).sum::<usize>() > 30);
    for seed in 1..=50 {
        // nothing else differs
        let linear = scene_with(seed, &all).replace("\"quadratic\"", "\"linear\"");
        assert_eq!(linear, scene(seed));
    }
}

#[test]
fn soft_bodies_have_joints_and_joints_break() {
    let parts = Parts { soft_joints: 1.0, breaking: 0.5, ..joined() };
    let parts = Parts { rigid: 0.4, ..parts };
    let all: String = (1..=200).map(|seed| scene_with(seed, &parts)).collect();
    for word in ["relative = true", "breaking_force", "breaking_moment", "[joints.vertices"] {
        assert!(all.contains(word), "{word}");
    }
    // without them the scene of a seed is what it was
    let none = Parts { soft_joints: 0.0, breaking: 0.0, ..parts };
    assert!((1..=200).all(|seed| !scene_with(seed, &none).contains("breaking_force")));
}

/// Scenes in two dimensions and of bodies of revolution have every kind of what there is, and read.
#[test]
fn scenes_are_in_the_plane() {
    let all = Parts { planar: 1.0, quadratic: 0.5, ..Parts::default() };
    let more = Parts { growth: 1.0, fibres: 1.0, inelastic: 1.0, kinetic: 1.0, ..all };
    let texts: Vec<String> =
        (1..=100).map(|k| scene_with(k, if k % 2 == 0 { &all } else { &more })).collect();
    for word in [
        "dimension = 2",
        "dimension = \"axisymmetric\"",
        "crash in the plane",
        "pile in the plane",
        "press in the plane",
        "\"rectangle\"",
        "\"disc\"",
        "\"polygon\"",
        "\"rounded-rectangle\"",
        "\"wall\"",
        "\"plate\"",
        "slope",
        "angular_velocity",
        "pressure",
        "acceleration",
        "contact_thickness",
        "\"quadratic\"",
        "\"linear\"",
        "growth",
        "fibres",
        "plasticity",
    ] {
        assert!(texts.iter().any(|text| text.contains(word)), "{word}");
    }
    for (seed, text) in (1..).zip(&texts) {
        let scene = Scene::parse(text, Path::new("scene.toml"), Path::new(""), &[]);
        scene.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    }
    // the others are what they were
    assert!((1..=50).all(|seed| scene_with(seed, &Parts::default()) == scene(seed)));
}
