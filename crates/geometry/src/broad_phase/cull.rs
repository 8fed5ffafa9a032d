//! Leaves out pairs whose boxes meet although a plane keeps them apart all the way.
//!
//! With the direction n between the closest points at the start (or the end), the separation
//! min n·a − max n·b over the vertices a, b of the two primitives is, vertex by vertex, linear in
//! time: where it exceeds the reach times |n| at both ends of the motion, the primitives stay
//! further apart than the reach. Any n would do, so its rounding costs pairs, never safety; the
//! rounding of the separation itself is bounded.
//!
//! Eight pairs at a time in `f32`, written so that compilers vectorise it; there are no fused
//! operations, so every instruction set finds the same.

use super::paths::Paths;
use standoff_linalg::lanes::{self, Kernel, Width};
use std::array::from_fn;
use std::ops::{Add, Mul, Sub};

/// Pairs side by side.
const WIDTH: usize = 8;

/// What separations may be off, for coordinates of at most 1: for each of two sides 2⁻²⁴ √3 from
/// the vertices' rounding and 3·2⁻²⁴·√3 from the dot product, and the difference; 16·2⁻²⁴ in all,
/// and as much again for the norm and the comparison.
const ROUNDING: f64 = 32.0 / (1 << 24) as f64;

/// Squared norm below which a direction is not used, so that nothing underflows.
const TINY: f32 = 1e-30;

/// Which primitives a stencil of four vertices holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Two segments (a0, a1, b0, b1); a point is a segment with equal ends.
    Segments,
    /// A point and a triangle (p, t0, t1, t2).
    PointTriangle,
}

/// Drops the pairs that stay further apart than the reach.
///
/// `stencil` gives the vertices of a pair and its thickness offset ξ, m.
pub(super) fn cull(
    shape: Shape,
    paths: &Paths,
    stencil: impl Fn([u32; 2]) -> ([u32; 4], f64),
    pairs: &mut Vec<[u32; 2]>,
) {
    lanes::dispatch(Cull { shape, paths, stencil, pairs });
}

struct Cull<'a, S> {
    shape: Shape,
    paths: &'a Paths,
    stencil: S,
    pairs: &'a mut Vec<[u32; 2]>,
}

impl<S: Fn([u32; 2]) -> ([u32; 4], f64)> Kernel for Cull<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, _: W) {
        let Self { shape, paths, stencil, pairs } = self;
        match (shape, paths.swept) {
            (Shape::Segments, false) => pass::<false, false, 0>(paths, &stencil, pairs),
            (Shape::PointTriangle, false) => pass::<true, false, 0>(paths, &stencil, pairs),
            (Shape::Segments, true) => {
                pass::<false, true, 0>(paths, &stencil, pairs);
                pass::<false, true, 1>(paths, &stencil, pairs);
            }
            (Shape::PointTriangle, true) => {
                pass::<true, true, 0>(paths, &stencil, pairs);
                pass::<true, true, 1>(paths, &stencil, pairs);
            }
        }
    }
}

/// One pass over all pairs with the directions of time `T`.
#[inline(always)]
fn pass<const TRIANGLE: bool, const SWEPT: bool, const T: usize>(
    paths: &Paths,
    stencil: &impl Fn([u32; 2]) -> ([u32; 4], f64),
    pairs: &mut Vec<[u32; 2]>,
) {
    let mut kept = 0;
    let mut from = 0;
    let mut need = [0.0; WIDTH];
    let mut p = [[V([F([0.0; WIDTH]); 3]); 4]; 2];
    while from < pairs.len() {
        let count = (pairs.len() - from).min(WIDTH);
        for lane in 0..count {
            let (v, thickness) = stencil(pairs[from + lane]);
            for (i, &v) in v.iter().enumerate() {
                let point = &paths.points[v as usize];
                for k in 0..3 {
                    p[0][i].0[k].0[lane] = point[k];
                    if SWEPT {
                        p[1][i].0[k].0[lane] = point[4 + k];
                    }
                }
            }
            let reach = (paths.reach + thickness) * paths.scale;
            need[lane] = (reach * (1.0 + ROUNDING) + ROUNDING) as f32;
        }
        let apart = separated::<TRIANGLE, SWEPT, T>(&p, &need);
        for lane in 0..count {
            pairs[kept] = pairs[from + lane];
            kept += usize::from(!apart[lane]);
        }
        from += count;
    }
    pairs.truncate(kept);
}

#[inline(always)]
fn separated<const TRIANGLE: bool, const SWEPT: bool, const T: usize>(
    x: &[[V; 4]; 2],
    need: &[f32; WIDTH],
) -> [bool; WIDTH] {
    let n = if TRIANGLE { point_triangle(&x[T]) } else { segments(&x[T]) };
    let nn = n.dot(&n);
    let separation = |x: &[V; 4]| {
        let s: [F; 4] = from_fn(|i| n.dot(&x[i]));
        if TRIANGLE { s[0] - s[1].max(s[2]).max(s[3]) } else { s[0].min(s[1]) - s[2].max(s[3]) }
    };
    let mut least = separation(&x[0]);
    if SWEPT {
        least = least.min(separation(&x[1]));
    }
    from_fn(|i| nn.0[i] > TINY && least.0[i] > need[i] * nn.0[i].sqrt())
}

/// Offset between the closest points of two segments, from the second to the first, up to rounding
/// and degeneracy.
#[inline(always)]
fn segments([a0, a1, b0, b1]: &[V; 4]) -> V {
    let (u, v, w) = (a1.minus(a0), b1.minus(b0), a0.minus(b0));
    let (uu, uv, vv) = (u.dot(&u), u.dot(&v), v.dot(&v));
    let (uw, vw) = (u.dot(&w), v.dot(&w));
    // the lines' closest points, clamped on the first; then on the second; then on the first again
    let alpha = (uv * vw - vv * uw).over(uu * vv - uv * uv).clamp();
    let beta = (uv * alpha + vw).over(vv).clamp();
    let alpha = (uv * beta - uw).over(uu).clamp();
    w.plus_scaled(&u, alpha).plus_scaled(&v, F([0.0; WIDTH]) - beta)
}

/// Offset between a point and the closest point of a segment.
#[inline(always)]
fn point_edge(p: &V, a: &V, b: &V) -> V {
    let (e, w) = (b.minus(a), p.minus(a));
    let along = w.dot(&e).over(e.dot(&e)).clamp();
    w.plus_scaled(&e, F([0.0; WIDTH]) - along)
}

/// Offset between a point and the closest point of a triangle.
#[inline(always)]
fn point_triangle([p, t0, t1, t2]: &[V; 4]) -> V {
    let mut best = point_edge(p, t0, t1);
    let mut best_d2 = best.dot(&best);
    for other in [point_edge(p, t1, t2), point_edge(p, t2, t0)] {
        let d2 = other.dot(&other);
        let nearer: [bool; WIDTH] = from_fn(|i| d2.0[i] < best_d2.0[i]);
        best = best.select(&other, &nearer);
        best_d2 = best_d2.min(d2);
    }
    let (u, v, w) = (t1.minus(t0), t2.minus(t0), p.minus(t0));
    let n = u.cross(&v);
    let nn = n.dot(&n);
    let (b, c) = (w.cross(&v).dot(&n), u.cross(&w).dot(&n));
    let inside: [bool; WIDTH] =
        from_fn(|i| b.0[i] > 0.0 && c.0[i] > 0.0 && b.0[i] + c.0[i] < nn.0[i]);
    let zero = V([F([0.0; WIDTH]); 3]);
    best.select(&zero.plus_scaled(&n, w.dot(&n).over(nn)), &inside)
}

/// Eight numbers.
#[derive(Clone, Copy)]
struct F([f32; WIDTH]);

/// Eight vectors.
#[derive(Clone, Copy)]
struct V([F; 3]);

impl Add for F {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self(from_fn(|i| self.0[i] + o.0[i]))
    }
}

impl Sub for F {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self(from_fn(|i| self.0[i] - o.0[i]))
    }
}

impl Mul for F {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Self(from_fn(|i| self.0[i] * o.0[i]))
    }
}

impl F {
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Self(from_fn(|i| if self.0[i] < o.0[i] { self.0[i] } else { o.0[i] }))
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Self(from_fn(|i| if self.0[i] > o.0[i] { self.0[i] } else { o.0[i] }))
    }

    /// Quotient; finite for a zero denominator.
    #[inline(always)]
    fn over(self, d: Self) -> Self {
        Self(from_fn(|i| self.0[i] / if d.0[i] > 1e-37 { d.0[i] } else { 1e-37 }))
    }

    /// Limited to [0, 1].
    #[inline(always)]
    fn clamp(self) -> Self {
        self.max(Self([0.0; WIDTH])).min(Self([1.0; WIDTH]))
    }
}

impl V {
    #[inline(always)]
    fn dot(&self, o: &Self) -> F {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    #[inline(always)]
    fn cross(&self, o: &Self) -> Self {
        let c = |i: usize, j: usize| self.0[i] * o.0[j] - self.0[j] * o.0[i];
        Self([c(1, 2), c(2, 0), c(0, 1)])
    }

    #[inline(always)]
    fn minus(&self, o: &Self) -> Self {
        Self(from_fn(|k| self.0[k] - o.0[k]))
    }

    #[inline(always)]
    fn plus_scaled(&self, o: &Self, s: F) -> Self {
        Self(from_fn(|k| self.0[k] + o.0[k] * s))
    }

    #[inline(always)]
    fn select(&self, o: &Self, mask: &[bool; WIDTH]) -> Self {
        Self(from_fn(|k| F(from_fn(|i| if mask[i] { o.0[k].0[i] } else { self.0[k].0[i] }))))
    }
}
