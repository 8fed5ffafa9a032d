//! Ranges of prescribed motions, forces, attachments, stitches and joints.

use super::{Fault, direction, fault, not_negative, number, positive, require, vector};
use crate::definition::{
    Anchor, AttachmentDef, Condition, DriveDef, ForceDef, JointDef, JointKind, JointSpring,
    MimicDef, Motion, Pivot, PrescribedDef, SpringStiffness, StitchDef, TendonDef, TieDef,
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
        for along in &self.along {
            direction("along", along, "a direction must not be zero")?;
        }
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
    /// Checks every number; `bodies` and `joints` are how many there are.
    pub(super) fn validate(&self, bodies: usize, joints: usize) -> Result<(), Fault> {
        for body in self.parent.into_iter().chain([self.child]) {
            require("bodies", body, body < bodies, A_BODY)?;
        }
        let must = "a joint is between two bodies, or between the world and one";
        require("bodies", self.child, self.parent != Some(self.child), must)?;
        if let Some(mimic) = &self.mimic {
            require("mimic", mimic.joint, mimic.joint < joints, "an index of a joint is needed")?;
        }
        self.validate_alone()
    }

    /// Checks the joint's points and axes, and what acts along its coordinate.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate_alone(&self) -> Result<(), Fault> {
        vector("point", &self.point)?;
        if self.kind.has_axis() {
            direction("axis", &self.axis, "the axis must not be zero")?;
        }
        match self.kind {
            JointKind::Universal => {
                direction("second_axis", &self.second_axis, "the axis must not be zero")?;
                let along = self.axis.normalize().dot(&self.second_axis.normalize());
                let must = "the axes of a universal joint must be at right angles";
                require("second_axis", along, along.abs() < 1e-6, must)?;
            }
            JointKind::Distance => {
                vector("second_point", &self.second_point)?;
                let apart = (self.second_point - self.point).norm();
                let must = "the points of a distance must not coincide; a spherical joint keeps them together";
                require("second_point", apart, apart > 0.0, must)?;
            }
            _ => {}
        }
        let must = "a joint breaks under a positive force (N)";
        require("breaking_force", self.breaking_force, self.breaking_force > 0.0, must)?;
        let must = "a joint breaks under a positive moment (N m)";
        require("breaking_moment", self.breaking_moment, self.breaking_moment > 0.0, must)?;
        self.validate_coordinate()
    }

    fn validate_coordinate(&self) -> Result<(), Fault> {
        let must = "only revolute and prismatic joints, and distances with limits, have the one coordinate along which this acts";
        let wanted = [
            ("limits", self.limits.is_some() && self.kind != JointKind::Distance),
            ("start", self.start != 0.0),
            ("damping", self.damping != 0.0),
            ("friction", self.friction != 0.0),
            ("armature", self.armature != 0.0),
            ("spring", self.spring.is_some()),
            ("drive", self.drive.is_some()),
            ("mimic", self.mimic.is_some()),
        ];
        for (key, given) in wanted {
            let fits =
                self.has_coordinate() && (key != "start" || self.kind != JointKind::Distance);
            require(key, self.kind.key(), !given || fits, must)?;
        }
        let must = "the value at the start must be a number";
        require("start", self.start, self.start.is_finite(), must)?;
        let must = "the coordinate at the start (`start`, by default 0; of a distance the distance) must lie within the limits";
        check_limits(self.limits, self.start_value(), must)?;
        let must = "damping must be 0 or more (N m s/rad or N s/m)";
        require("damping", self.damping, at_least_zero(self.damping), must)?;
        let must = "friction must be 0 or more (N m or N)";
        require("friction", self.friction, at_least_zero(self.friction), must)?;
        let must = "an armature must be 0 or more (kg m^2 or kg)";
        require("armature", self.armature, at_least_zero(self.armature), must)?;
        let spring = self.spring.as_ref().map_or(Ok(()), JointSpring::validate);
        spring.map_err(|f| f.within("spring"))?;
        let mimic = self.mimic.as_ref().map_or(Ok(()), MimicDef::validate);
        mimic.map_err(|f| f.within("mimic"))?;
        let drive = self.drive.as_ref().map_or(Ok(()), DriveDef::validate);
        drive.map_err(|f| f.within("drive"))
    }
}

/// Two limits in ascending order, with the value at the start between them.
fn check_limits(limits: Option<[f64; 2]>, start: f64, within: &'static str) -> Result<(), Fault> {
    let Some([low, high]) = limits else { return Ok(()) };
    let shown = format!("[{low}, {high}]");
    let must =
        "limits must be two numbers in ascending order (rad or m), of which one may be infinite";
    let ordered = low < high && (low.is_finite() || high.is_finite());
    require("limits", &shown, ordered, must)?;
    require("limits", &shown, (low..=high).contains(&start), within)
}

impl TendonDef {
    /// Checks every number and what the tendon is a sum of.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn validate(&self, joints: &[JointDef]) -> Result<(), Fault> {
        let must = "a tendon is a sum of coordinates: name at least one joint, each once, with a factor that is not 0";
        let numbers = self.joints.iter().all(|(_, c)| c.is_finite() && *c != 0.0);
        let twice = |k: usize| self.joints[..k].iter().any(|(j, _)| *j == self.joints[k].0);
        let once = !(0..self.joints.len()).any(twice);
        let named = |&(j, c): &(usize, f64)| match joints.get(j) {
            Some(joint) => format!("{} = {c}", joint.name),
            None => format!("joint {j} = {c}"),
        };
        let shown =
            format!("{{ {} }}", self.joints.iter().map(named).collect::<Vec<_>>().join(", "));
        require("joints", &shown, !self.joints.is_empty() && numbers && once, must)?;
        for (k, _) in &self.joints {
            let must = "the joints of a tendon have one coordinate: they are revolute or prismatic, or distances with limits";
            let other = joints.get(*k);
            let shown = other.map_or_else(|| k.to_string(), |j| j.name.clone());
            require("joints", &shown, other.is_some_and(JointDef::has_coordinate), must)?;
        }
        let must =
            "the coordinate at the start, the sum over the joints, must lie within the limits";
        check_limits(self.limits, self.start(joints), must)?;
        let must = "damping must be 0 or more (N m s/rad or N s/m)";
        require("damping", self.damping, at_least_zero(self.damping), must)?;
        let must = "friction must be 0 or more (N m or N)";
        require("friction", self.friction, at_least_zero(self.friction), must)?;
        let spring = self.spring.as_ref().map_or(Ok(()), JointSpring::validate);
        spring.map_err(|f| f.within("spring"))?;
        let drive = self.drive.as_ref().map_or(Ok(()), DriveDef::validate);
        drive.map_err(|f| f.within("drive"))
    }
}

impl JointSpring {
    fn validate(&self) -> Result<(), Fault> {
        let must = "a stiffness of a spring must be positive (N m/rad or N/m)";
        let fits = self.stiffness.is_finite() && self.stiffness > 0.0;
        require("stiffness", self.stiffness, fits, must)?;
        let must = "the value at which a spring rests must be a number";
        require("rest", self.rest, self.rest.is_finite(), must)
    }
}

impl MimicDef {
    fn validate(&self) -> Result<(), Fault> {
        require("ratio", self.ratio, self.ratio.is_finite(), "a ratio must be a number")?;
        require("offset", self.offset, self.offset.is_finite(), "an offset must be a number")
    }
}

impl DriveDef {
    fn validate(&self) -> Result<(), Fault> {
        let must = "a stiffness of a drive must be 0 or more (N m/rad or N/m)";
        require("stiffness", self.stiffness, at_least_zero(self.stiffness), must)?;
        let must = "damping of a drive must be 0 or more (N m s/rad or N s/m)";
        require("damping", self.damping, at_least_zero(self.damping), must)?;
        let must = "the greatest effort of a drive must be positive (N m or N)";
        require("max_effort", self.max_effort, self.max_effort > 0.0, must)?;
        let must = "a drive to a position needs a stiffness (N m/rad or N/m)";
        let pulls = self.position.is_none() || self.stiffness > 0.0;
        require("stiffness", self.stiffness, pulls, must)?;
        let must = "a drive to a velocity needs damping (N m s/rad or N s/m): the force per deviation of the rate";
        let follows = self.velocity.is_none() || self.damping > 0.0;
        require("damping", self.damping, follows, must)
    }
}

fn at_least_zero(number: f64) -> bool {
    number.is_finite() && number >= 0.0
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

impl TieDef {
    /// Checks every number; `bodies` is how many there are.
    pub(super) fn validate(&self, bodies: usize) -> Result<(), Fault> {
        for body in self.bodies {
            require("bodies", body, body < bodies, A_BODY)?;
        }
        self.validate_numbers()
    }

    /// Checks the tolerance.
    ///
    /// # Errors
    /// It is not positive.
    pub fn validate_numbers(&self) -> Result<(), Fault> {
        let must = "a tolerance must be positive (m)";
        self.tolerance.map_or(Ok(()), |t| positive("tolerance", t, must))
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
