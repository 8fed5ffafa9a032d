//! Bodies and joints of a machine as objects and joints of a scene.

use crate::text::{comment, entry, file_name, free_name, number, quoted, table, vector};
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{Pair, audit_intersections};
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::format::{Drive, Hinge, HingeKind, Inertial, Link, Machine, Plane};
use standoff_mesh::{Mesh, Names, is_closed};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Density of what has no mass in a file, kg/m³.
const DENSITY: f64 = 1000.0;

/// Size of the box that stands for a body without geometry, in terms of the one of its inertia: above the floor wherever the body is.
const GHOST: f64 = 0.01;

/// What still stands: body number 0 of a machine.
const STILL: usize = 0;

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
    inertial: Option<Inertial>,
    /// Whether it has no geometry of its own.
    is_ghost: bool,
}

/// The scene of a machine whose meshes are named after `stem`; the error names a body that cannot be.
pub(crate) fn parts(machine: &Machine, stem: &str, names: &mut Names) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut all = Vec::with_capacity(machine.links.len());
    for (k, link) in machine.links.iter().enumerate() {
        all.push(written(link, k == STILL, names, &mut parts.notes)?);
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
    Ok(parts)
}

// long: each combination of what a file may give
/// A body with its mass properties, as far as something can have them, and a shape.
fn written(
    link: &Link,
    is_still: bool,
    names: &mut Names,
    notes: &mut Vec<String>,
) -> Result<Written, String> {
    let name = free_name(&link.name, names);
    let mut body = Written { name, mesh: link.mesh.clone(), inertial: None, is_ghost: false };
    body.mesh.regions.clear();
    if is_still {
        return Ok(body);
    }
    let has_volume = is_closed(&link.mesh.triangles);
    let filled = Inertial::of_surface(&link.mesh, DENSITY).filter(|_| has_volume);
    let given = link.inertial.filter(|i| i.mass > 0.0);
    body.inertial = match (given, filled) {
        (Some(given), _) if is_possible(&given) => Some(given),
        (Some(given), Some(filled)) => {
            notes.push(format!(
                "{}: nothing has the inertia that the file gives; its geometry is filled with its mass",
                body.name
            ));
            Some(Inertial { inertia: given.mass / filled.mass * filled.inertia, ..given })
        }
        (None, Some(filled)) => {
            notes.push(format!(
                "{}: the file gives no mass; its geometry has {DENSITY} kg/m³",
                body.name
            ));
            Some(filled)
        }
        (_, None) => {
            return Err(format!(
                "body \"{}\" moves, but has neither a mass and an inertia that are possible nor closed geometry",
                body.name
            ));
        }
    };
    if let Some(inertial) = body.inertial.filter(|_| link.mesh.triangles.is_empty()) {
        notes.push(format!(
            "{}: it has no collision geometry; a small box at its centre, which touches nothing, stands for it",
            body.name
        ));
        body.mesh = small_box(&inertial);
        body.is_ghost = true;
    }
    Ok(body)
}

/// Second moment ∫ρ r rᵀ of an inertia.
fn second_moment(inertial: &Inertial) -> Mat3 {
    Mat3::from_diagonal_element(0.5 * inertial.inertia.trace()) - inertial.inertia
}

/// Whether something can have this inertia: no principal moment exceeds the sum of the other two.
fn is_possible(inertial: &Inertial) -> bool {
    let second = second_moment(inertial);
    let (least, greatest) =
        (second.symmetric_eigenvalues().min(), second.symmetric_eigenvalues().max());
    least > 1e-9 * greatest
}

/// A small copy of the box with an even density that has these mass properties.
fn small_box(inertial: &Inertial) -> Mesh {
    let eigen = second_moment(inertial).symmetric_eigen();
    let half = eigen.eigenvalues.map(|s| GHOST * (3.0 * s.max(0.0) / inertial.mass).sqrt());
    let turn = match eigen.eigenvectors.determinant() < 0.0 {
        true => -eigen.eigenvectors,
        false => eigen.eigenvectors,
    };
    let sign = |v: usize, bit: usize| if v >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |v: usize| Vec3::new(sign(v, 0), sign(v, 1), sign(v, 2)).component_mul(&half);
    let faces =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    Mesh {
        points: (0..8).map(|v| inertial.centre + turn * corner(v)).collect(),
        triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        ..Mesh::default()
    }
}

fn mass_properties(inertial: &Inertial) -> String {
    let i = &inertial.inertia;
    let all = [i[(0, 0)], i[(1, 1)], i[(2, 2)], i[(0, 1)], i[(0, 2)], i[(1, 2)]].map(number);
    format!(
        "{{ mass = {}, centre = {}, inertia = [{}] }}",
        number(inertial.mass),
        vector(&inertial.centre),
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
    for (key, value) in
        [("start", hinge.start), ("damping", hinge.damping), ("friction", hinge.friction)]
    {
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
    if hinge.kind == HingeKind::Spherical && hinge.start != 0.0 {
        comment(out, "a ball joint has no coordinate");
    }
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
