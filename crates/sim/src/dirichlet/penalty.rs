//! The augmented Lagrangian that takes prescribed vertices to their targets where something is in the
//! way [Li 2020, suppl. E].

use super::targets::DirichletTargets;
use crate::energy::{Projection, Role, Term};
use crate::rails::Rails;
use crate::thresholds::{
    ARRIVED, CONSTRAINT_STIFFNESS, ENOUGH_PROGRESS, IDLE_UPDATES, NOTICEABLE, PATIENCE, SHRUNK,
    SLOW_ITERATIONS,
};
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::Stencils;
use std::ops::Range;

/// What has become of constraints after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// The vertices are where they have to be.
    Arrived,
    /// The constraints were tightened.
    Tightened,
    /// They pull as before.
    On,
    /// They have long brought the vertices no closer.
    Blocked,
}

/// The equality constraints x_k = x̂_k of the moving prescribed vertices as an energy
///
/// Σ_k κ_A/2 m_k ‖x_k − x̂_k‖² − √m_k λ_k·(x_k − x̂_k)   [Li 2020, suppl. Eq. 4],
///
/// in the units of the incremental potential (not scaled by s).
#[derive(Debug, Clone)]
pub struct DirichletPenalty {
    /// The moving vertices.
    pub vertices: Vec<u32>,
    /// Their targets x̂, m.
    targets: Vec<Vec3>,
    /// Of vertices that are prescribed in some directions only, those in which they are pulled.
    rails: Rails,
    /// Their weights: masses, kg; in quasi-static steps stiffnesses, N/m.
    mass: Vec<f64>,
    /// Their multipliers λ, √kg m.
    multipliers: Vec<Vec3>,
    /// κ_A.
    stiffness: f64,
    /// Σ ‖x̂ − xⁿ‖², m².
    distance2_at_start: f64,
    /// Updates since the progress last grew by `NOTICEABLE`.
    idle_updates: usize,
    /// The progress then.
    idle_since: f64,
    /// Iterations since the rest of the way last shrank to `SHRUNK` of itself.
    slow_iterations: usize,
    /// The rest of the way then.
    rest: f64,
}

impl DirichletPenalty {
    /// Constraints for `targets.moving` with the weight of each vertex (its mass, kg), with zero
    /// multipliers and stiffness 1e6; `x` are the positions at the start of the step. Vertices with `rails` are pulled in the directions in which these hold.
    pub fn new(
        targets: &DirichletTargets,
        rails: Rails,
        weight: impl Fn(usize) -> f64,
        x: &[Vec3],
    ) -> Self {
        let vertices = targets.moving.clone();
        let mass = vertices.iter().map(|&v| weight(v as usize)).collect();
        let targets: Vec<Vec3> = vertices.iter().map(|&v| targets.x[v as usize]).collect();
        Self {
            distance2_at_start: distance2(&vertices, &targets, &rails, x),
            multipliers: vec![Vec3::zeros(); vertices.len()],
            vertices,
            targets,
            rails,
            mass,
            stiffness: CONSTRAINT_STIFFNESS[0],
            idle_updates: 0,
            idle_since: 0.0,
            slow_iterations: 0,
            rest: 1.0,
        }
    }

    /// Moves the vertices to their targets.
    pub fn place(&self, x: &mut [Vec3]) {
        for (k, &v) in self.vertices.iter().enumerate() {
            match self.rails.of(v) {
                None => x[v as usize] = self.targets[k],
                Some(_) => x[v as usize] -= self.off(k, x),
            }
        }
    }

    /// From where vertex number `k` has to be to where it is at `x`, m.
    fn off(&self, k: usize, x: &[Vec3]) -> Vec3 {
        let v = self.vertices[k];
        self.rails.held_part(v, x[v as usize] - self.targets[k])
    }

    /// Progress η_A = 1 − √(Σ‖x̂ − x‖² / Σ‖x̂ − xⁿ‖²) [Li 2020, suppl. Eq. 5].
    pub fn progress(&self, x: &[Vec3]) -> f64 {
        if self.distance2_at_start == 0.0 {
            return 1.0;
        }
        1.0 - (distance2(&self.vertices, &self.targets, &self.rails, x) / self.distance2_at_start)
            .sqrt()
    }

    /// The vertex furthest from its target and that distance, m.
    pub fn furthest(&self, x: &[Vec3]) -> Option<(u32, f64)> {
        let distance = |k: usize| (self.vertices[k], self.off(k, x).norm());
        let all = (0..self.vertices.len()).map(distance);
        all.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// After an iteration to `x`: tightens the constraints where the minimisation has settled under the present ones, or `coarsely`,
    /// or where it has long brought the vertices hardly closer.
    pub fn pull(&mut self, x: &[Vec3], settled: bool, coarsely: bool) -> Pulled {
        let progress = self.progress(x);
        if progress >= ARRIVED {
            return Pulled::Arrived;
        }
        if self.is_too_slow(progress) || settled && self.is_blocked(progress) {
            return Pulled::Blocked;
        }
        let long = self.slow_iterations > 0 && self.slow_iterations.is_multiple_of(PATIENCE);
        if !settled && !coarsely && !long {
            return Pulled::On;
        }
        self.update(x);
        Pulled::Tightened
    }

    /// Stiffens the penalty or updates the multipliers [Li 2020, suppl. Alg. 1].
    fn update(&mut self, x: &[Vec3]) {
        if self.progress(x) < ENOUGH_PROGRESS && self.stiffness < CONSTRAINT_STIFFNESS[1] {
            self.stiffness *= 2.0;
            return;
        }
        for k in 0..self.vertices.len() {
            let r = self.off(k, x);
            self.multipliers[k] -= self.stiffness * self.mass[k].sqrt() * r;
        }
    }

    /// Notes the progress after an iteration; whether the vertices have long come hardly closer to their
    /// targets, whatever the minimisation under the present multipliers still changes elsewhere.
    fn is_too_slow(&mut self, progress: f64) -> bool {
        let rest = 1.0 - progress;
        if rest < SHRUNK * self.rest {
            (self.slow_iterations, self.rest) = (0, rest);
        } else {
            self.slow_iterations += 1;
        }
        self.slow_iterations > SLOW_ITERATIONS
    }

    /// Notes the progress before an update; whether updates have long brought the vertices no closer to
    /// their targets.
    fn is_blocked(&mut self, progress: f64) -> bool {
        if progress > self.idle_since + NOTICEABLE {
            (self.idle_updates, self.idle_since) = (0, progress);
        } else {
            self.idle_updates += 1;
        }
        self.idle_updates > IDLE_UPDATES
    }
}

impl Term for DirichletPenalty {
    fn name(&self) -> &str {
        "prescribed motion"
    }

    fn role(&self) -> Role {
        Role::Constraint
    }

    fn stencils(&self) -> Stencils<'_> {
        self.vertices.iter().map(|&v| [v]).collect()
    }

    fn value(&self, x: &[Vec3]) -> f64 {
        let term = |k: usize| {
            let r = self.off(k, x);
            0.5 * self.stiffness * self.mass[k] * r.norm_squared()
                - self.mass[k].sqrt() * self.multipliers[k].dot(&r)
        };
        (0..self.vertices.len()).map(term).sum()
    }

    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for k in 0..self.vertices.len() {
            let v = self.vertices[k] as usize;
            gradient[v] += self.stiffness * self.mass[k] * self.off(k, x)
                - self.mass[k].sqrt() * self.multipliers[k];
        }
    }

    /// κ_A m_k I, or κ_A m_k times the projection onto the prescribed directions.
    fn hessians(&self, range: Range<usize>, _: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        for (k, out) in range.zip(out) {
            let free = self.rails.of(self.vertices[k]).copied().unwrap_or_default();
            *out = (Mat3::identity() - free) * (self.stiffness * self.mass[k]);
        }
    }
}

fn distance2(vertices: &[u32], targets: &[Vec3], rails: &Rails, x: &[Vec3]) -> f64 {
    let left = |(v, target): (&u32, &Vec3)| rails.held_part(*v, target - x[*v as usize]);
    vertices.iter().zip(targets).map(left).map(|left| left.norm_squared()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vertex on its way from 0 to 1 m, constrained at the start.
    fn penalty() -> DirichletPenalty {
        let x = vec![Vec3::x()];
        let (prescribed, moving, ended) = (vec![true], vec![0], Vec::new());
        let rails = Rails::default();
        let targets = DirichletTargets { prescribed, x, rails, moving, ended };
        DirichletPenalty::new(&targets, Rails::default(), |_| 1.0, &[Vec3::zeros()])
    }

    /// Of iterations that neither settle nor come closer, every hundredth tightens the constraints, until the motion counts as blocked.
    #[test]
    fn slow_iterations_tighten_constraints_before_they_count_as_blocked() {
        let mut penalty = penalty();
        let x = [Vec3::x() * 0.5];
        let found: Vec<Pulled> =
            (0..=SLOW_ITERATIONS + 1).map(|_| penalty.pull(&x, false, false)).collect();
        for (k, pulled) in found.iter().enumerate() {
            let wanted = match k {
                _ if k > SLOW_ITERATIONS => Pulled::Blocked,
                _ if k > 0 && k % PATIENCE == 0 => Pulled::Tightened,
                _ => Pulled::On,
            };
            assert_eq!(*pulled, wanted, "iteration {k}");
        }
        assert_eq!(penalty.stiffness, 1.28e8, "doubled until it is above 1e8");
    }
}
