//! Scene files, mesh formats, built-in shapes and result files.

pub mod format;
pub mod mesh;

pub mod shape;
