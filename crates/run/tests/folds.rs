//! Shells and rods through folds by 180°, and bodies whose mesh is finer than their thickness, in whole steps.

use standoff_linalg::Vec3;
use standoff_run::{checkpoint_bytes, fingerprint, parse_checkpoint};
use standoff_scene::Scene;
use standoff_sim::audit::violations;
use standoff_sim::{BuildError, Simulation};
use std::path::Path;

/// Two triangles with a rest angle; one of them turns by 360° about their common edge.
const TWO: &str = "v 0 0 0\nv 0 0 1\nv 1 0.3 0.5\nv -1 0.3 0.5\nf 1 2 3\nf 2 1 4\n";

fn turn(bending: &str, folder: &Path) -> Scene {
    std::fs::write(folder.join("two.obj"), TWO).unwrap();
    parse(
        &format!(
            r#"
            gravity = [0, 0, 0]
            time = {{ step = 0.01, end = 1, integrator = "quasi-static" }}
            contact = {{ enabled = false }}
            [materials.m]
            young_modulus = 1e6
            density = 1000
            shell = {{ thickness = 0.01, bending_model = "{bending}" }}
            [[objects]]
            name = "s"
            mesh = "two.obj"
            role = "shell"
            material = "m"
            [[objects.fixed]]
            vertices = {{ vertices = [0, 1, 3] }}
            [[objects.motion]]
            vertices = {{ vertices = [2] }}
            rotation = {{ axis = [0, 0, 1], angle = "360*t" }}
            pivot = [0, 0, 0.5]
            "#
        ),
        folder,
    )
}

fn parse(text: &str, folder: &Path) -> Scene {
    Scene::parse(text, &folder.join("scene.toml"), folder, &[]).unwrap()
}

#[test]
fn a_hinge_that_turns_by_360_degrees_has_a_continuous_energy() {
    let folder = tempfile::tempdir().unwrap();
    for (bending, name) in [("hinge", "hinges"), ("shape-operator", "shape operators")] {
        let scene = turn(bending, folder.path());
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        let mut energies = vec![0.0];
        for _ in 0..100 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success());
            energies.push(report.energies[name]);
        }
        // quadratic in the angle: second differences of steps of 3.6° do not change
        let second: Vec<f64> =
            energies.windows(3).map(|e| (e[2] - 2.0 * e[1] + e[0]) / energies[100]).collect();
        for second in second {
            assert!((second - 2e-4).abs() < 1e-5, "{bending}: {second:e}");
        }
        assert!(simulation.state().turns.iter().any(|t| *t != 0));
    }
}

/// A state beyond 180° goes through a checkpoint and continues with the same bits.
#[test]
fn a_checkpoint_beyond_180_degrees_continues_alike() {
    let folder = tempfile::tempdir().unwrap();
    for bending in ["hinge", "shape-operator"] {
        let scene = turn(bending, folder.path());
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        (0..70).for_each(|_| drop(simulation.step().unwrap()));
        let print = fingerprint(&scene.definition);
        let bytes = checkpoint_bytes(print, simulation.state(), &[]);
        let read = parse_checkpoint(Path::new("70.ckpt"), &bytes, print).unwrap();
        assert_eq!(&read.state, simulation.state());
        assert!(read.state.turns.iter().any(|t| *t != 0));
        let mut other = Simulation::restore(&scene.definition, read.state.clone()).unwrap();
        for _ in 0..5 {
            let (a, b) = (simulation.step().unwrap(), other.step().unwrap());
            assert_eq!(a.energies, b.energies);
        }
        let bits = |s: &Simulation| checkpoint_bytes(print, s.state(), &[]);
        assert_eq!(bits(&simulation), bits(&other));
        // without the turns it would be another energy
        let mut forgetful = read.state;
        forgetful.turns.fill(0);
        let mut forgetful = Simulation::restore(&scene.definition, forgetful).unwrap();
        forgetful.step().unwrap();
        assert!(bits(&forgetful) != bits(&simulation));
        let mut short = simulation.state().clone();
        short.turns.pop();
        let error = Simulation::restore(&scene.definition, short).map(drop).unwrap_err();
        assert!(matches!(&error, BuildError::State { problem } if problem.contains("hinges")));
    }
}

/// A joint is folded by exactly 180°, and beyond; its energy is the same on both sides.
#[test]
fn a_rod_folds_by_180_degrees_and_beyond() {
    let scene = parse(
        r#"
        gravity = [0, 0, 0]
        time = { step = 0.01, end = 1, integrator = "quasi-static" }
        contact = { enabled = false }
        [materials.m]
        young_modulus = 1e6
        density = 1000
        [[objects]]
        name = "s"
        shape = { kind = "polyline", points = [[-1, 0, 0], [0, 0, 0], [1, 0, 0]] }
        role = "rod"
        radius = 0.05
        material = "m"
        [[objects.fixed]]
        vertices = { vertices = [0, 1] }
        [[objects.motion]]
        vertices = { vertices = [2] }
        rotation = { axis = [0, 0, 1], angle = "360*t" }
        pivot = [0, 0, 0]
        "#,
        Path::new(""),
    );
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let mut energies = vec![0.0];
    for _ in 0..100 {
        energies.push(simulation.step().unwrap().energies["rod joints"]);
    }
    let most = energies[50];
    assert!(most > 0.0 && energies[100] < 1e-9 * most);
    for k in 0..50 {
        assert!(energies[k] < energies[k + 1] && energies[k + 1] - energies[k] < 0.2 * most, "{k}");
        assert!((energies[k] - energies[100 - k]).abs() < 1e-6 * most, "{k}");
    }
}

fn rope(points: &str, segments: usize, more: &str) -> String {
    format!(
        r#"
        gravity = [0, 0, 0]
        time = {{ step = 0.02, end = 1 }}
        [materials.rope]
        young_modulus = 1e6
        density = 900
        [[objects]]
        name = "rope"
        shape = {{ kind = "polyline", points = {points}, segments = {segments} }}
        role = "rod"
        radius = 0.005
        material = "rope"
        {more}
        "#
    )
}

/// A rope with segments shorter than it is thick is bent until its ends would pass through each other: it stays 1 cm from
/// itself.
#[test]
fn a_rope_finer_than_its_thickness_is_kept_apart_from_itself() {
    let more = r#"
        [[objects.forces]]
        vertices = { vertices = [0] }
        force = [2, 0.6, 0.0]
        [[objects.forces]]
        vertices = { vertices = [40] }
        force = [-2, 0.6, 0.0]
    "#;
    let scene = parse(&rope("[[0, 0, 0], [0.32, 0, 0]]", 40, more), Path::new(""));
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let (mut contacts, mut closest) = (0, f64::INFINITY);
    for _ in 0..25 {
        let report = simulation.step().unwrap();
        contacts = contacts.max(report.contacts);
        let x = simulation.positions();
        assert!(violations(simulation.model(), x).is_empty());
        for i in 0..=40usize {
            for j in i + 4..=40 {
                closest = f64::min(closest, (x[i] - x[j]).norm());
            }
        }
    }
    assert!(contacts > 0, "it met itself");
    assert!(closest > 0.01, "{closest}");
}

/// Layers that lie on each other at rest are refused as before, beside a fold that is not.
#[test]
fn a_rope_that_lies_on_itself_at_rest_is_refused() {
    let start = |gap: &str| {
        let points = format!("[[0, 0, 0], [0.2, 0, 0], [0.2, {gap}, 0], [0, {gap}, 0]]");
        let scene = parse(&rope(&points, 80, ""), Path::new(""));
        Simulation::new(&scene.definition).map(drop)
    };
    let error = start("0.008").unwrap_err();
    assert!(matches!(&error, BuildError::Intersecting { count, .. } if *count > 40), "{error}");
    start("0.012").unwrap();
}

/// A flat sheet 2 mm thick with edges of 1 mm hangs over its clamp.
#[test]
fn a_sheet_finer_than_its_thickness_bends() {
    let scene = parse(
        r#"
        time = { step = 0.01, end = 0.1 }
        [materials.leather]
        young_modulus = 5e5
        density = 900
        shell = { thickness = 0.002 }
        [[objects]]
        name = "leather"
        shape = { kind = "plane", size = [0.03, 0.006], cells = [30, 6] }
        role = "shell"
        material = "leather"
        fixed = [{ vertices = { box = { min = [0, 0, 0], max = [0.2, 1, 1], relative = true } } }]
        "#,
        Path::new(""),
    );
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    let start: Vec<Vec3> = simulation.positions().to_vec();
    for _ in 0..5 {
        let report = simulation.step().unwrap();
        assert_eq!(report.contacts, 0);
    }
    let fallen = |(x, start): (&Vec3, &Vec3)| start.y - x.y;
    let most = simulation.positions().iter().zip(&start).map(fallen).fold(0.0, f64::max);
    assert!(most > 5e-4, "{most}");
    assert!(violations(simulation.model(), simulation.positions()).is_empty());
}
