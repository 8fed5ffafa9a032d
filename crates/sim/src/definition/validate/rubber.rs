//! Ranges of the constants of laws of rubber.

use super::{Fault, Field, fault, number, positive};
use crate::material::Material;
use crate::material::rubber::{OGDEN_TERMS, Rubber, RubberLaw};
use standoff_linalg::Vec3;

const POSITIVE: &str = "with these constants the shear modulus at rest is not positive; it must be";

const MINIMUM: &str = "with these constants the energy is negative at these stretches, so that the solid would not stay at rest; choose \
                       constants with which it is positive at all stretches (positive ones are enough)";

/// Directions of isochoric deformations that are tried between uniaxial tension and compression, and sizes.
const TRIED: [usize; 2] = [24, 60];

impl RubberLaw {
    /// Checks the law, of which `material` has Young's modulus and Poisson's ratio at rest.
    pub(super) fn validate(&self, material: &Material) -> Result<(), Fault> {
        self.rubber().validate()?;
        positive("bulk_modulus", self.bulk_modulus(), "a modulus must be positive (Pa)")?;
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
        let (found, own) = (material.lame(), self.lame());
        let both = same(found.mu, own.mu) && same(found.lambda + found.mu, own.lambda + own.mu);
        let must = "Young's modulus and Poisson's ratio must be those of the law at rest";
        super::require("young_modulus", material.young_modulus, both, must)
    }
}

impl Rubber {
    /// Checks the constants, and that the energy is least at rest: at stretches up to 1,000 in many directions.
    ///
    /// # Errors
    /// A constant is not finite or out of its range, the shear modulus at rest is not positive, or the energy is negative
    /// somewhere.
    pub fn validate(&self) -> Result<(), Fault> {
        let finite = |key: &'static str, value: f64| number(key, value, |_| true, "");
        match self {
            Self::MooneyRivlin { c10, c01, c20, c11, c02 } => {
                finite("c10", *c10)?;
                finite("c01", *c01)?;
                finite("c20", *c20)?;
                finite("c11", *c11)?;
                finite("c02", *c02)?;
            }
            Self::Yeoh { c10, c20, c30 } => {
                finite("c10", *c10)?;
                finite("c20", *c20)?;
                finite("c30", *c30)?;
            }
            Self::ArrudaBoyce { mu, locking_stretch } => {
                positive("mu", *mu, "a modulus must be positive (Pa)")?;
                let must = "the stretch at which chains are straight must be more than 1";
                number("locking_stretch", *locking_stretch, |l| l > 1.0, must)?;
            }
            Self::Gent { mu, limit } => {
                positive("mu", *mu, "a modulus must be positive (Pa)")?;
                positive("limit", *limit, "the bound of the invariant must be positive")?;
            }
            Self::Ogden { terms } => {
                let must = "one to six terms are needed";
                let count = terms.len();
                super::require("terms", count, (1..=OGDEN_TERMS).contains(&count), must)?;
                for (index, term) in terms.iter().enumerate() {
                    let within = |mut fault: Fault| {
                        fault.path.0.splice(0..0, [Field::Key("terms"), Field::Index(index)]);
                        fault
                    };
                    finite("mu", term.mu).map_err(within)?;
                    let must = "an exponent must not be 0, and not be beyond 100";
                    number("alpha", term.alpha, |a| a != 0.0 && a.abs() <= 100.0, must)
                        .map_err(within)?;
                }
            }
        }
        let mu = self.shear_modulus();
        positive("shear modulus", mu, POSITIVE)?;
        match self.negative_at() {
            Some(stretches) => Err(fault("stretches", format!("{stretches:.3?}"), MINIMUM)),
            None => Ok(()),
        }
    }

    /// Principal stretches at which the energy is negative, if any were found.
    fn negative_at(&self) -> Option<[f64; 3]> {
        let [directions, sizes] = TRIED;
        let (low, high) = (1e-3_f64.ln(), 1e3_f64.ln().ln());
        let axes = [Vec3::new(2.0, -1.0, -1.0), Vec3::new(0.0, 1.0, -1.0)].map(|a| a.normalize());
        let mut all = (0..=directions).flat_map(|d| (0..=sizes).map(move |s| (d, s)));
        let log = |(d, s): (usize, usize)| {
            // the other five sixths of the circle are permutations of the axes
            let angle = std::f64::consts::FRAC_PI_3 * d as f64 / directions as f64;
            let size = (low + (high - low) * s as f64 / sizes as f64).exp();
            (axes[0] * angle.cos() + axes[1] * angle.sin()) * size
        };
        let least = -1e-12 * self.shear_modulus();
        let negative = |w: f64| w.is_nan() || w < least;
        let found = all.find(|at| negative(self.isochoric(log(*at).into())))?;
        Some(log(found).map(f64::exp).into())
    }
}
