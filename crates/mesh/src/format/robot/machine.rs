//! A robot as bodies that move, and the joints between them.

use super::super::affine::Affine;
use crate::{Mesh, Names};
use standoff_linalg::{Mat3, Vec3};

/// The bodies and the joints of a model, where it starts.
///
/// Links that nothing moves relative to each other are one body. The first body is what stands still.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Machine {
    /// The bodies.
    pub links: Vec<Link>,
    /// The joints.
    pub joints: Vec<Hinge>,
    /// Pairs of bodies that do not touch each other although no joint joins them.
    pub apart: Vec<[usize; 2]>,
}

/// A body of a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    /// Its name, unique among them.
    pub name: String,
    /// Its collision geometry, one surface where it starts; empty without any.
    pub mesh: Mesh,
    /// Its mass properties, if the file gives them or says what its geometry is filled with.
    pub inertial: Option<Inertial>,
    /// Which geometry it touches: MuJoCo's contype and conaffinity.
    pub(super) masks: [u32; 2],
}

/// Mass properties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertial {
    /// Mass, kg.
    pub mass: f64,
    /// Centre, m.
    pub centre: Vec3,
    /// Inertia tensor about the centre, along the axes of the world, kg m².
    pub inertia: Mat3,
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
    /// What drives it.
    pub drive: Option<Drive>,
    /// The joint that it follows: its name, the ratio and the offset.
    pub mimic: Option<(String, f64, f64)>,
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

/// Body number 0: what stands still.
pub(super) const STILL: usize = 0;

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
            drive: None,
            mimic: None,
        });
        let last = self.machine.joints.len() - 1;
        &mut self.machine.joints[last]
    }

    /// Adds geometry to a body.
    pub(super) fn add(&mut self, link: usize, mesh: &Mesh, place: &Affine) {
        let own = &mut self.machine.links[link].mesh;
        let first = own.points.len() as u32;
        own.points.extend(mesh.points.iter().map(|p| place.apply(p)));
        let mirrors = place.mirrors();
        own.triangles.extend(mesh.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| v + first);
            if mirrors { [a, c, b] } else { [a, b, c] }
        }));
    }

    /// Adds mass properties, which are given along the axes of `place` about a centre at its origin.
    pub(super) fn add_inertial(&mut self, link: usize, mass: f64, inertia: &Mat3, place: &Affine) {
        let turned = place.linear * inertia * place.linear.transpose();
        let added = Inertial { mass, centre: place.shift, inertia: turned };
        let own = &mut self.machine.links[link].inertial;
        *own = Some(own.map_or(added, |i| i.with(&added)));
    }
}

impl Inertial {
    /// The mass properties of what a closed surface with outward triangles holds, filled with a `density` (kg/m³); none without a volume.
    pub fn of_surface(mesh: &Mesh, density: f64) -> Option<Self> {
        let about = mesh.points.first()?;
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| mesh.points[v as usize] - about);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += v / 4.0 * sum;
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += v / 20.0 * (squares + sum * sum.transpose());
        }
        let centre = first / volume;
        let second = density * (second - volume * centre * centre.transpose());
        let inertia = Mat3::from_diagonal_element(second.trace()) - second;
        (volume > 0.0).then_some(Self { mass: density * volume, centre: about + centre, inertia })
    }

    /// The mass properties of both together.
    fn with(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            return *self;
        }
        let centre = (self.mass * self.centre + other.mass * other.centre) / mass;
        let about = |i: &Self| {
            let d = i.centre - centre;
            let steiner = Mat3::from_diagonal_element(d.norm_squared()) - d * d.transpose();
            i.inertia + i.mass * steiner
        };
        Self { mass, centre, inertia: about(self) + about(other) }
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

/// The coordinates of joints at which a machine starts, by name: those that are not named are zero, or at the reference of the file.
pub type Pose = std::collections::BTreeMap<String, f64>;
