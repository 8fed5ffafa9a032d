//! Fibres in a solid: they have a direction at rest, resist being drawn out, and may draw themselves together as muscles do.
//!
//! With the stretch λ = ‖F a‖ along the unit vector a, the energy per rest volume beside the law of the solid is
//!
//! ψ = k₁/(2k₂) (exp(k₂ ⟨λ² − 1⟩²) − 1) + T (λ − 1)
//!
//! [Holzapfel 2000, with the stretch of all of F in place of its part without volume]: with k₂ → 0 the first part is
//! k₁/2 ⟨λ² − 1⟩². ⟨·⟩ is 0 for what is negative, because fibres buckle. T is the active tension per rest area across the fibre.

use standoff_linalg::Vec3;

/// λ² − 1 down to which a fibre counts as stretched in the second derivative. At rest, where rounding decides on which side of 1 λ is, the
/// matrix has the stiffness of the fibre.
const AT_REST: f64 = -1e-12;

/// Exponent k₂ ⟨λ² − 1⟩² above which the energy goes on as a polynomial of degree two of λ², with the same first and second derivative: a fibre that
/// carries e³⁰ times what k₁ says is none that is there, but a minimisation may come by it where a boundary is moved at once.
const MOST: f64 = 30.0;

/// Direction of fibres at rest, of any length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FibreDirection {
    /// The same everywhere.
    Along(Vec3),
    /// Around an axis through a point, from the circumference towards the axis by an angle: 0 are rings, ±π/2 lines along the axis, and others
    /// helices.
    Around {
        /// Direction of the axis, of any length.
        axis: Vec3,
        /// A point of the axis, m.
        through: Vec3,
        /// The angle, rad.
        helix_angle: f64,
    },
}

impl FibreDirection {
    /// The unit vector at a point; none on the axis, and for a vector without length.
    pub fn at(&self, point: &Vec3) -> Option<Vec3> {
        let unit = |v: Vec3| v.try_normalize(0.0).filter(|v| v.iter().all(|c| c.is_finite()));
        match self {
            Self::Along(direction) => unit(*direction),
            Self::Around { axis, through, helix_angle } => {
                let axis = unit(*axis)?;
                let from = point - through;
                let across = from - axis * axis.dot(&from);
                // what rounding leaves of a point on the axis is no direction
                let ring = (across.norm() > 1e-12 * point.amax().max(through.amax()))
                    .then(|| unit(axis.cross(&across)))??;
                Some(ring * helix_angle.cos() + axis * helix_angle.sin())
            }
        }
    }

    /// The same fibres in a solid that was turned, scaled and moved by x ↦ `linear` x + `translation`.
    #[must_use]
    pub fn placed(&self, turn: impl Fn(&Vec3) -> Vec3, place: impl Fn(&Vec3) -> Vec3) -> Self {
        match self {
            Self::Along(direction) => Self::Along(turn(direction)),
            Self::Around { axis, through, helix_angle } => Self::Around {
                axis: turn(axis),
                through: place(through),
                helix_angle: *helix_angle,
            },
        }
    }
}

/// What a fibre resists with.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FibreLaw {
    /// k₁, Pa: a fibre that begins to be stretched has a stiffness of 4 k₁.
    pub stiffness: f64,
    /// k₂: how fast it grows.
    pub exponent: f64,
}

impl FibreLaw {
    /// ψ of the passive part, Pa, and its first and second derivatives by λ², at `square` = λ².
    pub fn energy(&self, square: f64) -> [f64; 3] {
        let Self { stiffness, exponent } = *self;
        let e = square - 1.0;
        if e < 0.0 {
            return [0.0, 0.0, if e < AT_REST { 0.0 } else { stiffness }];
        }
        let last = if exponent > 0.0 { (MOST / exponent).sqrt() } else { f64::INFINITY };
        let within = e.min(last);
        let q = exponent * within * within;
        let grown = q.exp();
        // (exp q − 1)/k₂ = e² (exp q − 1)/q
        let ratio = if q > 0.0 { q.exp_m1() / q } else { 1.0 };
        let value = 0.5 * stiffness * within * within * ratio;
        let first = stiffness * within * grown;
        let second = stiffness * (1.0 + 2.0 * q) * grown;
        let beyond = e - within;
        [value + beyond * (first + 0.5 * beyond * second), first + beyond * second, second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_energy() {
        for exponent in [0.0, 0.8, 12.0] {
            let law = FibreLaw { stiffness: 3e4, exponent };
            for square in [0.3, 0.999, 1.0001, 1.2, 1.9, 2.5, 4.0, 9.0] {
                let [_, first, second] = law.energy(square);
                let d = 1e-6;
                let [[a, da, _], [b, db, _]] = [-d, d].map(|d| law.energy(square + d));
                assert!(((b - a) / (2.0 * d) - first).abs() <= 1e-6 * (first.abs() + 3e4 * 1e-3));
                assert!(second.is_finite() && second >= 0.0);
                assert!(((db - da) / (2.0 * d) - second).abs() <= 1e-5 * (second + 1e-3));
            }
        }
        // the form without rounding is that of the paper
        let [value, ..] = FibreLaw { stiffness: 2.0, exponent: 3.0 }.energy(1.5);
        assert!((value - (0.75_f64.exp() - 1.0) / 3.0).abs() < 1e-15);
        // the continuation takes over without a jump, not even of the second derivative
        let law = FibreLaw { stiffness: 2.0, exponent: 12.0 };
        let at = 1.0 + (MOST / 12.0_f64).sqrt();
        for (a, b) in law.energy(at - 1e-12).into_iter().zip(law.energy(at + 1e-12)) {
            assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn directions_turn_around_an_axis() {
        let around = |helix_angle: f64| FibreDirection::Around {
            axis: Vec3::y() * 3.0,
            through: Vec3::new(1.0, 5.0, 0.0),
            helix_angle,
        };
        let at = Vec3::new(3.0, -2.0, 0.0);
        let close = |a: Option<Vec3>, b: Vec3| (a.unwrap() - b).norm() < 1e-15;
        assert!(close(around(0.0).at(&at), -Vec3::z()));
        assert!(close(around(std::f64::consts::FRAC_PI_2).at(&at), Vec3::y()));
        assert_eq!(around(0.3).at(&Vec3::new(1.0, 7.0, 0.0)), None);
        assert_eq!(FibreDirection::Along(Vec3::zeros()).at(&at), None);
        assert_eq!(FibreDirection::Along(Vec3::x() * 2.0).at(&at), Some(Vec3::x()));
    }
}
