//! Collision detection against slow twins, exact arithmetic and the oracle.

mod audit;
mod broad_phase;
mod ccd;
mod ccd_benchmark;
mod common;
mod paths;
mod rest_neighbours;
