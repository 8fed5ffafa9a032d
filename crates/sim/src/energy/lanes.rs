//! Elements in lanes: gathering their vertices, and how their gradients and Hessians are stored.

use super::projection::Projection;
use standoff_linalg::lanes::{Kernel, LaneVec3, Lanes, MAX_LANES, Width};
use standoff_linalg::{Mat3, Vec3};

/// A kind of element whose energies and gradients are computed one element per lane. Mark the functions `#[inline(always)]`.
pub(super) trait LaneElement<const N: usize>: Sized {
    /// Energies of the elements of a batch, J, to as many numbers.
    fn lane_values<W: Width>(width: W, batch: &Batch<'_, Self, N>, out: &mut [f64]);

    /// Their derivatives by the vertices, N.
    fn lane_gradients<W: Width>(width: W, batch: &Batch<'_, Self, N>, out: &mut [[Vec3; N]]);
}

/// Elements at positions `x[vertices]`: at least one, and in what [`LaneElement`] is given at most one per lane.
pub(super) struct Batch<'a, E, const N: usize> {
    pub elements: &'a [E],
    pub vertices: &'a [[u32; N]],
    pub x: &'a [Vec3],
}

impl<'a, E, const N: usize> Batch<'a, E, N> {
    /// The same elements, `lanes` at a time.
    #[inline(always)]
    fn cut(&self, lanes: usize) -> impl Iterator<Item = Batch<'a, E, N>> {
        let x = self.x;
        let parts = self.elements.chunks(lanes).zip(self.vertices.chunks(lanes));
        parts.map(move |(elements, vertices)| Batch { elements, vertices, x })
    }

    /// Positions of the vertices of each lane's element.
    #[inline(always)]
    pub fn gather<W: Width>(&self, width: W) -> [LaneVec3<W>; N] {
        gather(width, &per_lane(self.vertices), self.x)
    }

    /// Positions of the vertices of one lane's element.
    #[inline(always)]
    pub fn corners(&self, lane: usize) -> [Vec3; N] {
        self.vertices[lane].map(|v| self.x[v as usize])
    }
}

/// Fills `out` with the energies of all elements, J.
pub(super) struct Values<'a, E, const N: usize> {
    pub all: Batch<'a, E, N>,
    pub out: &'a mut [f64],
}

impl<E: LaneElement<N>, const N: usize> Kernel for Values<'_, E, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let out = self.out.chunks_mut(W::F64_LANES);
        for (batch, out) in self.all.cut(W::F64_LANES).zip(out) {
            E::lane_values(width, &batch, &mut out[..batch.elements.len()]);
        }
    }
}

/// Fills `out` with the derivatives of their energies by the vertices, N.
pub(super) struct Gradients<'a, E, const N: usize> {
    pub all: Batch<'a, E, N>,
    pub out: &'a mut [[Vec3; N]],
}

impl<E: LaneElement<N>, const N: usize> Kernel for Gradients<'_, E, N> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let out = self.out.chunks_mut(W::F64_LANES);
        for (batch, out) in self.all.cut(W::F64_LANES).zip(out) {
            E::lane_gradients(width, &batch, &mut out[..batch.elements.len()]);
        }
    }
}

/// Whether the Hessian of each lane's element is projected.
#[inline(always)]
pub(super) fn projected<const N: usize>(
    projection: Projection<'_>,
    vertices: &[[u32; N]],
) -> [bool; MAX_LANES] {
    let mut out = [false; MAX_LANES];
    for (out, vertices) in out.iter_mut().zip(vertices) {
        *out = projection.applies_to(vertices);
    }
    out
}

/// One number per lane, in memory.
pub(super) type Row = [f64; MAX_LANES];

/// What belongs to each lane; the last one of `of` again in lanes beyond it, so that no lane computes with nothing.
#[inline(always)]
pub(super) fn per_lane<T>(of: &[T]) -> [&T; MAX_LANES] {
    let last = of.len() - 1;
    let mut out = [&of[last]; MAX_LANES];
    for lane in 0..MAX_LANES {
        out[lane] = &of[lane.min(last)];
    }
    out
}

/// Positions of the vertices of one element per lane.
#[inline(always)]
pub(super) fn gather<W: Width, const N: usize>(
    width: W,
    vertices: &[&[u32; N]; MAX_LANES],
    x: &[Vec3],
) -> [LaneVec3<W>; N] {
    let mut out = [[Lanes::splat(width, 0.0); 3]; N];
    for a in 0..N {
        let mut rows: [Row; 3] = [[0.0; MAX_LANES]; 3];
        for lane in 0..W::F64_LANES {
            let p = &x[vertices[lane][a] as usize];
            for i in 0..3 {
                rows[i][lane] = p[i];
            }
        }
        for i in 0..3 {
            out[a][i] = Lanes::load(width, &rows[i]);
        }
    }
    out
}

/// One vector per vertex of each lane's element.
#[inline(always)]
pub(super) fn scatter_vectors<W: Width, const N: usize>(
    vectors: &[LaneVec3<W>; N],
    out: &mut [[Vec3; N]],
) {
    for a in 0..N {
        let rows = [vectors[a][0].to_array(), vectors[a][1].to_array(), vectors[a][2].to_array()];
        for (lane, out) in out.iter_mut().enumerate() {
            out[a] = Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane]);
        }
    }
}

/// The blocks of each lane's element, `K` of them, one after the other.
#[inline(always)]
pub(super) fn scatter<W: Width, const K: usize>(
    blocks: &[[LaneVec3<W>; 3]; K],
    out: &mut [[Mat3; K]],
) {
    for (k, block) in blocks.iter().enumerate() {
        for c in 0..3 {
            for r in 0..3 {
                let row = block[c][r].to_array();
                for (out, value) in out.iter_mut().zip(row) {
                    out[k][(r, c)] = value;
                }
            }
        }
    }
}

/// Adds a bᵀ to `to`, by columns.
#[inline(always)]
pub(super) fn add_dyad<W: Width>(to: &mut [LaneVec3<W>; 3], a: &LaneVec3<W>, b: &LaneVec3<W>) {
    for c in 0..3 {
        for r in 0..3 {
            to[c][r] = to[c][r] + a[r] * b[c];
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Batch, Gradients, LaneElement, Values};
    use standoff_linalg::Vec3;
    use standoff_linalg::lanes::{Kernel, dispatch, scalar};
    use std::fmt::Debug;

    /// Runs a kernel on the widest vectors or on single numbers.
    pub(crate) fn run<K: Kernel>(kernel: K, wide: bool) -> K::Output {
        if wide { dispatch(kernel) } else { scalar(kernel) }
    }

    /// Energies of elements, on the widest vectors or on single numbers.
    pub(in crate::energy) fn values<E: LaneElement<N>, const N: usize>(
        elements: &[E],
        vertices: &[[u32; N]],
        x: &[Vec3],
        wide: bool,
    ) -> Vec<f64> {
        let mut out = vec![0.0; elements.len()];
        run(Values { all: Batch { elements, vertices, x }, out: &mut out }, wide);
        out
    }

    /// Gradients of elements, on the widest vectors or on single numbers.
    pub(in crate::energy) fn gradients<E: LaneElement<N>, const N: usize>(
        elements: &[E],
        vertices: &[[u32; N]],
        x: &[Vec3],
        wide: bool,
    ) -> Vec<[Vec3; N]> {
        let mut out = vec![[Vec3::zeros(); N]; elements.len()];
        run(Gradients { all: Batch { elements, vertices, x }, out: &mut out }, wide);
        out
    }

    /// Asserts that results are the same on wide vectors as on single numbers, and for elements `first..` as among all
    /// of them; `run(first, wide)` computes these.
    pub(crate) fn assert_same_bits<T: PartialEq + Debug>(
        count: usize,
        run: impl Fn(usize, bool) -> Vec<T>,
    ) {
        let all = run(0, true);
        assert_eq!(all.len(), count);
        assert!(all == run(0, false), "wide vectors and single numbers");
        for first in (1..count.min(64)).chain([count / 2, count - 1]) {
            assert!(all[first..] == run(first, true), "from {first} on");
        }
    }
}
