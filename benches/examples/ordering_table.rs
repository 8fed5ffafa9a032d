//! Prints block operations and seconds of orders by nested dissection and by minimum degree, and sizes, cuts and seconds of
//! partitions, for patterns of solids, sheets, rods and heaps of them.
//!
//! cargo run --release -p standoff-bench --example ordering_table [-- NAME... [threads=N]]
//!
//! Only patterns with one of the arguments NAME in theirs. Parts have about 200 vertices. Seconds are those of the fastest of three
//! calls, with the elimination tree.

#[path = "../benches/support/graphs.rs"]
mod graphs;

use std::time::Instant;

use standoff_sparse::{BlockPattern, Ordering, VertexOrder, partition};

/// Seconds of the fastest of three calls, and its result.
fn time<T>(mut f: impl FnMut() -> T) -> (f64, T) {
    let mut once = || {
        let start = Instant::now();
        let result = f();
        (start.elapsed().as_secs_f64(), result)
    };
    let mut best = once();
    for _ in 0..2 {
        let next = once();
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

/// Couplings between parts, and the size of the largest part over the mean.
fn quality(pattern: &BlockPattern, part: &[u32]) -> (usize, f64) {
    let mut size = vec![0_u32; part.iter().max().map_or(0, |&p| p as usize + 1)];
    part.iter().for_each(|&p| size[p as usize] += 1);
    let across = |j: usize| {
        let rows = pattern.column(j).iter();
        rows.filter(|&&i| part[i as usize] != part[j]).count()
    };
    let largest = size.iter().max().map_or(0.0, |&s| f64::from(s));
    ((0..pattern.n()).map(across).sum(), largest * size.len() as f64 / part.len() as f64)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = arguments.iter().find_map(|a| a.strip_prefix("threads=")?.parse().ok());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(1)).build_global();
    pool.expect("no pool before");
    let names: Vec<&String> = arguments.iter().filter(|a| !a.contains('=')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.contains(n.as_str()));
    println!(
        "| graph | vertices | operations | s | minimum degree | s | parts | cut | largest | s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, pattern) in graphs::all().into_iter().filter(|(name, _)| wanted(name)) {
        let order = |ordering| time(|| VertexOrder::new(&pattern, ordering));
        let (seconds, dissection) = order(Ordering::NestedDissection);
        let (other_seconds, degree) = order(Ordering::MinimumDegree);
        let parts = (pattern.n() / 200).max(2);
        let (part_seconds, part) = time(|| partition(&pattern, parts));
        let (cut, largest) = quality(&pattern, &part);
        println!(
            "| {name} | {} | {:.3e} | {seconds:.4} | {:.3e} | {other_seconds:.4} | {parts} | {cut} \
             | {largest:.3} | {part_seconds:.4} |",
            pattern.n(),
            dissection.tree.operations(),
            degree.tree.operations(),
        );
    }
}
