//! Types of elements: corners, faces, nodes in the middles of edges, and how they are divided.

use standoff_geometry::division::{EIGHT_NODES, Solid};

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
    /// What a solid in three dimensions is.
    pub solid: Option<Solid>,
}

const fn linear(of: Solid) -> Shape {
    Shape {
        corners: of.corners(),
        nodes: of.corners(),
        faces: of.faces(),
        edges: &[],
        triangles: &[],
        solid: Some(of),
    }
}

const fn quadratic(of: Solid) -> Shape {
    let corners = of.corners();
    Shape { nodes: corners + of.edges().len(), edges: of.edges(), ..linear(of) }
}

const fn shell(nodes: usize, triangles: &'static [[usize; 3]]) -> Shape {
    Shape { corners: nodes, nodes, faces: &[], edges: &[], triangles, solid: None }
}

/// Solids in two dimensions, divided as shells are.
const fn planar(shell: &Shape, faces: &'static [&'static [usize]]) -> Shape {
    Shape {
        corners: shell.corners,
        nodes: shell.nodes,
        faces,
        edges: &[],
        triangles: shell.triangles,
        solid: None,
    }
}

static TET4: Shape = linear(Solid::Tet);
static TET10: Shape = quadratic(Solid::Tet);
static PYRAMID5: Shape = linear(Solid::Pyramid);
static WEDGE6: Shape = linear(Solid::Wedge);
static WEDGE15: Shape = quadratic(Solid::Wedge);
static BRICK8: Shape = linear(Solid::Hexahedron);
static BRICK20: Shape = quadratic(Solid::Hexahedron);
static TRIANGLE3: Shape = shell(3, &[[0, 1, 2]]);
static TRIANGLE6: Shape = shell(6, &[[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]);
static QUADRANGLE4: Shape = shell(4, &[[0, 1, 2], [0, 2, 3]]);
static QUADRANGLE8: Shape = shell(8, &EIGHT_NODES);
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
    /// Whether it is a triangle with nodes in the middles of its edges.
    pub(crate) fn is_six_node_triangle(&self) -> bool {
        self.nodes == 6 && self.triangles.len() == 4
    }

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
}
