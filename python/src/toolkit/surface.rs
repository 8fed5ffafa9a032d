//! Surfaces that can be in contact: candidates, step sizes, intersections.

use super::{not_negative, to_positions};
use crate::arrays::{self, Indices, Vectors, to_finite, to_indices};
use crate::threads::detached;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use standoff::Vec3;
use standoff_geometry::ccd::{self, Method};
use standoff_geometry::{CollisionMesh, audit, broad_phase, topology};
use std::sync::Arc;

/// How collisions are found, by name.
pub fn method(name: &str) -> PyResult<Method> {
    match name {
        "additive" => Ok(Method::Additive),
        "additive-published" => Ok(Method::AdditivePublished),
        "inclusion" => Ok(Method::Inclusion),
        _ => {
            let known = "\"additive\", \"additive-published\" or \"inclusion\"";
            Err(PyValueError::new_err(format!("method: {known}")))
        }
    }
}

/// Group of each vertex, and pairs of groups that do not touch each other.
type Filter = (Vec<u32>, Vec<(u32, u32)>);

/// A surface of triangles, segments and points.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreMesh {
    pub mesh: Arc<CollisionMesh>,
}

#[pymethods]
impl CoreMesh {
    #[new]
    #[pyo3(signature = (rest, triangles, segments, points, thickness=None, mobile=None, filter=None))]
    fn new(
        rest: Vectors<'_>,
        triangles: Option<Indices<'_>>,
        segments: Option<Indices<'_>>,
        points: Vec<u32>,
        thickness: Option<Vec<f64>>,
        mobile: Option<Vec<bool>>,
        filter: Option<Filter>,
    ) -> PyResult<Self> {
        let rest = to_finite("rest", &rest)?;
        let n = rest.len();
        let triangles = triangles.map_or(Ok(Vec::new()), |t| to_indices("triangles", &t, n))?;
        let segments = segments.map_or(Ok(Vec::new()), |s| to_indices("segments", &s, n))?;
        if let Some(v) = points.iter().find(|v| **v as usize >= n) {
            return Err(PyValueError::new_err(format!("points: vertex {v}, but there are {n}")));
        }
        let mut mesh = CollisionMesh::new(rest, triangles, &segments, &points);
        let counted = |what: &str, count: usize| match count == n {
            true => Ok(()),
            false => Err(PyValueError::new_err(format!("{what}: {count} values, expected {n}"))),
        };
        if let Some(thickness) = thickness {
            counted("thickness", thickness.len())?;
            let wrong = |t: &f64| !(*t >= 0.0 && t.is_finite());
            if let Some(k) = thickness.iter().position(wrong) {
                return Err(PyValueError::new_err(format!(
                    "thickness: that of vertex {k} is {}; expected finite numbers of at least 0",
                    thickness[k]
                )));
            }
            mesh.half_thickness = thickness.iter().map(|t| 0.5 * t).collect();
            constant(&mesh, "thickness", |v| thickness[v as usize])?;
        }
        if let Some(mobile) = mobile {
            counted("mobile", mobile.len())?;
            mesh.mobile = mobile;
        }
        if let Some((groups, ignore)) = filter {
            counted("groups", groups.len())?;
            constant(&mesh, "groups", |v| groups[v as usize])?;
            mesh.exclude_groups(groups, &ignore);
        }
        Ok(Self { mesh: Arc::new(mesh) })
    }

    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        arrays::indices(py, &self.mesh.edges)
    }

    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        arrays::indices(py, &self.mesh.faces)
    }

    fn candidates<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
        x1: Option<Vectors<'_>>,
        distance: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        not_negative("distance", distance)?;
        let (x, dx) = self.motion(&x, x1.as_ref())?;
        let (mesh, inflation) = (&self.mesh, 0.5 * distance);
        let found = detached(py, || match &dx {
            None => broad_phase::candidates(mesh, &x, inflation),
            Some(dx) => broad_phase::swept_candidates(mesh, &x, dx, inflation),
        })?;
        let out = PyDict::new(py);
        out.set_item("vertex_vertex", arrays::indices(py, &found.vertex_vertex)?)?;
        out.set_item("edge_vertex", arrays::indices(py, &found.edge_vertex)?)?;
        out.set_item("edge_edge", arrays::indices(py, &found.edge_edge)?)?;
        out.set_item("face_vertex", arrays::indices(py, &found.face_vertex)?)?;
        Ok(out)
    }

    fn max_step(
        &self,
        py: Python<'_>,
        x: Vectors<'_>,
        x1: Vectors<'_>,
        keep: f64,
        name: &str,
    ) -> PyResult<f64> {
        let method = method(name)?;
        if !(0.0..1.0).contains(&keep) {
            let what = format!("keep = {keep}: expected a number of at least 0 and below 1");
            return Err(PyValueError::new_err(what));
        }
        let (x, dx) = self.motion(&x, Some(&x1))?;
        let (mesh, dx) = (&self.mesh, dx.unwrap_or_default());
        detached(py, || {
            let swept = broad_phase::swept_candidates(mesh, &x, &dx, 0.0);
            ccd::max_step(mesh, &x, &dx, &swept, method, keep, 1.0)
        })
    }

    /// Kinds and primitives of all pairs that intersect.
    fn intersections(&self, py: Python<'_>, x: Vectors<'_>) -> PyResult<Vec<(String, [u32; 2])>> {
        let (x, _) = self.motion(&x, None)?;
        let pairs = detached(py, || audit::audit_intersections(&self.mesh, &x))?;
        let describe = |pair: audit::Pair| match pair {
            audit::Pair::EdgeFace { edge, face } => ("edge-face".into(), [edge, face]),
            audit::Pair::EdgeEdge { edges } => ("edge-edge".into(), edges),
            audit::Pair::FaceVertex { face, vertex } => ("face-vertex".into(), [face, vertex]),
            audit::Pair::EdgeVertex { edge, vertex } => ("edge-vertex".into(), [edge, vertex]),
            audit::Pair::VertexVertex { vertices } => ("vertex-vertex".into(), vertices),
        };
        Ok(pairs.into_iter().map(describe).collect())
    }
}

impl CoreMesh {
    /// Positions, and displacements where an end is given.
    pub fn motion(
        &self,
        x: &Vectors<'_>,
        x1: Option<&Vectors<'_>>,
    ) -> PyResult<(Vec<Vec3>, Option<Vec<Vec3>>)> {
        let n = self.mesh.rest.len();
        let x = to_positions("x", x, n)?;
        let Some(x1) = x1 else { return Ok((x, None)) };
        let x1 = to_positions("x1", x1, n)?;
        let dx = x1.iter().zip(&x).map(|(b, a)| b - a).collect();
        Ok((x, Some(dx)))
    }
}

/// Whether something is the same at all vertices of every edge, and so of every triangle.
fn constant<T: PartialEq>(mesh: &CollisionMesh, what: &str, at: impl Fn(u32) -> T) -> PyResult<()> {
    match mesh.edges.iter().find(|[a, b]| at(*a) != at(*b)) {
        None => Ok(()),
        Some([a, b]) => {
            Err(PyValueError::new_err(format!("{what}: vertices {a} and {b} of an edge differ")))
        }
    }
}

/// The triangles of tetrahedra that no two of them share.
#[pyfunction]
pub fn boundary<'py>(
    py: Python<'py>,
    tetrahedra: Indices<'_>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let tets: Vec<[u32; 4]> = to_indices("tetrahedra", &tetrahedra, u32::MAX as usize)?;
    let faces =
        topology::boundary_faces(&tets).map_err(|e| PyValueError::new_err(e.to_string()))?;
    arrays::indices(py, &faces)
}
