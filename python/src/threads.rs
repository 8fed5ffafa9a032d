//! The threads that steps run on: a pool of this process, because those of a parent process are not there
//! after a fork.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

struct Pool {
    process: u32,
    threads: usize,
    pool: Option<Arc<ThreadPool>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, threads: 0, pool: None });

/// Sets the number of threads of this process; 0 for as many as there are processors.
#[pyfunction]
pub fn set_threads(threads: usize) {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.threads = threads;
    drop_stale(&mut pool, None);
}

/// Replaces the pool. One whose threads are those of another process cannot be ended.
fn drop_stale(pool: &mut Pool, by: Option<Arc<ThreadPool>>) {
    let own = pool.process == std::process::id();
    if let (Some(stale), false) = (std::mem::replace(&mut pool.pool, by), own) {
        std::mem::forget(stale);
    }
}

/// The pool of this process.
pub fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let (Some(ready), true) = (&pool.pool, pool.process == process) {
        return Ok(ready.clone());
    }
    let built = ThreadPoolBuilder::new().num_threads(pool.threads).build();
    let count = match pool.threads {
        0 => "the threads".to_owned(),
        count => format!("{count} threads"),
    };
    let built = Arc::new(built.map_err(|e| {
        PyRuntimeError::new_err(format!(
            "cannot start {count}: {e}; use fewer with standoff.set_threads, or allow this process more memory \
             (ulimit -v) and threads (ulimit -u)"
        ))
    })?);
    drop_stale(&mut pool, Some(built.clone()));
    pool.process = process;
    Ok(built)
}

/// Runs something on the pool, with the interpreter free for other threads.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Does something long in another thread, which puts its parts on the pool. It is told to `stop` when a signal (Ctrl-C) raises an
/// exception; that is returned, too. Python handles signals in its main thread alone, which therefore looks for them while others
/// work. Meanwhile this thread lets `answer` see what is sent to it.
pub fn interruptible<T: Send, M: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    mut answer: impl FnMut(M) + Send,
    work: impl FnOnce(&ThreadPool, Sender<M>) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let pool = pool()?;
    let (sender, sent) = mpsc::channel();
    py.detach(move || {
        thread::scope(|scope| {
            // the channel is closed when the work is done
            let worker = thread::Builder::new().spawn_scoped(scope, move || work(&pool, sender))?;
            let mut raised = None;
            loop {
                match sent.recv_timeout(LOOK) {
                    Ok(message) => answer(message),
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            raised.get_or_insert(error);
                        }
                    }
                }
            }
            match worker.join() {
                Ok(result) => Ok((result, raised)),
                Err(panic) => resume_unwind(panic),
            }
        })
    })
}
