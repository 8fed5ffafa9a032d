//! Hinge Hessians several at once, one hinge per lane: the fast twin of `Hinge::second_derivative`, where the mathematics is
//! explained. It gives the blocks off the diagonal.
//!
//! Loops instead of closures: everything has to end up in one function for the vector registers to be used.

use super::Hinge;
use super::first_order::{LaneView, Parameters, Side};
use crate::energy::Projection;
use crate::energy::lanes::{add_dyad, gather, per_lane, projected, scatter};
use standoff_linalg::lanes::{
    Kernel, LaneMat3, LaneVec3, Lanes, MAX_LANES, Width, add, dot, minus_sum, scaled, sub,
    transpose,
};
use standoff_linalg::{Mat3, Vec3};

/// Fills `out` with the blocks (0,1), (0,2), (0,3), (1,2), (1,3), (2,3) of the Hessians of hinges at positions
/// `x[vertices]`.
pub(super) struct Hessians<'a> {
    pub elements: &'a [Hinge],
    pub vertices: &'a [[u32; 4]],
    pub x: &'a [Vec3],
    pub projection: Projection<'a>,
    pub out: &'a mut [[Mat3; 6]],
}

impl Kernel for Hessians<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let n = W::F64_LANES;
        let batches = self.elements.chunks(n).zip(self.vertices.chunks(n));
        for ((elements, vertices), out) in batches.zip(self.out.chunks_mut(n)) {
            let project = projected(self.projection, vertices);
            let x = gather(width, &per_lane(vertices), self.x);
            scatter(&hessians(width, elements, project, &x), out);
        }
    }
}

/// Derivatives of ρ, τ and σ by a corner.
#[inline(always)]
fn local<W: Width>(s: &Side<W>, along: &LaneVec3<W>) -> [LaneVec3<W>; 3] {
    let over = s.over_height;
    [scaled(&s.out, over), scaled(&s.turn, over), scaled(along, over)]
}

/// Square root of a positive semidefinite 2×2 matrix of entries (0,0), (0,1), (1,1).
#[inline(always)]
fn root<W: Width>(width: W, m: [Lanes<W>; 3]) -> [Lanes<W>; 3] {
    let zero = Lanes::splat(width, 0.0);
    let det = (m[0] * m[2] - m[1] * m[1]).max(zero).sqrt();
    let over = Lanes::splat(width, 1.0) / (m[0] + m[2] + det + det).sqrt();
    [(m[0] + det) * over, m[1] * over, (m[2] + det) * over]
}

#[inline(always)]
// long: one formula, with its matrices written out
fn hessians<W: Width>(
    width: W,
    elements: &[Hinge],
    project: [bool; MAX_LANES],
    x: &[LaneVec3<W>; 4],
) -> [LaneMat3<W>; 6] {
    let (zero, half, one) =
        (Lanes::splat(width, 0.0), Lanes::splat(width, 0.5), Lanes::splat(width, 1.0));
    let LaneView { over_length, along, sides: [a, b], angle } = LaneView::new(width, x);
    let parameters = Parameters::new(width, &per_lane(elements));
    let bent = parameters.bend(width, angle);
    let scale = parameters.stiffness + parameters.stiffness;

    // the matrix of (ρ_a, ρ_b, τ_a, τ_b), c, and that of (σ_a, σ_b, ε₁, ε₂), d
    let square = bent * bent;
    let value = one + (one + square).sqrt();
    let positive = value / (value * value + square);
    let project = Lanes::load(width, &project.map(f64::from));
    let (as_it_is, two) = (project.le(zero), one + one);
    let dd = as_it_is.select(two, positive * value * value);
    let ds = as_it_is.select(-bent, -(positive * value * bent));
    let ss = as_it_is.select(zero, positive * square);
    let size = as_it_is.select(zero, half * bent.abs());
    let mixed = as_it_is.select(-bent, -(half * bent));
    let halves = half * scale;
    let [same, other] = [halves * (ss + size), halves * (ss - size)];
    let [turn, against] = [halves * (size + dd), halves * (size - dd)];
    let [sum, difference] = [halves * (ds + mixed), halves * (ds - mixed)];
    let c = [
        [same, other, -sum, difference],
        [other, same, -difference, sum],
        [-sum, -difference, turn, against],
        [difference, sum, against, turn],
    ];
    let (m10, m11) = (-dot(&b.turn, &a.out), -dot(&b.turn, &a.turn));
    let rows = root(width, [one, m11, m10 * m10 + m11 * m11]);
    let columns = root(width, [m10 * m10, m10 * m11, one + m11 * m11]);
    let (size, mixed) = (size * scale, -(mixed * scale));
    let mut d = [[zero; 4]; 4];
    (d[0][0], d[0][1], d[1][0], d[1][1]) =
        (size * rows[0], size * rows[1], size * rows[1], size * rows[2]);
    (d[2][2], d[2][3], d[3][2], d[3][3]) =
        (size * columns[0], size * columns[1], size * columns[1], size * columns[2]);
    (d[0][3], d[3][0]) = (mixed, mixed);
    (d[1][2], d[1][3]) = (mixed * m10, mixed * m11);
    (d[2][1], d[3][1]) = (d[1][2], d[1][3]);

    // derivatives of the eight quantities by the corners a and b, and by e
    let [of_a, of_b] = [local(&a, &along), local(&b, &along)];
    let half_over = half * over_length;
    let mut by_e = [[[zero; 3]; 4]; 2];
    for (k, (s, of)) in [(a, of_a), (b, of_b)].into_iter().enumerate() {
        by_e[0][k] = scaled(&of[0], -s.foot);
        by_e[0][2 + k] = scaled(&of[1], -s.foot);
        by_e[1][k] = sub(&scaled(&s.out, half_over), &scaled(&of[2], s.foot));
    }
    by_e[1][2] = scaled(&a.out, over_length);
    by_e[1][3] = scaled(&a.turn, over_length);

    // h_ij = Σ q_i K q_jᵀ for e, a and b
    let [mut wc, mut wd] = [[[zero; 3]; 4]; 2];
    let mut h00 = [[zero; 3]; 3];
    for s in 0..4 {
        wc[s] = by(&c[s], &by_e[0]);
        wd[s] = by(&d[s], &by_e[1]);
        add_dyad(&mut h00, &wc[s], &by_e[0][s]);
        add_dyad(&mut h00, &wd[s], &by_e[1][s]);
    }
    let h01 = three([&wc[0], &wc[2], &wd[0]], &of_a);
    let h02 = three([&wc[1], &wc[3], &wd[1]], &of_b);
    let [c0, c1, c2, c3] = c;
    let h11 = three(
        [&both(&of_a, c0[0], c2[0]), &both(&of_a, c0[2], c2[2]), &scaled(&of_a[2], d[0][0])],
        &of_a,
    );
    let h12 = three(
        [&both(&of_a, c0[1], c2[1]), &both(&of_a, c0[3], c2[3]), &scaled(&of_a[2], d[0][1])],
        &of_b,
    );
    let h22 = three(
        [&both(&of_b, c1[1], c3[1]), &both(&of_b, c1[3], c3[3]), &scaled(&of_b[2], d[1][1])],
        &of_b,
    );
    // translations do no work: rows and columns sum to 0
    let first = minus_sum(&h00, &transpose(&h01), &transpose(&h02));
    let second = minus_sum(&h01, &h11, &transpose(&h12));
    [first, second, minus_sum(&h02, &h12, &h22), h01, h02, h12]
}

/// Σ kᵣ qᵣ.
#[inline(always)]
fn by<W: Width>(k: &[Lanes<W>; 4], q: &[LaneVec3<W>; 4]) -> LaneVec3<W> {
    let first = add(&scaled(&q[0], k[0]), &scaled(&q[1], k[1]));
    add(&first, &add(&scaled(&q[2], k[2]), &scaled(&q[3], k[3])))
}

/// The first two vectors with these factors, together.
#[inline(always)]
fn both<W: Width>(of: &[LaneVec3<W>; 3], first: Lanes<W>, second: Lanes<W>) -> LaneVec3<W> {
    add(&scaled(&of[0], first), &scaled(&of[1], second))
}

/// Σ aₖ bₖᵀ.
#[inline(always)]
fn three<W: Width>(a: [&LaneVec3<W>; 3], b: &[LaneVec3<W>; 3]) -> LaneMat3<W> {
    let mut out = [*a[0]; 3];
    for c in 0..3 {
        for r in 0..3 {
            out[c][r] = a[0][r] * b[0][c] + a[1][r] * b[1][c] + a[2][r] * b[2][c];
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::energy::Element;
    use crate::energy::lanes::tests::assert_same_bits;
    use crate::energy::turning::Turning;
    use standoff_linalg::lanes;
    use standoff_testkit::Random;

    /// Flat, bent, folded and very uneven hinges, far from and at their rest angles, some of them turned
    /// beyond 180° since the start of the step or before.
    pub(in super::super) fn hinges() -> (Vec<Hinge>, Vec<[u32; 4]>, Vec<Vec3>) {
        let r = &mut Random::new(5);
        let (mut hinges, mut vertices, mut x) = (Vec::new(), Vec::new(), Vec::new());
        for k in 0..203 {
            let flat = [Vec3::zeros(), Vec3::x(), Vec3::y() * 0.9, -Vec3::y() * [1.0, 1e-3][k % 2]];
            let noise = [0.0, 1e-6, 0.1, 0.6][k % 4];
            let at = |p: &Vec3| (p + r.vec3() * noise) * [1.0, 1e-3][k % 3 / 2];
            let p: Vec<Vec3> = flat.iter().map(at).collect();
            let rest_angle = [None, Some(0.3), Some(-2.0)][k % 3];
            hinges.push(Hinge::new(&[p[0], p[1], p[2], p[3]], 2.0, rest_angle));
            vertices.push([0, 1, 2, 3].map(|a| x.len() as u32 + a));
            let moved = |p: &Vec3| p + r.vec3() * (p.norm() * [0.0, 0.2][k % 5 / 4]);
            x.extend(p.iter().map(moved));
        }
        for (k, hinge) in hinges.iter_mut().enumerate().filter(|(k, _)| k % 7 > 3) {
            let start = [-3.1, 3.1, 0.0][k % 7 - 4];
            hinge.turning = Turning::new(start, [-1, 0, 2][k % 3]);
        }
        (hinges, vertices, x)
    }

    fn run(first: usize, wide: bool) -> Vec<[Mat3; 6]> {
        let (elements, vertices, x) = hinges();
        let mut out = vec![[Mat3::zeros(); 6]; elements.len() - first];
        let (elements, vertices) = (&elements[first..], &vertices[first..]);
        // every third element
        let marked: Vec<bool> = (0..x.len()).map(|v| v % 12 == 1).collect();
        let projection = Projection::Marked(&marked);
        let kernel = Hessians { elements, vertices, x: &x, projection, out: &mut out };
        if wide {
            lanes::dispatch(kernel)
        } else {
            lanes::scalar(kernel)
        };
        out
    }

    #[test]
    fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
        assert_same_bits(203, run);
    }

    #[test]
    fn agrees_with_one_hinge_at_a_time() {
        let (elements, vertices, x) = hinges();
        for (k, found) in run(0, true).iter().enumerate() {
            let corners = vertices[k].map(|v| x[v as usize]);
            let want = match k % 3 {
                0 => elements[k].hessian_psd(&corners),
                _ => elements[k].hessian(&corners),
            };
            let size = want.as_flattened().iter().map(|b| b.norm()).fold(0.0, f64::max);
            let above = (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b)));
            for (found, (a, b)) in found.iter().zip(above) {
                let want = want[a][b];
                assert!(
                    (found - want).norm() <= 1e-12 * size,
                    "hinge {k}, {a} {b}: {found} {want}"
                );
            }
        }
    }
}
