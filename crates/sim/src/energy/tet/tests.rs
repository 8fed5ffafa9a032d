use super::step::LeastMaxStep;
use super::*;
use crate::energy::formula::tests::{assert_lanes, first_order, run};
use crate::material::rubber;
use standoff_testkit::Random;

const COUNT: usize = 301;

/// Separate elements, most of them neo-Hookean, with the other laws among them: at rest, near it by a strain from 0.3 to
/// 1e-9, turned, strongly deformed, nearly flat, inverted, with and without the barrier against inversion.
fn elements() -> (ElasticTets, Vec<Vec3>) {
    let r = &mut Random::new(17);
    let (mut rest, mut x, mut vertices, mut materials) = (vec![], vec![], vec![], vec![]);
    for k in 0..COUNT {
        let size = [1.0, 0.1, 1e-3][k % 3];
        let noise = [0.0, 0.3, 0.1, 1e-2, 1e-5, 1e-9, 2.0][k % 7];
        for corner in [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()] {
            let p = (corner + r.vec3() * 0.15) * size;
            let flat = Vec3::new(1.0, 1.0, if k % 11 == 0 { 1e-3 } else { 1.0 });
            let mirror = if k % 13 == 0 { -1.0 } else { 1.0 };
            let moved = p + r.vec3() * (noise * size);
            rest.push(p);
            x.push(Vec3::new(moved.y, mirror * moved.z, moved.x).component_mul(&flat));
        }
        vertices.push([0, 1, 2, 3].map(|a| 4 * k as u32 + a));
        let law = match k {
            0..100 => Law::NeoHookean,
            _ if k % 3 == 0 => {
                let rubber = rubber::samples();
                materials.push(rubber[k % rubber.len()].clone());
                continue;
            }
            _ => Law::ALL[k * k % Law::ALL.len()].clone(),
        };
        materials.push(Material { law, young_modulus: 1e5, poisson_ratio: 0.4 });
    }
    let mut tets = ElasticTets::new(&rest, vertices, &materials).expect("valid elements");
    for (k, tet) in tets.elements.iter_mut().enumerate() {
        tet.guarded = k % 4 != 0;
        tet.invertible = k % 8 == 0;
    }
    (tets, x)
}

#[test]
fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
    let (tets, x) = elements();
    assert_lanes(&tets.elements, tets.vertices(), &x);
}

#[test]
fn gradients_are_the_slopes_of_energies() {
    let (tets, x) = elements();
    let gradients = first_order(&tets.elements, tets.vertices(), &x, true).1;
    let by_size = |k: usize| [1.0, 0.1, 1e-3][k % 3];
    for a in 0..4 {
        for i in 0..3 {
            // all elements are separate: each moves its corner a
            let at = |step: f64| {
                let mut moved = x.clone();
                for k in 0..COUNT {
                    moved[4 * k + a][i] += step * 1e-5 * by_size(k);
                }
                first_order(&tets.elements, tets.vertices(), &moved, true).0
            };
            let [b2, b1, a1, a2] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            for (k, tet) in tets.elements.iter().enumerate() {
                if k % 11 == 0 || !(b2[k] + a2[k]).is_finite() {
                    continue;
                }
                let slope = (b2[k] - 8.0 * b1[k] + 8.0 * a1[k] - a2[k]) / (12e-5 * by_size(k));
                let size = gradients[k].iter().map(|g| g.norm()).fold(0.0, f64::max)
                    + tet.lame.mu * tet.volume.powf(2.0 / 3.0);
                let off = (slope - gradients[k][a][i]).abs() / size;
                assert!(off < 1e-6, "element {k}, {:?}: {off:e}", tet.law);
            }
        }
    }
}

#[test]
fn bounds_of_steps_are_those_of_one_element_at_a_time() {
    let (tets, x) = elements();
    let r = &mut Random::new(18);
    let (mut early, mut full, mut none) = (0, 0, 0);
    for round in 0..20 {
        let amount = [1e-3, 0.1, 0.5, 2.0][round % 4];
        let mut dx: Vec<Vec3> =
            (0..x.len()).map(|v| r.vec3() * (amount * [1.0, 0.1, 1e-3][v / 4 % 3])).collect();
        if round > 15 {
            dx[(57 * round) % x.len()].y = [f64::NAN, f64::INFINITY, 1e200, -1e308][round % 4];
        }
        let dx = &dx;
        for wide in [true, false] {
            let mut least_of_all = 1.0;
            for (e, tet) in tets.elements.iter().enumerate() {
                let want = tet.max_step(&tets.gather(e, &x), &tets.gather(e, dx));
                least_of_all = want.min(least_of_all);
                for (first, last) in [(e, e + 1), (e, e + 3), (e.saturating_sub(2), e + 1)] {
                    let range = first..last.min(COUNT);
                    let others = range.clone().filter(|&k| k != e);
                    let least = others
                        .map(|k| {
                            tets.elements[k].max_step(&tets.gather(k, &x), &tets.gather(k, dx))
                        })
                        .fold(want, f64::min);
                    let (elements, vertices) =
                        (&tets.elements[range.clone()], &tets.vertices()[range]);
                    let found = run(LeastMaxStep { elements, vertices, x: &x, dx }, wide);
                    assert_eq!(found, least, "element {e}, round {round}");
                }
                early += usize::from(want > 0.0 && want < 1.0);
                full += usize::from(want == 1.0);
                none += usize::from(want == 0.0);
            }
            let (elements, vertices) = (&tets.elements[..], tets.vertices());
            let found = run(LeastMaxStep { elements, vertices, x: &x, dx }, wide);
            assert_eq!(found, least_of_all, "round {round}");
        }
    }
    assert!(early > 1000 && full > 1000 && none > 100, "{early} {full} {none}");
}
