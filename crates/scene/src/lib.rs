//! The scene language: what may be written in a scene file ([`mod@file`]), how it is read and checked
//! ([`document`], [`units`], [`schema`]) and what it means ([`resolve`]).
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.

pub mod bending;
pub mod document;
pub mod error;
pub mod fabric;
pub mod file;
pub mod measured;
mod plane;
mod presets;
pub mod resolve;
pub mod schema;
pub mod units;
mod unread;

mod decode;

pub use error::SceneError;
pub use resolve::Scene;
