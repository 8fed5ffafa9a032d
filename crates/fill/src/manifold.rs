//! Makes the boundary of tetrahedra a closed manifold, by taking tetrahedra away.

use crate::surface::Parts;
use standoff_linalg::Vec3;
use standoff_mesh::{tet_determinant, tet_faces};
use std::collections::BTreeMap;

/// Takes away tetrahedra where parts hang together by an edge or a vertex only, or where the boundary
/// touches itself; returns how many. The angles of those that stay do not change.
pub fn make_manifold(points: &[Vec3], tets: &mut Vec<[u32; 4]>) -> usize {
    let before = tets.len();
    loop {
        let doomed = pinching(points, tets);
        if doomed.is_empty() {
            return before - tets.len();
        }
        let mut index = 0;
        tets.retain(|_| {
            index += 1;
            doomed.binary_search(&(index - 1)).is_err()
        });
    }
}

/// Faces that belong to one tetrahedron, seen counter-clockwise from outside, with the tetrahedron; by
/// their vertices.
pub fn boundary(tets: &[[u32; 4]]) -> Vec<([u32; 3], u32)> {
    let mut faces: Vec<([u32; 3], [u32; 3], u32)> = Vec::with_capacity(4 * tets.len());
    for (t, tet) in tets.iter().enumerate() {
        faces.extend(tet_faces(*tet).map(|f| {
            let mut key = f;
            key.sort_unstable();
            (key, f, t as u32)
        }));
    }
    faces.sort_unstable();
    let single = faces.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 1);
    single.map(|group| (group[0].1, group[0].2)).collect()
}

/// Tetrahedra to take away, ascending.
fn pinching(points: &[Vec3], tets: &[[u32; 4]]) -> Vec<usize> {
    let boundary = boundary(tets);
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let mut fans: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    for (face, _) in &boundary {
        for k in 0..3 {
            let (a, b, c) = (face[k], face[(k + 1) % 3], face[(k + 2) % 3]);
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
            fans.entry(a).or_default().push([b, c]);
        }
    }
    // an edge of more than two boundary faces makes its ends pinched vertices, too
    let mut pinched: Vec<u32> =
        edges.iter().filter(|(_, n)| **n > 2).flat_map(|(e, _)| *e).collect();
    pinched.extend(fans.iter().filter(|(_, fan)| !is_one_circle(fan)).map(|(v, _)| *v));
    pinched.sort_unstable();
    pinched.dedup();
    if pinched.is_empty() {
        return Vec::new();
    }
    let mut stars: BTreeMap<u32, Vec<usize>> = pinched.iter().map(|v| (*v, Vec::new())).collect();
    for (t, tet) in tets.iter().enumerate() {
        for v in tet {
            if let Some(star) = stars.get_mut(v) {
                star.push(t);
            }
        }
    }
    let mut doomed: Vec<usize> = Vec::new();
    for (v, star) in stars {
        doomed.extend(smaller_parts(points, tets, v, &star));
    }
    doomed.sort_unstable();
    doomed.dedup();
    doomed
}

/// Whether the edges opposite to a vertex form one closed chain.
fn is_one_circle(fan: &[[u32; 2]]) -> bool {
    let next: BTreeMap<u32, u32> = fan.iter().map(|e| (e[0], e[1])).collect();
    if next.len() != fan.len() {
        return false;
    }
    let (mut at, mut steps) = (fan[0][0], 0);
    loop {
        match next.get(&at) {
            Some(to) => at = *to,
            None => return false,
        }
        steps += 1;
        if at == fan[0][0] {
            return steps == fan.len();
        }
        if steps > fan.len() {
            return false;
        }
    }
}

/// Of the tetrahedra around a vertex, all but the largest part that hangs together by faces at the vertex;
/// all, where that is one part.
fn smaller_parts(points: &[Vec3], tets: &[[u32; 4]], v: u32, star: &[usize]) -> Vec<usize> {
    let mut parts = Parts::new(star.len());
    let mut first: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    for (k, &t) in star.iter().enumerate() {
        for mut face in tet_faces(tets[t]) {
            if !face.contains(&v) {
                continue;
            }
            face.sort_unstable();
            match first.get(&face) {
                None => {
                    first.insert(face, k as u32);
                }
                Some(other) => parts.join(*other, k as u32),
            }
        }
    }
    let mut volumes: BTreeMap<u32, f64> = BTreeMap::new();
    for (k, &t) in star.iter().enumerate() {
        let x = tets[t].map(|v| points[v as usize]);
        *volumes.entry(parts.find(k as u32)).or_default() += tet_determinant(&x);
    }
    let largest = match volumes.len() {
        1 => None,
        // of equal ones the first
        _ => volumes.iter().rev().max_by(|a, b| a.1.total_cmp(b.1)).map(|(part, _)| *part),
    };
    let goes = |k: &usize| Some(parts.find(*k as u32)) != largest;
    (0..star.len()).filter(goes).map(|k| star[k]).collect()
}

/// Number of parts that share no face.
pub fn components(tets: &[[u32; 4]]) -> usize {
    let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(4 * tets.len());
    for (t, tet) in tets.iter().enumerate() {
        faces.extend(tet_faces(*tet).map(|mut f| {
            f.sort_unstable();
            (f, t as u32)
        }));
    }
    faces.sort_unstable();
    let mut parts = Parts::new(tets.len());
    for pair in faces.windows(2).filter(|w| w[0].0 == w[1].0) {
        parts.join(pair[0].1, pair[1].1);
    }
    (0..tets.len() as u32).filter(|t| parts.find(*t) == *t).count()
}
