//! Meshes: what a mesh file holds or a built-in shape produces.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! [`Mesh`] holds points with tetrahedra, triangles, segments and bare points over them, and named
//! regions; [`mod@format`] reads and writes mesh files, [`shape`] builds simple bodies,
//! [`mod@input`] opens files of any kind, [`mod@path`] makes paths relative.

pub mod format;
pub mod input;
mod mesh;
mod names;
pub mod path;
pub mod shape;

pub use mesh::{
    Defect, ElementKind, Mesh, MeshError, Place, Quality, Region, Severity, first_within,
    is_closed, tet_determinant, tet_faces, tet_quality,
};
pub use names::Names;
