//! `standoff check`: what is in a scene, and whether it can start.

use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::output::Console;
use crate::scene;
use standoff_mesh::Quality;
use standoff_run::{BodyReport, CheckReport, IpcBody, Reach};
use standoff_scene::bending::{Bending, LONG};
use standoff_scene::resolve::FillReport;
use standoff_sim::definition::{BodyDef, BodyKind, SolidPart, Substance};
use standoff_sim::material::{Law, Material};
use standoff_sim::sizes::BodyScale;
use standoff_sim::step::start_forces::StartForce;

/// Contact forces at the start above this many times the weight of a body are worth a warning.
const START_FORCE: f64 = 2.0;

/// Violations listed; the others are counted.
const LISTED: usize = 20;

/// Checks a scene without simulating it.
pub fn check(args: &CheckArgs, console: &mut Console) -> Result<(), Failure> {
    let scene = scene::load(&args.scene, &args.common, &args.common.set, None)?;
    let file = args.scene.display();
    let report = standoff_run::check(&scene).map_err(|e| Failure::Input(format!("{file}: {e}")))?;
    scene.notes.iter().for_each(|note| console.say(format_args!("note: {note}")));
    describe_bodies(&report.bodies, console);
    scene.fills.iter().for_each(|(name, fill)| describe_fill(name, fill, console));
    let CheckReport { steps, step, end, .. } = report;
    console.say(format_args!("steps                  {steps} of {step} s, to t = {end} s"));
    describe_scales(&report.scales, console);
    if report.may_touch {
        describe_gaps(&report, console);
        describe_start_forces(&report.start_forces, console);
    } else {
        console.say("contact                nothing can touch anything");
    }
    describe_potential(&report, console);
    if let Some(inverted) = report.inverted {
        console.say(format_args!("inverted elements      {inverted} (allowed)"));
    }
    describe_memory(&report, console);
    for violation in report.violations.iter().take(LISTED) {
        console.complain(format_args!("{file}: {violation}"));
    }
    let count = report.violations.len();
    if count == 0 {
        console.say(match (report.may_touch, report.inverted) {
            (true, None) => "the start is free of intersections and inverted elements",
            (false, None) => "the start is free of inverted elements",
            (_, Some(_)) => "the start has no fault",
        });
        return Ok(());
    }
    if count > LISTED {
        console.complain(format_args!("{file}: and {} more", count - LISTED));
    }
    Err(Failure::Result(format!("{count} violations at the start: move the objects apart")))
}

/// What filling the surface of an object gave.
fn describe_fill(name: &str, fill: &FillReport, console: &mut Console) {
    let FillReport { tetrahedra, used, allowed, inwards, outwards, .. } = fill;
    let apart = inwards.bound.max(outwards.bound);
    console.say(format_args!(
        "filled '{name}': {tetrahedra} tetrahedra of {used:.3e} m; \
         surfaces at most {apart:.3e} m apart ({allowed:.3e} m allowed)"
    ));
    if fill.sharp_length > 0.0 {
        let share = 100.0 * fill.sharp_kept / fill.sharp_length;
        let length = fill.sharp_length;
        console.say(format_args!("  sharp edges            {share:.1} % of {length:.3} m kept"));
    }
    console.say("  dihedral angles from, number:");
    let all: usize = fill.histogram.iter().sum();
    for (k, count) in fill.histogram.iter().enumerate().filter(|(_, count)| **count > 0) {
        let bar = "#".repeat((60 * count).div_ceil(all));
        console.say(format_args!("    {:>3}° {count:>9} {bar}", 10 * k));
    }
}

/// Where the orientation-aware potential acts and where not, and how far.
fn describe_potential(report: &CheckReport<'_>, console: &mut Console) {
    for body in &report.keeping_ipc {
        let IpcBody { body, primitive, problem } = body;
        console.say(format_args!("'{body}' keeps the IPC potential: {primitive}: {problem}"));
    }
    for Reach { between, least, median } in &report.reach {
        let name = format!("ε {between}");
        console.say(format_args!("{name:<22} {least:.4e} m to {median:.4e} m (median)"));
    }
}

fn describe_bodies(bodies: &[BodyReport<'_>], console: &mut Console) {
    // copies of one object have the same mesh: say it once
    let mut last: Option<(&str, String, usize)> = None;
    let mut flush = |group: &Option<(&str, String, usize)>| {
        if let Some((name, text, count)) = group {
            let copies = if *count > 1 { format!(" ({count} copies)") } else { String::new() };
            console.say(format_args!("{name}{copies}: {text}"));
        }
    };
    for report in bodies {
        let name = report.body.name.split('[').next().unwrap_or(&report.body.name);
        let text = describe_body(report);
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

/// By how much too little a longish solid of linear elements bends.
fn describe_bending(bending: Bending) -> String {
    if bending.slenderness < LONG {
        return String::new();
    }
    format!("\n  bends by about {:.0} % of what a finer mesh does", 100.0 * bending.part.min(1.0))
}

/// The moduli of a solid, of rubber with its law, and whether it has fibres.
fn describe_solid(of: &Substance<'_>) -> String {
    let Material { law, young_modulus: e, poisson_ratio: nu } = of.material;
    let moduli = match law {
        Law::Rubber(law) => {
            let mu = law.rubber().shear_modulus();
            format!("{}, μ {mu:.3e} Pa, K {:.3e} Pa", law.rubber().key(), law.bulk_modulus())
        }
        _ => format!("E {e:.3e} Pa, ν {nu}"),
    };
    let fibres = match of.fibres.len() {
        0 => String::new(),
        1 => ", a family of fibres".into(),
        n => format!(", {n} families of fibres"),
    };
    let growth = if of.growth.is_some() { ", growing" } else { "" };
    format!("{moduli}{fibres}{growth}, {} kg/m³", of.density)
}

/// What a solid is made of, and what of it of something else.
fn describe_materials(body: &BodyDef) -> String {
    let describe = |part: &SolidPart| {
        let (count, what) = (part.elements.len(), describe_solid(&part.substance()));
        format!("; {count} of them in '{}': {what}", part.name)
    };
    let rest = body.solid().map(|(rest, _)| describe_solid(&rest));
    rest.into_iter().chain(body.parts.iter().map(describe)).collect()
}

// long: an arm for each kind of body
fn describe_body(report: &BodyReport<'_>) -> String {
    let (body, quality) = (report.body, describe_quality(&report.quality));
    let vertices = body.rest.len();
    match &body.kind {
        BodyKind::Volume { tets, middles, .. } => {
            let mass = report.mass.unwrap_or(0.0);
            let own = body.unknowns().len();
            let order = if middles.is_empty() { "" } else { "quadratic " };
            let surface = body.surface.as_ref();
            let carried = surface
                .map(|s| format!("; touches by a surface of {} triangles", s.triangles.len()));
            format!(
                "volume, {own} vertices, {} {order}tetrahedra, {mass:.4} kg, \
                 {}{}{}{}",
                tets.len(),
                describe_materials(body),
                quality,
                carried.unwrap_or_default(),
                report.bending.map(describe_bending).unwrap_or_default(),
            )
        }
        BodyKind::Rigid { mass } => {
            let triangles = body.surface.as_ref().map_or(0, |s| s.triangles.len());
            let corners = body.carried_count();
            format!("rigid, {corners} vertices, {triangles} triangles, {mass:.4} kg{quality}")
        }
        BodyKind::PlaneStrain { triangles, middles, .. } => {
            let order = if middles.is_empty() { "" } else { "quadratic " };
            let mass = report.mass.unwrap_or(0.0);
            let (kind, per) = match report.dimension.is_axisymmetric() {
                true => ("axisymmetric", ""),
                false => ("plane strain", " per metre of depth"),
            };
            format!(
                "{kind}, {vertices} vertices, {} {order}triangles, {mass:.4} kg{per}, {}{}",
                triangles.len(),
                describe_materials(body),
                quality
            )
        }
        BodyKind::Shell { triangles, material } => {
            let limit = material
                .stretch_limit
                .map_or(String::new(), |l| format!(", stretch below {}", l.limit));
            // a fabric's density is its measured mass per area over its thickness
            let density = (material.density * 1e3).round() / 1e3;
            format!(
                "shell, {vertices} vertices, {} triangles, {:.3e} m thick, {density} kg/m³{limit}{}{}",
                triangles.len(),
                material.thickness,
                describe_thickness(body),
                quality
            )
        }
        BodyKind::Rod { segments, material, density, .. } => {
            format!(
                "rod, {vertices} vertices, {} segments, radius {:.3e} m, E {:.3e} Pa, \
                 {density} kg/m³{}{}",
                segments.len(),
                material.radius,
                material.young_modulus,
                describe_thickness(body),
                quality
            )
        }
        BodyKind::Particles { points, radius, density } => format!(
            "{} particles, radius {radius:.3e} m, {density} kg/m³{}",
            points.len(),
            describe_thickness(body)
        ),
        BodyKind::Obstacle { triangles, edges, points } => {
            format!(
                "obstacle, {vertices} vertices, {} triangles, {} wires, {} points{}",
                triangles.len(),
                edges.len(),
                points.len(),
                quality
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
        parts.push(format!("radius ratio {worst:.3} at worst, {mean:.3} on average"));
    }
    parts.iter().map(|p| format!("\n  {p}")).collect()
}

/// What contact and errors of the bodies are measured against: a line for each group of bodies with the same.
fn describe_scales(scales: &[(String, BodyScale)], console: &mut Console) {
    // the same as printed: copies differ in the last digits of their size
    let figures = |s: &BodyScale| {
        let BodyScale { d_hat, stick_speed, velocity_tolerance, .. } = s;
        let d_hat = format!("contact distance d̂     {d_hat:.4e} m");
        [
            d_hat,
            format!("; stick speed {stick_speed:.3e} m/s, tolerance {velocity_tolerance:.3e} m/s"),
        ]
    };
    let mut groups: Vec<([String; 2], &str, usize)> = Vec::new();
    for (name, scale) in scales {
        let own = figures(scale);
        match groups.iter_mut().find(|(other, ..)| *other == own) {
            Some((.., more)) => *more += 1,
            None => groups.push((own, name, 0)),
        }
    }
    let of = |name: &str, more: usize| match (groups.len(), more) {
        (1, _) => String::new(),
        (_, 0) => format!(" of '{name}'"),
        (_, more) => format!(" of '{name}' and {more} more"),
    };
    for ([d_hat, speeds], name, more) in groups.iter().take(LISTED) {
        console.say(format_args!("{d_hat}{}{speeds}", of(name, *more)));
    }
}

/// Bodies that contact pushes at the start by more than twice their weight.
fn describe_start_forces(forces: &[(String, StartForce)], console: &mut Console) {
    let pushed = forces.iter().filter(|(_, f)| f.force > START_FORCE * f.weight);
    for (name, StartForce { force, weight, .. }) in pushed.take(LISTED) {
        console.say(format_args!(
            "warning: contact pushes '{name}' with {force:.3e} N at the start (its weight is {weight:.3e} N): \
             surfaces are closer than d̂; move them apart, or reduce `contact.d_hat`"
        ));
    }
}

/// The smallest distances at the start, between objects and to half-spaces.
fn describe_gaps(report: &CheckReport<'_>, console: &mut Console) {
    match &report.closest {
        None => console.say(format_args!("distance of objects    more than {:.3e} m", report.far)),
        Some(closest) => console.say(format_args!(
            "distance of objects    {:.4e} m: {} and {}",
            closest.gap, closest.a, closest.b
        )),
    }
    console.say(format_args!("pairs closer than d̂    {}", report.pairs_within_d_hat));
    if report.neighbours > 0 {
        console.say(format_args!(
            "left out of contact    {} pairs of neighbours, nearer at rest than their thickness",
            report.neighbours
        ));
    }
    for h in &report.half_spaces {
        let label = format!("above '{}'", h.name);
        console.say(format_args!("{label:<22} {:.4e} m: {}", h.gap, h.vertex));
    }
}

/// The memory of a run, and what it becomes if contact makes a difference.
fn describe_memory(report: &CheckReport<'_>, console: &mut Console) {
    let (start, contact) = (report.memory / 1e6, report.memory_in_contact / 1e6);
    let later = match contact > 1.2 * start {
        true => format!("; {contact:.0} MB once the shells lie on each other"),
        false => String::new(),
    };
    console.say(format_args!("memory, about          {start:.0} MB{later}"));
}
