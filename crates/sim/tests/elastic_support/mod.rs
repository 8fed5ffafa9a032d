//! Deformation gradients for the tests of materials and tetrahedra.

use standoff_linalg::{Mat3, Vec3};
pub use standoff_testkit::Random;

/// U diag(s) Vᵀ with random rotations.
pub fn with_stretches(random: &mut Random, s: [f64; 3]) -> Mat3 {
    random.rotation() * Mat3::from_diagonal(&Vec3::from(s)) * random.rotation()
}

/// Deformation gradients of positive volume, special ones among them.
pub fn upright(random: &mut Random) -> Vec<Mat3> {
    let stretches = [
        [1.0, 1.0, 1.0],
        [1.7, 1.7, 1.7],
        [1.3, 1.3, 0.7],
        [1.4, 0.8, 0.8],
        [1.3, 1.3 - 1e-9, 0.7],
        [1.0 + 1e-7, 1.0, 1.0 - 1e-7],
        [1.2, 0.9, 0.05],
        [1.0, 0.04, 0.04],
        [0.3, 0.2, 0.1],
        [2.5, 2.0, 1.5],
        [4.0, 0.5, 0.5],
    ];
    let mut out: Vec<Mat3> = vec![Mat3::identity()];
    out.extend(stretches.map(|s| with_stretches(random, s)));
    for _ in 0..20 {
        let s = [0, 1, 2].map(|_| 0.2 + 1.8 * random.unit());
        out.push(with_stretches(random, s));
        let size = 10f64.powf(-8.0 * random.unit());
        out.push(random.rotation() * (Mat3::identity() + random.mat3() * (0.3 * size)));
    }
    out.retain(|f| f.determinant() > 1e-4);
    out
}

/// Deformation gradients that laws without a barrier must bear: flat and inverted. The two
/// smallest singular values do not cancel, for there the corotated stress jumps.
pub fn flat_or_inverted(random: &mut Random) -> Vec<Mat3> {
    let stretches = [
        [1.0, 0.6, 0.0],
        [1.0, 1.0, 0.0],
        [1.2, 0.8, -0.3],
        [1.0, 1.0, -0.5],
        [1.5, 0.9, -0.1],
        [3.0, 2.0, -1.0],
        [1.0, 0.5, 1e-9],
        [1.0, 0.5, -1e-9],
    ];
    let mut out: Vec<Mat3> = stretches.map(|s| with_stretches(random, s)).into();
    for _ in 0..20 {
        let s = [1.0 + random.unit(), 0.5 + 0.5 * random.unit(), -0.4 * random.unit()];
        out.push(with_stretches(random, s));
    }
    out
}

/// What a law must handle: everything, or what is not inverted.
pub fn admissible(has_barrier: bool, random: &mut Random) -> Vec<Mat3> {
    let mut out = upright(random);
    if !has_barrier {
        out.extend(flat_or_inverted(random));
    }
    out
}
