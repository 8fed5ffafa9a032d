//! Axis-aligned boxes of primitives, rounded outwards.

use crate::CollisionMesh;
use rayon::prelude::*;
use standoff_linalg::Vec3;

/// A closed axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Smallest coordinates, m.
    pub min: [f64; 3],
    /// Largest coordinates, m.
    pub max: [f64; 3],
}

impl Aabb {
    /// The box that overlaps nothing.
    pub const EMPTY: Self = Self { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3] };

    /// Whether two closed boxes have a point in common.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        // no short circuit: six comparisons without branches
        (self.min[0] <= other.max[0])
            & (other.min[0] <= self.max[0])
            & (self.min[1] <= other.max[1])
            & (other.min[1] <= self.max[1])
            & (self.min[2] <= other.max[2])
            & (other.min[2] <= self.max[2])
    }

    /// The smallest box around both.
    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        let mut out = *self;
        for k in 0..3 {
            out.min[k] = out.min[k].min(other.min[k]);
            out.max[k] = out.max[k].max(other.max[k]);
        }
        out
    }

    /// The box grown by `r` on all sides, rounded outwards.
    #[inline]
    pub fn grown(&self, r: f64) -> Self {
        Self {
            min: self.min.map(|v| (v - r).next_down()),
            max: self.max.map(|v| (v + r).next_up()),
        }
    }

    /// Sum of the three side lengths; 0 of the empty box.
    #[inline]
    pub fn extent(&self) -> f64 {
        (0..3).map(|k| (self.max[k] - self.min[k]).max(0.0)).sum()
    }
}

/// Boxes of all vertices, before growing, from which the primitives' boxes follow.
///
/// `slack` is what rounding may have moved a vertex out of its box.
#[derive(Debug, Default)]
pub(super) struct VertexBoxes {
    boxes: Vec<Aabb>,
    slack: f64,
}

impl VertexBoxes {
    /// Boxes of resting vertices at `x`.
    pub fn rest(&mut self, x: &[Vec3]) {
        self.slack = 0.0;
        self.boxes.clear();
        self.boxes.par_extend(x.par_iter().map(|p| {
            let p: [f64; 3] = (*p).into();
            if p.iter().all(|c| c.is_finite()) { Aabb { min: p, max: p } } else { Aabb::EMPTY }
        }));
    }

    /// Boxes of the paths x + t dx, t in [0, 1], seen from a frame that moves along with most
    /// vertices: subtracting one translation from all paths changes no distance.
    pub fn swept(&mut self, mesh: &CollisionMesh, x: &[Vec3], dx: &[Vec3]) {
        let frame = common_motion(mesh, dx);
        let end = |p: &Vec3, d: &Vec3| p + (d - frame);
        self.boxes.clear();
        self.boxes.par_extend(x.par_iter().zip(dx).map(|(p, d)| {
            let q = end(p, d);
            if !(0..3).all(|k| p[k].is_finite() && q[k].is_finite()) {
                return Aabb::EMPTY;
            }
            Aabb {
                min: std::array::from_fn(|k| p[k].min(q[k])),
                max: std::array::from_fn(|k| p[k].max(q[k])),
            }
        }));
        // three roundings per end point, and as much again for those of the narrow phase
        let largest = x
            .par_iter()
            .zip(dx)
            .map(|(p, d)| p.amax().max(d.amax()))
            .filter(|v| v.is_finite())
            .reduce(|| frame.amax(), f64::max);
        self.slack = 16.0 * f64::EPSILON * largest;
    }

    /// Box of the primitive with vertices `v`, grown by `inflation` and the half thickness that the
    /// primitive brings to its pairs. Empty where a coordinate is not finite.
    #[inline]
    pub fn of(&self, mesh: &CollisionMesh, v: &[u32], inflation: f64) -> Aabb {
        let mut b = self.boxes[v[0] as usize];
        for &w in &v[1..] {
            let other = &self.boxes[w as usize];
            if other.min[0] > other.max[0] {
                return Aabb::EMPTY;
            }
            b = b.union(other);
        }
        if b.min[0] > b.max[0] {
            return Aabb::EMPTY;
        }
        let half_thickness = mesh.half_thickness.get(v[0] as usize).copied().unwrap_or(0.0);
        b.grown((inflation + half_thickness + self.slack).next_up())
    }
}

/// The median of the displacements, per axis, over at most 1,024 evenly spread surface vertices.
///
/// The median minimises Σ|dxᵢ − m|, that is, the total size of the swept boxes: it is 0 where most
/// vertices rest and the fall where most fall.
fn common_motion(mesh: &CollisionMesh, dx: &[Vec3]) -> Vec3 {
    let stride = mesh.vertices.len().div_ceil(1024).max(1);
    let mut sample: Vec<f64> = Vec::with_capacity(1024);
    Vec3::from_fn(|k, _| {
        sample.clear();
        sample.extend(
            mesh.vertices
                .iter()
                .step_by(stride)
                .map(|&v| dx[v as usize][k])
                .filter(|c| c.is_finite()),
        );
        if sample.is_empty() {
            return 0.0;
        }
        let middle = sample.len() / 2;
        *sample.select_nth_unstable_by(middle, f64::total_cmp).1
    })
}
