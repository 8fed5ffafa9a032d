//! Numbers that a file gives to its elements, as regions.

use super::cells::Cells;
use std::collections::BTreeMap;

/// A dimension of elements and a number in it.
pub(super) type Label = (usize, i64);

/// Numbers of elements, of which each has a label for [`Cells::add`].
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeMap<Label, u32>);

impl Labels {
    pub(super) fn of(&mut self, label: Label) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(label).or_insert(next)
    }

    /// Makes a region of each number other than 0, which says that there is none; `name` is that of the region.
    pub(super) fn add_regions(self, cells: &mut Cells, name: impl Fn(Label) -> String) {
        let mut numbers = vec![(0, 0); self.0.len()];
        self.0.into_iter().for_each(|(number, label)| numbers[label as usize] = number);
        cells.add_regions(
            |label| numbers.get(label as usize).copied().filter(|n| n.1 != 0),
            |n| name(*n),
        );
    }
}

/// The name of a group without one, as of Gmsh's.
pub(super) fn of_dimension((dimension, number): Label) -> String {
    let kind = ["point", "curve", "surface", "volume"];
    format!("{}-{number}", kind[dimension.min(3)])
}
