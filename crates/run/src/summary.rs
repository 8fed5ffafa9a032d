//! The table that closes a run.

use standoff_sim::report::{PhaseSeconds, StepCuts, StepOutcome, StepReport};
use std::fmt;

/// Strain of rigid bodies from which on a summary warns.
const MOST_STRAIN: f64 = 1e-4;

/// Totals over the steps of a run; `Display` is the closing table.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Steps done.
    pub steps: u64,
    /// Time reached, s.
    pub time: f64,
    /// Newton iterations in all, and in the step with most.
    pub newton_iterations: (u64, u64),
    /// Iterations of the linear solver.
    pub linear_iterations: u64,
    /// Largest number of contacts at the end of a step.
    pub max_contacts: u64,
    /// Smallest gap at the end of a step, m.
    pub min_gap: Option<f64>,
    /// The greatest deformation ‖FᵀF − I‖ of a rigid body at the end of a step; none without rigid bodies.
    pub rigid_deformation: Option<f64>,
    /// The greatest error of a joint at the end of a step, in terms of the radius of its smaller body; none without joints.
    pub joint_error: Option<f64>,
    /// Steps that ended with inverted elements, which the scene allows, and most of them in a step.
    pub inverted: (u64, u64),
    /// The greatest imbalance of forces at the end of a step, with its residual, N, and the number of the step.
    pub imbalance: (f64, f64, u64),
    /// The body whose elements have the greatest estimated error of their stresses at the end, with that error; in quasi-static scenes, and where recovered stresses
    /// are written.
    pub stress_error: Option<(String, f64)>,
    /// Cuts of the step length.
    pub step_cuts: StepCuts,
    /// Wall time by phase, s.
    pub seconds: PhaseSeconds,
    /// Steps that did not end well, by outcome, in order of appearance.
    pub failures: Vec<(StepOutcome, u64)>,
    /// The first of these steps by its number, and where it is furthest from its minimum, in words.
    pub first_failure: Option<(u64, String)>,
    /// Steps that the barrier solver finished after the barrier-free solver had begun them.
    pub finished_by_barrier: u64,
    /// Steps that ended in a saddle, and the first of them.
    pub saddles: (u64, u64),
    /// Kinetic, elastic and gravity energy at the end, J.
    pub energies: [f64; 3],
    /// Whether an error ended the run before its last step.
    pub stopped: bool,
}

impl Summary {
    /// Adds a step.
    pub fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        self.time = report.time;
        self.newton_iterations.0 += report.newton_iterations;
        self.newton_iterations.1 = self.newton_iterations.1.max(report.newton_iterations);
        self.linear_iterations += report.linear_iterations;
        self.max_contacts = self.max_contacts.max(report.contacts);
        self.min_gap = match (self.min_gap, report.min_gap) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let greater = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        self.rigid_deformation = greater(self.rigid_deformation, report.rigid_deformation);
        self.joint_error = greater(self.joint_error, report.joint_error);
        if report.imbalance > self.imbalance.0 {
            self.imbalance = (report.imbalance, report.imbalance_force, report.step);
        }
        self.inverted.0 += u64::from(report.inverted > 0);
        self.inverted.1 = self.inverted.1.max(report.inverted);
        self.step_cuts.ccd += report.step_cuts.ccd;
        self.step_cuts.inversion += report.step_cuts.inversion;
        self.step_cuts.strain += report.step_cuts.strain;
        self.step_cuts.line_search += report.step_cuts.line_search;
        self.step_cuts.audit += report.step_cuts.audit;
        for (total, (_, part)) in phases_mut(&mut self.seconds).zip(phases(&report.seconds)) {
            *total += part;
        }
        self.seconds.total += report.seconds.total;
        self.finished_by_barrier += u64::from(report.fallback.is_some());
        if report.saddle {
            let (count, first) = self.saddles;
            self.saddles = (count + 1, if count == 0 { report.step } else { first });
        }
        if !report.outcome.is_success() {
            if self.first_failure.is_none() {
                self.first_failure = Some((report.step, report.unmet.clone().unwrap_or_default()));
            }
            match self.failures.iter_mut().find(|(outcome, _)| *outcome == report.outcome) {
                Some((_, count)) => *count += 1,
                None => self.failures.push((report.outcome, 1)),
            }
        }
        self.energies = [report.kinetic_energy, report.elastic_energy, report.gravity_energy];
    }

    /// Whether every step was done and ended well.
    pub fn is_success(&self) -> bool {
        self.failures.is_empty() && !self.stopped
    }
}

fn phases(s: &PhaseSeconds) -> [(&'static str, f64); 9] {
    [
        ("broad phase", s.broad_phase),
        ("collision detection", s.ccd),
        ("contact", s.contact),
        ("elasticity", s.elasticity),
        ("assembly", s.assembly),
        ("ordering, symbolic", s.symbolic),
        ("factorisation", s.factorisation),
        ("solve", s.solve),
        ("audit", s.audit),
    ]
}

fn phases_mut(s: &mut PhaseSeconds) -> impl Iterator<Item = &mut f64> {
    [
        &mut s.broad_phase,
        &mut s.ccd,
        &mut s.contact,
        &mut s.elasticity,
        &mut s.assembly,
        &mut s.symbolic,
        &mut s.factorisation,
        &mut s.solve,
        &mut s.audit,
    ]
    .into_iter()
}

impl fmt::Display for Summary {
    // long: a row for each figure
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<22} {value}");
        let per_step = self.newton_iterations.0 as f64 / self.steps.max(1) as f64;
        row("steps", format!("{} (to t = {:.6} s)", self.steps, self.time))?;
        row(
            "Newton iterations",
            format!(
                "{} ({per_step:.1} per step, at most {})",
                self.newton_iterations.0, self.newton_iterations.1
            ),
        )?;
        row("linear iterations", self.linear_iterations.to_string())?;
        row("contacts, at most", self.max_contacts.to_string())?;
        let gap = self.min_gap.map_or("no contact".into(), |gap| format!("{gap:.4e} m"));
        row("smallest gap", gap)?;
        if let Some(deformation) = self.rigid_deformation {
            // strain is half of FᵀF − I
            let strain = 0.5 * deformation;
            let warning = match strain > MOST_STRAIN {
                true => ": they are not rigid, and moments on them are off by about as much",
                false => "",
            };
            row("rigid bodies", format!("strained by at most {strain:.1e}{warning}"))?;
        }
        if let Some(error) = self.joint_error {
            row("joints", format!("open by at most {error:.1e} of the radius of a body"))?;
        }
        let (part, force, step) = self.imbalance;
        let of = format!("at most {part:.1e} of the forces on a body, {force:.1e} N (step {step})");
        row("forces unbalanced", of)?;
        if let Some((body, error)) = &self.stress_error {
            let percent = 100.0 * error;
            let of = format!("{percent:.1} % from those recovered at vertices, in '{body}'");
            row("stresses of elements", of)?;
        }
        let cuts = &self.step_cuts;
        row(
            "step cuts",
            format!(
                "{} collision, {} inversion, {} strain, {} line search, {} audit",
                cuts.ccd, cuts.inversion, cuts.strain, cuts.line_search, cuts.audit
            ),
        )?;
        if self.inverted.0 > 0 {
            let (steps, most) = self.inverted;
            row("inverted, allowed", format!("in {steps} steps, at most {most} elements"))?;
        }
        if self.saddles.0 > 0 {
            let (count, first) = self.saddles;
            row(
                "ended in a saddle",
                format!("{count} of {} steps, first step {first}", self.steps),
            )?;
        }
        if self.finished_by_barrier > 0 {
            let of = format!("{} of {} steps", self.finished_by_barrier, self.steps);
            row("finished by barrier", of)?;
        }
        let [kinetic, elastic, gravity] = self.energies;
        row(
            "energy at the end",
            format!("{kinetic:.4e} J kinetic, {elastic:.4e} J elastic, {gravity:.4e} J gravity"),
        )?;
        let total = self.seconds.total;
        row("wall time of steps", format!("{total:.2} s"))?;
        let listed: f64 = phases(&self.seconds).iter().map(|(_, s)| s).sum();
        let rest = ("other", (total - listed).max(0.0));
        for (name, seconds) in phases(&self.seconds).into_iter().chain([rest]) {
            if seconds > 0.005 * total {
                let share = 100.0 * seconds / total;
                row(&format!("  {name}"), format!("{seconds:.2} s  {share:4.1} %"))?;
            }
        }
        if self.stopped {
            row("outcome", format!("stopped by an error after {} steps", self.steps))?;
        } else if self.failures.is_empty() {
            row("outcome", "every step converged".into())?;
        }
        for (outcome, count) in &self.failures {
            row("outcome", format!("{count} steps: {}", outcome.describe()))?;
        }
        Ok(())
    }
}
