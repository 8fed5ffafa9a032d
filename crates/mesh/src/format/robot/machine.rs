//! A robot as bodies that move, and the joints between them.

use super::super::affine::Affine;
use crate::{Mesh, Names};
use standoff_linalg::{Mat3, Vec3};
use std::collections::BTreeMap;

/// The bodies and the joints of a model, where it starts.
///
/// Links that nothing moves relative to each other are one body. The first body is what stands still.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// The bodies.
    pub links: Vec<Link>,
    /// The joints.
    pub joints: Vec<Hinge>,
    /// Sums of coordinates of joints.
    pub tendons: Vec<Tendon>,
    /// Pairs of bodies that do not touch each other although no joint joins them.
    pub apart: Vec<[usize; 2]>,
    /// The mass to which all bodies together are scaled, kg.
    pub total_mass: Option<f64>,
}

/// A body of a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Its name, unique among them.
    pub name: String,
    /// Its collision geometry, one surface where it starts; empty without any.
    pub mesh: Mesh,
    /// What its mass is made of, as far as the file says it.
    pub matter: Vec<Matter>,
    /// The body of which it is a small part: it stands between two joints of that.
    pub between: Option<usize>,
    /// Angular velocity where it starts, rad/s, and the velocity of its point at the origin, m/s.
    pub twist: [Vec3; 2],
    /// Which geometry it touches: MuJoCo's contype and conaffinity.
    pub(super) masks: [u32; 2],
}

/// A part of the mass of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Matter {
    /// Mass properties that the file gives.
    Given {
        /// Mass, kg.
        mass: f64,
        /// Centre, m.
        centre: Vec3,
        /// Inertia tensor about the centre, along the axes of the world, kg m².
        inertia: Mat3,
    },
    /// The inside of a closed surface, where it starts.
    Filled {
        /// The surface.
        surface: Mesh,
        /// Its mass, kg; without one its density counts.
        mass: Option<f64>,
        /// Its density, kg/m³, if the file gives one.
        density: Option<f64>,
    },
}

/// What a joint lets free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HingeKind {
    /// Turns about an axis.
    Revolute,
    /// Displacements along an axis.
    Prismatic,
    /// Turns about a point.
    Spherical,
    /// Displacements in a plane and turns about its normal.
    Planar,
    /// Nothing.
    Fixed,
}

/// A joint of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Hinge {
    /// Its name, unique among them.
    pub name: String,
    /// What it lets free.
    pub kind: HingeKind,
    /// Indices of the body with the axis and of the other one.
    pub links: [usize; 2],
    /// Its point where the machine starts, m.
    pub point: Vec3,
    /// Its axis there.
    pub axis: Vec3,
    /// Its coordinate there, rad or m.
    pub start: f64,
    /// The least and the greatest value of the coordinate.
    pub limits: Option<[f64; 2]>,
    /// Damping, N m s/rad or N s/m.
    pub damping: f64,
    /// Dry friction, N m or N.
    pub friction: f64,
    /// Inertia of a rotor, kg m² or kg.
    pub armature: f64,
    /// What pulls it back.
    pub spring: Option<Spring>,
    /// What drives it.
    pub drive: Option<Drive>,
    /// The joint that it follows: its name, the ratio and the offset.
    pub mimic: Option<(String, f64, f64)>,
}

/// A sum of coordinates of joints, and what acts along it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tendon {
    /// Its name, unique among joints and tendons.
    pub name: String,
    /// The joints and the factors of their coordinates.
    pub joints: Vec<(String, f64)>,
    /// The least and the greatest value of the sum.
    pub limits: Option<[f64; 2]>,
    /// Damping.
    pub damping: f64,
    /// Dry friction.
    pub friction: f64,
    /// What pulls it back.
    pub spring: Option<Spring>,
    /// What drives it.
    pub drive: Option<Drive>,
}

/// A drive: stiffness · (position − s) + damping · (velocity − rate of s) + effort, at most `max_effort`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drive {
    /// Position, rad or m.
    pub position: Option<f64>,
    /// Velocity, rad/s or m/s.
    pub velocity: Option<f64>,
    /// Effort, N m or N.
    pub effort: Option<f64>,
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// N m or N.
    pub max_effort: Option<f64>,
}

/// A spring: stiffness · (rest − s).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// rad or m.
    pub rest: f64,
}

impl Drive {
    /// The drive that acts as both together; none where one of them has a cap.
    pub(super) fn with(&self, other: &Self) -> Option<Self> {
        if self.max_effort.or(other.max_effort).is_some() {
            return None;
        }
        let sum = |a: Option<f64>, b: Option<f64>| a.map_or(b, |a| Some(a + b.unwrap_or(0.0)));
        // gains pull at the mean of their targets
        let mean = |of: fn(&Self) -> Option<f64>, gain: fn(&Self) -> f64| {
            let weighted = |d: &Self| of(d).map(|target| gain(d) * target);
            let whole =
                [self, other].into_iter().filter(|d| of(d).is_some()).map(gain).sum::<f64>();
            sum(weighted(self), weighted(other)).filter(|_| whole > 0.0).map(|w| w / whole)
        };
        Some(Self {
            position: mean(|d| d.position, |d| d.stiffness),
            velocity: mean(|d| d.velocity, |d| d.damping),
            effort: sum(self.effort, other.effort),
            stiffness: self.stiffness + other.stiffness,
            damping: self.damping + other.damping,
            max_effort: None,
        })
    }
}

/// Body number 0: what stands still.
pub const STILL: usize = 0;

/// The machine under construction.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    pub(super) machine: Machine,
    names: Names,
    joint_names: Names,
}

impl Assembly {
    /// A machine of what stands still only.
    pub(super) fn new() -> Self {
        let mut assembly = Self::default();
        assembly.link("base");
        assembly
    }

    /// A new body.
    pub(super) fn link(&mut self, name: &str) -> usize {
        let name = self.names.free(if name.is_empty() { "link" } else { name });
        self.machine.links.push(Link { name, ..Link::default() });
        self.machine.links.len() - 1
    }

    /// A new joint, of which the kind, the bodies, the place and the coordinate are known.
    pub(super) fn hinge(
        &mut self,
        name: &str,
        kind: HingeKind,
        links: [usize; 2],
        [point, axis]: [Vec3; 2],
        start: f64,
    ) -> &mut Hinge {
        let name = self.joint_names.free(if name.is_empty() { "joint" } else { name });
        self.machine.joints.push(Hinge {
            name,
            kind,
            links,
            point,
            axis,
            start,
            limits: None,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: None,
            drive: None,
            mimic: None,
        });
        let last = self.machine.joints.len() - 1;
        &mut self.machine.joints[last]
    }

    /// A new tendon, of which nothing but the name is known.
    pub(super) fn tendon(&mut self, name: &str) -> &mut Tendon {
        let name = self.joint_names.free(if name.is_empty() { "tendon" } else { name });
        self.machine.tendons.push(Tendon { name, ..Tendon::default() });
        let last = self.machine.tendons.len() - 1;
        &mut self.machine.tendons[last]
    }

    /// Adds geometry to a body.
    pub(super) fn add(&mut self, link: usize, mesh: &Mesh) {
        let own = &mut self.machine.links[link].mesh;
        let first = own.points.len() as u32;
        own.points.extend_from_slice(&mesh.points);
        own.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    /// Adds given mass properties to a body, which count along the axes of `place` about a centre at its origin.
    pub(super) fn add_given(&mut self, link: usize, mass: f64, inertia: &Mat3, place: &Affine) {
        let inertia = place.linear * inertia * place.linear.transpose();
        self.machine.links[link].matter.push(Matter::Given { mass, centre: place.shift, inertia });
    }
}

/// A surface where it is placed.
pub(super) fn placed(mesh: &Mesh, place: &Affine) -> Mesh {
    let turned = |[a, b, c]: [u32; 3]| if place.mirrors() { [a, c, b] } else { [a, b, c] };
    Mesh {
        points: mesh.points.iter().map(|p| place.apply(p)).collect(),
        triangles: mesh.triangles.iter().map(|t| turned(*t)).collect(),
        ..Mesh::default()
    }
}

/// The motion of a joint about a point by its coordinate.
pub(super) fn motion(kind: HingeKind, point: &Vec3, axis: &Vec3, by: f64) -> Affine {
    match kind {
        HingeKind::Revolute => {
            let turn = super::super::affine::about(*axis, by).unwrap_or_else(Mat3::identity);
            Affine { linear: turn, shift: point - turn * point }
        }
        HingeKind::Prismatic => {
            Affine::translation(by * axis.try_normalize(0.0).unwrap_or(Vec3::zeros()))
        }
        HingeKind::Spherical | HingeKind::Planar | HingeKind::Fixed => Affine::identity(),
    }
}

/// How a robot is read, and where it starts. Joints that nothing names are at zero, or at the reference of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RobotOptions {
    /// Coordinates of joints by name, rad or m, also of those that the keyframe places.
    pub pose: BTreeMap<String, f64>,
    /// A keyframe of MuJoCo, by its name or its number from 0: coordinates, velocities and controls.
    pub keyframe: Option<String>,
    /// Whether meshes touch as their convex hulls, as in MuJoCo, and not as they are.
    pub hulls: bool,
}
