//! The local step of ADMM: the deformation gradient at which the energy of one tetrahedron and the distance from a given
//! one are least together [Overby 2017].

use super::Tet;
use crate::material::PrincipalHessian;
use standoff_linalg::{Mat3, Vec3, project_psd, svd3};

/// Stretch at which the search begins at least, for energies that are infinite where J ≤ 0.
const LEAST_STRETCH: f64 = 0.1;
/// Newton steps of the stretches below this are the last ones: what is left is of second order.
const STEP: f64 = 1e-9;
/// Newton steps at most; where the energy is smooth four to six do.
const PROXIMAL_STEPS: usize = 50;
/// Halvings of a Newton step at most.
const PROXIMAL_HALVINGS: usize = 40;
/// Part of the decrease that the slope promises that a step has to bring.
const DECREASE: f64 = 1e-4;

/// Stretches d along fixed axes, of any sign and order, as singular values: σ descending with only the last of any
/// sign, where σₚ = signₚ d[orderₚ].
struct Sorted {
    sigma: Vec3,
    order: [usize; 3],
    sign: [f64; 3],
}

impl Sorted {
    fn new(d: &Vec3) -> Self {
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| d[b].abs().total_cmp(&d[a].abs()));
        let own = order.map(|i| if d[i] < 0.0 { -1.0 } else { 1.0 });
        // two signs may be flipped at once: both singular bases stay rotations
        let sign = [own[0], own[1], own[0] * own[1]];
        let sigma = Vec3::from_fn(|p, _| sign[p] * d[order[p]]);
        Self { sigma, order, sign }
    }

    /// A derivative by σ as one by d.
    fn gradient(&self, by_sigma: &Vec3) -> Vec3 {
        let mut g = Vec3::zeros();
        for p in 0..3 {
            g[self.order[p]] = self.sign[p] * by_sigma[p];
        }
        g
    }

    /// Second derivatives by σ as those by d.
    fn hessian(&self, by_sigma: &Mat3) -> Mat3 {
        let mut h = Mat3::zeros();
        for p in 0..3 {
            for q in 0..3 {
                h[(self.order[p], self.order[q])] = self.sign[p] * self.sign[q] * by_sigma[(p, q)];
            }
        }
        h
    }
}

impl Tet {
    /// A local minimum of ψ(Z) + k/2 ‖Z − F‖² near F, with the stiffness `k` (Pa).
    ///
    /// Z has the singular vectors of F, because ψ is isotropic, so that three stretches are sought: by Newton's method
    /// from those of F, with a line search.
    pub fn proximal(&self, f: &Mat3, k: f64) -> Mat3 {
        let mut svd = svd3(f);
        let target = svd.sigma;
        let mut d = match self.guarded || self.law.has_barrier() {
            true => target.map(|s| s.max(LEAST_STRETCH)),
            false => target,
        };
        let value = |d: &Vec3| {
            let sorted = Mat3::from_diagonal(&Sorted::new(d).sigma);
            self.psi(&sorted) + 0.5 * k * (d - target).norm_squared()
        };
        let mut before = value(&d);
        for _ in 0..PROXIMAL_STEPS {
            let sorted = Sorted::new(&d);
            let stress = self.pk1(&Mat3::from_diagonal(&sorted.sigma)).diagonal();
            let gradient = sorted.gradient(&stress) + k * (d - target);
            let PrincipalHessian { stretch, .. } = self.principal_hessian(&sorted.sigma);
            let step = -newton(&sorted.hessian(&stretch.into()), k, &gradient);
            let slope = step.dot(&gradient);
            if slope >= 0.0 || slope.is_nan() {
                break;
            }
            let small = step.amax() < STEP * (1.0 + d.amax());
            let mut alpha = 1.0;
            let mut taken = false;
            for _ in 0..PROXIMAL_HALVINGS {
                let trial = d + alpha * step;
                let after = value(&trial);
                if after <= before + DECREASE * alpha * slope || small && after.is_finite() {
                    (d, before, taken) = (trial, after, true);
                    break;
                }
                alpha *= 0.5;
            }
            if small || !taken {
                break;
            }
        }
        svd.sigma = d;
        svd.reconstruct()
    }
}

/// (H + k I)⁻¹ g, with the positive semidefinite part of H where the sum is not positive definite.
fn newton(h: &Mat3, k: f64, g: &Vec3) -> Vec3 {
    let shifted = |h: &Mat3| (h + Mat3::from_diagonal_element(k)).cholesky();
    let factor = shifted(h).or_else(|| shifted(&project_psd(h)));
    factor.map_or(g / k, |factor| factor.solve(g))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::tet::ElasticTets;
    use crate::material::{Law, Material};
    use standoff_testkit::Random;

    fn element(law: Law, guarded: bool) -> Tet {
        let rest = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let material = Material { law, young_modulus: 7.0, poisson_ratio: 0.3 };
        let tets = ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[material]).expect("an element");
        let tets = if guarded { tets } else { tets.without_inversion_barrier() };
        tets.elements[0].clone()
    }

    fn random(r: &mut Random) -> Mat3 {
        Mat3::from_fn(|_, _| 2.0 * r.unit() - 1.0)
    }

    /// At the solution stress and distance balance, and no other matrix nearby is better: neither with the same
    /// singular vectors nor with others.
    #[test]
    fn a_proximal_point_is_a_local_minimum_over_all_matrices() {
        let r = &mut Random::new(5);
        for law in Law::ALL {
            for guarded in [true, false] {
                let tet = element(law.clone(), guarded);
                let k = tet.lame().lambda + tet.lame().mu * 2.0 / 3.0;
                for round in 0..60 {
                    let amount = [0.05, 0.6, 2.0][round % 3];
                    let f = Mat3::identity() + random(r) * amount;
                    let z = tet.proximal(&f, k);
                    let balance = tet.pk1(&z) + (z - f) * k;
                    let size = tet.pk1(&z).norm() + k;
                    let value = |z: &Mat3| tet.psi(z) + 0.5 * k * (z - f).norm_squared();
                    let kink = {
                        let s = svd3(&z).sigma;
                        s[1] + s[2] < 1e-3
                    };
                    assert!(
                        kink || balance.norm() < 1e-9 * size,
                        "{law:?} {guarded} {f}: {}",
                        balance.norm() / size
                    );
                    let at = value(&z);
                    for _ in 0..20 {
                        let other = value(&(z + random(r) * 1e-4));
                        assert!(other >= at - 1e-11 * size, "{law:?} {guarded} {f}: {other} {at}");
                    }
                    if guarded || law.has_barrier() {
                        assert!(z.determinant() > 0.0, "{law:?}: {f}");
                    }
                }
            }
        }
    }

    /// At rest nothing moves; without distance to anything the nearest rotation is the limit of a stiff law.
    #[test]
    fn rotations_are_their_own_proximal_points() {
        let turn = svd3(&Mat3::new(0.3, 1.0, 0.2, -0.7, 0.1, 0.9, 0.4, 0.5, 1.2)).rotation();
        for law in Law::ALL {
            let z = element(law.clone(), true).proximal(&turn, 3.0);
            assert!((z - turn).norm() < 1e-12, "{law:?}: {z}");
        }
    }

    #[test]
    fn sorted_stretches_are_singular_values() {
        let r = &mut Random::new(9);
        for _ in 0..100 {
            let d = r.vec3();
            let sorted = Sorted::new(&d).sigma;
            let svd = svd3(&Mat3::from_diagonal(&d)).sigma;
            assert!((sorted - svd).norm() < 1e-14, "{d} {sorted} {svd}");
        }
    }
}
