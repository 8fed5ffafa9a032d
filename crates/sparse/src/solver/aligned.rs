//! Numbers at addresses that are the same modulo the cache line in every run.
//!
//! Vectorised kernels may group their sums by address, so equal alignment is a part of equal bits.

/// Bytes of a cache line, and of the widest vector.
const LINE: usize = 64;

/// A buffer of numbers that begins at a cache line, grows and never shrinks.
#[derive(Debug, Default)]
pub(crate) struct AlignedBuffer {
    data: Vec<f64>,
}

impl AlignedBuffer {
    /// Makes room for `len` numbers; the contents are lost where it grows.
    pub(crate) fn reserve(&mut self, len: usize) -> Result<(), std::collections::TryReserveError> {
        let needed = len.saturating_add(LINE / size_of::<f64>());
        if self.data.len() < needed {
            // free the old memory first; factors grow by contacts, so leave some slack
            let slack = needed / 8;
            self.data = Vec::new();
            if self.data.try_reserve_exact(needed.saturating_add(slack)).is_err() {
                self.data.try_reserve_exact(needed)?;
            }
            self.data.resize(self.data.capacity(), 0.0);
        }
        Ok(())
    }

    /// The first `len` numbers, for which room was [reserved](Self::reserve).
    pub(crate) fn get(&self, len: usize) -> &[f64] {
        let begin = self.data.as_ptr().align_offset(LINE);
        &self.data[begin..begin + len]
    }

    /// The first `len` numbers, for which room was [reserved](Self::reserve).
    pub(crate) fn get_mut(&mut self, len: usize) -> &mut [f64] {
        let begin = self.data.as_ptr().align_offset(LINE);
        &mut self.data[begin..begin + len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_a_cache_line_and_hold_what_was_reserved() {
        let mut buffer = AlignedBuffer::default();
        for len in [0, 1, 7, 1000, 3, 5000] {
            buffer.reserve(len).unwrap();
            assert_eq!(buffer.get_mut(len).len(), len);
            assert_eq!(buffer.get(len).as_ptr() as usize % LINE, 0);
        }
    }
}
