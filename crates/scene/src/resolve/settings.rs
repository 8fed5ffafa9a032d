//! Settings from their sections. The simulator says which values it takes.

use super::at::At;
use crate::error::SceneError;
use crate::file::SceneFile;
use crate::unread;
use standoff_sim::definition::validate::positive;
use standoff_sim::settings::Settings;

/// The settings of a scene, every number of them in its range.
pub(super) fn settings(file: &SceneFile, at: &At<'_>) -> Result<Settings, SceneError> {
    let settings = unread::settings(file);
    at.check(settings.validate())?;
    let output = at.key("output");
    output.key("every").require(file.output.every, |n| n >= 1, "must be at least 1")?;
    if let Some(interval) = file.output.interval {
        let must = "the interval of frames must be positive (s)";
        output.check(positive("interval", interval, must))?;
    }
    Ok(settings)
}
