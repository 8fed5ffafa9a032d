//! Topology of simplicial meshes: boundary of a tetrahedral mesh, edges, adjacency.
