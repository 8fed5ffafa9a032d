//! What supports and loads act with.

use super::Simulation;
use crate::error::Error;
use crate::handle::{LoadHandle, OfLoad, OfPrescription, PrescriptionHandle, Which};
use standoff_linalg::Vec3;
use standoff_sim::ControlError;
use standoff_sim::contact::Party;
use standoff_sim::definition::{ForceDef, Load};

/// A set of vertices that a simulation holds or moves.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    simulation: &'a Simulation,
    index: usize,
}

/// The value of a load, of the quantity that the scene gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadValue {
    /// Total force, N.
    Force(Vec3),
    /// Acceleration of each vertex, m/s².
    Acceleration(Vec3),
    /// Pressure, Pa; positive values push onto the surface.
    Pressure(f64),
    /// Force per area at rest, Pa.
    Traction(Vec3),
}

impl LoadValue {
    /// As the simulator stores it, for a load of the same quantity.
    pub(super) fn of(self, load: &ForceDef) -> Result<Vec3, ControlError> {
        let expected = match (&load.load, self) {
            (Load::Force(_), Self::Force(v))
            | (Load::Acceleration(_), Self::Acceleration(v))
            | (Load::Traction(_), Self::Traction(v)) => return Ok(v),
            (Load::Pressure(_), Self::Pressure(p)) => return Ok(Vec3::new(p, 0.0, 0.0)),
            (Load::Force(_), _) => FORCE,
            (Load::Acceleration(_), _) => ACCELERATION,
            (Load::Pressure(_), _) => PRESSURE,
            (Load::Traction(_), _) => TRACTION,
        };
        let given = match self {
            Self::Force(_) => FORCE,
            Self::Acceleration(_) => ACCELERATION,
            Self::Pressure(_) => PRESSURE,
            Self::Traction(_) => TRACTION,
        };
        Err(ControlError::Quantity { name: load.name.clone(), given, expected })
    }
}

// the quantities of loads, as messages call them
const FORCE: &str = "a force (N)";
const ACCELERATION: &str = "an acceleration (m/s²)";
const PRESSURE: &str = "a pressure (Pa)";
const TRACTION: &str = "a traction (Pa)";

/// A load of a simulation: a force, a pressure, an attachment or a seam.
#[derive(Debug, Clone, Copy)]
pub struct Applied<'a> {
    simulation: &'a Simulation,
    index: usize,
}

/// What a body, an obstacle or a half-space acts with on another one at the end of a step.
///
/// The forces on the two are opposite. Their moments about one point differ by those that the forces of friction have by the distance of
/// the two surfaces, since each acts on its own surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    normal: [Vec3; 2],
    friction: [Vec3; 2],
}

impl Contact {
    /// Force, N.
    pub fn force(&self) -> Vec3 {
        self.normal[0] + self.friction[0]
    }

    /// The part of the force along the normals of the contacts, N.
    pub fn normal_force(&self) -> Vec3 {
        self.normal[0]
    }

    /// The part of the force that is friction, N.
    pub fn friction_force(&self) -> Vec3 {
        self.friction[0]
    }

    /// Moment of the force about a point, N m.
    pub fn torque(&self, about: impl Into<Vec3>) -> Vec3 {
        moved([self.force(), self.normal[1] + self.friction[1]], about.into())
    }
}

impl Simulation {
    /// What another body or half-space acts with on one.
    pub(super) fn contact(&self, on: Party, other: &str) -> Result<Contact, Error> {
        let half_spaces = || self.core.model().half_space_names.iter().map(String::as_str);
        let body = self.body_names().position(|n| n == other).map(|b| Party::Body(b as u32));
        let half_space = || half_spaces().position(|n| n == other);
        let half_space = || half_space().map(|k| Party::HalfSpace(k as u32));
        let by = body.or_else(half_space).ok_or_else(|| ControlError::Unknown {
            what: "body or half-space",
            name: other.to_owned(),
            known: self.body_names().chain(half_spaces()).map(str::to_owned).collect(),
        })?;
        let found = self.core.state().pair_forces.iter().find(|f| f.on == on && f.by == by);
        Ok(match found {
            Some(f) => Contact { normal: f.normal, friction: f.friction },
            None => Contact { normal: [Vec3::zeros(); 2], friction: [Vec3::zeros(); 2] },
        })
    }

    /// What holds the vertices of a prescription, by its handle, or by its name as for [`set_targets`](Self::set_targets).
    ///
    /// # Errors
    /// [`Error::Control`] with the names that there are, or for a handle of another scene.
    pub fn held<'a>(&self, which: impl Into<Which<'a, OfPrescription>>) -> Result<Held<'_>, Error> {
        Ok(Held { simulation: self, index: self.find(which.into())? })
    }

    /// What a load acts with, by its handle, by its name as for [`set_load`](Self::set_load), or by that of an attachment
    /// or a seam. Where several have one name, the second is `NAME#2`.
    ///
    /// # Errors
    /// [`Error::Control`] with the names that there are, or for a handle of another scene.
    pub fn applied<'a>(&self, which: impl Into<Which<'a, OfLoad>>) -> Result<Applied<'_>, Error> {
        Ok(Applied { simulation: self, index: self.find(which.into())? })
    }
}

impl<'a> Held<'a> {
    /// Its handle; none where the program added it to the definition.
    pub fn handle(&self) -> Option<PrescriptionHandle> {
        self.simulation.handle(self.index)
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.simulation.core.model().held_names[self.index]
    }

    /// Force of the support on the vertices in the last step, N; zero where they were not held.
    pub fn force(&self) -> Vec3 {
        self.simulation.core.state().held_forces[self.index][0]
    }

    /// Moment of this force about a point, N m.
    pub fn torque(&self, about: impl Into<Vec3>) -> Vec3 {
        moved(self.simulation.core.state().held_forces[self.index], about.into())
    }

    /// Mean displacement of the vertices since the start of the scene, m.
    pub fn displacement(&self) -> Vec3 {
        let core = &self.simulation.core;
        core.model().motions[self.index].displacement(&core.state().x)
    }
}

impl<'a> Applied<'a> {
    /// Its handle; none where the program added it to the definition.
    pub fn handle(&self) -> Option<LoadHandle> {
        self.simulation.handle(self.index)
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.simulation.core.model().load_names[self.index]
    }

    /// Its force at the end of the last step, N: of an attachment on the vertices that are attached, of a seam on its
    /// first body.
    pub fn force(&self) -> Vec3 {
        self.simulation.core.state().load_forces[self.index][0]
    }

    /// Moment of this force about a point, N m.
    pub fn torque(&self, about: impl Into<Vec3>) -> Vec3 {
        moved(self.simulation.core.state().load_forces[self.index], about.into())
    }
}

/// The moment about a point of a force with its moment about the origin, N m.
pub(super) fn moved([force, torque]: [Vec3; 2], about: Vec3) -> Vec3 {
    torque - about.cross(&force)
}
