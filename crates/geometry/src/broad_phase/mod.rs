//! Broad phase: pairs of primitives whose boxes overlap; always a superset of the true pairs.

/// Pairs of primitives that might be close.
///
/// Each list is sorted and free of repetitions, so that everything built from it is independent
/// of the number of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Vertex–vertex pairs (both codimensional vertices), `[v, v]`, ascending.
    pub vertex_vertex: Vec<[u32; 2]>,
    /// Codimensional edge against codimensional vertex or vertex of another codimensional edge:
    /// `[edge, vertex]` ([Li 2021, §3]).
    pub edge_vertex: Vec<[u32; 2]>,
    /// Edge–edge pairs `[edge, edge]`, ascending.
    pub edge_edge: Vec<[u32; 2]>,
    /// Face–vertex pairs `[face, vertex]`.
    pub face_vertex: Vec<[u32; 2]>,
}
