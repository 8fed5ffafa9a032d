//! Polygons in space as triangles, by the plane that fits the polygon best.
//!
//! The normal of that plane is the polygon's area as a vector (Newell): the sum of x_k × x_{k+1} / 2. Corners are
//! projected along it. A convex polygon is cut into halves again and again, any other one is the inside of a
//! constrained Delaunay triangulation of its corners, of predicates that are exact. A polygon may touch itself, as
//! one with a hole and a bridge to it does; one that crosses itself has no inside and is refused.

use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use standoff_linalg::Vec3;
use std::collections::{BTreeMap, HashMap};

/// Largest area, as a share of the square of the size, that counts as none.
const NO_AREA: f64 = 1e-12;

/// Coordinates in the plane of a polygon, as shares of its size.
type Point = [f64; 2];

/// The triangles of a polygon of at least three corners, given by indices into `points`; the error says what is
/// wrong with it. A corner that follows itself counts once. A triangle is kept as it is.
pub(crate) fn triangles(points: &[Vec3], polygon: &[u32]) -> Result<Vec<[u32; 3]>, &'static str> {
    let mut corners = polygon.to_vec();
    if let [a, b, c] = corners[..] {
        return Ok(vec![[a, b, c]]);
    }
    corners.dedup();
    while corners.len() > 1 && corners.first() == corners.last() {
        corners.pop();
    }
    if let [a, b, c] = corners[..] {
        return Ok(vec![[a, b, c]]);
    }
    let plane: Vec<Point> = project(corners.iter().map(|v| points[*v as usize]).collect())?;
    if is_convex(&plane) {
        return Ok(halves(corners));
    }
    let inside = inside(&plane)?;
    Ok(inside.into_iter().map(|t| t.map(|k| corners[k])).collect())
}

/// Corners in the plane of best fit, around which they run counter-clockwise.
fn project(mut corners: Vec<Vec3>) -> Result<Vec<Point>, &'static str> {
    let first = corners.first().copied().unwrap_or_default();
    let size = corners.iter().map(|p| (p - first).amax()).fold(0.0, f64::max);
    if size == 0.0 {
        return Err("has no area");
    }
    // halves, because a difference of two large numbers may overflow
    let unit = if size.is_finite() { size } else { f64::MAX / 4.0 };
    corners.iter_mut().for_each(|p| *p = *p / unit - first / unit);
    let next = corners.iter().cycle().skip(1);
    let twice: Vec3 = corners.iter().zip(next).map(|(a, b)| a.cross(b)).sum();
    if twice.norm() <= 2.0 * NO_AREA {
        // the lobes of a figure of eight may cancel, too
        let wide = corners.iter().any(|p| corners[1..].iter().any(|q| p.cross(q).norm() > 1e-6));
        return Err(if wide { "crosses itself, or has no area" } else { "has no area" });
    }
    let normal = twice.normalize();
    // the axis that is farthest from the normal
    let axis = Vec3::ith(normal.iamin(), 1.0);
    let u = axis.cross(&normal).normalize();
    let v = normal.cross(&u);
    // numbers that are too small for exact predicates are zero
    let clean = |x: f64| if x.abs() < 1e-100 { 0.0 } else { x };
    Ok(corners.iter().map(|p| [clean(p.dot(&u)), clean(p.dot(&v))]).collect())
}

/// Whether every corner turns left, by more than rounding, and all of them together once around.
fn is_convex(plane: &[Point]) -> bool {
    let n = plane.len();
    let edge = |k: usize| {
        let (a, b) = (plane[k % n], plane[(k + 1) % n]);
        [b[0] - a[0], b[1] - a[1]]
    };
    let left = |k: usize| {
        let (a, b) = (edge(k), edge(k + 1));
        let lengths = a[0].hypot(a[1]) * b[0].hypot(b[1]);
        a[0] * b[1] - a[1] * b[0] > 1e-9 * lengths
    };
    // the edges of a convex polygon point up in one run and down in another
    let up = |k: usize| edge(k)[1] > 0.0;
    let changes = (0..n).filter(|&k| up(k) != up(k + 1)).count();
    (0..n).all(left) && changes == 2
}

/// A convex polygon without every second corner, again and again, so that no corner has many triangles.
fn halves(mut left: Vec<u32>) -> Vec<[u32; 3]> {
    let mut out = Vec::with_capacity(left.len() - 2);
    while left.len() > 3 {
        out.extend(left.chunks(2).zip(left[2..].iter().step_by(2)).map(|(c, d)| [c[0], c[1], *d]));
        if left.len().is_multiple_of(2) {
            let n = left.len();
            out.push([left[0], left[n - 2], left[n - 1]]);
        }
        left = left.into_iter().step_by(2).collect();
    }
    if let [a, b, c] = left[..] {
        out.push([a, b, c]);
    }
    out
}

type Net = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// The triangles inside a polygon, by its corners.
fn inside(plane: &[Point]) -> Result<Vec<[usize; 3]>, &'static str> {
    const CROSSES: &str = "crosses itself";
    // corners at one place are one vertex of the net
    let mut at: HashMap<[u64; 2], usize> = HashMap::with_capacity(plane.len());
    let mut first = Vec::new();
    let corners: Vec<usize> = (plane.iter().enumerate())
        .map(|(k, p)| {
            *at.entry(p.map(|c| (c + 0.0).to_bits())).or_insert_with(|| {
                first.push(k);
                first.len() - 1
            })
        })
        .collect();
    let vertices = first.iter().map(|&k| Point2::new(plane[k][0], plane[k][1])).collect();
    let mut net = Net::bulk_load(vertices).map_err(|_| "has corners that are no numbers")?;
    // the net may order its vertices as it likes
    let mut handles = vec![None; first.len()];
    for vertex in net.vertices() {
        let p = vertex.position();
        if let Some(&k) = at.get(&[p.x, p.y].map(|c| (c + 0.0).to_bits())) {
            handles[k] = Some(vertex.fix());
        }
    }
    // how often the polygon runs along an edge from the smaller vertex to the larger, less the other way
    let mut runs: BTreeMap<[usize; 2], i32> = BTreeMap::new();
    for (k, &a) in corners.iter().enumerate() {
        let b = corners[(k + 1) % corners.len()];
        let (Some(from), Some(to)) = (handles[a], handles[b]) else { return Err(CROSSES) };
        if from == to {
            continue;
        }
        let parts = net.try_add_constraint(from, to);
        if parts.is_empty() {
            return Err(CROSSES);
        }
        for edge in parts {
            let [a, b] = net.directed_edge(edge).vertices().map(|v| v.fix().index());
            *runs.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
        }
    }
    let turns = winding(&net, &runs);
    if turns.iter().any(|t| !matches!(t, 0 | 1)) {
        return Err(CROSSES);
    }
    let back: HashMap<usize, usize> =
        handles.iter().zip(first).filter_map(|(h, k)| Some(((*h)?.index(), k))).collect();
    let faces = net.inner_faces().filter(|f| turns[f.fix().index()] == 1);
    Ok(faces.map(|f| f.vertices().map(|v| back[&v.fix().index()])).collect())
}

/// How often the polygon runs around each face, counter-clockwise.
fn winding(net: &Net, runs: &BTreeMap<[usize; 2], i32>) -> Vec<i32> {
    let mut turns: Vec<Option<i32>> = vec![None; net.num_all_faces()];
    let outer = net.outer_face().fix().index();
    let mut neighbours = vec![Vec::new(); turns.len()];
    for edge in net.directed_edges() {
        let [a, b] = edge.vertices().map(|v| v.fix().index());
        let along = runs.get(&[a.min(b), a.max(b)]).copied().unwrap_or(0);
        let along = if a < b { along } else { -along };
        // the face is to the left of the edge, its neighbour to the right
        let [left, right] = [edge, edge.rev()].map(|e| e.face().fix().index());
        neighbours[right].push((left, along));
    }
    turns[outer] = Some(0);
    let mut next = vec![(outer, 0)];
    while let Some((face, here)) = next.pop() {
        for &(other, more) in &neighbours[face] {
            if turns[other].is_none() {
                turns[other] = Some(here + more);
                next.push((other, here + more));
            }
        }
    }
    turns.into_iter().map(|t| t.unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a plane that is not parallel to any axis, and lies away from the origin.
    fn tilted(outline: &[[f64; 2]]) -> Vec<Vec3> {
        let (u, v) = (Vec3::new(2.0, 1.0, -2.0) / 3.0, Vec3::new(-2.0, 2.0, -1.0) / 3.0);
        outline.iter().map(|[x, y]| Vec3::new(5.0, -7.0, 3.0) + u * *x + v * *y).collect()
    }

    /// Triangles of a polygon, after checks that hold for all of them: the area is kept, none is turned over.
    fn cut(points: &[Vec3], polygon: &[u32]) -> Result<Vec<[u32; 3]>, &'static str> {
        let all = triangles(points, polygon)?;
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)) / 2.0
        };
        let at = |k: usize| points[polygon[k % polygon.len()] as usize] - points[0];
        let whole: Vec3 = (0..polygon.len()).map(|k| at(k).cross(&at(k + 1)) / 2.0).sum();
        let normal = whole.normalize();
        let areas: Vec<f64> = all.iter().map(|t| area(t).dot(&normal)).collect();
        assert!(areas.iter().all(|a| *a > 0.0), "{areas:?}");
        let sum: f64 = areas.iter().sum();
        assert!((sum - whole.norm()).abs() < 1e-9 * whole.norm(), "{sum} of {}", whole.norm());
        Ok(all)
    }

    fn outline(outline: &[[f64; 2]]) -> Result<Vec<[u32; 3]>, &'static str> {
        let points = tilted(outline);
        let n = outline.len() as u32;
        let mut result = Err("");
        for first in 0..n {
            let polygon: Vec<u32> = (0..n).map(|k| (first + k) % n).collect();
            let of = cut(&points, &polygon);
            assert!(first == 0 || of.is_ok() == Result::is_ok(&result), "starts at {first}");
            result = of;
        }
        result
    }

    #[test]
    fn concave_polygons_keep_their_area_whichever_corner_is_first() {
        let arrow = [[0.0, 0.0], [2.0, -1.0], [1.0, 0.0], [2.0, 1.0]];
        assert_eq!(outline(&arrow).unwrap().len(), 2);
        let c: [[f64; 2]; 8] = [
            [1.0, 1.0],
            [-1.0, 1.0],
            [-1.0, -1.0],
            [1.0, -1.0],
            [1.0, -0.8],
            [-0.8, -0.8],
            [-0.8, 0.8],
            [1.0, 0.8],
        ];
        assert_eq!(outline(&c).unwrap().len(), 6);
        let mut reversed = c;
        reversed.reverse();
        assert_eq!(outline(&reversed).unwrap().len(), 6);
    }

    #[test]
    fn corners_on_straight_edges_make_no_flat_triangles() {
        let square =
            [[0.0, 0.0], [0.3, 0.0], [1.0, 0.0], [1.0, 1.0], [0.7, 1.0], [0.2, 1.0], [0.0, 1.0]];
        let points = tilted(&square);
        for t in outline(&square).unwrap() {
            let [a, b, c] = t.map(|v| points[v as usize]);
            assert!((b - a).cross(&(c - a)).norm() > 0.1, "{t:?}");
        }
    }

    #[test]
    fn a_hole_with_a_bridge_stays_open() {
        // around the square, over the bridge, around the hole the other way, and back
        let points = tilted(&[
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 3.0],
            [0.0, 3.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [2.0, 2.0],
            [2.0, 1.0],
        ]);
        let all = cut(&points, &[0, 1, 2, 3, 0, 4, 5, 6, 7, 4]).unwrap();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn polygons_without_an_inside_are_refused() {
        let crossing = [[0.0, 0.0], [4.0, 0.0], [1.0, -1.0], [0.5, 3.0]];
        assert_eq!(outline(&crossing), Err("crosses itself"));
        let eight = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
        assert_eq!(outline(&eight), Err("crosses itself, or has no area"));
        // all corners turn left, but twice around
        let star: Vec<[f64; 2]> = (0..5)
            .map(|k| 0.8 * f64::from(k) * std::f64::consts::PI)
            .map(|a: f64| [a.cos(), a.sin()])
            .collect();
        assert_eq!(outline(&star), Err("crosses itself"));
        let flat = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [2.0, 0.0]];
        assert_eq!(outline(&flat), Err("has no area"));
        let point = [[1.0, 0.0]; 4];
        assert_eq!(outline(&point), Err("has no area"));
    }

    #[test]
    fn a_corner_that_is_given_twice_counts_once() {
        let points = tilted(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(triangles(&points, &[0, 1, 1, 2]), Ok(vec![[0, 1, 2]]));
        assert_eq!(triangles(&points, &[0, 1, 2, 0]), Ok(vec![[0, 1, 2]]));
        assert_eq!(triangles(&points, &[0, 1, 1, 0]), Err("has no area"));
    }

    #[test]
    fn polygons_of_any_length_take_little_time() {
        let n = 30_000;
        let angle = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / n as f64;
        let circle = |k: usize, r: f64| [r * angle(k).cos(), r * angle(k).sin()];
        let shapes: [Vec<[f64; 2]>; 3] = [
            (0..n).map(|k| circle(k, 1.0)).collect(),
            // a star, whose spikes lie beside each other
            (0..n).map(|k| circle(k, if k % 2 == 0 { 1.0 } else { 0.5 })).collect(),
            // a band that goes up and down between two far lines
            (0..n)
                .map(|k| (k, 0.0))
                .take(n / 2)
                .chain((0..n / 2).rev().map(|k| (k, 1.0)))
                .map(|(k, more)| [k as f64, more + if k % 2 == 0 { 0.0 } else { 9e3 }])
                .collect(),
        ];
        for shape in shapes {
            let begin = std::time::Instant::now();
            let all = cut(&tilted(&shape), &(0..n as u32).collect::<Vec<_>>()).unwrap();
            assert_eq!(all.len(), n - 2);
            let degree = |v: u32| all.iter().flatten().filter(|w| **w == v).count();
            assert!(degree(0) < 100, "{}", degree(0));
            // 0.1 s in an optimised build
            assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
        }
    }
}
