//! In which order bodies hang on each other.

use super::Joint;
use std::collections::VecDeque;

/// Spanning trees of the joints, breadth first from the world and from bodies whose motion may be prescribed, else from the heaviest body.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The bodies with joints, every one after the one it hangs on.
    pub bodies: Vec<Linked>,
    /// Whether a body has joints (`#bodies`).
    jointed: Vec<bool>,
}

/// A body with joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linked {
    /// Index of the body.
    pub body: usize,
    /// The place in [`Tree::bodies`] of what it hangs on; `None` for the world.
    pub on: Option<usize>,
    /// The joint by which it hangs; `None` for the root of a tree.
    pub by: Option<usize>,
}

impl Tree {
    /// The trees of joints between bodies with these masses, kg: infinite for those whose motion may be prescribed.
    pub fn new(joints: &[Joint], masses: &[f64]) -> Self {
        let whole = || joints.iter().enumerate().filter(|(_, j)| !j.broken);
        let mut tree = Growing { joints, place: vec![None; masses.len()], bodies: Vec::new() };
        let mut jointed: Vec<usize> =
            whole().flat_map(|(_, j)| j.parent.into_iter().chain([j.child])).collect();
        jointed.sort_unstable();
        jointed.dedup();
        // stable: of bodies with the same mass the first
        jointed.sort_by(|a, b| masses[*b].total_cmp(&masses[*a]));
        let (held, free): (Vec<usize>, Vec<usize>) =
            jointed.into_iter().partition(|b| masses[*b].is_infinite());
        let mut queue = VecDeque::new();
        for body in held {
            queue.extend(tree.add(Linked { body, on: None, by: None }));
        }
        for (by, joint) in whole().filter(|(_, j)| j.parent.is_none()) {
            queue.extend(tree.add(Linked { body: joint.child, on: None, by: Some(by) }));
        }
        tree.grow(queue);
        for body in free {
            let root = tree.add(Linked { body, on: None, by: None });
            tree.grow(root.into_iter().collect());
        }
        let jointed = tree.place.iter().map(|place| place.is_some()).collect();
        Self { bodies: tree.bodies, jointed }
    }

    /// Whether there are more than these `joints` of the tree: they close loops.
    pub fn leaves_out(&self, joints: usize) -> bool {
        self.bodies.iter().filter(|b| b.by.is_some()).count() < joints
    }

    /// Whether a body has joints.
    pub fn has(&self, body: usize) -> bool {
        self.jointed.get(body).copied().unwrap_or(false)
    }
}

struct Growing<'a> {
    joints: &'a [Joint],
    /// Where each body is, if it is there yet.
    place: Vec<Option<usize>>,
    bodies: Vec<Linked>,
}

impl Growing<'_> {
    /// Adds a body; its place, if it is new.
    fn add(&mut self, linked: Linked) -> Option<usize> {
        let place = &mut self.place[linked.body];
        if place.is_some() {
            return None;
        }
        *place = Some(self.bodies.len());
        self.bodies.push(linked);
        *place
    }

    /// Adds everything that hangs on the bodies at the places of a queue.
    fn grow(&mut self, mut queue: VecDeque<usize>) {
        let joints = self.joints;
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.place.len()];
        for (k, joint) in joints.iter().enumerate().filter(|(_, j)| !j.broken) {
            joint.parent.into_iter().chain([joint.child]).for_each(|b| at[b].push(k));
        }
        while let Some(place) = queue.pop_front() {
            let body = self.bodies[place].body;
            for &by in &at[body] {
                let ends = [joints[by].parent, Some(joints[by].child)];
                for other in ends.into_iter().flatten().filter(|b| *b != body) {
                    queue.extend(self.add(Linked { body: other, on: Some(place), by: Some(by) }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::JointKind;
    use crate::joints::Form;

    fn joint(parent: Option<usize>, child: usize) -> Joint {
        let none = Form::default();
        Joint {
            name: String::new(),
            kind: JointKind::Spherical,
            parent,
            child,
            stencil: Vec::new(),
            rows: Vec::new(),
            first_row: 0,
            stiffness: 1.0,
            size: 1.0,
            points: [none; 2],
            axis: none,
            second_axis: none,
            turn: None,
            slide: None,
            limits: None,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: None,
            stick_rate: 1.0,
            drive: None,
            breaking: [f64::INFINITY; 2],
            broken: false,
        }
    }

    #[test]
    fn trees_begin_at_the_world_at_what_is_held_and_else_at_the_heaviest() {
        // a chain 1–0 on the world, a loop 2–3–4 with the heaviest 3, a chain 6–5 on the held 6; 7 has no joint
        let joints = [
            joint(Some(1), 0),
            joint(None, 1),
            joint(Some(2), 3),
            joint(Some(3), 4),
            joint(Some(4), 2),
            joint(Some(5), 6),
        ];
        let tree = Tree::new(&joints, &[9.0, 1.0, 1.0, 2.0, 1.0, 1.0, f64::INFINITY, 1.0]);
        let linked = |body, on, by| Linked { body, on, by };
        let expected = [
            linked(6, None, None),
            linked(1, None, Some(1)),
            linked(5, Some(0), Some(5)),
            linked(0, Some(1), Some(0)),
            linked(3, None, None),
            linked(2, Some(4), Some(2)),
            linked(4, Some(4), Some(3)),
        ];
        assert_eq!(tree.bodies, expected);
        let mut joints = joints;
        joints[0].broken = true;
        let tree = Tree::new(&joints, &[9.0, 1.0, 1.0, 2.0, 1.0, 1.0, f64::INFINITY, 1.0]);
        assert!(!tree.has(0) && tree.has(1) && tree.bodies.len() == 6);
        // of the five joints that are left one closes the loop
        assert!(tree.leaves_out(5) && !tree.leaves_out(4));
    }
}
