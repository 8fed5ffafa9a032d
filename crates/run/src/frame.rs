//! Reader of the frames that [`crate::vtu`] writes, for the audit and for post-processing.
//!
//! It reads the one layout that the writer produces; other VTU files are read as meshes, by
//! [`standoff_mesh::format`].

use crate::OutputError;
use crate::arrays::FrameFile;
use crate::vtu::{LINE, QUADRATIC_TET, QUADRATIC_TRIANGLE, TET, TRIANGLE, VERTEX};
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use std::collections::HashSet;
use std::path::Path;

/// A frame as read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Time, s.
    pub time: f64,
    /// Positions, m (`#V`).
    pub positions: Vec<Vec3>,
    /// Tetrahedra of the volumes.
    pub tets: Vec<[u32; 4]>,
    /// Quadratic tetrahedra of the volumes: corners, then the middles of edges 01, 12, 02, 03, 13, 23.
    pub quadratic: Vec<[u32; 10]>,
    /// Triangles of shells and obstacles, in two dimensions of the solids.
    pub triangles: Vec<[u32; 3]>,
    /// Quadratic triangles of solids in two dimensions: corners, then the middles of edges 01, 12, 20.
    pub quadratic_triangles: Vec<[u32; 6]>,
    /// Wires of the obstacles.
    pub edges: Vec<[u32; 2]>,
    /// Bare points of the obstacles.
    pub points: Vec<u32>,
    /// Body of every cell, in the order of these six lists.
    pub cell_body: Vec<u32>,
    /// Displacement from rest, m (`#V`); empty if the frame lacks it.
    pub displacement: Vec<Vec3>,
    /// Velocity, m/s (`#V`); empty if the frame lacks it.
    pub velocity: Vec<Vec3>,
    /// Contact force, N (`#V`); empty if the frame lacks it.
    pub contact_force: Vec<Vec3>,
    /// Von Mises stress of the tetrahedra, in two dimensions of the triangles, Pa; empty if the frame lacks it.
    pub von_mises: Vec<f64>,
    /// Distance ε up to which the orientation-aware potential acts, m (`#V`); empty if the frame lacks it.
    pub contact_reach: Vec<f64>,
}

impl Frame {
    /// Boundary of the tetrahedra, oriented outwards, but for bodies that have triangles too: these are the surface that they carry, which
    /// stands for it.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let of_triangles = self.cell_body.get(self.solids()..).unwrap_or_default();
        let carrying: HashSet<u32> =
            of_triangles.iter().take(self.triangles.len()).copied().collect();
        let own = self.tets.iter().zip(&self.cell_body).filter(|(_, b)| !carrying.contains(b));
        let tets: Vec<[u32; 4]> = own.map(|(t, _)| *t).collect();
        let mut all = Mesh { tets, ..Mesh::default() }.surface();
        // of a damaged frame there is none
        all.extend(quadratic::boundary_of(&self.quadratic).unwrap_or_default());
        all
    }

    /// Number of tetrahedra of both kinds.
    pub fn solids(&self) -> usize {
        self.tets.len() + self.quadratic.len()
    }
}

/// Reads a frame.
///
/// # Errors
/// [`OutputError::Read`], or [`OutputError::Damaged`] for what is no frame or not a whole one.
pub fn read_frame(path: &Path) -> Result<Frame, OutputError> {
    read(&mut FrameFile::open(path)?)
}

/// Reads the whole of a frame that is open.
fn read(file: &mut FrameFile) -> Result<Frame, OutputError> {
    let mut frame = read_elements(file)?;
    frame.displacement = file.vectors("displacement")?.unwrap_or_default();
    frame.velocity = file.vectors("velocity")?.unwrap_or_default();
    frame.contact_force = file.vectors("contact_force")?.unwrap_or_default();
    frame.von_mises = file.floats("von_mises")?.unwrap_or_default();
    frame.contact_reach = file.floats("contact_reach")?.unwrap_or_default();
    // without tetrahedra the triangles are those that have a stress, in two dimensions
    let triangles = frame.triangles.len() + frame.quadratic_triangles.len();
    let solids = if frame.solids() == 0 { triangles } else { frame.solids() };
    frame.von_mises.truncate(solids);
    Ok(frame)
}

/// Reads time, positions and elements of a frame that is open, and leaves the other lists empty.
pub fn read_elements(file: &mut FrameFile) -> Result<Frame, OutputError> {
    let types = file.bytes("types")?;
    let (connectivity, offsets) = (file.indices("connectivity")?, file.indices("offsets")?);
    let time = file.floats("TimeValue")?.and_then(|times| times.first().copied());
    let mut frame = Frame {
        time: time.ok_or_else(|| file.damaged("the time is missing".into()))?,
        positions: file.vectors("points")?.unwrap_or_default(),
        cell_body: file.indices("body")?,
        ..Frame::default()
    };
    if types.len() != offsets.len() || frame.cell_body.len() != offsets.len() {
        return Err(file.damaged("the lists of cells differ in length".into()));
    }
    if connectivity.iter().any(|v| *v as usize >= frame.positions.len()) {
        return Err(file.damaged("a cell refers to a vertex that does not exist".into()));
    }
    let mut start = 0;
    for (kind, end) in types.iter().zip(&offsets) {
        let cell = connectivity.get(start as usize..*end as usize).unwrap_or_default();
        start = *end;
        match (*kind, cell) {
            (TET, &[a, b, c, d]) => frame.tets.push([a, b, c, d]),
            (QUADRATIC_TET, nodes) if nodes.len() == 10 => {
                frame.quadratic.push(std::array::from_fn(|n| nodes[n]));
            }
            (TRIANGLE, &[a, b, c]) => frame.triangles.push([a, b, c]),
            (QUADRATIC_TRIANGLE, &[a, b, c, ab, bc, ca]) => {
                frame.quadratic_triangles.push([a, b, c, ab, bc, ca]);
            }
            (LINE, &[a, b]) => frame.edges.push([a, b]),
            (VERTEX, &[a]) => frame.points.push(a),
            _ => {
                let what = "a cell is neither tetrahedron, triangle, line nor vertex";
                return Err(file.damaged(what.into()));
            }
        }
    }
    Ok(frame)
}
