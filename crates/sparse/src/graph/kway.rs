//! Partitions by bisection again and again.

use super::cut::bisection;
use super::{Graph, NONE};
use crate::BlockPattern;

/// Vertices from which the two sides are divided in parallel.
const PARALLEL: usize = 2000;

/// Share by which parts may be too large.
const TOLERANCE: f64 = 0.03;

/// Size of a part, over the mean, that it may have with pieces of others.
const LARGEST: f64 = 1.2;

/// The part of every vertex; `None` for graphs that 32-bit numbers do not suffice for.
pub(crate) fn partition(pattern: &BlockPattern, parts: u32) -> Option<Vec<u32>> {
    let graph = Graph::of(pattern)?;
    let mut part = divided(&graph, parts);
    join_pieces(&graph, &mut part, parts);
    Some(part)
}

/// The part, from 0 on, of every vertex.
fn divided(graph: &Graph, parts: u32) -> Vec<u32> {
    if parts <= 1 || graph.n() <= 1 {
        return vec![0; graph.n()];
    }
    let first = parts / 2;
    // what all bisections allow adds up
    let tolerance = TOLERANCE / f64::from(parts).log2().ceil();
    let side = bisection(graph, f64::from(first) / f64::from(parts), tolerance);
    let mut members = [Vec::new(), Vec::new()];
    for (v, &s) in side.iter().enumerate() {
        members[s as usize].push(v as u32);
    }
    let mut local = vec![NONE; graph.n()];
    let [a, b] = [0, 1].map(|s| graph.induced(&members[s], &mut local));
    let (one, two) = if graph.n() >= PARALLEL {
        rayon::join(|| divided(&a, first), || divided(&b, parts - first))
    } else {
        (divided(&a, first), divided(&b, parts - first))
    };
    let mut part = vec![0; graph.n()];
    for (found, before, members) in [(one, 0, &members[0]), (two, first, &members[1])] {
        for (&v, p) in members.iter().zip(found) {
            part[v as usize] = before + p;
        }
    }
    part
}

/// Gives all but the largest connected piece of each part to the part with the most edges to it of those with room for it.
fn join_pieces(graph: &Graph, part: &mut [u32], parts: u32) {
    let pieces = graph.components_along(|v, u| part[v as usize] == part[u as usize]);
    let room = (LARGEST * graph.n() as f64 / f64::from(parts)) as usize;
    let mut size = vec![0_usize; parts as usize];
    part.iter().for_each(|&p| size[p as usize] += 1);
    let mut largest: Vec<usize> = vec![usize::MAX; parts as usize];
    for (k, piece) in pieces.iter().enumerate() {
        let known = &mut largest[part[piece[0] as usize] as usize];
        if *known == usize::MAX || pieces[*known].len() < piece.len() {
            *known = k;
        }
    }
    let mut shared = vec![0_u32; parts as usize];
    for (k, piece) in pieces.iter().enumerate() {
        let own = part[piece[0] as usize];
        if largest[own as usize] == k {
            continue;
        }
        let outside = || piece.iter().flat_map(|&v| graph.neighbours(v));
        let mut best = None;
        for &u in outside() {
            let p = part[u as usize];
            if p != own && size[p as usize] + piece.len() <= room {
                shared[p as usize] += 1;
                best = best.max(Some((shared[p as usize], std::cmp::Reverse(p))));
            }
        }
        outside().for_each(|&u| shared[part[u as usize] as usize] = 0);
        if let Some((_, std::cmp::Reverse(p))) = best {
            piece.iter().for_each(|&v| part[v as usize] = p);
            size[own as usize] -= piece.len();
            size[p as usize] += piece.len();
        }
    }
}
