//! Objects with their meshes read and their copies placed.

use super::at::At;
use super::placement::Placement;
use crate::error::{Problem, SceneError, nearest_name};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use std::collections::HashMap;
use std::ops::Range;

/// An object with its mesh read and its copies placed.
pub(super) struct Placed {
    /// Name of the object.
    pub name: String,
    /// The mesh before placement, reduced to what the object uses.
    pub mesh: Mesh,
    /// Which points of the mesh file are left, where some are not.
    pub kept: Option<Kept>,
    /// The ends of the edges in whose middles its last points were added.
    pub added: Vec<[u32; 2]>,
    /// The vertex that each number of the mesh file means, where points were joined.
    pub numbers: Option<Vec<u32>>,
    /// From the mesh to the scene, without the offset of a copy.
    pub placement: Placement,
    /// From the placed object to its start.
    pub start: Option<Placement>,
    /// The copies.
    pub copies: Vec<PlacedCopy>,
    /// Their bodies.
    pub bodies: Range<usize>,
}

impl Placed {
    /// How many numbers of vertices there are.
    pub fn number_count(&self) -> usize {
        self.numbers.as_ref().map_or(self.mesh.points.len(), Vec::len)
    }

    /// Points of the mesh where they are in a copy at the start.
    pub fn place(&self, points: &[Vec3], offset: &Vec3) -> Vec<Vec3> {
        let rest = self.placement.apply(points, offset);
        match &self.start {
            None => rest,
            Some(start) => start.apply(&rest, &Vec3::zeros()),
        }
    }

    /// The vertex of a number of the mesh file.
    pub fn vertex(&self, number: u32) -> Option<u32> {
        match &self.numbers {
            Some(numbers) => numbers.get(number as usize).copied(),
            None => ((number as usize) < self.mesh.points.len()).then_some(number),
        }
    }
}

/// The bodies of every object, by name.
pub(super) struct Bodies {
    all: Vec<(String, Range<usize>)>,
    /// Where a name is in the list.
    index: HashMap<String, usize>,
}

impl Bodies {
    pub fn new(objects: &[Placed]) -> Self {
        let all: Vec<_> = objects.iter().map(|p| (p.name.clone(), p.bodies.clone())).collect();
        let index = all.iter().enumerate().map(|(k, (name, _))| (name.clone(), k)).collect();
        Self { all, index }
    }

    /// Names and bodies of all objects, in order.
    pub fn all(&self) -> &[(String, Range<usize>)] {
        &self.all
    }

    /// The bodies of the object that `at` names.
    pub fn of(&self, name: &str, at: &At<'_>) -> Result<Range<usize>, SceneError> {
        let found = self.index.get(name).map(|k| self.all[*k].1.clone());
        let names = || self.all.iter().map(|(n, _)| n.as_str());
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
    /// How far it is from the first, m.
    pub offset: Vec3,
    /// Positions in the scene at the start, m.
    pub points: Vec<Vec3>,
}
