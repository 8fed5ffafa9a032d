//! The edge–edge mollifier: a factor that vanishes for parallel edges, where the distance of two
//! edges is not differentiable [Li 2020, §6.2; thesis, Eq. 4.24].
//!
//! m(c) = (2 − c/ε) c/ε for c < ε and 1 beyond, with c = |u × v|² of the edge vectors u, v and
//! ε = 1e-3 |ū|²|v̄|² from the rest edges.

use standoff_linalg::{M3, Mat3, Real, V3, Vec3};

/// Squared norm of the cross product of two edges, m⁴.
#[inline]
pub fn cross_squared(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> f64 {
    (a1 - a0).cross(&(b1 - b0)).norm_squared()
}

/// Threshold ε = 1e-3 |ū|²|v̄|² of two rest edges, m⁴.
#[inline]
pub fn threshold(a0: &Vec3, a1: &Vec3, b0: &Vec3, b1: &Vec3) -> f64 {
    1e-3 * (a1 - a0).norm_squared() * (b1 - b0).norm_squared()
}

/// m, ∂m/∂c and ∂²m/∂c² at c ≥ 0.
#[inline]
pub fn scalar(c: f64, eps: f64) -> [f64; 3] {
    if c < eps {
        let r = c / eps;
        [(2.0 - r) * r, 2.0 * (1.0 - r) / eps, -2.0 / (eps * eps)]
    } else {
        [1.0, 0.0, 0.0]
    }
}

/// m of two edges.
#[inline]
pub fn value(x: &[Vec3; 4], eps: f64) -> f64 {
    scalar(cross_squared(&x[0], &x[1], &x[2], &x[3]), eps)[0]
}

/// Gradient of m in (a0, a1, b0, b1), 1/m.
pub fn gradient(x: &[Vec3; 4], eps: f64) -> [Vec3; 4] {
    let (u, v) = (x[1] - x[0], x[3] - x[2]);
    let dm = scalar(u.cross(&v).norm_squared(), eps)[1];
    let ([gu, gv], _) = cross_squared_derivatives(&(&u).into(), &(&v).into());
    let (gu, gv) = (Vec3::from(gu), Vec3::from(gv));
    [gu * -dm, gu * dm, gv * -dm, gv * dm]
}

/// Hessian of m in (a0, a1, b0, b1), 1/m².
pub fn hessian(x: &[Vec3; 4], eps: f64) -> [[Mat3; 4]; 4] {
    let (u, v) = (x[1] - x[0], x[3] - x[2]);
    let [_, dm, ddm] = scalar(u.cross(&v).norm_squared(), eps);
    let ([gu, gv], [uu, uv, vv]) = cross_squared_derivatives(&(&u).into(), &(&v).into());
    let block =
        |a: V3<f64>, b: V3<f64>, second: M3<f64>| Mat3::from(a.dyad(&b) * ddm + second * dm);
    let (uu, uv, vv) = (block(gu, gu, uu), block(gu, gv, uv), block(gv, gv, vv));
    let vu = uv.transpose();
    [[uu, -uu, uv, -uv], [-uu, uu, -uv, uv], [vu, -vu, vv, -vv], [-vu, vu, -vv, vv]]
}

/// The gradient of c = |u × v|² = |u|²|v|² − (u·v)² by u and v, and its second derivatives by (u, u), (u, v) and (v, v).
#[inline(always)]
pub fn cross_squared_derivatives<R: Real>(u: &V3<R>, v: &V3<R>) -> ([V3<R>; 2], [M3<R>; 3]) {
    let n = u.cross(v);
    let two = n[0].constant(2.0);
    let gradient = [v.cross(&n) * two, n.cross(u) * two];
    let on = |value: R| M3::from_diagonal(&V3::repeat(value));
    let uu = on(v.norm_squared()) - v.dyad(v);
    let vv = on(u.norm_squared()) - u.dyad(u);
    let uv = u.dyad(v) * two - v.dyad(u) - on(u.dot(v));
    (gradient, [uu * two, uv * two, vv * two])
}
