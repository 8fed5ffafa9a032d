//! Where a body lies in the scene-wide numbering of vertices and elements.

use crate::definition::{BodyDef, BodyKind};
use crate::error::BuildError;
use std::ops::Range;

/// A body's place in the scene-wide numbering.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// The carried vertices among them.
    pub carried: Range<usize>,
    /// The others: those of elements, or the control points of a rigid body.
    pub unknowns: Range<usize>,
    /// Whether it is a rigid body.
    pub rigid: bool,
    /// Its elements in `Model::solids`.
    pub solids: Range<usize>,
    /// Whether these are quadratic.
    pub quadratic: bool,
    /// Its triangles in `Model::codim.membranes`.
    pub triangles: Range<usize>,
    /// Its segments in `Model::frames`.
    pub segments: Range<usize>,
    /// Whether it is a kinematic obstacle.
    pub obstacle: bool,
    /// Of a region that a joint makes rigid: the body to which it belongs. Such regions come after the bodies of the definition; their vertices
    /// are control points, which no result shows.
    pub owner: Option<usize>,
}

impl Body {
    /// The place of a body whose vertices begin at `first`, without elements.
    pub(crate) fn new(body: &BodyDef, first: usize) -> Self {
        let from_first = |r: Range<usize>| first + r.start..first + r.end;
        Self {
            name: body.name.clone(),
            vertices: first..first + body.rest.len(),
            carried: from_first(body.carried()),
            unknowns: from_first(body.unknowns()),
            rigid: matches!(body.kind, BodyKind::Rigid { .. }),
            solids: 0..0,
            quadratic: match &body.kind {
                BodyKind::Volume { middles, .. } => !middles.is_empty(),
                BodyKind::PlaneStrain { middles, .. } => !middles.is_empty(),
                _ => false,
            },
            triangles: 0..0,
            segments: 0..0,
            obstacle: matches!(body.kind, BodyKind::Obstacle { .. }),
            owner: None,
        }
    }

    /// Scene-wide numbers of the body's `vertices`, which `what` in the scene selects: of those that have elements, or of the surface of a
    /// rigid body.
    ///
    /// # Errors
    /// No vertex, or one that the body does not have.
    pub(crate) fn scene_wide(&self, what: &str, vertices: &[u32]) -> Result<Vec<u32>, BuildError> {
        let first = self.vertices.start as u32;
        let named = if self.rigid { &self.carried } else { &self.unknowns };
        let n = named.end as u32 - first;
        let fail = |problem: String| Err(BuildError::Body { body: self.name.clone(), problem });
        if vertices.is_empty() {
            return fail(format!("'{what}' selects no vertex"));
        }
        if let Some(bad) = vertices.iter().find(|v| **v >= n) {
            return fail(format!("'{what}' refers to vertex {bad}, but there are only {n}"));
        }
        Ok(vertices.iter().map(|v| v + first).collect())
    }

    /// The unknowns that move where `what` in the scene moves the body's `vertices`: these, or all of a rigid body.
    ///
    /// # Errors
    /// The same, or a part of the surface of a rigid body.
    pub(crate) fn moved(&self, what: &str, vertices: &[u32]) -> Result<Vec<u32>, BuildError> {
        let mut selected = self.scene_wide(what, vertices)?;
        if !self.rigid {
            return Ok(selected);
        }
        selected.sort_unstable();
        selected.dedup();
        if selected.len() < self.carried.len() {
            let problem = format!(
                "'{what}' selects {} of {} vertices, but this body is rigid and moves as a whole: select all of them",
                selected.len(),
                self.carried.len()
            );
            return Err(BuildError::Body { body: self.name.clone(), problem });
        }
        Ok(self.unknowns.clone().map(|v| v as u32).collect())
    }
}
