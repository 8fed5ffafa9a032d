//! Many simulations that are advanced together.

use crate::arrays::{self, Vectors, to_vectors};
use crate::errors::raise;
use crate::scene::CoreScene;
use crate::shared::Shared;
use crate::simulation::{CoreSimulation, load_value, no_vectors, vectors_of};
use crate::threads::{interruptible, pool};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use standoff::errors::{ControlError, StepError};
use standoff::{Batch, BatchError, Error, LoadValue, Simulation, Vec3};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

/// Simulations. Threads that use them at the same time wait for each other.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreBatch {
    shared: Shared,
}

/// What is set in members before a step: what it is, of what, and values, the same number for each member.
#[derive(FromPyObject)]
struct Action<'py>(String, String, Vectors<'py>);

/// What an [`Action`] sets.
#[derive(Clone, Copy)]
enum Kind {
    BodyTargets,
    BodyMove,
    Targets,
    Move,
    Load,
    Pressure,
    Gravity,
}

impl Kind {
    fn of(name: &str) -> PyResult<Self> {
        Ok(match name {
            "body targets" => Self::BodyTargets,
            "body move" => Self::BodyMove,
            "targets" => Self::Targets,
            "move" => Self::Move,
            "load" => Self::Load,
            "pressure" => Self::Pressure,
            "gravity" => Self::Gravity,
            _ => return Err(PyValueError::new_err(format!("no action '{name}'"))),
        })
    }

    /// Sets the values of one member, of which there is one where they are not targets.
    fn set(self, simulation: &mut Simulation, name: &str, values: &[Vec3]) -> Result<(), Error> {
        match (self, values) {
            (Self::BodyTargets, x) => simulation.body_mut(name)?.set_targets(x),
            (Self::Targets, x) => simulation.set_targets(name, x),
            (Self::BodyMove, [by]) => simulation.body_mut(name)?.move_by(*by),
            (Self::Move, [by]) => {
                let x: Vec<Vec3> = simulation.targets(name)?.iter().map(|x| x + by).collect();
                simulation.set_targets(name, &x)
            }
            (Self::Load, [value]) => {
                let value = load_value(simulation, name, *value);
                simulation.set_load(name, value)
            }
            (Self::Pressure, [value]) => simulation.set_load(name, LoadValue::Pressure(value.x)),
            (Self::Gravity, [value]) => simulation.set_gravity(*value),
            (_, values) => {
                let (name, found) = (name.to_owned(), values.len());
                Err(ControlError::Length { what: "values", name, found, expected: 1 }.into())
            }
        }
    }
}

/// The values of the member at one place of a list of `count` members.
fn of_place(values: &[Vec3], count: usize, place: usize) -> &[Vec3] {
    let width = values.len() / count.max(1);
    &values[place * width..][..width]
}

/// The vectors of a body, or of all vertices.
fn part<'a>(
    simulation: &'a Simulation,
    what: &str,
    body: Option<&str>,
) -> Result<Option<&'a [Vec3]>, Error> {
    let range = body.map(|name| Ok::<_, Error>(simulation.body(name)?.vertices())).transpose()?;
    let all = vectors_of(simulation, what);
    Ok(all.map(|all| range.map_or(all, |range| &all[range])))
}

impl CoreBatch {
    /// Waits for other threads that use the batch, then does `work` with it, with the interpreter free.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Batch) -> T + Send,
    ) -> PyResult<T> {
        self.shared.caller.refuse_here()?;
        Ok(py
            .detach(|| work(&mut self.shared.batch.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    /// The same with something that can go wrong.
    fn attempt<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Batch) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.with(py, work)?.map_err(|e| raise(py, e))
    }

    /// Does something with some members in parallel. The first error is raised, with its member, when all others are done.
    fn each<T: Send>(
        &self,
        py: Python<'_>,
        members: &[usize],
        work: impl Fn(usize, &mut Simulation) -> Result<T, Error> + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let places = places(members);
        self.attempt(py, |batch| {
            let done = batch.each_of(members, |k, simulation| work(places[&k], simulation))?;
            members.iter().zip(done).map(|(&k, done)| done.map_err(|e| of_member(k, e))).collect()
        })
    }
}

/// The place of each member in a list of them.
fn places(members: &[usize]) -> HashMap<usize, usize> {
    members.iter().enumerate().map(|(place, &k)| (k, place)).collect()
}

fn of_member(member: usize, error: Error) -> Error {
    BatchError::Member { member, error: Box::new(error) }.into()
}

#[pymethods]
impl CoreBatch {
    /// Members of `scenes`, of which member k has number `of[k]`; 0 threads for as many as `set_threads` has set.
    #[new]
    fn new(
        py: Python<'_>,
        scenes: Vec<Py<CoreScene>>,
        of: Vec<usize>,
        threads: usize,
    ) -> PyResult<Self> {
        let threads = if threads == 0 { pool()?.current_num_threads() } else { threads };
        let scenes: Vec<_> = scenes.iter().map(Py::get).collect();
        let members: Option<Vec<_>> =
            of.iter().map(|k| scenes.get(*k).map(|core| &core.scene)).collect();
        let members =
            members.ok_or_else(|| PyValueError::new_err("a scene that is not in the list"))?;
        let batch = py.detach(|| Batch::new(members, threads));
        Ok(Self { shared: Shared::new(batch.map_err(|e| raise(py, e))?) })
    }

    fn member(&self, index: usize) -> CoreSimulation {
        CoreSimulation::member(self.shared.clone(), index)
    }

    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |batch| batch.threads())
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.attempt(py, Batch::close)
    }

    /// Does so many steps of some members, each after all `actions`. Returns for every one of them the error that ended it.
    fn step(
        &self,
        py: Python<'_>,
        actions: Vec<Action<'_>>,
        members: Vec<usize>,
        steps: u64,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        self.shared.caller.refuse_here()?;
        let count = members.len();
        let mut read = Vec::new();
        for Action(kind, name, values) in &actions {
            let values = to_vectors(name, values)?;
            if count == 0 || values.len() % count != 0 {
                let message = format!("'{name}': {} vectors for {count} members", values.len());
                return Err(PyValueError::new_err(message));
            }
            read.push((Kind::of(kind)?, name, values));
        }
        let places = places(&members);
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, batch) = (stop.clone(), &self.shared.batch);
        let (read, places, members) = (&read, &places, &members);
        let advance = |k: usize, simulation: &mut Simulation| {
            for _ in 0..steps {
                if stopped.load(Ordering::Relaxed) {
                    let step = simulation.step_index() as usize + 1;
                    return Err(StepError::Cancelled { step, iterations: 0 }.into());
                }
                for (kind, name, values) in read {
                    kind.set(simulation, name, of_place(values, count, places[&k]))?;
                }
                let stopped = stopped.clone();
                simulation.watch(move |_| match stopped.load(Ordering::Relaxed) {
                    false => ControlFlow::Continue(()),
                    true => ControlFlow::Break(()),
                });
                let done = simulation.step().map(drop);
                simulation.unwatch();
                done?;
            }
            Ok(())
        };
        let (done, interrupt) = interruptible(py, &stop, drop::<()>, |_, _done| {
            batch.lock().unwrap_or_else(PoisonError::into_inner).each_of(members, advance)
        })?;
        if let Some(error) = interrupt {
            return Err(error);
        }
        let done = done.map_err(|e| raise(py, e))?;
        let errors = members.iter().zip(done).map(|(&k, done)| {
            let error = done.err().map(|e| raise(py, of_member(k, e)));
            error.map(|e| e.into_value(py).into_any())
        });
        Ok(errors.collect())
    }

    fn reset(&self, py: Python<'_>, members: Vec<usize>) -> PyResult<()> {
        self.attempt(py, |batch| batch.reset(&members))
    }

    fn save<'py>(
        &self,
        py: Python<'py>,
        members: Vec<usize>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let saved = self.each(py, &members, |_, simulation| Ok(simulation.save()))?;
        Ok(saved.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    fn load(
        &self,
        py: Python<'_>,
        members: Vec<usize>,
        saved: Vec<Bound<'_, PyBytes>>,
    ) -> PyResult<()> {
        let bytes: Vec<&[u8]> = saved.iter().map(|b| b.as_bytes()).collect();
        if bytes.len() != members.len() {
            let (found, expected) = (bytes.len(), members.len());
            let message = format!("saved: {found} states for {expected} members");
            return Err(PyValueError::new_err(message));
        }
        self.each(py, &members, |place, simulation| simulation.load(bytes[place])).map(drop)
    }

    /// Of all vertices, or of those of a body, of every member in turn; an error where members have different numbers.
    #[pyo3(signature = (what, body=None))]
    fn vectors<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        body: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.attempt(py, |batch| {
            let mut list = Vec::new();
            let mut expected = None;
            for (k, simulation) in batch.members().iter().enumerate() {
                let part = part(simulation, what, body).map_err(|e| of_member(k, e))?;
                let Some(part) = part else { return Ok(None) };
                if *expected.get_or_insert(part.len()) != part.len() {
                    let (member, found) = (k, part.len());
                    let expected = expected.unwrap_or_default();
                    let what = "vertices";
                    return Err(BatchError::Unequal { member, what, found, expected }.into());
                }
                list.extend_from_slice(part);
            }
            Ok(Some(list))
        })?;
        arrays::vectors(py, &list.ok_or_else(|| no_vectors(what))?)
    }

    /// Sets positions or velocities of a body in some members.
    fn set_vectors(
        &self,
        py: Python<'_>,
        what: &str,
        body: &str,
        members: Vec<usize>,
        values: Vectors<'_>,
    ) -> PyResult<()> {
        let (values, count) = (to_vectors(what, &values)?, members.len());
        self.each(py, &members, |place, simulation| {
            let mut body = simulation.body_mut(body)?;
            match what {
                "positions" => body.set_positions(of_place(&values, count, place)),
                "velocities" => body.set_velocities(of_place(&values, count, place)),
                _ => body.set_targets(of_place(&values, count, place)),
            }
        })
        .map(drop)
    }

    /// Force and torque about the origin on a half-space of every member (2n×3).
    fn half_space_forces<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.attempt(py, |batch| {
            let of = |s: &Simulation| {
                let plane = s.half_space(name)?;
                Ok([plane.force(), plane.torque([0.0; 3])])
            };
            let forces = batch.members().iter().map(of).collect::<Result<Vec<_>, Error>>()?;
            Ok(forces.concat())
        })?;
        arrays::vectors(py, &list)
    }

    /// Steps done of every member.
    fn step_indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let steps = self.with(py, |batch| {
            batch.members().iter().map(Simulation::step_index).collect::<Vec<_>>()
        })?;
        Ok(PyArray1::from_vec(py, steps))
    }

    /// Time of every member, s.
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let times = self
            .with(py, |batch| batch.members().iter().map(Simulation::time).collect::<Vec<_>>())?;
        Ok(PyArray1::from_vec(py, times))
    }
}
