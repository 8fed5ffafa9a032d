//! Numbers of what was read from a device.

/// The numbers that bytes stand for, in the order of bytes of this machine, which is that of its devices.
pub(crate) fn numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|b| number(*b)).collect()
}
