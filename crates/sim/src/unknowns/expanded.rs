//! A term with the Hessian by unknowns: Wᵀ H W, stencil by stencil.

use super::VertexMap;
use crate::energy::{Origin, Projection, Role, Term, next_blocks};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// A term whose stencils may have carried vertices. Energy and gradient stay those by vertices, [`VertexMap::gather`] makes the
/// gradient one by unknowns; stencils and Hessians are those of unknowns.
///
/// Where a summand's Hessian is positive semidefinite, so is Wᵀ H W.
#[derive(Debug)]
pub struct Expanded<'a> {
    term: Box<dyn Term + 'a>,
    map: &'a VertexMap,
}

impl<'a> Expanded<'a> {
    /// The expansion of a term by a map.
    pub fn new(term: Box<dyn Term + 'a>, map: &'a VertexMap) -> Self {
        Self { term, map }
    }
}

impl Term for Expanded<'_> {
    fn name(&self) -> &str {
        self.term.name()
    }

    fn role(&self) -> Role {
        self.term.role()
    }

    fn origin(&self, summand: usize) -> Option<Origin<'_>> {
        self.term.origin(summand)
    }

    fn stencils(&self) -> Stencils<'_> {
        let (mut unknowns, mut weights) = (Vec::new(), Vec::new());
        let inner = self.term.stencils();
        let expanded = inner.iter().map(|stencil| {
            self.map.expand(stencil, &mut unknowns, &mut weights);
            unknowns.clone()
        });
        expanded.collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        self.term.value(x)
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        self.term.add_gradient(x, gradient);
    }

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        mut out: &mut [Mat3],
    ) {
        let (stencils, layout) = (self.term.stencils(), self.term.layout());
        let size = |i: usize| layout.block_count(stencils.get(i).len());
        let mut given = vec![Mat3::zeros(); range.clone().map(size).sum()];
        self.term.hessians(range.clone(), x, projection, &mut given);
        let mut given = given.as_slice();
        let (mut unknowns, mut weights) = (Vec::new(), Vec::new());
        for i in range {
            let stencil = stencils.get(i);
            self.map.expand(stencil, &mut unknowns, &mut weights);
            let (own, others) = given.split_at(size(i));
            given = others;
            let to = next_blocks(&mut out, block_count(unknowns.len()));
            expand(own, layout.pairs(stencil.len()), &weights, unknowns.len(), to);
        }
    }

    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        self.term.max_step(x, dx)
    }

    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.term.within_limits(x, part)
    }

    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        self.term.without_limits()
    }
}

/// The blocks Σ w_aj H_ab w_bk of unknowns j ≤ k, from the blocks H_ab of the given pairs of vertices a ≤ b. Where the pairs lack those
/// of equal vertices, rows sum to zero: H_aa = −Σ_b H_ab.
fn expand(
    given: &[Mat3],
    pairs: impl Iterator<Item = (usize, usize)>,
    weights: &[f64],
    count: usize,
    out: &mut [Mat3],
) {
    out.fill(Mat3::zeros());
    let complete = given.len() == block_count(weights.len() / count.max(1));
    let weight = |a: usize, j: usize| weights[a * count + j];
    for (h, (a, b)) in given.iter().zip(pairs) {
        for (block, (j, k)) in out.iter_mut().zip(block_pairs(count)) {
            let [aj, ak, bj, bk] = [weight(a, j), weight(a, k), weight(b, j), weight(b, k)];
            if a == b {
                *block += (aj * ak) * h;
            } else if complete {
                *block += (aj * bk) * h + (bj * ak) * h.transpose();
            } else {
                // −H_ab is a part of H_aa, and −H_abᵀ one of H_bb
                *block += (ak - bk) * (bj * h.transpose() - aj * h);
            }
        }
    }
}
