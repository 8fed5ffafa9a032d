//! The convex hull of points by Quickhull [Barber 1996], with the exact predicate of [Shewchuk 1997]: what is coplanar is coplanar, so that the surface
//! closes whatever the points are. What is above a face by rounding only, as in files with numbers of seven digits, is left out, since it would make slivers.

use super::Mesh;
use robust::{Coord3D, orient3d};
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// By how much points may be outside of the hull, in terms of the greatest distance of two of its first vertices.
const FLAT: f64 = 1e-6;

/// A face of the hull under construction, seen counterclockwise from outside.
struct Face {
    corners: [u32; 3],
    /// The faces across the edges from corner k to corner k + 1.
    across: [usize; 3],
    /// Points that are strictly above it and above no earlier face, which are looked at once it is there.
    above: Vec<u32>,
    is_left: bool,
}

/// The convex hull of points as a closed surface, its vertices in the order of the points; none where all points are in a plane. It is exact but for points that
/// are outside by less than [`FLAT`] of its size.
pub(crate) fn hull(points: &[Vec3]) -> Option<Mesh> {
    let mut hull = Hull::simplex(points)?;
    let mut open: Vec<usize> = (0..hull.faces.len()).collect();
    while let Some(face) = open.pop() {
        if hull.faces[face].is_left
            && let Some(tip) = hull.tip(face)
        {
            hull.extend(face, tip, &mut open)?;
        }
    }
    let left = hull.faces.iter().filter(|f| f.is_left);
    let triangles = left.map(|f| f.corners).collect();
    let mut mesh = Mesh { points: points.to_vec(), triangles, ..Mesh::default() };
    mesh.compact();
    mesh.check().is_empty().then_some(mesh)
}

struct Hull<'p> {
    points: &'p [Vec3],
    faces: Vec<Face>,
    /// The distance from a face from which on a point counts, m.
    flat: f64,
}

impl<'p> Hull<'p> {
    /// A tetrahedron of points that are far from each other, with all points above its faces.
    fn simplex(points: &'p [Vec3]) -> Option<Self> {
        let farthest = |distance: &dyn Fn(&Vec3) -> f64| {
            let distances = points.iter().map(distance);
            // the first of the farthest
            let found = (0..).zip(distances).reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            (found.1 > 0.0).then_some(found.0)
        };
        let at = |v: u32| points[v as usize];
        let first = *points.first()?;
        let a = farthest(&|p| (p - first).norm())?;
        let b = farthest(&|p| (p - at(a)).norm())?;
        let c = farthest(&|p| (p - at(a)).cross(&(at(b) - at(a))).norm())?;
        let flat = FLAT * (at(b) - at(a)).norm();
        let mut hull = Self { points, faces: Vec::new(), flat };
        let d = farthest(&|p| hull.height([a, b, c], p).abs())?;
        if hull.height([a, b, c], &at(d)).abs() <= flat * hull.double_area([a, b, c]) {
            return None;
        }
        let base = if hull.height([a, b, c], &at(d)) > 0.0 { [a, c, b] } else { [a, b, c] };
        let [a, b, c] = base;
        let corners = [[a, b, c], [b, a, d], [c, b, d], [a, c, d]];
        let across = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        for (corners, across) in corners.into_iter().zip(across) {
            hull.faces.push(Face { corners, across, above: Vec::new(), is_left: true });
        }
        hull.assign(0, (0..points.len() as u32).collect());
        Some(hull)
    }

    /// Positive where a point is above the plane of a triangle, exactly zero on it: about six times the volume between them.
    fn height(&self, corners: [u32; 3], p: &Vec3) -> f64 {
        let coord = |p: &Vec3| Coord3D { x: p.x, y: p.y, z: p.z };
        let [a, b, c] = corners.map(|v| coord(&self.points[v as usize]));
        -orient3d(a, b, c, coord(p))
    }

    fn sees(&self, point: u32, face: usize) -> bool {
        self.height(self.faces[face].corners, &self.points[point as usize]) > 0.0
    }

    /// Gives each point to the first of the faces from `first` on that it is above; the others are inside of the hull, or on it.
    fn assign(&mut self, first: usize, points: Vec<u32>) {
        for point in points {
            if let Some(face) = (first..self.faces.len()).find(|f| self.sees(point, *f)) {
                self.faces[face].above.push(point);
            }
        }
    }

    /// Twice the area of a triangle, m².
    fn double_area(&self, corners: [u32; 3]) -> f64 {
        let [a, b, c] = corners.map(|v| self.points[v as usize]);
        (b - a).cross(&(c - a)).norm()
    }

    /// The point that is highest above a face; of several that are equally high the farthest from its middle, which is a corner of them. None where all of
    /// them are as good as on it.
    fn tip(&self, face: usize) -> Option<u32> {
        let Face { corners, above, .. } = &self.faces[face];
        let height = |v: &u32| self.height(*corners, &self.points[*v as usize]);
        let most = above.iter().map(height).fold(0.0, f64::max);
        let flat = self.flat * self.double_area(*corners);
        let middle = corners.map(|v| self.points[v as usize]).iter().sum::<Vec3>() / 3.0;
        let away = |v: u32| (self.points[v as usize] - middle).norm();
        let highest = above.iter().copied().filter(|v| height(v) >= most - flat);
        let tip = highest.reduce(|a, b| if away(b) > away(a) { b } else { a });
        tip.filter(|_| most > flat)
    }

    /// Adds a point above a face: what it sees gives way to a cone from the border of that.
    fn extend(&mut self, face: usize, tip: u32, open: &mut Vec<usize>) -> Option<()> {
        let (mut seen, mut border, mut next) = (vec![face], Vec::new(), 0);
        self.faces[face].is_left = false;
        while let Some(&from) = seen.get(next) {
            next += 1;
            for edge in 0..3 {
                let other = self.faces[from].across[edge];
                if !self.faces[other].is_left {
                    continue;
                }
                if self.sees(tip, other) {
                    self.faces[other].is_left = false;
                    seen.push(other);
                } else {
                    let corners = self.faces[from].corners;
                    border.push((corners[edge], corners[(edge + 1) % 3], from, other));
                }
            }
        }
        let first = self.faces.len();
        let by_start: HashMap<u32, usize> =
            border.iter().map(|(start, ..)| *start).zip(first..).collect();
        let by_end: HashMap<u32, usize> =
            border.iter().map(|(_, end, ..)| *end).zip(first..).collect();
        for &(start, end, from, other) in &border {
            let new = self.faces.len();
            let across = [other, *by_start.get(&end)?, *by_end.get(&start)?];
            self.faces.push(Face {
                corners: [start, end, tip],
                across,
                above: Vec::new(),
                is_left: true,
            });
            let back = self.faces[other].across.iter_mut().find(|a| **a == from)?;
            *back = new;
        }
        let above = seen.iter().flat_map(|f| std::mem::take(&mut self.faces[*f].above)).collect();
        self.assign(first, above);
        open.extend(first..self.faces.len());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::is_closed;
    use standoff_testkit::Random;

    fn volume(mesh: &Mesh) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| mesh.points[v as usize]);
            a.cross(&b).dot(&c) / 6.0
        };
        mesh.triangles.iter().map(of).sum()
    }

    /// Closed and without slivers, with all points below every face but for what is flat; and the same from the points in another order.
    fn assert_hull(points: &[Vec3]) -> Mesh {
        let mesh = hull(points).unwrap();
        assert!(is_closed(&mesh.triangles), "{} points", points.len());
        assert!(mesh.check().is_empty(), "{:?} {}", mesh.check(), points.len());
        // Euler's formula of one closed surface without holes
        assert_eq!(mesh.triangles.len(), 2 * mesh.points.len() - 4);
        let of = Hull { points: &mesh.points, faces: Vec::new(), flat: 0.0 };
        let (low, high) =
            points.iter().fold((points[0], points[0]), |(l, h), p| (l.inf(p), h.sup(p)));
        let size = (high - low).norm();
        for t in &mesh.triangles {
            let most = FLAT * size * of.double_area(*t);
            assert!(points.iter().all(|p| of.height(*t, p) <= most), "a point is outside");
        }
        let backwards: Vec<Vec3> = points.iter().rev().copied().collect();
        let again = hull(&backwards).unwrap();
        let difference = (volume(&again) - volume(&mesh)).abs();
        assert!(difference <= 1e-6 * volume(&mesh), "{difference}");
        mesh
    }

    #[test]
    fn points_of_all_kinds_have_closed_hulls() {
        let mut random = Random::new(5);
        for n in [4, 5, 20, 400] {
            let points = random.vectors(n);
            assert_hull(&points);
            // on a sphere all of them are vertices
            let ball: Vec<Vec3> = points.iter().map(|p| p.normalize()).collect();
            assert_eq!(assert_hull(&ball).points.len(), n);
        }
        // a lattice is full of points in planes and on lines
        let lattice: Vec<Vec3> = (0..125)
            .map(|k| Vec3::new(f64::from(k % 5), f64::from(k / 5 % 5), f64::from(k / 25)))
            .collect();
        let cube = assert_hull(&lattice);
        assert_eq!((cube.points.len(), cube.triangles.len()), (8, 12));
        assert!((volume(&cube) - 64.0).abs() < 1e-12);
        // turned, it is a lattice with rounding, and twice every point
        let turn = standoff_linalg::nalgebra::Rotation3::from_euler_angles(0.3, 0.5, 0.7);
        let turned: Vec<Vec3> = lattice.iter().chain(&lattice).map(|p| turn * p).collect();
        assert!((volume(&assert_hull(&turned)) - 64.0).abs() < 1e-9);
        // of seven digits, far from the origin, thin and coarse
        let rounded = |p: &Vec3| p.map(|c| f64::from(c as f32));
        let single: Vec<Vec3> = turned.iter().map(rounded).collect();
        assert!((volume(&assert_hull(&single)) - 64.0).abs() < 1e-4);
        let far: Vec<Vec3> =
            lattice.iter().map(|p| Vec3::new(1e3 + p.x, p.y, 1e-4 * p.z)).collect();
        assert!((volume(&assert_hull(&far)) - 64e-4).abs() < 1e-9);
    }

    #[test]
    fn what_is_flat_has_none() {
        assert!(hull(&[]).is_none());
        assert!(hull(&[Vec3::x(), Vec3::y(), Vec3::z()]).is_none());
        assert!(hull(&[Vec3::x(); 9]).is_none());
        let line: Vec<Vec3> = (0..9).map(|k| f64::from(k) * Vec3::new(1.0, 2.0, 3.0)).collect();
        assert!(hull(&line).is_none());
        let plane: Vec<Vec3> =
            (0..25).map(|k| Vec3::new(f64::from(k % 5), f64::from(k / 5), 0.25)).collect();
        assert!(hull(&plane).is_none());
        let turn = standoff_linalg::nalgebra::Rotation3::from_euler_angles(0.3, 0.5, 0.7);
        let turned: Vec<Vec3> = plane.iter().map(|p| turn * p).collect();
        assert!(hull(&turned).is_none());
    }
}
