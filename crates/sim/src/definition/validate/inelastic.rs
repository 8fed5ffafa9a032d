//! What relaxes or yields of a solid.

use super::{Fault, fault, number, positive};
use crate::definition::{BodyDef, Substance};
use crate::material::Law;
use crate::material::inelastic::{Inelasticity, Plasticity, Relaxation};

/// Terms of a Prony series at most.
const TERMS: usize = 40;

const MANY: &str = "at most 40 terms may relax; one or two for each decade of time are enough";

/// Checks the number of terms of a Prony series.
///
/// # Errors
/// There are more than 40.
pub fn count_of_terms(count: usize) -> Result<(), Fault> {
    if count > TERMS { Err(fault("relaxation", count as f64, MANY)) } else { Ok(()) }
}

impl Relaxation {
    /// Checks its numbers.
    ///
    /// # Errors
    /// The ratio or the time is not positive.
    pub fn validate(&self) -> Result<(), Fault> {
        positive("ratio", self.ratio, "the part of the modulus that relaxes must be positive")?;
        positive("time", self.time, "a relaxation time must be positive (s)")
    }
}

impl Plasticity {
    /// Checks its numbers.
    ///
    /// # Errors
    /// A stress is not positive, hardening is negative, the material softens, or a rate is without its stress.
    pub fn validate(&self) -> Result<(), Fault> {
        positive("yield_stress", self.yield_stress, "a stress must be positive (Pa)")?;
        let hardening = "hardening must be 0 or more (Pa); what softens has no solution that the mesh does not choose";
        number("hardening_modulus", self.hardening_modulus, |h| h >= 0.0, hardening)?;
        let moving = "kinematic hardening must be 0 or more (Pa)";
        number("kinematic_modulus", self.kinematic_modulus, |h| h >= 0.0, moving)?;
        match (self.saturation_stress, self.saturation_rate) {
            (None, None) => Ok(()),
            (Some(stress), Some(rate)) => {
                let must =
                    "the stress to which hardening leads must be `yield_stress` or more (Pa)";
                number("saturation_stress", stress, |s| s >= self.yield_stress, must)?;
                positive("saturation_rate", rate, "it must be positive")
            }
            (Some(_), None) => {
                Err(missing("saturation_rate", "it is needed beside `saturation_stress`"))
            }
            (None, Some(_)) => {
                Err(missing("saturation_stress", "it is needed beside `saturation_rate`"))
            }
        }
    }
}

fn missing(key: &'static str, must: &'static str) -> Fault {
    fault(key, f64::NAN, must)
}

/// Checks what relaxes or yields of a body.
///
/// # Errors
/// A number out of its range, a body that is no solid, or a law that does not go with what yields.
pub(super) fn validate(body: &BodyDef) -> Result<(), Fault> {
    match body.solid() {
        Some((rest, _)) => of_substance(&rest),
        None if body.inelastic.is_empty() => Ok(()),
        None => Err(fault("inelastic", body.inelastic.len() as f64, "only solids relax or yield")),
    }
}

/// Checks what relaxes or yields of what elements are made of.
///
/// # Errors
/// As [`validate`].
pub(super) fn of_substance(of: &Substance<'_>) -> Result<(), Fault> {
    for (k, part) in of.inelastic.iter().enumerate() {
        let own = match part {
            Inelasticity::Relaxing(relaxation) => relaxation.validate(),
            Inelasticity::Yielding(plasticity) => plasticity.validate(),
        };
        own.map_err(|f| f.within_element("inelastic", k))?;
    }
    let yields = |i: &&Inelasticity| matches!(i, Inelasticity::Yielding(_));
    let yielding = of.inelastic.iter().filter(yields).count();
    count_of_terms(of.inelastic.len() - yielding)?;
    let must = match (yielding, of.material.law == Law::Volumetric) {
        (0, true) => "the law \"volumetric\" needs something that yields, for it resists no shear",
        (0, false) | (1, true) => return Ok(()),
        _ => "one thing may yield, with the law \"volumetric\"",
    };
    Err(fault("inelastic", of.inelastic.len() as f64, must))
}
