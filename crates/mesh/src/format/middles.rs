//! On which edge each node behind the corners is, where a format or the versions of its programs leave this order open.
//!
//! The places tell it: over all elements together, the node of an edge is the one that is closest to the middle between its ends.

use standoff_geometry::quadratic::{EDGES, TRIANGLE_EDGES};
use standoff_linalg::Vec3;

/// The place in the file of the nodes of a quadratic tetrahedron (ten) or triangle (six): corners, then edges in our order. `None` where the
/// places do not tell it.
pub(super) fn order<'a>(
    points: &[Vec3],
    elements: impl Iterator<Item = &'a [u32]>,
    nodes: usize,
) -> Option<Vec<usize>> {
    let (corners, edges) = match nodes {
        10 => (4, &EDGES[..]),
        6 => (3, &TRIANGLE_EDGES[..]),
        _ => return None,
    };
    // how far nodes are off the middles of edges, relative to the size of their elements
    let mut off = vec![vec![0.0; edges.len()]; edges.len()];
    for element in elements.filter(|e| e.len() == nodes) {
        let x: Vec<Vec3> =
            element.iter().filter_map(|v| points.get(*v as usize).copied()).collect();
        if x.len() < nodes {
            continue;
        }
        let size: f64 = edges.iter().map(|[a, b]| (x[*a] - x[*b]).norm_squared()).sum();
        for (off, [a, b]) in off.iter_mut().zip(edges) {
            let middle = (x[*a] + x[*b]) * 0.5;
            let distances = x[corners..].iter().map(|x| (x - middle).norm_squared() / size);
            off.iter_mut().zip(distances).for_each(|(off, d)| *off += d);
        }
    }
    let mut order: Vec<usize> = (0..corners).collect();
    for off in &off {
        let closest = (0..off.len()).min_by(|a, b| off[*a].total_cmp(&off[*b]))?;
        order.push(corners + closest);
    }
    let is_once = (1..nodes).all(|i| !order[..i].contains(&order[i]));
    is_once.then_some(order)
}
