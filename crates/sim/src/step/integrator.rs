//! Time integrators as data of one incremental potential,
//!
//! E(x) = ½ ‖x − x̃‖²_M + s Ψ(x),
//!
//! that differ in the predicted position x̃, the scale s and the velocity v(x) after the solve, which
//! is affine in x. Friction sees v(x) as displacement from the point where it vanishes:
//! u = v(x)/(dv/dx).
//!
//! Newmark takes contact, friction and limits of the stretch implicitly [Kane 1999]: they have twice the scale of the other
//! forces, since no half of them is taken from the start of the step, and no part in the acceleration
//! that the next step begins with.

use crate::definition::settings::Integrator;
use crate::state::State;
use crate::thresholds::STATIC_TIME;
use standoff_linalg::Vec3;

/// Newmark's β; γ is ½: the trapezoidal rule.
const BETA: f64 = 0.25;

impl Integrator {
    /// The integrator of the step that starts in `state`: BDF2 begins with an implicit Euler step.
    pub fn at(self, state: &State) -> Integrator {
        if self == Integrator::Bdf2 && state.step == 0 { Integrator::ImplicitEuler } else { self }
    }

    /// Whether the bodies have inertia.
    pub fn inertial(self) -> bool {
        self != Integrator::QuasiStatic
    }

    /// Scale s of the potential in the incremental potential, s² (1 for quasi-static).
    pub fn potential_scale(self, h: f64) -> f64 {
        match self {
            Integrator::ImplicitEuler => h * h,
            Integrator::Bdf2 => 4.0 / 9.0 * h * h,
            Integrator::Newmark => BETA * h * h,
            Integrator::QuasiStatic => 1.0,
        }
    }

    /// Scale of the contact and friction potentials in the incremental potential, s² (1 for
    /// quasi-static).
    pub fn contact_scale(self, h: f64) -> f64 {
        match self {
            Integrator::Newmark => 0.5 * h * h,
            _ => self.potential_scale(h),
        }
    }

    /// Time in which a displacement counts as a speed, s: the time step; in quasi-static steps always the same, because
    /// equilibria do not depend on how their loads are numbered.
    pub fn speed_time(self, h: f64) -> f64 {
        if self.inertial() { h } else { STATIC_TIME }
    }

    /// 1/(dv/dx), s. The quasi-static velocity is the displacement in the step divided by [`Self::speed_time`].
    pub fn friction_time(self, h: f64) -> f64 {
        match self {
            Integrator::ImplicitEuler | Integrator::QuasiStatic => self.speed_time(h),
            Integrator::Bdf2 => 2.0 / 3.0 * h,
            Integrator::Newmark => 0.5 * h,
        }
    }

    /// Where the velocity v(x) of a vertex vanishes, m.
    pub fn rest_point(self, s: &State, i: usize, h: f64) -> Vec3 {
        match self {
            Integrator::ImplicitEuler | Integrator::QuasiStatic => s.x[i],
            Integrator::Bdf2 => (4.0 * s.x[i] - s.x_previous[i]) / 3.0,
            Integrator::Newmark => s.x[i] + 0.5 * h * s.v[i],
        }
    }

    /// Predicted position x̃ of a vertex, m; without inertia the current one, and the forces are a
    /// summand of the potential. `acceleration` is M⁻¹f of the position-independent
    /// forces (gravity and loads), m/s².
    pub fn predict(self, s: &State, i: usize, acceleration: Vec3, h: f64) -> Vec3 {
        let forced = self.potential_scale(h) * acceleration;
        match self {
            Integrator::ImplicitEuler => s.x[i] + h * s.v[i] + forced,
            Integrator::Bdf2 => {
                (4.0 * s.x[i] - s.x_previous[i]) / 3.0
                    + 2.0 / 9.0 * h * (4.0 * s.v[i] - s.v_previous[i])
                    + forced
            }
            Integrator::Newmark => s.x[i] + h * s.v[i] + (0.5 - BETA) * h * h * s.a[i] + forced,
            Integrator::QuasiStatic => s.x[i],
        }
    }

    /// Velocity of a vertex after the solve for `x`, m/s.
    pub fn velocity(self, s: &State, i: usize, x: Vec3, h: f64) -> Vec3 {
        match self {
            Integrator::ImplicitEuler => (x - s.x[i]) / h,
            Integrator::Bdf2 => (3.0 * x - 4.0 * s.x[i] + s.x_previous[i]) / (2.0 * h),
            // the trapezoidal rule for x: v is the mean velocity at the start and at the end
            Integrator::Newmark => 2.0 * (x - s.x[i]) / h - s.v[i],
            Integrator::QuasiStatic => Vec3::zeros(),
        }
    }

    /// Acceleration of a vertex after the solve for `x`, m/s², by the differences of the integrator:
    /// that of all forces, contact and friction among them.
    pub fn acceleration(self, s: &State, i: usize, x: Vec3, h: f64) -> Vec3 {
        match self {
            Integrator::ImplicitEuler => (self.velocity(s, i, x, h) - s.v[i]) / h,
            Integrator::Bdf2 => {
                let v = self.velocity(s, i, x, h);
                (3.0 * v - 4.0 * s.v[i] + s.v_previous[i]) / (2.0 * h)
            }
            Integrator::Newmark => {
                (x - s.x[i] - h * s.v[i] - (0.5 - BETA) * h * h * s.a[i]) / (BETA * h * h)
            }
            Integrator::QuasiStatic => Vec3::zeros(),
        }
    }
}
