//! The Hessian of an isotropic energy density from its derivatives by the logarithms of the principal stretches.

use super::principal::PrincipalHessian;
use standoff_linalg::{M3, Real, V3};

/// The other two axes of each plane.
pub(super) const PLANES: [[usize; 2]; 3] = [[1, 2], [0, 2], [0, 1]];

/// ∂²ψ/∂F² from gᵢ = ∂ψ/∂eᵢ, ∂gᵢ/∂eⱼ and the quotients (gᵢ − gⱼ)/(σᵢ − σⱼ) of each plane, where eᵢ = ln σᵢ: ψᵢ = gᵢ/σᵢ.
#[inline(always)]
pub(super) fn from_logarithms<R: Real>(
    sigma: &V3<R>,
    g: &V3<R>,
    slopes: &M3<R>,
    quotients: &V3<R>,
) -> PrincipalHessian<R> {
    let w = V3([sigma[0].recip(), sigma[1].recip(), sigma[2].recip()]);
    let mut stretch = *slopes;
    for i in 0..3 {
        stretch[i][i] = stretch[i][i] - g[i];
        for j in 0..3 {
            stretch[i][j] = stretch[i][j] * w[i] * w[j];
        }
    }
    let (mut flip, mut twist) = (*g, *g);
    for k in 0..3 {
        let [i, j] = PLANES[k];
        let (sum, both) = (sigma[i] + sigma[j], w[i] * w[j]);
        flip[k] = (quotients[k] * sum - (g[i] + g[j])) * 0.5 * both;
        twist[k] = (g[i] * sigma[j] + g[j] * sigma[i]) * both / sum;
    }
    PrincipalHessian { stretch, flip, twist }
}
