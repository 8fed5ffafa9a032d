//! Many simulations at once.

mod workers;

use crate::error::{BatchError, Error};
use crate::simulation::Simulation;
use standoff_scene::Scene;
use standoff_sim::StepReport;
use std::fmt;
use std::sync::Arc;
use workers::Workers;

/// Simulations that are advanced together: the same scene many times, or variations of it. Members run in parallel, each
/// on one thread, and have the bits that they have alone. What goes wrong in one member does not concern the others.
///
/// # Example
///
/// Blocks fall on plates that rise at different speeds; the second one then begins again.
///
/// ```
/// # fn main() -> Result<(), standoff::Error> {
/// use standoff::prelude::*;
///
/// let scene = SceneBuilder::new()
///     .time_step(0.01)
///     .end_time(1.0)
///     .object(Object::shape("plate", Shape::Plane(Plane { size: [1.0; 2], cells: [1, 1] })))
///     .object(Object::shape("block", Shape::Box(BoxShape::default())).at([0.0, 0.51, 0.0]))
///     .build()?;
/// let mut batch = Batch::new(std::iter::repeat_n(&scene, 4), 2)?;
/// for _ in 0..5 {
///     let done = batch.each(|k, simulation| {
///         let rise = 0.001 * k as f64;
///         simulation.body_mut("plate")?.move_by([0.0, rise, 0.0])?;
///         simulation.step().cloned()
///     })?;
///     assert!(done.iter().all(Result::is_ok));
/// }
/// let heights: Vec<f64> = batch
///     .members()
///     .iter()
///     .map(|simulation| Ok(simulation.body("block")?.centre().y))
///     .collect::<Result<_, Error>>()?;
/// assert!(heights[3] > heights[0]);
///
/// batch.reset(&[1])?;
/// assert_eq!(batch.members()[1].step_index(), 0);
/// # Ok(())
/// # }
/// ```
pub struct Batch {
    members: Vec<Simulation>,
    workers: Workers,
}

impl Batch {
    /// A simulation of each scene before its first step, which `threads` threads advance; 0 for as many as this process has
    /// cores. There are never more threads than members.
    ///
    /// # Errors
    /// [`BatchError::Member`] with the first scene that cannot be simulated; no scenes; the system refuses the threads.
    pub fn new<'a>(
        scenes: impl IntoIterator<Item = &'a Scene>,
        threads: usize,
    ) -> Result<Self, Error> {
        // members of one scene share it
        let mut shared: Vec<(&Scene, Arc<Scene>)> = Vec::new();
        let mut of_members = Vec::new();
        for scene in scenes {
            let known = shared.iter().find(|(known, _)| std::ptr::eq(*known, scene));
            let own = known.map_or_else(|| Arc::new(scene.clone()), |(_, own)| Arc::clone(own));
            if known.is_none() {
                shared.push((scene, Arc::clone(&own)));
            }
            of_members.push(own);
        }
        let mut workers = Workers::new(threads, of_members.len());
        let built = workers.each(of_members, Simulation::of)?;
        let members = built.into_iter().enumerate().map(|(k, built)| member(k, built));
        Self::with(members.collect::<Result<_, _>>()?, workers)
    }

    /// A batch of simulations that exist.
    ///
    /// # Errors
    /// [`BatchError::Empty`].
    pub fn of_members(members: Vec<Simulation>, threads: usize) -> Result<Self, Error> {
        let workers = Workers::new(threads, members.len());
        Self::with(members, workers)
    }

    fn with(members: Vec<Simulation>, workers: Workers) -> Result<Self, Error> {
        match members.is_empty() {
            true => Err(BatchError::Empty.into()),
            false => Ok(Self { members, workers }),
        }
    }

    /// The simulations.
    pub fn members(&self) -> &[Simulation] {
        &self.members
    }

    /// The simulations, to be changed one by one.
    pub fn members_mut(&mut self) -> &mut [Simulation] {
        &mut self.members
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Does one time step of every member. A member whose step fails keeps the state before it.
    ///
    /// # Errors
    /// The system refuses the threads. What goes wrong in members is in the list.
    pub fn step(&mut self) -> Result<Vec<Result<StepReport, Error>>, Error> {
        self.each(|_, simulation| simulation.step().cloned())
    }

    /// Does something with every member in parallel, and returns what comes of it in their order. `work` is given the number of
    /// the member.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn each<T: Send>(
        &mut self,
        work: impl Fn(usize, &mut Simulation) -> Result<T, Error> + Sync,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let members = self.members.iter_mut().enumerate().collect();
        self.workers.each(members, |(k, simulation)| work(k, simulation))
    }

    /// The same with some of the members, in the order that `which` has.
    ///
    /// # Errors
    /// As [`step`](Self::step), and [`BatchError`] for a member that does not exist or is named twice; nothing is done then.
    pub fn each_of<T: Send>(
        &mut self,
        which: &[usize],
        work: impl Fn(usize, &mut Simulation) -> Result<T, Error> + Sync,
    ) -> Result<Vec<Result<T, Error>>, Error> {
        let count = self.members.len();
        let mut left: Vec<Option<&mut Simulation>> = self.members.iter_mut().map(Some).collect();
        let mut members = Vec::with_capacity(which.len());
        for &k in which {
            let place = left.get_mut(k).ok_or(BatchError::NoMember { member: k, count })?;
            members.push((k, place.take().ok_or(BatchError::Repeated { member: k })?));
        }
        self.workers.each(members, |(k, simulation)| work(k, simulation))
    }

    /// Takes some members back to the state before their first step, as [`Simulation::reset`].
    ///
    /// # Errors
    /// As [`each_of`](Self::each_of), and [`BatchError::Member`] with the first member whose recording could not be ended.
    pub fn reset(&mut self, which: &[usize]) -> Result<(), Error> {
        let done = self.each_of(which, |_, simulation| simulation.reset())?;
        which.iter().zip(done).try_for_each(|(&k, done)| member(k, done))
    }

    /// Ends the recordings of all members, and the threads; they begin again when they are needed.
    ///
    /// # Errors
    /// [`BatchError::Member`] with the first member whose recording could not be ended.
    pub fn close(&mut self) -> Result<(), Error> {
        self.workers.end();
        let ended: Vec<_> = self.members.iter_mut().map(Simulation::finish).collect();
        ended.into_iter().enumerate().try_for_each(|(k, done)| member(k, done))
    }
}

/// What came of member number `k`, with its number if that is an error.
fn member<T>(k: usize, result: Result<T, Error>) -> Result<T, Error> {
    result.map_err(|error| BatchError::Member { member: k, error: Box::new(error) }.into())
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("members", &self.members)
            .field("threads", &self.threads())
            .finish()
    }
}
