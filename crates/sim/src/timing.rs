//! Wall time by phase. Reported, never acted upon.

use std::time::Instant;

/// Runs `work` and adds its wall time to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
