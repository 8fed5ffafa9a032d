//! Kernels of the dense factorisation, in vectors of any width.
//!
//! Every entry is a sum of products, each added with one rounding, in the order of the columns. So its bits depend
//! neither on the width of the vectors nor on how a front is divided.

use standoff_linalg::lanes::{Kernel, Width};
use std::ops::Range;

use super::packed::{Blocks, MOST_ROWS, Packed, View};
use crate::solver::multifrontal::scalar::Scalar;

/// Calls a function with the numbers of vectors and columns as constants.
macro_rules! sized {
    ($vectors:expr, $columns:expr, $f:ident($($arg:expr),*)) => {
        match ($vectors, $columns) {
            (1, 8) => $f::<T, W, 1, 8>($($arg),*),
            (2, 8) => $f::<T, W, 2, 8>($($arg),*),
            (3, 8) => $f::<T, W, 3, 8>($($arg),*),
            (1, _) => $f::<T, W, 1, 4>($($arg),*),
            (2, _) => $f::<T, W, 2, 4>($($arg),*),
            (3, _) => $f::<T, W, 3, 4>($($arg),*),
            _ => $f::<T, W, 4, 4>($($arg),*),
        }
    };
}

/// `V` vectors of rows of `N` columns.
type Tile<T, W, const V: usize, const N: usize> = [[<T as Scalar>::Vector<W>; V]; N];

/// tile − Σ a bᵀ over the columns of `a`; a column of `b` is `height` behind the last.
#[inline(always)]
fn subtract<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    mut tile: Tile<T, W, V, N>,
    a: &[T],
    b: &[T],
    height: usize,
) -> Tile<T, W, V, N> {
    let (a, _) = T::vectors::<W>(a).as_chunks::<V>();
    for (a, b) in a.iter().zip(b.chunks(height)) {
        let Some(b) = b.first_chunk::<N>() else { break };
        for j in 0..N {
            let factor = T::splat(width, b[j]);
            for v in 0..V {
                tile[j][v] = T::subtract_product(width, a[v], factor, tile[j][v]);
            }
        }
    }
    tile
}

/// Columns of a block of rows as a tile.
#[inline(always)]
fn load<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    from: &[T],
) -> Tile<T, W, V, N> {
    let mut tile = [[T::splat(width, T::default()); V]; N];
    for (tile, from) in tile.iter_mut().zip(T::vectors::<W>(from).as_chunks::<V>().0) {
        *tile = *from;
    }
    tile
}

/// Writes a tile to as many columns of a block of rows.
#[inline(always)]
fn store<T: Scalar, W: Width, const V: usize, const N: usize>(
    tile: Tile<T, W, V, N>,
    to: &mut [T],
) {
    for (to, tile) in T::vectors_mut::<W>(to).as_chunks_mut::<V>().0.iter_mut().zip(tile) {
        *to = tile;
    }
}

/// Solves tile Lᵀ = tile with a small triangle L, given by rows, and the reciprocals of its diagonal.
#[inline(always)]
fn divide<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    tile: &mut Tile<T, W, V, N>,
    l: &[[T; N]; N],
    reciprocals: &[T; N],
) {
    for j in 0..N {
        for i in 0..j {
            let factor = T::splat(width, l[j][i]);
            for v in 0..V {
                tile[j][v] = T::subtract_product(width, tile[i][v], factor, tile[j][v]);
            }
        }
        let factor = T::splat(width, reciprocals[j]);
        for v in 0..V {
            tile[j][v] = T::multiply(width, tile[j][v], factor);
        }
    }
}

/// Solves X Lᵀ = A for the columns before `end` of a block of rows, where X replaces A.
#[inline(always)]
fn solve<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    rows: &mut [T],
    l: View<'_, T>,
    end: usize,
    reciprocals: &[T],
) {
    let blocks = Blocks::of::<T, W>();
    let height = V * blocks.lanes;
    for c in (0..end).step_by(N) {
        let (done, rest) = rows.split_at_mut(c * height);
        let (l_rows, l_height) = l.behind(blocks, c);
        let tile = load::<T, W, V, N>(width, rest);
        let mut tile = subtract::<T, W, V, N>(width, tile, done, l_rows, l_height);
        let mut triangle = [[T::default(); N]; N];
        for (i, column) in l_rows.chunks(l_height).skip(c).take(N).enumerate() {
            for j in 0..N {
                triangle[j][i] = column[j];
            }
        }
        let Some(reciprocals) = reciprocals[c..].first_chunk() else { break };
        divide::<T, W, V, N>(width, &mut tile, &triangle, reciprocals);
        store::<T, W, V, N>(tile, rest);
    }
}

/// Factorises the symmetric matrix whose lower triangle is given, and writes the reciprocals of its pivots; the first
/// column whose pivot is not positive is the error.
pub(super) struct Factorise<'a, T> {
    pub(super) matrix: &'a mut Packed<T>,
    pub(super) reciprocals: &'a mut [T],
}

impl<T: Scalar> Kernel for Factorise<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<W: Width>(self, width: W) -> Result<(), usize> {
        let Self { matrix, reciprocals } = self;
        let (blocks, n) = (Blocks::of::<T, W>(), matrix.rows);
        for (first, height) in blocks.all(n) {
            let (before, rows) = matrix.split_at_row(first, height);
            let vectors = height / blocks.lanes;
            sized!(vectors, blocks.columns, solve(width, rows, before, first, reciprocals));
            sized!(vectors, blocks.columns, factorise(width, rows, first, n, reciprocals))?;
        }
        Ok(())
    }
}

/// Factorises the part of a matrix of `n` columns that is left in its block of rows from row `first` on, whose
/// columns before have been solved for.
#[inline(always)]
fn factorise<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    rows: &mut [T],
    first: usize,
    n: usize,
    reciprocals: &mut [T],
) -> Result<(), usize> {
    let height = V * T::lanes::<W>();
    for c in (first..n.min(first + height)).step_by(N) {
        let (done, rest) = rows.split_at_mut(c * height);
        let tile = load::<T, W, V, N>(width, rest);
        let top = c - first;
        let right = done.get(top..).unwrap_or_default();
        let mut tile = subtract::<T, W, V, N>(width, tile, done, right, height);
        store::<T, W, V, N>(tile, rest);
        let mut l = [[T::default(); N]; N];
        for j in 0..N {
            for i in 0..N {
                l[i][j] = rest[j * height + top + i];
            }
        }
        let Some(reciprocals) = reciprocals[c..].first_chunk_mut() else { break };
        small_cholesky(&mut l, reciprocals, n - c).map_err(|column| c + column)?;
        divide::<T, W, V, N>(width, &mut tile, &l, reciprocals);
        store::<T, W, V, N>(tile, rest);
        for j in 0..N {
            // rows of this block above the diagonal are no rows of L
            rest[j * height..][..top + j].fill(T::default());
            for i in j..N {
                rest[j * height + top + i] = l[i][j];
            }
        }
    }
    Ok(())
}

/// Factorises the first `n` columns of a matrix of `N`, of which the lower triangle counts; the others become zero.
#[inline(always)]
fn small_cholesky<T: Scalar, const N: usize>(
    a: &mut [[T; N]; N],
    reciprocals: &mut [T; N],
    n: usize,
) -> Result<(), usize> {
    for j in 0..N {
        if j >= n {
            reciprocals[j] = T::default();
            (0..N).for_each(|i| a[i][j] = T::default());
            a[j] = [T::default(); N];
            continue;
        }
        let mut pivot = a[j][j];
        for t in 0..j {
            pivot = T::minus_product(a[j][t], a[j][t], pivot);
        }
        let positive = pivot > T::default() && pivot < T::INFINITY;
        if !positive {
            return Err(j);
        }
        let root = pivot.root();
        a[j][j] = root;
        reciprocals[j] = T::ONE / root;
        for i in j + 1..N {
            let mut sum = a[i][j];
            for t in 0..j {
                sum = T::minus_product(a[j][t], a[i][t], sum);
            }
            a[i][j] = sum * reciprocals[j];
        }
    }
    Ok(())
}

/// Solves X Lᵀ = A in a block of rows, with the factor of [`Factorise`].
pub(super) struct Solve<'a, T> {
    pub(super) rows: &'a mut [T],
    pub(super) l: View<'a, T>,
    pub(super) reciprocals: &'a [T],
}

impl<T: Scalar> Kernel for Solve<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Self { rows, l, reciprocals } = self;
        let blocks = Blocks::of::<T, W>();
        let vectors = rows.len() / l.terms / blocks.lanes;
        sized!(vectors, blocks.columns, solve(width, rows, l, l.rows, reciprocals));
    }
}

/// A Bᵀ, in some of its columns.
#[derive(Clone)]
pub(super) struct Product<'a, T> {
    pub(super) a: View<'a, T>,
    pub(super) b: View<'a, T>,
    /// Rows of B that these columns belong to.
    pub(super) columns: Range<usize>,
}

/// Columns that are written: the distance of one from the next, and the first row in each.
pub(super) struct To<'a, T> {
    pub(super) values: &'a mut [T],
    pub(super) stride: usize,
    pub(super) at: usize,
}

/// Subtracts a product from row `first` of A on, where a block of rows begins.
pub(super) struct Subtract<'a, T> {
    pub(super) product: Product<'a, T>,
    pub(super) first: usize,
    /// A and B are the same, and only the lower triangle is needed. What is above the diagonal becomes anything.
    pub(super) triangle: bool,
    pub(super) to: To<'a, T>,
}

impl<T: Scalar> Kernel for Subtract<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Self { product: Product { a, b, columns }, first, triangle, to } = self;
        let To { values, stride, at } = to;
        let blocks = Blocks::of::<T, W>();
        for (i, height) in blocks.all(a.rows).skip(first / blocks.rows) {
            let rows = &a.values[i * a.terms..(i + height) * a.terms];
            let used = height.min(a.rows - i);
            for j in columns.clone().step_by(blocks.columns) {
                if triangle && j >= i + height {
                    break;
                }
                let (right, right_height) = b.behind(blocks, j);
                let number = blocks.columns.min(columns.end - j);
                let values = &mut values[(j - columns.start) * stride..][..number * stride];
                let to = To { values, stride, at: at + i - first };
                let vectors = height / blocks.lanes;
                sized!(vectors, blocks.columns, tile(width, rows, right, right_height, used, to));
            }
        }
    }
}

/// One tile of [`Subtract`], of which `used` rows are written.
#[inline(always)]
fn tile<T: Scalar, W: Width, const V: usize, const N: usize>(
    width: W,
    a: &[T],
    b: &[T],
    height: usize,
    used: usize,
    to: To<'_, T>,
) {
    let To { values, stride, at } = to;
    let lanes = T::lanes::<W>();
    let mut tile = [[T::splat(width, T::default()); V]; N];
    if used == V * lanes {
        for (tile, c) in tile.iter_mut().zip(values.chunks(stride)) {
            tile.copy_from_slice(&T::vectors::<W>(&c[at..at + V * lanes])[..V]);
        }
        let tile = subtract::<T, W, V, N>(width, tile, a, b, height);
        for (tile, c) in tile.iter().zip(values.chunks_mut(stride)) {
            T::vectors_mut::<W>(&mut c[at..at + V * lanes])[..V].copy_from_slice(tile);
        }
        return;
    }
    // the last block has rows that are not written
    let mut room = [T::default(); MOST_ROWS];
    let room = &mut room[..V * lanes];
    for (tile, c) in tile.iter_mut().zip(values.chunks(stride)) {
        room[..used].copy_from_slice(&c[at..at + used]);
        tile.copy_from_slice(&T::vectors::<W>(room)[..V]);
    }
    let tile = subtract::<T, W, V, N>(width, tile, a, b, height);
    for (tile, c) in tile.iter().zip(values.chunks_mut(stride)) {
        T::vectors_mut::<W>(room)[..V].copy_from_slice(tile);
        c[at..at + used].copy_from_slice(&room[..used]);
    }
}
