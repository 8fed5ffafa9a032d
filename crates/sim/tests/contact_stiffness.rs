//! Adaptive stiffness: bounds, balance, updates, load.

use crate::common::{block, ground, scene};
use crate::contact_support::*;
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::contact::stiffness::{
    CloseContacts, Closeness, StiffnessRange, kappa_within_slack, load, update,
};
use standoff_sim::contact::{Barrier, BarrierPotential, ContactSet, Weighting};
use standoff_sim::definition::{BodyKind, Definition};
use standoff_sim::settings::{Adaptation, ContactPotential, HessianProjection, Method};
use standoff_testkit::{number, testdata_json};

#[test]
fn initial_stiffness_matches_the_oracle() {
    let (scenes, json) = (scenes(), testdata_json("oracle/stiffness.json"));
    let mut compared = 0;
    for scene in &scenes {
        let candidates = near_candidates(&scene.mesh, &scene.x, 0.35);
        for case in json["initial"].as_array().unwrap() {
            if case["scene"] != scene.name.as_str() {
                continue;
            }
            let (d_hat, xi) = (number(&case["dhat"]), number(&case["dmin"]));
            let barrier = match case["barrier"].as_str().unwrap() {
                "clamped_log" => Barrier::ClampedLog,
                "normalized_clamped_log" => Barrier::NormalizedClampedLog,
                _ => Barrier::ClampedLogSquared,
            };
            let mut mesh = scene.mesh.clone();
            mesh.half_thickness = vec![0.5 * xi; mesh.rest.len()];
            let set =
                ContactSet::build(&candidates, &mesh, &[], &scene.x, d_hat, &Weighting::Count);
            let p = BarrierPotential { barrier, d_hat, kappa: 1.0, physical: false, even: false };
            let mut contact = vec![Vec3::zeros(); scene.x.len()];
            p.add_gradient(&set, &scene.x, &mut contact);
            let other: Vec<Vec3> = if case["grad_energy"] == "cos" {
                (0..contact.len())
                    .map(|i| Vec3::from_fn(|k, _| 1e-2 * (0.9 * (3 * i + k) as f64 + 0.2).cos()))
                    .collect()
            } else {
                contact.iter().map(|g| g * -50.0).collect()
            };
            let range = StiffnessRange::new(
                barrier,
                d_hat,
                xi,
                number(&case["bbox_diagonal"]),
                number(&case["average_mass"]),
                number(&case["min_barrier_stiffness_scale"]),
            );
            let want = number(&case["kappa_max"]);
            assert!((range.max - want).abs() < 1e-10 * want, "{} {case}", range.max);
            let kappa = range.balance(&other, &contact);
            if number(&case["grad_barrier_norm"]) == 0.0 {
                // the toolkit then clamps κ = 1, which depends on the unit; we take the smallest
                assert_eq!(kappa, range.min);
                continue;
            }
            let want = number(&case["kappa"]);
            assert!((kappa - want).abs() < 1e-10 * want, "{kappa} {case}");
            compared += 1;
        }
    }
    println!("{compared} cases");
    assert!(compared > 300);
}

#[test]
fn updates_match_the_oracle() {
    let json = testdata_json("oracle/stiffness.json");
    for case in json["update"].as_array().unwrap() {
        let xi = number(&case["dmin"]);
        let range = StiffnessRange { min: 0.0, max: number(&case["max_barrier_stiffness"]) };
        // the toolkit compares distances with 1e-9 (l + ξ); a gap is what is left beyond ξ
        if xi != 0.0 {
            continue;
        }
        let got = update(
            &range,
            number(&case["barrier_stiffness"]),
            number(&case["prev_min_distance_squared"]).sqrt(),
            number(&case["min_distance_squared"]).sqrt(),
            number(&case["bbox_diagonal"]) * number(&case["dhat_epsilon_scale"]) / 1e-9,
        );
        assert_eq!(got, number(&case["result"]), "{case}");
    }
}

#[test]
fn range_follows_from_the_barrier() {
    let (d_hat, size, mass) = (1e-3, 1.0, 0.02);
    let range = StiffnessRange::new(Barrier::ClampedLog, d_hat, 0.0, size, mass, 1e11);
    // κ_min makes the leading term of a point–point Hessian, 4 d² b″, 1e11 times the mass
    let d2: f64 = 1e-16;
    let b2 = Barrier::ClampedLog.derivatives(d2, d_hat * d_hat)[2];
    assert!((range.min * 4.0 * d2 * b2 / (1e11 * mass) - 1.0).abs() < 1e-12);
    assert_eq!(range.max, 100.0 * range.min);
    // a reach below 1e-8 l still gives a finite range
    let tiny = StiffnessRange::new(Barrier::ClampedLog, 1e-9, 0.0, size, mass, 1e11);
    assert!(tiny.min.is_finite() && tiny.min > 0.0);

    assert_eq!(range.balance(&[Vec3::x()], &[Vec3::zeros()]), range.min);
    assert_eq!(range.balance(&[Vec3::x()], &[Vec3::x()]), range.min);
    let g = [Vec3::x(), Vec3::y()];
    let balanced = range.balance(&g.map(|v| v * -3.0 * range.min), &g);
    assert!((balanced / (3.0 * range.min) - 1.0).abs() < 1e-14);
    assert_eq!(range.doubled(range.max), range.max);
}

#[test]
fn only_a_close_and_shrinking_gap_counts() {
    let x = |gap: f64| vec![Vec3::zeros(), Vec3::new(gap, 0.0, 0.0)];
    let mut mesh = standoff_geometry::CollisionMesh::new(x(1.0), Vec::new(), &[], &[0, 1]);
    mesh.half_thickness = Vec::new();
    let candidates = all_candidates(&mesh);
    let close = |gap: f64| {
        let x = x(gap);
        let set = ContactSet::build(&candidates, &mesh, &[], &x, 1e-3, &Weighting::Count);
        assert_eq!(set.len(), 1);
        CloseContacts::new(&set, &x, Closeness::Gap(1e-9))
    };
    assert!(close(5e-10).any_shrank(&close(8e-10)));
    assert!(!close(8e-10).any_shrank(&close(5e-10)));
    assert!(!close(5e-10).any_shrank(&close(2e-9)));
    assert!(!close(2e-9).any_shrank(&close(3e-9)));
}

/// Where the thickness is part of the distance, contacts with thickness are never close.
#[test]
fn thickness_counts_to_an_absolute_distance() {
    let x = vec![Vec3::zeros(), Vec3::new(1e-3 + 5e-10, 0.0, 0.0)];
    let mut mesh = standoff_geometry::CollisionMesh::new(x.clone(), Vec::new(), &[], &[0, 1]);
    mesh.half_thickness = vec![0.5e-3; 2];
    let set = ContactSet::build(&all_candidates(&mesh), &mesh, &[], &x, 1e-3, &Weighting::Count);
    assert_eq!(set.len(), 1);
    assert!(!CloseContacts::new(&set, &x, Closeness::Gap(1e-9)).is_empty());
    assert!(CloseContacts::new(&set, &x, Closeness::Distance(1e-9)).is_empty());
    assert!(!CloseContacts::new(&set, &x, Closeness::Distance(2e-3)).is_empty());
}

/// Contacts of different weight, thickness and gap, with the load rule's κ: the one that needs most bears
/// its force at half of d̂ then, the others theirs at larger gaps.
#[test]
fn the_most_loaded_contact_acts_at_half_of_d_hat() {
    let (d_hat, thickness) = (1e-3, 4e-3);
    let gaps = [1e-5, 3e-4, 9e-4];
    let points: Vec<Vec3> = gaps
        .iter()
        .enumerate()
        .flat_map(|(k, gap)| {
            let y = k as f64;
            [Vec3::new(0.0, y, 0.0), Vec3::new(thickness + gap, y, 0.0)]
        })
        .collect();
    let ids: Vec<u32> = (0..points.len() as u32).collect();
    let mut mesh = standoff_geometry::CollisionMesh::new(points.clone(), Vec::new(), &[], &ids);
    mesh.half_thickness = vec![0.5 * thickness; points.len()];
    let build = |x: &[Vec3]| {
        ContactSet::build(&all_candidates(&mesh), &mesh, &[], x, d_hat, &Weighting::Count)
    };
    for (physical, even) in [(false, false), (false, true), (true, true)] {
        let barrier =
            BarrierPotential { barrier: Barrier::ClampedLog, d_hat, kappa: 7.0, physical, even };
        let mut set = build(&points);
        assert_eq!(set.len(), gaps.len());
        set.contacts[1].weight = 3.0;
        let force = |c| barrier.force_magnitude(c, &c.gather(&points));
        let kappa = load(&barrier, &set, &points);
        assert!(kappa > 7.0);
        let stiff = BarrierPotential { kappa, ..barrier };
        let at = |gap: f64| {
            [Vec3::zeros(), Vec3::new(thickness + gap, 0.0, 0.0), Vec3::zeros(), Vec3::zeros()]
        };
        let most = &set.contacts[0];
        let ratio = stiff.force_magnitude(most, &at(0.5 * d_hat)) / force(most);
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        for c in &set.contacts[1..] {
            assert!(stiff.force_magnitude(c, &at(0.5 * d_hat)) > force(c));
        }
        // what a contact bears does not depend on κ: with the new κ at the new gaps nothing changes
        let there: Vec<Vec3> = (0..points.len())
            .map(|i| {
                points[i] + Vec3::new(if i == 1 { 0.5 * d_hat - gaps[0] } else { 0.0 }, 0.0, 0.0)
            })
            .collect();
        let again =
            load(&stiff, &ContactSet { contacts: vec![*most], ..ContactSet::default() }, &there);
        assert!((again / kappa - 1.0).abs() < 1e-12, "{again} {kappa}");
    }
    let none = ContactSet::default();
    let barrier = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat,
        kappa: 7.0,
        physical: false,
        even: true,
    };
    assert_eq!(load(&barrier, &none, &points), 0.0);
}

#[test]
fn the_stiffness_stays_while_it_suits_the_load() {
    assert_eq!(kappa_within_slack(0.0, 5.0), 5.0);
    assert_eq!(kappa_within_slack(4.0, 5.0), 5.0);
    assert_eq!(kappa_within_slack(19.0, 5.0), 19.0);
    assert_eq!(kappa_within_slack(21.0, 5.0), 20.0);
    assert_eq!(kappa_within_slack(21.0, 0.0), 0.0);
}

/// Two blocks at rest, the upper one of a hundred times the density, with d̂ a thousandth of their edge. Friction holds them: without, the upper one slips
/// off from any start but the exactly symmetric one.
#[test]
fn no_gap_of_a_loaded_stack_is_pressed_far_below_half_of_d_hat() {
    let mut smallest = [0.0; 2];
    for (k, adaptation) in [Adaptation::Load, Adaptation::Conditioning].into_iter().enumerate() {
        let d_hat = 1e-4;
        let mut heavy = block("heavy", [0.0, 0.1 + 1.8 * d_hat, 0.0], [1, 1, 1], 0.1);
        if let BodyKind::Volume { density, material, .. } = &mut heavy.kind {
            (*density, material.young_modulus) = (1e5, 1e8);
        }
        let mut light = block("light", [0.0, 0.9 * d_hat, 0.0], [1, 1, 1], 0.1);
        if let BodyKind::Volume { material, .. } = &mut light.kind {
            material.young_modulus = 1e8;
        }
        let mut definition = scene(vec![light, heavy]);
        definition.gravity = Vec3::new(0.0, -9.81, 0.0);
        definition.half_spaces.push(ground(0.0));
        definition.settings.time.step = 0.02;
        definition.settings.contact.d_hat = Some(d_hat);
        definition.settings.contact.adaptation = adaptation;
        definition.settings.solver.end.velocity = Some(1e-4);
        definition.settings.friction.coefficient = 0.5;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut last = simulation.step().unwrap();
        let mut kappas = Vec::new();
        for _ in 0..60 {
            last = simulation.step().unwrap();
            assert!(last.outcome.is_success());
            kappas.push(last.kappa);
        }
        // the ground carries the weight of both
        let force: f64 = simulation.contact_forces().iter().map(|f| f.y).sum();
        let weight = 9.81 * 101.0;
        assert!((force / weight - 1.0).abs() < 1e-2, "{adaptation:?}: {force} {weight}");
        smallest[k] = last.min_gap.unwrap() / d_hat;
        println!("{adaptation:?}: gap {:.2e} of d̂, κ {:.2e}", smallest[k], last.kappa);
        if adaptation == Adaptation::Load {
            // friction lets the blocks creep, and κ with them
            let settled = |k: &f64| (k / kappas[59] - 1.0).abs() < 1e-2;
            assert!(kappas[30..].iter().all(settled), "κ changes at rest {kappas:?}");
        }
    }
    assert!(smallest[0] > 0.45 && smallest[0] < 0.9, "{smallest:?}");
    assert!(smallest[1] < 0.25, "{smallest:?}");
}

/// The κ of the code of [Li 2021] depends on d̂, h and the mean mass of a vertex alone: not on the size of the scene.
#[test]
fn stiffness_by_mass_is_that_of_an_absolute_distance() {
    // b″(s, ŝ) of the clamped logarithm at s = 10⁻¹⁶ m², term by term
    let (s, s_hat, mass) = (1e-16_f64, 4e-8_f64, 2e-4);
    let b2 = -2.0 * (s / s_hat).ln() - 4.0 * (s - s_hat) / s + ((s - s_hat) / s).powi(2);
    let range = StiffnessRange::by_mass(Barrier::ClampedLog, 2e-4, mass);
    assert!((range.min / (1e11 * 3.0 * mass / (4e-16 * b2)) - 1.0).abs() < 1e-12, "{range:?}");
    assert_eq!(range.max, 128.0 * range.min);
}

/// A light block that is pressed down until its gaps are below 10⁻⁹ m: κ doubles, and stays doubled in the steps after.
#[test]
fn stiffness_by_mass_only_doubles() {
    let d_hat = 1e-4;
    let mut foam = block("foam", [0.0, 0.9 * d_hat, 0.0], [1, 1, 1], 0.1);
    if let BodyKind::Volume { density, material, .. } = &mut foam.kind {
        (*density, material.young_modulus) = (1.0, 1e8);
    }
    let mut definition = scene(vec![foam]);
    definition.gravity = Vec3::new(0.0, -1e5, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 1.0;
    definition.settings.contact.d_hat = Some(d_hat);
    definition.settings.contact.adaptation = Adaptation::Mass;
    let mut simulation = Simulation::new(&definition).unwrap();
    let least = StiffnessRange::by_mass(Barrier::ClampedLog, d_hat, 1e-3 / 8.0).min;
    let mut before = 1.0;
    for step in 0..4 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        let doubled = report.kappa / least;
        println!("step {step}: κ {doubled} times the least, gap {:?}", report.min_gap);
        // the masses of the vertices are those of tetrahedra, so that their sum has rounding errors
        assert!((doubled.log2() - doubled.log2().round()).abs() < 1e-9, "{doubled}");
        assert!(doubled >= before * (1.0 - 1e-12) && doubled <= 129.0, "{doubled} {before}");
        before = doubled;
    }
    assert!(before > 1.9, "{before}");
}

/// Two blocks that fall onto the ground and each other within a few steps.
fn falling_blocks(d_hat: f64) -> Definition {
    let mut upper = block("upper", [0.02, 0.11, 0.01], [1, 1, 1], 0.1);
    if let BodyKind::Volume { material, .. } = &mut upper.kind {
        material.young_modulus = 1e6;
    }
    let mut definition = scene(vec![block("lower", [0.0, 0.004, 0.0], [1, 1, 1], 0.1), upper]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.01;
    definition.settings.contact.d_hat = Some(d_hat);
    definition.settings.solver.end.velocity = Some(1e-8);
    definition
}

/// Two blocks that fall onto each other, with one of the barriers of [Li 2020, suppl. B] and forces of the same size at the same part of d̂.
fn falling_with(barrier: Barrier) -> Simulation {
    let mut definition = falling_blocks(1e-3);
    definition.settings.contact.barrier = barrier;
    definition.settings.contact.stiffness = Some(1e8 * 1e-12 / barrier.units(1e-6));
    definition.settings.friction.coefficient = 0.5;
    definition.settings.solver.end.velocity = Some(1e-5);
    Simulation::new(&definition).unwrap()
}

#[test]
fn the_barrier_of_one_continuous_derivative_carries_the_weight() {
    for barrier in [Barrier::ClampedLogC1, Barrier::ClampedLog] {
        let mut simulation = falling_with(barrier);
        let mut iterations = 0;
        for _ in 0..60 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{barrier:?}: {report:?}");
            iterations += report.newton_iterations;
        }
        let force: f64 = simulation.contact_forces().iter().map(|f| f.y).sum();
        println!("{barrier:?}: {iterations} iterations, {force} N");
        assert!((force / (9.81 * 2.0) - 1.0).abs() < 0.05, "{barrier:?}: {force}");
        assert!(simulation.audit().is_empty());
    }
}

/// Forces of the C⁰ barrier jump at d̂: where the minimum is at the jump, no gradient vanishes, as in the ablation of [Li 2020, suppl. B].
#[test]
fn the_barrier_whose_forces_jump_may_not_converge() {
    let mut simulation = falling_with(Barrier::ClampedLogC0);
    let stalled = (0..60).find_map(|_| simulation.step().err()).expect("a step without a minimum");
    println!("{stalled}");
    assert!(stalled.to_string().contains("no step length lowered the potential"), "{stalled}");
    assert!(simulation.audit().is_empty());
}

/// The Gauss–Newton part of the Hessian [Li 2020, §4.3] leads to the same minima, in no fewer iterations.
#[test]
fn the_gauss_newton_part_leads_to_the_same_minima() {
    let run = |projection| {
        let mut definition = falling_blocks(1e-3);
        definition.settings.contact.stiffness = Some(1e8);
        definition.settings.solver.projection = projection;
        definition.settings.solver.forecast_forces = false;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut iterations = 0;
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            iterations += report.newton_iterations;
        }
        (simulation.state().x.clone(), iterations)
    };
    let (full, few) = run(HessianProjection::Always);
    let (part, more) = run(HessianProjection::GaussNewton);
    let off = full.iter().zip(&part).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("{few} and {more} iterations, off by {off:.1e} m");
    assert!(off < 1e-8, "{off}");
    assert!(more >= few, "{more} {few}");
}

#[test]
fn a_contact_distance_that_shrinks_within_a_step_ends_at_the_same_minimiser() {
    let d_hat = 1e-3;
    let run = |start: Option<f64>| {
        let mut definition = falling_blocks(d_hat);
        definition.settings.contact.stiffness = Some(1e8);
        definition.settings.contact.d_hat_start = start;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut minimisations = Vec::new();
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            minimisations.push(report.lagging_iterations);
        }
        assert!(simulation.state().contact_forces.iter().any(|f| f.norm() > 0.0));
        (simulation.state().x.clone(), minimisations)
    };
    let (direct, once) = run(None);
    // d̂² from 100 d̂² on: seven halvings
    let (shrunk, eight) = run(Some(10.0 * d_hat));
    assert_eq!((once, eight), (vec![1; 20], vec![8; 20]));
    let off = direct.iter().zip(&shrunk).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("off by {off:.1e} m");
    assert!(off < 1e-8, "{off}");
}

#[test]
fn a_contact_distance_that_shrinks_goes_with_adapted_stiffness_and_friction() {
    for adaptation in [Adaptation::Load, Adaptation::Conditioning] {
        let mut definition = falling_blocks(1e-4);
        definition.settings.contact.adaptation = adaptation;
        definition.settings.contact.d_hat_start = Some(2e-3);
        definition.settings.friction.coefficient = 0.5;
        definition.settings.solver.end.velocity = Some(1e-5);
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..60 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
        }
        assert!(simulation.audit().is_empty());
        let gap = simulation.state().x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(gap > 0.0 && gap < 1e-4, "{adaptation:?}: {gap}");
        let force: f64 = simulation.contact_forces().iter().map(|f| f.y).sum();
        let weight = 9.81 * 2.0;
        assert!((force / weight - 1.0).abs() < 0.05, "{adaptation:?}: {force} {weight}");
    }
}

#[test]
fn a_contact_distance_that_cannot_shrink_is_refused() {
    let refused = |change: fn(&mut Definition)| {
        let mut definition = falling_blocks(1e-3);
        definition.settings.contact.d_hat_start = Some(1e-2);
        change(&mut definition);
        Simulation::new(&definition).err().expect("refused").to_string()
    };
    let smaller = refused(|d| d.settings.contact.d_hat_start = Some(1e-4));
    assert!(smaller.contains("contact.d_hat_start") && smaller.contains("at least"), "{smaller}");
    let barrier_free = refused(|d| d.settings.solver.method = Method::BarrierFree);
    assert!(barrier_free.contains("`solver.method = \"barrier-free\"`"), "{barrier_free}");
    let oriented = refused(|d| d.settings.contact.potential = ContactPotential::OrientationAware);
    assert!(oriented.contains("`contact.potential = \"orientation-aware\"`"), "{oriented}");
    let negative = refused(|d| d.settings.contact.d_hat_start = Some(-1.0));
    assert!(negative.contains("d_hat_start") && negative.contains("positive"), "{negative}");
}
