//! What the equations of a joint are made of.

use crate::definition::CONTROL_POINTS;
use standoff_linalg::Vec3;

/// Number of points on which a joint depends at most: the control points of two bodies.
pub const POINTS: usize = 2 * CONTROL_POINTS;

/// A point or a direction that bodies carry: a weighted sum of control points, those of the child before those of the parent, and a
/// constant of the world, m.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Form {
    /// Weights of the control points.
    pub weights: [f64; POINTS],
    /// What does not move, m.
    pub constant: Vec3,
}

impl Form {
    /// A constant.
    pub fn constant(constant: Vec3) -> Self {
        Self { weights: [0.0; POINTS], constant }
    }

    /// Its value where the control points are at `q`, m.
    pub fn at(&self, q: &[Vec3; POINTS]) -> Vec3 {
        self.constant + self.moved(q)
    }

    /// How it moves where the control points move by `dq`.
    pub fn moved(&self, dq: &[Vec3; POINTS]) -> Vec3 {
        self.weights.iter().zip(dq).fold(Vec3::zeros(), |sum, (w, q)| sum + *w * q)
    }

    /// The sum of the magnitudes of its summands: rounding is a few of the last digits of that.
    fn magnitude(&self, q: &[Vec3; POINTS]) -> f64 {
        self.weights.iter().zip(q).map(|(w, q)| w.abs() * q.norm()).sum::<f64>()
            + self.constant.norm()
    }
}

impl std::ops::Mul<Form> for f64 {
    type Output = Form;

    fn mul(self, form: Form) -> Form {
        Form { weights: form.weights.map(|w| self * w), constant: self * form.constant }
    }
}

impl std::ops::Sub for Form {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let weights = std::array::from_fn(|k| self.weights[k] - other.weights[k]);
        Self { weights, constant: self.constant - other.constant }
    }
}

/// One equation of a joint: c = u·r − c₀ = 0, where u has no unit and r is in m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// u: a unit vector of the world, or a direction that the parent carries.
    pub along: Form,
    /// r: an offset.
    pub offset: Form,
    /// c₀, m.
    pub target: f64,
}

impl Row {
    /// c, m.
    pub fn value(&self, q: &[Vec3; POINTS]) -> f64 {
        self.along.at(q).dot(&self.offset.at(q)) - self.target
    }

    /// Its derivative by the control points.
    pub fn gradient(&self, q: &[Vec3; POINTS]) -> [Vec3; POINTS] {
        let (u, r) = (self.along.at(q), self.offset.at(q));
        std::array::from_fn(|k| self.offset.weights[k] * u + self.along.weights[k] * r)
    }

    /// Whether the second derivative is zero: u does not move.
    pub fn is_linear(&self) -> bool {
        self.along.weights == [0.0; POINTS]
    }

    /// The factor of the unit matrix in its second derivative by the control points k and l, 1/m.
    pub fn curvature(&self, k: usize, l: usize) -> f64 {
        let (a, b) = (&self.along.weights, &self.offset.weights);
        a[k] * b[l] + b[k] * a[l]
    }

    /// What rounding may make of it, m.
    pub fn rounding(&self, q: &[Vec3; POINTS]) -> f64 {
        let (u, r) = (self.along.at(q).norm(), self.offset.at(q).norm());
        f64::EPSILON * (u * self.offset.magnitude(q) + r * self.along.magnitude(q))
    }
}
