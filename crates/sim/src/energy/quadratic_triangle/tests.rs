use super::*;
use crate::energy::axisymmetric::Axisymmetric;
use crate::energy::plane_strain::PlaneStrain;
use crate::material::Law;
use standoff_linalg::nalgebra::DMatrix;
use standoff_testkit::Random;
use standoff_testkit::finite_difference::{self, gradient, relative_error};

fn material(k: usize) -> Material {
    let law = Law::ALL[k % Law::ALL.len()].clone();
    Material { law, young_modulus: 1e3, poisson_ratio: [0.3, 0.45][k % 2] }
}

fn shift(r: &mut Random, amount: f64) -> Vec3 {
    let d = r.vec3();
    amount * Vec3::new(d.x, d.y, 0.0)
}

/// Six nodes of a triangle with edges that are bent by `bend`; `near` is the radius of its corners 0 and 2.
fn nodes(r: &mut Random, near: f64, bend: f64) -> [Vec3; NODES] {
    let corners =
        [Vec3::new(near, 0.0, 0.0), Vec3::new(near + 1.0, 0.1, 0.0), Vec3::new(near, 0.9, 0.0)];
    std::array::from_fn(|n| match n.checked_sub(3) {
        None => corners[n],
        Some(e) => {
            let [a, b] = TRIANGLE_EDGES[e].map(|c| corners[c]);
            let middle = 0.5 * (a + b) + shift(r, bend);
            // on the axis it stays there
            if a.x == 0.0 && b.x == 0.0 { Vec3::new(0.0, middle.y, 0.0) } else { middle }
        }
    })
}

fn flat(x: &[f64]) -> [Vec3; NODES] {
    std::array::from_fn(|n| Vec3::new(x[2 * n], x[2 * n + 1], 0.0))
}

fn numbers(x: &[Vec3; NODES]) -> Vec<f64> {
    x.iter().flat_map(|p| [p.x, p.y]).collect()
}

fn dense(h: &Hessian<NODES>) -> DMatrix<f64> {
    DMatrix::from_fn(2 * NODES, 2 * NODES, |r, c| h[r / 2][c / 2][(r % 2, c % 2)])
}

/// Elements of all laws, under plane strain and as rings, on the axis and off it, with and without barrier, some of them crushed so that it acts.
#[test]
fn derivatives_match_differences_and_the_projection_is_above_them() {
    let r = &mut Random::new(61);
    let (mut acting, mut closing, mut projected, mut tested) = (0, 0, 0, 0);
    for k in 0..300 {
        let (is_ring, near) = (k % 3 > 0, [0.5, 0.0, 0.7][k % 3]);
        let rest = nodes(r, near, [0.0, 0.05][k % 2]);
        let Some(element) = QuadraticTriangle::new(&rest, &material(k / 2), is_ring, k % 7 != 0)
        else {
            panic!("{k}: {rest:?}")
        };
        let squeeze = if k % 5 == 0 { 0.09 } else { 1.0 };
        let amount = [0.01, 0.05, 0.12][k % 3] * squeeze;
        // rings that close: two corners and the node between them come to a tenth of their radius and less
        let closed = if is_ring && k % 4 == 1 { 0.92 * near } else { 0.0 };
        let amount = if closed > 0.0 { 0.02 * squeeze } else { amount };
        let x = rest.map(|p| Vec3::new(p.x - closed, squeeze * p.y, 0.0) + shift(r, amount));
        // differences reach beyond the state
        if !element.value(&x).is_finite() || element.least_ratio(&x) < 0.02 {
            continue;
        }
        tested += 1;
        acting += usize::from(element.guard.value(&x) > 0.0);
        closing += element.guard.close_to_axis(&x).count();
        let points = numbers(&x);
        let step = 1e-5 * squeeze;
        let slope = gradient(&points, step, |x| element.value(&flat(x)));
        let forces = |x: &[f64]| numbers(&element.gradient(&flat(x)));
        let error = relative_error(&forces(&points), &slope, 1e-3);
        assert!(error < 1e-6, "{k}: {error:e}");
        let differences = finite_difference::jacobian(&points, step, forces);
        let differences = DMatrix::from_fn(2 * NODES, 2 * NODES, |r, c| differences[r][c]);
        let (whole, psd) = (dense(&element.hessian(&x)), dense(&element.hessian_psd(&x)));
        let error = (&whole - &differences).norm() / differences.norm();
        assert!(error < 1e-5, "{k}: {error:e}");
        let size = psd.norm();
        assert!(psd.clone().symmetric_eigen().eigenvalues.min() > -1e-9 * size, "{k}");
        let above = (&psd - &whole).symmetric_eigen().eigenvalues.min();
        assert!(above > -1e-9 * size, "{k}: {above}");
        projected += usize::from((&psd - &whole).norm() > 1e-6 * size);
        // nothing couples to motions along z, which iterations on whole blocks need to be stiff
        for block in element.hessian_psd(&x).iter().flatten() {
            assert_eq!([block[(0, 2)], block[(1, 2)], block[(2, 0)], block[(2, 1)]], [0.0; 4]);
        }
        assert!(element.hessian_psd(&x).iter().enumerate().all(|(n, row)| row[n][(2, 2)] > 0.0));
    }
    assert!(tested > 150 && acting > 20 && projected > 20, "{tested} {acting} {projected}");
    assert!(closing > 20, "{closing}");
}

/// A deformation that a linear element has, too, takes the same energy, volume and stress, and its forces do the same work; of a ring r = λ R.
#[test]
fn uniform_deformations_are_those_of_linear_elements() {
    let r = &mut Random::new(62);
    for k in 0..40 {
        let (is_ring, law) = (k % 2 == 1, material(k / 2));
        let rest = nodes(r, [0.3, 0.0][k / 20], 0.0);
        let corners = [rest[0], rest[1], rest[2]];
        let element = QuadraticTriangle::new(&rest, &law, is_ring, true).unwrap();
        let mut f = Mat3::identity() + 0.2 * Mat3::from_columns(&[r.vec3(), r.vec3(), r.vec3()]);
        if is_ring {
            f = Mat3::from_diagonal(&Vec3::new(1.2, 0.7, 1.0));
        }
        let map = |p: Vec3| {
            let q = f * p;
            Vec3::new(q.x, q.y, 0.0)
        };
        let (at, same) = (rest.map(map), corners.map(map));
        let (value, slope, stress, volume) = if is_ring {
            let linear = Axisymmetric::new(&corners, &law, true).unwrap();
            let stress = linear.cauchy_stress(&same);
            (linear.value(&same), linear.gradient(&same), stress, linear.volume())
        } else {
            let linear = PlaneStrain::new(&corners, &law, true).unwrap();
            let stress = linear.cauchy_stress(&same);
            (linear.value(&same), linear.gradient(&same), stress, linear.area())
        };
        assert!((element.volume() / volume - 1.0).abs() < 1e-13);
        assert!((element.value(&at) - value).abs() < 1e-11 * value, "{k}");
        for own in element.stresses(&at) {
            assert!((own - stress).norm() < 1e-10 * stress.norm(), "{k}");
        }
        let work = |g: &[Vec3], p: &[Vec3]| -> f64 { g.iter().zip(p).map(|(g, p)| g.dot(p)).sum() };
        let (of, with) = (element.gradient(&at), slope);
        assert!((work(&of, &rest) - work(&with, &corners)).abs() < 1e-10 * value, "{k}");
    }
}

/// Of straight edges 1/19 of the mass at corners and 16/57 at middles; weights 0 and 1/3. Masses and weights of rings sum to their volume.
#[test]
fn masses_and_weights_are_integrals_of_the_shape_functions() {
    let r = &mut Random::new(63);
    let rest = nodes(r, 0.4, 0.0);
    let element = QuadraticTriangle::new(&rest, &material(0), false, true).unwrap();
    let [weights, masses] = QuadraticTriangle::shares(&rest, false);
    for n in 0..NODES {
        let (weight, mass) = if n < 3 { (0.0, 1.0 / 19.0) } else { (1.0 / 3.0, 16.0 / 57.0) };
        assert!((weights[n] / element.volume() - weight).abs() < 1e-13, "{n}");
        assert!((masses[n] / element.volume() - mass).abs() < 1e-13, "{n}");
    }
    for (near, bend) in [(0.0, 0.0), (0.6, 0.0), (0.6, 0.05)] {
        let rest = nodes(r, near, bend);
        let ring = QuadraticTriangle::new(&rest, &material(0), true, true).unwrap();
        let [weights, masses] = QuadraticTriangle::shares(&rest, true);
        let volume: f64 = weights.iter().sum();
        // three points are not exact where edges are bent
        let exact = if bend == 0.0 { 1e-13 } else { 1e-2 };
        assert!((volume / ring.volume() - 1.0).abs() < exact, "{near} {bend}");
        assert!((masses.iter().sum::<f64>() / volume - 1.0).abs() < 1e-13);
        assert!(masses.iter().all(|m| *m > 0.0));
        // of r the integral is that of the centroid's radius about the axis
        let first: f64 = weights.iter().zip(&rest).map(|(w, p)| w * p.x).sum();
        let means: f64 = fine_points()
            .iter()
            .map(|(at, part)| {
                let radius = place(at, &rest).x;
                0.5 * part * area(&jacobian(at, &rest)) * TAU * radius * radius
            })
            .sum();
        assert!((first / means - 1.0).abs() < 1e-12);
    }
}

/// Least area and radius at many places, the slow twin of the bound.
fn least(x: &[Vec3; NODES]) -> [f64; 2] {
    let n = 30;
    let mut least = [f64::INFINITY; 2];
    for i in 0..=n {
        for j in 0..=n - i {
            let [a, b] = [i, j].map(|v| f64::from(v) / f64::from(n));
            let at = [1.0 - a - b, a, b];
            least[0] = least[0].min(area(&jacobian(&at, x)));
            least[1] = least[1].min(place(&at, x).x);
        }
    }
    least
}

#[test]
fn no_element_inverts_or_reaches_the_axis_anywhere_along_a_step_within_the_bound() {
    let r = &mut Random::new(64);
    let (mut whole, mut shortened, mut by_radius) = (0, 0, 0);
    for k in 0..1500 {
        let x = nodes(r, [0.3, 1.5][k % 2], [0.02, 0.08][k / 2 % 2]);
        let Some(ring) = QuadraticTriangle::new(&x, &material(0), true, true) else { continue };
        let plane = QuadraticTriangle::new(&x, &material(0), false, true).unwrap();
        let amount = [0.05, 0.3, 1.0][k % 3];
        let dx: [Vec3; NODES] = std::array::from_fn(|_| shift(r, amount));
        let [step, flat_step] = [&ring, &plane].map(|e| e.max_step(&x, &dx));
        assert!(step <= flat_step && step > 0.0);
        by_radius += usize::from(step < flat_step);
        whole += usize::from(step == 1.0);
        shortened += usize::from(step < 1.0);
        for i in 0..=20 {
            let t = f64::from(i) / 20.0;
            let at = |t: f64| std::array::from_fn(|n| x[n] + t * dx[n]);
            let ([area, radius], [flat_area, _]) =
                (least(&at(t * step)), least(&at(t * flat_step)));
            assert!(area > 0.0 && radius > 0.0 && flat_area > 0.0, "{k}: {area} {radius}");
        }
        // not shortened by far more than it has to be
        if flat_step < 1.0 && k / 2 % 2 == 0 {
            let now = least(&x)[0];
            let mut falls = (1..=400).map(|i| f64::from(i) / 400.0).filter(|t| {
                least(&std::array::from_fn(|n| x[n] + *t * dx[n]))[0] < KEEP_VOLUME * now
            });
            let most = falls.next().unwrap_or(1.0);
            assert!(flat_step > 0.2 * most, "{k}: {flat_step} of {most}");
        }
    }
    assert!(whole > 100 && shortened > 100 && by_radius > 20, "{whole} {shortened} {by_radius}");
    let x = nodes(r, 0.5, 0.0);
    let element = QuadraticTriangle::new(&x, &material(0), true, true).unwrap();
    let mut dx = [Vec3::zeros(); NODES];
    assert_eq!(element.max_step(&x, &dx), 1.0);
    dx[4].y = f64::NAN;
    assert_eq!(element.max_step(&x, &dx), 0.0);
}

/// However often a ring is moved towards the axis, no radius within becomes negative; what is on the axis stays there.
#[test]
fn a_ring_that_closes_does_not_reach_the_axis() {
    let r = &mut Random::new(66);
    for k in 0..40 {
        let mut x = nodes(r, if k % 4 == 0 { 0.0 } else { 0.3 }, 0.02);
        let ring = QuadraticTriangle::new(&x, &material(0), true, true).unwrap();
        for _ in 0..80 {
            let on_axis = x.map(|p| p.x == 0.0);
            let dx: [Vec3; NODES] = std::array::from_fn(|n| {
                let d = shift(r, 0.01);
                if on_axis[n] { Vec3::new(0.0, d.y, 0.0) } else { Vec3::new(-2.0 + d.x, d.y, 0.0) }
            });
            let step = ring.max_step(&x, &dx);
            x = std::array::from_fn(|n| x[n] + step * dx[n]);
            let [_, radius] = least(&x);
            assert!(
                radius >= 0.0 && x.iter().zip(on_axis).all(|(p, on)| on || p.x > 0.0),
                "{k} {x:?}"
            );
        }
    }
}

#[test]
fn what_is_no_element_is_refused() {
    let r = &mut Random::new(65);
    let good = nodes(r, 0.2, 0.0);
    let new = |x: &[Vec3; NODES], is_ring| QuadraticTriangle::new(x, &material(0), is_ring, true);
    assert!(new(&good, true).is_some());
    // the middle of an edge at a quarter of it: the area at the near end vanishes
    for (part, fits) in [(0.24, false), (0.26, true)] {
        let mut x = good;
        x[3] = x[0] + part * (x[1] - x[0]);
        assert_eq!(new(&x, false).is_some(), fits, "{part}");
    }
    let clockwise = [good[0], good[2], good[1], good[5], good[4], good[3]];
    assert!(new(&clockwise, false).is_none());
    // bent behind the axis between its corners
    let mut x = good;
    x[5].x = 0.08;
    assert!(new(&x, false).is_some() && new(&x, true).is_none());
    x[5].x = f64::NAN;
    assert!(new(&x, false).is_none());
}
