//! Surfaces that several tests need.

use nalgebra::Vector3;
use std::collections::BTreeMap;

/// A unit sphere of 8·4ⁿ outward triangles: an octahedron with every face split into four, `n` = `splits` times.
pub fn sphere(splits: u32) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let [a, b, c] = [Vector3::x(), Vector3::y(), Vector3::z()];
    let mut x = vec![a, -a, b, -b, c, -c];
    let mut faces: Vec<[u32; 3]> = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    for _ in 0..splits {
        let mut middle = BTreeMap::new();
        let mut split = Vec::with_capacity(4 * faces.len());
        for f in &faces {
            let m: [u32; 3] = std::array::from_fn(|k| {
                let (a, b) = (f[k], f[(k + 1) % 3]);
                *middle.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    x.push((x[a as usize] + x[b as usize]).normalize());
                    x.len() as u32 - 1
                })
            });
            split.extend([[f[0], m[0], m[2]], [m[0], f[1], m[1]], [m[2], m[1], f[2]], m]);
        }
        faces = split;
    }
    (x, faces)
}
