//! What most programs need: `use standoff::prelude::*;`.

pub use crate::batch::Batch;
pub use crate::build::{Object, SceneBuilder};
pub use crate::error::Error;
pub use crate::handle::{BodyHandle, HalfSpaceHandle, LoadHandle, PrescriptionHandle};
pub use crate::simulation::{LoadValue, Pose, Simulation};
pub use standoff_linalg::{Mat3, Vec3};
pub use standoff_mesh::Mesh;
pub use standoff_mesh::shape::{BoxShape, Cylinder, Plane, Rod, Shape, Sphere, Torus};
pub use standoff_run::Options;
pub use standoff_scene::Scene;
pub use standoff_scene::file::{
    AxisAngle, ElementOrder, ForceSection, Formula, MaterialSection, MotionSection, Role, Rotation,
    ShellSection,
};
pub use standoff_sim::StepReport;
pub use std::ops::ControlFlow;
