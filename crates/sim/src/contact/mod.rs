//! Contact: barrier, pairs, potential, friction, stiffness.
