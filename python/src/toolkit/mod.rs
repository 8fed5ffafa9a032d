//! The building blocks of contact and elasticity on plain arrays.

mod contacts;
mod elasticity;
mod matrix;
mod queries;
mod surface;

use crate::arrays::{Vectors, to_finite};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use standoff::Vec3;

fn check_count(what: &str, x: &[Vec3], n: usize) -> PyResult<()> {
    match x.len() == n {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{what}: {} vertices, expected {n}", x.len()))),
    }
}

/// Positions at which something of `n` vertices is evaluated, each finite.
fn to_positions(what: &str, x: &Vectors<'_>, n: usize) -> PyResult<Vec<Vec3>> {
    let x = to_finite(what, x)?;
    check_count(what, &x, n)?;
    Ok(x)
}

/// Checks that a number is finite and at least 0.
fn not_negative(what: &str, value: f64) -> PyResult<()> {
    match value >= 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "{what} = {value}: expected a finite number of at least 0"
        ))),
    }
}

/// Checks that a number is finite and more than 0.
fn positive(what: &str, value: f64) -> PyResult<()> {
    match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "{what} = {value}: expected a positive, finite number"
        ))),
    }
}

/// A setting by its name in a scene file.
fn by_name<T: serde::de::DeserializeOwned>(what: &str, name: &str) -> PyResult<T> {
    let found = serde_json::from_value(serde_json::Value::String(name.to_owned()));
    found.map_err(|e| PyValueError::new_err(format!("unknown {what} '{name}': {e}")))
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<surface::CoreMesh>()?;
    module.add_class::<contacts::CoreContacts>()?;
    module.add_class::<contacts::CoreFriction>()?;
    module.add_class::<elasticity::CoreElasticity>()?;
    queries::register(module)?;
    module.add_function(wrap_pyfunction!(surface::boundary, module)?)?;
    module.add_function(wrap_pyfunction!(contacts::initial_stiffness, module)?)?;
    module.add_function(wrap_pyfunction!(contacts::updated_stiffness, module)?)
}
