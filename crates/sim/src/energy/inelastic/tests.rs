use super::*;
use crate::energy::element::{Element, Hessian};
use crate::energy::tet::ElasticTets;
use crate::material::inelastic::Plasticity;
use crate::material::{Law, Material};
use standoff_testkit::{Random, finite_difference};

const MATERIAL: Material =
    Material { law: Law::NeoHookean, young_modulus: 2.6e5, poisson_ratio: 0.3 };

fn voce() -> Plasticity {
    Plasticity {
        yield_stress: 3e4,
        hardening_modulus: 2e4,
        kinematic_modulus: 0.0,
        saturation_stress: Some(5e4),
        saturation_rate: Some(12.0),
    }
}

fn perfect() -> Plasticity {
    Plasticity {
        yield_stress: 3e4,
        hardening_modulus: 0.0,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    }
}

/// A tensor of determinant 1.
fn unimodular(r: &mut Random, size: f64) -> Mat3 {
    let f = r.rotation() + size * r.mat3();
    f / f.determinant().cbrt()
}

/// Points of four vertices with what they are in one step, and deformed positions.
fn samples() -> Vec<(InStep<4>, [Vec3; 4])> {
    let r = &mut Random::new(7);
    let mut all = Vec::new();
    for k in 0..60 {
        let rest: [Vec3; 4] = std::array::from_fn(|a| {
            let corner = if a == 0 { Vec3::zeros() } else { Vec3::ith(a - 1, 1.0) };
            corner + 0.1 * r.vec3()
        });
        let tets = ElasticTets::new(&rest, vec![[0, 1, 2, 3]], &[MATERIAL]).unwrap();
        let point = tets.elements[0].point();
        let response = match k % 4 {
            0 => Response::Elastic { modulus: 1e5 },
            n => Response::Yielding {
                mu: 1e5,
                plasticity: if n == 1 { perfect() } else { voce() },
                alpha: 0.05 * (n - 1) as f64,
            },
        };
        let size = [0.0, 1e-3, 0.1, 0.3][k % 4];
        let inverse = unimodular(r, size);
        let f = r.rotation() + [0.05, 0.15, 0.3][k % 3] * r.mat3();
        if f.determinant() < 0.1 {
            continue;
        }
        let x = rest.map(|p| f * p + Vec3::new(1.0, 2.0, 3.0));
        all.push((InStep { point: point.behind(&inverse), response }, x));
    }
    assert!(all.len() > 40);
    all
}

fn flat(x: &[Vec3; 4]) -> Vec<f64> {
    x.iter().flatten().copied().collect()
}

fn points(x: &[f64]) -> [Vec3; 4] {
    std::array::from_fn(|a| Vec3::new(x[3 * a], x[3 * a + 1], x[3 * a + 2]))
}

#[test]
fn derivatives_are_those_of_the_energy() {
    let mut flowing = 0;
    for (element, x) in samples() {
        let g = flat(&element.gradient(&x));
        let by_energy = finite_difference::gradient(&flat(&x), 1e-6, |x| element.value(&points(x)));
        let scale = 1e5;
        assert!(finite_difference::relative_error(&g, &by_energy, scale) < 1e-7, "{element:?}");
        let columns =
            finite_difference::jacobian(&flat(&x), 1e-6, |x| flat(&element.gradient(&points(x))));
        let (h, psd) = (element.hessian(&x), element.hessian_psd(&x));
        let entry = |i: usize, j: usize| h[i / 3][j / 3][(i % 3, j % 3)];
        let own: Vec<f64> = (0..144).map(|k| entry(k / 12, k % 12)).collect();
        let differences: Vec<f64> = (0..144).map(|k| columns[k / 12][k % 12]).collect();
        let error = finite_difference::relative_error(&own, &differences, scale);
        assert!(error < 1e-6, "{error:e} {element:?}");
        let full = nalgebra_of(&psd).symmetric_eigenvalues();
        assert!(full.min() > -1e-9 * full.max(), "{full}");
        let plastic = |sigma: &V3<f64>| element.response.end(sigma).1 > 0.0;
        flowing += usize::from(plastic(&element.svd(&x).sigma));
    }
    assert!(flowing > 15, "{flowing}");
}

fn nalgebra_of(h: &Hessian<4>) -> standoff_linalg::MatN<12> {
    standoff_linalg::MatN::<12>::from_fn(|i, j| h[i / 3][j / 3][(i % 3, j % 3)])
}

/// Beside a minimisation over what flows by bisection of its derivative: the energy and its end.
#[test]
fn the_energy_of_a_step_is_the_least_of_all_flows() {
    for (plasticity, alpha, r) in
        [(voce(), 0.0, 0.5), (voce(), 0.2, 0.31), (perfect(), 1.0, 0.2), (voce(), 0.0, 0.13)]
    {
        let mu = 1e5;
        let e = V3([0.8, -0.6, -0.2]) * (r / V3([0.8, -0.6, -0.2]).norm());
        let sigma = V3([0, 1, 2].map(|i| 1.1 * e[i].exp()));
        let left = |more: f64| r - 1.5f64.sqrt() * more;
        let slope =
            |more: f64| plasticity.strength(alpha + more) - 1.5f64.sqrt() * 2.0 * mu * left(more);
        let (mut low, mut high) = (0.0, r);
        for _ in 0..100 {
            let mid = 0.5 * (low + high);
            if slope(mid) < 0.0 { low = mid } else { high = mid }
        }
        let work: f64 = {
            let n = 20_000;
            let at = |k: usize| plasticity.strength(alpha + low * (k as f64 + 0.5) / n as f64);
            (0..n).map(|k| at(k) * low / n as f64).sum()
        };
        let response = Response::Yielding { mu, plasticity, alpha };
        let (part, more) = response.end(&sigma);
        assert!((more - low).abs() < 1e-13, "{more} {low}");
        assert!((part - left(low) / r).abs() < 1e-12);
        let expected = mu * left(low).powi(2) + work;
        assert!((response.psi(&sigma) / expected - 1.0).abs() < 1e-8);
        assert!((plasticity.work(alpha, more) / work - 1.0).abs() < 1e-8);
        // at the yield stress
        let stress = response.stress(&sigma);
        let von_mises = 1.5f64.sqrt() * stress.norm();
        let strength = plasticity.strength(alpha + more);
        assert!((von_mises / strength - 1.0).abs() < 1e-12);
    }
}

#[test]
fn heat_is_the_integral_of_what_relaxes() {
    let relaxation = Relaxation { ratio: 1.0, time: 0.5 };
    for h in [1e-9, 1e-4, 1.4e-3, 1.6e-3, 0.1, 0.7, 30.0] {
        for [e0, change] in [[0.3, 0.0], [0.0, 0.2], [0.3, -0.4]] {
            let rate = change / h;
            let n = 40_000;
            let at = |k: usize| {
                let t = h * (k as f64 + 0.5) / n as f64;
                let kept = (-t / 0.5f64).exp();
                let e: f64 = e0 * kept + rate * 0.5 * (1.0 - kept);
                e * e / 0.5 * h / n as f64
            };
            let integral: f64 = (0..n).map(at).sum();
            let heat = relaxation.heat(h, [e0 * e0, e0 * change, change * change]);
            assert!((heat / integral - 1.0).abs() < 1e-5, "{h} {e0} {change}: {heat} {integral}");
        }
    }
}

#[test]
fn flow_keeps_the_volume_and_scales_the_strain() {
    let r = &mut Random::new(3);
    for _ in 0..50 {
        let f = r.rotation() + 0.3 * r.mat3();
        if f.determinant() < 0.1 {
            continue;
        }
        let inverse = unimodular(r, 0.4);
        let factor = r.uniform(0.0, 1.0);
        let after = flow(&f, &inverse, factor);
        assert!((after.determinant() - 1.0).abs() < 4.0 * f64::EPSILON);
        let expected = strain_deviator(&(f * inverse)) * factor;
        assert!((strain_deviator(&(f * after)) - expected).norm() < 1e-13);
        assert!(((f * after).determinant() / f.determinant() - 1.0).abs() < 1e-13);
    }
}
