//! Islands: bodies that contact, friction, attachments or other common energies connect, or that come close to each other along
//! the direction. Within a step islands are independent of each other unless they meet, so that those that have reached their
//! minimum may rest while the others go on.
//!
//! Resting vertices are obstacles at standstill: collision detection keeps the others off them, and nothing passes through.
//! Once the others have settled, all vertices go on together, and the minimisation ends only where the Newton direction of all
//! of them says so. A minimum that was reached in parts is thus a minimum of the whole.

use crate::contact::ContactSet;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Part, Strategy};
use crate::solver::line_search::LineStep;
use crate::solver::workspace::Workspace;
use crate::thresholds::{NEARLY_SETTLED, RESTING, SHARE_THAT_GOES_ON};
use standoff_linalg::Vec3;

/// Which bodies rest in a minimisation.
#[derive(Debug)]
pub struct Islands<'a> {
    /// The body of each vertex (`#V`).
    body: &'a [u32],
    /// Trees of the bodies that attachments and other energies connect: the parent of each, a root's own number.
    attached: Vec<u32>,
}

impl<'a> Islands<'a> {
    /// Where parts of the minimisation may rest: none where the scene has only one body, where something other than the
    /// size of the direction ends it (step lengths), or where all of it decides on something (limits of the stretch,
    /// obstructed motions, the surface of the orientation-aware potential), or where vertices are carried.
    pub fn new(potential: &IncrementalPotential<'a>) -> Option<Self> {
        let (model, solver) = (potential.context.model, &potential.context.settings.solver);
        let several = model.bodies.iter().filter(|b| !b.obstacle).count() > 1;
        let whole = solver.end.cumulative_toi.is_some()
            || model.orientation.is_some()
            || !model.map.is_identity();
        if !solver.islands || !several || whole || !potential.allows(Strategy::Rest) {
            return None;
        }
        let body = &model.body_of;
        let parent = (0..model.bodies.len() as u32).collect();
        let mut trees = Trees { free: potential.free(), body, parent };
        trees.join_part(potential, &ContactSet::default(), Part::Elastic);
        let attached = trees.parent;
        Some(Self { body, attached })
    }

    /// Lets the islands rest whose directions are below the tolerance, if the others are few and not close to their minimum; whether
    /// some do that did not before.
    pub fn rest(
        &self,
        potential: &mut IncrementalPotential<'_>,
        it: &mut Iterate,
        p: &[Vec3],
        taken: &LineStep,
        work: &mut Workspace,
    ) -> bool {
        let tolerance = potential.context.speed_time * potential.context.velocity_tolerance;
        let island = self.connect(potential, it, work);
        let mut size = vec![0.0_f64; self.attached.len()];
        for (v, p) in p.iter().enumerate() {
            let size = &mut size[island[self.body[v] as usize] as usize];
            *size = size.max(p.norm() / potential.context.model.tolerance_of(v).min(1.0));
        }
        let largest = size.iter().copied().fold(0.0, f64::max);
        if taken.alpha == 1.0 && largest < NEARLY_SETTLED * tolerance {
            return false;
        }
        let moves = |v: usize| size[island[self.body[v] as usize] as usize] >= RESTING * tolerance;
        let moving: Vec<bool> = (0..p.len()).map(|v| potential.free()[v] && moves(v)).collect();
        let count = |of: &[bool]| of.iter().filter(|&&f| f).count();
        let (some, all) = (count(&moving), count(potential.free()));
        if some == 0 || some as f64 > SHARE_THAT_GOES_ON * all as f64 {
            return false;
        }
        potential.restrict(&moving);
        work.detector.restrict(potential.context.model, &moving);
        find_contacts(potential, it, work);
        true
    }

    /// Lets all vertices move again.
    pub fn resume(
        potential: &mut IncrementalPotential<'_>,
        it: &mut Iterate,
        work: &mut Workspace,
    ) {
        potential.lift_restriction();
        work.detector.lift_restriction();
        find_contacts(potential, it, work);
    }

    /// The island of each body: the least body connected with it.
    fn connect(
        &self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        work: &Workspace,
    ) -> Vec<u32> {
        let mut trees =
            Trees { free: potential.free(), body: self.body, parent: self.attached.clone() };
        trees.join_part(potential, &it.contacts, Part::Contact);
        for pair in work.detector.swept(potential.context.model) {
            trees.join(pair.vertices());
        }
        (0..self.attached.len() as u32).map(|b| trees.root(b)).collect()
    }
}

/// Trees of connected bodies.
struct Trees<'a> {
    /// Which vertices connect (`#V`).
    free: &'a [bool],
    /// The body of each vertex (`#V`).
    body: &'a [u32],
    /// The parent of each body; a root's own number.
    parent: Vec<u32>,
}

impl Trees<'_> {
    /// Joins the bodies that the stencils of a part connect.
    fn join_part(
        &mut self,
        potential: &IncrementalPotential<'_>,
        contacts: &ContactSet,
        part: Part,
    ) {
        for t in potential.terms(contacts).iter().filter(|t| t.part == part) {
            t.term.stencils().iter().for_each(|stencil| self.join(stencil));
        }
    }

    /// Joins the bodies of the free vertices of a stencil.
    fn join(&mut self, stencil: &[u32]) {
        let (free, body) = (self.free, self.body);
        let is_free = |v: &&u32| free.get(**v as usize) == Some(&true);
        let mut bodies = stencil.iter().filter(is_free).map(|&v| body[v as usize]);
        let Some(first) = bodies.next() else { return };
        for other in bodies.filter(|&b| b != first) {
            let (a, b) = (self.root(first), self.root(other));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    /// The root of a body's tree; shortens the tree.
    fn root(&mut self, mut b: u32) -> u32 {
        let parent = &mut self.parent;
        while parent[b as usize] != b {
            parent[b as usize] = parent[parent[b as usize] as usize];
            b = parent[b as usize];
        }
        b
    }
}

/// Looks the contacts of `it` up again.
fn find_contacts(potential: &IncrementalPotential<'_>, it: &mut Iterate, work: &mut Workspace) {
    let (model, still) = (potential.context.model, vec![Vec3::zeros(); it.x.len()]);
    work.detector.sweep(model, &it.x, &still, 1.0);
    it.contacts = work.detector.contacts(model, &it.x);
}
