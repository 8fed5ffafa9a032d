//! Coarser graphs by heavy-edge matching [Karypis & Kumar 1998].

use super::{Graph, NONE, hash};

/// A graph is not made coarser where this share of its vertices would remain.
const LEAST_REDUCTION: f64 = 0.9;

/// Share that remains above which vertices with a common neighbour are matched as well.
const FEW_MATCHES: f64 = 0.7;

/// Graphs that become coarser and coarser; the first one is the given graph, which is not in the list.
pub(super) struct Hierarchy {
    /// The coarser graphs, and of each vertex of the graph before, the vertex that it became part of.
    pub(super) levels: Vec<(Graph, Vec<u32>)>,
}

impl Hierarchy {
    /// Down to about `size` vertices, as far as there are pairs to match. `seed` varies the choice among equals.
    pub(super) fn new(graph: &Graph, size: usize, seed: u32) -> Self {
        // no vertex may be a large part of a side
        let heaviest = (3 * u64::from(graph.total_weight()) / (2 * size as u64)).max(2) as u32;
        let mut levels: Vec<(Graph, Vec<u32>)> = Vec::new();
        loop {
            let finer = levels.last().map_or(graph, |(graph, _)| graph);
            if finer.n() <= size {
                break;
            }
            let (map, count) = matched(finer, heaviest, seed.wrapping_add(levels.len() as u32));
            if count as f64 > LEAST_REDUCTION * finer.n() as f64 {
                break;
            }
            let coarser = contracted(finer, &map, count);
            levels.push((coarser, map));
        }
        Self { levels }
    }
}

/// Pairs vertices along heavy edges; numbers of the pairs, in the order of their first vertices, and how many there are.
fn matched(graph: &Graph, heaviest: u32, seed: u32) -> (Vec<u32>, usize) {
    let n = graph.n();
    let mut mate = vec![NONE; n];
    let mut single = 0;
    for v in by_degree(graph) {
        if mate[v as usize] != NONE {
            continue;
        }
        let room = heaviest.saturating_sub(graph.weight[v as usize]);
        let mut best = (0, 0, 0);
        let mut other = v;
        for (u, edge) in graph.edges(v) {
            let weight = graph.weight[u as usize];
            if edge >= best.0 && mate[u as usize] == NONE && weight <= room {
                // of the heaviest edges the one to the lightest vertex
                let key = (edge, u32::MAX - weight, hash(u, seed));
                if key > best {
                    (best, other) = (key, u);
                }
            }
        }
        single += usize::from(other == v);
        mate[v as usize] = other;
        mate[other as usize] = v;
    }
    if (n + single) as f64 > 2.0 * FEW_MATCHES * n as f64 {
        match_at_common_neighbours(graph, heaviest, &mut mate);
    }
    let mut map = vec![NONE; n];
    let mut count = 0;
    for v in 0..n {
        if map[v] == NONE {
            map[v] = count;
            map[mate[v] as usize] = count;
            count += 1;
        }
    }
    (map, count as usize)
}

/// The vertices, those with few neighbours first, as they have the least choice; degrees above 63 count as 63.
fn by_degree(graph: &Graph) -> Vec<u32> {
    let class = |v: u32| graph.arcs(v).len().min(63);
    let mut begin = [0_usize; 65];
    for v in 0..graph.n() as u32 {
        begin[class(v) + 1] += 1;
    }
    for k in 0..64 {
        begin[k + 1] += begin[k];
    }
    let mut order = vec![0; graph.n()];
    for v in 0..graph.n() as u32 {
        let place = &mut begin[class(v)];
        order[*place] = v;
        *place += 1;
    }
    order
}

/// Pairs the vertices that are alone (their own mates) where the heaviest edges lead to the same vertex, as those of a star.
fn match_at_common_neighbours(graph: &Graph, heaviest: u32, mate: &mut [u32]) {
    let mut waiting = vec![NONE; graph.n()];
    for v in 0..graph.n() as u32 {
        if mate[v as usize] != v {
            continue;
        }
        let Some((_, at)) = graph.edges(v).map(|(u, edge)| (edge, u)).max() else { continue };
        let other = std::mem::replace(&mut waiting[at as usize], v);
        if other != NONE && graph.weight[v as usize] + graph.weight[other as usize] <= heaviest {
            (mate[v as usize], mate[other as usize]) = (other, v);
            waiting[at as usize] = NONE;
        }
    }
}

/// The graph of the pairs: weights add up.
fn contracted(graph: &Graph, map: &[u32], count: usize) -> Graph {
    let mut coarse = Graph {
        offsets: Vec::with_capacity(count + 1),
        neighbours: Vec::with_capacity(graph.neighbours.len()),
        edge_weight: Vec::with_capacity(graph.neighbours.len()),
        weight: vec![0; count],
    };
    let mut members = vec![[NONE; 2]; count];
    for (v, &c) in map.iter().enumerate() {
        let [first, second] = &mut members[c as usize];
        *(if *first == NONE { first } else { second }) = v as u32;
        coarse.weight[c as usize] += graph.weight[v];
    }
    coarse.offsets.push(0);
    // where the edge from the current vertex to each other one is stored, if behind the beginning
    let mut place = vec![0_u32; count];
    for (c, pair) in members.iter().enumerate() {
        let begin = coarse.neighbours.len() as u32;
        for &v in pair.iter().filter(|v| **v != NONE) {
            for (u, weight) in graph.edges(v) {
                let d = map[u as usize];
                let k = place[d as usize];
                if k > begin {
                    coarse.edge_weight[k as usize - 1] += weight;
                } else if d as usize != c {
                    coarse.neighbours.push(d);
                    coarse.edge_weight.push(weight);
                    place[d as usize] = coarse.neighbours.len() as u32;
                }
            }
        }
        coarse.offsets.push(coarse.neighbours.len() as u32);
    }
    coarse
}
