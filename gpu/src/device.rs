//! An open device: its programs, its errors, and copies to it and back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, Buffer, BufferDescriptor,
    BufferUsages, CommandEncoder, ComputePass, ComputePipeline, ErrorFilter, Features, MapMode,
    PollType,
};

use crate::adapters::{BINDINGS, DeviceInfo, adapters};
use crate::error::DeviceError;
use crate::programs::{Programs, layout};
use crate::self_test::{self, Arithmetic};
use crate::wait::block_on;

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

/// What commands are given to.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) layout: BindGroupLayout,
    /// Bytes that one array may have.
    pub(crate) largest_array: u64,
    /// What the driver complained of outside of where it was asked.
    failure: Arc<Mutex<Option<String>>>,
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

impl Handle {
    pub(crate) fn open(
        info: &DeviceInfo,
        adapter: &wgpu::Adapter,
        largest_array: u64,
    ) -> Result<Self, DeviceError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("standoff"),
            required_features: Features::SHADER_F64,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let name = info.name.clone();
        let (device, queue) = block_on(adapter.request_device(&descriptor))
            .map_err(|e| DeviceError::NotOpened { device: name.clone(), reason: e.to_string() })?;
        let failure = Arc::new(Mutex::new(None));
        let (seen, lost) = (failure.clone(), failure.clone());
        // without these, wgpu would panic
        device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| note(&seen, e.to_string())));
        device.set_device_lost_callback(move |reason, text| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note(&lost, format!("it was lost: {text}"));
            }
        });
        let layout = layout(&device);
        let largest_array = largest_array.min(info.largest_array);
        Ok(Self { name, device, queue, layout, largest_array, failure })
    }

    /// An array of the device; at least 8 bytes, as there are none without.
    ///
    /// # Errors
    /// Where the device has not so much memory.
    pub(crate) fn array(
        &self,
        what: &'static str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<Buffer, DeviceError> {
        let available = self.largest_array;
        if bytes > available {
            return Err(DeviceError::Memory { what, asked: bytes, available });
        }
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let size = bytes.max(8);
        let buffer = self.device.create_buffer(&BufferDescriptor {
            label: Some(what),
            size,
            usage,
            mapped_at_creation: false,
        });
        match block_on(memory.pop()) {
            Some(_) => Err(DeviceError::Memory { what, asked: bytes, available: 0 }),
            None => Ok(buffer),
        }
    }

    /// Commands to be filled.
    pub(crate) fn commands(&self) -> CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    /// Gives commands to the device.
    pub(crate) fn submit(&self, commands: CommandEncoder) {
        self.queue.submit([commands.finish()]);
    }

    /// Waits for all commands and reads `bytes` of an array that they copied to: a round trip.
    ///
    /// # Errors
    /// Where the device failed.
    pub(crate) fn read(&self, from: &Buffer, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let mapped = Arc::new(Mutex::new(None));
        let result = mapped.clone();
        from.map_async(MapMode::Read, 0..bytes, move |r| *lock(&result) = Some(r));
        let waited = self.device.poll(PollType::wait_indefinitely());
        self.check()?;
        let failed = |reason: String| DeviceError::Failed { reason };
        waited.map_err(|e| failed(e.to_string()))?;
        match lock(&mapped).take() {
            Some(Ok(())) => {}
            Some(Err(e)) => return Err(failed(e.to_string())),
            None => return Err(failed("it does not answer".into())),
        }
        let view = from.get_mapped_range(0..bytes).map_err(|e| failed(e.to_string()))?;
        let copy = view.to_vec();
        drop(view);
        from.unmap();
        Ok(copy)
    }

    /// Whether the driver complained since the device was opened.
    ///
    /// # Errors
    /// What it complained of.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        match &*lock(&self.failure) {
            Some(reason) => Err(DeviceError::Failed { reason: reason.clone() }),
            None => Ok(()),
        }
    }
}

/// Adds a launch of a program, with so many workgroups.
pub(crate) fn launch(
    pass: &mut ComputePass<'_>,
    program: &ComputePipeline,
    arrays: &BindGroup,
    workgroups: u32,
) {
    pass.set_pipeline(program);
    pass.set_bind_group(0, arrays, &[]);
    pass.dispatch_workgroups(workgroups, 1, 1);
}

/// Arrays in the places that the programs have for them.
pub(crate) fn bind(handle: &Handle, arrays: [&Buffer; BINDINGS as usize]) -> BindGroup {
    let entries: Vec<_> = (0..BINDINGS)
        .zip(arrays)
        .map(|(binding, array)| BindGroupEntry { binding, resource: array.as_entire_binding() })
        .collect();
    let descriptor = BindGroupDescriptor { label: None, layout: &handle.layout, entries: &entries };
    handle.device.create_bind_group(&descriptor)
}

/// Keeps the first complaint.
fn note(failure: &Mutex<Option<String>>, text: String) {
    lock(failure).get_or_insert(text);
}

/// What is behind a lock holds whatever thread panicked: it is one value.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
