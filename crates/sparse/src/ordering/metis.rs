//! Nested dissection and partitions by METIS.

use std::sync::{Mutex, PoisonError};

use metis_sys as metis;

use super::Permutation;
use crate::BlockPattern;

/// METIS draws from the C library's `rand`, and installs handlers for SIGABRT and SIGTERM while it
/// runs: both belong to the process, so calls take turns. (A SIGTERM that hits another thread
/// during a call ends the process, as it would anyway, but not in an orderly way.)
static TURN: Mutex<()> = Mutex::new(());

/// Seed of METIS's choices: fixed, so that the order is a function of the graph.
const SEED: i32 = 1;

/// The order found by METIS_NodeND on the graph of the pattern; `None` where the graph has no
/// edges, is too large for METIS's 32-bit indices, or METIS fails.
pub(super) fn nested_dissection(pattern: &BlockPattern) -> Option<Permutation> {
    let (mut offsets, mut neighbours) = adjacency(pattern)?;
    if neighbours.is_empty() {
        return None;
    }
    let n = pattern.n();
    let mut vertex_count = i32::try_from(n).ok()?;
    let mut options = [0 as metis::idx_t; metis::METIS_NOPTIONS as usize];
    let mut new_to_old = vec![0 as metis::idx_t; n];
    let mut old_to_new = vec![0 as metis::idx_t; n];
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: `options` has METIS_NOPTIONS entries, all of which this call sets.
    unsafe { metis::METIS_SetDefaultOptions(options.as_mut_ptr()) };
    options[metis::moptions_et_METIS_OPTION_SEED as usize] = SEED;
    options[metis::moptions_et_METIS_OPTION_NUMBERING as usize] = 0;
    // SAFETY: the graph is in METIS's CSR form: `offsets` has n + 1 non-decreasing entries from 0
    // to `neighbours.len()`, neighbours lie in 0..n, are symmetric and without loops (`adjacency`
    // lists every off-diagonal block of the pattern once from either end). A null weight pointer
    // is allowed and means unit weights. Both results have room for n entries. All memory outlives
    // the call and nothing else refers to it; METIS keeps no pointer. The lock gives this thread
    // METIS's process-wide state (see `TURN`).
    let status = unsafe {
        metis::METIS_NodeND(
            &mut vertex_count,
            offsets.as_mut_ptr(),
            neighbours.as_mut_ptr(),
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            new_to_old.as_mut_ptr(),
            old_to_new.as_mut_ptr(),
        )
    };
    drop(turn);
    if status != metis::rstatus_et_METIS_OK {
        return None;
    }
    // METIS: A'[i] = A[perm[i]]; a negative entry would become a large one and be refused
    Permutation::from_new_to_old(new_to_old.iter().map(|&v| v as u32).collect())
}

/// Parts up to which METIS bisects again and again; more are found at once, as its manual advises.
const BISECTED: usize = 8;

/// The part of every vertex found by METIS on the graph of the pattern, some of which may be empty; `None`
/// where the graph has no edges, is too large for METIS's 32-bit indices, or METIS fails.
pub(crate) fn partition(pattern: &BlockPattern, parts: usize) -> Option<Vec<u32>> {
    let (mut offsets, mut neighbours) = adjacency(pattern)?;
    if neighbours.is_empty() {
        return None;
    }
    let n = pattern.n();
    let mut vertex_count = i32::try_from(n).ok()?;
    let mut part_count = i32::try_from(parts).ok()?;
    let (mut constraints, mut cut) = (1 as metis::idx_t, 0 as metis::idx_t);
    let mut options = [0 as metis::idx_t; metis::METIS_NOPTIONS as usize];
    let mut part = vec![0 as metis::idx_t; n];
    let find = if parts <= BISECTED {
        metis::METIS_PartGraphRecursive
    } else {
        metis::METIS_PartGraphKway
    };
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: `options` has METIS_NOPTIONS entries, all of which this call sets.
    unsafe { metis::METIS_SetDefaultOptions(options.as_mut_ptr()) };
    options[metis::moptions_et_METIS_OPTION_SEED as usize] = SEED;
    options[metis::moptions_et_METIS_OPTION_NUMBERING as usize] = 0;
    // SAFETY: the graph is as in `nested_dissection`; null pointers are allowed for weights, sizes,
    // targets and tolerances and mean the defaults. `part` has room for n entries. All memory outlives
    // the call and nothing else refers to it; METIS keeps no pointer. The lock gives this thread
    // METIS's process-wide state (see `TURN`).
    let status = unsafe {
        find(
            &mut vertex_count,
            &mut constraints,
            offsets.as_mut_ptr(),
            neighbours.as_mut_ptr(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &mut part_count,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            options.as_mut_ptr(),
            &mut cut,
            part.as_mut_ptr(),
        )
    };
    drop(turn);
    let valid = |&p: &metis::idx_t| u32::try_from(p).ok().filter(|&p| (p as usize) < parts);
    if status != metis::rstatus_et_METIS_OK {
        return None;
    }
    part.iter().map(valid).collect()
}

/// Offsets and neighbours of all vertices, without loops.
fn adjacency(pattern: &BlockPattern) -> Option<(Vec<i32>, Vec<i32>)> {
    let n = pattern.n();
    let arcs = 2 * (pattern.block_count() - n);
    i32::try_from(arcs).ok()?;
    i32::try_from(n).ok()?;
    let mut offsets = Vec::with_capacity(n + 1);
    let mut neighbours = Vec::with_capacity(arcs);
    offsets.push(0);
    for i in 0..n {
        neighbours.extend(pattern.row(i).map(|(j, _)| j as i32));
        neighbours.extend(pattern.column(i)[1..].iter().map(|&j| j as i32));
        offsets.push(neighbours.len() as i32);
    }
    Some((offsets, neighbours))
}
