//! Elements of shells and rods: derivatives against finite differences, projections, invariances.

use crate::elastic_support::Random;
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{DMatrix, Rotation3};
use standoff_sim::energy::hinge::Hinge;
use standoff_sim::energy::membrane::{Membrane, Sheet};
use standoff_sim::energy::rod_joint::{
    Frame, RodJoint, RodMaterial, angle_about, curvature_binormal, transport,
};
use standoff_sim::energy::segment::Segment;
use standoff_sim::energy::shape_operator::{ENDS, ShapeOperator, side_normal};
use standoff_sim::energy::{Element, Hessian};
use standoff_sim::material::membrane::{MembraneLaw, Orthotropic, SheetLame, StretchLimit};
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

fn flat<const N: usize>(x: &[Vec3; N]) -> Vec<f64> {
    x.iter().flat_map(|v| v.iter().copied()).collect()
}

fn nodes<const N: usize>(x: &[f64]) -> [Vec3; N] {
    std::array::from_fn(|a| Vec3::from_column_slice(&x[3 * a..3 * a + 3]))
}

fn least_eigenvalue(m: &DMatrix<f64>) -> f64 {
    m.clone().symmetric_eigen().eigenvalues.min()
}

/// Gradient and Hessian against finite differences at `x`; the projection is positive semidefinite,
/// lies above the Hessian, and equals it where that is positive semidefinite. `idle` components
/// move nothing. Tells whether it was.
pub fn check<const N: usize>(element: &impl Element<N>, x: &[Vec3; N], idle: &[usize]) -> bool {
    let (y, eps) = (flat(x), 3e-4);
    let value = |y: &[f64]| element.value(&nodes(y));
    let slope = |y: &[f64]| flat(&element.gradient(&nodes(y)));
    let g = slope(&y);
    let stiffness = element.hessian_psd(x).iter().flatten().map(|b| b.amax()).fold(0.0, f64::max);
    let floor = 0.01 * element.value(x).abs() + 1e-3 * stiffness;
    let e = relative_error(&g, &gradient(&y, eps, value), floor);
    assert!(e < 1e-7, "gradient {e:.1e}");
    let n = 3 * N;
    let fd = jacobian(&y, eps, slope);
    let fd = DMatrix::from_fn(n, n, |r, c| 0.5 * (fd[r][c] + fd[c][r]));
    let dense = |h: Hessian<N>| {
        DMatrix::from_fn(n, n, |r, c| {
            let used = !(idle.contains(&r) || idle.contains(&c));
            if used { h[r / 3][c / 3][(r % 3, c % 3)] } else { 0.0 }
        })
    };
    let h = dense(element.hessian_psd(x));
    let size = h.amax().max(fd.amax());
    let e = (dense(element.hessian(x)) - &fd).amax() / size;
    assert!(e < 1e-6, "Hessian as it is {e:.1e}");
    assert!((&h - h.transpose()).amax() <= 1e-13 * size, "symmetric");
    assert!(least_eigenvalue(&h) > -1e-12 * size, "positive semidefinite");
    let above = least_eigenvalue(&(&h - &fd)) / size;
    assert!(above > -1e-7, "above the Hessian {above:.1e}");
    let convex = least_eigenvalue(&fd) > -1e-7 * size;
    if convex {
        let e = (&h - &fd).amax() / size;
        assert!(e < 1e-6, "Hessian {e:.1e}");
    }
    convex
}

fn triangle(random: &mut Random) -> [Vec3; 3] {
    loop {
        let x = [0, 1, 2].map(|_| random.vec3());
        if (x[1] - x[0]).cross(&(x[2] - x[0])).norm() > 0.5 {
            return x;
        }
    }
}

fn near<const N: usize>(x: &[Vec3; N], by: f64, random: &mut Random) -> [Vec3; N] {
    x.map(|p| p + random.vec3() * by)
}

fn sheets() -> Vec<Sheet> {
    let lame = SheetLame::new(3.0, 0.3);
    vec![
        Sheet::Isotropic(MembraneLaw::NeoHookean, lame),
        Sheet::Isotropic(MembraneLaw::StVenantKirchhoff, lame),
        Sheet::Orthotropic(Orthotropic::new([3.0, 1.0], 0.2, 0.7, None)),
        Sheet::Orthotropic(Orthotropic::new([3.0, 1.0], 0.2, 0.7, Some([3.0, 2.5, 2.0]))),
    ]
}

#[test]
fn membranes_match_finite_differences() {
    let mut random = Random::new(1);
    let mut convex = 0;
    for sheet in sheets() {
        for k in 0..60 {
            let rest = triangle(&mut random);
            let fibre = (k % 2 == 0).then(|| random.vec3());
            let Some(mut m) = Membrane::new(&rest, 0.1, sheet, fibre) else { continue };
            if k % 3 == 0 {
                m.limit = Some(StretchLimit { limit: 1.8, threshold: 1.0, stiffness: 0.7 });
            }
            // as Newmark does
            if k % 5 == 0 {
                m.weigh_limits(2.0);
            }
            let x = near(&rest, 0.15, &mut random);
            // third derivatives jump where the barrier begins
            let smooth =
                m.limit.is_none() || m.stretches(&x).iter().all(|s| (s - 1.0).abs() > 1e-2);
            if smooth && m.value(&x).is_finite() && m.limit_use(&x).is_none_or(|u| u < 0.8) {
                convex += u32::from(check(&m, &x, &[]));
            }
        }
    }
    assert!(convex > 20, "{convex} convex cases");
}

/// At rest there is no force; stretched by λ along the fibres and free across, a strip of an
/// orthotropic sheet has Young's modulus E₁ and Poisson's ratio ν₁₂.
#[test]
fn sheets_have_their_moduli() {
    let rest = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    for sheet in sheets() {
        let m = Membrane::new(&rest, 1.0, sheet, Some(Vec3::x())).unwrap();
        assert!(m.gradient(&rest).iter().all(|g| g.norm() < 1e-14));
        let (along, across) =
            (1e-6, -1e-6 * if matches!(sheet, Sheet::Isotropic(..)) { 0.3 } else { 0.2 });
        let x = [Vec3::zeros(), Vec3::x() * (1.0 + along), Vec3::y() * (1.0 + across)];
        // a force on corner 1 by the stress over half of the square's edge
        let g = m.gradient(&x);
        assert!((g[1].x / (0.5 * along) - 3.0).abs() < 1e-4, "{sheet:?} {}", g[1].x / along);
        assert!(g[2].y.abs() < 1e-11, "{sheet:?}");
    }
}

#[test]
fn stretch_limits_are_smooth_and_infinite_at_the_limit() {
    for limit in [1.0608, 1.01, 1.001] {
        let l = StretchLimit { limit, threshold: 1.0, stiffness: 1e3 };
        assert_eq!(l.derivatives(1.0), [0.0; 3]);
        let close = l.derivatives(1.0 + 1e-6 * (limit - 1.0));
        assert!(close[0] < 1e-9 && close[1] * (limit - 1.0) < 1e-5);
        assert_eq!(l.derivatives(limit)[0], f64::INFINITY);
        for part in [0.1, 0.5, 0.9, 0.999] {
            let s = 1.0 + part * (limit - 1.0);
            let eps = 1e-3 * (limit - s);
            let fd = gradient(&[s], eps, |s| l.derivatives(s[0])[0])[0];
            assert!((fd / l.derivatives(s)[1] - 1.0).abs() < 1e-6);
            let fd = gradient(&[s], eps, |s| l.derivatives(s[0])[1])[0];
            assert!((fd / l.derivatives(s)[2] - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn hinges_match_finite_differences() {
    let mut random = Random::new(2);
    let mut convex = 0;
    for k in 0..200 {
        let flat = [Vec3::zeros(), Vec3::x(), Vec3::y(), -Vec3::y()];
        let rest = near(&flat, 0.3, &mut random);
        let angle = (k % 2 == 0).then_some(0.0);
        let hinge = Hinge::new(&rest, 0.1, angle);
        let x = near(&rest, 0.3, &mut random);
        convex += u32::from(check(&hinge, &x, &[]));
        let turn = Rotation3::new(random.vec3()).into_inner();
        let (moved, g) = (x.map(|p| turn * p + Vec3::new(1.0, 2.0, 3.0)), hinge.gradient(&x));
        assert!((hinge.value(&moved) - hinge.value(&x)).abs() < 1e-13);
        let torque: Vec3 = x.iter().zip(&g).map(|(x, g)| x.cross(g)).sum();
        assert!(g.iter().sum::<Vec3>().norm() < 1e-13 && torque.norm() < 1e-13);
    }
    // near the rest angle the Hessian is that of Gauss and Newton
    for _ in 0..20 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::y(), -Vec3::y()], 0.3, &mut random);
        convex += u32::from(check(&Hinge::new(&rest, 0.1, None), &rest, &[]));
    }
    assert!(convex >= 20);
}

/// A shape operator over the triangle `rest` whose edges have the normals `rest_normals` there, with
/// the frames of a step that starts at `start`.
pub fn operator(
    rest: &[Vec3; 3],
    rest_normals: [Vec3; 3],
    start: &[Vec3; 3],
    start_normals: [Vec3; 3],
    reversed: [bool; 3],
) -> ShapeOperator {
    let edge = |x: &[Vec3; 3], k: usize| {
        let [a, b] = if reversed[k] { [ENDS[k][1], ENDS[k][0]] } else { ENDS[k] };
        (x[b] - x[a], x[k] - x[a])
    };
    let angles = [0, 1, 2].map(|k| {
        let (e, p) = edge(rest, k);
        angle_about(&e.normalize(), &side_normal(&e, &p), &rest_normals[k])
    });
    let mut out = ShapeOperator::new(rest, 0.1, 0.3, reversed, angles);
    let frames = [0, 1, 2].map(|k| {
        let tangent = edge(start, k).0.normalize();
        let n = start_normals[k];
        Frame { tangent, director: (n - tangent * tangent.dot(&n)).normalize() }
    });
    let zero = Vec3::zeros();
    let x = [start[0], start[1], start[2], zero, zero, zero];
    out.begin_step(frames, &x, [0; 3]);
    let turns = out.first_turns(&x);
    out.begin_step(frames, &x, turns);
    out
}

#[test]
fn shape_operators_match_finite_differences() {
    let mut random = Random::new(5);
    let idle = [10, 11, 13, 14, 16, 17];
    let mut convex = 0;
    for k in 0..200 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::y()], 0.2, &mut random);
        let normals = |random: &mut Random| [0; 3].map(|_| Vec3::z() + random.vec3() * 0.4);
        let reversed = [0, 1, 2].map(|j| (k >> j) % 2 == 0);
        let start = near(&rest, 0.2, &mut random);
        let at_start = normals(&mut random);
        let element = operator(&rest, normals(&mut random), &start, at_start, reversed);
        let p = near(&start, 0.3, &mut random);
        let angle = |random: &mut Random| Vec3::new(0.3 * random.vec3().x, 0.0, 0.0);
        let x = [p[0], p[1], p[2], angle(&mut random), angle(&mut random), angle(&mut random)];
        convex += u32::from(check(&element, &x, &idle));
        // rigid motions change nothing, if the frames turn along
        let turn = Rotation3::new(random.vec3()).into_inner();
        let moved = [turn * p[0], turn * p[1], turn * p[2], x[3], x[4], x[5]];
        let mut turned = element;
        let frames = element
            .frames()
            .map(|f| Frame { tangent: turn * f.tangent, director: turn * f.director });
        turned.begin_step(frames, &moved, element.turns(&x));
        let value = element.value(&x);
        assert!((turned.value(&moved) - value).abs() < 1e-12 * value);
    }
    // at rest the Hessian is that of Gauss and Newton
    for _ in 0..20 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::y()], 0.2, &mut random);
        let n = [0; 3].map(|_| Vec3::z() + random.vec3() * 0.4);
        let element = operator(&rest, n, &rest, n, [false; 3]);
        let zero = Vec3::zeros();
        let x = [rest[0], rest[1], rest[2], zero, zero, zero];
        assert!(element.value(&x) < 1e-28);
        assert!(check(&element, &x, &idle));
    }
    println!("{convex} of 200 convex");
}

/// A triangle of a sheet of curvature tensor κ has the plate's energy A D/2 [ν tr² κ + (1 − ν) tr κ²],
/// to the order of its size: bent to a cylinder in any direction, and to a saddle.
#[test]
fn shape_operators_have_the_energy_of_a_plate() {
    let mut random = Random::new(6);
    let (modulus, nu) = (0.1, 0.3);
    for k in 0..30 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::y()], 0.2, &mut random)
            .map(|p| Vec3::new(p.x, p.y, 0.0));
        let angle = 0.2 * f64::from(k);
        let (s, c) = angle.sin_cos();
        let [k1, k2] = if k % 2 == 0 { [1.0, 0.0] } else { [1.0, -1.0] };
        // curvature along and across the direction of `angle`
        let [xx, yy, xy] = [k1 * c * c + k2 * s * s, k1 * s * s + k2 * c * c, (k1 - k2) * s * c];
        let size = 1e-4;
        let slope = |p: Vec3| Vec3::new(xx * p.x + xy * p.y, xy * p.x + yy * p.y, 0.0) * size;
        let lift = |p: Vec3| p + Vec3::z() * (0.5 * p.dot(&slope(p)));
        let element = operator(&rest, [Vec3::z(); 3], &rest, [Vec3::z(); 3], [false; 3]);
        let mut x = [Vec3::zeros(); 6];
        for v in 0..3 {
            x[v] = lift(rest[v]);
        }
        for k in 0..3 {
            let [a, b] = ENDS[k].map(|v| rest[v]);
            // the normal tips by the slope across the edge, about the edge
            let t = (b - a).normalize();
            let out = t.cross(&Vec3::z());
            x[3 + k].x = -slope((a + b) * 0.5).dot(&out) * (b - a).norm();
        }
        let area = 0.5 * (rest[1] - rest[0]).cross(&(rest[2] - rest[0])).norm();
        let (trace, square) = (k1 + k2, k1 * k1 + k2 * k2);
        let plate = area * modulus * (nu * trace * trace + (1.0 - nu) * square) * size * size;
        let found = element.value(&x) / plate;
        assert!((found - 1.0).abs() < 1e-6, "{found}");
    }
}

/// 90° bends with all signs.
#[test]
fn angles_of_hinges() {
    let at = |z: f64| [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::new(0.0, 0.0, z)];
    let up = standoff_sim::energy::hinge::angle(&at(1.0));
    let down = standoff_sim::energy::hinge::angle(&at(-1.0));
    assert!((up.abs() - 0.5 * std::f64::consts::PI).abs() < 1e-15 && up == -down);
}

#[test]
fn segments_match_finite_differences() {
    let mut random = Random::new(3);
    let mut convex = 0;
    for _ in 0..50 {
        let segment = Segment::new(1.3, 0.2, 7.0);
        convex += u32::from(check(&segment, &[random.vec3() * 2.0, random.vec3() * 2.0], &[]));
    }
    assert!(convex > 5);
}

pub fn frame(tangent: Vec3, random: &mut Random) -> Frame {
    let t = tangent.normalize();
    Frame { tangent: t, director: t.cross(&random.vec3()).normalize() }
}

#[test]
fn corners_match_finite_differences() {
    let mut random = Random::new(4);
    let material = RodMaterial { radius: 0.5, young_modulus: 2.0, poisson_ratio: 0.3 };
    for k in 0..200 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0], 0.3, &mut random);
        let (e, f) = (rest[1] - rest[0], rest[2] - rest[1]);
        let frames = [frame(e, &mut random), frame(f, &mut random)];
        let curvature = if k % 2 == 0 { Vec3::zeros() } else { curvature_binormal(&e, &f) };
        let mut corner = RodJoint::new(&material, 1.0, frames, curvature, 0.2);
        // a step that starts elsewhere, with a whole turn of the frames
        let start = near(&rest, 0.3, &mut random);
        let carried = [0, 1].map(|j| {
            let t = (start[j + 1] - start[j]).normalize();
            Frame { tangent: t, director: transport(&frames[j].director, &frames[j].tangent, &t) }
        });
        let twist = RodJoint::twist_of_frames(&carried, 6.0);
        corner.set_frames(carried, twist);
        let p = near(&start, 0.4, &mut random);
        let angle = |random: &mut Random| Vec3::new(random.vec3().x, 0.0, 0.0);
        let x = [p[0], p[1], p[2], angle(&mut random), angle(&mut random)];
        check(&corner, &x, &[10, 11, 13, 14]);
        // rigid motions change nothing, if the frames turn along
        let turn = Rotation3::new(random.vec3()).into_inner();
        let moved = [turn * p[0], turn * p[1], turn * p[2], x[3], x[4]];
        let mut turned = corner;
        let f = carried.map(|f| Frame { tangent: turn * f.tangent, director: turn * f.director });
        turned.set_frames(f, twist);
        assert!((turned.value(&moved) - corner.value(&x)).abs() < 1e-12 * corner.value(&x));
    }
    // at rest, without stress, the Hessian is that of Gauss and Newton
    for _ in 0..20 {
        let rest = near(&[Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0], 0.3, &mut random);
        let (e, f) = (rest[1] - rest[0], rest[2] - rest[1]);
        let frames = [frame(e, &mut random), frame(f, &mut random)];
        let twist = RodJoint::twist_of_frames(&frames, 0.0);
        let curvature = curvature_binormal(&e, &f);
        let mut corner = RodJoint::new(&material, 1.0, frames, curvature, twist);
        corner.set_frames(frames, twist);
        let x = [rest[0], rest[1], rest[2], Vec3::zeros(), Vec3::zeros()];
        assert!(corner.value(&x) < 1e-28);
        assert!(check(&corner, &x, &[10, 11, 13, 14]));
    }
}
