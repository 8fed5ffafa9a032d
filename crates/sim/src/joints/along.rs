//! Energies of single coordinates: limits, drives, damping and friction.

use super::coordinate::projected;
use super::law::Law;
use super::{Joint, POINTS};
use crate::energy::{Projection, Role, Term, next_blocks};
use crate::thresholds::KEEP_LIMIT;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// The energy Σ φ(s) of the coordinates s of joints.
#[derive(Debug, Clone)]
pub struct AlongTerm<'a> {
    name: &'static str,
    role: Role,
    joints: &'a [Joint],
    /// What acts, and where the coordinate was last, from which angles continue.
    acting: Vec<Acting>,
    /// Factor of the energy, as of joints: limits are constraints as contact is.
    weight: f64,
}

/// One law along the coordinate of a joint.
#[derive(Debug, Clone, Copy)]
struct Acting {
    joint: usize,
    law: Law,
    near: f64,
}

impl<'a> AlongTerm<'a> {
    /// The energy of `laws`, each with the index of its joint and the value of the coordinate from which angles continue, multiplied by a factor.
    pub fn new(
        name: &'static str,
        role: Role,
        joints: &'a [Joint],
        laws: impl IntoIterator<Item = (usize, Law, f64)>,
        weight: f64,
    ) -> Self {
        let acting = laws.into_iter().map(|(joint, law, near)| Acting { joint, law, near });
        Self { name, role, joints, acting: acting.collect(), weight }
    }

    /// Sets the factor of the energy.
    pub fn weigh(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// Whether nothing acts.
    pub fn is_empty(&self) -> bool {
        self.acting.is_empty()
    }

    /// Where the coordinates of all joints are now.
    pub fn follow(&mut self, coordinates: &[f64]) {
        self.acting.iter_mut().for_each(|a| a.near = coordinates[a.joint]);
    }

    /// Adds what acts on the child along each coordinate, N m or N, for coordinates of these values (`#joints`).
    pub fn add_efforts(&self, coordinates: &[f64], efforts: &mut [f64]) {
        for a in &self.acting {
            efforts[a.joint] -= a.law.at(coordinates[a.joint])[1];
        }
    }

    /// The joint and its coordinate, at `x`.
    fn at(&self, acting: &Acting, x: &[Vec3]) -> ([Vec3; POINTS], f64) {
        let joint = &self.joints[acting.joint];
        let q = joint.gather(x);
        let value = joint.coordinate().map_or(0.0, |c| c.value(&q, acting.near));
        (q, value)
    }
}

impl Term for AlongTerm<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn role(&self) -> Role {
        self.role
    }

    fn stencils(&self) -> Stencils<'_> {
        self.acting.iter().map(|a| self.joints[a.joint].stencil.clone()).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let of = |a: &Acting| a.law.at(self.at(a, x).1)[0];
        self.weight * self.acting.iter().map(of).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for acting in &self.acting {
            let joint = &self.joints[acting.joint];
            let Some(coordinate) = joint.coordinate() else { continue };
            let (q, value) = self.at(acting, x);
            let first = self.weight * acting.law.at(value)[1];
            if first != 0.0 {
                for (&v, g) in joint.stencil.iter().zip(&coordinate.gradient(&q)) {
                    gradient[v as usize] += first * g;
                }
            }
        }
    }

    /// φ'' ∇s ∇sᵀ + φ' ∂²s, of which the second part is projected: φ'' is never negative.
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        mut out: &mut [Mat3],
    ) {
        for acting in &self.acting[range] {
            let joint = &self.joints[acting.joint];
            let n = joint.stencil.len();
            let own = next_blocks(&mut out, block_count(n));
            own.fill(Mat3::zeros());
            let Some(coordinate) = joint.coordinate() else { continue };
            let (q, value) = self.at(acting, x);
            let [_, first, second] = acting.law.at(value);
            if first == 0.0 && second == 0.0 {
                continue;
            }
            let g = coordinate.gradient(&q);
            let mut bending = first * coordinate.curvature(&q);
            if projection.applies_to(&joint.stencil) {
                bending = projected(bending);
            }
            for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                let bent = bending.fixed_view::<3, 3>(3 * k, 3 * l);
                *block = self.weight * (second * g[k] * g[l].transpose() + bent);
            }
        }
    }

    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        let of = |acting: &Acting| {
            let Law::Limits(limits) = acting.law else { return 1.0 };
            let joint = &self.joints[acting.joint];
            let (q, value) = self.at(acting, x);
            let moved = joint.gather(dx);
            let end = std::array::from_fn(|k| q[k] + moved[k]);
            let after = joint.coordinate().map_or(0.0, |c| c.value(&end, value));
            limits.max_part(value, after - value, KEEP_LIMIT)
        };
        self.acting.iter().map(of).fold(1.0, f64::min)
    }

    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.acting.iter().all(|acting| match acting.law {
            Law::Limits(limits) => limits.gap(self.at(acting, x).1) > (1.0 - part) * limits.begin,
            Law::Capped(_) => true,
        })
    }

    /// Nothing where they are limits, which act like contact.
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        let none = || AlongTerm { acting: Vec::new(), ..self.clone() };
        (self.role == Role::Constraint).then(|| Box::new(none()) as Box<dyn Term>)
    }
}
