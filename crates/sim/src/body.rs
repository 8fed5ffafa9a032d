//! Where a body lies in the scene-wide numbering of vertices and elements.

use crate::error::BuildError;
use std::ops::Range;

/// A body's place in the scene-wide numbering.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// The carried vertices among them, the last ones.
    pub carried: Range<usize>,
    /// Its elements in `Model::solids`.
    pub solids: Range<usize>,
    /// Its triangles in `Model::codim.membranes`.
    pub triangles: Range<usize>,
    /// Its segments in `Model::frames`.
    pub segments: Range<usize>,
    /// Whether it is a kinematic obstacle.
    pub obstacle: bool,
}

impl Body {
    /// Scene-wide numbers of the body's `vertices`, which `what` in the scene selects.
    ///
    /// # Errors
    /// No vertex, or one that the body does not have.
    pub(crate) fn scene_wide(&self, what: &str, vertices: &[u32]) -> Result<Vec<u32>, BuildError> {
        let first = self.vertices.start as u32;
        let n = self.carried.start as u32 - first;
        let fail = |problem: String| Err(BuildError::Body { body: self.name.clone(), problem });
        if vertices.is_empty() {
            return fail(format!("'{what}' selects no vertex"));
        }
        if let Some(bad) = vertices.iter().find(|v| **v >= n) {
            return fail(format!("'{what}' refers to vertex {bad}, but there are only {n}"));
        }
        Ok(vertices.iter().map(|v| v + first).collect())
    }
}
