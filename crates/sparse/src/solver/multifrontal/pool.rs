//! Memory of updates, used again: fresh pages from the system cost as much time as the sums that
//! are written to them, and more where two threads ask for them.

use std::sync::{Mutex, PoisonError};

use super::scalar::Scalar;

/// Scalars of the smallest buffer that is kept.
const LEAST: usize = 1 << 8;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub(crate) struct Pool<T> {
    free: Mutex<Vec<Vec<T>>>,
}

impl<T: Scalar> Pool<T> {
    /// A buffer of `len` scalars with any contents.
    pub(crate) fn take(&self, len: usize) -> Vec<T> {
        if len >= LEAST {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            let fits = |b: &Vec<T>| b.capacity() >= len && b.capacity() / 4 <= len;
            let best =
                (0..free.len()).filter(|&i| fits(&free[i])).min_by_key(|&i| free[i].capacity());
            if let Some(i) = best {
                let mut buffer = free.swap_remove(i);
                drop(free);
                buffer.resize(len, T::default());
                return buffer;
            }
        }
        vec![T::default(); len]
    }

    /// Takes a buffer back.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        if buffer.capacity() >= LEAST {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }

    /// Gives all memory back to the system.
    pub(crate) fn clear(&mut self) {
        self.free.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
