//! Tetrahedra and triangles with a node in the middle of each edge: index work, and where such nodes are on straight edges.
//!
//! The hash maps here are only looked up, so that results depend on the input lists alone.

use crate::topology::{self, TopologyError, ascending};
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// Nodes of an element: its corners 0 to 3, then the middles of [`EDGES`].
pub const NODES: usize = 10;

/// The corners of the edges whose middles are nodes 4 to 9, in the order of VTK's quadratic tetrahedra.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Nodes of a triangle: its corners 0 to 2, then the middles of [`TRIANGLE_EDGES`].
pub const TRIANGLE_NODES: usize = 6;

/// The corners of the edges whose middles are nodes 3 to 5, in the order of VTK's quadratic triangles.
pub const TRIANGLE_EDGES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

/// The nodes of eight linear elements that fill a quadratic one.
pub const PARTS: [[usize; 4]; 8] = [
    [0, 4, 6, 7],
    [4, 1, 5, 8],
    [6, 5, 2, 9],
    [7, 8, 9, 3],
    // between the middles, about the line from that of edge 01 to that of edge 23
    [4, 9, 6, 5],
    [4, 9, 5, 8],
    [4, 9, 8, 7],
    [4, 9, 7, 6],
];

/// Stands for the middles of a tetrahedron that has none yet.
pub const NONE: [u32; 6] = [u32::MAX; 6];

/// The edges of a tetrahedron, in the order of [`EDGES`].
pub fn edges(tet: &[u32; 4]) -> [[u32; 2]; 6] {
    EDGES.map(|[a, b]| ascending(tet[a], tet[b]))
}

/// The edges of a triangle, in the order of [`TRIANGLE_EDGES`].
pub fn triangle_edges(triangle: &[u32; 3]) -> [[u32; 2]; 3] {
    TRIANGLE_EDGES.map(|[a, b]| ascending(triangle[a], triangle[b]))
}

/// The E edges of a tetrahedron or triangle with C corners.
fn edges_of<const C: usize, const E: usize>(element: &[u32; C]) -> [[u32; 2]; E] {
    std::array::from_fn(|e| {
        let [a, b] = if C == 4 { EDGES[e] } else { TRIANGLE_EDGES[e] };
        ascending(element[a], element[b])
    })
}

/// The node in the middle of each edge.
fn middle_of_edges<const C: usize, const E: usize>(
    elements: &[[u32; C]],
    middles: &[[u32; E]],
) -> HashMap<[u32; 2], u32> {
    let with = elements.iter().zip(middles).filter(|(_, m)| **m != [u32::MAX; E]);
    with.flat_map(|(t, m)| edges_of::<C, E>(t).into_iter().zip(*m)).collect()
}

/// Gives all tetrahedra (`#T×4`) or triangles (`#T×3`) middles that have [`NONE`] (of triangles `[u32::MAX; 3]`), or no row, in `middles` (`#T×6` or
/// `#T×3` then): those that their edges have in other elements, or new ones half-way along them, which are appended to `points`. The number of these
/// elements.
pub fn add_middles<const C: usize, const E: usize>(
    elements: &[[u32; C]],
    middles: &mut Vec<[u32; E]>,
    points: &mut Vec<Vec3>,
) -> usize {
    let mut known = middle_of_edges(elements, middles);
    middles.resize(elements.len(), [u32::MAX; E]);
    let mut count = 0;
    for (t, m) in elements.iter().zip(middles).filter(|(_, m)| **m == [u32::MAX; E]) {
        count += 1;
        *m = edges_of(t).map(|edge| {
            *known.entry(edge).or_insert_with(|| {
                let [a, b] = edge.map(|v| points[v as usize]);
                points.push(a + (b - a) * 0.5);
                points.len() as u32 - 1
            })
        });
    }
    count
}

/// The ten nodes of each element.
pub fn nodes(tets: &[[u32; 4]], middles: &[[u32; 6]]) -> Vec<[u32; NODES]> {
    let join = |(t, m): (&[u32; 4], &[u32; 6])| {
        std::array::from_fn(|n| if n < 4 { t[n] } else { m[n - 4] })
    };
    tets.iter().zip(middles).map(join).collect()
}

/// The six nodes of each triangle.
pub fn triangle_nodes(triangles: &[[u32; 3]], middles: &[[u32; 3]]) -> Vec<[u32; TRIANGLE_NODES]> {
    let join = |(t, m): (&[u32; 3], &[u32; 3])| [t[0], t[1], t[2], m[0], m[1], m[2]];
    triangles.iter().zip(middles).map(join).collect()
}

/// The outline of triangles (`#T×3`), with the inside on its left. Where they have middles (`#T×3`), each edge is two segments between its three
/// nodes.
///
/// # Errors
/// As [`topology::boundary_edges`].
pub fn outline(
    triangles: &[[u32; 3]],
    middles: &[[u32; 3]],
) -> Result<Vec<[u32; 2]>, TopologyError> {
    let edges = topology::boundary_edges(triangles)?;
    if middles.is_empty() {
        return Ok(edges);
    }
    let known = middle_of_edges(triangles, middles);
    let divided = |[a, b]: [u32; 2]| match known.get(&ascending(a, b)) {
        Some(&m) => vec![[a, m], [m, b]],
        None => vec![[a, b]],
    };
    Ok(edges.into_iter().flat_map(divided).collect())
}

/// Corners and middles of elements with ten nodes.
fn split(elements: &[[u32; NODES]]) -> (Vec<[u32; 4]>, Vec<[u32; 6]>) {
    let corners = |n: &[u32; NODES]| std::array::from_fn(|a| n[a]);
    let middles = |n: &[u32; NODES]| std::array::from_fn(|e| n[4 + e]);
    elements.iter().map(|n| (corners(n), middles(n))).unzip()
}

/// Four triangles between the six nodes of each of the given faces of tetrahedra (`#T×4`) with middles (`#T×6`). A face with an edge without a
/// middle stays whole.
pub fn divide_faces(
    faces: Vec<[u32; 3]>,
    tets: &[[u32; 4]],
    middles: &[[u32; 6]],
) -> Vec<[u32; 3]> {
    let known = middle_of_edges(tets, middles);
    let middle = |a: u32, b: u32| known.get(&ascending(a, b)).copied();
    let divided = |[a, b, c]: [u32; 3]| match (middle(a, b), middle(b, c), middle(c, a)) {
        (Some(ab), Some(bc), Some(ca)) => four_triangles([a, b, c, ab, bc, ca]).to_vec(),
        _ => vec![[a, b, c]],
    };
    faces.into_iter().flat_map(divided).collect()
}

/// The triangles of a face with corners 0, 1, 2 and the middles of its edges 01, 12, 20.
pub fn four_triangles([a, b, c, ab, bc, ca]: [u32; 6]) -> [[u32; 3]; 4] {
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
}

/// The faces (corners, then middles) of which the four triangles stand one after the other among `triangles`, as [`divide_faces`] makes them, and the
/// triangles that are left.
pub fn join_faces(triangles: &[[u32; 3]]) -> (Vec<[u32; 6]>, Vec<[u32; 3]>) {
    let (mut faces, mut left, mut rest) = (Vec::new(), Vec::new(), triangles);
    while let Some((first, after)) = rest.split_first() {
        if let [[a, ab, ca], [_, b, bc], [_, _, c], _, ..] = *rest {
            let face = [a, b, c, ab, bc, ca];
            if rest.starts_with(&four_triangles(face)) {
                faces.push(face);
                rest = &rest[4..];
                continue;
            }
        }
        left.push(*first);
        rest = after;
    }
    (faces, left)
}

/// The triangles between the nodes of the four faces of an element, four for each face, oriented outwards.
pub fn faces(element: &[u32; NODES]) -> Vec<[u32; 3]> {
    let (tet, middles) = split(&[*element]);
    let faces = topology::TET_FACES.map(|f| f.map(|a| tet[0][a]));
    divide_faces(faces.to_vec(), &tet, &middles)
}

/// The boundary of tetrahedra (`#T×4`), oriented outwards. Where they have middles (`#T×6`), each face is four triangles between its six
/// nodes.
///
/// # Errors
/// A face of more than two tetrahedra.
pub fn boundary(tets: &[[u32; 4]], middles: &[[u32; 6]]) -> Result<Vec<[u32; 3]>, TopologyError> {
    let faces = topology::boundary_faces(tets)?;
    Ok(if middles.is_empty() { faces } else { divide_faces(faces, tets, middles) })
}

/// The same of elements with ten nodes.
///
/// # Errors
/// As [`boundary`].
pub fn boundary_of(elements: &[[u32; NODES]]) -> Result<Vec<[u32; 3]>, TopologyError> {
    let (tets, middles) = split(elements);
    boundary(&tets, &middles)
}

/// Why the middles (`#T×6`, `#T×3`) do not fit the tetrahedra (`#T×4`) or triangles (`#T×3`), if they do not.
pub fn misfit<const C: usize, const E: usize>(
    elements: &[[u32; C]],
    middles: &[[u32; E]],
) -> Option<String> {
    if middles.is_empty() {
        return None;
    }
    if middles.len() != elements.len() {
        let (given, wanted) = (middles.len(), elements.len());
        let what = if C == 4 { "tetrahedra" } else { "triangles" };
        return Some(format!("there are middles of edges for {given} of {wanted} {what}"));
    }
    let (mut of_edge, mut of_node) = (HashMap::new(), HashMap::new());
    for (t, m) in elements.iter().zip(middles) {
        for (edge, &middle) in edges_of::<C, E>(t).into_iter().zip(m) {
            let other = *of_edge.entry(edge).or_insert(middle);
            if other != middle {
                return Some(format!(
                    "edge {edge:?} has two nodes in its middle, {other} and {middle}"
                ));
            }
            let own = *of_node.entry(middle).or_insert(edge);
            if own != edge {
                return Some(format!(
                    "vertex {middle} is the middle of two edges, {own:?} and {edge:?}"
                ));
            }
        }
    }
    let corner = elements.iter().flatten().find(|v| of_node.contains_key(*v));
    corner.map(|v| format!("vertex {v} is a corner and the middle of an edge"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Vec<[u32; 4]>, Vec<[u32; 6]>, Vec<Vec3>) {
        let mut points = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::x()];
        let (tets, mut middles) = (vec![[0, 1, 2, 3], [0, 2, 4, 3]], Vec::new());
        assert_eq!(add_middles(&tets, &mut middles, &mut points), 2);
        (tets, middles, points)
    }

    #[test]
    fn neighbours_share_the_middles_of_their_edges() {
        let (tets, middles, points) = two();
        // nine edges of five corners
        assert_eq!(points.len(), 14);
        for (t, m) in tets.iter().zip(&middles) {
            for (e, middle) in EDGES.iter().zip(m) {
                let [a, b] = e.map(|a| points[t[a] as usize]);
                assert_eq!(points[*middle as usize], 0.5 * (a + b));
            }
        }
        assert_eq!(misfit(&tets, &middles), None);
        assert_eq!(nodes(&tets, &middles)[1][..5], [0, 2, 4, 3, middles[1][0]]);
    }

    #[test]
    fn the_boundary_has_four_triangles_for_each_face() {
        let (tets, middles, points) = two();
        let found = boundary(&tets, &middles).unwrap();
        assert_eq!(found.len(), 24);
        assert_eq!(boundary_of(&nodes(&tets, &middles)).unwrap(), found);
        let normal = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)) * 0.5
        };
        let of_one = faces(&nodes(&tets, &middles)[0]);
        // closed, and outwards: the volume by the divergence theorem
        for (faces, exact) in [(found, 1.0 / 3.0), (of_one, 1.0 / 6.0)] {
            let total: Vec3 = faces.iter().map(normal).sum();
            let volume: f64 = faces.iter().map(|f| normal(f).dot(&points[f[0] as usize])).sum();
            assert!(total.norm() < 1e-15 && (volume / 3.0 - exact).abs() < 1e-15);
        }
        assert_eq!(boundary(&tets, &[]).unwrap().len(), 6);
    }

    #[test]
    fn faces_are_found_again_among_triangles() {
        let (tets, middles, _) = two();
        let all = boundary(&tets, &middles).unwrap();
        let (faces, left) = join_faces(&all);
        assert_eq!((faces.len(), left.len()), (6, 0));
        let whole = topology::boundary_faces(&tets).unwrap();
        assert!(faces.iter().zip(&whole).all(|(f, w)| f[..3] == w[..]));
        let again: Vec<[u32; 3]> = faces.iter().flat_map(|f| four_triangles(*f)).collect();
        assert_eq!(again, all);
        // without one triangle of the second face its others are left
        let without: Vec<[u32; 3]> = [&all[..5], &all[6..]].concat();
        let (faces, left) = join_faces(&without);
        assert_eq!((faces.len(), left), (5, vec![all[4], all[6], all[7]]));
    }

    #[test]
    fn eight_parts_fill_an_element() {
        let (tets, middles, points) = two();
        let nodes = nodes(&tets, &middles)[0];
        let volume = |part: [usize; 4]| {
            let [a, b, c, d] = part.map(|n| points[nodes[n] as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a)).abs() / 6.0
        };
        for part in PARTS {
            assert!((volume(part) - 1.0 / 48.0).abs() < 1e-16, "{part:?}");
        }
    }

    #[test]
    fn middles_that_do_not_fit_are_found() {
        let (tets, middles, _) = two();
        let found = |change: &dyn Fn(&mut Vec<[u32; 6]>)| {
            let mut all = middles.clone();
            change(&mut all);
            misfit(&tets, &all).unwrap_or_default()
        };
        assert!(found(&|m| m.truncate(1)).contains("1 of 2"));
        assert!(found(&|m| m[0][2] = 99).contains("two nodes in its middle"));
        assert!(found(&|m| m[0][0] = m[0][5]).contains("middle of two edges"));
        assert!(found(&|m| m[1][1] = 1).contains("a corner and the middle"));
    }
}
