//! How good the elements of a mesh are.

use super::{Mesh, tet_determinant};
use standoff_linalg::Vec3;

/// Summary of a mesh's elements. Angles are in degrees. Fields that do not apply (a surface has
/// no volume) are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quality {
    /// Shortest and longest edge of all elements, m.
    pub edge_length: Option<(f64, f64)>,
    /// Smallest and largest dihedral angle of the tetrahedra, degrees; 70.5 in the regular one.
    pub dihedral: Option<(f64, f64)>,
    /// Smallest and mean radius ratio of the tetrahedra, 3·r_in / r_circum: 1 for the regular
    /// one, 0 for a flat one.
    pub radius_ratio: Option<(f64, f64)>,
    /// The tetrahedron of the smallest radius ratio.
    pub worst_tet: Option<u32>,
    /// Smallest and largest volume of a tetrahedron, m³.
    pub tet_volume: Option<(f64, f64)>,
    /// Sum of the tetrahedra's volumes, m³.
    pub volume: Option<f64>,
    /// Smallest and largest inner angle of the triangles (of the surface, for a solid), degrees.
    pub triangle_angle: Option<(f64, f64)>,
    /// Area of the triangles (of the surface, for a solid), m².
    pub area: Option<f64>,
}

/// Radius ratio (3·r_in / r_circum) and the smallest and largest dihedral angle, degrees, of a
/// tetrahedron; all zero for a flat one.
pub fn tet_quality(x: &[Vec3; 4]) -> (f64, [f64; 2]) {
    let volume = tet_determinant(x) / 6.0;
    let face = |a: usize, b: usize, c: usize| (x[b] - x[a]).cross(&(x[c] - x[a]));
    let n = [face(1, 2, 3), face(0, 3, 2), face(0, 1, 3), face(0, 2, 1)];
    let area: f64 = n.iter().map(|n| 0.5 * n.norm()).sum();
    let [a, b, c] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let numerator = a.norm_squared() * b.cross(&c)
        + b.norm_squared() * c.cross(&a)
        + c.norm_squared() * a.cross(&b);
    let (r_in, r_circum) = (3.0 * volume / area, numerator.norm() / (12.0 * volume));
    let ratio = 3.0 * r_in / r_circum;
    if !ratio.is_finite() {
        return (0.0, [0.0; 2]);
    }
    let wider = |[lo, hi]: [f64; 2], angle: f64| [lo.min(angle), hi.max(angle)];
    (ratio, dihedral_angles(x).into_iter().fold([180.0, 0.0], wider))
}

/// The six dihedral angles of a tetrahedron, degrees.
fn dihedral_angles(x: &[Vec3; 4]) -> [f64; 6] {
    // outward area vectors of the faces opposite to each vertex, times 2
    let face = |a: usize, b: usize, c: usize| (x[b] - x[a]).cross(&(x[c] - x[a]));
    let n = [face(1, 2, 3), face(0, 3, 2), face(0, 1, 3), face(0, 2, 1)];
    // the angle between faces is the supplement of that between their outward normals
    let angle =
        |i: usize, j: usize| 180.0 - n[i].cross(&n[j]).norm().atan2(n[i].dot(&n[j])).to_degrees();
    [angle(1, 0), angle(2, 0), angle(2, 1), angle(3, 0), angle(3, 1), angle(3, 2)]
}

fn extend(range: &mut Option<(f64, f64)>, value: f64) {
    *range = Some(range.map_or((value, value), |(lo, hi)| (lo.min(value), hi.max(value))));
}

impl Mesh {
    /// Number of dihedral angles of the tetrahedra in steps of 10°: from 0° to 10°, from 10° to 20°, …
    pub fn dihedral_histogram(&self) -> [usize; 18] {
        let mut histogram = [0; 18];
        for t in 0..self.tets.len() {
            for angle in dihedral_angles(&self.tet_points(t)) {
                histogram[(angle.max(0.0) / 10.0).min(17.0) as usize] += 1;
            }
        }
        histogram
    }

    /// Summary of the elements' shapes. Expects indices in range ([`Mesh::check`]).
    pub fn quality(&self) -> Quality {
        let mut q = Quality::default();
        for [a, b] in self.unique_edges() {
            let length = (self.points[a as usize] - self.points[b as usize]).norm();
            extend(&mut q.edge_length, length);
        }
        let (mut worst, mut ratio_sum, mut volume) = (f64::INFINITY, 0.0, 0.0);
        for t in 0..self.tets.len() {
            let x = self.tet_points(t);
            let (ratio, [least, greatest]) = tet_quality(&x);
            let v = tet_determinant(&x) / 6.0;
            if ratio < worst {
                worst = ratio;
                q.worst_tet = Some(t as u32);
            }
            extend(&mut q.dihedral, least);
            extend(&mut q.dihedral, greatest);
            extend(&mut q.tet_volume, v);
            ratio_sum += ratio;
            volume += v;
        }
        if !self.tets.is_empty() {
            q.radius_ratio = Some((worst, ratio_sum / self.tets.len() as f64));
            q.volume = Some(volume);
        }
        let mut area = 0.0;
        let surface = self.surface();
        for f in &surface {
            let x = f.map(|v| self.points[v as usize]);
            area += 0.5 * (x[1] - x[0]).cross(&(x[2] - x[0])).norm();
            for k in 0..3 {
                let (u, v) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
                extend(&mut q.triangle_angle, u.cross(&v).norm().atan2(u.dot(&v)).to_degrees());
            }
        }
        q.area = (!surface.is_empty()).then_some(area);
        q
    }
}
