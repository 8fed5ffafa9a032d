//! Joints: their equations and coordinates, the energies that meet and move them, what they act with, and in which order bodies hang on
//! each other.

// long: the fields of a joint, and the lists of all joints

mod along;
mod coordinate;
mod coupling;
mod form;
mod law;
mod tendon;
mod term;
mod tree;

pub use along::AlongTerm;
pub use coordinate::Coordinate;
pub use coupling::{Coupling, CouplingTerm};
pub use form::{Form, POINTS, Row};
pub use law::{Capped, Law, Limits};
pub use tendon::{Tendon, span};
pub use term::JointTerm;
pub use tree::{Linked, Tree};

use crate::definition::{DriveDef, JointKind, JointSpring};
use crate::past::Past;
use standoff_linalg::{Vec3, nalgebra::Unit};

/// All joints of a model.
#[derive(Debug, Clone, Default)]
pub struct Joints {
    /// The joints in order of definition.
    pub all: Vec<Joint>,
    /// Joints whose coordinates follow each other.
    pub couplings: Vec<Coupling>,
    /// Sums of coordinates. They are counted after the joints wherever joints are counted as what has a coordinate.
    pub tendons: Vec<Tendon>,
    /// In which order bodies hang on each other.
    pub tree: Tree,
    /// Number of equations of all joints, without couplings.
    pub equations: usize,
    /// Which joints are broken; empty where none can break.
    pub integrity: Vec<Integrity>,
    /// All joints as they were defined; empty where none can break.
    pub intact: Vec<Joint>,
    /// The masses of all bodies, kg, infinite where their motion may be prescribed.
    pub masses: Vec<f64>,
}

/// Whether a joint holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrity {
    /// It does.
    #[default]
    Whole,
    /// It is broken, and what it leaves out of contact still is.
    Broken,
    /// It is broken, and what it left out of contact has come apart: that touches as anything else does.
    Apart,
}

impl Joints {
    /// Number of equations of all joints, without couplings.
    pub fn own_row_count(&self) -> usize {
        self.equations
    }

    /// Takes over which joints are broken; whether that is something new. The others go on as they are.
    pub fn follow(&mut self, integrity: &[Integrity]) -> bool {
        if self.integrity == integrity {
            return false;
        }
        self.integrity = integrity.to_vec();
        for ((joint, intact), integrity) in self.all.iter_mut().zip(&self.intact).zip(integrity) {
            *joint = if *integrity == Integrity::Whole { intact.clone() } else { intact.broken() };
        }
        self.tree = Tree::new(&self.all, &self.masses);
        true
    }

    /// Number of equations of all joints and couplings.
    pub fn row_count(&self) -> usize {
        self.own_row_count() + self.couplings.len()
    }

    /// Number of joints and tendons.
    pub fn count(&self) -> usize {
        self.all.len() + self.tendons.len()
    }

    /// The name of each joint, then of each tendon.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let joints = self.all.iter().map(|j| j.name.as_str());
        joints.chain(self.tendons.iter().map(|t| t.name.as_str()))
    }

    /// What number `k` is a sum of.
    pub fn parts(&self, k: usize) -> Vec<(usize, f64)> {
        match k.checked_sub(self.all.len()) {
            None => vec![(k, 1.0)],
            Some(tendon) => self.tendons[tendon].parts.clone(),
        }
    }

    /// The limits of number `k`.
    pub fn limits(&self, k: usize) -> Option<Limits> {
        match k.checked_sub(self.all.len()) {
            None => self.all[k].limits,
            Some(tendon) => self.tendons[tendon].limits,
        }
    }

    /// Whether the coordinate of joint `k` has limits, of its own or as a part of a tendon.
    pub fn is_limited(&self, k: usize) -> bool {
        let mut tendons = self.tendons.iter().filter(|t| t.limits.is_some());
        self.all[k].limits.is_some() || tendons.any(|t| t.parts.iter().any(|(j, _)| *j == k))
    }

    /// Whether the drive of number `k` can move to a target.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    pub fn accept(&self, k: usize, target: &JointTarget) -> Result<(), &'static str> {
        match k.checked_sub(self.all.len()) {
            None => {
                let joint = &self.all[k];
                target.fits(joint.drive.as_ref(), joint.coordinate().is_some())
            }
            Some(tendon) => target.fits(self.tendons[tendon].drive.as_ref(), true),
        }
    }

    /// Whether some joints close loops.
    pub fn have_loops(&self) -> bool {
        self.tree.leaves_out(self.all.iter().filter(|j| !j.broken).count())
    }

    /// The coordinates of all joints at `x`, after those of the last step.
    pub fn coordinates(&self, x: &[Vec3], before: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let mut own: Vec<[f64; 2]> =
            self.all.iter().zip(before).map(|(joint, b)| joint.coordinates(x, *b)).collect();
        let main = self.main(&own);
        own.extend(self.tendons.iter().map(|t| [0.0, t.sum(&main)]));
        own
    }

    /// Of angles and displacements of all joints and tendons those that joints with one coordinate have, and the sums of tendons.
    pub fn main(&self, coordinates: &[[f64; 2]]) -> Vec<f64> {
        let of = |(k, c): (usize, &[f64; 2])| {
            let turns = self.all.get(k).is_some_and(|joint| joint.turn.is_some());
            if turns { c[0] } else { c[1] }
        };
        coordinates.iter().enumerate().map(of).collect()
    }

    /// The rate of the sum of a tendon at `x` with the velocities `v`.
    pub fn tendon_rate(&self, tendon: &Tendon, x: &[Vec3], v: &[Vec3]) -> f64 {
        let of = |(k, factor): &(usize, f64)| {
            let joint = &self.all[*k];
            let rate = joint.coordinate().map(|c| c.rate(&joint.gather(x), &joint.gather(v)));
            factor * rate.unwrap_or(0.0)
        };
        tendon.parts.iter().map(of).sum()
    }

    /// How the coordinates of joints with an armature move where everything moves like this (`#joints`); zero of others.
    pub fn motion(&self, state: [&[Vec3]; 2], coordinates: &[[f64; 2]], h: f64) -> Vec<Past<f64>> {
        let of = |(joint, s): (&Joint, f64)| {
            let Some(coordinate) = joint.coordinate().filter(|_| joint.armature > 0.0) else {
                return Past::default();
            };
            let [q, v] = state.map(|of| joint.gather(of));
            Past::uniform(s, coordinate.rate(&q, &v), h)
        };
        let own = self.all.iter().zip(self.main(coordinates)).map(of);
        own.chain(self.tendons.iter().map(|_| Past::default())).collect()
    }

    /// Name of a joint or a tendon whose drive has a target that is not finite at the time `end`, s.
    pub fn undefined(&self, end: f64) -> Option<&str> {
        let is_undefined = |drive: &Option<DriveDef>| {
            let targets = drive.iter().flat_map(|d| [&d.position, &d.velocity, &d.effort]);
            targets.flatten().any(|e| !e.at(end).is_finite())
        };
        let joints = self.all.iter().map(|j| (&j.name, &j.drive));
        let mut all = joints.chain(self.tendons.iter().map(|t| (&t.name, &t.drive)));
        all.find(|(_, drive)| is_undefined(drive)).map(|(name, _)| name.as_str())
    }

    /// The greatest error of a joint at `x`, where they have these coordinates, and which one that is.
    pub fn worst(&self, x: &[Vec3], coordinates: &[[f64; 2]]) -> Option<(&Joint, f64)> {
        let own = self.all.iter().map(|j| (j, j.error(x)));
        let main = self.main(coordinates);
        let coupled = self.couplings.iter().map(|c| {
            let joint = &self.all[c.joints[0]];
            (joint, c.error(c.joints.map(|j| main[j])).abs() / joint.size)
        });
        own.chain(coupled).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// Whether all couplings hold for coordinates to a `tolerance` in terms of the size of their first joint, or to rounding.
    pub fn are_coupled(&self, coordinates: &[[f64; 2]], tolerance: f64) -> bool {
        let main = self.main(coordinates);
        self.couplings.iter().all(|c| {
            let [s, other] = c.joints.map(|j| main[j]);
            let rounding =
                DIGITS * f64::EPSILON * c.scale * (1.0 + s.abs() + (c.ratio * other).abs());
            c.error([s, other]).abs() <= (tolerance * self.all[c.joints[0]].size).max(rounding)
        })
    }
}

/// A joint of a model.
#[derive(Debug, Clone)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// Index of the body that carries the axis; `None` for the world.
    pub parent: Option<usize>,
    /// Index of the other body.
    pub child: usize,
    /// The control points of the child, then those of the parent.
    pub stencil: Vec<u32>,
    /// The equations.
    pub rows: Vec<Row>,
    /// Number of the first one among those of all joints.
    pub first_row: usize,
    /// k, N/m.
    pub stiffness: f64,
    /// Radius of the smaller body, m, in terms of which errors are.
    pub size: f64,
    /// The joint's point on the child and on the parent.
    pub points: [Form; 2],
    /// The axis on the parent, a unit vector at the start.
    pub axis: Form,
    /// The second axis of a universal joint on the child, a unit vector at the start.
    pub second_axis: Form,
    /// The angle about the axis, where the joint turns about one.
    pub turn: Option<Coordinate>,
    /// The displacement along the axis, or the distance, where that is free.
    pub slide: Option<Coordinate>,
    /// Limits of the coordinate.
    pub limits: Option<Limits>,
    /// Damping of the coordinate, N m s/rad or N s/m.
    pub damping: f64,
    /// Dry friction of the coordinate, N m or N.
    pub friction: f64,
    /// Inertia along the coordinate beside that of the bodies, kg m² or kg.
    pub armature: f64,
    /// What pulls the coordinate back.
    pub spring: Option<JointSpring>,
    /// Rate up to which dry friction grows, rad/s or m/s.
    pub stick_rate: f64,
    /// What moves the coordinate.
    pub drive: Option<DriveDef>,
    /// The force (N) and the moment about its point (N m) that its equations bear at most.
    pub breaking: [f64; 2],
    /// Whether it is broken: it has neither equations nor coordinates then.
    pub broken: bool,
}

/// What acts on the child of a joint along its coordinate, N m or N.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Efforts {
    /// Of the drive.
    pub drive: f64,
    /// Of the spring.
    pub spring: f64,
    /// Of damping, friction and the inertia of the armature.
    pub resistance: f64,
    /// Of a limit.
    pub limit: f64,
    /// Of couplings.
    pub coupling: f64,
}

/// What a user sets of a drive between steps, each in place of what the definition says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointTarget {
    /// Coordinate, rad or m.
    pub position: Option<f64>,
    /// Its rate, rad/s or m/s.
    pub velocity: Option<f64>,
    /// What is added to the force, N m or N.
    pub effort: Option<f64>,
}

impl JointTarget {
    /// Whether the drive of a joint or a tendon, with a coordinate or without, can move to it.
    ///
    /// # Errors
    /// A sentence that says what is missing.
    fn fits(&self, drive: Option<&DriveDef>, has_coordinate: bool) -> Result<(), &'static str> {
        let gain = |of: fn(&DriveDef) -> f64| drive.is_some_and(|d| of(d) > 0.0);
        if !self.given().all(f64::is_finite) {
            return Err("a target is not a finite number");
        }
        if self.given().next().is_some() && !has_coordinate {
            return Err(
                "it is broken or has no single coordinate to move: revolute and prismatic joints have one",
            );
        }
        if self.position.is_some() && !gain(|d| d.stiffness) {
            return Err("a position needs a drive with a stiffness");
        }
        if self.velocity.is_some() && !gain(|d| d.damping) {
            return Err("a velocity needs a drive with damping");
        }
        Ok(())
    }

    /// What is set.
    pub fn given(&self) -> impl Iterator<Item = f64> {
        [self.position, self.velocity, self.effort].into_iter().flatten()
    }
}

/// Digits of rounding that an equation may lose.
const DIGITS: f64 = 16.0;

impl Joint {
    /// The control points of a joint in a list of all vertices; zeros for those of the world.
    pub fn gather(&self, of: &[Vec3]) -> [Vec3; POINTS] {
        let mut q = [Vec3::zeros(); POINTS];
        for (q, &v) in q.iter_mut().zip(&self.stencil) {
            *q = of[v as usize];
        }
        q
    }

    /// The greatest magnitude of an equation at `x`, in terms of the joint's size.
    pub fn error(&self, x: &[Vec3]) -> f64 {
        let q = self.gather(x);
        self.rows.iter().map(|row| row.value(&q).abs()).fold(0.0, f64::max) / self.size
    }

    /// Whether all equations hold at `x` to a `tolerance` in terms of the joint's size, or to rounding.
    pub fn is_met(&self, x: &[Vec3], tolerance: f64) -> bool {
        let q = self.gather(x);
        self.rows.iter().all(|row| {
            let c = row.value(&q).abs();
            c <= tolerance * self.size || c <= DIGITS * row.rounding(&q)
        })
    }

    /// Whether its equations bear more with these multipliers (N) at `x` than it does.
    pub fn breaks(&self, multipliers: &[f64], x: &[Vec3]) -> bool {
        let [force, moment] = self.reaction(multipliers, x);
        let [most_force, most_moment] = self.breaking;
        !self.broken && (force.norm() > most_force || moment.norm() > most_moment)
    }

    /// The same joint, broken.
    fn broken(&self) -> Self {
        Self {
            rows: Vec::new(),
            turn: None,
            slide: None,
            limits: None,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: None,
            drive: None,
            broken: true,
            ..self.clone()
        }
    }

    /// The coordinate of a joint that has one only.
    pub fn coordinate(&self) -> Option<&Coordinate> {
        match (&self.turn, &self.slide) {
            (Some(one), None) | (None, Some(one)) => Some(one),
            _ => None,
        }
    }

    /// The joint's point on the child at `x`, m.
    pub fn point(&self, x: &[Vec3]) -> Vec3 {
        self.points[0].at(&self.gather(x))
    }

    /// The direction of the axis at `x`; none of what has no axis.
    pub fn direction(&self, x: &[Vec3]) -> Option<Unit<Vec3>> {
        let axis = || Unit::try_new(self.axis.at(&self.gather(x)), 0.0);
        self.kind.has_axis().then(axis).flatten()
    }

    /// Force (N) and moment about the joint's point (N m) on the child at `x`, where the equations have these multipliers (N).
    pub fn reaction(&self, multipliers: &[f64], x: &[Vec3]) -> [Vec3; 2] {
        let (q, about) = (self.gather(x), self.point(x));
        let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
        for (row, multiplier) in self.rows.iter().zip(multipliers) {
            let gradient = row.gradient(&q);
            for k in 0..POINTS / 2 {
                force -= *multiplier * gradient[k];
                moment -= *multiplier * (q[k] - about).cross(&gradient[k]);
            }
        }
        [force, moment]
    }

    /// Angle about the axis (rad) and displacement along it, or distance (m), zeros for what is not free. The angle is the one nearest to
    /// `before`.
    pub fn coordinates(&self, x: &[Vec3], before: [f64; 2]) -> [f64; 2] {
        let q = self.gather(x);
        let value = |c: &Option<Coordinate>, near| c.as_ref().map_or(0.0, |c| c.value(&q, near));
        [value(&self.turn, before[0]), value(&self.slide, before[1])]
    }

    /// The rates of the coordinates (rad/s, m/s) at `x` with the velocities `v`.
    pub fn rates(&self, x: &[Vec3], v: &[Vec3]) -> [f64; 2] {
        let (q, dq) = (self.gather(x), self.gather(v));
        [&self.turn, &self.slide].map(|c| c.as_ref().map_or(0.0, |c| c.rate(&q, &dq)))
    }
}
