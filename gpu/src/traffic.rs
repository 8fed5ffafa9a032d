//! What went between processor and device.

/// Work of a device and what it cost the processor to have it done, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Programs launched.
    pub launches: u64,
    /// Times that the processor waited for the device.
    pub round_trips: u64,
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes copied from the device.
    pub downloaded: u64,
    /// Matrices copied to the device.
    pub matrices: u64,
}
