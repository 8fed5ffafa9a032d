//! An open device, with its programs.

use std::sync::Arc;

use crate::adapters::{DeviceInfo, adapters};
use crate::error::DeviceError;
use crate::handle::Handle;
use crate::programs::Programs;
use crate::self_test::{self, Arithmetic};

/// A device that was opened and has passed the self-test. Copies share it.
#[derive(Debug, Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    info: DeviceInfo,
    handle: Handle,
    programs: Programs,
    arithmetic: Arithmetic,
}

impl Device {
    /// Opens the device that suits best: with 64-bit floats, rather discrete than integrated than software.
    ///
    /// # Errors
    /// Where there is none, it cannot be opened, does not take the programs, or computes wrongly.
    pub fn open() -> Result<Self, DeviceError> {
        Self::open_within(u64::MAX)
    }

    /// The same, with arrays of so many bytes at most, though the device may have larger ones.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_within(largest_array: u64) -> Result<Self, DeviceError> {
        let all = adapters();
        let missing = |(info, _): &(DeviceInfo, wgpu::Adapter)| {
            format!("{}: {}", info.name, info.lacks.as_deref().unwrap_or("it will do"))
        };
        let found = match all.iter().map(missing).collect::<Vec<_>>().join("; ") {
            none if none.is_empty() => "Vulkan finds none".to_owned(),
            some => some,
        };
        let Some((info, adapter)) = all.into_iter().find(|(info, _)| info.lacks.is_none()) else {
            return Err(DeviceError::NoDevice { found });
        };
        let handle = Handle::open(&info, &adapter, largest_array)?;
        let arithmetic = self_test::run(&handle, self_test::PROGRAM)?;
        let programs = Programs::compile(&handle)?;
        Ok(Self { shared: Arc::new(Shared { info, handle, programs, arithmetic }) })
    }

    /// What it says of itself.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// How it rounds, by the self-test.
    pub fn arithmetic(&self) -> Arithmetic {
        self.shared.arithmetic
    }

    /// Whether its driver has complained of nothing so far.
    pub fn is_usable(&self) -> bool {
        self.shared.handle.check().is_ok()
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.shared.programs
    }
}
