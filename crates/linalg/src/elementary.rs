//! Logarithm, exponential function and angle of plain numbers and of lanes: a reduction to small arguments, and there a polynomial
//! that interpolates the power series at Chebyshev nodes, or its beginning.

// long: a good half is tests, with exact twins of each function

use crate::Real;

/// A number in which the exponent can be told from the mantissa.
pub trait Binary: Real {
    /// m and e of x = m 2ᵉ with 1 ≤ m < 2, for positive numbers that are not subnormal.
    fn split(self) -> (Self, Self);
    /// self 2ᵉ for whole |e| ≤ 1,022.
    fn scale(self, e: Self) -> Self;
}

/// ln 2 = `LN_2_HIGH` + `LN_2_LOW`; the first has 42 bits, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = 0.6931471805598903;
const LN_2_LOW: f64 = 5.497923018708371e-14;

/// artanh z = z + z³ (Σ cₖ z²ᵏ) for z² ≤ 0.0336, to 1.3e-15 of the sum.
const ARTANH: [f64; 7] = [
    0.3333333333333337,
    0.199999999998874,
    0.14285714339249672,
    0.11111101581164527,
    0.0909171500192693,
    0.07657478267211552,
    0.0740498156989537,
];

/// arctan z = z − z³ (Σ cₖ z²ᵏ) for |z| ≤ tan π/8, to 1.4e-16 of the sum.
const ARCTAN: [f64; 11] = [
    0.3333333333333333,
    -0.1999999999999549,
    0.1428571428466014,
    -0.11111111014741562,
    0.09090904557214267,
    -0.0769218270524632,
    0.06664504610032648,
    -0.05858089538610203,
    0.050851391487066376,
    -0.03922268882347632,
    0.0191659065063043,
];

/// (eˣ − 1 − x)/x² = Σ xᵏ/(k + 2)! for |x| ≤ 0.36, to 2e-18.
const EXP_TAIL: [f64; 13] = [
    0.5,
    0.16666666666666666,
    0.041666666666666664,
    0.008333333333333333,
    0.001388888888888889,
    0.0001984126984126984,
    2.48015873015873e-5,
    2.7557319223985893e-6,
    2.755731922398589e-7,
    2.505210838544172e-8,
    2.08767569878681e-9,
    1.6059043836821613e-10,
    1.1470745597729725e-11,
];

/// tan π/8.
const TAN_22_5: f64 = 0.41421356237309503;

/// Σ cₖ xᵏ, even and odd k side by side.
#[inline(always)]
fn polynomial<R: Real, const K: usize>(c: &[f64; K], x: R) -> R {
    let square = x * x;
    let (mut last, mut other) = (x.constant(c[K - 1]), x.constant(c[K - 2]));
    for k in (0..K - 2).rev() {
        (last, other) = (other, last * square + c[k]);
    }
    // `last` ends with c₁, `other` with c₀
    other + x * last
}

/// ln x with an error below one unit in the last place: −∞ at 0, NaN below.
#[inline(always)]
pub fn ln<R: Binary>(x: R) -> R {
    let (zero, one) = (x.constant(0.0), x.constant(1.0));
    let subnormal = x.lt(x.constant(f64::MIN_POSITIVE));
    let (m, e) = R::select(subnormal, x * (1_u64 << 54) as f64, x).split();
    let e = R::select(subnormal, e - 54.0, e);
    // 1/√2 ≤ 1 + f ≤ √2
    let large = x.constant(std::f64::consts::SQRT_2).lt(m);
    let f = R::select(large, m * 0.5, m) - one;
    let e = R::select(large, e + one, e);
    // ln(1 + f) = 2 artanh z, and 2z = f − z f
    let z = f / (f + 2.0);
    let square = z * z;
    let tail = square * polynomial(&ARTANH, square);
    let rest = z * (f - (tail + tail)) - e * LN_2_LOW;
    let finite = e * LN_2_HIGH + (f - rest);
    // NaN and +∞ are their own logarithms
    let positive = R::select(x.lt(x.constant(f64::INFINITY)), finite, x);
    let otherwise = R::select(x.lt(zero), x.constant(f64::NAN), x.constant(f64::NEG_INFINITY));
    R::select(x.le(zero), otherwise, positive)
}

/// x − ln(1 + x) for −0.309 ≤ x ≤ 0.448, to full relative accuracy.
///
/// With z = x/(2 + x), ln(1 + x) = 2 artanh z and x − 2z = x z.
#[inline(always)]
pub fn x_minus_ln_1p<R: Real>(x: R) -> R {
    let z = x / (x + 2.0);
    let square = z * z;
    let tail = square * polynomial(&ARTANH, square);
    x * z - (z + z) * tail
}

/// eˣ with an error below one unit in the last place: 0 below −708, +∞ above 709.
#[inline(always)]
pub fn exp<R: Binary>(x: R) -> R {
    // the sum has no digits after the point
    const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
    let (low, high) = (x.constant(-708.0), x.constant(709.0));
    let inside = R::select(x.lt(low), low, R::select(high.lt(x), high, x));
    // x = e ln 2 + r, |r| ≤ 0.35
    let e = (inside * std::f64::consts::LOG2_E + ROUND) - ROUND;
    let r = (inside - e * LN_2_HIGH) - e * LN_2_LOW;
    // in two factors: 2¹⁰²³ is the greatest power of two
    let half = (e * 0.5 + ROUND) - ROUND;
    let power = (r + r * r * polynomial(&EXP_TAIL, r)) + 1.0;
    let finite = power.scale(half).scale(e - half);
    let bounded = R::select(x.lt(low), x.constant(0.0), finite);
    let bounded = R::select(high.lt(x), x.constant(f64::INFINITY), bounded);
    // NaN stays
    R::select(x.le(x), bounded, x)
}

/// (eˣ − 1 − x)/x², 1/2 at 0, with a relative error below 1e-14.
#[inline(always)]
pub fn exp_tail<R: Binary>(x: R) -> R {
    let small = x.abs().lt(x.constant(0.35));
    let direct = (exp(x) - 1.0 - x) / (x * x);
    R::select(small, polynomial(&EXP_TAIL, x), direct)
}

/// The angle of the point (x, y) in (−π, π], rad, with an error below three units in the last place; 0 at
/// the origin. Unlike with [`f64::atan2`], −0 is 0. |x| + |y| must not overflow.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let zero = x.constant(0.0);
    let (across, up) = (x.abs(), y.abs());
    let steep = across.lt(up);
    let (less, more) = (R::select(steep, across, up), R::select(steep, up, across));
    // arctan q = π/4 + arctan((q − 1)/(q + 1))
    let large = (more * TAN_22_5).lt(less);
    let sum = more + less;
    let z = R::select(large, less - more, less) / R::select(large, sum, more);
    let square = z * z;
    let rest = z - z * (square * polynomial(&ARCTAN, square));
    let base = R::select(large, x.constant(FRAC_PI_4), zero);
    // mirrored at the diagonal, at the y axis and at the x axis
    let (base, rest) = (R::select(steep, -base + FRAC_PI_2, base), R::select(steep, -rest, rest));
    let left = x.lt(zero);
    let (base, rest) = (R::select(left, -base + PI, base), R::select(left, -rest, rest));
    let angle = R::select(sum.le(zero), zero, base + rest);
    R::select(y.lt(zero), -angle, angle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_double::DoubleDouble;
    use crate::lanes::{Kernel, Lanes, MAX_LANES, Width, dispatch, scalar};
    use standoff_testkit::Random;

    #[derive(Clone, Copy)]
    enum Function {
        Ln,
        XMinusLn1p,
        Exp,
        ExpTail,
        /// Of pairs (y, x), one after the other.
        Atan2,
    }

    struct All<'a>(Function, &'a [f64], &'a [f64]);

    impl Kernel for All<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<W: Width>(self, width: W) -> Vec<f64> {
            let mut out = Vec::new();
            for (a, b) in self.1.chunks(W::F64_LANES).zip(self.2.chunks(W::F64_LANES)) {
                let mut rows = [[0.0; MAX_LANES]; 2];
                rows[0][..a.len()].copy_from_slice(a);
                rows[1][..a.len()].copy_from_slice(b);
                let (x, y) = (Lanes::load(width, &rows[0]), Lanes::load(width, &rows[1]));
                let result = match self.0 {
                    Function::Ln => ln(x),
                    Function::XMinusLn1p => x_minus_ln_1p(x),
                    Function::Exp => exp(x),
                    Function::ExpTail => exp_tail(x),
                    Function::Atan2 => atan2(x, y),
                };
                out.extend(&result.to_array()[..a.len()]);
            }
            out
        }
    }

    /// The results of the widest lanes, which are those of single lanes.
    fn all(function: Function, a: &[f64], b: &[f64]) -> Vec<f64> {
        let found = dispatch(All(function, a, b));
        let single = scalar(All(function, a, b));
        for k in 0..a.len() {
            assert_eq!(found[k].to_bits(), single[k].to_bits(), "{} {}", a[k], b[k]);
        }
        found
    }

    fn dd(v: f64) -> DoubleDouble {
        DoubleDouble::new(v)
    }

    /// 2 artanh z of |z| < 0.2 by its power series.
    fn twice_artanh(z: DoubleDouble) -> DoubleDouble {
        let (square, mut power, mut sum) = (z * z, z, z);
        for k in 1..30 {
            power = power * square;
            sum = sum + power / dd(f64::from(2 * k + 1));
        }
        sum + sum
    }

    /// ln x of a normal number, with 100 bits.
    fn exact_ln(x: f64) -> DoubleDouble {
        let mut exponent = (x.to_bits() >> 52) as i32 - 1023;
        let mut m = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1_f64.to_bits());
        if m > 1.41 {
            (m, exponent) = (0.5 * m, exponent + 1);
        }
        // ln 2 = 2 artanh 1/7 + ln 3/2, ln 3/2 = 2 artanh 1/5
        let ln_2 = twice_artanh(dd(1.0) / dd(7.0)) + twice_artanh(dd(1.0) / dd(5.0));
        let z = (dd(m) - dd(1.0)) / (dd(m) + dd(1.0));
        twice_artanh(z) + ln_2 * dd(f64::from(exponent))
    }

    /// Units in the last place of `truth` between it and `found`.
    fn units(found: f64, truth: DoubleDouble) -> f64 {
        let size = truth.value().abs();
        (dd(found) - truth).value().abs() / (size.next_up() - size)
    }

    #[test]
    fn logarithms_are_off_by_less_than_a_unit_in_the_last_place() {
        let r = &mut Random::new(3);
        let mut x = vec![1.0, 2.0, 0.5, f64::MIN_POSITIVE, f64::MAX, 1.5, 1.41, 1.42, 0.7, 0.71];
        x.extend([1_f64.next_down(), 1_f64.next_up(), std::f64::consts::SQRT_2]);
        for k in 0..100_000 {
            x.push(match k % 4 {
                0 => 0.5 + 1.5 * r.unit(),
                1 => 1.0 + r.signed() * 10_f64.powf(-16.0 * r.unit()),
                2 => (r.signed() * 700.0).exp(),
                _ => 0.9 + 0.2 * r.unit(),
            });
        }
        let found = all(Function::Ln, &x, &x);
        let mut worst = 0.0_f64;
        for (&x, &y) in x.iter().zip(&found) {
            if x == 1.0 {
                assert_eq!(y, 0.0);
                continue;
            }
            let off = units(y, exact_ln(x));
            assert!(off < 1.0, "ln {x:e}: off by {off}");
            worst = worst.max(off);
        }
        println!("ln: off by {worst:.3} units in the last place at most");
    }

    #[test]
    fn logarithms_of_special_numbers() {
        let tiny = f64::from_bits(1);
        let x = [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN, tiny, 1e-310, -tiny];
        for (x, y) in x.iter().zip(all(Function::Ln, &x, &x)) {
            let want = x.ln();
            let same = y == want || y.is_nan() && want.is_nan();
            assert!(same || (y / want - 1.0).abs() < 4e-16, "ln {x:e} = {y}, not {want}");
        }
    }

    #[test]
    fn x_minus_ln_1p_is_accurate() {
        let r = &mut Random::new(4);
        let mut x = vec![-0.309, 0.448, 1e-300, -1e-150];
        x.extend((0..50_000).map(|_| (0.38 * r.signed() + 0.07) * 10_f64.powf(-9.0 * r.unit())));
        for (&x, y) in x.iter().zip(all(Function::XMinusLn1p, &x, &x)) {
            // x z − (2 artanh z − 2 z)
            let z = dd(x) / (dd(2.0) + dd(x));
            let (square, mut power, mut tail) = (z * z, z, dd(0.0));
            for k in 1..40 {
                power = power * square;
                tail = tail + power / dd(f64::from(2 * k + 1));
            }
            let truth = dd(x) * z - (tail + tail);
            let error = (dd(y) - truth).value().abs();
            assert!(error <= 4e-16 * truth.value(), "{x}: {error:e} of {}", truth.value());
        }
        assert_eq!(all(Function::XMinusLn1p, &[0.0], &[0.0]), [0.0]);
    }

    /// eˣ and (eˣ − 1 − x)/x² of |x| < 40 by the power series at x/2⁷ and squaring.
    fn exact_exp(x: f64) -> (DoubleDouble, DoubleDouble) {
        let small = dd(x.abs() / 128.0);
        let (mut term, mut sum) = (small, small);
        for k in 2..25 {
            term = term * small / dd(f64::from(k));
            sum = sum + term;
        }
        // (1 + s)² − 1 = s (2 + s)
        for _ in 0..7 {
            sum = sum * (dd(2.0) + sum);
        }
        // e⁻ˣ − 1 = −s/(1 + s)
        let minus_one = if x < 0.0 { dd(0.0) - sum / (sum + dd(1.0)) } else { sum };
        let power = if x < 0.0 { dd(1.0) / (sum + dd(1.0)) } else { sum + dd(1.0) };
        (power, (minus_one - dd(x)) / (dd(x) * dd(x)))
    }

    #[test]
    fn exponentials_are_off_by_less_than_a_unit_in_the_last_place() {
        let r = &mut Random::new(6);
        let mut x = vec![0.3465, -0.3466, 1.0, -1.0, 1e-300, 1e-17, -1e-9];
        x.extend((0..50_000).map(|_| 40.0 * r.signed() * 10_f64.powf(-6.0 * r.unit())));
        let mut worst = 0.0_f64;
        for (&x, y) in x.iter().zip(all(Function::Exp, &x, &x)) {
            let off = units(y, exact_exp(x).0);
            assert!(off < 1.0, "exp {x:e}: off by {off}");
            worst = worst.max(off);
        }
        println!("exp: off by {worst:.3} units in the last place at most");
        // beyond, by what the functions have in common
        let wide: Vec<f64> = (0..20_000).map(|_| 700.0 * r.signed()).collect();
        for (&x, y) in wide.iter().zip(all(Function::Exp, &wide, &wide)) {
            assert!((ln(y) - x).abs() < 3e-16 * x.abs().max(1.0), "exp {x}");
        }
    }

    #[test]
    fn exponentials_of_special_numbers() {
        let x = [0.0, -0.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -709.0, 710.0, 709.0];
        let found = all(Function::Exp, &x, &x);
        assert_eq!(found[..4], [1.0, 1.0, 0.0, f64::INFINITY]);
        assert!(found[4].is_nan() && found[5] == 0.0 && found[6] == f64::INFINITY);
        assert!((found[7] / 709.0_f64.exp() - 1.0).abs() < 1e-13);
        assert_eq!(all(Function::ExpTail, &[0.0], &[0.0]), [0.5]);
    }

    #[test]
    fn tails_of_exponentials_keep_their_digits() {
        let r = &mut Random::new(7);
        let mut x = vec![0.35, -0.35, 0.3499, 0.3501];
        x.extend((0..50_000).map(|_| 20.0 * r.signed() * 10_f64.powf(-4.0 * r.unit())));
        for (&x, y) in x.iter().zip(all(Function::ExpTail, &x, &x)) {
            // where the series begins with 1/2, the difference of the exact one has digits left
            let truth = exact_exp(x).1;
            let error = (dd(y) - truth).value().abs();
            assert!(error < 1e-14 * truth.value(), "{x}: {error:e} of {}", truth.value());
        }
    }

    /// The angle of a point: of arctan by its power series after halving the angle twice.
    fn exact_atan2(y: f64, x: f64) -> DoubleDouble {
        // (r, y/(r + x)) is at half the angle; where x < 0, y/(r + x) = (r − x)/y
        let half = |y: DoubleDouble, x: DoubleDouble| {
            let r = (x * x + y * y).sqrt();
            if x.value() >= 0.0 { (y, r + x) } else { (r - x, y) }
        };
        let (mut y, mut x) = (dd(y.abs()), dd(x));
        for _ in 0..4 {
            (y, x) = half(y, x);
        }
        let z = y / x;
        let (square, mut power, mut sum) = (z * z, z, z);
        for k in 1..40 {
            power = power * square * dd(-1.0);
            sum = sum + power / dd(f64::from(2 * k + 1));
        }
        sum * dd(16.0)
    }

    #[test]
    fn angles_are_off_by_less_than_three_units_in_the_last_place() {
        let r = &mut Random::new(5);
        let (mut y, mut x) = (vec![], vec![]);
        for k in 0..50_000 {
            let size = 10_f64.powf(-12.0 * r.unit());
            let (a, b) = (r.signed(), r.signed());
            let (a, b) = match k % 4 {
                0 => (a, b),
                1 => (a * size, b),
                2 => (a, b * size),
                _ => (a, if k % 8 == 3 { a } else { -a } * (1.0 + b * size)),
            };
            y.push(a * 1e-9);
            x.push(b * 1e-9);
        }
        let mut worst = 0.0_f64;
        for (k, found) in all(Function::Atan2, &y, &x).into_iter().enumerate() {
            assert!((found < 0.0) == (y[k] < 0.0));
            let off = units(found.abs(), exact_atan2(y[k], x[k]));
            assert!(off < 3.0, "atan2({:e}, {:e}): off by {off}", y[k], x[k]);
            worst = worst.max(off);
        }
        println!("atan2: off by {worst:.3} units in the last place at most");
    }

    #[test]
    fn angles_on_the_axes_and_of_no_numbers() {
        use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
        let y = [0.0, 0.0, -0.0, 1.0, -1.0, 0.0, 2.0, -2.0, f64::NAN, 1.0, f64::NAN, 0.0];
        let x = [1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 2.0, -2.0, 1.0, f64::NAN, 0.0, f64::NAN];
        let want = [0.0, PI, PI, FRAC_PI_2, -FRAC_PI_2, 0.0, FRAC_PI_4, -3.0 * FRAC_PI_4];
        let found = all(Function::Atan2, &y, &x);
        assert_eq!(found[..8], want);
        assert!(found[8..].iter().all(|a| a.is_nan()), "{found:?}");
    }
}
