//! The independent audit: exact tests of intersection and inversion.
//!
//! Shares no code with `distance` or `ccd`, so that an error there cannot hide here.
