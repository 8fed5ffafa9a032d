//! What joints leave out of contact, and when that comes back where they break.

use crate::definition::{Definition, LeftOut};
use crate::joints::Integrity;
use standoff_geometry::audit::Parts;
use standoff_geometry::broad_phase::candidates;
use standoff_geometry::{CollisionMesh, Grip};
use standoff_linalg::Vec3;
use std::ops::Range;

/// What is left out of contact.
#[derive(Debug, Clone, Default)]
pub(crate) struct WithoutContact {
    /// Vertices of all bodies.
    ranges: Vec<Range<usize>>,
    /// Pairs of bodies that never touch.
    always: Vec<(usize, usize)>,
    /// Whether no body touches itself.
    own: bool,
    /// What ties leave out.
    tied: Vec<Grip>,
    /// What each joint leaves out.
    by_joint: Vec<Option<LeftOut>>,
}

impl WithoutContact {
    /// What a definition leaves out, of bodies with these vertices.
    pub fn new(definition: &Definition, ranges: Vec<Range<usize>>) -> Self {
        Self {
            ranges,
            always: definition.never_in_contact(),
            own: !definition.settings.contact.self_contact,
            tied: definition.left_out_by_ties(),
            by_joint: definition.joints.iter().map(|j| definition.left_out(j)).collect(),
        }
    }

    /// Leaves it out of a mesh, but for what joints left out that have come apart; nothing is given where no joint can break.
    pub fn exclude(&self, mesh: &mut CollisionMesh, integrity: &[Integrity]) {
        let acts = |k: usize| integrity.get(k).is_none_or(|i| *i != Integrity::Apart);
        let (mut pairs, mut grips): (Vec<(usize, usize)>, Vec<Grip>) =
            (self.always.clone(), self.tied.clone());
        for (_, left_out) in self.by_joint.iter().enumerate().filter(|(k, _)| acts(*k)) {
            match left_out {
                Some(LeftOut::Bodies(a, b)) => pairs.push((*a, *b)),
                Some(LeftOut::Grip(grip)) => grips.push(grip.clone()),
                None => {}
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        mesh.exclude_grips(&grips);
        mesh.exclude(&self.ranges, &pairs, self.own);
    }

    /// Whether a joint leaves something out that comes back when it breaks.
    pub fn may_come_back(&self, integrity: &[Integrity]) -> bool {
        !integrity.is_empty() && self.by_joint.iter().any(Option::is_some)
    }

    /// Whether what joint `k` leaves out of `mesh` is apart at `x`: farther from each other than `distance` (m), from which on contact acts, and neither
    /// inside of the other. Each step that follows then keeps it so.
    pub fn is_apart(
        &self,
        k: usize,
        mesh: &CollisionMesh,
        integrity: &[Integrity],
        x: &[Vec3],
        distance: f64,
    ) -> bool {
        if self.by_joint[k].is_none() {
            return true;
        }
        let (mut lifted, mut without) = (mesh.clone(), integrity.to_vec());
        without[k] = Integrity::Apart;
        self.exclude(&mut lifted, &without);
        let comes_back = |a: &[u32], b: &[u32]| !mesh.may_collide(a, b);
        for pair in candidates(&lifted, x, 0.5 * distance).iter() {
            let stencil = pair.stencil(&lifted);
            let (a, b) = stencil.vertices().split_at(pair.kind.second());
            let near = pair.d2(&lifted, x).sqrt() - pair.thickness(&lifted) <= distance;
            if near && comes_back(a, b) {
                return false;
            }
        }
        let before = Parts::new(mesh).enclosures(x);
        let after = Parts::new(&lifted).enclosures(x);
        after.iter().all(|e| before.contains(e))
    }
}
