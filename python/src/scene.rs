//! Scenes.

use crate::arrays::{self, Indices, Vectors, to_indices, to_vectors};
use crate::errors::raise;
use crate::threads::interruptible;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use standoff::definition::BodyKind;
use standoff::{Error, Event, Mesh, Options, Scene};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A scene that has been checked.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreScene {
    pub scene: Scene,
}

/// Points, tetrahedra, triangles, segments of a mesh in memory.
type Arrays<'py> = (Vectors<'py>, Option<Indices<'py>>, Option<Indices<'py>>, Option<Indices<'py>>);

fn mesh(key: &str, (points, tets, triangles, edges): &Arrays<'_>) -> PyResult<Mesh> {
    let points = to_vectors(key, points)?;
    let n = points.len();
    fn part<const K: usize>(
        key: &str,
        list: &Option<Indices<'_>>,
        n: usize,
    ) -> PyResult<Vec<[u32; K]>> {
        list.as_ref().map_or(Ok(Vec::new()), |l| to_indices(key, l, n))
    }
    let mut mesh = Mesh {
        points,
        tets: part(key, tets, n)?,
        triangles: part(key, triangles, n)?,
        edges: part(key, edges, n)?,
        ..Mesh::default()
    };
    if mesh.tets.is_empty() && mesh.triangles.is_empty() && mesh.edges.is_empty() {
        mesh.vertices = (0..n as u32).collect();
    }
    mesh.flip_if_all_inverted();
    Ok(mesh)
}

#[pymethods]
impl CoreScene {
    /// A scene from the text of a scene file, with meshes in memory by the path that objects give.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        text: &str,
        overrides: Vec<String>,
        meshes: Vec<(String, Arrays<'_>)>,
    ) -> PyResult<Self> {
        let meshes = meshes
            .into_iter()
            .map(|(key, arrays)| Ok((key.clone(), mesh(&key, &arrays)?)))
            .collect::<PyResult<_>>()?;
        let (name, folder) = (Path::new("scene"), Path::new(""));
        let scene = Scene::parse_with(text, name, folder, &overrides, meshes).map_err(|e| {
            // the text was written by the Python side: places in it are unknown to the user
            raise(py, Error::Scene(standoff::errors::SceneError { location: None, ..e }))
        })?;
        Ok(Self { scene })
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let scene = standoff::load(path, &overrides).map_err(|e| raise(py, e))?;
        Ok(Self { scene })
    }

    #[staticmethod]
    fn load_run(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let scene = standoff::load_run(folder).map_err(|e| raise(py, e))?;
        Ok(Self { scene })
    }

    /// The same scene with its end after this many steps.
    fn with_steps(&self, steps: u64) -> Self {
        let mut scene = self.scene.clone();
        scene.set_steps(steps);
        Self { scene }
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.scene.steps()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scene.notes.clone()
    }

    /// The scene as a scene file with every default.
    fn resolved(&self) -> PyResult<String> {
        let failed = |e| pyo3::exceptions::PyRuntimeError::new_err(format!("{e}"));
        self.scene.resolved_toml().map_err(failed)
    }

    /// What the steps depend on, in 64 bits.
    fn fingerprint(&self) -> u64 {
        standoff::fingerprint(&self.scene)
    }

    /// Name, first vertex, one past the last, and elements of every body.
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        let mut first = 0;
        for body in &self.scene.definition.bodies {
            let entry = PyDict::new(py);
            let end = first + body.rest.len();
            entry.set_item("name", &body.name)?;
            entry.set_item("first", first)?;
            entry.set_item("end", end)?;
            let none: &[[u32; 3]] = &[];
            let own = body.carried().start as u32;
            let carried: Vec<[u32; 3]> = body
                .surface
                .iter()
                .flat_map(|s| s.triangles.iter())
                .map(|t| t.map(|v| v + own))
                .collect();
            let (kind, tets, triangles, segments): (_, &[[u32; 4]], &[[u32; 3]], &[[u32; 2]]) =
                match &body.kind {
                    BodyKind::Volume { tets, .. } => ("volume", tets, &carried, &[]),
                    BodyKind::Rigid { .. } => ("rigid", &[], &carried, &[]),
                    BodyKind::PlaneStrain { triangles, .. } => ("volume", &[], triangles, &[]),
                    BodyKind::Shell { triangles, .. } => ("shell", &[], triangles, &[]),
                    BodyKind::Rod { segments, .. } => ("rod", &[], none, segments),
                    BodyKind::Particles { .. } => ("particles", &[], none, &[]),
                    BodyKind::Obstacle { triangles, edges, .. } => {
                        ("obstacle", &[], triangles, edges)
                    }
                };
            entry.set_item("role", kind)?;
            entry.set_item("tetrahedra", arrays::indices(py, tets)?)?;
            entry.set_item("triangles", arrays::indices(py, triangles)?)?;
            entry.set_item("segments", arrays::indices(py, segments)?)?;
            entry.set_item("rest", arrays::vectors(py, &body.rest)?)?;
            all.append(entry)?;
            first = end;
        }
        Ok(all)
    }

    #[getter]
    fn half_spaces(&self) -> Vec<String> {
        self.scene.definition.half_spaces.iter().map(|h| h.name.clone()).collect()
    }

    #[getter]
    fn prescriptions(&self) -> Vec<String> {
        self.scene.definition.prescribed.iter().map(|p| p.name.clone()).collect()
    }

    #[getter]
    fn loads(&self) -> Vec<String> {
        self.scene.definition.forces.iter().map(|f| f.name.clone()).collect()
    }

    /// Runs to the end in a folder; `observe` is called with the JSON of each step's report.
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        force: bool,
        resume: bool,
        observe: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let (mut interrupted, stop) = (None, AtomicBool::new(false));
        let scene = &self.scene;
        let mut watch = |event: &Event<'_>| {
            let seen = Python::attach(|py| match (event, &observe) {
                (Event::Step(report), Some(f)) => f.call1(py, (json(report)?,)).map(drop),
                (Event::Warning(text), _) => {
                    py.import("warnings")?.call_method1("warn", (text,)).map(drop)
                }
                _ => Ok(()),
            });
            match seen {
                Ok(()) if stop.load(Ordering::Relaxed) => ControlFlow::Break(()),
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    interrupted = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let (result, raised) = interruptible(py, &stop, drop::<()>, |pool, _done| {
            pool.install(|| match resume {
                true => standoff::resume_with(scene, &folder, &mut watch),
                false => standoff::run_with(scene, &folder, Options { force }, &mut watch),
            })
        })?;
        // the run has been ended as if this had been its last step
        if let Some(error) = raised.or(interrupted) {
            return Err(error);
        }
        Ok(result.map_err(|e| raise(py, e))?.to_string())
    }
}

/// A report as JSON.
pub fn json(report: &impl serde::Serialize) -> PyResult<String> {
    let failed = |e: serde_json::Error| pyo3::exceptions::PyRuntimeError::new_err(e.to_string());
    serde_json::to_string(report).map_err(failed)
}
