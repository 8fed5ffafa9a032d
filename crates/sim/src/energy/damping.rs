//! Stiffness-proportional damping, lagged: ½ (c/h) Δxᵀ H Δx with the projected elastic Hessian H at
//! the start of the step and the displacement Δx in the step (zero for prescribed vertices)
//! [Li 2020 code; Rayleigh damping with a stiffness coefficient c, s].

use crate::energy::tet::TetHessian;
use crate::model::Model;
use crate::state::State;
use standoff_linalg::Vec3;

/// The damping energy of one step.
#[derive(Debug, Clone)]
pub struct Damping {
    /// c/h times the projected Hessian of each tetrahedron at the start of the step, N/m (`#T`).
    pub hessians: Vec<TetHessian>,
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
        hessians.as_flattened_mut().as_flattened_mut().iter_mut().for_each(|b| *b *= factor);
        Some(Self { hessians, start: state.x.clone() })
    }

    fn displacement(&self, tet: &[u32; 4], x: &[Vec3], damped: &[bool]) -> [Vec3; 4] {
        tet.map(|v| {
            let v = v as usize;
            if damped[v] { x[v] - self.start[v] } else { Vec3::zeros() }
        })
    }

    fn forces(h: &TetHessian, dx: &[Vec3; 4]) -> [Vec3; 4] {
        std::array::from_fn(|a| (0..4).map(|b| h[a][b] * dx[b]).sum())
    }

    /// Energy, J; `damped` tells the vertices that move freely (`#V`).
    pub fn value(&self, model: &Model, x: &[Vec3], damped: &[bool]) -> f64 {
        let element = |(tet, h): (&[u32; 4], &TetHessian)| -> f64 {
            let dx = self.displacement(tet, x, damped);
            let f = Self::forces(h, &dx);
            0.5 * (0..4).map(|a| dx[a].dot(&f[a])).sum::<f64>()
        };
        model.elastic.vertices().iter().zip(&self.hessians).map(element).sum()
    }

    /// Adds the gradient, N (`#V`).
    pub fn add_gradient(&self, model: &Model, x: &[Vec3], damped: &[bool], gradient: &mut [Vec3]) {
        for (tet, h) in model.elastic.vertices().iter().zip(&self.hessians) {
            let f = Self::forces(h, &self.displacement(tet, x, damped));
            for a in (0..4).filter(|&a| damped[tet[a] as usize]) {
                gradient[tet[a] as usize] += f[a];
            }
        }
    }
}
