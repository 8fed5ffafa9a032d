//! Stiffness-proportional damping, lagged: ½ (c/h) Δxᵀ H Δx with the projected elastic Hessian H at
//! the start of the step and the displacement Δx in the step (zero for prescribed vertices)
//! [Li 2020 code; Rayleigh damping with a stiffness coefficient c, s]. Limits of the stretch have no part
//! in H.

use crate::energy::thin::ThinHessians;
use crate::model::Model;
use crate::potential::thin_at;
use crate::state::State;
use standoff_linalg::Vec3;
use standoff_sparse::{EDGES, EdgeBlocks};

/// The damping energy of one step.
#[derive(Debug, Clone)]
pub struct Damping {
    /// c/h times the projected Hessian of each tetrahedron at the start of the step, N/m (`#T`): the
    /// blocks off the diagonal.
    pub hessians: Vec<EdgeBlocks>,
    /// The same of shells and rods.
    pub thin: ThinHessians,
    start: Vec<Vec3>,
}

impl Damping {
    /// The damping of the step that starts in `state`; `None` where the coefficient is zero.
    pub fn new(model: &Model, state: &State) -> Option<Self> {
        let c = model.resolved.settings.time.stiffness_damping;
        if c == 0.0 {
            return None;
        }
        let mut hessians = Vec::new();
        model.elastic.hessians(0..model.elastic.len(), &state.x, &mut hessians);
        let factor = c / model.resolved.h;
        hessians.as_flattened_mut().iter_mut().for_each(|b| *b *= factor);
        let thin = thin_at(model, state).hessians_without_limits(&state.x, factor);
        Some(Self { hessians, thin, start: state.x.clone() })
    }

    /// Δx (m) and (c/h) H Δx (N) (`#V`).
    fn product(&self, model: &Model, x: &[Vec3], damped: &[bool]) -> (Vec<Vec3>, Vec<Vec3>) {
        let moved = |v: usize| if damped[v] { x[v] - self.start[v] } else { Vec3::zeros() };
        let dx: Vec<Vec3> = (0..x.len()).map(moved).collect();
        let mut out = vec![Vec3::zeros(); x.len()];
        for (tet, h) in model.elastic.vertices().iter().zip(&self.hessians) {
            // rows of H sum to zero
            for (block, (a, b)) in h.iter().zip(EDGES) {
                let (a, b) = (tet[a] as usize, tet[b] as usize);
                let d = dx[b] - dx[a];
                out[a] += block * d;
                out[b] -= block.tr_mul(&d);
            }
        }
        self.thin.add_product(&model.thin, &dx, &mut out);
        (dx, out)
    }

    /// Energy, J; `damped` tells the vertices that move freely (`#V`).
    pub fn value(&self, model: &Model, x: &[Vec3], damped: &[bool]) -> f64 {
        let (dx, product) = self.product(model, x, damped);
        0.5 * dx.iter().zip(&product).map(|(a, b)| a.dot(b)).sum::<f64>()
    }

    /// Adds the gradient, N (`#V`).
    pub fn add_gradient(&self, model: &Model, x: &[Vec3], damped: &[bool], gradient: &mut [Vec3]) {
        let (_, product) = self.product(model, x, damped);
        for v in (0..x.len()).filter(|&v| damped[v]) {
            gradient[v] += product[v];
        }
    }
}
