//! Between NumPy arrays and lists of vectors and indices.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use standoff::Vec3;

/// Positions or vectors (n×3).
pub type Vectors<'py> = PyReadonlyArray2<'py, f64>;
/// Indices (n×k).
pub type Indices<'py> = PyReadonlyArray2<'py, i64>;

/// A new array (n×3).
pub fn vectors<'py>(py: Python<'py>, list: &[Vec3]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    table(py, list.iter().flatten().copied().collect(), 3)
}

/// A new array with rows of `width` numbers.
pub fn table<'py, T: numpy::Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = numbers.len() / width;
    PyArray1::from_vec(py, numbers).reshape([rows, width])
}

/// A new array of indices (n×k).
pub fn indices<'py, const K: usize>(
    py: Python<'py>,
    list: &[[u32; K]],
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    table(py, list.iter().flatten().map(|i| i64::from(*i)).collect(), K)
}

/// The vectors of an array (n×3), which may be a view of any strides.
pub fn to_vectors(what: &str, array: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
    if array.shape()[1] != 3 {
        let shape = array.shape();
        return Err(PyValueError::new_err(format!("{what}: expected shape (n, 3), got {shape:?}")));
    }
    let rows = array.as_array();
    Ok(rows.rows().into_iter().map(|r| Vec3::new(r[0], r[1], r[2])).collect())
}

/// The same, each finite; `what` is the name of the argument.
pub fn to_finite(what: &str, array: &Vectors<'_>) -> PyResult<Vec<Vec3>> {
    let vectors = to_vectors(what, array)?;
    match vectors.iter().position(|v| !v.iter().all(|c| c.is_finite())) {
        None => Ok(vectors),
        Some(k) => {
            let row: [f64; 3] = vectors[k].into();
            Err(PyValueError::new_err(format!(
                "{what}: row {k} is {row:?}; expected finite numbers"
            )))
        }
    }
}

/// The rows of an array of indices (n×K), each at least 0 and less than `count`.
pub fn to_indices<const K: usize>(
    what: &str,
    array: &Indices<'_>,
    count: usize,
) -> PyResult<Vec<[u32; K]>> {
    if array.shape()[1] != K {
        let shape = array.shape();
        let message = format!("{what}: expected shape (n, {K}), got {shape:?}");
        return Err(PyValueError::new_err(message));
    }
    let mut out = Vec::with_capacity(array.shape()[0]);
    for (k, row) in array.as_array().rows().into_iter().enumerate() {
        let mut entry = [0; K];
        for (entry, index) in entry.iter_mut().zip(row) {
            let valid = u32::try_from(*index).ok().filter(|i| (*i as usize) < count);
            *entry = valid.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "{what}: row {k} refers to vertex {index}, but there are {count}"
                ))
            })?;
        }
        out.push(entry);
    }
    Ok(out)
}
