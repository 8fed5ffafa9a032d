//! A place in a scene while its values are checked.

use crate::document::{Document, KeyPath};
use crate::error::{Problem, SceneError};

/// Where the loads of a definition stand, in its order.
#[derive(Debug, Default)]
pub(crate) struct Places<'a> {
    pub forces: Vec<At<'a>>,
    pub attachments: Vec<At<'a>>,
}

/// A key path of a document.
#[derive(Debug, Clone)]
pub(crate) struct At<'a> {
    document: &'a Document,
    path: KeyPath,
}

impl<'a> At<'a> {
    pub fn root(document: &'a Document) -> Self {
        Self { document, path: KeyPath::default() }
    }

    pub fn key(&self, key: &str) -> Self {
        Self { document: self.document, path: self.path.key(key) }
    }

    pub fn index(&self, index: usize) -> Self {
        Self { document: self.document, path: self.path.index(index) }
    }

    pub fn error(&self, problem: Problem) -> SceneError {
        self.document.error(&self.path, problem)
    }

    pub fn invalid(&self, message: impl Into<String>) -> SceneError {
        self.error(Problem::Invalid(message.into()))
    }

    /// Refuses a value that does not pass `valid`.
    pub fn require<T: PartialOrd + Copy + std::fmt::Display>(
        &self,
        value: T,
        valid: impl Fn(T) -> bool,
        requirement: &'static str,
    ) -> Result<(), SceneError> {
        if valid(value) {
            return Ok(());
        }
        Err(self.error(Problem::OutOfRange { value: value.to_string(), requirement }))
    }
}
