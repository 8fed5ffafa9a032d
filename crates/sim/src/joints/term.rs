//! The augmented Lagrangian of all joints.

use super::law::lagrangian;
use super::{Joint, POINTS, Row};
use crate::energy::{Projection, Role, Term, next_blocks};
use standoff_linalg::nalgebra::SMatrix;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// The energy Σ λ c + ½ k c² of the equations c = 0 of all joints, with multipliers λ (N) that grow by k c after whole steps and at minima as
/// long as the equations do not hold.
#[derive(Debug, Clone)]
pub struct JointTerm<'a> {
    joints: &'a [Joint],
    /// λ of all equations, N.
    multipliers: Vec<f64>,
    /// Factor of the energy: joints are constraints as contact is, whatever the integrator makes of other energies.
    weight: f64,
    /// Factor of k.
    stiffening: f64,
}

impl<'a> JointTerm<'a> {
    /// The energy of joints with their multipliers, multiplied by a factor.
    pub fn new(joints: &'a [Joint], multipliers: &[f64], weight: f64) -> Self {
        Self { joints, multipliers: multipliers.to_vec(), weight, stiffening: 1.0 }
    }

    /// Sets the factor of the energy.
    pub fn weigh(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// Makes k this many times as large.
    pub fn stiffen(&mut self, factor: f64) {
        self.stiffening *= factor;
    }

    /// k of a joint, N/m.
    fn stiffness(&self, joint: &Joint) -> f64 {
        self.stiffening * joint.stiffness
    }

    /// Whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// λ + k c at `x`: the multipliers with which forces at `x` are those of the energy there, N.
    pub fn forces(&self, x: &[Vec3]) -> Vec<f64> {
        // zero of broken joints
        let mut forces = vec![0.0; self.multipliers.len()];
        for joint in self.joints {
            let q = joint.gather(x);
            let own = self.multipliers[joint.first_row..].iter();
            let rows = joint.rows.iter().zip(own).zip(&mut forces[joint.first_row..]);
            for ((row, l), force) in rows {
                *force = lagrangian(*l, self.stiffness(joint), row.value(&q))[1];
            }
        }
        forces
    }

    /// Makes the multipliers those that act at `x`.
    pub fn tighten(&mut self, x: &[Vec3]) {
        self.multipliers = self.forces(x);
    }

    /// The gradient of Σ ½ k c² alone, N (`#V`).
    pub fn closing_gradient(&self, x: &[Vec3]) -> Vec<Vec3> {
        let mut gradient = vec![Vec3::zeros(); x.len()];
        let multipliers = vec![0.0; self.multipliers.len()];
        Self { multipliers, ..self.clone() }.add_gradient(x, &mut gradient);
        gradient
    }

    /// Σ (λ + k c) ∂²c by the control points, of which each block is a multiple of the unit matrix; none where it is zero.
    fn bending(&self, joint: &Joint, q: &[Vec3; POINTS]) -> Option<SMatrix<f64, POINTS, POINTS>> {
        if joint.rows.iter().all(|row| row.is_linear()) {
            return None;
        }
        let own = &self.multipliers[joint.first_row..];
        let mut sum = SMatrix::zeros();
        for (row, multiplier) in joint.rows.iter().zip(own) {
            let [_, force] = lagrangian(*multiplier, self.stiffness(joint), row.value(q));
            sum += SMatrix::from_fn(|k, l| force * row.curvature(k, l));
        }
        Some(sum)
    }
}

impl Term for JointTerm<'_> {
    fn name(&self) -> &str {
        "joints"
    }

    fn role(&self) -> Role {
        Role::Constraint
    }

    fn stencils(&self) -> Stencils<'_> {
        self.joints.iter().map(|j| j.stencil.clone()).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let of = |joint: &Joint| {
            let q = joint.gather(x);
            let rows = joint.rows.iter().zip(&self.multipliers[joint.first_row..]);
            let energy =
                |(row, l): (&Row, &f64)| lagrangian(*l, self.stiffness(joint), row.value(&q))[0];
            rows.map(energy).sum::<f64>()
        };
        self.weight * self.joints.iter().map(of).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for joint in self.joints {
            let q = joint.gather(x);
            let rows = joint.rows.iter().zip(&self.multipliers[joint.first_row..]);
            for (row, multiplier) in rows {
                let [_, force] = lagrangian(*multiplier, self.stiffness(joint), row.value(&q));
                let force = self.weight * force;
                let by_points = row.gradient(&q);
                for (&v, g) in joint.stencil.iter().zip(&by_points) {
                    gradient[v as usize] += force * g;
                }
            }
        }
    }

    /// Σ k ∇c ∇cᵀ + (λ + k c) ∂²c, of which the second part is projected.
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        mut out: &mut [Mat3],
    ) {
        for joint in &self.joints[range] {
            let (n, q) = (joint.stencil.len(), joint.gather(x));
            let own = next_blocks(&mut out, block_count(n));
            own.fill(Mat3::zeros());
            for row in &joint.rows {
                let g = row.gradient(&q);
                for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                    *block += self.weight * self.stiffness(joint) * g[k] * g[l].transpose();
                }
            }
            let Some(mut bending) = self.bending(joint, &q) else { continue };
            if projection.applies_to(&joint.stencil) {
                let mut eigen = bending.symmetric_eigen();
                eigen.eigenvalues.apply(|e| *e = e.max(0.0));
                bending = eigen.recompose();
            }
            for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                *block += Mat3::from_diagonal_element(self.weight * bending[(k, l)]);
            }
        }
    }

    /// Nothing: joints are limits of the motion.
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        Some(Box::new(JointTerm::new(&[], &[], self.weight)))
    }
}
