//! Moves vertices: onto sharp edges and corners, and to where the tetrahedra get better angles.

// long: the moves share the mesh, its stars and the tests of angles

use crate::manifold::boundary;
use crate::surface::{SHARP, Surface};
use crate::tree::{Tree, closest_point};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{audit_intersections, closer_than, edge_triangle_intersects};
use standoff_linalg::Vec3;
use standoff_mesh::tet_faces;
use std::collections::{BTreeSet, HashMap};

/// How a vertex may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freedom {
    /// Anywhere.
    Inside,
    /// Along the smooth part of the surface of this number.
    Patch(u32),
    /// Along sharp edges.
    Edge,
    /// Not at all.
    None,
}

/// Tetrahedra whose vertices are moved.
pub struct Shaper<'a> {
    surface: &'a Surface,
    tree: &'a Tree,
    sharp: &'a Tree,
    /// Edge of the lattice, m.
    a: f64,
    /// Positions, m.
    pub points: Vec<Vec3>,
    /// Positive tetrahedra.
    pub tets: Vec<[u32; 4]>,
    /// How each vertex may move.
    pub freedom: Vec<Freedom>,
    stars: Vec<Vec<u32>>,
    /// Vertices of the boundary by place, as of some time ago; vertices move less than a cell in between.
    cells: Cells,
    /// Number of changes to places and tetrahedra, and at which one each vertex was last part of it.
    time: u64,
    changed: Vec<u64>,
    /// Whether a tetrahedron was not removed.
    alive: Vec<bool>,
}

/// Sines of dihedral angles: below the first a tetrahedron must be improved, above the second a vertex may
/// be moved without looking at its neighbours, above the third it may be moved at all.
const POOR: f64 = 0.342; // 20°
const FAIR: f64 = 0.276; // 16°
const LEAST: f64 = 0.2; // 11.5°
/// Below this on the way, a vertex is not moved further.
const HOPELESS: f64 = 0.02;
/// Sharp edges that the boundary cuts off by less stay as they are, in edges of the lattice.
const CUT: f64 = 0.05;
/// Sharp edges are looked for this far from an edge of the boundary, in edges of the lattice.
const REACH: f64 = 1.25;

impl<'a> Shaper<'a> {
    /// Vertices on the surface belong to the smooth part that they lie on.
    // long: what every vertex may do is found in one pass
    pub fn new(
        surface: &'a Surface,
        tree: &'a Tree,
        sharp: &'a Tree,
        a: f64,
        points: Vec<Vec3>,
        tets: Vec<[u32; 4]>,
        on_surface: &[bool],
    ) -> Self {
        let mut stars = vec![Vec::new(); points.len()];
        for (t, tet) in tets.iter().enumerate() {
            tet.iter().for_each(|v| stars[*v as usize].push(t as u32));
        }
        let mut freedom: Vec<Freedom> = points
            .iter()
            .zip(on_surface)
            .map(|(p, on)| match tree.closest(p, f64::INFINITY) {
                Some(hit) if *on => Freedom::Patch(surface.patch[hit.triangle as usize]),
                _ => Freedom::Inside,
            })
            .collect();
        // vertices that lie on sharp edges already
        for (v, p) in points.iter().enumerate().filter(|(v, _)| on_surface[*v]) {
            if sharp.closest(p, (1e-6 * a).powi(2)).is_some() {
                freedom[v] = Freedom::Edge;
            }
        }
        // what came to the boundary when tetrahedra were taken away stays where it is
        for v in boundary(&tets).iter().flat_map(|(face, _)| face) {
            let freedom = &mut freedom[*v as usize];
            if *freedom == Freedom::Inside {
                *freedom = Freedom::None;
            }
        }
        let (changed, alive) = (vec![0; points.len()], vec![true; tets.len()]);
        let cells = Cells::new(a, std::iter::empty());
        Self {
            surface,
            tree,
            sharp,
            a,
            points,
            tets,
            freedom,
            stars,
            cells,
            time: 0,
            changed,
            alive,
        }
    }

    /// Smallest sine of the dihedral angles around a vertex; negative where a tetrahedron is inverted.
    fn star_quality(&self, v: u32) -> f64 {
        let sine = |t: &u32| self.sine(*t);
        self.stars[v as usize].iter().map(sine).fold(f64::INFINITY, f64::min)
    }

    fn sine(&self, t: u32) -> f64 {
        smallest_sine(&self.tets[t as usize].map(|v| self.points[v as usize]))
    }

    /// Where a vertex comes to when it is to go to `target`.
    fn constrained(&self, v: u32, target: Vec3) -> Option<Vec3> {
        match self.freedom[v as usize] {
            Freedom::Inside => Some(target),
            Freedom::None => None,
            Freedom::Edge => self.sharp.closest(&target, f64::INFINITY).map(|h| h.point),
            Freedom::Patch(patch) => {
                let hit = self.tree.closest(&target, f64::INFINITY)?;
                (self.surface.patch[hit.triangle as usize] == patch).then_some(hit.point)
            }
        }
    }

    /// Looks around a vertex for a place with better angles; says whether there is one.
    fn improve(&mut self, v: u32) -> bool {
        let mut best = self.star_quality(v);
        let before = best;
        let mut reach = 0.2 * self.a;
        while reach > 0.01 * self.a {
            let from = self.points[v as usize];
            let mut place = None;
            for direction in DIRECTIONS {
                let target = from + Vec3::from(direction).normalize() * reach;
                let Some(target) = self.constrained(v, target) else { continue };
                self.points[v as usize] = target;
                let quality = self.star_quality(v);
                if quality > best + 1e-4 {
                    best = quality;
                    place = Some(target);
                }
            }
            self.points[v as usize] = place.unwrap_or(from);
            if place.is_none() {
                reach *= 0.5;
            }
            if best > POOR + 0.05 {
                break;
            }
        }
        best > before
    }

    /// Improves the vertices of poor tetrahedra.
    pub fn smooth(&mut self) {
        let before = self.points.clone();
        self.sweep(false);
        // where the boundary has come to meet itself, again and with a look at every step
        let (points, tets) = self.result();
        if intersects_itself(points, &tets) {
            self.points = before;
            self.sweep(true);
        }
    }

    fn sweep(&mut self, watch: bool) {
        const SWEEPS: usize = 6;
        self.sort_into_cells();
        let mut poor: BTreeSet<u32> = (0..self.tets.len() as u32)
            .filter(|t| self.alive[*t as usize] && self.sine(*t) < POOR)
            .flat_map(|t| self.tets[t as usize])
            .collect();
        for _ in 0..SWEEPS {
            let mut next = BTreeSet::new();
            for v in poor {
                let from = self.points[v as usize];
                if self.star_quality(v) < POOR && self.improve(v) {
                    if watch && self.freedom[v as usize] != Freedom::Inside && self.folds(v, &[]) {
                        self.points[v as usize] = from;
                        continue;
                    }
                    next.extend(self.neighbours(v));
                    next.insert(v);
                }
            }
            poor = next;
        }
    }

    fn neighbours(&self, v: u32) -> BTreeSet<u32> {
        let star = self.stars[v as usize].iter().flat_map(|t| self.tets[*t as usize]);
        star.filter(|w| *w != v).collect()
    }

    /// Puts vertices onto corners and sharp edges of the surface wherever the angles allow it.
    pub fn snap(&mut self) {
        self.snap_corners();
        const ROUNDS: usize = 4;
        // tried in vain, with the time at which that was
        let mut tried = HashMap::new();
        for _ in 0..ROUNDS {
            if !self.snap_edges(&mut tried) {
                break;
            }
        }
    }

    /// Puts the best vertex near every corner onto it.
    fn snap_corners(&mut self) {
        const TRIED: usize = 4;
        self.sort_into_cells();
        let faces = self.boundary().into_iter();
        let outside = Tree::new(faces.map(|(f, _)| f.map(|v| self.points[v as usize])).collect());
        for corner in self.surface.corners.clone() {
            let target = self.surface.points[corner as usize];
            let kept = (CUT * self.a).powi(2);
            if outside.closest(&target, f64::INFINITY).is_none_or(|hit| hit.d2 < kept) {
                continue;
            }
            let mut near: Vec<(f64, u32)> = self
                .cells
                .around(&target)
                .filter(|v| matches!(self.freedom[*v as usize], Freedom::Patch(_)))
                .map(|v| ((self.points[v as usize] - target).norm(), v))
                .filter(|(distance, _)| *distance < 1.5 * self.a)
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (_, v) in near.into_iter().take(TRIED) {
                if self.try_move(v, target, Freedom::None) {
                    break;
                }
            }
        }
    }

    /// Puts an end of every edge of the boundary that crosses a sharp edge onto it, or divides the edge
    /// there; says whether anything was changed.
    // long: finds, orders and takes the crossings, with the state that they share
    fn snap_edges(&mut self, tried: &mut HashMap<(u32, u32), u64>) -> bool {
        self.sort_into_cells();
        let mut crossing: Vec<(f64, u32, u32)> = Vec::new();
        for (u, v) in self.boundary_edges() {
            if self.crosses(u, v) && self.cuts_off(u, v).is_some() {
                crossing.push((self.to_sharp(u), u, v));
                crossing.push((self.to_sharp(v), v, u));
            }
        }
        crossing.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let unchanged = |shaper: &Self, tried: &HashMap<(u32, u32), u64>, u: u32, v: u32| {
            let last = shaper.changed[u as usize].max(shaper.changed[v as usize]);
            tried.get(&(u, v)).is_some_and(|time| *time >= last)
        };
        let mut any = false;
        for &(distance, moved, other) in &crossing {
            if distance > REACH * self.a
                || !self.crosses(moved, other)
                || unchanged(self, tried, moved, other)
            {
                continue;
            }
            let point = self.points[moved as usize];
            if let Some(hit) = self.sharp.closest(&point, f64::INFINITY) {
                any |= self.try_move(moved, hit.point, Freedom::Edge);
            }
        }
        for &(_, u, v) in &crossing {
            if u < v
                && self.crosses(u, v)
                && !unchanged(self, tried, u, v)
                && let Some(target) = self.cuts_off(u, v)
            {
                any |= self.try_split(u, v, target, Freedom::Edge);
            }
        }
        for (u, v) in self.blunt_edges() {
            if !unchanged(self, tried, u, v)
                && let Some(target) = self.cuts_off(u, v)
            {
                let done = self.try_split(u, v, target, Freedom::Edge);
                any |= done;
                if !done {
                    tried.insert((u, v), self.time);
                }
            }
        }
        for &(_, u, v) in &crossing {
            tried.insert((u, v), self.time);
        }
        any
    }

    /// Edges at which the boundary turns sharply although they are not on a sharp edge of the surface.
    fn blunt_edges(&self) -> Vec<(u32, u32)> {
        let mut normals: Vec<((u32, u32), Vec3)> = Vec::new();
        for (face, _) in self.boundary() {
            let x = face.map(|v| self.points[v as usize]);
            let normal = (x[1] - x[0]).cross(&(x[2] - x[0])).normalize();
            for k in 0..3 {
                let (u, v) = (face[k], face[(k + 1) % 3]);
                normals.push(((u.min(v), u.max(v)), normal));
            }
        }
        normals.sort_by_key(|(edge, _)| *edge);
        let limit = SHARP.to_radians().cos();
        let pairs = normals.chunk_by(|a, b| a.0 == b.0);
        pairs.filter(|p| p.len() == 2 && p[0].1.dot(&p[1].1) < limit).map(|p| p[0].0).collect()
    }

    /// The place of the sharp edges nearest to an edge, if that cuts it off by more than a little.
    fn cuts_off(&self, u: u32, v: u32) -> Option<Vec3> {
        let (a, b) = (self.points[u as usize], self.points[v as usize]);
        let mut on_edge = (a + b) / 2.0;
        let mut target = on_edge;
        for _ in 0..8 {
            target = self.sharp.closest(&on_edge, f64::INFINITY)?.point;
            on_edge = closest_point(&target, &[a, b, b]);
        }
        let distance = (target - on_edge).norm();
        (distance > CUT * self.a && distance < REACH * self.a).then_some(target)
    }

    fn sort_into_cells(&mut self) {
        let on: BTreeSet<u32> = self.boundary().iter().flat_map(|(face, _)| *face).collect();
        self.cells = Cells::new(1.5 * self.a, on.iter().map(|v| (*v, self.points[*v as usize])));
    }

    /// Faces of the boundary around a vertex.
    fn outside_faces(&self, v: u32) -> Vec<[u32; 3]> {
        let tets = self.stars[v as usize].iter().map(|t| self.tets[*t as usize]);
        let mut faces: Vec<([u32; 3], [u32; 3])> = tets
            .flat_map(tet_faces)
            .filter(|f| f.contains(&v))
            .map(|f| {
                let mut key = f;
                key.sort_unstable();
                (key, f)
            })
            .collect();
        faces.sort_unstable();
        let single = faces.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 1);
        single.map(|group| group[0].1).collect()
    }

    /// Whether the boundary around a vertex and its neighbours meets itself somewhere.
    fn folds(&self, v: u32, ring: &[u32]) -> bool {
        let moved: BTreeSet<[u32; 3]> =
            std::iter::once(&v).chain(ring).flat_map(|w| self.outside_faces(*w)).collect();
        let (low, high) = moved
            .iter()
            .flatten()
            .map(|w| self.points[*w as usize])
            .fold((self.points[v as usize], self.points[v as usize]), |(lo, hi), p| {
                (lo.inf(&p), hi.sup(&p))
            });
        let at = |f: &[u32; 3]| f.map(|w| self.points[w as usize]);
        let near: BTreeSet<u32> = self.cells.within(&low, &high).collect();
        let others: BTreeSet<[u32; 3]> = near.iter().flat_map(|w| self.outside_faces(*w)).collect();
        let bounds = |t: &[Vec3; 3]| (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
        let others: Vec<([u32; 3], [Vec3; 3], (Vec3, Vec3))> = others
            .iter()
            .map(|f| (*f, at(f), bounds(&at(f))))
            .filter(|(_, _, (lo, hi))| {
                lo.iter().zip(&high).all(|(l, h)| l <= h)
                    && hi.iter().zip(&low).all(|(h, l)| h >= l)
            })
            .collect();
        moved.iter().any(|f| {
            let x = at(f);
            let (lo, hi) = bounds(&x);
            others.iter().any(|(g, y, (low, high))| {
                let apart = (0..3).any(|k| lo[k] > high[k] || low[k] > hi[k]);
                !apart && !f.iter().any(|w| g.contains(w)) && triangles_meet(&x, y)
                    || !apart && shares_one(f, g) && edge_through(f, &x, g, y)
            })
        })
    }

    /// Faces of the boundary with their tetrahedra.
    fn boundary(&self) -> Vec<([u32; 3], u32)> {
        boundary(&self.result().1)
    }

    /// Positions, and the tetrahedra that were not removed.
    pub fn result(&self) -> (&[Vec3], Vec<[u32; 4]>) {
        let tets = self.tets.iter().zip(&self.alive).filter(|(_, alive)| **alive);
        (&self.points, tets.map(|(tet, _)| *tet).collect())
    }

    /// Removes flat tetrahedra around a vertex that lie on the boundary with two faces: without them the
    /// boundary runs over their other two. Returns them.
    fn remove_flat(&mut self, v: u32) -> Vec<u32> {
        let mut removed = Vec::new();
        for t in self.stars[v as usize].clone() {
            let tet = self.tets[t as usize];
            if self.sine(t) >= LEAST {
                continue;
            }
            let inner = |face: &[u32; 3]| {
                let star = self.stars[face[0] as usize].iter();
                star.filter(|s| face.iter().all(|w| self.tets[**s as usize].contains(w))).count()
                    > 1
            };
            let outside: Vec<[u32; 3]> = tet_faces(tet).into_iter().filter(|f| !inner(f)).collect();
            let [f, g] = outside[..] else { continue };
            // the edge of the other two faces comes to the boundary: it must not be there already
            let lone = |f: &[u32; 3], g: &[u32; 3]| f.iter().copied().find(|w| !g.contains(w));
            let (Some(c), Some(d)) = (lone(&f, &g), lone(&g, &f)) else { continue };
            if self.outside_faces(c).iter().any(|face| face.contains(&d)) {
                continue;
            }
            self.alive[t as usize] = false;
            for w in tet {
                self.stars[w as usize].retain(|s| *s != t);
            }
            removed.push(t);
        }
        removed
    }

    fn put_back(&mut self, removed: Vec<u32>) {
        for t in removed {
            self.alive[t as usize] = true;
            for w in self.tets[t as usize] {
                self.stars[w as usize].push(t);
            }
        }
    }

    /// Edges of the boundary, each once, with ascending ends and in their order.
    fn boundary_edges(&self) -> Vec<(u32, u32)> {
        let faces = self.boundary();
        let edges = faces.iter().flat_map(|(f, _)| (0..3).map(|k| (f[k], f[(k + 1) % 3])));
        let mut edges: Vec<(u32, u32)> = edges.filter(|(u, v)| u < v).collect();
        edges.sort_unstable();
        edges
    }

    /// Whether the ends lie on different smooth parts of the surface.
    fn crosses(&self, u: u32, v: u32) -> bool {
        match [u, v].map(|w| self.freedom[w as usize]) {
            [Freedom::Patch(a), Freedom::Patch(b)] => a != b,
            _ => false,
        }
    }

    fn to_sharp(&self, v: u32) -> f64 {
        let hit = self.sharp.closest(&self.points[v as usize], f64::INFINITY);
        hit.map_or(f64::INFINITY, |h| h.d2.sqrt())
    }

    /// Divides edges of the boundary whose middle is far from the surface, at its nearest place.
    pub fn refine(&mut self) {
        const ROUNDS: usize = 4;
        let far = 0.11 * self.a;
        let mut tried: HashMap<(u32, u32), u64> = HashMap::new();
        for _ in 0..ROUNDS {
            self.sort_into_cells();
            let mut bad: Vec<(f64, u32, u32, Vec3)> = Vec::new();
            for (u, v) in self.boundary_edges() {
                let middle = (self.points[u as usize] + self.points[v as usize]) / 2.0;
                let Some(hit) = self.tree.closest(&middle, f64::INFINITY) else { continue };
                let last = self.changed[u as usize].max(self.changed[v as usize]);
                let in_vain = tried.get(&(u, v)).is_some_and(|time| *time >= last);
                if hit.d2 > far * far && !in_vain && !self.crosses(u, v) {
                    bad.push((hit.d2, u, v, hit.point));
                }
            }
            bad.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            let mut any = false;
            for (_, u, v, target) in bad {
                // an earlier one may have moved the ends
                if let Some(hit) = self.tree.closest(&target, f64::INFINITY) {
                    let patch = self.surface.patch[hit.triangle as usize];
                    let done = self.try_split(u, v, target, Freedom::Patch(patch));
                    any |= done;
                    if !done {
                        tried.insert((u, v), self.time);
                    }
                }
            }
            if !any {
                break;
            }
        }
    }

    /// Moves a vertex and its neighbours after it, if the angles stay good; says whether it did.
    fn try_move(&mut self, v: u32, target: Vec3, freedom: Freedom) -> bool {
        let ring: Vec<u32> = self.neighbours(v).into_iter().collect();
        let before = self.around(v, &ring);
        let saved = self.positions(v, &ring);
        let freed = std::mem::replace(&mut self.freedom[v as usize], freedom);
        // in steps, so that the neighbours can follow
        let from = self.points[v as usize];
        let steps = ((target - from).norm() / (0.25 * self.a)).ceil().max(1.0);
        let mut hopeless = false;
        for k in 1..steps as usize {
            self.points[v as usize] = from + (target - from) * (k as f64 / steps);
            self.settle(v, &ring, 1);
            hopeless = self.star_quality(v) < HOPELESS;
            if hopeless {
                break;
            }
        }
        self.points[v as usize] = target;
        let mut removed = Vec::new();
        if !hopeless {
            removed = self.remove_flat(v);
            self.settle(v, &ring, 3);
        }
        if self.around(v, &ring) >= LEAST.min(before) && !self.folds(v, &ring) {
            self.note_change(v, &ring);
            return true;
        }
        self.restore(&saved);
        self.put_back(removed);
        self.freedom[v as usize] = freed;
        false
    }

    /// Divides an edge and all tetrahedra around it at `target`, if the angles stay good; says whether it
    /// did.
    // long: the division is tried, judged and taken back in one place
    fn try_split(&mut self, u: u32, v: u32, target: Vec3, freedom: Freedom) -> bool {
        let around: Vec<u32> = self.stars[u as usize]
            .iter()
            .copied()
            .filter(|t| self.tets[*t as usize].contains(&v))
            .collect();
        if around.is_empty() {
            return false;
        }
        let old: Vec<[u32; 4]> = around.iter().map(|t| self.tets[*t as usize]).collect();
        let count = self.tets.len();
        let stars: Vec<(u32, Vec<u32>)> = old
            .iter()
            .flatten()
            .copied()
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .map(|w| (w, self.stars[w as usize].clone()))
            .collect();
        let qualities = stars.iter().map(|(w, _)| self.star_quality(*w));
        let before = qualities.fold(f64::INFINITY, f64::min);
        let middle = self.points.len() as u32;
        self.points.push(target);
        self.freedom.push(freedom);
        self.stars.push(Vec::new());
        self.changed.push(0);
        let replaced = |tet: &[u32; 4], from: u32| tet.map(|w| if w == from { middle } else { w });
        for (&t, tet) in around.iter().zip(&old) {
            let new = self.tets.len() as u32;
            self.tets[t as usize] = replaced(tet, v);
            self.tets.push(replaced(tet, u));
            self.alive.push(true);
            self.stars[v as usize].retain(|s| *s != t);
            self.stars[v as usize].push(new);
            self.stars[middle as usize].extend([t, new]);
            for w in tet.iter().filter(|w| **w != u && **w != v) {
                self.stars[*w as usize].push(new);
            }
        }
        let ring: Vec<u32> = self.neighbours(middle).into_iter().collect();
        let saved = self.positions(middle, &ring);
        let removed = self.remove_flat(middle);
        self.settle(middle, &ring, 4);
        if self.around(middle, &ring) >= LEAST.min(before) && !self.folds(middle, &ring) {
            self.note_change(middle, &ring);
            return true;
        }
        self.restore(&saved);
        self.put_back(removed);
        self.points.pop();
        self.freedom.pop();
        self.stars.pop();
        self.changed.pop();
        self.tets.truncate(count);
        self.alive.truncate(count);
        for (t, tet) in around.iter().zip(&old) {
            self.tets[*t as usize] = *tet;
        }
        for (w, star) in stars {
            self.stars[w as usize] = star;
        }
        false
    }

    fn note_change(&mut self, v: u32, ring: &[u32]) {
        self.time += 1;
        for w in std::iter::once(&v).chain(ring) {
            self.changed[*w as usize] = self.time;
        }
    }

    /// The worst quality around a vertex and its neighbours.
    fn around(&self, v: u32, ring: &[u32]) -> f64 {
        let qualities = ring.iter().map(|w| self.star_quality(*w));
        qualities.fold(self.star_quality(v), f64::min)
    }

    fn positions(&self, v: u32, ring: &[u32]) -> Vec<(u32, Vec3)> {
        let all = std::iter::once(&v).chain(ring);
        all.map(|w| (*w, self.points[*w as usize])).collect()
    }

    fn restore(&mut self, saved: &[(u32, Vec3)]) {
        for (w, position) in saved {
            self.points[*w as usize] = *position;
        }
    }

    /// Improves the neighbours of a vertex that was moved, and itself along its sharp edge or the surface,
    /// until it is fair.
    fn settle(&mut self, v: u32, ring: &[u32], sweeps: usize) {
        for _ in 0..sweeps {
            if self.star_quality(v) >= FAIR {
                return;
            }
            for &w in ring {
                if self.star_quality(w) < FAIR {
                    self.improve(w);
                }
            }
            self.improve(v);
        }
    }
}

/// Whether the boundary of tetrahedra meets itself, or comes within a distance of `least` (m) of it: what is closer than the coordinates
/// resolve is no start for a simulation.
pub fn touches_itself(points: &[Vec3], tets: &[[u32; 4]], least: f64) -> bool {
    intersects_itself(points, tets)
        || !closer_than(&surface(points, tets), points, least).is_empty()
}

/// The boundary of tetrahedra.
fn surface(points: &[Vec3], tets: &[[u32; 4]]) -> CollisionMesh {
    let faces = boundary(tets).into_iter().map(|(face, _)| face).collect();
    CollisionMesh::new(points.to_vec(), faces, &[], &[])
}

/// Whether the boundary of tetrahedra meets itself.
pub fn intersects_itself(points: &[Vec3], tets: &[[u32; 4]]) -> bool {
    !audit_intersections(&surface(points, tets), points).is_empty()
}

/// Directions of the search: along the axes and the diagonals of a cube.
const DIRECTIONS: [[f64; 3]; 14] = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, 0.0, -1.0],
    [1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [1.0, -1.0, 1.0],
    [1.0, -1.0, -1.0],
    [-1.0, 1.0, 1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [-1.0, -1.0, -1.0],
];

/// Smallest sine of the dihedral angles of a tetrahedron, with the sign of its volume: with A and B the
/// areas beside an edge of length l, sin θ = 3 V l / (2 A B).
pub fn smallest_sine(x: &[Vec3; 4]) -> f64 {
    let cross = |a: usize, b: usize, c: usize| (x[b] - x[a]).cross(&(x[c] - x[a]));
    let normals = [cross(1, 2, 3), cross(0, 3, 2), cross(0, 1, 3), cross(0, 2, 1)];
    let areas = normals.map(|n| n.norm());
    let volume = (x[1] - x[0]).dot(&normals[0]);
    let mut least = f64::INFINITY;
    for i in 0..4 {
        for j in 0..i {
            // the edge between the other two vertices lies between the faces opposite to i and j
            let others: [usize; 2] = OTHERS[i][j];
            let length = (x[others[0]] - x[others[1]]).norm();
            least = least.min(volume * length / (areas[i] * areas[j]));
        }
    }
    if least.is_nan() { f64::NEG_INFINITY } else { least }
}

/// The two vertices of a tetrahedron that are neither i nor j.
const OTHERS: [[[usize; 2]; 4]; 4] = [
    [[0, 0], [2, 3], [1, 3], [1, 2]],
    [[2, 3], [0, 0], [0, 3], [0, 2]],
    [[1, 3], [0, 3], [0, 0], [0, 1]],
    [[1, 2], [0, 2], [0, 1], [0, 0]],
];

/// Whether an edge of one triangle meets the other.
fn triangles_meet(x: &[Vec3; 3], y: &[Vec3; 3]) -> bool {
    let through = |x: &[Vec3; 3], y: &[Vec3; 3]| {
        (0..3).any(|k| edge_triangle_intersects(&x[k], &x[(k + 1) % 3], &y[0], &y[1], &y[2]))
    };
    through(x, y) || through(y, x)
}

/// Whether two triangles have exactly one common vertex.
fn shares_one(f: &[u32; 3], g: &[u32; 3]) -> bool {
    f.iter().filter(|w| g.contains(w)).count() == 1
}

/// Of triangles with one common vertex, whether the edge opposite to it goes through the other triangle.
fn edge_through(f: &[u32; 3], x: &[Vec3; 3], g: &[u32; 3], y: &[Vec3; 3]) -> bool {
    let opposite = |f: &[u32; 3], x: &[Vec3; 3], g: &[u32; 3], y: &[Vec3; 3]| {
        let k = (0..3).find(|k| g.contains(&f[*k])).unwrap_or(0);
        edge_triangle_intersects(&x[(k + 1) % 3], &x[(k + 2) % 3], &y[0], &y[1], &y[2])
    };
    opposite(f, x, g, y) || opposite(g, y, f, x)
}

/// Vertices by cubes of space.
struct Cells {
    a: f64,
    sorted: Vec<([i64; 3], u32)>,
}

impl Cells {
    fn new(a: f64, vertices: impl Iterator<Item = (u32, Vec3)>) -> Self {
        let mut sorted: Vec<_> = vertices.map(|(v, p)| (cell(&p, a), v)).collect();
        sorted.sort_unstable();
        Self { a, sorted }
    }

    /// Vertices in the cube of a point and in those around it.
    fn around(&self, p: &Vec3) -> impl Iterator<Item = u32> {
        self.within(p, p)
    }

    /// Vertices in the cubes that a box touches and in those around them.
    fn within(&self, low: &Vec3, high: &Vec3) -> impl Iterator<Item = u32> {
        let (low, high) = (cell(low, self.a), cell(high, self.a));
        let along = move |axis: usize| low[axis] - 1..=high[axis] + 1;
        let cubes = along(0)
            .flat_map(move |i| along(1).flat_map(move |j| along(2).map(move |k| [i, j, k])));
        cubes.flat_map(move |cube| {
            let first = self.sorted.partition_point(|(c, _)| *c < cube);
            self.sorted[first..].iter().take_while(move |(c, _)| *c == cube).map(|(_, v)| *v)
        })
    }
}

fn cell(p: &Vec3, a: f64) -> [i64; 3] {
    [p.x, p.y, p.z].map(|c| (c / a).floor() as i64)
}
