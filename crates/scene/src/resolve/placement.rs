//! Placement of a mesh in the scene: scale, rotation, translation, copies.

use super::at::At;
use crate::error::SceneError;
use crate::file::{ObjectSection, Rotation, Scale, StartSection};
use standoff_linalg::nalgebra::{Rotation3, Unit};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::validate::{direction, positive};

/// The affine map p ↦ linear·p + translation.
#[derive(Clone)]
pub(super) struct Placement {
    linear: Mat3,
    translation: Vec3,
}

impl Placement {
    /// Reads the placement of an object.
    pub fn of(object: &ObjectSection, at: &At<'_>) -> Result<Self, SceneError> {
        let scale = Self::scale(object, at)?;
        Ok(Self {
            linear: rotation(object.rotate, at)? * Mat3::from_diagonal(&scale),
            translation: Vec3::from(object.translate),
        })
    }

    /// The scale of an object along each axis.
    pub fn scale(object: &ObjectSection, at: &At<'_>) -> Result<Vec3, SceneError> {
        let scale = match object.scale {
            None => Vec3::repeat(1.0),
            Some(Scale::Uniform(s)) => Vec3::repeat(s),
            Some(Scale::PerAxis(s)) => Vec3::from(s),
        };
        for s in scale.iter() {
            at.check(positive("scale", *s, "a scale must be positive"))?;
        }
        Ok(scale)
    }

    /// The rigid motion from a placed object to its start.
    pub fn start(motion: &StartSection, at: &At<'_>) -> Result<Self, SceneError> {
        let linear = rotation(motion.rotate, at)?;
        Ok(Self { linear, translation: Vec3::from(motion.translate) })
    }

    /// Turns and scales a direction.
    pub fn turn(&self, direction: &Vec3) -> Vec3 {
        self.linear * direction
    }

    /// Places points, moved further by `offset`.
    pub fn apply(&self, points: &[Vec3], offset: &Vec3) -> Vec<Vec3> {
        let translation = self.translation + offset;
        points.iter().map(|p| self.linear * p + translation).collect()
    }
}

/// The matrix of a rotation.
pub(super) fn rotation(rotate: Option<Rotation>, at: &At<'_>) -> Result<Mat3, SceneError> {
    match rotate {
        None => Ok(Mat3::identity()),
        Some(Rotation::Euler(angles)) => Ok(euler(angles)),
        Some(Rotation::AxisAngle(turn)) => {
            let axis = Vec3::from(turn.axis);
            let must = "the axis must not be zero";
            at.key("rotate").check(direction("axis", &axis, must))?;
            let axis = Unit::new_normalize(axis);
            Ok(*Rotation3::from_axis_angle(&axis, turn.angle.to_radians()).matrix())
        }
    }
}

/// Rx·Ry·Rz for angles in degrees.
fn euler([x, y, z]: [f64; 3]) -> Mat3 {
    let ((sx, cx), (sy, cy), (sz, cz)) = (sin_cos(x), sin_cos(y), sin_cos(z));
    Mat3::new(1.0, 0.0, 0.0, 0.0, cx, -sx, 0.0, sx, cx)
        * Mat3::new(cy, 0.0, sy, 0.0, 1.0, 0.0, -sy, 0.0, cy)
        * Mat3::new(cz, -sz, 0.0, sz, cz, 0.0, 0.0, 0.0, 1.0)
}

/// Sine and cosine of an angle in degrees, exact at multiples of 90°, so that a box turned by 90°
/// stays axis-parallel.
fn sin_cos(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        d => d.to_radians().sin_cos(),
    }
}

/// Copies that an object may have.
const MOST_COPIES: f64 = 1e5;

/// The copies of an object: suffix of the name and offset; one without suffix by default.
pub(super) fn copies(
    object: &ObjectSection,
    at: &At<'_>,
) -> Result<Vec<(String, Vec3)>, SceneError> {
    let Some(array) = object.array else { return Ok(vec![(String::new(), Vec3::zeros())]) };
    let at = at.key("array").key("counts");
    for (k, count) in array.counts.iter().enumerate() {
        at.index(k).require(*count, |n| n >= 1, "a count of copies must be at least 1")?;
    }
    let [nx, ny, nz] = array.counts;
    if f64::from(nx) * f64::from(ny) * f64::from(nz) > MOST_COPIES {
        return Err(at.invalid("more than 100,000 copies"));
    }
    let mut all = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let steps = Vec3::new(f64::from(i), f64::from(j), f64::from(k));
                let offset = steps.component_mul(&Vec3::from(array.spacing));
                all.push((format!("[{i},{j},{k}]"), offset));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn euler_turns_z_first() {
        // z first: x → y; then y: y stays; then x: y → z
        let image = euler([90.0, 90.0, 90.0]) * Vec3::x();
        assert_eq!(image, Vec3::z());
        let general = euler([10.0, -20.0, 30.0]);
        let twin = Rotation3::from_axis_angle(&Vec3::x_axis(), 10f64.to_radians())
            * Rotation3::from_axis_angle(&Vec3::y_axis(), (-20f64).to_radians())
            * Rotation3::from_axis_angle(&Vec3::z_axis(), 30f64.to_radians());
        assert!((general - twin.matrix()).norm() < 1e-15);
    }
}
