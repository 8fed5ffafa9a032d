//! Wall time by phase: reported, and compared with `solver.end.max_step_time` where that is set.

use crate::report::PhaseSeconds;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A phase of a time step; the rows of [`PhaseSeconds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Search for candidate pairs.
    BroadPhase,
    /// Continuous collision detection.
    Ccd,
    /// Sets of contacts, barrier and friction: values and derivatives.
    Contact,
    /// Elasticity and loads: values and derivatives.
    Elasticity,
    /// Assembly of the linear system.
    Assembly,
    /// Ordering and symbolic analysis.
    Symbolic,
    /// Numeric factorisation, or the iterations of an iterative solver.
    Factorisation,
    /// Triangular solves.
    Solve,
    /// Independent audit.
    Audit,
}

const PHASES: usize = Phase::Audit as usize + 1;

/// The wall time of a step so far, by phase.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    /// Of each phase, ns.
    nanoseconds: [AtomicU64; PHASES],
}

/// What `work` returns, and its wall time, s.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { start: Instant::now(), nanoseconds: Default::default() }
    }

    /// Runs `work` and adds its wall time to a phase.
    pub fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(phase, start.elapsed().as_secs_f64());
        result
    }

    /// Does two things at the same time where there are threads for both, and divides the wall time between their phases in
    /// proportion to their own.
    pub fn time_both<A: Send, B: Send>(
        &self,
        phases: [Phase; 2],
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        let start = Instant::now();
        let ((a, first), (b, second)) = rayon::join(|| timed(first), || timed(second));
        let wall = start.elapsed().as_secs_f64();
        let part = if first > 0.0 { first / (first + second) } else { 0.0 };
        self.add(phases[0], part * wall);
        self.add(phases[1], (1.0 - part) * wall);
        (a, b)
    }

    /// Adds seconds to a phase.
    pub fn add(&self, phase: Phase, seconds: f64) {
        let nanoseconds = (1e9 * seconds) as u64;
        self.nanoseconds[phase as usize].fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Wall time since the start, s.
    pub fn elapsed(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The seconds of all phases, and since the start.
    pub fn seconds(&self) -> PhaseSeconds {
        let of =
            |phase: Phase| 1e-9 * self.nanoseconds[phase as usize].load(Ordering::Relaxed) as f64;
        PhaseSeconds {
            broad_phase: of(Phase::BroadPhase),
            ccd: of(Phase::Ccd),
            contact: of(Phase::Contact),
            elasticity: of(Phase::Elasticity),
            assembly: of(Phase::Assembly),
            symbolic: of(Phase::Symbolic),
            factorisation: of(Phase::Factorisation),
            solve: of(Phase::Solve),
            audit: of(Phase::Audit),
            total: self.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_done_at_the_same_time_counts_once() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let clock = Clock::start();
        let rest = |ms| std::thread::sleep(Duration::from_millis(ms));
        let work = || {
            clock.time_both(
                [Phase::Assembly, Phase::Contact],
                || (rest(40), 1).1,
                || (rest(20), 2).1,
            )
        };
        assert_eq!(pool.install(work), (1, 2));
        let seconds = clock.seconds();
        assert!(seconds.contact > 0.0 && seconds.assembly > 0.0);
        assert!(seconds.assembly + seconds.contact <= seconds.total);
    }
}
