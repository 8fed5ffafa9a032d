//! What can go wrong, as types. Every message names the body and the primitive and says what to do.

// long: every error with its message

use crate::definition::validate::Fault;
use crate::definition::validate::unread::Unread;
use crate::threads::ThreadsError;
use thiserror::Error;

/// Why a simulation could not be built from its definition.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BuildError {
    /// No body has a degree of freedom.
    #[error(
        "nothing to simulate: the scene has no deformable body; add an object with a tetrahedral mesh"
    )]
    NothingToSimulate,
    /// The system refused the threads to simulate with.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// A number of the definition is out of range.
    #[error(transparent)]
    Field(#[from] Fault),
    /// Nothing reads a setting that somebody has set.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// A choice of the settings does not fit the rest of the definition.
    #[error("setting `{key}` is {value}: {must}")]
    Setting {
        /// Key in the scene file, such as `contact.potential`.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// A setting is not for something that the definition has.
    #[error("{object}: the setting `{key} = {value}` {problem}")]
    Unfit {
        /// Key in the scene file, such as `solver.method`.
        key: &'static str,
        /// Its value.
        value: String,
        /// What it does not fit, in words.
        object: String,
        /// Why, and what to do.
        problem: String,
    },
    /// A body's arrays do not fit together.
    #[error("body '{body}': {problem}")]
    Body {
        /// Name of the body.
        body: String,
        /// What does not fit.
        problem: String,
    },
    /// A force, pressure or attachment has nothing to act on.
    #[error("body '{body}': {problem}")]
    Load {
        /// Which one.
        load: LoadIndex,
        /// Name of the body.
        body: String,
        /// What is missing.
        problem: String,
    },
    /// A joint that cannot be.
    #[error("joint '{joint}': {problem}")]
    Joint {
        /// Its name.
        joint: String,
        /// What does not fit.
        problem: String,
    },
    /// A tie that cannot be.
    #[error("tie '{tie}': {problem}")]
    Tie {
        /// Its name.
        tie: String,
        /// What does not fit.
        problem: String,
    },
    /// An energy that the definition adds cannot be used.
    #[error("energy '{name}': {problem}")]
    Energy {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A tetrahedron is inverted or flat at rest or at the start.
    #[error(
        "body '{body}', tetrahedron {element} (vertices {vertices:?}) is {what}; repair the mesh or \
         reorder the element's vertices so that its volume is positive"
    )]
    Element {
        /// Name of the body.
        body: String,
        /// Element within the body.
        element: u32,
        /// Its vertices within the body.
        vertices: [u32; 4],
        /// `"inverted at rest"`, `"flat at the start"` …
        what: &'static str,
    },
    /// Surfaces intersect at the start.
    #[error(
        "the start is not free of intersections: {first}{}; move the objects apart (`standoff check` \
         lists all of them)", more(*.count)
    )]
    Intersecting {
        /// Description of the first pair.
        first: String,
        /// Number of intersecting pairs.
        count: usize,
    },
    /// A state from elsewhere does not fit the definition.
    #[error("the saved state does not fit the scene: {problem}")]
    State {
        /// What does not fit.
        problem: String,
    },
    /// A vertex is on or behind a half-space's plane at the start.
    #[error(
        "vertex {vertex} of '{body}' lies {depth:.3e} m behind the plane of half-space '{half_space}' \
         (a positive gap is needed); move the object along the plane's normal"
    )]
    BehindHalfSpace {
        /// Name of the body.
        body: String,
        /// Vertex within the body.
        vertex: u32,
        /// Name of the half-space.
        half_space: String,
        /// How far behind, m (0 for touching).
        depth: f64,
    },
}

/// Why something cannot be set between steps. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ControlError {
    /// A vector with a component along z in two dimensions.
    #[error("{what} of {place} has a component along z, but the scene has two dimensions")]
    OutOfPlane {
        /// What was set.
        what: &'static str,
        /// Of what.
        place: String,
    },
    /// Nothing has this name.
    #[error("there is no {what} '{name}'; there are: {}", list(.known))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// All names that there are.
        known: Vec<String>,
    },
    /// A handle of something in another scene.
    #[error(
        "the handle is that of a {what} in another scene; take the one of the scene that is simulated"
    )]
    Foreign {
        /// What it stands for.
        what: &'static str,
    },
    /// A list of another length than what it is for.
    #[error("{what} of '{name}': {found} given, {expected} expected")]
    Length {
        /// What is listed.
        what: &'static str,
        /// Of what.
        name: String,
        /// Entries given.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A value of another physical quantity.
    #[error("'{name}' is {expected}, not {given}")]
    Quantity {
        /// Of what.
        name: String,
        /// The quantity that was given, with its unit.
        given: &'static str,
        /// What it has to be, with its unit.
        expected: &'static str,
    },
    /// A number that is NaN or infinite.
    #[error("{what} of {place} is not finite")]
    NotFinite {
        /// Which quantity.
        what: &'static str,
        /// Of what.
        place: String,
    },
    /// A target for the drive of a joint that cannot move to it.
    #[error("joint '{name}' cannot move to that target: {problem}")]
    Joint {
        /// The joint.
        name: String,
        /// What is missing.
        problem: &'static str,
    },
    /// A target for a vertex that nothing holds.
    #[error(
        "{place} is free in the next step, so that it has no target; hold it in the scene (`fixed` of \
         its object)"
    )]
    Free {
        /// The vertex.
        place: String,
    },
    /// Positions that no state may have: surfaces would intersect, an element would be inverted.
    #[error("the positions of '{name}' cannot be set: {problem}{}", more(*.count))]
    Positions {
        /// Name of the body.
        name: String,
        /// What is wrong with them, with the objects that take part.
        problem: String,
        /// Number of places where something is wrong.
        count: usize,
    },
    /// A position that does not follow from those of the vertices that carry it.
    #[error(
        "{place} is {distance:.1e} m from where the vertices that carry it say it is; move the whole body, with its \
         control points or tetrahedra"
    )]
    Carried {
        /// The vertex.
        place: String,
        /// How far it is off, m.
        distance: f64,
    },
    /// A velocity for a vertex that moves as it is told.
    #[error("{place} moves as prescribed; give it targets instead of velocities")]
    Prescribed {
        /// The vertex.
        place: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A load of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadIndex {
    /// Index in `Definition::forces`.
    Force(usize),
    /// Index in `Definition::attachments`.
    Attachment(usize),
}

fn more(count: usize) -> String {
    if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
}

/// Why a time step could not be completed. The state is the one before the step.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StepError {
    /// A position, energy or direction became NaN or infinite.
    #[error("step {step}: {what} is not finite{}; reduce the time step or check materials and loads", at(.place))]
    NotFinite {
        /// Index of the step.
        step: usize,
        /// Which quantity.
        what: &'static str,
        /// Vertex description, where known.
        place: Option<String>,
    },
    /// The linear system could not be solved even after regularisation.
    #[error("step {step}, Newton iteration {iteration}: the linear solve failed: {reason}")]
    LinearSolve {
        /// Index of the step.
        step: usize,
        /// Newton iteration.
        iteration: usize,
        /// The solver's message.
        reason: String,
    },
    /// No step along any descent direction lowers the energy although the residual is large.
    #[error(
        "step {step} stalled at Newton iteration {iterations}: {reason}; the largest nodal Newton \
         step is {residual:.3e} m/s, the tolerance {tolerance:.3e} m/s. {}", cause.advice()
    )]
    Stalled {
        /// Index of the step.
        step: usize,
        /// Newton iterations done.
        iterations: usize,
        /// What limits the step, with the primitives involved.
        reason: String,
        /// What it comes from.
        cause: StallCause,
        /// ‖p‖∞/h, m/s.
        residual: f64,
        /// The velocity tolerance, m/s.
        tolerance: f64,
    },
    /// The step took longer than `solver.end.max_step_time`.
    #[error(
        "step {step} was given up after {limit} s (`solver.end.max_step_time`) at Newton iteration \
         {iterations}{}{reason}. Allow more time, reduce `time.step`, or run on more threads",
        size(*.residual, *.tolerance)
    )]
    TimeLimit {
        /// Index of the step.
        step: usize,
        /// The limit, s.
        limit: f64,
        /// Newton iterations begun.
        iterations: usize,
        /// What limits the step, with the primitives involved, after a semicolon; empty if nothing does.
        reason: String,
        /// ‖p‖∞/h of the last direction, m/s; none before the first one.
        residual: Option<f64>,
        /// The velocity tolerance, m/s.
        tolerance: f64,
    },
    /// The program that takes the steps ended this one.
    #[error("step {step} was cancelled at Newton iteration {iterations}")]
    Cancelled {
        /// Index of the step.
        step: usize,
        /// Newton iterations begun.
        iterations: usize,
    },
    /// Prescribed vertices cannot reach their targets.
    #[error(
        "step {step}: prescribed motion '{name}' is blocked at {progress:.1} % of its displacement: {reason}; \
         slow it down, make room, or end it earlier"
    )]
    BlockedMotion {
        /// Index of the step.
        step: usize,
        /// Name of the prescription.
        name: String,
        /// Part of the way that was possible, per cent.
        progress: f64,
        /// What blocks it.
        reason: String,
    },
    /// Forces do not close a joint.
    #[error(
        "step {step}: joint '{joint}' stays open by {error:.1e} of the radius of its smaller body: other joints, held bodies or \
         contacts contradict it; free one of them, or reduce `time.step`"
    )]
    OpenJoint {
        /// Index of the step.
        step: usize,
        /// Name of the joint.
        joint: String,
        /// How far it is open.
        error: f64,
    },
    /// The independent audit found a violation.
    #[error(
        "step {step}: the audit found a violation: {violation}; please report this scene as a bug"
    )]
    Audit {
        /// Index of the step.
        step: usize,
        /// What was found.
        violation: String,
    },
}

/// What a stall comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallCause {
    /// Contacts, crushed elements or limits of the stretch.
    Obstacles,
    /// Forces of other energies alone.
    Forces,
}

impl StallCause {
    fn advice(self) -> &'static str {
        match self {
            Self::Obstacles => {
                "Reduce `time.step`, or look for bodies that are squeezed or driven into each other"
            }
            Self::Forces => {
                "No contact takes part in it: reduce `time.step`, or look at the materials, loads and \
                 shape of what is named"
            }
        }
    }
}

fn size(residual: Option<f64>, tolerance: f64) -> String {
    let of = |r| {
        format!("; the largest nodal Newton step is {r:.3e} m/s, the tolerance {tolerance:.3e} m/s")
    };
    residual.map(of).unwrap_or_default()
}

fn at(place: &Option<String>) -> String {
    place.as_ref().map(|p| format!(" at {p}")).unwrap_or_default()
}
