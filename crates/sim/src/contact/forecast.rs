//! Forecasts of normal forces, which stiffen the Newton matrix as in primal–dual interior-point methods.
//!
//! The barrier of a contact that begins is soft at first, so that Newton directions go through the other surface until the
//! gap has become small. Each direction, however, says which force balances the loads in its linear model:
//! λ = φ(g) − k δ with the barrier's force φ at the gap g, the stiffness k in the matrix, and the change δ of the gap by the
//! direction. A primal–dual method has λ as a second unknown. It solves the linearisation of λ g = φ(g) g, which is less curved than
//! λ = φ(g) [Nocedal & Wright 2006, §19.1]. Elimination of λ leaves the Newton system with another stiffness along the normal,
//! k = −φ′(g) + (λ − φ(g))/g.
//!
//! The gradient stays that of the potential and the matrix positive semidefinite, so that directions are those of descent
//! and the minimum is the same. A forecast below φ(g), which would make the contact softer than its barrier, is not used: with such forecasts
//! a stack of cloths took 116 instead of 97 iterations (`docs/decisions/2026-11-24-forecast-forces.md`).

use super::pairs::Contact;
use super::potential::BarrierPotential;
use super::set::ContactSet;
use rayon::prelude::*;
use standoff_geometry::PairKind;
use standoff_linalg::Vec3;
use std::collections::HashMap;

/// Contacts that a thread looks at at once, at least.
const CHUNK: usize = 512;

/// Normal forces that a Newton direction forecasts, N, where surfaces approach; those of nearly parallel edges without the
/// mollifier.
#[derive(Debug, Default)]
pub struct ForecastForces {
    /// By kind and stencil.
    pairs: HashMap<(PairKind, [u32; 4]), f64>,
    /// By vertex and half-space.
    half_spaces: HashMap<(u32, u32), f64>,
}

impl ForecastForces {
    /// The forces that the direction `p` (`#V`, m) from `x` forecasts for the contacts at `x`.
    pub fn new(
        potential: &BarrierPotential,
        contacts: &ContactSet,
        x: &[Vec3],
        p: &[Vec3],
    ) -> Self {
        let mut all = Self::default();
        // pairs of negative weight push nothing apart
        let forecast = |c: &Contact| {
            let closest = c.closest(&c.gather(x));
            let moved = closest.weights.iter().zip(c.gather(p)).map(|(w, p)| p * *w).sum::<Vec3>();
            let widening = closest.offset.dot(&moved) / closest.d2().sqrt();
            // what is not finite is no approach
            (widening < 0.0).then(|| {
                let [force, stiffness] = potential.normal(c, closest.d2());
                ((c.kind, c.vertices), force - stiffness * widening)
            })
        };
        let pushing = contacts.contacts.par_iter().with_min_len(CHUNK).filter(|c| c.weight > 0.0);
        let forces: Vec<_> = pushing.filter_map(forecast).collect();
        all.pairs.extend(forces);
        for c in &contacts.half_space {
            let v = c.vertex as usize;
            let widening = c.plane.normal.dot(&p[v]);
            if widening < 0.0 {
                let [force, stiffness] = potential.half_space_normal(c, c.d2(&x[v]));
                let force = force - stiffness * widening;
                all.half_spaces.insert((c.vertex, c.half_space), force);
            }
        }
        all
    }

    /// Gives the contacts of a set their forces.
    pub fn assign(&self, contacts: &mut ContactSet) {
        contacts.contacts.par_iter_mut().with_min_len(CHUNK).for_each(|c| {
            c.forecast = self.pairs.get(&(c.kind, c.vertices)).copied().unwrap_or(0.0);
        });
        for c in &mut contacts.half_space {
            let force = self.half_spaces.get(&(c.vertex, c.half_space));
            c.forecast = force.copied().unwrap_or(0.0);
        }
    }
}
