//! Objects of a scene: their mesh, role, material and copies.

// long: the keys of an object, each resolved where it is checked

use super::at::At;
use super::fibres;
use super::fill::{Filled, fill};
use super::growth;
use super::material::Materials;
use super::placed::{Kept, Placed, PlacedCopy};
use super::placement::{Placement, copies};
use super::quadratic::{add_middles, choose_order};
use super::room::Room;
use super::weld::weld;
use super::{Meshes, parts, plane, rigid, room, select, thin};
use crate::bending::locking;
use crate::error::{Problem, SceneError, nearest_name};
use crate::file::{ElementOrder, MaterialSection, MotionSection, ObjectSection, Reduce, Role};
use standoff_linalg::Vec3;
use standoff_mesh::format;
use standoff_mesh::{Mesh, Names};
use standoff_sim::definition::validate::{Fault, Field};
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Dimension};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Checks that names are unique and gives one to every object without.
pub(super) fn name_all(objects: &mut [ObjectSection], at: &At<'_>) -> Result<(), SceneError> {
    for k in 0..objects.len() {
        at.index(k).key("name").require_name()?;
    }
    let mut names = Names::default();
    for (k, object) in objects.iter().enumerate().filter(|(_, o)| !o.name.is_empty()) {
        if !names.take(&object.name) {
            let problem = Problem::Duplicate { what: "object", name: object.name.clone() };
            return Err(at.index(k).key("name").error(problem));
        }
    }
    for object in objects.iter_mut().filter(|o| o.name.is_empty()) {
        let stem = object.mesh.as_ref().and_then(|m| Path::new(m).file_stem()?.to_str());
        object.name = names.free(match (stem, &object.shape) {
            (Some(stem), _) => stem,
            (None, Some(shape)) => shape.kind(),
            (None, None) => "object",
        });
    }
    Ok(())
}

// long: an object from its mesh to its bodies, step by step
pub(super) fn resolve_one(
    object: &mut ObjectSection,
    materials: &BTreeMap<String, MaterialSection>,
    at: &At<'_>,
    folder: &Path,
    meshes: &Meshes,
    notes: &mut Vec<String>,
    definition: &mut Definition,
    filled: &mut Filled,
    taken: &mut HashSet<String>,
    room: &mut Room,
    chooses: bool,
) -> Result<Placed, SceneError> {
    // before a mesh is read or built for them
    let copies = copies(object, at)?;
    let (materials, friction_material, material_at) = Materials::of(object, materials, at)?;
    let material = &materials.rest;
    let from_file = object.mesh.as_ref().is_some_and(|m| !meshes.contains_key(m));
    let mut mesh = load_mesh(object, at, folder, meshes)?;
    let dimension = definition.dimension;
    if dimension.is_planar() {
        plane::prepare(object, &mut mesh, at)?;
    }
    let welded = weld(object, &mut mesh, from_file, dimension, at)?;
    // tetrahedra in a surface have points of their own
    let welded = welded.filter(|_| object.fill.is_none());
    let carried = fill(object, &mut mesh, at, filled)?;
    notes.extend(mesh.notes.iter().map(|n| format!("{}: {n}", object.name)));
    let placement = Placement::of(object, at)?;
    let Made { kind, thickness, mesh, kept, added } =
        body_kind(object, mesh, &materials, &placement, dimension, chooses, at, notes)?;
    let kept = welded.as_ref().map(|w| w.kept(kept.as_ref())).or(kept);
    let numbers = welded.zip(kept.as_ref()).map(|(w, kept)| w.numbers(&kept.old));
    room::require(object, &mesh, copies.len(), room, at)?;
    let contact_thickness = thin::contact_thickness(object, thickness, at)?;
    if from_file {
        follow_file(object, at, notes)?;
    }
    let first = definition.bodies.len();
    let name = object.name.clone();
    let start = object.start.as_ref().map(|s| Placement::start(s, &at.key("start"))).transpose()?;
    let (copies_of, bodies) = (Vec::new(), first..first);
    let mut placed =
        Placed { name, mesh, kept, added, numbers, placement, start, copies: copies_of, bodies };
    let rigid = rigid::template(object, &placed, material.density, at, &material_at)?;
    let (kind, surface) = match &rigid {
        Some(body) => (body.kind.clone(), body.surface.clone()),
        None => (kind, carried.as_ref().and_then(|c| c.touching())),
    };
    let inelastic = match &kind {
        BodyKind::Volume { .. } | BodyKind::PlaneStrain { .. } => material.inelastic(),
        _ => Vec::new(),
    };
    // what is rigid does not stretch them, and does not grow
    let is_soft = !matches!(kind, BodyKind::Rigid { .. } | BodyKind::Obstacle { .. });
    // where the points of the body are that those of the mesh are not
    let whole = |mut points: Vec<Vec3>, to_start: Option<&Placement>, offset: &Vec3| match (
        &rigid, &surface,
    ) {
        (Some(body), _) => {
            let rest: Vec<Vec3> = body.rest.iter().map(|p| p + offset).collect();
            to_start.map_or(rest.clone(), |start| start.apply(&rest, &Vec3::zeros()))
        }
        (None, Some(surface)) => {
            points.extend(surface.points(&points));
            points
        }
        (None, None) => points,
    };
    for (suffix, offset) in copies {
        let rest = whole(placed.placement.apply(&placed.mesh.points, &offset), None, &offset);
        let name = format!("{}{suffix}", object.name);
        if taken.contains(&name) {
            return Err(at.error(Problem::Duplicate { what: "object", name }));
        }
        taken.insert(name.clone());
        let points = placed.place(&placed.mesh.points, &offset);
        let start = whole(points.clone(), placed.start.as_ref(), &offset);
        let outline = if rigid.is_some() { &points } else { &start };
        let mut body = BodyDef {
            name: name.clone(),
            velocity: start_velocity(object, &start, outline),
            rest,
            start: if object.start.is_some() { start } else { Vec::new() },
            kind: kind.clone(),
            friction_material: friction_material.clone(),
            contact_thickness,
            surface: surface.clone(),
            inelastic: inelastic.clone(),
            fibres: match is_soft {
                true => fibres::of(material, dimension, &placed.placement, &offset, &material_at)?,
                false => Vec::new(),
            },
            growth: if is_soft { growth::of(material, &material_at)? } else { None },
            parts: Vec::new(),
        };
        if dimension.is_axisymmetric() {
            plane::put_on_axis(&mut body, at)?;
        }
        body.validate().map_err(|fault| body_fault(fault, object, at, &material_at))?;
        if dimension.is_planar() {
            plane::check_placed(&body, at)?;
        }
        definition.bodies.push(body);
        placed.copies.push(PlacedCopy { name, offset, points });
    }
    placed.bodies.end = definition.bodies.len();
    let bodies = &mut definition.bodies[placed.bodies.clone()];
    parts::add(object, &materials.parts, dimension, at, &placed, bodies)?;
    let advise = |fault| format!("{}: {fault}; choose element = \"quadratic\"", object.name);
    let note = bodies.first().and_then(locking).map(advise);
    notes.extend(note);
    filled.carry(carried, placed.bodies.clone());
    object.friction_material = Some(friction_material);
    Ok(placed)
}

/// Lets an obstacle follow the time samples of its file, unless the scene moves or holds it; a note where nothing
/// follows them.
fn follow_file(
    object: &mut ObjectSection,
    at: &At<'_>,
    notes: &mut Vec<String>,
) -> Result<(), SceneError> {
    let Some(file) = &object.mesh else { return Ok(()) };
    let motion = format::animation(Path::new(file))
        .map_err(|e| at.key("mesh").error(Problem::Mesh(e.to_string())))?;
    let Some(motion) = motion else { return Ok(()) };
    let free = object.motion.is_empty() && object.fixed.is_empty();
    if object.role == Some(Role::Obstacle) && free {
        notes.push(format!(
            "{}: follows the time samples of its file until {} s",
            object.name,
            motion.end()
        ));
        let sequence = Some(file.clone());
        object.motion.push(MotionSection { sequence, ..MotionSection::default() });
    } else if !object.motion.iter().any(|m| m.sequence.is_some()) {
        notes.push(format!(
            "{}: the time samples of its file are not followed; [[objects.motion]] with \
             sequence = \"{file}\" moves the vertices that it selects",
            object.name
        ));
    }
    Ok(())
}

/// An error about a field of a body: its material's numbers stand in the material, its vertices come
/// from the mesh.
fn body_fault(
    mut fault: Fault,
    object: &ObjectSection,
    at: &At<'_>,
    material: &At<'_>,
) -> SceneError {
    match fault.path.0[..] {
        [Field::Key("material"), ..] => {
            fault.path.0.remove(0);
            material.fault(fault)
        }
        [Field::Key("density"), ..] => material.fault(fault),
        [Field::Key("rest" | "start" | "velocity"), Field::Index(vertex)] => {
            let key = if object.mesh.is_some() { "mesh" } else { "shape" };
            let what = format!("vertex {vertex} comes to {}: {}", fault.value, fault.must);
            at.key(key).invalid(what)
        }
        _ => at.fault(fault),
    }
}

/// Takes the mesh from memory, reads its file (whose path becomes absolute) or builds the shape.
fn load_mesh(
    object: &mut ObjectSection,
    at: &At<'_>,
    folder: &Path,
    meshes: &Meshes,
) -> Result<Mesh, SceneError> {
    match (&mut object.mesh, &object.shape) {
        (Some(written), None) => {
            if let Some(mesh) = meshes.get(written.as_str()) {
                return Ok(mesh.clone());
            }
            let path = folder.join(&*written);
            let at = at.key("mesh");
            if path.is_dir() {
                let what =
                    format!("'{written}' is a folder ({}); name a mesh file in it", path.display());
                return Err(at.error(Problem::Mesh(what)));
            }
            if !path.exists() {
                return Err(at.error(Problem::MissingMesh {
                    written: written.clone(),
                    nearest: similar_file(&path),
                    looked_for: path,
                }));
            }
            *written = path.to_string_lossy().into_owned();
            format::read(&path).map_err(|e| at.error(Problem::Mesh(e.to_string())))
        }
        (None, Some(shape)) => {
            shape.build().map_err(|e| at.key("shape").error(Problem::Mesh(e.to_string())))
        }
        (Some(_), Some(_)) => Err(at.invalid("give either `mesh` or `shape`, not both")),
        (None, None) => Err(at.invalid(
            "has neither `mesh` (a file) nor `shape` (for instance shape = { kind = \"box\" })",
        )),
    }
}

/// A file in the same folder with a name like that of `path`, or the same name elsewhere near.
pub(super) fn similar_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let nearest = nearest_name(name, names.iter().map(String::as_str))?;
    let shown: PathBuf = path.with_file_name(nearest);
    Some(shown.file_name()?.to_string_lossy().into_owned())
}

/// What a body is made of.
struct Made {
    kind: BodyKind,
    /// Its own thickness, m.
    thickness: f64,
    /// Its mesh reduced to what it uses.
    mesh: Mesh,
    /// What is left of its points.
    kept: Option<Kept>,
    /// The ends of the edges in whose middles the last of its points were added.
    added: Vec<[u32; 2]>,
}

// long: from a mesh to what a body of its role uses, step by step
fn body_kind(
    object: &mut ObjectSection,
    mut mesh: Mesh,
    materials: &Materials,
    placement: &Placement,
    dimension: Dimension,
    chooses: bool,
    at: &At<'_>,
    notes: &mut Vec<String>,
) -> Result<Made, SceneError> {
    let role = match object.role {
        Some(role) => role,
        None if dimension.is_planar() => plane::role(object, &mesh),
        None if object.reduce.is_some() || mesh.tets.is_empty() => Role::Obstacle,
        None => Role::Volume,
    };
    object.role = Some(role);
    if object.element == Some(ElementOrder::Linear) {
        mesh.middles.clear();
    }
    let total = mesh.points.len();
    let regions = std::mem::take(&mut mesh.regions);
    let mut mesh = match dimension {
        Dimension::Two | Dimension::Axisymmetric => plane::parts_of(mesh, role, object.reduce, at)?,
        Dimension::Three => parts_of(mesh, role, object.reduce, at)?,
    };
    mesh.regions = regions;
    let old = mesh.compact();
    for region in &mut mesh.regions {
        // a region may name points that are gone with the elements that this role leaves out
        region.vertices.retain(|v| *v != u32::MAX);
    }
    let kept = (old.len() < total).then_some(Kept { old, total });
    if mesh.points.is_empty() {
        let part = match (role, object.reduce) {
            (Role::Volume, _) if dimension.is_planar() => "triangles",
            (Role::Shell | Role::Rigid, _) | (_, Some(Reduce::Surface)) => "triangles",
            (Role::Rod, _) | (_, Some(Reduce::Edges)) => "edges",
            (Role::Particles, _) | (_, Some(Reduce::Points)) => "points",
            _ => "elements",
        };
        let what = format!("the mesh of this {role:?} has no {part}").to_lowercase();
        return Err(at.key(if object.mesh.is_some() { "mesh" } else { "shape" }).invalid(what));
    }
    let warnings = mesh.require_sound(&object.name).map_err(|e| {
        let key = if object.mesh.is_some() { "mesh" } else { "shape" };
        at.key(key).error(Problem::Mesh(e.to_string()))
    })?;
    notes.extend(warnings.iter().map(|w| format!("{}: {w}", object.name)));
    thin::refuse_foreign_keys(object, role, at)?;
    if chooses {
        choose_order(object, dimension, &mesh, materials, placement, notes);
    }
    let added = add_middles(object, role, dimension, &mut mesh, at)?;
    let (kind, thickness) =
        kind_of(dimension, role, object, &mesh, &materials.rest, placement, at)?;
    Ok(Made { kind, thickness, mesh, kept, added })
}

/// The elements of a mesh that a body of this role consists of.
fn parts_of(
    mut mesh: Mesh,
    role: Role,
    reduce: Option<Reduce>,
    at: &At<'_>,
) -> Result<Mesh, SceneError> {
    match (role, reduce) {
        (Role::Volume | Role::Rigid | Role::Shell | Role::Rod | Role::Particles, Some(_)) => {
            return Err(at.key("as").invalid("only an obstacle can be reduced"));
        }
        (Role::Shell | Role::Rigid, None) => {
            mesh = Mesh {
                triangles: mesh.surface(),
                points: std::mem::take(&mut mesh.points),
                ..Mesh::default()
            };
        }
        (Role::Rod, None) => {
            mesh.tets.clear();
            mesh.middles.clear();
            mesh.triangles.clear();
            mesh.vertices.clear();
        }
        (Role::Particles, None) => mesh = mesh.to_points(),
        (Role::Volume, None) if mesh.tets.is_empty() => {
            return Err(at.key("role").invalid(
                "a volume needs tetrahedra, but the mesh has none; \
                 fill a closed surface with fill = { size = \"5 mm\" }",
            ));
        }
        (Role::Volume, None) => {
            mesh.triangles.clear();
            mesh.edges.clear();
            mesh.vertices.clear();
        }
        (Role::Obstacle, None) if mesh.tets.is_empty() => {}
        (Role::Obstacle, None | Some(Reduce::Surface)) => {
            mesh = Mesh {
                triangles: mesh.surface(),
                points: std::mem::take(&mut mesh.points),
                ..Mesh::default()
            };
        }
        (Role::Obstacle, Some(Reduce::Edges)) => mesh = mesh.to_wires(),
        (Role::Obstacle, Some(Reduce::Points)) => mesh = mesh.to_points(),
    }
    Ok(mesh)
}

/// What a body of this role is made of, and its thickness in contact, m.
fn kind_of(
    dimension: Dimension,
    role: Role,
    object: &ObjectSection,
    mesh: &Mesh,
    material: &MaterialSection,
    placement: &Placement,
    at: &At<'_>,
) -> Result<(BodyKind, f64), SceneError> {
    refuse_laws_of_solids(role, material, at)?;
    Ok(match role {
        Role::Obstacle => {
            refuse_dynamics(object, at)?;
            let kind = BodyKind::Obstacle {
                triangles: mesh.triangles.clone(),
                edges: mesh.edges.clone(),
                points: mesh.vertices.clone(),
            };
            (kind, 0.0)
        }
        Role::Volume => {
            let density = material.density;
            let material = material.solid();
            let kind = match dimension {
                Dimension::Two | Dimension::Axisymmetric => {
                    let (triangles, middles) =
                        (mesh.triangles.clone(), mesh.triangle_middles.clone());
                    BodyKind::PlaneStrain { triangles, middles, density, material }
                }
                Dimension::Three => {
                    let (tets, middles) = (mesh.tets.clone(), mesh.middles.clone());
                    BodyKind::Volume { tets, middles, density, material }
                }
            };
            (kind, 0.0)
        }
        // its mass is that of the placed surface
        Role::Rigid => (BodyKind::Rigid { mass: 0.0 }, 0.0),
        Role::Shell => thin::shell(object, mesh, material, placement, at)?,
        Role::Rod => thin::rod(object, mesh, material, at)?,
        Role::Particles => thin::particles(object, mesh, material, at)?,
    })
}

/// Laws that only solids have are refused elsewhere.
fn refuse_laws_of_solids(
    role: Role,
    material: &MaterialSection,
    at: &At<'_>,
) -> Result<(), SceneError> {
    if !matches!(role, Role::Shell | Role::Rod | Role::Particles) {
        return Ok(());
    }
    let refused = match material {
        m if m.rubber.is_some() => "laws of rubber are",
        m if m.plasticity.is_some() => "`plasticity` is",
        m if !m.fibres.is_empty() => "`fibres` are",
        m if m.growth.is_some() => "`growth` is",
        m if !m.relaxation.is_empty() => "`relaxation` is",
        _ => return Ok(()),
    };
    Err(at.key("material").invalid(format!("{refused} for solids (role = \"volume\")")))
}

/// The motion of an obstacle is prescribed: it has no velocity of its own, and forces do not act on it.
fn refuse_dynamics(object: &ObjectSection, at: &At<'_>) -> Result<(), SceneError> {
    for (key, given) in [
        ("velocity", object.velocity != [0.0; 3]),
        ("angular_velocity", object.angular_velocity != [0.0; 3]),
        ("forces", !object.forces.is_empty()),
    ] {
        if given {
            let what = format!("an obstacle has no `{key}`; move it by [[objects.motion]]");
            return Err(at.key(key).invalid(what));
        }
    }
    Ok(())
}

/// v + ω × (x − c) with c the centre of the bounding box of `outline`; empty at rest.
fn start_velocity(object: &ObjectSection, points: &[Vec3], outline: &[Vec3]) -> Vec<Vec3> {
    let linear = Vec3::from(object.velocity);
    let angular = Vec3::from(object.angular_velocity.map(f64::to_radians));
    if linear == Vec3::zeros() && angular == Vec3::zeros() {
        return Vec::new();
    }
    let (lo, hi) = select::bounds(outline);
    let centre = (lo + hi) / 2.0;
    points.iter().map(|p| linear + angular.cross(&(p - centre))).collect()
}
