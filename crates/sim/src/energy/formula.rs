//! Elements whose formulas are written once: of one element with plain numbers, and of several at once, one per lane.

use super::element::{Element, Hessian};
use super::projection::Projection;
use standoff_linalg::lanes::{self, Kernel, Lanes, MAX_LANES, Width};
use standoff_linalg::{M3, Mat3, Real, V3, Vec3};

/// Where a formula reads what belongs to its element: in one element, or in one per lane.
pub(super) trait Source<E>: Copy {
    /// The numbers in which the formula computes.
    type R: Real;
    /// A number of the element.
    fn number(self, of: impl Fn(&E) -> f64) -> Self::R;
    /// A truth value of the element.
    fn mask(self, of: impl Fn(&E) -> bool) -> <Self::R as Real>::Mask;
    /// The bits that are set for any element.
    fn union(self, of: impl Fn(&E) -> u32) -> u32;
}

impl<E> Source<E> for &E {
    type R = f64;

    #[inline(always)]
    fn number(self, of: impl Fn(&E) -> f64) -> f64 {
        of(self)
    }
    #[inline(always)]
    fn mask(self, of: impl Fn(&E) -> bool) -> bool {
        of(self)
    }
    #[inline(always)]
    fn union(self, of: impl Fn(&E) -> u32) -> u32 {
        of(self)
    }
}

/// One element per lane; the last one again in lanes beyond it, so that no lane computes with nothing.
pub(super) struct PerLane<'a, W, E> {
    width: W,
    elements: [&'a E; MAX_LANES],
}

impl<W: Copy, E> Clone for PerLane<'_, W, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Copy, E> Copy for PerLane<'_, W, E> {}

impl<W: Width, E> Source<E> for PerLane<'_, W, E> {
    type R = Lanes<W>;

    #[inline(always)]
    fn number(self, of: impl Fn(&E) -> f64) -> Lanes<W> {
        let mut row = [0.0; MAX_LANES];
        for lane in 0..W::F64_LANES {
            row[lane] = of(self.elements[lane]);
        }
        Lanes::load(self.width, &row)
    }
    #[inline(always)]
    fn mask(self, of: impl Fn(&E) -> bool) -> lanes::Mask<W> {
        let mut row = [false; MAX_LANES];
        for lane in 0..W::F64_LANES {
            row[lane] = of(self.elements[lane]);
        }
        lanes::Mask::load(self.width, &row)
    }
    #[inline(always)]
    fn union(self, of: impl Fn(&E) -> u32) -> u32 {
        let mut bits = 0;
        for lane in 0..W::F64_LANES {
            bits |= of(self.elements[lane]);
        }
        bits
    }
}

/// An element over N vertices, by formulas for any number. Mark the functions `#[inline(always)]`.
pub(super) trait Formula<const N: usize, const K: usize>: Element<N> {
    /// Energy, J; infinite where it is not defined.
    fn energy<S: Source<Self>>(of: S, x: &[V3<S::R>; N]) -> S::R;

    /// Derivative by the vertices, N.
    fn slope<S: Source<Self>>(of: S, x: &[V3<S::R>; N]) -> [V3<S::R>; N];

    /// The K = N(N − 1)/2 blocks off the diagonal of the second derivative, (0,1), (0,2), …, N/m: projected to be positive
    /// semidefinite where `project`. The blocks on the diagonal follow, because translations do no work.
    fn curvature<S: Source<Self>>(
        of: S,
        x: &[V3<S::R>; N],
        project: <S::R as Real>::Mask,
    ) -> [M3<S::R>; K];
}

/// The functions of [`Element`] that compute, by a [`Formula`] with these numbers of vertices and blocks.
macro_rules! by_formula {
    ($n:literal, $k:literal) => {
        const TRANSLATION_INVARIANT: bool = true;

        #[inline]
        fn value(&self, x: &[Vec3; $n]) -> f64 {
            <Self as Formula<$n, $k>>::energy(self, &formula::plain(x))
        }
        #[inline]
        fn gradient(&self, x: &[Vec3; $n]) -> [Vec3; $n] {
            <Self as Formula<$n, $k>>::slope(self, &formula::plain(x)).map(Vec3::from)
        }
        #[inline]
        fn hessian_psd(&self, x: &[Vec3; $n]) -> Hessian<$n> {
            formula::complete(&<Self as Formula<$n, $k>>::curvature(self, &formula::plain(x), true))
        }
        #[inline]
        fn hessian(&self, x: &[Vec3; $n]) -> Hessian<$n> {
            formula::complete(&<Self as Formula<$n, $k>>::curvature(
                self,
                &formula::plain(x),
                false,
            ))
        }
        /// Several elements at once, one per lane.
        fn values(elements: &[Self], vertices: &[[u32; $n]], x: &[Vec3], out: &mut [f64]) {
            lanes::dispatch(formula::Values { all: Batch { elements, vertices, x }, out });
        }
        /// Several elements at once, one per lane.
        fn gradients(
            elements: &[Self],
            vertices: &[[u32; $n]],
            x: &[Vec3],
            out: &mut [[Vec3; $n]],
        ) {
            lanes::dispatch(formula::Gradients { all: Batch { elements, vertices, x }, out });
        }
        /// Several elements at once, one per lane.
        fn hessians(
            elements: &[Self],
            vertices: &[[u32; $n]],
            x: &[Vec3],
            projection: Projection<'_>,
            out: &mut [Mat3],
        ) {
            let (out, _) = out.as_chunks_mut::<$k>();
            let all = Batch { elements, vertices, x };
            lanes::dispatch(formula::Hessians { all, projection, out });
        }
    };
}
pub(super) use by_formula;

/// Positions for a formula of one element.
#[inline(always)]
pub(super) fn plain<const N: usize>(x: &[Vec3; N]) -> [V3<f64>; N] {
    let mut out = [V3([0.0; 3]); N];
    for a in 0..N {
        out[a] = (&x[a]).into();
    }
    out
}

/// The Hessian with these blocks above the diagonal, row by row, whose rows and columns sum to zero.
pub(super) fn complete<const N: usize, const K: usize>(above: &[M3<f64>; K]) -> Hessian<N> {
    let mut h = [[Mat3::zeros(); N]; N];
    let mut blocks = above.iter();
    for a in 0..N {
        for (b, block) in (a + 1..N).zip(&mut blocks) {
            h[a][b] = (*block).into();
            h[b][a] = h[a][b].transpose();
        }
    }
    for a in 0..N {
        h[a][a] = -h[a].iter().sum::<Mat3>();
    }
    h
}

/// The blocks off the diagonal by four vertices of a function of the positions of vertices 1, 2, 3 relative to vertex 0, from its
/// blocks on and above the diagonal: translations do no work, so that rows and columns sum to zero.
#[inline(always)]
pub(super) fn of_relative<R: Real>(
    [h11, h22, h33]: [M3<R>; 3],
    [h12, h13, h23]: [M3<R>; 3],
) -> [M3<R>; 6] {
    let h01 = -(h11 + h12.transpose() + h13.transpose());
    let h02 = -(h12 + h22 + h23.transpose());
    [h01, h02, -(h13 + h23 + h33), h12, h13, h23]
}

/// Elements at positions `x[vertices]`.
pub(super) struct Batch<'a, E, const N: usize> {
    pub elements: &'a [E],
    pub vertices: &'a [[u32; N]],
    pub x: &'a [Vec3],
}

impl<'a, E, const N: usize> Batch<'a, E, N> {
    /// The same elements, at most `lanes` at a time.
    #[inline(always)]
    fn cut(&self, lanes: usize) -> impl Iterator<Item = Batch<'a, E, N>> {
        let x = self.x;
        let parts = self.elements.chunks(lanes).zip(self.vertices.chunks(lanes));
        parts.map(move |(elements, vertices)| Batch { elements, vertices, x })
    }

    /// One element per lane.
    #[inline(always)]
    pub fn source<W: Width>(&self, width: W) -> PerLane<'a, W, E> {
        PerLane { width, elements: per_lane(self.elements) }
    }

    /// Positions of the vertices of each lane's element.
    #[inline(always)]
    pub fn positions<W: Width>(&self, width: W) -> [V3<Lanes<W>>; N] {
        gather(width, &per_lane(self.vertices), self.x)
    }
}

/// Fills `out` with the energies of all elements, J.
pub(super) struct Values<'a, E, const N: usize, const K: usize> {
    pub all: Batch<'a, E, N>,
    pub out: &'a mut [f64],
}

impl<E: Formula<N, K>, const N: usize, const K: usize> Kernel for Values<'_, E, N, K> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let out = self.out.chunks_mut(W::F64_LANES);
        for (batch, out) in self.all.cut(W::F64_LANES).zip(out) {
            let values = E::energy(batch.source(width), &batch.positions(width)).to_array();
            for (to, from) in out.iter_mut().zip(values) {
                *to = from;
            }
        }
    }
}

/// Fills `out` with the derivatives of their energies by the vertices, N.
pub(super) struct Gradients<'a, E, const N: usize, const K: usize> {
    pub all: Batch<'a, E, N>,
    pub out: &'a mut [[Vec3; N]],
}

impl<E: Formula<N, K>, const N: usize, const K: usize> Kernel for Gradients<'_, E, N, K> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let out = self.out.chunks_mut(W::F64_LANES);
        for (batch, out) in self.all.cut(W::F64_LANES).zip(out) {
            let vectors = E::slope(batch.source(width), &batch.positions(width));
            for a in 0..N {
                let [x, y, z] = vectors[a].0;
                let rows = [x.to_array(), y.to_array(), z.to_array()];
                for (lane, out) in out.iter_mut().enumerate() {
                    out[a] = Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane]);
                }
            }
        }
    }
}

/// Fills `out` with the blocks of their Hessians off the diagonal, N/m.
pub(super) struct Hessians<'a, E, const N: usize, const K: usize> {
    pub all: Batch<'a, E, N>,
    pub projection: Projection<'a>,
    pub out: &'a mut [[Mat3; K]],
}

impl<E: Formula<N, K>, const N: usize, const K: usize> Kernel for Hessians<'_, E, N, K> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        // kept from batch to batch: clearing it takes as long as a singular value decomposition
        let mut entries = [[[0.0; MAX_LANES]; 9]; K];
        let out = self.out.chunks_mut(W::F64_LANES);
        for (batch, out) in self.all.cut(W::F64_LANES).zip(out) {
            let mut project = [false; MAX_LANES];
            for (project, vertices) in project.iter_mut().zip(batch.vertices) {
                *project = self.projection.applies_to(vertices);
            }
            let project = lanes::Mask::load(width, &project);
            let blocks = E::curvature(batch.source(width), &batch.positions(width), project);
            for k in 0..K {
                for c in 0..3 {
                    for r in 0..3 {
                        blocks[k][c][r].store(&mut entries[k][3 * c + r]);
                    }
                }
            }
            for (lane, out) in out.iter_mut().enumerate() {
                for (block, entries) in out.iter_mut().zip(&entries) {
                    for (to, from) in block.as_mut_slice().iter_mut().zip(entries) {
                        *to = from[lane];
                    }
                }
            }
        }
    }
}

/// What belongs to each lane; the last one of `of` again in lanes beyond it.
#[inline(always)]
pub(super) fn per_lane<T>(of: &[T]) -> [&T; MAX_LANES] {
    let last = of.len() - 1;
    let mut out = [&of[last]; MAX_LANES];
    for lane in 0..MAX_LANES {
        out[lane] = &of[lane.min(last)];
    }
    out
}

/// Positions (or other values) of the vertices of one element per lane.
#[inline(always)]
pub(super) fn gather<W: Width, const N: usize>(
    width: W,
    vertices: &[&[u32; N]; MAX_LANES],
    x: &[Vec3],
) -> [V3<Lanes<W>>; N] {
    let mut out = [V3::repeat(Lanes::splat(width, 0.0)); N];
    for a in 0..N {
        let mut rows = [[0.0; MAX_LANES]; 3];
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

#[cfg(test)]
pub(crate) mod tests;
