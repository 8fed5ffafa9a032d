//! Continuous collision detection: the largest step along which no pair comes too close.
