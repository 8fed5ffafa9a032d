//! Frames of runs as arrays; runs in formats of other programs, pictures, and curves.

use crate::arrays;
use crate::errors::{about_output, raise};
use crate::threads::detached;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use standoff::{Error, Vec3};
use standoff_export::render::{Camera, render_folder};
use standoff_export::{ExportError, Options, film, plot};
use standoff_run::{ArrayInfo, FrameFile};
use std::path::PathBuf;

/// Writes a run in the format that the name of `file` ends with; returns the file, or the first and the last one, and how
/// many of how many frames were written.
#[pyfunction]
fn export(
    py: Python<'_>,
    folder: PathBuf,
    file: PathBuf,
    force: bool,
    tetrahedra: bool,
    html_limit: u64,
) -> PyResult<(Vec<PathBuf>, usize, usize)> {
    let options = Options { force, tetrahedra, html_limit: Some(html_limit) };
    let done = detached(py, || standoff_export::export(&folder, &file, options))?;
    let done = done.map_err(|e| failed(py, e))?;
    Ok((done.files, done.frames, done.of_frames))
}

/// Makes a picture of every frame in a folder, or a film; returns the files.
#[pyfunction]
#[pyo3(signature = (folder, output, size, direction, force))]
fn render(
    py: Python<'_>,
    folder: PathBuf,
    output: PathBuf,
    size: [u32; 2],
    direction: Option<[f64; 3]>,
    force: bool,
) -> PyResult<Vec<PathBuf>> {
    let camera = Camera { size, from: direction.map(Vec3::from), force };
    let is_film = output.extension().is_some() && !output.is_dir();
    let done = detached(py, || match is_film {
        true => film(&folder, &output, &camera).map(|_| vec![output.clone()]),
        false => render_folder(&folder, &output, &camera),
    })?;
    done.map_err(|e| failed(py, e))
}

/// The curves of a run, or these quantities of it, as the text of an SVG.
#[pyfunction]
#[pyo3(signature = (folder, names, against=None))]
fn curves(
    py: Python<'_>,
    folder: PathBuf,
    names: Vec<String>,
    against: Option<&str>,
) -> PyResult<String> {
    let diagrams = match names.is_empty() {
        true => plot::curves(&folder),
        false => plot::chosen(&folder, &names, against),
    };
    let drawn = diagrams.map(|diagrams| plot::svg(&diagrams));
    drawn.map_err(|e| failed(py, e))
}

/// Steps and files of the frames of a run, ascending.
#[pyfunction]
fn frame_files(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(u64, PathBuf)>> {
    standoff_run::frame_files(&folder).map_err(|e| raise(py, Error::Output(e)))
}

/// The arrays of numbers of a frame by name: all of them, or those of `names` that it has.
#[pyfunction]
#[pyo3(signature = (file, names=None))]
fn read_frame<'py>(
    py: Python<'py>,
    file: PathBuf,
    names: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let failed = |e| raise(py, Error::Output(e));
    let mut frame = FrameFile::open(&file).map_err(failed)?;
    let wanted =
        |a: &&ArrayInfo| a.kind == "Float64" && names.as_ref().is_none_or(|n| n.contains(&a.name));
    let arrays: Vec<ArrayInfo> = frame.arrays().iter().filter(wanted).cloned().collect();
    let out = PyDict::new(py);
    for array in arrays {
        let values = frame.floats(&array.name).map_err(failed)?.unwrap_or_default();
        match array.components {
            0 | 1 => out.set_item(array.name, PyArray1::from_vec(py, values))?,
            width => out.set_item(array.name, arrays::table(py, values, width)?)?,
        }
    }
    Ok(out)
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(export, module)?)?;
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(frame_files, module)?)?;
    module.add_function(wrap_pyfunction!(read_frame, module)?)?;
    module.add_function(wrap_pyfunction!(curves, module)?)
}

fn failed(py: Python<'_>, error: ExportError) -> PyErr {
    let text = error.to_string();
    let path = match error {
        ExportError::Output(e) => return raise(py, Error::Output(e)),
        ExportError::UnknownFormat(path)
        | ExportError::NoFilm(path)
        | ExportError::NoPlot(path)
        | ExportError::Exists(path)
        | ExportError::Film { path, .. }
        | ExportError::Html { path, .. }
        | ExportError::UnknownQuantity { path, .. }
        | ExportError::TooLarge { path, .. } => path,
    };
    about_output(py, &path, text)
}
