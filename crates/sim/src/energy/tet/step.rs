//! The largest step along which a tetrahedron keeps a given part of its volume.
//!
//! Volume is a cubic in the step. Its first root is approached from below by steps that provably
//! do not cross it, rounding included, so that an answer may be early but never late.

use super::formulas::edges;
use super::{KEEP_VOLUME, Tet};
use crate::energy::formula::{gather, per_lane, plain};
use standoff_linalg::lanes::{Kernel, Lanes, Width};
use standoff_linalg::{M3, Mask, Real, Vec3};

/// A cubic c₀ + c₁t + c₂t² + c₃t³ whose coefficients are known up to ± `error`.
#[derive(Debug, Clone, Copy)]
pub(in crate::energy) struct Cubic<R = f64> {
    c: [R; 4],
    error: [R; 4],
}

/// Bound of the relative rounding error of a term of the polynomial: 5 ε, doubled.
const EVALUATION_ERROR: f64 = 10.0 * f64::EPSILON;
/// Steps smaller than this part of t end the search.
const RESOLUTION: f64 = 1e-9;
/// The search is at least linear with rate ½, at a double root; it needs 5 steps at a simple one.
const MAX_STEPS: usize = 100;

impl<R: Real> Cubic<R> {
    /// The polynomial with, in `error`, a bound of what rounding adds when it is evaluated by
    /// [`Cubic::lower_taylor`] at a t that is itself rounded.
    #[inline(always)]
    pub(in crate::energy) fn new(c: [R; 4], mut error: [R; 4]) -> Self {
        for k in 0..4 {
            error[k] = error[k] + c[k].abs() * EVALUATION_ERROR;
        }
        Self { c, error }
    }

    /// How much more than `keep` times the volume of a tetrahedron with the edges `x` there is while they change by
    /// t `dx`, times 6.
    #[inline(always)]
    pub(super) fn of_volume(x: &M3<R>, dx: &M3<R>, keep: f64) -> Self {
        let ([a, b, c], [p, q, r]) = (&x.0, &dx.0);
        // det[a + tp, b + tq, c + tr]
        let (bc, qr) = (b.cross(c), q.cross(r));
        let mixed = q.cross(c) + b.cross(r);
        let d0 = a.dot(&bc);
        let d =
            [d0 - d0 * keep, p.dot(&bc) + a.dot(&mixed), p.dot(&mixed) + a.dot(&qr), p.dot(&qr)];
        let (a, b, c) = (a.abs_sum(), b.abs_sum(), c.abs_sum());
        let (p, q, r) = (p.abs_sum(), q.abs_sum(), r.abs_sum());
        let (bc, qr, mixed) = (b * c, q * r, q * c + b * r);
        let mut error = [a * bc, p * bc + a * mixed, p * mixed + a * qr, p * qr];
        for error in &mut error {
            *error = *error * COEFFICIENT_ERROR;
        }
        Self::new(d, error)
    }

    /// Where [`Cubic::first_root`] has to search for it; elsewhere, which is the common case, it is 1.
    #[inline(always)]
    pub(super) fn may_have_root(&self) -> R::Mask {
        let mut p = self.c;
        let mut needed = p[0].constant(0.0);
        for k in 0..4 {
            p[k] = self.c[k] - self.error[k];
            if k > 0 {
                // twice max(0, −pₖ), but NaN where that is
                needed = needed + (p[k].abs() - p[k]);
            }
        }
        !needed.lt(p[0] + p[0])
    }
}

impl<W: Width> Cubic<Lanes<W>> {
    /// The cubic of one lane.
    #[inline(always)]
    pub(super) fn lane(&self, lane: usize) -> Cubic {
        let (mut c, mut error) = ([0.0; 4], [0.0; 4]);
        for k in 0..4 {
            c[k] = self.c[k].to_array()[lane];
            error[k] = self.error[k].to_array()[lane];
        }
        Cubic { c, error }
    }
}

impl Cubic {
    /// Lower bounds of the Taylor coefficients at t ≥ 0.
    fn lower_taylor(&self, t: f64) -> [f64; 4] {
        let at = |c: &[f64; 4]| {
            [
                c[0] + t * (c[1] + t * (c[2] + t * c[3])),
                c[1] + t * (2.0 * c[2] + t * (3.0 * c[3])),
                c[2] + t * (3.0 * c[3]),
                c[3],
            ]
        };
        let (value, error) = (at(&self.c), at(&self.error));
        std::array::from_fn(|k| value[k] - error[k])
    }

    /// A t ∈ [0, 1] such that the polynomial is not negative anywhere in [0, t]: 1, or its first
    /// root to a relative [`RESOLUTION`] or so, or less. 0 where it may be negative at 0.
    ///
    /// From t, with Taylor coefficients p₀ > 0 and nₖ = max(0, −pₖ), the polynomial at t + s is at
    /// least p₀ − n₁s − n₂s² − n₃s³, which stays positive for s < 1/(a₁ + √a₂ + ∛a₃), aₖ = nₖ/p₀,
    /// because each aₖsᵏ is at most its share of that sum. Near a simple root this is Newton's step.
    pub(in crate::energy) fn first_root(&self) -> f64 {
        let mut t = 0.0;
        for _ in 0..MAX_STEPS {
            let p = self.lower_taylor(t);
            if p[0].is_nan() || p[0] <= 0.0 {
                return t;
            }
            let n = [(-p[1]).max(0.0), (-p[2]).max(0.0), (-p[3]).max(0.0)];
            // the common case: no root in reach
            if t == 0.0 && p[0] > n[0] + n[1] + n[2] {
                return 1.0;
            }
            let a = n.map(|n| n / p[0]);
            let step = (1.0 - 8.0 * f64::EPSILON) / (a[0] + a[1].sqrt() + a[2].cbrt());
            let next = t + step;
            if next >= 1.0 {
                return 1.0;
            }
            if step <= RESOLUTION * next {
                return next;
            }
            t = next;
        }
        t
    }
}

/// The largest α ≤ 1 (or slightly less) such that the signed volume of the tetrahedron `x` + β`dx`
/// is at least `keep` times that of `x` for all β in [0, α]; 0 where `x` has no volume above
/// rounding error. [Li 2020, §2.2.1; Smith & Schaefer 2015]
///
/// Rounding of the coefficients and of the search is bounded and taken off, so that the volume of
/// the exact tetrahedron `x` + β`dx` is what is kept. Rounding of the sum x + α dx itself is not
/// covered; it matters only to elements that are small against their distance from the origin.
pub(in crate::energy) fn volume_step(x: &[Vec3; 4], dx: &[Vec3; 4], keep: f64) -> f64 {
    Cubic::of_volume(&edges(&plain(x)), &edges(&plain(dx)), keep).first_root()
}

/// Bound of the relative rounding error of each product of [`Cubic::of_volume`]: at most 8 roundings of ε/2, doubled.
const COEFFICIENT_ERROR: f64 = 8.0 * f64::EPSILON;

/// The least of the elements' bounds of a step along `dx`.
pub(super) struct LeastMaxStep<'a> {
    pub elements: &'a [Tet],
    pub vertices: &'a [[u32; 4]],
    pub x: &'a [Vec3],
    pub dx: &'a [Vec3],
}

impl Kernel for LeastMaxStep<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<W: Width>(self, width: W) -> f64 {
        let n = W::F64_LANES;
        let mut least = 1.0;
        for (elements, vertices) in self.elements.chunks(n).zip(self.vertices.chunks(n)) {
            let vertices = per_lane(vertices);
            let (x, dx) = (gather(width, &vertices, self.x), gather(width, &vertices, self.dx));
            let cubic = Cubic::of_volume(&edges(&x), &edges(&dx), KEEP_VOLUME);
            if !cubic.may_have_root().any() {
                continue;
            }
            for (lane, tet) in elements.iter().enumerate() {
                if !tet.invertible {
                    least = cubic.lane(lane).first_root().min(least);
                }
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::double_double::DoubleDouble;
    use standoff_testkit::Random;

    /// The cubic at t, evaluated with 106 bits.
    fn exact(c: &[f64; 4], t: f64) -> f64 {
        let [c0, c1, c2, c3] = c.map(DoubleDouble::new);
        let t = DoubleDouble::new(t);
        (((c3 * t + c2) * t + c1) * t + c0).value()
    }

    /// The first root in [0, 1], by sampling and bisection; 1 where the samples show none.
    fn twin(c: &[f64; 4]) -> f64 {
        let n = 20_000;
        let mut low = 0.0;
        for i in 1..=n {
            // denser towards 0
            let high = (i as f64 / n as f64).powi(3);
            if exact(c, high) < 0.0 {
                let mut high = high;
                for _ in 0..200 {
                    let mid = 0.5 * (low + high);
                    if exact(c, mid) < 0.0 { high = mid } else { low = mid }
                }
                return low;
            }
            low = high;
        }
        1.0
    }

    fn check(c: [f64; 4]) {
        let found = Cubic::new(c, [0.0; 4]).first_root();
        let truth = twin(&c);
        assert!(found <= truth, "late: {found} > {truth} of {c:?}");
        // tight, or so near to touching zero that rounding cannot tell
        let size: f64 = (0..4).map(|k| c[k].abs() * found.powi(k as i32)).sum();
        assert!(
            found >= truth * (1.0 - 1e-6) || exact(&c, found) <= 1e-11 * size,
            "early: {found} of {truth}, {c:?}"
        );
    }

    /// Coefficients of k (t − r₀)(t − r₁)(t − r₂) with the sign that makes c₀ positive.
    fn from_roots(r: [f64; 3]) -> [f64; 4] {
        let c = [
            -r[0] * r[1] * r[2],
            r[0] * r[1] + r[1] * r[2] + r[2] * r[0],
            -(r[0] + r[1] + r[2]),
            1.0,
        ];
        if c[0] < 0.0 { c.map(|v| -v) } else { c }
    }

    #[test]
    fn special_cubics() {
        for c in [
            [1.0, 0.0, 0.0, 0.0],
            [1.0, -1.0, 0.0, 0.0],
            [1.0, -4.0, 4.0, 0.0],
            [1.0, -4.0, 4.0 + 1e-13, 0.0],
            [1.0, -4.0, 4.0 - 1e-13, 0.0],
            [1.0, -6.0, 12.0, -8.0],
            [1.0, 1e6, -1e9, 1.0],
            [1.0, 1e9, 0.0, -1e18],
            [1.0, 0.0, 0.0, -1e-30],
            [1e-30, -1e-12, 1.0, -1.0],
            [1e-300, 1e-300, -1e-300, -1e-300],
            [0.8, -1e20, 1e25, -1e30],
        ] {
            check(c);
        }
        let at = |c| Cubic::new(c, [0.0; 4]).first_root();
        assert!((at([1.0, -4.0, 0.0, 0.0]) - 0.25).abs() < 1e-8);
        assert_eq!(at([-1.0, 1.0, 0.0, 0.0]), 0.0);
        assert_eq!(at([0.0, 1.0, 0.0, 0.0]), 0.0);
        assert_eq!(at([f64::NAN, 1.0, 0.0, 0.0]), 0.0);
    }

    #[test]
    fn random_cubics() {
        let r = &mut Random::new(1);
        for _ in 0..400 {
            let mut c =
                [0.0; 4].map(|_: f64| (r.unit() - 0.5) * 10f64.powf(6.0 * r.unit() * r.unit()));
            c[0] = c[0].abs();
            check(c);
        }
    }

    #[test]
    fn nearly_double_and_triple_roots() {
        let random = &mut Random::new(2);
        for i in 0..400 {
            let r = random.unit();
            let gap = 10f64.powf(-16.0 * random.unit());
            let third = match i % 4 {
                0 => r + gap * random.unit(),
                1 => -random.unit(),
                2 => 1.0 + random.unit(),
                _ => r * random.unit(),
            };
            let c = from_roots([r, r + gap, third]);
            check(c);
            // shifted up a little: a pair of roots that just vanished
            check([c[0] + gap * 1e-3, c[1], c[2], c[3]]);
            check([c[0] + 1e-16, c[1], c[2], c[3]]);
        }
    }
}
