//! Small bodies for the tests of the simulator, and its benchmarks.
#![allow(dead_code)]

pub mod rigid;

use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::clock::Clock;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, HalfSpaceDef};
use standoff_sim::material::{Law, Material};
use standoff_sim::potential::IncrementalPotential;
use standoff_sim::report::{StepOutcome, StepReport};
use standoff_sim::settings::AuditLevel;

/// A box of nx×ny×nz cells of edge `cell` with its low corner at `low`: six tetrahedra per cell.
pub fn block(name: &str, low: [f64; 3], n: [usize; 3], cell: f64) -> BodyDef {
    let index = |i: usize, j: usize, k: usize| ((i * (n[1] + 1) + j) * (n[2] + 1) + k) as u32;
    let mut rest = Vec::new();
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            for k in 0..=n[2] {
                rest.push(Vec3::from(low) + cell * Vec3::new(i as f64, j as f64, k as f64));
            }
        }
    }
    let mut tets = Vec::new();
    for i in 0..n[0] {
        for j in 0..n[1] {
            for k in 0..n[2] {
                let corner = |c: usize| index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1));
                // the six tetrahedra around the diagonal 0–7 (Kuhn's subdivision)
                for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
                    tets.push([corner(0), corner(a), corner(b), corner(7)]);
                }
            }
        }
    }
    for t in &mut tets {
        let p = t.map(|v| rest[v as usize]);
        if (p[1] - p[0]).cross(&(p[2] - p[0])).dot(&(p[3] - p[0])) < 0.0 {
            t.swap(1, 2);
        }
    }
    BodyDef {
        name: name.into(),
        rest,
        kind: BodyKind::Volume {
            middles: Vec::new(),
            tets,
            density: 1000.0,
            material: material(Law::NeoHookean),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

/// E = 1e5 Pa, ν = 0.4.
pub fn material(law: Law) -> Material {
    Material { law, young_modulus: 1e5, poisson_ratio: 0.4 }
}

/// A scene without gravity.
pub fn scene(bodies: Vec<BodyDef>) -> Definition {
    Definition { bodies, ..Definition::default() }
}

/// Steps that all converge to a tolerance (m/s), every path between iterates audited, and the simulation at their end.
pub fn converge(
    mut definition: Definition,
    tolerance: f64,
    steps: usize,
) -> (Vec<StepReport>, Simulation) {
    definition.settings.solver.end.velocity = Some(tolerance);
    definition.settings.solver.audit = AuditLevel::EveryPath;
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut reports = Vec::new();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged);
        assert!(report.residual_speed < tolerance);
        assert_bounded(&simulation, &report);
        reports.push(report);
    }
    assert!(simulation.audit().is_empty());
    (reports, simulation)
}

/// κ after a step is at most the greatest that is ever chosen, and energies and forces are numbers.
pub fn assert_bounded(simulation: &Simulation, report: &StepReport) {
    let clock = Clock::start();
    let potential = IncrementalPotential::at_start(simulation.model(), simulation.state(), &clock);
    if let Some(greatest) = potential.greatest_stiffness() {
        assert!(
            report.kappa <= greatest * (1.0 + 1e-9),
            "κ = {}, at most {greatest}",
            report.kappa
        );
    }
    let forces = simulation.contact_forces().iter().map(|f| f.norm());
    for number in forces.chain(report.energies.values().copied()).chain([report.imbalance_force]) {
        assert!(number.is_finite(), "{report:?}");
    }
}

/// The largest difference of two simulations' positions, m.
pub fn difference(a: &Simulation, b: &Simulation) -> f64 {
    let differences = a.positions().iter().zip(b.positions()).map(|(a, b)| (a - b).norm());
    differences.fold(0.0, f64::max)
}

/// The half-space below y = `height`.
pub fn ground(height: f64) -> HalfSpaceDef {
    HalfSpaceDef {
        name: "ground".into(),
        origin: Vec3::new(0.0, height, 0.0),
        normal: Vec3::y(),
        friction_material: "default".into(),
    }
}

/// A solid over a grid of nx×ny cells whose corner (i, j) is at `at(i, j)`.
pub fn grid(name: &str, n: [usize; 2], at: impl Fn(usize, usize) -> [f64; 2]) -> BodyDef {
    let mut rest = Vec::new();
    for i in 0..=n[0] {
        for j in 0..=n[1] {
            let [x, y] = at(i, j);
            rest.push(Vec3::new(x, y, 0.0));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..n[0] {
        for j in 0..n[1] {
            let v = |a: usize, b: usize| ((i + a) * (n[1] + 1) + j + b) as u32;
            triangles.extend(match (i + j) % 2 {
                0 => [[v(0, 0), v(1, 0), v(1, 1)], [v(0, 0), v(1, 1), v(0, 1)]],
                _ => [[v(0, 0), v(1, 0), v(0, 1)], [v(1, 0), v(1, 1), v(0, 1)]],
            });
        }
    }
    BodyDef {
        name: name.into(),
        rest,
        kind: BodyKind::PlaneStrain {
            triangles,
            middles: vec![],
            density: 1000.0,
            material: material(Law::NeoHookean),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}
