//! From a definition to a model and its first state.

pub mod bodies;
