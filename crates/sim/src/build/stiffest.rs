//! The stiffest vertex of the bodies at rest, beside which contact need not be much stiffer.

use crate::clock::Clock;
use crate::energy::{Projection, Term};
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::state::State;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Layout, block_pairs};

/// Summands whose Hessians are computed at a time.
const CHUNK: usize = 4096;

/// Largest entry of the diagonal of the Hessian of the elastic energies at the start, N/m; 0 without any.
pub fn largest_stiffness(model: &Model, state: &State) -> f64 {
    let clock = Clock::start();
    let potential = IncrementalPotential::at_start(model, state, &clock);
    let mut diagonal = vec![Vec3::zeros(); state.x.len()];
    for summand in potential.elastic_at_end() {
        add_diagonal(&*summand.term, &state.x, &mut diagonal);
    }
    // how little a rigid body gives way is no measure for contact, which moves it as a whole
    for body in model.bodies.iter().filter(|b| b.rigid) {
        diagonal[body.unknowns.clone()].fill(Vec3::zeros());
    }
    diagonal.iter().flatten().copied().filter(|k| k.is_finite()).fold(0.0, f64::max)
}

/// Adds the diagonal of a term's projected Hessian, N/m.
fn add_diagonal(term: &dyn Term, x: &[Vec3], diagonal: &mut [Vec3]) {
    let (stencils, layout) = (term.stencils(), term.layout());
    let mut blocks: Vec<Mat3> = Vec::new();
    for start in (0..stencils.len()).step_by(CHUNK) {
        let range = start..(start + CHUNK).min(stencils.len());
        let size = |i: usize| layout.block_count(stencils.get(i).len());
        blocks.clear();
        blocks.resize(range.clone().map(size).sum(), Mat3::zeros());
        term.hessians(range.clone(), x, Projection::All, &mut blocks);
        let mut next = blocks.iter();
        for i in range {
            let stencil = stencils.get(i);
            let own = next.by_ref().take(size(i));
            let pairs = block_pairs(stencil.len());
            match layout {
                Layout::Complete => own.zip(pairs).for_each(|(block, (a, b))| {
                    if a == b {
                        add(diagonal, stencil[a], &block.diagonal());
                    }
                }),
                // rows sum to zero
                Layout::OffDiagonal => {
                    own.zip(pairs.filter(|(a, b)| a != b)).for_each(|(block, (a, b))| {
                        add(diagonal, stencil[a], &-block.diagonal());
                        add(diagonal, stencil[b], &-block.diagonal());
                    });
                }
            }
        }
    }
}

fn add(diagonal: &mut [Vec3], vertex: u32, entries: &Vec3) {
    if let Some(sum) = diagonal.get_mut(vertex as usize) {
        *sum += entries;
    }
}
