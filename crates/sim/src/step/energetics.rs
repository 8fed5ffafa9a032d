//! Energies and momenta of a state, for the report.

use crate::energy::spring;
use crate::model::Model;
use crate::potential::thin_at;
use crate::report::StepReport;
use crate::state::State;
use standoff_linalg::Vec3;

/// Kinetic energy Σ ½ m |v|² of the deformable bodies, the spin of rods included, J.
pub fn kinetic_energy(model: &Model, state: &State) -> f64 {
    let term = |i: usize| 0.5 * model.mass[i] * state.v[i].norm_squared();
    let angles = model.vertex_count()..model.mass.len();
    deformable(model).chain(angles).map(term).sum()
}

/// −Σ m g·x of the deformable bodies, J.
pub fn gravity_energy(model: &Model, state: &State) -> f64 {
    deformable(model).map(|i| -model.mass[i] * model.gravity.dot(&state.x[i])).sum()
}

/// Σ m v of the deformable bodies, kg m/s.
pub fn linear_momentum(model: &Model, state: &State) -> Vec3 {
    deformable(model).map(|i| model.mass[i] * state.v[i]).sum()
}

/// Σ m x × v of the deformable bodies about the origin, kg m²/s.
pub fn angular_momentum(model: &Model, state: &State) -> Vec3 {
    deformable(model).map(|i| model.mass[i] * state.x[i].cross(&state.v[i])).sum()
}

fn deformable(model: &Model) -> impl Iterator<Item = usize> {
    (0..model.vertex_count()).filter(|&i| model.deformable[i])
}

/// Fills the energies and momenta of a report.
pub(crate) fn record(model: &Model, state: &State, report: &mut StepReport) {
    report.time = state.time;
    report.kinetic_energy = kinetic_energy(model, state);
    // attachments act in the whole step that they act in at its start
    let start = state.step.saturating_sub(1) as f64 * model.resolved.h;
    report.elastic_energy = model.elastic.value(&state.x)
        + thin_at(model, state).value(&state.x)
        + spring::value(&model.loads.springs, start, &state.x);
    report.gravity_energy = gravity_energy(model, state);
    report.linear_momentum = linear_momentum(model, state).into();
    report.angular_momentum = angular_momentum(model, state).into();
}
