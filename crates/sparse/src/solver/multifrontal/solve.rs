//! Triangular solution with the factor, front by front.

use rayon::prelude::*;
use standoff_linalg::Vec3;
use standoff_linalg::lanes::{self, Kernel, Width};

use super::analysis::Analysis;
use super::factor::Factor;
use super::scalar::{LANES, Scalar};
use super::traverse::Pieces;

/// Operations of the factorisation of a subtree below which it is solved by one thread.
const GRAIN: f64 = 1e6;

impl<T: Scalar> Factor<T> {
    /// x ← P⁻¹ (L Lᵀ)⁻¹ P b; `permuted` is room to work in.
    pub(crate) fn solve(
        &self,
        analysis: &Analysis,
        b: &[Vec3],
        x: &mut [Vec3],
        permuted: &mut Vec<T>,
    ) {
        match analysis.unknowns {
            1 => self.solve_by_component(analysis, b, x, permuted),
            2 => self.solve_of::<2>(analysis, b, x, permuted),
            _ => self.solve_of::<3>(analysis, b, x, permuted),
        }
    }

    /// The same with one scalar in a block row: the three components of the vectors side by side.
    fn solve_by_component(
        &self,
        analysis: &Analysis,
        b: &[Vec3],
        x: &mut [Vec3],
        permuted: &mut Vec<T>,
    ) {
        let (new_to_old, n) = (analysis.permutation.new_to_old(), b.len());
        permuted.clear();
        for c in 0..3 {
            permuted.extend(new_to_old.iter().map(|&old| T::round(b[old as usize][c]).flush()));
        }
        let components = permuted.par_chunks_mut(n.max(1)).with_max_len(1);
        components.for_each(|component| self.solve_permuted::<1>(analysis, component));
        for (new, &old) in new_to_old.iter().enumerate() {
            x[old as usize] = Vec3::from_fn(|c, _| permuted[c * n + new].to_f64());
        }
    }

    /// The same with `U` scalars in a block row.
    fn solve_of<const U: usize>(
        &self,
        analysis: &Analysis,
        b: &[Vec3],
        x: &mut [Vec3],
        permuted: &mut Vec<T>,
    ) {
        let new_to_old = analysis.permutation.new_to_old();
        permuted.clear();
        permuted.extend(
            new_to_old
                .iter()
                .flat_map(|&old| (0..U).map(move |c| T::round(b[old as usize][c]).flush())),
        );
        self.solve_permuted::<U>(analysis, permuted);
        for (v, &old) in permuted.chunks_exact(U).zip(new_to_old) {
            x[old as usize] = Vec3::from_fn(|c, _| if c < U { v[c].to_f64() } else { 0.0 });
        }
    }

    /// x ← (L Lᵀ)⁻¹ x, in the order of elimination.
    fn solve_permuted<const U: usize>(&self, analysis: &Analysis, x: &mut [T]) {
        let pieces = Pieces { analysis, start: &analysis.columns, grain: GRAIN };
        let forward = pieces.bottom_up(x, &|f, pivots, children: Vec<Vec<T>>| {
            Ok::<_, std::convert::Infallible>(self.forward::<U>(analysis, f, pivots, &children))
        });
        match forward {
            Ok(()) => {}
            Err(never) => match never {},
        }
        pieces.top_down(x, &|f, pivots, parent: Option<&Vec<T>>| {
            self.backward::<U>(analysis, f, pivots, parent)
        });
    }

    /// Eliminates a front's pivots from the right-hand side; returns what must be added to the
    /// rows below.
    fn forward<const U: usize>(
        &self,
        analysis: &Analysis,
        f: usize,
        pivots: &mut [T],
        children: &[Vec<T>],
    ) -> Vec<T> {
        let front = &analysis.fronts[f];
        let (m, k) = (U * front.m, U * front.k);
        let mut below = vec![T::default(); m - k];
        for (child, &c) in children.iter().zip(analysis.children(f)) {
            for (source, &row) in child.chunks_exact(U).zip(analysis.relative(c as usize)) {
                let at = U * row as usize;
                let sum = if at < k { &mut pivots[at..at + U] } else { &mut below[at - k..][..U] };
                sum.iter_mut().zip(source).for_each(|(sum, &s)| *sum += s);
            }
        }
        let panel = self.panel(analysis, f);
        lanes::dispatch(Eliminate { panel, m, k, pivots, below: &mut below });
        below
    }

    /// Solves for a front's pivots; returns the solution in all rows of the front.
    fn backward<const U: usize>(
        &self,
        analysis: &Analysis,
        f: usize,
        pivots: &mut [T],
        parent: Option<&Vec<T>>,
    ) -> Vec<T> {
        let front = &analysis.fronts[f];
        let (m, k) = (U * front.m, U * front.k);
        let mut x = vec![T::default(); m];
        x[..k].copy_from_slice(pivots);
        if let Some(parent) = parent {
            for (x, &row) in x[k..].chunks_exact_mut(U).zip(analysis.relative(f)) {
                x.copy_from_slice(&parent[U * row as usize..][..U]);
            }
        }
        lanes::dispatch(Substitute { panel: self.panel(analysis, f), m, k, x: &mut x });
        pivots.copy_from_slice(&x[..k]);
        x
    }
}

/// Eliminates the `k` pivots of a front of `m` rows from its part of the right-hand side. The loops are the same for
/// vectors of any width, for which the compiler translates them one by one, and so are the bits.
struct Eliminate<'a, T> {
    panel: &'a [T],
    m: usize,
    k: usize,
    pivots: &'a mut [T],
    below: &'a mut [T],
}

impl<T: Scalar> Kernel for Eliminate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, _: W) {
        let Self { panel, m, k, pivots, below } = self;
        let mut j = 0;
        // four columns at once: the vectors are read and written less often
        while j + 4 <= k {
            let c = columns4(panel, m, j);
            let mut x = [T::default(); 4];
            for s in 0..4 {
                let mut sum = pivots[j + s];
                for t in 0..s {
                    sum -= c[t][j + s] * x[t];
                }
                x[s] = (sum / c[s][j + s]).flush();
                pivots[j + s] = x[s];
            }
            subtract4(&mut pivots[j + 4..], rows(c, j + 4, k), x);
            subtract4(below, rows(c, k, m), x);
            j += 4;
        }
        while j < k {
            let c = &panel[j * m..(j + 1) * m];
            let x = (pivots[j] / c[j]).flush();
            pivots[j] = x;
            for (y, &l) in pivots[j + 1..].iter_mut().zip(&c[j + 1..k]) {
                *y -= l * x;
            }
            for (y, &l) in below.iter_mut().zip(&c[k..]) {
                *y -= l * x;
            }
            j += 1;
        }
    }
}

/// Solves for the first `k` of the `m` entries of `x`, of which the others are known; as [`Eliminate`].
struct Substitute<'a, T> {
    panel: &'a [T],
    m: usize,
    k: usize,
    x: &'a mut [T],
}

impl<T: Scalar> Kernel for Substitute<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Self { panel, m, k, x } = self;
        let mut j = k;
        while j % 4 != 0 {
            j -= 1;
            let c = &panel[j * m..(j + 1) * m];
            x[j] = ((x[j] - dot(&c[j + 1..], &x[j + 1..])) / c[j]).flush();
        }
        while j > 0 {
            j -= 4;
            let c = columns4(panel, m, j);
            let sum = dot4(width, rows(c, j + 4, m), &x[j + 4..]);
            for s in (0..4).rev() {
                let mut rest = x[j + s] - sum[s];
                for t in s + 1..4 {
                    rest -= c[s][j + t] * x[j + t];
                }
                x[j + s] = (rest / c[s][j + s]).flush();
            }
        }
    }
}

/// Columns j to j + 3 of a panel of `m` rows.
#[inline(always)]
fn columns4<T>(panel: &[T], m: usize, j: usize) -> [&[T]; 4] {
    let column = |s: usize| &panel[(j + s) * m..(j + s + 1) * m];
    [column(0), column(1), column(2), column(3)]
}

/// Some rows of four columns.
#[inline(always)]
fn rows<T>([a, b, c, d]: [&[T]; 4], from: usize, to: usize) -> [&[T]; 4] {
    [&a[from..to], &b[from..to], &c[from..to], &d[from..to]]
}

/// y ← y − Σ cₛ xₛ.
#[inline(always)]
fn subtract4<T: Scalar>(y: &mut [T], c: [&[T]; 4], x: [T; 4]) {
    let n = y.len();
    let c = rows(c, 0, n);
    for i in 0..n {
        let mut v = y[i];
        for s in 0..4 {
            v -= c[s][i] * x[s];
        }
        y[i] = v;
    }
}

/// aᵀx.
#[inline(always)]
fn dot<T: Scalar>(a: &[T], x: &[T]) -> T {
    let mut sum = [T::default(); LANES];
    let (a, x) = (a.chunks_exact(LANES), x[..a.len()].chunks_exact(LANES));
    let mut rest = T::default();
    for (&a, &x) in a.remainder().iter().zip(x.remainder()) {
        rest += a * x;
    }
    for (a, x) in a.zip(x) {
        for l in 0..LANES {
            sum[l] += a[l] * x[l];
        }
    }
    fold(sum, rest)
}

/// cₛᵀx for four columns.
#[inline(always)]
fn dot4<T: Scalar, W: Width>(width: W, c: [&[T]; 4], x: &[T]) -> [T; 4] {
    let n = x.len();
    let whole = n - n % LANES;
    let sum = T::products4(width, rows(c, 0, whole), &x[..whole]);
    let mut total = [T::default(); 4];
    for s in 0..4 {
        let mut rest = T::default();
        for i in whole..n {
            rest += c[s][i] * x[i];
        }
        total[s] = fold(sum[s], rest);
    }
    total
}

#[inline(always)]
fn fold<T: Scalar>(mut sum: [T; LANES], rest: T) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            let other = sum[l + width];
            sum[l] += other;
        }
        width /= 2;
    }
    sum[0] += rest;
    sum[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::multifrontal::Analyses;
    use crate::{BlockMatrix, BlockPattern, Ordering};
    use standoff_linalg::Mat3;
    use std::sync::Arc;

    #[test]
    fn what_decays_in_single_precision_becomes_zero_not_subnormal() {
        // a chain on stiff supports, pulled at its end: each vertex follows by a hundredth
        let n = 64;
        let pairs: Vec<_> = (1..n).map(|k| (k, k - 1)).collect();
        let pattern = Arc::new(BlockPattern::from_pairs(n as usize, &pairs).unwrap());
        let mut a = BlockMatrix::zeros(pattern.clone());
        for k in 0..n {
            *a.diagonal_block_mut(k as usize) = Mat3::identity() * 1.02;
            if k > 0 {
                let coupling = Mat3::identity() * -0.01;
                let zero = Mat3::zeros();
                a.add_stencil(&[k, k - 1], &[[zero, coupling], [coupling, zero]]).unwrap();
            }
        }
        let mut b = vec![Vec3::zeros(); n as usize];
        b[0] = Vec3::new(1.0, 1.0, 1.0);
        let (analysis, _) = Analyses::new(Ordering::Natural).of(&pattern).unwrap();
        let mut factor = Factor::<f32>::default();
        factor.reserve(&analysis).unwrap();
        factor.compute(&analysis, a.blocks(), 1.0).unwrap();
        let mut x = vec![Vec3::zeros(); n as usize];
        factor.solve(&analysis, &b, &mut x, &mut Vec::new());
        assert!((x[0].x - 0.980_486).abs() < 1e-6 && x[4].x > 1e-9 && x[n as usize - 1].x == 0.0);
        assert!(x.iter().flatten().all(|v| *v == 0.0 || v.abs() > 1e-20), "{x:?}");
    }

    /// A front's loops on single numbers and in vectors, with bits that are the same.
    fn check_lanes<T: Scalar + PartialEq + std::fmt::Debug>() {
        for (m, k) in [(1, 1), (6, 3), (23, 6), (47, 13), (90, 30)] {
            let number = |i: usize| T::round((0.7 * i as f64).sin());
            let mut panel: Vec<T> = (0..m * k).map(number).collect();
            (0..k).for_each(|j| panel[j * m + j] = T::round(2.0 + j as f64));
            let start: Vec<T> = (0..m).map(|i| number(5 * i + 1)).collect();
            let solve = |in_vectors: bool| {
                let mut x = start.clone();
                let (pivots, below) = x.split_at_mut(k);
                let forward = Eliminate { panel: &panel, m, k, pivots, below };
                if in_vectors {
                    lanes::dispatch(forward)
                } else {
                    lanes::scalar(forward)
                }
                let backward = Substitute { panel: &panel, m, k, x: &mut x };
                if in_vectors {
                    lanes::dispatch(backward)
                } else {
                    lanes::scalar(backward)
                }
                x
            };
            assert_eq!(solve(true), solve(false));
        }
    }

    #[test]
    fn vectors_and_single_numbers_give_the_same_bits() {
        check_lanes::<f32>();
        check_lanes::<f64>();
    }
}
