//! What a scene needs of a model of MuJoCo, as data.

use super::Machine;
use crate::Mesh;
use standoff_linalg::Vec3;

/// What a scene needs of a model of MuJoCo besides its geometry.
#[derive(Debug, Clone, PartialEq)]
pub struct MujocoModel {
    /// Flexible bodies.
    pub flexes: Vec<Flex>,
    /// Planes that take part in contact.
    pub planes: Vec<Plane>,
    /// Bodies and joints.
    pub machine: Machine,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Time step, s.
    pub time_step: f64,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
}

/// A plane of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Its name, if it has one.
    pub name: String,
    /// A point of it, m.
    pub origin: Vec3,
    /// The side where bodies are.
    pub normal: Vec3,
    /// Sliding friction.
    pub friction: f64,
}

/// A flexible body.
#[derive(Debug, Clone, PartialEq)]
pub struct Flex {
    /// Its name.
    pub name: String,
    /// Wires, triangles or tetrahedra, where the model starts.
    pub mesh: Mesh,
    /// 1, 2 or 3 for these.
    pub dimension: usize,
    /// Radius of wires and triangles, m.
    pub radius: f64,
    /// Mass of the whole, kg.
    pub mass: f64,
    /// Young's modulus, Pa; `None` where the model gives no elasticity.
    pub young_modulus: Option<f64>,
    /// Poisson's ratio.
    pub poisson_ratio: f64,
    /// Thickness of a sheet, m; `None` where it is twice the radius.
    pub thickness: Option<f64>,
    /// Vertices that are pinned, ascending.
    pub pinned: Vec<u32>,
    /// Sliding friction.
    pub friction: f64,
    /// Whether it touches itself.
    pub self_contact: bool,
}
