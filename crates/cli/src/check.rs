//! `standoff check`: what is in a scene, and whether it can start.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::output::Console;
use crate::scene;
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::distance::{edge_edge, point_edge, point_point, point_triangle};
use standoff_linalg::Vec3;
use standoff_scene::mesh::{Mesh, Quality};
use standoff_sim::Model;
use standoff_sim::audit::violations;
use standoff_sim::contact::orientation::Reach;
use standoff_sim::definition::{BodyDef, BodyKind, Definition};
use standoff_sim::settings::LinearSolver;

/// Violations listed; the others are counted.
const LISTED: usize = 20;

/// Checks a scene without simulating it.
pub fn check(args: &CheckArgs, console: &mut Console) -> Result<(), Failure> {
    args.common.start_threads();
    let scene = scene::load(&args.scene, &args.common, &args.common.set)?;
    let file = args.scene.display();
    let (model, state) = standoff_sim::build::build(&scene.definition)
        .map_err(|e| Failure::Input(format!("{file}: {e}")))?;
    scene.notes.iter().for_each(|note| console.say(format_args!("note: {note}")));
    describe_bodies(&scene.definition, console);
    let time = &scene.definition.settings.time;
    let (steps, step) = (scene.steps(), time.step);
    console.say(format_args!("steps                  {steps} of {step} s, to t = {} s", time.end));
    let d_hat = model.resolved.d_hat;
    console.say(format_args!("contact distance d̂     {d_hat:.4e} m"));
    describe_gaps(&model, &state.x, console);
    describe_potential(&model, console);
    let bytes = memory(&scene.definition);
    console.say(format_args!("memory, about          {:.0} MB", bytes / 1e6));
    let found = violations(&model, &state.x);
    for violation in found.iter().take(LISTED) {
        console.complain(format_args!("{file}: {}", violation.describe(&model)));
    }
    if found.is_empty() {
        console.say("the start is free of intersections and inverted elements");
        return Ok(());
    }
    if found.len() > LISTED {
        console.complain(format_args!("{file}: and {} more", found.len() - LISTED));
    }
    let what = format!("{} violations at the start: move the objects apart", found.len());
    Err(Failure::Result(what))
}

/// Where the orientation-aware potential acts and where not, and how far.
fn describe_potential(model: &Model, console: &mut Console) {
    let Some(contact) = &model.orientation else { return };
    let (surface, mesh) = (&contact.surface, &model.collision);
    for body in &model.bodies {
        let first = mesh.vertices.partition_point(|&v| (v as usize) < body.vertices.start);
        let end = mesh.vertices.partition_point(|&v| (v as usize) < body.vertices.end);
        let defects = mesh.vertices[first..end]
            .iter()
            .filter_map(|&v| surface.around.component(v).and_then(|c| surface.around.defect(c)));
        if let Some(defect) = defects.clone().next() {
            let (what, name) = (model.describe_primitive(&defect.witness()), &body.name);
            let problem = defect.problem();
            console.say(format_args!("'{name}' keeps the IPC potential: {what}: {problem}"));
        }
    }
    let Reach::Adaptive { within, between } = &surface.reach else { return };
    let planes = &contact.plane_reach;
    let rows = [
        ("within a body", &within.vertex),
        ("between bodies", &between.vertex),
        ("half-spaces", planes),
    ];
    for (what, eps) in rows {
        let covered = mesh.vertices.iter().filter(|v| surface.covered[**v as usize]);
        let mut eps: Vec<f64> = covered.map(|&v| eps[v as usize]).collect();
        eps.sort_by(f64::total_cmp);
        let (least, median) = (eps[0], eps[eps.len() / 2]);
        console.say(format_args!(
            "{:<22} {least:.4e} m to {median:.4e} m (median)",
            format!("ε {what}")
        ));
    }
}

fn describe_bodies(definition: &Definition, console: &mut Console) {
    // copies of one object have the same mesh: say it once
    let mut last: Option<(String, String, usize)> = None;
    let mut flush = |group: &Option<(String, String, usize)>| {
        if let Some((name, text, count)) = group {
            let copies = if *count > 1 { format!(" ({count} copies)") } else { String::new() };
            console.say(format_args!("{name}{copies}: {text}"));
        }
    };
    for body in &definition.bodies {
        let name = body.name.split('[').next().unwrap_or(&body.name).to_owned();
        let text = describe_body(body);
        match &mut last {
            Some((n, t, count)) if *n == name && *t == text => *count += 1,
            _ => {
                flush(&last);
                last = Some((name, text, 1));
            }
        }
    }
    flush(&last);
}

fn describe_body(body: &BodyDef) -> String {
    let mut mesh = Mesh { points: body.rest.clone(), ..Mesh::default() };
    let vertices = body.rest.len();
    match &body.kind {
        BodyKind::Volume { tets, material, density, .. } => {
            mesh.tets.clone_from(tets);
            let q = mesh.quality();
            let mass = q.volume.unwrap_or(0.0) * density;
            let (e, nu) = (material.young_modulus, material.poisson_ratio);
            format!(
                "volume, {vertices} vertices, {} tetrahedra, {mass:.4} kg, \
                 E {e:.3e} Pa, ν {nu}, {density} kg/m³{}",
                tets.len(),
                describe_quality(&q)
            )
        }
        BodyKind::Shell { triangles, material } => {
            mesh.triangles.clone_from(triangles);
            let limit = material
                .stretch_limit
                .map_or(String::new(), |l| format!(", stretch below {}", l.limit));
            format!(
                "shell, {vertices} vertices, {} triangles, {:.3e} m thick, {} kg/m³{limit}{}{}",
                triangles.len(),
                material.thickness,
                material.density,
                describe_thickness(body),
                describe_quality(&mesh.quality())
            )
        }
        BodyKind::Rod { segments, material, density, .. } => {
            mesh.edges.clone_from(segments);
            format!(
                "rod, {vertices} vertices, {} segments, radius {:.3e} m, E {:.3e} Pa, \
                 {density} kg/m³{}{}",
                segments.len(),
                material.radius,
                material.young_modulus,
                describe_thickness(body),
                describe_quality(&mesh.quality())
            )
        }
        BodyKind::Particles { points, radius, density } => format!(
            "{} particles, radius {radius:.3e} m, {density} kg/m³{}",
            points.len(),
            describe_thickness(body)
        ),
        BodyKind::Obstacle { triangles, edges, points } => {
            mesh.triangles.clone_from(triangles);
            mesh.edges.clone_from(edges);
            mesh.vertices.clone_from(points);
            format!(
                "obstacle, {vertices} vertices, {} triangles, {} wires, {} points{}",
                triangles.len(),
                edges.len(),
                points.len(),
                describe_quality(&mesh.quality())
            )
        }
    }
}

fn describe_thickness(body: &BodyDef) -> String {
    format!(", keeps {:.3e} m from itself", body.contact_thickness)
}

fn describe_quality(q: &Quality) -> String {
    let mut parts = Vec::new();
    if let Some((least, most)) = q.edge_length {
        parts.push(format!("edges {least:.3e} to {most:.3e} m"));
    }
    if let Some((least, most)) = q.dihedral {
        parts.push(format!("dihedral angles {least:.1}° to {most:.1}°"));
    } else if let Some((least, most)) = q.triangle_angle {
        parts.push(format!("angles {least:.1}° to {most:.1}°"));
    }
    if let Some((worst, mean)) = q.radius_ratio {
        parts.push(format!("radius ratio {worst:.3} at worst, {mean:.3} in the mean"));
    }
    parts.iter().map(|p| format!("\n  {p}")).collect()
}

/// Objects farther apart than this share of the deformable bodies' diagonal are not measured.
const FAR: f64 = 0.1;

/// The smallest distances at the start, between objects and to half-spaces.
fn describe_gaps(model: &Model, x: &[Vec3], console: &mut Console) {
    let d_hat = model.resolved.d_hat;
    let far = (FAR * model.length).max(d_hat);
    match smallest_gap(&between_bodies(model), x, d_hat, far) {
        None => console.say(format_args!("objects are apart by   more than {far:.3e} m")),
        Some((gap, a, b)) => console.say(format_args!(
            "objects are apart by   {gap:.4e} m: {} and {}",
            model.describe_primitive(&a),
            model.describe_primitive(&b)
        )),
    }
    let close = pairs(&model.collision, x, d_hat).iter().filter(|(gap, _, _)| *gap < d_hat).count();
    console.say(format_args!("pairs closer than d̂    {close}"));
    for (plane, name) in model.half_spaces.iter().zip(&model.half_space_names) {
        let groups = model.half_space_vertices.iter();
        let gaps = groups.flat_map(|(half, vertices)| {
            vertices.iter().map(move |&v| (plane.signed_distance(&x[v as usize]) - half, v))
        });
        if let Some((gap, vertex)) = gaps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let vertex = model.describe_vertex(vertex);
            console.say(format_args!("above '{name}'{:>12} {gap:.4e} m: {vertex}", ""));
        }
    }
}

type Gap = (f64, Vec<u32>, Vec<u32>);

/// The collision mesh without contact of bodies with themselves.
fn between_bodies(model: &Model) -> CollisionMesh {
    let mut mesh = model.collision.clone();
    let n = model.bodies.len();
    if mesh.groups == 0 {
        mesh.groups = n;
        mesh.excluded = vec![false; n * n];
        for (group, body) in model.bodies.iter().enumerate() {
            mesh.group[body.vertices.clone()].fill(group as u16);
        }
    }
    for group in 0..mesh.groups {
        mesh.excluded[group * mesh.groups + group] = true;
    }
    mesh
}

/// The closest pair of primitives that may collide, if closer than `far`. Looks farther and farther
/// away, from `reach` on.
fn smallest_gap(mesh: &CollisionMesh, x: &[Vec3], mut reach: f64, far: f64) -> Option<Gap> {
    loop {
        // the broad phase finds every pair within `reach`, so a smaller gap is the smallest one
        let closest = pairs(mesh, x, reach).into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        match closest {
            Some(gap) if gap.0 <= reach => return Some(gap),
            _ if reach >= far => return None,
            _ => reach = (2.0 * reach).min(far),
        }
    }
}

/// Pairs of primitives within a distance `reach`, and some more, with their distances.
fn pairs(mesh: &CollisionMesh, x: &[Vec3], reach: f64) -> Vec<Gap> {
    let found = candidates(mesh, x, 0.5 * reach);
    let p = |v: u32| &x[v as usize];
    let mut gaps: Vec<Gap> = Vec::new();
    for [e, f] in found.edge_edge {
        let (a, b) = (mesh.edges[e as usize], mesh.edges[f as usize]);
        let d2 = edge_edge::edge_edge_d2(p(a[0]), p(a[1]), p(b[0]), p(b[1]));
        gaps.push((d2.sqrt() - mesh.thickness(&a, &b), a.to_vec(), b.to_vec()));
    }
    for [f, v] in found.face_vertex {
        let t = mesh.faces[f as usize];
        let d2 = point_triangle::point_triangle_d2(p(v), p(t[0]), p(t[1]), p(t[2]));
        gaps.push((d2.sqrt() - mesh.thickness(&t, &[v]), t.to_vec(), vec![v]));
    }
    for [e, v] in found.edge_vertex {
        let a = mesh.edges[e as usize];
        let d = point_edge::point_edge_d2(p(v), p(a[0]), p(a[1])).sqrt();
        gaps.push((d - mesh.thickness(&a, &[v]), a.to_vec(), vec![v]));
    }
    for [v, w] in found.vertex_vertex {
        let d = point_point::point_point_d2(p(v), p(w)).sqrt();
        gaps.push((d - mesh.thickness(&[v], &[w]), vec![v], vec![w]));
    }
    gaps
}

/// Estimate of the peak memory of a run, bytes.
///
/// Cholesky factors of volume meshes in nested-dissection order hold about 6.3·n^1.44 numbers for n
/// degrees of freedom (fitted to 10⁴ to 1.5·10⁵ degrees of freedom), and a third as many again are
/// under way during the factorisation; at 8 bytes each, 4 in single precision. Elements, surface and matrix add about 2 kB per tetrahedron.
fn memory(definition: &Definition) -> f64 {
    let mut factor = 0.0;
    let mut tetrahedra = 0usize;
    let mut vertices = 0usize;
    for body in &definition.bodies {
        vertices += body.rest.len();
        if let BodyKind::Volume { tets, .. } = &body.kind {
            tetrahedra += tets.len();
            factor += 8.4 * (3.0 * body.rest.len() as f64).powf(1.442);
        }
    }
    factor *= match definition.settings.solver.linear {
        LinearSolver::Cholesky => 8.0,
        LinearSolver::MixedCholesky | LinearSolver::Auto => 4.0,
        LinearSolver::ConjugateGradient => 0.0,
    };
    2e7 + factor + 2e3 * tetrahedra as f64 + 500.0 * vertices as f64
}
