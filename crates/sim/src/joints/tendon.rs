//! Tendons: coordinates that are sums of those of joints, along which limits, springs, drives and brakes act.

use super::{Joint, Limits, POINTS};
use crate::definition::{DriveDef, JointSpring};

/// The coordinate L = Σ c s over the coordinates s of joints, rad or m as its factors have it.
#[derive(Debug, Clone)]
pub struct Tendon {
    /// Name.
    pub name: String,
    /// The joints and the factors c of their coordinates.
    pub parts: Vec<(usize, f64)>,
    /// The control points of all joints, each once.
    pub stencil: Vec<u32>,
    /// Where each joint's control points are among them.
    pub places: Vec<Vec<usize>>,
    /// Limits of the coordinate.
    pub limits: Option<Limits>,
    /// Damping of the coordinate.
    pub damping: f64,
    /// Dry friction of the coordinate.
    pub friction: f64,
    /// What pulls the coordinate back.
    pub spring: Option<JointSpring>,
    /// Rate up to which dry friction grows.
    pub stick_rate: f64,
    /// What moves the coordinate.
    pub drive: Option<DriveDef>,
}

impl Tendon {
    /// Σ c s of a value that each joint has (`#joints`).
    pub fn sum(&self, of: &[f64]) -> f64 {
        self.parts.iter().map(|(joint, factor)| factor * of[*joint]).sum()
    }
}

/// The control points of joints, each once, and where those of each joint are among them.
pub fn span(joints: &[&Joint]) -> (Vec<u32>, Vec<Vec<usize>>) {
    let mut all: Vec<u32> = Vec::with_capacity(joints.len() * POINTS);
    let mut place = |v: &u32| {
        all.iter().position(|a| a == v).unwrap_or_else(|| {
            all.push(*v);
            all.len() - 1
        })
    };
    let places = joints.iter().map(|j| j.stencil.iter().map(&mut place).collect()).collect();
    (all, places)
}
