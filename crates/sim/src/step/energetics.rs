//! Energies and momenta at the end of a step, for the report.

use crate::audit::allowed_inversions;
use crate::contact::potential::BarrierPairs;
use crate::energy::Element;
use crate::energy::hinge::Hinge;
use crate::energy::membrane::Membrane;
use crate::energy::plane_strain::PlaneStrain;
use crate::energy::rod_joint::RodJoint;
use crate::energy::segment::Segment;
use crate::energy::shape_operator::ShapeOperator;
use crate::energy::spring::Attachments;
use crate::energy::tet::Tet;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::state::State;
use crate::step::reactions;
use standoff_linalg::Vec3;

/// Kinetic energy Σ ½ m |v|² of the deformable bodies, the spin of rods included, J.
pub fn kinetic_energy(model: &Model, state: &State) -> f64 {
    let term = |i: usize| 0.5 * model.mass[i] * state.v[i].norm_squared();
    let angles = model.vertex_count()..model.mass.len();
    deformable(model).chain(angles).map(term).sum()
}

/// −Σ m g·x of the deformable bodies, J.
pub fn gravity_energy(model: &Model, state: &State) -> f64 {
    let gravity = state.controls.gravity.unwrap_or(model.gravity);
    deformable(model).map(|i| -model.mass[i] * gravity.dot(&state.x[i])).sum()
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

/// Fills a report with contacts, energies and momenta at the end of a step, `state`.
pub(crate) fn record(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    state: &State,
    report: &mut StepReport,
) {
    let model = potential.context.model;
    report.time = state.time;
    report.contacts = (it.contacts.len() + potential.constraints.loaded()) as u64;
    let gap = it.contacts.min_gap(&it.x).min(potential.constraints.min_gap());
    report.min_gap = gap.is_finite().then_some(gap);
    report.inverted = allowed_inversions(model, &state.x) as u64;
    report.kappa = potential.barrier.kappa * potential.context.model.stiffness_ratio();
    for t in potential.terms(&it.contacts) {
        *report.energies.entry(t.term.name().to_owned()).or_default() += t.term.value(&it.x);
    }
    let sum = |rows: &[&str]| rows.iter().filter_map(|row| report.energies.get(*row)).sum::<f64>();
    report.contact_energy = sum(&[BarrierPairs::NAME]);
    report.elastic_energy = sum(&[Tet::NAME, PlaneStrain::NAME])
        + sum(&[Membrane::NAME, Hinge::NAME, ShapeOperator::NAME, Segment::NAME, RodJoint::NAME])
        + sum(&[Attachments::NAME]);
    report.kinetic_energy = kinetic_energy(model, state);
    report.gravity_energy = gravity_energy(model, state);
    report.linear_momentum = linear_momentum(model, state).into();
    report.angular_momentum = angular_momentum(model, state).into();
    report.forces = reactions::report(model, state);
}
