//! What a run of a scene must show, resolved.

use crate::file::{Measure, Quantity, Reference};

/// What a run of the scene must show.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// What to see, as a sentence.
    pub shows: String,
    /// What is measured.
    pub quantity: Quantity,
    /// Of what, each on its own; empty for a value of the whole scene.
    pub subjects: Vec<Subject>,
    /// What the value is divided by.
    pub relative_to: Option<Reference>,
    /// When it is looked at.
    pub when: When,
    /// The end of the scene as its file says, s. A run may end earlier or later.
    pub end: f64,
    /// How many of the subjects have to be within the bounds; all if `None`.
    pub at_least: Option<usize>,
    /// What the value is greater than, SI.
    pub above: Option<f64>,
    /// What the value is less than, SI.
    pub below: Option<f64>,
}

/// What is measured as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Its vertices.
    pub pieces: Vec<Piece>,
    /// What is subtracted from its value.
    pub minus: Option<Subtrahend>,
}

/// A value that is subtracted.
#[derive(Debug, Clone, PartialEq)]
pub struct Subtrahend {
    /// What is measured.
    pub measure: Measure,
    /// Of what.
    pub name: String,
    /// Its vertices.
    pub pieces: Vec<Piece>,
}

/// Vertices of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Index of the body.
    pub body: usize,
    /// Which of its vertices, in its own numbering; all if `None`.
    pub vertices: Option<Vec<u32>>,
}

/// When a value is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// In the frame that is nearest to this time, s.
    At(f64),
    /// In every frame from this time on, s.
    Every(f64),
    /// The least value of all frames from this time on, s.
    Least(f64),
    /// The greatest value of all frames from this time on, s.
    Greatest(f64),
}
