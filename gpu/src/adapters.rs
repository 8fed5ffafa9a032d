//! Which devices there are, and whether they will do.

use wgpu::{Adapter, Backends, DeviceType, Features, Instance, InstanceDescriptor, InstanceFlags};

use crate::wait::block_on;

/// Threads of a workgroup, and leaves of a tree of sums.
pub(crate) const WORKGROUP: u32 = 256;

/// Arrays that a program has at once.
pub(crate) const BINDINGS: u32 = 8;

/// Memory of a workgroup, bytes: a tree of vectors of three sums, each of which takes the place of four.
const WORKGROUP_MEMORY: u32 = 4 * WORKGROUP * 8;

/// What a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A graphics processor with memory of its own.
    Discrete,
    /// A graphics processor that shares the memory of the machine.
    Integrated,
    /// A graphics processor of the host of a virtual machine.
    Virtual,
    /// The processor of the machine itself.
    Software,
    /// The driver does not say.
    Unknown,
}

impl Kind {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
            Self::Unknown => "of unknown kind",
        }
    }

    /// Which kind is taken first.
    fn rank(self) -> usize {
        match self {
            Self::Discrete => 0,
            Self::Integrated => 1,
            Self::Virtual => 2,
            Self::Unknown => 3,
            Self::Software => 4,
        }
    }
}

/// A device of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name.
    pub name: String,
    /// Interface by which it is reached.
    pub back_end: String,
    /// Driver and its version.
    pub driver: String,
    /// What it is.
    pub kind: Kind,
    /// Bytes that one array may have.
    pub largest_array: u64,
    /// Whether it computes with 64-bit floats.
    pub has_f64: bool,
    /// What it lacks for Standoff; `None` where it will do, if it passes the self-test when it is opened.
    pub lacks: Option<String>,
}

/// All devices of this machine, those that are taken first at the front.
pub fn devices() -> Vec<DeviceInfo> {
    adapters().into_iter().map(|(info, _)| info).collect()
}

/// All devices with their handles, those that are taken first at the front.
pub(crate) fn adapters() -> Vec<(DeviceInfo, Adapter)> {
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    descriptor.backends = Backends::VULKAN;
    // what layers of validation check is checked by wgpu, too; they need not be installed
    descriptor.flags = InstanceFlags::empty();
    let found = block_on(Instance::new(descriptor).enumerate_adapters(Backends::VULKAN));
    let mut all: Vec<_> = found.into_iter().map(|a| (describe(&a), a)).collect();
    all.sort_by_key(|(info, _)| (info.lacks.is_some(), info.kind.rank()));
    all
}

/// What a device says of itself.
fn describe(adapter: &Adapter) -> DeviceInfo {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let has_f64 = adapter.features().contains(Features::SHADER_F64);
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => Kind::Discrete,
        DeviceType::IntegratedGpu => Kind::Integrated,
        DeviceType::VirtualGpu => Kind::Virtual,
        DeviceType::Cpu => Kind::Software,
        DeviceType::Other => Kind::Unknown,
    };
    let counts = [
        ("threads in a workgroup", WORKGROUP, limits.max_compute_invocations_per_workgroup),
        ("bytes in a workgroup", WORKGROUP_MEMORY, limits.max_compute_workgroup_storage_size),
        ("arrays in a program", BINDINGS, limits.max_storage_buffers_per_shader_stage),
    ];
    let short = counts.into_iter().find(|(_, needed, has)| has < needed);
    let lacks = if has_f64 {
        short.map(|(what, needed, has)| format!("it has {has} {what}, and {needed} are needed"))
    } else {
        Some("it has no 64-bit floats".into())
    };
    DeviceInfo {
        name: info.name,
        back_end: format!("{:?}", info.backend),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        kind,
        largest_array: limits.max_buffer_size.min(limits.max_storage_buffer_binding_size),
        has_f64,
        lacks,
    }
}
