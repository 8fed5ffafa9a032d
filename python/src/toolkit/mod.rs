//! The building blocks of contact and elasticity on plain arrays.

mod contacts;
mod elasticity;
mod matrix;
mod queries;
mod surface;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use standoff::Vec3;

fn check_count(what: &str, x: &[Vec3], n: usize) -> PyResult<()> {
    match x.len() == n {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{what}: {} vertices, expected {n}", x.len()))),
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
