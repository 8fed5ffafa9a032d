//! Shared by the contact tests: scenes of the oracle and candidates by brute force.

use serde_json::Value;
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::Candidates;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::{BarrierPotential, ContactSet};
#[allow(unused_imports)]
pub use standoff_testkit::Random;
use standoff_testkit::{numbers, testdata_json};

pub fn vecs(v: &Value) -> Vec<Vec3> {
    numbers(v).chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect()
}

pub fn flat(v: &[Vec3]) -> Vec<f64> {
    v.iter().flat_map(|a| [a.x, a.y, a.z]).collect()
}

pub fn ids<const N: usize>(v: &Value) -> [u32; N] {
    let v = numbers(v);
    std::array::from_fn(|i| v[i] as u32)
}

/// All pairs of primitives that may collide.
pub fn all_candidates(mesh: &CollisionMesh) -> Candidates {
    let mut out = Candidates::default();
    for (i, &a) in mesh.codim_vertices.iter().enumerate() {
        for &b in &mesh.codim_vertices[i + 1..] {
            if mesh.may_collide(&[a], &[b]) {
                out.vertex_vertex.push([a, b]);
            }
        }
    }
    // the oracle pairs wires with points only
    for &e in &mesh.codim_edges {
        for &v in &mesh.codim_vertices {
            if mesh.may_collide(&mesh.edges[e as usize], &[v]) {
                out.edge_vertex.push([e, v]);
            }
        }
    }
    for a in 0..mesh.edges.len() {
        for b in a + 1..mesh.edges.len() {
            if mesh.may_collide(&mesh.edges[a], &mesh.edges[b]) {
                out.edge_edge.push([a as u32, b as u32]);
            }
        }
    }
    for (f, t) in mesh.faces.iter().enumerate() {
        for &v in &mesh.vertices {
            if mesh.may_collide(t, &[v]) {
                out.face_vertex.push([f as u32, v]);
            }
        }
    }
    out
}

/// Candidates whose boxes, grown by `reach`, overlap: as above, but cheap enough for the tests.
pub fn near_candidates(mesh: &CollisionMesh, x: &[Vec3], reach: f64) -> Candidates {
    let bounds = |ids: &[u32]| {
        let mut lo = x[ids[0] as usize];
        let mut hi = lo;
        for &v in ids {
            lo = lo.inf(&x[v as usize]);
            hi = hi.sup(&x[v as usize]);
        }
        (lo, hi.add_scalar(reach))
    };
    let overlap = |a: &[u32], b: &[u32]| {
        let ((al, ah), (bl, bh)) = (bounds(a), bounds(b));
        (0..3).all(|k| al[k] <= bh[k] && bl[k] <= ah[k])
    };
    let mut all = all_candidates(mesh);
    all.vertex_vertex.retain(|c| overlap(&c[..1], &c[1..]));
    all.edge_vertex.retain(|c| overlap(&mesh.edges[c[0] as usize], &c[1..]));
    all.edge_edge.retain(|c| overlap(&mesh.edges[c[0] as usize], &mesh.edges[c[1] as usize]));
    all.face_vertex.retain(|c| overlap(&mesh.faces[c[0] as usize], &c[1..]));
    all
}

pub struct Scene {
    pub name: String,
    pub mesh: CollisionMesh,
    pub x: Vec<Vec3>,
}

/// The oracle's scenes, with its own numbering of edges.
pub fn scenes() -> Vec<Scene> {
    let json = testdata_json("oracle/scenes.json");
    let scenes = json["scenes"].as_array().unwrap();
    scenes
        .iter()
        .map(|s| {
            let list = |key: &str| s[key].as_array().cloned().unwrap_or_default();
            let faces: Vec<[u32; 3]> = list("faces").iter().map(ids::<3>).collect();
            let edges: Vec<[u32; 2]> = list("edges").iter().map(ids::<2>).collect();
            let rest = vecs(&s["rest"]);
            let points: Vec<u32> = (0..rest.len() as u32).collect();
            let mut mesh = CollisionMesh::new(rest, faces, &edges, &points);
            // renumber as the oracle does, so that edge–edge pairs list the same edge first
            let wires: Vec<[u32; 2]> =
                mesh.codim_edges.iter().map(|&e| mesh.edges[e as usize]).collect();
            mesh.edges = edges.iter().map(|e| [e[0].min(e[1]), e[0].max(e[1])]).collect();
            mesh.codim_edges = (0..mesh.edges.len() as u32)
                .filter(|&e| wires.contains(&mesh.edges[e as usize]))
                .collect();
            Scene { name: s["name"].as_str().unwrap().into(), x: vecs(&s["vertices"]), mesh }
        })
        .collect()
}

/// A 12×12 matrix from blocks.
pub fn dense(h: &[[Mat3; 4]; 4]) -> Vec<f64> {
    let mut out = Vec::with_capacity(144);
    for i in 0..12 {
        for j in 0..12 {
            out.push(h[i / 3][j / 3][(i % 3, j % 3)]);
        }
    }
    out
}

/// The product of a potential's Hessian, projected or not, and a vector.
pub fn times_hessian(
    potential: &BarrierPotential,
    set: &ContactSet,
    x: &[Vec3],
    psd: bool,
    vector: &[Vec3],
) -> Vec<Vec3> {
    let mut product = vec![Vec3::zeros(); x.len()];
    for c in &set.contacts {
        let local = c.gather(x);
        let h = if psd { potential.hessian_psd(c, &local) } else { potential.hessian(c, &local) };
        for (i, &v) in c.stencil().iter().enumerate() {
            for (j, &w) in c.stencil().iter().enumerate() {
                product[v as usize] += h[i][j] * vector[w as usize];
            }
        }
    }
    product
}
