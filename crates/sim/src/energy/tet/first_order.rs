//! Energies, gradients and bounds of steps of elements several at once, one element per lane: the fast twins of
//! `Tet::value`, `Tet::gradient` and `step::volume_step`.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be used.

use super::{KEEP_VOLUME, Tet, step};
use crate::energy::lanes::{Batch, LaneElement, Row, gather, per_lane, scatter_vectors};
use crate::material::Law;
use crate::material::lanes::{LaneLame, neo_hookean_pk1, neo_hookean_psi};
use standoff_linalg::lanes::{
    Kernel, LaneMat3, LaneVec3, Lanes, MAX_LANES, Width, load_mat3, mat_mul, minus_sum_vec, scaled,
    sub, transpose,
};
use standoff_linalg::{Mat3, Vec3};

/// The least of the elements' bounds of a step along `dx`.
pub(super) struct LeastMaxStep<'a> {
    pub elements: &'a [Tet],
    pub vertices: &'a [[u32; 4]],
    pub x: &'a [Vec3],
    pub dx: &'a [Vec3],
}

/// The elements of the lanes.
type PerLane<'a> = [&'a Tet; MAX_LANES];

/// x₁−x₀, x₂−x₀, x₃−x₀.
#[inline(always)]
pub(super) fn edges<W: Width>(x: &[LaneVec3<W>; 4]) -> LaneMat3<W> {
    [sub(&x[1], &x[0]), sub(&x[2], &x[0]), sub(&x[3], &x[0])]
}

/// Dₘ⁻¹.
#[inline(always)]
pub(super) fn inv_dm<W: Width>(width: W, elements: &PerLane<'_>) -> LaneMat3<W> {
    let mut entries: [Row; 9] = [[0.0; MAX_LANES]; 9];
    for lane in 0..W::F64_LANES {
        let from = elements[lane].inv_dm.as_slice();
        for i in 0..9 {
            entries[i][lane] = from[i];
        }
    }
    load_mat3(width, &entries)
}

/// Rest volumes and Lamé's parameters.
#[inline(always)]
pub(super) fn parameters<W: Width>(width: W, elements: &PerLane<'_>) -> (Lanes<W>, LaneLame<W>) {
    let mut rows: [Row; 3] = [[0.0; MAX_LANES]; 3];
    for lane in 0..W::F64_LANES {
        let tet = elements[lane];
        (rows[0][lane], rows[1][lane], rows[2][lane]) = (tet.volume, tet.lame.lambda, tet.lame.mu);
    }
    let [volume, lambda, mu] =
        [Lanes::load(width, &rows[0]), Lanes::load(width, &rows[1]), Lanes::load(width, &rows[2])];
    (volume, LaneLame { lambda, mu })
}

/// Whether the law of any of the elements is neo-Hookean, and whether that of any is not.
#[inline(always)]
pub(super) fn laws(elements: &[Tet]) -> (bool, bool) {
    let (mut yes, mut no) = (false, false);
    for tet in elements {
        match tet.law {
            Law::NeoHookean => yes = true,
            _ => no = true,
        }
    }
    (yes, no)
}

/// The matrix of one lane.
#[inline(always)]
fn lane_of<W: Width>(f: &LaneMat3<W>, lane: usize) -> Mat3 {
    let mut out = Mat3::zeros();
    for c in 0..3 {
        for r in 0..3 {
            out[(r, c)] = f[c][r].to_array()[lane];
        }
    }
    out
}

impl LaneElement<4> for Tet {
    #[inline(always)]
    fn lane_values<W: Width>(width: W, batch: &Batch<'_, Self, 4>, out: &mut [f64]) {
        let elements = batch.elements;
        let (neo_hookean, others) = laws(elements);
        let lanes = per_lane(elements);
        let f = mat_mul(&edges(&batch.gather(width)), &inv_dm(width, &lanes));
        if neo_hookean {
            let (volume, lame) = parameters(width, &lanes);
            let values = volume * neo_hookean_psi(width, &lame, &f);
            for (to, from) in out.iter_mut().zip(values.to_array()) {
                *to = from;
            }
        }
        if others {
            for (lane, tet) in elements.iter().enumerate() {
                if tet.law != Law::NeoHookean {
                    out[lane] = tet.volume * tet.psi(&lane_of(&f, lane));
                }
            }
        }
    }

    #[inline(always)]
    fn lane_gradients<W: Width>(width: W, batch: &Batch<'_, Self, 4>, out: &mut [[Vec3; 4]]) {
        let elements = batch.elements;
        let (neo_hookean, others) = laws(elements);
        let lanes = per_lane(elements);
        let inv_dm = inv_dm(width, &lanes);
        let f = mat_mul(&edges(&batch.gather(width)), &inv_dm);
        if neo_hookean {
            let (volume, lame) = parameters(width, &lanes);
            let p = neo_hookean_pk1(width, &lame, &f);
            let p = [scaled(&p[0], volume), scaled(&p[1], volume), scaled(&p[2], volume)];
            // V P ∇Nₐ, of corners 1, 2, 3
            let [g1, g2, g3] = mat_mul(&p, &transpose(&inv_dm));
            scatter_vectors(&[minus_sum_vec(&g1, &g2, &g3), g1, g2, g3], out);
        }
        if others {
            for (lane, tet) in elements.iter().enumerate() {
                if tet.law != Law::NeoHookean {
                    out[lane] = tet.stress_gradient(&tet.pk1(&lane_of(&f, lane)));
                }
            }
        }
    }
}

impl Kernel for LeastMaxStep<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<W: Width>(self, width: W) -> f64 {
        let n = W::F64_LANES;
        let mut least = 1.0;
        for (elements, vertices) in self.elements.chunks(n).zip(self.vertices.chunks(n)) {
            let vertices = per_lane(vertices);
            let (x, dx) = (gather(width, &vertices, self.x), gather(width, &vertices, self.dx));
            let cubic = step::LaneCubic::new(width, &edges(&x), &edges(&dx), KEEP_VOLUME);
            if !cubic.may_have_root(width).any() {
                continue;
            }
            for (lane, tet) in elements.iter().enumerate() {
                if !tet.invertible {
                    least = cubic.lane(lane).first_root().min(least);
                }
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::super::ElasticTets;
    use super::*;
    use crate::energy::Element;
    use crate::energy::lanes::tests::{self as lanes, assert_same_bits, run};
    use crate::material::Material;
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
                _ => Law::ALL[k * k % Law::ALL.len()],
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

    fn values(tets: &ElasticTets, x: &[Vec3], first: usize, wide: bool) -> Vec<f64> {
        let (elements, vertices) = (&tets.elements[first..], &tets.vertices()[first..]);
        lanes::values(elements, vertices, x, wide)
    }

    fn gradients(tets: &ElasticTets, x: &[Vec3], first: usize, wide: bool) -> Vec<[Vec3; 4]> {
        let (elements, vertices) = (&tets.elements[first..], &tets.vertices()[first..]);
        lanes::gradients(elements, vertices, x, wide)
    }

    /// Bits, since gradients of flat elements are NaN.
    fn bits(g: &[Vec3; 4]) -> Vec<u64> {
        g.iter().flat_map(|g| g.iter().map(|v| v.to_bits())).collect()
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let (tets, x) = elements();
        assert_same_bits(COUNT, |first, wide| values(&tets, &x, first, wide));
        assert_same_bits(COUNT, |first, wide| {
            gradients(&tets, &x, first, wide).iter().map(bits).collect()
        });
    }

    #[test]
    fn energies_and_gradients_agree_with_one_element_at_a_time() {
        let (tets, x) = elements();
        let (values, gradients) = (values(&tets, &x, 0, true), gradients(&tets, &x, 0, true));
        let (mut infinite, mut at_rest) = (0, 0);
        for (e, tet) in tets.elements.iter().enumerate() {
            let corners = tets.gather(e, &x);
            let (want, found) = (tet.value(&corners), values[e]);
            // relative to the energy, at the smallest strains too
            let same = found == want || (found - want).abs() <= 1e-12 * want.abs();
            assert!(same, "energy of element {e}, {:?}: {found:e} {want:e}", tet.law);
            infinite += usize::from(want == f64::INFINITY);
            at_rest += usize::from(want < 1e-12 * tet.volume * tet.lame.mu);
            if want.is_finite() {
                let want = tet.gradient(&corners);
                // stresses are differences of terms of size μ + λ
                let size = want.iter().map(|g| g.norm()).fold(0.0, f64::max)
                    + 0.01 * (tet.lame.mu + tet.lame.lambda) * tet.volume.powf(2.0 / 3.0);
                for (found, want) in gradients[e].iter().zip(&want) {
                    let off = (found - want).norm() / size;
                    assert!(off <= 1e-12, "gradient of element {e}, {:?}: {off:e}", tet.law);
                }
            }
        }
        assert!(infinite > 10 && at_rest > 10, "{infinite} {at_rest}");
    }

    #[test]
    fn gradients_are_the_slopes_of_energies() {
        let (tets, x) = elements();
        let gradients = gradients(&tets, &x, 0, true);
        let by_size = |k: usize| [1.0, 0.1, 1e-3][k % 3];
        for a in 0..4 {
            for i in 0..3 {
                // all elements are separate: each moves its corner a
                let at = |step: f64| {
                    let mut moved = x.clone();
                    for k in 0..COUNT {
                        moved[4 * k + a][i] += step * 1e-5 * by_size(k);
                    }
                    values(&tets, &moved, 0, true)
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
}
