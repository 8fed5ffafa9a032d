//! Objects with their meshes read and their copies placed.

use super::at::At;
use crate::error::{Problem, SceneError, nearest_name};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use std::ops::Range;

/// An object with its mesh read and its copies placed.
pub(super) struct Placed {
    /// Name of the object.
    pub name: String,
    /// The mesh before placement, reduced to what the object uses.
    pub mesh: Mesh,
    /// Which points of the mesh file are left, where some are not.
    pub kept: Option<Kept>,
    /// The copies.
    pub copies: Vec<PlacedCopy>,
    /// Their bodies.
    pub bodies: Range<usize>,
}

/// The bodies of every object, by name.
pub(super) struct Bodies(Vec<(String, Range<usize>)>);

impl Bodies {
    pub fn new(objects: &[Placed]) -> Self {
        Self(objects.iter().map(|p| (p.name.clone(), p.bodies.clone())).collect())
    }

    /// Names and bodies of all objects, in order.
    pub fn all(&self) -> &[(String, Range<usize>)] {
        &self.0
    }

    /// The bodies of the object that `at` names.
    pub fn of(&self, name: &str, at: &At<'_>) -> Result<Range<usize>, SceneError> {
        let found = self.0.iter().find(|(n, _)| n == name).map(|(_, bodies)| bodies.clone());
        let names = || self.0.iter().map(|(n, _)| n.as_str());
        found.ok_or_else(|| {
            at.error(Problem::UnknownName {
                what: "object",
                name: name.to_owned(),
                nearest: nearest_name(name, names()),
                valid: names().map(str::to_owned).collect(),
            })
        })
    }
}

/// What is left of the points of a mesh.
pub(super) struct Kept {
    /// Old index of each point.
    pub old: Vec<u32>,
    /// Number of points before.
    pub total: usize,
}

/// A copy of an object: one body.
pub(super) struct PlacedCopy {
    /// Name of the body.
    pub name: String,
    /// Positions in the scene at the start, m.
    pub points: Vec<Vec3>,
}
