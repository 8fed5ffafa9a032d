//! Keys that a scene gives although nothing reads them, with its other choices.

use crate::document::{Document, KeyPath, Place, Segment};
use crate::error::{Problem, SceneError};
use crate::file::SceneFile;
use standoff_sim::definition::validate::unread::{Choices, READINGS, Unread};
use standoff_sim::settings::Settings;
use std::collections::HashSet;

/// Where keys are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In all of the scene.
    Everywhere,
    /// In overrides, of a scene whose text a program has written.
    Overrides,
}

/// Keys of settings that a document gives, with their places.
#[derive(Debug)]
pub struct Given(Vec<(&'static str, Place)>);

impl Given {
    /// The keys that a document gives; call it before a preset adds others.
    pub fn new(document: &Document) -> Self {
        let place = |key: &'static str| Some((key, document.key_place(&path(key))?));
        Self(READINGS.iter().filter_map(|r| place(r.key)).collect())
    }

    /// Refuses keys that nothing reads.
    pub fn refuse_unread(
        &self,
        document: &Document,
        file: &SceneFile,
        look: Look,
    ) -> Result<(), SceneError> {
        let counts = |place: &Place| match look {
            Look::Everywhere => true,
            Look::Overrides => place.source > 0,
        };
        let gives = |key: &str| self.0.iter().any(|(k, _)| *k == key);
        let friction = gives("friction.coefficient") || gives("friction.pairs");
        let choices = Choices::new(&settings(file), file.dimension).with_friction(friction);
        for (key, place) in self.0.iter().filter(|(_, place)| counts(place)) {
            if let Some(Unread { reason, .. }) = choices.unread(key) {
                return Err(document.error_at(*place, path(key), Problem::Unread(reason)));
            }
        }
        Ok(())
    }
}

/// Refuses settings of a scene built in code that nothing reads.
pub fn refuse_in_code(file: &SceneFile) -> Result<(), SceneError> {
    settings(file).check_read(file.dimension).map_err(|Unread { key, reason }| SceneError {
        problem: Box::new(Problem::Unread(reason)),
        path: key.to_owned(),
        object: None,
        location: None,
    })
}

/// Keys of settings that nothing reads.
pub fn keys(file: &SceneFile) -> HashSet<&'static str> {
    let choices = Choices::new(&settings(file), file.dimension);
    READINGS.iter().map(|r| r.key).filter(|key| choices.unread(key).is_some()).collect()
}

/// The settings of a scene.
pub fn settings(file: &SceneFile) -> Settings {
    Settings {
        time: file.time.clone(),
        contact: file.contact.clone(),
        friction: file.friction.clone(),
        solver: file.solver.clone(),
    }
}

fn path(key: &str) -> KeyPath {
    KeyPath(key.split('.').map(|part| Segment::Key(part.to_owned())).collect())
}
