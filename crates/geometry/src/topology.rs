//! Topology of simplicial meshes: boundary of a tetrahedral mesh, edges, adjacency, components.
//!
//! Everything here is index work on `#T×4`, `#F×3`, `#E×2` lists; positions are never looked at.
//! Results depend on the input lists only (sorting, no hashing).

/// What is wrong with a list of cells.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// More than two tetrahedra share a face, so that the solid has no boundary surface there.
    #[error("face {face:?} belongs to {count} tetrahedra; at most 2 can share a face")]
    SharedFace {
        /// The face's vertices, ascending.
        face: [u32; 3],
        /// Number of tetrahedra with that face.
        count: usize,
    },
    /// More than two triangles of a planar solid share an edge, so that it has no outline there.
    #[error("edge {edge:?} belongs to {count} triangles; at most 2 can share an edge")]
    SharedEdge {
        /// The edge's vertices, ascending.
        edge: [u32; 2],
        /// Number of triangles with that edge.
        count: usize,
    },
    /// A cell names the same vertex twice.
    #[error("cell {cell} repeats a vertex: {vertices:?}")]
    RepeatedVertex {
        /// Index of the cell.
        cell: usize,
        /// Its vertices.
        vertices: Vec<u32>,
    },
    /// A cell names a vertex that does not exist.
    #[error("cell {cell} names vertex {vertex}, but there are only {vertices} vertices")]
    VertexOutOfRange {
        /// Index of the cell.
        cell: usize,
        /// The vertex it names.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
}

/// Checks that every cell has distinct vertices below `vertices`.
pub fn check_cells<const N: usize>(
    cells: &[[u32; N]],
    vertices: usize,
) -> Result<(), TopologyError> {
    for (cell, c) in cells.iter().enumerate() {
        if let Some(&vertex) = c.iter().find(|&&v| v as usize >= vertices) {
            return Err(TopologyError::VertexOutOfRange { cell, vertex, vertices });
        }
        if (1..N).any(|k| c[..k].contains(&c[k])) {
            return Err(TopologyError::RepeatedVertex { cell, vertices: c.to_vec() });
        }
    }
    Ok(())
}

/// The ends of an edge in ascending order: the key of an edge whatever its direction.
#[inline]
pub fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The four faces of a tetrahedron (a, b, c, d) with (b−a)·((c−a)×(d−a)) > 0, seen from outside
/// counter-clockwise.
pub const TET_FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Faces used by exactly one tetrahedron (`#F×3`), oriented outwards for tets of positive volume,
/// in the order of the tets (`#T×4`) and of [`TET_FACES`] within a tet.
pub fn boundary_faces(tets: &[[u32; 4]]) -> Result<Vec<[u32; 3]>, TopologyError> {
    let mut all = Vec::with_capacity(tets.len() * 4);
    for (t, tet) in tets.iter().enumerate() {
        if (1..4).any(|k| tet[..k].contains(&tet[k])) {
            return Err(TopologyError::RepeatedVertex { cell: t, vertices: tet.to_vec() });
        }
        for (k, local) in TET_FACES.iter().enumerate() {
            let mut key = local.map(|i| tet[i]);
            key.sort_unstable();
            all.push((key, 4 * t + k));
        }
    }
    let single =
        used_once(all).map_err(|(face, count)| TopologyError::SharedFace { face, count })?;
    Ok(single.into_iter().map(|s| TET_FACES[s % 4].map(|i| tets[s / 4][i])).collect())
}

/// The places of sides that one cell has, ascending; sides are given by their vertices, ascending, and their place. The error
/// is a side of more than two cells, and of how many.
fn used_once<const N: usize>(
    mut sides: Vec<([u32; N], usize)>,
) -> Result<Vec<usize>, ([u32; N], usize)> {
    sides.sort_unstable();
    let mut single = Vec::new();
    for same in sides.chunk_by(|a, b| a.0 == b.0) {
        match same.len() {
            1 => single.push(same[0].1),
            2 => {}
            count => return Err((same[0].0, count)),
        }
    }
    single.sort_unstable();
    Ok(single)
}

/// Edges used by exactly one triangle (`#E×2`), in the direction in which their triangle goes along them:
/// where triangles are counter-clockwise, the inside is on the left. In the order of the triangles
/// (`#F×3`) and of their corners.
pub fn boundary_edges(triangles: &[[u32; 3]]) -> Result<Vec<[u32; 2]>, TopologyError> {
    let mut all = Vec::with_capacity(triangles.len() * 3);
    for (t, f) in triangles.iter().enumerate() {
        if (1..3).any(|k| f[..k].contains(&f[k])) {
            return Err(TopologyError::RepeatedVertex { cell: t, vertices: f.to_vec() });
        }
        all.extend((0..3).map(|k| (ascending(f[k], f[(k + 1) % 3]), 3 * t + k)));
    }
    let single =
        used_once(all).map_err(|(edge, count)| TopologyError::SharedEdge { edge, count })?;
    let edge = |s: usize| [s % 3, (s + 1) % 3].map(|k| triangles[s / 3][k]);
    Ok(single.into_iter().map(edge).collect())
}

/// Every edge of the cells once (`#E×2`), ends ascending, the list in lexicographic order.
///
/// All pairs of vertices of a cell are edges: 1 of a segment, 3 of a triangle, 6 of a tetrahedron.
pub fn unique_edges<const N: usize>(cells: &[[u32; N]]) -> Vec<[u32; 2]> {
    let mut edges = Vec::with_capacity(cells.len() * N * N.saturating_sub(1) / 2);
    for c in cells {
        for i in 0..N {
            for j in i + 1..N {
                edges.push(ascending(c[i], c[j]));
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A list of lists in compressed rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// Where a row begins in `items` (`rows + 1`).
    pub offsets: Vec<u32>,
    /// The rows' entries one after the other.
    pub items: Vec<u32>,
}

impl Adjacency {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entries of row `i`, ascending.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Rows from (row, entry) pairs, which may repeat and come in any order.
    pub(crate) fn from_pairs(rows: usize, mut pairs: Vec<[u32; 2]>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0; rows + 1];
        for p in &pairs {
            offsets[p[0] as usize + 1] += 1;
        }
        for i in 0..rows {
            offsets[i + 1] += offsets[i];
        }
        Self { offsets, items: pairs.into_iter().map(|p| p[1]).collect() }
    }
}

/// Neighbours of every vertex along the edges of the cells; `vertices` bounds all indices.
pub fn vertex_adjacency<const N: usize>(
    vertices: usize,
    cells: &[[u32; N]],
) -> Result<Adjacency, TopologyError> {
    check_cells(cells, vertices)?;
    let edges = unique_edges(cells);
    let pairs = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    Ok(Adjacency::from_pairs(vertices, pairs))
}

/// Cells around every vertex; `vertices` bounds all indices.
pub fn vertex_cells<const N: usize>(
    vertices: usize,
    cells: &[[u32; N]],
) -> Result<Adjacency, TopologyError> {
    check_cells(cells, vertices)?;
    let pairs =
        cells.iter().enumerate().flat_map(|(k, c)| c.map(|v| [v, k as u32])).collect::<Vec<_>>();
    Ok(Adjacency::from_pairs(vertices, pairs))
}

/// Component of every vertex (`#V`) under the relation "in the same cell", and their number.
///
/// Components are numbered by their first vertex; a vertex of no cell is a component of its own.
pub fn connected_components<const N: usize>(
    vertices: usize,
    cells: &[[u32; N]],
) -> Result<(Vec<u32>, usize), TopologyError> {
    check_cells(cells, vertices)?;
    let mut parent: Vec<u32> = (0..vertices as u32).collect();
    fn root(parent: &mut [u32], mut v: u32) -> u32 {
        while parent[v as usize] != v {
            // halve the path on the way up
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    }
    for c in cells {
        for k in 1..N {
            let (a, b) = (root(&mut parent, c[0]), root(&mut parent, c[k]));
            // the smaller vertex stays the root, so that numbering below meets it first
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut label = vec![0; vertices];
    let mut count = 0;
    for v in 0..vertices as u32 {
        let r = root(&mut parent, v);
        if r == v {
            label[v as usize] = count;
            count += 1;
        } else {
            label[v as usize] = label[r as usize];
        }
    }
    Ok((label, count as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Vec3;

    /// A box of n³ cubes with six positive tets each, and its vertices.
    fn grid(n: u32) -> (Vec<Vec3>, Vec<[u32; 4]>) {
        let m = n + 1;
        let at = |i: u32, j: u32, k: u32| (i * m + j) * m + k;
        let mut x = Vec::new();
        for i in 0..m {
            for j in 0..m {
                for k in 0..m {
                    x.push(Vec3::new(i as f64, j as f64, k as f64));
                }
            }
        }
        let mut tets = Vec::new();
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    // one tet per order in which the three axes are followed
                    for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
                        let mut c = [i, j, k];
                        let v0 = at(c[0], c[1], c[2]);
                        c[a] += 1;
                        let v1 = at(c[0], c[1], c[2]);
                        c[b] += 1;
                        let v2 = at(c[0], c[1], c[2]);
                        let v3 = at(i + 1, j + 1, k + 1);
                        let e = [v1, v2, v3].map(|v| x[v as usize] - x[v0 as usize]);
                        if e[0].dot(&e[1].cross(&e[2])) > 0.0 {
                            tets.push([v0, v1, v2, v3]);
                        } else {
                            tets.push([v0, v2, v1, v3]);
                        }
                    }
                }
            }
        }
        (x, tets)
    }

    #[test]
    fn boundary_of_a_grid_is_closed_and_points_outwards() {
        let (x, mut tets) = grid(3);
        let faces = boundary_faces(&tets).unwrap();
        assert_eq!(faces.len(), 6 * 9 * 2);
        // the divergence theorem gives the volume only if all faces point outwards
        let p = |v: u32| x[v as usize];
        let volume: f64 =
            faces.iter().map(|f| p(f[0]).dot(&p(f[1]).cross(&p(f[2]))) / 6.0).sum::<f64>();
        assert!((volume - 27.0).abs() < 1e-12);
        // Euler: V − E + F = 2 of a sphere
        let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len() + faces.len(), unique_edges(&faces).len() + 2);
        // each half-edge once, its opposite once
        let half = |f: &[u32; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]];
        let mut halves: Vec<[u32; 2]> = faces.iter().flat_map(half).collect();
        let mut opposite: Vec<[u32; 2]> = halves.iter().map(|&[a, b]| [b, a]).collect();
        halves.sort_unstable();
        opposite.sort_unstable();
        assert_eq!(halves, opposite);
        // a third tet on an inner face
        let inner = [tets[0][0], tets[0][1], tets[0][3]];
        tets.push([inner[0], inner[1], inner[2], x.len() as u32]);
        tets.push([inner[1], inner[0], inner[2], x.len() as u32 + 1]);
        assert!(matches!(boundary_faces(&tets), Err(TopologyError::SharedFace { .. })));
    }

    #[test]
    fn outline_of_two_triangles_keeps_their_sense() {
        let square = [[0, 1, 2], [0, 2, 3]];
        assert_eq!(boundary_edges(&square).unwrap(), [[0, 1], [1, 2], [2, 3], [3, 0]]);
        let fan = [[0, 1, 2], [1, 0, 3], [0, 1, 4]];
        let error = TopologyError::SharedEdge { edge: [0, 1], count: 3 };
        assert_eq!(boundary_edges(&fan), Err(error));
        assert!(matches!(boundary_edges(&[[0, 1, 1]]), Err(TopologyError::RepeatedVertex { .. })));
    }

    #[test]
    fn bad_cells_are_errors() {
        assert!(matches!(
            boundary_faces(&[[0, 1, 2, 1]]),
            Err(TopologyError::RepeatedVertex { cell: 0, .. })
        ));
        assert!(matches!(
            vertex_adjacency(3, &[[0, 1, 3]]),
            Err(TopologyError::VertexOutOfRange { vertex: 3, .. })
        ));
    }

    #[test]
    fn edges_adjacency_components() {
        let tets = [[0, 1, 2, 3], [5, 7, 6, 8]];
        assert_eq!(unique_edges(&tets).len(), 12);
        assert_eq!(unique_edges(&[[2, 1, 0], [1, 2, 3]]), [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        let adjacency = vertex_adjacency(4, &[[2, 1, 0], [1, 2, 3]]).unwrap();
        assert_eq!(adjacency.row(1), [0, 2, 3]);
        assert_eq!(adjacency.row(3), [1, 2]);
        let cells = vertex_cells(4, &[[2, 1, 0], [1, 2, 3]]).unwrap();
        assert_eq!((cells.row(0), cells.row(1)), (&[0][..], &[0, 1][..]));
        let (label, count) = connected_components(10, &tets).unwrap();
        assert_eq!((label, count), (vec![0, 0, 0, 0, 1, 2, 2, 2, 2, 3], 4));
        let (label, count) = connected_components(5, &[[4, 3], [1, 0], [3, 1]]).unwrap();
        assert_eq!((label, count), (vec![0, 0, 1, 0, 0], 2));
    }
}
