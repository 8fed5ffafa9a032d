//! Graphics processors, if this crate is built with its feature `gpu`.

use crate::error::DeviceError;
use standoff_scene::Scene;
use standoff_sim::settings::Device;
use standoff_sparse::LinearSolver;

/// The linear solver on the device that a scene asks for; none where that is the processor.
pub(crate) fn linear_solver(scene: &Scene) -> Result<Option<Box<dyn LinearSolver>>, DeviceError> {
    let solver = &scene.definition.settings.solver;
    match solver.device {
        Device::Cpu => Ok(None),
        Device::Gpu => on_graphics_processor(solver.linear_tolerance).map(Some),
    }
}

#[cfg(not(feature = "gpu"))]
fn on_graphics_processor(_: f64) -> Result<Box<dyn LinearSolver>, DeviceError> {
    Err(DeviceError::NotBuilt)
}

#[cfg(feature = "gpu")]
fn on_graphics_processor(tolerance: f64) -> Result<Box<dyn LinearSolver>, DeviceError> {
    use standoff_gpu::{Device, DeviceConjugateGradient};
    use standoff_sim::CONJUGATE_GRADIENT_ITERATIONS;
    use std::sync::{Mutex, PoisonError};

    // opening and testing it takes a while; the simulations of a program share it, and no result depends on that
    static OPEN: Mutex<Option<Device>> = Mutex::new(None);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let device = match open.take().filter(Device::is_usable) {
        Some(device) => device,
        None => Device::open().map_err(|e| DeviceError::Unusable { reason: e.to_string() })?,
    };
    *open = Some(device.clone());
    // as many as on the processor
    let iterations = u32::try_from(CONJUGATE_GRADIENT_ITERATIONS).unwrap_or(u32::MAX);
    Ok(Box::new(DeviceConjugateGradient::new(device, tolerance, iterations)))
}
