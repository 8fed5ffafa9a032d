//! What lies inside of closed surfaces.
//!
//! A part of a mesh, which is what hangs together by edges, and a closed part that it does not touch are inside or
//! outside of each other as a whole. No motion without contact changes that, so what has changed since another state tells
//! of surfaces that passed through each other and left no intersection behind.

use super::box_pairs::{Box3, Origin, Tree, find};
use super::predicates::{ray_meets_segment, ray_meets_triangle};
use crate::CollisionMesh;
use standoff_linalg::Vec3;

/// A part of a mesh inside of a closed one, both by their least vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Enclosure {
    /// The part inside.
    pub inner: u32,
    /// The closed part.
    pub outer: u32,
}

/// The parts of a mesh.
#[derive(Debug)]
pub struct Parts<'a> {
    mesh: &'a CollisionMesh,
    /// Least vertex of the part of each vertex (`#V`), which is its own where it has no part.
    of: Vec<u32>,
    /// Least vertices of all parts, ascending.
    all: Vec<u32>,
    /// Whether a part, by its least vertex, has a mobile vertex (`#V`).
    mobile: Vec<bool>,
    /// Faces of closed parts; in the plane, edges of closed outlines.
    closed: Vec<u32>,
}

impl<'a> Parts<'a> {
    /// Finds the parts. Closed is one whose every edge has an even number of faces; in the plane, whose every vertex
    /// has an even number of edges.
    pub fn new(mesh: &'a CollisionMesh) -> Self {
        let of = least_vertices(mesh);
        let all: Vec<u32> =
            mesh.vertices.iter().copied().filter(|&v| of[v as usize] == v).collect();
        let (mut mobile, mut open) = (vec![false; of.len()], vec![false; of.len()]);
        for &v in &mesh.vertices {
            mobile[of[v as usize] as usize] |= mesh.mobile[v as usize];
        }
        for v in ends(mesh) {
            open[of[v as usize] as usize] = true;
        }
        let is_closed = |v: u32| !open[of[v as usize] as usize];
        let closed = match mesh.planar {
            true => (0..).zip(&mesh.edges).filter(|(_, e)| is_closed(e[0])).map(|e| e.0).collect(),
            false => (0..).zip(&mesh.faces).filter(|(_, f)| is_closed(f[0])).map(|f| f.0).collect(),
        };
        Self { mesh, of, all, mobile, closed }
    }

    /// The least vertex of the part of a vertex.
    pub fn of(&self, vertex: u32) -> u32 {
        self.of[vertex as usize]
    }

    /// What lies inside of what at `x` (`#V`), sorted; exact where the two do not touch. Left out are pairs that
    /// cannot move, whose groups ignore each other, or of which a joint holds one at the other: those may pass through each other.
    ///
    /// A ray from one vertex of a part meets a closed part an odd number of times if it begins inside.
    pub fn enclosures(&self, x: &[Vec3]) -> Vec<Enclosure> {
        let at = |v: u32| &x[v as usize];
        let origin = Origin::new(x);
        let boxes: Vec<Box3> = self
            .closed
            .iter()
            .map(|&k| origin.around(self.corners(k).iter().map(|&v| at(v)), 0.0))
            .collect();
        let tree = Tree::new(&boxes);
        let last =
            x.iter().map(|p| p.x).filter(|x| x.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let ray = |&v: &u32| origin.around([at(v), &Vec3::new(last, at(v).y, at(v).z)], 0.0);
        let rays: Vec<Box3> = self.all.iter().map(ray).collect();
        let met = find(&rays, &tree, |i, j| {
            let (inner, k) = (self.all[i as usize], self.closed[j as usize]);
            let outer = self.of(self.corners(k)[0]);
            (self.may_meet(inner, outer) && self.meets(at(inner), k, x))
                .then_some((inner, outer, k))
        });
        let inside =
            met.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|same| same.len() % 2 == 1);
        inside.map(|same| Enclosure { inner: same[0].0, outer: same[0].1 }).collect()
    }

    /// The vertices of a closed part's face or edge.
    fn corners(&self, k: u32) -> &[u32] {
        match self.mesh.planar {
            true => &self.mesh.edges[k as usize],
            false => &self.mesh.faces[k as usize],
        }
    }

    /// Whether two parts are kept from passing through each other.
    fn may_meet(&self, a: u32, b: u32) -> bool {
        let mobile = self.mobile[a as usize] || self.mobile[b as usize];
        let apart = self.mesh.bodies_may_collide(a, b) && !self.mesh.held_together(a, b);
        a != b && mobile && apart
    }

    fn meets(&self, from: &Vec3, k: u32, x: &[Vec3]) -> bool {
        match *self.corners(k) {
            [a, b] => ray_meets_segment(from, [a, b].map(|v| &x[v as usize])),
            [a, b, c] => ray_meets_triangle(from, [a, b, c].map(|v| &x[v as usize])),
            _ => false,
        }
    }
}

/// The least vertex that hangs together with each vertex by edges.
fn least_vertices(mesh: &CollisionMesh) -> Vec<u32> {
    fn find(of: &mut [u32], mut v: u32) -> u32 {
        while of[v as usize] != v {
            // halves the way for those who come next
            of[v as usize] = of[of[v as usize] as usize];
            v = of[v as usize];
        }
        v
    }
    let mut of: Vec<u32> = (0..mesh.rest.len() as u32).collect();
    for [a, b] in &mesh.edges {
        let (a, b) = (find(&mut of, *a), find(&mut of, *b));
        of[a.max(b) as usize] = a.min(b);
    }
    for v in 0..of.len() as u32 {
        of[v as usize] = find(&mut of, v);
    }
    of
}

/// A vertex of everything where a surface ends: an edge with an odd number of faces or, in the plane, a vertex with an odd
/// number of edges. Parts without faces end nowhere, nor have they an inside.
fn ends(mesh: &CollisionMesh) -> Vec<u32> {
    let mut sides: Vec<[u32; 2]> = match mesh.planar {
        true => mesh.edges.iter().flatten().map(|&v| [v, v]).collect(),
        false => {
            let around = |f: &[u32; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]];
            mesh.faces.iter().flat_map(around).map(|[a, b]| [a.min(b), a.max(b)]).collect()
        }
    };
    sides.sort_unstable();
    let odd = sides.chunk_by(|a, b| a == b).filter(|same| same.len() % 2 == 1);
    odd.map(|same| same[0][0]).collect()
}
