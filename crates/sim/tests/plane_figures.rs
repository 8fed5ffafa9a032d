//! The convergence of the orientation-aware potential in the plane at a fixed ε [Huang 2024, Fig. 19].

use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::Vec3;
use standoff_sim::contact::orientation::{
    ActivationDistance, OrientationPotential, PairSet, Parameters, Step, Surface,
};

/// The potential of outlines at fixed ε, per κ.
fn potential(outlines: &[Vec<[f64; 2]>], reach: f64) -> f64 {
    potential_of(outlines, reach, None)
}

/// The same with L.
fn potential_of(outlines: &[Vec<[f64; 2]>], reach: f64, length: Option<f64>) -> f64 {
    let (mut x, mut edges) = (Vec::new(), Vec::new());
    for outline in outlines {
        let (first, n) = (x.len() as u32, outline.len() as u32);
        x.extend(outline.iter().map(|&[x, y]| Vec3::new(x, y, 0.0)));
        edges.extend((0..n).map(|k| [first + k, first + (k + 1) % n]));
    }
    let mesh = CollisionMesh::planar(x.clone(), &edges, &[]);
    let mut surface = Surface::new(&mesh, &vec![true; x.len()], length, reach);
    surface.epsilon = ActivationDistance::Uniform(reach);
    let parameters = Parameters {
        exponent: 1,
        tangential: Step { alpha: 0.5, beta: 0.0 },
        ..Parameters::default()
    };
    let found = candidates(&mesh, &x, 0.5 * reach);
    let set = PairSet::build(&found, &mesh, &surface, &parameters, &x);
    OrientationPotential { parameters, kappa: 1.0 }.set_value(&mesh, &surface, &set, &x)
}

/// `n` pieces of the straight way from a to b, without b.
fn pieces(a: [f64; 2], b: [f64; 2], n: usize) -> impl Iterator<Item = [f64; 2]> {
    (0..n).map(move |k| {
        let t = k as f64 / n as f64;
        [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
    })
}

fn polygon(corners: &[[f64; 2]], n: usize) -> Vec<[f64; 2]> {
    (0..corners.len())
        .flat_map(|k| pieces(corners[k], corners[(k + 1) % corners.len()], n))
        .collect()
}

/// The points of a circle of radius 1.
fn circle(centre: [f64; 2], n: usize) -> Vec<[f64; 2]> {
    let point = |k: usize| {
        let (s, c) = (std::f64::consts::TAU * (k as f64 + 0.3) / n as f64).sin_cos();
        [centre[0] + c, centre[1] + s]
    };
    (0..n).map(point).collect()
}

/// The potential in seven refinements of a notch whose sides meet at its end at 6°, as the walls of a cusp do; of two blocks with
/// a gap like a wedge that is all but closed at its end; and of two discs side by side. The paper shows its two scenes in a picture
/// only, and has orders of 0.82 for one with a nearly singular cusp and of 1.57 for another one.
#[test]
fn the_potential_converges_under_refinement() {
    let notch = |n: usize| {
        let corners = [
            [-1.0, -1.0],
            [1.0, -1.0],
            [1.0, 1.0],
            [0.05, 1.0],
            [0.0, 0.0],
            [-0.05, 1.0],
            [-1.0, 1.0],
        ];
        potential(&[polygon(&corners, n)], 0.1)
    };
    let wedge = |n: usize| {
        let lower = polygon(&[[0.0, 0.0], [0.0, -1.0], [1.0, -1.0], [1.0, 0.0]], n);
        let upper = polygon(&[[0.0, 0.002], [1.0, 0.3], [1.0, 1.0], [0.0, 1.0]], n);
        potential(&[lower, upper], 0.1)
    };
    let discs = |n: usize| potential(&[circle([0.0, 0.0], 4 * n), circle([2.02, 0.3], 3 * n)], 0.1);
    let study = |name: &str, of: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (4..11).map(|k| of(1 << k)).collect();
        let steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        let orders: Vec<f64> = steps.windows(2).map(|w| (w[0] / w[1]).log2()).collect();
        println!("{name}: {values:.5?}, orders {orders:.2?}");
        (orders, steps[5] / values[6])
    };
    let (orders, _) = study("notch", &notch);
    assert!(orders.is_sorted() && orders[1] > 0.65 && orders[4] < 0.95, "{orders:?}");
    let (orders, _) = study("wedge", &wedge);
    assert!(orders.iter().all(|o| (1.6..1.9).contains(o)), "{orders:?}");
    let (orders, last) = study("discs", &discs);
    assert!(orders[3..].iter().all(|o| *o > 1.6) && last < 0.03, "{orders:?} {last}");
}

/// A corner above a flat side acts by its vertex alone. The default weights shrink with both meshes, and the potential of one
/// position with their product; with a given L it does not, as long as a vertex lies below the corner.
#[test]
fn a_corner_keeps_its_potential_with_a_given_length() {
    let corner = |n: usize, length: Option<f64>| {
        let lower = polygon(&[[-1.0, 0.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 0.0]], 2 * n);
        let upper = polygon(&[[0.0, 0.01], [0.5, 0.51], [0.0, 1.01], [-0.5, 0.51]], n);
        potential_of(&[lower, upper], 0.1, length)
    };
    let values = |length| [8, 16, 32].map(|n| corner(n, length));
    let (default, given) = (values(None), values(Some(0.05)));
    println!("corner: {default:.4?} by default, {given:.4?} with a length");
    assert!(default.windows(2).all(|w| (w[0] / w[1] - 4.0).abs() < 0.05), "{default:?}");
    assert!(given.iter().all(|v| (v / given[2] - 1.0).abs() < 0.05), "{given:?}");
}
