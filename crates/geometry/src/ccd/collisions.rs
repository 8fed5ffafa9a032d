//! Every collision on the way, not only the first one.

use super::{Method, Query, additive};
use crate::broad_phase::Candidates;
use crate::{CollisionMesh, Pair};
use rayon::prelude::*;
use standoff_linalg::Vec3;

impl Pair {
    /// The gap that the pair keeps where others keep `separation`, m: half of its gap at rest if it
    /// belongs to one body and is that close by nature, as the neighbours on a fine mesh are.
    pub fn separation(self, mesh: &CollisionMesh, separation: f64) -> f64 {
        let [a, b] = self.stencil(mesh).representatives();
        if !mesh.same_body(a, b) {
            return separation;
        }
        // a query uses positions and displacements of its own vertices only
        let rest = self.query(mesh, &mesh.rest, &mesh.rest);
        let xi = self.thickness(mesh);
        let gap = additive::initial_separation(&rest, xi) - xi;
        if gap > 0.0 { separation.min(0.5 * gap) } else { separation }
    }

    /// The pair in motion from `x` along `dx` (`#V`).
    #[inline]
    pub fn query(self, mesh: &CollisionMesh, x: &[Vec3], dx: &[Vec3]) -> Query {
        let stencil = self.stencil(mesh);
        Query { kind: self.kind, x: stencil.gather(x), dx: stencil.gather(dx) }
    }
}

/// A pair that comes too close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collision {
    /// The pair.
    pub pair: Pair,
    /// A time in [0, 1) up to which it keeps its reach.
    pub time: f64,
    /// A time in [0, 1] up to which it keeps a safe distance: a step that long is safe.
    pub limit: f64,
}

/// How close pairs may come, in terms of their gap g = d₀ − ξ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keep {
    /// Gap below which a pair that approaches collides, m.
    pub reach: f64,
}

impl Keep {
    /// Part of any gap that is kept.
    const PART: f64 = 0.1;

    /// The part of the gap at which a pair collides: that of the reach, or nearly all of a gap that is
    /// smaller already.
    pub fn collides(&self, gap: f64) -> f64 {
        Self::share(0.95, self.reach, gap)
    }

    /// The part of the gap that a step leaves: half of what is below the reach, a tenth at least.
    pub fn limit(&self, gap: f64) -> f64 {
        Self::share(0.5, self.reach, gap)
    }

    fn share(share: f64, reach: f64, gap: f64) -> f64 {
        if gap > 0.0 { Self::PART.max(share * (reach / gap).min(1.0)) } else { Self::PART }
    }
}

/// Every candidate that collides ([`Keep::collides`]) on the way from x to x + dx, in the candidates'
/// order, with its share of the largest safe step.
pub fn collisions(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    candidates: &Candidates,
    method: Method,
    keep: Keep,
) -> Vec<Collision> {
    let of = |pair: Pair| {
        let query = pair.query(mesh, x, dx);
        let floor = pair.thickness(mesh) + query.landing_error();
        let gap = additive::initial_separation(&query, floor) - floor;
        let keep = Keep { reach: pair.separation(mesh, keep.reach) };
        let time = method.time_of_impact(&query, floor, keep.collides(gap), 1.0)?;
        let limit = method.time_of_impact(&query, floor, keep.limit(gap), 1.0).unwrap_or(1.0);
        // both are safe
        Some(Collision { pair, time, limit: limit.max(time) })
    };
    candidates.par_iter().with_min_len(64).filter_map(of).collect()
}

/// The candidates that do not keep the part `keep` of their gap all the way from x to x + dx, in their order: those that make
/// [`super::max_step`] less than 1.
pub fn limiting(
    mesh: &CollisionMesh,
    x: &[Vec3],
    dx: &[Vec3],
    candidates: &Candidates,
    method: Method,
    keep: f64,
) -> Vec<Pair> {
    let limits = |pair: &Pair| {
        let query = pair.query(mesh, x, dx);
        let floor = pair.thickness(mesh) + query.landing_error();
        method.time_of_impact(&query, floor, keep, 1.0).is_some()
    };
    candidates.par_iter().with_min_len(64).filter(limits).collect()
}
