//! How bodies with joints go along a direction.
//!
//! On straight lines a turn by θ opens a joint at the distance L by θ² L/2, and even where every body turns by itself about its own
//! centre: the stiff energy of joints would cut every iteration down to tiny turns. Bodies therefore go along the spanning tree of the
//! joints: T_child(α) = T_parent(α) · M(α), where M is a motion that the joint lets free, of universal joints and distances two turns one after
//! the other. Its twist at α = 0 is that of the child relative to the parent, without what the joint does not let free. What is left of the direction, the joint's own error and the stretch of the
//! body, is added before the body is moved, so that the path is x + α p to first order.
//!
//! A coordinate with limits goes linearly in α. Close to a limit its second order, which comes from what is left of the direction, would be far more
//! than the gap, and cut every iteration.

use crate::definition::JointKind;
use crate::joints::{Joint, Joints, POINTS};
use crate::model::Model;
use standoff_linalg::nalgebra::Rotation3;
use standoff_linalg::{Mat3, Vec3};
use std::ops::Range;

/// The bodies with joints, in the order of the tree.
#[derive(Debug)]
pub struct Linkage<'a> {
    joints: &'a Joints,
    links: Vec<Link>,
}

/// How one body goes.
#[derive(Debug)]
struct Link {
    control: Range<usize>,
    /// Place of the body that it hangs on.
    on: Option<usize>,
    /// The motion relative to that body: the first one after the second.
    relative: [Screw; 2],
    /// The centre of the body.
    centre: Vec3,
    /// Velocity of the centre and spin of the whole motion.
    whole: Twist,
    /// What is left of the direction: an affine map about the centre.
    left: Affine,
    /// The coordinate of the joint by which it hangs, where that has limits.
    limited: Option<Limited>,
}

/// A coordinate with limits along a direction.
#[derive(Debug, Clone, Copy)]
struct Limited {
    joint: usize,
    /// Whether the body is the child of the joint.
    is_child: bool,
    start: f64,
    rate: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Twist {
    velocity: Vec3,
    spin: Vec3,
}

/// A motion along and about a line, or a straight one.
#[derive(Debug, Clone, Copy, Default)]
struct Screw {
    /// A point that has the velocity of `twist`.
    about: Vec3,
    twist: Twist,
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

impl<'a> Linkage<'a> {
    /// How bodies go from `x` along `p` (`#V`); none where no body has a joint.
    pub fn new(model: &'a Model, x: &[Vec3], p: &[Vec3]) -> Option<Self> {
        let joints = &model.joints;
        let tree = &model.joints.tree.bodies;
        let mut links: Vec<Link> = Vec::with_capacity(tree.len());
        for linked in tree {
            let control = model.bodies[linked.body].unknowns.clone();
            let (centre, direction) = Affine::of(&control, x, p)?;
            let own = Twist { velocity: direction.shift, spin: direction.spin() };
            let joint = linked.by.map(|k| &model.joints.all[k]);
            let parent = linked.on.map(|place| &links[place]);
            let carried = |at: &Vec3| parent.map_or(Twist::default(), |on| on.at(at));
            let relative = |at: &Vec3| {
                let by_parent = carried(at);
                Twist {
                    velocity: own.velocity + own.spin.cross(&(at - centre)) - by_parent.velocity,
                    spin: own.spin - by_parent.spin,
                }
            };
            let relative = match joint {
                Some(joint) => free_part(joint, linked.body, x, relative),
                None => [Screw { about: centre, twist: relative(&centre) }, Screw::default()],
            };
            let whole = relative.iter().fold(carried(&centre), |sum, screw| {
                let own = screw.at(&centre);
                Twist { velocity: sum.velocity + own.velocity, spin: sum.spin + own.spin }
            });
            let left = Affine {
                shift: direction.shift - whole.velocity,
                map: direction.map - whole.spin.cross_matrix(),
            };
            let limited = linked.by.and_then(|k| Limited::of(joints, k, linked.body, x, p));
            links.push(Link { control, on: linked.on, relative, centre, whole, left, limited });
        }
        (!links.is_empty()).then_some(Self { joints, links })
    }

    /// The fastest spin of a body, or of one relative to another, rad.
    pub fn fastest(&self) -> f64 {
        let spins = self.links.iter().flat_map(|l| {
            let [first, second] = l.relative.map(|screw| screw.twist.spin);
            [l.whole.spin, first, second]
        });
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
            let [first, second] = link.relative.map(|screw| screw.motion(alpha));
            let own = first.after(second);
            let mut motion = match link.on {
                Some(place) => motions[place].after(own),
                None => own,
            };
            let place = |motion: &Motion, out: &mut [Vec3]| {
                for v in link.control.clone() {
                    let d = x[v] - link.centre;
                    let stretched = x[v] + alpha * (link.left.shift + link.left.map * d);
                    out[v] = motion.turn * stretched + motion.shift - x[v];
                }
            };
            place(&motion, out);
            if let Some(back) = link.limited.and_then(|l| l.correction(self.joints, x, alpha, out))
            {
                motion = back.after(motion);
                place(&motion, out);
            }
            motions.push(motion);
        }
    }
}

impl Limited {
    /// The coordinate of joint `k`, by which `body` hangs; none without limits.
    fn of(joints: &Joints, k: usize, body: usize, x: &[Vec3], p: &[Vec3]) -> Option<Self> {
        let joint = joints.all.get(k).filter(|_| joints.is_limited(k))?;
        let coordinate = joint.coordinate()?;
        let q = joint.gather(x);
        let rate = coordinate.rate(&q, &joint.gather(p));
        let start = coordinate.value(&q, 0.0);
        Some(Self { joint: k, is_child: body == joint.child, start, rate })
    }

    /// The motion of the body, along what the joint lets free, that puts the coordinate where it is in first order: one Newton step; none where
    /// nothing moves it.
    fn correction(
        &self,
        joints: &Joints,
        x: &[Vec3],
        alpha: f64,
        displacement: &[Vec3],
    ) -> Option<Motion> {
        let joint = &joints.all[self.joint];
        let coordinate = joint.coordinate()?;
        let (mut q, moved) = (joint.gather(x), joint.gather(displacement));
        q.iter_mut().zip(&moved).for_each(|(q, d)| *q += d);
        let goal = self.start + alpha * self.rate;
        let miss = goal - coordinate.value(&q, goal);
        let [on_child, on_parent] = joint.points.map(|point| point.at(&q));
        let along = match joint.kind {
            JointKind::Distance => on_child - on_parent,
            _ => joint.axis.at(&q),
        };
        let along = along.try_normalize(0.0)?;
        let twist = match joint.kind {
            JointKind::Revolute => Twist { velocity: Vec3::zeros(), spin: along },
            _ => Twist { velocity: along, spin: Vec3::zeros() },
        };
        let unit = Screw { about: on_child, twist };
        let own = if self.is_child { 0..POINTS / 2 } else { POINTS / 2..POINTS };
        let gradient = coordinate.gradient(&q);
        let rate: f64 = own.map(|k| gradient[k].dot(&unit.at(&q[k]).velocity)).sum();
        let amount = miss / rate;
        amount.is_finite().then(|| unit.motion(amount))
    }
}

impl Link {
    /// The twist of the body, with the velocity at a point.
    fn at(&self, point: &Vec3) -> Twist {
        let velocity = self.whole.velocity + self.whole.spin.cross(&(point - self.centre));
        Twist { velocity, spin: self.whole.spin }
    }
}

impl Screw {
    /// Its twist, with the velocity at a point.
    fn at(&self, point: &Vec3) -> Twist {
        let Twist { velocity, spin } = self.twist;
        Twist { velocity: velocity + spin.cross(&(point - self.about)), spin }
    }

    /// The motion after a time `alpha`.
    fn motion(&self, alpha: f64) -> Motion {
        let Twist { velocity, spin } = self.twist;
        let turn = Rotation3::from_scaled_axis(alpha * spin).into_inner();
        Motion { turn, shift: self.about + alpha * velocity - turn * self.about }
    }
}

impl Motion {
    /// This motion after another one.
    fn after(&self, first: Self) -> Self {
        Self { turn: self.turn * first.turn, shift: self.turn * first.shift + self.shift }
    }
}

/// The part of the motion of a `body` relative to the other one of a joint that the joint lets free; `relative` is the twist with the velocity at a
/// point.
fn free_part(
    joint: &Joint,
    body: usize,
    x: &[Vec3],
    relative: impl Fn(&Vec3) -> Twist,
) -> [Screw; 2] {
    let q = joint.gather(x);
    let [on_child, on_parent] = joint.points.map(|p| p.at(&q));
    let is_child = body == joint.child;
    let about = on_child;
    let Twist { velocity, spin } = relative(&about);
    let along = |v: Vec3| joint.direction(x).map_or(Vec3::zeros(), |a| a.dot(&v) * a.into_inner());
    let none = Vec3::zeros();
    let turn = |about: Vec3, spin: Vec3| Screw { about, twist: Twist { velocity: none, spin } };
    let one = |velocity: Vec3, spin: Vec3| {
        [Screw { about, twist: Twist { velocity, spin } }, Screw::default()]
    };
    match joint.kind {
        JointKind::Spherical => one(none, spin),
        JointKind::Revolute => one(none, along(spin)),
        JointKind::Fixed => one(none, none),
        JointKind::Prismatic => one(along(velocity), none),
        JointKind::Cylindrical => one(along(velocity), along(spin)),
        JointKind::Planar => one(velocity - along(velocity), along(spin)),
        JointKind::Universal => {
            let second = joint.second_axis.at(&q).try_normalize(0.0).unwrap_or(none);
            let [first, second] = [along(spin), second.dot(&spin) * second];
            // the axis of the other body comes first
            let order = if is_child { [first, second] } else { [second, first] };
            order.map(|spin| turn(about, spin))
        }
        JointKind::Distance => {
            // about the point of the other body, and by itself about its own point
            let [own, other] = if is_child { [on_child, on_parent] } else { [on_parent, on_child] };
            let offset = own - other;
            let Twist { velocity, spin } = relative(&own);
            let about_other = offset.cross(&velocity) / offset.norm_squared();
            let radial = match joint.slide {
                // a distance within limits may change
                Some(_) => offset.dot(&velocity) / offset.norm_squared() * offset,
                None => none,
            };
            let first = Screw { about: other, twist: Twist { velocity: none, spin: about_other } };
            let second = Twist { velocity: radial, spin: spin - about_other };
            [first, Screw { about: own, twist: second }]
        }
    }
}
