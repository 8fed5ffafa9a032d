//! How bodies with joints go along a direction.
//!
//! On straight lines a turn by θ opens a joint at the distance L by θ² L/2, and even where every body turns by itself about its own
//! centre: the stiff energy of joints would cut every iteration down to tiny turns. Bodies therefore go along the spanning tree of the
//! joints: T_child(α) = T_parent(α) · M(α), where M is a motion that the joint lets free. Its twist at α = 0 is that of the child relative
//! to the parent, without what the joint does not let free. What is left of the direction, the joint's own error and the stretch of the
//! body, is added before the body is moved, so that the path is x + α p to first order.

use crate::definition::JointKind;
use crate::joints::Joint;
use crate::model::Model;
use standoff_linalg::nalgebra::Rotation3;
use standoff_linalg::{Mat3, Vec3};
use std::ops::Range;

/// The bodies with joints, in the order of the tree.
#[derive(Debug)]
pub struct Linkage {
    links: Vec<Link>,
}

/// How one body goes.
#[derive(Debug)]
struct Link {
    control: Range<usize>,
    /// Place of the body that it hangs on.
    on: Option<usize>,
    /// Where the motion relative to that body is about.
    about: Vec3,
    /// Velocity there and spin of that motion.
    relative: Twist,
    /// The centre of the body.
    centre: Vec3,
    /// Velocity of the centre and spin of the whole motion.
    whole: Twist,
    /// What is left of the direction: an affine map about the centre.
    left: Affine,
}

#[derive(Debug, Clone, Copy, Default)]
struct Twist {
    velocity: Vec3,
    spin: Vec3,
}

/// d ↦ shift + map d.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Affine {
    pub shift: Vec3,
    pub map: Mat3,
}

/// A motion x ↦ turn x + shift.
#[derive(Debug, Clone, Copy)]
struct Motion {
    turn: Mat3,
    shift: Vec3,
}

impl Affine {
    /// The centre of control points at `x`, and the map that a direction is about it; none where the points span nothing.
    pub fn of(control: &Range<usize>, x: &[Vec3], p: &[Vec3]) -> Option<(Vec3, Self)> {
        let mean = |of: &[Vec3]| of[control.clone()].iter().sum::<Vec3>() / control.len() as f64;
        let (centre, shift) = (mean(x), mean(p));
        let (mut moved, mut second) = (Mat3::zeros(), Mat3::zeros());
        for v in control.clone() {
            let d = x[v] - centre;
            moved += (p[v] - shift) * d.transpose();
            second += d * d.transpose();
        }
        Some((centre, Self { shift, map: moved * second.try_inverse()? }))
    }

    /// The spin of its skew part.
    pub fn spin(&self) -> Vec3 {
        let skew = 0.5 * (self.map - self.map.transpose());
        Vec3::new(skew[(2, 1)], skew[(0, 2)], skew[(1, 0)])
    }
}

impl Linkage {
    /// How bodies go from `x` along `p` (`#V`); none where no body has a joint.
    pub fn new(model: &Model, x: &[Vec3], p: &[Vec3]) -> Option<Self> {
        let tree = &model.joints.tree.bodies;
        let mut links: Vec<Link> = Vec::with_capacity(tree.len());
        for linked in tree {
            let control = model.bodies[linked.body].unknowns.clone();
            let (centre, direction) = Affine::of(&control, x, p)?;
            let own = Twist { velocity: direction.shift, spin: direction.spin() };
            let joint = linked.by.map(|k| &model.joints.all[k]);
            let about = joint.map_or(centre, |j| j.point(x));
            let parent = linked.on.map(|place| &links[place]);
            let carried = |at: &Vec3| parent.map_or(Twist::default(), |on| on.at(at));
            let by_parent = carried(&about);
            let relative = Twist {
                velocity: own.velocity + own.spin.cross(&(about - centre)) - by_parent.velocity,
                spin: own.spin - by_parent.spin,
            };
            let relative = joint.map_or(relative, |j| free_part(j, x, relative));
            let by_parent = carried(&centre);
            let whole = Twist {
                velocity: by_parent.velocity
                    + relative.velocity
                    + relative.spin.cross(&(centre - about)),
                spin: by_parent.spin + relative.spin,
            };
            let left = Affine {
                shift: direction.shift - whole.velocity,
                map: direction.map - whole.spin.cross_matrix(),
            };
            links.push(Link { control, on: linked.on, about, relative, centre, whole, left });
        }
        (!links.is_empty()).then_some(Self { links })
    }

    /// The fastest spin of a body, or of one relative to another, rad.
    pub fn fastest(&self) -> f64 {
        let spins = self.links.iter().flat_map(|l| [l.whole.spin, l.relative.spin]);
        spins.map(|s| s.norm()).fold(0.0, f64::max)
    }

    /// Puts the velocities of control points by the motions of the joints alone into `out`.
    #[cfg(test)]
    pub fn free(&self, x: &[Vec3], out: &mut [Vec3]) {
        for link in &self.links {
            link.control.clone().for_each(|v| out[v] = link.at(&x[v]).velocity);
        }
    }

    /// Puts the displacements of control points after a step of length `alpha` from `x` into `out`.
    pub fn displace(&self, x: &[Vec3], alpha: f64, out: &mut [Vec3]) {
        let mut motions: Vec<Motion> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let Twist { velocity, spin } = link.relative;
            let turn = Rotation3::from_scaled_axis(alpha * spin).into_inner();
            let own = Motion { turn, shift: link.about + alpha * velocity - turn * link.about };
            let motion = match link.on {
                Some(place) => motions[place].after(own),
                None => own,
            };
            for v in link.control.clone() {
                let d = x[v] - link.centre;
                let stretched = x[v] + alpha * (link.left.shift + link.left.map * d);
                out[v] = motion.turn * stretched + motion.shift - x[v];
            }
            motions.push(motion);
        }
    }
}

impl Link {
    /// The twist of the body, with the velocity at a point.
    fn at(&self, point: &Vec3) -> Twist {
        let velocity = self.whole.velocity + self.whole.spin.cross(&(point - self.centre));
        Twist { velocity, spin: self.whole.spin }
    }
}

impl Motion {
    /// This motion after another one.
    fn after(&self, first: Self) -> Self {
        Self { turn: self.turn * first.turn, shift: self.turn * first.shift + self.shift }
    }
}

/// The part of a twist about a joint's point that the joint lets free.
fn free_part(joint: &Joint, x: &[Vec3], twist: Twist) -> Twist {
    let along = |v: Vec3| joint.direction(x).map_or(Vec3::zeros(), |a| a.dot(&v) * a.into_inner());
    let Twist { velocity, spin } = twist;
    let none = Vec3::zeros();
    match joint.kind {
        JointKind::Spherical => Twist { velocity: none, spin },
        JointKind::Revolute => Twist { velocity: none, spin: along(spin) },
        JointKind::Fixed => Twist::default(),
        JointKind::Prismatic => Twist { velocity: along(velocity), spin: none },
        JointKind::Cylindrical => Twist { velocity: along(velocity), spin: along(spin) },
        JointKind::Planar => Twist { velocity: velocity - along(velocity), spin: along(spin) },
    }
}
