//! What vertices, primitives and half-spaces are called in messages.

/// Names of the parts of a scene.
pub trait Names {
    /// Name of a vertex's body, and the vertex's number within it.
    fn body_of(&self, vertex: u32) -> (&str, u32);

    /// Name of a half-space.
    fn half_space(&self, index: usize) -> &str;

    /// "vertex 3 of 'ball'".
    fn describe_vertex(&self, vertex: u32) -> String {
        let (body, number) = self.body_of(vertex);
        format!("vertex {number} of '{body}'")
    }

    /// "edge (3, 7) of 'ball'", "triangle (1, 2, 3) of 'board'" or "vertex 3 of 'ball'".
    fn describe_primitive(&self, vertices: &[u32]) -> String {
        let (body, _) = self.body_of(vertices[0]);
        let numbers: Vec<String> =
            vertices.iter().map(|&v| self.body_of(v).1.to_string()).collect();
        let kind = match numbers.len() {
            1 => return format!("vertex {} of '{body}'", numbers[0]),
            2 => "edge",
            3 => "triangle",
            _ => "tetrahedron",
        };
        format!("{kind} ({}) of '{body}'", numbers.join(", "))
    }
}
