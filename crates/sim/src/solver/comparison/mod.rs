//! Methods that exist for comparison with decomposed optimisation [Li 2020 thesis, §3.5], for tetrahedra without contact: a constant
//! matrix that is factorised once.

pub mod admm_pd;
pub mod laplacian;
pub mod lbfgs_pd;
