//! A tree of boxes over triangles or segments: closest points and crossings.

use standoff_linalg::Vec3;

/// Triangles in a tree of axis-parallel boxes. A segment is a triangle whose last two vertices are equal.
#[derive(Debug, Clone)]
pub struct Tree {
    triangles: Vec<[Vec3; 3]>,
    /// Triangles in the order of the leaves.
    order: Vec<u32>,
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// Of a leaf: its range in `order`. Of an inner node: its right child and 0; the left one follows it.
    first: u32,
    count: u32,
}

/// A closest point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Index of the triangle.
    pub triangle: u32,
    /// The point on it, m.
    pub point: Vec3,
    /// Squared distance, m².
    pub d2: f64,
}

const LEAF: usize = 4;

impl Tree {
    /// Builds the tree; the same for the same triangles.
    pub fn new(triangles: Vec<[Vec3; 3]>) -> Self {
        let mut tree =
            Self { order: (0..triangles.len() as u32).collect(), nodes: Vec::new(), triangles };
        let centres: Vec<Vec3> =
            tree.triangles.iter().map(|t| (t[0] + t[1] + t[2]) / 3.0).collect();
        if !tree.triangles.is_empty() {
            tree.split(0, tree.order.len(), &centres);
        }
        tree
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Corners of a triangle, m.
    pub fn triangle(&self, index: u32) -> &[Vec3; 3] {
        &self.triangles[index as usize]
    }

    fn split(&mut self, first: usize, end: usize, centres: &[Vec3]) {
        let corners = self.order[first..end].iter().flat_map(|t| self.triangles[*t as usize]);
        let (low, high) = bounds(corners);
        let node = self.nodes.len();
        let count = end - first;
        self.nodes.push(Node { low, high, first: first as u32, count: count as u32 });
        if count <= LEAF {
            return;
        }
        let (low, high) = bounds(self.order[first..end].iter().map(|t| centres[*t as usize]));
        let axis = (high - low).imax();
        let middle = count / 2;
        let key = |t: &u32| centres[*t as usize][axis];
        self.order[first..end]
            .select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        self.split(first, first + middle, centres);
        self.nodes[node] = Node { first: self.nodes.len() as u32, count: 0, ..self.nodes[node] };
        self.split(first + middle, end, centres);
    }

    /// The point closest to `p`, if one is nearer than the root of `limit2` (m²). Where several are
    /// equally close, the triangle of the smallest index.
    pub fn closest(&self, p: &Vec3, limit2: f64) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut limit = limit2;
        let mut stack = vec![(0usize, 0.0)];
        if self.nodes.is_empty() {
            return None;
        }
        while let Some((index, d2)) = stack.pop() {
            if d2 > limit {
                continue;
            }
            let node = &self.nodes[index];
            if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                for &t in &self.order[range] {
                    let point = closest_point(p, self.triangle(t));
                    let d2 = (point - p).norm_squared();
                    let wins = match &best {
                        None => d2 < limit,
                        Some(b) => d2 < b.d2 || (d2 == b.d2 && t < b.triangle),
                    };
                    if wins {
                        best = Some(Hit { triangle: t, point, d2 });
                        limit = d2;
                    }
                }
                continue;
            }
            let (left, right) = (index + 1, node.first as usize);
            let (a, b) = (self.nodes[left].d2(p), self.nodes[right].d2(p));
            // the nearer one is taken first: it lies on top
            if a <= b {
                stack.extend([(right, b), (left, a)]);
            } else {
                stack.extend([(left, a), (right, b)]);
            }
        }
        best
    }

    /// Where the segment from `a` to `b` meets triangles: parts of its length in [0, 1], ascending.
    pub fn crossings(&self, a: &Vec3, b: &Vec3) -> Vec<f64> {
        let mut found = Vec::new();
        let mut stack = vec![0usize];
        while let Some(index) = stack.pop() {
            let Some(node) = self.nodes.get(index) else { continue };
            if !node.meets(a, b) {
                continue;
            }
            if node.count == 0 {
                stack.extend([node.first as usize, index + 1]);
                continue;
            }
            let range = node.first as usize..(node.first + node.count) as usize;
            for &t in &self.order[range] {
                found.extend(crossing(a, b, self.triangle(t)));
            }
        }
        found.sort_by(f64::total_cmp);
        found
    }
}

impl Node {
    /// Squared distance of a point to the box, m².
    fn d2(&self, p: &Vec3) -> f64 {
        let outside = (self.low - p).sup(&(p - self.high)).sup(&Vec3::zeros());
        outside.norm_squared()
    }

    /// Whether a segment may meet the box.
    fn meets(&self, a: &Vec3, b: &Vec3) -> bool {
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for k in 0..3 {
            // a little more than the box, against rounding
            let slack = 1e-12 * (self.low[k].abs() + self.high[k].abs() + a[k].abs());
            let (low, high, d) = (self.low[k] - slack, self.high[k] + slack, b[k] - a[k]);
            if d == 0.0 {
                if a[k] < low || a[k] > high {
                    return false;
                }
                continue;
            }
            let (s, t) = ((low - a[k]) / d, (high - a[k]) / d);
            (from, to) = (from.max(s.min(t) - 1e-12), to.min(s.max(t) + 1e-12));
        }
        from <= to
    }
}

fn bounds(points: impl Iterator<Item = Vec3>) -> (Vec3, Vec3) {
    let none = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    points.fold(none, |(low, high), p| (low.inf(&p), high.sup(&p)))
}

/// The point of a triangle closest to `p`; the triangle may be a segment or a point.
pub fn closest_point(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let (vc, vb, va) = (d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4);
    let flat = ab.cross(&ac).norm_squared() <= 1e-20 * ab.norm_squared() * ac.norm_squared();
    if flat {
        let on_edges = [(a, b), (b, c), (c, a)].map(|(s, t)| closest_on_segment(p, s, t));
        let d2 = |q: &Vec3| (q - p).norm_squared();
        return on_edges.into_iter().min_by(|q, r| d2(q).total_cmp(&d2(r))).unwrap_or(*a);
    }
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

fn closest_on_segment(p: &Vec3, a: &Vec3, b: &Vec3) -> Vec3 {
    let ab = b - a;
    let length2 = ab.norm_squared();
    if length2 == 0.0 {
        return *a;
    }
    a + ab * (ab.dot(&(p - a)) / length2).clamp(0.0, 1.0)
}

/// Where a segment meets the plane of a triangle inside it or, up to rounding, on its border.
fn crossing(a: &Vec3, b: &Vec3, t: &[Vec3; 3]) -> Option<f64> {
    const SLACK: f64 = 1e-12;
    let (e, f, d) = (t[1] - t[0], t[2] - t[0], b - a);
    let n = e.cross(&f);
    let slope = n.dot(&d);
    let s = n.dot(&(t[0] - a)) / slope;
    // NaN and infinity, of segments in the plane, are in no range
    if !(-SLACK..=1.0 + SLACK).contains(&s) {
        return None;
    }
    let r = a + d * s - t[0];
    let n2 = n.norm_squared();
    let (u, v) = (n.dot(&r.cross(&f)) / n2, n.dot(&e.cross(&r)) / n2);
    let inside = u >= -SLACK && v >= -SLACK && u + v <= 1.0 + SLACK;
    inside.then(|| s.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    #[test]
    fn finds_what_a_search_through_all_finds() {
        let mut rng = Random::new(1);
        let triangles: Vec<[Vec3; 3]> = (0..200)
            .map(|k| {
                let a = rng.vec3();
                let b = a + 0.3 * rng.vec3();
                // segments and a triangle without area among them
                let c = match k % 5 {
                    0 => b,
                    1 => a + (b - a) * 2.0,
                    _ => a + 0.3 * rng.vec3(),
                };
                [a, b, c]
            })
            .collect();
        let tree = Tree::new(triangles.clone());
        for _ in 0..500 {
            let p = 1.5 * rng.vec3();
            let d2 = |t: &[Vec3; 3]| (closest_point(&p, t) - p).norm_squared();
            let all = triangles.iter().map(d2).fold(f64::INFINITY, f64::min);
            let hit = tree.closest(&p, f64::INFINITY).unwrap();
            assert_eq!(hit.d2, all);
            assert_eq!(tree.closest(&p, 0.9 * all), None);
            let q = 1.5 * rng.vec3();
            let mut each: Vec<f64> = triangles.iter().filter_map(|t| crossing(&p, &q, t)).collect();
            each.sort_by(f64::total_cmp);
            assert_eq!(tree.crossings(&p, &q), each);
        }
    }

    #[test]
    fn the_closest_point_is_no_farther_than_samples() {
        let mut rng = Random::new(2);
        for _ in 0..200 {
            let t = [rng.vec3(), rng.vec3(), rng.vec3()];
            let p = 2.0 * rng.vec3();
            let d = (closest_point(&p, &t) - p).norm();
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    let q = t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v;
                    assert!(d <= (q - p).norm() + 1e-12);
                }
            }
        }
    }
}
