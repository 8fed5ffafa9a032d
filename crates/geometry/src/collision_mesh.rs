//! What can collide: the surface primitives of all bodies and which of them may meet.

use crate::PairKind;
use crate::topology::{Adjacency, ascending};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;
use std::ops::Range;

/// Surface primitives of a scene in one numbering, constant during a simulation.
///
/// Vertices are those of the whole scene (`#V`, interior ones included); contact happens between
/// the primitives listed here only.
#[derive(Debug, Clone, Default)]
pub struct CollisionMesh {
    /// Rest positions, m (`#V`); the edge–edge mollifier threshold and area weights come from these.
    pub rest: Vec<Vec3>,
    /// Vertices that belong to a face, an edge or are points (`#S`), ascending.
    pub vertices: Vec<u32>,
    /// All edges: of faces (each once), then wires (`#E×2`), each with ascending ends; in the plane each in
    /// the direction given, with the inside of a solid on the left.
    pub edges: Vec<[u32; 2]>,
    /// Triangles, oriented outwards where the body is closed (`#F×3`).
    pub faces: Vec<[u32; 3]>,
    /// Indices into `edges` that belong to no face (wires, rods).
    pub codim_edges: Vec<u32>,
    /// Vertices that belong to no edge and no face (particles, obstacle points).
    pub codim_vertices: Vec<u32>,
    /// Whether a vertex can move on its own (`#V`); primitives pairs without a mobile vertex never
    /// interact, so that nothing does where no vertex is.
    pub mobile: Vec<bool>,
    /// Body of a vertex (`#V`); empty where every primitive counts as a body of its own.
    pub body: Vec<u32>,
    /// Which bodies ignore each other; see [`CollisionMesh::exclude`].
    excluded: Excluded,
    /// What passes through other bodies where it is held at them; see [`CollisionMesh::exclude_grips`].
    grips: Grips,
    /// Half of the thickness offset ξ that a vertex brings to a pair, m (`#V`), the same for all vertices
    /// of a primitive; empty for none. The offset of a pair is the sum over its two primitives.
    pub half_thickness: Vec<f64>,
    /// Distance beyond the thickness at which the surface of a vertex meets others at most, m (`#V`), the same for all
    /// vertices of a primitive and infinite where the other surface decides; empty where it is the same for all. The
    /// smaller one of a pair counts.
    pub reach: Vec<f64>,
    /// Pairs of primitives that ignore each other as neighbours at rest; see [`CollisionMesh::exclude_neighbours`].
    pub neighbours: RestNeighbours,
    /// Whether everything lies in the plane z = 0. All edges are wires then, and edges meet vertices
    /// only: two edges of the plane come no closer than one of them to an end of the other.
    pub planar: bool,
    /// Whether that plane is a half-plane x = r ≥ 0 through the axis y of bodies of revolution.
    pub axisymmetric: bool,
}

/// Bodies that ignore each other.
#[derive(Debug, Clone, Default)]
struct Excluded {
    /// Body of a vertex (`#V`); empty where none ignores another.
    group: Vec<u32>,
    /// Pairs of bodies that ignore each other, ascending.
    pairs: Vec<[u32; 2]>,
    /// Whether every body ignores itself.
    own: bool,
    /// Body of a vertex (`#V`) whose body ignores itself, [`NONE`] elsewhere; empty where no body does.
    alone: Vec<u32>,
}

impl Excluded {
    fn new(group: Vec<u32>, mut pairs: Vec<[u32; 2]>, own: bool) -> Self {
        pairs.sort_unstable();
        let ignores_itself = |g: &u32| own || pairs.binary_search(&[*g; 2]).is_ok();
        let mut alone: Vec<u32> = Vec::new();
        if own || pairs.iter().any(|[a, b]| a == b) {
            alone = group.iter().map(|g| if ignores_itself(g) { *g } else { NONE }).collect();
        }
        Self { group, pairs, own, alone }
    }

    #[inline]
    fn admits(&self, a: u32, b: u32) -> bool {
        if self.group.is_empty() {
            return true;
        }
        let (a, b) = (self.group[a as usize], self.group[b as usize]);
        let listed =
            !self.pairs.is_empty() && self.pairs.binary_search(&[a.min(b), a.max(b)]).is_ok();
        !(listed || self.own && a == b)
    }
}

/// Vertices at which a joint holds a body, and the other body at which it does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grip {
    /// The vertices.
    pub vertices: Vec<u32>,
    /// Number of the other body in [`CollisionMesh::body`].
    pub other: u32,
}

/// The grips by vertex.
#[derive(Debug, Clone, Default)]
struct Grips {
    /// Number of the grips of each vertex in `others` (`#V`), `NONE` for none; empty where there are no grips.
    of: Vec<u32>,
    /// The other bodies of each set of vertices, with that to which they belong.
    others: Vec<Vec<u32>>,
    /// Pairs of bodies of which one is held at the other, in both orders, ascending.
    bodies: Vec<[u32; 2]>,
}

/// The number of no grip, and of no body.
pub(crate) const NONE: u32 = u32::MAX;

impl Grips {
    /// Whether a primitive of these vertices passes through a body.
    #[inline]
    fn pass(&self, vertices: &[u32], body: u32) -> bool {
        vertices.iter().any(|&v| match self.of[v as usize] {
            NONE => false,
            k => self.others[k as usize].contains(&body),
        })
    }
}

/// Pairs of primitives that ignore each other because they are neighbours along their body, by kind; rows are the first
/// primitives. [`rest_neighbours`](crate::rest_neighbours) finds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestNeighbours([Adjacency; 4]);

impl RestNeighbours {
    /// From the rows of each kind.
    pub(crate) fn from_rows(rows: [Adjacency; 4]) -> Self {
        Self(rows)
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Adjacency::is_empty)
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.0.iter().map(|rows| rows.items.len()).sum()
    }

    /// Whether the pair of these primitives is one of them, ascending where there are two edges.
    #[inline]
    pub fn contains(&self, kind: PairKind, [i, j]: [u32; 2]) -> bool {
        let rows = &self.0[kind as usize];
        !rows.is_empty() && rows.row(i as usize).binary_search(&j).is_ok()
    }
}

impl CollisionMesh {
    /// Builds the primitives' lists of the plane z = 0 from edges, which keep their directions, and points.
    pub fn planar(rest: Vec<Vec3>, edges: &[[u32; 2]], points: &[u32]) -> Self {
        let mut mesh = Self::new(rest, Vec::new(), edges, points);
        let mut seen = std::collections::HashSet::new();
        let first = edges.iter().filter(|e| seen.insert(ascending(e[0], e[1])));
        mesh.edges = first.copied().collect();
        mesh.planar = true;
        mesh
    }

    /// Builds the primitives' lists from triangles, wires and points over `rest.len()` vertices.
    ///
    /// Edges of faces are found and numbered in order of first appearance; wires that coincide
    /// with an edge of a face are not repeated. Everything is mobile and in one group.
    pub fn new(rest: Vec<Vec3>, faces: Vec<[u32; 3]>, wires: &[[u32; 2]], points: &[u32]) -> Self {
        let n = rest.len();
        let mut seen = std::collections::HashSet::new();
        let mut edges = Vec::with_capacity(faces.len() * 3 / 2 + wires.len());
        for f in &faces {
            for k in 0..3 {
                let e = ascending(f[k], f[(k + 1) % 3]);
                if seen.insert(e) {
                    edges.push(e);
                }
            }
        }
        let mut codim_edges = Vec::new();
        for w in wires {
            let e = ascending(w[0], w[1]);
            if seen.insert(e) {
                codim_edges.push(edges.len() as u32);
                edges.push(e);
            }
        }
        let mut on_surface = vec![false; n];
        for v in faces.iter().flatten().chain(edges.iter().flatten()) {
            on_surface[*v as usize] = true;
        }
        let mut codim_vertices: Vec<u32> =
            points.iter().copied().filter(|&p| !on_surface[p as usize]).collect();
        codim_vertices.sort_unstable();
        codim_vertices.dedup();
        for &p in &codim_vertices {
            on_surface[p as usize] = true;
        }
        let vertices = (0..n as u32).filter(|&v| on_surface[v as usize]).collect();
        Self {
            rest,
            vertices,
            edges,
            faces,
            codim_edges,
            codim_vertices,
            mobile: vec![true; n],
            body: Vec::new(),
            excluded: Excluded::default(),
            grips: Grips::default(),
            half_thickness: Vec::new(),
            reach: Vec::new(),
            neighbours: RestNeighbours::default(),
            planar: false,
            axisymmetric: false,
        }
    }

    /// Makes `pairs` of bodies, given by their ranges of vertices, ignore each other, and with `own` every body itself.
    pub fn exclude(&mut self, bodies: &[Range<usize>], pairs: &[(usize, usize)], own: bool) {
        self.excluded = Excluded::default();
        if pairs.is_empty() && !own {
            return;
        }
        let pairs: Vec<(u32, u32)> = pairs.iter().map(|&(a, b)| (a as u32, b as u32)).collect();
        self.exclude_pairs(self.numbers(bodies), &pairs, own);
    }

    /// Makes `pairs` of groups ignore each other, of which `group` has the number of each vertex (`#V`); with a pair of equal numbers a group
    /// ignores itself.
    pub fn exclude_groups(&mut self, group: Vec<u32>, pairs: &[(u32, u32)]) {
        self.exclude_pairs(group, pairs, false);
    }

    fn exclude_pairs(&mut self, group: Vec<u32>, pairs: &[(u32, u32)], own: bool) {
        let pairs = pairs.iter().map(|&(a, b)| [a.min(b), a.max(b)]).collect();
        self.excluded = Excluded::new(group, pairs, own);
    }

    /// Makes primitives with a vertex of a grip ignore the other body of the grip, as surfaces meet where bodies are held at each other.
    /// [`CollisionMesh::body`] must be set. A vertex may have several grips.
    pub fn exclude_grips(&mut self, grips: &[Grip]) {
        self.grips = Grips::default();
        if grips.is_empty() {
            return;
        }
        self.grips.of = vec![NONE; self.rest.len()];
        let mut others: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for grip in grips {
            let Some(&first) = grip.vertices.first() else { continue };
            grip.vertices.iter().for_each(|v| others.entry(*v).or_default().push(grip.other));
            let own = self.body[first as usize];
            self.grips.bodies.extend([[own, grip.other], [grip.other, own]]);
        }
        let mut numbers: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        for (v, others) in others {
            let next = numbers.len() as u32;
            let number = *numbers.entry(others.clone()).or_insert(next);
            if number == next {
                self.grips.others.push(others);
            }
            self.grips.of[v as usize] = number;
        }
        self.grips.bodies.sort_unstable();
    }

    /// Whether two primitives, given by their vertices, ignore each other at a grip.
    #[inline]
    fn meet_at_grip(&self, a: &[u32], b: &[u32]) -> bool {
        if self.grips.of.is_empty() {
            return false;
        }
        let [body_a, body_b] = [a[0], b[0]].map(|v| self.body[v as usize]);
        self.grips.pass(a, body_b) || self.grips.pass(b, body_a)
    }

    /// Whether a joint holds the body of one vertex at that of the other, so that their surfaces may meet there.
    pub fn held_together(&self, a: u32, b: u32) -> bool {
        if self.grips.of.is_empty() {
            return false;
        }
        let pair = [a, b].map(|v| self.body[v as usize]);
        self.grips.bodies.binary_search(&pair).is_ok()
    }

    /// Makes every body ignore itself, too, given the ranges that pairs were excluded with.
    pub fn exclude_own(&mut self, bodies: &[Range<usize>]) {
        self.excluded =
            Excluded::new(self.numbers(bodies), std::mem::take(&mut self.excluded.pairs), true);
    }

    /// Body of each vertex (`#V`) whose body ignores itself, [`NONE`] for the others; empty where no body does.
    pub(crate) fn alone(&self) -> &[u32] {
        &self.excluded.alone
    }

    /// The number of each vertex's body (`#V`).
    fn numbers(&self, bodies: &[Range<usize>]) -> Vec<u32> {
        let mut numbers = vec![0; self.rest.len()];
        for (k, vertices) in bodies.iter().enumerate() {
            numbers[vertices.clone()].fill(k as u32);
        }
        numbers
    }

    /// Whether two primitives ignore each other as neighbours at rest, or their bodies do; `a` and `b` are
    /// vertices of theirs, and edges come ascending.
    #[inline]
    pub(crate) fn pair_may_collide(&self, kind: PairKind, pair: [u32; 2], a: u32, b: u32) -> bool {
        self.bodies_may_collide(a, b)
            && !self.neighbours.contains(kind, pair)
            && (self.grips.of.is_empty() || !self.pair_meets_at_grip(kind, pair))
    }

    /// Whether a pair of primitives ignores each other at a grip.
    fn pair_meets_at_grip(&self, kind: PairKind, [i, j]: [u32; 2]) -> bool {
        let (vertex, edge) = (|v: u32| [v], |e: u32| self.edges[e as usize]);
        match kind {
            PairKind::VertexVertex => self.meet_at_grip(&vertex(i), &vertex(j)),
            PairKind::EdgeVertex => self.meet_at_grip(&edge(i), &vertex(j)),
            PairKind::EdgeEdge => self.meet_at_grip(&edge(i), &edge(j)),
            PairKind::FaceVertex => self.meet_at_grip(&self.faces[i as usize], &vertex(j)),
        }
    }

    /// Whether two primitives, given by their vertices, may interact: no shared vertex, at least
    /// one mobile vertex, bodies that do not ignore each other, also where a joint holds them at each other. It does not look at neighbours at rest
    /// ([`RestNeighbours::contains`]).
    #[inline]
    pub fn may_collide(&self, a: &[u32], b: &[u32]) -> bool {
        if a.iter().any(|v| b.contains(v)) {
            return false;
        }
        if !a.iter().chain(b).any(|&v| self.mobile[v as usize]) {
            return false;
        }
        self.bodies_may_collide(a[0], b[0]) && !self.meet_at_grip(a, b)
    }

    /// Whether the bodies of two vertices do not ignore each other.
    #[inline]
    pub fn bodies_may_collide(&self, a: u32, b: u32) -> bool {
        self.excluded.admits(a, b)
    }

    /// Whether two vertices belong to the same body.
    #[inline]
    pub fn same_body(&self, a: u32, b: u32) -> bool {
        !self.body.is_empty() && self.body[a as usize] == self.body[b as usize]
    }

    /// Thickness offset ξ of a pair of primitives, m: the mean of the two bodies' thicknesses
    /// ([Li 2021, §5.1]).
    #[inline]
    pub fn thickness(&self, a: &[u32], b: &[u32]) -> f64 {
        if self.half_thickness.is_empty() {
            return 0.0;
        }
        self.half_thickness[a[0] as usize] + self.half_thickness[b[0] as usize]
    }

    /// Distance beyond the thickness below which two primitives meet, m: the smaller of their reaches, and `most`.
    #[inline]
    pub fn reach(&self, a: &[u32], b: &[u32], most: f64) -> f64 {
        match self.reach.is_empty() {
            true => most,
            false => self.reach_of(b[0], self.reach_of(a[0], most)),
        }
    }

    /// The same of a vertex and something that leaves it to the vertex, m.
    #[inline]
    pub fn reach_of(&self, v: u32, most: f64) -> f64 {
        self.reach.get(v as usize).map_or(most, |r| r.min(most))
    }
}
