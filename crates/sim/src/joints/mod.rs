//! Joints: their equations, the energy that meets them, what they act with, and in which order bodies hang on each other.

mod form;
mod term;
mod tree;

pub use form::{Form, POINTS, Row};
pub use term::JointTerm;
pub use tree::{Linked, Tree};

use crate::definition::JointKind;
use standoff_linalg::{Vec3, nalgebra::Unit};
use std::f64::consts::TAU;

/// All joints of a model.
#[derive(Debug, Clone, Default)]
pub struct Joints {
    /// The joints in order of definition.
    pub all: Vec<Joint>,
    /// In which order bodies hang on each other.
    pub tree: Tree,
}

impl Joints {
    /// Number of equations of all joints.
    pub fn row_count(&self) -> usize {
        self.all.last().map_or(0, |j| j.first_row + j.rows.len())
    }

    /// Whether some joints close loops.
    pub fn have_loops(&self) -> bool {
        self.tree.leaves_out(self.all.len())
    }

    /// The coordinates of all joints at `x`, after those of the last step.
    pub fn coordinates(&self, x: &[Vec3], before: &[[f64; 2]]) -> Vec<[f64; 2]> {
        self.all.iter().zip(before).map(|(joint, b)| joint.coordinates(x, *b)).collect()
    }

    /// The greatest error of a joint at `x`, and which one that is.
    pub fn worst(&self, x: &[Vec3]) -> Option<(&Joint, f64)> {
        let errors = self.all.iter().map(|j| (j, j.error(x)));
        errors.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}

/// A joint of a model.
#[derive(Debug, Clone)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// Index of the body that carries the axis; `None` for the world.
    pub parent: Option<usize>,
    /// Index of the other body.
    pub child: usize,
    /// The control points of the child, then those of the parent.
    pub stencil: Vec<u32>,
    /// The equations.
    pub rows: Vec<Row>,
    /// Number of the first one among those of all joints.
    pub first_row: usize,
    /// k, N/m.
    pub stiffness: f64,
    /// Radius of the smaller body, m, in terms of which errors are.
    pub size: f64,
    /// The joint's point on the child and on the parent.
    pub points: [Form; 2],
    /// The axis on the parent, a unit vector at the start.
    pub axis: Form,
    /// A direction across the axis on the child and on the parent, the same unit vector at the start.
    pub across: [Form; 2],
}

impl Joint {
    /// The control points of a joint in a list of all vertices; zeros for those of the world.
    pub fn gather(&self, of: &[Vec3]) -> [Vec3; POINTS] {
        let mut q = [Vec3::zeros(); POINTS];
        for (q, &v) in q.iter_mut().zip(&self.stencil) {
            *q = of[v as usize];
        }
        q
    }

    /// The greatest magnitude of an equation at `x`, in terms of the joint's size.
    pub fn error(&self, x: &[Vec3]) -> f64 {
        let q = self.gather(x);
        self.rows.iter().map(|row| row.value(&q).abs()).fold(0.0, f64::max) / self.size
    }

    /// Whether all equations hold at `x` to a `tolerance` in terms of the joint's size, or to rounding.
    pub fn is_met(&self, x: &[Vec3], tolerance: f64) -> bool {
        const DIGITS: f64 = 16.0;
        let q = self.gather(x);
        self.rows.iter().all(|row| {
            let c = row.value(&q).abs();
            c <= tolerance * self.size || c <= DIGITS * row.rounding(&q)
        })
    }

    /// The joint's point on the child at `x`, m.
    pub fn point(&self, x: &[Vec3]) -> Vec3 {
        self.points[0].at(&self.gather(x))
    }

    /// The direction of the axis at `x`; none of what has no axis.
    pub fn direction(&self, x: &[Vec3]) -> Option<Unit<Vec3>> {
        let axis = || Unit::try_new(self.axis.at(&self.gather(x)), 0.0);
        self.kind.has_axis().then(axis).flatten()
    }

    /// Force (N) and moment about the joint's point (N m) on the child at `x`, where the equations have these multipliers (N).
    pub fn reaction(&self, multipliers: &[f64], x: &[Vec3]) -> [Vec3; 2] {
        let (q, about) = (self.gather(x), self.point(x));
        let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
        for (row, multiplier) in self.rows.iter().zip(multipliers) {
            let gradient = row.gradient(&q);
            for k in 0..POINTS / 2 {
                force -= *multiplier * gradient[k];
                moment -= *multiplier * (q[k] - about).cross(&gradient[k]);
            }
        }
        [force, moment]
    }

    /// Angle about the axis (rad) and displacement along it (m) of the child relative to the parent since the start, zeros for what is not
    /// free. The angle continues from `before` without jumps by whole turns, as long as half a turn is not passed in a step.
    pub fn coordinates(&self, x: &[Vec3], before: [f64; 2]) -> [f64; 2] {
        let Some(axis) = self.direction(x) else { return [0.0; 2] };
        let q = self.gather(x);
        let mut coordinates = [0.0; 2];
        if self.kind.turns() {
            let [child, parent] = self.across.map(|n| n.at(&q));
            let angle = axis.dot(&parent.cross(&child)).atan2(parent.dot(&child));
            coordinates[0] = angle + TAU * ((before[0] - angle) / TAU).round();
        }
        if self.kind.slides() {
            let [child, parent] = self.points.map(|p| p.at(&q));
            coordinates[1] = axis.dot(&(child - parent));
        }
        coordinates
    }

    /// The rates of the coordinates (rad/s, m/s) at `x` with the velocities `v`.
    pub fn rates(&self, x: &[Vec3], v: &[Vec3]) -> [f64; 2] {
        let Some(axis) = self.direction(x) else { return [0.0; 2] };
        let (q, dq) = (self.gather(x), self.gather(v));
        let mut rates = [0.0; 2];
        if self.kind.turns() {
            let [child, parent] = self.across.map(|n| axis.dot(&n.at(&q).cross(&n.moved(&dq))));
            rates[0] = child - parent;
        }
        if self.kind.slides() {
            let [child, parent] = self.points.map(|p| p.moved(&dq));
            let axis_turns = self.axis.moved(&dq);
            let [at_child, at_parent] = self.points.map(|p| p.at(&q));
            rates[1] = axis.dot(&(child - parent)) + axis_turns.dot(&(at_child - at_parent));
        }
        rates
    }
}
