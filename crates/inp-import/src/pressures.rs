//! Pressures on surfaces and, in two dimensions, outlines.

use crate::deck::{Dimension, Side};
use crate::error::Notes;
use crate::history::History;
use crate::scene::{Model, Regions};
use crate::text::entry;
use standoff_geometry::topology::boundary_edges;
use std::collections::{BTreeMap, BTreeSet, HashSet};

impl Model<'_> {
    /// Pressures on sides of the elements of a body.
    pub(crate) fn pressures(
        &self,
        index: usize,
        regions: &Regions,
        out: &mut String,
        notes: &mut Notes,
    ) {
        let mesh = &self.bodies.list[index].mesh;
        match self.dimension {
            Dimension::Three => {
                let face = |e, side| self.face(e, side);
                self.pressures_on(index, &mesh.surface(), face, regions, out, notes);
            }
            _ => {
                // a scene refuses what has no outline
                let outline = boundary_edges(&mesh.triangles).unwrap_or_default();
                let edges = |e, side| self.edges(e, side);
                self.pressures_on(index, &outline, edges, regions, out, notes);
            }
        }
    }

    /// Pressures on the sides of elements that are of the surface, which consists of triangles or edges.
    fn pressures_on<const N: usize>(
        &self,
        index: usize,
        surface: &[[u32; N]],
        sides: impl Fn(u32, Side) -> Vec<[u32; N]>,
        regions: &Regions,
        out: &mut String,
        notes: &mut Notes,
    ) {
        let body = &self.bodies.list[index];
        let mut groups: BTreeMap<Vec<(u64, u64)>, (History, Vec<Vec<[u32; N]>>)> = BTreeMap::new();
        for (((element, side), _), history) in &self.conditions.pressures {
            if self.bodies.of_element[*element as usize] != Some(index) || history.is_zero() {
                continue;
            }
            let history = if *side == Side::Along { history.negated() } else { history.clone() };
            // points of an element of the body are vertices of it
            let own = |p: u32| self.bodies.of_point[p as usize].map_or(0, |o| o.1);
            let face = sides(*element, *side).into_iter().map(|t| t.map(own)).collect();
            groups.entry(history.key()).or_insert((history, Vec::new())).1.push(face);
        }
        let outer: HashSet<[u32; N]> = surface.iter().map(|t| sorted(*t)).collect();
        for (history, mut faces) in groups.into_values() {
            let count = faces.len();
            faces.retain(|f| f.iter().all(|t| outer.contains(&sorted(*t))));
            if faces.len() < count {
                let text = format!("{}: a pressure on faces inside of it is left out", body.name);
                notes.add(self.conditions.at, text);
            }
            for vertices in patches(surface, &faces) {
                out.push_str("\n[[objects.forces]]\n");
                entry(out, "vertices", &self.selection(index, &vertices, regions));
                entry(out, "pressure", &history.expression(self.time.step));
            }
        }
    }
}

/// Sets of vertices between which there are the triangles of faces and no other ones of the surface, in two dimensions edges. Where a triangle has all its
/// corners on faces and is of none, the faces at its corners have sets of their own.
fn patches<const N: usize>(surface: &[[u32; N]], faces: &[Vec<[u32; N]>]) -> Vec<Vec<u32>> {
    let of = |face: &Vec<[u32; N]>| -> BTreeSet<u32> { face.iter().flatten().copied().collect() };
    let loaded: HashSet<[u32; N]> = faces.iter().flatten().map(|t| sorted(*t)).collect();
    let all: BTreeSet<u32> = faces.iter().flatten().flatten().copied().collect();
    let between = |t: &&[u32; N]| t.iter().all(|v| all.contains(v));
    let others = surface.iter().filter(between).filter(|t| !loaded.contains(&sorted(**t)));
    let mixed: HashSet<u32> = others.flatten().copied().collect();
    let (alone, together): (Vec<BTreeSet<u32>>, Vec<BTreeSet<u32>>) =
        faces.iter().map(of).partition(|f| f.iter().any(|v| mixed.contains(v)));
    let joined: BTreeSet<u32> = together.into_iter().flatten().collect();
    let sets = [joined].into_iter().chain(alone).filter(|s| !s.is_empty());
    sets.map(|s| s.into_iter().collect()).collect()
}

/// A triangle or an edge by its vertices, whatever the first of them is and whichever side it shows.
fn sorted<const N: usize>(mut t: [u32; N]) -> [u32; N] {
    t.sort_unstable();
    t
}
