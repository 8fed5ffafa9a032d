//! Bodies of quadratic tetrahedra: tetrahedra with a node in the middle of each edge.

use crate::energy::quadratic_tet::{EDGES, NODES};
use standoff_geometry::topology;
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// Adds a point in the middle of each edge of tetrahedra (`#T×4`) to `points`; the nodes in the middles of the six edges of each tetrahedron
/// (`#T×6`), in the order of [`EDGES`].
pub fn add_middles(tets: &[[u32; 4]], points: &mut Vec<Vec3>) -> Vec<[u32; 6]> {
    let mut known: HashMap<[u32; 2], u32> = HashMap::new();
    let mut of_edge = |edge: [u32; 2]| {
        *known.entry(edge).or_insert_with(|| {
            let [a, b] = edge.map(|v| points[v as usize]);
            points.push(a + (b - a) * 0.5);
            points.len() as u32 - 1
        })
    };
    tets.iter().map(|t| EDGES.map(|e| of_edge(ascending(e.map(|a| t[a]))))).collect()
}

/// The ten nodes of each element.
pub fn nodes(tets: &[[u32; 4]], middles: &[[u32; 6]]) -> Vec<[u32; NODES]> {
    let join = |(t, m): (&[u32; 4], &[u32; 6])| {
        std::array::from_fn(|n| if n < 4 { t[n] } else { m[n - 4] })
    };
    tets.iter().zip(middles).map(join).collect()
}

/// The triangles between the nodes of the four faces of an element, four for each face, oriented outwards.
pub fn faces(nodes: &[u32; NODES]) -> Vec<[u32; 3]> {
    let [tet, middles] = [&nodes[..4], &nodes[4..]];
    let one = ([tet[0], tet[1], tet[2], tet[3]], std::array::from_fn(|e| middles[e]));
    boundary(&[one.0], &[one.1]).unwrap_or_default()
}

/// The boundary of tetrahedra (`#T×4`), oriented outwards. Where they have nodes in the middles of their edges (`#T×6`), each face is four triangles
/// between its six nodes.
///
/// # Errors
/// A face of more than two tetrahedra.
pub fn boundary(
    tets: &[[u32; 4]],
    middles: &[[u32; 6]],
) -> Result<Vec<[u32; 3]>, topology::TopologyError> {
    let faces = topology::boundary_faces(tets)?;
    if middles.is_empty() {
        return Ok(faces);
    }
    let mut of_edge = HashMap::new();
    for (t, m) in tets.iter().zip(middles) {
        for (e, middle) in EDGES.iter().zip(m) {
            of_edge.insert(ascending(e.map(|a| t[a])), *middle);
        }
    }
    let middle = |a: u32, b: u32| of_edge.get(&ascending([a, b])).copied();
    let divided = |[a, b, c]: [u32; 3]| match (middle(a, b), middle(b, c), middle(c, a)) {
        (Some(ab), Some(bc), Some(ca)) => {
            vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        }
        // middles that do not fit are refused elsewhere
        _ => vec![[a, b, c]],
    };
    Ok(faces.into_iter().flat_map(divided).collect())
}

/// Why the nodes in the middles of edges (`#T×6`) do not fit the tetrahedra (`#T×4`), if they do not.
pub(crate) fn misfit(tets: &[[u32; 4]], middles: &[[u32; 6]]) -> Option<String> {
    if middles.is_empty() {
        return None;
    }
    if middles.len() != tets.len() {
        let (given, wanted) = (middles.len(), tets.len());
        return Some(format!("there are middles of edges for {given} of {wanted} tetrahedra"));
    }
    let (mut of_edge, mut of_node) = (HashMap::new(), HashMap::new());
    for (t, m) in tets.iter().zip(middles) {
        for (e, &middle) in EDGES.iter().zip(m) {
            let edge = ascending(e.map(|a| t[a]));
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
    let corner = tets.iter().flatten().find(|v| of_node.contains_key(*v));
    corner.map(|v| format!("vertex {v} is a corner and the middle of an edge"))
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Vec<[u32; 4]>, Vec<[u32; 6]>, Vec<Vec3>) {
        let mut points = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::x()];
        let tets = vec![[0, 1, 2, 3], [0, 2, 4, 3]];
        let middles = add_middles(&tets, &mut points);
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
        let faces = boundary(&tets, &middles).unwrap();
        assert_eq!(faces.len(), 24);
        let normal = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)) * 0.5
        };
        // closed, and outwards: the volume by the divergence theorem
        let total: Vec3 = faces.iter().map(normal).sum();
        let volume: f64 = faces.iter().map(|f| normal(f).dot(&points[f[0] as usize]) / 3.0).sum();
        assert!(total.norm() < 1e-15 && (volume - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(boundary(&tets, &[]).unwrap().len(), 6);
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
