//! Energy, forces and Hessian of tetrahedra.

use super::Tet;
use crate::energy::formula::{Formula, Source, of_relative};
use crate::material::rubber::Numbers;
use crate::material::{Kind, Lame, Law, PrincipalHessian, inversion};
use standoff_linalg::{M3, Real, V3, svd};

/// An element of which the law of the material may differ from that of its neighbours.
pub(in crate::energy) trait HasLaw {
    /// The law.
    fn law(&self) -> &Law;
    /// Whether the law has a barrier against inversion that it has not by itself.
    fn is_guarded(&self) -> bool;
}

impl HasLaw for Tet {
    #[inline(always)]
    fn law(&self) -> &Law {
        &self.law
    }
    #[inline(always)]
    fn is_guarded(&self) -> bool {
        self.guarded && !self.law.has_barrier()
    }
}

/// The constants of laws of rubber.
#[inline(always)]
fn numbers<E: HasLaw, S: Source<E>>(of: S) -> Numbers<S::R> {
    let mut out = [of.number(|t| t.law().number(0)); _];
    for k in 1..out.len() {
        out[k] = of.number(|t| t.law().number(k));
    }
    out
}

/// A bit for the law, and one where it is guarded.
#[inline(always)]
fn laws<E: HasLaw>(of: &E) -> u32 {
    1 << of.law().kind() as u32 | u32::from(of.is_guarded()) << GUARDED
}

/// The bit of [`laws`] beside those of the laws.
const GUARDED: u32 = 31;

/// What the expression gives for each element's law, where laws differ from lane to lane.
macro_rules! by_law {
    ($of:expr, $select:path, $kind:ident => $value:expr) => {{
        let present = $of.union(laws::<E>);
        let mut all = None;
        for $kind in Kind::ALL {
            if present & 1 << $kind as u32 != 0 {
                let value = $value;
                all = match &all {
                    None => Some(value),
                    Some(others) => {
                        let mask = $of.mask(|t| t.law().kind() == $kind);
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
pub(in crate::energy) fn psi<E: HasLaw, S: Source<E>>(
    of: S,
    lame: &Lame<S::R>,
    f: &M3<S::R>,
) -> S::R {
    let select = |mask, a: &S::R, b: &S::R| S::R::select(mask, *a, *b);
    match by_law!(of, select, kind => kind.psi(lame, || numbers(of), f)) {
        (psi, false) => psi,
        (psi, true) => inversion::add_to_psi(psi, of.mask(E::is_guarded), lame, f),
    }
}

/// ∂ψ/∂F, Pa.
#[inline(always)]
pub(in crate::energy) fn pk1<E: HasLaw, S: Source<E>>(
    of: S,
    lame: &Lame<S::R>,
    f: &M3<S::R>,
) -> M3<S::R> {
    match by_law!(of, M3::select, kind => kind.pk1(lame, || numbers(of), f)) {
        (p, false) => p,
        (p, true) => inversion::add_to_pk1(p, of.mask(E::is_guarded), lame, f),
    }
}

/// ∂²ψ/∂F² at signed singular values of F, not projected.
#[inline(always)]
pub(in crate::energy) fn principal_hessian<E: HasLaw, S: Source<E>>(
    of: S,
    lame: &Lame<S::R>,
    sigma: &V3<S::R>,
) -> PrincipalHessian<S::R> {
    match by_law!(of, PrincipalHessian::select, kind => kind.hessian(lame, || numbers(of), sigma)) {
        (h, false) => h,
        (h, true) => inversion::add_to_hessian(h, of.mask(E::is_guarded), lame, sigma),
    }
}

/// The blocks of ∂²(V ψ)/∂y², where F = Σ yⱼ rⱼᵀ with the rows rⱼ of `inverse`: on and above the diagonal, row by row. ∂²ψ/∂F² is the
/// nearest positive semidefinite one where `project` [Smith 2019], carried to the yⱼ [Zheng 2025, Eq. 19].
#[inline(always)]
pub(in crate::energy) fn curvature_by_edges<E: HasLaw, S: Source<E>>(
    of: S,
    lame: &Lame<S::R>,
    f: &M3<S::R>,
    inverse: &M3<S::R>,
    volume: S::R,
    project: <S::R as Real>::Mask,
) -> [M3<S::R>; 6] {
    let svd = svd(f);
    let mut form = principal_hessian(of, lame, &svd.sigma);
    form.project_psd(project);
    let form = form.form(volume);
    // the rows in the basis of the right singular vectors
    let vt = svd.v.transpose();
    let [r0, r1, r2] = inverse.transpose().0;
    let (r0, r1, r2) = (&vt * &r0, &vt * &r1, &vt * &r2);
    let (u, ut) = (&svd.u, &svd.u.transpose());
    let h00 = &(u * &form.block(&r0, &r0)) * ut;
    let h11 = &(u * &form.block(&r1, &r1)) * ut;
    let h22 = &(u * &form.block(&r2, &r2)) * ut;
    let h01 = &(u * &form.block(&r0, &r1)) * ut;
    let h02 = &(u * &form.block(&r0, &r2)) * ut;
    let h12 = &(u * &form.block(&r1, &r2)) * ut;
    [h00, h01, h02, h11, h12, h22]
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

    #[inline(always)]
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; 4],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; 6] {
        let t = Parameters::new(of);
        let f = t.deformation_gradient(x);
        let [h11, h12, h13, h22, h23, h33] =
            curvature_by_edges(of, &t.lame, &f, &t.inv_dm, t.volume, project);
        of_relative([h11, h22, h33], [h12, h13, h23])
    }
}
