//! Bodies and joints of a machine as objects and joints of a scene.

use crate::text::{entry, file_name, free_name, number, quoted, table, vector};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{Pair, audit_intersections};
use standoff_linalg::Vec3;
use standoff_mesh::format::{
    Drive, Hinge, HingeKind, Link, Machine, Matter, Plane, STILL, Spring, Tendon,
};
use standoff_mesh::{Mesh, Names, is_closed, tet_determinant};
use standoff_sim::definition::MassProperties;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Density of what has no mass in a file, kg/m³.
const DENSITY: f64 = 1000.0;

/// Size of what stands for a body without geometry, in terms of its radii of gyration: above the floor wherever the body is.
const GHOST: f64 = 0.01;

/// Part of the inertia of a body that a body between two of its joints gets: MuJoCo needs none there.
const BETWEEN: f64 = 1e-3;

/// The parts of a scene file.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Tables of objects and joints.
    pub objects: String,
    /// The points of the bodies that move and have geometry.
    moving: Vec<Vec<Vec3>>,
    /// Meshes to write.
    pub meshes: Vec<(PathBuf, Mesh)>,
    /// What is not as the file says, one sentence each.
    pub notes: Vec<String>,
}

impl Parts {
    /// By how much a plane has to be lower for bodies that start on it, touching it or a little below, m; zero for a plane on which nothing starts.
    pub fn below(&self, plane: &Plane) -> f64 {
        let points = || self.moving.iter().flatten();
        let Some(first) = points().next() else { return 0.0 };
        let (low, high) = points().fold((*first, *first), |(l, h), p| (l.inf(p), h.sup(p)));
        let size = (high - low).norm();
        let normal = plane.normal.normalize();
        let distance = |p: &Vec3| normal.dot(&(p - plane.origin));
        let least = points().map(distance).fold(f64::INFINITY, f64::min);
        let starts_on_it = least <= GAP * size && least > -MOST_BELOW * size;
        if starts_on_it { GAP * size - least } else { 0.0 }
    }
}

/// Gap between bodies and a plane on which they start, and how far they may be below it, in terms of the size of all bodies: a little more than the
/// distance d̂ at which contact begins by default, so that nothing is pushed against joints that keep its height.
const GAP: f64 = 1.1e-3;
const MOST_BELOW: f64 = 1e-2;

/// A body as it is written.
struct Written {
    name: String,
    mesh: Mesh,
    inertial: Option<MassProperties>,
    /// Whether it has no geometry of its own.
    is_ghost: bool,
}

/// The scene of a machine whose meshes are named after `stem`; the error names a body that cannot be.
pub(crate) fn parts(machine: &Machine, stem: &str, names: &mut Names) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut all = Vec::with_capacity(machine.links.len());
    for k in 0..machine.links.len() {
        all.push(written(machine, k, names, &mut parts.notes)?);
    }
    if let Some(total) = machine.total_mass {
        scale(machine, &mut all, total);
    }
    let apart = apart(machine, &all, &mut parts.notes);
    for (k, body) in all.iter().enumerate().filter(|(_, b)| !b.mesh.points.is_empty()) {
        let file = PathBuf::from(format!("{stem}-{}.obj", file_name(&body.name)));
        let out = &mut parts.objects;
        table(out, "[[objects]]");
        entry(out, "name", &quoted(&body.name));
        entry(out, "mesh", &quoted(&file.to_string_lossy()));
        entry(out, "role", if k == STILL { "\"obstacle\"" } else { "\"rigid\"" });
        // what touches within a body stays apart
        entry(out, "weld", "false");
        if let Some(inertial) = &body.inertial {
            entry(out, "inertial", &mass_properties(inertial));
        }
        velocity(&machine.links[k].twist, &body.mesh.points, out);
        let ignored: Vec<String> = apart
            .iter()
            .filter(|[_, later]| *later == k)
            .map(|[other, _]| quoted(&all[*other].name))
            .collect();
        if !ignored.is_empty() {
            entry(out, "ignore", &format!("[{}]", ignored.join(", ")));
        }
        if k != STILL && !body.is_ghost {
            parts.moving.push(body.mesh.points.clone());
        }
        parts.meshes.push((file, body.mesh.clone()));
    }
    for hinge in &machine.joints {
        joint(hinge, &all, &mut parts);
    }
    machine.tendons.iter().for_each(|t| tendon(t, &mut parts.objects));
    Ok(parts)
}

/// How a body of these points moves at the start.
fn velocity([angular, at_origin]: &[Vec3; 2], points: &[Vec3], out: &mut String) {
    if [*angular, *at_origin] == [Vec3::zeros(); 2] {
        return;
    }
    let first = (points[0], points[0]);
    let (low, high) = points.iter().fold(first, |(l, h), p| (l.inf(p), h.sup(p)));
    // an object says how fast the centre of its bounding box is
    let velocity = at_origin + angular.cross(&((low + high) / 2.0));
    entry(out, "velocity", &vector(&velocity));
    entry(out, "angular_velocity", &vector(&angular.map(f64::to_degrees)));
}

/// A body with its mass properties, as far as something can have them, and a shape.
fn written(
    machine: &Machine,
    k: usize,
    names: &mut Names,
    notes: &mut Vec<String>,
) -> Result<Written, String> {
    let link = &machine.links[k];
    let name = free_name(&link.name, names);
    let mesh = Mesh { regions: Vec::new(), ..link.mesh.clone() };
    if k == STILL {
        return Ok(Written { name, mesh, inertial: None, is_ghost: false });
    }
    let masses = masses(machine, link, &name, notes)?;
    let is_ghost = mesh.triangles.is_empty();
    let mesh = if is_ghost { ghost(&masses)? } else { mesh };
    if is_ghost {
        notes.push(format!(
            "{name}: it has no collision geometry; a small tetrahedron at its centre, which touches nothing, stands for it"
        ));
    }
    Ok(Written { name, mesh, inertial: Some(masses), is_ghost })
}

/// Scales the masses of all bodies so that they have a mass of `total` kg together.
fn scale(machine: &Machine, all: &mut [Written], total: f64) {
    let whole = machine.links.iter().zip(all.iter()).filter(|(link, _)| link.between.is_none());
    let sum: f64 = whole.filter_map(|(_, body)| body.inertial).map(|i| i.mass).sum();
    for inertial in all.iter_mut().filter_map(|body| body.inertial.as_mut()) {
        *inertial = inertial.denser(total / sum);
    }
}

/// The mass properties of a body: what the file gives, else of what its geometry is filled with.
fn masses(
    machine: &Machine,
    link: &Link,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<MassProperties, String> {
    if let Some(of) = link.between {
        let note = format!(
            "between the joints of a body with several there are bodies with {BETWEEN} of its inertia"
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
        let whole = masses(machine, &machine.links[of], name, &mut Vec::new())?;
        return Ok(whole.denser(BETWEEN));
    }
    let sum = |parts: Vec<MassProperties>| parts.into_iter().reduce(|a, b| a.with(&b));
    let given = sum(link.matter.iter().filter_map(given).collect());
    if let Some(possible) = given.and_then(|g| g.checked().ok()) {
        return Ok(possible);
    }
    let filled = sum(link.matter.iter().filter_map(filled).collect());
    let surface = || {
        let whole = is_closed(&link.mesh.triangles)
            .then(|| MassProperties::of_surface(&link.mesh.points, &link.mesh.triangles, DENSITY));
        whole.and_then(Result::ok)
    };
    match (given, filled.or_else(surface)) {
        (Some(given), Some(filled)) => {
            notes.push(format!(
                "{name}: nothing has the inertia that the file gives; its geometry is filled with its mass"
            ));
            Ok(MassProperties { centre: given.centre, ..filled.denser(given.mass / filled.mass) })
        }
        (None, Some(found)) => {
            if filled.is_none() {
                let note = "the file gives no mass; its geometry has";
                notes.push(format!("{name}: {note} {DENSITY} kg/m³"));
            }
            Ok(found)
        }
        (_, None) => Err(format!(
            "body \"{name}\" moves, but has neither a mass and an inertia that are possible nor closed geometry"
        )),
    }
}

/// Mass properties that the file gives; none of frames without a mass.
fn given(matter: &Matter) -> Option<MassProperties> {
    match matter {
        Matter::Given { mass, centre, inertia } if *mass > 0.0 => {
            Some(MassProperties::of_inertia(*mass, *centre, inertia))
        }
        _ => None,
    }
}

/// Mass properties of what fills a geometry; none of surfaces that do not close.
fn filled(matter: &Matter) -> Option<MassProperties> {
    let Matter::Filled { surface, mass, density } = matter else { return None };
    let (points, triangles) = (&surface.points, &surface.triangles);
    let filled = MassProperties::of_surface(points, triangles, density.unwrap_or(DENSITY)).ok()?;
    Some(mass.map_or(filled, |mass| filled.denser(mass / filled.mass)))
}

/// What stands for a body without geometry: a small copy of the tetrahedron of its control points.
fn ghost(masses: &MassProperties) -> Result<Mesh, String> {
    let points = masses.control_points()?.map(|p| masses.centre + GHOST * (p - masses.centre));
    let mut triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    if tet_determinant(&points) < 0.0 {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Ok(Mesh { points: points.to_vec(), triangles, ..Mesh::default() })
}

fn mass_properties(masses: &MassProperties) -> String {
    let i = masses.inertia();
    let all = [i[(0, 0)], i[(1, 1)], i[(2, 2)], i[(0, 1)], i[(0, 2)], i[(1, 2)]].map(number);
    format!(
        "{{ mass = {}, centre = {}, inertia = [{}] }}",
        number(masses.mass),
        vector(&masses.centre),
        all.join(", ")
    )
}

/// Pairs of bodies without contact: those of the file, those that intersect at the start, and what has no geometry with everything.
fn apart(machine: &Machine, all: &[Written], notes: &mut Vec<String>) -> BTreeSet<[usize; 2]> {
    let shown = |k: usize| !all[k].mesh.points.is_empty();
    let joined = |pair: [usize; 2]| {
        let [a, b] = pair;
        a != STILL && machine.joints.iter().any(|j| j.links == [a, b] || j.links == [b, a])
    };
    let mut apart: BTreeSet<[usize; 2]> = machine.apart.iter().copied().collect();
    for k in (0..all.len()).filter(|k| all[*k].is_ghost) {
        apart.extend((0..all.len()).filter(|j| *j != k).map(|j| [j.min(k), j.max(k)]));
    }
    apart.retain(|pair| pair.iter().all(|k| shown(*k)) && !joined(*pair));
    for pair in intersecting(all) {
        if !joined(pair) && apart.insert(pair) {
            let [a, b] = pair.map(|k| &all[k].name);
            notes.push(format!("{a} and {b} intersect at the start; they do not touch each other"));
        }
    }
    apart
}

/// Pairs of bodies whose surfaces intersect, exactly.
fn intersecting(all: &[Written]) -> BTreeSet<[usize; 2]> {
    let (mut points, mut triangles, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for (k, written) in all.iter().enumerate() {
        let first = points.len() as u32;
        points.extend_from_slice(&written.mesh.points);
        triangles.extend(written.mesh.triangles.iter().map(|t| t.map(|v| v + first)));
        body.resize(points.len(), k);
    }
    let x = points.clone();
    let mut mesh = CollisionMesh::new(points, triangles, &[], &[]);
    mesh.body = body.iter().map(|b| *b as u32).collect();
    let found = audit_intersections(&mesh, &x);
    let of = |vertex: u32| body[vertex as usize];
    let edge = |edge: u32| of(mesh.edges[edge as usize][0]);
    let face = |face: u32| of(mesh.faces[face as usize][0]);
    let bodies = found.iter().map(|pair| {
        let (a, b) = match *pair {
            Pair::EdgeFace { edge: e, face: f } => (edge(e), face(f)),
            Pair::EdgeEdge { edges: [e, f] } => (edge(e), edge(f)),
            Pair::FaceVertex { face: f, vertex } => (face(f), of(vertex)),
            Pair::EdgeVertex { edge: e, vertex } => (edge(e), of(vertex)),
            Pair::VertexVertex { vertices: [v, w] } => (of(v), of(w)),
        };
        [a.min(b), a.max(b)]
    });
    bodies.filter(|[a, b]| a != b).collect()
}

fn joint(hinge: &Hinge, all: &[Written], parts: &mut Parts) {
    let out = &mut parts.objects;
    let kind = match hinge.kind {
        HingeKind::Revolute => "revolute",
        HingeKind::Prismatic => "prismatic",
        HingeKind::Spherical => "spherical",
        HingeKind::Planar => "planar",
        HingeKind::Fixed => "fixed",
    };
    let bodies = hinge.links.iter().filter(|b| **b != STILL).map(|b| quoted(&all[*b].name));
    table(out, "[[joints]]");
    entry(out, "name", &quoted(&hinge.name));
    entry(out, "kind", &quoted(kind));
    entry(out, "bodies", &format!("[{}]", bodies.collect::<Vec<_>>().join(", ")));
    entry(out, "point", &vector(&hinge.point));
    if matches!(hinge.kind, HingeKind::Revolute | HingeKind::Prismatic | HingeKind::Planar) {
        entry(out, "axis", &vector(&hinge.axis));
    }
    along(hinge, parts);
}

/// What acts along a joint's coordinate.
fn along(hinge: &Hinge, parts: &mut Parts) {
    let out = &mut parts.objects;
    let numbers = [
        ("start", hinge.start),
        ("damping", hinge.damping),
        ("friction", hinge.friction),
        ("armature", hinge.armature),
    ];
    for (key, value) in numbers {
        if value != 0.0 {
            entry(out, key, &number(value));
        }
    }
    match hinge.limits {
        Some([low, high]) if low < high => {
            entry(out, "limits", &format!("[{}, {}]", number(low), number(high)));
        }
        Some(_) => {
            parts.notes.push(format!("{}: limits without a range are left out", hinge.name));
        }
        None => {}
    }
    if let Some(text) = hinge.spring.as_ref().map(spring) {
        entry(out, "spring", &text);
    }
    if let Some(text) = hinge.drive.as_ref().map(drive) {
        entry(out, "drive", &text);
    }
    if let Some((joint, ratio, offset)) = &hinge.mimic {
        let text = format!(
            "{{ joint = {}, ratio = {}, offset = {} }}",
            quoted(joint),
            number(*ratio),
            number(*offset)
        );
        entry(out, "mimic", &text);
    }
}

fn tendon(tendon: &Tendon, out: &mut String) {
    table(out, "[[tendons]]");
    entry(out, "name", &quoted(&tendon.name));
    let joints = tendon.joints.iter().map(|(j, c)| format!("{} = {}", quoted(j), number(*c)));
    entry(out, "joints", &format!("{{ {} }}", joints.collect::<Vec<_>>().join(", ")));
    if let Some([low, high]) = tendon.limits {
        entry(out, "limits", &format!("[{}, {}]", number(low), number(high)));
    }
    for (key, value) in [("damping", tendon.damping), ("friction", tendon.friction)] {
        if value != 0.0 {
            entry(out, key, &number(value));
        }
    }
    if let Some(text) = tendon.spring.as_ref().map(spring) {
        entry(out, "spring", &text);
    }
    if let Some(text) = tendon.drive.as_ref().map(drive) {
        entry(out, "drive", &text);
    }
}

fn spring(spring: &Spring) -> String {
    format!("{{ stiffness = {}, rest = {} }}", number(spring.stiffness), number(spring.rest))
}

fn drive(drive: &Drive) -> String {
    let mut keys = Vec::new();
    let given = [
        ("position", drive.position),
        ("velocity", drive.velocity),
        ("effort", drive.effort),
        ("stiffness", Some(drive.stiffness).filter(|k| *k != 0.0)),
        ("damping", Some(drive.damping).filter(|d| *d != 0.0)),
        ("max_effort", drive.max_effort),
    ];
    for (key, value) in given {
        keys.extend(value.map(|v| format!("{key} = {}", number(v))));
    }
    format!("{{ {} }}", keys.join(", "))
}
