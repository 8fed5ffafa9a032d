//! What is constant during a step: rest mesh, masses, elastic elements, collision primitives,
//! half-spaces, friction table, prescribed motions and the settings with all relative lengths resolved.
//! `build` makes it from a definition.

use crate::audit::{AuditScene, StrainLimit};
use crate::body::Body;
use crate::characteristic::CharacteristicNorm;
use crate::contact::orientation::OrientationContact;
use crate::contact::{FrictionMaterials, HalfSpace, Weighting};
use crate::decomposition::Decomposition;
use crate::definition::Dimension;
use crate::definition::expression::Expression;
use crate::definition::settings::Settings;
use crate::energy::Elements;
use crate::energy::fibres::{Fibres, Muscles};
use crate::energy::grip_turn::GripTurn;
use crate::energy::inelastic::Inelastic;
use crate::energy::rod_joint::Frame;
use crate::energy::{CodimElements, Owner, Solids, Term};
use crate::frames::MaterialFrames;
use crate::grip::{Grip, rigid_velocity};
use crate::growth::{Grown, Growth};
use crate::joint_contact::WithoutContact;
use crate::joints::{Integrity, Joints};
use crate::loads::Loads;
use crate::motion::PrescribedMotion;
use crate::names::Names;
use crate::sizes::BodyScale;
use crate::state::State;
use crate::tie::Tie;
use crate::unknowns::VertexMap;
use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// Settings with relative lengths resolved, SI units.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Time step h, s.
    pub h: f64,
    /// Number of steps, ceil(end/h).
    pub steps: usize,
    /// Barrier distance d̂, m: the greatest of all bodies.
    pub d_hat: f64,
    /// Stick speed ε_v, m/s: the greatest of all bodies.
    pub stick_speed: f64,
    /// Newton tolerance ε_d, m/s: the greatest of all bodies.
    pub velocity_tolerance: f64,
    /// Part of the acting forces to which those on each body have to balance.
    pub force_tolerance: f64,
    /// Minimisations per step with updated friction; `None` until converged.
    pub lagging: Option<u32>,
    /// The settings as given.
    pub settings: Settings,
}

/// A simulation's constant data.
#[derive(Debug, Clone)]
pub struct Model {
    /// Bodies in order of definition.
    pub bodies: Vec<Body>,
    /// Rest positions, m (`#V`): those of all bodies, then zeros for the angles of edges that carry a director.
    pub rest: Vec<Vec3>,
    /// Lumped masses, kg (`#V`). Obstacle vertices carry the fictitious mass of [Li 2020, suppl. E].
    pub mass: Vec<f64>,
    /// How much more of gravity acts on a vertex in quasi-static steps than on its mass, in terms of that (`#V`, or empty). Masses of quadratic
    /// elements are lumped; their weights are the integrals of the shape functions.
    pub weight_excess: Vec<f64>,
    /// Mean mass of the deformable bodies' vertices, kg.
    pub mean_mass: f64,
    /// Index of the body of each vertex (`#V`); angles belong to where their edges begin.
    pub body_of: Vec<u32>,
    /// What contact, friction and errors of each body are measured against.
    pub scales: Vec<BodyScale>,
    /// The velocity tolerance of each vertex in terms of the greatest (`#V`); empty where it is the same for all.
    pub tolerance: Vec<f64>,
    /// Largest diagonal entry of the Hessian of the elastic energies at rest, N/m.
    pub stiffest: f64,
    /// Number of the vertices of the definition: behind them are the control points of grips.
    pub visible: usize,
    /// Regions of soft bodies that joints make rigid.
    pub(crate) grips: Vec<Grip>,
    /// What is tied.
    pub(crate) ties: Vec<Tie>,
    /// What turns the edges of rods and shells with them, as at the start.
    pub(crate) grip_turns: Vec<([u32; 5], GripTurn)>,
    /// Which vertices are no unknowns, and how they follow from those that are.
    pub map: VertexMap,
    /// Whether a vertex belongs to a deformable body (`#V`).
    pub deformable: Vec<bool>,
    /// Elements of solids.
    pub solids: Solids,
    /// Region of each, within which stresses are continuous, as [`crate::recovery::regions`] has it.
    pub(crate) regions: Vec<u32>,
    /// The same with a barrier against inversion, where the scene wants laws without one and prescribes motions. While prescribed
    /// vertices are constrained to their targets, their neighbours would be crushed to a volume near zero by laws without one, and
    /// every later step would stall.
    pub guarded: Option<Solids>,
    /// What relaxes or yields of the solids.
    pub inelastic: Inelastic,
    /// Fibres of the solids.
    pub fibres: Fibres,
    /// Fibres that draw themselves together.
    pub(crate) muscles: Muscles,
    /// Their tensions, Pa.
    pub(crate) tensions: Vec<Expression>,
    /// What of the solids grows; the elements here are those of the time of the state, or of the step that is being made.
    pub(crate) growth: Option<Box<Growth>>,
    /// Elements of shells and rods.
    pub codim: CodimElements,
    /// Edges that carry a director: segments of rods, and edges of shells with normals.
    pub frames: MaterialFrames,
    /// The two triangles (in `codim.membranes`) of each hinge.
    pub hinge_sides: Vec<[u32; 2]>,
    /// The triangle (in `codim.membranes`) of each shape operator.
    pub operator_triangles: Vec<u32>,
    /// Energies that the definition adds.
    pub energies: Vec<Arc<dyn Term>>,
    /// Surface primitives.
    pub collision: CollisionMesh,
    /// What bodies and joints leave out of contact.
    pub(crate) without_contact: WithoutContact,
    /// Whether anything may touch anything, at the start or when joints have broken: not where `contact.enabled` is off or all pairs are excluded.
    pub may_touch: bool,
    /// Surface vertices of the deformable bodies, which half-spaces repel, by half thickness (m).
    pub half_space_vertices: Vec<(f64, Vec<u32>)>,
    /// Half-spaces.
    pub half_spaces: Vec<HalfSpace>,
    /// Their names.
    pub half_space_names: Vec<String>,
    /// Triangles whose strain is limited, for the audit.
    pub strain_limits: Vec<StrainLimit>,
    /// How contact pairs are weighted.
    pub weighting: Weighting,
    /// Vertices of bodies of revolution that are on the axis and held there, ascending.
    pub axis: Vec<u32>,
    /// Surfaces on which the orientation-aware potential acts, where it is chosen.
    pub orientation: Option<Arc<OrientationContact>>,
    /// Friction materials of vertices and half-spaces and the coefficients between them.
    pub friction: FrictionMaterials,
    /// Whether any coefficient is positive.
    pub has_friction: bool,
    /// Prescribed motions.
    pub motions: Vec<PrescribedMotion>,
    /// Names of the prescribed motions, each once: others of the same name have a number, `name#2`.
    pub held_names: Vec<String>,
    /// Forces, pressures and attachments.
    pub loads: Loads,
    /// Their names in the order of `Loads::names`, each once.
    pub load_names: Vec<String>,
    /// Joints between rigid bodies.
    pub joints: Joints,
    /// Subdomains, where the solver has some.
    pub decomposition: Option<Arc<Decomposition>>,
    /// The characteristic norm, where it ends minimisations.
    pub characteristic: Option<Arc<CharacteristicNorm>>,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Number of dimensions.
    pub dimension: Dimension,
    /// Characteristic length l, m: diagonal of the bounding box of the largest deformable body at rest, or of all of them where the
    /// settings say so.
    pub length: f64,
    /// Settings.
    pub resolved: Resolved,
}

impl Model {
    /// Gives what grows the size that it has without stress at the time `t`, s; nothing happens where that is undefined.
    pub(crate) fn grow(&mut self, t: f64) {
        let Some(growth) = self.growth.as_ref().filter(|g| g.is_defined(t)) else { return };
        let Grown { solids, guarded, inelastic, fibres, muscles } = growth.at(t);
        (self.solids, self.guarded, self.inelastic) = (solids, guarded, inelastic);
        (self.fibres, self.muscles) = (fibres, muscles);
    }

    /// Elements of solids at rest, before anything of them has grown.
    pub(crate) fn solids_at_rest(&self) -> &Solids {
        self.growth.as_ref().map_or(&self.solids, |g| g.rest())
    }

    /// What draws in solids at the time `t`, s.
    pub fn muscles_at(&self, t: f64) -> Muscles {
        let tensions: Vec<f64> = self.tensions.iter().map(|of| of.at(t)).collect();
        self.muscles.with(&tensions)
    }

    /// Factor from the κ with which contact is adapted, that of the IPC potential, to the one of the
    /// potential chosen, in the unit of the setting.
    pub fn stiffness_ratio(&self) -> f64 {
        self.orientation.as_ref().map_or(1.0, |o| o.stiffness_ratio)
    }

    /// Number of vertices of all bodies, the control points of grips among them. The angles of edges that carry a director come behind them.
    pub fn vertex_count(&self) -> usize {
        self.frames.first_angle
    }

    /// Whether elements have carried vertices.
    pub(crate) fn elements_are_carried(&self) -> bool {
        !(self.grips.is_empty() && self.ties.is_empty())
    }

    /// Whether a joint holds vertices of a body that is not rigid, or a tie glues it to another one.
    pub(crate) fn is_joined(&self, body: usize) -> bool {
        self.grips.iter().any(|g| g.owner == body)
            || self.ties.iter().any(|t| t.bodies.contains(&body))
    }

    /// Velocity tolerance of a vertex in terms of the greatest.
    pub fn tolerance_of(&self, v: usize) -> f64 {
        self.tolerance.get(v).copied().unwrap_or(1.0)
    }

    /// The body of a vertex and the vertex's index within it.
    pub fn locate(&self, vertex: u32) -> (&Body, u32) {
        let v = match (vertex as usize).checked_sub(self.frames.first_angle) {
            // an angle is where its edge begins
            Some(k) => self.frames.edges[k][0] as usize,
            None => vertex as usize,
        };
        let body = self.bodies.partition_point(|b| b.vertices.end <= v);
        (&self.bodies[body], (v - self.bodies[body].vertices.start) as u32)
    }

    /// The name of what the parameters of a summand belong to.
    pub fn owner<'a>(&'a self, owner: Owner<'a>) -> &'a str {
        match owner {
            Owner::BodyOf(vertex) => &self.locate(vertex).0.name,
            Owner::Load(name) => name,
        }
    }

    /// "vertex 3 of 'ball'".
    pub fn describe_vertex(&self, vertex: u32) -> String {
        Names::describe_vertex(self, vertex)
    }

    /// "edge (3, 7) of 'ball'", "triangle (1, 2, 3) of 'board'" or "vertex 3 of 'ball'".
    pub fn describe_primitive(&self, vertices: &[u32]) -> String {
        Names::describe_primitive(self, vertices)
    }

    /// Takes over which joints are broken, and what they no longer leave out of contact; whether that is something new.
    pub(crate) fn follow_joints(&mut self, integrity: &[Integrity]) -> bool {
        let new = self.joints.follow(integrity);
        if new {
            self.without_contact.exclude(&mut self.collision, integrity);
        }
        new
    }

    /// Gives the control points of grips with a vertex in `range` the rigid motion that is closest to the velocities of their vertices.
    pub(crate) fn follow_grips(&self, state: &mut State, range: &Range<usize>) {
        let touched = |g: &&Grip| g.vertices.iter().any(|v| range.contains(&(*v as usize)));
        // the masses of the vertices of a grip are those of its control points
        let equal = vec![1.0; if self.grips.is_empty() { 0 } else { self.mass.len() }];
        for grip in self.grips.iter().filter(touched) {
            let [velocity, spin] = rigid_velocity(&grip.vertices, &state.x, &state.v, &equal);
            let parts = grip.vertices.iter().map(|&v| state.x[v as usize]);
            let centre = parts.sum::<Vec3>() / grip.vertices.len() as f64;
            for v in self.bodies[grip.body].unknowns.clone() {
                state.v[v] = velocity + spin.cross(&(state.x[v] - centre));
                state.v_previous[v] = state.v[v];
                state.x_previous[v] = state.x[v] - self.resolved.h * state.v[v];
            }
        }
    }

    /// What turns the edges of rods and shells with grips in the step that starts in a state; none without such edges.
    pub(crate) fn grip_turns_at(&self, state: &State) -> Option<Elements<GripTurn, 5>> {
        if self.grip_turns.is_empty() {
            return None;
        }
        let placed = |(vertices, turn): &([u32; 5], GripTurn)| {
            let k = vertices[4] - self.frames.first_angle as u32;
            let tangent = self.frames.tangent(k, &state.x);
            let director = state.directors[k as usize];
            (*vertices, GripTurn { frame: Frame { tangent, director }, ..*turn })
        };
        let (vertices, elements) = self.grip_turns.iter().map(placed).unzip();
        Some(Elements::from_parts(vertices, elements, state.x.len()))
    }

    /// The elements of shells and rods with the frames and turns of a state.
    pub fn codim_at(&self, state: &State) -> CodimElements {
        let mut codim = self.codim.clone();
        let State { directors, frame_twists, turns, x, .. } = state;
        let (of_hinges, of_operators) = turns.split_at(codim.hinges.len());
        codim.begin_hinges(of_hinges, x);
        self.frames.place(&mut codim, directors, frame_twists, of_operators, x);
        codim
    }
}

impl Names for Model {
    fn body_of(&self, vertex: u32) -> (&str, u32) {
        let (body, number) = self.locate(vertex);
        (&body.name, number)
    }

    fn half_space(&self, index: usize) -> &str {
        &self.half_space_names[index]
    }
}

impl<'a> From<&'a Model> for AuditScene<'a> {
    fn from(model: &'a Model) -> Self {
        Self {
            collision: &model.collision,
            tets: model.solids.tets.vertices(),
            plane: match model.dimension.is_axisymmetric() {
                true => model.solids.rings.vertices(),
                false => model.solids.plane.vertices(),
            },
            quadratic: model.solids.quadratic.vertices(),
            quadratic_plane: model.solids.quadratic_triangles.vertices(),
            half_spaces: &model.half_spaces,
            half_space_vertices: &model.half_space_vertices,
            strain_limits: &model.strain_limits,
            allow_inversion: model.resolved.settings.solver.allow_inversion,
        }
    }
}
