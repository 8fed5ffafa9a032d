//! The audit of strain limits: nothing below a limit is reported, everything above it is; and that of paths.

use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::Auditor;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::Rotation3;
use standoff_sim::Simulation;
use standoff_sim::audit::{AuditScene, StrainLimit, Violation, violations, violations_between};
use standoff_sim::definition::{BodyDef, BodyKind, Definition};
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::settings::{AuditLevel, Method};

/// The stretch that the audit reports for a triangle, if it is beyond a limit.
fn audited(limit: &StrainLimit, x: &[Vec3; 3]) -> Option<f64> {
    let collision = CollisionMesh::default();
    let scene = AuditScene {
        quadratic: &[],
        quadratic_plane: &[],
        allow_inversion: false,
        collision: &collision,
        tets: &[],
        plane: &[],
        half_spaces: &[],
        half_space_vertices: &[],
        strain_limits: std::slice::from_ref(limit),
    };
    match violations(scene, x)[..] {
        [] => None,
        [Violation::Overstretched { stretch, .. }] => Some(stretch),
        ref other => panic!("{other:?}"),
    }
}

/// Rest triangles, from a good one to a sliver, far from the origin, too.
fn triangles() -> Vec<[Vec3; 3]> {
    let shapes = [[0.5, 0.8], [0.02, 0.3], [0.5, 1e-3], [-3.0, 1e-2], [1.0, 40.0]];
    let turn = Rotation3::from_euler_angles(0.7, -1.1, 2.3);
    shapes
        .into_iter()
        .map(|[s, t]| {
            let corners = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(s, t, 0.0)];
            corners.map(|p| turn * (0.01 * p))
        })
        .collect()
}

#[test]
fn a_stretch_is_told_from_its_limit_to_ten_digits() {
    let turn = Rotation3::from_euler_angles(0.3, 0.2, -0.9);
    for rest in triangles() {
        let edges = [rest[1] - rest[0], rest[2] - rest[0]];
        let normal = edges[0].cross(&edges[1]).normalize();
        for direction in 0..6 {
            // stretches of σ along a direction in the plane and of almost as much across it
            let angle = Rotation3::new(normal * (0.5 * f64::from(direction)));
            let (u, v) =
                (angle * edges[0].normalize(), angle * normal.cross(&edges[0]).normalize());
            let stretched = |s: [f64; 2]| {
                rest.map(|p| turn * (u * (s[0] * u.dot(&p)) + v * (s[1] * v.dot(&p))))
            };
            let limit = StrainLimit {
                vertices: [0, 1, 2],
                rest,
                stretch: Some(1.1),
                strain: None,
                fibre: None,
            };
            for other in [1.0, 1.0999, 0.3] {
                assert_eq!(audited(&limit, &stretched([1.0999999998, other])), None);
                let found = audited(&limit, &stretched([1.1000000002, other])).expect("beyond");
                assert!((found - 1.1000000002).abs() < 1e-10, "{found}");
            }
            let mut lost = stretched([1.0, 1.0]);
            lost[1].y = f64::NAN;
            let collision = CollisionMesh::default();
            let scene = AuditScene {
                quadratic: &[],
                quadratic_plane: &[],
                allow_inversion: false,
                collision: &collision,
                tets: &[],
                plane: &[],
                half_spaces: &[],
                half_space_vertices: &[],
                strain_limits: std::slice::from_ref(&limit),
            };
            let found = violations(scene, &lost);
            assert!(
                found.iter().any(|v| matches!(v, Violation::Overstretched { .. })),
                "{found:?}"
            );
        }
    }
}

/// Green's strain along, across and between fibres, each against its own limit.
#[test]
fn strains_along_fibres() {
    for rest in triangles() {
        let edges = [rest[1] - rest[0], rest[2] - rest[0]];
        let normal = edges[0].cross(&edges[1]).normalize();
        for angle in [0.0, 0.4, 1.5, 2.9] {
            let u = Rotation3::new(normal * angle) * edges[0].normalize();
            let v = normal.cross(&u);
            // F with Cholesky's factor of C = 1 + 2E
            let deformed = |e: [f64; 3]| {
                let (c11, c22, c12) = (1.0 + 2.0 * e[0], 1.0 + 2.0 * e[1], 2.0 * e[2]);
                let l = c11.sqrt();
                let (f1, f2) = (u * l, u * (c12 / l) + v * (c22 - c12 * c12 / c11).sqrt());
                rest.map(|p| f1 * u.dot(&p) + f2 * v.dot(&p))
            };
            let limits = [0.15, 0.2, 0.1];
            let limit = StrainLimit {
                vertices: [0, 1, 2],
                rest,
                stretch: None,
                strain: Some(limits),
                // a part out of the plane has no effect
                fibre: Some(3.0 * u + normal),
            };
            for k in 0..3 {
                for sign in [-1.0, 1.0] {
                    let mut e = limits.map(|l| 0.5 * l);
                    e[k] = sign * limits[k] * (1.0 - 1e-9);
                    assert_eq!(audited(&limit, &deformed(e)), None, "{k} {sign}");
                    e[k] = sign * limits[k] * (1.0 + 1e-9);
                    assert!(audited(&limit, &deformed(e)).is_some(), "{k} {sign}");
                }
            }
        }
    }
}

/// Two wires across each other: the upper one falls at 3 m/s, ten times their
/// distance in a step. No single state would show that they passed through each other.
fn wires_and_points() -> Definition {
    let pair = |name: &str, a: Vec3, b: Vec3, speed: f64| BodyDef {
        name: name.into(),
        rest: vec![a, b],
        kind: BodyKind::Rod {
            segments: vec![[0, 1]],
            material: RodMaterial { radius: 1e-3, young_modulus: 1e7, poisson_ratio: 0.3 },
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        velocity: vec![Vec3::new(0.0, 0.0, speed); 2],
        ..BodyDef::default()
    };
    let bodies = vec![
        pair("low", Vec3::new(-0.1, 0.0, 0.0), Vec3::new(0.1, 0.01, 0.0), 0.0),
        pair("high", Vec3::new(0.01, -0.1, 0.003), Vec3::new(0.0, 0.1, 0.003), -3.0),
    ];
    let mut definition = Definition { bodies, ..Definition::default() };
    definition.settings.contact.d_hat = Some(1e-4);
    definition.settings.solver.audit = AuditLevel::EveryPath;
    definition
}

/// Collision detection leaves nothing for the audit of paths to cut, by both solvers.
#[test]
fn wires_that_hit_each_other_keep_apart_all_the_way() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let mut definition = wires_and_points();
        definition.settings.solver.method = method;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut contacts = 0;
        for _ in 0..5 {
            let report = simulation.step().unwrap();
            assert_eq!(report.step_cuts.audit, 0, "{report:?}");
            contacts = contacts.max(report.max_contacts);
        }
        assert!(contacts > 0, "{method:?}");
        let x = &simulation.state().x;
        assert!(x[2].z.max(x[3].z) > x[0].z.min(x[1].z), "{x:?}");
    }
}

/// Where a step would carry a wire through another, the audit of paths says so although that of the state finds nothing.
#[test]
fn a_wire_that_was_put_behind_another_has_crossed_it() {
    let simulation = Simulation::new(&wires_and_points()).unwrap();
    let (model, from) = (simulation.model(), &simulation.state().x);
    let to: Vec<Vec3> =
        (0..from.len()).map(|v| from[v] - Vec3::z() * if v < 2 { 0.0 } else { 0.01 }).collect();
    assert_eq!(violations(model, &to), vec![]);
    let found = violations_between(&mut Auditor::default(), model, from, &to);
    let [Violation::Crossing { a, b, time, distance, thickness }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((&a[..], &b[..], *thickness), (&[0, 1][..], &[2, 3][..], 0.0));
    assert!((time - 0.3).abs() < 1e-9 && *distance < 1e-12, "{time} {distance}");
    let words = found[0].describe(model);
    assert!(
        words.contains("'low'") && words.contains("'high'") && words.contains("0.300000"),
        "{words}"
    );
}
