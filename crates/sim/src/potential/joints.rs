//! All energies of joints in a step.

use crate::context::StepContext;
use crate::definition::expression::Expression;
use crate::definition::{DriveDef, JointSpring};
use crate::energy::{Role, Term};
use crate::joints::{
    AlongTerm, Capped, CouplingTerm, Efforts, Joint, JointTarget, JointTerm, Joints, Law, POINTS,
    Tendon,
};
use crate::past::Past;
use crate::state::State;
use crate::thresholds::JOINT_OPENING;
use standoff_linalg::Vec3;

/// The energies of joints in a step, with their multipliers.
#[derive(Debug, Clone)]
pub struct JointEnergies<'a> {
    joints: &'a Joints,
    equations: JointTerm<'a>,
    couplings: CouplingTerm<'a>,
    limits: AlongTerm<'a>,
    drives: AlongTerm<'a>,
    springs: AlongTerm<'a>,
    resistance: AlongTerm<'a>,
    /// Angles and displacements of all joints at the last iterate.
    coordinates: Vec<[f64; 2]>,
}

impl<'a> JointEnergies<'a> {
    /// The energies in a step from `state`.
    pub fn new(context: &StepContext<'a>, state: &State) -> Self {
        let joints = &context.model.joints;
        let all = joints.all.as_slice();
        // constraints are weighed as contact is, whatever the integrator makes of other energies
        let weight = context.contact_scale / context.elastic_scale;
        let start = joints.main(&state.joint_coordinates);
        let (own, of_couplings) = state.joint_multipliers.split_at(joints.own_row_count());
        let limited = (0..joints.count())
            .filter_map(|k| joints.limits(k).map(|limits| (k, Law::Limits(limits))));
        let [driven, sprung, resisted] = capped_laws(context, state, &start);
        let mut laws = vec![Vec::new(); joints.count()];
        let limited: Vec<(usize, Law)> = limited.collect();
        limited.iter().for_each(|(k, law)| laws[*k].push((weight, *law)));
        for (k, law) in driven.iter().chain(&sprung).chain(&resisted) {
            laws[*k].push((1.0, Law::Capped(*law)));
        }
        let (near, laws) = (&start, &laws);
        let along = |name, role, own: Vec<(usize, Capped)>| {
            let own = own.into_iter().map(|(k, law)| (k, Law::Capped(law)));
            AlongTerm::new(name, role, joints, own, laws, near, 1.0)
        };
        let limits = AlongTerm::new(
            "limits of joints",
            Role::Constraint,
            joints,
            limited,
            laws,
            near,
            weight,
        );
        Self {
            joints,
            equations: JointTerm::new(all, own, weight),
            couplings: CouplingTerm::new(all, &joints.couplings, of_couplings, &start, weight),
            limits,
            drives: along("drives of joints", Role::Load, driven),
            springs: along("springs of joints", Role::Elastic, sprung),
            resistance: along("resistance of joints", Role::Damping, resisted),
            coordinates: state.joint_coordinates.clone(),
        }
    }

    /// The energies that are there.
    pub fn terms(&self) -> impl Iterator<Item = &(dyn Term + 'a)> {
        let equations: Option<&(dyn Term + 'a)> =
            (!self.equations.is_empty()).then_some(&self.equations);
        let couplings: Option<&(dyn Term + 'a)> =
            (!self.couplings.is_empty()).then_some(&self.couplings);
        let along = [&self.limits, &self.drives, &self.springs, &self.resistance];
        let along = along.into_iter().filter(|t| !t.is_empty()).map(|t| t as &(dyn Term + 'a));
        equations.into_iter().chain(couplings).chain(along)
    }

    /// The multipliers with which forces at `x` are those of the energies there, N: of the equations of joints, then of couplings.
    pub fn forces(&self, x: &[Vec3]) -> Vec<f64> {
        let mut all = self.equations.forces(x);
        all.extend(self.couplings.forces(x));
        all
    }

    /// Makes the multipliers those that act at `x`.
    pub fn tighten(&mut self, x: &[Vec3]) {
        self.equations.tighten(x);
        self.couplings.tighten(x);
    }

    /// Makes the equations' stiffness this many times as large.
    pub fn stiffen(&mut self, factor: f64) {
        self.equations.stiffen(factor);
        self.couplings.stiffen(factor);
    }

    /// The gradient of Σ ½ k c² alone, N (`#V`).
    pub fn closing_gradient(&self, x: &[Vec3]) -> Vec<Vec3> {
        let mut gradient = self.equations.closing_gradient(x);
        self.couplings.closing().add_gradient(x, &mut gradient);
        gradient
    }

    /// An iteration has ended at `x`: angles continue from there.
    pub fn follow(&mut self, x: &[Vec3]) {
        if self.coordinates.is_empty() {
            return;
        }
        self.coordinates = self.joints.coordinates(x, &self.coordinates);
        let main = self.joints.main(&self.coordinates);
        self.couplings.follow(&main);
        [&mut self.limits, &mut self.drives, &mut self.springs, &mut self.resistance]
            .into_iter()
            .for_each(|term| term.follow(&main));
    }

    /// Angles and displacements of all joints at `x`.
    pub fn coordinates(&self, x: &[Vec3]) -> Vec<[f64; 2]> {
        self.joints.coordinates(x, &self.coordinates)
    }

    /// How the coordinates of joints with an armature move after a step from `state` to `x`.
    pub fn motion(&self, x: &[Vec3], state: &State, context: &StepContext<'_>) -> Vec<Past<f64>> {
        let (scheme, h) = (context.integrator, context.h);
        let main = self.joints.main(&self.coordinates(x));
        let of = |((joint, s), past): ((&Joint, f64), &Past<f64>)| {
            if joint.armature == 0.0 || !scheme.inertial() {
                return Past::default();
            }
            let v = scheme.rate(past, s, h);
            Past { x: s, v, a: 0.0, x_previous: past.x, v_previous: past.v }
        };
        let own = self.joints.all.iter().zip(main).zip(&state.joint_motion).map(of);
        own.chain(self.joints.tendons.iter().map(|_| Past::default())).collect()
    }

    /// What acts along the coordinate of each joint at `x`.
    pub fn efforts(&self, x: &[Vec3]) -> Vec<Efforts> {
        let main = self.joints.main(&self.coordinates(x));
        let n = main.len();
        let of = |term: &AlongTerm<'_>| {
            let mut efforts = vec![0.0; n];
            term.add_efforts(&main, &mut efforts);
            efforts
        };
        let all = [&self.limits, &self.drives, &self.springs, &self.resistance];
        let [limit, drive, spring, resistance] = all.map(of);
        let mut coupling = vec![0.0; n];
        for (c, force) in self.joints.couplings.iter().zip(self.couplings.forces(x)) {
            for (j, factor) in c.joints.into_iter().zip(c.factors()) {
                coupling[j] -= force * factor;
            }
        }
        // a tendon acts on its joints as a coupling does
        for (tendon, k) in self.joints.tendons.iter().zip(self.joints.all.len()..) {
            let whole = limit[k] + drive[k] + spring[k] + resistance[k];
            tendon.parts.iter().for_each(|(joint, factor)| coupling[*joint] += factor * whole);
        }
        let efforts = |k: usize| Efforts {
            drive: drive[k],
            spring: spring[k],
            resistance: resistance[k],
            limit: limit[k],
            coupling: coupling[k],
        };
        (0..n).map(efforts).collect()
    }

    /// The step has ended: from now on the energies count as they are, not as the integrator weighs them.
    pub fn end_step(&mut self) {
        self.equations.weigh(1.0);
        self.couplings.weigh(1.0);
        self.limits.weigh(1.0);
    }

    /// Whether all equations hold at `x`.
    pub fn are_closed(&self, x: &[Vec3]) -> bool {
        self.joints.all.iter().all(|j| j.is_met(x, JOINT_OPENING))
            && (self.couplings.is_empty()
                || self.joints.are_coupled(&self.coordinates(x), JOINT_OPENING))
    }

    /// The greatest error of a joint at `x`, and which one that is.
    pub fn worst(&self, x: &[Vec3]) -> Option<(&Joint, f64)> {
        self.joints.worst(x, &self.coordinates(x))
    }
}

/// The laws of drives, springs and what resists in a step from `state`, where the coordinates are `start`, each with the number of its coordinate.
fn capped_laws(
    context: &StepContext<'_>,
    state: &State,
    start: &[f64],
) -> [Vec<(usize, Capped)>; 3] {
    let joints = &context.model.joints;
    let rest = rest_coordinates(context, state);
    // where the coordinates of joints with an armature would go without forces
    let free: Vec<f64> =
        state.joint_motion.iter().map(|p| context.integrator.carry_on(p, context.h)).collect();
    let (mut driven, mut sprung, mut resisted) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..joints.count() {
        let acts = Acts::of(joints, k);
        let target = state.controls.joints.get(k).copied().unwrap_or_default();
        driven.extend(acts.drive_law(&target, start[k], rest[k], context).map(|law| (k, law)));
        let spring = acts.spring.map(|JointSpring { stiffness, rest }| Capped {
            target: rest,
            slope: stiffness,
            constant: 0.0,
            cap: f64::INFINITY,
        });
        sprung.extend(spring.map(|law| (k, law)));
        let free = free.get(k).copied().unwrap_or_default();
        let resistance = acts.resistance(rest[k], free, context);
        resisted.extend(resistance.into_iter().flatten().map(|law| (k, law)));
    }
    [driven, sprung, resisted]
}

/// The coordinates of all joints at which the velocities of their bodies vanish in a step from `state`, of the joints that have one coordinate.
fn rest_coordinates(context: &StepContext<'_>, state: &State) -> Vec<f64> {
    let joints = &context.model.joints;
    let (integrator, h) = (context.integrator, context.h);
    let main = joints.main(&state.joint_coordinates);
    let of = |(joint, near): (&Joint, &f64)| {
        let mut q = [Vec3::zeros(); POINTS];
        for (q, &v) in q.iter_mut().zip(&joint.stencil) {
            *q = integrator.rest_point(state, v as usize, h);
        }
        joint.coordinate().map_or(*near, |c| c.value(&q, *near))
    };
    let mut own: Vec<f64> = joints.all.iter().zip(&main).map(of).collect();
    let sums: Vec<f64> = joints.tendons.iter().map(|t| t.sum(&own)).collect();
    own.extend(sums);
    own
}

/// What acts along the coordinate of a joint or a tendon.
#[derive(Debug, Clone, Copy)]
struct Acts<'a> {
    damping: f64,
    friction: f64,
    armature: f64,
    stick_rate: f64,
    spring: Option<JointSpring>,
    drive: Option<&'a DriveDef>,
}

impl<'a> Acts<'a> {
    fn of(joints: &'a Joints, k: usize) -> Self {
        match k.checked_sub(joints.all.len()) {
            None => {
                let Joint { damping, friction, armature, stick_rate, spring, .. } = joints.all[k];
                let drive = joints.all[k].drive.as_ref();
                Self { damping, friction, armature, stick_rate, spring, drive }
            }
            Some(tendon) => {
                let Tendon { damping, friction, stick_rate, spring, .. } = joints.tendons[tendon];
                let drive = joints.tendons[tendon].drive.as_ref();
                Self { damping, friction, armature: 0.0, stick_rate, spring, drive }
            }
        }
    }

    /// The drive's force in a step from the coordinate `start`, of which the rate vanishes at `rest`, with `target` in place of what the definition
    /// says; none without a drive. What depends on rates has no part in quasi-static steps.
    fn drive_law(
        &self,
        target: &JointTarget,
        start: f64,
        rest: f64,
        context: &StepContext<'_>,
    ) -> Option<Capped> {
        let drive = self.drive;
        let given = |set: Option<f64>, of: Option<&Expression>| {
            set.or_else(|| of.map(|e| e.at(context.end)))
        };
        let position = given(target.position, drive.and_then(|d| d.position.as_ref()));
        let velocity = given(target.velocity, drive.and_then(|d| d.velocity.as_ref()));
        let effort = given(target.effort, drive.and_then(|d| d.effort.as_ref()));
        if drive.is_none() && effort.is_none() {
            return None;
        }
        let stiffness = position.map_or(0.0, |_| drive.map_or(0.0, |d| d.stiffness));
        let moving = if context.integrator.inertial() { 1.0 } else { 0.0 };
        let damping = moving * drive.map_or(0.0, |d| d.damping);
        let cap = drive.map_or(f64::INFINITY, |d| d.max_effort);
        // τ = k (s* − s) + d (v* − (s − s₀)/Δ) + τ₀
        let per_rate = damping / context.integrator.friction_time(context.h);
        let slope = stiffness + per_rate;
        let at_start = stiffness * (position.unwrap_or(start) - start)
            + per_rate * (rest - start)
            + damping * velocity.unwrap_or(0.0)
            + effort.unwrap_or(0.0);
        Some(match slope > 0.0 {
            true => Capped { target: start + at_start / slope, slope, constant: 0.0, cap },
            false => Capped { target: start, slope: 0.0, constant: at_start, cap },
        })
    }

    /// What brakes the coordinate in a step in which its rate vanishes at `rest`, damping and dry friction, and what keeps it going to where it would be
    /// without forces, `free`: the inertia of the armature, ½ J (s − s̃)² as of a vertex.
    fn resistance(&self, rest: f64, free: f64, context: &StepContext<'_>) -> [Option<Capped>; 3] {
        let time = context.integrator.friction_time(context.h);
        let brake = |slope: f64, cap: f64| Capped { target: rest, slope, constant: 0.0, cap };
        let moves = context.integrator.inertial() && self.damping > 0.0;
        let damping = moves.then(|| brake(self.damping / time, f64::INFINITY));
        let friction = (self.friction > 0.0)
            .then(|| brake(self.friction / (time * self.stick_rate), self.friction));
        let inertial = context.integrator.inertial() && self.armature > 0.0;
        let slope = self.armature / context.elastic_scale;
        let armature =
            inertial.then_some(Capped { target: free, slope, constant: 0.0, cap: f64::INFINITY });
        [damping, friction, armature]
    }
}
