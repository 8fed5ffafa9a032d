//! Hinges, shape operators and joints of rods through folds by 180° and beyond.

use crate::elastic_support::Random;
use crate::thin::{check, frame, operator};
use standoff_linalg::Vec3;
use standoff_sim::energy::Element;
use standoff_sim::energy::hinge::Hinge;
use standoff_sim::energy::rod_joint::{
    Frame, RodJoint, RodMaterial, curvature_binormal, transport,
};
use standoff_sim::energy::shape_operator::ENDS;
use std::f64::consts::PI;

/// One triangle turns about its edge with the other by two turns, forth and back, a step each 10°: the energy is
/// quadratic in the angle all the way, smooth where the triangles pass through each other.
#[test]
fn hinges_turn_on_beyond_180_degrees() {
    let at = |angle: f64| {
        let (s, c) = angle.sin_cos();
        [Vec3::zeros(), Vec3::x(), Vec3::new(0.3, 0.8, 0.0), Vec3::new(0.6, -c, s) * 0.9]
    };
    let rest_angle = 0.4;
    let mut hinge = Hinge::new(&at(0.0), 0.1, Some(rest_angle));
    let unit = hinge.value(&at(0.0)) / rest_angle.powi(2);
    let sense = standoff_sim::energy::hinge::angle(&at(1.0)).signum();
    let way = (0..=72).chain((-72..72).rev());
    let mut farthest = 0.0f64;
    for k in way {
        for part in [0.0, 0.3, 1.0] {
            let angle = (10.0 * (f64::from(k) + part)).to_radians();
            let x = at(angle);
            let bend = sense * angle - rest_angle;
            let value = hinge.value(&x);
            assert!((value / unit - bend * bend).abs() < 1e-12 * (1.0 + bend * bend), "{k} {part}");
            check(&hinge, &x, &[]);
            farthest = farthest.max(value / unit);
        }
        let start = at(f64::from(10 * k).to_radians());
        hinge.begin_step(&start, hinge.turns(&start));
    }
    assert!(farthest > (4.0 * PI).powi(2));
}

/// The same for a triangle that turns about one of its edges, whose normal stands still.
#[test]
fn shape_operators_turn_on_beyond_180_degrees() {
    let at = |angle: f64| {
        let (s, c) = angle.sin_cos();
        let zero = Vec3::zeros();
        [Vec3::zeros(), Vec3::x(), Vec3::new(0.3, 0.8 * c, 0.8 * s), zero, zero, zero]
    };
    let rest = [0, 1, 2].map(|v| at(0.0)[v]);
    let normals = [Vec3::z(); 3];
    let mut element = operator(&rest, normals, &rest, normals, [false, true, false]);
    // the other two edges' angles turn along with the triangle
    let turned = |angle: f64| {
        let mut x = at(angle);
        for k in 0..2 {
            x[3 + k].x = 0.0;
        }
        x
    };
    let mut before: Option<f64> = None;
    let mut greatest = 0.0f64;
    for k in 0..=72 {
        for part in 0..10 {
            let x = turned((10.0 * f64::from(k) + f64::from(part)).to_radians());
            let value = element.value(&x);
            // no step of 1° adds more than the slope of the last ones allows
            if let Some(before) = before {
                assert!(
                    (value - before).abs() < 0.05 * (1.0 + before),
                    "{k} {part}: {before} {value}"
                );
            }
            before = Some(value);
            greatest = greatest.max(value);
            check(&element, &x, &[10, 11, 13, 14, 16, 17]);
        }
        let start = turned(f64::from(10 * k).to_radians());
        let (frames, turns) = (*element.frames(), element.turns(&start));
        let carried = [0, 1, 2].map(|k| {
            let [a, b] = ENDS[k];
            let e = if k == 1 { start[a] - start[b] } else { start[b] - start[a] };
            let tangent = e.normalize();
            let f = frames[k];
            Frame { tangent, director: transport(&f.director, &f.tangent, &tangent) }
        });
        element.begin_step(carried, &start, turns);
    }
    assert!(greatest > 1.0);
}

/// Up to a fold of 120° the energy is that of [Bergou 2010]; from there on it grows to a finite maximum at 180°,
/// where all derivatives are those of finite differences, also beyond.
#[test]
fn joints_fold_by_180_degrees_and_beyond() {
    let mut random = Random::new(7);
    let material = RodMaterial { radius: 0.5, young_modulus: 2.0, poisson_ratio: 0.3 };
    let unit = 0.5 * material.bending_stiffness();
    let at = |degrees: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        let zero = Vec3::zeros();
        [-Vec3::x(), Vec3::zeros(), Vec3::new(c, s, 0.0) * 1.2, zero, zero]
    };
    let frames =
        |x: &[Vec3; 5], random: &mut Random| [1, 2].map(|v| frame(x[v] - x[v - 1], random));
    // straight at rest, from steps that start at about the same fold
    let mut before = -1.0;
    for k in 0..=72 {
        let x = at(2.5 * f64::from(k));
        let across =
            |v: usize| Frame { tangent: (x[v] - x[v - 1]).normalize(), director: Vec3::z() };
        let joint = RodJoint::new(&material, 1.0, [across(1), across(2)], Vec3::zeros(), 0.0);
        let energy = joint.value(&x) / unit;
        let exact = 4.0 * (0.5 * (2.5 * f64::from(k)).to_radians()).tan().powi(2);
        if k <= 48 {
            assert!((energy - exact).abs() < 1e-12 * (1.0 + exact), "{k}: {energy} {exact}");
        }
        assert!(energy > before && energy < 44.0 + 1e-9, "{k}: {energy}");
        before = energy;
        let force = joint.gradient(&x).iter().map(|g| g.norm()).fold(0.0, f64::max) / unit;
        assert!(force < 100.0, "{k}: {force}");
    }
    assert!((before - 44.0).abs() < 1e-9);
    for (rest, twist) in [(0.0, 0.0), (0.0, 0.7), (40.0, 0.7), (150.0, -0.4), (-60.0, 3.0)] {
        let at_rest = at(rest);
        let curvature = curvature_binormal(&Vec3::x(), &at_rest[2]);
        let rest_frames = frames(&at_rest, &mut random);
        let joint = RodJoint::new(&material, 1.0, rest_frames, curvature, twist);
        for degrees in
            [119.9, 120.1, 150.0, 170.0, 179.0, 179.99, 180.0, 180.01, 181.0, 200.0, 239.9, 300.0]
        {
            let mut x = at(degrees);
            let mut joint = joint;
            let start = frames(&at(degrees - 3.0), &mut random);
            joint.set_frames(start, RodJoint::twist_of_frames(&start, 0.0));
            x[3].x = 0.2;
            x[4].x = -0.1;
            check(&joint, &x, &[10, 11, 13, 14]);
            assert!(joint.value(&x) >= 0.0);
            let force = joint.gradient(&x).iter().map(|g| g.norm()).fold(0.0, f64::max) / unit;
            assert!(force < 2e4, "{rest} {degrees}: {force}");
        }
    }
}

/// Segments that turn by 180° within a step, one of them or both: derivatives are those of finite differences,
/// and forces stay bounded, where the frames of the start of the step cannot be carried along.
#[test]
fn segments_turn_by_180_degrees_in_a_step() {
    let mut random = Random::new(8);
    let material = RodMaterial { radius: 0.5, young_modulus: 2.0, poisson_ratio: 0.3 };
    let direction = |degrees: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        Vec3::new(c, s, 0.0)
    };
    for curvature in [Vec3::zeros(), Vec3::new(0.0, 0.3, 0.5)] {
        for [first, second] in
            [[180.0, 180.0], [179.99, 150.0], [130.0, 185.0], [0.0, 170.0], [121.0, 0.0]]
        {
            let (e, f) = (Vec3::x(), Vec3::new(1.0, 0.1, 0.2));
            let frames = [frame(e, &mut random), frame(f, &mut random)];
            let mut joint = RodJoint::new(&material, 1.0, frames, curvature, 0.5);
            joint.set_frames(frames, RodJoint::twist_of_frames(&frames, 0.0));
            let noise = random.vec3() * 1e-6;
            let zero = Vec3::zeros();
            let x = [-direction(first), noise, noise + direction(second) * 1.1, zero, zero];
            check(&joint, &x, &[10, 11, 13, 14]);
            let force = joint.gradient(&x).iter().map(|g| g.norm()).fold(0.0, f64::max);
            assert!(force < 100.0, "{first} {second}: {force}");
        }
    }
}
