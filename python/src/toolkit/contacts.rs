//! Contact potentials, lagged friction, and the stiffness of the barrier.

use super::matrix::{Blocks, Csr};
use super::surface::CoreMesh;
use super::{by_name, not_negative, positive, to_positions};
use crate::arrays::{self, Vectors, to_finite};
use crate::threads::detached;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use standoff::Vec3;
use standoff_geometry::{CollisionMesh, UNUSED, broad_phase};
use standoff_sim::contact::orientation::{
    ActivationDistance, Derivatives, Measure, OrientationContact, OrientationPotential,
    OrientationSet, Parameters, Step,
};
use standoff_sim::contact::stiffness::{self, MASS_RATIO, StiffnessRange};
use standoff_sim::contact::{
    Barrier, BarrierPotential, ContactSet, Coulomb, Friction, FrictionMaterials, FrictionSet,
    Smoothing, Weighting,
};
use std::sync::Arc;

/// Shape of the orientation-aware potential.
#[derive(FromPyObject)]
pub struct Orientation {
    alpha_t: f64,
    beta_t: f64,
    alpha_n: f64,
    beta_n: f64,
    exponent: i32,
    areas: String,
    reach: String,
}

impl Orientation {
    fn context(&self, mesh: &CollisionMesh, d_hat: f64) -> PyResult<OrientationContact> {
        let step = |name: &str, alpha: f64, beta: f64| {
            let valid = alpha <= 1.0 && beta <= 1.0 && alpha + beta > 1e-6;
            match valid && alpha >= -1.0 && beta >= -1.0 {
                true => Ok(Step { alpha, beta }),
                false => Err(PyValueError::new_err(format!(
                    "alpha_{name} = {alpha}, beta_{name} = {beta}: expected numbers from -1 to 1 with \
                     alpha + beta > 0"
                ))),
            }
        };
        if !(1..=8).contains(&self.exponent) {
            let what = format!("exponent = {}: expected 1 to 8", self.exponent);
            return Err(PyValueError::new_err(what));
        }
        let parameters = Parameters {
            exponent: self.exponent,
            tangential: step("t", self.alpha_t, self.beta_t)?,
            normal: step("n", self.alpha_n, self.beta_n)?,
            measure: match &self.areas[..] {
                "rest" => Measure::Rest,
                "current" => Measure::Current,
                _ => return Err(PyValueError::new_err("areas: \"rest\" or \"current\"")),
            },
        };
        // vertices of closed surfaces have an inside
        let solid = vec![true; mesh.rest.len()];
        let rest = &mesh.rest;
        let mut context = OrientationContact::new(mesh, &solid, parameters, None, &[], rest, d_hat);
        match &self.reach[..] {
            "rest" => {}
            "uniform" => context.surface.epsilon = ActivationDistance::Uniform(d_hat),
            _ => return Err(PyValueError::new_err("reach: \"rest\" or \"uniform\"")),
        }
        Ok(context)
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
    #[pyo3(signature = (mesh, x, d_hat, stiffness, kind, barrier, orientation=None))]
    fn new(
        py: Python<'_>,
        mesh: &CoreMesh,
        x: Vectors<'_>,
        d_hat: f64,
        stiffness: f64,
        kind: &str,
        barrier: &str,
        orientation: Option<Orientation>,
    ) -> PyResult<Self> {
        positive("d_hat", d_hat)?;
        not_negative("stiffness", stiffness)?;
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
        let barrier = by_name("barrier", barrier)?;
        let potential =
            BarrierPotential { barrier, d_hat, kappa: stiffness, physical, even: false };
        let context = orientation.map(|o| o.context(mesh, d_hat)).transpose()?;
        let set = detached(py, || {
            let found = broad_phase::candidates(mesh, &x, 0.5 * d_hat);
            let Some(context) = context else {
                return ContactSet::build(&found, mesh, &[], &x, d_hat, &weighting);
            };
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
        Ok(self.set.min_gap(&to_positions("x", &x, self.n)?))
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
        let x = to_positions("x", &x, self.n)?;
        detached(py, || self.potential.set_value(&self.set, &x))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = to_positions("x", &x, self.n)?;
        let g = detached(py, || {
            let mut g = vec![Vec3::zeros(); self.n];
            self.potential.add_gradient(&self.set, &x, &mut g);
            g
        })?;
        arrays::vectors(py, &g)
    }

    fn hessian<'py>(&self, py: Python<'py>, x: Vectors<'_>, project: bool) -> PyResult<Csr<'py>> {
        let x = to_positions("x", &x, self.n)?;
        let blocks = detached(py, || {
            let mut blocks = Blocks::default();
            if project {
                let (pairs, _, oriented) = self.potential.terms(&self.set);
                blocks.add_term(&pairs, &x);
                blocks.add_term(&oriented, &x);
                return blocks;
            }
            for c in &self.set.contacts {
                let h = self.potential.hessian(c, &c.gather(&x));
                for (a, &v) in c.stencil().iter().enumerate() {
                    for (b, &w) in c.stencil().iter().enumerate() {
                        blocks.add(v, w, h[a][b]);
                    }
                }
            }
            self.add_oriented(&x, &mut blocks);
            blocks
        })?;
        Ok(blocks.into_python(py, self.n))
    }

    /// Friction with the normal forces and sliding directions at `x`: static and kinetic coefficients by pairs of materials, and the
    /// material of each vertex.
    fn friction(
        &self,
        py: Python<'_>,
        x: Vectors<'_>,
        coefficients: PyReadonlyArray2<'_, f64>,
        kinetic: PyReadonlyArray2<'_, f64>,
        materials: Vec<u16>,
        displacement: f64,
    ) -> PyResult<CoreFriction> {
        let x = to_positions("x", &x, self.n)?;
        let table = coefficients.as_array();
        let count = table.nrows();
        if table.ncols() != count || count == 0 {
            let what = "coefficient: expected a number or a square array";
            return Err(PyValueError::new_err(what));
        }
        if materials.len() != self.n || materials.iter().any(|m| *m as usize >= count) {
            let n = self.n;
            let what = format!("materials: expected {n} numbers from 0 to {}", count - 1);
            return Err(PyValueError::new_err(what));
        }
        let (at, sliding) = (|a: usize, b: usize| table[[a, b]], kinetic.as_array());
        let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
        if pairs
            .clone()
            .any(|(a, b)| at(a, b) != at(b, a) || !at(a, b).is_finite() || at(a, b) < 0.0)
        {
            let what = "coefficient: expected finite numbers of at least 0, a symmetric array";
            return Err(PyValueError::new_err(what));
        }
        let fits = sliding.dim() == table.dim()
            && pairs.clone().all(|(a, b)| {
                sliding[[a, b]] == sliding[[b, a]] && (0.0..=at(a, b)).contains(&sliding[[a, b]])
            });
        if !fits {
            let what =
                "kinetic: expected numbers from 0 to those of `coefficient`, of the same shape";
            return Err(PyValueError::new_err(what));
        }
        positive("displacement", displacement)?;
        let both = |(a, b): (usize, usize)| Coulomb { at_rest: at(a, b), sliding: sliding[[a, b]] };
        let materials = FrictionMaterials {
            vertex: materials,
            half_space: Vec::new(),
            coefficients: pairs.map(both).collect(),
            count,
            stick: Vec::new(),
        };
        let set = detached(py, || {
            let (set, potential) = (&self.set, &self.potential);
            FrictionSet::build(set, potential, &x, &materials, Smoothing::C1, displacement)
        })?;
        Ok(CoreFriction { n: self.n, set })
    }
}

impl CoreContacts {
    /// Adds the Hessians of the orientation-aware pairs as they are.
    fn add_oriented(&self, x: &[Vec3], blocks: &mut Blocks) {
        let Some(context) = &self.set.orientation.context else { return };
        let kappa = self.potential.orientation_kappa(&self.set);
        let potential = OrientationPotential { parameters: context.parameters, kappa };
        let mut work = Derivatives::default();
        for pair in &self.set.orientation.pairs {
            potential.hessian(&context.mesh, &context.surface, pair, x, &mut work);
            for (i, &v) in work.vertices.iter().enumerate() {
                for (j, &w) in work.vertices.iter().enumerate() {
                    blocks.add(v, w, *work.block(i, j));
                }
            }
        }
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
        Ok((to_positions("x", x, self.n)?, to_positions("start", from, self.n)?))
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
    ) -> PyResult<Csr<'py>> {
        let (x, from) = self.pair(&x, &from)?;
        let blocks = detached(py, || {
            let mut blocks = Blocks::default();
            blocks.add_term(&Friction::new(self.set.clone(), from), &x);
            blocks
        })?;
        Ok(blocks.into_python(py, self.n))
    }
}

/// κ that balances two gradients, and the largest κ [Li 2020 thesis, App. F].
#[pyfunction]
pub fn initial_stiffness(
    d_hat: f64,
    size: f64,
    mass: f64,
    gradient: Vectors<'_>,
    contact_gradient: Vectors<'_>,
    thickness: f64,
    barrier: &str,
) -> PyResult<(f64, f64)> {
    let barrier: Barrier = by_name("barrier", barrier)?;
    positive("d_hat", d_hat)?;
    positive("size", size)?;
    positive("mass", mass)?;
    not_negative("thickness", thickness)?;
    let other = to_finite("gradient", &gradient)?;
    let contact = to_positions("contact_gradient", &contact_gradient, other.len())?;
    let range = StiffnessRange::new(barrier, d_hat, thickness, size, mass, MASS_RATIO);
    Ok((range.balance(&other, &contact), range.max))
}

/// κ after an iteration, by the smallest gaps before and after it.
#[pyfunction]
pub fn updated_stiffness(
    kappa: f64,
    largest: f64,
    before: f64,
    now: f64,
    size: f64,
) -> PyResult<f64> {
    not_negative("stiffness", kappa)?;
    not_negative("largest", largest)?;
    positive("size", size)?;
    // infinite where nothing is in contact
    if let Some((what, value)) = [("distance_before", before), ("distance", now)]
        .into_iter()
        .find(|(_, d)| d.is_nan() || *d < 0.0)
    {
        let what = format!("{what} = {value}: expected a number of at least 0");
        return Err(PyValueError::new_err(what));
    }
    let range = StiffnessRange { min: 0.0, max: largest };
    Ok(stiffness::update(&range, kappa, before, now, size))
}
