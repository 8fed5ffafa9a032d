//! The Hessian of an isotropic energy density in the basis of singular vectors, where it is a 3×3
//! block (stretches) and six single eigenvalues (flips and twists), so that its projection onto
//! the positive semidefinite cone needs no 9×9 eigenvalues [Smith 2019, §4].

use standoff_linalg::{Mat3, MatN, Svd3, Vec3, project_psd};
use std::ops::Add;

/// ∂²ψ/∂F² at F = U Σ Vᵀ, as a quadratic form of W = Uᵀ dF V:
///
/// Σᵢⱼ `stretch`ᵢⱼ Wᵢᵢ Wⱼⱼ + Σₖ ½ [`flip`ₖ (Wᵢⱼ + Wⱼᵢ)² + `twist`ₖ (Wᵢⱼ − Wⱼᵢ)²],
///
/// where (i, j, k) is a permutation of the axes: entry k belongs to the plane of the other two.
/// Units: Pa.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrincipalHessian {
    /// ∂²ψ/∂σᵢ∂σⱼ.
    pub stretch: Mat3,
    /// (ψᵢ − ψⱼ)/(σᵢ − σⱼ): eigenvalues of the symmetric (flip) modes.
    pub flip: Vec3,
    /// (ψᵢ + ψⱼ)/(σᵢ + σⱼ): eigenvalues of the antisymmetric (twist) modes.
    pub twist: Vec3,
}

impl PrincipalHessian {
    /// `w` times the identity: the Hessian of w/2 |F|².
    #[inline]
    pub(super) fn uniform(w: f64) -> Self {
        let modes = Vec3::repeat(w);
        Self { stretch: Mat3::from_diagonal_element(w), flip: modes, twist: modes }
    }

    /// The Hessian of a function g of J alone: `dg` = g′(J), `ddg` = g″(J).
    #[inline]
    pub(super) fn of_volume(sigma: &Vec3, dg: f64, ddg: f64) -> Self {
        // ∂J/∂σᵢ = σⱼσₖ, ∂²J/∂σᵢ∂σⱼ = σₖ
        let grad = Vec3::new(sigma[1] * sigma[2], sigma[0] * sigma[2], sigma[0] * sigma[1]);
        let s = sigma * dg;
        Self {
            stretch: grad * grad.transpose() * ddg
                + Mat3::new(0.0, s[2], s[1], s[2], 0.0, s[0], s[1], s[0], 0.0),
            flip: -s,
            twist: s,
        }
    }

    /// The nearest positive semidefinite form: negative eigenvalues become 0.
    #[inline]
    pub fn project_psd(&mut self) {
        self.stretch = project_psd(&self.stretch);
        self.flip = self.flip.map(|w| w.max(0.0));
        self.twist = self.twist.map(|w| w.max(0.0));
    }

    /// The 3×3 block between dF = U y aᵀVᵀ and dF = U z bᵀVᵀ: the form is yᵀ M z
    /// [Zheng 2025, Eq. 19]. `a` and `b` are in the basis of the right singular vectors, M is in
    /// that of the left ones.
    #[inline]
    pub fn block(&self, a: &Vec3, b: &Vec3) -> Mat3 {
        let same = (self.flip + self.twist) * 0.5;
        let cross = (self.flip - self.twist) * 0.5;
        let ab = a.component_mul(b);
        let s = &self.stretch;
        let off = |i: usize, j: usize, k: usize| s[(i, j)] * a[i] * b[j] + cross[k] * a[j] * b[i];
        Mat3::new(
            s[(0, 0)] * ab[0] + same[2] * ab[1] + same[1] * ab[2],
            off(0, 1, 2),
            off(0, 2, 1),
            off(1, 0, 2),
            same[2] * ab[0] + s[(1, 1)] * ab[1] + same[0] * ab[2],
            off(1, 2, 0),
            off(2, 0, 1),
            off(2, 1, 0),
            same[1] * ab[0] + same[0] * ab[1] + s[(2, 2)] * ab[2],
        )
    }

    /// The 9×9 matrix ∂²ψ/∂F², entry (r, c) of F at index 3c + r.
    pub fn assemble(&self, svd: &Svd3) -> MatN<9> {
        let mut h = MatN::<9>::zeros();
        for c in 0..3 {
            for d in c..3 {
                // dF = y e_cᵀ: its right factor in V's basis is row c of V
                let m = self.block(&svd.v.row(c).transpose(), &svd.v.row(d).transpose());
                let m = svd.u * m * svd.u.transpose();
                h.fixed_view_mut::<3, 3>(3 * c, 3 * d).copy_from(&m);
                h.fixed_view_mut::<3, 3>(3 * d, 3 * c).copy_from(&m.transpose());
            }
        }
        h
    }
}

impl Add for PrincipalHessian {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            stretch: self.stretch + other.stretch,
            flip: self.flip + other.flip,
            twist: self.twist + other.twist,
        }
    }
}

/// U diag(`principal`) Vᵀ: the stress whose values along the singular vectors are ∂ψ/∂σᵢ.
#[inline]
pub(super) fn stress(svd: &Svd3, principal: &Vec3) -> Mat3 {
    Svd3 { sigma: *principal, ..*svd }.reconstruct()
}

/// Sum of two singular values from which on the twists of corotated laws grow no more.
const KINK: f64 = 1e-8;

/// `w`/(σᵢ + σⱼ) for the plane of each axis k: what a rotation R that follows F takes from (or,
/// negative, adds to) the twist modes. Where σᵢ + σⱼ → 0 the stress jumps; closer than [`KINK`] the derivative is that
/// at this distance, so that it stays finite.
#[inline]
pub(super) fn corotated_twist(sigma: &Vec3, w: f64) -> Vec3 {
    let over = |sum: f64| w / sum.max(KINK);
    Vec3::new(over(sigma[1] + sigma[2]), over(sigma[0] + sigma[2]), over(sigma[0] + sigma[1]))
}
