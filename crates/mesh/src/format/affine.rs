//! Transforms of the nodes of a scene or the bodies of a robot: x ↦ A x + t.

use standoff_linalg::{Mat3, Vec3};

/// An affine map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Affine {
    pub(crate) linear: Mat3,
    pub(crate) shift: Vec3,
}

impl Affine {
    pub(crate) fn identity() -> Self {
        Self { linear: Mat3::identity(), shift: Vec3::zeros() }
    }

    pub(crate) fn translation(shift: Vec3) -> Self {
        Self { shift, ..Self::identity() }
    }

    pub(crate) fn linear(linear: Mat3) -> Self {
        Self { linear, shift: Vec3::zeros() }
    }

    /// `inner` first, then this map.
    pub(crate) fn compose(&self, inner: &Affine) -> Self {
        Self { linear: self.linear * inner.linear, shift: self.apply(&inner.shift) }
    }

    pub(crate) fn apply(&self, p: &Vec3) -> Vec3 {
        self.linear * p + self.shift
    }

    /// Whether it mirrors, so that the orientation of triangles turns around.
    pub(crate) fn mirrors(&self) -> bool {
        self.linear.determinant() < 0.0
    }

    /// The inverse; `None` for a map without one.
    pub(crate) fn inverse(&self) -> Option<Self> {
        let linear = self.linear.try_inverse()?;
        Some(Self { linear, shift: -(linear * self.shift) })
    }
}

/// The rotation of a quaternion w + xi + yj + zk of any length but zero.
pub(crate) fn rotation([w, x, y, z]: [f64; 4]) -> Option<Mat3> {
    let norm = (w * w + x * x + y * y + z * z).sqrt();
    if !norm.is_normal() {
        return None;
    }
    let (w, v) = (w / norm, Vec3::new(x, y, z) / norm);
    let cross = v.cross_matrix();
    Some(Mat3::identity() + cross * (2.0 * w) + cross * cross * 2.0)
}

/// The rotation about an axis of any length but zero, radians.
pub(crate) fn about(axis: Vec3, angle: f64) -> Option<Mat3> {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let norm = axis.norm();
    let v = if norm.is_normal() { axis * (sin / norm) } else { return None };
    rotation([cos, v.x, v.y, v.z])
}
