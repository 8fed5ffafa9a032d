//! Springs: attachments and seams.

use standoff_linalg::Vec3;

/// Springs from vertices of a body to the closest point of something else, found at the start.
#[derive(Debug, Clone)]
pub struct AttachmentDef {
    /// Name for messages.
    pub name: String,
    /// Index of the body, a deformable one.
    pub body: usize,
    /// Vertices within the body; each gets one spring at most.
    pub vertices: Vec<u32>,
    /// Where the springs end.
    pub anchor: Anchor,
    /// Greatest distance at the start at which a spring is made, m.
    pub distance: f64,
    /// Stiffness.
    pub stiffness: SpringStiffness,
    /// Rest length, m; `None` for each spring's length at the start.
    pub rest_length: Option<f64>,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub t0: f64,
    /// See `t0`.
    pub t1: f64,
}

/// Where the springs of an attachment end.
#[derive(Debug, Clone, PartialEq)]
pub enum Anchor {
    /// At the closest of these vertices (body and vertices within it).
    Vertices(Vec<(usize, Vec<u32>)>),
    /// At the closest point of the surface triangles whose corners are all among these vertices.
    Surface(Vec<(usize, Vec<u32>)>),
    /// Each at its vertex's own start position.
    Start,
    /// At a point fixed in space, m.
    Point(Vec3),
}

/// Stiffness of an attachment's springs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SpringStiffness {
    /// Of each spring, N/m.
    PerSpring(f64),
    /// Per mass of the attached vertex, N/m/kg = 1/s².
    PerMass(f64),
}

/// Springs between pairs of vertices.
#[derive(Debug, Clone)]
pub struct StitchDef {
    /// Name for messages.
    pub name: String,
    /// Indices of the two bodies; they may be equal.
    pub bodies: [usize; 2],
    /// Vertices within either body that are pulled together; of the second a point between two.
    pub pairs: Vec<StitchPair>,
    /// Stiffness of each spring, N/m.
    pub stiffness: f64,
    /// Rest length, m.
    pub rest_length: f64,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub t0: f64,
    /// See `t0`.
    pub t1: f64,
}

/// A vertex of the first body, and the point (1 − w) a + w b of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StitchPair {
    /// Vertex within the first body.
    pub vertex: u32,
    /// a and b within the second body; they may be equal.
    pub ends: [u32; 2],
    /// w, from 0 to 1.
    pub weight: f64,
}
