//! Minimisers of the incremental potential.
