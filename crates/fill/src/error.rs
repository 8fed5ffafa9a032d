//! Why a surface cannot be filled.

use standoff_linalg::Vec3;
use standoff_mesh::Defect;
use std::fmt;

/// A hole of a surface: border edges that hang together.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    /// Number of border edges.
    pub edges: usize,
    /// Their length together, m.
    pub length: f64,
    /// Mean of their midpoints, m.
    pub centre: Vec3,
}

/// A point, for messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At(pub Vec3);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:.4}, {:.4}, {:.4})", self.0.x, self.0.y, self.0.z)
    }
}

/// Why a surface cannot be filled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The size is no length.
    #[error("the size of the tetrahedra must be positive (m), not {0}")]
    Size(f64),
    /// The deviation is no length.
    #[error("the deviation must be positive (m), not {0}")]
    Deviation(f64),
    /// There is no surface.
    #[error("there are no triangles to fill")]
    NoSurface,
    /// The mesh itself is not sound.
    #[error("{}", .0)]
    Defective(Defect),
    /// The surface has borders.
    #[error("the surface is not closed: {}; close it in the program that made it", list(.0))]
    NotClosed(Vec<Hole>),
    /// Edges with three and more triangles that cannot be told into inside and outside.
    #[error(
        "the surface does not say what is inside: {edges} of its edges belong to three or more \
         triangles, the first one at {at}; remove the triangles that do not bound the body"
    )]
    NotManifold {
        /// Number of these edges.
        edges: usize,
        /// Midpoint of the first one.
        at: At,
    },
    /// A surface with one side, such as a Möbius strip.
    #[error(
        "the surface has one side only: its triangles around {at} cannot be turned the same way"
    )]
    NotOrientable {
        /// Where it was found.
        at: At,
    },
    /// The size asks for too many tetrahedra.
    #[error(
        "about {tetrahedra:.1e} tetrahedra of {size} m would fill the surface; at most 2e7 are \
         possible: choose a larger size"
    )]
    TooFine {
        /// The size, m.
        size: f64,
        /// How many there would be.
        tetrahedra: f64,
    },
    /// No tetrahedron fits.
    #[error(
        "no tetrahedron of {size} m fits into the surface, which is {} x {} x {} m: choose a smaller \
         size", short(.extent.x), short(.extent.y), short(.extent.z)
    )]
    TooCoarse {
        /// The size, m.
        size: f64,
        /// Measures of the surface's bounding box, m.
        extent: Vec3,
    },
    /// The filled surface is too far from the given one.
    #[error(
        "the tetrahedra miss the surface by {} m at {at}, more than the deviation of {} m: parts thinner \
         than the tetrahedra and edges sharper than 40° are lost. Choose a smaller size, or allow it with \
         deviation = \"{}\"",
        short(*.distance), short(*.allowed), millimetres(*.distance)
    )]
    Deviates {
        /// Largest distance that was found, m.
        distance: f64,
        /// What is allowed, m.
        allowed: f64,
        /// Where on the given surface, or on the filled one, m.
        at: At,
    },
    /// The tetrahedra meet each other, however their vertices are placed.
    #[error(
        "tetrahedra of {size} m would touch each other where parts of the surface are close together: choose a smaller size"
    )]
    Intersects {
        /// The size that was used, m.
        size: f64,
    },
    /// An angle is below the bound, which no input should cause.
    #[error(
        "the smallest dihedral angle is {angle:.2}° at {at}, below the bound of 10°; this is a fault of \
         Standoff: please report it with the surface. A slightly different size may help"
    )]
    Angle {
        /// The angle, degrees.
        angle: f64,
        /// A vertex of the tetrahedron, m.
        at: At,
    },
}

/// A number with four digits.
fn short(x: f64) -> String {
    format!("{:.4}", format!("{x:.3e}").parse::<f64>().unwrap_or(x))
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// A length a little larger, as a scene file may say it.
fn millimetres(x: f64) -> String {
    // two digits, rounded up
    let unit = 10f64.powf((x * 1e3).log10().floor() - 1.0);
    format!("{} mm", short((x * 1.05e3 / unit).ceil() * unit))
}

/// The holes, the largest first.
fn list(holes: &[Hole]) -> String {
    const SHOWN: usize = 3;
    let edges: usize = holes.iter().map(|h| h.edges).sum();
    let one = |h: &Hole| {
        format!("{} edges, {} m long, around {}", h.edges, short(h.length), At(h.centre))
    };
    let mut text: Vec<String> = holes.iter().take(SHOWN).map(one).collect();
    if holes.len() > SHOWN {
        text.push(format!("and {} more", holes.len() - SHOWN));
    }
    match holes.len() {
        1 => format!("it has one hole ({})", text.join("")),
        n => format!("it has {n} holes with {edges} border edges ({})", text.join("; ")),
    }
}
