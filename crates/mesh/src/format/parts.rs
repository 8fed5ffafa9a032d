//! One mesh of the parts of a scene or of a robot, each placed by a transform and a region of its own.

use super::affine::Affine;
use super::scan::Result;
use crate::{Mesh, MeshError, Names, Region};
use std::path::Path;

/// Points or elements of a mesh at most: a small file may repeat a mesh any number of times.
const MOST: usize = 10_000_000;

/// The mesh under construction.
pub(super) struct Parts<'a> {
    path: &'a Path,
    mesh: Mesh,
    names: Names,
}

impl<'a> Parts<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        Self { path, mesh: Mesh::default(), names: Names::default() }
    }

    /// Refuses more points or elements than a mesh may have.
    pub(super) fn check_size(path: &Path, size: usize, part: &str) -> Result<()> {
        if size <= MOST {
            return Ok(());
        }
        let what = format!("the file amounts to more than {MOST} points or elements");
        Err(part_error(path, part, what, "Export fewer parts"))
    }

    /// Adds a part; `part` names it in errors, `name` in the scene (or its number, if empty).
    pub(super) fn add(
        &mut self,
        local: &Mesh,
        place: &Affine,
        name: &str,
        part: &str,
    ) -> Result<()> {
        let mesh = &mut self.mesh;
        let start = mesh.points.len();
        Self::check_size(self.path, start + local.points.len(), part)?;
        let sizes =
            [mesh.tets.len() + local.tets.len(), mesh.triangles.len() + local.triangles.len()];
        Self::check_size(self.path, sizes[0].max(sizes[1]), part)?;
        Self::check_size(self.path, mesh.edges.len() + local.edges.len(), part)?;
        mesh.points.extend(local.points.iter().map(|p| place.apply(p)));
        if mesh.points[start..].iter().flatten().any(|c| !c.is_finite()) {
            let what = "its transform leads to coordinates that are not finite numbers";
            return Err(part_error(self.path, part, what, "Export the file again"));
        }
        let mirrors = place.mirrors();
        let from = start as u32;
        let first = [mesh.tets.len(), mesh.triangles.len(), mesh.edges.len()].map(|n| n as u32);
        mesh.tets.extend(local.tets.iter().map(|t| {
            let [a, b, c, d] = t.map(|v| v + from);
            if mirrors { [a, b, d, c] } else { [a, b, c, d] }
        }));
        mesh.triangles.extend(local.triangles.iter().map(|f| {
            let [a, b, c] = f.map(|v| v + from);
            if mirrors { [a, c, b] } else { [a, b, c] }
        }));
        mesh.edges.extend(local.edges.iter().map(|e| e.map(|v| v + from)));
        mesh.vertices.extend(local.vertices.iter().map(|v| v + from));
        let mut region = Region {
            name: self.names.free(if name.is_empty() { "part" } else { name }),
            tets: (first[0]..self.mesh.tets.len() as u32).collect(),
            triangles: (first[1]..self.mesh.triangles.len() as u32).collect(),
            edges: (first[2]..self.mesh.edges.len() as u32).collect(),
            vertices: Vec::new(),
        };
        let tets = local.tets.iter().flatten();
        let others = local.triangles.iter().flatten().chain(local.edges.iter().flatten());
        let all = tets.chain(others).chain(&local.vertices);
        region.vertices = all.map(|v| v + from).collect();
        region.vertices.sort_unstable();
        region.vertices.dedup();
        self.mesh.regions.push(region);
        Ok(())
    }

    /// The mesh with notes; an error that says `nothing` if there is no part.
    pub(super) fn finish(
        mut self,
        notes: impl IntoIterator<Item = impl Into<String>>,
        nothing: &str,
    ) -> Result<Mesh> {
        if self.mesh.dimension().is_none() {
            let hint = "Export the file with the surfaces that are needed";
            return Err(part_error(self.path, "the whole file", nothing, hint));
        }
        self.mesh.notes.extend(notes.into_iter().map(Into::into));
        Ok(self.mesh)
    }
}

/// An error in a part of a file.
pub(super) fn part_error(
    path: &Path,
    part: &str,
    what: impl Into<String>,
    hint: &str,
) -> MeshError {
    MeshError::Part {
        file: path.to_path_buf(),
        part: part.to_owned(),
        what: what.into(),
        hint: hint.to_owned(),
    }
}

/// A name of a file as it may stand in a message.
pub(super) fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
