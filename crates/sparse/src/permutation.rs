//! Bijections between the numbers of vertices.

/// A bijection between old and new numbers 0..n.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    pub(crate) new_to_old: Vec<u32>,
    pub(crate) old_to_new: Vec<u32>,
}

impl Permutation {
    /// From the list of old numbers in their new order; `None` where this is no bijection.
    pub fn from_new_to_old(new_to_old: Vec<u32>) -> Option<Self> {
        let mut old_to_new = vec![u32::MAX; new_to_old.len()];
        for (new, &old) in new_to_old.iter().enumerate() {
            let slot = old_to_new.get_mut(old as usize)?;
            if *slot != u32::MAX {
                return None;
            }
            *slot = u32::try_from(new).ok()?;
        }
        Some(Self { new_to_old, old_to_new })
    }

    /// The old numbers in their new order.
    pub fn new_to_old(&self) -> &[u32] {
        &self.new_to_old
    }

    /// The new number of each old one.
    pub fn old_to_new(&self) -> &[u32] {
        &self.old_to_new
    }

    /// Every number maps to itself.
    pub(crate) fn identity(n: usize) -> Self {
        let numbers: Vec<u32> = (0..n as u32).collect();
        Self { new_to_old: numbers.clone(), old_to_new: numbers }
    }

    /// First `self`, then `next`, which maps new numbers to newer ones.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let at = |map: &[u32], k: &u32| map[*k as usize];
        Self {
            new_to_old: next.new_to_old.iter().map(|k| at(&self.new_to_old, k)).collect(),
            old_to_new: self.old_to_new.iter().map(|k| at(&next.old_to_new, k)).collect(),
        }
    }
}
