//! Ties: vertices of one body that follow the elements of another.

/// Two bodies of the model that are tied.
#[derive(Debug, Clone)]
pub(crate) struct Tie {
    /// Name for messages.
    pub name: String,
    /// The body whose vertices are tied, and the one whose elements carry them.
    pub bodies: [usize; 2],
    /// The tied vertices, ascending.
    pub vertices: Vec<u32>,
    /// The parts in which each hands its mass over.
    pub mass: Vec<Vec<(u32, f64)>>,
}
