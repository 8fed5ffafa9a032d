//! Nested dissection [George 1973, Lipton, Rose & Tarjan 1979]: the two sides of a separator come first, each ordered in the same way, and the separator
//! comes last.

use rayon::prelude::*;

use super::separator::separator;
use super::{Graph, NONE, leaf};
use crate::BlockPattern;
use crate::minimum_degree::minimum_degree_of;

/// Vertices up to which a part is ordered by minimum degree.
const LEAF: usize = 120;

/// Share of the vertices that a side may have; with more there is no good separator.
const LARGEST: f64 = 0.9;

/// Vertices from which the two sides are ordered in parallel.
const PARALLEL: usize = 1000;

/// Vertices that follow each other in the order.
enum Piece {
    /// To be ordered by minimum degree.
    Leaf(Vec<u32>),
    /// Separators stay as they are, since they become nearly full.
    Separator(Vec<u32>),
}

/// The vertices in an order of nested dissection; `None` for graphs that 32-bit numbers do not suffice for.
pub(crate) fn nested_dissection(pattern: &BlockPattern) -> Option<Vec<u32>> {
    let graph = Graph::of(pattern)?;
    let pieces = dissected(graph.clone(), (0..graph.n() as u32).collect());
    let ordered = |local: &mut Vec<u32>, piece| match piece {
        Piece::Separator(members) => members,
        Piece::Leaf(members) if members.len() > LEAF => by_minimum_degree(&graph, &members, local),
        Piece::Leaf(mut members) => {
            leaf::minimum_degree(&graph, &mut members, local);
            members
        }
    };
    let ordered = pieces.into_par_iter().map_init(|| vec![NONE; graph.n()], ordered);
    Some(ordered.collect::<Vec<_>>().concat())
}

/// The pieces of a graph, whose vertices have these names.
fn dissected(graph: Graph, names: Vec<u32>) -> Vec<Piece> {
    if graph.n() <= LEAF {
        return vec![Piece::Leaf(names)];
    }
    let components = graph.components();
    if components.len() > 1 {
        return each(&graph, &names, components);
    }
    let side = separator(&graph);
    let mut members = [Vec::new(), Vec::new(), Vec::new()];
    for (v, &s) in side.iter().enumerate() {
        members[s as usize].push(v as u32);
    }
    let [a, b, last] = &members;
    if a.is_empty() || b.is_empty() || a.len().max(b.len()) as f64 > LARGEST * graph.n() as f64 {
        return vec![Piece::Leaf(names)];
    }
    let mut local = vec![NONE; graph.n()];
    let [a, b] = [a, b].map(|list| part(&graph, &names, list, &mut local));
    let last = last.iter().map(|&v| names[v as usize]).collect();
    let parallel = graph.n() >= PARALLEL;
    drop((graph, names));
    let (mut pieces, behind) = if parallel {
        rayon::join(|| dissected(a.0, a.1), || dissected(b.0, b.1))
    } else {
        (dissected(a.0, a.1), dissected(b.0, b.1))
    };
    pieces.extend(behind);
    pieces.push(Piece::Separator(last));
    pieces
}

/// A part of a graph and the names of its vertices.
fn part(graph: &Graph, names: &[u32], members: &[u32], local: &mut [u32]) -> (Graph, Vec<u32>) {
    let names = members.iter().map(|&v| names[v as usize]).collect();
    (graph.induced(members, local), names)
}

/// Components one after the other.
fn each(graph: &Graph, names: &[u32], components: Vec<Vec<u32>>) -> Vec<Piece> {
    let mut local = vec![NONE; graph.n()];
    let parts: Vec<_> = components.iter().map(|m| part(graph, names, m, &mut local)).collect();
    let pieces: Vec<Vec<Piece>> = parts.into_par_iter().map(|(g, n)| dissected(g, n)).collect();
    pieces.into_iter().flatten().collect()
}

/// Approximate minimum degree, without regard to what is around.
fn by_minimum_degree(graph: &Graph, members: &[u32], local: &mut [u32]) -> Vec<u32> {
    let graph = graph.induced(members, local);
    let mut begin = Vec::with_capacity(graph.n() + 1);
    let mut rows = Vec::with_capacity(graph.n() + graph.neighbours.len() / 2);
    begin.push(0);
    for v in 0..graph.n() as u32 {
        rows.push(v);
        rows.extend(graph.neighbours(v).iter().filter(|u| **u > v));
        begin.push(rows.len() as u32);
    }
    minimum_degree_of(&begin, &rows).new_to_old().iter().map(|&v| members[v as usize]).collect()
}
