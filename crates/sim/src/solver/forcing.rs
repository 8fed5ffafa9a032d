//! How accurately Newton directions are computed by an iterative solver.

/// Largest and first relative residual.
const LOOSEST: f64 = 1e-2;
/// γ of the second choice of [Eisenstat & Walker 1996].
const GAMMA: f64 = 0.9;

/// Relative residuals ηₖ = γ (‖gₖ‖/‖gₖ₋₁‖)², at most 1e-2 [Eisenstat & Walker 1996, Eq. 2.6]: far
/// from the minimum a rough direction does, near it convergence stays fast.
///
/// The direction that is to end a minimisation, and any that promises no way down, is computed again
/// to the tightest residual.
#[derive(Debug, Clone)]
pub struct Forcing {
    tightest: f64,
    previous_norm: Option<f64>,
    current: f64,
    exact: bool,
}

impl Forcing {
    /// At the start of a minimisation; no residual will be below `tightest`.
    pub fn new(tightest: f64) -> Self {
        Self { tightest, previous_norm: None, current: LOOSEST, exact: false }
    }

    /// Always the tightest residual.
    pub fn exact(tightest: f64) -> Self {
        Self { exact: true, ..Self::new(tightest) }
    }

    /// The relative residual for a system whose right-hand side has this norm.
    pub fn residual(&mut self, norm: f64) -> f64 {
        if self.exact {
            self.current = self.tightest;
            return self.tightest;
        }
        let ratio = self.previous_norm.map_or(f64::INFINITY, |previous| norm / previous);
        // a NaN ends up as the loosest one; the solver refuses the system
        let eta = (GAMMA * ratio * ratio).min(LOOSEST);
        self.current = eta.max(self.tightest);
        self.previous_norm = Some(norm);
        self.current
    }

    /// Notes the residual that was reached, which may be smaller than the required one.
    pub fn reached(&mut self, residual: f64) {
        self.current = self.current.min(residual);
    }

    /// Makes the next residual the tightest; false where the last one was that already.
    pub fn tighten(&mut self) -> bool {
        self.exact = self.current > self.tightest;
        self.exact
    }

    /// Ends the effect of [`Self::tighten`].
    pub fn relax(&mut self) {
        self.exact = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_fall_with_the_square_of_the_gradient_between_their_bounds() {
        let mut forcing = Forcing::new(1e-8);
        assert_eq!(forcing.residual(1.0), LOOSEST);
        assert_eq!(forcing.residual(2.0), LOOSEST);
        assert!((forcing.residual(2e-2) / 0.9e-4 - 1.0).abs() < 1e-12);
        assert_eq!(forcing.residual(2e-10), 1e-8);
        assert!(!forcing.tighten());
        assert_eq!(forcing.residual(2e-10), LOOSEST);
        assert!(forcing.tighten());
        assert_eq!(forcing.residual(2e-10), 1e-8);
        assert!(!forcing.tighten());
        assert_eq!(forcing.residual(1.0), LOOSEST);
        forcing.reached(1e-12);
        assert!(!forcing.tighten());
    }
}
