//! Steps at which Python looks on: its callback is called in every iteration, and signals (Ctrl-C) end the step.

use crate::arrays;
use crate::shared::Shared;
use crate::threads::interruptible;
use pyo3::prelude::*;
use standoff::{Error, Iteration, StepReport, Vec3};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

/// What a callback is told about an iteration.
struct Seen {
    step: u64,
    number: u64,
    residual_speed: Option<f64>,
    tolerance: f64,
    positions: Vec<Vec3>,
}

impl Seen {
    /// Calls back; whether the step may continue.
    fn tell(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<bool> {
        let positions = arrays::vectors(py, &self.positions)?;
        let told = (self.step, self.number, self.residual_speed, self.tolerance, positions);
        let answer = callback.bind(py).call1(told)?;
        Ok(answer.extract::<bool>().unwrap_or(true))
    }
}

/// What the simulator calls in every iteration, on a thread of the pool.
struct Watcher {
    stop: Arc<AtomicBool>,
    /// To the thread that wants the step; none without a callback.
    ask: Option<Sender<Seen>>,
    answers: Receiver<bool>,
}

/// How long a thread of the pool waits for an answer before it does other work of the pool.
const WAIT: Duration = Duration::from_millis(1);

impl Watcher {
    fn may_continue(&self, iteration: &Iteration<'_>) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let Some(ask) = &self.ask else { return true };
        let seen = Seen {
            step: iteration.step,
            number: iteration.number,
            residual_speed: iteration.residual_speed,
            tolerance: iteration.tolerance,
            positions: iteration.positions.to_vec(),
        };
        if ask.send(seen).is_err() {
            return false;
        }
        loop {
            match self.answers.recv_timeout(WAIT) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return false,
                // the callback may use other simulations, which need the threads of the pool
                Err(RecvTimeoutError::Timeout) => drop(rayon::yield_now()),
            }
        }
    }
}

/// Does a step of member number `index`. `callback` is called on this thread. If it raises an exception, or a signal does, the step is cancelled, and
/// that is the error.
pub fn step(
    py: Python<'_>,
    Shared { batch, caller }: &Shared,
    index: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<Result<StepReport, Error>> {
    let stop = Arc::new(AtomicBool::new(false));
    let (answer, answers) = mpsc::channel();
    let mut raised = None;
    let tell = |seen: Seen| {
        caller.set(Some(thread::current().id()));
        let told = Python::attach(|py| callback.as_ref().map_or(Ok(true), |c| seen.tell(py, c)));
        caller.set(None);
        let may_continue = told.unwrap_or_else(|error| {
            raised = Some(error);
            false
        });
        // the watcher waits for it
        let _ = answer.send(may_continue);
    };
    let (watched, stopped) = (callback.is_some(), stop.clone());
    let (result, interrupt) = interruptible(py, &stop, tell, move |pool, ask| {
        // outside of the pool, as in `CoreSimulation::with`
        let mut guard = batch.lock().unwrap_or_else(PoisonError::into_inner);
        let simulation = &mut guard.members_mut()[index];
        let watcher = Watcher { stop: stopped, ask: watched.then(|| ask.clone()), answers };
        simulation.watch(move |iteration| match watcher.may_continue(iteration) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
        let result = pool.install(|| simulation.step().cloned());
        simulation.unwatch();
        result
    })?;
    match raised.or(interrupt) {
        Some(error) => Err(error),
        None => Ok(result),
    }
}
