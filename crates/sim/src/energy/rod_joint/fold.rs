//! What a joint's energy has instead of 1/(1 + z) where the rod is folded, and weights that take energies away where
//! nothing can be carried from one tangent to another.

use standoff_linalg::{Real, V3};
use std::f64::consts::PI;

/// Below this 1 + t·u two tangents count as opposite: nothing can be carried from the one to the other, and the
/// twist has no energy.
pub(super) const OPPOSITE: f64 = 1e-12;

/// A weight and its derivative; `None` where it is 1.
pub(super) type Weight<T> = Option<[T; 2]>;

/// A weight without its derivative.
pub(super) fn value<T: Copy>(weight: &Weight<T>) -> Option<T> {
    weight.map(|[w, _]| w)
}

/// How a joint's energy depends on 1 + z, the cosine of the angle between its tangents plus 1.
pub(super) struct Fold<T> {
    /// h, its derivative by z, and −h'/h².
    pub(super) h: T,
    pub(super) slope: T,
    pub(super) steepness: T,
    /// w and its derivative by z, where they are not 1 and 0.
    pub(super) weight: Weight<T>,
}

impl<T: Real<Mask = bool>> Fold<T> {
    #[inline(always)]
    pub(super) fn new(above: T, limit: f64) -> Self {
        if above.constant(limit).le(above) {
            let h = above.recip();
            return Self { h, slope: -(h * h), steepness: above.constant(1.0), weight: None };
        }
        let a = 1.0 / limit;
        let one = above.constant(1.0);
        let d = one - above * a;
        let (h, slope) = ((one + d + d * d) * a, (one + d * 2.0) * (-a * a));
        let over = h.recip();
        Self { h, slope, steepness: -(slope * over * over), weight: fade(above, limit) }
    }
}

/// A weight that falls from 1, where 1 + z = `above` is `limit`, to 0 at −1, twice continuously differentiable, and its
/// derivative by z; `None` where it is 1.
#[inline(always)]
pub(super) fn fade<T: Real<Mask = bool>>(above: T, limit: f64) -> Weight<T> {
    if above.constant(limit).le(above) {
        return None;
    }
    if above.le(above.constant(OPPOSITE)) {
        return Some([above.constant(0.0); 2]);
    }
    let a = 1.0 / limit;
    let y = above * a;
    let d = -y + 1.0;
    let weight = y * y * y * (y * y * 6.0 - y * 15.0 + 10.0);
    Some([weight, y * y * d * d * (30.0 * a)])
}

/// [`fade`] by the change of the twist of the frames in the step, rad, from 120° on, with the change's gradient: at 180° the
/// twist continues with another number of turns.
#[inline(always)]
pub(super) fn fade_change<T: Real<Mask = bool>>(change: f64, by: &[T]) -> Weight<T> {
    let toward = if change > 0.0 { -1.0 / PI } else { 1.0 / PI };
    let change = by[0].constant(change).with_gradient(by);
    let [weight, slope] = fade(change * toward + 1.0, 1.0 / 3.0)?;
    Some([weight, slope * toward])
}

/// The product with a weight, `None` for 1.
#[inline(always)]
pub(super) fn times<T: Real<Mask = bool>>(a: T, weight: Option<T>) -> T {
    weight.map_or(a, |w| a * w)
}

/// C(a, b) = a × b/(1 + a·b) of unit vectors, 0 of opposite ones.
#[inline(always)]
pub(super) fn half_curvature<T: Real<Mask = bool>>(a: &V3<T>, b: &V3<T>) -> V3<T> {
    let above = a.dot(b) + 1.0;
    match above.le(above.constant(OPPOSITE)) {
        true => V3::repeat(above.constant(0.0)),
        false => a.cross(b) * above.recip(),
    }
}

/// The part of v that is perpendicular to the unit vector t.
#[inline(always)]
pub(super) fn perpendicular<T: Real<Mask = bool>>(v: &V3<T>, t: &V3<T>) -> V3<T> {
    *v - *t * v.dot(t)
}
