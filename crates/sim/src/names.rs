//! What vertices, primitives and half-spaces are called in messages, and sets of vertices in results.

use std::collections::HashMap;

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
            // of three or six nodes
            3 | 6 => "triangle",
            _ => "tetrahedron",
        };
        format!("{kind} ({}) of '{body}'", numbers.join(", "))
    }
}

/// The names, each once: the second of those that are equal becomes `name#2`, the third `name#3`.
pub fn numbered<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // how many have had a name so far, those with a number among them
    let mut used: HashMap<String, usize> = HashMap::new();
    let mut unique = |name: &str| {
        let mut own = name.to_owned();
        while let Some(count) = used.get_mut(&own) {
            *count += 1;
            own = format!("{name}#{count}");
            if !used.contains_key(&own) {
                break;
            }
            own = name.to_owned();
        }
        used.insert(own.clone(), 1);
        own
    };
    names.into_iter().map(&mut unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_shared_are_numbered() {
        assert_eq!(numbered(["a", "b", "a", "a#2", "a"]), ["a", "b", "a#2", "a#2#2", "a#3"]);
        assert_eq!(numbered(["a#2", "a", "a", "a"]), ["a#2", "a", "a#3", "a#4"]);
    }
}
