//! The driver of an open device: its errors, commands to it, and copies to it and back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBindingType, BufferDescriptor, BufferUsages,
    CommandEncoder, ComputePass, ComputePipeline, ErrorFilter, Features, MapMode, PollType,
    ShaderStages,
};

use crate::adapters::{BINDINGS, DeviceInfo};
use crate::error::DeviceError;
use crate::wait::block_on;

/// Arrays that programs only read: the first ones.
const READ_ONLY: u32 = 3;

/// What commands are given to.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) layout: BindGroupLayout,
    /// Bytes that one array may have.
    pub(crate) largest_array: u64,
    /// What the driver complained of that no call returned.
    failure: Arc<Mutex<Option<String>>>,
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
            Some(_) => Err(DeviceError::OutOfMemory { what, asked: bytes }),
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

/// The arrays of a program: all programs have the same places for them.
fn layout(device: &wgpu::Device) -> BindGroupLayout {
    let entries: Vec<_> = (0..BINDINGS)
        .map(|binding| BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::COMPUTE,
            ty: BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only: binding < READ_ONLY },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: None, entries: &entries })
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
