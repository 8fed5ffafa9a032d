//! Central differences of fourth order, the twin of every analytic derivative.

/// Gradient of `f` at `x` by the 5-point central difference with step `eps`:
/// (f(−2) − 8 f(−1) + 8 f(1) − f(2)) / (12 ε).
pub fn gradient(x: &[f64], eps: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut y = x.to_vec();
    (0..x.len())
        .map(|i| {
            let mut at = |s: f64| {
                y[i] = x[i] + s * eps;
                let v = f(&y);
                y[i] = x[i];
                v
            };
            (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * eps)
        })
        .collect()
}

/// Jacobian (rows: outputs, columns: inputs) of `f` at `x` by the same formula.
pub fn jacobian(x: &[f64], eps: f64, f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let m = f(x).len();
    let mut rows = vec![vec![0.0; x.len()]; m];
    let mut y = x.to_vec();
    for i in 0..x.len() {
        let mut at = |s: f64| {
            y[i] = x[i] + s * eps;
            let v = f(&y);
            y[i] = x[i];
            v
        };
        let (m2, m1, p1, p2) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
        for r in 0..m {
            rows[r][i] = (m2[r] - 8.0 * m1[r] + 8.0 * p1[r] - p2[r]) / (12.0 * eps);
        }
    }
    rows
}

/// max |a − b| / max(max |a|, max |b|, floor).
pub fn relative_error(a: &[f64], b: &[f64], floor: f64) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = a.iter().chain(b).fold(floor, |s: f64, v| s.max(v.abs()));
    a.iter().zip(b).fold(0.0_f64, |e, (p, q)| e.max((p - q).abs())) / scale
}
