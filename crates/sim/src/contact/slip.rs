//! The friction force of a contact as a function of how far it slides in a step: smoothed at rest [Li 2020 thesis, App. I], and with
//! a static and a kinetic coefficient, between which it falls smoothly [Giesbers 2012].

/// Slip from which on the kinetic coefficient acts, in terms of that at which the static one does, ε. Our choice: the law of
/// Adams [Giesbers 2012] leaves both speeds to the user.
pub const KINETIC_FROM: f64 = 10.0;

/// Coulomb coefficients of two surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coulomb {
    /// μ_s, the largest friction force per normal force, which acts at the stick speed.
    pub at_rest: f64,
    /// μ_k, the friction force per normal force of what slides: at most μ_s.
    pub sliding: f64,
}

impl Coulomb {
    /// 1 − μ_k/μ_s: the part of the largest friction force that what slides has lost; 0 for one coefficient.
    pub fn fall(&self) -> f64 {
        if self.sliding < self.at_rest { 1.0 - self.sliding / self.at_rest } else { 0.0 }
    }
}

/// One coefficient, at rest and sliding.
impl From<f64> for Coulomb {
    fn from(coefficient: f64) -> Self {
        Self { at_rest: coefficient, sliding: coefficient }
    }
}

/// Order of smoothness of the friction force in the displacement [Li 2020 thesis, App. I].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Smoothing {
    /// f₁ linear below ε.
    C0,
    /// f₁ quadratic below ε.
    #[default]
    C1,
    /// f₁ cubic below ε.
    C2,
}

impl Smoothing {
    /// f₀(y): its derivative is f₁, f₀(ε) = ε.
    #[inline]
    pub fn f0(self, y: f64, eps: f64) -> f64 {
        if y >= eps {
            return y;
        }
        let r = y / eps;
        eps * match self {
            Self::C0 => 0.5 * r * r + 0.5,
            Self::C1 => r * r * (1.0 - r / 3.0) + 1.0 / 3.0,
            Self::C2 => r * r * (1.5 - r + 0.25 * r * r) + 0.25,
        }
    }

    /// f₁(y)/y, the friction force per displacement, finite at y = 0.
    #[inline]
    pub fn f1_over_y(self, y: f64, eps: f64) -> f64 {
        if y >= eps {
            return 1.0 / y;
        }
        let r = y / eps;
        match self {
            Self::C0 => 1.0 / eps,
            Self::C1 => (2.0 - r) / eps,
            Self::C2 => (3.0 - r * (3.0 - r)) / eps,
        }
    }

    /// f₁(y), from 0 to 1.
    #[inline]
    pub fn f1(self, y: f64, eps: f64) -> f64 {
        if y >= eps { 1.0 } else { self.f1_over_y(y, eps) * y }
    }

    /// f₂(y) = ∂f₁/∂y ≥ 0.
    #[inline]
    pub fn f2(self, y: f64, eps: f64) -> f64 {
        if y >= eps {
            return 0.0;
        }
        let r = y / eps;
        match self {
            Self::C0 => 1.0 / eps,
            Self::C1 => 2.0 * (1.0 - r) / eps,
            Self::C2 => 3.0 * (1.0 - r) * (1.0 - r) / eps,
        }
    }
}

/// The friction force of a contact over μ_s λ, as a function of its slip y ≥ 0 in a step, m: f₁ of the [`Smoothing`] up to ε, where it is 1, from
/// there falling by a cubic, S(z) = z² (3 − 2 z), to μ_k/μ_s at [`KINETIC_FROM`] ε.
///
/// It is the difference of two functions that do not fall, f₁ and `fall` S, so that its integral is the difference of two convex
/// functions of the sliding displacement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slip {
    /// The smoothing at rest.
    pub smoothing: Smoothing,
    /// ε, m.
    pub eps: f64,
    /// 1 − μ_k/μ_s ([`Coulomb::fall`]).
    pub fall: f64,
}

impl Slip {
    /// f₀(y) with the derivative [`Self::f1`], f₀(ε) = ε, m.
    #[inline]
    pub fn f0(&self, y: f64) -> f64 {
        let f0 = self.smoothing.f0(y, self.eps);
        if self.is_rising(y) { f0 } else { f0 - self.fall * self.lost(y)[0] }
    }

    /// f₁(y), from 0 to 1.
    #[inline]
    pub fn f1(&self, y: f64) -> f64 {
        let f1 = self.smoothing.f1(y, self.eps);
        if self.is_rising(y) { f1 } else { f1 - self.fall * self.lost(y)[1] }
    }

    /// f₁(y)/y, finite at y = 0, 1/m. It falls with y.
    #[inline]
    pub fn f1_over_y(&self, y: f64) -> f64 {
        let ratio = self.smoothing.f1_over_y(y, self.eps);
        if self.is_rising(y) { ratio } else { (1.0 - self.fall * self.lost(y)[1]) / y }
    }

    /// f₂(y) = ∂f₁/∂y, negative where friction falls, 1/m.
    #[inline]
    pub fn f2(&self, y: f64) -> f64 {
        let f2 = self.smoothing.f2(y, self.eps);
        if self.is_rising(y) { f2 } else { f2 - self.fall * self.lost(y)[2] }
    }

    /// Whether the force falls with the slip at y.
    #[inline]
    pub fn is_falling(&self, y: f64) -> bool {
        !self.is_rising(y) && y < KINETIC_FROM * self.eps
    }

    /// S(y)/y, 1/m: the derivative of the convex function that is subtracted, by the displacement, is this times the displacement.
    #[inline]
    pub fn lost_over_y(&self, y: f64) -> f64 {
        if self.is_rising(y) { 0.0 } else { self.lost(y)[1] / y }
    }

    /// The same without the fall, which is convex.
    #[inline]
    pub fn convex(self) -> Self {
        Self { fall: 0.0, ..self }
    }

    /// Whether nothing is lost up to y.
    #[inline]
    fn is_rising(&self, y: f64) -> bool {
        self.fall == 0.0 || y <= self.eps
    }

    /// What is lost at y > ε as part of all of it: the integral of S, S and its derivative.
    #[inline]
    fn lost(&self, y: f64) -> [f64; 3] {
        let width = (KINETIC_FROM - 1.0) * self.eps;
        let z = (y - self.eps) / width;
        if z >= 1.0 {
            return [y - self.eps - 0.5 * width, 1.0, 0.0];
        }
        [width * z * z * z * (1.0 - 0.5 * z), z * z * (3.0 - 2.0 * z), 6.0 * z * (1.0 - z) / width]
    }
}
