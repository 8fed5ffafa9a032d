//! What can be wrong with a mesh, found element by element.

use super::defect::{Defect, ElementKind, Severity};
use super::{Mesh, MeshError, tet_determinant, tet_faces};
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// Largest relative measure that counts as zero: |det| / l³ of a tetrahedron and 2·area / l² of a
/// triangle, with l the longest edge. Rounding of coordinates alone produces less.
const DEGENERATE: f64 = 1e-12;

impl Mesh {
    /// Everything that is wrong with the mesh: coordinates, then tetrahedra, triangles, wires and
    /// points by index, then shared faces, then unreferenced vertices.
    pub fn check(&self) -> Vec<Defect> {
        let mut defects = Vec::new();
        for (v, p) in self.points.iter().enumerate() {
            if !p.iter().all(|c| c.is_finite()) {
                defects.push(Defect::NotFinite { vertex: v as u32, position: *p });
            }
        }
        self.check_elements(ElementKind::Tet, &self.tets, &mut defects);
        self.check_elements(ElementKind::Triangle, &self.triangles, &mut defects);
        self.check_elements(ElementKind::Edge, &self.edges, &mut defects);
        let points: Vec<[u32; 1]> = self.vertices.iter().map(|&v| [v]).collect();
        self.check_elements(ElementKind::Point, &points, &mut defects);
        self.check_faces(&mut defects);
        let mut used = vec![false; self.points.len()];
        for v in self.referenced() {
            if let Some(u) = used.get_mut(v as usize) {
                *u = true;
            }
        }
        for (v, _) in used.iter().enumerate().filter(|(_, u)| !**u) {
            defects.push(Defect::Unreferenced { vertex: v as u32 });
        }
        defects
    }

    /// Refuses a mesh with a defect of severity [`Severity::Error`]; returns the warnings.
    pub fn require_sound(&self, name: &str) -> Result<Vec<Defect>, MeshError> {
        let defects = self.check();
        if defects.iter().any(|d| d.severity() == Severity::Error) {
            return Err(MeshError::Defective { name: name.to_string(), defects });
        }
        Ok(defects)
    }

    fn check_elements<const N: usize>(
        &self,
        kind: ElementKind,
        elements: &[[u32; N]],
        defects: &mut Vec<Defect>,
    ) {
        let mut seen: HashMap<[u32; N], u32> = HashMap::with_capacity(elements.len());
        for (e, v) in elements.iter().enumerate() {
            let element = e as u32;
            let vertices = v.to_vec();
            if v.iter().any(|&i| i as usize >= self.points.len()) {
                let points = self.points.len();
                defects.push(Defect::OutOfRange { kind, element, vertices, points });
                continue;
            }
            let mut key = *v;
            key.sort_unstable();
            if key.windows(2).any(|w| w[0] == w[1]) {
                defects.push(Defect::RepeatedVertex { kind, element, vertices });
                continue;
            }
            match seen.get(&key) {
                Some(&first) => {
                    defects.push(Defect::Duplicate { kind, element, first, vertices });
                    continue;
                }
                None => seen.insert(key, element),
            };
            let x = v.map(|i| self.points[i as usize]);
            let (measure, relative) = measure(&x);
            if relative.abs() <= DEGENERATE {
                defects.push(Defect::Degenerate { kind, element, vertices, measure });
            } else if let Ok(vertices) = <[u32; 4]>::try_from(&v[..])
                && measure < 0.0
            {
                defects.push(Defect::Inverted { element, vertices, volume: measure });
            }
        }
    }

    /// Faces of three or more tetrahedra, and of two on the same side.
    fn check_faces(&self, defects: &mut Vec<Defect>) {
        let n = self.points.len();
        let mut faces: Vec<([u32; 3], u32, bool)> = Vec::with_capacity(4 * self.tets.len());
        for (t, v) in self.tets.iter().enumerate() {
            let sound = v.iter().all(|&i| (i as usize) < n)
                && tet_determinant(&v.map(|i| self.points[i as usize])) > 0.0;
            if sound {
                faces.extend(tet_faces(*v).map(|f| {
                    let mut key = f;
                    key.sort_unstable();
                    // an even permutation of the sorted vertices, or an odd one
                    let even = key[0] == f[0] && key[1] == f[1]
                        || key[0] == f[1] && key[1] == f[2]
                        || key[0] == f[2] && key[1] == f[0];
                    (key, t as u32, even)
                }));
            }
        }
        faces.sort_unstable();
        for group in faces.chunk_by(|a, b| a.0 == b.0) {
            let face = group[0].0;
            if group.len() > 2 {
                let tets = group.iter().map(|g| g.1).collect();
                defects.push(Defect::NonManifoldFace { face, tets });
            } else if group.len() == 2 && group[0].2 == group[1].2 {
                defects.push(Defect::Overlap { face, tets: [group[0].1, group[1].1] });
            }
        }
    }
}

/// Volume, area or length of an element of 4, 3 or 2 vertices (1 for a point), and the same
/// without units: det / l³, 2·area / l², length / length.
fn measure(x: &[Vec3]) -> (f64, f64) {
    // in units in which products of lengths neither overflow nor vanish
    let size = x.iter().map(|p| (p - x[0]).amax()).fold(0.0, f64::max);
    let unit = if size > 1e-100 && size < 1e100 { 1.0 } else { size.max(f64::MIN_POSITIVE) };
    let x: Vec<Vec3> = x.iter().map(|p| (p - x[0]) / unit).collect();
    let mut longest = 0.0f64;
    for i in 0..x.len() {
        for j in 0..i {
            longest = longest.max((x[i] - x[j]).norm());
        }
    }
    // written so that a NaN passes: it is reported as a coordinate
    let relative = |m: f64, scale: f64| if scale == 0.0 { 0.0 } else { m / scale };
    match x[..] {
        [a, b, c, d] => {
            let det = tet_determinant(&[a, b, c, d]);
            (det / 6.0 * unit.powi(3), relative(det, longest.powi(3)))
        }
        [a, b, c] => {
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            (area * unit.powi(2), relative(2.0 * area, longest.powi(2)))
        }
        [_, _] => (longest * unit, relative(longest, longest)),
        _ => (1.0, 1.0),
    }
}
