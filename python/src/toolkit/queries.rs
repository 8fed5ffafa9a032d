//! Distances of primitives with their derivatives, times of impact, and the barrier: many at once.

use super::surface::method;
use super::{by_name, check_count, positive, to_positions};
use crate::arrays::{self, Vectors, to_finite};
use crate::threads::detached;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use standoff::Vec3;
use standoff_geometry::ccd::Query;
use standoff_geometry::distance::{
    edge_edge, edge_edge_d2, point_edge, point_edge_d2, point_point, point_point_d2,
    point_triangle, point_triangle_d2,
};
use standoff_linalg::Mat3;
use standoff_sim::contact::Barrier;

/// Squared distances of `N` points per row, with gradients and Hessians (n×3N, n×3N×3N).
type Distances<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>);

/// The vectors of `N` arrays of the same length.
fn columns<const N: usize>(
    points: &[Vectors<'_>; N],
    names: [&str; N],
) -> PyResult<[Vec<Vec3>; N]> {
    let mut columns: [Vec<Vec3>; N] = std::array::from_fn(|_| Vec::new());
    for ((column, array), name) in columns.iter_mut().zip(points).zip(names) {
        *column = to_finite(name, array)?;
    }
    let n = columns[0].len();
    columns.iter().zip(names).try_for_each(|(c, name)| check_count(name, c, n))?;
    Ok(columns)
}

fn distances<'py, const N: usize>(
    py: Python<'py>,
    points: [Vectors<'_>; N],
    names: [&str; N],
    of: impl Fn([&Vec3; N]) -> (f64, [Vec3; N], [[Mat3; N]; N]),
) -> PyResult<Distances<'py>> {
    let columns = columns(&points, names)?;
    let n = columns[0].len();
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
    distances(py, [a, b], ["a", "b"], of)
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
    distances(py, [p, a, b], ["p", "a", "b"], of)
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
    distances(py, [a0, a1, b0, b1], ["a0", "a1", "b0", "b1"], of)
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
    distances(py, [p, a, b, c], ["p", "a", "b", "c"], of)
}

/// Times of impact (n) of primitives whose vertices move on straight ways; infinite where none is.
///
/// `points` are the positions of 2 points, of a point and a segment (3), or of a point and a triangle or, with
/// `edges`, of two segments (4); `ends` where they are at t = 1.
#[pyfunction]
#[pyo3(signature = (points, ends, edges, thickness, keep, name))]
fn times_of_impact<'py>(
    py: Python<'py>,
    points: Vec<Vectors<'_>>,
    ends: Vec<Vectors<'_>>,
    edges: bool,
    thickness: f64,
    keep: f64,
    name: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let method = method(name)?;
    if !((0.0..1.0).contains(&keep) && thickness >= 0.0 && thickness.is_finite()) {
        let what = "keep must be at least 0 and below 1, thickness at least 0";
        return Err(PyValueError::new_err(what));
    }
    let n = points.first().map_or(0, |p| p.shape()[0]);
    let read = |what: &str, list: &[Vectors<'_>]| -> PyResult<Vec<Vec<Vec3>>> {
        let named = list.iter().enumerate();
        named.map(|(k, a)| to_positions(&format!("{what}[{k}]"), a, n)).collect()
    };
    let (x, x1) = (read("points", &points)?, read("ends", &ends)?);
    let query = |k: usize| {
        let at = |i: usize| x[i][k];
        let by = |i: usize| x1[i][k] - x[i][k];
        let four = |of: &dyn Fn(usize) -> Vec3| [of(0), of(1), of(2), of(3)];
        match (x.len(), edges) {
            (2, _) => Query::point_point([at(0), at(1)], [by(0), by(1)]),
            (3, _) => Query::point_edge([at(0), at(1), at(2)], [by(0), by(1), by(2)]),
            (_, true) => Query::edge_edge(four(&at), four(&by)),
            (_, false) => Query::point_triangle(four(&at), four(&by)),
        }
    };
    if !(2..=4).contains(&x.len()) || x1.len() != x.len() {
        return Err(PyValueError::new_err("expected as many ends as points, 2 to 4"));
    }
    let times: Vec<f64> = detached(py, || {
        let time = |k: usize| {
            let query = query(k);
            let floor = thickness + query.landing_error();
            method.time_of_impact(&query, floor, keep, 1.0).unwrap_or(f64::INFINITY)
        };
        (0..n).into_par_iter().with_min_len(64).map(time).collect()
    })?;
    Ok(PyArray1::from_vec(py, times))
}

/// [b, b′, b″] of the barrier of squared distances (n×3).
#[pyfunction]
fn barrier<'py>(
    py: Python<'py>,
    squared_distances: Vec<f64>,
    d_hat: f64,
    kind: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let barrier: Barrier = by_name("barrier", kind)?;
    positive("d_hat", d_hat)?;
    let wrong = |s: &f64| !(*s >= 0.0 && s.is_finite());
    if let Some(k) = squared_distances.iter().position(wrong) {
        return Err(PyValueError::new_err(format!(
            "squared_distances: entry {k} is {}; expected finite numbers of at least 0",
            squared_distances[k]
        )));
    }
    let of = |s: &f64| barrier.derivatives(*s, d_hat * d_hat);
    arrays::table(py, squared_distances.iter().flat_map(of).collect(), 3)
}

/// Adds all this to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(point_point_distance, module)?)?;
    module.add_function(wrap_pyfunction!(point_edge_distance, module)?)?;
    module.add_function(wrap_pyfunction!(edge_edge_distance, module)?)?;
    module.add_function(wrap_pyfunction!(point_triangle_distance, module)?)?;
    module.add_function(wrap_pyfunction!(times_of_impact, module)?)?;
    module.add_function(wrap_pyfunction!(barrier, module)?)
}
