//! Linear systems of Standoff on graphics processors, by Vulkan: no vendor's toolkit is needed.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff) with its feature `gpu`.
//!
//! * [`devices`]: which devices there are, and whether they will do.
//! * [`Device::open`]: opens the best of them and tests how it computes; one that computes wrongly is refused.
//! * [`DeviceConjugateGradient`]: a [`LinearSolver`](standoff_sparse::LinearSolver) on a device.
//!
//! ```no_run
//! use standoff_gpu::{Device, DeviceConjugateGradient};
//!
//! let device = Device::open()?;
//! println!("{}", device.info().name);
//! let solver = DeviceConjugateGradient::new(device, 1e-8, 10_000);
//! # drop(solver);
//! # Ok::<(), standoff_gpu::DeviceError>(())
//! ```

mod adapters;
mod bytes;
mod device;
mod error;
mod handle;
mod operands;
mod programs;
mod self_test;
mod solver;
mod system;
mod traffic;
mod wait;

pub use adapters::{DeviceInfo, Kind, devices};
pub use device::Device;
pub use error::DeviceError;
pub use self_test::Arithmetic;
pub use solver::DeviceConjugateGradient;
pub use traffic::Traffic;
