//! Adaptive barrier stiffness κ: by the load of the contacts, by conditioning [Li 2020 thesis, App. F], and by the mass
//! alone [Li 2021, code].
//!
//! κ is physical here: contact lies within the factor s of the incremental potential
//! ½‖x − x̃‖²_M + s Ψ (s = h² for implicit Euler), where the thesis puts κ b outside. Its average
//! mass m̄ therefore enters as m̄/s, and its gradient of E as that of everything but contact, divided
//! by s; then κ here times s is the thesis's κ.

use super::barrier::Barrier;
use super::orientation::Loaded;
use super::potential::BarrierPotential;
use super::set::ContactSet;
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_linalg::Vec3;

/// Distance, as a multiple of the scene's size l, at which the barrier's curvature is compared with
/// the mass.
const CURVATURE_DISTANCE: f64 = 1e-8;

/// Distance below which a shrinking one doubles κ in the code of [Li 2021], m. It contains the thickness.
pub const ABSOLUTE_CLOSE_DISTANCE: f64 = 1e-9;

/// Distance, as a multiple of the scene's size l, below which a shrinking gap doubles κ.
pub const CLOSE_DISTANCE: f64 = 1e-9;

/// Ratio of the barrier's Hessian diagonal at 1e-8 l to the average mass that κ_min establishes.
pub const MASS_RATIO: f64 = 1e11;

/// κ_max/κ_min.
const RANGE: f64 = 100.0;

/// κ_max/κ_min in the code of [Li 2021]: κ doubles as long as it is below 100 κ_min, the last time at 64.
const RANGE_OF_DOUBLINGS: f64 = 128.0;
/// Contacts that a thread looks at at once, at least.
const CHUNK: usize = 512;

/// Gap, as a part of d̂, at which the most loaded contact is to act. The stiffness of the barrier per
/// force, |∂λ/∂d|/λ, is least at 0.36 d̂, where it is 3.0/d̂; here it is 3.5/d̂, at 0.01 d̂ it is 100/d̂.
pub const LOADED_GAP: f64 = 0.5;

/// Part of the largest force that an orientation-aware contact has to bear to count among the loaded.
const LOADED_PART: f64 = 0.1;

/// Factor by which κ may be above what the load needs before it is lowered.
const SLACK: f64 = 4.0;

/// The interval within which κ is adapted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StiffnessRange {
    /// Smallest κ.
    pub min: f64,
    /// Largest κ.
    pub max: f64,
}

impl StiffnessRange {
    /// κ_min = `mass_ratio` m / (4 d² b″(d² − ξ²)) at the distance d = 1e-8 l + ξ, and
    /// κ_max = 100 κ_min.
    ///
    /// `size` is l, m; `mass` the average lumped mass over s (kg/s²); `thickness` ξ, m;
    /// `mass_ratio` usually [`MASS_RATIO`]. Where 1e-8 l is beyond the barrier's reach, b″ is taken
    /// at half of its reach. Barriers that are finite at contact set no bounds.
    ///
    /// For a potential that is `physical` or weighted, divide `mass` by its factor to b (the mean
    /// weight, times d̂/units).
    pub fn new(
        barrier: Barrier,
        d_hat: f64,
        thickness: f64,
        size: f64,
        mass: f64,
        mass_ratio: f64,
    ) -> Self {
        if barrier.is_finite() {
            return Self { min: 0.0, max: f64::INFINITY };
        }
        let s_hat = d_hat * (2.0 * thickness + d_hat);
        let mut d = CURVATURE_DISTANCE * size + thickness;
        if d * d - thickness * thickness >= s_hat {
            d = (0.5 * s_hat + thickness * thickness).sqrt();
        }
        let b2 = barrier.derivatives(d * d - thickness * thickness, s_hat)[2];
        let min = mass_ratio * mass / (4.0 * d * d * b2);
        Self { min, max: RANGE * min }
    }

    /// κ_min = 10¹¹ · 3 m / (4 d² b″(d², d̂²)) at d = 10⁻⁸ m, whatever the size of the scene and the thickness of its bodies,
    /// and κ_max = 128 κ_min: what the code of [Li 2021] starts from, and what seven doublings lead to.
    ///
    /// `mass` as for [`new`](Self::new). The paper has the rule of [Li 2020]; its code counts the mass of a node once for each
    /// of its three coordinates.
    pub fn by_mass(barrier: Barrier, d_hat: f64, mass: f64) -> Self {
        // a size of 1 m, of which 10⁻⁸ is the distance
        let Self { min, .. } = Self::new(barrier, d_hat, 0.0, 1.0, 3.0 * mass, MASS_RATIO);
        Self { min, max: RANGE_OF_DOUBLINGS * min }
    }

    /// κ that best balances the gradients, −g_c·g/‖g_c‖², within the range; the smallest where
    /// nothing is in contact.
    ///
    /// `contact` is the gradient of the barrier potential with κ = 1, `other` that of all else over
    /// s, N (`#V` each; entries of vertices that cannot move must be zero in both).
    pub fn balance(&self, other: &[Vec3], contact: &[Vec3]) -> f64 {
        let square: f64 = contact.iter().map(|g| g.norm_squared()).sum();
        if square <= 0.0 {
            return self.min;
        }
        let dot: f64 = contact.iter().zip(other).map(|(c, g)| c.dot(g)).sum();
        (-dot / square).max(self.min).min(self.max)
    }

    /// κ doubled, within the range (and never lowered).
    pub fn doubled(&self, kappa: f64) -> f64 {
        (2.0 * kappa).min(self.max).max(kappa)
    }
}

/// κ with which the most loaded contact of `set` would carry its force at half of d̂; 0 where nothing
/// is in contact.
///
/// `barrier` has the κ with which the contacts bear their forces at positions `x`.
pub fn load(barrier: &BarrierPotential, set: &ContactSet, x: &[Vec3]) -> f64 {
    let needed = |force: f64, weight: f64, thickness: f64| {
        force / barrier.unit_force(LOADED_GAP * barrier.d_hat, weight, thickness)
    };
    let contacts = set.contacts.par_iter().with_min_len(CHUNK);
    let pairs = contacts
        .map(|c| needed(barrier.force_magnitude(c, &c.gather(x)), c.weight, c.thickness))
        .reduce(|| 0.0, f64::max);
    let planes = set.half_space.iter().map(|c| {
        let force = barrier.half_space_force_magnitude(c, &x[c.vertex as usize]);
        needed(force, c.weight, c.thickness)
    });
    let oriented = oriented_load(barrier, set, x);
    planes.fold(oriented.max(pairs), f64::max)
}

/// The same of the orientation-aware contacts, of those that carry a good part of the largest force:
/// elements at the border of a contact carry almost nothing, however close they are.
fn oriented_load(barrier: &BarrierPotential, set: &ContactSet, x: &[Vec3]) -> f64 {
    let loaded = set.orientation.loaded(barrier.orientation_kappa(set), x);
    let largest = loaded.iter().map(|c| c.force).fold(0.0, f64::max);
    let bears = |c: &&Loaded| c.force > 0.0 && c.force >= LOADED_PART * largest;
    loaded.iter().filter(bears).map(|c| barrier.kappa * c.at_half).fold(0.0, f64::max)
}

/// κ of a step whose load needs `needed`, after a step with `before` (0 at the start): the same as
/// before where that is enough and at most four times too much, so that bodies at rest stay so.
pub fn kappa_within_slack(before: f64, needed: f64) -> f64 {
    before.min(SLACK * needed).max(needed)
}

/// The update between Newton iterations in terms of the smallest gaps alone: doubled where the
/// smallest gap was and is below 1e-9 l and shrinks.
pub fn update(range: &StiffnessRange, kappa: f64, before: f64, now: f64, size: f64) -> f64 {
    let close = CLOSE_DISTANCE * size;
    if before < close && now < close && now < before { range.doubled(kappa) } else { kappa }
}

/// What makes a contact so close that κ doubles where it comes closer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Closeness {
    /// A gap below this, m.
    Gap(f64),
    /// A distance, which contains the thickness, below this, m.
    Distance(f64),
}

impl Closeness {
    fn holds(self, gap: f64, thickness: f64) -> bool {
        match self {
            Self::Gap(limit) => gap < limit,
            Self::Distance(limit) => gap + thickness < limit,
        }
    }
}

/// Contacts that are close, to be compared between Newton iterations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CloseContacts {
    /// Kind, stencil (a vertex and a half-space as [v, k, MAX, MAX] of no kind) and gap in m,
    /// ascending by the former.
    gaps: Vec<((Option<PairKind>, [u32; 4]), f64)>,
}

impl CloseContacts {
    /// Contacts of `set` that are `close` at positions `x`. Orientation-aware contacts count by their gaps.
    pub fn new(set: &ContactSet, x: &[Vec3], close: Closeness) -> Self {
        let pairs = set.contacts.par_iter().with_min_len(CHUNK).filter_map(|c| {
            let gap = c.d2(&c.gather(x)).sqrt() - c.thickness;
            close.holds(gap, c.thickness).then_some(((Some(c.kind), c.vertices), gap))
        });
        let pairs: Vec<_> = pairs.collect();
        let planes = set.half_space.iter().filter_map(|c| {
            let gap = c.plane.signed_distance(&x[c.vertex as usize]) - c.thickness;
            let key = (None, [c.vertex, c.half_space, u32::MAX, u32::MAX]);
            close.holds(gap, c.thickness).then_some((key, gap))
        });
        let oriented = set.orientation.loaded(0.0, x).into_iter().filter_map(|c| {
            let key = match c.kind {
                Some(_) => c.core.vertices,
                None => [c.core.vertices[0], c.half_space, u32::MAX, u32::MAX],
            };
            close.holds(c.gap, 0.0).then_some(((c.kind, key), c.gap))
        });
        let mut gaps: Vec<_> = pairs.into_iter().chain(planes).chain(oriented).collect();
        gaps.sort_by_key(|(key, _)| *key);
        Self { gaps }
    }

    /// Whether no contact is close.
    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Whether any contact of both sets is closer now than `before`, so that κ must be doubled.
    pub fn any_shrank(&self, before: &Self) -> bool {
        self.gaps.iter().any(|(key, gap)| {
            let found = before.gaps.binary_search_by_key(key, |(k, _)| *k);
            found.is_ok_and(|i| *gap < before.gaps[i].1)
        })
    }
}
