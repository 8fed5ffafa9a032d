//! Sections of shells, rods and seams.

use super::Selection;
use crate::fabric::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_sim::definition::BendingModel;
use standoff_sim::material::membrane::MembraneLaw;

/// What a shell needs in addition to Young's modulus, Poisson's ratio and density.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShellSection {
    /// A measured fabric. Its density, Young's modulus and Poisson's ratio replace the material's; its
    /// thickness and stretch limit are used if none are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<Fabric>,
    /// Thickness, m.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Law of an isotropic membrane.
    pub law: MembraneLaw,
    /// Factor of the membrane's stiffness. Coarse meshes of stiff sheets hardly bend; a factor below 1, with a
    /// stretch limit, is the remedy.
    pub membrane_factor: f64,
    /// What resists bending.
    pub bending_model: BendingModel,
    /// Factor of the bending stiffness.
    pub bending_factor: f64,
    /// Stiffness along and across a direction of fibres, instead of Young's modulus and Poisson's
    /// ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orthotropic: Option<OrthotropicSection>,
    /// Limit of the principal stretches, above 1; `inf` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch_limit: Option<f64>,
    /// Stretch at which the barrier of the limit begins, at least 1.
    pub stretch_threshold: f64,
    /// Stiffness of the barrier of the limit, Pa; it grows up to a hundredfold near the limit.
    #[schemars(extend("x-unit" = "Pa"))]
    pub stretch_stiffness: f64,
}

impl Default for ShellSection {
    fn default() -> Self {
        Self {
            fabric: None,
            thickness: None,
            law: MembraneLaw::NeoHookean,
            membrane_factor: 1.0,
            bending_model: BendingModel::default(),
            bending_factor: 1.0,
            orthotropic: None,
            stretch_limit: None,
            stretch_threshold: 1.0,
            stretch_stiffness: 1000.0,
        }
    }
}

/// A sheet that is stiffer along its fibres than across them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrthotropicSection {
    /// Young's moduli along and across the fibres, Pa.
    #[schemars(extend("x-unit" = "Pa"))]
    pub young_moduli: [f64; 2],
    /// Contraction across per extension along the fibres under tension along them.
    pub poisson_ratio: f64,
    /// Shear modulus, Pa.
    #[schemars(extend("x-unit" = "Pa"))]
    pub shear_modulus: f64,
    /// Direction of the fibres in the coordinates of the mesh, before rotation; it is projected onto
    /// each triangle.
    pub fibre: [f64; 3],
    /// Limits of |E₁₁|, |E₂₂|, |E₁₂| of Green's strain along, across and between the fibres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strain_limits: Option<[f64; 3]>,
}

/// The shape of a shell or a rod without stress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RestShape {
    /// The shape of its mesh.
    #[default]
    Mesh,
    /// Flat (a shell) or straight (a rod), with the lengths of its mesh.
    Straight,
}

/// A tie: two objects that are glued where they touch at the start.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TieSection {
    /// Name for messages; numbered by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The two objects, of which at least one is a solid. The one with more vertices near the other is tied to that.
    pub objects: [String; 2],
    /// Vertices of the first object that may be tied; this one is tied to the second then. By default all of the surface of either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Selection>,
    /// Greatest distance at the start at which a vertex is tied, m; by default a hundredth of the mean edge length of the finer one of the two
    /// surfaces.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// A seam: springs that pull pairs of vertices together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StitchSection {
    /// Name for messages; numbered by default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The two objects; they may be equal.
    pub objects: [String; 2],
    /// Pairs of vertices, by number, one of either object. Either this or `seam`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[u32; 2]>,
    /// Two borders, one of either object: chains of vertices that are sewn together from end to end
    /// in proportion to their lengths at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam: Option<[Selection; 2]>,
    /// Whether the second border runs the other way.
    pub reversed: bool,
    /// Stiffness of each spring, N/m.
    #[schemars(extend("x-unit" = "N/m"))]
    pub stiffness: f64,
    /// Distance to which it pulls, m.
    #[schemars(extend("x-unit" = "m"))]
    pub rest_length: f64,
    /// Pulls in the steps that start at this time or later, s.
    #[schemars(extend("x-unit" = "s"))]
    pub start: f64,
    /// Stops pulling in the steps that start at this time or later, s; `inf` for never.
    #[schemars(extend("x-unit" = "s"))]
    pub end: f64,
}

impl Default for StitchSection {
    fn default() -> Self {
        Self {
            name: String::new(),
            objects: Default::default(),
            pairs: Vec::new(),
            seam: None,
            reversed: false,
            stiffness: 0.0,
            rest_length: 0.0,
            start: 0.0,
            end: f64::INFINITY,
        }
    }
}
