//! Nodes in the middles of the edges of tetrahedra.

use super::Mesh;
use standoff_geometry::quadratic;

impl Mesh {
    /// Gives linear tetrahedra beside quadratic ones nodes in the middles of their straight edges, and a note says so.
    pub(crate) fn complete_middles(&mut self) {
        if self.middles.is_empty() {
            return;
        }
        let linear = quadratic::add_middles(&self.tets, &mut self.middles, &mut self.points);
        if linear > 0 {
            self.notes.push(format!(
                "{linear} of its tetrahedra are linear; they have nodes in the middles of their edges like the others"
            ));
        }
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
}
