//! The threads of a batch: each a pool of its own, in which a step finds no other thread to wait for.

use crate::error::Error;
use rayon::ThreadPool;
use standoff_sim::BuildError;
use standoff_sim::threads::single;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads that take up one piece of work after the other. They begin when they are needed first.
#[derive(Debug)]
pub(super) struct Workers {
    count: usize,
    /// The process in which they were begun: after a fork the threads of the parent are not there.
    process: u32,
    pools: Vec<ThreadPool>,
}

impl Workers {
    /// So many threads, as many as there are cores for 0, but no more than there are pieces of work.
    pub fn new(threads: usize, pieces: usize) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads };
        Self { count: threads.min(pieces.max(1)), process: 0, pools: Vec::new() }
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Ends the threads.
    pub fn end(&mut self) {
        let pools = std::mem::take(&mut self.pools);
        if self.process != std::process::id() {
            // threads of another process cannot be ended
            pools.into_iter().for_each(std::mem::forget);
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        let process = std::process::id();
        if self.process == process && !self.pools.is_empty() {
            return Ok(());
        }
        self.end();
        let pools = (0..self.count).map(|_| single()).collect::<Result<_, _>>();
        self.pools = pools.map_err(|e| Error::Build(BuildError::Threads(e)))?;
        self.process = process;
        Ok(())
    }

    /// Does `work` on every piece, and returns what comes of it in the order of the pieces. A panic is raised here, when the other
    /// threads have ended.
    pub fn each<I: Send, R: Send>(
        &mut self,
        pieces: Vec<I>,
        work: impl Fn(I) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        self.begin()?;
        let threads = self.count.min(pieces.len());
        let (left, done) = (Mutex::new(pieces.into_iter().enumerate()), Mutex::new(Vec::new()));
        let take = || lock(&left).next();
        on_all(&self.pools[..threads], &|| {
            while let Some((place, piece)) = take() {
                let result = work(piece);
                lock(&done).push((place, result));
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }
}

/// Nothing panics while it holds one of the locks here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `work` on the thread of every pool at the same time, and waits for them.
fn on_all(pools: &[ThreadPool], work: &(dyn Fn() + Sync)) {
    if let Some((first, others)) = pools.split_first() {
        first.in_place_scope(|scope| {
            scope.spawn(|_| work());
            on_all(others, work);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn pieces_keep_their_order_and_are_done_at_the_same_time() {
        let mut workers = Workers::new(3, 8);
        assert_eq!(workers.count(), 3);
        let squares = workers.each((0..100).collect(), |k: u64| k * k).unwrap();
        assert_eq!(squares, (0..100).map(|k| k * k).collect::<Vec<_>>());
        // no piece passes before all three are there
        let barrier = Barrier::new(3);
        let threads = workers.each(vec![(); 3], |()| {
            barrier.wait();
            (std::thread::current().id(), rayon::current_num_threads())
        });
        let threads = threads.unwrap();
        assert!(threads.iter().all(|(_, beside)| *beside == 1));
        assert!(threads[0].0 != threads[1].0 && threads[1].0 != threads[2].0);
        workers.end();
        assert_eq!(workers.each(vec![1, 2], |k| k + 1).unwrap(), [2, 3]);
        assert!(workers.each(Vec::<u8>::new(), |k| k).unwrap().is_empty());
    }

    #[test]
    fn a_panic_does_not_keep_other_pieces_from_being_done() {
        let mut workers = Workers::new(2, 4);
        let done = Mutex::new(Vec::new());
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            workers.each(vec![0, 1, 2, 3], |k| {
                assert!(k != 1, "on purpose");
                lock(&done).push(k);
            })
        }));
        assert!(caught.is_err());
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, [0, 2, 3]);
        assert_eq!(workers.each(vec![5], |k| k).unwrap(), [5]);
    }
}
