//! `standoff audit`: re-checks the frames of a run.

use crate::args::{AuditArgs, start_threads};
use crate::failure::Failure;
use crate::output::Console;
use standoff_linalg::Vec3;
use standoff_scene::output::{Frame, LimitInfo, OutputError, RunInfo, frame_files, read_frame};
use standoff_sim::audit::violations;
use standoff_sim::definition::{
    BendingModel, BodyDef, BodyKind, Definition, HalfSpaceDef, ShellMaterial,
};
use standoff_sim::energy::membrane::Sheet;
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::material::membrane::{MembraneLaw, Orthotropic, SheetLame, StretchLimit};
use standoff_sim::material::{Law, Material};
use standoff_sim::model::Model;
use std::path::Path;

/// Violations listed per frame; the others are counted.
const LISTED: usize = 10;

/// Re-checks every frame of a run.
pub fn audit(args: &AuditArgs, console: &mut Console) -> Result<(), Failure> {
    start_threads(args.threads);
    let input = |e: OutputError| Failure::Input(e.to_string());
    let info = RunInfo::read(&args.folder).map_err(input)?;
    let files = frame_files(&args.folder).map_err(input)?;
    let mut reference: Option<(Frame, Model)> = None;
    let (mut bad_frames, mut found) = (0u64, 0usize);
    for (_, path) in &files {
        let faults = match read_frame(path) {
            Err(error) => vec![error.to_string()],
            Ok(frame) => {
                if reference.is_none() {
                    let model = model_of(&info, &frame, path)?;
                    reference = Some((frame.clone(), model));
                }
                match &reference {
                    Some((first, model)) => faults_of(&frame, first, model),
                    None => Vec::new(),
                }
            }
        };
        if faults.is_empty() {
            continue;
        }
        bad_frames += 1;
        found += faults.len();
        let name = path.display();
        for fault in faults.iter().take(LISTED) {
            console.complain(format_args!("{name}: {fault}"));
        }
        if faults.len() > LISTED {
            console.complain(format_args!("{name}: and {} more", faults.len() - LISTED));
        }
    }
    if bad_frames > 0 {
        let all = files.len();
        let what = format!("{found} violations in {bad_frames} of {all} frames");
        return Err(Failure::Result(what));
    }
    let half_spaces = match info.half_spaces.len() {
        0 => String::new(),
        1 => ", nothing behind the half-space".to_owned(),
        n => format!(", nothing behind the {n} half-spaces"),
    };
    console.say(format_args!(
        "{}: {} frames, no intersection, no inverted element{half_spaces}",
        args.folder.display(),
        files.len()
    ));
    Ok(())
}

/// What is wrong with a frame.
fn faults_of(frame: &Frame, first: &Frame, model: &Model) -> Vec<String> {
    let same = frame.tets == first.tets
        && frame.triangles == first.triangles
        && frame.edges == first.edges
        && frame.points == first.points
        && frame.positions.len() == first.positions.len();
    if !same {
        return vec!["its elements differ from those of the first frame".into()];
    }
    violations(model, &frame.positions).iter().map(|v| v.describe(model)).collect()
}

/// The model that a frame belongs to. Materials do not matter here.
fn model_of(info: &RunInfo, frame: &Frame, path: &Path) -> Result<Model, Failure> {
    let damaged = |what: &str| Failure::Input(format!("{} is damaged: {what}", path.display()));
    let total: u64 = info.bodies.iter().map(|b| u64::from(b.vertices)).sum();
    if total != frame.positions.len() as u64 {
        return Err(damaged("it does not have the vertices that run.json lists"));
    }
    let rest: Vec<Vec3> = match frame.displacement.len() == frame.positions.len() {
        true => frame.positions.iter().zip(&frame.displacement).map(|(x, u)| x - u).collect(),
        false => frame.positions.clone(),
    };
    let mut definition =
        Definition { no_contact: info.no_contact.clone(), ..Definition::default() };
    definition.settings.contact.self_contact = info.self_contact;
    let mut owners = frame.cell_body.iter().copied();
    let mut take = |count: usize| -> Vec<u32> { owners.by_ref().take(count).collect() };
    let of_tets = take(frame.tets.len());
    let of_triangles = take(frame.triangles.len());
    let of_edges = take(frame.edges.len());
    let of_points = take(frame.points.len());
    for (index, body) in info.bodies.iter().enumerate() {
        let (first, count) = (body.first_vertex, body.vertices);
        let triangles = of_body(&frame.triangles, &of_triangles, index, first, count);
        let edges = of_body(&frame.edges, &of_edges, index, first, count);
        let own =
            |(p, b): &(&u32, &u32)| **b as usize == index && **p >= first && **p - first < count;
        let points = frame.points.iter().zip(&of_points).filter(own).map(|(p, _)| p - first);
        let points: Vec<u32> = points.collect();
        let kind = match &body.limits {
            Some(limits) => shell(triangles, limits),
            None if body.obstacle => BodyKind::Obstacle { triangles, edges, points },
            None if !edges.is_empty() => rod(edges),
            None if !points.is_empty() => {
                BodyKind::Particles { points, radius: 1.0, density: 1000.0 }
            }
            None => BodyKind::Volume {
                tets: of_body(&frame.tets, &of_tets, index, first, count),
                density: 1000.0,
                material: Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.4 },
                overrides: Vec::new(),
            },
        };
        let range = first as usize..(first as usize).saturating_add(count as usize);
        definition.bodies.push(BodyDef {
            name: body.name.clone(),
            rest: rest.get(range).ok_or_else(|| damaged("a body is out of range"))?.to_vec(),
            kind,
            contact_thickness: body.contact_thickness,
            ..BodyDef::default()
        });
    }
    for h in &info.half_spaces {
        definition.half_spaces.push(HalfSpaceDef {
            name: h.name.clone(),
            origin: Vec3::from(h.origin),
            normal: Vec3::from(h.normal),
            friction_material: String::new(),
        });
    }
    let (model, _) =
        standoff_sim::build::build(&definition).map_err(|e| damaged(&e.to_string()))?;
    Ok(model)
}

/// A shell with these limits.
fn shell(triangles: Vec<[u32; 3]>, limits: &LimitInfo) -> BodyKind {
    let sheet = match limits.strain {
        None => Sheet::Isotropic(MembraneLaw::NeoHookean, SheetLame::new(1e5, 0.3)),
        strain => Sheet::Orthotropic(Orthotropic::new([1e5; 2], 0.3, 1e5, strain)),
    };
    let material = ShellMaterial {
        thickness: 1.0,
        density: 1000.0,
        sheet,
        fibre: limits.fibre.map(Vec3::from),
        bending_modulus: 0.0,
        bending_model: BendingModel::Hinge,
        poisson_ratio: 0.0,
        flat: false,
        stretch_limit: limits.stretch.map(|limit| StretchLimit {
            limit,
            threshold: 1.0,
            stiffness: 1.0,
        }),
    };
    BodyKind::Shell { triangles, material: Box::new(material) }
}

fn rod(segments: Vec<[u32; 2]>) -> BodyKind {
    let material = RodMaterial { radius: 1.0, young_modulus: 1e5, poisson_ratio: 0.3 };
    BodyKind::Rod { segments, material, density: 1000.0, straight: false, natural_twist: 0.0 }
}

/// Cells of one body, in its own numbering.
fn of_body<const N: usize>(
    cells: &[[u32; N]],
    owners: &[u32],
    body: usize,
    first: u32,
    count: u32,
) -> Vec<[u32; N]> {
    let own = |(cell, owner): &(&[u32; N], &u32)| {
        **owner as usize == body && cell.iter().all(|v| *v >= first && *v - first < count)
    };
    cells.iter().zip(owners).filter(own).map(|(cell, _)| cell.map(|v| v - first)).collect()
}
