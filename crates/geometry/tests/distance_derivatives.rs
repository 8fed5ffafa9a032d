//! Distances against finite differences and slow twins, without the oracle.

use standoff_geometry::distance::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_testkit::{Random, finite_difference as fd};

fn flat(v: &[Vec3]) -> Vec<f64> {
    v.iter().flat_map(|a| [a.x, a.y, a.z]).collect()
}

fn points<const N: usize>(x: &[f64]) -> [Vec3; N] {
    std::array::from_fn(|i| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat_hessian<const N: usize>(h: &[[Mat3; N]; N]) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..3 * N {
        for j in 0..3 * N {
            out.push(h[i / 3][j / 3][(i % 3, j % 3)]);
        }
    }
    out
}

/// Checks gradient and Hessian of a smooth function against differences, relative to the size of
/// the values met.
fn check<const N: usize>(
    x: &[Vec3; N],
    eps: f64,
    tol: f64,
    value: impl Fn(&[Vec3; N]) -> f64,
    gradient: impl Fn(&[Vec3; N]) -> [Vec3; N],
    hessian: impl Fn(&[Vec3; N]) -> [[Mat3; N]; N],
) {
    let x = flat(x);
    let g = flat(&gradient(&points(&x)));
    let numeric = fd::gradient(&x, eps, |y| value(&points(y)));
    let e = fd::relative_error(&g, &numeric, 1e-6);
    assert!(e < tol, "gradient off by {e:e} at {x:?}");
    let h = flat_hessian(&hessian(&points(&x)));
    let numeric = fd::jacobian(&x, eps, |y| flat(&gradient(&points(y))));
    let e = fd::relative_error(&h, &numeric.concat(), 1e-6);
    assert!(e < tol, "Hessian off by {e:e} at {x:?}");
}

#[test]
fn unclamped_forms_match_differences() {
    let mut r = Random::new(1);
    for _ in 0..200 {
        let x = [r.vec3(), r.vec3(), r.vec3(), r.vec3()];
        let [a, b, c, d] = x;
        // keep away from bad angles, where differences themselves lose digits
        let sin2 =
            |u: Vec3, v: Vec3| u.cross(&v).norm_squared() / (u.norm_squared() * v.norm_squared());
        check(
            &[a, b],
            1e-3,
            1e-9,
            |x| point_point_d2(&x[0], &x[1]),
            |x| point_point::gradient(&x[0], &x[1]),
            |_| point_point::hessian(),
        );
        if (c - b).norm() > 0.3 {
            check(
                &[a, b, c],
                1e-3,
                1e-6,
                |x| point_edge::line_d2(&x[0], &x[1], &x[2]),
                |x| point_edge::line_gradient(&x[0], &x[1], &x[2]),
                |x| point_edge::line_hessian(&x[0], &x[1], &x[2]),
            );
        }
        if sin2(c - b, d - b) > 0.1 && (c - b).norm() > 0.3 && (d - b).norm() > 0.3 {
            check(
                &x,
                1e-3,
                1e-6,
                |x| point_triangle::plane_d2(&x[0], &x[1], &x[2], &x[3]),
                |x| point_triangle::plane_gradient(&x[0], &x[1], &x[2], &x[3]),
                |x| point_triangle::plane_hessian(&x[0], &x[1], &x[2], &x[3]),
            );
        }
        if sin2(b - a, d - c) > 0.1 && (b - a).norm() > 0.3 && (d - c).norm() > 0.3 {
            check(
                &x,
                1e-3,
                1e-6,
                |x| edge_edge::line_line_d2(&x[0], &x[1], &x[2], &x[3]),
                |x| edge_edge::line_line_gradient(&x[0], &x[1], &x[2], &x[3]),
                |x| edge_edge::line_line_hessian(&x[0], &x[1], &x[2], &x[3]),
            );
        }
        check(
            &x,
            1e-3,
            1e-6,
            |x| mollifier::value(x, 100.0),
            |x| mollifier::gradient(x, 100.0),
            |x| mollifier::hessian(x, 100.0),
        );
        let n = b.normalize();
        check(
            &[a],
            1e-3,
            1e-9,
            |x| point_plane::point_plane_d2(&x[0], &c, &n),
            |x| [point_plane::gradient(&x[0], &c, &n)],
            |_| [[point_plane::hessian(&n)]],
        );
    }
}

#[test]
fn small_gaps_and_small_angles_match_differences() {
    // a gap of 1e-8 above a unit triangle and between crossing edges; d² itself is 1e-16, so the
    // step must be well below the gap for the gradient, and the Hessian is checked on its own
    let gap = 1e-8;
    let t = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let p = Vec3::new(0.3, 0.2, gap);
    let g = point_triangle::plane_gradient(&p, &t[0], &t[1], &t[2]);
    let w = [1.0, -0.5, -0.3, -0.2];
    for i in 0..4 {
        assert!((g[i] - Vec3::z() * (2.0 * gap * w[i])).norm() < 1e-15 * gap);
    }
    check(
        &[p, t[0], t[1], t[2]],
        1e-4,
        1e-6,
        |x| point_triangle::plane_d2(&x[0], &x[1], &x[2], &x[3]),
        |x| point_triangle::plane_gradient(&x[0], &x[1], &x[2], &x[3]),
        |x| point_triangle::plane_hessian(&x[0], &x[1], &x[2], &x[3]),
    );
    for angle in [1.0, 0.1, 0.02] {
        let (s, c) = f64::sin_cos(angle);
        let x = [
            Vec3::new(-0.5, 0.0, 0.0),
            Vec3::new(0.5, 0.0, 0.0),
            Vec3::new(-0.4 * c, -0.4 * s, gap),
            Vec3::new(0.6 * c, 0.6 * s, gap),
        ];
        assert_eq!(edge_edge::feature(&x[0], &x[1], &x[2], &x[3]), EdgeEdgeFeature::AB);
        check(
            &x,
            1e-4 * angle,
            1e-5,
            |x| edge_edge::line_line_d2(&x[0], &x[1], &x[2], &x[3]),
            |x| edge_edge::line_line_gradient(&x[0], &x[1], &x[2], &x[3]),
            |x| edge_edge::line_line_hessian(&x[0], &x[1], &x[2], &x[3]),
        );
    }
}

/// Squared distance of `p` to the segment a–b by the textbook projection.
fn segment_d2(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    let e = b - a;
    let t = if e.norm() > 0.0 { (e.dot(&(p - a)) / e.dot(&e)).clamp(0.0, 1.0) } else { 0.0 };
    (p - a - e * t).norm_squared()
}

/// Minimum over (0, 1) of a convex function: slow and obvious.
fn ternary(f: impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    for _ in 0..150 {
        let (m1, m2) = (lo + (hi - lo) / 3.0, hi - (hi - lo) / 3.0);
        if f(m1) <= f(m2) { hi = m2 } else { lo = m1 }
    }
    f(lo).min(f(hi)).min(f(0.0)).min(f(1.0))
}

fn search_edge_edge(x: &[Vec3; 4]) -> f64 {
    ternary(|s| segment_d2(x[0] + (x[1] - x[0]) * s, x[2], x[3]))
}

fn search_point_triangle(x: &[Vec3; 4]) -> f64 {
    ternary(|s| {
        let start = x[1] + (x[2] - x[1]) * s;
        segment_d2(x[0], start, start + (x[3] - x[1]) * (1.0 - s))
    })
}

#[test]
fn clamped_distances_match_a_convex_search() {
    let mut r = Random::new(7);
    for k in 0..300 {
        let mut x = [r.vec3(), r.vec3(), r.vec3(), r.vec3()];
        match k % 6 {
            // nearly parallel edges
            1 => x[3] = x[2] + (x[1] - x[0]) * r.signed() + r.vec3() * 10f64.powi(-(k % 12)),
            // thin triangle
            2 => x[3] = x[1] + (x[2] - x[1]) * r.signed() + r.vec3() * 10f64.powi(-(k % 12)),
            // an edge of zero length
            3 => x[1] = x[0],
            4 => x[3] = x[2],
            5 => x = x.map(|v| v.map(|c| (c * 2.0).round())),
            _ => {}
        }
        let [a, b, c, d] = x;
        let scale = 1.0;
        let slow = search_edge_edge(&x);
        let fast = edge_edge_d2(&a, &b, &c, &d);
        assert!((fast - slow).abs() < 1e-10 * scale, "ee {fast} {slow} {x:?}");
        let f = edge_edge::feature(&a, &b, &c, &d);
        let by_feature = edge_edge::closest_on(f, &a, &b, &c, &d).d2();
        assert!((fast - by_feature).abs() < 1e-13 * scale, "{f:?} {fast} {by_feature} {x:?}");

        let slow = search_point_triangle(&x);
        let fast = point_triangle_d2(&a, &b, &c, &d);
        assert!((fast - slow).abs() < 1e-10 * scale, "pt {fast} {slow} {x:?}");
        let f = point_triangle::feature(&a, &b, &c, &d);
        let by_feature = point_triangle::closest_on(f, &a, &b, &c, &d).d2();
        assert!((fast - by_feature).abs() < 1e-13 * scale, "{f:?} {fast} {by_feature} {x:?}");

        let fast = point_edge_d2(&a, &c, &d);
        let slow = search_edge_edge(&[a, a, c, d]);
        assert!((fast - slow).abs() < 1e-10, "pe {fast} {slow} {x:?}");
    }
}

#[test]
fn weights_and_offset_are_consistent() {
    let mut r = Random::new(3);
    for _ in 0..200 {
        let x = [r.vec3(), r.vec3(), r.vec3(), r.vec3()];
        let pairs = [
            edge_edge::closest_on(
                edge_edge::feature(&x[0], &x[1], &x[2], &x[3]),
                &x[0],
                &x[1],
                &x[2],
                &x[3],
            ),
            point_triangle::closest_on(
                point_triangle::feature(&x[0], &x[1], &x[2], &x[3]),
                &x[0],
                &x[1],
                &x[2],
                &x[3],
            ),
        ];
        for c in pairs {
            let sum: Vec3 = (0..4).map(|i| x[i] * c.weights[i]).sum();
            assert!((sum - c.offset).norm() < 1e-12, "{c:?}");
            assert!(c.weights.iter().sum::<f64>().abs() < 1e-12);
        }
    }
}

#[test]
fn tangent_bases_are_orthonormal_and_normal_to_the_offset() {
    let mut r = Random::new(4);
    for _ in 0..100 {
        let x = [r.vec3(), r.vec3(), r.vec3(), r.vec3()];
        let bases = [
            (point_point::tangent_basis(&x[0], &x[1]), x[0] - x[1]),
            (
                point_edge::tangent_basis(&x[0], &x[1], &x[2]),
                point_edge::closest(&x[0], &x[1], &x[2]).offset,
            ),
            (
                point_triangle::tangent_basis(&x[1], &x[2], &x[3]),
                point_triangle::closest(&x[0], &x[1], &x[2], &x[3]).offset,
            ),
            (
                edge_edge::tangent_basis(&x[0], &x[1], &x[2], &x[3]),
                edge_edge::closest(&x[0], &x[1], &x[2], &x[3]).offset,
            ),
        ];
        for ([s, t], q) in bases {
            assert!((s.norm() - 1.0).abs() < 1e-14 && (t.norm() - 1.0).abs() < 1e-14);
            assert!(s.dot(&t).abs() < 1e-12);
            assert!(s.dot(&q).abs() < 1e-12 && t.dot(&q).abs() < 1e-12);
        }
    }
    // degenerate inputs still give a basis
    for [s, t] in [
        point_point::tangent_basis(&Vec3::x(), &Vec3::x()),
        point_edge::tangent_basis(&Vec3::x(), &Vec3::zeros(), &(Vec3::x() * 2.0)),
        point_edge::tangent_basis(&Vec3::x(), &Vec3::y(), &Vec3::y()),
    ] {
        assert!(s.dot(&t).abs() < 1e-14 && (s.norm() + t.norm() - 2.0).abs() < 1e-14);
    }
}
