//! Coordinates of joints as functions of control points.

use super::{Form, POINTS, Row};
use standoff_linalg::nalgebra::SMatrix;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::block_pairs;
use std::f64::consts::TAU;

/// Number of numbers that the control points of a joint are.
const NUMBERS: usize = 3 * POINTS;

/// A second derivative by the control points of a joint.
pub type Curvature = SMatrix<f64, NUMBERS, NUMBERS>;

/// A coordinate of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinate {
    /// Angle about the axis, rad: that of the vector (cosine, sine), of any length, from the one at the start on.
    Angle {
        /// The part of a direction of the child along the direction of the parent to which it turns.
        sine: Row,
        /// The part of it along the direction of the parent on which it lies at the start.
        cosine: Row,
        /// The angle at the start.
        start: f64,
    },
    /// Displacement along the axis, m.
    Displacement(Row),
    /// Distance of two points, m.
    Distance(Form),
}

impl Coordinate {
    /// Its value at `q`. Angles are known up to whole turns: it is the one nearest to `near`.
    pub fn value(&self, q: &[Vec3; POINTS], near: f64) -> f64 {
        match self {
            Self::Angle { sine, cosine, start } => {
                let angle = start + sine.value(q).atan2(cosine.value(q));
                angle + TAU * ((near - angle) / TAU).round()
            }
            Self::Displacement(row) => row.value(q),
            Self::Distance(r) => r.at(q).norm(),
        }
    }

    /// Its derivative by the control points, 1/m or without a unit.
    pub fn gradient(&self, q: &[Vec3; POINTS]) -> [Vec3; POINTS] {
        match self {
            Self::Angle { sine, cosine, .. } => {
                let (s, c) = (sine.value(q), cosine.value(q));
                let (by_s, by_c) = (sine.gradient(q), cosine.gradient(q));
                let square = s * s + c * c;
                std::array::from_fn(|k| (c * by_s[k] - s * by_c[k]) / square)
            }
            Self::Displacement(row) => row.gradient(q),
            Self::Distance(r) => {
                let along = direction(r.at(q));
                r.weights.map(|w| w * along)
            }
        }
    }

    /// Its second derivative by the control points.
    pub fn curvature(&self, q: &[Vec3; POINTS]) -> Curvature {
        match self {
            Self::Angle { sine, cosine, .. } => {
                let (s, c) = (sine.value(q), cosine.value(q));
                let (by_s, by_c) = (sine.gradient(q), cosine.gradient(q));
                let square = s * s + c * c;
                let mixed = (s * s - c * c) / (square * square);
                let own = -2.0 * s * c / (square * square);
                fill(|k, l| {
                    let of_rows = c * sine.curvature(k, l) - s * cosine.curvature(k, l);
                    let products = own * (by_s[k] * by_s[l].transpose())
                        - own * (by_c[k] * by_c[l].transpose())
                        + mixed * (by_s[k] * by_c[l].transpose() + by_c[k] * by_s[l].transpose());
                    Mat3::from_diagonal_element(of_rows / square) + products
                })
            }
            Self::Displacement(row) => {
                fill(|k, l| Mat3::from_diagonal_element(row.curvature(k, l)))
            }
            Self::Distance(r) => {
                let offset = r.at(q);
                let along = direction(offset);
                let across = (Mat3::identity() - along * along.transpose()) / offset.norm();
                fill(|k, l| r.weights[k] * r.weights[l] * across)
            }
        }
    }

    /// Its rate where the control points move with the velocities `v`, per s.
    pub fn rate(&self, q: &[Vec3; POINTS], v: &[Vec3; POINTS]) -> f64 {
        self.gradient(q).iter().zip(v).map(|(g, v)| g.dot(v)).sum()
    }
}

fn direction(offset: Vec3) -> Vec3 {
    offset.try_normalize(0.0).unwrap_or(Vec3::zeros())
}

fn fill(block: impl Fn(usize, usize) -> Mat3) -> Curvature {
    let mut whole = Curvature::zeros();
    for (k, l) in block_pairs(POINTS) {
        let b = block(k, l);
        whole.fixed_view_mut::<3, 3>(3 * k, 3 * l).copy_from(&b);
        whole.fixed_view_mut::<3, 3>(3 * l, 3 * k).copy_from(&b.transpose());
    }
    whole
}

/// The nearest positive semidefinite matrix.
pub fn projected(matrix: Curvature) -> Curvature {
    let mut eigen = matrix.symmetric_eigen();
    eigen.eigenvalues.apply(|e| *e = e.max(0.0));
    eigen.recompose()
}
