//! Whether a simulation can begin where its definition starts: beyond what the audit says, its first
//! potential has to be finite and its first system to have a solution.

use crate::audit::{Violation, violations};
use crate::body::Body;
use crate::definition::settings::Integrator;
use crate::definition::{Anchor, Definition};
use crate::energy::codim::CodimElements;
use crate::error::BuildError;
use crate::model::Model;
use crate::rails::basis;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// Gaps below this share of the size of the coordinates are noise: collision detection, which keeps a
/// part of every gap, has no step left that changes a coordinate.
const RESOLVED_GAP: f64 = 256.0 * f64::EPSILON;

/// All that keeps a simulation from starting at `x` (`#V`): what the audit finds, else pairs whose gap
/// beyond their thickness is not resolved by the coordinates.
pub fn obstructions(model: &Model, x: &[Vec3]) -> Vec<Violation> {
    let found = violations(model, x);
    if !found.is_empty() {
        return found;
    }
    let mesh = &model.collision;
    let size = x.iter().map(Vec3::amax).fold(0.0, f64::max);
    let size = mesh.half_thickness.iter().fold(size, |s, h| s.max(*h));
    let mut unresolved = Vec::new();
    for pair in candidates(mesh, x, RESOLVED_GAP * size).iter() {
        let stencil = pair.stencil(mesh);
        let thickness = pair.thickness(mesh);
        let size =
            stencil.vertices().iter().map(|&v| x[v as usize].amax()).fold(thickness, f64::max);
        let (gap, least) = (pair.d2(mesh, x).sqrt() - thickness, RESOLVED_GAP * size);
        if gap < least {
            let (a, b) = stencil.vertices().split_at(stencil.kind.second());
            let (a, b) = (a.to_vec(), b.to_vec());
            unresolved.push(Violation::Unresolved { a, b, gap, least });
        }
    }
    unresolved
}

/// No two segments of a rod may fold back onto each other at rest, `x`, if it is not straight at rest whatever its
/// mesh: their curvature is infinite there.
pub(super) fn check_folds(
    bodies: &[Body],
    codim: &CodimElements,
    x: &[Vec3],
) -> Result<(), BuildError> {
    let joints = &codim.rod_joints;
    for k in 0..joints.len() {
        let [a, b, c, ..] = joints.vertices()[k];
        let (e, f) = (x[b as usize] - x[a as usize], x[c as usize] - x[b as usize]);
        let lengths = e.norm() * f.norm();
        if !joints.elements[k].is_straight() && e.dot(&f) + lengths <= 1e-12 * lengths {
            let body = &bodies[bodies.partition_point(|body| body.vertices.end <= b as usize)];
            let own = |v: u32| v as usize - body.vertices.start;
            let [a, b, c] = [a, b, c].map(own);
            let problem = format!(
                "segments ({a}, {b}) and ({b}, {c}) fold back onto each other at rest: they turn by \
                 180° at vertex {b}, where the rod's curvature is infinite; move a vertex"
            );
            return Err(BuildError::Body { body: body.name.clone(), problem });
        }
    }
    Ok(())
}

/// In quasi-static steps nothing but prescribed vertices, springs, joints and contact holds a body: one that has
/// none of them at the start has no equilibrium to be computed.
///
/// # Errors
/// The first such body.
// long: everything that may hold a body
pub fn check_held(definition: &Definition, model: &Model, x: &[Vec3]) -> Result<(), BuildError> {
    let quasi_static = definition.settings.time.integrator == Integrator::QuasiStatic;
    if !quasi_static || !definition.energies.is_empty() {
        return Ok(());
    }
    let mut links = Links::new(model.bodies.len());
    for body in (0..model.bodies.len()).filter(|&b| model.bodies[b].obstacle) {
        links.hold(body);
    }
    let mut partly: BTreeMap<usize, Vec<Vec3>> = BTreeMap::new();
    for p in definition.prescribed.iter().filter(|p| p.t0 <= 0.0) {
        match p.along.is_empty() {
            true => links.hold(p.body),
            false => partly.entry(p.body).or_default().extend(&p.along),
        }
    }
    // held in some directions here and in the others there
    let dimensions = if definition.dimension.is_planar() { 2 } else { 3 };
    // a ring is free along its axis only
    let holds = |along: &[Vec3]| match definition.dimension.is_axisymmetric() {
        true => along.iter().any(|n| n.y != 0.0),
        false => basis(along).len() >= dimensions,
    };
    let all = partly.into_iter().filter(|(_, along)| holds(along));
    all.for_each(|(body, _)| links.hold(body));
    for a in definition.attachments.iter().filter(|a| a.t0 <= 0.0) {
        match &a.anchor {
            Anchor::Start | Anchor::Point(_) => links.hold(a.body),
            Anchor::Vertices(sets) | Anchor::Surface(sets) => {
                sets.iter().for_each(|(other, _)| links.join(a.body, *other));
            }
        }
    }
    for s in definition.stitches.iter().filter(|s| s.t0 <= 0.0) {
        links.join(s.bodies[0], s.bodies[1]);
    }
    model.grips.iter().for_each(|g| links.join(g.owner, g.body));
    model.ties.iter().for_each(|t| links.join(t.bodies[0], t.bodies[1]));
    for j in &definition.joints {
        match j.parent {
            Some(parent) => links.join(parent, j.child),
            None => links.hold(j.child),
        }
    }
    let body_of = |v: u32| model.bodies.partition_point(|b| b.vertices.end <= v as usize);
    let (mesh, d_hat) = (&model.collision, model.resolved.d_hat);
    for pair in candidates(mesh, x, 0.5 * d_hat).iter() {
        if pair.d2(mesh, x).sqrt() - pair.thickness(mesh) < d_hat {
            let [a, b] = pair.stencil(mesh).representatives();
            links.join(body_of(a), body_of(b));
        }
    }
    for (half, vertices) in &model.half_space_vertices {
        let near = |v: &&u32| {
            let planes = model.half_spaces.iter();
            planes.map(|h| h.signed_distance(&x[**v as usize]) - half).any(|d| d < d_hat)
        };
        vertices.iter().filter(near).for_each(|&v| links.hold(body_of(v)));
    }
    let Some(free) = (0..model.bodies.len()).find(|&b| !links.held(b)) else { return Ok(()) };
    Err(BuildError::Body {
        body: model.bodies[free].name.clone(),
        problem:
            "it is free to move, so that a quasi-static simulation has no equilibrium: hold some \
                  of its vertices (`fixed` or `motion` from t = 0 on), attach it, or choose an \
                  integrator with inertia"
                .into(),
    })
}

/// Bodies that hold each other, in a union–find forest whose last tree is what stands still.
struct Links(Vec<usize>);

impl Links {
    fn new(bodies: usize) -> Self {
        Self((0..=bodies).collect())
    }

    fn root(&mut self, mut k: usize) -> usize {
        while self.0[k] != k {
            self.0[k] = self.0[self.0[k]];
            k = self.0[k];
        }
        k
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.min(b)] = a.max(b);
    }

    fn hold(&mut self, body: usize) {
        self.join(body, self.0.len() - 1);
    }

    fn held(&mut self, body: usize) -> bool {
        self.root(body) == self.root(self.0.len() - 1)
    }
}
