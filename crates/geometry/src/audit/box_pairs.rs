//! Pairs of overlapping boxes by recursive bisection: the audit's own broad phase.
//!
//! Both sets are split at the median of all centres, again and again; boxes on both sides of a cut
//! go to both halves. Small sets are compared pair by pair. A pair can be found more than once.

/// Below this number of comparisons a region is done directly.
const DIRECT: usize = 1024;
/// Bound of the recursion's depth.
const DEPTH: usize = 40;

/// Closed box: smallest and largest coordinates.
pub type Box3 = [[f64; 3]; 2];

/// Smallest box around points, grown by `r` and rounded outwards.
pub fn around<'a>(points: impl IntoIterator<Item = &'a standoff_linalg::Vec3>, r: f64) -> Box3 {
    let mut b = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for p in points {
        for k in 0..3 {
            b[0][k] = b[0][k].min((p[k] - r).next_down());
            b[1][k] = b[1][k].max((p[k] + r).next_up());
        }
    }
    b
}

/// Sorted list of what `test` returns for the pairs (i of `a`, j of `b`) with overlapping boxes,
/// each once. `test` may be called more than once for a pair.
pub fn find<R: PartialOrd + Send>(
    a: &[Box3],
    b: &[Box3],
    test: impl Fn(u32, u32) -> Option<R> + Sync,
) -> Vec<R> {
    let all = |n: usize| (0..n as u32).collect();
    let mut found = recurse(a, b, all(a.len()), all(b.len()), DEPTH, &test);
    found.sort_by(|x, y| x.partial_cmp(y).unwrap_or(std::cmp::Ordering::Equal));
    found.dedup();
    found
}

fn recurse<R: Send>(
    a: &[Box3],
    b: &[Box3],
    of_a: Vec<u32>,
    of_b: Vec<u32>,
    depth: usize,
    test: &(impl Fn(u32, u32) -> Option<R> + Sync),
) -> Vec<R> {
    if depth > 0 && of_a.len() * of_b.len() > DIRECT {
        let (axis, cut) = best_cut(a, b, &of_a, &of_b);
        let half = |boxes: &[Box3], of: &[u32], low: bool| -> Vec<u32> {
            let on = |i: &&u32| {
                let x = &boxes[**i as usize];
                if low { x[0][axis] <= cut } else { x[1][axis] >= cut }
            };
            of.iter().filter(on).copied().collect()
        };
        let low = (half(a, &of_a, true), half(b, &of_b, true));
        let high = (half(a, &of_a, false), half(b, &of_b, false));
        let work = |h: &(Vec<u32>, Vec<u32>)| h.0.len() * h.1.len();
        // a cut that most boxes straddle is worth nothing
        if work(&low) + work(&high) < of_a.len() * of_b.len() / 10 * 9 {
            drop((of_a, of_b));
            let (mut found, more) = rayon::join(
                || recurse(a, b, low.0, low.1, depth - 1, test),
                || recurse(a, b, high.0, high.1, depth - 1, test),
            );
            found.extend(more);
            return found;
        }
    }
    let mut found = Vec::new();
    for &i in &of_a {
        for &j in &of_b {
            let (p, q) = (&a[i as usize], &b[j as usize]);
            if (0..3).all(|k| p[0][k] <= q[1][k] && q[0][k] <= p[1][k]) {
                found.extend(test(i, j));
            }
        }
    }
    found
}

/// Axis along which the centres spread most, and their median there.
fn best_cut(a: &[Box3], b: &[Box3], of_a: &[u32], of_b: &[u32]) -> (usize, f64) {
    let boxes = || of_a.iter().map(|&i| &a[i as usize]).chain(of_b.iter().map(|&j| &b[j as usize]));
    let spread = |k: usize| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in boxes() {
            let c = 0.5 * (x[0][k] + x[1][k]);
            (low, high) = (low.min(c), high.max(c));
        }
        high - low
    };
    let mut axis = 0;
    let mut widest = spread(0);
    for k in 1..3 {
        let w = spread(k);
        if w > widest {
            (axis, widest) = (k, w);
        }
    }
    // a few hundred centres are enough for a median
    let n = of_a.len() + of_b.len();
    let mut centres: Vec<f64> =
        boxes().step_by(n.div_ceil(256)).map(|x| 0.5 * (x[0][axis] + x[1][axis])).collect();
    let middle = centres.len() / 2;
    (axis, *centres.select_nth_unstable_by(middle, f64::total_cmp).1)
}
