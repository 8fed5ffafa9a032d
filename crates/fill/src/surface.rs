//! The surface to be filled: closed, consistently turned, with its sharp edges.

use crate::error::{At, FillError, Hole};
use standoff_linalg::Vec3;
use standoff_mesh::{Mesh, Severity, first_within};
use std::collections::BTreeMap;

/// Faces that turn by more than this angle make a sharp edge, degrees.
pub const SHARP: f64 = 40.0;

/// A chain of sharp edges that turns by more than this has a corner there, degrees.
const CORNER: f64 = 45.0;

/// Points closer than this share of the size of the surface are one.
const SAME_PLACE: f64 = 1e-9;

/// A closed surface.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    /// Positions, m.
    pub points: Vec<Vec3>,
    /// Triangles; around every edge as many run one way as the other.
    pub triangles: Vec<[u32; 3]>,
    /// Triangle of the mesh that each one was.
    pub origin: Vec<u32>,
    /// Number of the smooth part that a triangle belongs to: parts meet at sharp edges only.
    pub patch: Vec<u32>,
    /// Sharp edges.
    pub sharp: Vec<[u32; 2]>,
    /// Vertices where sharp edges meet, end or turn.
    pub corners: Vec<u32>,
    /// Number of parts that share no edge.
    pub components: usize,
    /// What was changed, one sentence each.
    pub notes: Vec<String>,
}

/// An edge with the triangles around it, and whether each runs from the smaller to the larger vertex.
type Edges = BTreeMap<[u32; 2], Vec<(u32, bool)>>;

impl Surface {
    /// The surface of a mesh: its triangles, or the boundary of its tetrahedra.
    ///
    /// # Errors
    /// It is not closed, or does not tell inside from outside.
    pub fn new(mesh: &Mesh) -> Result<Self, FillError> {
        let mut welded =
            Mesh { points: mesh.points.clone(), triangles: mesh.surface(), ..Mesh::default() };
        let defects = welded.check();
        if let Some(defect) = defects.into_iter().find(|d| d.severity() == Severity::Error) {
            return Err(FillError::Defective(defect));
        }
        let before = welded.points.len();
        // rounding of a program that exports surfaces opens no holes
        let size = welded.bounding_box().map_or(0.0, |(low, high)| (high - low).norm());
        let first = first_within(&welded.points, SAME_PLACE * size, None);
        let joined = before - welded.join(&first).len();
        let mut surface = Self::default();
        for (k, t) in welded.triangles.iter().enumerate() {
            if t[0] != t[1] && t[1] != t[2] && t[2] != t[0] {
                surface.triangles.push(*t);
                surface.origin.push(k as u32);
            }
        }
        if surface.triangles.is_empty() {
            return Err(FillError::NoSurface);
        }
        let mut used =
            Mesh { triangles: surface.triangles, points: welded.points, ..Mesh::default() };
        let unused = used.points.len() - used.compact().len();
        surface.triangles = used.triangles;
        surface.points = used.points;
        if joined > unused && !mesh.triangles.is_empty() {
            surface.notes.push(format!("{joined} points at the same places were joined"));
        }
        let edges = edges(&surface.triangles);
        surface.require_closed(&edges)?;
        surface.orient(&edges)?;
        surface.find_sharp_edges(&edges);
        Ok(surface)
    }

    /// Corners of every triangle, m.
    pub fn corners_of_triangles(&self) -> Vec<[Vec3; 3]> {
        self.triangles.iter().map(|t| t.map(|v| self.points[v as usize])).collect()
    }

    /// Corners (smallest, largest) of the bounding box, m.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let first = self.points[0];
        self.points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p)))
    }

    /// Enclosed volume, m³, with that of cavities taken off.
    pub fn volume(&self) -> f64 {
        let middle = self.points[0];
        let six = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.points[v as usize] - middle);
            a.cross(&b).dot(&c)
        };
        self.triangles.iter().map(six).sum::<f64>() / 6.0
    }

    /// Refuses borders, and edges whose triangles cannot be paired.
    fn require_closed(&self, edges: &Edges) -> Result<(), FillError> {
        let open: Vec<[u32; 2]> =
            edges.iter().filter(|(_, t)| t.len() == 1).map(|(e, _)| *e).collect();
        if !open.is_empty() {
            return Err(FillError::NotClosed(self.holes(&open)));
        }
        let unbalanced = |t: &[(u32, bool)]| {
            t.len() > 2 && 2 * t.iter().filter(|(_, forward)| *forward).count() != t.len()
        };
        let mut bad = edges.iter().filter(|(_, t)| unbalanced(t)).map(|(e, _)| e);
        match bad.next() {
            None => Ok(()),
            Some(first) => {
                Err(FillError::NotManifold { at: self.middle(first), edges: 1 + bad.count() })
            }
        }
    }

    fn middle(&self, edge: &[u32; 2]) -> At {
        let [a, b] = edge.map(|v| self.points[v as usize]);
        At((a + b) / 2.0)
    }

    /// Border edges in groups that hang together, the largest first.
    fn holes(&self, open: &[[u32; 2]]) -> Vec<Hole> {
        let mut parts = Parts::new(self.points.len());
        for [a, b] in open {
            parts.join(*a, *b);
        }
        let mut holes: BTreeMap<u32, Hole> = BTreeMap::new();
        for edge in open {
            let none = Hole { edges: 0, length: 0.0, centre: Vec3::zeros() };
            let hole = holes.entry(parts.find(edge[0])).or_insert(none);
            let [a, b] = edge.map(|v| self.points[v as usize]);
            hole.edges += 1;
            hole.length += (b - a).norm();
            hole.centre += (a + b) / 2.0;
        }
        let mut holes: Vec<Hole> = holes.into_values().collect();
        for hole in &mut holes {
            hole.centre /= hole.edges as f64;
        }
        holes.sort_by(|a, b| b.edges.cmp(&a.edges).then(b.length.total_cmp(&a.length)));
        holes
    }

    /// Turns the triangles of every part the same way; a part where any had to be turned encloses a
    /// positive volume afterwards.
    // long: visits the triangles of a part, then finds the sign of its volume
    fn orient(&mut self, edges: &Edges) -> Result<(), FillError> {
        let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); self.triangles.len()];
        for around in edges.values() {
            if let [(a, forward), (b, other)] = around[..] {
                // two that run the same way along their edge disagree
                neighbours[a as usize].push((b, forward == other));
                neighbours[b as usize].push((a, forward == other));
            }
        }
        let mut turned: Vec<Option<bool>> = vec![None; self.triangles.len()];
        let mut count = 0;
        for seed in 0..self.triangles.len() {
            if turned[seed].is_some() {
                continue;
            }
            self.components += 1;
            turned[seed] = Some(false);
            let mut part = vec![seed as u32];
            let mut next = 0;
            while next < part.len() {
                let t = part[next] as usize;
                next += 1;
                for &(other, disagree) in &neighbours[t] {
                    let wanted = turned[t].unwrap_or(false) != disagree;
                    match turned[other as usize] {
                        None => {
                            turned[other as usize] = Some(wanted);
                            part.push(other);
                        }
                        Some(is) if is == wanted => {}
                        Some(_) => {
                            let [a, b, _] = self.triangles[other as usize];
                            return Err(FillError::NotOrientable { at: self.middle(&[a, b]) });
                        }
                    }
                }
            }
            let wrong = part.iter().filter(|t| turned[**t as usize] == Some(true)).count();
            if wrong == 0 {
                continue;
            }
            let volume: f64 = part
                .iter()
                .map(|&t| {
                    let [a, b, c] = self.triangles[t as usize].map(|v| self.points[v as usize]);
                    let six = (a - self.points[0]).cross(&(b - self.points[0]));
                    let sign = if turned[t as usize] == Some(true) { -1.0 } else { 1.0 };
                    sign * six.dot(&(c - self.points[0]))
                })
                .sum();
            for &t in &part {
                if (turned[t as usize] == Some(true)) != (volume < 0.0) {
                    self.triangles[t as usize].swap(1, 2);
                    count += 1;
                }
            }
        }
        if count > 0 {
            self.notes.push(format!("{count} triangles were turned around, to face outwards"));
        }
        Ok(())
    }

    /// Finds sharp edges, corners and the smooth parts between them.
    // long: edges, then corners, then smooth parts, each from the one before
    fn find_sharp_edges(&mut self, edges: &Edges) {
        let normals: Vec<Vec3> = self
            .corners_of_triangles()
            .iter()
            .map(|[a, b, c]| (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default())
            .collect();
        let limit = SHARP.to_radians().cos();
        let mut parts = Parts::new(self.triangles.len());
        for (edge, around) in edges {
            let smooth = match around[..] {
                // a triangle without area has no normal and says nothing
                [(a, _), (b, _)] => {
                    let (n, m) = (normals[a as usize], normals[b as usize]);
                    n == Vec3::zeros() || m == Vec3::zeros() || n.dot(&m) >= limit
                }
                _ => false,
            };
            if smooth {
                parts.join(around[0].0, around[1].0);
            } else {
                self.sharp.push(*edge);
            }
        }
        self.patch = (0..self.triangles.len() as u32).map(|t| parts.find(t)).collect();
        let mut at: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &[a, b] in &self.sharp {
            at.entry(a).or_default().push(b);
            at.entry(b).or_default().push(a);
        }
        let straight = CORNER.to_radians().cos();
        // a vertex around which normals differ this much is a tip, such as that of a cone
        let tip = (2.0 * SHARP).to_radians().cos();
        let mut around: Vec<Vec<Vec3>> = vec![Vec::new(); self.points.len()];
        for (t, n) in self.triangles.iter().zip(&normals) {
            t.iter().for_each(|v| around[*v as usize].push(*n));
        }
        for (v, normals) in around.iter().enumerate() {
            let mut pairs = normals
                .iter()
                .enumerate()
                .flat_map(|(k, n)| normals[..k].iter().map(move |m| n.dot(m)));
            if !at.contains_key(&(v as u32)) && pairs.any(|cosine| cosine < tip) {
                self.corners.push(v as u32);
            }
        }
        for (v, others) in at {
            let to = |o: u32| (self.points[o as usize] - self.points[v as usize]).normalize();
            let passes = match others[..] {
                [a, b] => -to(a).dot(&to(b)) >= straight,
                _ => false,
            };
            if !passes {
                self.corners.push(v);
            }
        }
    }
}

fn edges(triangles: &[[u32; 3]]) -> Edges {
    let mut edges = Edges::new();
    for (k, t) in triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (t[i], t[(i + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default().push((k as u32, a < b));
        }
    }
    edges
}

/// Sets that are joined step by step; each goes by its smallest member.
#[derive(Debug)]
pub struct Parts(Vec<u32>);

impl Parts {
    /// So many sets of one member.
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// The smallest member of the set of `v`.
    pub fn find(&mut self, v: u32) -> u32 {
        let mut root = v;
        while self.0[root as usize] != root {
            root = self.0[root as usize];
        }
        let mut v = v;
        while self.0[v as usize] != root {
            v = std::mem::replace(&mut self.0[v as usize], root);
        }
        root
    }

    /// Joins two sets.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
