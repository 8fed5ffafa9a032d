//! Small dense linear algebra of Standoff: 3-vectors, 3×3 matrices, their singular value
//! decomposition, symmetric eigenvalues and projections onto the positive semidefinite cone.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! This crate knows nothing of meshes or physics.
//!
//! ```
//! use standoff_linalg::{Mat3, polar, project_psd, svd3};
//!
//! let f = Mat3::new(2.0, 0.1, 0.0, 0.0, 1.0, 0.3, 0.0, 0.0, -0.5);
//! let svd = svd3(&f);
//! assert!((svd.reconstruct() - f).norm() < 1e-14);
//! assert!(svd.sigma[2] < 0.0, "a reflection shows in the sign of the smallest singular value");
//!
//! let (r, s) = polar(&f);
//! assert!((r * s - f).norm() < 1e-14);
//!
//! let psd = project_psd(&s); // s has a negative eigenvalue, as f is a reflection
//! assert!((psd - s).norm() > 0.1);
//! ```

mod clamp;
#[doc(hidden)]
pub mod double_double;
mod dual;
mod eigen;
mod elementary;
#[doc(hidden)]
pub mod lanes;
mod plain;
mod psd;
mod real;
mod small;
mod svd;

/// A 3-vector of `f64`: a position in m, a velocity in m/s, a force in N.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix of `f64`.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A square matrix of `N`×`N` reals.
pub type MatN<const N: usize> = nalgebra::SMatrix<f64, N, N>;
/// An `N`-vector of reals.
pub type VecN<const N: usize> = nalgebra::SVector<f64, N>;

pub use clamp::{clamp_eigenvalues, project_where};
pub use dual::Dual;
pub use eigen::{symmetric_eigen, symmetric_eigen2};
pub use nalgebra;
pub use psd::{is_positive_definite, project_psd, project_psd_array, project_psd2};
pub use real::{Mask, Real};
pub use small::{M3, V3};
pub use svd::{Svd, Svd3, perpendicular, polar, svd, svd3};

/// A power of two that brings `m` near 1 where squares could over- or underflow, and its inverse.
#[inline(always)]
pub(crate) fn power_of_two_scale(m: f64) -> (f64, f64) {
    if (1e-70..1e70).contains(&m) || m == 0.0 || !m.is_finite() {
        return (1.0, 1.0);
    }
    // at most 2^1000, so that both factors are finite and normal
    let exponent = (m.log2().floor() as i32).clamp(-1000, 1000);
    (2.0_f64.powi(-exponent), 2.0_f64.powi(exponent))
}
