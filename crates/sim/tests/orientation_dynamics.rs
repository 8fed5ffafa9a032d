//! Simulations with the orientation-aware potential.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, HalfSpaceDef, Motion, Pivot, PrescribedDef,
};
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::settings::{ContactPotential, Integrator, Method};
use standoff_sim::{BuildError, Simulation};

const D_HAT: f64 = 0.02;
const G: f64 = 9.81;

fn oriented(bodies: Vec<BodyDef>) -> Definition {
    let mut definition = scene(bodies);
    let settings = &mut definition.settings;
    settings.time.step = 0.01;
    settings.contact.d_hat = Some(D_HAT);
    settings.contact.potential = ContactPotential::OrientationAware;
    definition
}

fn with_ipc(mut definition: Definition) -> Definition {
    definition.settings.contact.potential = ContactPotential::Ipc;
    definition
}

/// A flat box as an obstacle with a closed surface, its top at y = `top`.
fn slab(top: f64) -> BodyDef {
    let x: Vec<Vec3> = (0..8)
        .map(|i| {
            let pick = |bit: usize, low: f64, high: f64| if i >> bit & 1 == 1 { high } else { low };
            Vec3::new(pick(0, -2.0, 2.0), pick(1, top - 0.3, top), pick(2, -2.0, 2.0))
        })
        .collect();
    let sides: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|s| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]]).collect();
    BodyDef {
        name: "slab".into(),
        rest: x,
        kind: BodyKind::Obstacle { triangles, edges: Vec::new(), points: Vec::new() },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

fn run(definition: &Definition, steps: usize) -> Simulation {
    let mut simulation = Simulation::new(definition).unwrap();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        assert_eq!(simulation.audit(), []);
    }
    simulation
}

/// Two blocks closer than d̂ stay where they are, whatever the mesh; with the IPC potential they part
/// [Huang 2024, Fig. 11].
#[test]
fn bodies_at_rest_stay_at_rest() {
    for cell in [0.5, 0.1, 0.05_f64] {
        let n = (0.5 / cell).round() as usize;
        let low = block("low", [0.0; 3], [n; 3], cell);
        let high = block("high", [0.0, 0.5 + 0.5 * D_HAT, 0.0], [n; 3], cell);
        let definition = oriented(vec![low, high]);
        let mut simulation = Simulation::new(&definition).unwrap();
        let start = simulation.positions().to_vec();
        let report = simulation.step().unwrap();
        // the one iteration that finds nothing to do
        assert!(report.newton_iterations <= 1 && report.max_contacts == 0, "{cell} {report:?}");
        let moved = simulation.positions().iter().zip(&start).map(|(a, b)| (a - b).norm());
        assert!(moved.fold(0.0, f64::max) < 1e-14);
        let report = Simulation::new(&with_ipc(definition)).unwrap().step().unwrap();
        assert!(report.newton_iterations > 0 && report.max_contacts > 0);
    }
}

/// A block of cells finer than d̂ with a slit through most of it, narrower than d̂, is free of force.
#[test]
fn a_slit_stays_as_it_is() {
    let mut slit = block("slit", [0.0; 3], [8, 4, 2], 0.05);
    // the vertices of the middle layer again, for the cells beyond it
    let (middle, gap) = (0.2, 0.3 * D_HAT);
    let n = slit.rest.len();
    let mut twin = vec![u32::MAX; n];
    for v in 0..n {
        let p = slit.rest[v];
        if (p.x - middle).abs() < 1e-9 && p.y > 0.06 {
            twin[v] = slit.rest.len() as u32;
            slit.rest.push(p + Vec3::new(gap, 0.0, 0.0));
        }
    }
    let rest = slit.rest.clone();
    let BodyKind::Volume { tets, .. } = &mut slit.kind else { panic!() };
    for t in tets.iter_mut() {
        let centre = t.iter().map(|&v| rest[v as usize].x).sum::<f64>() / 4.0;
        for v in t.iter_mut().filter(|_| centre > middle) {
            if (*v as usize) < n && twin[*v as usize] != u32::MAX {
                *v = twin[*v as usize];
            }
        }
    }
    let definition = oriented(vec![slit]);
    let report = Simulation::new(&definition).unwrap().step().unwrap();
    assert!(report.newton_iterations <= 1 && report.max_contacts == 0, "{report:?}");
    let report = Simulation::new(&with_ipc(definition)).unwrap().step().unwrap();
    assert!(report.max_contacts > 0);
}

/// A block without lateral contraction is pressed to a third of its height; its sides stay flat, and
/// nothing acts between their vertices [Huang 2024, Fig. 12].
#[test]
fn compression_adds_no_contact() {
    let mut cube = block("cube", [0.0; 3], [3, 12, 3], 0.05);
    if let BodyKind::Volume { material, .. } = &mut cube.kind {
        material.poisson_ratio = 0.0;
    }
    let height = |low: f64, high: f64| {
        let at = |v: &usize| (low..high).contains(&cube.rest[*v].y);
        (0..cube.rest.len()).filter(at).map(|v| v as u32).collect::<Vec<_>>()
    };
    let (bottom, top) = (height(-1.0, 0.01), height(0.59, 1.0));
    let mut definition = oriented(vec![cube.clone()]);
    let down = |speed: f64| Motion::Rigid {
        linear: Vec3::new(0.0, -speed, 0.0),
        angular: Vec3::zeros(),
        pivot: Pivot::StartCentre,
    };
    for (name, vertices, motion) in [("bottom", bottom, Motion::Fixed), ("top", top, down(2.0))] {
        definition.prescribed.push(PrescribedDef::new(name, 0, vertices, motion));
    }
    let contacts = |definition: &Definition| {
        let mut simulation = Simulation::new(definition).unwrap();
        let reports = (0..20).map(|_| simulation.step().unwrap());
        reports.map(|r| r.max_contacts).max().unwrap()
    };
    // layers end at 0.017 m of each other
    assert_eq!(contacts(&definition), 0);
    assert!(contacts(&with_ipc(definition)) > 0);
}

/// A block comes to rest on a closed obstacle and on a half-space with all integrators, and its contact
/// forces carry its weight.
#[test]
fn a_block_rests_on_what_is_below() {
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark] {
        for on_plane in [false, true] {
            let body = block("block", [0.0, 0.05, 0.0], [2, 2, 2], 0.25);
            let n = body.rest.len();
            let mut definition = oriented(vec![body, slab(0.0)]);
            if on_plane {
                definition.bodies.pop();
                definition.half_spaces.push(ground(0.0));
            }
            definition.gravity = Vec3::new(0.0, -G, 0.0);
            definition.settings.time.integrator = integrator;
            definition.settings.time.stiffness_damping = 2e-3;
            definition.settings.solver.end.velocity = Some(1e-4);
            let mut simulation = run(&definition, 100);
            let (mut force, mut count) = (Vec3::zeros(), 0.0);
            for _ in 0..100 {
                simulation.step().unwrap();
                force += simulation.contact_forces()[..n].iter().sum::<Vec3>();
                count += 1.0;
            }
            let weight = 125.0 * G;
            let mean = force / count;
            println!("{integrator:?} {on_plane}: {} of the weight", mean.y / weight);
            assert!((mean.y / weight - 1.0).abs() < 0.03, "{integrator:?} {on_plane} {mean:?}");
            assert!(mean.x.abs() + mean.z.abs() < 0.01 * weight);
        }
    }
}

/// A slab that slides on either slows down by μ g.
#[test]
fn friction_takes_the_force_of_this_potential() {
    let mu = 0.3;
    for on_plane in [false, true] {
        let mut body = block("block", [0.0, 0.9 * D_HAT, 0.0], [4, 1, 4], 0.25);
        body.velocity = vec![Vec3::new(2.0, 0.0, 0.0); body.rest.len()];
        let n = body.rest.len();
        let mut definition = oriented(vec![body, slab(0.0)]);
        if on_plane {
            definition.bodies.pop();
            definition.half_spaces.push(ground(0.0));
        }
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.settings.time.step = 2e-3;
        definition.settings.friction.coefficient = mu;
        definition.settings.friction.stick_speed = Some(1e-3);
        definition.settings.solver.end.velocity = Some(1e-6);
        let mut simulation = Simulation::new(&definition).unwrap();
        let (mut before, mut worst, mut compared) = (f64::NAN, 0.0_f64, 0);
        let (mut friction, mut normal) = (0.0, 0.0);
        for _ in 0..80 {
            assert!(simulation.step().unwrap().outcome.is_success());
            let force: Vec3 = simulation.contact_forces()[..n].iter().sum();
            if before > 1.0 {
                worst = worst.max((-force.x / (mu * before) - 1.0).abs());
                (friction, normal) = (friction - force.x, normal + before);
                compared += 1;
            }
            before = force.y;
        }
        let mean = friction / (mu * normal) - 1.0;
        println!("on a plane {on_plane}: off by {mean:.1e}, at most {worst:.1e}, {compared} steps");
        // where vertices pass over edges of the slab, forces have a part along it for a step or two
        let (most, on_average) = if on_plane { (0.01, 0.01) } else { (0.3, 0.01) };
        assert!(worst < most && mean.abs() < on_average && compared > 20);
    }
}

/// A cloth has no inside and keeps the IPC potential, in the same scene.
#[test]
fn open_surfaces_keep_the_ipc_potential() {
    let mut definition = oriented(vec![block("block", [0.0, 0.05, 0.0], [2, 2, 2], 0.25)]);
    definition.bodies.push(BodyDef {
        name: "plate".into(),
        rest: [[-1.0, 0.0, -1.0], [2.0, 0.0, -1.0], [2.0, 0.0, 2.0], [-1.0, 0.0, 2.0]]
            .map(Vec3::from)
            .to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    });
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let simulation = run(&definition, 40);
    let lowest = simulation.positions()[..27].iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.0 && lowest < D_HAT, "{lowest}");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let refused = |definition: &Definition| match Simulation::new(definition) {
        Err(BuildError::Setting { key, must, .. }) => (key.to_owned(), must.to_owned()),
        Err(BuildError::Field(fault)) => (fault.path.to_string(), fault.must.to_owned()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    };
    let mut definition = oriented(vec![block("block", [0.0; 3], [1; 3], 0.25)]);
    definition.settings.solver.method = Method::BarrierFree;
    let (key, must) = refused(&definition);
    assert!(key == "contact.potential" && must.contains("barrier-free"), "{must}");
    definition.settings.solver.method = Method::Barrier;
    definition.settings.contact.orientation.alpha = 0.0;
    assert_eq!(refused(&definition).0, "contact.orientation.alpha");
}

/// The start, the ε with it, and every later state are functions of the definition and the state alone.
#[test]
fn a_restored_simulation_goes_on_with_the_same_bits() {
    let mut definition = oriented(vec![
        block("low", [0.0, 0.004, 0.0], [2, 2, 2], 0.2),
        block("high", [0.07, 0.409, 0.11], [2, 1, 2], 0.2),
    ]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.half_spaces.push(HalfSpaceDef { ..ground(0.0) });
    definition.settings.friction.coefficient = 0.3;
    let straight = run(&definition, 12);
    let half = run(&definition, 6);
    let mut rest = Simulation::restore(&definition, half.state().clone()).unwrap();
    for _ in 0..6 {
        rest.step().unwrap();
    }
    assert_eq!(straight.state().x, rest.state().x);
    assert_eq!(straight.state().contact_forces, rest.state().contact_forces);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = one.install(|| run(&definition, 12));
    assert_eq!(straight.state().x, alone.state().x);
}

/// The reach that frames show: at most d̂, zero on what the potential leaves to IPC's, and half of the gap
/// where the start has one that is small.
#[test]
fn the_contact_reach_of_vertices() {
    let gap = 0.25 * D_HAT;
    let upper = block("upper", [0.0, 0.5 + gap, 0.0], [1, 1, 1], 0.5);
    let open = BodyDef {
        name: "open".into(),
        rest: [[-2.0, -1.0, -2.0], [2.0, -1.0, -2.0], [0.0, -1.0, 2.0]].map(Vec3::from).to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    };
    // its segments carry directors, which are no vertices
    let rod = BodyDef {
        name: "rod".into(),
        rest: (0..4).map(|k| Vec3::new(3.0 + 0.5 * k as f64, -0.9, 0.0)).collect(),
        kind: BodyKind::Rod {
            segments: vec![[0, 1], [1, 2], [2, 3]],
            material: RodMaterial { radius: 0.01, young_modulus: 1e6, poisson_ratio: 0.3 },
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        ..BodyDef::default()
    };
    let lower = block("lower", [0.0, 0.0, 0.0], [1, 1, 1], 0.5);
    let definition = oriented(vec![lower, upper, open, rod]);
    let simulation = Simulation::new(&definition).unwrap();
    let reach = simulation.contact_reach();
    assert_eq!(reach.len(), simulation.positions().len());
    for (eps, x) in reach.iter().zip(simulation.positions()) {
        match x.y {
            // the open obstacle and the rod
            y if y < -0.5 => assert_eq!(*eps, 0.0),
            // vertices that face the other block
            y if (0.25..0.75).contains(&y) => assert!(*eps > 0.0 && *eps <= gap, "{eps} {x}"),
            _ => assert!(*eps > 0.0 && *eps <= D_HAT, "{eps} {x}"),
        }
    }
    assert!(Simulation::new(&with_ipc(definition)).unwrap().contact_reach().is_empty());
}
