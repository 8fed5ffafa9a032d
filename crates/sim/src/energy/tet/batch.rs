//! Element Hessians several at once, one element per lane: the fast twin of `Tet::second_derivative`, of
//! which it gives the blocks off the diagonal.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to
//! be used.

use super::Tet;
use super::first_order::{edges, inv_dm, laws, parameters};
use crate::energy::Projection;
use crate::energy::lanes::{Row, gather, per_lane, projected};
use crate::material::Law;
use crate::material::lanes::neo_hookean_principal;
use standoff_linalg::lanes::{
    Kernel, LaneMat3, LaneVec3, Lanes, MAX_LANES, Width, dot, mat_mul, minus_sum, svd, transpose,
};
use standoff_linalg::{Mat3, Vec3};

/// The blocks off the diagonal, (0,1), (0,2), (0,3), (1,2), (1,3), (2,3).
type EdgeBlocks = [Mat3; 6];

/// Fills `out` with the Hessians of the elements at corner positions `x[vertices]`.
pub(super) struct Hessians<'a> {
    pub elements: &'a [Tet],
    pub vertices: &'a [[u32; 4]],
    pub x: &'a [Vec3],
    pub projection: Projection<'a>,
    pub out: &'a mut [EdgeBlocks],
}

impl Kernel for Hessians<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let n = W::F64_LANES;
        // kept from batch to batch: clearing it takes as long as the decomposition
        let mut entries: [Row; 54] = [[0.0; MAX_LANES]; 54];
        let batches = self.elements.chunks(n).zip(self.vertices.chunks(n));
        for ((elements, vertices), out) in batches.zip(self.out.chunks_mut(n)) {
            let project = projected(self.projection, vertices);
            hessians(width, elements, vertices, self.x, project, &mut entries, out);
        }
    }
}

#[inline(always)]
fn hessians<W: Width>(
    width: W,
    elements: &[Tet],
    vertices: &[[u32; 4]],
    x: &[Vec3],
    project: [bool; MAX_LANES],
    entries: &mut [Row; 54],
    out: &mut [EdgeBlocks],
) {
    let inv_dm = inv_dm(width, &per_lane(elements));
    let f = mat_mul(&edges(&gather(width, &per_lane(vertices), x)), &inv_dm);
    let svd = svd(width, &f);
    let form = principal(width, elements, &svd.sigma, project);

    // shape gradients, the rows of Dₘ⁻¹, in the basis of the right singular vectors
    let rows = transpose(&inv_dm);
    let g0 = in_basis(&rows[0], &svd.v);
    let g1 = in_basis(&rows[1], &svd.v);
    let g2 = in_basis(&rows[2], &svd.v);
    let (u, ut) = (&svd.u, &transpose(&svd.u));
    let h11 = mat_mul(&mat_mul(u, &form.block(&g0, &g0)), ut);
    let h22 = mat_mul(&mat_mul(u, &form.block(&g1, &g1)), ut);
    let h33 = mat_mul(&mat_mul(u, &form.block(&g2, &g2)), ut);
    let h12 = mat_mul(&mat_mul(u, &form.block(&g0, &g1)), ut);
    let h13 = mat_mul(&mat_mul(u, &form.block(&g0, &g2)), ut);
    let h23 = mat_mul(&mat_mul(u, &form.block(&g1, &g2)), ut);
    // translations do no work: rows and columns sum to 0
    let h01 = minus_sum(&h11, &transpose(&h12), &transpose(&h13));
    let h02 = minus_sum(&h12, &h22, &transpose(&h23));
    let h03 = minus_sum(&h13, &h23, &h33);
    for (k, block) in [h01, h02, h03, h12, h13, h23].iter().enumerate() {
        store(block, entries, k);
    }
    for (lane, h) in out.iter_mut().enumerate() {
        for (block, entries) in h.iter_mut().zip(entries.chunks_exact(9)) {
            for (to, from) in block.as_mut_slice().iter_mut().zip(entries) {
                *to = from[lane];
            }
        }
    }
}

/// The block of edge `k` to its 9 rows of `entries`, by columns.
#[inline(always)]
fn store<W: Width>(block: &LaneMat3<W>, entries: &mut [Row; 54], k: usize) {
    for c in 0..3 {
        for r in 0..3 {
            block[c][r].store(&mut entries[9 * k + 3 * c + r]);
        }
    }
}

/// Components of `g` along the columns of `v`.
#[inline(always)]
fn in_basis<W: Width>(g: &LaneVec3<W>, v: &LaneMat3<W>) -> LaneVec3<W> {
    [dot(g, &v[0]), dot(g, &v[1]), dot(g, &v[2])]
}

/// [`crate::material::PrincipalHessian`] times the volume, per lane.
struct Form<W: Width> {
    /// Lower triangle of the block of stretches: 00, 10, 20, 11, 21, 22.
    stretch: [Lanes<W>; 6],
    /// (flip + twist)/2.
    same: LaneVec3<W>,
    /// (flip − twist)/2.
    cross: LaneVec3<W>,
}

/// The form of each lane's law, projected where required.
#[inline(always)]
fn principal<W: Width>(
    width: W,
    elements: &[Tet],
    sigma: &LaneVec3<W>,
    project: [bool; MAX_LANES],
) -> Form<W> {
    let mut rows: [Row; 12] = [[0.0; MAX_LANES]; 12];
    // the lanes that are computed one by one
    let mut single = [true; MAX_LANES];
    if laws(elements).0 {
        single = neo_hookean(width, elements, sigma, project, &mut rows);
    }
    if single[..elements.len()].contains(&true) {
        let sigma = [sigma[0].to_array(), sigma[1].to_array(), sigma[2].to_array()];
        for (lane, tet) in elements.iter().enumerate() {
            if single[lane] {
                let sigma = Vec3::new(sigma[0][lane], sigma[1][lane], sigma[2][lane]);
                let entries = one(tet, &sigma, project[lane]);
                for k in 0..12 {
                    rows[k][lane] = entries[k];
                }
            }
        }
    }
    let zero = Lanes::splat(width, 0.0);
    let mut form = Form { stretch: [zero; 6], same: [zero; 3], cross: [zero; 3] };
    for k in 0..6 {
        form.stretch[k] = Lanes::load(width, &rows[k]);
    }
    for k in 0..3 {
        form.same[k] = Lanes::load(width, &rows[6 + k]);
        form.cross[k] = Lanes::load(width, &rows[9 + k]);
    }
    form
}

/// The entries of [`Form`] where the law is neo-Hookean, and the lanes where it is not or where stretches have
/// to be projected.
#[inline(always)]
fn neo_hookean<W: Width>(
    width: W,
    elements: &[Tet],
    sigma: &LaneVec3<W>,
    project: [bool; MAX_LANES],
    rows: &mut [Row; 12],
) -> [bool; MAX_LANES] {
    let (zero, half) = (Lanes::splat(width, 0.0), Lanes::splat(width, 0.5));
    let (volume, lame) = parameters(width, &per_lane(elements));
    let h = neo_hookean_principal(width, &lame, sigma);
    let mut projected: Row = [0.0; MAX_LANES];
    for lane in 0..MAX_LANES {
        projected[lane] = f64::from(u8::from(project[lane]));
    }
    let projected = zero.lt(Lanes::load(width, &projected));
    for k in 0..6 {
        (volume * h.stretch[k]).store(&mut rows[k]);
    }
    for k in 0..3 {
        let flip = projected.select(h.flip[k].max(zero), h.flip[k]);
        let twist = projected.select(h.twist[k].max(zero), h.twist[k]);
        (volume * ((flip + twist) * half)).store(&mut rows[6 + k]);
        (volume * ((flip - twist) * half)).store(&mut rows[9 + k]);
    }
    let definite = h.definite.select(half, zero).to_array();
    let mut single = [false; MAX_LANES];
    for (lane, tet) in elements.iter().enumerate() {
        single[lane] = tet.law != Law::NeoHookean || project[lane] && definite[lane] == 0.0;
    }
    single
}

/// The entries of [`Form`] for one element with singular values `sigma`.
fn one(tet: &Tet, sigma: &Vec3, project: bool) -> [f64; 12] {
    let mut h = tet.principal_hessian(sigma);
    if project {
        h.project_psd();
    }
    let (s, same, cross) = (&h.stretch, (h.flip + h.twist) * 0.5, (h.flip - h.twist) * 0.5);
    let stretch = [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)].map(|at| s[at]);
    let [s00, s10, s20, s11, s21, s22] = stretch;
    let (d, e) = (same, cross);
    [s00, s10, s20, s11, s21, s22, d[0], d[1], d[2], e[0], e[1], e[2]].map(|v| tet.volume * v)
}

impl<W: Width> Form<W> {
    /// As [`crate::material::PrincipalHessian::block`]; by columns.
    #[inline(always)]
    fn block(&self, a: &LaneVec3<W>, b: &LaneVec3<W>) -> LaneMat3<W> {
        let [s00, s10, s20, s11, s21, s22] = self.stretch;
        let (same, cross) = (&self.same, &self.cross);
        let (ab0, ab1, ab2) = (a[0] * b[0], a[1] * b[1], a[2] * b[2]);
        [
            [
                s00 * ab0 + same[2] * ab1 + same[1] * ab2,
                s10 * a[1] * b[0] + cross[2] * a[0] * b[1],
                s20 * a[2] * b[0] + cross[1] * a[0] * b[2],
            ],
            [
                s10 * a[0] * b[1] + cross[2] * a[1] * b[0],
                same[2] * ab0 + s11 * ab1 + same[0] * ab2,
                s21 * a[2] * b[1] + cross[0] * a[1] * b[2],
            ],
            [
                s20 * a[0] * b[2] + cross[1] * a[2] * b[0],
                s21 * a[1] * b[2] + cross[0] * a[2] * b[1],
                same[1] * ab0 + same[0] * ab1 + s22 * ab2,
            ],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::ElasticTets;
    use super::*;
    use crate::energy::lanes::tests::assert_same_bits;
    use crate::energy::{Element, Term};
    use crate::material::{Law, Material};
    use standoff_linalg::lanes;
    use standoff_sparse::block_pairs;
    use standoff_testkit::Random;

    /// Separate elements of all laws, some of them nearly flat or strongly stretched, at rest and deformed.
    fn elements() -> (ElasticTets, Vec<Vec3>) {
        let mut random = Random::new(7);
        let (mut rest, mut x, mut tets, mut materials) = (vec![], vec![], vec![], vec![]);
        for k in 0..123 {
            let size = [1.0, 0.1, 1e-3][k % 3];
            let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
            for corner in corners {
                let p = (corner + random.vec3() * 0.15) * size;
                rest.push(p);
                let squeeze = [1e-3, 0.8, 0.8, 1.8, 0.8][k % 5];
                let noise = random.vec3() * (0.05 * size);
                x.push(match k % 4 {
                    0 => p,
                    _ => Vec3::new(p.y, squeeze * p.z, p.x) + noise * squeeze,
                });
            }
            tets.push([0, 1, 2, 3].map(|a| 4 * k as u32 + a));
            let law = Law::ALL[k / 5 % Law::ALL.len()];
            materials.push(Material { law, young_modulus: 1e5, poisson_ratio: 0.4 });
        }
        (ElasticTets::new(&rest, tets, &materials).expect("valid elements"), x)
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        let (tets, x) = elements();
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 5 == 0).collect();
        let run = |range: std::ops::Range<usize>, wide: bool| {
            let mut out = vec![[Mat3::zeros(); 6]; range.len()];
            let kernel = Hessians {
                elements: &tets.elements[range.clone()],
                vertices: &tets.vertices()[range],
                x: &x,
                projection: Projection::Marked(&marked),
                out: &mut out,
            };
            if wide {
                lanes::dispatch(kernel)
            } else {
                lanes::scalar(kernel)
            };
            out
        };
        assert_same_bits(tets.len(), |first, wide| run(first..tets.len(), wide));
    }

    #[test]
    fn agrees_with_one_element_at_a_time() {
        let (tets, x) = elements();
        let mut out = vec![Mat3::zeros(); 6 * tets.len()];
        // every third element
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 12 == 1).collect();
        Term::hessians(&tets, 0..tets.len(), &x, Projection::Marked(&marked), &mut out);
        for (e, h) in out.chunks(6).enumerate() {
            let corners = tets.gather(e, &x);
            let single = match e % 3 {
                0 => tets.elements[e].hessian_psd(&corners),
                _ => tets.elements[e].hessian(&corners),
            };
            let size = single.as_flattened().iter().map(|b| b.norm()).fold(0.0, f64::max);
            for (block, (a, b)) in h.iter().zip(block_pairs(4).skip(4)) {
                let want = single[a][b];
                assert!((block - want).norm() <= 1e-12 * size, "element {e}: {block} {want}");
            }
        }
    }
}
