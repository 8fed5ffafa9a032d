//! The one place where the numbers of a definition are checked, for scene files and users of the
//! library alike: every type of a definition has `validate`, which names the first field that is out
//! of range by its path. A scene maps the path to the line of its file.

mod bodies;
mod conditions;
mod fibres;
mod inelastic;
mod plane;
mod rubber;
mod settings;
pub mod unread;

pub use bodies::{contact_thickness, density, elasticity, positions, radius};
pub use conditions::{active_times, stiffness};
pub use fibres::count_of_families;
pub use inelastic::count_of_terms;
pub use plane::in_plane;

use crate::definition::Definition;
use standoff_linalg::Vec3;
use std::fmt;

/// Positive quantities lie in this range of SI units, whatever they are: their products and quotients
/// in energies, masses and Hessians then neither overflow nor vanish.
pub const MAGNITUDE: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// A field of a definition that is out of range.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Which field, from where `validate` was called: `time.step`, `bodies[2].density`.
    pub path: FieldPath,
    /// What the field belongs to, where that has a name: `body 'ball'`.
    pub owner: Option<String>,
    /// Its value.
    pub value: String,
    /// What holds for valid ones.
    pub must: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(owner) = &self.owner {
            write!(f, "{owner}: ")?;
        }
        write!(f, "`{}`: {} is out of range: {}", self.path, self.value, self.must)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// The same fault seen from outside of the field `key`.
    #[must_use]
    pub fn within(mut self, key: &'static str) -> Self {
        self.path.0.insert(0, Field::Key(key));
        self
    }

    /// The same fault seen from outside of element `index` of the list `key`.
    #[must_use]
    pub fn within_element(mut self, key: &'static str, index: usize) -> Self {
        self.path.0.splice(0..0, [Field::Key(key), Field::Index(index)]);
        self
    }

    /// The same fault with the name of what it belongs to.
    #[must_use]
    pub fn of(mut self, what: &str, name: &str) -> Self {
        self.owner.get_or_insert_with(|| format!("{what} '{name}'"));
        self
    }
}

/// One step of a path to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// A field of a struct, by the name that it has in scene files, where it has one there.
    Key(&'static str),
    /// An element of a list.
    Index(usize),
}

/// A path to a field, written `bodies[2].density`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldPath(pub Vec<Field>);

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, field) in self.0.iter().enumerate() {
            match field {
                Field::Key(key) if k == 0 => f.write_str(key)?,
                Field::Key(key) => write!(f, ".{key}")?,
                Field::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A fault of the field `key`.
pub(crate) fn fault(key: &'static str, value: impl ToString, must: &'static str) -> Fault {
    let path = FieldPath(vec![Field::Key(key)]);
    Fault { path, owner: None, value: value.to_string(), must }
}

/// Refuses a field that does not hold what it must.
pub(crate) fn require<T: ToString>(
    key: &'static str,
    value: T,
    valid: bool,
    must: &'static str,
) -> Result<(), Fault> {
    if valid { Ok(()) } else { Err(fault(key, value, must)) }
}

/// Requires a number in some range; `must` says which.
///
/// # Errors
/// It is not finite or not `valid`.
pub fn number(
    key: &'static str,
    value: f64,
    valid: impl Fn(f64) -> bool,
    must: &'static str,
) -> Result<(), Fault> {
    require(key, value, value.is_finite(), "a finite number is needed")?;
    require(key, value, valid(value), must)
}

/// Requires a positive quantity.
///
/// # Errors
/// It is not, or out of [`MAGNITUDE`].
pub fn positive(key: &'static str, value: f64, must: &'static str) -> Result<(), Fault> {
    number(key, value, |x| x > 0.0, must)?;
    magnitude(key, value)
}

/// Requires a quantity of 0 or more.
///
/// # Errors
/// It is negative, or out of [`MAGNITUDE`] and not 0.
pub fn not_negative(key: &'static str, value: f64, must: &'static str) -> Result<(), Fault> {
    number(key, value, |x| x >= 0.0, must)?;
    if value == 0.0 { Ok(()) } else { magnitude(key, value) }
}

fn magnitude(key: &'static str, value: f64) -> Result<(), Fault> {
    let must = "a number from 1e-30 to 1e30 in SI units is needed";
    require(key, value, MAGNITUDE.contains(&value), must)
}

/// Requires a vector whose components are of any sign.
///
/// # Errors
/// One of them is not finite or greater than [`MAGNITUDE`] allows.
pub fn vector(key: &'static str, value: &Vec3) -> Result<(), Fault> {
    let must = "components from -1e30 to 1e30 in SI units are needed";
    for (k, c) in value.iter().enumerate() {
        let result = require(key, c, c.abs() <= *MAGNITUDE.end(), must);
        result.map_err(|mut f| {
            f.path.0.push(Field::Index(k));
            f
        })?;
    }
    Ok(())
}

/// Requires a direction: a vector whose length is in [`MAGNITUDE`].
///
/// # Errors
/// See above.
pub fn direction(key: &'static str, value: &Vec3, must: &'static str) -> Result<(), Fault> {
    vector(key, value)?;
    let [x, y, z] = [value.x, value.y, value.z];
    let length = value.norm();
    require(key, format!("[{x}, {y}, {z}]"), MAGNITUDE.contains(&length), must)
}

impl Definition {
    /// Checks every number of the definition and that what refers to bodies refers to some that
    /// exist. Elements are checked when the simulation is built.
    ///
    /// # Errors
    /// The first field that is out of range.
    pub fn validate(&self) -> Result<(), Fault> {
        self.settings.validate()?;
        vector("gravity", &self.gravity)?;
        for (k, body) in self.bodies.iter().enumerate() {
            let named = |f: Fault| f.within_element("bodies", k).of("body", &body.name);
            body.validate().map_err(named)?;
        }
        for (k, h) in self.half_spaces.iter().enumerate() {
            let named = |f: Fault| f.within_element("half_spaces", k).of("half-space", &h.name);
            h.validate().map_err(named)?;
        }
        let count = self.bodies.len();
        for (k, p) in self.prescribed.iter().enumerate() {
            let named = |f: Fault| f.within_element("prescribed", k).of("motion", &p.name);
            p.validate(count).map_err(named)?;
        }
        for (k, load) in self.forces.iter().enumerate() {
            let named = |f: Fault| f.within_element("forces", k).of("force", &load.name);
            load.validate(count).map_err(named)?;
        }
        for (k, a) in self.attachments.iter().enumerate() {
            let named = |f: Fault| f.within_element("attachments", k).of("attachment", &a.name);
            a.validate(count).map_err(named)?;
        }
        for (k, s) in self.stitches.iter().enumerate() {
            let named = |f: Fault| f.within_element("stitches", k).of("stitch", &s.name);
            s.validate(count).map_err(named)?;
        }
        for (k, t) in self.ties.iter().enumerate() {
            let named = |f: Fault| f.within_element("ties", k).of("tie", &t.name);
            t.validate(count).map_err(named)?;
        }
        self.validate_joints()?;
        for (k, &(a, b)) in self.no_contact.iter().enumerate() {
            let must = "two indices of bodies are needed";
            let valid = a < count && b < count;
            require("no_contact", format!("({a}, {b})"), valid, must).map_err(|mut f| {
                f.path.0.push(Field::Index(k));
                f
            })?;
        }
        self.validate_dimension()
    }

    /// Joints, what they follow, and tendons.
    fn validate_joints(&self) -> Result<(), Fault> {
        for (k, joint) in self.joints.iter().enumerate() {
            let named = |f: Fault| f.within_element("joints", k).of("joint", &joint.name);
            joint.validate(self.bodies.len(), self.joints.len()).map_err(named)?;
            if let Some(mimic) = &joint.mimic {
                let must = "a joint follows another joint, which has one coordinate";
                let other = &self.joints[mimic.joint];
                let fits = mimic.joint != k && other.has_coordinate();
                require("mimic", &other.name, fits, must).map_err(named)?;
            }
            let of_tendon = self.tendons.iter().any(|t| t.joints.iter().any(|(j, _)| *j == k));
            let followed = self.joints.iter().any(|j| j.mimic.is_some_and(|m| m.joint == k));
            let coupled = joint.mimic.is_some() || followed || of_tendon;
            let must = "a joint of a coupling (`mimic`) or a tendon does not break";
            let force = joint.breaking_force.min(joint.breaking_moment);
            require("breaking_force", force, !(joint.may_break() && coupled), must)
                .map_err(named)?;
        }
        for (k, tendon) in self.tendons.iter().enumerate() {
            let named = |f: Fault| f.within_element("tendons", k).of("tendon", &tendon.name);
            tendon.validate(&self.joints).map_err(named)?;
        }
        Ok(())
    }
}
