//! Energies and gradients of hinges several at once, one hinge per lane: the fast twins of `Hinge::value` and
//! `Hinge::gradient`.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be used.

use super::Hinge;
use crate::energy::lanes::{Batch, LaneElement, Row, per_lane, scatter_vectors};
use standoff_linalg::Vec3;
use standoff_linalg::lanes::{
    LaneVec3, Lanes, MAX_LANES, Width, add, atan2, cross, dot, minus_sum_vec, scaled, sub,
};
use std::f64::consts::{PI, TAU};

/// c and θ̄ of each lane's hinge, and how its angle goes on.
pub(super) struct Parameters<W: Width> {
    pub stiffness: Lanes<W>,
    rest_angle: Lanes<W>,
    start: Lanes<W>,
    turns: Lanes<W>,
}

impl<W: Width> Parameters<W> {
    #[inline(always)]
    pub(super) fn new(width: W, hinges: &[&Hinge; MAX_LANES]) -> Self {
        let mut rows: [Row; 4] = [[0.0; MAX_LANES]; 4];
        for lane in 0..W::F64_LANES {
            (rows[0][lane], rows[1][lane]) = (hinges[lane].stiffness, hinges[lane].rest_angle);
            [rows[2][lane], rows[3][lane]] = hinges[lane].turning.parts();
        }
        let [stiffness, rest_angle] = [Lanes::load(width, &rows[0]), Lanes::load(width, &rows[1])];
        let [start, turns] = [Lanes::load(width, &rows[2]), Lanes::load(width, &rows[3])];
        Self { stiffness, rest_angle, start, turns }
    }

    /// [`Hinge::bend`] from the angle of the arc tangent, rad.
    #[inline(always)]
    pub(super) fn bend(&self, width: W, angle: Lanes<W>) -> Lanes<W> {
        let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
        let (half, whole) = (Lanes::splat(width, PI), Lanes::splat(width, TAU));
        let way = angle - self.start;
        let more = way.lt(-half).select(one, half.lt(way).select(-one, zero));
        angle + whole * (self.turns + more) - self.rest_angle
    }
}

/// A corner as seen along the edge.
#[derive(Clone, Copy)]
pub(super) struct Side<W: Width> {
    /// Where its foot lies on the edge, in units of it.
    pub foot: Lanes<W>,
    /// Inverse of its height over the edge, 1/m.
    pub over_height: Lanes<W>,
    /// Direction u from the foot to the corner.
    pub out: LaneVec3<W>,
    /// t × u, in which the corner turns about the edge.
    pub turn: LaneVec3<W>,
}

/// [`super::View`] of each lane, with the angle.
pub(super) struct LaneView<W: Width> {
    /// Inverse of the length of the edge, 1/m.
    pub over_length: Lanes<W>,
    /// t, along the edge.
    pub along: LaneVec3<W>,
    /// The corners x₂ and x₃.
    pub sides: [Side<W>; 2],
    /// θ, rad.
    pub angle: Lanes<W>,
}

impl<W: Width> LaneView<W> {
    #[inline(always)]
    pub(super) fn new(width: W, x: &[LaneVec3<W>; 4]) -> Self {
        let (e, p, q) = edges(x);
        let ee = dot(&e, &e);
        let length = ee.sqrt();
        let over_length = Lanes::splat(width, 1.0) / length;
        let along = scaled(&e, over_length);
        let sides = [side(width, &p, &e, ee, &along), side(width, &q, &e, ee, &along)];
        Self { over_length, along, sides, angle: angle(width, &e, length, &p, &q) }
    }
}

/// x₁−x₀, x₂−x₀, x₃−x₀.
#[inline(always)]
fn edges<W: Width>(x: &[LaneVec3<W>; 4]) -> (LaneVec3<W>, LaneVec3<W>, LaneVec3<W>) {
    (sub(&x[1], &x[0]), sub(&x[2], &x[0]), sub(&x[3], &x[0]))
}

/// The corner `p` over the edge `e` of squared length `ee`.
#[inline(always)]
fn side<W: Width>(
    width: W,
    p: &LaneVec3<W>,
    e: &LaneVec3<W>,
    ee: Lanes<W>,
    along: &LaneVec3<W>,
) -> Side<W> {
    let foot = dot(p, e) / ee;
    let across = sub(p, &scaled(e, foot));
    let over_height = Lanes::splat(width, 1.0) / dot(&across, &across).sqrt();
    let out = scaled(&across, over_height);
    Side { foot, over_height, out, turn: cross(along, &out) }
}

/// As [`super::angle`], rad.
#[inline(always)]
fn angle<W: Width>(
    width: W,
    e: &LaneVec3<W>,
    length: Lanes<W>,
    p: &LaneVec3<W>,
    q: &LaneVec3<W>,
) -> Lanes<W> {
    let (n1, n2) = (cross(e, p), cross(q, e));
    atan2(width, dot(&cross(&n1, &n2), e) / length, dot(&n1, &n2))
}

impl LaneElement<4> for Hinge {
    #[inline(always)]
    fn lane_values<W: Width>(width: W, batch: &Batch<'_, Self, 4>, out: &mut [f64]) {
        let infinite = Lanes::splat(width, f64::INFINITY);
        let (e, p, q) = edges(&batch.gather(width));
        let angle = angle(width, &e, dot(&e, &e).sqrt(), &p, &q);
        let parameters = Parameters::new(width, &per_lane(batch.elements));
        let bent = parameters.bend(width, angle);
        let value = parameters.stiffness * (bent * bent);
        // also where it is NaN
        let value = value.lt(infinite).select(value, infinite);
        for (to, from) in out.iter_mut().zip(value.to_array()) {
            *to = from;
        }
    }

    #[inline(always)]
    fn lane_gradients<W: Width>(width: W, batch: &Batch<'_, Self, 4>, out: &mut [[Vec3; 4]]) {
        let zero = Lanes::splat(width, 0.0);
        let LaneView { sides: [a, b], angle, .. } = LaneView::new(width, &batch.gather(width));
        let parameters = Parameters::new(width, &per_lane(batch.elements));
        let stiffness = parameters.stiffness;
        let slope = (stiffness + stiffness) * parameters.bend(width, angle);
        // a slope of 0 gives zeros, also where the hinge has no shape
        let none = slope.abs().le(zero);
        let (along_a, along_b) = (-(a.over_height * slope), b.over_height * slope);
        let (mut by_a, mut by_b) = (scaled(&a.turn, along_a), scaled(&b.turn, along_b));
        let (mut foot_a, mut foot_b) = (scaled(&by_a, a.foot), scaled(&by_b, b.foot));
        for i in 0..3 {
            (by_a[i], by_b[i]) = (none.select(zero, by_a[i]), none.select(zero, by_b[i]));
            (foot_a[i], foot_b[i]) = (none.select(zero, foot_a[i]), none.select(zero, foot_b[i]));
        }
        let feet = add(&foot_a, &foot_b);
        let by_e = [-feet[0], -feet[1], -feet[2]];
        scatter_vectors(&[minus_sum_vec(&by_e, &by_a, &by_b), by_e, by_a, by_b], out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::hinges;
    use super::*;
    use crate::energy::Element;
    use crate::energy::lanes::tests::{self as lanes, assert_same_bits};
    use crate::energy::turning::Turning;

    fn values(x: &[Vec3], first: usize, wide: bool) -> Vec<f64> {
        let (elements, vertices, _) = hinges();
        lanes::values(&elements[first..], &vertices[first..], x, wide)
    }

    fn gradients(x: &[Vec3], first: usize, wide: bool) -> Vec<[Vec3; 4]> {
        let (elements, vertices, _) = hinges();
        lanes::gradients(&elements[first..], &vertices[first..], x, wide)
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let (elements, _, x) = hinges();
        assert_same_bits(elements.len(), |first, wide| values(&x, first, wide));
        assert_same_bits(elements.len(), |first, wide| gradients(&x, first, wide));
    }

    #[test]
    fn agrees_with_one_hinge_at_a_time() {
        let (elements, vertices, x) = hinges();
        let (values, gradients) = (values(&x, 0, true), gradients(&x, 0, true));
        for (k, hinge) in elements.iter().enumerate() {
            let corners = vertices[k].map(|v| x[v as usize]);
            // the rounding of an angle of size 1 is squared, or multiplied by the bend
            let want = hinge.value(&corners);
            let bend = (want / hinge.stiffness).sqrt();
            let rounding = 1e-13 * (1e-13 + bend) * hinge.stiffness;
            assert!((values[k] - want).abs() <= rounding, "hinge {k}: {} {want}", values[k]);
            let want = hinge.gradient(&corners);
            let over_height = super::super::View::new(&corners).height.map(f64::recip);
            let size = hinge.stiffness * (1e-3 + bend) * (over_height[0] + over_height[1]);
            for (found, want) in gradients[k].iter().zip(&want) {
                assert!((found - want).norm() <= 1e-12 * size, "hinge {k}: {found} {want}");
            }
        }
    }

    #[test]
    fn gradients_are_the_slopes_of_energies() {
        let (elements, vertices, x) = hinges();
        let gradients = gradients(&x, 0, true);
        let heights = |k: usize| {
            let height = super::super::View::new(&vertices[k].map(|v| x[v as usize])).height;
            height[0].min(height[1])
        };
        for a in 0..4 {
            for i in 0..3 {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    for k in 0..elements.len() {
                        moved[4 * k + a][i] += step * 1e-4 * heights(k);
                    }
                    values(&moved, 0, true)
                };
                let [b2, b1, a1, a2] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
                for (k, hinge) in elements.iter().enumerate() {
                    let slope = (b2[k] - 8.0 * b1[k] + 8.0 * a1[k] - a2[k]) / (12e-4 * heights(k));
                    let size = hinge.stiffness / heights(k);
                    let off = (slope - gradients[k][a][i]).abs() / size;
                    assert!(off < 1e-6, "hinge {k}, corner {a}: {off:e}");
                }
            }
        }
    }

    /// A hinge without a shape has infinite energy, at no stiffness no force, and leaves its neighbours as they are.
    #[test]
    fn a_hinge_without_shape_is_alone_with_that() {
        let (mut elements, vertices, mut x) = hinges();
        let before = (values(&x, 0, true), gradients(&x, 0, true));
        x[4 * 6 + 1] = x[4 * 6];
        let corners = vertices[6].map(|v| x[v as usize]);
        let after = (values(&x, 0, true), gradients(&x, 0, true));
        assert_eq!((after.0[6], elements[6].value(&corners)), (f64::INFINITY, f64::INFINITY));
        for k in (0..elements.len()).filter(|&k| k != 6) {
            assert_eq!((after.0[k], after.1[k]), (before.0[k], before.1[k]), "hinge {k}");
        }
        // flat at rest, one corner on the edge: 0/0 times a slope of 0
        elements[6] = Hinge { stiffness: 1.0, rest_angle: 0.0, turning: Turning::default() };
        x[4 * 6 + 1] = x[4 * 6] + Vec3::x();
        x[4 * 6 + 2] = x[4 * 6];
        let corners = vertices[6].map(|v| x[v as usize]);
        let out = lanes::gradients(&elements, &vertices, &x, true);
        assert_eq!(out[6], [Vec3::zeros(); 4]);
        assert_eq!(elements[6].gradient(&corners), [Vec3::zeros(); 4]);
    }
}
