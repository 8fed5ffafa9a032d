//! Rods: how segments follow each other, and the frames that measure their twist. Edges of shells that
//! are bent by shape operators have frames of the same kind.
//!
//! Every segment has one unknown beside its ends, the angle of its material about its tangent. It
//! lives in the first component of a vertex of its own, behind the vertices of all bodies, as the
//! way r θ of a point on the surface, with half of the segment's mass: ½ m (r θ')² is the energy of
//! its spin.

use crate::energy::element::Elements;
use crate::energy::membrane::perpendicular;
use crate::energy::rod_joint::{
    Corner, Frame, RodMaterial, angle_about, curvature_binormal, transport,
};
use crate::energy::shape_operator::side_normal;
use crate::energy::thin::ThinElements;
use standoff_linalg::Vec3;

/// Segments and corners of all rods, and behind the segments the edges of shells with a normal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rods {
    /// Ends of each segment in the direction of its rod, scene-wide.
    pub segments: Vec<[u32; 2]>,
    /// What an angle is multiplied by to be an unknown: the radius of a segment, the rest length of an
    /// edge, m.
    pub radius: Vec<f64>,
    /// The two segments of each corner.
    pub corners: Vec<[u32; 2]>,
    /// Whether a segment has a corner.
    jointed: Vec<bool>,
    /// Directors at rest, along each rod without twist.
    rest: Vec<Vec3>,
    /// Number of the first edge of a shell.
    first_edge: usize,
    /// The triangles at each edge.
    sides: Vec<Vec<Side>>,
    /// Vertex of the first segment's angle: the number of vertices of all bodies.
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

/// The segments of one body in the order in which rods go through them.
pub struct Chains {
    /// Segments as given, each turned into the direction of its rod.
    pub segments: Vec<[u32; 2]>,
    /// Pairs of segments that follow each other.
    pub corners: Vec<[u32; 2]>,
}

impl Chains {
    /// Joins segments (`#E×2`) over rest positions `x` to rods. At a vertex of two segments a rod goes
    /// on; where more meet, those that go on most nearly straight are joined two by two, and the rods
    /// are only pinned together.
    pub fn new(segments: &[[u32; 2]], x: &[Vec3]) -> Self {
        let mut at: Vec<Vec<u32>> = vec![Vec::new(); x.len()];
        for (k, e) in segments.iter().enumerate() {
            e.iter().for_each(|&v| at[v as usize].push(k as u32));
        }
        // the segment that goes on from either end
        let mut next = vec![[u32::MAX; 2]; segments.len()];
        let end = |k: u32, v: u32| usize::from(segments[k as usize][1] == v);
        for (v, list) in at.iter().enumerate() {
            for (a, b) in pairs(list, v as u32, segments, x) {
                next[a as usize][end(a, v as u32)] = b;
                next[b as usize][end(b, v as u32)] = a;
            }
        }
        let mut out = Self { segments: segments.to_vec(), corners: Vec::new() };
        let mut done = vec![false; segments.len()];
        // rods with ends first, from an end; then rings
        let starts = (0..segments.len()).filter(|&k| next[k].contains(&u32::MAX));
        for k in starts.chain(0..segments.len()) {
            if !done[k] {
                out.walk(k as u32, &next, &mut done);
            }
        }
        out
    }

    fn walk(&mut self, first: u32, next: &[[u32; 2]], done: &mut [bool]) {
        let turned = next[first as usize][0] != u32::MAX && next[first as usize][1] == u32::MAX;
        let (mut k, mut forward) = (first, !turned);
        loop {
            done[k as usize] = true;
            if !forward {
                self.segments[k as usize].reverse();
            }
            let tip = self.segments[k as usize][1];
            let n = next[k as usize][usize::from(forward)];
            if n == u32::MAX {
                return;
            }
            self.corners.push([k, n]);
            if done[n as usize] {
                return;
            }
            // `n` is still as it was given
            forward = self.segments[n as usize][0] == tip;
            k = n;
        }
    }
}

/// Pairs of the segments at a vertex that go on into each other, the straightest first.
fn pairs(list: &[u32], v: u32, segments: &[[u32; 2]], x: &[Vec3]) -> Vec<(u32, u32)> {
    let outward = |k: u32| {
        let [a, b] = segments[k as usize];
        let other = if a == v { b } else { a };
        (x[other as usize] - x[v as usize]).normalize()
    };
    let mut all: Vec<(f64, u32, u32)> = Vec::new();
    for (i, &a) in list.iter().enumerate() {
        for &b in &list[i + 1..] {
            all.push((outward(a).dot(&outward(b)), a, b));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut used, mut out) = (Vec::new(), Vec::new());
    for (_, a, b) in all {
        if !used.contains(&a) && !used.contains(&b) {
            used.extend([a, b]);
            out.push((a, b));
        }
    }
    out
}

/// A rod's shape and material, for its corners.
pub struct RodShape {
    /// Material.
    pub material: RodMaterial,
    /// Whether it is straight at rest, whatever its mesh.
    pub straight: bool,
    /// Twist at rest per length, rad/m.
    pub natural_twist: f64,
}

impl Rods {
    /// Number of angles.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds a body's rods; `x` are the rest positions of all vertices so far. Corners go to
    /// `elements`, with vertices of angles numbered from 0 until [`Self::number_angles`].
    pub fn add(
        &mut self,
        chains: &Chains,
        shape: &RodShape,
        x: &[Vec3],
        elements: &mut Elements<Corner, 5>,
    ) {
        let base = self.segments.len() as u32;
        self.segments.extend(&chains.segments);
        self.radius.resize(self.segments.len(), shape.material.radius);
        let own: Vec<[u32; 2]> = chains.corners.iter().map(|c| c.map(|k| k + base)).collect();
        self.rest.resize(self.segments.len(), Vec3::zeros());
        spread(&self.segments, &own, x, base as usize, &mut self.rest);
        for &[a, b] in &own {
            let (e, f) = (self.vector(a, x), self.vector(b, x));
            let frames = [self.rest_frame(a, x), self.rest_frame(b, x)];
            let length = 0.5 * (e.norm() + f.norm());
            let curvature = if shape.straight { Vec3::zeros() } else { curvature_binormal(&e, &f) };
            let twist = Corner::twist_of_frames(&frames, 0.0) + shape.natural_twist * length;
            let corner = Corner::new(&shape.material, length, frames, curvature, twist);
            let [x0, x1] = self.segments[a as usize];
            elements.push([x0, x1, self.segments[b as usize][1], a, b], corner);
        }
        self.jointed.resize(self.segments.len(), false);
        own.iter().flatten().for_each(|&k| self.jointed[k as usize] = true);
        self.corners.extend(own);
    }

    /// Whether segment `k` has no corner.
    pub fn is_lone(&self, k: usize) -> bool {
        !self.jointed[k]
    }

    /// Adds the edges of shells, behind all segments.
    pub fn add_edges(&mut self, edges: Vec<ShellEdge>) {
        self.first_edge = self.segments.len();
        for edge in edges {
            self.segments.push(edge.ends);
            self.radius.push(edge.length);
            self.jointed.push(true);
            self.rest.push(Vec3::zeros());
            self.sides.push(edge.sides);
        }
    }

    /// Gives the angles' vertices their numbers behind those of `positions` vertices.
    pub fn number_angles(&mut self, positions: usize, thin: &mut ThinElements) {
        self.first_angle = positions;
        let of_corners = thin.corners.vertices.iter_mut().flat_map(|v| &mut v[3..]);
        of_corners.for_each(|v| *v += positions as u32);
        let first_edge = (positions + self.first_edge) as u32;
        let of_operators = thin.operators.vertices.iter_mut().flat_map(|v| &mut v[3..]);
        of_operators.for_each(|v| *v += first_edge);
    }

    fn vector(&self, k: u32, x: &[Vec3]) -> Vec3 {
        let [a, b] = self.segments[k as usize];
        x[b as usize] - x[a as usize]
    }

    /// Unit tangent of segment `k` at `x`.
    pub fn tangent(&self, k: u32, x: &[Vec3]) -> Vec3 {
        self.vector(k, x).normalize()
    }

    fn rest_frame(&self, k: u32, x: &[Vec3]) -> Frame {
        Frame { tangent: self.tangent(k, x), director: self.rest[k as usize] }
    }

    /// Directors at the start, `start`, of rods with the rest positions `rest`: without twist along
    /// each rod, and turned as a whole so that its rest curvature fits best. Those of edges are the
    /// means of what each triangle would have. Also the twists of the frames at all corners.
    pub fn start(
        &self,
        rest: &[Vec3],
        start: &[Vec3],
        corners: &Elements<Corner, 5>,
    ) -> (Vec<Vec3>, Vec<f64>) {
        let n = self.len();
        let mut directors = self.rest.clone();
        let moved = |k: &u32| {
            self.segments[*k as usize].iter().any(|&v| rest[v as usize] != start[v as usize])
        };
        if (0..n as u32).any(|k| moved(&k)) {
            spread(&self.segments, &self.corners, start, 0, &mut directors);
            // a rod is named by its first segment; corners come in the order along it
            let mut rod: Vec<usize> = (0..n).collect();
            for &[a, b] in &self.corners {
                rod[b as usize] = rod[a as usize];
            }
            let mut fit = vec![(0.0, 0.0); n];
            for (&[a, b], corner) in self.corners.iter().zip(&corners.elements) {
                let (t, u) = (self.tangent(a, start), self.tangent(b, start));
                let bend = curvature_binormal(&t, &u);
                let mut placed = *corner;
                let frames = [(a, t), (b, u)]
                    .map(|(k, tangent)| Frame { tangent, director: directors[k as usize] });
                placed.set_frames(frames, 0.0);
                for (j, t) in [t, u].iter().enumerate() {
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
                    let other = self.tangent(k as u32, start).cross(&d);
                    directors[k] = (d * cos + other * sin) / size;
                }
            }
        }
        for (k, sides) in (self.first_edge..).zip(&self.sides) {
            directors[k] = edge_normal(&self.segments[k], sides, start);
        }
        let twists = self.twists(&directors, start, &vec![0.0; self.corners.len()]);
        (directors, twists)
    }

    /// Twists of the frames at all corners, each by the turns that bring it closest to `near`, rad.
    fn twists(&self, directors: &[Vec3], x: &[Vec3], near: &[f64]) -> Vec<f64> {
        let frame = |k: u32| Frame { tangent: self.tangent(k, x), director: directors[k as usize] };
        let corners = self.corners.iter().zip(near);
        corners
            .map(|(&[a, b], near)| Corner::twist_of_frames(&[frame(a), frame(b)], *near))
            .collect()
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

    /// Sets the frames of all corners and shape operators to those of a state at `x`.
    pub fn place(&self, thin: &mut ThinElements, directors: &[Vec3], twists: &[f64], x: &[Vec3]) {
        let frame = |k: u32| Frame { tangent: self.tangent(k, x), director: directors[k as usize] };
        let corners = thin.corners.elements.iter_mut().zip(&self.corners).zip(twists);
        for ((corner, &[a, b]), twist) in corners {
            corner.set_frames([frame(a), frame(b)], *twist);
        }
        let operators = &mut thin.operators;
        for (operator, v) in operators.elements.iter_mut().zip(&operators.vertices) {
            operator.set_frames([3, 4, 5].map(|k| frame(v[k] - self.first_angle as u32)));
        }
    }

    /// By how much the angle of segment `k` grows, rad, where its material turns by the rotation
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
    if length > 1e-6 { mean / length } else { perpendicular(&t) }
}

/// Directors from segment `first` on, from the first segment of each rod along its corners without
/// twist.
fn spread(
    segments: &[[u32; 2]],
    corners: &[[u32; 2]],
    x: &[Vec3],
    first: usize,
    directors: &mut [Vec3],
) {
    let tangent = |k: usize| {
        let [a, b] = segments[k];
        (x[b as usize] - x[a as usize]).normalize()
    };
    let mut done = vec![false; segments.len()];
    for &[a, b] in corners {
        let (a, b) = (a as usize, b as usize);
        if !done[a] {
            directors[a] = perpendicular(&tangent(a));
            done[a] = true;
        }
        if !done[b] {
            directors[b] = transport(&directors[a], &tangent(a), &tangent(b));
            done[b] = true;
        }
    }
    for k in (first..segments.len()).filter(|&k| !done[k]) {
        directors[k] = perpendicular(&tangent(k));
    }
}
