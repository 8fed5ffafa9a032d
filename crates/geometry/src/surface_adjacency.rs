//! Which vertices, edges and triangles of a collision mesh are neighbours.

use crate::CollisionMesh;
use crate::topology::ascending;
use std::collections::HashMap;

/// Neighbourhoods of the vertices, edges and faces of a [`CollisionMesh`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SurfaceAdjacency {
    /// Vertices joined to a vertex by an edge, ascending (`#V`).
    pub vertex_vertices: Vec<Vec<u32>>,
    /// Edges at a vertex, ascending (`#V`).
    pub vertex_edges: Vec<Vec<u32>>,
    /// Vertices opposite to an edge in its triangles, ascending (`#E`).
    pub edge_vertices: Vec<Vec<u32>>,
    /// Edges of a face, of [t0 t1], [t1 t2], [t2 t0] (`#F`).
    pub face_edges: Vec<[u32; 3]>,
    /// Whether a vertex is not interior to a surface: on no edge, or on one of fewer than two
    /// triangles (`#V`).
    pub on_boundary: Vec<bool>,
}

impl SurfaceAdjacency {
    /// Neighbourhoods of `mesh`.
    pub fn new(mesh: &CollisionMesh) -> Self {
        let index = mesh.edge_index();
        let n = mesh.rest.len();
        let mut out = Self {
            vertex_vertices: vec![Vec::new(); n],
            vertex_edges: vec![Vec::new(); n],
            edge_vertices: vec![Vec::new(); mesh.edges.len()],
            face_edges: Vec::with_capacity(mesh.faces.len()),
            on_boundary: vec![true; n],
        };
        for (i, &[a, b]) in mesh.edges.iter().enumerate() {
            for (v, w) in [(a, b), (b, a)] {
                out.vertex_vertices[v as usize].push(w);
                out.vertex_edges[v as usize].push(i as u32);
            }
        }
        for f in &mesh.faces {
            // every edge of a face is in the mesh's list
            let edges = [0, 1, 2]
                .map(|k| index.get(&ascending(f[k], f[(k + 1) % 3])).copied().unwrap_or_default());
            for k in 0..3 {
                out.edge_vertices[edges[k] as usize].push(f[(k + 2) % 3]);
            }
            out.face_edges.push(edges);
        }
        for opposite in &mut out.edge_vertices {
            opposite.sort_unstable();
        }
        for (v, edges) in out.vertex_edges.iter().enumerate() {
            let is_shared = |e: &u32| out.edge_vertices[*e as usize].len() >= 2;
            out.on_boundary[v] = edges.is_empty() || !edges.iter().all(is_shared);
        }
        for list in &mut out.vertex_vertices {
            list.sort_unstable();
        }
        out
    }
}

impl CollisionMesh {
    /// Index of an edge by its ascending ends, for look-up only.
    pub fn edge_index(&self) -> HashMap<[u32; 2], u32> {
        self.edges.iter().enumerate().map(|(i, e)| (ascending(e[0], e[1]), i as u32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Vec3;

    /// A pyramid without its base, a wire from its top and a point: the top alone is interior.
    #[test]
    fn neighbours_of_a_pyramid_with_a_wire_and_a_point() {
        let rest = vec![Vec3::zeros(); 7];
        let faces = vec![[4, 0, 1], [4, 1, 2], [4, 2, 3], [4, 3, 0]];
        let closed =
            SurfaceAdjacency::new(&CollisionMesh::new(rest.clone(), faces.clone(), &[], &[]));
        assert_eq!(closed.on_boundary, [true, true, true, true, false, true, true]);

        let mesh = CollisionMesh::new(rest, faces, &[[5, 4]], &[6]);
        let index = mesh.edge_index();
        let adjacency = SurfaceAdjacency::new(&mesh);
        assert_eq!(adjacency.vertex_vertices[4], [0, 1, 2, 3, 5]);
        assert_eq!(adjacency.vertex_vertices[0], [1, 3, 4]);
        assert_eq!(adjacency.vertex_edges[5], [index[&[4, 5]]]);
        assert_eq!(adjacency.edge_vertices[index[&[1, 4]] as usize], [0, 2]);
        assert_eq!(adjacency.edge_vertices[index[&[0, 1]] as usize], [4]);
        assert_eq!(adjacency.edge_vertices[index[&[4, 5]] as usize], [0_u32; 0]);
        assert_eq!(adjacency.face_edges[1], [[1, 4], [1, 2], [2, 4]].map(|e| index[&e]));
        // an edge without two triangles puts its ends on the boundary
        assert_eq!(adjacency.on_boundary, [true; 7]);
    }
}
