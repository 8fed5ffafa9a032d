//! The incremental potential as a whole: its gradient against differences of its value, its Hessian
//! against differences of the gradient, and its value against contacts that the sweep might miss.

use crate::common::{block, ground, scene};
use standoff_geometry::broad_phase::brute_force;
use standoff_linalg::Vec3;
use standoff_sim::Model;
use standoff_sim::clock::Clock;
use standoff_sim::contact::ContactSet;
use standoff_sim::context::StepContext;
use standoff_sim::definition::{
    Anchor, AttachmentDef, BendingModel, BodyDef, BodyKind, Definition, ForceDef, Load, Motion,
    Pivot, PrescribedDef, ShellMaterial, SpringStiffness,
};
use standoff_sim::detector::Detector;
use standoff_sim::dirichlet::DirichletTargets;
use standoff_sim::energy::hinge::bending_modulus;
use standoff_sim::energy::membrane::Sheet;
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::iterate::Iterate;
use standoff_sim::material::membrane::{MembraneLaw, SheetLame, StretchLimit};
use standoff_sim::potential::{IncrementalPotential, Part};
use standoff_sim::settings::Integrator;
use standoff_sim::solver::assembly::HessianAssembly;
use standoff_testkit::finite_difference;

/// A creased square sheet of 8 triangles at x.
fn sheet(name: &str, x: f64, bending_model: BendingModel) -> BodyDef {
    let grid = (0..9).map(|k| (f64::from(k % 3), f64::from(k / 3)));
    let triangles = [0, 1, 3, 4].map(|a| [[a, a + 3, a + 4], [a, a + 4, a + 1]]);
    let material = ShellMaterial {
        thickness: 0.05,
        density: 1000.0,
        sheet: Sheet::Isotropic(MembraneLaw::NeoHookean, SheetLame::new(1e6, 0.3)),
        fibre: None,
        bending_modulus: bending_modulus(1e6, 0.3, 0.05),
        bending_model,
        poisson_ratio: 0.3,
        flat: true,
        stretch_limit: Some(StretchLimit { limit: 1.1, threshold: 1.0, stiffness: 1e4 }),
    };
    BodyDef {
        name: name.into(),
        rest: grid.map(|(i, j)| Vec3::new(x + 0.5 * i, 1.0 + 0.1 * i * j, 0.5 * j)).collect(),
        kind: BodyKind::Shell {
            triangles: triangles.as_flattened().to_vec(),
            material: Box::new(material),
        },
        ..BodyDef::default()
    }
}

/// Two soft blocks in touch, turned so that their edges cross, one of them on the ground, a corner
/// with a prescribed motion, and beside them shells and a rod: every kind of summand is at work.
fn definition(integrator: Integrator) -> Definition {
    let low = block("low", [0.0, 0.003, 0.0], [2, 1, 1], 0.3);
    let mut high = block("high", [0.1, 0.308, 0.05], [1, 1, 1], 0.3);
    let (sin, cos) = 0.3_f64.sin_cos();
    high.rest = high
        .rest
        .iter()
        .map(|p| Vec3::new(cos * p.x + sin * p.z, p.y, cos * p.z - sin * p.x))
        .collect();
    high.velocity = high.rest.iter().map(|p| Vec3::new(0.3 + p.y, -0.4, 0.2 * p.x)).collect();
    let mut definition = scene(vec![low, high]);
    definition.bodies.extend([
        sheet("hinged", 2.0, BendingModel::Hinge),
        sheet("bent", 4.0, BendingModel::ShapeOperator),
        BodyDef {
            name: "rod".into(),
            rest: [0.0, 0.3, 0.6, 0.9].map(|x| Vec3::new(6.0 + x, 1.0 + x * x, 0.0)).to_vec(),
            kind: BodyKind::Rod {
                segments: vec![[0, 1], [1, 2], [2, 3]],
                material: RodMaterial { radius: 0.05, young_modulus: 1e6, poisson_ratio: 0.3 },
                density: 1000.0,
                straight: true,
                natural_twist: 0.5,
            },
            ..BodyDef::default()
        },
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.prescribed.push(PrescribedDef::new(
        "corner",
        0,
        vec![0, 1],
        Motion::Rigid {
            linear: Vec3::new(0.2, 0.1, 0.0),
            angular: Vec3::new(0.0, 0.0, 0.5),
            pivot: Pivot::StartCentre,
        },
    ));
    let settings = &mut definition.settings;
    settings.time.step = 0.01;
    settings.time.integrator = integrator;
    if integrator == Integrator::AlphaBetaGamma {
        settings.time.beta = 0.7;
    }
    settings.time.stiffness_damping = 1e-3;
    settings.contact.d_hat = Some(0.01);
    settings.contact.stiffness = Some(1e9);
    settings.friction.coefficient = 0.4;
    definition
}

fn flat(x: &[Vec3]) -> Vec<f64> {
    x.iter().flat_map(|p| p.iter().copied()).collect()
}

fn vectors(x: &[f64]) -> Vec<Vec3> {
    x.chunks(3).map(Vec3::from_column_slice).collect()
}

/// Calls `check` with the potential at a point near the start, both with prescribed vertices moved
/// at once and with constraints pulling them.
fn at_work(integrator: Integrator, check: impl Fn(&mut IncrementalPotential<'_>, &Iterate)) {
    let (model, state) = standoff_sim::build::build(&definition(integrator)).unwrap();
    for constrained in [false, true] {
        let clock = Clock::start();
        let context = StepContext::new(&model, &state, &clock);
        let targets = DirichletTargets::new(&model, &state);
        let mut potential = IncrementalPotential::new(context, &state, &targets);
        if constrained {
            potential.constrain(&targets, &state.x);
        }
        let x: Vec<Vec3> = (0..state.x.len())
            .map(|i| {
                let i = i as f64;
                state.x[i as usize]
                    + 1e-4 * Vec3::new((1.3 * i).sin(), (2.1 * i).cos(), (0.7 * i).sin())
            })
            .collect();
        let it = iterate(&model, &x);
        assert!(it.contacts.contacts.len() > 3 && it.contacts.half_space.len() > 3);
        potential.set_stiffness(&it, 0.0, &it);
        potential.lag_friction(&it, potential.barrier().kappa);
        assert!(!potential.friction().is_idle());
        check(&mut potential, &it);
    }
}

fn iterate(model: &Model, x: &[Vec3]) -> Iterate {
    let mut detector = Detector::new(model.resolved.d_hat);
    detector.sweep(model, x, &vec![Vec3::zeros(); x.len()], 1.0);
    Iterate { contacts: detector.contacts(model, x), x: x.to_vec() }
}

const INTEGRATORS: [Integrator; 6] = [
    Integrator::ImplicitEuler,
    Integrator::Bdf2,
    Integrator::Newmark,
    Integrator::ImplicitMidpoint,
    Integrator::AlphaBetaGamma,
    Integrator::QuasiStatic,
];

#[test]
fn gradient_matches_differences() {
    for integrator in INTEGRATORS {
        at_work(integrator, |potential, it| {
            let model = potential.context.model;
            let analytic = flat(&potential.gradient(it));
            let numeric = finite_difference::gradient(&flat(&it.x), 1e-6, |x| {
                potential.value(&iterate(model, &vectors(x))).value
            });
            for (i, (a, n)) in analytic.iter().zip(&numeric).enumerate() {
                let expected = if potential.free()[i / 3] { *n } else { 0.0 };
                let scale = analytic.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                assert!((a - expected).abs() < 1e-6 * scale, "{integrator:?} {i}: {a} {expected}");
            }
        });
    }
}

/// The assembled matrix times a vector is what the summands' projected Hessians give: it is
/// positive, and equals the differences of the gradient where nothing had to be projected.
#[test]
fn hessian_is_positive_and_close_to_differences() {
    hessian_against_differences(Integrator::ImplicitEuler);
    hessian_against_differences(Integrator::AlphaBetaGamma);
}

fn hessian_against_differences(integrator: Integrator) {
    at_work(integrator, |potential, it| {
        let model = potential.context.model;
        let mut system = HessianAssembly::new(potential).unwrap();
        system.assemble(potential, it).unwrap();
        let n = it.x.len();
        let probe: Vec<Vec3> = (0..n)
            .map(|i| {
                if !potential.free()[i] {
                    return Vec3::zeros();
                }
                Vec3::new((1.3 * i as f64).sin(), (0.3 * i as f64).cos(), 0.5)
            })
            .collect();
        let rows = system.gather(&probe);
        let product = system.matrix().mul_vec(&rows).unwrap();
        let curvature: f64 = product.iter().zip(&rows).map(|(a, b)| a.dot(b)).sum();
        let eps = 1e-7;
        let slope = |t: f64| -> f64 {
            let x: Vec<Vec3> = (0..n).map(|i| it.x[i] + t * probe[i]).collect();
            let g = potential.gradient(&iterate(model, &x));
            g.iter().zip(&probe).map(|(g, p)| g.dot(p)).sum()
        };
        let numeric = (slope(-2.0 * eps) - 8.0 * slope(-eps) + 8.0 * slope(eps) - slope(2.0 * eps))
            / (12.0 * eps);
        // projection only adds curvature
        assert!(curvature > 0.0 && curvature >= numeric * (1.0 - 1e-6), "{curvature} {numeric}");
        assert!(curvature < 2.0 * numeric.abs() + 1.0, "{curvature} {numeric}");
    });
}

/// The sweep along a direction finds every contact that brute force finds at every point of it.
#[test]
fn a_sweep_sees_all_contacts_on_the_way() {
    let (model, state) =
        standoff_sim::build::build(&definition(Integrator::ImplicitEuler)).unwrap();
    let dx: Vec<Vec3> = (0..state.x.len())
        .map(|i| Vec3::new(0.05 * (i as f64).sin(), 0.002, 0.05 * (2.0 * i as f64).cos()))
        .collect();
    let mut detector = Detector::new(model.resolved.d_hat);
    detector.sweep(&model, &state.x, &dx, 1.0);
    for k in 0..=20 {
        let t = f64::from(k) / 20.0;
        let x: Vec<Vec3> = state.x.iter().zip(&dx).map(|(p, d)| p + t * d).collect();
        let all = brute_force::candidates(&model.collision, &x, model.resolved.d_hat);
        let expected = ContactSet::build(
            &all,
            &model.collision,
            &model.half_spaces,
            &x,
            model.resolved.d_hat,
            &model.weighting,
        );
        assert!(!expected.is_empty());
        assert_eq!(detector.contacts(&model, &x).contacts, expected.contacts, "t = {t}");
    }
}

/// From every summand of elasticity and of loads a way leads back to the object and the key that set it.
#[test]
fn summands_know_where_their_parameters_come_from() {
    let mut definition = definition(Integrator::ImplicitEuler);
    let (t0, t1) = (0.0, f64::INFINITY);
    let springs = |name: &str, stiffness: SpringStiffness| AttachmentDef {
        name: name.into(),
        body: 1,
        vertices: vec![0, 1, 2],
        anchor: Anchor::Start,
        distance: f64::INFINITY,
        stiffness,
        rest_length: None,
        t0,
        t1,
    };
    definition.attachments.push(springs("strings", SpringStiffness::PerSpring(2.0)));
    definition.attachments.push(springs("ropes", SpringStiffness::PerMass(3.0)));
    for (name, t0) in [("later", 1.0), ("gas", 0.0)] {
        let vertices = (0..definition.bodies[1].rest.len() as u32).collect();
        let load = Load::Pressure(10.0.into());
        definition.forces.push(ForceDef { name: name.into(), body: 1, vertices, load, t0, t1 });
    }
    let (model, state) = standoff_sim::build::build(&definition).unwrap();
    let clock = Clock::start();
    let potential = IncrementalPotential::at_start(&model, &state, &clock);
    let mut found: Vec<(String, String, &str, usize)> = Vec::new();
    for t in potential.part(Part::Elastic) {
        let count = t.term.stencils().len().max(usize::from(t.term.name() == "pressure"));
        assert!(t.term.origin(count).is_none());
        for origin in (0..count).filter_map(|k| t.term.origin(k)) {
            let (energy, owner) = (t.term.name().to_owned(), model.owner(origin.owner).to_owned());
            match found.last_mut() {
                Some(last) if (&last.0, &last.1) == (&energy, &owner) => last.3 += 1,
                _ => found.push((energy, owner, origin.key, 1)),
            }
        }
    }
    let found: Vec<_> = found.iter().map(|(e, o, k, n)| (e.as_str(), o.as_str(), *k, *n)).collect();
    let expected = [
        ("tetrahedra", "low", "material.young_modulus", 12),
        ("tetrahedra", "high", "material.young_modulus", 6),
        ("membranes", "hinged", "material.shell.membrane_factor", 8),
        ("membranes", "bent", "material.shell.membrane_factor", 8),
        ("hinges", "hinged", "material.shell.bending_factor", 8),
        ("shape operators", "bent", "material.shell.bending_factor", 8),
        ("rod stretching", "rod", "radius", 3),
        ("rod joints", "rod", "radius", 2),
        ("attachments", "strings", "stiffness", 3),
        ("attachments", "ropes", "stiffness_per_mass", 3),
        ("pressure", "gas", "pressure", 1),
    ];
    assert_eq!(found, expected);
}
