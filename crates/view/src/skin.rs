//! What of a frame can be seen: the boundary of volumes, and all thinner cells.

use standoff_geometry::quadratic::{self, four_triangles};
use standoff_run::Frame;
use std::collections::HashMap;

/// The visible cells over the vertices that they use.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Skin {
    /// Scene-wide index of every vertex that is used, ascending.
    pub vertices: Vec<u32>,
    /// Triangles over `vertices`: of the volumes' boundaries, then of shells and obstacles.
    pub triangles: Vec<[u32; 3]>,
    /// Number of those on boundaries of volumes.
    pub boundary: usize,
    /// Segments over `vertices`.
    pub edges: Vec<[u32; 2]>,
    /// Points, as indices into `vertices`.
    pub points: Vec<u32>,
    /// Cell of the frame that each of these is or belongs to.
    pub cells: Vec<u32>,
}

impl Skin {
    pub fn new(frame: &Frame) -> Self {
        let boundary = frame.boundary();
        let mut used = vec![false; frame.positions.len()];
        let curved: Vec<[u32; 3]> =
            frame.quadratic_triangles.iter().copied().flat_map(four_triangles).collect();
        let corners = boundary.iter().chain(&frame.triangles).chain(&curved).flatten();
        for v in corners.chain(frame.edges.iter().flatten()).chain(&frame.points) {
            used[*v as usize] = true;
        }
        let vertices: Vec<u32> = (0u32..).zip(&used).filter(|(_, u)| **u).map(|(v, _)| v).collect();
        let mut number = vec![0; used.len()];
        for (k, v) in (0..).zip(&vertices) {
            number[*v as usize] = k;
        }
        let owners = owners(frame, &boundary);
        let first_curved = (frame.solids() + frame.triangles.len()) as u32;
        let behind_curved = first_curved + frame.quadratic_triangles.len() as u32;
        let others = (frame.solids() as u32..first_curved)
            .chain((first_curved..behind_curved).flat_map(|cell| [cell; 4]))
            .chain(behind_curved..frame.cell_body.len() as u32);
        Self {
            cells: owners.into_iter().chain(others).collect(),
            boundary: boundary.len(),
            triangles: boundary
                .iter()
                .chain(&frame.triangles)
                .chain(&curved)
                .map(|t| t.map(|v| number[v as usize]))
                .collect(),
            edges: frame.edges.iter().map(|e| e.map(|v| number[v as usize])).collect(),
            points: frame.points.iter().map(|v| number[*v as usize]).collect(),
            vertices,
        }
    }
}

/// The tetrahedron of every boundary triangle.
fn owners(frame: &Frame, boundary: &[[u32; 3]]) -> Vec<u32> {
    let sorted = |mut f: [u32; 3]| {
        f.sort_unstable();
        f
    };
    let faces: HashMap<[u32; 3], usize> =
        boundary.iter().enumerate().map(|(k, f)| (sorted(*f), k)).collect();
    let mut owners = vec![0; boundary.len()];
    let linear = |[a, b, c, d]: [u32; 4]| vec![[b, c, d], [a, c, d], [a, b, d], [a, b, c]];
    let all =
        frame.tets.iter().map(|t| linear(*t)).chain(frame.quadratic.iter().map(quadratic::faces));
    for (index, own) in (0..).zip(all) {
        for face in own {
            if let Some(k) = faces.get(&sorted(face)) {
                owners[*k] = index;
            }
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundary_triangles_know_their_tetrahedron() {
        // two tetrahedra on a common triangle, an inner vertex of nothing, a triangle, a segment, a point
        let frame = Frame {
            positions: vec![Default::default(); 12],
            tets: vec![[0, 1, 2, 3], [1, 2, 3, 5]],
            triangles: vec![[6, 7, 8]],
            edges: vec![[9, 10]],
            points: vec![11],
            cell_body: vec![0, 0, 1, 2, 3],
            ..Frame::default()
        };
        let skin = Skin::new(&frame);
        assert_eq!(skin.vertices, [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!((skin.boundary, skin.triangles.len()), (6, 7));
        for (triangle, cell) in skin.triangles[..6].iter().zip(&skin.cells) {
            let tet = frame.tets[*cell as usize];
            assert!(triangle.iter().all(|v| tet.contains(&skin.vertices[*v as usize])));
            assert!(triangle.iter().any(|v| skin.vertices[*v as usize] == [0, 5][*cell as usize]));
        }
        assert_eq!(skin.triangles[6], [5, 6, 7]);
        assert_eq!((&skin.edges[..], &skin.points[..]), (&[[8, 9]][..], &[10][..]));
        assert_eq!(skin.cells[6..], [2, 3, 4]);
    }

    #[test]
    fn triangles_of_a_quadratic_tetrahedron_know_it() {
        let nodes: [u32; 10] = std::array::from_fn(|n| 4 + n as u32);
        let frame = Frame {
            positions: vec![Default::default(); 14],
            tets: vec![[0, 1, 2, 3]],
            quadratic: vec![nodes],
            cell_body: vec![0, 1],
            ..Frame::default()
        };
        let skin = Skin::new(&frame);
        assert_eq!((skin.boundary, skin.vertices.len()), (4 + 16, 14));
        assert_eq!(skin.cells, [[0; 4].to_vec(), [1; 16].to_vec()].concat());
        assert!(skin.triangles[4..].iter().flatten().all(|v| nodes.contains(v)));
    }

    #[test]
    fn a_quadratic_triangle_is_seen_as_four() {
        let frame = Frame {
            positions: vec![Default::default(); 11],
            triangles: vec![[0, 1, 2]],
            quadratic_triangles: vec![[3, 4, 5, 6, 7, 8]],
            edges: vec![[9, 10]],
            cell_body: vec![0, 1, 2],
            ..Frame::default()
        };
        let skin = Skin::new(&frame);
        assert_eq!(skin.triangles[1..], four_triangles([3, 4, 5, 6, 7, 8]));
        assert_eq!(skin.cells, [0, 1, 1, 1, 1, 2]);
    }
}
