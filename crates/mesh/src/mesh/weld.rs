//! Joining of points at the same place.

use super::Mesh;
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// For every point the first one, of the same label, that is no farther from it than `tolerance` (m) and is not
/// itself joined to another; itself, if there is none. Without `labels` all points are alike.
pub fn first_within(points: &[Vec3], tolerance: f64, labels: Option<&[u32]>) -> Vec<u32> {
    let none = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (lowest, highest) = points.iter().fold(none, |(low, high), p| (low.inf(p), high.sup(p)));
    let label = |v: usize| labels.and_then(|l| l.get(v)).copied().unwrap_or(0);
    // joined points lie in the same cell or in neighbouring ones; whole numbers up to 2^53 are exact
    let least = 1e-15 * (highest - lowest).amax().max(f64::MIN_POSITIVE);
    let size = (2.0 * tolerance).max(least).max(f64::MIN_POSITIVE);
    let cell = |p: &Vec3| [0, 1, 2].map(|k| ((p[k] - lowest[k]) / size).floor().min(9e15) as i64);
    let mut kept: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(points.len());
    let near = |a: &Vec3, b: &Vec3| a == b || (a - b).norm() <= tolerance;
    let mut first = Vec::with_capacity(points.len());
    for (v, p) in points.iter().enumerate() {
        let at = cell(p);
        let around = |k: usize| {
            // a cell is twice as wide as the tolerance: one neighbour at most is near enough along each axis
            let inside = (p[k] - lowest[k]) / size - at[k] as f64;
            if inside < 0.5 { [at[k], at[k] - 1] } else { [at[k], at[k].saturating_add(1)] }
        };
        let [x, y, z] = [0, 1, 2].map(around);
        let cells = x.iter().flat_map(|x| y.iter().flat_map(|y| z.map(|z| [*x, *y, z])));
        let found = cells.filter_map(|c| kept.get(&c)).flatten().copied();
        let found =
            found.filter(|&w| label(w as usize) == label(v) && near(&points[w as usize], p));
        let own = v as u32;
        first.push(match found.min() {
            Some(earlier) => earlier,
            None => {
                kept.entry(at).or_default().push(own);
                own
            }
        });
    }
    first
}

impl Mesh {
    /// Joins points with equal coordinates (−0 equals 0) into the first of them and keeps the
    /// order of first appearance; returns the number of points removed.
    pub fn weld(&mut self) -> usize {
        let mut first: HashMap<[u64; 3], u32> = HashMap::with_capacity(self.points.len());
        let points = self.points.iter().enumerate();
        let first: Vec<u32> = points
            .map(|(v, p)| {
                // adding zero turns −0 into 0, so that both have the same bits
                *first.entry([p.x, p.y, p.z].map(|c| (c + 0.0).to_bits())).or_insert(v as u32)
            })
            .collect();
        let before = self.points.len();
        before - self.join(&first).len()
    }

    /// Joins every point to the one that `first` names for it, which names itself; returns the old index of each
    /// point that is left.
    pub fn join(&mut self, first: &[u32]) -> Vec<u32> {
        let kept: Vec<u32> = (0..first.len() as u32).filter(|v| first[*v as usize] == *v).collect();
        let mut new = vec![0; first.len()];
        for (k, old) in kept.iter().enumerate() {
            new[*old as usize] = k as u32;
        }
        let renumber = |v: &mut u32| *v = new[first[*v as usize] as usize];
        self.tets.iter_mut().flatten().for_each(renumber);
        self.middles.iter_mut().flatten().for_each(renumber);
        self.triangles.iter_mut().flatten().for_each(renumber);
        self.triangle_middles.iter_mut().flatten().for_each(renumber);
        self.edges.iter_mut().flatten().for_each(renumber);
        self.vertices.iter_mut().for_each(renumber);
        self.vertices.sort_unstable();
        self.vertices.dedup();
        for region in &mut self.regions {
            region.vertices.iter_mut().for_each(renumber);
            region.vertices.sort_unstable();
            region.vertices.dedup();
        }
        self.points = kept.iter().map(|v| self.points[*v as usize]).collect();
        kept
    }

    /// Leaves out triangles and wires that name a vertex twice; returns how many.
    pub fn drop_collapsed(&mut self) -> usize {
        let whole = |list: &[u32]| (1..list.len()).all(|k| !list[..k].contains(&list[k]));
        let mut before = self.triangles.iter();
        self.triangle_middles.retain(|_| before.next().is_some_and(|t| whole(t)));
        let triangles = retained(&mut self.triangles, |t| whole(t));
        if triangles.1 > 0 {
            self.divided.clear();
        }
        let edges = retained(&mut self.edges, |e| whole(e));
        for region in &mut self.regions {
            for (list, new) in
                [(&mut region.triangles, &triangles.0), (&mut region.edges, &edges.0)]
            {
                let kept = list.iter().filter_map(|e| new.get(*e as usize).copied().flatten());
                *list = kept.collect();
            }
        }
        triangles.1 + edges.1
    }
}

/// Keeps what passes; the new index of each element, and how many are gone.
fn retained<T: Copy>(list: &mut Vec<T>, keep: impl Fn(&T) -> bool) -> (Vec<Option<u32>>, usize) {
    let before = list.len();
    let mut next = 0;
    let new = list
        .iter()
        .map(|e| {
            let index = keep(e).then_some(next);
            next += u32::from(index.is_some());
            index
        })
        .collect();
    list.retain(keep);
    (new, before - list.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;

    #[test]
    fn points_join_the_first_within_the_tolerance() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        // far enough from the origin that cells and coordinates round
        let points: Vec<Vec3> = (0..800)
            .map(|_| Vec3::from_fn(|_, _| 1e3 + (8.0 * random()).floor() + 0.02 * random()))
            .collect();
        let labels: Vec<u32> = (0..800).map(|_| (2.0 * random()) as u32).collect();
        for tolerance in [0.0, 0.005, 0.02, 0.7, 3.0] {
            let mut slow: Vec<u32> = Vec::new();
            for v in 0..points.len() {
                let near = |w: &usize| {
                    slow[*w] == *w as u32
                        && labels[*w] == labels[v]
                        && (points[*w] - points[v]).norm() <= tolerance
                };
                let earlier = (0..v).find(near);
                slow.push(earlier.unwrap_or(v) as u32);
            }
            assert_eq!(first_within(&points, tolerance, Some(&labels)), slow, "{tolerance}");
        }
        assert_eq!(first_within(&[Vec3::zeros(), -Vec3::zeros()], 0.0, None), [0, 0]);
    }

    #[test]
    fn joined_points_keep_regions() {
        let mut mesh = Mesh {
            points: vec![
                Vec3::zeros(),
                Vec3::x(),
                Vec3::y(),
                Vec3::x(),
                Vec3::y(),
                Vec3::repeat(1.0),
            ],
            triangles: vec![[0, 1, 2], [1, 3, 2], [3, 5, 4]],
            edges: vec![[1, 3], [0, 5]],
            regions: vec![Region {
                triangles: vec![1, 2],
                edges: vec![0, 1],
                vertices: vec![0, 3, 4, 5],
                ..Region::default()
            }],
            ..Mesh::default()
        };
        let first = first_within(&mesh.points, 1e-9, None);
        assert_eq!(mesh.join(&first), [0, 1, 2, 5]);
        assert_eq!(mesh.drop_collapsed(), 2);
        assert_eq!(
            (&mesh.triangles[..], &mesh.edges[..]),
            (&[[0, 1, 2], [1, 3, 2]][..], &[[0, 3]][..])
        );
        let region = &mesh.regions[0];
        assert_eq!((&region.triangles[..], &region.edges[..]), (&[1][..], &[0][..]));
        assert_eq!(region.vertices, [0, 1, 2, 3]);
    }
}
