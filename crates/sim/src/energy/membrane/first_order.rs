//! Energies and gradients of membranes several at once, one triangle per lane: the fast twins of `Membrane::value` and
//! `Membrane::gradient` for isotropic laws, which are written here without singular values,
//!
//! ψ = μ/2 (tr C − 2) − μ ln J + λ/2 ln² J and P = μ F + (λ ln J − μ)/J ∂J/∂F of neo-Hookean sheets,
//! ψ = μ tr E² + λ/2 tr² E and P = F (2μ E + λ tr E) of St. Venant–Kirchhoff sheets,
//!
//! with C = FᵀF, J = |f₁ × f₂| and E = (C − I)/2. Orthotropic sheets, triangles stretched beyond the threshold of a limit and
//! nearly flattened ones are computed one by one.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be used.

use super::{Membrane, Sheet};
use crate::energy::Element;
use crate::energy::lanes::{Batch, LaneElement, Row, per_lane, scatter_vectors};
use crate::material::membrane::{MembraneLaw, SheetLame};
use standoff_linalg::Vec3;
use standoff_linalg::lanes::{LaneVec3, Lanes, MAX_LANES, Width, add, cross, dot, ln, scaled, sub};

/// Ratio of the principal stretches below which triangles are computed one by one: their normal is lost in rounding.
pub(super) const FLAT: f64 = 1e-6;

/// Gradients of the shape functions of corners 1 and 2.
#[inline(always)]
pub(super) fn shape<W: Width>(width: W, elements: &[&Membrane; MAX_LANES]) -> [[Lanes<W>; 2]; 2] {
    let mut rows: [[Row; 2]; 2] = [[[0.0; MAX_LANES]; 2]; 2];
    for lane in 0..W::F64_LANES {
        for a in 0..2 {
            for i in 0..2 {
                rows[a][i][lane] = elements[lane].shape[a][i];
            }
        }
    }
    let mut out = [[Lanes::splat(width, 0.0); 2]; 2];
    for a in 0..2 {
        for i in 0..2 {
            out[a][i] = Lanes::load(width, &rows[a][i]);
        }
    }
    out
}

/// The columns of F.
#[inline(always)]
pub(super) fn gradient_of_map<W: Width>(
    shape: &[[Lanes<W>; 2]; 2],
    x: &[LaneVec3<W>; 3],
) -> [LaneVec3<W>; 2] {
    let (p, q) = (sub(&x[1], &x[0]), sub(&x[2], &x[0]));
    [
        add(&scaled(&p, shape[0][0]), &scaled(&q, shape[1][0])),
        add(&scaled(&p, shape[0][1]), &scaled(&q, shape[1][1])),
    ]
}

/// What the triangles of the lanes are made of.
struct Sheets<W: Width> {
    volume: Lanes<W>,
    lambda: Lanes<W>,
    mu: Lanes<W>,
    /// The principal stretch up to which a lane is valid: below 0 where the sheet is not isotropic, +∞ without a limit.
    threshold: Lanes<W>,
    /// 1 in lanes of St. Venant–Kirchhoff sheets, 0 in those of others.
    quadratic: Lanes<W>,
}

impl<W: Width> Sheets<W> {
    #[inline(always)]
    fn new(width: W, elements: &[&Membrane; MAX_LANES]) -> Self {
        let mut rows: [Row; 5] = [[0.0; MAX_LANES]; 5];
        for lane in 0..W::F64_LANES {
            let element = elements[lane];
            rows[0][lane] = element.volume;
            rows[3][lane] = -1.0;
            if let Sheet::Isotropic(law, SheetLame { mu, lambda }) = &element.sheet {
                (rows[1][lane], rows[2][lane]) = (*lambda, *mu);
                rows[3][lane] = match &element.limit {
                    Some(limit) => limit.threshold,
                    None => f64::INFINITY,
                };
                rows[4][lane] = match law {
                    MembraneLaw::NeoHookean => 0.0,
                    MembraneLaw::StVenantKirchhoff => 1.0,
                };
            }
        }
        Self {
            volume: Lanes::load(width, &rows[0]),
            lambda: Lanes::load(width, &rows[1]),
            mu: Lanes::load(width, &rows[2]),
            threshold: Lanes::load(width, &rows[3]),
            quadratic: Lanes::load(width, &rows[4]),
        }
    }
}

/// Invariants of F.
struct Strain<W: Width> {
    /// C₁₁, C₂₂, C₁₂.
    c: [Lanes<W>; 3],
    /// f₁ × f₂.
    normal: LaneVec3<W>,
    /// J = |f₁ × f₂|.
    j: Lanes<W>,
    /// The larger principal stretch.
    stretch: Lanes<W>,
}

impl<W: Width> Strain<W> {
    #[inline(always)]
    fn new(width: W, f: &[LaneVec3<W>; 2]) -> Self {
        let half = Lanes::splat(width, 0.5);
        let (c11, c22, c12) = (dot(&f[0], &f[0]), dot(&f[1], &f[1]), dot(&f[0], &f[1]));
        let difference = half * (c11 - c22);
        let radius = (difference * difference + c12 * c12).sqrt();
        let stretch = (half * (c11 + c22) + radius).sqrt();
        let normal = cross(&f[0], &f[1]);
        Self { c: [c11, c22, c12], normal, j: dot(&normal, &normal).sqrt(), stretch }
    }

    /// Lanes that are not valid.
    #[inline(always)]
    fn beyond(&self, sheets: &Sheets<W>) -> [bool; MAX_LANES] {
        let (stretch, threshold) = (self.stretch.to_array(), sheets.threshold.to_array());
        let j = self.j.to_array();
        let mut out = [false; MAX_LANES];
        for lane in 0..W::F64_LANES {
            // written so that NaN is beyond
            let within = stretch[lane] <= threshold[lane];
            out[lane] = !(within && j[lane] > FLAT * stretch[lane] * stretch[lane]);
        }
        out
    }

    /// E₁₁, E₂₂, E₁₂.
    #[inline(always)]
    fn green(&self, width: W) -> [Lanes<W>; 3] {
        let (half, one) = (Lanes::splat(width, 0.5), Lanes::splat(width, 1.0));
        [half * (self.c[0] - one), half * (self.c[1] - one), half * self.c[2]]
    }

    /// ψ, J/m³.
    #[inline(always)]
    fn psi(&self, width: W, sheets: &Sheets<W>) -> Lanes<W> {
        let Sheets { lambda, mu, quadratic, .. } = sheets;
        let (half, two) = (Lanes::splat(width, 0.5), Lanes::splat(width, 2.0));
        let ln_j = ln(width, self.j);
        let psi = half * *mu * (self.c[0] + self.c[1] - two) + ln_j * (half * *lambda * ln_j - *mu);
        let quadratic = half.lt(*quadratic);
        if !quadratic.any() {
            return psi;
        }
        let [e11, e22, e12] = self.green(width);
        let trace = e11 + e22;
        let squares = e11 * e11 + e22 * e22 + two * (e12 * e12);
        quadratic.select(*mu * squares + half * *lambda * trace * trace, psi)
    }

    /// P, Pa, by columns.
    #[inline(always)]
    fn pk1(&self, width: W, sheets: &Sheets<W>, f: &[LaneVec3<W>; 2]) -> [LaneVec3<W>; 2] {
        let Sheets { lambda, mu, quadratic, .. } = sheets;
        let one = Lanes::splat(width, 1.0);
        let over_j = one / self.j;
        let n = scaled(&self.normal, over_j);
        let pressure = (*lambda * ln(width, self.j) - *mu) * over_j;
        let mut p = [
            add(&scaled(&f[0], *mu), &scaled(&cross(&f[1], &n), pressure)),
            add(&scaled(&f[1], *mu), &scaled(&cross(&n, &f[0]), pressure)),
        ];
        let quadratic = Lanes::splat(width, 0.5).lt(*quadratic);
        if quadratic.any() {
            let [e11, e22, e12] = self.green(width);
            let (twice, pressure) = (*mu + *mu, *lambda * (e11 + e22));
            let [s11, s22, s12] = [twice * e11 + pressure, twice * e22 + pressure, twice * e12];
            let first = add(&scaled(&f[0], s11), &scaled(&f[1], s12));
            let second = add(&scaled(&f[0], s12), &scaled(&f[1], s22));
            for i in 0..3 {
                p[0][i] = quadratic.select(first[i], p[0][i]);
                p[1][i] = quadratic.select(second[i], p[1][i]);
            }
        }
        p
    }
}

impl LaneElement<3> for Membrane {
    #[inline(always)]
    fn lane_values<W: Width>(width: W, batch: &Batch<'_, Self, 3>, out: &mut [f64]) {
        let infinite = Lanes::splat(width, f64::INFINITY);
        let lanes = per_lane(batch.elements);
        let shape = shape(width, &lanes);
        let strain = Strain::new(width, &gradient_of_map(&shape, &batch.gather(width)));
        let sheets = Sheets::new(width, &lanes);
        let value = sheets.volume * strain.psi(width, &sheets);
        // also where it is NaN
        let values = value.lt(infinite).select(value, infinite).to_array();
        let beyond = strain.beyond(&sheets);
        for (lane, out) in out.iter_mut().enumerate() {
            *out = match beyond[lane] {
                true => batch.elements[lane].value(&batch.corners(lane)),
                false => values[lane],
            };
        }
    }

    #[inline(always)]
    fn lane_gradients<W: Width>(width: W, batch: &Batch<'_, Self, 3>, out: &mut [[Vec3; 3]]) {
        let lanes = per_lane(batch.elements);
        let g = shape(width, &lanes);
        let f = gradient_of_map(&g, &batch.gather(width));
        let (strain, sheets) = (Strain::new(width, &f), Sheets::new(width, &lanes));
        let [p1, p2] = strain.pk1(width, &sheets, &f);
        let (p1, p2) = (scaled(&p1, sheets.volume), scaled(&p2, sheets.volume));
        let g1 = add(&scaled(&p1, g[0][0]), &scaled(&p2, g[0][1]));
        let g2 = add(&scaled(&p1, g[1][0]), &scaled(&p2, g[1][1]));
        let sum = add(&g1, &g2);
        scatter_vectors(&[[-sum[0], -sum[1], -sum[2]], g1, g2], out);
        let beyond = strain.beyond(&sheets);
        for (lane, out) in out.iter_mut().enumerate() {
            if beyond[lane] {
                *out = batch.elements[lane].gradient(&batch.corners(lane));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::triangles;
    use super::*;
    use crate::energy::lanes::tests::{self as lanes, assert_same_bits};
    use crate::energy::{Elements, Term};

    fn values(x: &[Vec3], first: usize, wide: bool) -> Vec<f64> {
        let (elements, vertices, _) = triangles();
        lanes::values(&elements[first..], &vertices[first..], x, wide)
    }

    fn gradients(x: &[Vec3], first: usize, wide: bool) -> Vec<[Vec3; 3]> {
        let (elements, vertices, _) = triangles();
        lanes::gradients(&elements[first..], &vertices[first..], x, wide)
    }

    /// Bits, since gradients of triangles without area are NaN.
    fn bits(g: &[Vec3; 3]) -> Vec<u64> {
        g.iter().flat_map(|g| g.iter().map(|v| v.to_bits())).collect()
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let (elements, _, x) = triangles();
        assert_same_bits(elements.len(), |first, wide| values(&x, first, wide));
        assert_same_bits(elements.len(), |first, wide| {
            gradients(&x, first, wide).iter().map(bits).collect()
        });
    }

    /// The last batch may have fewer triangles than lanes, and one that is computed by itself in its last place.
    #[test]
    fn lists_of_any_length_sum_their_triangles() {
        let (elements, vertices, x) = triangles();
        let all = gradients(&x, 0, true);
        for first in 0..40 {
            for count in 1..10 {
                let range = first..first + count;
                let parts = (vertices[range.clone()].to_vec(), elements[range.clone()].to_vec());
                let list = Elements::from_parts(parts.0, parts.1, x.len());
                let want: f64 = values(&x, first, true)[..count].iter().sum();
                assert!(list.value(&x) == want, "{range:?}");
                let mut sums = vec![Vec3::zeros(); x.len()];
                list.add_gradient(&x, &mut sums);
                for (vertices, g) in vertices[range.clone()].iter().zip(&all[range]) {
                    let found = vertices.map(|v| sums[v as usize]);
                    assert_eq!(bits(&found), bits(g));
                }
            }
        }
    }

    #[test]
    fn agrees_with_one_triangle_at_a_time() {
        let (elements, vertices, x) = triangles();
        let (values, gradients) = (values(&x, 0, true), gradients(&x, 0, true));
        let mut infinite = 0;
        for (k, element) in elements.iter().enumerate() {
            let corners = vertices[k].map(|v| x[v as usize]);
            let want = element.value(&corners);
            infinite += usize::from(want == f64::INFINITY);
            // both formulas cancel at rest
            let rounding = 1e-13 * (want + element.volume * element.rest_stiffness());
            let same = values[k] == want || (values[k] - want).abs() <= rounding;
            assert!(same, "triangle {k}: {} {want}", values[k]);
            if want.is_finite() {
                let want = element.gradient(&corners);
                let size = want.iter().map(|g| g.norm()).fold(0.0, f64::max)
                    + element.volume * element.rest_stiffness() / element.area.sqrt();
                for (found, want) in gradients[k].iter().zip(&want) {
                    let off = (found - want).norm() / size;
                    assert!(off <= 1e-10, "triangle {k}: {off:e}");
                }
            }
        }
        assert!(infinite > 3, "{infinite}");
    }

    #[test]
    fn gradients_are_the_slopes_of_energies() {
        let (elements, _, x) = triangles();
        let gradients = gradients(&x, 0, true);
        for a in 0..3 {
            for i in 0..3 {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    for (k, element) in elements.iter().enumerate() {
                        moved[3 * k + a][i] += step * 1e-5 * element.area.sqrt();
                    }
                    values(&moved, 0, true)
                };
                let [b2, b1, a1, a2] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
                for (k, element) in elements.iter().enumerate() {
                    // moved too far, or over the threshold of a limit, where the third derivative jumps
                    if k % 17 == 0 || k % 19 == 0 || !(b2[k] + a2[k]).is_finite() {
                        continue;
                    }
                    let length = element.area.sqrt();
                    let slope = (b2[k] - 8.0 * b1[k] + 8.0 * a1[k] - a2[k]) / (12e-5 * length);
                    let size = element.volume * element.rest_stiffness() / length
                        + gradients[k].iter().map(|g| g.norm()).fold(0.0, f64::max);
                    let off = (slope - gradients[k][a][i]).abs() / size;
                    assert!(off < 1e-6, "triangle {k}, corner {a}: {off:e}");
                }
            }
        }
    }
}
