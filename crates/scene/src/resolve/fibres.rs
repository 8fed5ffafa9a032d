//! Fibres of a material, as they are in an object.

use super::at::At;
use super::conditions::expression;
use super::placement::Placement;
use crate::error::SceneError;
use crate::file::{AroundSection, FibreSection, MaterialSection};
use standoff_linalg::Vec3;
use standoff_sim::definition::{Dimension, FibreFamily, validate};
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};

/// Checks the fibres of a material, whatever has them.
pub(super) fn check(material: &MaterialSection, at: &At<'_>) -> Result<(), SceneError> {
    at.check(validate::count_of_families(material.fibres.len()))?;
    for (k, section) in material.fibres.iter().enumerate() {
        let at = at.key("fibres").index(k);
        at.check(family(section, Dimension::Three, &at)?.validate())?;
    }
    Ok(())
}

/// The fibres of a copy of an object that is placed and moved further by `offset`; the material stands at `at`.
pub(super) fn of(
    material: &MaterialSection,
    dimension: Dimension,
    placement: &Placement,
    offset: &Vec3,
    at: &At<'_>,
) -> Result<Vec<FibreFamily>, SceneError> {
    let mut all = Vec::with_capacity(material.fibres.len());
    for (k, section) in material.fibres.iter().enumerate() {
        let at = at.key("fibres").index(k);
        let mut family = family(section, dimension, &at)?;
        let of_revolution = dimension.is_axisymmetric()
            && matches!(family.direction, FibreDirection::Around { .. });
        if !of_revolution {
            let place = |p: &Vec3| placement.apply(&[*p], offset)[0];
            family.direction = family.direction.placed(|d| placement.turn(d), place);
        }
        all.push(family);
    }
    Ok(all)
}

/// A family as its section says.
fn family(
    section: &FibreSection,
    dimension: Dimension,
    at: &At<'_>,
) -> Result<FibreFamily, SceneError> {
    let direction = match (&section.direction, &section.around) {
        (Some(direction), None) => FibreDirection::Along(Vec3::from(*direction)),
        (None, Some(around)) => wound(around, dimension, &at.key("around"))?,
        _ => {
            let what = "give one of `direction` and `around`: along which direction, or around which axis the fibres are";
            return Err(at.invalid(what));
        }
    };
    let at = at.key("tension");
    let tension = section.tension.as_ref().map(|t| expression(t, &at)).transpose()?;
    let law = FibreLaw { stiffness: section.stiffness, exponent: section.exponent };
    Ok(FibreFamily { direction, law, tension })
}

fn wound(
    around: &AroundSection,
    dimension: Dimension,
    at: &At<'_>,
) -> Result<FibreDirection, SceneError> {
    if dimension.is_axisymmetric() && (around.axis.is_some() || around.through.is_some()) {
        return Err(at.invalid("a body of revolution has one axis; leave out `axis` and `through`"));
    }
    let own = if dimension == Dimension::Two { Vec3::z() } else { Vec3::y() };
    let axis = around.axis.map_or(own, Vec3::from);
    let through = around.through.map_or(Vec3::zeros(), Vec3::from);
    let helix_angle = around.helix_angle.to_radians();
    Ok(FibreDirection::Around { axis, through, helix_angle })
}
