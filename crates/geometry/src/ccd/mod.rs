//! Continuous collision detection: the largest step along which no pair comes too close.
//!
//! Knows positions, displacements and candidates. A query ([`Query`]) is two primitives in linear
//! motion; each method answers it with a safe time, never later than the true one:
//!
//! - [`additive`]: conservative advancement along the closest direction [Li 2021, Alg. 1];
//! - [`published`]: the same with the bound of the paper, for comparison;
//! - [`inclusion`]: bisection of space and time with interval bounds [Wang 2021].
//!
//! [`max_step`] takes the least over all candidates. It hands the least time found so far to each
//! query, which only lets a query stop early when it can no longer be the least: the result is the
//! same bits for any order and any number of threads.

pub mod additive;
mod collisions;
pub mod inclusion;
pub mod published;
mod query;

pub use collisions::{Collision, Keep, collisions, limiting};
pub use query::Query;

use crate::CollisionMesh;
use crate::broad_phase::Candidates;
use inclusion::Limits;
use rayon::prelude::*;
use standoff_linalg::Vec3;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Additive CCD [Li 2021, Alg. 1].
    #[default]
    Additive,
    /// Additive CCD with the bound as published, [Li 2021, Eq. 10].
    AdditivePublished,
    /// Inclusion-based bisection [Wang 2021].
    Inclusion,
}

impl Method {
    /// A time up to which the distance stays at or above ξ + `keep` (d₀ − ξ), d₀ the distance at
    /// t = 0; `None` if that holds on all of [0, `t_max`], `t_max` ≤ 1.
    ///
    /// As published, the additive method promises the distance only to be above ξ on the way, and that much
    /// at the time that it returns.
    ///
    /// The inclusion method bisects down to its tolerance or, where the gap to keep is smaller
    /// still, to that gap; where it then finds nothing better than 0 it takes the additive method's
    /// first advance.
    pub fn time_of_impact(
        self,
        query: &Query,
        min_separation: f64,
        keep: f64,
        t_max: f64,
    ) -> Option<f64> {
        match self {
            Self::Additive => additive::time_of_impact(query, min_separation, keep, t_max),
            Self::AdditivePublished => {
                published::time_of_impact(query, min_separation, keep, t_max)
            }
            Self::Inclusion => {
                let gap = additive::initial_separation(query, min_separation) - min_separation;
                if gap.is_nan() || gap <= 0.0 {
                    return Some(0.0);
                }
                let kept = keep.clamp(0.001, 0.999) * gap;
                let mut limits = Limits::default();
                limits.tolerance = limits.tolerance.min(0.5 * kept);
                let t = inclusion::time_of_impact(query, min_separation + kept, t_max, limits)?;
                if t > 0.0 {
                    return Some(t);
                }
                let first = additive::first_advance(query, min_separation, keep);
                (first < t_max).then_some(first)
            }
        }
    }
}

/// Number of pairs per unit of parallel work, at least.
const CHUNK: usize = 128;

/// The largest t ≤ `t_max` ≤ 1 such that no candidate's distance falls below
/// ξ + `keep` (d₀ − ξ) on the way from x to x + t dx, with ξ the pair's thickness offset and d₀ its
/// distance at x; up to the tolerance of the method, on the safe side.
///
/// The bound includes the rounding of the positions x + t dx to `f64`. 0 where a pair starts at or
/// below ξ or a number is not finite. `candidates` must hold every pair that can come close on the
/// way ([`crate::broad_phase::swept_candidates`]).
pub fn max_step(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    candidates: &Candidates,
    method: Method,
    keep: f64,
    t_max: f64,
) -> f64 {
    let finite = |v: &[Vec3]| v.par_iter().all(|p| p.iter().all(|c| c.is_finite()));
    if t_max.is_nan() || t_max <= 0.0 || !finite(x) || !finite(dx) {
        return 0.0;
    }
    let t_max = t_max.min(1.0);
    // bits of non-negative floats are ordered like the floats
    let least = AtomicU64::new(t_max.to_bits());
    candidates.par_iter().with_min_len(CHUNK).for_each(|pair| {
        let query = pair.query(mesh, x, dx);
        let so_far = f64::from_bits(least.load(Ordering::Relaxed));
        let floor = pair.thickness(mesh) + query.landing_error();
        if let Some(t) = method.time_of_impact(&query, floor, keep, so_far) {
            least.fetch_min(t.to_bits(), Ordering::Relaxed);
        }
    });
    f64::from_bits(least.into_inner())
}

/// The largest t ≤ `t_max` such that all `vertices` keep the fraction `keep` of their gap to the
/// plane {y : n·(y − o) = |n| `offset`} on the way from x to x + t dx. `normal` n has any positive
/// length. 0 where a vertex starts at or below the plane or a number is not finite.
pub fn half_space_max_step(
    x: &[Vec3],
    dx: &[Vec3],
    vertices: &[u32],
    origin: &Vec3,
    normal: &Vec3,
    offset: f64,
    keep: f64,
    t_max: f64,
) -> f64 {
    let n = normal / normal.norm();
    vertices
        .par_iter()
        .with_min_len(1024)
        .map(|&v| {
            let (p, d) = (&x[v as usize], &dx[v as usize]);
            let size = p.amax() + d.amax() + origin.amax() + offset.abs();
            let gap = n.dot(&(p - origin)) - offset - 16.0 * f64::EPSILON * size;
            let approach = -n.dot(d);
            if !gap.is_finite() || gap <= 0.0 || !approach.is_finite() {
                0.0
            } else if approach > 0.0 {
                ((1.0 - keep) * gap / approach).min(t_max)
            } else {
                t_max
            }
        })
        .reduce(|| t_max, f64::min)
}
