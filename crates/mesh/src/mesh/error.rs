//! Errors of mesh files and meshes.

use super::defect::{Defect, Severity};
use std::fmt;
use std::path::PathBuf;

/// Where in a mesh file something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file or of a text part, counted from 1.
    Line(usize),
    /// An offset in a binary part, counted from 0.
    Byte(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(n) => write!(f, "line {n}"),
            Place::Byte(n) => write!(f, "byte {n}"),
        }
    }
}

/// A mesh that cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The file could not be opened or read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file could not be created or written.
    #[error("cannot write {}: {source}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Neither the content nor the extension names a known format.
    #[error("{}: unknown mesh format. Known are {known}{convert}", .file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
        /// What makes a known format of it, for formats of which that is known; begins with a new sentence.
        convert: String,
        /// Extensions of the known formats.
        known: String,
    },
    /// The content does not follow its format, or uses a part of it that is not supported.
    #[error("{}, {place}: {what}. {hint}", .file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A pose names a joint that a robot has not.
    #[error("{}, the pose: there is no joint {joint:?} with a coordinate. Joints with one are: {known}", .file.display())]
    UnknownJoint {
        /// The file.
        file: PathBuf,
        /// The name in the pose.
        joint: String,
        /// The joints that a pose may name.
        known: String,
    },
    /// A keyframe that a model has not, or that does not fit it.
    #[error("{}, the keyframe {keyframe:?}: {what}", .file.display())]
    Keyframe {
        /// The file.
        file: PathBuf,
        /// The keyframe.
        keyframe: String,
        /// What is wrong.
        what: String,
    },
    /// A part of a file that holds several meshes is wrong or not supported.
    #[error("{}, {part}: {what}. {hint}", .file.display())]
    Part {
        /// The file.
        file: PathBuf,
        /// The node, prim, link or geometry.
        part: String,
        /// What is wrong.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// The mesh cannot be used for simulation.
    #[error("{name}: {}", summary(.defects))]
    Defective {
        /// The mesh: its file or body.
        name: String,
        /// All defects that were found, errors and warnings.
        defects: Vec<Defect>,
    },
}

/// The first errors of a list and how many more there are.
fn summary(defects: &[Defect]) -> String {
    const SHOWN: usize = 5;
    let errors: Vec<&Defect> = defects.iter().filter(|d| d.severity() == Severity::Error).collect();
    let mut text: Vec<String> = errors.iter().take(SHOWN).map(|d| d.to_string()).collect();
    if errors.len() > SHOWN {
        text.push(format!("and {} more", errors.len() - SHOWN));
    }
    text.join("; ")
}
