//! The elements of codimensional bodies: membranes, hinges and shape operators of shells, segments and
//! joints of rods.

use super::element::{Element, ElementList, Elements};
use super::hinge::Hinge;
use super::membrane::Membrane;
use super::rod_joint::RodJoint;
use super::segment::Segment;
use super::shape_operator::ShapeOperator;
use super::term::Term;
use rayon::prelude::*;
use standoff_linalg::Vec3;

/// Part of the barrier's range below a stretch limit that counts as close to it [Li 2021, §4.1].
const CLOSE: f64 = 1e-4;
/// Doublings of the stiffness of stretch limits: from 1 kPa to 0.1 MPa [Li 2021, §4.1].
const MOST_DOUBLINGS: u32 = 7;

/// All elements of shells and rods.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CodimElements {
    /// Triangles of shells.
    pub membranes: Elements<Membrane, 3>,
    /// Pairs of triangles of shells.
    pub hinges: Elements<Hinge, 4>,
    /// Bending of triangles of shells.
    pub shape_operators: Elements<ShapeOperator, 6>,
    /// Segments of rods.
    pub segments: Elements<Segment, 2>,
    /// Joints of rods.
    pub rod_joints: Elements<RodJoint, 5>,
}

impl CodimElements {
    /// The energies, in the order of their sums.
    pub fn terms(&self) -> [&dyn Term; 5] {
        [&self.membranes, &self.hinges, &self.shape_operators, &self.segments, &self.rod_joints]
    }

    /// The elements that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self {
        Self {
            membranes: self.membranes.touching(wanted),
            hinges: self.hinges.touching(wanted),
            shape_operators: self.shape_operators.touching(wanted),
            segments: self.segments.touching(wanted),
            rod_joints: self.rod_joints.touching(wanted),
        }
    }

    /// Begins a step of all hinges at `x` with their whole `turns`.
    pub fn begin_hinges(&mut self, turns: &[i32], x: &[Vec3]) {
        let hinges = &mut self.hinges;
        for (e, turns) in turns.iter().enumerate() {
            let start = hinges.gather(e, x);
            hinges.elements[e].begin_step(&start, *turns);
        }
    }

    /// Whole turns of the angles of all hinges at `x`, then of the three of each shape operator.
    pub fn turns(&self, x: &[Vec3]) -> Vec<i32> {
        let (hinges, operators) = (&self.hinges, &self.shape_operators);
        let of_hinge = |e: usize| hinges.elements[e].turns(&hinges.gather(e, x));
        let of_operator = |e: usize| operators.elements[e].turns(&operators.gather(e, x));
        let of_operators = (0..operators.len()).flat_map(of_operator);
        (0..hinges.len()).map(of_hinge).chain(of_operators).collect()
    }

    /// [`CodimElements::turns`] of a simulation that starts at `x` with frames that are placed.
    pub fn first_turns(&self, x: &[Vec3]) -> Vec<i32> {
        let (hinges, operators) = (&self.hinges, &self.shape_operators);
        let of_operator = |e: usize| operators.elements[e].first_turns(&operators.gather(e, x));
        let of_operators = (0..operators.len()).flat_map(of_operator);
        std::iter::repeat_n(0, hinges.len()).chain(of_operators).collect()
    }

    /// Takes the limits of the principal stretches off the membranes: membranes of these limits alone; none without any.
    pub fn take_limits(&mut self) -> Option<Elements<Membrane, 3>> {
        let membranes = &mut self.membranes;
        membranes.elements.iter().any(|m| m.limit.is_some()).then(|| {
            let limits = membranes.elements.iter_mut().map(Membrane::take_limit).collect();
            membranes.with(limits)
        })
    }

    /// Multiplies what limits of the stretch and strain add to the energy.
    pub fn weigh_limits(&mut self, factor: f64) {
        self.membranes.elements.iter_mut().for_each(|m| m.weigh_limits(factor));
    }
}

/// The elements of shells and rods while they are collected, body by body.
#[derive(Debug, Clone, Default)]
pub struct CodimLists {
    /// Triangles of shells.
    pub membranes: ElementList<Membrane, 3>,
    /// Pairs of triangles of shells.
    pub hinges: ElementList<Hinge, 4>,
    /// Bending of triangles of shells.
    pub shape_operators: ElementList<ShapeOperator, 6>,
    /// Segments of rods.
    pub segments: ElementList<Segment, 2>,
    /// Joints of rods.
    pub rod_joints: ElementList<RodJoint, 5>,
}

impl CodimLists {
    /// All elements, out of `vertex_count` vertices.
    pub fn finish(self, vertex_count: usize) -> CodimElements {
        CodimElements {
            membranes: self.membranes.finish(vertex_count),
            hinges: self.hinges.finish(vertex_count),
            shape_operators: self.shape_operators.finish(vertex_count),
            segments: self.segments.finish(vertex_count),
            rod_joints: self.rod_joints.finish(vertex_count),
        }
    }
}

/// Doubles the stiffness of stretch limits where triangles stay close to theirs [Li 2021, §4.1].
#[derive(Debug, Clone, Default)]
pub struct LimitStiffening {
    /// How often the stiffness was doubled in the step.
    doublings: u32,
    /// Which triangles were close to their limits after the iteration before.
    close: Vec<bool>,
}

impl LimitStiffening {
    /// What doubles nothing any more.
    pub fn exhausted() -> Self {
        Self { doublings: MOST_DOUBLINGS, close: Vec::new() }
    }

    /// Forgets which triangles were close: a new minimisation begins.
    pub fn begin(&mut self) {
        self.close.clear();
    }

    /// Doubles the stiffness of all limits, up to 128 times what it was, where a triangle was and is
    /// closer to its limit than 1e-4 of the barrier's range; whether it did.
    pub fn update(&mut self, membranes: &mut Elements<Membrane, 3>, x: &[Vec3]) -> bool {
        let close = |e: usize| {
            let membrane = &membranes.elements[e];
            let used = || membrane.limit_use(&membranes.gather(e, x));
            membrane.limit.is_some() && used().is_some_and(|used| used > 1.0 - CLOSE)
        };
        let now: Vec<bool> =
            (0..membranes.len()).into_par_iter().with_min_len(512).map(close).collect();
        let twice = self.close.iter().zip(&now).any(|(before, now)| *before && *now);
        let doubles = twice && self.doublings < MOST_DOUBLINGS;
        if doubles {
            self.doublings += 1;
            for limit in membranes.elements.iter_mut().filter_map(|m| m.limit.as_mut()) {
                limit.stiffness *= 2.0;
            }
        }
        self.close = now;
        doubles
    }
}
