//! Signals that ask a run to end.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first SIGINT (Ctrl-C) or SIGTERM is remembered, for the run to end after its step; the second of its kind
/// ends the process at once, as it would without this.
#[derive(Debug)]
pub struct Interrupts {
    came: [(i32, Arc<AtomicBool>); 2],
}

impl Interrupts {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> io::Result<Self> {
        let came = [SIGINT, SIGTERM].map(|signal| (signal, Arc::new(AtomicBool::new(false))));
        for (signal, flag) in &came {
            // in this order, so that the first one only sets the flag
            flag::register_conditional_default(*signal, Arc::clone(flag))?;
            flag::register(*signal, Arc::clone(flag))?;
        }
        Ok(Self { came })
    }

    /// The signal that came, if one did.
    pub fn signal(&self) -> Option<i32> {
        self.came.iter().find(|(_, flag)| flag.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
    }

    /// From now on SIGTERM ends the process at once.
    pub fn over(&self) {
        self.came[1].1.store(true, Ordering::Relaxed);
    }
}
