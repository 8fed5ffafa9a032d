//! Relaxation of lagged friction, so that its updates settle.
//!
//! Lagging is a fixed-point iteration: forces λ → minimiser → forces at the minimiser. Where stiff
//! bodies share their load among several contacts it need not contract [Li 2020, §5.5]: the load
//! jumps from corner to corner. Averaging with the forces before leaves the fixed points what they
//! are and makes the map contract around more of them [Mann 1953].

use super::friction::{FrictionContact, FrictionSet};
use std::collections::BTreeMap;

/// Updates that are taken as they are. Most steps settle within them.
const FREE_UPDATES: u64 = 4;

/// Smallest weight of new forces.
const LEAST_WEIGHT: f64 = 0.2;

/// Part of the largest force below which a contact that has gone is forgotten.
const NO_FORCE: f64 = 1e-8;

/// Weight of the new forces in the k-th update of a step, k ≥ 1: 1, then falling like 2/k.
pub fn weight(update: u64) -> f64 {
    let beyond = update.saturating_sub(FREE_UPDATES) as f64;
    (2.0 / (2.0 + beyond)).max(LEAST_WEIGHT)
}

impl FrictionSet {
    /// Replaces the forces f by w f + (1 − w) f′ with the forces f′ of `before`, those of contacts
    /// that only one of the sets has being 0 in the other. Frames stay the newest known.
    pub fn relax(&mut self, before: &Self, weight: f64) {
        let key = |c: &FrictionContact| (c.key, c.vertices);
        let mut gone: BTreeMap<_, _> = before.contacts.iter().map(|c| (key(c), *c)).collect();
        let mut largest = 0.0f64;
        for c in &mut self.contacts {
            let force = gone.remove(&key(c)).map_or(0.0, |b| b.force);
            c.force = weight * c.force + (1.0 - weight) * force;
            largest = largest.max(c.force);
        }
        for mut c in gone.into_values() {
            c.force *= 1.0 - weight;
            if c.force > NO_FORCE * largest {
                self.contacts.push(c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::friction::FrictionKey;
    use standoff_geometry::PairKind;
    use standoff_linalg::Vec3;

    fn set(contacts: &[(u32, f64)]) -> FrictionSet {
        let contacts = contacts.iter().map(|&(vertex, force)| FrictionContact {
            key: FrictionKey::Pair(PairKind::VertexVertex),
            vertices: [vertex, 99, u32::MAX, u32::MAX],
            n: 2,
            gamma: [1.0, -1.0, 0.0, 0.0],
            basis: [Vec3::x(), Vec3::y()],
            force,
            fall: 0.0,
            stick: 1.0,
            forecast: None,
            tangent: None,
        });
        FrictionSet { contacts: contacts.collect(), ..FrictionSet::default() }
    }

    fn forces(set: &FrictionSet) -> Vec<(u32, f64)> {
        set.contacts.iter().map(|c| (c.vertices[0], c.force)).collect()
    }

    #[test]
    fn forces_are_averaged_over_both_sets() {
        let mut new = set(&[(1, 8.0), (2, 4.0)]);
        new.relax(&set(&[(0, 1.0), (1, 4.0), (3, 1e-9)]), 0.25);
        assert_eq!(forces(&new), [(1, 5.0), (2, 1.0), (0, 0.75)]);
    }

    #[test]
    fn equal_forces_stay() {
        let mut new = set(&[(1, 8.0), (2, 4.0)]);
        new.relax(&set(&[(1, 8.0), (2, 4.0)]), weight(1000));
        assert_eq!(forces(&new), [(1, 8.0), (2, 4.0)]);
    }

    #[test]
    fn first_updates_are_free() {
        let mut new = set(&[(1, 8.0)]);
        new.relax(&set(&[(1, 4.0), (2, 4.0)]), weight(FREE_UPDATES));
        assert_eq!(forces(&new), [(1, 8.0)]);
        assert!(weight(FREE_UPDATES + 1) < 1.0);
        assert_eq!(weight(u64::MAX), LEAST_WEIGHT);
    }
}
