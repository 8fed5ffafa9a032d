//! Solids of several materials.

use super::{BodyDef, BodyKind, Expression, FibreFamily};
use crate::material::Material;
use crate::material::inelastic::Inelasticity;

/// Elements of a solid that are made of something else than the rest of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SolidPart {
    /// What messages call it.
    pub name: String,
    /// The elements, each once, and in one part at most.
    pub elements: Vec<u32>,
    /// Mass density, kg/m³.
    pub density: f64,
    /// Constitutive law.
    pub material: Material,
    /// What of the stress relaxes or yields.
    pub inelastic: Vec<Inelasticity>,
    /// Families of fibres.
    pub fibres: Vec<FibreFamily>,
    /// Strain that it has without stress.
    pub growth: Option<Expression>,
}

/// What an element of a solid is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Substance<'a> {
    /// Mass density, kg/m³.
    pub density: f64,
    /// Constitutive law.
    pub material: &'a Material,
    /// What of the stress relaxes or yields.
    pub inelastic: &'a [Inelasticity],
    /// Families of fibres.
    pub fibres: &'a [FibreFamily],
    /// Strain that it has without stress: it is 1 + strain times as long as at rest, in all directions.
    pub growth: Option<&'a Expression>,
}

impl SolidPart {
    /// What its elements are made of.
    pub fn substance(&self) -> Substance<'_> {
        let Self { density, material, inelastic, fibres, growth, .. } = self;
        Substance { density: *density, material, inelastic, fibres, growth: growth.as_ref() }
    }
}

impl BodyDef {
    /// What each element of a solid is made of; nothing of another body.
    pub fn substances(&self) -> Vec<Substance<'_>> {
        let Some((rest, count)) = self.solid() else { return Vec::new() };
        let mut all = vec![rest; count];
        for part in &self.parts {
            for e in &part.elements {
                if let Some(own) = all.get_mut(*e as usize) {
                    *own = part.substance();
                }
            }
        }
        all
    }

    /// Whether anything of a solid relaxes or yields.
    pub fn is_inelastic(&self) -> bool {
        self.all_substances().iter().any(|s| !s.inelastic.is_empty())
    }

    /// Whether there are fibres in a solid.
    pub fn has_fibres(&self) -> bool {
        self.all_substances().iter().any(|s| !s.fibres.is_empty())
    }

    /// Whether anything of a solid grows.
    pub fn grows(&self) -> bool {
        self.all_substances().iter().any(|s| s.growth.is_some())
    }

    /// What the elements of a solid that are in no part are made of, and the number of all elements; none of another body.
    pub fn solid(&self) -> Option<(Substance<'_>, usize)> {
        let (density, material, count) = match &self.kind {
            BodyKind::Volume { tets, density, material, .. } => (density, material, tets.len()),
            BodyKind::PlaneStrain { triangles, density, material, .. } => {
                (density, material, triangles.len())
            }
            _ => return None,
        };
        let Self { inelastic, fibres, growth, .. } = self;
        let growth = growth.as_ref();
        Some((Substance { density: *density, material, inelastic, fibres, growth }, count))
    }

    /// All that a solid is made of, the substance of the elements in no part first; nothing of another body.
    pub fn all_substances(&self) -> Vec<Substance<'_>> {
        let rest = self.solid().map(|(rest, _)| rest);
        rest.into_iter().chain(self.parts.iter().map(SolidPart::substance)).collect()
    }
}
