//! What the user of a simulation sets between steps in place of what the definition says. It is part of the
//! state, so that a simulation that continues from a saved state has the bits of one that never stopped.

use crate::definition::expression::{Expression, VectorExpression};
use crate::joints::JointTarget;
use standoff_linalg::Vec3;

/// Values in place of those of the definition, from the next step on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Controls {
    /// Gravity, m/s².
    pub gravity: Option<Vec3>,
    /// The value of each of `Definition::forces`: an acceleration (m/s²), a force (N), or in the first
    /// component a pressure (Pa).
    pub loads: Vec<Option<Vec3>>,
    /// Targets of the drives of joints (`#joints`).
    pub joints: Vec<JointTarget>,
}

impl Controls {
    /// No values for `loads` loads.
    pub fn none(loads: usize) -> Self {
        Self { gravity: None, loads: vec![None; loads], joints: Vec::new() }
    }

    /// Value of load `index` of the definition in a step that ends at `end`.
    pub(crate) fn vector(&self, index: usize, load: &VectorExpression, end: f64) -> Vec3 {
        self.load(index).unwrap_or_else(|| load.at(end))
    }

    /// Value of the pressure that is load `index` of the definition in a step that ends at `end`, Pa.
    pub(crate) fn pressure(&self, index: usize, load: &Expression, end: f64) -> f64 {
        self.load(index).map_or_else(|| load.at(end), |v| v.x)
    }

    fn load(&self, index: usize) -> Option<Vec3> {
        self.loads.get(index).copied().flatten()
    }

    /// Whether they can be later ones of the simulation that starts with `start`.
    ///
    /// # Errors
    /// A sentence that says what does not fit.
    pub fn check(&self, start: &Controls) -> Result<(), String> {
        if self.loads.len() != start.loads.len() {
            return Err("another number of loads".into());
        }
        if self.joints.len() != start.joints.len() {
            return Err("another number of joints".into());
        }
        let given = self.gravity.iter().chain(self.loads.iter().flatten());
        let of_joints = self.joints.iter().flat_map(JointTarget::given);
        match given.flat_map(|v| v.iter().copied()).chain(of_joints).all(f64::is_finite) {
            true => Ok(()),
            false => Err("gravity, a load or a joint's target that was set is not finite".into()),
        }
    }
}
