//! Bodies and half-spaces of a simulation.

use super::Simulation;
use super::forces::{Contact, moved};
use crate::error::Error;
use crate::handle::{BodyHandle, HalfSpaceHandle};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::Rotation3;
use standoff_sim::ControlError;
use standoff_sim::contact::Party;
use standoff_sim::definition::BodyKind;
use std::ops::Range;

/// A body of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) index: usize,
}

impl<'a> Body<'a> {
    fn part<T>(&self, all: &'a [T]) -> &'a [T] {
        &all[self.vertices()]
    }

    /// Its handle; none where the program added it to the definition.
    pub fn handle(&self) -> Option<BodyHandle> {
        self.simulation.handle(self.index)
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.simulation.core.model().bodies[self.index].name
    }

    /// Its vertices in the numbering of the whole scene.
    pub fn vertices(&self) -> Range<usize> {
        self.simulation.core.model().bodies[self.index].vertices.clone()
    }

    /// Whether it is an obstacle, which moves as it is told.
    pub fn is_obstacle(&self) -> bool {
        self.simulation.core.model().bodies[self.index].obstacle
    }

    /// What it consists of: elements, with indices within the body, and material.
    pub fn kind(&self) -> &'a BodyKind {
        &self.simulation.scene().definition.bodies[self.index].kind
    }

    /// Positions of the undeformed body, m (`#V`).
    pub fn rest(&self) -> &'a [Vec3] {
        &self.simulation.scene().definition.bodies[self.index].rest
    }

    /// Masses of its vertices, kg (`#V`); those of an obstacle are fictitious.
    pub fn masses(&self) -> &'a [f64] {
        self.part(&self.simulation.core.model().mass)
    }

    /// Positions, m (`#V`).
    pub fn positions(&self) -> &'a [Vec3] {
        self.part(self.simulation.positions())
    }

    /// Velocities, m/s (`#V`).
    pub fn velocities(&self) -> &'a [Vec3] {
        self.part(self.simulation.velocities())
    }

    /// Contact and friction forces on its vertices at the end of the last step, N (`#V`).
    pub fn contact_forces(&self) -> &'a [Vec3] {
        self.part(self.simulation.contact_forces())
    }

    /// Where its prescribed vertices have to be, m (`#V`); where they are, of the others.
    pub fn targets(&self) -> &'a [Vec3] {
        self.part(&self.simulation.core.state().targets)
    }

    /// Sum of the contact and friction forces on it, N.
    pub fn force(&self) -> Vec3 {
        self.contact_forces().iter().sum()
    }

    /// Torque of the contact and friction forces on it about a point, Σ (x − p) × f, N m.
    pub fn torque(&self, about: impl Into<Vec3>) -> Vec3 {
        let about = about.into();
        let pairs = self.positions().iter().zip(self.contact_forces());
        pairs.map(|(x, f)| (x - about).cross(f)).sum()
    }

    /// What a body, an obstacle or a half-space, by name, acts with on it by contact and friction; zero where they do not touch.
    ///
    /// # Errors
    /// [`Error::Control`] with the names that there are.
    pub fn contact_with(&self, other: &str) -> Result<Contact, Error> {
        self.simulation.contact(Party::Body(self.index as u32), other)
    }

    /// Centre of mass, m; of an obstacle the mean of its vertices.
    pub fn centre(&self) -> Vec3 {
        let x = self.positions();
        if self.is_obstacle() {
            return x.iter().sum::<Vec3>() / x.len() as f64;
        }
        let m = self.masses();
        x.iter().zip(m).map(|(x, m)| x * *m).sum::<Vec3>() / m.iter().sum::<f64>()
    }
}

/// A rigid motion x ↦ R x + t.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pose {
    /// R turns by the length of this vector, rad, about its direction, through the origin.
    pub rotation: Vec3,
    /// t, m.
    pub translation: Vec3,
}

/// A body of a simulation that can be told what to do.
#[derive(Debug)]
pub struct BodyMut<'a> {
    pub(super) simulation: &'a mut Simulation,
    pub(super) index: usize,
}

impl BodyMut<'_> {
    /// The body to look at.
    pub fn as_ref(&self) -> Body<'_> {
        Body { simulation: self.simulation, index: self.index }
    }

    fn check_length(&self, what: &'static str, found: usize) -> Result<(), ControlError> {
        let body = self.as_ref();
        let (expected, name) = (body.vertices().len(), body.name().to_owned());
        match found == expected {
            true => Ok(()),
            false => Err(ControlError::Length { what, name, found, expected }),
        }
    }

    /// Sets the positions of its vertices, m (`#V`). They are checked as those of a start are. The vertices keep their
    /// velocities, as if they had moved with them uniformly up to now; prescribed ones stay where they are put, and motions of
    /// the scene continue there. Rods have no twist beyond their natural one, as at a start. The positions of a rigid body
    /// include its control points. The same positions change nothing.
    ///
    /// # Errors
    /// [`Error::Control`], and nothing is changed, for another number of positions, what is not finite, and positions in which
    /// surfaces intersect or an element is inverted.
    pub fn set_positions(&mut self, positions: &[Vec3]) -> Result<(), Error> {
        self.check_length("positions", positions.len())?;
        let first = self.as_ref().vertices().start;
        Ok(self.simulation.core.set_positions(first, positions)?)
    }

    /// Sets the velocities of its vertices, m/s (`#V`).
    ///
    /// # Errors
    /// [`Error::Control`] for another number of velocities, an obstacle, or what is not finite.
    pub fn set_velocities(&mut self, velocities: &[Vec3]) -> Result<(), Error> {
        self.check_length("velocities", velocities.len())?;
        let first = self.as_ref().vertices().start;
        Ok(self.simulation.core.set_velocities(first, velocities)?)
    }

    /// Sets the velocity of all its vertices, m/s.
    ///
    /// # Errors
    /// As [`set_velocities`](Self::set_velocities).
    pub fn set_velocity(&mut self, velocity: impl Into<Vec3>) -> Result<(), Error> {
        let all = vec![velocity.into(); self.as_ref().vertices().len()];
        self.set_velocities(&all)
    }

    /// Sets where its vertices have to be at the end of the next step, m (`#V`): of an obstacle, or of a body
    /// all of whose vertices are held. They stay there until they are told otherwise. What is in their way
    /// is pushed; where it cannot give way, the step fails and says what blocks it.
    ///
    /// # Errors
    /// [`Error::Control`] for another number of targets, a vertex that is free, or what is not finite.
    pub fn set_targets(&mut self, targets: &[Vec3]) -> Result<(), Error> {
        self.check_length("targets", targets.len())?;
        let vertices: Vec<u32> = self.as_ref().vertices().map(|v| v as u32).collect();
        Ok(self.simulation.core.set_targets(&vertices, targets)?)
    }

    /// Moves its targets by a vector, m.
    ///
    /// # Errors
    /// As [`set_targets`](Self::set_targets).
    pub fn move_by(&mut self, displacement: impl Into<Vec3>) -> Result<(), Error> {
        let displacement = displacement.into();
        let targets: Vec<Vec3> = self.as_ref().targets().iter().map(|x| x + displacement).collect();
        self.set_targets(&targets)
    }

    /// Sets its targets to a rigid motion of where the scene places it.
    ///
    /// # Errors
    /// As [`set_targets`](Self::set_targets).
    pub fn set_pose(&mut self, pose: Pose) -> Result<(), Error> {
        let turn = Rotation3::new(pose.rotation).into_inner();
        let definition = &self.simulation.scene().definition.bodies[self.index];
        let start = if definition.start.is_empty() { &definition.rest } else { &definition.start };
        let targets: Vec<Vec3> = start.iter().map(|x| turn * x + pose.translation).collect();
        self.set_targets(&targets)
    }
}

/// A half-space of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct HalfSpace<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) index: usize,
}

impl<'a> HalfSpace<'a> {
    /// Its handle; none where the program added it to the definition.
    pub fn handle(&self) -> Option<HalfSpaceHandle> {
        self.simulation.handle(self.index)
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.simulation.core.model().half_space_names[self.index]
    }

    /// Sum of the contact and friction forces on it at the end of the last step, N.
    pub fn force(&self) -> Vec3 {
        self.simulation.core.state().half_space_forces[self.index][0]
    }

    /// Torque of these forces about a point, N m.
    pub fn torque(&self, about: impl Into<Vec3>) -> Vec3 {
        moved(self.simulation.core.state().half_space_forces[self.index], about.into())
    }

    /// What a body or an obstacle, by name, acts with on it by contact and friction; zero where they do not touch.
    ///
    /// # Errors
    /// [`Error::Control`] with the names that there are.
    pub fn contact_with(&self, other: &str) -> Result<Contact, Error> {
        self.simulation.contact(Party::HalfSpace(self.index as u32), other)
    }
}
