//! The independent check of a frame: every promise that a state makes, by brute force over boxes that overlap
//! and exact signs.
//!
//! Compared are all pairs of an edge and a triangle, of a point and a triangle, of two edges and of an edge
//! and a point, of bodies that may touch, without a common vertex. Distances of pairs with a thickness come
//! from closest points by clamping [Ericson 2005, §5.1], in floating point: what is nearer than
//! ξ (1 − 1e-9) is reported.

mod elements;

use crate::exact::{
    Point, height, point_in_triangle, point_on_segment, segment_meets_triangle, segments_meet,
};
use crate::frame::{Dimension, Frame, Info};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What is wrong with a frame, in words.
pub type Finding = String;

/// Edges, triangles and points that take part in contact, with their bodies.
#[derive(Debug, Default)]
pub struct Surface {
    triangles: Vec<[usize; 3]>,
    edges: Vec<[usize; 2]>,
    points: Vec<usize>,
    body: Vec<usize>,
    thickness: Vec<f64>,
}

impl Surface {
    /// The surface of all bodies: triangles that only one tetrahedron has, those of shells and obstacles, all
    /// their edges, segments, and every vertex of these. Triangles of a body with tetrahedra are the surface by which it touches. In two dimensions
    /// the edges that only one triangle has.
    pub fn new(frame: &Frame, info: &Info) -> Self {
        let mut body = vec![0; frame.x.len()];
        for (k, b) in info.bodies.iter().enumerate() {
            body[b.first_vertex..b.first_vertex + b.vertices].fill(k);
        }
        let triangles = match info.dimension {
            Dimension::Three => faces(frame, &body),
            _ => Vec::new(),
        };
        let sides = triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]);
        let outlines = match info.dimension {
            Dimension::Three => Vec::new(),
            _ => outlines(frame),
        };
        let edges: BTreeSet<[usize; 2]> = sides
            .chain(outlines)
            .chain(frame.segments.iter().copied())
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        let of_edges = edges.iter().flatten().chain(&frame.points).copied();
        let points: BTreeSet<usize> = of_edges.collect();
        let thickness = info.bodies.iter().map(|b| b.contact_thickness).collect();
        let (edges, points) = (edges.into_iter().collect(), points.into_iter().collect());
        Self { triangles, edges, points, body, thickness }
    }

    /// ξ of a pair of bodies, m.
    fn thickness(&self, a: usize, b: usize) -> f64 {
        (self.thickness[a] + self.thickness[b]) / 2.0
    }
}

/// Triangles of the surfaces of bodies in three dimensions.
fn faces(frame: &Frame, body: &[usize]) -> Vec<[usize; 3]> {
    let carrying: BTreeSet<usize> = frame.triangles.iter().map(|t| body[t[0]]).collect();
    let mut faces: BTreeMap<[usize; 3], (usize, [usize; 3])> = BTreeMap::new();
    for t in frame.tets.iter().filter(|t| !carrying.contains(&body[t[0]])) {
        for k in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
            let face = k.map(|i| t[i]);
            let mut key = face;
            key.sort_unstable();
            faces.entry(key).or_insert((0, face)).0 += 1;
        }
    }
    // the six nodes of each face, the middles of its edges 01, 12, 20 last
    let mut curved: BTreeMap<[usize; 3], (usize, [usize; 6])> = BTreeMap::new();
    for t in &frame.quadratic {
        for k in [[0, 2, 1, 6, 5, 4], [0, 1, 3, 4, 8, 7], [0, 3, 2, 7, 9, 6], [1, 2, 3, 5, 9, 8]] {
            let face = k.map(|i| t[i]);
            let mut key = [face[0], face[1], face[2]];
            key.sort_unstable();
            curved.entry(key).or_insert((0, face)).0 += 1;
        }
    }
    let curved = curved.into_values().filter(|(n, _)| *n == 1).flat_map(|(_, f)| {
        let [a, b, c, ab, bc, ca] = f;
        [[a, ab, ca], [ab, b, bc], [bc, c, ca], [ab, bc, ca]]
    });
    let outer = faces.into_values().filter(|(n, _)| *n == 1).map(|(_, face)| face);
    let outer = outer.chain(curved);
    outer.chain(frame.triangles.iter().copied()).collect()
}

/// Edges of triangles in the plane that only one of them has; two for each edge with a node in its middle.
fn outlines(frame: &Frame) -> Vec<[usize; 2]> {
    let mut edges: BTreeMap<[usize; 2], (usize, Vec<[usize; 2]>)> = BTreeMap::new();
    let mut add = |[a, b]: [usize; 2], parts: Vec<[usize; 2]>| {
        edges.entry([a.min(b), a.max(b)]).or_insert((0, parts)).0 += 1;
    };
    for [a, b, c] in &frame.triangles {
        [[*a, *b], [*b, *c], [*c, *a]].into_iter().for_each(|edge| add(edge, vec![edge]));
    }
    for [a, b, c, ab, bc, ca] in &frame.curved {
        for (edge, m) in [([*a, *b], *ab), ([*b, *c], *bc), ([*c, *a], *ca)] {
            add(edge, vec![[edge[0], m], [m, edge[1]]]);
        }
    }
    edges.into_values().filter(|(n, _)| *n == 1).flat_map(|(_, parts)| parts).collect()
}

/// A box of a primitive, enlarged by half of its body's thickness.
struct Boxed<'a> {
    low: Point,
    high: Point,
    body: usize,
    vertices: &'a [usize],
}

fn boxed<'a>(
    all: impl Iterator<Item = &'a [usize]>,
    x: &[Point],
    surface: &Surface,
) -> Vec<Boxed<'a>> {
    let one = |vertices: &'a [usize]| {
        let body = surface.body[vertices[0]];
        // rounded outward, so that boxes at a distance of ξ overlap
        let margin = surface.thickness[body] * 0.5 * (1.0 + 1e-12);
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        for v in vertices {
            for k in 0..3 {
                low[k] = low[k].min((x[*v][k] - margin).next_down());
                high[k] = high[k].max((x[*v][k] + margin).next_up());
            }
        }
        Boxed { low, high, body, vertices }
    };
    let mut all: Vec<_> = all.map(one).collect();
    all.sort_by(|a, b| a.low[0].total_cmp(&b.low[0]));
    all
}

fn overlap(a: &Boxed<'_>, b: &Boxed<'_>) -> bool {
    (0..3).all(|k| a.low[k] <= b.high[k] && b.low[k] <= a.high[k])
}

/// Calls `test` for all pairs of overlapping boxes of bodies that may touch, without a common vertex.
fn pairs(
    a: &[Boxed<'_>],
    b: &[Boxed<'_>],
    info: &Info,
    mut test: impl FnMut(&Boxed<'_>, &Boxed<'_>),
) {
    // both are sorted by their least x: those that begin before `p` ends
    for p in a {
        let until = b.partition_point(|q| q.low[0] <= p.high[0]);
        for q in &b[..until] {
            let apart = !p.vertices.iter().any(|v| q.vertices.contains(v));
            let held = || info.is_held(p.vertices, q.body) || info.is_held(q.vertices, p.body);
            if overlap(p, q) && apart && info.touch(p.body, q.body) && !held() {
                test(p, q);
            }
        }
    }
}

fn sub(a: &Point, b: &Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: &Point, b: &Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn along(a: &Point, d: &Point, t: f64) -> Point {
    [a[0] + t * d[0], a[1] + t * d[1], a[2] + t * d[2]]
}

fn distance(a: &Point, b: &Point) -> f64 {
    let d = sub(a, b);
    dot(&d, &d).sqrt()
}

fn point_segment(p: &Point, a: &Point, b: &Point) -> f64 {
    let d = sub(b, a);
    let t = (dot(&sub(p, a), &d) / dot(&d, &d).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    distance(p, &along(a, &d, t))
}

fn segment_segment(a: &Point, b: &Point, c: &Point, d: &Point) -> f64 {
    let (u, v, r) = (sub(b, a), sub(d, c), sub(a, c));
    let (uu, uv, vv) = (dot(&u, &u), dot(&u, &v), dot(&v, &v));
    let (ur, vr) = (dot(&u, &r), dot(&v, &r));
    let denominator = uu * vv - uv * uv;
    let ends = [
        point_segment(a, c, d),
        point_segment(b, c, d),
        point_segment(c, a, b),
        point_segment(d, a, b),
    ];
    let mut least = ends.into_iter().fold(f64::INFINITY, f64::min);
    if denominator > 0.0 {
        let s = ((uv * vr - vv * ur) / denominator).clamp(0.0, 1.0);
        let t = ((uv * s + vr) / vv.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        least = least.min(distance(&along(a, &u, s), &along(c, &v, t)));
    }
    least
}

fn point_triangle(p: &Point, t: &[Point; 3]) -> f64 {
    let [a, b, c] = t;
    let sides = [point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)];
    let least = sides.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v, w) = (sub(b, a), sub(c, a), sub(p, a));
    let (uu, uv, vv) = (dot(&u, &u), dot(&u, &v), dot(&v, &v));
    let denominator = uu * vv - uv * uv;
    let (wu, wv) = (dot(&w, &u), dot(&w, &v));
    let (s, r) = ((vv * wu - uv * wv) / denominator, (uu * wv - uv * wu) / denominator);
    if s >= 0.0 && r >= 0.0 && s + r <= 1.0 {
        return least.min(distance(p, &along(&along(a, &u, s), &v, r)));
    }
    least
}

/// Everything that is wrong with a frame; `start` says on which side tetrahedra begin.
pub fn check(frame: &Frame, info: &Info, surface: &Surface) -> Vec<Finding> {
    let infinite = (0..frame.x.len()).find(|v| frame.x[*v].iter().any(|c| !c.is_finite()));
    if let Some(v) = infinite {
        return vec![format!("vertex {v} of '{}' is not finite", name(info, surface, v))];
    }
    let mut found = match info.dimension {
        Dimension::Three => elements::inversions(frame, info, surface),
        _ => elements::inversions_in_the_plane(frame, info, surface),
    };
    found.extend(half_spaces(frame, info, surface));
    found.extend(stretches(frame, info, surface));
    found.extend(contacts(frame, info, surface));
    found
}

fn name<'a>(info: &'a Info, surface: &Surface, v: usize) -> &'a str {
    &info.bodies[surface.body[v]].name
}

fn half_spaces(frame: &Frame, info: &Info, surface: &Surface) -> Vec<Finding> {
    let mut found = Vec::new();
    for plane in info.half_spaces.iter().filter(|_| info.contact) {
        let length = dot(&plane.normal, &plane.normal).sqrt();
        for &v in &surface.points {
            let x = &frame.x[v];
            let body = surface.body[v];
            if info.bodies[body].obstacle {
                continue;
            }
            let half = surface.thickness[body] / 2.0;
            let behind = height(x, &plane.origin, &plane.normal) != Ordering::Greater;
            let up = dot(&plane.normal, &sub(x, &plane.origin)) / length;
            // rounding of the coordinates limits what a distance can say
            let rounding = 1e-15 * (dot(x, x).sqrt() + dot(&plane.origin, &plane.origin).sqrt());
            if behind || up < half * (1.0 - 1e-9) - rounding {
                let who = name(info, surface, v);
                found.push(format!("vertex {v} of '{who}' is {up:e} m above '{}'", plane.name));
            }
        }
    }
    found
}

fn stretches(frame: &Frame, info: &Info, surface: &Surface) -> Vec<Finding> {
    let mut found = Vec::new();
    for t in &frame.triangles {
        let body = &info.bodies[surface.body[t[0]]];
        let Some(limit) = body.limits.as_ref().and_then(|l| l.stretch) else { continue };
        let [a, b, c] = t.map(|v| &frame.rest[v]);
        let [x, y, z] = t.map(|v| &frame.x[v]);
        // largest eigenvalue of the Cauchy-Green tensor in coordinates of the triangle at rest
        let (u, v) = (sub(b, a), sub(c, a));
        let length = dot(&u, &u).sqrt();
        let (p, q) = (dot(&u, &v) / length, 0.0);
        let height = (dot(&v, &v) - p * p - q).max(0.0).sqrt();
        let (du, dv) = (sub(y, x), sub(z, x));
        let first: Point = du.map(|c| c / length);
        let second: Point = std::array::from_fn(|k| (dv[k] - p * first[k]) / height);
        let (e, f, g) = (dot(&first, &first), dot(&first, &second), dot(&second, &second));
        let stretch = ((e + g) / 2.0 + ((e - g) / 2.0).hypot(f)).sqrt();
        if stretch > limit * (1.0 + 1e-9) {
            found.push(format!("triangle {t:?} of '{}' is stretched {stretch}", body.name));
        }
    }
    found
}

fn contacts(frame: &Frame, info: &Info, surface: &Surface) -> Vec<Finding> {
    let x = &frame.x;
    let triangles = boxed(surface.triangles.iter().map(|t| &t[..]), x, surface);
    let edges = boxed(surface.edges.iter().map(|t| &t[..]), x, surface);
    let points = boxed(surface.points.chunks(1), x, surface);
    let mut found = Vec::new();
    let mut report = |p: &Boxed<'_>, q: &Boxed<'_>, meets: bool, apart: &dyn Fn() -> f64| {
        let xi = surface.thickness(p.body, q.body);
        if !meets && (xi == 0.0 || apart() >= xi * (1.0 - 1e-9)) {
            return;
        }
        let (a, b) = (&info.bodies[p.body].name, &info.bodies[q.body].name);
        let how =
            if meets { "meets".into() } else { format!("is {:e} m (ξ = {xi:e}) from", apart()) };
        found.push(format!("{:?} of '{a}' {how} {:?} of '{b}'", p.vertices, q.vertices));
    };
    let at = |b: &Boxed<'_>, k: usize| x[b.vertices[k]];
    let corners = |b: &Boxed<'_>| [at(b, 0), at(b, 1), at(b, 2)];
    pairs(&edges, &triangles, info, |e, t| {
        let meets = segment_meets_triangle(&at(e, 0), &at(e, 1), &corners(t));
        report(e, t, meets, &|| f64::INFINITY);
    });
    pairs(&points, &triangles, info, |p, t| {
        let (p0, t0) = (at(p, 0), corners(t));
        report(p, t, point_in_triangle(&p0, &t0), &|| point_triangle(&p0, &t0));
    });
    pairs(&edges, &edges, info, |e, f| {
        if e.vertices < f.vertices {
            let (a, b, c, d) = (at(e, 0), at(e, 1), at(f, 0), at(f, 1));
            report(e, f, segments_meet(&a, &b, &c, &d), &|| segment_segment(&a, &b, &c, &d));
        }
    });
    pairs(&points, &edges, info, |p, e| {
        let (p0, a, b) = (at(p, 0), at(e, 0), at(e, 1));
        report(p, e, point_on_segment(&p0, &a, &b), &|| point_segment(&p0, &a, &b));
    });
    pairs(&points, &points, info, |p, q| {
        if p.vertices < q.vertices {
            let (a, b) = (at(p, 0), at(q, 0));
            report(p, q, a == b, &|| distance(&a, &b));
        }
    });
    found
}
