//! Pyramids, wedges and hexahedra as tetrahedra over their own corners: index work, and where the middles of new edges are.
//!
//! The diagonal of a quadrangle starts at its vertex of the smallest number [Dompierre 1999], so that both elements at a face
//! have the same one, whatever kinds of elements they are.

use crate::topology::ascending;
use standoff_linalg::Vec3;

/// A solid whose faces are triangles and quadrangles. Its nodes are its corners, then those in the middles of [`edges`](Self::edges), then those in
/// the centres of its [quadrangles](Self::quadrangles), then the one in its centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solid {
    /// A tetrahedron.
    Tet,
    /// Base 0123, counter-clockwise from the tip 4.
    Pyramid,
    /// Triangle 012, counter-clockwise from the triangle 345 above it.
    Wedge,
    /// Quadrangle 0123, counter-clockwise from the quadrangle 4567 above it.
    Hexahedron,
}

/// The corners of each face.
type Faces = &'static [&'static [usize]];
/// The ends of each edge.
type Edges = &'static [[usize; 2]];

const TET_FACES: Faces = &[&[0, 1, 2], &[0, 3, 1], &[1, 3, 2], &[2, 3, 0]];
const TET_EDGES: Edges = &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
const PYRAMID_FACES: Faces = &[&[0, 1, 2, 3], &[0, 4, 1], &[1, 4, 2], &[2, 4, 3], &[3, 4, 0]];
const PYRAMID_EDGES: Edges = &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]];
const WEDGE_FACES: Faces = &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]];
const WEDGE_EDGES: Edges =
    &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]];
const HEXAHEDRON_FACES: Faces =
    &[&[0, 1, 2, 3], &[4, 7, 6, 5], &[0, 4, 5, 1], &[1, 5, 6, 2], &[2, 6, 7, 3], &[3, 7, 4, 0]];
const HEXAHEDRON_EDGES: Edges = &[
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
    [4, 5],
    [5, 6],
    [6, 7],
    [7, 4],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];
/// The corner of a hexahedron at the other end of its diagonal.
const OPPOSITE: [usize; 8] = [6, 7, 4, 5, 2, 3, 0, 1];

/// The triangles of a quadrangle with nodes in the middles of its edges 01, 12, 23, 30, over these nodes alone.
pub const EIGHT_NODES: [[usize; 3]; 6] =
    [[0, 4, 7], [4, 1, 5], [5, 2, 6], [6, 3, 7], [4, 5, 6], [4, 6, 7]];

impl Solid {
    /// How many corners it has.
    pub const fn corners(self) -> usize {
        match self {
            Solid::Tet => 4,
            Solid::Pyramid => 5,
            Solid::Wedge => 6,
            Solid::Hexahedron => 8,
        }
    }

    /// The corners of its faces, counter-clockwise from inside, in the order in which Abaqus numbers the faces.
    pub const fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Solid::Tet => TET_FACES,
            Solid::Pyramid => PYRAMID_FACES,
            Solid::Wedge => WEDGE_FACES,
            Solid::Hexahedron => HEXAHEDRON_FACES,
        }
    }

    /// The faces with four corners.
    pub fn quadrangles(self) -> impl Iterator<Item = [usize; 4]> {
        self.faces().iter().filter_map(|f| <[usize; 4]>::try_from(*f).ok())
    }

    /// The ends of its edges, in the order of the nodes in their middles in Abaqus and VTK.
    pub const fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Solid::Tet => TET_EDGES,
            Solid::Pyramid => PYRAMID_EDGES,
            Solid::Wedge => WEDGE_EDGES,
            Solid::Hexahedron => HEXAHEDRON_EDGES,
        }
    }
}

/// Triangles of a face. The diagonal of a quadrangle begins at the smallest of its vertices, so that both elements at the face have the same one.
/// Where neighbouring corners of a quadrangle coincide, it is a triangle; where opposite ones do, nothing.
pub fn face_triangles(face: &[u32]) -> Vec<[u32; 3]> {
    if let [a, b, c, d] = *face
        && (a == c || b == d)
    {
        return Vec::new();
    }
    let least = (0..face.len()).min_by_key(|i| face[*i]).unwrap_or(0);
    let at = |k: usize| face[(least + k) % face.len()];
    let triangles = (1..face.len().saturating_sub(1)).map(|k| [at(0), at(k), at(k + 1)]);
    triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}

/// Tetrahedra that fill a solid over its corners, which are the first of its nodes: from the smallest of its corners to the triangles of all faces
/// that it is not on. The faces that it is on are divided by diagonals from it, as [`face_triangles`] divides them. Corners that coincide leave fewer
/// tetrahedra, or none.
///
/// # Panics
/// Where there are fewer nodes than corners.
pub fn tetrahedra(solid: Solid, nodes: &[u32]) -> Vec<[u32; 4]> {
    let corners = &nodes[..solid.corners()];
    if let [a, b, c, d] = *corners {
        let tet = [a, b, c, d];
        let repeats = (1..4).any(|i| tet[..i].contains(&tet[i]));
        return if repeats { Vec::new() } else { vec![tet] };
    }
    let Some(apex) = corners.iter().copied().min() else { return Vec::new() };
    let mut out = Vec::new();
    for face in solid.faces() {
        let mut list = [0; 4];
        let face_corners = &mut list[..face.len()];
        face_corners.iter_mut().zip(*face).for_each(|(v, i)| *v = corners[*i]);
        if !face_corners.contains(&apex) {
            // a face is counter-clockwise from inside, where the apex is
            out.extend(face_triangles(face_corners).into_iter().map(|[a, b, c]| [a, b, c, apex]));
        }
    }
    out
}

/// An edge that [`tetrahedra`] adds to a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagonal {
    /// Its ends, ascending.
    pub ends: [u32; 2],
    /// Half-way along it, m, and moved as the edges around are bent: half the sum of what the middles of the edges of a face are off, a quarter
    /// inside. On a face of eight nodes, or in a solid of nodes in the middles of edges alone, serendipity functions move the centre by the same.
    pub middle: Vec3,
    /// The number of the node that is in its middle in a solid that has nodes in the centres of its quadrangles, too.
    pub node: usize,
}

/// The diagonals of a solid with nodes in the middles of its edges: of faces first, so that where corners coincide an edge is one of them rather than
/// one through the inside.
///
/// # Panics
/// Where there are fewer nodes than corners and edges.
pub fn diagonals(solid: Solid, nodes: &[u32], points: &[Vec3]) -> Vec<Diagonal> {
    let (corners, edges) = (solid.corners(), solid.edges());
    let at = |v: u32| points[v as usize];
    // from the middle of the ends of an edge to its node
    let bend = |e: usize| {
        let [a, b] = edges[e].map(|i| nodes[i]);
        if a == b { Vec3::zeros() } else { at(nodes[corners + e]) - (at(a) + at(b)) * 0.5 }
    };
    let along = |i: usize, j: usize| edges.iter().position(|e| *e == [i, j] || *e == [j, i]);
    let first = corners + edges.len();
    let diagonal = |[a, b]: [u32; 2], bent: Vec3, node: usize| Diagonal {
        ends: ascending(a, b),
        middle: at(a) + (at(b) - at(a)) * 0.5 + bent,
        node,
    };
    let mut out = Vec::new();
    for (q, face) in solid.quadrangles().enumerate() {
        let v = face.map(|i| nodes[i]);
        if (1..4).any(|i| v[..i].contains(&v[i])) {
            continue;
        }
        let least = (0..4).min_by_key(|i| v[*i]).unwrap_or(0);
        let bends = (0..4).filter_map(|k| along(face[k], face[(k + 1) % 4])).map(bend);
        out.push(diagonal([v[least], v[(least + 2) % 4]], bends.sum::<Vec3>() * 0.5, first + q));
    }
    if solid == Solid::Hexahedron
        && let Some(apex) = (0..8).min_by_key(|i| nodes[*i])
        && nodes[apex] != nodes[OPPOSITE[apex]]
    {
        let bent = (0..edges.len()).map(bend).sum::<Vec3>() * 0.25;
        out.push(diagonal([nodes[apex], nodes[OPPOSITE[apex]]], bent, first + 6));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadratic;
    use std::collections::HashMap;

    const SOLIDS: [Solid; 4] = [Solid::Tet, Solid::Pyramid, Solid::Wedge, Solid::Hexahedron];

    /// The corners of solids with edges of length 1.
    fn corners(solid: Solid) -> Vec<Vec3> {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let at = |z: f64| square.map(|[x, y]| Vec3::new(x, y, z)).to_vec();
        match solid {
            Solid::Tet => vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()],
            Solid::Pyramid => [at(0.0), vec![Vec3::new(0.5, 0.5, 1.0)]].concat(),
            Solid::Wedge => [0.0, 1.0].map(|z| [&at(z)[..2], &at(z)[3..]].concat()).concat(),
            Solid::Hexahedron => [at(0.0), at(1.0)].concat(),
        }
    }

    fn volume(tets: &[[u32; 4]], points: &[Vec3]) -> Vec<f64> {
        let of = |t: &[u32; 4]| {
            let [a, b, c, d] = t.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
        };
        tets.iter().map(of).collect()
    }

    /// All orders of n numbers, for each of which `f` is called.
    fn permutations(n: usize, f: &mut impl FnMut(&[u32])) {
        fn go(list: &mut Vec<u32>, n: u32, f: &mut impl FnMut(&[u32])) {
            if list.len() as u32 == n {
                return f(list);
            }
            for v in 0..n {
                if !list.contains(&v) {
                    list.push(v);
                    go(list, n, f);
                    list.pop();
                }
            }
        }
        go(&mut Vec::new(), n as u32, f);
    }

    /// In all orders of the corners' numbers tetrahedra are positive, fill the solid, and have the triangles of its faces as their boundary.
    #[test]
    fn solids_are_filled_up_to_the_triangles_of_their_faces() {
        let exact = [1.0 / 6.0, 1.0 / 3.0, 0.5, 1.0];
        for (solid, exact) in SOLIDS.into_iter().zip(exact) {
            let x = corners(solid);
            permutations(x.len(), &mut |nodes| {
                let mut points = x.clone();
                nodes.iter().zip(&x).for_each(|(v, p)| points[*v as usize] = *p);
                let tets = tetrahedra(solid, nodes);
                let volumes = volume(&tets, &points);
                assert!(volumes.iter().all(|v| *v > 0.01), "{solid:?} {nodes:?}");
                assert!((volumes.iter().sum::<f64>() - exact).abs() < 1e-14, "{solid:?} {nodes:?}");
                let sorted = |t: &[u32; 3]| {
                    let mut t = *t;
                    t.sort_unstable();
                    t
                };
                let mut found: Vec<[u32; 3]> =
                    crate::topology::boundary_faces(&tets).unwrap().iter().map(sorted).collect();
                let faces = solid.faces().iter().map(|f| f.iter().map(|i| nodes[*i]).collect());
                let mut wanted: Vec<[u32; 3]> =
                    faces.flat_map(|f: Vec<u32>| face_triangles(&f)).map(|t| sorted(&t)).collect();
                found.sort_unstable();
                wanted.sort_unstable();
                assert_eq!(found, wanted, "{solid:?} {nodes:?}");
            });
        }
    }

    /// A face is divided alike from both sides and from whichever corner it begins.
    #[test]
    fn faces_have_one_diagonal() {
        for start in 0..4 {
            let mut face = [7, 3, 9, 5];
            face.rotate_left(start);
            assert_eq!(face_triangles(&face), [[3, 9, 5], [3, 5, 7]]);
            face.reverse();
            assert_eq!(face_triangles(&face), [[3, 7, 5], [3, 5, 9]]);
        }
        assert_eq!(face_triangles(&[4, 4, 2, 1]), [[1, 4, 2]]);
        assert_eq!(face_triangles(&[4, 4, 2, 2]), [[0; 3]; 0]);
        assert_eq!(face_triangles(&[2, 1, 2, 3]), [[0; 3]; 0]);
        assert_eq!(face_triangles(&[3, 2, 1]), [[1, 3, 2]]);
    }

    /// The edges of the tetrahedra are those of the solid and its diagonals, of which those of straight solids are straight.
    #[test]
    fn diagonals_are_the_new_edges() {
        for solid in SOLIDS {
            let x = corners(solid);
            permutations(x.len().min(6), &mut |order| {
                let mut nodes: Vec<u32> = order.to_vec();
                nodes.extend(order.len() as u32..x.len() as u32);
                let mut points = x.clone();
                nodes.iter().zip(&x).for_each(|(v, p)| points[*v as usize] = *p);
                for [i, j] in solid.edges() {
                    nodes.push(points.len() as u32);
                    points.push((x[*i] + x[*j]) * 0.5);
                }
                let mut known: HashMap<[u32; 2], Vec3> = HashMap::new();
                for ([i, j], middle) in solid.edges().iter().zip(&nodes[x.len()..]) {
                    known.insert(ascending(nodes[*i], nodes[*j]), points[*middle as usize]);
                }
                for d in diagonals(solid, &nodes, &points) {
                    assert!(known.insert(d.ends, d.middle).is_none(), "{solid:?} {nodes:?}");
                }
                let tets = tetrahedra(solid, &nodes);
                let mut edges: Vec<[u32; 2]> = tets.iter().flat_map(quadratic::edges).collect();
                edges.sort_unstable();
                edges.dedup();
                assert_eq!(edges.len(), known.len(), "{solid:?} {nodes:?}");
                for edge in edges {
                    let [a, b] = edge.map(|v| points[v as usize]);
                    assert!((known[&edge] - (a + b) * 0.5).norm() < 1e-15, "{solid:?} {nodes:?}");
                }
            });
        }
    }

    /// Where edges are bent, the middles of diagonals are where the functions of twenty nodes have the centres of the faces and of the solid.
    #[test]
    fn diagonals_are_bent_as_serendipity_functions_bend_them() {
        let x = corners(Solid::Hexahedron);
        let solid = Solid::Hexahedron;
        let bend = |e: usize, k: usize| ((7 * e + 3 * k) % 11) as f64 / 50.0 - 0.1;
        let mut points = x.clone();
        for (e, [i, j]) in solid.edges().iter().enumerate() {
            points.push((x[*i] + x[*j]) * 0.5 + Vec3::from([0, 1, 2].map(|k| bend(e, k))));
        }
        let nodes: Vec<u32> = (0..20).collect();
        // the function of a node at (ξ, η, ζ), each in [−1, 1], where the corners are at the ends
        let at = |xi: Vec3| -> Vec3 {
            let signs: Vec<Vec3> = x.iter().map(|p| p * 2.0 - Vec3::repeat(1.0)).collect();
            let mut sum = Vec3::zeros();
            for (s, p) in signs.iter().zip(&x) {
                let f = s.component_mul(&xi).add_scalar(1.0);
                sum += p * (f.product() * (s.dot(&xi) - 2.0) / 8.0);
            }
            for ([i, j], p) in solid.edges().iter().zip(&points[8..]) {
                let s = (signs[*i] + signs[*j]) * 0.5;
                let f = [0, 1, 2]
                    .map(|k| if s[k] == 0.0 { 1.0 - xi[k] * xi[k] } else { 1.0 + s[k] * xi[k] });
                sum += p * (f.iter().product::<f64>() / 4.0);
            }
            sum
        };
        let found = diagonals(solid, &nodes, &points);
        let centres: Vec<Vec3> =
            (solid.quadrangles().map(|f| f.iter().map(|i| x[*i]).sum::<Vec3>() / 4.0))
                .chain([Vec3::repeat(0.5)])
                .collect();
        assert_eq!(found.len(), 7);
        for ((d, centre), node) in found.iter().zip(&centres).zip(20..) {
            assert!((d.middle - at(centre * 2.0 - Vec3::repeat(1.0))).norm() < 1e-14, "{d:?}");
            assert_eq!(d.node, node);
        }
    }

    /// The middles of tetrahedra of ten nodes have one order in Abaqus, VTK and here.
    #[test]
    fn edges_of_a_tetrahedron_are_those_of_quadratic_ones() {
        let ours: Vec<[usize; 2]> =
            Solid::Tet.edges().iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        assert_eq!(ours, quadratic::EDGES);
    }
}
