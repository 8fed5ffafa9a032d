//! The orientation-aware potential at rest: on every built-in solid and every closed mesh of the test data
//! nothing acts, at a contact distance of ten times the shortest edge.

use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::topology::boundary_faces;
use standoff_mesh::Mesh;
use standoff_mesh::format;
use standoff_mesh::shape::*;
use standoff_sim::contact::orientation::{
    ActivationDistance, OrientationPotential, PairSet, Parameters, Surface, epsilon,
};
use standoff_testkit::testdata;

/// Largest number of triangles of a mesh in this test, whose pairs grow with its square.
const LARGEST: usize = 12_000;

/// ε of the vertices over d̂: least and median. `None` for meshes that are not closed, or too large.
fn rest(name: &str, mesh: &Mesh) -> Option<[f64; 2]> {
    let faces = if mesh.tets.is_empty() {
        mesh.triangles.clone()
    } else {
        boundary_faces(&mesh.tets).ok()?
    };
    if faces.is_empty() || faces.len() > LARGEST {
        return None;
    }
    let mut collision = CollisionMesh::new(mesh.points.clone(), faces, &[], &[]);
    let n = mesh.points.len();
    collision.body = vec![0; n];
    let at = |v: u32| mesh.points[v as usize];
    let lengths = collision.edges.iter().map(|&[a, b]| (at(b) - at(a)).norm());
    let d_hat = 10.0 * lengths.fold(f64::INFINITY, f64::min);
    let mut surface = Surface::new(&collision, &vec![true; n], None, d_hat);
    if collision.vertices.iter().any(|&v| !surface.covered[v as usize]) {
        return None;
    }
    let parameters = Parameters::default();
    let x = &mesh.points;
    surface.epsilon = epsilon::adaptive(&collision, &surface, &parameters, x, d_hat);
    let near = candidates(&collision, x, 0.5 * d_hat);
    let set = PairSet::build(&near, &collision, &surface, &parameters, x);
    let potential = OrientationPotential { parameters, kappa: 1.0 };
    let mut gradient = vec![standoff_linalg::Vec3::zeros(); n];
    potential.add_gradient(&collision, &surface, &set, x, &mut gradient);
    assert!(gradient.iter().all(|g| g.norm() == 0.0), "{name}");
    assert!(set.pairs.is_empty(), "{name}: {} pairs", set.pairs.len());
    let ActivationDistance::Adaptive { within, .. } = &surface.epsilon else { unreachable!() };
    let mut eps: Vec<f64> =
        collision.vertices.iter().map(|&v| within.vertex[v as usize] / d_hat).collect();
    eps.sort_by(f64::total_cmp);
    let out = [eps[0], eps[eps.len() / 2]];
    println!("{name}: d̂ {d_hat:.3e} m, ε at least {:.3} d̂, median {:.3} d̂", out[0], out[1]);
    assert!(out[0] > 0.0, "{name}");
    Some(out)
}

#[test]
fn nothing_acts_on_built_in_solids() {
    let convex = [
        ("box", Shape::Box(BoxShape { cells: [4, 4, 4], ..Default::default() })),
        ("mat", Shape::Mat(Mat { cells: [12, 12], ..Default::default() })),
        ("sphere", Shape::Sphere(Sphere::default())),
        ("fine sphere", Shape::Sphere(Sphere { layers: 12, ..Default::default() })),
        ("cylinder", Shape::Cylinder(Cylinder::default())),
        ("rod", Shape::Rod(Rod::default())),
        ("cone", Shape::Cone(Cone::default())),
        ("wedge", Shape::Wedge(Wedge::default())),
        ("pyramid", Shape::Pyramid(Pyramid::default())),
        ("spike", Shape::Spike(Spike::default())),
        ("tet", Shape::Tet(Tet::default())),
    ];
    for (name, shape) in convex {
        let [_, median] = rest(name, &shape.build().unwrap()).unwrap();
        assert!(median >= 0.5, "{name}: {median}");
    }
    assert!(rest("torus", &Shape::Torus(Torus::default()).build().unwrap()).is_some());
}

#[test]
fn nothing_acts_on_the_closed_meshes_of_the_test_data() {
    let mut compared = 0;
    for folder in ["data/ipc/tetMeshes", "data/ipc/triMeshes", "data/cipc"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(testdata(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Ok(mesh) = format::read(&path) else { continue };
            compared += usize::from(rest(&name, &mesh).is_some());
        }
    }
    assert!(compared > 5, "{compared}");
}
