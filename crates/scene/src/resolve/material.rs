//! What an object is made of.

use super::at::At;
use super::{DEFAULT_FRICTION_MATERIAL, check_material};
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{MaterialChoice, MaterialSection, ObjectSection};
use std::collections::BTreeMap;

/// The materials of an object.
pub(super) struct Materials {
    /// The material of all elements that are in none of the regions of `parts`.
    pub rest: MaterialSection,
    /// The materials of regions, by name.
    pub parts: BTreeMap<String, MaterialSection>,
}

impl Materials {
    /// The materials of an object, the name of its friction material, and where its own material stands.
    pub fn of<'a>(
        object: &mut ObjectSection,
        materials: &BTreeMap<String, MaterialSection>,
        at: &At<'a>,
    ) -> Result<(Self, String, At<'a>), SceneError> {
        let (rest, friction, place) = material_of(object, materials, at)?;
        let at = at.key("materials");
        let mut parts = BTreeMap::new();
        for (region, choice) in &mut object.materials {
            let (material, _, _) = material_named(choice, materials, &at.key(region))?;
            parts.insert(region.clone(), material);
        }
        Ok((Self { rest, parts }, friction, place))
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &MaterialSection> {
        std::iter::once(&self.rest).chain(self.parts.values())
    }
}

/// The object's material, the name of its friction material, and where the material stands.
fn material_of<'a>(
    object: &mut ObjectSection,
    materials: &BTreeMap<String, MaterialSection>,
    at: &At<'a>,
) -> Result<(MaterialSection, String, At<'a>), SceneError> {
    let at = at.key("material");
    let (material, name, at) = match &mut object.material {
        None => (MaterialSection::default(), DEFAULT_FRICTION_MATERIAL.to_owned(), at),
        Some(choice) => material_named(choice, materials, &at)?,
    };
    let own = object.friction_material.clone();
    let friction = own.or_else(|| material.friction_material.clone());
    Ok((material, friction.unwrap_or(name), at))
}

/// A material by name or in place, its name and where it stands.
fn material_named<'a>(
    choice: &mut MaterialChoice,
    materials: &BTreeMap<String, MaterialSection>,
    at: &At<'a>,
) -> Result<(MaterialSection, String, At<'a>), SceneError> {
    match choice {
        MaterialChoice::Inline(material) => {
            check_material(material, at)?;
            Ok(((**material).clone(), DEFAULT_FRICTION_MATERIAL.to_owned(), at.clone()))
        }
        MaterialChoice::Name(name) => match materials.get(name.as_str()) {
            Some(material) => {
                Ok((material.clone(), name.clone(), at.top().key("materials").key(name)))
            }
            None => Err(at.error(Problem::UnknownName {
                what: "material",
                name: name.clone(),
                nearest: nearest_name(name, materials.keys().map(String::as_str)),
                valid: materials.keys().cloned().collect(),
            })),
        },
    }
}
