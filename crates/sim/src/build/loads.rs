//! Loads from their definitions.

// long: a function for each kind of load

use crate::body::Body;
use crate::definition::{
    Anchor, AttachmentDef, BodyDef, BodyKind, Definition, ForceDef, Load, SpringStiffness,
    StitchDef,
};
use crate::energy::pressure::Patch;
use crate::energy::spring::{Spring, UNUSED};
use crate::error::{BuildError, LoadIndex};
use crate::grip::Grips;
use crate::loads::{Force, Loads, Pressure};
use crate::tie::Tie;
use crate::unknowns::VertexMap;
use standoff_geometry::distance::{point_edge, point_triangle};
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use std::collections::{BTreeMap, HashSet};

/// What loads are built on.
pub(crate) struct LoadedBodies<'a> {
    pub bodies: &'a [Body],
    /// Positions at the start, m (`#V`).
    pub start: &'a [Vec3],
    /// Masses, kg (`#V`).
    pub mass: &'a [f64],
    /// The same after what is tied has handed over its own, kg (`#V`).
    pub lumped: &'a [f64],
    /// What is tied.
    pub ties: &'a [Tie],
    /// Surface triangles of all bodies, outwards.
    pub faces: &'a [[u32; 3]],
    /// In two dimensions the edges of all bodies, those of solids with the inside on the left.
    pub outline: &'a [[u32; 2]],
    /// Whether these are bodies of revolution.
    pub axis: bool,
    /// How carried vertices follow from the others.
    pub map: &'a VertexMap,
    /// Regions that joints make rigid.
    pub grips: &'a Grips,
}

impl LoadedBodies<'_> {
    /// The mass of a vertex, kg; of one on the surface of a rigid body an equal part of the body's.
    fn mass_of(&self, body: &Body, vertex: u32) -> f64 {
        match body.rigid {
            true => {
                self.mass[body.unknowns.clone()].iter().sum::<f64>() / body.carried.len() as f64
            }
            false => self.mass[vertex as usize],
        }
    }
}

/// Checks that every pressure and traction finds its triangles and every attachment something to hold on to,
/// without building elements; what else is wrong with a definition is left to
/// [`build`](crate::build::build).
///
/// # Errors
/// [`BuildError::Load`] for the first that does not.
// long: what each kind of body has of surfaces
pub fn check(definition: &Definition) -> Result<(), BuildError> {
    let on_surface = |f: &ForceDef| matches!(f.load, Load::Pressure(_) | Load::Traction(_));
    if definition.attachments.is_empty() && !definition.forces.iter().any(on_surface) {
        return Ok(());
    }
    let (mut bodies, mut start, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    let mut outline: Vec<[u32; 2]> = Vec::new();
    for body in &definition.bodies {
        let first = start.len();
        start.extend_from_slice(if body.start.is_empty() { &body.rest } else { &body.start });
        let shift = |e: &[u32; 2]| e.map(|v| v + first as u32);
        let surface = match &body.kind {
            BodyKind::Volume { tets, middles, .. } => {
                quadratic::boundary(tets, middles).unwrap_or_default()
            }
            BodyKind::Shell { triangles, .. } => triangles.clone(),
            BodyKind::Rigid { .. } => {
                body.surface.as_ref().map(|s| s.triangles.to_vec()).unwrap_or_default()
            }
            BodyKind::Rod { .. } | BodyKind::Particles { .. } => Vec::new(),
            BodyKind::PlaneStrain { triangles, middles, .. } => {
                let own = quadratic::outline(triangles, middles).unwrap_or_default();
                outline.extend(own.iter().map(shift));
                Vec::new()
            }
            BodyKind::Obstacle { triangles, edges, .. } => {
                if definition.dimension.is_planar() {
                    outline.extend(edges.iter().map(shift));
                }
                triangles.clone()
            }
        };
        faces.extend(surface.iter().map(|f| f.map(|v| v + first as u32)));
        bodies.push(Body::new(body, first));
    }
    let mass = vec![1.0; start.len()];
    let scene = LoadedBodies {
        bodies: &bodies,
        start: &start,
        mass: &mass,
        lumped: &mass,
        ties: &[],
        faces: &faces,
        outline: &outline,
        axis: definition.dimension.is_axisymmetric(),
        map: &VertexMap::default(),
        grips: &Grips::default(),
    };
    match loads(definition, &scene) {
        Err(error @ BuildError::Load { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// Checks the loads of a definition and numbers their vertices.
// long: an arm for each kind of load
pub(crate) fn loads(
    definition: &Definition,
    scene: &LoadedBodies<'_>,
) -> Result<Loads, BuildError> {
    let mut loads = Loads::default();
    for (k, f) in definition.forces.iter().enumerate() {
        let body = &scene.bodies[f.body];
        let vertices = body.scene_wide(&f.name, &f.vertices)?;
        let total = |on: &[u32]| on.iter().map(|&v| scene.mass[v as usize]).sum();
        let unknowns = |vertices: Vec<u32>| {
            let on = scene.grips.on_unknowns(f.body, scene.bodies, &vertices);
            on.map_err(|problem| BuildError::Load {
                load: LoadIndex::Force(k),
                body: body.name.clone(),
                problem: format!("'{}' {problem}", f.name),
            })
        };
        let (load, mass, vertices, parts) = match &f.load {
            Load::Acceleration(a) => {
                let on = unknowns(body.moved(&f.name, &f.vertices)?)?;
                let (on, parts) = on_carriers(on, scene);
                (a.clone(), 1.0, on, parts)
            }
            Load::Force(force) if body.rigid => {
                let (on, parts) = on_control_points(body, &vertices, scene);
                (force.clone(), total(&on), on, parts)
            }
            Load::Force(force) => {
                let on = unknowns(vertices)?;
                let whole = total(&on);
                let (on, parts) = on_carriers(on, scene);
                (force.clone(), whole, on, parts)
            }
            Load::Pressure(p) => {
                let patch = patch(k, f, (body, &definition.bodies[f.body].kind), &vertices, scene)?;
                let (name, pressure) = (f.name.clone(), p.clone());
                let pressure = Pressure { name, patch, index: k, pressure, t0: f.t0, t1: f.t1 };
                loads.pressures.push(pressure);
                continue;
            }
            Load::Traction(t) => {
                let BodyDef { kind, rest, .. } = &definition.bodies[f.body];
                let patch = patch(k, f, (body, kind), &vertices, scene)?;
                let areas = patch.areas(|v| rest[v as usize - body.vertices.start]);
                let (on, parts) = on_surface(areas, scene);
                (t.clone(), 1.0, on, parts)
            }
        };
        let (name, t0, t1) = (f.name.clone(), f.t0, f.t1);
        loads.forces.push(Force { name, vertices, index: k, load, mass, parts, t0, t1 });
    }
    for (k, attachment) in definition.attachments.iter().enumerate() {
        let first = loads.springs.len();
        attach(k, attachment, scene, &mut loads.springs)?;
        let key = match attachment.stiffness {
            SpringStiffness::PerSpring(_) => "stiffness",
            SpringStiffness::PerMass(_) => "stiffness_per_mass",
        };
        loads.end_set(&attachment.name, key, first);
    }
    for stitch in &definition.stitches {
        let first = loads.springs.len();
        sew(stitch, scene, &mut loads.springs)?;
        loads.end_set(&stitch.name, "stiffness", first);
    }
    Ok(loads)
}

/// The control points of a rigid body, on the surface of which a force acts at `vertices` in equal parts, and the acceleration of each in
/// terms of that of the body: f_k = Σ w_k f of the force f on each vertex, over a mass of m/4. At all vertices together it acts on the mass.
fn on_control_points(
    body: &Body,
    vertices: &[u32],
    scene: &LoadedBodies<'_>,
) -> (Vec<u32>, Vec<f64>) {
    let control: Vec<u32> = body.unknowns.clone().map(|v| v as u32).collect();
    if vertices.len() == body.carried.len() {
        return (control, Vec::new());
    }
    let (count, points) = (vertices.len() as f64, control.len() as f64);
    let mut parts = vec![0.0; control.len()];
    for (on, weights) in vertices.iter().filter_map(|v| scene.map.row(*v)) {
        for (u, w) in on.iter().zip(weights) {
            parts[*u as usize - body.unknowns.start] += w * points / count;
        }
    }
    (control, parts)
}

/// The unknowns on which a load on `vertices` in proportion to their masses acts where some are tied, and the acceleration of each in terms of that
/// of the vertices: a_u = Σ w_uv m_v a / m_u, where m_u has what tied vertices have handed over.
fn on_carriers(vertices: Vec<u32>, scene: &LoadedBodies<'_>) -> (Vec<u32>, Vec<f64>) {
    if scene.ties.is_empty() {
        return (vertices, Vec::new());
    }
    let mut forces: BTreeMap<u32, f64> = BTreeMap::new();
    for v in vertices {
        spread(v, scene.mass[v as usize], scene, &mut forces);
    }
    let part = |(u, force): (u32, f64)| (u, force / scene.lumped[u as usize]);
    forces.into_iter().map(part).unzip()
}

/// Adds a force on a vertex to those on the unknowns that carry it.
fn spread(v: u32, force: f64, scene: &LoadedBodies<'_>, forces: &mut BTreeMap<u32, f64>) {
    match scene.map.row(v) {
        None => *forces.entry(v).or_default() += force,
        Some((on, weights)) => {
            let parts = on.iter().zip(weights);
            parts.for_each(|(u, w)| *forces.entry(*u).or_default() += w * force);
        }
    }
}

/// The unknowns on which a traction of 1 Pa acts at vertices that have these areas, and the acceleration of each by it.
fn on_surface(areas: BTreeMap<u32, f64>, scene: &LoadedBodies<'_>) -> (Vec<u32>, Vec<f64>) {
    let mut forces = BTreeMap::new();
    for (v, area) in areas {
        spread(v, area, scene, &mut forces);
    }
    let part = |(u, force): (u32, f64)| (u, force / scene.lumped[u as usize]);
    forces.into_iter().map(part).unzip()
}

/// The surface on which a pressure or a traction acts.
fn patch(
    index: usize,
    f: &ForceDef,
    (body, kind): (&Body, &BodyKind),
    vertices: &[u32],
    scene: &LoadedBodies<'_>,
) -> Result<Patch, BuildError> {
    let load = LoadIndex::Force(index);
    let fail = |problem: String| Err(BuildError::Load { load, body: body.name.clone(), problem });
    if body.obstacle {
        let what = if matches!(f.load, Load::Traction(_)) { "traction" } else { "pressure" };
        return fail(format!("'{}': {what} does not act on an obstacle", f.name));
    }
    let triangles = selected(scene.faces, vertices, scene);
    let edges = selected(scene.outline, vertices, scene);
    Ok(match (triangles.is_empty(), edges.is_empty()) {
        (false, _) if body.quadratic => Patch::curved(triangles),
        (false, _) => Patch::new(triangles),
        (true, false) => {
            let patch = match scene.axis {
                true => Patch::of_rings(edges, scene.start),
                false => Patch::of_edges(edges),
            };
            let first = body.vertices.start as u32;
            match kind {
                BodyKind::PlaneStrain { middles, .. } => {
                    let middles: HashSet<u32> = middles.iter().flatten().copied().collect();
                    patch.with_curved_edges(|v| middles.contains(&(v - first)))
                }
                _ => patch,
            }
        }
        (true, true) => {
            return fail(format!(
                "'{}' selects no surface triangle; a triangle counts where all its corners are \
                 selected (in two dimensions an edge where both its ends are)",
                f.name
            ));
        }
    })
}

/// Surface triangles, or edges of the outline, all of whose corners are among `vertices`.
fn selected<const N: usize>(
    all: &[[u32; N]],
    vertices: &[u32],
    scene: &LoadedBodies<'_>,
) -> Vec<[u32; N]> {
    let mut selected = vec![false; scene.start.len()];
    for &v in vertices {
        selected[v as usize] = true;
    }
    let inside = |t: &&[u32; N]| t.iter().all(|&v| selected[v as usize]);
    all.iter().filter(inside).copied().collect()
}

/// Where a spring may end.
enum Ends {
    Vertices(Vec<u32>),
    Triangles(Vec<[u32; 3]>),
    Edges(Vec<[u32; 2]>),
    Start,
    Point(Vec3),
}

/// Adds a spring for every vertex of an attachment that finds an anchor near enough.
// long: an attachment from its anchor to its springs, with three reasons to refuse it
fn attach(
    index: usize,
    a: &AttachmentDef,
    scene: &LoadedBodies<'_>,
    springs: &mut Vec<Spring>,
) -> Result<(), BuildError> {
    let body = &scene.bodies[a.body];
    let load = LoadIndex::Attachment(index);
    let fail = |problem: String| Err(BuildError::Load { load, body: body.name.clone(), problem });
    if body.obstacle {
        return fail(format!(
            "'{}' attaches an obstacle, whose motion is prescribed; attach the deformable body to it instead",
            a.name
        ));
    }
    let vertices = body.scene_wide(&a.name, &a.vertices)?;
    let all = |sets: &[(usize, Vec<u32>)]| -> Result<Vec<u32>, BuildError> {
        let mut out = Vec::new();
        for (b, set) in sets {
            out.extend(scene.bodies[*b].scene_wide(&a.name, set)?);
        }
        Ok(out)
    };
    let ends = match &a.anchor {
        Anchor::Vertices(sets) => Ends::Vertices(all(sets)?),
        Anchor::Surface(sets) if scene.outline.is_empty() => {
            Ends::Triangles(selected(scene.faces, &all(sets)?, scene))
        }
        Anchor::Surface(sets) => Ends::Edges(selected(scene.outline, &all(sets)?, scene)),
        Anchor::Start => Ends::Start,
        Anchor::Point(p) => Ends::Point(*p),
    };
    let nothing = match &ends {
        Ends::Triangles(t) => t.is_empty(),
        Ends::Edges(e) => e.is_empty(),
        _ => false,
    };
    if nothing {
        return fail(format!(
            "'{}' finds no surface triangle to attach to; a triangle counts where all its corners \
             are selected (in two dimensions an edge where both its ends are)",
            a.name
        ));
    }
    let (before, mut nearest) = (springs.len(), f64::INFINITY);
    for v in vertices {
        let Some(mut spring) = closest(v, &ends, scene.start) else { continue };
        let distance = spring.vector(scene.start).norm();
        nearest = nearest.min(distance);
        if distance > a.distance {
            continue;
        }
        spring.rest_length = a.rest_length.unwrap_or(distance);
        spring.stiffness = match a.stiffness {
            SpringStiffness::PerSpring(k) => k,
            SpringStiffness::PerMass(k) => k * scene.mass_of(body, v),
        };
        (spring.t0, spring.t1) = (a.t0, a.t1);
        springs.push(spring);
    }
    if springs.len() == before {
        let found = if nearest.is_finite() {
            format!("the nearest is {nearest:.3e} m away")
        } else {
            "there is none but the vertices themselves".into()
        };
        return fail(format!("'{}' finds nothing within {} m; {found}", a.name, a.distance));
    }
    Ok(())
}

/// Adds the springs of a seam.
fn sew(
    s: &StitchDef,
    scene: &LoadedBodies<'_>,
    springs: &mut Vec<Spring>,
) -> Result<(), BuildError> {
    let [a, b] = s.bodies.map(|b| &scene.bodies[b]);
    if a.obstacle && b.obstacle {
        let problem = format!("'{}' sews two obstacles together", s.name);
        return Err(BuildError::Body { body: a.name.clone(), problem });
    }
    for pair in &s.pairs {
        let vertex = a.scene_wide(&s.name, &[pair.vertex])?[0];
        let ends = b.scene_wide(&s.name, &pair.ends)?;
        let w = pair.weight;
        let (vertices, weights) = if ends[0] == ends[1] {
            ([vertex, ends[0], UNUSED, UNUSED], [1.0, -1.0, 0.0, 0.0])
        } else {
            ([vertex, ends[0], ends[1], UNUSED], [1.0, w - 1.0, -w, 0.0])
        };
        if vertices[1..].contains(&vertex) {
            let problem = format!("'{}' sews vertex {} to itself", s.name, pair.vertex);
            return Err(BuildError::Body { body: a.name.clone(), problem });
        }
        springs.push(Spring {
            vertices,
            weights,
            target: Vec3::zeros(),
            stiffness: s.stiffness,
            rest_length: s.rest_length,
            t0: s.t0,
            t1: s.t1,
        });
    }
    Ok(())
}

/// A spring from vertex `v` to the closest end; the first of equals. A vertex is not attached to
/// itself or to its own triangles.
fn closest(v: u32, ends: &Ends, x: &[Vec3]) -> Option<Spring> {
    let p = x[v as usize];
    let spring = |vertices, weights, target| Spring {
        vertices,
        weights,
        target,
        stiffness: 0.0,
        rest_length: 0.0,
        t0: 0.0,
        t1: 0.0,
    };
    let fixed = |a| spring([v, UNUSED, UNUSED, UNUSED], [1.0, 0.0, 0.0, 0.0], a);
    match ends {
        Ends::Start => Some(fixed(p)),
        Ends::Point(a) => Some(fixed(*a)),
        Ends::Vertices(others) => {
            let d2 = |w: &u32| (x[*w as usize] - p).norm_squared();
            let others = others.iter().filter(|w| **w != v);
            let w = *others.min_by(|a, b| d2(a).total_cmp(&d2(b)))?;
            Some(spring([v, w, UNUSED, UNUSED], [1.0, -1.0, 0.0, 0.0], Vec3::zeros()))
        }
        Ends::Edges(edges) => {
            let point = |e: &[u32; 2]| {
                let [a, b] = e.map(|w| x[w as usize]);
                point_edge::closest(&p, &a, &b)
            };
            let others = edges.iter().filter(|e| !e.contains(&v));
            let (e, at) =
                others.map(|e| (e, point(e))).min_by(|a, b| a.1.d2().total_cmp(&b.1.d2()))?;
            let [own, a, b] = at.weights;
            Some(spring([v, e[0], e[1], UNUSED], [own, a, b, 0.0], Vec3::zeros()))
        }
        Ends::Triangles(triangles) => {
            let point = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|w| x[w as usize]);
                let feature = point_triangle::feature(&p, &a, &b, &c);
                point_triangle::closest_on(feature, &p, &a, &b, &c)
            };
            let others = triangles.iter().filter(|t| !t.contains(&v));
            let (t, at) =
                others.map(|t| (t, point(t))).min_by(|a, b| a.1.d2().total_cmp(&b.1.d2()))?;
            Some(spring([v, t[0], t[1], t[2]], at.weights, Vec3::zeros()))
        }
    }
}
