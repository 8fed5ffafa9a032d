//! A fine surface that rides along with the tetrahedra.

use crate::manifold::boundary;
use crate::tree::Tree;
use standoff_linalg::Vec3;
use standoff_mesh::{tet_determinant, tet_faces};
use std::collections::HashMap;

/// Points carried by tetrahedra: each is a fixed affine combination of the four vertices of one of them,
/// the one that it lies in or, outside, one at the nearest place of the boundary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedding {
    /// Vertices of the tetrahedron of every point.
    pub vertices: Vec<[u32; 4]>,
    /// Barycentric coordinates, of sum 1; negative ones outside.
    pub weights: Vec<[f64; 4]>,
}

impl Embedding {
    /// Embeds `carried` in tetrahedra with vertices at `points` (m).
    pub fn new(points: &[Vec3], tets: &[[u32; 4]], carried: &[Vec3]) -> Self {
        let outside = boundary(tets);
        let at = |v: u32| points[v as usize];
        let tree = Tree::new(outside.iter().map(|(face, _)| face.map(at)).collect());
        let mut owners: HashMap<[u32; 3], [u32; 2]> = HashMap::new();
        for (t, tet) in tets.iter().enumerate() {
            for face in tet_faces(*tet) {
                owners.entry(sorted(face)).and_modify(|o| o[1] = t as u32).or_insert([t as u32; 2]);
            }
        }
        let mut embedding = Self::default();
        for p in carried {
            let Some(hit) = tree.closest(p, f64::INFINITY) else { continue };
            let mut tet = outside[hit.triangle as usize].1;
            let mut weights = barycentric(&tets[tet as usize].map(at), p);
            // through the face beyond which the point lies, until it lies beyond none or there is nothing
            const LONGEST_WALK: usize = 100;
            for _ in 0..LONGEST_WALK {
                let least = (0..4).min_by(|i, j| weights[*i].total_cmp(&weights[*j])).unwrap_or(0);
                if weights[least] >= -1e-12 {
                    break;
                }
                let vertices = tets[tet as usize];
                let face: Vec<u32> = (0..4).filter(|i| *i != least).map(|i| vertices[i]).collect();
                let [a, b] = owners[&sorted([face[0], face[1], face[2]])];
                if a == b {
                    break;
                }
                tet = if a == tet { b } else { a };
                weights = barycentric(&tets[tet as usize].map(at), p);
            }
            embedding.vertices.push(tets[tet as usize]);
            embedding.weights.push(weights);
        }
        embedding
    }

    /// The carried points for positions of the tetrahedra's vertices, m.
    pub fn apply(&self, x: &[Vec3]) -> Vec<Vec3> {
        let carry = |(vertices, weights): (&[u32; 4], &[f64; 4])| {
            let parts = vertices.iter().zip(weights).map(|(v, w)| x[*v as usize] * *w);
            parts.fold(Vec3::zeros(), |sum, part| sum + part)
        };
        self.vertices.iter().zip(&self.weights).map(carry).collect()
    }
}

fn sorted(mut face: [u32; 3]) -> [u32; 3] {
    face.sort_unstable();
    face
}

/// Barycentric coordinates of a point in a tetrahedron.
fn barycentric(x: &[Vec3; 4], p: &Vec3) -> [f64; 4] {
    let whole = tet_determinant(x);
    let mut weights = [0, 1, 2, 3].map(|k| {
        let mut with = *x;
        with[k] = *p;
        tet_determinant(&with) / whole
    });
    weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
    weights
}
