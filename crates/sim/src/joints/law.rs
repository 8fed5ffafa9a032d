//! What acts along a coordinate of a joint: limits, and forces with a cap.

/// A limit on each side of a coordinate s, by the barrier of contact [Li 2020, Eq. 6] in the distance g from it,
/// κ b(g), b(g) = −(g − ĝ)² ln(g/ĝ) where g < ĝ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The least and the greatest value, rad or m.
    pub range: [f64; 2],
    /// ĝ, the distance from a limit at which it begins to push, rad or m.
    pub begin: f64,
    /// κ, J/rad² or N/m.
    pub stiffness: f64,
}

/// A force that falls with the coordinate, τ(s) = b (s₀ − s), but is never greater than its cap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capped {
    /// s₀, rad or m.
    pub target: f64,
    /// b, N m/rad or N/m.
    pub slope: f64,
    /// What is added at any s, N m or N.
    pub constant: f64,
    /// The greatest magnitude, N m or N.
    pub cap: f64,
}

/// An energy φ of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Limits.
    Limits(Limits),
    /// A force with a cap.
    Capped(Capped),
}

impl Law {
    /// φ, φ' and φ'' at `s`: J, N m or N, and N m/rad or N/m. Outside of limits φ is infinite.
    pub fn at(&self, s: f64) -> [f64; 3] {
        match self {
            Self::Limits(limits) => limits.at(s),
            Self::Capped(capped) => capped.at(s),
        }
    }
}

impl Limits {
    fn at(&self, s: f64) -> [f64; 3] {
        let [low, high] = self.range;
        let [below, above] = [self.barrier(s - low), self.barrier(high - s)];
        [below[0] + above[0], below[1] - above[1], below[2] + above[2]]
    }

    fn barrier(&self, gap: f64) -> [f64; 3] {
        let Self { begin, stiffness, .. } = *self;
        if gap <= 0.0 {
            return [f64::INFINITY, 0.0, 0.0];
        }
        if gap >= begin {
            return [0.0; 3];
        }
        let (over, log) = (gap - begin, (gap / begin).ln());
        let first = -2.0 * over * log - over * over / gap;
        let second = -2.0 * log - 4.0 * over / gap + over * over / (gap * gap);
        [-over * over * log, first, second].map(|b| stiffness * b)
    }

    /// The distance from the nearer limit, negative outside.
    pub fn gap(&self, s: f64) -> f64 {
        (s - self.range[0]).min(self.range[1] - s)
    }

    /// The part of a change from `s` by `ds` after which a `kept` part of the distance from the limit ahead is left; 1 where all of the change
    /// leaves half of that.
    pub fn max_part(&self, s: f64, ds: f64, kept: f64) -> f64 {
        let ahead = if ds < 0.0 { s - self.range[0] } else { self.range[1] - s };
        // what has just been cut to the kept part may be off by rounding
        if ds.abs() <= (1.0 - 0.5 * kept) * ahead { 1.0 } else { (1.0 - kept) * ahead / ds.abs() }
    }
}

impl Capped {
    /// τ(s), N m or N.
    pub fn force(&self, s: f64) -> f64 {
        self.uncapped(s).clamp(-self.cap, self.cap)
    }

    fn uncapped(&self, s: f64) -> f64 {
        self.slope * (self.target - s) + self.constant
    }

    /// −∫τ ds from s₀ on.
    fn at(&self, s: f64) -> [f64; 3] {
        let (force, away) = (self.force(s), s - self.target);
        if self.slope == 0.0 {
            return [-force * away, -force, 0.0];
        }
        let free = self.uncapped(s);
        let energy = match free == force {
            true => 0.5 * self.slope * away * away - self.constant * away,
            false => {
                // where the cap begins
                let begin = (self.constant - force) / self.slope;
                0.5 * self.slope * begin * begin - self.constant * begin - force * (away - begin)
            }
        };
        [energy, -force, if free == force { self.slope } else { 0.0 }]
    }
}

/// Energy λ c + ½ k c² of an equation c = 0 (m) in the augmented Lagrangian [Nocedal & Wright 2006, Ch. 17.3], J, and its force λ + k c, N.
pub fn lagrangian(multiplier: f64, stiffness: f64, c: f64) -> [f64; 2] {
    [c * (multiplier + 0.5 * stiffness * c), multiplier + stiffness * c]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws() -> [Law; 4] {
        let capped = Capped { target: 0.3, slope: 4.0, constant: 0.0, cap: 1.5 };
        [
            Law::Limits(Limits { range: [-1.0, 1.2], begin: 0.4, stiffness: 7.0 }),
            Law::Capped(capped),
            Law::Capped(Capped { constant: 0.7, ..capped }),
            Law::Capped(Capped { slope: 0.0, constant: 2.0, ..capped }),
        ]
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let e = 1e-6;
        for law in laws() {
            let places = (0..60).map(|k| -0.99 + 2.18 * (f64::from(k) + 0.37) / 60.0);
            for s in places {
                let [there, here, back] = [law.at(s + e), law.at(s), law.at(s - e)];
                for k in 0..2 {
                    let slope = (there[k] - back[k]) / (2.0 * e);
                    let scale = 1.0 + here[k + 1].abs();
                    assert!((slope - here[k + 1]).abs() < 1e-5 * scale, "{law:?} at {s}: {slope}");
                }
            }
        }
    }

    #[test]
    fn caps_are_exact_and_limits_are_not_passed() {
        let [limits, capped, ..] = laws();
        assert_eq!(capped.at(-40.0)[1], -1.5);
        assert_eq!(capped.at(40.0)[1], 1.5);
        assert!(limits.at(-1.0)[0].is_infinite() && limits.at(1.3)[0].is_infinite());
        let Law::Limits(limits) = limits else { panic!("the first law has limits") };
        let part = limits.max_part(1.0, 0.4, 0.1);
        assert!((part - 0.45).abs() < 1e-15, "{part}");
        assert_eq!(limits.max_part(1.0, part * 0.4, 0.1), 1.0);
        assert_eq!(limits.max_part(1.0, -0.4, 0.1), 1.0);
    }
}
