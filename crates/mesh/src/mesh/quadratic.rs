//! Nodes in the middles of the edges of tetrahedra.

use super::Mesh;
use standoff_geometry::quadratic::{self, NONE};
use standoff_geometry::topology::ascending;
use std::collections::{HashMap, HashSet};

impl Mesh {
    /// Gives linear tetrahedra beside quadratic ones nodes in the middles of their straight edges, and a note says so.
    pub(crate) fn complete_middles(&mut self) {
        if self.middles.is_empty() {
            return;
        }
        let is_linear = |(t, m): (&[u32; 4], Option<&[u32; 6]>)| {
            m.is_none_or(|m| *m == NONE).then(|| quadratic::edges(t))
        };
        let rows = self.middles.iter().map(Some).chain(std::iter::repeat(None));
        let completed: HashSet<[u32; 2]> =
            self.tets.iter().zip(rows).filter_map(is_linear).flatten().collect();
        let linear = quadratic::add_middles(&self.tets, &mut self.middles, &mut self.points);
        if linear > 0 {
            self.complete_regions(&completed);
            self.notes.push(format!(
                "{linear} of its tetrahedra are linear; they have nodes in the middles of their edges like the others"
            ));
        }
    }

    /// Adds to every region the nodes in the middles of those edges of its elements that are among the given ones.
    fn complete_regions(&mut self, edges: &HashSet<[u32; 2]>) {
        let rows = self.tets.iter().zip(&self.middles);
        let middle: HashMap<[u32; 2], u32> =
            rows.flat_map(|(t, m)| quadratic::edges(t).into_iter().zip(*m)).collect();
        let known = |e: [u32; 2]| edges.contains(&e).then(|| middle.get(&e).copied()).flatten();
        for region in &mut self.regions {
            let of_tets =
                region.tets.iter().flat_map(|t| quadratic::edges(&self.tets[*t as usize]));
            let of_triangles = region.triangles.iter().flat_map(|t| {
                let [a, b, c] = self.triangles[*t as usize];
                [ascending(a, b), ascending(b, c), ascending(a, c)]
            });
            let of_edges = region.edges.iter().map(|e| {
                let [a, b] = self.edges[*e as usize];
                ascending(a, b)
            });
            let added: Vec<u32> =
                of_tets.chain(of_triangles).chain(of_edges).filter_map(known).collect();
            region.vertices.extend(added);
            region.vertices.sort_unstable();
            region.vertices.dedup();
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

    /// Joins each four triangles that a file has as one of six nodes again, into one with nodes in the middles of its edges, and gives the other
    /// triangles such nodes half-way along their edges. Nothing where no triangle was divided.
    pub fn join_divided(&mut self) {
        let fours = std::mem::take(&mut self.divided);
        let whole = |first: &u32| {
            let first = *first as usize;
            let four = self.triangles.get(first..first + 4)?;
            quadratic::join_faces(four).0.first().copied()
        };
        let nodes: Vec<(u32, [u32; 6])> =
            fours.iter().filter_map(|first| Some((*first, whole(first)?))).collect();
        if nodes.is_empty() {
            return;
        }
        let (mut triangles, mut middles) = (Vec::new(), Vec::new());
        let mut new = vec![0; self.triangles.len()];
        let mut nodes = nodes.into_iter().peekable();
        let mut old = 0;
        while old < self.triangles.len() {
            let joined = nodes.next_if(|(first, _)| *first as usize == old);
            let count = if joined.is_some() { 4 } else { 1 };
            new[old..old + count].fill(triangles.len() as u32);
            match joined {
                Some((_, [a, b, c, ab, bc, ca])) => {
                    triangles.push([a, b, c]);
                    middles.push([ab, bc, ca]);
                }
                None => {
                    triangles.push(self.triangles[old]);
                    middles.push([u32::MAX; 3]);
                }
            }
            old += count;
        }
        quadratic::add_middles(&triangles, &mut middles, &mut self.points);
        (self.triangles, self.triangle_middles) = (triangles, middles);
        for region in &mut self.regions {
            region.triangles.iter_mut().for_each(|t| *t = new[*t as usize]);
            region.triangles.dedup();
        }
    }
}
