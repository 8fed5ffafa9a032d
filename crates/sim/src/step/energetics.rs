//! Energies and momenta at the end of a step, for the report.

use crate::audit::allowed_inversions;
use crate::energy::Role;
use crate::energy::inelastic::NAME as INELASTIC;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::settings::Method;
use crate::state::State;
use crate::step::reactions;
use standoff_linalg::{Mat3, Vec3};

/// Kinetic energy Σ ½ m |v|² of the deformable bodies, the spin of rods included, J.
pub fn kinetic_energy(model: &Model, state: &State) -> f64 {
    let term = |i: usize| 0.5 * model.mass[i] * state.v[i].norm_squared();
    let angles = model.vertex_count()..model.mass.len();
    deformable(model).chain(angles).map(term).sum()
}

/// Σ ½ J ṡ² of the armatures of joints, J.
fn armature_energy(model: &Model, state: &State) -> f64 {
    let joints = model.joints.all.iter().zip(&state.joint_motion);
    joints.map(|(joint, past)| 0.5 * joint.armature * past.v * past.v).sum()
}

/// −Σ m g·x of the deformable bodies, J.
pub fn gravity_energy(model: &Model, state: &State) -> f64 {
    let gravity = state.controls.gravity.unwrap_or(model.gravity);
    let is_static = !model.resolved.settings.time.scheme().inertial();
    let weight = |i: usize| match model.weight_excess.get(i) {
        Some(excess) if is_static => model.mass[i] * (1.0 + excess),
        _ => model.mass[i],
    };
    deformable(model).map(|i| -weight(i) * gravity.dot(&state.x[i])).sum()
}

/// Σ m v of the deformable bodies, of bodies of revolution along the axis, kg m/s.
pub fn linear_momentum(model: &Model, state: &State) -> Vec3 {
    let sum: Vec3 = deformable(model).map(|i| model.mass[i] * state.v[i]).sum();
    model.dimension.of_whole(sum)
}

/// Σ m x × v of the deformable bodies about the origin, kg m²/s.
pub fn angular_momentum(model: &Model, state: &State) -> Vec3 {
    // that of a ring which does not turn is zero
    if model.dimension.is_axisymmetric() {
        return Vec3::zeros();
    }
    deformable(model).map(|i| model.mass[i] * state.x[i].cross(&state.v[i])).sum()
}

/// The largest ‖FᵀF − I‖ of a rigid body at `x`; none without one.
fn rigid_deformation(model: &Model, x: &[Vec3]) -> Option<f64> {
    let of = |e: usize| {
        let f = model.solids.deformation_gradient(e, x);
        (f.transpose() * f - Mat3::identity()).norm()
    };
    let rigid = model.bodies.iter().filter(|b| b.rigid);
    rigid.flat_map(|b| b.solids.clone()).map(of).reduce(f64::max)
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
    report.contacts = (it.contacts.len() + potential.constraints().loaded()) as u64;
    let gap = it.contacts.min_gap(&it.x).min(potential.constraints().min_gap());
    report.min_gap = gap.is_finite().then_some(gap);
    report.inverted = allowed_inversions(model, &state.x) as u64;
    report.rigid_deformation = rigid_deformation(model, &state.x);
    let worst = model.joints.worst(&state.x, &state.joint_coordinates);
    report.joint_error = worst.map(|(_, error)| error);
    let ratio = model.stiffness_ratio();
    report.kappa = potential.barrier().kappa * ratio;
    // the barrier-free method chooses no κ unless the barrier helps
    let settings = &model.resolved.settings;
    let acts = settings.solver.method != Method::BarrierFree || !it.contacts.is_empty();
    let limit = potential.greatest_stiffness().filter(|_| acts);
    report.kappa_limit = limit.map(|kappa| kappa * ratio);
    for t in potential.terms(&it.contacts) {
        let value = t.term.value(&it.x);
        *report.energies.entry(t.term.name().to_owned()).or_default() += value;
        match t.term.role() {
            Role::Elastic => report.elastic_energy += value,
            Role::Contact => report.contact_energy += value,
            _ => {}
        }
    }
    if !model.inelastic.is_empty() {
        let stored = model.inelastic.energy(&state.internal, &state.x);
        report.elastic_energy += stored;
        report.energies.insert(INELASTIC.to_owned(), stored);
    }
    report.kinetic_energy = kinetic_energy(model, state) + armature_energy(model, state);
    report.gravity_energy = gravity_energy(model, state);
    report.linear_momentum = linear_momentum(model, state).into();
    report.angular_momentum = angular_momentum(model, state).into();
    report.forces = reactions::report(model, state);
}
