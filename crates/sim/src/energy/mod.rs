//! Summands of the potential, one file each.
