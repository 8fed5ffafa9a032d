//! What lies around the primitives of a surface: ordered one-rings of vertices, wings of edges,
//! edges of faces, and whether the surface around them is closed and oriented.
//!
//! Index work only; positions are never looked at, and everything is a function of the lists.

// long: the lists, how they are built and what is read from them

use crate::CollisionMesh;

/// Neighbours of a vertex along edges, and the sectors that its faces fill between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring<'a> {
    /// The neighbours. Where the faces form one fan these follow each other counter-clockwise seen
    /// from outside, beginning with the smallest (closed fan) or at the border (open fan);
    /// otherwise they ascend.
    pub vertices: &'a [u32],
    /// One for each face around the vertex v: positions (a, b) in `vertices` such that the face
    /// runs v, a, b.
    pub sectors: &'a [[u32; 2]],
    /// The sectors' faces, ascending.
    pub faces: &'a [u32],
}

/// A face beside an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wing {
    /// The face.
    pub face: u32,
    /// Its vertex off the edge.
    pub opposite: u32,
    /// Whether the face runs from the edge's first end to its second.
    pub forward: bool,
}

/// Why a surface around a primitive has no inside, with a witness (ends of an edge, or a vertex).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceDefect {
    /// An edge of no face.
    #[error("the edge {0:?} belongs to no face")]
    Wire([u32; 2]),
    /// A vertex of no edge.
    #[error("vertex {0} belongs to no edge")]
    Point(u32),
    /// An edge of one face.
    #[error("the surface is open: the edge {0:?} belongs to one face only")]
    Border([u32; 2]),
    /// An edge of more than two faces.
    #[error("the edge {edge:?} belongs to {faces} faces")]
    Branching {
        /// Ends of the edge.
        edge: [u32; 2],
        /// Number of its faces.
        faces: usize,
    },
    /// An edge along which both faces run the same way.
    #[error("the faces on both sides of the edge {0:?} are oriented against each other")]
    Twisted([u32; 2]),
    /// A vertex whose faces form more than one fan.
    #[error("the surface touches itself at vertex {0}, whose faces form more than one fan")]
    Pinched(u32),
}

impl SurfaceDefect {
    /// The vertices of the witness.
    pub fn witness(&self) -> Vec<u32> {
        match *self {
            Self::Wire(edge) | Self::Border(edge) | Self::Twisted(edge) => edge.to_vec(),
            Self::Branching { edge, .. } => edge.to_vec(),
            Self::Point(vertex) | Self::Pinched(vertex) => vec![vertex],
        }
    }

    /// What is wrong there, without the witness.
    pub fn problem(&self) -> &'static str {
        match self {
            Self::Wire(_) => "it belongs to no face",
            Self::Point(_) => "it belongs to no edge",
            Self::Border(_) => "the surface ends there",
            Self::Branching { .. } => "more than two faces meet there",
            Self::Twisted(_) => "the faces on both sides are oriented against each other",
            Self::Pinched(_) => "the surface touches itself there",
        }
    }
}

/// Neighbourhoods of all surface primitives of a collision mesh.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    ring_start: Vec<u32>,
    ring: Vec<u32>,
    sector_start: Vec<u32>,
    sectors: Vec<[u32; 2]>,
    faces_around: Vec<u32>,
    wing_start: Vec<u32>,
    wings: Vec<Wing>,
    face_edges: Vec<[u32; 3]>,
    /// Where the edges of each vertex begin, and these; of the plane only.
    outline_start: Vec<u32>,
    outline: Vec<u32>,
    component: Vec<u32>,
    defects: Vec<Option<SurfaceDefect>>,
}

/// Start of each row of a list of lists, from the rows' lengths.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut out = vec![0];
    let mut sum = 0;
    for n in lengths {
        sum += n as u32;
        out.push(sum);
    }
    out
}

fn row<'a, T>(start: &[u32], items: &'a [T], i: usize) -> &'a [T] {
    &items[start[i] as usize..start[i + 1] as usize]
}

impl Neighbourhood {
    /// Neighbourhoods of the primitives of `mesh`.
    // long: every list is built from the one before it
    pub fn new(mesh: &CollisionMesh) -> Self {
        let n = mesh.rest.len();
        let mut neighbours = vec![Vec::new(); n];
        for &[a, b] in &mesh.edges {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        let mut fans: Vec<Vec<[u32; 2]>> = vec![Vec::new(); n];
        let mut faces_around = vec![Vec::new(); n];
        for (face, f) in mesh.faces.iter().enumerate() {
            for k in 0..3 {
                fans[f[k] as usize].push([f[(k + 1) % 3], f[(k + 2) % 3]]);
                faces_around[f[k] as usize].push(face as u32);
            }
        }
        let mut single_fan = vec![true; n];
        for v in 0..n {
            neighbours[v].sort_unstable();
            match walk(&fans[v]) {
                Some(order) if order.len() == neighbours[v].len() => neighbours[v] = order,
                _ => single_fan[v] = fans[v].is_empty(),
            }
        }
        let sectors: Vec<Vec<[u32; 2]>> = fans
            .iter()
            .zip(&neighbours)
            .map(|(fan, ring)| {
                let place = |v: u32| ring.iter().position(|&r| r == v).unwrap_or(0) as u32;
                fan.iter().map(|&[a, b]| [place(a), place(b)]).collect()
            })
            .collect();
        let (face_edges, wings) = wings(mesh);
        let mut out = Self {
            ring_start: starts(neighbours.iter().map(Vec::len)),
            ring: neighbours.concat(),
            sector_start: starts(sectors.iter().map(Vec::len)),
            sectors: sectors.concat(),
            faces_around: faces_around.concat(),
            wing_start: starts(wings.iter().map(Vec::len)),
            wings: wings.concat(),
            face_edges,
            outline_start: Vec::new(),
            outline: Vec::new(),
            component: Vec::new(),
            defects: Vec::new(),
        };
        if mesh.planar {
            let mut edges = vec![Vec::new(); n];
            for (e, ends) in mesh.edges.iter().enumerate() {
                ends.iter().for_each(|&v| edges[v as usize].push(e as u32));
            }
            out.outline_start = starts(edges.iter().map(Vec::len));
            out.outline = edges.concat();
        }
        out.find_components(mesh, &single_fan);
        out
    }

    /// Edges at a vertex of the plane, ascending; in space none.
    #[inline]
    pub fn outline(&self, v: u32) -> &[u32] {
        match self.outline_start.is_empty() {
            true => &[],
            false => row(&self.outline_start, &self.outline, v as usize),
        }
    }

    /// Ring of a vertex.
    #[inline]
    pub fn ring(&self, v: u32) -> Ring<'_> {
        Ring {
            vertices: row(&self.ring_start, &self.ring, v as usize),
            sectors: row(&self.sector_start, &self.sectors, v as usize),
            faces: row(&self.sector_start, &self.faces_around, v as usize),
        }
    }

    /// Faces beside an edge, ascending: two inside a surface, one at its border, none at a wire.
    #[inline]
    pub fn wings(&self, e: u32) -> &[Wing] {
        row(&self.wing_start, &self.wings, e as usize)
    }

    /// Edges of a face: number k joins its vertices k and k + 1.
    #[inline]
    pub fn face_edges(&self, f: u32) -> [u32; 3] {
        self.face_edges[f as usize]
    }

    /// Number of connected surfaces (wires and points included).
    pub fn components(&self) -> usize {
        self.defects.len()
    }

    /// Connected surface of a vertex, numbered by first vertex; `None` off the surface.
    pub fn component(&self, v: u32) -> Option<usize> {
        let c = self.component[v as usize];
        (c != u32::MAX).then_some(c as usize)
    }

    /// Why a connected surface is not closed and oriented; `None` where it is.
    pub fn defect(&self, component: usize) -> Option<SurfaceDefect> {
        self.defects[component]
    }

    /// Whether a vertex lies on a closed oriented surface.
    pub fn is_closed(&self, v: u32) -> bool {
        self.component(v).is_some_and(|c| self.defects[c].is_none())
    }

    fn find_components(&mut self, mesh: &CollisionMesh, single_fan: &[bool]) {
        let n = mesh.rest.len();
        self.component = vec![u32::MAX; n];
        let mut open = Vec::new();
        for &first in &mesh.vertices {
            if self.component[first as usize] != u32::MAX {
                continue;
            }
            let label = self.defects.len() as u32;
            self.defects.push(None);
            self.component[first as usize] = label;
            open.push(first);
            while let Some(v) = open.pop() {
                for &w in row(&self.ring_start, &self.ring, v as usize) {
                    if self.component[w as usize] == u32::MAX {
                        self.component[w as usize] = label;
                        open.push(w);
                    }
                }
            }
        }
        if mesh.planar {
            return self.find_outlines(mesh);
        }
        for (e, &ends) in mesh.edges.iter().enumerate() {
            let defect = match self.wings(e as u32) {
                [] => Some(SurfaceDefect::Wire(ends)),
                [_] => Some(SurfaceDefect::Border(ends)),
                [a, b] => (a.forward == b.forward).then_some(SurfaceDefect::Twisted(ends)),
                more => Some(SurfaceDefect::Branching { edge: ends, faces: more.len() }),
            };
            self.note(ends[0], defect);
        }
        for &v in &mesh.vertices {
            let alone = self.ring(v).vertices.is_empty();
            let pinched = !alone && !single_fan[v as usize];
            self.note(v, alone.then_some(SurfaceDefect::Point(v)));
            self.note(v, pinched.then_some(SurfaceDefect::Pinched(v)));
        }
    }

    /// In the plane an outline is closed and oriented where one edge comes to each vertex, and one leaves it.
    fn find_outlines(&mut self, mesh: &CollisionMesh) {
        for &v in &mesh.vertices {
            let edges: Vec<[u32; 2]> =
                self.outline(v).iter().map(|&e| mesh.edges[e as usize]).collect();
            let defect = match edges[..] {
                [] => Some(SurfaceDefect::Point(v)),
                [edge] => Some(SurfaceDefect::Border(edge)),
                [a, b] => ((a[0] == v) == (b[0] == v)).then_some(SurfaceDefect::Twisted(a)),
                _ => Some(SurfaceDefect::Pinched(v)),
            };
            self.note(v, defect);
        }
    }

    /// Keeps the first defect of a component.
    fn note(&mut self, v: u32, defect: Option<SurfaceDefect>) {
        let kept = &mut self.defects[self.component[v as usize] as usize];
        *kept = kept.or(defect);
    }
}

/// The ring that (a, b) sectors form one after the other; `None` where they form no single fan.
fn walk(fan: &[[u32; 2]]) -> Option<Vec<u32>> {
    let starts_at = |v: u32| fan.iter().filter(move |s| s[0] == v);
    // an open fan begins where no sector ends, a closed one at its smallest vertex
    let border = fan.iter().map(|s| s[0]).filter(|&v| fan.iter().all(|s| s[1] != v)).min();
    let first = border.or(fan.iter().map(|s| s[0]).min())?;
    let mut order = vec![first];
    for _ in fan {
        let mut next = starts_at(*order.last()?);
        let [_, b] = *next.next()?;
        if next.next().is_some() {
            return None;
        }
        if b == first {
            break;
        }
        if order.contains(&b) {
            return None;
        }
        order.push(b);
    }
    // each sector of a closed fan adds a vertex, an open fan has one more
    let expected = fan.len() + usize::from(border.is_some());
    (order.len() == expected).then_some(order)
}

/// Edges of every face, and faces beside every edge.
fn wings(mesh: &CollisionMesh) -> (Vec<[u32; 3]>, Vec<Vec<Wing>>) {
    let mut order: Vec<u32> = (0..mesh.edges.len() as u32).collect();
    let key = |e: u32| {
        let [a, b] = mesh.edges[e as usize];
        [a.min(b), a.max(b)]
    };
    order.sort_unstable_by_key(|&e| key(e));
    let mut wings = vec![Vec::new(); mesh.edges.len()];
    let mut face_edges = Vec::with_capacity(mesh.faces.len());
    for (f, t) in mesh.faces.iter().enumerate() {
        let mut edges = [u32::MAX; 3];
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            // every edge of a face is in the mesh's list
            if let Ok(i) = order.binary_search_by_key(&[a.min(b), a.max(b)], |&e| key(e)) {
                edges[k] = order[i];
                let forward = mesh.edges[order[i] as usize][0] == a;
                let wing = Wing { face: f as u32, opposite: t[(k + 2) % 3], forward };
                wings[order[i] as usize].push(wing);
            }
        }
        face_edges.push(edges);
    }
    (face_edges, wings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Vec3;

    fn mesh(n: usize, faces: &[[u32; 3]], wires: &[[u32; 2]]) -> CollisionMesh {
        let points: Vec<u32> = (0..n as u32).collect();
        CollisionMesh::new(vec![Vec3::zeros(); n], faces.to_vec(), wires, &points)
    }

    const OCTAHEDRON: [[u32; 3]; 8] =
        [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];

    #[test]
    fn rings_of_a_closed_surface_are_ordered() {
        let mesh = mesh(6, &OCTAHEDRON, &[]);
        let around = Neighbourhood::new(&mesh);
        assert_eq!((around.components(), around.defect(0)), (1, None));
        assert_eq!(around.ring(4).vertices, [0, 2, 1, 3]);
        assert_eq!(around.ring(5).vertices, [0, 3, 1, 2]);
        for v in 0..6 {
            let ring = around.ring(v);
            assert_eq!((ring.vertices.len(), ring.sectors.len()), (4, 4));
            for &[a, b] in ring.sectors {
                assert_eq!((a + 1) % 4, b);
            }
        }
        for (e, &[a, b]) in mesh.edges.iter().enumerate() {
            let wings = around.wings(e as u32);
            assert_eq!(wings.len(), 2);
            assert_ne!(wings[0].forward, wings[1].forward);
            for w in wings {
                let f = mesh.faces[w.face as usize];
                assert!(f.contains(&a) && f.contains(&b) && f.contains(&w.opposite));
                assert!(around.face_edges(w.face).contains(&(e as u32)));
                let k = f.iter().position(|&v| v == a).unwrap();
                assert_eq!(f[(k + 1) % 3] == b, w.forward);
            }
        }
    }

    #[test]
    fn defects_are_found_where_they_are() {
        let defect = |faces: &[[u32; 3]], n: usize, wires: &[[u32; 2]]| {
            let around = Neighbourhood::new(&mesh(n, faces, wires));
            (0..around.components()).map(|c| around.defect(c)).collect::<Vec<_>>()
        };
        let open = defect(&OCTAHEDRON[..7], 6, &[]);
        assert!(matches!(open[..], [Some(SurfaceDefect::Border(_))]));
        let mut flipped = OCTAHEDRON;
        flipped[3].swap(0, 1);
        let twisted = defect(&flipped, 6, &[]);
        assert!(matches!(twisted[..], [Some(SurfaceDefect::Twisted(_))]));
        let mut fin = OCTAHEDRON.to_vec();
        fin.push([0, 4, 6]);
        let branching = defect(&fin, 7, &[]);
        assert!(matches!(branching[..], [Some(SurfaceDefect::Branching { faces: 3, .. })]));
        // two octahedra that share vertex 0
        let second = OCTAHEDRON.map(|f| f.map(|v| if v == 0 { 0 } else { v + 5 }));
        let both = [OCTAHEDRON, second].concat();
        assert_eq!(defect(&both, 11, &[]), [Some(SurfaceDefect::Pinched(0))]);
        let codim = defect(&OCTAHEDRON, 9, &[[6, 7]]);
        let want = [None, Some(SurfaceDefect::Wire([6, 7])), Some(SurfaceDefect::Point(8))];
        assert_eq!(codim, want);
        // a hair on a closed surface opens it
        let hair = defect(&OCTAHEDRON, 7, &[[0, 6]]);
        assert!(matches!(hair[..], [Some(SurfaceDefect::Wire(_))]));
    }

    #[test]
    fn open_fans_begin_at_the_border() {
        let around = Neighbourhood::new(&mesh(4, &[[3, 2, 0], [3, 1, 2]], &[]));
        assert_eq!(around.ring(3).vertices, [1, 2, 0]);
        assert_eq!(around.ring(3).sectors, [[1, 2], [0, 1]]);
        assert_eq!(around.ring(0).vertices, [3, 2]);
    }
}
