//! The compiled part of the Python package: scenes, simulations and the toolkit, on arrays. The Python part
//! gives them their interface.
#![forbid(unsafe_code)]

mod arrays;
mod batch;
mod errors;
mod exports;
mod scene;
mod shared;
mod simulation;
mod threads;
mod toolkit;
mod watch;

use pyo3::prelude::*;
use std::ffi::OsString;

/// The `standoff` command; returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| standoff_cli::main(arguments))
}

#[pymodule]
fn _standoff(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scene::CoreScene>()?;
    module.add_class::<simulation::CoreSimulation>()?;
    module.add_class::<batch::CoreBatch>()?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(threads::set_threads, module)?)?;
    exports::register(module)?;
    toolkit::register(module)
}
