//! Which vertices each summand of an energy couples, and in which order its Hessian is stored.

use std::borrow::Cow;

use standoff_linalg::Mat3;

/// Number of stored blocks of a symmetric Hessian over n vertices, n (n + 1)/2: the n blocks on the
/// diagonal, then the blocks (a, b), a < b, row after row, see [`block_pairs`].
pub const fn block_count(n: usize) -> usize {
    n * (n + 1) / 2
}

/// The local vertices (a, b) of each stored block of a Hessian over n vertices, in order.
pub fn block_pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let above = (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)));
    (0..n).map(|a| (a, a)).chain(above)
}

/// The stored blocks of a whole Hessian over N vertices, of which the upper triangle is read.
///
/// # Panics
/// Where `out` has not [`block_count`]`(N)` blocks.
#[inline]
pub fn pack<const N: usize>(h: &[[Mat3; N]; N], out: &mut [Mat3]) {
    assert_eq!(out.len(), block_count(N));
    for (out, (a, b)) in out.iter_mut().zip(block_pairs(N)) {
        *out = h[a][b];
    }
}

/// The vertices of a list of summands, any number each.
///
/// A vertex may be [`BlockPattern::ELIMINATED`](crate::BlockPattern::ELIMINATED): it has no row, and its
/// blocks are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Stencils<'a> {
    vertices: Cow<'a, [u32]>,
    sizes: Sizes<'a>,
}

/// How many vertices each stencil has.
#[derive(Debug, Clone, PartialEq)]
enum Sizes<'a> {
    /// All the same number, at least 1.
    Equal(usize),
    /// Stencil i has the vertices from `begin[i]` to `begin[i + 1]`.
    Any { begin: Cow<'a, [u32]> },
}

impl Default for Stencils<'_> {
    fn default() -> Self {
        Self { vertices: Cow::Borrowed(&[]), sizes: Sizes::Equal(1) }
    }
}

impl<'a, const N: usize> From<&'a [[u32; N]]> for Stencils<'a> {
    fn from(list: &'a [[u32; N]]) -> Self {
        Self { vertices: Cow::Borrowed(list.as_flattened()), sizes: Sizes::Equal(N.max(1)) }
    }
}

impl<const N: usize> FromIterator<[u32; N]> for Stencils<'static> {
    fn from_iter<I: IntoIterator<Item = [u32; N]>>(list: I) -> Self {
        let vertices: Vec<u32> = list.into_iter().flatten().collect();
        Self { vertices: Cow::Owned(vertices), sizes: Sizes::Equal(N.max(1)) }
    }
}

impl FromIterator<Vec<u32>> for Stencils<'static> {
    fn from_iter<I: IntoIterator<Item = Vec<u32>>>(list: I) -> Self {
        let (mut vertices, mut begin) = (Vec::new(), vec![0]);
        for stencil in list {
            vertices.extend(stencil);
            begin.push(vertices.len() as u32);
        }
        Self { vertices: Cow::Owned(vertices), sizes: Sizes::Any { begin: Cow::Owned(begin) } }
    }
}

impl Stencils<'_> {
    /// Number of stencils.
    pub fn len(&self) -> usize {
        match &self.sizes {
            Sizes::Equal(n) => self.vertices.len() / n,
            Sizes::Any { begin } => begin.len() - 1,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices of stencil `i`.
    ///
    /// # Panics
    /// Where there is no such stencil.
    #[inline]
    pub fn get(&self, i: usize) -> &[u32] {
        match &self.sizes {
            Sizes::Equal(n) => &self.vertices[i * n..(i + 1) * n],
            Sizes::Any { begin } => &self.vertices[begin[i] as usize..begin[i + 1] as usize],
        }
    }

    /// All stencils, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The number of vertices of every stencil, where it is the same for all.
    pub fn equal_size(&self) -> Option<usize> {
        match self.sizes {
            Sizes::Equal(n) => Some(n),
            Sizes::Any { .. } => None,
        }
    }

    /// Number of stored Hessian blocks of the stencils of a range, see [`block_count`].
    pub fn blocks(&self, range: std::ops::Range<usize>) -> usize {
        match &self.sizes {
            Sizes::Equal(n) => range.len() * block_count(*n),
            Sizes::Any { .. } => range.map(|i| block_count(self.get(i).len())).sum(),
        }
    }

    /// The same stencils over other numbers: rows instead of vertices, say.
    pub fn map(&self, f: impl Fn(u32) -> u32) -> Stencils<'static> {
        let vertices = self.vertices.iter().map(|&v| f(v)).collect();
        let sizes = match &self.sizes {
            Sizes::Equal(n) => Sizes::Equal(*n),
            Sizes::Any { begin } => Sizes::Any { begin: Cow::Owned(begin.to_vec()) },
        };
        Stencils { vertices: Cow::Owned(vertices), sizes }
    }

    /// The same stencils, borrowed.
    pub fn by_ref(&self) -> Stencils<'_> {
        let sizes = match &self.sizes {
            Sizes::Equal(n) => Sizes::Equal(*n),
            Sizes::Any { begin } => Sizes::Any { begin: Cow::Borrowed(begin) },
        };
        Stencils { vertices: Cow::Borrowed(&self.vertices), sizes }
    }
}

/// Which blocks of its Hessians a list of summands gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All [`block_count`] ones.
    Complete,
    /// Those off the diagonal only, in the same order: translations do no work, so the rows of a
    /// Hessian sum to zero, and the diagonal is summed from the few blocks of a matrix row.
    OffDiagonal,
}

impl Layout {
    /// Stored blocks of a Hessian over n vertices.
    pub const fn block_count(self, n: usize) -> usize {
        match self {
            Self::Complete => block_count(n),
            Self::OffDiagonal => n * n.saturating_sub(1) / 2,
        }
    }

    /// The local vertices (a, b), a ≤ b, of each stored block, in order.
    pub fn pairs(self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let skip = if self == Self::OffDiagonal { n } else { 0 };
        block_pairs(n).skip(skip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stencils_of_any_size_keep_their_vertices_and_count_their_blocks() {
        let triangles = [[4, 5, 6], [7, 8, 9]];
        let equal = Stencils::from(&triangles[..]);
        assert_eq!((equal.len(), equal.get(1), equal.blocks(0..2)), (2, &[7, 8, 9][..], 12));
        let any: Stencils<'_> = [vec![], vec![3], (0..40).collect()].into_iter().collect();
        assert_eq!((any.len(), any.get(1), any.blocks(0..3)), (3, &[3][..], 1 + 820));
        assert_eq!(any.map(|v| v + 1).get(1), [4]);
        assert!(Stencils::default().is_empty());
        assert_eq!(
            block_pairs(3).collect::<Vec<_>>(),
            [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
        );
        assert_eq!(block_pairs(40).count(), block_count(40));
    }
}
