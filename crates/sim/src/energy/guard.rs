//! The barrier against inversion at the end of a step, of elements whose energy is evaluated between its start and its end:
//! Ψ = Σ V b(J) with the barrier b of invertible laws (`material/inversion.rs`).
//!
//! Elements are linear, F = F₀ + Σ xₐ ∇Nₐᵀ with the gradients of the shape functions at rest. F₀ is zero for tetrahedra; under plane
//! strain it is the identity across the plane.

use super::element::{Element, Hessian};
use super::term::Role;
use crate::material::inversion::{VOLUME_RATIO, barrier};
use crate::material::{Lame, PrincipalHessian};
use standoff_linalg::{M3, Mat3, Svd, V3, Vec3, svd3};

/// One element.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard<const N: usize> {
    /// ∇Nₐ of the corners, 1/m.
    pub shape: [Vec3; N],
    /// F₀.
    pub across: Mat3,
    /// Rest volume, m³; 0 for an element that is not guarded.
    pub volume: f64,
    /// Lamé's parameters of the material.
    pub lame: Lame,
}

impl<const N: usize> Guard<N> {
    /// F and, where the barrier acts, its derivatives by J.
    fn acting(&self, x: &[Vec3; N]) -> (Mat3, Option<[f64; 3]>) {
        let map = x.iter().zip(&self.shape).map(|(x, g)| x * g.transpose());
        let f = self.across + map.sum::<Mat3>();
        let j = f.determinant();
        let acts = self.volume > 0.0 && j < VOLUME_RATIO;
        (f, acts.then(|| barrier(&self.lame, j)))
    }

    fn second_derivative(&self, x: &[Vec3; N], project: bool) -> Hessian<N> {
        let mut h = [[Mat3::zeros(); N]; N];
        let (f, Some([_, d, dd])) = self.acting(x) else { return h };
        let svd = Svd::from(&svd3(&f));
        let mut form = PrincipalHessian::of_volume(&svd.sigma, d, dd);
        form.project_psd(project);
        let form = form.form(self.volume);
        let vt = svd.v.transpose();
        let g = self.shape.map(|g| &vt * &V3::from(&g));
        for a in 0..N {
            for b in 0..N {
                h[a][b] = (&(&svd.u * &form.block(&g[a], &g[b])) * &svd.u.transpose()).into();
            }
        }
        h
    }
}

impl<const N: usize> Element<N> for Guard<N> {
    const NAME: &'static str = "inversion barrier";
    const ROLE: Role = Role::Constraint;
    const KEY: Option<&'static str> = Some("material.young_modulus");
    const TRANSLATION_INVARIANT: bool = true;

    fn value(&self, x: &[Vec3; N]) -> f64 {
        self.acting(x).1.map_or(0.0, |[b, ..]| self.volume * b)
    }

    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N] {
        let (f, Some([_, d, _])) = self.acting(x) else { return [Vec3::zeros(); N] };
        // ∂J/∂F is the matrix of cofactors
        let stress = Mat3::from(M3::from(&f).cofactor()) * (d * self.volume);
        self.shape.map(|g| stress * g)
    }

    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, true)
    }

    fn hessian(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.second_derivative(x, false)
    }

    /// Nothing: it is a limit and nothing else.
    fn without_limits(&self) -> Option<Self> {
        Some(Self { volume: 0.0, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::Elements;
    use crate::energy::plane_strain::PlaneStrain;
    use crate::energy::tet::ElasticTets;
    use crate::material::{Law, Material};
    use standoff_testkit::Random;

    const MATERIAL: Material =
        Material { law: Law::FixedCorotated, young_modulus: 1e3, poisson_ratio: 0.3 };

    /// An element of about unit size, squeezed along y to a J of about `j`.
    fn squeezed<const N: usize>(planar: bool, j: f64, seed: u64) -> ([Vec3; N], [Vec3; N]) {
        let r = &mut Random::new(seed);
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let kept = Vec3::new(1.0, 1.0, if planar { 0.0 } else { 1.0 });
        let rest: [Vec3; N] =
            std::array::from_fn(|a| (corners[a] + 0.1 * r.vec3()).component_mul(&kept));
        let (sin, cos) = 0.7_f64.sin_cos();
        let x = rest.map(|p| {
            let q = Vec3::new(1.1 * p.x + 0.2 * p.y, j * p.y, p.z);
            Vec3::new(cos * q.x - sin * q.y, sin * q.x + cos * q.y, q.z)
        });
        (rest, x)
    }

    /// Derivatives by differences, and with the law itself as a twin: what its own barrier adds to it.
    fn check<const N: usize, E: Element<N>>(
        guard: &Guard<N>,
        x: &[Vec3; N],
        planar: bool,
        [with, without]: [&E; 2],
    ) {
        let value = guard.value(x);
        assert!(value > 0.0);
        let own = with.value(x) - without.value(x);
        assert!((own - value).abs() < 1e-9 * with.value(x), "{own} {value}");
        let (gradient, h) = (guard.gradient(x), guard.hessian(x));
        let size = gradient.iter().map(|g| g.norm()).fold(0.0, f64::max);
        let stiff = h.iter().flatten().map(|b| b.norm()).fold(0.0, f64::max);
        for a in 0..N {
            for i in 0..if planar { 2 } else { 3 } {
                let eps = 1e-7;
                let at = |s: f64| {
                    let mut y = *x;
                    y[a][i] += s * eps;
                    y
                };
                let slope = (guard.value(&at(1.0)) - guard.value(&at(-1.0))) / (2.0 * eps);
                assert!((slope - gradient[a][i]).abs() < 1e-6 * size, "{slope} {gradient:?}");
                let (high, low) = (guard.gradient(&at(1.0)), guard.gradient(&at(-1.0)));
                for b in 0..N {
                    let column = (high[b] - low[b]) / (2.0 * eps);
                    let given = h[b][a].column(i);
                    assert!((column - given).norm() < 1e-6 * stiff, "{a} {b} {i}");
                }
            }
        }
        let psd = guard.hessian_psd(x);
        let r = &mut Random::new(5);
        for _ in 0..20 {
            let p: [Vec3; N] = std::array::from_fn(|_| r.vec3());
            let form = |h: &Hessian<N>| -> f64 {
                let pairs = (0..N).flat_map(|a| (0..N).map(move |b| (a, b)));
                pairs.map(|(a, b)| p[a].dot(&(h[a][b] * p[b]))).sum()
            };
            let least = form(&h).max(0.0) * (1.0 - 1e-9) - 1e-12 * stiff;
            assert!(form(&psd) >= least, "{} {}", form(&psd), form(&h));
        }
    }

    #[test]
    fn it_is_what_the_law_with_a_barrier_has_beyond_the_law() {
        for (k, j) in [0.09, 0.05, 0.01].into_iter().enumerate() {
            let (rest, x) = squeezed::<4>(false, j, k as u64);
            let tets = ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[MATERIAL]).unwrap();
            let (with, guard) = (tets.elements[0].clone(), tets.elements[0].guard());
            let without = tets.without_inversion_barrier().elements[0].clone();
            check(&guard, &x, false, [&with, &without]);
            let (rest, x) = squeezed::<3>(true, j, k as u64);
            let [with, without] =
                [true, false].map(|g| PlaneStrain::new(&rest, &MATERIAL, g).unwrap());
            check(&with.guard(), &x, true, [&with, &without]);
        }
    }

    #[test]
    fn it_acts_below_its_range_alone_and_never_lets_an_element_invert() {
        let (rest, x) = squeezed::<4>(false, 0.2, 1);
        let tets = ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[MATERIAL]).unwrap();
        let guard = tets.elements[0].guard();
        assert_eq!((guard.value(&x), guard.gradient(&x)), (0.0, [Vec3::zeros(); 4]));
        let (_, flat) = squeezed::<4>(false, -0.01, 1);
        assert_eq!(guard.value(&flat), f64::INFINITY);
        // not where inversion is allowed, or the barrier is not wanted
        for tets in [tets.clone().invertible(), tets.without_inversion_barrier()] {
            let list: Elements<Guard<4>, 4> = tets.with(vec![tets.elements[0].guard()]);
            assert_eq!(list.elements[0].value(&flat), 0.0);
        }
    }
}
