//! Random numbers in fixed sequences.

use nalgebra::{Matrix3, Rotation3, Vector3};

/// A seeded generator: the same numbers in every run and on every machine.
pub struct Random(fastrand::Rng);

impl Random {
    /// The sequence number `seed`.
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// Uniform in 0..n.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.u64(..n)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.f64()
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.f64()
    }

    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.uniform(-1.0, 1.0)
    }

    /// 10 to a uniform power in [low, high).
    pub fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.uniform(low, high))
    }

    /// Uniform in [−1, 1)³.
    pub fn vec3(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.signed())
    }

    /// `n` vectors, each as [`vec3`](Self::vec3).
    pub fn vectors(&mut self, n: usize) -> Vec<Vector3<f64>> {
        (0..n).map(|_| self.vec3()).collect()
    }

    /// Entries uniform in [−1, 1).
    pub fn mat3(&mut self) -> Matrix3<f64> {
        Matrix3::from_fn(|_, _| self.signed())
    }

    /// A rotation about a random axis by up to 3√3 rad.
    pub fn rotation(&mut self) -> Matrix3<f64> {
        Rotation3::new(self.vec3() * 3.0).into_inner()
    }
}
