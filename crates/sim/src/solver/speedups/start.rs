//! The initial guess of a step's minimisation: the end of the last step, from which bodies without contacts are advanced
//! by their best-fit rigid motion, and all others by their velocities.

use crate::body::Body;
use crate::definition::Dimension;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::{Energy, IncrementalPotential};
use crate::solver::line_search::{audited, falls, find_contacts};
use crate::solver::path::{Path, StepLimit, admissible};
use crate::solver::workspace::Workspace;
use crate::state::State;
use crate::thresholds::{
    ADVANCE_TRIES, EXTRAPOLATED_CHANGE, KEEP_GAP, KEEP_PLANE_GAP, SHARE_THAT_GOES_ON, START_LENGTHS,
};
use standoff_linalg::{Mat3, Vec3, svd3};
use std::ops::Range;

/// Moves every body that touches nothing, and of which nothing is prescribed, by the rigid motion that
/// brings it closest to x̃ in the norm of the masses, and every such particle to its x̃, if the potential falls. Bodies that
/// meet something on the way stay where they are; if these have more than a quarter of the unknowns, so do all.
///
/// Over rigid motions the elastic energy is constant, so that this is the minimum of the potential among
/// them, however fast a body turns: Newton's method would have to follow the turn by straight lines.
pub fn advance_free_bodies(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) {
    let model = potential.context.model;
    let displacement = potential.predicted_displacement(&it.x);
    let mut touches = vec![false; it.x.len()];
    for v in it.contacts.touched() {
        touches[v as usize] = true;
    }
    let moves = |v: usize| potential.inertial()[v] || model.map.is_carried(v);
    // an axis leaves a body free to go along it
    let along = |free: &Mat3| model.dimension.is_axisymmetric() && free[(1, 1)] == 1.0;
    let is_free =
        |v: usize| moves(v) && !touches[v] && potential.rails().of(v as u32).is_none_or(along);
    let mut p = vec![Vec3::zeros(); it.x.len()];
    let mut any = false;
    // bodies with joints or ties do not go by themselves
    let held = |b: usize| model.joints.tree.has(b) || model.is_joined(b);
    let is_grip = |b: usize| model.bodies[b].owner.is_some();
    let single = |b: &usize| !model.bodies[*b].obstacle && !held(*b) && !is_grip(*b);
    for body in (0..model.bodies.len()).filter(single).map(|b| &model.bodies[b]) {
        if is_loose(body) {
            for v in body.vertices.clone().filter(|&v| is_free(v)) {
                (p[v], any) = (displacement[v], true);
            }
        } else if body.vertices.clone().all(is_free) {
            any = true;
            rigid_motion(model.dimension, body, &model.mass, &it.x, &displacement, &mut p);
        }
    }
    model.map.spread(&mut p);
    // what is not finite is for the minimisation to report
    if !p.iter().flatten().all(|c| c.is_finite()) {
        return;
    }
    for tries in 0..ADVANCE_TRIES {
        // few that rest save little, and what they descend is missed in the line searches of the others
        let free = (0..p.len()).filter(|&v| potential.free()[v]);
        let moving = free.clone().filter(|&v| p[v] != Vec3::zeros()).count() as f64;
        let free = free.count() as f64;
        if !any || tries > 0 && moving < (1.0 - SHARE_THAT_GOES_ON) * free {
            return;
        }
        // among bodies that stay behind, only what keeps away from them is sure to be better off
        let blocked = try_whole(potential, it, &p, tries > 0, work);
        any = leave_out(model, &blocked, &mut p);
    }
}

/// Moves the vertices that are still where the step began by h v with their velocities v there, as far as collisions admit, by
/// half of it or a quarter, whichever is the first to lower the potential. Nothing is moved if these velocities changed by more
/// than a quarter in the last step, in the norm of the masses: what has hit something or turned back does not go on as before.
///
/// Bodies that slide, roll, fold or twist in contact need fewer Newton iterations from there.
pub fn extrapolate(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    state: &State,
    work: &mut Workspace,
) {
    let is_still = |v: usize| potential.inertial()[v] && it.x[v] == state.x[v];
    let still: Vec<usize> = (0..it.x.len()).filter(|&v| is_still(v)).collect();
    let mass = &potential.context.model.mass;
    let square = |of: &dyn Fn(usize) -> Vec3| -> f64 {
        still.iter().map(|&v| mass[v] * of(v).norm_squared()).sum()
    };
    let moving = square(&|v| state.v[v]);
    let changed = square(&|v| state.v[v] - state.v_previous[v]);
    // not even what is not finite, which is for the minimisation to report
    if !(moving > 0.0
        && moving.is_finite()
        && changed <= EXTRAPOLATED_CHANGE * EXTRAPOLATED_CHANGE * moving)
    {
        return;
    }
    let mut p = vec![Vec3::zeros(); it.x.len()];
    for &v in &still {
        p[v] = potential.context.h * state.v[v];
    }
    potential.rails().project(&mut p);
    potential.context.model.map.spread(&mut p);
    try_part(potential, it, &p, work);
}

/// Moves `it` by the whole of `p` if nothing is in the way and the potential falls; else gives the vertices of what is
/// in the way. With `alone` what would be a contact of a vertex that moves is in the way too.
fn try_whole(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    alone: bool,
    work: &mut Workspace,
) -> Vec<u32> {
    let before = potential.value(it);
    if !before.value.is_finite() {
        return Vec::new();
    }
    let x: Vec<Vec3> = it.x.iter().zip(p).map(|(x, p)| x + p).collect();
    let (alpha, limit) = admissible(potential, it, p, work);
    if matches!(limit, StepLimit::Contact | StepLimit::HalfSpace) {
        let (model, keep) = (potential.context.model, [KEEP_GAP, KEEP_PLANE_GAP]);
        // pairs beyond the first collision too
        work.detector.sweep(model, &it.x, p, 1.0);
        return work.detector.limiting_vertices(model, &it.x, p, keep);
    }
    if alpha < 1.0 || !potential.within_limits(&x, 1.0) {
        return Vec::new();
    }
    let trial = trial(potential, x, work);
    if alone {
        let met: Vec<u32> =
            trial.contacts.touched().filter(|&v| p[v as usize] != Vec3::zeros()).collect();
        if !met.is_empty() {
            return met;
        }
    }
    accept_if_lower(potential, it, trial, &before, work);
    Vec::new()
}

/// Moves `it` along `p` by the largest admissible step length, its half or its quarter, the first that lowers the potential.
fn try_part(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    work: &mut Workspace,
) {
    let before = potential.value(it);
    if !before.value.is_finite() {
        return;
    }
    let mut path = Path::new(potential.context.model, &it.x, p);
    let mut alpha = 1.0;
    for _ in 0..START_LENGTHS {
        alpha = path.fit(potential, it, alpha, work).0;
        let mut x = it.x.clone();
        path.place(&it.x, alpha, &mut x);
        if potential.within_limits(&x, 1.0) {
            let trial = trial(potential, x, work);
            if accept_if_lower(potential, it, trial, &before, work) {
                return;
            }
        }
        alpha *= 0.5;
    }
}

/// Positions to which the way was swept, with their contacts.
fn trial(potential: &IncrementalPotential<'_>, x: Vec<Vec3>, work: &mut Workspace) -> Iterate {
    let mut trial = Iterate::without_contacts(x);
    find_contacts(potential, &mut trial, work);
    trial
}

/// Replaces `it`, where the potential is `before`, by a trial where it is lower; whether it did.
fn accept_if_lower(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    trial: Iterate,
    before: &Energy,
    work: &mut Workspace,
) -> bool {
    let after = potential.value(&trial);
    let accept = falls(before, &after, f64::NEG_INFINITY)
        && audited(&potential.context, &it.x, &trial.x, work);
    if accept {
        *it = trial;
    }
    accept
}

/// Stops the bodies of some vertices; of bodies of particles, these only. Whether any of them moved and others still do.
fn leave_out(model: &Model, blocked: &[u32], p: &mut [Vec3]) -> bool {
    let parts = blocked.iter().map(|&v| {
        let (body, _) = model.locate(v);
        if is_loose(body) { v as usize..v as usize + 1 } else { body.vertices.clone() }
    });
    let mut parts: Vec<Range<usize>> = parts.collect();
    parts.sort_unstable_by_key(|part| part.start);
    parts.dedup();
    let mut stopped = false;
    for whole in parts {
        stopped |= p[whole.clone()].iter().any(|p| *p != Vec3::zeros());
        p[whole].fill(Vec3::zeros());
    }
    stopped && p.iter().any(|p| *p != Vec3::zeros())
}

/// Whether a body's vertices are not connected.
fn is_loose(body: &Body) -> bool {
    [&body.solids, &body.triangles, &body.segments].iter().all(|list| list.is_empty())
}

/// Displacements of the rigid motion of a body that comes closest to `x` + `displacement`: with the means
/// c, c + u and the offsets d = x − c, e = d + displacement − u, the rotation R = U Vᵀ of
/// Σ m e dᵀ = U S Vᵀ. A ring goes along its axis only. In the plane the angle of R has the tangent (Σ m d × e)/(Σ m d·e).
fn rigid_motion(
    dimension: Dimension,
    body: &Body,
    mass: &[f64],
    x: &[Vec3],
    displacement: &[Vec3],
    p: &mut [Vec3],
) {
    let mean = |of: &[Vec3]| {
        let weighted = body.vertices.clone().map(|v| mass[v] * of[v]);
        let total: f64 = mass[body.vertices.clone()].iter().sum();
        weighted.sum::<Vec3>() / total
    };
    let (c, u) = (mean(x), mean(displacement));
    let covariance: Mat3 = body
        .vertices
        .clone()
        .map(|v| mass[v] * (x[v] - c + displacement[v] - u) * (x[v] - c).transpose())
        .sum();
    let rotation = match dimension {
        Dimension::Two => rotation_in_plane(&covariance),
        Dimension::Axisymmetric => Mat3::identity(),
        Dimension::Three => svd3(&covariance).rotation(),
    };
    let u = dimension.of_whole(u);
    for v in body.vertices.clone() {
        let d = x[v] - c;
        p[v] = u + rotation * d - d;
    }
}

/// The rotation about z that is closest to a matrix; none where there is no closest.
fn rotation_in_plane(m: &Mat3) -> Mat3 {
    let (cos, sin) = (m[(0, 0)] + m[(1, 1)], m[(1, 0)] - m[(0, 1)]);
    let length = cos.hypot(sin);
    if length == 0.0 {
        return Mat3::identity();
    }
    let (c, s) = (cos / length, sin / length);
    Mat3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
}
