//! The thread pool during a time step.
//!
//! A step has hundreds of parallel loops, many shorter than a millisecond, with serial work between them. A thread of the
//! pool that finds no work goes to sleep after some microseconds, and to wake it can take as long as a loop. Here
//! such threads wait awake.

use std::error::Error as _;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread looks for work all the time; after that it does so every [`PAUSE`].
const ATTENTIVE: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_micros(50);
/// Turns of a waiting loop between two looks for work: about a microsecond.
const TURNS: usize = 20;

/// Cores that this process may use.
static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));

/// The system refused the threads that everything parallel runs on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot start {}: {reason}; use fewer threads (--threads, or the environment variable RAYON_NUM_THREADS), or allow \
     this process more memory (ulimit -v) and threads (ulimit -u)",
    match threads { 0 => "the threads".to_owned(), 1 => "a thread".to_owned(), n => format!("{n} threads") }
)]
pub struct ThreadsError {
    /// How many were requested; 0 for as many as there are cores.
    threads: usize,
    /// What the system said.
    reason: String,
}

/// Starts the global thread pool with so many threads, as many as there are cores for 0, unless it runs or the caller
/// is in a pool of its own.
///
/// # Errors
/// The system refuses the threads, now or when they were requested first: rayon, which panics where it would use
/// a global pool that could not be made, does not try again.
pub fn start(threads: usize) -> Result<(), ThreadsError> {
    static STARTED: OnceLock<Result<(), ThreadsError>> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return Ok(());
    }
    let build = || match rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        // an error without a source says that the pool is there
        Err(error) => match error.source() {
            Some(source) => Err(ThreadsError { threads, reason: source.to_string() }),
            None => Ok(()),
        },
        Ok(()) => Ok(()),
    };
    STARTED.get_or_init(build).clone()
}

/// A pool of one thread: a step within it runs on this thread alone.
///
/// # Errors
/// The system refuses the thread.
pub fn single() -> Result<rayon::ThreadPool, ThreadsError> {
    let built = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    built.map_err(|error| ThreadsError { threads: 1, reason: error.to_string() })
}

/// Calls `f` within the thread pool, with the pool's other threads awake until it returns.
///
/// Not where the pool has more threads than there are cores: a waiting thread would then take time from a working one.
pub(crate) fn with_threads_awake<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let awake = (2..=*CORES).contains(&rayon::current_num_threads());
    let done = AtomicBool::new(false);
    // within the pool: else every parallel loop would be handed over to it
    rayon::scope(|scope| {
        if awake {
            let (done, caller) = (&done, rayon::current_thread_index());
            scope.spawn_broadcast(move |_, context| {
                // the caller's own turn comes when it waits for others
                if Some(context.index()) != caller {
                    work_until(done);
                }
            });
        }
        // also if `f` panics: the scope waits for all threads
        let _end = OnDrop(&done);
        f()
    })
}

/// Does the pool's work as it comes.
fn work_until(done: &AtomicBool) {
    let mut idle_since = Instant::now();
    while !done.load(Ordering::Relaxed) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            idle_since = Instant::now();
        } else if idle_since.elapsed() > ATTENTIVE {
            thread::sleep(PAUSE);
        } else {
            (0..TURNS).for_each(|_| hint::spin_loop());
        }
    }
}

/// Sets a flag when it goes out of scope.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// What `f` gives in a pool, which fails if it takes too long.
    fn with_pool<R: Send + 'static>(threads: usize, f: impl FnOnce() -> R + Send + 'static) -> R {
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let _ = sender.send(pool.install(f));
        });
        receiver.recv_timeout(Duration::from_secs(60)).expect("the threads end")
    }

    /// Loops with serial work between them, short and longer than threads are attentive, with any number of threads.
    #[test]
    fn threads_work_and_end() {
        for threads in [1, 2, *CORES, *CORES + 1] {
            let sum = with_pool(threads, move || {
                with_threads_awake(|| {
                    let mut sum = 0;
                    for k in 0..100u64 {
                        sum += (0..1000u64).into_par_iter().map(|i| i * k).sum::<u64>();
                        if k % 25 == 0 {
                            thread::sleep(2 * ATTENTIVE);
                        }
                    }
                    sum
                })
            });
            assert_eq!(sum, 4950 * 499_500, "{threads} threads");
        }
    }

    /// Several steps at once in one pool wait for each other without blocking.
    #[test]
    fn steps_share_a_pool() {
        let step = move || with_threads_awake(|| (0..100_000u64).into_par_iter().sum::<u64>());
        let sums = with_pool(2, move || (0..8).into_par_iter().map(|_| step()).collect::<Vec<_>>());
        assert_eq!(sums, [4_999_950_000; 8]);
    }

    /// A panic comes through, and does not leave threads behind that wait for an end.
    #[test]
    fn a_panic_ends_the_waiting() {
        let result = with_pool(2, || {
            std::panic::catch_unwind(|| with_threads_awake(|| panic!("on purpose")))
        });
        assert!(result.is_err());
    }
}
