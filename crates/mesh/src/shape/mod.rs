//! Built-in shapes: meshes from a few numbers, the same bits for the same numbers.
//!
//! Solids are tetrahedral with positive elements and a closed surface; `surface = true` gives
//! their surface alone, for obstacles. Lengths are in m. Shapes are centred at the origin with
//! axis y unless their description says otherwise.
//!
//! Adding a shape is one file with a struct that implements `Build` and one variant of
//! [`Shape`]; the scene file, its JSON schema and the tests follow from the variant.

mod block;
mod codim;
mod cone;
mod erleben;
mod funnel;
mod limits;
mod planar;
mod plane;
mod polyhedra;
mod refine;
mod sphere;
mod swept;
mod triangulate;
mod tube;

pub use block::{BoxShape, Mat};
pub use codim::{Axis, Needles, Points, Polyline};
pub use cone::Cone;
pub use erleben::{Cliff, Crack, Hole, InternalEdges};
pub use funnel::Funnel;
pub use limits::ShapeError;
pub use planar::{Disc, Polygon, Rectangle, RoundedRectangle};
pub use plane::Plane;
pub use polyhedra::{Pyramid, Spike, Tet, Wedge};
pub use sphere::Sphere;
pub use swept::{Cylinder, Rod, Torus};
pub use tube::Tube;

use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every shape can do.
pub(crate) trait Build {
    /// The mesh of the shape.
    fn build(&self) -> Result<Mesh, ShapeError>;
}

/// Place i of 0..=n on the interval from −1/2 to 1/2: exact at both ends, and symmetric.
fn centred(i: usize, n: usize) -> f64 {
    (2.0 * i as f64 - n as f64) / (2.0 * n as f64)
}

macro_rules! shapes {
    ($($(#[doc = $doc:literal])* $variant:ident($of:ty) = $kind:literal,)*) => {
        /// A built-in shape, chosen by `kind`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Shape {
            $($(#[doc = $doc])* #[serde(rename = $kind)] $variant($of),)*
        }

        impl Shape {
            /// Every shape with its default measures, in order of the variants.
            pub fn all() -> Vec<Shape> {
                vec![$(Shape::$variant(<$of>::default()),)*]
            }

            /// The word that chooses the shape in a scene file.
            pub fn kind(&self) -> &'static str {
                match self { $(Shape::$variant(_) => $kind,)* }
            }

            /// The mesh of the shape.
            ///
            /// # Errors
            /// A measure or a resolution is out of its limits.
            pub fn build(&self) -> Result<Mesh, ShapeError> {
                match self { $(Shape::$variant(shape) => Build::build(shape),)* }
            }
        }
    };
}

shapes! {
    /// Box of cells, six tetrahedra each.
    Box(BoxShape) = "box",
    /// Thin horizontal box, one layer of cells by default.
    Mat(Mat) = "mat",
    /// Ball.
    Sphere(Sphere) = "sphere",
    /// Solid cylinder, axis y.
    Cylinder(Cylinder) = "cylinder",
    /// Long thin cylinder, axis x.
    Rod(Rod) = "rod",
    /// Solid ring around the y axis.
    Torus(Torus) = "torus",
    /// Solid cone, apex on +y.
    Cone(Cone) = "cone",
    /// Triangular prism with its ridge on top.
    Wedge(Wedge) = "wedge",
    /// Pyramid over a rectangle, apex on +y.
    Pyramid(Pyramid) = "pyramid",
    /// Slender square pyramid standing on y = 0.
    Spike(Spike) = "spike",
    /// One tetrahedron.
    Tet(Tet) = "tet",
    /// Flat horizontal rectangle of triangles.
    Plane(Plane) = "plane",
    /// Rectangle of triangles in the xy plane, for two dimensions.
    Rectangle(Rectangle) = "rectangle",
    /// Disc of triangles in the xy plane, for two dimensions.
    Disc(Disc) = "disc",
    /// Polygon of triangles in the xy plane, with holes if need be, for two dimensions.
    Polygon(Polygon) = "polygon",
    /// Rectangle with round corners in the xy plane, for two dimensions.
    RoundedRectangle(RoundedRectangle) = "rounded-rectangle",
    /// Open tube of triangles, axis x.
    Tube(Tube) = "tube",
    /// Open funnel of triangles, axis y.
    Funnel(Funnel) = "funnel",
    /// Obstacle: a block with sloping sides.
    Cliff(Cliff) = "cliff",
    /// Obstacle: a block with a V-shaped groove.
    Crack(Crack) = "crack",
    /// Obstacle: a block with a square pit.
    Hole(Hole) = "hole",
    /// Obstacle: a block whose flat top has edges inside.
    InternalEdges(InternalEdges) = "internal-edges",
    /// Wires: a bed of parallel needles.
    Needles(Needles) = "needles",
    /// Wire: a line through given points.
    Polyline(Polyline) = "polyline",
    /// Bare points on a grid.
    Points(Points) = "points",
}
