//! A symmetric matrix of 3×3 blocks: assembly and product.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

use crate::{BlockPattern, MatrixError, pattern, vector};

/// A symmetric matrix of 3×3 blocks, of which the lower triangle is stored.
///
/// A block off the diagonal stands for itself and, transposed, for its mirror image. Diagonal
/// blocks are meant to be symmetric; what is read of them is said where it matters.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    blocks: Vec<Mat3>,
}

impl BlockMatrix {
    /// The zero matrix on a pattern.
    pub fn zeros(pattern: Arc<BlockPattern>) -> Self {
        let blocks = vec![Mat3::zeros(); pattern.block_count()];
        Self { pattern, blocks }
    }

    /// A matrix from its blocks, in the order of [`BlockPattern::row_idx`].
    pub fn from_blocks(pattern: Arc<BlockPattern>, blocks: Vec<Mat3>) -> Result<Self, MatrixError> {
        check_size("blocks", pattern.block_count(), blocks.len())?;
        Ok(Self { pattern, blocks })
    }

    /// Number of block rows.
    pub fn n(&self) -> usize {
        self.pattern.n()
    }

    /// The pattern.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// All stored blocks, in the order of [`BlockPattern::row_idx`].
    pub fn blocks(&self) -> &[Mat3] {
        &self.blocks
    }

    /// All stored blocks, for writing.
    pub fn blocks_mut(&mut self) -> &mut [Mat3] {
        &mut self.blocks
    }

    /// The block (row, col) of either triangle; `None` where it is not stored.
    pub fn block(&self, row: u32, col: u32) -> Option<Mat3> {
        let k = self.pattern.position(row.max(col), row.min(col))?;
        Some(if row >= col { self.blocks[k] } else { self.blocks[k].transpose() })
    }

    /// Sets all blocks to zero, keeping the pattern.
    pub fn set_zero(&mut self) {
        clear(&mut self.blocks);
    }

    /// Sets the matrix to zero on another pattern, reusing its memory.
    pub fn reset(&mut self, pattern: Arc<BlockPattern>) {
        let kept = self.blocks.len().min(pattern.block_count());
        clear(&mut self.blocks[..kept]);
        self.blocks.resize(pattern.block_count(), Mat3::zeros());
        self.pattern = pattern;
    }

    /// Diagonal block of row `i`.
    ///
    /// # Panics
    /// Where `i` ≥ n.
    pub fn diagonal_block(&self, i: usize) -> &Mat3 {
        &self.blocks[self.pattern.diagonal_position(i)]
    }

    /// Diagonal block of row `i`, for writing.
    ///
    /// # Panics
    /// Where `i` ≥ n.
    pub fn diagonal_block_mut(&mut self, i: usize) -> &mut Mat3 {
        let k = self.pattern.diagonal_position(i);
        &mut self.blocks[k]
    }

    /// Takes directions out of block row and column `i`: with the symmetric projection P onto the others, Aᵢⱼ ← P Aᵢⱼ, Aⱼᵢ ← Aⱼᵢ P and Aᵢᵢ ← P Aᵢᵢ P + s (I − P),
    /// where s is the largest entry of the diagonal there.
    ///
    /// # Panics
    /// Where `i` ≥ n.
    pub fn restrict_row(&mut self, i: usize, p: &Mat3) {
        let Self { pattern, blocks } = self;
        let first = pattern.diagonal_position(i);
        let below = first + 1..first + pattern.column(i).len();
        blocks[below].iter_mut().for_each(|b| *b *= p);
        pattern.row(i).for_each(|(_, at)| blocks[at] = p * blocks[at]);
        let d = &mut blocks[first];
        *d = p * *d * p + (Mat3::identity() - p) * d.diagonal().max();
    }

    /// A ← A + diag(dᵢ I): masses, say.
    pub fn add_diagonal(&mut self, d: &[f64]) -> Result<(), MatrixError> {
        check_size("diagonal", self.n(), d.len())?;
        for (i, &d) in d.iter().enumerate() {
            let block = self.diagonal_block_mut(i);
            for k in 0..3 {
                block[(k, k)] += d;
            }
        }
        Ok(())
    }

    /// A ← A + diag(Dᵢ).
    pub fn add_diagonal_blocks(&mut self, d: &[Mat3]) -> Result<(), MatrixError> {
        check_size("diagonal", self.n(), d.len())?;
        for (i, d) in d.iter().enumerate() {
            *self.diagonal_block_mut(i) += d;
        }
        Ok(())
    }

    /// Sets the diagonal blocks, of which there are n.
    pub(crate) fn set_diagonal(&mut self, diagonal: &[Mat3]) {
        const ROWS: usize = 2048;
        let Self { pattern, blocks } = self;
        let start = |column: usize| pattern.diagonal_position(column);
        let mut rest = &mut blocks[..];
        let mut pieces = Vec::with_capacity(diagonal.len() / ROWS + 1);
        for (k, diagonal) in diagonal.chunks(ROWS).enumerate() {
            let first = k * ROWS;
            let end = pattern.col_ptr()[first + diagonal.len()] as usize;
            let (piece, tail) = rest.split_at_mut(end - start(first));
            pieces.push((first, diagonal, piece));
            rest = tail;
        }
        pieces.into_par_iter().for_each(|(first, diagonal, piece)| {
            for (i, block) in (first..).zip(diagonal) {
                piece[start(i) - start(first)] = *block;
            }
        });
    }

    /// Adds the Hessian of one summand over N vertices (of which some may be
    /// [eliminated](BlockPattern::ELIMINATED)); of `h` only the blocks that fall into the lower
    /// triangle are read. The matrix is unchanged where an error is returned.
    pub fn add_stencil<const N: usize>(
        &mut self,
        vertices: &[u32; N],
        h: &[[Mat3; N]; N],
    ) -> Result<(), MatrixError> {
        let mut position = [[None; N]; N];
        for (a, &row) in vertices.iter().enumerate() {
            for (b, &col) in vertices.iter().enumerate() {
                position[a][b] = stencil_position(&self.pattern, row, col)?;
            }
        }
        for a in 0..N {
            for b in 0..N {
                if let Some(k) = position[a][b] {
                    self.blocks[k] += h[a][b];
                }
            }
        }
        Ok(())
    }

    /// A ← A + B, where `embedding` is B's pattern
    /// [embedded](BlockPattern::embedding) in A's.
    pub fn add_embedded(&mut self, other: &Self, embedding: &[u32]) -> Result<(), MatrixError> {
        check_size("embedding", other.blocks.len(), embedding.len())?;
        if embedding.iter().any(|&k| k as usize >= self.blocks.len()) {
            return Err(MatrixError::PatternMismatch);
        }
        for (block, &k) in other.blocks.iter().zip(embedding) {
            self.blocks[k as usize] += block;
        }
        Ok(())
    }

    /// A x. The bits do not depend on the number of threads.
    pub fn mul_vec(&self, x: &[Vec3]) -> Result<Vec<Vec3>, MatrixError> {
        let mut y = vec![Vec3::zeros(); self.n()];
        self.mul_vec_into(x, &mut y)?;
        Ok(y)
    }

    /// y ← A x. The bits do not depend on the number of threads.
    pub fn mul_vec_into(&self, x: &[Vec3], y: &mut [Vec3]) -> Result<(), MatrixError> {
        check_size("vector", self.n(), x.len())?;
        check_size("vector", self.n(), y.len())?;
        // both sum row i by ascending column, so either may be taken
        if self.n() >= 2 * vector::CHUNK && rayon::current_num_threads() > 1 {
            self.gather(x, y);
        } else {
            self.scatter(x, y);
        }
        Ok(())
    }

    /// y ← A x row by row: reads each block twice, but rows are independent.
    fn gather(&self, x: &[Vec3], y: &mut [Vec3]) {
        let p = &*self.pattern;
        y.par_iter_mut().enumerate().with_min_len(vector::CHUNK / 2).for_each(|(i, y)| {
            let mut sum = Vec3::zeros();
            for (j, k) in p.row(i) {
                add_mul(&mut sum, &self.blocks[k], &x[j]);
            }
            let first = p.diagonal_position(i);
            add_mul(&mut sum, &self.blocks[first], &x[i]);
            for (k, &j) in p.column(i).iter().enumerate().skip(1) {
                add_mul_transposed(&mut sum, &self.blocks[first + k], &x[j as usize]);
            }
            *y = sum;
        });
    }

    /// y ← A x column by column: reads each block once.
    fn scatter(&self, x: &[Vec3], y: &mut [Vec3]) {
        let p = &*self.pattern;
        y.fill(Vec3::zeros());
        for j in 0..p.n() {
            let first = p.diagonal_position(j);
            let mut sum = y[j];
            add_mul(&mut sum, &self.blocks[first], &x[j]);
            for (k, &i) in p.column(j).iter().enumerate().skip(1) {
                let block = &self.blocks[first + k];
                add_mul(&mut y[i as usize], block, &x[j]);
                add_mul_transposed(&mut sum, block, &x[i as usize]);
            }
            y[j] = sum;
        }
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        // a sum of finite products with 0 is 0, of anything else NaN
        let block = |b: &Mat3| b.iter().map(|v| v * 0.0).sum::<f64>() == 0.0;
        vector::map_reduce(&self.blocks, block, true, |a, b| a && b)
    }
}

/// Where stencil block (row, col) goes: `None` for an eliminated vertex or the upper triangle.
pub(crate) fn stencil_position(
    pattern: &BlockPattern,
    row: u32,
    col: u32,
) -> Result<Option<usize>, MatrixError> {
    for vertex in [row, col] {
        if vertex == BlockPattern::ELIMINATED {
            return Ok(None);
        }
        if vertex as usize >= pattern.n() {
            return Err(MatrixError::VertexOutOfRange { vertex, n: pattern.n() });
        }
    }
    if row < col {
        return Ok(None);
    }
    pattern.position(row, col).map(Some).ok_or(MatrixError::MissingBlock { row, col })
}

pub(crate) fn check_size(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), MatrixError> {
    if expected == found {
        Ok(())
    } else {
        Err(MatrixError::SizeMismatch { what, expected, found })
    }
}

/// Whether two matrices can be assembled by the same plan.
pub(crate) fn check_pattern(
    expected: &Arc<BlockPattern>,
    found: &Arc<BlockPattern>,
) -> Result<(), MatrixError> {
    if pattern::same(expected, found) { Ok(()) } else { Err(MatrixError::PatternMismatch) }
}

/// y ← y + B x.
#[inline(always)]
pub(crate) fn add_mul(y: &mut Vec3, b: &Mat3, x: &Vec3) {
    for i in 0..3 {
        y[i] += b[(i, 0)] * x[0] + b[(i, 1)] * x[1] + b[(i, 2)] * x[2];
    }
}

/// Sets blocks to zero.
fn clear(blocks: &mut [Mat3]) {
    blocks.par_chunks_mut(vector::PARALLEL).for_each(|blocks| blocks.fill(Mat3::zeros()));
}

/// y ← y + Bᵀ x.
#[inline(always)]
pub(crate) fn add_mul_transposed(y: &mut Vec3, b: &Mat3, x: &Vec3) {
    for i in 0..3 {
        y[i] += b[(0, i)] * x[0] + b[(1, i)] * x[1] + b[(2, i)] * x[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix on another pattern, smaller or larger, is zero.
    #[test]
    fn a_matrix_that_is_reset_is_zero() {
        let n = 3 * vector::PARALLEL;
        let chain: Vec<_> = (1..n as u32).map(|i| (i, i - 1)).collect();
        let diagonal = Arc::new(BlockPattern::diagonal(n).unwrap());
        let chain = Arc::new(BlockPattern::from_pairs(n, &chain).unwrap());
        let mut a = BlockMatrix::zeros(diagonal.clone());
        for pattern in [&chain, &diagonal, &chain] {
            a.blocks_mut().fill(Mat3::identity());
            a.reset(pattern.clone());
            assert_eq!(a.blocks().len(), pattern.block_count());
            assert!(a.blocks().iter().all(|block| *block == Mat3::zeros()));
        }
    }

    /// Diagonal blocks are set, and nothing else.
    #[test]
    fn the_diagonal_is_set_piece_by_piece() {
        let n = 5000;
        let pairs: Vec<_> = (1..n as u32).map(|i| (i, i * 7 / 11)).collect();
        let mut a = BlockMatrix::zeros(Arc::new(BlockPattern::from_pairs(n, &pairs).unwrap()));
        a.blocks_mut().fill(Mat3::identity());
        let diagonal: Vec<Mat3> = (0..n).map(|i| Mat3::repeat(i as f64)).collect();
        a.set_diagonal(&diagonal);
        assert!((0..n).all(|i| *a.diagonal_block(i) == diagonal[i]));
        let others = a.blocks().iter().filter(|b| **b == Mat3::identity()).count();
        assert_eq!(others, a.blocks().len() - n);
    }

    /// The two products agree in every bit, on a matrix with rows of all lengths.
    #[test]
    fn gather_and_scatter_give_the_same_bits() {
        let n = 60u32;
        let pairs: Vec<_> = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .filter(|(i, j)| (i * 7 + j * 13) % 5 < 2)
            .collect();
        let pattern = Arc::new(BlockPattern::from_pairs(n as usize, &pairs).unwrap());
        let mut a = BlockMatrix::zeros(pattern);
        for (k, block) in a.blocks_mut().iter_mut().enumerate() {
            *block = Mat3::from_fn(|i, j| ((k * 9 + 3 * i + j) as f64 * 0.7).sin());
        }
        let x: Vec<_> =
            (0..n).map(|i| Vec3::from_fn(|k, _| (f64::from(i) + k as f64).cos())).collect();
        let (mut y, mut z) = (vec![Vec3::zeros(); n as usize], vec![Vec3::x(); n as usize]);
        a.gather(&x, &mut y);
        a.scatter(&x, &mut z);
        assert_eq!(y, z);
        assert!(y.iter().any(|v| v.norm() > 1.0));
    }
}
