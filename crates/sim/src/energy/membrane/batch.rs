//! Membrane Hessians several at once, one triangle per lane: the fast twin of `Membrane::second_derivative` for isotropic laws,
//! of which it gives the blocks off the diagonal.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be used.

use super::first_order::{FLAT, gradient_of_map, shape};
use super::{Membrane, Sheet, Stiffness};
use crate::energy::Projection;
use crate::energy::lanes::{Row, add_dyad, gather, per_lane, projected, scatter};
use standoff_linalg::lanes::{
    Kernel, LaneMat3, LaneVec3, Lanes, MAX_LANES, Width, add, cross, dot, scaled, transpose,
};
use standoff_linalg::{Mat3, Vec3};

/// Fills `out` with the blocks (0,1), (0,2), (1,2) of the Hessians of triangles at positions `x[vertices]`.
pub(super) struct Hessians<'a> {
    pub elements: &'a [Membrane],
    pub vertices: &'a [[u32; 3]],
    pub x: &'a [Vec3],
    pub projection: Projection<'a>,
    pub out: &'a mut [[Mat3; 3]],
}

impl Kernel for Hessians<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let n = W::F64_LANES;
        let batches = self.elements.chunks(n).zip(self.vertices.chunks(n));
        for ((elements, vertices), out) in batches.zip(self.out.chunks_mut(n)) {
            let x = gather(width, &per_lane(vertices), self.x);
            let project = projected(self.projection, vertices);
            let (blocks, ordinary) = hessians(width, elements, project, &x);
            scatter(&blocks, out);
            for (lane, element) in elements.iter().enumerate() {
                if !ordinary[lane] {
                    let x = vertices[lane].map(|v| self.x[v as usize]);
                    let h = element.second_derivative(&x, project[lane]);
                    out[lane] = [h[0][1], h[0][2], h[1][2]];
                }
            }
        }
    }
}

/// The blocks of all lanes, and in which of them they are valid: not for orthotropic sheets and nearly flattened triangles.
#[inline(always)]
// long: one formula, from the deformation gradient to the blocks
fn hessians<W: Width>(
    width: W,
    elements: &[Membrane],
    project: [bool; MAX_LANES],
    x: &[LaneVec3<W>; 3],
) -> ([LaneMat3<W>; 3], [bool; MAX_LANES]) {
    let (zero, half, one) =
        (Lanes::splat(width, 0.0), Lanes::splat(width, 0.5), Lanes::splat(width, 1.0));
    let shape = shape(width, &per_lane(elements));
    let f = gradient_of_map(&shape, x);
    // singular values, and the right singular vectors (cos, sin), (−sin, cos)
    let (c11, c22, c12) = (dot(&f[0], &f[0]), dot(&f[1], &f[1]), dot(&f[0], &f[1]));
    let difference = half * (c11 - c22);
    let radius = (difference * difference + c12 * c12).sqrt();
    let s1 = (half * (c11 + c22) + radius).sqrt();
    let normal = cross(&f[0], &f[1]);
    let double_area = dot(&normal, &normal).sqrt();
    let s2 = double_area / s1;
    let round = radius.le(zero);
    let large = (half * (one + difference.abs() / radius)).sqrt();
    let small = half * (c12 / radius) / large;
    let negative = difference.lt(zero);
    let flipped = c12.lt(zero).select(-large, large);
    let cos = round.select(one, negative.select(small.abs(), large));
    let sin = round.select(zero, negative.select(flipped, small));
    // left singular vectors
    let u1 = scaled(&add(&scaled(&f[0], cos), &scaled(&f[1], sin)), one / s1);
    let n = scaled(&normal, one / double_area);
    let u2 = cross(&n, &u1);

    let (stiffness, ordinary) = stiffness(width, elements, project, s1, s2);
    // gradients of the shape functions in the basis of the right singular vectors
    let mut g = [[zero; 2]; 2];
    for a in 0..2 {
        g[a][0] = shape[a][0] * cos + shape[a][1] * sin;
        g[a][1] = shape[a][1] * cos - shape[a][0] * sin;
    }
    let h11 = block(&stiffness, &g[0], &g[0], &u1, &u2, &n);
    let h12 = block(&stiffness, &g[0], &g[1], &u1, &u2, &n);
    let h22 = block(&stiffness, &g[1], &g[1], &u1, &u2, &n);
    // a translation does nothing, so rows sum to zero
    let (mut h01, mut h02) = (transpose(&h12), h12);
    for c in 0..3 {
        for r in 0..3 {
            h01[c][r] = -(h11[c][r] + h01[c][r]);
            h02[c][r] = -(h12[c][r] + h22[c][r]);
        }
    }
    ([h01, h02, h12], ordinary)
}

/// [`Stiffness`] times the volume, as entries: a₁₁, a₂₂, a₁₂, same, swap, bend₁, bend₂. Laws differ from lane to lane, so one
/// after the other.
#[inline(always)]
fn stiffness<W: Width>(
    width: W,
    elements: &[Membrane],
    project: [bool; MAX_LANES],
    s1: Lanes<W>,
    s2: Lanes<W>,
) -> ([Lanes<W>; 7], [bool; MAX_LANES]) {
    let (s1, s2) = (s1.to_array(), s2.to_array());
    let mut rows: [Row; 7] = [[0.0; MAX_LANES]; 7];
    let mut ordinary = [false; MAX_LANES];
    for (lane, element) in elements.iter().enumerate() {
        let s = [s1[lane], s2[lane]];
        // written so that NaN is not
        ordinary[lane] = s[1] > FLAT * s[0] && matches!(element.sheet, Sheet::Isotropic(..));
        if let Some(p) = element.principal(s).filter(|_| ordinary[lane]) {
            let Stiffness { stretch, same, swap, bend } = Stiffness::new(s, &p, project[lane]);
            let [a11, a22, a12] = stretch;
            let entries = [a11, a22, a12, same, swap, bend[0], bend[1]];
            for k in 0..7 {
                rows[k][lane] = element.volume * entries[k];
            }
        }
    }
    let mut out = [Lanes::splat(width, 0.0); 7];
    for k in 0..7 {
        out[k] = Lanes::load(width, &rows[k]);
    }
    (out, ordinary)
}

/// The block of the corners with gradients `a` and `b`.
#[inline(always)]
fn block<W: Width>(
    stiffness: &[Lanes<W>; 7],
    a: &[Lanes<W>; 2],
    b: &[Lanes<W>; 2],
    u1: &LaneVec3<W>,
    u2: &LaneVec3<W>,
    n: &LaneVec3<W>,
) -> LaneMat3<W> {
    let [a11, a22, a12, same, swap, bend1, bend2] = *stiffness;
    let (first, second) = (a[0] * b[0], a[1] * b[1]);
    let (up, down) = (a[0] * b[1], a[1] * b[0]);
    let k11 = a11 * first + same * second;
    let k22 = a22 * second + same * first;
    let k12 = a12 * up + swap * down;
    let k21 = a12 * down + swap * up;
    let mut out = [*u1; 3];
    let left = add(&scaled(u1, k11), &scaled(u2, k21));
    for c in 0..3 {
        out[c] = scaled(&left, u1[c]);
    }
    add_dyad(&mut out, &add(&scaled(u1, k12), &scaled(u2, k22)), u2);
    add_dyad(&mut out, &scaled(n, bend1 * first + bend2 * second), n);
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::energy::Element;
    use crate::energy::lanes::tests::assert_same_bits;
    use crate::material::membrane::{MembraneLaw, Orthotropic, SheetLame, StretchLimit};
    use standoff_linalg::lanes;
    use standoff_testkit::Random;

    /// Triangles of all laws: at rest, stretched, compressed, turned, nearly and entirely without area.
    pub(in super::super) fn triangles() -> (Vec<Membrane>, Vec<[u32; 3]>, Vec<Vec3>) {
        let r = &mut Random::new(6);
        let (mut elements, mut vertices, mut x) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..205 {
            let size = [1.0, 1e-3][k % 2];
            let rest = [Vec3::zeros(), Vec3::x(), Vec3::y()].map(|p| (p + r.vec3() * 0.2) * size);
            let lame = SheetLame::new(1e5, 0.3);
            let sheet = match k % 5 {
                0 => Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, lame),
                1 => Sheet::Orthotropic(Orthotropic::new([1e5, 2e4], 0.3, 1e4, None)),
                _ => Sheet::Isotropic(MembraneLaw::NeoHookean, lame),
            };
            let mut element = Membrane::new(&rest, 1e-3, sheet, None).expect("an area");
            if k % 4 == 0 {
                element.limit = Some(StretchLimit { limit: 1.3, threshold: 1.0, stiffness: 1e4 });
            }
            elements.push(element);
            vertices.push([0, 1, 2].map(|a| x.len() as u32 + a));
            let noise = [0.0, 0.05, 0.3][k % 3] * size;
            let mut moved = rest.map(|p| Vec3::new(p.z, p.x, p.y) + r.vec3() * noise);
            if k % 17 == 0 {
                moved[2] = moved[0] + (moved[1] - moved[0]) * 0.5;
            }
            if k % 19 == 0 {
                moved[2] = moved[0] + (moved[2] - moved[0]) * 1e-6;
            }
            x.extend(moved);
        }
        (elements, vertices, x)
    }

    fn run(first: usize, wide: bool) -> Vec<[Mat3; 3]> {
        let (elements, vertices, x) = triangles();
        let mut out = vec![[Mat3::zeros(); 3]; elements.len() - first];
        let (elements, vertices) = (&elements[first..], &vertices[first..]);
        // every third element
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 9 == 1).collect();
        let projection = Projection::Marked(&marked);
        let kernel = Hessians { elements, vertices, x: &x, projection, out: &mut out };
        if wide {
            lanes::dispatch(kernel)
        } else {
            lanes::scalar(kernel)
        };
        out
    }

    /// The bits, since blocks of a triangle without area hold NaN.
    fn bits(blocks: &[[Mat3; 3]]) -> Vec<u64> {
        blocks.as_flattened().iter().flatten().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        // as bits, since blocks of a triangle without area hold NaN
        assert_same_bits(205, |first, wide| run(first, wide).iter().map(|b| bits(&[*b])).collect());
    }

    #[test]
    fn agrees_with_one_triangle_at_a_time() {
        let (elements, vertices, x) = triangles();
        for (k, found) in run(0, true).iter().enumerate() {
            let corners = vertices[k].map(|v| x[v as usize]);
            let want = match k % 3 {
                0 => elements[k].hessian_psd(&corners),
                _ => elements[k].hessian(&corners),
            };
            let want = [want[0][1], want[0][2], want[1][2]];
            let size = want.iter().map(|b| b.norm()).fold(0.0, f64::max);
            if !size.is_finite() {
                assert_eq!(bits(&[*found]), bits(&[want]), "triangle {k}");
                continue;
            }
            for (found, want) in found.iter().zip(&want) {
                assert!((found - want).norm() <= 1e-10 * size, "triangle {k}: {found} {want}");
            }
        }
    }
}
