//! Vertices that are held in some directions and free in the others: on symmetry planes, on rollers, on rails.

use standoff_linalg::{Mat3, Vec3};

/// Part of a direction of length 1 that has to be left beside other directions for it to be another one.
const INDEPENDENT: f64 = 1e-9;

/// An orthonormal basis of what directions span, none of them zero.
pub fn basis(directions: &[Vec3]) -> Vec<Vec3> {
    let mut basis: Vec<Vec3> = Vec::new();
    for n in directions {
        let n = n.normalize();
        // twice, so that rounding of the first is gone
        let without = |n: Vec3| basis.iter().fold(n, |n, b| n - b * b.dot(&n));
        let rest = without(without(n));
        if rest.norm() > INDEPENDENT && basis.len() < 3 {
            basis.push(rest.normalize());
        }
    }
    basis
}

/// Vertices that are held in some directions, ascending, with the projections onto the directions in which they are free.
#[derive(Debug, Clone, Default)]
pub struct Rails {
    vertices: Vec<u32>,
    free: Vec<Mat3>,
}

impl Rails {
    /// Adds a vertex above all others, which is held in the directions of an orthonormal `basis`.
    pub fn push(&mut self, vertex: u32, basis: &[Vec3]) {
        self.vertices.push(vertex);
        let held: Mat3 = basis.iter().map(|n| n * n.transpose()).sum();
        self.free.push(Mat3::identity() - held);
    }

    /// These, and rails that hold further `vertices`, ascending, in all directions.
    pub fn and_held(&self, vertices: impl Iterator<Item = u32>) -> Self {
        let mut all: Vec<(u32, Mat3)> = self.iter().map(|(v, free)| (v, *free)).collect();
        all.extend(vertices.map(|v| (v, Mat3::zeros())));
        all.sort_by_key(|(v, _)| *v);
        let (vertices, free) = all.into_iter().unzip();
        Self { vertices, free }
    }

    /// Vertices and projections.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Mat3)> {
        self.vertices.iter().copied().zip(&self.free)
    }

    /// The projection onto the directions in which a vertex is free, if it is held in others.
    pub fn of(&self, vertex: u32) -> Option<&Mat3> {
        let k = self.vertices.binary_search(&vertex).ok()?;
        Some(&self.free[k])
    }

    /// The part of a vector in the directions in which a vertex is held: all of it where it has no rails.
    pub fn held_part(&self, vertex: u32, d: Vec3) -> Vec3 {
        self.of(vertex).map_or(d, |free| d - free * d)
    }

    /// Takes the held directions out of a vector per vertex (`#V`).
    pub fn project(&self, vectors: &mut [Vec3]) {
        for (v, free) in self.iter() {
            vectors[v as usize] = free * vectors[v as usize];
        }
    }

    /// Of vertices that are still away from their targets, rails that hold them in the direction of the `displacement` to the target alone; and all
    /// rails, where these vertices are free in that direction, too.
    pub fn split(&self, displacement: impl Fn(u32) -> Option<Vec3>) -> (Self, Self) {
        let (mut pulled, mut left) = (Self::default(), Self::default());
        for (v, free) in self.iter() {
            left.vertices.push(v);
            left.free.push(*free);
            if let Some(d) = displacement(v).filter(|d| *d != Vec3::zeros()) {
                let direction = d.normalize();
                pulled.push(v, &[direction]);
                left.free[left.vertices.len() - 1] += direction * direction.transpose();
            }
        }
        (pulled, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_span_what_directions_do() {
        let (x, y) = (Vec3::x(), Vec3::new(1.0, 2.0, 0.0));
        assert_eq!(basis(&[x, y, x - y, x * 1e-30]).len(), 2);
        assert_eq!(basis(&[x, y, Vec3::new(1.0, 1.0, 1e-3)]).len(), 3);
        let mut rails = Rails::default();
        rails.push(0, &basis(&[x, y]));
        assert!((rails.of(0).unwrap() - Mat3::from_diagonal(&Vec3::z())).amax() < 1e-15);
    }

    #[test]
    fn vertices_are_held_in_their_directions_only() {
        let mut rails = Rails::default();
        rails.push(1, &[Vec3::x()]);
        rails.push(3, &[Vec3::x(), Vec3::z()]);
        let mut vectors = vec![Vec3::repeat(1.0); 4];
        rails.project(&mut vectors);
        assert_eq!(vectors[1], Vec3::new(0.0, 1.0, 1.0));
        assert_eq!((vectors[2], vectors[3]), (Vec3::repeat(1.0), Vec3::y()));
        assert_eq!(rails.held_part(1, Vec3::repeat(2.0)), Vec3::new(2.0, 0.0, 0.0));
        assert_eq!(rails.held_part(2, Vec3::y()), Vec3::y());
        // pulled along z, the second stays held along x
        let (pulled, left) = rails.split(|v| (v == 3).then_some(Vec3::z() * 2.0));
        assert!(pulled.of(1).is_none() && left.of(1) == rails.of(1));
        // so does what is held in all directions
        let more = rails.and_held([0, 2].into_iter());
        assert_eq!(more.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let (pulled_too, left_too) = more.split(|v| (v == 2).then_some(-Vec3::y()));
        assert_eq!(pulled_too.held_part(2, Vec3::repeat(1.0)), Vec3::y());
        assert_eq!(left_too.held_part(2, Vec3::repeat(1.0)), Vec3::new(1.0, 0.0, 1.0));
        assert_eq!(left_too.of(3), rails.of(3));
        assert_eq!(pulled.held_part(3, Vec3::repeat(1.0)), Vec3::z());
        assert_eq!(left.held_part(3, Vec3::repeat(1.0)), Vec3::x());
    }
}
