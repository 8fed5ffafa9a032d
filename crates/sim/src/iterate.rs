//! A point of a minimisation.

use crate::contact::ContactSet;
use standoff_linalg::Vec3;

/// A point without intersections and inversions, with its contacts.
#[derive(Debug, Clone)]
pub struct Iterate {
    /// Positions, m (`#V`).
    pub x: Vec<Vec3>,
    /// All contacts at `x`.
    pub contacts: ContactSet,
}

impl Iterate {
    /// A point whose contacts are not looked up.
    pub fn without_contacts(x: Vec<Vec3>) -> Self {
        Self { x, contacts: ContactSet::default() }
    }
}
