//! The incremental potential whose minimiser is the end of the time step:
//!
//! E(x) = ½ ‖x − x̃‖²_M + s [ Ψ_elastic(x) + Ψ_contact(x) + Ψ_friction(x) ] + equality constraints
//!
//! over the free vertices; the others stand still. Units: kg m² (J s² by s).

use crate::boundary::{Equality, Targets};
use crate::collisions::ActiveSet;
use crate::contact::friction::FrictionSet;
use crate::contact::potential::BarrierPotential;
use crate::model::Model;
use crate::state::State;
use standoff_linalg::Vec3;

/// The incremental potential of one time step.
#[derive(Debug, Clone)]
pub struct IncrementalPotential<'a> {
    /// Constant data.
    pub model: &'a Model,
    /// Predicted positions x̃, m (`#V`).
    pub x_tilde: Vec<Vec3>,
    /// Scale s of the potentials, s².
    pub scale: f64,
    /// Contact barrier with its stiffness κ.
    pub barrier: BarrierPotential,
    /// Lagged friction.
    pub friction: FrictionSet,
    /// Whether a vertex has inertia in this step: those whose motion is not prescribed (`#V`).
    pub inertial: Vec<bool>,
    /// Whether a vertex is an unknown (`#V`): inertial, or on its way to a blocked target.
    pub free: Vec<bool>,
    /// Constraints on prescribed vertices that are on their way.
    pub equality: Option<Equality>,
}

/// A value with the size of its summands: differences below `magnitude`·ε are round-off.
#[derive(Debug, Clone, Copy, Default)]
pub struct Energy {
    /// The sum.
    pub value: f64,
    /// The sum of absolute values.
    pub magnitude: f64,
}

impl Energy {
    fn add(&mut self, term: f64) {
        self.value += term;
        self.magnitude += term.abs();
    }

    /// Below this, a difference of two values is round-off.
    pub fn noise(&self) -> f64 {
        16.0 * f64::EPSILON * self.magnitude
    }
}

impl<'a> IncrementalPotential<'a> {
    /// The potential of the step that starts in `state`.
    pub fn new(model: &'a Model, state: &State, targets: &Targets) -> Self {
        let h = model.resolved.h;
        let integrator = model.resolved.settings.time.integrator;
        let mut acceleration = vec![model.gravity; state.x.len()];
        for force in model.forces.iter().filter(|f| f.t0 <= state.time && state.time < f.t1) {
            for &v in &force.vertices {
                acceleration[v as usize] += force.acceleration;
            }
        }
        let x_tilde = (0..state.x.len())
            .map(|i| integrator.predict(state, i, acceleration[i], h))
            .collect();
        let inertial: Vec<bool> = targets.prescribed.iter().map(|p| !p).collect();
        Self {
            model,
            x_tilde,
            scale: integrator.potential_scale(h),
            barrier: BarrierPotential::new(model.resolved.d_hat, 1.0),
            friction: FrictionSet::default(),
            free: inertial.clone(),
            inertial,
            equality: None,
        }
    }

    /// E(x); `active` must hold every contact at x.
    pub fn value(&self, x: &[Vec3], active: &ActiveSet) -> Energy {
        let mut energy = Energy::default();
        energy.add(self.inertia(x));
        energy.add(self.scale * self.model.elastic.value(x));
        energy.add(self.scale * active.value(&self.barrier, x));
        energy.add(self.scale * self.friction.value(x));
        if let Some(equality) = &self.equality {
            energy.add(equality.value(x));
        }
        energy
    }

    fn inertia(&self, x: &[Vec3]) -> f64 {
        let mut sum = 0.0;
        for v in 0..x.len() {
            if self.inertial[v] {
                sum += 0.5 * self.model.mass[v] * (x[v] - self.x_tilde[v]).norm_squared();
            }
        }
        sum
    }

    /// ∇E(x) with zero rows for vertices that stand still, kg m (`#V`).
    pub fn gradient(&self, x: &[Vec3], active: &ActiveSet) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); x.len()];
        self.add_force_free_gradient(x, &mut g);
        let mut contact = vec![Vec3::zeros(); x.len()];
        active.add_gradient(&self.barrier, x, &mut contact);
        self.friction.add_gradient(x, &mut contact);
        for v in 0..x.len() {
            g[v] = if self.free[v] { g[v] + self.scale * contact[v] } else { Vec3::zeros() };
        }
        g
    }

    /// The gradient without contact and friction, which the barrier stiffness is balanced against.
    pub fn gradient_without_contact(&self, x: &[Vec3]) -> Vec<Vec3> {
        let mut g = vec![Vec3::zeros(); x.len()];
        self.add_force_free_gradient(x, &mut g);
        for v in (0..x.len()).filter(|&v| !self.free[v]) {
            g[v] = Vec3::zeros();
        }
        g
    }

    fn add_force_free_gradient(&self, x: &[Vec3], g: &mut [Vec3]) {
        self.model.elastic.add_gradient(x, g);
        for v in 0..x.len() {
            g[v] *= self.scale;
            if self.inertial[v] {
                g[v] += self.model.mass[v] * (x[v] - self.x_tilde[v]);
            }
        }
        if let Some(equality) = &self.equality {
            equality.add_gradient(x, g);
        }
    }

    /// Stops the vertices that were on their way where they are.
    pub fn drop_equality(&mut self) {
        self.equality = None;
        self.free.clone_from(&self.inertial);
    }
}
