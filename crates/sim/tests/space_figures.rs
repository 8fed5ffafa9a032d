//! The convergence of the orientation-aware potential in three dimensions at a fixed ε [Huang 2024, Fig. 19].

use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::Vec3;
use standoff_sim::contact::orientation::{
    ActivationDistance, OrientationPotential, PairSet, Parameters, Step, Surface,
};
use standoff_testkit::shapes::sphere;

/// The potential per κ of two unit balls at a distance of 0.3 with ε = 0.8, and the number of pairs that act.
fn potential(level: u32, alpha: f64) -> (f64, usize) {
    let (mut x, mut faces) = sphere(level);
    let n = x.len();
    let (other, more) = sphere(level);
    x.extend(other.iter().map(|p| p + Vec3::new(1.3, 1.4, 1.280_625)));
    faces.extend(more.iter().map(|f| f.map(|v| v + n as u32)));
    let mut mesh = CollisionMesh::new(x.clone(), faces, &[], &[]);
    mesh.exclude(&[0..n, n..2 * n], &[], true);
    let mut surface = Surface::new(&mesh, &vec![true; x.len()], None, 0.8);
    surface.epsilon = ActivationDistance::Uniform(0.8);
    let parameters = Parameters { tangential: Step { alpha, beta: 0.0 }, ..Parameters::default() };
    let set = PairSet::build(&candidates(&mesh, &x, 0.4), &mesh, &surface, &parameters, &x);
    let potential = OrientationPotential { parameters, kappa: 1.0 };
    (potential.set_value(&mesh, &surface, &set, &x), set.pairs.len())
}

/// The potential converges where edges are shorter than the distance times α, below which pairs act whose direction is oblique.
/// With longer edges only pairs straight across act, whose weights shrink faster than they become more. With α = 1 the sum is on its
/// way to its limit, with α = 0.5 it still falls to less than half.
#[test]
fn the_potential_of_two_balls_converges() {
    let study = |alpha: f64| {
        let found: Vec<(f64, usize)> = (2..=5).map(|level| potential(level, alpha)).collect();
        let values: Vec<f64> = found.iter().map(|f| f.0).collect();
        let steps: Vec<f64> = values.windows(2).map(|w| w[0] - w[1]).collect();
        let orders: Vec<f64> = steps.windows(2).map(|w| (w[0] / w[1]).log2()).collect();
        println!("α {alpha}: {found:.4?}, orders {orders:.2?}");
        (values, orders)
    };
    let (_, orders) = study(1.0);
    let last = orders[orders.len() - 1];
    assert!((1.2..1.8).contains(&last), "{orders:?}");
    let (values, orders) = study(0.5);
    assert!(orders.iter().skip(1).all(|o| *o > 1.5), "{orders:?}");
    assert!(values.windows(2).skip(1).all(|w| w[1] < 0.5 * w[0] && w[1] > 0.0), "{values:?}");
}
