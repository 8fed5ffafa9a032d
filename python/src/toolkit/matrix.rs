//! Sums of 3×3 blocks as sparse matrices in compressed rows.

use numpy::PyArray1;
use pyo3::prelude::*;
use rayon::prelude::*;
use standoff::Vec3;
use standoff::energy::{Layout, Projection, Term};
use standoff_geometry::UNUSED;
use standoff_linalg::Mat3;

/// Values, columns and row starts.
pub type Csr<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Stencils whose Hessians are computed at a time.
const CHUNK: usize = 4096;

/// A sum of 3×3 blocks, each at a row and a column of vertices.
#[derive(Default)]
pub struct Blocks {
    places: Vec<u64>,
    blocks: Vec<Mat3>,
}

impl Blocks {
    /// Adds a block at the vertices `a` (row) and `b` (column).
    pub fn add(&mut self, a: u32, b: u32, block: Mat3) {
        self.places.push(u64::from(a) << 32 | u64::from(b));
        self.blocks.push(block);
    }

    /// Adds the projected Hessian of an energy at positions `x`.
    pub fn add_term(&mut self, term: &dyn Term, x: &[Vec3]) {
        let (stencils, layout) = (term.stencils(), term.layout());
        let counts: Vec<usize> = stencils.iter().map(|s| layout.block_count(s.len())).collect();
        let mut all = stencils.iter();
        for first in (0..counts.len()).step_by(CHUNK) {
            let range = first..(first + CHUNK).min(counts.len());
            let counts = &counts[range.clone()];
            let mut blocks = vec![Mat3::zeros(); counts.iter().sum()];
            term.hessians(range, x, Projection::All, &mut blocks);
            let mut rest = &blocks[..];
            for (stencil, count) in all.by_ref().take(counts.len()).zip(counts) {
                let (own, others) = rest.split_at(*count);
                self.add_stencil(stencil, layout, own);
                rest = others;
            }
        }
    }

    /// Adds the blocks of a stencil: diagonal blocks where the layout has them, then those above.
    fn add_stencil(&mut self, stencil: &[u32], layout: Layout, blocks: &[Mat3]) {
        let n = stencil.len();
        let mut diagonal = vec![Mat3::zeros(); n];
        let above = match layout {
            Layout::Complete => {
                diagonal.copy_from_slice(&blocks[..n]);
                &blocks[n..]
            }
            Layout::OffDiagonal => blocks,
        };
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        for ((a, b), block) in pairs.zip(above) {
            if stencil[a] == UNUSED || stencil[b] == UNUSED {
                continue;
            }
            self.add(stencil[a], stencil[b], *block);
            self.add(stencil[b], stencil[a], block.transpose());
            if layout == Layout::OffDiagonal {
                // rows sum to 0
                diagonal[a] -= block;
                diagonal[b] -= block.transpose();
            }
        }
        for (v, block) in stencil.iter().zip(diagonal).filter(|(v, _)| **v != UNUSED) {
            self.add(*v, *v, block);
        }
    }

    /// The matrix over `n` vertices. Blocks at the same place are summed in the order in which they were added.
    pub fn into_python(self, py: Python<'_>, n: usize) -> Csr<'_> {
        let mut order: Vec<u32> = (0..self.places.len() as u32).collect();
        order.par_sort_by_key(|i| self.places[*i as usize]);
        let mut merged: Vec<(u64, Mat3)> = Vec::with_capacity(order.len());
        for i in order {
            let (place, block) = (self.places[i as usize], self.blocks[i as usize]);
            match merged.last_mut() {
                Some((last, sum)) if *last == place => *sum += block,
                _ => merged.push((place, block)),
            }
        }
        let mut values = Vec::with_capacity(9 * merged.len());
        let mut columns = Vec::with_capacity(9 * merged.len());
        let mut starts = Vec::with_capacity(3 * n + 1);
        starts.push(0);
        let mut rest = &merged[..];
        for v in 0..n as u64 {
            let (row, others) = rest.split_at(rest.partition_point(|(p, _)| p >> 32 == v));
            rest = others;
            for i in 0..3 {
                for (place, block) in row {
                    let column = 3 * (place & u64::from(u32::MAX)) as i64;
                    for j in 0..3 {
                        values.push(block[(i, j)]);
                        columns.push(column + j as i64);
                    }
                }
                starts.push(values.len() as i64);
            }
        }
        (
            PyArray1::from_vec(py, values),
            PyArray1::from_vec(py, columns),
            PyArray1::from_vec(py, starts),
        )
    }
}
