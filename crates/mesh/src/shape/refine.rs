//! Division of coarse meshes: tetrahedra into n³, triangles into n², prisms into 3 tetrahedra.
//! Neighbours match because a face is divided the same way from both sides.

use crate::{Mesh, tet_determinant, tet_quality};
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// A lattice point: the coarse vertices that it lies between, ascending, with their shares, which
/// add up to the number of divisions.
pub(crate) type Weights = Vec<(u32, u32)>;

/// Numbers lattice points in order of first use and places them.
struct Lattice<'a> {
    place: &'a dyn Fn(&[(u32, u32)]) -> Vec3,
    index: HashMap<Weights, u32>,
    points: Vec<Vec3>,
}

impl<'a> Lattice<'a> {
    /// The coarse vertices come first.
    fn new(vertices: u32, n: u32, place: &'a dyn Fn(&[(u32, u32)]) -> Vec3) -> Self {
        let mut lattice = Self { place, index: HashMap::new(), points: Vec::new() };
        for v in 0..vertices {
            lattice.vertex(vec![(v, n)]);
        }
        lattice
    }

    fn vertex(&mut self, mut weights: Weights) -> u32 {
        weights.retain(|w| w.1 > 0);
        weights.sort_unstable();
        let points = &mut self.points;
        let place = self.place;
        *self.index.entry(weights).or_insert_with_key(|w| {
            points.push(place(w));
            (points.len() - 1) as u32
        })
    }

    fn at(&self, v: &[u32; 4]) -> [Vec3; 4] {
        v.map(|i| self.points[i as usize])
    }
}

/// The linear place of a lattice point between coarse points.
pub(crate) fn linear(points: &[Vec3], weights: &[(u32, u32)]) -> Vec3 {
    let total: u32 = weights.iter().map(|w| w.1).sum();
    let sum: Vec3 = weights.iter().map(|&(v, w)| points[v as usize] * f64::from(w)).sum();
    sum / f64::from(total)
}

/// Divides each triangle into n², keeping the orientation; unused coarse vertices stay.
pub(crate) fn triangles(
    vertices: u32,
    coarse: &[[u32; 3]],
    n: u32,
    place: &dyn Fn(&[(u32, u32)]) -> Vec3,
) -> Mesh {
    let mut lattice = Lattice::new(vertices, n, place);
    let mut fine = Vec::with_capacity(coarse.len() * (n * n) as usize);
    for &corners in coarse {
        let mut at = |i: u32, j: u32| {
            let shares = [n - i - j, i, j];
            lattice.vertex(corners.into_iter().zip(shares).collect())
        };
        for i in 0..n {
            for j in 0..n - i {
                fine.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 2 <= n {
                    fine.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    Mesh { points: lattice.points, triangles: fine, ..Mesh::default() }
}

/// Divides each tetrahedron into n³: small copies of itself and octahedra, and these into four
/// along the diagonal that gives the best elements. All elements come out positive.
pub(crate) fn tets(
    vertices: u32,
    coarse: &[[u32; 4]],
    n: u32,
    place: &dyn Fn(&[(u32, u32)]) -> Vec3,
) -> Mesh {
    let mut lattice = Lattice::new(vertices, n, place);
    let mut fine: Vec<[u32; 4]> = Vec::with_capacity(coarse.len() * (n * n * n) as usize);
    for &corners in coarse {
        for base in bases(n) {
            let room = n - base.iter().sum::<u32>();
            let mut at = |more: [u32; 4]| {
                let shares = (0..4).map(|k| base[k] + more[k]);
                lattice.vertex(corners.into_iter().zip(shares).collect())
            };
            match room {
                1 => {
                    let unit = |k: usize| std::array::from_fn(|i| u32::from(i == k));
                    fine.push([0, 1, 2, 3].map(|k| at(unit(k))));
                }
                2 => {
                    let pair =
                        |a: usize, b: usize| std::array::from_fn(|i| u32::from(i == a || i == b));
                    let poles = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2]];
                    let v = poles.map(|[a, b]| at(pair(a, b)));
                    fine.extend(octahedron(&lattice, v));
                }
                _ => {
                    let but = |k: usize| std::array::from_fn(|i| u32::from(i != k));
                    fine.push([0, 1, 2, 3].map(|k| at(but(k))));
                }
            }
        }
    }
    let mut mesh = Mesh { points: lattice.points, tets: fine, ..Mesh::default() };
    orient(&mut mesh);
    mesh
}

/// Lattice points that leave 1, 2 or 3 shares of n for the corners of a small element.
fn bases(n: u32) -> Vec<[u32; 4]> {
    let mut found = Vec::new();
    for i in 0..n {
        for j in 0..n - i {
            for k in 0..n - i - j {
                for room in 1..=3u32.min(n - i - j - k) {
                    found.push([i, j, k, n - i - j - k - room]);
                }
            }
        }
    }
    found
}

/// The four tetrahedra around the best diagonal of an octahedron given by three pairs of
/// opposite vertices.
fn octahedron(lattice: &Lattice<'_>, v: [u32; 6]) -> [[u32; 4]; 4] {
    let mut best: Option<(f64, [[u32; 4]; 4])> = None;
    for d in 0..3 {
        let [p, q] = [v[2 * d], v[2 * d + 1]];
        let [a, c] = [v[(2 * d + 2) % 6], v[(2 * d + 3) % 6]];
        let [b, e] = [v[(2 * d + 4) % 6], v[(2 * d + 5) % 6]];
        let tets = [[p, q, a, b], [p, q, b, c], [p, q, c, e], [p, q, e, a]];
        let worst = tets.iter().map(|t| tet_quality(&lattice.at(t)).0.abs()).fold(1.0, f64::min);
        // a clear improvement only, so that equal diagonals are not chosen by rounding
        if best.is_none_or(|(score, _)| worst > score * (1.0 + 1e-9)) {
            best = Some((worst, tets));
        }
    }
    best.map_or([[0; 4]; 4], |b| b.1)
}

/// Makes every tetrahedron positive.
pub(crate) fn orient(mesh: &mut Mesh) {
    for t in 0..mesh.tets.len() {
        if tet_determinant(&mesh.tet_points(t)) < 0.0 {
            mesh.tets[t].swap(2, 3);
        }
    }
}

/// Three tetrahedra of a prism over the triangle `a` with the triangle `b` opposite. The diagonal
/// of each side starts at the side's smallest vertex, so that neighbours agree.
pub(crate) fn prism(a: [u32; 3], b: [u32; 3]) -> [[u32; 4]; 3] {
    let least = a.into_iter().chain(b).min().unwrap_or(0);
    let (a, b) = if b.contains(&least) { (b, a) } else { (a, b) };
    let turn = a.iter().position(|&v| v == least).unwrap_or(0);
    let at = |k: usize| (k + turn) % 3;
    let [a0, a1, a2] = [a[at(0)], a[at(1)], a[at(2)]];
    let [b0, b1, b2] = [b[at(0)], b[at(1)], b[at(2)]];
    if a1.min(b2) < a2.min(b1) {
        [[a0, a1, a2, b2], [a0, a1, b2, b1], [a0, b1, b2, b0]]
    } else {
        [[a0, a1, a2, b1], [a0, b1, a2, b2], [a0, b1, b2, b0]]
    }
}

/// Two triangles of a quadrangle a b c d, split at its smallest vertex.
pub(crate) fn quad(v: [u32; 4]) -> [[u32; 3]; 2] {
    let [a, b, c, d] = v;
    if a.min(c) < b.min(d) { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] }
}

/// The surface of a divided solid: its coarse surface, divided.
pub(crate) fn tets_or_surface(
    surface: bool,
    points: &[Vec3],
    coarse: &[[u32; 4]],
    n: u32,
    place: &dyn Fn(&[(u32, u32)]) -> Vec3,
) -> Mesh {
    let mut solid = Mesh { points: points.to_vec(), tets: coarse.to_vec(), ..Mesh::default() };
    orient(&mut solid);
    let vertices = points.len() as u32;
    if !surface {
        return tets(vertices, &solid.tets, n, place);
    }
    let mut mesh = triangles(vertices, &solid.surface(), n, place);
    mesh.compact();
    mesh
}
