//! Energies whose summands all have the same number N of vertices: one summand as a pure function of
//! their positions, and lists of such summands.
//!
//! Sums run in a fixed order, whatever the number of threads.

// long: what one element has to say, and what follows for a list of them, each a few lines

use super::projection::Projection;
use super::term::{Origin, Owner, Role, Term};
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Layout, Stencils, pack};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Second derivative by N vertices: block (a, b) is ∂²Ψ/∂xₐ∂x_b, N/m.
pub type Hessian<const N: usize> = [[Mat3; N]; N];

/// One summand of an energy over N vertices.
pub trait Element<const N: usize>: Debug + Clone + Send + Sync {
    /// The energy's row in reports.
    const NAME: &'static str;

    /// What the energy is for.
    const ROLE: Role = Role::Load;

    /// The key of a body in a scene by which the energy grows, if a scene sets it.
    const KEY: Option<&'static str> = None;

    /// Whether moving all vertices by the same vector leaves the energy as it is: then the rows of its
    /// Hessian sum to zero, and the blocks on the diagonal need not be stored.
    const TRANSLATION_INVARIANT: bool;

    /// Energy, J; +∞ beyond what the element can bear.
    fn value(&self, x: &[Vec3; N]) -> f64;

    /// Derivative by the vertices (minus the forces), N.
    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N];

    /// Second derivative by the vertices, projected to be positive semidefinite, N/m.
    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N>;

    /// Second derivative by the vertices, N/m. A kind of element that only has the projected one gives that: Newton's
    /// method works with it, but does not converge quadratically where the two differ.
    fn hessian(&self, x: &[Vec3; N]) -> Hessian<N> {
        self.hessian_psd(x)
    }

    /// Energies of several elements at positions `x[vertices]`, J, to as many numbers; a kind of element with a way to compute several at
    /// once says so here, and in the same way below. What is computed for an element must not depend on which others
    /// are computed with it.
    #[inline]
    fn values(elements: &[Self], vertices: &[[u32; N]], x: &[Vec3], out: &mut [f64]) {
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out) {
            *out = element.value(&gather(vertices, x));
        }
    }

    /// Derivatives of several elements by their vertices at positions `x[vertices]`, N.
    #[inline]
    fn gradients(elements: &[Self], vertices: &[[u32; N]], x: &[Vec3], out: &mut [[Vec3; N]]) {
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out) {
            *out = element.gradient(&gather(vertices, x));
        }
    }

    /// The least [`Element::max_step`] of several elements at positions `x[vertices]`; 1 of none.
    #[inline]
    fn least_max_step(elements: &[Self], vertices: &[[u32; N]], x: &[Vec3], dx: &[Vec3]) -> f64 {
        let step = |(element, vertices): (&Self, &[u32; N])| {
            element.max_step(&gather(vertices, x), &gather(vertices, dx))
        };
        elements.iter().zip(vertices).map(step).fold(1.0, f64::min)
    }

    /// The stored blocks of the Hessians of several elements at positions `x[vertices]`, projected or not.
    #[inline]
    fn hessians(
        elements: &[Self],
        vertices: &[[u32; N]],
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let size = layout::<Self, N>().block_count(N);
        for ((element, vertices), out) in elements.iter().zip(vertices).zip(out.chunks_mut(size)) {
            let x = gather(vertices, x);
            let h = match projection.applies_to(vertices) {
                true => element.hessian_psd(&x),
                false => element.hessian(&x),
            };
            store(&h, layout::<Self, N>(), out);
        }
    }

    /// The largest step t ≤ 1 such that the energy stays defined all along `x` + [0, t] `dx`.
    #[inline]
    fn max_step(&self, x: &[Vec3; N], dx: &[Vec3; N]) -> f64 {
        let _ = (x, dx);
        1.0
    }

    /// The largest part of a limit that is used up at `x`, 1 at the limit; `None` without one.
    #[inline]
    fn limit_use(&self, x: &[Vec3; N]) -> Option<f64> {
        let _ = x;
        None
    }

    /// The same element without its limits, where it has some.
    fn without_limits(&self) -> Option<Self> {
        None
    }
}

/// Which blocks of their Hessians elements of a kind give.
const fn layout<E: Element<N>, const N: usize>() -> Layout {
    if E::TRANSLATION_INVARIANT { Layout::OffDiagonal } else { Layout::Complete }
}

/// The stored blocks of a Hessian.
#[inline]
fn store<const N: usize>(h: &Hessian<N>, layout: Layout, out: &mut [Mat3]) {
    match layout {
        Layout::Complete => pack(h, out),
        Layout::OffDiagonal => {
            let above = (0..N).flat_map(|a| (a + 1..N).map(move |b| (a, b)));
            for (out, (a, b)) in out.iter_mut().zip(above) {
                *out = h[a][b];
            }
        }
    }
}

/// Positions (or other values) of the vertices of an element.
#[inline]
fn gather<const N: usize>(vertices: &[u32; N], x: &[Vec3]) -> [Vec3; N] {
    // a loop, because `map` is not always inlined
    let mut out = [Vec3::zeros(); N];
    for (out, &v) in out.iter_mut().zip(vertices) {
        *out = x[v as usize];
    }
    out
}

/// Elements per task; a constant, for sums to be the same with any number of threads.
const CHUNK: usize = 512;

/// Elements that are computed in one call; a multiple of the number of lanes, and a divisor of [`CHUNK`].
const BATCH: usize = 64;

/// Elements of one kind with their vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements<E, const N: usize> {
    connectivity: Arc<Connectivity<N>>,
    /// The elements (`#E`).
    pub elements: Vec<E>,
}

/// The vertices of elements, and the elements at each vertex.
#[derive(Debug, PartialEq)]
struct Connectivity<const N: usize> {
    /// Vertices of each element (`#E×N`).
    vertices: Vec<[u32; N]>,
    /// Corners N e + a at each vertex, vertex by vertex, ascending (`N·#E`); empty where elements are few.
    corners: Vec<u32>,
    /// Where each vertex's part of `corners` begins (`#V + 1`).
    corners_begin: Vec<u32>,
}

impl<const N: usize> Connectivity<N> {
    fn new(vertices: Vec<[u32; N]>, vertex_count: usize) -> Self {
        // few elements among many vertices are faster one by one
        let many = N * vertices.len() >= vertex_count / 4;
        let (corners_begin, corners) =
            if many { corners_by_vertex(vertex_count, &vertices) } else { Default::default() };
        Self { vertices, corners, corners_begin }
    }
}

impl<E, const N: usize> Default for Elements<E, N> {
    fn default() -> Self {
        Self { connectivity: Arc::new(Connectivity::new(Vec::new(), 0)), elements: Vec::new() }
    }
}

impl<E, const N: usize> Elements<E, N> {
    /// Elements over the given vertices, out of `vertex_count` ones.
    ///
    /// # Panics
    /// Where there is not one list of vertices per element, or a vertex is out of range.
    pub fn from_parts(vertices: Vec<[u32; N]>, elements: Vec<E>, vertex_count: usize) -> Self {
        assert_eq!(vertices.len(), elements.len(), "one list of vertices per element");
        let inside = vertices.iter().flatten().all(|&v| (v as usize) < vertex_count);
        assert!(inside, "vertices are below {vertex_count}");
        Self { connectivity: Arc::new(Connectivity::new(vertices, vertex_count)), elements }
    }

    /// The elements that have one of the `wanted` vertices (`#V`).
    pub fn touching(&self, wanted: &[bool]) -> Self
    where
        E: Clone,
    {
        let all = self.vertices().iter().zip(&self.elements);
        let some = all.filter(|(vertices, _)| vertices.iter().any(|&v| wanted[v as usize]));
        let (vertices, elements) = some.map(|(v, e)| (*v, e.clone())).unzip();
        Self::from_parts(vertices, elements, wanted.len())
    }

    /// Other elements (`#E`) with the same vertices.
    pub(super) fn with<F>(&self, elements: Vec<F>) -> Elements<F, N> {
        Elements { connectivity: self.connectivity.clone(), elements }
    }

    /// Vertices of each element (`#E×N`).
    pub fn vertices(&self) -> &[[u32; N]] {
        &self.connectivity.vertices
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Positions (or other values) of the vertices of element `e`.
    #[inline]
    pub fn gather(&self, e: usize, x: &[Vec3]) -> [Vec3; N] {
        gather(&self.connectivity.vertices[e], x)
    }

    /// Adds one vector per corner of every element (`#E×N`, more are ignored) to those of the vertices (`#V`).
    pub fn scatter(&self, by_corner: &[[Vec3; N]], sums: &mut [Vec3]) {
        let Connectivity { vertices, corners, corners_begin } = &*self.connectivity;
        // either way each vertex sums its corners in ascending order
        if corners.is_empty() {
            for (vertices, g) in vertices.iter().zip(by_corner) {
                for (&v, g) in vertices.iter().zip(g) {
                    sums[v as usize] += g;
                }
            }
            return;
        }
        let vertices = sums.par_iter_mut().with_min_len(CHUNK);
        vertices.zip(corners_begin.par_windows(2)).for_each(|(g, range)| {
            for &corner in &corners[range[0] as usize..range[1] as usize] {
                *g += by_corner[corner as usize / N][corner as usize % N];
            }
        });
    }

    /// `size` elements after the other, with their vertices.
    fn slices(&self, size: usize) -> impl IndexedParallelIterator<Item = (&[E], &[[u32; N]])>
    where
        E: Sync,
    {
        self.elements.par_chunks(size).zip(self.vertices().par_chunks(size))
    }

    fn chunks(&self) -> impl IndexedParallelIterator<Item = Range<usize>> {
        let count = self.len();
        let chunk = move |k: usize| k * CHUNK..((k + 1) * CHUNK).min(count);
        (0..count.div_ceil(CHUNK)).into_par_iter().map(chunk)
    }
}

impl<E: Element<N>, const N: usize> Term for Elements<E, N> {
    fn name(&self) -> &str {
        E::NAME
    }

    fn role(&self) -> Role {
        E::ROLE
    }

    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        let first = self.vertices().get(summand)?[0];
        Some(Origin { owner: Owner::BodyOf(first), key: E::KEY? })
    }

    fn stencils(&self) -> Stencils<'_> {
        Stencils::from(self.vertices())
    }

    fn layout(&self) -> Layout {
        layout::<E, N>()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let sum = |(elements, vertices): (&[E], &[[u32; N]])| -> f64 {
            let mut values = [0.0; CHUNK];
            let values = &mut values[..elements.len()];
            E::values(elements, vertices, x, values);
            values.iter().sum()
        };
        let sums: Vec<f64> = self.slices(CHUNK).map(sum).collect();
        sums.iter().sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let of_batch = |(elements, vertices): (&[E], &[[u32; N]])| {
            let mut out = [[Vec3::zeros(); N]; BATCH];
            E::gradients(elements, vertices, x, &mut out[..elements.len()]);
            out
        };
        let batches = self.slices(BATCH).with_min_len(CHUNK / BATCH);
        let by_corner: Vec<[[Vec3; N]; BATCH]> = batches.map(of_batch).collect();
        self.scatter(by_corner.as_flattened(), gradient);
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let size = self.layout().block_count(N);
        let elements = self.elements[range.clone()].par_chunks(BATCH);
        let vertices = self.vertices()[range].par_chunks(BATCH);
        let tasks = elements.zip(vertices).zip(out.par_chunks_mut(BATCH * size.max(1)));
        tasks.for_each(|((elements, vertices), out)| {
            E::hessians(elements, vertices, x, projection, out);
        });
    }

    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        let least = |(elements, vertices): (&[E], &[[u32; N]])| {
            E::least_max_step(elements, vertices, x, dx)
        };
        self.slices(CHUNK).map(least).reduce(|| 1.0, f64::min)
    }

    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.chunks().all(|range| {
            range.into_iter().all(|e| {
                self.elements[e].limit_use(&self.gather(e, x)).is_none_or(|used| used < part)
            })
        })
    }

    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        let free = |e: &E| e.without_limits().unwrap_or_else(|| e.clone());
        let is_limited = self.elements.iter().any(|e| e.without_limits().is_some());
        is_limited.then(|| -> Box<dyn Term + '_> {
            let (connectivity, elements) = (self.connectivity.clone(), self.elements.iter());
            Box::new(Self { connectivity, elements: elements.map(free).collect() })
        })
    }
}

/// Counting sort of the corners N e + a by vertex: begin of each vertex's list, and the lists.
fn corners_by_vertex<const N: usize>(
    vertex_count: usize,
    vertices: &[[u32; N]],
) -> (Vec<u32>, Vec<u32>) {
    let mut begin = vec![0; vertex_count + 1];
    for &v in vertices.iter().flatten() {
        begin[v as usize + 1] += 1;
    }
    for v in 0..vertex_count {
        begin[v + 1] += begin[v];
    }
    let mut next = begin.clone();
    let mut corners = vec![0; N * vertices.len()];
    for (corner, &v) in vertices.iter().flatten().enumerate() {
        let slot = &mut next[v as usize];
        corners[*slot as usize] = corner as u32;
        *slot += 1;
    }
    (begin, corners)
}

/// Elements of one kind while they are collected, body by body.
#[derive(Debug, Clone)]
pub struct ElementList<E, const N: usize> {
    /// Vertices of each element (`#E×N`).
    pub vertices: Vec<[u32; N]>,
    /// The elements (`#E`).
    pub elements: Vec<E>,
}

impl<E, const N: usize> Default for ElementList<E, N> {
    fn default() -> Self {
        Self { vertices: Vec::new(), elements: Vec::new() }
    }
}

impl<E, const N: usize> ElementList<E, N> {
    /// Adds an element.
    pub fn push(&mut self, vertices: [u32; N], element: E) {
        self.vertices.push(vertices);
        self.elements.push(element);
    }

    /// Number of elements so far.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// All elements, out of `vertex_count` vertices.
    pub fn finish(self, vertex_count: usize) -> Elements<E, N> {
        Elements::from_parts(self.vertices, self.elements, vertex_count)
    }
}
