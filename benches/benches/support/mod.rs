//! Meshes and motions for the benches.

use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;
#[allow(unused_imports)]
pub use standoff_testkit::Random;

/// Four sheets of 40 × 40 cells, 2 mm apart, with a ripple: 6,724 vertices, 12,800 triangles.
#[allow(dead_code)]
pub fn sheets() -> (CollisionMesh, Vec<Vec3>) {
    const N: usize = 40;
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for layer in 0..4 {
        let first = x.len() as u32;
        for i in 0..=N {
            for j in 0..=N {
                let (u, v) = (i as f64 / N as f64, j as f64 / N as f64);
                let ripple = 0.01 * (9.0 * u).sin() * (7.0 * v).cos();
                x.push(Vec3::new(u, ripple + 0.002 * layer as f64, v));
            }
        }
        let at = |i: usize, j: usize| first + (i * (N + 1) + j) as u32;
        for i in 0..N {
            for j in 0..N {
                faces.push([at(i, j), at(i, j + 1), at(i + 1, j + 1)]);
                faces.push([at(i, j), at(i + 1, j + 1), at(i + 1, j)]);
            }
        }
    }
    (CollisionMesh::new(x.clone(), faces, &[], &[]), x)
}
