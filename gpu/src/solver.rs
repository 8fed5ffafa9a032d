//! The linear solver.

use std::time::Instant;

use standoff_linalg::Vec3;
use standoff_sparse::{
    BlockMatrix, LinearSolver, Residuals, SolveError, SolveReport, SolveSeconds, check_matrix,
    check_vectors,
};

use crate::device::Device;
use crate::error::DeviceError;
use crate::handle::launch;
use crate::system::{Progress, State, System};
use crate::traffic::Traffic;

/// Iterations between two looks of the processor at how far the device is. Our choice: few round trips, and few launches in
/// vain at the end.
const CHECK_EVERY: u32 = 32;

/// Conjugate gradients on a device, preconditioned by the inverses of the diagonal blocks, from x = 0 until
/// ‖b − A x‖₂ ≤ tolerance ‖b‖₂ [Saad 2003, Alg. 9.1].
///
/// All numbers are f64 and all of the iteration is on the device. The bits of a solution depend on the device, as it may round
/// a product and a sum once instead of twice, but are the same in every run on it.
#[derive(Debug)]
pub struct DeviceConjugateGradient {
    device: Device,
    tolerance: f64,
    max_iterations: u32,
    check_every: u32,
    system: Option<System>,
    /// Whether the system holds the factorised matrix of the last call.
    holds_matrix: bool,
    traffic: Traffic,
}

impl DeviceConjugateGradient {
    /// On a device, to a relative residual and with so many iterations at most.
    pub fn new(device: Device, tolerance: f64, max_iterations: u32) -> Self {
        let (system, holds_matrix, traffic) = (None, false, Traffic::default());
        let check_every = CHECK_EVERY;
        Self { device, tolerance, max_iterations, check_every, system, holds_matrix, traffic }
    }

    /// With so many iterations (at least one) between two looks of the processor. Solutions are the same.
    pub fn with_check_every(mut self, iterations: u32) -> Self {
        self.check_every = iterations.max(1);
        self
    }

    /// What the last solution took.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Solves from x on, with the matrix that the device has, or with `a`, which it is then given.
    fn run(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
        give_matrix: bool,
    ) -> Result<SolveReport, SolveError> {
        let clock = Instant::now();
        self.traffic = Traffic::default();
        let mut report = SolveReport::default();
        if a.n() == 0 {
            return Ok(report);
        }
        report.analyzed = self.make_room(a).map_err(failed)?;
        let first = self.start(a, b, x, give_matrix).map_err(failed)?;
        self.holds_matrix = !matches!(first.state, State::IndefiniteBlock(_));
        let end = self.go_on(first, x)?;
        (report.iterations, report.relative_residual) =
            (end.iterations as usize, end.relative_residual);
        report.seconds =
            SolveSeconds { numeric: clock.elapsed().as_secs_f64(), ..SolveSeconds::default() };
        Ok(report)
    }

    /// Makes arrays for the matrix, if those that there are do not fit.
    fn make_room(&mut self, a: &BlockMatrix) -> Result<bool, DeviceError> {
        if self.system.as_ref().is_some_and(|s| s.fits(a.pattern())) {
            return Ok(false);
        }
        // the old arrays go first, so that both need not be there at once
        self.system = None;
        let handle = self.device.handle();
        self.system = Some(System::new(handle, a.pattern(), &mut self.traffic)?);
        Ok(true)
    }

    /// Everything up to the first look.
    fn start(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &[Vec3],
        give_matrix: bool,
    ) -> Result<Progress, DeviceError> {
        let Self { device, system, traffic, tolerance, max_iterations, .. } = self;
        let system = system.as_ref().ok_or_else(no_system)?;
        let handle = device.handle();
        system.set_limits(handle, *tolerance, *max_iterations, traffic);
        system.set_vectors(handle, x, b, traffic);
        if give_matrix {
            system.set_matrix(handle, a, traffic);
        }
        self.commands(Part { factorize: give_matrix, begin: true, iterate: true })
    }

    /// From the first look to the end.
    fn go_on(&mut self, first: Progress, x: &mut [Vec3]) -> Result<Progress, SolveError> {
        let mut now = first;
        let mut confirmed: Option<Progress> = None;
        loop {
            if !now.relative_residual.is_finite() {
                return Err(SolveError::NotFinite { what: "solution" });
            }
            match now.state {
                State::IndefiniteBlock(row) => {
                    return Err(SolveError::NotPositiveDefinite { block: row as usize });
                }
                State::NotPositive if now.curvature.is_nan() => {
                    return Err(SolveError::NotFinite { what: "solution" });
                }
                State::NotPositive => {
                    let (iteration, curvature) = (now.iterations as usize, now.curvature);
                    return Err(SolveError::NegativeCurvature { iteration, curvature });
                }
                State::Running => {
                    let part = Part { factorize: false, begin: false, iterate: true };
                    now = self.commands(part).map_err(failed)?;
                }
                // the recurrence for r drifts away from b − A x: it is computed from x
                State::Converged | State::Exhausted => {
                    now = self.confirm(x).map_err(failed)?;
                    if now.state == State::Converged {
                        return Ok(now);
                    }
                    self.may_go_on(now, confirmed)?;
                    confirmed = Some(now);
                }
            }
        }
    }

    /// Computes the residual from x, and takes x.
    fn confirm(&mut self, x: &mut [Vec3]) -> Result<Progress, DeviceError> {
        let now = self.commands(Part { factorize: false, begin: true, iterate: false })?;
        let system = self.system.as_ref().ok_or_else(no_system)?;
        system.solution(self.device.handle(), x, &mut self.traffic)?;
        Ok(now)
    }

    /// Whether to iterate further from a true residual that is too large, after another one.
    fn may_go_on(&self, now: Progress, before: Option<Progress>) -> Result<(), SolveError> {
        let stalled = before.is_some_and(|before| {
            now.iterations == before.iterations
                || now.relative_residual > 0.5 * before.relative_residual
        });
        if stalled || now.state == State::Exhausted {
            return Err(SolveError::NotConverged {
                iterations: now.iterations as usize,
                relative_residual: now.relative_residual,
                tolerance: self.tolerance,
            });
        }
        Ok(())
    }

    /// Gives commands to the device, waits, and reads how far it is: one round trip.
    fn commands(&mut self, part: Part) -> Result<Progress, DeviceError> {
        let (handle, programs) = (self.device.handle(), self.device.programs());
        let system = self.system.as_ref().ok_or_else(no_system)?;
        let mut commands = handle.commands();
        let mut pass = commands.begin_compute_pass(&Default::default());
        let mut launches = 0;
        let mut launch = |program, workgroups| {
            launches += 1;
            launch(&mut pass, program, system.bound(), workgroups);
        };
        let all = system.workgroups();
        if part.factorize {
            launch(&programs.factorize, all);
        }
        if part.begin {
            launch(&programs.residual, all);
            launch(&programs.begin, 1);
        }
        for _ in 0..if part.iterate { self.check_every } else { 0 } {
            launch(&programs.direction, all);
            launch(&programs.product, all);
            launch(&programs.step_length, 1);
            launch(&programs.update, all);
            launch(&programs.finish, 1);
        }
        drop(pass);
        system.report(&mut commands);
        if !part.iterate {
            system.offer_solution(&mut commands);
        }
        handle.submit(commands);
        self.traffic.launches += launches;
        system.progress(handle, &mut self.traffic)
    }
}

/// Which launches are made before the processor looks.
#[derive(Debug, Clone, Copy)]
struct Part {
    factorize: bool,
    begin: bool,
    iterate: bool,
}

impl LinearSolver for DeviceConjugateGradient {
    fn is_iterative(&self) -> bool {
        true
    }

    fn set_tolerance(&mut self, residuals: Residuals) {
        self.tolerance = residuals.iterative;
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.holds_matrix = false;
        check_vectors(a.n(), b, x)?;
        check_matrix(a)?;
        x.fill(Vec3::zeros());
        self.run(a, b, x, true)
    }

    fn improve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        if !self.holds_matrix {
            return self.solve(a, b, x);
        }
        check_vectors(a.n(), b, x)?;
        if !self.system.as_ref().is_some_and(|s| s.fits(a.pattern())) || !is_finite(x) {
            return self.solve(a, b, x);
        }
        self.run(a, b, x, false)
    }
}

fn is_finite(v: &[Vec3]) -> bool {
    v.iter().flatten().all(|x| x.is_finite())
}

fn failed(e: DeviceError) -> SolveError {
    SolveError::Device { problem: e.to_string() }
}

/// What no order of calls leads to.
fn no_system() -> DeviceError {
    DeviceError::Failed { reason: "it holds no system".into() }
}
