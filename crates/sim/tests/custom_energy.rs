//! Energies that a definition adds: they enter potential, gradient, matrix, report and initial
//! acceleration like the ones that are built in, with stencils of any size.

use crate::common::{block, scene};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::energy::{Element, Elements, Hessian, Projection, Role, Term};
use standoff_sim::settings::Integrator;
use standoff_sim::{BuildError, Definition, Simulation};
use standoff_sparse::Stencils;
use std::ops::Range;
use std::sync::Arc;

/// A spring between the centre of mass of N vertices and a fixed point, Ψ = k/2 ‖Σ wᵢ xᵢ − a‖².
#[derive(Debug, Clone)]
struct CentreSpring<const N: usize> {
    weights: [f64; N],
    anchor: Vec3,
    stiffness: f64,
}

impl<const N: usize> CentreSpring<N> {
    fn stretch(&self, x: &[Vec3; N]) -> Vec3 {
        x.iter().zip(&self.weights).map(|(x, w)| *w * x).sum::<Vec3>() - self.anchor
    }
}

impl<const N: usize> Element<N> for CentreSpring<N> {
    const NAME: &'static str = "centre spring";
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        0.5 * self.stiffness * self.stretch(x).norm_squared()
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let pull = self.stiffness * self.stretch(x);
        self.weights.map(|w| w * pull)
    }

    fn hessian_psd(&self, _: &[Vec3; N]) -> Hessian<N> {
        let block = |a: usize, b: usize| self.stiffness * self.weights[a] * self.weights[b];
        std::array::from_fn(|a| std::array::from_fn(|b| Mat3::from_diagonal_element(block(a, b))))
    }
}

/// Number of vertices of the body that hangs on the spring.
const HELD: usize = 40;
/// Stiffness of the spring, N/m.
const STIFFNESS: f64 = 2e4;

/// A block of 5 × 4 × 2 vertices hung up by its centre of mass, beside a free one.
fn hung(integrator: Integrator) -> (Definition, f64, Vec3) {
    let body = block("hung", [0.0; 3], [4, 3, 1], 0.1);
    assert_eq!(body.rest.len(), HELD);
    let mut definition = scene(vec![body, block("free", [3.0, 0.0, 0.0], [1, 1, 1], 0.1)]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = 0.004;
    definition.settings.time.integrator = integrator;
    definition.settings.solver.end.velocity = Some(1e-10);
    let simulation = Simulation::new(&definition).unwrap();
    let mass = &simulation.model().mass[..HELD];
    let total: f64 = mass.iter().sum();
    let weights: [f64; HELD] = std::array::from_fn(|v| mass[v] / total);
    let centre: Vec3 = (0..HELD).map(|v| weights[v] * definition.bodies[0].rest[v]).sum();
    let spring = CentreSpring { weights, anchor: centre, stiffness: STIFFNESS };
    let vertices = vec![std::array::from_fn(|v| v as u32)];
    let count = simulation.state().x.len();
    definition.energies.push(Arc::new(Elements::from_parts(vertices, vec![spring], count)));
    (definition, total, centre)
}

fn centre_of(simulation: &Simulation) -> Vec3 {
    let (mass, x) = (&simulation.model().mass, simulation.positions());
    let weighted: Vec3 = (0..HELD).map(|v| mass[v] * x[v]).sum();
    weighted / mass[..HELD].iter().sum::<f64>()
}

/// The centre of mass moves as that of one particle on a spring, of which implicit Euler is solved by
/// hand: v⁺ = (v + h (g − k y/m)) / (1 + h² k/m).
#[test]
fn a_stencil_of_forty_vertices_moves_a_body_as_the_analytic_solution_says() {
    let (definition, mass, centre) = hung(Integrator::ImplicitEuler);
    let mut simulation = Simulation::new(&definition).unwrap();
    let (h, omega2) = (0.004, STIFFNESS / mass);
    let (mut y, mut v) = (0.0, 0.0);
    for _ in 0..40 {
        let report = simulation.step().unwrap();
        v = (v + h * (-9.81 - omega2 * y)) / (1.0 + h * h * omega2);
        y += h * v;
        let found = centre_of(&simulation) - centre;
        assert!((found - Vec3::new(0.0, y, 0.0)).norm() < 1e-11, "{found} {y}");
        let energy = 0.5 * STIFFNESS * y * y;
        assert!((report.energies["centre spring"] - energy).abs() < 1e-9 * STIFFNESS * y.abs());
        // a matrix without the energy's Hessian would take many iterations
        assert!(report.newton_iterations <= 3, "{}", report.newton_iterations);
    }
    assert!(y < -1e-3);
}

/// Newmark begins with the acceleration of all forces, the added one among them: without gravity a spring
/// that starts stretched pulls from the first step on, in second order.
#[test]
fn the_initial_acceleration_knows_it() {
    let (mut definition, mass, _) = hung(Integrator::Newmark);
    definition.gravity = Vec3::zeros();
    definition.bodies[0].start =
        definition.bodies[0].rest.iter().map(|p| p + Vec3::new(0.0, 0.01, 0.0)).collect();
    let simulation = Simulation::new(&definition).unwrap();
    let expected = -STIFFNESS * 0.01 / mass;
    let found = simulation.state().a[7].y;
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    assert!(simulation.state().a[HELD + 1].norm() < 1e-9);
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let (definition, ..) = hung(Integrator::Bdf2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = Simulation::new(&definition).unwrap();
            (0..5).for_each(|_| drop(simulation.step().unwrap()));
            simulation.state().clone()
        })
    };
    assert_eq!(run(1), run(3));
}

/// The springs of `hung`, as an elastic energy.
#[derive(Debug)]
struct Elastic(Arc<dyn Term>);

impl Term for Elastic {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn role(&self) -> Role {
        Role::Elastic
    }
    fn stencils(&self) -> Stencils<'_> {
        self.0.stencils()
    }
    fn value(&self, x: &[Vec3]) -> f64 {
        self.0.value(x)
    }
    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.0.add_gradient(x, gradient);
    }
    fn hessians(&self, range: Range<usize>, x: &[Vec3], p: Projection<'_>, out: &mut [Mat3]) {
        self.0.hessians(range, x, p, out);
    }
}

/// An energy counts among the elastic ones of a report if it says that it is one.
#[test]
fn what_an_energy_is_for_says_the_energy() {
    let (mut definition, ..) = hung(Integrator::ImplicitEuler);
    let step = |definition: &Definition| {
        let mut simulation = Simulation::new(definition).unwrap();
        simulation.step().unwrap()
    };
    let load = step(&definition);
    let spring = load.energies["centre spring"];
    assert!(spring > 0.0);
    assert_eq!(load.elastic_energy, load.energies["tetrahedra"]);
    let added = definition.energies.pop().unwrap();
    definition.energies.push(Arc::new(Elastic(added)));
    let elastic = step(&definition);
    assert_eq!(elastic.elastic_energy, load.elastic_energy + spring);
}

/// An energy that cannot be used.
#[derive(Debug)]
struct Unusable {
    vertex: u32,
    value: f64,
}

impl Term for Unusable {
    fn name(&self) -> &str {
        "my energy"
    }
    fn stencils(&self) -> Stencils<'_> {
        [vec![0, self.vertex]].into_iter().collect()
    }
    fn value(&self, _: &[Vec3]) -> f64 {
        self.value
    }
    fn add_gradient(&self, _: &[Vec3], _: &mut [Vec3]) {}
    fn hessians(&self, _: Range<usize>, _: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        out.fill(Mat3::zeros());
    }
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    for (vertex, value, part) in [
        (1000, 0.0, "summand 0 refers to vertex 1000"),
        (1, f64::NAN, "its value at the start is NaN"),
    ] {
        let mut definition = scene(vec![block("b", [0.0; 3], [1, 1, 1], 0.1)]);
        definition.energies.push(Arc::new(Unusable { vertex, value }));
        let error = Simulation::new(&definition).map(drop).unwrap_err();
        assert!(
            matches!(&error, BuildError::Energy { name, .. } if name == "my energy"),
            "{error}"
        );
        assert!(error.to_string().contains(part), "{error}");
    }
}
