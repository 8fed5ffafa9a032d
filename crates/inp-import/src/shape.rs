//! Types of elements: corners, faces, nodes in the middles of edges, and how they are divided.

/// What an element has in the numbering of its nodes, from 0.
#[derive(Debug)]
pub(crate) struct Shape {
    /// Corners; the nodes in the middles of `edges` follow them.
    pub corners: usize,
    /// Nodes of a line of the file.
    pub nodes: usize,
    /// Faces S1, S2, … of a solid; in two dimensions the nodes along its edges.
    pub faces: &'static [&'static [usize]],
    /// The edges in whose middles the nodes behind the corners are.
    pub edges: &'static [[usize; 2]],
    /// Triangles of a shell, or of a solid in two dimensions.
    pub triangles: &'static [[usize; 3]],
}

const TET_FACES: &[&[usize]] = &[&[0, 1, 2], &[0, 3, 1], &[1, 3, 2], &[2, 3, 0]];
const TET_EDGES: &[[usize; 2]] = &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
const PYRAMID_FACES: &[&[usize]] = &[&[0, 1, 2, 3], &[0, 4, 1], &[1, 4, 2], &[2, 4, 3], &[3, 4, 0]];
const WEDGE_FACES: &[&[usize]] =
    &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]];
const WEDGE_EDGES: &[[usize; 2]] =
    &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]];
const BRICK_FACES: &[&[usize]] =
    &[&[0, 1, 2, 3], &[4, 7, 6, 5], &[0, 4, 5, 1], &[1, 5, 6, 2], &[2, 6, 7, 3], &[3, 7, 4, 0]];
const BRICK_EDGES: &[[usize; 2]] = &[
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

const fn solid(
    corners: usize,
    faces: &'static [&'static [usize]],
    edges: &'static [[usize; 2]],
) -> Shape {
    Shape { corners, nodes: corners + edges.len(), faces, edges, triangles: &[] }
}

const fn shell(nodes: usize, triangles: &'static [[usize; 3]]) -> Shape {
    Shape { corners: nodes, nodes, faces: &[], edges: &[], triangles }
}

/// Solids in two dimensions, divided as shells are.
const fn planar(shell: &Shape, faces: &'static [&'static [usize]]) -> Shape {
    Shape {
        corners: shell.corners,
        nodes: shell.nodes,
        faces,
        edges: &[],
        triangles: shell.triangles,
    }
}

static TET4: Shape = solid(4, TET_FACES, &[]);
static TET10: Shape = solid(4, TET_FACES, TET_EDGES);
static PYRAMID5: Shape = solid(5, PYRAMID_FACES, &[]);
static WEDGE6: Shape = solid(6, WEDGE_FACES, &[]);
static WEDGE15: Shape = solid(6, WEDGE_FACES, WEDGE_EDGES);
static BRICK8: Shape = solid(8, BRICK_FACES, &[]);
static BRICK20: Shape = solid(8, BRICK_FACES, BRICK_EDGES);
static TRIANGLE3: Shape = shell(3, &[[0, 1, 2]]);
static TRIANGLE6: Shape = shell(6, &[[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]);
static QUADRANGLE4: Shape = shell(4, &[[0, 1, 2], [0, 2, 3]]);
static QUADRANGLE8: Shape =
    shell(8, &[[0, 4, 7], [4, 1, 5], [5, 2, 6], [6, 3, 7], [4, 5, 6], [4, 6, 7]]);
static PLANAR3: Shape = planar(&TRIANGLE3, &[&[0, 1], &[1, 2], &[2, 0]]);
static PLANAR4: Shape = planar(&QUADRANGLE4, &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]]);
static PLANAR6: Shape = planar(&TRIANGLE6, &[&[0, 3, 1], &[1, 4, 2], &[2, 5, 0]]);
static PLANAR8: Shape = planar(&QUADRANGLE8, &[&[0, 4, 1], &[1, 5, 2], &[2, 6, 3], &[3, 7, 0]]);

/// Shells and membranes by their names.
const SHELLS: [(&str, &Shape); 19] = [
    ("S3", &TRIANGLE3),
    ("S3R", &TRIANGLE3),
    ("S3RS", &TRIANGLE3),
    ("STRI3", &TRIANGLE3),
    ("M3D3", &TRIANGLE3),
    ("S6", &TRIANGLE6),
    ("STRI65", &TRIANGLE6),
    ("M3D6", &TRIANGLE6),
    ("S4", &QUADRANGLE4),
    ("S4R", &QUADRANGLE4),
    ("S4RS", &QUADRANGLE4),
    ("S4R5", &QUADRANGLE4),
    ("M3D4", &QUADRANGLE4),
    ("M3D4R", &QUADRANGLE4),
    ("S8", &QUADRANGLE8),
    ("S8R", &QUADRANGLE8),
    ("S8R5", &QUADRANGLE8),
    ("M3D8", &QUADRANGLE8),
    ("M3D8R", &QUADRANGLE8),
];

/// Beginnings of the names of solids in two dimensions.
pub(crate) const PLANE_STRAIN: &str = "CPE";
pub(crate) const AXISYMMETRIC: &str = "CAX";

impl Shape {
    /// The shape of a type of elements, in capitals. Letters behind the number of nodes of a solid say how it is integrated, and change nothing here.
    pub(crate) fn of(kind: &str) -> Option<&'static Shape> {
        if let Some(found) = SHELLS.iter().find(|s| s.0 == kind) {
            return Some(found.1);
        }
        let families = ["C3D", PLANE_STRAIN, AXISYMMETRIC];
        let (family, rest) = families.iter().find_map(|f| Some((*f, kind.strip_prefix(f)?)))?;
        let letters = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        // of R reduced, H hybrid, I incompatible, M modified, S stresses at the surface, T temperatures
        if !letters.chars().all(|c| "RHIMST".contains(c)) {
            return None;
        }
        let count = &rest[..rest.len() - letters.len()];
        if family != "C3D" {
            return match count {
                "3" => Some(&PLANAR3),
                "4" => Some(&PLANAR4),
                "6" => Some(&PLANAR6),
                "8" => Some(&PLANAR8),
                _ => None,
            };
        }
        match count {
            "4" => Some(&TET4),
            "10" => Some(&TET10),
            "5" => Some(&PYRAMID5),
            "6" => Some(&WEDGE6),
            "15" => Some(&WEDGE15),
            "8" => Some(&BRICK8),
            "20" => Some(&BRICK20),
            _ => None,
        }
    }

    pub(crate) fn is_solid(&self) -> bool {
        !self.faces.is_empty()
    }

    /// Whether it is a solid in two dimensions.
    pub(crate) fn is_planar(&self) -> bool {
        self.is_solid() && !self.triangles.is_empty()
    }
}

/// Triangles of a face. The diagonal of a quadrangle begins at the smallest of its nodes, so that both elements at the face have the same one.
pub(crate) fn face_triangles(face: &[u32]) -> Vec<[u32; 3]> {
    let least = (0..face.len()).min_by_key(|i| face[*i]).unwrap_or(0);
    let at = |k: usize| face[(least + k) % face.len()];
    let triangles = (1..face.len().saturating_sub(1)).map(|k| [at(0), at(k), at(k + 1)]);
    triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect()
}

/// Tetrahedra that fill a solid over its corners: from the smallest of its nodes to the triangles of all faces that it is not on. The faces that it is
/// on are divided by diagonals from it, as [`face_triangles`] divides them. Corners that coincide leave fewer tetrahedra.
pub(crate) fn tetrahedra(shape: &Shape, nodes: &[u32]) -> Vec<[u32; 4]> {
    if shape.corners == 4 {
        return vec![[nodes[0], nodes[1], nodes[2], nodes[3]]];
    }
    let Some(apex) = nodes[..shape.corners].iter().copied().min() else { return Vec::new() };
    let mut out = Vec::new();
    for face in shape.faces {
        let corners: Vec<u32> = face.iter().map(|i| nodes[*i]).collect();
        if !corners.contains(&apex) {
            // a face is counter-clockwise from inside: S1 of a brick has the other nodes above it
            out.extend(face_triangles(&corners).into_iter().map(|[a, b, c]| [a, b, c, apex]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_their_nodes() {
        let nodes = |kind: &str| Shape::of(kind).map(|s| s.nodes);
        for (kind, count) in [
            ("C3D4", 4),
            ("C3D4H", 4),
            ("C3D10M", 10),
            ("C3D10", 10),
            ("C3D8I", 8),
            ("C3D8RH", 8),
            ("C3D20R", 20),
            ("C3D15", 15),
            ("C3D6", 6),
            ("C3D5", 5),
            ("S8R", 8),
            ("M3D3", 3),
            ("CPE4R", 4),
            ("CAX8RH", 8),
            ("CAX6M", 6),
        ] {
            assert_eq!(nodes(kind), Some(count), "{kind}");
        }
        for kind in ["C3D", "C3D27", "C3D8P", "B31", "CPS4", "CAX5", "", "S", "C3D4é"] {
            assert_eq!(nodes(kind), None, "{kind}");
        }
    }

    /// Edges of two dimensions go around, each with its middle.
    #[test]
    fn edges_of_planar_elements_go_around() {
        for kind in ["CPE3", "CAX4", "CAX6", "CPE8"] {
            let shape = Shape::of(kind).unwrap();
            let corners = if shape.nodes.is_multiple_of(3) { 3 } else { 4 };
            assert_eq!(shape.faces.len(), corners, "{kind}");
            for (k, face) in shape.faces.iter().enumerate() {
                let next = (k + 1) % corners;
                let expected =
                    if shape.nodes > corners { vec![k, corners + k, next] } else { vec![k, next] };
                assert_eq!(*face, expected, "{kind}");
            }
        }
    }

    /// The middles of tetrahedra of ten nodes have one order in both programs.
    #[test]
    fn edges_are_those_of_the_simulator() {
        let sorted = |e: &[usize; 2]| [e[0].min(e[1]), e[0].max(e[1])];
        let ours: Vec<[usize; 2]> = TET_EDGES.iter().map(sorted).collect();
        assert_eq!(ours, standoff_geometry::quadratic::EDGES);
    }
}
