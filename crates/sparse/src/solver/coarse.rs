//! A coarse level: the translations and rotations of small groups of rows.
//!
//! The columns of P are the translations and rotations of small [groups of rows](super::aggregates) with strong couplings,
//! as in smoothed aggregation [Vaněk 1996], but not smoothed. P (Pᵀ A P)⁻¹ Pᵀ carries over the whole matrix at once what
//! a local preconditioner would hand on from row to row, and moves what is stiff as a whole against what is soft.

// long: one operator: its groups, its matrix, and how it is applied

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::nalgebra::Vector3;
use standoff_linalg::{Mat3, Vec3};

use super::aggregates::aggregates;
use super::multifrontal::{Analyses, Factor};
use crate::vector::{AT_ONCE, CHUNK};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError};

/// Part of the largest diagonal entry of a part's coarse translations that is added to its rotations: those of a
/// single row, or of rows in line, have no stiffness of their own.
const REGULARISATION: f64 = 1e-11;

/// Rows by part.
#[derive(Debug, Default)]
pub(super) struct Parts {
    of: Vec<u32>,
    rows: Vec<Vec<u32>>,
    offset: Vec<Offset>,
}

/// Offset of a row from the middle of its part, in multiples of the part's size; `None` for a row that is no
/// displacement. P is what these numbers say, so that rounding them is no error.
type Offset = Option<Vector3<f32>>;

impl Parts {
    /// Aggregates of the rows of a matrix, with offsets where positions are known.
    fn new(a: &BlockMatrix, position: Option<&[Vec3]>, size: usize) -> Self {
        let n = a.n();
        let of = aggregates(a, size);
        let count = of.iter().max().map_or(0, |&p| p as usize + 1);
        let mut rows = vec![Vec::new(); count];
        for (row, &p) in of.iter().enumerate() {
            rows[p as usize].push(row as u32);
        }
        let mut offset = vec![Some(Vector3::zeros()); n];
        if let Some(position) = position.filter(|p| p.len() == n) {
            let offsets: Vec<Vec<Offset>> =
                rows.par_iter().with_min_len(16).map(|rows| offsets(rows, position)).collect();
            for (&row, of) in rows.iter().flatten().zip(offsets.iter().flatten()) {
                offset[row as usize] = *of;
            }
        }
        Self { of, rows, offset }
    }
}

/// Offsets of the rows of a part.
fn offsets(rows: &[u32], position: &[Vec3]) -> Vec<Offset> {
    let at = |row: &u32| Some(position[*row as usize]).filter(|p| p.iter().all(|c| c.is_finite()));
    let count = rows.iter().filter_map(at).count().max(1) as f64;
    let middle = rows.iter().filter_map(at).sum::<Vec3>() / count;
    let square = rows.iter().filter_map(at).map(|p| (p - middle).norm_squared()).sum::<f64>();
    let size = (square / count).sqrt();
    let scaled = |p: Vec3| if size > 0.0 { (p - middle) / size } else { Vec3::zeros() };
    rows.iter().map(|row| at(row).map(|p| scaled(p).cast())).collect()
}

/// The coarse level: two block rows for each part, its translation and its rotation.
#[derive(Debug)]
pub(super) struct Coarse {
    /// Rows of a part, about.
    size: usize,
    parts: Parts,
    matrix: Option<BlockMatrix>,
    analyses: Analyses,
    factor: Factor<f64>,
    right: Vec<Vec3>,
    solution: Vec<Vec3>,
    room: Vec<f64>,
}

/// The rotation's matrix: ω ↦ ω × d.
fn turn(d: &Vector3<f32>) -> Mat3 {
    -d.cast().cross_matrix()
}

impl Coarse {
    /// With groups of about `size` rows.
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            parts: Parts::default(),
            matrix: None,
            analyses: Analyses::new(Ordering::Automatic),
            factor: Factor::default(),
            right: Vec::new(),
            solution: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Becomes the coarse level of a matrix whose rows have these positions, where they are known.
    ///
    /// # Errors
    /// A matrix that is not positive definite, too little memory.
    pub(super) fn factorize(
        &mut self,
        a: &BlockMatrix,
        position: Option<&[Vec3]>,
    ) -> Result<(), SolveError> {
        self.parts = Parts::new(a, position, self.size);
        self.matrix = Some(BlockMatrix::zeros(Arc::new(self.pattern(a.pattern())?)));
        self.sum(a)?;
        self.compute()
    }

    /// The pattern of Pᵀ A P.
    fn pattern(&self, fine: &BlockPattern) -> Result<BlockPattern, SolveError> {
        let parts = &self.parts;
        let pairs_of = |k: usize| {
            let coupled = parts.rows[k].iter().flat_map(|&i| {
                let below = fine.column(i as usize)[1..].iter().map(|&j| j as usize);
                fine.row(i as usize).map(|(j, _)| j).chain(below)
            });
            let mut others: Vec<u32> =
                coupled.map(|j| parts.of[j]).filter(|&l| (l as usize) < k).collect();
            others.push(k as u32);
            others.sort_unstable();
            others.dedup();
            others
        };
        let lists: Vec<Vec<u32>> = (0..parts.rows.len()).into_par_iter().map(pairs_of).collect();
        let mut pairs = Vec::new();
        for (k, list) in lists.iter().enumerate() {
            for &l in list {
                for (a, b) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                    pairs.push((2 * k as u32 + a, 2 * l + b));
                }
            }
        }
        let too_large = |_| SolveError::OutOfMemory { nonzeros: 9 * pairs.len() };
        BlockPattern::from_pairs(2 * parts.rows.len(), &pairs).map_err(too_large)
    }

    /// Pᵀ A P. Each of its rows is summed by one thread in order.
    // long: the sums of the coarse matrix and its entries
    fn sum(&mut self, a: &BlockMatrix) -> Result<(), SolveError> {
        let Self { parts, matrix: Some(matrix), .. } = self else {
            return Err(SolveError::NotFactorized);
        };
        let (fine, blocks) = (&**a.pattern(), a.blocks());
        let coarse = matrix.pattern().clone();
        // the parts l ≤ k that part k is coupled to: those of the translations' row
        let row_of = |k: usize| -> Vec<[Mat3; 4]> {
            let others: Vec<u32> = others(&coarse, k);
            let mut sums = vec![[Mat3::zeros(); 4]; others.len()];
            let mut add = |i: usize, j: usize, block: Mat3| {
                let l = parts.of[j];
                if l as usize > k {
                    return;
                }
                let (Some(d), Some(e)) = (&parts.offset[i], &parts.offset[j]) else { return };
                let Ok(slot) = others.binary_search(&l) else { return };
                let (left, right) = (turn(d).transpose(), turn(e));
                let turned = block * right;
                let sum = &mut sums[slot];
                sum[0] += block;
                sum[1] += left * block;
                sum[2] += left * turned;
                sum[3] += turned;
            };
            for &i in &parts.rows[k] {
                let i = i as usize;
                for (j, position) in fine.row(i) {
                    add(i, j, blocks[position]);
                }
                let first = fine.diagonal_position(i);
                add(i, i, blocks[first]);
                for (s, &j) in fine.column(i).iter().enumerate().skip(1) {
                    add(i, j as usize, blocks[first + s].transpose());
                }
            }
            sums
        };
        let rows: Vec<Vec<[Mat3; 4]>> =
            (0..parts.rows.len()).into_par_iter().with_max_len(4).map(row_of).collect();
        matrix.set_zero();
        for (k, sums) in rows.iter().enumerate() {
            for (&l, sum) in others(&coarse, k).iter().zip(sums) {
                let l = l as usize;
                let places = [(2 * k, 2 * l), (2 * k + 1, 2 * l), (2 * k + 1, 2 * l + 1)];
                for (block, (row, col)) in sum.iter().zip(places) {
                    set(matrix, row, col, *block);
                }
                if l != k {
                    set(matrix, 2 * k, 2 * l + 1, sum[3]);
                }
            }
        }
        Ok(())
    }

    /// Regularises and factorises Pᵀ A P.
    fn compute(&mut self) -> Result<(), SolveError> {
        let Self { parts, matrix: Some(matrix), .. } = self else {
            return Err(SolveError::NotFactorized);
        };
        for k in 0..parts.rows.len() {
            let largest = matrix.diagonal_block(2 * k).diagonal().max();
            // a part without displacements
            let empty = largest <= 0.0;
            let scale = if empty { 1.0 } else { REGULARISATION * largest };
            for row in [2 * k, 2 * k + 1] {
                let block = matrix.diagonal_block_mut(row);
                *block = (*block + block.transpose()) * 0.5;
                if empty || row % 2 == 1 {
                    *block += Mat3::from_diagonal_element(scale);
                }
            }
        }
        let (analysis, _) = self.analyses.of(matrix.pattern())?;
        self.factor.reserve(&analysis)?;
        let failed = |block: usize| {
            let row = parts.rows[block / 2].first().copied().unwrap_or(0);
            SolveError::NotPositiveDefinite { block: row as usize }
        };
        self.factor.compute(&analysis, matrix.blocks(), 1.0).map_err(failed)
    }

    /// Entries of the factor.
    pub(super) fn nonzeros(&self) -> usize {
        self.analyses.last().map_or(0, |a| a.factor_len())
    }

    /// Sets z to what `fine` makes of r, which another thread may do, plus P (Pᵀ A P)⁻¹ Pᵀ r; returns rᵀz.
    pub(super) fn apply_beside(
        &mut self,
        fine: impl FnOnce(&mut [Vec3]) + Send,
        r: &[Vec3],
        z: &mut [Vec3],
    ) -> f64 {
        rayon::join(|| self.solve(r), || fine(z));
        self.add_to(r, z)
    }

    /// (Pᵀ A P)⁻¹ Pᵀ r, as the solution.
    fn solve(&mut self, r: &[Vec3]) {
        let parts = &self.parts;
        let restrict = |rows: &Vec<u32>| {
            let mut sum = [Vec3::zeros(); 2];
            for &row in rows {
                if let Some(d) = &parts.offset[row as usize] {
                    let r = &r[row as usize];
                    sum[0] += r;
                    sum[1] += d.cast().cross(r);
                }
            }
            sum
        };
        let sums: Vec<[Vec3; 2]> = parts.rows.par_iter().with_min_len(16).map(restrict).collect();
        self.right.clear();
        self.right.extend(sums.iter().flatten());
        self.solution.resize(self.right.len(), Vec3::zeros());
        if let Some(analysis) = self.analyses.last() {
            self.factor.solve(analysis, &self.right, &mut self.solution, &mut self.room);
        }
    }

    /// Adds P times the solution to z; returns rᵀz.
    fn add_to(&self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        let (parts, solution) = (&self.parts, &self.solution);
        let prolong = |(((z, r), of), offset): (Chunk<'_>, &[Offset])| {
            let mut sum = 0.0;
            for (((z, r), &part), offset) in z.iter_mut().zip(r).zip(of).zip(offset) {
                if let Some(d) = offset {
                    let k = 2 * part as usize;
                    *z += solution[k] + solution[k + 1].cross(&d.cast());
                }
                sum += r.dot(z);
            }
            sum
        };
        let chunks = z.par_chunks_mut(CHUNK).zip(r.par_chunks(CHUNK));
        let chunks = chunks.zip(parts.of.par_chunks(CHUNK)).zip(parts.offset.par_chunks(CHUNK));
        let sums: Vec<f64> = chunks.with_max_len(AT_ONCE).map(prolong).collect();
        sums.iter().sum()
    }
}

/// Rows that are summed together: corrected, residual, and their parts.
type Chunk<'a> = ((&'a mut [Vec3], &'a [Vec3]), &'a [u32]);

/// The parts l ≤ k that part k is coupled to, ascending.
fn others(coarse: &BlockPattern, k: usize) -> Vec<u32> {
    let translations = coarse.row(2 * k).filter(|(col, _)| col % 2 == 0);
    translations.map(|(col, _)| col as u32 / 2).chain([k as u32]).collect()
}

fn set(matrix: &mut BlockMatrix, row: usize, col: usize, block: Mat3) {
    if let Some(at) = matrix.pattern().position(row as u32, col as u32) {
        matrix.blocks_mut()[at] = block;
    }
}
