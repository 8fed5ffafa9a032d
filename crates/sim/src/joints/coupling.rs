//! Joints whose coordinates follow each other: gears, racks, the fingers of a gripper.

use super::Joint;
use super::coordinate::projected;
use super::law::lagrangian;
use crate::energy::{Projection, Role, Term, next_blocks};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// The equation c = l (s − r s' − s₀) = 0 between the coordinates s and s' of two joints.
#[derive(Debug, Clone)]
pub struct Coupling {
    /// The joint of s and the one of s'.
    pub joints: [usize; 2],
    /// l, 1 m/rad times the size of the smaller body for angles, 1 for displacements.
    pub scale: f64,
    /// r.
    pub ratio: f64,
    /// s₀, rad or m.
    pub offset: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// The control points of both joints, each once.
    pub stencil: Vec<u32>,
    /// Where each joint's control points are among them.
    pub places: Vec<Vec<usize>>,
}

impl Coupling {
    /// c for these values of s and s', m.
    pub fn error(&self, [s, other]: [f64; 2]) -> f64 {
        self.scale * (s - self.ratio * other - self.offset)
    }

    /// ∂c/∂s for each of the joints.
    pub fn factors(&self) -> [f64; 2] {
        [self.scale, -self.scale * self.ratio]
    }
}

/// The augmented Lagrangian Σ λ c + ½ k c² of all couplings.
#[derive(Debug, Clone)]
pub struct CouplingTerm<'a> {
    joints: &'a [Joint],
    all: &'a [Coupling],
    /// λ of all couplings, N.
    multipliers: Vec<f64>,
    /// Factor of the energy.
    weight: f64,
    /// Factor of k.
    stiffening: f64,
    /// Coordinates of all joints, from which angles continue.
    near: Vec<f64>,
}

impl<'a> CouplingTerm<'a> {
    /// The energy of couplings with their multipliers, multiplied by a factor; `near` are the coordinates from which angles continue.
    pub fn new(
        joints: &'a [Joint],
        all: &'a [Coupling],
        multipliers: &[f64],
        near: &[f64],
        weight: f64,
    ) -> Self {
        let (multipliers, near) = (multipliers.to_vec(), near.to_vec());
        Self { joints, all, multipliers, weight, stiffening: 1.0, near }
    }

    /// The same without multipliers: Σ ½ k c².
    pub fn closing(&self) -> Self {
        Self { multipliers: vec![0.0; self.multipliers.len()], ..self.clone() }
    }

    /// Sets the factor of the energy.
    pub fn weigh(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// Makes k this many times as large.
    pub fn stiffen(&mut self, factor: f64) {
        self.stiffening *= factor;
    }

    /// k of a coupling, N/m.
    fn stiffness(&self, coupling: &Coupling) -> f64 {
        self.stiffening * coupling.stiffness
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Where the coordinates of all joints are now.
    pub fn follow(&mut self, coordinates: &[f64]) {
        self.near.copy_from_slice(coordinates);
    }

    /// λ + k c at `x`, N.
    pub fn forces(&self, x: &[Vec3]) -> Vec<f64> {
        let of = |(c, l): (&Coupling, &f64)| lagrangian(*l, self.stiffness(c), self.error(c, x))[1];
        self.all.iter().zip(&self.multipliers).map(of).collect()
    }

    /// Makes the multipliers those that act at `x`.
    pub fn tighten(&mut self, x: &[Vec3]) {
        self.multipliers = self.forces(x);
    }

    fn error(&self, coupling: &Coupling, x: &[Vec3]) -> f64 {
        let of = |j: usize| {
            let joint = &self.joints[j];
            joint.coordinate().map_or(0.0, |c| c.value(&joint.gather(x), self.near[j]))
        };
        coupling.error(coupling.joints.map(of))
    }

    /// ∇c by the control points of the stencil.
    fn by_points(&self, coupling: &Coupling, x: &[Vec3]) -> Vec<Vec3> {
        let mut sum = vec![Vec3::zeros(); coupling.stencil.len()];
        let of = coupling.joints.iter().zip(&coupling.places).zip(coupling.factors());
        for ((&j, places), factor) in of {
            let joint = &self.joints[j];
            let Some(coordinate) = joint.coordinate() else { continue };
            for (&place, g) in places.iter().zip(&coordinate.gradient(&joint.gather(x))) {
                sum[place] += factor * g;
            }
        }
        sum
    }
}

impl Term for CouplingTerm<'_> {
    fn name(&self) -> &str {
        "couplings of joints"
    }

    fn role(&self) -> Role {
        Role::Constraint
    }

    fn stencils(&self) -> Stencils<'_> {
        self.all.iter().map(|c| c.stencil.clone()).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let of = |(c, l): (&Coupling, &f64)| lagrangian(*l, self.stiffness(c), self.error(c, x))[0];
        self.weight * self.all.iter().zip(&self.multipliers).map(of).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for (coupling, l) in self.all.iter().zip(&self.multipliers) {
            let [_, force] = lagrangian(*l, self.stiffness(coupling), self.error(coupling, x));
            let force = self.weight * force;
            for (&v, g) in coupling.stencil.iter().zip(self.by_points(coupling, x)) {
                gradient[v as usize] += force * g;
            }
        }
    }

    /// k ∇c ∇cᵀ + (λ + k c) ∂²c, of which the part of each joint in the second is projected.
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        mut out: &mut [Mat3],
    ) {
        let multipliers = &self.multipliers[range.clone()];
        for (coupling, l) in self.all[range].iter().zip(multipliers) {
            let n = coupling.stencil.len();
            let own = next_blocks(&mut out, block_count(n));
            let g = self.by_points(coupling, x);
            let [_, force] = lagrangian(*l, self.stiffness(coupling), self.error(coupling, x));
            let bending = [0, 1].map(|side| {
                let joint = &self.joints[coupling.joints[side]];
                let q = joint.gather(x);
                let factor = force * coupling.factors()[side];
                let curvature = joint.coordinate().map(|c| factor * c.curvature(&q))?;
                Some(match projection.applies_to(&coupling.stencil) {
                    true => projected(curvature),
                    false => curvature,
                })
            });
            for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                *block = self.stiffness(coupling) * g[k] * g[l].transpose();
                for (bent, places) in bending.iter().zip(&coupling.places) {
                    let at = |p: usize| places.iter().position(|place| *place == p);
                    if let (Some(bent), Some(k), Some(l)) = (bent, at(k), at(l)) {
                        *block += bent.fixed_view::<3, 3>(3 * k, 3 * l);
                    }
                }
                *block *= self.weight;
            }
        }
    }

    /// Nothing: couplings are limits of the motion.
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        Some(Box::new(CouplingTerm::new(self.joints, &[], &[], &[], self.weight)))
    }
}
