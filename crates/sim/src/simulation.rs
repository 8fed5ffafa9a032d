//! A simulation: model, state and the buffers between them.

// long: all that may be done with a simulation, each in a few lines

use crate::audit::{self, Violation};
use crate::build::start::{check_held, obstructions};
use crate::build::{build, joint_motion};
use crate::contact::Party;
use crate::contacts::{self, ContactRecord};
use crate::definition::Definition;
use crate::diagnosis::Diagnosis;
use crate::dirichlet::DirichletTargets;
use crate::energy::Element;
use crate::error::{BuildError, ControlError, StepError};
use crate::joints::JointTarget;
use crate::material::{logarithmic_strain, von_mises};
use crate::model::Model;
use crate::placement::{self, CARRIED};
use crate::recovery::{self, Recovered};
use crate::report::{JointForces, StepReport};
use crate::solver::workspace::Workspace;
use crate::state::State;
use crate::step;
use crate::step::minimum::{Accuracy, End, Minimum};
use crate::threads::with_threads_awake;
use crate::watch::Watcher;
use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::LinearSolver;

/// A simulation in progress.
pub struct Simulation {
    model: Model,
    state: State,
    /// The state before the first step.
    start: State,
    work: Workspace,
    diagnosis: Option<Diagnosis>,
}

impl Simulation {
    /// Checks a definition and readies its first step.
    ///
    /// # Errors
    /// Whatever makes the definition unusable: an inconsistency, a bad number, an inverted element,
    /// an intersection at the start.
    pub fn new(definition: &Definition) -> Result<Self, BuildError> {
        let (model, state) = build(definition)?;
        check_held(definition, &model, &state.x)?;
        check_intersections(&model, &state)?;
        Self::from_parts(model, state.clone(), state)
    }

    /// Takes up a simulation of a definition where `state` left it: what follows has the same bits
    /// as if it had never stopped.
    ///
    /// # Errors
    /// As [`Self::new`], and [`BuildError::State`] for a state that cannot be one of this
    /// definition: other sizes, numbers that are not finite, another time, an intersection.
    pub fn restore(definition: &Definition, state: State) -> Result<Self, BuildError> {
        let (model, start) = build(definition)?;
        state.check(&start, model.resolved.h).map_err(|problem| BuildError::State { problem })?;
        let mut simulation = Self::from_parts(model, start, state)?;
        simulation.follow_state()?;
        let Self { model, state, .. } = &simulation;
        match audit::violations(model, &state.x).first() {
            Some(first) => Err(BuildError::State { problem: first.describe(model) }),
            None => Ok(simulation),
        }
    }

    /// Takes over what the model has of the state: which joints are broken, and what has grown.
    fn follow_state(&mut self) -> Result<(), BuildError> {
        let Self { model, state, work, .. } = self;
        model.grow(state.time);
        if model.follow_joints(&state.joint_integrity) {
            work.forget_joints(model, state).map_err(|e| BuildError::Body {
                body: model.bodies[0].name.clone(),
                problem: e.to_string(),
            })?;
        }
        Ok(())
    }

    fn from_parts(model: Model, start: State, state: State) -> Result<Self, BuildError> {
        let work = Workspace::new(&model, &state).map_err(|e| BuildError::Body {
            body: model.bodies[0].name.clone(),
            problem: e.to_string(),
        })?;
        Ok(Self { model, state, start, work, diagnosis: None })
    }

    /// Does one time step.
    ///
    /// # Errors
    /// See [`StepError`]; the state is then the one before the step, and [`Self::diagnosis`] holds
    /// the culprits.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.step_with(|_| ()).map(|(report, ())| report)
    }

    /// The same, and finds the minimum of the step's own potential from its end more accurately, for measurements: how far the end is
    /// from the minimum is what the solver left undone. The run goes on as after [`Self::step`], with the same bits.
    ///
    /// # Errors
    /// As [`Self::step`]; that of the minimum is apart.
    pub fn step_with_minimum(
        &mut self,
        accuracy: Accuracy,
    ) -> Result<(StepReport, Result<Minimum, StepError>), StepError> {
        self.step_with(|end| end.minimum(accuracy))
    }

    fn step_with<R: Send>(
        &mut self,
        look: impl FnOnce(&End<'_, '_>) -> R + Send,
    ) -> Result<(StepReport, R), StepError> {
        let Self { model, state, work, .. } = &mut *self;
        model.grow(state.next_time(model.resolved.h));
        match with_threads_awake(|| step::step_with(model, state, work, look)) {
            Ok((state, report, seen)) => {
                self.state = state;
                self.diagnosis = None;
                // a pattern with less in it is no larger than the one that there was
                let _ = self.follow_state();
                Ok((report, seen))
            }
            Err(failure) => {
                self.model.grow(self.state.time);
                self.diagnosis = Some(failure.diagnosis);
                Err(failure.error)
            }
        }
    }

    /// Solves the Newton systems of the steps to come by a given solver, in place of the one that the settings choose.
    /// `dot`, `lbfgs-pd` and `admm-pd` do not solve such systems.
    pub fn set_linear_solver(&mut self, solver: Box<dyn LinearSolver>) {
        self.work.linear = solver;
    }

    /// Lets a watcher look on at the steps to come; `None` for none.
    pub fn set_watcher(&mut self, watcher: Option<Watcher>) {
        self.work.watcher = watcher;
    }

    /// Takes up a saved state of this simulation: what follows has the same bits as what followed it.
    ///
    /// # Errors
    /// [`BuildError::State`] for a state that cannot be one of this simulation, as [`Self::restore`].
    pub fn set_state(&mut self, state: State) -> Result<(), BuildError> {
        let fail = |problem: String| Err(BuildError::State { problem });
        if let Err(problem) = state.check(&self.state, self.model.resolved.h) {
            return fail(problem);
        }
        let exists = |party: Party| match party {
            Party::Body(b) => (b as usize) < self.model.bodies.len(),
            Party::HalfSpace(k) => (k as usize) < self.model.half_spaces.len(),
        };
        if !state.pair_forces.iter().all(|f| exists(f.on) && exists(f.by)) {
            return fail("forces between other bodies".into());
        }
        let map = &self.model.map;
        if let Some((v, distance)) = map.deviation(&state.x)
            && distance > CARRIED * self.model.length
        {
            let vertex = self.model.describe_vertex(v);
            return fail(format!(
                "{vertex} is {distance:.1e} m from where its tetrahedron carries it"
            ));
        }
        let before = std::mem::replace(&mut self.state, state);
        self.follow_state()?;
        let found = audit::violations(&self.model, &self.state.x);
        if let Some(first) = found.first() {
            let problem = first.describe(&self.model);
            self.state = before;
            self.follow_state()?;
            return fail(problem);
        }
        self.diagnosis = None;
        Ok(())
    }

    /// Goes back to the state before the first step, without anything that was set since: what follows has the same bits as in a new
    /// simulation.
    pub fn reset(&mut self) {
        self.state.clone_from(&self.start);
        // the pattern is that of the start
        let _ = self.follow_state();
        self.diagnosis = None;
    }

    /// Sets gravity for the steps to come, m/s²; `None` for that of the definition.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn set_gravity(&mut self, gravity: Option<Vec3>) -> Result<(), ControlError> {
        check_vectors(&self.model, "the acceleration", gravity.as_slice(), |_| "gravity".into())?;
        self.state.controls.gravity = gravity;
        Ok(())
    }

    /// Sets the value of load `index` of `Definition::forces` for the steps to come: an acceleration
    /// (m/s²), a force (N), or in the first component a pressure (Pa); `None` for that of the definition.
    /// It acts while the definition's would.
    ///
    /// # Errors
    /// A load that does not exist, or a number that is not finite.
    pub fn set_load(&mut self, index: usize, value: Option<Vec3>) -> Result<(), ControlError> {
        let count = self.state.controls.loads.len();
        let Some(load) = self.state.controls.loads.get_mut(index) else {
            let known = (0..count).map(|k| k.to_string()).collect();
            return Err(ControlError::Unknown { what: "load", name: index.to_string(), known });
        };
        check_vectors(&self.model, "the value", value.as_slice(), |_| format!("load {index}"))?;
        *load = value;
        Ok(())
    }

    /// What joint `index` of `Definition::joints` acted with in the last step, and its coordinates now; tendons are counted after the joints; none for
    /// what does not exist.
    pub fn joint(&self, index: usize) -> Option<JointForces> {
        let exists = index < self.model.joints.count();
        exists.then(|| step::joint_forces(&self.model, &self.state, index))
    }

    /// Sets what the drive of joint `index` of `Definition::joints`, or of a tendon after these, moves to in the steps to come; `JointTarget::default()` for what the definition
    /// says. Without a drive an effort alone can be set, which acts as it is.
    ///
    /// # Errors
    /// A joint that does not exist or has no coordinate, a position or a velocity without the gain that it needs, or a number that is not finite.
    pub fn set_joint_target(
        &mut self,
        index: usize,
        target: JointTarget,
    ) -> Result<(), ControlError> {
        let joints = &self.model.joints;
        let Some(name) = joints.names().nth(index) else {
            let known = joints.names().map(str::to_owned).collect();
            return Err(ControlError::Unknown { what: "joint", name: index.to_string(), known });
        };
        joints
            .accept(index, &target)
            .map_err(|problem| ControlError::Joint { name: name.to_owned(), problem })?;
        self.state.controls.joints[index] = target;
        Ok(())
    }

    /// Sets the velocities of consecutive vertices from `first` on, m/s, as if they had moved uniformly
    /// up to now.
    ///
    /// # Errors
    /// A vertex that does not exist or belongs to an obstacle, or a number that is not finite.
    pub fn set_velocities(&mut self, first: usize, v: &[Vec3]) -> Result<(), ControlError> {
        let (model, h) = (&self.model, self.model.resolved.h);
        check_range(model, "velocities", first, v.len())?;
        let place = |i: usize| model.describe_vertex((first + i) as u32);
        check_vectors(model, "the velocity", v, place)?;
        if let Some(i) = (0..v.len()).find(|i| !model.deformable[first + i]) {
            return Err(ControlError::Prescribed { place: place(i) });
        }
        let state = &mut self.state;
        for (i, v) in (first..).zip(v) {
            state.v[i] = *v;
            state.v_previous[i] = *v;
            state.x_previous[i] = state.x[i] - h * v;
        }
        model.follow_grips(state, &(first..first + v.len()));
        // carried vertices have the velocities of what carries them
        for of in [&mut state.v, &mut state.v_previous, &mut state.x_previous] {
            model.map.spread(of);
        }
        state.joint_motion = joint_motion(model, state);
        Ok(())
    }

    /// Sets the positions of consecutive vertices from `first` on, m: all of one body. They are checked as those of a start
    /// are. The vertices keep their velocities, as if they had moved with them uniformly up to now; prescribed ones stay where
    /// they are put, and motions of the definition continue there. Rods and shells have the twist and the directions of normals of a
    /// start, and friction begins where the vertices are. The same positions change nothing.
    ///
    /// # Errors
    /// A vertex that does not exist, a number that is not finite, a carried vertex that is not where it is carried, positions in which
    /// surfaces intersect or an element is inverted.
    pub fn set_positions(&mut self, first: usize, x: &[Vec3]) -> Result<(), ControlError> {
        let model = &self.model;
        check_range(model, "positions", first, x.len())?;
        let place = |i: usize| model.describe_vertex((first + i) as u32);
        check_vectors(model, "the position", x, place)?;
        self.state = placement::placed(model, &self.state, first, x)?;
        self.diagnosis = None;
        Ok(())
    }

    /// Sets where prescribed `vertices` have to be at the end of the next step, m; they stay there until
    /// they are told otherwise. Motions of the definition that act on them add to it. Something in their
    /// way stops them, as it stops a prescribed motion.
    ///
    /// # Errors
    /// A vertex that does not exist or is free in the next step, or a number that is not finite.
    pub fn set_targets(&mut self, vertices: &[u32], x: &[Vec3]) -> Result<(), ControlError> {
        let model = &self.model;
        if vertices.len() != x.len() {
            let (found, expected) = (x.len(), vertices.len());
            let name = "prescribed vertices".into();
            return Err(ControlError::Length { what: "targets", name, found, expected });
        }
        if let Some(&v) = vertices.iter().max() {
            check_range(model, "targets", v as usize, 1)?;
        }
        let place = |i: usize| model.describe_vertex(vertices[i]);
        check_vectors(model, "the target", x, place)?;
        let prescribed = DirichletTargets::new(model, &self.state).prescribed;
        if let Some(i) = (0..x.len()).find(|&i| !prescribed[vertices[i] as usize]) {
            return Err(ControlError::Free { place: place(i) });
        }
        for (&v, x) in vertices.iter().zip(x) {
            self.state.targets[v as usize] = *x;
        }
        Ok(())
    }

    /// Ends prescription `index` of `Definition::prescribed`, or lets it act again.
    ///
    /// # Errors
    /// A prescription that does not exist.
    pub fn set_prescription(&mut self, index: usize, acts: bool) -> Result<(), ControlError> {
        let names = self.model.motions.iter().map(|m| m.name.clone());
        let Some(ended) = self.state.ended.get_mut(index) else {
            let (name, known) = (index.to_string(), names.collect());
            return Err(ControlError::Unknown { what: "prescription", name, known });
        };
        *ended = !acts;
        Ok(())
    }

    /// Every contact at the current positions.
    pub fn contacts(&self) -> Vec<ContactRecord> {
        contacts::contacts(&self.model, &self.state)
    }

    /// Why the last step failed, as data; `None` after one that did not.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
    }

    /// Constant data.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Positions, m (`#V`).
    pub fn positions(&self) -> &[Vec3] {
        &self.state.x[..self.model.visible]
    }

    /// Velocities, m/s (`#V`).
    pub fn velocities(&self) -> &[Vec3] {
        &self.state.v[..self.model.visible]
    }

    /// Contact and friction forces on the vertices at the end of the last step, N (`#V`).
    pub fn contact_forces(&self) -> &[Vec3] {
        &self.state.contact_forces[..self.model.visible]
    }

    /// With the orientation-aware potential, the smallest distance ε up to which it acts on each vertex, its
    /// edges and its faces, m (`#V`): 0 where it does not act; empty with other potentials.
    pub fn contact_reach(&self) -> Vec<f64> {
        let mut reach =
            self.model.orientation.as_ref().map(|o| o.vertex_reach()).unwrap_or_default();
        // without what stands for the directions of rods, and control points of grips
        reach.truncate(self.model.visible);
        reach
    }

    /// Von Mises stress of each tetrahedron, Pa (`#T`), in two dimensions of each triangle (`#F`).
    pub fn von_mises(&self) -> Vec<f64> {
        self.stresses().iter().map(von_mises).collect()
    }

    /// Cauchy stress of the same, Pa, the mean over a quadratic element.
    pub fn stresses(&self) -> Vec<Mat3> {
        self.of_solids(self.model.solids.means(&self.stress_at_points()))
    }

    /// Cauchy stress at every point of the elements of solids, Pa.
    fn stress_at_points(&self) -> Vec<Mat3> {
        let (Model { solids, inelastic, fibres, .. }, State { x, internal, time, .. }) =
            (&self.model, &self.state);
        let mut all = solids.stress_at_points(x);
        if !inelastic.is_empty() {
            inelastic.add_stresses(internal, x, solids, &mut all);
        }
        fibres.add_stresses(&self.model.muscles_at(*time), solids, x, &mut all);
        all
    }

    /// Stresses at vertices, recovered from those of the elements around them, and the estimated error of the latter.
    pub fn recovered_stresses(&self) -> Recovered {
        let model = &self.model;
        let solids = model.solids_at_rest();
        let (regions, volumes) = (&model.regions, &solids.rest_volumes());
        let (rest, stress) = (&model.rest, &self.stress_at_points());
        let source = recovery::Source { solids, rest, regions, stress, volumes };
        let mut all = recovery::recover(&source, &model.bodies[..]);
        all.stress.truncate(model.visible);
        all.error = self.of_solids(all.error);
        all
    }

    /// The body whose stresses of elements have the greatest estimated error, with that error in terms of its stresses; none without such a
    /// body.
    pub fn worst_stress_error(&self) -> Option<(String, f64)> {
        let of_bodies = self.recovered_stresses().of_bodies;
        let bodies = self.model.bodies.iter().zip(of_bodies).filter(|(_, error)| *error > 0.0);
        let worst = bodies.reduce(|a, b| if b.1 > a.1 { b } else { a });
        worst.map(|(body, error)| (body.name.clone(), error))
    }

    /// Equivalent plastic strain α of the same, the mean over a quadratic element; 0 of what does not yield.
    pub fn plastic_strains(&self) -> Vec<f64> {
        let Model { solids, inelastic, .. } = &self.model;
        self.of_solids(inelastic.plastic_strains(&self.state.internal, &solids.rest_volumes()))
    }

    /// Logarithmic strain ½ ln FFᵀ of the same, of the mean F of a quadratic element; not finite where an element is flat.
    pub fn strains(&self) -> Vec<Mat3> {
        let (solids, x) = (self.model.solids_at_rest(), &self.state.x);
        let strain = |e: usize| logarithmic_strain(&solids.deformation_gradient(e, x));
        self.of_solids((0..solids.len()).into_par_iter().with_min_len(512).map(strain).collect())
    }

    /// Values of elements without those of rigid bodies: what keeps a body rigid is no stress of its material.
    fn of_solids<T>(&self, all: Vec<T>) -> Vec<T> {
        let mut of_rigid = vec![false; all.len()];
        for body in self.model.bodies.iter().filter(|b| b.rigid) {
            of_rigid[body.solids.clone()].fill(true);
        }
        all.into_iter().zip(of_rigid).filter(|(_, rigid)| !rigid).map(|(value, _)| value).collect()
    }

    /// Greatest principal stretch of every triangle of shells, then stretch of every segment of rods.
    pub fn stretches(&self) -> Vec<f64> {
        let (codim, x) = (&self.model.codim, &self.state.x);
        let membranes = codim.membranes.elements.iter().enumerate();
        let stretch = membranes.map(|(e, m)| m.stretches(&codim.membranes.gather(e, x))[0]);
        let segments = codim.segments.elements.iter().enumerate().map(|(e, s)| {
            let [a, b] = codim.segments.gather(e, x);
            (b - a).norm() / s.rest_length()
        });
        stretch.chain(segments).collect()
    }

    /// Bending energy of the same, for rods with that of twist, J: of a hinge or a corner half goes to
    /// either side.
    pub fn bending_energies(&self) -> Vec<f64> {
        let (codim, x) = (self.model.codim_at(&self.state), &self.state.x);
        let triangles = codim.membranes.len();
        let mut energy = vec![0.0; triangles + codim.segments.len()];
        for (e, sides) in self.model.hinge_sides.iter().enumerate() {
            let half = 0.5 * codim.hinges.elements[e].value(&codim.hinges.gather(e, x));
            sides.iter().for_each(|&t| energy[t as usize] += half);
        }
        for (e, &t) in self.model.operator_triangles.iter().enumerate() {
            energy[t as usize] +=
                codim.shape_operators.elements[e].value(&codim.shape_operators.gather(e, x));
        }
        for (e, sides) in self.model.frames.joints.iter().enumerate() {
            let half = 0.5 * codim.rod_joints.elements[e].value(&codim.rod_joints.gather(e, x));
            sides.iter().for_each(|&s| energy[triangles + s as usize] += half);
        }
        energy
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Number of completed steps.
    pub fn step_index(&self) -> usize {
        self.state.step
    }

    /// The independent audit of the current positions.
    pub fn audit(&self) -> Vec<Violation> {
        audit::violations(&self.model, &self.state.x)
    }
}

/// Vertices `first .. first + count` must exist.
fn check_range(
    model: &Model,
    what: &'static str,
    first: usize,
    count: usize,
) -> Result<(), ControlError> {
    let expected = model.visible;
    match first.checked_add(count).filter(|end| *end <= expected) {
        Some(_) => Ok(()),
        None => {
            let found = first.saturating_add(count);
            Err(ControlError::Length { what, name: "all vertices".into(), found, expected })
        }
    }
}

/// Vectors must be finite, and in two dimensions lie in the plane.
fn check_vectors(
    model: &Model,
    what: &'static str,
    values: &[Vec3],
    place: impl Fn(usize) -> String,
) -> Result<(), ControlError> {
    if let Some(i) = values.iter().position(|v| !v.iter().all(|c| c.is_finite())) {
        return Err(ControlError::NotFinite { what, place: place(i) });
    }
    let leaves = |v: &Vec3| model.dimension.is_planar() && v.z != 0.0;
    match values.iter().position(leaves) {
        None => Ok(()),
        Some(i) => Err(ControlError::OutOfPlane { what, place: place(i) }),
    }
}

/// The start must be free of intersections; inversions were checked with the elements.
fn check_intersections(model: &Model, state: &State) -> Result<(), BuildError> {
    let found = obstructions(model, &state.x);
    match found.first() {
        None => Ok(()),
        Some(Violation::HalfSpace { vertex, half_space, depth }) => {
            let (body, vertex) = model.locate(*vertex);
            Err(BuildError::BehindHalfSpace {
                body: body.name.clone(),
                vertex,
                half_space: model.half_space_names[*half_space].clone(),
                depth: *depth,
            })
        }
        Some(first) => {
            Err(BuildError::Intersecting { first: first.describe(model), count: found.len() })
        }
    }
}
