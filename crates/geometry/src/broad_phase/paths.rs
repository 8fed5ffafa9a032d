//! Moving vertices: boxes at the start and at the end of a motion, rounded outwards.
//!
//! On the way x + t dx, t in [0, 1], the lower bound of a primitive on an axis is a concave function
//! of t (the least of linear ones), hence above the straight line between its values at both ends,
//! and the upper bound is convex, hence below. Two primitives can therefore be within reach on an
//! axis at some time only if they are so at t = 0 or at t = 1: comparing boxes of one time with boxes
//! of the same time is enough, and what two primitives have in common of their motion drops out.
//!
//! Coordinates are `f32` relative to the centre of all vertices at that time: half the memory
//! traffic and twice the lanes, at a precision of 6e-8 of the scene's size on the safe side.

use crate::CollisionMesh;
use rayon::prelude::*;
use standoff_linalg::Vec3;

/// Vertices per unit of parallel work.
const CHUNK: usize = 2048;

/// Axis-aligned boxes at t = 0 and t = 1; both the same where nothing moves.
///
/// As numbers that shrink where the box grows, so that a union is one minimum: the lower bounds at
/// t = 0 (3, then one unused) and t = 1 (3 and 1), then minus the upper bounds likewise. Everything
/// is infinite in the empty box.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(super) struct PathBox(pub [[f32; 8]; 2]);

impl PathBox {
    pub const EMPTY: Self = Self([[f32::INFINITY; 8]; 2]);

    #[inline(always)]
    pub fn union(&self, other: &Self) -> Self {
        let least = |side: usize| {
            std::array::from_fn(|k| {
                let (a, b) = (self.0[side][k], other.0[side][k]);
                if b < a { b } else { a }
            })
        };
        Self([least(0), least(1)])
    }

    /// Lower bound on axis `k` at the start (`time` 0) or the end (1).
    #[inline(always)]
    pub fn lo(&self, time: usize, k: usize) -> f32 {
        self.0[0][4 * time + k]
    }

    /// Upper bound on axis `k` at the start (`time` 0) or the end (1).
    #[inline(always)]
    pub fn hi(&self, time: usize, k: usize) -> f32 {
        -self.0[1][4 * time + k]
    }

    fn is_empty(&self) -> bool {
        self.lo(0, 0) > self.hi(0, 0)
    }

    /// Whether two primitives may meet: on each axis the one is not wholly above the other, at the
    /// start or at the end. The obvious twin of [`super::lanes`].
    pub fn may_meet(&self, other: &Self) -> bool {
        let below = |a: &Self, b: &Self, k: usize| (0..2).any(|t| a.lo(t, k) <= b.hi(t, k));
        (0..3).all(|k| below(self, other, k) && below(other, self, k))
    }
}

/// The paths of all vertices.
#[derive(Debug, Default)]
pub(super) struct Paths {
    /// Grown boxes (`#V`).
    boxes: Vec<PathBox>,
    /// Positions x, y, z at t = 0, a zero, x, y, z at t = 1, a zero, times `scale` (`#V`); at most 1.
    pub points: Vec<[f32; 8]>,
    /// A power of two, 1/m.
    pub scale: f64,
    /// Whether anything moves.
    pub swept: bool,
    /// Whether a coordinate is not finite.
    any_bad: bool,
    /// 2 `inflation` and what rounding may move two vertices relative to each other, m.
    pub reach: f64,
}

impl Paths {
    /// Paths x + t `dx`, or resting vertices, with boxes grown by `inflation`, or half of a vertex's reach where that is
    /// less, and the vertices' half thickness.
    pub fn set(&mut self, mesh: &CollisionMesh, x: &[Vec3], dx: Option<&[Vec3]>, inflation: f64) {
        self.swept = dx.is_some();
        let zero = Vec3::zeros();
        let ends = |v: usize| [x[v], x[v] + dx.map_or(zero, |dx| dx[v])];
        let bounds = bounds(x.len(), &ends);
        let centre = bounds.map(|[lo, hi]| 0.5 * lo + 0.5 * hi);
        let extent = bounds.iter().map(|[lo, hi]| (0.5 * hi - 0.5 * lo).amax()).fold(0.0, f64::max);
        self.scale = (1.0 / extent).log2().floor().exp2();
        if !self.scale.is_normal() {
            self.scale = 1.0;
        }
        let scale = self.scale;
        let size = |v: usize| x[v].amax().max(dx.map_or(0.0, |dx| dx[v].amax()));
        // roundings here, and as many again in the narrow phase and in landing on x + t dx
        let sizes = (0..x.len()).into_par_iter().with_min_len(CHUNK).map(size);
        let largest = sizes.filter(|s| s.is_finite()).reduce(|| 0.0, f64::max);
        let slack = 32.0 * f64::EPSILON * largest;
        // beyond all measure nothing is culled
        self.reach = if extent < 1e300 { 2.0 * (inflation + slack) } else { f64::INFINITY };
        let grown = |v: usize| {
            let half = mesh.half_thickness.get(v).copied().unwrap_or(0.0);
            let inflation = mesh.reach.get(v).map_or(inflation, |r| inflation.min(0.5 * r));
            (inflation + half + slack).next_up()
        };
        self.boxes.resize(x.len(), PathBox::EMPTY);
        self.points.resize(x.len(), [0.0; 8]);
        self.boxes.par_iter_mut().zip(&mut self.points).enumerate().with_min_len(CHUNK).for_each(
            |(v, (b, point))| {
                let (ends, r) = (ends(v), grown(v));
                if !ends.iter().flatten().all(|c| c.is_finite()) {
                    (*b, *point) = (PathBox::EMPTY, [0.0; 8]);
                    return;
                }
                let relative = [ends[0] - centre[0], ends[1] - centre[1]];
                for k in 0..3 {
                    for (time, p) in relative.iter().enumerate() {
                        b.0[0][4 * time + k] = below(p[k] - r);
                        b.0[1][4 * time + k] = below(-p[k] - r);
                    }
                }
                for k in 0..3 {
                    point[k] = (scale * relative[0][k]) as f32;
                    point[4 + k] = (scale * relative[1][k]) as f32;
                }
            },
        );
        self.any_bad = self.boxes.iter().any(PathBox::is_empty);
    }

    /// Box of the primitive with vertices `v`. Empty where a coordinate is not finite.
    #[inline(always)]
    pub fn of(&self, v: &[u32]) -> PathBox {
        if self.any_bad && v.iter().any(|&w| self.boxes[w as usize].is_empty()) {
            return PathBox::EMPTY;
        }
        v[1..].iter().fold(self.boxes[v[0] as usize], |b, &w| b.union(&self.boxes[w as usize]))
    }
}

/// Least and largest coordinates at both times, of the finite ones.
fn bounds(n: usize, ends: &(impl Fn(usize) -> [Vec3; 2] + Sync)) -> [[Vec3; 2]; 2] {
    let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    let around = |a: [[Vec3; 2]; 2], b: [[Vec3; 2]; 2]| {
        [0, 1].map(|time| [a[time][0].inf(&b[time][0]), a[time][1].sup(&b[time][1])])
    };
    let point = |v: usize| Some(ends(v).map(|p| [p; 2])).filter(is_finite);
    let points = (0..n).into_par_iter().with_min_len(CHUNK).filter_map(point);
    let out = points.reduce(|| [none; 2], around);
    if out[0][0].x > out[0][1].x { [[Vec3::zeros(); 2]; 2] } else { out }
}

fn is_finite(ends: &[[Vec3; 2]; 2]) -> bool {
    ends.iter().flatten().flatten().all(|c| c.is_finite())
}

/// The largest `f32` at or below `v`.
#[inline]
fn below(v: f64) -> f32 {
    let f = v as f32;
    if f64::from(f) > v { f.next_down() } else { f }
}
