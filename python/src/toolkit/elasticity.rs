//! Elastic tetrahedra.

use super::matrix::{Blocks, Csr};
use super::{by_name, not_negative, to_positions};
use crate::arrays::{self, Indices, Vectors, to_finite, to_indices};
use crate::threads::detached;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use standoff::Vec3;
use standoff::energy::Term;
use standoff_linalg::{Mat3, Svd, svd3};
use standoff_sim::energy::tet::ElasticTets;
use standoff_sim::material::{Law, Material};

/// Elastic tetrahedra.
#[pyclass(frozen, module = "standoff._standoff")]
pub struct CoreElasticity {
    rest: Vec<Vec3>,
    corners: Vec<[u32; 4]>,
    material: Material,
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
        let rest = to_finite("rest", &rest)?;
        let corners: Vec<[u32; 4]> = to_indices("tetrahedra", &tets, rest.len())?;
        let law: Law = by_name("law", law)?;
        let material = Material { law, young_modulus, poisson_ratio };
        material.validate().map_err(|e| PyValueError::new_err(e.to_string()))?;
        let tets = ElasticTets::new(&rest, corners.clone(), &vec![material.clone(); corners.len()])
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { rest, corners, material, tets })
    }

    fn value(&self, py: Python<'_>, x: Vectors<'_>) -> PyResult<f64> {
        let x = self.positions("x", &x)?;
        detached(py, || Term::value(&self.tets, &x))
    }

    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: Vectors<'_>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.positions("x", &x)?;
        let g = detached(py, || {
            let mut g = vec![Vec3::zeros(); x.len()];
            Term::add_gradient(&self.tets, &x, &mut g);
            g
        })?;
        arrays::vectors(py, &g)
    }

    fn hessian<'py>(&self, py: Python<'py>, x: Vectors<'_>, project: bool) -> PyResult<Csr<'py>> {
        let x = self.positions("x", &x)?;
        let blocks = detached(py, || {
            let mut blocks = Blocks::default();
            match project {
                true => blocks.add_term(&self.tets, &x),
                false => self.corners.iter().for_each(|c| self.add_exact(c, &x, &mut blocks)),
            }
            blocks
        })?;
        Ok(blocks.into_python(py, self.rest.len()))
    }

    /// The largest step t ≤ 1 along which no tetrahedron inverts.
    fn max_step(&self, x: Vectors<'_>, x1: Vectors<'_>) -> PyResult<f64> {
        let (x, x1) = (self.positions("x", &x)?, self.positions("x1", &x1)?);
        let dx: Vec<Vec3> = x1.iter().zip(&x).map(|(b, a)| b - a).collect();
        Ok(Term::max_step(&self.tets, &x, &dx))
    }

    /// Lumped masses, kg (`#V`).
    fn masses<'py>(&self, py: Python<'py>, density: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        not_negative("density", density)?;
        let mut mass = vec![0.0; self.rest.len()];
        self.tets.add_lumped_mass(&vec![density; self.tets.len()], &mut mass);
        Ok(PyArray1::from_vec(py, mass))
    }
}

impl CoreElasticity {
    fn positions(&self, what: &str, x: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
        to_positions(what, x, self.rest.len())
    }

    /// Adds the Hessian of one tetrahedron as it is: ∂²ψ/∂F² between the gradients of the shape functions.
    fn add_exact(&self, corners: &[u32; 4], x: &[Vec3], blocks: &mut Blocks) {
        let frame = |p: &[Vec3]| {
            let [a, b, c, d] = corners.map(|v| p[v as usize]);
            Mat3::from_columns(&[b - a, c - a, d - a])
        };
        let dm = frame(&self.rest);
        // no tetrahedron is flat at rest
        let Some(inverse) = dm.try_inverse() else { return };
        let svd = svd3(&(frame(x) * inverse));
        let h = self.material.law.guarded_hessian(&self.material.lame(), &svd.sigma);
        let h = h.assemble(&Svd::from(&svd));
        let rows = [0, 1, 2].map(|k| inverse.row(k).transpose());
        let shapes = [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]];
        let volume = dm.determinant() / 6.0;
        for (a, &v) in corners.iter().enumerate() {
            for (b, &w) in corners.iter().enumerate() {
                let block: Mat3 =
                    (0..9).map(|k| (k / 3, k % 3)).fold(Mat3::zeros(), |sum, (i, j)| {
                        sum + h.fixed_view::<3, 3>(3 * i, 3 * j) * (shapes[a][i] * shapes[b][j])
                    });
                blocks.add(v, w, block * volume);
            }
        }
    }
}
