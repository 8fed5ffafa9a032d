//! Errors as Python exceptions: the classes of `standoff.errors`, with the same text and fields.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use standoff::errors::{
    BuildError, ControlError, OutputError, RunError, SceneError, StepError, Stop,
};
use standoff::{BatchError, Error};
use std::path::Path;

/// The exception for an error.
pub fn raise(py: Python<'_>, error: Error) -> PyErr {
    exception(py, &error).unwrap_or_else(|_| PyRuntimeError::new_err(error.to_string()))
}

fn exception(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    let class = class(&fields, error)?;
    made(py, class, error.to_string(), &fields)
}

/// The class of an error, and its fields.
fn class(fields: &Bound<'_, PyDict>, error: &Error) -> PyResult<&'static str> {
    Ok(match error {
        Error::Scene(e) => scene(fields, e)?,
        Error::Import(_) => "ReferenceSceneError",
        Error::Mesh(_) => "MeshError",
        Error::Build(e) => build(fields, e)?,
        Error::Step(e) => step(fields, e)?,
        Error::Control(e) => control(fields, e)?,
        Error::Output(e) => output(fields, e)?,
        Error::Run(e) => run(fields, e)?,
        // of the class of what went wrong with the member
        Error::Batch(BatchError::Member { member, error }) => {
            fields.set_item("member", member)?;
            class(fields, error)?
        }
        Error::Batch(
            BatchError::NoMember { member, .. }
            | BatchError::Repeated { member }
            | BatchError::Unequal { member, .. },
        ) => {
            fields.set_item("member", member)?;
            "BatchError"
        }
        Error::Batch(_) => "BatchError",
        _ => "Error",
    })
}

/// The exception for results of which `path` cannot be written or read.
pub fn about_output(py: Python<'_>, path: &Path, text: String) -> PyErr {
    let fields = PyDict::new(py);
    let made = fields.set_item("path", path).and_then(|()| made(py, "OutputError", text, &fields));
    made.unwrap_or_else(|e| e)
}

fn made(py: Python<'_>, class: &str, text: String, fields: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    let class = py.import("standoff.errors")?.getattr(class)?;
    let value = class.call1((text,))?;
    for (name, field) in fields {
        value.setattr(name.cast::<pyo3::types::PyString>()?, field)?;
    }
    Ok(PyErr::from_value(value))
}

fn scene(fields: &Bound<'_, PyDict>, e: &SceneError) -> PyResult<&'static str> {
    fields.set_item("path", &e.path)?;
    fields.set_item("object", &e.object)?;
    if let Some(location) = &e.location {
        fields.set_item("location", location.to_string())?;
        fields.set_item("line", location.line)?;
        fields.set_item("column", location.column)?;
    }
    Ok("SceneError")
}

fn build(fields: &Bound<'_, PyDict>, e: &BuildError) -> PyResult<&'static str> {
    match e {
        BuildError::Setting { key, value, .. } => {
            fields.set_item("key", key)?;
            fields.set_item("value", value)?;
        }
        BuildError::Unread(unread) => fields.set_item("key", unread.key)?,
        BuildError::Unfit { key, value, object, .. } => {
            fields.set_item("key", key)?;
            fields.set_item("value", value)?;
            fields.set_item("object", object)?;
        }
        BuildError::Field(fault) => {
            fields.set_item("key", fault.path.to_string())?;
            fields.set_item("value", &fault.value)?;
        }
        BuildError::Body { body, .. } | BuildError::Load { body, .. } => {
            fields.set_item("body", body)?;
        }
        BuildError::Energy { name, .. } => fields.set_item("energy", name)?,
        BuildError::Joint { joint, .. } => fields.set_item("joint", joint)?,
        BuildError::Tie { tie, .. } => fields.set_item("tie", tie)?,
        BuildError::Element { body, element, vertices, .. } => {
            fields.set_item("body", body)?;
            fields.set_item("element", element)?;
            fields.set_item("vertices", vertices.to_vec())?;
        }
        BuildError::Intersecting { count, .. } => fields.set_item("count", count)?,
        BuildError::BehindHalfSpace { body, vertex, half_space, depth } => {
            fields.set_item("body", body)?;
            fields.set_item("vertex", vertex)?;
            fields.set_item("half_space", half_space)?;
            fields.set_item("depth", depth)?;
        }
        BuildError::NothingToSimulate | BuildError::State { .. } | BuildError::Threads(_) => {}
    }
    Ok("BuildError")
}

fn step(fields: &Bound<'_, PyDict>, e: &StepError) -> PyResult<&'static str> {
    let (StepError::NotFinite { step, .. }
    | StepError::LinearSolve { step, .. }
    | StepError::Stalled { step, .. }
    | StepError::TimeLimit { step, .. }
    | StepError::Cancelled { step, .. }
    | StepError::BlockedMotion { step, .. }
    | StepError::OpenJoint { step, .. }
    | StepError::Audit { step, .. }) = e;
    fields.set_item("step", step)?;
    match e {
        StepError::Stalled { iterations, residual, tolerance, .. } => {
            fields.set_item("iterations", iterations)?;
            fields.set_item("residual", residual)?;
            fields.set_item("tolerance", tolerance)?;
        }
        StepError::TimeLimit { limit, iterations, residual, tolerance, .. } => {
            fields.set_item("limit", limit)?;
            fields.set_item("iterations", iterations)?;
            fields.set_item("residual", residual)?;
            fields.set_item("tolerance", tolerance)?;
        }
        StepError::BlockedMotion { name, progress, .. } => {
            fields.set_item("name", name)?;
            fields.set_item("progress", progress)?;
        }
        StepError::OpenJoint { joint, error, .. } => {
            fields.set_item("joint", joint)?;
            fields.set_item("error", error)?;
        }
        StepError::Cancelled { iterations, .. } => {
            fields.set_item("iterations", iterations)?;
            return Ok("CancelledError");
        }
        _ => {}
    }
    Ok("StepError")
}

fn control(fields: &Bound<'_, PyDict>, e: &ControlError) -> PyResult<&'static str> {
    match e {
        ControlError::Unknown { name, known, .. } => {
            fields.set_item("name", name)?;
            fields.set_item("known", known)?;
        }
        ControlError::Length { name, found, expected, .. } => {
            fields.set_item("name", name)?;
            fields.set_item("found", found)?;
            fields.set_item("expected", expected)?;
        }
        ControlError::Foreign { .. } => {}
        ControlError::Quantity { name, .. }
        | ControlError::Joint { name, .. }
        | ControlError::Positions { name, .. } => {
            fields.set_item("name", name)?;
        }
        ControlError::NotFinite { place, .. }
        | ControlError::OutOfPlane { place, .. }
        | ControlError::Carried { place, .. }
        | ControlError::Free { place }
        | ControlError::Prescribed { place } => fields.set_item("place", place)?,
    }
    Ok("ControlError")
}

fn output(fields: &Bound<'_, PyDict>, e: &OutputError) -> PyResult<&'static str> {
    match e {
        OutputError::Write { path, .. }
        | OutputError::Read { path, .. }
        | OutputError::Occupied { path, .. }
        | OutputError::Linked { path, .. }
        | OutputError::NoRun { path, .. }
        | OutputError::Damaged { path, .. }
        | OutputError::Foreign { path, .. }
        | OutputError::NoCheckpoint { path, .. }
        | OutputError::Busy { path }
        | OutputError::Late { path, .. }
        | OutputError::Energy { path, .. } => fields.set_item("path", path)?,
        OutputError::Length { .. } | OutputError::Threads(_) => {}
    }
    Ok("OutputError")
}

fn run(fields: &Bound<'_, PyDict>, e: &RunError) -> PyResult<&'static str> {
    match e {
        RunError::Build(e) => build(fields, e),
        RunError::Output(e) => output(fields, e),
        RunError::PastEnd { done } => {
            fields.set_item("step", done)?;
            Ok("RunError")
        }
        RunError::Stopped(stopped) => match &stopped.cause {
            Stop::Step(e) => step(fields, e),
            Stop::Output(e) => output(fields, e),
            Stop::Internal { step, .. } => {
                fields.set_item("step", step)?;
                Ok("RunError")
            }
        },
    }
}
