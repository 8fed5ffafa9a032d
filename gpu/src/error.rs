//! Why a device is not used, as types.

/// What may be wrong with a device, or with a system for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No device can do what is needed.
    #[error(
        "no graphics processor can be used ({found}); install a Vulkan driver of a device with 64-bit floats, \
         such as the software device of Debian's package mesa-vulkan-drivers"
    )]
    NoDevice {
        /// Every device that there is with what it lacks, or that there is none.
        found: String,
    },
    /// The driver does not open the device.
    #[error("{device} cannot be opened: {reason}")]
    NotOpened {
        /// Name of the device.
        device: String,
        /// What the driver says.
        reason: String,
    },
    /// The driver does not take a program.
    #[error("{device} does not compile the program {program}: {reason}")]
    Program {
        /// Name of the device.
        device: String,
        /// Which program.
        program: &'static str,
        /// What the compiler says.
        reason: String,
    },
    /// An operation has a wrong result in the self-test.
    #[error(
        "{device} computes wrongly: {operation} of {operands} is {found} there instead of {expected}"
    )]
    Arithmetic {
        /// Name of the device.
        device: String,
        /// Which operation.
        operation: &'static str,
        /// What it was applied to.
        operands: String,
        /// The right result.
        expected: String,
        /// The result of the device.
        found: String,
    },
    /// A system needs more memory than the device gives for one purpose.
    #[error(
        "the device has too little memory for the {what}: {asked} bytes are needed, {available} available"
    )]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes that are needed.
        asked: u64,
        /// Bytes that one array may have.
        available: u64,
    },
    /// The driver has no more memory; it does not say how much there was.
    #[error("the device has no memory left for the {what}: {asked} bytes are needed")]
    OutOfMemory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes that are needed.
        asked: u64,
    },
    /// A system has more rows or blocks than the programs can number.
    #[error("the device can number {available} {what}, and {asked} are needed")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        asked: u64,
        /// How many there may be.
        available: u64,
    },
    /// The device went away, or its driver failed.
    #[error("the device failed: {reason}")]
    Failed {
        /// What the driver says.
        reason: String,
    },
}
