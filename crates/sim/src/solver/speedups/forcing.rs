//! How accurately Newton directions are computed by an iterative solver.

use crate::thresholds::{FACTORISED, FORCING_GAMMA, LOOSEST};
use standoff_sparse::Residuals;

/// Relative residuals ηₖ = γ (‖gₖ‖/‖gₖ₋₁‖)², at most 1e-2 [Eisenstat & Walker 1996, Eq. 2.6]: far
/// from the minimum a rough direction does, near it convergence stays fast.
///
/// With a factor, directions are computed to a hundredth of that, and the first one of a minimisation as accurately as possible: where the
/// potential is nearly quadratic, it is the last one, too.
///
/// The direction that is to end a minimisation, and any that promises no way down, is computed again
/// to the tightest residual.
#[derive(Debug, Clone)]
pub struct Forcing {
    tightest: f64,
    /// ‖g‖ of the last gradient and of the one before.
    norm: Option<f64>,
    previous_norm: Option<f64>,
    current: f64,
    exact: bool,
    /// Whether all directions are exact that are computed with a factor.
    exact_with_factor: bool,
}

impl Forcing {
    /// At the start of a minimisation; no residual will be below `tightest`.
    pub fn new(tightest: f64) -> Self {
        Self {
            tightest,
            norm: None,
            previous_norm: None,
            current: LOOSEST,
            exact: false,
            exact_with_factor: false,
        }
    }

    /// Always the tightest residual.
    pub fn exact(tightest: f64) -> Self {
        Self { exact: true, ..Self::new(tightest) }
    }

    /// Whether all directions that are computed with a factor are as accurate as possible. They have to be where none is known to be the
    /// last, for momentum to be conserved to round-off, and where constraints pull vertices to targets.
    #[must_use]
    pub fn exact_with_factor(mut self, exact: bool) -> Self {
        self.exact_with_factor = exact;
        self
    }

    /// The relative residuals for a system whose right-hand side has this norm.
    pub fn residuals(&mut self, norm: f64) -> Residuals {
        if self.exact {
            self.current = self.tightest;
            return Residuals { iterative: self.tightest, factorised: 0.0 };
        }
        // the same gradient again, if a matrix was not definite
        if self.norm != Some(norm) {
            self.previous_norm = self.norm.replace(norm);
        }
        let ratio = self.previous_norm.map(|previous| norm / previous);
        // a NaN ends up as the loosest one; the solver refuses the system
        let eta = ratio.map_or(LOOSEST, |ratio| (FORCING_GAMMA * ratio * ratio).min(LOOSEST));
        self.current = eta.max(self.tightest);
        let exact = ratio.is_none() || self.exact_with_factor;
        let factorised = if exact { 0.0 } else { FACTORISED * eta };
        Residuals { iterative: self.current, factorised }
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
        let residual = |forcing: &mut Forcing, norm: f64| forcing.residuals(norm).iterative;
        assert_eq!(residual(&mut forcing, 1.0), LOOSEST);
        assert_eq!(residual(&mut forcing, 2.0), LOOSEST);
        assert!((residual(&mut forcing, 2e-2) / 0.9e-4 - 1.0).abs() < 1e-12);
        assert_eq!(residual(&mut forcing, 2e-10), 1e-8);
        assert_eq!(residual(&mut forcing, 2e-10), 1e-8);
        assert!(!forcing.tighten());
        assert_eq!(residual(&mut forcing, 1e-9), LOOSEST);
        assert!(forcing.tighten());
        assert_eq!(residual(&mut forcing, 1e-9), 1e-8);
        assert!(!forcing.tighten());
        assert_eq!(residual(&mut forcing, 1.0), LOOSEST);
        forcing.reached(1e-12);
        assert!(!forcing.tighten());
    }

    #[test]
    fn with_a_factor_the_first_direction_is_exact_and_others_are_more_accurate() {
        let mut forcing = Forcing::new(1e-8);
        assert_eq!(forcing.residuals(1.0).factorised, 0.0);
        assert_eq!(forcing.residuals(2.0).factorised, 1e-4);
        assert!((forcing.residuals(2e-2).factorised / 0.9e-6 - 1.0).abs() < 1e-12);
        assert!(forcing.residuals(2e-10).factorised < 1e-17);
        assert_eq!(forcing.residuals(1.0).factorised, 1e-4);
        assert!(forcing.tighten());
        assert_eq!(forcing.residuals(1.0).factorised, 0.0);
        let mut all = Forcing::new(1e-8).exact_with_factor(true);
        assert!([1.0, 0.9, 0.8].iter().all(|&norm| all.residuals(norm).factorised == 0.0));
        assert_eq!(all.residuals(0.7).iterative, LOOSEST);
        assert_eq!(
            Forcing::exact(1e-8).residuals(1.0),
            Residuals { iterative: 1e-8, factorised: 0.0 }
        );
    }
}
