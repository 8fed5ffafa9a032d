//! Which segments of a body make a rod.

use crate::energy::rod_joint::RodMaterial;
use standoff_linalg::Vec3;

/// The segments of one body, joined to rods.
pub struct Chains {
    /// Segments as given, each turned into the direction of its rod.
    pub segments: Vec<[u32; 2]>,
    /// Pairs of segments that follow each other.
    pub joints: Vec<[u32; 2]>,
}

impl Chains {
    /// Joins segments (`#E×2`) over rest positions `x` to rods. At a vertex of two segments a rod goes
    /// on; where more meet, those that go on most nearly straight are joined two by two, and the rods
    /// are only pinned together.
    pub fn new(segments: &[[u32; 2]], x: &[Vec3]) -> Self {
        let mut at: Vec<Vec<u32>> = vec![Vec::new(); x.len()];
        for (k, e) in segments.iter().enumerate() {
            e.iter().for_each(|&v| at[v as usize].push(k as u32));
        }
        // the segment that follows at either end
        let mut next = vec![[u32::MAX; 2]; segments.len()];
        let end = |k: u32, v: u32| usize::from(segments[k as usize][1] == v);
        for (v, list) in at.iter().enumerate() {
            for (a, b) in pairs(list, v as u32, segments, x) {
                next[a as usize][end(a, v as u32)] = b;
                next[b as usize][end(b, v as u32)] = a;
            }
        }
        let mut out = Self { segments: segments.to_vec(), joints: Vec::new() };
        let mut done = vec![false; segments.len()];
        // rods with ends first, from an end; then rings
        let starts = (0..segments.len()).filter(|&k| next[k].contains(&u32::MAX));
        for k in starts.chain(0..segments.len()) {
            if !done[k] {
                out.follow(k as u32, &next, &mut done);
            }
        }
        out
    }

    fn follow(&mut self, first: u32, next: &[[u32; 2]], done: &mut [bool]) {
        let turned = next[first as usize][0] != u32::MAX && next[first as usize][1] == u32::MAX;
        let (mut k, mut forward) = (first, !turned);
        loop {
            done[k as usize] = true;
            if !forward {
                self.segments[k as usize].reverse();
            }
            let tip = self.segments[k as usize][1];
            let n = next[k as usize][usize::from(forward)];
            if n == u32::MAX {
                return;
            }
            self.joints.push([k, n]);
            if done[n as usize] {
                return;
            }
            // `n` is still as it was given
            forward = self.segments[n as usize][0] == tip;
            k = n;
        }
    }
}

/// Pairs of the segments at a vertex that go on into each other, the straightest first.
fn pairs(list: &[u32], v: u32, segments: &[[u32; 2]], x: &[Vec3]) -> Vec<(u32, u32)> {
    let outward = |k: u32| {
        let [a, b] = segments[k as usize];
        let other = if a == v { b } else { a };
        (x[other as usize] - x[v as usize]).normalize()
    };
    let mut all: Vec<(f64, u32, u32)> = Vec::new();
    for (i, &a) in list.iter().enumerate() {
        for &b in &list[i + 1..] {
            all.push((outward(a).dot(&outward(b)), a, b));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut used, mut out) = (Vec::new(), Vec::new());
    for (_, a, b) in all {
        if !used.contains(&a) && !used.contains(&b) {
            used.extend([a, b]);
            out.push((a, b));
        }
    }
    out
}

/// A rod's shape and material, for its joints.
pub struct RodShape {
    /// Material.
    pub material: RodMaterial,
    /// Whether it is straight at rest, whatever its mesh.
    pub straight: bool,
    /// Twist at rest per length, rad/m.
    pub natural_twist: f64,
}
