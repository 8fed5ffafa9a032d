//! Definition of a simulation: plain data in SI units, complete before the simulator is built.
//!
//! A scene file, a script or a test fills these structs; `Simulation::new` checks them.

// long: the parts of a definition, each with the documentation of its fields

mod carried;
mod dimension;
pub mod expression;
mod fibres;
mod joints;
mod parts;
pub mod presets;
mod rigid;
pub mod settings;
mod springs;
mod ties;
pub mod validate;

pub use carried::CarriedSurface;
pub use dimension::{AXISYMMETRIC, Dimension};
pub use fibres::FibreFamily;
pub use joints::{DriveDef, JointDef, JointKind, JointSpring, MimicDef, TendonDef};
pub use parts::{SolidPart, Substance};
pub(crate) use rigid::coordinates;
pub use rigid::{CONTROL_POINTS, MassProperties};
pub use springs::{Anchor, AttachmentDef, SpringStiffness, StitchDef, StitchPair};
pub use ties::{TieDef, TieFound};
pub(crate) use ties::{Tied, TiedVertex};

use crate::definition::expression::{Expression, VectorExpression};
use crate::energy::Term;
use crate::energy::membrane::Sheet;
use crate::energy::rod_joint::RodMaterial;
use crate::material::Material;
use crate::material::inelastic::Inelasticity;
use crate::material::membrane::StretchLimit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Settings;
use standoff_geometry::Grip;
use standoff_linalg::Vec3;
use std::fmt;
use std::sync::Arc;

/// Everything that a simulation is built from.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// Number of dimensions.
    pub dimension: Dimension,
    /// Bodies in order; the vertices of the simulation are theirs, concatenated.
    pub bodies: Vec<BodyDef>,
    /// Fixed half-spaces.
    pub half_spaces: Vec<HalfSpaceDef>,
    /// Vertices whose motion is prescribed. Where several name one vertex and are active at the
    /// same time, their displacements add up.
    pub prescribed: Vec<PrescribedDef>,
    /// Forces on vertices and pressures on surfaces.
    pub forces: Vec<ForceDef>,
    /// Springs between bodies or to fixed targets.
    pub attachments: Vec<AttachmentDef>,
    /// Springs that sew vertices together.
    pub stitches: Vec<StitchDef>,
    /// Bodies that are glued where they touch at the start.
    pub ties: Vec<TieDef>,
    /// Joints between rigid bodies, and regions of soft ones.
    pub joints: Vec<JointDef>,
    /// Sums of coordinates of joints.
    pub tendons: Vec<TendonDef>,
    /// Energies beside those of bodies and loads, over the vertices of all bodies in order. They act
    /// like elastic ones: value, gradient and Hessian enter the incremental potential with its
    /// factor s.
    pub energies: Vec<Arc<dyn Term>>,
    /// Pairs of bodies (by index) that do not interact; a body paired with itself has no
    /// self-contact.
    pub no_contact: Vec<(usize, usize)>,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Time step, integrator, contact and solver settings.
    pub settings: Settings,
}

impl Definition {
    /// Number of forces, attachments and seams.
    pub fn load_count(&self) -> usize {
        self.forces.len() + self.attachments.len() + self.stitches.len()
    }

    /// All pairs of bodies without contact, in ascending order: those that are given, rigid bodies with themselves, and rigid ones that a
    /// joint joins.
    pub fn without_contact(&self) -> Vec<(usize, usize)> {
        let joined = self.joints.iter().filter_map(|j| match self.left_out(j) {
            Some(LeftOut::Bodies(a, b)) => Some((a, b)),
            _ => None,
        });
        let mut all: Vec<_> = self.never_in_contact().into_iter().chain(joined).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The same without those that joints leave out.
    pub fn never_in_contact(&self) -> Vec<(usize, usize)> {
        let is_rigid = |b: &usize| matches!(self.bodies[*b].kind, BodyKind::Rigid { .. });
        let rigid = (0..self.bodies.len()).filter(is_rigid).map(|b| (b, b));
        self.no_contact.iter().copied().chain(rigid).collect()
    }

    /// The regions of soft bodies, by scene-wide vertices, whose surfaces do not touch the rigid body at which a joint holds them, or the body to
    /// which they are tied.
    pub fn grips(&self) -> Vec<Grip> {
        let grip = |j: &JointDef| match self.left_out(j) {
            Some(LeftOut::Grip(grip)) => Some(grip),
            _ => None,
        };
        self.joints.iter().filter_map(grip).chain(self.left_out_by_ties()).collect()
    }

    /// What ties leave out of contact; nothing of ties that find nothing, which are refused when the simulation is built.
    pub(crate) fn left_out_by_ties(&self) -> Vec<Grip> {
        let tied = self.ties.iter().filter_map(|t| t.find(self).ok());
        tied.flat_map(|t| t.left_out(self)).collect()
    }

    /// What a joint leaves out of contact; none of a joint with the world or one whose bodies touch.
    pub fn left_out(&self, joint: &JointDef) -> Option<LeftOut> {
        let parent = joint.parent.filter(|_| !joint.collide)?;
        let [on_parent, on_child] = &joint.regions;
        let (soft, region, other) = match (on_parent.is_empty(), on_child.is_empty()) {
            (true, true) => {
                return Some(LeftOut::Bodies(parent.min(joint.child), parent.max(joint.child)));
            }
            (false, _) => (parent, on_parent, joint.child),
            (true, false) => (joint.child, on_child, parent),
        };
        let first: usize = self.bodies[..soft].iter().map(|b| b.rest.len()).sum();
        let mut vertices: Vec<u32> = region.iter().map(|v| v + first as u32).collect();
        vertices.sort_unstable();
        vertices.dedup();
        Some(LeftOut::Grip(Grip { vertices, other: other as u32 }))
    }
}

/// What a joint leaves out of contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeftOut {
    /// Two bodies, in ascending order.
    Bodies(usize, usize),
    /// A region of a soft body, and the body at which it is held.
    Grip(Grip),
}

/// One body.
#[derive(Debug, Clone, Default)]
pub struct BodyDef {
    /// Name, unique in the scene, for messages and output.
    pub name: String,
    /// Positions of the undeformed body, m (`#V`).
    pub rest: Vec<Vec3>,
    /// Positions at the start, m (`#V`); empty where they equal `rest`.
    pub start: Vec<Vec3>,
    /// Velocities at the start, m/s (`#V`); empty for rest.
    pub velocity: Vec<Vec3>,
    /// What the body is made of and how its vertices are connected.
    pub kind: BodyKind,
    /// Name of its friction material, by which `Definition::friction` refers to it.
    pub friction_material: String,
    /// Thickness ξ in contact, m: two bodies keep more than the mean of both apart, and so does a
    /// body from itself and half of it from half-spaces [Li 2021, §5.1].
    pub contact_thickness: f64,
    /// A surface that touches other things in place of the boundary of a volume's tetrahedra; its vertices are the last ones of the body.
    /// The vertices of a rigid body's surface are the first ones.
    pub surface: Option<CarriedSurface>,
    /// What of the stress of a solid relaxes or yields.
    pub inelastic: Vec<Inelasticity>,
    /// Families of fibres in a solid.
    pub fibres: Vec<FibreFamily>,
    /// Strain that a solid has without stress, as an expression of time: it is 1 + strain times as long as at rest, in all directions, as by heat
    /// or growth. Its mass stays as it is.
    pub growth: Option<Expression>,
    /// The elements of a solid that are made of something else.
    pub parts: Vec<SolidPart>,
}

/// Kind of a body.
#[derive(Debug, Clone)]
pub enum BodyKind {
    /// An elastic solid of tetrahedra (`#T×4`, positively oriented: det[x1−x0, x2−x0, x3−x0] > 0).
    Volume {
        /// Vertex indices of each tetrahedron within the body.
        tets: Vec<[u32; 4]>,
        /// The nodes in the middles of the edges of each tetrahedron (`#T×6`), which make them quadratic elements, see
        /// [`add_middles`](standoff_geometry::quadratic::add_middles); empty for linear ones.
        middles: Vec<[u32; 6]>,
        /// Mass density, kg/m³.
        density: f64,
        /// Constitutive law.
        material: Material,
    },
    /// An elastic solid in the plane z = 0, where it takes the place of `Volume`. With [`Dimension::Two`] it is under plane strain: nothing moves along
    /// z, and everything is per metre of depth. With [`Dimension::Axisymmetric`] it is a body of revolution about the axis y, of which everything is that of
    /// the whole; vertices with x = 0 stay there.
    PlaneStrain {
        /// Vertex indices of each triangle within the body (`#F×3`), counter-clockwise.
        triangles: Vec<[u32; 3]>,
        /// The nodes in the middles of the edges of each triangle (`#F×3`), as those of tetrahedra.
        middles: Vec<[u32; 3]>,
        /// Mass density, kg/m³.
        density: f64,
        /// Constitutive law.
        material: Material,
    },
    /// A rigid body: its last four vertices are the control points that carry its surface, see [`BodyDef::rigid`].
    Rigid {
        /// Mass, kg.
        mass: f64,
    },
    /// A shell: a thin sheet of triangles.
    Shell {
        /// Vertex indices of each triangle within the body.
        triangles: Vec<[u32; 3]>,
        /// What it is made of.
        material: Box<ShellMaterial>,
    },
    /// Rods: elastic wires of circular cross-section.
    Rod {
        /// Vertex indices of each segment within the body.
        segments: Vec<[u32; 2]>,
        /// Radius and elasticity.
        material: RodMaterial,
        /// Mass density, kg/m³.
        density: f64,
        /// Whether it is straight at rest, whatever its mesh.
        straight: bool,
        /// Twist at rest per length, rad/m: a rod that starts untwisted is twisted by minus that.
        natural_twist: f64,
    },
    /// Balls without elasticity, one at each point.
    Particles {
        /// Vertices within the body.
        points: Vec<u32>,
        /// Radius, m: the mass of each is ρ 4/3 π r³.
        radius: f64,
        /// Mass density, kg/m³.
        density: f64,
    },
    /// A kinematic obstacle: triangles, wires and points without elasticity. Fixed unless
    /// `Definition::prescribed` moves it.
    Obstacle {
        /// Triangles (`#F×3`); open soups are allowed.
        triangles: Vec<[u32; 3]>,
        /// Wires (`#E×2`).
        edges: Vec<[u32; 2]>,
        /// Bare points.
        points: Vec<u32>,
    },
}

impl Default for BodyKind {
    fn default() -> Self {
        BodyKind::Obstacle { triangles: Vec::new(), edges: Vec::new(), points: Vec::new() }
    }
}

/// What a shell is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellMaterial {
    /// Thickness, m.
    pub thickness: f64,
    /// Mass density, kg/m³.
    pub density: f64,
    /// Elasticity in its plane.
    pub sheet: Sheet,
    /// Direction of the fibres, in the coordinates of the rest positions; by default each triangle's
    /// first edge.
    pub fibre: Option<Vec3>,
    /// Bending modulus k, N m: half of the flexural rigidity, Eξ³/(24(1−ν²)).
    pub bending_modulus: f64,
    /// What resists bending.
    pub bending_model: BendingModel,
    /// Poisson's ratio, for bending by shape operators.
    pub poisson_ratio: f64,
    /// Whether it is flat at rest, whatever its mesh.
    pub flat: bool,
    /// Limit of the principal stretches.
    pub stretch_limit: Option<StretchLimit>,
}

/// What resists the bending of a shell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BendingModel {
    /// The angle between neighbouring triangles [Grinspun 2003], as in [Li 2021]. Cheap, but stiffer than
    /// a plate by a factor that depends on the pattern of the mesh.
    #[default]
    Hinge,
    /// The curvature of each triangle, from the normals of its edges, whose angles are additional unknowns
    /// [Grinspun 2006]. Converges to the plate on every mesh.
    ShapeOperator,
}

/// The solid half-space {x : n·(x − o) ≤ 0}.
#[derive(Debug, Clone)]
pub struct HalfSpaceDef {
    /// Name for messages.
    pub name: String,
    /// A point o on the boundary plane, m.
    pub origin: Vec3,
    /// Outward normal n, of any positive length.
    pub normal: Vec3,
    /// Name of its friction material.
    pub friction_material: String,
}

/// Vertices with prescribed motion.
#[derive(Clone)]
pub struct PrescribedDef {
    /// Name for messages, for instance `"mat.left"`.
    pub name: String,
    /// Index of the body.
    pub body: usize,
    /// Vertices within the body.
    pub vertices: Vec<u32>,
    /// How they move while active.
    pub motion: Motion,
    /// The directions in which they are prescribed, of any length but 0; they are free in those across. Empty for all.
    pub along: Vec<Vec3>,
    /// Active in the steps that start at t with `t0 <= t < t1`, s. A vertex that no prescription
    /// holds at a time is free then (unless it belongs to an obstacle, whose vertices stay put).
    pub t0: f64,
    /// See `t0`.
    pub t1: f64,
    /// Ends the prescription for good before `t1`.
    pub until: Option<Condition>,
}

impl PrescribedDef {
    /// Vertices of body number `body` that are prescribed in all directions, from the start on and without end.
    pub fn new(name: impl Into<String>, body: usize, vertices: Vec<u32>, motion: Motion) -> Self {
        let (name, along, t1) = (name.into(), Vec::new(), f64::INFINITY);
        Self { name, body, vertices, motion, along, t0: 0.0, t1, until: None }
    }
}

impl fmt::Debug for PrescribedDef {
    /// Without directions where there are none: the fingerprints of runs are made of this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, body, vertices, motion, along, t0, t1, until } = self;
        let mut all = f.debug_struct("PrescribedDef");
        all.field("name", name).field("body", body).field("vertices", vertices);
        all.field("motion", motion);
        if !along.is_empty() {
            all.field("along", along);
        }
        all.field("t0", t0).field("t1", t1).field("until", until).finish()
    }
}

/// A condition on the positions at the start of a step. It is tested in every step in which its
/// prescription would act; once it holds, the prescription does not act in that step nor in any
/// later one.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All vertices of the bodies lie strictly beyond a plane: n·x > `offset`.
    AllBeyond {
        /// Indices of the bodies.
        bodies: Vec<usize>,
        /// Normal n of the plane, of length 1.
        normal: Vec3,
        /// n·o of a point o of the plane, m.
        offset: f64,
    },
}

/// A prescribed motion.
#[derive(Debug, Clone)]
pub enum Motion {
    /// Held in place.
    Fixed,
    /// Translation with velocity `linear` (m/s) plus rotation with angular velocity `angular`
    /// (rad/s, axis times rate) about `pivot`.
    Rigid {
        /// Translation velocity, m/s.
        linear: Vec3,
        /// Angular velocity, rad/s.
        angular: Vec3,
        /// Pivot of the rotation.
        pivot: Pivot,
    },
    /// Translation and rotation as expressions of the time, from where the vertices are when the
    /// prescription begins: a vertex at X then goes to P + R(angle(t)) (X − P) + translation(t).
    /// Evaluated at the end of each step.
    Expression {
        /// Displacement, m.
        translation: VectorExpression,
        /// Axis of the rotation, of length 1.
        axis: Vec3,
        /// Angle of the rotation, rad.
        angle: Expression,
        /// Pivot P of the rotation; a point and the start centre travel with the translation.
        pivot: Pivot,
    },
    /// Positions given step by step: frame k (absolute positions, m) is the target of step k
    /// counted from the start; the last frame holds.
    Sequence {
        /// One position per vertex of `PrescribedDef::vertices` and frame.
        frames: Vec<Vec<Vec3>>,
    },
}

/// Pivot of a prescribed rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pivot {
    /// A point fixed in space, m; it travels with the motion's linear velocity.
    Point(Vec3),
    /// Centre of the bounding box of the vertices at the start of the simulation.
    StartCentre,
    /// Centre of the bounding box of the vertices' current positions at each step
    /// (as the IPC 2020 reference does).
    CurrentCentre,
}

/// A force on vertices.
#[derive(Debug, Clone)]
pub struct ForceDef {
    /// Name for messages.
    pub name: String,
    /// Index of the body.
    pub body: usize,
    /// Vertices within the body.
    pub vertices: Vec<u32>,
    /// The load.
    pub load: Load,
    /// Active in the steps that start at t with `t0 <= t < t1`, s.
    pub t0: f64,
    /// See `t0`.
    pub t1: f64,
}

/// A load on a set of vertices, evaluated at the end of each step.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// Acceleration of each vertex, m/s²: the force is its mass times this.
    Acceleration(VectorExpression),
    /// Total force, N, shared by the vertices in proportion to their masses.
    Force(VectorExpression),
    /// Pressure, Pa, on the surface triangles all of whose corners are among the vertices. Positive
    /// values push onto the surface.
    Pressure(Expression),
    /// Force per area at rest, Pa, in a direction that does not follow the surface, on the same triangles. It acts on each vertex in proportion to the integral
    /// of its shape function.
    Traction(VectorExpression),
}
