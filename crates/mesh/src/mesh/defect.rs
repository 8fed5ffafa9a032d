//! What can be wrong with a mesh.

use standoff_linalg::Vec3;
use std::fmt;

/// Kind of an element, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementKind {
    /// Four vertices.
    Tet,
    /// Three vertices.
    Triangle,
    /// Two vertices: a wire.
    Edge,
    /// One vertex: a bare point.
    Point,
}

impl fmt::Display for ElementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ElementKind::Tet => "tetrahedron",
            ElementKind::Triangle => "triangle",
            ElementKind::Edge => "edge",
            ElementKind::Point => "point",
        })
    }
}

/// How much a defect matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The mesh cannot be simulated.
    Error,
    /// The mesh can be simulated, but probably not as its author meant.
    Warning,
}

/// Something wrong with a mesh. Elements and vertices are counted from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Defect {
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} has the position ({}, {}, {}), which is not finite", .position.x, .position.y, .position.z)]
    NotFinite {
        /// The vertex.
        vertex: u32,
        /// Its position, m.
        position: Vec3,
    },
    /// An element names a vertex that does not exist.
    #[error("{kind} {element} {vertices:?} refers to a vertex beyond the last, {points} in all")]
    OutOfRange {
        /// What it is.
        kind: ElementKind,
        /// Its index.
        element: u32,
        /// Its vertices.
        vertices: Vec<u32>,
        /// Number of points.
        points: usize,
    },
    /// An element names one vertex twice.
    #[error("{kind} {element} {vertices:?} names a vertex twice")]
    RepeatedVertex {
        /// What it is.
        kind: ElementKind,
        /// Its index.
        element: u32,
        /// Its vertices.
        vertices: Vec<u32>,
    },
    /// An element has no volume, area or length up to rounding.
    #[error("{kind} {element} {vertices:?} is degenerate ({} {measure:e})", measure_name(.kind))]
    Degenerate {
        /// What it is.
        kind: ElementKind,
        /// Its index.
        element: u32,
        /// Its vertices.
        vertices: Vec<u32>,
        /// Its volume, area or length, m³, m² or m.
        measure: f64,
    },
    /// A tetrahedron has negative volume.
    #[error(
        "tetrahedron {element} {vertices:?} is inverted (volume {volume:e} m³); \
         exchange two of its vertices or repair the mesh"
    )]
    Inverted {
        /// Its index.
        element: u32,
        /// Its vertices.
        vertices: [u32; 4],
        /// Its volume, m³.
        volume: f64,
    },
    /// Two elements have the same vertices.
    #[error("{kind} {element} {vertices:?} repeats {kind} {first}")]
    Duplicate {
        /// What they are.
        kind: ElementKind,
        /// The later one.
        element: u32,
        /// The first one.
        first: u32,
        /// Vertices of the later one.
        vertices: Vec<u32>,
    },
    /// More than two tetrahedra share a face.
    #[error("face {face:?} is shared by {} tetrahedra {tets:?}; at most two can meet", .tets.len())]
    NonManifoldFace {
        /// Vertices of the face, ascending.
        face: [u32; 3],
        /// The tetrahedra.
        tets: Vec<u32>,
    },
    /// Two positive tetrahedra lie on the same side of the face they share.
    #[error("tetrahedra {tets:?} overlap: both lie on the same side of face {face:?}")]
    Overlap {
        /// Vertices of the face, ascending.
        face: [u32; 3],
        /// The two tetrahedra.
        tets: [u32; 2],
    },
    /// No element uses a vertex.
    #[error("vertex {vertex} belongs to no element")]
    Unreferenced {
        /// The vertex.
        vertex: u32,
    },
}

fn measure_name(kind: &ElementKind) -> &'static str {
    match kind {
        ElementKind::Tet => "volume",
        ElementKind::Triangle => "area",
        _ => "length",
    }
}

impl Defect {
    /// Unreferenced vertices and duplicate or degenerate triangles, wires and points are warnings
    /// (obstacles tolerate them, shells do not); everything else is an error.
    pub fn severity(&self) -> Severity {
        match self {
            Defect::Unreferenced { .. } => Severity::Warning,
            Defect::Duplicate { kind, .. } | Defect::Degenerate { kind, .. }
                if *kind != ElementKind::Tet =>
            {
                Severity::Warning
            }
            _ => Severity::Error,
        }
    }
}
