//! Where prescribed vertices have to be at the end of a step.

use crate::model::Model;
use crate::motion::PrescribedMotion;
use crate::rails::{Rails, basis};
use crate::state::State;
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// Where the vertices have to be at the end of a step.
#[derive(Debug, Clone)]
pub struct DirichletTargets {
    /// Whether a vertex is prescribed in this step (`#V`).
    pub prescribed: Vec<bool>,
    /// Its target, m (`#V`); the current position where it is not prescribed, and in the directions in which it is free.
    pub x: Vec<Vec3>,
    /// Vertices that are prescribed in some directions only. They are not among those that are `prescribed`.
    pub rails: Rails,
    /// Prescribed vertices that have to move, in any direction, ascending.
    pub moving: Vec<u32>,
    /// Which motions have met their end condition.
    pub ended: Vec<bool>,
}

impl DirichletTargets {
    /// Targets of the step that starts in `state`.
    pub fn new(model: &Model, state: &State) -> Self {
        let h = model.resolved.h;
        // obstacles are always held, deformable vertices while a motion names them
        let mut prescribed: Vec<bool> = model.deformable.iter().map(|d| !d).collect();
        let mut ended = state.ended.clone();
        let mut active: Vec<&PrescribedMotion> = Vec::new();
        for (motion, ended) in model.motions.iter().zip(&mut ended) {
            if *ended || !motion.due(state.time) {
                continue;
            }
            *ended = motion.has_met_its_end(&model.bodies, &state.x);
            if !*ended {
                active.push(motion);
            }
        }
        let rails = prescribe(&active, &model.axis, &mut prescribed);
        let mut x = state.x.clone();
        let on_rails = rails.iter().map(|(v, _)| v as usize);
        for v in (0..x.len()).filter(|&v| prescribed[v]).chain(on_rails) {
            x[v] = state.targets[v];
        }
        for motion in &active {
            motion.add_displacement(state, h, &mut x);
        }
        for &v in &model.axis {
            x[v as usize].x = 0.0;
        }
        for (v, _) in rails.iter() {
            let (target, from) = (x[v as usize], state.x[v as usize]);
            let left = rails.held_part(v, target - from);
            // rounding of an oblique direction is no motion
            let moves = left.amax() > 4.0 * f64::EPSILON * from.amax();
            x[v as usize] = if moves { from + left } else { from };
        }
        clamp_angles(model, state, &active, &mut prescribed, &mut x);
        let moving =
            (0..x.len() as u32).filter(|&v| x[v as usize] != state.x[v as usize]).collect();
        Self { prescribed, x, rails, moving, ended }
    }

    /// The displacement of a vertex to its target from a position, in the directions in which it is prescribed, m.
    pub fn left_of(&self, v: u32, from: &Vec3) -> Vec3 {
        self.rails.held_part(v, self.x[v as usize] - from)
    }
}

/// Marks the vertices that motions prescribe in all directions together; rails of those that they prescribe in some, and of those on the `axis` of bodies
/// of revolution.
fn prescribe(active: &[&PrescribedMotion], axis: &[u32], prescribed: &mut [bool]) -> Rails {
    let mut partly: BTreeMap<u32, Vec<Vec3>> = BTreeMap::new();
    for motion in active {
        for &v in &motion.vertices {
            match motion.along.is_empty() {
                true => prescribed[v as usize] = true,
                false => partly.entry(v).or_default().extend(&motion.along),
            }
        }
    }
    for &v in axis {
        let along = partly.entry(v).or_default();
        along.push(Vec3::x());
        // pulled to its target along the axis, it still stays there
        if std::mem::take(&mut prescribed[v as usize]) {
            along.push(Vec3::y());
        }
    }
    let mut rails = Rails::default();
    for (v, directions) in partly {
        match &basis(&directions)[..] {
            _ if prescribed[v as usize] => {}
            all if all.len() == 3 => prescribed[v as usize] = true,
            some => rails.push(v, some),
        }
    }
    rails
}

/// A segment of a rod, or an edge of a shell with a normal, is clamped where both of its ends are
/// prescribed: its angle then follows the rotation that they are told. The energy does not depend on the
/// angle of a segment without joints.
fn clamp_angles(
    model: &Model,
    state: &State,
    active: &[&PrescribedMotion],
    prescribed: &mut [bool],
    x: &mut [Vec3],
) {
    let frames = &model.frames;
    if frames.is_empty() {
        return;
    }
    let mut spin = vec![Vec3::zeros(); frames.first_angle];
    for motion in active {
        let turn = motion.spin(state, model.resolved.h);
        for &v in &motion.vertices {
            spin[v as usize] += turn;
        }
    }
    for (k, ends) in frames.edges.iter().enumerate() {
        let angle = frames.first_angle + k;
        let [a, b] = ends.map(|v| v as usize);
        if prescribed[a] && prescribed[b] {
            let turn = 0.5 * (spin[a] + spin[b]);
            let d = &state.directors[k];
            let grown = frames.prescribed_angle(k, &turn, d, &state.x, x);
            prescribed[angle] = true;
            x[angle].x = state.targets[angle].x + frames.lever[k] * grown;
        } else if frames.is_lone(k) {
            prescribed[angle] = true;
        }
    }
}
