//! A surface that is filled, dropped and carried along: the run is clean, the surface follows.

use standoff_linalg::Vec3;
use standoff_mesh::format;
use standoff_mesh::shape::{Shape, Sphere};
use standoff_run::{Options, audit, check, read_frame, run};
use standoff_scene::Scene;
use std::ops::ControlFlow;
use std::path::Path;

/// An egg in mm, of which only the surface is given, in a scene in m; and a box.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.25 }
output = { every = 5 }
[[objects]]
name = "egg"
mesh = "egg.obj"
scale = [0.001, 0.0012, 0.001]
rotate = [0, 0, 30]
fill = { size = "20 mm", carry_surface = true }
translate = [0, "66 mm", 0]
array = { counts = [1, 2, 1], spacing = [0, "0.14 m", 0] }
[[objects]]
name = "box"
shape = { kind = "box", size = [0.1, 0.05, 0.1] }
fill = { size = "21 mm" }
translate = [0.3, "26 mm", 0]
rotate = [0, 20, 0]
"#;

#[test]
fn a_filled_surface_falls_with_a_clean_audit_and_carries_its_surface() {
    let folder = tempfile::tempdir().unwrap();
    let ball = Shape::Sphere(Sphere { radius: 50.0, layers: 6, ..Default::default() });
    let (surface, _) = ball.build().unwrap().to_surface();
    format::write(&folder.path().join("egg.obj"), &surface).unwrap();
    let scene = Scene::parse(SCENE, Path::new("scene.toml"), folder.path(), &[]).unwrap();
    assert_eq!(scene.fills.len(), 2);
    assert_eq!((scene.carried.len(), scene.carried[1].body), (2, 1));
    let egg = &scene.fills[0].1;
    assert!(egg.dihedral.0 >= 10.0 && egg.inwards.bound <= 0.005, "{egg:?}");
    let report = check(&scene).unwrap();
    assert!(report.violations.is_empty());
    let mass = report.bodies[0].mass.unwrap();
    let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.05f64.powi(3) * 1.2 * 1000.0;
    assert!((mass / exact - 1.0).abs() < 0.08, "{mass} kg, {exact} kg");

    let out = folder.path().join("out");
    let summary = run(&scene, &out, Options::default(), &mut |_| ControlFlow::Continue(()));
    assert!(summary.unwrap().is_success());
    let report = audit(&out, &mut |_| {}).unwrap();
    assert!(report.frames == 6 && report.faults == 0, "{report:?}");

    // the carried surfaces start where the object was placed, and stay with their bodies
    let first = read_frame(&out.join("carried/000000.vtu")).unwrap();
    let last = read_frame(&out.join("carried/000025.vtu")).unwrap();
    assert_eq!(first.positions.len(), 2 * surface.points.len());
    assert_eq!(first.triangles.len(), 2 * surface.triangles.len());
    let (sine, cosine) = 30f64.to_radians().sin_cos();
    for (p, q) in surface.points.iter().zip(&first.positions) {
        let (x, y, z) = (0.001 * p.x, 0.0012 * p.y, 0.001 * p.z);
        let placed = Vec3::new(cosine * x - sine * y, sine * x + cosine * y + 0.066, z);
        assert!((placed - q).norm() < 1e-12, "{placed} {q}");
    }
    let bodies = read_frame(&out.join("frames/000025.vtu")).unwrap().positions;
    let lowest = |x: &[Vec3]| x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    assert!((lowest(&last.positions) - lowest(&bodies)).abs() < 0.005);
    assert!(last.positions != first.positions);
    let list = std::fs::read_to_string(out.join("carried.pvd")).unwrap();
    assert!(list.contains("carried/000025.vtu"), "{list}");
}

/// Two balls, one on the other, filled with tetrahedra that are coarser than their surfaces: these touch, and every frame holds them, free of
/// intersections by the audit.
#[test]
fn a_surface_that_collides_is_what_touches() {
    const SCENE: &str = r#"
    ground = 0.0
    time = { step = 0.01, end = 0.4 }
    friction = { coefficient = 0.5 }
    output = { every = 5 }
    [materials.rubber]
    young_modulus = 2e5
    poisson_ratio = 0.4
    density = 1000
    [[objects]]
    name = "ball"
    mesh = "ball.obj"
    material = "rubber"
    fill = { size = "20 mm", deviation = inf, carry_surface = true, collides = true }
    translate = [0, "51 mm", 0]
    rotate = [10, 20, 30]
    array = { counts = [1, 2, 1], spacing = [0, "0.102 m", 0] }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let ball = Shape::Sphere(Sphere { radius: 0.05, layers: 9, ..Default::default() });
    let (surface, _) = ball.build().unwrap().to_surface();
    format::write(&folder.path().join("ball.obj"), &surface).unwrap();
    let load = |set: &[String]| Scene::parse(SCENE, Path::new("scene.toml"), folder.path(), set);
    let scene = load(&[]).unwrap();
    let body = &scene.definition.bodies[1];
    assert_eq!(body.carried_count(), surface.points.len());
    let report = check(&scene).unwrap();
    assert!(report.violations.is_empty());
    // the gap is that of the surfaces, not that of the tetrahedra inside
    let gap = report.closest.as_ref().unwrap().gap;
    assert!(gap > 0.002 && gap < 0.004, "{gap}");

    let out = folder.path().join("out");
    let summary = run(&scene, &out, Options::default(), &mut |_| ControlFlow::Continue(()));
    assert!(summary.unwrap().is_success());
    let report = audit(&out, &mut |_| {}).unwrap();
    assert!(report.frames == 9 && report.faults == 0, "{report:?}");
    assert!(!out.join("carried").exists());
    let last = read_frame(&out.join("frames/000040.vtu")).unwrap();
    assert_eq!(last.triangles.len(), 2 * surface.triangles.len());
    assert!(last.boundary().is_empty());
    // contact acts on the surface alone, and at points that lie on it
    let carried: std::collections::HashSet<u32> =
        last.triangles.iter().flatten().copied().collect();
    let forces = || (0u32..).zip(&last.contact_force).filter(|(_, f)| f.norm() > 0.0);
    assert!(forces().count() > 10 && forces().all(|(v, _)| carried.contains(&v)));
    let lowest = carried.iter().map(|&v| last.positions[v as usize].y).fold(1.0, f64::min);
    assert!(lowest > 0.0 && lowest < 1e-3, "{lowest}");
    let written = scene.resolved_toml().unwrap();
    assert!(written.contains("collides = true"), "{written}");

    let error = load(&["objects.0.fill.carry_surface=false".into()]).unwrap_err().to_string();
    assert!(error.contains("fill.collides") && error.contains("carry_surface"), "{error}");
    let scene = load(&["solver.method=dot".into()]).unwrap();
    let error = check(&scene).unwrap_err().to_string();
    assert!(error.contains("solver.method") && error.contains("'ball"), "{error}");
}
