use super::*;
use crate::energy::formula::tests::{assert_lanes, first_order};
use standoff_testkit::Random;

/// Flat, bent, folded and very uneven hinges, far from and at their rest angles, some of them turned
/// beyond 180° since the start of the step or before.
fn hinges() -> (Vec<Hinge>, Vec<[u32; 4]>, Vec<Vec3>) {
    let r = &mut Random::new(5);
    let (mut hinges, mut vertices, mut x) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..203 {
        let flat = [Vec3::zeros(), Vec3::x(), Vec3::y() * 0.9, -Vec3::y() * [1.0, 1e-3][k % 2]];
        let noise = [0.0, 1e-6, 0.1, 0.6][k % 4];
        let at = |p: &Vec3| (p + r.vec3() * noise) * [1.0, 1e-3][k % 3 / 2];
        let p: Vec<Vec3> = flat.iter().map(at).collect();
        let rest_angle = [None, Some(0.3), Some(-2.0)][k % 3];
        hinges.push(Hinge::new(&[p[0], p[1], p[2], p[3]], 2.0, rest_angle));
        vertices.push([0, 1, 2, 3].map(|a| x.len() as u32 + a));
        let moved = |p: &Vec3| p + r.vec3() * (p.norm() * [0.0, 0.2][k % 5 / 4]);
        x.extend(p.iter().map(moved));
    }
    for (k, hinge) in hinges.iter_mut().enumerate().filter(|(k, _)| k % 7 > 3) {
        let start = [-3.1, 3.1, 0.0][k % 7 - 4];
        hinge.turning = Turning::new(start, [-1, 0, 2][k % 3]);
    }
    (hinges, vertices, x)
}

#[test]
fn lanes_of_any_width_and_any_neighbours_have_the_same_bits() {
    let (elements, vertices, x) = hinges();
    assert_lanes(&elements, &vertices, &x);
}

#[test]
fn gradients_are_the_slopes_of_energies() {
    let (elements, vertices, x) = hinges();
    let gradients = first_order(&elements, &vertices, &x, true).1;
    let heights = |k: usize| {
        let corners = vertices[k].map(|v| x[v as usize]);
        let [a, b] = View::new(&edges(&formula::plain(&corners))).sides;
        a.over_height.max(b.over_height).recip()
    };
    for a in 0..4 {
        for i in 0..3 {
            let at = |step: f64| {
                let mut moved = x.clone();
                for k in 0..elements.len() {
                    moved[4 * k + a][i] += step * 1e-4 * heights(k);
                }
                first_order(&elements, &vertices, &moved, true).0
            };
            let [b2, b1, a1, a2] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            for (k, hinge) in elements.iter().enumerate() {
                let slope = (b2[k] - 8.0 * b1[k] + 8.0 * a1[k] - a2[k]) / (12e-4 * heights(k));
                let size = hinge.stiffness / heights(k);
                let off = (slope - gradients[k][a][i]).abs() / size;
                assert!(off < 1e-6, "hinge {k}, corner {a}: {off:e}");
            }
        }
    }
}

/// A hinge without a shape has infinite energy, at no stiffness no force, and leaves its neighbours as they are.
#[test]
fn a_hinge_without_shape_is_alone_with_that() {
    let (mut elements, vertices, mut x) = hinges();
    let before = first_order(&elements, &vertices, &x, true);
    x[4 * 6 + 1] = x[4 * 6];
    let corners = vertices[6].map(|v| x[v as usize]);
    let after = first_order(&elements, &vertices, &x, true);
    assert_eq!((after.0[6], elements[6].value(&corners)), (f64::INFINITY, f64::INFINITY));
    for k in (0..elements.len()).filter(|&k| k != 6) {
        assert_eq!((after.0[k], after.1[k]), (before.0[k], before.1[k]), "hinge {k}");
    }
    // flat at rest, one corner on the edge: 0/0 times a slope of 0
    elements[6] = Hinge { stiffness: 1.0, rest_angle: 0.0, turning: Turning::default() };
    x[4 * 6 + 1] = x[4 * 6] + Vec3::x();
    x[4 * 6 + 2] = x[4 * 6];
    let corners = vertices[6].map(|v| x[v as usize]);
    let out = first_order(&elements, &vertices, &x, true).1;
    assert_eq!(out[6], [Vec3::zeros(); 4]);
    assert_eq!(elements[6].gradient(&corners), [Vec3::zeros(); 4]);
}
