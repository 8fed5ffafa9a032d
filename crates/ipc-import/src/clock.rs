//! The time of the reference, a sum of time steps, and the steps in which something acts.

/// Steps of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Time step h, s.
    pub h: f64,
    /// Number of steps, ceil(end/h).
    pub steps: usize,
}

impl Clock {
    pub fn new(end: f64, h: f64) -> Self {
        Self { h, steps: (end / h).ceil() as usize }
    }

    /// The first step that starts at `t` or later in the reference, which adds up h; `None` if
    /// there is none in the run.
    pub fn step_at(&self, t: f64) -> Option<usize> {
        let mut time = 0.0;
        (0..self.steps).find(|_| {
            let reached = time >= t;
            time += self.h;
            reached
        })
    }

    /// A time from which on exactly the steps `k` and later start, whether their times are added
    /// up or multiplied: half a step before step k; 0 for the first step.
    pub fn before(&self, k: usize) -> f64 {
        if k == 0 { 0.0 } else { (k as f64 - 0.5) * self.h }
    }

    /// The times t0 and t1 for what the reference does in steps that start at `range.0 <= t <
    /// range.1`; `None` if no step of the run does.
    pub fn range(&self, range: (f64, f64)) -> Option<(f64, f64)> {
        let first = self.step_at(range.0)?;
        let end = self.step_at(range.1);
        let t1 = end.map_or(f64::INFINITY, |k| self.before(k));
        (end != Some(first) && range.0 < range.1).then(|| (self.before(first), t1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_slip_by_a_step_as_in_the_reference() {
        // the 101st step starts at 2.499999999999995 s
        let clock = Clock::new(5.0, 0.025);
        assert_eq!(clock.step_at(2.5), Some(101));
        assert_eq!(clock.range((0.0, 2.5)), Some((0.0, 100.5 * 0.025)));
        assert_eq!(clock.range((2.5, f64::INFINITY)), Some((100.5 * 0.025, f64::INFINITY)));
        assert_eq!(clock.range((0.0, 0.025)), Some((0.0, 0.5 * 0.025)));
        assert_eq!(clock.range((0.01, 0.02)), None);
        assert_eq!(clock.range((6.0, 7.0)), None);
        // what ends after the run never ends
        assert_eq!(clock.range((0.0, 6.0)), Some((0.0, f64::INFINITY)));
        // 7/0.07 is 100 in doubles, unlike what the notes on the reference say
        assert_eq!(Clock::new(7.0, 0.07).steps, 100);
    }
}
