//! The experiments by which rubber is measured, with nominal stresses of an incompressible solid.

use super::Rubber;
use standoff_linalg::{M3, Mat3, V3};

/// How a sample is loaded. Its other faces are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Pulled or pressed along one axis: stretches λ, λ^(−1/2), λ^(−1/2).
    Uniaxial,
    /// Pulled alike along two axes: λ, λ, λ⁻².
    Biaxial,
    /// Pulled along one axis and held along another: λ, 1, λ⁻¹; also called pure shear.
    Planar,
    /// Sheared by γ between two plates.
    Shear,
}

impl Experiment {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Uniaxial, Self::Biaxial, Self::Planar, Self::Shear];

    /// Name in messages and commands.
    pub fn key(self) -> &'static str {
        match self {
            Self::Uniaxial => "uniaxial",
            Self::Biaxial => "biaxial",
            Self::Planar => "planar",
            Self::Shear => "shear",
        }
    }

    /// The deformation by a stretch λ, or by the shear γ.
    pub fn deformation(self, by: f64) -> Mat3 {
        let diagonal = |s: [f64; 3]| Mat3::from_diagonal(&s.into());
        match self {
            Self::Uniaxial => diagonal([by, by.powf(-0.5), by.powf(-0.5)]),
            Self::Biaxial => diagonal([by, by, by.powi(-2)]),
            Self::Planar => diagonal([by, 1.0, by.recip()]),
            Self::Shear => Mat3::new(1.0, by, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        }
    }

    /// The load by which `by` does not deform.
    pub fn rest(self) -> f64 {
        if self == Self::Shear { 0.0 } else { 1.0 }
    }
}

impl Rubber {
    /// The nominal stress (force over the area at rest, Pa) of an incompressible sample at a stretch, or the shear stress at a
    /// shear: (τ₁ − τ₃)/λ₁, τ₁₂.
    pub fn nominal_stress(&self, experiment: Experiment, by: f64) -> f64 {
        let f = experiment.deformation(by);
        let numbers = self.numbers(0.0);
        // singular values sort the axes, and so the law is evaluated with F itself
        let p = Mat3::from(self.form().pk1(&numbers, &M3::from(&f)));
        let tau = p * f.transpose();
        match experiment {
            Experiment::Shear => tau[(0, 1)],
            _ => (tau[(0, 0)] - tau[(2, 2)]) / by,
        }
    }

    /// The energy at a stretch or a shear of an incompressible sample, J/m³.
    pub fn energy(&self, experiment: Experiment, by: f64) -> f64 {
        self.form().psi(&self.numbers(0.0), &M3::from(&experiment.deformation(by)))
    }

    /// The energy w of isochoric stretches e^`log`, J/m³; the logarithms sum to zero.
    pub(crate) fn isochoric(&self, log: [f64; 3]) -> f64 {
        self.form().psi(&self.numbers(0.0), &M3::from_diagonal(&V3(log.map(f64::exp))))
    }
}

impl Rubber {
    /// The loads about rest, within these bounds, between which the true stress (of the shear the shear stress) grows with the load: beyond, a
    /// sample gives way.
    pub fn stable_range(&self, experiment: Experiment, [low, high]: [f64; 2]) -> [f64; 2] {
        const STEPS: u32 = 2000;
        let stress = |by: f64| {
            let nominal = self.nominal_stress(experiment, by);
            if experiment == Experiment::Shear { nominal } else { nominal * by }
        };
        let rest = experiment.rest();
        let end = |bound: f64| {
            let at = |k: u32| {
                let part = f64::from(k) / f64::from(STEPS);
                // by ratios, so that strong compression has as many steps
                if rest == 0.0 { bound * part } else { bound.powf(part) }
            };
            // where the energy is infinite no sample comes
            let grows = |k: &u32| {
                (stress(at(k + 1)) - stress(at(*k))) * (bound - rest) > 0.0
                    || self.energy(experiment, at(k + 1)).is_infinite()
            };
            at((0..STEPS).take_while(grows).count() as u32)
        };
        [end(low), end(high)]
    }
}
