//! Elements of a solid that are made of another material than the rest of it.

use super::at::At;
use super::fibres;
use super::growth;
use super::placed::Placed;
use super::select::{self, Selected};
use crate::error::SceneError;
use crate::file::{MaterialSection, ObjectSection, RegionSection};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, Dimension, SolidPart};
use std::collections::BTreeMap;

/// Gives the bodies of an object, one for each copy, the parts that are made of other materials.
pub(super) fn add(
    object: &ObjectSection,
    materials: &BTreeMap<String, MaterialSection>,
    dimension: Dimension,
    at: &At<'_>,
    placed: &Placed,
    bodies: &mut [BodyDef],
) -> Result<(), SceneError> {
    let at = at.key("materials");
    if !materials.is_empty() && !bodies.iter().all(|b| b.solid().is_some()) {
        return Err(at.invalid("only solids (role = \"volume\") have parts of other materials"));
    }
    let corners: Vec<Vec<u32>> = match dimension {
        Dimension::Three => placed.mesh.tets.iter().map(|t| t.to_vec()).collect(),
        Dimension::Two | Dimension::Axisymmetric => {
            placed.mesh.triangles.iter().map(|t| t.to_vec()).collect()
        }
    };
    // which region an element of a copy is in
    let mut taken: Vec<Vec<Option<&str>>> = vec![vec![None; corners.len()]; bodies.len()];
    for (name, material) in materials {
        let at = at.key(name);
        let sets = elements(name, object, dimension, &at, placed, &corners)?;
        if sets.iter().all(Vec::is_empty) {
            let what = format!("no element of '{}' is in the region '{name}'", placed.name);
            return Err(at.invalid(what));
        }
        let copies = sets.into_iter().zip(&placed.copies).zip(bodies.iter_mut()).zip(&mut taken);
        for (((set, copy), body), taken) in copies {
            for &e in &set {
                if let Some(other) = taken[e as usize].replace(name) {
                    return Err(at.invalid(format!(
                        "element {e} of '{}' is in the region '{other}' too; an element has one material",
                        body.name
                    )));
                }
            }
            let fibres = fibres::of(material, dimension, &placed.placement, &copy.offset, &at)?;
            let growth = growth::of(material, &at)?;
            let name = name.clone();
            let part = SolidPart { fibres, growth, ..made_of(material, name, set) };
            body.parts.extend((!part.elements.is_empty()).then_some(part));
        }
    }
    Ok(())
}

/// A part of a material without its fibres and growth.
fn made_of(material: &MaterialSection, name: String, elements: Vec<u32>) -> SolidPart {
    SolidPart {
        name,
        elements,
        density: material.density,
        material: material.solid(),
        inelastic: material.inelastic(),
        fibres: Vec::new(),
        growth: None,
    }
}

/// The elements of every copy that are in a region: those that the mesh file names, else those whose centroid is inside, or whose corners are
/// all listed.
fn elements(
    name: &str,
    object: &ObjectSection,
    dimension: Dimension,
    at: &At<'_>,
    placed: &Placed,
    corners: &[Vec<u32>],
) -> Result<Vec<Vec<u32>>, SceneError> {
    let region = match select::named(name, object, placed) {
        Some(Selected::OfMesh(region)) => {
            let set = match dimension {
                Dimension::Three => &region.tets,
                Dimension::Two | Dimension::Axisymmetric => &region.triangles,
            };
            return Ok(vec![set.clone(); placed.copies.len()]);
        }
        Some(Selected::OfObject(region)) => region,
        None => return Err(select::unknown_region(name, object, placed, &[], at)),
    };
    let whole = |vertices: &[u32]| -> Vec<u32> {
        let all = |e: &u32| {
            let own = &corners[*e as usize];
            own.iter().all(|v| vertices.binary_search(v).is_ok())
        };
        (0..corners.len() as u32).filter(all).collect()
    };
    if let RegionSection { listed: Some(_), .. } = region {
        let sets = select::in_region(region, at, placed, None)?;
        return Ok(sets.iter().map(|set| whole(set)).collect());
    }
    let centroids = |points: &[Vec3]| -> Vec<Vec3> {
        let centroid = |own: &Vec<u32>| {
            own.iter().map(|v| points[*v as usize]).sum::<Vec3>() / own.len() as f64
        };
        corners.iter().map(centroid).collect()
    };
    select::in_region(region, at, placed, Some(&centroids))
}
