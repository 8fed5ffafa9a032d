//! Surfaces that ride along with coarse solids and touch in place of their boundaries: derivatives by unknowns, the same motion as
//! without where the surface is the boundary itself, and the guarantee where it is finer.

use crate::common::{block, converge, ground, scene};
use standoff_geometry::topology;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::Simulation;
use standoff_sim::clock::Clock;
use standoff_sim::context::StepContext;
use standoff_sim::definition::{
    BodyDef, BodyKind, CarriedSurface, Definition, Motion, Pivot, PrescribedDef,
};
use standoff_sim::detector::Detector;
use standoff_sim::dirichlet::DirichletTargets;
use standoff_sim::energy::{Element, Elements, Hessian, Projection};
use standoff_sim::iterate::Iterate;
use standoff_sim::potential::IncrementalPotential;
use standoff_sim::settings::{ContactPotential, Fallback, Integrator, Method};
use standoff_sim::solver::assembly::HessianAssembly;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A surface whose points are affine combinations of vertices of the body: its boundary, each triangle divided into four `times` times.
fn carrying(mut body: BodyDef, times: usize) -> BodyDef {
    let BodyKind::Volume { tets, .. } = &body.kind else { unreachable!("a volume") };
    let mut triangles = topology::boundary_faces(tets).unwrap();
    // points as combinations of the vertices of a tetrahedron
    let mut points: Vec<BTreeMap<u32, f64>> = Vec::new();
    let mut of_vertex = BTreeMap::new();
    for v in triangles.iter_mut().flatten() {
        *v = *of_vertex.entry(*v).or_insert_with(|| {
            points.push(BTreeMap::from([(*v, 1.0)]));
            points.len() as u32 - 1
        });
    }
    for _ in 0..times {
        let mut middle = BTreeMap::new();
        let mut between = |a: u32, b: u32| {
            *middle.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let mut sum = BTreeMap::new();
                for p in [a, b] {
                    points[p as usize]
                        .iter()
                        .for_each(|(v, w)| *sum.entry(*v).or_insert(0.0) += 0.5 * w);
                }
                points.push(sum);
                points.len() as u32 - 1
            })
        };
        let divided = triangles.iter().flat_map(|&[a, b, c]| {
            let [p, q, r] = [between(a, b), between(b, c), between(c, a)];
            [[a, p, r], [p, b, q], [r, q, c], [p, q, r]]
        });
        triangles = divided.collect();
    }
    let (mut on, mut weights) = (Vec::new(), Vec::new());
    for point in &points {
        let mut row = ([*point.keys().next().unwrap(); 4], [0.0; 4]);
        for (k, (v, w)) in point.iter().enumerate() {
            (row.0[k], row.1[k]) = (*v, *w);
        }
        on.push(row.0);
        weights.push(row.1);
        let at = |v: &u32| body.rest[*v as usize];
        body.rest.push(point.iter().map(|(v, w)| *w * at(v)).sum());
    }
    if !body.velocity.is_empty() {
        body.velocity.resize(body.rest.len(), Vec3::zeros());
    }
    body.surface = Some(CarriedSurface {
        triangles: Arc::new(triangles),
        on: Arc::new(on),
        weights: Arc::new(weights),
    });
    body
}

/// A block on the ground, of which a corner is held and moved, and one that slides on it, all in touch.
fn stacked(times: [Option<usize>; 2]) -> Definition {
    let low = block("low", [0.0, 0.003, 0.0], [1, 1, 1], 0.3);
    let mut high = block("high", [0.05, 0.308, 0.02], [1, 1, 1], 0.2);
    high.velocity = high.rest.iter().map(|p| Vec3::new(0.3 + p.y, -0.4, 0.2 * p.x)).collect();
    let carry = |body: BodyDef, times: Option<usize>| match times {
        Some(times) => carrying(body, times),
        None => body,
    };
    let mut definition = scene(vec![carry(low, times[0]), carry(high, times[1])]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.prescribed.push(PrescribedDef::new(
        "corner",
        0,
        vec![0, 1],
        Motion::Rigid {
            linear: Vec3::new(0.05, 0.0, 0.0),
            angular: Vec3::zeros(),
            pivot: Pivot::StartCentre,
        },
    ));
    let settings = &mut definition.settings;
    settings.time.step = 0.01;
    settings.contact.d_hat = Some(0.01);
    settings.friction.coefficient = 0.4;
    definition
}

/// The gradient by unknowns against differences of the potential along W p, and the Hessian against differences of the gradient.
#[test]
fn derivatives_by_unknowns_match_differences() {
    let mut definition = stacked([Some(1), Some(2)]);
    definition.settings.contact.stiffness = Some(1e9);
    let (model, state) = standoff_sim::build::build(&definition).unwrap();
    let clock = Clock::start();
    let targets = DirichletTargets::new(&model, &state);
    let context = StepContext::new(&model, &state, &clock);
    let mut potential = IncrementalPotential::new(context, &state, &targets);
    let iterate = |x: &[Vec3]| {
        let mut detector = Detector::new(model.resolved.d_hat);
        detector.sweep(&model, x, &vec![Vec3::zeros(); x.len()], 1.0);
        Iterate { contacts: detector.contacts(&model, x), x: x.to_vec() }
    };
    let wave = |i: usize, s: f64| {
        let i = i as f64;
        Vec3::new((1.3 * i + s).sin(), (2.1 * i).cos(), (0.7 * i + s).sin())
    };
    let mut x: Vec<Vec3> = (0..state.x.len()).map(|i| state.x[i] + 1e-4 * wave(i, 0.0)).collect();
    model.map.spread(&mut x);
    let it = iterate(&x);
    assert!(it.contacts.contacts.len() > 20 && it.contacts.half_space.len() > 3);
    potential.lag_friction(&it, 1e9);
    let mut p: Vec<Vec3> = (0..x.len())
        .map(|i| if potential.free()[i] { wave(i, 0.4) } else { Vec3::zeros() })
        .collect();
    model.map.spread(&mut p);
    let dot = |a: &[Vec3], b: &[Vec3]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(b)).sum() };
    let at = |t: f64| iterate(&x.iter().zip(&p).map(|(x, p)| x + t * p).collect::<Vec<_>>());
    let difference = |of: &dyn Fn(&Iterate) -> f64, e: f64| {
        (of(&at(-2.0 * e)) - 8.0 * of(&at(-e)) + 8.0 * of(&at(e)) - of(&at(2.0 * e))) / (12.0 * e)
    };
    let gradient = potential.gradient(&it);
    let slope = difference(&|it| potential.value(it).value, 3e-8);
    assert!(
        (dot(&gradient, &p) - slope).abs() < 1e-6 * slope.abs(),
        "{} {slope}",
        dot(&gradient, &p)
    );

    let mut system = HessianAssembly::new(&potential).unwrap();
    system.make_pattern(&potential, &it).unwrap();
    let marked = vec![false; x.len()];
    system.fill(&potential, &it, Projection::Marked(&marked)).unwrap();
    let product = system.multiply(&p).unwrap();
    // another direction, so that symmetric mistakes show as well
    let other: Vec<Vec3> = (0..x.len())
        .map(|i| if potential.free()[i] { wave(i, 1.9) } else { Vec3::zeros() })
        .collect();
    let numeric = difference(&|it| dot(&potential.gradient(it), &other), 1e-8);
    let analytic = dot(&product, &other);
    assert!((analytic - numeric).abs() < 1e-5 * numeric.abs(), "{analytic} {numeric}");
}

/// A carried surface that is the boundary itself moves as the body would without it, whatever else is finer than needed.
#[test]
fn a_carried_boundary_is_the_boundary() {
    for integrator in
        [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark, Integrator::QuasiStatic]
    {
        let run = |times: [Option<usize>; 2]| {
            let mut definition = stacked(times);
            definition.settings.time.integrator = integrator;
            definition.settings.contact.stiffness = Some(1e7);
            definition.settings.solver.end.forces = Some(1e-8);
            if integrator == Integrator::QuasiStatic {
                // everything is held
                definition.bodies.truncate(1);
            }
            converge(definition, 1e-8, 20).1
        };
        let (plain, carried) = (run([None, None]), run([Some(0), Some(0)]));
        let mut largest: f64 = 0.0;
        for (a, b) in plain.model().bodies.iter().zip(&carried.model().bodies) {
            let own = carried.positions()[b.vertices.start..b.carried.start].iter();
            let pairs = plain.positions()[a.vertices.clone()].iter().zip(own);
            largest = pairs.map(|(a, b)| (a - b).norm()).fold(largest, f64::max);
        }
        assert!(largest < 1e-8, "{integrator:?}: {largest:e}");
        let force = |s: &Simulation| s.state().half_space_forces[0][0];
        let (a, b) = (force(&plain), force(&carried));
        assert!(a.norm() > 0.0 && (a - b).norm() < 1e-5 * a.norm(), "{integrator:?}: {a} {b}");
        let held = |s: &Simulation| s.state().held_forces[0][0];
        let (a, b) = (held(&plain), held(&carried));
        assert!(a.norm() > 0.0 && (a - b).norm() < 1e-5 * a.norm(), "{integrator:?}: {a} {b}");
    }
}

/// The same with the potentials that weight pairs by area or by their side, in the numbers of the boundary.
#[test]
fn a_carried_boundary_is_the_boundary_with_every_potential() {
    for potential in [ContactPotential::Convergent, ContactPotential::OrientationAware] {
        let run = |times: [Option<usize>; 2]| {
            let mut definition = stacked(times);
            definition.settings.contact.potential = potential;
            definition.settings.contact.stiffness = Some(1e6);
            definition.settings.solver.end.forces = Some(1e-8);
            converge(definition, 1e-8, 10).1
        };
        let (plain, carried) = (run([None, None]), run([Some(0), Some(0)]));
        for (a, b) in plain.model().bodies.iter().zip(&carried.model().bodies) {
            let own = carried.positions()[b.vertices.start..b.carried.start].iter();
            let pairs = plain.positions()[a.vertices.clone()].iter().zip(own);
            let largest = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(largest < 1e-8, "{potential:?}, {}: {largest:e}", a.name);
        }
        let force = |s: &Simulation| s.state().half_space_forces[0][0];
        let (a, b) = (force(&plain), force(&carried));
        assert!(a.norm() > 0.0 && (a - b).norm() < 1e-5 * a.norm(), "{potential:?}: {a} {b}");
    }
}

/// A spring of a program's own that pulls at a carried vertex pulls at the vertices on which this depends: the body hangs on it with its weight.
#[test]
fn an_energy_of_a_program_may_pull_at_carried_vertices() {
    let body = carrying(block("hung", [0.0; 3], [1, 1, 1], 0.3), 1);
    let (first, last) = (body.rest.len() - body.carried_count(), body.rest.len() - 1);
    let place = |v: usize| body.rest[v];
    let pulls = [first, last].map(|v| Pull { to: place(v) + Vec3::new(0.0, 0.1, 0.0) });
    let springs =
        Elements::from_parts(vec![[first as u32], [last as u32]], pulls.to_vec(), body.rest.len());
    let mut definition = scene(vec![body.clone()]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.energies.push(Arc::new(springs));
    definition.settings.time.step = 0.05;
    let (_, simulation) = converge(definition, 1e-8, 400);
    let weight = 9.81 * simulation.model().mass.iter().sum::<f64>();
    let pull = |v: usize, p: &Pull| Pull::STIFFNESS * (p.to - simulation.positions()[v]);
    let sum = pull(first, &pulls[0]) + pull(last, &pulls[1]);
    assert!((sum - weight * Vec3::y()).norm() < 1e-3 * weight, "{sum} N, {weight} N");
}

/// A spring from a vertex to a point.
#[derive(Debug, Clone)]
struct Pull {
    to: Vec3,
}

impl Pull {
    const STIFFNESS: f64 = 1e4;
}

impl Element<1> for Pull {
    const NAME: &'static str = "pull";
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; 1]) -> f64 {
        0.5 * Self::STIFFNESS * (x[0] - self.to).norm_squared()
    }

    fn gradient(&self, x: &[Vec3; 1]) -> [Vec3; 1] {
        [Self::STIFFNESS * (x[0] - self.to)]
    }

    fn hessian_psd(&self, _: &[Vec3; 1]) -> Hessian<1> {
        [[Mat3::from_diagonal_element(Self::STIFFNESS)]]
    }
}

/// Surfaces that cannot be carried end in a message that names body and vertex.
#[test]
fn surfaces_that_cannot_be_carried_are_refused() {
    let with = |change: &dyn Fn(&mut CarriedSurface)| {
        let mut definition = stacked([Some(0), None]);
        change(definition.bodies[0].surface.as_mut().unwrap());
        Simulation::new(&definition).map(|_| ()).unwrap_err().to_string()
    };
    let weights = |s: &mut CarriedSurface, w: f64| Arc::make_mut(&mut s.weights)[2][0] = w;
    for (error, part) in [
        (with(&|s| weights(s, f64::NAN)), "carried vertex 2"),
        (with(&|s| weights(s, 1.5)), "sum"),
        (with(&|s| Arc::make_mut(&mut s.on)[3][1] = 10_000), "carried vertex 3"),
        (with(&|s| Arc::make_mut(&mut s.triangles).clear()), "no triangles"),
    ] {
        assert!(error.contains("'low'") && error.contains(part), "{error}");
    }
}

/// The same by the barrier-free method, alone.
#[test]
fn a_carried_boundary_is_the_boundary_without_a_barrier() {
    let run = |times: [Option<usize>; 2]| {
        let mut definition = stacked(times);
        definition.settings.solver.method = Method::BarrierFree;
        definition.settings.solver.barrier_free.fallback = Fallback::None;
        definition.settings.solver.end.forces = Some(1e-6);
        converge(definition, 1e-6, 15).1
    };
    let (plain, carried) = (run([None, None]), run([Some(0), Some(0)]));
    for (a, b) in plain.model().bodies.iter().zip(&carried.model().bodies) {
        let own = carried.positions()[b.vertices.start..b.carried.start].iter();
        let pairs = plain.positions()[a.vertices.clone()].iter().zip(own);
        let largest = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(largest < 1e-7, "{}: {largest:e}", a.name);
    }
    let force = |s: &Simulation| s.state().half_space_forces[0][0];
    let (a, b) = (force(&plain), force(&carried));
    assert!(a.norm() > 0.0 && (a - b).norm() < 1e-4 * a.norm(), "{a} {b}");
}

/// Fine surfaces keep apart, stay where their tetrahedra carry them, and carry the weight.
#[test]
fn fine_surfaces_of_coarse_blocks_carry_the_weight_and_never_intersect() {
    let mut definition = stacked([Some(2), Some(3)]);
    definition.prescribed.clear();
    definition.settings.time.end = 2.0;
    let (reports, simulation) = converge(definition, 1e-6, 150);
    let model = simulation.model();
    let weight = 9.81 * model.mass.iter().sum::<f64>();
    let force = -simulation.state().half_space_forces[0][0].y;
    assert!((force - weight).abs() < 1e-3 * weight, "{force} N, {weight} N");
    let (_, deviation) = model.map.deviation(&simulation.state().x).unwrap();
    assert!(deviation < 1e-13, "{deviation:e} m");
    let last = reports.last().unwrap();
    assert!(last.kinetic_energy < 1e-2 && last.contacts > 0, "{last:?}");
    // nothing of the boundary of the tetrahedra touches
    let own = model.bodies.iter().flat_map(|b| b.vertices.start..b.carried.start);
    assert!(own.clone().all(|v| simulation.state().contact_forces[v].norm() == 0.0));
}

/// A state whose carried vertices are elsewhere is refused, and so are methods without the map.
#[test]
fn what_the_map_does_not_hold_for_is_refused() {
    let definition = stacked([Some(0), None]);
    let mut simulation = Simulation::new(&definition).unwrap();
    simulation.step().unwrap();
    let mut state = simulation.state().clone();
    let carried = simulation.model().bodies[0].carried.start;
    state.x[carried].x += 1e-6;
    let error = simulation.set_state(state).unwrap_err().to_string();
    assert!(error.contains("from where its tetrahedron carries it"), "{error}");
    let mut by_dot = definition.clone();
    by_dot.settings.solver.method = Method::Dot;
    let error = Simulation::new(&by_dot).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("'low'") && error.contains("barrier"), "{error}");
    // carried vertices can't be held by themselves
    let mut definition = definition.clone();
    definition.prescribed[0].vertices = vec![carried as u32];
    let error = Simulation::new(&definition).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("vertex 8"), "{error}");
}
