//! A place in a scene while its values are checked.

use super::origin::Entries;
use crate::document::{Document, KeyPath, Node, Value};
use crate::error::{Problem, SceneError};
use standoff_sim::definition::validate::{Fault, Field};

/// Where the loads of a definition stand, in its order.
#[derive(Debug, Default)]
pub(crate) struct Places<'a> {
    pub forces: Vec<At<'a>>,
    pub attachments: Vec<At<'a>>,
    /// The entries that the parts of the definition were made from.
    pub entries: Entries,
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

    /// The top of the document.
    pub fn top(&self) -> Self {
        Self::root(self.document)
    }

    pub fn key(&self, key: &str) -> Self {
        Self { document: self.document, path: self.path.key(key) }
    }

    pub fn index(&self, index: usize) -> Self {
        Self { document: self.document, path: self.path.index(index) }
    }

    /// The text may be left out but not be empty.
    pub fn require_name(&self) -> Result<(), SceneError> {
        let empty =
            |node: &Node| matches!(&node.value, Value::String(text) if text.trim().is_empty());
        match self.document.find(&self.path).is_some_and(empty) {
            true => Err(self.invalid("a name must not be empty; leave it out to have one given")),
            false => Ok(()),
        }
    }

    /// What stands there.
    pub fn node(&self) -> Option<&'a Node> {
        self.document.find(&self.path)
    }

    pub fn error(&self, problem: Problem) -> SceneError {
        self.document.error(&self.path, problem)
    }

    pub fn invalid(&self, message: impl Into<String>) -> SceneError {
        self.error(Problem::Invalid(message.into()))
    }

    /// An error about a field of what stands here.
    pub fn fault(&self, fault: Fault) -> SceneError {
        let deeper = |at: Self, field: &Field| match field {
            Field::Key(key) => at.key(key),
            Field::Index(index) => at.index(*index),
        };
        let at = fault.path.0.iter().fold(self.clone(), deeper);
        at.error(Problem::OutOfRange { value: fault.value, requirement: fault.must })
    }

    /// Shows what the simulator refuses in what stands here.
    pub fn check(&self, result: Result<(), Fault>) -> Result<(), SceneError> {
        result.map_err(|fault| self.fault(fault))
    }

    /// The same where the first field goes by another name in a scene file.
    pub fn check_renamed(
        &self,
        result: Result<(), Fault>,
        names: &[(&str, &'static str)],
    ) -> Result<(), SceneError> {
        self.check(result.map_err(|mut fault| {
            if let Some(Field::Key(key)) = fault.path.0.first_mut()
                && let Some((_, name)) = names.iter().find(|(field, _)| field == key)
            {
                *key = name;
            }
            fault
        }))
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
