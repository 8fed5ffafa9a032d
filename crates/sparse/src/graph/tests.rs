use std::time::Instant;

use super::coarsening::Hierarchy;
use super::separator::{SEPARATOR, separator};
use super::{Graph, NONE, leaf, nested_dissection, partition};
use crate::permutation::Permutation;
use crate::{BlockPattern, EliminationTree, Ordering, VertexOrder};

fn pattern(n: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> BlockPattern {
    BlockPattern::from_pairs(n as usize, &pairs.into_iter().collect::<Vec<_>>()).unwrap()
}

/// A grid in which every vertex is coupled to the next ones along the axes.
fn grid(size: [u32; 3]) -> BlockPattern {
    let steps = [1, size[0], size[0] * size[1]];
    let n = size[0] * size[1] * size[2];
    let next =
        move |v: u32, k: usize| (v / steps[k] % size[k] + 1 < size[k]).then(|| (v + steps[k], v));
    pattern(n, (0..n).flat_map(|v| (0..3).filter_map(move |k| next(v, k))))
}

fn path(n: u32) -> BlockPattern {
    grid([n, 1, 1])
}

fn star(n: u32) -> BlockPattern {
    pattern(n, (1..n).map(|v| (v, 0)))
}

fn complete(n: u32) -> BlockPattern {
    pattern(n, (0..n).flat_map(|i| (0..i).map(move |j| (i, j))))
}

/// A path of hubs, each with as many ends as there are hubs.
fn brush(hubs: u32) -> BlockPattern {
    let bristles = (0..hubs * hubs).map(move |v| (v + hubs, v / hubs));
    pattern(hubs + hubs * hubs, (1..hubs).map(|v| (v, v - 1)).chain(bristles))
}

/// Vertices with a few couplings to vertices anywhere.
fn scattered(n: u32) -> BlockPattern {
    let other = |v: u32, k: u32| (v.wrapping_mul(2_654_435_761) ^ (k * 40_503)) % n;
    pattern(n, (0..n).flat_map(|v| (0..3).map(move |k| (v, other(v, k)))).filter(|(a, b)| a != b))
}

/// The elimination tree of the order, which must be a permutation.
fn tree(pattern: &BlockPattern) -> EliminationTree {
    let order = nested_dissection(pattern).unwrap();
    assert_eq!(order.len(), pattern.n());
    let order = Permutation::from_new_to_old(order).expect("a permutation");
    EliminationTree::new(pattern, &order)
}

fn sizes(part: &[u32], parts: u32) -> Vec<usize> {
    (0..parts).map(|p| part.iter().filter(|q| **q == p).count()).collect()
}

fn cut(pattern: &BlockPattern, part: &[u32]) -> usize {
    let across = |v: usize| pattern.neighbours(v).filter(move |&u| part[u] != part[v]).count();
    (0..pattern.n()).map(across).sum::<usize>() / 2
}

#[test]
fn separators_separate_sides_of_about_equal_weight_and_are_small() {
    // a straight line or plane of the grid is best, or close to it
    for (size, straight) in [([60, 60, 1], 60), ([200, 30, 1], 30), ([15, 15, 15], 225)] {
        let graph = Graph::of(&grid(size)).unwrap();
        let side = separator(&graph);
        for v in 0..graph.n() as u32 {
            let other = |u: &u32| side[v as usize] < 2 && side[*u as usize] == 1 - side[v as usize];
            assert!(!graph.neighbours(v).iter().any(other));
        }
        let count = |s: u8| side.iter().filter(|t| **t == s).count();
        assert!(5 * count(0).max(count(1)) <= 3 * graph.n());
        let found = count(SEPARATOR);
        assert!(10 * found <= 12 * straight, "{size:?}: {found}");
    }
}

/// George's order of a grid of n vertices has 31/4 n log₂ n entries at most; that of a cube has operations in proportion to
/// n², by a factor that is known for a recursion by planes.
#[test]
fn grids_have_little_fill() {
    for side in [30, 100] {
        let pattern = grid([side, side, 1]);
        let n = f64::from(side * side);
        let blocks = tree(&pattern).factor_blocks() as f64;
        assert!(blocks < 0.5 * 7.75 * n * n.log2(), "{side}: {}", blocks / (n * n.log2()));
        let degree = VertexOrder::new(&pattern, Ordering::MinimumDegree).tree.factor_blocks();
        assert!(blocks < 1.1 * degree as f64, "{side}: {blocks} {degree}");
    }
    let cube = grid([20, 20, 20]);
    let degree = VertexOrder::new(&cube, Ordering::MinimumDegree).tree.operations();
    assert!(tree(&cube).operations() < 0.7 * degree);
}

#[test]
fn what_has_no_good_separator_is_ordered_well() {
    assert_eq!(tree(&complete(300)).factor_blocks(), 300 * 301 / 2);
    assert_eq!(tree(&star(1000)).factor_blocks(), 1999);
    assert!(tree(&path(5000)).factor_blocks() < 2 * 10_000);
    assert!(tree(&brush(40)).factor_blocks() < 2 * 1640 * 2);
    assert_eq!(tree(&scattered(3000)).column_counts().len(), 3000);
}

#[test]
fn empty_and_disconnected_graphs_are_ordered_and_divided() {
    for n in [0, 1, 2, 5000] {
        let alone = BlockPattern::diagonal(n).unwrap();
        assert_eq!(tree(&alone).factor_blocks(), n as u64);
        if n > 0 {
            let part = partition(&alone, 7).unwrap();
            assert!(sizes(&part, 7).iter().all(|&s| s <= n.div_ceil(7) + n / 20));
        }
    }
    // chains of 1 to 300 vertices
    let first = |k: u32| k * (k - 1) / 2;
    let chains = pattern(
        first(301),
        (1..301).flat_map(|k| (1..k).map(move |v| (first(k) + v, first(k) + v - 1))),
    );
    assert!(tree(&chains).factor_blocks() < 3 * chains.block_count() as u64 / 2);
    let part = partition(&chains, 20).unwrap();
    let most = *sizes(&part, 20).iter().max().unwrap();
    assert!(most * 20 < chains.n() * 5 / 4, "{most}");
    assert!(cut(&chains, &part) < 40);
}

#[test]
fn parts_are_balanced_and_connected_and_cut_little() {
    // a straight division into so many cuts so many edges
    for (size, parts, straight) in [
        ([60, 60, 1], 2, 60),
        ([60, 60, 1], 4, 120),
        ([60, 60, 1], 16, 360),
        ([120, 10, 10], 12, 1100),
        ([16, 16, 16], 8, 768),
    ] {
        let pattern = grid(size);
        let part = partition(&pattern, parts).unwrap();
        let sizes = sizes(&part, parts);
        let mean = pattern.n() as f64 / f64::from(parts);
        assert!(sizes.iter().all(|&s| (0.85..1.1).contains(&(s as f64 / mean))), "{sizes:?}");
        let found = cut(&pattern, &part);
        assert!(10 * found <= 14 * straight, "{size:?} {parts}: {found}");
        let graph = Graph::of(&pattern).unwrap();
        let pieces = graph.components_along(|v, u| part[v as usize] == part[u as usize]);
        assert_eq!(pieces.len(), parts as usize, "{size:?} {parts}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for pattern in [grid([18, 18, 18]), grid([150, 40, 1]), scattered(5000), brush(60)] {
        let found = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (nested_dissection(&pattern), partition(&pattern, 25)))
        });
        assert!(found[0] == found[1] && found[0] == found[2]);
    }
}

/// What takes the square of these numbers takes minutes.
#[test]
fn time_is_not_quadratic() {
    let n = 300_000;
    for pattern in [path(n), star(n), brush(500), BlockPattern::diagonal(n as usize).unwrap()] {
        let start = Instant::now();
        assert_eq!(nested_dissection(&pattern).unwrap().len(), pattern.n());
        assert_eq!(partition(&pattern, 16).unwrap().len(), pattern.n());
        assert!(start.elapsed().as_secs() < 40, "{:?}", start.elapsed());
    }
}

#[test]
fn coarser_graphs_have_the_same_weight_and_end() {
    for pattern in [grid([40, 40, 1]), star(3000), complete(200)] {
        let graph = Graph::of(&pattern).unwrap();
        let hierarchy = Hierarchy::new(&graph, 80, 1);
        let mut finer = &graph;
        for (coarser, map) in &hierarchy.levels {
            assert_eq!(coarser.total_weight(), graph.total_weight());
            let inside =
                |v: u32| finer.edges(v).filter(move |&(u, _)| map[u as usize] == map[v as usize]);
            let lost: u32 = (0..finer.n() as u32).flat_map(inside).map(|(_, weight)| weight).sum();
            let sum = |g: &Graph| g.edge_weight.iter().sum::<u32>();
            assert_eq!(sum(coarser) + lost, sum(finer));
            finer = coarser;
        }
        assert!(finer.n() < 160, "{}", finer.n());
    }
}

/// Vertices are ordered by all their neighbours, also those outside, as the dense twin does.
#[test]
fn leaves_are_ordered_by_minimum_degree_with_their_surroundings() {
    let pattern = scattered(200);
    let graph = Graph::of(&pattern).unwrap();
    let mut local = vec![NONE; 200];
    let mut members: Vec<u32> = (30..130).collect();
    leaf::minimum_degree(&graph, &mut members, &mut local);
    assert!(local.iter().all(|&k| k == NONE));
    let mut coupled = vec![vec![false; 200]; 200];
    for v in 0..200 {
        graph.neighbours(v).iter().for_each(|&u| coupled[v as usize][u as usize] = true);
    }
    let mut left: Vec<u32> = (30..130).collect();
    for &v in &members {
        let degree = |v: u32| coupled[v as usize].iter().filter(|c| **c).count();
        assert_eq!(Some(v), left.iter().copied().min_by_key(|&u| degree(u)));
        left.retain(|&u| u != v);
        let around: Vec<usize> = (0..200).filter(|&u| coupled[v as usize][u]).collect();
        // outside the members nothing is coupled to anything
        for &a in around.iter().filter(|a| (30..130).contains(*a)) {
            around.iter().filter(|b| **b != a).for_each(|&b| coupled[a][b] = true);
            coupled[a][v as usize] = false;
        }
    }
}
