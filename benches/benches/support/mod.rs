//! Meshes and motions for the benches.

use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;
#[allow(unused_imports)]
pub use standoff_testkit::Random;

/// Four sheets of 40 × 40 cells, 2 mm apart, with a ripple: 6,724 vertices, 12,800 triangles.
#[allow(dead_code)]
pub fn sheets() -> (CollisionMesh, Vec<Vec3>) {
    layers(4, |layer, u, v| {
        let ripple = 0.01 * (9.0 * u).sin() * (7.0 * v).cos();
        Vec3::new(u, ripple + 0.002 * layer, v)
    })
}

/// Sheets of 40 × 40 cells, with a vertex at `at(layer, u, v)` for u and v from 0 to 1.
#[allow(dead_code)]
pub fn layers(count: u32, at: impl Fn(f64, f64, f64) -> Vec3) -> (CollisionMesh, Vec<Vec3>) {
    const N: u32 = 40;
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for layer in 0..count {
        let first = x.len() as u32;
        let part = |k: u32| f64::from(k) / f64::from(N);
        x.extend(
            (0..=N)
                .flat_map(|i| (0..=N).map(move |j| (i, j)))
                .map(|(i, j)| at(f64::from(layer), part(i), part(j))),
        );
        let id = |i: u32, j: u32| first + i * (N + 1) + j;
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            faces.push([id(i, j), id(i, j + 1), id(i + 1, j + 1)]);
            faces.push([id(i, j), id(i + 1, j + 1), id(i + 1, j)]);
        }
    }
    (CollisionMesh::new(x.clone(), faces, &[], &[]), x)
}
