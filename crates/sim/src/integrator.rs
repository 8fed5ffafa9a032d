//! Time integrators as data of one incremental potential,
//!
//! E(x) = ½ ‖x − x̃‖²_M + s Ψ(x),
//!
//! that differ in the predicted position x̃, the scale s and the velocity after the solve.

use crate::settings::Integrator;
use crate::state::State;
use standoff_linalg::Vec3;

impl Integrator {
    /// Scale s of the potential in the incremental potential, s².
    pub fn potential_scale(self, h: f64) -> f64 {
        match self {
            Integrator::ImplicitEuler => h * h,
        }
    }

    /// du/dx of the velocity that friction sees: v = (x − xⁿ)/h, hence h, s.
    pub fn friction_time(self, h: f64) -> f64 {
        match self {
            Integrator::ImplicitEuler => h,
        }
    }

    /// Predicted position x̃ of a vertex, m; `acceleration` is M⁻¹f of the position-independent
    /// forces (gravity and loads), m/s².
    pub fn predict(self, state: &State, i: usize, acceleration: Vec3, h: f64) -> Vec3 {
        match self {
            Integrator::ImplicitEuler => state.x[i] + h * state.v[i] + h * h * acceleration,
        }
    }

    /// Velocity after the solve for `x`, m/s.
    pub fn velocity(self, state: &State, i: usize, x: Vec3, h: f64) -> Vec3 {
        match self {
            Integrator::ImplicitEuler => (x - state.x[i]) / h,
        }
    }
}
