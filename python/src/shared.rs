//! What the Python objects of a batch and of its members share.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use standoff::Batch;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// Simulations, and the thread on which a step of one of them calls back.
#[derive(Clone)]
pub struct Shared {
    pub batch: Arc<Mutex<Batch>>,
    pub caller: Arc<Caller>,
}

impl Shared {
    pub fn new(batch: Batch) -> Self {
        Self { batch: Arc::new(Mutex::new(batch)), caller: Arc::default() }
    }
}

/// The thread on which a step of a simulation calls back, while it does.
#[derive(Default)]
pub struct Caller(Mutex<Option<ThreadId>>);

impl Caller {
    pub fn set(&self, thread: Option<ThreadId>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = thread;
    }

    /// Refuses what a callback wants of the simulation whose step it is called from: it would wait for itself.
    pub fn refuse_here(&self) -> PyResult<()> {
        let caller = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if caller != Some(thread::current().id()) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(
            "a simulation, and the batch that it belongs to, cannot be used within its own step; the iteration that the \
             callback is given has the positions",
        ))
    }
}
