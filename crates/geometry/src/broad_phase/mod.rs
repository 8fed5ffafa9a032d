//! Broad phase: pairs of primitives that might come close; always a superset of the true pairs.
//!
//! Knows positions and the collision mesh, no physics. A pair that [`CollisionMesh::may_collide`], and that are
//! no neighbours at rest ([`RestNeighbours`](crate::RestNeighbours)), is a candidate where, on the way, boxes around the two primitives overlap and no plane between
//! their closest points keeps them apart. Both tests are functions of the pair's own motion and
//! are conservative: every pair that comes to a distance d ≤ 2 `inflation` + ξ (ξ the pair's
//! thickness offset) is found. Trees only serve to find the pairs whose boxes overlap.
//!
//! Kinds of pairs ([Li 2021, §3]): all edges with all edges, all surface vertices with all faces,
//! codimensional edges with codimensional vertices and with vertices of other codimensional edges,
//! codimensional vertices with each other. In the plane ([`CollisionMesh::planar`]) two edges are no pair.
//!
//! A primitive with a coordinate that is not finite has no candidates; [`crate::ccd::max_step`]
//! refuses to move such a mesh at all.

pub mod brute_force;
mod cull;
mod lanes;
mod paths;
mod tree;

use crate::{CollisionMesh, Pair, PairKind};
use cull::{Shape, cull};
use paths::Paths;
use rayon::prelude::*;
use standoff_linalg::Vec3;
use tree::{Tree, Which};

/// Pairs of primitives that might be close.
///
/// Each list is sorted and free of repetitions, so that everything built from it is independent
/// of the number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Vertex–vertex pairs (both codimensional vertices), `[v, v]`, ascending.
    pub vertex_vertex: Vec<[u32; 2]>,
    /// Codimensional edge against codimensional vertex or vertex of another codimensional edge:
    /// `[edge, vertex]` ([Li 2021, §3]).
    pub edge_vertex: Vec<[u32; 2]>,
    /// Edge–edge pairs `[edge, edge]`, ascending.
    pub edge_edge: Vec<[u32; 2]>,
    /// Face–vertex pairs `[face, vertex]`.
    pub face_vertex: Vec<[u32; 2]>,
}

impl Candidates {
    /// Number of pairs of all kinds.
    pub fn len(&self) -> usize {
        self.vertex_vertex.len()
            + self.edge_vertex.len()
            + self.edge_edge.len()
            + self.face_vertex.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs of one kind, ascending.
    pub fn of_kind(&self, kind: PairKind) -> &[[u32; 2]] {
        match kind {
            PairKind::VertexVertex => &self.vertex_vertex,
            PairKind::EdgeVertex => &self.edge_vertex,
            PairKind::EdgeEdge => &self.edge_edge,
            PairKind::FaceVertex => &self.face_vertex,
        }
    }

    /// All pairs, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        PairKind::ALL
            .into_iter()
            .flat_map(|kind| self.of_kind(kind).iter().map(move |&p| Pair::new(kind, p)))
    }

    /// All pairs in parallel, in the order of [`iter`](Self::iter).
    pub fn par_iter(&self) -> impl IndexedParallelIterator<Item = Pair> + '_ {
        let [a, b, c, d] = PairKind::ALL
            .map(|kind| self.of_kind(kind).par_iter().map(move |&p| Pair::new(kind, p)));
        a.chain(b).chain(c).chain(d)
    }
}

/// Pairs at distance ≤ 2 `inflation` + ξ at `x` (`#V`), and some more. See [`BroadPhase`] for
/// repeated use.
pub fn candidates(mesh: &CollisionMesh, x: &[Vec3], inflation: f64) -> Candidates {
    let mut out = Candidates::default();
    BroadPhase::default().candidates(mesh, x, inflation, &mut out);
    out
}

/// Pairs that come to a distance ≤ 2 `inflation` + ξ somewhere on the way x + t dx, t in [0, 1],
/// and some more.
pub fn swept_candidates(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    inflation: f64,
) -> Candidates {
    let mut out = Candidates::default();
    BroadPhase::default().swept_candidates(mesh, x, dx, inflation, &mut out);
    out
}

/// Trees and buffers of the broad phase, kept between calls for one collision mesh.
///
/// The trees are refitted to new positions and rebuilt when they no longer fit well; neither
/// changes the result. Use a new one for another mesh (or where [`CollisionMesh::mobile`] changed).
#[derive(Debug, Default)]
pub struct BroadPhase {
    paths: Paths,
    faces: Tree<3>,
    edges: Tree<2>,
    vertices: Tree<1>,
    codim_edges: Tree<2>,
    codim_points: Tree<1>,
    codim_vertices: Tree<1>,
    /// Vertices that meet codimensional edges, ascending.
    points: Option<Vec<u32>>,
    chunks: Vec<Vec<[u32; 2]>>,
}

impl BroadPhase {
    /// Like [`candidates`], into `out`.
    pub fn candidates(
        &mut self,
        mesh: &CollisionMesh,
        x: &[Vec3],
        inflation: f64,
        out: &mut Candidates,
    ) {
        self.paths.set(mesh, x, None, inflation);
        self.update(mesh);
        self.collect(mesh, out);
    }

    /// Like [`swept_candidates`], into `out`.
    pub fn swept_candidates(
        &mut self,
        mesh: &CollisionMesh,
        x: &[Vec3],
        dx: &[Vec3],
        inflation: f64,
        out: &mut Candidates,
    ) {
        self.paths.set(mesh, x, Some(dx), inflation);
        self.update(mesh);
        self.collect(mesh, out);
    }

    /// Fits all trees to the vertices' boxes.
    fn update(&mut self, mesh: &CollisionMesh) {
        let points = self.points.get_or_insert_with(|| codim_points(mesh));
        let paths = &self.paths;
        let which = Which { mobile: &mesh.mobile, alone: mesh.alone() };
        let (faces, edges, wires) = (&mesh.faces, &mesh.edges, &mesh.codim_edges);
        self.faces.update(faces.len(), paths, |i| faces[i], which);
        if !mesh.planar {
            self.edges.update(edges.len(), paths, |i| edges[i], which);
        }
        self.codim_edges.update(wires.len(), paths, |i| edges[wires[i] as usize], which);
        let fit = |tree: &mut Tree<1>, list: &[u32]| {
            tree.update(list.len(), paths, |i| [list[i]], which);
        };
        fit(&mut self.vertices, &mesh.vertices);
        fit(&mut self.codim_points, points);
        fit(&mut self.codim_vertices, &mesh.codim_vertices);
    }

    /// Finds the pairs of all kinds.
    // long: the same few lines for each kind of pair
    fn collect(&mut self, mesh: &CollisionMesh, out: &mut Candidates) {
        let points: &[u32] = self.points.as_deref().unwrap_or_default();
        let (paths, chunks, swept) = (&self.paths, &mut self.chunks, self.paths.swept);
        let culls = Culls { mesh, paths };

        self.codim_vertices.self_pairs(
            swept,
            chunks,
            |i, j| {
                let (i, j) = (mesh.codim_vertices[i as usize], mesh.codim_vertices[j as usize]);
                let pair = [i.min(j), i.max(j)];
                mesh.pair_may_collide(PairKind::VertexVertex, pair, i, j).then_some(pair)
            },
            |pairs| culls.apply(PairKind::VertexVertex, pairs),
        );
        gather(mesh.rest.len(), chunks, &mut out.vertex_vertex);

        self.codim_points.cross_pairs(
            &self.codim_edges,
            swept,
            chunks,
            |i, j| {
                let (v, e) = (points[i as usize], mesh.codim_edges[j as usize]);
                let end = mesh.edges[e as usize][0];
                mesh.pair_may_collide(PairKind::EdgeVertex, [e, v], end, v).then_some([e, v])
            },
            |pairs| culls.apply(PairKind::EdgeVertex, pairs),
        );
        gather(mesh.edges.len(), chunks, &mut out.edge_vertex);

        if mesh.planar {
            out.edge_edge.clear();
        } else {
            self.edges.self_pairs(
                swept,
                chunks,
                |i, j| {
                    let (a, b) = (mesh.edges[i as usize][0], mesh.edges[j as usize][0]);
                    let pair = [i.min(j), i.max(j)];
                    mesh.pair_may_collide(PairKind::EdgeEdge, pair, a, b).then_some(pair)
                },
                |pairs| culls.apply(PairKind::EdgeEdge, pairs),
            );
            gather(mesh.edges.len(), chunks, &mut out.edge_edge);
        }

        self.vertices.cross_pairs(
            &self.faces,
            swept,
            chunks,
            |i, f| {
                let v = mesh.vertices[i as usize];
                let corner = mesh.faces[f as usize][0];
                mesh.pair_may_collide(PairKind::FaceVertex, [f, v], corner, v).then_some([f, v])
            },
            |pairs| culls.apply(PairKind::FaceVertex, pairs),
        );
        gather(mesh.faces.len(), chunks, &mut out.face_vertex);
    }
}

/// Drops pairs, in the form of [`Candidates`], that stay apart.
struct Culls<'a> {
    mesh: &'a CollisionMesh,
    paths: &'a Paths,
}

impl Culls<'_> {
    fn apply(&self, kind: PairKind, pairs: &mut Vec<[u32; 2]>) {
        let shape = match kind {
            PairKind::FaceVertex => Shape::PointTriangle,
            _ => Shape::Segments,
        };
        let stencil = |primitives: [u32; 2]| {
            let pair = Pair::new(kind, primitives);
            let [a, b, c, d] = pair.stencil(self.mesh).vertices;
            let vertices = match kind {
                PairKind::VertexVertex => [a, a, b, b],
                PairKind::EdgeVertex => [b, c, a, a],
                PairKind::EdgeEdge | PairKind::FaceVertex => [a, b, c, d],
            };
            (vertices, pair.thickness(self.mesh))
        };
        cull(shape, self.paths, stencil, pairs);
    }
}

/// Sorts the pairs of all chunks into `out`; first entries are below `rows`.
fn gather(rows: usize, chunks: &[Vec<[u32; 2]>], out: &mut Vec<[u32; 2]>) {
    out.clear();
    let count: usize = chunks.iter().map(Vec::len).sum();
    if count < rows / 8 {
        out.extend(chunks.iter().flatten());
        out.sort_unstable();
        return;
    }
    let mut next = vec![0_u32; rows + 1];
    for p in chunks.iter().flatten() {
        next[p[0] as usize + 1] += 1;
    }
    for i in 0..rows {
        next[i + 1] += next[i];
    }
    out.resize(count, [0; 2]);
    for &p in chunks.iter().flatten() {
        let place = &mut next[p[0] as usize];
        out[*place as usize] = p;
        *place += 1;
    }
    // now next[i] is the end of row i
    let mut begin = 0;
    for &end in &next[..rows] {
        out[begin..end as usize].sort_unstable();
        begin = end as usize;
    }
}

/// Vertices that meet codimensional edges: codimensional vertices and the ends of codimensional
/// edges, ascending.
fn codim_points(mesh: &CollisionMesh) -> Vec<u32> {
    let ends = mesh.codim_edges.iter().flat_map(|&e| mesh.edges[e as usize]);
    let mut points: Vec<u32> = ends.chain(mesh.codim_vertices.iter().copied()).collect();
    points.sort_unstable();
    points.dedup();
    points
}
