//! Pyramids, wedges and hexahedra of a file as they become tetrahedra, and the quadrangles on their faces.
//!
//! The vertices of a solid alone say which tetrahedra it becomes. Where their edges have middles, and which diagonals quadrangles
//! have, is known when all cells are read: files have surface cells in front of solids, too.

use crate::{Mesh, tet_determinant, tet_faces};
use standoff_geometry::division::{self, EIGHT_NODES, Solid};
use standoff_geometry::quadratic::{self, NONE, four_triangles};
use standoff_geometry::topology::ascending;
use standoff_linalg::Vec3;
use std::collections::HashMap;
use std::ops::Range;

/// How a format has a solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SolidCell {
    pub(crate) solid: Solid,
    /// The place in the file of each of its nodes.
    pub(crate) order: &'static [usize],
    /// Whether the format leaves open from which side its first face is counter-clockwise.
    pub(crate) either: bool,
}

impl SolidCell {
    pub(crate) const fn new(solid: Solid, order: &'static [usize]) -> Self {
        Self { solid, order, either: false }
    }

    pub(crate) fn name(self) -> &'static str {
        match (self.solid, self.is_quadratic()) {
            (Solid::Tet, false) => "tetrahedron",
            (Solid::Tet, true) => "quadratic tetrahedron",
            (Solid::Pyramid, false) => "pyramid",
            (Solid::Pyramid, true) => "quadratic pyramid",
            (Solid::Wedge, false) => "wedge",
            (Solid::Wedge, true) => "quadratic wedge",
            (Solid::Hexahedron, false) => "hexahedron",
            (Solid::Hexahedron, true) => "quadratic hexahedron",
        }
    }

    fn is_quadratic(self) -> bool {
        self.order.len() > self.solid.corners()
    }
}

/// The middle of a diagonal.
#[derive(Debug, Clone, Copy)]
enum Middle {
    Node(u32),
    /// Where a new node has to be.
    At(Vec3),
}

/// What is known of solids and quadrangles until all cells are read.
#[derive(Debug, Default)]
pub(crate) struct Solids {
    /// Hexahedra, wedges, pyramids.
    counts: [usize; 3],
    /// Tetrahedra that these have become.
    parts: usize,
    /// The tetrahedra of solids that may have either sense, one range for each.
    either: Vec<Range<usize>>,
    /// The tetrahedra of quadratic solids.
    curved: Vec<Range<usize>>,
    /// The nodes in the middles of edges of quadratic solids.
    middles: HashMap<[u32; 2], u32>,
    /// What would be in the middles of their diagonals.
    diagonals: HashMap<[u32; 2], Middle>,
    /// Quadrangles that are two triangles, of which the number of the first is given.
    quadrangles: Vec<(usize, [u32; 4])>,
    /// Quadrangles of eight or nine nodes, with their labels.
    quadratic_quadrangles: Vec<(Vec<u32>, u32)>,
}

impl Solids {
    /// Adds the tetrahedra of a solid with `nodes` to a mesh; the error says what is wrong with it.
    pub(crate) fn add(
        &mut self,
        cell: SolidCell,
        nodes: &[u32],
        mesh: &mut Mesh,
    ) -> Result<(), String> {
        let tets = division::tetrahedra(cell.solid, nodes);
        if tets.is_empty() {
            return Err(format!("a {} has no extent: its vertices coincide", cell.name()));
        }
        let first = mesh.tets.len();
        mesh.tets.extend(tets);
        let range = first..mesh.tets.len();
        let count = match cell.solid {
            Solid::Hexahedron => Some(0),
            Solid::Wedge => Some(1),
            Solid::Pyramid => Some(2),
            // not divided
            Solid::Tet => None,
        };
        if let Some(kind) = count {
            self.counts[kind] += 1;
            self.parts += range.len();
        }
        if cell.either {
            self.either.push(range.clone());
        }
        if cell.is_quadratic() {
            self.curve(cell.solid, nodes, &mesh.points)?;
            self.curved.push(range);
        }
        Ok(())
    }

    /// Remembers what the edges and diagonals of a quadratic solid have in their middles.
    fn curve(&mut self, solid: Solid, nodes: &[u32], points: &[Vec3]) -> Result<(), String> {
        for ([i, j], &middle) in solid.edges().iter().zip(&nodes[solid.corners()..]) {
            let edge = ascending(nodes[*i], nodes[*j]);
            if edge[0] == edge[1] {
                continue;
            }
            let known = *self.middles.entry(edge).or_insert(middle);
            // where an edge has collapsed, two nodes may be at one place, of which one is enough
            if known != middle && points[known as usize] != points[middle as usize] {
                let [a, b] = edge;
                return Err(format!(
                    "the edge between vertices {a} and {b} (from 0) has two nodes in its middle, {known} and {middle}"
                ));
            }
        }
        for diagonal in division::diagonals(solid, nodes, points) {
            let node = nodes.get(diagonal.node).copied();
            let middle = node.map_or(Middle::At(diagonal.middle), Middle::Node);
            let known = self.diagonals.entry(diagonal.ends).or_insert(middle);
            if let (Middle::At(_), Middle::Node(_)) = (*known, middle) {
                *known = middle;
            }
        }
        Ok(())
    }

    /// Remembers a quadrangle that has become triangles from the `first` on, in whichever order of its corners.
    pub(crate) fn quadrangle(&mut self, corners: [u32; 4], first: usize, mesh: &Mesh) {
        let repeats = (1..4).any(|i| corners[..i].contains(&corners[i]));
        if !repeats && mesh.triangles.len() == first + 2 {
            self.quadrangles.push((first, corners));
        }
    }

    /// Remembers a quadrangle of eight or nine nodes.
    pub(crate) fn quadratic_quadrangle(&mut self, nodes: &[u32], label: u32) {
        self.quadratic_quadrangles.push((nodes.to_vec(), label));
    }

    /// Completes the mesh when all cells are read, and says so in a note. Triangles that are still to be added, with their labels.
    pub(crate) fn finish(mut self, mesh: &mut Mesh) -> Vec<([u32; 3], u32)> {
        self.turn(mesh);
        self.complete(mesh);
        let simple = self.quadrangles.iter().map(|q| q.1);
        let quadratic =
            self.quadratic_quadrangles.iter().filter_map(|q| q.0.first_chunk().copied());
        let on_solids = OnSolids::new(simple.chain(quadratic), &mesh.tets);
        for (first, corners) in &self.quadrangles {
            if let Some(halves) = on_solids.halves(*corners) {
                mesh.triangles[*first..first + 2].copy_from_slice(&halves);
            }
        }
        self.note(mesh);
        let quadratic = std::mem::take(&mut self.quadratic_quadrangles);
        let parts = |(nodes, label): (Vec<u32>, u32)| {
            let triangles = self.triangles(&nodes, &on_solids);
            triangles.into_iter().map(move |t| (t, label))
        };
        quadratic.into_iter().flat_map(parts).collect()
    }

    /// Gives solids whose sense the format leaves open the sense of all others, which is positive unless all of them are inverted.
    fn turn(&self, mesh: &mut Mesh) {
        if self.either.is_empty() {
            return;
        }
        let determinant = |t: &[u32; 4]| tet_determinant(&t.map(|v| mesh.points[v as usize]));
        let mut others = vec![true; mesh.tets.len()];
        self.either.iter().for_each(|range| others[range.clone()].fill(false));
        let mut others = (others.iter().zip(&mesh.tets).filter(|o| *o.0)).map(|o| o.1).peekable();
        let inverted = others.peek().is_some() && others.all(|t| determinant(t) < 0.0);
        let is_other = |range: &&Range<usize>| {
            let volume: f64 = mesh.tets[(*range).clone()].iter().map(determinant).sum();
            volume < 0.0 && !inverted || volume > 0.0 && inverted
        };
        let turned: Vec<Range<usize>> = self.either.iter().filter(is_other).cloned().collect();
        // middles follow later
        turned.into_iter().flatten().for_each(|t| mesh.tets[t].swap(2, 3));
    }

    /// Gives the tetrahedra of quadratic solids nodes in the middles of their edges: those of the file, and on diagonals new ones where it has none.
    fn complete(&mut self, mesh: &mut Mesh) {
        if self.curved.is_empty() {
            return;
        }
        // a quadratic tetrahedron may have a diagonal as an edge
        for (tet, middles) in mesh.tets.iter().zip(&mesh.middles).filter(|(_, m)| **m != NONE) {
            for (edge, middle) in quadratic::edges(tet).into_iter().zip(*middles) {
                self.middles.entry(edge).or_insert(middle);
            }
        }
        mesh.middles.resize(mesh.tets.len(), NONE);
        for t in self.curved.iter().cloned().flatten() {
            mesh.middles[t] = quadratic::edges(&mesh.tets[t]).map(|edge| {
                *self.middles.entry(edge).or_insert_with(|| {
                    let straight = || {
                        let [a, b] = edge.map(|v| mesh.points[v as usize]);
                        a + (b - a) * 0.5
                    };
                    let place = match self.diagonals.get(&edge) {
                        Some(Middle::Node(node)) => return *node,
                        Some(Middle::At(place)) => *place,
                        None => straight(),
                    };
                    mesh.points.push(place);
                    mesh.points.len() as u32 - 1
                })
            });
        }
    }

    /// The triangles of a quadrangle with corners, middles of its edges 01, 12, 23, 30, and maybe its centre. On a face of a solid they have the middle of
    /// its diagonal, else they need no other nodes than those of the quadrangle.
    fn triangles(&self, nodes: &[u32], on_solids: &OnSolids) -> Vec<[u32; 3]> {
        let [a, b, c, d, ab, bc, cd, da, ref centre @ ..] = *nodes else { return Vec::new() };
        let ring = [(a, ab), (b, bc), (c, cd), (d, da)];
        // an edge of no length leaves a triangle of six nodes
        if let Some(k) = (0..4).find(|k| ring[*k].0 == ring[(k + 1) % 4].0) {
            let [(p, pq), (q, qr), (r, rp)] = [1, 2, 3].map(|i| ring[(k + i) % 4]);
            return four_triangles([p, q, r, pq, qr, rp]).to_vec();
        }
        let halves = on_solids.halves([a, b, c, d]);
        let start = match halves {
            Some([[start, ..], _]) => start,
            None => a.min(b).min(c).min(d),
        };
        let k = ring.iter().position(|r| r.0 == start).unwrap_or(0);
        let [(p, pq), (q, qr), (r, rs), (s, sp)] = [0, 1, 2, 3].map(|i| ring[(k + i) % 4]);
        let on_face = halves.and_then(|_| self.middles.get(&ascending(p, r)));
        match on_face.or(centre.first()) {
            Some(&middle) => {
                [[p, q, r, pq, qr, middle], [p, r, s, middle, rs, sp]].map(four_triangles).concat()
            }
            None => EIGHT_NODES.map(|t| t.map(|i| nodes[i])).to_vec(),
        }
    }

    fn note(&self, mesh: &mut Mesh) {
        let kinds = [("hexahedron", "hexahedra"), ("wedge", "wedges"), ("pyramid", "pyramids")];
        let counts = kinds.iter().zip(self.counts).filter(|(_, n)| *n > 0);
        let kinds: Vec<String> = counts
            .map(|((one, many), n)| format!("{n} {}", if n == 1 { one } else { many }))
            .collect();
        if !kinds.is_empty() {
            let (kinds, parts) = (kinds.join(", "), self.parts);
            mesh.notes.push(format!("divided into {parts} tetrahedra: {kinds}"));
        }
    }
}

/// The faces of tetrahedra that quadrangles may consist of: only those are kept, because a mesh has many more.
struct OnSolids(HashMap<[u32; 3], bool>);

/// A triangle by its vertices, from whichever side.
fn sorted(mut t: [u32; 3]) -> [u32; 3] {
    t.sort_unstable();
    t
}

/// The triangles on both sides of the diagonal from the first corner.
fn split([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    [[a, b, c], [a, c, d]]
}

impl OnSolids {
    fn new(quadrangles: impl Iterator<Item = [u32; 4]>, tets: &[[u32; 4]]) -> Self {
        let both = |[a, b, c, d]: [u32; 4]| [split([a, b, c, d]), split([b, c, d, a])].concat();
        let mut found: HashMap<[u32; 3], bool> =
            quadrangles.flat_map(both).map(|t| (sorted(t), false)).collect();
        if !found.is_empty() {
            for face in tets.iter().flat_map(|t| tet_faces(*t)) {
                if let Some(is_face) = found.get_mut(&sorted(face)) {
                    *is_face = true;
                }
            }
        }
        Self(found)
    }

    /// Both triangles of a quadrangle on a solid, from an end of the diagonal that its face has.
    fn halves(&self, [a, b, c, d]: [u32; 4]) -> Option<[[u32; 3]; 2]> {
        let is_face = |t: &[u32; 3]| self.0.get(&sorted(*t)).is_some_and(|f| *f);
        [split([a, b, c, d]), split([b, c, d, a])]
            .into_iter()
            .find(|halves| halves.iter().all(is_face))
    }
}
