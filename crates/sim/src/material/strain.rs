//! Strain measures without cancellation near rest.
//!
//! Energy densities vanish with the square of the strain, so that |F|² − 3 or ln det F, formed
//! directly, would leave a line search with rounding noise. Here everything is a function of
//! G = FᵀF − I, whose entries carry an error of one rounding, also when the element is rotated.

use standoff_linalg::{Mat3, Vec3};

/// Below this ‖G‖ invariants of G replace the determinant of F.
pub(super) const NEAR_REST: f64 = 0.2;

/// Invariants of a deformation gradient F.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strain {
    /// tr G = |F|² − 3.
    pub trace: f64,
    /// J = det F.
    pub j: f64,
    /// Where F is near a rotation: what replaces J there.
    pub near: Option<NearRest>,
}

/// Invariants of G where ‖G‖ is small.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearRest {
    /// J² − 1 − tr G = I₂(G) + I₃(G), of second order.
    pub higher: f64,
    /// q = J² − 1.
    pub q: f64,
}

impl Strain {
    /// Invariants of `f`.
    #[inline]
    pub fn new(f: &Mat3) -> Self {
        let g = green(f);
        let (trace, j) = (g.trace(), f.determinant());
        if j <= 0.0 || g.norm_squared() > NEAR_REST * NEAR_REST {
            return Self { trace, j, near: None };
        }
        // sum of the principal 2×2 minors, and the determinant
        let i2 = g[(0, 0)] * g[(1, 1)] - g[(1, 0)] * g[(1, 0)] + g[(1, 1)] * g[(2, 2)]
            - g[(2, 1)] * g[(2, 1)]
            + g[(0, 0)] * g[(2, 2)]
            - g[(2, 0)] * g[(2, 0)];
        let higher = i2 + g.determinant();
        Self { trace, j, near: Some(NearRest { higher, q: trace + higher }) }
    }

    /// J − 1.
    #[inline]
    pub fn j_minus_one(&self) -> f64 {
        match self.near {
            Some(near) => near.q / (1.0 + (1.0 + near.q).sqrt()),
            None => self.j - 1.0,
        }
    }
}

/// G = FᵀF − I, twice the Green strain.
#[inline]
pub(super) fn green(f: &Mat3) -> Mat3 {
    f.transpose() * f - Mat3::identity()
}

/// Cofactor matrix ∂J/∂F = J F⁻ᵀ, also where J = 0.
#[inline]
pub(super) fn cofactor(f: &Mat3) -> Mat3 {
    let (a, b, c) = (f.column(0), f.column(1), f.column(2));
    Mat3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

/// σ₀σ₁σ₂ − 1 from the stretches' distances to 1.
#[inline]
pub(super) fn product_minus_one(e: &Vec3) -> f64 {
    let pair = e[0] + e[1] + e[0] * e[1];
    pair + e[2] + pair * e[2]
}

/// q − ln(1 + q) for |q| ≤ 0.42, to full relative accuracy.
///
/// With z = q/(2 + q), ln(1 + q) = 2 artanh z = 2(z + z³/3 + z⁵/5 + …) and q − 2z = q z.
#[inline]
pub(super) fn q_minus_ln_1p(q: f64) -> f64 {
    let z = q / (2.0 + q);
    let z2 = z * z;
    let mut tail = 0.0;
    // |z| ≤ 0.27: the first term left out is 1e-17 of the result
    for k in (1..=13).rev() {
        tail = z2 * (1.0 / (2 * k + 1) as f64 + tail);
    }
    q * z - 2.0 * z * tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_minus_ln_1p_is_accurate() {
        // where the direct form cancels least
        for q in [-0.42, -0.3, 0.2, 0.42_f64] {
            let direct = q - q.ln_1p();
            assert!((q_minus_ln_1p(q) / direct - 1.0).abs() < 3e-15, "{q}");
        }
        // q²/2 − q³/3 + q⁴/4 − …, summed from the small end
        for q in [1e-3, -1e-3, 1e-8, -1e-12_f64] {
            let series: f64 = (2..9).rev().map(|n| -(-q).powi(n) * -1.0 / n as f64).sum();
            assert!((q_minus_ln_1p(q) / series - 1.0).abs() < 1e-15, "{q}");
        }
        assert_eq!(q_minus_ln_1p(0.0), 0.0);
    }

    #[test]
    fn near_rest_covers_the_series() {
        // extreme J² − 1 under ‖G‖ ≤ NEAR_REST is at equal eigenvalues
        let e = NEAR_REST / 3f64.sqrt();
        let (largest, least) = ((1.0 + e).powi(3) - 1.0, (1.0 - e).powi(3) - 1.0);
        assert!(largest < 0.42 && least > -0.42);
        // and that of `lanes::x_minus_ln_1p`
        assert!(largest < 0.448 && least > -0.309);
    }
}
