//! The contact forces with which a simulation would begin: of surfaces that are closer than d̂ at the start.

use crate::clock::Clock;
use crate::detector::Detector;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::state::State;
use standoff_linalg::Vec3;

/// Contact at the start of a simulation, on one body.
#[derive(Debug, Clone, PartialEq)]
pub struct StartForce {
    /// Index of the body.
    pub body: usize,
    /// Sum of the magnitudes of the contact forces on its vertices, N.
    pub force: f64,
    /// Its weight, N.
    pub weight: f64,
}

/// The contact forces on the deformable bodies in the first state, with the κ of the first step; bodies without any are left
/// out. The barrier-free method has none.
pub fn start_forces(model: &Model, state: &State) -> Vec<StartForce> {
    let clock = Clock::start();
    let mut potential = IncrementalPotential::at_start(model, state, &clock);
    let mut detector = Detector::new(potential.context.d_hat);
    detector.sweep(model, &state.x, &vec![Vec3::zeros(); state.x.len()], 1.0);
    let contacts = detector.contacts(model, &state.x);
    let it = Iterate { x: state.x.clone(), contacts };
    potential.set_stiffness(&it, 0.0, &it);
    let forces = potential.contact_forces(&it);
    let on_body = |(k, body): (usize, &crate::body::Body)| {
        let vertices = body.vertices.clone();
        let force: f64 = forces[vertices.clone()].iter().map(|f| f.norm()).sum();
        let mass: f64 = model.mass[vertices].iter().sum();
        let found = StartForce { body: k, force, weight: mass * model.gravity.norm() };
        (!body.obstacle && force > 0.0).then_some(found)
    };
    model.bodies.iter().enumerate().filter_map(on_body).collect()
}
