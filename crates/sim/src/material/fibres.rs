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

/// Exponents k₂ ⟨λ² − 1⟩² above this are beyond what a fibre bears: its energy is infinite.
const MOST: f64 = 300.0;

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
        angle: f64,
    },
}

impl FibreDirection {
    /// The unit vector at a point; none on the axis, and for a vector without length.
    pub fn at(&self, point: &Vec3) -> Option<Vec3> {
        let unit = |v: Vec3| v.try_normalize(0.0).filter(|v| v.iter().all(|c| c.is_finite()));
        match self {
            Self::Along(direction) => unit(*direction),
            Self::Around { axis, through, angle } => {
                let axis = unit(*axis)?;
                let from = point - through;
                let across = from - axis * axis.dot(&from);
                // what rounding leaves of a point on the axis is no direction
                let ring = (across.norm() > 1e-12 * point.amax().max(through.amax()))
                    .then(|| unit(axis.cross(&across)))??;
                Some(ring * angle.cos() + axis * angle.sin())
            }
        }
    }

    /// The same fibres in a solid that was turned, scaled and moved by x ↦ `linear` x + `translation`.
    #[must_use]
    pub fn placed(&self, turn: impl Fn(&Vec3) -> Vec3, place: impl Fn(&Vec3) -> Vec3) -> Self {
        match self {
            Self::Along(direction) => Self::Along(turn(direction)),
            Self::Around { axis, through, angle } => {
                Self::Around { axis: turn(axis), through: place(through), angle: *angle }
            }
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
        let q = exponent * e * e;
        if q > MOST {
            return [f64::INFINITY; 3];
        }
        let grown = q.exp();
        // (exp q − 1)/k₂ = e² (exp q − 1)/q
        let ratio = if q > 0.0 { q.exp_m1() / q } else { 1.0 };
        let value = 0.5 * stiffness * e * e * ratio;
        [value, stiffness * e * grown, stiffness * (1.0 + 2.0 * q) * grown]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_energy() {
        for exponent in [0.0, 0.8, 12.0] {
            let law = FibreLaw { stiffness: 3e4, exponent };
            for square in [0.3, 0.999, 1.0001, 1.2, 1.9] {
                let [_, first, second] = law.energy(square);
                let d = 1e-6;
                let [[a, da, _], [b, db, _]] = [-d, d].map(|d| law.energy(square + d));
                assert!(((b - a) / (2.0 * d) - first).abs() <= 1e-6 * (first.abs() + 3e4 * 1e-3));
                assert!(((db - da) / (2.0 * d) - second).abs() <= 1e-5 * (second + 1e-3));
            }
        }
        // the form without rounding is that of the paper
        let [value, ..] = FibreLaw { stiffness: 2.0, exponent: 3.0 }.energy(1.5);
        assert!((value - (0.75_f64.exp() - 1.0) / 3.0).abs() < 1e-15);
        assert_eq!(FibreLaw { stiffness: 2.0, exponent: 3.0 }.energy(12.0)[0], f64::INFINITY);
    }

    #[test]
    fn directions_turn_around_an_axis() {
        let around = |angle: f64| FibreDirection::Around {
            axis: Vec3::y() * 3.0,
            through: Vec3::new(1.0, 5.0, 0.0),
            angle,
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
