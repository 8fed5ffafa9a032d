//! Values over time, as expressions of scene files.

use crate::text::number;

/// A value over time: linear between points (t, value), constant before and after them. Two points at one time are a jump.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct History {
    points: Vec<(f64, f64)>,
}

/// How a value gets to a new one in a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Course<'a> {
    Ramp,
    Jump,
    /// The value times a table over the time of the step.
    Table(&'a [(f64, f64)]),
}

impl History {
    /// A value that does not change.
    pub(crate) fn constant(value: f64) -> Self {
        Self { points: vec![(0.0, value)] }
    }

    fn last(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.1)
    }

    /// Takes the value to a new one in a step from `start` on.
    pub(crate) fn proceed(&mut self, start: f64, length: f64, value: f64, course: Course<'_>) {
        self.points.push((start, self.last()));
        match course {
            Course::Ramp => self.points.push((start + length, value)),
            Course::Jump => self.points.push((start, value)),
            Course::Table(table) => {
                // the first value also counts before its time
                self.points.extend(table.first().map(|(_, factor)| (start, value * factor)));
                self.points.extend(table.iter().map(|(t, factor)| (start + t, value * factor)));
            }
        }
        // what stays as it is, is the same however many steps say so
        let first = self.points.first().map_or(0.0, |p| p.1);
        if self.points.iter().all(|p| p.1 == first) {
            self.points.truncate(1);
        }
    }

    /// Whether the value is 0 at all times.
    pub(crate) fn is_zero(&self) -> bool {
        self.points.iter().all(|p| p.1 == 0.0)
    }

    /// The opposite value.
    pub(crate) fn negated(&self) -> Self {
        Self { points: self.points.iter().map(|p| (p.0, -p.1)).collect() }
    }

    /// A factor times what the value is above its first one.
    pub(crate) fn change(&self, factor: f64) -> Self {
        let first = self.points.first().map_or(0.0, |p| p.1);
        Self { points: self.points.iter().map(|p| (p.0, factor * (p.1 - first))).collect() }
    }

    /// Bits by which equal histories are found.
    pub(crate) fn key(&self) -> Vec<(u64, u64)> {
        self.points.iter().map(|p| (p.0.to_bits(), p.1.to_bits())).collect()
    }

    /// A number or a quoted expression of the time `t`. Jumps are half a time step late, because a value counts at the end of each step.
    pub(crate) fn expression(&self, time_step: f64) -> String {
        let mut base = self.points.first().map_or(0.0, |p| p.1);
        let mut terms = Vec::new();
        for pair in self.points.windows(2) {
            let [(t0, v0), (t1, v1)] = [pair[0], pair[1]];
            let rise = v1 - v0;
            if rise == 0.0 {
                continue;
            }
            let length = t1 - t0;
            let term = match (length > 0.0, t0 == 0.0) {
                (false, true) => {
                    base += rise;
                    continue;
                }
                (false, false) => {
                    format!("({})*step(t - {})", number(rise), number(t0 + 0.5 * time_step))
                }
                (true, true) => format!("({})*min(t, {})", number(rise / length), number(length)),
                (true, false) => format!(
                    "({})*min(max(t - {}, 0), {})",
                    number(rise / length),
                    number(t0),
                    number(length)
                ),
            };
            terms.push(term);
        }
        if terms.is_empty() {
            return number(base);
        }
        if base != 0.0 {
            terms.insert(0, number(base));
        }
        format!("\"{}\"", terms.join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_expressions() {
        let of = |steps: &[(f64, f64, f64, Course<'_>)]| {
            let mut history = History::default();
            for (start, length, value, course) in steps {
                history.proceed(*start, *length, *value, *course);
            }
            history.expression(0.1)
        };
        assert_eq!(of(&[(0.0, 2.0, 3.0, Course::Ramp)]), "\"(1.5)*min(t, 2.0)\"");
        assert_eq!(of(&[(0.0, 2.0, 3.0, Course::Jump)]), "3.0");
        assert_eq!(
            of(&[(0.0, 1.0, 3.0, Course::Jump), (1.0, 1.0, 1.0, Course::Jump)]),
            "\"3.0 + (-2.0)*step(t - 1.05)\""
        );
        let twice = [(0.0, 1.0, 1.0, Course::Ramp), (1.0, 2.0, 0.0, Course::Ramp)];
        assert_eq!(of(&twice), "\"(1.0)*min(t, 1.0) + (-0.5)*min(max(t - 1.0, 0), 2.0)\"");
        let table = [(0.0, 0.0), (0.5, 1.0), (0.5, 0.0)];
        let tabled = of(&[(0.0, 1.0, 2.0, Course::Table(&table))]);
        assert_eq!(tabled, "\"(4.0)*min(t, 0.5) + (-2.0)*step(t - 0.55)\"");
        assert_eq!(History::constant(2.0).expression(0.1), "2.0");
    }
}
