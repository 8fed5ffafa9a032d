//! Simulations that are advanced step by step.

use crate::arrays::{self, Vectors, to_vectors};
use crate::errors::raise;
use crate::scene::{CoreScene, json};
use crate::shared::Shared;
use crate::threads::{detached, pool};
use crate::watch;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use standoff::definition::{ForceDef, Load};
use standoff::{Batch, Error, JointTarget, LoadValue, Options, Pose, Simulation, Vec3};
use std::path::PathBuf;
use std::sync::PoisonError;

/// A simulation: a member of a batch, often its only one. Threads that use the batch at the same time wait for each other.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreSimulation {
    shared: Shared,
    index: usize,
}

impl CoreSimulation {
    /// Member number `index` of a batch.
    pub fn member(shared: Shared, index: usize) -> Self {
        Self { shared, index }
    }

    fn of(simulation: Result<Simulation, Error>) -> Result<Self, Error> {
        Ok(Self::member(Shared::new(Batch::of_members(vec![simulation?], 1)?), 0))
    }

    /// Waits for other threads that use the simulation, then does `work` with it on the pool. The interpreter is free from
    /// the start to the end.
    ///
    /// The lock is taken outside of the pool. Within it, a thread that waits for parts of its own work takes over whatever
    /// else is requested of the pool; if that then waited for the lock, it would wait for the work below it, without end. Nor is
    /// the interpreter held with the lock: its memory management may run anything, which may ask for the lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Simulation) -> T + Send,
    ) -> PyResult<T> {
        self.shared.caller.refuse_here()?;
        let pool = pool()?;
        Ok(py.detach(|| {
            let mut guard = self.shared.batch.lock().unwrap_or_else(PoisonError::into_inner);
            let simulation = &mut guard.members_mut()[self.index];
            pool.install(|| work(simulation))
        }))
    }

    /// The same with something that can go wrong.
    fn attempt<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Simulation) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.with(py, work)?.map_err(|e| raise(py, e))
    }

    /// The same with something so short that it needs no pool.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Simulation) -> T + Send,
    ) -> PyResult<T> {
        self.shared.caller.refuse_here()?;
        Ok(py.detach(|| {
            let guard = self.shared.batch.lock().unwrap_or_else(PoisonError::into_inner);
            read(&guard.members()[self.index])
        }))
    }
}

#[pymethods]
impl CoreSimulation {
    #[new]
    fn new(py: Python<'_>, scene: &CoreScene) -> PyResult<Self> {
        let built = detached(py, || Simulation::new(&scene.scene))?;
        Self::of(built).map_err(|e| raise(py, e))
    }

    #[staticmethod]
    fn resume(py: Python<'_>, scene: &CoreScene, folder: PathBuf) -> PyResult<Self> {
        let built = detached(py, || Simulation::resume(&scene.scene, &folder))?;
        Self::of(built).map_err(|e| raise(py, e))
    }

    #[staticmethod]
    fn restore(py: Python<'_>, scene: &CoreScene, saved: &[u8]) -> PyResult<Self> {
        let built = detached(py, || Simulation::restore(&scene.scene, saved))?;
        Self::of(built).map_err(|e| raise(py, e))
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, Simulation::save)?))
    }

    fn load(&self, py: Python<'_>, saved: &[u8]) -> PyResult<()> {
        self.attempt(py, |s| s.load(saved))
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.attempt(py, Simulation::reset)
    }

    /// The report of the last step as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.read(py, |s| s.report().cloned())?.map(|report| json(&report)).transpose()
    }

    /// Does one step; returns its report as JSON. `watch` is called with step, number, speed, tolerance and positions in every
    /// iteration, and ends the step by returning `False`.
    #[pyo3(signature = (watch=None))]
    fn step(&self, py: Python<'_>, watch: Option<Py<PyAny>>) -> PyResult<String> {
        self.shared.caller.refuse_here()?;
        let report = watch::step(py, &self.shared, self.index, watch)?;
        json(&report.map_err(|e| raise(py, e))?)
    }

    fn record(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        self.attempt(py, |s| s.record(folder, Options { force }))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.attempt(py, Simulation::finish)
    }

    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, Simulation::time)
    }

    #[getter]
    fn step_index(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, Simulation::step_index)
    }

    /// Of all vertices: `positions`, `velocities`, `contact_forces`, `targets` or `rest`.
    fn vectors<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.read(py, |s| vectors_of(s, what).map(<[Vec3]>::to_vec))?;
        match list {
            Some(list) => arrays::vectors(py, &list),
            None => Err(no_vectors(what)),
        }
    }

    /// Masses of all vertices, kg.
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let masses = self.read(py, |simulation| {
            let n = simulation.positions().len();
            simulation.core().model().mass[..n].to_vec()
        })?;
        Ok(PyArray1::from_vec(py, masses))
    }

    /// Of all elements: `von_mises`, `stress_errors`, `plastic_strains`, `stretches` or `bending_energies`.
    fn elements<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let list = self.with(py, |simulation| match what {
            "von_mises" => Some(simulation.core().von_mises()),
            "plastic_strains" => Some(simulation.core().plastic_strains()),
            "stretches" => Some(simulation.core().stretches()),
            "bending_energies" => Some(simulation.core().bending_energies()),
            "stress_errors" => Some(simulation.core().recovered_stresses().error),
            _ => None,
        })?;
        let list = list.ok_or_else(|| PyValueError::new_err(format!("no values '{what}'")))?;
        Ok(PyArray1::from_vec(py, list))
    }

    /// Of all elements of solids `stresses` or `strains`, of all vertices `recovered_stresses` (9n), row by row.
    fn tensors<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let list = self.with(py, |simulation| match what {
            "stresses" => Some(simulation.core().stresses()),
            "strains" => Some(simulation.core().strains()),
            "recovered_stresses" => Some(simulation.core().recovered_stresses().stress),
            _ => None,
        })?;
        let list = list.ok_or_else(|| PyValueError::new_err(format!("no values '{what}'")))?;
        // symmetric, so that columns are rows
        let flat = list.iter().flat_map(|t| t.iter().copied()).collect();
        Ok(PyArray1::from_vec(py, flat))
    }

    /// Force and torque about the origin on every half-space (2k×3).
    fn half_space_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list: Vec<Vec3> = self.read(py, |simulation| {
            simulation.core().state().half_space_forces.iter().flatten().copied().collect()
        })?;
        arrays::vectors(py, &list)
    }

    /// What `by` acts with on `on`, both bodies or half-spaces: force, its part that is friction, and its torque about the origin (3×3).
    fn contact_between<'py>(
        &self,
        py: Python<'py>,
        on: &str,
        by: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.attempt(py, |simulation| {
            let contact = match simulation.half_space(on) {
                Ok(half_space) => half_space.contact_with(by)?,
                Err(_) => simulation.body(on)?.contact_with(by)?,
            };
            Ok([contact.force(), contact.friction_force(), contact.torque([0.0; 3])])
        })?;
        arrays::vectors(py, &list)
    }

    /// Force and torque about the origin of what holds a set of vertices, and its mean displacement (3×3).
    fn held<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.attempt(py, |simulation| {
            let held = simulation.held(name)?;
            Ok([held.force(), held.torque([0.0; 3]), held.displacement()])
        })?;
        arrays::vectors(py, &list)
    }

    /// Force and torque about the origin of a load (2×3).
    fn applied<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let list = self.attempt(py, |simulation| {
            let applied = simulation.applied(name)?;
            Ok([applied.force(), applied.torque([0.0; 3])])
        })?;
        arrays::vectors(py, &list)
    }

    /// Every contact, a column per quantity.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.with(py, |s| s.contacts())?;
        let columns = PyDict::new(py);
        let (mut vertices, mut points) = (Vec::new(), Vec::new());
        for c in &all {
            vertices.extend((0..4).map(|k| c.vertices.get(k).map_or(-1, |v| i64::from(*v))));
            points.extend(c.points);
        }
        columns.set_item("vertices", arrays::table(py, vertices, 4)?)?;
        columns.set_item("points", arrays::vectors(py, &points)?.reshape([all.len(), 2, 3])?)?;
        let normals: Vec<Vec3> = all.iter().map(|c| c.normal).collect();
        columns.set_item("normal", arrays::vectors(py, &normals)?)?;
        let of = |f: &dyn Fn(&standoff::ContactRecord) -> f64| {
            PyArray1::from_vec(py, all.iter().map(f).collect())
        };
        columns.set_item("gap", of(&|c| c.gap))?;
        columns.set_item("force", of(&|c| c.force))?;
        let of = |f: &dyn Fn(&standoff::ContactRecord) -> i64| {
            PyArray1::from_vec(py, all.iter().map(f).collect())
        };
        columns.set_item("first", of(&|c| c.first as i64))?;
        columns.set_item("half_space", of(&|c| c.half_space.map_or(-1, i64::from)))?;
        Ok(columns)
    }

    fn set_positions(&self, py: Python<'_>, body: &str, x: Vectors<'_>) -> PyResult<()> {
        let x = to_vectors("positions", &x)?;
        self.attempt(py, |s| s.body_mut(body)?.set_positions(&x))
    }

    fn set_velocities(&self, py: Python<'_>, body: &str, v: Vectors<'_>) -> PyResult<()> {
        let v = to_vectors("velocities", &v)?;
        self.attempt(py, |s| s.body_mut(body)?.set_velocities(&v))
    }

    fn set_targets(&self, py: Python<'_>, body: &str, x: Vectors<'_>) -> PyResult<()> {
        let x = to_vectors("targets", &x)?;
        self.attempt(py, |s| s.body_mut(body)?.set_targets(&x))
    }

    fn set_pose(
        &self,
        py: Python<'_>,
        body: &str,
        rotation: [f64; 3],
        translation: [f64; 3],
    ) -> PyResult<()> {
        let pose = Pose { rotation: rotation.into(), translation: translation.into() };
        self.attempt(py, |s| s.body_mut(body)?.set_pose(pose))
    }

    fn set_prescribed_targets(&self, py: Python<'_>, name: &str, x: Vectors<'_>) -> PyResult<()> {
        let x = to_vectors("targets", &x)?;
        self.attempt(py, |s| s.set_targets(name, &x))
    }

    fn prescribed_targets<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let targets = self.read(py, |s| s.targets(name))?.map_err(|e| raise(py, e))?;
        arrays::vectors(py, &targets)
    }

    fn set_prescription(&self, py: Python<'_>, name: &str, acts: bool) -> PyResult<()> {
        self.attempt(py, |s| s.set_prescription(name, acts))
    }

    fn set_gravity(&self, py: Python<'_>, gravity: [f64; 3]) -> PyResult<()> {
        self.attempt(py, |s| s.set_gravity(gravity))
    }

    #[pyo3(signature = (name, vector=None, pressure=None))]
    fn set_load(
        &self,
        py: Python<'_>,
        name: &str,
        vector: Option<[f64; 3]>,
        pressure: Option<f64>,
    ) -> PyResult<()> {
        self.attempt(py, |s| {
            let vector = vector.map(|v| load_value(s, name, v.into()));
            s.set_load(name, vector.or(pressure.map(LoadValue::Pressure)))
        })
    }

    /// Names of all joints, then of all tendons.
    fn joint_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.read(py, |s| s.core().model().joints.names().map(str::to_owned).collect())
    }

    /// What a joint acted with and its coordinates, as the JSON of a report has it.
    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let forces = self.attempt(py, |s| s.joint(name))?;
        json(&forces)
    }

    #[pyo3(signature = (name, position=None, velocity=None, effort=None))]
    fn set_joint_target(
        &self,
        py: Python<'_>,
        name: &str,
        position: Option<f64>,
        velocity: Option<f64>,
        effort: Option<f64>,
    ) -> PyResult<()> {
        let target = JointTarget { position, velocity, effort };
        self.attempt(py, |s| s.set_joint_target(name, target))
    }

    /// What the independent audit finds wrong.
    fn audit(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |s| s.audit())
    }
}

/// Of all vertices of a simulation; none for a name that there is not.
pub fn vectors_of<'a>(simulation: &'a Simulation, what: &str) -> Option<&'a [Vec3]> {
    let (core, n) = (simulation.core(), simulation.positions().len());
    Some(match what {
        "positions" => simulation.positions(),
        "velocities" => simulation.velocities(),
        "contact_forces" => simulation.contact_forces(),
        "targets" => &core.state().targets[..n],
        "rest" => &core.model().rest[..n],
        _ => return None,
    })
}

pub fn no_vectors(what: &str) -> PyErr {
    PyValueError::new_err(format!("no vectors '{what}'"))
}

/// Three numbers as a value of a load: of the quantity that the scene gives it.
pub fn load_value(simulation: &Simulation, name: &str, value: Vec3) -> LoadValue {
    let mut named = simulation.scene().definition.forces.iter().filter(|f| f.name == name);
    match named.next().map(|f: &ForceDef| &f.load) {
        Some(Load::Acceleration(_)) => LoadValue::Acceleration(value),
        Some(Load::Traction(_)) => LoadValue::Traction(value),
        _ => LoadValue::Force(value),
    }
}
