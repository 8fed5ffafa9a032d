//! The body-centred cubic lattice, and which of its points lie inside [Labelle 2007, §3].

use crate::error::FillError;
use crate::surface::Surface;
use robust::{Coord, Coord3D, orient2d, orient3d};
use standoff_linalg::Vec3;

/// Tetrahedra that may come out.
const MOST_TETRAHEDRA: f64 = 2e7;
/// Points that the lattice may have.
const MOST_POINTS: f64 = 4e8;

/// Cubes of edge `a` with their corners and centres. A point of it has a number: corners first.
#[derive(Debug, Clone)]
pub struct Lattice {
    origin: Vec3,
    /// Edge of the cubes, m: the length of the long edges.
    pub a: f64,
    /// Cubes along x, y and z.
    pub cubes: [usize; 3],
}

impl Lattice {
    /// A lattice around a surface, with at least one cube to spare on every side.
    ///
    /// # Errors
    /// It would have too many points or tetrahedra.
    pub fn around(surface: &Surface, a: f64) -> Result<Self, FillError> {
        let (low, high) = surface.bounds();
        let extent = high - low;
        let count = extent.map(|e| (e / a).ceil() + 3.0);
        let tetrahedra = 12.0 * surface.volume().abs() / a.powi(3);
        if tetrahedra > MOST_TETRAHEDRA || 2.0 * count.product() > MOST_POINTS {
            let tetrahedra = tetrahedra.max(12.0 * count.product());
            return Err(FillError::TooFine { size: a, tetrahedra });
        }
        // about the middle, so that symmetric bodies get nearly symmetric tetrahedra
        let origin = (low + high) / 2.0 - count * (a / 2.0);
        Ok(Self { origin, a, cubes: [count.x as usize, count.y as usize, count.z as usize] })
    }

    fn corners(&self) -> usize {
        self.cubes.iter().map(|n| n + 1).product()
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.corners() + self.cubes.iter().product::<usize>()
    }

    /// Whether a point is the centre of a cube.
    pub fn is_centre(&self, point: u32) -> bool {
        point as usize >= self.corners()
    }

    /// Number of a corner.
    pub fn corner(&self, [i, j, k]: [usize; 3]) -> u32 {
        ((i * (self.cubes[1] + 1) + j) * (self.cubes[2] + 1) + k) as u32
    }

    /// Number of the centre of a cube.
    pub fn centre(&self, [i, j, k]: [usize; 3]) -> u32 {
        (self.corners() + (i * self.cubes[1] + j) * self.cubes[2] + k) as u32
    }

    /// Position of a point, m.
    pub fn position(&self, point: u32) -> Vec3 {
        let (index, offset, n) = match (point as usize).checked_sub(self.corners()) {
            Some(index) => (index, 0.5, self.cubes),
            None => (point as usize, 0.0, self.cubes.map(|n| n + 1)),
        };
        let (rest, k) = (index / n[2], index % n[2]);
        let cell = [rest / n[1], rest % n[1], k];
        Vec3::from_fn(|c, _| self.coordinate(c, cell[c], offset))
    }

    fn coordinate(&self, axis: usize, index: usize, offset: f64) -> f64 {
        self.origin[axis] + self.a * (index as f64 + offset)
    }

    /// Edges of the lattice from a point to those after it in the order of the enumeration: three long
    /// ones, and of centres the eight short ones. Calls back with both ends.
    pub fn for_each_edge(&self, mut visit: impl FnMut(u32, u32)) {
        let [nx, ny, nz] = self.cubes;
        for i in 0..=nx {
            for j in 0..=ny {
                for k in 0..=nz {
                    let at = self.corner([i, j, k]);
                    for (axis, n) in [nx, ny, nz].into_iter().enumerate() {
                        let mut next = [i, j, k];
                        next[axis] += 1;
                        if next[axis] <= n {
                            visit(at, self.corner(next));
                        }
                    }
                    if i == nx || j == ny || k == nz {
                        continue;
                    }
                    let centre = self.centre([i, j, k]);
                    for (axis, n) in [nx, ny, nz].into_iter().enumerate() {
                        let mut next = [i, j, k];
                        next[axis] += 1;
                        if next[axis] < n {
                            visit(centre, self.centre(next));
                        }
                    }
                    for c in 0..8 {
                        visit(self.corner([i + (c >> 2), j + (c >> 1 & 1), k + (c & 1)]), centre);
                    }
                }
            }
        }
    }

    /// The tetrahedra, four around every long edge between two centres; positive.
    pub fn for_each_tet(&self, mut visit: impl FnMut([u32; 4])) {
        let [nx, ny, nz] = self.cubes;
        for i in 0..nx {
            for j in 0..ny {
                for k in 0..nz {
                    for axis in 0..3 {
                        let mut next = [i, j, k];
                        next[axis] += 1;
                        if next[axis] == self.cubes[axis] {
                            continue;
                        }
                        let centres = [self.centre([i, j, k]), self.centre(next)];
                        // corners of the common face, counter-clockwise around the axis
                        let face = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[u, v]| {
                            let mut corner = next;
                            corner[(axis + 1) % 3] += u;
                            corner[(axis + 2) % 3] += v;
                            self.corner(corner)
                        });
                        for m in 0..4 {
                            visit([centres[0], centres[1], face[m], face[(m + 1) % 4]]);
                        }
                    }
                }
            }
        }
    }

    /// How many times the surface winds around every point: 0 outside. Exact: a point is as if moved by an
    /// infinitely small amount, so that it lies on no triangle.
    pub fn windings(&self, surface: &Surface) -> Vec<i16> {
        let mut windings = vec![0i16; self.points()];
        let (corners, centres) = windings.split_at_mut(self.corners());
        self.wind(surface, 0.0, self.cubes.map(|n| n + 1), corners);
        self.wind(surface, 0.5, self.cubes, centres);
        windings
    }

    /// Windings of the points with these offsets from the corners, in cubes.
    // long: one sweep along the rays that a triangle crosses
    fn wind(&self, surface: &Surface, offset: f64, n: [usize; 3], windings: &mut [i16]) {
        for triangle in &surface.triangles {
            let mut t = triangle.map(|v| surface.points[v as usize]);
            let up = orient2d(flat(&t[0]), flat(&t[1]), flat(&t[2]));
            if up == 0.0 {
                // seen from above it covers nothing
                continue;
            }
            if up < 0.0 {
                t.swap(1, 2);
            }
            let (low, high) = (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2]));
            let range = |axis: usize| {
                let place = |x: f64| (x - self.origin[axis]) / self.a - offset;
                let first = (place(low[axis]).floor() - 1.0).max(0.0) as usize;
                let end = (place(high[axis]).ceil() + 2.0).max(0.0) as usize;
                first..end.min(n[axis])
            };
            for i in range(0) {
                let x = self.coordinate(0, i, offset);
                for j in range(1) {
                    let y = self.coordinate(1, j, offset);
                    if !covers(&t, x, y) {
                        continue;
                    }
                    let z = |k: usize| self.coordinate(2, k, offset);
                    let reaches = |k: usize| {
                        let p = Coord3D { x, y, z: z(k) };
                        orient3d(solid(&t[0]), solid(&t[1]), solid(&t[2]), p) <= 0.0
                    };
                    // the first point on it or above it, from a guess
                    let normal = (t[1] - t[0]).cross(&(t[2] - t[0]));
                    let height =
                        t[0].z - (normal.x * (x - t[0].x) + normal.y * (y - t[0].y)) / normal.z;
                    let guess = ((height - self.origin.z) / self.a - offset).ceil();
                    let mut k = (guess.max(0.0) as usize).min(n[2]);
                    while k > 0 && reaches(k - 1) {
                        k -= 1;
                    }
                    while k < n[2] && !reaches(k) {
                        k += 1;
                    }
                    if k < n[2] {
                        // going up, through a side that looks up one comes out
                        windings[(i * n[1] + j) * n[2] + k] += if up > 0.0 { -1 } else { 1 };
                    }
                }
            }
        }
        for column in windings.chunks_exact_mut(n[2]) {
            let mut sum = 0;
            for winding in column {
                sum += *winding;
                *winding = sum;
            }
        }
    }
}

fn flat(p: &Vec3) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}

fn solid(p: &Vec3) -> Coord3D<f64> {
    Coord3D { x: p.x, y: p.y, z: p.z }
}

/// Whether a counter-clockwise triangle, seen from above, covers (x + ε, y + ε²) for small ε: of the
/// triangles around an edge or a vertex that a point lies on, exactly one of each sheet does.
fn covers(t: &[Vec3; 3], x: f64, y: f64) -> bool {
    (0..3).all(|k| {
        let (p, q) = (&t[k], &t[(k + 1) % 3]);
        match orient2d(flat(p), flat(q), Coord { x, y }) {
            side if side != 0.0 => side > 0.0,
            _ if q.y != p.y => q.y < p.y,
            _ => q.x > p.x,
        }
    })
}
