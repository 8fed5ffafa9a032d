//! Corrections of area weighting that make the sum over primitives approach the integral of the
//! *largest* barrier at each surface point [Li 2023, "Convergent IPC", §4].
//!
//! Several triangles (or edges) around an edge or a vertex reduce to the same closest feature and
//! would count it once each. Inclusion–exclusion removes the surplus: point–edge pairs enter with
//! 1 − (number of triangles at the edge), point–point pairs with 1 per interior vertex; edge–edge
//! and wire pairs likewise with the edges at a vertex.

use super::pairs::{Contact, Found, MovedMesh, narrow};
use standoff_geometry::broad_phase::Candidates;
use standoff_geometry::distance::{
    EdgeEdgeFeature, PointEdgeFeature, mollifier, point_edge, point_edge_d2, point_point_d2,
};
use standoff_geometry::topology::ascending;
use standoff_geometry::{PairKind, SurfaceAdjacency};

/// How many of the listed vertices are not `v`.
fn count_without(list: &[u32], v: u32) -> usize {
    list.len() - usize::from(list.binary_search(&v).is_ok())
}

/// Adds the corrections for every feature that the candidates could reduce to.
pub(super) fn add_corrections(
    scene: &MovedMesh<'_>,
    adjacency: &SurfaceAdjacency,
    candidates: &Candidates,
    parts: &mut Vec<Found>,
) {
    let mesh = scene.mesh;
    let mut found = Found::default();
    // wires against vertices: a vertex of k edges is met k times
    let pairs = vertex_pairs(scene, &candidates.edge_vertex, |e| &mesh.edges[e as usize]);
    for &[a, b] in &pairs {
        let surplus = |v: u32, w: u32| {
            let k = count_without(&adjacency.vertex_vertices[w as usize], v);
            if k > 1 { (1.0 - k as f64) * scene.weighting.vertex(v, 0.5) } else { 0.0 }
        };
        push_vertex_pair(scene, a, b, surplus(a, b) + surplus(b, a), &mut found);
    }
    parts.push(found);
    // edges against edges: an end of k edges is met k times
    let pairs = edge_edge_ends(scene, &candidates.edge_edge);
    parts.extend(narrow(&pairs, |&c, found| edge_end_correction(scene, adjacency, c, found)));
    let mut found = Found::default();
    // faces against vertices: an edge of k triangles is met k times …
    for &[e, v] in &face_vertex_edges(scene, adjacency, &candidates.face_vertex) {
        let k = count_without(&adjacency.edge_vertices[e as usize], v);
        if k > 1 {
            let weight = (1.0 - k as f64) * scene.weighting.vertex(v, 0.25);
            push_edge_vertex(scene, e, v, weight, &mut found);
        }
    }
    // … and what that takes off too much at interior vertices is put back
    let pairs = vertex_pairs(scene, &candidates.face_vertex, |f| &mesh.faces[f as usize]);
    for &[a, b] in &pairs {
        let share = |v: u32, w: u32| {
            let is_neighbour = adjacency.vertex_vertices[w as usize].binary_search(&v).is_ok();
            if adjacency.on_boundary[w as usize] || is_neighbour {
                0.0
            } else {
                scene.weighting.vertex(v, 0.25)
            }
        };
        push_vertex_pair(scene, a, b, share(a, b) + share(b, a), &mut found);
    }
    parts.push(found);
}

/// Active vertex pairs within element–vertex candidates, ascending, each once.
fn vertex_pairs<'a>(
    scene: &MovedMesh<'_>,
    candidates: &[[u32; 2]],
    vertices: impl Fn(u32) -> &'a [u32],
) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for &[element, v] in candidates {
        for &w in vertices(element) {
            let d2 = point_point_d2(&scene.x[v as usize], &scene.x[w as usize]);
            if scene.is_active(d2, scene.mesh.thickness(&[v], &[w]), scene.reach(&[v], &[w])) {
                pairs.push(ascending(v, w));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn is_active_edge_vertex(scene: &MovedMesh<'_>, e: u32, v: u32) -> bool {
    let [a, b] = scene.mesh.edges[e as usize];
    let d2 = point_edge_d2(&scene.x[v as usize], &scene.x[a as usize], &scene.x[b as usize]);
    scene.is_active(d2, scene.mesh.thickness(&[v], &[a]), scene.reach(&[v], &[a]))
}

/// Active pairs of a face's edge and a vertex within candidates, ascending, each once.
fn face_vertex_edges(
    scene: &MovedMesh<'_>,
    adjacency: &SurfaceAdjacency,
    candidates: &[[u32; 2]],
) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = candidates
        .iter()
        .flat_map(|&[f, v]| adjacency.face_edges[f as usize].map(|e| [e, v]))
        .filter(|&[e, v]| is_active_edge_vertex(scene, e, v))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Active pairs of an edge and an end of the other within candidates, ascending, each once.
fn edge_edge_ends(scene: &MovedMesh<'_>, candidates: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = candidates
        .iter()
        .flat_map(|&[a, b]| {
            let (ea, eb) = (scene.mesh.edges[a as usize], scene.mesh.edges[b as usize]);
            [[a, eb[0]], [a, eb[1]], [b, ea[0]], [b, ea[1]]]
        })
        .filter(|&[e, v]| is_active_edge_vertex(scene, e, v))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Takes off what the edges at `p` count too often against edge `ea`: of those nearly parallel to
/// it, which are mollified, each on its own; of the others all but one.
fn edge_end_correction(
    scene: &MovedMesh<'_>,
    adjacency: &SurfaceAdjacency,
    [ea, p]: [u32; 2],
    found: &mut Found,
) {
    let (mesh, x) = (scene.mesh, scene.x);
    let a = mesh.edges[ea as usize];
    let weight = -scene.weighting.edge(ea, 0.25);
    let feature = point_edge::feature(&x[p as usize], &x[a[0] as usize], &x[a[1] as usize]);
    let mut unmollified = 0.0;
    for &eb in &adjacency.vertex_edges[p as usize] {
        let b = mesh.edges[eb as usize];
        if b.iter().any(|v| *v != p && a.contains(v)) {
            continue;
        }
        // edge–edge pairs list the edge of lower index first
        let ids = if ea < eb { [a[0], a[1], b[0], b[1]] } else { [b[0], b[1], a[0], a[1]] };
        let eps_x = scene.mollifier_threshold(&ids);
        let [x0, x1, x2, x3] = ids.map(|i| &x[i as usize]);
        if mollifier::cross_squared(x0, x1, x2, x3) >= eps_x {
            unmollified += 1.0;
            continue;
        }
        found.push(Contact {
            vertices: ids,
            kind: PairKind::EdgeEdge,
            feature: mollified_feature(feature, p == b[0], ea < eb),
            weight,
            thickness: mesh.thickness(&a, &b),
            reach: scene.reach(&a, &b),
            eps_x,
            forecast: 0.0,
        });
    }
    if unmollified != 1.0 {
        push_edge_vertex(scene, ea, p, (unmollified - 1.0) * weight, found);
    }
}

/// The edge–edge feature of an end of b (its first or second) closest to a feature of a; `a_first`
/// tells whether a is the first edge of the pair.
fn mollified_feature(on_a: PointEdgeFeature, first_end: bool, a_first: bool) -> EdgeEdgeFeature {
    use EdgeEdgeFeature::*;
    use PointEdgeFeature::*;
    match (a_first, on_a, first_end) {
        (_, E0, true) => A0B0,
        (_, E1, false) => A1B1,
        (true, E0, false) | (false, E1, true) => A0B1,
        (true, E1, true) | (false, E0, false) => A1B0,
        (true, Edge, true) => AB0,
        (true, Edge, false) => AB1,
        (false, Edge, true) => A0B,
        (false, Edge, false) => A1B,
    }
}

fn push_vertex_pair(scene: &MovedMesh<'_>, a: u32, b: u32, weight: f64, found: &mut Found) {
    if weight != 0.0 {
        let (thickness, reach) = (scene.mesh.thickness(&[a], &[b]), scene.reach(&[a], &[b]));
        found.push(Contact::reduced(&[a, b], &[0, 1], weight, thickness, reach));
    }
}

fn push_edge_vertex(scene: &MovedMesh<'_>, e: u32, v: u32, weight: f64, found: &mut Found) {
    let [a, b] = scene.mesh.edges[e as usize];
    let ids = [v, a, b];
    let [p, e0, e1] = ids.map(|i| &scene.x[i as usize]);
    let local = point_edge::feature(p, e0, e1).local();
    let (thickness, reach) = (scene.mesh.thickness(&[v], &[a, b]), scene.reach(&[v], &[a, b]));
    found.push(Contact::reduced(&ids, local, weight, thickness, reach));
}
