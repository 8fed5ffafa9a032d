//! The programs of the device.

use wgpu::{
    ComputePipeline, ComputePipelineDescriptor, ErrorFilter, PipelineLayoutDescriptor,
    ShaderModuleDescriptor, ShaderSource,
};

use crate::error::DeviceError;
use crate::handle::Handle;
use crate::wait::block_on;

/// The steps of conjugate gradients, in the order in which they are launched.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) factorize: ComputePipeline,
    pub(crate) residual: ComputePipeline,
    pub(crate) begin: ComputePipeline,
    pub(crate) direction: ComputePipeline,
    pub(crate) product: ComputePipeline,
    pub(crate) step_length: ComputePipeline,
    pub(crate) update: ComputePipeline,
    pub(crate) finish: ComputePipeline,
}

impl Programs {
    pub(crate) fn compile(handle: &Handle) -> Result<Self, DeviceError> {
        let source = include_str!("conjugate_gradient.wgsl");
        let entries = [
            "factorize",
            "residual",
            "begin",
            "direction",
            "product",
            "step_length",
            "update",
            "finish",
        ];
        let [factorize, residual, begin, direction, product, step_length, update, finish] =
            compile(handle, "conjugate_gradient", source, entries)?;
        Ok(Self { factorize, residual, begin, direction, product, step_length, update, finish })
    }
}

/// Compiles the entry points of a source.
///
/// # Errors
/// What the compiler says, where it does not take them.
pub(crate) fn compile<const N: usize>(
    handle: &Handle,
    program: &'static str,
    source: &str,
    entries: [&str; N],
) -> Result<[ComputePipeline; N], DeviceError> {
    let device = &handle.device;
    let scopes = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter));
    let module = device.create_shader_module(ShaderModuleDescriptor {
        label: Some(program),
        source: ShaderSource::Wgsl(source.into()),
    });
    let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: Some(program),
        bind_group_layouts: &[Some(&handle.layout)],
        immediate_size: 0,
    });
    let compiled = entries.map(|entry| {
        device.create_compute_pipeline(&ComputePipelineDescriptor {
            label: Some(entry),
            layout: Some(&layout),
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            cache: None,
        })
    });
    // the scope that was opened last is closed first
    let problems: Vec<String> = scopes
        .into_iter()
        .rev()
        .filter_map(|scope| block_on(scope.pop()))
        .map(|e| e.to_string())
        .collect();
    match problems.first() {
        Some(reason) => Err(DeviceError::Program {
            device: handle.name.clone(),
            program,
            reason: reason.clone(),
        }),
        None => Ok(compiled),
    }
}
