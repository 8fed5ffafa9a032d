//! The Hessian of an isotropic energy density in the basis of singular vectors, where it is a 3×3
//! block (stretches) and six single eigenvalues (flips and twists), so that its projection onto
//! the positive semidefinite cone needs no 9×9 eigenvalues [Smith 2019, §4].

use standoff_linalg::{M3, Mat3, MatN, Real, Svd, V3, project_where};
use std::ops::Add;

/// ∂²ψ/∂F² at F = U Σ Vᵀ, as a quadratic form of W = Uᵀ dF V:
///
/// Σᵢⱼ `stretch`ᵢⱼ Wᵢᵢ Wⱼⱼ + Σₖ ½ [`flip`ₖ (Wᵢⱼ + Wⱼᵢ)² + `twist`ₖ (Wᵢⱼ − Wⱼᵢ)²],
///
/// where (i, j, k) is a permutation of the axes: entry k belongs to the plane of the other two.
/// Units: Pa.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrincipalHessian<R = f64> {
    /// ∂²ψ/∂σᵢ∂σⱼ.
    pub stretch: M3<R>,
    /// (ψᵢ − ψⱼ)/(σᵢ − σⱼ): eigenvalues of the symmetric (flip) modes.
    pub flip: V3<R>,
    /// (ψᵢ + ψⱼ)/(σᵢ + σⱼ): eigenvalues of the antisymmetric (twist) modes.
    pub twist: V3<R>,
}

impl<R: Real> PrincipalHessian<R> {
    /// `w` times the identity: the Hessian of w/2 |F|².
    #[inline(always)]
    pub(super) fn uniform(w: R) -> Self {
        let modes = V3::repeat(w);
        Self { stretch: M3::from_diagonal(&modes), flip: modes, twist: modes }
    }

    /// The Hessian of a function g of J alone: `dg` = g′(J), `ddg` = g″(J).
    #[inline(always)]
    pub(crate) fn of_volume(sigma: &V3<R>, dg: R, ddg: R) -> Self {
        // ∂J/∂σᵢ = σⱼσₖ, ∂²J/∂σᵢ∂σⱼ = σₖ
        let grad = V3([sigma[1] * sigma[2], sigma[0] * sigma[2], sigma[0] * sigma[1]]);
        let s = *sigma * dg;
        let mut stretch = grad.dyad(&grad) * ddg;
        for (i, j, k) in [(1, 0, 2), (2, 0, 1), (2, 1, 0)] {
            stretch[i][j] = stretch[i][j] + s[k];
            stretch[j][i] = stretch[i][j];
        }
        Self { stretch, flip: -s, twist: s }
    }

    /// The nearest positive semidefinite form where `wanted`: negative eigenvalues become 0.
    #[inline(always)]
    pub fn project_psd(&mut self, wanted: R::Mask) {
        let zero = self.flip[0].constant(0.0);
        for k in 0..3 {
            self.flip[k] = R::select(wanted, self.flip[k].max(zero), self.flip[k]);
            self.twist[k] = R::select(wanted, self.twist[k].max(zero), self.twist[k]);
        }
        let [a, b, c] = self.stretch.0;
        let mut stretch = [a.0, b.0, c.0];
        project_where(wanted, &mut stretch);
        let [a, b, c] = stretch;
        self.stretch = M3([V3(a), V3(b), V3(c)]);
    }

    /// `yes` where true, else `no`.
    #[inline(always)]
    pub(crate) fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        Self {
            stretch: M3::select(mask, &yes.stretch, &no.stretch),
            flip: V3::select(mask, &yes.flip, &no.flip),
            twist: V3::select(mask, &yes.twist, &no.twist),
        }
    }

    /// `factor` times the form, by the entries of W.
    #[inline(always)]
    pub(crate) fn form(&self, factor: R) -> Form<R> {
        Form {
            stretch: self.stretch * factor,
            same: (self.flip + self.twist) * factor.constant(0.5) * factor,
            cross: (self.flip - self.twist) * factor.constant(0.5) * factor,
        }
    }
}

/// [`PrincipalHessian`] by the entries of W: `stretch` as there, (flip + twist)/2 and (flip − twist)/2.
pub(crate) struct Form<R> {
    stretch: M3<R>,
    same: V3<R>,
    cross: V3<R>,
}

impl<R: Real> Form<R> {
    /// The 3×3 block between dF = U y aᵀVᵀ and dF = U z bᵀVᵀ: the form is yᵀ M z
    /// [Zheng 2025, Eq. 19]. `a` and `b` are in the basis of the right singular vectors, M is in
    /// that of the left ones.
    #[inline(always)]
    pub fn block(&self, a: &V3<R>, b: &V3<R>) -> M3<R> {
        let Self { stretch: s, same, cross } = self;
        let (ab0, ab1, ab2) = (a[0] * b[0], a[1] * b[1], a[2] * b[2]);
        M3([
            V3([
                s[0][0] * ab0 + same[2] * ab1 + same[1] * ab2,
                s[0][1] * a[1] * b[0] + cross[2] * a[0] * b[1],
                s[0][2] * a[2] * b[0] + cross[1] * a[0] * b[2],
            ]),
            V3([
                s[0][1] * a[0] * b[1] + cross[2] * a[1] * b[0],
                same[2] * ab0 + s[1][1] * ab1 + same[0] * ab2,
                s[1][2] * a[2] * b[1] + cross[0] * a[1] * b[2],
            ]),
            V3([
                s[0][2] * a[0] * b[2] + cross[1] * a[2] * b[0],
                s[1][2] * a[1] * b[2] + cross[0] * a[2] * b[1],
                same[1] * ab0 + same[0] * ab1 + s[2][2] * ab2,
            ]),
        ])
    }
}

impl PrincipalHessian {
    /// The 9×9 matrix ∂²ψ/∂F², entry (r, c) of F at index 3c + r.
    pub fn assemble(&self, svd: &Svd<f64>) -> MatN<9> {
        let (form, rows) = (self.form(1.0), svd.v.transpose());
        let mut h = MatN::<9>::zeros();
        for c in 0..3 {
            for d in c..3 {
                // dF = y e_cᵀ: its right factor in V's basis is row c of V
                let m = &(&svd.u * &form.block(&rows[c], &rows[d])) * &svd.u.transpose();
                let m = Mat3::from(m);
                h.fixed_view_mut::<3, 3>(3 * c, 3 * d).copy_from(&m);
                h.fixed_view_mut::<3, 3>(3 * d, 3 * c).copy_from(&m.transpose());
            }
        }
        h
    }
}

impl<R: Real> Add for PrincipalHessian<R> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            stretch: self.stretch + other.stretch,
            flip: self.flip + other.flip,
            twist: self.twist + other.twist,
        }
    }
}

/// Sum of two singular values from which on the twists of corotated laws grow no more.
const KINK: f64 = 1e-8;

/// `w`/(σᵢ + σⱼ) for the plane of each axis k: what a rotation R that follows F takes from (or,
/// negative, adds to) the twist modes. Where σᵢ + σⱼ → 0 the stress jumps; closer than [`KINK`] the derivative is that
/// at this distance, so that it stays finite.
#[inline(always)]
pub(super) fn corotated_twist<R: Real>(sigma: &V3<R>, w: R) -> V3<R> {
    let kink = w.constant(KINK);
    V3([
        w / (sigma[1] + sigma[2]).max(kink),
        w / (sigma[0] + sigma[2]).max(kink),
        w / (sigma[0] + sigma[1]).max(kink),
    ])
}
