//! Positions that are set between steps, and what of the state follows from them.

use crate::build::start::obstructions;
use crate::build::{initial_acceleration, joint_motion};
use crate::contact::ConstraintKey;
use crate::energy::Term;
use crate::error::ControlError;
use crate::model::Model;
use crate::state::State;
use standoff_linalg::Vec3;
use std::ops::Range;

/// Distance from where the vertices that carry it say it is, in terms of the size of the largest body, up to which a carried vertex is in
/// its place. Our choice: rounding in every step adds up to less in a million steps.
pub const CARRIED: f64 = 1e-9;

/// The state with the vertices from `first` on at `x`, as if they had moved to there uniformly with the velocities that they have.
/// What follows from positions is that of a simulation that starts there: rods and the normals of shells have the frames of a
/// start, and constraints of the barrier-free method at these vertices are forgotten. Prescribed vertices have their targets there.
/// Where no position changes, nothing does.
pub fn placed(
    model: &Model,
    state: &State,
    first: usize,
    x: &[Vec3],
) -> Result<State, ControlError> {
    let range = first..first + x.len();
    let mut new = state.clone();
    if state.x[range.clone()] == *x {
        return Ok(new);
    }
    if let Some(problem) = held_by(model, &range) {
        let name = model.locate(first as u32).0.name.clone();
        return Err(ControlError::Positions { name, problem, count: 1 });
    }
    new.x[range.clone()].copy_from_slice(x);
    put_carried(model, &mut new, range.clone())?;
    let h = model.resolved.h;
    for v in range.clone() {
        new.x_previous[v] = new.x[v] - h * new.v[v];
        new.v_previous[v] = new.v[v];
        new.targets[v] = new.x[v];
    }
    reset_frames(model, &mut new, &range);
    let touched = |v: u32| range.contains(&(v as usize));
    new.constraints.retain(|c| match c.key {
        ConstraintKey::Pair(pair) => {
            !pair.stencil(&model.collision).vertices().iter().any(|v| touched(*v))
        }
        ConstraintKey::HalfSpace(vertex, _) => !touched(vertex),
    });
    new.joint_coordinates = model.joints.coordinates(&new.x, &new.joint_coordinates);
    check(model, &new, &range)?;
    if !model.resolved.settings.time.zero_initial_acceleration {
        let a = initial_acceleration(model, &new);
        new.a[range.clone()].copy_from_slice(&a[range]);
    }
    new.joint_motion = joint_motion(model, &new);
    Ok(new)
}

/// What keeps the body of the vertices in `range` where it is, if something does.
fn held_by(model: &Model, range: &Range<usize>) -> Option<String> {
    if model.grips.iter().any(|g| range.contains(&(g.vertices[0] as usize))) {
        return Some(
            "a joint holds some of its vertices, so that it cannot be put elsewhere".into(),
        );
    }
    let body = model.body_of[range.start] as usize;
    let tie = model.ties.iter().find(|t| t.bodies.contains(&body))?;
    Some(format!("tie '{}' glues it to another body, so that it cannot be put elsewhere", tie.name))
}

/// Puts the carried vertices of `range` where they are carried, of which they may be off by rounding only.
fn put_carried(model: &Model, state: &mut State, range: Range<usize>) -> Result<(), ControlError> {
    if model.map.is_identity() {
        return Ok(());
    }
    if let Some((v, distance)) = model.map.deviation(&state.x)
        && distance > CARRIED * model.length
    {
        let place = model.describe_vertex(v);
        return Err(ControlError::Carried { place, distance });
    }
    let mut right = state.x.clone();
    model.map.spread(&mut right);
    state.x[range.clone()].copy_from_slice(&right[range]);
    Ok(())
}

/// Gives rods and the normals of shells in `range` the frames with which a simulation starts there.
fn reset_frames(model: &Model, state: &mut State, range: &Range<usize>) {
    let (frames, codim) = (&model.frames, &model.codim);
    let own = |v: u32| range.contains(&(v as usize));
    let (directors, twists) = frames.start(&model.rest, &state.x, &codim.rod_joints);
    for (k, ends) in frames.edges.iter().enumerate().filter(|(_, ends)| own(ends[0])) {
        debug_assert!(own(ends[1]), "edges lie within bodies");
        state.directors[k] = directors[k];
        let angle = frames.first_angle + k;
        for of in [
            &mut state.x,
            &mut state.v,
            &mut state.a,
            &mut state.x_previous,
            &mut state.v_previous,
            &mut state.targets,
        ] {
            of[angle] = Vec3::zeros();
        }
    }
    for (k, joint) in frames.joints.iter().enumerate() {
        if own(frames.edges[joint[0] as usize][0]) {
            state.frame_twists[k] = twists[k];
        }
    }
    let (hinges, operators) = (&codim.hinges, &codim.shape_operators);
    let mut placed = codim.clone();
    let none = vec![0; 3 * operators.len()];
    frames.place(&mut placed, &state.directors, &state.frame_twists, &none, &state.x);
    let turns = placed.first_turns(&state.x);
    let of_hinges = (0..hinges.len()).filter(|&e| own(hinges.vertices()[e][0]));
    let of_operators = (0..operators.len()).filter(|&e| own(operators.vertices()[e][0]));
    let of_operators = of_operators.flat_map(|e| (0..3).map(move |k| hinges.len() + 3 * e + k));
    for k in of_hinges.chain(of_operators) {
        state.turns[k] = turns[k];
    }
}

/// No surfaces may intersect, no element may be inverted, and every energy has to be finite.
fn check(model: &Model, state: &State, range: &Range<usize>) -> Result<(), ControlError> {
    let (body, _) = model.locate(range.start as u32);
    let refuse = |problem: String, count: usize| {
        Err(ControlError::Positions { name: body.name.clone(), problem, count })
    };
    let found = obstructions(model, &state.x);
    if let Some(first) = found.first() {
        return refuse(first.describe(model), found.len());
    }
    let main = model.joints.main(&state.joint_coordinates);
    let mut along = model.joints.names().zip(main).enumerate();
    let beyond =
        along.find(|(k, (_, s))| model.joints.limits(*k).is_some_and(|l| l.gap(*s) <= 0.0));
    if let Some((_, (joint, _))) = beyond {
        return refuse(format!("joint '{joint}' would be beyond its limits"), 1);
    }
    let codim = model.codim_at(state);
    let own = model.energies.iter().map(|e| &**e as &dyn Term);
    let undefined = |term: &&dyn Term| !term.value(&state.x).is_finite();
    match model.solids.terms().chain(codim.terms()).chain(own).find(undefined) {
        None => Ok(()),
        Some(term) => {
            let problem = format!("the energy '{}' is not finite there", term.name());
            refuse(problem, 1)
        }
    }
}
