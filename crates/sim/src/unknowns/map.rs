//! The rows of W that are not those of the identity.

use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// The map from unknowns to vertices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VertexMap {
    /// The carried vertices, ascending.
    carried: Vec<u32>,
    /// Row k of W has the entries from `begin[k]` to `begin[k + 1]`.
    begin: Vec<u32>,
    /// The vertices on which the entries are.
    on: Vec<u32>,
    /// The entries.
    weights: Vec<f64>,
}

impl VertexMap {
    /// Adds a carried vertex, after all that were added before.
    ///
    /// # Panics
    /// Where an earlier one has a greater number.
    pub fn push(&mut self, vertex: u32, on: &[u32], weights: &[f64]) {
        assert!(self.carried.last().is_none_or(|last| *last < vertex), "rows in order");
        if self.begin.is_empty() {
            self.begin.push(0);
        }
        self.carried.push(vertex);
        self.on.extend_from_slice(on);
        self.weights.extend_from_slice(weights);
        self.begin.push(self.on.len() as u32);
    }

    /// The map with more carried vertices, given by their rows, on which others may have depended so far.
    #[must_use]
    pub fn with(&self, more: &BTreeMap<u32, (Vec<u32>, Vec<f64>)>) -> Self {
        let mut rows = more.clone();
        for (k, &vertex) in self.carried.iter().enumerate() {
            let (on, weights) = self.entries(k);
            let mut row: BTreeMap<u32, f64> = BTreeMap::new();
            for (&u, &w) in on.iter().zip(weights) {
                match more.get(&u) {
                    Some((on, of)) => {
                        on.iter()
                            .zip(of)
                            .for_each(|(v, own)| *row.entry(*v).or_default() += w * own);
                    }
                    None => *row.entry(u).or_default() += w,
                }
            }
            rows.insert(vertex, row.into_iter().unzip());
        }
        let mut all = Self::default();
        rows.iter().for_each(|(vertex, (on, weights))| all.push(*vertex, on, weights));
        all
    }

    /// Whether no vertex is carried.
    pub fn is_identity(&self) -> bool {
        self.carried.is_empty()
    }

    /// Whether a vertex is carried.
    pub fn is_carried(&self, vertex: usize) -> bool {
        !self.is_identity() && self.carried.binary_search(&(vertex as u32)).is_ok()
    }

    /// The vertices on which a carried vertex depends, with their weights; none for an unknown.
    pub fn row(&self, vertex: u32) -> Option<(&[u32], &[f64])> {
        let k = self.carried.binary_search(&vertex).ok()?;
        Some(self.entries(k))
    }

    /// Moves carried vertices by the part `t` of displacements `dx` (`#V`), of which [`Self::spread`] has made those of carried vertices.
    pub fn advance(&self, x: &mut [Vec3], t: f64, dx: &[Vec3]) {
        for &v in &self.carried {
            x[v as usize] += t * dx[v as usize];
        }
    }

    fn entries(&self, k: usize) -> (&[u32], &[f64]) {
        let range = self.begin[k] as usize..self.begin[k + 1] as usize;
        (&self.on[range.clone()], &self.weights[range])
    }

    /// Sets the entries of carried vertices from those of the others: positions, displacements, velocities or accelerations (`#V`).
    pub fn spread(&self, of: &mut [Vec3]) {
        for (k, &v) in self.carried.iter().enumerate() {
            let (on, weights) = self.entries(k);
            let parts = on.iter().zip(weights).map(|(&u, w)| of[u as usize] * *w);
            of[v as usize] = parts.fold(Vec3::zeros(), |sum, part| sum + part);
        }
    }

    /// Hands the forces or gradients on carried vertices (`#V`) over to those on which they depend: Wᵀ g, with zeros left behind.
    pub fn gather(&self, of: &mut [Vec3]) {
        for (k, &v) in self.carried.iter().enumerate() {
            let whole = std::mem::replace(&mut of[v as usize], Vec3::zeros());
            let (on, weights) = self.entries(k);
            on.iter().zip(weights).for_each(|(&u, w)| of[u as usize] += *w * whole);
        }
    }

    /// The greatest distance of a carried vertex from where it belongs, m, and which one that is.
    pub fn deviation(&self, x: &[Vec3]) -> Option<(u32, f64)> {
        let mut right = x.to_vec();
        self.spread(&mut right);
        let distance = |&v: &u32| (v, (x[v as usize] - right[v as usize]).norm());
        self.carried.iter().map(distance).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The unknowns of a stencil, ascending, each once, and the weight of the stencil's vertex a on unknown k at `[a * count + k]`.
    pub fn expand(&self, stencil: &[u32], unknowns: &mut Vec<u32>, weights: &mut Vec<f64>) {
        unknowns.clear();
        for &v in stencil {
            match self.row(v) {
                Some((on, _)) => unknowns.extend_from_slice(on),
                None => unknowns.push(v),
            }
        }
        unknowns.sort_unstable();
        unknowns.dedup();
        let count = unknowns.len();
        weights.clear();
        weights.resize(stencil.len() * count, 0.0);
        for (a, &v) in stencil.iter().enumerate() {
            let own = &mut weights[a * count..(a + 1) * count];
            let mut add = |u: u32, w: f64| {
                if let Ok(k) = unknowns.binary_search(&u) {
                    own[k] += w;
                }
            };
            match self.row(v) {
                Some((on, of)) => on.iter().zip(of).for_each(|(&u, w)| add(u, *w)),
                None => add(v, 1.0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> VertexMap {
        let mut map = VertexMap::default();
        map.push(3, &[0, 1], &[0.25, 0.75]);
        map.push(4, &[1, 2], &[1.5, -0.5]);
        map
    }

    /// g·(W p) = (Wᵀ g)·p.
    #[test]
    fn gathering_is_the_transpose_of_spreading() {
        let map = map();
        let at = |v: usize, s: f64| Vec3::new(s + v as f64, s * v as f64, 1.0 - s);
        let mut p: Vec<Vec3> = (0..5).map(|v| at(v, 0.3)).collect();
        let mut g: Vec<Vec3> = (0..5).map(|v| at(v, -1.7)).collect();
        map.spread(&mut p);
        let dot = |a: &[Vec3], b: &[Vec3]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(b)).sum() };
        let whole = dot(&g, &p);
        map.gather(&mut g);
        assert_eq!(g[3..], [Vec3::zeros(); 2]);
        assert!((dot(&g, &p) - whole).abs() < 1e-13 * whole.abs());
        assert_eq!(map.deviation(&p).unwrap().1, 0.0);
        p[4].x += 0.5;
        assert_eq!(map.deviation(&p), Some((4, 0.5)));
    }

    /// What depends on a vertex that becomes carried depends on what carries that.
    #[test]
    fn carried_vertices_may_be_carried_further() {
        let more = BTreeMap::from([(1, (vec![0, 6], vec![0.5, 0.5]))]);
        let all = map().with(&more);
        assert_eq!(all.row(1), Some((&[0, 6][..], &[0.5, 0.5][..])));
        assert_eq!(all.row(3), Some((&[0, 6][..], &[0.625, 0.375][..])));
        assert_eq!(all.row(4), Some((&[0, 2, 6][..], &[0.75, -0.5, 0.75][..])));
    }

    #[test]
    fn a_stencil_has_each_unknown_once() {
        let (mut unknowns, mut weights) = Default::default();
        map().expand(&[4, 1, 3], &mut unknowns, &mut weights);
        assert_eq!(unknowns, [0, 1, 2]);
        assert_eq!(weights, [0.0, 1.5, -0.5, 0.0, 1.0, 0.0, 0.25, 0.75, 0.0]);
        map().expand(&[7, 2], &mut unknowns, &mut weights);
        assert_eq!((unknowns, weights), (vec![2, 7], vec![0.0, 1.0, 1.0, 0.0]));
    }
}
