//! Partitions of the vertices of a pattern into parts of about equal size with few couplings between them.

use crate::{BlockPattern, graph};

/// The part of every vertex, for about `parts` parts of about equal size, by bisection again and again on coarser and
/// coarser graphs [Karypis & Kumar 1998]. Parts are connected where the graph lets them be. Where the graph has
/// 2³¹ arcs or more, consecutive pieces of the vertices in order of their distance from a first one.
///
/// Parts are numbered in the order of their first vertices and none is empty, so that there may be fewer
/// than required. The result is a function of the arguments.
pub fn partition(pattern: &BlockPattern, parts: usize) -> Vec<u32> {
    let n = pattern.n();
    let parts = parts.clamp(1, n.max(1));
    if parts == 1 {
        return vec![0; n];
    }
    let found = u32::try_from(parts).ok().and_then(|parts| graph::partition(pattern, parts));
    numbered(&found.unwrap_or_else(|| by_distance(pattern, parts)))
}

/// The same parts, numbered in the order of their first vertices.
fn numbered(part: &[u32]) -> Vec<u32> {
    let mut number = vec![u32::MAX; part.iter().max().map_or(0, |&p| p as usize + 1)];
    let mut next = 0;
    part.iter()
        .map(|&p| {
            let number = &mut number[p as usize];
            if *number == u32::MAX {
                *number = next;
                next += 1;
            }
            *number
        })
        .collect()
}

/// Equal pieces of the vertices in breadth-first order.
fn by_distance(pattern: &BlockPattern, parts: usize) -> Vec<u32> {
    let n = pattern.n();
    let mut order = Vec::with_capacity(n);
    let mut found = vec![false; n];
    for seed in 0..n {
        if std::mem::replace(&mut found[seed], true) {
            continue;
        }
        order.push(seed);
        let mut next = order.len() - 1;
        while let Some(&v) = order.get(next) {
            next += 1;
            for w in pattern.neighbours(v) {
                if !std::mem::replace(&mut found[w], true) {
                    order.push(w);
                }
            }
        }
    }
    let mut part = vec![0; n];
    for (k, &v) in order.iter().enumerate() {
        part[v] = (k * parts / n) as u32;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of `side`² vertices.
    fn grid(side: u32) -> BlockPattern {
        let pairs = (0..side * side).flat_map(|v| {
            let right = (v % side + 1 < side).then_some((v + 1, v));
            let below = (v / side + 1 < side).then_some((v + side, v));
            right.into_iter().chain(below)
        });
        let pairs: Vec<_> = pairs.collect();
        BlockPattern::from_pairs((side * side) as usize, &pairs).unwrap()
    }

    fn check(pattern: &BlockPattern, part: &[u32], parts: usize) {
        let mut size = vec![0; parts];
        part.iter().for_each(|&p| size[p as usize] += 1);
        let mean = pattern.n() as f64 / parts as f64;
        assert!(size.iter().all(|&s| s > 0 && f64::from(s) < 1.5 * mean), "{size:?}");
        // numbered by first vertices
        let mut seen = 0;
        for &p in part {
            assert!(p <= seen);
            seen = seen.max(p + 1);
        }
    }

    #[test]
    fn parts_are_of_about_equal_size_and_the_same_every_time() {
        let pattern = grid(40);
        for parts in [2, 7, 16] {
            let part = partition(&pattern, parts);
            check(&pattern, &part, parts);
            assert_eq!(part, partition(&pattern, parts));
            check(&pattern, &numbered(&by_distance(&pattern, parts)), parts);
        }
    }

    #[test]
    fn more_parts_than_vertices_and_vertices_without_couplings() {
        assert_eq!(partition(&grid(2), 1), [0; 4]);
        let alone = BlockPattern::diagonal(30).unwrap();
        for parts in [3, 30, 100] {
            let part = partition(&alone, parts);
            let most = part.iter().max().copied().unwrap_or_default() as usize;
            assert!(part.len() == 30 && most < parts);
        }
        assert!(partition(&BlockPattern::diagonal(0).unwrap(), 3).is_empty());
    }
}
