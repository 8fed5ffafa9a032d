//! Overlapping additive Schwarz with a coarse level, as a preconditioner [Toselli & Widlund 2005, ch. 3].
//!
//! M⁻¹ = B^½ Σ Rⱼᵀ (Rⱼ A Rⱼᵀ)⁻¹ Rⱼ B^½ + P (Pᵀ A P)⁻¹ Pᵀ
//!
//! Parts of the rows, by METIS on the pattern, with the rows that are coupled to them, are subdomains; B = diag(1/nᵢ)
//! with the number nᵢ of subdomains of a row, which takes fewer iterations than without. The columns of P are
//! the translations and rotations of small [groups of rows](super::aggregates) with strong couplings, as in smoothed
//! aggregation [Vaněk 1996], but not smoothed: the coarse level carries over the whole matrix at once what subdomains would
//! hand on from one to the next, and moves what is stiff as a whole against what is soft.

// long: one preconditioner: its subdomains, its coarse level, and how they are applied

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

use super::aggregates::aggregates;
use super::multifrontal::{Analyses, Factor};
use super::subdomains::{Blend, Subdomains};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, partition, pattern, vector};

/// Rows of a subdomain, about, without those around it.
const SIZE: usize = 200;

/// Part of the largest diagonal entry of a part's coarse translations that is added to its rotations: those of a
/// single row, or of rows in line, have no stiffness of their own.
const REGULARISATION: f64 = 1e-11;

/// The preconditioner, with symbolic work that is kept from matrix to matrix.
#[derive(Debug, Default)]
pub(crate) struct Schwarz {
    /// Positions of the rows' vertices, where they are known.
    position: Option<Vec<Vec3>>,
    /// The pattern for which the subdomains hold.
    pattern: Option<Arc<BlockPattern>>,
    parts: Parts,
    subdomains: Option<Subdomains>,
    coarse: Coarse,
}

/// Rows by part.
#[derive(Debug, Default)]
struct Parts {
    of: Vec<u32>,
    rows: Vec<Vec<u32>>,
    /// Offset of each row from the middle of its part, in multiples of the part's size; `None` for a row
    /// that is no displacement.
    offset: Vec<Option<Vec3>>,
}

impl Parts {
    /// Aggregates of the rows of a matrix, with offsets where positions are known.
    fn new(a: &BlockMatrix, position: Option<&[Vec3]>) -> Self {
        let n = a.n();
        let of = aggregates(a);
        let count = of.iter().max().map_or(0, |&p| p as usize + 1);
        let mut rows = vec![Vec::new(); count];
        for (row, &p) in of.iter().enumerate() {
            rows[p as usize].push(row as u32);
        }
        let mut offset = vec![Some(Vec3::zeros()); n];
        if let Some(position) = position.filter(|p| p.len() == n) {
            for rows in &rows {
                offsets(rows, position, &mut offset);
            }
        }
        Self { of, rows, offset }
    }
}

/// Offsets of the rows of a part.
fn offsets(rows: &[u32], position: &[Vec3], offset: &mut [Option<Vec3>]) {
    let at = |row: &u32| Some(position[*row as usize]).filter(|p| p.iter().all(|c| c.is_finite()));
    let count = rows.iter().filter_map(at).count().max(1) as f64;
    let middle = rows.iter().filter_map(at).sum::<Vec3>() / count;
    let square = rows.iter().filter_map(at).map(|p| (p - middle).norm_squared()).sum::<f64>();
    let size = (square / count).sqrt();
    for row in rows {
        let scaled = |p: Vec3| if size > 0.0 { (p - middle) / size } else { Vec3::zeros() };
        offset[*row as usize] = at(row).map(scaled);
    }
}

/// The coarse level: two block rows for each part, its translation and its rotation.
#[derive(Debug)]
struct Coarse {
    matrix: Option<BlockMatrix>,
    analyses: Analyses,
    factor: Factor<f64>,
    right: Vec<Vec3>,
    solution: Vec<Vec3>,
    room: Vec<f64>,
}

impl Default for Coarse {
    fn default() -> Self {
        Self {
            matrix: None,
            analyses: Analyses::new(Ordering::Automatic),
            factor: Factor::default(),
            right: Vec::new(),
            solution: Vec::new(),
            room: Vec::new(),
        }
    }
}

/// The rotation's matrix: ω ↦ ω × d.
fn turn(d: &Vec3) -> Mat3 {
    -d.cross_matrix()
}

impl Coarse {
    /// The pattern of Pᵀ A P.
    fn reset(&mut self, fine: &BlockPattern, parts: &Parts) -> Result<(), SolveError> {
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
        let coarse = BlockPattern::from_pairs(2 * parts.rows.len(), &pairs).map_err(too_large)?;
        self.matrix = Some(BlockMatrix::zeros(Arc::new(coarse)));
        Ok(())
    }

    /// Pᵀ A P and its factor. Each of its rows is summed by one thread in order.
    // long: the sums of the coarse matrix, its entries, and its factor
    fn factorize(&mut self, a: &BlockMatrix, parts: &Parts) -> Result<(), SolveError> {
        let Some(matrix) = &mut self.matrix else { return Err(SolveError::NotFactorized) };
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

    /// Adds P (Pᵀ A P)⁻¹ Pᵀ r to z.
    fn add_correction(&mut self, parts: &Parts, r: &[Vec3], z: &mut [Vec3]) {
        let restrict = |rows: &Vec<u32>| {
            let mut sum = [Vec3::zeros(); 2];
            for &row in rows {
                if let Some(d) = &parts.offset[row as usize] {
                    let r = &r[row as usize];
                    sum[0] += r;
                    sum[1] += d.cross(r);
                }
            }
            sum
        };
        let sums: Vec<[Vec3; 2]> = parts.rows.par_iter().with_min_len(16).map(restrict).collect();
        self.right.clear();
        self.right.extend(sums.iter().flatten());
        self.solution.resize(self.right.len(), Vec3::zeros());
        let Some(analysis) = self.analyses.last() else { return };
        self.factor.solve(analysis, &self.right, &mut self.solution, &mut self.room);
        let solution = &self.solution;
        let prolong = |(z, (&part, offset)): (&mut Vec3, (&u32, &Option<Vec3>))| {
            if let Some(d) = offset {
                let k = 2 * part as usize;
                *z += solution[k] + solution[k + 1].cross(d);
            }
        };
        let from = parts.of.par_iter().zip(&parts.offset);
        z.par_iter_mut().zip(from).with_min_len(vector::CHUNK).for_each(prolong);
    }
}

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

impl Schwarz {
    /// Says where the rows of the matrices to come are.
    pub(crate) fn place(&mut self, position: &[Vec3]) {
        self.position = Some(position.to_vec());
    }

    /// Becomes the preconditioner of a matrix.
    pub(crate) fn factorize(&mut self, a: &BlockMatrix) -> Result<(), SolveError> {
        let known = self.pattern.as_ref().is_some_and(|p| pattern::same(p, a.pattern()));
        if !known {
            self.pattern = None;
            self.cover(a.pattern())?;
            self.pattern = Some(a.pattern().clone());
        }
        let Some(subdomains) = &mut self.subdomains else { return Err(SolveError::NotFactorized) };
        subdomains.factorize(a, |_| true)?;
        self.parts = Parts::new(a, self.position.as_deref());
        self.coarse.reset(a.pattern(), &self.parts)?;
        self.coarse.factorize(a, &self.parts)
    }

    /// Makes every part that METIS finds, with what is coupled to it, a subdomain.
    fn cover(&mut self, pattern: &BlockPattern) -> Result<(), SolveError> {
        let with_neighbours = |rows: &Vec<u32>| {
            let around = rows.iter().flat_map(|&i| pattern.neighbours(i as usize));
            let mut set: Vec<u32> = around.map(|j| j as u32).collect();
            set.extend(rows);
            set.sort_unstable();
            set.dedup();
            set
        };
        let part = partition(pattern, pattern.n().div_ceil(SIZE));
        let count = part.iter().max().map_or(0, |&p| p as usize + 1);
        let mut rows = vec![Vec::new(); count];
        for (row, &p) in part.iter().enumerate() {
            rows[p as usize].push(row as u32);
        }
        let sets: Vec<Vec<u32>> = rows.par_iter().map(with_neighbours).collect();
        match &mut self.subdomains {
            Some(known) if known.len() == sets.len() && known.n() == pattern.n() => {
                for (j, rows) in sets.into_iter().enumerate() {
                    known.replace(j, rows)?;
                }
            }
            other => *other = Some(Subdomains::new(pattern.n(), sets)?),
        }
        Ok(())
    }

    /// z ← M⁻¹ r; returns rᵀz.
    pub(crate) fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        if let Some(subdomains) = &mut self.subdomains {
            let applied = subdomains.apply(Blend::Sum, r, z);
            debug_assert!(applied.is_ok(), "factorised for this matrix");
        }
        self.coarse.add_correction(&self.parts, r, z);
        vector::dot(r, z)
    }

    /// Entries of all factors.
    pub(crate) fn nonzeros(&self) -> usize {
        let coarse = self.coarse.analyses.last().map_or(0, |a| a.factor_len());
        coarse + self.subdomains.as_ref().map_or(0, Subdomains::factor_nonzeros)
    }
}
