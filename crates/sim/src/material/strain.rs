//! Strain measures without cancellation near rest.
//!
//! Energy densities vanish with the square of the strain, so that |F|² − 3 or ln det F, formed
//! directly, would leave a line search with rounding noise. Here everything is a function of
//! G = FᵀF − I, whose entries carry an error of one rounding, also when the element is rotated.

use standoff_linalg::{M3, Real, V3};

/// Below this ‖G‖ invariants of G replace the determinant of F.
pub(super) const NEAR_REST: f64 = 0.2;

/// Invariants of a deformation gradient F.
pub(super) struct Strain<R: Real> {
    /// tr G = |F|² − 3.
    pub trace: R,
    /// J = det F.
    pub j: R,
    /// Where F is not near a rotation: J replaces what follows.
    pub far: R::Mask,
    /// J² − 1 − tr G = I₂(G) + I₃(G), of second order.
    pub higher: R,
    /// I₃(G) alone, of third order.
    pub third: R,
    /// q = J² − 1.
    pub q: R,
}

impl<R: Real> Strain<R> {
    /// Invariants of `f`.
    #[inline(always)]
    pub fn new(f: &M3<R>) -> Self {
        let [a, b, c] = &f.0;
        // G = FᵀF − I
        let (g00, g11, g22) = (a.dot(a) - 1.0, b.dot(b) - 1.0, c.dot(c) - 1.0);
        let (g10, g20, g21) = (a.dot(b), a.dot(c), b.dot(c));
        let trace = g00 + g11 + g22;
        let j = f.determinant();
        let (s10, s20, s21) = (g10 * g10, g20 * g20, g21 * g21);
        let shear = s10 + s20 + s21;
        let size = g00 * g00 + g11 * g11 + g22 * g22 + (shear + shear);
        let far = size.constant(NEAR_REST * NEAR_REST).lt(size) | j.le(j.constant(0.0));
        // sum of the principal 2×2 minors, and the determinant
        let i2 = g00 * g11 - s10 + (g11 * g22 - s21) + (g00 * g22 - s20);
        let i3 =
            g00 * (g11 * g22 - s21) - g10 * (g10 * g22 - g21 * g20) + g20 * (g10 * g21 - g11 * g20);
        let higher = i2 + i3;
        Self { trace, j, far, higher, third: i3, q: trace + higher }
    }
}

/// G = FᵀF − I, twice the Green strain.
#[inline(always)]
pub(super) fn green<R: Real>(f: &M3<R>) -> M3<R> {
    let one = V3::repeat(f[0][0].constant(1.0));
    &f.transpose() * f - M3::from_diagonal(&one)
}

/// σ₀σ₁σ₂ − 1 from the stretches' distances to 1.
#[inline(always)]
pub(super) fn product_minus_one<R: Real>(e: &V3<R>) -> R {
    let pair = e[0] + e[1] + e[0] * e[1];
    pair + e[2] + pair * e[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rest_covers_the_series() {
        // extreme J² − 1 under ‖G‖ ≤ NEAR_REST is at equal eigenvalues
        let e = NEAR_REST / 3f64.sqrt();
        let (largest, least) = ((1.0 + e).powi(3) - 1.0, (1.0 - e).powi(3) - 1.0);
        // of `Real::minus_ln_1p`
        assert!(largest < 0.448 && least > -0.309);
    }
}
