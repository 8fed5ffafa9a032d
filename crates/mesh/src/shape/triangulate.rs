//! Triangles that fill the inside of closed outlines in the plane z = 0: points on the outlines and on a
//! triangular lattice inside, joined by a constrained Delaunay triangulation.

use super::{ShapeError, limits};
use crate::Mesh;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use standoff_linalg::Vec3;

/// A point of the plane, m.
pub(super) type Point = [f64; 2];

/// Share of the edge length that points inside keep from those of the outlines.
const APART: f64 = 0.75;

/// Points from `a` on towards `b`, without `b`, at most `edge` apart.
pub(super) fn divide(a: Point, b: Point, edge: f64, out: &mut Vec<Point>) {
    let n = ((distance(a, b) / edge) * (1.0 - 1e-9)).ceil().max(1.0) as usize;
    out.extend((0..n).map(|k| {
        let t = k as f64 / n as f64;
        [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
    }));
}

fn distance(a: Point, b: Point) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Counter-clockwise triangles with edges of about `edge` (m) inside of closed `outlines`, whose points stay
/// the first vertices, in order. What lies within an even number of outlines is outside.
///
/// # Errors
/// Outlines that cross or touch each other or themselves, or more elements than a shape may have.
pub(super) fn triangulate(
    shape: &'static str,
    outlines: &[Vec<Point>],
    edge: f64,
) -> Result<Mesh, ShapeError> {
    let lattice = Lattice::new(outlines, edge);
    limits::elements(shape, &[2, lattice.columns, lattice.rows])?;
    let crossing = |k: usize| {
        let what = format!("its outline touches or crosses itself near point {k}; move a corner");
        ShapeError::Contradiction { shape, what }
    };
    let mut net = Net::new();
    let mut count = 0;
    let mut add = |net: &mut Net, p: Point| {
        let handle = net.insert(Point2::new(p[0], p[1])).ok()?;
        count += 1;
        // a point that is there already is not added again
        (handle.index() + 1 == count).then_some(handle)
    };
    let mut handles = Vec::new();
    for outline in outlines {
        let first = handles.len();
        for p in outline {
            handles.push(add(&mut net, *p).ok_or_else(|| crossing(handles.len()))?);
        }
        for k in 0..outline.len() {
            let next = first + (k + 1) % outline.len();
            let (a, b) = (handles[first + k], handles[next]);
            if !net.can_add_constraint(a, b) {
                return Err(crossing(first + k));
            }
            net.add_constraint(a, b);
            // a point on the edge would have divided it
            if net.get_edge_from_neighbors(a, b).is_none() {
                return Err(crossing(first + k));
            }
        }
    }
    for p in lattice.points(outlines) {
        add(&mut net, p);
    }
    let points = net.vertices().map(|v| Vec3::new(v.position().x, v.position().y, 0.0)).collect();
    let inside = inside(&net);
    let faces = net.inner_faces().filter(|f| inside[f.index()]);
    let triangles = faces.map(|f| f.vertices().map(|v| v.index() as u32)).collect();
    let mut mesh = Mesh { points, triangles, ..Mesh::default() };
    mesh.compact();
    Ok(mesh)
}

type Net = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// Whether an odd number of outlines lies between each face and the outside.
fn inside(net: &Net) -> Vec<bool> {
    let mut neighbours = vec![Vec::new(); net.num_all_faces()];
    for edge in net.undirected_edges() {
        let sides = [edge.as_directed(), edge.as_directed().rev()].map(|e| e.face().index());
        let crosses = edge.is_constraint_edge();
        neighbours[sides[0]].push((sides[1], crosses));
        neighbours[sides[1]].push((sides[0], crosses));
    }
    let outer = net.outer_face().index();
    let mut found: Vec<Option<bool>> = vec![None; neighbours.len()];
    found[outer] = Some(false);
    let mut next = vec![(outer, false)];
    while let Some((face, inside)) = next.pop() {
        for &(other, crosses) in &neighbours[face] {
            if found[other].is_none() {
                found[other] = Some(inside != crosses);
                next.push((other, inside != crosses));
            }
        }
    }
    found.into_iter().map(|inside| inside == Some(true)).collect()
}

/// Where the horizontal line at height `y` crosses the outlines.
fn crossings(outlines: &[Vec<Point>], y: f64) -> Vec<f64> {
    let mut all = Vec::new();
    for outline in outlines {
        for (k, &[ax, ay]) in outline.iter().enumerate() {
            let [bx, by] = outline[(k + 1) % outline.len()];
            if (ay <= y) != (by <= y) {
                all.push(ax + (y - ay) / (by - ay) * (bx - ax));
            }
        }
    }
    all
}

/// A triangular lattice over the bounding box of some outlines.
struct Lattice {
    low: Point,
    edge: f64,
    columns: usize,
    rows: usize,
}

impl Lattice {
    fn new(outlines: &[Vec<Point>], edge: f64) -> Self {
        let all = outlines.iter().flatten();
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in all {
            for k in 0..2 {
                (low[k], high[k]) = (low[k].min(p[k]), high[k].max(p[k]));
            }
        }
        let count = |length: f64, spacing: f64| (length / spacing).ceil() as usize + 1;
        let columns = count(high[0] - low[0], edge);
        let rows = count(high[1] - low[1], Self::height(edge));
        Self { low, edge, columns, rows }
    }

    /// Distance between rows.
    fn height(edge: f64) -> f64 {
        0.75f64.sqrt() * edge
    }

    /// Its points inside the outlines that keep a distance from their points.
    fn points(&self, outlines: &[Vec<Point>]) -> Vec<Point> {
        let cell = |p: &Point| {
            [0, 1].map(|k| ((p[k] - self.low[k]) / self.edge).floor().max(0.0) as usize + 1)
        };
        let width = self.columns + 3;
        let mut cells: Vec<Vec<Point>> = vec![Vec::new(); width * (self.rows + 3)];
        let place = |[i, j]: [usize; 2]| (j * width + i).min(cells.len() - 1);
        let places: Vec<(usize, Point)> =
            outlines.iter().flatten().map(|p| (place(cell(p)), *p)).collect();
        for (place, p) in places {
            cells[place].push(p);
        }
        let near = |p: &Point| {
            let [i, j] = cell(p);
            let around = (j - 1..=j + 1).flat_map(|j| (i - 1..=i + 1).map(move |i| j * width + i));
            let mut around = around.filter_map(|c| cells.get(c)).flatten();
            around.any(|q| distance(*p, *q) < APART * self.edge)
        };
        let mut points = Vec::new();
        for row in 0..self.rows {
            let y = self.low[1] + (row as f64 + 0.5) * Self::height(self.edge);
            let crossings = crossings(outlines, y);
            let shift = if row % 2 == 0 { 0.25 } else { 0.75 };
            for column in 0..self.columns {
                let p = [self.low[0] + (column as f64 + shift) * self.edge, y];
                let inside = crossings.iter().filter(|x| **x < p[0]).count() % 2 == 1;
                if inside && !near(&p) {
                    points.push(p);
                }
            }
        }
        points
    }
}
