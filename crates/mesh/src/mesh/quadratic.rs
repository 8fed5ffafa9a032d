//! Nodes in the middles of the edges of tetrahedra.

use super::{Mesh, tet_faces};
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// The ends of the edges of a tetrahedron in the order of their middles, which is that of VTK.
pub const MIDDLES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Stands for the middles of a linear tetrahedron while a file is read.
pub(crate) const NONE: [u32; 6] = [u32::MAX; 6];

impl Mesh {
    /// Gives linear tetrahedra beside quadratic ones nodes in the middles of their straight edges, and a note says so.
    pub(crate) fn complete_middles(&mut self) {
        if self.middles.is_empty() {
            return;
        }
        self.middles.resize(self.tets.len(), NONE);
        let linear = self.middles.iter().filter(|m| **m == NONE).count();
        if linear == 0 {
            return;
        }
        let mut known = self.middle_of_edges();
        let Self { tets, middles, points, .. } = self;
        for (t, m) in tets.iter().zip(middles).filter(|(_, m)| **m == NONE) {
            *m = MIDDLES.map(|[a, b]| {
                let (a, b) = (t[a], t[b]);
                *known.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                    let [p, q]: [Vec3; 2] = [a, b].map(|v| points[v as usize]);
                    points.push(p + (q - p) * 0.5);
                    points.len() as u32 - 1
                })
            });
        }
        self.notes.push(format!(
            "{linear} of its tetrahedra are linear; they have nodes in the middles of their edges like the others"
        ));
    }

    fn middle_of_edges(&self) -> HashMap<[u32; 2], u32> {
        let mut known = HashMap::new();
        for (t, m) in self.tets.iter().zip(&self.middles).filter(|(_, m)| **m != NONE) {
            for ([a, b], middle) in MIDDLES.into_iter().zip(m) {
                let (a, b) = (t[a], t[b]);
                known.insert([a.min(b), a.max(b)], *middle);
            }
        }
        known
    }

    /// The boundary faces as four triangles each, between corners and middles.
    pub(super) fn divided(&self, faces: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
        let known = self.middle_of_edges();
        let middle = |a: u32, b: u32| known.get(&[a.min(b), a.max(b)]).copied();
        let four = |[a, b, c]: [u32; 3]| match (middle(a, b), middle(b, c), middle(c, a)) {
            (Some(ab), Some(bc), Some(ca)) => {
                vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            }
            _ => vec![[a, b, c]],
        };
        faces.into_iter().flat_map(four).collect()
    }

    /// Exchanges corners 2 and 3 of every tetrahedron, with what belongs to them.
    pub(super) fn flip(&mut self) {
        for t in &mut self.tets {
            t.swap(2, 3);
        }
        for m in &mut self.middles {
            // of 01, 12, 02, 03, 13, 23
            *m = [m[0], m[4], m[3], m[2], m[1], m[5]];
        }
    }

    /// All faces of the tetrahedra.
    pub(super) fn all_faces(&self) -> Vec<[u32; 3]> {
        self.tets.iter().flat_map(|&t| tet_faces(t)).collect()
    }
}
