//! Neo-Hookean solids several at once, one deformation gradient per lane: the fast twin of `neo_hookean` and `strain`, where
//! the mathematics is explained.

use super::strain::NEAR_REST;
use standoff_linalg::lanes::{
    LaneMat3, LaneVec3, Lanes, Mask, Width, add, cross, dot, ln, scaled, x_minus_ln_1p,
};

/// Lamé's parameters in each lane, Pa.
#[derive(Clone, Copy)]
pub(crate) struct LaneLame<W: Width> {
    pub lambda: Lanes<W>,
    pub mu: Lanes<W>,
}

/// ψ(F), J/m³.
#[inline(always)]
pub(crate) fn neo_hookean_psi<W: Width>(width: W, m: &LaneLame<W>, f: &LaneMat3<W>) -> Lanes<W> {
    let of = |value: f64| Lanes::splat(width, value);
    let (zero, half, one) = (of(0.0), of(0.5), of(1.0));
    let [a, b, c] = f;
    // G = FᵀF − I
    let (g00, g11, g22) = (dot(a, a) - one, dot(b, b) - one, dot(c, c) - one);
    let (g10, g20, g21) = (dot(a, b), dot(a, c), dot(b, c));
    let trace = g00 + g11 + g22;
    let j = dot(a, &cross(b, c));
    let (s10, s20, s21) = (g10 * g10, g20 * g20, g21 * g21);
    let shear = s10 + s20 + s21;
    let size = g00 * g00 + g11 * g11 + g22 * g22 + (shear + shear);
    let far = of(NEAR_REST * NEAR_REST).lt(size);

    // each branch only where a lane needs it: it then selects what a single lane would have computed
    let (mut psi, mut scale) = (zero, half * m.mu);
    let mut ln_j = zero;
    if !far.all() {
        let i2 = g00 * g11 - s10 + (g11 * g22 - s21) + (g00 * g22 - s20);
        let i3 =
            g00 * (g11 * g22 - s21) - g10 * (g10 * g22 - g21 * g20) + g20 * (g10 * g21 - g11 * g20);
        let higher = i2 + i3;
        let q = trace + higher;
        let excess = x_minus_ln_1p(width, q);
        ln_j = half * (q - excess);
        psi = excess - higher;
    }
    if far.any() {
        ln_j = far.select(ln(width, j), ln_j);
        psi = far.select(half * trace - ln_j, psi);
        scale = far.select(m.mu, scale);
    }
    let psi = scale * psi + half * m.lambda * ln_j * ln_j;
    j.le(zero).select(of(f64::INFINITY), psi)
}

/// P = μ F + (λ ln J − μ) F⁻ᵀ, Pa.
#[inline(always)]
pub(crate) fn neo_hookean_pk1<W: Width>(width: W, m: &LaneLame<W>, f: &LaneMat3<W>) -> LaneMat3<W> {
    let [a, b, c] = f;
    // the cofactors ∂J/∂F
    let (bc, ca, ab) = (cross(b, c), cross(c, a), cross(a, b));
    let j = dot(a, &bc);
    let pressure = (m.lambda * ln(width, j) - m.mu) / j;
    [
        add(&scaled(a, m.mu), &scaled(&bc, pressure)),
        add(&scaled(b, m.mu), &scaled(&ca, pressure)),
        add(&scaled(c, m.mu), &scaled(&ab, pressure)),
    ]
}

/// [`PrincipalHessian`](super::PrincipalHessian) in each lane, not projected.
pub(crate) struct LanePrincipal<W: Width> {
    /// Lower triangle of the block of stretches: 00, 10, 20, 11, 21, 22.
    pub stretch: [Lanes<W>; 6],
    pub flip: LaneVec3<W>,
    pub twist: LaneVec3<W>,
    /// Where the block of stretches is positive semidefinite at first sight.
    pub definite: Mask<W>,
}

/// ∂²ψ/∂F² in the basis of singular vectors, Pa.
#[inline(always)]
pub(crate) fn neo_hookean_principal<W: Width>(
    width: W,
    m: &LaneLame<W>,
    sigma: &LaneVec3<W>,
) -> LanePrincipal<W> {
    let one = Lanes::splat(width, 1.0);
    let j = sigma[0] * sigma[1] * sigma[2];
    let c = m.lambda * ln(width, j) - m.mu;
    let w = [one / sigma[0], one / sigma[1], one / sigma[2]];
    let over_j = c / j;
    let plane = scaled(sigma, over_j);
    // λ w wᵀ, which is semidefinite, and μ − c w² on the diagonal
    let own = [m.mu - c * w[0] * w[0], m.mu - c * w[1] * w[1], m.mu - c * w[2] * w[2]];
    let v = scaled(&w, m.lambda);
    let stretch = [
        v[0] * w[0] + own[0],
        v[1] * w[0],
        v[2] * w[0],
        v[1] * w[1] + own[1],
        v[2] * w[1],
        v[2] * w[2] + own[2],
    ];
    let least = own[0].min(own[1]).min(own[2]);
    LanePrincipal {
        stretch,
        flip: [m.mu - plane[0], m.mu - plane[1], m.mu - plane[2]],
        twist: [m.mu + plane[0], m.mu + plane[1], m.mu + plane[2]],
        definite: Lanes::splat(width, 0.0).le(least),
    }
}
