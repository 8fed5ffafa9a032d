//! Ranges of prescribed motions, forces, attachments, stitches and joints.

use super::{Fault, direction, fault, not_negative, number, positive, require, vector};
use crate::definition::{
    Anchor, AttachmentDef, Condition, ForceDef, JointDef, Motion, Pivot, PrescribedDef,
    SpringStiffness, StitchDef,
};

const A_BODY: &str = "the index of a body is needed";

/// Checks the times between which something acts; the second may be infinite.
///
/// # Errors
/// The start is negative, or the end is not later.
pub fn active_times(start: f64, end: f64) -> Result<(), Fault> {
    number("start", start, |t| t >= 0.0, "a start time must be 0 or more (s)")?;
    if end > start {
        return Ok(());
    }
    Err(fault("end", end, "the end must be later than the start"))
}

/// Checks the stiffness of a spring, the field `key`.
///
/// # Errors
/// It is not positive.
pub fn stiffness(key: &'static str, value: f64) -> Result<(), Fault> {
    positive(key, value, "a stiffness must be positive")
}

fn rest_length(length: f64) -> Result<(), Fault> {
    not_negative("rest_length", length, "a rest length must be 0 or more (m)")
}

fn pivot(pivot: &Pivot) -> Result<(), Fault> {
    match pivot {
        Pivot::Point(p) => vector("pivot", p),
        Pivot::StartCentre | Pivot::CurrentCentre => Ok(()),
    }
}

impl Motion {
    fn validate(&self) -> Result<(), Fault> {
        match self {
            Self::Fixed => Ok(()),
            Self::Rigid { linear, angular, pivot: p } => {
                vector("velocity", linear)?;
                vector("angular_velocity", angular)?;
                pivot(p)
            }
            Self::Expression { axis, pivot: p, .. } => {
                direction("axis", axis, "the axis must not be zero")?;
                pivot(p)
            }
            Self::Sequence { frames } => {
                frames.iter().flatten().try_for_each(|p| vector("sequence", p))
            }
        }
    }
}

impl PrescribedDef {
    /// Checks motion, times and condition; `bodies` is how many there are.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self, bodies: usize) -> Result<(), Fault> {
        require("body", self.body, self.body < bodies, A_BODY)?;
        active_times(self.t0, self.t1)?;
        self.motion.validate()?;
        let Some(Condition::AllBeyond { bodies: all, normal, offset }) = &self.until else {
            return Ok(());
        };
        for &body in all {
            require("until", body, body < bodies, A_BODY)?;
        }
        direction("until", normal, "the normal must not be zero")?;
        number("until", *offset, |o| o.abs() <= 1e60, "a distance up to 1e60 m is needed")
    }
}

impl ForceDef {
    /// Checks body and times; `bodies` is how many there are.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self, bodies: usize) -> Result<(), Fault> {
        require("body", self.body, self.body < bodies, A_BODY)?;
        active_times(self.t0, self.t1)
    }
}

impl JointDef {
    /// Checks every number; `bodies` is how many there are.
    pub(super) fn validate(&self, bodies: usize) -> Result<(), Fault> {
        for body in self.parent.into_iter().chain([self.child]) {
            require("bodies", body, body < bodies, A_BODY)?;
        }
        let must = "a joint is between two bodies, or between the world and one";
        require("bodies", self.child, self.parent != Some(self.child), must)?;
        self.validate_place()
    }

    /// Checks the joint's point and axis.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate_place(&self) -> Result<(), Fault> {
        vector("point", &self.point)?;
        match self.kind.has_axis() {
            true => direction("axis", &self.axis, "the axis must not be zero"),
            false => Ok(()),
        }
    }
}

impl AttachmentDef {
    /// Checks every number; `bodies` is how many there are.
    pub(super) fn validate(&self, bodies: usize) -> Result<(), Fault> {
        require("body", self.body, self.body < bodies, A_BODY)?;
        self.validate_springs()?;
        match &self.anchor {
            Anchor::Vertices(sets) | Anchor::Surface(sets) => sets
                .iter()
                .try_for_each(|(body, _)| require("anchor", body, *body < bodies, A_BODY)),
            Anchor::Point(p) => vector("point", p),
            Anchor::Start => Ok(()),
        }
    }

    /// Checks times, distance, stiffness and rest length.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate_springs(&self) -> Result<(), Fault> {
        active_times(self.t0, self.t1)?;
        let distance = self.distance;
        let must = "a distance must be 0 or more (m)";
        require("distance", distance, distance >= 0.0, must)?;
        match self.stiffness {
            SpringStiffness::PerSpring(k) => stiffness("stiffness", k)?,
            SpringStiffness::PerMass(k) => stiffness("stiffness_per_mass", k)?,
        }
        self.rest_length.map_or(Ok(()), rest_length)
    }
}

impl StitchDef {
    /// Checks every number; `bodies` is how many there are.
    pub(super) fn validate(&self, bodies: usize) -> Result<(), Fault> {
        for body in self.bodies {
            require("bodies", body, body < bodies, A_BODY)?;
        }
        self.validate_springs()?;
        for pair in &self.pairs {
            let w = pair.weight;
            require("pairs", w, (0.0..=1.0).contains(&w), "a weight must be from 0 to 1")?;
        }
        Ok(())
    }

    /// Checks times, stiffness and rest length.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate_springs(&self) -> Result<(), Fault> {
        active_times(self.t0, self.t1)?;
        positive("stiffness", self.stiffness, "a stiffness must be positive (N/m)")?;
        rest_length(self.rest_length)
    }
}
