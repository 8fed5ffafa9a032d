//! What a material grows by.

use super::at::At;
use super::conditions::expression;
use crate::error::SceneError;
use crate::file::MaterialSection;
use standoff_sim::definition::expression::Expression;

/// The strain without stress of a material that stands at `at`.
pub(super) fn of(
    material: &MaterialSection,
    at: &At<'_>,
) -> Result<Option<Expression>, SceneError> {
    let at = at.key("growth");
    let Some(formula) = &material.growth else { return Ok(None) };
    let strain = expression(formula, &at)?;
    let begin = strain.at(0.0);
    if begin.is_finite() && begin <= -1.0 {
        let what = format!("a strain without stress must be above -1, and is {begin} at the start");
        return Err(at.invalid(what));
    }
    Ok(Some(strain))
}
