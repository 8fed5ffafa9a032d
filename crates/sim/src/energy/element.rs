//! What all thin elements (of shells and rods) have in common: one summand over N vertices as a
//! pure function of their positions, and lists of such summands.
//!
//! Sums run in a fixed order, whatever the number of threads.

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

/// Second derivative by N vertices: block (a, b) is ∂²Ψ/∂xₐ∂x_b, N/m.
pub type Hessian<const N: usize> = [[Mat3; N]; N];

/// One summand of the elastic energy over N vertices.
pub trait Element<const N: usize>: Sync {
    /// Energy, J; +∞ beyond what the element can bear.
    fn value(&self, x: &[Vec3; N]) -> f64;
    /// Derivative by the vertices (minus the forces), N.
    fn gradient(&self, x: &[Vec3; N]) -> [Vec3; N];
    /// Second derivative by the vertices, projected to be positive semidefinite, N/m.
    fn hessian_psd(&self, x: &[Vec3; N]) -> Hessian<N>;
}

/// Elements per task; a constant, for sums to be the same with any number of threads.
const CHUNK: usize = 512;

/// Elements of one kind with their vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct Elements<E, const N: usize> {
    /// Vertices of each element (`#E×N`).
    pub vertices: Vec<[u32; N]>,
    /// The elements (`#E`).
    pub elements: Vec<E>,
}

impl<E, const N: usize> Default for Elements<E, N> {
    fn default() -> Self {
        Self { vertices: Vec::new(), elements: Vec::new() }
    }
}

impl<E: Element<N>, const N: usize> Elements<E, N> {
    /// Adds an element.
    pub fn push(&mut self, vertices: [u32; N], element: E) {
        self.vertices.push(vertices);
        self.elements.push(element);
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
        // a loop, because `map` is not always inlined
        let mut out = [Vec3::zeros(); N];
        for (out, &v) in out.iter_mut().zip(&self.vertices[e]) {
            *out = x[v as usize];
        }
        out
    }

    /// Ψ(x), J.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        let sums: Vec<f64> = (0..self.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(self.len());
                range.map(|e| self.elements[e].value(&self.gather(e, x))).sum()
            })
            .collect();
        sums.iter().sum()
    }

    /// Adds ∂Ψ/∂x (N) to `gradient` (`#V`).
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        let local: Vec<[Vec3; N]> = (0..self.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|e| self.elements[e].gradient(&self.gather(e, x)))
            .collect();
        for (vertices, g) in self.vertices.iter().zip(&local) {
            for (&v, g) in vertices.iter().zip(g) {
                gradient[v as usize] += g;
            }
        }
    }

    /// Fills `out` with the projected Hessians, in order.
    pub fn hessians(&self, x: &[Vec3], out: &mut Vec<Hessian<N>>) {
        (0..self.len())
            .into_par_iter()
            .with_min_len(16)
            .map(|e| self.elements[e].hessian_psd(&self.gather(e, x)))
            .collect_into_vec(out);
    }
}
