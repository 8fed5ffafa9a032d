//! What changes a potential in the course of a step: constraints on prescribed vertices, vertices that rest, the begin and the end of
//! minimisations and iterations.

use super::stiffness::Adapting;
use super::{IncrementalPotential, Resting, Strategy};
use crate::clock::Phase;
use crate::contact::ContactSet;
use crate::contact::forecast::ForecastForces;
use crate::dirichlet::{DirichletPenalty, DirichletTargets, Pulled};
use crate::energy::codim::LimitStiffening;
use crate::iterate::Iterate;
use crate::thresholds::{
    GAP_REDUCTION, JOINT_UPDATES, LEAST_CONSTRAINT_WEIGHT, STIFFENING, STIFFENINGS,
};
use standoff_linalg::Vec3;
use std::borrow::Cow;

impl IncrementalPotential<'_> {
    /// A minimisation begins.
    pub fn begin_minimisation(&mut self) {
        self.limits.begin();
        self.friction.take_secants(false);
        // friction that is updated again and again moves bodies, and opens joints, each time
        (self.followed, self.tightened, self.opening) = (0, 0, f64::INFINITY);
    }

    /// Keeps κ and the stiffness of limits as they are in the iterations to come.
    pub fn keep_parameters(&mut self) {
        self.adapting = Adapting::default();
        self.limits = LimitStiffening::exhausted();
    }

    /// An iteration has ended at `it`: adapts κ and the stiffness of limits; whether that changed the potential.
    pub fn end_iteration(&mut self, it: &Iterate) -> bool {
        self.joints.follow(&it.x);
        let stiffened = self.adapt_stiffness(it);
        let limited = self.limits_apart.as_mut().unwrap_or(&mut self.codim.membranes);
        self.limits.update(limited, &it.x) || stiffened
    }

    /// Stiffens friction in the next Newton matrix by the friction forces that the direction `p` from `it` forecasts.
    pub fn forecast_friction(&mut self, it: &Iterate, p: &[Vec3]) {
        if self.has_forecasts() {
            let friction = &mut self.friction;
            self.context.clock.time(Phase::Contact, || friction.forecast(&it.x, p));
        }
    }

    /// Stiffens `contacts` in the next Newton matrix by the normal forces that the direction `p` from `before` forecast.
    pub fn forecast_contacts(&self, before: &Iterate, p: &[Vec3], contacts: &mut ContactSet) {
        if self.has_forecasts() {
            let forecast = || ForecastForces::new(&self.barrier, &before.contacts, &before.x, p);
            self.context.clock.time(Phase::Contact, forecast).assign(contacts);
        }
    }

    fn has_forecasts(&self) -> bool {
        self.context.settings.solver.forecast_forces && self.allows(Strategy::Forecasts)
    }

    /// The step has ended: energies are those at its end. Limits of the stretch and joints, which weigh like contact until then, get
    /// the weight of their energy.
    pub fn end_step(&mut self) {
        self.codim.weigh_limits(self.context.elastic_scale / self.context.contact_scale);
        self.between = None;
        self.joints.end_step();
    }

    /// Frees all vertices that may be unknowns in some step.
    pub fn free_all(&mut self) {
        let model = self.context.model;
        let unknown = |v: usize| model.deformable[v] && !model.map.is_carried(v);
        self.free = (0..model.deformable.len()).map(unknown).collect();
    }

    /// Lets the free vertices that are not `moving` (`#V`) rest where they are: energies of elements without a moving vertex,
    /// which are constant, are left out.
    pub fn restrict(&mut self, moving: &[bool]) {
        self.lift_restriction();
        let free: Vec<bool> = self.free.iter().zip(moving).map(|(f, m)| *f && *m).collect();
        self.solids = Cow::Owned(self.solids.touching(&free));
        self.fibres = Cow::Owned(self.fibres.touching(&free));
        let codim = self.codim.touching(&free);
        let inelastic = self.inelastic.touching(&free);
        self.resting = Some(Box::new(Resting {
            inelastic: std::mem::replace(&mut self.inelastic, inelastic),
            codim: std::mem::replace(&mut self.codim, codim),
            free: std::mem::replace(&mut self.free, free),
        }));
    }

    /// Frees the vertices that rest.
    pub fn lift_restriction(&mut self) {
        if let Some(resting) = self.resting.take() {
            (self.free, self.codim, self.inelastic) =
                (resting.free, resting.codim, resting.inelastic);
            self.solids = Cow::Borrowed(&self.context.model.solids);
            self.fibres = Cow::Borrowed(&self.context.model.fibres);
        }
    }

    /// Whether some free vertices rest.
    pub fn is_restricted(&self) -> bool {
        self.resting.is_some()
    }

    /// Constrains the moving prescribed vertices to their targets instead of moving them at once.
    pub fn constrain(&mut self, targets: &DirichletTargets, x: &[Vec3]) {
        for &v in &targets.moving {
            self.free[v as usize] = true;
        }
        let moving = |v: u32| targets.moving.binary_search(&v).is_ok();
        let left = |v: u32| moving(v).then(|| targets.left_of(v, &x[v as usize]));
        let (model, time) = (self.context.model, self.context.speed_time);
        // rounding must not bring an obstacle behind the axis of revolution
        let along_axis = |&v: &u32| {
            let radii = [x, &targets.x].map(|x| x[v as usize].x);
            model.dimension.is_axisymmetric()
                && radii[0] == radii[1]
                && self.all_rails.of(v).is_none()
        };
        let along_axis = targets.moving.iter().copied().filter(along_axis);
        let (pulled, others) = self.all_rails.and_held(along_axis).split(left);
        self.rails = others;
        let mass_unit = match self.context.integrator.inertial() {
            true => 1.0,
            false => 1.0 / (time * time),
        };
        // the constraints pull at elasticity, too, which is far stiffer than inertia in long steps
        let least = LEAST_CONSTRAINT_WEIGHT * self.context.elastic_scale * model.stiffest;
        let weight = |mass: f64| (mass_unit * mass).max(least);
        self.dirichlet = Some(DirichletPenalty::new(targets, pulled, |v| weight(model.mass[v]), x));
        self.solids = Cow::Borrowed(model.guarded.as_ref().unwrap_or(&model.solids));
    }

    /// After an iteration to `x`: stops the constrained vertices once they have arrived, else tightens their constraints where the
    /// minimisation has settled under the present ones, or `coarsely`. None where nothing is constrained.
    pub fn pull(&mut self, x: &[Vec3], settled: bool, coarsely: bool) -> Option<Pulled> {
        let pulled = self.dirichlet.as_mut()?.pull(x, settled, coarsely);
        if pulled == Pulled::Arrived {
            self.release();
        }
        Some(pulled)
    }

    /// After a whole step along a direction to `x`: makes the multipliers of joints the forces that act there, if one of the joints is
    /// open; whether that changed the potential. Newton's method for positions and multipliers at once does the same.
    pub fn follow_joints(&mut self, x: &[Vec3]) -> bool {
        if self.followed == JOINT_UPDATES || self.joints.are_closed(x) {
            return false;
        }
        self.followed += 1;
        self.joints.tighten(x);
        true
    }

    /// After a minimisation that has settled at `x`: tightens the joints if one of them is still open, and stiffens them where the last time left
    /// too much of that. None where it has been done in vain too often; else whether it was done.
    pub fn tighten_joints(&mut self, x: &[Vec3]) -> Option<bool> {
        if self.joints.are_closed(x) {
            return Some(false);
        }
        self.tightened += 1;
        self.joints.tighten(x);
        let opening = self.joints.worst(x).map_or(0.0, |(_, opening)| opening);
        if opening > GAP_REDUCTION * self.opening && self.joints_stiffened < STIFFENINGS {
            self.joints_stiffened += 1;
            self.joints.stiffen(STIFFENING);
        }
        self.opening = opening;
        (self.tightened <= JOINT_UPDATES).then_some(true)
    }

    /// Stops the vertices that were constrained to their targets where they are; what constrained them.
    pub fn release(&mut self) -> Option<DirichletPenalty> {
        let penalty = self.dirichlet.take()?;
        self.rails = self.all_rails.clone();
        for &v in &penalty.vertices {
            self.free[v as usize] = self.rails.of(v).is_some();
        }
        self.solids = Cow::Borrowed(&self.context.model.solids);
        Some(penalty)
    }

    /// Takes back constraints that were released too early, for the report of a failure.
    pub fn take_back(&mut self, penalty: DirichletPenalty) {
        self.dirichlet = Some(penalty);
    }
}
