//! The curvature of distance constraints, which their linearisation leaves out.

use super::constraints::ContactConstraints;
use super::potential::Blocks;
use crate::energy::{Projection, Role, Term};
use rayon::prelude::*;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{Stencils, block_count, block_pairs};
use std::ops::Range;

/// −λ ∇²d of every pair that acts with a force λ, which the Hessian of the augmented Lagrangian of the true distances has beyond that of the
/// linearised ones, but for the derivatives of mollifiers. It has no value and no gradient of its own, and is indefinite: summands that are
/// projected are zero.
#[derive(Debug, Clone, Copy)]
pub struct Curvature<'c> {
    constraints: &'c ContactConstraints,
    mesh: &'c CollisionMesh,
}

impl<'c> Curvature<'c> {
    /// Of these constraints.
    pub fn new(constraints: &'c ContactConstraints, mesh: &'c CollisionMesh) -> Self {
        Self { constraints, mesh }
    }
}

impl Term for Curvature<'_> {
    fn name(&self) -> &str {
        "curvature of contact constraints"
    }

    fn role(&self) -> Role {
        Role::Constraint
    }

    fn stencils(&self) -> Stencils<'_> {
        self.constraints.stencils()
    }

    fn value(&self, _: &[Vec3]) -> f64 {
        0.0
    }

    fn add_gradient(&self, _: &[Vec3], _: &mut [Vec3]) {}

    fn hessians(
        &self,
        range: Range<usize>,
        x: &[Vec3],
        projection: Projection<'_>,
        out: &mut [Mat3],
    ) {
        let blocks = out.par_chunks_mut(block_count(4)).with_min_len(16);
        range.into_par_iter().zip(blocks).for_each(|(i, out)| {
            let pair = self.constraints.acting_pair(i, x);
            let Some((pair, force)) =
                pair.filter(|(pair, _)| !projection.applies_to(pair.stencil(self.mesh).vertices()))
            else {
                out.fill(Mat3::zeros());
                return;
            };
            let h = bent(pair.kind, &pair.stencil(self.mesh).gather(x), force);
            out.iter_mut().zip(block_pairs(4)).for_each(|(out, (a, b))| *out = h[a][b]);
        });
    }
}

/// −λ ∇²d of the distance d of two primitives with a `force` λ, N/m, where ∇²d = ∇²(d²) / (2d) − ∇d ∇dᵀ / d.
fn bent(kind: PairKind, x: &[Vec3; 4], force: f64) -> Blocks {
    let closest = kind.closest(x);
    let d = closest.d2().sqrt();
    let normal = closest.offset / d;
    let along = normal * normal.transpose() / d;
    let w = closest.weights;
    let mut h = kind.hessian(x);
    for (a, row) in h.iter_mut().enumerate() {
        for (b, block) in row.iter_mut().enumerate() {
            *block = (along * (w[a] * w[b]) - *block / (2.0 * d)) * force;
        }
    }
    h
}
