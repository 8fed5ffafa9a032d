//! Shells, rods and particles: their keys, checked and turned into what the simulator takes.

use super::at::At;
use super::placement::Placement;
use crate::error::SceneError;
use crate::file::{MaterialSection, ObjectSection, OrthotropicSection, RestShape, Role};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::definition::validate::{self, MAGNITUDE, direction, not_negative, positive};
use standoff_sim::definition::{BodyKind, ShellMaterial};
use standoff_sim::energy::hinge::bending_modulus;
use standoff_sim::energy::membrane::Sheet;
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::material::membrane::{Orthotropic, SheetLame, StretchLimit};

/// Refuses keys that an object of its role does not have.
pub(super) fn refuse_foreign_keys(
    object: &ObjectSection,
    role: Role,
    at: &At<'_>,
) -> Result<(), SceneError> {
    let round = matches!(role, Role::Rod | Role::Particles);
    let bends = matches!(role, Role::Shell | Role::Rod);
    for (key, given, allowed, of) in [
        ("radius", object.radius.is_some(), round, "rods and particles have a radius"),
        ("rest_shape", object.rest_shape.is_some(), bends, "shells and rods have a rest shape"),
        ("natural_twist", object.natural_twist.is_some(), role == Role::Rod, "rods twist"),
    ] {
        if given && !allowed {
            return Err(at.key(key).invalid(format!("only {of}")));
        }
    }
    Ok(())
}

/// The thickness in contact of an object whose own thickness is `own`, m.
pub(super) fn contact_thickness(
    object: &mut ObjectSection,
    own: f64,
    at: &At<'_>,
) -> Result<f64, SceneError> {
    let thickness = *object.contact_thickness.get_or_insert(own);
    at.check(validate::contact_thickness(thickness))?;
    Ok(thickness)
}

/// A shell over the triangles of a mesh, and its thickness, m.
pub(super) fn shell(
    object: &ObjectSection,
    mesh: &Mesh,
    material: &MaterialSection,
    placement: &Placement,
    at: &At<'_>,
) -> Result<(BodyKind, f64), SceneError> {
    let Some(section) = &material.shell else {
        let what = "a shell's material needs a `shell` with its thickness, for instance \
                    shell = { thickness = \"0.3 mm\" } or shell = { fabric = \"cotton\" }";
        return Err(at.key("material").invalid(what));
    };
    let Some(thickness) = section.thickness else {
        return Err(at.key("material").invalid("its `shell` needs a `thickness` or a `fabric`"));
    };
    let (e, nu) = (material.young_modulus, material.poisson_ratio);
    let sheet = match &section.orthotropic {
        None => Sheet::Isotropic(section.law, SheetLame::new(e * section.membrane_factor, nu)),
        Some(o) => Sheet::Orthotropic(orthotropic(o, section.membrane_factor)),
    };
    let limit = section.stretch_limit.filter(|s| s.is_finite());
    let kind = BodyKind::Shell {
        triangles: mesh.triangles.clone(),
        material: Box::new(ShellMaterial {
            thickness,
            density: material.density,
            sheet,
            fibre: section.orthotropic.as_ref().map(|o| placement.turn(&Vec3::from(o.fibre))),
            bending_modulus: section.bending_factor * bending_modulus(e, nu, thickness),
            bending_model: section.bending_model,
            poisson_ratio: nu,
            flat: object.rest_shape == Some(RestShape::Straight),
            stretch_limit: limit.map(|limit| StretchLimit {
                limit,
                threshold: section.stretch_threshold,
                stiffness: section.stretch_stiffness,
            }),
        }),
    };
    Ok((kind, thickness))
}

fn orthotropic(o: &OrthotropicSection, factor: f64) -> Orthotropic {
    let young = o.young_moduli.map(|e| e * factor);
    Orthotropic::new(young, o.poisson_ratio, o.shear_modulus * factor, o.strain_limits)
}

/// Rods over the wires of a mesh, and their thickness, m.
pub(super) fn rod(
    object: &ObjectSection,
    mesh: &Mesh,
    material: &MaterialSection,
    at: &At<'_>,
) -> Result<(BodyKind, f64), SceneError> {
    let radius = radius(object, "a rod", at)?;
    let kind = BodyKind::Rod {
        segments: mesh.edges.clone(),
        material: RodMaterial {
            radius,
            young_modulus: material.young_modulus,
            poisson_ratio: material.poisson_ratio,
        },
        density: material.density,
        straight: object.rest_shape == Some(RestShape::Straight),
        natural_twist: object.natural_twist.unwrap_or(0.0).to_radians(),
    };
    Ok((kind, 2.0 * radius))
}

/// Particles at the points of a mesh, and their thickness, m.
pub(super) fn particles(
    object: &ObjectSection,
    mesh: &Mesh,
    material: &MaterialSection,
    at: &At<'_>,
) -> Result<(BodyKind, f64), SceneError> {
    let radius = radius(object, "a particle", at)?;
    let points = mesh.vertices.clone();
    Ok((BodyKind::Particles { points, radius, density: material.density }, 2.0 * radius))
}

fn radius(object: &ObjectSection, what: &str, at: &At<'_>) -> Result<f64, SceneError> {
    let Some(radius) = object.radius else {
        return Err(at.invalid(format!("{what} needs a `radius`, for instance radius = \"2 mm\"")));
    };
    at.check(validate::radius(radius))?;
    Ok(radius)
}

/// Fills in what a fabric says and checks the numbers of a material's shell.
pub(super) fn check_shell(material: &mut MaterialSection, at: &At<'_>) -> Result<(), SceneError> {
    let Some(section) = &mut material.shell else { return Ok(()) };
    if let Some(fabric) = section.fabric {
        let p = fabric.properties();
        material.density = p.density;
        material.young_modulus = p.young_modulus;
        material.poisson_ratio = p.poisson_ratio;
        section.thickness.get_or_insert(p.thickness);
        section.stretch_limit.get_or_insert(p.stretch_limit);
    }
    let at = at.key("shell");
    if let Some(thickness) = section.thickness {
        at.check(positive("thickness", thickness, "a thickness must be positive (m)"))?;
    }
    let (membrane, bending) = (section.membrane_factor, section.bending_factor);
    at.check(positive("membrane_factor", membrane, "a factor must be positive"))?;
    at.check(not_negative("bending_factor", bending, "a factor must be 0 or more"))?;
    let limit = StretchLimit {
        // without a limit, its other numbers are checked against one that holds
        limit: section.stretch_limit.filter(|l| *l != f64::INFINITY).unwrap_or(*MAGNITUDE.end()),
        threshold: section.stretch_threshold,
        stiffness: section.stretch_stiffness,
    };
    let names = [
        ("limit", "stretch_limit"),
        ("threshold", "stretch_threshold"),
        ("stiffness", "stretch_stiffness"),
    ];
    at.check_renamed(limit.validate(), &names)?;
    if let Some(o) = &section.orthotropic {
        check_orthotropic(o, &at.key("orthotropic"))?;
    }
    Ok(())
}

fn check_orthotropic(o: &OrthotropicSection, at: &At<'_>) -> Result<(), SceneError> {
    for e in o.young_moduli {
        at.check(positive("young_moduli", e, "a modulus must be positive (Pa)"))?;
    }
    at.check(direction("fibre", &Vec3::from(o.fibre), NO_FIBRE))?;
    at.check(orthotropic(o, 1.0).validate())
}

const NO_FIBRE: &str = "the direction of the fibres must not be zero";
