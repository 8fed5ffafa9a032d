//! Energies of single coordinates: limits, drives, damping and friction.

use super::coordinate::projected;
use super::law::Law;
use super::{Joint, Joints, span};
use crate::energy::{Projection, Role, Term, next_blocks};
use crate::thresholds::KEEP_LIMIT;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// The energy Σ φ(s) of the coordinates s of joints and tendons.
#[derive(Debug, Clone)]
pub struct AlongTerm<'a> {
    name: &'static str,
    role: Role,
    joints: &'a Joints,
    /// What acts.
    acting: Vec<Acting>,
    /// Where the coordinates of all joints were last, from which angles continue.
    near: Vec<f64>,
    /// Factor of the energy, as of joints: limits are constraints as contact is.
    weight: f64,
}

/// One law along the coordinate of a joint, or of a tendon.
#[derive(Debug, Clone)]
struct Acting {
    /// Number of the joint or tendon.
    along: usize,
    law: Law,
    /// The joints in whose coordinates that is linear, with its derivatives.
    parts: Vec<(usize, f64)>,
    /// The control points of these, each once.
    stencil: Vec<u32>,
    /// Where each joint's points are among them.
    places: Vec<Vec<usize>>,
    /// All laws of that coordinate, this one among them, with their factors.
    beside: Vec<(f64, Law)>,
}

impl Acting {
    /// The part of the law's effort at s that others do not balance: φ', or less where some of the laws have efforts of the other sign. Over the laws of a
    /// coordinate the parts add up to all efforts together.
    fn unbalanced(&self, s: f64) -> f64 {
        let own = self.law.at(s)[1];
        let (mut with, mut against) = (0.0, 0.0);
        for effort in self.beside.iter().map(|(weight, law)| weight * law.at(s)[1]) {
            let side = if (effort > 0.0) == (own > 0.0) { &mut with } else { &mut against };
            *side += effort.abs();
        }
        if with > 0.0 { own * (1.0 - against / with).max(0.0) } else { 0.0 }
    }
}

impl<'a> AlongTerm<'a> {
    /// The energy of `laws`, each with the number of its joint or tendon, multiplied by a factor; `all` are the laws of every coordinate with their
    /// factors, and `near` the coordinates from which angles continue.
    pub fn new(
        name: &'static str,
        role: Role,
        joints: &'a Joints,
        laws: impl IntoIterator<Item = (usize, Law)>,
        all: &[Vec<(f64, Law)>],
        near: &[f64],
        weight: f64,
    ) -> Self {
        let acting = laws.into_iter().map(|(along, law)| {
            let parts = joints.parts(along);
            let of: Vec<&Joint> = parts.iter().map(|(j, _)| &joints.all[*j]).collect();
            let (stencil, places) = span(&of);
            Acting { along, law, parts, stencil, places, beside: all[along].clone() }
        });
        Self { name, role, joints, acting: acting.collect(), near: near.to_vec(), weight }
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
        self.near.copy_from_slice(coordinates);
    }

    /// Adds what acts along each coordinate, N m or N, for coordinates of these values (`#joints + #tendons`).
    pub fn add_efforts(&self, coordinates: &[f64], efforts: &mut [f64]) {
        for a in &self.acting {
            efforts[a.along] -= a.law.at(coordinates[a.along])[1];
        }
    }

    /// The value of the coordinate at `x`.
    fn at(&self, acting: &Acting, x: &[Vec3]) -> f64 {
        let of = |(j, factor): &(usize, f64)| {
            let joint = &self.joints.all[*j];
            let value = joint.coordinate().map(|c| c.value(&joint.gather(x), self.near[*j]));
            factor * value.unwrap_or(0.0)
        };
        acting.parts.iter().map(of).sum()
    }

    /// Its derivative by the control points of the stencil.
    fn by_points(&self, acting: &Acting, x: &[Vec3]) -> Vec<Vec3> {
        let mut sum = vec![Vec3::zeros(); acting.stencil.len()];
        for ((j, factor), places) in acting.parts.iter().zip(&acting.places) {
            let joint = &self.joints.all[*j];
            let Some(coordinate) = joint.coordinate() else { continue };
            for (&place, g) in places.iter().zip(&coordinate.gradient(&joint.gather(x))) {
                sum[place] += *factor * g;
            }
        }
        sum
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
        self.acting.iter().map(|a| a.stencil.clone()).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let of = |a: &Acting| a.law.at(self.at(a, x))[0];
        self.weight * self.acting.iter().map(of).sum::<f64>()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for acting in &self.acting {
            let first = self.weight * acting.law.at(self.at(acting, x))[1];
            if first != 0.0 {
                for (&v, g) in acting.stencil.iter().zip(&self.by_points(acting, x)) {
                    gradient[v as usize] += first * g;
                }
            }
        }
    }

    /// φ'' ∇s ∇sᵀ + φ' ∂²s: φ'' is never negative, and of the second part what the laws of a coordinate do not balance among each other is projected for
    /// each joint. Where a limit bears a drive, each of them projected by itself would hold the body as stiffly as the drive is strong.
    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        mut out: &mut [Mat3],
    ) {
        for acting in &self.acting[range] {
            let n = acting.stencil.len();
            let own = next_blocks(&mut out, block_count(n));
            own.fill(Mat3::zeros());
            let s = self.at(acting, x);
            let [_, mut first, second] = acting.law.at(s);
            if first == 0.0 && second == 0.0 {
                continue;
            }
            let g = self.by_points(acting, x);
            for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                *block = self.weight * second * g[k] * g[l].transpose();
            }
            let is_projected = projection.applies_to(&acting.stencil);
            if is_projected {
                first = acting.unbalanced(s);
            }
            for ((j, factor), places) in acting.parts.iter().zip(&acting.places) {
                let joint = &self.joints.all[*j];
                let Some(coordinate) = joint.coordinate() else { continue };
                let mut bending = first * *factor * coordinate.curvature(&joint.gather(x));
                if is_projected {
                    bending = projected(bending);
                }
                let at = |p: usize| places.iter().position(|place| *place == p);
                for (block, (k, l)) in own.iter_mut().zip(block_pairs(n)) {
                    if let (Some(k), Some(l)) = (at(k), at(l)) {
                        *block += self.weight * bending.fixed_view::<3, 3>(3 * k, 3 * l);
                    }
                }
            }
        }
    }

    fn max_step(&self, x: &[Vec3], dx: &[Vec3]) -> f64 {
        let of = |acting: &Acting| {
            let Law::Limits(limits) = acting.law else { return 1.0 };
            let change = |(j, factor): &(usize, f64)| {
                let joint = &self.joints.all[*j];
                let (q, moved) = (joint.gather(x), joint.gather(dx));
                let end = std::array::from_fn(|k| q[k] + moved[k]);
                let by = joint.coordinate().map(|c| {
                    let now = c.value(&q, self.near[*j]);
                    c.value(&end, now) - now
                });
                factor * by.unwrap_or(0.0)
            };
            let change = acting.parts.iter().map(change).sum();
            limits.max_part(self.at(acting, x), change, KEEP_LIMIT)
        };
        self.acting.iter().map(of).fold(1.0, f64::min)
    }

    fn within_limits(&self, x: &[Vec3], part: f64) -> bool {
        self.acting.iter().all(|acting| match acting.law {
            Law::Limits(limits) => limits.gap(self.at(acting, x)) > (1.0 - part) * limits.begin,
            Law::Capped(_) => true,
        })
    }

    /// Nothing where they are limits, which act like contact.
    fn without_limits(&self) -> Option<Box<dyn Term + '_>> {
        let none = || AlongTerm { acting: Vec::new(), ..self.clone() };
        (self.role == Role::Constraint).then(|| Box::new(none()) as Box<dyn Term>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joints::Capped;

    /// A drive and a spring against one that is weaker than both, and against one that is stronger: the parts add up to all efforts, and what is
    /// overcome has none.
    #[test]
    fn the_unbalanced_parts_of_efforts_add_up_to_all() {
        let capped = |target: f64, slope: f64| {
            Law::Capped(Capped { target, slope, constant: 0.0, cap: f64::INFINITY })
        };
        for against in [6.0, 20.0] {
            // efforts 5 and 3 at s = 0, with a factor of 2 in the third
            let beside = vec![
                (1.0, capped(-5.0, 1.0)),
                (1.0, capped(-1.0, 3.0)),
                (2.0, capped(against, 0.5)),
            ];
            let part = |k: usize| {
                let (weight, law) = beside[k];
                let acting = Acting {
                    along: 0,
                    law,
                    parts: Vec::new(),
                    stencil: Vec::new(),
                    places: Vec::new(),
                    beside: beside.clone(),
                };
                weight * acting.unbalanced(0.0)
            };
            let parts = [part(0), part(1), part(2)];
            let sum: f64 = parts.iter().sum();
            assert!((sum - (8.0 - against)).abs() < 1e-12, "{parts:?}");
            let overcome = if against < 8.0 { &parts[2..] } else { &parts[..2] };
            assert!(overcome.iter().all(|p| *p == 0.0), "{parts:?}");
        }
    }
}
