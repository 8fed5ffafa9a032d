//! Scalar functions of the potential, with first and second derivatives.

/// [h_ε(z), h′, h″] of the cubic spline h_ε(z) = 3/2 B³(2z/ε) that falls from 1 at 0 to 0 at ε,
/// C² [Huang 2024, §4.1].
#[inline]
pub fn spline(z: f64, eps: f64) -> [f64; 3] {
    let x = z / eps;
    if x >= 1.0 {
        return [0.0; 3];
    }
    let left = 1.0 - x;
    if x >= 0.5 {
        [2.0 * left * left * left, -6.0 * left * left / eps, 12.0 * left / (eps * eps)]
    } else {
        [1.0 - 6.0 * x * x * left, x * (18.0 * x - 12.0) / eps, (36.0 * x - 12.0) / (eps * eps)]
    }
}

/// [p_ε(z), p′, p″] of the kernel p_ε(z) = h_ε(z)/z^r [Huang 2024, §4.1]; 0 at z ≥ ε, infinite (with
/// derivatives 0) at z ≤ 0.
#[inline]
pub fn kernel(z: f64, eps: f64, exponent: i32) -> [f64; 3] {
    if z >= eps {
        return [0.0; 3];
    }
    if z <= 0.0 {
        return [f64::INFINITY, 0.0, 0.0];
    }
    let [h, h1, h2] = spline(z, eps);
    let (r, over, scale) = (f64::from(exponent), 1.0 / z, z.powi(-exponent));
    [
        h * scale,
        (h1 - r * h * over) * scale,
        (h2 - (2.0 * r * h1 - r * (r + 1.0) * h * over) * over) * scale,
    ]
}

/// The smoothed step H^{α,β}: 0 up to −α, 1 from β on, C² [Huang 2024, §4.3].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// α, as a cosine: how far the step begins before 0.
    pub alpha: f64,
    /// β, as a cosine: where the step is complete.
    pub beta: f64,
}

/// H^{1,0}, through which the sum of the exterior factors goes.
pub const ANY: Step = Step { alpha: 1.0, beta: 0.0 };

impl Step {
    /// [H, H′, H″] at `z`.
    #[inline]
    pub fn derivatives(&self, z: f64) -> [f64; 3] {
        let scale = 3.0 / (self.alpha + self.beta);
        let t = (z - self.beta) * scale;
        if z >= self.beta {
            return [1.0, 0.0, 0.0];
        }
        if z <= -self.alpha || t <= -3.0 {
            return [0.0; 3];
        }
        let [h, h1, h2] = if t <= -2.0 {
            let u = 3.0 + t;
            [u * u * u / 6.0, 0.5 * u * u, u]
        } else if t <= -1.0 {
            [
                (3.0 - t * (9.0 + t * (9.0 + 2.0 * t))) / 6.0,
                -(t * t + 3.0 * t + 1.5),
                -3.0 - 2.0 * t,
            ]
        } else {
            [1.0 + t * t * t / 6.0, 0.5 * t * t, t]
        };
        [h, h1 * scale, h2 * scale * scale]
    }

    /// H at `z`.
    #[inline]
    pub fn value(&self, z: f64) -> f64 {
        self.derivatives(z)[0]
    }

    /// H at a/b, b > 0 given by its square: without a root where H is 0 or 1.
    #[inline]
    pub fn of_quotient(&self, a: f64, b_squared: f64) -> f64 {
        // z ≥ β and z ≤ −α, by squares of the same sign
        if at_least(a, b_squared, self.beta) {
            return 1.0;
        }
        if at_least(-a, b_squared, self.alpha) {
            return 0.0;
        }
        self.value(a / b_squared.sqrt())
    }
}

/// Whether a/√b² ≥ c.
#[inline]
fn at_least(a: f64, b_squared: f64, c: f64) -> bool {
    let (left, right) = (a * a.abs(), c * c.abs() * b_squared);
    left >= right
}

/// [m, m′, m″] of the mollifier m(z) = z (2 − z), which is 0 up to 0 and 1 from 1 on
/// [Huang 2024, §4.4].
#[inline]
pub fn mollifier(z: f64) -> [f64; 3] {
    if z <= 0.0 {
        [0.0; 3]
    } else if z < 1.0 {
        [z * (2.0 - z), 2.0 * (1.0 - z), -2.0]
    } else {
        [1.0, 0.0, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error of derivative k + 1 against the difference quotient of derivative k.
    fn slope_error(f: impl Fn(f64) -> [f64; 3], at: impl Iterator<Item = f64>) -> f64 {
        let eps = 1e-6;
        let mut worst = 0.0_f64;
        for z in at {
            let (lo, mid, hi) = (f(z - eps), f(z), f(z + eps));
            for k in 0..2 {
                let slope = (hi[k] - lo[k]) / (2.0 * eps);
                let scale = 1.0 + mid[k + 1].abs() + slope.abs();
                worst = worst.max((slope - mid[k + 1]).abs() / scale);
            }
        }
        worst
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        let grid = |a: f64, b: f64| (1..200).map(move |i| a + (b - a) * (i as f64 + 0.013) / 200.0);
        assert!(slope_error(|z| spline(z, 1.0), grid(0.0, 1.1)) < 1e-5);
        for r in [1, 2, 3] {
            assert!(slope_error(|z| kernel(z, 1.0, r), grid(0.3, 1.1)) < 1e-5);
        }
        for (alpha, beta) in [(0.1, 0.0), (0.9, 0.05), (0.5, 0.2)] {
            let step = Step { alpha, beta };
            assert!(slope_error(|z| step.derivatives(z), grid(-1.0, 1.0)) < 2e-4);
            assert_eq!((step.value(-alpha), step.value(beta)), (0.0, 1.0));
        }
        assert!(slope_error(mollifier, grid(-0.5, 1.5)) < 1e-5);
    }

    #[test]
    fn values_are_the_papers() {
        // B³(v) = 2/3 − v² + |v|³/2 below 1, (2 − |v|)³/6 below 2
        for (z, h) in [(0.0, 1.0), (0.25, 1.5 * (2.0 / 3.0 - 0.25 + 0.0625)), (0.75, 1.5 / 48.0)] {
            assert!((spline(z, 1.0)[0] - h).abs() < 1e-15, "{z}");
            assert!((spline(3.0 * z, 3.0)[0] - h).abs() < 1e-15, "{z}");
        }
        assert!((kernel(0.5, 2.0, 2)[0] - spline(0.5, 2.0)[0] / 0.25).abs() < 1e-15);
        assert_eq!(kernel(2.0, 2.0, 2), [0.0; 3]);
        assert_eq!(kernel(0.0, 2.0, 2)[0], f64::INFINITY);
    }

    #[test]
    fn quotients_agree_with_values() {
        let step = Step { alpha: 0.3, beta: 0.1 };
        for i in -40..=40 {
            for b in [0.1, 1.0, 7.0] {
                let a = b * f64::from(i) / 40.0;
                let want = step.value(a / b);
                assert!((step.of_quotient(a, b * b) - want).abs() < 1e-15);
            }
        }
    }
}
