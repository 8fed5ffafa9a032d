//! Material frames: edges that carry a director, which measures how the material turns about them. They
//! are the segments of rods, whose frames measure twist, and behind them the edges of shells that are
//! bent by shape operators, whose directors are the normals of the edges.
//!
//! Every such edge has one unknown beside its ends, the angle of its material about its tangent. It
//! lives in the first component of a vertex of its own, behind the vertices of all bodies, as the
//! displacement r θ of a point at the distance r (of a rod on its surface), with half of the segment's
//! mass: ½ m (r θ')² is the energy of its spin.

mod chains;

pub use chains::{Chains, RodShape};

use crate::energy::codim::{CodimElements, CodimLists};
use crate::energy::rod_joint::{Frame, RodJoint, angle_about, curvature_binormal, transport};
use crate::energy::shape_operator::side_normal;
use crate::energy::{ElementList, Elements};
use standoff_linalg::{Vec3, perpendicular};

/// All edges that carry a director: the segments of rods, then the edges of shells with a normal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MaterialFrames {
    /// Ends of each edge, of a segment in the direction of its rod, scene-wide (`#edges×2`).
    pub edges: Vec<[u32; 2]>,
    /// What an angle is multiplied by to be an unknown, m: the radius of a segment, the rest length of an
    /// edge of a shell (`#edges`).
    pub lever: Vec<f64>,
    /// The two segments of each joint of a rod.
    pub joints: Vec<[u32; 2]>,
    /// Whether the energy depends on the edge's angle (`#edges`): not for a segment without joints.
    turns: Vec<bool>,
    /// Directors at rest, along each rod without twist (`#edges`).
    rest_directors: Vec<Vec3>,
    /// Number of the first edge of a shell.
    first_shell_edge: usize,
    /// The triangles at each edge of a shell.
    sides: Vec<Vec<Side>>,
    /// Vertex of the first edge's angle: the number of vertices of all bodies.
    pub first_angle: usize,
}

/// An edge of a shell.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellEdge {
    /// Its ends, scene-wide.
    pub ends: [u32; 2],
    /// Rest length, m.
    pub length: f64,
    /// The triangles at it.
    pub sides: Vec<Side>,
}

/// A triangle at an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// The corner opposite the edge.
    pub opposite: u32,
    /// Angle about the edge from [`side_normal`] to the edge's normal at rest, rad.
    pub rest_angle: f64,
}

impl MaterialFrames {
    /// Number of edges, and of angles.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Adds a body's rods; `x` are the rest positions of all vertices so far. Joints go to
    /// `elements`, with vertices of angles numbered from 0 until [`Self::number_angles`].
    pub fn add_rods(
        &mut self,
        chains: &Chains,
        shape: &RodShape,
        x: &[Vec3],
        elements: &mut ElementList<RodJoint, 5>,
    ) {
        let base = self.edges.len() as u32;
        self.edges.extend(&chains.segments);
        self.lever.resize(self.edges.len(), shape.material.radius);
        let own: Vec<[u32; 2]> = chains.joints.iter().map(|c| c.map(|k| k + base)).collect();
        self.rest_directors.resize(self.edges.len(), Vec3::zeros());
        spread_without_twist(&self.edges, &own, x, base as usize, &mut self.rest_directors);
        for &[a, b] in &own {
            let (e, f) = (self.vector(a, x), self.vector(b, x));
            let frames = [a, b].map(|k| self.frame(k, &self.rest_directors, x));
            let length = 0.5 * (e.norm() + f.norm());
            let curvature = if shape.straight { Vec3::zeros() } else { curvature_binormal(&e, &f) };
            let twist = RodJoint::twist_of_frames(&frames, 0.0) + shape.natural_twist * length;
            let joint = RodJoint::new(&shape.material, length, frames, curvature, twist);
            let [x0, x1] = self.edges[a as usize];
            elements.push([x0, x1, self.edges[b as usize][1], a, b], joint);
        }
        self.turns.resize(self.edges.len(), false);
        own.iter().flatten().for_each(|&k| self.turns[k as usize] = true);
        self.joints.extend(own);
    }

    /// Whether the energy does not depend on the angle of edge `k`: a segment without joints.
    pub fn is_lone(&self, k: usize) -> bool {
        !self.turns[k]
    }

    /// Adds the edges of shells, behind all segments.
    pub fn add_shell_edges(&mut self, edges: Vec<ShellEdge>) {
        self.first_shell_edge = self.edges.len();
        for edge in edges {
            self.edges.push(edge.ends);
            self.lever.push(edge.length);
            self.turns.push(true);
            self.rest_directors.push(Vec3::zeros());
            self.sides.push(edge.sides);
        }
    }

    /// Gives the angles' vertices their numbers behind those of `positions` vertices.
    pub fn number_angles(&mut self, positions: usize, codim: &mut CodimLists) {
        self.first_angle = positions;
        let of_joints = codim.rod_joints.vertices.iter_mut().flat_map(|v| &mut v[3..]);
        of_joints.for_each(|v| *v += positions as u32);
        let first_shell_edge = (positions + self.first_shell_edge) as u32;
        let of_operators = codim.shape_operators.vertices.iter_mut().flat_map(|v| &mut v[3..]);
        of_operators.for_each(|v| *v += first_shell_edge);
    }

    fn vector(&self, k: u32, x: &[Vec3]) -> Vec3 {
        let [a, b] = self.edges[k as usize];
        x[b as usize] - x[a as usize]
    }

    /// Unit tangent of edge `k` at `x`.
    pub fn tangent(&self, k: u32, x: &[Vec3]) -> Vec3 {
        self.vector(k, x).normalize()
    }

    fn frame(&self, k: u32, directors: &[Vec3], x: &[Vec3]) -> Frame {
        Frame { tangent: self.tangent(k, x), director: directors[k as usize] }
    }

    /// Directors at the start, `start`, of edges with the rest positions `rest`: of rods without twist
    /// along each rod, and turned as a whole so that its rest curvature fits best; of edges of shells the
    /// means of what each triangle would have. Also the twists of the frames at all joints.
    pub fn start(
        &self,
        rest: &[Vec3],
        start: &[Vec3],
        joints: &Elements<RodJoint, 5>,
    ) -> (Vec<Vec3>, Vec<f64>) {
        let mut directors = self.rest_directors.clone();
        let moved = |e: &[u32; 2]| e.iter().any(|&v| rest[v as usize] != start[v as usize]);
        if self.edges.iter().any(moved) {
            spread_without_twist(&self.edges, &self.joints, start, 0, &mut directors);
            self.fit_rest_curvature(start, joints, &mut directors);
        }
        for (k, sides) in (self.first_shell_edge..).zip(&self.sides) {
            directors[k] = edge_normal(&self.edges[k], sides, start);
        }
        let twists = self.twists(&directors, start, &vec![0.0; self.joints.len()]);
        (directors, twists)
    }

    /// Turns the directors of each rod by one angle such that its rest curvature, fixed to them, comes
    /// closest to its curvature at `x` in the least-squares sense.
    fn fit_rest_curvature(
        &self,
        x: &[Vec3],
        joints: &Elements<RodJoint, 5>,
        directors: &mut [Vec3],
    ) {
        let n = self.len();
        // a rod is named by its first segment; joints come in the order along it
        let mut rod: Vec<usize> = (0..n).collect();
        for &[a, b] in &self.joints {
            rod[b as usize] = rod[a as usize];
        }
        let mut fit = vec![(0.0, 0.0); n];
        for (&[a, b], joint) in self.joints.iter().zip(&joints.elements) {
            let frames = [a, b].map(|k| self.frame(k, directors, x));
            let bend = curvature_binormal(&frames[0].tangent, &frames[1].tangent);
            let mut placed = *joint;
            placed.set_frames(frames, 0.0);
            for (j, Frame { tangent: t, .. }) in frames.iter().enumerate() {
                let k = placed.rest_curvature(j, t, 0.0);
                let (cos, sin) = &mut fit[rod[a as usize]];
                *cos += bend.dot(&k);
                *sin += bend.dot(&t.cross(&k));
            }
        }
        for k in 0..n {
            let (cos, sin): (f64, f64) = fit[rod[k]];
            let size = cos.hypot(sin);
            if size > 0.0 {
                let d = directors[k];
                let other = self.tangent(k as u32, x).cross(&d);
                directors[k] = (d * cos + other * sin) / size;
            }
        }
    }

    /// Twists of the frames at all joints, each by the turns that bring it closest to `near`, rad.
    fn twists(&self, directors: &[Vec3], x: &[Vec3], near: &[f64]) -> Vec<f64> {
        let twist = |(&[a, b], near): (&[u32; 2], &f64)| {
            RodJoint::twist_of_frames(&[a, b].map(|k| self.frame(k, directors, x)), *near)
        };
        self.joints.iter().zip(near).map(twist).collect()
    }

    /// Directors carried along from `x` to `y`, and their twists, which were `twists`.
    pub fn advance(
        &self,
        directors: &[Vec3],
        twists: &[f64],
        x: &[Vec3],
        y: &[Vec3],
    ) -> (Vec<Vec3>, Vec<f64>) {
        let carry = |k: usize| {
            let to = self.tangent(k as u32, y);
            let d = transport(&directors[k], &self.tangent(k as u32, x), &to);
            // keep rounding from adding up
            (d - to * to.dot(&d)).normalize()
        };
        let new: Vec<Vec3> = (0..self.len()).map(carry).collect();
        let twists = self.twists(&new, y, twists);
        (new, twists)
    }

    /// Gives joints and shape operators the frames of a state: `directors` and `twists` at positions `x`; shape operators also
    /// their `turns`, three each.
    pub fn place(
        &self,
        codim: &mut CodimElements,
        directors: &[Vec3],
        twists: &[f64],
        turns: &[i32],
        x: &[Vec3],
    ) {
        let joints = codim.rod_joints.elements.iter_mut().zip(&self.joints).zip(twists);
        for ((joint, &[a, b]), twist) in joints {
            joint.set_frames([a, b].map(|k| self.frame(k, directors, x)), *twist);
        }
        let first = self.first_angle as u32;
        let CodimElements { shape_operators: operators, .. } = codim;
        for (e, turns) in turns.as_chunks::<3>().0.iter().enumerate() {
            let [.., a, b, c] = operators.vertices()[e];
            let frames = [a, b, c].map(|k| self.frame(k - first, directors, x));
            let start = operators.gather(e, x);
            operators.elements[e].begin_step(frames, &start, *turns);
        }
    }

    /// By how much the angle of edge `k` grows, rad, where its material turns by the rotation
    /// vector `spin` while its ends go from `x` to `y`, beyond what its frame does.
    pub fn prescribed_angle(
        &self,
        k: usize,
        spin: &Vec3,
        director: &Vec3,
        x: &[Vec3],
        y: &[Vec3],
    ) -> f64 {
        let (t, to) = (self.tangent(k as u32, x), self.tangent(k as u32, y));
        let turn = standoff_linalg::nalgebra::Rotation3::new(*spin);
        let material = transport(&(turn * director), &(turn * t), &to);
        let angle = angle_about(&to, &transport(director, &t, &to), &material);
        let expected = 0.5 * spin.dot(&(t + to));
        angle + std::f64::consts::TAU * ((expected - angle) / std::f64::consts::TAU).round()
    }
}

/// Normal of an edge at `x`: the mean of those that are at rest beside each of its triangles.
pub fn edge_normal(ends: &[u32; 2], sides: &[Side], x: &[Vec3]) -> Vec3 {
    let [a, b] = ends.map(|v| x[v as usize]);
    let t = (b - a).normalize();
    let of_side = |s: &Side| {
        let n = side_normal(&(b - a), &(x[s.opposite as usize] - a)).normalize();
        let (sin, cos) = s.rest_angle.sin_cos();
        n * cos + t.cross(&n) * sin
    };
    let mean: Vec3 = sides.iter().map(of_side).sum();
    let mean = mean - t * t.dot(&mean);
    let length = mean.norm();
    if length > 1e-6 { mean / length } else { perpendicular(&(&t).into()).into() }
}

/// Directors from edge `first` on, from the first segment of each rod along its joints without twist.
fn spread_without_twist(
    edges: &[[u32; 2]],
    joints: &[[u32; 2]],
    x: &[Vec3],
    first: usize,
    directors: &mut [Vec3],
) {
    let tangent = |k: usize| {
        let [a, b] = edges[k];
        (x[b as usize] - x[a as usize]).normalize()
    };
    let mut done = vec![false; edges.len()];
    for &[a, b] in joints {
        let (a, b) = (a as usize, b as usize);
        if !done[a] {
            directors[a] = perpendicular(&(&tangent(a)).into()).into();
            done[a] = true;
        }
        if !done[b] {
            directors[b] = transport(&directors[a], &tangent(a), &tangent(b));
            done[b] = true;
        }
    }
    for k in (first..edges.len()).filter(|&k| !done[k]) {
        directors[k] = perpendicular(&(&tangent(k)).into()).into();
    }
}
