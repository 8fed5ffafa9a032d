//! Scene files, mesh formats, built-in shapes and result files.

pub mod document;
pub mod error;
pub mod fabric;
pub mod file;
pub mod format;
pub mod import;
pub mod mesh;
pub mod output;
pub mod resolve;
pub mod schema;
pub mod shape;
pub mod units;

mod decode;

pub use error::SceneError;
pub use resolve::Scene;
