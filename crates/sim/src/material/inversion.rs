//! The barrier that keeps elements of invertible laws from inverting.
//!
//! Fixed corotated, stable neo-Hookean, corotated linear and St. Venant–Kirchhoff solids have finite
//! energy at J ≤ 0, so that nothing in the law stops an element from turning inside out. Standoff
//! guarantees that none does, hence these laws are given a barrier that acts only at compressions
//! below J = Ĵ,
//!
//! w(J) = −κ (J − Ĵ)² ln(J/Ĵ) for 0 < J < Ĵ, 0 above, +∞ below,
//!
//! twice continuously differentiable like the contact barrier [Li 2020, Eq. 6], with κ = λ + 2μ, the
//! law's own modulus of compression. Above Ĵ the law is exactly what its name says.

use super::principal::PrincipalHessian;
use super::{Lame, Law};
use standoff_linalg::{M3, Mask, Mat3, Real, V3, Vec3};

/// Ĵ: the volume ratio below which the barrier acts.
pub const VOLUME_RATIO: f64 = 0.1;

/// [w, w′, w″] at J, Pa; zero for J ≥ Ĵ, w infinite and the derivatives NaN for J ≤ 0.
#[inline(always)]
pub(crate) fn barrier<R: Real>(m: &Lame<R>, j: R) -> [R; 3] {
    let kappa = m.lambda + m.mu * 2.0;
    let (gap, ln) = (j - VOLUME_RATIO, (j * (1.0 / VOLUME_RATIO)).ln());
    let (ratio, twice) = (gap / j, ln * 2.0);
    let w = [
        -(kappa * gap * gap * ln),
        -(kappa * gap * (twice + ratio)),
        -(kappa * (twice + ratio * 4.0 - ratio * ratio)),
    ];
    let zero = j.constant(0.0);
    let (inside, crushed) = (j.lt(zero + VOLUME_RATIO), j.le(zero));
    let nan = zero.constant(f64::NAN);
    let mut out = [zero; 3];
    for (k, beyond) in [zero.constant(f64::INFINITY), nan, nan].into_iter().enumerate() {
        out[k] = R::select(crushed, beyond, R::select(inside, w[k], zero));
    }
    out
}

/// Whether the barrier acts anywhere.
#[inline(always)]
fn acts<R: Real>(guarded: R::Mask, j: R) -> bool {
    (guarded & j.lt(j.constant(VOLUME_RATIO))).any()
}

/// ψ with the barrier where `guarded`.
#[inline(always)]
pub(crate) fn add_to_psi<R: Real>(psi: R, guarded: R::Mask, m: &Lame<R>, f: &M3<R>) -> R {
    let j = f.determinant();
    match acts(guarded, j) {
        true => R::select(guarded, psi + barrier(m, j)[0], psi),
        false => psi,
    }
}

/// ∂ψ/∂F with that of the barrier where `guarded`.
#[inline(always)]
pub(crate) fn add_to_pk1<R: Real>(p: M3<R>, guarded: R::Mask, m: &Lame<R>, f: &M3<R>) -> M3<R> {
    let j = f.determinant();
    match acts(guarded, j) {
        true => {
            let here = guarded & j.lt(j.constant(VOLUME_RATIO));
            M3::select(here, &(p + f.cofactor() * barrier(m, j)[1]), &p)
        }
        false => p,
    }
}

/// The second derivative with that of the barrier where `guarded`.
#[inline(always)]
pub(crate) fn add_to_hessian<R: Real>(
    h: PrincipalHessian<R>,
    guarded: R::Mask,
    m: &Lame<R>,
    sigma: &V3<R>,
) -> PrincipalHessian<R> {
    let j = sigma.product();
    match acts(guarded, j) {
        true => {
            let here = guarded & j.lt(j.constant(VOLUME_RATIO));
            let [_, d, dd] = barrier(m, j);
            PrincipalHessian::select(here, &(h + PrincipalHessian::of_volume(sigma, d, dd)), &h)
        }
        false => h,
    }
}

impl Law {
    /// ψ(F) of the law with the barrier against inversion, J/m³; +∞ at J ≤ 0 for every law.
    #[inline]
    pub fn guarded_psi(&self, m: &Lame, f: &Mat3) -> f64 {
        add_to_psi(self.psi(m, f), !self.has_barrier(), m, &f.into())
    }

    /// ∂/∂F of [`Law::guarded_psi`], Pa.
    #[inline]
    pub fn guarded_pk1(&self, m: &Lame, f: &Mat3) -> Mat3 {
        add_to_pk1(M3::from(&self.pk1(m, f)), !self.has_barrier(), m, &f.into()).into()
    }

    /// The second derivative of [`Law::guarded_psi`], not projected.
    pub fn guarded_hessian(&self, m: &Lame, sigma: &Vec3) -> PrincipalHessian {
        let h = self.principal_hessian(m, sigma);
        add_to_hessian(h, !self.has_barrier(), m, &sigma.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::svd3;

    const LAME: Lame = Lame { lambda: 3.0, mu: 2.0 };

    fn squeezed(j: f64) -> Mat3 {
        let shear = Mat3::new(0.9, 0.2, -0.1, 0.05, 1.1, 0.3, -0.2, 0.1, 0.8);
        shear * (j / shear.determinant()).cbrt()
    }

    #[test]
    fn derivatives_match_differences() {
        for law in Law::ALL {
            for j in [0.09, 0.05, 1e-2, 1e-3] {
                let f = squeezed(j);
                let p = law.guarded_pk1(&LAME, &f);
                let h = law.guarded_hessian(&LAME, &svd3(&f).sigma).assemble(&(&svd3(&f)).into());
                let eps = 1e-4 * j;
                for i in 0..9 {
                    let at = |s: f64| {
                        let mut g = f;
                        g[i] += s * eps;
                        g
                    };
                    let psi = |s: f64| law.guarded_psi(&LAME, &at(s));
                    let pk1 = |s: f64| law.guarded_pk1(&LAME, &at(s));
                    let slope =
                        (psi(-2.0) - 8.0 * psi(-1.0) + 8.0 * psi(1.0) - psi(2.0)) / (12.0 * eps);
                    assert!((slope - p[i]).abs() < 1e-6 * p.norm(), "{law:?} J = {j}");
                    let column =
                        (pk1(-2.0) - pk1(-1.0) * 8.0 + pk1(1.0) * 8.0 - pk1(2.0)) / (12.0 * eps);
                    for k in 0..9 {
                        assert!((column[k] - h[(k, i)]).abs() < 1e-6 * h.norm(), "{law:?} J = {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_barrier_is_twice_continuous_and_diverges() {
        let [w, d, dd] = barrier(&LAME, VOLUME_RATIO * (1.0 - 1e-9));
        assert!(w.abs() < 1e-20 && d.abs() < 1e-8 && dd.abs() < 1e-6, "{w} {d} {dd}");
        assert_eq!(barrier(&LAME, VOLUME_RATIO), [0.0; 3]);
        assert!(barrier(&LAME, 1e-300)[0] > 1.0);
        assert_eq!(barrier(&LAME, 0.0)[0], f64::INFINITY);
        for law in Law::ALL {
            let f = squeezed(0.3);
            assert_eq!(law.guarded_psi(&LAME, &f), law.psi(&LAME, &f));
            assert_eq!(law.guarded_psi(&LAME, &(f - f)), f64::INFINITY, "{law:?}");
        }
    }
}
