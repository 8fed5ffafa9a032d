//! A block that a plate presses on the ground: the contact force at every stiffness, speed and contact distance.
#![allow(dead_code)]

use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::Integrator;
use standoff_sim::{Model, State};

/// Edge of the block, m.
const SIZE: f64 = 0.1;
/// Cells along an edge.
const CELLS: usize = 2;
/// How far the plate goes in a step, as part of the edge.
const PER_STEP: f64 = 2.5e-3;
/// Gap between block and plate at the start, as part of the edge.
const GAP: f64 = 2e-3;
/// Where the plate's centre is from the block's, as part of the edge: a press without symmetries, which has saddles.
const ASIDE: [f64; 2] = [0.03, 0.02];
/// Steps.
const STEPS: usize = 10;
const PLATE: &str = "pressing plate";

/// One case of the series.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Young's modulus, Pa.
    pub young: f64,
    /// Speed of the plate, m/s.
    pub speed: f64,
    /// d̂ as part of the block's diagonal.
    pub d_hat_relative: f64,
    /// Time integrator.
    pub integrator: Integrator,
}

/// All cases, or some of them.
pub fn series(full: bool) -> Vec<Case> {
    let (young, speeds, d_hats): (&[f64], &[f64], &[f64]) = match full {
        true => (
            &[1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 2e11],
            &[1e-3, 1e-2, 1e-1, 1.0, 10.0],
            &[1e-4, 1e-3, 1e-2],
        ),
        false => (&[1e5, 2e11], &[10.0], &[1e-3]),
    };
    let integrators =
        [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark, Integrator::QuasiStatic];
    let mut all = Vec::new();
    for &young in young {
        for &speed in speeds {
            for &d_hat_relative in d_hats {
                all.extend(integrators.map(|integrator| Case {
                    young,
                    speed,
                    d_hat_relative,
                    integrator,
                }));
            }
        }
    }
    all
}

impl Case {
    /// In words.
    pub fn name(&self) -> String {
        format!("press-{:.0e}-{:.0e}-{:.0e}", self.young, self.speed, self.d_hat_relative)
    }

    /// The scene.
    pub fn definition(&self) -> Definition {
        let block = block(self.young);
        let top: f64 = SIZE * (1.0 + GAP);
        let plate = BodyDef {
            name: PLATE.into(),
            rest: [[-0.5, -0.5], [1.5, -0.5], [1.5, 1.5], [-0.5, 1.5]]
                .map(|[x, z]| Vec3::new(SIZE * (x + ASIDE[0]), top, SIZE * (z + ASIDE[1])))
                .to_vec(),
            kind: BodyKind::Obstacle {
                triangles: vec![[0, 1, 2], [0, 2, 3]],
                edges: Vec::new(),
                points: Vec::new(),
            },
            friction_material: "default".into(),
            ..BodyDef::default()
        };
        let bottom = (0..block.rest.len()).filter(|&v| block.rest[v].y == 0.0);
        let bottom = bottom.map(|v| v as u32).collect();
        let linear = Vec3::new(0.0, -self.speed, 0.0);
        let motion =
            Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::Point(Vec3::zeros()) };
        let mut definition = Definition {
            prescribed: vec![
                PrescribedDef::new("bottom", 0, bottom, Motion::Fixed),
                PrescribedDef::new("press", 1, (0..4).collect(), motion),
            ],
            bodies: vec![block, plate],
            ..Definition::default()
        };
        let settings = &mut definition.settings;
        settings.time.step = PER_STEP * SIZE / self.speed;
        settings.time.end = settings.time.step * STEPS as f64;
        settings.time.integrator = self.integrator;
        settings.contact.d_hat_relative = self.d_hat_relative;
        definition
    }
}

/// The force on the plate, N; none in other scenes.
pub fn force(model: &Model, state: &State) -> Option<f64> {
    let plate = model.bodies.iter().find(|b| b.name == PLATE)?;
    Some(state.contact_forces[plate.vertices.clone()].iter().map(|f| f.y).sum())
}

/// A cube of six tetrahedra per cell.
fn block(young_modulus: f64) -> BodyDef {
    let n = CELLS + 1;
    let mut rest = Vec::new();
    for k in 0..n * n * n {
        let cell = |c: usize| SIZE * c as f64 / CELLS as f64;
        rest.push(Vec3::new(cell(k % n), cell(k / n % n), cell(k / n / n)));
    }
    let mut tets = Vec::new();
    for cell in 0..CELLS * CELLS * CELLS {
        let at = [cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS];
        let corner = |c: usize| {
            let [i, j, k] = [0, 1, 2].map(|d| at[d] + (c >> d & 1));
            (i + n * (j + n * k)) as u32
        };
        // around the diagonal 0–7
        for [a, b] in [[1, 3], [3, 2], [2, 6], [6, 4], [4, 5], [5, 1]] {
            let mut t = [corner(0), corner(a), corner(b), corner(7)];
            let p = t.map(|v| rest[v as usize]);
            if (p[1] - p[0]).cross(&(p[2] - p[0])).dot(&(p[3] - p[0])) < 0.0 {
                t.swap(1, 2);
            }
            tets.push(t);
        }
    }
    let material = Material { law: Law::NeoHookean, young_modulus, poisson_ratio: 0.3 };
    BodyDef {
        name: "block".into(),
        rest,
        kind: BodyKind::Volume { tets, middles: Vec::new(), density: 1000.0, material },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}
