//! Random numbers, small scenes and the oracle's scenes.

use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;
pub use standoff_testkit::Random;
use standoff_testkit::{numbers, testdata_json};

/// A scene of the oracle.
pub struct Scene {
    pub name: String,
    pub mesh: CollisionMesh,
    /// The oracle's edges, by ascending ends.
    pub edges: Vec<[u32; 2]>,
    pub x0: Vec<Vec3>,
    pub x1: Vec<Vec3>,
}

pub fn vectors(value: &serde_json::Value) -> Vec<Vec3> {
    numbers(value).chunks_exact(3).map(Vec3::from_column_slice).collect()
}

pub fn indices<const N: usize>(value: &serde_json::Value) -> Vec<[u32; N]> {
    let flat = numbers(value);
    flat.chunks_exact(N).map(|c| std::array::from_fn(|k| c[k] as u32)).collect()
}

/// Collision mesh of faces and edges; vertices of neither are points.
pub fn mesh_of(rest: Vec<Vec3>, edges: &[[u32; 2]], faces: Vec<[u32; 3]>) -> CollisionMesh {
    let points: Vec<u32> = (0..rest.len() as u32).collect();
    CollisionMesh::new(rest, faces, edges, &points)
}

pub fn scenes() -> Vec<Scene> {
    let json = testdata_json("oracle/scenes.json");
    let read = |s: &serde_json::Value| {
        let edges = indices::<2>(&s["edges"]).into_iter().map(|e| [e[0].min(e[1]), e[0].max(e[1])]);
        let edges: Vec<_> = edges.collect();
        Scene {
            name: s["name"].as_str().unwrap().into(),
            mesh: mesh_of(vectors(&s["rest"]), &edges, indices(&s["faces"])),
            edges,
            x0: vectors(&s["vertices"]),
            x1: vectors(&s["vertices_t1"]),
        }
    };
    json["scenes"].as_array().unwrap().iter().map(read).collect()
}

/// A soup of triangles, wires and points in a box of size 2, strewn with the given feature size.
pub fn soup(r: &mut Random, n: usize, size: f64) -> CollisionMesh {
    let (mut x, mut faces, mut wires, mut points) = (vec![], vec![], vec![], vec![]);
    for k in 0..n {
        let (centre, first) = (r.vec3(), x.len() as u32);
        let count = [3, 4, 3, 2, 3, 1][k % 6];
        for _ in 0..count {
            x.push(centre + r.vec3() * size);
        }
        match (k % 6, count) {
            (1, _) => faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]),
            (4, _) => wires.extend([[first, first + 1], [first + 1, first + 2]]),
            (_, 3) => faces.push([first, first + 1, first + 2]),
            (_, 2) => wires.push([first, first + 1]),
            _ => points.push(first),
        }
    }
    CollisionMesh::new(x, faces, &wires, &points)
}

/// A sphere of 8·4ⁿ triangles, n = `splits`.
pub fn sphere(splits: u32, centre: Vec3, radius: f64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (x, faces) = standoff_testkit::shapes::sphere(splits);
    (x.into_iter().map(|v| centre + v * radius).collect(), faces)
}

/// Two spheres of radius 1, `gap` apart along z.
pub fn two_spheres(splits: u32, gap: f64) -> CollisionMesh {
    let (mut x, mut faces) = sphere(splits, Vec3::zeros(), 1.0);
    let (y, more) = sphere(splits, Vec3::new(0.01, 0.02, 2.0 + gap), 1.0);
    let n = x.len() as u32;
    x.extend(y);
    faces.extend(more.iter().map(|f| f.map(|v| v + n)));
    CollisionMesh::new(x, faces, &[], &[])
}
