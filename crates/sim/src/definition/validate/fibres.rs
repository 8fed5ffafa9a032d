//! Fibres in solids.

use super::{Fault, direction, fault, number};
use crate::definition::{BodyDef, FibreFamily, Substance};
use crate::material::fibres::{FibreDirection, FibreLaw};

/// Families of fibres at most.
const FAMILIES: usize = 8;

impl FibreLaw {
    /// Checks its numbers.
    ///
    /// # Errors
    /// The stiffness or the exponent is negative.
    pub fn validate(&self) -> Result<(), Fault> {
        let stiffness = "the stiffness of fibres must be 0 or more (Pa)";
        number("stiffness", self.stiffness, |k| k >= 0.0, stiffness)?;
        let exponent = "the exponent of fibres must be from 0 to 1e4";
        number("exponent", self.exponent, |k| (0.0..=1e4).contains(&k), exponent)
    }
}

impl FibreFamily {
    /// Checks its numbers.
    ///
    /// # Errors
    /// A direction without length, a number out of its range, or fibres that neither resist nor draw.
    pub fn validate(&self) -> Result<(), Fault> {
        match &self.direction {
            FibreDirection::Along(a) => direction("direction", a, "it must not be zero")?,
            FibreDirection::Around { axis, through, helix_angle } => {
                let must = "an angle must be from -1e4 to 1e4 rad";
                direction("axis", axis, "the axis must not be zero")
                    .and_then(|()| super::vector("through", through))
                    .and_then(|()| number("helix_angle", *helix_angle, |a| a.abs() <= 1e4, must))
                    .map_err(|f| f.within("around"))?;
            }
        }
        self.law.validate()?;
        if self.law.stiffness == 0.0 && self.tension.is_none() {
            return Err(fault(
                "stiffness",
                0.0,
                "fibres need a stiffness above 0, or a tension, or both",
            ));
        }
        Ok(())
    }
}

/// Checks the number of families.
///
/// # Errors
/// There are more than eight.
pub fn count_of_families(count: usize) -> Result<(), Fault> {
    match count > FAMILIES {
        true => Err(fault("fibres", count as f64, "a solid has at most 8 families of fibres")),
        false => Ok(()),
    }
}

/// Checks the fibres of a body.
///
/// # Errors
/// A number out of its range, or a body that is no solid.
pub(super) fn validate(body: &BodyDef) -> Result<(), Fault> {
    match body.solid() {
        Some((rest, _)) => of_substance(&rest),
        None if body.fibres.is_empty() => Ok(()),
        None => Err(fault("fibres", body.fibres.len() as f64, "only solids have fibres")),
    }
}

/// Checks the fibres of what elements are made of.
///
/// # Errors
/// As [`validate`].
pub(super) fn of_substance(of: &Substance<'_>) -> Result<(), Fault> {
    count_of_families(of.fibres.len())?;
    for (k, family) in of.fibres.iter().enumerate() {
        family.validate().map_err(|f| f.within_element("fibres", k))?;
    }
    Ok(())
}
