//! Time integrators as data of one incremental potential [Li 2021, Eqs. 1, 2],
//!
//! E(x) = ½ ‖x − x̃‖²_M + α h² Ψ(βx + γxⁿ) + s_c Ψ_c(x),   γ = 1 − β,
//!
//! with elasticity Ψ, and contact, friction and limits Ψ_c, which act at the end of the step. Integrators differ in α and β, in
//! the predicted position x̃ and in the velocity v(x) after the solve, which is affine in x. Friction sees v(x) as displacement
//! from the point where it vanishes: u = v(x)/(dv/dx).
//!
//! Those that keep nothing but positions, velocities and accelerations are, with ω = √α and θ = βω,
//!
//! v = vⁿ + h M⁻¹ [ω f(βx + γxⁿ) + (1 − ω) f(xⁿ) + f_c(x)],   x = xⁿ + h [(1 − θ) vⁿ + θv]
//!
//! with the forces f of elasticity and f_c of contact: implicit Euler with α = β = 1, the implicit midpoint rule with α = 1 and
//! β = ½, and Newmark's trapezoidal rule with α = ¼ and β = 1, which takes contact implicitly [Kane 1999].

use crate::definition::settings::Scheme;
use crate::past::{Number, Past};
use crate::state::State;
use crate::thresholds::STATIC_TIME;
use standoff_linalg::Vec3;

impl Scheme {
    /// The scheme of the step that starts in `state`: BDF2 begins with an implicit Euler step.
    pub fn at(self, state: &State) -> Scheme {
        match self {
            Scheme::Bdf2 if state.step == 0 => Scheme::OneStep { alpha: 1.0, beta: 1.0 },
            _ => self,
        }
    }

    /// Whether the bodies have inertia.
    pub fn inertial(self) -> bool {
        self != Scheme::QuasiStatic
    }

    /// β: elastic forces are those at β x + (1 − β) xⁿ, and loads those of that time.
    pub fn beta(self) -> f64 {
        match self {
            Scheme::OneStep { beta, .. } => beta,
            Scheme::Bdf2 | Scheme::QuasiStatic => 1.0,
        }
    }

    /// ω: the part of the elastic forces that is not taken from the start of the step.
    pub fn new_part(self) -> f64 {
        match self {
            Scheme::OneStep { alpha, .. } => alpha.sqrt(),
            Scheme::Bdf2 | Scheme::QuasiStatic => 1.0,
        }
    }

    /// θ: the part of the velocity with which a vertex moves that is not taken from the start of the step.
    pub fn theta(self) -> f64 {
        self.beta() * self.new_part()
    }

    /// Scale s of elastic forces in the gradient of the incremental potential, s²: αβh² (1 for quasi-static).
    pub fn potential_scale(self, h: f64) -> f64 {
        match self {
            Scheme::OneStep { alpha, beta } => alpha * beta * h * h,
            Scheme::Bdf2 => 4.0 / 9.0 * h * h,
            Scheme::QuasiStatic => 1.0,
        }
    }

    /// Scale of the contact and friction potentials in the incremental potential, s² (1 for
    /// quasi-static).
    pub fn contact_scale(self, h: f64) -> f64 {
        match self {
            Scheme::OneStep { .. } => self.theta() * h * h,
            Scheme::Bdf2 | Scheme::QuasiStatic => self.potential_scale(h),
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
            Scheme::OneStep { .. } => self.theta() * h,
            Scheme::Bdf2 => 2.0 / 3.0 * h,
            Scheme::QuasiStatic => self.speed_time(h),
        }
    }

    /// Where the velocity v(x) of a vertex vanishes, m.
    pub fn rest_point(self, s: &State, i: usize, h: f64) -> Vec3 {
        match self {
            Scheme::OneStep { .. } => s.x[i] + (1.0 - self.theta()) * h * s.v[i],
            Scheme::Bdf2 => (4.0 * s.x[i] - s.x_previous[i]) / 3.0,
            Scheme::QuasiStatic => s.x[i],
        }
    }

    /// Predicted position x̃ of a vertex, m; without inertia the current one, and the forces are a
    /// summand of the potential. `acceleration` is M⁻¹f of the position-independent
    /// forces (gravity and loads), m/s².
    pub fn predict(self, s: &State, i: usize, acceleration: Vec3, h: f64) -> Vec3 {
        match self {
            Scheme::QuasiStatic => s.x[i],
            _ => self.carry_on(&past(s, i), h) + self.potential_scale(h) * acceleration,
        }
    }

    /// Where something is at the end of a step without forces.
    pub fn carry_on<T: Number>(self, past: &Past<T>, h: f64) -> T {
        match self {
            Scheme::OneStep { .. } => {
                let of_start = self.theta() * (1.0 - self.new_part());
                past.x + past.v * h + past.a * (of_start * h * h)
            }
            Scheme::Bdf2 => {
                (past.x * 4.0 - past.x_previous) / 3.0
                    + (past.v * 4.0 - past.v_previous) * (2.0 / 9.0 * h)
            }
            Scheme::QuasiStatic => past.x,
        }
    }

    /// Velocity of a vertex after the solve for `x`, m/s.
    pub fn velocity(self, s: &State, i: usize, x: Vec3, h: f64) -> Vec3 {
        match self {
            Scheme::QuasiStatic => Vec3::zeros(),
            _ => self.rate(&past(s, i), x, h),
        }
    }

    /// Rate of something that is at `x` at the end of a step with inertia.
    pub fn rate<T: Number>(self, past: &Past<T>, x: T, h: f64) -> T {
        match self {
            Scheme::OneStep { .. } => {
                let theta = self.theta();
                ((x - past.x) / h - past.v * (1.0 - theta)) / theta
            }
            Scheme::Bdf2 => (x * 3.0 - past.x * 4.0 + past.x_previous) / (2.0 * h),
            Scheme::QuasiStatic => past.v * 0.0,
        }
    }

    /// Acceleration of a vertex after the solve for `x` with the velocity `v` there, m/s², by the differences of the
    /// integrator: that of all forces, contact and friction among them.
    pub fn acceleration(self, s: &State, i: usize, end: [Vec3; 2], h: f64) -> Vec3 {
        match self {
            Scheme::QuasiStatic => Vec3::zeros(),
            _ => self.second(&past(s, i), end, h),
        }
    }

    /// Second derivative by time of something that is at `x` with the rate `v` at the end of a step with inertia.
    pub fn second<T: Number>(self, past: &Past<T>, [x, v]: [T; 2], h: f64) -> T {
        let omega = self.new_part();
        match self {
            Scheme::OneStep { .. } if omega == 1.0 => (v - past.v) / h,
            Scheme::OneStep { .. } => {
                let of_start = self.theta() * (1.0 - omega);
                (x - past.x - past.v * h - past.a * (of_start * h * h)) / self.potential_scale(h)
            }
            Scheme::Bdf2 => (v * 3.0 - past.v * 4.0 + past.v_previous) / (2.0 * h),
            Scheme::QuasiStatic => past.a * 0.0,
        }
    }
}

fn past(s: &State, i: usize) -> Past<Vec3> {
    let (x_previous, v_previous) = (s.x_previous[i], s.v_previous[i]);
    Past { x: s.x[i], v: s.v[i], a: s.a[i], x_previous, v_previous }
}
