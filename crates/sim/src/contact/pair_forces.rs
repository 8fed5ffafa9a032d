//! What acts on what: forces of contact and friction, summed over each pair of bodies, or of a body and a half-space.

use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// What takes part in contacts, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// A body of the model, deformable, rigid or an obstacle.
    Body(u32),
    /// A half-space.
    HalfSpace(u32),
}

/// What one party acts with on another one: force (N) and moment about the origin (N m), each of the contact forces along normals and
/// of friction. The forces on the two are opposite; so are the moments of contact, and those of friction but for the part that its
/// arm, the distance of the two surfaces, gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairForces {
    /// On what.
    pub on: Party,
    /// By what.
    pub by: Party,
    /// Of contact: the barrier, or the multipliers of the barrier-free method.
    pub normal: [Vec3; 2],
    /// Of friction.
    pub friction: [Vec3; 2],
}

/// Calls for each contact with the half-space in it, its vertices and the gradients of its energy by these (N): minus the forces on them.
pub type EachContact<'a> = dyn FnMut(Option<u32>, &[u32], &[Vec3]) + 'a;

/// The sums, while they are taken in the order of the contacts.
#[derive(Debug)]
pub struct PairSums<'a> {
    x: &'a [Vec3],
    body_of: &'a [u32],
    half_spaces: Vec<[Vec3; 2]>,
    pairs: BTreeMap<(Party, Party), [[Vec3; 2]; 2]>,
}

impl<'a> PairSums<'a> {
    /// No forces at positions `x` of vertices that belong to the bodies `body_of` (`#V`), and on as many half-spaces.
    pub fn new(x: &'a [Vec3], body_of: &'a [u32], half_spaces: usize) -> Self {
        let half_spaces = vec![[Vec3::zeros(); 2]; half_spaces];
        Self { x, body_of, half_spaces, pairs: BTreeMap::new() }
    }

    /// Adds a contact, or its friction, by the gradients at its vertices. What a body does to itself is no pair.
    pub fn add(
        &mut self,
        friction: bool,
        half_space: Option<u32>,
        vertices: &[u32],
        gradients: &[Vec3],
    ) {
        let body = |v: u32| Party::Body(self.body_of[v as usize]);
        for (&v, gradient) in vertices.iter().zip(gradients) {
            let moment = self.x[v as usize].cross(gradient);
            let on = body(v);
            let by = match half_space {
                Some(k) => {
                    // the gradient by a vertex is minus the force on it, and so the force on the half-space
                    let reaction = [*gradient, moment];
                    add_to(&mut self.half_spaces[k as usize], reaction);
                    let by = Party::HalfSpace(k);
                    let all = self.pairs.entry((by, on)).or_default();
                    add_to(&mut all[usize::from(friction)], reaction);
                    by
                }
                None => match vertices.iter().map(|w| body(*w)).find(|other| *other != on) {
                    Some(other) => other,
                    None => return,
                },
            };
            let all = self.pairs.entry((on, by)).or_default();
            add_to(&mut all[usize::from(friction)], [-gradient, -moment]);
        }
    }

    /// Force and moment on each half-space, and what acts on what, ascending.
    pub fn finish(self) -> (Vec<[Vec3; 2]>, Vec<PairForces>) {
        let pairs = self.pairs.into_iter();
        let pairs =
            pairs.map(|((on, by), [normal, friction])| PairForces { on, by, normal, friction });
        (self.half_spaces, pairs.collect())
    }
}

fn add_to(sum: &mut [Vec3; 2], [force, moment]: [Vec3; 2]) {
    sum[0] += force;
    sum[1] += moment;
}
