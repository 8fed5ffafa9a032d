//! Overlapping sets of rows, each with a Cholesky factor of its part of a matrix.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

use super::multifrontal::{Analyses, Analysis, Factor};
use super::rows::reciprocal_power_of_two;
use super::{check_matrix, check_sizes};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, vector};

/// How the solutions of subdomains become one vector. nᵢ is the number of subdomains of row i.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blend {
    /// B Σ Rⱼᵀ Aⱼ⁻¹ Rⱼ with B = diag(1/nᵢ): the mean of the solutions of a row [Li 2020 thesis, Eq. 3.13].
    Mean,
    /// B^½ Σ Rⱼᵀ Aⱼ⁻¹ Rⱼ B^½: symmetric and positive definite.
    Symmetric,
    /// Σ Rⱼᵀ Aⱼ⁻¹ Rⱼ: additive Schwarz, symmetric and positive definite.
    Sum,
}

/// Subdomains of a matrix A: sets of rows that cover it and may overlap, with factors of
/// Aⱼ = Rⱼ A Rⱼᵀ, where Rⱼ picks the rows of set j.
///
/// Factors are in single precision, in double where that meets a pivot that is not positive: they
/// approximate A⁻¹ anyway. Subdomains are worked on in parallel, and their solutions are added in their
/// order: the bits do not depend on the number of threads.
#[derive(Debug)]
pub struct Subdomains {
    /// Number of subdomains of each row.
    copies: Vec<u32>,
    parts: Vec<Part>,
}

/// One subdomain.
#[derive(Debug)]
struct Part {
    /// Its rows, ascending.
    rows: Vec<u32>,
    /// Pattern of the whole matrix for which `places` hold.
    of: Option<Arc<BlockPattern>>,
    pattern: Option<Arc<BlockPattern>>,
    /// For each block of the part's pattern its place in the whole matrix.
    places: Vec<u32>,
    /// The blocks, while they are factorised.
    blocks: Vec<Mat3>,
    analyses: Analyses,
    single: Factor<f32>,
    double: Factor<f64>,
    state: State,
    room: Room,
}

/// Which factor is in force.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    None,
    /// Of the matrix times this.
    Single(f64),
    Double,
}

/// Memory of a solution.
#[derive(Debug, Default)]
struct Room {
    right: Vec<Vec3>,
    solution: Vec<Vec3>,
    single: Vec<f32>,
    double: Vec<f64>,
}

impl Subdomains {
    /// Subdomains of a matrix of `n` block rows. Rows within a set may be in any order and repeated.
    ///
    /// # Errors
    /// A row that does not exist, or one that belongs to no set.
    pub fn new(n: usize, sets: Vec<Vec<u32>>) -> Result<Self, SolveError> {
        let mut copies = vec![0; n];
        let mut parts = Vec::with_capacity(sets.len());
        for mut rows in sets {
            rows.sort_unstable();
            rows.dedup();
            for &row in &rows {
                let Some(copies) = copies.get_mut(row as usize) else {
                    let found = row as usize + 1;
                    return Err(SolveError::SizeMismatch { n, what: "set of rows", found });
                };
                *copies += 1;
            }
            parts.push(Part::new(rows));
        }
        match copies.iter().position(|c| *c == 0) {
            Some(block) => Err(SolveError::NotCovered { block }),
            None => Ok(Self { copies, parts }),
        }
    }

    /// Number of block rows of the matrix.
    pub fn n(&self) -> usize {
        self.copies.len()
    }

    /// Number of subdomains.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Rows of subdomain `j`, ascending.
    ///
    /// # Panics
    /// Where there is no such subdomain.
    pub fn rows(&self, j: usize) -> &[u32] {
        &self.parts[j].rows
    }

    /// Whether subdomain `j` has a factor.
    ///
    /// # Panics
    /// Where there is no such subdomain.
    pub fn is_factorized(&self, j: usize) -> bool {
        self.parts[j].state != State::None
    }

    /// Entries of all factors.
    pub fn factor_nonzeros(&self) -> usize {
        let factors = self.parts.iter().filter_map(|p| p.analyses.last());
        factors.map(Analysis::factor_len).sum()
    }

    /// Makes the rows of subdomain `j` others; whether they are. Its factor is gone then.
    ///
    /// # Errors
    /// A row that does not exist.
    pub fn replace(&mut self, j: usize, mut rows: Vec<u32>) -> Result<bool, SolveError> {
        rows.sort_unstable();
        rows.dedup();
        if rows == self.parts[j].rows {
            return Ok(false);
        }
        let n = self.copies.len();
        if let Some(&row) = rows.iter().find(|row| **row as usize >= n) {
            let found = row as usize + 1;
            return Err(SolveError::SizeMismatch { n, what: "set of rows", found });
        }
        self.parts[j].rows.iter().for_each(|&row| self.copies[row as usize] -= 1);
        rows.iter().for_each(|&row| self.copies[row as usize] += 1);
        let part = &mut self.parts[j];
        (part.rows, part.of, part.state) = (rows, None, State::None);
        Ok(true)
    }

    /// Factorises the parts of a matrix for the `wanted` subdomains and for those without a factor; how
    /// many these were.
    ///
    /// # Errors
    /// A matrix that is not positive definite or not finite, too little memory.
    pub fn factorize(
        &mut self,
        a: &BlockMatrix,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<usize, SolveError> {
        let (n, found) = (self.copies.len(), a.n());
        if n != found {
            return Err(SolveError::SizeMismatch { n, what: "matrix", found });
        }
        check_matrix(a)?;
        let due = |j: usize, part: &Part| part.state == State::None || wanted(j);
        let parts = self.parts.par_iter_mut().enumerate().with_max_len(1);
        let results: Vec<Result<usize, SolveError>> = parts
            .map(|(j, part)| match due(j, part) {
                true => part.factorize(a).map(|()| 1),
                false => Ok(0),
            })
            .collect();
        results.into_iter().sum()
    }

    /// z ← M⁻¹ r, where M⁻¹ blends the solutions of the subdomains.
    ///
    /// # Errors
    /// Vectors of another length, a subdomain without a factor.
    pub fn apply(&mut self, blend: Blend, r: &[Vec3], z: &mut [Vec3]) -> Result<(), SolveError> {
        check_sizes(self.copies.len(), r, z)?;
        if self.parts.iter().any(|p| p.state == State::None) {
            return Err(SolveError::NotFactorized);
        }
        let copies = &self.copies;
        let weight = |row: u32| match blend {
            Blend::Symmetric => 1.0 / f64::from(copies[row as usize]).sqrt(),
            Blend::Mean | Blend::Sum => 1.0,
        };
        self.parts.par_iter_mut().with_max_len(1).for_each(|part| part.solve(r, &weight));
        z.fill(Vec3::zeros());
        for part in &self.parts {
            for (&row, solution) in part.rows.iter().zip(&part.room.solution) {
                z[row as usize] += solution;
            }
        }
        match blend {
            Blend::Mean => vector::map2(z, copies, |z, &c| *z /= f64::from(c)),
            Blend::Symmetric => vector::map2(z, copies, |z, &c| *z /= f64::from(c).sqrt()),
            Blend::Sum => {}
        }
        Ok(())
    }
}

impl Part {
    fn new(rows: Vec<u32>) -> Self {
        Self {
            rows,
            of: None,
            pattern: None,
            places: Vec::new(),
            blocks: Vec::new(),
            analyses: Analyses::new(Ordering::Automatic),
            single: Factor::default(),
            double: Factor::default(),
            state: State::None,
            room: Room::default(),
        }
    }

    /// Finds the part's blocks in a pattern.
    fn place(&mut self, of: &Arc<BlockPattern>) -> Result<(), SolveError> {
        if self.of.as_ref().is_some_and(|known| crate::pattern::same(known, of)) {
            return Ok(());
        }
        let mut pairs = Vec::new();
        self.places.clear();
        // columns and rows ascending, as the pattern will have them
        for (local, &v) in self.rows.iter().enumerate() {
            let first = of.diagonal_position(v as usize);
            let mut begin = local;
            for (k, &row) in of.column(v as usize).iter().enumerate() {
                // both lists ascend
                begin += self.rows[begin..].partition_point(|&r| r < row);
                if self.rows.get(begin) == Some(&row) {
                    pairs.push((begin as u32, local as u32));
                    self.places.push((first + k) as u32);
                }
            }
        }
        let failed = |_| SolveError::OutOfMemory { nonzeros: 9 * pairs.len() };
        let pattern = BlockPattern::from_pairs(self.rows.len(), &pairs).map_err(failed)?;
        self.pattern = Some(Arc::new(pattern.in_plane(of.is_in_plane())));
        self.of = Some(of.clone());
        Ok(())
    }

    fn factorize(&mut self, a: &BlockMatrix) -> Result<(), SolveError> {
        self.state = State::None;
        if self.rows.is_empty() {
            self.state = State::Double;
            return Ok(());
        }
        self.place(a.pattern())?;
        let Some(pattern) = &self.pattern else { return Err(SolveError::NotFactorized) };
        let (analysis, _) = self.analyses.of(pattern)?;
        self.blocks.clear();
        self.blocks.extend(self.places.iter().map(|&k| a.blocks()[k as usize]));
        self.single.reserve(&analysis)?;
        let largest = self.blocks.iter().map(|block| block.amax()).fold(0.0, f64::max);
        let scale = reciprocal_power_of_two(largest);
        if self.single.compute(&analysis, &self.blocks, scale).is_ok() {
            self.double.free();
            self.state = State::Single(scale);
        } else {
            self.single.free();
            self.double.reserve(&analysis)?;
            let result = self.double.compute(&analysis, &self.blocks, 1.0);
            let failed = |k| SolveError::NotPositiveDefinite { block: self.rows[k] as usize };
            result.map_err(failed)?;
            self.state = State::Double;
        }
        self.blocks = Vec::new();
        Ok(())
    }

    /// The part's solution of a right-hand side of the whole matrix times `weight`.
    fn solve(&mut self, r: &[Vec3], weight: &(impl Fn(u32) -> f64 + Sync)) {
        let Room { right, solution, single, double } = &mut self.room;
        right.clear();
        right.extend(self.rows.iter().map(|&row| r[row as usize] * weight(row)));
        solution.resize(self.rows.len(), Vec3::zeros());
        let Some(analysis) = self.analyses.last().filter(|_| !right.is_empty()) else { return };
        match self.state {
            State::None => {}
            State::Double => self.double.solve(analysis, right, solution, double),
            State::Single(scale) => {
                // single precision has a narrow range: the largest entry becomes about 1
                let largest = right.iter().map(|r| r.amax()).fold(0.0, f64::max);
                let unit = reciprocal_power_of_two(largest);
                right.iter_mut().for_each(|r| *r *= unit);
                self.single.solve(analysis, right, solution, single);
                solution.iter_mut().for_each(|x| *x *= scale / unit);
            }
        }
    }
}
