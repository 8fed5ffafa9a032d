//! Small dense linear algebra of Standoff: 3-vectors, 3×3 matrices, their singular value
//! decomposition, symmetric eigenvalues and projections onto the positive semidefinite cone.
//!
//! This crate knows nothing of meshes or physics.

/// A 3-vector of `f64`: a position in m, a velocity in m/s, a force in N.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix of `f64`.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A square matrix of `N`×`N` reals.
pub type MatN<const N: usize> = nalgebra::SMatrix<f64, N, N>;
/// An `N`-vector of reals.
pub type VecN<const N: usize> = nalgebra::SVector<f64, N>;

pub use nalgebra;
