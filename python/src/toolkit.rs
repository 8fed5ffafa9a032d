//! The building blocks of contact and elasticity on plain arrays.
// long: one class per building block, each a few lines of conversion

use crate::arrays::{self, Indices, Vectors, to_indices, to_vectors};
use crate::threads::detached;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use standoff::Vec3;
use standoff::energy::{Layout, Term};
use standoff_geometry::ccd::{self, Method};
use standoff_geometry::distance::{
    edge_edge, edge_edge_d2, point_edge, point_edge_d2, point_point, point_point_d2,
    point_triangle, point_triangle_d2,
};
use standoff_geometry::{CollisionMesh, UNUSED, audit, broad_phase};
use standoff_linalg::Mat3;
use standoff_sim::contact::orientation::{OrientationContact, OrientationSet, Parameters};
use standoff_sim::contact::{
    Barrier, BarrierPotential, ContactSet, FrictionMaterials, FrictionSet, Smoothing, Weighting,
};
use standoff_sim::energy::tet::ElasticTets;
use standoff_sim::material::{Law, Material};
use std::sync::Arc;

/// Rows, columns and values of a matrix, to be summed.
type Triplets<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// Rows, columns and values of a matrix on the way to Python.
#[derive(Default)]
struct Entries {
    rows: Vec<i64>,
    columns: Vec<i64>,
    values: Vec<f64>,
}

impl Entries {
    fn block(&mut self, a: u32, b: u32, block: &Mat3) {
        for i in 0..3 {
            for j in 0..3 {
                self.rows.push(3 * i64::from(a) + i as i64);
                self.columns.push(3 * i64::from(b) + j as i64);
                self.values.push(block[(i, j)]);
            }
        }
    }

    /// A block of the upper triangle and its mirror image.
    fn pair(&mut self, a: u32, b: u32, block: &Mat3) {
        self.block(a, b, block);
        self.block(b, a, &block.transpose());
    }

    fn into_python(self, py: Python<'_>) -> Triplets<'_> {
        (
            PyArray1::from_vec(py, self.rows),
            PyArray1::from_vec(py, self.columns),
            PyArray1::from_vec(py, self.values),
        )
    }
}

/// The projected Hessian of an energy.
fn hessian(term: &dyn Term, x: &[Vec3]) -> Entries {
    let (stencils, layout) = (term.stencils(), term.layout());
    let mut out = Entries::default();
    for (i, stencil) in stencils.iter().enumerate() {
        let n = stencil.len();
        let mut blocks = vec![Mat3::zeros(); layout.block_count(n)];
        term.hessians(i..i + 1, x, &mut blocks);
        let above = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let off = match layout {
            Layout::Complete => n,
            Layout::OffDiagonal => 0,
        };
        let mut diagonal = vec![Mat3::zeros(); n];
        diagonal[..off].copy_from_slice(&blocks[..off]);
        for ((a, b), block) in above.zip(&blocks[off..]) {
            if stencil[a] == UNUSED || stencil[b] == UNUSED {
                continue;
            }
            out.pair(stencil[a], stencil[b], block);
            if layout == Layout::OffDiagonal {
                diagonal[a] -= block;
                diagonal[b] -= block.transpose();
            }
        }
        for (v, block) in stencil.iter().zip(&diagonal).filter(|(v, _)| **v != UNUSED) {
            out.block(*v, *v, block);
        }
    }
    out
}

fn check_count(what: &str, x: &[Vec3], n: usize) -> PyResult<()> {
    match x.len() == n {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{what}: {} vertices, expected {n}", x.len()))),
    }
}

/// A surface of triangles, segments and points.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreMesh {
    mesh: Arc<CollisionMesh>,
}

#[pymethods]
impl CoreMesh {
    #[new]
    fn new(
        rest: Vectors<'_>,
        triangles: Option<Indices<'_>>,
        segments: Option<Indices<'_>>,
        points: Vec<u32>,
    ) -> PyResult<Self> {
        let rest = to_vectors("rest", &rest)?;
        let n = rest.len();
        let triangles = triangles.map_or(Ok(Vec::new()), |t| to_indices("triangles", &t, n))?;
        let segments = segments.map_or(Ok(Vec::new()), |s| to_indices("segments", &s, n))?;
        if let Some(v) = points.iter().find(|v| **v as usize >= n) {
            return Err(PyValueError::new_err(format!("points: vertex {v}, but there are {n}")));
        }
        Ok(Self { mesh: Arc::new(CollisionMesh::new(rest, triangles, &segments, &points)) })
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
        inflation: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (x, dx) = self.motion(&x, x1.as_ref())?;
        let mesh = &self.mesh;
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
        method: &str,
    ) -> PyResult<f64> {
        let method = match method {
            "additive" => Method::Additive,
            "inclusion" => Method::Inclusion,
            _ => return Err(PyValueError::new_err("method: \"additive\" or \"inclusion\"")),
        };
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
    fn motion(
        &self,
        x: &Vectors<'_>,
        x1: Option<&Vectors<'_>>,
    ) -> PyResult<(Vec<Vec3>, Option<Vec<Vec3>>)> {
        let n = self.mesh.rest.len();
        let x = to_vectors("positions", x)?;
        check_count("positions", &x, n)?;
        let Some(x1) = x1 else { return Ok((x, None)) };
        let x1 = to_vectors("end positions", x1)?;
        check_count("end positions", &x1, n)?;
        let dx = x1.iter().zip(&x).map(|(b, a)| b - a).collect();
        Ok((x, Some(dx)))
    }
}

/// The contacts at given positions, with a potential.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreContacts {
    n: usize,
    set: ContactSet,
    potential: BarrierPotential,
}

#[pymethods]
impl CoreContacts {
    #[new]
    fn new(
        py: Python<'_>,
        mesh: &CoreMesh,
        x: Vectors<'_>,
        d_hat: f64,
        stiffness: f64,
        kind: &str,
    ) -> PyResult<Self> {
        if !(d_hat > 0.0 && d_hat.is_finite()) {
            return Err(PyValueError::new_err("d_hat must be a positive, finite number"));
        }
        let (x, _) = mesh.motion(&x, None)?;
        let mesh = &mesh.mesh;
        let (weighting, physical) = match kind {
            "ipc" | "orientation-aware" => (Weighting::Count, false),
            "area" => (Weighting::area(mesh), true),
            "convergent" => (Weighting::area_without_duplicates(mesh), true),
            _ => {
                let kinds = "\"ipc\", \"area\", \"convergent\" or \"orientation-aware\"";
                return Err(PyValueError::new_err(format!("potential: {kinds}")));
            }
        };
        let potential = BarrierPotential {
            barrier: Barrier::ClampedLog,
            d_hat,
            kappa: stiffness,
            physical,
            even: true,
        };
        let oriented = kind == "orientation-aware";
        let set = detached(py, || {
            let found = broad_phase::candidates(mesh, &x, 0.5 * d_hat);
            if !oriented {
                return ContactSet::build(&found, mesh, &[], &x, d_hat, &weighting);
            }
            // vertices of closed surfaces have an inside
            let solid = vec![true; x.len()];
            let parameters = Parameters::default();
            let rest = &mesh.rest;
            let context = OrientationContact::new(mesh, &solid, parameters, None, &[], rest, d_hat);
            let left = context.uncovered(&found);
            let plain = ContactSet::build(&left, mesh, &[], &x, d_hat, &weighting);
            let orientation = OrientationSet::build(&Arc::new(context), &found, &[], &x);
            ContactSet { orientation, ..plain }
        })?;
        Ok(Self { n: x.len(), set, potential })
    }

    fn __len__(&self) -> usize {
        self.set.len()
    }

    fn min_distance(&self, x: Vectors<'_>) -> PyResult<f64> {
        Ok(self.set.min_gap(&self.positions(&x)?))
    }

    /// Stencils of the pairs (n×4, −1 where unused), and their weights.
    fn stencils<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<f64>>)> {
        let entry = |v: u32| if v == UNUSED { -1 } else { i64::from(v) };
        let vertices = self.set.contacts.iter().flat_map(|c| c.vertices).map(entry).collect();
        let weights = self.set.contacts.iter().map(|c| c.weight).collect();
        Ok((arrays::table(py, vertices, 4)?, PyArray1::from_vec(py, weights)))
    }

    fn value(&self, py: Python<'_>, x: Vectors<'_>) -> PyResult<f64> {
        let x = self.positions(&x)?;
        detached(py, || self.potential.set_value(&self.set, &x))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.positions(&x)?;
        let g = detached(py, || {
            let mut g = vec![Vec3::zeros(); self.n];
            self.potential.add_gradient(&self.set, &x, &mut g);
            g
        })?;
        arrays::vectors(py, &g)
    }

    fn hessian<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
        project: bool,
    ) -> PyResult<Triplets<'py>> {
        let x = self.positions(&x)?;
        if !project && !self.set.orientation.is_empty() {
            let what = "the Hessian of the orientation-aware potential is projected only";
            return Err(PyValueError::new_err(what));
        }
        let entries = detached(py, || {
            let (pairs, _, oriented) = self.potential.terms(&self.set);
            if project {
                let mut all = hessian(&pairs, &x);
                let more = hessian(&oriented, &x);
                all.rows.extend(more.rows);
                all.columns.extend(more.columns);
                all.values.extend(more.values);
                return all;
            }
            let mut all = Entries::default();
            for c in &self.set.contacts {
                let h = self.potential.hessian(c, &c.gather(&x));
                for (a, &v) in c.stencil().iter().enumerate() {
                    for (b, &w) in c.stencil().iter().enumerate() {
                        all.block(v, w, &h[a][b]);
                    }
                }
            }
            all
        })?;
        Ok(entries.into_python(py))
    }

    /// Friction with the normal forces and sliding directions at `x`.
    fn friction(
        &self,
        py: Python<'_>,
        x: Vectors<'_>,
        coefficient: f64,
        displacement: f64,
    ) -> PyResult<CoreFriction> {
        let x = self.positions(&x)?;
        let materials = FrictionMaterials::uniform(self.n, 0, coefficient);
        let set = detached(py, || {
            let (set, potential) = (&self.set, &self.potential);
            FrictionSet::build(set, potential, &x, &materials, Smoothing::C1, displacement)
        })?;
        Ok(CoreFriction { n: self.n, set })
    }
}

impl CoreContacts {
    fn positions(&self, x: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
        let x = to_vectors("positions", x)?;
        check_count("positions", &x, self.n)?;
        Ok(x)
    }
}

/// Lagged friction.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreFriction {
    n: usize,
    set: FrictionSet,
}

impl CoreFriction {
    fn pair(&self, x: &Vectors<'_>, from: &Vectors<'_>) -> PyResult<(Vec<Vec3>, Vec<Vec3>)> {
        let (x, from) = (to_vectors("positions", x)?, to_vectors("start positions", from)?);
        check_count("positions", &x, self.n)?;
        check_count("start positions", &from, self.n)?;
        Ok((x, from))
    }
}

#[pymethods]
impl CoreFriction {
    fn __len__(&self) -> usize {
        self.set.contacts.len()
    }

    fn value(&self, x: Vectors<'_>, from: Vectors<'_>) -> PyResult<f64> {
        let (x, from) = self.pair(&x, &from)?;
        Ok(self.set.value(&x, &from))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
        from: Vectors<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (x, from) = self.pair(&x, &from)?;
        let mut g = vec![Vec3::zeros(); self.n];
        self.set.add_gradient(&x, &from, &mut g);
        arrays::vectors(py, &g)
    }

    fn hessian<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
        from: Vectors<'_>,
    ) -> PyResult<Triplets<'py>> {
        let (x, from) = self.pair(&x, &from)?;
        let entries = detached(py, || {
            let term =
                standoff_sim::contact::friction::Friction { set: &self.set, reference: &from };
            hessian(&term, &x)
        })?;
        Ok(entries.into_python(py))
    }
}

/// Elastic tetrahedra.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreElasticity {
    n: usize,
    tets: ElasticTets,
}

#[pymethods]
impl CoreElasticity {
    #[new]
    fn new(
        rest: Vectors<'_>,
        tets: Indices<'_>,
        law: &str,
        young_modulus: f64,
        poisson_ratio: f64,
    ) -> PyResult<Self> {
        let rest = to_vectors("rest", &rest)?;
        let tets: Vec<[u32; 4]> = to_indices("tetrahedra", &tets, rest.len())?;
        let quoted = format!("\"{law}\"");
        let law: Law = serde_json::from_str(&quoted)
            .map_err(|_| PyValueError::new_err(format!("unknown law {quoted}")))?;
        let material = Material { law, young_modulus, poisson_ratio };
        let tets = ElasticTets::new(&rest, tets.clone(), &vec![material; tets.len()])
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { n: rest.len(), tets })
    }

    fn value(&self, py: Python<'_>, x: Vectors<'_>) -> PyResult<f64> {
        let x = self.positions(&x)?;
        detached(py, || Term::value(&self.tets, &x))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.positions(&x)?;
        let mut g = vec![Vec3::zeros(); self.n];
        Term::add_gradient(&self.tets, &x, &mut g);
        arrays::vectors(py, &g)
    }

    fn hessian<'py>(&self, py: Python<'py>, x: Vectors<'_>) -> PyResult<Triplets<'py>> {
        let x = self.positions(&x)?;
        let entries = detached(py, || hessian(&self.tets, &x))?;
        Ok(entries.into_python(py))
    }

    /// The largest step t ≤ 1 along which no tetrahedron inverts.
    fn max_step(&self, x: Vectors<'_>, x1: Vectors<'_>) -> PyResult<f64> {
        let (x, x1) = (self.positions(&x)?, self.positions(&x1)?);
        let dx: Vec<Vec3> = x1.iter().zip(&x).map(|(b, a)| b - a).collect();
        Ok(Term::max_step(&self.tets, &x, &dx))
    }

    /// Lumped masses, kg (`#V`).
    fn masses<'py>(&self, py: Python<'py>, density: f64) -> Bound<'py, PyArray1<f64>> {
        let mut mass = vec![0.0; self.n];
        self.tets.add_lumped_mass(&vec![density; self.tets.len()], &mut mass);
        PyArray1::from_vec(py, mass)
    }
}

impl CoreElasticity {
    fn positions(&self, x: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
        let x = to_vectors("positions", x)?;
        check_count("positions", &x, self.n)?;
        Ok(x)
    }
}

/// Squared distances of `N` points per row, with gradients and Hessians (n×3N, n×3N×3N).
type Distances<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>);

fn distances<'py, const N: usize>(
    py: Python<'py>,
    points: [Vectors<'_>; N],
    of: impl Fn([&Vec3; N]) -> (f64, [Vec3; N], [[Mat3; N]; N]),
) -> PyResult<Distances<'py>> {
    let mut columns: [Vec<Vec3>; N] = std::array::from_fn(|_| Vec::new());
    for (column, array) in columns.iter_mut().zip(&points) {
        *column = to_vectors("points", array)?;
    }
    let n = columns[0].len();
    columns.iter().try_for_each(|c| check_count("points", c, n))?;
    let (mut values, mut gradients) = (Vec::with_capacity(n), Vec::with_capacity(3 * N * n));
    let mut hessians = Vec::with_capacity(9 * N * N * n);
    for k in 0..n {
        let (value, gradient, hessian) = of(std::array::from_fn(|c| &columns[c][k]));
        values.push(value);
        gradients.extend(gradient.iter().flatten().copied());
        for a in 0..3 * N {
            for b in 0..3 * N {
                hessians.push(hessian[a / 3][b / 3][(a % 3, b % 3)]);
            }
        }
    }
    let gradients = arrays::table(py, gradients, 3 * N)?;
    let hessians = PyArray1::from_vec(py, hessians).reshape([n, 3 * N, 3 * N])?;
    Ok((PyArray1::from_vec(py, values), gradients, hessians))
}

#[pyfunction]
fn point_point_distance<'py>(
    py: Python<'py>,
    a: Vectors<'_>,
    b: Vectors<'_>,
) -> PyResult<Distances<'py>> {
    let of = |[a, b]: [&Vec3; 2]| {
        (point_point_d2(a, b), point_point::gradient(a, b), point_point::hessian())
    };
    distances(py, [a, b], of)
}

#[pyfunction]
fn point_edge_distance<'py>(
    py: Python<'py>,
    p: Vectors<'_>,
    a: Vectors<'_>,
    b: Vectors<'_>,
) -> PyResult<Distances<'py>> {
    let of = |[p, a, b]: [&Vec3; 3]| {
        let hessian = point_edge::hessian(p, a, b);
        (point_edge_d2(p, a, b), point_edge::gradient(p, a, b), hessian)
    };
    distances(py, [p, a, b], of)
}

#[pyfunction]
fn edge_edge_distance<'py>(
    py: Python<'py>,
    a0: Vectors<'_>,
    a1: Vectors<'_>,
    b0: Vectors<'_>,
    b1: Vectors<'_>,
) -> PyResult<Distances<'py>> {
    let of = |[a0, a1, b0, b1]: [&Vec3; 4]| {
        let (g, h) = (edge_edge::gradient(a0, a1, b0, b1), edge_edge::hessian(a0, a1, b0, b1));
        (edge_edge_d2(a0, a1, b0, b1), g, h)
    };
    distances(py, [a0, a1, b0, b1], of)
}

#[pyfunction]
fn point_triangle_distance<'py>(
    py: Python<'py>,
    p: Vectors<'_>,
    a: Vectors<'_>,
    b: Vectors<'_>,
    c: Vectors<'_>,
) -> PyResult<Distances<'py>> {
    let of = |[p, a, b, c]: [&Vec3; 4]| {
        let (g, h) = (point_triangle::gradient(p, a, b, c), point_triangle::hessian(p, a, b, c));
        (point_triangle_d2(p, a, b, c), g, h)
    };
    distances(py, [p, a, b, c], of)
}

/// [b, b′, b″] of the barrier of squared distances (n×3).
#[pyfunction]
fn barrier<'py>(
    py: Python<'py>,
    squared_distances: Vec<f64>,
    d_hat: f64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let of = |s: &f64| Barrier::ClampedLog.derivatives(*s, d_hat * d_hat);
    arrays::table(py, squared_distances.iter().flat_map(of).collect(), 3)
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CoreMesh>()?;
    module.add_class::<CoreContacts>()?;
    module.add_class::<CoreFriction>()?;
    module.add_class::<CoreElasticity>()?;
    module.add_function(wrap_pyfunction!(point_point_distance, module)?)?;
    module.add_function(wrap_pyfunction!(point_edge_distance, module)?)?;
    module.add_function(wrap_pyfunction!(edge_edge_distance, module)?)?;
    module.add_function(wrap_pyfunction!(point_triangle_distance, module)?)?;
    module.add_function(wrap_pyfunction!(barrier, module)?)
}
