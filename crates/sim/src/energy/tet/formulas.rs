//! Energy, forces and Hessian of tetrahedra.

use super::Tet;
use crate::energy::formula::{Formula, Source, of_relative};
use crate::material::{Lame, Law, PrincipalHessian, inversion};
use standoff_linalg::{M3, Real, V3, svd};

impl Tet {
    /// A bit for the law, and one where the law has a barrier against inversion that it has not by itself.
    #[inline(always)]
    fn laws(&self) -> u32 {
        1 << self.law as u32 | u32::from(self.is_guarded()) << GUARDED
    }

    #[inline(always)]
    fn is_guarded(&self) -> bool {
        self.guarded && !self.law.has_barrier()
    }
}

/// The bit of [`Tet::laws`] beside those of the laws.
const GUARDED: u32 = 31;

/// What the expression gives for each element's law, where laws differ from lane to lane.
macro_rules! by_law {
    ($of:expr, $select:path, $law:ident => $value:expr) => {{
        let present = $of.union(Tet::laws);
        let mut all = None;
        for $law in Law::ALL {
            if present & 1 << $law as u32 != 0 {
                let value = $value;
                all = match &all {
                    None => Some(value),
                    Some(others) => {
                        let mask = $of.mask(|t| t.law == $law);
                        Some($select(mask, &value, others))
                    }
                };
            }
        }
        match all {
            Some(all) => (all, present >> GUARDED != 0),
            None => unreachable!("every element has a law"),
        }
    }};
}

/// ψ(F), J/m³.
#[inline(always)]
pub(super) fn psi<S: Source<Tet>>(of: S, lame: &Lame<S::R>, f: &M3<S::R>) -> S::R {
    let select = |mask, a: &S::R, b: &S::R| S::R::select(mask, *a, *b);
    match by_law!(of, select, law => law.psi_of(lame, f)) {
        (psi, false) => psi,
        (psi, true) => inversion::add_to_psi(psi, of.mask(Tet::is_guarded), lame, f),
    }
}

/// ∂ψ/∂F, Pa.
#[inline(always)]
pub(super) fn pk1<S: Source<Tet>>(of: S, lame: &Lame<S::R>, f: &M3<S::R>) -> M3<S::R> {
    match by_law!(of, M3::select, law => law.pk1_of(lame, f)) {
        (p, false) => p,
        (p, true) => inversion::add_to_pk1(p, of.mask(Tet::is_guarded), lame, f),
    }
}

/// ∂²ψ/∂F² at signed singular values of F, not projected.
#[inline(always)]
pub(super) fn principal_hessian<S: Source<Tet>>(
    of: S,
    lame: &Lame<S::R>,
    sigma: &V3<S::R>,
) -> PrincipalHessian<S::R> {
    match by_law!(of, PrincipalHessian::select, law => law.hessian_of(lame, sigma)) {
        (h, false) => h,
        (h, true) => inversion::add_to_hessian(h, of.mask(Tet::is_guarded), lame, sigma),
    }
}

/// What a formula needs of an element.
struct Parameters<R> {
    inv_dm: M3<R>,
    volume: R,
    lame: Lame<R>,
}

impl<R: Real> Parameters<R> {
    #[inline(always)]
    fn new<S: Source<Tet, R = R>>(of: S) -> Self {
        let volume = of.number(|t| t.volume);
        let mut inv_dm = M3([V3::repeat(volume); 3]);
        for c in 0..3 {
            for r in 0..3 {
                inv_dm[c][r] = of.number(|t| t.inv_dm[(r, c)]);
            }
        }
        let lame = Lame { lambda: of.number(|t| t.lame.lambda), mu: of.number(|t| t.lame.mu) };
        Self { inv_dm, volume, lame }
    }

    /// F.
    #[inline(always)]
    fn deformation_gradient(&self, x: &[V3<R>; 4]) -> M3<R> {
        &edges(x) * &self.inv_dm
    }
}

/// x₁−x₀, x₂−x₀, x₃−x₀.
#[inline(always)]
pub(super) fn edges<R: Real>(x: &[V3<R>; 4]) -> M3<R> {
    M3([x[1] - x[0], x[2] - x[0], x[3] - x[0]])
}

impl Formula<4, 6> for Tet {
    /// V ψ(F).
    #[inline(always)]
    fn energy<S: Source<Self>>(of: S, x: &[V3<S::R>; 4]) -> S::R {
        let t = Parameters::new(of);
        t.volume * psi(of, &t.lame, &t.deformation_gradient(x))
    }

    /// V P ∇Nₐ.
    #[inline(always)]
    fn slope<S: Source<Self>>(of: S, x: &[V3<S::R>; 4]) -> [V3<S::R>; 4] {
        let t = Parameters::new(of);
        let p = pk1(of, &t.lame, &t.deformation_gradient(x)) * t.volume;
        let [g1, g2, g3] = (&p * &t.inv_dm.transpose()).0;
        [-(g1 + g2 + g3), g1, g2, g3]
    }

    /// The nearest positive semidefinite ∂²ψ/∂F² [Smith 2019], carried to the corners [Zheng 2025, Eq. 19].
    #[inline(always)]
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; 4],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; 6] {
        let t = Parameters::new(of);
        let svd = svd(&t.deformation_gradient(x));
        let mut form = principal_hessian(of, &t.lame, &svd.sigma);
        form.project_psd(project);
        let form = form.form(t.volume);
        // shape gradients, the rows of Dₘ⁻¹, in the basis of the right singular vectors
        let vt = svd.v.transpose();
        let [g0, g1, g2] = t.inv_dm.transpose().0;
        let (g0, g1, g2) = (&vt * &g0, &vt * &g1, &vt * &g2);
        let (u, ut) = (&svd.u, &svd.u.transpose());
        let h11 = &(u * &form.block(&g0, &g0)) * ut;
        let h22 = &(u * &form.block(&g1, &g1)) * ut;
        let h33 = &(u * &form.block(&g2, &g2)) * ut;
        let h12 = &(u * &form.block(&g0, &g1)) * ut;
        let h13 = &(u * &form.block(&g0, &g2)) * ut;
        let h23 = &(u * &form.block(&g1, &g2)) * ut;
        of_relative([h11, h22, h33], [h12, h13, h23])
    }
}
